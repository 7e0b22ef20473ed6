"""Neighbourhood bias metric: which side a word's nearest neighbours are on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesbias._core.cells import IntArray
from bayesbias._core.cosine import unit_rows
from bayesbias.errors import InputError
from bayesbias.metrics.base import Measured, Metric, Sets, Space, fixed

BLOCK = 2**24
"""Cosines that are held at once."""


def nbm(targets: Sets, attributes: Sets, space: Space, neighbours: int = 100) -> Measured:
    """Mean over attribute words and pairs of (nearer to the first - nearer to the second) / k among k neighbours.

    Neighbours are the words of the vocabulary with the largest cosine, the word itself left out; one that is as near to
    either word of a pair counts for the first.
    """
    if not 1 <= neighbours < len(space.unit):
        raise InputError(
            f"neighbours is {neighbours!r}: give a whole number from 1 to {len(space.unit) - 1}, the other words of "
            "the vocabulary"
        )
    apart = unit_rows(targets[0]) - unit_rows(targets[1])
    side = np.where(space.unit @ apart.T >= 0, 1.0, -1.0).mean(axis=1)
    rows = space.rows
    by_word = np.empty(len(rows))
    step = max(1, BLOCK // len(space.unit))
    for begin in range(0, len(rows), step):
        block = rows[begin : begin + step]
        nearest = _nearest(space.unit, block, neighbours)
        by_word[begin : begin + step] = side[nearest].mean(axis=1)
    return Measured(float(by_word.mean()), by_word)


def _nearest(vectors: NDArray[np.floating], rows: IntArray, count: int) -> IntArray:
    """The rows with the largest inner products, (rows, count), themselves left out."""
    products = vectors[rows] @ vectors.T
    products[np.arange(len(rows)), rows] = -np.inf
    return np.argpartition(-products, count - 1, axis=1)[:, :count]


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
        options={"neighbours": 100},
        source="Gonen and Goldberg (2019)",
        doi="10.18653/v1/N19-1061",
        paired=True,
        space=True,
    ),
)
