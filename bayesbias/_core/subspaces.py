"""Directions in which sets of vectors differ, their removal, and sets made to differ in nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayesbias._core.cosine import FloatArray, unit_rows

NOTHING = 1e-10
"""Length, beside 1, of a vector that has nothing left."""


def principal_directions(sets: Sequence[FloatArray], components: int) -> tuple[FloatArray, FloatArray]:
    """Directions in which the members of sets differ most.

    Parameters
    ----------
    sets
        Unit vectors (members, dimensions) of each set; a set's mean is taken off its members.
    components
        How many directions to keep.

    Returns
    -------
    directions
        Orthonormal (components, dimensions), the strongest first.
    shares
        Share of the variance along every direction there is, (min(members of all sets, dimensions),).
    """
    apart = np.vstack([vectors - vectors.mean(axis=0) for vectors in sets])
    _, sizes, axes = np.linalg.svd(apart, full_matrices=False)
    variances = sizes**2
    return axes[:components], variances / variances.sum()


def without(vectors: FloatArray, directions: FloatArray) -> FloatArray:
    """Vectors (words, dimensions) less their projections on orthonormal directions (k, dimensions)."""
    left: FloatArray = vectors - (vectors @ directions.T) @ directions
    return left


def equalised(vectors: FloatArray, directions: FloatArray) -> FloatArray:
    """Members of a set with one part outside the directions and parts inside of one length, as unit vectors.

    What they share outside is their mean there; inside, each keeps the direction in which it departs from their mean.
    A member that does not depart from it stays at the mean.

    Parameters
    ----------
    vectors
        Unit vectors (members, dimensions) of the set.
    directions
        Orthonormal (k, dimensions).
    """
    mean = vectors.mean(axis=0)
    shared = without(mean[None], directions)[0]
    inside = ((vectors - mean) @ directions.T) @ directions
    lengths = np.linalg.norm(inside, axis=1, keepdims=True)
    towards = np.divide(inside, lengths, out=np.zeros_like(inside), where=lengths > NOTHING)
    moved: FloatArray = unit_rows(shared + np.sqrt(max(1 - shared @ shared, 0.0)) * towards)
    return moved
