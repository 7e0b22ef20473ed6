"""``check_relatedness``: whether alike words are as near to each other in their distances as the vectors predict."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._core.cells import IntArray
from bayesbias._core.cosine import FloatArray
from bayesbias._core.variogram import BINS, MIDDLES
from bayesbias.distances.storage import KEY
from bayesbias.errors import InputError
from bayesbias.models.data import ModelData, data_of_rows
from bayesbias.models.fitting import related_data
from bayesbias.models.related import kernels_of
from bayesbias.models.results import check_fit, distances_of
from bayesbias.words import CONTROLS

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
