"""What an engine gives back: draws of a posterior, and the means that they give to rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesbias._core.vectors import FloatArray, IntArray

DIMS = {
    "connection_mean": ("connection",),
    "connection_sd": ("connection",),
    "word_mean": ("protected_word", "connection"),
    "sigma": ("connection",),
    "connection_covariance": ("connection", "other_connection"),
    "attribute_effect": ("attribute_word",),
    "attribute_sd": ("attribute_class",),
    "sd_factor": ("attribute_class",),
    "interaction_effect": ("attribute_word", "group"),
}
"""Dimensions of the posterior variables beyond chain and draw; a scale that is shared has none."""


@dataclass(frozen=True)
class Draws:
    """Draws of a posterior.

    Attributes
    ----------
    posterior
        Variable to array (chain, draw, ...), with the dimensions of :data:`DIMS`; what a table does not hold (a cell
        without a distance, an attribute word never compared with a group) is NaN.
    sample_stats
        Statistics of the sampler, (chain, draw) or single numbers.
    attrs
        Facts about the fit as a whole.
    notes
        Sentences on how the draws were made, where it was not the usual way.
    """

    posterior: Mapping[str, FloatArray]
    sample_stats: Mapping[str, FloatArray | float] = field(default_factory=dict)
    attrs: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def dims_of(name: str, values: FloatArray) -> tuple[str, ...]:
    """Dimensions of a posterior variable (chain, draw, ...) beyond chain and draw."""
    return DIMS.get(name, ())[: np.ndim(values) - 2]


EFFECTS = ("attribute_effect", "interaction_effect")
"""What single attribute words have. Our own engines draw these exactly, given the scales and means."""
MEANS = ("word_mean", *EFFECTS)
"""Variables whose sum is the mean of a row."""


def at_rows(name: str, values: FloatArray, places: Mapping[str, IntArray], leading: int = 2) -> FloatArray:
    """A variable at rows (..., rows), after its ``leading`` dimensions of draws; (..., 1) where all rows share it."""
    dims = DIMS[name][: np.ndim(values) - leading]
    index: tuple[Any, ...] = (..., *(places[dim] for dim in dims)) if dims else (..., None)
    result: FloatArray = np.asarray(values)[index]
    return result


def row_means(values: Mapping[str, FloatArray], places: Mapping[str, IntArray], leading: int = 2) -> FloatArray:
    """The mean of each row (..., rows): that of its cell, and the effects of its attribute word."""
    mean, *effects = (at_rows(name, values[name], places, leading) for name in MEANS if name in values)
    for effect in effects:
        mean += effect
    return mean
