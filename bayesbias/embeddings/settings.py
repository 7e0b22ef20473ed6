"""What an embedding was trained with, in memory and in its file."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbias._files import whole_file
from bayesbias.errors import InputError

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

ARRAYS = ("words", "vectors", "counts", "record")

type Record = dict[str, object]
"""All that trained vectors depend on: setting, options, size and hash of the text."""


class Setting(NamedTuple):
    """Corpus, algorithm, dimensions and seed of an embedding.

    A plain tuple of the four equals it, so vectors that were trained elsewhere can stand under
    ``("wiki", "glove", 100, 0)`` in the same mapping.

    Attributes
    ----------
    corpus
        Name of the text.
    algorithm
        Such as ``"sgns"`` (skip-gram with negative sampling) or ``"cbow"``.
    dims
        How many dimensions the vectors have.
    seed
        Seed of the first vectors and of all random choices.
    """

    corpus: str
    algorithm: str
    dims: int
    seed: int

    @property
    def label(self) -> str:
        """One line for tables and messages, such as ``wiki sgns 100 seed 0``."""
        return f"{self.corpus} {self.algorithm} {self.dims} seed {self.seed}"


def keyed_vectors(
    setting: Setting, words: list[str], vectors: NDArray[np.float32], counts: NDArray[np.int64]
) -> KeyedVectors:
    """Vectors (words, dims) with the counts of their words, named after their setting."""
    from gensim.models import KeyedVectors

    kv = KeyedVectors(setting.dims, dtype=np.float32)
    kv.add_vectors(words, vectors)
    kv.expandos["count"] = counts
    kv.bayesbias_name = setting.label
    return kv


def save_trained(kv: KeyedVectors, record: Record, file: Path) -> None:
    """Write vectors, counts and what they depend on, whole or not at all."""
    with whole_file(file) as temporary:
        np.savez(
            temporary,
            words=np.array(kv.index_to_key),
            vectors=kv.vectors,
            counts=kv.expandos["count"],
            record=np.array(json.dumps(record)),
        )


def load_trained(setting: Setting, record: Record, file: Path) -> KeyedVectors:
    """Vectors that :func:`save_trained` wrote.

    Raises
    ------
    InputError
        The file is damaged, no record of training is in it, or the record is another.
    """
    try:
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in ARRAYS if name in archive.files}
        found = json.loads(str(arrays.get("record", "{}")))
    except (ValueError, TypeError, EOFError, OSError, zipfile.BadZipFile, zlib.error) as error:
        raise _damaged(file, str(error)) from error
    if lacking := [name for name in ARRAYS if name not in arrays]:
        raise InputError(
            f"{file} lacks {', '.join(lacking)}, so it does not say what it was trained with: choose another folder"
        )
    words, vectors, counts = (arrays[name] for name in ARRAYS[:3])
    if not isinstance(found, dict) or len({len(words), len(vectors), len(counts)}) > 1:
        raise _damaged(file, "its arrays have different lengths, or its record is no table")
    if differing := _differences(found, record):
        raise InputError(f"{file} was trained in another way: {'; '.join(differing)}. Choose another folder")
    return keyed_vectors(setting, words.tolist(), vectors, counts)


def _damaged(file: Path, why: str) -> InputError:
    return InputError(f"{file} is damaged ({why}): delete it, and it is trained again")


def _differences(found: Mapping[str, object], asked: Mapping[str, object]) -> list[str]:
    """What a record says otherwise than is asked for now."""
    sizes = ("sentences", "words")
    plain = [key for key in asked if key not in (*sizes, "sha256") and found.get(key) != asked[key]]
    differing = [f"{key} was {found.get(key)!r} and is {asked[key]!r}" for key in plain]
    if found.get("sha256") != asked["sha256"]:
        then, now = (", ".join(f"{table.get(size)} {size}" for size in sizes) for table in (found, asked))
        differing.append(f"the text was another ({then}) and is now of {now}")
    return differing
