"""How far our fits lie from the nine published ones (means, and ends of the 89% bars, which are quantiles)."""

import json

import numpy as np
import pandas as pd
from common import SHARED, keep, published_tables

import bayesbias as bb


def main():
    published = json.loads((SHARED / "paper_results" / "published_fits.json").read_text())
    tables = published_tables(keep_duplicates=True)
    rows = []
    for name, levels in published.items():
        posterior = bb.fit(tables[name], draws=200_000, seed=0)["posterior"]
        means, ends = [], []
        for level, bars in levels.items():
            for bar in bars:
                where = {"connection": "neutral" if bar["connection"] == "none" else bar["connection"]}
                where |= {"protected_word": bar["name"]} if level == "words" else {}
                draws = posterior["word_mean" if level == "words" else "connection_mean"].sel(where)
                means.append(abs(float(draws.mean()) - bar["mean"]))
                ends += list(np.abs(np.quantile(draws, [0.055, 0.945]) - [bar["low"], bar["high"]]))
        rows.append((name, len(means), max(means), np.median(means), max(ends), np.median(ends)))
    names = ["fit", "bars", "mean_max", "mean_median", "end_max", "end_median"]
    keep(pd.DataFrame(rows, columns=names).round(5), "published_fits")


if __name__ == "__main__":
    main()
