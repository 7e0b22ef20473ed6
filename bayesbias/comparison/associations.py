"""Associations of words and parts of contrasts: the posteriors behind tables of contrasts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy import sparse

from bayesbias._checks import one_of, probability
from bayesbias._core.mixtures import false_sign_rates, pooled_rows, s_values
from bayesbias._core.vectors import FloatArray, IntArray
from bayesbias._phrases import difference, percent, signed
from bayesbias.checks.summaries import PROB, flat_draws
from bayesbias.distances.distances import Distances
from bayesbias.distances.storage import carried_labels
from bayesbias.errors import InputError, listed
from bayesbias.models.families import functionals_of
from bayesbias.models.functionals import (
    Cells,
    DrawnFunctionals,
    Functionals,
    NormalFunctionals,
    association_weights,
    cells_of,
    difference_weights,
    figures,
    list_difference_weights,
    nearness_weights,
    whole_weights,
)
from bayesbias.models.related import prior_scale
from bayesbias.models.results import Fit
from bayesbias.words import CONTROLS, OTHER, OWN, WHOLE, controls_of, labelled

GIVEN, SIMILAR = "given", "similar"
POPULATIONS = {
    GIVEN: "these protected words and attribute lists like these",
    SIMILAR: "protected words and attribute lists like these",
}
"""What a whole-list contrast speaks about, in words."""
RAW, POOLED, DIFFERENCE = ROWS = ("association", "pooled", "difference")
MEANINGS = {
    POOLED: "Rows of words are associations, partially pooled towards the whole list, their mean: a word's own "
    "stereotypes against those of other groups, less how near each list is to all protected words.",
    RAW: "Rows of words are associations, not pooled: a word's own stereotypes against those of other groups, less how "
    "near each list is to all protected words.",
    DIFFERENCE: "Rows of words are differences of two mean distances. They also hold how near the lists are to all "
    "protected words, so that a row by itself is not the word's bias.",
}
"""What the rows of single words are."""
POOL_SD = 0.35
"""Scale of the half-Cauchy prior of the standard deviation between words' associations, in standard deviations of a
protected word's distances to the vocabulary: .03 in cosine distance for Google News."""


SIGN_RATE = 0.025  # expected share of wrong signs among the words that are named together


def named_together(below: FloatArray) -> NDArray[np.bool_]:
    """Which signs (n,) are named: those of the lowest false sign rates, few of which are expected to be wrong.

    ``below`` are the posterior probabilities (n,) of one of the two signs.
    """
    return s_values(false_sign_rates(below)) < SIGN_RATE


@dataclass(frozen=True)
class Rows:
    """Posteriors behind a table of contrasts."""

    whole: Functionals  # one quantity: the whole list
    words: Functionals  # one for each protected word that has a row
    pooled: Functionals  # the same rows with deviations from the whole list partially pooled
    kept: NDArray[np.bool_]  # which protected words (J,) have one
    kind: str  # one of ROWS
    of_given: Functionals  # the whole list of these protected words, whichever population ``whole`` speaks about
    notes: tuple[str, ...] = ()  # on what the rows could not be

    def clear_signs(self, prob: float) -> IntArray:
        """-1 for words that are closer, 1 for words that are farther, 0 for words whose sign is not clear.

        Rows share most of their errors, so that no sign is clear where the interval of the whole list includes 0.
        Where it does not, the words with the lowest false sign rates are named together.
        """
        tail = (1 - prob) / 2
        if self.of_given.quantile(tail)[0] <= 0 <= self.of_given.quantile(1 - tail)[0]:
            return np.zeros(int(self.kept.sum()), dtype=np.intp)
        below = self.pooled.below(0.0)
        return np.where(named_together(below), np.where(below > 0.5, -1, 1), 0)


def rows_of(result: Fit, first: str, second: str, population: str = GIVEN, rows: str | None = None) -> Rows:
    """Posteriors of a contrast for the whole list and for each protected word."""
    data = result.data
    cells = cells_of(data)
    lacking = why_no_association(data, cells, first, second)
    if rows is None:
        rows = DIFFERENCE if lacking else POOLED
    one_of(rows, ROWS, "rows")
    if rows == DIFFERENCE:
        drawn = _difference_rows(result, cells, first, second)
    elif lacking:
        raise InputError(f"rows={rows!r}: {lacking}; rows='difference' gives differences of mean distances")
    else:
        drawn = _association_rows(result, cells, rows)
    if lacking and second == OTHER:
        drawn = replace(drawn, notes=(*drawn.notes, f"There are no associations: {lacking}."))
    if population == SIMILAR:
        draws = flat_draws(result.posterior["connection_mean"].sel(connection=[first, second]).to_numpy())
        drawn = replace(drawn, whole=DrawnFunctionals((draws @ [1.0, -1.0])[:, None]))
    return drawn


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
    if not kept.any():
        draws = result.draws("connection_mean")
        means = DrawnFunctionals((draws[:, places[0]] - draws[:, places[1]])[:, None])
        none = DrawnFunctionals(np.empty((len(draws), 0)))
        return Rows(means, none, none, kept, DIFFERENCE, means)
    chosen, weights = np.flatnonzero(kept), whole_weights(data, kept)[kept]
    between = difference_weights(cells, chosen, *(np.full(len(chosen), place) for place in places))
    words = functionals_of(result, cells, between)
    whole = words.combined(weights[None])
    pooled = _pooled(result, words, weights, np.zeros_like(chosen))
    return Rows(whole, words, pooled, kept, DIFFERENCE, whole)


def _association_rows(result: Fit, cells: Cells, kind: str) -> Rows:
    """Associations, as they were observed or partially pooled."""
    data, kept = result.data, cells.associated
    weights = whole_weights(data, kept)
    words = np.flatnonzero(kept)
    combine, parts = association_weights(cells, words, weights)
    raw = functionals_of(result, cells, parts).combined(combine)
    pooled = _pooled(result, raw, weights[words], pooled_blocks(data.group_index[words]))
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
    whole = raw.combined(weights[words][None])
    return Rows(whole, pooled if kind == POOLED else raw, pooled, kept, kind, whole, tuple(notes))


def pooled_blocks(groups: IntArray) -> IntArray:
    """Blocks (J,) of words whose deviations have the mean 0 by arithmetic, from numbers of their groups."""
    labels = np.unique(groups, return_inverse=True)[1]
    # with two groups the mean association of each is the whole list
    return np.zeros_like(labels) if labels.max() > 1 else labels


def _pooled(result: Fit, raw: Functionals, weights: FloatArray, block: IntArray) -> Functionals:
    """Rows partially pooled by the model of related words; other models have pooled the means of words themselves."""
    if not result.related:
        return raw
    return pooled_over_words(raw, weights, block, POOL_SD * prior_scale(result.data))


def pooled_over_words(raw: Functionals, weights: FloatArray, block: IntArray, scale: float) -> Functionals:
    """Rows (J,) whose deviations from their weighted mean are partially pooled, see :func:`pooled_rows`."""
    if isinstance(raw, NormalFunctionals) and len(raw.classes) == 1:
        grid = raw.grid.factor, raw.grid.mass[raw.classes[0]]
        return pooled_rows(raw.mean, raw.roots[0], weights, block, grid, scale) or raw
    if isinstance(raw, NormalFunctionals):  # several factors: normal, with the covariance that they give on average
        kinds = list(raw.classes)
        covariance = np.einsum("ab,amr,bnr->mn", raw.grid.products[np.ix_(kinds, kinds)], raw.roots, raw.roots)
    elif isinstance(raw, DrawnFunctionals):  # the same of draws
        covariance = np.atleast_2d(np.cov(raw.values, rowvar=False))
    else:
        return raw
    sizes, axes = np.linalg.eigh(covariance)
    root = axes * np.sqrt(np.maximum(sizes, 0))
    return pooled_rows(raw.mean, root, weights, block, (np.ones(1), np.ones(1)), scale) or raw


def association(post: xr.DataTree, prob: float = PROB, by: str = "protected_word") -> pd.DataFrame:
    """The association of each protected word, or group, with each stereotype list.

    The association of word j with list l is G / (G - 1) times the double-centred mean distance g[j, l]: how much nearer
    the word is to this list than to the others, less how much nearer all protected words are. Those of a word add up to
    0. With its own list it is the row of ``contrasts(post, rows="association")``: nothing is pooled here.

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
        names, means = group_means(groups)
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


def group_means(groups: NDArray[np.str_]) -> tuple[list[str], FloatArray]:
    """Names of groups in their order, and the weights (groups, J) of their means over words."""
    names = [str(name) for name in dict.fromkeys(groups.tolist())]
    return names, np.array([(groups == name) / (groups == name).sum() for name in names])


def group_weights(groups: NDArray[np.str_]) -> tuple[list[str], FloatArray]:
    """Labels of groups and of each two of them, and the weights (labels, J) of their means over words."""
    names, means = group_means(groups)
    first, second = np.triu_indices(len(names), 1)
    labels = [*names, *(f"{names[i]} - {names[j]}" for i, j in zip(first, second, strict=True))]
    return labels, np.vstack([means, means[first] - means[second]])


ONE_GROUP = (
    "With one group only it cannot be told how much of this is special to its own stereotypes, and how much is shared "
    "by stereotype words of any kind."
)
"""What a fit without distances to other groups' stereotypes leaves open."""
PARTS_OF_WORD = (RAW, "nearness of the lists", "nearness of the word")  # parts of a protected word's contrast
WHOLE_OF_WORDS = np.array([[1.0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
"""Parts of the whole list, and their sum, from those of words and their sum."""


class Parts(NamedTuple):
    """Posteriors of the parts of a contrast and their sum, which is the last of the labels."""

    whole_labels: tuple[str, ...]
    word_labels: tuple[str, ...]
    whole: Functionals
    words: Functionals  # part by part, all protected words of each
    kept: NDArray[np.bool_]  # which protected words (J,) have what the parts need

    def of_word(self, place: int) -> slice:
        """Where in ``words`` a part is, by its place among the labels."""
        count = int(self.kept.sum())
        return slice(place * count, (place + 1) * count)


def decomposition(
    post: xr.DataTree, second: str | None = None, prob: float = PROB, population: str = GIVEN
) -> pd.DataFrame:
    """A contrast of associated words with a control list as a sum of parts.

    For the whole list (associated - human) = (associated - different) + (different - human): how much closer protected
    words are to their own stereotypes than to those of other groups, and how much closer to these than to control
    words, as stereotype words of any kind may be.

    For a word (associated - human) = association + nearness of the lists + nearness of the word: the row of
    ``contrasts(post, rows="association")``; how much nearer the word's own list is to all protected words than other
    lists are (0 in the mean); and how much nearer the word is to other groups' stereotypes than to control words. The
    association is not pooled here, so that the parts add up.

    Parameters
    ----------
    post
        A result of :func:`fit`.
    second
        The control list; by default human, or else the first that the fit has.
    prob
        Posterior mass of the equal-tailed intervals.
    population
        What the rows of the whole list speak about, as in :func:`contrasts`.

    Returns
    -------
    DataFrame
        The parts and their sum: three rows for the whole list (``protected_word`` is ``"whole list"``), then four for
        each protected word, or three of a table without associations. Columns ``protected_word``, ``contrast``,
        ``mean``, ``sd``, ``low``, ``high`` (cosine distance), ``p_closer``. ``attrs`` holds ``second``, ``prob``,
        ``population`` and ``left_out``, the words without distances to one of the lists.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, seed=0)
    >>> bb.decomposition(post)[["protected_word", "contrast", "mean"]].round(3).head(4)
      protected_word                contrast   mean
    0     whole list  associated - different -0.014
    1     whole list       different - human -0.005
    2     whole list      associated - human -0.019
    3           math             association  0.018
    """
    result = Fit.read(post)
    prob = probability(prob, "prob")
    names = result.data.protected_words
    parts = decomposition_parts(result, second, population)
    table = tabulated(parts, names, prob)
    table.attrs = {
        "second": parts.whole_labels[-1].split(" - ")[1],
        "prob": prob,
        "population": population,
        "left_out": names[~parts.kept].tolist(),
        **carried_labels(result.labels),
    }
    return table


def decomposition_parts(result: Fit, second: str | None = None, population: str = GIVEN) -> Parts:
    """Posteriors of the parts; see :func:`decomposition`."""
    one_of(population, tuple(POPULATIONS), "population")
    data = result.data
    names = data.connections.tolist()
    second = control_of_parts(names, second)
    cells = cells_of(data)
    labels: tuple[str, ...] = (f"{OWN} - {OTHER}", f"{OTHER} - {second}", f"{OWN} - {second}")
    places = [names.index(name) for name in (OWN, OTHER, second)]
    if why_no_association(data, cells):  # differences of mean distances in their place
        kept = cells.filled[:, places].all(axis=1)
        if not kept.any():
            raise InputError(f"no protected word has {OWN}, {OTHER} and {second} distances")
        chosen = np.flatnonzero(kept)
        pairs = [(places[0], places[1]), (places[1], places[2]), (places[0], places[2])]
        parts = [difference_weights(cells, chosen, *(np.full(len(chosen), place) for place in pair)) for pair in pairs]
        words = functionals_of(result, cells, sparse.vstack(parts, format="csr"))
        whole: Functionals = words.combined(np.kron(np.eye(3), whole_weights(data, kept)[kept]).astype(float))
        of_word = labels
    else:
        kept, weights, combine, first = decomposition_weights(data, cells, second)
        words = functionals_of(result, cells, first).combined(combine)
        whole = words.combined(np.kron(WHOLE_OF_WORDS, weights[kept]))
        of_word = (*PARTS_OF_WORD, labels[-1])
    if population == SIMILAR:
        draws = result.draws("connection_mean")[:, places]
        whole = DrawnFunctionals(draws @ np.array([[1.0, 0, 1], [-1, 1, 0], [0, -1, -1]]))
    return Parts(labels, of_word, whole, words, kept)


def decomposition_weights(
    data: Distances, cells: Cells, second: str
) -> tuple[NDArray[np.bool_], FloatArray, sparse.csr_array, sparse.csr_array]:
    """Which words (J,) have all parts, their weights (J,), and two matrices whose product weighs the cells.

    The rows of the product are the four parts of all words, part by part.
    """
    if lacking := why_no_association(data, cells):
        raise InputError(f"a decomposition needs associations: {lacking}. {ONE_GROUP}")
    control = data.connections.tolist().index(second)
    kept = cells.associated & cells.filled[:, control]
    if gone := groups_without(data, cells, kept):
        raise InputError(
            f"a decomposition needs words of each group with distances to every stereotype list and to {second} words, "
            f"and {listed(gone)} has none"
        )
    weights, words = whole_weights(data, kept), np.flatnonzero(kept)
    count, groups = len(words), len(cells.lists)
    own = list_difference_weights(cells, words, cells.own[words])
    near = nearness_weights(cells, weights)
    total = difference_weights(cells, words, cells.own[words], np.full(count, control))
    first = sparse.vstack([own, near, total], format="csr")
    place = cells.own[words] - cells.connections
    select = sparse.csr_array((np.ones(count), (np.arange(count), place)), shape=(count, groups))
    identity = sparse.eye_array(count)
    combine = sparse.block_array(
        [
            [identity, -select, None],
            [None, select, sparse.csr_array((count, count))],
            [-identity, None, identity],
            [None, None, identity],
        ],
        format="csr",
    )
    return kept, weights, combine, first


def decomposable(filled: NDArray[np.bool_], valid: list[str]) -> list[str]:
    """Control lists whose contrast with associated words has a decomposition; ``filled`` (J, K) by K connections."""
    if not {OWN, OTHER} <= set(valid):
        return []
    both = filled[:, [valid.index(OWN), valid.index(OTHER)]].all(axis=1)
    return [name for name in controls_of(valid) if (both & filled[:, valid.index(name)]).any()]


def decomposable_controls(result: Fit) -> list[str]:
    """The same for a fit."""
    data = result.data
    return decomposable(data.filled, data.connections.tolist())


def control_of_parts(valid: list[str], second: str | None) -> str:
    """The control list of a decomposition, of connections that have one."""
    known = controls_of(valid) or controls_of(CONTROLS)
    second = known[0] if second is None else one_of(second, known, "second")
    missing = [name for name in (OWN, OTHER, second) if name not in valid]
    if OTHER in missing and OWN in valid:
        raise InputError(
            f"there are no distances to the stereotypes of other groups, only {', '.join(valid)}. {ONE_GROUP}"
        )
    if missing:
        raise InputError(f"there are no {missing[0]} distances, only {', '.join(valid)}")
    return second


def tabulated(parts: Parts, names: np.ndarray, prob: float) -> pd.DataFrame:
    """The table of :func:`decomposition`: whole list first, then the parts of each word."""
    of_words = figures(parts.words, prob)
    count, size = int(parts.kept.sum()), len(parts.word_labels)
    order = np.arange(count * size).reshape(size, count).T.ravel()
    top = pd.DataFrame({"protected_word": WHOLE, "contrast": parts.whole_labels, **figures(parts.whole, prob)})
    rows = pd.DataFrame(
        {
            "protected_word": np.repeat(names[parts.kept], size),
            "contrast": np.tile(parts.word_labels, count),
            **{name: values[order] for name, values in of_words.items()},
        }
    )
    return pd.concat([top, rows], ignore_index=True).astype({"protected_word": "string", "contrast": "string"})


def decomposition_sentence(table: pd.DataFrame, of: str = "", figure: Callable[[float], str] = signed) -> str:
    """One sentence on the whole list of a table of :func:`decomposition`, or of one change.

    ``of`` goes before each contrast ("the change of "), and ``figure`` writes a number.
    """
    leads = ("", "", f"{percent(table.attrs['prob'])} interval ")
    special, shared, total = (
        f"{of}{difference(labelled(row['contrast'], table.attrs.get('labels', {})))}, {figure(row['mean'])} "
        f"({lead}{figure(row['low'])} to {figure(row['high'])})"
        for row, lead in zip(table.iloc[:3].to_dict("records"), leads, strict=True)
    )
    return (
        f"{total[0].upper()}{total[1:]}, is the sum of {special}, which is special to a word's own stereotypes, and "
        f"{shared}, which stereotype words of any kind share."
    )
