"""Pools of embeddings and relations of contrasts to outside values: what intervals hold, and errors of means.

- ``pools``: contrasts of embeddings are drawn around a mean, estimates around them with one covariance, and pooled with
  that or another one;
- ``relations``: the correlation with an outside variable of groups, and where errors have few dimensions;
- ``pools_copies``: three copies of the first of six embeddings;
- ``shared_concepts``: languages whose errors are those of the same concepts, taken for that or for independent, with
  the covariance of 25 languages of Lewis and Lupyan (2020) (``--files languages=FOLDER``).
"""

from itertools import product

import numpy as np

import bayesbias as bb
from benchmarks.inside import (
    GROUP_SHARES,
    POOL_WIDTH,
    WEIGHTS,
    Layout,
    latent_relation,
    second_stage,
)
from benchmarks.study import SHARED, Design, holds, main, root_mean_square
from benchmarks.validity.languages import attitudes, languages, table_of

MEAN, ERROR = -0.05, 0.03
"""Mean of contrasts, and sd of their errors."""
SIZES, SPREADS = (3, 6, 12), (0.0, 0.02)
"""Numbers of embeddings, and standard deviations between them."""
CONTRAST = ("associated", "different")
CASES = {
    # name: true, taken (correlation, ratio of the last to the first sd)
    "exact, .9": ((0.9,), (0.9,)),
    "exact, .95, errors 1 : 2.5": ((0.95, 2.5), (0.95, 2.5)),
    ".98 taken for .9": ((0.98,), (0.9,)),
    ".9 taken for .98": ((0.9,), (0.98,)),
    "equal errors taken for 1 : 2.5, .95": ((0.95,), (0.95, 2.5)),
    "errors 1 : 2.5 taken for equal, .95": ((0.95, 2.5), (0.95,)),
}
COPIES = {"exact": (0.0, 1.0), "near": (0.001, 0.995)}
"""Standard deviation of copies around what they are of, and the correlation of their errors with its errors."""


def errors(size, correlation, ratio=1.0):
    """Covariance of errors whose standard deviations go up to a ratio of the first."""
    sd = ERROR * np.linspace(1.0, ratio, size) / np.sqrt(ratio)
    return np.outer(sd, sd) * (correlation + (1 - correlation) * np.eye(size))


def pooled(size, spread, true, taken, rng):
    """One row for each way to weigh."""
    theta = MEAN + spread * rng.standard_normal(size)
    y, covariance = rng.multivariate_normal(theta, errors(size, *true)), errors(size, *taken)
    own = np.arange(size)
    for weights in WEIGHTS:
        given = np.full(size, 1 / size) if weights == "equal" else None
        drawn = Layout(own, None, False, given).drawn(y, covariance, POOL_WIDTH, 1000, rng)
        each = drawn.coefficients + drawn.effects.sum(axis=0)
        mean = each.mean()
        yield {
            "weights": weights,
            "given mean": holds(each.mean(axis=1), theta.mean()),
            "population mean": holds(drawn.coefficients[:, 0], MEAN),
            "single": holds(each, theta).mean(),
            "rmse of the mean": mean - theta.mean(),
            "rmse of deviations": root_mean_square(each.mean(axis=0) - mean - theta + theta.mean()),
            "mean outside": not y.min() <= mean <= y.max(),
        }


def pools(cell):
    rng = np.random.default_rng(0)
    settings = product(CASES.items(), SIZES, SPREADS, range(cell.replicates))
    for (case, (true, taken)), size, spread, _ in settings:
        for row in pooled(size, spread, true, taken, rng):
            yield {"errors": case, "embeddings": size, "between_sd": spread, **row}


def related(y, covariance, x, band, truth, rng):
    """Whether the interval of a correlation holds the truth, where embeddings belong to groups or to none."""
    size = len(y)
    same = np.eye(size) if band is None else (band[:, None] == band).astype(float)
    shares = [0.0] if band is None else GROUP_SHARES
    residuals = [(1 - part) * np.eye(size) + part * same for part in shares]
    found = latent_relation(y, covariance, x, np.zeros(size), residuals, POOL_WIDTH, 1000, rng)
    return holds(found["correlation"], truth)


def relations(cell):
    rng = np.random.default_rng(0)
    for (groups, members), own, _ in product(((4, 6), (6, 4), (8, 3), (5, 5)), (0.3, 1.0), range(cell.replicates)):
        band, name = np.repeat(np.arange(groups), members), f"{groups} groups of {members}, sd within them {own:g}"
        # the variable is one of groups; contrasts are alike within them, and have nothing to do with it
        x, theta = (rng.normal(0, 1, groups)[band] + rng.normal(0, sd, len(band)) for sd in (0.1, own))
        y = 0.03 * theta + rng.multivariate_normal(np.zeros(len(band)), errors(len(band), 0.9))
        for used, of in (("none", None), ("given", band)):
            held = related(y, errors(len(band), 0.9), x, of, 0.0, rng)
            yield {"embeddings": name, "groups": used, "correlation": 0.0, "coverage": held}
    for size, dimensions, rho, _ in product((20, 60), (5, 20), (0.0, 0.7), range(cell.replicates)):
        name = f"{size} embeddings, errors of {dimensions} dimensions"
        root = (rng.normal(0, ERROR, (size, dimensions)) + 0.02) / np.sqrt(dimensions)
        x = rng.standard_normal(size)
        theta = 0.03 * (rho * x + np.sqrt(1 - rho**2) * rng.standard_normal(size))
        held = related(theta + root @ rng.standard_normal(dimensions), root @ root.T, x, None, rho, rng)
        yield {"embeddings": name, "groups": "none", "correlation": rho, "coverage": held}


def pools_copies(cell):
    rng = np.random.default_rng(0)
    source, first, every = np.array([*range(6), 0, 0, 0]), np.arange(6), np.arange(9)
    # the correlation of errors within an embedding and its copies, and between others
    for kind, (apart, near) in COPIES.items():
        same = np.equal(source[:, None], source)
        covariance = 0.01**2 * np.where(np.eye(9) > 0, 1.0, np.where(same, near, 0.5))
        layouts = {
            "copies left out": (first, Layout(first, None, False, np.full(6, 1 / 6))),
            "counted as further embeddings": (every, Layout(every, None, False, np.full(9, 1 / 9))),
        }
        if kind == "near":
            counts = 1 / (6 * np.bincount(source)[source])
            layouts["named as replicates"] = (every, Layout(source, None, True, counts))
        for _ in range(cell.replicates):
            theta = (MEAN + 0.03 * rng.standard_normal(6))[source]
            theta[6:] += apart * rng.standard_normal(3)
            y = rng.multivariate_normal(theta, covariance, method="eigh")
            for how, (taken, layout) in layouts.items():
                drawn = layout.drawn(y[taken], covariance[np.ix_(taken, taken)], POOL_WIDTH, 1000, rng)
                yield {"copies": kind, "how": how, "population mean": holds(drawn.coefficients[:, 0], MEAN)}


def shared_concepts(cell):
    folder = cell.options.files.get("languages", SHARED / "languages")
    outside = attitudes(folder)
    tables = {
        name: table_of(vectors) for name, vectors in languages(folder, "wikipedia").items() if name in outside.index
    }
    pool = bb.pool(tables, CONTRAST)
    shared, n = pool.estimates.covariance.to_numpy(), len(tables)
    rng = np.random.default_rng(0)
    for tau, replicate in product((0.0, float(np.median(pool.draws("between_sd")))), range(cell.replicates)):
        theta = -0.03 + tau * rng.standard_normal(n)
        y, x = rng.multivariate_normal(theta, shared), rng.standard_normal(n)
        for used, covariance in (("joint", shared), ("independent", np.diag(np.diag(shared)))):
            equal = np.full((1, n), 1 / n)
            found = second_stage(y, covariance, np.ones((n, 1)), [], [POOL_WIDTH], 2000, rng, equal)
            held = [("mean", holds(found.coefficients[:, 0], -0.03))]
            each = found.coefficients + found.effects[0]
            for a, b in ((0, 1), (2, 3), (4, 5)):
                held.append(("difference", holds(each[:, a] - each[:, b], theta[a] - theta[b])))
            if replicate < cell.replicates // 5:
                one = latent_relation(y, covariance, x, np.zeros(n), [np.eye(n)], POOL_WIDTH, 2000, rng)
                held.append(("correlation", holds(one["correlation"], 0.0)))
            for what, value in held:
                labels = {"between_sd": round(tau, 4), "errors": used, "interval of": what}
                yield labels | {"coverage": value}


RELATED, SHARED_BY = ("embeddings", "groups", "correlation"), ("between_sd", "errors", "interval of")
DESIGNS = (
    Design("second_stage/pools", [{}], pools, 200, by=("errors", "embeddings", "between_sd", "weights")),
    Design("second_stage/relations", [{}], relations, 200, by=RELATED),
    Design("second_stage/pools_copies", [{}], pools_copies, 500, by=("copies", "how")),
    Design("second_stage/shared_concepts", [{}], shared_concepts, 1000, 3, SHARED_BY, {"count": "intervals"}),
)

if __name__ == "__main__":
    main(*DESIGNS)
