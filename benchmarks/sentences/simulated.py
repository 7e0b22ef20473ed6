"""False positives where frames shift contrasts: simulated tables with the variance components of MiniLM's vectors.

Shares of the variance of distances are those of gender's words in sentence vectors (pooled) and word vectors (token).
No contrast differs from 0 over frames, and each frame moves every connection for itself.
"""

import sys

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.distances.dataframe import averaged
from benchmarks.common import keep

TOTAL = {"sentence": 0.0164, "word": 0.0053}
SHARES = {
    "sentence": {
        "frame": 44,
        "connection": 1.6,
        "attribute": 19,
        "group": 1,
        "pair": 8,
        "in frame": 10,
        "of": 7,
        "rest": 4,
    },
    "word": {"frame": 2, "connection": 1, "attribute": 22, "group": 13, "pair": 48, "in frame": 4, "of": 1, "rest": 6},
}
"""Variance of frame, frame x connection, attribute word, attribute word x group, pair, frame x attribute word, frame x
protected word, and what is left, in percent."""
GROUPS, WORDS = ("g", "h"), {"g": 12, "h": 13, "neutral": 60}
CONTRASTS = ("different", "neutral")


def simulated(rng, kind, frames, protected=7):
    """A table of two groups of protected words, their stereotypes and neutral words, in some frames."""
    sd = {name: np.sqrt(TOTAL[kind] * share / 100) for name, share in SHARES[kind].items()}
    people = [f"{group}{at}" for group in GROUPS for at in range(protected)]
    step = sd["frame"] * rng.standard_normal(frames)
    moved = {name: sd["connection"] * rng.standard_normal(frames) for name in ("associated", *CONTRASTS)}
    of_word = {word: sd["of"] * rng.standard_normal(frames) for word in people}
    rows = []
    for name, count in WORDS.items():
        for at in range(count):
            own, in_frame = sd["attribute"] * rng.standard_normal(), sd["in frame"] * rng.standard_normal(frames)
            group = {one: sd["group"] * rng.standard_normal() for one in GROUPS}
            for word in people:
                connection = name if name == "neutral" else "associated" if word[0] == name else "different"
                distance = 0.8 + own + group[word[0]] + sd["pair"] * rng.standard_normal()
                distance = distance + step + moved[connection] + in_frame + of_word[word]
                distance = distance + sd["rest"] * rng.standard_normal(frames)
                rows.append((word, word[0], f"{name} {at}", name, connection, distance))
    columns = ["protected_word", "group", "attribute_word", "attribute_class", "connection", "distance"]
    table = pd.DataFrame(rows, columns=columns).explode("distance", ignore_index=True).astype({"distance": float})
    return table.assign(template=np.tile([f"f{at}" for at in range(frames)], len(rows)))


def main(replicates=200):
    """Write the share of intervals without 0."""
    rows = []
    for kind in SHARES:
        for frames in (4, 8, 16):
            rng, calls = np.random.default_rng(frames), {}
            for replicate in range(replicates):
                table = simulated(rng, kind, frames)
                first = table[table["template"] == "f0"].drop(columns="template")
                methods = {"one frame": first, "average over frames": averaged(table), "frames as random effect": table}
                for method, given in methods.items():
                    post = bb.fit(given, "crossed", draws=1000, seed=replicate)
                    for other in CONTRASTS:
                        row = bb.contrasts(post, "associated", other).iloc[0]
                        calls.setdefault((method, other), []).append(row["low"] > 0 or row["high"] < 0)
            rows += [(kind, frames, *key, np.mean(value), len(value)) for key, value in calls.items()]
            print(pd.DataFrame(rows[-len(calls) :]).to_string(header=False), flush=True)
    columns = ["vectors", "frames", "method", "contrast", "false_positives", "replicates"]
    keep(pd.DataFrame(rows, columns=columns).round(3), "sentences/simulated")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
