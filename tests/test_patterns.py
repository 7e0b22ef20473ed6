"""Probabilities of the nine patterns of two groups."""

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


def test_patterns_need_two_groups():
    three = bb.fit(bb.distance_table("google-news-slice", "religion"), seed=0)
    with pytest.raises(bb.InputError, match="patterns are those of two groups"):
        bb.checks.patterns(three)
    with pytest.raises(bb.InputError, match=r"rope is -0\.1"):
        bb.checks.patterns(three, rope=-0.1)


def test_models_that_take_out_the_nearness_of_lists_have_no_patterns():
    post = bb.fit(bb.distance_table("google-news-slice", "gender", relatedness=False), seed=0)
    with pytest.raises(bb.InputError, match="the model crossed counts the nearness of a list"):
        bb.checks.patterns(post)
