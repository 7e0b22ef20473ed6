"""False sign rates, and the share of errors that is expected among the surest of many statements."""

from __future__ import annotations

import numpy as np

from bayesbias._core.vectors import FloatArray


def false_sign_rates(below: FloatArray) -> FloatArray:
    """Local false sign rates (n,): the probability that the more probable sign is wrong."""
    return np.minimum(below, 1 - below)


def s_values(rates: FloatArray) -> FloatArray:
    """Expected share of wrong signs among the words with rates no larger, (n,)."""
    order = np.argsort(rates, kind="stable")
    values = np.empty(len(rates))
    values[order] = np.cumsum(rates[order]) / np.arange(1, len(rates) + 1)
    return values
