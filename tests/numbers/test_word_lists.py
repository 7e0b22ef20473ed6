"""Words that are missing, double or too few to settle anything would show only in the numbers."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.checks.convergence import outlying
from bayesbias.checks.word_lists import variants


def lists(protected, controls=("tree", "house")):
    stereotypes = {"a": ["boss"], "b": ["nurse"]}
    kept = {name: words for name, words in stereotypes.items() if name in protected}
    return bb.WordLists("mine", protected, kept, {"neutral": list(controls)})


def test_coverage_duplicates_and_words_of_two_lists():
    words = lists({"a": ["he", "him"], "b": ["she"]}, ("tree", "boss", "lost"))
    vectors = {"he": [1, 0, 0], "him": [2, 0, 0], "she": [1, 0.1, 0], "boss": [0, 1, 0], "nurse": [0, 0, 1]}
    with pytest.warns(bb.errors.RelatednessWarning, match="are no protected or stereotype words"):
        found = bb.check_words(words, vectors | {"tree": [0, 1, 1]})
    assert found.table().set_index(["kind", "list"])["found"].to_dict() == {
        ("protected", "a"): 2,
        ("protected", "b"): 1,
        ("stereotype", "a"): 1,
        ("stereotype", "b"): 1,
        ("control", "neutral"): 2,
    }
    pairs = found.duplicates.set_index(["first", "second"])["cosine"]
    assert pairs["he", "him"] == 1
    assert pairs["he", "she"] == pytest.approx(1 / np.sqrt(1.01))
    assert pairs["him", "she"] == pytest.approx(1 / np.sqrt(1.01))
    assert found.repeated == {"boss": ("stereotype a", "control neutral")}
    notes = {note.code: note.numbers for note in found.notes}
    assert notes["coverage"] == {"found": 2, "asked": 3, "kind": "control", "words": ["lost"]}
    assert notes["several-lists"]["words"] == ["boss (stereotype a/control neutral)"]
    # words of two groups are the comparison itself
    assert found.duplicates.set_index(["first", "second"])["same_list"].to_dict() == {
        ("he", "him"): True,
        ("he", "she"): False,
        ("him", "she"): False,
    }


@pytest.mark.parametrize(
    ("asked", "held"),
    [
        ("New York", "new_york"),
        ("well-being", "wellbeing"),
        ("café", "cafe"),
        ("colour", "color"),
    ],
)
def test_other_spellings_of_missing_words(asked, held):
    found = bb.check_words(lists({"a": [asked]}), {held: [1.0, 0], "boss": [1.0, 1]})
    assert found.spellings[["word", "found"]].to_numpy().tolist() == [[asked, held]]


def test_variants_are_other_words_and_none_is_empty():
    for word in ("a", "is", "s", "bus", "_", "日本"):
        every = list(variants(word))
        assert word not in every
        assert "" not in every
    assert "hi" not in variants("his")


def test_short_lists_settle_nothing(slice_vectors):
    controls = [word for word in bb.load_list("human") if word in slice_vectors.key_to_index]
    found = bb.check_words(lists({"a": ["he"], "b": ["she"]}, controls), slice_vectors)
    reasons = {note.numbers["what"]: note.numbers["reason"] for note in found.notes if note.code == "no-value"}
    assert reasons["whole-list answer"] == "2 protected words, fewer than 3"
    assert {"count": 1.0, "factor": "effective words of a"} in [note.numbers for note in found.notes]
    assert found.balance is not None


def test_bundled_lists_in_the_bundled_vectors(slice_vectors, gender_table):
    found = bb.check_words("gender", slice_vectors)
    worth = bb.relatedness(gender_table).effective_words()
    assert found.table()["effective"].tolist() == pytest.approx(worth["effective"].tolist())
    assert found.table()["asked"].sum() == 350
    assert found.bundled == ("neutral", "human")
    assert found.header()["found"] == "39/39"
    assert "coverage" not in {note.code for note in found.notes}


@pytest.mark.filterwarnings("ignore::bayesbias.errors.RelatednessWarning")
def test_near_duplicates_within_the_bundled_control_lists_are_left_out():
    human = list(bb.load_list("human"))
    vectors = {word: [1.0, 0.0, place / 1e4] for place, word in enumerate(human[:3])} | {
        "he": [1, 0, 0],
        "boss": [0, 1, 1],
    }
    lists = {"protected": {"a": ["he"]}, "stereotypes": {"a": ["boss"]}}
    said = bb.check_words(bb.WordLists("mine", **lists, controls={"human": human}), vectors)
    assert set(said.duplicates["first"]) | set(said.duplicates["second"]) == {"he", *human[:3]}
    assert len(said.duplicates) == 3  # each with he
    own = bb.check_words(bb.WordLists("mine", **lists, controls={"human": human[:3]}), vectors)
    assert len(own.duplicates) == 6  # the words are the user's


def test_control_words_outside_of_the_region_of_one_group_are_named():
    """Control words of one group would seem unrelated, and nothing would say that single words are too certain."""
    older = ["elderly", "retiree", "retirees", "grandfather", "grandmother", "seniors", "elder", "widow"]
    frail = ["frail", "ill", "sick", "illness", "disease", "tired", "dying", "weakness"]
    kv = bb.load_embedding("glove-50d-slice")
    words = bb.WordLists("old", {"older": older}, {"older": frail}, {"human": bb.load_list("human")})
    table = bb.distance_table(kv, words)
    for found in (bb.check_words(words, kv), bb.diagnose(bb.fit(table, seed=0))):
        assert "effective number of human" in [note.numbers.get("what") for note in found.notes]
    assert not outlying(bb.relatedness(bb.distance_table(kv, "gender")).effective_words())
