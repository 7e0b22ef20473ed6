"""Published data by name: distance tables, embeddings, documents, word lists, frequencies, each checked by its hash."""

from __future__ import annotations

import hashlib
import os
import warnings
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field

from bayesbias._support import shipped
from bayesbias._support.files import Document, check, from_json, home_folder, read_text, read_toml
from bayesbias._support.progress import quiet
from bayesbias.distances.dataframe import DistanceTable
from bayesbias.distances.storage import read_distance_table
from bayesbias.errors import InputError, listed, shown
from bayesbias.vectors import load_embedding

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

__all__ = ["dataset_path", "load_dataset"]

FOLDER = "BAYESBIAS_DATA"  # the variable that names a local folder to look in first
type Kind = Literal["distance table", "embedding", "word lists", "frequencies", "documents"]


class _File(Document):
    file: str
    description: str
    bytes: int
    hash: str = Field(pattern="^(sha256:[0-9a-f]{64}|md5:[0-9a-f]{32})$")
    path: str = ""
    licence: str = ""
    source: str = ""


class _Family(Document):
    """Files with one origin; the url of each is that of the family and the path of the file."""

    kind: Kind
    licence: str
    source: str
    url: str
    doi: str = ""
    files: dict[str, _File]


class _Dataset(_File):
    """A file with what its family says of it; ``url`` is empty where none is known."""

    kind: Kind
    url: str
    doi: str

    def local(self, name: str, folders: list[Path]) -> Path | None:
        """The file where it is here, in the first of the folders that has it."""
        places = [folder / self.file for folder in folders]
        if self.kind == "embedding":
            gensim = os.environ.get("GENSIM_DATA_DIR", Path.home() / "gensim-data")
            places.append(Path(gensim) / name / self.file)
        if self.kind == "documents":
            places.append(shipped("data") / "documents" / self.file)
        return next((place for place in places if place.is_file()), None)

    def hash_of(self, path: Path) -> str:
        """The hash of a file, of the kind that is known of the published one."""
        kind = self.hash.partition(":")[0]
        with path.open("rb") as content:
            # md5 is what gensim publishes of its files; it guards against damage
            digest = hashlib.file_digest(content, lambda: hashlib.new(kind, usedforsecurity=False))
        return f"{kind}:{digest.hexdigest()}"

    def advice(self, folders: list[Path]) -> str:
        """Advice on where to take the file from and where to put it."""
        also = "" if len(folders) > 1 else f" or into the folder that {FOLDER} names"
        return f"take {self.file} from {self.url or self.source} and put it into the folder {folders[0]}{also}"


@cache
def registry() -> dict[str, _Dataset]:
    """Name to data set, in the order of the file."""
    where = shipped("data") / "datasets.toml"
    families = {name: check(_Family, content, str(where)) for name, content in read_toml(where).items()}
    return {
        name: _Dataset(
            **file.model_dump(exclude={"licence", "source"}),
            **family.model_dump(include={"kind", "doi"}),
            licence=file.licence or family.licence,
            source=file.source or family.source,
            url=family.url + file.path if file.path else "",
        )
        for family in families.values()
        for name, file in family.files.items()
    }


def dataset_path(name: str) -> Path:
    """The whole file of a data set, unchanged: a local one, or else fetched once and kept.

    The folder that the environment variable ``BAYESBIAS_DATA`` names is looked in first, then the cache, then, for
    embeddings, the folder of gensim's downloader. What is fetched goes to the cache. The content is compared with the
    hash that the package knows, wherever the file comes from. No code that comes with a file is run.

    Parameters
    ----------
    name
        A name that ``bundled("datasets")`` shows.

    Examples
    --------
    >>> from bayesbias.distances.datasets import dataset_path
    >>> dataset_path("weat_7_google").name  # doctest: +SKIP
    'weat_7_google.csv'
    """
    dataset = _found(name)
    folders = _folders()
    if (local := dataset.local(name, folders)) is not None:
        actual = dataset.hash_of(local)
        if actual == dataset.hash:
            return local
        if local.parent != _cache() or not dataset.url:
            raise InputError(
                f"{local} is not the file that was published: its hash is {actual}, that of the published file "
                f"{dataset.hash}; replace it by that of {dataset.source}, or rename it and read it by its path"
            )
    if not dataset.url:
        raise InputError(f"the data set {name} is not here, and no address of it is known: {dataset.advice(folders)}")
    pooch = _pooch()
    try:
        with quiet(pooch.get_logger()):
            return Path(pooch.retrieve(dataset.url, dataset.hash, fname=dataset.file, path=_cache()))
    except (OSError, ValueError) as error:  # requests' errors are OSErrors, and another hash is a ValueError
        from requests import ConnectionError as NoConnection
        from requests import Timeout

        reason, host = str(error).partition(". Deleted")[0] or type(error).__name__, urlsplit(dataset.url).hostname
        reason = f"no connection to {host}" if isinstance(error, NoConnection) else reason
        reason = f"{host} does not answer" if isinstance(error, Timeout) else reason
        raise InputError(f"the data set {name} could not be fetched: {reason}; {dataset.advice(folders)}") from error


def load_dataset(name: str) -> pd.DataFrame | KeyedVectors:
    """A data set by its name.

    Parameters
    ----------
    name
        A name that ``bundled("datasets")`` shows, such as ``"weat_7_google"``. Some words of a large embedding take
        less memory with ``load_embedding(dataset_path(name), words=...)``.

    Returns
    -------
    DataFrame or KeyedVectors
        A distance table as :func:`read_distance_table` gives it, in which a pair of words counts once; a gensim
        KeyedVectors; of word lists one row a word with the columns ``list``, ``category`` and ``word``; of frequencies
        the columns ``word`` and ``count``; of documents a row each with ``text`` and covariates.

    Examples
    --------
    >>> from bayesbias.distances.datasets import load_dataset
    >>> load_dataset("sotu-addresses")[["year", "president", "party"]].tail(2)
         year       president       party
    231  2020  Donald J Trump  Republican
    232  2021  Joseph R Biden  Democratic
    >>> table = load_dataset("weat_7_google")  # doctest: +SKIP
    >>> bb.fit(table, "published", seed=0)  # doctest: +SKIP
    """
    import pandas as pd

    dataset, path = _found(name), dataset_path(name)
    if dataset.kind == "embedding":
        return load_embedding(path)
    if dataset.kind == "distance table":
        table = read_distance_table(path)
        if table.coverage is None:
            return table
        return DistanceTable(table, coverage=replace(table.coverage, source=dataset.source, doi=dataset.doi))
    if dataset.kind == "documents":
        frame = pd.read_parquet(path)
        frame.attrs["dataset"] = {"name": name, "source": dataset.source, "licence": dataset.licence}
        return frame
    if dataset.kind == "word lists":
        content = from_json(read_text(path))
        rows = [(key, part["category"], word) for key, part in content.items() for word in part["examples"]]
        return pd.DataFrame(rows, columns=["list", "category", "word"])
    lines = (line.rpartition(" ") for line in read_text(path).splitlines() if line)
    return pd.DataFrame([(word, int(count)) for word, _, count in lines], columns=["word", "count"])


def _found(name: str) -> _Dataset:
    known = registry()
    if not isinstance(name, str) or name not in known:
        kinds: dict[str, list[str]] = {}
        for key, entry in known.items():
            kinds.setdefault(entry.kind, []).append(key)
        valid = "; ".join(f"{kind}: {listed(names, 4)}" for kind, names in kinds.items())
        raise InputError(f"there is no data set {shown(name)}: valid are {valid} (bb.bundled('datasets') shows all)")
    return known[name]


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
    if not setting:
        return [_cache()]
    folder = home_folder(setting)
    if not folder.is_dir():
        raise InputError(f"{FOLDER} is {shown(setting)}, and there is no such folder: make it, or unset {FOLDER}")
    return [folder, _cache()]
