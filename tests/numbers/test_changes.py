"""A change of bias would be told too surely, or for words and pairs that the two embeddings do not share."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias import comparison
from bayesbias.comparison import Comparison
from bayesbias.distances import Coverage
from bayesbias.distances.distances import Distances
from benchmarks.simulation import simulate

SHAPE = {"groups": {"a": 6, "b": 6}, "stereotypes": {"a": 8, "b": 8}, "human": 15, "neutral": 20}
START = {
    "connection_mean": {"associated": 0.75, "different": 0.85, "human": 0.9, "neutral": 0.95},
    "connection_sd": 0.05,
    "sigma": 0.06,
    "attribute_sd": 0.08,
    "interaction_sd": 0.03,
}
MOVED = {
    "connection_mean": {"associated": 0.12, "different": 0.04, "human": 0.02, "neutral": 0.0},
    "connection_sd": 0.02,
    "sigma": 0.03,
    "attribute_sd": 0.02,
    "interaction_sd": 0.01,
}


def drawn(found):
    """The draws (D, m) of estimates that are known by draws."""
    return (found.weights @ found.law.numbers.T).T + found.offset


def simulated(seed, moved=MOVED, shape=SHAPE):
    before = simulate(shape, "crossed", START, seed)
    before = pd.DataFrame(before)
    change = simulate(shape, "change", moved, 1000 + seed)
    return before, before.assign(distance=before["distance"] + change["distance"]), change.truth


def with_unit(table, sd):
    """A table whose embedding has this standard deviation of distances."""
    embedding = {"name": "simulated", "spread": {"sd": sd, "words": 1000, "kind": "random"}}
    return bb.DistanceTable(table, coverage=Coverage("simulated", [], embedding=embedding))


@pytest.fixture(scope="module")
def tables():
    before, after, _ = simulated(0)
    return before, after


@pytest.fixture(scope="module")
def compared(tables):
    """A function from columns of the table after, or other values of it, to the comparison with before."""

    def compare(distance=None, **options):
        before, after = tables
        after = after if distance is None else before.assign(distance=distance)
        return bb.compare(**{"before": before, "after": after, "seed": 1} | options)

    return compare


@pytest.fixture(scope="module")
def result(compared):
    return compared(model="change")


@pytest.fixture(scope="module")
def scaled(tables, compared):
    """The comparison of embeddings with known units."""
    return compared(before=with_unit(tables[0], 0.1), after=with_unit(tables[1], 0.08), model="change")


@pytest.fixture(scope="module")
def three(tables):
    other = simulated(7)[1]
    return bb.compare({"glove": tables[0], "google": tables[1], "reddit": other}, seed=1, draws=2000)


def codes(result):
    return {note.code for note in result.notes}


def outcomes(result, of="associated - different"):
    """The rows of one contrast."""
    return result.table().query("of == @of")


def whole(table):
    return table[table["protected_word"] == "whole list"].iloc[0]


def test_the_change_is_that_of_a_fit_of_the_differences(tables, result):
    before, after = tables
    differences = before.assign(distance=after["distance"] - before["distance"])
    alone = bb.fit(bb.DistanceTable(differences, truth={}), "change", seed=9)
    mean = alone["posterior/connection_mean"]
    row = whole(result.changes("associated"))
    own = mean.sel(connection="associated").to_numpy().ravel()
    assert row["mean"] == pytest.approx(own.mean(), abs=0.05 * own.std())
    assert row["sd"] == pytest.approx(own.std(), rel=0.05)
    contrast = bb.contrasts(alone, "associated", "human", target="population")
    ours = result.changes("associated", "human")
    np.testing.assert_allclose(ours["mean"], contrast["mean"], atol=0.06 * contrast["sd"].min())
    np.testing.assert_allclose(ours["sd"], contrast["sd"], rtol=0.06)


def test_before_and_after_are_those_of_their_own_fits(tables, result):
    posterior = result.posterior["posterior"]
    for name, table in zip(result.embeddings, tables, strict=True):
        own = bb.fit(table, seed=3)["posterior/connection_mean"].to_numpy().reshape(-1, 4)
        ours = posterior["connection_mean"].sel(embedding=name).to_numpy().reshape(-1, 4)
        np.testing.assert_allclose(ours.mean(axis=0), own.mean(axis=0), atol=0.1 * own.std(axis=0).min())
        np.testing.assert_allclose(ours.std(axis=0), own.std(axis=0), rtol=0.1)


@pytest.mark.parametrize("which", ["result", "three"])
def test_draws_add_up(request, which):
    """Of three embeddings, levels and changes rest on the first."""
    posterior = request.getfixturevalue(which).posterior["posterior"]
    first, *others = posterior["embedding"].to_numpy()
    for whole_list, change in (("connection_mean", "connection_change"), ("word_mean", "word_change")):
        for name in others:
            apart = posterior[whole_list].sel(embedding=name) - posterior[whole_list].sel(embedding=first)
            np.testing.assert_allclose(apart, posterior[change].sel(change=f"{first} → {name}"), atol=1e-12)


def test_the_paired_interval_is_narrower(tables, result):
    paired, separate = (whole(result.changes("associated", "human", paired=which)) for which in (True, False))
    assert paired["mean"] == pytest.approx(separate["mean"], abs=1e-9)
    assert paired["sd"] < 0.5 * separate["sd"]
    fits = [bb.fit(table, seed=at) for at, table in enumerate(tables)]
    sds = [whole(bb.contrasts(post, "associated", "human", target="population"))["sd"] for post in fits]
    assert separate["sd"] == pytest.approx(np.hypot(*sds), rel=0.1)
    rows = outcomes(result, "associated - human")
    ends = whole(result.changes("associated", "human", paired=False))[["low", "high"]]
    assert whole(rows)["unpaired"] == pytest.approx(ends["high"] - ends["low"])


def test_outcomes_by_hand(result):
    posterior = result.posterior["posterior"]
    words = posterior["word_mean"].sel(protected_word="b 0")
    both = (words.sel(connection="associated") - words.sel(connection="human")).to_numpy().reshape(-1, 2)
    row = outcomes(result, "associated - human").set_index("protected_word").loc["b 0"]
    assert row["p_shrank"] == (np.abs(both[:, 1]) < np.abs(both[:, 0])).mean()
    assert row["p_reversed"] == (np.sign(both[:, 1]) != np.sign(both[:, 0])).mean()
    assert row["before"] == pytest.approx(both[:, 0].mean())
    assert row["group"] == "b"


def test_observed_contrasts_are_differences_of_means(tables, result, observed_associations):
    found = outcomes(result).set_index("protected_word")
    sides = result.sides("associated", "different", rows="difference")
    sides = {name: getattr(sides, name) for name in ("observed_before", "observed_after")}
    plain = pd.DataFrame(sides, index=found.index)
    for side, table in zip(("observed_before", "observed_after"), tables, strict=True):
        cells = table.pivot_table("distance", "protected_word", "connection")
        expected = cells["associated"] - cells["different"]
        np.testing.assert_allclose(plain.loc[expected.index, side], expected, atol=1e-12)
        own = observed_associations(table)[expected.index]
        np.testing.assert_allclose(found.loc[expected.index, side], own, atol=1e-12)
        for rows in (found, plain):
            assert rows.loc["whole list", side] == pytest.approx(expected.mean())


def test_what_is_clear_is_sure(result):
    found = outcomes(result, "associated - human")
    assert found["high"].iloc[0] < 0 or found["low"].iloc[0] > 0
    named = found["clear"].to_numpy()[1:]
    rates = np.minimum(found["p_shrank"], 1 - found["p_shrank"]).to_numpy()[1:]
    assert rates[named].mean() < 0.025
    assert rates[named].max() <= rates[~named].min(initial=1)
    more = np.sort(rates)[: named.sum() + 1]
    assert named.all() or more.mean() >= 0.025
    assert (found["clear"] & (found["p_shrank"] > 0.5)).sum() >= 6


def test_no_word_is_named_where_the_change_of_the_whole_list_includes_0(result):
    sides = result.sides("associated", "human")
    whole_mean = sides.change.mean[0]
    whole_list = np.arange(len(sides.change)) == 0
    same = replace(sides, after=sides.after - whole_mean * whole_list)  # the change of the whole list, and nothing else
    assert sides.clear(0.89)[1:].any()
    assert not same.clear(0.89)[1:].any()


def test_standardised_contrasts_are_in_the_units_of_their_embeddings(scaled):
    first, second = 0.1, 0.08
    assert scaled.units().to_dict() == {"before": 0.1, "after": 0.08}
    sides = scaled.sides("associated", "different")
    before, after = (drawn(side)[:, 0] for side in (sides.before, sides.after))
    expected = after / second - before / first
    table = scaled.changes(standardise=True)
    assert whole(table)["mean"] == pytest.approx(expected.mean())
    (units,) = (note for note in scaled.notes if note.code == "units")
    assert units.numbers == {"before": 0.1, "after": 0.08, "change": "before → after"}
    row = scaled.summary().set_index("quantity").loc["associated - different, in sds"]
    assert row["change"] == whole(table)["mean"]
    expected = (np.abs(after / second) < np.abs(before / first)).mean()
    assert whole(outcomes(scaled, "associated - different, in sds"))["p_shrank"] == expected
    mean = scaled.posterior["posterior/connection_mean"].sel(connection="human")
    from_1 = (mean.sel(embedding="after") - 1) / 0.08 - (mean.sel(embedding="before") - 1) / 0.1
    assert whole(scaled.changes("human", standardise=True))["mean"] == pytest.approx(float(from_1.mean()))


def test_priors_of_changes_are_used_and_their_scales_are_found(result, compared, edited):
    assert float(result.posterior["posterior/change_sigma"].mean()) == pytest.approx(0.03, rel=0.1)
    found = compared(model=edited("change", ("sd = 0.3", "sd = 0.001")))
    assert abs(whole(found.changes("associated"))["mean"]) < 0.01


def test_a_model_of_changes_without_effects_of_attribute_words_is_exact(tables, compared, edited):
    found = compared(model=edited("pooled", ("mean = 1.0", "mean = 0.0")), draws=400)
    moved = (tables[1]["distance"] - tables[0]["distance"])[tables[0]["connection"] == "associated"]
    assert whole(found.changes("associated"))["mean"] == pytest.approx(moved.mean(), abs=0.005)


def test_three_embeddings(three, result):
    first = three.changes().query("`from` == 'glove' and to == 'google'")
    np.testing.assert_allclose(first["mean"], result.changes()["mean"], atol=0.004)
    assert {"independent", "unrelated", "new words"} <= codes(three)
    rows = outcomes(three).query("protected_word == 'whole list'").set_index(["from", "to"])
    printed = three.summary().set_index("change_of")
    assert printed.loc["glove → reddit", "low"] == rows.loc[("glove", "reddit"), "low"]


def test_the_same_embedding_twice_has_changed_by_exactly_nothing(tables, compared):
    found = compared(after=tables[0].sample(frac=1, random_state=1))
    for table in (found.changes(), found.changes("neutral"), found.changes("associated", "different")):
        assert (table[["mean", "sd", "low", "high"]].to_numpy() == 0).all()
    assert not outcomes(found)["clear"].any()
    assert found.table()["at_most"].isna().all()
    (fixed,) = (note for note in found.notes if note.code == "fixed")
    assert fixed.numbers == {"connection": "all", "value": 0.0, "change": "before → after"}
    own = whole(bb.contrasts(bb.fit(tables[0], seed=1)))
    assert whole(outcomes(found))["before"] == pytest.approx(own["mean"], abs=0.003)


def test_a_connection_that_moved_as_one_is_known_exactly(tables, compared):
    kind = tables[0]["connection"]
    moved = tables[0]["distance"] + np.where(kind == "human", 0.05, 0.0)
    found = compared(np.where(kind == "associated", tables[1]["distance"], moved))
    human = found.changes("human")
    np.testing.assert_allclose(human["mean"], 0.05, atol=1e-12)
    np.testing.assert_allclose(human["sd"], 0, atol=1e-12)
    assert (found.changes("neutral")["sd"] == 0).all()
    assert whole(found.changes("associated"))["sd"] > 0
    fixed = {note.numbers["connection"]: note.numbers["value"] for note in found.notes if note.code == "fixed"}
    assert fixed == {"human": pytest.approx(0.05), "different": 0.0, "neutral": 0.0}


def test_a_change_in_proportion_to_the_distances(tables):
    """After is before, halved: nothing is left beside the change, and every word's bias shrank by half."""
    half = tables[0].assign(distance=1 + (tables[0]["distance"] - 1) / 2)
    found = bb.compare(before=with_unit(tables[0], 0.1), after=with_unit(half, 0.05), seed=1)
    own = whole(bb.contrasts(bb.fit(tables[0], seed=1), "associated", "human"))
    row = whole(outcomes(found, "associated - human"))
    assert row["p_shrank"] == 1
    assert row["p_reversed"] == 0
    assert row["before"] == pytest.approx(own["mean"], abs=0.3 * own["sd"])
    assert row["after"] == pytest.approx(row["before"] / 2, abs=1e-6)
    assert whole(found.changes("associated", "human"))["sd"] == pytest.approx(own["sd"] / 2, rel=0.15)
    assert whole(found.changes(standardise=True))["mean"] == pytest.approx(0, abs=1e-6)


def test_what_does_not_match_is_said_and_left_out(tables, compared):
    before, after = tables
    fewer = after[(after["protected_word"] != "a 0") & (after["attribute_word"] != "neutral word 3")]
    found = compared(after=fewer)
    left = len(before) - len(fewer)
    assert found.posterior["observed_data"].sizes["pair"] == len(fewer)
    (note,) = (note for note in found.notes if note.code == "left-out")
    assert (note.numbers["count"], note.numbers["total"]) == (left, len(before))
    assert note.numbers["words"] == ["a 0", "neutral word 3"]


def test_a_seed_gives_the_same_whatever_the_order_of_rows_and_repeats(tables, compared, result):
    before, after = tables
    pd.testing.assert_frame_equal(compared(model="change").changes(), result.changes())
    again = compared(before=pd.concat([before, before.head(50)]), after=after.sample(frac=1, random_state=3))
    pd.testing.assert_frame_equal(again.changes(), result.changes())


def test_pairs_under_another_connection_do_not_match(tables, compared):
    before, after = tables
    other = after.assign(connection=after["connection"].replace({"human": "neutral"}))
    matched = comparison.changes.match({"before": before, "after": other})
    assert set(matched.data.connections) == {"associated", "different", "neutral"}
    swapped = {"associated": "different", "different": "associated", "human": "neutral", "neutral": "human"}
    with pytest.raises(bb.InputError, match="share no pair under one connection"):
        compared(after=after.assign(connection=after["connection"].map(swapped)))


def test_capital_letters(tables, compared):
    before, after = tables
    upper = before.assign(
        protected_word=before["protected_word"].str.capitalize(), attribute_word=before["attribute_word"].str.title()
    )
    with pytest.raises(bb.InputError, match="case='fallback'"):
        compared(before=upper)
    found = compared(before=upper, case="fallback")
    assert found.posterior["observed_data"].sizes["pair"] == len(after)
    (note,) = (note for note in found.notes if note.code == "spelling")
    assert "A 0 as a 0" in note.numbers["words"]


def test_what_differs_between_tables_is_said(tables):
    before, after = (
        bb.DistanceTable(table, coverage=Coverage("x", [], embedding={"name": "e", "vectors": 5, "dimensions": size}))
        for table, size in zip(tables, (100, 300), strict=True)
    )
    after = after.assign(group=after["group"].mask(after["protected_word"] == "a 0", "b"))
    matched = comparison.changes.match({"before": before, "after": after})
    found = {note.code: note.numbers for note in matched.notes}
    assert found["dimensions"] == {"sizes": ["before 100", "after 300"]}
    assert found["groups"] == {"words": ["a 0"]}
    assert matched.data.groups[matched.data.protected_words == "a 0"] == ["a"]


def test_missing_pairs_and_no_controls(tables, compared):
    bare = [table[table["connection"].isin(["associated", "different"])] for table in tables]
    without = compared(before=bare[0], after=bare[1], draws=400)
    assert without.headline == ("associated", "different")
    (note,) = (note for note in without.notes if note.code == "no-value")
    assert note.numbers == {"what": "standardised change", "reason": "no unit of before and after"}
    with pytest.raises(bb.InputError, match="cannot be standardised, since the table of before does not say"):
        without.changes(standardise=True)
    controls = [table[table["connection"].isin(["human", "neutral"])] for table in tables]
    only = compared(before=controls[0], after=controls[1], draws=400)
    assert only.headline is None
    assert only.summary()["quantity"].tolist() == ["to human words", "to neutral words"]
    assert {"what": "contrast", "reason": "no associated words"} in [note.numbers for note in only.notes]


def test_slope_takes_the_change_out_of_the_distances_before():
    rng = np.random.default_rng(5)
    table = simulate(SHAPE, "crossed", START, 3)
    data = Distances.read(table)
    change = -0.4 * (table["distance"].to_numpy() - 0.9) + rng.normal(0, 0.01, len(table))
    slopes = comparison.sides.slopes_of(data, table["distance"].to_numpy(), change, {3: 0.0})
    assert slopes == pytest.approx([1 / 0.4, 1 / 0.4, 1 / 0.4, 0], rel=0.1)


def test_one_pair_of_a_connection_tells_little(tables, compared):
    """A single attribute word is not known exactly: the model of changes speaks, with its prior."""
    before, after = tables
    pair = (before["attribute_word"] == "human word 0") & (before["protected_word"] == "a 0")
    one = (before["connection"] != "human") | pair
    found = compared(before=before[one], after=after[one], model="change")
    assert whole(found.changes("associated", "human"))["sd"] > 0.05
    assert codes(found) == {"unrelated", "new words", "coverage-unknown", "no-value"}


def test_draws_of_associations_by_hand():
    """With d the difference of a word, g the mean of its group and m that of all: d - (g - m) / (groups - 1)."""
    sizes = {"a": 2, "b": 3, "c": 4}
    shape = {"groups": sizes, "stereotypes": dict.fromkeys(sizes, 6), "human": 10}
    before = simulate(shape, "crossed", {**START, "connection_mean": [0.75, 0.85, 0.9]}, 2)
    before.attrs = {}
    after = before.assign(distance=before["distance"] + np.random.default_rng(1).normal(0, 0.01, len(before)))
    result = bb.compare(before=before, after=after, seed=0, draws=400)
    words, plain = (
        drawn(result.sides("associated", "different", rows=rows).change)[:, 1:]
        for rows in ("association", "difference")
    )
    group = np.repeat(np.arange(len(sizes)), list(sizes.values()))
    means = np.column_stack([plain[:, group == at].mean(axis=1) for at in range(len(sizes))])
    expected = plain - (means - means.mean(axis=1, keepdims=True))[:, group] / (len(sizes) - 1)
    np.testing.assert_allclose(words, expected, atol=1e-12)


def test_one_group_has_differences_and_no_associations(result, tables, compared):
    alone = [table[table["group"] == "a"] for table in tables]
    single = compared(before=alone[0], after=alone[1], draws=400)
    assert single.headline == ("associated", "different")
    assert single.sides(*single.headline).kind == "difference"
    with pytest.raises(bb.InputError, match="a decomposition needs associations"):
        single.decomposition()


def test_at_most_so_much_of_the_former_size_has_the_mass_of_the_interval(tables, compared):
    noise = np.random.default_rng(4).normal(0, 0.004, len(tables[0]))
    found = compared(tables[0]["distance"] + noise)
    sides = found.sides("associated", "different")
    shares = np.abs(drawn(sides.change)[:, 0] / drawn(sides.before)[:, 0])
    most = round(100 * whole(found.table())["at_most"])
    assert 2 <= most <= 10
    assert (shares <= most / 100).mean() >= 0.89 > (shares <= (most - 1) / 100).mean()


def test_a_comparison_is_no_fit(result, tmp_path):
    with pytest.raises(bb.InputError, match="is a comparison, not a fit"):
        bb.contrasts(result.posterior)
    with pytest.raises(bb.InputError, match=r"or result\.posterior"):
        bb.save_fit(result, tmp_path / "r.nc")
    bb.save_fit(result.posterior, tmp_path / "r.nc")
    again = Comparison(bb.load_fit(tmp_path / "r.nc"))
    assert again.notes == result.notes
    pd.testing.assert_frame_equal(again.changes(), result.changes())


def test_wrong_input(tables):
    with pytest.raises(bb.InputError, match="give before= and after="):
        bb.compare(before=tables[0])
    with pytest.raises(bb.InputError, match="a model of distances"):
        bb.compare(before=tables[0], after=tables[0], model="crossed")
