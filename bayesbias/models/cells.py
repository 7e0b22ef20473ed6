"""Cells of protected words and lists, and weights of linear questions over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayesbias._core.vectors import FloatArray, IntArray
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError
from bayesbias.words import OWN, STEREOTYPES


@dataclass(frozen=True)
class Cells:
    """Mean distances of protected words to connections and to the lists of the groups."""

    columns: tuple[str, ...]  # labels (C,): the connections, then the groups that have a stereotype list
    connections: int  # how many of the columns are connections
    n: IntArray  # distances in each cell, (J, C)
    mean: FloatArray  # and their mean, NaN without any
    own: IntArray  # column (J,) of the list of each word's own group; -1 where that has none
    stands_for: IntArray  # connection (J, C) that each cell's list has to the word
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
        """Which cells hold a distance, (J, C)."""
        return self.n > 0

    @property
    def same_lists(self) -> tuple[str, ...]:
        """Groups whose stereotype lists hold the same words as that of an earlier group, and that group."""
        words = {column: frozenset(self.attribute[self.column == column].tolist()) for column in self.lists.tolist()}
        for word in words.values():
            same = [other for other, theirs in words.items() if theirs == word]
            if len(same) > 1:
                return tuple(self.columns[place] for place in same)
        return ()

    @property
    def associated(self) -> NDArray[np.bool_]:
        """Which protected words (J,) have an association: a list of their own, and distances to every list."""
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


def cell_weights(
    rows: IntArray, words: IntArray, columns: IntArray, values: FloatArray, cells: Cells, size: int
) -> sparse.csr_array:
    """Weights (size, J * C) from triplets: the functional, the cell, and the weight of each."""
    place = words * len(cells.columns) + columns
    return sparse.csr_array((values, (rows, place)), shape=(size, cells.n.size))


def difference_weights(cells: Cells, words: IntArray, first: IntArray, second: IntArray) -> sparse.csr_array:
    """Weights (words, J * C): for some words the mean distance in one column less that in another, each (words,)."""
    rows = np.tile(np.arange(len(words)), 2)
    values = np.repeat([1.0, -1.0], len(words))
    return cell_weights(rows, np.tile(words, 2), np.concatenate([first, second]), values, cells, len(words))


def list_difference_weights(cells: Cells, words: IntArray, columns: IntArray) -> sparse.csr_array:
    """Weights (words, J * C): the mean distance to one list (``columns``, (words,)) less the mean over the others."""
    count, lists = len(words), cells.lists
    rows = np.repeat(np.arange(count), len(lists))
    every = np.tile(lists, count)
    values = np.where(np.repeat(columns, len(lists)) == every, 1.0, -1 / (len(lists) - 1))
    return cell_weights(rows, np.repeat(words, len(lists)), every, values, cells, count)


def list_contrasts(lists: int) -> FloatArray:
    """Weights (lists, lists): each list less the mean of the others."""
    return (np.eye(lists) - 1 / lists) * lists / (lists - 1)


def association_rows(own: IntArray, weights: FloatArray, lists: int) -> FloatArray:
    """Weights (J, J, lists) of mean distances in the association of each word, as a dense array for few words.

    Each word's own list (its place, (J,)) less the mean of the others, less what that is for the weighted mean of all
    words: neither how near a word is to every list nor how near a list is to every word counts.
    """
    return (np.eye(len(own)) - weights)[:, :, None] * list_contrasts(lists)[own][:, None, :]


def nearness_weights(cells: Cells, weights: FloatArray) -> sparse.csr_array:
    """Weights (G, J * C): by how much each list is nearer to all words than the mean list, times G / (G - 1).

    It is what the difference of own and other lists holds beside the association: sum over words of
    ``weights`` (J,) times (m[j, l] - mean over lists of m[j, .]).
    """
    lists, words = cells.lists, np.flatnonzero(weights)
    size = len(lists)
    value = list_contrasts(size)
    rows = np.repeat(np.arange(size), len(words) * size)
    columns = np.tile(np.tile(lists, len(words)), size)
    values = (value[:, None, :] * weights[words][None, :, None]).ravel()
    return cell_weights(rows, np.tile(np.repeat(words, size), size), columns, values, cells, size)


def association_weights(
    cells: Cells, words: IntArray, weights: FloatArray
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Two matrices whose product (words, J * C) are the weights of the associations of some words.

    The association is the difference of own and other lists less how near the own list is to all words; in matrices of
    their own both are sparse.
    """
    first = sparse.vstack(
        [list_difference_weights(cells, words, cells.own[words]), nearness_weights(cells, weights)], format="csr"
    )
    count = len(words)
    own = cells.own[words] - cells.connections
    rows = np.tile(np.arange(count), 2)
    columns = np.concatenate([np.arange(count), count + own])
    values = np.repeat([1.0, -1.0], count)
    return sparse.csr_array((values, (rows, columns)), shape=(count, count + len(cells.lists))), first


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
