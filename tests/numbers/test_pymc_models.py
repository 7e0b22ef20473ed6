"""The PyMC model that users are handed would be another one than the model that was fitted."""

import numpy as np
import pymc as pm
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.models.families import family_of
from bayesbias.models.spec import common_of, load_model
from bayesbias.models.tree import Fit

MODELS = bb.bundled("models")["name"].tolist()
STEPS = ["chain", "draw"]
USUAL = ("published", "crossed", "related")


@pytest.fixture(scope="module")
def table(weat7):
    return weat7


@pytest.fixture(scope="module")
def fits(table):
    """A fit of each model, 20 draws of each by an engine that does not sample where there is one."""
    made = {}

    def fit_of(name):
        if name not in made:
            how = {"engine": "nuts", "sampler": {"tune": 200}} if name == "crossed_t" else {}
            made[name] = bb.fit(table, name, draws=20, chains=1, seed=3, **how)
        return made[name]

    return fit_of


def tree_of(post):
    """The draws as PyMC takes them: places without a distance, which a fit leaves open, have any value."""
    posterior = post["posterior"].to_dataset()
    return xr.DataTree.from_dict(
        {"/posterior": posterior.fillna(0.5), "/observed_data": post["observed_data"].to_dataset()}
    )


@pytest.mark.parametrize(
    "name", [name if name in USUAL else pytest.param(name, marks=pytest.mark.slow) for name in MODELS]
)
def test_free_variables_are_those_of_a_fit(name, fits):
    post = fits(name)
    model = bb.pymc_model(post)
    own = {"connection_mean", "connection_sd", "connection_covariance"} if name == "related" else set()
    assert {variable.name for variable in model.free_RVs} == set(post["posterior"].data_vars) - own
    for variable in model.free_RVs:
        values = post["posterior"][variable.name]
        assert model.named_vars_to_dims.get(variable.name, ()) == values.dims[2:]
        for dim in values.dims[2:]:
            assert list(model.coords[dim]) == values[dim].to_numpy().tolist()
    assert model.named_vars_to_dims["distance"] == ("pair",)


@pytest.mark.parametrize(
    "name", [name if name in USUAL else pytest.param(name, marks=pytest.mark.slow) for name in MODELS]
)
def test_log_likelihood_and_log_prior_are_ours(name, fits):
    post = fits(name)
    result, model = Fit.read(post), bb.pymc_model(post)
    family = family_of(result.spec)
    log_priors, log_likelihood = family.log_priors(result), family.log_likelihood(result).ravel()
    with model:
        drawn = tree_of(post)
        pm.stats.compute_log_likelihood(drawn, progressbar=False)
        theirs = drawn["log_likelihood/distance"].to_numpy().reshape(20, -1).sum(axis=1)
        np.testing.assert_allclose(theirs, log_likelihood, rtol=0, atol=1e-8)
        pm.stats.compute_log_prior(drawn, progressbar=False)
    for term, ours in log_priors.items():
        values = drawn[f"log_prior/{term}"].to_numpy().reshape(20, -1).sum(axis=1)
        if common_of(term) in log_priors:  # ours is the density of the logarithm
            values = values + np.log(post["posterior"][term]).sum(post["posterior"][term].dims[2:]).to_numpy().ravel()
        apart = values - ours.ravel()
        np.testing.assert_allclose(apart, apart[0], rtol=0, atol=1e-8)


@pytest.mark.filterwarnings("ignore:Numba will use object mode")  # as PyMC says of any distribution in Python
@pytest.mark.parametrize("name", USUAL)
def test_pymc_predicts_from_draws_of_the_exact_engines(name, table):
    """The spread of predicted distances is that of our own predictions."""
    post = bb.fit(table, name, draws=400, seed=1)
    assert post.attrs["engine"] != "nuts"
    with bb.pymc_model(post):
        theirs = pm.sample_posterior_predictive(post, random_seed=1, progressbar=False)["posterior_predictive"]
    ours = bb.checks.add_predictive(post, seed=1)["posterior_predictive"]
    means, sds = ([each["distance"].reduce(of, STEPS) for each in (theirs, ours)] for of in (np.mean, np.std))
    z = (means[0] - means[1]) / (sds[1] * np.sqrt(2 / 400))
    assert abs(z).max() < 5
    assert (z**2).mean() < 1.2
    assert (sds[0] / sds[1]).mean().item() == pytest.approx(1, abs=0.01)


def test_prior_predictive_distributions_are_those_of_the_priors(table):
    with bb.pymc_model(table, "crossed"):
        drawn = pm.sample_prior_predictive(2000, random_seed=1)
    sigma = load_model("crossed").priors["sigma"]
    assert drawn["prior/sigma"].mean().item() == pytest.approx(1 / sigma.rate, rel=0.05)
    assert drawn["prior_predictive/distance"].sizes["pair"] == len(table)


def test_priors_of_the_call_and_of_a_fit_reach_pymc(table):
    wide = {"sigma": {"rate": 0.5}}
    models = [bb.pymc_model(table, "published", priors=wide), bb.pymc_model(bb.fit(table, "published", priors=wide))]
    for model in models:
        assert model["sigma"].owner.inputs[-1].eval().item() == pytest.approx(2)


@pytest.mark.slow
def test_options_reach_the_sampler_and_are_recorded(table):
    post = bb.fit(
        table, "published", engine="nuts", draws=100, chains=1, seed=1, sampler={"tune": 150, "nuts_sampler": "pymc"}
    )
    assert post.attrs["sampler"] == "pymc"
    assert post.attrs["sampler_options"] == '{"tune": "150", "nuts_sampler": "pymc"}'
