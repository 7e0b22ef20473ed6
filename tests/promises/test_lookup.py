"""Words of one vector count once: in tables, metrics, silhouettes and scores of reliability."""

import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors

import bayesbias as bb
from bayesbias.numerics.arrays import SAME, first_alike
from bayesbias.vectors.lookup import alike_in_all


def embedding(vectors):
    kv = KeyedVectors(len(next(iter(vectors.values()))))
    kv.add_vectors(list(vectors), np.array(list(vectors.values()), dtype=np.float32))
    return kv


def random_vectors(words, **same):
    """Random vectors; ``a="b"`` gives word a the vector of word b."""
    made = {word: np.random.default_rng(at).standard_normal(20) for at, word in enumerate(words.split())}
    return embedding({word: made[same.get(word, word)] for word in made})


def pruned(kv, sharing):
    """A copy in which some words have the vectors of others."""
    copy = KeyedVectors(kv.vector_size)
    copy.add_vectors(kv.index_to_key, kv.vectors.copy())
    for word, of in sharing.items():
        copy.vectors[copy.key_to_index[word]] = kv.get_vector(of)
    return copy


def test_words_are_alike_in_all_whoever_comes_first():
    """In the second embedding a further word has their vector, and stands before them."""
    kvs = [random_vectors("b a w x", w="a"), random_vectors("b a w x", a="b", w="b")]
    assert alike_in_all(["b", "a", "w", "x"], kvs) == {"w": "a"}


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

    def test_opposite_vectors_are_two(self):
        assert first_alike(np.array([[1.0, 2.0], [-1.0, -2.0]])).tolist() == [0, 1]

    @pytest.mark.parametrize("kind", [np.float16, np.float32])
    def test_rounding_does_not_tell_vectors_apart(self, kind):
        rows = np.random.default_rng(5).standard_normal((100, 300))
        assert np.array_equal(first_alike(np.vstack([rows, rows.astype(kind)])), np.tile(np.arange(100), 2))

    def test_no_two_words_of_the_bundled_vectors_are_one(self, slice_vectors):
        """The nearest two, assistant and associate professors, have a cosine of .961 in the lists."""
        assert np.array_equal(first_alike(slice_vectors.vectors), np.arange(len(slice_vectors)))
        pair = slice_vectors.similarity("assistant_professor", "associate_professor")
        assert pair == pytest.approx(0.961, abs=5e-4)

    def test_no_two_words_of_the_larger_slice_are_one(self, shared):
        vectors = bb.load_embedding(shared / "embeddings" / "google_news_slice.bin").vectors
        assert np.array_equal(first_alike(vectors), np.arange(13_013))

    def test_a_hundred_thousand_words_are_compared_without_their_square(self):
        import tracemalloc

        rows = np.random.default_rng(6).standard_normal((100_000, 20), dtype=np.float32)
        rows[60_000:] = rows[:40_000]
        tracemalloc.start()
        found = first_alike(rows)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert np.array_equal(found, np.r_[np.arange(60_000), np.arange(40_000)])
        assert peak < 200e6


LISTS = bb.WordLists(
    "mine",
    {"a": ["p", "q", "r"], "b": ["s", "t"]},
    {"a": ["k", "l"], "b": ["m", "n"]},
    {"human": ["h", "i", "j"]},
)
WORDS = "p q r s t k l m n h i j"


class TestTables:
    def test_the_first_word_of_a_list_stands_for_all_and_the_coverage_names_the_others(self):
        kv = random_vectors(WORDS, q="p", r="p", l="k", j="h")
        table = bb.distance_table(kv, LISTS, relatedness=False)
        assert table["protected_word"].unique().tolist() == ["p", "s", "t"]
        assert table["attribute_word"].unique().tolist() == ["k", "m", "n", "h", "i"]
        assert bb.coverage(table).attrs["notes"] == [
            "protected list a: q has the vector of p, r has the vector of p: counted once",
            "stereotype list a: l has the vector of k: counted once",
            "control list human: j has the vector of h: counted once",
        ]
        assert bb.coverage(table)["found"].tolist() == [3, 2, 2, 2, 3]

    def test_they_can_be_kept(self):
        kv = random_vectors(WORDS, q="p", l="k")
        table = bb.distance_table(kv, LISTS, relatedness=False, twins="keep")
        assert len(table) == 5 * 7
        assert bb.coverage(table).attrs["notes"] == [
            "protected list a: q has the vector of p: kept",
            "stereotype list a: l has the vector of k: kept",
        ]

    def test_words_of_different_lists_stay_and_are_named(self):
        kv = random_vectors(WORDS, s="p", h="p", m="k")
        table = bb.distance_table(kv, LISTS, relatedness=False)
        assert len(table) == 5 * 7
        assert bb.coverage(table).attrs["notes"] == [
            "one vector in different lists, where all stay: p (a), s (b), h (human); k (a), m (b)"
        ]

    def test_a_word_stays_in_the_list_where_it_is_alone(self):
        lists = bb.WordLists("mine", LISTS.protected, {"a": ["k", "l"], "b": ["l", "n"]}, LISTS.controls)
        table = bb.distance_table(random_vectors(WORDS, l="k"), lists, relatedness=False)
        held = table[["attribute_word", "attribute_class"]].drop_duplicates().to_numpy().tolist()
        assert [pair for pair in held if pair[0] in "kl"] == [["k", "a"], ["l", "b"]]

    def test_two_spellings_of_one_word_count_once(self):
        lists = bb.WordLists("mine", {"a": ["p", "P"], "b": ["s"]}, {"a": ["k"]})
        table = bb.distance_table(random_vectors(WORDS), lists, case="fallback", relatedness=False)
        assert table["protected_word"].tolist() == ["p", "s"]

    def test_the_note_survives_a_file(self, tmp_path):
        kv = random_vectors(WORDS, q="p", s="p")
        table = bb.distance_table(kv, LISTS, relatedness=False)
        bb.write_distance_table(table, tmp_path / "table.parquet")
        again = bb.read_distance_table(tmp_path / "table.parquet")
        assert bb.coverage(again).attrs["notes"] == bb.coverage(table).attrs["notes"]

    def test_no_other_word_of_the_bundled_lists_is_left_out(self, slice_vectors):
        for name in ("gender", "race", "religion", "weat1", "weat7"):
            kept = bb.distance_table(slice_vectors, name, relatedness=False)
            every = bb.distance_table(slice_vectors, name, relatedness=False, twins="keep")
            assert kept.coverage.twins == []
            assert len(kept) == len(every)

    def test_an_unknown_rule_is_refused(self):
        with pytest.raises(bb.InputError, match="twins is 'x': valid are once, keep"):
            bb.distance_table(random_vectors(WORDS), LISTS, twins="x")


@pytest.fixture(scope="module")
def tables(slice_vectors):
    """The list ``religion`` where its 15 protected words are 6 vectors, as in pruned embeddings."""
    lists = bb.load_words("religion")
    sharing = {}
    for words in lists.protected.values():
        held = [word for word in words if word in slice_vectors]
        sharing |= {word: held[at % 2] for at, word in enumerate(held) if at > 1}
    kv = pruned(slice_vectors, sharing)
    return {how: bb.distance_table(kv, lists, twins=how) for how in ("once", "keep")}


class TestPruned:
    def test_each_vector_is_one_protected_word(self, tables):
        assert tables["keep"]["protected_word"].nunique() - tables["once"]["protected_word"].nunique() == 9
        assert tables["once"]["protected_word"].nunique() == 6

    def test_the_repeated_words_feigned_certainty(self, tables):
        """Further protected words: the sd of the contrast is that of 6 words, not that of 15."""
        sd = {}
        for how, table in tables.items():
            post = bb.fit(table, "crossed", seed=0)
            sd[how] = bb.contrasts(post, "associated", "different", population="similar")["sd"].iloc[0]
        assert sd["once"] > 1.3 * sd["keep"]

    def test_the_cluster_interval_is_that_of_the_table_without_them(self, tables):
        kept = set(tables["once"]["protected_word"])
        by_hand = tables["keep"][tables["keep"]["protected_word"].isin(kept)]
        found = [
            bb.checks.cluster_interval(bb.fit(table, "crossed", seed=0), "associated", "human", 0.89)
            for table in (tables["once"], by_hand)
        ]
        assert found[0].estimate == pytest.approx(found[1].estimate, abs=1e-12)
        assert found[0].se == pytest.approx(found[1].se, abs=1e-12)


ONE_LIST = {"a": ["l", "m"]}
QUERY = bb.Query({"x": ["p", "q", "r"], "y": ["s", "t", "k"]}, {"a": ["l", "m"], "b": ["n", "h"]}, name="mine")


class TestMetrics:
    def test_a_metric_is_that_of_each_vector_once(self):
        kv = random_vectors(WORDS, q="p", m="l")
        found = bb.metric("weat_effect_size", kv, QUERY)
        fewer = bb.Query({"x": ["p", "r"], "y": ["s", "t", "k"]}, {"a": ["l"], "b": ["n", "h"]})
        assert found.value == pytest.approx(bb.metric("weat_effect_size", kv, fewer).value, abs=1e-12)
        assert "x: q has the vector of p: counted once" in found.notes
        assert "a: m has the vector of l: counted once" in found.notes
        kept = bb.metric("weat_effect_size", kv, QUERY, twins="keep")
        assert kept.value != pytest.approx(found.value, abs=1e-3)
        assert kept.options["twins"] == "keep"
        assert bb.metric("weat_effect_size", kv, QUERY, compat="wefe").value == kept.value

    def test_run_metrics_and_the_bootstrap_take_the_same_rule(self):
        kv = random_vectors(WORDS, q="p")
        once, kept = (bb.run_metrics(kv, QUERY, ["mac"], twins=how)["value"][0] for how in ("once", "keep"))
        assert once == bb.metric("mac", kv, QUERY).value != kept
        drawn = [
            bb.checks.bootstrap_metric("mac", kv, QUERY, draws=5, posterior=False, twins=how)
            for how in ("once", "keep")
        ]
        assert [one.value for one in drawn] == [once, kept]
        assert not drawn[0].leave_one_out["word"].eq("q").any()

    def test_pairs_of_one_vector_and_pairs_that_repeat_another_are_left_out(self):
        kv = random_vectors(WORDS, q="p", t="s", k="r")
        found = bb.metric(
            "db_wa", kv, bb.Query(QUERY.targets, ONE_LIST)
        )  # p/s, q/t with their vectors, r/k with one vector
        assert found.value == pytest.approx(bb.metric("db_wa", kv, bb.Query({"x": ["p"], "y": ["s"]}, ONE_LIST)).value)
        assert "pairs left out, since their words have one vector: r/k" in found.notes
        assert "pairs counted once: q/t has the vectors of p/s" in found.notes

    def test_pairs_that_all_have_one_vector_leave_no_value(self):
        pairs = bb.Query({"x": ["p"], "y": ["s"]}, ONE_LIST)
        found = bb.metric("ripa", random_vectors(WORDS, s="p"), pairs)
        assert np.isnan(found.value)
        assert "the words of every pair have one vector" in found.reason

    def test_words_of_different_sets_are_named_and_stay(self):
        found = bb.metric("mac", random_vectors(WORDS, n="l"), QUERY)
        assert found.notes[-1] == "one vector in different sets, where all stay: l (a), n (b)"
        assert found.coverage["found"].tolist() == [3, 3, 2, 2]

    def test_a_ranking_counts_a_word_once_in_all_embeddings(self):
        kvs = {"one": random_vectors(WORDS), "two": random_vectors(WORDS, q="p")}
        found = bb.rank(kvs, QUERY, "weat_effect_size", draws=20)
        fewer = bb.Query({"x": ["p", "r"], "y": ["s", "t", "k"]}, QUERY.attributes)
        expected = [abs(bb.metric("weat_effect_size", kv, fewer).value) for kv in kvs.values()]
        assert found.scores["weat_effect_size"].tolist() == pytest.approx(expected)
        assert "mine: x: q has the vector of p: counted once." in found.notes

    def test_an_unknown_rule_is_refused(self):
        for call in (bb.metric, bb.checks.bootstrap_metric):
            with pytest.raises(bb.InputError, match="twins is 'x': valid are once, keep"):
                call("mac", random_vectors(WORDS), QUERY, twins="x")


class TestJudging:
    @pytest.mark.parametrize("metric", ["weat", "mac", ("crossed", {"draws": 100})])
    def test_a_silhouette_grows_by_vectors(self, metric):
        kv = random_vectors(WORDS, q="p")
        found = bb.silhouettes.silhouette(kv, QUERY, metric, runs=2, sizes="saturate")
        assert found.sizes[-1] == 5
        assert "x: q has the vector of p: counted once." in found.notes
        kept = bb.silhouettes.silhouette(kv, QUERY, metric, runs=2, sizes="saturate", twins="keep")
        assert kept.sizes[-1] == 6
        with pytest.raises(bb.InputError, match="twins is 'x'"):
            bb.silhouettes.silhouette(kv, QUERY, metric, twins="x")

    def test_a_study_counts_a_word_once_in_all_models(self):
        kvs = {"one": random_vectors(WORDS), "two": random_vectors(WORDS, q="p")}
        query = {"mine": bb.Query(QUERY.targets, {"a": ["h", "i", "k"], "b": ["l", "m", "n"]})}
        found = bb.silhouettes.silhouette_study(kvs, query, ["weat_effect_size"], runs=3, sizes="saturate")
        assert found["words"].tolist() == [5, 5, 6, 6]
        assert "mine: x: q has the vector of p: counted once." in found.attrs["notes"]
        kept = bb.silhouettes.silhouette_study(kvs, query, ["weat_effect_size"], runs=3, sizes="saturate", twins="keep")
        assert kept["words"].tolist() == [6, 6, 6, 6]
        with pytest.raises(bb.InputError, match="twins is 'x'"):
            bb.silhouettes.silhouette_study(kvs, query, twins="x")

    def test_scores_hold_each_word_and_pair_once(self):
        kv = random_vectors(WORDS, q="p", n="m", i="h")
        pairs = [("k", "m"), ("l", "n"), ("k", "n"), ("m", "n")]
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
        with pytest.raises(bb.InputError, match="twins is 'x'"):
            bb.reliability.bias_scores(kv, ["p"], pairs, twins="x")

    def test_words_of_one_vector_in_one_training_only_stay(self):
        kvs = [random_vectors(WORDS, q="p"), random_vectors(WORDS)]
        assert bb.reliability.bias_scores(kvs, ["p", "q"], [("k", "m")], ["db_wa"]).sizes["target"] == 2


class TestRepeatedPairs:
    """Models that count every row take a pair twice only where that was asked for."""

    @pytest.mark.parametrize("model", ["published", "pooled"])
    def test_they_are_refused(self, model):
        table = bb.distance_table(random_vectors(WORDS), LISTS, relatedness=False)
        table = table.loc[[*table.index, 0, 3]].reset_index(drop=True)
        message = "2 of 37 rows repeat a pair, such as 'p' and 'k', and the model '.*' would count them"
        with pytest.raises(bb.InputError, match=message):
            bb.fit(table, model, draws=400, seed=0)
        assert bb.fit(table, "crossed", draws=400, seed=0)["observed_data"].sizes["pair"] == 35

    @pytest.mark.parametrize("name", ["table.csv", "table.parquet"])
    def test_they_are_taken_where_the_table_was_read_so(self, tmp_path, name):
        table = bb.distance_table(random_vectors(WORDS), LISTS, relatedness=False)
        bb.write_distance_table(pd.DataFrame(table.loc[[*table.index, 0, 3]]), tmp_path / name)
        again = bb.read_distance_table(tmp_path / name, keep_duplicates=True)
        assert bb.fit(again, "published", draws=400, seed=0)["observed_data"].sizes["pair"] == 37
        once = bb.read_distance_table(tmp_path / name)
        assert bb.fit(once, "published", draws=400, seed=0)["observed_data"].sizes["pair"] == 35


def test_the_command_takes_the_rule(here, tmp_path):
    lists = tmp_path / "mine.toml"
    lists.write_text('name = "mine"\n[protected]\na = ["p", "q"]\nb = ["s"]\n[stereotypes]\na = ["k", "l"]\n')
    vectors = tmp_path / "vectors.npz"
    kv = random_vectors(WORDS, q="p")
    bb.save_embedding(kv, vectors)
    for options, rows in (([], 4), (["--twins", "keep"], 6)):
        given = ["distances", str(vectors), str(lists), "-o", str(tmp_path / "t.parquet"), "--no-relatedness", *options]
        code, _, errors = here(*given)
        assert code == 0, errors
        assert len(bb.read_distance_table(tmp_path / "t.parquet")) == rows
    assert here(*given[:-1], "x")[0] == 1


def test_forms_of_different_lists_with_one_vector_are_named():
    rng = np.random.default_rng(0)
    words = [
        "il",
        "pere",
        "elle",
        "mere",
        "infirmier",
        "infirmiere",
        "pompier",
        "pompiere",
        "soldat",
        "bonne",
        "table",
        "mur",
        "pierre",
        "eau",
    ]
    kv = {word: rng.normal(size=20) for word in words}
    kv["pompiere"] = kv["infirmiere"]
    lists = bb.WordLists(
        "fr",
        {"m": ["il", "pere"], "f": ["elle", "mere"]},
        {"m": ["pompier", "soldat"], "f": ["infirmier", "bonne"]},
        {"neutral": ["table", "mur", "pierre", "eau"]},
        forms={"pompier": ["pompier", "pompiere"], "infirmier": ["infirmier", "infirmiere"]},
    )
    table = bb.distance_table(kv, lists, relatedness=False)
    assert table.coverage.one_vector == [{"pompiere": ["m"], "infirmiere": ["f"]}]
    assert "one vector: pompiere (m) = infirmiere (f)" in " ".join(bb.diagnose(bb.fit(table, seed=0)).notes)
    with pytest.warns(bb.errors.RelatednessWarning):
        checked = bb.checks.check_words(lists, kv)
    assert checked.duplicates[["first", "second", "cosine"]].to_numpy().tolist() == [["pompiere", "infirmiere", 1.0]]
