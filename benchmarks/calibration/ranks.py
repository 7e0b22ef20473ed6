"""Simulation-based calibration of the marginal engine: ranks of the truth, 1,000 tables of each model and shape.

python benchmarks/calibration/ranks.py
python benchmarks/calibration/ranks.py --models crossed --shapes small --replicates 2000 --seed 42 --out ranks_2
"""

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from pathlib import Path

import pandas as pd

import bayesbias as bb

DRAWS = 199
SHAPES = {
    "small": {"groups": {"g": 4, "h": 4}, "stereotypes": {"g": 5, "h": 5}, "human": 8, "neutral": 10},
    "thin": {"groups": {"g": 3, "h": 3}, "stereotypes": {"g": 2, "h": 1}, "human": 4},
}
HERE = Path(__file__).parent / "results"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=["crossed_plain", "crossed_shared", "crossed"])
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES))
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=41)
    parser.add_argument("--out", default="ranks")
    given = parser.parse_args()
    HERE.mkdir(exist_ok=True)
    tables = []
    for model in given.models:
        for name in given.shapes:
            found = bb.calibration.sbc(
                model, SHAPES[name], given.replicates, engine="marginal", seed=given.seed, draws=DRAWS
            )
            table = found.uniformity.assign(model=model, shape=name, pareto_k=found.pareto_k)
            tables.append(table)
            print(model, name, len(table), table["p_value"].min(), found.pareto_k, flush=True)
            found.figure().savefig(HERE / f"{given.out}_{model}_{name}.png", dpi=100)
    pd.concat(tables).round(5).to_csv(HERE / f"{given.out}.csv", index=False)


if __name__ == "__main__":
    main()
