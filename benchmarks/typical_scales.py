"""Typical scales of word lists: medians over the published tables of posterior means under the crossed model.

The source of ``TYPICAL_SCALES`` in ``bayesbias/comparison/power.py``, which plans lists that have no distances yet.
"""

import pandas as pd
from common import keep, published_tables

import bayesbias as bb

DRAWS = 4000
LABELLED = ("connection_sd", "sigma", "attribute_sd")


def scales_of(table):
    """Posterior means of a table's scales: (parameter, label) to cosine distance."""
    posterior = bb.fit(table, "crossed", draws=DRAWS, seed=0)["posterior"]
    means = posterior.mean(("chain", "draw"))
    series = {name: means[name].to_series() for name in LABELLED}
    found = {(name, label): value for name, values in series.items() for label, value in values.items()}
    return found | {("interaction_sd", ""): float(means["interaction_sd"])}


def main():
    every = pd.DataFrame({name: scales_of(table) for name, table in published_tables().items()}).T
    summary = every.quantile([0.5, 0.0, 1.0]).T.set_axis(["median", "smallest", "largest"], axis=1)
    summary = summary.rename_axis(["parameter", "label"]).reset_index()
    summary["tables"] = every.notna().sum().to_numpy()
    keep(summary.round(4), "typical_scales")


if __name__ == "__main__":
    main()
