"""A methods text would leave out what was done, or say what was not."""

import re
from dataclasses import replace

import numpy as np
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
    assert [line for line in more if line.startswith("Priors:") and "sigma: half-normal (sd 0.2)" in line]


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


def test_a_trend_names_its_times_its_kind_and_its_unit(weat7):
    debiased = bb.debias("google-news-slice", "project", definitional=[("he", "she")])
    tables = {
        "1990": weat7,
        "later": bb.distance_table("glove-50d-slice", "weat7"),
        "2010": bb.distance_table(debiased, "weat7"),
    }
    stages = bb.checks.TwoStage(draws=400)
    time = {"1990": 1990, "later": 2000, "2010": 2010}
    line = sentences(bb.trend(tables, time, stages=stages))
    walk = sentences(bb.trend(tables, time, kind="walk", standardise=True, stages=stages, seed=4))
    assert line[0] == (
        "We measured associated \N{MINUS SIGN} different (cosine distance; negative: closer) in 1990, later (2000), "
        "2010 and estimated its linear trend over time, with deviations of single embeddings and the joint covariance "
        "of the estimates (weights: equal)."
    )
    assert walk[0] == line[0].replace("linear trend", "random walk").replace(
        "cosine distance", "standard deviations of the embedding's distances"
    )
    assert line[1] == "The posterior was computed by quadrature, with 400 independent draws (seed 0)."
    assert walk[1] == line[1].replace("seed 0", "seed 4")


def test_a_multiverse_counts_its_combinations_and_says_what_was_declared():
    decisions = {
        "embedding": ["glove-50d-slice"],
        "words": ["weat7"],
        "metric": {"options": ["contrast", "weat"], "status": "arbitrary"},
    }
    result = bb.multiverse({"decisions": decisions, "replicates": 5})
    text = sentences(result)
    assert text[0].startswith("We measured one contrast (")
    assert "under 2 combinations of decisions (" in text[0]
    assert "metric: 2 options, its options declared equally good)." in text[0]
    assert f"2 could be computed, {len(result.distinct)} of them distinct." in text[0]
    assert "We compared them with 5 sets of random lists in place of the stereotype lists." in text
    assert "unsure" not in " ".join(text)


def test_a_criterion_has_the_errors_that_were_given():
    words = ["nurse", "banker", "maid", "lawyer", "janitor", "designer", "manager", "soldier"]
    axis, stages = bb.axis("glove-50d-slice", "gender", words=words), bb.checks.TwoStage(draws=400)
    values = dict(zip(words, range(8), strict=True))
    exact, uncertain = (sentences(bb.criterion(axis, values, se, stages=stages)) for se in (None, 0.5))
    start = (
        "We related outside values of 8 words to woman \N{MINUS SIGN} man, the difference of their mean cosine "
        "distances (negative: closer to woman), by a regression with the errors of places"
    )
    assert (exact[0], uncertain[0]) == (f"{start}.", f"{start} and of values.")
    assert ["The values are taken as exact." in text for text in (exact, uncertain)] == [True, False]


def test_documents_have_their_formula_their_vectors_and_their_units():
    recent = bb.datasets.load_dataset("sotu-addresses").query("year > 1945")
    recent = recent.assign(text=recent["text"].str[:3000])
    sample = bb.instances(recent, "people", "glove-50d-slice", clusters="president", transform=np.eye(50))
    by = bb.covariates(sample, "party + year")
    vectors = int(by.design().vectors.n.sum())
    presidents = recent.loc[recent["text"].str.contains(r"(?i)\bpeople\b"), "president"].nunique()
    text = sentences(by.contrast(["family", "home"], ["career", "office"]))
    assert text[0] == (
        "We related the distances of people to family, home less those to career, office (negative: nearer to family, "
        f"home) to party + year, from {vectors} vectors of {presidents} presidents; intervals are for attribute words "
        "like these."
    )


def test_the_report_of_a_fit_has_the_text(plain, tmp_path):
    page = bb.report(plain, tmp_path / "fit.md", sensitivity=False).read_text(encoding="utf-8")
    assert Prose("methods").title() in page
    assert "control list neutral, 61 of 226 found" in page.replace("\\", "")
