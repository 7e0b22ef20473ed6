"""A study would be planned with lists that are too short: the promised width and power would not come."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr

import bayesbias as bb
from bayesbias import contrast, models, numerics
from bayesbias.checks.calibration import simulation
from bayesbias.distances.distances import Distances

Z = 1.5981931399
SIZES = ["stereotype_words", "control_words", "protected_words"]
EVEN = {"connection_sd": 0.05, "sigma": 0.06, "attribute_sd": 0.08, "interaction_sd": 0.02}
CLASSES = {"stereotype": 0.1, "human": 0.01, "neutral": 0.01}
ATTRIBUTES_RULE = {"connection_sd": 1e-4, "sigma": 0.05, "attribute_sd": CLASSES, "interaction_sd": 1e-4}
CONTROLS = ("human", "neutral")


def shape(stereotypes=6, protected=5, human=20, neutral=30, groups="ab"):
    sizes = {"human": human, "neutral": neutral}
    lists = {"groups": dict.fromkeys(groups, protected), "stereotypes": dict.fromkeys(groups, stereotypes)}
    return simulation.table_of_shape(lists | {name: size for name, size in sizes.items() if size})


def ragged():
    lists = {"groups": {"a": 3, "b": 5, "c": 2}, "stereotypes": {"a": 4, "b": 2, "c": 3}, "human": 7, "neutral": 11}
    table = simulation.table_of_shape(lists)
    # a word of two stereotypes: associated for two groups, different for the third
    both = (table["attribute_word"] == "b word 0") & (table["group"] == "a")
    return table.assign(connection=table["connection"].mask(both, "associated"))


def random_scales(data, points, rng, interaction=True):
    k = len(data.connections)
    return numerics.marginal.Scales(
        sigma2=rng.uniform(0.001, 0.02, (points, k)),
        s2=rng.uniform(0.0001, 0.02, (points, k)),
        attribute=rng.uniform(0.0001, 0.02, (points, len(data.attribute_classes))),
        interaction=rng.uniform(0.0001, 0.01, points) if interaction else None,
    )


def planned_sd(data, first, second, scales, spread):
    """The sd of associated - human that a plan takes, where a connection mean has the prior sd ``spread``."""
    design = contrast.power.design_of(data, "associated", "human")
    return contrast.power.contrast_sd(design, contrast.power.Question(first, second, scales, spread))


@pytest.mark.parametrize("interaction", [True, False], ids=["word x group", "without"])
@pytest.mark.parametrize("table", [shape(), shape(neutral=0), ragged()], ids=["even", "no neutral", "ragged"])
def test_sd_is_that_of_the_marginal_engine(table, interaction):
    data = Distances.read(table)
    scales = random_scales(data, 6, np.random.default_rng(1), interaction)
    part = numerics.marginal.mean_part(models.marginal.reduced(data, 1.0, by_group=interaction), scales, 0.3)
    for first, second in ((0, 1), (0, 2), (2, 1)):
        weight = np.zeros(part.sd.shape)
        weight[:, first], weight[:, second] = 0.3, -0.3
        solved = np.linalg.solve(part.chol, weight[:, :, None])[:, :, 0]
        found = planned_sd(data, first, second, scales, 0.3)
        np.testing.assert_allclose(found, np.sqrt((solved**2).sum(axis=1)), rtol=1e-10)


def test_sd_by_hand_where_attribute_words_or_protected_words_rule():
    m, j, t, sigma = 6, 5, 0.1, 0.05
    data = Distances.read(shape(stereotypes=m, protected=j, human=100_000 // j, neutral=0, groups="a"))
    scales = numerics.marginal.Scales(np.full((1, 2), sigma**2), np.full((1, 2), 1e-12), np.full((1, 2), t**2), None)
    expected = np.sqrt(t**2 / m + sigma**2 / (m * j))
    assert planned_sd(data, 0, 1, scales, 1e3)[0] == pytest.approx(expected, rel=1e-3)
    none, of_words = np.full((1, 3), 1e-12), np.array([[0.03, 0.05, 0.04]]) ** 2
    scales = numerics.marginal.Scales(none, of_words, none, None)
    found = planned_sd(Distances.read(shape(protected=7, groups="a")), 0, 2, scales, 1e3)
    assert found[0] == pytest.approx(np.sqrt((0.03**2 + 0.04**2) / 7), rel=1e-3)


@pytest.fixture(scope="module")
def ruled_by_attributes():
    return bb.plan(shape(human=2000, neutral=0), effect=-0.07, scales=ATTRIBUTES_RULE, second="human")


def test_four_times_as_many_stereotype_words_halve_the_interval(ruled_by_attributes):
    curve, present = ruled_by_attributes.curve, ruled_by_attributes.present
    curve = curve[curve["varied"] == "stereotype lists"].set_index("factor")
    assert curve.loc[4.0, "width"] == pytest.approx(curve.loc[1.0, "width"] / 2, rel=0.01)
    assert curve.loc[16.0, "width"] == pytest.approx(curve.loc[1.0, "width"] / 4, rel=0.02)
    assert curve.loc[4.0, SIZES].tolist() == [48, 2000, 10]
    assert present.width == curve.loc[1.0, "width"]
    sd = present.width / (2 * Z)
    power = ndtr(0.07 / sd - Z) + ndtr(-0.07 / sd - Z)
    assert present.power == pytest.approx(power, abs=1e-4)


@pytest.mark.parametrize("way", ["stereotype lists", "all"])
def test_fewest_words_reach_the_power_and_one_fewer_do_not(way):
    found = bb.plan(shape(), scales=ATTRIBUTES_RULE, second="different")
    row = found.needed.set_index("varied").loc[way]
    assert row["reachable"]
    assert row["power"] >= 0.8
    longest = 6  # control words are not in this contrast, and stay
    needed = round(row["factor"] * longest)

    def planned(longest_list):
        stereotypes, protected = (int(np.floor(present * longest_list / longest + 0.5)) for present in (6, 5))
        lengths = shape(stereotypes, protected if way == "all" else 5)
        return bb.plan(lengths, scales=ATTRIBUTES_RULE, second="different").present

    reached = planned(needed)
    assert [getattr(reached, size) for size in SIZES] == row[SIZES].tolist()
    assert reached.power == pytest.approx(row["power"], abs=1e-3)
    assert planned(needed - 1).power < 0.8


def test_a_way_that_does_not_lead_there_says_so():
    scales = EVEN | {"connection_sd": 0.1}
    found = bb.plan(shape(), scales=scales, second="human")
    row = found.needed.set_index("varied").loc["stereotype lists"]
    assert not row["reachable"]
    assert row["stereotype_words"] is pd.NA
    assert row[SIZES[1:]].tolist() == [20, 10]
    assert np.isnan(row["factor"])
    curve = found.curve[found.curve["varied"] == "stereotype lists"]
    assert 0.9 * curve["width"].min() < row["width"] < curve["width"].min()
    # what is left is the spread of the ten protected words, and of the control lists
    assert row["width"] > 2 * Z * 0.1 * np.sqrt(2 / 10)
    assert "Longer stereotype lists are not enough: even with 1,000 times as many words" in found.sentence
    assert found.needed.set_index("varied").loc["all", "reachable"]


def test_curves_fall_with_length_and_powers_rise(religion):
    found, again = (bb.plan(religion, seed=3) for _ in range(2))
    for _, rows in found.curve.groupby("varied"):
        assert rows["width"].is_monotonic_decreasing
        assert rows["power"].is_monotonic_increasing
    assert found.needed["varied"].tolist() == found.curve["varied"].unique().tolist()
    pd.testing.assert_frame_equal(found.curve, again.curve)


def test_word_lists_take_typical_scales():
    found = bb.plan("religion", second="human")
    words = bb.load_words("religion")
    assert found.scales_from == "typical scales of 18 published tables"
    assert found.present.stereotype_words == sum(map(len, words.stereotypes.values()))
    assert found.present.control_words == len(words.controls["human"])
    assert found.present.protected_words == sum(map(len, words.protected.values()))
    given = bb.plan(words, scales=contrast.power.TYPICAL_SCALES, second="human")
    assert given.scales_from == "given"
    assert given.present == found.present
    pd.testing.assert_frame_equal(given.needed, found.needed)


def test_typical_scales_are_those_of_the_benchmark():
    file = Path(__file__).parents[2] / "benchmarks" / "results" / "typical_scales.csv"
    table = pd.read_csv(file, keep_default_na=False).set_index(["parameter", "label"])
    for name, scales in contrast.power.TYPICAL_SCALES.items():
        for label, value in {"": scales}.items() if isinstance(scales, float) else scales.items():
            assert value == pytest.approx(table.loc[(name, label), "median"], abs=6e-4)
    assert (table["tables"] == 18).all()


@pytest.mark.parametrize("second", ["different", "human"])
def test_a_table_is_planned_with_its_own_scales(religion, religion_fit, second):
    found = bb.plan(religion, second=second)
    mean = religion_fit["posterior/word_mean"].mean("protected_word")
    draws = (mean.sel(connection="associated") - mean.sel(connection=second)).to_numpy()
    low, high = np.quantile(draws, [0.055, 0.945])
    assert found.scales_from == "this table, words as related as in the vectors"
    assert found.present.width == pytest.approx(high - low, rel=0.06)
    assert bb.plan(religion_fit, second=second).present.width == pytest.approx(found.present.width, rel=0.03)
    with pytest.raises(bb.InputError, match="no effects of attribute words"):
        bb.plan(bb.fit(religion, model="published", draws=100, chains=1, seed=0), second=second)


def test_missing_pairs_count_as_measured_and_groups_may_be_unknown():
    table = ragged()
    whole = bb.plan(table, scales=EVEN)
    first_words = np.flatnonzero(table["protected_word"].str.endswith(" 0"))
    holes = table.drop(np.random.default_rng(0).permutation(first_words)[: len(first_words) // 2])
    assert bb.plan(holes.reset_index(drop=True), scales=EVEN).present == whole.present
    without = {name: value for name, value in EVEN.items() if name != "interaction_sd"}
    unknown = bb.plan(table.drop(columns="group"), scales=without)
    known = bb.plan(table, scales=without | {"interaction_sd": 1e-6})
    assert unknown.present.width == pytest.approx(known.present.width, rel=1e-6)


def test_lists_without_controls_or_stereotypes_are_planned():
    bare = bb.plan(shape(human=0, neutral=0), second="different", scales=EVEN)
    assert bare.needed["varied"].tolist() == ["stereotype lists", "protected words", "all"]
    assert bare.present.control_words == 0
    table = shape()
    controls = bb.plan(table[table["connection"].isin(CONTROLS)], first="neutral", scales=EVEN)
    assert controls.needed["varied"].tolist() == ["control lists", "protected words", "all"]
    assert controls.present.stereotype_words == 0


def test_simulated_tables_have_the_width_and_the_power_that_were_planned():
    """In a reduced size; 300 tables of each of ten kinds gave ratios of widths from 1.00 to 1.04."""
    table = shape(stereotypes=8, protected=8, human=30, neutral=0)
    truth = EVEN | {"connection_mean": {"associated": 0.9, "different": 0.96, "human": 0.96}}
    present = bb.plan(table, effect=0.06, scales=EVEN, second="human").present
    widths, seen = [], []
    for seed in range(14):
        post = bb.fit(bb.calibration.simulate(table, truth=truth, seed=seed), draws=400, chains=1, seed=seed)
        mean = post["posterior/connection_mean"]
        draws = (mean.sel(connection="associated") - mean.sel(connection="human")).to_numpy()
        low, high = np.quantile(draws, [0.055, 0.945])
        widths.append(high - low)
        seen.append(low > 0 or high < 0)
    assert present.width == pytest.approx(np.mean(widths), rel=0.08)
    assert np.mean(seen) == pytest.approx(present.power, abs=3 * np.sqrt(present.power * (1 - present.power) / 14))


def test_the_sentence_says_what_is_there_and_what_is_needed(ruled_by_attributes):
    said = ruled_by_attributes.sentence
    needed = ruled_by_attributes.needed.set_index("varied").loc["stereotype lists", "stereotype_words"]
    assert str(ruled_by_attributes) == said
    assert "12 stereotype, 2,000 control and 10 protected words" in said
    assert f"about {ruled_by_attributes.present.width:.3f} wide" in said
    assert f"({needed} stereotype words)" in said
    assert "A probability of 80% needs one of these: longer stereotype lists, " in said
    assert said.endswith("How much distances vary was given.")
    left_open = bb.plan(shape(), scales=EVEN).sentence
    assert left_open.startswith("With 12 stereotype and 10 protected words the 89% interval of associated − different")


WRONG = {
    "effect": ({"effect": 0}, "effect is 0"),
    "twice": ({"second": "associated"}, "two connections"),
    "no mapping": ({"scales": 0.1}, "scales is 0.1"),
    "a scale missing": ({"scales": {"sigma": 0.1}}, "lacks attribute_sd, connection_sd, interaction_sd"),
    "a scale unknown": ({"scales": EVEN | {"spread": 1.0}}, "does not know spread"),
    "a scale of 0": ({"scales": EVEN | {"sigma": 0.0}}, "the scale sigma is 0.0"),
}


@pytest.mark.parametrize(("options", "message"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_planned_is_refused(options, message):
    with pytest.raises(bb.InputError, match=message):
        bb.plan("weat7", **options)


def test_similar_words_tell_no_more_than_unrelated_ones():
    """Random words may look more similar between two lists than within each."""
    kv, lists = bb.load_embedding("glove-50d-slice"), bb.load_words("gender")
    drawn = np.random.default_rng(9).choice(kv.index_to_key[300:8000], 20, replace=False).tolist()
    lists = replace(lists, stereotypes={"man": drawn[:10], "woman": drawn[10:]})
    planned = bb.plan(bb.fit(bb.distance_table(kv, lists), seed=0), effect=0.015)
    similar, unrelated = (
        planned.needed.set_index("varied")["factor"][f"stereotype lists, {words} words"]
        for words in ("similar", "unrelated")
    )
    assert similar >= unrelated > 1
