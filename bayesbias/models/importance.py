"""Importance sampling from a mode, and moments of a model without its draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, logsumexp, ndtri
from scipy.stats import qmc

from bayesbias._core.vectors import FloatArray

Density = Callable[[FloatArray], FloatArray]
STAGES = (512, 1024, 2048)
DEGREES = 4.0
WIDE_SHARE, WIDER = 0.2, 2.5
WIDEST = 3.0
SLOPE_STEP, CURVATURE_STEP = 1e-4, 1e-3
LENGTHS = 2.0 ** np.arange(1, -7, -1)
"""Lengths of a Newton step that are tried at once."""
LONGEST, FARTHEST, MOST_STEPS = 1.0, 4.5, 40
"""Largest change of a coordinate in a step of length 1, largest coordinate that is looked at, and steps."""
CLOSE = 0.1
"""How near to the mode the search ends, in posterior sds."""
MAX_PARETO_K = 0.7
LEAST_SHARE = 0.1
MAX_EXTRA = 3


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
    and a wider one, and refits centre and scale to their weights; stages of twice as many points are added while
    Pareto k is above 0.7 or the effective points are fewer than a tenth of those asked for.

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
    proposal = _laplace(log_density, start)
    done = 0
    for count in STAGES:
        proposal = _refit(_stage(log_density, proposal, count, rng))
        done += 1
    drawn = _stage(log_density, proposal, size, rng)
    while (drawn.pareto_k > MAX_PARETO_K or drawn.ess < LEAST_SHARE * size) and done < len(STAGES) + MAX_EXTRA:
        proposal, done = _refit(drawn), done + 1
        drawn = _stage(log_density, proposal, 2 * len(drawn.points), rng)
    return WeightedPoints(drawn.points, drawn.weights, drawn.pareto_k, drawn.ess, drawn.log_integral, done + 1)


def resample(drawn: WeightedPoints, size: int, rng: np.random.Generator) -> FloatArray:
    """Points (size, d) of equal weight, by systematic resampling, in random order."""
    steps = (np.arange(size) + rng.random()) / size
    chosen = np.searchsorted(np.cumsum(drawn.weights), steps)
    points: FloatArray = drawn.points[rng.permutation(np.minimum(chosen, len(drawn.weights) - 1))]
    return points


def slope(log_density: Density, theta: FloatArray) -> tuple[float, FloatArray]:
    """A log density and its gradient (d,) by central differences, all points in one batch."""
    size = len(theta)
    values = log_density(theta + np.vstack([np.zeros(size), SLOPE_STEP * np.eye(size), -SLOPE_STEP * np.eye(size)]))
    with np.errstate(invalid="ignore"):  # beyond the bounds there is no slope
        return float(values[0]), (values[1 : size + 1] - values[size + 1 :]) / (2 * SLOPE_STEP)


def _laplace(log_density: Density, start: FloatArray) -> Proposal:
    """The proposal of a normal about the mode, by Newton's method; directions without curvature get a wide scale.

    Each step looks at several lengths along the Newton direction at once, and the search ends where another would
    gain next to nothing, whatever the scales of the coordinates.
    """
    centre = start
    for _ in range(MOST_STEPS):
        height, gradient, hessian = _curvature(log_density, centre)
        curvature, axes = np.linalg.eigh(-hessian)
        root = axes / np.sqrt(np.maximum(np.abs(curvature), WIDEST**-2))
        ahead = root.T @ gradient
        if ahead @ ahead < CLOSE**2 and curvature[0] > 0:
            break
        direction = root @ ahead
        direction *= min(1.0, LONGEST / np.abs(direction).max())
        tried = np.clip(centre + LENGTHS[:, None] * direction, -FARTHEST, FARTHEST)
        heights = log_density(tried)
        best = int(np.argmax(heights))
        if not heights[best] > height:
            break
        centre = tried[best]
    return Proposal(centre, root)


def _curvature(log_density: Density, theta: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """A log density, its gradient (d,) and its Hessian (d, d) by central differences, all points in one batch."""
    size = len(theta)
    first, second = np.triu_indices(size, 1)
    unit = CURVATURE_STEP * np.eye(size)
    moved = np.vstack([unit, unit[first] + unit[second]])
    height, *values = log_density(theta + np.vstack([np.zeros(size), moved, -moved]))
    ahead, back = np.reshape(values, (2, -1))
    bent = ahead + back - 2 * height
    own, mixed = bent[:size], bent[size:]
    hessian = np.diag(own)
    hessian[first, second] = hessian[second, first] = (mixed - own[first] - own[second]) / 2
    return float(height), (ahead - back)[:size] / (2 * CURVATURE_STEP), hessian / CURVATURE_STEP**2


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
    uniform = np.clip(qmc.Sobol(size + 3, rng=rng).random(count), 1e-12, 1 - 1e-12)
    # chi-squared with 4 degrees of freedom: minus twice the log of a product of two uniforms
    stretch = np.sqrt(DEGREES / (-2 * np.log(uniform[:, 1] * uniform[:, 2])))
    stretch[uniform[:, 0] < WIDE_SHARE] *= WIDER
    points: FloatArray = proposal.centre + (stretch[:, None] * ndtri(uniform[:, 3:])) @ proposal.root.T
    return points


def _log_proposal(proposal: Proposal, points: FloatArray) -> FloatArray:
    size = len(proposal.centre)
    standard = np.linalg.solve(proposal.root, (points - proposal.centre).T)
    squares = (standard**2).sum(axis=0)
    constant = gammaln((DEGREES + size) / 2) - gammaln(DEGREES / 2) - size / 2 * np.log(DEGREES * np.pi)
    constant -= np.linalg.slogdet(proposal.root)[1]

    def t(scale: float) -> FloatArray:
        value: FloatArray = -(DEGREES + size) / 2 * np.log1p(squares / (DEGREES * scale**2)) - size * np.log(scale)
        return value

    value: FloatArray = constant + np.logaddexp(np.log1p(-WIDE_SHARE) + t(1.0), np.log(WIDE_SHARE) + t(WIDER))
    return value


def _refit(drawn: WeightedPoints) -> Proposal:
    """The proposal with the weighted mean and covariance of a stage's points."""
    centre = drawn.weights @ drawn.points
    apart = drawn.points - centre
    covariance = (apart * drawn.weights[:, None]).T @ apart
    variances, axes = np.linalg.eigh(covariance)
    return Proposal(centre, axes * np.sqrt(np.maximum(variances, 1e-8)))
