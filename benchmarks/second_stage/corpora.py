"""Pools of embeddings of toy corpora: coverage of a planted association and error of its mean, by weights.

``python -m benchmarks.second_stage.corpora [REPLICATES]``. A world has themes and clusters of words; the clusters of
either class share contexts with the protected words of one group. Pairs of words of four corpora of unequal size are
drawn from it, in which the association is equally strong or not, and factorised (PPMI and SVD, Levy and Goldberg 2014).
A list is a cluster of either class. The truth is the mean contrast of all clusters, over the four embeddings.
"""

import sys

import numpy as np
import pandas as pd
from gensim.models import KeyedVectors
from scipy.sparse.linalg import eigsh

import bayesbias as bb
from bayesbias.second_stage.estimates import WEIGHTS
from benchmarks.common import keep
from benchmarks.second_stage.pools import CONTRAST, inside

TOPICS, CLUSTERS, CLASS, SIZE, HELD = 60, 120, 30, 10, 8
"""Topics of contexts, clusters of words, clusters of a class, words of a cluster, and protected words of a group."""
PAIRS = (1e6, 2e6, 4e6, 8e6)
"""Pairs of words of each corpus."""
DIMENSIONS, STRENGTH = 50, 0.15
SPREADS = (0.0, 0.05)
"""Standard deviations of the strength between corpora."""
GROUPS = ("g", "h")
CLUSTER_WORDS = [[f"w{cluster}x{number}" for number in range(SIZE)] for cluster in range(CLUSTERS)]
PROTECTED = {group: [f"{group}{number}" for number in range(HELD)] for group in GROUPS}
WORDS = [word for part in (*CLUSTER_WORDS, *PROTECTED.values()) for word in part]


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
        topics = joint.sum(axis=0)
        counts = rng.poisson(pairs * (joint / topics) @ joint.T)
        counts = np.triu(counts) + np.triu(counts, 1).T
        sums = counts.sum(axis=1)
        with np.errstate(divide="ignore"):
            information = np.maximum(np.log(counts * (sums.sum() / np.outer(sums, sums))), 0)
        values, basis = eigsh(information, DIMENSIONS, v0=np.ones(len(WORDS)))
        kv = KeyedVectors(DIMENSIONS)
        kv.add_vectors(WORDS, (basis * np.sqrt(np.maximum(values, 0))).astype(np.float32))
        return kv


def truth(kv):
    """The mean contrast of the clusters of both classes."""
    units = kv.vectors / np.linalg.norm(kv.vectors, axis=1, keepdims=True)
    classes = [units[number * CLASS * SIZE :][: CLASS * SIZE].mean(axis=0) for number in range(len(GROUPS))]
    groups = [units[[kv.key_to_index[word] for word in words]].mean(axis=0) for words in PROTECTED.values()]
    return -(groups[0] - groups[1]) @ (classes[0] - classes[1]) / 2


def replicate(spread, rng):
    """One row for each way to weigh."""
    world = World(rng)
    strengths = np.maximum(STRENGTH + spread * rng.standard_normal(len(PAIRS)), 0)
    embeddings = {
        f"{pairs:g}": world.embedding(strength, pairs, rng) for strength, pairs in zip(strengths, PAIRS, strict=True)
    }
    drawn = [CLUSTER_WORDS[number * CLASS + rng.integers(CLASS)] for number in range(len(GROUPS))]
    lists = bb.WordLists("toy", PROTECTED, dict(zip(GROUPS, drawn, strict=True)))
    tables = bb.distance_tables(embeddings, lists)
    truths = np.array([truth(kv) for kv in embeddings.values()])
    for weights in WEIGHTS:
        pool = bb.pool(tables, CONTRAST, stages=bb.checks.TwoStage(weights=weights, draws=2000))
        y, mean = pool.estimates.mean, pool.draws("mean").mean()
        yield {
            "strength_sd": spread,
            "weights": weights,
            "truth": truths.mean(),
            "sd of truths": truths.std(ddof=1),
            "given mean": inside(pool.draws("mean"), truths.mean()),
            "single": inside(pool.draws("theta"), truths).mean(),
            "error of the mean": mean - truths.mean(),
            "sd of the mean": pool.draws("mean").std(),
            "error of the plain mean": y.mean() - truths.mean(),
            "mean outside": not y.min() - 1e-9 <= mean <= y.max() + 1e-9,
        }


def main(replicates=200):
    """Write what intervals hold, and root mean squared errors."""
    rng, rows = np.random.default_rng(0), []
    for number in range(replicates):
        rows += [row for spread in SPREADS for row in replicate(spread, rng)]
        if number % 20 == 19 or number == replicates - 1:
            grouped = pd.DataFrame(rows).groupby(["strength_sd", "weights"], sort=False)
            table = grouped.mean()
            for name in ("error of the mean", "error of the plain mean"):
                table[f"rms {name}"] = np.sqrt(grouped[name].agg(lambda errors: np.mean(errors**2)))
            keep(table.assign(replicates=grouped.size()).reset_index().round(4), "second_stage/corpora")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
