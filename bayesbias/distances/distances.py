"""A distance table as arrays, with what it carries: the one place where tables are read and written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesbias._checks import is_printable
from bayesbias._core.marginal import Cells, reduce_to_cells
from bayesbias._core.vectors import FloatArray, IntArray
from bayesbias.distances.covariances import KEY, Relatedness, packed, shared_relatedness
from bayesbias.distances.storage import COSINE, Coverage, averaged, check_distances, finite_distances, stored_coverage
from bayesbias.embeddings.lookup import distance_sd
from bayesbias.errors import InputError
from bayesbias.words import STEREOTYPES, VALID, controls_of, in_order, unknown_connections

ADJUSTED = "adjusted"  # name in ``table.attrs``: the distances are no longer those of the vectors
# the class of the words of all stereotype lists; the words of each control list are a class with the list's name
STEREOTYPE = "stereotype"
NEEDED = ("protected_word", "attribute_word", "connection", "distance")


@dataclass(frozen=True)
class Distances:
    """A distance table, read once: its rows, its cells, and what it carries."""

    protected_words: NDArray[np.str_]  # labels of the cells' first dimension
    connections: NDArray[np.str_]  # of the second, in the order of `in_order`, those without a row left out
    groups: NDArray[np.str_]  # of each protected word; empty where it is not known
    word: IntArray  # (rows,): the cell of each row, with `connection`
    connection: IntArray
    attribute: IntArray  # (rows,): the attribute word of each row
    attribute_words: NDArray[np.str_]
    attribute_class: NDArray[np.str_]  # (rows,); empty where it is not known
    y: FloatArray  # (rows,): distances
    notes: tuple[str, ...] = ()  # sentences on what was done to the table for the model's sake
    relatedness: Relatedness | None = None  # how the distances are correlated, where the table knows it
    coverage: Coverage | None = None  # how word lists met the embedding, where the table has a record that is ours
    adjusted: str = ""  # attribute of words that the distances are adjusted for; empty if none

    @classmethod
    def read(cls, table: object, check: bool = True) -> Distances:
        """The rows of a distance table, of its means over templates, and what it carries.

        ``check`` holds the distances against the vectors that the table carries.
        """
        if not isinstance(table, pd.DataFrame):
            raise InputError(
                f"a distance table is a DataFrame, given is {type(table).__name__}: "
                "make one with distance_table or read one with read_distance_table"
            )
        rows, related = _rows(table), shared_relatedness(table)
        moved = {"truth", ADJUSTED} & set(table.attrs)  # simulated or adjusted distances are not those of the vectors
        if related is not None and check and not moved:
            check_distances(related, averaged(table))
        adjusted = str(table.attrs.get(ADJUSTED, ""))
        return replace(rows, relatedness=related, coverage=stored_coverage(table), adjusted=adjusted)

    def to_frame(self) -> pd.DataFrame:
        """The distance table, with what it carries in ``attrs``."""
        table = self.table
        if self.coverage is not None:
            table.attrs["coverage"] = self.coverage.as_dict()
        if self.adjusted:
            table.attrs[ADJUSTED] = self.adjusted
        if self.relatedness is not None:
            table.attrs[KEY] = packed(self.relatedness)
        return table

    @property
    def labels(self) -> dict[str, str]:
        """What control lists are called; those without a label are left out."""
        return {} if self.coverage is None else self.coverage.labels

    @property
    def unit(self) -> str:
        """What the numbers are measured in."""
        return COSINE if self.coverage is None else self.coverage.unit

    def distance_sd(self, name: str) -> float | str:
        """The unit of the embedding, which is called so, in cosine distance; or why it has none."""
        related: Mapping[str, Any] = {} if self.relatedness is None else self.relatedness.embedding
        return distance_sd(related if self.coverage is None else {**related, **self.coverage.embedding}, name)

    @property
    def language(self) -> str | None:
        """The language of the word lists, as a BCP 47 tag; None where it is not known."""
        return None if self.coverage is None else self.coverage.language

    @property
    def measure(self) -> str:
        """What the numbers are where they are scores; empty where they are cosine distances."""
        return "" if self.coverage is None else self.coverage.measure

    def refuse_scores(self, what: str) -> None:
        """Refuse scores, which are standardised table by table, where the numbers of several tables are compared."""
        if self.measure:
            raise InputError(
                f"the table holds {self.measure}, standardised by themselves: {what} takes cosine distances; "
                "fit one table with both sets of scores, such as with a group of words for each"
            )

    def part(self, kept: NDArray[np.bool_]) -> Distances:
        """A part of the rows, with the words and connections that they hold."""
        words, word = np.unique(self.word[kept], return_inverse=True)
        present, connection = np.unique(self.connection[kept], return_inverse=True)
        attributes, attribute = np.unique(self.attribute[kept], return_inverse=True)
        return replace(
            self,
            protected_words=self.protected_words[words],
            connections=self.connections[present],
            groups=self.groups[words],
            word=word,
            connection=connection,
            attribute=attribute,
            attribute_words=self.attribute_words[attributes],
            attribute_class=self.attribute_class[kept],
            y=self.y[kept],
        )

    @cached_property
    def cells(self) -> Cells:
        """Sufficient statistics, arrays (protected words, connections)."""
        shape = (len(self.protected_words), len(self.connections))
        return reduce_to_cells(self.word, self.connection, self.y, shape)

    @cached_property
    def class_of_attribute(self) -> IntArray:
        """Class of each attribute word: 0 for stereotypes, then the control lists in the order of ``connections``.

        A word that stands in several has the first of them.
        """
        every = self.classes
        kind = np.array([every.index(class_of_connection(name)) for name in self.connections.tolist()])
        values = np.full(len(self.attribute_words), len(every))
        np.minimum.at(values, self.attribute, kind[self.connection])
        return values

    @property
    def table(self) -> pd.DataFrame:
        """The rows as a distance table."""
        return pd.DataFrame(
            {
                "protected_word": self.protected_words[self.word],
                "group": self.groups[self.word],
                "attribute_word": self.attribute_words[self.attribute],
                "attribute_class": self.attribute_class,
                "connection": self.connections[self.connection],
                "distance": self.y,
            }
        )

    @property
    def places(self) -> dict[str, IntArray]:
        """Dimension of a posterior variable to the place (rows,) of each row on it."""
        return {
            "protected_word": self.word,
            "connection": self.connection,
            "other_connection": self.connection,
            "attribute_word": self.attribute,
            "attribute_class": self.class_index[self.attribute],
            "group": self.group_index[self.word],
        }

    @property
    def filled(self) -> NDArray[np.bool_]:
        """Which cells hold a distance, (protected words, connections)."""
        return self.cells.n > 0

    @property
    def compared(self) -> NDArray[np.bool_]:
        """Which attribute word is compared with a word of which group, (attribute words, groups)."""
        met = np.zeros((len(self.attribute_words), len(self.group_names)), dtype=bool)
        met[self.attribute, self.group_index[self.word]] = True
        return met

    @property
    def classes(self) -> list[str]:
        """Names of the classes that ``class_of_attribute`` counts."""
        return [STEREOTYPE, *controls_of(self.connections.tolist())]

    @property
    def attribute_classes(self) -> list[str]:
        """Names of the classes that attribute words belong to; those without a word left out."""
        return [self.classes[i] for i in np.unique(self.class_of_attribute)]

    @property
    def class_index(self) -> IntArray:
        """Place of each attribute word's class in ``attribute_classes``."""
        return np.unique(self.class_of_attribute, return_inverse=True)[1]

    @property
    def connection_classes(self) -> list[str]:
        """Names of the classes of attribute words that the connections are to."""
        return list(dict.fromkeys(map(class_of_connection, self.connections.tolist())))

    @property
    def connection_class(self) -> IntArray:
        """Place of each connection's class in ``connection_classes``, (connections,)."""
        present = self.connection_classes
        return np.array([present.index(class_of_connection(name)) for name in self.connections.tolist()])

    @property
    def group_names(self) -> list[str]:
        """Names of the groups in the order in which they first stand in the table."""
        return list(dict.fromkeys(self.groups.tolist()))

    @property
    def group_index(self) -> IntArray:
        """Place of each protected word's group in ``group_names``."""
        place = {name: i for i, name in enumerate(self.group_names)}
        return np.array([place[name] for name in self.groups.tolist()], dtype=np.intp)


def class_of_connection(name: str) -> str:
    """The class of the attribute words of a connection: words whose scales may differ from those of others."""
    return STEREOTYPE if name in STEREOTYPES else name


def _rows(table: pd.DataFrame) -> Distances:
    """Codes and cells of a table; the values need only be finite."""
    if len(twice := table.columns[table.columns.duplicated()]):
        raise InputError(f"duplicate column {twice[0]!r}: keep one")
    if missing := [column for column in NEEDED if column not in table.columns]:
        raise InputError(
            f"the table lacks the column {', '.join(missing)}: a distance table has protected_word, group, "
            f"attribute_word, attribute_class, connection, distance; given are {', '.join(map(str, table.columns))}"
        )
    if table.empty:
        raise InputError("the table has no row: there is no distance to fit")
    table = averaged(table).copy(deep=False)
    table.attrs = {}  # pandas would copy the record of coverage with every column taken out
    y = finite_distances(table["distance"])
    words, protected = _codes(table, "protected_word")
    codes, names = _codes(table, "connection")
    if unknown := unknown_connections(table):
        raise InputError(f"unknown connection {unknown[0]!r}: the connections are {VALID}")
    labels = np.array(in_order(names.tolist()))
    connection = np.array([labels.tolist().index(name) for name in names])[codes]
    attribute, attribute_words = _codes(table, "attribute_word")
    return Distances(
        protected_words=protected,
        connections=labels,
        groups=_groups(table, words, protected),
        word=words,
        connection=connection,
        attribute=attribute,
        attribute_words=attribute_words,
        attribute_class=_optional(table, "attribute_class"),
        y=y,
    )


def refuse_repeats(table: pd.DataFrame, model: str) -> None:
    """Refuse a table that repeats pairs without being marked so, for a model that counts every row."""
    pairs = list(NEEDED[:2])
    if table.attrs.get("truth") is not None or (table.attrs.get("coverage") or {}).get("kept_duplicates"):
        return
    if repeated := int(table.duplicated(pairs).sum()):
        first = " and ".join(map(repr, table.loc[table.duplicated(pairs), pairs].iloc[0]))
        raise InputError(
            f"{repeated:,} of {len(table):,} rows repeat a pair, such as {first}, and the model {model!r} would count "
            f"them as further evidence: drop them with table.drop_duplicates({pairs}), or make or read the table with "
            "keep_duplicates=True to count them as the published study does"
        )


def _codes(table: pd.DataFrame, column: str) -> tuple[IntArray, NDArray[np.str_]]:
    """Codes (rows) of a column of words, and the words in the order in which they first stand there."""
    codes, values = pd.factorize(table[column])
    written = [str(value) for value in values]  # 0 and "0" are one word
    distinct = list(dict.fromkeys(written))
    names = np.array(distinct)
    if len(distinct) < len(written):
        codes = np.where(codes < 0, codes, np.array([distinct.index(each) for each in written])[codes])
    empty = (codes < 0) if names.size == 0 else (codes < 0) | (names == "")[codes]
    if empty.any():
        raise InputError(f"row {table.index[int(empty.argmax())]}, column {column!r} is empty")
    if odd := [name for name in names.tolist() if not name.isprintable()]:
        raise InputError(f"column {column!r} holds {odd[0]!r}: words are printable text")
    return codes, names


def _optional(table: pd.DataFrame, column: str) -> NDArray[np.str_]:
    """A column of labels (rows), empty where they are not known."""
    if column not in table:
        return np.full(len(table), "", dtype=str)
    codes, values = pd.factorize(table[column])
    names = [str(value) for value in values]
    if odd := [name for name in names if name and not is_printable(name)]:
        raise InputError(f"column {column!r} holds {odd[0]!r}: names are printable text without blanks at their ends")
    return np.array([*names, ""])[codes]


def _groups(table: pd.DataFrame, words: IntArray, protected: NDArray[np.str_]) -> NDArray[np.str_]:
    groups = _optional(table, "group")
    own = groups[np.unique(words, return_index=True)[1]]
    if len(twice := np.flatnonzero(groups != own[words])):
        word = words[twice[0]]
        pair = f"{str(own[word])!r}, {str(groups[twice[0]])!r}"
        raise InputError(f"the protected word {str(protected[word])!r} is in two groups: {pair}")
    return own


def stacked_tables(tables: Sequence[Distances], related: Relatedness) -> Distances:
    """Tables one below another, as if each had protected words of its own, which ``related`` knows in that order."""
    places = {word: place for place, word in enumerate(related.attribute_words)}
    connections = np.array(in_order(name for each in tables for name in each.connections.tolist()))
    begins = np.cumsum([0, *(len(each.protected_words) for each in tables)])
    order = {name: place for place, name in enumerate(connections.tolist())}
    return Distances(
        protected_words=np.array(related.protected_words),
        connections=connections,
        groups=np.concatenate([each.groups for each in tables]),
        word=np.concatenate([begin + each.word for begin, each in zip(begins.tolist(), tables, strict=False)]),
        connection=np.concatenate([_renumbered(each.connections, order)[each.connection] for each in tables]),
        attribute=np.concatenate([_renumbered(each.attribute_words, places)[each.attribute] for each in tables]),
        attribute_words=np.array(related.attribute_words),
        attribute_class=np.concatenate([each.attribute_class for each in tables]),
        y=np.concatenate([each.y for each in tables]),
        relatedness=related,
    )


def _renumbered(labels: NDArray[np.str_], places: Mapping[str, int]) -> IntArray:
    return np.array([places[label] for label in labels.tolist()], dtype=np.intp)
