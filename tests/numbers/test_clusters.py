"""Errors between speakers would be those of their documents, or of another model than the one that is named."""

import numpy as np
import pytest
from scipy import stats

from bayesbias.numerics.clusters import UnitMeans, Weighting, bias_reduced, regression
from bayesbias.posteriors import Estimates


def two_groups(size, small, seed=0):
    """A constant and membership in the smaller group, (size, 2)."""
    group = np.random.default_rng(seed).permutation(np.arange(size) < small)
    return np.column_stack([np.ones(size), group]).astype(float)


def test_of_means_known_alike_the_posterior_is_student_s():
    """With one variance of all means the scale between clusters and the common one are not told apart."""
    x, rng = two_groups(12, 5), np.random.default_rng(1)
    y = rng.normal(size=12)
    fitted = regression(y, UnitMeans(np.full(12, 0.3), x, np.arange(12)))
    estimate = Estimates.of(fitted.law, 2)[1]
    known = stats.ttest_ind(y[x[:, 1] == 1], y[x[:, 1] == 0])
    interval = known.confidence_interval(0.89)
    assert estimate.quantile(0.055)[0] == pytest.approx(interval.low, abs=1e-5)
    assert estimate.quantile(0.945)[0] == pytest.approx(interval.high, abs=1e-5)
    assert 2 * min(estimate.below(0.0)[0], 1 - estimate.below(0.0)[0]) == pytest.approx(known.pvalue, abs=1e-5)
    assert Estimates.of(fitted.equal, 2)[1].quantile(0.055)[0] == pytest.approx(interval.low, abs=1e-5)


@pytest.fixture
def nested():
    """Twelve clusters of one to eight units, a covariate that varies within them."""
    rng = np.random.default_rng(2)
    cluster = np.repeat(np.arange(12), rng.integers(1, 9, 12))
    x = np.column_stack([np.ones(len(cluster)), rng.normal(size=len(cluster))])
    y = 0.5 * x[:, 1] + rng.normal(size=12)[cluster] * 0.6 + rng.normal(size=len(cluster)) * 0.7
    return y, UnitMeans(rng.uniform(0.1, 0.4, len(cluster)), x, cluster)


def dense(weighting):
    """The covariance (R, R) that a weighting stands for."""
    same = weighting.cluster[:, None] == weighting.cluster
    return np.diag(weighting.spread) + weighting.between * same


def test_whitening_is_that_of_the_dense_covariance(nested):
    _, rows = nested
    weighting = Weighting(rows.variances, rows.variances + 0.2, 0.5, rows.cluster)
    inverse = np.linalg.inv(dense(weighting))
    own = weighting.whitened(rows.design)
    np.testing.assert_allclose(own.T @ own, rows.design.T @ inverse @ rows.design, rtol=1e-12)
    np.testing.assert_allclose(weighting.precise(rows.design), inverse @ rows.design, rtol=1e-9, atol=1e-12)
    slope, covariance = weighting.coefficients(rows.design)
    np.testing.assert_allclose(covariance, np.linalg.inv(rows.design.T @ inverse @ rows.design), rtol=1e-10)
    np.testing.assert_allclose(slope, covariance @ rows.design.T @ inverse, rtol=1e-9, atol=1e-12)
    share = weighting.share_of_instances(slope)
    np.testing.assert_allclose(
        share, slope**2 @ rows.variances / np.diag(slope @ dense(weighting) @ slope.T), rtol=1e-10
    )


def assert_moments(law, log_mass, means, variances):
    """The last coefficient has the mean and sd of a mixture over a grid."""
    mass, means = np.exp(np.array(log_mass) - max(log_mass)), np.array(means)
    mass /= mass.sum()
    sd = np.sqrt(mass @ (np.array(variances) + (means - mass @ means) ** 2))
    estimate = Estimates.of(law, 2)[1]
    assert estimate.mean[0] == pytest.approx(mass @ means, abs=0.01 * sd)
    assert estimate.sd[0] == pytest.approx(sd, rel=0.01)


def test_units_within_clusters_have_the_posterior_of_a_fine_grid(nested):
    y, rows = nested
    units = 1 / np.sqrt(np.mean(1 / rows.variances))
    groups = 1 / np.sqrt(np.mean(np.bincount(rows.cluster, 1 / rows.variances)))
    scales = np.exp(np.arange(np.log(1e-2), np.log(1e2), 0.12))
    log_mass, means, variances = [], [], []
    for a in scales:
        for b in scales:
            weighting = Weighting(rows.variances, rows.variances + (units * a) ** 2, (groups * b) ** 2, rows.cluster)
            covariance = dense(weighting)
            inverse = np.linalg.inv(covariance)
            info = rows.design.T @ inverse @ rows.design
            beta = np.linalg.solve(info, rows.design.T @ inverse @ y)
            left = y - rows.design @ beta
            value = -0.5 * (np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(info)[1] + left @ inverse @ left)
            log_mass.append(value + np.log(a) - np.log1p(a**2) + np.log(b) - np.log1p(b**2))
            means.append(beta[1])
            variances.append(np.linalg.inv(info)[1, 1])
    assert_moments(regression(y, rows).law, log_mass, means, variances)


def test_clusters_that_differ_unequally_have_the_posterior_of_a_fine_grid():
    """Given the scale between clusters and its ratio at the two ends, coefficients are Student's."""
    rng, size = np.random.default_rng(3), 16
    x = two_groups(size, 4)
    v, g = 0.5 / rng.integers(1, 60, size), x[:, 1] - 0.5
    y = 0.3 * x[:, 1] + rng.normal(size=size) * np.sqrt(v + 0.05)
    unit, log_mass, moments = 1 / np.sqrt(np.mean(1 / v)), [], []
    for eta in np.arange(-1.4, 1.41, 0.05):
        for tau in np.exp(np.arange(np.log(1e-2), np.log(1e2), 0.05)):
            w = 1 / (v + (unit * tau * np.exp(eta * g)) ** 2)
            info = (x.T * w) @ x
            beta = np.linalg.solve(info, x.T @ (w * y))
            rss = w @ (y - x @ beta) ** 2
            log_mass.append(0.5 * (np.log(w).sum() - np.linalg.slogdet(info)[1] - (size - 2) * np.log(rss)))
            log_mass[-1] += np.log(tau) - np.log1p(tau**2) - eta**2 / (2 * 0.5**2)
            moments.append((beta[1], np.linalg.inv(info)[1, 1] * rss / (size - 4)))
    law = regression(y, UnitMeans(v, x, np.arange(size)), g[:, None]).law
    assert_moments(law, log_mass, *zip(*moments, strict=True))


def test_bias_reduced_errors_of_two_groups_are_welch_s():
    x, rng = two_groups(14, 5), np.random.default_rng(4)
    y = rng.normal(size=14)
    a, b = y[x[:, 1] == 1], y[x[:, 1] == 0]
    mean, p = bias_reduced(y, np.ones(14), x, np.array([0.0, 1.0]))
    assert mean == pytest.approx(a.mean() - b.mean())
    error = np.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))
    # under equal variances the degrees of freedom are those of Bell and McCaffrey for two groups
    n, m = len(a), len(b)
    freedom = (1 / n + 1 / m) ** 2 / (1 / (n**2 * (n - 1)) + 1 / (m**2 * (m - 1)))
    assert p == pytest.approx(2 * stats.t.sf(abs(mean) / error, freedom), rel=1e-9)
    alone = two_groups(10, 1)
    assert np.isnan(bias_reduced(rng.normal(size=10), np.ones(10), alone, np.array([0.0, 1.0]))[1])


def test_several_covariates_share_one_law():
    """Differences of values have the errors of their terms together."""
    rng = np.random.default_rng(6)
    x = np.column_stack([np.ones(30), rng.integers(0, 2, (30, 3))]).astype(float)
    y = x @ [0.1, 0.5, 0.0, -0.5] + rng.normal(size=30) * 0.2
    uneven = x[:, 1:] - 0.5
    fitted = regression(y, UnitMeans(np.full(30, 0.01), x, np.arange(30)), uneven)
    estimates = Estimates.of(fitted.law, 4)
    difference = estimates[1] - estimates[3]
    assert difference.mean[0] == pytest.approx(1.0, abs=3 * difference.sd[0])
    covariance = estimates.covariance.to_numpy()
    expected = covariance[1, 1] + covariance[3, 3] - 2 * covariance[1, 3]
    assert difference.sd[0] ** 2 == pytest.approx(expected, rel=1e-9)
    drawn = estimates.draws(20_000, seed=1)
    np.testing.assert_allclose(drawn.std(axis=0), estimates.sd, rtol=0.05)
    assert np.allclose(np.cov(drawn.T), covariance, atol=0.05 * covariance.max())
