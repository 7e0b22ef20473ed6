"""Pools and criteria would have intervals that hold the truth too seldom, and nobody would notice."""

import numpy as np
import pytest
from scipy.stats import chisquare

from bayesbias.numerics.second_stage import latent_relation, restricted_likelihood, rotated, second_stage
from bayesbias.second_stage import pools

BCG = np.array(
    [
        [4, 6, 3, 62, 33, 180, 8, 505, 29, 17, 186, 5, 27],
        [119, 300, 228, 13536, 5036, 1361, 2537, 87886, 7470, 1699, 50448, 2493, 16886],
        [11, 29, 11, 248, 47, 372, 10, 499, 45, 65, 141, 3, 29],
        [128, 274, 209, 12619, 5761, 1079, 619, 87892, 7232, 1600, 27197, 2338, 17825],
    ],
    dtype=float,
)
"""Cases and others, vaccinated and not: Colditz et al. (1994), https://doi.org/10.1001/jama.1994.03510330076038"""


@pytest.fixture(scope="module")
def bcg():
    """Log relative risks and their variances."""
    a, b, c, d = BCG
    return np.log(a / (a + b) / (c / (c + d))), 1 / a - 1 / (a + b) + 1 / c - 1 / (c + d)


def interval(draws):
    """The ends of 89% intervals of draws, which lie along the first axis."""
    return np.quantile(draws, [0.055, 0.945], axis=0)


def holds(draws, truth):
    low, high = interval(draws)
    return low < truth < high


def alike(sd, correlation):
    """A covariance with these standard deviations and one correlation."""
    return np.outer(sd, sd) * (correlation + (1 - correlation) * np.eye(len(sd)))


def relation(y, covariance, x, errors, draws, rng, **options):
    """The relation to a variable with errors of one size, without groups."""
    size = len(y)
    return latent_relation(y, covariance, x, np.full(size, errors**2), [np.eye(size)], 0.05, draws, rng, **options)


def assert_uniform(ranks, width, bins):
    for column in np.array(ranks).T:
        assert chisquare(np.bincount(column // width, minlength=bins)).pvalue > 0.001


def test_its_restricted_likelihood_is_that_of_a_published_meta_analysis(bcg):
    y, variance = bcg
    # its mode is published: tau^2 = .3132, mean -.7145
    tau = np.linspace(0.3, 0.8, 5001)
    given = rotated(y, np.diag(variance), np.ones((13, 1)), [], np.empty((1, 0)))
    best = tau[restricted_likelihood(given, tau[None]).argmax()]
    assert best**2 == pytest.approx(0.3132, abs=2e-4)
    weights = 1 / (variance + best**2)
    assert weights @ y / weights.sum() == pytest.approx(-0.7145, abs=1e-4)


def test_moments_are_those_of_brute_force(bcg):
    y, variance = bcg
    draws = second_stage(y, np.diag(variance), np.ones((13, 1)), [], [0.5], 40_000, np.random.default_rng(0))
    tau = np.geomspace(1e-4, 20, 4000)
    weights = 1 / (variance + tau[:, None] ** 2)
    mean = weights @ y / weights.sum(axis=1)
    log = 0.5 * (np.log(weights).sum(1) - np.log(weights.sum(1)) - (weights * (y - mean[:, None]) ** 2).sum(1))
    mass = np.exp(log - log.max()) / (1 + (tau / 0.5) ** 2) * np.gradient(tau)
    mass /= mass.sum()
    theta = draws.coefficients + draws.effects[0]
    given = mean[:, None] + tau[:, None] ** 2 * weights * (y - mean[:, None])
    left = weights * variance
    shrunken, spread = mass @ given, tau[:, None] ** 2 * left + left**2 / weights.sum(axis=1)[:, None]
    assert draws.scales.mean() == pytest.approx(mass @ tau, rel=0.01)
    assert draws.coefficients.mean() == pytest.approx(mass @ mean, abs=4 * 0.2 / 200)
    assert np.allclose(theta.mean(axis=0), shrunken, atol=0.01)
    assert np.allclose(theta.std(axis=0), np.sqrt(mass @ (spread + given**2) - shrunken**2), rtol=0.02)
    sd = np.sqrt(mass @ (mean**2 + 1 / weights.sum(axis=1)) - (mass @ mean) ** 2)
    assert draws.coefficients.std() == pytest.approx(sd, rel=0.02)


def test_a_slope_with_groups_is_that_of_quadrature_over_both_scales():
    rng = np.random.default_rng(3)
    root = rng.normal(0, 0.02, (9, 9)) + 0.02 * np.eye(9)
    covariance, group = root @ root.T + 1e-6 * np.eye(9), np.repeat(np.arange(3), 3)
    x = np.linspace(-1, 1, 9)
    y = 0.1 + 0.05 * x + rng.normal(0, 0.05, 3)[group] + rng.multivariate_normal(np.zeros(9), covariance)
    member = (group[:, None] == group).astype(float)
    design = np.column_stack([np.ones(9), x])
    own = second_stage(y, covariance, design, [member], [0.05, 0.05], 20_000, rng)
    scales = np.geomspace(1e-5, 200, 120)
    group_scale, word_scale = (scale.ravel() for scale in np.meshgrid(scales, scales))
    between = group_scale[:, None, None] ** 2 * member + word_scale[:, None, None] ** 2 * np.eye(9)
    precision = np.linalg.inv(covariance + between)
    variances = np.linalg.inv(design.T @ precision @ design)
    means = (variances @ (design.T @ precision @ y)[..., None])[..., 0]
    rest = y - means @ design.T
    log = np.linalg.slogdet(precision)[1] + np.linalg.slogdet(variances)[1]
    log = 0.5 * (log - np.einsum("ni,nij,nj->n", rest, precision, rest)) + np.log(group_scale * word_scale)
    mass = np.exp(log - log.max()) / (1 + (group_scale / 0.05) ** 2) / (1 + (word_scale / 0.05) ** 2)
    mass /= mass.sum()
    mean, second = mass @ means[:, 1], mass @ (variances[:, 1, 1] + means[:, 1] ** 2)
    sd = np.sqrt(second - mean**2)
    assert own.coefficients[:, 1].mean() == pytest.approx(mean, abs=0.03 * sd)
    assert own.coefficients[:, 1].std() == pytest.approx(sd, rel=0.03)
    # posterior means of the contrasts: the line, and what is left times the share of it that is no error
    moved = means @ design.T + np.einsum("nij,njk,nk->ni", between, precision, rest)
    theta = own.coefficients @ design.T + own.effects.sum(axis=0)
    assert (np.abs(theta.mean(axis=0) - mass @ moved) / theta.std(axis=0)).max() < 0.03


@pytest.mark.parametrize(("errors", "covariate"), [(0.0, True), (0.5, False)])
def test_ranks_of_a_relation_are_uniform(errors, covariate):
    rng = np.random.default_rng(1)
    n, ranks = 15, []
    covariance = np.diag(rng.uniform(0.01, 0.03, n) ** 2) + 1e-4
    for _ in range(120 if errors == 0 else 50):
        rho, sd = rng.uniform(-1, 1), min(0.05 * abs(rng.standard_cauchy()), 5.0)
        latent, both = rng.standard_normal(n), rng.standard_normal(n) if covariate else None
        unit = 1.0
        if errors == 0:
            rest = latent - latent.mean()
            if covariate:
                apart = both - both.mean()
                rest = rest - apart * (apart @ rest / (apart @ apart))
            unit = np.sqrt(rest @ rest / (n - 1 - covariate))
        theta = sd * (rho * latent / unit + np.sqrt(1 - rho**2) * rng.standard_normal(n))
        y, x = rng.multivariate_normal(theta, covariance), latent + errors * rng.standard_normal(n)
        if covariate:
            y, x = y + 3 * both, x - 2 * both
        drawn = latent_relation(y, covariance, x, np.full(n, errors**2), [np.eye(n)], 0.05, 99, rng, both)
        ranks.append([(drawn["correlation"] < rho).sum(), (drawn["residual_sd"] < sd * np.sqrt(1 - rho**2)).sum()])
    assert_uniform(ranks, 20, 5)


def test_the_correlation_is_that_of_brute_force():
    n, rng = 15, np.random.default_rng(5)
    x, covariance = rng.standard_normal(n), np.diag(rng.uniform(0.01, 0.03, n) ** 2) + 1e-4
    y = rng.multivariate_normal(0.03 * x + 0.03 * rng.standard_normal(n), covariance)
    sd, rho = np.geomspace(1e-4, 3, 300), np.linspace(-0.999, 0.999, 401)
    values, vectors = np.linalg.eigh(covariance)
    y_, x_, one = (vectors.T @ column for column in (y, x / x.std(ddof=1), np.ones(n)))
    variance = values + (sd[:, None] ** 2 * (1 - rho**2))[..., None]
    left = y_ - (sd[:, None] * rho)[..., None] * x_
    information = (one**2 / variance).sum(axis=-1)
    log = (left**2 / variance).sum(axis=-1) - (one * left / variance).sum(axis=-1) ** 2 / information
    log = -0.5 * (log + np.log(variance).sum(axis=-1) + np.log(information))
    log += np.log(sd)[:, None] - np.log1p((sd / 0.05) ** 2)[:, None]
    mass = np.exp(log - log.max()).sum(axis=0)
    mass /= mass.sum()
    correlation = relation(y, covariance, x, 0.0, 40_000, rng)["correlation"]
    assert correlation.mean() == pytest.approx(mass @ rho, abs=0.01)
    assert correlation.std() == pytest.approx(np.sqrt(mass @ rho**2 - (mass @ rho) ** 2), rel=0.03)
    assert interval(correlation) == pytest.approx(np.interp([0.055, 0.945], np.cumsum(mass), rho), abs=0.02)


def test_a_variable_of_groups_is_not_taken_for_one_of_embeddings():
    """No relation: contrasts and the variable are alike within 4 groups of 6."""
    rng, band, calls = np.random.default_rng(0), np.repeat(np.arange(4), 6), 0
    residuals = [(1 - part) * np.eye(24) + part * np.equal.outer(band, band) for part in (0.0, 0.3, 0.6, 0.9)]
    for _ in range(60):
        x, theta = (rng.normal(0, 1, 4)[band] + rng.normal(0, 0.3, 24) for _ in range(2))
        y = 0.03 * theta + rng.normal(0, 0.01, 24)
        drawn = latent_relation(y, 1e-4 * np.eye(24), x, np.zeros(24), residuals, 0.05, 1000, rng)
        calls += not holds(drawn["correlation"], 0)
    assert calls / 60 < 0.11 + 3 * 0.04


def test_a_covariance_of_few_dimensions_forces_nothing():
    """20 embeddings whose errors have five dimensions: what is left around the line is free in the others."""
    rng, hits, means = np.random.default_rng(0), 0, []
    for _ in range(60):
        root = rng.normal(0.01, 0.015, (20, 5))
        latent = rng.standard_normal(20)
        theta = 0.03 * (0.7 * latent + np.sqrt(0.51) * rng.standard_normal(20))
        y = theta + root @ rng.standard_normal(5)
        correlation = relation(y, root @ root.T, latent, 0.0, 1000, rng)["correlation"]
        hits += holds(correlation, 0.7)
        means.append(correlation.mean())
    assert hits / 60 > 0.89 - 3 * 0.04
    assert 0.5 < np.mean(means) < 0.75


def test_the_line_goes_through_the_middle():
    rng, x = np.random.default_rng(0), np.arange(12.0)
    covariance = alike(0.03 * np.linspace(1, 2.5, 12), 0.95)
    y = rng.multivariate_normal(np.zeros(12), covariance)
    drawn = relation(y, covariance, x, 0.0, 20_000, rng, weights=np.full(12, 1 / 12))
    assert (drawn["intercept"] + drawn["slope"] * x.mean()).mean() == pytest.approx(y.mean(), abs=2e-3)
    known, y = 1e-6 * np.eye(12), rng.normal(0, 0.05, 12)
    drawn = relation(y, known, x, 0.0, 20_000, rng, weights=np.full(12, 1 / 12))
    middle = drawn["intercept"] + drawn["slope"] * x.mean()
    # draws of the scale are spread over the cells of their nodes
    assert middle.var() == pytest.approx((1e-6 + (drawn["residual_sd"] ** 2).mean()) / 12, rel=0.12)


def test_replicates_find_a_planted_noise_of_training():
    rng = np.random.default_rng(5)
    own, training = np.repeat(np.arange(8), 6), 0.03
    y = rng.normal(0, 0.05, 8)[own] + rng.normal(0, training, 48) + rng.normal(0, 0.01, 48)
    layout = pools._Grouping(own, None, True, np.full(48, 1 / 48))
    drawn = layout.drawn(y, 0.01**2 * np.eye(48), 0.05, 4000, rng)
    low, high = np.quantile(drawn.scales[:, 1], [0.005, 0.995])
    assert low < training < high


def test_the_mean_is_the_plain_one_and_that_of_the_pooled():
    """Also where the weights of generalised least squares put it outside all estimates."""
    rng, covariance = np.random.default_rng(0), alike(0.03 * np.linspace(1, 2.5, 6), 0.95)
    own, band = np.array([0, 0, 1, 2, 3, 4]), np.array([0, 0, 0, 0, 0, 1])
    weights = pools._equal_weights(own, band)
    assert weights == pytest.approx([1 / 16, 1 / 16, 1 / 8, 1 / 8, 1 / 8, 1 / 2])
    for _ in range(5):
        y = rng.multivariate_normal(np.zeros(6), covariance)
        layout = pools._Grouping(own, band, True, weights)
        drawn = layout.drawn(y, covariance, 0.05, 1000, rng)
        mean = layout.variables(drawn, np.bincount(own, weights))["mean"][1]
        training = drawn.effects[-1] @ weights
        assert np.allclose(mean + training, (drawn.coefficients + drawn.effects.sum(axis=0)) @ weights)
        # scales have long tails: draws of the effects, which cancel, are up to some tens
        assert (mean + training).mean() == pytest.approx(weights @ y, abs=1e-10)
    # errors of one size and one correlation weigh the same either way
    for errors, same in ((covariance, False), (alike(np.full(6, 0.03), 0.95), True)):
        layouts = (pools._Grouping(np.arange(6), None, False, given) for given in (np.full(6, 1 / 6), None))
        plain, least = (each.drawn(y, errors, 0.05, 1000, np.random.default_rng(1)) for each in layouts)
        assert np.allclose(plain.coefficients, least.coefficients) == same


def test_pooled_deviations_are_those_of_brute_force():
    y, covariance = np.array([-0.04, 0.01, -0.08, -0.02]), alike(np.array([0.02, 0.03, 0.04, 0.05]), 0.9)
    mean = np.full((4, 4), 0.25)
    across, log, centre, second = np.eye(4) - mean, [], [], []
    grid = np.geomspace(1e-5, 5, 800)
    basis = np.linalg.svd(across)[0][:, :3]
    for tau in grid:
        total = basis.T @ (covariance + tau**2 * np.eye(4)) @ basis
        gain = tau**2 * across @ basis @ np.linalg.solve(total, basis.T)
        of_y, of_u = mean + gain, gain - across
        rest = basis.T @ y
        log.append(-0.5 * (np.linalg.slogdet(total)[1] + rest @ np.linalg.solve(total, rest)))
        centre.append(y.mean() + gain @ y)
        second.append(np.diag(of_y @ covariance @ of_y.T + tau**2 * of_u @ of_u.T) + centre[-1] ** 2)
    mass = np.exp(np.array(log) - max(log)) / (1 + (grid / 0.05) ** 2) * grid
    mass /= mass.sum()
    expected = mass @ np.array(centre)
    rng, equal = np.random.default_rng(0), np.full((1, 4), 0.25)
    drawn = second_stage(y, covariance, np.ones((4, 1)), [], [0.05], 100_000, rng, equal)
    theta = drawn.coefficients + drawn.effects[0]
    assert theta.mean(axis=0) == pytest.approx(expected, abs=4e-4)
    assert theta.std(axis=0) == pytest.approx(np.sqrt(mass @ np.array(second) - expected**2), rel=0.01)
