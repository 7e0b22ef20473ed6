"""Highest-density intervals and summaries of draws."""

from __future__ import annotations

import numpy as np

from bayesbias._core.cosine import FloatArray

PROB = 0.89
"""The share of posterior mass in an interval unless another is asked for, as in the published study."""


def hdi(draws: FloatArray, prob: float) -> tuple[FloatArray, FloatArray]:
    """Lower and upper ends (...) of the highest-density intervals of draws (D, ...); NaN stays NaN."""
    from arviz_stats.base import array_stats

    ends = array_stats.hdi(draws, prob, axis=0)
    return ends[..., 0], ends[..., 1]


def describe(draws: FloatArray, prob: float) -> dict[str, FloatArray]:
    """``mean``, ``sd``, ``hdi_low`` and ``hdi_high`` (...) of draws (D, ...)."""
    low, high = hdi(draws, prob)
    return {"mean": draws.mean(axis=0), "sd": draws.std(axis=0, ddof=1), "hdi_low": low, "hdi_high": high}


def flat_draws(values: FloatArray) -> FloatArray:
    """Draws (chain, draw, ...) as (chain * draw, ...)."""
    return np.reshape(values, (-1, *np.shape(values)[2:]))


def share(value: float) -> str:
    """A probability in percent; never 0% or 100%, which draws cannot show."""
    return "> 99.9%" if value > 0.999 else "< 0.1%" if value < 0.001 else f"{100 * value:.1f}%"
