"""What debiasing changed in the published tables would be told otherwise than the study's section 5.2 has it."""

import pytest

import bayesbias as bb


def outcomes(result, of="associated - different"):
    """The rows of one contrast."""
    return result.table().query("of == @of")


@pytest.fixture(scope="module")
def compared(shared):
    def one(topic):
        names = {"before": f"{topic}_group_reddit_dataset", "after": f"debiased_{topic}_reddit"}
        tables = {when: bb.read_distance_table(shared / "paper_tables" / f"{name}.csv") for when, name in names.items()}
        return bb.compare(**tables, model="change", seed=52)

    return {topic: one(topic) for topic in ("religion", "gender", "race")}


def whole(table):
    return table[table["protected_word"] == "whole list"].iloc[0]


def test_all_pairs_are_matched(compared):
    pairs = {topic: found.posterior["observed_data"].sizes["pair"] for topic, found in compared.items()}
    assert pairs == {"religion": 4830, "gender": 4704, "race": 3260}
    assert [found.faults for found in compared.values()] == [(), (), ()]


def differences(found):
    """Rows of words as differences of two mean distances, as in the study."""
    sides = found.sides("associated", "different", rows="difference")
    names = ("p_reversed", "observed_before", "observed_after")
    table = sides.change.index.assign(change=sides.change.mean, **{name: getattr(sides, name) for name in names})
    return table.set_index("protected_word")


def test_religion_moves_towards_neutral(compared):
    """Associated, different and human words move away from protected words, neutral ones do not."""
    found = {
        name: whole(compared["religion"].changes(name)) for name in ("associated", "different", "human", "neutral")
    }
    assert [round(row["mean"], 2) for row in found.values()] == [0.1, 0.04, 0.02, 0.0]
    assert found["associated"]["low"] > 0.02
    assert 0.85 < 1 - found["different"]["p_closer"] < 0.945, "likely, not settled"
    assert found["human"]["low"] > 0, "which intuitively did not require debiasing"
    assert found["neutral"]["low"] < 0 < found["neutral"]["high"]
    sides = outcomes(compared["religion"])
    assert whole(sides)["before"] == pytest.approx(-0.05, abs=0.01)
    assert whole(sides)["after"] == pytest.approx(0.0, abs=0.01)


def test_order_of_associated_and_different_words_in_religion(compared):
    rows = differences(compared["religion"])
    observed = rows[["observed_before", "observed_after"]].round(3)
    assert observed.loc["muslim"].tolist() == [-0.233, -0.202]
    assert rows.loc["muslim", "p_reversed"] < 0.25
    assert observed.loc["christian"].tolist() == [-0.111, 0.134]
    # the published finding for jew rests on shrinkage: different words were closer before already
    assert observed.loc["jew"].tolist() == [0.026, 0.087]
    assert 0.25 < rows.loc["jew", "p_reversed"] < 0.5
    # without how near the lists are, all three were closer to their own stereotypes before, christian hardly
    expected = {"muslim": [-0.155, -0.049], "christian": [-0.025, 0.08], "jew": [-0.145, -0.031]}
    rows = outcomes(compared["religion"]).set_index("protected_word")[["observed_before", "observed_after"]].round(3)
    assert rows.loc[list(expected)].to_numpy().tolist() == list(expected.values())


def test_associated_words_that_end_beyond_1(compared):
    """The study names quran; its mean distance ends below 1, those of torah, bible, synagogue and church beyond."""
    found = compared["religion"]
    constant, distance = found.posterior["constant_data"], found.posterior["observed_data/distance"]
    names = constant["protected_word"].to_numpy()[constant["word_index"].to_numpy()]
    own = distance.sel(embedding="after").to_series()[constant["connection_index"].to_numpy() == 0]
    observed = own.groupby(names[constant["connection_index"].to_numpy() == 0]).mean().round(3)
    assert observed["quran"] == 0.958
    assert observed[["torah", "bible", "synagogue", "church"]].tolist() == [1.126, 1.077, 1.06, 1.053]


def test_hers_changes_most_in_gender(compared):
    changes = compared["gender"].changes("associated").set_index("protected_word")["mean"]
    ordered = changes.drop("whole list").abs().sort_values(ascending=False)
    assert ordered.index[0] == "hers"
    assert ordered.iloc[0] > 2 * ordered.iloc[1]
    difference = whole(compared["gender"].changes("associated", "different"))
    assert difference["low"] < 0 < difference["high"], "that it gets smaller is not settled"


def test_asian_and_asia_change_most_in_race(compared):
    rows = differences(compared["race"]).drop("whole list")
    observed = (rows["observed_after"] - rows["observed_before"]).dropna().abs().sort_values(ascending=False)
    assert set(observed.index[:2]) == {"asian", "asia"}
    assert set(rows["change"].sort_values(ascending=False).index[:3]) == {"asian", "asia", "black"}
    assert whole(compared["race"].changes("associated", "different"))["low"] > 0


SHIFTS = {
    # Figure 15: printed are 35, 43, 55 and 56% before and 63, 63, 59 and 59% after, around the study's MAC of .859
    "religion": (0.859, (36.4, 43.6, 52.9, 56.8), (63.6, 63.6, 59.1, 58.8)),
    # Figures 16, 17: human and different words of race are printed as falling (67 to 55, 39 to 36%); they rise
    "race": (None, (29.4, 36.4, 49.5, 44.6), (33.3, 38.4, 52.7, 45.0)),
    "gender": (None, (46.3, 52.0, 91.2, 95.8), (51.4, 51.4, 91.6, 95.9)),
}


@pytest.mark.parametrize("topic", SHIFTS)
def test_similarities_between_the_lines(compared, topic):
    mac, before, after = SHIFTS[topic]
    shift = compared[topic].similarity_shift(mac=mac).set_index("connection")
    order = ["associated", "different", "human", "neutral"]
    assert tuple((100 * shift.loc[order, "before"]).round(1)) == before
    assert tuple((100 * shift.loc[order, "after"]).round(1)) == after
    if topic == "religion":
        assert shift["limit"].iloc[0] == pytest.approx(0.141)
        assert compared[topic].similarity_shift()["limit"].iloc[0] == pytest.approx(1 - 0.861, abs=0.0005)
