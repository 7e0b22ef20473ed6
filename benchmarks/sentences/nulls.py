"""False positives on real encodings: pseudo-stereotypes from common words, in sentence frames, for gender's words.

Each replicate draws two lists of 12 words (random ones, or words of one topic) as stereotypes of the two groups, and 40
others as neutral list, from the vocabulary; no contrast is one of bias. Intervals of several methods that leave out 0
are counted: 11% is nominal.
"""

import sys
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.distances.dataframe import averaged
from benchmarks.common import keep
from benchmarks.minilm import MiniLM
from benchmarks.sentences.vectors import KINDS, drawn_from, encoded

WORDS, NEUTRAL = 12, 40
CONTRASTS = ("different", "neutral")
METHODS = {
    "frames as random effect": lambda table: (table, "related"),
    "average over frames": lambda table: (averaged(table), "related"),
    "average, words unrelated": lambda table: (averaged(table), "crossed"),
    "sentences as words": lambda table: (sentences_as_words(table), "crossed"),
}
COUNTS, SUBSETS = (1, 4, 8, 16), 5
"""Numbers of frames, and random choices of so many."""


def sentences_as_words(table):
    """Every attribute word in every frame as a word of its own."""
    words = table["attribute_word"] + " " + table["template"]
    found = table.assign(attribute_word=words).drop(columns="template")
    found.attrs = {}
    return found


def base_table(vectors, words, pool, frames):
    """Distances of the protected words to the pool in some frames; all other words show how words are related."""
    lists = bb.WordLists("null", words.protected, {}, {"neutral": pool})
    return bb.distance_table(vectors.frames_like(frames), lists)


def relabelled(table, stereotypes, neutral):
    """The rows of the drawn words, under the connections that they have as pseudo-lists."""
    owner = {word: group for group, words in stereotypes.items() for word in words}
    kept = table[table["attribute_word"].isin([*owner, *neutral])].copy()
    kept.attrs = dict(table.attrs)
    own = kept["attribute_word"].map(owner)
    kept["attribute_class"] = own.fillna("neutral").astype(str)
    same = (own == kept["group"]).to_numpy()
    kept["connection"] = np.where(own.isna(), "neutral", np.where(same, "associated", "different"))
    return kept.astype({"connection": "str"})


def drawn(rng, pool, similar, topical, groups):
    """Stereotypes of each group and neutral words."""
    left, found = list(range(len(pool))), {}
    for group in groups:
        seed = rng.choice(left)
        near = sorted(left, key=lambda at: -similar[seed, at])[:WORDS]
        chosen = near if topical else rng.choice(left, WORDS, replace=False).tolist()
        found[group] = [pool[at] for at in chosen]
        left = [at for at in left if at not in set(chosen)]
    return found, [pool[at] for at in rng.choice(left, NEUTRAL, replace=False)]


def main(folder, replicates=100):
    """Write the share of intervals without 0 for each method, number of frames, kind of vector and of list."""
    words, rows, encoder = bb.load_words("gender"), [], MiniLM()
    for kind in KINDS:
        vectors = encoded("gender", kind, folder, encoder).whole()
        pool, similar = drawn_from(vectors)
        for count in COUNTS:
            rng = np.random.default_rng(count)
            calls = {key: [] for key in product(("random", "topical"), METHODS, CONTRASTS)}
            for _ in range(SUBSETS if count < len(vectors) else 1):
                frames = rng.choice(vectors.frames, count, replace=False)
                table = base_table(vectors, words, pool, frames)
                for lists in ("random", "topical"):
                    for replicate in range(replicates // (SUBSETS if count < len(vectors) else 1)):
                        chosen = drawn(rng, pool, similar, lists == "topical", words.protected)
                        one = relabelled(table, *chosen)
                        for method, make in METHODS.items():
                            given, model = make(one)
                            post = bb.fit(given, model, draws=1000, seed=replicate)
                            for other in CONTRASTS:
                                row = bb.contrasts(post, "associated", other).iloc[0]
                                calls[lists, method, other].append(row["low"] > 0 or row["high"] < 0)
            rows += [(kind, count, *key, np.mean(value), len(value)) for key, value in calls.items()]
            print(pd.DataFrame(rows[-len(calls) :]).to_string(header=False), flush=True)
    columns = ["vectors", "frames", "lists", "method", "contrast", "false_positives", "replicates"]
    keep(pd.DataFrame(rows, columns=columns).round(3), "sentences/nulls")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:3]))
