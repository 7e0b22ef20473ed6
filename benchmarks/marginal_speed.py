"""The marginal engine's seconds, and its effective draws of connection_mean per second against nutpie's, in one run.

    python benchmarks/marginal_speed.py           # four tables against nutpie
    python benchmarks/marginal_speed.py every     # all published tables in this process, import left out

Import and compilation are left out: each engine fits once before it is timed. Draws of the marginal engine come in
part from common points and from quasi-random normals, so that their effective number is measured, not claimed: the
posterior variance over the variance of posterior means between seeds; for the 5.5% quantile, the variance that as many
independent draws would have over the one between seeds. nutpie's are what ArviZ says of one run.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time

import numpy as np
import nutpie
import pandas as pd
from arviz_stats.base import array_stats
from common import keep, published_tables
from inside import TARGET_ACCEPT, TUNE, Distances, build

import bayesbias as bb

TABLES = ("religion_group_reddit_dataset", "gender_group_google_dataset", "race_group_reddit_dataset", "weat_1_google")
DRAWS, SEEDS = 4000, 40
TAIL, NEAR = 0.055, 0.01


def of_marginal(table, model):
    bb.fit(table, model, seed=0)
    seconds, drawn = [], []
    for seed in range(SEEDS):
        begin = time.perf_counter()
        post = bb.fit(table, model, draws=DRAWS, seed=seed)
        seconds.append(time.perf_counter() - begin)
        drawn.append(post["posterior/connection_mean"].to_numpy().reshape(DRAWS, -1))
    ess = np.var(drawn, axis=1).mean(axis=0) / np.var(np.mean(drawn, axis=1), axis=0, ddof=1)
    below, above = np.quantile(np.concatenate(drawn), [TAIL - NEAR, TAIL + NEAR], axis=0)
    height = 2 * NEAR / (above - below)
    tail = TAIL * (1 - TAIL) / height**2 / np.var(np.quantile(drawn, TAIL, axis=1), axis=0, ddof=1)
    return float(np.median(seconds)), float(min(seconds)), float(ess.min()), float(tail.min())


def of_nutpie(table, model):
    compiled = nutpie.compile_pymc_model(build(bb.load_model(model), Distances.read(table, check=False)))
    options = {"chains": 4, "cores": 2, "progress_bar": False, "target_accept": TARGET_ACCEPT}
    nutpie.sample(compiled, draws=20, tune=20, seed=1, **options)
    begin = time.perf_counter()
    trace = nutpie.sample(compiled, draws=DRAWS // 4, tune=TUNE, seed=2, **options)
    taken = time.perf_counter() - begin
    drawn = trace["posterior/connection_mean"].to_numpy()
    ess = array_stats.ess(drawn, chain_axis=0, draw_axis=1, method="bulk")
    tail = array_stats.ess(drawn, chain_axis=0, draw_axis=1, method="quantile", prob=TAIL)
    return taken, float(np.min(ess)), float(np.min(tail))


def against_nutpie():
    tables = published_tables()
    rows = []
    for name in TABLES:
        for model in ("crossed_plain", "crossed"):
            seconds, fastest, ess, tail = of_marginal(tables[name], model)
            their_seconds, their_ess, their_tail = of_nutpie(tables[name], model)
            quicker = their_seconds / seconds
            row = (name, model, seconds, fastest, ess, tail, their_seconds, their_ess, their_tail)
            rows.append((*row, ess / their_ess * quicker, tail / their_tail * quicker))
            print(rows[-1], flush=True)
    names = ["table", "model", "median_s", "fastest_s", "ess", "tail_ess", "nutpie_s", "nutpie_ess", "nutpie_tail_ess"]
    keep(pd.DataFrame(rows, columns=[*names, "ratio", "tail_ratio"]).round(4), "marginal_speed")


def every():
    tables = published_tables()
    begin = time.perf_counter()
    posts = {name: bb.fit(table, seed=0) for name, table in tables.items()}
    taken = time.perf_counter() - begin
    k = max(float(post["sample_stats/pareto_k"]) for post in posts.values())
    ess = min(float(post["sample_stats/importance_ess"]) for post in posts.values())
    print(f"{len(tables)} tables: {taken:.2f} s, largest Pareto k {k:.2f}, smallest importance ESS {ess:.0f}")


if __name__ == "__main__":
    every() if sys.argv[1:] == ["every"] else against_nutpie()
