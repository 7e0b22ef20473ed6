"""Simulation-based calibration of the model of related words, and its agreement with NUTS.

    python benchmarks/related/ranks.py

Ranks: tables are simulated with the relatedness of real lists, factors from their prior; the ranks of the true values
among the draws must be uniform. Pooled rows: associations are simulated with a factor, a tau and deviations from what
pooling takes them to have; the posterior probabilities below the true values must be uniform. NUTS: the posterior of
the bundled slice's tables by both engines.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse

import numpy as np
import pandas as pd
from nulls import PROB, RESULTS, associations
from rows import associations_of
from scipy.stats import kstest, norm

import bayesbias as bb
from bayesbias._core.mixtures import SHAPES
from bayesbias.models.results import read_distances

LISTS = ("gender", "race", "religion")
COMPARED = ("word_mean", "sd_factor", "connection_mean", "connection_sd")


def ranks(replicates):
    """Rows with the test of uniformity of each parameter."""
    for name in LISTS:
        table = bb.distance_table(bb.load_embedding("google-news-slice"), name)
        found = bb.calibration.sbc("related", table, replicates=replicates, seed=1)
        yield found.uniformity.assign(words=name, replicates=replicates)


def pooled_ranks(replicates):
    """Tests of uniformity of the posterior probabilities below true pooled rows, by word."""
    for name in LISTS:
        table = bb.distance_table(bb.load_embedding("google-news-slice"), name)
        given = associations_of(read_distances(table))
        raw, weights, rng = given.raw, given.weights, np.random.default_rng(3)
        axes, sizes, root = given.pooled().law.axes, given.pooled().law.sizes, raw.weights @ raw.law.roots[0]
        below = []
        for factor in rng.choice(raw.law.factors[:, 0], size=replicates, p=raw.law.mass):
            tau, share = given.scale * abs(rng.standard_cauchy()), rng.integers(SHAPES) / (SHAPES - 1)
            # the prior variance of the deviation in each direction, by one of the shapes of its prior
            shape = (1 + share * (sizes / sizes.mean() - 1)) * len(weights) / len(sizes)
            truth = tau * axes @ (np.sqrt(shape) * rng.standard_normal(len(sizes)))
            moved = raw - raw.mean + (truth + factor * root @ rng.standard_normal(root.shape[1]))
            rows = associations.pooled_over_words(moved, weights, given.block, given.scale)
            below.append(np.append(rows.below(truth), moved.combine(weights).below(weights @ truth)))
        places = np.array(below)
        for at, word in enumerate([*read_distances(table).protected_words, "whole list"]):
            z = norm.ppf(places[:, at])
            yield {
                "words": name,
                "row": word,
                "replicates": replicates,
                "p_ks": kstest(places[:, at], "uniform").pvalue,
                "z_sd": np.sqrt((z**2).mean()),
                "covered": (np.abs(places[:, at] - 0.5) <= PROB / 2).mean(),
            }


def against_nuts(draws):
    """Rows with the largest differences between the engines: means in posterior sds, ratios of sds."""
    for name in LISTS:
        table = bb.distance_table(bb.load_embedding("google-news-slice"), name)
        exact = bb.fit(table, "related", engine="exact", draws=4 * draws, seed=1)
        nuts = bb.fit(table, "related", engine="nuts", draws=draws, seed=2)
        for variable in COMPARED:
            a, b = (post["posterior"][variable].to_numpy() for post in (exact, nuts))
            a, b = (values.reshape(values.shape[0] * values.shape[1], -1) for values in (a, b))
            kept = ~np.isnan(a).any(axis=0)
            a, b = a[:, kept], b[:, kept]
            ratio = b.std(axis=0) / a.std(axis=0)
            yield {
                "words": name,
                "variable": variable,
                "values": int(kept.sum()),
                "largest_mean_difference": np.abs((b.mean(axis=0) - a.mean(axis=0)) / a.std(axis=0)).max(),
                "least_sd_ratio": ratio.min(),
                "largest_sd_ratio": ratio.max(),
                "nuts_ok": bb.diagnose(nuts).ok,
                "draws": draws,
            }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=4000)
    given = parser.parse_args()
    uniform = pd.concat(ranks(given.replicates), ignore_index=True).round(4)
    uniform.to_csv(RESULTS / "ranks.csv", index=False)
    print(uniform.groupby(["words", "parameter"])["p_value"].describe().round(3).to_string())
    rows = pd.DataFrame(pooled_ranks(given.replicates)).round(4)
    rows.to_csv(RESULTS / "pooled_ranks.csv", index=False)
    print(rows.groupby("words")[["p_ks", "z_sd", "covered"]].describe().round(3).T.to_string())
    engines = pd.DataFrame(against_nuts(given.draws)).round(4)
    engines.to_csv(RESULTS / "against_nuts.csv", index=False)
    print(engines.to_string())


if __name__ == "__main__":
    main()
