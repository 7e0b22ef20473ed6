"""A text that no file can hold, a number beyond all sense or a table as a list would be taken, and spoil the result."""

import re
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb

ODD = ["\ud800", "a\x1b[31m", "a\0", "\x85"]
"""Half a letter, and control characters."""
SETS = {"a": ["p"], "b": ["q"]}
OWNERS = {
    "WordLists": lambda made: made.lists,
    "Query": lambda made: made.query,
    "WordList": lambda _: bb.load_list("occ16"),
    "PairList": lambda _: bb.load_list("gender_pairs"),
    "Templates": lambda _: bb.contextual.load_templates("seat"),
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("owner", OWNERS)
def test_free_texts_are_such_as_files_hold(made, owner, odd):
    given = OWNERS[owner](made)
    named = {each.name for each in fields(given)} & {"description", "source", "doi"}
    assert len(named) == 3
    for name in named:
        with pytest.raises(bb.InputError, match=f"{name}: the text holds '"):
            replace(given, **{name: odd})
    assert replace(given, source="two\nlines\tand Ḥ ʼ 😀").source == "two\nlines\tand Ḥ ʼ 😀"


@pytest.mark.parametrize("odd", ODD)
def test_titles_and_names_are_such_as_files_hold(made, odd):
    for name, call in {
        "name: the text holds": lambda: bb.Query(SETS, {"c": ["k"]}, name=odd),
        "name": lambda: bb.encode(made.encoder, ["p", "q"], ["the {}"], name=odd),
        "a name in embeddings is": lambda: bb.distance_tables({odd: made.kv}, made.lists),
    }.items():
        with pytest.raises(bb.InputError, match=name):
            call()


@pytest.mark.parametrize("word", ["", " he", "he\n", "\ud800", "a\x1b", 3, None])
def test_words_of_queries_and_of_lists_keep_the_same_rules(word):
    said = re.escape(f"holds {word!r}: a word is a printable text without blanks at its ends")
    with pytest.raises(bb.InputError, match=f"protected.a {said}"):
        bb.WordLists("n", {"a": ["he", word]}, {"a": ["k"]})
    with pytest.raises(bb.InputError, match=f"targets.a {said}"):
        bb.Query({"a": ["he", word]}, {"b": ["k"]})
    decomposed = "cafe\u0301"
    assert bb.Query({"a": [decomposed]}, {"b": ["k"]}).targets["a"] == ("caf\u00e9",)


NOT_LISTS = {
    "table": pd.DataFrame({"nurse": [1.0], "captain": [2.0]}),
    "mapping": {"nurse": 1.0, "captain": 2.0},
    "tree": xr.DataTree.from_dict({"/nurse": xr.Dataset(), "/captain": xr.Dataset()}),
    "array of one value": np.array("nurse"),
}


@pytest.mark.parametrize("kind", NOT_LISTS)
def test_tables_and_mappings_are_no_lists_of_words(made, kind):
    given = NOT_LISTS[kind]
    for call in (
        lambda: bb.words.WordList("n", given),
        lambda: bb.words.PairList("n", given),
        lambda: bb.WordLists("n", {"a": given}, {"a": ["k"]}),
        lambda: bb.Query({"a": given}, {"b": ["k"]}),
        lambda: bb.axis("glove-50d-slice", made.gender_pairs, words=given),
        lambda: made.axis.contrast(given, ["guard"]),
        lambda: made.axis.with_words(given),
        lambda: bb.plots.plot_axis(made.axis, words=given),
        lambda: bb.contextual.contexts(["a p b"], given),
        lambda: bb.contextual.contexts(["a p b"], ["p"], vocabulary=given),
        lambda: bb.encode(made.encoder, given, ["the {}"]),
        lambda: bb.encode(made.encoder, ["p", "q"], ["the {}"], vocabulary=given),
    ):
        with pytest.raises(bb.InputError, match=r"nurse|DataT|DataFrame"):
            call()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [1e30, 10**30, 2.1, float("inf"), float("nan")])
def test_numbers_beyond_all_sense_are_refused(made, value):
    for said, call in {
        "rope is .*at most 2": lambda: bb.contrasts(made.post, rope=value),
        r"rope is \(-?0.*at most 2": lambda: bb.contrasts(made.post, rope=(0, value)),
        "rope is .* at most 2": lambda: bb.plots.plot_contrasts(made.post, rope=value),
        "rope is .*give a (number from -2 to 2|finite number)": lambda: bb.audit(made.kv, made.pairs, rope=value),
    }.items():
        with pytest.raises(bb.InputError, match=said):
            call()
    if value != 2.1:
        with pytest.raises(bb.InputError, match=r"rope is .*at most 1,000,000,000"):
            bb.estimates(made.post).summary(rope=value)
