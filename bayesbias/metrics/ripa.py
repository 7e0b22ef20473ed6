"""Relational inner product association."""

from __future__ import annotations

import numpy as np

from bayesbias._core.vectors import unit_rows
from bayesbias.metrics.base import Linear, Measured, Metric, Sets, Sides, no_value
from bayesbias.metrics.permutation import options_of_test


def ripa(targets: Sets, attributes: Sets) -> Measured:
    """Mean over attribute words and pairs of the inner product with the unit difference vector of a pair.

    Attribute vectors keep their lengths, as in the paper's formula.
    """
    apart = targets[0] - targets[1]
    if not apart.any(axis=1).all():
        return no_value("the words of a pair have one vector, so that nothing relates them", len(attributes[0]))
    relations = unit_rows(apart)
    by_word = attributes[0] @ relations.mean(axis=0)
    return Measured(float(by_word.mean()), by_word)


def _sides(targets: Sets, attributes: Sets) -> Sides:
    """Weights of the words in the mean, for vectors of length 1, whose inner products are cosines."""
    share = 1 / (len(targets[0]) * np.linalg.norm(targets[0] - targets[1], axis=1))
    return Sides(np.concatenate([share, -share]), np.full(len(attributes[0]), 1 / len(attributes[0])))


OPTIONS = options_of_test(related=True)

METRICS = (
    Metric(
        name="ripa",
        title="RIPA",
        measure=ripa,
        targets=(2, 2),
        attributes=(1, 1),
        words="attributes",
        optimum=0.0,
        bounds=lambda sizes, options: (-np.inf, np.inf),
        options=OPTIONS,
        of_test=tuple(OPTIONS),
        linear=Linear(_sides, needs={"normalise": True}),
        source="Ethayarajh, Duvenaud and Hirst (2019)",
        doi="10.18653/v1/P19-1166",
        paired=True,
    ),
)
