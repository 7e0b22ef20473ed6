"""Split halves of rows: associations of single words from one half of the lists against those from the other half.

    python benchmarks/calibration/row_halves.py --glove glove.bin     # some ten minutes on one core

The attribute words of each list are split at random into two halves. Published tables, whose vectors nobody has, are
fitted with ``crossed``; bundled word lists in two embeddings with the default, whose rows are as observed or pooled.
Shown are the combined sd of two halves' rows over the root mean square of their difference, the share of differences
within the combined interval, and how far rows of one half lie from the observed associations of the other.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import sys
import warnings
from pathlib import Path
from zlib import crc32

import numpy as np
import pandas as pd
from halves import PROB, halves
from scipy.special import ndtri

import bayesbias as bb

sys.path.insert(0, str(Path(__file__).parents[1]))
from common import published_tables

FILE = Path(__file__).parent / "results" / "row_halves.csv"
SHARED = Path(os.environ.get("BAYESBIAS_SHARED", Path(__file__).parents[3] / "shared"))
SPLITS, DRAWS = 20, 1000
LISTS = ("gender", "religion", "race", "weat1", "weat6", "weat7", "weat8")
LIMIT = ndtri((1 + PROB) / 2)


def associations(half, model, kind):
    """Mean and sd of each word's row, (words, 2), by word."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        post = bb.fit(half, model, draws=DRAWS, seed=0)
        table = bb.contrasts(post, rows=kind).iloc[1:]
    return table.set_index("protected_word")[["mean", "sd"]]


def observed(half):
    """Double-centred mean distances of the words to their own lists, from the rows of a table."""
    stereotypes = half[half["connection"].isin(["associated", "different"])].astype(
        {"attribute_class": "string", "group": "string"}
    )
    means = stereotypes.pivot_table("distance", ["protected_word", "group"], "attribute_class", observed=True)
    group = means.index.get_level_values("group")
    lists = stereotypes[stereotypes["connection"] == "associated"].drop_duplicates("group").set_index("group")
    own = means.columns.get_indexer(lists["attribute_class"].reindex(group))
    apart = means.sub(means.mean(axis=1), axis=0)
    apart = apart - apart.groupby(group.to_numpy()).mean().mean()
    size = means.shape[1]
    return pd.Series(apart.to_numpy()[np.arange(len(apart)), own] * size / (size - 1), apart.droplevel("group").index)


def study(name, table, model, kinds, splits=SPLITS):
    """One row for each kind of rows."""
    rng = np.random.default_rng([1, crc32(name.encode())])
    seen = {kind: [] for kind in kinds}
    for _ in range(splits):
        both = halves(table, "attribute words", rng)
        raw = [observed(half) for half in both]
        for kind in kinds:
            first, second = (associations(half, model, kind) for half in both)
            words = first.index.intersection(second.index)
            one, two = first.loc[words], second.loc[words]
            apart = one["mean"] - two["mean"]
            frame = {"apart": apart, "combined": np.hypot(one["sd"], two["sd"])}
            frame |= {"error": one["mean"] - raw[1].loc[words], "error_raw": raw[0].loc[words] - raw[1].loc[words]}
            seen[kind].append(pd.DataFrame(frame))
    for kind, frames in seen.items():
        every = pd.concat(frames)
        width, true = (np.sqrt((every[column] ** 2).mean()) for column in ("combined", "apart"))
        row = {"table": name, "model": model, "rows": kind, "words": len(frames[0]), "splits": splits}
        row |= {"combined_sd": width, "true_sd": true, "ratio": width / true}
        row["covered"] = (every["apart"].abs() <= LIMIT * every["combined"]).mean()
        yield row | {f"rmse{end}": np.sqrt((every[f"error{end}"] ** 2).mean()) for end in ("", "_raw")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--glove", help="file of GloVe 6B 50d in a format that load_embedding reads")
    given = parser.parse_args()
    rows = []
    for name, table in published_tables().items():
        rows += study(name, table, "crossed", ["association"])
        print(rows[-1], flush=True)
    files = {"google news": SHARED / "embeddings" / "google_news_slice.bin", "glove 50d": given.glove}
    for embedding, file in files.items():
        if file is None:
            continue
        kv = bb.load_embedding(file)
        for name in LISTS:
            table = bb.distance_table(kv, name, case="fallback")
            rows += study(f"{name}, {embedding}", table, "related", ["association", "pooled"])
            print(rows[-2:], flush=True)
    found = pd.DataFrame(rows)
    found.round(5).to_csv(FILE, index=False)
    with pd.option_context("display.width", 200, "display.max_rows", None):
        print(found.round(3).to_string(index=False))


if __name__ == "__main__":
    main()
