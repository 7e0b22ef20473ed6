"""Logistic regression in the rows: for fewer rows than dimensions, by their inner products."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from bayesbias._core.cosine import FloatArray

MOST_FACTORS, MOST_STEPS = 100, 30
CLOSE = 1e-10
"""Largest residual of the equations at the end; alpha is at most 1."""
SLOW = 0.3
"""The factor of the equations is renewed where a step leaves more than this of the residual."""
ROUNDING, SHORTEST = 1e-13, 1e-8

Solution = tuple[FloatArray, float]


def fit_in_rows(gram: FloatArray, first: np.ndarray, start: Solution | None = None) -> Solution:
    """Weights alpha (rows,) and intercept b of a logistic regression that separates rows that are ``first``.

    Minimises |w|^2 / 2 + sum log(1 + exp(-y (x w + b))) with w = x' alpha, the intercept without penalty (that of
    scikit-learn's LogisticRegression with C = 1). At the solution alpha = first - p, and alpha sums to 0. Newton's
    method, with a factor that is kept while it serves and steps that are halved until the loss falls.

    Parameters
    ----------
    gram
        (rows, rows): inner products.
    first
        Boolean (rows,).
    start
        Where to begin, such as the solution for some of the rows with 0 for the others.

    Raises
    ------
    ArithmeticError
        It has not converged.
    """
    label = first.astype(float)
    at = _Point.of(gram, label, *((np.zeros(len(gram)), 0.0) if start is None else start))
    for _ in range(MOST_FACTORS):
        if at.size < CLOSE:
            return at.alpha, at.b
        weight = np.maximum(at.probability * (1 - at.probability), 1e-12)
        factor = cho_factor(gram + np.diag(1 / weight), lower=True, overwrite_a=True, check_finite=False)
        across = cho_solve(factor, np.ones(len(gram)), check_finite=False)
        for number in range(MOST_STEPS):
            step = cho_solve(factor, at.residual / weight, check_finite=False)
            rise = (step.sum() + at.alpha.sum()) / across.sum()
            step -= rise * across
            length = 1.0
            tried = _Point.of(gram, label, at.alpha + step, at.b + rise)
            while not tried.better_than(at) and number == 0 and length > SHORTEST:  # a factor of this very point
                length /= 2
                tried = _Point.of(gram, label, at.alpha + length * step, at.b + length * rise)
            if not tried.better_than(at):
                break
            slow = tried.size > SLOW * at.size
            at = tried
            if slow or at.size < CLOSE:
                break
    raise ArithmeticError(f"no convergence: a residual of {at.size:.1g} is left")


@dataclass(frozen=True)
class _Point:
    """Weights and intercept, with what is known there."""

    alpha: FloatArray
    b: float
    probability: FloatArray
    residual: FloatArray
    loss: float
    size: float

    @classmethod
    def of(cls, gram: FloatArray, label: FloatArray, alpha: FloatArray, b: float) -> _Point:
        margin = gram @ alpha
        probability = expit(margin + b)
        residual = label - probability - alpha
        loss = 0.5 * alpha @ margin + np.logaddexp(0, (1 - 2 * label) * (margin + b)).sum()
        return cls(alpha, b, probability, residual, float(loss), float(max(np.abs(residual).max(), abs(alpha.sum()))))

    def better_than(self, other: _Point) -> bool:
        """A smaller loss, or the same up to rounding with a smaller residual."""
        slack = ROUNDING * (1 + abs(other.loss))
        return self.loss < other.loss - slack or (self.loss < other.loss + slack and self.size < other.size)
