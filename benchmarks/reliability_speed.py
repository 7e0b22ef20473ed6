"""Seconds and memory of NBM for a whole vocabulary, and of the other measures; compared with the recorded program.

python benchmarks/reliability_speed.py
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
import resource
import time

import pandas as pd
from common import SHARED, keep

import bayesbias as bb

REPEATS = 5
THEIRS = {"nbm": 6.5, "db_wa": 0.07}
"""Seconds that the study's own program took for 13,013 words and 22 pairs; NBM took 2 GB."""


def peak():
    """Gigabytes that the process has used at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def main():
    record = json.loads((SHARED / "oracles" / "reliability_oracles_public.json").read_text())
    pairs = [tuple(pair) for pair in record["gender_base_pairs_male_female"]]
    kv = bb.load_embedding(SHARED / "embeddings" / "google_news_slice.bin")
    bb.reliability.bias_scores(kv, kv.index_to_key[:10], pairs)
    rows, before = [], peak()
    for measure in ("db_wa", "ripa", "nbm"):
        for words in (1_000, 4_000, len(kv)):
            seconds = []
            for _ in range(REPEATS):
                start = time.perf_counter()
                bb.reliability.bias_scores(kv, kv.index_to_key[:words], pairs, measure)
                seconds.append(time.perf_counter() - start)
            ratio = THEIRS.get(measure, float("nan")) / min(seconds) if words == len(kv) else float("nan")
            rows.append((measure, words, min(seconds), ratio, before, peak()))
    names = ["measure", "words", "seconds", "recorded_over_ours", "gb_before", "gb_peak"]
    keep(pd.DataFrame(rows, columns=names).round(3), "reliability_speed")


if __name__ == "__main__":
    main()
