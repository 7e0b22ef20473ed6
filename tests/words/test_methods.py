"""A methods text would leave out what was done, or say what was not."""

import re
from dataclasses import replace

import pytest

import bayesbias as bb
from bayesbias._support.prose import Prose

SENTENCE = re.compile(r"(?<=\.)\s+(?=[A-Z])")


def sentences(result, **options):
    return SENTENCE.split(bb.methods_text(result, **options))


def differing(one, other):
    """Sentences of the first that the second has not, and the other way round."""
    return [line for line in one if line not in other], [line for line in other if line not in one]


@pytest.fixture(scope="module")
def lists():
    return bb.load_words("weat7")


@pytest.fixture(scope="module")
def weat7():
    return bb.distance_table("google-news-slice", "weat7")


@pytest.fixture(scope="module")
def plain(weat7):
    return bb.fit(weat7, seed=0)


def test_an_adjustment_is_one_sentence_more(weat7, plain):
    by_length = bb.fit(weat7, seed=0, adjust="length")
    gone, more = differing(sentences(plain), sentences(by_length))
    (adjusted,) = [line for line in more if line.startswith("Distances were adjusted for length")]
    # the numbers of the answer move with the distances, and nothing else does
    assert [line[:30] for line in gone] == [line[:30] for line in more if line != adjusted]
    assert all(line.startswith(("For these protected", "Software")) for line in gone)


def test_a_word_that_is_missing_is_named(plain, lists):
    more_words = {**lists.protected, "math": (*lists.protected["math"], "zzyzx")}
    table = bb.distance_table("google-news-slice", replace(lists, protected=more_words))
    (gone,), (more,) = differing(sentences(plain), sentences(bb.fit(table, seed=0)))
    start = "Words that google-news-slice does not hold were left out:"
    assert gone.startswith(f"{start} ballpark")
    assert more == gone.replace(start, f"{start} zzyzx (protected list math, 8 of 9 found);")


def test_a_chance_check_is_one_sentence_more(plain):
    topics = bb.topic_null("google-news-slice", "weat7", replicates=99, seed=3)
    row = topics.table().set_index("statistic").loc["associated - different"]
    gone, more = differing(sentences(plain), sentences(plain, topics=topics))
    assert gone == []
    assert more == [
        f"In a chance check, {row['count']:.0f} of 99 random lists as coherent as these and as similar to each other "
        f"gave a difference at least as far from 0 (p = {row['p_value']:.2f}, seed 3)."
    ]


def test_another_model_changes_the_model_its_priors_and_the_answer(weat7, plain):
    gone, more = differing(sentences(plain), sentences(bb.fit(weat7, "crossed", seed=0)))
    assert any(line == "We modelled all distances together (model related)." for line in gone)
    assert any(line == "We modelled all distances together (model crossed)." for line in more)
    assert sum(line.startswith("Priors:") for line in more) == 1
    kept = set(sentences(plain)) - set(gone)
    assert sum(line.startswith(("We measured", "We report", "Words that")) for line in kept) == 3


def test_other_priors_change_the_priors(weat7):
    one = bb.fit(weat7, "crossed", seed=0)
    other = bb.fit(weat7, "crossed", seed=0, priors={"sigma": {"distribution": "half_normal", "sd": 0.2}})
    _, more = differing(sentences(one), sentences(other))
    assert [line for line in more if line.startswith("Priors:") and "sigma half normal 0.2" in line]


def test_another_population_changes_the_answer_alone(plain):
    gone, more = differing(sentences(plain), sentences(plain, population="similar"))
    assert len(gone) == len(more) == 1
    assert gone[0].startswith("For these protected words and attribute lists like these, associated")
    assert more[0].startswith("For protected words and attribute lists like these, associated")


def test_another_seed_changes_the_seed_alone(weat7, plain):
    gone, more = differing(sentences(plain), sentences(bb.fit(weat7, seed=1)))
    assert ["(seed 0)" in line for line in gone] == ["(seed 1)" in line for line in more] == [True]


def test_each_kind_of_result_has_a_text(weat7):
    tables = bb.distance_tables({"google": "google-news-slice", "glove": "glove-50d-slice"}, "weat7")
    pool = sentences(bb.pool(tables))
    assert pool[0].startswith("We measured associated \N{MINUS SIGN} different (cosine distance; negative: closer) in ")
    assert "(seed 0)" in " ".join(pool)
    changed = bb.compare(before=weat7, after=weat7, seed=2, draws=400)
    assert "joint posterior of both" in bb.methods_text(changed)
    axis = bb.axis("glove-50d-slice", "gender", words=["nurse", "colonel"])
    assert "We placed 2 words on the axis gender from woman to man of" in bb.methods_text(axis)
    assert "positive towards man" in bb.methods_text(axis)
    audit = bb.audit("glove-50d-slice", "gender", most_frequent=2000)
    assert "at most 5% of the calls are expected to be wrong" in bb.methods_text(audit)
    with pytest.raises(bb.InputError, match="there is no methods text for"):
        bb.methods_text(bb.cite(weat7))


def test_the_report_of_a_fit_has_the_text(plain, tmp_path):
    page = bb.report(plain, tmp_path / "fit.md", sensitivity=False).read_text(encoding="utf-8")
    assert Prose("methods").title() in page
    assert "control list neutral, 61 of 226 found" in page.replace("\\", "")
