"""Changes by the marginal engine against NUTS on all embeddings at once, with a full covariance: some twenty minutes.

Differences of means in posterior sds, ratios of sds, and differences of P(shrank), over the whole list and all words.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time
from functools import partial

import joint_nuts
import numpy as np
import pandas as pd
from common import keep, published_tables

import bayesbias as bb

TOPICS = ("religion", "gender", "race")


def compared(topic, tables):
    pair = {"before": tables[f"{topic}_group_reddit_dataset"], "after": tables[f"debiased_{topic}_reddit"]}
    found, seconds = {}, {}
    for engine, compare in (("marginal", partial(bb.compare, model="change")), ("nuts", joint_nuts.compare)):
        start = time.perf_counter()
        found[engine] = compare(pair, seed=7, draws=4000)
        seconds[engine] = time.perf_counter() - start
    fast, slow = found["marginal"], found["nuts"]
    rows = []
    for name in (*fast.connections, "associated - human"):
        one, other = (each.changes(None if " - " in name else name) for each in (fast, slow))
        apart, ratio = (one["mean"] - other["mean"]) / other["sd"], one["sd"] / other["sd"]
        row = {
            "topic": topic,
            "quantity": name,
            "mean": one["mean"][0],
            "nuts_mean": other["mean"][0],
            "sd": one["sd"][0],
            "nuts_sd": other["sd"][0],
            "words_apart_sds": apart[1:].abs().max(),
            "words_sd_ratio_low": ratio[1:].min(),
            "words_sd_ratio_high": ratio[1:].max(),
        }
        rows.append(row)
    shrank = [each.outcomes("associated", "human")["p_shrank"].to_numpy() for each in (fast, slow)]
    facts = {
        "p_shrank_apart": np.abs(shrank[0] - shrank[1]).max(),
        "seconds": seconds["marginal"],
        "nuts_seconds": seconds["nuts"],
        "nuts_faults": "; ".join(slow.faults),
    }
    return pd.DataFrame(rows).assign(**facts)


def main():
    tables = published_tables()
    topics = sys.argv[1:] or TOPICS
    keep(pd.concat([compared(topic, tables) for topic in topics]).round(4), "paired_against_nuts")


if __name__ == "__main__":
    main()
