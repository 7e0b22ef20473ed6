"""Seconds of sweeps: 1,000 simulated tables on two workers, one against two workers, with and without saved fits."""

import tempfile
import time
from pathlib import Path

import pandas as pd

import bayesbias as bb
from benchmarks.common import keep
from benchmarks.large.tables import simulated

TABLES, FEW = 1000, 100
DRAWS = 1000


def main():
    """Write seconds of each sweep, and whether the hashes agree."""
    rows = []
    with tempfile.TemporaryDirectory() as room:
        for number in range(TABLES):
            table = simulated(20, 40, seed=number)
            bb.write_distance_table(table, Path(room) / f"table{number:04}.parquet")
        for name, files, model, save, workers in (
            ("1,000 tables", "table*.parquet", "published", False, 2),
            ("100 tables", "table00*.parquet", "published", True, 2),
            ("100 tables", "table00*.parquet", "crossed", True, 1),
            ("100 tables", "table00*.parquet", "crossed", True, 2),
        ):
            plan = {"tables": [f"{room}/{files}"], "models": [model], "save": save, "draws": DRAWS}
            begin = time.perf_counter()
            found = bb.sweep(plan, Path(room) / f"out{len(rows)}", workers=workers)
            rows.append((name, model, save, workers, time.perf_counter() - begin, found.hash[:12]))
            print(rows[-1], flush=True)
    keep(pd.DataFrame(rows, columns=["work", "model", "saved", "workers", "seconds", "hash"]).round(1), "large/sweep")


if __name__ == "__main__":
    main()
