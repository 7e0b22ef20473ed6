"""Simulation-based calibration of the exact engine, in a reduced size; the full one stands in benchmarks/."""

import numpy as np
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.diagnostics.calibration import sbc_ranks, shaped_table

REPLICATES, DRAWS = 200, 199


@pytest.mark.parametrize("model", ["published", "pooled"])
@pytest.mark.parametrize("sizes", [{"associated": 4, "neutral": 30}, {"associated": 1, "different": 2}], ids=str)
def test_ranks_are_uniform(model, sizes):
    ranks = sbc_ranks(bb.load_model(model), shaped_table(sizes), REPLICATES, seed=20, engine="exact", draws=DRAWS)
    pairs = [(name, column) for name, values in ranks.items() for column in values.T]
    smallest = min(stats.kstest((column + 0.5) / (DRAWS + 1), "uniform").pvalue for _, column in pairs)
    assert smallest > 0.01 / len(pairs)
    for name, column in pairs:
        if "word" not in name:
            in_last = int((column >= 190).sum())
            assert stats.binomtest(in_last, REPLICATES, 0.05).pvalue > 1e-3, f"{name}: {in_last} ranks in the last bin"


def test_a_wrong_engine_is_caught():
    """Ranks under a prior that the data were not drawn from are far from uniform: the test above can fail."""
    spec = bb.load_model("published")
    table = shaped_table({"associated": 2, "neutral": 4})
    wrong = spec.priors["sigma"].model_copy(update={"rate": 20.0})
    from dataclasses import replace

    from bayesbias.diagnostics import calibration

    narrow = replace(spec, priors={**spec.priors, "sigma": wrong})
    data = calibration.model_data(table)
    rng = np.random.default_rng(0)
    ranks = []
    for _ in range(60):
        truth = calibration.draw_truth(spec, data, rng)
        drawn = table.assign(distance=calibration.draw_distances(truth, data, rng))
        post = bb.fit(drawn, narrow, draws=99, chains=1, seed=1)
        ranks.append((post["posterior/sigma"].to_numpy()[0] < truth["sigma"]).sum(axis=0))
    assert stats.kstest((np.array(ranks)[:, 0] + 0.5) / 100, "uniform").pvalue < 1e-4


def test_a_model_with_an_intercept_is_refused():
    with pytest.raises(bb.InputError, match="intercept"):
        sbc_ranks(bb.load_model("baseline"), shaped_table({"associated": 2}), 1, seed=0)
