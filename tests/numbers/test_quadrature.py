"""The exact engine would integrate the wrong density, and every published fit would be off."""

import numpy as np
import pytest
from scipy import stats

from bayesbias.numerics import marginal, quadrature

PRIORS = quadrature.Priors(1.0, 0.3, lambda x: np.log(2) - 2 * x, lambda x: np.log(2) - 2 * x)


def cells_of(groups, centre=PRIORS.mean):
    """The sums of one connection, from the distances of each word."""
    y = np.concatenate(groups)
    word = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    cells = marginal.reduce_to_cells(word, np.zeros(len(y), dtype=int), y, (len(groups), 1))
    return quadrature.connection_sums(cells.n[:, 0], cells.mean[:, 0], cells.ssd[:, 0], centre)


def brute_force(groups, points=500):
    """Evidence and posterior means of sigma and s from the multivariate normal of all rows, on a fine grid."""
    y = np.concatenate(groups) - PRIORS.mean
    same = np.equal.outer(*2 * [np.repeat(np.arange(len(groups)), [len(group) for group in groups])])
    log_s = log_sigma = np.linspace(-11, 2.3, points)
    total = s_sum = sigma_sum = 0.0
    s = np.exp(log_s)
    for sigma in np.exp(log_sigma):
        cov = sigma**2 * np.eye(len(y)) + (s**2)[:, None, None] * same + PRIORS.sd**2
        chol = np.linalg.cholesky(cov)
        white = np.linalg.solve(chol, np.broadcast_to(y[:, None], (points, len(y), 1)))[..., 0]
        log_density = -0.5 * (white**2).sum(1) - np.log(np.diagonal(chol, axis1=1, axis2=2)).sum(1)
        density = np.exp(log_density - 0.5 * len(y) * np.log(2 * np.pi) - 2 * s - 2 * sigma) * 4 * s * sigma
        total, s_sum, sigma_sum = total + density.sum(), s_sum + density @ s, sigma_sum + density.sum() * sigma
    return np.log(total * (log_s[1] - log_s[0]) ** 2), sigma_sum / total, s_sum / total


GROUPS = {
    "three cells": [[0.7, 0.9, 0.8], [1.0, 1.1], [0.6, 0.75]],
    "one row in each cell": [[0.7], [0.95], [0.8], [1.2]],
    "one cell": [[0.7, 0.9, 0.8, 1.1]],
    "one row": [[0.7]],
}


@pytest.mark.parametrize("groups", GROUPS.values(), ids=GROUPS.keys())
def test_evidence_and_scales_equal_brute_force(groups):
    connection = cells_of(groups)
    grid = quadrature.scale_grid([connection], PRIORS)
    log_evidence, sigma, s = brute_force(groups)
    assert grid.log_evidence == pytest.approx(log_evidence, abs=2e-3)
    drawn, (drawn_s,), _ = quadrature.draw_scales(grid, [connection], PRIORS, 200_000, np.random.default_rng(0))
    assert drawn.mean() == pytest.approx(sigma, abs=5 * drawn.std() / np.sqrt(200_000))
    assert drawn_s.mean() == pytest.approx(s, abs=5 * drawn_s.std() / np.sqrt(200_000))
    assert grid.outside < 1e-6


def test_two_connections_with_one_sigma_have_the_evidence_of_their_product():
    """With sigma known up to a negligible width, shared and separate sigma give the same evidence."""
    rng = np.random.default_rng(1)
    narrow = quadrature.Priors(1.0, 0.3, stats.norm(0.1, 1e-4).logpdf, PRIORS.s)
    first = cells_of([rng.normal(0.9, 0.1, 5) for _ in range(4)])
    second = cells_of([rng.normal(1.0, 0.1, 7) for _ in range(3)])
    together = quadrature.scale_grid([first, second], narrow).log_evidence
    apart = quadrature.scale_grid([first], narrow).log_evidence + quadrature.scale_grid([second], narrow).log_evidence
    assert together == pytest.approx(apart, abs=1e-3)


@pytest.mark.parametrize(("scale", "shift"), [(1e-3, 0.0), (1e3, 50.0)])
def test_bounds_follow_the_posterior_at_any_scale(scale, shift):
    rng = np.random.default_rng(2)
    groups = [1 + shift + scale * (rng.normal(0, 0.1) + rng.normal(0, 0.2, 6)) for _ in range(12)]
    wide = quadrature.Priors(1.0 + shift, 0.3 * scale, lambda x: -2 * x / scale, lambda x: -2 * x / scale)
    connection = cells_of(groups, wide.mean)
    grid = quadrature.scale_grid([connection], wide)
    assert grid.outside < 1e-6
    sigma, _, _ = quadrature.draw_scales(grid, [connection], wide, 4000, np.random.default_rng(0))
    assert sigma.mean() / scale == pytest.approx(0.2, rel=0.2)


@pytest.mark.parametrize("groups", [[[0.5, 0.5], [0.7, 0.7]], [[0.5], [0.5], [0.5]]], ids=["within", "between"])
def test_distances_that_do_not_vary_are_refused(groups):
    with pytest.raises(ValueError, match="do not vary"):
        quadrature.scale_grid([cells_of(groups)], PRIORS)


def test_cells_hold_count_mean_and_squares():
    cells = marginal.reduce_to_cells(np.array([0, 0, 1]), np.array([0, 0, 1]), np.array([1.0, 2.0, 5.0]), (2, 2))
    assert cells.n.tolist() == [[2, 0], [0, 1]]
    assert cells.mean[0, 0] == 1.5
    assert cells.ssd.tolist() == [[0.5, 0.0], [0.0, 0.0]]
    assert np.isnan(cells.mean[0, 1])


def on_a_grid(connection, priors):
    """Evidence and posterior mean of s by summing the density over one fine grid that spans both explanations."""
    free = connection.rows - connection.cells
    middle, spread = 0.5 * np.log(connection.within / free), 8 / np.sqrt(2 * free)
    log_sigma = np.linspace(middle - spread, middle + spread, 200)
    log_s = np.linspace(-9, 3, 8000)
    density = quadrature._s_density(log_s[None, :], np.exp(2 * log_sigma)[:, None], connection, priors)
    density += (priors.sigma(np.exp(log_sigma)) + log_sigma - free * log_sigma)[:, None]
    density -= (0.5 * connection.within * np.exp(-2 * log_sigma) + 0.5 * connection.log_n)[:, None]
    density -= 0.5 * connection.rows * quadrature.LOG_2PI
    peak = density.max()
    mass = np.exp(density - peak)
    step = (log_sigma[1] - log_sigma[0]) * (log_s[1] - log_s[0])
    return peak + np.log(mass.sum() * step), (mass @ np.exp(log_s)).sum() / mass.sum()


@pytest.mark.parametrize(("centre", "sd"), [(0.3, 0.03), (0.55, 0.03), (0.6, 0.3), (0.8, 0.3)])
def test_a_far_prior_leaves_two_explanations_and_both_are_found(centre, sd):
    """Cells that lie together, far from the prior mean: s is small and mu with them, or s is large and mu is not."""
    priors, rng = quadrature.Priors(1.0, sd, PRIORS.sigma, PRIORS.s), np.random.default_rng(0)
    connection = cells_of([centre + rng.normal(0, 0.01) + rng.normal(0, 0.02, 40) for _ in range(60)])
    log_evidence, s = on_a_grid(connection, priors)
    grid = quadrature.scale_grid([connection], priors)
    assert grid.log_evidence == pytest.approx(log_evidence, abs=1e-2)
    _, (drawn,), _ = quadrature.draw_scales(grid, [connection], priors, 100_000, np.random.default_rng(0))
    assert drawn.mean() == pytest.approx(s, abs=5 * drawn.std() / np.sqrt(100_000) + 1e-6)
