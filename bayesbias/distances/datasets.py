"""Published data by name: distance tables, embeddings, documents, word lists, frequencies, each checked by its hash."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias._support import shipped
from bayesbias._support.files import home_folder, read_json, read_text, read_toml
from bayesbias._support.progress import quiet
from bayesbias.distances.dataframe import DistanceTable
from bayesbias.distances.storage import read_distance_table
from bayesbias.errors import InputError, near, shown
from bayesbias.vectors import load_embedding

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

__all__ = ["dataset_path", "load_dataset"]

FOLDER = "BAYESBIAS_DATA"  # the variable that names a local folder to look in first


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
    dataset, pooch = _found(name), _pooch()
    kind, _, digest = dataset.hash.partition(":")
    local = _local(name, dataset)
    if local is not None and (local.parent != _cache() or not dataset.url):
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
                return Path(pooch.retrieve(dataset.url, dataset.hash, fname=dataset.file, path=_cache()))
    except (OSError, ValueError) as error:  # requests' errors are OSErrors, and another hash is a ValueError
        reason = str(error).partition(". Deleted")[0] or type(error).__name__
    raise InputError(
        f"the data set {name} could not be fetched: {reason}; take {dataset.file} from {dataset.url or dataset.source} "
        f"and put it into the folder {_folders()[0]}"
    )


def load_dataset(name: str) -> pd.DataFrame | KeyedVectors:
    """A data set by its name in ``bundled("datasets")``, such as ``"weat_7_google"``.

    A distance table is as :func:`read_distance_table` gives it; an embedding as :func:`load_embedding` does (some of
    its words take less memory with ``bb.load_embedding(dataset_path(name), words=...)``). Word lists have
    one row a word with the columns ``list``, ``category`` and ``word``; frequencies the columns ``word`` and ``count``;
    documents a row each with ``text`` and covariates.

    Examples
    --------
    >>> from bayesbias.distances.datasets import load_dataset
    >>> load_dataset("sotu-addresses")[["year", "president", "party"]].tail(2)
         year       president       party
    231  2020  Donald J Trump  Republican
    232  2021  Joseph R Biden  Democratic
    """
    import pandas as pd

    dataset, path = _found(name), dataset_path(name)
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


def _found(name: str) -> _Dataset:
    known = registry()
    if name not in list(known):
        raise InputError(f"there is no data set {shown(name)}{near(name, known)}: bb.bundled('datasets') shows all")
    return known[name]


def _local(name: str, dataset: _Dataset) -> Path | None:
    """The file where it is here, in the first of the folders that has it."""
    places = [folder / dataset.file for folder in _folders()]
    if dataset.kind == "embedding":
        places.append(Path(os.environ.get("GENSIM_DATA_DIR", Path.home() / "gensim-data")) / name / dataset.file)
    if dataset.kind == "documents":
        places.append(shipped("data") / "documents" / dataset.file)
    return next((place for place in places if place.is_file()), None)


def _pooch() -> Any:
    """Pooch, whose import of tqdm warns in a notebook without ipywidgets."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "IProgress not found")
        import pooch  # type: ignore[import-untyped]
    return pooch


def _cache() -> Path:
    return Path(_pooch().os_cache("bayesbias"))


def _folders() -> list[Path]:
    """Folders that a file may be in: that of the user, then the cache."""
    setting = os.environ.get(FOLDER)
    return [*([home_folder(setting)] if setting else []), _cache()]
