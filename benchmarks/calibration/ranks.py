"""Simulation-based calibration of the marginal engine: ranks of the truth, 1,000 tables of each model and shape."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from pathlib import Path

import pandas as pd

import bayesbias as bb

REPLICATES, DRAWS = 1000, 199
SHAPES = {
    "small": {"groups": {"g": 4, "h": 4}, "stereotypes": {"g": 5, "h": 5}, "human": 8, "neutral": 10},
    "thin": {"groups": {"g": 3, "h": 3}, "stereotypes": {"g": 2, "h": 1}, "human": 4},
}
HERE = Path(__file__).parent / "results"


def main():
    HERE.mkdir(exist_ok=True)
    tables = []
    for model in ("crossed_plain", "crossed_shared", "crossed"):
        for name, shape in SHAPES.items():
            found = bb.calibration.sbc(model, shape, REPLICATES, engine="marginal", seed=41, draws=DRAWS)
            table = found.uniformity.assign(model=model, shape=name, pareto_k=found.pareto_k)
            tables.append(table)
            print(model, name, len(table), table["p_value"].min(), found.pareto_k, flush=True)
            bb.plots.plot_calibration(found).savefig(HERE / f"ranks_{model}_{name}.png", dpi=100)
    pd.concat(tables).round(5).to_csv(HERE / "ranks.csv", index=False)


if __name__ == "__main__":
    main()
