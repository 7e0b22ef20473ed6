"""``Metric``: a function of sets of vectors with its description, its options and its values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbias._support.arguments import flag, one_of, whole_number
from bayesbias._support.registers import description_of, name_of, options_of
from bayesbias.errors import InputError
from bayesbias.metrics.queries import Lookup, Sets
from bayesbias.numerics.arrays import FloatArray, IntArray
from bayesbias.numerics.statistics import ALTERNATIVES
from bayesbias.results import Note

Bounds = Callable[[list[int], Mapping[str, Any]], tuple[float, float]]
"""From the numbers of words of the target sets and the options to the smallest and the largest value."""


class Option(NamedTuple):
    """Default of an option, and the check that takes a value and the option's name and returns a valid value."""

    default: Any
    check: Callable[[Any, str], Any]


@dataclass(frozen=True)
class Space:
    unit: NDArray[np.floating]  # (words, dimensions): vectors of length 1
    rows: IntArray  # of the attribute words
    nearest: IntArray | None = None  # (attribute words, k): rows of their nearest neighbours where these are known


@dataclass(frozen=True)
class Linear:
    """A constant, and from target and attribute sets the weights of their words in a sum of cosines.

    ``sides`` gives the weights of the target words and of the attribute words, set after set: a cosine has the product
    of its two. ``needs`` are options, also of the look-up, that make the metric such a sum.
    """

    sides: Callable[[Sets, Sets], tuple[FloatArray, FloatArray]]
    constant: float = 0.0
    needs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Measured:
    """A metric's value on vectors; NaN where there is none, for a reason.

    Attributes
    ----------
    value, reason
        The number, or why there is none.
    by_word
        What each of the metric's ``words`` adds, set after set; or empty.
    p_value, partitions, exact, null_mean, null_sd, null_words
        Of a test, as in :class:`MetricResult`.
    notes
        On the value; ``metric`` warns of it too where its code is ``set-size``.
    """

    value: float
    by_word: FloatArray = field(default_factory=lambda: np.empty(0))
    reason: str | None = None
    p_value: float | None = None
    partitions: int | None = None
    exact: bool | None = None
    notes: tuple[Note, ...] = ()
    null_mean: float | None = None
    null_sd: float | None = None
    null_words: int | None = None


NO_BIAS = "no bias"
ANY = (1, None)  # number of sets of a metric that takes as many as there are
GIVEN = ("compat", "space", "owners")  # parameters of ``measure`` that are no options


@dataclass(frozen=True, eq=False)
class Metric:
    """A metric of target sets and attribute sets: a function, and its description.

    Attributes
    ----------
    name, title, source, doi
        What it is called in code and in print, and where it is defined.
    measure
        A function of the vectors of target sets and of attribute sets, tuples of arrays (words, dimensions), and of the
        metric's options, that returns a number or a :class:`Measured`. Its docstring begins with what the value is.
    bounds
        Smallest and largest value, or a function to them from the numbers of words of the target sets and the options.
    targets, attributes
        Least and largest number of target sets, and of attribute sets; None for any.
    words
        The words that :attr:`Measured.by_word` is about: ``"attributes"`` or ``"targets"``.
    optimum, unbiased
        The value of no bias, and what it is called.
    options
        Name of an option to its default and check. Other parameters of ``measure`` are options that are not checked.
    linear
        Where it is a weighted sum of cosines: it has a test against random lists then.
    paired, usual
        Whether the words of two target sets are pairs, in order; whether it is taken where no metric is named.
    compat, space, sentences
        Whether ``measure`` takes ``compat``, which :func:`metric` explains; ``space``, the whole vocabulary; and
        ``owners``, the place of each sentence's word, as sets hold all sentences of all words.
    """

    name: str
    measure: Callable[..., Any]
    title: str = ""
    bounds: tuple[float, float] | Bounds = (-np.inf, np.inf)
    source: str = ""
    doi: str | None = None
    targets: tuple[int, int | None] = (2, 2)
    attributes: tuple[int, int | None] = (1, 1)
    words: str = "attributes"
    optimum: float = 0.0
    unbiased: str = NO_BIAS
    options: Mapping[str, Option] = field(default_factory=dict)
    linear: Linear | None = None
    paired: bool = False
    compat: bool = False
    space: bool = False
    sentences: bool = False
    usual: bool = True

    def __post_init__(self) -> None:
        own = options_of(self.measure, 2, GIVEN, self.name)
        further = {name: Option(default, lambda value, name: value) for name, default in own.items()}
        options = further | {name: Option(*option) for name, option in self.options.items()}
        if taken := [name for name in options if name in Lookup().options or name in ("name", "kv", "query")]:
            raise InputError(f"{self.name} has the option {taken[0]!r}, which every metric has: give it another name")
        object.__setattr__(self, "options", options)
        object.__setattr__(self, "title", self.title or self.name)

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Metric:
        """The metric of a function that takes any number of sets."""
        return cls(name_of(function), function, targets=ANY, attributes=ANY)

    @property
    def function(self) -> Callable[..., Any]:
        return self.measure

    @property
    def description(self) -> str:
        """The value in words: the first paragraph of the measure's docstring."""
        return description_of(self.measure)

    def range(self, sizes: list[int], options: Mapping[str, Any]) -> tuple[float, float]:
        """Smallest and largest value for target sets of so many words and some options."""
        return self.bounds(sizes, options) if callable(self.bounds) else self.bounds

    @property
    def template(self) -> tuple[int, int]:
        """Smallest numbers of target and attribute sets."""
        return self.targets[0], self.attributes[0]

    def measured(self, targets: Sets, attributes: Sets, **options: Any) -> Measured:
        """Value of the function for some vectors, which it may not write to."""
        for vectors in (*targets, *attributes):
            vectors.setflags(write=False)
        try:
            returned = self.measure(targets, attributes, **options)
            measured = returned if isinstance(returned, Measured) else Measured(returned)
            measured = replace(measured, value=float(measured.value), by_word=np.asarray(measured.by_word, dtype=float))
        except InputError:
            raise
        except Exception as error:  # of a function that may come from anywhere
            raise MetricFaultError(f"the metric {self.name} failed: {type(error).__name__}: {error}") from error
        words = sum(map(len, targets if self.words == "targets" else attributes))
        if (np.isfinite(measured.value) or measured.reason is not None) and measured.by_word.shape in ((0,), (words,)):
            return measured
        raise MetricFaultError(
            f"the metric {self.name} returned {measured.value} and by_word of shape {measured.by_word.shape}: a number "
            f"or Measured(nan, reason='...') is needed, and a number for each of {words} words, or none"
        )


class MetricFaultError(InputError):
    """A metric failed, or returned what is no value."""


def no_value(reason: str, words: int = 0) -> Measured:
    return Measured(float("nan"), np.full(words, np.nan), reason=reason)


RELATED = "related"  # the value of ``p_value`` that asks for random lists
TEST_OPTIONS = frozenset({"p_value", "alternative", "permutations", "seed"})
SEED = Option(0, lambda value, name: whole_number(value, name, least=0, most=None))


def options_of_test(permutation: bool = False) -> dict[str, Option]:
    """The options of a metric's tests; that against random lists is of weighted sums of cosines."""

    def checked(value: object, name: str) -> bool | str:
        if isinstance(value, str) and value == RELATED:
            return RELATED
        if flag(value, name) and not permutation:
            raise InputError(f"{name} is True, and the metric has no permutation test: give False or {RELATED!r}")
        return bool(value)

    alternative = Option("two-sided", lambda value, name: one_of(value, ALTERNATIVES, name))
    permutations = {"permutations": Option(10_000, whole_number)} if permutation else {}
    return {"p_value": Option(False, checked), "alternative": alternative, **permutations, "seed": SEED}


def count_of(sets: tuple[int, int | None]) -> str:
    least, most = sets
    return f"{least}" if least == most else f"{least} or more" if most is None else f"{least} to {most}"
