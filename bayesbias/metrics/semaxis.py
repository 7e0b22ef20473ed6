"""SemAxis: where words stand on an axis between two attribute sets."""

from __future__ import annotations

import numpy as np

from bayesbias._core.cosine import unit_products, unit_rows
from bayesbias.metrics.base import Measured, Metric, Sets, fixed


def semaxis(targets: Sets, attributes: Sets) -> Measured:
    """Cosine of target words with mean(A1) - mean(A2): its mean, or with two target sets the difference of their means.

    Positive is towards the first attribute set.
    """
    axis = attributes[0].mean(axis=0) - attributes[1].mean(axis=0)
    if not axis.any():
        empty = np.full(sum(map(len, targets)), np.nan)
        return Measured(float("nan"), empty, reason="both attribute sets have one mean, so there is no axis")
    sides = [unit_products(vectors, unit_rows(axis[None])[0]) for vectors in targets]
    means = [float(side.mean()) for side in sides]
    return Measured(means[0] - (means[1] if len(means) > 1 else 0.0), np.concatenate(sides))


METRICS = (
    Metric(
        name="semaxis",
        title="SemAxis",
        measure=semaxis,
        targets=(1, 2),
        attributes=(2, 2),
        words="targets",
        optimum=0.0,
        bounds=fixed(-2.0, 2.0),
        source="An, Kwak and Ahn (2018)",
        doi="10.18653/v1/P18-1228",
    ),
)
