"""Estimates with a known covariance: regression with random effects, and relations of latent values.

The scales of effects are integrated by quadrature.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh, null_space
from scipy.special import logsumexp

from bayesbias.numerics.arrays import FloatArray, IntArray
from bayesbias.numerics.related import root_of

REACH = (1e-4, 1e3)  # smallest and largest scale that is looked at, in widths of its prior
COARSE, FINE = 120, 80  # nodes of a single scale: to find where the posterior is, and there
OUTER = 24  # nodes of each further scale
DROP = 25.0  # log density below the largest at which the posterior of a scale is taken for 0
# nodes of both scales of a relation and of the angle of its correlation, to find where the posterior is
ROUGH = (7, 7, 9)
CLOSE = (8, 12, 25)  # nodes there
SLIGHT = 15.0  # log density below the largest at which the posterior of a relation is taken for 0
ROUNDS = 3  # times that the part which holds posterior mass is looked for; each finds it more narrowly
# smallest and largest scale of a correlation's two sides, in standard deviations of the observed values
SIGMA_REACH = (0.02, 8.0)
BLOCK = 32  # covariance matrices that are factorised together: few, so that they stay in the cache
LARGE = 1e100  # more than any quadratic form
# share of the mean variance by which a covariance is taken for larger, since it may have few dimensions
ROUNDING = 1e-9


def log_half_cauchy(scale: FloatArray, width: float) -> FloatArray:
    """Log density of the logarithm of half-Cauchy scales: the prior mass of nodes that are even in it."""
    density: FloatArray = np.log(2 / np.pi) - np.log(width) - np.log1p((scale / width) ** 2) + np.log(scale)
    return density


class Rotated(NamedTuple):
    """Estimates in coordinates in which their known covariance is diagonal, for each of G covariances."""

    basis: FloatArray  # W (G, n, n), orthogonal: W' V W is diagonal
    variances: FloatArray  # the diagonal of W' V W, (G, n)
    # W' y (G, n) and W' X (G, n, p)
    y: FloatArray
    x: FloatArray


def rotated(
    y: FloatArray, covariance: FloatArray, design: FloatArray, effects: Sequence[FloatArray], scales: FloatArray
) -> Rotated:
    """The estimates for each row of scales (G, m - 1) of the effects but the last."""
    known = np.repeat(covariance[None], len(scales), axis=0)
    for scale, effect in zip(scales.T, effects, strict=True):
        known += scale[:, None, None] ** 2 * effect
    variances, basis = np.linalg.eigh(known)
    to_basis = basis.swapaxes(1, 2)
    return Rotated(basis, np.maximum(variances, 0.0), to_basis @ y, to_basis @ design)


def restricted_likelihood(given: Rotated, tau: FloatArray) -> FloatArray:
    """Log likelihood (G, K) of scales (G, K) of independent effects: what contrasts of y say of them."""
    weights = 1 / (given.variances[:, None] + tau[..., None] ** 2)
    mean, information = _regression(given.x, weights, given.y[:, None])
    left = given.y[:, None] - mean @ given.x.swapaxes(1, 2)
    value: FloatArray = 0.5 * (
        np.log(weights).sum(axis=-1) - np.linalg.slogdet(information)[1] - (weights * left**2).sum(axis=-1)
    )
    return value


def _regression(x: FloatArray, weights: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weighted least squares for rows of weights (..., K, n) and values: coefficients and information of each row.

    The design (..., n, p) is that of all K rows.
    """
    products = (x[..., :, None] * x[..., None, :]).reshape(*x.shape[:-1], -1)
    information = (weights @ products).reshape(*weights.shape[:-1], x.shape[-1], x.shape[-1])
    return np.linalg.solve(information, ((weights * y) @ x)[..., None])[..., 0], information


@dataclass(frozen=True)
class StageDraws:
    """Draws: ``scales`` (D, m), ``coefficients`` (D, p), ``effects`` (m, D, n)."""

    scales: FloatArray
    coefficients: FloatArray
    effects: FloatArray


def second_stage(
    y: FloatArray,
    covariance: FloatArray,
    design: FloatArray,
    effects: Sequence[FloatArray],
    widths: Sequence[float],
    draws: int,
    rng: np.random.Generator,
    weights: FloatArray | None = None,
) -> StageDraws:
    """Independent draws from the posterior of ``y = X b + u_1 + ... + u_m + e``, where e has a known covariance.

    There are ``e ~ N(0, V)`` and ``u_k ~ N(0, tau_k^2 T_k)``, each tau_k with a half-Cauchy prior. Everything Gaussian
    is integrated exactly; the scales are on a grid.

    By the precision, coefficients have a flat prior: generalised least squares, given the scales. It is best where V is
    exact, and with strongly correlated errors of unequal variance it puts a mean outside all estimates. With
    ``weights`` A the coefficients are A y with the variance of that, whatever V is. The scales and the deviations
    d = y - X A y are then estimated from d alone, that is, from contrasts; those say the same of scales by either way,
    which is the restricted likelihood. So theta = X A (y - e) + M E(u | d), M = I - X A, and A theta = A (y - e).

    V is positive semi-definite (what is below 0 is taken for 0), X (n, p) has full rank, and A X is the identity. The
    effects are their covariances T_k for a scale of 1; independent ones are added as the last, and so is the width of
    their half-Cauchy prior.

    References
    ----------
    Gelman, A. (2006). Prior distributions for variance parameters in hierarchical models. Bayesian Analysis 1(3).
    https://doi.org/10.1214/06-BA117A
    """
    outer, given, inner, mass = _nodes_of_scales(y, covariance, design, effects, widths)
    nodes, n = mass.shape[1], len(y)
    place = np.sort(rng.choice(mass.size, size=draws, p=mass.ravel()))
    rows = place // nodes
    # scales are spread over the cells of their nodes
    step = np.log(inner[:, 1] / inner[:, 0])
    tau = inner.ravel()[place] * np.exp(step[rows] * (rng.random(draws) - 0.5))
    others = outer[rows].copy()
    for i in range(others.shape[1]):
        even = np.unique(outer[:, i])
        width = np.log(even[1] / even[0]) if len(even) > 1 else 0.0
        others[:, i] *= np.exp(width * (rng.random(draws) - 0.5))
    # draws from the prior, moved by what the data differ from them (Matheron)
    start = np.empty((len(effects) + 1, draws, n))
    for i, effect in enumerate(effects):
        start[i] = outer[rows, i, None] * (rng.standard_normal((draws, n)) @ root_of(effect).T)
    start[-1] = tau[:, None] * rng.standard_normal((draws, n))
    noise = rng.standard_normal((draws, n))
    noise -= noise.mean(axis=0)  # so that a mean which weighs estimates by given weights has no Monte Carlo error
    difference = y - noise @ root_of(covariance).T - start.sum(axis=0)
    coefficients = np.empty((draws, design.shape[1]))
    moves = np.empty_like(start)
    for row in np.unique(rows):
        own, basis, x = slice(*np.searchsorted(rows, [row, row + 1])), given.basis[row], given.x[row]
        sides = difference[own] @ basis
        precision = 1 / (given.variances[row] + tau[own, None] ** 2)
        coefficients[own], _ = _regression(x, precision, sides)
        left = precision * (sides - coefficients[own] @ x.T) @ basis.T
        for i, (scale, effect) in enumerate(zip(outer[row], effects, strict=True)):
            moves[i, own] = scale**2 * left @ effect
        moves[-1, own] = tau[own, None] ** 2 * left
    if weights is not None:
        # deviations from the fit are predicted from contrasts; the fit itself keeps its weights
        coefficients = difference @ weights.T
        moves -= (moves @ weights.T) @ design.T
    order = rng.permutation(draws)
    return StageDraws(np.column_stack([others, tau])[order], coefficients[order], (start + moves)[:, order])


def _nodes_of_scales(
    y: FloatArray, covariance: FloatArray, design: FloatArray, effects: Sequence[FloatArray], widths: Sequence[float]
) -> tuple[FloatArray, Rotated, FloatArray, FloatArray]:
    """Scales (G, m - 1) of the effects but the last, estimates there, nodes (G, FINE) of the last, and their mass."""

    def log_density(given: Rotated, spreads: FloatArray, inner: FloatArray) -> FloatArray:
        """Log density at nodes (G, K) of the last scale."""
        outer = sum(log_half_cauchy(s, width) for s, width in zip(spreads.T, widths[:-1], strict=True))
        prior: FloatArray = log_half_cauchy(inner, widths[-1]) + np.reshape(outer, (-1, 1))
        return restricted_likelihood(given, inner) + prior

    axes = [width * np.geomspace(*REACH, OUTER) for width in widths[:-1]]
    if axes:
        grid = np.array(list(product(*axes)))
        start = np.tile(widths[-1] * np.geomspace(*REACH, OUTER), (len(grid), 1))
        coarse = log_density(rotated(y, covariance, design, effects, grid), grid, start)
        coarse = coarse.reshape((OUTER,) * len(widths))
        axes = [_narrowed(nodes, coarse, axis, OUTER) for axis, nodes in enumerate(axes)]
    grid = np.array(list(product(*axes)))
    given = rotated(y, covariance, design, effects, grid)
    start = widths[-1] * np.geomspace(*REACH, COARSE)
    coarse = log_density(given, grid, np.tile(start, (len(grid), 1)))
    inner = np.array([_narrowed(start, row, 0, FINE) for row in coarse])
    # with the widths of the cells
    value = log_density(given, grid, inner) + np.log(np.log(inner[:, 1] / inner[:, 0]))[:, None]
    return grid, given, inner, np.exp(value - float(logsumexp(value)))


def _narrowed(nodes: FloatArray, value: FloatArray, axis: int, count: int) -> FloatArray:
    """Nodes, evenly spaced in the logarithm, over the part of an axis that holds posterior mass."""
    low, high = nodes[_reach(value, axis)]
    return np.geomspace(low, high, count)


def _reach(value: FloatArray, axis: int, drop: float = DROP) -> IntArray:
    """First and last node of an axis beside those that hold posterior mass."""
    profile = value.max(axis=tuple(other for other in range(value.ndim) if other != axis))
    rows = np.flatnonzero(profile > profile.max() - drop)
    return np.array([max(rows[0] - 1, 0), min(rows[-1] + 1, len(profile) - 1)])


def latent_relation(
    y: FloatArray,
    covariance: FloatArray,
    x: FloatArray,
    x_variance: FloatArray,
    residuals: Sequence[FloatArray],
    width: float,
    draws: int,
    rng: np.random.Generator,
    covariate: FloatArray | None = None,
    weights: FloatArray | None = None,
) -> dict[str, FloatArray]:
    """Draws of the relation of latent values to an outside variable, where either is known with error.

    They are of ``correlation``, ``slope``, ``intercept``, ``residual_sd`` (of the latent y around the line) and
    ``residual`` (the place among the candidates for the residual covariance).

    ``y ~ N(theta, V)``, ``x ~ N(xi, U)``, and (theta_i, xi_i) are normal with correlation rho and covariance T between
    the units. The prior of rho is uniform, the two standard deviations have half-Cauchy priors (``width`` for theta,
    the observed one for xi), both means are flat. For an x that is known, slopes are per observed standard deviation.

    ``x_variance`` is the diagonal of U (n,), 0 where x is known; ``residuals`` are candidates for T, positive definite
    and equally probable beforehand. Both may depend on a covariate (n,), with flat coefficients: the relation is then
    the partial one, and the intercept is that at its mean. Without one, the line may go through a mean with some
    weights (n,); None for the precision.
    """
    ones, noise = np.ones(len(x)), np.diag(x_variance)
    root = root_of(covariance)  # an estimated covariance may have directions below 0
    covariance = root @ root.T
    if covariate is not None:
        # flat coefficients are integrated over in the space across the covariate
        across = null_space((covariate - covariate.mean())[None]).T
        y, x, ones = across @ y, across @ x, across @ ones
        covariance, noise = across @ covariance @ across.T, across @ noise @ across.T
        residuals = [across @ residual @ across.T for residual in residuals]
    x_spread, y_spread = (_spread(part, ones) for part in (x, y))
    known = not noise.any()
    top = max(y_spread, float(np.sqrt(np.diag(covariance).mean())))
    low, high = np.log(SIGMA_REACH)
    ends = [(0.0, 0.0) if known else (low, high), (low, high), (-np.pi / 2, np.pi / 2)]
    nodes = _latent_nodes((x_spread, top), ends, ROUGH, known)
    evaluated = partial(_evaluated, y, covariance, x, noise, ones, weights, width, x_spread)
    candidates = dict(enumerate(residuals))
    for rounds in range(ROUNDS):
        value, _ = evaluated(nodes[:3], list(candidates.values()))
        # the cells that hold posterior mass of (candidates, x, y, angle), and those beside them
        reached = [_reach(value, axis + 1, SLIGHT) for axis in range(3)]
        ends = [
            (low + step * first, low + step * (last + 1))
            for (low, _), step, (first, last) in zip(ends, nodes[3], reached, strict=True)
        ]
        nodes = _latent_nodes((x_spread, top), ends, CLOSE if rounds == ROUNDS - 1 else ROUGH, known)
        highest = value.max(axis=(1, 2, 3))
        candidates = {
            k: candidates[k] for k, top in zip(list(candidates), highest, strict=True) if top > highest.max() - SLIGHT
        }
    value, centre = evaluated(nodes[:3], list(candidates.values()))
    mass = np.exp(value - logsumexp(value))
    place = np.unravel_index(rng.choice(mass.size, size=draws, p=mass.ravel()), mass.shape)
    # draws are spread over the cells of their nodes
    scales_x, scales_y, angles, steps = nodes
    moved = [step * (rng.random(draws) - 0.5) for step in steps]
    correlation = np.sin(np.clip(angles[place[3]] + moved[2], -np.pi / 2, np.pi / 2))
    sd, scale_x = scales_y[place[2]] * np.exp(moved[1]), scales_x[place[1]] * np.exp(moved[0])
    return {
        "correlation": correlation,
        "slope": correlation * sd / scale_x,
        "intercept": centre[place][:, 0] + np.sqrt(centre[place][:, 1]) * rng.standard_normal(draws),
        "residual_sd": sd * np.sqrt(1 - correlation**2),
        "residual": np.array(list(candidates))[place[0]],
    }


def _latent_nodes(
    spreads: tuple[float, float], ends: Sequence[tuple[float, float]], counts: tuple[int, int, int], known: bool
) -> tuple[FloatArray, FloatArray, FloatArray, list[float]]:
    """Scales of x (one where it is known) and of y, the angles whose sines are correlations, and widths of their cells.

    Scales are the centres of cells even in the logarithm, in units of ``spreads``; angles are those of even cells.
    """
    numbers = (1, *counts[1:]) if known else counts
    steps = [(high - low) / count for (low, high), count in zip(ends, numbers, strict=True)]
    x, y, angle = (
        low + step * (np.arange(count) + 0.5) for (low, _), step, count in zip(ends, steps, numbers, strict=True)
    )
    return spreads[0] * np.exp(x), spreads[1] * np.exp(y), angle.astype(float), steps


def _evaluated(
    y: FloatArray,
    covariance: FloatArray,
    x: FloatArray,
    noise: FloatArray,
    ones: FloatArray,
    weights: FloatArray | None,
    width: float,
    x_spread: float,
    nodes: tuple[FloatArray, FloatArray, FloatArray],
    residuals: Sequence[FloatArray],
) -> tuple[FloatArray, FloatArray]:
    """Log density of each candidate at the nodes (K, X, Y, R), and mean and variance of the intercept.

    The sides are as :func:`latent_relation` takes them; ``ones`` is the column of their means.
    """
    scales, sigma, angle = nodes
    sy, r = (part.ravel() for part in np.meshgrid(sigma, np.sin(angle), indexing="ij"))
    shape = (len(residuals), len(scales), len(sigma), len(angle))
    value, centre = np.empty(shape), np.empty((*shape, 2))
    prior = log_half_cauchy(sy, width) + np.tile(np.log(np.cos(angle)), len(sigma))
    for (k, residual), (i, scale) in product(enumerate(residuals), enumerate(scales)):
        slope, rest = r * sy / scale, sy**2 * (1 - r**2)
        if noise.any():
            mean, apart, of_x = _shrunken(x, noise, scale**2 * residual, ones)
            of_x += float(log_half_cauchy(np.array(scale), x_spread))
            sides = np.column_stack([y, mean, ones])
            log, centres = _of_noisy(sides, covariance, residual, apart, slope, rest)
        else:
            mean, apart, of_x = x, np.zeros_like(covariance), 0.0
            log, centres = _of_known(np.column_stack([y, x, ones]), covariance, residual, slope, rest)
        if weights is not None:  # the line goes through the weighted mean
            variance = weights @ covariance @ weights + rest * (weights @ residual @ weights)
            variance = variance + slope**2 * (weights @ apart @ weights)
            centres = np.column_stack([weights @ y - slope * (weights @ mean), variance])
        value[k, i] = (log + prior + of_x).reshape(shape[2:])
        centre[k, i] = centres.reshape(*shape[2:], 2)
    return value, centre


def _of_known(
    sides: FloatArray, covariance: FloatArray, residual: FloatArray, slope: FloatArray, rest: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Log likelihood (G,) with the intercept integrated, and its mean and variance (G, 2), for an exact x.

    The sides (n, 3) are y, x and the column of their means.
    """
    variances, basis = eigh(covariance, residual)  # basis' T basis is the identity
    columns = basis.T @ sides
    precision = 1 / (np.maximum(variances, 0.0) + rest[:, None])
    left = columns[:, 0] - slope[:, None] * columns[:, 1]
    log_det = -np.log(precision).sum(axis=1) - 2 * np.linalg.slogdet(basis)[1]
    weighted = precision * columns[:, 2]
    return _integrated(
        log_det, (precision * left**2).sum(axis=1), (weighted * left).sum(axis=1), weighted @ columns[:, 2]
    )


def _of_noisy(
    sides: FloatArray,
    covariance: FloatArray,
    residual: FloatArray,
    apart: FloatArray,
    slope: FloatArray,
    rest: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """The same where the latent x has a mean, among the sides, and a covariance."""
    log, centre, n = np.empty(len(slope)), np.empty((len(slope), 2)), len(sides)
    y, mean, ones = sides.T
    for begin in range(0, len(slope), BLOCK):
        part = slice(begin, begin + BLOCK)
        b, v = slope[part], rest[part]
        total = covariance + v[:, None, None] * residual + (b**2)[:, None, None] * apart
        # two more rows of the matrix are solved for while it is factorised
        bordered = np.zeros((len(b), n + 2, n + 2))
        bordered[:, :n, :n], bordered[:, n + 1, :n] = total, ones
        bordered[:, n, :n] = y - b[:, None] * mean
        bordered[:, [n, n + 1], [n, n + 1]] = LARGE
        bordered[:, range(n), range(n)] += ROUNDING * np.trace(total, axis1=1, axis2=2)[:, None] / n
        chol = np.linalg.cholesky(bordered)
        solved = chol[:, n:, :n]
        squares = solved @ np.swapaxes(solved, 1, 2)
        log_det = 2 * np.log(np.diagonal(chol, axis1=1, axis2=2)[:, :n]).sum(axis=1)
        log[part], centre[part] = _integrated(log_det, squares[:, 0, 0], squares[:, 0, 1], squares[:, 1, 1])
    return log, centre


def _integrated(
    log_det: FloatArray, squares: FloatArray, across: FloatArray, information: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Log likelihood (G,) without a flat intercept, and its mean and variance (G, 2), of quadratic forms."""
    value = -0.5 * (log_det + np.log(information) + squares - across**2 / information)
    return value, np.column_stack([across / information, 1 / information])


def _spread(values: FloatArray, ones: FloatArray) -> float:
    """Standard deviation around the mean whose column is ``ones``."""
    rest = values - ones * (ones @ values / (ones @ ones))
    return float(np.sqrt(rest @ rest / (len(values) - 1)))


def _shrunken(
    x: FloatArray, noise: FloatArray, spread: FloatArray, ones: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """Mean and covariance of latent values with a flat mean given noisy ones, and the log likelihood."""
    total = np.linalg.inv(noise + spread)
    column = total @ ones
    share = ones @ column
    projected = total - np.outer(column, column) / share
    left = projected @ x
    likelihood = 0.5 * (np.linalg.slogdet(total)[1] - np.log(share) - x @ left)
    return x - noise @ left, noise - noise @ projected @ noise, float(likelihood)
