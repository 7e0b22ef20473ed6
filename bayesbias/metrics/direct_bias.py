"""Direct bias: how much of words that should be neutral lies along the direction of the pairs."""

from __future__ import annotations

import numpy as np

from bayesbias._core.cosine import FloatArray, unit_products, unit_rows
from bayesbias.errors import InputError
from bayesbias.metrics.base import Measured, Metric, Sets, fixed


def principal_direction(first: FloatArray, second: FloatArray) -> FloatArray:
    """First principal direction of pairs of unit vectors, each pair centred; it points from the second to the first."""
    apart = unit_rows(first) - unit_rows(second)
    direction: FloatArray = np.linalg.svd(apart, full_matrices=False)[2][0]
    return direction if apart.sum(axis=0) @ direction >= 0 else -direction


def direct_bias(targets: Sets, attributes: Sets, exponent: float = 1.0) -> Measured:
    """Mean over attribute words w of |cos(w, g)|^c, with g the principal direction of the pairs and c the exponent."""
    if isinstance(exponent, bool) or not isinstance(exponent, int | float) or not exponent > 0:
        raise InputError(f"exponent is {exponent!r}: give a positive number")
    direction = principal_direction(*targets)
    by_word: FloatArray = np.abs(unit_products(attributes[0], direction)) ** exponent
    return Measured(float(by_word.mean()), by_word)


METRICS = (
    Metric(
        name="direct_bias",
        title="direct bias",
        measure=direct_bias,
        targets=(2, 2),
        attributes=(1, 1),
        words="attributes",
        optimum=0.0,
        bounds=fixed(0.0, 1.0),
        options={"exponent": 1.0},
        source="Bolukbasi, Chang, Zou, Saligrama and Kalai (2016)",
        doi="10.48550/arXiv.1607.06520",
        paired=True,
    ),
)
