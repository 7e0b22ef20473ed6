"""Random lists of words as coherent as a given one: words near to a random seed word."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbias._core.cells import IntArray
from bayesbias._core.cosine import FloatArray
from bayesbias._progress import progress

Units = NDArray[np.float32]

TRIES = 10
"""Seed words that are tried for a list before one that is less coherent is taken."""
CLOSE = 0.02
"""Mean similarity by which the nearest words of a seed may be less coherent than the given list."""
GROWTH = 1.2
"""Ratio of the sizes of two successive pools."""
LOOKED_AT = 16
"""Words between two successive pools from which the sum of all words between them is estimated."""
FIRST = 512
"""Nearest words that are looked at before all others are."""
BLOCK = 2**22
"""Cosines that are held at once."""


def coherence_of(units: NDArray[np.floating]) -> float:
    """Mean pairwise cosine similarity of unit vectors (words, dimensions); NaN for one word."""
    size = len(units)
    total = units.sum(axis=0, dtype=np.float64)
    return float((total @ total - size) / (size * (size - 1))) if size > 1 else float("nan")


def draw_lists(
    unit: Units, sizes: list[int], targets: list[float] | None, replicates: int, rng: np.random.Generator
) -> IntArray:
    """Words of each replicate's lists (replicates, words), one list after the other, no word twice."""
    if targets is None:
        return np.stack([rng.choice(len(unit), sum(sizes), replace=False) for _ in range(replicates)])
    drawn = np.empty((replicates, sum(sizes)), dtype=np.intp)
    step = max(1, BLOCK // len(unit))
    with progress("drawing topics", replicates * len(sizes)) as done:
        for at, (size, target) in enumerate(zip(sizes, targets, strict=True)):
            begin = sum(sizes[:at])
            for start in range(0, replicates, step):
                block = slice(start, start + step)
                drawn[block, begin : begin + size] = _topics(unit, drawn[block, :begin], size, target, rng)
                done(at * replicates + min(start + step, replicates))
    return drawn


def _topics(unit: Units, used: IntArray, size: int, target: float, rng: np.random.Generator) -> IntArray:
    """A list for each row of words that are used already; where no seed is coherent enough, that of the best one."""
    if size == 1:
        return _unused(len(unit), used, rng)[:, None]
    topics = np.empty((len(used), size), dtype=np.intp)
    best, left = np.full(len(used), -np.inf), np.arange(len(used))
    room = len(unit) - used.shape[1]
    stages = [_pools(size, most) for most in (min(FIRST, room), room) if most >= size]
    for _ in range(TRIES):
        seeds = _unused(len(unit), used[left], rng)
        cosines = unit[seeds] @ unit.T
        np.put_along_axis(cosines, used[left], -np.inf, axis=1)
        cosines[np.arange(len(left)), seeds] = np.inf
        for at, row in zip(left, cosines, strict=True):
            pool, tightest = _pool(unit, row, stages, size, target)
            if tightest > best[at]:
                others = rng.choice(len(pool) - 1, size - 1, replace=False) + 1
                best[at], topics[at] = tightest, pool[np.append(0, others)]
        left = left[best[left] < target - CLOSE]
        if not len(left):
            break
    return topics


def _unused(words: int, used: IntArray, rng: np.random.Generator) -> IntArray:
    """A random word for each row of used words, none of these."""
    drawn = rng.integers(words, size=len(used))
    while len(again := np.flatnonzero((used == drawn[:, None]).any(axis=1))):
        drawn[again] = rng.integers(words, size=len(again))
    return drawn


class _Pools(NamedTuple):
    """Pools of the words nearest to a seed, of growing sizes.

    ``places`` are those of the words to look at, in the order of nearness without the seed; from ``starts`` on they
    belong to the next larger pool, and each counts for ``weights`` words. ``excess`` is what the squared length of a
    sum so estimated is too long.
    """

    sizes: IntArray
    places: IntArray
    starts: IntArray
    weights: FloatArray
    excess: FloatArray


def _pools(smallest: int, largest: int) -> _Pools:
    steps = int(np.log(largest / smallest) / np.log(GROWTH)) + 2
    sizes = np.unique(np.geomspace(smallest, largest, steps).round().astype(np.intp))
    ends = sizes - 1
    parts = [
        np.arange(begin, end) if end - begin <= LOOKED_AT or begin == 0 else _spread(begin, end)
        for begin, end in zip([0, *ends[:-1]], ends, strict=True)
    ]
    counts = np.array([len(part) for part in parts])
    words = np.diff(ends, prepend=0)
    excess = (words**2 / counts - words).cumsum()
    return _Pools(sizes, np.concatenate(parts), np.cumsum(counts) - counts, words / counts, excess)


def _spread(begin: int, end: int) -> IntArray:
    """Evenly spaced whole numbers of a range."""
    return begin + ((np.arange(LOOKED_AT) + 0.5) * (end - begin) / LOOKED_AT).astype(np.intp)


def _pool(
    unit: Units, cosines: NDArray[np.float32], stages: list[_Pools], size: int, target: float
) -> tuple[IntArray, float]:
    """The words nearest to a seed (which has the largest cosine) whose lists are as coherent as the target.

    The second result is the coherence of the very nearest words.
    """
    for pools in stages:
        order = _nearest(cosines, int(pools.sizes[-1]))
        expected = _expected(unit, order, pools, size)
        beyond = np.flatnonzero(expected <= target)
        if len(beyond):
            break
    at = int(beyond[0]) if len(beyond) else len(expected) - 1
    if at > 0 and expected[at - 1] - target < target - expected[at]:
        at -= 1
    return order[: pools.sizes[at]], float(expected[0])


def _nearest(cosines: NDArray[np.float32], count: int) -> IntArray:
    """Places of the largest cosines, the largest first."""
    if 4 * count > len(cosines):
        return np.argsort(-cosines)[:count]
    some = np.argpartition(cosines, len(cosines) - count)[len(cosines) - count :]
    return some[np.argsort(-cosines[some])]


def _expected(unit: Units, order: IntArray, pools: _Pools, size: int) -> FloatArray:
    """Mean pairwise cosine similarity of the seed with random others of each pool, (pools,).

    Of the pairs of such a list 2 / size hold the seed. The mean similarity of all pairs of a pool's other words
    follows from the length of their sum.
    """
    sums = np.add.reduceat(unit[order[1:][pools.places]], pools.starts, axis=0) * pools.weights[:, None]
    total, others = sums.cumsum(axis=0), pools.sizes - 1.0
    with_seed: FloatArray = total @ unit[order[0]] / others
    if size == 2:
        return with_seed
    among = (np.vecdot(total, total) - others - pools.excess) / (others * (others - 1))
    expected: FloatArray = 2 / size * with_seed + (1 - 2 / size) * among
    return expected
