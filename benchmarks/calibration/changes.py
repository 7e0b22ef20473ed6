"""Coverage of the intervals of changes: simulated tables before and after, with a known change and without one.

    python benchmarks/calibration/changes.py religion     # or gender, race: about ten minutes each on one core
    python benchmarks/calibration/changes.py collect      # results/changes.csv of all that has run

Distances before follow the crossed model and changes the model of changes, with the scales that both have in the
published tables before and after debiasing.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
from pathlib import Path

import numpy as np
import pandas as pd

import bayesbias as bb

sys.path.insert(0, str(Path(__file__).parents[1]))
from common import published_tables

HERE = Path(__file__).parent / "results"
REPLICATES, DRAWS = 250, 1000
SCALES = ("connection_sd", "sigma", "attribute_sd", "interaction_sd")
CHANGE = {"associated": 0.08, "different": 0.03, "human": 0.01, "neutral": 0.0}
"""Known changes of the connection means."""
QUANTITIES = [
    ("associated", None),
    ("human", None),
    *(("associated", name) for name in ("human", "neutral", "different")),
]


def scales_of(post):
    """Posterior medians of a fit's scales, as a truth of ``bb.calibration.simulate``."""
    truth = {}
    for name in SCALES:
        values = post["posterior"][name].median(("chain", "draw"))
        truth[name] = values.to_series().to_dict() if values.ndim else float(values)
    return truth


def study(topic):
    """One row a quantity, with and without a change: coverage, its standard error, mean width."""
    tables = published_tables()
    before, after = tables[f"{topic}_group_reddit_dataset"], tables[f"debiased_{topic}_reddit"]
    paired = before.merge(
        after[["protected_word", "attribute_word", "distance"]], on=["protected_word", "attribute_word"]
    )
    shape = paired.drop(columns=["distance_x", "distance_y"]).assign(distance=1.0)
    levels = bb.fit(before, seed=1)
    changed = bb.fit(shape.assign(distance=paired["distance_y"] - paired["distance_x"]), "change", seed=1)
    start = scales_of(levels) | {
        "connection_mean": levels["posterior/connection_mean"].mean(("chain", "draw")).to_series().to_dict()
    }
    rows = []
    for kind, means in (("known change", CHANGE), ("no change", dict.fromkeys(CHANGE, 0.0))):
        truth = scales_of(changed) | {"connection_mean": means}
        for seed in range(REPLICATES):
            one = bb.calibration.simulate(shape, "crossed", start, seed=seed)
            moved = bb.calibration.simulate(shape, "change", truth, seed=10_000 + seed)
            result = bb.compare(
                before=one, after=one.assign(distance=one["distance"] + moved["distance"]), draws=DRAWS, seed=seed
            )
            words = moved.truth["word_mean"]
            for first, second in QUANTITIES:
                found = result.changes(first) if second is None else result.contrasts(first, second, rows="difference")
                at = [list(CHANGE).index(name) for name in (first, second) if name]
                true = np.r_[
                    [means[first] - (means[second] if second else 0.0)],
                    words[:, at[0]] - (words[:, at[1]] if second else 0),
                ]
                covered = (found["low"].to_numpy() <= true) & (true <= found["high"].to_numpy())
                width = float(found["high"][0] - found["low"][0])
                quantity = first if second is None else f"{first} - {second}"
                rows.append((topic, kind, quantity, bool(covered[0]), covered[1:].mean(), width))
    table = pd.DataFrame(rows, columns=["topic", "kind", "quantity", "covered", "words_covered", "width"])
    by = table.groupby(["topic", "kind", "quantity"], sort=False)
    found = by.agg(coverage=("covered", "mean"), of_words=("words_covered", "mean"), width=("width", "mean"))
    found["se"] = np.sqrt(found["coverage"] * (1 - found["coverage"]) / REPLICATES)
    return found.reset_index().assign(replicates=REPLICATES).round(4)


def main():
    HERE.mkdir(exist_ok=True)
    if sys.argv[1:] == ["collect"]:
        parts = sorted((HERE / "parts").glob("changes_*.csv"))
        table = pd.concat([pd.read_csv(part) for part in parts])
        table.to_csv(HERE / "changes.csv", index=False)
        print(table.to_string(index=False))
        return
    (HERE / "parts").mkdir(exist_ok=True)
    for topic in sys.argv[1:]:
        study(topic).to_csv(HERE / "parts" / f"changes_{topic}.csv", index=False)


if __name__ == "__main__":
    main()
