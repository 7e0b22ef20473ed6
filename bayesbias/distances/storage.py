"""What goes with distances: the record of how word lists met an embedding, their templates, and files of tables."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import cache
from hashlib import file_digest
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import ConfigDict, TypeAdapter, ValidationError

from bayesbias._checks import flag, is_printable
from bayesbias._core.vectors import FloatArray
from bayesbias._files import check_suffix, from_json, home_folder, read_text, to_json, whole_file
from bayesbias.distances.covariances import KEY, WORDS, Relatedness, read_relatedness, relatedness_of, write_relatedness
from bayesbias.embeddings.lookup import SHOWN, About, twin_sentence
from bayesbias.errors import InputError, listed
from bayesbias.words import CONTROLS, STEREOTYPES, VALID, WordLists, in_order, unknown_connections

COLUMNS = ["protected_word", "group", "attribute_word", "attribute_class", "connection", "distance"]
PAIR = ["protected_word", "attribute_word"]
TEMPLATE, ATTRIBUTE_TEMPLATE = FRAMES = "template", "attribute_template"
COSINE = "cosine distance"
SCALE = 0.1  # distance that stands for one standard deviation of scores, in a table of scores

RELATEDNESS = ".relatedness.npz"
FAULTS = 3  # faults of a table that an error names
TOLERANCE = 2e-3  # distances that differ by more do not come from the same vectors (half precision leaves 1e-4)
CROSSED_TOLERANCE = 0.1  # the same for means over different templates, around the median difference
# rows from which on words and labels are pandas categories, which take a tenth of the memory of text
MANY_ROWS = 100_000
PUBLISHED = {"word_to_compare": "attribute_word", "word_class": "attribute_class", "cosine_distance": "distance"}
PUBLISHED_TEXT = tuple(PUBLISHED)[:2]

ListEntry = TypedDict(  # noqa: UP013  # in a class the field list would hide the type
    "ListEntry", {"list": str, "kind": str, "asked": int | None, "found": int, "missing": list[str]}
)


@dataclass(frozen=True)
class Coverage:
    """The record of how lists met an embedding (or a file of distances)."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    word_list: str  # name of the word list, or of the file
    lists: list[ListEntry]  # `asked` is None where it is not known
    substituted: dict[str, str] = field(default_factory=dict)  # words read under another spelling, with that one
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
    unused_rows: int = 0  # rows of scores of words that no list holds, or without a score
    measure: str = ""  # what the numbers are where they are scores; empty: cosine distances

    @property
    def unit(self) -> str:
        """What the numbers of the table are measured in."""
        return f"{self.measure}, {SCALE:g} for one sd" if self.measure else COSINE

    @property
    def on_scores(self) -> tuple[str, ...]:
        """A sentence where the numbers are scores."""
        sentence = (
            f"The numbers are scores ({self.measure}), not cosine distances: {SCALE:g} is one standard deviation of "
            "all scores, and less is closer."
        )
        return (sentence,) if self.measure else ()

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as they stand in ``attrs`` and on disk."""
        return asdict(self)

    def notes(self, table: pd.DataFrame | None = None, missing: bool = True) -> list[str]:
        """One sentence for each thing that was left out, replaced or counted more than once.

        ``table`` is the table as it is now, to say whether it was restricted since it was made; ``missing=False``
        leaves out missing words, which a table of the lists shows too.
        """
        notes = self._doubts(table)
        for entry in self.lists:
            if missing and entry["missing"]:
                found = f"{entry['found']} of {entry['asked']} words found"
                notes.append(f"{entry['kind']} list {entry['list']}: {found}; missing {listed(entry['missing'])}")
        pairs = ", ".join(f"{asked} as {used}" for asked, used in self.substituted.items())
        several = [f"{name} ({', '.join(form)})" for name, form in self.forms.items() if len(form) > 1]
        named = ", ".join(f"{word} ({', '.join(lists)})" for word, lists in self.in_several_lists.items())
        rule = "each list counted" if self.kept_duplicates else "counted once for a protected word"
        own, kept = ", ".join(self.own_pairs), "kept" if self.kept_duplicates else "dropped"
        told = (
            (pairs, f"read under another spelling: {pairs}"),
            (several, f"the mean over several forms: {listed(several, SHOWN)}"),
            (self.gender, self.gender),
            (own, f"both protected and attribute, so without the pair with itself: {own}"),
            (named, f"in several attribute lists, {rule}: {named}"),
            (self.repeated_rows, f"{self.repeated_rows} rows repeat a pair: {kept}"),
            (
                self.unused_rows,
                f"{self.unused_rows:,} rows of scores are not used: no list holds their words, or no score is there",
            ),
            (self.missing_pairs, f"{self.missing_pairs} pairs have no {'score' if self.measure else 'distance'}"),
            (self.relatedness.startswith("none"), f"relatedness of words: {self.relatedness}"),
        )
        notes += [sentence for holds, sentence in told if holds]
        return [*notes, *self._twin_notes(), *self.contexts.get("notes", ())]

    def _doubts(self, table: pd.DataFrame | None) -> list[str]:
        """Whether what was asked for is not known, or a table is not what was measured."""
        notes = []
        if self.unknown:
            notes.append(
                f"coverage unknown, because {self.unknown}: the lists are those of the words that are here, and words "
                "that were asked for and not found are not known"
            )
        if table is None or not self.pairs or len(table) == self.pairs:
            return notes
        measured = sum(entry["found"] for entry in self.lists if entry["kind"] == "protected")
        measured -= 0 if self.kept_twins else sum(entry["kind"] == "protected" for entry in self.twins)
        left = sum(len(self.forms.get(word, (word,))) for word in table["protected_word"].unique())
        return [
            *notes,
            f"changed after it was measured: {len(table):,} of {self.pairs:,} distances and {left} of {measured} "
            "protected words are here; the lists are those of the whole table",
        ]

    def _twin_notes(self) -> list[str]:
        """Words that have the vector of another: of the same list, and of another one."""
        by_list: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for entry in self.twins:
            by_list.setdefault((entry["kind"], entry["list"]), []).append((entry["word"], entry["first"]))
        rule = "kept" if self.kept_twins else "counted once"
        notes = [f"{kind} list {name}: {twin_sentence(pairs)}: {rule}" for (kind, name), pairs in by_list.items()]
        if self.one_vector:
            sets = [
                ", ".join(f"{word} ({' and '.join(lists)})" for word, lists in words.items())
                for words in self.one_vector
            ]
            more = f"; and {len(sets) - SHOWN} more" if len(sets) > SHOWN else ""
            notes.append(f"one vector in different lists, where all stay: {'; '.join(sets[:SHOWN])}{more}")
        return notes


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


def stored_coverage(table: pd.DataFrame) -> Coverage | None:
    """The record in ``table.attrs``, or None where there is none or one that is not ours."""
    return known_coverage(table.attrs.get("coverage"))


def known_coverage(stored: object) -> Coverage | None:
    """The record from its plain values, or None where these are not ours."""
    try:
        return coverage_from(stored)
    except InputError:
        return None


def labels_of(table: pd.DataFrame) -> dict[str, str]:
    """What the control lists of a table are called; those without a label are left out."""
    record = stored_coverage(table)
    return {} if record is None else record.labels


def carried_labels(labels: dict[str, str]) -> dict[Any, Any]:
    """The labels as they stand in the ``attrs`` of results; nothing without labels."""
    return {"labels": labels} if labels else {}


@cache
def _of_coverage() -> TypeAdapter[Coverage]:
    """The check of a record, which takes longer to make than to use."""
    return TypeAdapter(Coverage)


def coverage_from(stored: object) -> Coverage:
    """The record from its plain values."""
    try:
        return _of_coverage().validate_python(stored)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"{'.'.join(map(str, first['loc'])) or 'it'}: {first['msg']}") from error


def coverage(table: pd.DataFrame) -> pd.DataFrame:
    """How much of each word list the embedding holds.

    Parameters
    ----------
    table
        A distance table.

    Returns
    -------
    DataFrame
        One row a list: ``list``, ``kind`` (protected, stereotype, control), ``asked``, ``found`` (numbers of words) and
        ``missing`` (the words); ``asked`` is missing where the table was read from a file without its coverage.
        ``attrs["notes"]`` says in sentences what was left out or replaced.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> bb.coverage(table)[["list", "asked", "found"]].head(3)
       list  asked  found
    0  math      8      8
    1  arts      8      8
    2  math      8      8
    """
    if not isinstance(table, pd.DataFrame) or (known := stored_coverage(table)) is None:
        raise InputError(
            "this table carries no coverage in table.attrs['coverage']: "
            "make it with distance_table or read it with read_distance_table"
        )
    result = pd.DataFrame(known.lists, columns=["list", "kind", "asked", "found", "missing"])
    result = result.astype({"asked": "Int64"})
    result.attrs["notes"] = known.notes(table)
    return result


def frame_columns(table: object) -> list[str]:
    """Columns of a table that name the templates of its distances; none of what is no table."""
    return [name for name in FRAMES if name in getattr(table, "columns", ())]


def averaged(table: pd.DataFrame) -> pd.DataFrame:
    """The table with one row for each pair and connection: the mean over templates.

    ``attrs`` stay. What is no table with templates stays as it is, and so does one that lacks a column or has one
    twice.
    """
    whole = {*PAIR, "connection", "distance"} <= set(getattr(table, "columns", ()))
    if not frame_columns(table) or not whole or not table.columns.is_unique:
        return table
    labels = [name for name in COLUMNS[:-1] if name in table.columns]
    rows = table[labels].assign(distance=finite_distances(table["distance"]))
    rows.attrs = {}
    means = rows.groupby(labels, sort=False, dropna=False, observed=True)["distance"].mean().reset_index()
    means.attrs = dict(table.attrs)
    return means


def finite_distances(column: pd.Series) -> FloatArray:
    """The distances of a table."""
    if column.dtype.kind in "bcmM":
        raise InputError(f"the column 'distance' holds {column.dtype}: give cosine distances as numbers")
    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        more = f", and in {len(bad) - 1} more rows" if len(bad) > 1 else ""
        raise InputError(
            f"row {column.index[bad[0]]}, column 'distance' holds {column.iloc[bad[0]]}{more}: "
            "every distance must be a finite number; leave missing pairs out"
        )
    return values


def contexts_of(table: pd.DataFrame) -> Mapping[str, Any]:
    """What the coverage of a table says of its sentences; empty for tables without any."""
    stored = table.attrs.get("coverage")
    return coverage_from(stored).contexts if stored else {}


def checked_frames(table: pd.DataFrame) -> None:
    """Refuse templates without a name."""
    for column in frame_columns(table):
        names = table[column]
        if names.isna().any() or (names.astype(str).str.strip() == "").any():
            row = table.index[names.isna() | (names.astype(str).str.strip() == "")][0]
            raise InputError(f"row {row}, column {column!r}: a template has no name")


def read_distance_table(path: str | Path, keep_duplicates: bool | None = False) -> pd.DataFrame:
    """A distance table from CSV or Parquet, checked.

    Parameters
    ----------
    path
        A file that :func:`write_distance_table` wrote, any CSV or Parquet file with these columns (``group`` and
        ``attribute_class`` may be absent), or a CSV file of Dobrzeniecka and Urbaniak (2024): there ``none`` is
        ``neutral``, values below -1 are missing pairs, ``_stereotype`` is taken off the names of word classes, and the
        group of a protected word is the class it is associated with.
    keep_duplicates
        Keep rows that repeat a pair. By default a pair counts once, for the first of associated, different, human,
        neutral, other control lists. None keeps them where the table was written with them.

    Returns
    -------
    DataFrame
        The columns of :func:`distance_table`; ``group`` is missing where it cannot be known.

    References
    ----------
    Dobrzeniecka, A. and Urbaniak, R. (2024). A Bayesian approach to uncertainty in word embedding bias estimation.
    Computational Linguistics 50(2). https://doi.org/10.1162/coli_a_00507

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> bb.write_distance_table(table, "distances.csv")
    >>> len(bb.read_distance_table("distances.csv"))
    2256
    """
    file = home_folder(path)
    keep_duplicates = None if keep_duplicates is None else flag(keep_duplicates, "keep_duplicates")
    raw = _read(file)
    published = "word_to_compare" in raw.columns
    table, missing_pairs, entries = _from_published(raw) if published else (_with_optional(raw), 0, [])
    if missing := [column for column in COLUMNS if column not in table.columns]:
        raise InputError(
            f"{file}: the column {', '.join(missing)} is missing; a distance table has the columns "
            f"{', '.join(COLUMNS)} (group and attribute_class may be absent), apart by commas; "
            f"given are {', '.join(map(str, raw.columns))}"
        )
    framed = frame_columns(table)
    checked = _check(table[[*COLUMNS, *framed]], file)
    repeated = int(checked.duplicated([*PAIR, *framed]).sum())
    known, why = _stored_coverage(raw, file)
    if keep_duplicates is None:
        keep_duplicates = known is not None and known.kept_duplicates
    remedy = "repair the file or pass keep_duplicates=True (--keep-duplicates)"
    cleaned = checked if keep_duplicates else once(checked, str(file), remedy)
    if (record := known) is None:
        here: list[ListEntry] = entries or [{**entry, "asked": None} for entry in _found_lists(cleaned)]
        record = Coverage(file.stem, here, unknown="" if entries else why)
    changed = {"repeated_rows": repeated, "kept_duplicates": keep_duplicates} if repeated or not known else {}
    totals = {"missing_pairs": missing_pairs} if missing_pairs else {}
    pairs = {} if record.pairs else {"pairs": len(cleaned)}
    cleaned.attrs = {"coverage": {**record.as_dict(), **changed, **totals, **pairs}}
    related = raw.attrs.get(KEY)
    if file.suffix != ".parquet":
        related = read_relatedness(beside) if (beside := _beside(file, RELATEDNESS)).is_file() else None
    if related is not None:
        cleaned.attrs[KEY] = related
        if (relatedness := relatedness_of(cleaned)) is not None:
            check_distances(relatedness, averaged(cleaned))
    return cleaned


def write_distance_table(table: pd.DataFrame, path: str | Path) -> None:
    """Write a distance table, whole or not at all.

    Parameters
    ----------
    table
        A distance table; it is checked first, as in :func:`read_distance_table`.
    path
        Ends in ``.csv`` or ``.parquet``. Coverage and relatedness go into Parquet's metadata; beside a CSV file they go
        into ``<path>.coverage.json`` and ``<path>.relatedness.npz``. The coverage holds the hash of its CSV file: that
        of another file, or of one that was changed, is not read, and :func:`coverage` says that it is unknown. Words
        are written as they are: to a spreadsheet ``=1+1`` is a formula, so import the columns of words as text.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> bb.write_distance_table(table, "distances.parquet")
    """
    file = check_suffix(path, (".csv", ".parquet"), "a distance table")
    if not isinstance(table, pd.DataFrame):
        raise InputError(f"a distance table is a DataFrame, given is {type(table).__name__}")
    table = _with_optional(table)
    if missing := [column for column in COLUMNS if column not in table.columns]:
        raise InputError(f"the table lacks the column {', '.join(missing)}; it needs {', '.join(COLUMNS)}")
    checked = _check(table[[*COLUMNS, *frame_columns(table)]], file)
    checked.attrs = {name: table.attrs[name] for name in ("coverage", KEY) if name in table.attrs}
    if file.suffix == ".parquet":
        with whole_file(file) as temporary:
            checked.to_parquet(temporary, index=False)
        return
    with ExitStack() as files:
        note, temporary = files.enter_context(whole_file(_beside(file))), files.enter_context(whole_file(file))
        if KEY in checked.attrs:
            write_relatedness(checked.attrs[KEY], files.enter_context(whole_file(_beside(file, RELATEDNESS))))
        checked.to_csv(temporary, index=False)
        stored = {"table_sha256": _hash(temporary), "coverage": checked.attrs.get("coverage")}
        note.write_text(to_json(stored, indent=1), encoding="utf-8")
    if KEY not in checked.attrs:
        _beside(file, RELATEDNESS).unlink(missing_ok=True)  # that of a table that was here before


def _beside(file: Path, suffix: str = ".coverage.json") -> Path:
    return file.with_name(file.name + suffix)


def _read(file: Path) -> pd.DataFrame:
    if not file.is_file():
        raise InputError(f"there is no file {file}")
    try:
        if file.suffix == ".parquet":
            return pd.read_parquet(file)
        empty = {column: ["", "nan", "NaN", "NA"] for column in ("distance", "cosine_distance")}
        text = dict.fromkeys([*COLUMNS[:-1], *PUBLISHED_TEXT], "str")
        raw = pd.read_csv(file, keep_default_na=False, na_values=empty, dtype=text)
    except Exception as error:  # damaged Parquet raises a dozen kinds
        raise InputError(f"{file} cannot be read as a table: {error}") from error
    known = [*COLUMNS, *PUBLISHED_TEXT, "cosine_distance"]
    # pandas renames the second
    if twice := [column for column in known if {column, f"{column}.1"} <= set(raw.columns)]:
        raise InputError(f"{file} has two columns {twice[0]!r}: keep one")
    return raw


def _hash(file: Path) -> str:
    with file.open("rb") as content:
        return file_digest(content, "sha256").hexdigest()


def _with_optional(raw: pd.DataFrame) -> pd.DataFrame:
    """Our own columns, with ``group`` and ``attribute_class`` filled in where they are absent or empty."""
    table = raw.copy()
    if "attribute_class" not in table and "connection" in table:
        control = table["connection"].isin(CONTROLS)
        table["attribute_class"] = table["connection"].where(control, "stereotype")
    if "group" not in table:
        table["group"] = pd.NA
    return table.assign(group=table["group"].astype("string").mask(table["group"] == ""))


def _from_published(raw: pd.DataFrame) -> tuple[pd.DataFrame, int, list[ListEntry]]:
    table = raw.rename(columns=PUBLISHED)
    for column in ("protected_word", "attribute_class", "connection", "distance"):
        if column not in table:
            raise InputError(f"the published tables have a column {column!r}; given are {', '.join(raw.columns)}")
    table["connection"] = table["connection"].replace("none", "neutral")
    table["attribute_class"] = table["attribute_class"].str.removesuffix("_stereotype")
    own = table.loc[table["connection"] == "associated", ["protected_word", "attribute_class"]].drop_duplicates()
    group = own.drop_duplicates("protected_word", keep=False).set_index("protected_word")["attribute_class"]
    table["group"] = table["protected_word"].map(group).astype("string")
    value = pd.to_numeric(table["distance"], errors="coerce")
    absent = value < -1
    if "cosine_similarity" in table:
        absent |= pd.to_numeric(table["cosine_similarity"], errors="coerce") < -1
    entries = _found_lists(table, table.loc[~absent])
    return table.loc[~absent], int(absent.sum()), entries


def _found_lists(asked: pd.DataFrame, found: pd.DataFrame | None = None) -> list[ListEntry]:
    """The lists that a table names, and those of their words that have at least one distance."""
    found = asked if found is None else found
    entries = []
    own = set(asked.loc[asked["connection"].isin(STEREOTYPES), "attribute_class"].astype("string"))
    for kind, word, name in (("protected", *PAIR[:1], "group"), ("attribute", *PAIR[1:], "attribute_class")):
        present = set(found[word])
        for value, column in asked.groupby(asked[name].astype("string").fillna("unknown"), sort=False)[word]:
            words = list(dict.fromkeys(column))
            label = kind if kind == "protected" else "stereotype" if value in own else "control"
            entries.append(list_entry(str(value), label, words, [w for w in words if w not in present]))
    return entries


def _check(table: pd.DataFrame, file: Path) -> pd.DataFrame:
    """The table with text and numbers as they should be; words of many rows are categories."""
    unknown = unknown_connections(table)
    checked_frames(table)
    if table["distance"].dtype.kind in "bcmM":
        raise InputError(
            f"{file}: the column 'distance' holds {table['distance'].dtype}: give cosine distances as numbers"
        )
    distance = pd.to_numeric(table["distance"], errors="coerce").astype(float)
    text = table.loc[distance.isna() & table["distance"].notna(), "distance"]
    if len(text):
        raise InputError(f"{file}: row {text.index[0]}, column 'distance': {text.iloc[0]!r} is not a number")
    faults, count, checked = list[str](), 0, {}
    for column in table.columns.drop("distance"):
        codes, values = pd.factorize(table[column])
        merged, names = pd.factorize(pd.Index([str(value) for value in values], dtype="str"))
        codes = np.where(codes < 0, -1, merged[codes]) if len(names) else codes
        reasons = {i: reason for i, name in enumerate(names) if (reason := _fault_of(column, name, unknown))}
        if column != "group":
            reasons[-1] = "where a value is needed"
        wrong = np.flatnonzero(np.isin(codes, list(reasons)))
        first = wrong[np.unique(codes[wrong], return_index=True)[1]]
        count += len(first)
        for row in first[:FAULTS]:
            written = "an empty value" if codes[row] < 0 else repr(str(names[codes[row]]))
            faults.append(f"row {table.index[row]}, column {column!r}: {written} {reasons[int(codes[row])]}")
        checked[column] = pd.Categorical.from_codes(codes, names)
    y = distance.to_numpy()
    wrong = np.flatnonzero(~((y >= 0) & (y <= 2)))
    count += len(wrong)
    for row in wrong[:FAULTS]:
        fault = "an empty value where a value is needed" if np.isnan(y[row]) else f"{float(y[row])!r} is outside [0, 2]"
        faults.append(f"row {table.index[row]}, column 'distance': {fault}")
    if faults:
        more = f"; and {count - FAULTS} more" if count > FAULTS else ""
        raise InputError(f"{file}: {'; '.join(faults[:FAULTS])}{more} (rows count from 0)")
    if not len(y):
        raise InputError(f"{file} holds no distance")
    return text_where_few(pd.DataFrame({**checked, "distance": y})[list(table.columns)])


def text_where_few(table: pd.DataFrame) -> pd.DataFrame:
    """A table of categories with text in their place, unless it has many rows."""
    if len(table) >= MANY_ROWS:
        return table
    kinds = dict.fromkeys(table.columns.drop("distance"), "str")
    return table.astype({**kinds, "group": "string" if table["group"].isna().any() else "str"})


def _fault_of(column: str, name: str, unknown: Collection[str]) -> str:
    """What is wrong with a label of a table; nothing where it is as it should be."""
    if column == "connection":
        return f"is none of {VALID}" if name in unknown else ""
    if not name:
        return "is empty"
    return "" if is_printable(name) else "is no printable text without blanks at its ends"


def once(table: pd.DataFrame, where: str, remedy: str) -> pd.DataFrame:
    """The rows of a table with each pair once, for the first of its connections in their order."""
    unit = [*PAIR, *frame_columns(table)]
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


def _stored_coverage(raw: pd.DataFrame, file: Path) -> tuple[Coverage | None, str]:
    """The record that a file of distances carries, or None and why there is none."""
    place, stored = _beside(file), None
    try:
        if file.suffix == ".parquet":
            place, stored = file, raw.attrs.get("coverage")
        elif place.is_file():
            content = from_json(read_text(place))
            if content["table_sha256"] != _hash(file):
                return None, f"{place.name} is of another table, or the table was changed after it was written"
            stored = content["coverage"]
        return (coverage_from(stored), "") if stored else (None, "no coverage goes with the file")
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError(f"{place} holds no coverage as write_distance_table writes it: {error}") from error


def check_distances(relatedness: Relatedness, table: pd.DataFrame) -> None:
    """Refuse relatedness of other vectors than those that a table's distances were measured with."""
    record = stored_coverage(table)
    table = table.copy(deep=False)
    table.attrs = {}  # pandas would copy the record with every column taken out
    known = (relatedness.protected_words, relatedness.attribute_words)
    rows, columns = (_places(table[name], words) for name, words in zip(WORDS[:2], known, strict=True))
    unknown = np.flatnonzero((rows < 0) | (columns < 0))
    if len(unknown):
        row = table.iloc[unknown[0]]
        raise InputError(
            f"the relatedness of the table does not know the pair {row['protected_word']!r}, {row['attribute_word']!r}:"
            f" make the table anew with distance_table, or delete table.attrs['{KEY}'] to take words for unrelated"
        )
    crossed = record is not None and record.contexts.get("pairing") == "crossed"
    values = table["distance"].to_numpy(dtype=float)
    cosines = relatedness.protected.astype(np.float32) @ relatedness.attributes.astype(np.float32).T
    theirs = np.clip(1 - cosines, 0, 2)[rows, columns]
    apart = values - theirs
    # means over different templates differ from those over all by what equal ones share, which is much the same for all
    apart, allowed = (np.abs(apart - np.median(apart)), CROSSED_TOLERANCE) if crossed else (np.abs(apart), TOLERANCE)
    if not (apart <= allowed).all():
        worst = int(np.argmax(np.where(np.isnan(apart), np.inf, apart)))
        row = table.iloc[worst]
        raise InputError(
            f"the relatedness of the table is of other vectors: they put {row['protected_word']!r} and "
            f"{row['attribute_word']!r} at {theirs[worst]:.4f}, the table at {values[worst]:.4f}; make the table anew "
            f"with distance_table, or delete table.attrs['{KEY}'] to take words for unrelated"
        )


def _places(column: pd.Series, words: Sequence[str]) -> NDArray[np.intp]:
    """Place of each row's word among some words; -1 for words that are not there."""
    codes, values = pd.factorize(column)
    places: NDArray[np.intp] = pd.Index(words).get_indexer(pd.Index([str(value) for value in values]))
    return np.where(codes < 0, -1, places[codes])
