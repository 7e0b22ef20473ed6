"""Embeddings that other libraries hold: tables, arrays with labels, spaCy, model2vec."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbias.errors import InputError, shown
from bayesbias.vectors.tables import real_vectors, rows_of_frame


class Arrays(NamedTuple):
    """Words and their vectors (words, d), and what messages call them."""

    words: list[str]
    vectors: NDArray[Any]
    where: str


def arrays_of(source: Any) -> Arrays | None:
    """Words and vectors of what another library holds; None of what no function here knows."""
    for is_of, read in LIBRARIES:
        if is_of(source):
            words, vectors, where = read(source)
            return Arrays(words, _real_matrix(words, vectors, where), where)
    return None


def _real_matrix(words: Sequence[object], vectors: Any, where: str) -> NDArray[Any]:
    """The vectors as a matrix with a row for each word, which is text."""
    try:
        matrix = np.asarray(vectors)
    except (TypeError, ValueError) as error:
        raise InputError(f"{where} holds no matrix of numbers: {error}") from error
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiu" or not matrix.shape[1]:
        raise InputError(
            f"{where} holds an array of {matrix.dtype} with the shape {matrix.shape}: a matrix of real numbers with a "
            "row for each word is needed"
        )
    if len(words) != len(matrix):
        raise InputError(f"{where} holds {len(words):,} words and {len(matrix):,} vectors: give as many")
    if odd := [i for i, word in enumerate(words) if not isinstance(word, str)]:
        raise InputError(f"{where}: word {odd[0] + 1} is {shown(words[odd[0]])}, which is no text")
    return matrix


def _frame(source: Any) -> tuple[list[str], Any, str]:
    where = "the DataFrame" if hasattr(source, "iloc") else "the table"
    if hasattr(source, "to_frame"):
        raise InputError(f"{type(source).__name__} is one column: give a DataFrame, such as series.to_frame('vector')")
    blocks = list(rows_of_frame(source, where))
    return [word for words, _ in blocks for word in words], np.concatenate([vectors for _, vectors in blocks]), where


def _labelled(source: Any) -> tuple[list[str], Any, str]:
    """A DataArray of two dimensions, one of which has the words as its labels."""
    where = "the DataArray"
    of_text = [str(dim) for dim in source.dims if dim in source.coords and source[dim].dtype.kind in "UOT"]
    if len(source.dims) != 2 or len(of_text) != 1:
        raise InputError(
            f"{where} has the dimensions {', '.join(map(str, source.dims))}: two are needed, one with the words as its "
            "labels"
        )
    turned = source.transpose(of_text[0], ...)
    return turned[of_text[0]].to_numpy().tolist(), turned.to_numpy(), where


def _pair(source: Any) -> tuple[list[str], Any, str]:
    words, vectors, where = list(source[0]), source[1], "the pair of words and vectors"
    if isinstance(vectors, list | tuple) and len(words) == len(vectors):
        vectors = real_vectors(words, vectors, where)
    return words, vectors, where


def _is_pair(source: Any) -> bool:
    if not isinstance(source, tuple | list) or len(source) != 2:
        return False
    rows = source[1]
    return (isinstance(rows, list | tuple) and len(rows) > 0 and np.iterable(rows[0])) or np.ndim(rows) == 2


def _spacy(source: Any) -> tuple[list[str], Any, str]:
    """Vectors, a vocabulary or a pipeline of spaCy: words are kept by hash, and several may have one row."""
    vocabulary = getattr(source, "vocab", source)
    vectors = getattr(vocabulary, "vectors", vocabulary)
    where = "the vectors of spaCy"
    if not len(vectors.key2row):
        raise InputError(
            f"{where} hold no word: a pipeline such as en_core_web_md has some, one that ends in sm has none"
        )
    strings = getattr(vocabulary, "strings", None) or vectors.strings
    known = [(strings[key], row) for key, row in vectors.key2row.items() if key in strings]
    return [word for word, _ in known], np.asarray(vectors.data)[[row for _, row in known]], where


def _model2vec(source: Any) -> tuple[list[str], Any, str]:
    """The tokens of a static model with their weighted vectors; words of several tokens are for ``encode``."""
    vectors = static_vectors(len(source.tokens), source.embedding, source.token_mapping, source.weights)
    return list(source.tokens), np.asarray(vectors, dtype=np.float32), "the model2vec model"


def static_vectors(words: int, embedding: Any, mapping: Any, weights: Any) -> Any:
    """The vectors of the first tokens of a static model, each in a row of its own or one that a mapping names."""
    vectors = embedding[:words] if mapping is None else embedding[mapping[:words]]
    return vectors if weights is None else np.multiply(vectors, weights[:words, None], dtype=np.float32)


def _has(*names: str) -> Callable[[Any], bool]:
    return lambda source: all(hasattr(source, name) for name in names)


LIBRARIES: tuple[tuple[Callable[[Any], bool], Callable[[Any], tuple[list[str], Any, str]]], ...] = (
    (_has("dims", "coords", "transpose", "to_numpy"), _labelled),
    (_has("__arrow_c_stream__"), _frame),
    (
        lambda source: (
            _has("vocab", "pipe_names")(source) or _has("key2row")(source) or _has("vectors", "strings")(source)
        ),
        _spacy,
    ),
    (_has("embedding", "tokens", "token_mapping"), _model2vec),
    (_is_pair, _pair),
)
"""How an object of each library is known, and how it is read."""
