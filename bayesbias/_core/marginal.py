"""Cells of a table, and the marginal likelihood of the crossed model by patterns of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesbias._core.vectors import FloatArray, IntArray, in_blocks


@dataclass(frozen=True)
class Cells:
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
    for i, (begin, end) in enumerate(zip(starts, ends, strict=True)):
        key = (int(class_of_attribute[attribute[begin]]), cell[begin:end].tobytes())
        members.setdefault(key, []).append(i)
    blocks = [np.stack([y[starts[row] : ends[row]] for row in rows]) for rows in members.values()]
    cells = np.column_stack([word, connection])
    patterns = tuple(
        _pattern(
            block, attribute[starts[rows]], key[0], cells[starts[rows[0]] : ends[rows[0]]], group_of_word, connections
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


LOG_2PI = float(np.log(2 * np.pi))
# numbers in a block of points, few enough to stay in the processor's cache, and the points that it has at least
BLOCK, FEWEST = 2**17, 64


@dataclass(frozen=True)
class WithinSums:
    """What the contrasts between the words of a pattern need, for P patterns; H is the largest number of groups."""

    # (P,): class, words less one, and observations of a word
    attribute_class: IntArray
    contrasts: FloatArray
    slots: FloatArray
    counts: FloatArray  # (K, P): a word's observations by connection
    strata: FloatArray  # (K, P * H): the same by group
    squares: FloatArray  # (K, P): squared deviations of the distances from the slot means
    products: FloatArray  # (K * K, P * H * H): sums over words of products of their summed deviations


@dataclass(frozen=True)
class MeanSums:
    """What the patterns' mean distances need, by signature: cells with the same connection, group and patterns.

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
    """What the density needs of a table."""

    # the table, reduced
    patterns: tuple[Pattern, ...]
    within: WithinSums
    mean: MeanSums
    # numbers of each
    connections: int
    groups: int
    classes: int
    rows: int


@dataclass(frozen=True)
class MeanPart:
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
    return CrossedSums(
        patterns=patterns,
        within=_within_sums(patterns, blocks, connections),
        mean=_mean_sums(patterns, group_of_word, connections, by_group),
        connections=connections,
        groups=int(group_of_word.max()) + 1,
        classes=max(p.attribute_class for p in patterns) + 1,
        rows=sum(block.size for block in blocks),
    )


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


def mean_part(sums: CrossedSums, scales: Scales, prior_sd: float) -> MeanPart:
    """The Gaussian of mu and of the patterns' mean effects, and its share of the log likelihood."""
    g, points = sums.mean, len(scales.sigma2)
    n = sums.connections + len(g.effects)
    # means and contrasts of the words of a pattern are independent, so that what is left is a regression of the
    # means on beta with a normal prior; inverse and inverse / grown are the i and e of MeanSums
    inverse = 1 / scales.sigma2[:, g.connection]
    grown = 1 + scales.s2[:, g.connection] * inverse * g.words
    equations = np.hstack([inverse, inverse / grown]) @ g.design
    # in units of the prior sds the precision is I + R H R, whose factor exists for sds of 0 as well
    sd = _prior_sds(sums, scales, prior_sd)
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
    return MeanPart(0.5 * constant - log_det, sd, chol, x)


def _prior_sds(sums: CrossedSums, scales: Scales, prior_sd: float) -> FloatArray:
    pattern, group = sums.mean.effects.T
    words = np.array([len(p.words) for p in sums.patterns], dtype=float)[pattern]
    classes = sums.within.attribute_class[pattern]
    variance = scales.attribute[:, classes]
    if scales.interaction is not None:
        variance = np.where(group < 0, variance, scales.interaction[:, None])
    means = np.full((len(variance), sums.connections), prior_sd)
    return np.hstack([means, np.sqrt(variance / words)])


def _within_sums(patterns: Sequence[Pattern], blocks: Sequence[FloatArray], connections: int) -> WithinSums:
    size, most = len(patterns), max(len(p.groups) for p in patterns)
    counts, squares = np.zeros((connections, size)), np.zeros((connections, size))
    by_stratum = np.zeros((connections, size, most))
    products = np.zeros((connections, connections, size, most, most))
    for i, (p, y) in enumerate(zip(patterns, blocks, strict=True)):
        place = strata(p.cells[:, 1], p.group, (connections, most))
        apart = y - p.mean
        sums = np.tensordot(apart, place, 1)
        by_stratum[:, i] = place.sum(axis=0)
        counts[:, i] = by_stratum[:, i].sum(axis=1)
        squares[:, i] = np.bincount(p.cells[:, 1], weights=(apart**2).sum(axis=0), minlength=connections)
        products[:, :, i] = np.einsum("wkh,wlg->klhg", sums, sums)
    return WithinSums(
        attribute_class=np.array([p.attribute_class for p in patterns]),
        contrasts=np.array([len(p.words) - 1.0 for p in patterns]),
        slots=np.array([float(len(p.mean)) for p in patterns]),
        counts=counts,
        strata=by_stratum.reshape(connections, -1),
        squares=squares,
        products=products.reshape(connections**2, -1),
    )


def _mean_sums(patterns: Sequence[Pattern], group_of_word: IntArray, connections: int, by_group: bool) -> MeanSums:
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
    return MeanSums(
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
