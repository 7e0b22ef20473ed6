"""The marginal likelihood of the crossed model for tables with holes, by connected parts of the table.

Cells that share no attribute word are independent given mu, and so are the parts into which a table falls. Within a
part, what an attribute word's effects do to its cells depends on its class and on how many distances it has by
connection and group: words with the same numbers are summed beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from bayesbias._core.marginal import LOG_2PI, Pattern, Scales, cell_numbers
from bayesbias._core.vectors import FloatArray, IntArray, in_blocks

BLOCK = 2**19  # numbers in a block of matrices, few enough to stay in the processor's cache


@dataclass(frozen=True)
class TablePart:
    """Cells (C) that attribute words tie together, in U kinds of words with the same numbers of distances."""

    cells: IntArray  # (C,): number of each cell among all filled ones, those of a group together
    # (C,): of each cell; groups are counted within the part
    connection: IntArray
    group: IntArray
    # (C,): distances of each cell, and their sum
    count: FloatArray
    total: FloatArray
    strata: IntArray  # (S, 2): connection and group of the cells that belong together
    # (U,): of each kind, and how many words it has
    attribute_class: IntArray
    words: FloatArray
    met: FloatArray  # (U, S): distances of a word
    products: FloatArray  # (U, S, S): sums over words of products of their summed distances
    # how many words two cells share: for each group and each from it on an array (U, cells of one * of the other)
    together: tuple[tuple[FloatArray, ...], ...]
    sums: FloatArray  # (U, C, S): sums over the words of a cell of their summed distances

    @property
    def groups(self) -> int:
        """Number of groups."""
        return int(self.group.max()) + 1


@dataclass(frozen=True)
class IncompleteSums:
    """What the density needs of a table with holes."""

    # the table's patterns, and its connected parts
    patterns: tuple[Pattern, ...]
    parts: tuple[TablePart, ...]
    # (K,): sum of squared distances by connection, and their number
    squares: FloatArray
    counts: FloatArray
    # numbers of each
    cells: int
    connections: int
    groups: int
    classes: int
    rows: int


def incomplete_sums(
    patterns: tuple[Pattern, ...],
    filled: np.ndarray,
    word: IntArray,
    connection: IntArray,
    attribute: IntArray,
    group_of_word: IntArray,
    class_of_attribute: IntArray,
    y: FloatArray,
    most: float = np.inf,
) -> IncompleteSums:
    """The sums of a table; arguments as of :func:`find_patterns`, ``filled`` (protected words, K).

    Raises
    ------
    ValueError
        They hold more than ``most`` numbers.
    """
    from scipy.sparse.csgraph import connected_components  # loads slowly

    number = cell_numbers(filled)
    cell = number[word, connection]
    size, words = int(filled.sum()), len(class_of_attribute)
    met = sparse.csr_array((np.ones(len(y)), (attribute, cell)), shape=(words, size))
    values = sparse.csr_array((y, (attribute, cell)), shape=(words, size))
    # step 1: words and cells as the two sides of a graph; its connected components are the parts of the table
    graph = sparse.csr_array((np.ones(len(y)), (attribute, words + cell)), shape=(words + size,) * 2)
    label = connected_components(graph, directed=False)[1]
    protected, k = np.nonzero(filled)
    group = group_of_word[protected]
    parts, numbers = [], 0
    for i in range(label.max() + 1):
        rows = np.flatnonzero(label[:words] == i)
        cells = np.flatnonzero(label[words:] == i)
        if not len(cells):
            continue  # a word of another part of the lists, without a distance here
        cells = cells[np.lexsort((k[cells], group[cells]))]
        here = met[rows][:, cells].toarray()
        dense = values[rows][:, cells].toarray()
        own = np.unique(group[cells], return_inverse=True)[1]
        strata, stratum = np.unique(np.column_stack([k[cells], own]), axis=0, return_inverse=True)
        member = (stratum[:, None] == np.arange(len(strata))).astype(float)
        # step 2: words of one class with as many distances in each stratum are one kind: at all scales their effects
        # do the same to the information of their cells, so that their sums and products are added up once
        facts = np.column_stack([class_of_attribute[rows], here @ member])
        kinds, kind = np.unique(facts, axis=0, return_inverse=True)
        numbers += len(kinds) * len(cells) * (len(cells) + len(strata))
        if numbers > most:
            raise ValueError(numbers)
        totals = dense @ member
        of_kind = [np.flatnonzero(kind == u) for u in range(len(kinds))]
        ends = np.searchsorted(own, np.arange(own.max() + 2))
        pieces = [here[:, begin:end] for begin, end in pairwise(ends.tolist())]
        parts.append(
            TablePart(
                cells=cells,
                connection=k[cells],
                group=own,
                count=here.sum(axis=0),
                total=dense.sum(axis=0),
                strata=strata,
                attribute_class=kinds[:, 0].astype(np.intp),
                words=np.bincount(kind).astype(float),
                met=kinds[:, 1:],
                products=np.stack([totals[u].T @ totals[u] for u in of_kind]),
                together=tuple(
                    tuple(np.stack([(piece[u].T @ other[u]).ravel() for u in of_kind]) for other in pieces[h:])
                    for h, piece in enumerate(pieces)
                ),
                sums=np.stack([here[u].T @ totals[u] for u in of_kind]),
            )
        )
    return IncompleteSums(
        patterns=patterns,
        parts=tuple(parts),
        squares=np.bincount(connection, weights=y**2, minlength=filled.shape[1]),
        counts=np.bincount(connection, minlength=filled.shape[1]).astype(float),
        cells=size,
        connections=filled.shape[1],
        groups=int(group_of_word.max()) + 1,
        classes=int(class_of_attribute.max()) + 1,
        rows=len(y),
    )


@dataclass(frozen=True)
class PartFactor:
    """The Gaussian of a part's standardised cells z, where a cell is prior_sd a_k + s_k z, at B points."""

    # (B,): twice the log likelihood that does not depend on cells or mu, without the constants of the rows
    constant: FloatArray
    chol: FloatArray  # (B, C, C): L of the precision L L' of z given mu
    x: FloatArray  # (B, C): L^-1 times the right-hand side
    mean: FloatArray  # (B, K, C): the transpose of L^-1 times the columns of the precision for mu
    # (B, K, K), (B, K): precision of mu that the part adds, and right-hand side
    information: FloatArray
    right: FloatArray


def _part_factor(part: TablePart, scales: Scales, prior_sd: float, connections: int) -> PartFactor:
    """The Gaussian of a part's cells at the scales' points."""
    points, size = len(scales.sigma2), len(part.cells)
    inverse = 1 / scales.sigma2
    of_stratum = inverse[:, part.strata[:, 0]]
    in_group = (part.strata[:, 1][:, None] == np.arange(part.groups)).astype(float)
    t_u = scales.attribute[:, part.attribute_class]
    t_v = np.zeros(points) if scales.interaction is None else scales.interaction
    weight = (part.met * of_stratum[:, None, :]) @ in_group
    d = 1 + t_v[:, None, None] * weight
    shared = 1 + t_u * (weight / d).sum(axis=2)
    # by how much the effects of a word of each kind lower the information of its cells in each two groups
    # step 3: the effects of words are integrated out. By Woodbury's identity, as in marginal.within_part, the precision
    # of a word's distances is diag(i) less i i' times lower, i = 1 / sigma^2, by the groups of the two distances
    lower = (t_u / shared)[:, :, None, None] / (d[:, :, :, None] * d[:, :, None, :])
    diagonal = np.arange(part.groups)
    lower[:, :, diagonal, diagonal] += t_v[:, None, None] / d
    constant = -(np.log(d).sum(axis=2) + np.log(shared)) @ part.words
    by_stratum = lower[:, :, part.strata[:, 1]][:, :, :, part.strata[:, 1]]
    by_stratum *= of_stratum[:, None, :, None] * of_stratum[:, None, None, :]
    constant += by_stratum.reshape(points, -1) @ part.products.ravel()
    own = inverse[:, part.connection]
    s, k = np.sqrt(scales.s2)[:, part.connection], connections
    # a bordered matrix: the last rows of its factor hold L^-1 times the columns beside the precision
    bordered = np.empty((points, size + k + 1, size + k + 1))
    right = own * part.total
    ends = np.searchsorted(part.group, np.arange(part.groups + 1)).tolist()
    pieces = [slice(begin, end) for begin, end in pairwise(ends)]
    for h, rows in enumerate(pieces):
        taken = (lower[:, :, h, part.strata[:, 1]] * of_stratum[:, None, :]).reshape(points, -1)
        right[:, rows] -= own[:, rows] * (taken @ part.sums[:, rows].transpose(0, 2, 1).reshape(taken.shape[1], -1))
        for g, others in enumerate(pieces[h:], h):
            block = (-lower[:, :, h, g] @ part.together[h][g - h]).reshape(points, len(part.cells[rows]), -1)
            bordered[:, rows, others] = block
            if g > h:
                bordered[:, others, rows] = block.transpose(0, 2, 1)
    information = bordered[:, :size, :size]
    scaled, places = own * s, np.arange(size)
    # the precision of the cells in units of s, with the 1 of their prior added below; apart says how the standardised
    # mu moves a cell in these units
    information *= scaled[:, :, None]
    information *= scaled[:, None, :]
    information[:, places, places] += scaled * s * part.count
    member = prior_sd * (part.connection[:, None] == np.arange(k))
    apart = member / s[:, :, None]
    half = information @ apart
    of_mean = apart.transpose(0, 2, 1) @ half
    columns = np.concatenate([half, (right * s)[:, :, None]], axis=2)
    # step 4: the cells are integrated out by the factor L of their precision; what is left is a normal of mu, which
    # _mean_factor integrates over the sum of all parts
    information[:, places, places] += 1
    bordered[:, :size, size:] = columns
    bordered[:, size:, :size] = columns.transpose(0, 2, 1)
    bordered[:, size:, size:] = columns.transpose(0, 2, 1) @ columns + np.eye(k + 1)
    factor = np.linalg.cholesky(bordered)
    chol, solved = factor[:, :size, :size], factor[:, size:, :size]
    x, mean = solved[:, k], solved[:, :k]
    constant += (x**2).sum(axis=1) - 2 * np.log(np.diagonal(chol, axis1=1, axis2=2)).sum(axis=1)
    return PartFactor(
        constant=constant,
        chol=chol,
        x=x,
        mean=mean,
        information=of_mean - mean @ mean.transpose(0, 2, 1),
        right=right @ member - (mean @ x[:, :, None])[:, :, 0],
    )


@dataclass(frozen=True)
class MeanFactor:
    """Log likelihood (B,), and the Gaussian of standardised mu: factor (B, K, K) of its precision, L^-1 rhs (B, K)."""

    log_likelihood: FloatArray
    chol: FloatArray
    x: FloatArray


def _mean_factor(sums: IncompleteSums, scales: Scales, prior_sd: float) -> tuple[MeanFactor, list[PartFactor]]:
    """The Gaussian of mu at the scales' points, and those of the cells of each part given mu."""
    inverse = 1 / scales.sigma2
    factors = [_part_factor(part, scales, prior_sd, sums.connections) for part in sums.parts]
    precision = np.eye(sums.connections) + sum(part.information for part in factors)
    chol = np.linalg.cholesky(precision)
    right = np.sum([part.right for part in factors], axis=0)
    x = np.linalg.solve(chol, right[:, :, None])[:, :, 0]
    value = -sums.rows * LOG_2PI + np.log(inverse) @ sums.counts - inverse @ sums.squares
    value += np.sum([part.constant for part in factors], axis=0) + (x**2).sum(axis=1)
    value -= 2 * np.log(np.diagonal(chol, axis1=1, axis2=2)).sum(axis=1)
    return MeanFactor(0.5 * value, chol, x), factors


def _points_at_once(sums: IncompleteSums) -> int:
    return max(4, BLOCK // max(len(part.cells) ** 2 for part in sums.parts))


def incomplete_log_likelihood(sums: IncompleteSums, scales: Scales, prior_sd: float) -> FloatArray:
    """Log marginal likelihood (B,) of the distances, constants included."""
    return _mean_factors(sums, scales, prior_sd).log_likelihood


def incomplete_means(
    sums: IncompleteSums, scales: Scales, prior_sd: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log likelihood (B,), and mean (B, K) and covariance (B, K, K) of standardised mu."""
    factor = _mean_factors(sums, scales, prior_sd)
    columns = np.linalg.solve(factor.chol, np.broadcast_to(np.eye(sums.connections), factor.chol.shape))
    return factor.log_likelihood, np.einsum("bnk,bn->bk", columns, factor.x), columns.transpose(0, 2, 1) @ columns


def _mean_factors(sums: IncompleteSums, scales: Scales, prior_sd: float) -> MeanFactor:
    """The Gaussian of mu at the scales' points, a block at a time."""

    def evaluate(part: slice) -> MeanFactor:
        return _mean_factor(sums, scales.at(part), prior_sd)[0]

    blocks = in_blocks(evaluate, len(scales.sigma2), _points_at_once(sums))
    return MeanFactor(
        np.concatenate([each.log_likelihood for each in blocks]),
        np.concatenate([each.chol for each in blocks]),
        np.concatenate([each.x for each in blocks]),
    )


def draw_incomplete_cells(
    sums: IncompleteSums, scales: Scales, prior_sd: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """A draw of mu (B, K) and of the cells (B, cells) at each point; points that repeat are factored once."""
    size, k = len(scales.sigma2), sums.connections
    mu, cells = rng.standard_normal((size, k)), rng.standard_normal((size, sums.cells))
    stacked = [scales.sigma2, scales.s2, scales.attribute]
    stacked += [] if scales.interaction is None else [scales.interaction[:, None]]
    _, first, same = np.unique(np.hstack(stacked), axis=0, return_index=True, return_inverse=True)
    interaction = None if scales.interaction is None else scales.interaction[first]
    distinct = Scales(scales.sigma2[first], scales.s2[first], scales.attribute[first], interaction)
    order = np.argsort(same, kind="stable")
    ends = np.searchsorted(same[order], np.arange(len(first) + 1))

    def draw(part: slice) -> None:
        here = distinct.at(part)
        whole, factors = _mean_factor(sums, here, prior_sd)
        for i in range(part.stop - part.start):
            own = order[ends[part.start + i] : ends[part.start + i + 1]]
            # mu from its own normal, then the cells of each part given mu: L' z = x - (L^-1 columns)' mu + noise
            standard = _back(whole.chol[i], whole.x[i] + mu[own])
            mu[own] = prior_sd * standard
            for piece, factor in zip(sums.parts, factors, strict=True):
                target = factor.x[i] - standard @ factor.mean[i] + cells[np.ix_(own, piece.cells)]
                z = _back(factor.chol[i], target)
                s = np.sqrt(here.s2[i, piece.connection])
                cells[np.ix_(own, piece.cells)] = mu[own][:, piece.connection] + s * z

    in_blocks(draw, len(first), _points_at_once(sums))
    return mu, cells


def _back(chol: FloatArray, right: FloatArray) -> FloatArray:
    """L'^-1 times the rows of a matrix (n, C)."""
    solved, _ = lapack.dtrtrs(np.asfortranarray(chol), right.T, lower=1, trans=1)
    return solved.T
