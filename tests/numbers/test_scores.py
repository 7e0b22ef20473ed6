"""Scores that are no distances would be turned the wrong way, or be told as cosine distances."""

from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.words import WordLists

LISTS = WordLists(
    name="care",
    protected={"woman": ("she", "her", "mother"), "man": ("he", "him", "father")},
    stereotypes={"woman": ("nurse", "maid", "cook"), "man": ("soldier", "boss", "miner")},
    controls={"neutral": ("table", "river", "stone")},
)


@pytest.fixture(scope="module")
def lists():
    return bb.load_words("gender")


def scores_of(pairs, sign=-1.0):
    """Similarities, or distances, as scores with a mean and an sd of their own."""
    return pairs[["protected_word", "attribute_word"]].assign(score=3.0 + 7.0 * sign * pairs["distance"])


def test_a_contrast_of_scores_is_that_of_distances_in_tenths_of_an_sd(plain_gender, lists):
    table = bb.checks.score_table(scores_of(plain_gender), lists, "similarities")
    one = plain_gender.groupby(["protected_word", "attribute_word"])["distance"].first()
    scale = 0.1 / one.std()
    columns = ["protected_word", "group", "attribute_word", "attribute_class", "connection"]
    merged = table.merge(plain_gender, on=columns, suffixes=("", "_cosine"), validate="one_to_one")
    assert len(merged) == len(table) == len(plain_gender)
    np.testing.assert_allclose(merged["distance"], 1 + scale * (merged["distance_cosine"] - one.mean()), atol=1e-12)
    whole = bb.contrasts(bb.fit(table, seed=0)).iloc[0]
    cosine = bb.contrasts(bb.fit(plain_gender, seed=0)).iloc[0]
    assert whole["mean"] == pytest.approx(scale * cosine["mean"], abs=0.002)
    assert whole["sd"] == pytest.approx(scale * cosine["sd"], rel=0.1)


def test_low_scores_can_be_the_close_ones(plain_gender, lists):
    high = bb.checks.score_table(scores_of(plain_gender), lists)
    low = bb.checks.score_table(scores_of(plain_gender, 1.0), lists, closer="low")
    pd.testing.assert_frame_equal(high.assign(distance=low["distance"]), high, check_exact=False, atol=1e-12)


def test_the_mean_of_a_template_is_taken_out():
    rows = [(p, a) for part in LISTS.protected.values() for p in part for a in words()]
    plain = pd.DataFrame(rows, columns=["protected_word", "attribute_word"])
    plain["score"] = np.random.default_rng(3).normal(size=len(plain))
    one, other = plain.assign(template="a"), plain.assign(template="b", score=plain["score"] + 40.0)
    table = bb.checks.score_table(plain, LISTS)
    both = bb.checks.score_table(pd.concat([one, other]), LISTS)
    np.testing.assert_allclose(both["distance"], table["distance"], atol=1e-12)
    again = bb.checks.score_table(one, LISTS)
    np.testing.assert_allclose(again["distance"], table["distance"], atol=1e-12)


def words():
    return [word for kind in (LISTS.stereotypes, LISTS.controls) for part in kind.values() for word in part]


def test_what_the_numbers_are_is_said(plain_gender, lists, tmp_path, blank_pictures):
    few = plain_gender[plain_gender["protected_word"].isin(plain_gender["protected_word"].unique()[::3])]
    table = bb.checks.score_table(scores_of(few), lists, "log odds of a model")
    path = tmp_path / "scores.parquet"
    bb.write_distance_table(table, path)
    left_out = "not coverage, that numbers are log odds of a model"
    with pytest.warns(bb.errors.CoverageWarning, match=left_out):
        bb.write_distance_table(table, tmp_path / "scores.csv")
    table = bb.read_distance_table(path)
    said = "The numbers are scores (log odds of a model), not cosine distances: 0.1 is one standard deviation"
    post = bb.fit(table, seed=0)
    assert said in " ".join(bb.checks.verdict_sentences(post))
    plain = bb.fit(table, "published", seed=0)  # whose refits, of which the second page tells, take no time
    for one, sensitivity in ((post, False), (plain, True)):
        with blank_pictures() if sensitivity else nullcontext():
            page = bb.report(one, tmp_path / "scores.html", sensitivity=sensitivity).read_text(encoding="utf-8")
        assert "(log odds of a model, 0.1 for one sd)" in page
        assert "We measured log odds of a model (standardised)" in page
        assert "cosine distance" not in page.replace("not cosine distances", "")
    assert bb.plot_contrasts(post).axes[0].get_xlabel().startswith("difference in log odds of a model, 0.1 for one sd")


def test_missing_pairs_and_words_are_counted(plain_gender, lists):
    scores = scores_of(plain_gender)
    some = scores[(scores["protected_word"] != "aunt")].iloc[1:]
    table = bb.checks.score_table(some, lists)
    stored = table.coverage
    missing = {(entry["kind"], entry["list"]): entry["missing"] for entry in stored.lists}
    assert missing["protected", "woman"] == ["aunt"]
    asked = {(entry["kind"], entry["list"]): entry["asked"] for entry in stored.lists}
    attributes = sum(count for (kind, _), count in asked.items() if kind != "protected")
    assert len(table) == len(some)
    assert stored.unused_rows == 0
    odd = pd.concat([some, some.head(2).assign(protected_word="stranger"), some.head(1).assign(score=np.nan)])
    odd = odd.drop_duplicates(["protected_word", "attribute_word"], keep="last")
    assert bb.checks.score_table(odd, lists).coverage.unused_rows == 3
    assert stored.missing_pairs == 14 * attributes - len(some)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.drop(columns="score"), "scores lacks score: its columns must be"),
        (lambda s: s.assign(score="much"), "row 0, column 'score' holds 'much'"),
        (lambda s: pd.concat([s, s.head(1)]), "have more than one score"),
        (lambda s: s.assign(score=1.0), "all scores are equal"),
        (lambda s: s.assign(protected_word="nobody", attribute_word=range(len(s))), "has a score"),
        (lambda s: s.assign(score=[1e9, *s["score"].iloc[1:]]), "standard deviations from the mean"),
        (lambda s: list(s), "scores is a list"),
        (lambda s: s.assign(tempalte="a"), "the column 'tempalte' is not known .did you mean 'template'"),
    ],
)
def test_bad_scores_are_refused(plain_gender, lists, change, message):
    with pytest.raises(bb.InputError, match=message):
        bb.checks.score_table(change(scores_of(plain_gender)), lists)


def test_scores_of_two_tables_are_not_compared(plain_gender, lists):
    table = bb.checks.score_table(scores_of(plain_gender), lists, "ratings")
    for analysis in (lambda: bb.compare(before=table, after=table), lambda: bb.pool({"one": table, "two": table})):
        with pytest.raises(bb.InputError, match="the table holds ratings, standardised by themselves"):
            analysis()
