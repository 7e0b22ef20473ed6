"""False-positive rates of intervals and tests without bias: simulated tables of published shapes, and the real null.

    python benchmarks/calibration/study.py simulated    # about 20 minutes
    python benchmarks/calibration/study.py real-null    # about 20 minutes
    python benchmarks/calibration/study.py collect      # results/*.csv of all that has run, and the picture

Each part appends to results/parts, so that an interrupted run goes on where it stopped.
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
PARTS = HERE / "parts"
REPLICATES = 500
DRAWS_OF_LISTS = 300
NOMINAL = 0.11

RELIGION = {
    "connection_mean": 0.93,
    "connection_sd": {"associated": 0.127, "different": 0.100, "human": 0.058, "neutral": 0.038},
    "sigma": 0.117,
    "attribute_sd": 0.135,
    "interaction_sd": 0.0,
}
BY_CLASS = {"attribute_sd": {"stereotype": 0.193, "human": 0.129, "neutral": 0.138}, "sigma": 0.118}
WEAT = {
    "connection_mean": 0.93,
    "connection_sd": {"associated": 0.019, "different": 0.020, "human": 0.015, "neutral": 0.0105},
    "sigma": 0.053,
    "attribute_sd": 0.053,
    "interaction_sd": 0.0,
}
WITH_GROUPS = {"interaction_sd": 0.026, "sigma": float(np.sqrt(0.053**2 - 0.026**2))}
SHAPES = {
    "religion/Reddit": ("religion_group_reddit_dataset", RELIGION),
    "religion/Reddit, unequal class scales": ("religion_group_reddit_dataset", RELIGION | BY_CLASS),
    "WEAT 1/Google": ("weat_1_google", WEAT),
    "WEAT 1/Google, word x group": ("weat_1_google", WEAT | WITH_GROUPS),
}


ALWAYS = ["published", "crossed"]


def once(name, make):
    """Make a part unless it is there."""
    file = PARTS / f"{name}.csv"
    if not file.exists():
        PARTS.mkdir(parents=True, exist_ok=True)
        found = make()
        found.to_csv(file, index=False)
        print(name, flush=True)


def simulated():
    tables = published_tables()
    for at, (shape, (table, truth)) in enumerate(SHAPES.items()):
        once(
            f"simulated_{at}",
            lambda shape=shape, table=table, truth=truth: bb.calibration.false_positive_rate(
                tables[table], truth, [*ALWAYS, "crossed_plain", "crossed_shared"], replicates=REPLICATES, seed=0
            ).assign(shape=shape),
        )


def real_null():
    for name, table in published_tables().items():
        once(
            f"real_{name}",
            lambda name=name, table=table: bb.calibration.null_false_positive_rate(
                table, [*ALWAYS, "crossed_plain"], DRAWS_OF_LISTS, seed=1
            ).assign(table=name),
        )


def collect():
    for kind, key in (("simulated", "shape"), ("real", "table")):
        parts = [pd.read_csv(file) for file in sorted(PARTS.glob(f"{kind}_*.csv"))]
        if not parts:
            continue
        rows = pd.concat(parts)
        if kind == "real":  # human words differ from neutral ones in truth
            rows = rows[rows["contrast"] != "associated - human"]
        weights = rows.assign(alarms=rows["rate"] * rows["replicates"], widths=rows["width"] * rows["replicates"])
        by = weights.groupby([key, "method", "contrast"], sort=False)
        table = by[["alarms", "widths", "replicates"]].sum(min_count=1).reset_index()
        table["rate"] = table["alarms"] / table["replicates"]
        table["se"] = np.sqrt(table["rate"] * (1 - table["rate"]) / table["replicates"])
        table["width"] = table["widths"] / table["replicates"]
        table = table[[key, "method", "contrast", "rate", "se", "width", "replicates"]].round(5)
        name = "simulated" if kind == "simulated" else "real_null"
        table.to_csv(HERE / f"{name}.csv", index=False)
        ends = {"low": table["rate"] - 2 * table["se"], "high": table["rate"] + 2 * table["se"]}
        figure = bb.plots.forest(
            table.assign(**ends), "method", by=key, panels="contrast", value="rate", mark=NOMINAL, label="rate"
        )
        figure.savefig(HERE / f"{name}.png", dpi=110)
        print(table.pivot_table(index=[key, "contrast"], columns="method", values="rate").round(3).to_string())


if __name__ == "__main__":
    {"simulated": simulated, "real-null": real_null, "collect": collect}[sys.argv[1]]()
