"""The correlation of a contrast with something outside would be too weak, too sure, or one of frequency alone."""

import json

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import InputError
from bayesbias.numerics import offsets

WOMEN = ["she", "her", "hers", "woman", "girl", "daughter", "mother", "female", "sister", "herself"]
MEN = ["he", "his", "him", "man", "boy", "son", "father", "male", "brother", "himself"]
POLES = ("associated", "human")


@pytest.fixture(scope="module")
def shares(shared, slice_vectors):
    """Women's share in 25 occupations."""
    text = (shared / "criteria" / "female_share_40_occupations.json").read_text(encoding="utf-8")
    return {word: share for word, share in json.loads(text).items() if word in slice_vectors}


@pytest.fixture(scope="module")
def occupations(shares, slice_vectors):
    """A function from a model to its fit of the occupations with women's and men's words."""
    lists = bb.WordLists("occupations", {"occupations": sorted(shares)}, {"occupations": WOMEN}, {"human": MEN})
    table = bb.distance_table(slice_vectors, lists)
    fits = {model: bb.fit(table, model, seed=0) for model in ("related", "crossed")}
    return (fits | {"unrelated": bb.fit(table.without_relatedness(), "crossed", seed=0)}).__getitem__


@pytest.mark.parametrize("model", ["related", "unrelated"])
def test_womens_share_in_occupations(occupations, shares, slice_vectors, model):
    result = bb.criterion(occupations(model), shares, contrast=POLES)
    plain = [
        np.mean([slice_vectors.similarity(word, one) for one in MEN])
        - np.mean([slice_vectors.similarity(word, one) for one in WOMEN])
        for word in result.words["word"]
    ]
    assert np.allclose(result.words["estimate"], plain, atol=1e-6)
    assert result.plain == pytest.approx(-0.81, abs=0.005)
    row = result.table().iloc[0]
    assert row["high"] < 0
    assert -0.9 < row["mean"] < -0.6
    assert result.words["value"].tolist() == [shares[word] for word in result.words["word"]]
    independent = [note.numbers for note in result.notes if note.code == "independent"]
    assert independent == [{"what": "words", "reason": "relatedness not recorded"}] * (model == "unrelated")


def test_words_without_a_value_are_named(occupations, shares):
    some = {word: shares[word] for word in list(shares)[:20]}
    result = bb.criterion(occupations("crossed"), {**some, "astronaut": 1.0}, 5.0, POLES)
    assert len(result.words) == 20
    assert result.missing["not in the fit"] == ("astronaut",)
    assert len(result.missing["without a value"]) == len(shares) - 20
    lost = {note.numbers["reason"]: note.numbers for note in result.notes if note.code == "left-out"}
    assert (lost["not in the fit"]["count"], lost["not in the fit"]["total"]) == (1, 21)
    assert result.errors == "given"


def test_a_relation_of_frequency_alone_goes_away(occupations, shares):
    def related(values, **options):
        return bb.criterion(occupations("related"), values, contrast=POLES, **options)

    raw = related(shares)
    rng = np.random.default_rng(0)
    y = dict(zip(raw.words["word"], raw.words["estimate"], strict=True))
    # frequencies that go with the contrast, and values that go with frequency only
    zipf = {word: 4 - 10 * y[word] + 0.1 * rng.standard_normal() for word in y}
    counts = {word: 10**each for word, each in zipf.items()}
    outside = {word: zipf[word] + 0.3 * rng.standard_normal() for word in y}
    result = related(outside, adjust="frequency", frequencies={**counts, "x": 1e9})
    before, after = result.unadjusted.table().iloc[0], result.table().iloc[0]
    assert before["high"] < 0
    assert after["low"] < 0 < after["high"]
    row = result.table().set_index("quantity").loc["unadjusted correlation", ["mean", "low", "high"]]
    assert row.tolist() == before[["mean", "low", "high"]].tolist()
    assert result.header()["adjusted for"].startswith("frequency (")
    assert np.corrcoef(result.words["attribute"], result.words["estimate"])[0, 1] == pytest.approx(0, abs=1e-9)
    part = related(outside, adjust="frequency", frequencies=dict(list(counts.items())[:10]))
    assert len(part.missing["without a known frequency"]) == len(y) - 10
    with pytest.raises(InputError, match="nothing is left to relate"):
        related(outside, adjust={"same": outside})


def test_wrong_input_is_named(occupations, shares):
    for values, se, message in (
        ({"astronaut": 1.0}, None, "5 are needed"),
        (shares, {"nurse": 1.0}, "give one standard error for each"),
    ):
        with pytest.raises(InputError, match=message):
            bb.criterion(occupations("crossed"), values, se, POLES)


@pytest.fixture(scope="module")
def ratings(shared):
    """Mean ratings of 59 terms for gender (100: a man's), and their standard errors."""
    survey = pd.read_csv(shared / "axes" / "kozlowski_survey.csv")
    survey.index = survey["term"].str.lower()
    return survey["gender_mean"], survey["gender_se"]


@pytest.fixture(scope="module")
def gender():
    return bb.axis("glove-50d-slice", "gender_pairs", ["nurse"])


def test_two_groups_have_their_two_lists_by_default(gender_table, gender_fit):
    (first, own), (second, other) = bb.load_words("gender").stereotypes.items()
    rng = np.random.default_rng(0)
    values = {word: rng.standard_normal() for word in gender_table["protected_word"].unique().tolist()}
    result = bb.criterion(gender_fit, values)
    assert result.contrast == (first, second)
    assert set(result.words["group"]) == {"man", "woman"}
    means = gender_table.pivot_table(index="protected_word", columns="attribute_word", values="distance")
    held = [[word for word in one if word in means.columns] for one in (own, other)]
    plain = means[held[0]].mean(axis=1) - means[held[1]].mean(axis=1)
    assert np.allclose(result.words["estimate"], plain[result.words["word"]], atol=1e-6)
    turned = bb.criterion(gender_fit, values, contrast=(second, first))
    assert np.allclose(turned.words["estimate"], -result.words["estimate"])
    assert turned.table()["mean"][0] == pytest.approx(-result.table()["mean"][0], abs=0.03)


def test_an_axis_and_its_words_with_a_value(ratings, gender):
    values, se = ratings
    result = bb.criterion(gender, values, se)
    assert result.contrast == ("boy", "girl")
    held = [word for word in values.index if word in gender.kv]
    assert result.words["word"].tolist() == held
    assert set(result.missing["not in the embedding"]) == set(values.index) - set(held)
    placed = gender.with_words(held)
    assert np.allclose(result.words["estimate"], placed.places)
    assert np.allclose(result.words["se"], placed.table(order=False)["pairs_sd"])
    assert np.allclose(result.estimates.covariance.to_numpy(), placed.covariance("pairs"))
    assert result.plain == pytest.approx(np.corrcoef(placed.places, values[held])[0, 1])
    row = result.table().iloc[0]
    assert -0.9 < row["low"] < row["mean"] < row["high"] < -0.5
    assert row["mean"] < result.plain < -0.6  # errors attenuate the plain one
    assert bb.criterion(gender, values, se).table().equals(result.table())


def test_units_of_the_values_do_not_matter(ratings, gender):
    values, se = ratings
    one, other = (bb.criterion(gender, *given).table()["mean"] for given in (ratings, (-10 * values + 3, 10 * se)))
    assert other[0] == pytest.approx(-one[0], abs=0.01)
    assert other[1] == pytest.approx(-one[1] / 10, rel=0.02)


def test_a_fit_of_three_lists_is_asked_for_two(religion_fit):
    words = ["rabbi", "priest", "imam", "bible", "torah"]
    with pytest.raises(InputError, match="name two lists of the fit"):
        bb.criterion(religion_fit, dict(zip(words, range(5), strict=True)))


@pytest.mark.parametrize(("words", "smooth", "noted"), [(60, 0.97, True), (30, 0.97, False)])
def test_values_that_are_nearly_all_smooth_are_noted(words, smooth, noted):
    axis, rng = bb.axis("glove-50d-slice", "affluence"), np.random.default_rng(0)
    placed = axis.with_words(rng.choice(axis.words, words, replace=False).tolist())
    parts = [placed.coordinates @ rng.standard_normal(50), rng.standard_normal(words)]
    shared, alone = ((part - part.mean()) / part.std() for part in parts)
    values = np.sqrt(smooth) * shared + np.sqrt(1 - smooth) * alone
    notes = bb.criterion(axis, dict(zip(placed.words, values, strict=True))).notes
    said = [note.numbers for note in notes if note.code == "smooth"]
    assert bool(said) == noted
    for numbers in said:
        assert numbers["low"] < numbers["high"] <= 1
        assert (numbers["words"], numbers["dimensions"]) == (60, 50)


@pytest.fixture(scope="module")
def on_axis(shares, slice_vectors):
    """Women's shares on the axis of gender."""
    return bb.criterion(bb.axis(slice_vectors, "gender_pairs", sorted(shares)), pd.Series(shares, name="women"), seed=0)


def test_the_line_is_that_of_places_on_values(on_axis):
    words, table = on_axis.words, on_axis.table().set_index("quantity")
    slope, _ = np.polyfit(words["value"], words["estimate"], 1)
    assert table.loc["slope", "mean"] == pytest.approx(slope, rel=0.25)
    assert np.allclose(words["fitted"], table.loc["intercept", "mean"] + table.loc["slope", "mean"] * words["value"])
    assert table["p_positive"].isna().tolist() == [False, False, False, True, True, True]
    assert table.loc["plain correlation", "mean"] == on_axis.plain
    assert on_axis.tables()["Words"]["residual"].abs().is_monotonic_decreasing


def test_similar_words_and_the_prior_make_the_correlation_weaker_than_the_plain_one(
    on_axis, shares, slice_vectors, monkeypatch
):
    monkeypatch.setattr(offsets, "RARE", 1e-3)  # next to nothing shared
    alone = bb.criterion(bb.axis(slice_vectors, "gender_pairs", sorted(shares)), shares, seed=0).table()["mean"][0]
    assert on_axis.table()["mean"][0] < alone - 0.01
    assert alone < on_axis.plain
