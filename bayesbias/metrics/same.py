"""The SAME score: how much of a word lies in the space that separates groups."""

from __future__ import annotations

import numpy as np

from bayesbias._core.vectors import FloatArray, mean_unit, unit_products
from bayesbias.metrics.base import NOTHING, Measured, Metric, Sets, fixed, no_value


def same(targets: Sets, attributes: Sets) -> Measured:
    """Mean over attribute words of the length of a unit word vector's projection onto the groups' differences.

    The differences are those of the groups' mean unit vectors from the first group's. With two groups it is the paper's
    |cos(w, m1 - m2)|. With more, the paper adds the |cos| of successive orthogonal differences, which depends on the
    order of the groups; the length of the projection does not.
    """
    means = np.stack([mean_unit(vectors) for vectors in targets])
    basis = _basis(means[1:] - means[0])
    by_word: FloatArray = np.linalg.norm(unit_products(attributes[0], basis), axis=0)
    if not len(basis):
        return no_value("the groups have one mean, so nothing separates them", len(by_word))
    return Measured(float(by_word.mean()), by_word)


def _basis(differences: FloatArray) -> FloatArray:
    """Orthonormal rows that span the differences."""
    _, sizes, axes = np.linalg.svd(differences, full_matrices=False)
    spanning: FloatArray = axes[sizes > NOTHING]
    return spanning


METRICS = (
    Metric(
        name="same",
        title="SAME",
        measure=same,
        targets=(2, None),
        attributes=(1, 1),
        words="attributes",
        optimum=0.0,
        bounds=fixed(0.0, 1.0),
        source="Schröder, Schulz, Kenneweg, Feldhans, Hinder and Hammer (2021)",
        doi="10.48550/arXiv.2111.07864",
    ),
)
