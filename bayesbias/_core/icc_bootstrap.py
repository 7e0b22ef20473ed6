"""Bootstrap intervals of intraclass correlations, over the objects that were rated."""

from __future__ import annotations

import numpy as np

from bayesbias._core.bootstrap import resampled_rows
from bayesbias._core.cosine import FloatArray
from bayesbias._core.icc import Estimate, icc, of_mean

FEWEST = 10
"""Objects without which resampling them says too little."""


def bootstrap_icc(ratings: FloatArray, form: str, prob: float, draws: int, rng: np.random.Generator) -> Estimate:
    """An intraclass correlation of tables (..., n, k) with its percentile-t interval over objects.

    Objects are drawn with replacement, raters stay. On the scale z = log((1 + (k - 1) rho) / (1 - rho)) / 2, which is
    half the logarithm of F for the one-way and the mixed forms, each draw is studentised by its jackknife, so that no
    distribution of the objects is taken for granted.

    Parameters
    ----------
    ratings
        Objects in rows, at least ten; raters in columns.
    form, prob
        As in :func:`bayesbias._core.icc.icc`.
    draws
        How many samples of the objects.

    References
    ----------
    Ukoumunne, O. C., Davison, A. C., Gulliford, M. C. and Chinn, S. (2003). Non-parametric bootstrap confidence
    intervals for the intraclass correlation coefficient. Statistics in Medicine 22(24).
    https://doi.org/10.1002/sim.1643
    """
    value = icc(ratings, form, prob).value
    n, k = ratings.shape[-2:]
    single = f"{form[:6]}1)"
    tables = ratings.reshape(-1, n, k)
    ends = np.array([_ends(table, single, prob, draws, rng) for table in tables])
    low, high = (ends[:, at].reshape(value.shape) for at in (0, 1))
    if form[6] == "k":
        low, high = of_mean(low, k), of_mean(high, k)
    known = np.isfinite(value)
    return Estimate(value, np.where(known, low, np.nan), np.where(known, high, np.nan))


def _ends(table: FloatArray, form: str, prob: float, draws: int, rng: np.random.Generator) -> tuple[float, float]:
    n, k = table.shape
    counts = np.zeros((draws + 1, n))
    counts[0] = 1  # the table as it is
    np.add.at(counts, (np.arange(1, draws + 1)[:, None], resampled_rows(n, draws, rng)), 1)
    with np.errstate(all="ignore"):
        z, se = _studentised(table - table.mean(), counts, int(form[4]))
        t = (z[1:] - z[0]) / se[1:]
    t = t[np.isfinite(t)]
    if not np.isfinite(z[0]) or not se[0] > 0 or len(t) < draws / 2:
        return np.nan, np.nan
    upper, lower = np.quantile(t, [(1 + prob) / 2, (1 - prob) / 2])
    ratio = np.exp(2 * (z[0] - se[0] * np.array([upper, lower])))
    low, high = (ratio - 1) / (ratio + k - 1)
    return float(low), float(high)


def _studentised(table: FloatArray, counts: FloatArray, model: int) -> tuple[FloatArray, FloatArray]:
    """The scale z and its jackknife standard error (draws,) for rows by their counts (draws, n)."""
    n, k = table.shape
    sums, squares = table.sum(axis=1), (table**2).sum(axis=1)
    total, between, every = counts @ sums, counts @ sums**2 / k, counts @ squares
    columns = counts @ table
    across = (columns**2).sum(axis=1)
    z = _scale(total, between, every, across, n, k, model)
    left = _scale(
        total[:, None] - sums,
        between[:, None] - sums**2 / k,
        every[:, None] - squares,
        across[:, None] - 2 * columns @ table.T + squares,
        n - 1,
        k,
        model,
    )
    left = np.where(counts > 0, left, 0.0)
    middle = (counts * left).sum(axis=1, keepdims=True) / n
    return z, np.sqrt((n - 1) / n * (counts * (left - middle) ** 2).sum(axis=1))


def _scale(
    total: FloatArray, between: FloatArray, every: FloatArray, across: FloatArray, n: int, k: int, model: int
) -> FloatArray:
    """The scale z from sums of all ratings, squared row sums over k, squares, and squared column sums."""
    middle = total**2 / (n * k)
    rows = (between - middle) / (n - 1)
    levels = across / n - middle
    if model == 1:
        ratio = rows / ((every - between) / (n * (k - 1)))
    else:
        error = (every - between - levels) / ((n - 1) * (k - 1))
        ratio = rows / error
        if model == 2:
            value = (rows - error) / (rows + (k - 1) * error + k * (levels / (k - 1) - error) / n)
            ratio = (1 + (k - 1) * value) / (1 - value)
    z: FloatArray = np.log(ratio) / 2
    return z
