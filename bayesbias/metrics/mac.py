"""Mean average cosine distance."""

from __future__ import annotations

import numpy as np

from bayesbias._core.cosine import mean_unit, unit_products
from bayesbias.metrics.base import Measured, Metric, Sets, fixed


def mac(targets: Sets, attributes: Sets) -> Measured:
    """Mean cosine distance of a target word to an attribute set, over all target words and attribute sets."""
    sides = np.mean([mean_unit(vectors) for vectors in attributes], axis=0)
    by_word = 1 - np.concatenate([unit_products(vectors, sides) for vectors in targets])
    return Measured(float(by_word.mean()), by_word)


METRICS = (
    Metric(
        name="mac",
        title="MAC",
        measure=mac,
        targets=(1, None),
        attributes=(1, None),
        words="targets",
        optimum=1.0,
        bounds=fixed(0.0, 2.0),
        source="Manzini, Lim, Tsvetkov and Black (2019)",
        doi="10.18653/v1/N19-1062",
    ),
)
