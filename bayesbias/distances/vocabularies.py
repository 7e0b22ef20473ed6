"""``relatedness``: a sample of the vocabulary, and what it tells about word lists."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from bayesbias._checks import whole_number
from bayesbias._core.related import PairSample, sample_pairs, similarity_bins, variograms
from bayesbias._core.vectors import FloatArray, unit_rows
from bayesbias.distances.covariances import ENOUGH, FREQUENT, LEAST, Relatedness
from bayesbias.distances.storage import relatedness_in_fit, relatedness_of
from bayesbias.embeddings import Case, Embedding, about, find_words, opened
from bayesbias.errors import InputError
from bayesbias.words import WordLists, load_words

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from gensim.models import KeyedVectors

SAMPLE = 3000
ROWS = 10_000
"""Vectors that are scaled together."""
LOOKED_AT = 200
SHORTER = 1.5
"""How many letters the first words of a file ordered by frequency are shorter than others, on average."""


def relatedness(
    kv: Embedding | pd.DataFrame | xr.DataTree,
    words: WordLists | str | Path | None = None,
    sample: int = SAMPLE,
    seed: int = 0,
    case: Case = "as-is",
) -> Relatedness:
    """How the distances of alike words are correlated, read off the vectors.

    Parameters
    ----------
    kv
        The embedding, or what :func:`load_embedding` takes. A distance table or a fit gives the relatedness that it
        carries.
    words
        Word lists, or what :func:`load_words` takes; not with a table or a fit.
    sample
        Words of the vocabulary to sample, outside of the lists: from the 20,000 most frequent ones where the file is
        ordered by frequency (its first words are much shorter than the others, and not in alphabetical order), else
        from all. They are drawn by a hash of their letters, so that two embeddings are sampled at the same words.
    seed
        Seed of the sample.
    case
        As in :func:`distance_table`.

    Returns
    -------
    Relatedness
        Its :meth:`~Relatedness.covariance`, :meth:`~Relatedness.effective_words` and :meth:`~Relatedness.variogram`.

    Raises
    ------
    InputError
        Fewer than 50 words outside of the lists; a list of which no word is found; a table or a fit without
        relatedness.

    Warns
    -----
    UserWarning
        Fewer than 400 words outside of the lists: variances are then made larger.

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> related = bb.relatedness(kv, "weat7")
    >>> related.effective_words()[["list", "words"]].head(2)
       list  words
    0  math      8
    1  arts      8
    """
    carried = carried_relatedness(kv)
    if carried is not None:
        if words is not None:
            raise InputError("a table or a fit carries its own relatedness: leave words out, or give an embedding")
        return carried
    if words is None:
        raise InputError("words are missing: give word lists, their name or the path of their file")
    lists = words if isinstance(words, WordLists) else load_words(words)
    found = measured_relatedness(opened(kv), lists, whole_number(sample, "sample", LEAST), seed, case)
    if isinstance(found, str):
        raise InputError(found)
    if found.sampled < ENOUGH:
        warnings.warn(few_words(found), UserWarning, stacklevel=2)
    return found


def few_words(found: Relatedness) -> str:
    """A warning about a small sample."""
    return (
        f"only {found.sampled} words of the vocabulary lie outside of the lists, fewer than {ENOUGH}: their covariance "
        f"is known badly, and intervals are made {np.sqrt(found.inflation):.2f} times as wide"
    )


def carried_relatedness(holder: object) -> Relatedness | None:
    """The relatedness that a table or a fit carries; None for an embedding.

    Raises
    ------
    InputError
        A table or a fit without one.
    """
    import pandas as pd
    import xarray as xr

    if isinstance(holder, pd.DataFrame):
        found = relatedness_of(holder)
    elif isinstance(holder, xr.DataTree):
        found = relatedness_in_fit(holder)
    else:
        return None
    if found is None:
        raise InputError(
            "this carries no relatedness: make the table with distance_table(kv, words), or give the embedding"
        )
    return found


def measured_relatedness(kv: KeyedVectors, lists: WordLists, sample: int, seed: int, case: Case) -> Relatedness | str:
    """The relatedness of word lists in an embedding, or the reason why there is none."""
    looked = find_words(kv, lists.every_word(), case)
    protected = [word for word in lists.group_of if word in looked.keys]
    entries = tuple(
        (name, kind, tuple(word for word in words if word in looked.keys))
        for kind, lists_of_kind in lists.by_kind
        for name, words in lists_of_kind.items()
        if any(word in looked.keys for word in words)
    )
    attributes = list(dict.fromkeys(word for _, kind, words in entries if kind != "protected" for word in words))
    seed = whole_number(seed, "seed", least=0)
    chosen, kind = sampled_rows(kv, set(looked.keys.values()), sample, seed)
    if len(chosen) < LEAST:
        return (
            f"the embedding holds {len(chosen)} words outside of the lists, and relatedness needs {LEAST}: give the "
            "whole embedding, not only the vectors of the lists"
        )
    vectors = unit_rows(kv.vectors[chosen])
    half = [half_units(looked.of(words)) for words in (protected, attributes)]
    centre = vectors.mean(axis=0).astype(np.float32).astype(float)
    units = unit_rows(vectors - centre)
    pairs = sample_pairs(units, np.random.default_rng([seed, 1]))
    scatter = -(half[0].astype(float) @ vectors.T)
    scatter -= scatter.mean(axis=1, keepdims=True)
    means = _list_means(entries, attributes, half[1])
    ranked = [
        *(int(row) for row in chosen),
        *(kv.key_to_index[looked.keys[word]] for word in (*protected, *attributes)),
    ]
    return Relatedness(
        embedding=about(kv),
        kind=kind,
        seed=seed,
        sample_words=tuple(kv.index_to_key[row] for row in chosen),
        lists=entries,
        protected_words=tuple(protected),
        attribute_words=tuple(attributes),
        protected=half[0],
        attributes=half[1],
        centre=centre,
        scatter=scatter.astype(np.float16),
        pairs=pairs,
        protected_correlation=_correlation_of_words(half[0].astype(float) - centre, means, vectors, pairs),
        ranks=np.array(ranked, dtype=np.int32) if ordered_by_frequency(kv.index_to_key) else None,
    )


def half_units(vectors: FloatArray) -> NDArray[np.float16]:
    """Unit vectors in half precision, by blocks of rows."""
    half = np.empty(vectors.shape, dtype=np.float16)
    for begin in range(0, len(vectors), ROWS):
        half[begin : begin + ROWS] = unit_rows(vectors[begin : begin + ROWS])
    return half


def _list_means(
    entries: Iterable[tuple[str, str, tuple[str, ...]]], attributes: list[str], vectors: NDArray[np.float16]
) -> FloatArray:
    """Mean vectors (lists, d) of the attribute lists, less what they share where there are several."""
    place = {word: at for at, word in enumerate(attributes)}
    means = np.stack(
        [
            vectors[[place[word] for word in words]].mean(axis=0, dtype=float)
            for _, kind, words in entries
            if kind != "protected"
        ]
    )
    return means - means.mean(axis=0) if len(means) > 1 else means


def _correlation_of_words(
    apart: FloatArray, means: FloatArray, vectors: FloatArray, pairs: PairSample
) -> NDArray[np.float32]:
    """Correlation (J, J) of protected words' distances to attribute lists, by the words' similarity."""
    fields = means @ vectors.T
    fields -= fields.mean(axis=1, keepdims=True)
    spread = fields.std(axis=1)
    fields = fields[spread > 0] / spread[spread > 0, None]
    lengths = np.linalg.norm(apart, axis=1, keepdims=True)
    units = np.divide(apart, lengths, out=np.zeros_like(apart), where=lengths > 0)
    found = variograms(fields, pairs).mean(axis=0)[similarity_bins(units @ units.T)]
    found[np.diag_indices(len(found))] = 1.0
    return found.astype(np.float32)


def sampled_rows(kv: KeyedVectors, listed_keys: set[str], sample: int, seed: int) -> tuple[NDArray[np.intp], str]:
    """Rows of sampled words outside of the lists, in the order of the file, and how they were sampled.

    Words are drawn by a hash of their letters and the seed, so that two vocabularies are sampled at the same words.
    """
    keys = kv.index_to_key
    kind = "frequent" if len(keys) > sample + len(listed_keys) and ordered_by_frequency(keys) else "random"
    places = range(min(len(keys), FREQUENT + len(listed_keys)) if kind == "frequent" else len(keys))
    outside = np.array([at for at in places if keys[at] not in listed_keys], dtype=np.intp)
    if len(outside) <= sample:
        return _directed(kv, outside), "random" if len(outside) < FREQUENT else kind
    codes = np.array([crc32(keys[at].encode("utf-8", "surrogatepass")) for at in outside], dtype=np.uint64)
    # vectors without a direction are passed over: more words are drawn than needed
    drawn = outside[np.argsort(_scrambled(codes, seed), kind="stable")[: 2 * sample]]
    return np.sort(_directed(kv, drawn)[:sample]), kind


def _directed(kv: KeyedVectors, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """The rows whose vectors have a direction."""
    vectors = kv.vectors[rows]
    kept: NDArray[np.intp] = rows[np.isfinite(vectors).all(axis=1) & vectors.any(axis=1)]
    return kept


def _scrambled(codes: NDArray[np.uint64], seed: int) -> NDArray[np.uint64]:
    """Codes mixed with a seed, as in the generator splitmix64."""
    start = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]
    mixed = codes * np.uint64(0x9E3779B97F4A7C15) + start
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    scrambled: NDArray[np.uint64] = mixed ^ (mixed >> np.uint64(31))
    return scrambled


def ordered_by_frequency(keys: Sequence[str]) -> bool:
    """Whether words seem to be ordered by frequency: frequent words are short, and not in alphabetical order.

    References
    ----------
    Zipf, G. K. (1935). The psycho-biology of language. Houghton Mifflin.
    """
    first = [key for key in keys[: 10 * LOOKED_AT] if key.isalpha()][:LOOKED_AT]
    later = [key for key in keys[len(keys) // 2 :: max(1, len(keys) // 4000)] if key.isalpha()]
    if len(first) < LOOKED_AT or len(later) < LOOKED_AT:
        return False
    ascending = np.mean([a <= b for a, b in pairwise(first)])
    shorter = np.mean([len(key) for key in later]) - np.mean([len(key) for key in first])
    return bool(shorter > SHORTER and ascending < 0.8)
