"""Comparison of embeddings on the same pairs: matching, exact cases, the paired interval, calibration, wrong input."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import bayesbias as bb
from bayesbias import comparison, models, numerics
from bayesbias._support import phrases
from bayesbias.comparison import Comparison
from bayesbias.distances import Coverage
from bayesbias.distances.distances import Distances
from bayesbias.models.families import UNRELATED_CHANGES

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
COLUMNS = ["protected_word", "group", "mean", "sd", "low", "high", "p_below_zero"]


def drawn(found):
    """The draws (D, m) of estimates that are known by draws."""
    return (found.weights @ found.law.numbers.T).T + found.offset


def simulated(seed, moved=MOVED, shape=SHAPE):
    before = bb.calibration.simulate(shape, "crossed", START, seed=seed)
    before = pd.DataFrame(before)
    change = bb.calibration.simulate(shape, "change", moved, seed=1000 + seed)
    return before, before.assign(distance=before["distance"] + change["distance"]), change.truth


def with_unit(table, sd):
    """A table whose embedding has this standard deviation of distances."""
    embedding = {"name": "simulated", "spread": {"sd": sd, "words": 1000, "kind": "random"}}
    return bb.DistanceTable(table, coverage=Coverage("simulated", [], embedding=embedding))


@pytest.fixture(scope="module")
def scaled(tables):
    """The comparison of embeddings with known units."""
    return bb.compare(before=with_unit(tables[0], 0.1), after=with_unit(tables[1], 0.08), model="change", seed=1)


@pytest.fixture(scope="module")
def tables():
    before, after, _ = simulated(0)
    return before, after


@pytest.fixture(scope="module")
def result(tables):
    return bb.compare(before=tables[0], after=tables[1], model="change", seed=1)


@pytest.fixture(scope="module")
def three(tables):
    other = simulated(7)[1]
    return bb.compare({"glove": tables[0], "google": tables[1], "reddit": other}, seed=1, draws=2000)


def whole(table):
    return table[table["protected_word"] == "whole list"].iloc[0]


def associations(table):
    """Observed associations: distances to lists, double-centred with groups of the same weight."""
    lists = table[table["connection"].isin(["associated", "different"])]
    means = lists.pivot_table("distance", "protected_word", "attribute_class", sort=False)
    group = table.drop_duplicates("protected_word").set_index("protected_word")["group"][means.index]
    by_list = means.groupby(group).mean().mean()
    centred = means.sub(means.mean(axis=1), axis=0) - (by_list - by_list.mean())
    size = len(means.columns)
    own = [centred.loc[word, group[word]] * size / (size - 1) for word in means.index]
    return pd.Series(own, index=means.index)


def test_columns_and_rows(result):
    for table in (result.changes(), result.contrasts("associated", "different"), result.changes("human")):
        assert table.columns.tolist() == COLUMNS
        assert len(table) == 13
        assert table["protected_word"].tolist() == [
            "whole list",
            *(f"{group} {at}" for group in "ab" for at in range(6)),
        ]
        assert table["group"].fillna("").tolist() == ["", *"aaaaaabbbbbb"]
        assert table.attrs["unit"] == "cosine distance"
    pd.testing.assert_frame_equal(result.changes(), result.contrasts())
    assert isinstance(result.posterior, xr.DataTree)
    assert result.embeddings == ("before", "after")
    assert result.engine == "marginal"
    assert result.faults == ()


def test_the_change_is_that_of_a_fit_of_the_differences(tables, result):
    before, after = tables
    differences = before.assign(distance=after["distance"] - before["distance"])
    alone = bb.fit(bb.DistanceTable(differences, truth={}), "change", seed=9)
    mean = alone["posterior/connection_mean"]
    row = whole(result.changes("associated"))
    own = mean.sel(connection="associated").to_numpy().ravel()
    assert row["mean"] == pytest.approx(own.mean(), abs=0.05 * own.std())
    assert row["sd"] == pytest.approx(own.std(), rel=0.05)
    contrast = bb.contrasts(alone, "associated", "human", population="similar")
    ours = result.contrasts("associated", "human")
    np.testing.assert_allclose(ours["mean"], contrast["mean"], atol=0.06 * contrast["sd"].min())
    np.testing.assert_allclose(ours["sd"], contrast["sd"], rtol=0.06)


def test_before_and_after_are_those_of_their_own_fits(tables, result):
    posterior = result.posterior["posterior"]
    for name, table in zip(result.embeddings, tables, strict=True):
        own = bb.fit(table, seed=3)["posterior/connection_mean"].to_numpy().reshape(-1, 4)
        ours = posterior["connection_mean"].sel(embedding=name).to_numpy().reshape(-1, 4)
        np.testing.assert_allclose(ours.mean(axis=0), own.mean(axis=0), atol=0.1 * own.std(axis=0).min())
        np.testing.assert_allclose(ours.std(axis=0), own.std(axis=0), rtol=0.1)


def test_draws_add_up(result):
    posterior = result.posterior["posterior"]
    for whole_list, change in (("connection_mean", "connection_change"), ("word_mean", "word_change")):
        apart = posterior[whole_list].sel(embedding="after") - posterior[whole_list].sel(embedding="before")
        np.testing.assert_allclose(apart, posterior[change].isel(change=0), atol=1e-12)


def test_the_paired_interval_is_narrower(result):
    paired, separate = (whole(result.contrasts("associated", "human", paired=which)) for which in (True, False))
    assert paired["mean"] == pytest.approx(separate["mean"], abs=1e-9)
    assert paired["sd"] < 0.5 * separate["sd"]
    fits = [bb.fit(table, seed=at) for at, table in enumerate(simulated(0)[:2])]
    expected = np.hypot(
        *(whole(bb.contrasts(post, "associated", "human", population="similar"))["sd"] for post in fits)
    )
    assert separate["sd"] == pytest.approx(expected, rel=0.1)
    headline = whole(result.changes())
    assert f"{headline['high'] - headline['low']:.3f} wide" in result.verdict


def test_outcomes_by_hand(result):
    posterior = result.posterior["posterior"]
    words = posterior["word_mean"].sel(protected_word="b 0")
    both = (words.sel(connection="associated") - words.sel(connection="human")).to_numpy().reshape(-1, 2)
    row = result.outcomes("associated", "human").set_index("protected_word").loc["b 0"]
    assert row["p_shrank"] == (np.abs(both[:, 1]) < np.abs(both[:, 0])).mean()
    assert row["p_reversed"] == (np.sign(both[:, 1]) != np.sign(both[:, 0])).mean()
    assert row["before"] == pytest.approx(both[:, 0].mean())
    assert row["group"] == "b"


def test_observed_contrasts_are_differences_of_means(tables, result):
    found = result.outcomes("associated", "different").set_index("protected_word")
    plain = result.outcomes("associated", "different", rows="difference").set_index("protected_word")
    for side, table in zip(("observed_before", "observed_after"), tables, strict=True):
        cells = table.pivot_table("distance", "protected_word", "connection")
        expected = cells["associated"] - cells["different"]
        np.testing.assert_allclose(plain.loc[expected.index, side], expected, atol=1e-12)
        np.testing.assert_allclose(found.loc[expected.index, side], associations(table)[expected.index], atol=1e-12)
        for rows in (found, plain):
            assert rows.loc["whole list", side] == pytest.approx(expected.mean())
    assert "also hold how near the lists are" in result.outcomes(rows="difference").attrs["meaning"]
    assert result.outcomes().attrs["rows"] == result.changes().attrs["rows"] == "association"
    assert result.contrasts("associated", "human").attrs["rows"] == "difference"


def test_outcome_says_what_is_sure(result):
    found = result.outcomes("associated", "human")
    assert found["high"].iloc[0] < 0 or found["low"].iloc[0] > 0
    named = found["outcome"].ne("inconclusive").to_numpy()[1:]
    rates = np.minimum(found["p_shrank"], 1 - found["p_shrank"]).to_numpy()[1:]
    assert rates[named].mean() < 0.025
    assert rates[named].max() <= rates[~named].min(initial=1)
    more = np.sort(rates)[: named.sum() + 1]
    assert named.all() or more.mean() >= 0.025
    assert (found["outcome"] == "shrank").sum() >= 6


def test_no_word_is_named_where_the_change_of_the_whole_list_includes_0(result):
    sides = result.sides("associated", "human")
    whole_mean = sides.change.mean[0]
    whole_list = np.arange(len(sides.change)) == 0
    same = replace(sides, after=sides.after - whole_mean * whole_list)  # the change of the whole list, and nothing else
    assert set(sides.outcomes(0.89)[1:]) != {"inconclusive"}
    assert set(same.outcomes(0.89)[1:]) == {"inconclusive"}


def test_standardised_contrasts_are_in_the_units_of_their_embeddings(scaled):
    units = [0.1, 0.08]
    assert scaled.units().to_dict() == {"before": 0.1, "after": 0.08}
    sides = scaled.sides("associated", "different")
    before, after = (drawn(side)[:, 0] for side in (sides.before, sides.after))
    expected = after / units[1] - before / units[0]
    table = scaled.changes(standardise=True)
    assert whole(table)["mean"] == pytest.approx(expected.mean())
    assert table.attrs["unit"] == "standard deviations of the embedding's distances"
    assert "In standard deviations of the embedding's distances (before 0.100, after 0.080)" in scaled.verdict
    expected = (np.abs(after / units[1]) < np.abs(before / units[0])).mean()
    assert whole(scaled.outcomes(standardise=True))["p_shrank"] == expected


def test_embeddings_that_differ_in_scale_only_have_the_same_standardised_contrast(tables):
    before, _ = tables
    noise = np.random.default_rng(2).normal(0, 1e-4, len(before))
    half = before.assign(distance=1 + (before["distance"] - 1) / 2 + noise)
    found = bb.compare(before=with_unit(before, 0.1), after=with_unit(half, 0.05), seed=1)
    raw, standard = whole(found.changes()), whole(found.changes(standardise=True))
    assert raw["low"] > 0.03
    assert abs(standard["mean"]) < 0.01
    assert whole(found.outcomes("associated", "human"))["p_shrank"] > 0.99
    assert "The two disagree, so that the change is, at least in part, one of scale." in found.verdict


def test_three_embeddings(three, result):
    changes = three.changes()
    assert changes.columns.tolist() == ["before", "after", *COLUMNS]
    assert changes.groupby(["before", "after"], sort=False).ngroups == 3
    first = changes.query("before == 'glove' and after == 'google'")
    np.testing.assert_allclose(first["mean"], result.changes()["mean"], atol=0.004)
    assert any("all changes have one posterior where the tables carry relatedness" in note for note in three.notes)
    assert three.posterior["posterior/connection_mean"].sizes["embedding"] == 3
    assert "From glove to reddit" in three.verdict
    assert three.outcomes().columns.tolist()[:2] == ["before_embedding", "after_embedding"]


def test_the_same_embedding_twice_has_changed_by_exactly_nothing(tables):
    found = bb.compare(before=tables[0], after=tables[0].sample(frac=1, random_state=1), seed=1)
    for table in (found.changes(), found.changes("neutral"), found.contrasts("associated", "different")):
        assert (table[["mean", "sd", "low", "high"]].to_numpy() == 0).all()
    assert set(found.outcomes()["outcome"]) == {"unchanged"}
    assert "the change is exactly 0" in found.verdict
    assert whole(found.outcomes())["before"] == pytest.approx(
        whole(bb.contrasts(bb.fit(tables[0], seed=1)))["mean"], abs=0.003
    )


def test_a_connection_that_moved_as_one_is_known_exactly(tables):
    before, after = tables
    moved = before["distance"] + np.where(before["connection"] == "human", 0.05, 0.0)
    mixed = after.assign(distance=np.where(before["connection"] == "associated", after["distance"], moved))
    found = bb.compare(before=before, after=mixed, seed=1)
    human = found.changes("human")
    np.testing.assert_allclose(human["mean"], 0.05, atol=1e-12)
    np.testing.assert_allclose(human["sd"], 0, atol=1e-12)
    assert (found.changes("neutral")["sd"] == 0).all()
    assert whole(found.changes("associated"))["sd"] > 0
    assert "every distance of human words changed by exactly 0.05" in " ".join(found.notes)


def test_every_connection_moved_as_one(tables):
    before, _ = tables
    after = before.assign(distance=before["distance"] + np.where(before["connection"] == "associated", 0.1, 0.0))
    found = bb.compare(before=before, after=after, seed=1)
    assert whole(found.changes())["mean"] == pytest.approx(0.1)
    assert whole(found.changes())["sd"] == pytest.approx(0, abs=1e-12)


def test_a_change_in_proportion_to_the_distances(tables):
    """After is before, halved: nothing is left beside the change, and every word's bias shrank by half."""
    before, _ = tables
    half = before.assign(distance=1 + (before["distance"] - 1) / 2)
    found = bb.compare(before=with_unit(before, 0.1), after=with_unit(half, 0.05), seed=1)
    own = whole(bb.contrasts(bb.fit(before, seed=1), "associated", "human"))
    row = whole(found.outcomes("associated", "human"))
    assert row["p_shrank"] == 1
    assert row["p_reversed"] == 0
    assert row["before"] == pytest.approx(own["mean"], abs=0.3 * own["sd"])
    assert row["after"] == pytest.approx(row["before"] / 2, abs=1e-6)
    assert whole(found.contrasts("associated", "human"))["sd"] == pytest.approx(own["sd"] / 2, rel=0.15)
    assert whole(found.changes(standardise=True))["mean"] == pytest.approx(0, abs=1e-6)


def test_a_large_shift_does_not_pull_the_levels(tables):
    """All distances moved by about .3, the noise of which goes with them: before stays what it was."""
    before, _ = tables
    noise = np.random.default_rng(1).normal(0, 0.002, len(before))
    moved = 0.3 + 0.05 * (before["distance"] - 0.9) + noise
    found = bb.compare(before=before, after=before.assign(distance=before["distance"] + moved), seed=1)
    own = bb.fit(before, seed=1)["posterior/connection_mean"]
    ours = found.posterior["posterior/connection_mean"].sel(embedding="before")
    apart = (ours.mean(("chain", "draw")) - own.mean(("chain", "draw"))) / own.std(("chain", "draw"))
    assert np.abs(apart).max() < 0.15


def test_words_that_did_not_change_are_counted(tables):
    before, after = tables
    some = before["attribute_word"].isin(["human word 0", "human word 1", "human word 2"])
    found = bb.compare(
        before=before, after=after.assign(distance=after["distance"].mask(some, before["distance"])), seed=1
    )
    assert any("20% of the distances of human words did not change" in note for note in found.notes)


def test_what_does_not_match_is_said_and_left_out(tables):
    before, after = tables
    fewer = after[(after["protected_word"] != "a 0") & (after["attribute_word"] != "neutral word 3")]
    found = bb.compare(before=before, after=fewer, seed=1)
    left = len(before) - len(fewer)
    assert found.posterior["observed_data"].sizes["pair"] == len(fewer)
    assert f"{left:,} of {len(before):,} pairs of before have no counterpart" in found.notes[0]
    assert "all of the protected words a 0 and the attribute words neutral word 3" in found.notes[0]
    assert found.notes[0] in found.verdict


def test_order_of_rows_and_repeats_do_not_matter(tables, result):
    before, after = tables
    again = bb.compare(before=pd.concat([before, before.head(50)]), after=after.sample(frac=1, random_state=3), seed=1)
    pd.testing.assert_frame_equal(again.changes(), result.changes())


def test_pairs_under_another_connection_do_not_match(tables):
    before, after = tables
    other = after.assign(connection=after["connection"].replace({"human": "neutral"}))
    found = comparison.sides.match({"before": before, "after": other})
    assert set(found.table["connection"]) == {"associated", "different", "neutral"}
    swapped = after.assign(
        connection=after["connection"].map(
            {"associated": "different", "different": "associated", "human": "neutral", "neutral": "human"}
        )
    )
    with pytest.raises(bb.InputError, match="share pairs, but under different connections"):
        bb.compare(before=before, after=swapped)


def test_capital_letters(tables):
    before, after = tables
    upper = before.assign(
        protected_word=before["protected_word"].str.capitalize(), attribute_word=before["attribute_word"].str.title()
    )
    with pytest.raises(bb.InputError, match="case='fallback'"):
        bb.compare(before=upper, after=after)
    found = bb.compare(before=upper, after=after, case="fallback", seed=1)
    assert found.posterior["observed_data"].sizes["pair"] == len(after)
    assert any("without regard to capital letters" in note for note in found.notes)
    some = before.assign(protected_word=before["protected_word"].replace("a 0", "A 0"))
    partly = comparison.sides.match({"before": some, "after": after})
    assert any("holds words in lower case only" in note for note in partly.notes)


def test_dimensions_that_differ_are_said(tables):
    sized = [
        bb.DistanceTable(table, coverage=Coverage("x", [], embedding={"name": "e", "vectors": 5, "dimensions": size}))
        for table, size in zip(tables, (100, 300), strict=True)
    ]
    found = comparison.sides.match({"before": sized[0], "after": sized[1]})
    assert any("different dimensions (before 100, after 300)" in note for note in found.notes)


def test_missing_pairs_single_groups_and_no_controls(tables):
    before, after = tables
    holes = before.sample(frac=0.9, random_state=1)
    found = bb.compare(before=holes, after=after, seed=1, draws=400)
    assert found.posterior["observed_data"].sizes["pair"] == len(holes)
    single = [table[table["group"] == "a"] for table in tables]
    alone = bb.compare(before=single[0], after=single[1], seed=1, draws=400)
    assert any("Word x group was left out" in note for note in alone.notes)
    bare = [table[table["connection"].isin(["associated", "different"])] for table in tables]
    without = bb.compare(before=bare[0], after=bare[1], seed=1, draws=400)
    assert without.headline == ("associated", "different")
    assert "Differences of scale cannot be taken out, since the table of before does not say" in without.verdict
    with pytest.raises(bb.InputError, match="cannot be standardised, since the table of before does not say"):
        without.changes(standardise=True)
    controls = [table[table["connection"].isin(["human", "neutral"])] for table in tables]
    only = bb.compare(before=controls[0], after=controls[1], seed=1, draws=400)
    assert only.headline is None
    assert "words for people in general" in only.verdict
    with pytest.raises(bb.InputError, match="name a connection, one of human, neutral"):
        only.changes()


def test_everything_in_arviz_works_on_the_posterior(result, tmp_path):
    import arviz_stats

    table = arviz_stats.summary(result.posterior, var_names=["connection_change"], ci_prob=0.89)
    assert len(table) == 4
    bb.save_fit(result.posterior, tmp_path / "comparison.nc")
    with xr.open_datatree(tmp_path / "comparison.nc", engine="h5netcdf") as opened:
        again = Comparison(opened.load())
    pd.testing.assert_frame_equal(again.changes(), result.changes())
    assert again.verdict == result.verdict


def test_a_seed_gives_the_same_and_is_recorded(tables, result):
    again = bb.compare(before=tables[0], after=tables[1], seed=1)
    pd.testing.assert_frame_equal(again.changes(), result.changes())
    free = bb.compare(before=tables[0], after=tables[1], draws=400)
    repeated = bb.compare(before=tables[0], after=tables[1], draws=400, seed=int(free.posterior.attrs["seed"]))
    pd.testing.assert_frame_equal(free.changes(), repeated.changes())


def test_the_record_of_a_comparison(result):
    attrs = result.posterior.attrs
    assert attrs["model"] == "change"
    assert "mean = 0.0" in attrs["model_text"]
    assert json.loads(attrs["versions"])["bayesbias"]
    assert float(result.posterior["sample_stats/pareto_k"].max()) < 0.7
    assert float(result.posterior["posterior/change_sigma"].mean()) == pytest.approx(0.03, rel=0.1)


def test_a_changed_prior_is_used(tables, edited):
    tight = edited("change", ("sd = 0.3", "sd = 0.001"))
    found = bb.compare(before=tables[0], after=tables[1], model=tight, seed=1)
    assert abs(whole(found.changes("associated"))["mean"]) < 0.01


def test_a_model_that_needs_nuts_is_refused(tables, edited):
    heavy = edited(
        "change",
        ('family = "normal"', 'family = "student_t"'),
        ("[priors]", '[priors]\nnu = { distribution = "gamma", shape = 2.0, rate = 0.1 }'),
    )
    with pytest.raises(bb.InputError, match=r"the model 'change' needs NUTS, .* not marginal, since its residuals"):
        bb.compare(before=tables[0], after=tables[1], model=heavy)


def test_a_model_of_changes_without_effects_of_attribute_words_is_exact(tables, edited):
    plain = edited("pooled", ("mean = 1.0", "mean = 0.0"))
    found = bb.compare(before=tables[0], after=tables[1], model=plain, seed=1, draws=400)
    row, moved = whole(found.changes("associated")), tables[1]["distance"] - tables[0]["distance"]
    assert row["mean"] == pytest.approx(moved[tables[0]["connection"] == "associated"].mean(), abs=0.005)
    assert found.faults == ()
    assert {*found.posterior["sample_stats"].data_vars} == {"pareto_k", "importance_ess"}


def test_faults_are_those_of_weights_grids_and_chains():
    rng, draws = np.random.default_rng(0), models.tree.Draws
    values = {"connection_mean": rng.standard_normal((4, 500, 2)), "word_mean": rng.standard_normal((4, 500, 3, 2))}
    values["word_mean"][:, :, 1, 0] = np.nan
    faults = bb.checks.convergence.engine_faults
    assert faults(draws(values, {"pareto_k": 0.3, "importance_ess": 900.0})) == ()
    assert faults(draws(values, {"pareto_k": 0.8, "importance_ess": 399.0})) == (
        "the smallest effective sample size is 399, below 400 (more draws may help)",
        "Pareto k is 0.80, above 0.7",
    )
    assert faults(draws(values, attrs={"grid_mass_outside": 1e-7})) == ()
    assert faults(draws(values, attrs={"grid_mass_outside": 1e-5})) == (
        "posterior mass of about 1e-05 lies outside the grid",
    )
    assert faults(draws(values, {"diverging": np.zeros((4, 500))})) == ()
    stuck = {**values, "connection_mean": values["connection_mean"] + np.arange(4)[:, None, None]}
    found = faults(draws(stuck, {"diverging": np.eye(4, 500)}))
    assert found[0].startswith("the largest R-hat is")
    assert found[-1] == "4 transitions diverged"


def test_a_large_number_of_draws_is_made_smaller_with_a_note(tables, monkeypatch):
    monkeypatch.setattr(models.families.Independent, "most_numbers", 2**18)
    found = bb.compare(before=tables[0], after=tables[1], seed=1)
    made = found.posterior["posterior"].sizes
    assert 500 <= made["chain"] * made["draw"] < 4000
    (note,) = [note for note in found.notes if "draws are made" in note]
    assert note.startswith(f"{made['chain'] * made['draw']:,} draws are made, not 4,000")


def test_slope_takes_the_change_out_of_the_distances_before():
    rng = np.random.default_rng(5)
    table = bb.calibration.simulate(SHAPE, "crossed", START, seed=3)
    data = Distances.read(table)
    change = -0.4 * (table["distance"].to_numpy() - 0.9) + rng.normal(0, 0.01, len(table))
    rows = data.connection == 0
    found = comparison.changes.slope(data, table["distance"].to_numpy(), change, rows)
    assert found == pytest.approx(1 / 0.4, rel=0.1)


@pytest.mark.study
@pytest.mark.parametrize(
    ("moved", "seed"), [(MOVED, 0), pytest.param(MOVED | {"connection_mean": 0.0}, 500, marks=pytest.mark.full)]
)
def test_intervals_cover_known_changes(moved, seed, sized):
    """So many of the 89% intervals cover that 1 in 300 right programs would have fewer."""
    covered, tables = [], sized(200, 16)
    for at in range(seed, seed + tables):
        before, after, truth = simulated(at, moved)
        found = bb.compare(before=before, after=after, seed=at, draws=800).contrasts("associated", "human")
        mean, words = truth["connection_mean"], truth["word_mean"]
        true = np.r_[mean[0] - mean[2], words[:, 0] - words[:, 2]]
        covered.append((found["low"].to_numpy() <= true) & (true <= found["high"].to_numpy()))
    inside = np.array(covered)
    assert inside[:, 0].sum() >= stats.binom.ppf(1 / 300, tables, 0.89)
    assert 0.85 < inside[:, 1:].mean() < 0.94


def test_one_pair_of_a_connection_tells_little(tables):
    """A single attribute word is not known exactly: the model of changes speaks, with its prior."""
    before, after = tables
    one = (before["connection"] != "human") | (
        (before["attribute_word"] == "human word 0") & (before["protected_word"] == "a 0")
    )
    found = bb.compare(before=before[one], after=after[one], model="change", seed=1)
    differences = before[one].assign(distance=(after["distance"] - before["distance"])[one])
    alone = bb.fit(bb.DistanceTable(differences, truth={}), "change", seed=1)
    own = whole(found.contrasts("associated", "human"))
    expected = whole(bb.contrasts(alone, "associated", "human", population="similar"))
    assert own["sd"] == pytest.approx(expected["sd"], rel=0.1)
    assert own["sd"] > 0.05
    assert found.notes == (UNRELATED_CHANGES,)


def test_a_single_word_and_pair_in_each_list(tables):
    few = tables[0]["attribute_word"].str.contains("word 0") & (tables[0]["protected_word"] == "a 0")
    found = bb.compare(before=tables[0][few], after=tables[1][few], seed=1)
    row = whole(found.outcomes())
    assert found.changes()["sd"].min() > 0.05
    assert 0.05 < row["p_shrank"] < 0.95
    assert "Of 1 protected word " in found.verdict


def test_levels_of_three_embeddings_rest_on_the_first(three):
    posterior = three.posterior["posterior"]
    mean, change = posterior["connection_mean"], posterior["connection_change"]
    for name in ("google", "reddit"):
        apart = mean.sel(embedding=name) - mean.sel(embedding="glove")
        np.testing.assert_allclose(apart, change.sel(change=f"glove → {name}"), atol=1e-12)


def test_words_in_other_groups_are_said(tables):
    moved = tables[1].assign(group=tables[1]["group"].mask(tables[1]["protected_word"] == "a 0", "b"))
    found = comparison.sides.match({"before": tables[0], "after": moved})
    assert any("other groups for a 0" in note for note in found.notes)
    assert found.table.loc[found.table["protected_word"] == "a 0", "group"].unique() == ["a"]


def test_bias_that_grew(tables):
    before, _ = tables
    noise = np.random.default_rng(3).normal(0, 0.01, len(before))
    own = np.where(before["connection"] == "associated", -0.1, 0.0)
    found = bb.compare(before=before, after=before.assign(distance=before["distance"] + own + noise), seed=1)
    table = found.outcomes("associated", "human")
    assert whole(table)["outcome"] == "grew"
    np.testing.assert_array_equal(table["outcome"] == "grew", table["p_shrank"] <= 0.055)
    assert set(table["outcome"]) <= {"grew", "inconclusive"}


def test_a_standardised_mean_is_seen_from_1(scaled):
    posterior = scaled.posterior["posterior/connection_mean"].sel(connection="human")
    expected = (posterior.sel(embedding="after") - 1) / 0.08 - (posterior.sel(embedding="before") - 1) / 0.1
    assert whole(scaled.changes("human", standardise=True))["mean"] == pytest.approx(float(expected.mean()))


def test_what_is_documented_is_there(result):
    named = set(re.findall(r"``(\w+)``", Comparison.__doc__))
    held = {str(name) for group in result.posterior.children.values() for name in group.data_vars}
    held |= set(result.posterior.children) | {
        str(name) for group in result.posterior.children.values() for name in group.dims
    }
    assert named - held == {"save_fit", "load_fit", "relatedness"}


def test_a_verdict_by_its_parts(result):
    parts = result.parts()
    assert list(parts) == ["What changed", "For whom", "How certain", "What broke", "Notes"]
    assert parts["Notes"] == [UNRELATED_CHANGES]
    row = whole(result.outcomes())
    first = parts["What changed"][0]
    assert f"{100 * abs(row['change'] / row['before']):.0f}% of its size" in first
    assert "which excludes 0" in first
    table = result.decomposition().iloc[:3].set_index("contrast")["mean"]
    last = parts["What changed"][-1]
    minus = "\N{MINUS SIGN}"
    assert last.startswith(f"The change of associated {minus} human, {table['associated - human']:.3f} (89% interval ")
    assert f"is the sum of the change of associated {minus} different, {row['change']:.3f} (" in last
    words = result.outcomes().iloc[1:]
    nearer = (words["observed_after"].abs() < words["observed_before"].abs()).sum()
    for said in (
        f"Of 12 protected words the association decreased in size for {(words['outcome'] == 'shrank').sum()}",
        f"inconclusive for {(words['outcome'] == 'inconclusive').sum()} (by the model, fewer than 2.5% of the words",
        f"excludes 0 for {((words['low'] > 0) | (words['high'] < 0)).sum()}",
        f"In the observed pairs it decreased in size for {nearer}.",
    ):
        assert said in parts["For whom"][0]
    assert not re.search(r"surely|\.\.", result.verdict)


def test_groups_of_opposite_signs_are_told_for_three_groups(religion):
    """Two groups have the same mean association by arithmetic."""
    own = religion["connection"] == "associated"
    moved = religion["group"].map({"jew": 0.35, "christian": -0.25, "muslim": 0.1})
    after = religion.assign(distance=religion["distance"] + np.where(own, moved, 0.0))
    after = bb.DistanceTable(after, truth={})
    result = bb.compare(before=religion, after=after, seed=0)
    (told,) = (one for one in result.parts()["For whom"] if "differ in sign" in one)
    group = after.drop_duplicates("protected_word").set_index("protected_word")["group"]
    means = associations(after).groupby(group).mean()
    assert means["jew"] > 0.05 > -0.05 > means["christian"]
    assert told.startswith(f"Afterwards the mean associations of the groups differ in sign, jew {means['jew']:.3f} (")
    assert f"christian \N{MINUS SIGN}{-means['christian']:.3f} (" in told
    assert "they cancel" in told
    back = bb.compare(before=after, after=religion, seed=0)
    assert not any("differ in sign" in one for one in back.parts()["For whom"])


def test_small_figures_have_two_digits():
    values = (0, 0.12345, -0.0987, 0.00234, -0.000012345)
    assert [phrases.figure(value) for value in values] == [
        "0.000", "0.123", "\N{MINUS SIGN}0.099", "0.0023", "\N{MINUS SIGN}0.000012",
    ]  # fmt: skip


def test_a_slight_change_is_said_in_its_size(tables):
    before, _ = tables
    noise = np.random.default_rng(4).normal(0, 0.0002, len(before))
    own = np.where(before["connection"] == "associated", 0.0006, 0.0)
    found = bb.compare(before=before, after=before.assign(distance=before["distance"] + own + noise), seed=1)
    assert re.search(r"a change of 0\.000\d+, 0% of its size", found.verdict)
    assert "0.000 " not in found.verdict.split("Probability")[0]


def test_values_that_no_cosine_distance_has_are_said(tables):
    before, after = tables
    far = bb.DistanceTable(after.assign(distance=after["distance"].where(after.index != 3, 7.0)), truth={})
    found = comparison.sides.match({"before": before, "after": far})
    assert any("1 of 612 values of after lie outside [0, 2]" in note for note in found.notes)


def test_other_names_have_controls_and_no_breakage(three):
    parts = three.parts()
    assert "Controls" in parts
    assert "What broke" not in parts
    assert sum(sentence.startswith("glove to reddit: ") for sentence in parts["How certain"]) == 1


def test_a_comparison_is_no_fit(result, tmp_path):
    for function in (bb.diagnose, bb.summary, bb.contrasts, bb.plot_coefficients):
        with pytest.raises(bb.InputError, match="the posterior of a comparison, not a fit"):
            function(result.posterior)
    with pytest.raises(bb.InputError, match=r"or result\.posterior"):
        bb.save_fit(result, tmp_path / "r.nc")
    bb.save_fit(result.posterior, tmp_path / "r.nc")
    assert Comparison(bb.load_fit(tmp_path / "r.nc")).verdict == result.verdict


WRONG = {
    "nothing": ({}, "given is NoneType: give before= and after="),
    "one table": ({"tables": {"a": "table"}}, "two embeddings or more, given 1"),
    "before alone": ({"before": "table"}, "given is before: give before= and after="),
    "both ways": ({"tables": {}, "before": "table", "after": "table"}, "given is tables and before and after"),
    "no table": ({"before": "table", "after": 5}, "after: a distance table is a DataFrame, given is int"),
    "a list": ({"tables": ["table", "table"]}, "given is list: give before= and after="),
    "one name twice": ({"tables": {1: "table", "1": "table"}}, "give each a name of its own"),
    "no name": ({"tables": {"": "table", "b": "table"}}, "the name of a table is '': give a printable text"),
    "no such model": ({"before": "table", "after": "table", "model": "chance"}, "there is no model 'chance'"),
    "no such case": ({"before": "table", "after": "table", "case": "lower"}, "case is 'lower': valid are"),
    "a model of distances": ({"before": "table", "after": "table", "model": "crossed"}, "one of distances"),
    "arrows": ({"tables": {"a → b": "table", "c": "table"}}, "holds an arrow"),
    "odd draws": ({"before": "table", "after": "table", "draws": 10, "chains": 4}, "do not split evenly"),
    "the published model": (
        {"before": "table", "after": "table", "model": "published"},
        "the model 'published' is one of distances",
    ),
}


@pytest.mark.parametrize(("options", "message"), WRONG.values(), ids=WRONG.keys())
def test_wrong_input(tables, options, message):
    def given(value):
        if isinstance(value, dict):
            return {name: given(each) for name, each in value.items()}
        if isinstance(value, list):
            return [given(each) for each in value]
        return tables[0] if isinstance(value, str) and value == "table" else value

    with pytest.raises(bb.InputError, match=message.replace("(", r"\(")):
        bb.compare(**{name: given(value) for name, value in options.items()})


def test_wrong_questions(result, three):
    with pytest.raises(bb.InputError, match="connection is 'stereotype': valid are associated"):
        result.changes("stereotype")
    with pytest.raises(bb.InputError, match="the connection is 'x'"):
        result.contrasts("x", "human")
    with pytest.raises(bb.InputError, match="'human' twice"):
        result.contrasts("human", "human")
    with pytest.raises(bb.InputError, match="prob is 89"):
        result.changes(prob=89)
    with pytest.raises(bb.InputError, match="standardise is 'yes'"):
        result.changes(standardise="yes")


def test_tables_that_share_nothing(tables):
    other = tables[0].assign(protected_word="other " + tables[0]["protected_word"])
    with pytest.raises(bb.InputError, match="the tables share no pair of protected and attribute word"):
        bb.compare(before=tables[0], after=other)


def test_one_pair_with_two_distances_names_its_table(tables):
    twice = pd.concat([tables[1], tables[1].head(1).assign(distance=1.5)])
    with pytest.raises(bb.InputError, match="after: the table: the pair"):
        bb.compare(before=tables[0], after=twice)


@pytest.fixture(scope="module")
def exact(slice_vectors, hard_debiased):
    """Tables of gender before and after hard debiasing with equalised pairs, and their comparison."""
    found = [bb.distance_table(kv, "gender") for kv in (slice_vectors, hard_debiased)]
    return *found, bb.compare(before=found[0], after=found[1], seed=0, draws=400)


class TestExact:
    """The model of related words: figures come from the vectors, not from draws."""

    QUESTIONS = (
        lambda result: result.outcomes(),
        lambda result: result.outcomes(rows="difference"),
        lambda result: result.outcomes("associated", "human", standardise=True),
        lambda result: result.changes(paired=False),
        lambda result: result.changes("human"),
        lambda result: result.decomposition(),
        lambda result: result.table(),
    )

    def test_what_is_observed_is_the_mean(self, exact):
        before, after, result = exact
        found = result.outcomes().set_index("protected_word")
        for side, table in (("before", before), ("after", after)):
            expected = associations(table)
            np.testing.assert_allclose(found.loc[expected.index, side], expected, atol=1e-12)
            assert found.loc["whole list", side] == pytest.approx(expected.mean(), abs=1e-12)
            np.testing.assert_allclose(found[f"observed_{side}"], found[side], atol=1e-12)
        assert (found["before"].iloc[1:] < 0).sum() == 13
        assert found["before"].iloc[1:].min() == pytest.approx(-0.0945, abs=5e-4)
        assert found["after"].iloc[1:].abs().max() < 0.0095

    def test_draws_are_made_when_they_are_asked_for(self, exact, tmp_path):
        before, after, _ = exact
        result, other = (bb.compare(before=before, after=after, seed=0, draws=400) for _ in range(2))
        assert [*result.outcomes()["outcome"], result.verdict, *result.changes()["mean"]]
        assert {"posterior", "sample_stats"}.isdisjoint(result.tree.children)
        assert [*result.tree["paired"].data_vars] == ["before_index", "after_index"]
        drawn = result.posterior
        assert drawn is result.posterior
        assert (drawn["posterior"].sizes["chain"], drawn["posterior"].sizes["draw"]) == (4, 100)
        assert result.tree["paired"].sizes == {"change": 1}
        with pytest.raises(bb.InputError, match=r"without draws: give the one that fit returns, or result\.posterior"):
            bb.save_fit(other.tree, tmp_path / "undrawn.nc")
        again = Comparison(other.tree)
        for group in ("posterior", "paired"):
            xr.testing.assert_identical(again.posterior[group].to_dataset(), drawn[group].to_dataset())
        assert again.posterior.attrs == drawn.attrs

    def test_figures_are_those_of_draws_from_the_posterior(self, exact):
        """20,000 draws of all cells, double-centred by hand."""
        before, after, _ = exact
        result = bb.compare(before=before, after=after, seed=1, draws=20_000)
        group = result.posterior["paired"], result.posterior["posterior"]
        start, moved = (
            values.to_numpy().reshape(-1, *values.shape[3:])
            for values in (group[0]["word_before"], group[1]["word_change"])
        )
        names = before["protected_word"].unique().tolist()
        first = np.array(before.drop_duplicates("protected_word")["group"] == "man")

        def centred(cells):
            to_man = np.where(first, cells[:, :, 0], cells[:, :, 1])
            to_woman = np.where(first, cells[:, :, 1], cells[:, :, 0])
            lean = to_man - to_woman
            lean = lean - (lean[:, first].mean(axis=1, keepdims=True) + lean[:, ~first].mean(axis=1, keepdims=True)) / 2
            return np.where(first, lean, -lean)

        one, other = centred(start), centred(start + moved)
        found = result.outcomes().set_index("protected_word").loc[names]
        change = other - one
        np.testing.assert_allclose(found["change"], change.mean(axis=0), atol=5 * change.std(axis=0).max() / 140)
        for side, tail in (("low", 0.055), ("high", 0.945)):
            np.testing.assert_allclose(found[side], np.quantile(change, tail, axis=0), atol=0.0012)
        np.testing.assert_allclose(found["p_shrank"], (np.abs(other) < np.abs(one)).mean(axis=0), atol=0.015)
        np.testing.assert_allclose(found["p_reversed"], (other * one < 0).mean(axis=0), atol=0.015)
        sds = result.sides("associated", "different")
        np.testing.assert_allclose(sds.after.sd[1:], other.std(axis=0), rtol=0.03)
        np.testing.assert_allclose(sds.before.sd[1:], one.std(axis=0), rtol=0.03)

    def test_levels_are_those_of_the_fits(self, exact):
        """Apart from the factor of the lists' scatter, which both embeddings inform."""
        before, _, result = exact
        own = bb.contrasts(bb.fit(before, seed=0), rows="association")
        sides = result.sides("associated", "different")
        np.testing.assert_allclose(sides.before.mean, own["mean"], atol=1e-12)
        np.testing.assert_allclose(sides.before.sd, own["sd"], rtol=0.15)

    def test_tables_do_not_depend_on_the_seed(self, exact):
        before, after, result = exact
        other = bb.compare(before=before, after=after, seed=5, draws=800)
        for question in self.QUESTIONS:
            pd.testing.assert_frame_equal(question(result), question(other), rtol=0, atol=1e-6)
        assert result.sentences() == other.sentences()

    def test_a_file_gives_the_same(self, exact, tmp_path):
        bb.save_fit(exact[2].posterior, tmp_path / "change.nc")
        again = Comparison(bb.load_fit(tmp_path / "change.nc"))
        for question in self.QUESTIONS:
            pd.testing.assert_frame_equal(question(exact[2]), question(again), rtol=0, atol=1e-12)
        assert again.verdict == exact[2].verdict

    @pytest.mark.parametrize("where", ["both", "one"])
    def test_how_near_a_list_or_a_word_is_does_not_matter(self, exact, where):
        before, after, result = exact
        in_list = (before["attribute_class"] == "woman") & before["connection"].isin(["associated", "different"])
        shift = 0.07 * in_list - 0.05 * (before["protected_word"] == "son")
        moved = [table.assign(distance=table["distance"] + shift) for table in (before, after)]
        moved = [bb.DistanceTable(table, truth={}) for table in moved]
        found = bb.compare(before=moved[0] if where == "both" else before, after=moved[1], seed=0, draws=400)
        columns = ["before", "after", "change", "low", "high", "p_shrank", "p_reversed"]
        np.testing.assert_allclose(found.outcomes()[columns], result.outcomes()[columns], atol=1e-9)
        plain = [each.changes(rows="difference")["mean"].to_numpy() for each in (found, result)]
        assert (np.abs(plain[0] - plain[1])[1:] > 0.06).all() == (where == "one")

    def test_equalised_pairs_leave_intervals_that_include_0(self, exact):
        sides = exact[2].sides("associated", "different")
        assert not sides.after.excludes(0.0, 0.89).any()
        assert sides.after.mean[0] == pytest.approx(0, abs=1e-6)
        table = exact[2].outcomes()
        away = (table["low"] > 0) | (table["high"] < 0)
        assert table.loc[~away, "protected_word"].tolist() == ["male"]
        assert "sign reversed" not in exact[2].verdict
        assert exact[2].sentences()[0].startswith("With debiasing (hard), the contrast associated")

    def test_a_sign_that_reversed_is_told_where_the_value_is_away_from_0(self, exact):
        before, _, _ = exact
        own = 0.3 * (before["connection"] == "associated")
        noise = np.random.default_rng(0).normal(0, 0.001, len(before))
        after = before.assign(distance=before["distance"] + own + noise)
        after = bb.DistanceTable(after, truth={})
        result = bb.compare(before=before, after=after, seed=0, draws=400)
        row = whole(result.outcomes())
        # as sure as the sign before: that after is beyond doubt
        sure = whole(bb.contrasts(bb.fit(before, "related", seed=0)))["p_closer"]
        assert row["p_reversed"] == pytest.approx(sure, abs=2e-3)
        assert "and that its sign reversed, 99.5%" in result.verdict

    def test_parts_add_up(self, exact):
        table = exact[2].decomposition()
        top = table.iloc[:3]["mean"].to_numpy()
        assert top[0] + top[1] == pytest.approx(top[2], abs=1e-12)
        assert table["contrast"].iloc[3:7].tolist() == [
            "association", "nearness of the lists", "nearness of the word", "associated - human",
        ]  # fmt: skip
        words = table.iloc[3:]["mean"].to_numpy().reshape(-1, 4)
        np.testing.assert_allclose(words[:, :3].sum(axis=1), words[:, 3], atol=1e-12)
        np.testing.assert_allclose(words[:, 0], exact[2].changes()["mean"].iloc[1:], atol=1e-12)
        assert words[:, 1].mean() == pytest.approx(0, abs=1e-12)
        columns = ["mean", "sd", "low", "high", "p_below_zero"]
        for part, plain in ((0, exact[2].changes()), (2, exact[2].contrasts("associated", "human"))):
            np.testing.assert_allclose(table[columns].iloc[part], plain[columns].iloc[0].astype(float), atol=1e-9)

    def test_part_of_what_was_measured_did_not_change(self, exact):
        """Neutral words did not move at all, human words by .02: both are known."""
        before, after, _ = exact
        kind = before["connection"].to_numpy()
        distance = np.select(
            [kind == "neutral", kind == "human"], [before["distance"], before["distance"] + 0.02], after["distance"]
        )
        mixed = after.assign(distance=distance)
        mixed = bb.DistanceTable(mixed, truth={})
        result = bb.compare(before=before, after=mixed, seed=0, draws=400)
        neutral, human = result.changes("neutral"), result.changes("human")
        assert (neutral[["mean", "sd", "low", "high"]].to_numpy() == 0).all()
        np.testing.assert_allclose(human["mean"], 0.02, atol=1e-9)
        assert (human["sd"] == 0).all()
        own, apart = (result.changes("associated"), result.contrasts("associated", "human"))
        # smoothed correlations are made positive semi-definite for the lists of a question, here two or three
        np.testing.assert_allclose(apart["sd"], own["sd"], rtol=1e-5)
        np.testing.assert_allclose(apart["mean"], own["mean"] - 0.02, atol=1e-9)
        assert "did not change" not in result.sentences()[0]
        # the change depends on the scale of stereotypes alone, the values on that of human words too
        sides = result.sides("associated", "human")
        draws = sides.before.join(sides.change).draws(200_000, seed=0)
        start, moved = np.split(draws, 2, axis=1)
        np.testing.assert_allclose(sides.p_shrank, (np.abs(start + moved) < np.abs(start)).mean(axis=0), atol=5e-3)

    def test_the_same_table_twice_is_unchanged(self, exact):
        result = bb.compare(before=exact[0], after=exact[0], seed=0, draws=400)
        table = result.outcomes()
        assert (table[["change", "low", "high", "p_shrank", "p_reversed"]].to_numpy() == 0).all()
        assert set(table["outcome"]) == {"unchanged"}
        np.testing.assert_allclose(table["before"].iloc[1:], associations(exact[0]), atol=1e-12)
        # also of contrasts with a control list, whose scale only the values before depend on
        every = result.table()
        assert set(every["of"]) == {f"associated - {name}" for name in ("different", "human", "neutral")}
        assert (every[["change", "low", "high", "p_shrank", "p_reversed"]].to_numpy() == 0).all()

    def test_three_embeddings(self, exact):
        before, after, _ = exact
        third = before.assign(distance=(before["distance"] + after["distance"]) / 2)
        third = bb.DistanceTable(third, truth={})
        result = bb.compare({"a": before, "b": third, "c": after}, seed=0, draws=400)
        means = result.changes().set_index(["before", "after", "protected_word"])["mean"]
        np.testing.assert_allclose(means["a", "b"] + means["b", "c"], means["a", "c"], atol=1e-12)

    def test_groups_of_unequal_size_weigh_the_same(self, exact):
        few = [table[~table["protected_word"].isin(["he", "his", "son", "father", "uncle"])] for table in exact[:2]]
        result = bb.compare(before=few[0], after=few[1], seed=0, draws=400)
        group = few[0].drop_duplicates("protected_word").set_index("protected_word")["group"]
        for side, table in zip(("before", "after"), few, strict=True):
            by_group = associations(table).groupby(group).mean()
            assert by_group["man"] == pytest.approx(by_group["woman"], abs=1e-12)
            assert whole(result.outcomes())[side] == pytest.approx(by_group.mean(), abs=1e-12)
        shares = {"before": [], "after": []}
        for side, table in zip(shares, few, strict=True):
            cells = table.pivot_table("distance", "protected_word", "connection")
            shares[side] = (cells["associated"] - cells["human"]).groupby(group).mean().mean()
        row = whole(result.contrasts("associated", "human"))
        assert row["mean"] == pytest.approx(shares["after"] - shares["before"], abs=1e-12)

    def test_three_groups_by_hand(self, religion):
        noise = np.random.default_rng(0).normal(0, 0.02, len(religion))
        after = religion.assign(distance=religion["distance"] + noise)
        after = bb.DistanceTable(after, truth={})
        result = bb.compare(before=religion, after=after, seed=0, draws=400)
        found = result.outcomes().set_index("protected_word")
        group = religion.drop_duplicates("protected_word").set_index("protected_word")["group"]
        for side, table in (("before", religion), ("after", after)):
            expected = associations(table)
            np.testing.assert_allclose(found.loc[expected.index, side], expected, atol=1e-12)
            assert found.loc["whole list", side] == pytest.approx(expected.groupby(group).mean().mean(), abs=1e-12)


def test_draws_of_associations_are_double_centred(result, tables):
    """Of two groups the lists stand for own and other: the mean associations of the two agree, draw by draw."""
    sides = result.sides("associated", "different")
    words = drawn(sides.before)[:, 1:]
    np.testing.assert_allclose(words[:, :6].mean(axis=1), words[:, 6:].mean(axis=1), atol=1e-12)
    plain = drawn(result.sides("associated", "different", rows="difference").before)[:, 1:]
    np.testing.assert_allclose(words.mean(axis=1), plain.mean(axis=1), atol=1e-12)
    near = plain[:, 0] - words[:, 0]
    np.testing.assert_allclose(plain[:, 6] - words[:, 6], -near, atol=1e-12)


def test_draws_of_three_groups_by_hand():
    """With d the difference of a word, g the mean of its group and m that of all: d - (g - m) / (groups - 1)."""
    shape = {"groups": {"a": 2, "b": 3, "c": 4}, "stereotypes": dict.fromkeys("abc", 6), "human": 10}
    before = bb.calibration.simulate(shape, "crossed", {**START, "connection_mean": [0.75, 0.85, 0.9]}, seed=2)
    before.attrs = {}
    after = before.assign(distance=before["distance"] + np.random.default_rng(1).normal(0, 0.01, len(before)))
    result = bb.compare(before=before, after=after, seed=0, draws=400)
    words, plain = (
        drawn(result.sides("associated", "different", rows=rows).change)[:, 1:]
        for rows in ("association", "difference")
    )
    group = np.repeat([0, 1, 2], [2, 3, 4])
    means = np.column_stack([plain[:, group == at].mean(axis=1) for at in range(3)])
    expected = plain - (means - means.mean(axis=1, keepdims=True))[:, group] / 2
    np.testing.assert_allclose(words, expected, atol=1e-12)
    observed = result.outcomes().set_index("protected_word")["observed_after"].iloc[1:]
    np.testing.assert_allclose(observed, associations(after), atol=1e-12)


def test_joint_draws_of_sides(exact):
    sides = exact[2].sides("associated", "different")
    before, after = np.split(sides.before.join(sides.after).draws(20_000), 2, axis=1)
    np.testing.assert_allclose((np.abs(after) < np.abs(before)).mean(axis=0), sides.p_shrank, atol=0.015)
    np.testing.assert_allclose((after - before).std(axis=0), sides.change.sd, rtol=0.03)
    np.testing.assert_allclose(before.mean(axis=0), sides.before.mean, atol=0.002)


def test_opposite_signs_of_two_normal_quantities():
    rng = np.random.default_rng(0)
    means, sds, rho = rng.normal(0, 1, (2, 12)), rng.uniform(0.2, 2, (2, 12)), rng.uniform(-0.99, 0.99, 12)
    found = numerics.mixtures._opposite_signs((means[0], means[1]), (sds[0], sds[1]), rho * sds[0] * sds[1])
    e = rng.standard_normal((2, 400_000, 1))
    x = means[0] + sds[0] * e[0]
    y = means[1] + sds[1] * (rho * e[0] + np.sqrt(1 - rho**2) * e[1])
    np.testing.assert_allclose(found, (x * y < 0).mean(axis=0), atol=0.004)
    zero, one = np.zeros(1), np.ones(1)
    known = numerics.mixtures._opposite_signs
    np.testing.assert_allclose(known((zero, zero), (one, one), np.array([0.5])), 0.5 - np.arcsin(0.5) / np.pi)
    assert known((one, one), (one, one), one) == 0, "one quantity"
    assert known((one, -one), (one, one), -one) == 1, "one quantity and its negative"
    assert known((zero, one), (zero, one), zero) == 0, "a known 0 has no sign"
    np.testing.assert_allclose(known((one, zero), (zero, one), zero), 0.5)


def test_associations_of_what_has_none_are_refused(result, tables):
    with pytest.raises(bb.InputError, match=r"rows='association': associations are rows of associated - different"):
        result.contrasts("associated", "human", rows="association")
    with pytest.raises(bb.InputError, match="rows is 'pooled': valid are association, difference"):
        result.outcomes(rows="pooled")
    alone = [table[table["group"] == "a"] for table in tables]
    single = bb.compare(before=alone[0], after=alone[1], seed=1, draws=400)
    assert single.headline == ("associated", "different")
    assert single.changes().attrs["rows"] == "difference"
    assert "the contrast decreased in size for" in single.verdict
    with pytest.raises(bb.InputError, match="an association needs the stereotype lists of two groups"):
        single.changes(rows="association")
    with pytest.raises(bb.InputError, match="a decomposition needs associations"):
        single.decomposition()
