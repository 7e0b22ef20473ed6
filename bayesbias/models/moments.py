"""Posterior mean and covariance of the connection means without a draw of them, for models with a fast engine.

Given the scales the connection means are normal. Averaging their conditional moments over the scales leaves the noise
of a few well-spread points, far below that of draws: it shows what a single word does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from bayesbias._core.marginal import CrossedSums, IncompleteSums, Scales, incomplete_means, mean_part, within_part
from bayesbias._core.quadrature import Connection, InnerGrid
from bayesbias._core.vectors import FloatArray, in_blocks
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError
from bayesbias.models import exact, marginal
from bayesbias.models.marginal import (
    LEAST_SHARE,
    MAX_PARETO_K,
    CrossedTarget,
    crossed_target,
    explored,
    smoothed_weights,
)
from bayesbias.models.spec import ModelSpec

POINTS = 1024
"""Points of the scales: the last stage of importance sampling, or draws of all chains."""
CHAINS = 4
BLOCK = 256
"""Points that are looked at at once."""

Moments = tuple[FloatArray, FloatArray]
"""Mean (K,) and covariance (K, K)."""


@dataclass(frozen=True)
class ScalePoints:
    """Points that stand for the posterior of a crossed model's scales.

    Attributes
    ----------
    places
        Scale to its columns of the points.
    theta
        (N, d), in the coordinates of :class:`CrossedTarget`.
    weights
        (N,), with sum 1.
    log_density
        (N,): of the posterior that they stand for, at the points.
    moments
        Posterior mean and covariance of the connection means.
    """

    places: dict[str, slice]
    theta: FloatArray
    weights: FloatArray
    log_density: FloatArray
    moments: Moments


def mean_moments(spec: ModelSpec, data: Distances, rng: np.random.Generator) -> Moments:
    """Posterior mean (K,) and covariance (K, K) of the connection means.

    Parameters
    ----------
    spec
        A model that the exact or the marginal engine fits.
    data
        A table; for a crossed model each pair once, and the model as :func:`fit_for_crossed` leaves it.
    rng
        Generator of the points of a crossed model's scales; the exact engine's quadrature needs none.
    """
    if exact.obstacle(spec) is None:
        return _exact_moments(spec, data)
    if (reason := marginal.obstacle(spec)) is not None:
        raise InputError(f"the model {spec.name!r} needs draws by NUTS: {reason}; fit 'crossed' or 'published' instead")
    return scale_points(spec, data, rng).moments


def scale_points(spec: ModelSpec, data: Distances, rng: np.random.Generator) -> ScalePoints:
    """Points of a crossed model's scales by importance sampling; by NUTS where the weights cannot be trusted."""
    target = crossed_target(spec, data)
    sampled = explored(target.log_density, target.start, POINTS, CHAINS, POINTS // CHAINS, rng)
    if sampled.walked is None:
        kept = sampled.points.weights > 0
        return _weighted(target, sampled.points.points[kept], np.log(sampled.points.weights[kept]))
    return _weighted(target, sampled.walked.reshape(-1, target.size), np.zeros(POINTS))


def moved_points(points: ScalePoints, spec: ModelSpec, data: Distances) -> ScalePoints | None:
    """The same points weighted for other data; None where they do not reach, or the scales are others.

    Two posteriors on the same points differ by what the data say, not by the noise of the points.
    """
    target = crossed_target(spec, data)
    if target.places != points.places:
        return None
    log_density, means, covariances = _conditional_means(target, points.theta)
    # importance weights from the posterior of the old data to that of the new, times what the points weighed
    weights, k = smoothed_weights(log_density - points.log_density + np.log(points.weights))
    if k > MAX_PARETO_K or 1 / np.sum(weights**2) < LEAST_SHARE * len(weights):
        return None
    return ScalePoints(points.places, points.theta, weights, log_density, _averaged(weights, means, covariances))


def _weighted(target: CrossedTarget, theta: FloatArray, log_weights: FloatArray) -> ScalePoints:
    log_density, means, covariances = _conditional_means(target, theta)
    weights = np.exp(log_weights - logsumexp(log_weights))
    return ScalePoints(target.places, theta, weights, log_density, _averaged(weights, means, covariances))


def _averaged(weights: FloatArray, means: FloatArray, covariances: FloatArray) -> Moments:
    """Moments of a mixture of normals with weights (N,), means (N, K) and covariances (N, K, K)."""
    mean = weights @ means
    # law of total variance: the mean of the covariances, and the covariance of the means
    apart = means - mean
    return mean, np.tensordot(weights, covariances, 1) + (apart * weights[:, None]).T @ apart


def _conditional_means(target: CrossedTarget, theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log density (B,), and mean (B, K) and covariance (B, K, K) of the connection means, at points (B, d)."""
    prior, k = target.mean, target.sums.connections
    log_likelihood, means = np.empty(len(theta)), np.empty((len(theta), k))
    covariances = np.empty((len(theta), k, k))

    def evaluate(part: slice) -> None:
        scales = target.variances(theta[part])
        if isinstance(target.sums, IncompleteSums):
            moments = incomplete_means(target.sums, scales, prior.sd)
        else:
            moments = _pattern_means(target.sums, scales, prior.sd)
        log_likelihood[part], means[part], covariances[part] = moments

    in_blocks(evaluate, len(theta), BLOCK)
    return log_likelihood + target.log_prior(theta), prior.mean + prior.sd * means, prior.sd**2 * covariances


def _pattern_means(sums: CrossedSums, scales: Scales, prior_sd: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log likelihood (B,), and mean and covariance of the standardised means, at the points of the scales.

    beta ~ N(R L'^-1 x, R (L L')^-1 R): with A the first K columns of L^-1 these are A'x and A'A.
    """
    part = mean_part(sums, scales, prior_sd)
    columns = np.linalg.solve(part.chol, np.eye(part.chol.shape[1], sums.connections))
    means = np.einsum("bnk,bn->bk", columns, part.x)
    return part.log_likelihood + within_part(sums, scales), means, columns.transpose(0, 2, 1) @ columns


def _exact_moments(spec: ModelSpec, data: Distances) -> Moments:
    """Mean and covariance of the connection means by quadrature over the scales."""
    priors = exact.priors_of(spec)
    size = len(data.connections)
    mean, covariance = np.empty(size), np.zeros((size, size))
    for block, members, grid in exact.grids_of(spec, data, priors):
        moments = [
            _given_sigma(grid.log_sigma, inner, sums, priors.sd)
            for sums, inner in zip(members, grid.inner, strict=True)
        ]
        means, variances = (np.column_stack(columns) for columns in zip(*moments, strict=True))
        apart = variances[:, :, None] * np.eye(len(block))
        mean[block], covariance[np.ix_(block, block)] = _averaged(grid.mass, means, apart)
    return priors.mean + mean, covariance


def _given_sigma(log_sigma: FloatArray, inner: InnerGrid, sums: Connection, sd: float) -> tuple[FloatArray, FloatArray]:
    """Mean and variance (O,) of mu, minus its prior mean, at each node of sigma: an average over the grid of s."""
    nodes = np.arange(inner.log_density.shape[1])
    s2 = np.exp(2 * (inner.low[:, None] + inner.step[:, None] * nodes))
    sigma2 = np.exp(2 * log_sigma)[:, None]
    precision, weighted = np.full(s2.shape, sd**-2), np.zeros(s2.shape)
    for n, count, deviation in zip(sums.n, sums.count, sums.deviation, strict=True):
        weight = count / (sigma2 / n + s2)
        precision += weight
        weighted += weight * deviation
    mass = np.exp(inner.log_density - inner.log_density.max(axis=1, keepdims=True))
    mass /= mass.sum(axis=1, keepdims=True)
    centre = weighted / precision
    mean = (mass * centre).sum(axis=1)
    return mean, (mass * (1 / precision + (centre - mean[:, None]) ** 2)).sum(axis=1)
