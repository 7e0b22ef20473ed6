"""Laws of numbers and of their weighted sums: mixtures of normals, partial pooling, draws, and what signs are sure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np
from scipy import sparse
from scipy.linalg import eigh_tridiagonal
from scipy.special import ndtr, ndtri, owens_t

from bayesbias.numerics.arrays import FloatArray, IntArray
from bayesbias.numerics.related import root_of

STEPS = 100  # Newton steps, or bisections, of a quantile at most
# the last step of a quantile is at most this share of a standard deviation; what is left is about its square
CLOSE = 1e-8
# standard deviations from the mean, beyond the farthest component's mean, within which every quantile lies
FARTHEST = 40.0
AT_ONCE = 2**18  # normal distributions that a step of quantiles looks at together
NOTHING = 1e-6  # variances below this share of the largest one are rounding: vectors are in half precision
# length of a Lanczos vector, in standard deviations, that is rounding: the measure has no further point
EXHAUSTED = 1e-10
ZERO = 1e-12  # values, and standard deviations, that are the rounding of sums
# nodes of the factor, shapes of the prior of deviations, nodes of tau for each two of these, and of tau's grid
FACTORS, SHAPES, TAUS, FINE = 9, 3, 12, 1001
LARGEST = 1 - 1e-12  # prior probability of a smaller tau at the largest one, whose tangent is still finite
TINY = 1e-150  # what a mean of 0 is replaced by: the limit is the same from either side

type Matrix = sparse.csr_array | FloatArray
type Weighted = tuple[Matrix, FloatArray]
"""Weights (m, p) and known summands (m,) of weighted sums."""


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
    nodes, vectors = eigh_tridiagonal(diagonal, below[: len(diagonal) - 1])
    # the weights are the squared first entries of the eigenvectors, which have length 1
    return centre + spread * nodes, vectors[0] ** 2


@dataclass(frozen=True)
class NormalMixture:
    """Marginal posteriors of m quantities: mixtures of N normals."""

    weights: FloatArray  # (N, 1), or (N, m) where quantities have weights of their own; their sum over nodes is 1
    means: FloatArray  # (N, m), or (1, m) where all components have the same mean
    sds: FloatArray  # (N, m)

    @cached_property
    def mean(self) -> FloatArray:
        """Means (m,)."""
        return self.means[0] if len(self.means) == 1 else (self.weights * self.means).sum(axis=0)

    @cached_property
    def sd(self) -> FloatArray:
        """Standard deviations (m,)."""
        return np.sqrt((self.weights * (self.sds**2 + (self.means - self.mean) ** 2)).sum(axis=0))

    def below(self, x: FloatArray | float) -> FloatArray:
        """Probability (m,) of a value below x (m,), or below one number for all; half of what lies at it counts."""
        apart = np.asarray(x) - self.means
        known = self.sds <= ZERO  # a component without spread is a value
        z = np.divide(apart, self.sds, out=np.zeros(np.broadcast_shapes(apart.shape, self.sds.shape)), where=~known)
        half = 0.5 * (1 + np.sign(np.where(np.abs(apart) > ZERO, apart, 0.0)))
        return (self.weights * np.where(known, half, ndtr(z))).sum(axis=0)

    def quantile(self, p: float) -> FloatArray:
        """Quantiles (m,), by Newton's method within a bracket that is halved where steps leave it or hardly shrink."""
        x = np.array(np.broadcast_to(self.mean, self.sds.shape[1:]))
        spread, step = np.flatnonzero(self.sd > 0), max(1, AT_ONCE // len(self.weights))
        for begin in range(0, len(spread), step):
            own = spread[begin : begin + step]
            weights = self.weights if self.weights.shape[1] == 1 else self.weights[:, own]
            x[own] = _quantile(NormalMixture(weights, self.means[:, own], self.sds[:, own]), p)
        return x


def _quantile(mixture: NormalMixture, p: float) -> FloatArray:
    """Quantiles (m,) of mixtures whose standard deviations are above 0.

    Where Newton's step leaves the bracket, or is not at most half of the last one, the bracket is halved instead:
    between two modes the density is next to 0, and Newton's method alone would jump away or cycle.
    """
    reach = FARTHEST * mixture.sd + np.abs(mixture.means - mixture.mean).max(axis=0)
    low, high = mixture.mean - reach, mixture.mean + reach
    x, last = mixture.mean + ndtri(p) * mixture.sd, 2 * reach
    done = np.zeros(x.shape, dtype=bool)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        inverse = np.where(mixture.sds > 0, 1 / mixture.sds, 0.0)
        heights = inverse * mixture.weights / np.sqrt(2 * np.pi)
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


class Law(ABC):
    """The joint distribution of p numbers, and of weighted sums (m, p) of them."""

    @abstractmethod
    def marginals(self, weights: Matrix, offset: FloatArray) -> NormalMixture | Empirical:
        """Distributions of ``offset + weights @ numbers`` (m,), one by one."""

    @abstractmethod
    def covariance(self, weights: Matrix) -> FloatArray:
        """Covariance (m, m) of weighted sums."""

    @abstractmethod
    def opposite(self, first: Weighted, second: Weighted) -> FloatArray:
        """Probability (m,) that weighted sums and their counterparts have opposite signs."""

    @abstractmethod
    def draws(self, weights: Matrix, size: int, rng: np.random.Generator) -> FloatArray:
        """Joint draws (size, m) of ``weights @ numbers``."""


class Nodes(Law):
    """A law that is normal at each of N nodes, such as the values of a scale that stand for its posterior."""

    mass: FloatArray  # posterior mass of the nodes, (N,)

    @abstractmethod
    def means_at(self, weights: Matrix) -> FloatArray:
        """Means (N, m) of weighted sums at each node, or (1, m) where all nodes have one mean."""

    @abstractmethod
    def between(self, first: Matrix, second: Matrix) -> FloatArray:
        """Covariance (N, m) of weighted sums with their counterparts at each node."""

    def seen_by(self, *weights: Matrix) -> Nodes:
        """The law with as many nodes as weighted sums can tell apart."""
        return self

    def _mixture(self, weights: Matrix, offset: FloatArray) -> NormalMixture:
        """Weighted sums one by one, at all nodes."""
        variance = self.between(weights, weights)
        return NormalMixture(self.mass[:, None], self.means_at(weights) + offset, np.sqrt(np.maximum(variance, 0.0)))

    def marginals(self, weights: Matrix, offset: FloatArray) -> NormalMixture:
        return self.seen_by(weights)._mixture(weights, offset)

    def opposite(self, first: Weighted, second: Weighted) -> FloatArray:
        # at the nodes that the two see together: one alone may see fewer
        law = self.seen_by(first[0], second[0])
        one, other = (law._mixture(*each) for each in (first, second))
        between = law.between(first[0], second[0])
        return law.mass @ _opposite_signs((one.means, other.means), (one.sds, other.sds), between)


@dataclass(frozen=True)
class Normals(Nodes):
    """Errors around known values that a few matrices add up to, each times a factor with a posterior.

    At node n the numbers are ``mean + sum_a factors[n, a] * roots[a] @ z`` with r standard normals z, which all
    matrices share. A normal law has one node and one root of its covariance.
    """

    mean: FloatArray  # (p,)
    roots: tuple[FloatArray, ...]  # A matrices (p, r)
    mass: FloatArray = field(default_factory=partial(np.ones, 1))  # (N,)
    factors: FloatArray = field(default_factory=partial(np.ones, (1, 1)))  # (N, A)

    def means_at(self, weights: Matrix) -> FloatArray:
        return np.asarray(weights @ self.mean)[None]

    def between(self, first: Matrix, second: Matrix) -> FloatArray:
        ones = [first @ root for root in self.roots]
        others = ones if first is second else [second @ root for root in self.roots]
        value = np.zeros((len(self.mass), first.shape[0]))
        for a, one in enumerate(ones):
            for b, other in enumerate(others):
                value += np.outer(self.factors[:, a] * self.factors[:, b], np.einsum("mr,mr->m", one, other))
        return value

    def seen_by(self, *weights: Matrix) -> Normals:
        # nodes of several factors are all combinations of those of each: sums that do not hold one need fewer
        if len(self.roots) == 1:
            return self
        used = [a for a, root in enumerate(self.roots) if any((each @ root).any() for each in weights)] or [0]
        if len(used) == len(self.roots):
            return self
        factors, same = np.unique(self.factors[:, used], axis=0, return_inverse=True)
        roots = tuple(self.roots[a] for a in used)
        return Normals(self.mean, roots, np.bincount(same.ravel(), self.mass), factors)

    def covariance(self, weights: Matrix) -> FloatArray:
        products = (self.factors.T * self.mass) @ self.factors
        roots = [weights @ root for root in self.roots]
        value = np.zeros((weights.shape[0],) * 2)
        for a, one in enumerate(roots):
            for b, other in enumerate(roots):
                value += products[a, b] * (one @ other.T)
        return value

    def draws(self, weights: Matrix, size: int, rng: np.random.Generator) -> FloatArray:
        node = rng.choice(len(self.mass), size=size, p=self.mass)
        standard = rng.standard_normal((size, self.roots[0].shape[1]))
        value = np.tile(weights @ self.mean, (size, 1))
        for a, root in enumerate(self.roots):
            value += self.factors[node, a, None] * (standard @ (weights @ root).T)
        return value


@dataclass(frozen=True)
class Gaussian(Law):
    """A normal law whose covariance may be too large to be made: that of weighted sums is."""

    mean: FloatArray  # (p,)
    errors: Callable[[Matrix], FloatArray] | FloatArray  # of weights (m, p) the covariance (m, m); or that (p, p)

    def _of(self, weights: Matrix) -> Normals:
        """The law of weighted sums."""
        return Normals(weights @ self.mean, (root_of(self.covariance(weights)),))

    def marginals(self, weights: Matrix, offset: FloatArray) -> NormalMixture:
        variance = np.diag(self.covariance(weights))
        sds = np.sqrt(np.maximum(variance, 0.0))[None]
        return NormalMixture(np.ones((1, 1)), (weights @ self.mean + offset)[None], sds)

    def covariance(self, weights: Matrix) -> FloatArray:
        return self.errors(weights) if callable(self.errors) else weights @ (weights @ self.errors).T

    def opposite(self, first: Weighted, second: Weighted) -> FloatArray:
        size = len(first[1])
        both = self._of(sparse.csr_array(sparse.vstack([sparse.csr_array(each[0]) for each in (first, second)])))
        own = np.eye(size)
        here, there = np.hstack([own, 0 * own]), np.hstack([0 * own, own])
        return both.opposite((here, first[1]), (there, second[1]))

    def draws(self, weights: Matrix, size: int, rng: np.random.Generator) -> FloatArray:
        return self._of(weights).draws(np.eye(weights.shape[0]), size, rng)


@dataclass(frozen=True)
class Empirical(Law):
    """A law of p numbers by D draws, and what these say of each number."""

    numbers: FloatArray  # (D, p)

    @cached_property
    def mean(self) -> FloatArray:
        """Means (p,)."""
        return self.numbers.mean(axis=0)

    @cached_property
    def sd(self) -> FloatArray:
        """Standard deviations (p,)."""
        return self.numbers.std(axis=0, ddof=1)

    def quantile(self, p: float) -> FloatArray:
        """Quantiles (p,) at one probability."""
        return np.quantile(self.numbers, p, axis=0)

    def below(self, x: FloatArray | float) -> FloatArray:
        """Probability (p,) of a value below x."""
        return (self.numbers < x).mean(axis=0)

    def _of(self, weights: Matrix) -> FloatArray:
        """Draws (D, m) of weighted sums."""
        value: FloatArray = (weights @ self.numbers.T).T
        return value

    def marginals(self, weights: Matrix, offset: FloatArray) -> Empirical:
        return Empirical(self._of(weights) + offset)

    def covariance(self, weights: Matrix) -> FloatArray:
        return np.cov(self._of(weights), rowvar=False).reshape((weights.shape[0],) * 2)

    def opposite(self, first: Weighted, second: Weighted) -> FloatArray:
        return (self.marginals(*first).numbers * self.marginals(*second).numbers < 0).mean(axis=0)

    def draws(self, weights: Matrix, size: int, rng: np.random.Generator) -> FloatArray:
        """Joint draws (size, m), taken at random from those there are."""
        return self._of(weights)[rng.integers(len(self.numbers), size=size)]


@dataclass(frozen=True)
class NormalNodes(Nodes):
    """A law that is normal at each node, with a mean and a covariance of its own."""

    mass: FloatArray  # (N,)
    mean: FloatArray  # (N, p)
    errors: FloatArray  # covariances (N, p, p)

    def means_at(self, weights: Matrix) -> FloatArray:
        value: FloatArray = (weights @ self.mean.T).T
        return value

    def between(self, first: Matrix, second: Matrix) -> FloatArray:
        one, other = (each.toarray() if sparse.issparse(each) else each for each in (first, second))
        value: FloatArray = np.einsum("mp,npq,mq->nm", one, self.errors, other, optimize=True)
        return value

    def covariance(self, weights: Matrix) -> FloatArray:
        moved = self.mean - self.mass @ self.mean
        whole = np.tensordot(self.mass, self.errors, 1) + (moved * self.mass[:, None]).T @ moved
        value: FloatArray = weights @ (weights @ whole).T
        return value

    def draws(self, weights: Matrix, size: int, rng: np.random.Generator) -> FloatArray:
        node = rng.choice(len(self.mass), size=size, p=self.mass)
        roots = np.stack([root_of(each) for each in self.errors[np.unique(node)]])
        own = roots[np.unique(node, return_inverse=True)[1]]
        drawn = self.mean[node] + np.einsum("npq,nq->np", own, rng.standard_normal((size, own.shape[2])))
        value: FloatArray = (weights @ drawn.T).T
        return value


@dataclass(frozen=True)
class PooledRows(Nodes):
    """The law of J values whose deviations from their mean are partially pooled.

    In the principal directions of their errors the observed deviations are independent. Given the factor f of the
    errors each keeps the share p / (p + f^2 L), where L is the variance of its error and p its prior variance. The mean
    keeps its own value and error, so that the rows average to it.
    """

    centre: float  # the mean
    known: FloatArray  # what the values hold beside it without an error, (J,)
    axes: FloatArray  # and how much of the deviation in each direction, (J, r)
    scores: FloatArray  # observed deviations by direction, (r,)
    sizes: FloatArray  # variances of their errors for a factor of 1, (r,)
    shared: FloatArray  # error of the mean in standard normals: those of the directions, (r,),
    own: float  # and one more
    # nodes (N,) and (N, r), and their posterior mass (N,)
    factor: FloatArray
    variance: FloatArray  # prior variance of the deviation in each direction
    mass: FloatArray

    @cached_property
    def gain(self) -> FloatArray:
        """Share of the deviation in each direction that is kept, (N, r)."""
        return self.variance / (self.variance + self.factor[:, None] ** 2 * self.sizes)

    def means_at(self, weights: Matrix) -> FloatArray:
        known = self.centre * weights.sum(axis=1) + weights @ self.known
        value: FloatArray = known + (self.gain * self.scores) @ (weights @ self.axes).T
        return value

    def between(self, first: Matrix, second: Matrix) -> FloatArray:
        # of the mean, of the mean with a deviation, and of the deviations: both of the latter shrink by the gain, as
        # the errors of any normal mean with a normal prior do
        ones, others = first.sum(axis=1), second.sum(axis=1)  # how many times each sum holds the mean
        of_mean, with_mean = self.shared @ self.shared + self.own**2, self.shared * np.sqrt(self.sizes)
        one = first @ self.axes
        other = one if first is second else second @ self.axes
        of_directions = (one * others[:, None] + other * ones[:, None]) * with_mean + one * other * self.sizes
        value: FloatArray = ones * others * of_mean + self.gain @ of_directions.T
        return self.factor[:, None] ** 2 * value

    def covariance(self, weights: Matrix) -> FloatArray:
        mean = self.mass @ (means := self.means_at(weights))
        moved = (means - mean) * np.sqrt(self.mass)[:, None]
        squared = self.mass * self.factor**2
        kept = squared @ self.gain
        ones, axes = weights.sum(axis=1), weights @ self.axes
        with_mean = np.outer(axes @ (self.shared * np.sqrt(self.sizes) * kept), ones)
        of_mean = squared.sum() * (self.shared @ self.shared + self.own**2) * np.outer(ones, ones)
        value: FloatArray = of_mean + with_mean + with_mean.T + (axes * self.sizes * kept) @ axes.T + moved.T @ moved
        return value

    def draws(self, weights: Matrix, size: int, rng: np.random.Generator) -> FloatArray:
        node = rng.choice(len(self.mass), size=size, p=self.mass)
        f, prior, gain = self.factor[node, None], self.variance[node], self.gain[node]
        errors, own = rng.standard_normal((2, size, len(self.sizes)))
        mean = self.centre + f[:, 0] * (errors @ self.shared + self.own * rng.standard_normal(size))
        # a deviation d with the error e is estimated by gain (d + e), which misses it by gain e - (1 - gain) d: drawn e
        # and d give that the posterior variance, and the covariance with the error of the mean
        missed = gain * f * np.sqrt(self.sizes) * errors - (1 - gain) * np.sqrt(prior) * own
        deviations = (gain * self.scores + missed) @ (weights @ self.axes).T
        value: FloatArray = np.outer(mean, weights.sum(axis=1)) + weights @ self.known + deviations
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

    ``scale`` is that of the half-Cauchy prior of tau, the standard deviation between words. Deviations of two words are
    as similar as their errors are, or as little as the words allow, or halfway between: three priors of equal
    probability, since each alone would be wrong about tau where another holds.
    """
    member = (block[:, None] == np.arange(block.max() + 1)).astype(float)
    share = member * weights[:, None]
    share /= share.sum(axis=0)
    mean, of_mean = float(weights @ values), weights @ root
    axes, lengths, normals = np.linalg.svd(root - member @ (share.T @ root), full_matrices=False)
    if lengths[0] <= 0:
        return None
    # more words than dimensions, or words of one vector: combinations without an error tell nothing of tau
    moving = lengths**2 > NOTHING * float(lengths[0] ** 2)
    axes, sizes = axes[:, moving], lengths[moving] ** 2
    scores, shared = axes.T @ (values - mean), normals[moving] @ of_mean
    # prior variances by direction, each with a mean of 1 over the words
    shapes = np.linspace(0, 1, SHAPES)[:, None] * (sizes / sizes.mean() - 1) + 1
    shapes *= len(values) / len(sizes)
    logs, mass = gauss_rule(np.log(grid[0]), grid[1], FACTORS)
    u = (np.arange(FINE) + 0.5) / FINE  # equally probable under the prior of tau
    tau = scale * np.tan(np.pi / 2 * u)
    nodes: list[tuple[FloatArray, FloatArray, FloatArray]] = []
    for f, weight in zip(np.exp(logs), mass, strict=True):
        # of each tau: independent scores with the variances f^2 L + tau^2 shape
        variances_of = [f**2 * sizes + np.outer(tau**2, shape) for shape in shapes]
        log_likelihoods = [-0.5 * (np.log(each) + scores**2 / each).sum(axis=1) for each in variances_of]
        # the factor keeps its mass: given it the likelihoods of tau are scaled to 1, so that nothing flows back
        most = max(float(each.max()) for each in log_likelihoods)
        evidence = np.array([np.exp(each - most).sum() for each in log_likelihoods])
        for each, shape, likely in zip(log_likelihoods, shapes, evidence / evidence.sum(), strict=True):
            own, within = gauss_rule(u, np.exp(each - each.max()), TAUS)
            own_tau = scale * np.tan(np.pi / 2 * np.clip(own, 0, LARGEST))
            nodes.append((np.full(len(own), f), np.outer(own_tau**2, shape), weight * likely * within))
    factors, variances, shares = (np.concatenate(list(column)) for column in zip(*nodes, strict=True))
    return PooledRows(
        centre=mean,
        known=values - mean - axes @ scores,
        axes=axes,
        scores=scores,
        sizes=sizes,
        shared=shared,
        own=max(float(of_mean @ of_mean - shared @ shared), 0.0) ** 0.5,
        factor=factors,
        variance=variances,
        mass=shares / shares.sum(),
    )


def _opposite_signs(
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
