"""Nearness of words to the protected words: where a list's words lie, and rates and weights that follow them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayesbias.numerics.arrays import FloatArray

BANDWIDTH = 0.3  # width of the kernels, in standard deviations of nearness over the vocabulary
MOST = 20.0  # times that a word is drawn more often than it would be otherwise, or counts for more, at most
SHARE = 0.95  # share of a sample that follows the nearness of lists; the rest is drawn from the whole vocabulary
LEAST = 1e-3  # weight that every sampled word has at least, where the mean is about 1
LEAST_WORDS = 100  # effective size of a weighted sample, below which its weights are made more equal
FLATTER = 0.9  # power that makes them so
POINTS = 200  # at which densities are computed
EMPTY = 1e-12


def density_ratio(at: FloatArray, vocabulary: FloatArray, lists: Sequence[FloatArray]) -> FloatArray:
    """Density of the words of lists over that of the vocabulary at each nearness (n,), at most 20.

    Both densities are Gaussian kernel estimates; each list weighs the same.
    """
    width = BANDWIDTH * float(vocabulary.std())
    if not width > 0:
        return np.ones_like(at)
    every = np.concatenate(lists)
    weights = np.concatenate([np.full(len(words), 1 / (len(words) * len(lists))) for words in lists])
    points = np.linspace(min(at.min(), every.min()), max(at.max(), every.max()), POINTS)
    ratio = (_kernels(points, every, width) @ weights) / np.maximum(_kernels(points, vocabulary, width).mean(1), EMPTY)
    result: FloatArray = np.minimum(np.interp(at, points, ratio), MOST)
    return result


def _kernels(points: FloatArray, centres: FloatArray, width: float) -> FloatArray:
    kernels: FloatArray = np.exp(-0.5 * ((points[:, None] - centres) / width) ** 2)
    return kernels


def drawing_rates(at: FloatArray, vocabulary: FloatArray, lists: Sequence[FloatArray]) -> FloatArray:
    """Factors (n,) on the rates at which words of some nearness are drawn, so that most are near."""
    return 1 - SHARE + SHARE * density_ratio(at, vocabulary, lists)


def near_weights(sample: FloatArray, lists: Sequence[FloatArray]) -> FloatArray:
    """Weights (N,) of sampled words, with mean 1, under which they are as near as the words of lists."""
    weights = np.maximum(density_ratio(sample, sample, lists), LEAST)
    return weights / weights.mean()


def flattened(weights: FloatArray) -> FloatArray:
    """The weights (N,), with mean 1, made more equal until their effective sample size is 100, or all there are."""
    while effective_size(weights) < min(LEAST_WORDS, len(weights)):
        weights = weights**FLATTER
        if np.ptp(weights) < EMPTY:
            break
    return weights / weights.mean()


def effective_size(weights: FloatArray) -> float:
    """Effective sample size: of equal weights, the number of words (Kish 1965, Survey Sampling)."""
    return float(weights.sum() ** 2 / (weights**2).sum())
