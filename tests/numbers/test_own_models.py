"""A user's own model would answer with other numbers than its draws hold, or where it cannot."""

import json

import arviz as az
import numpy as np
import pymc as pm
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.models import nuts


def published(data):
    """The model of Dobrzeniecka and Urbaniak (2024), by hand."""
    coords = {"protected_word": data.protected_words, "connection": data.connections, "pair": range(len(data.y))}
    with pm.Model(coords=coords) as model:
        mean = pm.Normal("connection_mean", 1, 0.3, dims="connection")
        sd = pm.Exponential("connection_sd", 2.0, dims="connection")
        apart = pm.Normal("apart", dims=("protected_word", "connection"))
        word = pm.Deterministic("word_mean", mean + sd * apart, dims=("protected_word", "connection"))
        sigma = pm.Exponential("sigma", 2.0, dims="connection")
        place = data.word, data.connection
        pm.Normal("distance", word[place], sigma[data.connection], observed=data.y, dims="pair")
    return model


def tails(data):
    """Student-t distances around means that depend on the length of the protected word, under names of its own."""
    length = np.array([len(word) for word in data.protected_words], dtype=float)
    length = (length - length.mean()) / length.std()
    coords = {"protected_word": data.protected_words, "connection": data.connections, "row": range(len(data.y))}
    with pm.Model(coords=coords | {"covariate": ["length"]}) as model:
        mean = pm.Normal("mean", 1, 0.3, dims="connection")
        by_length = pm.Normal("by_length", 0, 0.1, dims=("covariate", "connection"))
        sd = pm.HalfNormal("sd", 0.1, dims="connection")
        apart = pm.Normal("apart", dims=("protected_word", "connection"))
        theta = pm.Deterministic(
            "theta", mean + length[:, None] * by_length[0] + sd * apart, dims=("protected_word", "connection")
        )
        nu = pm.Gamma("nu", 2, 0.1)
        sigma = pm.HalfNormal("sigma", 0.2)
        pm.StudentT("y", nu=nu, mu=theta[data.word, data.connection], sigma=sigma, observed=data.y, dims="row")
    return model


@pytest.fixture(scope="module")
def table(weat7):
    return weat7


@pytest.fixture(scope="module")
def of_user(table):
    return bb.fit(table, tails, draws=600, chains=2, seed=1, word_mean="theta", sampler={"tune": 500})


@pytest.fixture(scope="module")
def built_in(table):
    return bb.fit(table, "published", draws=4000, seed=1)


@pytest.mark.slow
def test_the_published_model_by_hand_is_the_built_in_one(table, built_in):
    by_hand = bb.fit(table, published, draws=2000, chains=2, seed=1)
    assert by_hand.attrs["model"] == "published (own)"
    for target in ("sample", "population"):
        own, theirs = (bb.contrasts(post, target=target).iloc[0] for post in (by_hand, built_in))
        error = theirs["sd"] / np.sqrt(400)
        assert own["mean"] == pytest.approx(theirs["mean"], abs=4 * error)
        assert own["sd"] == pytest.approx(theirs["sd"], rel=0.08)
    words = [post["posterior/word_mean"].mean(("chain", "draw")).to_numpy() for post in (by_hand, built_in)]
    sd = built_in["posterior/word_mean"].std(("chain", "draw")).to_numpy()
    assert (np.abs(words[0] - words[1]) / sd).max() < 0.25


def test_a_fit_of_ones_own_carries_its_name_source_and_sampler(of_user, tmp_path):
    assert of_user.attrs["model"] == "tails"
    assert of_user.attrs["model_text"].startswith("def tails(data):")
    assert json.loads(of_user.attrs["sampler_options"]) == {"tune": "500"}
    bb.save_fit(of_user, tmp_path / "own.nc")
    again = bb.load_fit(tmp_path / "own.nc")
    assert bb.contrasts(again).equals(bb.contrasts(of_user))


def test_contrasts_are_those_of_the_draws(of_user, table):
    means = of_user["posterior/word_mean"]
    apart = (means.sel(connection="associated") - means.sel(connection="different")).mean("protected_word")
    assert bb.contrasts(of_user, "associated", "different").iloc[0]["mean"] == pytest.approx(apart.mean().item())
    with pytest.raises(bb.InputError, match="has no 'connection_mean'"):
        bb.contrasts(of_user, target="population")


def test_predictions_and_densities_are_those_of_pymc(of_user):
    predicted = bb.checks.add_predictive(of_user)["posterior_predictive/distance"]
    assert predicted.equals(of_user["posterior_predictive/distance"])
    density = bb.checks.add_log_likelihood(of_user)["log_likelihood/distance"]
    assert density.equals(of_user["log_likelihood/distance"])
    loo = az.loo(of_user)
    assert loo.elpd == pytest.approx(az.loo(bb.checks.add_log_likelihood(of_user)).elpd)


def test_answers_that_draws_give(of_user):
    assert len(bb.association(of_user)) > 16
    assert bb.diagnose(of_user).r_hat < 1.05
    rows = bb.contrasts(of_user).iloc[1:]
    assert rows["mean"].to_numpy() == pytest.approx(rows["unshrunk"].to_numpy())  # nothing is pooled after the fit
    assert "new words" not in {note.code for note in bb.summary(of_user).notes}


def test_draws_made_elsewhere_are_a_fit(built_in, table):
    posterior = built_in["posterior"].to_dataset()
    labelled = posterior[["word_mean", "connection_mean"]].isel(protected_word=slice(None, None, -1))
    arrays = {name: posterior[name].to_numpy() for name in ("word_mean", "connection_mean")}
    transposed = labelled.transpose("connection", "draw", ...)
    renamed = xr.DataTree.from_dict({"/posterior": posterior[["word_mean"]].rename(word_mean="mu")})
    theirs = bb.contrasts(built_in).iloc[0]
    for draws, how in ((labelled, {}), (transposed, {}), (arrays, {}), (renamed, {"word_mean": "mu"})):
        post = bb.from_draws(draws, table, name="by Stan", **how)
        row = bb.contrasts(post).iloc[0]
        assert row["mean"] == pytest.approx(theirs["mean"], abs=0.1 * theirs["sd"])
        assert post.attrs["model"] == "by Stan"


def test_labels_of_arrays_that_have_some_are_kept(built_in, table):
    """In an order other than the table's they would give each word the mean of another one."""
    means = built_in["posterior/word_mean"]
    mixed = means.isel(protected_word=slice(None, None, -1)).transpose("connection", ...)
    post = bb.from_draws({"word_mean": mixed, "sigma": built_in["posterior/sigma"].to_numpy()}, table)
    xr.testing.assert_allclose(post["posterior/word_mean"], means)
    with pytest.raises(bb.InputError, match="the labels of protected_word are missing"):
        bb.from_draws({"word_mean": means.drop_vars("protected_word")}, table)


@pytest.mark.slow
def test_groups_of_draws_hold_one_value_a_draw_and_row(built_in, table):
    """Their last dimension may have any name, such as log_lik_dim_0 of Stan."""
    posterior = built_in["posterior"].to_dataset()[["word_mean"]]
    density = bb.checks.add_log_likelihood(built_in)["log_likelihood"].to_dataset()
    renamed = density.rename(pair="log_lik_dim_0").drop_vars("log_lik_dim_0")
    post = bb.from_draws(xr.DataTree.from_dict({"/posterior": posterior, "/log_likelihood": renamed}), table)
    assert az.loo(post).elpd == pytest.approx(az.loo(bb.checks.add_log_likelihood(built_in)).elpd, abs=1e-9)
    for part in (density.isel(pair=slice(3)), density.isel(draw=slice(50))):
        tree = xr.DataTree.from_dict({"/posterior": posterior, "/log_likelihood": part})
        with pytest.raises(bb.InputError, match=f"of the draws has the sizes .*: needed .*{len(table)}"):
            bb.from_draws(tree, table)


def other_labels(data):
    with pm.Model(coords={"protected_word": ["a"], "connection": data.connections}) as model:
        pm.Normal("word_mean", dims=("protected_word", "connection"))
    return model


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("model", "how", "message"),
    [
        (lambda data: 3, {}, "made 3: it takes the distances and returns a pymc.Model"),
        (tails, {}, "no variable 'word_mean' with the dims .* in the model 'tails'.* name it by word_mean="),
        (other_labels, {}, "the labels of protected_word are a, and those of the table"),
        (published, {"sampler": {"target": 2}}, "pymc.sample failed: "),
        (published, {"priors": {"sigma": {"rate": 1}}}, "leave priors, adjust and engine out"),
        (published, {"draws": 200_000}, "are more than 67,108,864 numbers: give draws="),
    ],
)
def test_models_that_are_none_are_refused(model, how, message, table):
    with pytest.raises(bb.InputError, match=message):
        bb.fit(table, model, **how)


@pytest.mark.slow
def test_a_failure_of_a_sampler_comes_without_its_backtrace():
    pytest.importorskip("nutpie")
    with pm.Model() as model:
        pm.Potential("none", pm.math.log(pm.Normal("x") * 0 - 1))
    with pytest.raises(bb.InputError, match="RuntimeError: All initialization points") as failure:
        nuts.run_nuts(model, 1, 5, np.random.default_rng(0), {"nuts_sampler": "nutpie", "tune": 5})
    assert str(failure.value).endswith("Logp function returned error: ErrorCode(4)")


def test_draws_that_do_not_fit_are_refused(built_in, table):
    posterior = built_in["posterior"].to_dataset()
    other = posterior.assign_coords(protected_word=[f"w{place}" for place in range(16)])
    observed = xr.Dataset({"distance": ("pair", [1.0])})
    for draws, message in (
        (other, "the labels of protected_word are w0, w1"),
        (posterior[["sigma"]], "no variable 'word_mean' with the dims .* in the draws.*: there are sigma"),
        (posterior.assign(word_mean=posterior["word_mean"] * np.nan), "'word_mean' are none, or not all finite"),
        (posterior.assign(slope=posterior["sigma"]), "'slope' has a meaning of its own in fits"),
        (
            xr.DataTree.from_dict({"/posterior": posterior, "/observed_data": observed}),
            "observed_data/distance of the draws holds other distances than the table",
        ),
    ):
        with pytest.raises(bb.InputError, match=message):
            bb.from_draws(draws, table)
