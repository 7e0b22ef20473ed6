"""Words of one vector, as pruned embeddings have them, would count as independent evidence and feign certainty."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors

import bayesbias as bb
from bayesbias.numerics.arrays import SAME, first_alike
from bayesbias.vectors.lookup import alike_in_all

WORDS = "p q r s t k l m n h i j"
LISTS = bb.WordLists(
    "mine",
    {"a": ["p", "q", "r"], "b": ["s", "t"]},
    {"a": ["k", "l"], "b": ["m", "n"]},
    {"human": ["h", "i", "j"]},
)
QUERY = bb.Query({"x": ["p", "q", "r"], "y": ["s", "t", "k"]}, {"a": ["l", "m"], "b": ["n", "h"]}, name="mine")
ONE_LIST = {"a": ["l", "m"]}


def random_vectors(words=WORDS, **same):
    """Random vectors; ``a="b"`` gives word a the vector of word b."""
    made = {word: np.random.default_rng(at).standard_normal(20) for at, word in enumerate(words.split())}
    kv = KeyedVectors(20)
    kv.add_vectors(list(made), np.array([made[same.get(word, word)] for word in made], dtype=np.float32))
    return kv


def bare(kv, lists=LISTS, **options):
    return bb.distance_table(kv, lists, relatedness=False, **options)


def notes_of(table):
    return bb.coverage(table).attrs["notes"]


class TestRule:
    @pytest.mark.parametrize("vectors", [1, 7, 400, 5000])
    @pytest.mark.parametrize("noise", [0, 1e-8])
    def test_the_first_of_each_vector_is_found(self, vectors, noise):
        held = np.random.default_rng(1).standard_normal((vectors, 50))
        of = np.random.default_rng(2).integers(0, vectors, 6000)
        rows = held[of] * np.random.default_rng(3).uniform(0.1, 10, (6000, 1))  # lengths do not matter
        rows += noise * np.random.default_rng(4).standard_normal(rows.shape)
        codes, first = np.unique(of, return_index=True)
        assert np.array_equal(first_alike(rows), first[np.searchsorted(codes, of)])

    @pytest.mark.parametrize(("distance", "one"), [(0.98 * SAME, True), (1.02 * SAME, False)])
    def test_the_threshold_is_a_cosine(self, distance, one):
        angle = np.arccos(1 - distance)
        rows = np.array([[1, 0, 0], [0, 0, 1], [2 * np.cos(angle), 2 * np.sin(angle), 0]])
        assert first_alike(rows).tolist() == [0, 1, 0 if one else 2]
        assert first_alike(np.array([[1.0, 2.0], [-1.0, -2.0]])).tolist() == [0, 1]  # opposite vectors are two

    @pytest.mark.parametrize("kind", [np.float16, np.float32])
    def test_rounding_does_not_tell_vectors_apart(self, kind):
        rows = np.random.default_rng(5).standard_normal((100, 300))
        assert np.array_equal(first_alike(np.vstack([rows, rows.astype(kind)])), np.tile(np.arange(100), 2))

    def test_no_two_words_of_bundled_vectors_and_lists_are_one(self, slice_vectors):
        """The nearest two, assistant and associate professors, have a cosine of .961 in the lists."""
        assert np.array_equal(first_alike(slice_vectors.vectors), np.arange(len(slice_vectors)))
        pair = slice_vectors.similarity("assistant_professor", "associate_professor")
        assert pair == pytest.approx(0.961, abs=5e-4)
        for name in ("gender", "race", "religion", "weat1", "weat7"):
            kept = bare(slice_vectors, name)
            assert kept.coverage.twins == []
            assert len(kept) == len(bare(slice_vectors, name, twins="keep"))

    def test_no_two_words_of_the_larger_slice_are_one(self, news):
        assert np.array_equal(first_alike(news.vectors), np.arange(13_013))

    def test_a_hundred_thousand_words_are_compared_without_their_square(self):
        rows = np.random.default_rng(6).standard_normal((100_000, 20), dtype=np.float32)
        rows[60_000:] = rows[:40_000]
        tracemalloc.start()
        first = first_alike(rows)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert np.array_equal(first, np.r_[np.arange(60_000), np.arange(40_000)])
        assert peak < 200e6

    def test_words_are_alike_in_all_whoever_comes_first(self):
        """In the second embedding a further word has their vector, and stands before them."""
        kvs = [random_vectors("b a w x", w="a"), random_vectors("b a w x", a="b", w="b")]
        assert alike_in_all(["b", "a", "w", "x"], kvs) == {"w": "a"}


UNKNOWN = {
    "distance_table": lambda kv: bare(kv, twins="x"),
    "metric": lambda kv: bb.metric("mac", kv, QUERY, twins="x"),
    "silhouette": lambda kv: bb.silhouettes.silhouette(kv, QUERY, "weat", twins="x"),
    "silhouette_study": lambda kv: bb.silhouettes.silhouette_study({"one": kv}, {"mine": QUERY}, twins="x"),
    "bias_scores": lambda kv: bb.reliability.bias_scores(kv, ["p"], [("k", "m")], twins="x"),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_unknown_rule_is_refused(name):
    with pytest.raises(bb.InputError, match="twins is 'x': valid are once, keep"):
        UNKNOWN[name](random_vectors())


class TestTables:
    def test_the_first_word_of_a_list_stands_for_all_and_the_coverage_names_the_others(self, tmp_path):
        table = bare(random_vectors(q="p", r="p", l="k", j="h"))
        assert table["protected_word"].unique().tolist() == ["p", "s", "t"]
        assert table["attribute_word"].unique().tolist() == ["k", "m", "n", "h", "i"]
        bb.write_distance_table(table, tmp_path / "table.parquet")
        assert (
            notes_of(table)
            == notes_of(bb.read_distance_table(tmp_path / "table.parquet"))
            == [
                "In the protected list a, q has the vector of p, r has the vector of p; "
                "words of one vector count once.",
                "In the stereotype list a, l has the vector of k; words of one vector count once.",
                "In the control list human, j has the vector of h; words of one vector count once.",
            ]
        )
        assert bb.coverage(table)["found"].tolist() == [3, 2, 2, 2, 3]

    def test_they_can_be_kept(self):
        table = bare(random_vectors(q="p", l="k"), twins="keep")
        assert len(table) == 5 * 7
        assert notes_of(table) == [
            "In the protected list a, q has the vector of p; all are kept.",
            "In the stereotype list a, l has the vector of k; all are kept.",
        ]

    def test_words_of_different_lists_stay_and_are_named(self, tmp_path):
        table = bare(random_vectors(s="p", h="p", m="k"))
        assert len(table) == 5 * 7
        note = "Words of different lists have one vector, and all are kept: p (a), s (b), h (human); k (a), m (b)."
        bb.write_distance_table(table, tmp_path / "table.parquet")
        assert notes_of(table) == notes_of(bb.read_distance_table(tmp_path / "table.parquet")) == [note]

    def test_a_word_stays_in_the_list_where_it_is_alone(self):
        lists = bb.WordLists("mine", LISTS.protected, {"a": ["k", "l"], "b": ["l", "n"]}, LISTS.controls)
        table = bare(random_vectors(l="k"), lists)
        held = table[["attribute_word", "attribute_class"]].drop_duplicates().to_numpy().tolist()
        assert [pair for pair in held if pair[0] in "kl"] == [["k", "a"], ["l", "b"]]

    def test_two_spellings_of_one_word_count_once(self):
        lists = bb.WordLists("mine", {"a": ["p", "P"], "b": ["s"]}, {"a": ["k"]})
        assert bare(random_vectors(), lists, case="fallback")["protected_word"].tolist() == ["p", "s"]

    def test_forms_of_different_lists_with_one_vector_are_named(self):
        words = "il pere elle mere infirmier infirmiere pompier pompiere soldat bonne table mur pierre eau"
        kv = random_vectors(words, pompiere="infirmiere")
        lists = bb.WordLists(
            "fr",
            {"m": ["il", "pere"], "f": ["elle", "mere"]},
            {"m": ["pompier", "soldat"], "f": ["infirmier", "bonne"]},
            {"neutral": ["table", "mur", "pierre", "eau"]},
            forms={"pompier": ["pompier", "pompiere"], "infirmier": ["infirmier", "infirmiere"]},
        )
        table = bare(kv, lists)
        assert table.coverage.one_vector == [{"pompiere": ["m"], "infirmiere": ["f"]}]
        assert "one vector: pompiere (m) = infirmiere (f)" in " ".join(bb.diagnose(bb.fit(table, seed=0)).notes)
        with pytest.warns(bb.errors.RelatednessWarning):
            checked = bb.checks.check_words(lists, kv)
        duplicates = checked.duplicates[["first", "second", "cosine"]].to_numpy().tolist()
        assert duplicates == [["pompiere", "infirmiere", 1.0]]

    def test_the_command_takes_the_rule(self, here, tmp_path):
        lists = tmp_path / "mine.toml"
        lists.write_text('name = "mine"\n[protected]\na = ["p", "q"]\nb = ["s"]\n[stereotypes]\na = ["k", "l"]\n')
        bb.save_embedding(random_vectors(q="p"), tmp_path / "v.npz")
        for options, rows in (([], 4), (["--twins", "keep"], 6)):
            given = ["distances", "v.npz", "mine.toml", "-o", "t.parquet", "--no-relatedness", *options]
            code, _, errors = here(*given)
            assert code == 0, errors
            assert len(bb.read_distance_table(tmp_path / "t.parquet")) == rows
        assert here(*given[:-1], "x")[0] == 1


@pytest.fixture(scope="module")
def tables(slice_vectors):
    """The list ``religion`` where its 15 protected words are 6 vectors, as in pruned embeddings."""
    kv = KeyedVectors(slice_vectors.vector_size)
    kv.add_vectors(slice_vectors.index_to_key, slice_vectors.vectors.copy())
    for words in bb.load_words("religion").protected.values():
        held = [word for word in words if word in kv]
        for at, word in enumerate(held[2:]):
            kv.vectors[kv.key_to_index[word]] = kv[held[at % 2]]
    return {how: bb.distance_table(kv, "religion", twins=how) for how in ("once", "keep")}


class TestPruned:
    def test_the_repeated_words_feigned_certainty(self, tables):
        """Further protected words: the sd of the contrast is that of 6 words, not that of 15."""
        assert {how: table["protected_word"].nunique() for how, table in tables.items()} == {"once": 6, "keep": 15}
        sd = {}
        for how, table in tables.items():
            post = bb.fit(table, "crossed", seed=0)
            sd[how] = bb.contrasts(post, "associated", "different", population="similar")["sd"].iloc[0]
        assert sd["once"] > 1.3 * sd["keep"]

    def test_the_cluster_interval_is_that_of_the_table_without_them(self, tables):
        once, keep = tables["once"], tables["keep"]
        by_hand = keep[keep["protected_word"].isin(once["protected_word"])]
        one, other = (
            bb.checks.cluster_interval(bb.fit(table, "crossed", seed=0), "associated", "human", 0.89)
            for table in (once, by_hand)
        )
        assert (one.estimate, one.se) == pytest.approx((other.estimate, other.se), abs=1e-12)


class TestMetrics:
    def test_a_metric_is_that_of_each_vector_once(self):
        kv = random_vectors(q="p", m="l")
        once = bb.metric("weat_effect_size", kv, QUERY)
        fewer = bb.Query({"x": ["p", "r"], "y": ["s", "t", "k"]}, {"a": ["l"], "b": ["n", "h"]})
        assert once.value == pytest.approx(bb.metric("weat_effect_size", kv, fewer).value, abs=1e-12)
        assert {
            "x: q has the vector of p: counted once",
            "a: m has the vector of l: counted once",
        } <= set(once.notes)
        kept = bb.metric("weat_effect_size", kv, QUERY, twins="keep")
        assert kept.value != pytest.approx(once.value, abs=1e-3)
        assert kept.options["twins"] == "keep"
        assert bb.metric("weat_effect_size", kv, QUERY, compat="wefe").value == kept.value

    def test_run_metrics_takes_the_same_rule(self):
        kv, rules = random_vectors(q="p"), ("once", "keep")
        once, kept = (bb.run_metrics(kv, QUERY, ["mac"], twins=how)["value"][0] for how in rules)
        assert once == bb.metric("mac", kv, QUERY).value != kept

    def test_pairs_of_one_vector_and_pairs_that_repeat_another_are_left_out(self):
        kv = random_vectors(q="p", t="s", k="r")  # p/s, q/t with their vectors, r/k with one vector
        result = bb.metric("db_wa", kv, bb.Query(QUERY.targets, ONE_LIST))
        assert result.value == pytest.approx(bb.metric("db_wa", kv, bb.Query({"x": ["p"], "y": ["s"]}, ONE_LIST)).value)
        assert "pairs left out, since their words have one vector: r/k" in result.notes
        assert "pairs counted once: q/t has the vectors of p/s" in result.notes

    def test_pairs_that_all_have_one_vector_leave_no_value(self):
        result = bb.metric("ripa", random_vectors(s="p"), bb.Query({"x": ["p"], "y": ["s"]}, ONE_LIST))
        assert np.isnan(result.value)
        assert "the words of every pair have one vector" in result.reason

    def test_words_of_different_sets_are_named_and_stay(self):
        result = bb.metric("mac", random_vectors(n="l"), QUERY)
        assert result.notes[-1] == "one vector in different sets, where all stay: l (a), n (b)"
        assert result.coverage["found"].tolist() == [3, 3, 2, 2]

    def test_a_ranking_counts_a_word_once_in_all_embeddings(self):
        kvs = {"one": random_vectors(), "two": random_vectors(q="p")}
        ranking = bb.rank(kvs, QUERY, "weat_effect_size", draws=20)
        fewer = bb.Query({"x": ["p", "r"], "y": ["s", "t", "k"]}, QUERY.attributes)
        expected = [abs(bb.metric("weat_effect_size", kv, fewer).value) for kv in kvs.values()]
        assert ranking.scores["weat_effect_size"].tolist() == pytest.approx(expected)
        assert "mine: x: q has the vector of p: counted once." in ranking.notes


class TestJudging:
    @pytest.mark.parametrize("metric", ["weat", "mac", ("crossed", {"draws": 100})])
    def test_a_silhouette_grows_by_vectors(self, metric):
        options = {"runs": 2, "sizes": "saturate"}
        once = bb.silhouettes.silhouette(random_vectors(q="p"), QUERY, metric, **options)
        kept = bb.silhouettes.silhouette(random_vectors(q="p"), QUERY, metric, twins="keep", **options)
        assert (once.sizes[-1], kept.sizes[-1]) == (5, 6)
        assert "x: q has the vector of p: counted once." in once.notes

    def test_a_study_counts_a_word_once_in_all_models(self):
        kvs = {"one": random_vectors(), "two": random_vectors(q="p")}
        query = {"mine": bb.Query(QUERY.targets, {"a": ["h", "i", "k"], "b": ["l", "m", "n"]})}
        given, options = (kvs, query, ["weat_effect_size"]), {"runs": 3, "sizes": "saturate"}
        once = bb.silhouettes.silhouette_study(*given, **options)
        assert once["words"].tolist() == [5, 5, 6, 6]
        assert "mine: x: q has the vector of p: counted once." in once.attrs["notes"]
        kept = bb.silhouettes.silhouette_study(*given, twins="keep", **options)
        assert kept["words"].tolist() == [6, 6, 6, 6]

    def test_scores_hold_each_word_and_pair_once(self):
        kv, pairs = random_vectors(q="p", n="m", i="h"), [("k", "m"), ("l", "n"), ("k", "n"), ("m", "n")]
        scores = bb.reliability.bias_scores(kv, ["p", "q", "r", "h", "i"], pairs, ["db_wa", "ripa"])
        assert scores["target"].to_numpy().tolist() == ["p", "r", "h"]
        assert scores["base_pair"].to_numpy().tolist() == ["k/m", "l/n"]
        assert scores.attrs["notes"] == (
            "Target words: q has the vector of p, i has the vector of h: counted once.",
            "Base pairs left out, since their words have one vector: m/n.",
            "Base pairs counted once: k/n has the vectors of k/m.",
        )
        kept = bb.reliability.bias_scores(kv, ["p", "q", "r"], pairs[:3], ["db_wa"], twins="keep")
        assert kept.sizes["target"] == kept.sizes["base_pair"] == 3
        apart = bb.reliability.bias_scores([kv, random_vectors()], ["p", "q"], pairs[:1], ["db_wa"])
        assert apart.sizes["target"] == 2  # words of one vector in one training only stay


@pytest.fixture(scope="module")
def repeated():
    table = bare(random_vectors())
    return table.loc[[*table.index, 0, 3]].reset_index(drop=True)


class TestRepeatedPairs:
    """Models that count every row take a pair twice only where that was asked for."""

    @pytest.mark.parametrize("model", ["published", "pooled"])
    def test_they_are_refused(self, repeated, model):
        message = "2 of 37 rows repeat a pair, such as 'p' and 'k', and the model '.*' would count them"
        with pytest.raises(bb.InputError, match=message):
            bb.fit(repeated, model, draws=400, seed=0)
        assert bb.fit(repeated, "crossed", draws=400, seed=0)["observed_data"].sizes["pair"] == 35

    @pytest.mark.parametrize("name", ["table.csv", "table.parquet"])
    def test_they_are_taken_where_the_table_was_read_so(self, repeated, tmp_path, name):
        bb.write_distance_table(pd.DataFrame(repeated), tmp_path / name)
        for keep, rows in ((True, 37), (False, 35)):
            table = bb.read_distance_table(tmp_path / name, keep_duplicates=keep)
            assert bb.fit(table, "published", draws=400, seed=0)["observed_data"].sizes["pair"] == rows
