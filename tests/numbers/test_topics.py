"""A contrast would look rarer, or less rare, among random lists as coherent as the given ones than it is."""

from itertools import combinations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import bayesbias as bb
from bayesbias.numerics import random_lists

HAND = {
    "a": (1, 0), "b": (0, 1), "x1": (0.6, 0.8), "x2": (0.8, 0.6), "y1": (-1, 0), "y2": (0, 1), "h": (0, -1),
    **{f"word{at}": (np.cos(at), np.sin(at)) for at in range(5)},
}  # fmt: skip
LISTS = bb.WordLists("hand", {"A": ["a"], "B": ["b"]}, {"A": ["x1", "x2"], "B": ["y1", "y2"]}, {"human": ["h"]})
REPLICATES = 200
CONTRASTS = ("associated - different", "associated - human", "associated - neutral")


@pytest.fixture(scope="module")
def gender(news):
    return bb.topic_null(news, "gender", replicates=REPLICATES, seed=1)


@pytest.fixture(scope="module")
def unrelated(news):
    return bb.topic_null(news, "gender", replicates=REPLICATES, kind="random")


def random_vectors(words=80, size=12, seed=0):
    rng = np.random.default_rng(seed)
    return {f"word{at}": rng.standard_normal(size) for at in range(words)}


def similarity(kv, words):
    vectors = np.array([kv[word] for word in words], dtype=float)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = vectors @ vectors.T
    return (cosines.sum() - len(words)) / (len(words) * (len(words) - 1))


def replaced(lists, topics):
    """Word lists with their attribute lists replaced by random ones."""
    stereotypes = {name: topics[name] for name in lists.stereotypes}
    return bb.WordLists("replicate", lists.protected, stereotypes, {name: topics[name] for name in lists.controls})


def lists_of():
    """Lists of the words of ``random_vectors``: two groups, stereotypes and controls."""
    return bb.WordLists(
        "made",
        {"g": ["word0", "word1"], "h": ["word2"]},
        {"g": ["word3", "word4"], "h": ["word5", "word6", "word7"]},
        {"human": ["word8", "word9", "word10"], "neutral": ["word11", "word12", "word13", "word14"]},
    )


def association(table):
    """The whole list of associated - different as it is defined, from a table of the stereotypes of G groups."""
    groups = list(table["group"].unique())
    stereotypes = table[table["attribute_class"].isin(groups)]
    near = stereotypes.pivot_table("distance", ["group", "protected_word"], "attribute_class")[groups]
    own = near.index.get_level_values("group").to_numpy()
    weights = np.array([1 / (len(groups) * (own == group).sum()) for group in own])
    m = near.to_numpy()
    g = m - m.mean(axis=1, keepdims=True) - weights @ m + (weights @ m).mean()
    mine = g[np.arange(len(g)), [groups.index(group) for group in own]]
    return float(weights @ mine) * len(groups) / (len(groups) - 1)


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
    contrasts = {
        "associated - human": lambda near: (near["A"][0] + near["B"][1] - near["human"].sum()) / 2,
        "associated - different": lambda near: (near["A"][0] - near["B"][0] + near["B"][1] - near["A"][1]) / 2,
    }
    for replicate in range(20):
        for name, value in contrasts.items():
            lists = null.lists(replicate, name)
            assert sorted(word for words in lists.values() for word in words) == [f"word{at}" for at in range(5)]
            near = {name: 1 - np.array([HAND[word] for word in words]).mean(axis=0) for name, words in lists.items()}
            assert null.of(name)[replicate] == pytest.approx(value(near))


def test_topics_of_a_tiny_vocabulary_are_the_nearest_words():
    """Five directions, of each three words; a list of three alike words can only be replaced by such a three."""
    rng = np.random.default_rng(0)
    kv = {f"{kind}{at}": np.eye(8)[kind] + 0.02 * rng.standard_normal(8) for kind in range(7) for at in range(3)}
    lists = bb.WordLists("three", {"g": ["50", "51"], "h": ["52"]}, {"g": ["60", "61", "62"], "h": ["a", "b"]})
    kv |= {"a": np.eye(8)[6] + 0.1, "b": -np.eye(8)[6] + 0.1}
    null = bb.topic_null(kv, lists, replicates=100)
    for replicate in range(100):
        topic = null.lists(replicate)["g"]
        assert len({word[0] for word in topic}) == 1
        assert similarity(kv, topic) > 0.9
    # which of the five: those that are as near to the protected words as the given list
    assert len({null.lists(replicate)["g"][0][0] for replicate in range(100)}) >= 3


def test_the_table_counts_replicates_as_far_from_the_centre():
    null = bb.topic_null(random_vectors(), lists_of(), replicates=99)
    rows = null.table().to_dict("records")
    assert [row["statistic"] for row in rows] == list(CONTRASTS)
    for row in rows:
        values = null.of(row["statistic"])
        assert len(values) == 99
        assert row["observed"] == null.observed[row["statistic"]]
        assert row["count"] == sum(abs(values) >= abs(row["observed"]))
        assert (row["share_as_far"], row["p_value"]) == (row["count"] / 99, (row["count"] + 1) / 100)
        assert (row["mean"], row["sd"]) == pytest.approx((values.mean(), values.std(ddof=1)))
        assert (row["low"], row["high"]) == pytest.approx(tuple(np.quantile(values, [0.055, 0.945])))
    assert null.summary()["as_far"].tolist() == [row["count"] for row in rows]
    assert null.summary()["lists"].tolist() == ["as near", "anywhere", "anywhere"]


def contrasts_of(kv, lists, statistic):
    """A contrast of lists as it is defined, from their mean distances."""
    table = bb.distance_table(kv, lists, relatedness=False)
    if statistic == "associated - different":
        return association(table)
    return bb.checks.cluster_interval(table, *statistic.split(" - ")).estimate


def lists_of_sizes(groups, stereotypes):
    """Lists of the words of ``random_vectors`` with groups and stereotype lists of some sizes."""
    words = iter(f"word{at}" for at in range(200))
    protected, own = ({f"g{at}": [next(words) for _ in range(size)] for at, size in enumerate(sizes)}
                      for sizes in (groups, stereotypes))  # fmt: skip
    return bb.WordLists("sizes", protected, own)


@pytest.mark.parametrize(
    ("lists", "kind"),
    [
        (lists_of(), "topical"),
        (lists_of_sizes((3, 12), (4, 7)), "random"),
        (lists_of_sizes((2, 5, 9), (3, 6, 4)), "topical"),
    ],
)
def test_values_are_those_of_the_contrast_of_each_replicates_lists(lists, kind):
    """Groups weigh the same in every contrast, as they do in a fit and in the interval of clusters."""
    kv = bb.load_embedding(random_vectors(words=90))
    null = bb.topic_null(kv, lists, replicates=6, kind=kind)
    for name in null.observed:
        assert null.observed[name] == pytest.approx(contrasts_of(kv, lists, name), abs=1e-9)
        drawn = [contrasts_of(kv, replaced(lists, null.lists(at, name)), name) for at in range(6)]
        np.testing.assert_allclose(null.of(name), drawn, atol=1e-9)


def test_a_word_of_two_lists_counts_in_each_as_in_a_fit():
    kv = bb.load_embedding("google-news-slice")
    gender = bb.load_words("gender")
    stereotypes = {"man": gender.stereotypes["man"], "woman": [*gender.stereotypes["woman"], "soldier", "officer"]}
    words = bb.WordLists("shared", {group: gender.protected[group][:4] for group in gender.protected}, stereotypes)
    observed = bb.topic_null(kv, words, replicates=3).observed["associated - different"]
    assert bb.contrasts(bb.fit(bb.distance_table(kv, words), draws=40))["mean"][0] == pytest.approx(observed, abs=1e-6)


def test_words_of_several_forms_are_replaced_by_as_many_words():
    kv = bb.load_embedding(random_vectors())
    protected = {"g": [["word0", "word15"], "word1"], "h": ["word2"]}
    lists = bb.WordLists(
        "forms",
        protected,
        {"g": [["word3", "word16", "none"], "word4"], "h": ["word5", ["word6", "word17", "word18"], "word7"]},
        {"human": ["word8", ["word9", "word19"]]},
    )
    null = bb.topic_null(kv, lists, replicates=5)
    assert null.forms == {"g": (2, 1), "h": (1, 3, 1), "human": (1, 2)}
    own = contrasts_of(kv, lists, "associated - different")
    assert null.observed["associated - different"] == pytest.approx(own, abs=1e-9)
    for replicate, statistic in ((at, name) for at in range(5) for name in null.observed):
        topics = null.lists(replicate, statistic)
        every = [word for words in topics.values() for entry in words for word in np.atleast_1d(entry)]
        assert len(set(every)) == len(every) == 11
        assert not set(every) & set(lists.every_word())
        drawn = {name: [w if isinstance(w, str) else list(w) for w in words] for name, words in topics.items()}
        made = bb.WordLists("made", protected, {name: drawn[name] for name in "gh"}, {"human": drawn["human"]})
        value = contrasts_of(kv, made, statistic)
        assert null.of(statistic)[replicate] == pytest.approx(value, abs=1e-9)
    means = [[kv[w] / np.linalg.norm(kv[w]) for w in words] for words in (("word3", "word16"), ("word4",))]
    first, second = (np.mean(each, axis=0) for each in means)
    assert null.coherence["target"][0] == pytest.approx(first @ second, abs=1e-6)


def test_coherence_is_that_of_the_given_lists(gender, news):
    lists = bb.load_words("gender")
    table = gender.coherence.set_index("list")
    vectors = dict(zip(news.index_to_key, news.vectors, strict=True))
    drawn = [gender.lists(at) for at in range(REPLICATES)]
    for name, words in {**lists.stereotypes, **lists.controls}.items():
        assert table.loc[name, "target"] == pytest.approx(similarity(news, [w for w in words if w in news]), abs=1e-6)
        found = np.mean([similarity(vectors, topics[name]) for topics in drawn])
        assert table.loc[name, "reached"] == pytest.approx(found, abs=1e-6)
        assert abs(table.loc[name, "reached"] - table.loc[name, "target"]) < 0.03
    # of long lists the mean is known well
    assert (table["reached"] - table["target"]).loc[["human", "neutral"]].abs().max() < 0.004
    assert not [note for note in gender.notes if note.code == "random-lists"]


def test_long_coherent_lists_are_found_in_any_sample():
    glove = bb.load_embedding("glove-50d-slice")
    for seed in (1, 4):  # samples in which the words nearest to one another are as coherent as the list, or less
        table = bb.topic_null(glove, "gender", replicates=20, seed=seed).coherence.set_index("list")
        assert table.loc["human", "words"] == 85
        assert table.loc["human", "reached"] == pytest.approx(0.347, abs=0.0151)


def test_random_lists_are_as_similar_to_each_other_as_the_given_ones(gender, unrelated, news):
    lists = bb.load_words("gender")
    given = {**lists.stereotypes, **lists.controls}
    names = ["man", "woman", "neutral", "human"]
    pairs = list(zip(gender.similarity["first"], gender.similarity["second"], strict=True))
    assert pairs == list(combinations(names, 2))
    unit = {word: news[word] / np.linalg.norm(news[word]) for word in news.index_to_key}
    means = {name: np.mean([unit[w] for w in words if w in unit], axis=0) for name, words in given.items()}
    outside = np.mean([unit[w] for w in unit if w not in lists.every_word()], axis=0)
    every = {}
    for control, statistic in ((False, "associated - different"), (True, "associated - human")):
        every[control] = {name: [] for name in names}
        for replicate in range(REPLICATES):
            for name, words in gender.lists(replicate, statistic).items():
                every[control][name].append(np.mean([unit[w] for w in words], axis=0))

    def cosine(a, b):
        a, b = a - outside, b - outside
        return np.vecdot(a, b) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1)

    for row in gender.similarity.to_dict("records"):
        first, second = row["first"], row["second"]
        a, b = (np.array(every[row["control"]][name]) for name in (first, second))
        assert row["target"] == pytest.approx(means[first] @ means[second], abs=1e-5)
        assert row["reached"] == pytest.approx(np.vecdot(a, b).mean(), abs=1e-5)
        assert row["cosine_target"] == pytest.approx(cosine(means[first], means[second]), abs=1e-4)
        assert row["cosine_reached"] == pytest.approx(cosine(a, b).mean(), abs=1e-4)
        assert abs(row["reached"] - row["target"]) < 0.01
    first = gender.similarity.iloc[0]
    assert not first["control"]
    assert gender.similarity["control"].sum() == 5
    assert first["cosine_reached"] == pytest.approx(first["cosine_target"], abs=0.1)
    assert abs(unrelated.similarity.iloc[0]["cosine_reached"]) < 0.05


@pytest.mark.parametrize("name", ["weat6", pytest.param("gender", marks=pytest.mark.slow)])
def test_the_null_is_as_wide_as_the_posterior(news, name):
    """Two answers to two questions on one scale: unlike random lists gave .8 to 2.3 times the posterior's sd.

    The posterior knows how widely the given lists scatter (.85 to 1.17 times as widely as the vectors let expect);
    random lists scatter as expected.
    """
    null = bb.topic_null(news, name, replicates=REPLICATES)
    post = bb.fit(bb.distance_table(news, name), seed=0)
    factor = float(post["posterior/sd_factor"].sel(attribute_class="stereotype").mean())
    spread = null.table().set_index("statistic")["sd"]["associated - different"]
    assert 0.75 < spread * factor / bb.contrasts(post)["sd"].iloc[0] < 1.2


def test_a_similarity_that_the_vocabulary_does_not_have_is_told():
    kv = random_vectors()
    kv["word5"], kv["word6"], kv["word7"] = (kv["word3"] + kv["word4"] + 0.1 * kv[f"word{at}"] for at in (5, 6, 7))
    null = bb.topic_null(kv, lists_of(), replicates=30)
    row = null.similarity.iloc[0]
    assert row["target"] > 0.45
    assert row["reached"] < row["target"] - 0.05
    reached, target = round(row["reached"], 2), round(row["target"], 2)
    assert {"lists": "g with h", "reached": reached, "target": target} in [note.numbers for note in null.notes]


def test_real_lists_among_topics(gender, unrelated, news):
    shares = gender.table().set_index("statistic")["share_as_far"]
    assert list(shares.index) == list(CONTRASTS)
    # lists as unlike the control lists as these are lie nearer to the protected words than the control lists do
    assert 0.04 < shares["associated - human"] < 0.13
    assert 0.03 < shares["associated - neutral"] < 0.12
    assert shares["associated - different"] < 0.02
    assert gender.observed["associated - human"] == pytest.approx(-0.120, abs=5e-4)
    assert gender.embedding == "google_news_slice.bin"
    (lost,) = [note.numbers for note in gender.notes if note.code == "coverage"]
    assert (lost["found"], lost["asked"]) == (125, 311)
    # alike words vary more than unrelated ones, so that their contrasts do; less so between lists that are alike
    assert (gender.table()["sd"] > [1.15, 1.5, 1.5] * unrelated.table()["sd"]).all()


@pytest.mark.parametrize(("metric", "centre"), [("weat", 0), ("mac", 1)])
def test_a_metric_of_a_query(metric, centre):
    kv = bb.load_embedding(random_vectors())
    query = bb.Query(
        {"x": ["word0", "word1"], "y": ["word2", "word3"]}, {"a": ["word4", "word5", "none"], "b": ["word6", "word7"]}
    )
    null = bb.topic_null(kv, query, (metric, {"max_missing": 0.5}), replicates=40)
    observed = float(bb.metric(metric, kv, query, max_missing=0.5))
    assert (null.observed, null.centre) == ({metric: observed}, {metric: centre})
    for replicate in range(5):
        drawn = bb.metric(metric, kv, bb.Query(query.targets, null.lists(replicate)))
        assert null.of(metric)[replicate] == pytest.approx(float(drawn), abs=1e-6)
    assert null.coherence["words"].tolist() == [2, 2]
    assert [note.numbers["words"] for note in null.notes] == [["none"]]
    assert null.table()["count"].item() == sum(abs(null.of(metric) - centre) >= abs(observed - centre)) > 0


def test_a_small_vocabulary_is_told():
    few = bb.topic_null(random_vectors(60), lists_of(), replicates=3, kind="random")
    short, note = few.notes
    assert (short.code, short.numbers["words"]) == ("short-lists", ["g 2", "h 1", "g 2", "h 3", "human 3"])
    assert (note.code, note.numbers["words"]) == ("few-candidates", 45)
    assert bb.topic_null(random_vectors(200), lists_of(), replicates=3, kind="random").notes == (short,)


def test_a_replicate_is_the_same_in_blocks_of_any_size_and_among_any_number(slice_vectors, monkeypatch):
    many = bb.topic_null(slice_vectors, "gender", replicates=60)
    monkeypatch.setattr(random_lists, "BLOCK", 7 * len(slice_vectors))
    monkeypatch.setattr(random_lists, "CACHED", 3 * len(slice_vectors))
    few = bb.topic_null(slice_vectors, "gender", replicates=20)
    np.testing.assert_array_equal(few.drawn, many.drawn[:20])
    np.testing.assert_array_equal(few.anywhere, many.anywhere[:20])
    for name in CONTRASTS:
        assert few.of(name).tolist() == many.of(name)[:20].tolist()
    assert (bb.topic_null(slice_vectors, "gender", replicates=20, seed=1).drawn != few.drawn).any()


@pytest.mark.reproducible
def test_threads_of_linear_algebra_change_no_list(slice_vectors, threads):
    several = bb.topic_null(slice_vectors, "gender", replicates=20)
    with threadpool_limits(1, user_api="blas"):
        assert (bb.topic_null(slice_vectors, "gender", replicates=20).drawn == several.drawn).all()


def test_wrong_input_is_refused():
    many = bb.WordLists("x", LISTS.protected, LISTS.stereotypes, {"human": ["h", "word0"]})
    for given, message in (
        (bb.Query({"A": ["a"]}, {"X": ["x1"]}), "is a query, without contrasts: name a metric, one of weat, "),
        (many, "has 4 words outside of the lists, and 6 are needed"),
    ):
        with pytest.raises(bb.InputError, match=message):
            bb.topic_null(HAND, given)
