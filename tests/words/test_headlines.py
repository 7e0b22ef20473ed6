"""Headlines would say more, or less, than intervals and counts support."""

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias._support.phrases import barely, untold
from bayesbias._support.prose import Prose

SLICE = "glove-50d-slice"
AGE = [("old", "young"), ("elderly", "youthful"), ("senior", "junior"), ("adult", "child")]
JOBS = ["nurse", "teacher", "secretary", "doctor", "lawyer", "engineer", "carpenter", "mechanic"]


@pytest.mark.parametrize("pairs", [AGE, "gender"], ids=["nothing", "much"])
def test_an_axis_names_the_words_whose_interval_excludes_0_and_counts_the_others(pairs):
    found = bb.axis(SLICE, pairs, words=["nurse", "captain", "actress", "banker", "phone", "radio", "colonel"])
    table = found.table()
    away = (table["low"] > 0) | (table["high"] < 0)
    named = {end: found.front().answer.partition(f"Nearer to {end}: ")[2].partition(".")[0] for end in found.ends}
    assert {word for words in named.values() if words for word in words.split(", ")} == set(table["word"][away])
    assert found.front().answer.endswith(" ".join(untold(int((~away).sum()), len(table))))


def test_words_that_cannot_be_told_are_counted():
    assert untold(7, 10) == ["7 of 10 words cannot be told from 0."]
    assert untold(9, 9) == ["None of the 9 words can be told from 0."]
    assert untold(1, 1) == ["1 of 1 word cannot be told from 0."]
    assert untold(0, 4) == []


def test_an_audit_without_calls_says_that_no_word_can_be_told_and_shows_the_largest_places():
    found = bb.audit(SLICE, AGE)
    assert not found.words["called"].any()
    answer, largest, more, *_ = found.findings()
    assert answer.startswith("With these 4 pairs no word can be told: ")
    first = found.words.loc[found.words["mean"].abs().nlargest(10).index, "word"]
    assert ", ".join(first) in largest
    assert "table(called=False)" in largest
    assert "four times as many pairs like these would halve that" in more
    assert "errors" not in answer
    assert [row[0] for row in found.sections()[0].blocks[0].rows] == first.tolist()


def test_an_audit_with_calls_says_how_many_are_errors():
    found = bb.audit(SLICE, "gender")
    count = int(found.words["called"].sum())
    assert f"{count:,} lean to woman or to man" in found.findings()[0]
    assert found.findings()[0].endswith("at most 5% of these are expected to be errors.")


@pytest.mark.parametrize(
    ("low", "high", "chance", "begins"),
    [
        (-0.082, -0.037, None, "Yes. In X"),
        (-0.071, -0.002, None, "Yes, barely: the interval ends next to 0. In X"),
        (-0.09, -0.03, {"count": 8, "replicates": 100}, "Yes, barely: 8 of 100 random lists show as much. In X"),
        (0.002, 0.071, None, "No, barely: the interval ends next to 0. In X"),
        (-0.071, 0.002, {"count": 8, "replicates": 100}, "Inconclusive. In X"),
    ],
)
def test_the_verdict_of_a_fit_and_its_chance_check_are_one_answer(low, high, chance, begins):
    row = pd.Series({"low": low, "high": high})
    given = {"embedding": "X", "scores": False, "groups": [], "other": "others", "mass": "89%", "caution": ""}
    assert Prose("fit").answer(row=row, edge=barely(row), chance=chance, **given).startswith(begins)


@pytest.fixture(scope="module")
def steps():
    kv = bb.load_embedding("google-news-slice")
    pairs = [("he", "she"), ("man", "woman")]
    return {"1": kv, **{str(n + 1): bb.debias(kv, "project", definitional=pairs[:n]) for n in (1, 2)}}


@pytest.mark.parametrize(("words", "told"), [("gender", True), ("weat7", False)])
def test_a_pool_orders_embeddings_only_where_the_order_is_known(steps, words, told):
    embeddings = {"1": steps["1"], "2": steps["2"]} if told else {"1": steps["1"], "glove": SLICE, "2": steps["2"]}
    pooled = bb.pool(bb.distance_tables(embeddings, words))
    table = pooled.table().sort_values("mean")["name"].tolist()
    sentence = next(each for each in pooled.findings() if "strongest" in each)
    known = pooled.probability(table[-1], table[0]) >= 0.945
    assert known == told
    assert ("cannot be told" in sentence) != known
    assert pooled.front().title == f"How strong are the stereotypes of {words} in these embeddings?"


def test_a_trend_says_why_line_and_difference_both_stand(steps):
    trend = bb.trend(bb.distance_tables(steps, "gender"))
    assert trend.front().title == "Did the stereotypes of gender change over time?"
    assert "Both numbers stand here since they answer two questions" in trend.findings()[1]


def test_a_criterion_is_named_like_its_values():
    values = pd.Series(range(len(JOBS)), JOBS, float)
    found = bb.criterion(bb.axis(SLICE, "gender", words=JOBS), values.rename("census 1990"))
    assert found.front().title == "Is census 1990 larger for words nearer to man than to woman?"
    assert found.figure().axes[0].get_xlabel() == "census 1990"
    assert "census 1990" in found.findings()[0]
    unnamed = bb.criterion(bb.axis(SLICE, "gender", words=JOBS), values)
    assert unnamed.front().title == "Are the outside values larger for words nearer to man than to woman?"


def test_a_multiverse_answers_which_choice_and_says_what_embeddings_lack():
    decisions = {
        "embedding": {"status": "arbitrary", "options": [SLICE, "google-news-slice"]},
        "words": {"status": "unsure", "options": ["gender", "weat7"]},
    }
    found = bb.multiverse({"decisions": decisions, "replicates": 20})
    answer = found.findings()[0]
    assert answer.startswith(("The choice of ", "Which choice moves the answer most cannot be told"))
    text = found.text()
    assert "(unsure)" not in text
    assert "declared: not known which option is better" in text
    lacks = (found.specifications["found"] < 1).any()
    assert ("Not all words of the lists are held by" in text) == lacks
