"""Files of distance tables, CSV and Parquet, and what of a table they carry."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesbias._support.arguments import flag
from bayesbias._support.files import (
    cells_of,
    check_target,
    file_at,
    from_json,
    read_arrays,
    read_as,
    separator_of,
    to_json,
    whole_file,
)
from bayesbias.distances.adjustment import adjustment_arrays, adjustment_from
from bayesbias.distances.covariances import KEY, Relatedness, relatedness_content, relatedness_from
from bayesbias.distances.dataframe import COLUMNS, PAIR, DistanceTable, Provenance, coverage_of, template_columns
from bayesbias.distances.distances import Distances, Labels, columns_of, once, text_where_few
from bayesbias.distances.list_coverage import Coverage, ListEntry, coverage_from, list_entry
from bayesbias.errors import CoverageWarning, InputError, RelatednessWarning, listed, warn, within
from bayesbias.vectors.readers import text_lines
from bayesbias.vectors.tables import parquet_batches
from bayesbias.words import CONTROLS, STEREOTYPES

MOST_METADATA = 90_000_000  # bytes of metadata that Arrow reads, with some to spare
PUBLISHED = {"word_to_compare": "attribute_word", "word_class": "attribute_class", "cosine_distance": "distance"}
PUBLISHED_TEXT = tuple(PUBLISHED)[:2]
FEWEST = 4  # columns of a table of distances
# metadata of a Parquet file: the record as JSON, all else as .npz files
RECORD, RELATED, ADJUSTMENT, TRUTH = (f"bayesbias.{name}".encode() for name in ("table", KEY, "adjustment", "truth"))


def coverage(table: pd.DataFrame) -> pd.DataFrame:
    """Table of the words of each list that were asked for, found and missing in the embedding.

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
    if (known := coverage_of(table)) is None:
        raise InputError(
            "this table carries no coverage: make it with distance_table or read it with read_distance_table"
        )
    result = known.table()
    result.attrs = {"notes": known.notes(table)}
    return result


def read_distance_table(path: str | Path, keep_duplicates: bool | None = False) -> DistanceTable:
    """A distance table from CSV or Parquet, checked.

    Parameters
    ----------
    path
        A file that :func:`write_distance_table` wrote, any Parquet file or table in text (commas, tabs, semicolons or
        blanks stand between columns) with these columns (``group`` and ``attribute_class`` may be absent), or a CSV
        file of Dobrzeniecka and Urbaniak (2024): there ``none`` is ``neutral``, values below -1 are missing pairs,
        ``_stereotype`` is taken off the names of word classes, and the group of a protected word is the class it is
        associated with.
    keep_duplicates
        Keep rows that repeat a pair. By default a pair counts once, for the first of associated, different, human,
        neutral, other control lists. None keeps them where the table was written with them.

    Returns
    -------
    DistanceTable
        The columns of :func:`distance_table`; ``group`` is missing where it cannot be known. Parquet files that
        :func:`write_distance_table` wrote give all that the table carried.

    References
    ----------
    Dobrzeniecka, A. and Urbaniak, R. (2024). A Bayesian approach to uncertainty in word embedding bias estimation.
    Computational Linguistics 50(2). https://doi.org/10.1162/coli_a_00507

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> bb.write_distance_table(table, "distances.parquet")
    >>> again = bb.read_distance_table("distances.parquet")
    >>> len(again), again.relatedness is not None
    (2256, True)
    """
    file = file_at(path)
    keep_duplicates = None if keep_duplicates is None else flag(keep_duplicates, "keep_duplicates")
    raw = _read(file)
    published = "word_to_compare" in raw.columns
    table, missing_pairs, entries = _from_published(raw) if published else (raw, 0, [])
    known = _carried(file)
    with within(str(file)):
        checked = _checked(_as_numbers(table), bounded=not known.moved)
    repeated = int(checked.duplicated([*PAIR, *template_columns(checked)]).sum())
    if keep_duplicates is None:
        keep_duplicates = known.coverage is not None and known.coverage.kept_duplicates
    remedy = "repair the file or pass keep_duplicates=True (--keep-duplicates)"
    cleaned = checked if keep_duplicates else once(checked, str(file), remedy)
    if (record := known.coverage) is None:
        here: list[ListEntry] = entries or [{**entry, "asked": None} for entry in _found_lists(cleaned)]
        record = Coverage(file.stem, here, unknown="" if entries else "no coverage goes with the file")
    if repeated or known.coverage is None:
        record = replace(record, repeated_rows=repeated, kept_duplicates=keep_duplicates)
    record = replace(record, missing_pairs=missing_pairs or record.missing_pairs, pairs=record.pairs or len(cleaned))
    result = DistanceTable.carrying(cleaned, replace(known, coverage=record))
    with within(str(file)):
        Distances.read(result)
    return result


def write_distance_table(table: pd.DataFrame, path: str | Path) -> None:
    """Write a distance table, whole or not at all.

    Parameters
    ----------
    table
        A distance table; it is checked first, as in :func:`read_distance_table`.
    path
        Ends in ``.parquet`` or ``.csv``. Parquet holds all that a table carries: coverage, relatedness, adjustment.
        CSV holds the rows alone. Words are written as they are: to a spreadsheet ``=1+1`` is a formula, so import the
        columns of words as text.

    Warns
    -----
    RelatednessWarning, CoverageWarning
        A CSV file leaves out what the table carries.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> bb.write_distance_table(table, "distances.parquet")
    """
    file = check_target(path, (".csv", ".parquet"), "a distance table")
    if not isinstance(table, pd.DataFrame):
        raise InputError(f"a distance table is a DataFrame, given is {type(table).__name__}")
    Distances.read(table, check=False)
    carried = (table._provenance if isinstance(table, DistanceTable) else None) or Provenance()
    checked = _checked(table, bounded=not carried.moved)
    with whole_file(file) as temporary:
        if file.suffix == ".parquet":
            _write_parquet(checked, carried, temporary)
        else:
            checked.to_csv(temporary, index=False)
    if file.suffix == ".csv":
        _say_left_out(carried, file)


def _write_parquet(rows: pd.DataFrame, carried: Provenance, file: Path) -> None:
    import pyarrow as pa  # type: ignore[import-untyped]  # loads slowly
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    coverage = None if carried.coverage is None else carried.coverage.as_dict()
    metadata: dict[bytes, bytes] = {}
    if carried.relatedness is not None:
        metadata[RELATED] = relatedness_content(carried.relatedness)
    if carried.adjustment is not None:
        metadata[ADJUSTMENT] = _packed(adjustment_arrays(carried.adjustment))
    if carried.truth:
        metadata[TRUTH] = _packed({name: np.asarray(value) for name, value in carried.truth.items()})
    if (size := sum(map(len, metadata.values()))) > MOST_METADATA:
        raise InputError(
            f"what the table carries takes {size:,} bytes, and Parquet's metadata hold {MOST_METADATA:,}: write tables "
            "of fewer protected words, or table.without_relatedness()"
        )
    record = {"coverage": coverage, "moved": carried.moved, "parts": sorted(name.decode() for name in metadata)}
    metadata[RECORD] = to_json(record).encode()
    content = pa.Table.from_pandas(rows, preserve_index=False)
    with pq.ParquetWriter(file, content.schema) as writer:
        writer.write_table(content)
        writer.add_key_value_metadata(metadata)


def _packed(arrays: dict[str, Any]) -> bytes:
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)
    return content.getvalue()


def _say_left_out(carried: Provenance, file: Path) -> None:
    parts = {
        "relatedness": carried.relatedness is not None,
        "coverage": carried.coverage is not None and not carried.coverage.unknown,
        f"that distances are {carried.moved}": bool(carried.moved),
    }
    if left_out := [name for name, present in parts.items() if present]:
        warn(
            f"{file.name} holds the rows alone, not {listed(left_out)}: write a .parquet file to keep what "
            "the table carries",
            RelatednessWarning if carried.relatedness is not None else CoverageWarning,
        )


def _read(file: Path) -> pd.DataFrame:
    if file.suffix == ".toml":
        raise InputError(
            f"{file} is a word list, not a table of distances: measure it first, with distance_table (bayesbias "
            f"distances EMBEDDING {file.name} -o TABLE.parquet)"
        )
    with read_as("a table", str(file)):
        if file.suffix == ".parquet":
            return _read_parquet(file)
        empty = {column: ["", "nan", "NaN", "NA"] for column in ("distance", "cosine_distance")}
        text = dict.fromkeys([*COLUMNS[:-1], *PUBLISHED_TEXT], "str")
        mark = separator_of(text_lines(file), ",", lambda line, each: len(cells_of(line, each)) >= FEWEST)
        how: dict[str, Any] = {"sep": r"\s+" if mark == " " else mark, "decimal": "," if mark == ";" else "."}
        raw: pd.DataFrame = pd.read_csv(file, keep_default_na=False, na_values=empty, dtype=text, **how)
    known = [*COLUMNS, *PUBLISHED_TEXT, "cosine_distance"]
    # pandas renames the second
    if twice := [column for column in known if {column, f"{column}.1"} <= set(raw.columns)]:
        raise InputError(f"{file} has two columns {twice[0]!r}: keep one")
    return raw


def _read_parquet(file: Path) -> pd.DataFrame:
    import pyarrow as pa  # loads slowly
    import pyarrow.parquet as pq

    schema = pq.read_schema(file)
    table: pd.DataFrame = pa.Table.from_batches(parquet_batches(file, schema.names), schema).to_pandas()
    return table


def _as_numbers(raw: pd.DataFrame) -> pd.DataFrame:
    """A table from a file whose distances, if they are text, are numbers where they can be."""
    if "distance" not in raw or raw["distance"].dtype.kind in "biufcmM":
        return raw
    numbers = pd.to_numeric(raw["distance"], errors="coerce")
    return raw.assign(distance=raw["distance"].astype(object).where(numbers.isna(), numbers))


def _checked(rows: pd.DataFrame, bounded: bool) -> pd.DataFrame:
    """Our own columns of a table, checked, with ``group`` and ``attribute_class`` where they are absent."""
    columns = columns_of(rows, bounded)
    columns.labels.setdefault("group", Labels.unknown(len(rows)))
    table = columns.frame()
    if "attribute_class" not in table:
        table["attribute_class"] = [name if name in CONTROLS else "stereotype" for name in table["connection"]]
    return text_where_few(table[[*COLUMNS, *template_columns(table)]])


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


def _carried(file: Path) -> Provenance:
    """The provenance in the metadata of a Parquet file; nothing where there is none."""
    if file.suffix != ".parquet":
        return Provenance()
    import pyarrow.parquet as pq  # loads slowly

    metadata = pq.read_metadata(file).metadata or {}
    if RECORD not in metadata:
        return Provenance()
    try:
        return _provenance(metadata, file)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        why = str(error) if isinstance(error, InputError) else "it is damaged"
        raise InputError(f"what goes with {file} is not as write_distance_table writes it: {why}") from error


def _provenance(metadata: dict[bytes, bytes], file: Path) -> Provenance:
    record = from_json(metadata[RECORD].decode())
    carried = sorted(name.decode() for name in (RELATED, ADJUSTMENT, TRUTH) if name in metadata)
    if carried != record["parts"] or not isinstance(record["moved"], str):
        raise InputError(f"parts are missing: it should hold {listed(record['parts'])}")
    parts = {
        name: read_arrays(io.BytesIO(metadata[name]), str(file)) for name in (ADJUSTMENT, TRUTH) if name in metadata
    }
    return Provenance(
        coverage=None if record["coverage"] is None else coverage_from(record["coverage"]),
        relatedness=_related(metadata.get(RELATED), file),
        adjustment=adjustment_from(parts[ADJUSTMENT]) if ADJUSTMENT in parts else None,
        truth=parts.get(TRUTH, {}),
        moved=str(record["moved"]),
    )


def _related(content: bytes | None, file: Path) -> Relatedness | None:
    return None if content is None else relatedness_from(content, str(file))
