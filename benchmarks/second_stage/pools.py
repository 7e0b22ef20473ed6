"""Coverage and error of pools whose mean weighs embeddings equally, or by precision; with the right covariance or not.

``python -m benchmarks.second_stage.pools [REPLICATES [STUDY]]``: contrasts of E embeddings are drawn
around a mean, estimates around them with one covariance, and pooled with that or another one. A line through them over
E equal steps of time is fitted to the same numbers. The contrasts of random topics, which are none, are pooled in GloVe
and Google News, and in these with two copies of each that have noise in every vector.
"""

import sys
from itertools import product

import numpy as np
import pandas as pd
from gensim.models import KeyedVectors

import bayesbias as bb
from bayesbias._core.second_stage import latent_relation
from bayesbias.second_stage.estimates import WEIGHTS
from bayesbias.second_stage.pools import GROUP_SHARES, WIDTH, _Layout
from bayesbias.second_stage.trends import _levels
from benchmarks.common import keep

MEAN, ERROR, PROB = -0.05, 0.03, 0.89
SIZES = (3, 6, 12)
SPREADS = (0.0, 0.02)
"""Standard deviations between embeddings."""


CONTRAST = ("associated", "different")
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


def noisy(kv, size, rng):
    """A copy with noise of that length in every unit vector."""
    unit = kv.vectors / np.linalg.norm(kv.vectors, axis=1, keepdims=True)
    copy = KeyedVectors(kv.vector_size)
    noise = rng.standard_normal(unit.shape) * size / np.sqrt(unit.shape[1])
    copy.add_vectors(kv.index_to_key, (unit + noise).astype(np.float32))
    return copy


def topics(units, names, count, size, taken, rng):
    """Random topics: words nearest to a random one in the mean of both embeddings, no word twice."""
    taken, found = set(taken), []
    for _ in range(count):
        seed = rng.integers(len(names))
        order = np.argsort(-(units @ units[seed]))
        found.append([names[at] for at in order if names[at] not in taken][:size])
        taken |= set(found[-1])
    return found


def real(replicates=200):
    """Write coverage where the contrast of random topics is 0 in every embedding."""
    rng, rows = np.random.default_rng(0), []
    whole = [bb.load_embedding(name) for name in ("glove-50d-slice", "google-news-slice")]
    names = [name for name in whole[1].index_to_key if name in whole[0] and name.islower()]
    glove, google = whole
    parts = [kv[names] / np.linalg.norm(kv[names], axis=1, keepdims=True) for kv in (glove, google)]
    units = np.concatenate(parts, axis=1)
    protected = {group: list(words)[:7] for group, words in bb.load_words("gender").protected.items()}
    copies = {
        f"{name} {size}": noisy(kv, size, rng)
        for name, kv in (("glove", glove), ("google", google))
        for size in (0.3, 0.8)
    }
    sets = {"GloVe and Google": {"glove": glove, "google": google}}
    sets["the same and two noisy copies of each"] = {**sets["GloVe and Google"], **copies}
    held = [word for words in protected.values() for word in words]
    for _ in range(replicates):
        drawn = topics(units, names, len(protected), 10, held, rng)
        lists = bb.WordLists("topics", protected, dict(zip(protected, drawn, strict=True)), {})
        tables = bb.distance_tables(sets[list(sets)[-1]], lists)
        for what, embeddings in sets.items():
            for weights in WEIGHTS:
                stages = bb.checks.TwoStage(weights=weights, draws=2000)
                pool = bb.pool({name: tables[name] for name in embeddings}, CONTRAST, stages=stages)
                y, mean = pool.estimates.mean, pool.draws("mean").mean()
                rows.append(
                    {
                        "errors": what,
                        "embeddings": len(y),
                        "weights": weights,
                        "given mean": inside(pool.draws("mean"), 0.0),
                        "population mean": inside(pool.draws("population_mean"), 0.0),
                        "single": inside(pool.draws("theta"), 0.0).mean(),
                        "rmse of the mean": mean**2,
                        "mean outside": not y.min() - 1e-9 <= mean <= y.max() + 1e-9,
                    }
                )
    table = pd.DataFrame(rows).groupby(["errors", "embeddings", "weights"], sort=False).mean()
    table["rmse of the mean"] = np.sqrt(table["rmse of the mean"])
    keep(table.reset_index().assign(replicates=replicates).round(4), "second_stage/pools_of_topics")


def related(y, covariance, x, band, truth, rng):
    """Whether the interval of a correlation holds the truth, where embeddings belong to groups or to none."""
    size = len(y)
    same = np.eye(size) if band is None else (band[:, None] == band).astype(float)
    shares = [0.0] if band is None else GROUP_SHARES
    residuals = [(1 - part) * np.eye(size) + part * same for part in shares]
    found = latent_relation(y, covariance, x, np.zeros(size), residuals, WIDTH, 1000, rng)
    return inside(found.correlation, truth)


def relations(replicates=200):
    """Write coverage of the correlation with an outside variable of groups, and where errors have few dimensions."""
    rng, rows = np.random.default_rng(0), []
    for (groups, members), own in product(((4, 6), (6, 4), (8, 3), (5, 5)), (0.3, 1.0)):
        band = np.repeat(np.arange(groups), members)
        for _ in range(replicates):
            # the variable is one of groups; contrasts are alike within them, and have nothing to do with it
            x, theta = (rng.normal(0, 1, groups)[band] + rng.normal(0, sd, len(band)) for sd in (0.1, own))
            y = 0.03 * theta + rng.multivariate_normal(np.zeros(len(band)), errors(len(band), 0.9))
            for used, of in (("none", None), ("given", band)):
                held = related(y, errors(len(band), 0.9), x, of, 0.0, rng)
                rows.append((f"{groups} groups of {members}, sd within them {own:g}", used, 0.0, held))
    for size, dimensions, rho in product((20, 60), (5, 20), (0.0, 0.7)):
        for _ in range(replicates):
            root = (rng.normal(0, ERROR, (size, dimensions)) + 0.02) / np.sqrt(dimensions)
            x = rng.standard_normal(size)
            theta = 0.03 * (rho * x + np.sqrt(1 - rho**2) * rng.standard_normal(size))
            held = related(theta + root @ rng.standard_normal(dimensions), root @ root.T, x, None, rho, rng)
            rows.append((f"{size} embeddings, errors of {dimensions} dimensions", "none", rho, held))
    columns = ["embeddings", "groups", "correlation", "coverage"]
    table = pd.DataFrame(rows, columns=columns).groupby(columns[:3], sort=False)["coverage"].mean()
    keep(table.reset_index().assign(replicates=replicates), "second_stage/relations")


def group_means(replicates=200):
    """Write coverage of the relation between means of few groups and an outside variable of groups."""
    rng, rows = np.random.default_rng(0), []
    for (groups, members), own in product(((3, 8), (4, 6), (5, 5), (6, 4)), (0.3, 1.0)):
        means = np.repeat(np.eye(groups), members, axis=1) / members
        covariance = means @ errors(groups * members, 0.9) @ means.T
        for _ in range(replicates):
            x, theta = (rng.normal(0, sd, groups * members) for sd in (0.1, own))
            x, theta = (means @ side + rng.normal(0, 1, groups) for side in (x, theta))
            y = 0.03 * theta + rng.multivariate_normal(np.zeros(groups), covariance)
            rows.append((groups, members, own, related(y, covariance, x, None, 0.0, rng)))
    columns = ["groups", "members", "sd_within", "coverage"]
    table = pd.DataFrame(rows, columns=columns).groupby(columns[:3], sort=False)["coverage"].mean()
    keep(table.reset_index().assign(replicates=replicates), "second_stage/relations_of_means")


SMALL = 0.01
"""Standard deviation of errors that are smaller than the differences between embeddings, .03."""
COPIES = {"exact": (0.0, 1.0), "near": (0.001, 0.995)}
"""Standard deviation of copies around what they are of, and the correlation of their errors with its errors."""


def copies(replicates=500):
    """Write how often the population mean is held where three copies of the first of six embeddings come too."""
    rng, rows = np.random.default_rng(0), []
    source = np.array([*range(6), 0, 0, 0])
    # the correlation of errors within an embedding and its copies, and between others
    for kind, (apart, near) in COPIES.items():
        same = np.equal(source[:, None], source)
        covariance = SMALL**2 * np.where(np.eye(9) > 0, 1.0, np.where(same, near, 0.5))
        first, every = np.arange(6), np.arange(9)
        layouts = {
            "copies left out": (first, _Layout(first, None, False, np.full(6, 1 / 6))),
            "counted as further embeddings": (every, _Layout(every, None, False, np.full(9, 1 / 9))),
        }
        if kind == "near":
            counts = 1 / (6 * np.bincount(source)[source])
            layouts["named as replicates"] = (every, _Layout(source, None, True, counts))
        for _ in range(replicates):
            theta = (MEAN + 0.03 * rng.standard_normal(6))[source]
            theta[6:] += apart * rng.standard_normal(3)
            y = rng.multivariate_normal(theta, covariance, method="eigh")
            for how, (taken, layout) in layouts.items():
                drawn = layout.drawn(y[taken], covariance[np.ix_(taken, taken)], WIDTH, 1000, rng)
                rows.append((kind, how, inside(drawn.coefficients[:, 0], MEAN)))
    table = pd.DataFrame(rows, columns=["copies", "how", "population mean"])
    table = table.groupby(["copies", "how"], sort=False)["population mean"].mean().reset_index()
    keep(table.assign(replicates=replicates), "second_stage/pools_copies")


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for study in (main, real, relations, group_means, copies):
        if len(sys.argv) < 3 or study.__name__ == sys.argv[2]:
            study(count)
