"""WEAT: differential association of two target sets with two attribute sets, as a sum and as an effect size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bayesbias._core.vectors import FloatArray, mean_unit, unit_products
from bayesbias.metrics.base import NOTHING, Bounds, Linear, Measured, Metric, Sets, Sides, no_value
from bayesbias.metrics.permutation import options_of_test


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


def weat(targets: Sets, attributes: Sets) -> Measured:
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
    return Measured(float(first.sum() - second.sum()), np.concatenate([first, second]), notes=notes)


def weat_effect_size(targets: Sets, attributes: Sets) -> Measured:
    """The effect size d of s, between -2 and 2 for sets of one size (population standard deviation, ddof 0)."""
    first, second = associations(targets, attributes)
    value = float(effect_size(first, second))
    if not np.isfinite(value):
        return no_value(
            "s is the same for all target words, so it has no spread to divide by", len(first) + len(second)
        )
    single = len(first) == len(second) == 1
    warning = "with one word in each target set the effect size is 2 or -2 whatever the words" if single else None
    return Measured(value, np.concatenate([first, second]), warning=warning)


def _sides(targets: Sets, attributes: Sets) -> Sides:
    """Weights of the words in the sum."""
    return Sides(
        np.repeat([1.0, -1.0], [len(vectors) for vectors in targets]),
        np.concatenate([np.full(len(one), sign / len(one)) for sign, one in zip((1, -1), attributes, strict=True)]),
    )


def _sum_bounds(sizes: list[int], options: Mapping[str, Any]) -> tuple[float, float]:
    return -2.0 * sum(sizes), 2.0 * sum(sizes)


def _effect_bounds(sizes: list[int], options: Mapping[str, Any]) -> tuple[float, float]:
    most = sum(sizes) / float(np.sqrt(sizes[0] * sizes[1]))
    return -most, most


def _metric(
    name: str, title: str, measure: Callable[..., Measured], bounds: Bounds, linear: Linear | None = None
) -> Metric:
    options = options_of_test(permutation=True, related=linear is not None)
    return Metric(
        name=name,
        title=title,
        measure=measure,
        targets=(2, 2),
        attributes=(2, 2),
        words="targets",
        optimum=0.0,
        bounds=bounds,
        options=options,
        of_test=tuple(options),
        linear=linear,
        source="Caliskan, Bryson and Narayanan (2017)",
        doi="10.1126/science.aal4230",
    )


METRICS = (
    _metric("weat", "WEAT", weat, _sum_bounds, Linear(_sides)),
    _metric("weat_effect_size", "WEAT effect size", weat_effect_size, _effect_bounds),
)
