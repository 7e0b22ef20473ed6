"""How robust and accurate the Bayesian contrast is beside the classic metrics, and how often its intervals hold.

On real vectors and the same with their gender direction projected out, the lists of the recorded silhouettes: 100 runs
of every metric, growing targets and growing attributes. Also the seconds of 100 runs of 40 sizes.

python benchmarks/silhouettes_of_contrasts.py
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
import sys
import time

import numpy as np
import pandas as pd
from common import SHARED, keep
from gensim.models import KeyedVectors

import bayesbias as bb

RUNS = 100
METRICS = {
    "weat_effect_size": ("weat_effect_size", {}),
    "rnsb": ("rnsb", {}),
    "ect": ("ect", {}),
    "mac": ("mac", {}),
    "crossed": ("crossed", {}),
    "published": ("crossed", {"model": "published"}),
}


def reference_models(record):
    """The biased vectors, and the same without their gender direction."""
    biased = bb.load_embedding(SHARED / "embeddings" / "google_news_slice.bin")
    direction = np.array(record["models"]["unbiased_gender_projected"]["direction"])
    left = biased.vectors - (biased.vectors @ direction)[:, None] * direction
    unbiased = KeyedVectors(vector_size=300, dtype=np.float32)
    unbiased.add_vectors(biased.index_to_key, left.astype(np.float32))
    return {"biased": biased, "unbiased": unbiased}


def main(runs=RUNS):
    record = json.loads((SHARED / "oracles" / "bsa_oracles_public.json").read_text())
    models = reference_models(record)
    lists = record["lists"]
    targets = {name: lists[name] for name in ("target_1", "target_2")}
    attributes = {name: lists[name] for name in ("attribute_1", "attribute_2")}
    joined = record["modes"]["trimmed"]["orders"]["attribute_combined_ECT"][0]
    rows, by_size = [], []
    for label, (name, options) in METRICS.items():
        query = bb.Query(targets, {"both": joined} if name == "ect" else attributes)
        for vary in ("targets", "attributes"):
            start = time.perf_counter()
            found = {
                at: bb.silhouettes.silhouette(kv, query, (name, options), vary=vary, runs=runs)
                for at, kv in models.items()
            }
            seconds = time.perf_counter() - start
            biased, unbiased = found.values()
            scores = bb.silhouettes.silhouette_uncertainty(biased, unbiased, resamples=200).set_index("score")
            for model, one in found.items():
                rows.append(
                    {
                        "metric": label,
                        "vary": vary,
                        "model": model,
                        "full": one.full,
                        "robustness": one.robustness,
                        "accuracy": scores.loc["accuracy", "value"],
                        "accuracy_sd": scores.loc["accuracy", "sd"],
                        "separation": scores.loc["separation", "value"],
                        "separation_sd": scores.loc["separation", "sd"],
                        "coverage": np.mean(one.coverage[:-1]),
                        "least_coverage": np.min(one.coverage[:-1]),
                        "ms_per_value": 1e3 * seconds / (2 * runs * len(one.sizes)),
                        "values": runs * len(one.sizes),
                    }
                )
                if one.low is not None:
                    ends = {"low": one.low.mean(axis=0), "high": one.high.mean(axis=0), "coverage": one.coverage}
                    columns = {"words": one.sizes, "min": one.min, "mean": one.mean, "max": one.max, **ends}
                    by_size.append(pd.DataFrame({"metric": label, "vary": vary, "model": model, **columns}))
    keep(pd.DataFrame(rows).round(4), "silhouettes_of_contrasts")
    keep(pd.concat(by_size).round(4), "silhouettes_by_size")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS)
