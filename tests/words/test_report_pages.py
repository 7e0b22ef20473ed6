"""Readers would meet a page too wide, unreadable in the dark or by keyboard, or empty without its script."""

import csv
import shutil
from pathlib import Path

import pytest

import bayesbias as bb

MARKUP = "<script>document.title = 'x'</script>"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
KINDS = ("fit", "comparison", "pool", "audit", "metrics")
SIZES = ((1280, 900), (390, 844))


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
def made(slice_vectors, tmp_path_factory):
    """One report of each kind."""
    folder = tmp_path_factory.mktemp("pages")
    pairs = [("he", "she"), ("man", "woman")]
    table, after, third = (
        bb.distance_table(kv, "gender")
        for kv in (slice_vectors, *(bb.debias(slice_vectors, "project", definitional=pairs[:n]) for n in (2, 1)))
    )
    tables = {"one": table, MARKUP: after, "three": third}
    results = {
        "fit": bb.fit(table, seed=0),
        "comparison": bb.compare(before=table, after=after, seed=0),
        "pool": bb.pool(tables, ("associated", "different")),
        "audit": bb.audit("glove-50d-slice", "gender", most_frequent=2000),
        "metrics": bb.run_metrics(slice_vectors, ["weat6", "weat7"], ["weat", "rnd", "mac"]),
    }
    more = {"fit": {"topics": bb.topic_null(slice_vectors, "gender", replicates=50, seed=0)}}
    return {kind: bb.report(result, folder / f"{kind}.html", **more.get(kind, {})) for kind, result in results.items()}


@pytest.fixture
def opened(browser, made):
    """A function to an open page, and what it asked for or complained about."""
    pages = []

    def show(kind, size=SIZES[0], **how):
        page = browser.new_page(viewport=dict(zip(("width", "height"), size, strict=True)), **how)
        pages.append(page)
        page.complaints = []
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("request", lambda request: page.complaints.append(request.url))
        page.goto(made[kind].as_uri())
        page.complaints.remove(made[kind].as_uri())
        return page

    yield show
    for page in pages:
        page.close()


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_fetched_and_nothing_is_too_wide(opened, made, kind):
    assert made[kind].stat().st_size < 500_000
    for size in SIZES:
        page = opened(kind, size)
        assert page.complaints == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        wide = "[...document.querySelectorAll('figure > img, .wide')].filter(p => p.clientWidth > innerWidth)"
        assert page.evaluate(f"{wide}.length") == 0
        assert page.locator(".headline").bounding_box()["y"] < 400  # the answer is on the first screen
        assert page.title() != "x"


@pytest.mark.parametrize(
    ("kind", "scheme"),
    [
        *((kind, "light") for kind in KINDS),
        *(pytest.param(kind, "dark", marks=pytest.mark.full) for kind in KINDS),
    ],
)
def test_axe_finds_no_violation(opened, kind, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe: uv sync").Axe()
    for size in SIZES:
        page = opened(kind, size, color_scheme=scheme)
        page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
        found = axe.run(page)
        assert found.violations_count == 0, found.generate_report()


def test_axe_would_find_one(opened):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe: uv sync").Axe()
    page = opened("fit")
    page.evaluate("document.querySelector('.answer img').removeAttribute('alt')")
    assert axe.run(page).violations_count == 1


def numbers(table):
    """The third column of a table."""
    column = table.locator("tbody td:nth-child(3)").all_inner_texts()
    return [float(text.replace("\N{MINUS SIGN}", "-")) for text in column]


def test_tables_sort_by_number_and_by_keyboard(opened):
    page = opened("audit")
    table = page.locator("table").first
    button = table.get_by_role("button", name="mean")
    button.focus()
    page.keyboard.press("Enter")
    assert table.locator("th[aria-sort=ascending]").count() == 1
    assert numbers(table) == sorted(numbers(table))
    page.keyboard.press("Enter")
    assert table.locator("th[aria-sort=descending]").count() == 1
    assert numbers(table) == sorted(numbers(table), reverse=True)


def test_tables_filter_and_say_how_many_are_left(opened):
    page = opened("audit")
    every = page.locator("tbody").first.locator("tr").count()
    page.get_by_label("Filter rows").first.fill("mother")
    shown = page.locator("tbody").first.locator("tr:visible")
    assert 0 < shown.count() < every
    assert all("mother" in text.lower() for text in shown.all_inner_texts())
    assert page.locator(".tools span").first.inner_text() == f"{shown.count()} of {every} rows"


def test_tables_download_as_csv(opened, tmp_path):
    page = opened("pool")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download as CSV").first.click()
    path = tmp_path / "table.csv"
    waiting.value.save_as(path)
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0][:2] == ["name", "estimate"]
    assert MARKUP in [row[0] for row in rows]
    assert all(float(row[1]) < 0.1 for row in rows[1:])  # a plain minus sign, so that programs read numbers
    assert page.complaints == [] or all(one.startswith("blob:") for one in page.complaints)


def test_a_page_without_its_script_is_complete(opened):
    page = opened("fit", java_script_enabled=False)
    assert page.locator(".tools").count() == 0
    assert page.locator("th button").count() == 0
    assert page.get_by_text("Words asked for and found").count() > 0
    page.get_by_role("heading", name="All coefficients").click()  # folded parts open without it
    assert page.get_by_text("Whole list (cosine distance)").is_visible()


def test_links_of_the_contents_open_what_they_lead_to(opened):
    page = opened("fit")
    assert not page.locator("#how-to-reproduce-this").evaluate("part => part.open")
    page.get_by_role("link", name="How to reproduce this").click()
    page.locator("#how-to-reproduce-this[open]").wait_for()
    assert (
        "bayesbias fit distances.parquet --model related --seed 0"
        in page.locator("#how-to-reproduce-this pre").first.inner_text()
    )


def test_print_shows_folded_parts(opened, tmp_path):
    page = opened("fit", java_script_enabled=False)
    page.emulate_media(media="print")
    assert page.get_by_text("Whole list (cosine distance)").is_visible()
    assert not page.locator("nav").is_visible()
    pdf = page.pdf(path=tmp_path / "page.pdf", prefer_css_page_size=True)
    assert pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ") >= 4 or len(pdf) > 50_000


@pytest.mark.usefixtures("without_pictures")
def test_markdown_says_the_same(religion_fit, tmp_path):
    text = bb.report(religion_fit, tmp_path / "r.md", sensitivity=False).read_text(encoding="utf-8")
    assert text.startswith("# Are words of a group closer to their own stereotypes than to the stereotypes of other")
    row = bb.contrasts(religion_fit).iloc[0]
    assert f"{row['mean']:.3f}".replace("-", "\N{MINUS SIGN}") in text
    assert "| protected word | mean | sd | low | high | P(closer) |" in text
    assert bb.report(religion_fit, tmp_path / "r.html", format="html", sensitivity=False).is_file()


def test_pictures_are_written_beside_the_page(religion_fit, tmp_path):
    page = bb.report(religion_fit, tmp_path / "r.html", sensitivity=False, pictures=tmp_path)
    names = {path.stem for path in tmp_path.glob("*.png")}
    assert {"overview", "contrasts", "decomposition", "predictions", "coefficients"} <= names
    assert page.read_text(encoding="utf-8").count("<img") == len(names)


@pytest.mark.usefixtures("without_pictures")
def test_pools_and_tables_of_metrics_have_pages(tmp_path, slice_vectors):
    table = bb.distance_table(slice_vectors, "weat7", relatedness=False)
    tables = {name: table.assign(distance=table["distance"] + 0.01 * at) for at, name in enumerate(("a", MARKUP, "c"))}
    for name, result in {
        "pool": bb.pool(tables, ("associated", "different"), draws=200),
        "metrics": bb.run_metrics(slice_vectors, ["weat6", "weat7"], ["weat", "mac"]),
    }.items():
        page = bb.report(result, tmp_path / f"{name}.html").read_text(encoding="utf-8")
        assert page.startswith("<!doctype html>")
        assert MARKUP not in page


@pytest.mark.full
def test_commands_write_reports(here):
    command = ("metrics", "google-news-slice", "--query", "weat7", "--metric", "weat", "--report")
    assert not here(*command, "metrics.html")[0]
    assert [path.name for path in Path().glob("*.[hm]*")] == ["metrics.html"]
    code, _, errors = here(*command, "metrics.pdf")
    assert code == 1
    assert "a report ends in .html or .htm or .md" in errors
