"""Coverage and error of pools whose mean weighs embeddings equally, or by precision; with the right covariance or not.

``python -m benchmarks.second_stage.pools [REPLICATES]``: contrasts of E embeddings are drawn around a mean, estimates
around them with one covariance, and pooled with that or another one. A line through them over E equal steps of time is
fitted to the same numbers.
"""

import sys
from itertools import product

import numpy as np
import pandas as pd

from bayesbias.second_stage.holdings import WEIGHTS
from bayesbias.second_stage.pools import WIDTH, _Layout
from bayesbias.second_stage.trends import _levels
from benchmarks.common import keep

MEAN, ERROR, PROB = -0.05, 0.03, 0.89
SIZES = (3, 6, 12)
SPREADS = (0.0, 0.02)
"""Standard deviations between embeddings."""


SLIGHT = 0.1 * ERROR
"""How far a line is outside before it counts, since it is one of draws."""


def errors(size, correlation, ratio=1.0):
    """Covariance of errors whose standard deviations go up to a ratio of the first."""
    sd = ERROR * np.linspace(1.0, ratio, size) / np.sqrt(ratio)
    return np.outer(sd, sd) * (correlation + (1 - correlation) * np.eye(size))


CASES = {
    # name: true, taken
    "exact, .9": ((0.9,), (0.9,)),
    "exact, .95, errors 1 : 2.5": ((0.95, 2.5), (0.95, 2.5)),
    ".98 taken for .9": ((0.98,), (0.9,)),
    ".9 taken for .98": ((0.9,), (0.98,)),
    "equal errors taken for 1 : 2.5, .95": ((0.95,), (0.95, 2.5)),
    "errors 1 : 2.5 taken for equal, .95": ((0.95, 2.5), (0.95,)),
}


def inside(draws, truth):
    """Whether central intervals hold the truth."""
    low, high = np.quantile(draws, [(1 - PROB) / 2, (1 + PROB) / 2], axis=0)
    return (low <= truth) & (truth <= high)


def replicate(size, spread, true, taken, rng):
    """One row for each way to weigh."""
    theta = MEAN + spread * rng.standard_normal(size)
    y = rng.multivariate_normal(theta, errors(size, *true))
    time, own = np.arange(float(size)), np.arange(size)
    for weights in WEIGHTS:
        given = np.full(size, 1 / size) if weights == "equal" else None
        drawn = _Layout(own, None, False, given).drawn(y, errors(size, *taken), WIDTH, 1000, rng)
        each = drawn.coefficients + drawn.effects.sum(axis=0)
        mean = each.mean()
        level, _ = _levels(y, errors(size, *taken), time, "linear", weights, 1000, rng)
        line = np.median(level, axis=0)
        yield {
            "weights": weights,
            "given mean": inside(each.mean(axis=1), theta.mean()),
            "population mean": inside(drawn.coefficients[:, 0], MEAN),
            "single": inside(each, theta).mean(),
            "squared error of the mean": (mean - theta.mean()) ** 2,
            "squared error of deviations": ((each.mean(axis=0) - mean - theta + theta.mean()) ** 2).mean(),
            "mean outside": not y.min() <= mean <= y.max(),
            "change": inside(level[:, -1] - level[:, 0], 0.0),
            "squared error of the change": (line[-1] - line[0]) ** 2,
            "line outside": np.all(line < y - SLIGHT) or np.all(line > y + SLIGHT),
        }


def main(replicates=200):
    """Write coverage, root mean squared errors, and how often a mean or a line is outside all estimates."""
    rng, tables = np.random.default_rng(0), []
    for (case, (true, taken)), size, spread in product(CASES.items(), SIZES, SPREADS):
        rows = [row for _ in range(replicates) for row in replicate(size, spread, true, taken, rng)]
        table = pd.DataFrame(rows).groupby("weights").mean()
        squares = [name for name in table if name.startswith("squared")]
        table[squares] = np.sqrt(table[squares])
        table.columns = table.columns.str.replace("squared error", "rmse")
        tables.append(table.reset_index().assign(errors=case, embeddings=size, between_sd=spread))
    every = pd.concat(tables, ignore_index=True).assign(replicates=replicates)
    first = ["errors", "embeddings", "between_sd", "weights", "replicates"]
    every = every[first + [name for name in every if name not in first]]
    keep(every.round(4), "second_stage/pools")
    print(every.round(3).to_string())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
