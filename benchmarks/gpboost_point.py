"""The full posterior of the crossed model against GPBoost's point estimate of a crossed mixed model, in one process.

    uv run --with gpboost==1.8.0 python benchmarks/gpboost_point.py

GPBoost fits fixed effects of connections, random effects of protected word x connection and of attribute word, and one
residual scale; it gives point estimates and no intervals. Its time depends on its optimizer: L-BFGS is the default,
Fisher scoring was.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time

import gpboost
import numpy as np
import pandas as pd
from common import keep, published_tables

import bayesbias as bb

TABLES = ("religion_group_reddit_dataset", "gender_group_google_dataset", "race_group_reddit_dataset", "weat_1_google")
OPTIMIZERS = ("lbfgs", "fisher_scoring")
REPEATS = 5


def point_estimate(table, optimizer):
    cell = pd.factorize(table["protected_word"] + " / " + table["connection"])[0]
    word = pd.factorize(table["attribute_word"])[0]
    fixed = pd.get_dummies(table["connection"]).to_numpy(dtype=float)
    model = gpboost.GPModel(group_data=np.column_stack([cell, word]), likelihood="gaussian")
    model.fit(y=table["distance"].to_numpy(), X=fixed, params={"optimizer_cov": optimizer})
    return model


def seconds(work):
    work()
    taken = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
    return float(np.median(taken))


def main():
    tables = published_tables()
    rows = []
    for name in TABLES:
        theirs = [seconds(lambda name=name, o=optimizer: point_estimate(tables[name], o)) for optimizer in OPTIMIZERS]
        for model in ("crossed_plain", "crossed"):
            ours = seconds(lambda name=name, model=model: bb.fit(tables[name], model, seed=0))
            rows.append((name, model, ours, *theirs, *(ours / taken for taken in theirs)))
    names = ["table", "model", "full_posterior_s", *(f"{o}_s" for o in OPTIMIZERS), *(f"{o}_ratio" for o in OPTIMIZERS)]
    keep(pd.DataFrame(rows, columns=names).round(4), "gpboost_point")
    print(f"gpboost {gpboost.__version__}")


if __name__ == "__main__":
    main()
