"""Milliseconds of a silhouette for each run and size, beside those recorded of the study's own program; one thread.

python benchmarks/silhouette_speed.py
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
import time

import pandas as pd
from common import SHARED, keep

import bayesbias as bb

REPEATS, RUNS = 5, 20
MODES = {"trimmed": "trimmed", "saturate": "different_sizes"}
KEYS = {"weat_effect_size": "weat", "ect": "ect", "rnsb": "rnsb"}


def main():
    record = json.loads((SHARED / "oracles" / "bsa_oracles_public.json").read_text())
    kv = bb.load_embedding(SHARED / "embeddings" / "google_news_slice.bin")
    lists = record["lists"]
    targets = {name: lists[name] for name in ("target_1", "target_2")}
    rows = []
    for metric, key in KEYS.items():
        for sizes, mode in MODES.items():
            attributes = {name: lists[name] for name in ("attribute_1", "attribute_2")}
            if metric == "ect":
                attributes = {"both": record["modes"][mode]["orders"]["attribute_combined_ECT"][0]}
            query = bb.Query(targets, attributes)
            theirs = 1e3 * record["timings"][key][f"{mode}/biased"]["cpu_s_per_run_x_subset"]
            for vary in ("targets", "attributes"):
                seconds = []
                for _ in range(REPEATS):
                    start = time.perf_counter()
                    found = bb.silhouettes.silhouette(kv, query, metric, vary=vary, runs=RUNS, sizes=sizes)
                    seconds.append(time.perf_counter() - start)
                values = RUNS * len(found.sizes)
                ours = 1e3 * min(seconds) / values
                rows.append((metric, sizes, vary, values, ours, theirs, theirs / ours))
    names = ["metric", "sizes", "vary", "values", "ms_per_value", "recorded_ms", "ratio"]
    keep(pd.DataFrame(rows, columns=names).round(4), "silhouette_speed")


if __name__ == "__main__":
    main()
