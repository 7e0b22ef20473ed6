"""What a model says before it sees data would be shown wrongly, or a prior that disagrees with the data pass."""

import arviz as az
import numpy as np
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.models import spec
from bayesbias.models.related import protected_root
from bayesbias.models.tree import Fit

STEPS = ("chain", "draw")
PRIOR = ("prior", "prior_predictive")


@pytest.fixture(scope="module")
def table(weat7):
    return weat7


@pytest.fixture(scope="module")
def published(table):
    return bb.fit(table, "published", draws=400, seed=1)


@pytest.fixture(scope="module")
def related(table):
    return bb.fit(table, draws=400, seed=1)


def test_draws_are_those_of_the_priors(published):
    full = bb.checks.add_prior(published, draws=4000, seed=1)
    drawn, predicted = full["prior"].to_dataset(), full["prior_predictive/distance"]
    sigma, mean = drawn["sigma"].to_numpy().ravel(), drawn["connection_mean"].to_numpy().ravel()
    assert stats.kstest(sigma, stats.expon(scale=1 / 2).cdf).pvalue > 0.001
    assert stats.kstest(mean, stats.norm(1, 0.3).cdf).pvalue > 0.001
    apart = (drawn["word_mean"] - drawn["connection_mean"]) / drawn["connection_sd"]
    assert stats.kstest(apart.to_numpy()[0, :, 0, 0], stats.norm.cdf).pvalue > 0.001
    # variances of the connection's mean, and twice that of an exponential variable's square: 2 / rate^2
    assert predicted.std().item() == pytest.approx(np.sqrt(0.3**2 + 2 * 2 / 2.0**2), rel=0.03)
    assert set(published.children) == set(full.children) - {*PRIOR, "log_prior"}


def test_groups_have_the_variables_dims_and_labels_of_the_posterior(table):
    """An attribute word that met no word of a group has no effect there, before the data either."""
    post = bb.fit(table, "crossed", draws=40, seed=1)
    full = bb.checks.add_prior(post, draws=30, seed=2)
    prior, posterior = full["prior"].to_dataset(), full["posterior"].to_dataset()
    assert set(prior.data_vars) == set(posterior.data_vars)
    for name, each in prior.data_vars.items():
        assert each.dims == posterior[name].dims
        assert (each.isnull().all(STEPS) == posterior[name].isnull().all(STEPS)).all()
        for dim in each.dims[2:]:
            assert each[dim].equals(posterior[dim])
    pairs = full["prior_predictive/distance"]
    assert dict(pairs.sizes) == {"chain": 1, "draw": 30, "pair": len(table)}
    assert pairs["pair"].equals(post["observed_data/pair"])
    assert pairs.notnull().all()
    assert np.isfinite(list(full["log_prior"].to_dataset().to_array().to_numpy())).all()


def test_the_log_prior_is_the_density_of_the_draws(published):
    found = bb.checks.add_prior(published, draws=1)["log_prior"].to_dataset()
    posterior = published["posterior"].to_dataset()
    by_hand = {
        "connection_mean": stats.norm(1, 0.3).logpdf(posterior["connection_mean"]).sum(axis=2),
        "connection_sd": stats.expon(scale=1 / 2).logpdf(posterior["connection_sd"]).sum(axis=2),
        "sigma": stats.expon(scale=1 / 2).logpdf(posterior["sigma"]).sum(axis=2),
    }
    assert set(found) == set(by_hand)
    for name, values in by_hand.items():
        np.testing.assert_allclose(found[name] - found[name][0, 0], values - values[0, 0], atol=1e-9)


def test_related_words_have_a_log_prior_alone_and_two_densities(related):
    full = bb.checks.add_prior(related, log_likelihood=True)
    assert not set(PRIOR) & set(full.children)
    assert list(full["log_prior"].data_vars) == ["sd_factor"]
    assert full["log_likelihood/distance"].dims == STEPS
    pairs = bb.checks.add_log_likelihood(related)["log_likelihood"].to_dataset()
    assert full["pointwise_log_likelihood"].to_dataset().equals(pairs)
    data, draws = Fit.read(related).data, related["posterior"].to_dataset()  # of the first pair, with a stereotype
    mean = draws["word_mean"].sel(protected_word=data.protected_words[data.word[0]], connection="associated")
    sigma = draws["sd_factor"].sel(attribute_class="stereotype") * np.linalg.norm(protected_root(data)[data.word[0]])
    assert data.connections[data.connection[0]] == "associated"
    np.testing.assert_allclose(pairs["distance"].sel(pair=0), stats.norm(mean, sigma).logpdf(data.y[0]), rtol=1e-10)
    likelihood = az.psense(full, var_names=["connection_mean"], group="likelihood")["connection_mean"]
    full["log_likelihood"] = full["pointwise_log_likelihood"]
    single = az.psense(full, var_names=["connection_mean"], group="likelihood")["connection_mean"]
    assert (likelihood < 1).all()
    assert (single > 2 * likelihood).all()


@pytest.mark.parametrize(
    ("prior", "theirs"),
    [
        (spec.Exponential(distribution="exponential", rate=2.0), stats.expon(scale=0.5)),
        (spec.HalfNormal(distribution="half_normal", sd=0.2), stats.halfnorm(scale=0.2)),
        (spec.HalfCauchy(distribution="half_cauchy", scale=0.3), stats.halfcauchy(scale=0.3)),
        (spec.LogNormal(distribution="log_normal", median=0.9, spread=0.4), stats.lognorm(0.4, scale=0.9)),
    ],
)
def test_priors_of_scales_are_those_of_scipy(prior, theirs):
    x, z = np.array([0.01, 0.1, 0.5, 2.0]), np.array([-3.0, -0.5, 0.0, 1.0, 4.0])
    np.testing.assert_allclose(prior.log_density(x), theirs.logpdf(x), rtol=1e-12)
    np.testing.assert_allclose(prior.from_normal(z), theirs.ppf(stats.norm.cdf(z)), rtol=1e-9)
    assert stats.kstest(prior.draw(np.random.default_rng(0), 2000), theirs.cdf).pvalue > 0.001
