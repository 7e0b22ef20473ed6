"""Probabilities of the nine patterns of two groups."""

import numpy as np
import pytest

import bayesbias as bb


@pytest.fixture(scope="module")
def post():
    return bb.fit(bb.distance_table("google-news-slice", "gender"), seed=0)


def test_patterns_add_up_to_the_probabilities_of_each_group(post):
    table = bb.checks.patterns(post, rope=0.0)
    assert table["probability"].sum() == pytest.approx(1)
    assert set(table.loc[table["probability"] > 0, "first"]) <= {"own", "other"}
    groups = bb.contrasts(post, by="group", rows="difference").set_index("group")["p_closer"]
    for place, group in zip(("first", "second"), table.attrs["groups"], strict=True):
        own = table.loc[table[place] == "own", "probability"].sum()
        assert own == pytest.approx(groups[group], abs=0.01)


def test_a_wide_rope_leaves_neither(post):
    table = bb.checks.patterns(post, rope=1.0)
    assert table.loc[0, ["first", "second", "probability"]].tolist() == ["neither", "neither", 1.0]


def test_groups_without_a_difference_are_not_both_nearer_to_their_own_lists():
    """Where both groups have one distance to each word, but for noise, they are seldom nearer to their own lists both."""
    kv = bb.load_embedding("google-news-slice")
    table = bb.distance_table(kv, "gender")
    means = table.groupby(["attribute_word"])["distance"].mean()
    table.attrs.pop("relatedness", None)
    noise = np.random.default_rng(0).normal(0, 0.02, len(table))
    same = table.assign(distance=table["attribute_word"].map(means) + noise)
    chances = bb.checks.patterns(bb.fit(same, "crossed", seed=0), rope=0.0).set_index(["first", "second"])
    assert chances.loc[("own", "own"), "probability"] < 0.2
    assert chances["probability"].sum() == pytest.approx(1)


def test_patterns_need_two_groups():
    three = bb.fit(bb.distance_table("google-news-slice", "religion"), seed=0)
    with pytest.raises(bb.InputError, match="patterns are those of two groups"):
        bb.checks.patterns(three)
    with pytest.raises(bb.InputError, match="rope is -0.1"):
        bb.checks.patterns(three, rope=-0.1)
