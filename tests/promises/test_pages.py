"""Readers would meet a page too wide, unreadable in the dark or by keyboard, or one that asks for scripts."""

import shutil

import pytest

import bayesbias as bb

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
KINDS = ("fit", "several", "audit")


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
def pages(slice_vectors, hard_debiased, tmp_path_factory):
    """A page of one result, of several, and of very many points."""
    folder = tmp_path_factory.mktemp("pages")
    before, after = (bb.distance_table(kv, "gender") for kv in (slice_vectors, hard_debiased))
    changed = bb.compare(before=before, after=after, seed=0)
    results = {
        "fit": bb.summary(bb.fit(before, seed=0), bb.topic_null(slice_vectors, "gender", replicates=50)),
        "several": [changed, bb.side_effects(slice_vectors, hard_debiased, changed, biased=50, seed=0)],
        "audit": bb.audit("glove-50d-slice", "gender", most_frequent=2000),
    }
    return {kind: bb.report(result, folder / f"{kind}.html") for kind, result in results.items()}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_needs_nothing_fits_screens_and_has_no_violation(browser, pages, kind, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe: uv sync").Axe()
    asked = []
    for size in ((1280, 900), (390, 844)):
        page = browser.new_page(viewport=dict(zip(("width", "height"), size, strict=True)), color_scheme=scheme)
        page.on("request", lambda request: asked.append(request.url))
        page.goto(pages[kind].as_uri())
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        found = axe.run(page)
        assert found.violations_count == 0, found.generate_report()
        page.close()
    assert {url.partition(":")[0] for url in asked} <= {"file", "data"}
    assert pages[kind].stat().st_size < 1_000_000


def test_a_page_prints_all_rows(browser, pages):
    page = browser.new_page()
    page.goto(pages["fit"].as_uri())
    page.emulate_media(media="print")
    assert page.evaluate("[...document.querySelectorAll('div')].every(d => d.scrollHeight <= d.clientHeight + 1)")
    assert page.pdf()[:5] == b"%PDF-"
    page.close()


def test_axe_would_find_a_picture_without_a_name(browser, pages, tmp_path):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe: uv sync").Axe()
    bad = tmp_path / "bad.html"
    bad.write_text(pages["fit"].read_text(encoding="utf-8").replace("<img alt=", "<img data-was=", 1), encoding="utf-8")
    page = browser.new_page()
    page.goto(bad.as_uri())
    assert axe.run(page).violations_count == 1
    page.close()
