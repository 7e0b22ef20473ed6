"""A prior or a single word could make an answer, and the package would say that it does not matter."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from arviz_stats import psense
from scipy import stats

import bayesbias as bb
from bayesbias import contrast, models, numerics
from bayesbias.distances.distances import Distances
from bayesbias.models.tree import Fit

MEANS = {"associated": 0.80, "different": 0.90, "human": 0.95}
TRUTH = {"connection_mean": MEANS, "connection_sd": 0.05, "sigma": 0.10}
FEW = {"groups": {"a": 1, "b": 1}, "stereotypes": {"a": 3, "b": 3}, "human": 3}
PLENTY = {"groups": {"a": 30, "b": 30}, "stereotypes": {"a": 10, "b": 10}, "human": 10}

HUMAN = {"second": "human", "population": "similar"}
NUMBERS = ["mean", "sd", "low", "high"]


@pytest.fixture(scope="module")
def few():
    return bb.fit(bb.calibration.simulate(FEW, "published", TRUTH, seed=0), "published", seed=0)


@pytest.fixture(scope="module")
def few_found(few):
    return bb.checks.prior_sensitivity(few, seed=2, **HUMAN)


@pytest.fixture(scope="module")
def plenty():
    return bb.fit(bb.calibration.simulate(PLENTY, "published", TRUTH, seed=0), "published", seed=0)


@pytest.fixture(scope="module")
def plenty_found(plenty):
    return bb.checks.prior_sensitivity(plenty, **HUMAN)


def test_with_two_words_the_prior_matters(few_found):
    assert few_found.matters
    assert str(few_found) == few_found.verdict
    assert few_found.verdict.startswith(
        "The prior matters for associated − human: with the prior of connection_mean wider it moves by "
    )
    flagged = few_found.refits.set_index(["prior", "change"])["matters"]
    assert flagged["connection_mean"].all()
    assert not flagged["sigma"].any()
    whole = few_found.power.iloc[0]
    assert (whole["parameter"], whole["diagnosis"]) == ("associated - human", "strong prior, weak likelihood")
    assert whole["prior"] > 0.05 > whole["likelihood"]


def test_with_sixty_words_the_prior_does_not_matter(plenty_found):
    assert not plenty_found.matters
    assert plenty_found.verdict.startswith("The prior does not matter for associated − human: over 8 refits it moves")
    assert plenty_found.refits["shift"].abs().max() < 0.2
    assert (plenty_found.refits["sd_ratio"] - 1).abs().max() < 0.1
    assert (plenty_found.power.query("parameter == 'connection_mean'")["prior"] < 0.05).all()


def test_the_rows_and_the_fit_as_given(few, few_found):
    refits = few_found.refits
    names = ("connection_mean", "connection_sd", "sigma", "all")
    assert refits["prior"].isna().tolist() == [True] + 8 * [False]
    assert refits["prior"][1:].tolist() == [name for name in names for _ in range(2)]
    assert refits["change"].tolist() == ["as given", *4 * ["wider", "narrower"]]
    given = bb.contrasts(few, "associated", **HUMAN).iloc[0]
    assert refits.loc[0, NUMBERS].tolist() == pytest.approx(given[NUMBERS].tolist(), abs=1e-12)
    assert refits.loc[0, ["shift", "sd_ratio", "matters"]].tolist() == [0, 1, False]
    np.testing.assert_allclose(refits["shift"], (refits["mean"] - given["mean"]) / given["sd"], atol=1e-12)


BETWEEN = 'connection_sd = { distribution = "exponential", rate = 2.0'


@pytest.mark.parametrize(
    ("row", "changes"),
    [
        (1, [("sd = 0.3", "sd = 0.6")]),
        (4, [(BETWEEN, BETWEEN.replace("2.0", "4.0"))]),
        (8, [("sd = 0.3", "sd = 0.15"), ("rate = 2.0", "rate = 4.0")]),
    ],
)
def test_a_refit_is_the_fit_of_an_edited_file(edited, few, few_found, row, changes):
    again = bb.fit(Fit(few).data.to_frame(), edited("published", *changes), seed=2)
    expected = bb.contrasts(again, "associated", **HUMAN).iloc[0]
    assert few_found.refits.loc[row, NUMBERS].tolist() == pytest.approx(expected[NUMBERS].tolist(), abs=1e-12)


def judged(*rows):
    """Refits with a given fit of mean -0.1 and sd 0.1 and these others: prior, change, mean, sd, low, high."""
    given = (pd.NA, "as given", -0.1, 0.1, -0.22, 0.02)
    refits = pd.DataFrame([given, *rows], columns=["prior", "change", *NUMBERS])
    refits = refits.assign(shift=(refits["mean"] + 0.1) / 0.1, sd_ratio=refits["sd"] / 0.1)
    return refits.assign(matters=(contrast.sensitivity._strength(refits) > 1) | contrast.sensitivity._decides(refits))


@pytest.mark.parametrize(
    ("rows", "matters", "said"),
    [
        ([("sigma", "wider", -0.11, 0.1, -0.23, 0.01)], False, "moves by at most 0.10 posterior sds, its sd changes"),
        ([("sigma", "wider", -0.12, 0.1, -0.24, -0.001)], False, "none decides whether its interval excludes 0."),
        ([("sigma", "wider", -0.14, 0.1, -0.26, -0.02)], True, "+0%, and its interval comes to exclude 0."),
        ([("sigma", "wider", -0.04, 0.1, -0.16, 0.08)], True, "with the prior of sigma wider it moves by +0.60"),
        ([("sigma", "wider", -0.1, 0.07, -0.18, -0.02)], True, "sds and its sd changes by -30%, and its interval"),
        ([("all", "narrower", -0.03, 0.1, -0.15, 0.09)], True, "with all priors narrower it moves by +0.70"),
        (
            [("m", "wider", -0.04, 0.1, -0.1, 0.03), ("sigma", "wider", -0.02, 0.1, -0.1, 0.03)],
            True,
            "the prior of sigma wider it moves by +0.80 posterior sds and its sd changes by +0%; m matters too.",
        ),
    ],
)
def test_what_makes_a_prior_matter(rows, matters, said):
    refits = judged(*rows)
    assert refits["matters"].any() == matters
    verdict = contrast.sensitivity._verdict(refits, "associated - human")
    assert verdict.startswith(f"The prior {'matters' if matters else 'does not matter'} for associated - human: ")
    assert said in verdict


@pytest.mark.parametrize(
    ("kind", "scale", "wider"),
    [
        ("Normal", {"mean": 1.0, "sd": 0.3}, {"sd": 0.6}),
        ("Exponential", {"rate": 2.0}, {"rate": 1.0}),
        ("HalfNormal", {"sd": 0.4}, {"sd": 0.8}),
        ("Pooled", {"spread": 0.3}, {"spread": 0.6}),
        ("Gamma", {"shape": 2.0, "rate": 0.1}, {}),
    ],
)
def test_each_prior_widens_by_its_own_scale(kind, scale, wider):
    name = "half_normal" if kind == "HalfNormal" else kind.lower()
    prior = getattr(models.spec, kind)(distribution=name, **scale)
    assert prior.widened(2) == prior.model_copy(update=wider)


def test_log_priors_are_those_of_scipy():
    table = bb.calibration.simulate(FEW, "crossed", TRUTH | {"attribute_sd": 0.05, "interaction_sd": 0.03}, seed=0)
    post = bb.fit(table, "crossed", draws=40, seed=0)
    posterior, spec = post["posterior"].dataset, bb.load_model("robust")
    nu = np.random.default_rng(0).gamma(2, 10, (4, 10))
    values = {name: posterior[name].to_numpy() for name in posterior.data_vars}
    found = models.spec.log_priors(values | {"nu": nu}, spec.priors)

    def apart(name):
        return np.log(values[name] / values[f"{name}0"][:, :, None])

    expected = {
        "connection_mean": stats.norm(1, 0.3).logpdf(values["connection_mean"]).sum(axis=2),
        "connection_sd0": stats.halfcauchy(scale=0.05).logpdf(values["connection_sd0"]),
        "connection_sd": stats.norm(0, 0.5).logpdf(apart("connection_sd")).sum(axis=2),
        "sigma": stats.expon(scale=0.5).logpdf(values["sigma"]).sum(axis=2),
        "attribute_sd0": stats.halfcauchy(scale=0.07).logpdf(values["attribute_sd0"]),
        "attribute_sd": stats.norm(0, 0.3).logpdf(apart("attribute_sd")).sum(axis=2),
        "interaction_sd": stats.expon(scale=1 / 30).logpdf(values["interaction_sd"]),
        "nu": stats.gamma(2, scale=10).logpdf(nu),
    }
    assert set(found) == set(expected)
    for name, values in expected.items():
        difference = found[name] - values
        np.testing.assert_allclose(difference, difference[0, 0], atol=1e-9, err_msg=name)


def test_the_log_likelihood_is_the_sum_over_pairs(plenty):
    pairs = bb.checks.add_log_likelihood(plenty)["log_likelihood/distance"]
    sums = models.groups.log_likelihood_of(Fit(plenty))["distance"]
    xr.testing.assert_allclose(sums, pairs.sum("pair"), rtol=1e-12)


def test_power_scaling_is_that_of_arviz_on_a_fit_with_its_priors(few, few_found):
    power = few_found.power.set_index(["parameter", "label"])
    assert len(power) == 1 + 3 * 3
    whole = bb.checks.add_prior(few, draws=1, log_likelihood=True)
    for group in ("prior", "likelihood"):
        for name, expected in psense(whole, var_names=["~word_mean"], group=group).items():
            own = power.loc[name, group][expected["connection"].to_numpy()]
            assert own.tolist() == pytest.approx(expected.to_numpy().tolist(), abs=1e-9)


def test_a_model_is_read_back_from_its_fit(few, edited):
    spec = Fit(few).spec
    assert spec == bb.load_model("published")
    path = edited("crossed", ("spread = 0.3", "spread = 0.1"))
    post = bb.fit(bb.calibration.simulate(FEW, "published", TRUTH, seed=0), path, draws=40, seed=0)
    path.unlink()
    assert Fit(post).spec.priors["attribute_sd"] == models.spec.Pooled(distribution="pooled", spread=0.1)


def test_a_fit_by_nuts_is_refitted_by_a_faster_engine_and_an_unused_prior_is_left_alone():
    table = bb.calibration.simulate(FEW, "published", TRUTH, seed=0).query("group == 'a'")
    post = bb.fit(table, "crossed_shared", draws=400, seed=0)
    post.attrs["engine"] = "nuts"
    found = bb.checks.prior_sensitivity(post)
    asked = found.refits["prior"].dropna().unique().tolist()
    assert asked == ["connection_mean", "connection_sd0", "connection_sd", "sigma", "attribute_sd", "all"]
    assert set(found.power["parameter"]) == {"associated - different", *asked[:-1]}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"factor": 1}, "factor is 1: give a number above 1"),
        ({"second": "neutral"}, "valid are associated, different, human"),
        ({"second": "associated"}, "needs two connections"),
    ],
)
def test_wrong_arguments_are_refused(few, options, message):
    with pytest.raises(bb.InputError, match=message):
        bb.checks.prior_sensitivity(few, **options)


SHAPE = {"groups": {"a": 4, "b": 4}, "stereotypes": {"a": 8, "b": 8}, "human": 10, "neutral": 10}
CENTRES = {"associated": 0.80, "different": 0.88, "human": 0.93, "neutral": 0.97}
SCALES = {
    "connection_mean": CENTRES,
    "connection_sd": 0.03,
    "sigma": 0.05,
    "attribute_sd": 0.05,
    "interaction_sd": 0.02,
}
MOVED = "a word 3"


@pytest.fixture(scope="module")
def table():
    return bb.calibration.simulate(SHAPE, "crossed", SCALES, seed=5)


@pytest.fixture(scope="module")
def planted(table):
    """The table with the distances of one stereotype word of group a moved away by 0.5."""
    return table.assign(distance=table["distance"] + 0.5 * (table["attribute_word"] == MOVED))


@pytest.fixture(scope="module")
def post(planted):
    return bb.fit(planted, "crossed", draws=400, seed=0)


@pytest.fixture(scope="module")
def found(post):
    return bb.checks.influence(post, second="human")


def moments_of(table, model="crossed_plain", seed=0):
    """Posterior mean and covariance of the connection means, without draws."""
    return models.moments.mean_moments(bb.load_model(model), Distances.read(table), np.random.default_rng(seed))


def drawn_moments(table, model, draws):
    means = bb.fit(table, model, draws=draws, seed=3)["posterior/connection_mean"].to_numpy()
    flat = means.reshape(-1, means.shape[2])
    return flat.mean(axis=0), np.cov(flat.T)


def assert_same_moments(found, expected, tolerance):
    """Means to a share of their sds, sds and correlations to that share."""
    sd = np.sqrt(np.diag(expected[1]))
    np.testing.assert_allclose((found[0] - expected[0]) / sd, 0, atol=tolerance)
    np.testing.assert_allclose(np.sqrt(np.diag(found[1])) / sd, 1, atol=tolerance)
    np.testing.assert_allclose((found[1] - expected[1]) / np.outer(sd, sd), 0, atol=2 * tolerance)


@pytest.mark.parametrize("model", ["published", "pooled", "crossed_plain", "crossed"])
def test_moments_are_those_of_many_draws(table, model):
    assert_same_moments(moments_of(table, model), drawn_moments(table, model, 20_000), 0.03)


def test_moments_of_a_table_full_of_holes(table, monkeypatch):
    monkeypatch.setattr(models.moments, "POINTS", 512)
    part = table[np.random.default_rng(2).random(len(table)) > 0.3].query("connection in ['associated', 'human']")
    part = part[part["protected_word"].isin(["a 0", "a 1", "b 0", "b 1"])]
    spec, data, moments = bb.load_model("crossed_plain"), Distances.read(part), []
    for most, dense in ((0, True), (1000, False)):
        monkeypatch.setattr(models.marginal, "MOST_EFFECTS", most)
        sums = models.marginal.crossed_target(spec, data).sums
        assert isinstance(sums, numerics.marginal.IncompleteSums) == dense
        moments.append(moments_of(part))
        monkeypatch.undo()
    assert_same_moments(*moments, 0.03)


def test_where_weights_fail_the_scales_are_walked(table, monkeypatch):
    """The walk is replaced by draws by weights: what counts is what becomes of them."""
    expected = moments_of(table)

    def walked(log_density, start, chains, draws, rng):
        drawn = models.marginal._importance_sample(log_density, start, 2048, rng)
        return models.marginal.resample(drawn, chains * draws, rng).reshape(chains, draws, -1), None

    monkeypatch.setattr(models.marginal, "MAX_PARETO_K", -np.inf)
    monkeypatch.setattr(models.marginal, "walk", walked)
    assert_same_moments(moments_of(table), expected, 0.05)


def test_what_has_no_moments_is_refused(table, post):
    with pytest.raises(bb.InputError, match="the model 'robust' needs draws by NUTS: its residuals are not normal"):
        moments_of(table, "robust")
    with pytest.raises(bb.InputError, match="the distances of associated do not vary"):
        moments_of(table.assign(distance=0.5), "published")
    posterior = post["posterior"].to_dataset()
    robust = post.assign(posterior=xr.DataTree(posterior.assign(nu=2 + posterior["attribute_sd0"])))
    spec = bb.load_model("robust")
    robust.attrs |= {"model": spec.name, "model_text": spec.text, "model_hash": spec.hash}
    with pytest.raises(bb.InputError, match="fit these distances with 'crossed' or 'published'"):
        bb.checks.influence(robust)
    with pytest.raises(bb.InputError, match="needs two connections"):
        bb.checks.influence(post, second="associated")


@pytest.mark.parametrize("query", ["attribute_word != 'a word 3'", "protected_word != 'b 2'", "connection != 'human'"])
def test_a_part_of_the_data_is_the_data_of_the_part(table, query):
    part, expected = Distances.read(table).part(table.eval(query).to_numpy()), Distances.read(table.query(query))
    names = ["protected_words", "connections", "groups", "word", "connection", "attribute", "attribute_words"]
    for name in (*names, "class_of_attribute", "attribute_class", "y"):
        np.testing.assert_array_equal(getattr(part, name), getattr(expected, name), err_msg=name)
    np.testing.assert_array_equal(part.cells.n, expected.cells.n)
    np.testing.assert_array_equal(part.cells.mean, expected.cells.mean)


def test_points_stand_for_other_data_of_the_same_scales_only(table):
    spec, data = bb.load_model("crossed"), Distances.read(table)
    points = models.moments.scale_points(spec, data, np.random.default_rng(0))
    same = models.moments.moved_points(points, spec, data)
    np.testing.assert_allclose(same.moments[0], points.moments[0], atol=1e-4)
    larger = Distances.read(table.assign(distance=10 * table["distance"]))
    for other in (data.part(data.connection != 3), larger):
        assert models.moments.moved_points(points, spec, other) is None


def balanced(table):
    """The mean over protected words of the difference of their cell means, associated less human."""
    cells = table.pivot_table("distance", "protected_word", "connection")
    return (cells["associated"] - cells["human"]).mean()


def test_the_planted_word_comes_first_by_what_it_weighs(found, planted):
    """It is one of 8 words of the stereotype of half the protected words, and lifts their mean by about 0.5 / 16."""
    assert found.loc[0, ["kind", "word", "list", "n"]].tolist() == ["attribute", MOVED, "a", 8]
    assert found.loc[0, "shift"] == pytest.approx(-0.5 / 16, rel=0.2)
    expected = balanced(planted[planted["attribute_word"] != MOVED]) - balanced(planted)
    assert found.loc[0, "shift"] == pytest.approx(expected, rel=0.1)
    assert found["shift"].abs().iloc[1] < 0.5 * abs(found.loc[0, "shift"])
    assert found.loc[0, "sd"] < 0.8 * found.attrs["sd"]


def test_the_columns_and_what_they_say(found, planted):
    assert found["kind"].value_counts().to_dict() == {"attribute": 36, "protected": 8}
    assert (found.query("kind == 'protected'")["n"] == 36).all()
    assert [found.attrs[name] for name in ("left_out", "first", "second")] == [[], "associated", "human"]
    np.testing.assert_allclose(found["mean"] - found.attrs["mean"], found["shift"], atol=1e-12)
    np.testing.assert_allclose(found["shift_sd"] * found.attrs["sd"], found["shift"], atol=1e-12)
    assert found["shift"].abs().is_monotonic_decreasing
    whole = drawn_moments(planted, "crossed", 8000)
    assert found.attrs["mean"] == pytest.approx(whole[0][0] - whole[0][2], abs=0.03 * found.attrs["sd"])
    # a neutral word tells nothing about associated or human but through the scales
    assert found.query("list == 'neutral'")["shift_sd"].abs().max() < 0.05


@pytest.mark.parametrize(("kind", "word"), [("attribute", MOVED), ("attribute", "human word 2"), ("protected", "b 1")])
def test_a_shift_is_that_of_a_fit_without_the_word(found, planted, kind, word):
    mean, covariance = drawn_moments(planted[planted[f"{kind}_word"] != word], "crossed", 12_000)
    row = found.set_index(["kind", "word"]).loc[(kind, word)]
    sd = np.sqrt(covariance[0, 0] + covariance[2, 2] - 2 * covariance[0, 2])
    assert row["mean"] == pytest.approx(mean[0] - mean[2], abs=0.035 * sd)
    assert row["sd"] == pytest.approx(sd, rel=0.03)


def test_noise_is_far_below_the_influence_of_a_control_word(post, found):
    again = bb.checks.influence(post, second="human", words="attribute", seed=9).set_index("word")["shift_sd"]
    control = found.query("list == 'human'").set_index("word")["shift_sd"]
    assert (again[control.index] - control).std() < 0.1 * control.std()


def test_words_whose_points_do_not_reach_get_points_of_their_own(post, found, monkeypatch):
    monkeypatch.setattr(models.families, "moved_points", lambda points, spec, data: None)
    again = bb.checks.influence(post, second="human", words="protected").set_index("word")["shift_sd"]
    expected = found.query("kind == 'protected'").set_index("word")["shift_sd"]
    np.testing.assert_allclose(again[expected.index], expected, atol=0.05)


def test_the_exact_engine_draws_nothing_either(planted):
    part = planted[planted["connection"].isin(["associated", "different", "human"])]
    post = bb.fit(part, "published", draws=400, seed=0)
    ask = partial(bb.checks.influence, post, second="human", words="attribute")
    found = ask()
    pd.testing.assert_frame_equal(found, ask(seed=7))
    assert found.loc[0, "word"] == MOVED
    mean, _ = drawn_moments(part[part["attribute_word"] != "human word 2"], "published", 40_000)
    row = found.set_index("word").loc["human word 2"]
    assert row["mean"] == pytest.approx(mean[0] - mean[2], abs=0.02 * row["sd"])


def test_a_word_without_which_there_is_no_contrast_is_told(planted):
    only = planted["attribute_word"].isin(["human word 0", *(f"a word {at}" for at in range(8)), "b word 0"])
    post = bb.fit(planted[only], "crossed_plain", draws=400, seed=0)
    found = bb.checks.influence(post, second="human", words="attribute")
    assert found.attrs["left_out"] == [("attribute", "human word 0", "it has all distances of human")]
    assert "human word 0" not in found["word"].tolist()
    assert len(found) == 9


def test_the_model_follows_when_a_group_is_gone(planted):
    """Without its only word, one of two groups is gone, and word x group with it, as in a fit of the rest."""
    part = planted[planted["protected_word"].isin(["a 0", "a 1", "a 2", "b 0"])]
    post = bb.fit(part, "crossed_shared", draws=400, seed=0)
    found = bb.checks.influence(post, second="human", words="protected").set_index("word")
    rest = part[part["protected_word"] != "b 0"]
    spec, data = models.marginal.fit_for_crossed(bb.load_model("crossed_shared"), Distances.read(rest))
    assert not spec.terms.word_x_group
    mean, _ = models.moments.mean_moments(spec, data, np.random.default_rng(4))
    names = data.connections.tolist()
    expected = mean[names.index("associated")] - mean[names.index("human")]
    assert found.loc["b 0", "mean"] == pytest.approx(expected, abs=0.03 * found.loc["b 0", "sd"])


def test_the_headline_is_the_second_connection(planted):
    def influence(query, **options):
        post = bb.fit(planted.query(query), "published", draws=400, seed=0)
        return bb.checks.influence(post, words="protected", **options).attrs

    assert influence("connection != 'human'")["second"] == "different"
    assert influence("connection != 'different'")["second"] == "human"
    assert influence("connection != 'human'", first="neutral", second="different")["first"] == "neutral"
    with pytest.raises(bb.InputError, match="give second: the fit holds human, and no headline with 'human'"):
        influence("connection == 'human'", first="human")
