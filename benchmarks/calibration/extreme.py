"""Coverage of one extreme protected word's own contrast, crossed and crossed_t, and how often diagnose names it.

    python benchmarks/calibration/extreme.py    # half an hour, by NUTS
    python benchmarks/calibration/extreme.py --models crossed --stereotypes 2

Tables of 15 protected words with typical scales; the associated mean of one protected word is
.4 below that of the population.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import bayesbias as bb

sys.path.insert(0, str(Path(__file__).parents[1]))
from inside import TYPICAL_SCALES

HERE = Path(__file__).resolve().parents[1]
SHAPE = {"groups": {"g": 8, "h": 7}, "stereotypes": {"g": 12, "h": 12}, "human": 20}
CONNECTIONS = ("associated", "different", "human")
MEAN, AWAY = 0.9, -0.4
PROB = 0.89


def table_of(seed, away):
    """A simulated table and the true means (15, 3)."""
    rng = np.random.default_rng([seed, 1])
    sds = np.array([TYPICAL_SCALES["connection_sd"][name] for name in CONNECTIONS])
    means = MEAN + sds * rng.standard_normal((15, 3))
    means[0, 0] = MEAN + away if away else means[0, 0]
    truth = {
        "connection_mean": MEAN,
        "connection_sd": sds,
        "sigma": {name: TYPICAL_SCALES["sigma"][name] for name in CONNECTIONS},
        "attribute_sd": {name: TYPICAL_SCALES["attribute_sd"][name] for name in ("stereotype", "human")},
        "interaction_sd": TYPICAL_SCALES["interaction_sd"],
        "word_mean": means,
    }
    return bb.calibration.simulate(SHAPE, "crossed", truth, seed=seed), means


def rows_of(seed, model, away):
    """Whether the intervals of associated - human cover the truth, of the extreme word and of the others."""
    table, means = table_of(seed, away)
    post = bb.fit(table, model, draws=2000, seed=seed)
    posterior = post["posterior"].dataset
    apart = posterior["word_mean"].sel(connection="associated") - posterior["word_mean"].sel(connection="human")
    low, high = np.quantile(apart.to_numpy().reshape(-1, 15), [(1 - PROB) / 2, (1 + PROB) / 2], axis=0)
    truth = means[:, 0] - means[:, 2]
    covered = (low <= truth) & (truth <= high)
    named = any("Grubbs" in note for note in bb.diagnose(post).notes)
    return {"model": model, "away": away, "seed": seed, "extreme": covered[0], "others": covered[1:].mean()} | {
        "error": float(apart.mean(("chain", "draw"))[0] - truth[0]),
        "width": high[0] - low[0],
        "named": named,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=100)
    parser.add_argument("--models", nargs="+", default=["crossed", "crossed_t"])
    parser.add_argument("--stereotypes", type=int, default=12, help="of each group")
    given = parser.parse_args()
    SHAPE["stereotypes"] = dict.fromkeys(SHAPE["groups"], given.stereotypes)
    name = f"calibration_extreme_{given.stereotypes}.csv"
    rows = []
    for seed in range(given.replicates):
        rows += [rows_of(seed, model, AWAY) for model in given.models]
        rows += [rows_of(seed, "crossed", 0.0)]
        table = pd.DataFrame(rows)
        by = table.groupby(["model", "away"])[["extreme", "others", "error", "width", "named"]]
        found = by.mean().assign(replicates=by.size()).round(4).reset_index()
        found.to_csv(HERE / "results" / name, index=False)
        if seed % 10 == 9:
            print(found.to_string(index=False), flush=True)


if __name__ == "__main__":
    main()
