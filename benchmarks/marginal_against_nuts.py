"""The marginal engine against NUTS on the plain PyMC model: means and sds of every parameter, in Monte Carlo errors.

python benchmarks/marginal_against_nuts.py    # about an hour; finished parts are kept
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from pathlib import Path

import numpy as np
import pandas as pd
from arviz_stats.base import array_stats
from common import HERE, keep, published_tables

import bayesbias as bb

TABLES = (
    "religion_group_reddit_dataset",
    "gender_group_google_dataset",
    "race_group_reddit_dataset",
    "weat_1_google",
)
MODELS = ("crossed_plain", "crossed_shared", "crossed")
SEEDS, DRAWS = 8, 4000
PARTS = HERE / "results" / "marginal_against_nuts"


def moments(post):
    """Variable to means and sds (parameters), with their Monte Carlo errors from a NUTS fit."""
    found = {}
    for name, values in post["posterior"].data_vars.items():
        flat = values.to_numpy().reshape(*values.shape[:2], -1)
        flat = flat[:, :, ~np.isnan(flat[0, 0])]
        axes = {"chain_axis": 0, "draw_axis": 1}
        errors = [array_stats.mcse(flat, method=method, **axes) for method in ("mean", "sd")]
        ess = array_stats.ess(flat, method="bulk", **axes)
        found[name] = (flat.mean(axis=(0, 1)), flat.std(axis=(0, 1), ddof=1), *errors, ess)
    return found


def compare(table, model, name):
    begin = pd.Timestamp.now()
    nuts = bb.fit(table, model, engine="nuts", draws=16_000, chains=4, seed=1)
    seconds = (pd.Timestamp.now() - begin).total_seconds()
    verdict = bb.diagnose(nuts)
    theirs = moments(nuts)
    fits = [bb.fit(table, model, draws=DRAWS, seed=seed) for seed in range(SEEDS)]
    rows = []
    for variable, (mean, sd, mean_error, sd_error, ess) in theirs.items():
        own_means, own_sds = [], []
        for post in fits:
            flat = post["posterior"][variable].to_numpy().reshape(DRAWS, -1)
            flat = flat[:, ~np.isnan(flat[0])]
            own_means.append(flat.mean(axis=0))
            own_sds.append(flat.std(axis=0, ddof=1))
        error = np.hypot(mean_error, np.std(own_means, axis=0, ddof=1) / np.sqrt(SEEDS))
        spread = np.hypot(sd_error, np.std(own_sds, axis=0, ddof=1) / np.sqrt(SEEDS))
        own_mean, own_sd = np.mean(own_means, axis=0), np.mean(own_sds, axis=0)
        ratio = own_sd / sd
        far = np.minimum(np.abs(ratio - 1) / 0.05, np.abs(own_sd - sd) / (4 * spread))
        rows.append(
            {
                "table": name,
                "model": model,
                "variable": variable,
                "parameters": len(mean),
                "largest_mean_difference_in_mcse": np.max(np.abs(own_mean - mean) / error),
                "smallest_sd_ratio": ratio.min(),
                "largest_sd_ratio": ratio.max(),
                "largest_sd_difference_of_allowed": far.max(),
                "nuts_smallest_ess": ess.min(),
                "nuts_r_hat": verdict.r_hat,
                "nuts_divergences": verdict.divergences,
                "nuts_seconds": seconds,
                "pareto_k": max(bb.diagnose(post).pareto_k for post in fits),
            }
        )
    return pd.DataFrame(rows)


def main():
    PARTS.mkdir(parents=True, exist_ok=True)
    tables = published_tables()
    for name in TABLES:
        for model in MODELS:
            file = Path(PARTS / f"{name}_{model}.csv")
            if not file.exists():
                compare(tables[name], model, name).to_csv(file, index=False)
                print(name, model, flush=True)
    parts = pd.concat([pd.read_csv(file) for file in sorted(PARTS.glob("*.csv"))])
    keep(parts.round(4), "marginal_against_nuts")


if __name__ == "__main__":
    main()
