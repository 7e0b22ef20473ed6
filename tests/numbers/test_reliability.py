"""Reliabilities of bias scores, and the words and pairs that they call for, would be those of another design."""

import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.stats import chisquare, pearsonr

import bayesbias as bb
from bayesbias import numerics
from bayesbias.baselines.reliability import (
    VarianceComponents,
    bias_scores,
    inter_rater_consistency,
    internal_consistency,
    measure_correlations,
    retest_reliability,
    variance_components,
)
from bayesbias.checks.variance_components import PRIOR, draw_exactly
from bayesbias.numerics.statistics import bootstrap_icc, icc

RATINGS = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], dtype=float)
"""Four judges of six targets: Shrout and Fleiss (1979), table 2."""
FORMS = ("ICC(1,1)", "ICC(2,1)", "ICC(3,1)", "ICC(1,k)", "ICC(2,k)", "ICC(3,k)")
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
    for form, value in zip(FORMS, expected, strict=True):
        assert icc(RATINGS, form, 0.95)[0] == pytest.approx(value, abs=0.005)
    assert numerics.statistics.mean_squares(RATINGS) == pytest.approx([11.24, 32.49, 1.02, 6.26], abs=0.005)


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
        for form, (_, row) in zip(FORMS, theirs.iterrows(), strict=True):
            ours, *interval = icc(ratings, form, 0.95)
            assert ours == pytest.approx(row["ICC"], abs=1e-12)
            np.testing.assert_allclose(interval, row["CI95"], atol=0.0051)
        value, ends = pingouin.cronbach_alpha(pd.DataFrame(ratings))
        ours, *interval = icc(ratings, "ICC(3,k)", 0.95)
        assert ours == pytest.approx(value, abs=1e-12)
        np.testing.assert_allclose(interval, ends, atol=0.00051)


def test_coefficients_without_an_interval_say_why():
    alike = array(np.stack([np.arange(6.0)[:, None, None] + np.array([0.0, 1.0, 5.0]) + np.zeros((6, 4, 3))]))
    turned = {"target": "base_pair", "base_pair": "target"}
    rows = retest_reliability(alike.transpose("measure", "base_pair", "target", "seed").rename(turned))
    assert rows["low"].isna().all()
    assert rows["reason"].str.startswith("no interval").all()
    even = np.array([[1.0, -1.0], [-1.0, 1.0], [2.0, -2.0]])
    table = internal_consistency(array(even.T[None, :, :, None]))
    assert table["value"].item() == -np.inf
    assert table["reason"].item().startswith("the mean scores do not vary")


def by_label(table):
    return table.set_index(["measure", "label"])


def test_retest_by_hand(scores):
    ends, values = ["value", "low", "high"], scores.to_numpy()
    words = by_label(retest_reliability(scores)).loc[("m1", "t3"), ends]
    np.testing.assert_array_equal(words.astype(float), icc(values[1, 3], "ICC(2,1)", 0.89))
    pairs = by_label(retest_reliability(scores, of="base_pair", prob=0.5)).loc[("m0", "b2"), ends]
    np.testing.assert_allclose(pairs.astype(float), icc(values[0, :, 2], "ICC(2,1)", 0.5), atol=1e-12)
    turned = retest_reliability(scores.transpose("seed", "target", "measure", "base_pair"))["value"]
    np.testing.assert_allclose(turned, retest_reliability(scores)["value"], rtol=1e-12)


def test_raters_of_other_units_agree_once_standardised(scores):
    raw, scaled = (inter_rater_consistency(scores, standardise=given)["value"] for given in (False, True))
    assert scaled.mean() > raw.mean() + 0.1
    again = scores * xr.DataArray([1, 100], dims="measure")
    both = (inter_rater_consistency(each, of="base_pair", standardise=True)["value"] for each in (again, scores))
    np.testing.assert_allclose(*both)


def test_alpha_by_hand(scores):
    queries = {"first": ["t0", "t1", "t2", "absent"], "rest": ["t3", "t4"]}
    table = internal_consistency(scores, queries=queries)
    items = scores.to_numpy()[0].mean(axis=2)[:3].T
    k, covariance = 3, np.cov(items, rowvar=False)
    by_hand = k / (k - 1) * (1 - np.trace(covariance) / covariance.sum())
    assert table.iloc[0]["value"] == pytest.approx(by_hand, abs=1e-12)
    assert table["missing"].tolist() == ["absent", "absent", "", ""]
    pairs = internal_consistency(scores, of="base_pair")
    assert pairs["label"].unique().tolist() == ["all"]
    expected = icc(scores.to_numpy()[0].mean(axis=2), "ICC(3,k)", 0.89)[0]
    assert pairs.iloc[0]["value"] == pytest.approx(expected, abs=1e-12)


def test_wrong_input(scores):
    for function, given, message in (
        (retest_reliability, scores.isel(seed=[0]), "one seed only"),
        (retest_reliability, scores.where(scores > scores.mean()), "hold NaN or infinite numbers"),
    ):
        with pytest.raises(bb.InputError, match=message):
            function(given)
    with pytest.raises(bb.InputError, match="1 of the 2 words"):
        internal_consistency(scores, queries={"q": ["t0", "x"]})


@pytest.fixture(scope="module")
def kvs():
    rng = np.random.default_rng(4)
    words = [*(f"w{at}" for at in range(40)), "he", "she", "man", "woman"]
    return [bb.load_embedding(dict(zip(words, rng.normal(size=(44, 8)), strict=True))) for _ in range(3)]


def test_scores_by_hand(kvs):
    words, pairs = ["w0", "w1"], [("he", "she"), ("man", "woman")]
    scored = bias_scores(kvs, words, pairs, neighbours=7)
    assert scored.dims == DIMS
    assert scored.shape == (3, 2, 2, 3)
    kv, at = kvs[1], kvs[1].key_to_index
    vectors = kv.vectors.astype(float)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / lengths
    apart = unit[at["man"]] - unit[at["woman"]]
    own = scored.sel(target="w1", base_pair="man/woman", seed=1)
    assert own.sel(measure="db_wa") == pytest.approx(unit[at["w1"]] @ apart, abs=1e-7)
    raw = vectors[at["man"]] - vectors[at["woman"]]
    ripa = vectors[at["w1"]] @ raw / np.linalg.norm(raw)
    assert own.sel(measure="ripa") == pytest.approx(ripa, abs=1e-7)
    theirs = bias_scores(kvs, words, pairs[1:], "ripa", compat="published")
    assert theirs.sel(target="w1", seed=1).item() == pytest.approx(ripa / lengths[at["w1"], 0], abs=1e-7)
    sides = [np.sign(unit[at[word]] @ apart) for word, _ in kv.most_similar("w1", topn=7)]
    assert own.sel(measure="nbm") == pytest.approx(np.mean(sides), abs=1e-12)


def test_missing_words_and_pairs_are_said(kvs):
    found = bias_scores(kvs[:2], ["w0", "absent", "w0"], [("he", "she"), ("king", "queen")], "db_wa")
    assert found.sizes == {"measure": 1, "target": 1, "base_pair": 1, "seed": 2}
    lost = [(note.numbers["count"], note.numbers["total"], note.numbers["words"]) for note in found.attrs["notes"]]
    assert lost == [(1, 2, ["absent"]), (1, 2, ["king/queen"])]


@pytest.mark.parametrize(
    ("change", "pairs", "message"),
    [
        (lambda kvs: {("a", "sgns", 8, 1): kvs[0], ("a", "cbow", 8, 1): kvs[1]}, [("he", "she")], "differ in more"),
        (lambda kvs: [*kvs[:2], kvs[0]], [("he", "she")], "embedding 0 and embedding 2 hold the same vectors"),
        (lambda kvs: kvs, [("he", "he")], "a pair is one vector"),
    ],
)
def test_wrong_scores(kvs, change, pairs, message):
    with pytest.raises(bb.InputError, match=message):
        bias_scores(change(kvs), ["w0", "w1"], pairs)


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
    sums = numerics.statistics.facet_sums(y, subsets(3))
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


@pytest.mark.slow
def test_components_are_calibrated():
    """Ranks of the true standard deviations among the posterior's, 400 arrays from the prior: uniform."""
    rng, ranks = np.random.default_rng(6), []
    for _ in range(400):
        sds = PRIOR.from_normal(rng.normal(size=7))
        y, finite_population = simulated((5, 4, 3), sds, rng)
        drawn, finite, _, faults = draw_exactly(numerics.statistics.facet_sums(y, subsets(3)), 1, 199, rng)
        assert not faults
        below = drawn[0] < sds, (finite[0] < finite_population)[:, :-1]
        ranks.append(np.concatenate([each.sum(axis=0) for each in below]))
    counts = np.stack([np.bincount(column // 20, minlength=10) for column in np.transpose(ranks)])
    p = chisquare(counts, axis=1).pvalue
    assert p.min() > 0.001
    assert np.median(p) > 0.1


def of_variances(**variances):
    """Components of given variances, two draws alike; 9 levels of a facet."""
    facets = [frozenset(name.split("_x_")) for name in variances]
    sds = np.sqrt([[list(variances.values())] * 2])
    tree = xr.DataTree.from_dict({"/posterior": xr.Dataset({"component_sd": (("chain", "draw", "component"), sds)})})
    return VarianceComponents(tree, tuple(facets), dict.fromkeys(frozenset.union(*facets), 9), (), True)


def test_coefficients_by_hand():
    post = of_variances(target=4.0, base_pair=1.0, target_x_base_pair=2.0)
    assert post.decision(4)["mean"].item() == pytest.approx(4 / 4.5)
    for first, threshold, needed in ((4.0, 0.75, 2), (4.0, 0.9, 5), (0.0, 0.75, np.inf)):
        given = of_variances(target=first, base_pair=1.0, target_x_base_pair=2.0)
        assert given.needed(threshold=threshold)["median"] == needed
    # seeds that shift all pairs equally are errors of a single embedding
    post = of_variances(base_pair=4.0, seed=1.0, base_pair_x_seed=2.0)
    row = post.reliability().iloc[0]
    assert (row["coefficient"], row["of"], row["mean"]) == ("test-retest", "target", pytest.approx(4 / 7))


def test_decisions():
    rng = np.random.default_rng(8)
    scores = array(simulated((40, 12, 6), [1.0, 0.3, 0.1, 1.0, 0.3, 0.1, 0.3], rng)[0][None])
    post = variance_components(scores, draws=2000, seed=1)
    found = post.decision(base_pairs=(1, 4, 40), seeds=(1, 3)).set_index(["base_pairs", "seeds"])
    truth = {(1, 1): 1 / (1 + 1 + 0.09 + 0.09), (40, 3): 1 / (1 + 1 / 40 + 0.03 + 0.09 / 120)}
    for key, value in truth.items():
        assert found.loc[key, "low"] < value < found.loc[key, "high"]
    assert found["mean"].is_monotonic_increasing
    few = post.needed(seeds=1)
    assert few["low"] <= few["median"] <= few["high"]
    assert few["low"] <= np.ceil((1 + 0.09) / (1 / 3 - 0.09)) <= few["high"]
    assert post.needed(seeds=1, threshold=0.99)["p_never"] > 0.99


def test_what_scores_leave_open_is_said(scores):
    def components(**chosen):
        return variance_components(scores.isel(chosen), draws=400, seed=0)

    alone = components(seed=[0])
    for found, few in ((components(), {"count": 3, "factor": "seeds"}), (alone, {"count": 1, "factor": "seed"})):
        assert few in [note.numbers for note in found.notes if note.code == "few-levels"]
    assert "test-retest" not in alone.reliability()["coefficient"].tolist()
    assert alone.decision(2)["seeds"].tolist() == [1]
    with pytest.raises(bb.InputError, match="one seed only, so that others are not known"):
        alone.decision(2, 5)
    with pytest.raises(bb.InputError, match="one base pair only, so that others are not known"):
        components(base_pair=[0]).needed()


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
        drawn = bootstrap_icc(values, "ICC(3,1)", 0.89, 400, np.random.default_rng(0))
        for (_, low, high), (least, most) in ((icc(values, "ICC(3,1)", 0.89), by_f), (drawn, by_bootstrap)):
            assert least < np.mean((low <= 0.8) & (high >= 0.8)) < most

    def test_the_jackknife_equals_leaving_each_object_out(self):
        table = self.ratings("normal", 12, 3, 0.5, 1)[0] + np.arange(3)
        for model, form in ((1, "ICC(1,1)"), (2, "ICC(2,1)"), (3, "ICC(3,1)")):
            values = [icc(np.delete(table, at, axis=0), form, 0.89)[0] for at in range(12)]
            scale = np.log((1 + 2 * np.array(values)) / (1 - np.array(values))) / 2
            se = np.sqrt(11 / 12 * ((scale - scale.mean()) ** 2).sum())
            assert numerics.statistics._studentised(table, np.ones((1, 12)), model)[1] == pytest.approx([se])


def test_correlations_of_measures_are_those_of_the_words_mean_scores(scores):
    found = measure_correlations(scores, prob=0.95)
    means = scores.mean(("base_pair", "seed")).to_numpy()
    interval = pearsonr(*means).confidence_interval(0.95)
    assert found[["first", "second", "words"]].iloc[0].tolist() == ["m0", "m1", 8]
    assert found["correlation"].item() == pytest.approx(pearsonr(*means).statistic, abs=1e-12)
    assert found[["low", "high"]].iloc[0].tolist() == pytest.approx(list(interval), abs=1e-12)
    flat = measure_correlations(scores * xr.DataArray([1, 0], dims="measure"))
    assert flat[["correlation", "low", "high"]].isna().all(axis=None)
