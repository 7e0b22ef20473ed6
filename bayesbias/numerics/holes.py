"""Crossed tables with holes in many places: their marginal likelihood given the scales, and draws of mu and the cells.

Cells that no attribute word ties together are independent given mu, and so are the parts into which a table falls. In
a part, sums r of a word's residuals by stratum (connection and group) are linear in the cells, in mu and in the sums of
its distances. With the word's effects integrated out, minus twice its log density is

    sum of squared residuals / sigma^2 - r' (lower * i i') r + log det,    i = 1 / sigma^2 of each stratum,

where ``lower`` and the determinant follow from the numbers of its distances by stratum and from its class alone
(Woodbury's identity, as in ``marginal.within_part``). Words with the same numbers are a kind, whose products of r are
added up once: the information of (cells, mu, distances) at any scales is a weighted sum of the kinds' Gram matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import lapack

from bayesbias.numerics.arrays import FloatArray, IntArray, in_blocks
from bayesbias.numerics.marginal import LOG_2PI, CellsOf, Pattern, Scales, cell_numbers, scatter_cells

AT_ONCE = 2**18  # numbers in the matrices that are factored together, few enough to stay in the processor's cache
MOST_NUMBERS = 2**26  # numbers that Gram matrices may have
ENDLESS = 1e300  # put beside the precision of cells so that rows below it are factored with it


@dataclass(frozen=True)
class _Part:
    """Cells (C) that attribute words tie together, in U kinds of words and S strata."""

    cells: IntArray  # (C,): number of each cell among all filled ones, by stratum
    stratum: IntArray  # (C,)
    begins: IntArray  # (S + 1,): first cell of each stratum, and C
    # (S,): group, counted within the part, and connection of each stratum
    group: IntArray
    connection: IntArray
    # (C,): distances of each cell, and their sum
    count: FloatArray
    total: FloatArray
    # (U,): class of each kind, and how many words it has; (U, S): distances of a word
    attribute_class: IntArray
    words: FloatArray
    met: FloatArray
    # for each two strata, the second not after the first, products (U, (c + 2) * (c' + 2)) summed over words: of
    # whether they meet each of the stratum's c cells, of how many they meet, and of the sum of their distances
    grams: dict[tuple[int, int], FloatArray]


@dataclass(frozen=True)
class HoledSums:
    """Statistics of a table with holes: the density given its scales, and draws."""

    patterns: Sequence[Pattern]
    parts: Sequence[_Part]
    # (K,): sum of squared distances by connection, and their number
    squares: FloatArray
    counts: FloatArray
    # numbers of each
    cells: int
    connections: int
    groups: int
    classes: int

    @property
    def at_once(self) -> int:
        """Points that are evaluated together."""
        return max(4, AT_ONCE // max(len(part.cells) ** 2 for part in self.parts))

    def log_likelihood(self, scales: Scales, prior_sd: float) -> FloatArray:
        """Log marginal likelihood (B,) of the distances, constants included."""
        reduced = [self._reduced(part, scales, prior_sd) for part in self.parts]
        constant, border = (np.sum(each, axis=0) for each in zip(*reduced, strict=True))
        return self._means(scales, constant, border)[0]

    def _reduced(self, part: _Part, scales: Scales, prior_sd: float) -> tuple[FloatArray, FloatArray]:
        """Constant (B,) and border (B, K + 1, K + 1) of a part, computed once for points that agree on its scales."""
        first, same = _distinct(scales, part.connection, part.attribute_class)
        here = scales.at(first)
        k, step = self.connections, self.at_once
        blocks = in_blocks(lambda at: _factor(part, here.at(at), prior_sd, k)[:2], len(first), step)
        constant, border = (np.concatenate(each)[same] for each in zip(*blocks, strict=True))
        return constant, border

    def _means(self, scales: Scales, constant: FloatArray, border: FloatArray) -> tuple[FloatArray, ...]:
        """Log likelihood (B,), and L (B, K, K) of the precision L L' of mu / prior sd and L^-1 (B, K) times its right.

        ``constant`` and ``border`` are sums over the parts.
        """
        k = self.connections
        chol = np.linalg.cholesky(np.eye(k) + border[:, :k, :k])
        x = np.linalg.solve(chol, -border[:, :k, k:])[:, :, 0]
        value = self.counts.sum() * LOG_2PI + np.log(scales.sigma2) @ self.counts + (1 / scales.sigma2) @ self.squares
        value += constant + border[:, k, k] - (x**2).sum(axis=1)
        value += 2 * np.log(np.diagonal(chol, axis1=1, axis2=2)).sum(axis=1)
        return -0.5 * value, chol, x

    def draw_cells(
        self, scales: Scales, prior_sd: float, filled: NDArray[np.bool_], rng: np.random.Generator
    ) -> tuple[FloatArray, CellsOf]:
        """A draw of mu (B, K) at each point, and its cells; points that repeat are factored once."""
        size, k = len(scales.sigma2), self.connections
        mu, cells = rng.standard_normal((size, k)), rng.standard_normal((size, self.cells))
        standard = [cells[:, part.cells] for part in self.parts]
        first, same = _distinct(scales)
        distinct, of_point = scales.at(first), np.split(np.argsort(same, kind="stable"), np.cumsum(np.bincount(same)))

        def draw(at: slice) -> None:
            here = distinct.at(at)
            constant, border, factor = zip(*(_factor(part, here, prior_sd, k) for part in self.parts), strict=True)
            _, chol, x = self._means(here, sum(constant), sum(border))
            for i, rows in enumerate(of_point[at]):
                mu[rows] = _back(chol[i], x[i] + mu[rows])
                # given mu the standardised cells of a part are L'^-1 (noise - W' (mu / prior sd, 1))
                given = np.column_stack([mu[rows], np.ones(len(rows))])
                for z, own in zip(standard, factor, strict=True):
                    right = np.zeros((len(rows), z.shape[1] + k + 1))
                    right[:, : -k - 1] = z[rows] - given @ own[i, -k - 1 :, : -k - 1]
                    z[rows] = _back(own[i], right)[:, : -k - 1]

        in_blocks(draw, len(first), self.at_once)
        mu *= prior_sd
        for part, z in zip(self.parts, standard, strict=True):
            of_cell = part.connection[part.stratum]
            cells[:, part.cells] = mu[:, of_cell] + np.sqrt(scales.s2[:, of_cell]) * z
        by_word = np.ascontiguousarray(np.moveaxis(scatter_cells(cells, filled), 0, 2))

        def cells_of(words: slice, own: np.random.Generator) -> FloatArray:
            return by_word[words]

        return mu, cells_of


def _distinct(
    scales: Scales, connection: IntArray | slice = slice(None), attribute_class: IntArray | slice = slice(None)
) -> tuple[IntArray, IntArray]:
    """The first of the points that agree on some scales, and for each point its place among these."""
    stacked = [scales.sigma2[:, connection], scales.s2[:, connection], scales.attribute[:, attribute_class]]
    stacked += [] if scales.interaction is None else [scales.interaction[:, None]]
    _, first, same = np.unique(np.hstack(stacked), axis=0, return_index=True, return_inverse=True)
    return first, same


def holed_sums(
    patterns: Sequence[Pattern],
    filled: NDArray[np.bool_],
    word: IntArray,
    connection: IntArray,
    attribute: IntArray,
    group_of_word: IntArray,
    class_of_attribute: IntArray,
    y: FloatArray,
) -> HoledSums:
    """The sums of a table with the rows of :func:`find_patterns`; a MemoryError if they hold too many numbers."""
    from scipy.sparse.csgraph import connected_components  # loads slowly

    protected, k = np.nonzero(filled)
    group, cell = group_of_word[protected], cell_numbers(filled)[word, connection]
    shape = (len(class_of_attribute), len(k))
    met = sparse.csr_array((np.ones(len(y)), (attribute, cell)), shape=shape)
    values = sparse.csr_array((y, (attribute, cell)), shape=shape)
    graph = sparse.csr_array((np.ones(len(y)), (attribute, shape[0] + cell)), shape=(sum(shape),) * 2)
    label = connected_components(graph, directed=False)[1]
    parts = []
    for i in np.unique(label[shape[0] :]):
        rows, cells = np.flatnonzero(label[: shape[0]] == i), np.flatnonzero(label[shape[0] :] == i)
        cells = cells[np.lexsort((k[cells], group[cells]))]
        strata, stratum = np.unique(np.column_stack([group[cells], k[cells]]), axis=0, return_inverse=True)
        begins = np.searchsorted(stratum, np.arange(len(strata) + 1))
        here, there = met[rows][:, cells].toarray(), values[rows][:, cells].toarray()
        numbers = np.add.reduceat(here, begins[:-1], axis=1)
        kinds, kind = np.unique(np.column_stack([class_of_attribute[rows], numbers]), axis=0, return_inverse=True)
        if len(kinds) * len(cells) ** 2 > MOST_NUMBERS:
            raise MemoryError(len(kinds) * len(cells) ** 2)
        columns = [
            np.column_stack([here[:, begin:end], numbers[:, s], there[:, begin:end].sum(axis=1)])
            for s, (begin, end) in enumerate(pairwise(begins))
        ]
        of_kind = [np.flatnonzero(kind == u) for u in range(len(kinds))]
        grams = {
            (s, t): np.stack([(one[u].T @ other[u]).ravel() for u in of_kind])
            for s, one in enumerate(columns)
            for t, other in enumerate(columns[: s + 1])
        }
        of_strata = np.unique(strata[:, 0], return_inverse=True)[1], strata[:, 1]
        of_cells = here.sum(axis=0), there.sum(axis=0)
        kind_class, words = kinds[:, 0].astype(np.intp), np.bincount(kind).astype(float)
        parts.append(_Part(cells, stratum, begins, *of_strata, *of_cells, kind_class, words, kinds[:, 1:], grams))
    connections = filled.shape[1]
    squares = np.bincount(connection, weights=y**2, minlength=connections)
    counts = np.bincount(connection, minlength=connections).astype(float)
    groups, classes = int(group_of_word.max()) + 1, int(class_of_attribute.max()) + 1
    return HoledSums(patterns, parts, squares, counts, shape[1], connections, groups, classes)


def _factor(
    part: _Part, scales: Scales, prior_sd: float, connections: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A part's normal of its standardised cells z, cells being mu + s z, given a = mu / prior sd.

    Minus twice the log density with the cells integrated out: (B,), and the matrix (B, K + 1, K + 1) of what is
    quadratic in (a, 1). Then (B, C + K + 1, C + K + 1): L with the precision L L' of z, and W below it.
    """
    points, size, k = len(scales.sigma2), len(part.cells), connections
    inverse = 1 / scales.sigma2[:, part.connection]
    t_u = scales.attribute[:, part.attribute_class]
    t_v = np.zeros((points, 1, 1)) if scales.interaction is None else scales.interaction[:, None, None]
    in_group = (part.group[:, None] == np.arange(part.group.max() + 1)).astype(float)
    weight = (part.met * inverse[:, None, :]) @ in_group
    d = 1 + t_v * weight
    shared = 1 + t_u * (weight / d).sum(axis=2)
    constant = (np.log(d).sum(axis=2) + np.log(shared)) @ part.words
    within, between = (t_v / d)[:, :, part.group], np.sqrt(t_u / shared)[:, :, None] / d[:, :, part.group]
    # in units of cells, mu and distances first: the lower triangle of cells, rows of mu and of distances below
    matrix = np.zeros((points, size + k + 1, size + k + 1))
    for (s, t), gram in part.grams.items():
        lower = between[:, :, s] * between[:, :, t] + (within[:, :, s] if part.group[s] == part.group[t] else 0)
        block = (lower * -(inverse[:, s] * inverse[:, t])[:, None]) @ gram
        rows, columns = (slice(part.begins[each], part.begins[each + 1]) for each in (s, t))
        below, beside = (np.array([size + part.connection[each], size + k]) for each in (s, t))
        block = block.reshape(points, rows.stop - rows.start + 2, -1)
        matrix[:, rows, columns] = block[:, :-2, :-2]
        matrix[:, below, columns] += block[:, -2:, :-2]
        matrix[:, below[:, None], beside] += block[:, -2:, -2:]
        if s > t:
            matrix[:, beside, rows] += block[:, :-2, -2:].transpose(0, 2, 1)
            matrix[:, beside[:, None], below] += block[:, -2:, -2:].transpose(0, 2, 1)
    of_cell = part.connection[part.stratum]
    own, places, mu, last = inverse[:, part.stratum], np.arange(size), size + of_cell, size + k
    member = (of_cell[:, None] == np.arange(k)).astype(float)
    matrix[:, places, places] += own * part.count
    matrix[:, mu, places] += own * part.count
    matrix[:, last, places] += own * part.total
    matrix[:, range(size, last), range(size, last)] += (own * part.count) @ member
    matrix[:, last, size:last] += (own * part.total) @ member
    matrix[:, size:last, last] += (own * part.total) @ member
    # then in those of z, a and -1
    units = np.hstack([np.sqrt(scales.s2[:, of_cell]), np.tile([*[prior_sd] * k, -1.0], (points, 1))])
    matrix *= units[:, :, None]
    matrix *= units[:, None, :]
    matrix[:, places, places] += 1
    border = matrix[:, size:, size:].copy()
    matrix[:, size:, size:] = ENDLESS * np.eye(k + 1)
    factor = np.linalg.cholesky(matrix)
    solved = factor[:, size:, :size]
    border -= solved @ solved.transpose(0, 2, 1)
    constant += 2 * np.log(np.diagonal(factor, axis1=1, axis2=2)[:, :size]).sum(axis=1)
    return constant, border, factor


def _back(chol: FloatArray, right: FloatArray) -> FloatArray:
    """L'^-1 times the rows of a matrix (n, C)."""
    return lapack.dtrtrs(chol.T, right.T, lower=0)[0].T
