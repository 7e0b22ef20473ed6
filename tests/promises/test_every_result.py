"""A result could change under its reader, print more than a screen, or give a page without its tables and notes."""

import copy
import pickle
import re
from html import escape
from pathlib import Path
from string import Formatter

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias._support.numbers import WIDTH
from bayesbias.results import LINES, WORDS, Note, Result, register, restored, stored

ELSEWHERE = {"ReliabilityRegression"}
"""Results that other tests make: of a regression that is compared with published ones."""
PRINTED = Path(__file__).parents[1] / "data" / "printed.txt"


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


def words(text):
    return len(re.findall(r"[^\W\d_]+", text))


@pytest.fixture
def result(made, name):
    return getattr(made, name)


@pytest.mark.parametrize("name", NAMES)
def test_a_result_is_printed_as_it_was(result, name):
    parts = dict(re.findall(r"^=== (\w+)\n(.*?)\n(?=^===|\Z)", PRINTED.read_text(encoding="utf-8"), re.M | re.S))
    assert repr(result) == parts[name]
    assert len(repr(result).splitlines()) <= LINES
    assert max(map(len, repr(result).splitlines())) <= WIDTH
    assert words(repr(result)) <= WORDS


FEW = ("fit_summary", "comparison", "audit", "ranking", "metric_result")


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize("name", FEW)
def test_a_result_has_a_table_facts_notes_and_a_page(result, tmp_path):
    assert len(result.table()) > 0
    assert isinstance(result.header(), dict)
    assert {type(note) for note in result.notes} <= {Note}
    shown = result._repr_html_()
    assert shown.count("<table") == 1
    assert words(re.sub(r"<[^>]*>", " ", shown)) <= 160
    assert r"\end{tabular}" in result.to_latex()
    assert (result.figure() is None) == (result.picture is None)
    with pytest.raises(bb.InputError, match="colour is no option: "):
        result.figure(colour="red")
    page = bb.report(result, tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("<table") == 1 + len(result.tables())
    assert {note.code.replace(" ", "-") for note in result.notes} == set(re.findall(r'<dt id="([\w-]+)"', page))
    assert "<script" not in page
    assert "<b>r" not in shown + page


def test_a_page_of_several_results_has_each(made, tmp_path):
    page = bb.report([made.comparison, made.side_effects], tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("<h1>") == 1
    assert all(escape(each.caption()) in page for each in (made.comparison, made.side_effects))
    with pytest.raises(bb.InputError, match=r"given is DataTree: give summary\(post\)"):
        bb.report(made.post, tmp_path / "page.html")
    with pytest.raises(bb.InputError, match="given is nothing"):
        bb.report([], tmp_path / "page.html")
    with pytest.raises(bb.InputError, match=r"a report ends in \.html"):
        bb.report(made.comparison, tmp_path / "page.md")


@pytest.mark.parametrize("name", ["comparison", "topic_null"])
def test_intervals_are_those_that_are_asked_for(result):
    low, high = "low", "high"
    if low not in result.table():
        low, high = (column for column in result.table() if str(column).endswith(("_low", "_high")))
    wide, narrow = (result.table(prob=prob) for prob in (0.9, 0.5))
    assert (wide[high] - wide[low] >= narrow[high] - narrow[low]).all()
    with pytest.raises(bb.InputError, match="prob is 2"):
        result.table(prob=2)


def of_frame(code):
    """Some value for each number of a frame."""
    return {name: 2 for _, name, _, _ in Formatter().parse(register()[code]["frame"]) if name}


def test_the_register_is_small_and_every_code_of_it_makes_a_line():
    assert len(register()) <= 60
    for code, entry in register().items():
        note = Note(code, **of_frame(code))
        assert note.startswith(f"{code}: ")
        assert len(note) <= WIDTH
        assert note.about == " ".join(entry["about"].split()) != ""


def test_a_note_has_the_numbers_of_its_frame_and_no_others():
    with pytest.raises(TypeError, match=r"has the numbers \['effective', 'words'\], given \['words'\]"):
        Note("few-words", words=3)
    with pytest.raises(TypeError, match="'more'"):
        Note("few-words", words=3, effective=1.5, more=1)
    with pytest.raises(KeyError, match="unheard-of"):
        Note("unheard-of")


def test_a_note_is_cut_to_a_line_and_its_numbers_are_whole():
    missing = [f"word{number}" for number in range(40)]
    note = Note("coverage", found=1, asked=41, kind="protected", words=missing)
    assert note == "coverage: 1 of 41 protected words found (missing: word0, word1, word2, word3, ...)"
    assert note.numbers["words"] == missing
    for same in (copy.deepcopy(note), pickle.loads(pickle.dumps(note)), *restored(stored([note]))):
        assert (same, same.code, same.numbers) == (note, note.code, note.numbers)
    assert restored(["An old sentence.", ["gone", {"a": 1}]]) == (
        "note-of-file: An old sentence.",
        "note-of-file: gone, {'a': 1}",
    )


def test_notes_survive_files_of_fits_and_of_tables(made, tmp_path):
    fits = {"related": made.related, "adjusted": made.adjusted, "framed": made.framed}
    for name, post in fits.items():
        bb.save_fit(post, tmp_path / f"{name}.nc")
        again, first = bb.summary(bb.load_fit(tmp_path / f"{name}.nc")).notes, bb.summary(post).notes
        assert [(note.code, note.numbers) for note in again] == [(note.code, note.numbers) for note in first]
    assert {"adjusted", "unrelated"} <= {note.code for note in bb.summary(made.adjusted).notes}
    assert "encoded" in {note.code for note in bb.summary(made.framed).notes}
    table = bb.distance_table(made.slice, "weat8", relatedness=False)
    bb.write_distance_table(table, tmp_path / "t.parquet")
    tables = (table, bb.read_distance_table(tmp_path / "t.parquet"))
    one, other = (table.coverage.notes(table) for table in tables)
    assert tuple(one) == tuple(other) != ()
    assert {type(note) for note in other} == {Note}


class Odd(Result):
    """Hostile words and long tables."""

    notes = (Note("note-of-file", text="<i>x</i>"), Note("unreliable", figure="R-hat", value=1.04, limit=1.01))
    prob = 0.89

    def __init__(self, rows):
        self.rows = rows

    def caption(self):
        return "<i>caption</i> & 100%"

    def header(self):
        return {"words": "<i>mine</i>", "nothing": None, "many": [f"name{number}" for number in range(99)]}

    def table(self):
        rows = range(self.rows)
        numbers = {"mean": -0.06, "sd": 0.0203, "low": -0.0914, "high": 0.03, "p_closer": 1.0, "n_<i>": 1234}
        return pd.DataFrame({"row": [f"<i>row {number}</i>" for number in rows]}).assign(**numbers)


def test_the_printer_cuts_rows_and_puts_failed_checks_above_the_table():
    lines = repr(Odd(1_030)).splitlines()
    assert lines[0] == "<i>caption</i> & 100%"
    assert lines[3] == "unreliable: R-hat 1.04 (limit 1.01): do not read"
    assert lines[4].split() == ["mean", "sd", "5.5%", "94.5%", "P(<0)", "n", "<i>"]
    assert lines[5].split() == ["<i>row", "0</i>", "-0.060", "0.020", "-0.091", "0.030", "0.999", "1,234"]
    assert re.search(r"^\.\.\. 1,0\d\d more rows in table\(\)$", "\n".join(lines), re.MULTILINE)
    assert max(map(len, lines)) <= WIDTH
    assert len(lines) <= LINES
    assert "more rows" not in repr(Odd(3))


def test_an_answer_names_words_without_a_row_and_how_words_of_several_lists_count(slice_vectors):
    groups = {"man": ["he", "him", "boy"], "woman": ["she", "her", "girl"], "job": ["artist", "lawyer", "judge"]}
    lists = {"man": ["soldier", "captain", "boss"], "woman": ["nurse", "teacher", "soldier"]}
    table = bb.distance_table(slice_vectors, bb.WordLists("mine", groups, lists, {"human": ["manager", "engineer"]}))
    notes = {note.code: note.numbers for note in bb.summary(bb.fit(table, seed=0)).notes}
    assert notes["several-lists"] == {"rule": "count in each", "words": ["soldier"]}
    assert notes["left-out"]["words"] == groups["job"]


def test_hostile_words_are_escaped_everywhere(tmp_path):
    page = bb.report(Odd(3), tmp_path / "page.html").read_text(encoding="utf-8")
    for text in (page, Odd(3)._repr_html_()):
        assert "<i>" not in text
        assert "&lt;i&gt;row 0&lt;/i&gt;" in text
    assert "<strong>" in Odd(3)._repr_html_()
    written = Odd(3).to_latex()
    assert r"\& 100\%" in written
    assert r"n \textless{}i\textgreater{}" in written
    assert "$-$0.060 & 0.020 & $-$0.091" in written
