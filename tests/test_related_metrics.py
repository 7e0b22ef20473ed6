"""P-values of metrics against random lists of the vocabulary: weights, moments, calibration, and wrong input."""

import numpy as np
import pytest
from gensim.models import KeyedVectors
from scipy import stats

import bayesbias as bb
from bayesbias.metrics.catalogue import METRICS

LINEAR = {
    "weat": {},
    "mac": {},
    "db_wa": {},
    "rnd": {"distance": "cos"},
    "ripa": {"normalise": True},
}
VALID = "weat, rnd with distance='cos', mac, ripa with normalise=True, db_wa"


def made(vectors):
    kv = KeyedVectors(len(next(iter(vectors.values()))))
    kv.add_vectors(list(vectors), np.array(list(vectors.values()), dtype=np.float32))
    return kv


@pytest.fixture(scope="module")
def kv():
    """600 words of 10 dimensions, of different lengths, with a mean that is not 0."""
    rng = np.random.default_rng(0)
    vectors = (rng.normal(size=(600, 10)) + 0.3) * rng.uniform(0.5, 3, (600, 1))
    return made({f"w{at}": vector for at, vector in enumerate(vectors)})


@pytest.fixture(scope="module")
def news(shared):
    return bb.load_embedding(shared / "embeddings" / "google_news_slice.bin")


def words(*places):
    return [f"w{at}" for at in places]


def query_for(name):
    """Sets of unlike sizes where the metric takes them."""
    targets = {"x": words(0, 1, 2), "y": words(3, 4, 5)} if METRICS[name].paired else {"x": words(0, 1), "y": words(2)}
    sets = {"a": words(10, 11, 12, 13), "b": words(14, 15)}
    return bb.Query(targets, dict(list(sets.items())[: METRICS[name].attributes[0] + (name == "mac")]))


def units_of(kv, listed):
    vectors = np.array([kv[word] for word in listed], dtype=float)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize("name", LINEAR)
def test_a_metric_is_the_sum_of_its_weights_times_cosines(name, kv):
    query, linear = query_for(name), METRICS[name].linear
    scale = units_of if name == "ripa" else lambda kv, listed: np.array([kv[word] for word in listed], dtype=float)
    targets, attributes = (
        tuple(scale(kv, listed) for listed in sets.values()) for sets in (query.targets, query.attributes)
    )
    sides = linear.sides(targets, attributes)
    left, right = (
        units_of(kv, [word for listed in sets.values() for word in listed])
        for sets in (query.targets, query.attributes)
    )
    value = linear.constant + sides.targets @ left @ right.T @ sides.attributes
    assert bb.metric(name, kv, query, **LINEAR[name]).value == pytest.approx(value, abs=1e-12)


def test_weights_by_hand():
    sets = (np.ones((2, 3)), np.ones((2, 3))), (np.ones((4, 3)), np.ones((1, 3)))
    weat, mac = (METRICS[name].linear.sides(*sets) for name in ("weat", "mac"))
    assert np.outer(*weat).tolist() == [[0.25] * 4 + [-1], [0.25] * 4 + [-1], [-0.25] * 4 + [1], [-0.25] * 4 + [1]]
    assert np.outer(*mac).tolist() == [[-1 / 32] * 4 + [-1 / 8]] * 4
    pair = (np.eye(3)[:1], np.eye(3)[1:2]), (np.ones((2, 3)),)
    assert np.outer(*METRICS["db_wa"].linear.sides(*pair)).tolist() == [[0.5, 0.5], [-0.5, -0.5]]
    np.testing.assert_allclose(np.outer(*METRICS["ripa"].linear.sides(*pair)), np.outer([1, -1], [0.5, 0.5]) / 2**0.5)
    # m = (3, 4) of lengths 3 and 4 in the first set: cos(a, m) = (3 a_1 + 4 a_2) / 5
    lengths = (np.array([[3.0, 0, 0], [0, 4, 0]]), np.array([[0, 0, 2.0]])), (np.ones((1, 3)),)
    np.testing.assert_allclose(np.outer(*METRICS["rnd"].linear.sides(*lengths)), [[0.6], [0.8], [-1]])


@pytest.mark.parametrize("name", ["mac", "db_wa"])
def test_one_attribute_word_has_the_mean_and_the_sd_of_all_words(name, kv):
    """The sample is here the whole vocabulary outside of the query."""
    targets = {"x": ["w0"]} if name == "mac" else {"x": ["w0"], "y": ["w1"]}
    query = bb.Query(targets, {"a": ["w5"]})
    outside = units_of(kv, [word for word in kv.index_to_key if word not in ("w0", "w1", "w5")])
    if name == "mac":
        outside = units_of(kv, [word for word in kv.index_to_key if word not in ("w0", "w5")])
    sides = units_of(kv, ["w0"] if name == "mac" else ["w0", "w1"])
    values = 1 - outside @ sides[0] if name == "mac" else outside @ (sides[0] - sides[1])
    found = bb.metric(name, kv, query, p_value="related")
    assert found.null_mean == pytest.approx(values.mean(), abs=2e-4)
    assert found.null_sd == pytest.approx(values.std(), rel=1e-3)
    z = (found.value - found.null_mean) / found.null_sd
    assert found.p_value == pytest.approx(2 * stats.norm.sf(abs(z)))


def test_weat_of_single_words_by_hand(kv):
    """Var = sum over components of variance x (loading of x - that of y)^2 x 2 (1 - correlation of a and b)."""
    query = bb.Query({"x": ["w0"], "y": ["w1"]}, {"a": ["w5"], "b": ["w6"]})
    lists = bb.WordLists("the same", {"x": ["w0"], "y": ["w1"]}, {"x": ["w5"], "y": ["w6"]})
    related = bb.relatedness(kv, lists)
    curves = related.variogram()
    similarity = float(related.units[0] @ related.units[1])
    parts, variance = related.components, 0.0
    for component, rows in curves.groupby("component"):
        near = rows.iloc[np.argmin(np.abs(rows["similarity"] - similarity))]
        loading = parts.loadings[0, component] - parts.loadings[1, component]
        variance += parts.variances[component] * loading**2 * 2 * (1 - near["correlation"])
    found = bb.metric("weat", kv, query, p_value="related")
    assert found.null_mean == 0
    assert found.null_sd == pytest.approx(variance**0.5)
    assert found.p_value == pytest.approx(2 * stats.norm.sf(abs(found.value) / variance**0.5))


def test_alike_words_are_worth_less(kv):
    """Eight words near one another vary together: the sd of their mean is that of hardly more than one word."""
    rng = np.random.default_rng(1)
    vectors = {word: kv[word] for word in kv.index_to_key}
    topic = {f"t{at}": kv["w9"] / np.linalg.norm(kv["w9"]) + 0.02 * rng.normal(size=10) for at in range(8)}
    larger = made(vectors | topic)
    one, unlike, alike = (
        bb.metric("mac", larger, bb.Query({"x": words(0, 1)}, {"a": listed}), p_value="related").null_sd
        for listed in (["w9"], words(*range(20, 28)), list(topic))
    )
    assert 0.9 * one < alike < 1.05 * one  # the samples differ by the words of the topic
    assert unlike < 0.6 * one


@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_one_sided_tests_are_the_tails(alternative, kv):
    query = query_for("weat")
    found = bb.metric("weat", kv, query, p_value="related", alternative=alternative)
    z = (found.value - found.null_mean) / found.null_sd
    assert found.p_value == pytest.approx(stats.norm.sf(z) if alternative == "greater" else stats.norm.cdf(z))


def test_shared_words_have_the_sum_of_their_weights(kv):
    shared = bb.Query({"x": words(0, 1), "y": words(1, 2)}, {"a": words(5, 6), "b": words(6, 7)})
    # w1 and w6 cancel: what is left is (w0 - w2) x (w5 - w7) / 2
    reduced = bb.Query({"x": words(0), "y": words(2)}, {"a": words(5), "b": words(7)})
    one, other = (bb.metric("weat", kv, query, p_value="related") for query in (shared, reduced))
    assert one.value == pytest.approx(other.value / 2)
    # the samples differ by two words
    assert one.null_sd == pytest.approx(other.null_sd / 2, rel=0.03)
    both = bb.Query({"x": words(0, 1)}, {"a": words(1, 5)})
    assert 0 < bb.metric("mac", kv, both, p_value="related").p_value <= 1


def test_sets_of_the_same_words_have_no_spread(kv):
    query = bb.Query({"x": words(0, 1), "y": words(1, 0)}, {"a": words(5), "b": words(6)})
    found = bb.metric("weat", kv, query, p_value="related")
    assert (found.value, found.null_mean) == pytest.approx((0, 0))
    assert found.p_value == 1


def test_spellings_are_looked_up_as_the_metric_does(kv):
    query = bb.Query({"x": words(0, 1), "y": words(2)}, {"a": ["W5", "w6"], "b": ["W7"]})
    plain = bb.Query({"x": words(0, 1), "y": words(2)}, {"a": words(5, 6), "b": words(7)})
    found = bb.metric("weat", kv, query, case="fallback", p_value="related")
    same = bb.metric("weat", kv, plain, p_value="related")
    assert (found.value, found.p_value, found.null_sd) == (same.value, same.p_value, same.null_sd)
    missing = bb.Query({"x": words(0, 1), "y": words(2)}, {"a": [*words(5, 6), "none"], "b": words(7)})
    assert bb.metric("weat", kv, missing, max_missing=0.5, p_value="related").p_value == same.p_value
    gone = bb.metric("weat", kv, missing, p_value="related")
    assert (gone.p_value, gone.null_sd) == (None, None)
    assert "1 of 3" in gone.reason


def test_the_result_says_which_test_it_was(kv):
    query = query_for("mac")
    found = bb.metric("mac", kv, query, p_value="related", seed=3)
    assert (found.partitions, found.exact) == (None, None)
    assert found.options["p_value"] == "related"
    assert found.sentence.endswith(
        f"{found.value:.4g}, p = {found.p_value:.3g} (random lists as alike as these, covariance from the vectors: "
        f"mean {found.null_mean:.4g}, sd {found.null_sd:.3g}); 1 is no bias."
    )
    assert "the random lists are described by 591 words sampled from all words." in str(found)
    permuted = bb.metric("weat", kv, query_for("weat"), p_value=True)
    assert (permuted.null_mean, permuted.null_sd) == (None, None)
    assert "all 3 partitions" in permuted.sentence
    none = bb.metric("mac", kv, query)
    assert (none.p_value, none.null_mean, none.null_sd) == (None, None, None)


def test_rows_of_many_metrics_are_those_of_single_ones(kv):
    query = query_for("weat")
    asked = [("weat", {"p_value": "related"}), ("weat", {"p_value": True}), ("mac", {"p_value": "related"}), "mac"]
    table = bb.run_metrics(kv, query, asked).set_index("metric")
    for name, options in (one if isinstance(one, tuple) else (one, {}) for one in asked):
        label = f"{name} (p_value={options['p_value']})" if options else name
        found = bb.metric(name, kv, query, **options)
        assert table.loc[label, "value"] == found.value
        assert table.loc[label, "p_value"] == pytest.approx(np.nan if not options else found.p_value, nan_ok=True)
    assert sum("words sampled" in note for note in table.attrs["notes"]) == 1


def test_values_of_which_there_are_many_are_not_tested(kv):
    query = query_for("weat")
    bootstrap = bb.checks.bootstrap_metric("weat", kv, query, draws=50, posterior=False, p_value="related")
    assert bootstrap.value == bb.metric("weat", kv, query).value
    null = bb.calibration.null_distribution(kv, query, ("mac", {"p_value": "related"}), draws=20, match_frequency=False)
    assert null.observed == bb.metric("mac", kv, query).value


@pytest.mark.parametrize("metric", ["weat", "mac"])
def test_the_sd_is_that_of_random_lists(metric, news):
    """300 lists of unrelated words of the vocabulary in place of the attribute sets."""
    query = bb.load_query("weat1")
    rng = np.random.default_rng(0)
    pool = sorted(set(news.index_to_key) - {word for listed in query.targets.values() for word in listed})
    values, sds, means = [], [], []
    for at in range(300):
        drawn = [pool[place] for place in rng.choice(len(pool), 16, replace=False)]
        made_up = bb.Query(query.targets, {"a": drawn[:8], "b": drawn[8:]})
        values.append(bb.metric(metric, news, made_up).value)
        if at < 8:
            found = bb.metric(metric, news, made_up, p_value="related")
            sds.append(found.null_sd)
            means.append(found.null_mean)
    assert np.sqrt(np.mean(np.square(sds))) == pytest.approx(np.std(values), rel=0.15)
    assert np.mean(means) == pytest.approx(np.mean(values), abs=4 * np.std(values) / 300**0.5)


def test_p_values_of_random_topics_are_roughly_uniform(news):
    """Fifty pairs of topics, each a random word with its seven nearest words, among 1,500 words of the vocabulary."""
    targets = bb.load_query("weat1").targets
    taken = {word for listed in targets.values() for word in listed if word in news}
    rng = np.random.default_rng(0)
    pool = [word for word in news.index_to_key if word not in taken]
    pool = [pool[place] for place in rng.choice(len(pool), 1500, replace=False)]
    smaller = made({word: news[word] for word in [*pool, *sorted(taken)]})
    units = units_of(smaller, pool)
    found = []
    for _ in range(50):
        first, second = (units @ units[rng.integers(len(pool))] for _ in range(2))
        a = np.argsort(-first)[:8]
        second[a] = -2  # a word is in one topic
        b = np.argsort(-second)[:8]
        query = bb.Query(targets, {"a": [pool[at] for at in a], "b": [pool[at] for at in b]})
        found.append(bb.metric("weat", smaller, query, p_value="related"))
    p = np.array([one.p_value for one in found])
    z = np.array([one.value / one.null_sd for one in found])
    assert stats.kstest(p, "uniform").pvalue > 0.01
    assert np.mean(p < 0.11) < 0.25
    assert 0.75 < z.std() < 1.3


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("ect", {}, f"ect is not a weighted sum of cosines, .*: valid are {VALID}"),
        ("weat_effect_size", {}, f"weat_effect_size is not a weighted sum of cosines, .*: valid are {VALID}"),
        ("rnd", {}, f"rnd with distance='norm' is not a weighted sum of cosines, .*: valid are {VALID}"),
        ("ripa", {}, f"ripa with normalise=False is not a weighted sum of cosines, .*: valid are {VALID}"),
        ("mac", {"p_value": True}, "p_value is True, and the metric has no permutation test: give False or 'related'"),
        ("mac", {"p_value": "yes"}, "p_value is 'yes': give False or 'related'"),
        ("weat", {"p_value": "yes"}, "p_value is 'yes': give True, False or 'related'"),
        ("weat_effect_size", {"p_value": 1}, "p_value is 1: give True or False"),
        ("ect", {"p_value": True}, "ect has no option 'p_value'"),
        ("mac", {"permutations": 9}, "mac has no option 'permutations': it takes p_value, alternative, seed"),
        ("mac", {"alternative": "both"}, "alternative is 'both'"),
    ],
)
def test_what_cannot_be_tested_is_refused(name, options, message, kv):
    options = {"p_value": "related", **options}
    with pytest.raises(bb.InputError, match=message):
        bb.metric(name, kv, query_for(name), **options)
    with pytest.raises(bb.InputError, match=message):
        bb.run_metrics(kv, query_for(name), (name, options))


def test_few_words_make_the_sd_larger_and_fewer_are_refused(kv):
    query = query_for("weat")
    some = made({word: kv[word] for word in kv.index_to_key[:100]})
    found = bb.metric("weat", some, query, p_value="related")
    assert "91 words sampled from all words, fewer than 400, so that their sd is made 1.26 times as large" in str(found)
    few = made({word: kv[word] for word in kv.index_to_key[:58]})
    with pytest.raises(bb.InputError, match=r"p_value='related' needs a vocabulary: the embedding holds 49 words"):
        bb.metric("weat", few, query, p_value="related")
