"""Coverage and false trends of ``trend``: ten periods of an embedding with noise of training and a planted change.

Each period is the Google News slice with noise of its own in every vector; what is planted moves the protected words of
the gender list towards the mean of their stereotypes. The truth of a change is that of the vectors without noise, for
the words at hand, times the share of cosines that the noise leaves.
"""

import sys

import numpy as np
import pandas as pd
from gensim.models import KeyedVectors

import bayesbias as bb
from benchmarks.common import keep

NOISE, MOVED = 0.5, 0.01
PERIODS = 10
PLANTED = {
    "none": np.zeros(PERIODS),
    "linear": MOVED * np.arange(PERIODS),
    "step": MOVED * PERIODS / 2 * (np.arange(PERIODS) >= PERIODS / 2),
}
FALSE = ("associated", "different")


def unit(vectors):
    """Vectors of length 1."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def period(words, vectors, lists, place, moved, noise):
    """The embedding of a period."""
    own = vectors.copy()
    for group, held in lists.protected.items():
        rows = [place[word] for word in held if word in place]
        stereotype = unit(vectors[[place[word] for word in lists.stereotypes[group] if word in place]]).mean(axis=0)
        own[rows] = unit(own[rows]) + moved * stereotype
    kv = KeyedVectors(vectors.shape[1])
    kv.add_vectors(words, (unit(own) + noise).astype(np.float32))
    return kv


def main(replicates=60):
    """Write coverage of the change from the first to the last period, and how often none is called one."""
    slice_, lists, rng = bb.load_embedding("google-news-slice"), bb.load_words("gender"), np.random.default_rng(0)
    words, vectors = slice_.index_to_key, unit(slice_.vectors.astype(float))
    place, rows = slice_.key_to_index, []
    time = {f"p{at}": at for at in range(PERIODS)}
    for planted, moved in PLANTED.items():
        ends = [bb.distance_table(period(words, vectors, lists, place, m, 0.0), lists) for m in (moved[0], moved[-1])]
        level = [
            table.pivot_table(index="protected_word", columns="connection", values="distance")[list(FALSE)].mean()
            for table in ends
        ]
        # noise of that size in both words of a pair makes every cosine smaller by this factor
        truth = ((level[1] - level[0])[FALSE[0]] - (level[1] - level[0])[FALSE[1]]) / (1 + NOISE**2)
        found = {kind: [] for kind in ("linear", "walk")}
        for _ in range(replicates):
            noise = NOISE * rng.standard_normal((PERIODS, *vectors.shape)) / np.sqrt(vectors.shape[1])
            tables = {
                name: bb.distance_table(period(words, vectors, lists, place, moved[at], noise[at]), lists)
                for name, at in time.items()
            }
            for kind in found:
                trend = bb.trend(tables, time, FALSE, kind=kind, draws=2000)
                found[kind].append(trend.change("p0", f"p{PERIODS - 1}"))
        for kind, changes in found.items():
            table = pd.DataFrame(changes)
            rows.append(
                {
                    "planted": planted,
                    "kind": kind,
                    "replicates": replicates,
                    "truth": truth,
                    "mean": table["mean"].mean(),
                    "sd_of_means": table["mean"].std(),
                    "mean_sd": table["sd"].mean(),
                    "coverage": ((table["low"] < truth) & (truth < table["high"])).mean(),
                    "called": ((table["low"] > 0) | (table["high"] < 0)).mean(),
                }
            )
        print(pd.DataFrame(rows).round(4).to_string(), flush=True)
    keep(pd.DataFrame(rows).round(5), "second_stage/trends")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
