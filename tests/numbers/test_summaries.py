"""Means, sds and ends of printed intervals would be wrong, also those that take words as clusters."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesbias as bb
from benchmarks.simulation import simulate

SHAPE = {"groups": {"g": 3, "h": 4}, "stereotypes": {"g": 5, "h": 6}, "human": 8}
TRUTH = {"connection_mean": 0.9, "connection_sd": 0.02, "sigma": 0.05, "attribute_sd": 0.06, "interaction_sd": 0.02}


@pytest.fixture(scope="module")
def table():
    return simulate(SHAPE, "crossed", TRUTH, 1)


def balanced(table, first, second):
    cells = table.pivot_table(index=["group", "protected_word"], columns="connection", values="distance", observed=True)
    return float((cells[first] - cells[second]).groupby("group").mean().mean())


@pytest.mark.parametrize("second", ["human", "different"])
def test_it_is_the_leave_one_word_out_jackknife(table, second):
    found = bb.checks.cluster_interval(table, "associated", second)
    assert found.estimate == pytest.approx(balanced(table, "associated", second))
    variance, parts = 0.0, []
    used = table[table["connection"].isin(["associated", second])]
    for _, rows in used.groupby("attribute_class"):
        words = rows["attribute_word"].unique()
        left = np.array([balanced(table[table["attribute_word"] != w], "associated", second) for w in words])
        n = len(words)
        part = (n - 1) / n * ((left - left.mean()) ** 2).sum()
        parts.append((part, n))
        variance += part
    assert found.se == pytest.approx(np.sqrt(variance))
    df = variance**2 / sum(part**2 / (n - 1) for part, n in parts)
    assert found.df == pytest.approx(df)
    low, high = stats.t.interval(0.89, df, found.estimate, found.se)
    assert (found.low, found.high) == pytest.approx((low, high))


def test_by_hand():
    """Two words a list and one protected word a group: contributions can be counted on paper."""
    rows = [
        ("a", "g", "x1", "g", "associated", 0.8),
        ("a", "g", "x2", "g", "associated", 0.6),
        ("a", "g", "n1", "neutral", "neutral", 1.0),
        ("a", "g", "n2", "neutral", "neutral", 0.9),
    ]
    names = ["protected_word", "group", "attribute_word", "attribute_class", "connection", "distance"]
    found = bb.checks.cluster_interval(pd.DataFrame(rows, columns=names), "associated", "neutral")
    assert found.estimate == pytest.approx(-0.25)
    # contributions .4, .3 and -.5, -.45: variances .005 and .00125, twice each
    assert found.se == pytest.approx(np.sqrt(2 * 0.005 + 2 * 0.00125))
    assert found.df == pytest.approx(0.0125**2 / (0.01**2 + 0.0025**2))
    assert found.words == {"g": 2, "neutral": 2}


def test_a_fit_and_its_table_give_the_same(table, post):
    assert bb.checks.cluster_interval(post) == bb.checks.cluster_interval(table)


def test_lists_without_names_are_told_apart_by_their_groups(table):
    named = bb.checks.cluster_interval(table, "associated", "human")
    nameless = bb.checks.cluster_interval(table.drop(columns="attribute_class"), "associated", "human")
    assert (nameless.se, nameless.df) == pytest.approx((named.se, named.df))


def test_thin_lists_have_no_interval(table):
    one = table[~table["connection"].eq("human") | table["attribute_word"].eq("human word 0")]
    found = bb.checks.cluster_interval(one, "associated", "human")
    assert "one attribute word only" in found.reason
    assert np.isnan([found.se, found.low, found.high]).all()
    assert found.estimate == pytest.approx(balanced(one, "associated", "human"))
    kept = {"g": "associated", "h": "human"}
    apart = table[table["connection"] == table["group"].map(kept)]
    assert "no protected word" in bb.checks.cluster_interval(apart).reason
    assert "do not differ" in bb.checks.cluster_interval(table.assign(distance=0.5)).reason
    with pytest.raises(bb.InputError, match="the connection is 'neutral'"):
        bb.checks.cluster_interval(table, "associated", "neutral")
    with pytest.raises(bb.InputError, match="'human' twice"):
        bb.checks.cluster_interval(table, "human", "human")


def test_an_interval_by_the_published_model_is_narrower(table):
    own = bb.checks.cluster_interval(table, "associated", "human")
    for model, narrow in (("crossed", False), ("published", True)):
        found = bb.contrasts(bb.fit(table, model, seed=0), "associated", "human")
        assert (found.loc[0, "high"] - found.loc[0, "low"] < 0.95 * (own.high - own.low)) == narrow


@pytest.fixture(scope="module")
def post(table):
    return bb.fit(table, "crossed", draws=400, seed=2)


def test_the_ends_of_a_contrast_are_quantiles(post):
    found = bb.contrasts(post, prob=0.5)
    for end, sign in (("low", -1), ("high", 1)):
        expected = found["mean"] + sign * stats.norm.ppf(0.75) * found["sd"]
        np.testing.assert_allclose(found[end], expected, atol=0.05 * found["sd"].max())
