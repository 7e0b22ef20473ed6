"""Associations of words with every list, the parts of contrasts, and all mean distances; nothing is shrunken here."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr
from scipy import sparse

from bayesbias._support.arguments import one_of, probability
from bayesbias.checks.summaries import PROB
from bayesbias.contrast.contrast import POPULATION, SAMPLE, TARGETS, of_connections
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError
from bayesbias.models.families import family_of, functionals_of
from bayesbias.models.tree import Fit
from bayesbias.models.weights import (
    cells_of,
    decomposition_sums,
    group_means,
    labels_of,
    list_differences,
    list_sums,
    nearness_weights,
    whole_weights,
    why_no_association,
)
from bayesbias.posteriors import Estimates
from bayesbias.words import CONTROLS, OTHER, OWN, controls_of

ONE_GROUP = (
    "With one group only it is not known how much of this is special to its own stereotypes, and how much is shared "
    "by stereotype words of any kind."
)
"""Limit of a fit without distances to other groups' stereotypes."""
PARTS_OF_WHOLE = ((1.0, -1.0, 0.0), (0.0, 1.0, -1.0), (1.0, 0.0, -1.0))
"""Parts of the whole list, and their sum, from the means of own, other and control lists."""


def estimates(post: xr.DataTree) -> Estimates:
    """The joint posterior of the mean distances of words to lists, unshrunken, to make contrasts of one's own.

    Every contrast is a weighted sum of these. For the model ``related`` the posterior is exact, a scale mixture of
    normals around the observed values. ``published``, ``pooled`` and ``crossed`` are mixtures of the normals that they
    have given their scales; models that NUTS fits answer with draws. These other models know the means of words under
    connections: for them all lists of other groups have one mean.

    Parameters
    ----------
    post
        A result of :func:`fit`.

    Returns
    -------
    Estimates
        By ``protected_word`` and its ``group``, ``list`` (the stereotypes of a group by its name, or a control list;
        the connection where groups are not known), and ``connection``, which the list has to the word. Where there is
        no distance there is no estimate.

    Examples
    --------
    >>> cells = bb.estimates(bb.fit(bb.distance_table("google-news-slice", "weat7"), seed=0))
    >>> math = cells.select(protected_word="math")
    >>> (math.select(list="math") - math.select(list="arts")).summary()[["list", "mean", "p_closer"]].round(3)
              list   mean  p_closer
    0  math - arts  0.043      0.11
    """
    result = Fit.read(post)
    cells = cells_of(result.data)
    sums = list_sums(result.data, cells)
    return sums.of(family_of(result.spec).cells(result, cells, sums.parts))


def association(post: xr.DataTree, prob: float = PROB, by: str = "protected_word") -> pd.DataFrame:
    """The unshrunken association of each protected word, or group, with each stereotype list.

    The association of word j with list l is G / (G - 1) times the double-centred mean distance g[j, l]: how much nearer
    the word is to this list than to the others, less how much nearer all protected words are. Those of a word add up to
    0. With its own list it is ``unshrunk`` of :func:`contrasts`.

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
    result, prob = Fit.read(post), probability(prob, "prob")
    one_of(by, ("protected_word", "group"), "by")
    data = result.data
    cells = cells_of(data)
    if lacking := why_no_association(data, cells):
        raise InputError(f"there are no associations: {lacking}")
    words, lists = np.flatnonzero(cells.associated), cells.columns[cells.connections :]
    weights, size = whole_weights(data, cells.associated), len(lists)
    # list by list: the words' difference of this list and the others, less that of the mean word
    every = [list_differences(cells, words, column) for column in cells.lists.tolist()]
    sums = functionals_of(result, cells, sparse.csr_array(sparse.vstack([*every, nearness_weights(cells, weights)])))
    less = sparse.kron(sparse.eye_array(size), np.ones((len(words), 1)))
    combine = sparse.csr_array(sparse.hstack([sparse.eye_array(len(words) * size), -less]))
    order = np.arange(len(words) * size).reshape(size, -1).T.ravel()  # word by word
    index = pd.DataFrame(labels_of(data, np.repeat(words, size)).assign(list=np.tile(lists, len(words))))
    found = sums.combine(combine[order], index.astype("string"))
    if by == "group":
        names, means = group_means(data.groups[words])
        if len(names) < 3:
            raise InputError(
                "by='group': with two groups the mean association of each is the whole list, by arithmetic; it takes "
                "three groups"
            )
        index = pd.DataFrame({"group": np.repeat(names, size), "list": np.tile(lists, len(names))}, dtype="string")
        found = found.combine(sparse.csr_array(sparse.kron(means, sparse.eye_array(size))), index)
    table = found.summary(prob)
    table.insert(len(found.index.columns), "own", table["group"] == table["list"])
    table.attrs = result.origin(prob)
    return table


def decomposition(
    post: xr.DataTree, second: str | None = None, prob: float = PROB, target: str = SAMPLE
) -> pd.DataFrame:
    """A contrast of associated words with a control list as a sum of parts, unshrunken, so that they add up.

    For the whole list (associated - human) = (associated - different) + (different - human): how much closer protected
    words are to their own stereotypes than to those of other groups, and how much closer to these than to control
    words, as stereotype words of any kind may be.

    For a word (associated - human) = association + nearness of the lists + nearness of the word: ``unshrunk`` of
    :func:`contrasts`; how much nearer the word's own list is to all protected words than other lists are (0 in the
    mean); and how much nearer the word is to other groups' stereotypes than to control words.

    Parameters
    ----------
    post
        A result of :func:`fit`.
    second
        The control list; by default human, or else the first that the fit has.
    prob
        Posterior mass of the equal-tailed intervals.
    target
        What the rows of the whole list speak about, as in :func:`contrasts`.

    Returns
    -------
    DataFrame
        The parts and their sum: three rows for the whole list (``protected_word`` is ``"whole list"``), then four for
        each protected word that has every part, or three of a table without associations. Columns ``protected_word``,
        ``contrast``, ``mean``, ``sd``, ``low``, ``high`` (cosine distance), ``p_closer``.

    Examples
    --------
    >>> post = bb.fit(bb.distance_table("google-news-slice", "weat7"), seed=0)
    >>> bb.decomposition(post)[["protected_word", "contrast", "mean"]].round(3).head(4)
      protected_word                contrast   mean
    0     whole list  associated - different -0.014
    1     whole list       different - human -0.005
    2     whole list      associated - human -0.019
    3           math             association  0.018
    """
    result, prob = Fit.read(post), probability(prob, "prob")
    table = pd.concat([part.summary(prob) for part in decomposition_parts(result, second, target)], ignore_index=True)
    table.attrs = result.origin(prob)
    return table


def decomposition_parts(result: Fit, second: str | None = None, target: str = SAMPLE) -> tuple[Estimates, Estimates]:
    """Posteriors of the parts and their sum, of the whole list and of each word; see :func:`decomposition`."""
    one_of(target, tuple(TARGETS), "target")
    data = result.data
    second = control_of_parts(data.connections.tolist(), second)
    cells = cells_of(data)
    sums = decomposition_sums(data, cells, second)
    every = sums.of(functionals_of(result, cells, sums.parts))
    whole, words = every[:3], every[3:]
    if target == POPULATION:
        whole = of_connections(result, cells, (OWN, OTHER, second), PARTS_OF_WHOLE, whole.index)
    return whole, words


def decomposable(data: Distances) -> list[str]:
    """Control lists whose contrast with associated words has a decomposition."""
    valid = data.connections.tolist()
    if not {OWN, OTHER} <= set(valid):
        return []
    both = data.filled[:, [valid.index(OWN), valid.index(OTHER)]].all(axis=1)
    return [name for name in controls_of(valid) if (both & data.filled[:, valid.index(name)]).any()]


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
