"""Pages would show numbers of studies that were never made, or of an earlier version."""

import importlib.util
import re
from functools import cache
from pathlib import Path

import pytest

import bayesbias as bb

ROOT = Path(__file__).parents[2]
PAGES = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md")}
PAGES["README.md"] = (ROOT / "README.md").read_text(encoding="utf-8")


@cache
def tables():
    """The module that makes the tables."""
    spec = importlib.util.spec_from_file_location("_tables", ROOT / "docs" / "_tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def said(page):
    return " ".join(PAGES[page].split())


@pytest.mark.parametrize("page", sorted(page for page, text in PAGES.items() if "\n<!-- table:" in text))
def test_tables_hold_what_was_measured(page):
    assert len(tables().MARKED.findall(PAGES[page])) == PAGES[page].count("\n<!-- table:")
    assert tables().filled(PAGES[page]) == PAGES[page]
    for table in re.findall(r"(?:^\|.*\n)+", PAGES[page], re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1, table


def test_a_wrong_digit_is_put_right():
    page = PAGES["docs/judging.md"]
    assert tables().filled(page.replace(".994", ".995")) == page != page.replace(".994", ".995")


def test_results_and_scripts_that_pages_name_are_there():
    results, scripts = (ROOT / "benchmarks" / folder for folder in ("results", "validity"))
    validation = PAGES["docs/validation.md"]
    assert all((results / name).exists() for name in re.findall(r"`([\w/]+\.csv)`", validation))
    assert all((scripts / name).exists() for name in re.findall(r"`(\w+\.py)`", validation))
    assert all(
        (ROOT / name).exists() for page in PAGES for name in re.findall(r"`(benchmarks/[\w/]+\.\w+)`", said(page))
    )


def test_the_rates_of_the_readme():
    span, near = tables().span, tables().read("related/near_regions")["rate"]
    topics = tables().read("related/false_positives", "lists == 'topical'")
    means = topics.groupby(["method", "contrast", "embedding"])["rate"].mean()
    independent = means[["crossed, these words", "cluster interval"]]
    for rates in (near, independent, means["published"], means["Welch"]):
        assert f"in {span(rates).replace('–', ' to ')}%" in said("README.md")
    assert f"{tables().average(near)}% on average (nominal: 11%; {len(near)} combinations" in said("README.md")


def test_the_numbers_of_bundled_fits():
    number, interval = tables().number, tables().interval
    gender, religion = (
        bb.fit(bb.distance_table("google-news-slice", words), seed=0) for words in ("gender", "religion")
    )
    for population in ("given", "similar"):
        row = bb.contrasts(gender, population=population).iloc[0]
        ends = f"from {number(row['low'], 3)} to {number(row['high'], 3)}"
        assert ends in said("docs/explanation/intervals.md")
        assert ends.replace("−", "-") in said("README.md")
    for _, row in bb.contrasts(religion, by="group").query("group in ['muslim', 'jew', 'christian']").iterrows():
        assert interval(row) in said("docs/model.md")
    means = bb.contrasts(religion, rows="association").set_index("protected_word")["mean"]
    closer = f"*jew* and *church* are {number(-means['jew'])} and {number(-means['church'])} closer"
    parts = f"{number(-means['whole list'], 3)} closer", closer, f"*christian* is {number(means['christian'])} farther"
    assert all(part in said("docs/explanation/distances.md") for part in parts)
