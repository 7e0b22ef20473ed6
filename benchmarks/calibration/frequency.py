"""The real null with a gap in frequency: pseudo-stereotypes from the frequent third of the neutral list.

    python benchmarks/calibration/frequency.py

No word is biased, but the lists differ in frequency as many real lists do. Percent of 89% intervals of
associated - neutral that exclude 0: as measured, where `balance` does not warn, and adjusted for frequency. Before, the
slopes of all published tables and their contrasts, adjusted and not.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import bayesbias as bb

sys.path.insert(0, str(Path(__file__).parents[1]))
from inside import pseudo_lists, word_values

HERE = Path(__file__).resolve().parents[1]
TABLES = (
    "race_group_glove_dataset",
    "gender_group_glove_dataset",
    "weat_7_glove",
    "religion_group_glove_dataset",
    "race_group_google_dataset",
    "weat_7_google",
    "gender_group_reddit_dataset",
)
SEED = 3


def rates(table, frequencies, replicates):
    """Rates of one table: raw, adjusted, and how often the balance warns."""
    words = table.loc[table["connection"] == "neutral", "attribute_word"].unique().astype(str)
    zipf = word_values(words.tolist(), "frequency", frequencies).of(words)
    pool = words[zipf >= np.nanquantile(zipf, 2 / 3)]
    relabel = pseudo_lists(table, "neutral", pool.tolist())
    rows = []
    for at in range(replicates):
        drawn = relabel(np.random.default_rng([SEED, at]))
        found = bb.balance(drawn, frequencies).contrasts.set_index("contrast")
        post = bb.fit(drawn, "crossed", draws=1000, chains=1, seed=at, adjust="frequency", frequencies=frequencies)
        for row in bb.checks.adjustment(post).to_dict("records"):
            called = {how: row[f"{how}_low"] > 0 or row[f"{how}_high"] < 0 for how in ("raw", "adjusted")}
            warned = bool(found.loc[row["contrast"], "warning"])
            rows.append({"contrast": row["contrast"], **called, "warned": warned})
    calls = pd.DataFrame(rows)
    calls["not warned"] = calls["raw"] & ~calls["warned"]
    return calls.groupby("contrast")[["raw", "warned", "not warned", "adjusted"]].mean().reset_index()


def published(table, frequencies):
    """Slopes of one table, and its contrasts before and after adjusting."""
    found = bb.balance(table, frequencies)
    post = bb.fit(table, "crossed", seed=0, adjust="frequency", frequencies=frequencies)
    slope = found.slopes.iloc[0]
    return bb.checks.adjustment(post).assign(slope=slope["slope"], r2=slope["r2"]).merge(found.contrasts, on="contrast")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=HERE.parents[1] / "shared")
    parser.add_argument("--frequencies", default="wordfreq")
    parser.add_argument("--replicates", type=int, default=100)
    given = parser.parse_args()
    paths = sorted((given.shared / "paper_tables").glob("*.csv"))
    parts = [published(bb.read_distance_table(path), given.frequencies).assign(table=path.stem) for path in paths]
    measured, found = pd.concat(parts).round(4), []
    measured.to_csv(HERE / "results" / "frequency_balance.csv", index=False)
    print(measured.to_string(index=False), flush=True)
    for name in TABLES:
        table = bb.read_distance_table(given.shared / "paper_tables" / f"{name}.csv")
        found.append(rates(table, given.frequencies, given.replicates).assign(table=name, replicates=given.replicates))
        print(found[-1].round(2).to_string(index=False), flush=True)
    pd.concat(found).round(4).to_csv(HERE / "results" / "frequency_null.csv", index=False)


if __name__ == "__main__":
    main()
