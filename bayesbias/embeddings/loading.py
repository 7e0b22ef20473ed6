"""``load_embedding``: whatever holds word vectors, as a checked gensim KeyedVectors."""

from __future__ import annotations

import logging
import os
import pickle
import tomllib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesbias._files import home_folder, shipped
from bayesbias._progress import progress
from bayesbias.embeddings.formats import Wanted, entries, is_pickle
from bayesbias.errors import InputError, listed
from bayesbias.words import WordLists

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

log = logging.getLogger("bayesbias")

BLOCK = 1_000
"""Vectors that are looked at together, so that a large embedding is never copied whole and a block stays in cache."""


type Embedding = str | os.PathLike[str] | KeyedVectors | Mapping[str, ArrayLike]
"""What an embedding can be given as."""


def load_embedding(
    source: Embedding,
    words: Iterable[str] | WordLists | None = None,
    trust_pickle: bool = False,
) -> KeyedVectors:
    """Word vectors as a gensim KeyedVectors.

    Parameters
    ----------
    source
        A bundled name (``"google-news-slice"``), the path of a file (word2vec binary or text, GloVe text, each
        also gzipped, or ``.npz`` with arrays ``words`` and ``vectors``), a KeyedVectors, or a mapping of word to
        vector. The format is found from the content. A gensim model is taken for its vectors, ``model.wv``.
    words
        Keep these words only (an iterable, or word lists); None keeps all. Words that are not there are no error:
        :func:`distance_table` reports them.
    trust_pickle
        Whether to open a Python pickle (gensim's ``.kv`` and ``.model``). Opening a pickle runs the code in it.

    Returns
    -------
    KeyedVectors
        float32 vectors in the order of the source. A KeyedVectors that needs no change is returned as it is. What is
        read from a file has its name in the attribute ``bayesbias_name``, which distance tables record.

    Raises
    ------
    InputError
        No such name or file; a pickle that is not trusted; a truncated, empty or damaged file; vectors of different
        lengths; NaN or infinite numbers; none of the words found.

    Warns
    -----
    UserWarning
        Of a word that occurs more than once the first vector is kept; words whose vector is all zeros are left out,
        because a zero vector has no direction.
    """
    wanted = _wanted(words)
    source = getattr(source, "wv", source)
    if isinstance(source, str | os.PathLike):
        tokens, vectors, name = _from_file(source, wanted, trust_pickle)
    elif isinstance(source, Mapping):
        tokens, vectors, name = _from_mapping(source, wanted)
    elif hasattr(source, "key_to_index") and hasattr(source, "vectors"):
        return _from_keyed_vectors(source, wanted)
    else:
        raise InputError(
            f"cannot read an embedding from {type(source).__name__}: "
            "give a bundled name, a path, a gensim KeyedVectors or a mapping of word to vector"
        )
    return _keyed_vectors(tokens, vectors, name)


def _wanted(words: Iterable[str] | WordLists | None) -> frozenset[str] | None:
    if words is None:
        return None
    if isinstance(words, WordLists):
        return frozenset(words.every_word())
    wanted = frozenset(words) if isinstance(words, Iterable) and not isinstance(words, str) else None
    if wanted is None or not all(isinstance(word, str) for word in wanted):
        kind = "one string, " if isinstance(words, str) else ""
        raise InputError(f"words is {kind}{words!r}: give a list of words, or word lists")
    return wanted


def list_embeddings() -> pd.DataFrame:
    """The bundled vectors: ``name``, ``vectors``, ``dimensions``, ``description``, ``source``, ``licence``, ``doi``."""
    import pandas as pd

    columns = ["name", "vectors", "dimensions", "description", "source", "licence", "doi"]
    return pd.DataFrame([{"name": name, **about} for name, about in _manifest().items()])[columns]


def zero_words(kv: KeyedVectors, words: Iterable[str]) -> list[str]:
    """Those of ``words``, all in ``kv``, whose vector is all zeros.

    Raises
    ------
    InputError
        A vector holds NaN or infinite numbers.
    """
    words = list(words)
    zero = []
    for begin in range(0, len(words), BLOCK):
        block = words[begin : begin + BLOCK]
        vectors = kv.vectors[[kv.key_to_index[word] for word in block]]
        zero += [block[at] for at in np.flatnonzero(~have_directions(block, vectors, "the embedding")).tolist()]
    return zero


def have_directions(words: Sequence[str], vectors: NDArray[Any], where: str) -> NDArray[np.bool_]:
    """Which vectors (words, dimensions) are not all zeros.

    Raises
    ------
    InputError
        A vector holds NaN or infinite numbers.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        squares = np.vecdot(vectors, vectors)
    some: NDArray[np.bool_] = np.isfinite(squares) & (squares > 0)
    # a square may overflow or vanish where the number does not: look closer there
    odd = np.flatnonzero(~some).tolist()
    bad = [words[at] for at in odd if not np.isfinite(vectors[at]).all()]
    if bad:
        raise InputError(f"{where}: the vectors of {_few(bad)} hold NaN or infinite numbers; repair or remove them")
    some[odd] = vectors[odd].any(axis=1)
    return some


def _manifest() -> dict[str, dict[str, Any]]:
    return tomllib.loads((shipped("data") / "manifest.toml").read_text(encoding="utf-8"))


def _from_file(
    source: str | os.PathLike[str], wanted: frozenset[str] | None, trust_pickle: bool
) -> tuple[list[str], list[NDArray[Any]], str]:
    manifest = _manifest()
    name = os.fspath(source)
    path = shipped("data") / manifest[name]["file"] if name in manifest else home_folder(name)
    if not path.is_file():
        raise InputError(
            f"there is no embedding {name!r}: give the path of a file or a bundled name ({', '.join(manifest)})"
        )
    if is_pickle(path):
        if not trust_pickle:
            raise InputError(
                f"{path} is a Python pickle, and opening a pickle runs the code in it: "
                "pass trust_pickle=True if you trust where it comes from, or save it as word2vec or .npz"
            )
        return _from_pickle(path, wanted)
    tokens: Wanted = None if wanted is None else frozenset(word.encode("utf-8") for word in wanted)
    found: list[bytes] = []
    vectors: list[NDArray[Any]] = []
    with progress(f"reading {path.name}", total=path.stat().st_size) as done:
        for token, vector in entries(path, tokens, done):
            found.append(token)
            vectors.append(vector if wanted is None else vector.copy())
    decoded = [token.decode("utf-8", errors="replace") for token in found]
    if damaged := sum("�" in word for word in decoded):
        log.info("%s: %d words are not valid UTF-8; their bad bytes are shown as �", path, damaged)
    return decoded, vectors, name if name in manifest else str(path)


def _from_pickle(path: Path, wanted: frozenset[str] | None) -> tuple[list[str], list[NDArray[Any]], str]:
    from gensim.utils import SaveLoad, unpickle

    try:
        loaded = unpickle(str(path))
        loaded = SaveLoad.load(str(path)) if isinstance(loaded, SaveLoad) else loaded
    except (pickle.UnpicklingError, EOFError, AttributeError, ImportError, IndexError, OSError) as error:
        raise InputError(f"{path} cannot be opened as a gensim pickle: {error}") from error
    kv = getattr(loaded, "wv", loaded)
    if not hasattr(kv, "key_to_index"):
        raise InputError(f"{path} holds a {type(loaded).__name__}, not gensim vectors")
    kept = [word for word in kv.index_to_key if wanted is None or word in wanted]
    return kept, [kv[word] for word in kept], str(path)


def _from_mapping(
    source: Mapping[str, ArrayLike], wanted: frozenset[str] | None
) -> tuple[list[str], list[NDArray[Any]], str]:
    kept = {word: vector for word, vector in source.items() if wanted is None or word in wanted}
    try:
        vectors = [np.asarray(vector, dtype=np.float32) for vector in kept.values()]
    except (TypeError, ValueError) as error:
        raise InputError(f"the mapping does not hold vectors of numbers: {error}") from error
    return list(kept), vectors, "the mapping"


def _from_keyed_vectors(source: KeyedVectors, wanted: frozenset[str] | None) -> KeyedVectors:
    kept = [word for word in source.index_to_key if wanted is None or word in wanted]
    if not kept:
        raise InputError("the embedding holds none of the words that were asked for")
    if not zero_words(source, kept) and len(kept) == len(source.index_to_key):
        return source
    rows = source.vectors[[source.key_to_index[word] for word in kept]]
    return _keyed_vectors(kept, list(rows), "the embedding")


def _keyed_vectors(tokens: list[str], vectors: list[NDArray[Any]], where: str) -> KeyedVectors:
    from gensim.models import KeyedVectors

    if not tokens:
        raise InputError(f"{where} holds no vector, or none of the words that were asked for")
    shapes = {np.shape(vector) for vector in vectors}
    if len(shapes) > 1 or len(next(iter(shapes))) != 1 or next(iter(shapes)) == (0,):
        odd = next((w for w, v in zip(tokens, vectors, strict=True) if np.shape(v) != np.shape(vectors[0])), tokens[0])
        raise InputError(
            f"{where}: all vectors must be 1-D and of one length, "
            f"found shapes {sorted(shapes)[:3]} (for instance the word {odd!r})"
        )
    first = {word: at for at, word in reversed(list(enumerate(tokens)))}
    if repeated := len(tokens) - len(first):
        _warn(f"{where}: {repeated} vectors belong to words seen before; the first vector of a word is kept")
    rows = sorted(first.values())
    matrix = np.stack([vectors[at] for at in rows]).astype(np.float32, copy=False)
    words = [tokens[at] for at in rows]
    some = have_directions(words, matrix, where)
    if not some.all():
        zero = [word for word, keep in zip(words, some, strict=True) if not keep]
        _warn(f"{where}: {_few(zero)} left out, because a vector of zeros has no direction")
        words, matrix = [word for word, keep in zip(words, some, strict=True) if keep], matrix[some]
    if not words:
        raise InputError(f"{where} holds only vectors of zeros")
    kv = KeyedVectors(vector_size=matrix.shape[1], dtype=np.float32)
    kv.add_vectors(words, matrix)
    kv.bayesbias_name = Path(where).name
    return kv


def _few(words: list[str], shown: int = 5) -> str:
    return listed([repr(word) for word in words], shown)


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=4)


def opened(kv: Embedding) -> KeyedVectors:
    """An embedding as it is, or loaded."""
    return kv if hasattr(kv, "key_to_index") else load_embedding(kv)
