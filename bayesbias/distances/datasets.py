"""Distance tables in files, CSV and Parquet, and published data by name, each file checked by its hash."""

from __future__ import annotations

import io
import os
import warnings
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias._support import shipped
from bayesbias._support.arguments import flag
from bayesbias._support.files import (
    cells_of,
    check_target,
    file_at,
    from_json,
    home_folder,
    read_arrays,
    read_as,
    read_json,
    read_text,
    read_toml,
    separator_of,
    to_json,
    whole_file,
)
from bayesbias._support.progress import quiet
from bayesbias.distances.adjustment import adjustment_arrays, adjustment_from
from bayesbias.distances.covariances import KEY, relatedness_content, relatedness_from
from bayesbias.distances.dataframe import (
    COLUMNS,
    PAIR,
    Coverage,
    DistanceTable,
    ListEntry,
    Provenance,
    columns_of,
    coverage_from,
    coverage_of,
    list_entry,
    once,
    template_columns,
    text_where_few,
)
from bayesbias.distances.distances import Distances
from bayesbias.errors import CoverageWarning, InputError, RelatednessWarning, listed, near, shown, warn, within
from bayesbias.vectors import load_embedding
from bayesbias.vectors.readers import text_lines
from bayesbias.vectors.tables import parquet_batches
from bayesbias.words import CONTROLS, STEREOTYPES

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

__all__ = ["dataset_path", "load_dataset"]

FOLDER = "BAYESBIAS_DATA"  # the variable that names a local folder to look in first
MOST_METADATA = 90_000_000  # bytes of metadata that Arrow reads, with some to spare
PUBLISHED = {"word_to_compare": "attribute_word", "word_class": "attribute_class", "cosine_distance": "distance"}
TEXTS = [*COLUMNS[:-1], "word_to_compare", "word_class"]
FEWEST = 4  # columns of a table of distances
# metadata of a Parquet file: the record as JSON, all else as .npz files
RECORD, RELATED, ADJUSTMENT, TRUTH = (f"bayesbias.{name}".encode() for name in ("table", KEY, "adjustment", "truth"))


def coverage(table: pd.DataFrame) -> pd.DataFrame:
    """Table of the words of each list that were asked for, found and missing in the embedding, of a distance table.

    One row a list: ``list``, ``kind`` (protected, stereotype, control), ``asked``, ``found``, ``used`` (numbers of
    words) and ``missing`` (the words); ``asked`` is missing where the table was read from a file without its coverage.
    ``table.coverage.notes(table)`` of the distance table tells what was left out or replaced.

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
    names = {"words": known.word_list, "embedding": known.embedding.get("name")}
    result.attrs = {name: fact for name, fact in names.items() if fact}
    return result


def read_distance_table(path: str | Path, keep_duplicates: bool | None = False) -> DistanceTable:
    """A distance table from CSV or Parquet, checked.

    Parameters
    ----------
    path
        A file of :func:`write_distance_table`, any Parquet file or table in text (commas, tabs, semicolons or blanks
        stand between columns) with these columns (``group`` and ``attribute_class`` may be absent), or a CSV file of
        Dobrzeniecka and Urbaniak (2024, https://doi.org/10.1162/coli_a_00507): there ``none`` is ``neutral``, values
        below -1 are missing pairs, ``_stereotype`` is taken off the names of word classes, and the group of a
        protected word is the class it is associated with.
    keep_duplicates
        Keep rows that repeat a pair. By default a pair counts once, for the first of associated, different, human,
        neutral, other control lists. None keeps them where the table was written with them.

    Returns
    -------
    DistanceTable
        The columns of :func:`distance_table`; ``group`` is missing where it cannot be known. Parquet files that
        :func:`write_distance_table` wrote give all that the table carried.

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
    table, known = _read(file)
    missing_pairs, entries = 0, list[ListEntry]()
    with within(str(file)):
        if "word_to_compare" in table:
            table, missing_pairs, entries = _from_published(table)
        checked = _checked(table, bounded=not known.moved)
    repeated = int(checked.duplicated([*PAIR, *template_columns(checked)]).sum())
    if keep_duplicates is None:
        keep_duplicates = known.coverage is not None and known.coverage.kept_duplicates
    remedy = "repair the file or pass keep_duplicates=True (--keep-duplicates)"
    cleaned = checked if keep_duplicates else once(checked, str(file), remedy)
    if (record := known.coverage) is None:
        here: list[ListEntry] = entries or [{**entry, "asked": None} for entry in _found_lists(cleaned, cleaned)]
        record = Coverage(file.stem, here, unknown="" if entries else "no coverage goes with the file")
    if repeated or known.coverage is None:
        record = replace(record, repeated_rows=repeated, kept_duplicates=keep_duplicates)
    record = replace(record, missing_pairs=missing_pairs or record.missing_pairs, pairs=record.pairs or len(cleaned))
    result = DistanceTable.carrying(cleaned, replace(known, coverage=record))
    if known.relatedness is not None:
        with within(str(file)):
            Distances.read(result)
    return result


def write_distance_table(table: pd.DataFrame, path: str | Path) -> None:
    """Write a distance table, whole or not at all.

    Parquet (``.parquet``) holds all that a table carries: coverage, relatedness, adjustment. CSV (``.csv``) holds the
    rows alone, with a warning. To a spreadsheet the word ``=1+1`` is a formula: import words as text.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> bb.write_distance_table(table, "distances.parquet")
    """
    file = check_target(path, (".csv", ".parquet"), "a distance table")
    Distances.read(table, check=False)
    carried = (table._provenance if isinstance(table, DistanceTable) else None) or Provenance()
    checked = _checked(table, bounded=not carried.moved)
    with whole_file(file) as temporary:
        if file.suffix == ".parquet":
            _write_parquet(checked, carried, temporary)
        else:
            checked.to_csv(temporary, index=False)
    left_out = ["relatedness"] * (carried.relatedness is not None)
    left_out += ["coverage"] * (carried.coverage is not None and not carried.coverage.unknown)
    left_out += [f"that distances are {carried.moved}"] * bool(carried.moved)
    if file.suffix == ".csv" and left_out:
        warn(
            f"{file.name} holds the rows alone, not {listed(left_out)}: write a .parquet file to keep what "
            "the table carries",
            RelatednessWarning if carried.relatedness is not None else CoverageWarning,
        )


def _write_parquet(rows: pd.DataFrame, carried: Provenance, file: Path) -> None:
    import pyarrow as pa  # type: ignore[import-untyped]  # loads slowly
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    metadata: dict[bytes, bytes] = {}
    if carried.relatedness is not None:
        metadata[RELATED] = relatedness_content(carried.relatedness)
    adjusted = {} if carried.adjustment is None else adjustment_arrays(carried.adjustment)
    for name, arrays in ((ADJUSTMENT, adjusted), (TRUTH, carried.truth)):
        if arrays:
            np.savez_compressed(content := io.BytesIO(), **arrays)
            metadata[name] = content.getvalue()
    if (size := sum(map(len, metadata.values()))) > MOST_METADATA:
        raise InputError(
            f"what the table carries takes {size:,} bytes, and Parquet's metadata hold {MOST_METADATA:,}: write tables "
            "of fewer protected words, or table.without_relatedness()"
        )
    record = {
        "coverage": None if carried.coverage is None else carried.coverage.as_dict(),
        "moved": carried.moved,
        "parts": sorted(name.decode() for name in metadata),
    }
    metadata[RECORD] = to_json(record).encode()
    content = pa.Table.from_pandas(rows, preserve_index=False)
    with pq.ParquetWriter(file, content.schema) as writer:
        writer.write_table(content)
        writer.add_key_value_metadata(metadata)


def _read(file: Path) -> tuple[pd.DataFrame, Provenance]:
    """The rows of a file, and what it carries."""
    with read_as("a table", str(file)):
        if file.suffix == ".parquet":
            return _read_parquet(file)
        mark = separator_of(text_lines(file), ",", lambda line, each: len(cells_of(line, each)) >= FEWEST)
        raw: pd.DataFrame = pd.read_csv(
            file,
            sep=r"\s+" if mark == " " else mark,
            decimal="," if mark == ";" else ".",
            keep_default_na=False,
            na_values={column: ["", "nan", "NaN", "NA"] for column in ("distance", "cosine_distance")},
            dtype=dict.fromkeys(TEXTS, "str"),
        )
    # pandas renames the second
    if twice := [column for column in (*TEXTS, "distance", "cosine_distance") if f"{column}.1" in raw]:
        raise InputError(f"{file} has two columns {twice[0]!r}: keep one")
    return raw, Provenance()


def _read_parquet(file: Path) -> tuple[pd.DataFrame, Provenance]:
    import pyarrow as pa  # loads slowly
    import pyarrow.parquet as pq

    schema = pq.read_schema(file)
    table: pd.DataFrame = pa.Table.from_batches(parquet_batches(file, schema.names), schema).to_pandas()
    metadata = pq.read_metadata(file).metadata or {}
    if RECORD not in metadata:
        return table, Provenance()
    record = from_json(metadata[RECORD].decode())
    parts = {name: metadata[name.encode()] for name in record["parts"]}  # none may be lost
    arrays = {name: read_arrays(io.BytesIO(part), str(file)) for name, part in parts.items()}
    adjusted = arrays.get(ADJUSTMENT.decode())
    with within(f"what goes with {file} is not as write_distance_table writes it"):
        return table, Provenance(
            coverage=None if record["coverage"] is None else coverage_from(record["coverage"]),
            relatedness=relatedness_from(arrays[RELATED.decode()]) if RELATED in metadata else None,
            adjustment=None if adjusted is None else adjustment_from(adjusted),
            truth=arrays.get(TRUTH.decode(), {}),
            moved=str(record["moved"]),
        )


def _checked(rows: pd.DataFrame, bounded: bool) -> pd.DataFrame:
    """Our own columns of a table, checked, with ``group`` and ``attribute_class`` where they are absent."""
    if "distance" in rows and rows["distance"].dtype.kind not in "biufcmM":  # text, which may hold numbers
        numbers = pd.to_numeric(rows["distance"], errors="coerce")
        rows = rows.assign(distance=rows["distance"].astype(object).where(numbers.isna(), numbers))
    table = columns_of(rows, bounded)
    if "group" not in table:
        table["group"] = pd.Categorical([None] * len(table), categories=pd.Index([], dtype="str"))
    if "attribute_class" not in table:
        table["attribute_class"] = [name if name in CONTROLS else "stereotype" for name in table["connection"]]
    return text_where_few(table[[*COLUMNS, *template_columns(table)]])


def _from_published(raw: pd.DataFrame) -> tuple[pd.DataFrame, int, list[ListEntry]]:
    """The rows of a published table, the number of its missing pairs, and its lists."""
    table = raw.rename(columns=PUBLISHED)
    table["connection"] = table["connection"].replace("none", "neutral")
    table["attribute_class"] = table["attribute_class"].str.removesuffix("_stereotype")
    own = table.loc[table["connection"] == "associated", ["protected_word", "attribute_class"]].drop_duplicates()
    group = own.drop_duplicates("protected_word", keep=False).set_index("protected_word")["attribute_class"]
    table["group"] = table["protected_word"].map(group).astype("string")
    absent = pd.to_numeric(table["distance"], errors="coerce") < -1
    if "cosine_similarity" in table:
        absent |= pd.to_numeric(table["cosine_similarity"], errors="coerce") < -1
    return table.loc[~absent], int(absent.sum()), _found_lists(table, table.loc[~absent])


def _found_lists(asked: pd.DataFrame, found: pd.DataFrame) -> list[ListEntry]:
    """The lists that a table names, and those of their words that have at least one distance."""
    entries = []
    own = set(asked.loc[asked["connection"].isin(STEREOTYPES), "attribute_class"].astype("string"))
    for kind, word, name in (("protected", *PAIR[:1], "group"), ("attribute", *PAIR[1:], "attribute_class")):
        present = set(found[word])
        for value, column in asked.groupby(asked[name].astype("string").fillna("unknown"), sort=False)[word]:
            words = list(dict.fromkeys(column))
            label = kind if kind == "protected" else "stereotype" if value in own else "control"
            entries.append(list_entry(str(value), label, words, [w for w in words if w not in present]))
    return entries


@dataclass(frozen=True)
class _Dataset:
    kind: str
    description: str
    licence: str
    source: str
    doi: str
    bytes: int
    hash: str  # "sha256:..." or "md5:...", as gensim publishes it of its files
    url: str  # empty where none is known
    file: str


@cache
def registry() -> dict[str, _Dataset]:
    """Name to data set, in the order of the file; of files with one origin its facts stand once."""
    found = {}
    for family in read_toml(shipped("data") / "datasets.toml").values():
        for name, own in family.pop("files").items():
            path = own.pop("path", "")
            found[name] = _Dataset(**{"doi": ""} | family | own | {"url": family["url"] + path if path else ""})
    return found


def dataset_path(name: str) -> Path:
    """The whole file of a data set by its name in ``bundled("datasets")``: a local one, or else fetched once and kept.

    The folder that the environment variable ``BAYESBIAS_DATA`` names is looked in first, then the cache, then, for
    embeddings, the folder of gensim's downloader. The content is compared with the hash that the package knows,
    wherever the file comes from. No code that comes with a file is run.

    Examples
    --------
    >>> from bayesbias.distances.datasets import dataset_path
    >>> dataset_path("weat_7_google").name  # doctest: +SKIP
    'weat_7_google.csv'
    """
    if name not in (known := registry()):
        raise InputError(f"there is no data set {shown(name)}{near(name, known)}: bb.bundled('datasets') shows all")
    dataset, pooch = known[name], _pooch()
    kind, _, digest = dataset.hash.partition(":")
    # the first of the folders that has it
    places = [folder / dataset.file for folder in _folders()]
    if dataset.kind == "embedding":
        places.append(Path(os.environ.get("GENSIM_DATA_DIR", Path.home() / "gensim-data")) / name / dataset.file)
    if dataset.kind == "documents":
        places.append(shipped("data") / "documents" / dataset.file)
    local = next((place for place in places if place.is_file()), None)
    if local is not None and (local.parent != _folders()[-1] or not dataset.url):
        if (actual := pooch.file_hash(local, kind)) != digest:
            raise InputError(
                f"{local} is not the file that was published: its hash is {kind}:{actual}, that of the published file "
                f"{dataset.hash}; replace it by that of {dataset.source}, or rename it and read it by its path"
            )
        return local
    reason = "no address of it is known"
    try:  # what is in the cache is compared with the hash too
        if dataset.url:
            with quiet(pooch.get_logger()):
                return Path(pooch.retrieve(dataset.url, dataset.hash, fname=dataset.file, path=_folders()[-1]))
    except (OSError, ValueError) as error:  # requests' errors are OSErrors, and another hash is a ValueError
        reason = str(error).partition(". Deleted")[0] or type(error).__name__
    raise InputError(
        f"the data set {name} could not be fetched: {reason}; take {dataset.file} from {dataset.url or dataset.source} "
        f"and put it into the folder {_folders()[0]}"
    )


def load_dataset(name: str) -> pd.DataFrame | KeyedVectors:
    """A data set by its name in ``bundled("datasets")``, such as ``"weat_7_google"``.

    A distance table is as :func:`read_distance_table` gives it; an embedding as :func:`load_embedding` does. Word lists
    have the columns ``list``, ``category`` and ``word``; frequencies ``word`` and ``count``; documents ``text`` and
    covariates.

    Examples
    --------
    >>> from bayesbias.distances.datasets import load_dataset
    >>> load_dataset("sotu-addresses")[["year", "president", "party"]].tail(2)
         year       president       party
    231  2020  Donald J Trump  Republican
    232  2021  Joseph R Biden  Democratic
    """
    path, dataset = dataset_path(name), registry()[name]
    if dataset.kind == "embedding":
        return load_embedding(path)
    if dataset.kind == "distance table":
        table = read_distance_table(path)
        record = table.coverage and replace(table.coverage, source=dataset.source, doi=dataset.doi)
        return DistanceTable(table, coverage=record)
    if dataset.kind == "documents":
        frame = pd.read_parquet(path)
        frame.attrs["dataset"] = {"name": name, "source": dataset.source, "licence": dataset.licence}
        return frame
    if dataset.kind == "word lists":
        rows = [(key, part["category"], word) for key, part in read_json(path).items() for word in part["examples"]]
        return pd.DataFrame(rows, columns=["list", "category", "word"])
    lines = (line.rpartition(" ") for line in read_text(path).splitlines() if line)
    return pd.DataFrame([(word, int(count)) for word, _, count in lines], columns=["word", "count"])


def _pooch() -> Any:
    """Pooch, whose import of tqdm warns in a notebook without ipywidgets."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "IProgress not found")
        import pooch  # type: ignore[import-untyped]
    return pooch


def _folders() -> list[Path]:
    """Folders that a file may be in: that of the user, then the cache."""
    setting = os.environ.get(FOLDER)
    return [*([home_folder(setting)] if setting else []), Path(_pooch().os_cache("bayesbias"))]
