"""Adaptive importance sampling of a smooth density of a few dimensions, with Pareto-smoothed weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import chdtri, gammaln, logsumexp, ndtri
from scipy.stats import qmc

from bayesbias._core.cosine import FloatArray

Density = Callable[[FloatArray], FloatArray]
STAGES = (512, 1024, 2048)
DEGREES, WIDE_DEGREES = 5.0, 3.0
WIDE_SHARE, WIDER = 0.2, 2.5
WIDEST = 3.0
STEP = 1e-4
GRADIENT = 0.05
"""Slope at which the search for the mode ends; posterior sds are below 1 in these coordinates."""
MAX_PARETO_K = 0.7
LEAST_SHARE = 0.1
MAX_EXTRA = 2


@dataclass(frozen=True)
class Proposal:
    """A mixture of two multivariate t distributions with one centre: root (d, d) of its scale matrix and a wide one."""

    centre: FloatArray
    root: FloatArray


@dataclass(frozen=True)
class WeightedPoints:
    """Points that stand for a density.

    Attributes
    ----------
    points
        (N, d).
    weights
        (N,): Pareto-smoothed, with sum 1.
    pareto_k
        Tail index of the raw weights: above 0.7 they cannot be trusted.
    ess
        Effective number of points, 1 / sum of squared weights.
    log_integral
        Log of the integral of the density.
    stages
        How many stages were drawn.
    """

    points: FloatArray
    weights: FloatArray
    pareto_k: float
    ess: float
    log_integral: float
    stages: int


def importance_sample(log_density: Density, start: FloatArray, size: int, rng: np.random.Generator) -> WeightedPoints:
    """Points with weights for a density, given up to a constant.

    From the mode and the curvature there, each stage draws scrambled Sobol points from a mixture of a multivariate t
    and a wider one, and refits centre and scale to their weights; stages are added while Pareto k is above 0.7
    or the effective points are fewer than a tenth.

    Parameters
    ----------
    log_density
        Points (B, d) to log density (B,), for many points at once.
    start
        (d,): where the search for the mode begins.
    size
        Points of the last stage.
    rng
        Generator of the scrambling.

    References
    ----------
    Vehtari, A. et al. (2024). Pareto smoothed importance sampling. Journal of Machine Learning Research 25(72).
    https://doi.org/10.48550/arXiv.1507.02646
    """
    proposal = _laplace(log_density, find_mode(log_density, start))
    done = 0
    for count in STAGES:
        proposal = _refit(_stage(log_density, proposal, count, rng))
        done += 1
    drawn = _stage(log_density, proposal, size, rng)
    while (drawn.pareto_k > MAX_PARETO_K or drawn.ess < LEAST_SHARE * size) and done < len(STAGES) + MAX_EXTRA:
        proposal, done = _refit(drawn), done + 1
        drawn = _stage(log_density, proposal, size, rng)
    return WeightedPoints(drawn.points, drawn.weights, drawn.pareto_k, drawn.ess, drawn.log_integral, done + 1)


def resample(drawn: WeightedPoints, size: int, rng: np.random.Generator) -> FloatArray:
    """Points (size, d) of equal weight, by systematic resampling, in random order."""
    steps = (np.arange(size) + rng.random()) / size
    chosen = np.searchsorted(np.cumsum(drawn.weights), steps)
    points: FloatArray = drawn.points[rng.permutation(np.minimum(chosen, len(drawn.weights) - 1))]
    return points


def find_mode(log_density: Density, start: FloatArray) -> FloatArray:
    """Where a log density of coordinates about standard normal is highest, by L-BFGS with central differences."""

    def downhill(theta: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = slope(log_density, theta)
        return -value, -gradient

    bounds = [(-4.5, 4.5)] * len(start)
    # ftol is relative to the size of a log density: with many distances it would stop short
    found: FloatArray = minimize(
        downhill, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 0.0, "gtol": GRADIENT}
    ).x
    return found


def slope(log_density: Density, theta: FloatArray) -> tuple[float, FloatArray]:
    """A log density and its gradient (d,) by central differences, all points in one batch."""
    size = len(theta)
    values = log_density(theta + np.vstack([np.zeros(size), STEP * np.eye(size), -STEP * np.eye(size)]))
    with np.errstate(invalid="ignore"):  # beyond the bounds there is no slope
        return float(values[0]), (values[1 : size + 1] - values[size + 1 :]) / (2 * STEP)


def _laplace(log_density: Density, mode: FloatArray, step: float = 1e-3) -> Proposal:
    """The proposal of a normal with the curvature of the mode; directions without curvature get a wide scale."""
    size = len(mode)
    first, second = np.triu_indices(size)
    both = step * (np.eye(size)[first] + np.eye(size)[second])
    apart = step * (np.eye(size)[first] - np.eye(size)[second])
    values = log_density(np.vstack([mode + both, mode - both, mode + apart, mode - apart])).reshape(4, -1)
    hessian = np.zeros((size, size))
    hessian[first, second] = (values[0] + values[1] - values[2] - values[3]) / (4 * step**2)
    hessian[second, first] = hessian[first, second]
    curvature, axes = np.linalg.eigh(-hessian)
    return Proposal(mode, axes / np.sqrt(np.maximum(curvature, WIDEST**-2)))


def _stage(log_density: Density, proposal: Proposal, count: int, rng: np.random.Generator) -> WeightedPoints:
    from arviz_stats.base import array_stats

    points = _draw(proposal, count, rng)
    log_ratio = log_density(points) - _log_proposal(proposal, points)
    log_ratio = np.where(np.isfinite(log_ratio), log_ratio, -np.inf)
    log_integral = float(logsumexp(log_ratio) - np.log(count))
    smoothed, k = array_stats.psislw(-log_ratio)
    weights = np.exp(smoothed - logsumexp(smoothed))
    return WeightedPoints(points, weights, float(k), float(1 / np.sum(weights**2)), log_integral, 1)


def _draw(proposal: Proposal, count: int, rng: np.random.Generator) -> FloatArray:
    size = len(proposal.centre)
    uniform = qmc.Sobol(size + 2, rng=rng).random(count)
    uniform = np.clip(uniform, 1e-12, 1 - 1e-12)
    wide = uniform[:, 0] < WIDE_SHARE
    degrees = np.where(wide, WIDE_DEGREES, DEGREES)
    stretch = np.where(wide, WIDER, 1.0) * np.sqrt(degrees / chdtri(degrees, uniform[:, 1]))
    points: FloatArray = proposal.centre + (stretch[:, None] * ndtri(uniform[:, 2:])) @ proposal.root.T
    return points


def _log_proposal(proposal: Proposal, points: FloatArray) -> FloatArray:
    size = len(proposal.centre)
    standard = np.linalg.solve(proposal.root, (points - proposal.centre).T)
    squares = (standard**2).sum(axis=0)
    log_det = np.linalg.slogdet(proposal.root)[1]

    def t(degrees: float, scale: float) -> FloatArray:
        constant = gammaln((degrees + size) / 2) - gammaln(degrees / 2) - size / 2 * np.log(degrees * np.pi)
        value: FloatArray = constant - size * np.log(scale) - log_det
        return value - (degrees + size) / 2 * np.log1p(squares / (degrees * scale**2))

    value: FloatArray = np.logaddexp(
        np.log1p(-WIDE_SHARE) + t(DEGREES, 1.0), np.log(WIDE_SHARE) + t(WIDE_DEGREES, WIDER)
    )
    return value


def _refit(drawn: WeightedPoints) -> Proposal:
    """The proposal with the weighted mean and covariance of a stage's points."""
    centre = drawn.weights @ drawn.points
    apart = drawn.points - centre
    covariance = (apart * drawn.weights[:, None]).T @ apart
    variances, axes = np.linalg.eigh(covariance)
    return Proposal(centre, axes * np.sqrt(np.maximum(variances, 1e-8)))
