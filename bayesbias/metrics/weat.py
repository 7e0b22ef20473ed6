"""WEAT: differential association of two target sets with two attribute sets, as a sum and as an effect size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bayesbias._core.cosine import FloatArray, mean_unit, unit_products
from bayesbias._core.permutation import Alternative, permutation_test
from bayesbias.metrics.base import Bounds, Measured, Metric, Sets


def associations(targets: Sets, attributes: Sets) -> tuple[FloatArray, FloatArray]:
    """s(w) of the words of both target sets: mean cosine with the first attribute set less that with the second."""
    # the mean of cosines is the product with the mean of unit vectors
    apart = mean_unit(attributes[0]) - mean_unit(attributes[1])
    return unit_products(targets[0], apart), unit_products(targets[1], apart)


def effect_size(first: FloatArray, second: FloatArray) -> float:
    """Difference of the means of s over its population standard deviation over both sets; NaN if s does not vary."""
    spread = np.concatenate([first, second]).std()
    return float((first.mean() - second.mean()) / spread) if spread > 0 else float("nan")


def weat(targets: Sets, attributes: Sets, **options: Any) -> Measured:
    """Sum of s over the first target set less that over the second."""
    first, second = associations(targets, attributes)
    return _tested(float(first.sum() - second.sum()), first, second, **options)


def weat_effect_size(targets: Sets, attributes: Sets, **options: Any) -> Measured:
    """The effect size d of s, between -2 and 2 for sets of one size (population standard deviation, ddof 0)."""
    first, second = associations(targets, attributes)
    notes: tuple[str, ...] = ()
    if len(first) == len(second) == 1:
        notes = ("with one word in each target set the effect size is 2 or -2 whatever the words",)
    value = effect_size(first, second)
    reason = None if np.isfinite(value) else "s is the same for all target words, so it has no spread to divide by"
    return _tested(value, first, second, notes=notes, reason=reason, **options)


def _tested(
    value: float,
    first: FloatArray,
    second: FloatArray,
    p_value: bool = False,
    alternative: Alternative = "two-sided",
    permutations: int = 10_000,
    seed: int = 0,
    notes: tuple[str, ...] = (),
    reason: str | None = None,
) -> Measured:
    by_word = np.concatenate([first, second])
    if not p_value:
        return Measured(value, by_word, reason=reason, notes=notes)
    found = permutation_test(first, second, alternative, permutations, np.random.default_rng(seed))
    return Measured(value, by_word, reason, found.p_value, found.partitions, found.exact, notes)


def _sum_bounds(sizes: list[int]) -> tuple[float, float]:
    return -2.0 * sum(sizes), 2.0 * sum(sizes)


def _effect_bounds(sizes: list[int]) -> tuple[float, float]:
    most = sum(sizes) / float(np.sqrt(sizes[0] * sizes[1]))
    return -most, most


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
        options={"p_value": False, "alternative": "two-sided", "permutations": 10_000, "seed": 0},
        source="Caliskan, Bryson and Narayanan (2017)",
        doi="10.1126/science.aal4230",
    )


METRICS = (
    _metric("weat", "WEAT", weat, _sum_bounds),
    _metric("weat_effect_size", "WEAT effect size", weat_effect_size, _effect_bounds),
)
