"""Embedding coherence test."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from bayesbias._core.vectors import FloatArray, unit_products, unit_rows
from bayesbias.metrics.base import Measured, Metric, Sets, fixed, no_value


def ect(targets: Sets, attributes: Sets) -> Measured:
    """Spearman correlation over attribute words of their cosines with the mean vectors of two target sets.

    1 is no bias: either group ranks the attribute words alike.
    """
    means = np.stack([vectors.mean(axis=0) for vectors in targets])
    if not means.any(axis=1).all():
        return no_value("the mean vector of a target set is 0 and has no direction", len(attributes[0]))
    sides = unit_rows(means)
    ranks: FloatArray = rankdata(unit_products(attributes[0], sides), axis=1)
    by_word = ranks[0] - ranks[1]
    if len(by_word) < 2:
        return no_value("one attribute word has no order", len(by_word))
    if not ranks.std(axis=1).all():
        return no_value("all attribute words are as near to a group as each other", len(by_word))
    few = "with two attribute words it is 1 or -1" if len(by_word) == 2 else None
    return Measured(float(np.corrcoef(*ranks)[0, 1]), by_word, warning=few)


METRICS = (
    Metric(
        name="ect",
        title="ECT",
        measure=ect,
        targets=(2, 2),
        attributes=(1, 1),
        words="attributes",
        optimum=1.0,
        bounds=fixed(-1.0, 1.0),
        source="Dev and Phillips (2019)",
        doi="10.48550/arXiv.1901.07656",
    ),
)
