"""Relative norm distance: how much nearer attribute words lie to the mean of one target set than to the other's."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from bayesbias._checks import one_of
from bayesbias._core.vectors import FloatArray, unit_products, unit_rows
from bayesbias.metrics.base import Linear, Measured, Metric, Option, Sets, Sides, no_value
from bayesbias.metrics.permutation import options_of_test

DISTANCES = ("norm", "cos")


def rnd(targets: Sets, attributes: Sets, distance: str = "norm") -> Measured:
    """Mean over attribute words a of ||a - m1|| - ||a - m2||, or of cos(a, m1) - cos(a, m2), m the target sets' means.

    A difference of norms is negative where the words lie nearer to the first set; one of cosines is then positive.
    """
    first, second = (vectors.mean(axis=0) for vectors in targets)
    if distance == "cos" and not (first.any() and second.any()):
        return no_value("the mean vector of a target set is 0 and has no direction", len(attributes[0]))
    by_word = _norms(attributes[0], first, second) if distance == "norm" else _cosines(attributes[0], first, second)
    return Measured(float(by_word.mean()), by_word)


def _norms(words: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    to_first, to_second = cdist(np.stack([first, second]), words)
    apart: FloatArray = to_first - to_second
    return apart


def _cosines(words: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    sides = unit_rows(np.stack([first, second]))
    return unit_products(words, sides[0] - sides[1])


def _sides(targets: Sets, attributes: Sets) -> Sides:
    """Weights of the words in the mean of cosines: cos(a, m) = sum over v of |v| cos(a, v) / (n |m|)."""
    shares = [
        sign * np.linalg.norm(one, axis=1) / np.linalg.norm(one.sum(axis=0))
        for sign, one in zip((1, -1), targets, strict=True)
    ]
    return Sides(np.concatenate(shares), np.full(len(attributes[0]), 1 / len(attributes[0])))


TEST = options_of_test(related=True)

METRICS = (
    Metric(
        name="rnd",
        title="RND",
        measure=rnd,
        targets=(2, 2),
        attributes=(1, 1),
        words="attributes",
        optimum=0.0,
        bounds=lambda sizes, options: (-2.0, 2.0) if options["distance"] == "cos" else (-np.inf, np.inf),
        options={"distance": Option("norm", lambda value, name: one_of(value, DISTANCES, name)), **TEST},
        of_test=tuple(TEST),
        linear=Linear(_sides, needs={"distance": "cos"}),
        source="Garg, Schiebinger, Jurafsky and Zou (2018)",
        doi="10.1073/pnas.1720347115",
    ),
)
