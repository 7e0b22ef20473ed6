"""The comparison of models would prefer a model that predicts left-out words worse."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import logsumexp

import bayesbias as bb
from bayesbias import contrast, models, numerics
from bayesbias.distances.distances import Distances
from bayesbias.models.tree import Fit

SHAPE = {"groups": {"a": 4, "b": 4}, "stereotypes": {"a": 5, "b": 5}, "human": 8, "neutral": 8}
SMALL = {"groups": {"a": 2, "b": 2}, "stereotypes": {"a": 4, "b": 4}, "human": 6}
MEANS = {"associated": 0.80, "different": 0.88, "human": 0.93, "neutral": 0.97}
CROSSED = {"connection_mean": MEANS, "connection_sd": 0.05, "sigma": 0.05, "attribute_sd": 0.10, "interaction_sd": 0.03}
PLAIN = {"connection_mean": MEANS, "connection_sd": 0.05, "sigma": 0.10}
OF_WORDS = ["elpd_word", "se_word", "diff_word", "diff_se_word", "bad_k_word", "unresolved_k_word"]


@pytest.fixture(scope="module")
def crossed_table():
    return bb.calibration.simulate(SHAPE, "crossed", CROSSED, seed=1)


@pytest.fixture(scope="module")
def plain_table():
    return bb.calibration.simulate(SHAPE, "published", PLAIN, seed=2)


@pytest.fixture(scope="module")
def small_table():
    return bb.calibration.simulate(SMALL, "crossed", CROSSED, seed=1)


def evidence(table):
    """The log evidence of the model published."""
    return bb.fit(table, "published", draws=4, seed=0).attrs["log_evidence"]


def left_out_by_evidence(table, kind):
    """Log p(word | others) of each word by published: the log evidence of all less that of the others."""
    words = table[kind].unique()
    return evidence(table) - np.array([evidence(table[table[kind] != word]) for word in words])


@pytest.fixture(scope="module")
def by_evidence(small_table):
    return left_out_by_evidence(small_table, "attribute_word")


def without_evidence(table, spec, **options):
    """A fit such as NUTS gives, which knows no evidence."""
    post = bb.fit(table, spec, **options)
    del post.attrs["log_evidence"]
    return post


def holed(table):
    """The table with pairs missing here and there, so that words stand in several patterns."""
    return table[np.random.default_rng(3).random(len(table)) > 0.15]


@pytest.mark.parametrize("by_group", [True, False])
def test_the_density_of_a_word_is_the_normal_of_its_distances(crossed_table, by_group):
    data = Distances.read(holed(crossed_table))
    groups = data.group_index if by_group else np.zeros_like(data.group_index)
    rng, draws, k = np.random.default_rng(4), 40, len(data.connections)
    scales = numerics.marginal.Scales(
        sigma2=rng.uniform(0.05, 0.2, (draws, k)) ** 2,
        s2=np.full((draws, k), np.nan),
        attribute=rng.uniform(0.02, 0.2, (draws, 3)) ** 2,
        interaction=rng.uniform(0.01, 0.1, draws) ** 2 if by_group else None,
    )
    cells = rng.normal(0.9, 0.1, (draws, *data.filled.shape))
    cells[:, ~data.filled] = np.nan
    rows = (data.word, data.connection, data.attribute, groups, data.class_index, data.y)
    found = numerics.conditionals.word_log_likelihood(*numerics.marginal.find_patterns(*rows, k), scales, cells)
    for draw in (0, 17, 39):
        for word in range(len(data.attribute_words)):
            own = data.attribute == word
            at, group = (data.word[own], data.connection[own]), groups[data.word[own]]
            covariance = np.diag(scales.sigma2[draw, at[1]]) + scales.attribute[draw, data.class_index[word]]
            covariance += (scales.interaction[draw] if by_group else 0) * (group[:, None] == group)
            expected = stats.multivariate_normal(cells[draw][at], covariance).logpdf(data.y[own])
            assert found[draw, word] == pytest.approx(expected, abs=1e-10)


def test_without_effects_the_density_is_a_product_of_normals(plain_table):
    table = holed(plain_table)
    post, data = bb.fit(table, "published", draws=40, seed=0), Distances.read(table)
    pairs = bb.checks.add_log_likelihood(post)["log_likelihood/distance"].to_numpy().reshape(40, -1)
    expected = np.column_stack([pairs[:, data.attribute == at].sum(axis=1) for at in range(len(data.attribute_words))])
    for words in (np.arange(len(data.attribute_words)), np.array([3, 7])):
        densities = contrast.loo._word_densities(Fit(post), data, words)
        np.testing.assert_allclose(densities, expected[:, words], rtol=0, atol=1e-10)


def test_the_headline_of_a_plain_model_is_what_the_evidence_without_each_word_says(small_table, by_evidence):
    found = bb.checks.compare_models(small_table, ["published"], pairs=False).iloc[0]
    assert found["elpd_word"] == pytest.approx(by_evidence.sum(), abs=0.5)
    assert found["se_word"] == pytest.approx(np.sqrt(len(by_evidence)) * by_evidence.std(ddof=1), rel=0.02)
    assert found["log_evidence"] == pytest.approx(evidence(small_table), abs=1e-9)


def test_the_headline_of_a_crossed_model_is_what_its_scales_say(small_table):
    """1 / p(word | others) is the posterior mean over the scales of p(others | scales) / p(all | scales)."""
    seeds = range(6)  # one estimate of either kind has a standard error of about .4
    found = pd.concat([bb.checks.compare_models(small_table, ["crossed"], pairs=False, seed=seed) for seed in seeds])
    data, spec = Distances.read(small_table), bb.load_model("crossed")
    rest = [data.part(data.attribute != word) for word in range(len(data.attribute_words))]
    expected = np.empty((len(seeds), len(rest)))
    for seed in seeds:
        points = models.moments.scale_points(spec, data, np.random.default_rng(seed))
        densities = [
            models.moments._conditional_means(models.marginal.crossed_target(spec, one), points.theta)[0]
            for one in rest
        ]
        expected[seed] = [-logsumexp(one - points.log_density, b=points.weights) for one in densities]
    assert found["elpd_word"].mean() == pytest.approx(expected.sum(axis=1).mean(), abs=0.5)
    spread = np.sqrt(len(rest)) * expected.std(axis=1, ddof=1)
    assert found["se_word"].mean() == pytest.approx(spread.mean(), rel=0.03)


def test_a_high_pareto_k_calls_for_a_fit_without_the_word(small_table, by_evidence, monkeypatch):
    monkeypatch.setattr(contrast.loo, "MAX_PARETO_K", -np.inf)
    found = bb.checks.compare_models(small_table, ["published"], draws=400, pairs=False).iloc[0]
    assert found["elpd_word"] == pytest.approx(by_evidence.sum(), abs=1e-9)
    assert (found["bad_k_word"], found["unresolved_k_word"]) == (len(by_evidence), 0)
    # without an evidence the density is averaged over the fit without the word
    monkeypatch.setattr(contrast.loo, "fit", without_evidence)
    found = bb.checks.compare_models(small_table, ["published"], draws=2000, pairs=False).iloc[0]
    assert found["elpd_word"] == pytest.approx(by_evidence.sum(), abs=0.5)
    assert np.isnan(found["log_evidence"])


def test_a_word_that_no_fit_can_do_without_keeps_its_weights(plain_table, monkeypatch):
    alone = (plain_table["protected_word"] == "a 1") & (plain_table["connection"] == "human")
    only = plain_table["attribute_word"] == "human word 3"
    table = plain_table[~alone | only].assign(distance=plain_table["distance"] + 0.8 * (alone & only))
    resolved = bb.checks.compare_models(table, ["published"], pairs=False)
    assert (resolved["unresolved_k_word"].item(), resolved.attrs["notes"]) == (0, [])
    monkeypatch.setattr(contrast.loo, "fit", without_evidence)
    found = bb.checks.compare_models(table, ["published"], pairs=False)
    assert found["bad_k_word"].tolist() == resolved["bad_k_word"].tolist()
    assert found["unresolved_k_word"].tolist() == [1]
    assert np.isfinite(found["elpd_word"]).all()
    assert found.attrs["notes"] == ["published: Words with a high Pareto k that no refit could do without: 1."]


def test_the_model_that_made_the_data_wins(crossed_table):
    table = bb.checks.compare_models(crossed_table, ["published", "crossed"], pairs=False)
    assert table["model"].tolist() == ["crossed", "published"]
    assert table["engine"].tolist() == ["marginal", "exact"]
    best, other = table.iloc[0], table.iloc[1]
    assert (best["diff_word"], best["diff_se_word"]) == (0, 0)
    assert other["diff_word"] == pytest.approx(other["elpd_word"] - best["elpd_word"], abs=1e-9)
    assert other["diff_word"] < -4 * other["diff_se_word"]
    assert table[["elpd_pair", "se_pair", "bad_k_pair"]].isna().all(axis=None)
    assert table.attrs == {"notes": [], "seed": 0, "rows": len(crossed_table), "unit": "attribute"}


def test_effects_that_are_not_there_cost_no_more_than_noise(plain_table):
    table = bb.checks.compare_models(plain_table, ["published", "crossed"], pairs=False).set_index("model")
    lost = table.loc["published", "elpd_word"] - table.loc["crossed", "elpd_word"]
    assert abs(lost) < 2 * table["diff_se_word"].max() + 2


def test_pairs_are_left_out_as_arviz_does(small_table):
    from arviz_stats import loo

    found = bb.checks.compare_models(small_table, ["crossed_plain"], draws=1000).iloc[0]
    post = bb.checks.add_log_likelihood(bb.fit(small_table, "crossed_plain", draws=1000, seed=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # ArviZ says that some k are high
        expected = loo(post, pointwise=True, reff=1)
    assert found["elpd_pair"] == pytest.approx(expected.elpd, abs=1e-6)
    assert found["se_pair"] == pytest.approx(expected.se, abs=1e-6)
    assert found["bad_k_pair"] == int((expected.pareto_k > 0.7).sum())


def test_a_repeated_pair_counts_once_for_every_model(crossed_table):
    twice = crossed_table.loc[[*crossed_table.index, *range(40)]]
    found, once = (
        bb.checks.compare_models(table, ["published"], draws=400, pairs=False) for table in (twice, crossed_table)
    )
    pd.testing.assert_frame_equal(found, once)
    assert found.attrs["rows"] == len(crossed_table)
    assert found.attrs["notes"] == ["40 of 248 rows repeat a pair and were dropped for every model."]


def test_templates_are_averaged_as_a_fit_averages_them(plain_table):
    plain, shifts = pd.DataFrame(plain_table), {"A": 0.01, "B": -0.01}
    parts = [plain.assign(template=name, distance=plain["distance"] + by) for name, by in shifts.items()]
    found, mean = (
        bb.checks.compare_models(table, ["published"], draws=400, pairs=False)
        for table in (pd.concat(parts, ignore_index=True), plain)
    )
    pd.testing.assert_frame_equal(found, mean, rtol=1e-9)
    assert found.attrs["rows"] == len(plain)
    assert found.attrs["notes"] == ["Models are compared on means over templates (template), as they are fitted."]


def test_a_model_with_student_residuals_is_scored_by_pairs_only(crossed_table, monkeypatch):
    small = crossed_table.query("protected_word in ['a 0', 'b 0']")

    def fitted(table, spec, **options):
        """What NUTS would give for robust, near enough: the fit of crossed with degrees of freedom."""
        post = bb.fit(table, "crossed" if spec.name == "robust" else spec, **options)
        if spec.name == "robust":
            dims = ("chain", "draw")
            nu = np.random.default_rng(0).gamma(20, 1, [post["posterior"].sizes[name] for name in dims])
            post["posterior"] = post["posterior"].dataset.assign(nu=(dims, nu))
            post.attrs |= {"engine": "nuts", "model": "robust", "model_text": spec.text, "model_hash": spec.hash}
            del post.attrs["log_evidence"]
        return post

    monkeypatch.setattr(contrast.loo, "fit", fitted)
    found = bb.checks.compare_models(small, ["robust", "published"], draws=400).set_index("model")
    assert found.index.tolist() == ["published", "robust"]
    row = found.loc["robust"]
    assert row[[*OF_WORDS, "log_evidence"]].isna().all()
    assert np.isfinite(row[["elpd_pair", "se_pair"]].astype(float)).all()
    (note,) = found.attrs["notes"]
    assert note.startswith("robust: Its residuals or protected words are not normal")
    assert note.endswith("no elpd_word.")
    post = bb.checks.add_log_likelihood(fitted(small, bb.load_model("robust"), draws=400, seed=0))
    expected = post["log_likelihood/distance"].to_numpy().reshape(400, -1)
    density = models.families.family_of(Fit(post).spec).density(Fit(post))
    joined = np.hstack([density(part) for part in models.families.parts_of(expected.shape[1])])
    np.testing.assert_allclose(joined, expected, rtol=0, atol=1e-9)


def twice_with_another_distance(table):
    other = table.loc[[*table.index, 0]].reset_index(drop=True)
    other.loc[len(table), "distance"] = 0.1
    return other


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (None, {"models": "crossed"}, "models is 'crossed': give a list of at least one model"),
        (None, {"models": ["crossed", "crossed"]}, "two models are named 'crossed'"),
        (None, {"draws": 401}, "do not split evenly"),
        (lambda table: table.drop(columns="distance"), {}, "lacks the column distance"),
        (twice_with_another_distance, {}, "more than one distance; models are compared on pairs that count once"),
    ],
)
def test_wrong_input_is_refused(plain_table, change, options, message):
    table = change(plain_table) if change else plain_table
    with pytest.raises(bb.InputError, match=message):
        bb.checks.compare_models(table, **{"models": ["published"], **options})


class TestProtectedWords:
    """What leaving out protected words says of a model."""

    def test_the_density_is_that_of_the_joint_normal(self, small_table):
        """Published, one draw: a word's distances under a connection are normal with covariance sigma^2 I + s^2 11'."""
        post, data = bb.fit(small_table, "published", draws=4, seed=0), Distances.read(small_table)
        found = contrast.loo._protected_densities(Fit(post), data, np.arange(len(data.protected_words)))
        posterior = post["posterior"].dataset.isel(chain=0, draw=0)
        for at, word in enumerate(data.protected_words):
            expected = 0.0
            for k, name in enumerate(data.connections.tolist()):
                y = data.y[(data.word == at) & (data.connection == k)]
                here = posterior.sel(connection=name)
                covariance = float(here["sigma"]) ** 2 * np.eye(len(y)) + float(here["connection_sd"]) ** 2
                expected += stats.multivariate_normal.logpdf(
                    y, np.full(len(y), float(here["connection_mean"])), covariance
                )
            assert found[0, at] == pytest.approx(expected), word

    def test_published_equals_the_difference_of_log_evidences(self, plain_table):
        exact = left_out_by_evidence(plain_table, "protected_word")
        post, data = bb.fit(plain_table, "published", seed=0), Distances.read(plain_table)
        densities = contrast.loo._protected_densities(Fit(post), data, np.arange(len(exact)))
        found, k = contrast.loo._left_out(densities)
        assert (k < 0.7).sum() >= 6
        assert found[k < 0.7] == pytest.approx(exact[k < 0.7], abs=0.15)

    def test_crossed_equals_it_over_the_draws_of_a_fit_without_the_word(self, crossed_table):
        post, data = bb.fit(crossed_table, "crossed", seed=0), Distances.read(crossed_table)
        for at in (0, 5):
            rest = crossed_table[crossed_table["protected_word"] != data.protected_words[at]]
            without = bb.fit(rest, "crossed", draws=8000, seed=0)
            found = logsumexp(contrast.loo._protected_densities(Fit(without), data, np.array([at]))) - np.log(8000)
            assert found == pytest.approx(post.attrs["log_evidence"] - without.attrs["log_evidence"], abs=0.5)

    def test_the_true_model_comes_first(self, crossed_table):
        table = bb.checks.compare_models(
            crossed_table, ["published", "crossed"], draws=1000, pairs=False, unit="protected"
        )
        assert {name.replace("_word", "_protected") for name in OF_WORDS} <= set(table)
        assert not set(OF_WORDS) & set(table)
        assert table["model"].tolist() == ["crossed", "published"]
        assert table["diff_protected"][1] < -4 * table["diff_se_protected"][1] / 2
        assert table.attrs["unit"] == "protected"

    def test_single_pairs_alone(self, small_table):
        asked = {"models": ["published", "crossed"], "draws": 400}
        table = bb.checks.compare_models(small_table, **asked, unit="pair").set_index("model")
        assert not set(OF_WORDS) & set(table)
        both = bb.checks.compare_models(small_table, **asked).set_index("model")
        assert table["elpd_pair"].to_dict() == both["elpd_pair"].to_dict()
