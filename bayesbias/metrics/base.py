"""What every metric gives back, and how it is described."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbias._core.vectors import FloatArray, IntArray

Sets = tuple[FloatArray, ...]
"""Vectors of some sets, each (words, dimensions)."""

Bounds = Callable[[list[int], Mapping[str, Any]], tuple[float, float]]
"""From the numbers of words of the target sets and the options to the smallest and the largest value."""


class Option(NamedTuple):
    """Default of an option, and the check that returns a valid value of it or raises InputError."""

    default: Any
    check: Callable[[Any, str], Any]


@dataclass(frozen=True)
class Space:
    """The whole vocabulary.

    Attributes
    ----------
    unit
        (words, dimensions): vectors of length 1.
    rows
        Rows of the attribute words.
    nearest
        (attribute words, k): rows of their nearest neighbours where these are known already.
    """

    unit: NDArray[np.floating]
    rows: IntArray
    nearest: IntArray | None = None


class Sides(NamedTuple):
    """Weights of the target words and of the attribute words, set after set: a cosine has the product of its two."""

    targets: FloatArray
    attributes: FloatArray


@dataclass(frozen=True)
class Linear:
    """How a metric is a constant and a weighted sum of cosines of target words with attribute words.

    Attributes
    ----------
    sides
        Target sets and attribute sets to the weights of their words.
    constant
        What is added to the sum.
    needs
        Options, of the metric or of the look-up, without which it is no such sum.
    """

    sides: Callable[[Sets, Sets], Sides]
    constant: float = 0.0
    needs: Mapping[str, Any] = field(default_factory=dict)


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
    warning
        Why the value tells nothing.
    null_mean, null_sd
        Of the metric over random attribute lists, where its p-value comes from them.
    """

    value: float
    by_word: FloatArray = field(default_factory=lambda: np.empty(0))
    reason: str | None = None
    p_value: float | None = None
    partitions: int | None = None
    exact: bool | None = None
    notes: tuple[str, ...] = ()
    warning: str | None = None
    null_mean: float | None = None
    null_sd: float | None = None

    @property
    def every_note(self) -> tuple[str, ...]:
        """Notes and warning."""
        return (*self.notes, self.warning) if self.warning else self.notes


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
        Smallest and largest value, from the numbers of words of the target sets and the options.
    options
        Options by name; others are refused.
    of_test
        Names of the options that are about its p-value: ``measure`` does not take them.
    linear
        How it is a weighted sum of cosines, if it is one: it can then be tested against random attribute lists.
    source, doi
        Where it is defined.
    paired
        Whether the two target sets are pairs in order.
    compat
        Whether ``compat="wefe"`` means something for it.
    space
        Whether it looks at the whole vocabulary.
    sentences
        Whether it is one of words in sentences: its sets hold all sentences of all words, and ``measure`` takes the
        place of each sentence's word in its set, as ``owners``.
    usual
        Whether it is among the metrics that are taken where none is named: those of whole sets of words.
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
    doi: str | None
    options: Mapping[str, Option] = field(default_factory=dict)
    of_test: tuple[str, ...] = ()
    linear: Linear | None = None
    paired: bool = False
    compat: bool = False
    space: bool = False
    sentences: bool = False
    usual: bool = True

    @property
    def template(self) -> tuple[int, int]:
        """Smallest numbers of target and attribute sets."""
        return self.targets[0], self.attributes[0]


NOTHING = 1e-12
"""Cosines, and lengths beside 1, that are rounding and no more."""


def no_value(reason: str, words: int = 0) -> Measured:
    """NaN with its reason, for so many words."""
    return Measured(float("nan"), np.full(words, np.nan), reason=reason)


def fixed(low: float, high: float) -> Bounds:
    """Bounds that do not depend on the sizes of the sets."""
    return lambda sizes, options: (low, high)
