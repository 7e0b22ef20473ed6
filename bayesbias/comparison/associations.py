"""Associations of words and differences of mean distances: the posteriors behind contrasts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy import sparse

from bayesbias._checks import one_of, probability
from bayesbias._core.mixtures import pooled_rows
from bayesbias._core.vectors import FloatArray, IntArray
from bayesbias.checks.summaries import PROB, flat_draws
from bayesbias.distances.distances import Distances
from bayesbias.distances.storage import carried_labels
from bayesbias.errors import InputError, listed
from bayesbias.models.cells import (
    Cells,
    association_weights,
    cells_of,
    difference_weights,
    list_difference_weights,
    nearness_weights,
    whole_weights,
)
from bayesbias.models.families import functionals_of
from bayesbias.models.functionals import DrawnFunctionals, Functionals, NormalFunctionals, figures
from bayesbias.models.related import distance_sd
from bayesbias.models.results import Fit
from bayesbias.words import OTHER, OWN

GIVEN, SIMILAR = "given", "similar"
POPULATIONS = {
    GIVEN: "these protected words and attribute lists like these",
    SIMILAR: "protected words and attribute lists like these",
}
"""What a whole-list contrast speaks about, in words."""
RAW, POOLED, DIFFERENCE = ROWS = ("association", "pooled", "difference")
MEANINGS = {
    POOLED: "Rows of words are associations, partially pooled: a word's own stereotypes against those of other groups, "
    "less how near each list is to all protected words.",
    RAW: "Rows of words are associations: a word's own stereotypes against those of other groups, less how near each "
    "list is to all protected words.",
    DIFFERENCE: "Rows of words are differences of two mean distances. They also hold how near the lists are to all "
    "protected words, so that a row by itself is not the word's bias.",
}
"""What the rows of single words are."""
POOL_SD = 0.35
"""Scale of the half-Cauchy prior of the standard deviation between words' associations, in standard deviations of a
protected word's distances to the vocabulary: .03 in cosine distance for Google News."""


@dataclass(frozen=True)
class Rows:
    """Posteriors behind a table of contrasts.

    Attributes
    ----------
    whole
        One quantity: the whole list.
    words
        One for each protected word that has a row.
    kept
        Which protected words (J,) have a row.
    weights
        Weight (J,) of each word in the whole list.
    kind
        One of :data:`ROWS`.
    notes
        Sentences on what the rows could not be.
    """

    whole: Functionals
    words: Functionals
    kept: NDArray[np.bool_]
    weights: FloatArray
    kind: str
    notes: tuple[str, ...] = ()


def rows_of(result: Fit, first: str, second: str, population: str = GIVEN, rows: str | None = None) -> Rows:
    """Posteriors of a contrast for the whole list and for each protected word."""
    data = result.data
    cells = cells_of(data)
    lacking = why_no_association(data, cells, first, second)
    if rows is None:
        rows = DIFFERENCE if lacking else RAW
    one_of(rows, ROWS, "rows")
    if rows == DIFFERENCE:
        drawn = _difference_rows(result, cells, first, second)
    elif lacking:
        raise InputError(f"rows={rows!r}: {lacking}; rows='difference' gives differences of mean distances")
    else:
        drawn = _association_rows(result, cells, rows)
    notes = (*drawn.notes, *([f"There are no associations: {lacking}."] if lacking and second == OTHER else ()))
    if population == SIMILAR:
        draws = flat_draws(result.posterior["connection_mean"].sel(connection=[first, second]).to_numpy())
        whole: Functionals = DrawnFunctionals((draws @ [1.0, -1.0])[:, None])
    else:
        whole = drawn.whole
    return Rows(whole, drawn.words, drawn.kept, drawn.weights, drawn.kind, notes)


def why_no_association(data: Distances, cells: Cells, first: str = OWN, second: str = OTHER) -> str:
    """What a contrast or a table lacks to have associations; empty if it has them."""
    if (first, second) != (OWN, OTHER):
        return f"associations are rows of {OWN} - {OTHER}, not of {first} - {second}"
    if "" in data.groups.tolist():
        return "the groups of the protected words are not known: the table needs a column group"
    if len(cells.lists) < 2:
        names = [repr(name) for name in cells.columns[cells.connections :]]
        there = f"only {names[0]} has" if names else "no group has"
        return f"an association needs the stereotype lists of two groups, and {there} one"
    if same := cells.same_lists:
        return f"the stereotype lists of {listed(list(same))} hold the same words"
    if gone := groups_without(data, cells, cells.associated):
        return f"no protected word of {listed(gone)} has distances to the stereotypes of every group"
    return ""


def groups_without(data: Distances, cells: Cells, chosen: NDArray[np.bool_]) -> list[str]:
    """Groups with a stereotype list of which no protected word is among some chosen ones (J,)."""
    present = set(data.groups[chosen].tolist())
    return [name for name in cells.columns[cells.connections :] if name not in present]


def _difference_rows(result: Fit, cells: Cells, first: str, second: str) -> Rows:
    """Differences of mean distances under two connections."""
    data = result.data
    names = data.connections.tolist()
    places = [names.index(first), names.index(second)]
    kept = cells.filled[:, places].all(axis=1)
    weights = whole_weights(data, kept)
    if not kept.any():
        draws = result.draws("connection_mean")
        whole = DrawnFunctionals((draws[:, places[0]] - draws[:, places[1]])[:, None])
        return Rows(whole, DrawnFunctionals(np.empty((len(draws), 0))), kept, weights, DIFFERENCE)
    chosen = np.flatnonzero(kept)
    between = difference_weights(cells, chosen, *(np.full(len(chosen), place) for place in places))
    words = functionals_of(result, cells, between)
    return Rows(words.combined(weights[kept][None]), words, kept, weights, DIFFERENCE)


def _association_rows(result: Fit, cells: Cells, kind: str) -> Rows:
    """Associations, as they were observed or partially pooled.

    Models with normal means of words pool them themselves; that of related words does not, so that its associations
    are pooled here.
    """
    data, kept = result.data, cells.associated
    weights = whole_weights(data, kept)
    words = np.flatnonzero(kept)
    combine, parts = association_weights(cells, words, weights)
    raw = functionals_of(result, cells, parts).combined(combine)
    rows = Rows(raw.combined(weights[words][None]), raw, kept, weights, kind, tuple(_doubts(data, cells)))
    if kind == RAW or not isinstance(raw, NormalFunctionals):
        return rows
    pooled = _pooled_associations(raw, weights[words], data.group_index[words], POOL_SD * distance_sd(data))
    return Rows(rows.whole, pooled, kept, weights, kind, rows.notes)


def _pooled_associations(raw: NormalFunctionals, weights: FloatArray, groups: IntArray, scale: float) -> Functionals:
    """Associations whose deviations from the whole list are partially pooled.

    Parameters
    ----------
    raw
        The associations as they were observed.
    weights, groups
        Weight and group of each word.
    scale
        Scale of the half-Cauchy prior of the standard deviation between words.
    """
    several = len(np.unique(groups)) > 2
    # with two groups the mean association of each is the whole list, by arithmetic
    block = np.zeros(len(groups), dtype=np.intp) if several else np.unique(groups, return_inverse=True)[1]
    grid = (raw.grid.factor, raw.grid.mass[raw.classes[0]])
    return pooled_rows(raw.mean, raw.roots[0], weights, block, grid, scale) or raw


def _doubts(data: Distances, cells: Cells) -> list[str]:
    """Lists that an association rests on only in part."""
    notes = []
    if cells.in_several:
        notes.append(
            f"{listed(list(cells.in_several))} stand in the stereotype lists of several groups, and count in each."
        )
    sizes = cells.n[:, cells.lists].max(axis=0)
    single = [name for name, size in zip(cells.columns[cells.connections :], sizes, strict=True) if size == 1]
    if single:
        notes.append(
            f"One stereotype word only was found for {listed(single)}: how far another one would lie is known from "
            "the vocabulary and the other lists alone."
        )
    return notes


def association(post: xr.DataTree, prob: float = PROB, by: str = "protected_word") -> pd.DataFrame:
    """The association of each protected word, or group, with each stereotype list.

    The association of word j with list l is G / (G - 1) times the double-centred mean distance g[j, l]: how much nearer
    the word is to this list than to the others, less how much nearer all protected words are. Those of a word add up to
    0. With its own list it is the row of :func:`contrasts`.

    Parameters
    ----------
    post
        A result of :func:`fit`.
    prob
        Posterior mass of the equal-tailed intervals.
    by
        ``"protected_word"``, or ``"group"``: means over the words of each group, for three groups or more.

    Returns
    -------
    DataFrame
        One row for each word, or group, and list: ``protected_word``, ``group``, ``list``, ``own`` (whether the list is
        that of the word's group), ``mean``, ``sd``, ``low``, ``high`` (cosine distance; negative: closer),
        ``p_closer``. ``table.pivot(index="protected_word", columns="list", values="mean")`` is the matrix;
        :func:`plots.plot_association <bayesbias.plots.plot_association>` draws it.

    Examples
    --------
    >>> post = bb.fit(bb.distance_table("google-news-slice", "religion"), seed=0)
    >>> bb.association(post, by="group").round(3).head(3)[["group", "list", "own", "mean"]]
       group       list    own   mean
    0    jew        jew   True -0.026
    1    jew  christian  False -0.027
    2    jew     muslim  False  0.053
    """
    result = Fit.read(post)
    prob = probability(prob, "prob")
    one_of(by, ("protected_word", "group"), "by")
    data = result.data
    cells = cells_of(data)
    if lacking := why_no_association(data, cells):
        raise InputError(f"there are no associations: {lacking}")
    rows = np.flatnonzero(cells.associated)
    lists, size = cells.columns[cells.connections :], len(cells.lists)
    weights = whole_weights(data, cells.associated)
    # list by list: the words' difference of this list and the others, less that of the mean word
    of_words = [list_difference_weights(cells, rows, np.full(len(rows), column)) for column in cells.lists]
    every = sparse.vstack([*of_words, nearness_weights(cells, weights)], format="csr")
    sums = functionals_of(result, cells, every)
    # the nearness of a list is the mean word's difference of this list and the others
    mean_word = sparse.kron(sparse.eye_array(size), np.ones((len(rows), 1)))
    combine = sparse.hstack([sparse.eye_array(len(rows) * size), -mean_word], format="csr")
    table_of = sums.combined(combine)
    order = np.arange(len(rows) * size).reshape(size, len(rows)).T.ravel()
    words, groups = data.protected_words[rows], data.groups[rows]
    if by == "group":
        names, means = _group_means(groups)
        if len(names) < 3:
            raise InputError(
                "by='group': with two groups the mean association of each is the whole list, by arithmetic; it takes "
                "three groups"
            )
        by_group = np.vstack([np.kron(np.eye(size), row) for row in means])
        table = pd.DataFrame({"group": np.repeat(names, size), "list": np.tile(lists, len(names))})
        numbers = figures(table_of.combined(by_group), prob)
    else:
        table = pd.DataFrame(
            {
                "protected_word": np.repeat(words, size),
                "group": np.repeat(groups, size),
                "list": np.tile(lists, len(words)),
            }
        )
        numbers = {name: values[order] for name, values in figures(table_of, prob).items()}
    table = table.astype("string")
    table["own"] = table["group"] == table["list"]
    table = table.assign(**numbers)
    table.attrs = {
        "prob": prob,
        "left_out": data.protected_words[~cells.associated].tolist(),
        **carried_labels(data.labels),
    }
    return table


def _group_means(groups: NDArray[np.str_]) -> tuple[list[str], FloatArray]:
    """Names of groups in their order, and the weights (groups, J) of their means over words."""
    names = [str(name) for name in dict.fromkeys(groups.tolist())]
    return names, np.array([(groups == name) / (groups == name).sum() for name in names])


def group_weights(groups: NDArray[np.str_]) -> tuple[list[str], FloatArray]:
    """Labels of groups and of each two of them, and the weights (labels, J) of their means over words."""
    names, means = _group_means(groups)
    first, second = np.triu_indices(len(names), 1)
    labels = [*names, *(f"{names[i]} - {names[j]}" for i, j in zip(first, second, strict=True))]
    return labels, np.vstack([means, means[first] - means[second]])
