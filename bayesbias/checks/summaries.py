"""Intervals: of parameters, and of contrasts with attribute words as clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesbias._support.arguments import flag, one_of, probability
from bayesbias._support.phrases import MINUS, percent
from bayesbias._support.results import Result
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError
from bayesbias.models.families import family_of
from bayesbias.models.tree import EFFECTS, Fit, read_distances
from bayesbias.models.weights import whole_weights
from bayesbias.numerics.arrays import NOTHING, FloatArray, IntArray
from bayesbias.numerics.resampling import clustered_contrast, shortest_interval, sorted_interval, t_ends
from bayesbias.words import counterparts

PROB = 0.89  # the share of posterior mass in an interval unless another is asked for, as in the published study
ETI, HDI = "eti", "hdi"
INTERVALS = {ETI: sorted_interval, HDI: shortest_interval}
"""ArviZ's names of the two kinds of interval, equal-tailed and of highest density, and what finds their ends."""


def interval_ends(draws: FloatArray, prob: float, ci_kind: str = ETI) -> tuple[FloatArray, FloatArray]:
    """Lower and upper ends (...) of intervals of draws (D, ...), equal-tailed ones by default; NaN where a draw is."""
    ordered = np.array(np.moveaxis(draws, 0, -1), order="C")
    ordered.sort(axis=-1)
    low, high = INTERVALS[ci_kind](ordered, prob)
    missing = np.isnan(ordered[..., -1])
    return np.where(missing, np.nan, low), np.where(missing, np.nan, high)


def describe(draws: FloatArray, prob: float, ci_kind: str = ETI) -> dict[str, FloatArray]:
    """``mean``, ``sd``, ``low`` and ``high`` (...) of draws (D, ...)."""
    low, high = interval_ends(draws, prob, ci_kind)
    return {"mean": draws.mean(axis=0), "sd": draws.std(axis=0, ddof=1), "low": low, "high": high}


def flat_draws(values: FloatArray) -> FloatArray:
    """Draws (chain, draw, ...) as (chain * draw, ...)."""
    return np.reshape(values, (-1, *np.shape(values)[2:]))


DIMENSIONS = ["protected_word", "connection", "attribute_word", "attribute_class", "word_group"]
"""Columns of a summary that say what a parameter is of, in their order; the first two are always there."""
LEFT_OUT = (*EFFECTS, "connection_covariance")
"""Parameters that a summary leaves out unless effects are asked for: they are many, or of no use one by one."""


def summary(post: xr.DataTree, prob: float = PROB, effects: bool = False, ci_kind: str = ETI) -> pd.DataFrame:
    """Means, sds and intervals of the parameters, with the number of distances behind each.

    Parameters
    ----------
    post
        A result of :func:`fit`.
    prob
        Posterior mass of the intervals.
    effects
        Whether the effects of single attribute words (``attribute_effect``, ``interaction_effect``), or the variances
        of connections, have rows too.
    ci_kind
        Kind of interval, by ArviZ's names: ``"eti"``, equal-tailed as everywhere else in the package, or ``"hdi"``, of
        highest density. The table's ``attrs["ci_kind"]`` says which, and ``attrs["notes"]`` where words are taken for
        unrelated.

    Returns
    -------
    DataFrame
        Columns ``parameter``, ``protected_word``, ``connection`` and, where a model has them, ``attribute_word``,
        ``attribute_class`` and ``word_group`` (pd.NA where they do not apply), ``mean``, ``sd``, ``low``, ``high``
        (cosine distance) and ``n``: distances in the cell, in the connection, of the attribute word, or in all. Cells
        without a distance have no row.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, seed=0)
    >>> bb.summary(post)[["parameter", "connection", "mean"]].round(2).head(3)
             parameter  connection  mean
    0  connection_mean  associated  0.93
    1  connection_mean   different  0.94
    2  connection_mean       human  0.95
    """
    result = Fit.read(post)
    prob, effects = probability(prob, "prob"), flag(effects, "effects")
    one_of(ci_kind, INTERVALS, "ci_kind")
    places = result.places
    pieces = []
    for name, values in result.posterior.data_vars.items():
        if name in LEFT_OUT and not effects:
            continue
        numbers = describe(flat_draws(values.to_numpy()), prob, ci_kind)
        values = values[0, 0]
        labels = [str(dim) for dim in values.dims]
        shape = values.shape
        grid = np.indices(shape).reshape(len(shape), int(np.prod(shape)))
        names = {dim: values[dim].to_numpy()[codes] for dim, codes in zip(labels, grid, strict=True)}
        # the distances behind each value of this parameter; along a dimension of one's own they are the same
        index = [place for dim in labels if (place := places.get(dim)) is not None]
        sizes = [size for dim, size in zip(labels, shape, strict=True) if dim in places]
        place = np.ravel_multi_index(index, sizes) if index else np.zeros_like(places["connection"])
        by_place = np.bincount(place, minlength=int(np.prod(sizes))).reshape(sizes)
        own = tuple(i for i, dim in enumerate(labels) if dim not in places)
        n = np.broadcast_to(np.expand_dims(by_place, own), shape)
        flat = {key: np.ravel(value) for key, value in numbers.items()}
        pieces.append(pd.DataFrame({"parameter": name, **names, **flat, "n": n.ravel()}))
    table = pd.concat(pieces, ignore_index=True)
    dims = [dim for dim in DIMENSIONS if dim in table or dim in DIMENSIONS[:2]]
    figures = ("parameter", "mean", "sd", "low", "high", "n")
    dims += [str(column) for column in table if column not in (*dims, *figures)]
    table = table.reindex(columns=["parameter", *dims, "mean", "sd", "low", "high", "n"])
    table = table[table["n"] > 0].reset_index(drop=True)
    table = table.assign(**{column: table[column].astype("string") for column in dims})
    notes = (*result.data.limits, *filter(None, [family_of(result.spec).caution]))
    table.attrs |= {"prob": prob, "ci_kind": ci_kind, "notes": notes}
    return table


@dataclass(frozen=True, repr=False)
class ClusterInterval(Result):
    """A contrast of cell-balanced means with attribute words as clusters, for these protected words.

    Attributes
    ----------
    first, second, prob
        The two connections, and the mass of the interval.
    estimate, se, low, high
        In cosine distance; NaN where there is no interval.
    df
        Satterthwaite's degrees of freedom.
    words
        List to its number of attribute words.
    reason
        Why there is no interval; empty if there is one.
    """

    notes: ClassVar[tuple[str, ...]] = ()

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

    def findings(self) -> list[str]:
        what = f"{self.first}{MINUS}{self.second}, for these protected words"
        if self.reason:
            return [f"{what}: no interval, because {self.reason}."]
        lists = ", ".join(f"{name} {count}" for name, count in self.words.items())
        return [
            f"{what}: {self.estimate:.3f}, {percent(self.prob)} cluster interval {self.low:.3f} to {self.high:.3f} "
            f"(standard error {self.se:.4f}, {self.df:.1f} degrees of freedom; attribute words: {lists})."
        ]

    def table(self) -> pd.DataFrame:
        """One row: ``contrast``, ``estimate``, ``se``, ``df``, ``low``, ``high``."""
        row = (f"{self.first} - {self.second}", self.estimate, self.se, self.df, self.low, self.high)
        return pd.DataFrame([row], columns=["contrast", "estimate", "se", "df", "low", "high"])


def cluster_interval(
    data: pd.DataFrame | xr.DataTree, first: str = "associated", second: str | None = None, prob: float = PROB
) -> ClusterInterval:
    """The interval of a contrast for the given protected words, attribute words being clusters.

    The mean over protected words of the difference of two cell means, in which groups weigh the same, is a sum over
    attribute words, whose lists are independent samples: it has a variance without any model, that of the
    leave-one-word-out jackknife. A t quantile with Satterthwaite's degrees of freedom gives the interval.

    Parameters
    ----------
    data
        A distance table, or a result of :func:`fit`.
    first, second
        Connections; the contrast is the mean of ``first`` minus that of ``second``, by default ``different`` or, where
        the table has none, the first control list that is there.
    prob
        Confidence of the interval.

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
    """The two connections of a contrast, of K that are there; a second that is left open is the first of its partners.

    ``filled`` says which protected words have which connections (J, K), see :func:`contrast_partners`.
    """
    one_of(first, valid, "the connection")
    if second is None:
        second = next(iter(contrast_partners(first, valid, filled)), None)
        if second is None:
            raise InputError(f"a contrast needs two connections, and there is only {first!r}")
    one_of(second, valid, "the connection")
    if first == second:
        raise InputError(f"a contrast needs two connections, given {first!r} twice; there are {', '.join(valid)}")
    return first, second


def contrast_partners(first: str, valid: list[str], filled: NDArray[np.bool_] | None = None) -> list[str]:
    """The connections that ``first`` can be contrasted with, the headline first.

    Those that some word has beside ``first`` stand before others: with stereotypes of one group only, no word has both
    associated and different ones.
    """
    others = counterparts(first, valid)
    if filled is None:
        return others
    met = {name: bool((filled[:, valid.index(first)] & filled[:, valid.index(name)]).any()) for name in others}
    return sorted(others, key=lambda name: not met[name])


def cluster_interval_of(rows: Distances, first: str, second: str, prob: float) -> ClusterInterval:
    """The cluster interval of rows that are checked already."""
    lists, names = attribute_lists(rows)
    places = [rows.connections.tolist().index(name) for name in (first, second)]
    weights = whole_weights(rows, rows.filled[:, places].all(axis=1))
    contrast = clustered_contrast(
        rows.word, rows.connection, rows.attribute, lists, rows.y, rows.cells, places[0], places[1], weights
    )
    compared = np.isin(rows.connection, places)
    met = [names[label] for label in np.unique(lists[rows.attribute[compared]])]
    words = dict(zip(met, contrast.words.tolist(), strict=False))
    reason = ""
    if np.isnan(contrast.estimate):
        reason = "no protected word has distances under both connections"
    elif np.isnan(contrast.se):
        reason = "a list has one attribute word only, so that its spread is not known"
    elif contrast.se <= NOTHING:
        reason = "the attribute words do not differ in what they contribute"
    low, high = t_ends(contrast.estimate, contrast.se, contrast.df, prob)
    return ClusterInterval(first, second, prob, contrast.estimate, contrast.se, contrast.df, low, high, words, reason)


def attribute_lists(rows: Distances) -> tuple[IntArray, list[str]]:
    """The list of each attribute word, (W,), and the names of the lists.

    A list is the words of one class that are associated with the same groups; it is named by the class, and by the
    groups too where several lists have that class.
    """
    first_row = np.unique(rows.attribute, return_index=True)[1]
    own = rows.connections[rows.connection] == "associated"
    with_group = np.zeros((len(rows.attribute_words), len(rows.group_names)), dtype=bool)
    with_group[rows.attribute[own], rows.group_index[rows.word[own]]] = True
    keys = [
        (label, tuple(np.flatnonzero(met)))
        for label, met in zip(rows.attribute_class[first_row].tolist(), with_group, strict=True)
    ]
    lists = list(dict.fromkeys(keys))
    labels = [label for label, _ in lists]
    names = [
        label
        if labels.count(label) == 1
        else f"{label} {' '.join(rows.group_names[group] for group in groups)}".strip()
        for label, groups in lists
    ]
    return np.array([lists.index(key) for key in keys]), names
