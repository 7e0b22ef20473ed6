"""Embeddings would be ranked by their lengths, missing words or chance, and the bootstrap would not show it."""

from contextlib import nullcontext

import numpy as np
import pytest
from gensim.models import KeyedVectors
from scipy import stats

import bayesbias as bb
from bayesbias.baselines.ranking import draw_all, linked_sets
from bayesbias.checks import variance_components


def embedding(vectors):
    kv = KeyedVectors(len(next(iter(vectors.values()))))
    kv.add_vectors(list(vectors), np.array(list(vectors.values()), dtype=np.float32))
    return kv


def planted(strength, seed=0, drop=(), **changed):
    """Groups m and f, attributes a and b; the first of either share a direction of a given strength."""
    rng = np.random.default_rng(seed)
    vectors = {}
    for name, sign in (("m", 1), ("f", -1), ("a", 1), ("b", -1)):
        for at in range(30):
            vectors[f"{name}{at}"] = rng.normal(size=20) + sign * strength * np.eye(20)[0]
    return embedding({word: vector for word, vector in (vectors | changed).items() if word not in drop})


QUERY = bb.Query(
    {key: [f"{key}{at}" for at in range(30)] for key in "mf"},
    {key: [f"{key}{at}" for at in range(30)] for key in "ab"},
    name="planted",
)


@pytest.fixture(scope="module")
def pair():
    """Two embeddings of nearly the same bias."""
    return {"one": planted(0.5, seed=1), "two": planted(0.4, seed=2)}


@pytest.fixture(scope="module")
def ranking():
    kvs = {"strong": planted(1.5, seed=1), "none": planted(0.0, seed=2), "weak": planted(0.4, seed=3)}
    outside = {"task": {"strong": 3, "none": 1, "weak": 2}}
    return bb.rank(kvs, QUERY, ["weat", "weat_effect_size", "rnd"], draws=100, outside=outside)


def test_more_bias_ranks_later(ranking):
    assert ranking.ranks["weat"].to_dict() == {"strong": 3, "none": 1, "weak": 2}
    assert ranking.ranks["task"].to_dict() == {"strong": 1, "none": 3, "weak": 2}
    expected = stats.spearmanr(ranking.ranks["weat"], ranking.ranks["task"]).statistic
    spearman = ranking.agreement.set_index(["first", "second"])["spearman"]
    assert spearman["weat", "task"] == pytest.approx(expected) == -1


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
    steps = ranking.table().query("metric == 'weat'")["p_below_next"]
    assert steps.dropna().tolist() == [chance["weat", "none", "weak"], chance["weat", "weak", "strong"]]
    assert {note.numbers["what"] for note in ranking.notes if note.code == "no-value"} == {"random lists"}


@pytest.mark.parametrize("of", ["one embedding twice", "a rotated embedding"])
def test_equal_embeddings_tie(of):
    """Cosines of a rotated one differ by the rounding of single precision."""
    kv = other = planted(0.5)
    if of == "a rotated embedding":
        turn = np.linalg.qr(np.random.default_rng(0).normal(size=(20, 20)))[0]
        other = embedding(dict(zip(kv.index_to_key, kv.vectors @ turn, strict=True)))
    found = bb.rank({"one": kv, "two": other}, QUERY, ["weat", "mac", "rnsb", "ripa"], draws=10)
    assert (found.ranks == 1.5).all().all()
    assert (found.probabilities["probability"] == 0.5).all()
    assert (found.rank_distribution["probability"] == 0.5).all()
    assert found.table()["p_below_next"].isna().all()


@pytest.mark.parametrize(
    ("other", "gone"),
    [({"drop": ("m0", "a1")}, ["m0", "a1"]), ({"m3": np.zeros(20)}, ["m3"])],
    ids=["missing", "zeros"],
)
def test_only_words_that_all_hold_are_compared(other, gone):
    kvs = {"whole": planted(0.5), "other": planted(0.5, **other)}
    for names in (("whole", "other"), ("other", "whole")):
        with pytest.warns(UserWarning, match="zeros") if gone == ["m3"] else nullcontext():
            found = bb.rank({name: kvs[name] for name in names}, QUERY, ["weat", "ripa"], draws=5)
        assert found.scores.loc["whole"].tolist() == found.scores.loc["other"].tolist()
        (note,) = (note for note in found.notes if note.code == "left-out")
        assert (note.numbers["count"], note.numbers["total"], note.numbers["words"]) == (len(gone), 120, gone)


def test_a_query_that_is_listed_twice_changes_no_probability():
    kvs = {"one": planted(0.3, seed=1), "two": planted(0.35, seed=2)}
    once = bb.rank(kvs, QUERY, "weat_effect_size", draws=50)
    often = bb.rank(kvs, {f"copy {at}": QUERY for at in range(6)}, "weat_effect_size", draws=50)
    np.testing.assert_allclose(often.probabilities["probability"], once.probabilities["probability"], atol=1e-12)


def test_words_in_several_sets_are_drawn_together():
    pools = linked_sets([("a", "b", "c"), ("d", "e"), ("c", "f"), ("d", "e")])
    assert sorted(size for size, _ in pools) == [2, 4]
    rng = np.random.default_rng(0)
    for _ in range(50):
        drawn = draw_all(pools, rng)
        first, second = drawn["a", "b", "c"], drawn["c", "f"]
        assert (first == 2).sum() == (second == 0).sum()  # how often "c" was drawn
        assert len(first) + len(second) - (first == 2).sum() == 4
        assert len(drawn["d", "e"]) == 2
    pool = linked_sets([("d", "e", "g")])
    alone = np.bincount(np.concatenate([draw_all(pool, rng)["d", "e", "g"] for _ in range(3000)]))
    np.testing.assert_allclose(alone / 9000, 1 / 3, atol=0.02)


def test_words_that_one_embedding_lacks_count_as_missing_in_all():
    kvs = {"whole": planted(0.5), "short": planted(0.5, drop=tuple(f"m{at}" for at in range(20)))}
    other = bb.Query({"m": ["f0", "f1"], "f": ["f2", "f3"]}, {"a": ["a0", "a1"], "b": ["b0", "b1"]}, name="other")
    found = bb.rank(kvs, [QUERY, other], "weat", draws=5)
    numbers = {note.numbers["reason"]: note.numbers for note in found.notes if note.code == "left-out"}
    left = numbers["20 of 30 words of the set 'm' are missing (at most 20% may be)"]
    assert (left["count"], left["total"], left["words"]) == (1, 2, ["weat of planted"])
    # both are scored on the other query alone
    expected = abs(bb.metric("weat", kvs["whole"], other).value)
    assert found.scores["weat"].tolist() == pytest.approx([expected, expected])
    none = bb.rank(kvs, QUERY, "weat", draws=5)
    assert none.scores["weat"].isna().all()
    assert none.probabilities.empty
    assert {note.code for note in none.notes} == {"coverage", "left-out"}


def test_lengths_of_vectors_do_not_count_unless_asked_for(pair):
    kvs = {"one": pair["one"], "long": planted(0.5, seed=1)}
    kvs["long"].vectors *= 3
    kvs["long"].fill_norms(force=True)
    scores = bb.rank(kvs, QUERY, ["rnd", "rnsb", "ripa"], draws=0).scores
    assert scores.loc["one"].tolist() == pytest.approx(scores.loc["long"].tolist(), rel=1e-5)
    raw = bb.rank(kvs, QUERY, ["rnd", "ripa"], draws=0, normalise=False).scores
    assert raw.loc["long"].tolist() == pytest.approx((3 * raw.loc["one"]).tolist(), rel=1e-5)


def test_seeds_are_nested():
    """The mean square of seeds pools those of all strata with the seed: degrees of freedom by hand."""
    layout = variance_components.Layout(("corpus", "dims", "seed", "word_list"), nested=("seed", "corpus", "dims"))
    labels = [layout.label(one) for one in layout.components]
    single = ["corpus", "dims", "corpus x dims x seed", "word_list", "corpus x dims", "corpus x word_list"]
    assert labels[:6] == single
    assert labels[6:] == ["dims x word_list", "corpus x dims x word_list", "corpus x dims x seed x word_list"]
    shape = (4, 5, 3, 2)
    freedom = [layout.degrees(one, shape)[0] for one in layout.components]
    assert freedom == [3, 4, 20 * 2, 1, 12, 3, 4, 12, 20 * 2]
    assert sum(freedom) == np.prod(shape) - 1


def test_random_topics_show_what_ranks_owe_to_the_vectors():
    """Cosines are smaller in more dimensions: weat ranks them first without a bias, a ratio need not."""
    rng = np.random.default_rng(0)
    words = [*(word for own in QUERY.sets.values() for word in own[:6]), *(f"z{at}" for at in range(800))]
    kvs = {
        name: embedding(dict(zip(words, rng.normal(size=(len(words), dimensions)), strict=True)))
        for name, dimensions in (("few", 5), ("many", 120))
    }
    query = bb.Query(*({name: own[:6] for name, own in part.items()} for part in (QUERY.targets, QUERY.attributes)))
    outside = {"task": {"few": 2, "many": 1}}
    found = bb.rank(kvs, query, ["weat", "weat_effect_size"], draws=60, replicates=60, outside=outside)
    assert found.ranks["weat"].to_dict() == {"few": 2, "many": 1}
    assert found.same_order["weat"] > 0.75 > found.same_order["weat_effect_size"]
    rows = found.agreement.set_index(["first", "second"])
    # with two embeddings a correlation is 1 or -1
    expected = 1 - 2 * found.same_order["weat"]
    assert rows.loc[("weat", "task"), "topics"] == pytest.approx(expected)
    assert (rows["low"] <= rows["high"]).all()
    (note,) = (note for note in found.notes if note.code == "dimension-bias")
    assert note.numbers["metric"] == "weat"
    assert note.numbers["share"] > 0.75
    assert found.table().set_index("metric")["same_order"]["weat"].tolist() == [found.same_order["weat"]] * 2
    assert found.header()["dimensions"] == ["few 5", "many 120"]
    none = bb.rank(kvs, query, "weat", draws=5, replicates=0)
    assert none.notes == ()
    assert none.same_order == {}
    assert none.agreement.empty
