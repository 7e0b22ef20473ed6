"""Associations of words and parts of contrasts: the posteriors behind tables of contrasts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy import sparse

from bayesbias._support.arguments import one_of, probability
from bayesbias.checks.summaries import PROB
from bayesbias.distances.distances import Distances
from bayesbias.distances.list_coverage import carried_labels
from bayesbias.errors import InputError
from bayesbias.estimates import Estimates
from bayesbias.models.families import family_of, functionals_of
from bayesbias.models.functionals import further_functionals
from bayesbias.models.tree import Fit
from bayesbias.models.weights import (
    DIFFERENCE,
    POOLED,
    RAW,
    ROWS,
    Cells,
    cells_of,
    decomposition_sums,
    group_means,
    labels_of,
    left_out,
    list_differences,
    mean_words,
    nearness_weights,
    row_sums,
    whole_weights,
    why_no_association,
)
from bayesbias.numerics.arrays import NOTHING, FloatArray, IntArray
from bayesbias.numerics.mixtures import Empirical, Normals, false_sign_rates, pooled_rows, s_values
from bayesbias.numerics.related import root_of
from bayesbias.results import Note
from bayesbias.words import CONTROLS, OTHER, OWN, controls_of

GIVEN, SIMILAR = "given", "similar"
POPULATIONS = {
    GIVEN: "these protected words and attribute lists like these",
    SIMILAR: "further protected words and attribute lists like these",
}
"""Populations of a whole-list contrast, in words."""
POOL_SD = 0.35
"""Scale of the half-Cauchy prior of the standard deviation between words' associations, in standard deviations of a
protected word's distances to the vocabulary: .03 in cosine distance for Google News."""


SIGN_RATE = 0.025  # expected share of wrong signs among the words that are named together


def named_together(below: FloatArray) -> NDArray[np.bool_]:
    """True for the signs (n,) that are named: those of the lowest false sign rates, few of which are likely wrong.

    ``below`` are the posterior probabilities (n,) of one of the two signs.
    """
    return s_values(false_sign_rates(below)) < SIGN_RATE


@dataclass(frozen=True)
class Rows:
    """Posteriors behind a table of contrasts."""

    whole: Estimates  # of the whole list
    words: Estimates  # of each protected word that has a row
    pooled: Estimates  # the same rows with deviations from the whole list partially pooled
    kind: str  # one of ROWS
    of_given: Estimates  # the whole list of these protected words, whichever population ``whole`` speaks about
    notes: tuple[Note, ...] = ()  # on what the rows could not be

    def clear_signs(self, prob: float) -> IntArray:
        """-1 for words that are closer, 1 for words that are farther, 0 for words whose sign is not clear.

        Rows share most of their errors, so that no sign is clear where the interval of the whole list includes 0.
        Where it does not, the words with the lowest false sign rates are named together, of those whose intervals
        exclude 0.
        """
        signs = np.zeros(len(self.pooled), dtype=np.intp)
        if not self.of_given.excludes(0.0, prob)[0]:
            return signs
        outside = np.flatnonzero((self.words if self.kind == DIFFERENCE else self.pooled).excludes(0.0, prob))
        below = self.pooled.below(0.0)[outside]
        signs[outside] = np.where(named_together(below), np.where(below > 0.5, -1, 1), 0)
        return signs


def rows_of(result: Fit, first: str, second: str, population: str = GIVEN, rows: str | None = None) -> Rows:
    """Posteriors of a contrast for the whole list and for each protected word."""
    data = result.data
    cells = cells_of(data)
    if rows is not None:
        one_of(rows, ROWS, "rows")
    sums = row_sums(data, cells, first, second, rows)
    every = sums.of(functionals_of(result, cells, sums.parts))
    whole, words = every[:1], every[1:]
    headline = whole
    if population == SIMILAR or not len(words):  # means of connections, for words like these
        headline = _of_connections(result, cells, [first, second], [[1.0, -1.0]], whole.index)
    pooled = _pooled(result, words, sums.kind)
    # of a model of one's own it is not known how it treats words
    kind = POOLED if sums.kind == RAW and rows is None and not result.spec.own else rows or sums.kind
    notes = () if sums.kind == DIFFERENCE else _notes(cells)
    lacking = why_no_association(data, cells, first, second)
    if lacking and second == OTHER:
        notes = (Note("no-value", what="associations", reason=lacking),)
    shown, of_given = pooled if kind == POOLED else words, whole if len(words) else headline
    return Rows(headline, shown, pooled, kind, of_given, notes)


def equal_groups(data: Distances) -> bool:
    """True where all groups have the same mean distance to each attribute word, as groups of equalised words have.

    The contrast of own and other stereotypes is then 0 for any attribute words, which a model does not know.
    """
    rows = pd.DataFrame({"group": data.groups[data.word], "attribute": data.attribute, "distance": data.y})
    means = rows.pivot_table("distance", "attribute", "group").to_numpy()
    return bool(means.shape[1] > 1 and np.ptp(means, axis=1).max() <= NOTHING)  # False where a mean is missing


def _of_connections(result: Fit, cells: Cells, names: Sequence[str], weights: Any, index: pd.DataFrame) -> Estimates:
    """Weighted sums (m, names) of means of connections, for protected words like these."""
    places, combine = [result.data.connections.tolist().index(name) for name in names], np.array(weights)
    if family_of(result.spec).needs_relatedness:
        given = functionals_of(result, cells, sparse.csr_array(combine @ mean_words(cells, places)))
        return replace(further_functionals(result, given, places, combine), index=index)
    return Estimates.of(Empirical(result.draws("connection_mean")[:, places]), len(places)).combine(combine, index)


def _pooled(result: Fit, raw: Estimates, kind: str) -> Estimates:
    """Rows partially pooled by the model of related words; other models have pooled the means of words themselves."""
    data = result.data
    unit = family_of(result.spec).unit_of_pooling(data)
    if unit is None or not len(raw):
        return raw
    kept = np.isin(data.protected_words, raw.index["protected_word"].tolist())
    block = pooled_blocks(data.group_index[kept]) if kind == RAW else np.zeros(len(raw), dtype=np.intp)
    return pooled_over_words(raw, whole_weights(data, kept)[kept], block, POOL_SD * unit)


def pooled_blocks(groups: IntArray) -> IntArray:
    """Blocks (J,) of words whose deviations have the mean 0 by arithmetic, from numbers of their groups."""
    labels = np.unique(groups, return_inverse=True)[1]
    # with two groups the mean association of each is the whole list
    return np.zeros_like(labels) if labels.max() > 1 else labels


def pooled_over_words(raw: Estimates, weights: FloatArray, block: IntArray, scale: float) -> Estimates:
    """Rows (J,) whose deviations from their weighted mean are partially pooled, see :func:`pooled_rows`."""
    law = raw.law
    if isinstance(law, Normals) and len(law.roots) == 1:
        root, grid = raw.weights @ law.roots[0], (law.factors[:, 0], law.mass)
    else:  # several factors, or draws: normal, with the covariance that they give on average
        root, grid = root_of(raw.covariance.to_numpy()), (np.ones(1), np.ones(1))
    pooled = pooled_rows(raw.mean, root, weights, block, grid, scale)
    return raw if pooled is None else Estimates.of(pooled, len(raw), raw.index)


def _notes(cells: Cells) -> tuple[Note, ...]:
    """Notes on limits of the lists: words in several of them, and lists of one word."""
    sizes = cells.n[:, cells.lists].max(axis=0)
    single = [name for name, size in zip(cells.columns[cells.connections :], sizes, strict=True) if size == 1]
    several = [Note("several-lists", rule="count in each", words=cells.in_several)] if cells.in_several else []
    return (*several, *([Note("short-lists", most=1, words=single)] if single else []))


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
        ``p_closer``. ``table.pivot(index="protected_word", columns="list", values="mean")`` is the matrix,
        which ``plots.matrix`` draws.

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
    words, lists = np.flatnonzero(cells.associated), cells.columns[cells.connections :]
    weights, size = whole_weights(data, cells.associated), len(lists)
    # list by list: the words' difference of this list and the others, less that of the mean word
    every = [list_differences(cells, words, column) for column in cells.lists.tolist()]
    near = nearness_weights(cells, weights)
    sums = functionals_of(result, cells, sparse.csr_array(sparse.vstack([*every, near])))
    identity = sparse.eye_array(len(words) * size)
    less = sparse.kron(sparse.eye_array(size), np.ones((len(words), 1)))
    # word by word
    order = np.arange(len(words) * size).reshape(size, -1).T.ravel()
    index = pd.DataFrame(labels_of(data, np.repeat(words, size)).assign(list=np.tile(lists, len(words))))
    estimates = sums.combine(sparse.csr_array(sparse.hstack([identity, -less]))[order], index.astype("string"))
    if by == "group":
        names, means = group_means(data.groups[words])
        if len(names) < 3:
            raise InputError(
                "by='group': with two groups the mean association of each is the whole list, by arithmetic; it takes "
                "three groups"
            )
        index = pd.DataFrame({"group": np.repeat(names, size), "list": np.tile(lists, len(names))}, dtype="string")
        estimates = estimates.combine(
            sparse.csr_array(sparse.kron(sparse.csr_array(means), sparse.eye_array(size))), index
        )
    table = estimates.summary(prob)
    table.insert(len(estimates.index.columns), "own", table["group"] == table["list"])
    table.attrs = {
        "prob": prob,
        "left_out": data.protected_words[~cells.associated].tolist(),
        "notes": data.limits,
        **carried_labels(data.labels),
    }
    return table


ONE_GROUP = (
    "With one group only it is not known how much of this is special to its own stereotypes, and how much is shared "
    "by stereotype words of any kind."
)
"""Limit of a fit without distances to other groups' stereotypes."""


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
    whole, words = decomposition_parts(result, second, population)
    table = pd.concat([whole.summary(prob), words.summary(prob)], ignore_index=True)
    table.attrs = {
        "measured": result.measured,
        "second": whole.index["contrast"].iloc[-1].split(" - ")[1],
        "prob": prob,
        "population": population,
        "left_out": left_out(result.data, words),
        "notes": result.data.limits,
        **carried_labels(result.labels),
    }
    return table


def decomposition_parts(result: Fit, second: str | None = None, population: str = GIVEN) -> tuple[Estimates, Estimates]:
    """Posteriors of the parts and their sum, of the whole list and of each word; see :func:`decomposition`."""
    one_of(population, tuple(POPULATIONS), "population")
    data = result.data
    second = control_of_parts(data.connections.tolist(), second)
    cells = cells_of(data)
    sums = decomposition_sums(data, cells, second)
    every = sums.of(functionals_of(result, cells, sums.parts))
    whole, words = every[:3], every[3:]
    if population == SIMILAR:
        whole = _of_connections(result, cells, (OWN, OTHER, second), PARTS_OF_WHOLE, whole.index)
    return whole, words


PARTS_OF_WHOLE = ((1.0, -1.0, 0.0), (0.0, 1.0, -1.0), (1.0, 0.0, -1.0))
"""Parts of the whole list, and their sum, from the means of own, other and control lists."""


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
