"""Many estimates with known errors: variances that borrow from each other, and means shrunken by a fitted mixture."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import digamma, logsumexp, ndtr, polygamma, stdtr

from bayesbias._core.vectors import FloatArray

COMPONENTS = 12
"""Normal components of the mixture, their standard deviations a factor of the root of 2 apart and more."""
MEANS = 20
"""Steps of the mean at most."""
ROUNDS, ENOUGH = 300, 1e-7
"""Steps of the fit at most, and the gain in log likelihood, for each estimate, at which it ends."""
MOST_FREEDOM, NEARLY_NORMAL = 1e6, 200.0


@dataclass(frozen=True)
class SharedVariance:
    """A scaled inverse chi-squared distribution of variances: its degrees of freedom and its scale.

    References
    ----------
    Smyth, G. K. (2004). Linear models and empirical Bayes methods for assessing differential expression in microarray
    experiments. Statistical Applications in Genetics and Molecular Biology 3(1). https://doi.org/10.2202/1544-6115.1027
    """

    freedom: float
    scale: float

    def moderated(self, variances: FloatArray, freedom: float) -> FloatArray:
        """Posterior means of variances that were observed with some degrees of freedom."""
        total = self.freedom * self.scale + freedom * variances
        result: FloatArray = total / max(self.freedom + freedom - 2, 1.0)
        return result


def shared_variance(variances: FloatArray, freedom: float) -> SharedVariance:
    """The distribution of variances behind observed ones, from the moments of their logarithms."""
    logs = np.log(variances[variances > 0])
    apart = logs - digamma(freedom / 2) + np.log(freedom / 2)
    mean, spread = float(apart.mean()), float(apart.var(ddof=1) - polygamma(1, freedom / 2))
    if spread <= 0:
        return SharedVariance(MOST_FREEDOM, float(np.exp(mean)))
    # polygamma(1, x) = spread, by Newton's steps on its inverse, which is nearly linear
    x = 0.5 + 1 / spread
    for _ in range(50):
        value = float(polygamma(1, x))
        step = value * (1 - value / spread) / float(polygamma(2, x))
        x += step
        if abs(step) < 1e-10 * x:
            break
    return SharedVariance(2 * x, float(np.exp(mean + digamma(x) - np.log(x))))


@dataclass(frozen=True)
class Mixture:
    """A mixture of normal distributions with one mean.

    Attributes
    ----------
    mean
        Of all components.
    sds, weights
        Standard deviation and share of each component, (K,).

    References
    ----------
    Stephens, M. (2017). False discovery rates: a new deal. Biostatistics 18(2).
    https://doi.org/10.1093/biostatistics/kxw041
    """

    mean: float
    sds: FloatArray
    weights: FloatArray

    @property
    def sd(self) -> float:
        """Standard deviation of the mixture."""
        return float(np.sqrt(self.weights @ self.sds**2))

    def posterior(self, y: FloatArray, se: FloatArray, rope: float, freedom: float = np.inf) -> Shrunken:
        """Posteriors of what lies behind estimates (n,), whose errors are known with some degrees of freedom."""
        total = self.sds[:, None] ** 2 + se**2
        share = self.sds[:, None] ** 2 / total
        log = np.log(self.weights)[:, None] - 0.5 * np.log(total) - 0.5 * (y - self.mean) ** 2 / total
        log -= logsumexp(log, axis=0)
        weight = np.exp(log)
        means = self.mean + share * (y - self.mean)
        sds = np.sqrt(share) * se
        mean = (weight * means).sum(axis=0)
        second = (weight * (sds**2 + (means - mean) ** 2)).sum(axis=0)
        # errors that are estimated have the tails of Student's distribution
        cdf = ndtr if freedom > NEARLY_NORMAL else partial(stdtr, freedom)
        below = np.asarray(cdf(-means / sds))
        inside = np.asarray(cdf((rope - means) / sds)) - np.asarray(cdf((-rope - means) / sds))
        return Shrunken(mean, np.sqrt(second), (weight * below).sum(axis=0), (weight * inside).sum(axis=0))


@dataclass(frozen=True)
class Shrunken:
    """Posteriors of n estimates: mean, standard deviation, probability below 0, and probability inside the rope."""

    mean: FloatArray
    sd: FloatArray
    below: FloatArray
    inside: FloatArray


def fitted_mixture(y: FloatArray, se: FloatArray, heavy: bool = True) -> Mixture:
    """The distribution of what lies behind estimates, by maximum likelihood.

    Parameters
    ----------
    y, se
        Estimates and their standard errors, (n,).
    heavy
        Whether it may have heavier tails than a normal distribution: a mixture of normals on a grid of scales, none of
        them being 0. Else one normal.
    """
    spread = float(np.sqrt(max(np.var(y) - np.mean(se**2), 0.0)))
    typical = float(np.median(se))
    if not heavy:
        return _one_normal(y, se, max(spread, 1e-3 * typical))
    low, high = typical / 5, max(4 * float(np.abs(y - np.median(y)).max()), typical)
    sds = np.geomspace(low, high, COMPONENTS)
    total = sds[:, None] ** 2 + se**2
    weights, mean = np.full(COMPONENTS, 1 / COMPONENTS), float(np.median(y))
    for _ in range(MEANS):
        log = -0.5 * np.log(total) - 0.5 * (y - mean) ** 2 / total
        density = np.exp(log - log.max(axis=0))
        weights = _weights(density, weights)
        share = weights[:, None] * density
        precision = (share / share.sum(axis=0) / total).sum(axis=0)
        moved = float(precision @ y / precision.sum())
        if abs(moved - mean) < 1e-3 * typical:
            break
        mean = moved
    return Mixture(mean, sds, weights)


def _weights(density: FloatArray, weights: FloatArray) -> FloatArray:
    """Weights (K,) of components by maximum likelihood, from densities (K, n) and a start."""
    before = -np.inf
    for _ in range(ROUNDS):
        total = weights @ density
        weights = np.maximum(weights * (density / total).mean(axis=1), 1e-12)
        weights /= weights.sum()
        now = float(np.log(total).mean())
        if now - before < ENOUGH:
            break
        before = now
    return weights


def _one_normal(y: FloatArray, se: FloatArray, start: float) -> Mixture:
    tau2 = start**2
    mean = float(y.mean())
    for _ in range(ROUNDS):
        weight = 1 / (tau2 + se**2)
        mean = float(weight @ y / weight.sum())
        gain = float((weight**2 @ ((y - mean) ** 2 - se**2)) / (weight**2).sum())
        if abs(gain - tau2) < 1e-10 * max(tau2, 1e-12):
            break
        tau2 = max(gain, 1e-12)
    return Mixture(mean, np.array([np.sqrt(tau2)]), np.ones(1))


def false_sign_rates(below: FloatArray) -> FloatArray:
    """Local false sign rates (n,): the probability that the more probable sign is wrong."""
    rates: FloatArray = np.minimum(below, 1 - below)
    return rates


def s_values(rates: FloatArray) -> FloatArray:
    """Expected share of wrong signs among the words with rates no larger, (n,)."""
    order = np.argsort(rates, kind="stable")
    values = np.empty(len(rates))
    values[order] = np.cumsum(rates[order]) / np.arange(1, len(rates) + 1)
    return values
