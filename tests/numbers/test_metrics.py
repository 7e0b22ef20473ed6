"""WEAT, MAC and the other metrics, and their p-values, would be other numbers than their definitions say."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

import bayesbias as bb
from bayesbias import metrics, numerics

PLANE = bb.load_embedding(
    {"he": [1, 0, 0], "man": [2, 0, 0], "she": [0, 1, 0], "woman": [0, 3, 0]}
    | {"math": [1, 0, 0], "art": [0, 1, 0], "both": [1, 1, 0], "none": [0, 0, 2], "left": [-1, 0, 0]}
)
PAIRS = {"m": ["he", "man"], "f": ["she", "woman"]}
ROOT = np.sqrt(0.5)


@pytest.fixture(scope="module")
def kv():
    """600 words of 10 dimensions, of different lengths, with a mean that is not 0."""
    rng = np.random.default_rng(0)
    vectors = (rng.normal(size=(600, 10)) + 0.3) * rng.uniform(0.5, 3, (600, 1))
    return bb.load_embedding({f"w{at}": vector for at, vector in enumerate(vectors)})


def words(*places):
    return [f"w{at}" for at in places]


def value(name, targets, attributes, **options):
    """With every word of the plane, of which many have one direction."""
    return bb.metric(name, PLANE, bb.Query(targets, attributes), **{"twins": "keep"} | options).value


@pytest.mark.parametrize(
    ("name", "attributes", "expected"),
    [
        ("weat", {"a": ["math"], "b": ["art"]}, 4),  # s is 1, 1, -1, -1
        ("weat_effect_size", {"a": ["math"], "b": ["art"]}, 2),  # (1 - -1) / 1
        ("mac", {"a": ["math"], "b": ["none"]}, 0.75),  # 0, 1, 0, 1 for he and man; 1 for she and woman
        # directions (1, -1) / sqrt 2 and (2, -3) / sqrt 13
        ("ripa", {"a": ["math", "both", "none"]}, ((ROOT + 2 / 13**0.5) / 2 + (0 - 1 / 13**0.5) / 2) / 3),
        ("db_wa", {"a": ["math", "both", "none", "left"]}, 0),  # 1, 0, 0, -1
        ("db_wa", {"a": ["math", "both"]}, 0.5),
        ("direct_bias", {"a": ["math", "art", "both", "none"]}, 2 * ROOT / 4),  # g = (1, -1) / sqrt 2
        ("same", {"a": ["math", "art", "both", "none"]}, 2 * ROOT / 4),
        ("rnd", {"a": ["math", "art"]}, (0.5 + np.hypot(1.5, 1) - np.hypot(1, 2) - 1) / 2),  # m = (1.5, 0) and (0, 2)
        ("semaxis", {"a": ["math"], "b": ["art"]}, 2 * ROOT),  # cosines with (1, -1)
    ],
)
def test_by_hand(name, attributes, expected):
    assert value(name, PAIRS, attributes) == pytest.approx(expected, abs=1e-7)


def test_options_and_other_sets_by_hand():
    assert value("semaxis", {"m": ["he"]}, {"a": ["math"], "b": ["art"]}) == pytest.approx(ROOT, abs=1e-7)
    effect = (1 + ROOT) / 2 / np.std([1, ROOT, 0])  # cosines of he with math, both and art
    assert value("wefat", {"m": ["he"]}, {"a": ["math", "both"], "b": ["art"]}) == pytest.approx(effect, abs=1e-7)
    both = {"a": ["math", "both"]}
    assert value("direct_bias", PAIRS, both, exponent=2) == pytest.approx(0.25, abs=1e-7)
    with pytest.raises(bb.InputError, match="exponent is 0"):
        value("direct_bias", PAIRS, both, exponent=0)


def test_cosines_of_means_by_hand():
    assert value("rnd", PAIRS, {"a": ["math", "both", "none"]}, distance="cos") == pytest.approx(1 / 3, abs=1e-7)
    # ranks of cosines with (1, 0): math, both, none; with (0, 1): both, then math and none together
    expected = stats.spearmanr([1, ROOT, 0, -1], [0, ROOT, 0, 0]).statistic
    assert value("ect", PAIRS, {"a": ["math", "both", "none", "left"]}) == pytest.approx(expected, abs=1e-7)


def test_three_groups_span_a_plane():
    """|projection| on span{(-1, 1, 0), (-1, 0, 1)}: sqrt(2/3) for an axis, 0 for the diagonal, in any order."""
    groups = {"m": ["he"], "f": ["she"], "n": ["none"]}
    for order in (["m", "f", "n"], ["n", "m", "f"], ["f", "n", "m"]):
        targets = {name: groups[name] for name in order}
        assert value("same", targets, {"a": ["math"]}) == pytest.approx(np.sqrt(2 / 3), abs=1e-6)
        assert value("same", targets, {"a": ["both"]}) == pytest.approx(np.sqrt(1 / 3), abs=1e-6)


def test_neighbours_by_hand():
    """Five words near he, two near she: with three neighbours of *close* all are on his side."""
    rng = np.random.default_rng(0)
    near = {f"h{at}": [1, 0.1 * rng.random(), 0.1] for at in range(5)} | {f"s{at}": [0.1, 1, 0.1] for at in range(2)}
    kv = {"he": [1, 0, 0], "she": [0, 1, 0], "close": [1, 0, 0.1], "mixed": [0.1, 1, 0.1]} | near
    query = bb.Query({"m": ["he"], "f": ["she"]}, {"a": ["close", "mixed"]})
    # of three neighbours of mixed, s0, s1 and she, all are on her side
    for neighbours, expected in ((3, [1, -1]), (10, [(6 - 4) / 10, (7 - 3) / 10])):
        found = bb.metric("nbm", kv, query, neighbours=neighbours).per_word["value"]
        assert found.tolist() == pytest.approx(expected)
    with pytest.raises(bb.InputError, match="neighbours is 11: give a whole number from 1 to 10"):
        bb.metric("nbm", kv, query, neighbours=11)


def test_figure_1_of_the_bayesian_paper():
    """WEAT of the printed s of he, man, woman and she, population sd: 1.92. The paper prints 1.93."""
    assert metrics.catalogue.effect_size(np.array([0.5, 0.3]), np.array([-0.6, -0.3])) == pytest.approx(1.92, abs=0.005)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("sizes", [(8, 8), (9, 4)])
def test_exact_permutation_tests_are_those_of_scipy(alternative, sizes):
    rng = np.random.default_rng(1)
    first, second = rng.normal(0.5, 1, sizes[0]), rng.normal(size=sizes[1])
    found = numerics.statistics.permutation_test(first, second, alternative, 10, rng)

    def statistic(a, b, axis):
        apart = a.mean(axis=axis) - b.mean(axis=axis)
        return np.abs(apart) if alternative == "two-sided" else apart

    side = "greater" if alternative == "two-sided" else alternative
    expected = stats.permutation_test((first, second), statistic, vectorized=True, n_resamples=np.inf, alternative=side)
    assert found.exact
    assert found.p_value == pytest.approx(expected.pvalue, abs=1e-12)


def test_sampled_permutation_tests_count_the_observed_partition():
    rng = np.random.default_rng(2)
    far = numerics.statistics.permutation_test(np.arange(15.0) + 100, np.arange(15.0), "greater", 999, rng)
    assert (far.exact, far.partitions, far.p_value) == (False, 999, 1 / 1000)
    same = numerics.statistics.permutation_test(np.ones(15), np.ones(15), "two-sided", 99, rng)
    assert same.p_value == 1


def gradient_of_the_classifier(x, first):
    """The largest derivative of the penalised likelihood at the weights that were fitted."""
    w = metrics.catalogue._fit_logistic(x, first)
    rows, y = np.c_[x, np.ones(len(x))], np.where(first, 1.0, -1.0)
    return np.abs(w - rows.T @ (y * expit(-y * (rows @ w)))).max()


@pytest.mark.parametrize(("shape", "scale", "least"), [
    ((30, 5), 1, 1e-9), ((8, 40), 1, 1e-9), ((200, 5), 1, 1e-8), ((200, 5), 1e4, 1e-6),
])  # fmt: skip
def test_the_classifier_has_converged(shape, scale, least):
    """By rows and by dimensions; more rows than dimensions and fewer."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=shape) * 3
    first = np.arange(shape[0]) < shape[0] // 3 if len(x) < 100 else x[:, 0] + rng.normal(size=len(x)) > 0
    assert gradient_of_the_classifier(scale * x, first) < least


def test_subqueries_are_all_and_named_for_their_sets():
    query = bb.Query({"x": ["a"], "y": ["b"], "z": ["c"]}, {"p": ["d"], "q": ["e"]})
    names = [part.name for part in query.subqueries(2, 1)]
    assert names == [f"{pair} wrt {one}" for pair in ("x and y", "x and z", "y and z") for one in "pq"]
    assert query.subqueries(3, 2) == (query,)
    with pytest.raises(bb.InputError, match="targets is 4: give a whole number of at least 1 and at most 3"):
        query.subqueries(4, 1)


def test_words_in_several_sets_are_reported():
    query = bb.Query({"x": ["a", "b"], "y": ["b", "c"]}, {"p": ["c", "c"]})

    assert [note.numbers["words"] for note in query.notes] == [["b (x/y)", "c (y/p/p)"]]


@pytest.mark.parametrize(
    ("name", "value", "count"), [("weat7", 0.9981, 584), ("weat7_wefe", 0.8803, 1104), ("weat8", 1.2504, 62)]
)
def test_effect_sizes_of_bundled_queries_in_the_slice(slice_vectors, name, value, count):
    """Counts are of partitions as far from 0: of 12,870, and of 3,432 where two words are missing."""
    found = bb.metric("weat_effect_size", slice_vectors, name, p_value=True)
    assert found.value == pytest.approx(value, abs=5e-5)
    sizes = 3432 if name == "weat8" else 12870
    assert found.p_value == pytest.approx(count / sizes, abs=1e-9)


def test_a_set_of_a_query_may_be_a_bundled_list_or_a_file(tmp_path):
    query = bb.load_query("wefe_gender_sentiment")
    assert query.attributes == {kind: tuple(bb.load_list(f"opinion_{kind}")) for kind in ("positive", "negative")}
    row = bb.bundled("queries").set_index("name").loc["wefe_gender_sentiment"]
    assert row["attributes"] == "positive (2006), negative (4783)"
    (tmp_path / "own.toml").write_text('kind = "list"\nname = "own"\nwords = ["math", "art"]\n')
    file = tmp_path / "query.toml"
    file.write_text('name = "q"\n[targets]\nm = ["he"]\nf = ["she"]\n[attributes]\na = "own.toml"\n')
    assert bb.load_query(file).attributes == {"a": ("math", "art")}
    file.write_text(file.read_text().replace("own.toml", "gender_pairs"))
    with pytest.raises(bb.InputError, match="the set list 'gender_pairs' holds pairs; a set is a list of words"):
        bb.load_query(file)


def test_queries_of_one_name_stay_apart_and_larger_ones_appear_as_their_subqueries():
    one, other = (bb.Query({"m": [m], "f": [f]}, {"a": ["math"]}) for m, f in (("he", "she"), ("man", "woman")))
    table = bb.run_metrics(PLANE, [one, other], "rnd")
    assert table["query"].tolist() == ["m and f wrt a", "m and f wrt a (2)"]
    assert table["value"].nunique() == 2
    table = bb.run_metrics(PLANE, bb.Query(PAIRS, {"a": ["math"], "b": ["art"]}, name="q"), ["weat", "rnd"])
    assert table["subquery"].fillna("whole").tolist() == ["whole", "m and f wrt a", "m and f wrt b"]


def test_single_words_warn():
    single = bb.Query({"m": ["he"], "f": ["she"]}, {"a": ["math"], "b": ["art"]})
    with pytest.warns(bb.errors.BayesbiasWarning, match="the value is 2 or -2 whatever"):
        found = bb.metric("weat_effect_size", PLANE, single)
    assert abs(found.value) == pytest.approx(2)
    between, note = found.notes
    assert (between.code, between.numbers["count"], between.numbers["words"][0]) == (
        "copies-between",
        4,
        "he (m) = math (a)",
    )
    assert (note.code, note.numbers) == ("set-size", {"words": 1, "kind": "target", "values": "2 or -2"})
    assert note.above
    assert bb.run_metrics(PLANE, single, "weat_effect_size")["notes"].tolist() == [found.notes]


def test_words_of_one_vector_count_once_and_pairs_of_one_are_left_out():
    """*he* and *man* have one vector, and so have *she* and *woman*."""
    (note,) = [note for note in bb.metric("mac", PLANE, bb.Query(PAIRS, {"a": ["none"]})).notes if "man" in note][:1]
    assert note.code == "copies"
    pairs = bb.metric("db_wa", PLANE, bb.Query({"m": ["he", "man"], "f": ["she", "man"]}, {"a": ["none"]}))
    assert [(n.code, n.numbers["kind"]) for n in pairs.notes if n.code == "left-out"] == [("left-out", "pairs")]


@pytest.mark.parametrize("normalise", [False, True])
def test_rounding_is_no_effect(kv, normalise):
    """The same words as both attribute sets, in another order: s is 0, and so are sums; the effect size is 0 by 0."""
    order = 16 + np.random.default_rng(0).permutation(16)
    query = bb.Query(
        {"x": words(*range(8)), "y": words(*range(8, 16))}, {"a": words(*range(16, 32)), "b": words(*order)}
    )
    effect, axis, summed = (
        bb.metric(name, kv, query, normalise=normalise, **options)
        for name, options in (("weat_effect_size", {"p_value": True}), ("semaxis", {}), ("weat", {"p_value": True}))
    )
    assert np.isnan(effect.value)
    assert effect.p_value is None
    assert "no spread" in effect.reason
    assert "so there is no axis" in axis.reason
    assert (summed.value, summed.p_value) == (0, 1)


UNEQUAL = bb.Query(
    {"x": words(*range(8)), "y": words(8, 9)}, {"a": words(*range(16, 20)), "b": words(*range(20, 24))}, name="unequal"
)


def test_sets_of_unequal_size_are_said_to_shift_the_sum(kv):
    (note,) = bb.metric("weat", kv, UNEQUAL).notes
    assert (note.code, note.numbers) == ("metric", {"metric": "weat", "limit": "unequal target sets (8, 2)"})
    assert not bb.metric("weat_effect_size", kv, UNEQUAL).notes


def test_the_default_metrics_need_no_pairs(kv):
    shown = bb.run_metrics(kv, UNEQUAL)["metric"].unique().tolist()
    every = metrics.catalogue.METRICS
    assert shown == [name for name, one in every.items() if one.usual and not one.paired]
    assert set(shown) >= {"weat", "weat_effect_size", "rnd", "rnsb", "mac", "ect", "same", "semaxis"}
    single = bb.Query(UNEQUAL.targets, {"a": UNEQUAL.attributes["a"]})
    both = bb.run_metrics(kv, [UNEQUAL, single])
    few = [name for name in shown if every[name].attributes[0] > 1]
    assert both["metric"].unique().tolist() == [name for name in shown if name not in few]
    assert set(few) >= {"weat", "weat_effect_size", "rnsb", "semaxis"}
    note = both["notes"][0][0]
    assert (note.code, note.numbers["count"], note.numbers["words"]) == ("left-out", len(few), few)


LINEAR = {"weat": {}, "mac": {}, "db_wa": {}, "rnd": {"distance": "cos"}, "ripa": {"normalise": True}}
VALID = "weat, rnd with distance='cos', mac, ripa with normalise=True, db_wa"


def query_for(name):
    """Sets of unlike sizes where the metric takes them."""
    metric = metrics.catalogue.METRICS[name]
    sizes = ((0, 1, 2), (3, 4, 5)) if metric.paired else ((0, 1), (2,))
    sets = [("a", words(10, 11, 12, 13)), ("b", words(14, 15))][: metric.attributes[0] + (name == "mac")]
    return bb.Query({name: words(*places) for name, places in zip("xy", sizes, strict=True)}, dict(sets))


def units_of(kv, listed):
    vectors = np.array([kv[word] for word in listed], dtype=float)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize("name", LINEAR)
def test_a_metric_is_the_sum_of_its_weights_times_cosines(name, kv):
    query, linear = query_for(name), metrics.catalogue.METRICS[name].linear
    both = query.targets, query.attributes
    scale = units_of if name == "ripa" else lambda kv, listed: np.array([kv[word] for word in listed], dtype=float)
    weights = linear.sides(*(tuple(scale(kv, listed) for listed in sets.values()) for sets in both))
    left, right = (units_of(kv, [word for listed in sets.values() for word in listed]) for sets in both)
    value = linear.constant + weights[0] @ left @ right.T @ weights[1]
    assert bb.metric(name, kv, query, **LINEAR[name]).value == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("name", ["mac", "db_wa"])
def test_one_attribute_word_has_the_mean_and_the_sd_of_all_words(name, kv):
    """The sample is here the whole vocabulary outside of the query."""
    targets = {"x": ["w0"]} if name == "mac" else {"x": ["w0"], "y": ["w1"]}
    query = bb.Query(targets, {"a": ["w5"]})
    sides = units_of(kv, [word for listed in targets.values() for word in listed])
    listed = {word for words in query.sets.values() for word in words}
    outside = units_of(kv, [word for word in kv.index_to_key if word not in listed])
    values = 1 - outside @ sides[0] if name == "mac" else outside @ (sides[0] - sides[1])
    found = bb.metric(name, kv, query, p_value="related")
    assert found.null_mean == pytest.approx(values.mean(), abs=2e-4)
    variance = values.var()
    if name == "db_wa":  # what the mean distance leaves of the difference varies as it does near the attribute word
        related = bb.relatedness(kv, bb.WordLists("same", {"x": ["w0", "w1"]}, {"x": ["w5"]}))
        mean, near = outside @ sides.mean(axis=0), related.near_weights
        covariance = np.cov(np.vstack([values, mean]), aweights=near, ddof=0)
        slope = covariance[0, 1] / covariance[1, 1]
        left = np.cov(values - slope * mean, aweights=near, ddof=0)
        variance = slope**2 * mean.var() * related.inflations[0] + left * related.inflations[1]
    assert found.null_sd == pytest.approx(variance**0.5, rel=1e-3)
    z = (found.value - found.null_mean) / found.null_sd
    assert found.p_value == pytest.approx(2 * stats.norm.sf(abs(z)))
    for alternative, tail in (("greater", stats.norm.sf), ("less", stats.norm.cdf)):
        asked = bb.metric(name, kv, query, p_value="related", alternative=alternative)
        assert asked.p_value == pytest.approx(tail(z))


def test_weat_of_single_words_by_hand(kv):
    """Var = sum over components of variance x (loading of x - that of y)^2 x 2 (1 - correlation of a and b)."""
    query = bb.Query({"x": ["w0"], "y": ["w1"]}, {"a": ["w5"], "b": ["w6"]})
    related = bb.relatedness(kv, bb.WordLists("the same", query.targets, {"x": ["w5"], "y": ["w6"]}))
    similarity = float(related.units[0] @ related.units[1])
    parts, variance = related.components, 0.0
    for component, curve in enumerate(parts.correlations):
        near = curve[np.argmin(np.abs(numerics.related.MIDDLES - similarity))]
        loading = parts.loadings[0, component] - parts.loadings[1, component]
        variance += parts.variances[component] * loading**2 * 2 * (1 - near)
    found = bb.metric("weat", kv, query, p_value="related")
    assert (found.null_mean, found.null_sd) == (0, pytest.approx(variance**0.5))
    assert found.p_value == pytest.approx(2 * stats.norm.sf(abs(found.value) / variance**0.5))


def test_shared_words_have_the_sum_of_their_weights(kv):
    shared = bb.Query({"x": words(0, 1), "y": words(1, 2)}, {"a": words(5, 6), "b": words(6, 7)})
    # w1 and w6 cancel: what is left is (w0 - w2) x (w5 - w7) / 2
    reduced = bb.Query({"x": words(0), "y": words(2)}, {"a": words(5), "b": words(7)})
    same = bb.Query({"x": words(0, 1), "y": words(1, 0)}, {"a": words(5), "b": words(6)})
    one, other, none = (bb.metric("weat", kv, query, p_value="related") for query in (shared, reduced, same))
    assert one.value == pytest.approx(other.value / 2)
    # the samples differ by two words
    assert one.null_sd == pytest.approx(other.null_sd / 2, rel=0.03)
    assert (none.value, none.null_mean) == pytest.approx((0, 0))
    assert none.p_value == 1
    both = bb.Query({"x": words(0, 1)}, {"a": words(1, 5)})
    assert 0 < bb.metric("mac", kv, both, p_value="related").p_value <= 1


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("weat_effect_size", {}, f"weat_effect_size is not a weighted sum of cosines: valid are {VALID}"),
        ("ripa", {}, f"ripa with normalise=False is not a weighted sum of cosines: valid are {VALID}"),
        ("mac", {"p_value": True}, "p_value is True, and the metric has no permutation test: give False or 'related'"),
        ("weat", {"return_effect_size": True}, "'return_effect_size': see the metric 'weat_effect_size'; it takes"),
    ],
)
def test_what_cannot_be_tested_is_refused(name, options, message, kv):
    options = {"p_value": "related", **options}
    with pytest.raises(bb.InputError, match=message):
        bb.metric(name, kv, query_for(name), **options)


def test_few_words_make_the_sd_larger_and_fewer_are_refused(kv):
    query = query_for("weat")
    some = bb.load_embedding({word: kv[word] for word in kv.index_to_key[:100]})
    found = bb.metric("weat", some, query, p_value="related")
    assert {"words": 91, "rule": "sd times 1.26"} in [
        note.numbers for note in found.notes if note.code == "few-candidates"
    ]
    few = bb.load_embedding({word: kv[word] for word in kv.index_to_key[:38]})
    with pytest.raises(bb.InputError, match=r"p_value='related' needs a vocabulary: 29 words of the embedding"):
        bb.metric("weat", few, query, p_value="related")


def test_ceat_weighs_draws_by_a_random_effects_meta_analysis():
    """DerSimonian and Laird by hand, of draws whose effect sizes differ by more than their errors."""
    rng, samples, axis = np.random.default_rng(0), 50, np.eye(4)[0]
    first, second = (rng.normal(size=(20, 4)) + lean * axis for lean in (2, -2))  # two sentences of each of 10 words
    a, b = (rng.normal(0, 0.3, size=(2, 4)) + [[1], [-1]] * axis for _ in range(2))  # of a word, in two senses
    words_of, one = np.tile(np.arange(10), 2), np.zeros(2, dtype=int)
    owners = {"targets": (words_of, words_of), "attributes": (one, one)}
    found = metrics.catalogue.ceat((first, second), (a, b), owners, samples=samples, seed=3)
    rng, unit = np.random.default_rng(3), [numerics.arrays.unit_rows(each) for each in (first, second, a, b)]
    every = [*owners["targets"], *owners["attributes"]]
    rows = [np.column_stack([rng.choice(np.flatnonzero(own == w), samples) for w in np.unique(own)]) for own in every]
    d, v = [], []
    for draw in range(samples):
        x, y, p, q = (each[place[draw]] for each, place in zip(unit, rows, strict=True))
        s = [side @ (p.mean(axis=0) - q.mean(axis=0)) for side in (x, y)]
        d.append((s[0].mean() - s[1].mean()) / np.concatenate(s).std(ddof=1))
        v.append(20 / 100 + d[-1] ** 2 / (2 * 20))
    d, w = np.array(d), 1 / np.array(v)
    q = (w * (d - (w @ d) / w.sum()) ** 2).sum()
    between = max(0.0, (q - (samples - 1)) / (w.sum() - (w**2).sum() / w.sum()))
    w = 1 / (np.array(v) + between)
    assert between > 0
    assert found.value == pytest.approx(w @ d / w.sum(), abs=1e-12)
    assert found.p_value == pytest.approx(2 * stats.norm.sf(abs(found.value) * np.sqrt(w.sum())))
