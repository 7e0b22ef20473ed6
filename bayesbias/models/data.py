"""A distance table made ready for a model: codes, cells and labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesbias._core.cells import Cells, IntArray, reduce_to_cells
from bayesbias._core.cosine import FloatArray
from bayesbias.errors import InputError
from bayesbias.words import CONNECTIONS

NEEDED = ("protected_word", "attribute_word", "connection", "distance")


@dataclass(frozen=True)
class ModelData:
    """Rows and cells of a table.

    Attributes
    ----------
    protected_words, connections
        Labels of the cells' two dimensions; connections in the order associated, different, human, neutral, those
        without a row left out.
    groups
        Group of each protected word; empty where it is not known.
    word, connection
        Arrays (rows): the cell of each row.
    attribute_word, attribute_class
        Arrays (rows) of labels; empty classes where they are not known.
    y
        Array (rows): distances.
    cells
        Sufficient statistics, arrays (protected words, connections).
    """

    protected_words: NDArray[np.str_]
    connections: NDArray[np.str_]
    groups: NDArray[np.str_]
    word: IntArray
    connection: IntArray
    attribute_word: NDArray[np.str_]
    attribute_class: NDArray[np.str_]
    y: FloatArray
    cells: Cells

    @property
    def filled(self) -> NDArray[np.bool_]:
        """Which cells hold a distance, (protected words, connections)."""
        return self.cells.n > 0


def model_data(table: pd.DataFrame) -> ModelData:
    """Codes and cells of a distance table; the values need only be finite.

    Raises
    ------
    InputError
        A column is missing, there is no row, a word is empty, a connection is unknown, a distance is not a finite
        number, or a protected word stands in two groups.
    """
    if not isinstance(table, pd.DataFrame):
        raise InputError(
            f"a distance table is a DataFrame, given is {type(table).__name__}: "
            "make one with distance_table or read one with read_distance_table"
        )
    twice = table.columns[table.columns.duplicated()]
    if len(twice):
        raise InputError(f"the column {twice[0]!r} stands twice in the table: keep one")
    missing = [column for column in NEEDED if column not in table.columns]
    if missing:
        raise InputError(
            f"the table lacks the column {', '.join(missing)}: a distance table has protected_word, group, "
            f"attribute_word, attribute_class, connection, distance; given are {', '.join(map(str, table.columns))}"
        )
    if table.empty:
        raise InputError("the table has no row: there is no distance to fit")
    y = _finite(table["distance"])
    words = _labels(table, "protected_word")
    found = _labels(table, "connection")
    unknown = sorted(set(found) - set(CONNECTIONS))
    if unknown:
        raise InputError(f"unknown connection {unknown[0]!r}: the connections are {', '.join(CONNECTIONS)}")
    labels = np.array([name for name in CONNECTIONS if name in set(found)])
    protected = pd.unique(words).astype(str)
    word = pd.Index(protected).get_indexer(pd.Index(words))
    connection = pd.Index(labels).get_indexer(pd.Index(found))
    return ModelData(
        protected_words=protected,
        connections=labels,
        groups=_groups(table, words, protected),
        word=word,
        connection=connection,
        attribute_word=_labels(table, "attribute_word").astype(str),
        attribute_class=_optional(table, "attribute_class"),
        y=y,
        cells=reduce_to_cells(word, connection, y, (len(protected), len(labels))),
    )


def _finite(column: pd.Series) -> FloatArray:
    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        more = f", and in {len(bad) - 1} more rows" if len(bad) > 1 else ""
        raise InputError(
            f"row {column.index[bad[0]]}, column 'distance' holds {column.iloc[bad[0]]}{more}: "
            "every distance must be a finite number; leave missing pairs out"
        )
    return values


def _labels(table: pd.DataFrame, column: str) -> NDArray[np.object_]:
    values = table[column]
    empty = (values.astype("string").fillna("") == "").to_numpy()
    if empty.any():
        raise InputError(f"row {values.index[int(empty.argmax())]}, column {column!r} is empty")
    labels = values.astype(str).to_numpy(dtype=object)
    odd = [label for label in pd.unique(labels) if not label.isprintable()]
    if odd:
        raise InputError(f"column {column!r} holds {odd[0]!r}: words are printable text")
    return labels


def _optional(table: pd.DataFrame, column: str) -> NDArray[np.str_]:
    if column not in table:
        return np.full(len(table), "", dtype=str)
    return table[column].astype("string").fillna("").to_numpy(dtype=str)


def _groups(table: pd.DataFrame, words: NDArray[np.object_], protected: NDArray[np.str_]) -> NDArray[np.str_]:
    pairs = pd.DataFrame({"word": words, "group": _optional(table, "group")}).drop_duplicates()
    twice = pairs["word"][pairs["word"].duplicated()]
    if len(twice):
        groups = pairs.loc[pairs["word"] == twice.iloc[0], "group"]
        raise InputError(f"the protected word {twice.iloc[0]!r} stands in two groups: {', '.join(map(repr, groups))}")
    return pairs.set_index("word")["group"].reindex(protected).to_numpy(dtype=str)
