"""Bootstrapped metrics and rankings of embeddings."""

import numpy as np
import pytest
from gensim.models import KeyedVectors
from scipy import stats

import bayesbias as bb
from bayesbias.comparison.uncertainty import word_lists_of


def planted(strength, seed=0, words=30, drop=()):
    """Groups m and f, attributes a and b; the first of either share a direction of a given strength."""
    rng = np.random.default_rng(seed)
    vectors = {}
    for name, sign in (("m", 1), ("f", -1), ("a", 1), ("b", -1)):
        for at in range(words):
            vectors[f"{name}{at}"] = rng.normal(size=20) + sign * strength * np.eye(20)[0]
    kept = {word: vector for word, vector in vectors.items() if word not in drop}
    kv = KeyedVectors(20)
    kv.add_vectors(list(kept), np.array(list(kept.values()), dtype=np.float32))
    return kv


QUERY = bb.Query(
    {key: [f"{key}{at}" for at in range(30)] for key in "mf"},
    {key: [f"{key}{at}" for at in range(30)] for key in "ab"},
    name="planted",
)


def test_the_bootstrap_sd_of_a_mean_is_its_standard_error():
    """SemAxis of one target set is a mean of cosines with a fixed axis if only targets are drawn."""
    query = QUERY.subqueries(1, 2)[0]
    kv = planted(0.5)
    found = bb.bootstrap_metric("semaxis", kv, query, draws=4000, over="targets", posterior=False)
    values = bb.metric("semaxis", kv, query).per_word["value"]
    assert found.sd == pytest.approx(values.std(ddof=0) / np.sqrt(30), rel=0.05)
    low, high = stats.norm.interval(0.89, found.value, found.sd)
    assert found.interval == pytest.approx((low, high), abs=0.1 * found.sd)


def test_the_posterior_stands_beside_the_metric_with_the_same_sign():
    strong = bb.bootstrap_metric("weat", planted(1.0), QUERY, draws=50)
    row = strong.posterior.iloc[0]
    assert row["contrast"] == "associated - different"
    assert strong.value > 0 > row["hdi_high"]
    # WEAT's mean difference is twice the contrast of balanced means, with the sign turned
    assert row["mean"] == pytest.approx(-strong.value / 30 / 2, abs=0.01)
    assert "crossed model's associated - different" in str(strong)


def test_a_query_that_the_model_cannot_take_says_so():
    assert "no counterpart of 1 target" in word_lists_of(QUERY.subqueries(1, 2)[0])
    found = bb.bootstrap_metric("mac", planted(0.5), QUERY.subqueries(1, 2)[0], draws=10)
    assert found.posterior.empty
    assert "no counterpart" in " ".join(found.notes)


def test_a_shift_of_the_bootstrap_is_seeded():
    kv = planted(0.5)
    one, again, other = (bb.bootstrap_metric("rnd", kv, QUERY.subqueries(2, 1)[0], 20, seed=s).draws for s in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)


def test_a_metric_without_value_has_no_bootstrap():
    query = bb.Query({"x": ["gone"], "y": ["m0"]}, {"p": ["a0"], "q": ["b0"]})
    with pytest.raises(bb.InputError, match=r"there is no weat of .*1 of 1 words of the set 'x' are missing"):
        bb.bootstrap_metric("weat", planted(0.5), query)


@pytest.fixture(scope="module")
def ranking():
    kvs = {"strong": planted(1.5, seed=1), "none": planted(0.0, seed=2), "weak": planted(0.4, seed=3)}
    outside = {"task": {"strong": 3, "none": 1, "weak": 2}}
    return bb.rank(kvs, QUERY, ["weat", "weat_effect_size", "rnd"], draws=100, outside=outside)


def test_more_bias_ranks_later(ranking):
    assert ranking.ranks["weat"].to_dict() == {"strong": 3, "none": 1, "weak": 2}
    assert ranking.scores["weat"].is_monotonic_increasing is False
    assert ranking.ranks["task"].to_dict() == {"strong": 1, "none": 3, "weak": 2}
    expected = stats.spearmanr(ranking.ranks["weat"], ranking.ranks["task"]).statistic
    assert ranking.correlations.loc["weat", "task"] == pytest.approx(expected) == -1


def test_scores_are_means_of_absolute_values(ranking):
    by = ranking.by_query.query("metric == 'rnd' and embedding == 'weak'")
    assert len(by) == 2  # a sub-query for each attribute set
    assert ranking.scores.loc["weak", "rnd"] == pytest.approx(by["value"].abs().mean())


def test_probabilities_are_complementary_and_agree_with_the_ranks(ranking):
    chance = ranking.probabilities.set_index(["metric", "less", "more"])["probability"]
    for metric in ("weat", "rnd"):
        assert chance[metric, "none", "strong"] + chance[metric, "strong", "none"] == pytest.approx(1)
    assert chance["weat", "none", "strong"] > 0.99
    shares = ranking.rank_distribution.groupby(["metric", "embedding"])["probability"].sum()
    np.testing.assert_allclose(shares, 1)
    assert any(
        "each step with probability" in sentence or "do not support" in sentence for sentence in ranking.sentences
    )


def test_one_embedding_twice_is_a_tie():
    kv = planted(0.5)
    found = bb.rank({"one": kv, "two": kv}, QUERY, ["weat", "rnsb"], draws=20)
    assert (found.ranks == 1.5).all().all()
    assert (found.probabilities["probability"] == 0.5).all()
    assert found.sentences[0] == "weat: one = two, so there is no order."
    assert (found.rank_distribution["probability"] == 0.5).all()


def test_only_words_that_all_hold_are_compared():
    kvs = {"whole": planted(0.5), "short": planted(0.5, drop=("m0", "a1"))}
    found = bb.rank(kvs, QUERY, ["weat", "ripa"], draws=5)
    assert found.scores.loc["whole"].tolist() == found.scores.loc["short"].tolist()
    assert "planted: left out, since only some embeddings hold them: m0, a1." in found.notes


def test_wrong_rankings_are_refused():
    kv = planted(0.5)
    with pytest.raises(bb.InputError, match="two embeddings at least"):
        bb.rank({"one": kv}, QUERY)
    with pytest.raises(bb.InputError, match="'web' has no score of two"):
        bb.rank({"one": kv, "two": kv}, QUERY, "weat", outside={"web": {"one": 1}})
    with pytest.raises(bb.InputError, match="aggregate is 'sum'"):
        bb.rank({"one": kv, "two": kv}, QUERY, "weat", aggregate="sum")
