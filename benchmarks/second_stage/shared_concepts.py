"""What it costs to take languages for independent: intervals of a pool whose errors are those of the same concepts.

The covariance is that of the 25 languages (Wikipedia) of Lewis and Lupyan (2020). Contrasts are drawn around a known
mean with a known spread, and estimates around them with that covariance. The outside variable is related to nothing.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias._core.second_stage import latent_relation, second_stage
from benchmarks.common import keep
from benchmarks.second_stage.languages import attitudes, languages, table_of

WIDTH, MEAN = 0.05, -0.03
PAIRS = [(0, 1), (2, 3), (4, 5)]
PROB = 0.89


def ends(draws):
    """A central interval."""
    return np.quantile(draws, [(1 - PROB) / 2, (1 + PROB) / 2])


def main(folder, replicates=1000):
    """Write how often 89% intervals hold the mean, a difference of two languages, and a correlation of 0."""
    every, outside = languages(folder, "wikipedia"), attitudes(folder)
    tables = {name: table_of(vectors) for name, vectors in every.items() if name in outside.index}
    pool = bb.pool(tables, ("associated", "different"))
    shared, n = pool.estimates.covariance.to_numpy(), len(tables)
    spread = np.sqrt(np.diag(shared))
    correlations = (shared / np.outer(spread, spread))[np.triu_indices(n, 1)]
    print(f"{n} languages, mean correlation of errors {correlations.mean():.2f}, mean error {spread.mean():.4f}")
    rng, rows = np.random.default_rng(0), []
    for tau in (0.0, float(np.median(pool.draws("between_sd")))):
        held = {(used, what): [] for used in ("joint", "independent") for what in ("mean", "difference", "correlation")}
        for _ in range(replicates):
            theta = MEAN + tau * rng.standard_normal(n)
            y, x = rng.multivariate_normal(theta, shared), rng.standard_normal(n)
            for used, covariance in (("joint", shared), ("independent", np.diag(np.diag(shared)))):
                stage = second_stage(y, covariance, np.ones((n, 1)), [], [WIDTH], np.full((1, n), 1 / n))
                found = stage.draw(2000, rng)
                low, high = ends(found.coefficients[:, 0])
                held[used, "mean"].append(low < MEAN < high)
                each = found.coefficients + found.effects[0]
                for a, b in PAIRS:
                    low, high = ends(each[:, a] - each[:, b])
                    held[used, "difference"].append(low <= theta[a] - theta[b] <= high)
                if len(held[used, "correlation"]) < replicates // 5:
                    one = latent_relation(y, covariance, x, np.zeros(n), [np.eye(n)], WIDTH, 2000, rng)
                    low, high = ends(one.correlation)
                    held[used, "correlation"].append(low < 0 < high)
        rows += [(round(tau, 4), *key, len(value), np.mean(value)) for key, value in held.items()]
    keep(
        pd.DataFrame(rows, columns=["between_sd", "errors", "interval of", "intervals", "coverage"]).round(3),
        "second_stage/shared_concepts",
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:3]))
