"""A table would be taken for a list of words, or a word that no file can hold, and spoil the result."""

import re

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb


@pytest.mark.parametrize("word", ["", " he", "\ud800", 3])
def test_words_of_queries_and_of_lists_keep_the_same_rules(word):
    said = re.escape(f"holds {word!r}: a word is a printable text without blanks at its ends")
    with pytest.raises(bb.InputError, match=f"protected.a {said}"):
        bb.WordLists("n", {"a": ["he", word]}, {"a": ["k"]})
    with pytest.raises(bb.InputError, match=f"targets.a {said}"):
        bb.Query({"a": ["he", word]}, {"b": ["k"]})
    assert bb.Query({"a": ["cafe\u0301"]}, {"b": ["k"]}).targets["a"] == ("caf\u00e9",)


@pytest.mark.parametrize("given", [pd.DataFrame({"nurse": [1.0]}), {"nurse": 1.0, "captain": 2.0}, np.array("nurse")])
def test_tables_and_mappings_are_no_lists_of_words(made, given):
    for call in (
        lambda: bb.WordLists("n", {"a": given}, {"a": ["k"]}),
        lambda: bb.Query({"a": given}, {"b": ["k"]}),
        lambda: bb.axis("glove-50d-slice", made.gender_pairs, words=given),
        lambda: bb.encode(made.encoder, given, ["the {}"]),
    ):
        with pytest.raises(bb.InputError, match=r"nurse|DataFrame"):
            call()
