"""The fast engines against NUTS on the same models.

- ``tables_against_nuts``: means and sds of every parameter, in Monte Carlo errors, of the published model and the
  crossed one on all 18 published tables;
- ``against_nuts``: the model of related words in the bundled vectors.
"""

import time
from functools import partial

import numpy as np
from arviz_stats.base import array_stats

import bayesbias as bb
from benchmarks.study import TABLES, Design, crossed, main, published_table

DRAWS, COMPARED = 4000, ("word_mean", "sd_factor", "connection_mean", "connection_sd")


def flat(values, steps):
    """Draws (*steps, parameters) of a variable, without what is never drawn."""
    draws = values.to_numpy().reshape(*steps, -1)
    return draws[..., ~np.isnan(draws[(0,) * len(steps)])]


def tables_against_nuts(cell):
    """Seeds of the fast engine are the replicates."""
    table, model, seeds, begin = published_table(cell["table"]), cell["model"], cell.replicates, time.perf_counter()
    nuts = bb.fit(table, model, engine="nuts", draws=4000, chains=4, seed=1)
    seconds, verdict = time.perf_counter() - begin, bb.diagnose(nuts)
    fits = [bb.fit(table, model, draws=DRAWS, seed=seed) for seed in range(seeds)]
    pareto_k = max(bb.diagnose(post).pareto_k or np.nan for post in fits)
    for name, values in nuts["posterior"].data_vars.items():
        drawn, axes = flat(values, values.shape[:2]), {"chain_axis": 0, "draw_axis": 1}
        mean, sd = drawn.mean(axis=(0, 1)), drawn.std(axis=(0, 1), ddof=1)
        mean_error, sd_error = (array_stats.mcse(drawn, method=method, **axes) for method in ("mean", "sd"))
        own = [flat(post["posterior"][name], (DRAWS,)) for post in fits]
        own_means, own_sds = ([*map(partial(how, axis=0), own)] for how in (np.mean, partial(np.std, ddof=1)))
        error = np.hypot(mean_error, np.std(own_means, axis=0, ddof=1) / np.sqrt(seeds))
        spread = np.hypot(sd_error, np.std(own_sds, axis=0, ddof=1) / np.sqrt(seeds))
        own_mean, own_sd = np.mean(own_means, axis=0), np.mean(own_sds, axis=0)
        ratio = own_sd / sd
        yield {
            "variable": name,
            "parameters": len(mean),
            "largest_mean_difference_in_mcse": np.max(np.abs(own_mean - mean) / error),
            "smallest_sd_ratio": ratio.min(),
            "largest_sd_ratio": ratio.max(),
            "largest_sd_difference_of_allowed": np.max(
                np.minimum(np.abs(ratio - 1) / 0.05, np.abs(own_sd - sd) / (4 * spread))
            ),
            "nuts_smallest_ess": array_stats.ess(drawn, method="bulk", **axes).min(),
            "nuts_r_hat": verdict.r_hat,
            "nuts_divergences": verdict.divergences,
            "nuts_seconds": seconds,
            "pareto_k": pareto_k,
        }


def related_against_nuts(cell):
    """Draws of NUTS are the replicates."""
    table, draws = bb.distance_table("google-news-slice", cell["words"]), cell.replicates
    exact = bb.fit(table, "related", engine="exact", draws=4 * draws, seed=1)
    nuts = bb.fit(table, "related", engine="nuts", draws=draws, seed=2)
    for variable in COMPARED:
        a, b = (post["posterior"][variable] for post in (exact, nuts))
        a, b = (flat(values, (values.shape[0] * values.shape[1],)) for values in (a, b))
        ratio = b.std(axis=0) / a.std(axis=0)
        yield {
            "variable": variable,
            "values": a.shape[1],
            "largest_mean_difference": np.abs((b.mean(axis=0) - a.mean(axis=0)) / a.std(axis=0)).max(),
            "least_sd_ratio": ratio.min(),
            "largest_sd_ratio": ratio.max(),
            "nuts_ok": bb.diagnose(nuts).ok,
            "draws": draws,
        }


DESIGNS = (
    Design("tables_against_nuts", crossed(table=TABLES, model=("published", "crossed")), tables_against_nuts, 4),
    Design("related/against_nuts", crossed(words=("gender", "race", "religion")), related_against_nuts, 4000),
)

if __name__ == "__main__":
    main(*DESIGNS)
