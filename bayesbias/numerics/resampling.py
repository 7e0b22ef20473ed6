"""Intervals, clustered standard errors, permutation tests and effect sizes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from typing import Literal

import numpy as np
from scipy.special import betaincinv, stdtrit

from bayesbias.numerics.arrays import NOTHING, FloatArray, IntArray
from bayesbias.numerics.marginal import CellStatistics

Alternative = Literal["two-sided", "greater", "less"]
ALTERNATIVES = ("two-sided", "greater", "less")
MOST_PARTITIONS = 1_000_000  # partitions up to which all are looked at
BLOCK = 2**20  # numbers of random partitions that are drawn at once
ROUNDING = 1e-12  # differences of sums, as a share of the largest value, that are none: ties count as extreme


def ends(draws: FloatArray, prob: float) -> tuple[float, float]:
    """The equal-tailed interval of draws; NaN among them is left out."""
    low, high = np.nanquantile(draws, [(1 - prob) / 2, (1 + prob) / 2])
    return float(low), float(high)


def sorted_interval(ordered: FloatArray, prob: float) -> tuple[FloatArray, FloatArray]:
    """Ends (...) of the equal-tailed interval of draws (..., D) in ascending order.

    The quantiles at (1 - prob) / 2 and (1 + prob) / 2, interpolated as NumPy's are; draws of the other sign have the
    same ends with the other sign.
    """
    last = ordered.shape[-1] - 1
    below, share = divmod((1 - prob) / 2 * last, 1)
    near, inner = int(below), min(int(below) + 1, last)
    low = (1 - share) * ordered[..., near] + share * ordered[..., inner]
    high = (1 - share) * ordered[..., last - near] + share * ordered[..., last - inner]
    return low, high


def t_ends(estimate: float, se: float, df: float, prob: float) -> tuple[float, float]:
    """Ends of the equal-tailed interval of Student's t."""
    half = se * float(stdtrit(df, 0.5 + prob / 2))
    return estimate - half, estimate + half


def mean_interval(values: FloatArray, prob: float) -> tuple[float, float]:
    """Student's t interval of the mean of values (rows,); NaN for fewer than two.

    Of a few skewed shares it covers better than the percentile bootstrap does.
    """
    if len(values) < 2:
        return float("nan"), float("nan")
    se = float(values.std(ddof=1) / np.sqrt(len(values)))
    return t_ends(float(values.mean()), se, len(values) - 1, prob)


def share_interval(right: int, of: int, prob: float) -> tuple[float, float]:
    """Jeffreys' interval of a share: the equal-tailed one of Beta(right + 1/2, wrong + 1/2)."""
    tail = (1 - prob) / 2
    low = 0.0 if right == 0 else float(betaincinv(right + 0.5, of - right + 0.5, tail))
    high = 1.0 if right == of else float(betaincinv(right + 0.5, of - right + 0.5, 1 - tail))
    return low, high


@dataclass(frozen=True)
class Clustered:
    """A contrast, its standard error, Satterthwaite's degrees of freedom and the words of each list behind it."""

    estimate: float
    se: float
    df: float
    words: IntArray


def clustered_contrast(
    word: IntArray,
    connection: IntArray,
    attribute: IntArray,
    list_of_attribute: IntArray,
    y: FloatArray,
    cells: CellStatistics,
    first: int,
    second: int,
    weights: FloatArray,
) -> Clustered:
    """Weighted mean over protected words of the difference of two cell means, as a sum over attribute words.

    ``weights`` (J,) of the words add up to 1 over those that have both connections, and are 0 for others.
    Attribute words of one list are independent draws: the variance of the sum is the sum over lists of n times the
    variance of a word's contribution. With complete lists this is the leave-one-word-out jackknife. Each row has a
    protected word, a connection, an attribute word and a distance. The standard error is NaN where a list has one word.
    """
    known = weights.any()
    sign = np.where(connection == first, 1.0, np.where(connection == second, -1.0, 0.0))
    # the contrast as a sum over distances, so that it is a sum over attribute words of what each contributes
    weight = sign * weights[word] / cells.n[word, connection]
    apart = y - cells.mean[word, connection]
    size = len(list_of_attribute)
    weighed = np.bincount(attribute, weights=np.abs(weight), minlength=size) > 0
    contribution = np.bincount(attribute, weights=weight * apart, minlength=size)
    members = [
        np.flatnonzero(weighed & (list_of_attribute == number)) for number in np.unique(list_of_attribute[weighed])
    ]
    n = np.array([len(rows) for rows in members])
    estimate = float((weight * y).sum())
    if not known or (n < 2).any():
        return Clustered(estimate if known else float("nan"), float("nan"), float("nan"), n)
    variance = n * np.array([contribution[rows].var(ddof=1) for rows in members])
    total = variance.sum()
    # Satterthwaite (1946, https://doi.org/10.2307/3002019): matches the variance of the estimated variance
    df = total**2 / (variance**2 / (n - 1)).sum() if total > 0 else float("inf")
    return Clustered(estimate, float(np.sqrt(total)), float(df), n)


@dataclass(frozen=True)
class PermutationTest:
    """A p-value, the number of partitions that it rests on, and whether these are all there are."""

    p_value: float
    partitions: int
    exact: bool


def permutation_test(
    first: FloatArray, second: FloatArray, alternative: Alternative, permutations: int, rng: np.random.Generator
) -> PermutationTest:
    """Permutation test of a difference of means: how often words dealt out at random give one as extreme.

    All partitions are counted (count / N) where there are at most a million; else ``permutations`` random ones, and the
    observed partition beside them, (count + 1) / (n + 1). Extreme is a mean of the first set that is at least as large
    (``"greater"``) or as small (``"less"``), or a difference at least as large in size (``"two-sided"``). The test is
    that of ``scipy.stats.permutation_test``, which lists the partitions one by one: two sets of eight words take it
    over two hundred times as long, of eleven over a thousand.
    """
    values, size = np.concatenate([first, second]), len(first)
    every = comb(len(values), size)
    observed = first.mean() - second.mean()
    slack = ROUNDING * max(np.abs(values).max(initial=0.0), np.finfo(float).tiny) * len(values)
    count, total = 0, values.sum()
    for sums in partition_sums(values, size, permutations, rng):
        drawn = sums / size - (total - sums) / len(second)
        if alternative == "greater":
            count += int((drawn >= observed - slack).sum())
        elif alternative == "less":
            count += int((drawn <= observed + slack).sum())
        else:
            count += int((np.abs(drawn) >= abs(observed) - slack).sum())
    if every <= MOST_PARTITIONS:
        return PermutationTest(count / every, every, True)
    return PermutationTest((count + 1) / (permutations + 1), permutations, False)


def partition_sums(values: FloatArray, size: int, permutations: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Sums of the first set, in blocks: of every partition where they are at most a million, else of random ones."""
    if comb(len(values), size) <= MOST_PARTITIONS:
        yield _subset_sums(values, size)
        return
    step = max(1, BLOCK // len(values))
    for begin in range(0, permutations, step):
        drawn = rng.random((min(step, permutations - begin), len(values)))
        yield values[np.argpartition(drawn, size - 1, axis=1)[:, :size]].sum(axis=1)


def _subset_sums(values: FloatArray, size: int) -> FloatArray:
    """The sums of all subsets of a size, from those of the values before each."""
    if 2 * size > len(values):  # the few that are left out are fewer
        return values.sum() - _subset_sums(values, len(values) - size)
    sums: list[FloatArray] = [np.zeros(1), *(np.empty(0) for _ in range(size))]
    for i, value in enumerate(values):
        # subsets with this value are those without it of one size less; from the largest on, so that none has it twice;
        # sizes from which too few values are left to reach the wanted one are skipped
        for chosen in range(min(i + 1, size), max(0, size - (len(values) - i)), -1):
            sums[chosen] = np.concatenate([sums[chosen], sums[chosen - 1] + value])
    return sums[size]


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

    Words whose s is not known (NaN) are left out. NaN where s does not vary beyond rounding.
    """
    both = np.concatenate([first, second], axis=axis)
    spread = np.sqrt(known_mean((both - np.expand_dims(known_mean(both, axis), axis)) ** 2, axis))
    with np.errstate(invalid="ignore", divide="ignore"):
        size = (known_mean(first, axis) - known_mean(second, axis)) / spread
    return np.where(spread > NOTHING, size, np.nan)
