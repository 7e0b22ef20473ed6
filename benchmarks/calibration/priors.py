"""How often printed intervals hold truths that were drawn from each model's own prior.

python benchmarks/calibration/priors.py                        # results/priors.csv: about ten minutes on one core
python benchmarks/calibration/priors.py --replicates 20 audit angle
"""

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from pathlib import Path

import pandas as pd

import bayesbias as bb

QUICK = ("places", "audit", "pool", "trend", "multiverse")
"""Analyses of which five times as many replicates are drawn."""
FILE = Path(__file__).parent / "results" / "priors.csv"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("analyses", nargs="*", default=list(bb.calibration.prior_analyses()))
    parser.add_argument("--replicates", type=int, default=200)
    given = parser.parse_args()
    for name in given.analyses:
        replicates = given.replicates * (5 if name in QUICK else 1)
        found = bb.calibration.prior_check(name, replicates, seed=1)
        print(found.table().to_string(header=False), flush=True)
        table = found.table()
        if FILE.exists():
            before = pd.read_csv(FILE)
            table = pd.concat([before[before["analysis"] != name], table])
        table.round(4).to_csv(FILE, index=False)


if __name__ == "__main__":
    main()
