"""SemAxis: where words stand on an axis between two attribute sets."""

from __future__ import annotations

import numpy as np

from bayesbias._core.vectors import unit_products, unit_rows
from bayesbias.metrics.base import NOTHING, Measured, Metric, Sets, no_value


def semaxis(targets: Sets, attributes: Sets) -> Measured:
    """Cosine of target words with mean(A1) - mean(A2): its mean, or with two target sets the difference of their means.

    Positive is towards the first attribute set.
    """
    ends = np.stack([vectors.mean(axis=0) for vectors in attributes])
    axis = ends[0] - ends[1]
    if np.abs(axis).max() <= NOTHING * np.abs(ends).max():
        return no_value("both attribute sets have one mean, so there is no axis", sum(map(len, targets)))
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
        bounds=lambda sizes, options: (-float(len(sizes)), float(len(sizes))),
        source="An, Kwak and Ahn (2018)",
        doi="10.18653/v1/P18-1228",
    ),
)
