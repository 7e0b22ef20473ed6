"""``summary``: means and intervals of a fit as a table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._checks import probability
from bayesbias.diagnostics.intervals import PROB, describe, flat_draws
from bayesbias.models.results import check_fit

COLUMNS = ["parameter", "protected_word", "connection", "mean", "sd", "hdi_low", "hdi_high", "n"]


def summary(post: xr.DataTree, prob: float = PROB) -> pd.DataFrame:
    """Means, sds and highest-density intervals of every parameter, with the number of distances behind each.

    Parameters
    ----------
    post
        A result of :func:`fit`.
    prob
        Posterior mass of the intervals.

    Returns
    -------
    DataFrame
        Columns ``parameter``, ``protected_word``, ``connection`` (pd.NA where they do not apply), ``mean``, ``sd``,
        ``hdi_low``, ``hdi_high`` (cosine distance) and ``n``: distances in the cell, in the connection, or in all.
        Cells without a distance have no row.
    """
    check_fit(post)
    prob = probability(prob, "prob")
    counts = post["constant_data/n"]
    pieces = []
    for name, values in post["posterior"].data_vars.items():
        labels = values.dims[2:]
        rest = [dim for dim in counts.dims if dim not in labels]
        shape = values.shape[2:]
        grid = np.indices(shape).reshape(len(shape), int(np.prod(shape)))
        names = {dim: values[dim].to_numpy()[at] for dim, at in zip(labels, grid, strict=True)}
        numbers = {key: np.ravel(value) for key, value in describe(flat_draws(values.to_numpy()), prob).items()}
        n = counts.sum(rest).transpose(*labels).to_numpy().ravel()
        pieces.append(pd.DataFrame({"parameter": name, **names, **numbers, "n": n}))
    table = pd.concat([piece.reindex(columns=COLUMNS) for piece in pieces], ignore_index=True)
    table = table[table["n"] > 0].reset_index(drop=True)
    labels_na = {column: table[column].astype("string") for column in ("protected_word", "connection")}
    return table.assign(**labels_na)
