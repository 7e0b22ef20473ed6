"""The parts of a contrast of associated words with a control list."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy import sparse

from bayesbias._checks import one_of, probability
from bayesbias._core.vectors import FloatArray
from bayesbias._phrases import difference, percent, signed
from bayesbias.checks.summaries import PROB
from bayesbias.comparison.associations import GIVEN, POPULATIONS, SIMILAR, groups_without, why_no_association
from bayesbias.distances.distances import Distances
from bayesbias.distances.storage import carried_labels
from bayesbias.errors import InputError, listed
from bayesbias.models.cells import (
    Cells,
    cells_of,
    difference_weights,
    list_difference_weights,
    nearness_weights,
    whole_weights,
)
from bayesbias.models.families import functionals_of
from bayesbias.models.functionals import DrawnFunctionals, Functionals, figures
from bayesbias.models.results import Fit
from bayesbias.words import CONTROLS, OTHER, OWN, WHOLE, controls_of, labelled

ONE_GROUP = (
    "With one group only it cannot be told how much of this is special to its own stereotypes, and how much is shared "
    "by stereotype words of any kind."
)
"""What a fit without distances to other groups' stereotypes leaves open."""
ASSOCIATION, NEAR_LISTS, NEAR_WORD = "association", "nearness of the lists", "nearness of the word"
"""Parts of a protected word's contrast."""
PARTS = ["protected_word", "contrast", "mean", "sd", "low", "high", "p_closer"]
"""Columns of a decomposition."""


class Parts(NamedTuple):
    """Posteriors of the parts of a contrast and their sum.

    Attributes
    ----------
    whole_labels, word_labels
        Names of the parts of the whole list, and of a protected word; the last is the sum of those before.
    whole, words
        Posteriors of the parts of the whole list, and, part by part, of the protected words.
    kept
        Which protected words (J,) have what the parts need.
    """

    whole_labels: tuple[str, ...]
    word_labels: tuple[str, ...]
    whole: Functionals
    words: Functionals
    kept: NDArray[np.bool_]

    def of_word(self, place: int) -> slice:
        """Where in ``words`` a part is, by its place among the labels."""
        count = int(self.kept.sum())
        return slice(place * count, (place + 1) * count)


def decomposition(
    post: xr.DataTree, second: str | None = None, prob: float = PROB, population: str = GIVEN
) -> pd.DataFrame:
    """A contrast of associated words with a control list as a sum of parts.

    For the whole list (associated - human) = (associated - different) + (different - human). The first part says how
    much closer protected words are to their own stereotypes than to those of other groups. The second says how much
    closer they are to the stereotypes of other groups than to control words: that is so for stereotype words of any
    kind.

    For a word (associated - human) = association + nearness of the lists + nearness of the word. The association is
    the row of :func:`contrasts`. The nearness of the lists is how much nearer the word's own list is to
    all protected words than other lists are. The nearness of the word is how much nearer it is to other groups'
    stereotypes than to control words. The first part of the whole list is the mean association, its second part the
    mean nearness of the words; the nearness of the lists has the mean 0.

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
        Three rows for the whole list (``protected_word`` is ``"whole list"``): ``associated - different``,
        ``different - human``, ``associated - human``. Then four for each protected word: ``association``,
        ``nearness of the lists``, ``nearness of the word``, ``associated - human``. A table without associations (of
        one group) has the three rows of the whole list for each word. Columns ``protected_word``,
        ``contrast``, ``mean``, ``sd``, ``low``, ``high`` (cosine distance), ``p_closer``. ``attrs`` holds ``second``,
        ``prob``, ``population`` and ``left_out``, the words without distances to one of the lists.

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
    if why_no_association(data, cells):
        kept, weights, first = _difference_parts(data, cells, second)
        words = functionals_of(result, cells, first)
        whole: Functionals = words.combined(np.kron(np.eye(3), weights[kept][None]).astype(float))
        of_word = labels
    else:
        kept, weights, combine, first = decomposition_weights(data, cells, second)
        words = functionals_of(result, cells, first).combined(combine)
        whole = words.combined(whole_parts(weights[kept], int(kept.sum())))
        of_word = (ASSOCIATION, NEAR_LISTS, NEAR_WORD, labels[-1])
    if population == SIMILAR:
        places = [names.index(name) for name in (OWN, OTHER, second)]
        draws = result.draws("connection_mean")[:, places]
        whole = DrawnFunctionals(draws @ np.array([[1.0, 0, 1], [-1, 1, 0], [0, -1, -1]]))
    return Parts(labels, of_word, whole, words, kept)


def _difference_parts(
    data: Distances, cells: Cells, second: str
) -> tuple[NDArray[np.bool_], FloatArray, sparse.csr_array]:
    """The same of a table without associations: differences of mean distances, part by part."""
    names = data.connections.tolist()
    places = [names.index(name) for name in (OWN, OTHER, second)]
    kept = cells.filled[:, places].all(axis=1)
    if not kept.any():
        raise InputError(f"no protected word has {OWN}, {OTHER} and {second} distances")
    words = np.flatnonzero(kept)
    pairs = [(places[0], places[1]), (places[1], places[2]), (places[0], places[2])]
    parts = [difference_weights(cells, words, *(np.full(len(words), place) for place in pair)) for pair in pairs]
    return kept, whole_weights(data, kept), sparse.vstack(parts, format="csr")


def whole_parts(weights: FloatArray, count: int) -> FloatArray:
    """Weights (3, 4 * count) of the parts of the whole list over those of words."""
    nothing = np.zeros(count)
    return np.array(
        [
            np.concatenate([weights, weights, nothing, nothing]),
            np.concatenate([nothing, nothing, weights, nothing]),
            np.concatenate([nothing, nothing, nothing, weights]),
        ]
    )


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
    """Control lists in their order whose contrast with associated words has a decomposition.

    Parameters
    ----------
    filled
        Which protected words have which connections (J, K).
    valid
        Names of the K connections.
    """
    return [
        name
        for name in controls_of(valid)
        if {OWN, OTHER} <= set(valid)
        and filled[:, [valid.index(OWN), valid.index(OTHER), valid.index(name)]].all(axis=1).any()
    ]


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
    table = pd.concat([top, rows], ignore_index=True)
    return table.astype({"protected_word": "string", "contrast": "string"})[PARTS]


def decomposition_sentence(table: pd.DataFrame, of: str = "", figure: Callable[[float], str] = signed) -> str:
    """One sentence on the whole list of a table of :func:`decomposition`.

    Parameters
    ----------
    table
        What :func:`decomposition` returns, or the rows of one change.
    of
        What goes before each contrast, such as "the change of ".
    figure
        Writes a number.
    """
    parts = []
    for row, lead in zip(
        table.iloc[:3].to_dict("records"), ("", "", f"{percent(table.attrs['prob'])} interval "), strict=True
    ):
        ends = f"{figure(row['low'])} to {figure(row['high'])}"
        what = difference(labelled(row["contrast"], table.attrs.get("labels", {})))
        parts.append(f"{of}{what}, {figure(row['mean'])} ({lead}{ends})")
    special, shared, total = parts
    return (
        f"{total[0].upper()}{total[1:]}, is the sum of {special}, which is special to a word's own stereotypes, and "
        f"{shared}, which stereotype words of any kind share."
    )
