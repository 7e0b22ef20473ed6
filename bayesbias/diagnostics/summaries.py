"""``summary``: means and intervals of a fit as a table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._checks import probability
from bayesbias.diagnostics.intervals import PROB, describe, flat_draws
from bayesbias.models.results import check_fit, pair_places

DIMENSIONS = ["protected_word", "connection", "attribute_word", "attribute_class", "group"]
EFFECTS = ("attribute_effect", "interaction_effect", "connection_covariance")


def summary(post: xr.DataTree, prob: float = PROB, effects: bool = False) -> pd.DataFrame:
    """Means, sds and highest-density intervals of the parameters, with the number of distances behind each.

    Parameters
    ----------
    post
        A result of :func:`fit`.
    prob
        Posterior mass of the intervals.
    effects
        Whether the effects of single attribute words (``attribute_effect``, ``interaction_effect``), or the variances
        of connections, have rows too.

    Returns
    -------
    DataFrame
        Columns ``parameter``, ``protected_word``, ``connection`` and, where a model has them, ``attribute_word``,
        ``attribute_class`` and ``group`` (pd.NA where they do not apply), ``mean``, ``sd``, ``hdi_low``, ``hdi_high``
        (cosine distance) and ``n``: distances in the cell, in the connection, of the attribute word, or in all. Cells
        without a distance have no row.
    """
    check_fit(post)
    prob = probability(prob, "prob")
    places = pair_places(post)
    pieces = []
    for name, values in post["posterior"].data_vars.items():
        if name in EFFECTS and not effects:
            continue
        labels = [str(dim) for dim in values.dims[2:]]
        shape = values.shape[2:]
        grid = np.indices(shape).reshape(len(shape), int(np.prod(shape)))
        names = {dim: values[dim].to_numpy()[at] for dim, at in zip(labels, grid, strict=True)}
        numbers = {key: np.ravel(value) for key, value in describe(flat_draws(values.to_numpy()), prob).items()}
        at = (
            np.ravel_multi_index([places[dim] for dim in labels], shape)
            if labels
            else np.zeros_like(places["connection"])
        )
        n = np.bincount(at, minlength=grid.shape[1])
        pieces.append(pd.DataFrame({"parameter": name, **names, **numbers, "n": n.ravel()}))
    table = pd.concat(pieces, ignore_index=True)
    shown = [dim for dim in DIMENSIONS if dim in table or dim in DIMENSIONS[:2]]
    table = table.reindex(columns=["parameter", *shown, "mean", "sd", "hdi_low", "hdi_high", "n"])
    table = table[table["n"] > 0].reset_index(drop=True)
    return table.assign(**{column: table[column].astype("string") for column in shown})
