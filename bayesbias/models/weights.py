"""Weights: the cells of a table, and what contrasts, associations and decompositions weigh them by.

Every linear question (a contrast, an association, a part of a decomposition, a mean over a group) is a set of weights
over cells, with the name of each sum. Nothing here knows of a posterior.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError, listed
from bayesbias.numerics.arrays import FloatArray, IntArray
from bayesbias.posteriors import Estimates, identity
from bayesbias.words import OTHER, OWN, STEREOTYPES, WHOLE, controls_of

RAW, DIFFERENCE = ROWS = ("association", "difference")
PARTS_OF_WORD = (RAW, "nearness of the lists", "nearness of the word")  # parts of a protected word's contrast
WHOLE_OF_WORDS = np.array([[1.0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
"""Parts of the whole list, and their sum, from those of words and their sum."""


@dataclass(frozen=True)
class Cells:
    """Mean distances of protected words to connections and to the lists of the groups."""

    columns: tuple[str, ...]  # labels (C,): the connections, then the groups that have a stereotype list
    connections: int  # how many of the columns are connections
    n: IntArray  # distances in each cell, (J, C)
    mean: FloatArray  # and their mean, NaN without any
    own: IntArray  # column (J,) of the list of each word's own group; -1 where that has none
    # connection (J, C) of each word to the words of each column: that of a connection's column; a group's list is
    # ``associated`` with the words of its group and ``different`` to all others; -1 where the table has none such
    stands_for: IntArray
    word: IntArray  # the cell of each distance, which counts under its connection and under its lists
    column: IntArray
    attribute: IntArray  # and its attribute word
    in_several: tuple[str, ...]  # stereotype words that stand in the lists of several groups

    @property
    def lists(self) -> NDArray[np.intp]:
        """Columns (G,) of the groups' stereotype lists."""
        return np.arange(self.connections, len(self.columns))

    @property
    def filled(self) -> NDArray[np.bool_]:
        """True (J, C) for cells that hold a distance."""
        return self.n > 0

    @property
    def means(self) -> FloatArray:
        """Observed means (J * C,); 0 for cells without a distance."""
        return np.where(self.filled, self.mean, 0.0).ravel()

    @property
    def associated(self) -> NDArray[np.bool_]:
        """True (J,) for protected words with an association: a list of their own, and distances to every list."""
        return (self.own >= 0) & self.filled[:, self.lists].all(axis=1)


def cells_of(data: Distances) -> Cells:
    """The cells of a table's rows.

    A stereotype word belongs to the list of each group that it is associated with. It then counts in that list for
    every protected word, whatever its connection to that word.
    """
    names = data.connections.tolist()
    groups = data.group_names
    member = np.zeros((len(data.attribute_words), len(groups)), dtype=bool)
    if OWN in names:
        own = data.connection == names.index(OWN)
        member[data.attribute[own], data.group_index[data.word[own]]] = True
    listed = [place for place, name in enumerate(groups) if name and member[:, place].any()]
    member = member[:, listed]
    stereotype = np.isin(np.array(names), STEREOTYPES)[data.connection]
    # a distance to a stereotype counts again under each group whose list holds the word
    rows, place = np.nonzero(member[data.attribute] & stereotype[:, None])
    word = np.concatenate([data.word, data.word[rows]])
    column = np.concatenate([data.connection, len(names) + place])
    attribute = np.concatenate([data.attribute, data.attribute[rows]])
    y = np.concatenate([data.y, data.y[rows]])
    shape = (len(data.protected_words), len(names) + len(listed))
    cell = word * shape[1] + column
    n = np.bincount(cell, minlength=shape[0] * shape[1])
    total = np.bincount(cell, weights=y, minlength=len(n))
    mean = np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0)
    columns = (*names, *(groups[place] for place in listed))
    position = {name: place for place, name in enumerate(columns) if place >= len(names)}
    own_list = np.array([position.get(name, -1) for name in data.groups.tolist()], dtype=np.intp)
    stands_for = np.tile(np.r_[np.arange(len(names)), np.full(len(listed), -1)], (shape[0], 1))
    if listed:
        different = names.index("different") if "different" in names else -1
        here = np.arange(len(names), shape[1])
        stands_for[:, here] = np.where(own_list[:, None] == here, names.index(OWN), different)
    return Cells(
        columns=columns,
        connections=len(names),
        n=n.reshape(shape),
        mean=mean.reshape(shape),
        own=own_list,
        stands_for=stands_for,
        word=word,
        column=column,
        attribute=attribute,
        in_several=tuple(data.attribute_words[member.sum(axis=1) > 1].tolist()),
    )


def column_classes(data: Distances, cells: Cells) -> IntArray:
    """Attribute class (C,) of each column; the lists of groups are stereotypes, which are the first class."""
    return np.concatenate([data.connection_class, np.zeros(len(cells.lists), dtype=np.intp)])


def word_weights(groups: Sequence[str], chosen: NDArray[np.bool_], listed: Sequence[str]) -> FloatArray:
    """Weights (J,) of protected words in the whole list, with sum 1; 0 for words that are not chosen.

    Groups weigh the same where at least two have lists, and so do the words within a group: with groups of unequal
    size the mean over words would hold a part of how near each list is to all words. Without two such groups every
    word weighs the same.
    """
    labels = np.array(groups, dtype=str)
    present = [name for name in dict.fromkeys(labels[chosen].tolist()) if name in set(listed)]
    weights = np.zeros(len(labels))
    if len(present) < 2 or not np.isin(labels[chosen], present).all():
        weights[chosen] = 1 / max(int(chosen.sum()), 1)
        return weights
    for name in present:
        own = chosen & (labels == name)
        weights[own] = 1 / (len(present) * own.sum())
    return weights


def whole_weights(data: Distances, chosen: NDArray[np.bool_]) -> FloatArray:
    """:func:`word_weights` of a table's protected words; groups with a word that has stereotypes have a list."""
    own = np.isin(data.connection, np.flatnonzero(data.connections == OWN))
    listed = np.unique(data.groups[np.unique(data.word[own])])
    return word_weights(data.groups.tolist(), chosen, [name for name in listed.tolist() if name])


def of_words(cells: Cells, words: IntArray, columns: IntArray, values: FloatArray) -> sparse.csr_array:
    """Weights (words, J * C) of the cells of each word in some columns: both (words, n), or (n,) for all words."""
    places = words[:, None] * len(cells.columns) + columns
    flat = np.broadcast_to(values, places.shape).ravel()
    begins = np.arange(len(words) + 1) * places.shape[1]
    return sparse.csr_array((flat, places.ravel(), begins), shape=(len(words), cells.n.size))


def mean_words(cells: Cells, columns: Sequence[int]) -> sparse.csr_array:
    """Weights (columns, J * C): the mean of a column over the words that have it."""
    means = np.zeros((len(columns), *cells.filled.shape))
    for row, column in enumerate(columns):
        means[row, :, column] = cells.filled[:, column] / cells.filled[:, column].sum()
    return sparse.csr_array(means.reshape(len(columns), -1))


def differences(cells: Cells, words: IntArray, first: IntArray | int, second: IntArray | int) -> sparse.csr_array:
    """Weights (words, J * C): the mean distance of each word in one column less that in another."""
    columns = np.stack([np.broadcast_to(column, len(words)) for column in (first, second)], axis=1)
    return of_words(cells, words, columns, np.array([1.0, -1.0]))


def list_contrasts(lists: int) -> FloatArray:
    """Weights (lists, lists): each list less the mean of the others."""
    return (np.eye(lists) - 1 / lists) * lists / (lists - 1)


def list_differences(cells: Cells, words: IntArray, columns: IntArray | int) -> sparse.csr_array:
    """Weights (words, J * C): the mean distance to one list (``columns``, (words,)) less the mean over the others."""
    own = np.broadcast_to(columns, len(words)) - cells.connections
    return of_words(cells, words, cells.lists, list_contrasts(len(cells.lists))[own])


def nearness_weights(cells: Cells, weights: FloatArray) -> sparse.csr_array:
    """Weights (G, J * C): by how much each list is nearer to all words than the mean list, times G / (G - 1).

    It is what the difference of own and other lists holds beside the association: sum over words of
    ``weights`` (J,) times (m[j, l] - mean over lists of m[j, .]).
    """
    words, size = np.flatnonzero(weights), len(cells.lists)
    places = words[:, None] * len(cells.columns) + cells.lists
    values = weights[words, None] * list_contrasts(size)[:, None, :]
    flat = values.ravel(), np.tile(places.ravel(), size), np.arange(size + 1) * places.size
    return sparse.csr_array(flat, shape=(size, cells.n.size))


def _own_lists(cells: Cells, words: IntArray) -> sparse.csr_array:
    """The list (words, G) of each word's own group."""
    place = (np.arange(len(words)), cells.own[words] - cells.connections)
    return sparse.csr_array((np.ones(len(words)), place), shape=(len(words), len(cells.lists)))


def association_rows(own: IntArray, weights: FloatArray, lists: int) -> FloatArray:
    """Weights (J, J, lists) of mean distances in the association of each word, as a dense array for few words.

    Each word's own list (its place, (J,)) less the mean of the others, less what that is for the weighted mean of all
    words: neither how near a word is to every list nor how near a list is to every word counts.
    """
    return (np.eye(len(own)) - weights)[:, :, None] * list_contrasts(lists)[own][:, None, :]


def association_weights(
    cells: Cells, words: IntArray, weights: FloatArray
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Two matrices whose product (words, J * C) are the weights of the associations of some words.

    The association is the difference of own and other lists less how near the own list is to all words; in matrices of
    their own both are sparse.
    """
    first = stacked(list_differences(cells, words, cells.own[words]), nearness_weights(cells, weights))
    return sparse.csr_array(sparse.hstack([identity(len(words)), -_own_lists(cells, words)])), first


def stacked(*rows: sparse.csr_array) -> sparse.csr_array:
    """Matrices one below another."""
    return sparse.csr_array(sparse.vstack(rows))


def by_connection(cells: Cells, weights: sparse.csr_array) -> sparse.csr_array:
    """Weights (m, J * K) of words under connections from those of cells (m, J * C).

    The connection that a list has to a word stands for the list.
    """
    total = sparse.coo_array(weights)
    word, column = np.divmod(total.col, len(cells.columns))
    connection = cells.stands_for[word, column]
    if (connection < 0).any():
        raise InputError("weights fall on lists that the words have no connection to")
    shape = (weights.shape[0], len(cells.n) * cells.connections)
    return sparse.csr_array((total.data, (total.row, word * cells.connections + connection)), shape=shape)


@dataclass(frozen=True)
class Sums:
    """Weighted sums of the cells of a table: what each is, and ``combine @ parts``, their weights (m, J * C)."""

    index: pd.DataFrame
    combine: sparse.csr_array
    parts: sparse.csr_array
    kind: str = DIFFERENCE  # what rows of words are, one of ROWS

    def of(self, parts: Estimates) -> Estimates:
        """The sums, from those of the parts."""
        return parts.combine(self.combine, self.index)

    def observed(self, cells: Cells) -> FloatArray:
        """Observed values (m,)."""
        value: FloatArray = self.combine @ (self.parts @ cells.means)
        return value


def row_sums(data: Distances, cells: Cells, first: str, second: str | None, rows: str | None = None) -> Sums:
    """A contrast, or the mean distance to one connection, of the whole list and then of each protected word.

    The whole list is that of the words with distances to both.
    """
    lacking = why_no_association(data, cells, first, second or "none")
    if rows == RAW and lacking:
        raise InputError(f"rows={rows!r}: {lacking}; rows='difference' gives differences of mean distances")
    if lacking or rows == DIFFERENCE:
        return _difference_sums(data, cells, [first] if second is None else [first, second])
    words = np.flatnonzero(cells.associated)
    weights = whole_weights(data, cells.associated)
    return _with_whole(data, words, weights, *association_weights(cells, words, weights), RAW)


def group_sums(data: Distances, cells: Cells) -> Sums:
    """By how much each word is nearer to its own list than the words of the other groups are, beyond control words.

    With d[j, l] the mean distance of word j to list l and c[j] that to the control lists, which weigh the same (0
    without any), of a word of group g

        d[j, g] - c[j] - mean over the other groups and their words k of (d[k, g] - c[k]).

    Neither how near a list is to all words nor how near a group is to all words is in it. Its mean over groups is the
    whole list: the control words cancel there, and every other list of a group is the own list of another.
    """
    words, names = np.flatnonzero(cells.associated), data.connections.tolist()
    controls = [names.index(name) for name in controls_of(names) if cells.filled[words, names.index(name)].all()]
    values = np.r_[1.0, np.full(len(controls), -1 / max(len(controls), 1))]

    def beyond(members: IntArray, lists: IntArray) -> sparse.csr_array:
        places = [lists, *(np.full(len(members), control) for control in controls)]
        return of_words(cells, members, np.column_stack(places), values)

    weights = whole_weights(data, cells.associated)
    others = []
    for column in cells.lists.tolist():
        members = words[cells.own[words] != column]
        mean = weights[members] / max(weights[members].sum(), 1e-300)
        others.append(sparse.csr_array(sparse.csr_array(mean[None]) @ beyond(members, np.full(len(members), column))))
    combine = sparse.csr_array(sparse.hstack([identity(len(words)), -_own_lists(cells, words)]))
    return Sums(labels_of(data, words), combine, stacked(beyond(words, cells.own[words]), *others))


def _difference_sums(data: Distances, cells: Cells, connections: list[str]) -> Sums:
    """The mean distance to one connection, or the difference of two."""
    places = np.array([data.connections.tolist().index(name) for name in connections])
    kept, signs = cells.filled[:, places].all(axis=1), np.array([1.0, -1.0])[: len(places)]
    words = np.flatnonzero(kept)
    if len(words):
        parts = of_words(cells, words, places, signs)
        return _with_whole(data, words, whole_weights(data, kept), identity(len(words)), parts, DIFFERENCE)
    # of different words: their means, less each other
    means = np.zeros((len(places), *cells.filled.shape))
    for row, place in enumerate(places.tolist()):
        means[row, :, place] = whole_weights(data, cells.filled[:, place])
    parts = sparse.csr_array(means.reshape(len(places), -1))
    return Sums(labels_of(data, words, whole=True), sparse.csr_array(signs[None]), parts)


def _with_whole(
    data: Distances, words: IntArray, weights: FloatArray, combine: sparse.csr_array, parts: sparse.csr_array, kind: str
) -> Sums:
    """The mean of rows of words with weights (J,), and below it the rows."""
    whole = sparse.csr_array(sparse.csr_array(weights[None, words]) @ combine)
    return Sums(labels_of(data, words, whole=True), stacked(whole, combine), parts, kind)


def labels_of(data: Distances, words: IntArray, whole: bool = False) -> pd.DataFrame:
    """``protected_word`` and ``group`` of some words, below the whole list."""
    names, groups = data.protected_words[words].tolist(), [name or pd.NA for name in data.groups[words].tolist()]
    top = ([WHOLE], [pd.NA]) if whole else ([], [])
    return pd.DataFrame({"protected_word": top[0] + names, "group": top[1] + groups}, dtype="string")


def list_sums(data: Distances, cells: Cells) -> Sums:
    """The mean distance of each protected word to each list."""
    connections = list(cells.columns[: cells.connections])
    # the stereotypes of groups, or else connections, then the control lists
    lists = cells.lists.tolist() or [place for place, name in enumerate(connections) if name in STEREOTYPES]
    places = np.array([*lists, *(connections.index(name) for name in controls_of(connections))])
    word, column = np.nonzero(cells.filled[:, places])
    column = places[column]
    index = labels_of(data, word).assign(
        list=pd.array([cells.columns[place] for place in column], dtype="string"),
        connection=pd.array([cells.columns[place] for place in cells.stands_for[word, column]], dtype="string"),
    )
    return Sums(index, identity(len(word)), of_words(cells, word, column[:, None], np.ones(1)))


def left_out(data: Distances, rows: Estimates) -> list[str]:
    """Protected words that have no row."""
    present = set(rows.index["protected_word"])
    return [word for word in data.protected_words.tolist() if word not in present]


def why_no_association(data: Distances, cells: Cells, first: str = OWN, second: str = OTHER) -> str:
    """The reason why a contrast or a table has no associations; empty if it has them."""
    if (first, second) != (OWN, OTHER):
        return f"associations are rows of {OWN} - {OTHER}, not of {first} - {second}"
    if "" in data.groups.tolist():
        return "the groups of the protected words are not known: the table needs a column group"
    if len(cells.lists) < 2:
        names = [repr(name) for name in cells.columns[cells.connections :]]
        there = f"only {names[0]} has" if names else "no group has"
        return f"an association needs the stereotype lists of two groups, and {there} one"
    held = [frozenset(cells.attribute[cells.column == column].tolist()) for column in cells.lists.tolist()]
    if twice := [words for words in held if held.count(words) > 1]:
        named = zip(cells.columns[cells.connections :], held, strict=True)
        same = [name for name, words in named if words == twice[0]]
        return f"the stereotype lists of {listed(same)} hold the same words"
    if gone := _groups_without(data, cells, cells.associated):
        return f"no protected word of {listed(gone)} has distances to the stereotypes of every group"
    return ""


def _groups_without(data: Distances, cells: Cells, chosen: NDArray[np.bool_]) -> list[str]:
    """Groups with a stereotype list of which no protected word is among some chosen ones (J,)."""
    present = set(data.groups[chosen].tolist())
    return [name for name in cells.columns[cells.connections :] if name not in present]


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


def decomposition_sums(data: Distances, cells: Cells, second: str) -> Sums:
    """The parts of a contrast and their sum: of the whole list, and of each word that has all."""
    names, labels = data.connections.tolist(), (f"{OWN} - {OTHER}", f"{OTHER} - {second}", f"{OWN} - {second}")
    of_word: tuple[str, ...] = labels
    if why_no_association(data, cells):  # differences of mean distances in their place
        places = [names.index(name) for name in (OWN, OTHER, second)]
        kept = cells.filled[:, places].all(axis=1)
        if not kept.any():
            raise InputError(f"no protected word has {OWN}, {OTHER} and {second} distances")
        words, of_whole = np.flatnonzero(kept), np.eye(3)
        own, other, control = places
        parts = stacked(*(differences(cells, words, *two) for two in ((own, other), (other, control), (own, control))))
        combine = identity(3 * len(words))
    else:
        kept = cells.associated & cells.filled[:, names.index(second)]
        if gone := _groups_without(data, cells, kept):
            raise InputError(
                f"a decomposition needs words of each group with distances to every stereotype list and to {second} "
                f"words, and {listed(gone)} has none"
            )
        words, of_word, of_whole = np.flatnonzero(kept), (*PARTS_OF_WORD, labels[-1]), WHOLE_OF_WORDS
        lists, near = cells.own[words], nearness_weights(cells, whole_weights(data, kept))
        to_control = differences(cells, words, lists, names.index(second))
        parts = stacked(list_differences(cells, words, lists), near, to_control)
        mine, each = _own_lists(cells, words), identity(len(words))
        blocks = [[each, -mine, None], [None, mine, None], [-each, None, each], [None, None, each]]
        combine = sparse.csr_array(sparse.block_array(blocks))
    weights, size = sparse.csr_array(whole_weights(data, kept)[None, words]), len(of_word)
    whole = sparse.csr_array(sparse.kron(sparse.csr_array(of_whole), weights) @ combine)
    order = np.arange(len(words) * size).reshape(size, -1).T.ravel()  # word by word
    index = pd.DataFrame(
        {
            "protected_word": [WHOLE] * 3 + np.repeat(data.protected_words[words], size).tolist(),
            "contrast": [*labels, *of_word * len(words)],
        },
        dtype="string",
    )
    return Sums(index, stacked(whole, combine[order]), parts, RAW)
