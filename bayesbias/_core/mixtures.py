"""Posteriors of linear functionals: mixtures of normals, partial pooling of deviations, and what signs are sure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.special import ndtr, ndtri, owens_t

from bayesbias._core.vectors import FloatArray, IntArray

STEPS = 100  # Newton steps, or bisections, of a quantile at most
# the last step of a quantile is at most this share of a standard deviation; what is left is about its square
CLOSE = 1e-8
# standard deviations from the mean, beyond the farthest component's mean, within which every quantile lies
FARTHEST = 40.0
AT_ONCE = 2**18  # normal distributions that a step of quantiles looks at together
NOTHING = 1e-6  # variances below this share of the largest one are rounding: vectors are in half precision
# length of a Lanczos vector, in standard deviations, that is rounding: the measure has no further point
EXHAUSTED = 1e-10
# nodes of the factor, of tau for each of these, and of the grid that the latter stand for
FACTORS, TAUS, FINE = 9, 12, 2001
LARGEST = 1 - 1e-12  # prior probability of a smaller tau at the largest one, whose tangent is still finite
TINY = 1e-150  # what a mean of 0 is replaced by: the limit is the same from either side


def gauss_rule(points: FloatArray, mass: FloatArray, size: int) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights (size,) that integrate polynomials of degree 2 size - 1 exactly over a discrete measure.

    The Jacobi matrix of the measure's orthogonal polynomials comes from the Lanczos process; its eigenvalues are the
    nodes (Golub and Welsch 1969, https://doi.org/10.1090/S0025-5718-69-99647-1). A smooth function of a scale then
    needs a dozen nodes where the grid has hundreds.
    """
    some = mass > 0
    points, mass = points[some], mass[some] / mass[some].sum()
    centre = float(mass @ points)
    spread = float(np.sqrt(mass @ (points - centre) ** 2))
    if spread == 0:
        return np.array([centre]), np.ones(1)
    # in standard deviations, in which the three-term recurrence of the polynomials neither grows nor vanishes
    x = (points - centre) / spread
    basis = [np.sqrt(mass)]
    diagonal, below = [], []
    for _ in range(min(size, len(points))):
        image = x * basis[-1]
        diagonal.append(float(image @ basis[-1]))
        for vector in basis:  # against all earlier ones: Lanczos loses orthogonality to rounding
            image = image - (image @ vector) * vector
        below.append(float(np.linalg.norm(image)))
        if below[-1] < EXHAUSTED:
            break
        basis.append(image / below[-1])
    jacobi = np.diag(diagonal) + np.diag(below[: len(diagonal) - 1], 1) + np.diag(below[: len(diagonal) - 1], -1)
    nodes, vectors = np.linalg.eigh(jacobi)
    # the weights are the squared first entries of the eigenvectors, which have length 1
    return centre + spread * nodes, vectors[0] ** 2


@dataclass(frozen=True)
class NormalMixture:
    """Marginal posteriors of m quantities: mixtures of N normals with the same weights."""

    weights: FloatArray  # (N,), with sum 1
    means: FloatArray  # (N, m), or (1, m) where all components have the same mean
    sds: FloatArray  # (N, m)

    @cached_property
    def mean(self) -> FloatArray:
        """Means (m,)."""
        return self.means[0] if len(self.means) == 1 else self.weights @ self.means

    @cached_property
    def sd(self) -> FloatArray:
        """Standard deviations (m,)."""
        return np.sqrt(self.weights @ (self.sds**2 + (self.means - self.mean) ** 2))

    def below(self, x: FloatArray | float) -> FloatArray:
        """Probability (m,) of a value below x (m,), or below one number for all; half of what lies at it counts."""
        apart = np.asarray(x) - self.means
        known = self.sds <= 0  # a component without spread is a value
        z = np.divide(apart, self.sds, out=np.zeros(np.broadcast_shapes(apart.shape, self.sds.shape)), where=~known)
        return self.weights @ np.where(known, 0.5 * (1 + np.sign(apart)), ndtr(z))

    def quantile(self, p: float) -> FloatArray:
        """Quantiles (m,), by Newton's method within a bracket that is halved where steps leave it or hardly shrink."""
        x = np.array(np.broadcast_to(self.mean, self.sds.shape[1:]))
        spread, step = np.flatnonzero(self.sd > 0), max(1, AT_ONCE // len(self.weights))
        for begin in range(0, len(spread), step):
            own = spread[begin : begin + step]
            x[own] = _quantile(NormalMixture(self.weights, self.means[:, own], self.sds[:, own]), p)
        return x


def _quantile(mixture: NormalMixture, p: float) -> FloatArray:
    """Quantiles (m,) of mixtures whose standard deviations are above 0.

    Newton's step is the default; where it leaves the bracket, or is not at most half of the last one, the bracket is
    halved instead. Between two modes the density is next to 0, and Newton's method alone would jump away or cycle.
    """
    reach = FARTHEST * mixture.sd + np.abs(mixture.means - mixture.mean).max(axis=0)
    low, high = mixture.mean - reach, mixture.mean + reach
    x, last = mixture.mean + ndtri(p) * mixture.sd, 2 * reach
    done = np.zeros(x.shape, dtype=bool)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        inverse = np.where(mixture.sds > 0, 1 / mixture.sds, 0.0)
        heights = inverse * mixture.weights[:, None] / np.sqrt(2 * np.pi)
        for _ in range(STEPS):
            off = mixture.below(x) - p
            low, high = np.where(off < 0, x, low), np.where(off < 0, high, x)
            density = np.einsum("nm,nm->m", heights, np.exp(-0.5 * ((x - mixture.means) * inverse) ** 2))
            moved = x - off / density
            sound = (moved >= low) & (moved <= high) & (2 * np.abs(moved - x) <= last)
            moved = np.where(done, x, np.where(sound, moved, (low + high) / 2))
            last = np.abs(moved - x)
            done |= sound & (last <= CLOSE * mixture.sd)
            x = moved
            if done.all():
                break
    return x


class Marginals:
    """What quantities with marginal mixtures of normals, ``mixture``, say of themselves."""

    @property
    def mixture(self) -> NormalMixture:
        """The marginal posteriors."""
        raise NotImplementedError

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


@dataclass(frozen=True)
class PooledRows(Marginals):
    """Joint posterior of m weighted sums of J values whose deviations from their mean are partially pooled.

    Deviations have the covariance of their errors, times (tau / spread)^2: words whose errors are similar have similar
    deviations. Given the factor f of the errors, each deviation keeps the share tau^2 / (tau^2 + f^2 spread^2). The
    mean keeps its own value and error, so that the rows average to it.
    """

    centre: float  # the mean
    of_mean: FloatArray  # how many times the sums hold the mean, (m,): 1 for a value, 0 for the difference of two
    deviation: FloatArray  # what else they hold: weighted sums of the values' observed deviations from the mean, (m,)
    # roots (r,) and (m, r) of the errors of the mean and of the deviations, for a factor of 1: both multiply the same r
    # standard normals
    mean_root: FloatArray
    deviation_root: FloatArray
    # nodes (N,) and their posterior weights
    factor: FloatArray
    tau: FloatArray
    weights: FloatArray
    spread: float  # root mean square of the errors of the J deviations, for a factor of 1

    @property
    def gain(self) -> FloatArray:
        """Share of each deviation that is kept, (N,)."""
        return self.tau**2 / (self.tau**2 + (self.factor * self.spread) ** 2)

    @cached_property
    def mixture(self) -> NormalMixture:
        """The marginal posteriors."""
        gain, f2 = self.gain[:, None], self.factor[:, None] ** 2
        # the error of the mean, its covariance with that of a deviation, and the posterior variance of a deviation:
        # both of the latter shrink by the gain, as the errors of any normal mean with a normal prior do
        variance = self.of_mean**2 * (self.mean_root @ self.mean_root)
        variance = variance + gain * (2 * self.of_mean * (self.deviation_root @ self.mean_root))
        variance += gain * np.einsum("mr,mr->m", self.deviation_root, self.deviation_root)
        means = self.of_mean * self.centre + gain * self.deviation
        return NormalMixture(self.weights, means, np.sqrt(np.maximum(f2 * variance, 0.0)))

    @property
    def mean(self) -> FloatArray:
        """Posterior means (m,)."""
        return self.mixture.mean

    def combined(self, matrix: sparse.csr_array | FloatArray) -> PooledRows:
        """Weighted sums (k, m) of the m quantities."""
        of_mean, deviation = matrix @ self.of_mean, matrix @ self.deviation
        return replace(self, of_mean=of_mean, deviation=deviation, deviation_root=matrix @ self.deviation_root)

    def draws(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Joint draws (size, m)."""
        node = rng.choice(len(self.weights), size=size, p=self.weights)
        f, tau, gain = self.factor[node, None], self.tau[node, None], self.gain[node, None]
        errors, own = rng.standard_normal((2, size, len(self.mean_root)))
        mean = self.centre + f * (errors @ self.mean_root)[:, None]
        # a deviation d with the error e is estimated by gain (d + e), which misses it by gain e - (1 - gain) d: drawn e
        # and d give that the posterior variance, and the covariance with the error of the mean
        missed = (gain * f * errors - (1 - gain) * tau / self.spread * own) @ self.deviation_root.T
        value: FloatArray = mean * self.of_mean + gain * self.deviation + missed
        return value


def pooled_rows(
    values: FloatArray,
    root: FloatArray,
    weights: FloatArray,
    block: IntArray,
    grid: tuple[FloatArray, FloatArray],
    scale: float,
) -> PooledRows | None:
    """Values (J,) whose deviations from their mean are pooled, with tau integrated; None where all are known.

    The mean has the weights (J,). Errors have the root (J, r) of their covariance for a factor of 1; ``grid`` holds
    nodes of the factor and their posterior mass, which the scatter within lists informs and deviations of words do not.
    The deviations of the words of one block (J,) have the mean 0 by arithmetic, such as those of each of two groups.
    ``scale`` is that of the half-Cauchy prior of tau, the standard deviation between words.
    """
    member = (block[:, None] == np.arange(block.max() + 1)).astype(float)
    share = member * weights[:, None]
    share /= share.sum(axis=0)
    mean = float(weights @ values)
    errors = root - member @ (share.T @ root)
    sizes, axes = np.linalg.eigh(errors.T @ errors)
    if sizes[-1] <= 0:
        return None
    # more words than dimensions, or words of one vector: combinations without an error tell nothing of tau
    moving = sizes > NOTHING * float(sizes[-1])
    # with errors = U L^(1/2) V', V' errors' d over L is L^(-1/2) U' d: the deviations in standard deviations of their
    # errors, independent, each with the variance f^2 + (tau / spread)^2
    scores = axes[:, moving].T @ (errors.T @ (values - mean))
    squares, freedom = float((scores**2 / sizes[moving] ** 2).sum()), int(moving.sum())
    spread = float(np.sqrt(np.einsum("jr,jr->", errors, errors) / len(values)))
    logs, mass = gauss_rule(np.log(grid[0]), grid[1], FACTORS)
    u = (np.arange(FINE) + 0.5) / FINE  # equally probable under the prior of tau
    tau = scale * np.tan(np.pi / 2 * u)
    nodes: list[tuple[FloatArray, FloatArray, FloatArray]] = []
    for f, weight in zip(np.exp(logs), mass, strict=True):
        variance = f**2 + (tau / spread) ** 2
        log_likelihood = -0.5 * (freedom * np.log(variance) + squares / variance)
        # the factor keeps its mass: given it the likelihood of tau is scaled to 1, so that nothing flows back
        own, likely = gauss_rule(u, np.exp(log_likelihood - log_likelihood.max()), TAUS)
        own_tau = scale * np.tan(np.pi / 2 * np.clip(own, 0, LARGEST))
        nodes.append((np.full(len(own), f), own_tau, weight * likely))
    factors, taus, shares = (np.concatenate(column) for column in zip(*nodes, strict=True))
    return PooledRows(
        centre=mean,
        of_mean=np.ones(len(values)),
        deviation=values - mean,
        mean_root=weights @ root,
        deviation_root=errors,
        factor=factors,
        tau=taus,
        weights=shares / shares.sum(),
        spread=spread,
    )


def opposite_signs(
    means: tuple[FloatArray, FloatArray], sds: tuple[FloatArray, FloatArray], covariance: FloatArray
) -> FloatArray:
    """Probability (...) that the product of two jointly normal quantities is below 0.

    An sd of 0 is a known value; a value that is known to be 0 has no sign.

    References
    ----------
    Owen, D. B. (1956). Tables for computing bivariate normal probabilities. Annals of Mathematical Statistics 27(4).
    https://doi.org/10.1214/aoms/1177728074
    """
    # mean over sd: infinite for a known value, NaN for a known 0, and never 0
    with np.errstate(divide="ignore", invalid="ignore"):
        h, k = (np.divide(mean, sd) for mean, sd in zip(means, sds, strict=True))
    h, k = (np.where(value == 0, TINY, value) for value in (h, k))
    h, k, first, second, covariance = np.broadcast_arrays(h, k, *sds, covariance)
    product = first * second
    rho = np.clip(np.divide(covariance, product, out=np.zeros(product.shape), where=product > 0), -1.0, 1.0)
    rest = np.sqrt(1 - rho**2)
    # with Owen's T, P(both above 0) + P(both below 0) = 1 - 2 T(h, a) - 2 T(k, b), less 1 for means of opposite signs
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = (k - rho * h) / (h * rest), (h - rho * k) / (k * rest)
    # 0 / 0: the two are one quantity, up to its sign
    a, b = np.where(np.isnan(a), 0.0, a), np.where(np.isnan(b), 0.0, b)
    value = 2 * (owens_t(h, a) + owens_t(k, b))
    value = value + ((h > 0) != (k > 0))
    # a known value has its sign for certain: what is left is whether the other one has the opposite sign
    known = np.where(np.isinf(h), ndtr(-np.sign(h) * k), ndtr(-np.sign(k) * h))
    value = np.where(np.isinf(h) | np.isinf(k), known, value)
    return np.clip(np.where(np.isnan(h) | np.isnan(k), 0.0, value), 0.0, 1.0)


def false_sign_rates(below: FloatArray) -> FloatArray:
    """Local false sign rates (n,): the probability that the more probable sign is wrong."""
    return np.minimum(below, 1 - below)


def s_values(rates: FloatArray) -> FloatArray:
    """Expected share of wrong signs among the words with rates no larger, (n,)."""
    order = np.argsort(rates, kind="stable")
    values = np.empty(len(rates))
    values[order] = np.cumsum(rates[order]) / np.arange(1, len(rates) + 1)
    return values
