"""Logistic regression with an L2 penalty, to convergence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from bayesbias._core.cosine import FloatArray

MOST_STEPS = 100
DECREMENT = 1e-14
"""Twice the share of the loss that the last step gains: about its rounding. That step leaves far less."""
ROUNDING = 0.01


def fit_logistic(x: FloatArray, first: np.ndarray) -> FloatArray:
    """Coefficients (d + 1,), the intercept last, of a logistic regression that separates rows that are ``first``.

    Minimises |w|^2 / 2 + sum log(1 + exp(-y (x w))), the intercept penalised like the rest, by Newton's method with
    halved steps. With fewer rows than dimensions the equations are solved in the rows.

    Parameters
    ----------
    x
        (rows, d).
    first
        Boolean (rows,): the rows with label 1.

    Raises
    ------
    ArithmeticError
        It has not converged after a hundred steps.
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
        if gradient @ step < DECREMENT * max(1.0, loss):
            return w - step
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
        whole: FloatArray = cho_solve(cho_factor(hessian, overwrite_a=True), gradient)
        return whole
    root = np.sqrt(curvature)
    inner = root[:, None] * gram * root
    inner[np.diag_indices_from(inner)] += 1
    step: FloatArray = gradient - rows.T @ (root * cho_solve(cho_factor(inner), root * (rows @ gradient)))
    return step
