"""Estimates of many specifications with a known covariance: random effects of the decisions behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh, null_space

from bayesbias._core.vectors import FloatArray, IntArray

# variance, as a share of the largest, that rounding leaves in combinations of estimates that are known exactly
ROUNDING = 1e-10
SAME = 1e-9  # estimates that differ by a smaller share of their standard deviation are one
GRID = np.geomspace(1e-4, 1e4, 600)  # scales, in widths of their prior


def distinct(y: FloatArray, covariance: FloatArray) -> IntArray:
    """The first of the specifications (n,) that each one is the same as: equal estimates, whose errors are the same."""
    variances = np.diag(covariance)
    apart = variances[:, None] + variances - 2 * covariance
    scale = np.maximum(variances[:, None], variances) + np.finfo(float).tiny
    same = (np.abs(y[:, None] - y) <= SAME * np.sqrt(scale)) & (apart <= SAME * scale)
    return same.argmax(axis=1)


class Drawn(NamedTuple):
    """Draws of what is behind estimates."""

    scales: FloatArray  # of the effects of each decision, and of the residuals, (D, decisions + 1)
    # of the options of all decisions, (D, p); those of a decision add up to 0 over the specifications
    effects: FloatArray
    residual: FloatArray  # (D, n)
    theta: FloatArray  # what is behind each estimate, (D, n)
    shares: FloatArray  # of each decision and the residual in the variance over the specifications, (D, decisions + 1)


@dataclass(frozen=True)
class Decisions:
    """The model ``y = mu + sum of Z_d a_d + r + e`` of estimates with the errors e ~ N(0, V).

    The effects of a decision's options are N(0, tau_d^2); the residuals have variance tau^2 and are as correlated as
    the errors, so that what is nearly one specification has nearly one residual. The priors of the scales are
    half-Cauchy, that of mu is flat.

    Effects are what options add to the mean of these specifications. Each part is learnt of from means that weigh them
    equally: mu from the mean, effects from least squares, residuals from their sum of squares. Weights by precision
    would take V and the additivity of decisions for exact: where an option makes an estimate and its error somewhat
    smaller, the difference would tell the error.
    """

    # estimates (n,) and V (n, n)
    y: FloatArray
    covariance: FloatArray
    designs: Sequence[FloatArray]  # of each decision (n, options): shares of 1 for the options behind an estimate
    width: float  # of the half-Cauchy priors

    def _maps(self) -> list[FloatArray]:
        """Matrices (options, n) from estimates to effects by least squares, for each decision."""
        every = np.linalg.pinv(np.column_stack([np.ones(len(self.y)), *self.designs]))[1:]
        ends = np.cumsum([design.shape[1] for design in self.designs])[:-1]
        # effects are told from the mean by adding up to 0 over the specifications
        return [
            own - design.mean(axis=0) @ own for own, design in zip(np.split(every, ends), self.designs, strict=True)
        ]

    def draw(self, draws: int, rng: np.random.Generator) -> Drawn:
        """Draws of all parts, which share the errors of the estimates."""
        n = len(self.y)
        values, basis = np.linalg.eigh(self.covariance)
        root = basis * np.sqrt(np.maximum(values, 0))
        errors, others = (rng.standard_normal((draws, n)) @ root.T for _ in range(2))
        left = np.eye(n) - 1 / n
        scales, effects, parts = [], [], []
        for design, own in zip(self.designs, self._maps(), strict=True):
            tau, effect = self._effects(design, own, errors, rng)
            scales.append(tau)
            effects.append(effect)
            parts.append(effect @ design.T)
            left = left - design @ own
        tau, residual = self._residuals(left, errors, others, rng)
        parts.append(residual)
        # variances over the given specifications (finite populations, Gelman 2005, doi 10.1214/009053604000001048)
        total = np.column_stack([part.var(axis=1) for part in parts])
        sums = total.sum(axis=1, keepdims=True)
        return Drawn(
            scales=np.column_stack([*scales, tau]),
            effects=np.column_stack(effects),
            residual=residual,
            theta=(self.y - errors).mean(axis=1)[:, None] + sum(parts),
            shares=np.divide(total, sums, out=np.zeros_like(total), where=sums > 0),
        )

    def _scales(self, log_likelihood: FloatArray, draws: int, rng: np.random.Generator) -> FloatArray:
        """Draws of a scale from its log likelihood on the grid."""
        mass = np.exp(log_likelihood - log_likelihood.max()) * GRID / (1 + GRID**2)
        step = np.log(GRID[1] / GRID[0])
        chosen = rng.choice(len(GRID), draws, p=mass / mass.sum())
        drawn: FloatArray = self.width * GRID[chosen] * np.exp(step * (rng.random(draws) - 0.5))
        return drawn

    def _effects(
        self, design: FloatArray, own: FloatArray, errors: FloatArray, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Draws of a decision's scale and effects."""
        weights = design.mean(axis=0)
        centring = np.eye(len(own)) - weights
        plane = null_space(weights[None])
        prior = plane.T @ centring @ centring.T @ plane
        # in these coordinates the effects are independent beforehand, with one variance, and so are their errors
        known, axes = eigh(plane.T @ own @ self.covariance @ own.T @ plane, prior)
        known = np.maximum(known, ROUNDING * np.diag(self.covariance).max())
        estimate, noise = axes.T @ plane.T @ own @ self.y, errors @ own.T @ plane @ axes
        variances = (self.width * GRID[:, None]) ** 2 + known
        tau = self._scales(-0.5 * (np.log(variances) + estimate**2 / variances).sum(axis=1), len(errors), rng)
        before = tau[:, None] * rng.standard_normal(noise.shape)
        pull = tau[:, None] ** 2 / (tau[:, None] ** 2 + known)
        return tau, (before + pull * (estimate - before - noise)) @ (plane @ prior @ axes).T

    def _residuals(
        self, left: FloatArray, errors: FloatArray, others: FloatArray, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Draws of the residuals' scale and of the residuals."""
        n, own = len(self.y), left @ self.covariance @ left.T
        estimate, total = left @ self.y, np.trace(own)
        if total <= ROUNDING * np.trace(self.covariance):
            rows = np.tile(estimate, (len(errors), 1))
            return rows.std(axis=1), rows
        # a sum of squares of correlated errors is about a multiple of chi squared (Satterthwaite 1946,
        # doi 10.2307/3002019)
        freedom, size = total**2 / (own**2).sum(), n * (self.width * GRID) ** 2 + total
        squares = estimate @ estimate
        tau = self._scales(-0.5 * freedom * (np.log(size) + squares / size), len(errors), rng)
        before = tau[:, None] * np.sqrt(n / total) * (others @ left.T)
        pull = (n * tau**2 / (n * tau**2 + total))[:, None]
        return tau, before + pull * (estimate - before - errors @ left.T)
