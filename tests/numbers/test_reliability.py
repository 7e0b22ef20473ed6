"""Reliability: coefficients by hand and by pingouin, scores by hand, variance components by simulation and NUTS."""

import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from gensim.models import KeyedVectors
from scipy.stats import chisquare, pearsonr

import bayesbias as bb
from bayesbias import numerics, reliability
from bayesbias.checks import variance_components

RATINGS = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], dtype=float)
"""Four judges of six targets: Shrout and Fleiss (1979), table 2."""
DIMS = ("measure", "target", "base_pair", "seed")


def array(values, **attrs):
    coords = {dim: [f"{dim[0]}{at}" for at in range(size)] for dim, size in zip(DIMS, values.shape, strict=True)}
    return xr.DataArray(values, dims=DIMS, coords=coords, attrs=attrs)


@pytest.fixture(scope="module")
def scores():
    """Two measures, eight targets, five pairs, three seeds: target and pair effects, and noise."""
    rng = np.random.default_rng(0)
    target, pair = rng.normal(size=(8, 1, 1)), rng.normal(size=(1, 5, 1))
    seed = 0.3 * rng.normal(size=(8, 5, 3))
    first = target + 0.5 * pair + seed
    return array(np.stack([first, 4 * first + rng.normal(size=first.shape)]))


def test_published_table_of_shrout_and_fleiss():
    expected = [0.17, 0.29, 0.71, 0.44, 0.62, 0.91]
    for form, value in zip(numerics.components.FORMS, expected, strict=True):
        assert numerics.components.icc(RATINGS, form, 0.95).value == pytest.approx(value, abs=0.005)
    squares = numerics.components._mean_squares(RATINGS)
    assert squares.rows == pytest.approx(11.24, abs=0.005)
    assert squares.columns == pytest.approx(32.49, abs=0.005)
    assert squares.error == pytest.approx(1.02, abs=0.005)
    assert squares.within == pytest.approx(6.26, abs=0.005)


def test_pingouin_agrees():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pingouin
    rng = np.random.default_rng(1)
    for ratings in (RATINGS, rng.normal(size=(9, 3)), rng.normal(size=(7, 5)) + 2 * rng.normal(size=(7, 1))):
        rows, columns = np.indices(ratings.shape)
        long = pd.DataFrame({"row": rows.ravel(), "column": columns.ravel(), "rating": ratings.ravel()})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = pingouin.intraclass_corr(long, "row", "column", "rating")
        for form, (_, row) in zip(numerics.components.FORMS, theirs.iterrows(), strict=True):
            ours = numerics.components.icc(ratings, form, 0.95)
            assert ours.value == pytest.approx(row["ICC"], abs=1e-12)
            np.testing.assert_allclose([ours.low, ours.high], row["CI95"], atol=0.0051)
        value, ends = pingouin.cronbach_alpha(pd.DataFrame(ratings))
        ours = numerics.components.icc(ratings, "ICC(3,k)", 0.95)
        assert ours.value == pytest.approx(value, abs=1e-12)
        np.testing.assert_allclose([ours.low, ours.high], ends, atol=0.00051)


@pytest.mark.parametrize("form", ["ICC(2,1)", "ICC(3,1)"])
def test_intervals_cover(form):
    """89% intervals of the coefficient of 4,000 simulated tables."""
    rng = np.random.default_rng(2)
    rows, columns, error = 1.0, 0.3 if form == "ICC(2,1)" else 0.0, 0.6
    tables = (
        rows**0.5 * rng.normal(size=(4000, 12, 1))
        + columns**0.5 * rng.normal(size=(4000, 1, 6))
        + error**0.5 * rng.normal(size=(4000, 12, 6))
    )
    truth = rows / (rows + columns + error)
    found = numerics.components.icc(tables, form, 0.89)
    covered = np.mean((found.low < truth) & (truth < found.high))
    assert covered == pytest.approx(0.89, abs=0.02)


def test_many_tables_at_once_are_each_alone():
    rng = np.random.default_rng(3)
    tables = rng.normal(size=(2, 3, 6, 4))
    for form in numerics.components.FORMS:
        together = numerics.components.icc(tables, form, 0.89)
        for at in np.ndindex(2, 3):
            apart = numerics.components.icc(tables[at], form, 0.89)
            np.testing.assert_allclose([end[at] for end in together], apart, rtol=1e-12)


@pytest.mark.parametrize("shape", [(5, 3), (3, 2), (10, 4)])
def test_intervals_are_in_order_even_where_nothing_is_reliable(shape):
    tables = np.random.default_rng(11).normal(size=(3000, *shape))
    for form in numerics.components.FORMS:
        found = numerics.components.icc(tables, form, 0.89)
        known = ~np.isnan(found.low)
        assert known.mean() > (0.5 if form.startswith("ICC(2") else 0.999)
        assert (found.low <= found.value + 1e-12)[known].all()
        assert (found.value <= found.high + 1e-12)[known].all()
        assert (found.high <= 1)[known].all()


def test_coefficients_without_an_interval_say_why():
    alike = array(np.stack([np.arange(6.0)[:, None, None] + np.array([0.0, 1.0, 5.0]) + np.zeros((6, 4, 3))]))
    rows = bb.reliability.retest_reliability(
        alike.transpose("measure", "base_pair", "target", "seed").rename({"target": "base_pair", "base_pair": "target"})
    )
    assert rows["low"].isna().all()
    assert rows["reason"].str.startswith("its interval is not known").all()
    even = np.array([[1.0, -1.0], [-1.0, 1.0], [2.0, -2.0]])
    table = bb.reliability.internal_consistency(array(even.T[None, :, :, None]))
    assert table["value"].item() == -np.inf
    assert table["reason"].item().startswith("the mean scores do not vary")


def test_degenerate_tables():
    with np.errstate(all="raise"):
        same = np.full((4, 3), 0.1)
        assert all(np.isnan(numerics.components.icc(same, form, 0.89).value) for form in numerics.components.FORMS)
        alike = np.tile([[1.0], [2.0], [4.0]], 3)
        assert all(numerics.components.icc(alike, form, 0.89).value == 1 for form in numerics.components.FORMS)
        np.testing.assert_array_equal(numerics.components.icc(alike, "ICC(2,1)", 0.89), [1, 1, 1])
        shifted = alike + np.array([0.0, 1.0, 5.0])
        assert numerics.components.icc(shifted, "ICC(3,1)", 0.89).value == 1
        assert 0 < numerics.components.icc(shifted, "ICC(2,1)", 0.89).value < 1


def test_retest_by_hand(scores):
    table = bb.reliability.retest_reliability(scores)
    assert list(table.columns) == ["measure", "label", "value", "low", "high", "reason"]
    assert len(table) == 16
    row = table.set_index(["measure", "label"]).loc[("m1", "t3")]
    assert row["value"] == numerics.components.icc(scores.to_numpy()[1, 3], "ICC(2,1)", 0.89).value
    assert row["low"] < row["value"] < row["high"]
    pairs = bb.reliability.retest_reliability(scores, of="base_pair", form="ICC(1,k)", prob=0.5)
    assert pairs.set_index(["measure", "label"]).loc[("m0", "b2"), "value"] == pytest.approx(
        numerics.components.icc(scores.to_numpy()[0, :, 2], "ICC(1,k)", 0.5).value, abs=1e-12
    )


def test_order_and_selection_keep_labels(scores):
    chosen = ["t5", "t1"]
    part = bb.reliability.retest_reliability(scores.sel(target=chosen)).set_index(["measure", "label"])["value"]
    whole = bb.reliability.retest_reliability(scores).set_index(["measure", "label"])["value"]
    np.testing.assert_allclose(part, whole[part.index], rtol=1e-12)
    turned = bb.reliability.retest_reliability(scores.transpose("seed", "target", "measure", "base_pair"))
    np.testing.assert_allclose(turned["value"], bb.reliability.retest_reliability(scores)["value"], rtol=1e-12)


def test_raters_of_other_units_agree_once_standardised(scores):
    raw = bb.reliability.inter_rater_consistency(scores)
    scaled = bb.reliability.inter_rater_consistency(scores, standardise=True)
    assert list(raw.columns) == ["label", "value", "low", "high", "reason"]
    assert scaled["value"].mean() > raw["value"].mean() + 0.1
    again = scores.copy(data=scores.to_numpy() * np.array([1, 100])[:, None, None, None])
    np.testing.assert_allclose(
        bb.reliability.inter_rater_consistency(again, of="base_pair", standardise=True)["value"],
        bb.reliability.inter_rater_consistency(scores, of="base_pair", standardise=True)["value"],
    )


def test_alpha_by_hand(scores):
    queries = {"first": ["t0", "t1", "t2", "absent"], "rest": ["t3", "t4"]}
    table = bb.reliability.internal_consistency(scores, queries=queries)
    items = scores.to_numpy()[0].mean(axis=2)[:3].T
    k, covariance = 3, np.cov(items, rowvar=False)
    by_hand = k / (k - 1) * (1 - np.trace(covariance) / covariance.sum())
    assert table.iloc[0]["value"] == pytest.approx(by_hand, abs=1e-12)
    assert table.attrs["notes"][0] == "1 words of first have no scores: absent."
    correlation = np.corrcoef(items, rowvar=False)
    r = correlation[np.triu_indices(3, 1)].mean()
    scaled = bb.reliability.internal_consistency(scores, queries=queries, standardise=True)
    assert scaled.iloc[0]["value"] == pytest.approx(3 * r / (1 + 2 * r), abs=1e-12)
    pairs = bb.reliability.internal_consistency(scores, of="base_pair")
    assert pairs["label"].unique().tolist() == ["all"]
    assert pairs.iloc[0]["value"] == pytest.approx(
        numerics.components.icc(scores.to_numpy()[0].mean(axis=2), "ICC(3,k)", 0.89).value, abs=1e-12
    )


def test_constant_scores_have_no_reliability_and_say_why():
    flat = array(np.ones((2, 3, 4, 2)))
    for table in (
        bb.reliability.retest_reliability(flat),
        bb.reliability.inter_rater_consistency(flat),
        bb.reliability.internal_consistency(flat),
    ):
        assert table["value"].isna().all()
        assert table["reason"].str.startswith("the scores do not vary").all()
    with pytest.raises(bb.InputError, match="scores of m0 do not vary"):
        bb.reliability.variance_components(flat)


WRONG = {
    "one seed": (bb.reliability.retest_reliability, lambda s: s.isel(seed=[0]), {}, "one seed only"),
    "one rater": (bb.reliability.inter_rater_consistency, lambda s: s.isel(measure=[0]), {}, "one measure only"),
    "one pair": (bb.reliability.retest_reliability, lambda s: s.isel(base_pair=[0]), {}, "one base pair only"),
    "one target": (
        bb.reliability.retest_reliability,
        lambda s: s.isel(target=[0]),
        {"of": "base_pair"},
        "one target only",
    ),
    "no scores": (
        bb.reliability.retest_reliability,
        lambda s: s.to_numpy(),
        {},
        "given is ndarray: give what bias_scores returns",
    ),
    "other dims": (
        bb.reliability.retest_reliability,
        lambda s: s.rename(seed="model"),
        {},
        "given is dims measure, target",
    ),
    "of": (bb.reliability.retest_reliability, lambda s: s, {"of": "seed"}, "of is 'seed': valid are target, base_pair"),
    "form": (bb.reliability.retest_reliability, lambda s: s, {"form": "ICC(4,1)"}, r"form is 'ICC\(4,1\)'"),
    "prob": (bb.reliability.internal_consistency, lambda s: s, {"prob": 89}, "prob is 89"),
    "NaN": (bb.reliability.retest_reliability, lambda s: s.where(s > s.mean()), {}, "hold NaN or infinite numbers"),
    "a query without words": (
        bb.reliability.internal_consistency,
        lambda s: s,
        {"queries": {"q": ["t0", "x"]}},
        "1 of the 2 words",
    ),
    "queries that are a list": (
        bb.reliability.internal_consistency,
        lambda s: s,
        {"queries": ["t0"]},
        "give a mapping of names",
    ),
    "a query that is a word": (
        bb.reliability.internal_consistency,
        lambda s: s,
        {"queries": {"a": "sew"}},
        "no word list 'sew'",
    ),
    "a constant measure": (
        bb.reliability.inter_rater_consistency,
        lambda s: s.where(s["measure"] == "m0", 0.0),
        {"standardise": True},
        "the scores of m1 do not vary and cannot be standardised",
    ),
    "many gaps": (
        bb.reliability.variance_components,
        lambda s: s.isel(target=np.arange(400) % 8).where(s.isel(target=np.arange(400) % 8) > s.min()),
        {},
        "which takes hours for so many",
    ),
    "no query": (bb.reliability.internal_consistency, lambda s: s, {"queries": {}}, "queries is empty"),
    "no facets": (
        bb.reliability.variance_components,
        lambda s: s.isel(target=[0], seed=[0], measure=[0]),
        {},
        "vary by base_pair only",
    ),
    "gaps": (
        bb.reliability.variance_components,
        lambda s: s.where(s > s.min()),
        {"engine": "marginal"},
        "there are gaps",
    ),
    "engine": (bb.reliability.variance_components, lambda s: s, {"engine": "exact"}, "engine is 'exact'"),
}


@pytest.mark.parametrize(("function", "change", "options", "message"), WRONG.values(), ids=WRONG.keys())
def test_wrong_input(scores, function, change, options, message):
    with pytest.raises(bb.InputError, match=message):
        function(change(scores), **options)


@pytest.fixture(scope="module")
def kvs():
    rng = np.random.default_rng(4)
    words = [*(f"w{at}" for at in range(40)), "he", "she", "man", "woman"]
    made = []
    for _ in range(3):
        kv = KeyedVectors(8, count=0)
        kv.add_vectors(words, rng.normal(size=(len(words), 8)).astype(np.float32))
        made.append(kv)
    return made


def test_scores_by_hand(kvs):
    found = bb.reliability.bias_scores(kvs, ["w0", "w1"], [("he", "she"), ("man", "woman")], neighbours=7)
    assert found.dims == DIMS
    assert found.sizes == {"measure": 3, "target": 2, "base_pair": 2, "seed": 3}
    kv = kvs[1]
    unit = kv.vectors.astype(float) / np.linalg.norm(kv.vectors.astype(float), axis=1, keepdims=True)
    at = kv.key_to_index
    apart = unit[at["man"]] - unit[at["woman"]]
    cell = {"target": "w1", "base_pair": "man/woman", "seed": 1}
    assert found.sel(measure="db_wa", **cell) == pytest.approx(unit[at["w1"]] @ apart, abs=1e-7)
    raw = kv["man"].astype(float) - kv["woman"].astype(float)
    ripa = kv["w1"].astype(float) @ raw / np.linalg.norm(raw)
    assert found.sel(measure="ripa", **cell) == pytest.approx(ripa, abs=1e-7)
    theirs = bb.reliability.bias_scores(kvs, ["w0", "w1"], [("man", "woman")], "ripa", compat="published")
    length = np.linalg.norm(kv["w1"].astype(float))
    assert theirs.sel(target="w1", seed=1).item() == pytest.approx(ripa / length, abs=1e-7)
    near = [word for word, _ in kv.most_similar("w1", topn=7)]
    sides = [np.sign(unit[at[word]] @ apart) for word in near]
    assert found.sel(measure="nbm", **cell) == pytest.approx(np.mean(sides), abs=1e-12)


def test_missing_words_and_pairs_are_said(kvs):
    found = bb.reliability.bias_scores(kvs[:2], ["w0", "absent", "w0"], [("he", "she"), ("king", "queen")], "db_wa")
    assert found.sizes == {"measure": 1, "target": 1, "base_pair": 1, "seed": 2}
    assert found.attrs["notes"] == (
        "1 of 2 target words are left out, since some embedding lacks them: absent.",
        "1 of 2 base pairs are left out, since some embedding lacks them: king/queen.",
    )


def test_labels_of_seeds(kvs):
    settings = {("toy", "sgns", 8, 5 + at): kv for at, kv in enumerate(kvs)}
    assert bb.reliability.bias_scores(settings, ["w0"], [("he", "she")], "db_wa")["seed"].to_numpy().tolist() == [
        5,
        6,
        7,
    ]
    named = dict(zip("abc", kvs, strict=True))
    assert bb.reliability.bias_scores(named, ["w0"], [("he", "she")], "db_wa")["seed"].to_numpy().tolist() == [
        "a",
        "b",
        "c",
    ]
    with pytest.raises(bb.InputError, match="2 different settings"):
        bb.reliability.bias_scores(
            {("toy", "sgns", 8, 1): kvs[0], ("toy", "cbow", 8, 1): kvs[1]}, ["w0"], [("he", "she")]
        )


def test_embeddings_that_cannot_be_seeds_are_refused(kvs):
    with pytest.raises(bb.InputError, match="embedding 0 and embedding 2 hold the same vectors"):
        bb.reliability.bias_scores([kvs[0], kvs[1], kvs[0]], ["w0"], [("he", "she")])
    other = KeyedVectors(5, count=0)
    other.add_vectors(kvs[0].index_to_key, np.ones((44, 5), dtype=np.float32))
    with pytest.raises(bb.InputError, match="different numbers of dimensions"):
        bb.reliability.bias_scores([kvs[0], other], ["w0"], [("he", "she")])


WRONG_SCORES = {
    "measure": ({"measures": ("db_wa", "weat")}, "measures is 'weat': valid are db_wa, ripa, nbm"),
    "no measure": ({"measures": ()}, "no measure was given"),
    "neighbours": ({"neighbours": 44}, "neighbours is 44: give a whole number from 1 to 43"),
    "targets": ({"targets": ["none"]}, "share none of the 1 target words"),
    "one string": ({"targets": [1]}, "targets is"),
    "no pair of words": ({"pairs": [("he",)]}, r"pairs holds \('he',\)"),
    "pairs": ({"pairs": [("king", "queen")]}, "share none of the 1 base pairs"),
    "no pairs": ({"pairs": []}, "give pairs of two words"),
    "compat": ({"compat": "wefe"}, "compat is 'wefe'"),
    "pairs for targets": ({"targets": "gender_pairs"}, "give words, or the name of a list of words"),
    "one vector twice": (
        {"pairs": [("he", "he")], "measures": "ripa"},
        "the words of the pair he/he have one vector",
    ),
}


@pytest.mark.parametrize(("options", "message"), WRONG_SCORES.values(), ids=WRONG_SCORES.keys())
def test_wrong_scores(kvs, options, message):
    with pytest.raises(bb.InputError, match=message):
        bb.reliability.bias_scores(kvs, **{"targets": ["w0", "w1"], "pairs": [("he", "she")]} | options)


def subsets(facets):
    return [chosen for size in range(1, facets + 1) for chosen in combinations(range(facets), size)]


def simulated(sizes, sds, rng):
    """A crossed array with effects of given standard deviations, and those of the effects as they came out."""
    components = subsets(len(sizes))
    meant, finite_population = np.zeros(sizes), []
    for component, sd in zip(components[:-1], sds, strict=False):
        meant += sd * rng.normal(size=[size if axis in component else 1 for axis, size in enumerate(sizes)])
    for component in components:
        effect = meant.mean(axis=tuple(axis for axis in range(len(sizes)) if axis not in component), keepdims=True)
        for axis in component:
            effect = effect - effect.mean(axis=axis, keepdims=True)
        finite_population.append(np.sqrt((effect**2).sum() / np.prod([sizes[axis] - 1 for axis in component])))
    return meant + sds[-1] * rng.normal(size=sizes), np.array(finite_population)


def test_sums_of_squares_hold_the_likelihood():
    """Against the normal density of the contrasts of the whole array: equal up to a constant."""
    rng = np.random.default_rng(5)
    sizes = (3, 4, 2)
    y = rng.normal(size=sizes)
    sums = numerics.components.facet_sums(y, subsets(3))
    contrasts = np.linalg.svd(np.eye(y.size) - 1 / y.size)[0][:, : y.size - 1]

    def restricted(variances):
        covariance = np.zeros((y.size, y.size))
        for component, variance in zip(sums.components, variances, strict=True):
            blocks = [np.eye(size) if axis in component else np.ones((size, size)) for axis, size in enumerate(sizes)]
            covariance += variance * np.kron(np.kron(blocks[0], blocks[1]), blocks[2])
        left = contrasts.T @ covariance @ contrasts
        z = contrasts.T @ y.ravel()
        return -0.5 * (np.linalg.slogdet(left)[1] + z @ np.linalg.solve(left, z))

    points = rng.uniform(0.1, 2, size=(4, len(sums.components)))
    apart = sums.log_likelihood(points) - [restricted(point) for point in points]
    np.testing.assert_allclose(apart, apart[0], atol=1e-10)


@pytest.mark.full
def test_components_are_calibrated():
    """Ranks of the true standard deviations among the posterior's, 400 arrays from the prior: uniform."""
    rng = np.random.default_rng(6)
    sizes, ranks = (5, 4, 3), []
    for _ in range(400):
        sds = variance_components.PRIOR.from_normal(rng.normal(size=7))
        y, finite_population = simulated(sizes, sds, rng)
        drawn = variance_components._draw_by_marginal(numerics.components.facet_sums(y, subsets(3)), 1, 199, rng)
        assert not drawn.faults
        ranks.append(
            np.concatenate(
                [(drawn.sds[0] < sds).sum(axis=0), (drawn.finite_population[0] < finite_population).sum(axis=0)[:-1]]
            )
        )
    counts = np.stack([np.bincount(np.array(ranks)[:, at] // 20, minlength=10) for at in range(13)])
    p = chisquare(counts, axis=1).pvalue
    assert p.min() > 0.001
    assert np.median(p) > 0.1


def test_coefficients_by_hand():
    components = (frozenset({"target"}), frozenset({"base_pair"}), frozenset({"target", "base_pair"}))
    variances = np.array([[4.0, 1.0, 2.0]])
    relative = reliability.components._coefficient(
        variances, components, reliability.components.MeasurementDesign("target", {"base_pair": 4})
    )
    assert relative == pytest.approx(4 / 4.5)
    absolute = reliability.components._coefficient(
        variances, components, reliability.components.MeasurementDesign("target", {"base_pair": 4}, absolute=True)
    )
    assert absolute == pytest.approx(4 / 4.75)
    assert (
        reliability.components._needed(
            variances, components, reliability.components.MeasurementDesign("target", {}), "base_pair", 0.75
        )
        == 2
    )
    assert (
        reliability.components._needed(
            variances, components, reliability.components.MeasurementDesign("target", {}), "base_pair", 0.9
        )
        == 5
    )
    assert (
        reliability.components._needed(
            np.array([[0.0, 1.0, 2.0]]),
            components,
            reliability.components.MeasurementDesign("target", {}),
            "base_pair",
            0.75,
        )
        == np.inf
    )


def test_posterior_coefficients_stand_by_the_estimates():
    """Large arrays: the posterior of a coefficient is that of the ratings' own."""
    rng = np.random.default_rng(7)
    y, _ = simulated((60, 40, 8), [1.0, 0.5, 0.2, 0.4, 0.3, 0.2, 0.5], rng)
    scores = array(y[None])
    found = (
        bb.reliability.variance_components(scores, draws=2000, seed=1).reliability().set_index(["coefficient", "of"])
    )
    assert found.loc[("test-retest", "base_pair"), "mean"] == pytest.approx(
        bb.reliability.retest_reliability(scores, of="base_pair")["value"].mean(), abs=0.02
    )
    assert found.loc[("internal", "query"), "mean"] == pytest.approx(
        bb.reliability.internal_consistency(scores)["value"].item(), abs=0.02
    )
    assert found.loc[("internal", "base_pair"), "mean"] == pytest.approx(
        bb.reliability.internal_consistency(scores, of="base_pair")["value"].item(), abs=0.005
    )


def test_decisions():
    rng = np.random.default_rng(8)
    scores = array(simulated((40, 12, 6), [1.0, 0.3, 0.1, 1.0, 0.3, 0.1, 0.3], rng)[0][None])
    post = bb.reliability.variance_components(scores, draws=2000, seed=1)
    table = post.decision(base_pairs=(1, 4, 40), seeds=(1, 3))
    assert list(table.columns) == ["base_pairs", "seeds", "mean", "low", "high", "p_reliable"]
    truth = {(1, 1): 1 / (1 + 1 + 0.09 + 0.09), (40, 3): 1 / (1 + 1 / 40 + 0.03 + 0.09 / 120)}
    found = table.set_index(["base_pairs", "seeds"])
    for key, value in truth.items():
        assert found.loc[key, "low"] < value < found.loc[key, "high"]
    assert found["mean"].is_monotonic_increasing
    few = post.needed(seeds=1)
    assert few["low"] <= few["median"] <= few["high"]
    exact = np.ceil((1 + 0.09) / (1 / 3 - 0.09))
    assert few["low"] <= exact <= few["high"]
    assert post.needed(seeds=1, threshold=0.99)["p_never"] > 0.99
    assert "base_pairs" in post.decision(1, 1).columns
    assert "targets" in post.decision(1, 1, of="base_pair").columns
    with pytest.raises(bb.InputError, match="of is 'seed'"):
        post.decision(of="seed")


def test_raw_scores_keep_their_unit():
    rng = np.random.default_rng(9)
    y, _ = simulated((30, 20), [1.0, 0.5, 0.3], rng)
    one = bb.reliability.variance_components(array(y[None, :, :, None]), standardise=False, draws=1000, seed=1).table()
    ten = bb.reliability.variance_components(
        array(10 * y[None, :, :, None]), standardise=False, draws=1000, seed=1
    ).table()
    np.testing.assert_allclose(10 * one["sd"], ten["sd"], rtol=1e-6)
    assert one["component"].tolist() == ["target", "base_pair", "target x base_pair"]
    assert one["share"].sum() == pytest.approx(1)


def test_what_scores_leave_open_is_said(scores):
    found = bb.reliability.variance_components(scores, draws=400, seed=0)
    assert "There are 3 seeds only" in str(found)
    alone = bb.reliability.variance_components(scores.isel(seed=[0]), draws=400, seed=0)
    assert "There is one seed only" in str(alone)
    assert "test-retest" not in alone.reliability()["coefficient"].tolist()
    assert alone.decision(2)["seeds"].tolist() == [1]
    with pytest.raises(bb.InputError, match="one seed only, so that 5 are not known"):
        alone.decision(2, 5)
    with pytest.raises(bb.InputError, match="one base pair only, so that others are not known"):
        bb.reliability.variance_components(scores.isel(base_pair=[0]), draws=400, seed=0).needed()


@pytest.mark.nuts
@pytest.mark.full
def test_nuts_agrees_and_takes_gaps(scores):
    exact = bb.reliability.variance_components(scores, draws=4000, seed=1).table()
    drawn = bb.reliability.variance_components(scores, engine="nuts", draws=4000, seed=1)
    spread = (exact["high"] - exact["low"]) / 3.2
    assert (np.abs(drawn.table()["sd"] - exact["sd"]) / spread).max() < 0.25
    both = [
        np.concatenate(post.posterior["posterior/finite_population_sd"].to_numpy())
        for post in (drawn, bb.reliability.variance_components(scores, draws=4000, seed=1))
    ]
    assert (np.abs(both[0].mean(axis=0) - both[1].mean(axis=0)) / both[1].std(axis=0)).max() < 0.25
    holes = scores.where(np.random.default_rng(3).random(scores.shape) > 0.05)
    gaps = bb.reliability.variance_components(holes, draws=1000, seed=1)
    assert gaps.posterior.attrs["engine"] == "nuts"
    assert (np.abs(gaps.table()["sd"] - exact["sd"]) / spread).max() < 1


class TestBootstrap:
    """Intervals over objects drawn with replacement."""

    @staticmethod
    def ratings(kind, n, k, truth, tables):
        rng = np.random.default_rng(7)
        rows = rng.standard_normal((tables, n, 1)) if kind == "normal" else rng.standard_t(4, (tables, n, 1)) / 2**0.5
        return truth**0.5 * rows + (1 - truth) ** 0.5 * rng.standard_normal((tables, n, k))

    @pytest.mark.parametrize(
        ("kind", "by_f", "by_bootstrap"), [("normal", (0.85, 0.93), (0.84, 0.92)), ("t4", (0.70, 0.80), (0.80, 0.90))]
    )
    def test_it_covers_where_the_f_interval_does_not(self, kind, by_f, by_bootstrap):
        """The reduced form of benchmarks/validity/metrics.py: 30 objects, 4 raters, nominal 89%."""
        values = self.ratings(kind, 30, 4, 0.8, 400)
        drawn = numerics.components.bootstrap_icc(values, "ICC(3,1)", 0.89, 400, np.random.default_rng(0))
        for found, (least, most) in ((numerics.components.icc(values, "ICC(3,1)", 0.89), by_f), (drawn, by_bootstrap)):
            assert least < np.mean((found.low <= 0.8) & (found.high >= 0.8)) < most

    @pytest.mark.parametrize("form", numerics.components.FORMS)
    def test_its_scale_is_that_of_the_coefficient(self, form):
        values = self.ratings("normal", 25, 3, 0.5, 6).reshape(2, 3, 25, 3) + np.arange(3)
        found, same = (
            numerics.components.bootstrap_icc(values, form, 0.89, 500, np.random.default_rng(0)),
            numerics.components.icc(values, form, 0.89),
        )
        assert found.value == pytest.approx(same.value)
        assert ((found.low < found.value) & (found.value < found.high)).all()
        if form[4] != "2":  # raters stay, so that ICC(2) does not hold their choice
            assert found.high - found.low == pytest.approx(same.high - same.low, rel=0.5)

    def test_the_jackknife_equals_leaving_each_object_out(self):
        table = self.ratings("normal", 12, 3, 0.5, 1)[0] + np.arange(3)
        for model, form in ((1, "ICC(1,1)"), (2, "ICC(2,1)"), (3, "ICC(3,1)")):
            values = [numerics.components.icc(np.delete(table, at, axis=0), form, 0.89).value for at in range(12)]
            scale = np.log((1 + 2 * np.array(values)) / (1 - np.array(values))) / 2
            se = np.sqrt(11 / 12 * ((scale - scale.mean()) ** 2).sum())
            assert numerics.components._studentised(table, np.ones((1, 12)), model)[1] == pytest.approx([se])

    def test_it_is_asked_for_by_name_and_either_says_what_it_is_worth(self):
        scores = made_scores()
        for function in (
            bb.reliability.retest_reliability,
            bb.reliability.inter_rater_consistency,
            bb.reliability.internal_consistency,
        ):
            one, other = function(scores), function(scores, interval="bootstrap", seed=1)
            assert one["value"].tolist() == pytest.approx(other["value"].tolist())
            assert not np.allclose(one["low"], other["low"])
            assert other.equals(function(scores, interval="bootstrap", seed=1))
            assert "64 to 88%" in one.attrs["notes"][-1]
            assert "percentile-t" in other.attrs["notes"][-1]
            with pytest.raises(bb.InputError, match="interval is 'x': valid are f, bootstrap"):
                function(scores, interval="x")

    def test_fewer_rows_than_it_can_take_are_refused(self):
        few = made_scores().isel(base_pair=slice(9))
        with pytest.raises(bb.InputError, match="there are 9 base pairs, and a bootstrap over them needs at least 10"):
            bb.reliability.retest_reliability(few, interval="bootstrap")
        assert np.isfinite(bb.reliability.retest_reliability(few)["low"]).all()


def made_scores():
    """Scores (2 measures, 12 targets, 12 pairs, 3 seeds) with effects of targets, pairs and their combinations."""
    rng = np.random.default_rng(3)
    values = (
        rng.standard_normal((1, 12, 1, 1)) + rng.standard_normal((1, 1, 12, 1)) + rng.standard_normal((1, 12, 12, 1))
    )
    values = values + 0.5 * rng.standard_normal((2, 12, 12, 3))
    coords = {"measure": ["db_wa", "ripa"], "target": [f"t{at}" for at in range(12)]}
    coords |= {"base_pair": [f"a{at}/b{at}" for at in range(12)], "seed": [0, 1, 2]}
    return xr.DataArray(values, dims=("measure", "target", "base_pair", "seed"), coords=coords)


def test_correlations_of_measures_are_those_of_the_words_mean_scores(scores):
    found = bb.reliability.measure_correlations(scores, prob=0.95)
    means = scores.mean(("base_pair", "seed")).to_numpy()
    interval = pearsonr(*means).confidence_interval(0.95)
    assert found[["first", "second", "words"]].iloc[0].tolist() == ["m0", "m1", 8]
    assert found["correlation"].item() == pytest.approx(pearsonr(*means).statistic, abs=1e-12)
    assert found[["low", "high"]].iloc[0].tolist() == pytest.approx(list(interval), abs=1e-12)
    units = bb.reliability.measure_correlations(scores * xr.DataArray([1, 100], dims="measure"), prob=0.95)
    assert units["correlation"].item() == pytest.approx(found["correlation"].item(), abs=1e-12)
    flat = bb.reliability.measure_correlations(scores * xr.DataArray([1, 0], dims="measure"))
    assert flat[["correlation", "low", "high"]].isna().all(axis=None)
    with pytest.raises(bb.InputError, match="there are 3 target words, and intervals of correlations need 4"):
        bb.reliability.measure_correlations(scores[:, :3])
    with pytest.raises(bb.InputError, match="there is one measure only"):
        bb.reliability.measure_correlations(scores[:1])


def test_plural_pairs_are_those_whose_singulars_are_there_too():
    pairs = ["boy/girl", "boys/girls", "man/woman", "men/women", "niece/lady", "nieces/ladies", "his/hers", "she/he"]
    values = pd.DataFrame({"label": pairs, "value": np.arange(8.0)})
    table = reliability.consistency._pair_reliability(values, values)
    assert table.index[table["number"] == "plural"].tolist() == ["boys/girls", "men/women", "nieces/ladies"]


def test_reliabilities_say_how_pairs_and_measures_compare():
    rng = np.random.default_rng(3)
    pairs = [
        f"{first}{ending}/{second}{ending}"
        for ending in ("", "s")
        for first, second in zip("abcde", "vwxyz", strict=True)
    ]
    noise = np.repeat([0.2, 2.0], 5)[:, None]  # plural pairs are noisier over seeds, and over measures
    common = rng.normal(size=(1, 60, 1, 1))
    values = common + noise * rng.normal(size=(2, 60, 10, 4)) + noise * rng.normal(size=(2, 60, 10, 1))
    labelled = array(values).assign_coords(base_pair=pairs)
    found = reliability.consistency.coefficients_of(labelled)
    table = reliability.consistency._pair_reliability(
        bb.reliability.retest_reliability(labelled, of="base_pair"),
        bb.reliability.inter_rater_consistency(labelled, of="base_pair"),
    )
    medians = table.groupby("number")[["test_retest", "inter_rater"]].median()
    assert (medians.loc["singular"] > medians.loc["plural"]).all()
    said = " ".join(found.findings())
    correlation = np.corrcoef(values.mean(axis=(2, 3)))[0, 1]
    assert f"Correlations of the measures over words: m0 and m1 {correlation:.2f}." in said
    shown = [f"{medians.loc[number, 'test_retest']:.2f}" for number in ("singular", "plural")]
    assert f"Medians of 5 singular and 5 plural pairs: test-retest {shown[0]} and {shown[1]} (rank-sum test, p" in said
    rank = table[["test_retest", "inter_rater"]].corr("spearman").iloc[0, 1]
    assert (
        f"Over 10 base pairs the rank correlation of test-retest reliability and inter-rater consistency is {rank:.2f}."
        in said
    )
    brief = found.brief().set_index(["kind", "measure"])
    retest = bb.reliability.retest_reliability(labelled)
    own = retest.loc[retest["measure"] == "m0", "value"]
    assert brief.loc[("test-retest of words", "m0"), "below 0.5"] == (own < 0.5).mean()
