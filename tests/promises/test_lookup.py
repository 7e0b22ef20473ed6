"""Words of one vector, as pruned embeddings have them, would count as independent evidence and feign certainty."""

import warnings

import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors

import bayesbias as bb
from bayesbias.models.tree import Fit
from bayesbias.numerics.arrays import SAME, first_alike
from bayesbias.vectors.lookup import alike_in_all, find_keys

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


def told(notes):
    return [(note.code, *note.numbers.values()) for note in notes]


def notes_of(table):
    return told(table.coverage.notes(table))


COPIES = "copies", 1, "counted once, x", ["q = p"]
"""The note that a word of the set x has the vector of another."""


class TestRule:
    @pytest.mark.parametrize(("vectors", "noise"), [(7, 1e-8), (400, 0)])
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

    def test_rounding_does_not_tell_vectors_apart(self):
        rows = np.random.default_rng(5).standard_normal((100, 300))
        assert np.array_equal(first_alike(np.vstack([rows, rows.astype(np.float16)])), np.tile(np.arange(100), 2))

    def test_words_are_alike_in_all_whoever_comes_first(self):
        """In the second embedding a further word has their vector, and stands before them."""
        kvs = [random_vectors("b a w x", w="a"), random_vectors("b a w x", a="b", w="b")]
        assert alike_in_all(["b", "a", "w", "x"], kvs) == {"w": "a"}


class TestTables:
    def test_the_first_word_of_a_list_stands_for_all_and_the_coverage_names_the_others(self, tmp_path):
        table = bare(random_vectors(q="p", r="p", l="k", j="h"))
        assert table["protected_word"].unique().tolist() == ["p", "s", "t"]
        assert table["attribute_word"].unique().tolist() == ["k", "m", "n", "h", "i"]
        bb.write_distance_table(table, tmp_path / "table.parquet")
        notes = [("copies", 4, "counted once", ["q = p", "r = p", "l = k", "j = h"])]
        assert notes_of(table) == notes_of(bb.read_distance_table(tmp_path / "table.parquet")) == notes
        assert bb.coverage(table)["found"].tolist() == [3, 2, 2, 2, 3]


class TestMetrics:
    def test_a_metric_is_that_of_each_vector_once(self):
        kv = random_vectors(q="p", m="l")
        once = bb.metric("weat_effect_size", kv, QUERY)
        fewer = bb.Query({"x": ["p", "r"], "y": ["s", "t", "k"]}, {"a": ["l"], "b": ["n", "h"]})
        assert once.value == pytest.approx(bb.metric("weat_effect_size", kv, fewer).value, abs=1e-12)
        assert told(once.notes) == [COPIES, ("copies", 1, "counted once, a", ["m = l"])]
        kept = bb.metric("weat_effect_size", kv, QUERY, twins="keep")
        assert kept.value != pytest.approx(once.value, abs=1e-3)
        assert kept.options["twins"] == "keep"
        assert bb.metric("weat_effect_size", kv, QUERY, compat="wefe").value == kept.value


@pytest.fixture(scope="module")
def repeated():
    table = bare(random_vectors())
    return table.loc[[*table.index, 0, 3]].reset_index(drop=True)


class TestRepeatedPairs:
    """Models that count every row take a pair twice only where that was asked for."""

    def test_they_are_refused(self, repeated):
        message = "2 of 37 rows repeat a pair, such as 'p' and 'k', and the model '.*' would count them"
        with pytest.raises(bb.InputError, match=message):
            bb.fit(repeated, "published", draws=400, seed=0)
        assert bb.fit(repeated, "crossed", draws=400, seed=0)["observed_data"].sizes["pair"] == 35


LOSING = bb.WordLists(
    "ages",
    {"old": ["old", "p", "q", "r", "s"], "young": ["t", "k", "gone", "lost"]},
    {"old": ["l", "m"], "young": ["n", "h"]},
    {"human": ["i", "j", "l", "m"]},
)
LOST = "coverage: 6 of 9 protected words found (missing: old, gone, lost)"
WEAK = [("short-lists", 3, ["young 2", "old 2", "young 2"]), ("stereotype-controls", 2, 4, "human", ["l", "m"])]


def lines_of(make):
    """Lines of warnings on lost words, each without where to look, and what is made."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = make()
    said = [str(each.message) for each in caught if issubclass(each.category, bb.errors.CoverageWarning)]
    return [each.rpartition("; see ")[0] for each in said], result


@pytest.fixture(scope="module")
def losing():
    return random_vectors(f"{WORDS} {' '.join(f'w{at}' for at in range(500))}")


@pytest.fixture(scope="module")
def fitted(losing):
    return bb.fit(bb.distance_table(losing, LOSING), seed=0)


class TestLostWords:
    def test_one_warning_names_all_lists_and_the_same_line_goes_with_every_result(self, losing, fitted):
        said, table = lines_of(lambda: bb.distance_table(losing, LOSING))
        assert said == [LOST]
        assert bb.coverage(table)["found"].tolist() == [4, 2, 2, 2, 4]
        for notes in (bb.summary(fitted).notes, bb.diagnose(fitted).notes, Fit.read(fitted).notes):
            assert LOST in notes
            assert told(notes)[-2:] == WEAK

    def test_tables_of_several_embeddings_warn_once_of_what_some_lack(self, losing):
        other = losing.vectors_for_all([word for word in losing.index_to_key if word != "p"])
        said, tables = lines_of(lambda: bb.distance_tables({"a": losing, "b": other}, LOSING))
        line = "coverage: 5 of 9 protected words found (missing: old, p, gone, lost)"
        assert said == [line]
        assert bb.compare(tables, seed=0).notes.count(line) == bb.pool(tables, seed=0).notes.count(line) == 1

    def test_a_fifth_may_be_missing_and_a_name_may_not(self, losing):
        lists = {"protected": {"a": ["p", "q", "r", "s", "gone"], "b": ["t", "k"]}, "controls": {"c": ["l", "m"]}}
        fifth = {**lists, "stereotypes": {"a": ["n", "h"], "b": ["i", "j"]}}
        assert lines_of(lambda: bare(losing, fitted_to(fifth, "a")))[0] == []
        assert lines_of(lambda: bare(losing, fitted_to(fifth, "gone")))[0] == [
            "coverage: 6 of 7 protected words found (missing: gone)"
        ]

    @pytest.mark.parametrize(
        ("make", "line"),
        [
            (lambda kv: bb.relatedness(kv, LOSING), LOST),
            (
                lambda kv: bb.run_metrics({"e": kv}, LOSING, ["weat", "mac"], max_missing=0.5),
                LOST.replace("protected", "ages: target"),
            ),
            (lambda kv: bb.axis(kv, LOSING.protected), LOST.replace("protected", "pole")),
        ],
        ids=["relatedness", "run_metrics", "axis"],
    )
    def test_all_that_look_lists_up_warn_once_and_note_it(self, losing, make, line):
        said, result = lines_of(lambda: make(losing))
        assert said == [line]
        notes = result["notes"].explode().tolist() if isinstance(result, pd.DataFrame) else result.notes
        assert line in notes or type(result).__name__ == "Relatedness"  # of the words that are found

    @pytest.mark.parametrize(
        ("held", "found"),
        [
            ("hard_working hard-working hardworking", "hard_working"),
            ("hardworking hard-working", "hard-working"),
            ("hardworking hard_working hard$working", "hard working"),
        ],
    )
    def test_a_blank_is_an_underscore_a_hyphen_or_nothing(self, held, found):
        keys = [key.replace("$", " ") for key in held.split()]
        assert find_keys(["hard working"], keys) == {"hard working": found}


def fitted_to(lists, name):
    """Lists whose first group has another name."""
    renamed = {
        kind: {name if key == "a" else key: words for key, words in part.items()} for kind, part in lists.items()
    }
    return bb.load_words(renamed)
