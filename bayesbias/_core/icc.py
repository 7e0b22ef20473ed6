"""Intraclass correlations and coefficient alpha of tables of ratings, with their confidence intervals.

A table holds n objects in rows and k raters (or items) in columns; leading axes hold many tables at once. With the mean
squares of rows (n - 1 degrees of freedom), columns (k - 1), error ((n - 1)(k - 1)) and within rows (n (k - 1)) the six
forms of Shrout and Fleiss (1979) are ratios of linear functions of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import f as f_distribution

from bayesbias._core.cosine import FloatArray

FORMS = ("ICC(1,1)", "ICC(2,1)", "ICC(3,1)", "ICC(1,k)", "ICC(2,k)", "ICC(3,k)")
ROUNDING = 1e-12
"""Variance beside the mean square of the ratings that is rounding and no more."""


class Estimate(NamedTuple):
    """A coefficient of each table and the ends of its confidence interval; NaN for a table of one number."""

    value: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True)
class MeanSquares:
    """Mean squares (...) of tables of n rows and k columns."""

    rows: FloatArray
    columns: FloatArray
    error: FloatArray
    within: FloatArray
    n: int
    k: int


def mean_squares(ratings: FloatArray) -> MeanSquares:
    """Mean squares of tables (..., n, k), each with at least two rows and two columns."""
    n, k = ratings.shape[-2:]
    apart = ratings - ratings.mean(axis=(-2, -1), keepdims=True)
    rows, columns = apart.mean(axis=-1), apart.mean(axis=-2)
    error = apart - rows[..., :, None] - columns[..., None, :]
    between = n * (columns**2).sum(axis=-1)
    left = (error**2).sum(axis=(-2, -1))
    found = (k * (rows**2).sum(axis=-1), between, left, between + left)
    floor = ROUNDING**2 * (ratings**2).sum(axis=(-2, -1))
    squares = (np.where(value > floor, value, 0.0) for value in found)
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
    squares = mean_squares(ratings)
    model, averaged = int(form[4]), form[6] == "k"
    found = (
        _agreement(squares, prob)
        if model == 2
        else _by_f(squares, squares.within if model == 1 else squares.error, model, prob)
    )
    return Estimate(*(of_mean(value, squares.k) for value in found)) if averaged else found


def alpha(items: FloatArray, prob: float) -> Estimate:
    """Coefficient alpha of tables (..., cases, items): ICC(3,k), with Feldt's confidence interval.

    References
    ----------
    Cronbach, L. J. (1951). Coefficient alpha and the internal structure of tests. Psychometrika 16(3).
    https://doi.org/10.1007/BF02310555
    Feldt, L. S. (1965). The approximate sampling distribution of Kuder-Richardson reliability coefficient twenty.
    Psychometrika 30(3). https://doi.org/10.1007/BF02289499
    """
    return icc(items, "ICC(3,k)", prob)


def _by_f(squares: MeanSquares, error: FloatArray, model: int, prob: float) -> Estimate:
    """ICC(1,1) and ICC(3,1): functions of one F ratio, and so are the ends of their intervals."""
    n, k = squares.n, squares.k
    freedom = n * (k - 1) if model == 1 else (n - 1) * (k - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = squares.rows / error
    tail = (1 - prob) / 2
    low = ratio / f_distribution.isf(tail, n - 1, freedom)
    high = ratio * f_distribution.isf(tail, freedom, n - 1)
    return Estimate(*(_from_ratio(value, k) for value in (ratio, low, high)))


def _from_ratio(ratio: FloatArray, k: int) -> FloatArray:
    """(F - 1) / (F + k - 1), 1 where F is infinite."""
    with np.errstate(invalid="ignore"):
        value = np.where(np.isinf(ratio), 1.0, (ratio - 1) / (ratio + k - 1))
    return np.asarray(value)


def _agreement(squares: MeanSquares, prob: float) -> Estimate:
    """ICC(2,1), and its interval by Satterthwaite's degrees of freedom."""
    n, k = squares.n, squares.k
    rows, columns, error = squares.rows, squares.columns, squares.error
    with np.errstate(all="ignore"):
        value = (rows - error) / (rows + (k - 1) * error + k * (columns - error) / n)
        bias = columns / error
        weight = n * (1 + (k - 1) * value) - k * value
        freedom = (k - 1) * (n - 1) * (k * value * bias + weight) ** 2
        freedom /= (n - 1) * k**2 * value**2 * bias**2 + weight**2
        mixed = k * columns + (k * n - k - n) * error
        tail = (1 - prob) / 2
        above, below = f_distribution.isf(tail, n - 1, freedom), f_distribution.isf(tail, freedom, n - 1)
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
    """The reliability of the mean of k ratings from that of one: without bound towards -1 / (k - 1), and below -inf."""
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = k * value / (1 + (k - 1) * value)
    return np.asarray(np.where(1 + (k - 1) * value <= ROUNDING, -np.inf, mean))
