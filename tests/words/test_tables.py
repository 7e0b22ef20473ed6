"""Pages would show numbers of studies that were never made, or of an earlier version."""

import re
from pathlib import Path

import pytest

import bayesbias as bb

ROOT = Path(__file__).parents[2]
PAGES = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md")}
README = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())


@pytest.fixture(scope="module")
def tables(site):
    return site("_tables")


def said(page):
    return " ".join(PAGES[f"docs/{page}.md"].split())


@pytest.mark.parametrize("page", sorted(page for page, text in PAGES.items() if "\n<!-- table:" in text))
def test_tables_hold_what_was_measured(page, tables):
    assert len(tables.MARKED.findall(PAGES[page])) == PAGES[page].count("\n<!-- table:")
    assert tables.filled(PAGES[page]) == PAGES[page]
    for table in re.findall(r"(?:^\|.*\n)+", PAGES[page], re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1, table


def test_a_wrong_digit_is_put_right(tables):
    page = PAGES["docs/replications.md"]
    assert tables.filled(page.replace(".994", ".995")) == page != page.replace(".994", ".995")


def test_results_and_scripts_that_validation_names_are_there():
    results, scripts = (ROOT / "benchmarks" / folder for folder in ("results", "validity"))
    assert all((results / name).exists() for name in re.findall(r"`([\w/]+\.csv)`", said("validation")))
    assert all((scripts / name).exists() for name in re.findall(r"`(\w+\.py)`", said("validation")))


def test_the_rates_of_the_first_conclusion(tables):
    near, topics = (
        tables.read("related/near_regions")["rate"],
        tables.read("related/false_positives", "lists == 'topical'"),
    )
    means = topics.groupby(["method", "contrast", "embedding"])["rate"].mean()
    for rates in (near, means[["crossed, these words", "cluster interval"]], means["published"], means["Welch"]):
        assert f"in {tables.span(rates).replace('–', ' to ')}%" in said("validation")
    assert f"{tables.average(near)}% on average (nominal: 11%; {len(near)} combinations" in said("validation")


def test_the_numbers_of_bundled_fits(tables):
    number, interval = tables.number, tables.interval
    gender, religion = (
        bb.fit(bb.distance_table("google-news-slice", words), seed=0) for words in ("gender", "religion")
    )
    given, further = (bb.contrasts(gender, population=whom).iloc[0] for whom in ("given", "similar"))
    for row in (given, further):
        assert f"from {number(row['low'], 3)} to {number(row['high'], 3)}" in said("explanation/intervals")
    assert f"(89% interval from {number(-given['high'], 3)} to {number(-given['low'], 3)})" in README
    assert f"from {number(-further['low'], 3)} closer to {number(further['high'], 3)} farther" in " ".join(
        README.split()
    )
    groups = bb.contrasts(religion, by="group")
    for _, row in groups.query("group in ['muslim', 'jew', 'christian']").iterrows():
        assert interval(row) in said("model")
    means = bb.contrasts(religion, rows="association").set_index("protected_word")["mean"]
    closer = f"*jew* and *church* are {number(-means['jew'])} and {number(-means['church'])} closer"
    parts = f"{number(-means['whole list'], 3)} closer", closer, f"*christian* is {number(means['christian'])} farther"
    assert all(part in said("explanation/distances") for part in parts)


def test_the_numbers_of_a_metric(tables):
    query, number = bb.load_query("weat7"), tables.number
    found = bb.metric("weat_effect_size", "google-news-slice", query, p_value=True)
    row = bb.contrasts(bb.fit(bb.distance_table("google-news-slice", "weat7"), seed=0)).iloc[0]
    assert f"effect size of {number(found.value)}, p = {number(found.p_value, 3)}" in said("metrics")
    assert f"contrast goes from {number(row['low'], 3)} to {number(row['high'], 3)}" in said("metrics")
