"""Correlations along the last axis."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from bayesbias._core.cosine import FloatArray


def ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """A quotient; NaN where there is nothing to divide by."""
    value: FloatArray = np.divide(above, below, out=np.full(np.shape(below), np.nan), where=below > 0)
    return value


def correlation(left: FloatArray, right: FloatArray) -> FloatArray:
    """Pearson's correlation; NaN where a side does not vary."""
    a, b = (side - side.mean(axis=-1, keepdims=True) for side in (left, right))
    return ratio((a * b).sum(axis=-1), np.sqrt((a**2).sum(axis=-1) * (b**2).sum(axis=-1)))


def spearman(left: FloatArray, right: FloatArray) -> FloatArray:
    """Spearman's correlation, ties at their mean rank; NaN where a side does not vary."""
    return correlation(rankdata(left, axis=-1), rankdata(right, axis=-1))
