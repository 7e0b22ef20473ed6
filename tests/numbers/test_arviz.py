"""A function of ArviZ would fail on the fits of some model or engine, or give other numbers than ours."""

import inspect
from types import SimpleNamespace

import arviz as az
import arviz_plots
import arviz_stats
import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

import bayesbias as bb

PUBLIC = {
    name: value
    for module in (arviz_plots, arviz_stats, az)
    for name, value in vars(module).items()
    if not name.startswith("_") and callable(value) and not inspect.isclass(value)
}
"""Every public function of ArviZ, by name."""
OF_OTHERS = {
    "arrays": ("hexbin", "histogram2d", "kde2d", "ndarray_to_dataarray", "dict_to_dataset", "from_dict"),
    "datasets": (
        *("dataset_to_dataarray", "dataset_to_dataframe", "explode_dataset_dims", "references_to_dataset"),
        *("xarray_sel_iter", "xarray_to_ndarray", "xarray_var_iter"),
    ),
    "pictures": ("add_bands", "add_lines"),
    "what other samplers return": ("from_cmdstanpy", "from_emcee", "from_numpyro", "from_numpyro_svi"),
    "names, files and attributes": (
        *("citations", "clear_data_home", "generate_dims_coords", "get_data_home", "get_function", "list_datasets"),
        *("load_arviz_data", "make_attrs", "from_netcdf", "from_zarr"),
    ),
}
"""Functions that take no fit, by what they take."""
FUNCTIONS = sorted(PUBLIC.keys() - {name for names in OF_OTHERS.values() for name in names})
SLOW = {"loo_moment_match"}  # compiles a model
DRAWS, TOP = 400, ["connection_mean", "connection_sd"]


class Refits(az.SamplingWrapper):
    """Fits of a part of the rows, as functions that leave rows out ask for them."""

    def __init__(self, of):
        super().__init__(None, of.pairs)
        self.of = of

    def sel_observations(self, idx):
        rows = np.isin(np.arange(len(self.of.table)), idx)
        return self.of.table[~rows], np.flatnonzero(rows)

    def sample(self, modified_observed_data):
        return self.of.fit(modified_observed_data)

    def get_inference_data(self, fitted_model):
        return fitted_model

    def log_likelihood__i(self, excluded_obs, idata__i):
        whole = self.of.post.drop_nodes("log_likelihood", errors="ignore")  # those that a model of one's own came with
        labelled = idata__i["posterior"].to_dataset().reindex_like(whole["posterior"].to_dataset())
        whole["posterior"] = xr.DataTree(labelled)
        return bb.checks.add_log_likelihood(whole)["log_likelihood/distance"].isel(pair=excluded_obs)


def complete(of):
    """Variables without NaN, of which ArviZ makes densities: a fit has NaN where there is no distance."""
    return [str(name) for name, each in of.post["posterior"].data_vars.items() if each.notnull().all()]


def halves(of):
    """The half of each row, as on a chessboard: every word has rows in both."""
    constant = of.post["constant_data"]
    return ((constant["word_index"] + constant["attribute_index"]) % 2 + 1).to_numpy()


CALLS = {
    "bayes_factor": lambda f, of: f(of.tree, var_names="connection_mean", ref_vals=0.9),
    "bayesian_r2": lambda f, of: f(of.rows, pred_mean="mu", scale="sigma"),
    "ci_in_rope": lambda f, of: f(of.tree, rope=(0.8, 1.0)),
    "combine_plots": lambda f, of: f(of.tree, [(az.plot_trace, {}), (az.plot_rank, {})], var_names=TOP),
    "compare": lambda f, of: f({"one": of.pairs, "other": of.pairs}),
    "generate_survival_curves": lambda f, of: f(of.tree, "distance"),
    "kaplan_meier": lambda f, of: f(of.tree, "distance"),
    "kl_divergence": lambda f, of: f(of.tree, of.tree, var_names=TOP, num_samples=DRAWS),
    "lfo_cv": lambda f, of: f(of.pairs, None, 10, 1),
    "loo_approximate_posterior": lambda f, of: f(of.pairs, np.zeros(DRAWS), np.zeros(DRAWS)),
    "loo_i": lambda f, of: f(0, of.pairs),
    "loo_kfold": lambda f, of: f(of.pairs, Refits(of), k=2, folds=halves(of)),
    "loo_moment_match": lambda f, of: f(of.pairs, az.loo(of.pairs, pointwise=True), model=of.model()),
    "loo_r2": lambda f, of: f(of.pairs, "distance"),
    "loo_subsample": lambda f, of: f(of.pairs, 10),
    "plot_bf": lambda f, of: f(of.tree, "connection_mean", ref_val=0.9),
    "plot_compare": lambda f, of: f(az.compare({"one": of.pairs, "other": of.pairs})),
    "plot_dgof": lambda f, of: f(of.tree, var_names=complete(of)),
    "plot_dgof_dist": lambda f, of: f(of.tree, var_names=complete(of)),
    "plot_khat": lambda f, of: f(az.loo(of.pairs, pointwise=True)),
    "plot_lm": lambda f, of: f(of.tree, x="word_index", y="distance", plot_dim="pair"),
    "plot_pair": lambda f, of: f(of.tree, var_names=TOP),
    "plot_pair_focus": lambda f, of: f(of.tree, "connection_sd", focus_var_coords={"connection": "human"}),
    "plot_ppc_pava_residuals": lambda f, of: f(of.tree, x_var="word_index"),
    "reloo": lambda f, of: f(Refits(of), az.loo(of.pairs, pointwise=True)),
    "residual_r2": lambda f, of: f(of.rows, pred_mean="mu"),
    "rhat_nested": lambda f, of: f(of.tree, superchain_ids=[0, 0, 1, 1]),
    "update_subsample": lambda f, of: f(az.loo_subsample(of.pairs, 10), of.pairs, 5),
    "wasserstein": lambda f, of: f(of.tree, of.tree, var_names=TOP, num_samples=50),
    "weight_predictions": lambda f, of: f([of.tree, of.tree]),
}
"""Functions that need more than a fit, or a part of one."""
EVERYWHERE = {
    "ecdf": ("ArviZ has it for datasets", "DataTree ecdf not available yet"),
    "lfo_cv": ("distances have no order in time", "wrapper must be an instance of SamplingWrapper"),
    "plot_ecdf_pit": ("it shows ranks of calibration studies", "prior_sbc"),
    "plot_ppc_rootogram": ("it shows counts", "distance in 'observed' are continuous"),
}
NO_ENERGY = dict.fromkeys(("bfmi", "plot_energy"), ("no Hamiltonian is sampled", "energy|sample_stats"))
SCALES = {"bayesian_r2": ("each connection has a scale of its own", "could not be broadcast")}
NO_PRIOR = dict.fromkeys(("bayes_factor", "plot_bf", "plot_prior_posterior"), ("no draws of a prior", "'prior'"))
NO_REFITS = dict.fromkeys(("loo_kfold", "reloo"), ("densities of rows left out are not known", "one's own"))
NO_MODEL = {"loo_moment_match": ("the model that was sampled is not known", "cannot be fitted again")}
NO_MOMENTS = {"loo_moment_match": ("a mean that no distance has is NaN in every draw", "sigma > 0")}
VECTORS = {"bayesian_r2": ("the scale of a row comes from the vectors", "sigma")}


def own(data):
    """A model of one's own, with one scale of all distances."""
    import pymc as pm

    coords = {"protected_word": data.protected_words, "connection": data.connections, "row": range(len(data.y))}
    with pm.Model(coords=coords) as model:
        mean = pm.Normal("connection_mean", 1, 0.3, dims="connection")
        sd = pm.HalfNormal("connection_sd", 0.1, dims="connection")
        apart = pm.Normal("apart", dims=("protected_word", "connection"))
        word = pm.Deterministic("word_mean", mean + sd * apart, dims=("protected_word", "connection"))
        sigma = pm.HalfNormal("sigma", 0.2)
        pm.Normal("distance", word[data.word, data.connection], sigma, observed=data.y, dims="row")
    return model


def elsewhere(table, **how):
    """The draws of the published model and their densities, as of another sampler."""
    post = bb.fit(table, "published", **how)
    full = bb.checks.add_predictive(bb.checks.add_prior(post, seed=1, log_likelihood=True), seed=1)
    return bb.from_draws(full, table)


NUTS = {"engine": "nuts", "sampler": {"tune": 500}}
KINDS = {
    "published": ("published", {}, NO_ENERGY | SCALES),
    "published, a cell without distances": ("published", {}, NO_ENERGY | NO_MOMENTS | SCALES),
    "published by NUTS": ("published", NUTS, SCALES),
    "crossed": ("crossed", {}, NO_ENERGY | SCALES),
    "crossed by NUTS": ("crossed", NUTS, SCALES),
    "related": ("related", {}, NO_ENERGY | NO_PRIOR | VECTORS),
    "related by NUTS": ("related", NUTS, NO_PRIOR | VECTORS),
    "own": (own, NUTS, NO_PRIOR | NO_REFITS),
    "drawn elsewhere": (elsewhere, {}, NO_ENERGY | NO_REFITS | NO_MODEL | SCALES),
}
"""Models and engines, and what does not apply to their fits: a reason, and the error."""


@pytest.fixture(scope="module")
def table():
    """Four protected words, a stereotype of each group and four words of one control list."""
    table = bb.distance_table("google-news-slice", "weat7")
    table = table[table["protected_word"].isin(["math", "algebra", "poetry", "art"])]
    table = table[table["connection"].isin(["associated", "human"])]
    words = [name for _, names in table.groupby("attribute_class")["attribute_word"] for name in names.unique()[:4]]
    return table[table["attribute_word"].isin(words)]


@pytest.fixture(scope="module")
def fits(table):
    """A function from a kind of fit to one with all groups, made once."""
    made = {}

    def fit_of(kind):
        if kind not in made:
            made[kind] = with_groups(kind, table)
        return made[kind]

    return fit_of


def with_groups(kind, table):
    """A fit, the tree with its groups, that with densities of single distances, and one with means of rows."""
    model, how, _ = KINDS[kind]
    if "without distances" in kind:
        table = table[(table["protected_word"] != "art") | (table["connection"] != "human")]

    def fit(rows):
        options = {"draws": DRAWS, "seed": 1, **how}
        return elsewhere(rows, **options) if model is elsewhere else bb.fit(rows, model, **options)

    post = fit(table)
    tree = bb.checks.add_predictive(bb.checks.add_prior(post, draws=200, seed=1, log_likelihood=True), seed=1)
    pairs, rows = bb.checks.add_predictive(bb.checks.add_log_likelihood(post), seed=1), tree.copy()
    constant = post["constant_data"]
    places = {"protected_word": constant["word_index"], "connection": constant["connection_index"]}
    mu = post["posterior/word_mean"].isel(places).drop_vars(list(places))
    rows["posterior"] = xr.DataTree(post["posterior"].to_dataset().assign(mu=mu))
    pymc = (lambda: own(bb.models.Distances.read(table))) if model is own else (lambda: bb.pymc_model(post))
    return SimpleNamespace(post=post, tree=tree, pairs=pairs, rows=rows, table=table, fit=fit, model=pymc)


def case(kind, name):
    """A kind of fit and a function: one quick kind by default."""
    nuts = [pytest.mark.nuts] if kind == "own" or "NUTS" in kind else []
    full = [] if kind == "published" and name not in SLOW else [pytest.mark.full]
    return pytest.param(kind, name, marks=nuts + full, id=f"{kind}: {name}")


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize(("kind", "name"), [case(kind, name) for kind in KINDS for name in FUNCTIONS])
def test_every_function_of_arviz_takes_a_fit(kind, name, fits):
    """One that is new is called here as it is: it is to be run, or stand with a reason where it does not apply."""
    of, function = fits(kind), PUBLIC[name]
    call = CALLS.get(name, lambda f, of: f(of.pairs if "loo" in name else of.tree))
    _, pattern = (EVERYWHERE | KINDS[kind][2]).get(name, ("", ""))
    with az.rc_context({"plot.max_subplots": 500}):
        if pattern:
            with pytest.raises(Exception, match=pattern):
                call(function, of)
        else:
            assert call(function, of) is not None
    plt.close("all")


def test_the_lists_name_functions_of_arviz():
    named = {*CALLS, *EVERYWHERE, *SLOW, *(name for *_, excused in KINDS.values() for name in excused)}
    assert named <= set(FUNCTIONS)
    assert {name for names in OF_OTHERS.values() for name in names} <= set(PUBLIC)


def test_numbers_of_arviz_are_those_of_the_draws(fits):
    of = fits("published")
    posterior, y = of.post["posterior"].to_dataset(), of.post["observed_data/distance"]
    draws = posterior["connection_mean"]
    ess = az.ess(of.tree).to_dataset().to_array()
    assert ess.mean().item() == pytest.approx(DRAWS, rel=0.1)
    assert az.rhat(of.tree).to_dataset().to_array().max() < 1.05
    for name in ("mean", "std", "median", "var"):
        ours = getattr(draws, name)(["chain", "draw"])
        xr.testing.assert_allclose(PUBLIC[name](of.tree, round_to="none")["connection_mean"], ours, rtol=0.01)
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
def test_numbers_of_loo_agree_with_each_other_and_with_refits(fits):
    of = fits("published")
    loo = az.loo(of.pairs, pointwise=True)
    single = [az.loo_i(place, of.pairs).elpd for place in range(len(of.table))]
    assert loo.elpd == pytest.approx(sum(single))
    np.testing.assert_allclose(loo.elpd_i, single)
    assert az.loo(of.tree).elpd == loo.elpd
    ranking = az.compare({"one": of.pairs, "other": of.tree}, round_to="none")
    assert ranking["elpd"].tolist() == pytest.approx([loo.elpd] * 2)
    exact = az.reloo(Refits(of), loo, k_threshold=0.5, pointwise=True)
    refitted = np.flatnonzero(loo.pareto_k > 0.5)
    assert len(refitted) > 0
    np.testing.assert_allclose(exact.elpd_i[refitted], loo.elpd_i[refitted], atol=0.5)
    assert exact.pareto_k.max() <= 0.5


@pytest.mark.full
@pytest.mark.nuts
@pytest.mark.parametrize("kind", [kind for kind, (_, how, _) in KINDS.items() if how])
def test_energies_of_nuts_are_explored(kind, fits):
    values = az.bfmi(fits(kind).tree)["energy"]
    assert values.sizes == {"chain": 4}
    assert 0.3 < values.min() < values.max() < 2
