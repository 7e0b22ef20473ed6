"""Posteriors of linear functionals: mixtures of normals, and partial pooling of deviations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.special import ndtr

from bayesbias._core.vectors import FloatArray, IntArray

STEPS = 60
"""Newton steps, or bisections, of a quantile at most."""
CLOSE = 1e-12
"""Quantiles are found to this share of a standard deviation."""
NOTHING = 1e-6
"""Variances below this share of the largest one are rounding, since vectors are in half precision: what varies so
little is taken as known."""


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
        apart = np.where(self.sd > 0, self.sd, 1.0)
        reach = 40.0 * apart + np.abs(self.means - self.mean).max(axis=0)
        low, high = self.mean - reach, self.mean + reach
        x = self.mean.copy()
        for _ in range(STEPS):
            off = self.below(x) - p
            low, high = np.where(off < 0, x, low), np.where(off < 0, high, x)
            with np.errstate(divide="ignore", invalid="ignore"):
                z = (x - self.means) / self.sds
                slope = self.weights @ np.where(self.sds > 0, np.exp(-0.5 * z**2) / (self.sds * np.sqrt(2 * np.pi)), 0)
                moved = x - off / slope
            inside = np.isfinite(moved) & (moved > low) & (moved < high)
            moved = np.where(inside, moved, (low + high) / 2)
            if (np.abs(moved - x) <= CLOSE * apart).all():
                break
            x = moved
        return np.where(self.sd > 0, x, self.mean)


@dataclass(frozen=True)
class Deviations:
    """What partial pooling of J associations needs, in coordinates in which everything is diagonal.

    Given the truth, deviations from the mean have the errors f^2 W, with W = C V C'. Their prior is tau^2 (s C C' +
    (1 - s) W / v), with v the mean variance: a share s belongs to each word by itself, and in the rest words are as
    correlated as in their distances to any lists. Coordinates e (k,) with e ~ N(0, tau^2 ``shape(s)`` + f^2 ``noise``)
    are then independent of each other.

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

    def shape(self, own: FloatArray | float) -> FloatArray:
        """Prior variances of e for tau = 1, (..., k), for shares (...) that belong to each word by itself.

        Those of the words are on average the same for every share.
        """
        sizes = (self.back**2).sum(axis=0)
        alike = self.noise * (sizes.sum() / max(float(sizes @ self.noise), 1e-300))
        share = np.asarray(own)[..., None]
        value: FloatArray = share + (1 - share) * alike
        return value


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
        groups; one block for all otherwise. The prior of the deviations is centred alike.
    """
    mean = float(weights @ values)
    member = (block[:, None] == np.arange(block.max() + 1)).astype(float)
    share = member * weights[:, None]
    share /= share.sum(axis=0)
    errors = root - member @ (share.T @ root)
    # more words than dimensions: combinations that no vector can move are 0 by construction and tell nothing of tau,
    # so that the prior is that of the combinations which the errors can move
    axes, sizes, _ = np.linalg.svd(errors, full_matrices=False)
    moving = sizes**2 > NOTHING * max(float(sizes.max(initial=0.0)) ** 2, 1e-300)
    axes, sizes = axes[:, moving], sizes[moving]
    centred = axes - share @ (member.T @ axes)
    prior, turn = np.linalg.eigh(centred.T @ centred)
    whiten = turn / np.sqrt(prior)
    inner = whiten.T * sizes
    noise, rotation = np.linalg.eigh(inner @ inner.T)
    apart = rotation.T @ (whiten.T @ (axes.T @ (values - mean)))
    back = axes @ (turn * np.sqrt(prior)) @ rotation
    shared = rotation.T @ (whiten.T @ (axes.T @ (errors @ (root.T @ weights))))
    return Deviations(apart, noise, back, shared, mean, float(((weights @ root) ** 2).sum()))


@dataclass(frozen=True)
class PooledRows:
    """Joint posterior of m weighted sums of associations whose deviations from their mean are pooled.

    Given the factor f, the scale tau and the share s, coordinate i keeps p_i / (p_i + f^2 noise_i) of what was
    observed, with p_i its prior variance. The mean keeps its own value and error, so that the rows average to it.

    Attributes
    ----------
    parts
        The deviations.
    level, back
        How much of the mean (m,) and of each coordinate (m, k) the sums hold.
    factor, tau, own, weights
        Nodes (N,) of f, tau and s, and their posterior weights.
    """

    parts: Deviations
    level: FloatArray
    back: FloatArray
    factor: FloatArray
    tau: FloatArray
    own: FloatArray
    weights: FloatArray

    @cached_property
    def prior(self) -> FloatArray:
        """Prior variance of each coordinate, (N, k)."""
        return self.tau[:, None] ** 2 * self.parts.shape(self.own)

    @property
    def gains(self) -> FloatArray:
        """Share of each coordinate that is kept, (N, k)."""
        value: FloatArray = self.prior / (self.prior + self.factor[:, None] ** 2 * self.parts.noise)
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
        own = (share - 1) * np.sqrt(self.prior[node]) * rng.standard_normal(noise.shape)
        moved = share * (parts.observed + f * noise) + own
        value: FloatArray = (parts.mean + common)[:, None] * self.level + moved @ self.back.T
        return value


FACTORS, TAUS, FINE = 6, 10, 501
"""Nodes of the factor, of tau for each of these, and of the grid that the latter stand for."""
SHARES = np.array([1.0, 0.1, 0.01, 0.0])
"""Shares of the prior variance of deviations that belong to each word by itself, equally probable a priori. An
association is linear in the word's vector, so that alike words have alike deviations: *he* less *his* is known almost
exactly and is almost 0. With a share of 1 only, such combinations count as evidence that deviations are small, and as
few as 51% of 89% intervals hold a planted association."""


def pooled_rows(parts: Deviations, factor: FloatArray, mass: FloatArray, scale: float) -> PooledRows:
    """Rows whose deviations are pooled, with tau and the share of words' own deviations integrated.

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
    nodes: list[FloatArray] = []
    for f, weight in zip(np.exp(logs), weights, strict=True):
        log_likelihood = np.stack([_log_likelihood(parts, f, tau, share) for share in SHARES])
        likelihood = np.exp(log_likelihood - log_likelihood.max())
        likelihood /= likelihood.sum()
        for share, values in zip(SHARES, likelihood, strict=True):
            if (total := float(values.sum())) > LEAST_MASS:
                own, part = gauss_rule(u, values, TAUS)
                scales = scale * np.tan(np.pi / 2 * np.clip(own, 0, 1 - 1e-12))
                nodes.append(np.stack([np.full(len(own), f), scales, np.full(len(own), share), weight * total * part]))
    factors, taus, shares, total_weights = np.concatenate(nodes, axis=1)
    level = np.ones(len(parts.back))
    return PooledRows(parts, level, parts.back, factors, taus, shares, total_weights / total_weights.sum())


LEAST_MASS = 1e-9
"""Posterior mass below which a share is left out."""


def _log_likelihood(parts: Deviations, factor: float, tau: FloatArray, own: float) -> FloatArray:
    """Log density (N,) of the observed coordinates for scales tau (N,)."""
    variance = tau[:, None] ** 2 * parts.shape(own) + factor**2 * parts.noise
    value: FloatArray = -0.5 * (np.log(variance) + parts.observed**2 / variance).sum(axis=1)
    return value
