"""What every metric gives back, and how it is described."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbias._checks import flag, one_of, whole_number
from bayesbias._core.resampling import ALTERNATIVES
from bayesbias._core.vectors import FloatArray, IntArray
from bayesbias.errors import InputError

Sets = tuple[FloatArray, ...]  # vectors of some sets, each (words, dimensions)

Bounds = Callable[[list[int], Mapping[str, Any]], tuple[float, float]]
"""From the numbers of words of the target sets and the options to the smallest and the largest value."""


class Option(NamedTuple):
    """Default of an option, and the check that returns a valid value of it or raises InputError."""

    default: Any
    check: Callable[[Any, str], Any]


@dataclass(frozen=True)
class Space:
    """The whole vocabulary."""

    unit: NDArray[np.floating]  # (words, dimensions): vectors of length 1
    rows: IntArray  # of the attribute words
    nearest: IntArray | None = None  # (attribute words, k): rows of their nearest neighbours where these are known


class Sides(NamedTuple):
    """Weights of the target words and of the attribute words, set after set: a cosine has the product of its two."""

    targets: FloatArray
    attributes: FloatArray


@dataclass(frozen=True)
class Linear:
    """How a metric is a constant and a weighted sum of cosines of target words with attribute words."""

    sides: Callable[[Sets, Sets], Sides]  # from target sets and attribute sets
    constant: float = 0.0
    needs: Mapping[str, Any] = field(default_factory=dict)  # options, also of the look-up, that make it such a sum


@dataclass(frozen=True)
class Measured:
    """A metric's value on vectors; NaN where there is none, for a reason."""

    value: float
    by_word: FloatArray = field(default_factory=lambda: np.empty(0))  # what each of the metric's ``words`` adds
    reason: str | None = None  # why there is no value
    p_value: float | None = None
    partitions: int | None = None  # that a permutation test looked at
    exact: bool | None = None  # whether these are all
    notes: tuple[str, ...] = ()
    warning: str | None = None  # why the value tells nothing
    null_mean: float | None = None  # of the metric over random attribute lists, where its p-value comes from them
    null_sd: float | None = None

    @property
    def every_note(self) -> tuple[str, ...]:
        """Notes and warning."""
        return (*self.notes, self.warning) if self.warning else self.notes


@dataclass(frozen=True)
class Metric:
    """A metric of the registry, of target sets and attribute sets."""

    name: str
    title: str  # its name in print
    measure: Callable[..., Measured]  # of target sets, attribute sets and its own options
    bounds: Bounds
    source: str
    doi: str | None
    targets: tuple[int, int | None] = (2, 2)  # least and largest number of target sets; None for any
    attributes: tuple[int, int | None] = (1, 1)  # and of attribute sets
    words: str = "attributes"  # the kind of words that ``by_word`` is about: this or "targets"
    optimum: float = 0.0  # the value of no bias
    options: Mapping[str, Option] = field(default_factory=dict)
    linear: Linear | None = None  # where it is a weighted sum of cosines: it has a test against random lists then
    paired: bool = False  # whether the two target sets are pairs in order
    compat: bool = False  # whether compat="wefe" means something for it
    space: bool = False  # whether it looks at the whole vocabulary
    sentences: bool = False  # whether sets hold all sentences of all words: ``owners`` has the place of each one's word
    usual: bool = True  # whether it is taken where no metric is named: those of whole sets of words

    @property
    def of_test(self) -> frozenset[str]:
        """The options that are about a test, which ``measure`` does not take."""
        return TEST_OPTIONS if "p_value" in self.options else frozenset()

    @property
    def template(self) -> tuple[int, int]:
        """Smallest numbers of target and attribute sets."""
        return self.targets[0], self.attributes[0]


NOTHING = 1e-12  # cosines, and lengths beside 1, that are rounding and no more


def no_value(reason: str, words: int = 0) -> Measured:
    """NaN with its reason, for so many words."""
    return Measured(float("nan"), np.full(words, np.nan), reason=reason)


RELATED = "related"  # the value of ``p_value`` that asks for random lists
TEST_OPTIONS = frozenset({"p_value", "alternative", "permutations", "seed"})
SEED = Option(0, lambda value, name: whole_number(value, name, least=0, most=None))


def options_of_test(permutation: bool = False, related: bool = False) -> dict[str, Option]:
    """The options of a metric's tests, of which there is at least one."""
    valid = "True or False" if not related else "True, False or 'related'" if permutation else "False or 'related'"

    def checked(value: object, name: str) -> bool | str:
        if related and isinstance(value, str) and value == RELATED:
            return RELATED
        if not isinstance(value, bool | np.bool_) or (value and not permutation):
            why = ", and the metric has no permutation test" if value is True else ""
            raise InputError(f"{name} is {value!r}{why}: give {valid}")
        return flag(value, name)

    alternative = Option("two-sided", lambda value, name: one_of(value, ALTERNATIVES, name))
    permutations = {"permutations": Option(10_000, whole_number)} if permutation else {}
    return {"p_value": Option(False, checked), "alternative": alternative, **permutations, "seed": SEED}


def count_of(sets: tuple[int, int | None]) -> str:
    """How many sets, of the least and the largest number."""
    least, most = sets
    return f"{least}" if least == most else f"{least} or more" if most is None else f"{least} to {most}"


def fixed(low: float, high: float) -> Bounds:
    """Bounds that do not depend on the sizes of the sets."""
    return lambda sizes, options: (low, high)
