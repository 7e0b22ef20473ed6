"""What every metric gives back, and how it is described."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbias._core.cells import IntArray
from bayesbias._core.cosine import FloatArray

Sets = tuple[FloatArray, ...]
"""Vectors of some sets, each (words, dimensions)."""

Bounds = Callable[[list[int]], tuple[float, float]]
"""From the numbers of words of the target sets to the smallest and the largest value."""


@dataclass(frozen=True)
class Space:
    """The whole vocabulary.

    Attributes
    ----------
    unit
        (words, dimensions): vectors of length 1.
    rows
        Rows of the attribute words.
    """

    unit: NDArray[np.floating]
    rows: IntArray


@dataclass(frozen=True)
class Measured:
    """A metric's value on vectors.

    Attributes
    ----------
    value
        The number; NaN where there is none.
    by_word
        What each word adds, in the order of the words of the metric's ``words``: targets or attributes.
    reason
        Why there is no value.
    p_value, partitions, exact
        Of a permutation test; how many partitions it looked at, and whether these are all.
    notes
        Sentences on what to bear in mind.
    """

    value: float
    by_word: FloatArray = field(default_factory=lambda: np.empty(0))
    reason: str | None = None
    p_value: float | None = None
    partitions: int | None = None
    exact: bool | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Metric:
    """A metric of the registry.

    Attributes
    ----------
    name, title
        What it is called, in code and in print.
    measure
        Target sets, attribute sets and options to :class:`Measured`.
    targets, attributes
        How many target and attribute sets it takes: (least, most), ``None`` for any number.
    words
        Which words ``by_word`` is about: ``"targets"`` or ``"attributes"``.
    optimum
        The value of no bias.
    bounds
        Smallest and largest value, from the numbers of words of the target sets.
    options
        Option to its default; others are refused.
    source, doi
        Where it is defined.
    paired
        Whether the two target sets are pairs in order.
    compat
        Whether ``compat="wefe"`` means something for it.
    space
        Whether it looks at the whole vocabulary.
    """

    name: str
    title: str
    measure: Callable[..., Measured]
    targets: tuple[int, int | None]
    attributes: tuple[int, int | None]
    words: str
    optimum: float
    bounds: Bounds
    source: str
    doi: str
    options: Mapping[str, Any] = field(default_factory=dict)
    paired: bool = False
    compat: bool = False
    space: bool = False

    @property
    def template(self) -> tuple[int, int]:
        """Smallest numbers of target and attribute sets."""
        return self.targets[0], self.attributes[0]


def fixed(low: float, high: float) -> Bounds:
    """Bounds that do not hang on the sizes of the sets."""
    return lambda sizes: (low, high)
