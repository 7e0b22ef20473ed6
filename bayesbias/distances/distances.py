"""A distance table as arrays, with what it carries: the one place where tables are read and written."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from bayesbias._support.arguments import as_float, is_printable
from bayesbias.distances.adjustment import Adjustment
from bayesbias.distances.covariances import Relatedness
from bayesbias.distances.dataframe import (
    ADJUSTED_FOR,
    COLUMNS,
    PAIR,
    SIMULATED,
    TEMPLATES,
    Coverage,
    DistanceTable,
    Provenance,
    like,
    limits_of,
    provenance_of,
    refuse_lacking,
    template_columns,
)
from bayesbias.errors import InputError, many, shown
from bayesbias.numerics.arrays import NOTHING, FloatArray, IntArray
from bayesbias.numerics.marginal import CellStatistics, reduce_to_cells
from bayesbias.results import Note
from bayesbias.vectors.lookup import distance_sd
from bayesbias.words import CONNECTIONS, STEREOTYPES, VALID, can_be_control, controls_of, in_order

TOLERANCE = 2e-3  # distances that differ by more do not come from the same vectors (half precision leaves 1e-4)
CROSSED_TOLERANCE = 0.1  # the same for means over different templates, around the median difference
MANY_ROWS = 100_000  # from which on words and labels are pandas categories, with a tenth of the memory of text
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
            _rows(table, bounded=not carried.moved),
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
    def of_rows(cls, rows: pd.DataFrame) -> Distances:
        """Rows alone, whose numbers may be any, such as differences of distances."""
        return _rows(rows, bounded=False)

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

    def refuse_slope(self) -> None:
        """Refuse distances less an estimated slope, whose error does not reach a comparison."""
        if self.slope_error:
            raise InputError(
                f"the table is {self.moved} by a slope that was estimated from control words, whose error a comparison "
                "does not carry: adjust tables with relatedness, or fit one table, which carries it"
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

        def by_row(words: Any, rows: IntArray) -> Any:
            return pd.array(words, dtype="str").take(rows)  # of words, not of rows: there may be millions of these

        return pd.DataFrame(
            {
                "protected_word": by_row(self.protected_words, self.word),
                "group": by_row(self.groups, self.word),
                "attribute_word": by_row(self.attribute_words, self.attribute),
                "attribute_class": self.attribute_class,
                "connection": by_row(self.connections, self.connection),
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


def _rows(table: pd.DataFrame, bounded: bool) -> Distances:
    """Codes and cells of the means over templates of a table; ``bounded`` distances are those of vectors."""
    columns = columns_of(table, bounded).averaged()
    unknown = Labels(np.full(len(columns.distance), EMPTY), np.empty(0, dtype=str))
    words, protected = columns.labels["protected_word"]
    codes, names = columns.labels["connection"]
    attribute, attribute_words = columns.labels["attribute_word"]
    labels = in_order(names.tolist())
    of_row, group_names = columns.labels.get("group", unknown)
    own = np.full(len(protected), EMPTY)
    own[words] = of_row
    return Distances(
        protected_words=protected,
        connections=np.array(labels),
        groups=Labels(own, group_names).each(),
        word=words,
        connection=_renumbered(names, labels)[codes],
        attribute=attribute,
        attribute_words=attribute_words,
        attribute_class=columns.labels.get("attribute_class", unknown).each(),
        y=columns.distance,
    )


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


def once(table: pd.DataFrame, where: str, remedy: str) -> pd.DataFrame:
    """The rows of a table with each pair once, for the first of its connections in their order."""
    unit = [*PAIR, *template_columns(table)]
    table = table.reset_index(drop=True)  # a column may be a level of the index too
    pairs = table.groupby(unit, sort=False)["distance"]
    odd = table[pairs.transform("max") - pairs.transform("min") > 1e-9]
    if len(odd):
        word, attribute = odd.iloc[0][PAIR]
        raise InputError(f"{where}: the pair {word!r}, {attribute!r} has more than one distance; {remedy}")
    order = in_order(table["connection"])
    rank = table["connection"].map({name: i for i, name in enumerate(order)}).to_numpy()
    ranked = np.argsort(rank, kind="stable")
    repeated = table.iloc[ranked].duplicated(unit).to_numpy()
    distinct: pd.DataFrame = table.iloc[np.sort(ranked[~repeated])]
    return distinct.reset_index(drop=True)


def text_where_few(table: pd.DataFrame) -> pd.DataFrame:
    """A table of categories with text in their place, unless it has many rows."""
    if len(table) >= MANY_ROWS:
        return table
    kinds = dict.fromkeys(table.columns.drop("distance"), "str")
    return table.astype({**kinds, "group": "string" if table["group"].isna().any() else "str"})


BEYOND = 10**6  # no distance, simulated or adjusted, is as large
EMPTY = -1  # code of a label that is not known


class Labels(NamedTuple):
    """A column of words or names."""

    codes: IntArray  # (rows,): the place of each row's name, or EMPTY
    names: NDArray[np.str_]  # in the order in which they first stand in the table

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
    if len(twice := table.columns[table.columns.duplicated()]):
        raise InputError(f"duplicate column {shown(twice[0])}: keep one")
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
    column = table["distance"]
    distance = (
        column.to_numpy(dtype=float, na_value=np.nan)
        if column.dtype.kind in "fiu"
        else np.array([as_float(each) for each in column], dtype=float)
    )
    least, most, more = (-NOTHING, 2 + NOTHING, "in [0, 2]") if bounded else (-BEYOND, BEYOND, "of a sensible size")
    why = (
        f"give a cosine distance {more}, leave missing pairs out; simulated ones are bb.DistanceTable(rows, truth={{}})"
    )
    refuse_rows(column, ~((least <= distance) & (distance <= most)), why)
    return Columns(labels, distance)


def averaged(table: pd.DataFrame) -> pd.DataFrame:
    """The table with one row for each pair and connection: the mean over templates."""
    if not template_columns(table):
        return table
    return like(columns_of(table, bounded=False).averaged().frame(), table)


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
    refuse_rows(column, [not isinstance(each, Hashable) for each in column] if column.dtype == object else [], TEXT)
    codes, values = pd.factorize(column)
    whole = [isinstance(value, int | np.integer) and not isinstance(value, bool) for value in values]
    names = [str(value) if digits else value for value, digits in zip(values, whole, strict=True)]
    odd = [place for place, name in enumerate(names) if name != "" and not is_printable(name)]
    refuse_rows(column, np.isin(codes, odd), TEXT)
    place = {name: i for i, name in enumerate(dict.fromkeys(name for name in names if name != ""))}
    known = np.array([*(place.get(name, EMPTY) for name in names), EMPTY])
    return Labels(known[codes], np.array(list(place), dtype=str))


TEXT = "words and names are printable texts without blanks at their ends"


def _unknown(labels: dict[str, Labels]) -> NDArray[np.bool_]:
    """True for rows with a connection that is neither a known one nor a control list that its rows name as class."""
    codes, names = labels["connection"]
    of_row, classes = labels.get("attribute_class", Labels(codes, np.empty(0, dtype=str)))
    own = {name: place for place, name in enumerate(classes.tolist()) if can_be_control(name)}
    wrong = np.zeros(len(codes), dtype=bool)
    for place, name in enumerate(names.tolist()):
        here = codes == place
        if name not in CONNECTIONS and (name not in own or (of_row[here] != own[name]).any()):
            wrong |= here
    return wrong
