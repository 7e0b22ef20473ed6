"""``cluster_interval``: what a contrast's interval is for the protected words at hand, without a model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesbias._checks import one_of, probability
from bayesbias._core.cells import IntArray
from bayesbias._core.clusters import clustered_contrast, t_ends
from bayesbias.diagnostics.intervals import PROB
from bayesbias.errors import InputError
from bayesbias.models.data import ModelData, model_data
from bayesbias.models.results import distances_of

NO_SPREAD = 1e-12
BESIDE = ("different", "human", "neutral", "associated")
"""What a connection is set beside where nothing is asked for, the headline first."""


@dataclass(frozen=True)
class ClusterInterval:
    """A contrast of cell-balanced means with attribute words as clusters, for these protected words.

    Attributes
    ----------
    first, second, prob
        What was asked.
    estimate, se, low, high
        In cosine distance; NaN where there is no interval.
    df
        Satterthwaite's degrees of freedom.
    words
        List to its number of attribute words.
    reason
        Why there is no interval; empty if there is one.
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

    def __str__(self) -> str:
        what = f"{self.first} - {self.second}, for these protected words"
        if self.reason:
            return f"{what}: no interval, because {self.reason}."
        lists = ", ".join(f"{name} {count}" for name, count in self.words.items())
        return (
            f"{what}: {self.estimate:.3f}, {100 * self.prob:g}% cluster interval {self.low:.3f} to {self.high:.3f} "
            f"(standard error {self.se:.4f}, {self.df:.1f} degrees of freedom; attribute words: {lists})."
        )

    __repr__ = __str__


def cluster_interval(
    data: pd.DataFrame | xr.DataTree, first: str = "associated", second: str | None = None, prob: float = PROB
) -> ClusterInterval:
    """The interval of a contrast for the protected words at hand, attribute words being clusters.

    The contrast is the mean over protected words of the difference of two cell means. Written as a sum over attribute
    words, whose lists are independent samples, it has a variance without any model; a t quantile with Satterthwaite's
    degrees of freedom gives the interval. It is the leave-one-word-out jackknife's.

    Parameters
    ----------
    data
        A distance table, or a result of :func:`fit`.
    first, second
        Connections; the contrast is the mean of ``first`` minus that of ``second``, by default ``different`` or, where
        the table has none, ``human`` or ``neutral``.
    prob
        Confidence of the interval.

    Raises
    ------
    InputError
        A connection that the table does not hold, or the same one twice.

    References
    ----------
    Satterthwaite, F. E. (1946). An approximate distribution of estimates of variance components. Biometrics
    Bulletin 2(6). https://doi.org/10.2307/3002019
    """
    prob = probability(prob, "prob")
    rows = model_data(distances_of(data) if isinstance(data, xr.DataTree) else data)
    return interval_of(rows, *contrasted(first, second, rows.connections.tolist(), rows.filled), prob)


def contrasted(
    first: str, second: str | None, valid: list[str], filled: NDArray[np.bool_] | None = None
) -> tuple[str, str]:
    """The two connections of a contrast; where the second is left open, the first that is there of :data:`BESIDE`.

    Parameters
    ----------
    first, second
        What was asked.
    valid
        Connections (K,) that are there.
    filled
        Which protected words have which connections (J, K). Connections that some word has beside ``first`` are
        chosen before others: with stereotypes of one group only, no word has both associated and different ones.

    Raises
    ------
    InputError
        A connection that is not there, the same one twice, or none to choose.
    """
    one_of(first, valid, "the connection")
    if second is None:
        second = next(iter(beside(first, valid, filled)), None)
        if second is None:
            raise InputError(f"a contrast needs two connections, and there is only {first!r}")
    one_of(second, valid, "the connection")
    if first == second:
        raise InputError(f"a contrast needs two connections, given {first!r} twice; there are {', '.join(valid)}")
    return first, second


def beside(first: str, valid: list[str], filled: NDArray[np.bool_] | None = None) -> list[str]:
    """The connections that ``first`` can be set beside, the headline first; see :func:`contrasted`."""
    others = [name for name in BESIDE if name in valid and name != first]
    if filled is None:
        return others
    met = {name: bool((filled[:, valid.index(first)] & filled[:, valid.index(name)]).any()) for name in others}
    return sorted(others, key=lambda name: not met[name])


def interval_of(rows: ModelData, first: str, second: str, prob: float) -> ClusterInterval:
    """The cluster interval of rows that are checked already."""
    lists, names = lists_of(rows)
    a, b = rows.connections.tolist().index(first), rows.connections.tolist().index(second)
    found = clustered_contrast(rows.word, rows.connection, rows.attribute, lists, rows.y, rows.cells, a, b)
    used = np.isin(rows.connection, (a, b))
    words = dict(zip([names[at] for at in np.unique(lists[rows.attribute[used]])], found.words.tolist(), strict=False))
    reason = ""
    if np.isnan(found.estimate):
        reason = "no protected word has distances under both connections"
    elif np.isnan(found.se):
        reason = "a list has one attribute word only, so that its spread is not known"
    elif found.se < NO_SPREAD:
        reason = "the attribute words do not differ in what they contribute"
    low, high = t_ends(found.estimate, found.se, found.df, prob)
    return ClusterInterval(first, second, prob, found.estimate, found.se, found.df, low, high, words, reason)


def lists_of(rows: ModelData) -> tuple[IntArray, list[str]]:
    """The list of each attribute word, and the lists' names: its class, and the groups that it is associated with."""
    first_row = np.unique(rows.attribute, return_index=True)[1]
    own = rows.connections[rows.connection] == "associated"
    with_group = np.zeros((len(rows.attribute_words), len(rows.group_names)), dtype=bool)
    with_group[rows.attribute[own], rows.group_index[rows.word[own]]] = True
    keys = [
        (label, tuple(np.flatnonzero(met)))
        for label, met in zip(rows.attribute_class[first_row].tolist(), with_group, strict=True)
    ]
    distinct = list(dict.fromkeys(keys))
    labels = [label for label, _ in distinct]
    names = [
        label if labels.count(label) == 1 else f"{label} {' '.join(rows.group_names[at] for at in groups)}".strip()
        for label, groups in distinct
    ]
    return np.array([distinct.index(key) for key in keys]), names
