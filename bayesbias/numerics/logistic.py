"""Logistic regression in the rows, which are few beside the dimensions."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from bayesbias.numerics.arrays import FloatArray

MOST_STEPS = 100
# twice the share of the loss that the last step gains: about its rounding. That step leaves far less.
DECREMENT = 1e-14
ROUNDING, SHORTEST = 1e-13, 1e-8  # share of the loss that is rounding, and the shortest step that is tried


def fit_in_rows(
    gram: FloatArray, first: np.ndarray, start: tuple[FloatArray, float] | None = None, intercept: bool = True
) -> tuple[FloatArray, float]:
    """Weights alpha (rows,) and intercept b of a logistic regression that separates rows that are ``first``.

    Minimises |w|^2 / 2 + sum log(1 + exp(-y (x w + b))) with w = x' alpha, the intercept without penalty (that of
    scikit-learn's LogisticRegression with C = 1), or b = 0 without an ``intercept``, by Newton's method with steps that
    are halved until the loss falls. ``gram`` holds the inner products (rows, rows); it may start from the solution for
    some of the rows with 0 for the others. An ArithmeticError says that it has not converged after a hundred steps.

    Bootstraps and silhouettes fit a few words in hundreds of dimensions thousands of times: scikit-learn's solvers take
    three to ten times as long for each, or do not converge as far.
    """
    label = first.astype(float)
    alpha, b = (np.zeros(len(gram)), 0.0) if start is None else start

    def loss(alpha: FloatArray, b: float) -> float:
        margin = gram @ alpha
        return float(0.5 * alpha @ margin + np.logaddexp(0, (1 - 2 * label) * (margin + b)).sum())

    before = loss(alpha, b)
    for _ in range(MOST_STEPS):
        # at the solution alpha = first - p, and with an intercept alpha sums to 0
        p = expit(gram @ alpha + b)
        residual = label - p - alpha
        # Newton's step, the equation linearised: (K + W^-1) step + rise 1 = W^-1 residual with W = p (1 - p), and the
        # rise such that alpha adds up to 0
        weight = np.maximum(p * (1 - p), 1e-12)
        factor = cho_factor(gram + np.diag(1 / weight), lower=True, overwrite_a=True, check_finite=False)
        both = np.column_stack([residual / weight, np.ones(len(gram))])
        step, across = cho_solve(factor, both, check_finite=False).T
        rise = float((step.sum() + alpha.sum()) / across.sum()) if intercept else 0.0
        step = step - rise * across
        # half the Newton decrement is what a step gains near the solution (Boyd and Vandenberghe 2004, Convex
        # Optimization, section 9.5, https://doi.org/10.1017/CBO9780511804441)
        decrement = residual @ (gram @ step) + (label - p).sum() * rise
        if decrement < DECREMENT * max(1.0, before):
            return alpha + step, b + rise
        # the loss is convex, so that a short enough step lowers it
        length = 1.0
        while (after := loss(alpha + length * step, b + length * rise)) > before * (1 + ROUNDING) and length > SHORTEST:
            length /= 2
        alpha, b, before = alpha + length * step, b + length * rise, after
    raise ArithmeticError(f"no convergence in {MOST_STEPS} steps: one more would gain {decrement / 2:.1g}")
