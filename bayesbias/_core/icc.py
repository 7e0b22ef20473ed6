"""Intraclass correlations of tables of ratings, with intervals by the F distribution and by the bootstrap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import fdtri

from bayesbias._core.resampling import resampled_rows
from bayesbias._core.vectors import FloatArray

FORMS = ("ICC(1,1)", "ICC(2,1)", "ICC(3,1)", "ICC(1,k)", "ICC(2,k)", "ICC(3,k)")
ROUNDING = 1e-12  # variance beside the mean square of the ratings that is rounding and no more


class Estimate(NamedTuple):
    """A coefficient of each table and the ends of its confidence interval; NaN for a table of one number."""

    value: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True)
class MeanSquares:
    """Mean squares (...) of tables of n rows and k columns: MS_R, MS_C, MS_E and MS_W of McGraw and Wong (1996)."""

    rows: FloatArray
    columns: FloatArray
    error: FloatArray
    within: FloatArray
    n: int
    k: int


def _mean_squares(ratings: FloatArray) -> MeanSquares:
    """Mean squares of tables (..., n, k), each with at least two rows and two columns."""
    n, k = ratings.shape[-2:]
    apart = ratings - ratings.mean(axis=(-2, -1), keepdims=True)
    rows, columns = apart.mean(axis=-1), apart.mean(axis=-2)
    error = apart - rows[..., :, None] - columns[..., None, :]
    of_columns, of_error = n * (columns**2).sum(axis=-1), (error**2).sum(axis=(-2, -1))
    sums = (k * (rows**2).sum(axis=-1), of_columns, of_error, of_columns + of_error)
    # equal ratings leave squares of rounding, of which a ratio would be noise
    floor = ROUNDING**2 * (ratings**2).sum(axis=(-2, -1))
    squares = (np.where(value > floor, value, 0.0) for value in sums)
    freedom = (n - 1, k - 1, (n - 1) * (k - 1), n * (k - 1))
    means = [value / df for value, df in zip(squares, freedom, strict=True)]
    return MeanSquares(means[0], means[1], means[2], means[3], n, k)


def icc(ratings: FloatArray, form: str, prob: float) -> Estimate:
    """An intraclass correlation of tables (..., n, k) with its confidence interval.

    Parameters
    ----------
    ratings
        Objects in rows, raters in columns.
    form
        One of :data:`FORMS`: one-way, two-way random or two-way mixed; of one rating or of the mean of k.
    prob
        Coverage of the interval.

    References
    ----------
    Shrout, P. E. and Fleiss, J. L. (1979). Intraclass correlations: uses in assessing rater reliability. Psychological
    Bulletin 86(2). https://doi.org/10.1037/0033-2909.86.2.420
    McGraw, K. O. and Wong, S. P. (1996). Forming inferences about some intraclass correlation coefficients.
    Psychological Methods 1(1). https://doi.org/10.1037/1082-989X.1.1.30
    """
    squares = _mean_squares(ratings)
    model, averaged = int(form[4]), form[6] == "k"
    estimate = (
        _agreement(squares, prob)
        if model == 2
        else _by_f(squares, squares.within if model == 1 else squares.error, model, prob)
    )
    return Estimate(*(of_mean(value, squares.k) for value in estimate)) if averaged else estimate


def _by_f(squares: MeanSquares, error: FloatArray, model: int, prob: float) -> Estimate:
    """ICC(1,1) and ICC(3,1): functions of one F ratio, and so are the ends of their intervals, F_L and F_U."""
    n, k = squares.n, squares.k
    freedom = n * (k - 1) if model == 1 else (n - 1) * (k - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = squares.rows / error
    tail = (1 - prob) / 2
    low = ratio / fdtri(n - 1, freedom, 1 - tail)
    high = ratio * fdtri(freedom, n - 1, 1 - tail)
    return Estimate(*(_from_ratio(value, k) for value in (ratio, low, high)))


def _from_ratio(ratio: FloatArray, k: int) -> FloatArray:
    """(F - 1) / (F + k - 1), 1 where F is infinite."""
    with np.errstate(invalid="ignore"):
        value = np.where(np.isinf(ratio), 1.0, (ratio - 1) / (ratio + k - 1))
    return np.asarray(value)


def _agreement(squares: MeanSquares, prob: float) -> Estimate:
    """ICC(2,1), and its interval by Satterthwaite's degrees of freedom: case 2A of McGraw and Wong (1996), table 7.

    Their v is (a MS_C + b MS_E)^2 over the sum of the squares of the two terms by their degrees of freedom, with
    a = k rho / (n (1 - rho)) and b = 1 + (n - 1) a. Here both are times n (1 - rho), which is 0 for a rho of 1.
    """
    n, k = squares.n, squares.k
    rows, columns, error = squares.rows, squares.columns, squares.error
    with np.errstate(all="ignore"):
        value = (rows - error) / (rows + (k - 1) * error + k * (columns - error) / n)
        f_columns = columns / error
        b = n * (1 + (k - 1) * value) - k * value
        freedom = (k - 1) * (n - 1) * (k * value * f_columns + b) ** 2
        freedom /= (n - 1) * k**2 * value**2 * f_columns**2 + b**2
        mixed = k * columns + (k * n - k - n) * error
        tail = (1 - prob) / 2
        above, below = fdtri(n - 1, freedom, 1 - tail), fdtri(freedom, n - 1, 1 - tail)
        low = n * (rows - above * error) / (above * mixed + n * rows)
        high = n * (below * rows - error) / (mixed + n * below * rows)
    # raters that agree but for their levels leave no error, and with it no degrees of freedom
    exact = (error == 0) & (rows > 0)
    none = exact & (columns == 0)
    # the approximation may fail far from what any raters would give
    fails = exact | ~((low <= value) & (value <= high))
    low, high = (np.where(none, 1.0, np.where(fails, np.nan, end)) for end in (low, high))
    return Estimate(np.asarray(value), low, high)


def of_mean(value: FloatArray, k: int) -> FloatArray:
    """The reliability of the mean of k ratings from that of one, by the formula of Spearman and Brown.

    It is without bound towards -1 / (k - 1), and -inf below.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = k * value / (1 + (k - 1) * value)
    return np.asarray(np.where(1 + (k - 1) * value <= ROUNDING, -np.inf, mean))


FEWEST = 10  # objects without which resampling them says too little


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
        As in :func:`icc`.
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
    low, high = (ends[:, end].reshape(value.shape) for end in (0, 1))
    if form[6] == "k":
        low, high = of_mean(low, k), of_mean(high, k)
    known = np.isfinite(value)
    return Estimate(value, np.where(known, low, np.nan), np.where(known, high, np.nan))


def _ends(table: FloatArray, form: str, prob: float, draws: int, rng: np.random.Generator) -> tuple[float, float]:
    """Ends of the percentile-t interval of the coefficient of one rating of a table (n, k); NaN where there is none."""
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
    # a large t of the draws stands for a z that came out too high: it gives the lower end
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
    # the jackknife: all sums without one of the rows, for each row at once; a row drawn twice is left out twice
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
    return np.log(ratio) / 2
