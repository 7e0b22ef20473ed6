"""A result could change under its reader, print nothing in a notebook, or give a page without table and sources."""

import dataclasses
import re

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias._support.results import Result

ELSEWHERE = {"FitReport", "MetricTable", "ReliabilityRegression"}
"""Results that other tests make: of reports, and of a regression that is compared with published ones."""


def classes():
    """Every result by the name of its class."""
    for name in bb.__all__:  # rooms and what they hold are loaded when they are first used
        room = getattr(bb, name)
        for own in getattr(room, "__all__", ()):
            getattr(room, own)
    return {one.__name__: one for one in leaves(Result) if one.__module__.startswith("bayesbias.")}


def leaves(one):
    """The classes below one that have none below them."""
    return {leaf for below in one.__subclasses__() for leaf in leaves(below)} or {one}


NAMES = sorted({re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower() for name in classes().keys() - ELSEWHERE})
NAMES += ["balance_of_several"]


@pytest.fixture
def result(made, name):
    return getattr(made, name)


def test_every_result_is_of_the_shape():
    assert {"table", "text", "figure", "sources", "sections", "__str__", "_repr_html_"} <= set(vars(Result))
    for name, one in classes().items():
        assert dataclasses.is_dataclass(one), name
        assert one.__dataclass_params__.frozen, name
        assert one.__str__ is Result.__str__, name
        assert one.__repr__ is Result.__repr__, name


@pytest.mark.parametrize("name", NAMES)
def test_a_result_has_table_notes_and_text(result):
    table = result.table()
    assert isinstance(table, pd.DataFrame)
    assert len(table) > 0
    assert isinstance(result.notes, tuple)
    assert all(isinstance(note, str) for note in result.notes)
    assert str(result) == repr(result) == result.text() != ""
    page = result._repr_html_()
    assert "<table" in page
    assert "<b>r" not in page
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.notes = ()


def test_a_notebook_shows_the_first_rows_of_a_long_table():
    class Long(Result):
        notes = ()

        def __init__(self, rows):
            self.rows = rows

        def table(self):
            return pd.DataFrame({"row": [f"row {number}" for number in range(self.rows)]})

        def findings(self):
            return ["many"]

    page = Long(1_030)._repr_html_()
    assert page.count("<td>") == 20
    assert "row 19<" in page
    assert "1,010 further rows" in page
    assert "further" not in Long(20)._repr_html_()


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize("name", NAMES)
def test_a_result_has_a_picture_a_page_and_sources(result, tmp_path):
    figure = result.figure()
    assert (figure is None) == (result.picture is None)
    with pytest.raises(bb.InputError, match="colour is no option: "):
        result.figure(colour="red")
    titles = [section.title for section in result.sections()]
    assert titles
    assert all(section.blocks for section in result.sections())
    page = bb.report(result, tmp_path / "page.md").read_text(encoding="utf-8")
    assert [line.removeprefix("## ") for line in page.splitlines() if line.startswith("## ")][: len(titles)] == titles
    assert result.findings()[0].split()[0] in page
    assert bb.report(result, tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert ("## How to cite" in page) == bool(result.sources())


def test_what_a_result_rests_on_is_cited(made):
    assert {"metric weat", "query unnamed"} & set(bb.cite(made.metric_result).table()["what"])
    assert "embedding glove-50d-slice" in set(bb.cite(made.audit).table()["what"])
    assert bb.cite(made.ranking).table().set_index("what")["source"]["metric weat"].startswith("Caliskan")
    with pytest.raises(bb.InputError, match="nothing is known of the sources of Citations"):
        bb.cite(made.citations)


@pytest.mark.parametrize("name", ["comparison", "setting_components", "topic_null", "variance_components"])
def test_intervals_are_those_that_are_asked_for(result):
    low, high = "low", "high"
    if low not in result.table():
        low, high = (column for column in result.table() if str(column).endswith(("_low", "_high")))
    wide, narrow = (result.table(prob=prob) for prob in (0.9, 0.5))
    assert (wide[high] - wide[low] >= narrow[high] - narrow[low]).all()
    with pytest.raises(bb.InputError, match="prob is 2"):
        result.table(prob=2)
