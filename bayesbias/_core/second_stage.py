"""Estimates with a known covariance: regression with random effects whose scales are integrated by quadrature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.linalg import eigh, null_space
from scipy.special import logsumexp

from bayesbias._core.related import root_of
from bayesbias._core.vectors import FloatArray, IntArray

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


def _log_half_cauchy(scale: FloatArray, width: float) -> FloatArray:
    """Log density of half-Cauchy scales, with the Jacobian of their logarithm."""
    density: FloatArray = np.log(2 / np.pi) - np.log(width) - np.log1p((scale / width) ** 2) + np.log(scale)
    return density


@dataclass(frozen=True)
class Rotated:
    """Estimates in coordinates in which their known covariance is diagonal."""

    basis: FloatArray  # W (n, n), orthogonal: W' V W is diagonal
    variances: FloatArray  # the diagonal of W' V W, (n,)
    # W' y (n,) and W' X (n, p)
    y: FloatArray
    x: FloatArray

    def log_likelihood(self, tau: FloatArray) -> FloatArray:
        """Restricted log likelihood (G,) of scales (G,) of independent effects: what contrasts of y say of them."""
        weights = 1 / (self.variances + tau[:, None] ** 2)
        mean, information, _ = _regression(self.x, weights, np.broadcast_to(self.y, weights.shape))
        left = self.y - mean @ self.x.T
        value: FloatArray = 0.5 * (
            np.log(weights).sum(axis=1) - np.linalg.slogdet(information)[1] - (weights * left**2).sum(axis=1)
        )
        return value


def _regression(x: FloatArray, weights: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weighted least squares for each row of weights (G, n) and values (G, n): coefficients, information, X'wy."""
    products = (x[:, :, None] * x[:, None, :]).reshape(len(x), -1)
    information = (weights @ products).reshape(len(weights), x.shape[1], x.shape[1])
    product_ = (weights * y) @ x
    return np.linalg.solve(information, product_[..., None])[..., 0], information, product_


def _rotated(y: FloatArray, known: FloatArray, x: FloatArray) -> Rotated:
    variances, basis = np.linalg.eigh(known)
    return Rotated(basis, np.maximum(variances, 0.0), basis.T @ y, basis.T @ x)


@dataclass(frozen=True)
class SecondStage:
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
    rotations: tuple[Rotated, ...]  # the estimates for each row of ``outer``
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
            own, rotated = slice(*np.searchsorted(rows, [row, row + 1])), self.rotations[row]
            sides = difference[own] @ rotated.basis
            precision = 1 / (rotated.variances + tau[own, None] ** 2)
            coefficients[own], _, _ = _regression(rotated.x, precision, sides)
            left = precision * (sides - coefficients[own] @ rotated.x.T) @ rotated.basis.T
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
) -> SecondStage:
    """The posterior of estimates with a known covariance, see :class:`SecondStage`.

    By the precision, coefficients have a flat prior: generalised least squares, given the scales. It is best where V is
    exact, and with strongly correlated errors of unequal variance it puts a mean outside all estimates. With
    ``weights`` A the coefficients are A y with the variance of that, whatever V is. The scales and the deviations
    d = y - X A y are then estimated from d alone, that is, from contrasts; those say the same of scales by either way,
    which is the restricted likelihood. So theta = X A (y - e) + M E(u | d), M = I - X A, and A theta = A (y - e).

    Parameters
    ----------
    y
        Estimates, (n,).
    covariance
        Their covariance V, (n, n), positive semi-definite; what is below 0 is taken for 0.
    design
        X, (n, p), of full rank, p < n.
    effects
        Covariances T_k (n, n) of random effects for a scale of 1; independent ones are added as the last.
    widths
        Width of the half-Cauchy prior of each scale, that of the independent effects last, in units of y.
    weights
        A (p, n), where A X is the identity; None for the precision.

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
    inner, value, rotations = np.empty((len(grid), FINE)), np.empty((len(grid), FINE)), []
    start = _nodes(widths[-1], COARSE, REACH)
    for i, spread in enumerate(grid):
        rotated = _rotated(y, _known(covariance, effects, spread), design)
        rotations.append(rotated)
        rough = rotated.log_likelihood(start) + _log_half_cauchy(start, widths[-1])
        inner[i] = _narrowed(start, rough, 0, FINE)
        value[i] = rotated.log_likelihood(inner[i]) + _log_half_cauchy(inner[i], widths[-1])
        value[i] += np.log(np.log(inner[i, 1] / inner[i, 0]))  # width of its cells
        value[i] += sum(_log_half_cauchy(s, w) for s, w in zip(spread, widths[:-1], strict=True))
    mass = np.exp(value - logsumexp(value))
    return SecondStage(y, covariance, design, tuple(effects), weights, grid, tuple(rotations), inner, mass)


def _nodes(width: float, count: int, reach: tuple[float, float]) -> FloatArray:
    return width * np.geomspace(*reach, count)


def _known(covariance: FloatArray, effects: Sequence[FloatArray], spread: FloatArray) -> FloatArray:
    """V and the outer effects together."""
    return covariance + sum((s**2 * effect for s, effect in zip(spread, effects, strict=True)), 0.0)


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
        rotated = _rotated(y, _known(covariance, effects, np.array(spread)), design)
        value[i] = rotated.log_likelihood(inner) + _log_half_cauchy(inner, widths[-1])
        value[i] += sum(float(_log_half_cauchy(np.array(s), w)) for s, w in zip(spread, widths[:-1], strict=True))
    return value.reshape(shape)


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
class Relation:
    """Draws (D,) of the relation of latent values to latent or known ones."""

    # of the latent y with the latent x
    correlation: FloatArray
    slope: FloatArray
    intercept: FloatArray
    residual_sd: FloatArray  # of the latent y around the line
    residual: IntArray  # which of the candidates for the residual covariance each draw is of


@dataclass(frozen=True)
class _Nodes:
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

    def narrowed(self, value: FloatArray, counts: tuple[int, int, int]) -> _Nodes:
        """Nodes over the cells that hold posterior mass of (candidates, x, y, angle), and those beside them."""
        ends = []
        for axis, ((low, _), step) in enumerate(zip(self.ends, self.steps(), strict=True)):
            first, last = _reach(value, axis + 1, SLIGHT)
            ends.append((low + step * first, low + step * (last + 1)))
        return _Nodes(self.spreads, (ends[0], ends[1], ends[2]), (counts[0] if self.counts[0] > 1 else 1, *counts[1:]))


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
    weights
        Weights (n,) of the mean through which the line goes; None for the precision. Not with a covariate.
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
    nodes = _Nodes((x_spread, top), ends, (1 if known else ROUGH[0], *ROUGH[1:]))
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
    return Relation(
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
        self, nodes: _Nodes, residuals: Mapping[int, FloatArray], width: float
    ) -> tuple[FloatArray, FloatArray]:
        """Log density of each candidate at the nodes (K, X, Y, R), and mean and variance of the intercept."""
        scales, sigma, angle = nodes.axes()
        sy, r = (part.ravel() for part in np.meshgrid(sigma, np.sin(angle), indexing="ij"))
        shape = (len(residuals), len(scales), len(sigma), len(angle))
        value, centre = np.empty(shape), np.empty((*shape, 2))
        prior = _log_half_cauchy(sy, width) + np.tile(np.log(np.cos(angle)), len(sigma))
        for (k, residual), (i, scale) in product(enumerate(residuals.values()), enumerate(scales)):
            slope, rest = r * sy / scale, sy**2 * (1 - r**2)
            if self.known:
                of_x, log, centres = 0.0, *self._of_known(residual, slope, rest)
            else:
                mean, apart, of_x = _shrunken(self.x, self.noise, scale**2 * residual, self.ones)
                of_x += float(_log_half_cauchy(np.array(scale), nodes.spreads[0]))
                log, centres = self._of_noisy(residual, mean, apart, slope, rest)
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
        log, centre = _integrated(
            log_det, (precision * left**2).sum(axis=1), (weighted * left).sum(axis=1), weighted @ columns[:, 2]
        )
        return log, self._centred(centre, residual, self.x, np.zeros_like(self.covariance), slope, rest)

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
            bordered[:, :n, :n], bordered[:, n, :n], bordered[:, n + 1, :n] = (
                total,
                self.y - b[:, None] * mean,
                self.ones,
            )
            bordered[:, [n, n + 1], [n, n + 1]] = LARGE
            bordered[:, range(n), range(n)] += ROUNDING * np.trace(total, axis1=1, axis2=2)[:, None] / n
            chol = np.linalg.cholesky(bordered)
            solved = chol[:, n:, :n]
            squares = solved @ np.swapaxes(solved, 1, 2)
            log_det = 2 * np.log(np.diagonal(chol, axis1=1, axis2=2)[:, :n]).sum(axis=1)
            log[part], centre[part] = _integrated(log_det, squares[:, 0, 0], squares[:, 0, 1], squares[:, 1, 1])
        return log, self._centred(centre, residual, mean, apart, slope, rest)

    def _centred(
        self,
        centre: FloatArray,
        residual: FloatArray,
        mean: FloatArray,
        apart: FloatArray,
        slope: FloatArray,
        rest: FloatArray,
    ) -> FloatArray:
        """Mean and variance (G, 2) of the intercept of a line through the weighted mean, where there are weights."""
        if (w := self.weights) is None:
            return centre
        variance = w @ self.covariance @ w + rest * (w @ residual @ w) + slope**2 * (w @ apart @ w)
        return np.column_stack([w @ self.y - slope * (w @ mean), variance])


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
