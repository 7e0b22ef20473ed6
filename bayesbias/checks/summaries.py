"""Intervals: of parameters, and of contrasts with attribute words as clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesbias._support.arguments import one_of, probability
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError
from bayesbias.models.tree import read_distances
from bayesbias.models.weights import whole_weights
from bayesbias.numerics.arrays import NOTHING, FloatArray
from bayesbias.numerics.statistics import clustered_contrast, sorted_interval, t_ends
from bayesbias.posteriors import PROB as PROB
from bayesbias.words import counterparts

NO_WORD = "no protected word has distances under both connections"
ONE_WORD = "a list has one attribute word only, so that its spread is not known"
NO_SPREAD = "the attribute words do not differ in what they contribute"
"""Reasons for which there is no interval."""


def interval_ends(draws: FloatArray, prob: float) -> tuple[FloatArray, FloatArray]:
    """Lower and upper ends (...) of equal-tailed intervals of draws (D, ...); NaN where a draw is."""
    ordered = np.array(np.moveaxis(draws, 0, -1), order="C")
    ordered.sort(axis=-1)
    low, high = sorted_interval(ordered, prob)
    missing = np.isnan(ordered[..., -1])
    return np.where(missing, np.nan, low), np.where(missing, np.nan, high)


def describe(draws: FloatArray, prob: float) -> dict[str, FloatArray]:
    """``mean``, ``sd``, ``low`` and ``high`` (...) of draws (D, ...)."""
    low, high = interval_ends(draws, prob)
    return {"mean": draws.mean(axis=0), "sd": draws.std(axis=0, ddof=1), "low": low, "high": high}


def flat_draws(values: FloatArray) -> FloatArray:
    """Draws (chain, draw, ...) as (chain * draw, ...)."""
    return np.reshape(values, (-1, *np.shape(values)[2:]))


@dataclass(frozen=True)
class ClusterInterval:
    """A contrast of cell-balanced means with attribute words as clusters, for these protected words.

    ``first`` and ``second`` are its connections, ``df`` Satterthwaite's degrees of freedom, ``words`` the number of
    attribute words by list. ``estimate``, ``se``, ``low`` and ``high`` are NaN where there is no interval, for a
    ``reason``.
    """

    first: str
    second: str
    prob: float
    estimate: float
    se: float
    df: float
    low: float
    high: float
    words: dict[str, int]
    reason: str = ""


def cluster_interval(
    data: pd.DataFrame | xr.DataTree, first: str = "associated", second: str | None = None, prob: float = PROB
) -> ClusterInterval:
    """The interval of a contrast for the given protected words, attribute words being clusters.

    The mean over protected words (groups weigh the same) of the difference of two cell means is a sum over attribute
    words, whose lists are independent samples: its variance is that of the leave-one-word-out jackknife, without any
    model. A t quantile with Satterthwaite's degrees of freedom gives the interval.

    Parameters
    ----------
    data, prob
        A distance table, or a result of :func:`fit`; the confidence of the interval.
    first, second
        Connections; the mean of ``first`` minus that of ``second``, by default ``different``, else a control list.

    References
    ----------
    Satterthwaite, F. E. (1946). An approximate distribution of estimates of variance components. Biometrics
    Bulletin 2(6). https://doi.org/10.2307/3002019

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> bb.checks.cluster_interval(table).words
    {'math': 8, 'arts': 8}
    """
    prob = probability(prob, "prob")
    rows = read_distances(data, check=False)
    return cluster_interval_of(rows, *contrasted(first, second, rows.connections.tolist(), rows.filled), prob)


def contrasted(
    first: str, second: str | None, valid: list[str], filled: NDArray[np.bool_] | None = None
) -> tuple[str, str]:
    """The two connections of a contrast; a second that is left open is the first of :func:`contrast_partners`."""
    for name in [first] if second is None else [first, second]:
        one_of(name, valid, "the connection")
    if second is None:
        second = next(iter(contrast_partners(first, valid, filled)), first)
    if first == second:
        raise InputError(f"a contrast needs two connections, given {first!r} twice; there are {', '.join(valid)}")
    return first, second


def contrast_partners(first: str, valid: list[str], filled: NDArray[np.bool_] | None = None) -> list[str]:
    """The connections that ``first`` can be contrasted with, those first that some word (J, K) has beside it."""
    others = counterparts(first, valid)
    if filled is None:
        return others
    met = {name: bool((filled[:, valid.index(first)] & filled[:, valid.index(name)]).any()) for name in others}
    return sorted(others, key=lambda name: not met[name])


def cluster_interval_of(rows: Distances, first: str, second: str, prob: float) -> ClusterInterval:
    """The cluster interval of rows that are checked already."""
    # the list of each attribute word: its class and the groups that it is associated with
    first_row = np.unique(rows.attribute, return_index=True)[1]
    own = rows.connections[rows.connection] == "associated"
    with_group = np.zeros((len(rows.attribute_words), len(rows.group_names)), dtype=bool)
    with_group[rows.attribute[own], rows.group_index[rows.word[own]]] = True
    classes = rows.attribute_class[first_row].tolist()
    keys = [(label, tuple(np.flatnonzero(met))) for label, met in zip(classes, with_group, strict=True)]
    every = list(dict.fromkeys(keys))
    labels = [label for label, _ in every]
    names = [
        label if labels.count(label) == 1 else " ".join([label, *(rows.group_names[at] for at in groups)]).strip()
        for label, groups in every
    ]
    lists = np.array([every.index(key) for key in keys])
    places = [rows.connections.tolist().index(name) for name in (first, second)]
    weights = whole_weights(rows, rows.filled[:, places].all(axis=1))
    estimate, se, df, counts = clustered_contrast(
        rows.word, rows.connection, rows.attribute, lists, rows.y, rows.cells, places[0], places[1], weights
    )
    compared = np.isin(rows.connection, places)
    met = [names[label] for label in np.unique(lists[rows.attribute[compared]])]
    words = dict(zip(met, counts.tolist(), strict=False))
    reasons = {NO_WORD: np.isnan(estimate), ONE_WORD: np.isnan(se), NO_SPREAD: se <= NOTHING}
    reason = next((why for why, there in reasons.items() if there), "")
    low, high = t_ends(estimate, se, df, prob)
    return ClusterInterval(first, second, prob, estimate, se, df, low, high, words, reason)
