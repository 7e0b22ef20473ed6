"""Words drawn with replacement from several sets at once, a word alike in all sets that hold it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np

from bayesbias._core.cells import IntArray

Units = tuple[Hashable, ...]
"""The words of a set, or its pairs of words."""


@dataclass(frozen=True)
class Pool:
    """Sets that share words, directly or through others.

    Attributes
    ----------
    size
        Number of distinct units.
    places
        Set to the place in it of each unit of the pool (size,); -1 where it does not hold it.
    """

    size: int
    places: dict[Units, IntArray]

    def draw(self, rng: np.random.Generator) -> dict[Units, IntArray]:
        """Places in each set of as many units as the pool has, drawn with replacement; no set is left empty."""
        while True:
            drawn = rng.integers(0, self.size, self.size)
            chosen = {units: places[drawn] for units, places in self.places.items()}
            kept = {units: places[places >= 0] for units, places in chosen.items()}
            if all(map(len, kept.values())):
                return kept


def pools_of(sets: Iterable[Units]) -> tuple[Pool, ...]:
    """Sets by the words that they share; a set that shares none is a pool of its own."""
    groups: list[tuple[dict[Hashable, None], list[Units]]] = []
    for units in dict.fromkeys(sets):
        touching = [group for group in groups if any(unit in group[0] for unit in units)]
        groups = [group for group in groups if group not in touching]
        together = dict.fromkeys(unit for held, _ in touching for unit in held) | dict.fromkeys(units)
        groups.append((together, [*(one for _, members in touching for one in members), units]))
    return tuple(_pool(list(held), members) for held, members in groups)


def _pool(held: list[Hashable], members: list[Units]) -> Pool:
    places = {}
    for units in members:
        at = {unit: place for place, unit in enumerate(units)}
        places[units] = np.array([at.get(unit, -1) for unit in held], dtype=np.intp)
    return Pool(len(held), places)


def draw_all(pools: Iterable[Pool], rng: np.random.Generator) -> dict[Units, IntArray]:
    """One draw of every set."""
    return {units: places for pool in pools for units, places in pool.draw(rng).items()}
