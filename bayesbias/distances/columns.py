"""Columns of a distance table as codes and numbers: the one place where rows that are given are checked."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from bayesbias._support.arguments import as_float, is_printable
from bayesbias.distances.dataframe import COLUMNS, TEMPLATES, like, refuse_lacking, template_columns
from bayesbias.errors import InputError, many, shown
from bayesbias.numerics.arrays import FloatArray, IntArray
from bayesbias.words import CONNECTIONS, VALID, can_be_control

ROUNDING = 1e-6  # by which cosine distances may lie outside of [0, 2]
BEYOND = 10**6  # no distance, simulated or adjusted, is as large
EMPTY = -1  # code of a label that is not known


class Labels(NamedTuple):
    """A column of words or names."""

    codes: IntArray  # (rows,): the place of each row's name, or EMPTY
    names: NDArray[np.str_]  # in the order in which they first stand in the table

    @classmethod
    def unknown(cls, rows: int) -> Self:
        """A column without a name."""
        return cls(np.full(rows, EMPTY), np.empty(0, dtype=str))

    def each(self) -> NDArray[np.str_]:
        """The label of each row, empty where it is not known."""
        return np.array([*self.names.tolist(), ""])[self.codes]


@dataclass(frozen=True)
class Columns:
    """The checked columns of a distance table."""

    labels: dict[str, Labels]  # of the columns of words and names that the table has
    distance: FloatArray  # (rows,)

    def averaged(self) -> Columns:
        """One row for each pair and connection: the mean over templates."""
        kept = [name for name in self.labels if name not in TEMPLATES]
        if len(kept) == len(self.labels):
            return self
        codes = pd.DataFrame({name: self.labels[name].codes for name in kept})
        means = codes.assign(distance=self.distance).groupby(kept, sort=False)["distance"].mean().reset_index()
        labels = {name: Labels(means[name].to_numpy(), self.labels[name].names) for name in kept}
        return Columns(labels, means["distance"].to_numpy())

    def frame(self) -> pd.DataFrame:
        """The columns as a table of categories and numbers."""
        labels = {
            name: pd.Categorical.from_codes(codes, pd.Index(names, dtype="str"))
            for name, (codes, names) in self.labels.items()
        }
        return pd.DataFrame({**labels, "distance": self.distance})


def columns_of(table: pd.DataFrame, bounded: bool) -> Columns:
    """The columns of a distance table, whose faults are all told here; ``bounded`` distances are those of vectors."""
    refuse_twice(table.columns)
    refuse_lacking(table.columns)
    if table.empty:
        raise InputError("the table has no row: it holds no distance")
    labels = {name: labels_of(table[name]) for name in [*COLUMNS[:-1], *template_columns(table)] if name in table}
    for name, (codes, _) in labels.items():
        # groups may be known of some words only
        if name != "group" and (name != "attribute_class" or codes.max() > EMPTY):
            refuse_rows(table[name], codes == EMPTY, "every row needs one")
    refuse_rows(table["connection"], _unknown(labels), f"the connections are {VALID}")
    if "group" in labels:
        word, group = labels["protected_word"].codes, labels["group"].codes
        own = np.empty_like(group)
        own[word] = group
        refuse_rows(table["group"], group != own[word], "the protected word of that row is in two groups")
    distance = numbers_of(table["distance"])
    far = ~(np.abs(distance) < BEYOND)
    refuse_rows(table["distance"], far, f"give a real number below {BEYOND:,} in size; leave missing pairs out")
    if bounded:
        refuse_rows(
            table["distance"],
            (distance < -ROUNDING) | (distance > 2 + ROUNDING),
            "every cosine distance lies in [0, 2]; simulated distances come as bb.DistanceTable(rows, truth={})",
        )
    return Columns(labels, distance)


def averaged(table: pd.DataFrame) -> pd.DataFrame:
    """The table with one row for each pair and connection: the mean over templates."""
    if not template_columns(table):
        return table
    return like(columns_of(table, bounded=False).averaged().frame(), table)


def refuse_twice(columns: pd.Index) -> None:
    """Refuse a table that has a column twice."""
    if len(twice := columns[columns.duplicated()]):
        raise InputError(f"duplicate column {shown(twice[0])}: keep one")


def refuse_rows(column: pd.Series, wrong: ArrayLike, why: str) -> None:
    """Name the first row of a column that is wrong, and how many more are."""
    if not len(rows := np.flatnonzero(wrong)):
        return
    label, value = column.index[rows[0]], column.iloc[rows[0]]
    row = str(label) if isinstance(label, int | np.integer) else shown(label)
    value = value.item() if isinstance(value, np.generic) else value
    empty = value is pd.NA or (isinstance(value, Hashable) and (value in (None, "") or value != value))
    more = f" ({many(len(rows) - 1, 'more row')} of {len(column):,} too)" if len(rows) > 1 else ""
    what = "is empty" if empty else f"holds {shown(value)}"
    raise InputError(f"row {row}, column {column.name!r} {what}{more}: {why}")


def labels_of(column: pd.Series) -> Labels:
    """A column of text: whole numbers stand for their digits, and what is empty has no name."""
    try:
        codes, values = pd.factorize(column)
    except TypeError:  # a list or a mapping in a cell
        refuse_rows(column, [not isinstance(each, Hashable) for each in column], TEXT)
        raise
    names = [str(value) if _is_whole(value) else value for value in values]
    if odd := [place for place, name in enumerate(names) if name != "" and not is_printable(name)]:
        refuse_rows(column, codes == odd[0], TEXT)
    place = {name: i for i, name in enumerate(dict.fromkeys(name for name in names if name != ""))}
    known = np.array([*(place.get(name, EMPTY) for name in names), EMPTY])
    return Labels(known[codes], np.array(list(place), dtype=str))


TEXT = "words and names are printable texts without blanks at their ends"


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _unknown(labels: dict[str, Labels]) -> NDArray[np.bool_]:
    """True for rows with a connection that is neither a known one nor a control list that its rows name as class."""
    codes, names = labels["connection"]
    classes = labels.get("attribute_class", Labels.unknown(len(codes)))
    own = {name: place for place, name in enumerate(classes.names.tolist()) if can_be_control(name)}
    wrong = np.zeros(len(codes), dtype=bool)
    for place, name in enumerate(names.tolist()):
        here = codes == place
        if name not in CONNECTIONS and (name not in own or (classes.codes[here] != own[name]).any()):
            wrong |= here
    return wrong


def numbers_of(column: pd.Series) -> FloatArray:
    """A column of real numbers, NaN for what is none."""
    if column.dtype.kind in "fiu":
        return column.to_numpy(dtype=float, na_value=np.nan)
    return np.array([as_float(each) for each in column], dtype=float)
