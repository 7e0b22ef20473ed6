"""A distance table as arrays, with what it carries: the one place where tables are read and written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesbias.distances.adjustment import Adjustment
from bayesbias.distances.covariances import Relatedness
from bayesbias.distances.dataframe import (
    ADJUSTED_FOR,
    COLUMNS,
    PAIR,
    SIMULATED,
    Coverage,
    DistanceTable,
    Provenance,
    averaged,
    columns_of,
    distance_sd,
    limits_of,
    provenance_of,
)
from bayesbias.errors import InputError
from bayesbias.numerics.arrays import FloatArray, IntArray
from bayesbias.numerics.marginal import CellStatistics, reduce_to_cells
from bayesbias.results import Note
from bayesbias.words import STEREOTYPES, controls_of, in_order

TOLERANCE = 2e-3  # distances that differ by more do not come from the same vectors (half precision leaves 1e-4)
CROSSED_TOLERANCE = 0.1  # the same for means over different templates, around the median difference
# the class of the words of all stereotype lists; the words of each control list are a class with the list's name
STEREOTYPE = "stereotype"


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
    notes: tuple[Note, ...] = ()  # on what was done to the table for the model's sake
    relatedness: Relatedness | None = None  # how the distances are correlated, where the table knows it
    coverage: Coverage | None = None  # how word lists met the embedding, where the table has a record that is ours
    moved: str = ""  # why the distances are not those of the vectors, such as "simulated"; empty where they are
    adjustment: Adjustment | None = None  # what was subtracted, where the table or fit tells all of it

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
        carried = provenance_of(table)
        distances = replace(
            cls.of_rows(table, bounded=not carried.moved),
            relatedness=carried.relatedness,
            coverage=carried.coverage,
            moved=carried.moved,
            adjustment=carried.adjustment,
        )
        distances.check_vectors(distances=check)
        return distances

    def check_vectors(self, distances: bool = True) -> None:
        """Refuse relatedness that does not know the words, or is of other vectors than the ``distances``."""
        related = self.relatedness
        if related is None:
            return
        known = [(self.protected_words, related.protected_words), (self.attribute_words, related.attribute_words)]
        fault, unknown = "", set().union(*({*own.tolist()}.difference(theirs) for own, theirs in known))
        if unknown:
            fault = f"does not know the word {min(unknown)!r}"
        elif distances and not self.moved:
            words, attributes = (_renumbered(*each) for each in known)
            cosines = related.protected.astype(np.float32) @ related.attributes.astype(np.float32).T
            theirs = np.clip(1 - cosines, 0, 2)[words[self.word], attributes[self.attribute]]
            apart, allowed = self.y - theirs, TOLERANCE
            if self.coverage is not None and self.coverage.contexts.get("pairing") == "crossed":
                # means over different templates differ from those over all by what equal ones share: much the same
                apart, allowed = apart - np.median(apart), CROSSED_TOLERANCE
            if (np.abs(apart) > allowed).any():
                at = int(np.argmax(np.abs(apart)))
                pair = f"{self.protected_words[self.word[at]]} and {self.attribute_words[self.attribute[at]]}"
                fault = f"is of other vectors: they put {pair} at {theirs[at]:.4f}, the table at {self.y[at]:.4f}"
        if fault:
            raise InputError(
                f"the relatedness of the table {fault}; make the table anew with distance_table, or take "
                "table.without_relatedness()"
            )

    @classmethod
    def of_rows(cls, table: pd.DataFrame, bounded: bool = False) -> Distances:
        """Means over the templates of rows alone; numbers that are not ``bounded`` may be differences of distances."""
        rows = columns_of(averaged(table, bounded), bounded)
        labels = rows.columns.drop("distance")
        codes: dict[str, IntArray] = {name: rows[name].cat.codes.to_numpy().astype(np.intp) for name in labels}
        known = {name: rows[name].cat.categories.to_numpy(dtype=str) for name in labels}
        # the last, which is empty, stands for what is not known
        names = {name: np.array([*own.tolist(), ""]) for name, own in known.items()}
        connections = in_order(known["connection"].tolist())
        group = np.full(len(known["protected_word"]), -1)
        group[codes["protected_word"]] = codes.get("group", -1)
        listed = names["attribute_class"][codes["attribute_class"]] if "attribute_class" in names else [""] * len(rows)
        return cls(
            protected_words=known["protected_word"],
            connections=np.array(connections),
            groups=names.get("group", np.array([""]))[group],
            word=codes["protected_word"],
            connection=_renumbered(known["connection"], connections)[codes["connection"]],
            attribute=codes["attribute_word"],
            attribute_words=known["attribute_word"],
            attribute_class=np.array(listed),
            y=rows["distance"].to_numpy(),
        )

    def to_frame(self) -> DistanceTable:
        """The distance table, with what it carries."""
        carried = Provenance(self.coverage, self.relatedness, self.adjustment, moved=self.moved)
        return DistanceTable.carrying(self.table, carried)

    @property
    def adjusted(self) -> str:
        """The attribute of words that the distances are adjusted for; empty if none."""
        return self.moved.partition(ADJUSTED_FOR)[2]

    @property
    def slope_error(self) -> bool:
        """True where an estimated slope was subtracted, whose error the distances do not show."""
        return self.adjustment is not None and self.adjustment.slope is not None

    @property
    def labels(self) -> dict[str, str]:
        """Labels of control lists; lists without one are left out."""
        return {} if self.coverage is None else self.coverage.labels

    @property
    def measured(self) -> dict[str, str]:
        """``word_list`` and ``embedding``, the names for captions; empty where they are not known."""
        record = self.coverage
        return {} if record is None else {"word_list": record.word_list, "embedding": record.embedding.get("name", "")}

    @property
    def limits(self) -> tuple[Note, ...]:
        """Notes on the lists of these distances: lost words, and lists that are short or no controls."""
        lists = {*self.attribute_class.tolist(), *self.groups.tolist()}
        return () if self.coverage is None else limits_of([self.coverage], lists)

    def distance_sd(self, name: str) -> float | str:
        """The unit of the embedding, which is called so, in cosine distance; or why it has none."""
        related: Mapping[str, Any] = {} if self.relatedness is None else self.relatedness.embedding
        return distance_sd(related if self.coverage is None else {**related, **self.coverage.embedding}, name)

    @property
    def language(self) -> str | None:
        """The language of the word lists, as a BCP 47 tag; None where it is not known."""
        return None if self.coverage is None else self.coverage.language

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
    def cells(self) -> CellStatistics:
        """Sufficient statistics, arrays (protected words, connections)."""
        shape = (len(self.protected_words), len(self.connections))
        return reduce_to_cells(self.word, self.connection, self.y, shape)

    @cached_property
    def class_of_attribute(self) -> IntArray:
        """Class of each attribute word: 0 for stereotypes, then the control lists in the order of ``connections``.

        A word that stands in several has the first of them.
        """
        kind = _renumbered(map(class_of_connection, self.connections.tolist()), self.classes)
        values = np.full(len(self.attribute_words), len(self.classes))
        np.minimum.at(values, self.attribute, kind[self.connection])
        return values

    @property
    def table(self) -> pd.DataFrame:
        """The rows as a distance table."""
        labels = {
            "protected_word": (self.protected_words, self.word),
            "group": (self.groups, self.word),
            "attribute_word": (self.attribute_words, self.attribute),
            "connection": (self.connections, self.connection),
        }
        # texts are made of words, not of rows: there may be millions of these
        texts = {name: pd.array(words, dtype="str").take(rows) for name, (words, rows) in labels.items()}
        return pd.DataFrame({**texts, "attribute_class": self.attribute_class, "distance": self.y})[COLUMNS]

    @property
    def places(self) -> dict[str, IntArray]:
        """Dimension of a posterior variable to the place (rows,) of each row on it."""
        return {
            "protected_word": self.word,
            "connection": self.connection,
            "other_connection": self.connection,
            "attribute_word": self.attribute,
            "attribute_class": self.class_index[self.attribute],
            "word_group": self.group_index[self.word],
        }

    @property
    def filled(self) -> NDArray[np.bool_]:
        """True (protected words, connections) for cells that hold a distance."""
        return self.cells.n > 0

    @property
    def compared(self) -> NDArray[np.bool_]:
        """True (attribute words, groups) where an attribute word is compared with a word of a group."""
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
        return _renumbered(map(class_of_connection, self.connections.tolist()), self.connection_classes)

    @property
    def group_names(self) -> list[str]:
        """Names of the groups in the order in which they first stand in the table."""
        return list(dict.fromkeys(self.groups.tolist()))

    @property
    def group_index(self) -> IntArray:
        """Place of each protected word's group in ``group_names``."""
        return _renumbered(self.groups.tolist(), self.group_names)


def class_of_connection(name: str) -> str:
    """The class of the attribute words of a connection: words whose scales may differ from those of others."""
    return STEREOTYPE if name in STEREOTYPES else name


def _renumbered(labels: Iterable[str], known: Iterable[str]) -> IntArray:
    """Place of each label among those known."""
    places = {label: place for place, label in enumerate(known)}
    return np.array([places[label] for label in labels], dtype=np.intp)


def refuse_mixed(tables: Mapping[str, Distances]) -> None:
    """Refuse tables of which some are adjusted for an attribute of words and others are not."""
    by_attribute = {each.adjusted: name for name, each in tables.items()}
    if len(by_attribute) > 1:
        states = [f"{name} is {f'{ADJUSTED_FOR}{what}' if what else 'not'}" for what, name in by_attribute.items()]
        raise InputError(f"{' and '.join(states)}: adjust all tables for the same attribute of words, or none")


def refuse_repeats(data: Distances, model: str) -> None:
    """Refuse distances that repeat a pair without being marked so, for a model that counts every row."""
    if data.moved.startswith(SIMULATED) or (data.coverage is not None and data.coverage.kept_duplicates):
        return
    code = data.word * len(data.attribute_words) + data.attribute
    first = np.unique(code, return_index=True)[1]
    if repeated := len(code) - len(first):
        row = int(np.setdiff1d(np.arange(len(code)), first)[0])
        pair = f"{str(data.protected_words[data.word[row]])!r} and {str(data.attribute_words[data.attribute[row]])!r}"
        raise InputError(
            f"{repeated:,} of {len(code):,} rows repeat a pair, such as {pair}, and the model {model!r} would count "
            f"them as further evidence: drop them with table.drop_duplicates({PAIR}), or make or read the table with "
            "keep_duplicates=True to count them as the published study does"
        )


def stacked_tables(tables: Sequence[Distances], related: Relatedness) -> Distances:
    """Tables one below another, as if each had protected words of its own, which ``related`` knows in that order."""
    connections = in_order(name for each in tables for name in each.connections.tolist())
    begins = np.cumsum([0, *(len(each.protected_words) for each in tables)]).tolist()
    attributes = [_renumbered(each.attribute_words, related.attribute_words)[each.attribute] for each in tables]
    return Distances(
        protected_words=np.array(related.protected_words),
        connections=np.array(connections),
        groups=np.concatenate([each.groups for each in tables]),
        word=np.concatenate([begin + each.word for begin, each in zip(begins, tables, strict=False)]),
        connection=np.concatenate([_renumbered(each.connections, connections)[each.connection] for each in tables]),
        attribute=np.concatenate(attributes),
        attribute_words=np.array(related.attribute_words),
        attribute_class=np.concatenate([each.attribute_class for each in tables]),
        y=np.concatenate([each.y for each in tables]),
        relatedness=related,
    )
