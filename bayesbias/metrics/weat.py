"""WEAT: differential association of two target sets with two attribute sets, as a sum and as an effect size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bayesbias._checks import flag, one_of, whole_number
from bayesbias._core.cosine import FloatArray, mean_unit, unit_products
from bayesbias._core.permutation import ALTERNATIVES, Alternative, permutation_test
from bayesbias.metrics.base import NOTHING, Bounds, Measured, Metric, Option, Sets, no_value


def associations(targets: Sets, attributes: Sets) -> tuple[FloatArray, FloatArray]:
    """s(w) of the words of both target sets: mean cosine with the first attribute set less that with the second."""
    # the mean of cosines is the product with the mean of unit vectors
    apart = mean_unit(attributes[0]) - mean_unit(attributes[1])
    apart[np.abs(apart).max() < NOTHING] = 0  # both sets have one mean
    return unit_products(targets[0], apart), unit_products(targets[1], apart)


def effect_size(first: FloatArray, second: FloatArray) -> FloatArray:
    """Difference of the means of s over its population standard deviation over both sets, along the last axis.

    NaN where s does not vary.
    """
    spread = np.concatenate([first, second], axis=-1).std(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        size = (first.mean(axis=-1) - second.mean(axis=-1)) / spread
    return np.where(spread > NOTHING, size, np.nan)


def weat(targets: Sets, attributes: Sets, **options: Any) -> Measured:
    """Sum of s over the first target set less that over the second.

    The permutation test compares the means of s, which for sets of one size is the same.
    """
    first, second = associations(targets, attributes)
    notes: tuple[str, ...] = ()
    if len(first) != len(second):
        notes = (
            f"the target sets have {len(first)} and {len(second)} words, so that the sum is not 0 without bias: read "
            "the effect size",
        )
    return _tested(Measured(float(first.sum() - second.sum()), notes=notes), first, second, **options)


def weat_effect_size(targets: Sets, attributes: Sets, **options: Any) -> Measured:
    """The effect size d of s, between -2 and 2 for sets of one size (population standard deviation, ddof 0)."""
    first, second = associations(targets, attributes)
    value = float(effect_size(first, second))
    if not np.isfinite(value):
        return no_value(
            "s is the same for all target words, so it has no spread to divide by", len(first) + len(second)
        )
    single = len(first) == len(second) == 1
    warning = "with one word in each target set the effect size is 2 or -2 whatever the words" if single else None
    return _tested(Measured(value, warning=warning), first, second, **options)


def _tested(
    found: Measured,
    first: FloatArray,
    second: FloatArray,
    p_value: bool = False,
    alternative: Alternative = "two-sided",
    permutations: int = 10_000,
    seed: int = 0,
) -> Measured:
    found = replace(found, by_word=np.concatenate([first, second]))
    if not p_value:
        return found
    test = permutation_test(first, second, alternative, permutations, np.random.default_rng(seed))
    return replace(found, p_value=test.p_value, partitions=test.partitions, exact=test.exact)


def _sum_bounds(sizes: list[int], options: Mapping[str, Any]) -> tuple[float, float]:
    return -2.0 * sum(sizes), 2.0 * sum(sizes)


def _effect_bounds(sizes: list[int], options: Mapping[str, Any]) -> tuple[float, float]:
    most = sum(sizes) / float(np.sqrt(sizes[0] * sizes[1]))
    return -most, most


TEST_OPTIONS = {
    "p_value": Option(False, flag),
    "alternative": Option("two-sided", lambda value, name: one_of(value, ALTERNATIVES, name)),
    "permutations": Option(10_000, whole_number),
    "seed": Option(0, lambda value, name: whole_number(value, name, least=0)),
}


def _metric(name: str, title: str, measure: Callable[..., Measured], bounds: Bounds) -> Metric:
    return Metric(
        name=name,
        title=title,
        measure=measure,
        targets=(2, 2),
        attributes=(2, 2),
        words="targets",
        optimum=0.0,
        bounds=bounds,
        options=TEST_OPTIONS,
        source="Caliskan, Bryson and Narayanan (2017)",
        doi="10.1126/science.aal4230",
    )


METRICS = (
    _metric("weat", "WEAT", weat, _sum_bounds),
    _metric("weat_effect_size", "WEAT effect size", weat_effect_size, _effect_bounds),
)
