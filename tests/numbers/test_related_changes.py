"""A change between embeddings of related words would be told with wrong signs, sizes and intervals."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from gensim.models import KeyedVectors

import bayesbias as bb
from bayesbias import numerics
from bayesbias.comparison import Comparison

QUESTIONS = (
    lambda result: result.changes("associated", "human", standardise=True),
    lambda result: result.changes(paired=False),
    lambda result: result.decomposition(),
    lambda result: result.table(),
)


def outcomes(result, of="associated - different"):
    """The rows of one contrast."""
    return result.table().query("of == @of")


def with_distances(table, distance):
    """A table of related words with other distances."""
    return bb.DistanceTable(table.assign(distance=distance), truth={})


def compared(before, after, **options):
    return bb.compare(before=before, after=after, **{"seed": 0, "draws": 400} | options)


def whole(table):
    return table[table["protected_word"] == "whole list"].iloc[0]


@pytest.fixture(scope="module")
def result(gender_table, gender_after):
    return compared(gender_table, gender_after)


def test_what_is_observed_is_the_mean(gender_table, gender_after, result, observed_associations):
    found = outcomes(result).set_index("protected_word")
    for side, table in (("before", gender_table), ("after", gender_after)):
        expected = observed_associations(table)
        np.testing.assert_allclose(found.loc[expected.index, side], expected, atol=1e-12)
        assert found.loc["whole list", side] == pytest.approx(expected.mean(), abs=1e-12)
        np.testing.assert_allclose(found[f"observed_{side}"], found[side], atol=1e-12)
    assert (found["before"].iloc[1:] < 0).sum() == 13
    assert found["before"].iloc[1:].min() == pytest.approx(-0.0945, abs=5e-4)
    assert found["after"].iloc[1:].abs().max() < 0.0095


def test_draws_are_made_when_they_are_asked_for(gender_table, gender_after, tmp_path):
    result, other = (compared(gender_table, gender_after) for _ in range(2))
    assert [*outcomes(result)["clear"], str(result), *result.changes()["mean"]]
    assert {"posterior", "sample_stats"}.isdisjoint(result.tree.children)
    assert [*result.tree["paired"].data_vars] == ["before_index", "after_index"]
    drawn = result.posterior
    assert drawn is result.posterior
    assert (drawn["posterior"].sizes["chain"], drawn["posterior"].sizes["draw"]) == (4, 100)
    assert result.tree["paired"].sizes == {"change": 1}
    with pytest.raises(bb.InputError, match=r"give the DataTree that fit returns, or result\.posterior"):
        bb.save_fit(other.tree, tmp_path / "undrawn.nc")
    again = Comparison(other.tree)
    for group in ("posterior", "paired"):
        xr.testing.assert_identical(again.posterior[group].to_dataset(), drawn[group].to_dataset())
    assert again.posterior.attrs == drawn.attrs


def test_figures_are_those_of_draws_from_the_posterior(gender_table, gender_after):
    """20,000 draws of all cells, double-centred by hand."""
    result = compared(gender_table, gender_after, seed=1, draws=20_000)
    cells = result.posterior["paired/word_before"], result.posterior["posterior/word_change"]
    start, moved = (values.to_numpy().reshape(-1, *values.shape[3:]) for values in cells)
    rows = gender_table.drop_duplicates("protected_word")
    first = np.array(rows["group"] == "man")

    def centred(cells):
        to_man = np.where(first, cells[:, :, 0], cells[:, :, 1])
        to_woman = np.where(first, cells[:, :, 1], cells[:, :, 0])
        lean = to_man - to_woman
        lean = lean - (lean[:, first].mean(axis=1, keepdims=True) + lean[:, ~first].mean(axis=1, keepdims=True)) / 2
        return np.where(first, lean, -lean)

    one, other = centred(start), centred(start + moved)
    found = outcomes(result).set_index("protected_word").loc[rows["protected_word"]]
    change = other - one
    np.testing.assert_allclose(found["change"], change.mean(axis=0), atol=5 * change.std(axis=0).max() / 140)
    for side, tail in (("low", 0.055), ("high", 0.945)):
        np.testing.assert_allclose(found[side], np.quantile(change, tail, axis=0), atol=0.0012)
    np.testing.assert_allclose(found["p_shrank"], (np.abs(other) < np.abs(one)).mean(axis=0), atol=0.015)
    np.testing.assert_allclose(found["p_reversed"], (other * one < 0).mean(axis=0), atol=0.015)
    sides = result.sides("associated", "different")
    np.testing.assert_allclose(sides.after.sd[1:], other.std(axis=0), rtol=0.03)
    np.testing.assert_allclose(sides.before.sd[1:], one.std(axis=0), rtol=0.03)


def test_levels_are_those_of_the_fits(gender_table, result):
    """Apart from the factor of the lists' scatter, which both embeddings inform."""
    post = bb.fit(gender_table, seed=0)
    np.testing.assert_allclose(outcomes(result)["before"], bb.contrasts(post)["unshrunk"], atol=1e-12)
    np.testing.assert_allclose(
        result.sides("associated", "different").before.sd[1:], bb.association(post).query("own")["sd"], rtol=0.15
    )


@pytest.mark.parametrize(("of", "tolerance"), [("another seed", 1e-6), ("a file", 1e-12)])
def test_tables_do_not_depend_on(gender_table, gender_after, result, tmp_path, of, tolerance):
    if of == "a file":
        bb.save_fit(result.posterior, tmp_path / "change.nc")
        other = Comparison(bb.load_fit(tmp_path / "change.nc"))
        assert other.notes == result.notes
    else:
        other = compared(gender_table, gender_after, seed=5, draws=800)
    for question in QUESTIONS:
        pd.testing.assert_frame_equal(question(result), question(other), rtol=0, atol=tolerance)
    assert str(result) == str(other)


def test_how_near_a_list_or_a_word_is_does_not_matter(gender_table, gender_after, result):
    in_list = (gender_table["attribute_class"] == "woman") & gender_table["connection"].isin(
        ["associated", "different"]
    )
    shift = 0.07 * in_list - 0.05 * (gender_table["protected_word"] == "son")
    moved = compared(gender_table, with_distances(gender_after, gender_after["distance"] + shift))
    columns = ["before", "after", "change", "low", "high", "p_shrank", "p_reversed"]
    np.testing.assert_allclose(outcomes(moved)[columns], outcomes(result)[columns], atol=1e-9)
    plain = [each.sides("associated", "different", rows="difference").change.mean for each in (moved, result)]
    assert (np.abs(plain[0] - plain[1])[1:] > 0.06).all()


def test_equalised_pairs_leave_intervals_that_include_0(result):
    after = result.sides("associated", "different").after
    assert not after.excludes(0.0, 0.89).any()
    assert after.mean[0] == pytest.approx(0, abs=1e-6)
    table = outcomes(result)
    away = (table["low"] > 0) | (table["high"] < 0)
    assert table.loc[~away, "protected_word"].tolist() == ["male"]
    assert result.debiasing("after") == "hard"


def test_exchanged_groups_have_the_same_size_in_either_order(slice_vectors):
    """The sum of both values is 0 but for rounding, whose sign would say that the size decreased in either order."""
    exchanged = KeyedVectors(slice_vectors.vector_size)
    other = dict(zip(*bb.load_words("gender").protected.values(), strict=True))
    other |= {second: first for first, second in other.items()}
    names = slice_vectors.index_to_key
    exchanged.add_vectors(names, np.array([slice_vectors[other.get(word, word)] for word in names]))
    one, two = (bb.distance_table(each, "gender") for each in (slice_vectors, exchanged))
    for first, second in ((one, two), (two, one)):
        row = whole(compared(first, second).table().query("of == 'associated - different'"))
        assert row["p_shrank"] == 0.5
        assert not row["clear"]
        assert row["p_reversed"] > 0.9


def test_parts_add_up(result):
    table = result.decomposition()
    top = table.iloc[:3]["mean"].to_numpy()
    assert top[0] + top[1] == pytest.approx(top[2], abs=1e-12)
    words = table.iloc[3:]["mean"].to_numpy().reshape(-1, 4)
    np.testing.assert_allclose(words[:, :3].sum(axis=1), words[:, 3], atol=1e-12)
    np.testing.assert_allclose(words[:, 0], result.changes()["mean"].iloc[1:], atol=1e-12)
    assert words[:, 1].mean() == pytest.approx(0, abs=1e-12)
    columns = ["mean", "sd", "low", "high", "p_closer"]
    for part, plain in ((0, result.changes()), (2, result.changes("associated", "human"))):
        np.testing.assert_allclose(table[columns].iloc[part], plain[columns].iloc[0].astype(float), atol=1e-9)


def test_part_of_what_was_measured_did_not_change(gender_table, gender_after):
    """Neutral words did not move at all, human words by .02: both are known."""
    kind, old = gender_table["connection"].to_numpy(), gender_table["distance"]
    distance = np.select([kind == "neutral", kind == "human"], [old, old + 0.02], gender_after["distance"])
    result = compared(gender_table, with_distances(gender_after, distance))
    neutral, human = result.changes("neutral"), result.changes("human")
    assert (neutral[["mean", "sd", "low", "high"]].to_numpy() == 0).all()
    np.testing.assert_allclose(human["mean"], 0.02, atol=1e-9)
    assert (human["sd"] == 0).all()
    own, apart = (result.changes("associated"), result.changes("associated", "human"))
    # smoothed correlations are made positive semi-definite for the lists of a question, here two or three
    np.testing.assert_allclose(apart["sd"], own["sd"], rtol=1e-5)
    np.testing.assert_allclose(apart["mean"], own["mean"] - 0.02, atol=1e-9)
    # the change depends on the scale of stereotypes alone, the values on that of human words too
    sides = result.sides("associated", "human")
    start, moved = np.split(sides.before.join(sides.change).draws(200_000, seed=0), 2, axis=1)
    np.testing.assert_allclose(sides.p_shrank, (np.abs(start + moved) < np.abs(start)).mean(axis=0), atol=5e-3)


def test_the_same_table_twice_is_unchanged(gender_table, observed_associations):
    result = compared(gender_table, gender_table)
    table = outcomes(result)
    assert not table["clear"].any()
    np.testing.assert_allclose(table["before"].iloc[1:], observed_associations(gender_table), atol=1e-12)
    # also of contrasts with a control list, whose scale only the values before depend on
    every = result.table()
    assert {f"associated - {name}" for name in ("different", "human", "neutral")} < set(every["of"])
    for each in (table, every[~every["of"].str.startswith("to ")]):
        assert (each[["change", "low", "high", "p_shrank", "p_reversed"]].to_numpy() == 0).all()


def test_three_groups_of_unequal_size_by_hand(religion, observed_associations):
    few = religion[~religion["protected_word"].isin(["jew", "rabbi", "imam"])]
    noise = np.random.default_rng(0).normal(0, 0.02, len(few))
    moved = with_distances(few, few["distance"] + noise)
    result = compared(few, moved)
    found = outcomes(result).set_index("protected_word")
    group = few.drop_duplicates("protected_word").set_index("protected_word")["group"]
    assert group.value_counts().tolist() == [5, 4, 3]
    rows, shares = result.table().set_index("of"), {}
    for side, table in (("before", few), ("after", moved)):
        expected = observed_associations(table)
        np.testing.assert_allclose(found.loc[expected.index, side], expected, atol=1e-12)
        means = expected.groupby(group).mean()
        assert found.loc["whole list", side] == pytest.approx(means.mean(), abs=1e-12)
        for name, mean in means.items():
            own = rows.loc[f"group {name}"]
            assert own[[side, f"observed_{side}"]].tolist() == pytest.approx([mean, mean], abs=1e-12)
            assert own[f"{side}_low"] < mean < own[f"{side}_high"]
        cells = table.pivot_table("distance", "protected_word", "connection")
        shares[side] = (cells["associated"] - cells["human"]).groupby(group).mean().mean()
    row = whole(result.changes("associated", "human"))
    assert row["mean"] == pytest.approx(shares["after"] - shares["before"], abs=1e-12)


def test_opposite_signs_of_two_normal_quantities():
    rng, known = np.random.default_rng(0), numerics.mixtures._opposite_signs
    means, sds, rho = rng.normal(0, 1, (2, 12)), rng.uniform(0.2, 2, (2, 12)), rng.uniform(-0.99, 0.99, 12)
    e = rng.standard_normal((2, 400_000, 1))
    x = means[0] + sds[0] * e[0]
    y = means[1] + sds[1] * (rho * e[0] + np.sqrt(1 - rho**2) * e[1])
    expected = (x * y < 0).mean(axis=0)
    np.testing.assert_allclose(known(tuple(means), tuple(sds), rho * sds[0] * sds[1]), expected, atol=0.004)
    zero, one = np.zeros(1), np.ones(1)
    np.testing.assert_allclose(known((zero, zero), (one, one), np.array([0.5])), 0.5 - np.arcsin(0.5) / np.pi)
    assert known((one, one), (one, one), one) == 0, "one quantity"
    assert known((one, -one), (one, one), -one) == 1, "one quantity and its negative"
    assert known((zero, one), (zero, one), zero) == 0, "a known 0 has no sign"
    np.testing.assert_allclose(known((one, zero), (zero, one), zero), 0.5)
