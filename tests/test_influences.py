"""Influence of single words: moments against draws, a planted word, refits, what cannot be left out, wrong input."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias._core.marginal import DenseSums
from bayesbias.comparison import sensitivity
from bayesbias.comparison.sensitivity import influence
from bayesbias.models import marginal, moments
from bayesbias.models.data import data_of_rows, model_data
from bayesbias.models.marginal import crossed_target, fit_for_crossed, importance_sample, resample
from bayesbias.models.moments import mean_moments, moved_points, scale_points

SHAPE = {"groups": {"a": 4, "b": 4}, "stereotypes": {"a": 8, "b": 8}, "human": 10, "neutral": 10}
MEANS = {"associated": 0.80, "different": 0.88, "human": 0.93, "neutral": 0.97}
TRUTH = {"connection_mean": MEANS, "connection_sd": 0.03, "sigma": 0.05, "attribute_sd": 0.05, "interaction_sd": 0.02}
MOVED = "a word 3"


@pytest.fixture(scope="module")
def table():
    return bb.calibration.simulate(SHAPE, "crossed", TRUTH, seed=5)


@pytest.fixture(scope="module")
def planted(table):
    """The table with the distances of one stereotype word of group a moved away by 0.5."""
    return table.assign(distance=table["distance"] + 0.5 * (table["attribute_word"] == MOVED))


@pytest.fixture(scope="module")
def post(planted):
    return bb.fit(planted, "crossed", draws=400, seed=0)


@pytest.fixture(scope="module")
def found(post):
    return influence(post, second="human")


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
    spec = bb.load_model(model)
    found = mean_moments(spec, model_data(table), np.random.default_rng(0))
    assert_same_moments(found, drawn_moments(table, model, 20_000), 0.03)


def test_moments_of_a_table_full_of_holes(table, monkeypatch):
    monkeypatch.setattr(marginal, "MOST_EFFECTS", 0)
    monkeypatch.setattr(moments, "POINTS", 512)
    part = table[np.random.default_rng(2).random(len(table)) > 0.3].query("connection in ['associated', 'human']")
    part = part[part["protected_word"].isin(["a 0", "a 1", "b 0", "b 1"])]
    spec, data = bb.load_model("crossed_plain"), model_data(part)
    assert isinstance(crossed_target(spec, data).sums, DenseSums)
    dense = mean_moments(spec, data, np.random.default_rng(0))
    monkeypatch.undo()
    monkeypatch.setattr(marginal, "MOST_EFFECTS", 1000)
    assert not isinstance(crossed_target(spec, data).sums, DenseSums)
    assert_same_moments(dense, mean_moments(spec, data, np.random.default_rng(0)), 0.03)


def test_where_weights_fail_the_scales_are_walked(table, monkeypatch):
    """The walk is replaced by draws by weights: what counts is what becomes of them."""
    spec, data = bb.load_model("crossed_plain"), model_data(table)
    expected = mean_moments(spec, data, np.random.default_rng(0))

    def walked(log_density, start, chains, draws, rng):
        drawn = importance_sample(log_density, start, 2048, rng)
        return resample(drawn, chains * draws, rng).reshape(chains, draws, -1), None

    monkeypatch.setattr(moments, "MAX_PARETO_K", -np.inf)
    monkeypatch.setattr(moments, "walk", walked)
    assert_same_moments(mean_moments(spec, data, np.random.default_rng(0)), expected, 0.05)


def test_a_model_without_a_fast_engine_has_no_moments(table):
    with pytest.raises(bb.InputError, match="the model 'robust' needs draws by NUTS: its residuals are not normal"):
        mean_moments(bb.load_model("robust"), model_data(table), np.random.default_rng(0))


def test_distances_without_spread_have_no_moments(table):
    flat = model_data(table.assign(distance=0.5))
    with pytest.raises(bb.InputError, match="the distances of associated do not vary"):
        mean_moments(bb.load_model("published"), flat, np.random.default_rng(0))


@pytest.mark.parametrize("query", ["attribute_word != 'a word 3'", "protected_word != 'b 2'", "connection != 'human'"])
def test_a_part_of_the_data_is_the_data_of_the_part(table, query):
    whole = model_data(table)
    part = data_of_rows(whole, table.eval(query).to_numpy())
    expected = model_data(table.query(query))
    for name in ("protected_words", "connections", "groups", "word", "connection", "attribute", "attribute_words"):
        np.testing.assert_array_equal(getattr(part, name), getattr(expected, name), err_msg=name)
    for name in ("class_of_attribute", "attribute_class", "y"):
        np.testing.assert_array_equal(getattr(part, name), getattr(expected, name), err_msg=name)
    np.testing.assert_array_equal(part.cells.n, expected.cells.n)
    np.testing.assert_array_equal(part.cells.mean, expected.cells.mean)


def test_points_stand_for_other_data_of_the_same_scales_only(table):
    spec, data = bb.load_model("crossed"), model_data(table)
    points = scale_points(spec, data, np.random.default_rng(0))
    same = moved_points(points, spec, data)
    np.testing.assert_allclose(same.moments[0], points.moments[0], atol=1e-4)
    assert moved_points(points, spec, data_of_rows(data, data.connection != 3)) is None
    assert moved_points(points, spec, model_data(table.assign(distance=10 * table["distance"]))) is None


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
    assert list(found.columns) == ["kind", "word", "list", "n", "mean", "sd", "shift", "shift_sd"]
    assert found["kind"].value_counts().to_dict() == {"attribute": 36, "protected": 8}
    assert (found.query("kind == 'protected'")["n"] == 36).all()
    assert found.attrs["left_out"] == []
    assert (found.attrs["first"], found.attrs["second"]) == ("associated", "human")
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
    again = influence(post, second="human", words="attribute", seed=9).set_index("word")["shift_sd"]
    control = found.query("list == 'human'").set_index("word")["shift_sd"]
    assert (again[control.index] - control).std() < 0.1 * control.std()


def test_words_whose_points_do_not_reach_get_points_of_their_own(post, found, monkeypatch):
    monkeypatch.setattr(sensitivity, "moved_points", lambda points, spec, data: None)
    again = influence(post, second="human", words="protected").set_index("word")["shift_sd"]
    expected = found.query("kind == 'protected'").set_index("word")["shift_sd"]
    np.testing.assert_allclose(again[expected.index], expected, atol=0.05)


def test_the_exact_engine_draws_nothing_either(planted):
    part = planted[planted["connection"].isin(["associated", "different", "human"])]
    post = bb.fit(part, "published", draws=400, seed=0)
    ask = partial(influence, post, second="human", words="attribute")
    found = ask()
    pd.testing.assert_frame_equal(found, ask(seed=7))
    assert found.loc[0, "word"] == MOVED
    mean, _ = drawn_moments(part[part["attribute_word"] != "human word 2"], "published", 40_000)
    row = found.set_index("word").loc["human word 2"]
    assert row["mean"] == pytest.approx(mean[0] - mean[2], abs=0.02 * row["sd"])


def test_a_word_without_which_there_is_no_contrast_is_told(planted):
    only = planted["attribute_word"].isin(["human word 0", *(f"a word {at}" for at in range(8)), "b word 0"])
    post = bb.fit(planted[only], "crossed_plain", draws=400, seed=0)
    found = influence(post, second="human", words="attribute")
    assert found.attrs["left_out"] == [("attribute", "human word 0", "it has all distances of human")]
    assert "human word 0" not in found["word"].tolist()
    assert len(found) == 9


def test_the_model_follows_when_a_group_is_gone(planted):
    """Without its only word, one of two groups is gone, and word x group with it, as in a fit of the rest."""
    part = planted[planted["protected_word"].isin(["a 0", "a 1", "a 2", "b 0"])]
    post = bb.fit(part, "crossed_shared", draws=400, seed=0)
    found = influence(post, second="human", words="protected").set_index("word")
    rest = part[part["protected_word"] != "b 0"]
    spec, data = fit_for_crossed(bb.load_model("crossed_shared"), model_data(rest))
    assert not spec.terms.word_x_group
    mean, _ = mean_moments(spec, data, np.random.default_rng(4))
    names = data.connections.tolist()
    expected = mean[names.index("associated")] - mean[names.index("human")]
    assert found.loc["b 0", "mean"] == pytest.approx(expected, abs=0.03 * found.loc["b 0", "sd"])


def test_the_headline_is_the_second_connection(planted):
    post = bb.fit(planted[planted["connection"] != "human"], "published", draws=400, seed=0)
    assert influence(post, words="protected").attrs["second"] == "different"
    controls = bb.fit(planted[planted["connection"] != "different"], "published", draws=400, seed=0)
    assert influence(controls, words="protected").attrs["second"] == "human"
    assert influence(post, first="neutral", second="different", words="protected").attrs["first"] == "neutral"
    with pytest.raises(bb.InputError, match="give second: the fit holds human, and no headline with 'human'"):
        influence(bb.fit(planted.query("connection == 'human'"), "published", draws=400, seed=0), first="human")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"words": "both"}, "words is 'both': valid are all, attribute, protected"),
        ({"first": "hostile"}, "the connection is 'hostile'"),
        ({"second": "associated"}, "needs two connections"),
        ({"seed": 1.5}, "seed is 1.5"),
    ],
)
def test_wrong_arguments_are_refused(post, options, message):
    with pytest.raises(bb.InputError, match=message):
        influence(post, **options)


def test_a_model_that_needs_nuts_is_refused(post):
    robust = post.copy()
    robust.attrs["model_text"] = bb.load_model("robust").text
    with pytest.raises(bb.InputError, match="fit these distances with 'crossed' or 'published'"):
        influence(robust)
    with pytest.raises(bb.InputError, match="give the DataTree that fit returns"):
        influence("religion")
