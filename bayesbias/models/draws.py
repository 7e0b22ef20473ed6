"""What an engine gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesbias._core.cosine import FloatArray

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


def scatter_cells(values: FloatArray, filled: np.ndarray) -> FloatArray:
    """Cell values (..., filled cells) spread over (..., protected_word, connection), NaN elsewhere."""
    full = np.full((*values.shape[:-1], *filled.shape), np.nan)
    full[..., filled] = values
    return full
