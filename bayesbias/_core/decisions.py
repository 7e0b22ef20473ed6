"""Estimates of many specifications with a known covariance: random effects of the decisions behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from bayesbias._core.vectors import FloatArray, IntArray

ROUNDING = 1e-10
"""Variance, as a share of the largest, that rounding leaves in combinations of estimates that are known exactly."""
FARTHEST = 3.2
"""Coordinate beyond which scales no longer change: a thousandth of the prior's width, or a thousand times it."""
SAME = 1e-9
"""Estimates that differ by a smaller share of their standard deviation are one."""


def distinct(y: FloatArray, covariance: FloatArray) -> IntArray:
    """The first of the specifications (n,) that each one is the same as: equal estimates, whose errors are the same."""
    variances = np.diag(covariance)
    apart = variances[:, None] + variances - 2 * covariance
    scale = np.maximum(variances[:, None], variances) + np.finfo(float).tiny
    same = (np.abs(y[:, None] - y) <= SAME * np.sqrt(scale)) & (apart <= SAME * scale)
    first: IntArray = same.argmax(axis=1)
    return first


@dataclass(frozen=True)
class Decisions:
    """The model ``y = mu + sum of Z_d a_d + r + e`` of estimates with the errors e ~ N(0, V).

    The effects of a decision's options are N(0, tau_d^2), the residuals N(0, tau^2). The prior of mu is flat, those of
    the scales are half-Cauchy.

    Attributes
    ----------
    y, design, variances
        Estimates (n,), the columns 1 and Z (n, 1 + p) and the eigenvalues (n,) of V, in the coordinates of its
        eigenvectors.
    basis
        These eigenvectors, (n, n).
    decision
        The decision that each column of Z belongs to, (p,).
    width
        Of the half-Cauchy priors.
    """

    y: FloatArray
    design: FloatArray
    variances: FloatArray
    basis: FloatArray
    decision: IntArray
    width: float

    @classmethod
    def of(cls, y: FloatArray, covariance: FloatArray, designs: Sequence[FloatArray], width: float) -> Decisions:
        """From the options (n, options) of each decision: shares of 1 for the options behind an estimate."""
        values, basis = np.linalg.eigh(covariance)
        design = np.column_stack([np.ones(len(y)), *designs])
        decision = np.repeat(np.arange(len(designs)), [each.shape[1] for each in designs])
        variances = np.maximum(values, ROUNDING * values[-1])
        return cls(basis.T @ y, basis.T @ design, variances, basis, decision, width)

    @property
    def scales(self) -> int:
        """Number of scales: of the decisions, and of the residual."""
        return int(self.decision.max(initial=-1)) + 2

    def scales_of(self, points: FloatArray) -> FloatArray:
        """Scales (G, scales) at points whose coordinates are standard normal beforehand."""
        value: FloatArray = self.width * np.tan(np.pi / 2 * ndtr(np.clip(points, -FARTHEST, FARTHEST)))
        return value

    def _normal_equations(self, tau: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Precision (G, 1 + p, 1 + p) and right side of mu and the effects, these in units of their scales; weights."""
        weights = 1 / (self.variances + tau[:, -1:] ** 2)
        n, size = self.design.shape
        units = np.column_stack([np.ones(len(tau)), tau[:, self.decision]])
        products = (self.design[:, :, None] * self.design[:, None, :]).reshape(n, -1)
        precision = (weights @ products).reshape(-1, size, size) * units[:, :, None] * units[:, None, :]
        precision[:, np.arange(1, size), np.arange(1, size)] += 1.0
        return precision, (weights * self.y) @ self.design * units, weights

    def log_density(self, points: FloatArray) -> FloatArray:
        """Log posterior (G,) at points (G, scales), with mu, effects and residuals integrated."""
        tau = self.scales_of(points)
        precision, product, weights = self._normal_equations(tau)
        chol = np.linalg.cholesky(precision)
        solved = np.linalg.solve(chol, product[..., None])[..., 0]
        log_det = 2 * np.log(np.diagonal(chol, axis1=1, axis2=2)).sum(axis=1)
        value: FloatArray = 0.5 * (
            np.log(weights).sum(axis=1) - weights @ self.y**2 - log_det + (solved**2).sum(axis=1)
        ) - 0.5 * (points**2).sum(axis=1)
        return value

    def draw(self, tau: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draws of the coefficients (D, 1 + p) and of the residuals (D, n), one for each row of scales (D, scales)."""
        precision, product, weights = self._normal_equations(tau)
        back = np.swapaxes(np.linalg.cholesky(precision), 1, 2)
        mean = np.linalg.solve(precision, product[..., None])[..., 0]
        noise = rng.standard_normal(product.shape)[..., None]
        units = np.column_stack([np.ones(len(tau)), tau[:, self.decision]])
        coefficients = (mean + np.linalg.solve(back, noise)[..., 0]) * units
        own = tau[:, -1:] ** 2
        left = self.y - coefficients @ self.design.T
        residual = own * weights * left + np.sqrt(own * self.variances * weights) * rng.standard_normal(left.shape)
        return coefficients, residual @ self.basis.T


def shares_of_variance(
    model: Decisions, coefficients: FloatArray, residual: FloatArray, design: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Shares (D, scales) of the variance over the specifications of each decision and the residual, and effects (D, p).

    Variances are those of the given options (finite populations, Gelman 2005, doi 10.1214/009053604000001048): each
    decision's is the variance over the specifications of its effects.
    """
    effects = coefficients[:, 1:].copy()
    parts = []
    for place in range(model.scales - 1):
        own = model.decision == place
        weights = design[:, own].mean(axis=0)
        # effects are told from the mean by adding up to 0 over the specifications
        effects[:, own] -= (effects[:, own] @ weights)[:, None]
        parts.append((effects[:, own] @ design[:, own].T).var(axis=1))
    parts.append(residual.var(axis=1))
    total = np.column_stack(parts)
    sums = total.sum(axis=1, keepdims=True)
    shares: FloatArray = np.divide(total, sums, out=np.zeros_like(total), where=sums > 0)
    return shares, effects
