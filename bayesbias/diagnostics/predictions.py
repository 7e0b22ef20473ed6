"""Posterior predictive checks: do the observed distances fall where the model says they should?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._checks import probability, several
from bayesbias._core.cells import IntArray
from bayesbias._core.cosine import FloatArray
from bayesbias.diagnostics.intervals import flat_draws, hdi
from bayesbias.diagnostics.variances import variance_draws
from bayesbias.errors import InputError
from bayesbias.models.fitting import related_data
from bayesbias.models.predictive import predictive_generator, residuals
from bayesbias.models.related import further_word_sd
from bayesbias.models.results import by_connection, check_fit, distances_of


def check_predictions(
    post: xr.DataTree, probs: float | Sequence[float] = (0.5, 0.89), seed: int | None = None
) -> pd.DataFrame:
    """The share of distances inside their predictive highest-density intervals.

    A model that describes the spread of the data has shares near ``probs``. Where attribute words have effects or are
    related, the intervals are for a further word of the list; :func:`add_predictive` repeats the observed ones, or
    draws other lists as alike as these.

    Parameters
    ----------
    post
        A result of :func:`fit`.
    probs
        Mass of the predictive intervals.
    seed
        Seed of the predictive draws; None takes one that follows from the seed of the fit.

    Returns
    -------
    DataFrame
        Columns ``connection`` (pd.NA for all distances together, first), ``n``, and for each of ``probs`` a share:
        ``inside_50``, ``inside_89``.
    """
    check_fit(post)
    probs = several(probs)
    if not probs:
        raise InputError("probs is empty: give at least one probability, such as 0.89")
    draws = predictive_cells(post, seed)
    word, connection, y = _pairs(post)
    labels = post["posterior"]["connection"].to_numpy()
    table = pd.DataFrame({"connection": pd.array([pd.NA, *labels], dtype="string")})
    table["n"] = [len(y), *np.bincount(connection, minlength=len(labels))]
    for prob in probs:
        low, high = hdi(draws, probability(prob, "probs"))
        inside = (y >= low[word, connection]) & (y <= high[word, connection])
        shares = [inside.mean(), *(inside[connection == k].mean() for k in range(len(labels)))]
        table[f"inside_{100 * prob:g}"] = shares
    return table


def predictive_cells(post: xr.DataTree, seed: int | None = None) -> FloatArray:
    """Predictive draws of a distance in each cell, (draws, protected_word, connection); NaN in empty cells.

    Where attribute words have effects, the distance is one to a new attribute word; where words are related, to a
    further word of the same list, around the mean of those there.
    """
    posterior, rng = post["posterior"], predictive_generator(post, seed)
    mean = posterior["word_mean"].to_numpy()
    if "sd_factor" in posterior:
        data = related_data(distances_of(post), check=False)
        factor = by_connection(post, "sd_factor")[:, :, None]
        return flat_draws(data.cells.mean + factor * further_word_sd(data) * rng.standard_normal(mean.shape))
    sigma = posterior["sigma"].to_numpy()
    spread = sigma[:, :, None, :] if sigma.ndim == 3 else sigma[:, :, None, None]
    drawn = mean + spread * residuals(post, mean.shape, rng)
    parts = variance_draws(post)
    if "attribute word" in parts:
        variance = sum(parts[name] for name in ("attribute word", "word x group") if name in parts)
        drawn += np.sqrt(variance)[:, :, None, :] * rng.standard_normal(mean.shape)
    return flat_draws(drawn)


def _pairs(post: xr.DataTree) -> tuple[IntArray, IntArray, FloatArray]:
    constant = post["constant_data"]
    word, connection = constant["word_index"].to_numpy(), constant["connection_index"].to_numpy()
    return word, connection, post["observed_data/distance"].to_numpy()
