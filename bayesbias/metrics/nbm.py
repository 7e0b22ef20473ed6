"""Neighbourhood bias metric: which side a word's nearest neighbours are on."""

from __future__ import annotations

import numpy as np

from bayesbias._checks import whole_number
from bayesbias._core.vectors import FloatArray, nearest_rows, unit_rows
from bayesbias.errors import InputError
from bayesbias.metrics.base import NOTHING, Measured, Metric, Option, Sets, Space, fixed, no_value


def nbm(targets: Sets, attributes: Sets, space: Space, neighbours: int = 100) -> Measured:
    """Mean over attribute words and pairs of (nearer to the first - nearer to the second) / k among k neighbours.

    Neighbours are the words of the vocabulary with the largest cosine, the word itself left out; one that is as near to
    either word of a pair counts for the first.
    """
    if neighbours >= len(space.unit):
        raise InputError(
            f"neighbours is {neighbours}: give a whole number from 1 to {len(space.unit) - 1}, the other words of the "
            "vocabulary"
        )
    apart = unit_rows(targets[0]) - unit_rows(targets[1])
    if np.abs(apart).max(axis=1).min() < NOTHING:
        reason = "the words of a pair have one direction, so that all neighbours are as near to both"
        return no_value(reason, len(space.rows))
    nearest = nearest_rows(space.unit, space.rows, neighbours) if space.nearest is None else space.nearest
    near, at = np.unique(nearest, return_inverse=True)
    side = np.where(space.unit[near] @ apart.T >= 0, 1.0, -1.0).mean(axis=1)
    by_word: FloatArray = side[at].reshape(nearest.shape).mean(axis=1)
    return Measured(float(by_word.mean()), by_word)


METRICS = (
    Metric(
        name="nbm",
        title="NBM",
        measure=nbm,
        targets=(2, 2),
        attributes=(1, 1),
        words="attributes",
        optimum=0.0,
        bounds=fixed(-1.0, 1.0),
        options={"neighbours": Option(100, whole_number)},
        source="Gonen and Goldberg (2019)",
        doi="10.18653/v1/N19-1061",
        paired=True,
        space=True,
    ),
)
