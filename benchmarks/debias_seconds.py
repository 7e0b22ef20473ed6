"""Seconds of each debiasing method on 13,013 x 300 vectors, fastest of five, beside WEFE's recorded ones.

python benchmarks/debias_seconds.py
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
import time

import pandas as pd
from common import SHARED, keep

import bayesbias as bb

VECTORS = SHARED / "embeddings" / "google_news_slice.bin"
REPEATS = 5


def main():
    runs = {
        one["id"]: one for one in json.loads((SHARED / "oracles" / "debias_oracles_public.json").read_text())["runs"]
    }
    hard, religion = runs["hard_gender_all_words"], runs["multiclass_religion_n2"]
    pairs, sets = hard["fit_args"]["definitional_pairs"], religion["fit_args"]["definitional_sets"]
    groups = {"female": [pair[0] for pair in pairs], "male": [pair[1] for pair in pairs]}
    jobs = {
        "project": ({"definitional": pairs}, None),
        "hard": ({"definitional": pairs, "equalize": hard["fit_args"]["equalize_pairs"]}, hard),
        "hard_multiclass": ({"sets": sets}, religion),
        "soft": ({"definitional": pairs}, None),
        "half_sibling": ({"definitional": pairs}, None),
        "null_space": ({"groups": groups}, None),
    }
    kv, rows = bb.load_embedding(VECTORS), []
    for method, (options, theirs) in jobs.items():
        taken = []
        for _ in range(REPEATS):
            begin = time.perf_counter()
            bb.debias(kv, method, **options)
            taken.append(time.perf_counter() - begin)
        rows.append((method, round(min(taken), 3), theirs and theirs["fit_seconds"] + theirs["transform_seconds"]))
    keep(pd.DataFrame(rows, columns=["method", "seconds", "wefe_seconds"]), "debias_seconds")


if __name__ == "__main__":
    main()
