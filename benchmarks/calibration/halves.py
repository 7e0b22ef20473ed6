"""Split halves of the published tables: the sd that two fits give the difference of their contrasts, over the true one.

    python benchmarks/calibration/halves.py           # all tables: about half an hour on one core
    python benchmarks/calibration/halves.py weat_1_google race_group_glove_dataset

The attribute words of each list, the protected words of each group, or both are split at random into two halves, and
``crossed`` is fitted to each. Two halves are two samples of one population, so that the difference of their contrasts
has mean 0: its root mean square over splits is its true sd. Where attribute words alone are split, the contrast is that
of the given protected words, otherwise that of similar ones. A ratio above 1 is an interval that is too wide.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import warnings
from pathlib import Path
from zlib import crc32

import numpy as np
import pandas as pd
from scipy.special import ndtri

import bayesbias as bb

sys.path.insert(0, str(Path(__file__).parents[1]))
from common import published_tables
from inside import Fit, contrast_draws

HERE = Path(__file__).parent / "results"
SPLITS, DRAWS, PROB = 40, 400, 0.89
KINDS = {
    "attribute words": (("attribute_word", "attribute_class"),),
    "protected words": (("protected_word", "group"),),
    "both": (("attribute_word", "attribute_class"), ("protected_word", "group")),
}
BESIDE = ("human", "neutral", "different")


def halved(table, column, within, rng):
    """True for the rows whose word is in the first half; the words of each list are split, odd ones at random."""
    words = table.drop_duplicates(column)
    lists = words[within].astype("string").fillna("")
    first = set()
    for name in lists.unique():
        listed = rng.permutation(words.loc[lists == name, column].to_numpy())
        first.update(listed[: (len(listed) + rng.integers(2)) // 2])
    return table[column].isin(first).to_numpy()


def halves(table, kind, rng):
    """The two halves of a table."""
    sides = [halved(table, *names, rng) for names in KINDS[kind]]
    return table[np.all(sides, axis=0)], table[~np.any(sides, axis=0)]


def estimates(half, population, seed):
    """Contrast to the mean and sd of its draws."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        post = bb.fit(half, "crossed", draws=DRAWS, seed=seed)
    held = post["posterior"]["connection"].to_numpy().tolist()
    found = {}
    for name in (each for each in BESIDE if {each, "associated"} <= set(held)):
        whole = contrast_draws(Fit(post), "associated", name, population)
        found[name] = whole.mean(), whole.std(ddof=1)
    return found


def study(name, table):
    """One row a kind of split and contrast: combined sd, true sd of the difference, their ratio, share covered."""
    rows = []
    for kind in KINDS:
        rng = np.random.default_rng([0, crc32(f"{name} {kind}".encode())])
        population = "given" if kind == "attribute words" else "similar"
        seen = {each: [] for each in BESIDE}
        for split in range(SPLITS):
            both = [estimates(half, population, 2 * split + at) for at, half in enumerate(halves(table, kind, rng))]
            for each in BESIDE:
                if all(each in one for one in both):
                    (first, sd), (second, other) = both[0][each], both[1][each]
                    seen[each].append((first - second, np.hypot(sd, other)))
        for each, values in seen.items():
            if not values:
                continue
            apart, combined = np.array(values).T
            true, width = np.sqrt(np.mean(apart**2)), np.sqrt(np.mean(combined**2))
            covered = np.mean(np.abs(apart) <= ndtri((1 + PROB) / 2) * combined)
            row = {"table": name, "halved": kind, "contrast": f"associated - {each}", "population": population}
            rows.append(row | {"splits": len(values), "combined_sd": width, "true_sd": true, "ratio": width / true,
                               "covered": covered})  # fmt: skip
    return rows


def main(chosen):
    """Run the tables that are asked for; results of the others stay as they are."""
    tables = published_tables()
    file = HERE / "halves.csv"
    known = pd.read_csv(file) if file.is_file() else pd.DataFrame()
    for name in chosen or tables:
        found = pd.DataFrame(study(name, tables[name]))
        rest = known[known["table"] != name] if len(known) else known
        known = pd.concat([rest, found], ignore_index=True).sort_values(["table", "halved"], kind="stable")
        known.round(5).to_csv(file, index=False)
        print(found.round(3).to_string(index=False), flush=True)
    print(
        known.groupby(["halved", "contrast"])[["ratio", "covered"]].agg(["min", "median", "max"]).round(2).to_string()
    )


if __name__ == "__main__":
    main(sys.argv[1:])
