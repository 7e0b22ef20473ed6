"""WEAT from its words' s, the mean cosine with one attribute set less that with another."""

from __future__ import annotations

import numpy as np

from bayesbias._core.vectors import FloatArray

NO_SPREAD = 1e-12  # standard deviation of s up to which there is no effect size


def known_mean(values: FloatArray, axis: int = -1) -> FloatArray:
    """Mean along an axis over the values that are known (not NaN); NaN where there is none."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        mean: FloatArray = np.where(known, values, 0).sum(axis=axis) / known.sum(axis=axis)
    return mean


def sum_statistic(first: FloatArray, second: FloatArray) -> FloatArray:
    """Sum of s over the first target set less that over the second, along the last axis."""
    return first.sum(axis=-1) - second.sum(axis=-1)


def effect_size(first: FloatArray, second: FloatArray, axis: int = -1) -> FloatArray:
    """Difference of the means of s over its population standard deviation over both sets, along an axis.

    Words whose s is not known (NaN) are left out. NaN where s does not vary.
    """
    both = np.concatenate([first, second], axis=axis)
    spread = np.sqrt(known_mean((both - np.expand_dims(known_mean(both, axis), axis)) ** 2, axis))
    with np.errstate(invalid="ignore", divide="ignore"):
        size = (known_mean(first, axis) - known_mean(second, axis)) / spread
    return np.where(spread > NO_SPREAD, size, np.nan)
