"""Nobody would see that intervals do not hold the share of truths that they promise."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias import models
from bayesbias.checks.calibration import simulation
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError
from bayesbias.numerics import offsets

DRAWS = 199
SHAPE = {"groups": {"g": 4, "h": 4}, "stereotypes": {"g": 5, "h": 5}, "human": 8, "neutral": 10}
NULL = {"connection_mean": 0.93, "connection_sd": 0.02, "sigma": 0.05, "attribute_sd": 0.06, "interaction_sd": 0.02}


def ragged_table(sizes, words=6):
    """A ragged table, every distance 1: ``sizes`` of each connection, one fewer for every other protected word."""
    rows = [
        (f"p{word}", "gh"[word // 2 % 2], f"{connection}{i}", "c", connection, 1.0)
        for word in range(words)
        for connection, size in sizes.items()
        for i in range(size if word % 2 else max(1, size - 1))
    ]
    names = ["protected_word", "group", "attribute_word", "attribute_class", "connection", "distance"]
    return pd.DataFrame(rows, columns=names)


FEW = {"groups": {"g": 3, "h": 3}, "stereotypes": {"g": 2, "h": 1}, "human": 4}


@pytest.mark.study
# NUTS takes over in one of some two thousand of these small tables
@pytest.mark.filterwarnings("ignore:Pareto k of the importance weights was")
@pytest.mark.parametrize(
    ("model", "engine", "shape"),
    [
        ("published", "exact", ragged_table({"associated": 4, "neutral": 30})),
        ("published", "exact", ragged_table({"associated": 1, "different": 2})),
        ("pooled", "exact", ragged_table({"associated": 4, "neutral": 30})),
        ("pooled", "exact", ragged_table({"associated": 1, "different": 2})),
        ("crossed", "marginal", SHAPE),
        ("crossed_plain", "marginal", FEW),
    ],
)
def test_ranks_of_an_engine_are_uniform(model, engine, shape, sized):
    seed = {"exact": 20, "marginal": 22}[engine]
    found = bb.calibration.sbc(model, shape, sized(1000, 20), engine=engine, seed=seed, draws=DRAWS)
    assert (found.model, found.engine, found.draws) == (model, engine, DRAWS)
    table = found.uniformity
    assert table[["p_value", "ks_p_value"]].min(axis=None) > 0.01 / len(table)
    for row in table[~table["parameter"].str.contains("word|effect")].itertuples():
        replicates = len(next(iter(found.ranks.values())))
        in_last = round(row.last_5_percent * replicates)
        assert stats.binomtest(in_last, replicates, 0.05).pvalue > 1e-3, f"{row.parameter}: {in_last} in the last bin"


def test_a_wrong_engine_is_caught():
    """Ranks under a prior that the data were not drawn from are far from uniform: the tests above can fail."""
    spec, table = bb.load_model("published"), ragged_table({"associated": 2, "neutral": 4})
    wrong = spec.priors["sigma"].model_copy(update={"rate": 20.0})
    narrow, family = replace(spec, priors={**spec.priors, "sigma": wrong}), models.families.family_of(spec)
    data, rng, ranks = Distances.read(table), np.random.default_rng(0), []
    for _ in range(20):
        truth = family.drawn_truth(spec, data, rng)
        rows = table.assign(distance=family.drawn_distances(spec, truth, data, rng))
        post = bb.fit(bb.DistanceTable(rows, truth=truth), narrow, draws=99, chains=1, seed=1)
        ranks.append((post["posterior/sigma"].to_numpy()[0] < truth["sigma"]).sum(axis=0))
    found = simulation.Ranks("narrow", "exact", 99, {"sigma": np.array(ranks)}, None)
    assert found.uniformity["p_value"].max() < 1e-4
    assert found.uniformity["spread"].min() > 1.5


def test_the_spread_of_ranks_is_that_of_their_normal_scores():
    """Of ranks 0 and 3 of 3 draws the squared scores are 1.3233; the mean over all four values is .7124."""
    spread, p_value = simulation._spread_test(np.array([0, 3]), 3)
    squares = stats.norm.ppf([0.125, 0.375]) ** 2
    mean, variance = squares.mean(), squares.var()
    assert spread == pytest.approx(np.sqrt(squares[0] / mean), abs=1e-12)
    reference = stats.gamma(2 * mean**2 / variance, scale=variance / mean)
    assert p_value == pytest.approx(2 * reference.sf(2 * squares[0]), rel=1e-9)
    assert simulation._spread_test(np.arange(200), 199)[0] == pytest.approx(1, abs=1e-12)


def test_the_kolmogorov_smirnov_test_compares_shares_between_values():
    ranks = np.array([0, 0, 1, 3])  # shares .5, .75, .75, 1 beside .25, .5, .75, 1
    assert simulation._kolmogorov_smirnov(ranks, 3) == pytest.approx(stats.kstwo.sf(0.25, 4))


@pytest.mark.parametrize(
    ("width", "spread", "kolmogorov_smirnov"), [(1.0, (0.03, 0.07), (0.03, 0.07)), (0.75, (0.8, 0.92), (0.1, 0.3))]
)
def test_the_spread_of_ranks_sees_what_kolmogorov_smirnov_does_not(width, spread, kolmogorov_smirnov):
    """Rates of p < 5% among 1,000 calibrations of 60 tables, whose standard error is .7% for right engines."""
    rng = np.random.default_rng(1)
    p_values = []
    for _ in range(1000):
        ranks = rng.binomial(DRAWS, stats.norm.cdf(rng.standard_normal(60) / width))
        single = simulation._spread_test(ranks, DRAWS)[1]
        p_values.append((single, simulation._kolmogorov_smirnov(ranks, DRAWS)))
    rates = (np.array(p_values) < 0.05).mean(axis=0)
    for rate, (low, high) in zip(rates, (spread, kolmogorov_smirnov), strict=True):
        assert low < rate < high


def test_simulated_tables_have_the_truth_that_was_given():
    truth = {**NULL, "connection_mean": {"associated": 0.8, "different": 0.9, "human": 1.0, "neutral": 1.1}}
    shape = {"groups": {"g": 60, "h": 60}, "stereotypes": {"g": 80, "h": 80}, "human": 160, "neutral": 160}
    table, again = (bb.calibration.simulate(shape, "crossed", truth, seed=3) for _ in range(2))
    assert len(table) == 120 * 480
    means = table.groupby("connection")["distance"].mean()
    for name, mean in truth["connection_mean"].items():
        # the mean of a connection varies with its words' effects: .06 / sqrt(160) and .02 / sqrt(120)
        assert means[name] == pytest.approx(mean, abs=4 * np.hypot(0.06 / np.sqrt(160), 0.02 / np.sqrt(120)))
    assert table.truth["attribute_effect"].std() == pytest.approx(0.06, rel=0.15)
    assert table.truth["interaction_effect"].std() == pytest.approx(0.02, rel=0.15)
    residual = table["distance"] - table.groupby(["protected_word", "connection"])["distance"].transform("mean")
    assert residual.std() == pytest.approx(np.sqrt(0.05**2 + 0.06**2 + 0.02**2), rel=0.1)
    assert table["distance"].equals(again["distance"])
    effect = np.linspace(-0.1, 0.1, 28)
    table = bb.calibration.simulate(SHAPE, "crossed", NULL | {"attribute_effect": effect}, seed=1)
    assert np.array_equal(table.truth["attribute_effect"], effect)


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        ({"connection_mean": 0.9}, "lacks attribute_sd, connection_sd, interaction_sd, sigma"),
        (NULL | {"tau": 1}, "does not know tau"),
        (NULL | {"sigma": [1, 2]}, "give a number, 4 of them"),
        (NULL | {"sigma": {"associated": 1}}, "needed are associated, different, human, neutral"),
        (NULL | {"attribute_effect": [1.0]}, r"has the shape \(1,\), needed is \(28,\)"),
        (NULL | {"sigma": -0.05}, "sigma is -0.05: give numbers of at least 0"),
        (NULL | {"sigma": float("nan")}, "sigma is nan: give numbers of at least 0"),
        (NULL | {"sigma": "a"}, "sigma is 'a': give a number"),
        (NULL | {"connection_mean": float("inf")}, "connection_mean is inf: give finite numbers"),
    ],
)
def test_a_faulty_truth_is_refused(truth, message):
    with pytest.raises(InputError, match=message):
        bb.calibration.simulate(SHAPE, "crossed", truth)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ({}, "groups"),
        ({"groups": {"g": 2}, "words": 3}, "words"),
        ({"groups": {"g": 0}, "human": 2}, "0"),
        ({"groups": 5}, "groups of the shape is 5"),
        ({"groups": {"a": 3}}, "the shape has no attribute words"),
    ],
)
def test_a_faulty_shape_is_refused(shape, message):
    with pytest.raises(InputError, match=message):
        bb.calibration.simulate(shape, "crossed", NULL)


@pytest.mark.study
@pytest.mark.full
def test_false_alarms_are_counted_against_the_nominal_rate(sized):
    shape = {"groups": {"g": 8, "h": 8}, "stereotypes": {"g": 8, "h": 8}, "human": 20, "neutral": 20}
    replicates = sized(300, 40)
    found = bb.calibration.false_positive_rate(shape, NULL, replicates=replicates, seed=5)
    assert (found["replicates"] == replicates).all()
    assert found["nominal"].to_numpy() == pytest.approx(0.11)
    published, crossed = (
        found.set_index(["method", "contrast"]).loc[(method, "associated - neutral")]
        for method in ("published", "crossed")
    )
    assert published["rate"] > 0.25  # 8 + 8 words whose effects the model does not know of
    assert abs(crossed["rate"] - 0.11) < 3 * np.sqrt(0.11 * 0.89 / replicates)
    assert crossed["width"] > 1.5 * published["width"]
    smoothed = (replicates * crossed["rate"] + 0.5) / (replicates + 1)
    assert crossed["se"] == pytest.approx(np.sqrt(smoothed * (1 - smoothed) / replicates))


def test_what_has_no_rates_of_false_alarms_is_refused():
    with pytest.raises(InputError, match="without bias"):
        bb.calibration.false_positive_rate(SHAPE, NULL | {"connection_mean": [0.8, 0.9, 0.9, 0.9]}, replicates=1)
    with pytest.raises(InputError, match="the metric is 'mac'"):
        bb.calibration.false_positive_rate(SHAPE, NULL, metrics=["mac"], replicates=1)
    with pytest.raises(InputError, match="intercept"):
        bb.calibration.sbc("baseline", ragged_table({"associated": 2}), 1)


@pytest.mark.study
def test_planted_contrasts_are_covered_and_seen(sized):
    replicates = sized(300, 25)
    truth = NULL | {"connection_mean": {"associated": 0.7, "different": 0.9, "human": 0.9, "neutral": 0.9}}
    found = bb.calibration.coverage_study(SHAPE, truth, ["crossed"], replicates=replicates, seed=2)
    crossed = found[found["method"] == "crossed"].set_index("contrast")
    assert crossed["planted"].to_dict() == pytest.approx(dict.fromkeys(crossed.index, -0.2))
    assert (crossed["power"] == 1).all()
    assert (crossed["coverage"] > 0.89 - 3 * np.sqrt(0.89 * 0.11 / replicates)).all()


def test_the_real_null_keeps_words_and_breaks_the_lists(religion):
    rate = bb.calibration.null_false_positive_rate
    found, again = (rate(religion, ["published"], replicates=12, seed=1) for _ in range(2))
    assert set(found["contrast"]) == {"associated - different", "associated - neutral"}
    assert set(found["method"]) == {"published", "cluster", "weat", "t_test"}
    assert found.equals(again)
    with pytest.raises(InputError, match="source is 'associated'"):
        rate(religion, replicates=1, source="associated")
    neutral = religion.loc[religion["connection"].eq("neutral"), "attribute_word"].iloc[0]
    few = religion[~religion["connection"].eq("neutral") | religion["attribute_word"].eq(neutral)]
    with pytest.raises(InputError, match="the pseudo lists take"):
        rate(few, replicates=1)
    with pytest.raises(InputError, match="group of each protected word"):
        rate(religion.drop(columns="group"), replicates=1)


def test_the_permutation_test_of_two_groups_is_weat():
    """Exact: all 70 ways to deal 8 words into two groups of 4, against the sampled p-value."""
    from itertools import combinations

    table = bb.calibration.simulate(SHAPE, "crossed", NULL, seed=8)
    own = table[table["connection"].isin(["associated", "different"])]
    wide = own.pivot_table(index="protected_word", columns="attribute_class", values="distance")
    s = (wide["h"] - wide["g"]).to_numpy()  # closeness to the stereotypes of g; rows are sorted, g first
    every = [s[list(x)].sum() - np.delete(s, list(x)).sum() for x in combinations(range(8), 4)]
    observed = s[:4].sum() - s[4:].sum()
    exact = np.mean(np.abs(every) >= abs(observed) - 1e-12)
    sampled = simulation._permutation_p(Distances.read(table), np.random.default_rng(0), permutations=20_000)
    assert sampled == pytest.approx(exact, abs=4 * np.sqrt(0.25 / 20_000))


def test_the_real_null_draws_from_a_pool_and_adjusts(religion):
    def rates(**options):
        return bb.calibration.null_false_positive_rate(religion, ["crossed"], 2, seed=1, metrics=(), **options)

    neutral = religion.loc[religion["connection"] == "neutral", "attribute_word"].unique()
    counts = {word: 10.0 + at for at, word in enumerate(religion["attribute_word"].unique())}
    whole, part = rates(), rates(pool=neutral[:60])
    pd.testing.assert_frame_equal(rates(pool=neutral), whole)
    adjusted = rates(pool=neutral[:60], adjust="frequency", frequencies=counts)
    assert not np.allclose(part["width"], whole["width"])
    assert not np.allclose(adjusted["width"], part["width"])
    with pytest.raises(InputError, match="from 3 of the"):
        rates(pool=neutral[:3])


def test_intervals_of_three_words_are_neither_twice_too_wide_nor_too_narrow():
    """One draw of a study (benchmarks/validity/simulated_tables.py) whose rates were 0 to 4% under Exponential(2)."""
    shape = {"groups": {"g": 2, "h": 1}, "stereotypes": {"g": 4, "h": 4}, "human": 8}
    scales = {
        "connection_sd": {"associated": 0.054, "different": 0.05, "human": 0.045},
        "sigma": 0.066,
        "attribute_sd": {"stereotype": 0.077, "human": 0.06},
        "interaction_sd": 0.012,
        "connection_mean": 0.9,
    }
    found = bb.calibration.false_positive_rate(shape, scales, ("crossed",), (), 60, seed=5).set_index("contrast")
    assert found.loc[["associated - different", "associated - human"], "rate"].between(0.03, 0.22).all()
    assert found.loc["associated - different", "width"] < 0.25


@pytest.mark.nuts
@pytest.mark.full
def test_heavier_tails_shrink_an_extreme_word_less():
    shape = {"groups": {"g": 8, "h": 7}, "stereotypes": {"g": 6, "h": 6}, "human": 8}
    means = 0.9 + 0.02 * np.random.default_rng(0).standard_normal((15, 3))
    means[0, 0] = 0.5
    scales = {"connection_sd": 0.02, "sigma": 0.1, "attribute_sd": 0.05, "interaction_sd": 0.01, "connection_mean": 0.9}
    table = bb.calibration.simulate(shape, "crossed", scales | {"word_mean": means}, seed=0)
    crossed, heavy = (bb.fit(table, model, draws=400, chains=2, seed=0) for model in ("crossed", "crossed_t"))
    apart = [abs(float(post["posterior/word_mean"].mean(("chain", "draw"))[0, 0]) - 0.5) for post in (crossed, heavy)]
    assert apart[1] < apart[0]
    nu = heavy["posterior/word_nu"]
    assert nu.dims == ("chain", "draw")
    assert float(nu.median()) < 20
    assert heavy.attrs["engine"] == "nuts"
    with pytest.raises(InputError, match="protected words are not normal around their connection; use auto or nuts"):
        bb.fit(table, "crossed_t", engine="marginal")


@pytest.mark.study
@pytest.mark.filterwarnings("ignore:Pareto k of the importance weights")  # says that NUTS drew the scales instead
@pytest.mark.parametrize("name", list(bb.calibration.prior_analyses()))
def test_printed_intervals_hold_truths_of_their_own_prior(name, sized):
    quick = name in ("places", "audit", "pool", "trend", "multiverse")
    found = bb.calibration.prior_check(name, sized(400, 40 if quick else 6), seed=3)
    table = found.table()
    assert (table["analysis"] == name).all()
    assert (table["intervals"] >= table["replicates"]).all()
    wide = 4 * table["se"]
    assert ((table["covered"] - table["level"]).abs() < wide).all(), table


def test_a_prior_check_catches_a_density_of_another_variable(monkeypatch):
    """Nodes even in the logarithm with the density of the scale itself: intervals of few pairs were too narrow."""
    found = bb.calibration.prior_check("audit", 150, seed=0)
    assert found.doubted.empty
    assert "None is more than three standard errors from 89%" in found.text()
    right = offsets.log_half_cauchy
    drawn = offsets.drawn_signal

    def without_jacobian(scale, width):
        return right(scale, width) - np.log(scale)

    def from_the_prior(size, rng):
        with monkeypatch.context() as own:
            own.setattr(offsets, "log_half_cauchy", right)
            return drawn(size, rng)

    monkeypatch.setattr("bayesbias.second_stage.prior_checks.drawn_signal", from_the_prior)
    monkeypatch.setattr(offsets, "log_half_cauchy", without_jacobian)
    wrong = bb.calibration.prior_check("audit", 150, seed=0)
    assert wrong.doubted["quantity"].tolist() == ["place"]
    assert wrong.rows["covered"][0] < found.rows["covered"][0] - 0.02
    assert "More than three standard errors from 89%: audit, place" in wrong.text()


def test_an_analysis_adds_itself(monkeypatch):
    monkeypatch.setattr("bayesbias.second_stage.prior_checks._ANALYSES", {})

    @bb.calibration.prior_analysis("mean of ten")
    def mean_of_ten(rng, prob):
        truth = (rng.normal() + rng.standard_normal(10).mean()) * 10 / 11
        reach = stats.norm.ppf((1 + prob) / 2) / np.sqrt(11)
        yield bb.calibration.Interval("mean", truth + rng.standard_normal() / np.sqrt(11), truth - reach, truth + reach)

    row = bb.calibration.prior_check(replicates=400, prob=0.8).table().iloc[0]
    assert (row["analysis"], row["level"], row["replicates"], row["intervals"]) == ("mean of ten", 0.8, 400, 400)
    assert row["covered"] == pytest.approx(0.8, abs=4 * row["se"])
    assert row["se"] == pytest.approx(np.sqrt(0.16 / 400), rel=0.1)
    with pytest.raises(InputError, match="mean of ten"):
        bb.calibration.prior_check("mean")
