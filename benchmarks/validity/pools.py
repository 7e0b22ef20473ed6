"""Pools of embeddings and relations of contrasts to outside values: what intervals hold, and errors of means.

- ``pools``: contrasts of embeddings are drawn around a mean, estimates around them with one covariance, and pooled with
  that or another one;
- ``pools_of_topics``: contrasts of random topics, which are none, in GloVe and Google News and in copies with noise;
- ``relations``, ``relations_of_means``: the correlation with an outside variable of groups, where errors have few
  dimensions, and between means of few groups;
- ``pools_copies``: three copies of the first of six embeddings;
- ``corpora``: embeddings of toy corpora with a planted association. A world has themes and clusters of words; the
  clusters of either class share contexts with the protected words of one group. Pairs of words of four corpora of
  unequal size are drawn from it and factorised (PPMI and SVD, Levy and Goldberg 2014). A list is a cluster of either
  class; the truth is the mean contrast of all clusters, over the four embeddings;
- ``shared_concepts``: languages whose errors are those of the same concepts, taken for that or for independent, with
  the covariance of 25 languages of Lewis and Lupyan (2020) (``--files languages=FOLDER``).
"""

from itertools import product

import numpy as np
from gensim.models import KeyedVectors
from scipy.sparse.linalg import eigsh

import bayesbias as bb
from benchmarks.inside import (
    GROUP_SHARES,
    POOL_WIDTH,
    WEIGHTS,
    Layout,
    latent_relation,
    second_stage,
    unit_rows,
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
TOPICS, CLUSTERS, CLASS, SIZE, HELD = 60, 120, 30, 10, 8
"""Topics of contexts, clusters of words, clusters of a class, words of a cluster, and protected words of a group."""
PAIRS = (1e6, 2e6, 4e6, 8e6)
"""Pairs of words of each corpus."""
DIMENSIONS, STRENGTH, STRENGTH_SDS = 50, 0.15, (0.0, 0.05)
GROUPS = ("g", "h")
CLUSTER_WORDS = [[f"w{cluster}x{number}" for number in range(SIZE)] for cluster in range(CLUSTERS)]
PROTECTED = {group: [f"{group}{number}" for number in range(HELD)] for group in GROUPS}
WORDS = [word for part in (*CLUSTER_WORDS, *PROTECTED.values()) for word in part]


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


def noisy(kv, size, rng):
    """A copy with noise of that length in every unit vector."""
    unit, copy = unit_rows(kv.vectors), KeyedVectors(kv.vector_size)
    noise = rng.standard_normal(unit.shape) * size / np.sqrt(unit.shape[1])
    copy.add_vectors(kv.index_to_key, (unit + noise).astype(np.float32))
    return copy


def topics(units, names, count, size, taken, rng):
    """Random topics: words nearest to a random one, no word twice."""
    taken, found = set(taken), []
    for _ in range(count):
        order = np.argsort(-(units @ units[rng.integers(len(names))]))
        found.append([names[at] for at in order if names[at] not in taken][:size])
        taken |= set(found[-1])
    return found


def judged(pool, truth, truths):
    """What a pool's intervals hold of the mean and of the embeddings, and whether its mean is outside all estimates."""
    y, mean = pool.estimates.mean, pool.draws("mean").mean()
    held = {"given mean": holds(pool.draws("mean"), truth), "single": holds(pool.draws("theta"), truths).mean()}
    return held, mean, not y.min() - 1e-9 <= mean <= y.max() + 1e-9


def pools_of_topics(cell):
    rng = np.random.default_rng(0)
    glove, google = (bb.load_embedding(name) for name in ("glove-50d-slice", "google-news-slice"))
    names = [name for name in google.index_to_key if name in glove and name.islower()]
    units = np.concatenate([unit_rows(kv[names]) for kv in (glove, google)], axis=1)
    protected = {group: list(words)[:7] for group, words in bb.load_words("gender").protected.items()}
    both = {"glove": glove, "google": google}
    copies = {f"{name} {size}": noisy(kv, size, rng) for name, kv in both.items() for size in (0.3, 0.8)}
    sets = {"GloVe and Google": both, "the same and two noisy copies of each": both | copies}
    held = [word for words in protected.values() for word in words]
    for _ in range(cell.replicates):
        drawn = topics(units, names, len(protected), 10, held, rng)
        lists = bb.WordLists("topics", protected, dict(zip(protected, drawn, strict=True)), {})
        tables = bb.distance_tables(both | copies, lists)
        for (what, embeddings), weights in product(sets.items(), WEIGHTS):
            chosen = {name: tables[name] for name in embeddings}
            pool = bb.pool(chosen, CONTRAST, weights=weights, draws=2000)
            inside, mean, outside = judged(pool, 0.0, 0.0)
            row = {"errors": what, "embeddings": len(embeddings), "weights": weights, **inside}
            row["population mean"] = holds(pool.draws("population_mean"), 0.0)
            yield row | {"rmse of the mean": mean, "mean outside": outside}


def related(y, covariance, x, band, truth, rng):
    """Whether the interval of a correlation holds the truth, where embeddings belong to groups or to none."""
    size = len(y)
    same = np.eye(size) if band is None else (band[:, None] == band).astype(float)
    shares = [0.0] if band is None else GROUP_SHARES
    residuals = [(1 - part) * np.eye(size) + part * same for part in shares]
    found = latent_relation(y, covariance, x, np.zeros(size), residuals, POOL_WIDTH, 1000, rng)
    return holds(found.correlation, truth)


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


def relations_of_means(cell):
    rng = np.random.default_rng(0)
    for (groups, members), own, _ in product(((3, 8), (4, 6), (5, 5), (6, 4)), (0.3, 1.0), range(cell.replicates)):
        means = np.repeat(np.eye(groups), members, axis=1) / members
        covariance = means @ errors(groups * members, 0.9) @ means.T
        x, theta = (rng.normal(0, sd, groups * members) for sd in (0.1, own))
        x, theta = (means @ side + rng.normal(0, 1, groups) for side in (x, theta))
        y = 0.03 * theta + rng.multivariate_normal(np.zeros(groups), covariance)
        held = related(y, covariance, x, None, 0.0, rng)
        yield {"groups": groups, "members": members, "sd_within": own, "coverage": held}


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


class World:
    """Contexts of words without an association, the theme of each group, and log frequencies."""

    def __init__(self, rng):
        def sparse(count):
            return rng.dirichlet(np.full(TOPICS, 0.15), count)

        self.themes = sparse(len(GROUPS))
        clusters = 0.7 * np.repeat(sparse(CLUSTERS), SIZE, axis=0) + 0.3 * sparse(CLUSTERS * SIZE)
        protected = 0.4 * sparse(HELD * len(GROUPS)) + 0.3 * sparse(1) + 0.3 * np.repeat(self.themes, HELD, axis=0)
        self.contexts = np.concatenate([clusters, protected])
        self.frequency = np.exp(rng.normal(0, 0.7, len(WORDS)))

    def embedding(self, strength, pairs, rng):
        """The embedding of a corpus in which the words of a class have that share of a group's contexts."""
        contexts = self.contexts.copy()
        for number, theme in enumerate(self.themes):
            own = slice(number * CLASS * SIZE, (number + 1) * CLASS * SIZE)
            contexts[own] = (1 - strength) * contexts[own] + strength * theme
        joint = self.frequency[:, None] * contexts
        joint /= joint.sum()
        counts = rng.poisson(pairs * (joint / joint.sum(axis=0)) @ joint.T)
        counts = np.triu(counts) + np.triu(counts, 1).T
        sums = counts.sum(axis=1)
        with np.errstate(divide="ignore"):
            information = np.maximum(np.log(counts * (sums.sum() / np.outer(sums, sums))), 0)
        values, basis = eigsh(information, DIMENSIONS, v0=np.ones(len(WORDS)))
        kv = KeyedVectors(DIMENSIONS)
        kv.add_vectors(WORDS, (basis * np.sqrt(np.maximum(values, 0))).astype(np.float32))
        return kv


def true_contrast(kv):
    """The mean contrast of the clusters of both classes."""
    units = unit_rows(kv.vectors)
    classes = [units[number * CLASS * SIZE :][: CLASS * SIZE].mean(axis=0) for number in range(len(GROUPS))]
    groups = [units[[kv.key_to_index[word] for word in words]].mean(axis=0) for words in PROTECTED.values()]
    return -(groups[0] - groups[1]) @ (classes[0] - classes[1]) / 2


def corpora(cell):
    rng = np.random.default_rng(0)
    for _, spread in product(range(cell.replicates), STRENGTH_SDS):
        world = World(rng)
        strengths = np.maximum(STRENGTH + spread * rng.standard_normal(len(PAIRS)), 0)
        each = zip(strengths, PAIRS, strict=True)
        embeddings = {f"{pairs:g}": world.embedding(strength, pairs, rng) for strength, pairs in each}
        drawn = [CLUSTER_WORDS[number * CLASS + rng.integers(CLASS)] for number in range(len(GROUPS))]
        tables = bb.distance_tables(embeddings, bb.WordLists("toy", PROTECTED, dict(zip(GROUPS, drawn, strict=True))))
        truths = np.array([true_contrast(kv) for kv in embeddings.values()])
        for weights in WEIGHTS:
            pool = bb.pool(tables, CONTRAST, weights=weights, draws=2000)
            inside, mean, outside = judged(pool, truths.mean(), truths)
            error, plain = mean - truths.mean(), pool.estimates.mean.mean() - truths.mean()
            row = {
                "strength_sd": spread,
                "weights": weights,
                "truth": truths.mean(),
                "sd of truths": truths.std(ddof=1),
            }
            row |= inside | {"error of the mean": error, "sd of the mean": pool.draws("mean").std()}
            row |= {"error of the plain mean": plain, "mean outside": outside}
            yield row | {"rms error of the mean": error, "rms error of the plain mean": plain}


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
            stage = second_stage(y, covariance, np.ones((n, 1)), [], [POOL_WIDTH], np.full((1, n), 1 / n))
            found = stage.draw(2000, rng)
            held = [("mean", holds(found.coefficients[:, 0], -0.03))]
            each = found.coefficients + found.effects[0]
            for a, b in ((0, 1), (2, 3), (4, 5)):
                held.append(("difference", holds(each[:, a] - each[:, b], theta[a] - theta[b])))
            if replicate < cell.replicates // 5:
                one = latent_relation(y, covariance, x, np.zeros(n), [np.eye(n)], POOL_WIDTH, 2000, rng)
                held.append(("correlation", holds(one.correlation, 0.0)))
            for what, value in held:
                labels = {"between_sd": round(tau, 4), "errors": used, "interval of": what}
                yield labels | {"coverage": value}


RELATED, SHARED_BY = ("embeddings", "groups", "correlation"), ("between_sd", "errors", "interval of")
DESIGNS = (
    Design("second_stage/pools", [{}], pools, 200, by=("errors", "embeddings", "between_sd", "weights")),
    Design("second_stage/pools_of_topics", [{}], pools_of_topics, 200, by=("errors", "embeddings", "weights")),
    Design("second_stage/relations", [{}], relations, 200, by=RELATED),
    Design("second_stage/relations_of_means", [{}], relations_of_means, 200, by=("groups", "members", "sd_within")),
    Design("second_stage/pools_copies", [{}], pools_copies, 500, by=("copies", "how")),
    Design("second_stage/corpora", [{}], corpora, 200, by=("strength_sd", "weights")),
    Design("second_stage/shared_concepts", [{}], shared_concepts, 1000, 3, SHARED_BY, {"count": "intervals"}),
)

if __name__ == "__main__":
    main(*DESIGNS)
