"""Logistic regression, plain and with a kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from bayesbias._core.vectors import FloatArray

MOST_STEPS = 100
# twice the share of the loss that the last step gains: about its rounding. That step leaves far less.
DECREMENT = 1e-14
ROUNDING = 0.01  # error up to which a Hessian in single precision serves: its smallest eigenvalue is 1

# with a kernel
MOST_FACTORS, MOST_KERNEL_STEPS = 100, 30
CLOSE = 1e-10  # largest residual of the equations at the end; alpha is at most 1
SLOW = 0.3  # the factor of the equations is renewed where a step leaves more than this of the residual
KERNEL_ROUNDING, SHORTEST = 1e-13, 1e-8  # share of the loss that is rounding, and the shortest step that is tried
Solution = tuple[FloatArray, float]


def fit_logistic(x: FloatArray, first: np.ndarray) -> FloatArray:
    """Coefficients (d + 1,), the intercept last, of a logistic regression that separates rows that are ``first``.

    Minimises |w|^2 / 2 + sum log(1 + exp(-y (x w))) for rows x (rows, d), the intercept penalised like the rest, by
    Newton's method with halved steps. With fewer rows than dimensions the equations are solved in the rows. An
    ArithmeticError says that it has not converged after a hundred steps.
    """
    rows = np.hstack([x, np.ones((len(x), 1))])
    y = np.where(first, 1.0, -1.0)
    w = np.zeros(rows.shape[1])
    gram = rows @ rows.T if len(rows) < rows.shape[1] else None
    margin = y * (rows @ w)
    loss = _loss(w, margin)
    for _ in range(MOST_STEPS):
        wrong = expit(-margin)
        gradient = w - rows.T @ (y * wrong)
        step = _newton_step(rows, wrong * (1 - wrong), gradient, gram)
        # half the Newton decrement g' H^-1 g is what a step gains near the solution (Boyd and Vandenberghe 2004,
        # Convex Optimization, section 9.5, https://doi.org/10.1017/CBO9780511804441)
        if gradient @ step < DECREMENT * max(1.0, loss):
            return w - step
        # the loss is convex, so that a short enough step lowers it; all lengths share one product with the rows
        along, length = y * (rows @ step), 1.0
        while (tried := _loss(w - length * step, margin - length * along)) > loss and length > 1e-8:
            length /= 2
        w, margin, loss = w - length * step, margin - length * along, tried
    raise ArithmeticError(f"no convergence in {MOST_STEPS} steps: one more would gain {gradient @ step / 2:.1g}")


def _loss(w: FloatArray, margin: FloatArray) -> float:
    return float(0.5 * w @ w + np.logaddexp(0, -margin).sum())


def _newton_step(rows: FloatArray, curvature: FloatArray, gradient: FloatArray, gram: FloatArray | None) -> FloatArray:
    """(I + X' D X)^-1 g, by d unknowns or, with the rows' products, by as many as rows."""
    if gram is None:
        # the gradient decides where the steps end, so single precision serves while its error is far below the 1 added
        squares: FloatArray = np.vecdot(rows, rows)
        rounding = np.finfo(np.float32).eps * float(curvature @ squares)
        precision = np.float32 if rounding < ROUNDING else np.float64
        weighted: NDArray[np.floating] = (rows * np.sqrt(curvature)[:, None]).astype(precision)
        hessian = np.asarray(weighted.T @ weighted, dtype=np.float64)
        hessian[np.diag_indices_from(hessian)] += 1
        return cho_solve(cho_factor(hessian, overwrite_a=True), gradient)
    root = np.sqrt(curvature)
    # Woodbury: (I + X'DX)^-1 = I - X' R (I + R X X' R)^-1 R X with R = D^(1/2)
    inner = root[:, None] * gram * root
    inner[np.diag_indices_from(inner)] += 1
    return gradient - rows.T @ (root * cho_solve(cho_factor(inner), root * (rows @ gradient)))


def fit_in_rows(gram: FloatArray, first: np.ndarray, start: Solution | None = None) -> Solution:
    """Weights alpha (rows,) and intercept b of a logistic regression that separates rows that are ``first``.

    Minimises |w|^2 / 2 + sum log(1 + exp(-y (x w + b))) with w = x' alpha, the intercept without penalty (that of
    scikit-learn's LogisticRegression with C = 1). At the solution alpha = first - p, and alpha sums to 0. Newton's
    method, with a factor that is kept while it serves and steps that are halved until the loss falls. ``gram`` holds
    the inner products (rows, rows); it may start from the solution for some of the rows with 0 for the others. An
    ArithmeticError says that it has not converged.
    """
    label = first.astype(float)
    point = _Point.of(gram, label, *((np.zeros(len(gram)), 0.0) if start is None else start))
    for _ in range(MOST_FACTORS):
        if point.size < CLOSE:
            return point.alpha, point.b
        # alpha = first - p(K alpha + b), linearised: (K + W^-1) step + rise 1 = W^-1 residual with W = p (1 - p), and
        # the rise such that alpha adds up to 0
        weight = np.maximum(point.probability * (1 - point.probability), 1e-12)
        factor = cho_factor(gram + np.diag(1 / weight), lower=True, overwrite_a=True, check_finite=False)
        across = cho_solve(factor, np.ones(len(gram)), check_finite=False)
        for number in range(MOST_KERNEL_STEPS):
            step = cho_solve(factor, point.residual / weight, check_finite=False)
            rise = (step.sum() + point.alpha.sum()) / across.sum()
            step -= rise * across
            length = 1.0
            tried = _Point.of(gram, label, point.alpha + step, point.b + rise)
            while not tried.better_than(point) and number == 0 and length > SHORTEST:  # a factor of this very point
                length /= 2
                tried = _Point.of(gram, label, point.alpha + length * step, point.b + length * rise)
            if not tried.better_than(point):
                break
            slow = tried.size > SLOW * point.size
            point = tried
            if slow or point.size < CLOSE:
                break
    raise ArithmeticError(f"no convergence: a residual of {point.size:.1g} is left")


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
        slack = KERNEL_ROUNDING * (1 + abs(other.loss))
        return self.loss < other.loss - slack or (self.loss < other.loss + slack and self.size < other.size)
