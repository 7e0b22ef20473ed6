"""Predictive checks of a fit, and of the scatter that the vectors predict."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._checks import probability, several
from bayesbias._core.related import BINS, MIDDLES
from bayesbias._core.vectors import FloatArray, IntArray
from bayesbias.diagnostics.summaries import flat_draws, hdi, variance_draws
from bayesbias.distances.storage import KEY
from bayesbias.errors import InputError
from bayesbias.models.data import ModelData, data_of_rows
from bayesbias.models.fits import related_data
from bayesbias.models.predictive import predictive_generator, residuals
from bayesbias.models.related import further_word_sd, kernels_of
from bayesbias.models.results import by_connection, check_fit, distances_of
from bayesbias.words import CONTROLS


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

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, seed=0)
    >>> bb.check_predictions(post, seed=0)[["n", "inside_50", "inside_89"]].round(1).head(1)
          n  inside_50  inside_89
    0  2256        0.5        0.9
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


ENDS = (0.1, 0.3)
"""Centred cosine similarities that part unalike, alike and close words."""
LABELS = ("unalike", "alike", "close")
FEWEST = 20
LOOKED_AT = 1500
"""Attribute words that are looked at, drawn at random, where there are more."""
LEAST, MOST, MOST_Z = 1 / 1.5, 3.0, 3.0
"""Relative ratios outside of the first two, as far from 1 as the third in standard errors, are faults. Too little
scatter of close words makes intervals too narrow, too much makes them too wide."""


def check_relatedness(data: pd.DataFrame | xr.DataTree) -> pd.DataFrame:
    """Observed against predicted scatter of control words, by the similarity of the words.

    The squared difference of two words' distances to the protected words is predicted by the vectors: twice the
    variance less the covariance, which the variogram gives. A variogram of the wrong shape gives ratios that differ
    between unalike and close words; a ratio other than 1 of all pairs is a matter of scale, which ``sd_factor``
    follows. Close words that scatter less than predicted mean that the intervals of lists of one topic are too narrow.

    Parameters
    ----------
    data
        A distance table that carries relatedness, or a fit of one.

    Returns
    -------
    DataFrame
        One row for all pairs of words of one control list (of any list where there is no control), and for ``unalike``
        (similarity below .1), ``alike`` (to .3) and ``close`` pairs. Columns ``similarity``, ``words``, ``pairs``,
        ``observed`` and ``predicted`` (squared cosine distance, summed over protected words), ``ratio``, ``relative``
        (to the ratio of all pairs), ``z`` (log of ``relative`` in jackknife standard errors; of ``ratio`` for all
        pairs) and ``fault``: ``relative`` below 1 / 1.5 or above 3, with z beyond 3. NaN with fewer than 20 pairs.

    Raises
    ------
    InputError
        No relatedness.
    """
    if isinstance(data, xr.DataTree):
        check_fit(data)
        table = distances_of(data)
    else:
        table = data
    if not isinstance(table, pd.DataFrame) or KEY not in table.attrs:
        raise InputError("the table carries no relatedness: make it with distance_table(kv, words)")
    return scatter_of(related_data(table, check=False))


def scatter_of(data: ModelData) -> pd.DataFrame:
    """The table of :func:`check_relatedness`."""
    if len(data.attribute_words) > LOOKED_AT:
        chosen = np.random.default_rng(0).permutation(len(data.attribute_words))[:LOOKED_AT]
        data = data_of_rows(data, np.isin(data.attribute, chosen))
    kernels = kernels_of(data)
    weight = (kernels.components.loadings**2).sum(axis=0) * kernels.components.variances
    predicted = (2 * weight @ (1 - kernels.correlations))[kernels.bins]
    distances = np.full((len(data.protected_words), len(data.attribute_words)), np.nan)
    distances[data.word, data.attribute] = data.y
    level = np.searchsorted(ENDS, MIDDLES)[np.minimum(kernels.bins, BINS - 1)]
    pairs = np.zeros((len(LABELS), 2, len(data.attribute_words)))  # by word: observed, predicted
    counts = np.zeros(len(LABELS), dtype=int)
    for words in _lists(data, distances):
        apart = ((distances[:, words, None] - distances[:, None, words]) ** 2).sum(axis=0)
        expected, own = predicted[np.ix_(words, words)], level[np.ix_(words, words)]
        for at in range(len(LABELS)):
            here = (own == at) & ~np.eye(len(words), dtype=bool)
            counts[at] += int(here.sum()) // 2
            pairs[at, 0, words] += (apart * here).sum(axis=1)
            pairs[at, 1, words] += (expected * here).sum(axis=1)
    every = pairs.sum(axis=0)
    rows = [("all", int((every[1] > 0).sum()), int(counts.sum()), *_ratio(every, None, int(counts.sum())))]
    rows += [
        (name, int((pairs[at, 1] > 0).sum()), int(counts[at]), *_ratio(pairs[at], every, int(counts[at])))
        for at, name in enumerate(LABELS)
    ]
    columns = ["similarity", "words", "pairs", "observed", "predicted", "ratio", "relative", "z"]
    table = pd.DataFrame(rows, columns=columns)
    far = (table["relative"] < LEAST) | (table["relative"] > MOST)
    return table.assign(fault=far & (table["z"].abs() > MOST_Z))


def _lists(data: ModelData, distances: FloatArray) -> list[IntArray]:
    """The attribute words of each control list (of every list where there is none) that meet all protected words."""
    names = data.connections.tolist()
    asked = [names.index(name) for name in CONTROLS if name in names] or list(range(len(names)))
    whole = ~np.isnan(distances).any(axis=0)
    found = [np.unique(data.attribute[data.connection == k]) for k in asked]
    return [words[whole[words]] for words in found]


def _ratio(sums: FloatArray, every: FloatArray | None, count: int) -> tuple[float, ...]:
    """Mean observed and predicted squared difference, ratio, ratio to that of all pairs, and z of its log.

    Standard errors are those of the jackknife over words.
    """
    used = sums[1] > 0
    words = int(used.sum())
    if count < FEWEST or words < 3:
        return (float("nan"),) * 5
    observed, predicted = sums.sum(axis=1) / 2
    ratio, relative = float(observed / predicted), 1.0
    without = np.log((observed - sums[0, used]) / (predicted - sums[1, used]))
    if every is not None:
        total = every.sum(axis=1) / 2
        relative = ratio / float(total[0] / total[1])
        without -= np.log((total[0] - every[0, used]) / (total[1] - every[1, used]))
    error = np.sqrt((words - 1) / words * ((without - without.mean()) ** 2).sum())
    far = np.log(ratio if every is None else relative)
    return float(observed / count), float(predicted / count), ratio, relative, float(far / error) if error > 0 else 0.0
