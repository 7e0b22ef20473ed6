"""Words that are missing, double or too few to settle anything would show only in the numbers."""

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.checks.word_lists import outlying, variants
from bayesbias.cli.screen import as_commands
from bayesbias.models.tree import Fit
from bayesbias.reporting.verdicts import effective_sentences


def lists(protected, controls=("tree", "house")):
    stereotypes = {"a": ["boss"], "b": ["nurse"]}
    kept = {name: words for name, words in stereotypes.items() if name in protected}
    return bb.WordLists("mine", protected, kept, {"neutral": list(controls)})


def test_coverage_duplicates_and_words_of_two_lists():
    words = lists({"a": ["he", "him"], "b": ["she"]}, ("tree", "boss", "lost"))
    vectors = {"he": [1, 0, 0], "him": [2, 0, 0], "she": [1, 0.1, 0], "boss": [0, 1, 0], "nurse": [0, 0, 1]}
    with pytest.warns(bb.errors.RelatednessWarning, match="are no protected or stereotype words"):
        found = bb.checks.check_words(words, vectors | {"tree": [0, 1, 1]})
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
    said = found.text()
    assert said.startswith("Of the list mine, the mapping holds 7 of 8 words.\nMissing words: control neutral: lost.")
    # words of two groups are the comparison itself
    assert found.duplicates.set_index(["first", "second"])["same_list"].to_dict() == {
        ("he", "him"): True,
        ("he", "she"): False,
        ("him", "she"): False,
    }
    above = "with a cosine similarity above 0.9"
    assert f"Near duplicates within a list, {above}: he and him (one vector). Keep one of each." in said
    assert f"Similar words of different lists, {above}: he and she (1.00), him and she (1.00)." in said
    assert "In more than one list: boss (stereotype a, control neutral)." in said


@pytest.mark.parametrize(
    ("asked", "held"),
    [
        ("New York", "new_york"),
        ("Theatre", "theatre"),
        ("well-being", "wellbeing"),
        ("café", "cafe"),
        ("analyse", "analyze"),
        ("organization", "organisation"),
        ("colour", "color"),
        ("nurses", "nurse"),
        ("nurse", "nurses"),
    ],
)
def test_other_spellings_of_missing_words(asked, held):
    found = bb.checks.check_words(lists({"a": [asked]}), {held: [1.0, 0], "boss": [1.0, 1]})
    assert found.spellings[["word", "found"]].to_numpy().tolist() == [[asked, held]]
    assert f"under another spelling: {asked} as {held}." in found.text()


def test_variants_are_other_words_and_none_is_empty():
    for word in ("a", "is", "s", "bus", "_", "日本"):
        every = list(variants(word))
        assert word not in every
        assert "" not in every
    assert "hi" not in variants("his")


def test_short_lists_are_said_to_settle_nothing(slice_vectors):
    controls = [word for word in bb.load_list("human") if word in slice_vectors.key_to_index]
    found = bb.checks.check_words(lists({"a": ["he"], "b": ["she"]}, controls), slice_vectors)
    assert "An answer on the whole list needs at least 3 protected words, and 2 were found. Add words." in str(found)
    assert "These lists hold little more than one topic" in found.text()
    assert found.balance is not None


def test_bundled_lists_in_the_bundled_vectors(slice_vectors):
    found = bb.checks.check_words("gender", slice_vectors)
    worth = bb.relatedness(bb.distance_table(slice_vectors, "gender")).effective_words()
    assert found.table()["effective"].tolist() == pytest.approx(worth["effective"].tolist())
    assert found.table()["asked"].sum() == 350
    assert found.bundled == ("neutral", "human")
    assert "Of the list gender beside the bundled controls, google-news-slice holds 39 of 39 words." in found.text()
    assert "neutral" not in found.sentences()[0] + found.sentences()[1]
    assert "<table" in found._repr_html_()


def test_nothing_found_is_said():
    found = bb.checks.check_words(lists({"a": ["x1"]}), {"y": [1.0, 2.0]})
    assert "0 of 4 words" in found.text()
    assert "An answer on the whole list needs at least 3 protected words, and none was found. Add words." in found.notes
    assert "No attribute word was found: there is nothing to measure." in found.notes
    assert found.balance is None


@pytest.mark.filterwarnings("ignore::bayesbias.errors.RelatednessWarning")
def test_near_duplicates_within_the_bundled_control_lists_are_left_out():
    human = list(bb.load_list("human"))
    vectors = {word: [1.0, 0.0, place / 1e4] for place, word in enumerate(human[:3])} | {
        "he": [1, 0, 0],
        "boss": [0, 1, 1],
    }
    lists = {"protected": {"a": ["he"]}, "stereotypes": {"a": ["boss"]}}
    said = bb.checks.check_words(bb.WordLists("mine", **lists, controls={"human": human}), vectors)
    assert set(said.duplicates["first"]) | set(said.duplicates["second"]) == {"he", *human[:3]}
    assert len(said.duplicates) == 3  # each with he
    own = bb.checks.check_words(bb.WordLists("mine", **lists, controls={"human": human[:3]}), vectors)
    assert len(own.duplicates) == 6  # the words are the user's


def test_advice_in_python_becomes_a_command():
    advice = "Read fit(table, adjust='frequency') too."
    assert as_commands(advice) == "Read the fit by 'bayesbias fit TABLE -o FIT --adjust frequency' too."


def test_control_words_outside_of_the_region_of_one_group_are_named_and_the_whole_list_is_right():
    """Control words of one group would seem unrelated, and nothing would say that single words are too certain."""
    older = ["elderly", "retiree", "retirees", "grandfather", "grandmother", "seniors", "elder", "widow"]
    frail = ["frail", "ill", "sick", "illness", "disease", "tired", "dying", "weakness"]
    kv = bb.load_embedding("glove-50d-slice")
    words = bb.WordLists("old", {"older": older}, {"older": frail}, {"human": bb.load_list("human")})
    sentence = "The words of human lie outside of there: their effective number is too large"
    assert sentence in bb.checks.check_words(words, kv).text()
    table = bb.distance_table(kv, words)
    assert any(sentence in said for said in effective_sentences(Fit.read(bb.fit(table, seed=0))))
    related = bb.relatedness(table)
    assert not outlying(bb.relatedness(bb.distance_table(kv, "gender")).effective_words())
    # standard deviations over lists of words that are more probable near to a random word, so that they are as coherent
    own = {*related.protected_words, *related.attribute_words}
    others = np.array([row for row, word in enumerate(kv.index_to_key) if word not in own])
    units = kv.vectors / np.linalg.norm(kv.vectors, axis=1, keepdims=True)
    near = units[others] - related.centre
    near /= np.linalg.norm(near, axis=1, keepdims=True)
    protected = units[[kv.key_to_index[word] for word in older]]
    distances = 1 - units[others] @ np.column_stack([protected[0], protected.mean(axis=0)])
    human = related.units[
        related._places([word for name, _, listed in related.lists if name == "human" for word in listed])
    ]
    size, rng, lists = len(human), np.random.default_rng(1), []
    for seed in rng.choice(len(others), 400, replace=False):
        rates = np.exp(5.25 * near @ near[seed])
        lists.append(rng.choice(len(others), size, replace=False, p=rates / rates.sum()))
    coherent = np.mean([np.square(near[drawn].sum(axis=0)).sum() for drawn in lists])
    assert coherent == pytest.approx(np.square(human.sum(axis=0)).sum(), rel=0.1)
    single, whole = np.std([distances[drawn].mean(axis=0) for drawn in lists], axis=0)
    weights = pd.DataFrame(1 / size, index=[older[0]], columns=[w for w in bb.load_list("human") if w in own])
    every = pd.DataFrame(1 / size / len(older), index=older, columns=weights.columns)
    assert np.sqrt(related.covariance(every)) == pytest.approx(whole, rel=0.2)
    assert np.sqrt(related.covariance(weights)) < 0.7 * single
