"""A sample of an embedding's vocabulary: which words it holds, and that of an embedding of which a part is loaded."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from bayesbias._core.vectors import FloatArray, IntArray

SAMPLE = 3000
FREQUENT = 20_000  # the most frequent words of a file that is ordered by frequency: this many of its first words
LOOKED_AT = 200
SHORTER = 1.5  # how many letters the first words of a file ordered by frequency are shorter than others, on average
# least standard deviation of the kernel around a listed word's place in the file, in natural logarithms of places
NARROWEST = 0.25
# share of the sample that is spread evenly over the logarithms of all places, so that none has the rate 0
ANYWHERE = 0.001
STEPS = 512  # points of the logarithm of places at which that density is computed
ATTRIBUTE = "bayesbias_sample"  # name of the sample on an embedding of which a part is loaded


@dataclass(frozen=True, eq=False)
class VocabularySample:
    """A sample of the words of an embedding of which only some are loaded."""

    # the sampled words, in the order of the file; none of them is among those that were asked for
    words: tuple[str, ...]
    vectors: NDArray[np.float32]  # their vectors (words, dimensions)
    kind: str  # how they were drawn: ``"ranks"`` or ``"random"``, as in :class:`Relatedness`
    size: int  # number of words of the whole embedding
    # place in the file, from 0, of each sampled word and of each word that was asked for; empty where the file is not
    # ordered by frequency
    places: Mapping[str, int]


def sample_of(kv: KeyedVectors) -> VocabularySample | None:
    """The sample of the vocabulary that an embedding carries; None where it is whole or carries none."""
    return getattr(kv, ATTRIBUTE, None)


def drawn_rows(
    keys: Sequence[str],
    listed_keys: Collection[str],
    sample: int,
    seed: int,
    followed: Sequence[IntArray] | None = None,
) -> tuple[IntArray, str]:
    """Rows of words outside of lists in the order in which they are drawn, more than asked for, and how they are drawn.

    Words are drawn by a hash of their letters and the seed, so that two vocabularies are sampled at the same words:
    ``"ranks"`` where the file is ordered by frequency and they follow the ranks of the words of some lists (their
    rows), ``"frequent"`` where they are of the most frequent words there, ``"random"`` where they are of all words.
    """
    ordered = len(keys) > sample + len(listed_keys) and ordered_by_frequency(keys)
    kind = "random" if not ordered else "frequent" if followed is None else "ranks"
    places = range(min(len(keys), FREQUENT + len(listed_keys)) if kind == "frequent" else len(keys))
    outside = np.array([place for place in places if keys[place] not in listed_keys], dtype=np.intp)
    if len(outside) <= sample:
        return outside, "random" if len(outside) < FREQUENT else kind
    waits: NDArray[Any] = _scrambled([keys[row] for row in outside.tolist()], seed)
    if kind == "ranks":
        # exponential numbers with these rates, of which the smallest are drawn one by one, in proportion to the rates
        uniform = (waits.astype(float) + 1) / 2.0**64
        waits = -np.log(uniform) / _rates_of_places(len(keys), followed or ())[outside]
    order = np.argsort(waits, kind="stable")
    # vectors without a direction are passed over: more words are drawn than needed
    return outside[order[: 2 * sample]], kind


def _rates_of_places(size: int, followed: Sequence[IntArray]) -> FloatArray:
    """How likely a word of each place (size,) of a file is drawn, so that the sample follows the places of lists.

    The density of the logarithm of places is the mean over lists of Gaussian kernels around their words', and in a
    small part the same everywhere. The kernels' width is Silverman's for all words together. A word's rate is that
    density over its place, since there are as many words within a step of the logarithm as their place is large.

    Silverman, B. W. (1986). Density estimation for statistics and data analysis. Chapman and Hall.
    https://doi.org/10.1201/9781315140919
    """
    ends = np.log(size + 0.5)
    points, places = np.linspace(0, ends, STEPS), np.arange(1, size + 1)
    lists = [np.log(rows + 1.0) for rows in followed if len(rows)]
    near = np.zeros(STEPS)
    if lists:
        every = np.concatenate(lists)
        width = max(NARROWEST, 0.9 * float(every.std()) * len(every) ** -0.2)
        kernels = [np.exp(-0.5 * ((points[:, None] - centres) / width) ** 2).mean(axis=1) for centres in lists]
        near = np.mean(kernels, axis=0) / (width * np.sqrt(2 * np.pi))
    density = (1 - ANYWHERE) * near + ANYWHERE / ends
    result: FloatArray = np.interp(np.log(places), points, density) / places
    return result


def directed(kv: KeyedVectors, rows: IntArray) -> IntArray:
    """The rows whose vectors have a direction."""
    vectors = kv.vectors[rows]
    usable: IntArray = rows[np.isfinite(vectors).all(axis=1) & vectors.any(axis=1)]
    return usable


def thinned(words: Sequence[str], most: int, seed: int) -> IntArray:
    """Places of some of the words, ascending, drawn by a hash; of all where there are no more than asked for."""
    if len(words) <= most:
        return np.arange(len(words))
    return np.sort(np.argsort(_scrambled(words, seed), kind="stable")[:most])


def _scrambled(words: Sequence[str], seed: int) -> NDArray[np.uint64]:
    """A hash of each word, mixed with a seed as in the generator splitmix64."""
    encoded = "\n".join(words).encode("utf-8", "surrogatepass").split(b"\n")  # much faster than one by one
    if len(encoded) != len(words):
        encoded = [word.encode("utf-8", "surrogatepass") for word in words]
    codes = np.fromiter(map(crc32, encoded), dtype=np.uint64, count=len(words))
    start = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]
    mixed = codes * np.uint64(0x9E3779B97F4A7C15) + start
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    scrambled: NDArray[np.uint64] = mixed ^ (mixed >> np.uint64(31))
    return scrambled


def ordered_by_frequency(keys: Sequence[str]) -> bool:
    """Whether words seem to be ordered by frequency: frequent ones are short (Zipf 1935), not in alphabetical order."""
    first = [key for key in keys[: 10 * LOOKED_AT] if key.isalpha()][:LOOKED_AT]
    later = [key for key in keys[len(keys) // 2 :: max(1, len(keys) // 4000)] if key.isalpha()]
    if len(first) < LOOKED_AT or len(later) < LOOKED_AT:
        return False
    ascending = np.mean([a <= b for a, b in pairwise(first)])
    shorter = np.mean([len(key) for key in later]) - np.mean([len(key) for key in first])
    return bool(shorter > SHORTER and ascending < 0.8)
