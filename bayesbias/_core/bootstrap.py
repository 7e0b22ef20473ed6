"""Intervals of means, of shares, and of what is drawn with replacement."""

from __future__ import annotations

import numpy as np
from scipy.stats import beta, t

from bayesbias._core.cosine import FloatArray


def resampled_rows(rows: int, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Places (draws, rows) drawn with replacement."""
    return rng.integers(0, rows, (draws, rows))


def ends(draws: FloatArray, prob: float) -> tuple[float, float]:
    """The equal-tailed interval of draws; NaN among them is left out."""
    low, high = np.nanquantile(draws, [(1 - prob) / 2, (1 + prob) / 2])
    return float(low), float(high)


def mean_interval(values: FloatArray, prob: float) -> tuple[float, float]:
    """Student's t interval of the mean of values (rows,); NaN for fewer than two.

    Of a few skewed shares it covers better than the percentile bootstrap does.
    """
    if len(values) < 2:
        return float("nan"), float("nan")
    half = t.ppf((1 + prob) / 2, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return float(values.mean() - half), float(values.mean() + half)


def share_interval(right: int, of: int, prob: float) -> tuple[float, float]:
    """Jeffreys' interval of a share: the equal-tailed one of Beta(right + 1/2, wrong + 1/2)."""
    tail = (1 - prob) / 2
    low = 0.0 if right == 0 else float(beta.ppf(tail, right + 0.5, of - right + 0.5))
    high = 1.0 if right == of else float(beta.ppf(1 - tail, right + 0.5, of - right + 0.5))
    return low, high
