"""Estimates with a known covariance: regression with random effects whose scales are integrated by quadrature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.linalg import eigh, null_space
from scipy.special import logsumexp

from bayesbias._core.related import root_of
from bayesbias._core.vectors import FloatArray, IntArray

REACH = (1e-4, 1e3)
"""Smallest and largest scale that is looked at, in widths of its prior."""
COARSE, FINE = 120, 80
"""Nodes of a single scale: to find where the posterior is, and there."""
OUTER = 24
"""Nodes of each further scale."""
DROP = 25.0
"""Log density below the largest at which the posterior of a scale is taken for 0."""
RHO_NODES, SIGMA_NODES = 41, 22
"""Nodes of a correlation and of the scales beside it."""
SIGMA_REACH = (0.02, 8.0)
"""Smallest and largest scale of a correlation's two sides, in standard deviations of the observed values."""
BLOCK = 256
"""Covariance matrices that are factorised together."""


def _log_half_cauchy(scale: FloatArray, width: float) -> FloatArray:
    """Log density of half-Cauchy scales, with the Jacobian of their logarithm."""
    density: FloatArray = np.log(2 / np.pi) - np.log(width) - np.log1p((scale / width) ** 2) + np.log(scale)
    return density


@dataclass(frozen=True)
class Rotated:
    """Estimates in coordinates in which the known covariance and the inner effect are both diagonal.

    Attributes
    ----------
    basis
        W (n, n): W' T W is the identity and W' V W is diagonal, for the inner effect's covariance T.
    variances
        The diagonal of W' V W, (n,).
    y, x
        W' y (n,) and W' X (n, p).
    """

    basis: FloatArray
    variances: FloatArray
    y: FloatArray
    x: FloatArray

    def log_likelihood(self, tau: FloatArray) -> FloatArray:
        """Log likelihood (G,) of the inner effect's scales (G,), coefficients integrated over a flat prior."""
        weights = 1 / (self.variances + tau[:, None] ** 2)
        mean, information, _ = _regression(self.x, weights, np.broadcast_to(self.y, weights.shape))
        left = self.y - mean @ self.x.T
        value: FloatArray = 0.5 * (
            np.log(weights).sum(axis=1) - np.linalg.slogdet(information)[1] - (weights * left**2).sum(axis=1)
        )
        return value


def _regression(x: FloatArray, weights: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weighted least squares for each row of weights (G, n) and values (G, n): coefficients, information, X'wy."""
    information = np.einsum("np,gn,nq->gpq", x, weights, x)
    product_ = np.einsum("np,gn->gp", x, weights * y)
    return np.linalg.solve(information, product_[..., None])[..., 0], information, product_


def _rotated(y: FloatArray, known: FloatArray, x: FloatArray, inner: FloatArray) -> Rotated:
    variances, basis = eigh(known, inner)
    return Rotated(basis, np.maximum(variances, 0.0), basis.T @ y, basis.T @ x)


@dataclass(frozen=True)
class SecondStage:
    """The posterior of ``y = X b + u_1 + ... + u_m + e``, with ``e ~ N(0, V)`` and ``u_k ~ N(0, tau_k^2 T_k)``.

    The coefficients b have a flat prior and each tau_k a half-Cauchy one. Everything Gaussian is integrated exactly;
    the scales are on a grid.

    Attributes
    ----------
    y, covariance, design
        What was given: (n,), (n, n), (n, p).
    effects
        Covariances (n, n) of the random effects for a scale of 1; the last one, the inner, is positive definite.
    outer
        Scales (G, m - 1) of the effects but the last.
    inner
        Nodes (G, FINE) of the last effect's scale.
    mass
        Posterior mass (G, FINE) of the nodes.
    """

    y: FloatArray
    covariance: FloatArray
    design: FloatArray
    effects: tuple[FloatArray, ...]
    outer: FloatArray
    inner: FloatArray
    mass: FloatArray

    def draw(self, draws: int, rng: np.random.Generator) -> StageDraws:
        """Independent draws of scales, coefficients and effects."""
        count, nodes = self.mass.shape
        place = np.sort(rng.choice(count * nodes, size=draws, p=self.mass.ravel()))
        rows = place // nodes
        step = np.log(self.inner[:, 1] / self.inner[:, 0])
        tau = self.inner.ravel()[place] * np.exp(step[rows] * (rng.random(draws) - 0.5))
        roots = [root_of(effect) for effect in self.effects[:-1]]
        noise = root_of(self.covariance)
        n, outer = len(self.y), self._jittered(rows, rng)
        coefficients = np.empty((draws, self.design.shape[1]))
        effects = np.empty((len(self.effects), draws, n))
        for row in np.unique(rows):
            own = rows == row
            size = int(own.sum())
            spread = self.outer[row]
            rotated = _rotated(self.y, _known(self.covariance, self.effects, spread), self.design, self.effects[-1])
            # a draw from the prior, moved by what the data differ from it (Matheron)
            prior = [s * rng.standard_normal((size, n)) @ root.T for s, root in zip(spread, roots, strict=True)]
            error = rng.standard_normal((size, n)) @ noise.T
            inner = tau[own, None] * rng.standard_normal((size, n))
            difference = rotated.y - (sum(prior, error) @ rotated.basis) - inner
            weights = 1 / (rotated.variances + tau[own, None] ** 2)
            beta, _, _ = _regression(rotated.x, weights, difference)
            pulled = weights * (difference - beta @ rotated.x.T)
            coefficients[own] = beta
            back = pulled @ rotated.basis.T  # Sigma^-1 residual, in the coordinates of y
            for i, (s, effect, start) in enumerate(zip(spread, self.effects[:-1], prior, strict=True)):
                effects[i, own] = start + s**2 * back @ effect
            effects[-1, own] = (inner + tau[own, None] ** 2 * pulled) @ np.linalg.inv(rotated.basis)
        order = rng.permutation(draws)
        return StageDraws(
            scales=np.column_stack([outer, tau])[order], coefficients=coefficients[order], effects=effects[:, order]
        )

    def _jittered(self, rows: IntArray, rng: np.random.Generator) -> FloatArray:
        """Outer scales of draws, spread over the cells of their nodes."""
        scales = self.outer[rows].copy()
        for i in range(scales.shape[1]):
            nodes = np.unique(self.outer[:, i])
            step = np.log(nodes[1] / nodes[0]) if len(nodes) > 1 else 0.0
            scales[:, i] *= np.exp(step * (rng.random(len(scales)) - 0.5))
        return scales


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
) -> SecondStage:
    """The posterior of estimates with a known covariance, see :class:`SecondStage`.

    Parameters
    ----------
    y
        Estimates, (n,).
    covariance
        Their covariance V, (n, n), positive semi-definite.
    design
        X, (n, p), of full rank, p < n.
    effects
        Covariances T_k (n, n) of random effects for a scale of 1; the last one is positive definite.
    widths
        Width of the half-Cauchy prior of each scale, in units of y.

    References
    ----------
    Gelman, A. (2006). Prior distributions for variance parameters in hierarchical models. Bayesian Analysis 1(3).
    https://doi.org/10.1214/06-BA117A
    """
    outer = [_nodes(width, OUTER, REACH) for width in widths[:-1]]
    if outer:
        coarse = _evaluated(y, covariance, design, effects, outer, _nodes(widths[-1], OUTER, REACH), widths)
        outer = [_narrowed(nodes, coarse, axis, OUTER) for axis, nodes in enumerate(outer)]
    combined = list(product(*outer))
    grid = np.array(combined, dtype=float).reshape(len(combined), len(outer))
    inner, value = np.empty((len(grid), FINE)), np.empty((len(grid), FINE))
    start = _nodes(widths[-1], COARSE, REACH)
    for i, spread in enumerate(grid):
        rotated = _rotated(y, _known(covariance, effects, spread), design, effects[-1])
        rough = rotated.log_likelihood(start) + _log_half_cauchy(start, widths[-1])
        inner[i] = _narrowed(start, rough, 0, FINE)
        value[i] = rotated.log_likelihood(inner[i]) + _log_half_cauchy(inner[i], widths[-1])
        value[i] += np.log(np.log(inner[i, 1] / inner[i, 0]))  # width of its cells
        value[i] += sum(_log_half_cauchy(s, w) for s, w in zip(spread, widths[:-1], strict=True))
    mass = np.exp(value - logsumexp(value))
    return SecondStage(y, covariance, design, tuple(effects), grid, inner, mass)


def _nodes(width: float, count: int, reach: tuple[float, float]) -> FloatArray:
    return width * np.geomspace(*reach, count)


def _known(covariance: FloatArray, effects: Sequence[FloatArray], spread: FloatArray) -> FloatArray:
    """V and the outer effects together."""
    return covariance + sum((s**2 * effect for s, effect in zip(spread, effects[:-1], strict=True)), 0.0)


def _evaluated(
    y: FloatArray,
    covariance: FloatArray,
    design: FloatArray,
    effects: Sequence[FloatArray],
    outer: Sequence[FloatArray],
    inner: FloatArray,
    widths: Sequence[float],
) -> FloatArray:
    """Log density on the product of the nodes, one axis a scale."""
    shape = (*(len(nodes) for nodes in outer), len(inner))
    value = np.empty((int(np.prod(shape[:-1])), len(inner)))
    for i, spread in enumerate(product(*outer)):
        rotated = _rotated(y, _known(covariance, effects, np.array(spread)), design, effects[-1])
        value[i] = rotated.log_likelihood(inner) + _log_half_cauchy(inner, widths[-1])
        value[i] += sum(float(_log_half_cauchy(np.array(s), w)) for s, w in zip(spread, widths[:-1], strict=True))
    return value.reshape(shape)


def _narrowed(nodes: FloatArray, value: FloatArray, axis: int, count: int) -> FloatArray:
    """Nodes, evenly spaced in the logarithm, over the part of an axis that holds posterior mass."""
    profile = value.max(axis=tuple(other for other in range(value.ndim) if other != axis))
    rows = np.flatnonzero(profile > profile.max() - DROP)
    low, high = nodes[max(rows[0] - 1, 0)], nodes[min(rows[-1] + 1, len(nodes) - 1)]
    return np.geomspace(low, high, count)


@dataclass(frozen=True)
class Relation:
    """Draws (D,) of the relation of latent values to latent or known ones.

    Attributes
    ----------
    correlation, slope, intercept
        Of the latent y with the latent x.
    residual_sd
        Of the latent y around the line.
    """

    correlation: FloatArray
    slope: FloatArray
    intercept: FloatArray
    residual_sd: FloatArray


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
) -> Relation:
    """How latent values depend on an outside variable, where either is known with error.

    ``y ~ N(theta, V)``, ``x ~ N(xi, U)``, and (theta_i, xi_i) are normal with correlation rho and covariance T between
    the units. The prior of rho is uniform, the two standard deviations have half-Cauchy priors (``width`` for theta,
    the observed one for xi), both means are flat. For an x that is known, slopes are per observed standard deviation.

    Parameters
    ----------
    y, x
        Estimates and observed values, (n,).
    covariance, x_variance
        V (n, n), and the diagonal of U (n,), 0 where x is known.
    residuals
        Candidates for T (n, n), positive definite, equally probable beforehand.
    covariate
        A variable (n,) on which both depend, with flat coefficients: the relation is the partial one, and the intercept
        is that at its mean.
    """
    ones, noise = np.ones(len(x)), np.diag(x_variance)
    if covariate is not None:
        # flat coefficients are integrated over in the space across the covariate
        across = null_space((covariate - covariate.mean())[None]).T
        y, x, ones = across @ y, across @ x, across @ ones
        covariance, noise = across @ covariance @ across.T, across @ noise @ across.T
        residuals = [across @ residual @ across.T for residual in residuals]
    x_spread, y_spread = (_spread(part, ones) for part in (x, y))
    known = not noise.any()
    sigma_x = np.array([1.0]) if known else np.geomspace(*SIGMA_REACH, SIGMA_NODES)
    top = max(y_spread, float(np.sqrt(np.diag(covariance).mean())))
    sigma_y = top * np.geomspace(*SIGMA_REACH, SIGMA_NODES)
    rho = np.sin(np.pi / 2 * (np.arange(RHO_NODES) + 0.5 - RHO_NODES / 2) / (RHO_NODES / 2))  # denser near the ends
    log_rho = np.log(np.cos(np.arcsin(rho)))
    values, centres, slopes = [], [], []
    for scale, residual in product(x_spread * sigma_x, residuals):
        mean, apart, of_x = (x, np.zeros_like(covariance), 0.0)
        if not known:
            mean, apart, of_x = _shrunken(x, noise, scale**2 * residual, ones)
            of_x += float(_log_half_cauchy(np.array(scale), x_spread))
        sy, r = (part.ravel() for part in np.meshgrid(sigma_y, rho, indexing="ij"))
        slope, rest = r * sy / scale, sy**2 * (1 - r**2)
        value, centre = _intercepts(y, covariance, residual, mean, apart, slope, rest, ones)
        value += of_x + _log_half_cauchy(sy, width) + np.tile(log_rho, len(sigma_y))
        values.append(value)
        centres.append(centre)
        slopes.append(np.column_stack([np.full(len(sy), scale), sy, r]))
    value, centre, nodes = (np.concatenate(parts) for parts in (values, centres, slopes))
    mass = np.exp(value - logsumexp(value))
    place = rng.choice(len(mass), size=draws, p=mass)
    # draws are spread over the cells of their nodes
    angle = np.arcsin(nodes[place, 2]) + np.pi / RHO_NODES * (rng.random(draws) - 0.5)
    correlation = np.sin(np.clip(angle, -np.pi / 2, np.pi / 2))
    step = np.log(sigma_y[1] / sigma_y[0])
    sd = nodes[place, 1] * np.exp(step * (rng.random(draws) - 0.5))
    scale_x = nodes[place, 0]
    if not known:
        scale_x = scale_x * np.exp(np.log(sigma_x[1] / sigma_x[0]) * (rng.random(draws) - 0.5))
    return Relation(
        correlation=correlation,
        slope=correlation * sd / scale_x,
        intercept=centre[place, 0] + np.sqrt(centre[place, 1]) * rng.standard_normal(draws),
        residual_sd=sd * np.sqrt(1 - correlation**2),
    )


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


def _intercepts(
    y: FloatArray,
    covariance: FloatArray,
    residual: FloatArray,
    mean: FloatArray,
    apart: FloatArray,
    slope: FloatArray,
    rest: FloatArray,
    ones: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Log likelihood (G,) with the intercept integrated, and its mean and variance (G, 2), at slopes and variances."""
    value, centre = np.empty(len(slope)), np.empty((len(slope), 2))
    for begin in range(0, len(slope), BLOCK):
        part = slice(begin, begin + BLOCK)
        b, v = slope[part], rest[part]
        total = covariance + v[:, None, None] * residual + (b**2)[:, None, None] * apart
        chol = np.linalg.cholesky(total)
        left = np.broadcast_to(y, (len(b), len(y))) - b[:, None] * mean
        sides = np.stack([left, np.broadcast_to(ones, left.shape)], axis=2)
        solved = np.linalg.solve(chol, sides)
        squares = np.einsum("gni,gnj->gij", solved, solved)
        intercept = squares[:, 0, 1] / squares[:, 1, 1]
        centre[part] = np.column_stack([intercept, 1 / squares[:, 1, 1]])
        log_det = 2 * np.log(np.diagonal(chol, axis1=1, axis2=2)).sum(axis=1)
        value[part] = -0.5 * (
            log_det + np.log(squares[:, 1, 1]) + squares[:, 0, 0] - squares[:, 0, 1] ** 2 / squares[:, 1, 1]
        )
    return value, centre
