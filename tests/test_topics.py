"""Random topics in place of attribute lists: hand-worked contrasts, coherence, uniform p-values, real lists."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesbias as bb

HAND = {
    "a": (1, 0), "b": (0, 1), "x1": (0.6, 0.8), "x2": (0.8, 0.6), "y1": (-1, 0), "y2": (0, 1), "h": (0, -1),
    **{f"word{at}": (np.cos(at), np.sin(at)) for at in range(5)},
}  # fmt: skip
LISTS = bb.WordLists("hand", {"A": ["a"], "B": ["b"]}, {"A": ["x1", "x2"], "B": ["y1", "y2"]}, {"human": ["h"]})
CONTRASTS = ("associated - different", "associated - human", "associated - neutral")


@pytest.fixture(scope="module")
def news(shared):
    return bb.load_embedding(shared / "embeddings" / "google_news_slice.bin")


@pytest.fixture(scope="module")
def part(news):
    """A random part of the vocabulary, in which topics are found fast."""
    rng = np.random.default_rng(0)
    kept = {*rng.choice(news.index_to_key, 1500, replace=False), *bb.load_words("gender").every_word()}
    return bb.load_embedding({word: news[word] for word in news.index_to_key if word in kept and word.strip()})


@pytest.fixture(scope="module")
def gender(news):
    return bb.topic_null(news, "gender", replicates=400, seed=1)


def random_vectors(words=80, size=12, seed=0):
    rng = np.random.default_rng(seed)
    return {f"word{at}": rng.standard_normal(size) for at in range(words)}


def similarity(kv, words):
    vectors = np.array([kv[word] for word in words], dtype=float)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors @ vectors.T)[np.triu_indices(len(words), 1)].mean()


def values_of(null):
    return null.values  # noqa: PD011


def replaced(lists, topics):
    """Word lists with their attribute lists replaced by random ones."""
    stereotypes = {name: topics[name] for name in lists.stereotypes}
    return bb.WordLists("replicate", lists.protected, stereotypes, {name: topics[name] for name in lists.controls})


def test_contrasts_by_hand():
    null = bb.topic_null(HAND, LISTS, replicates=20)
    # mean distances of a: x .3, y 1.5, h 1; of b: x .3, y .5, h 2
    assert null.observed == pytest.approx(
        {"associated - human": ((0.3 - 1) + (0.5 - 2)) / 2, "associated - different": ((0.3 - 1.5) + (0.5 - 0.3)) / 2}
    )
    assert null.centre == {"associated - human": 0, "associated - different": 0}
    assert null.coherence["list"].tolist() == ["A", "B", "human"]
    assert null.coherence["words"].tolist() == [2, 2, 1]
    np.testing.assert_allclose(null.coherence["target"], [0.96, 0, np.nan], atol=1e-7)
    assert np.isnan(null.coherence["reached"].iloc[2])
    for replicate in range(20):
        lists = null.lists(replicate)
        assert sorted(word for words in lists.values() for word in words) == [f"word{at}" for at in range(5)]
        near = {name: 1 - np.array([HAND[word] for word in words]).mean(axis=0) for name, words in lists.items()}
        contrasts = {
            "associated - human": (near["A"][0] + near["B"][1] - near["human"].sum()) / 2,
            "associated - different": (near["A"][0] - near["B"][0] + near["B"][1] - near["A"][1]) / 2,
        }
        for name, value in contrasts.items():
            assert null.of(name)[replicate] == pytest.approx(value)


def test_topics_of_a_tiny_vocabulary_are_the_nearest_words():
    """Five directions, of each three words; a list of three alike words can only be replaced by such a three."""
    rng = np.random.default_rng(0)
    kv = {f"{kind}{at}": np.eye(8)[kind] + 0.02 * rng.standard_normal(8) for kind in range(7) for at in range(3)}
    lists = bb.WordLists("three", {"g": ["50", "51"], "h": ["52"]}, {"g": ["60", "61", "62"], "h": ["a", "b"]})
    kv |= {"a": np.eye(8)[6] + 0.1, "b": -np.eye(8)[6] + 0.1}
    null = bb.topic_null(kv, lists, replicates=40)
    for replicate in range(40):
        topic = null.lists(replicate)["g"]
        assert len({word[0] for word in topic}) == 1
        assert similarity(kv, topic) > 0.9
    assert {null.lists(replicate)["g"][0][0] for replicate in range(40)} == set("01234")


def test_the_table_counts_replicates_as_far_from_the_centre():
    null = bb.topic_null(random_vectors(), lists_of(), replicates=99)
    assert list(values_of(null).columns) == ["replicate", "statistic", "value"]
    assert len(null.table()) == 3
    for row in null.table().to_dict("records"):
        values = values_of(null).query(f"statistic == '{row['statistic']}'").set_index("replicate")["value"]
        assert len(values) == 99
        assert row["observed"] == null.observed[row["statistic"]]
        assert row["count"] == sum(abs(values) >= abs(row["observed"]))
        assert row["share_as_far"] == row["count"] / 99
        assert row["p_value"] == (row["count"] + 1) / 100
        assert (row["mean"], row["sd"]) == pytest.approx((values.mean(), values.std()))
        assert (row["low"], row["high"]) == pytest.approx(tuple(values.quantile([0.055, 0.945])))
    first, second, third = null.table().to_dict("records")

    def minus(row):
        return f"{row['observed']:.3f}".replace("-", "−")

    assert null.sentence == (
        f"Of 99 random lists as coherent as these, {first['count']} are at least as far from 0 "
        f"(associated − different: {minus(first)}). The count is {second['count']} for associated − human "
        f"({minus(second)}) and {third['count']} for associated − neutral ({minus(third)})."
    )
    assert str(null).startswith(null.sentence)
    assert repr(null) == str(null)


def lists_of(first="word0", name="made"):
    """Lists of the words of ``random_vectors``: two groups, stereotypes and controls."""
    return bb.WordLists(
        name,
        {"g": [first, "word1"], "h": ["word2"]},
        {"g": ["word3", "word4"], "h": ["word5", "word6", "word7"]},
        {"human": ["word8", "word9", "word10"], "neutral": ["word11", "word12", "word13", "word14"]},
    )


@pytest.mark.parametrize("kind", ["topical", "random"])
def test_values_are_those_of_the_contrast_of_each_replicates_lists(kind):
    kv, lists = bb.load_embedding(random_vectors()), lists_of()
    null = bb.topic_null(kv, lists, replicates=6, kind=kind)
    table = bb.distance_table(kv, lists, relatedness=False)
    for name in CONTRASTS:
        assert null.observed[name] == pytest.approx(bb.checks.cluster_interval(table, *name.split(" - ")).estimate)
        for replicate in range(6):
            drawn = bb.distance_table(kv, replaced(lists, null.lists(replicate)), relatedness=False)
            estimate = bb.checks.cluster_interval(drawn, *name.split(" - ")).estimate
            assert null.of(name)[replicate] == pytest.approx(estimate, abs=1e-6)


def test_a_word_without_own_stereotypes_counts_in_no_contrast_of_associated_words():
    kv = random_vectors()
    with_h = bb.WordLists("x", {"g": ["word0"], "h": ["word2"]}, {"g": ["word3", "word4"]}, {"human": ["word8"]})
    without = bb.WordLists("y", {"g": ["word0"]}, {"g": ["word3", "word4"]}, {"human": ["word8"]})
    first, second = (bb.topic_null(kv, lists, replicates=5) for lists in (with_h, without))
    assert list(first.observed) == ["associated - human"]
    assert first.observed == second.observed
    for replicate in range(5):
        table = bb.distance_table(kv, replaced(with_h, first.lists(replicate)), relatedness=False)
        own = bb.checks.cluster_interval(table, "associated", "human").estimate
        assert first.of("associated - human")[replicate] == pytest.approx(own, abs=1e-6)


def test_lists_have_the_sizes_of_the_given_ones_and_share_no_word(gender, news):
    lists = bb.load_words("gender")
    given = {**lists.stereotypes, **lists.controls}
    sizes = {name: sum(word in news for word in words) for name, words in given.items()}
    for replicate in range(0, 400, 20):
        topics = gender.lists(replicate)
        assert {name: len(words) for name, words in topics.items()} == sizes
        every = [word for words in topics.values() for word in words]
        assert len(set(every)) == len(every)
        assert not set(every) & set(lists.every_word())


def test_coherence_is_that_of_the_given_lists(gender, news):
    lists = bb.load_words("gender")
    table = gender.coherence.set_index("list")
    for name, words in {**lists.stereotypes, **lists.controls}.items():
        assert table.loc[name, "target"] == pytest.approx(similarity(news, [w for w in words if w in news]), abs=1e-6)
        found = np.mean([similarity(news, gender.lists(replicate)[name]) for replicate in range(400)])
        assert table.loc[name, "reached"] == pytest.approx(found, abs=1e-6)
        assert abs(table.loc[name, "reached"] - table.loc[name, "target"]) < 0.03
    # of long lists the mean is known well
    assert (table["reached"] - table["target"]).loc[["human", "neutral"]].abs().max() < 0.004
    assert not any("mean similarity" in note for note in gender.notes)
    for words in ("weat7", "religion"):
        table = bb.topic_null(news, words, replicates=60).coherence
        assert (table["reached"] - table["target"]).abs().max() < 0.03


def test_random_words_are_as_coherent_as_the_vocabulary(news):
    null = bb.topic_null(news, "gender", replicates=200, kind="random")
    unit = news.get_normed_vectors()
    mean = unit.mean(axis=0, dtype=float)
    np.testing.assert_allclose(null.coherence["reached"], mean @ mean, atol=0.01)
    assert null.sentence.startswith("Of 200 lists of unrelated random words, ")
    assert not any("mean similarity" in note for note in null.notes)


def test_real_lists_among_topics(gender, news):
    shares = gender.table().set_index("statistic")["share_as_far"]
    assert list(shares.index) == list(CONTRASTS)
    assert 0.005 < shares["associated - human"] < 0.045
    assert shares["associated - neutral"] < 0.02
    assert shares["associated - different"] < 0.02
    assert gender.observed["associated - human"] == pytest.approx(-0.120, abs=5e-4)
    assert gender.embedding == "google_news_slice.bin"
    assert any("control list human: 64 of 85 words found" in note for note in gender.notes)
    race = bb.topic_null(news, "race", replicates=100).table().set_index("statistic")
    assert race.loc["associated - human", "share_as_far"] > 0.4
    # alike words vary more than unrelated ones, so that their contrasts do
    unrelated = bb.topic_null(news, "gender", replicates=200, kind="random").table()["sd"]
    assert (gender.table()["sd"] > 1.5 * unrelated).all()


def test_p_values_are_uniform_where_the_lists_are_topics_themselves(part):
    rng = np.random.default_rng(3)
    protected = bb.load_words("gender").protected
    listed = {word for words in protected.values() for word in words}
    unit = part.get_normed_vectors()
    free = np.array([at for at, word in enumerate(part.index_to_key) if word not in listed])
    p_values = []
    for trial in range(60):
        stereotypes, used = {}, set()
        for name in protected:
            near = free[np.argsort(-unit[free] @ unit[rng.choice(free)])][:60]
            near = [at for at in near if at not in used]
            chosen = rng.choice(near, 8, replace=False)
            used.update(chosen)
            stereotypes[name] = [part.index_to_key[at] for at in chosen]
        null = bb.topic_null(part, bb.WordLists("topics", protected, stereotypes), replicates=99, seed=trial)
        p_values.append(null.table()["p_value"].item())
    low, high = stats.binom.ppf([0.001, 0.999], 60, 0.11)
    assert low <= np.sum(np.array(p_values) <= 0.11) <= high
    assert stats.kstest(p_values, "uniform").pvalue > 0.001


def test_a_metric_of_a_query():
    kv = bb.load_embedding(random_vectors())
    query = bb.Query(
        {"x": ["word0", "word1"], "y": ["word2", "word3"]}, {"a": ["word4", "word5", "none"], "b": ["word6", "word7"]}
    )
    for metric, options in (("weat", {"max_missing": 0.5}), ("mac", {"max_missing": 0.5})):
        null = bb.topic_null(kv, query, (metric, options), replicates=40)
        assert null.observed == {metric: float(bb.metric(metric, kv, query, **options))}
        assert null.centre == {metric: {"weat": 0, "mac": 1}[metric]}
        for replicate in range(5):
            drawn = bb.metric(metric, kv, bb.Query(query.targets, null.lists(replicate)))
            assert null.of(metric)[replicate] == pytest.approx(float(drawn), abs=1e-6)
        assert null.coherence["words"].tolist() == [2, 2]
        assert any("a lacks none" in note for note in null.notes)
    far = (values_of(null)["value"] - 1).abs() >= abs(null.observed["mac"] - 1)
    assert null.table()["count"].item() == far.sum() > 0
    assert "from 1 (mac: " in null.sentence


def test_a_metric_of_word_lists_takes_stereotypes_only():
    null = bb.topic_null(random_vectors(), lists_of(), "weat_effect_size", replicates=5)
    assert null.coherence["list"].tolist() == ["g stereotype", "h stereotype"]
    drawn = {word for replicate in range(5) for words in null.lists(replicate).values() for word in words}
    assert not drawn & set(lists_of().every_word())


def test_names_are_word_lists_without_a_metric_and_queries_with_one(slice_vectors):
    assert bb.topic_null(slice_vectors, "weat7", replicates=2, kind="random").coherence["list"].tolist() == [
        "math", "arts", "neutral", "human",
    ]  # fmt: skip
    query = bb.topic_null(slice_vectors, "weat7", "weat", replicates=2, kind="random")
    assert query.coherence["list"].tolist() == list(bb.load_query("weat7").attributes)
    assert "gender stereotype" not in query.coherence["list"].tolist()
    words = bb.topic_null(slice_vectors, "gender", "weat", replicates=2, kind="random")
    assert words.coherence["list"].tolist() == ["man stereotype", "woman stereotype"]


def test_words_found_under_another_capitalisation():
    kv = random_vectors()
    kv["Word0"] = kv.pop("word0")
    null = bb.topic_null(kv, lists_of(), replicates=30, case="fallback")
    assert null.observed == bb.topic_null(random_vectors(), lists_of(), replicates=1).observed
    assert "Word0" not in {
        word for replicate in range(30) for words in null.lists(replicate).values() for word in words
    }
    assert any("read under another spelling: word0 as Word0" in note for note in null.notes)
    assert bb.topic_null(kv, lists_of(), replicates=2).observed != null.observed


def test_lists_more_or_less_coherent_than_any_topic_are_told():
    kv = random_vectors()
    kv["word4"] = kv["word3"] + 0.01
    kv["word6"], kv["word7"] = -kv["word5"], kv["word5"] + 1.0
    null = bb.topic_null(kv, lists_of(), replicates=30)
    row = null.coherence.set_index("list").loc["g"]
    assert row["target"] > 0.99
    assert row["reached"] < 0.9
    less = (
        f"random lists in place of g reach a mean similarity of {row['reached']:.2f} and not 1.00: the null "
        "distribution may be too narrow"
    )
    assert less in null.notes
    assert any("in place of h " in note and note.endswith("too wide") for note in null.notes)
    assert f"{less}." in str(null)


def test_a_small_vocabulary_is_told():
    few = bb.topic_null(random_vectors(60), lists_of(), replicates=3, kind="random")
    assert few.notes == (
        "replicates of 12 words are drawn from 45 words, so that they share many of them: load more of the embedding",
    )
    assert bb.topic_null(random_vectors(200), lists_of(), replicates=3, kind="random").notes == ()


@pytest.mark.parametrize("kind", ["topical", "random"])
def test_a_seed_gives_the_same_replicates(kind):
    first, again, other = (
        bb.topic_null(random_vectors(), lists_of(), replicates=30, seed=seed, kind=kind) for seed in (4, 4, 5)
    )
    pd.testing.assert_frame_equal(values_of(first), values_of(again))
    pd.testing.assert_frame_equal(first.table(), again.table())
    assert (first.drawn == again.drawn).all()
    assert not values_of(first).equals(values_of(other))


def test_the_page_is_escaped():
    null = bb.topic_null(random_vectors(), lists_of(name="<b>"), replicates=3)
    null.coherence.loc[0, "list"] = "<script>"
    page = null._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "share_as_far" in page


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (LISTS, {"kind": "other"}, "kind is 'other': valid are topical, random"),
        (LISTS, {"replicates": 2.5}, "replicates is 2.5: give a whole number of at least 1"),
        (LISTS, {"replicates": 0}, "replicates is 0"),
        (LISTS, {"seed": -1}, "seed is -1: give a whole number of at least 0"),
        (LISTS, {"case": "any"}, "case is 'any': valid are as-is, fallback"),
        (LISTS, {"metric": "wheat"}, "there is no metric 'wheat' .did you mean 'weat'"),
        (LISTS, {"metric": ("rnd", 3)}, "the options of rnd are 3: give a mapping"),
        (LISTS, {"metric": ("weat", {"sides": 2})}, "weat has no option 'sides'"),
        (bb.Query({"A": ["a"]}, {"X": ["x1"]}), {}, "is a query, which has no contrasts: name a metric, one of weat, "),
        (bb.Query({"A": ["a"]}, {"X": ["x1"]}), {"metric": "weat"}, "takes at least 2 target sets"),
        (bb.Query({"A": ["a"], "B": ["b"]}, {"X": ["x1"]}), {"metric": "weat"}, "takes at least 2 attribute sets"),
        (bb.Query({"A": ["a"]}, {"X": ["none"]}), {"metric": "mac"}, "there is no mac of"),
        ("weat2", {}, "is a query, which has no contrasts"),
        ("jedi", {}, "there is no word list 'jedi'"),
        ("jedi", {"metric": "weat"}, "there is no query 'jedi'"),
        (["a", "b"], {}, "given is list: give word lists, a Query, or the name or path of either"),
        (bb.WordLists("x", {"A": ["a"]}, {}, {"human": ["h"]}), {}, "only human distances: give stereotypes"),
        (bb.WordLists("x", {"A": ["a"], "B": ["b"]}, {"A": ["x1"]}), {}, "only associated, different distances"),
        (
            bb.WordLists("x", LISTS.protected, LISTS.stereotypes, {"human": ["h", "word0"]}),
            {},
            "has 4 words outside of the lists, and 6 are needed to replace",
        ),
    ],
)  # fmt: skip
def test_wrong_input_is_refused(given, options, message):
    with pytest.raises(bb.InputError, match=message):
        bb.topic_null(HAND, given, **options)


def test_what_a_null_does_not_have_is_refused():
    null = bb.topic_null(HAND, LISTS, replicates=3)
    with pytest.raises(
        bb.InputError, match="statistic is 'weat': valid are associated - different, associated - human"
    ):
        null.of("weat")
    with pytest.raises(bb.InputError, match="replicate is 3: there are 3, counted from 0"):
        null.lists(3)
