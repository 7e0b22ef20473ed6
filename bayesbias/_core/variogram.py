"""How distances to alike words are correlated: components of the protected side, a variogram for each.

A word's distances to J protected words are a point of J dimensions. Over a sample of the vocabulary these points have a
covariance, whose components are fields on the vocabulary: the variogram of a field tells the correlation of two words'
values from the similarity of the words. Both are read off vectors; no parameter is fitted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesbias._core.cosine import FloatArray

IntArray = NDArray[np.intp]

STEP = 0.01
BINS = 200
MIDDLES = -1 + STEP * (np.arange(BINS) + 0.5)
"""Similarities in the middle of the bins, from -1 to 1."""
WIDTH = 0.05
"""Standard deviation of the smoothing kernel, in similarity."""
PAIRS = 1000
"""Pairs of sampled words that are kept for each bin."""
FEWEST = 5
"""Smoothed number of pairs below which a bin says nothing."""
NEGLIGIBLE = 1e-10
"""Components with less than this share of the largest variance are rounding."""
BLOCK = 512
COARSE = 2
"""Bins of similarity that are taken together to count the partners of a word."""
MOST_WORDS = 1500
"""Words of a list beyond which its mean similarity to another is estimated from as many, drawn at random."""


@dataclass(frozen=True)
class PairSample:
    """Pairs of sampled words, at most some for each bin of similarity.

    Attributes
    ----------
    first, second
        Places of the two words in the sample, (pairs,).
    bins
        Bin of similarity of each pair, (pairs,).
    counts
        How many pairs of all fell into each bin, (BINS,).
    weights
        What each pair counts for, (pairs,).
    """

    first: IntArray
    second: IntArray
    bins: IntArray
    counts: IntArray
    weights: NDArray[np.float32]


@dataclass(frozen=True)
class Components:
    """Components of the protected side.

    Attributes
    ----------
    variances
        (Q,), the largest first.
    loadings
        (J, Q), orthonormal columns.
    correlations
        The variogram: (Q, BINS), correlation of two words' values by the similarity of the words.
    """

    variances: FloatArray
    loadings: FloatArray
    correlations: FloatArray


def similarity_bins(similarity: NDArray[np.floating]) -> IntArray:
    """Bins of similarities in [-1, 1]."""
    return np.clip(((similarity + 1) / STEP).astype(np.intp), 0, BINS - 1)


def sample_pairs(units: NDArray[np.floating], rng: np.random.Generator, most: int = PAIRS) -> PairSample:
    """Pairs of words, every bin of similarity with at most about ``most`` of its pairs, drawn at random.

    A pair has the weight that makes every word of a bin count the same, whatever the number of its partners there.
    Otherwise dense regions of a vocabulary, such as names and numbers, would dominate the large similarities.

    Parameters
    ----------
    units
        Centred unit vectors (N, d) of the sampled words.
    """
    single = units.astype(np.float32)
    size = len(single)
    blocks = [np.arange(begin, min(begin + BLOCK, size)) for begin in range(0, size, BLOCK)]
    found: list[tuple[IntArray, IntArray, IntArray]] = []
    partners = np.empty((size, BINS // COARSE), dtype=np.float32)
    for rows in blocks:
        bins = similarity_bins(single[rows] @ single.T)
        place = (BINS // COARSE) * np.arange(len(rows))[:, None] + bins // COARSE
        counts = np.bincount(place.ravel(), minlength=len(rows) * (BINS // COARSE))
        partners[rows] = counts.reshape(len(rows), -1)
        places, others = np.nonzero(np.arange(size) > rows[:, None])
        found.append((rows[places], others, bins[places, others]))
    counts = np.sum([np.bincount(own, minlength=BINS) for _, _, own in found], axis=0)
    kept = [rng.random(len(own), dtype=np.float32) < (most / np.maximum(counts, most))[own] for _, _, own in found]
    first, second, bins = (
        np.concatenate([part[column][chosen] for part, chosen in zip(found, kept, strict=True)]) for column in range(3)
    )
    drawn = np.bincount(bins, minlength=BINS)
    thinned = np.divide(counts, drawn, out=np.zeros(BINS), where=drawn > 0)[bins]
    partners[:, (BINS - 1) // COARSE] -= 1  # a word with itself
    near = np.maximum(partners @ _window(COARSE * STEP, WIDTH).astype(np.float32) / COARSE, 0.5)
    weights = thinned * (1 / near[first, bins // COARSE] + 1 / near[second, bins // COARSE]) / 2
    return PairSample(first, second, bins, counts, weights.astype(np.float32))


def components_of(scatter: FloatArray, pairs: PairSample, width: float = WIDTH) -> Components:
    """Components and variograms of the distances (J, N) of J protected words to N sampled words, rows centred."""
    variances, loadings = np.linalg.eigh(scatter @ scatter.T / scatter.shape[1])
    kept = np.flatnonzero(variances > NEGLIGIBLE * max(variances[-1], np.finfo(float).tiny))[::-1]
    variances, loadings = variances[kept], loadings[:, kept]
    fields = loadings.T @ scatter / np.sqrt(variances)[:, None]
    return Components(variances, loadings, variograms(fields, pairs, width))


def variograms(fields: FloatArray, pairs: PairSample, width: float = WIDTH) -> FloatArray:
    """Correlations (Q, BINS) of standardised fields (Q, N) by similarity, smoothed.

    Bins beyond the largest similarity that was met lead in a straight line to 1, a word with itself; bins below the
    smallest one have its value. The curve is then moved towards or away from 1 so that its mean over all pairs is
    -1 / (N - 1), as it must be for values whose mean is 0: the mean of many random words is known exactly.
    """
    weights = pairs.weights.astype(float)
    total = np.stack(
        [np.bincount(pairs.bins, weights * field[pairs.first] * field[pairs.second], BINS) for field in fields]
    )
    smooth = _window(STEP, width)
    pooled, mass = smooth @ pairs.counts, smooth @ np.bincount(pairs.bins, weights, BINS)
    met = np.flatnonzero((pooled >= min(FEWEST, pooled.max())) & (mass > 0))
    values = np.clip((total @ smooth.T)[:, met] / mass[met], -1, 1)
    ends = np.append(MIDDLES[met], 1.0)
    curves = np.stack([np.interp(MIDDLES, ends, np.append(row, 1.0)) for row in values])
    apart = 1 - curves @ pairs.counts / pairs.counts.sum()
    moved: FloatArray = 1 - (1 - curves) * ((1 + 1 / (fields.shape[1] - 1)) / apart)[:, None]
    return np.clip(moved, -1, 1)


def _window(step: float, width: float) -> FloatArray:
    """Weights of a Gaussian window of similarity between bins of that width, for [-1, 1]."""
    middles = -1 + step * (np.arange(round(2 / step)) + 0.5)
    window: FloatArray = np.exp(-0.5 * ((middles[:, None] - middles) / max(width, step / 10)) ** 2)
    return np.where(window > 1e-4, window, 0.0)


def list_overlaps(
    member: NDArray[np.bool_], units: NDArray[np.floating], seed: int = 0, places: IntArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Similarities between the words of lists: for each two lists, how pairs of different words spread over the bins.

    Parameters
    ----------
    member
        Which word is in which list, (lists, W); no list is empty.
    units
        Centred unit vectors (W, d).
    places
        Row of ``units`` of each word, (W,), where there are more rows or they have another order.

    Returns
    -------
    tuple
        The share of pairs (w, w') with w = w', (lists, lists), and the shares of the other pairs by bin,
        (lists, lists, BINS); the two add up to 1. Of lists longer than :data:`MOST_WORDS` the latter is estimated
        from words drawn at random, so that the work grows with the words, not with their pairs.
    """
    n = member.sum(axis=1)
    same = (member.astype(float) @ member.T.astype(float)) / np.outer(n, n)
    kept = _thinned(member, seed)
    own, vectors = member[:, kept], units[kept if places is None else places[kept]].astype(np.float32)
    bins = similarity_bins(vectors @ vectors.T)
    bins[np.diag_indices(len(bins))] = BINS  # a word with itself counts apart
    rows = (BINS + 1) * np.arange(len(bins))[:, None]
    shares = np.empty((len(member), len(member), BINS))
    for at, listed in enumerate(own):
        by_word = np.bincount((rows + bins[:, listed]).ravel(), minlength=(BINS + 1) * len(bins))
        shares[:, at] = own.astype(float) @ by_word.reshape(len(bins), BINS + 1)[:, :BINS]
    total = shares.sum(axis=2, keepdims=True)
    return same, np.divide(shares, total, out=np.zeros_like(shares), where=total > 0) * (1 - same[:, :, None])


def _thinned(member: NDArray[np.bool_], seed: int) -> IntArray:
    """The words, or where lists are long, of each kind of word (in the same lists) as many as needed."""
    if member.shape[1] <= MOST_WORDS:
        return np.arange(member.shape[1])
    rng = np.random.default_rng(seed)
    kinds = np.unique(member, axis=1, return_inverse=True)[1].ravel()
    kept = [rng.permutation(np.flatnonzero(kinds == kind))[:MOST_WORDS] for kind in np.unique(kinds)]
    return np.sort(np.concatenate(kept))


def list_correlations(correlations: FloatArray, same: FloatArray, shares: FloatArray) -> FloatArray:
    """Mean correlation (Q, lists, lists) of the words of two lists in each component, positive semi-definite."""
    return positive(shares @ correlations.T + same[:, :, None], axis=-1)


def positive(matrices: FloatArray, axis: int = 0) -> FloatArray:
    """Symmetric matrices, stacked along an axis, with negative eigenvalues set to 0; the stack comes first."""
    stacked = np.moveaxis(matrices, axis, 0)
    stacked = (stacked + np.swapaxes(stacked, 1, 2)) / 2
    values, vectors = np.linalg.eigh(stacked)
    if (values >= 0).all():
        return stacked
    return (vectors * np.maximum(values, 0)[:, None, :]) @ np.swapaxes(vectors, 1, 2)


def cell_covariance(parts: Components, correlations: FloatArray, word: IntArray, listed: IntArray) -> FloatArray:
    """Covariance (cells, cells) of cells' mean distances.

    Parameters
    ----------
    parts
        Components of the protected words.
    correlations
        (Q, lists, lists), from :func:`list_correlations`.
    word, listed
        Protected word and list of each cell, (cells,).
    """
    loadings = parts.loadings[word] * np.sqrt(parts.variances)
    total = np.zeros((len(word), len(word)))
    for at, column in enumerate(loadings.T):
        total += np.outer(column, column) * correlations[at][np.ix_(listed, listed)]
    return total
