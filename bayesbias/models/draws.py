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
}
"""Dimensions of the posterior variables beyond chain and draw; ``sigma`` has (connection,) or none."""


@dataclass(frozen=True)
class Draws:
    """Draws of a posterior, each array (chain, draw, ...).

    Attributes
    ----------
    connection_mean, connection_sd
        (chain, draw, connection).
    word_mean
        (chain, draw, protected_word, connection); NaN for a cell without a distance.
    sigma
        (chain, draw, connection), or (chain, draw) where the connections share it.
    extra
        Further scalar parameters, (chain, draw).
    sample_stats
        Statistics of the sampler, (chain, draw).
    attrs
        Facts about the fit as a whole.
    """

    connection_mean: FloatArray
    connection_sd: FloatArray
    word_mean: FloatArray
    sigma: FloatArray
    extra: Mapping[str, FloatArray] = field(default_factory=dict)
    sample_stats: Mapping[str, FloatArray] = field(default_factory=dict)
    attrs: Mapping[str, Any] = field(default_factory=dict)


def scatter_cells(values: FloatArray, filled: np.ndarray) -> FloatArray:
    """Cell values (..., filled cells) spread over (..., protected_word, connection), NaN elsewhere."""
    full = np.full((*values.shape[:-1], *filled.shape), np.nan)
    full[..., filled] = values
    return full
