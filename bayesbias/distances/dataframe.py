"""``DistanceTable``: distances in long format, a pandas DataFrame that carries what is known of them."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any, ClassVar, Self, TypedDict

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from pydantic import ConfigDict, TypeAdapter, ValidationError

from bayesbias._support.arguments import as_float, is_printable
from bayesbias.distances.adjustment import Adjustment
from bayesbias.distances.covariances import Relatedness
from bayesbias.errors import InputError, RelatednessWarning, many, shown, warn
from bayesbias.numerics.arrays import NOTHING, FloatArray
from bayesbias.results import Note, restored
from bayesbias.vectors.lookup import HELD, LEAST_SPREAD, About, left_out, missing_words
from bayesbias.words import CONNECTIONS, VALID, WordLists, can_be_control, in_order

COSINE = "cosine distance"
FEWEST_PROTECTED, FEWEST_STEREOTYPE = 3, 2  # words below which lists have no answer
SHORT = 3  # words of a list up to which intervals are known to be too narrow
COLUMNS = ["protected_word", "group", "attribute_word", "attribute_class", "connection", "distance"]
PAIR = ["protected_word", "attribute_word"]
NEEDED = (*PAIR, "connection", "distance")
TEMPLATE, ATTRIBUTE_TEMPLATE = TEMPLATES = "template", "attribute_template"
SIMULATED, ADJUSTED_FOR = "simulated", "adjusted for "  # how distances came about that no vectors have
LOST = (
    "the table was put together from others (pandas.concat, merge), and pandas does not hand on what they carried: "
    "different words are treated as unrelated, and intervals may be too narrow by a factor of 2 and more; make one "
    "table with distance_table, or let it carry what another does: bb.DistanceTable(rows, like=table)"
)

ListEntry = TypedDict(  # noqa: UP013  # in a class the field list would hide the type
    "ListEntry", {"list": str, "kind": str, "asked": int | None, "found": int, "missing": list[str]}
)


@dataclass(frozen=True, repr=False)
class Coverage:
    """The record of how word lists met an embedding, or a file of distances; ``print`` shows lists and notes."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    word_list: str  # name of the word list, or of the file
    lists: list[ListEntry]  # `asked` is None where it is not known
    substituted: dict[str, str] = field(default_factory=dict)  # words read under another spelling, with that one
    composed: list[str] = field(default_factory=list)  # words whose vectors a fastText model made of parts of words
    own_pairs: list[str] = field(default_factory=list)  # both protected and attribute: without the pair with itself
    in_several_lists: dict[str, list[str]] = field(default_factory=dict)  # attribute words; a pair has the first list
    repeated_rows: int = 0  # rows that repeat a pair: dropped, unless duplicates are kept
    kept_duplicates: bool = False
    missing_pairs: int = 0  # rows of a file that hold no distance
    source: str = ""  # of the word list, as its doi
    doi: str | None = None
    embedding: About = field(default_factory=About)
    pairs: int = 0  # rows of the table when it was made; fewer are left if it was restricted later
    relatedness: str = ""  # what the covariance of distances was estimated from, or why there is none
    twins: list[dict[str, str]] = field(default_factory=list)  # words with the vector of an earlier one of their list
    kept_twins: bool = False  # else the first word stands for all
    one_vector: list[dict[str, list[str]]] = field(default_factory=list)  # sets of words of different lists, all kept
    labels: dict[str, str] = field(default_factory=dict)  # control list to what it is called in sentences
    unknown: str = ""  # why it is not known which words were asked for; empty where it is
    forms: dict[str, list[str]] = field(default_factory=dict)  # concept with several forms to those that are found
    gender: str = ""  # what grammatical gender may do to the distances, or nothing
    contexts: dict[str, Any] = field(default_factory=dict)  # of words in sentences: encoder, templates, pairing
    language: str | None = None  # BCP 47 tag of the lists; None where they do not tell
    case: str = "as-is"  # how words were looked up: as-is, or with other capitals as a fallback
    bundled: tuple[str, ...] = ()  # control lists that are the bundled ones, with these' sources
    path: str = field(default="", compare=False)  # of the file of the word lists, as it was given

    def used(self, entry: ListEntry) -> int:
        """Words of a list that count there: of the found ones, those that no earlier list of the table counts."""
        same = sum((each["kind"], each["list"]) == (entry["kind"], entry["list"]) for each in self.twins)
        found = entry["found"] - (0 if self.kept_twins else same)
        if self.kept_duplicates or entry["kind"] != "control":
            return found
        controls = [each["list"] for each in self.lists if each["kind"] == "control"]
        # stereotypes come before controls
        first = {w: sorted(in_order(of), key=controls.__contains__)[0] for w, of in self.in_several_lists.items()}
        lost = [w for w, of in self.in_several_lists.items() if entry["list"] in of and first[w] != entry["list"]]
        return found - sum(len(self.forms.get(word, (word,))) for word in lost)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as they stand on disk."""
        return asdict(self)

    def table(self) -> pd.DataFrame:
        """One row a list: ``list``, ``kind``, ``asked``, ``found``, ``used`` (numbers of words), ``missing``.

        Kinds are protected, stereotype and control; used are the words that count in this list and in no other one.
        """
        rows = [entry | {"used": self.used(entry)} for entry in self.lists]
        table = pd.DataFrame(rows, columns=["list", "kind", "asked", "found", "used", "missing"])
        return table.astype({"asked": "Int64"})

    def __repr__(self) -> str:
        rows = self.table().drop(columns="missing").to_string(index=False)
        return "\n".join([f"Coverage of {self.word_list}", rows, *self.notes()])

    def notes(self, table: pd.DataFrame | None = None) -> list[Note]:
        """One note for each thing that was left out, replaced or counted more than once.

        ``table`` is the table as it is now, to say whether it was restricted since it was made.
        """
        notes = [Note("coverage-unknown", reason=self.unknown)] if self.unknown else []
        means = self.contexts and table is not None and "template" not in table
        now, then = 0 if table is None else len(table), self.contexts["means"] if means else self.pairs
        if table is not None and self.pairs and now != then:
            notes.append(Note("table-changed", rows=now, measured=then, words=table["protected_word"].nunique()))
        notes += missing_words(self.lists, lost=False)
        notes += left_out(self.missing_pairs, self.pairs + self.missing_pairs, "pairs", "no distance")

        def add(code: str, holds: object, **numbers: object) -> None:
            if holds:
                notes.append(Note(code, **numbers))

        kept, twins = self.kept_duplicates, "all kept" if self.kept_twins else "counted once"
        forms = [f"{name} ({'/'.join(each)})" for name, each in self.forms.items() if len(each) > 1]
        several = [f"{word} ({'/'.join(lists)})" for word, lists in self.in_several_lists.items()]
        same = [f"{each['word']} = {each['first']}" for each in self.twins]
        between = [" = ".join(f"{w} ({'/'.join(of)})" for w, of in words.items()) for words in self.one_vector]
        total = self.pairs + self.repeated_rows * (not kept)
        add("spelling", self.substituted, words=[f"{a} as {b}" for a, b in self.substituted.items()])
        add("composed", self.composed, count=len(self.composed), words=self.composed)
        add("forms", forms, words=forms)
        add("gender", self.gender, language=self.language, forms=self.gender)
        add("both-sides", self.own_pairs, words=self.own_pairs)
        add("several-lists", several, rule="count in each" if kept else "count once", words=several)
        add("repeated", self.repeated_rows, rows=self.repeated_rows, total=total, rule="kept" if kept else "dropped")
        why = self.relatedness.removeprefix("none").removeprefix(", because ")
        add("unrelated", self.relatedness.startswith("none"), reason=why)
        add("copies", same, count=len(same), rule=twins, words=same)
        add("copies-between", between, count=sum(map(len, self.one_vector)), words=between)
        return [*notes, *restored(self.contexts.get("notes", ()))]


def limits_of(records: Iterable[Coverage], lists: Container[str] | None = None) -> tuple[Note, ...]:
    """Notes on words that some embedding lacks, and on weak lists: notes of all results of these records' tables.

    ``lists`` are those that a result is of; None for all.
    """
    known, merged = list(records), dict[tuple[object, ...], ListEntry]()
    for record in known:
        for entry in record.lists:
            key = (record.word_list, entry["kind"], entry["list"], entry["asked"])
            if lists is None or entry["list"] in lists:
                earlier = merged.setdefault(key, {**entry, "missing": []})
                earlier["missing"] = list(dict.fromkeys([*earlier["missing"], *entry["missing"]]))
    notes = missing_words(merged.values())
    for record in known:
        used = [each for each in record.lists if lists is None or each["list"] in lists]
        few = [f"{each['list']} {each['found']}" for each in used if 0 < each["found"] <= SHORT]
        notes += [Note("short-lists", most=SHORT, words=few)] if few else []
        controls = {each["list"] for each in record.lists if each["kind"] == "control"}
        for name, found in [(each["list"], each["found"]) for each in used if each["list"] in controls]:
            both = [word for word, of in record.in_several_lists.items() if name in of and not controls >= {*of}]
            if len(both) > (1 - HELD) * found:
                notes.append(Note("stereotype-controls", count=len(both), total=found, list=name, words=both))
    return tuple(dict.fromkeys(notes))


def distance_sd(known: Mapping[str, Any], name: str) -> float | str:
    """The unit of an embedding of which this is known, in cosine distance; or why it has none, and what to do."""
    if "spread" not in known:
        return (
            f"the table of {name} does not say how widely distances in its embedding vary: make it with distance_table"
        )
    if not known["spread"].get("sd", 0) > 0:
        return (
            f"{known['spread']['words']} words of the vocabulary of {name} are known, and its unit is measured between "
            f"{LEAST_SPREAD} or more that differ: give the whole embedding, or load words from its whole file"
        )
    return float(known["spread"]["sd"])


def list_entry(name: str, kind: str, asked: list[str], missing: list[str]) -> ListEntry:
    """The coverage of one list."""
    return {"list": name, "kind": kind, "asked": len(asked), "found": len(asked) - len(missing), "missing": missing}


def entries_of(lists: WordLists, held: Container[str]) -> list[ListEntry]:
    """The coverage of each list, of the words that are held."""
    return [
        list_entry(name, kind, list(words), [word for word in words if word not in held])
        for kind, part in lists.by_kind
        for name, words in part.items()
    ]


@cache
def _of_coverage() -> TypeAdapter[Coverage]:
    """The check of a record, which takes longer to make than to use."""
    return TypeAdapter(Coverage)


def coverage_from(stored: object) -> Coverage:
    """The record from its plain values."""
    try:
        return _of_coverage().validate_python(stored)
    except ValidationError as error:
        raise InputError(f"coverage: {error.errors()[0]['msg']}") from error


@dataclass(frozen=True, eq=False)
class Provenance:
    """Facts on the distances of a table, beyond its rows."""

    coverage: Coverage | None = None  # how word lists met the embedding
    relatedness: Relatedness | None = None  # how the distances are correlated
    adjustment: Adjustment | None = None  # what was subtracted from each distance
    truth: Mapping[str, FloatArray] = field(default_factory=dict)  # parameters that distances were simulated with
    # why the distances are not those of the vectors: "simulated", "adjusted for length"; empty where they are
    moved: str = ""


class DistanceTable(pd.DataFrame):
    """Distances of word pairs in long format: a pandas DataFrame that carries what is known of them.

    What the table carries stays with selected, sorted, copied and pickled rows and with further columns. A result
    without the columns of pairs and distances is a plain DataFrame. ``pandas.concat`` and ``merge`` hand nothing on:
    functions that read such a table warn (``RelatednessWarning``).

    Parameters
    ----------
    rows
        A DataFrame with ``protected_word``, ``attribute_word``, ``connection`` and ``distance`` (cosine distance), and
        where they are known ``group`` and ``attribute_class``.
    like, coverage, relatedness
        Another table, all of which it is to carry; or parts, such as ``table.coverage`` of another.
    truth
        Parameters that the distances were simulated with, name to array; ``{}`` where they are not known. Simulated
        distances are not held against vectors.
    options
        Of pandas.DataFrame: ``index``, ``columns``, ``dtype``, ``copy``.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> table[table["group"] == "math"].relatedness is table.relatedness
    True
    """

    _metadata: ClassVar[list[str]] = ["_provenance"]  # pandas hands it on from a table to its rows
    _provenance: Provenance | None = None  # None where pandas did not

    def __init__(
        self,
        rows: Any = None,
        *,
        like: DistanceTable | None = None,
        coverage: Coverage | None = None,
        relatedness: Relatedness | None = None,
        truth: Mapping[str, FloatArray] | None = None,
        **options: Any,
    ) -> None:
        frame = rows if isinstance(rows, pd.DataFrame) and not options else pd.DataFrame(rows, **options)
        refuse_lacking(frame.columns)
        super().__init__(frame)  # type: ignore[call-arg]  # the stubs know no constructor
        source = rows if like is None else like
        own = source._provenance if isinstance(source, DistanceTable) else Provenance()
        parts: dict[str, Any] = {"coverage": coverage, "relatedness": relatedness}
        if given := {name: part for name, part in parts.items() if part is not None}:
            own = replace(own or Provenance(), **given)
        if truth is not None:
            arrays = {str(name): np.asarray(values, dtype=float) for name, values in truth.items()}
            own = replace(own or Provenance(), truth=arrays, adjustment=None, moved=SIMULATED)
        self._provenance = own

    @property
    def _constructor(self) -> Callable[..., pd.DataFrame]:
        return _constructed

    def _constructor_from_mgr(self, mgr: Any, axes: Any) -> pd.DataFrame:
        return _of_manager(mgr, axes)

    def astype(self, *args: Any, **options: Any) -> pd.DataFrame:  # type: ignore[misc, override]  # final in the stubs
        """As in pandas, which puts columns of several types together anew."""
        return like(pd.DataFrame(self).astype(*args, **options), self)

    @classmethod
    def carrying(cls, rows: pd.DataFrame, provenance: Provenance) -> Self:
        """Rows with what is known of them."""
        table = cls(rows)
        table._provenance = provenance
        return table

    @property
    def coverage(self) -> Coverage | None:
        """Coverage of the word lists in the embedding; None where it is not known."""
        return (self._provenance or Provenance()).coverage

    @property
    def relatedness(self) -> Relatedness | None:
        """Correlation of the distances of similar words; None where it is not known."""
        return (self._provenance or Provenance()).relatedness

    @property
    def adjustment(self) -> Adjustment | None:
        """Amounts subtracted from the distances (:func:`adjust`); None where they are as measured."""
        return (self._provenance or Provenance()).adjustment

    @property
    def truth(self) -> Mapping[str, FloatArray]:
        """Parameters that the distances were simulated with, as arrays; empty where they were measured."""
        return (self._provenance or Provenance()).truth

    def without_relatedness(self) -> DistanceTable:
        """The same table, whose words models take for unrelated."""
        carried = provenance_of(self)
        adjustment = None if carried.adjustment is None else replace(carried.adjustment, before=None)
        return DistanceTable.carrying(self, replace(carried, relatedness=None, adjustment=adjustment))


def _constructed(*args: Any, **options: Any) -> pd.DataFrame:
    """The result of pandas for parts of a table: a table where pairs and distances are all there."""
    frame = pd.DataFrame(*args, **options)
    return _of_manager(frame._mgr, frame._mgr.axes)


def _of_manager(manager: Any, axes: Any) -> pd.DataFrame:
    """A table where pairs and distances are all there, as columns or levels of the index."""
    whole = all(name in axes[0] or name in axes[1].names for name in NEEDED)
    build: Any = DistanceTable if whole else pd.DataFrame  # pandas asks its subclasses for this, its stubs know nothing
    made: pd.DataFrame = build._from_mgr(manager, axes=axes)
    return made


def provenance_of(table: pd.DataFrame) -> Provenance:
    """The provenance of a table; empty for a plain DataFrame and, with a warning, for a table that lost it."""
    if not isinstance(table, DistanceTable):
        return Provenance()
    if table._provenance is None:
        warn(LOST, RelatednessWarning)
        return Provenance()
    return table._provenance


def coverage_of(table: object) -> Coverage | None:
    """The coverage that a table carries, or None."""
    return table.coverage if isinstance(table, DistanceTable) else None


def like(rows: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Rows that were made from those of a table, with what it carries."""
    if not isinstance(table, DistanceTable):
        return rows
    made: pd.DataFrame = _constructed(rows)
    if isinstance(made, DistanceTable):
        made._provenance = table._provenance
    return made


def template_columns(table: object) -> list[str]:
    """Columns of a table that name the templates of its distances; none of what is no table."""
    return [name for name in TEMPLATES if name in getattr(table, "columns", ())]


def refuse_lacking(columns: pd.Index) -> None:
    """Refuse a table that lacks a column."""
    if missing := [column for column in NEEDED if column not in columns]:
        raise InputError(
            f"the table lacks the column {', '.join(missing)}: a distance table has {', '.join(COLUMNS)} (group and "
            f"attribute_class may be absent); given are {shown(list(columns))}"
        )


BEYOND = 10**6  # no distance, simulated or adjusted, is as large
MANY_ROWS = 100_000  # from which on words and labels are pandas categories, with a tenth of the memory of text
TEXT = "words and names are printable texts without blanks at their ends"


def columns_of(table: pd.DataFrame, bounded: bool) -> pd.DataFrame:
    """The columns of a distance table, as categories and numbers, whose faults are all told here.

    ``bounded`` distances are those of vectors. Names stand in the order in which they first stand in the table.
    """
    if len(twice := table.columns[table.columns.duplicated()]):
        raise InputError(f"duplicate column {shown(twice[0])}: keep one")
    refuse_lacking(table.columns)
    if table.empty:
        raise InputError("the table has no row: it holds no distance")
    labels = {name: labels_of(table[name]) for name in [*COLUMNS[:-1], *template_columns(table)] if name in table}
    for name, own in labels.items():
        # groups may be known of some words only
        if name != "group" and (name != "attribute_class" or len(own.categories)):
            refuse_rows(table[name], own.isna(), "every row needs one")
    connection, listed = labels["connection"], labels.get("attribute_class", pd.Categorical([None] * len(table)))
    # a connection is a known one, or a control list that the row names as class
    names = connection.categories.tolist()
    controls = np.array([name not in CONNECTIONS and can_be_control(name) for name in names])[connection.codes]
    listed_as = listed.categories.get_indexer(connection.categories)[connection.codes] == listed.codes
    known = np.isin(names, CONNECTIONS)[connection.codes] | (controls & listed_as & (listed.codes >= 0))
    refuse_rows(table["connection"], ~known, f"the connections are {VALID}")
    if "group" in labels:
        word, group = labels["protected_word"].codes, labels["group"].codes
        of_word = np.empty_like(group, shape=len(labels["protected_word"].categories))
        of_word[word] = group
        refuse_rows(table["group"], group != of_word[word], "the protected word of that row is in two groups")
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
    return pd.DataFrame({**labels, "distance": distance})


def averaged(table: pd.DataFrame, bounded: bool = False) -> pd.DataFrame:
    """The table with one row for each pair and connection: the mean over templates."""
    if not template_columns(table):
        return table
    rows = columns_of(table, bounded)
    kept = [name for name in rows.columns.drop("distance") if name not in TEMPLATES]
    codes = pd.DataFrame({name: rows[name].cat.codes for name in kept}).assign(distance=rows["distance"])
    means = codes.groupby(kept, sort=False)["distance"].mean().reset_index()
    for name in kept:
        means[name] = pd.Categorical.from_codes(means[name].to_numpy(), rows[name].cat.categories)
    return like(means, table)


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


def labels_of(column: pd.Series) -> pd.Categorical:
    """A column of text: whole numbers stand for their digits, and what is empty has no name."""
    refuse_rows(column, [not isinstance(each, Hashable) for each in column] if column.dtype == object else [], TEXT)
    codes, values = pd.factorize(column)
    whole = [isinstance(value, int | np.integer) and not isinstance(value, bool) for value in values]
    names = [str(value) if digits else value for value, digits in zip(values, whole, strict=True)]
    odd = [place for place, name in enumerate(names) if name != "" and not is_printable(name)]
    refuse_rows(column, np.isin(codes, odd), TEXT)
    place = {name: i for i, name in enumerate(dict.fromkeys(name for name in names if name != ""))}
    known = np.array([*(place.get(name, -1) for name in names), -1])
    return pd.Categorical.from_codes(known[codes], pd.Index(list(place), dtype="str"))


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
