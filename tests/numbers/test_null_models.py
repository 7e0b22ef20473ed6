"""P-values beside random lists, and what noise alone does to WEAT, would be wrong and nobody would notice."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.checks.calibration import null_distribution, simulate_null_weat
from bayesbias.distances.distances import Distances
from bayesbias.numerics.random_lists import draw_in_ranges

COLUMNS = ["protected_word", "group", "attribute_word", "attribute_class", "connection", "distance"]


def values_of(null):
    return null.values  # noqa: PD011


def lists(neutral=40, human=30, groups=("a", "b"), protected=3, stereotypes=3):
    return bb.WordLists(
        name="made",
        protected={g: [f"{g}{at}" for at in range(protected)] for g in groups},
        stereotypes={g: [f"{g} stereotype {at}" for at in range(stereotypes)] for g in groups},
        controls={
            "neutral": [f"neutral {at}" for at in range(neutral)],
            "human": [f"human {at}" for at in range(human)],
        },
    )


def vectors_of(words, seed=0, size=12):
    rng = np.random.default_rng(seed)
    return {word: rng.standard_normal(size) for word in words}


def stereotypes_in(table):
    return table[table["connection"].isin(["associated", "different"])]


def contrast(first, second):
    def statistic(table):
        means = table.pivot_table(values="distance", index="protected_word", columns="connection")
        return (means[first] - means[second]).mean()

    return statistic


def mac(table):
    return stereotypes_in(table).groupby(["protected_word", "attribute_class"])["distance"].mean().mean()


def weat(table):
    first = table["group"].iloc[0]
    means = table.pivot_table(values="distance", index=["group", "protected_word"], columns="connection")
    s = means["different"] - means["associated"]
    s = s.where(s.index.get_level_values("group") == first, -s)
    by_group = s.groupby("group").mean()
    return (by_group[first] - by_group.drop(first).item()) / s.std(ddof=0)


NAMED = {
    "associated - human": contrast("associated", "human"),
    "neutral - different": contrast("neutral", "different"),
    "associated - different": contrast("associated", "different"),
    "weat": weat,
    "mac": mac,
}


@pytest.fixture(scope="module")
def figure_1():
    """A table with the four associations of Figure 1 of the article: .5, .3, -.6 and -.3."""
    similarity = {"he": (0.6, 0.7, 0.2, 0.1), "man": (0.5, 0.5, 0.2, 0.2)}
    similarity |= {"woman": (0.1, 0.1, 0.6, 0.8), "she": (0.0, 0.2, 0.5, 0.3)}
    scatter = (1.37, -2.51, 4.29, -7.83, 15.1, -10.42)
    rows = []
    for (word, row), apart in zip(similarity.items(), (0.01, -0.01, 0.02, -0.02), strict=True):
        own = "male" if word in ("he", "man") else "female"
        for at, value in enumerate(row):
            listed = "male" if at < 2 else "female"
            stands = "associated" if listed == own else "different"
            rows.append((word, own, f"{listed} {at}", listed, stands, 1 - value))
        human = [0.7 + 0.1 * at + apart * each for at, each in enumerate(scatter)]
        rows += [(word, own, f"human {at}", "human", "human", value) for at, value in enumerate(human)]
    return pd.DataFrame(rows, columns=COLUMNS)


def test_statistics_by_hand(figure_1):
    def observed(name):
        return null_distribution(None, figure_1, name, draws=20).observed

    s = np.array([0.5, 0.3, -0.6, -0.3])
    assert observed("weat") == pytest.approx(0.85 / np.sqrt((s**2).mean() - s.mean() ** 2))
    # means to the lists: he .65 .15, man .5 .2, woman .1 .7, she .1 .4, as similarities
    assert observed("mac") == pytest.approx(1 - (0.65 + 0.15 + 0.5 + 0.2 + 0.1 + 0.7 + 0.1 + 0.4) / 8)
    assert observed("associated - different") == pytest.approx(-(0.5 + 0.3 + 0.6 + 0.3) / 4)
    # associated distances .35, .5, .3, .6; human ones are .95 on average, apart from what sums to 0 over the words
    assert observed("associated - human") == pytest.approx((0.35 + 0.5 + 0.3 + 0.6) / 4 - 0.95)


def test_p_value_and_quantile_by_hand(figure_1):
    null = null_distribution(None, figure_1, "associated - human", draws=99)
    centre, row = np.median(values_of(null)), null.table().iloc[0]
    far = [abs(value - centre) >= abs(null.observed - centre) for value in values_of(null)]
    assert null.p_value == (sum(far) + 1) / 100
    assert row["p_value_se"] == pytest.approx(np.sqrt(null.p_value * (1 - null.p_value) / 99))
    assert row[["mean", "sd"]].tolist() == pytest.approx([values_of(null).mean(), values_of(null).std(ddof=1)])
    assert row["quantile"] == np.mean(values_of(null) < null.observed)
    assert row["p_value"] == null.p_value
    assert (row["draws"], row["n_candidates"]) == (99, 6)
    assert row["observed"] == null.observed


def replaced(table, order, drawn):
    """The table with control words in place of the stereotype words: they leave their list for another."""
    stereotypes = table[table["connection"].isin(["associated", "different"])]
    words = dict(zip([word for word in order if "stereotype" in word], drawn, strict=True))
    distances = table.set_index(["protected_word", "attribute_word"])["distance"]
    new = stereotypes.assign(attribute_word=stereotypes["attribute_word"].map(words))
    pairs = pd.MultiIndex.from_frame(new[["protected_word", "attribute_word"]])
    new["distance"] = distances.reindex(pairs).to_numpy()
    rest = table.drop(stereotypes.index)
    return pd.concat([rest[~rest["attribute_word"].isin(drawn)], new.dropna(subset="distance")])


@pytest.mark.parametrize("name", NAMED)
def test_vectorised_draws_are_those_of_a_loop_over_tables_with_holes(name):
    words = lists()
    table = bb.distance_table(bb.load_embedding(vectors_of(words.every_word())), words, relatedness=False)
    table = table.drop(np.random.default_rng(5).permutation(len(table))[: len(table) // 4]).reset_index(drop=True)
    fast = null_distribution(None, table, name, draws=12, seed=3)
    named = [part for part in name.split(" - ") if part in words.controls] or ["human", "neutral"]
    order = Distances.read(table).attribute_words.tolist()
    pool = [word for word in order if word.split()[0] in named]
    low = np.zeros(6, dtype=int)
    chosen = draw_in_ranges(low, low + len(pool), 12, np.random.default_rng(3))
    slow = [NAMED[name](replaced(table, order, np.array(pool)[row])) for row in chosen]
    np.testing.assert_allclose(fast.values, slow, rtol=0, atol=1e-12)
    assert fast.observed == pytest.approx(NAMED[name](table), abs=1e-12)
    assert len(set(slow)) > 1


def test_vectors_and_their_table_give_the_same_for_one_seed(slice_vectors, religion):
    one, two, other = (
        null_distribution(kv, words, draws=50, seed=seed)
        for kv, words, seed in ((slice_vectors, "religion", 1), (None, religion, 1), (None, religion, 2))
    )
    np.testing.assert_array_equal(values_of(one), values_of(two))
    assert (values_of(one) != values_of(other)).any()
    human = religion.loc[religion["attribute_class"] == "human", "attribute_word"]
    assert one.n_candidates == human.nunique()


def test_weat_of_noise_is_that_of_a_table():
    rng = np.random.default_rng(np.random.SeedSequence(0).spawn(3)[0])
    distances = 1 - rng.normal(0, 0.08, (16, 16))
    rows = [
        (f"p{j}", "ab"[j // 8], f"w{a}", "ab"[a // 8], ("different", "associated")[j // 8 == a // 8], distances[j, a])
        for j in range(16)
        for a in range(16)
    ]
    assert simulate_null_weat(draws=1).effect_size[0] == pytest.approx(weat(pd.DataFrame(rows, columns=COLUMNS)))


def test_the_statistics_have_the_spread_that_theory_says():
    null = simulate_null_weat(draws=40_000)
    # s(w) has the variance of the difference of two means of 8; s is a signed sum of 16 of them
    assert null.s.std() == pytest.approx(0.08 * np.sqrt(2 / 8 * 16), rel=0.02)
    # d is a function of Student's t with 14 degrees of freedom: d = t sqrt(4 / 16) / sqrt((t^2 + 14) / 16)
    t = stats.t.ppf([0.05, 0.5, 0.975], 14)
    np.testing.assert_allclose(np.quantile(null.effect_size, [0.05, 0.5, 0.975]), 2 * t / np.sqrt(t**2 + 14), atol=0.02)


def test_noise_reaches_the_effect_of_the_article_in_about_one_sample_of_a_hundred():
    ours = simulate_null_weat(draws=40_000)
    row = ours.table().set_index("statistic").loc["effect_size"]
    assert row["as_extreme"] == pytest.approx(0.0087, abs=0.002)
    # what the article reports comes out when sums take the place of the means
    assert (ours.effect_size * 8 >= 1.27).mean() == pytest.approx(0.384, abs=0.01)


def test_the_example_is_a_split_of_noise_like_the_article_s():
    null = simulate_null_weat()
    assert null.observed_effect_size == pytest.approx(1.27, abs=0.01)
    assert len(null.partition_s) == null.test.partitions == 12_870
    assert null.test.exact
    assert (np.abs(null.partition_s) >= null.observed_s - 1e-9).mean() == pytest.approx(null.test.p_value)
    assert (np.abs(null.partition_effect_size) >= null.observed_effect_size - 1e-9).mean() == pytest.approx(
        null.test.p_value
    )


def test_what_cannot_be_drawn_is_refused(religion):
    few = lists(6, 6)
    for kv, words, statistic, message in (
        (None, religion, "human - neutral", "associated or different"),
        (None, religion, "weat", "two groups, not jew"),
        (vectors_of(few.every_word()), few, "associated - human", "6 stereotype words and 6 control"),
    ):
        with pytest.raises(bb.InputError, match=message):
            null_distribution(kv, words, statistic, draws=5)
