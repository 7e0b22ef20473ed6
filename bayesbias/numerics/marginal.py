"""Cells of a table, and the marginal likelihood of the crossed model.

Complete tables are reduced by patterns of words. Tables with holes are reduced by connected parts: cells that share no
attribute word are independent given mu, and so are the parts into which a table falls. Within a part, what an attribute
word's effects do to its cells depends on its class and on how many distances it has by connection and group: words with
the same numbers are summed beforehand.
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

LOG_2PI = float(np.log(2 * np.pi))
# numbers in a block of points, few enough to stay in the processor's cache, and the points that it has at least
BLOCK, FEWEST = 2**17, 64
MATRICES = 2**19  # the same for the matrices of tables with holes


@dataclass(frozen=True)
class CellStatistics:
    """Sufficient statistics of a grid of cells."""

    # arrays (protected words, connections): how many distances, their mean, and the sum of squared deviations from it.
    # An empty cell has n = 0 and a mean of NaN.
    n: IntArray
    mean: FloatArray
    ssd: FloatArray


def cell_numbers(filled: NDArray[np.bool_]) -> IntArray:
    """Number of each filled cell, in the order of ``np.nonzero``; -1 for the others."""
    number = np.full(filled.shape, -1)
    number[filled] = np.arange(filled.sum())
    return number


def scatter_cells(values: FloatArray, filled: np.ndarray) -> FloatArray:
    """Cell values (..., filled cells) spread over (..., protected_word, connection), NaN elsewhere."""
    if filled.all():
        return values.reshape(*values.shape[:-1], *filled.shape)
    full = np.full((*values.shape[:-1], *filled.shape), np.nan)
    full[..., filled] = values
    return full


def reduce_to_cells(word: IntArray, connection: IntArray, y: FloatArray, shape: tuple[int, int]) -> CellStatistics:
    """Count, mean and sum of squares of the distances (rows,) in each cell."""
    cell, size = word * shape[1] + connection, shape[0] * shape[1]
    n = np.bincount(cell, minlength=size)
    with np.errstate(invalid="ignore"):
        mean = np.bincount(cell, weights=y, minlength=size) / n
    ssd = np.bincount(cell, weights=(y - mean[cell]) ** 2, minlength=size)
    return CellStatistics(n.reshape(shape), mean.reshape(shape), ssd.reshape(shape))


@dataclass(frozen=True)
class Pattern:
    """Attribute words that are compared with the same cells."""

    words: IntArray  # indices of the attribute words
    attribute_class: int  # which attribute_sd they have
    cells: IntArray  # (slots, 2): protected word and connection of each slot
    groups: IntArray  # the distinct groups of its protected words
    group: IntArray  # (slots,): place of each slot's group in ``groups``
    mean: FloatArray  # (slots,): mean over words
    totals: FloatArray  # (words, K, H): sum of each word's distances by connection and group


@dataclass(frozen=True)
class Scales:
    """Variances at B points: sigma^2 and s^2 (B, K), t_u by class (B, G), t_v (B,); t_v is None without the term."""

    sigma2: FloatArray
    s2: FloatArray
    attribute: FloatArray
    interaction: FloatArray | None

    def at(self, part: slice | IntArray) -> Scales:
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

    Each row has a protected word, a connection, an attribute word, and a distance y minus the prior mean of mu; no pair
    of words repeats. Without word x group all protected words may be given one group.
    """
    order = np.lexsort((connection, word, attribute))
    word, connection, attribute, y = word[order], connection[order], attribute[order], y[order]
    starts = np.flatnonzero(np.r_[True, attribute[1:] != attribute[:-1]])
    ends = np.r_[starts[1:], len(attribute)]
    # words of one class that meet the same cells, in the order of the sort, make a pattern
    members: dict[tuple[int, bytes], list[int]] = {}
    cell = word * connections + connection
    for i, (begin, end) in enumerate(zip(starts, ends, strict=True)):
        key = (int(class_of_attribute[attribute[begin]]), cell[begin:end].tobytes())
        members.setdefault(key, []).append(i)
    cells = np.column_stack([word, connection])
    patterns, blocks = [], []
    for (kind, _), rows in members.items():
        block, own = np.stack([y[starts[row] : ends[row]] for row in rows]), cells[starts[rows[0]] : ends[rows[0]]]
        groups, group = np.unique(group_of_word[own[:, 0]], return_inverse=True)
        totals = np.tensordot(block, strata(own[:, 1], group, (connections, len(groups))), 1)
        patterns.append(Pattern(attribute[starts[rows]], kind, own, groups, group, block.mean(axis=0), totals))
        blocks.append(block)
    return tuple(patterns), blocks


def strata(connection: IntArray, group: IntArray, shape: tuple[int, int]) -> FloatArray:
    """Indicators (slots, K, H) of the connection and group of each slot."""
    places = np.zeros((len(connection), *shape))
    places[np.arange(len(connection)), connection, group] = 1
    return places


@dataclass(frozen=True)
class _WithinSums:
    """Statistics for the contrasts between the words of each of P patterns; H is the largest number of groups."""

    # (P,): class, words less one, and observations of a word
    attribute_class: IntArray
    contrasts: FloatArray
    slots: FloatArray
    counts: FloatArray  # (K, P): a word's observations by connection
    strata: FloatArray  # (K, P * H): the same by group
    squares: FloatArray  # (K, P): squared deviations of the distances from the slot means
    products: FloatArray  # (K * K, P * H * H): sums over words of products of their summed deviations


@dataclass(frozen=True)
class _MeanSums:
    """Statistics for the patterns' mean distances, by signature: cells with the same connection, group and patterns.

    With n words in the patterns of a signature, the precision of a cell's vector of pattern means is
    i (diag(m) - m m'/n) + e m m'/n, where i = 1 / sigma^2, e = i / (1 + s^2 i n) and m holds the patterns' words. The
    normal equations of beta are therefore linear in (i, e).
    """

    # (G,): connection, n, number of cells, number of patterns
    connection: IntArray
    words: FloatArray
    cells: FloatArray
    patterns: FloatArray
    # (2 G, N * N + N + 1): matrix, right-hand side and constant of the normal equations of N unknowns
    design: FloatArray
    effects: IntArray  # (N - K, 2): pattern, and group or -1, of each mean effect


@dataclass(frozen=True)
class CrossedSums:
    """Statistics of a complete table that its marginal density depends on."""

    # the table, reduced
    patterns: tuple[Pattern, ...]
    within: _WithinSums
    mean: _MeanSums
    # numbers of each
    connections: int
    groups: int
    classes: int
    rows: int


@dataclass(frozen=True)
class _MeanPart:
    """The Gaussian of beta = (mu - m0, mean effects) at B points."""

    log_likelihood: FloatArray  # (B,): the mean part of the log likelihood
    sd: FloatArray  # (B, N): prior sds R of beta
    chol: FloatArray  # (B, N, N): L with L L' = I + R H R
    x: FloatArray  # (B, N): L^-1 R h; a draw of beta is R L'^-1 (x + z)


def crossed_sums(
    patterns: tuple[Pattern, ...],
    blocks: Sequence[FloatArray],
    group_of_word: IntArray,
    connections: int,
    by_group: bool,
) -> CrossedSums:
    """Reduce patterns and their blocks of distances (:func:`find_patterns`); ``by_group`` for word x group."""
    within = _within_sums(patterns, blocks, connections)
    mean = _mean_sums(patterns, group_of_word, connections, by_group)
    groups, classes = int(group_of_word.max()) + 1, max(p.attribute_class for p in patterns) + 1
    return CrossedSums(patterns, within, mean, connections, groups, classes, sum(block.size for block in blocks))


def pattern_log_likelihood(sums: CrossedSums, scales: Scales, prior_sd: float) -> FloatArray:
    """Log marginal likelihood (B,) of the distances, constants included."""
    value = np.empty(len(scales.sigma2))

    def evaluate(part: slice) -> None:
        here = scales.at(part)
        value[part] = within_part(sums, here) + mean_part(sums, here, prior_sd).log_likelihood

    widest = max(sums.within.products.shape[1], sums.mean.design.shape[1])
    in_blocks(evaluate, len(value), max(FEWEST, BLOCK // widest))
    return value


def within_part(sums: CrossedSums, scales: Scales) -> FloatArray:
    """The part (B,) of the log likelihood that the contrasts between words of a pattern carry."""
    w, inverse = sums.within, 1 / scales.sigma2
    points, patterns = len(inverse), len(w.contrasts)
    t_u = scales.attribute[:, w.attribute_class]
    t_v = np.zeros((points, 1)) if scales.interaction is None else scales.interaction[:, None]
    weight = (inverse @ w.strata).reshape(points, patterns, -1)
    # the covariance diag(sigma^2) + t_v Z Z' + t_u 11' of a word's distances is inverted in two steps of Woodbury's
    # identity: first the groups (d), then what all have in common; determinants multiply (d, then shared)
    d = 1 + t_v[:, :, None] * weight
    shared = 1 + t_u * (weight / d).sum(axis=2)
    log_det = np.log(scales.sigma2) @ w.counts + np.log(d).sum(axis=2) + np.log(shared)
    pairs = (inverse[:, :, None] * inverse[:, None, :]).reshape(points, -1)
    r = (pairs @ w.products).reshape(*d.shape, d.shape[2])
    r /= d[:, :, :, None]
    # r: products of the groups' sums over d; its trace is what word x group takes off, all of it what the word does
    quadratic = inverse @ w.squares - t_v * np.trace(r, axis1=2, axis2=3)
    r /= d[:, :, None, :]
    quadratic -= t_u / shared * r.sum(axis=(2, 3))
    value: FloatArray = -0.5 * ((log_det + LOG_2PI * w.slots) @ w.contrasts + quadratic.sum(axis=1))
    return value


def mean_part(sums: CrossedSums, scales: Scales, prior_sd: float) -> _MeanPart:
    """The Gaussian of mu and of the patterns' mean effects, and its share of the log likelihood."""
    g, points = sums.mean, len(scales.sigma2)
    n = sums.connections + len(g.effects)
    # means and contrasts of the words of a pattern are independent, so that what is left is a regression of the
    # means on beta with a normal prior; inverse and inverse / grown are the i and e of MeanSums
    inverse = 1 / scales.sigma2[:, g.connection]
    grown = 1 + scales.s2[:, g.connection] * inverse * g.words
    equations = np.hstack([inverse, inverse / grown]) @ g.design
    pattern, group = g.effects.T
    variance = scales.attribute[:, sums.within.attribute_class[pattern]]
    if scales.interaction is not None:
        variance = np.where(group < 0, variance, scales.interaction[:, None])
    words = np.array([len(p.words) for p in sums.patterns], dtype=float)[pattern]
    sd = np.hstack([np.full((points, sums.connections), prior_sd), np.sqrt(variance / words)])
    # in units of the prior sds the precision is I + R H R, whose factor exists for sds of 0 as well
    right = equations[:, n * n : n * n + n] * sd
    # the last row of the factor of [[P, r], [r', 1 + r'r]] holds L^-1 r
    bordered = np.empty((points, n + 1, n + 1))
    np.multiply(equations[:, : n * n].reshape(points, n, n), sd[:, :, None], out=bordered[:, :n, :n])
    bordered[:, :n, :n] *= sd[:, None, :]
    bordered[:, np.arange(n), np.arange(n)] += 1
    bordered[:, n, :n] = right
    bordered[:, :n, n] = right
    bordered[:, n, n] = 1 + (right**2).sum(axis=1)
    factor = np.linalg.cholesky(bordered)
    chol, x = factor[:, :n, :n], factor[:, n, :n]
    # log m of the means' precisions and of the step from means to distances cancel
    constant = np.log(inverse) @ (g.cells * g.patterns) - np.log(grown) @ g.cells
    constant -= equations[:, -1] + LOG_2PI * (g.cells @ g.patterns) - (x**2).sum(axis=1)
    log_det = np.log(np.diagonal(chol, axis1=1, axis2=2)).sum(axis=1)
    return _MeanPart(0.5 * constant - log_det, sd, chol, x)


def _within_sums(patterns: Sequence[Pattern], blocks: Sequence[FloatArray], connections: int) -> _WithinSums:
    size, most = len(patterns), max(len(p.groups) for p in patterns)
    counts, squares = np.zeros((connections, size)), np.zeros((connections, size))
    by_stratum = np.zeros((connections, size, most))
    products = np.zeros((connections, connections, size, most, most))
    for i, (p, y) in enumerate(zip(patterns, blocks, strict=True)):
        place = strata(p.cells[:, 1], p.group, (connections, most))
        apart = y - p.mean
        # effects of a word, and of a word on a group, depend on its deviations by their sums over connection and group
        sums = np.tensordot(apart, place, 1)
        by_stratum[:, i] = place.sum(axis=0)
        counts[:, i] = by_stratum[:, i].sum(axis=1)
        squares[:, i] = np.bincount(p.cells[:, 1], weights=(apart**2).sum(axis=0), minlength=connections)
        products[:, :, i] = np.einsum("wkh,wlg->klhg", sums, sums)
    return _WithinSums(
        attribute_class=np.array([p.attribute_class for p in patterns]),
        contrasts=np.array([len(p.words) - 1.0 for p in patterns]),
        slots=np.array([float(len(p.mean)) for p in patterns]),
        counts=counts,
        strata=by_stratum.reshape(connections, -1),
        squares=squares,
        products=products.reshape(connections**2, -1),
    )


def _mean_sums(patterns: Sequence[Pattern], group_of_word: IntArray, connections: int, by_group: bool) -> _MeanSums:
    effects = [(i, -1) for i in range(len(patterns))]
    if by_group:
        effects += [(i, int(group)) for i, p in enumerate(patterns) for group in p.groups]
    place = {effect: connections + i for i, effect in enumerate(effects)}
    n = connections + len(effects)
    signatures = _signatures(patterns, group_of_word)
    design = np.zeros((2, len(signatures), n * n + n + 1))
    described = []
    for index, ((k, group, members), values) in enumerate(signatures.items()):
        words = np.array([float(len(patterns[p].words)) for p in members])
        row = np.zeros((len(members), n))
        row[:, k] = 1
        for i, p in enumerate(members):
            row[i, [place[p, -1], *([place[p, group]] if by_group else [])]] = 1
        effects_only = row.copy()
        effects_only[:, k] = 0  # the first matrix takes a constant to exactly 0
        mean, cells = values.mean(axis=0), len(values)
        scatter = (values - mean).T @ (values - mean)
        shared = np.outer(words, words) / words.sum()
        for feature, (x, matrix) in enumerate([(effects_only, np.diag(words) - shared), (row, shared)]):
            constant = cells * mean @ matrix @ mean + np.sum(matrix * scatter)
            normal = cells * x.T @ matrix
            design[feature, index] = np.r_[(normal @ x).ravel(), normal @ mean, constant]
        described.append((k, words.sum(), cells, len(members)))
    connection, total, cells_of, members_of = np.array(described).T
    return _MeanSums(
        connection=connection.astype(np.intp),
        words=total,
        cells=cells_of,
        patterns=members_of,
        design=design.reshape(2 * len(signatures), -1),
        effects=np.array(effects),
    )


def _signatures(
    patterns: Sequence[Pattern], group_of_word: IntArray
) -> dict[tuple[int, int, tuple[int, ...]], FloatArray]:
    """Connection, group and patterns to the mean distances of such cells, (cells, patterns)."""
    pattern = np.repeat(np.arange(len(patterns)), [len(p.mean) for p in patterns])
    word, k = np.concatenate([p.cells for p in patterns]).T
    order = np.lexsort((pattern, k, word))
    pattern, word, k, mean = pattern[order], word[order], k[order], np.concatenate([p.mean for p in patterns])[order]
    begin = np.flatnonzero(np.r_[True, (word[1:] != word[:-1]) | (k[1:] != k[:-1])])
    size = np.diff(np.r_[begin, len(pattern)])
    collected: dict[tuple[int, int, tuple[int, ...]], FloatArray] = {}
    for count in np.unique(size):
        places = begin[size == count][:, None] + np.arange(count)
        keys = np.column_stack([k[places[:, 0]], group_of_word[word[places[:, 0]]], pattern[places]])
        distinct, member = np.unique(keys, axis=0, return_inverse=True)
        for number, key in enumerate(distinct.tolist()):
            collected[key[0], key[1], tuple(key[2:])] = mean[places[member == number]]
    return collected


@dataclass(frozen=True)
class _TablePart:
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
    """Statistics of a table with holes that its marginal density depends on."""

    # the table's patterns, and its connected parts
    patterns: tuple[Pattern, ...]
    parts: tuple[_TablePart, ...]
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
    """The sums of a table with the rows of :func:`find_patterns`; a ValueError if they hold too many numbers."""
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
        distinct, stratum = np.unique(np.column_stack([k[cells], own]), axis=0, return_inverse=True)
        member = (stratum[:, None] == np.arange(len(distinct))).astype(float)
        # step 2: words of one class with as many distances in each stratum are one kind: at all scales their effects
        # do the same to the information of their cells, so that their sums and products are added up once
        facts = np.column_stack([class_of_attribute[rows], here @ member])
        kinds, kind = np.unique(facts, axis=0, return_inverse=True)
        numbers += len(kinds) * len(cells) * (len(cells) + len(distinct))
        if numbers > most:
            raise ValueError(numbers)
        totals = dense @ member
        of_kind = [np.flatnonzero(kind == u) for u in range(len(kinds))]
        ends = np.searchsorted(own, np.arange(own.max() + 2))
        pieces = [here[:, begin:end] for begin, end in pairwise(ends.tolist())]
        parts.append(
            _TablePart(
                cells=cells,
                connection=k[cells],
                group=own,
                count=here.sum(axis=0),
                total=dense.sum(axis=0),
                strata=distinct,
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
    connections = filled.shape[1]
    squares = np.bincount(connection, weights=y**2, minlength=connections)
    counts = np.bincount(connection, minlength=connections).astype(float)
    groups, classes = int(group_of_word.max()) + 1, int(class_of_attribute.max()) + 1
    return IncompleteSums(patterns, tuple(parts), squares, counts, size, connections, groups, classes, len(y))


@dataclass(frozen=True)
class _PartFactor:
    """The Gaussian of a part's standardised cells z, where a cell is prior_sd a_k + s_k z, at B points."""

    # (B,): twice the log likelihood that does not depend on cells or mu, without the constants of the rows
    constant: FloatArray
    chol: FloatArray  # (B, C, C): L of the precision L L' of z given mu
    x: FloatArray  # (B, C): L^-1 times the right-hand side
    mean: FloatArray  # (B, K, C): the transpose of L^-1 times the columns of the precision for mu
    # (B, K, K), (B, K): precision of mu that the part adds, and right-hand side
    information: FloatArray
    right: FloatArray


def _part_factor(part: _TablePart, scales: Scales, prior_sd: float, connections: int) -> _PartFactor:
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
    # step 3: the effects of words are integrated out. By Woodbury's identity, as in within_part, the precision
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
    return _PartFactor(
        constant=constant,
        chol=chol,
        x=x,
        mean=mean,
        information=of_mean - mean @ mean.transpose(0, 2, 1),
        right=right @ member - (mean @ x[:, :, None])[:, :, 0],
    )


@dataclass(frozen=True)
class _MeanFactor:
    """Log likelihood (B,), and the Gaussian of standardised mu: factor (B, K, K) of its precision, L^-1 rhs (B, K)."""

    log_likelihood: FloatArray
    chol: FloatArray
    x: FloatArray


def _mean_factor(sums: IncompleteSums, scales: Scales, prior_sd: float) -> tuple[_MeanFactor, list[_PartFactor]]:
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
    return _MeanFactor(0.5 * value, chol, x), factors


def _points_at_once(sums: IncompleteSums) -> int:
    return max(4, MATRICES // max(len(part.cells) ** 2 for part in sums.parts))


def incomplete_log_likelihood(sums: IncompleteSums, scales: Scales, prior_sd: float) -> FloatArray:
    """Log marginal likelihood (B,) of the distances, constants included."""

    def evaluate(part: slice) -> FloatArray:
        return _mean_factor(sums, scales.at(part), prior_sd)[0].log_likelihood

    return np.concatenate(in_blocks(evaluate, len(scales.sigma2), _points_at_once(sums)))


def draw_incomplete_cells(
    sums: IncompleteSums, scales: Scales, prior_sd: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """A draw of mu (B, K) and of the cells (B, cells) at each point; points that repeat are factored once."""
    size, k = len(scales.sigma2), sums.connections
    mu, cells = rng.standard_normal((size, k)), rng.standard_normal((size, sums.cells))
    stacked = [scales.sigma2, scales.s2, scales.attribute]
    stacked += [] if scales.interaction is None else [scales.interaction[:, None]]
    _, first, same = np.unique(np.hstack(stacked), axis=0, return_index=True, return_inverse=True)
    distinct = scales.at(first)
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
