"""Permutation tests of a difference of means: words are dealt out anew to two sets of the same sizes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import comb
from typing import Literal

import numpy as np

from bayesbias._core.cosine import FloatArray

Alternative = Literal["two-sided", "greater", "less"]
ALTERNATIVES = ("two-sided", "greater", "less")
MOST_PARTITIONS = 1_000_000
"""Partitions up to which all are looked at."""
BLOCK = 2**20
ROUNDING = 1e-12


@dataclass(frozen=True)
class PermutationTest:
    """A p-value, the number of partitions that it rests on, and whether these are all there are."""

    p_value: float
    partitions: int
    exact: bool


def permutation_test(
    first: FloatArray, second: FloatArray, alternative: Alternative, permutations: int, rng: np.random.Generator
) -> PermutationTest:
    """How often words dealt out at random give a difference of means as extreme as the observed one.

    All partitions are counted (count / N) where there are at most a million; else ``permutations`` random ones, and the
    observed partition beside them, (count + 1) / (n + 1).

    Parameters
    ----------
    first, second
        Values of the words of two sets, (n1,) and (n2,).
    alternative
        ``"greater"`` if a large mean of the first set speaks for a bias, ``"less"`` if a small one, ``"two-sided"`` if
        either does; extreme is what differs in size at least as much.
    permutations
        Random partitions where not all are looked at.
    rng
        Generator of these.
    """
    values, size = np.concatenate([first, second]), len(first)
    every = comb(len(values), size)
    exact = every <= MOST_PARTITIONS
    observed = first.mean() - second.mean()
    slack = ROUNDING * max(np.abs(values).max(initial=0.0), np.finfo(float).tiny) * len(values)
    count = 0
    total = values.sum()
    for sums in partition_sums(values, size, permutations, rng):
        drawn = sums / size - (total - sums) / len(second)
        if alternative == "greater":
            count += int((drawn >= observed - slack).sum())
        elif alternative == "less":
            count += int((drawn <= observed + slack).sum())
        else:
            count += int((np.abs(drawn) >= abs(observed) - slack).sum())
    if exact:
        return PermutationTest(count / every, every, True)
    return PermutationTest((count + 1) / (permutations + 1), permutations, False)


def partition_sums(values: FloatArray, size: int, permutations: int, rng: np.random.Generator) -> Iterable[FloatArray]:
    """Sums of the first set, in blocks: of every partition where they are at most a million, else of random ones."""
    if comb(len(values), size) <= MOST_PARTITIONS:
        return [subset_sums(values, size)]
    return _random_sums(values, size, permutations, rng)


def subset_sums(values: FloatArray, size: int) -> FloatArray:
    """The sums of all subsets of a size, from those of the values before each."""
    if 2 * size > len(values):  # the few that are left out are fewer
        rest: FloatArray = values.sum() - subset_sums(values, len(values) - size)
        return rest
    sums: list[FloatArray] = [np.zeros(1), *(np.empty(0) for _ in range(size))]
    for at, value in enumerate(values):
        for chosen in range(min(at + 1, size), max(0, size - (len(values) - at)), -1):
            sums[chosen] = np.concatenate([sums[chosen], sums[chosen - 1] + value])
    return sums[size]


def _random_sums(values: FloatArray, size: int, permutations: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Sums of random subsets of a size, in blocks."""
    step = max(1, BLOCK // len(values))
    for begin in range(0, permutations, step):
        drawn = rng.random((min(step, permutations - begin), len(values)))
        chosen = np.argpartition(drawn, size - 1, axis=1)[:, :size] if size < len(values) else None
        yield values[chosen].sum(axis=1) if chosen is not None else np.full(len(drawn), values.sum())
