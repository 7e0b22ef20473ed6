"""Typical scales of word lists: medians over the published tables of posterior means under the crossed model.

The source of ``TYPICAL_SCALES`` in ``bayesbias/contrast/power.py``, which plans lists that have no distances yet.
"""

import pandas as pd

import bayesbias as bb
from benchmarks.study import TABLES, Design, main, published_table


def scales_of(table):
    """Posterior means of a table's scales: (parameter, label) to cosine distance."""
    means = bb.fit(table, "crossed", draws=4000, seed=0)["posterior"].mean(("chain", "draw"))
    series = {name: means[name].to_series() for name in ("connection_sd", "sigma", "attribute_sd")}
    found = {(name, label): value for name, values in series.items() for label, value in values.items()}
    return found | {("interaction_sd", ""): float(means["interaction_sd"])}


def typical_scales(cell):
    every = pd.DataFrame({name: scales_of(published_table(name)) for name in TABLES}).T
    summary = every.quantile([0.5, 0.0, 1.0]).T.set_axis(["median", "smallest", "largest"], axis=1)
    summary = summary.rename_axis(["parameter", "label"]).reset_index()
    return summary.assign(tables=every.notna().sum().to_numpy()).to_dict("records")


if __name__ == "__main__":
    main(Design("typical_scales", [{}], typical_scales, 1))
