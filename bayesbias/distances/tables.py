"""Long tables of cosine distances: their columns, their checks, and how they are made."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from hashlib import file_digest
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from bayesbias._checks import flag, is_printable, one_of, whole_number
from bayesbias._core.vectors import FloatArray
from bayesbias._files import check_suffix, from_json, home_folder, read_text, to_json, whole_file
from bayesbias._progress import progress
from bayesbias.contextual import CENTRES, PAIRINGS, SAME, ContextVectors
from bayesbias.distances.covariances import (
    ENOUGH,
    KEY,
    Relatedness,
    check_distances,
    packed,
    read_relatedness,
    relatedness_of,
    write_relatedness,
)
from bayesbias.distances.frames import averaged, checked_frames, frame_columns, with_frames
from bayesbias.distances.storage import Coverage, ListEntry, coverage_from, list_entry
from bayesbias.distances.vocabularies import SAMPLE, Drawn, few_words, measured_relatedness
from bayesbias.embeddings import TWINS, Case, Embedding, Twins, about, find_concepts, opened, twins_within
from bayesbias.embeddings.lookup import FoundConcepts
from bayesbias.errors import InputError, listed, shown
from bayesbias.words import (
    CONTROLS,
    GENDERED,
    STEREOTYPES,
    VALID,
    WordLists,
    in_order,
    load_words,
    subtag,
    unknown_connections,
)

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

COLUMNS = ["protected_word", "group", "attribute_word", "attribute_class", "connection", "distance"]
PAIR = ["protected_word", "attribute_word"]
RELATEDNESS = ".relatedness.npz"
SHOWN = 3
"""Faults of a table that an error names."""
MANY_ROWS = 100_000
"""Rows from which on words and labels are pandas categories, which take a tenth of the memory of text."""
PUBLISHED_TEXT = ("word_to_compare", "word_class")
PUBLISHED = {"word_to_compare": "attribute_word", "word_class": "attribute_class", "cosine_distance": "distance"}


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

    Raises
    ------
    OSError
        The folder cannot be written or the disk is full; nothing half-written is left.

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
        for row in first[:SHOWN]:
            written = "an empty value" if codes[row] < 0 else repr(str(names[codes[row]]))
            faults.append(f"row {table.index[row]}, column {column!r}: {written} {reasons[int(codes[row])]}")
        checked[column] = pd.Categorical.from_codes(codes, names)
    y = distance.to_numpy()
    wrong = np.flatnonzero(~((y >= 0) & (y <= 2)))
    count += len(wrong)
    for row in wrong[:SHOWN]:
        fault = "an empty value where a value is needed" if np.isnan(y[row]) else f"{float(y[row])!r} is outside [0, 2]"
        faults.append(f"row {table.index[row]}, column 'distance': {fault}")
    if faults:
        more = f"; and {count - SHOWN} more" if count > SHOWN else ""
        raise InputError(f"{file}: {'; '.join(faults[:SHOWN])}{more} (rows count from 0)")
    if not len(y):
        raise InputError(f"{file} holds no distance")
    typed = pd.DataFrame({**checked, "distance": y})[list(table.columns)]
    return _text_where_few(typed)


def _text_where_few(table: pd.DataFrame) -> pd.DataFrame:
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
    beside = _beside(file)
    place = file if file.suffix == ".parquet" else beside
    try:
        if file.suffix == ".parquet":
            stored = raw.attrs.get("coverage")
        elif not beside.is_file():
            stored = None
        else:
            content = from_json(read_text(beside))
            if content["table_sha256"] != _hash(file):
                return None, f"{beside.name} is of another table, or the table was changed after it was written"
            stored = content["coverage"]
        return (coverage_from(stored), "") if stored else (None, "no coverage goes with the file")
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError(f"{place} holds no coverage as write_distance_table writes it: {error}") from error


class _Attribute(NamedTuple):
    word: str
    attribute_class: str
    connection: str


def distance_table(
    kv: Embedding | ContextVectors,
    words: WordLists | str | Path,
    keep_duplicates: bool = False,
    case: Case = "as-is",
    relatedness: bool = True,
    twins: Twins = "once",
    frames: str = SAME,
    centre: str = "none",
    all_but_top: int = 0,
) -> pd.DataFrame:
    """Cosine distances between protected words and attribute words, one row a pair.

    The distance of a concept with several forms is the mean over the pairs of forms that are found.

    Parameters
    ----------
    kv
        The embedding, or what :func:`load_embedding` takes; or vectors of words in sentences (:func:`encode`).
    words
        Word lists, or what :func:`load_words` takes.
    keep_duplicates
        Count a pair as often as its words are listed, as the published tables do. By default a pair counts once:
        a protected word listed in several sets is one word, and an attribute word in several lists takes the first
        of associated, different, human, neutral, other control lists.
    case
        ``"as-is"`` looks words up as they are written, phrases also with ``_`` for blanks (``New_York``);
        ``"fallback"`` also tries lower case, capital first letters and capitals, by the rules of the lists' language,
        for words that are not found.
    relatedness
        Whether the table carries how the distances of similar words are correlated, as :func:`relatedness` estimates it
        the vectors; ``attrs["relatedness"]`` holds it as text. Without it, models take different words for unrelated.
    twins
        Words of one list that have one vector (cosine of 1 - 1e-6 and more, as in pruned embeddings) are one word:
        ``"once"`` takes the first and leaves the others out, ``"keep"`` takes all. :func:`coverage` names them, and
        words of different lists that have one vector, which stay.
    frames
        Of words in sentences: ``"same"`` takes both words of a pair in the same template, ``"crossed"`` in
        different ones. Equal templates make all sentences similar, and every distance smaller.
    centre, all_but_top
        Of words in sentences: the origin and the components that are taken out, as in
        :meth:`ContextVectors.centred <bayesbias.contextual.ContextVectors.centred>`; by default neither.

    Returns
    -------
    DataFrame
        Columns ``protected_word``, ``group``, ``attribute_word``, ``attribute_class`` (the group whose stereotype it
        is, or the control list), ``connection`` (associated, different, or the control list) and ``distance``
        (cosine distance in [0, 2]). Words and labels are text; from 100,000 rows on they are categories, which take a
        tenth of the memory. Words that the embedding lacks are left out; ``attrs["coverage"]`` and
        :func:`coverage` tell which. Of words in sentences there is one row for each template of a pair, named in
        ``template`` (the template of the protected word; crossed templates have ``attribute_template`` too);
        :func:`fit` takes their means, and the templates as a random effect. Words that do not suit all templates are
        left out, since distances differ between templates.

    Warns
    -----
    UserWarning
        Fewer than 400 words of the embedding lie outside of the lists: relatedness is then known badly. (Below 50 there
        is none, and the coverage says so.) The language of the lists has grammatical gender, and no word has several
        forms, or not all forms are found: distances may then speak of grammar (Zhou et al. 2019). Whether a single word
        has other forms, and of which gender forms are, is not known.

    References
    ----------
    Zhou, P., Shi, W., Zhao, J., Huang, K.-H., Chen, M., Cotterell, R. and Chang, K.-W. (2019). Examining gender bias in
    languages with grammatical gender. EMNLP-IJCNLP. https://doi.org/10.18653/v1/D19-1531

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> len(table)
    2256
    >>> table.iloc[0][["protected_word", "attribute_word", "connection"]].tolist()
    ['math', 'male', 'associated']
    >>> round(float(table["distance"].iloc[0]), 3)
    0.962
    """
    one_of(twins, TWINS, "twins")
    flag(keep_duplicates, "keep_duplicates")
    flag(relatedness, "relatedness")
    lists = words if isinstance(words, WordLists) else load_words(words)
    one_of(frames, tuple(PAIRINGS), "frames")
    one_of(centre, CENTRES, "centre")
    all_but_top = whole_number(all_but_top, "all_but_top", least=0)
    if isinstance(kv, ContextVectors):
        if keep_duplicates:
            raise InputError("keep_duplicates=True is for embeddings: each pair of words in sentences counts once")
        if frames != SAME and len(kv.frames) == 1:
            raise InputError("frames='crossed' needs two templates: give more templates, or frames='same'")
        moved = kv.whole().centred(centre, lists, all_but_top)
        means = distance_table(moved.keyed_vectors(frames), lists, False, case, relatedness, twins)
        return with_frames(means, moved, lists, frames)
    if frames != SAME or centre != "none" or all_but_top:
        raise InputError("frames, centre and all_but_top are for words in sentences: give what encode returns")
    return _distances_of(opened(kv), lists, keep_duplicates, case, relatedness, twins)


def distance_tables(
    embeddings: Mapping[str, Embedding],
    words: WordLists | str | Path | Mapping[str, WordLists | str | Path],
    keep_duplicates: bool = False,
    case: Case = "as-is",
    twins: Twins = "once",
) -> dict[str, pd.DataFrame]:
    """Distance tables of several embeddings, whose relatedness is estimated at the same words of all vocabularies.

    :func:`compare`, :func:`pool` and :func:`trend` need a sample that the embeddings share, to know how the errors of
    one embedding's distances are correlated with those of another's.

    Parameters
    ----------
    embeddings
        Name of each to the embedding, or to what :func:`load_embedding` takes.
    words
        As in :func:`distance_table`; or a mapping of the same names to the lists of each embedding, such as those of
        its language.
    keep_duplicates, case, twins
        As in :func:`distance_table`.

    Returns
    -------
    dict of DataFrame
        As :func:`distance_table` returns them. Where the vocabularies share fewer than 50 words outside of the lists,
        such as those of several languages, each table is sampled for itself.

    Examples
    --------
    >>> embeddings = {"google": "google-news-slice", "glove": "glove-50d-slice"}
    >>> tables = bb.distance_tables(embeddings, "weat7")
    >>> {name: len(table) for name, table in tables.items()}
    {'google': 2256, 'glove': 5216}
    """
    from bayesbias.distances.joint import draws_for

    if not isinstance(embeddings, Mapping) or not embeddings:
        raise InputError(f"embeddings is {shown(embeddings)}: give a mapping of names to embeddings")
    by_name = dict(words) if isinstance(words, Mapping) else dict.fromkeys(embeddings, words)
    if set(by_name) != set(embeddings):
        raise InputError(
            f"words has lists for {listed(list(map(str, by_name)))}: give those of {listed(list(embeddings))}"
        )
    if contextual := [name for name, kv in embeddings.items() if isinstance(kv, ContextVectors)]:
        raise InputError(f"{contextual[0]} holds words in sentences: measure it by itself, with distance_table")
    flag(keep_duplicates, "keep_duplicates")
    one_of(twins, TWINS, "twins")
    opened_ = {name: opened(kv) for name, kv in embeddings.items()}
    lists = {name: each if isinstance(each, WordLists) else load_words(each) for name, each in by_name.items()}
    drawn = draws_for(list(opened_.values()), [[lists[name]] for name in opened_], case)
    tables = {}
    with progress("measuring distances", len(opened_)) as done:
        for number, (name, kv) in enumerate(opened_.items()):
            own = None if isinstance(drawn, str) else drawn[number]
            tables[name] = _distances_of(kv, lists[name], keep_duplicates, case, True, twins, own)
            done(number + 1)
    return tables


def _distances_of(
    kv: KeyedVectors,
    lists: WordLists,
    keep_duplicates: bool,
    case: Case,
    relatedness: bool,
    twins: Twins,
    drawn: Drawn | None = None,
) -> pd.DataFrame:
    """The distance table of an embedding; ``drawn`` is a sample of its vocabulary that others share."""
    looked = find_concepts(kv, lists.concepts, case, lists.language)
    concepts = looked.concepts
    entries = _entries(lists, looked)
    alike = looked.twins()
    same = _twins_by_list(lists, concepts, alike)
    if twins == "once" and same:
        lists = _without(lists, same)
    table, own = _measured(lists, looked, keep_duplicates)
    if keep_duplicates and lists.repeats:
        table = table.loc[table.index.repeat(table["protected_word"].map(lists.repeats).fillna(1).astype(int))]
        table = table.reset_index(drop=True)
    related = measured_relatedness(kv, lists, SAMPLE, 0, case, drawn) if relatedness else ""
    by_word = _lists_by_word((lists.stereotypes, lists.controls))
    record = Coverage(
        word_list=lists.name,
        lists=entries,
        substituted={word: used for word, used in looked.forms.keys.items() if word != used},
        own_pairs=own,
        in_several_lists={word: names for word, names in by_word.items() if len(names) > 1 and word in concepts},
        repeated_rows=int(table.duplicated(PAIR).sum()) if keep_duplicates else 0,
        kept_duplicates=keep_duplicates,
        source=lists.source,
        doi=lists.doi,
        embedding=about(kv),
        pairs=len(table),
        relatedness=related.sentence if isinstance(related, Relatedness) else related and f"none, because {related}",
        twins=same,
        kept_twins=twins == "keep",
        one_vector=_one_vector(lists, looked),
        labels=dict(lists.labels),
        forms={name: list(concepts[name]) for name in lists.forms if name in concepts},
        gender=_gender(lists, concepts),
        language=lists.language,
    )
    table.attrs["coverage"] = record.as_dict()
    if isinstance(related, Relatedness):
        table.attrs[KEY] = packed(related)
        if related.sampled < ENOUGH:
            warnings.warn(few_words(related), UserWarning, stacklevel=2)
    if record.gender:
        warnings.warn(record.gender, UserWarning, stacklevel=2)
    return table


def _gender(lists: WordLists, concepts: Mapping[str, Sequence[str]]) -> str:
    """A warning where the language of lists has grammatical gender and their forms do not balance it."""
    if subtag(lists.language) not in GENDERED:
        return ""
    half = [name for name, forms in lists.forms.items() if 0 < len(concepts.get(name, ())) < len(forms)]
    if lists.forms and not half:
        return ""
    reason = f"not all forms of {listed(half, 5)} are found" if half else "no word has several forms"
    return (
        f"nouns of the language {lists.language!r} have grammatical gender, and {reason}: distances may speak of "
        "grammar (Zhou et al. 2019, https://doi.org/10.18653/v1/D19-1531); give the forms of each gender as one "
        "concept, such as ['Lehrer', 'Lehrerin']"
    )


def _twins_by_list(lists: WordLists, concepts: Collection[str], alike: Mapping[str, str]) -> list[dict[str, str]]:
    """The words of each list that have the vector of an earlier word of the same list."""
    return [
        {"list": name, "kind": kind, "word": word, "first": first}
        for kind, part in lists.by_kind
        for name, listed in part.items()
        for word, first in twins_within([word for word in listed if word in concepts], alike).items()
    ]


def _without(lists: WordLists, twins: list[dict[str, str]]) -> WordLists:
    """The lists without the words that have the vector of another."""
    left_out = {(entry["kind"], entry["list"], entry["word"]) for entry in twins}
    protected, stereotypes, controls = (
        {name: [word for word in words if (kind, name, word) not in left_out] for name, words in part.items()}
        for kind, part in lists.by_kind
    )
    return replace(lists, protected=protected, stereotypes=stereotypes, controls=controls)


def _one_vector(lists: WordLists, looked: FoundConcepts) -> list[dict[str, list[str]]]:
    """Sets of words, or of forms, of different lists that have one vector: each with the lists that hold it."""
    alike = looked.of_forms.twins()
    sets: dict[str, dict[str, list[str]]] = {}
    several = set(alike).union(alike.values())
    for word, names in _lists_by_word(part for _, part in lists.by_kind).items() if several else ():
        for form in looked.concepts.get(word, ()):
            if form in several:
                sets.setdefault(alike.get(form, form), {})[form] = names
    return [words for words in sets.values() if len(words) > 1 and len(set(chain(*words.values()))) > 1]


def _entries(lists: WordLists, looked: FoundConcepts) -> list[ListEntry]:
    entries = []
    for kind, part in lists.by_kind:
        for name, words in part.items():
            forms = [form for word in words for form in lists.forms.get(word, (word,))]
            missing = [form for form in forms if form not in looked.forms.keys]
            if len(missing) == len(forms):
                raise InputError(
                    f"the embedding holds none of the {len(forms)} words of the {kind} list {name!r} "
                    f"({listed(forms, 5)}): take the list out, choose other "
                    "words, or pass case='fallback' (--case fallback) if only capital letters differ"
                )
            entries.append(list_entry(name, kind, forms, missing))
    return entries


def attributes_of(lists: WordLists, group: str, concepts: Collection[str], keep_duplicates: bool) -> list[_Attribute]:
    """The attribute words of a group's protected words, in the order that decides doubtful pairs."""
    others = [name for name in lists.stereotypes if name != group]
    order = [("associated", group, lists.stereotypes.get(group, ()))]
    order += [("different", name, lists.stereotypes[name]) for name in others]
    order += [(name, name, lists.controls[name]) for name in in_order(lists.controls)]
    listed = [
        _Attribute(word, name, connection) for connection, name, part in order for word in part if word in concepts
    ]
    return listed if keep_duplicates else list({a.word: a for a in reversed(listed)}.values())[::-1]


def _measured(lists: WordLists, looked: FoundConcepts, keep_duplicates: bool) -> tuple[pd.DataFrame, list[str]]:
    """The rows of a table, and words that are protected and attribute words."""
    by_group = {group: attributes_of(lists, group, looked.concepts, keep_duplicates) for group in lists.protected}
    protected = [word for word in lists.group_of if word in looked.concepts]
    attributes = list(dict.fromkeys(a.word for part in by_group.values() for a in part))
    matrix: FloatArray = np.clip(1.0 - looked.units(protected) @ looked.units(attributes).T, 0.0, 2.0)
    column_of = {word: column for column, word in enumerate(attributes)}
    holders: dict[str, list[str]] = {}
    for word in attributes:
        for key in looked.keys(word):
            holders.setdefault(key, []).append(word)
    classes = list(dict.fromkeys(a.attribute_class for part in by_group.values() for a in part))
    connections = list(dict.fromkeys(a.connection for part in by_group.values() for a in part))
    coded = {
        group: np.array(
            [(column_of[a.word], classes.index(a.attribute_class), connections.index(a.connection)) for a in part]
        )
        for group, part in by_group.items()
    }
    group_of = lists.group_of
    pieces, own = [], []
    for word in protected:
        rows_of_group = coded[group_of[word]].reshape(-1, 3)
        shared = [column_of[name] for key in looked.keys(word) for name in holders.get(key, ())]
        pieces.append(rows_of_group[~np.isin(rows_of_group[:, 0], shared)] if shared else rows_of_group)
        if len(pieces[-1]) < len(rows_of_group):
            own.append(word)
    sizes = [len(piece) for piece in pieces]
    if not sum(sizes):
        raise InputError("no pair is left: the only attribute words found are the protected words themselves")
    groups = list(by_group)
    place = np.array([groups.index(group_of[word]) for word in protected], dtype=np.int32)
    rows = np.repeat(np.arange(len(protected), dtype=np.int32), sizes)
    columns, of_class, of_connection = np.concatenate(pieces).astype(np.int32).T
    labels = {
        "protected_word": (rows, protected),
        "group": (place[rows], groups),
        "attribute_word": (columns, attributes),
        "attribute_class": (of_class, classes),
        "connection": (of_connection, connections),
    }
    categories = {
        name: pd.Categorical.from_codes(codes, pd.Index(names, dtype="str")) for name, (codes, names) in labels.items()
    }
    table = pd.DataFrame({**categories, "distance": matrix[rows, columns]})
    return _text_where_few(table), own


def _lists_by_word(parts: Iterable[Mapping[str, Sequence[str]]]) -> dict[str, list[str]]:
    """Word to the names of the lists that hold it."""
    names_of: dict[str, list[str]] = {}
    for part in parts:
        for name, words in part.items():
            for word in words:
                names_of.setdefault(word, []).append(name)
    return names_of
