"""ArviZ would give other numbers of a fit than ours."""

from types import SimpleNamespace

import arviz as az
import numpy as np
import pytest
import xarray as xr

import bayesbias as bb

DRAWS, TOP = 400, ["connection_mean", "connection_sd"]


@pytest.fixture(scope="module")
def table(weat7):
    """Four protected words, a stereotype of each group and four words of one control list."""
    table = weat7[weat7["protected_word"].isin(["math", "algebra", "poetry", "art"])]
    table = table[table["connection"].isin(["associated", "human"])]
    words = [name for _, names in table.groupby("attribute_class")["attribute_word"] for name in names.unique()[:4]]
    return table[table["attribute_word"].isin(words)]


@pytest.fixture(scope="module")
def of(table):
    """A fit of the published model: with its groups, with densities of single distances, and with means of rows."""
    post = bb.fit(table, "published", draws=DRAWS, seed=1)
    tree = bb.checks.add_predictive(bb.checks.add_prior(post, draws=200, seed=1, log_likelihood=True), seed=1)
    pairs, rows = bb.checks.add_predictive(bb.checks.add_log_likelihood(post), seed=1), tree.copy()
    constant = post["constant_data"]
    places = {"protected_word": constant["word_index"], "connection": constant["connection_index"]}
    mu = post["posterior/word_mean"].isel(places).drop_vars(list(places))
    rows["posterior"] = xr.DataTree(post["posterior"].to_dataset().assign(mu=mu))
    return SimpleNamespace(post=post, tree=tree, pairs=pairs, rows=rows, table=table)


def test_numbers_of_arviz_are_those_of_the_draws(of):
    posterior, y = of.post["posterior"].to_dataset(), of.post["observed_data/distance"]
    draws = posterior["connection_mean"]
    ess = az.ess(of.tree).to_dataset().to_array()
    assert ess.mean().item() == pytest.approx(DRAWS, rel=0.1)
    assert az.rhat(of.tree).to_dataset().to_array().max() < 1.05
    for name in ("mean", "std", "median", "var"):
        ours = getattr(draws, name)(["chain", "draw"])
        xr.testing.assert_allclose(getattr(az, name)(of.tree, round_to="none")["connection_mean"], ours, rtol=0.01)
    interval = az.eti(of.tree, prob=0.5)["connection_mean"].to_numpy()
    np.testing.assert_allclose(interval.T, np.quantile(draws, [0.25, 0.75], axis=(0, 1)))
    error = of.tree["posterior_predictive/distance"].mean(["chain", "draw"]) - y
    assert az.metrics(of.tree, kind="rmse", round_to="none").mean == pytest.approx(np.sqrt((error**2).mean().item()))
    residual = (y - of.rows["posterior/mu"]).var("pair")
    explained = of.rows["posterior/mu"].var("pair")
    r2 = az.residual_r2(of.rows, pred_mean="mu", summary=False)
    np.testing.assert_allclose(np.ravel(r2), np.ravel(explained / (explained + residual)))
    assert abs(az.kl_divergence(of.tree, of.tree, var_names=TOP, num_samples=DRAWS)) < 0.5


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_numbers_of_loo_agree_with_each_other(of):
    loo = az.loo(of.pairs, pointwise=True)
    single = [az.loo_i(place, of.pairs).elpd for place in range(len(of.table))]
    assert loo.elpd == pytest.approx(sum(single))
    np.testing.assert_allclose(loo.elpd_i, single)
    assert az.loo(of.tree).elpd == loo.elpd
    ranking = az.compare({"one": of.pairs, "other": of.tree}, round_to="none")
    assert ranking["elpd"].tolist() == pytest.approx([loo.elpd] * 2)
