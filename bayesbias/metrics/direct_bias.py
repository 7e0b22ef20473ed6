"""Direct bias: how much of words that should be neutral lies along the direction of the pairs."""

from __future__ import annotations

import numpy as np

from bayesbias._checks import finite_number
from bayesbias._core.vectors import FloatArray, unit_products, unit_rows
from bayesbias.metrics.base import NOTHING, Measured, Metric, Option, Sets, fixed, no_value


def principal_direction(first: FloatArray, second: FloatArray) -> FloatArray:
    """First principal direction of pairs of unit vectors, each pair centred; it points from the second to the first."""
    apart = unit_rows(first) - unit_rows(second)
    direction: FloatArray = np.linalg.svd(apart, full_matrices=False)[2][0]
    return direction if apart.sum(axis=0) @ direction >= 0 else -direction


def direct_bias(targets: Sets, attributes: Sets, exponent: float = 1.0) -> Measured:
    """Mean over attribute words w of |cos(w, g)|^c, with g the principal direction of the pairs and c the exponent."""
    if np.abs(unit_rows(targets[0]) - unit_rows(targets[1])).max() < NOTHING:
        return no_value(
            "the words of each pair have one direction, so that nothing sets them apart", len(attributes[0])
        )
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
        options={"exponent": Option(1.0, lambda value, name: finite_number(value, name, positive=True))},
        source="Bolukbasi, Chang, Zou, Saligrama and Kalai (2016)",
        doi="10.48550/arXiv.1607.06520",
        paired=True,
    ),
)
