"""Seconds for 1,000 queries and six metrics, with every look-up.

python benchmarks/many_queries.py
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time

import numpy as np
import pandas as pd
from common import SHARED, keep

import bayesbias as bb

VECTORS = SHARED / "embeddings" / "google_news_slice.bin"
METRICS = {
    "two attribute sets": ("weat", "weat_effect_size", "mac", "rnsb", "semaxis"),
    "one attribute set": ("rnd", "ect", "ripa", "db_wa", "direct_bias", "same"),
    "six of WEFE": ("weat", "rnsb", "mac", "rnd", "ect", "ripa"),
}
QUERIES = 1_000
WORDS = 8


def queries(kv, attributes):
    rng = np.random.default_rng(0)
    words = np.array(kv.index_to_key)
    drawn = (rng.choice(words, (2 + attributes, WORDS), replace=False).tolist() for _ in range(QUERIES))
    return [
        bb.Query({"first": first, "second": second}, {f"attributes {at}": one for at, one in enumerate(rest)})
        for first, second, *rest in drawn
    ]


def main():
    kv = bb.load_embedding(VECTORS)
    rows = []
    for label, metrics in METRICS.items():
        asked = queries(kv, 1 if label == "one attribute set" else 2)
        begin = time.perf_counter()
        found = bb.run_metrics(kv, asked, metrics)
        rows.append((label, ", ".join(metrics), len(found), round(time.perf_counter() - begin, 2)))
    keep(pd.DataFrame(rows, columns=["queries", "metrics", "rows", "seconds"]), "many_queries")


if __name__ == "__main__":
    main()
