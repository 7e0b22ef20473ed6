"""Which words of each list a metric sees at each size, run by run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesbias._core.cells import IntArray
from bayesbias.errors import InputError

SIZES = ("trimmed", "saturate", "proportional")


@dataclass(frozen=True)
class Growth:
    """Lists that grow together.

    Attributes
    ----------
    places
        For each list (runs, words): places of its words in the order of each run.
    lengths
        (sizes, lists): how many words of each list are used.
    """

    places: tuple[IntArray, ...]
    lengths: IntArray

    @property
    def totals(self) -> IntArray:
        """Words used over all lists, (sizes,)."""
        total: IntArray = self.lengths.sum(axis=1)
        return total


def lengths_of(sizes: Sequence[int], step: int, mode: str) -> IntArray:
    """How many words of each list are used, (sizes, lists); the last size uses all.

    Parameters
    ----------
    sizes
        Words of each list.
    step
        Words over all lists by which they grow.
    mode
        ``"trimmed"`` and ``"saturate"`` add as many words of each list until it is used up; ``"proportional"`` adds the
        same share of each.

    Raises
    ------
    InputError
        A list is shorter than its share of the step.
    """
    each = max(1, step // len(sizes))
    if min(sizes) < each:
        raise InputError(f"a list has {min(sizes)} words, fewer than the {each} of a step: give a smaller step")
    if mode == "proportional":
        count = max(1, round(sum(sizes) / step))
        shares = np.arange(1, count + 1) / count
        shared: IntArray = np.maximum(1, np.rint(np.outer(shares, sizes))).astype(np.intp)
        return shared
    grown = np.arange(1, -(-max(sizes) // each) + 1) * each
    lengths: IntArray = np.minimum(grown[:, None], np.array(sizes)).astype(np.intp)
    return lengths


def shuffled(sizes: Sequence[int], runs: int, seed: int, shared: bool, together: bool = False) -> tuple[IntArray, ...]:
    """Places (runs, words) of each list in random order.

    ``shared`` takes the run's number as seed of every list; ``together`` gives all lists one order.
    """
    if shared:  # sklearn.utils.shuffle(list, random_state=run)
        return tuple(np.stack([_legacy(size, run) for run in range(runs)]) for size in sizes)
    if together:
        return shuffled(sizes[:1], runs, seed, shared) * len(sizes)
    generators = np.random.default_rng(seed).spawn(len(sizes))
    return tuple(
        np.stack([generator.permutation(size) for _ in range(runs)])
        for size, generator in zip(sizes, generators, strict=True)
    )


def _legacy(size: int, seed: int) -> NDArray[np.intp]:
    places = np.arange(size)
    np.random.RandomState(seed).shuffle(places)
    return places


def recorded(
    lists: Mapping[str, Sequence[str]], orders: Mapping[str, Sequence[Sequence[str]]], together: bool = False
) -> tuple[IntArray, ...]:
    """Places (runs, words) of each list in recorded orders; ``together`` asks for one order of all lists.

    Raises
    ------
    InputError
        A list without orders, numbers of runs that differ, an order that does not hold the list's words or tears pairs.
    """
    found = []
    for name, words in lists.items():
        if name not in orders:
            raise InputError(f"orders has {', '.join(map(repr, orders))}: {name!r} is missing")
        place = {word: at for at, word in enumerate(words)}
        runs = []
        for run, listed in enumerate(orders[name]):
            if set(listed) != set(words) or len(listed) != len(words):
                odd = sorted(set(listed) ^ set(words))[:5]
                raise InputError(f"orders: run {run} of {name!r} does not hold the words of the list: {', '.join(odd)}")
            runs.append([place[word] for word in listed])
        found.append(np.array(runs, dtype=np.intp))
    if len({len(runs) for runs in found}) > 1:
        raise InputError(f"orders has different numbers of runs: {', '.join(str(len(runs)) for runs in found)}")
    if together and any(not np.array_equal(found[0], other) for other in found[1:]):
        raise InputError("the words of the target sets are pairs in order, and orders tears them apart")
    return tuple(found)
