"""Exact engine against NUTS: seconds, smallest ESS of connection_mean, effective draws per second, their ratio.

Import and compilation are left out: each engine fits once before it is timed; NUTS compiles again with every model, so
its seconds are those that the sampler itself reports (adaptation and draws).
"""

import time

import numpy as np
import nutpie
import pandas as pd
from arviz_stats.base import array_stats
from common import keep, published_tables
from inside import TARGET_ACCEPT, TUNE, Distances, build

import bayesbias as bb

TABLES = ("religion_group_reddit_dataset", "gender_group_google_dataset", "weat_7_glove")
DRAWS, REPEATS = 4000, 5


def smallest_ess(values):
    return float(np.min(array_stats.ess(np.asarray(values), chain_axis=0, draw_axis=1, method="bulk")))


def time_exact(table, model):
    bb.fit(table, model, draws=DRAWS, seed=0)
    seconds = []
    for seed in range(REPEATS):
        begin = time.perf_counter()
        post = bb.fit(table, model, engine="exact", draws=DRAWS, seed=seed)
        seconds.append(time.perf_counter() - begin)
    return float(np.median(seconds)), smallest_ess(post["posterior/connection_mean"])


def time_nuts(table, model):
    compiled = nutpie.compile_pymc_model(build(bb.load_model(model), Distances.read(table, check=False)))
    options = {"chains": 4, "cores": 2, "progress_bar": False, "target_accept": TARGET_ACCEPT}
    nutpie.sample(compiled, draws=50, tune=50, seed=1, **options)
    begin = time.perf_counter()
    trace = nutpie.sample(compiled, draws=DRAWS // 4, tune=TUNE, seed=2, **options)
    return time.perf_counter() - begin, smallest_ess(trace["posterior"]["connection_mean"])


def main():
    tables = published_tables()
    rows = []
    for model in ("published", "pooled"):
        for name in TABLES:
            exact_seconds, exact_ess = time_exact(tables[name], model)
            nuts_seconds, nuts_ess = time_nuts(tables[name], model)
            ratio = (exact_ess / exact_seconds) / (nuts_ess / nuts_seconds)
            rows.append((model, name, exact_seconds, exact_ess, nuts_seconds, nuts_ess, ratio))
    names = ["model", "table", "exact_s", "exact_ess", "nuts_s", "nuts_ess", "ratio_of_ess_per_s"]
    keep(pd.DataFrame(rows, columns=names).round(3), "engines")
    begin = time.perf_counter()
    for table in tables.values():
        bb.fit(table, draws=DRAWS, seed=0)
    print(f"all {len(tables)} published tables: {time.perf_counter() - begin:.2f} s")


if __name__ == "__main__":
    main()
