"""Cells of a table, and patterns of attribute words that meet the same cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesbias._core.vectors import FloatArray, IntArray


@dataclass(frozen=True)
class Cells:
    """Sufficient statistics of a grid of cells.

    Attributes
    ----------
    n, mean, ssd
        Arrays (protected words, connections): how many distances, their mean, and the sum of squared deviations from
        it. An empty cell has n = 0 and a mean of NaN.
    """

    n: IntArray
    mean: FloatArray
    ssd: FloatArray


def cell_numbers(filled: NDArray[np.bool_]) -> IntArray:
    """Number of each filled cell, in the order of ``np.nonzero``; -1 for the others."""
    number = np.full(filled.shape, -1)
    number[filled] = np.arange(filled.sum())
    return number


def reduce_to_cells(word: IntArray, connection: IntArray, y: FloatArray, shape: tuple[int, int]) -> Cells:
    """Count, mean and sum of squares of the distances in each cell.

    Parameters
    ----------
    word, connection
        Arrays (rows): the cell of each distance.
    y
        Array (rows): distances.
    shape
        Numbers of protected words and of connections.
    """
    cell = word * shape[1] + connection
    size = shape[0] * shape[1]
    n = np.bincount(cell, minlength=size)
    with np.errstate(invalid="ignore"):
        mean = np.bincount(cell, weights=y, minlength=size) / n
    ssd = np.bincount(cell, weights=(y - mean[cell]) ** 2, minlength=size)
    return Cells(n.reshape(shape), mean.reshape(shape), ssd.reshape(shape))


@dataclass(frozen=True)
class Pattern:
    """Attribute words that are compared with the same cells.

    Attributes
    ----------
    words
        Indices of the attribute words.
    attribute_class
        Which attribute_sd they have.
    cells
        (slots, 2): protected word and connection of each slot.
    groups
        The distinct groups of its protected words.
    group
        (slots,): place of each slot's group in ``groups``.
    mean
        (slots,): mean over words.
    totals
        (words, K, H): sum of each word's distances by connection and group.
    """

    words: IntArray
    attribute_class: int
    cells: IntArray
    groups: IntArray
    group: IntArray
    mean: FloatArray
    totals: FloatArray


@dataclass(frozen=True)
class Scales:
    """Variances at B points: sigma^2 and s^2 (B, K), t_u by class (B, G), t_v (B,); t_v is None without the term."""

    sigma2: FloatArray
    s2: FloatArray
    attribute: FloatArray
    interaction: FloatArray | None

    def at(self, part: slice) -> Scales:
        """The scales at some of the points."""
        interaction = None if self.interaction is None else self.interaction[part]
        return Scales(self.sigma2[part], self.s2[part], self.attribute[part], interaction)


def find_patterns(
    word: IntArray,
    connection: IntArray,
    attribute: IntArray,
    group_of_word: IntArray,
    class_of_attribute: IntArray,
    y: FloatArray,
    connections: int,
) -> tuple[tuple[Pattern, ...], list[FloatArray]]:
    """The patterns of a table and their blocks of distances (words, slots).

    Without word x group all protected words may be given one group.

    Parameters
    ----------
    word, connection, attribute
        Arrays (rows): protected word, connection and attribute word; no pair of word and attribute repeats.
    group_of_word, class_of_attribute
        Group of each protected word and class of each attribute word.
    y
        Array (rows): distances minus the prior mean of mu.
    connections
        K.
    """
    order = np.lexsort((connection, word, attribute))
    word, connection, attribute, y = word[order], connection[order], attribute[order], y[order]
    starts = np.flatnonzero(np.r_[True, attribute[1:] != attribute[:-1]])
    ends = np.r_[starts[1:], len(attribute)]
    members: dict[tuple[int, bytes], list[int]] = {}
    cell = word * connections + connection
    for at, (begin, end) in enumerate(zip(starts, ends, strict=True)):
        key = (int(class_of_attribute[attribute[begin]]), cell[begin:end].tobytes())
        members.setdefault(key, []).append(at)
    blocks = [np.stack([y[starts[at] : ends[at]] for at in rows]) for rows in members.values()]
    patterns = tuple(
        _pattern(
            block,
            attribute[starts[rows]],
            key[0],
            np.column_stack([word, connection])[starts[rows[0]] : ends[rows[0]]],
            group_of_word,
            connections,
        )
        for block, (key, rows) in zip(blocks, members.items(), strict=True)
    )
    return patterns, blocks


def _pattern(
    y: FloatArray, words: IntArray, attribute_class: int, cells: IntArray, group_of_word: IntArray, connections: int
) -> Pattern:
    """A pattern from its block of distances (words, slots)."""
    groups, group = np.unique(group_of_word[cells[:, 0]], return_inverse=True)
    return Pattern(
        words=words,
        attribute_class=attribute_class,
        cells=cells,
        groups=groups,
        group=group,
        mean=y.mean(axis=0),
        totals=np.tensordot(y, strata(cells[:, 1], group, (connections, len(groups))), 1),
    )


def strata(connection: IntArray, group: IntArray, shape: tuple[int, int]) -> FloatArray:
    """Which slot stands in which connection and group, (slots, K, H)."""
    places = np.zeros((len(connection), *shape))
    places[np.arange(len(connection)), connection, group] = 1
    return places
