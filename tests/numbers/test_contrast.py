"""A contrast would be called special to a group though all stereotypes share it, as after debiasing."""

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from benchmarks.simulation import simulate

COLUMNS = ["protected_word", "contrast", "mean", "sd", "low", "high", "p_closer"]
OF_WORDS = ["association", "nearness of the lists", "nearness of the word"]
PARTS = ["associated - different", "different - human", "associated - human"]


def cells(table):
    """Mean distances, protected words by connections."""
    return table.pivot_table("distance", "protected_word", "connection")


def one_group(seed=0):
    """A table of one group with stereotypes and human words."""
    shape = {"groups": {"g": 4}, "stereotypes": {"g": 8}, "human": 8}
    scales = {"connection_sd": 0.0, "sigma": 0.05, "attribute_sd": 0.0, "interaction_sd": 0.0}
    means = {"connection_mean": {"associated": 0.7, "human": 0.9}}
    return pd.DataFrame(simulate(shape, "crossed", scales | means, seed))


@pytest.fixture(scope="module")
def published(shared):
    return bb.read_distance_table(shared / "paper_tables" / "debiased_gender_reddit.csv")


@pytest.fixture(scope="module")
def debiased_fit(published):
    return bb.fit(published, seed=0)


def check_sums(table, second):
    """Parts of the whole list and of each word add up; words have four rows each, in their order."""
    whole, words = table.iloc[:3], table.iloc[3:]
    assert whole["contrast"].tolist() == [part.replace("human", second) for part in PARTS]
    assert words["contrast"].tolist() == [*OF_WORDS, f"associated - {second}"] * (len(words) // 4)
    assert whole["mean"].iloc[0] + whole["mean"].iloc[1] == pytest.approx(whole["mean"].iloc[2], abs=1e-12)
    means = words["mean"].to_numpy().reshape(-1, 4)
    np.testing.assert_allclose(means[:, :3].sum(axis=1), means[:, 3], atol=1e-12)


@pytest.mark.parametrize(("second", "target"), [("human", "sample"), ("neutral", "population")])
def test_the_parts_add_up(religion_fit, second, target):
    table = bb.decomposition(religion_fit, second, target=target)
    names = religion_fit["posterior"]["protected_word"].to_numpy().tolist()
    assert table["protected_word"].tolist() == ["whole list"] * 3 + np.repeat(names, 4).tolist()
    check_sums(table, second)


def test_each_part_is_what_its_name_says(religion_fit):
    table = bb.decomposition(religion_fit, prob=0.7)
    words = table.iloc[3:].set_index(["contrast", "protected_word"])
    rows = bb.association(religion_fit, prob=0.7).query("own").set_index("protected_word")
    overall, human = (bb.contrasts(religion_fit, second=name, prob=0.7) for name in ("different", "human"))
    for label, alone in (("association", rows), ("associated - human", human[1:].set_index("protected_word"))):
        pd.testing.assert_frame_equal(words.loc[label][COLUMNS[2:]], alone[COLUMNS[2:]], rtol=1e-9)
    whole = table.iloc[:3].set_index("contrast")
    assert whole.loc[PARTS[0], "mean"] == pytest.approx(overall.loc[0, "mean"], abs=1e-12)
    assert whole.loc[PARTS[0], "sd"] == pytest.approx(overall.loc[0, "sd"], rel=1e-9)
    assert whole.loc[PARTS[2], "mean"] == pytest.approx(human.loc[0, "mean"], abs=1e-12)
    near = words.loc["nearness of the lists"]["mean"]
    assert near.groupby(rows["group"][near.index]).mean().mean() == pytest.approx(0, abs=1e-12)


def test_hard_debiasing_leaves_a_contrast_that_all_stereotypes_share(published, debiased_fit):
    mean = cells(published).mean()
    assert mean["associated"] - mean["human"] == pytest.approx(-0.257, abs=0.005)
    assert mean["associated"] - mean["different"] == pytest.approx(0.0, abs=0.002)
    special, shared_part, whole = bb.decomposition(debiased_fit).iloc[:3].to_dict("records")
    assert special["mean"] == pytest.approx(0.0, abs=0.002)
    assert special["low"] < 0 < special["high"]
    assert whole["mean"] == pytest.approx(-0.257, abs=0.005)
    assert whole["high"] < -0.15
    assert shared_part["mean"] == pytest.approx(whole["mean"], abs=0.002)
    assert bb.contrasts(debiased_fit)["sign"].isna().all()
    rows = bb.contrasts(debiased_fit).set_index("protected_word")["mean"]
    assert rows["he"] == pytest.approx(-rows["she"], abs=0.004)


def test_one_group_cannot_tell_special_from_shared():
    post = bb.fit(one_group(), seed=0)
    pd.testing.assert_frame_equal(bb.contrasts(post), bb.contrasts(post, second="human"))
    assert "one-group" in {note.code for note in bb.summary(post).notes}
    message = "no distances to the stereotypes of other groups, only associated, human. With one group only"
    with pytest.raises(bb.InputError, match=message):
        bb.decomposition(post)


def test_stereotypes_of_one_of_two_groups_are_set_beside_controls(published):
    """No protected word has both associated and different words then, so that human words lead."""
    words = published["protected_word"].unique()
    group = published.drop_duplicates("protected_word").set_index("protected_word")["group"]
    own, other = (words[(group[words] == name).to_numpy()] for name in group.unique())
    part = published["protected_word"].isin(own) & (published["connection"] != "different")
    part |= published["protected_word"].isin(other) & (published["connection"] != "associated")
    table = published[part].reset_index(drop=True)
    post = bb.fit(table, seed=0)
    assert set(table["connection"]) == {"associated", "different", "human", "neutral"}
    assert bb.summary(post).caption().startswith("associated - human")
    assert bb.checks.cluster_interval(table).second == "human"
    assert bb.compare({"a": table, "b": table}, seed=0).headline == ("associated", "human")
    with pytest.raises(bb.InputError, match="no protected word has associated, different and human distances"):
        bb.decomposition(post)


def test_without_controls_there_is_nothing_to_decompose(religion):
    alone = religion[religion["connection"].isin(["associated", "different"])]
    post = bb.fit(alone, seed=0)
    assert "different - human" not in bb.summary(post).table()["quantity"].tolist()
    with pytest.raises(bb.InputError, match="there are no human distances, only associated, different"):
        bb.decomposition(post)


def test_words_without_one_of_the_three_are_left_out(published):
    first = published["protected_word"].iloc[0]
    gone = (published["protected_word"] == first) & (published["connection"] == "human")
    post = bb.fit(published[~gone], seed=0)
    table = bb.decomposition(post)
    assert first not in table["protected_word"].dropna().tolist()
    by_word = table.iloc[3:].pivot_table("mean", "protected_word", "contrast")
    groups = published.drop_duplicates("protected_word").set_index("protected_word")["group"].astype(str)
    by_group = by_word.groupby(groups[by_word.index].to_numpy()).mean().mean()
    whole = table.iloc[:3].set_index("contrast")["mean"]
    assert by_group["association"] == pytest.approx(whole[PARTS[0]], abs=1e-9)
    assert by_group["nearness of the word"] == pytest.approx(whole[PARTS[1]], abs=1e-9)
    assert by_group[PARTS[2]] == pytest.approx(whole[PARTS[2]], abs=1e-9)
    assert first not in [label.get_text() for label in bb.plots.plot_decomposition(post).axes[0].get_yticklabels()]


def test_a_contrast_is_standardised_by_the_spread_of_control_words(religion, religion_fit):
    controls = religion[religion["connection"].isin(["neutral", "human"])]
    spread = controls.groupby("attribute_word", observed=True)["distance"].mean().std()
    table = bb.summary(religion_fit).table().set_index("quantity")["mean"]
    assert table["overall / sd of controls"] == pytest.approx(table["overall"] / spread, rel=1e-9)
    without = bb.fit(religion[religion["connection"].isin(["associated", "different"])], "published", seed=0)
    assert "overall / sd of controls" not in set(bb.summary(without).table()["quantity"])


def test_weat_of_the_same_words_stands_beside_the_contrast():
    kv, words = bb.load_embedding("google-news-slice"), bb.load_words("gender")
    query = bb.Query(words.protected, {f"{name} stereotypes": held for name, held in words.stereotypes.items()})
    expected = bb.metric("weat_effect_size", kv, query)
    table = bb.summary(bb.fit(bb.distance_table(kv, words), seed=0)).table().set_index("quantity")["mean"]
    assert table["WEAT's d (> 0: closer)"] == pytest.approx(float(expected), abs=1e-5)


@pytest.mark.parametrize(("words", "adjust"), [("religion", None), ("weat7", "length")])
def test_the_mean_for_further_words_is_that_of_the_words_whatever_the_draws(words, adjust):
    table = bb.distance_table("google-news-slice", words)
    posts = [bb.fit(table, adjust=adjust, seed=seed) for seed in (0, 1)]
    rows = [bb.contrasts(post, target="population").iloc[0] for post in posts]
    assert rows[0]["mean"] == pytest.approx(rows[1]["mean"], abs=1e-9)
    for post, row in zip(posts, rows, strict=True):
        draws = post["posterior/connection_mean"]
        apart = draws.sel(connection="associated") - draws.sel(connection="different")
        assert row["mean"] == pytest.approx(float(apart.mean()), abs=4 * row["sd"] / apart.size**0.5)
    if adjust is None:
        means = cells(table).mean()
        assert rows[0]["mean"] == pytest.approx(means["associated"] - means["different"], abs=1e-7)
    if words == "weat7":  # groups of one size
        assert rows[0]["mean"] == pytest.approx(bb.contrasts(posts[0])["mean"].iloc[0], abs=1e-7)
