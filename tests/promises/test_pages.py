"""Readers would meet a page too wide, unreadable in the dark or by keyboard, or one that asks for scripts."""

import shutil

import pytest

import bayesbias as bb

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="needs playwright: uv sync")
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed: playwright install chromium")
    with api.sync_playwright() as play:
        options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        chromium = play.chromium.launch(executable_path=CHROMIUM, args=options)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def axe():
    return pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe: uv sync").Axe()


@pytest.fixture(scope="module")
def answer(slice_vectors, weat7_fit):
    return bb.summary(weat7_fit, bb.topic_null(slice_vectors, "weat7", replicates=50))


@pytest.fixture(scope="module")
def page(answer, tmp_path_factory):
    return bb.report(answer, tmp_path_factory.mktemp("pages") / "page.html")


def test_a_page_shows_its_table_and_notes_asks_for_nothing_and_has_no_violation(browser, axe, answer, page):
    asked, open_page = [], browser.new_page()
    open_page.on("request", lambda request: asked.append(request.url))
    open_page.goto(page.as_uri())
    rows = [row.split() for row in open_page.locator("table").first.locator("tbody tr").all_inner_texts()]
    printed = [line.split() for line in repr(answer).splitlines()]
    assert all(row in printed for row in rows)
    assert [row[0] for row in rows][:2] == ["overall", "overall,"]
    assert open_page.locator("dt").all_inner_texts() == list(dict.fromkeys(note.code for note in answer.notes))
    found = axe.run(open_page)
    assert found.violations_count == 0, found.generate_report()
    open_page.close()
    assert {url.partition(":")[0] for url in asked} <= {"file", "data"}


@pytest.fixture(scope="module")
def pages(slice_vectors, hard_debiased, gender_change, page):
    """A page of one result, of several, and of very many points."""
    results = {
        "several": [gender_change, bb.side_effects(slice_vectors, hard_debiased, gender_change, biased=50, seed=0)],
        "audit": bb.audit("glove-50d-slice", "gender", most_frequent=2000),
    }
    return {"fit": page} | {kind: bb.report(result, page.with_name(f"{kind}.html")) for kind, result in results.items()}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["fit", "several", "audit"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_fits_screens_in_either_scheme(browser, axe, pages, kind, scheme):
    for size in ((1280, 900), (390, 844)):
        page = browser.new_page(viewport=dict(zip(("width", "height"), size, strict=True)), color_scheme=scheme)
        page.goto(pages[kind].as_uri())
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        found = axe.run(page)
        assert found.violations_count == 0, found.generate_report()
        page.close()
    assert pages[kind].stat().st_size < 1_000_000


@pytest.mark.slow
def test_a_page_prints_all_rows(browser, page):
    printed = browser.new_page()
    printed.goto(page.as_uri())
    printed.emulate_media(media="print")
    assert printed.evaluate("[...document.querySelectorAll('div')].every(d => d.scrollHeight <= d.clientHeight + 1)")
    assert printed.pdf()[:5] == b"%PDF-"
    printed.close()
