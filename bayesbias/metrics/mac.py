"""Mean average cosine distance."""

from __future__ import annotations

import numpy as np

from bayesbias._core.vectors import mean_unit, unit_products
from bayesbias.metrics.base import Linear, Measured, Metric, Sets, Sides, fixed
from bayesbias.metrics.permutation import options_of_test


def mac(targets: Sets, attributes: Sets) -> Measured:
    """Mean cosine distance of a target word to an attribute set, over all target words and attribute sets."""
    sides = np.mean([mean_unit(vectors) for vectors in attributes], axis=0)
    by_word = 1 - np.concatenate([unit_products(vectors, sides) for vectors in targets])
    return Measured(float(by_word.mean()), by_word)


def _sides(targets: Sets, attributes: Sets) -> Sides:
    """Weights of the words in the sum: the mean of cosines is subtracted from 1."""
    words = sum(map(len, targets))
    return Sides(
        np.full(words, -1 / words),
        np.concatenate([np.full(len(one), 1 / len(one)) for one in attributes]) / len(attributes),
    )


OPTIONS = options_of_test(related=True)

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
        options=OPTIONS,
        of_test=tuple(OPTIONS),
        linear=Linear(_sides, constant=1.0),
        source="Manzini, Lim, Tsvetkov and Black (2019)",
        doi="10.18653/v1/N19-1062",
    ),
)
