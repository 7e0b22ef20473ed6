"""Nobody would see that intervals do not hold the share of truths that they promise."""

import numpy as np
import pytest

import bayesbias as bb
from benchmarks.simulation import rates, simulate

NULL = {"connection_mean": 0.93, "connection_sd": 0.02, "sigma": 0.05, "attribute_sd": 0.06, "interaction_sd": 0.02}


def test_simulated_tables_have_the_truth_that_was_given():
    truth = {**NULL, "connection_mean": {"associated": 0.8, "different": 0.9, "human": 1.0, "neutral": 1.1}}
    shape = {"groups": {"g": 60, "h": 60}, "stereotypes": {"g": 80, "h": 80}, "human": 160, "neutral": 160}
    table, again = (simulate(shape, "crossed", truth, 3) for _ in range(2))
    assert len(table) == 120 * 480
    means = table.groupby("connection")["distance"].mean()
    for name, mean in truth["connection_mean"].items():
        # the mean of a connection varies with its words' effects: .06 / sqrt(160) and .02 / sqrt(120)
        assert means[name] == pytest.approx(mean, abs=4 * np.hypot(0.06 / np.sqrt(160), 0.02 / np.sqrt(120)))
    assert table.truth["attribute_effect"].std() == pytest.approx(0.06, rel=0.15)
    assert table.truth["interaction_effect"].std() == pytest.approx(0.02, rel=0.15)
    residual = table["distance"] - table.groupby(["protected_word", "connection"])["distance"].transform("mean")
    assert residual.std() == pytest.approx(np.sqrt(0.05**2 + 0.06**2 + 0.02**2), rel=0.1)
    assert table["distance"].equals(again["distance"])


def alarms(shape, truth, models, replicates, seed):
    rngs = (np.random.default_rng([seed, i]) for i in range(replicates))
    return rates(((simulate(shape, "crossed", truth, rng), rng) for rng in rngs), models)


@pytest.mark.slow
def test_false_alarms_are_counted_against_the_nominal_rate():
    shape = {"groups": {"g": 8, "h": 8}, "stereotypes": {"g": 8, "h": 8}, "human": 20, "neutral": 20}
    replicates = 300
    found = alarms(shape, NULL, ("published", "crossed"), replicates, 5)
    assert (found["replicates"] == replicates).all()
    published, crossed = (
        found.set_index(["method", "contrast"]).loc[(method, "associated - neutral")]
        for method in ("published", "crossed")
    )
    assert published["rate"] > 0.25  # 8 + 8 words whose effects the model does not know of
    assert abs(crossed["rate"] - 0.11) < 3 * np.sqrt(0.11 * 0.89 / replicates)
    assert crossed["width"] > 1.5 * published["width"]


@pytest.mark.slow
def test_heavier_tails_shrink_an_extreme_word_less():
    shape = {"groups": {"g": 8, "h": 7}, "stereotypes": {"g": 6, "h": 6}, "human": 8}
    means = 0.9 + 0.02 * np.random.default_rng(0).standard_normal((15, 3))
    means[0, 0] = 0.5
    scales = {"connection_sd": 0.02, "sigma": 0.1, "attribute_sd": 0.05, "interaction_sd": 0.01, "connection_mean": 0.9}
    table = simulate(shape, "crossed", scales | {"word_mean": means}, 0)
    crossed, heavy = (bb.fit(table, model, draws=400, chains=2, seed=0) for model in ("crossed", "crossed_t"))
    apart = [abs(float(post["posterior/word_mean"].mean(("chain", "draw"))[0, 0]) - 0.5) for post in (crossed, heavy)]
    assert apart[1] < apart[0]
    assert float(heavy["posterior/word_nu"].median()) < 20
