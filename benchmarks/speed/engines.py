"""The marginal engine's seconds, and its effective draws of connection_mean per second against nutpie's, in one run.

Import and compilation are left out: each engine fits once before it is timed. Draws of the marginal engine come in
part from common points and from quasi-random normals, so that their effective number is measured, not claimed: the
posterior variance over the variance of posterior means between seeds (the replicates); for the 5.5% quantile, the
variance that as many independent draws would have over the one between seeds. nutpie's are what ArviZ says of one run.
"""

import time

import numpy as np
import nutpie
from arviz_stats.base import array_stats

import bayesbias as bb
from benchmarks.inside import TARGET_ACCEPT, TUNE
from benchmarks.study import Design, crossed, main, published_table

TABLES = ("religion_group_reddit_dataset", "gender_group_google_dataset", "race_group_reddit_dataset", "weat_1_google")
DRAWS, TAIL, NEAR = 4000, 0.055, 0.01


def of_marginal(table, model, seeds):
    bb.fit(table, model, seed=0)
    seconds, drawn = [], []
    for seed in range(seeds):
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
    compiled = nutpie.compile_pymc_model(bb.pymc_model(table, model))
    options = {"chains": 4, "cores": 2, "progress_bar": False, "target_accept": TARGET_ACCEPT}
    nutpie.sample(compiled, draws=20, tune=20, seed=1, **options)
    begin = time.perf_counter()
    trace = nutpie.sample(compiled, draws=DRAWS // 4, tune=TUNE, seed=2, **options)
    taken = time.perf_counter() - begin
    drawn = trace["posterior/connection_mean"].to_numpy()
    ess = array_stats.ess(drawn, chain_axis=0, draw_axis=1, method="bulk")
    tail = array_stats.ess(drawn, chain_axis=0, draw_axis=1, method="quantile", prob=TAIL)
    return taken, float(np.min(ess)), float(np.min(tail))


def marginal_speed(cell):
    table, model = published_table(cell["table"]), cell["model"]
    seconds, fastest, ess, tail = of_marginal(table, model, cell.replicates)
    their_seconds, their_ess, their_tail = of_nutpie(table, model)
    quicker = their_seconds / seconds
    yield {
        "median_s": seconds,
        "fastest_s": fastest,
        "ess": ess,
        "tail_ess": tail,
        "nutpie_s": their_seconds,
        "nutpie_ess": their_ess,
        "nutpie_tail_ess": their_tail,
        "ratio": ess / their_ess * quicker,
        "tail_ratio": tail / their_tail * quicker,
    }


if __name__ == "__main__":
    main(Design("marginal_speed", crossed(table=TABLES, model=("crossed_plain", "crossed")), marginal_speed, 40))
