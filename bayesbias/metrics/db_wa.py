"""Word association of the debiasing literature (DB/WA)."""

from __future__ import annotations

import numpy as np

from bayesbias._core.vectors import unit_products, unit_rows
from bayesbias.metrics.base import Linear, Measured, Metric, Sets, Sides, fixed
from bayesbias.metrics.permutation import options_of_test


def db_wa(targets: Sets, attributes: Sets) -> Measured:
    """Mean over attribute words w and pairs (a, b) of cos(w, a) - cos(w, b)."""
    apart = (unit_rows(targets[0]) - unit_rows(targets[1])).mean(axis=0)
    by_word = unit_products(attributes[0], apart)
    return Measured(float(by_word.mean()), by_word)


def _sides(targets: Sets, attributes: Sets) -> Sides:
    """Weights of the words in the mean."""
    pairs, words = len(targets[0]), len(attributes[0])
    return Sides(np.repeat([1 / pairs, -1 / pairs], pairs), np.full(words, 1 / words))


OPTIONS = options_of_test(related=True)

METRICS = (
    Metric(
        name="db_wa",
        title="DB/WA",
        measure=db_wa,
        targets=(2, 2),
        attributes=(1, 1),
        words="attributes",
        optimum=0.0,
        bounds=fixed(-2.0, 2.0),
        options=OPTIONS,
        of_test=tuple(OPTIONS),
        linear=Linear(_sides),
        source="Bolukbasi et al. (2016) and Caliskan et al. (2017), named by Du, Fang and Nguyen (2021)",
        doi="10.18653/v1/2021.emnlp-main.785",
        paired=True,
    ),
)
