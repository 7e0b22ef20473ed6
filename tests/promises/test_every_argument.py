"""A wrong argument would be taken and silently change the answer: one case for each rule."""

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias._support.arguments import finite_number, interval, mapping, one_of, printable, text, whole_number

RULES = {
    "a whole number of at least 1": [(whole_number, value) for value in (None, True, 0, -1, 1.5, "3", 10**30)],
    "a probability between 0 and 1": [(bb.contrasts, {"prob": value}) for value in (0, 1, 89, "0.5", np.nan, None)],
    "a share from 0 to 1": [(bb.metric, {"max_missing": value}) for value in (-0.1, 1.1, np.nan, "x")],
    "True or False": [(bb.distance_table, {"relatedness": value}) for value in ("False", 1, None, [])],
    "a finite number": [(finite_number, value) for value in (np.nan, np.inf, "1", True, 1j)],
    "(low, high)": [(interval, value) for value in (0, -1, (1, 0), (0, np.nan), "x", [1, 2, 3])],
    "a printable text": [(printable, value) for value in ("", " x", "a\x1b", "\ud800", b"x", 3)],
    "a text": [(text, value) for value in ("\ud800", "a\x1b[31m", "a\0", 3)],
    "valid are": [(bb.distance_table, {"case": value}) for value in ("lower", None, 3)],
    "mapping of": [(bb.distance_tables, {"embeddings": value}) for value in ({}, None, {" x": 1}, {None: 1})],
}


@pytest.mark.parametrize("rule", RULES)
def test_values_against_a_rule_are_refused(made, rule):
    given = {
        bb.contrasts: {"post": made.post},
        bb.metric: {"name": "weat", "kv": made.kv, "query": made.query},
        bb.distance_table: {"kv": made.kv, "words": made.lists},
        bb.distance_tables: {"embeddings": {"one": made.kv}, "words": made.lists},
    }
    for function, value in RULES[rule]:
        with pytest.raises(bb.InputError, match=rule.replace("(", r"\(").replace(")", r"\)")):
            function(**given[function] | value) if function in given else function(value, "x")


def test_values_within_a_rule_are_taken():
    assert whole_number(np.int64(3), "x") == 3
    assert interval(0.1, "x") == (-0.1, 0.1)
    assert mapping({1900: "a"}, "x", "texts") == {"1900": "a"}
    assert one_of("a", ("a", "b"), "x") == "a"


def with_cell(column, value):
    """A function from a table to the same with another value in the row 3 of a column."""
    return lambda table: table.assign(
        **{column: pd.Series([value if row == 3 else old for row, old in enumerate(table[column])], dtype=object)}
    )


WRONG_TABLES = {
    "row 3, column 'connection' holds 'near'": with_cell("connection", "near"),
    "the protected word of that row is in two": with_cell("group", "b"),
    "row 3, column 'distance' is empty": with_cell("distance", np.nan),
}


@pytest.mark.parametrize("message", WRONG_TABLES)
def test_one_wrong_cell_of_a_table_is_refused_by_its_row(made, message):
    with pytest.raises(bb.InputError, match=message):
        bb.fit(WRONG_TABLES[message](made.table), "crossed", draws=200)
