"""SEAT and CEAT on real encodings without bias: pseudo-stereotypes from common words, for gender's words in 16 frames.

As in nulls.py, two lists of 12 words at random or of one topic each; the test of a metric finds bias where p < .11.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

import bayesbias as bb
from benchmarks.common import keep
from benchmarks.minilm import MiniLM
from benchmarks.sentences.nulls import drawn
from benchmarks.sentences.vectors import KINDS, drawn_from, encoded

TESTS = {
    "SEAT, permutation of sentences": ("seat", {"p_value": True}),
    "CEAT, combined effect": ("ceat", {}),
    "WEAT of mean cosines, permutation of words": ("weat_effect_size", {"p_value": True}),
    "WEAT of mean cosines, random related lists": ("weat", {"p_value": "related"}),
}
NOMINAL = 0.11


def main(folder, replicates=200):
    """Write the share of p-values below .11."""
    words, rows, encoder = bb.load_words("gender"), [], MiniLM()
    for kind in KINDS:
        vectors = encoded("gender", kind, folder, encoder).whole()
        pool, similar = drawn_from(vectors)
        means = vectors.keyed_vectors()
        for lists in ("random", "topical"):
            rng, calls = np.random.default_rng(0), {name: [] for name in TESTS}
            for _ in range(replicates):
                attributes, _ = drawn(rng, pool, similar, lists == "topical", words.protected)
                query = bb.Query(dict(words.protected), {f"{name} list": held for name, held in attributes.items()})
                for name, (metric, options) in TESTS.items():
                    given = vectors if metric in ("seat", "ceat") else means
                    calls[name].append(bb.metric(metric, given, query, **options).p_value < NOMINAL)
            rows += [(kind, lists, name, np.mean(value), len(value)) for name, value in calls.items()]
            print(pd.DataFrame(rows[-len(TESTS) :]).to_string(header=False), flush=True)
    columns = ["vectors", "lists", "test", "false_positives", "replicates"]
    keep(pd.DataFrame(rows, columns=columns).round(3), "sentences/classic")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:3]))
