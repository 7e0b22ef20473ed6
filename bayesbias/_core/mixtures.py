"""Posteriors of linear functionals: mixtures of normals, and partial pooling of deviations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular
from scipy.special import ndtr, ndtri

from bayesbias._core.vectors import FloatArray, IntArray

STEPS = 60
"""Newton steps, or bisections, of a quantile at most."""
CLOSE = 1e-8
"""The last step of a quantile is at most this share of a standard deviation; what is left is about its square."""
AT_ONCE = 2**18
"""Normal distributions that a step of quantiles looks at together."""
NOTHING = 1e-9
"""Variances below this share of the largest one are rounding: what varies so little is taken as known."""


def gauss_rule(points: FloatArray, mass: FloatArray, size: int) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights (size,) that integrate polynomials of degree 2 size - 1 exactly over a discrete measure.

    The Jacobi matrix of the measure's orthogonal polynomials comes from the Lanczos process; its eigenvalues are the
    nodes. A smooth function of a scale then needs a dozen nodes where the grid has hundreds.

    Parameters
    ----------
    points, mass
        Arrays (N,); the mass is positive somewhere.

    References
    ----------
    Golub, G. H. and Welsch, J. H. (1969). Calculation of Gauss quadrature rules. Mathematics of Computation 23(106).
    https://doi.org/10.1090/S0025-5718-69-99647-1
    """
    some = mass > 0
    points, mass = points[some], mass[some] / mass[some].sum()
    centre = float(mass @ points)
    spread = float(np.sqrt(mass @ (points - centre) ** 2))
    if spread == 0:
        return np.array([centre]), np.ones(1)
    x = (points - centre) / spread
    basis = [np.sqrt(mass)]
    diagonal, below = [], []
    for _ in range(min(size, len(points))):
        image = x * basis[-1]
        diagonal.append(float(image @ basis[-1]))
        for vector in basis:  # against all earlier ones: Lanczos loses orthogonality to rounding
            image = image - (image @ vector) * vector
        below.append(float(np.linalg.norm(image)))
        if below[-1] < 1e-10:
            break
        basis.append(image / below[-1])
    jacobi = np.diag(diagonal) + np.diag(below[: len(diagonal) - 1], 1) + np.diag(below[: len(diagonal) - 1], -1)
    nodes, vectors = np.linalg.eigh(jacobi)
    return centre + spread * nodes, vectors[0] ** 2


@dataclass(frozen=True)
class NormalMixture:
    """Marginal posteriors of m quantities: mixtures of N normals with the same weights.

    Attributes
    ----------
    weights
        (N,), with sum 1.
    means
        (N, m), or (1, m) where all components have the same mean.
    sds
        (N, m).
    """

    weights: FloatArray
    means: FloatArray
    sds: FloatArray

    @cached_property
    def mean(self) -> FloatArray:
        """Means (m,)."""
        value: FloatArray = self.means[0] if len(self.means) == 1 else self.weights @ self.means
        return value

    @cached_property
    def sd(self) -> FloatArray:
        """Standard deviations (m,)."""
        value: FloatArray = np.sqrt(self.weights @ (self.sds**2 + (self.means - self.mean) ** 2))
        return value

    def below(self, x: FloatArray | float) -> FloatArray:
        """Probability (m,) of a value below x (m,), or below one number for all; half of what lies at it counts."""
        apart = np.asarray(x) - self.means
        known = self.sds <= 0
        z = np.divide(apart, self.sds, out=np.zeros(np.broadcast_shapes(apart.shape, self.sds.shape)), where=~known)
        value: FloatArray = self.weights @ np.where(known, 0.5 * (1 + np.sign(apart)), ndtr(z))
        return value

    def quantile(self, p: float) -> FloatArray:
        """Quantiles (m,), by Newton's method within a bracket that halves where a step leaves it."""
        x = np.array(np.broadcast_to(self.mean, self.sds.shape[1:]))
        spread, step = np.flatnonzero(self.sd > 0), max(1, AT_ONCE // len(self.weights))
        for begin in range(0, len(spread), step):
            own = spread[begin : begin + step]
            x[own] = _quantile(NormalMixture(self.weights, self.means[:, own], self.sds[:, own]), p)
        return x


def _quantile(mixture: NormalMixture, p: float) -> FloatArray:
    """Quantiles (m,) of mixtures whose standard deviations are above 0."""
    reach = 40.0 * mixture.sd + np.abs(mixture.means - mixture.mean).max(axis=0)
    low, high = mixture.mean - reach, mixture.mean + reach
    x = mixture.mean + ndtri(p) * mixture.sd
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.where(mixture.sds > 0, 1 / mixture.sds, 0.0)
        heights = inverse * mixture.weights[:, None] / np.sqrt(2 * np.pi)
        for _ in range(STEPS):
            off = mixture.below(x) - p
            low, high = np.where(off < 0, x, low), np.where(off < 0, high, x)
            density = np.einsum("nm,nm->m", heights, np.exp(-0.5 * ((x - mixture.means) * inverse) ** 2))
            moved = x - off / density
            moved = np.where((moved >= low) & (moved <= high), moved, (low + high) / 2)
            close = np.abs(moved - x) <= CLOSE * mixture.sd
            x = moved
            if close.all():
                break
    return x


@dataclass(frozen=True)
class Deviations:
    """What partial pooling of J associations needs, in coordinates in which everything is diagonal.

    Deviations from the mean have the prior tau^2 B B' and, given the truth, the errors f^2 C V C'. Coordinates e (k,)
    with e ~ N(0, tau^2 + f^2 ``noise``) are independent of each other.

    Attributes
    ----------
    observed
        e, (k,).
    noise
        Variances of the errors of e for a factor of 1, (k,).
    back
        (J, k): deviations of the words are ``back @ e``.
    shared
        Covariance (k,) of the error of the mean with those of e, for a factor of 1.
    mean, variance
        The mean of the associations, and the variance of its error for a factor of 1.
    """

    observed: FloatArray
    noise: FloatArray
    back: FloatArray
    shared: FloatArray
    mean: float
    variance: float


def moving_axes(errors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Orthonormal axes (J, k) of what errors can move, and a root (k, k) of their covariance in these.

    The covariance of the errors is ``errors @ errors.T``, and ``axes @ core @ core.T @ axes.T`` without directions in
    which it is rounding. The axes come from the smaller Gram matrix, which leaves those of small variance orthogonal
    to some digits only; a second step, as in the Cholesky QR algorithm, makes them so.

    Parameters
    ----------
    errors
        (J, r).

    References
    ----------
    Yamamoto, Y., Nakatsukasa, Y., Yanagisawa, Y. and Fukaya, T. (2015). Roundoff error analysis of the CholeskyQR2
    algorithm. Electronic Transactions on Numerical Analysis 44.
    """
    wide = errors.shape[1] > len(errors)
    values, vectors = np.linalg.eigh(errors @ errors.T if wide else errors.T @ errors)
    moving = values > NOTHING * max(float(values.max(initial=0.0)), 1e-300)
    sizes, vectors = np.sqrt(values[moving]), vectors[:, moving]
    if wide:
        return vectors, vectors.T @ errors
    axes = errors @ (vectors / sizes)
    lower = np.linalg.cholesky(axes.T @ axes)
    return solve_triangular(lower, axes.T, lower=True).T, lower.T * sizes


def deviations(values: FloatArray, root: FloatArray, weights: FloatArray, block: IntArray) -> Deviations:
    """The deviations of J values from their weighted mean.

    Parameters
    ----------
    values
        (J,).
    root
        (J, r): its product with its transpose is the covariance of the errors for a factor of 1.
    weights
        (J,), with sum 1: those of the mean.
    block
        (J,): the deviations of the words of one block have the mean 0 by arithmetic, such as those of each of two
        groups; one block for all otherwise. The prior of the deviations is tau^2 times the identity, centred alike.
    """
    mean = float(weights @ values)
    member = (block[:, None] == np.arange(block.max() + 1)).astype(float)
    share = member * weights[:, None]
    share /= share.sum(axis=0)
    errors = root - member @ (share.T @ root)
    # more words than dimensions: combinations that no vector can move are 0 by construction and tell nothing of tau,
    # so that the prior is that of the combinations which the errors can move
    axes, core = moving_axes(errors)
    centred = axes - share @ (member.T @ axes)
    prior, turn = np.linalg.eigh(centred.T @ centred)
    whiten = turn / np.sqrt(prior)
    inner = whiten.T @ core
    noise, rotation = np.linalg.eigh(inner @ inner.T)
    apart = rotation.T @ (whiten.T @ (axes.T @ (values - mean)))
    back = axes @ (turn * np.sqrt(prior) @ rotation)
    shared = rotation.T @ (whiten.T @ (axes.T @ (errors @ (root.T @ weights))))
    return Deviations(apart, noise, back, shared, mean, float(((weights @ root) ** 2).sum()))


@dataclass(frozen=True)
class PooledRows:
    """Joint posterior of m weighted sums of associations whose deviations from their mean are pooled.

    Given the factor f and the scale tau, coordinate i keeps the share tau^2 / (tau^2 + f^2 noise_i) of what was
    observed. The mean keeps its own value and error, so that the rows average to it.

    Attributes
    ----------
    parts
        The deviations.
    level, back
        How much of the mean (m,) and of each coordinate (m, k) the sums hold.
    factor, tau, weights
        Nodes (N,) and their posterior weights.
    """

    parts: Deviations
    level: FloatArray
    back: FloatArray
    factor: FloatArray
    tau: FloatArray
    weights: FloatArray

    @property
    def gains(self) -> FloatArray:
        """Share of each coordinate that is kept, (N, k)."""
        tau2 = self.tau[:, None] ** 2
        value: FloatArray = tau2 / (tau2 + self.factor[:, None] ** 2 * self.parts.noise)
        return value

    @cached_property
    def mixture(self) -> NormalMixture:
        """The marginal posteriors."""
        parts, gains, f2 = self.parts, self.gains, self.factor[:, None] ** 2
        means = self.level * parts.mean + (gains * parts.observed) @ self.back.T
        # the error of the mean, its covariance with the deviation, and the deviation's posterior variance
        variance = f2 * parts.variance * self.level**2
        variance += 2 * f2 * self.level * ((gains * parts.shared) @ self.back.T)
        variance += f2 * ((gains * parts.noise) @ (self.back**2).T)
        return NormalMixture(self.weights, means, np.sqrt(np.maximum(variance, 0.0)))

    @property
    def mean(self) -> FloatArray:
        """Posterior means (m,)."""
        return self.mixture.mean

    @property
    def sd(self) -> FloatArray:
        """Posterior standard deviations (m,)."""
        return self.mixture.sd

    def quantile(self, p: float) -> FloatArray:
        """Posterior quantiles (m,) at one probability."""
        return self.mixture.quantile(p)

    def below(self, x: FloatArray | float) -> FloatArray:
        """Posterior probability (m,) of a value below x."""
        return self.mixture.below(x)

    def combined(self, matrix: sparse.csr_array | FloatArray) -> PooledRows:
        """Weighted sums (k, m) of the m quantities."""
        return replace(self, level=matrix @ self.level, back=matrix @ self.back)

    @property
    def tau_mean(self) -> float:
        """Posterior mean of the standard deviation between words."""
        return float(self.weights @ self.tau)

    def draws(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Joint draws (size, m)."""
        parts, gains = self.parts, self.gains
        node = rng.choice(len(self.weights), size=size, p=self.weights)
        f, share = self.factor[node, None], gains[node]
        noise = np.sqrt(parts.noise) * rng.standard_normal((size, len(parts.noise)))
        # the error of the mean, given those of the coordinates that it is correlated with
        slope = np.divide(parts.shared, parts.noise, out=np.zeros_like(parts.shared), where=parts.noise > 0)
        rest = max(parts.variance - float(slope @ parts.shared), 0.0)
        common = f[:, 0] * (noise @ slope + np.sqrt(rest) * rng.standard_normal(size))
        own = (share - 1) * self.tau[node, None] * rng.standard_normal(noise.shape)
        moved = share * (parts.observed + f * noise) + own
        value: FloatArray = (parts.mean + common)[:, None] * self.level + moved @ self.back.T
        return value


FACTORS, TAUS, FINE = 9, 12, 2001
"""Nodes of the factor, of tau for each of these, and of the grid that the latter stand for."""


def pooled_rows(parts: Deviations, factor: FloatArray, mass: FloatArray, scale: float) -> PooledRows:
    """Rows whose deviations are pooled, with tau integrated.

    Parameters
    ----------
    parts
        The deviations.
    factor, mass
        The factor's posterior on a grid. The scatter within lists informs it; deviations of words do not.
    scale
        Scale of the half-Cauchy prior of tau.
    """
    logs, weights = gauss_rule(np.log(factor), mass, FACTORS)
    u = (np.arange(FINE) + 0.5) / FINE  # equally probable under the prior
    tau = scale * np.tan(np.pi / 2 * u)
    nodes: list[tuple[FloatArray, FloatArray, FloatArray]] = []
    for f, weight in zip(np.exp(logs), weights, strict=True):
        variance = tau[:, None] ** 2 + f**2 * parts.noise
        log_likelihood = -0.5 * (np.log(variance) + parts.observed**2 / variance).sum(axis=1)
        own, share = gauss_rule(u, np.exp(log_likelihood - log_likelihood.max()), TAUS)
        nodes.append((np.full(len(own), f), scale * np.tan(np.pi / 2 * np.clip(own, 0, 1 - 1e-12)), weight * share))
    factors, taus, shares = (np.concatenate(column) for column in zip(*nodes, strict=True))
    return PooledRows(parts, np.ones(len(parts.back)), parts.back, factors, taus, shares / shares.sum())
