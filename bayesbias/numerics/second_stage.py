"""Estimates with a known covariance: regression with random effects, and relations of latent values.

The scales of effects are integrated by quadrature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

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


@dataclass(frozen=True)
class _Rotated:
    """Estimates in coordinates in which their known covariance is diagonal, for each of G covariances."""

    basis: FloatArray  # W (G, n, n), orthogonal: W' V W is diagonal
    variances: FloatArray  # the diagonal of W' V W, (G, n)
    # W' y (G, n) and W' X (G, n, p)
    y: FloatArray
    x: FloatArray

    def log_likelihood(self, tau: FloatArray) -> FloatArray:
        """Restricted log likelihood (G, K) of scales (G, K) of independent effects: what contrasts of y say of them."""
        weights = 1 / (self.variances[:, None] + tau[..., None] ** 2)
        mean, information = _regression(self.x, weights, self.y[:, None])
        left = self.y[:, None] - mean @ self.x.swapaxes(1, 2)
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
class _SecondStage:
    """The posterior of ``y = X b + u_1 + ... + u_m + e``, with ``e ~ N(0, V)`` and ``u_k ~ N(0, tau_k^2 T_k)``.

    Each tau_k has a half-Cauchy prior. Everything Gaussian is integrated exactly; the scales are on a grid.
    """

    # what was given: (n,), (n, n), (n, p)
    y: FloatArray
    covariance: FloatArray
    design: FloatArray
    # covariances (n, n) of the random effects but the last for a scale of 1; those of the last are independent
    effects: tuple[FloatArray, ...]
    weights: FloatArray | None  # how coefficients are estimated, (p, n); None for the precision
    outer: FloatArray  # scales (G, m - 1) of the effects but the last
    rotated: _Rotated  # the estimates for each row of ``outer``
    inner: FloatArray  # nodes (G, FINE) of the last effect's scale
    mass: FloatArray  # posterior mass (G, FINE) of the nodes

    def draw(self, draws: int, rng: np.random.Generator) -> StageDraws:
        """Independent draws of scales, coefficients and effects."""
        count, nodes = self.mass.shape
        place = np.sort(rng.choice(count * nodes, size=draws, p=self.mass.ravel()))
        rows = place // nodes
        step = np.log(self.inner[:, 1] / self.inner[:, 0])
        tau = self.inner.ravel()[place] * np.exp(step[rows] * (rng.random(draws) - 0.5))
        roots = [root_of(effect) for effect in self.effects]
        n, outer = len(self.y), self._jittered(rows, rng)
        # draws from the prior, moved by what the data differ from them (Matheron)
        start = np.empty((len(self.effects) + 1, draws, n))
        for i, root in enumerate(roots):
            start[i] = self.outer[rows, i, None] * (rng.standard_normal((draws, n)) @ root.T)
        start[-1] = tau[:, None] * rng.standard_normal((draws, n))
        noise = rng.standard_normal((draws, n))
        noise -= noise.mean(axis=0)  # so that a mean which weighs estimates by given weights has no Monte Carlo error
        difference = self.y - noise @ root_of(self.covariance).T - start.sum(axis=0)
        coefficients = np.empty((draws, self.design.shape[1]))
        moves = np.empty_like(start)
        for row in np.unique(rows):
            own, basis, x = slice(*np.searchsorted(rows, [row, row + 1])), self.rotated.basis[row], self.rotated.x[row]
            sides = difference[own] @ basis
            precision = 1 / (self.rotated.variances[row] + tau[own, None] ** 2)
            coefficients[own], _ = _regression(x, precision, sides)
            left = precision * (sides - coefficients[own] @ x.T) @ basis.T
            for i, (scale, effect) in enumerate(zip(self.outer[row], self.effects, strict=True)):
                moves[i, own] = scale**2 * left @ effect
            moves[-1, own] = tau[own, None] ** 2 * left
        if self.weights is not None:
            # deviations from the fit are predicted from contrasts; the fit itself keeps its weights
            coefficients = difference @ self.weights.T
            moves -= (moves @ self.weights.T) @ self.design.T
        order = rng.permutation(draws)
        return StageDraws(
            scales=np.column_stack([outer, tau])[order],
            coefficients=coefficients[order],
            effects=(start + moves)[:, order],
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
    weights: FloatArray | None = None,
) -> _SecondStage:
    """The posterior of estimates with a known covariance, see :class:`_SecondStage`.

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

    def rotated_at(spreads: FloatArray) -> _Rotated:
        """The estimates at scales (G, m - 1) of the effects but the last."""
        known = np.repeat(covariance[None], len(spreads), axis=0)
        for scale, effect in zip(spreads.T, effects, strict=True):
            known += scale[:, None, None] ** 2 * effect
        variances, basis = np.linalg.eigh(known)
        to_basis = basis.swapaxes(1, 2)
        return _Rotated(basis, np.maximum(variances, 0.0), to_basis @ y, to_basis @ design)

    def log_density(rotated: _Rotated, spreads: FloatArray, inner: FloatArray) -> FloatArray:
        """Log density at nodes (G, K) of the last scale."""
        outer = sum(log_half_cauchy(s, width) for s, width in zip(spreads.T, widths[:-1], strict=True))
        prior: FloatArray = log_half_cauchy(inner, widths[-1]) + np.reshape(outer, (-1, 1))
        return rotated.log_likelihood(inner) + prior

    axes = [width * np.geomspace(*REACH, OUTER) for width in widths[:-1]]
    if axes:
        grid = np.array(list(product(*axes)))
        start = np.tile(widths[-1] * np.geomspace(*REACH, OUTER), (len(grid), 1))
        coarse = log_density(rotated_at(grid), grid, start).reshape((OUTER,) * len(widths))
        axes = [_narrowed(nodes, coarse, axis, OUTER) for axis, nodes in enumerate(axes)]
    grid = np.array(list(product(*axes)))
    rotated = rotated_at(grid)
    start = widths[-1] * np.geomspace(*REACH, COARSE)
    coarse = log_density(rotated, grid, np.tile(start, (len(grid), 1)))
    inner = np.array([_narrowed(start, row, 0, FINE) for row in coarse])
    # with the widths of the cells
    value = log_density(rotated, grid, inner) + np.log(np.log(inner[:, 1] / inner[:, 0]))[:, None]
    mass = np.exp(value - float(logsumexp(value)))
    return _SecondStage(y, covariance, design, tuple(effects), weights, grid, rotated, inner, mass)


def _narrowed(nodes: FloatArray, value: FloatArray, axis: int, count: int) -> FloatArray:
    """Nodes, evenly spaced in the logarithm, over the part of an axis that holds posterior mass."""
    low, high = nodes[_reach(value, axis)]
    return np.geomspace(low, high, count)


def _reach(value: FloatArray, axis: int, drop: float = DROP) -> IntArray:
    """First and last node of an axis beside those that hold posterior mass."""
    profile = value.max(axis=tuple(other for other in range(value.ndim) if other != axis))
    rows = np.flatnonzero(profile > profile.max() - drop)
    return np.array([max(rows[0] - 1, 0), min(rows[-1] + 1, len(profile) - 1)])


@dataclass(frozen=True)
class _Relation:
    """Draws (D,) of the relation of latent values to latent or known ones."""

    # of the latent y with the latent x
    correlation: FloatArray
    slope: FloatArray
    intercept: FloatArray
    residual_sd: FloatArray  # of the latent y around the line
    residual: IntArray  # which of the candidates for the residual covariance each draw is of


@dataclass(frozen=True)
class _LatentNodes:
    """Nodes of a relation: the scale of x, that of y, and the angle whose sine is the correlation.

    The scales are the centres of cells even in the logarithm, in units of ``spreads``; angles are those of even cells.
    """

    spreads: tuple[float, float]
    ends: tuple[tuple[float, float], tuple[float, float], tuple[float, float]]
    counts: tuple[int, int, int]

    def steps(self) -> list[float]:
        """Width of the cells of each axis."""
        return [(high - low) / count for (low, high), count in zip(self.ends, self.counts, strict=True)]

    def axes(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Scales of x, scales of y, and angles."""
        places = [
            low + step * (np.arange(count) + 0.5)
            for (low, _), step, count in zip(self.ends, self.steps(), self.counts, strict=True)
        ]
        x, y = (spread * np.exp(place) for spread, place in zip(self.spreads, places, strict=False))
        angle: FloatArray = places[2].astype(float)
        return x, y, angle

    def narrowed(self, value: FloatArray, counts: tuple[int, int, int]) -> _LatentNodes:
        """Nodes over the cells that hold posterior mass of (candidates, x, y, angle), and those beside them."""
        ends = []
        for axis, ((low, _), step) in enumerate(zip(self.ends, self.steps(), strict=True)):
            first, last = _reach(value, axis + 1, SLIGHT)
            ends.append((low + step * first, low + step * (last + 1)))
        return _LatentNodes(
            self.spreads, (ends[0], ends[1], ends[2]), (counts[0] if self.counts[0] > 1 else 1, *counts[1:])
        )


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
) -> _Relation:
    """Relation of latent values to an outside variable, where either is known with error.

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
    ends = ((0.0, 0.0) if known else (low, high), (low, high), (-np.pi / 2, np.pi / 2))
    nodes = _LatentNodes((x_spread, top), ends, (1 if known else ROUGH[0], *ROUGH[1:]))
    sides = _Sides(y, covariance, x, noise, ones, weights, known)
    candidates = dict(enumerate(residuals))
    for rounds in range(ROUNDS):
        value, _ = sides.evaluated(nodes, candidates, width)
        nodes = nodes.narrowed(value, CLOSE if rounds == ROUNDS - 1 else ROUGH)
        highest = value.max(axis=(1, 2, 3))
        candidates = {
            k: candidates[k] for k, top in zip(list(candidates), highest, strict=True) if top > highest.max() - SLIGHT
        }
    value, centre = sides.evaluated(nodes, candidates, width)
    mass = np.exp(value - logsumexp(value))
    place = np.unravel_index(rng.choice(mass.size, size=draws, p=mass.ravel()), mass.shape)
    # draws are spread over the cells of their nodes
    moved = [step * (rng.random(draws) - 0.5) for step in nodes.steps()]
    scales_x, scales_y, angles = nodes.axes()
    correlation = np.sin(np.clip(angles[place[3]] + moved[2], -np.pi / 2, np.pi / 2))
    sd, scale_x = scales_y[place[2]] * np.exp(moved[1]), scales_x[place[1]] * np.exp(moved[0])
    return _Relation(
        correlation=correlation,
        slope=correlation * sd / scale_x,
        intercept=centre[place][:, 0] + np.sqrt(centre[place][:, 1]) * rng.standard_normal(draws),
        residual_sd=sd * np.sqrt(1 - correlation**2),
        residual=np.array(list(candidates))[place[0]],
    )


@dataclass(frozen=True)
class _Sides:
    """Both sides of a relation, as :func:`latent_relation` takes them; ``ones`` is the column of their means."""

    y: FloatArray
    covariance: FloatArray
    x: FloatArray
    noise: FloatArray
    ones: FloatArray
    weights: FloatArray | None
    known: bool

    def evaluated(
        self, nodes: _LatentNodes, residuals: Mapping[int, FloatArray], width: float
    ) -> tuple[FloatArray, FloatArray]:
        """Log density of each candidate at the nodes (K, X, Y, R), and mean and variance of the intercept."""
        scales, sigma, angle = nodes.axes()
        sy, r = (part.ravel() for part in np.meshgrid(sigma, np.sin(angle), indexing="ij"))
        shape = (len(residuals), len(scales), len(sigma), len(angle))
        value, centre = np.empty(shape), np.empty((*shape, 2))
        prior = log_half_cauchy(sy, width) + np.tile(np.log(np.cos(angle)), len(sigma))
        for (k, residual), (i, scale) in product(enumerate(residuals.values()), enumerate(scales)):
            slope, rest = r * sy / scale, sy**2 * (1 - r**2)
            if self.known:
                mean, apart, of_x = self.x, np.zeros_like(self.covariance), 0.0
                log, centres = self._of_known(residual, slope, rest)
            else:
                mean, apart, of_x = _shrunken(self.x, self.noise, scale**2 * residual, self.ones)
                of_x += float(log_half_cauchy(np.array(scale), nodes.spreads[0]))
                log, centres = self._of_noisy(residual, mean, apart, slope, rest)
            if (w := self.weights) is not None:  # the line goes through the weighted mean
                variance = w @ self.covariance @ w + rest * (w @ residual @ w) + slope**2 * (w @ apart @ w)
                centres = np.column_stack([w @ self.y - slope * (w @ mean), variance])
            value[k, i] = (log + prior + of_x).reshape(shape[2:])
            centre[k, i] = centres.reshape(*shape[2:], 2)
        return value, centre

    def _of_known(self, residual: FloatArray, slope: FloatArray, rest: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Log likelihood (G,) with the intercept integrated, and its mean and variance (G, 2), for an exact x."""
        variances, basis = eigh(self.covariance, residual)  # basis' T basis is the identity
        columns = basis.T @ np.column_stack([self.y, self.x, self.ones])
        precision = 1 / (np.maximum(variances, 0.0) + rest[:, None])
        left = columns[:, 0] - slope[:, None] * columns[:, 1]
        log_det = -np.log(precision).sum(axis=1) - 2 * np.linalg.slogdet(basis)[1]
        weighted = precision * columns[:, 2]
        return _integrated(
            log_det, (precision * left**2).sum(axis=1), (weighted * left).sum(axis=1), weighted @ columns[:, 2]
        )

    def _of_noisy(
        self, residual: FloatArray, mean: FloatArray, apart: FloatArray, slope: FloatArray, rest: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The same where the latent x has a mean and a covariance."""
        log, centre, n = np.empty(len(slope)), np.empty((len(slope), 2)), len(self.y)
        for begin in range(0, len(slope), BLOCK):
            part = slice(begin, begin + BLOCK)
            b, v = slope[part], rest[part]
            total = self.covariance + v[:, None, None] * residual + (b**2)[:, None, None] * apart
            # two more rows of the matrix are solved for while it is factorised
            bordered = np.zeros((len(b), n + 2, n + 2))
            bordered[:, :n, :n], bordered[:, n + 1, :n] = total, self.ones
            bordered[:, n, :n] = self.y - b[:, None] * mean
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
