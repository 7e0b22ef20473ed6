"""Cells of a table; the crossed model given its scales: its marginal likelihood, and draws of everything Gaussian."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import ndtri

from bayesbias.numerics.arrays import FloatArray, IntArray, in_blocks

LOG_2PI = float(np.log(2 * np.pi))
# numbers in a block of points, few enough to stay in the processor's cache, and the points that it has at least
BLOCK, FEWEST = 2**17, 64
BLOCK_OF_DRAWS = 2**20  # numbers in a block of draws, few enough to stay in the processor's cache
MOST_KINDS = 256  # kinds of cells whose moments are held
PARTS = 8  # parts of the protected words whose sums are held at once


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


CellsOf = Callable[[slice, np.random.Generator], FloatArray]
"""From some words and a generator draws (words, K, B) of their cells, NaN where one is empty."""


@dataclass(frozen=True)
class CrossedSums:
    """Statistics of a complete table: the density given its scales, and draws."""

    # the table, reduced
    patterns: tuple[Pattern, ...]
    within: _WithinSums
    mean: _MeanSums
    # numbers of each
    connections: int
    groups: int
    classes: int

    def log_likelihood(self, scales: Scales, prior_sd: float) -> FloatArray:
        """Log marginal likelihood (B,) of the distances, constants included."""
        value = np.empty(len(scales.sigma2))

        def evaluate(part: slice) -> None:
            here = scales.at(part)
            value[part] = within_part(self, here) + mean_part(self, here, prior_sd)[0]

        widest = max(self.within.products.shape[1], self.mean.design.shape[1])
        in_blocks(evaluate, len(value), max(FEWEST, BLOCK // widest))
        return value

    def beta_moments(self, scales: Scales, prior_sd: float) -> tuple[FloatArray, FloatArray]:
        """Mean (B, N) of (mu - m0, mean effects of patterns) at the points, and root (B, N, N) of its covariance."""
        _, sd, chol, x = mean_part(self, scales, prior_sd)
        columns = np.linalg.solve(chol, np.eye(chol.shape[1]))  # L^-1
        root = np.swapaxes(columns, 1, 2) * sd[:, :, None]  # R L'^-1, whose product with x is the mean
        return np.einsum("bnm,bm->bn", root, x), root

    def draw_cells(
        self, scales: Scales, prior_sd: float, filled: NDArray[np.bool_], rng: np.random.Generator
    ) -> tuple[FloatArray, CellsOf]:
        """A draw of mu (B, K) at each point, and what draws the cells given it."""
        # mean effects are drawn for the cells' sake only: given the cells the effects of words are independent, and
        # are drawn from the distances themselves
        beta = _draw_beta(self, scales, prior_sd, rng)
        totals, inverse = cell_totals(self, filled.shape), np.ascontiguousarray(1 / scales.sigma2.T)

        @lru_cache(MOST_KINDS)
        def kind_at(number: int) -> tuple[FloatArray, FloatArray, FloatArray]:
            """Centre and slope (B,) of the means of a kind's cells in their totals, and their sd."""
            in_total, variance, in_beta = kind_moments(totals, number, scales, inverse)
            return np.einsum("bn,bn->b", in_beta, beta), in_total, np.sqrt(variance)

        def cells_of(words: slice, own: np.random.Generator) -> FloatArray:
            kind, total = totals.kind[words], totals.total[words]
            drawn = own.standard_normal((*kind.shape, len(beta)))
            drawn[kind < 0] = np.nan
            for number in np.unique(kind[kind >= 0]).tolist():
                centre, slope, sd = kind_at(number)
                k = int(totals.connection[number])
                for word in np.flatnonzero(kind[:, k] == number):  # a row at a time stays in the processor's cache
                    row = drawn[word, k]
                    row *= sd
                    row += centre
                    row += total[word, k] * slope
            return drawn

        return beta[:, : self.connections], cells_of


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
    return CrossedSums(patterns, within, mean, connections, groups, classes)


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


def mean_part(
    sums: CrossedSums, scales: Scales, prior_sd: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """The Gaussian of beta = (mu - m0, mean effects of patterns), and its share (B,) of the log likelihood.

    Beside this the prior sds R (B, N) of beta, L (B, N, N) with L L' = I + R H R, and x = L^-1 R h (B, N): with
    standard normals z, beta = R L'^-1 (x + z) has the mean R (L L')^-1 R h and the covariance R (L L')^-1 R.
    """
    g, points = sums.mean, len(scales.sigma2)
    n = sums.connections + len(g.effects)
    # means and contrasts of the words of a pattern are independent, so that what is left is a regression of the
    # means on beta with a normal prior; inverse and inverse / grown are the i and e of _MeanSums
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
    return 0.5 * constant - log_det, sd, chol, x


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


def draw_words(
    cells_of: CellsOf,
    patterns: Sequence[Pattern],
    groups: int,
    scales: Scales,
    filled: NDArray[np.bool_],
    rng: np.random.Generator,
    take_cells: Callable[[slice, FloatArray], None],
    take_effects: Callable[[IntArray, FloatArray, FloatArray | None], None],
) -> None:
    """Draws of cells and of the effects of attribute words, a block of words at a time and from several threads.

    Cells (words, K, B), NaN where there is no row, may be changed by what takes them; effects are (words, B), and of
    word x group (words, groups, B). ``filled`` (protected words, K) are the cells with a distance.
    """
    # p(mu, cells, u, v | y) = p(mu | y) p(cells | mu, y) p(u, v | cells, y), drawn in this order
    points, shape = len(scales.sigma2), filled.shape
    inverse = np.ascontiguousarray(1 / scales.sigma2.T)
    ends = np.cumsum([0, *(len(p.groups) for p in patterns)])
    # cells of each group of each pattern, as an indicator matrix (patterns' groups, protected words * K)
    rows = np.concatenate([ends[i] + p.group for i, p in enumerate(patterns)])
    columns = np.concatenate([p.cells[:, 0] * shape[1] + p.cells[:, 1] for p in patterns])
    touched = sparse.csc_array((np.ones(len(rows)), (rows, columns)), shape=(int(ends[-1]), shape[0] * shape[1]))
    step = max(1, BLOCK_OF_DRAWS // (points * shape[1]))
    generators = fast_generators(rng, -(-len(filled) // step))

    def take(words: slice) -> FloatArray:
        """Draw the cells of some words, and return the sums (patterns' groups, B) that the effects need of them."""
        explained = np.zeros((ends[-1], points))
        for begin in range(words.start, words.stop, step):
            part = slice(begin, min(begin + step, words.stop))
            drawn = cells_of(part, generators[begin // step])
            precise = drawn * inverse
            precise[~filled[part]] = 0
            here = touched[:, part.start * shape[1] : part.stop * shape[1]].toarray()
            explained += here @ precise.reshape(here.shape[1], points)
            take_cells(part, drawn)
        return explained

    explained = reduce(np.add, in_blocks(take, len(filled), step * max(1, -(-len(generators) // PARTS))))
    width = max(1, BLOCK_OF_DRAWS // (points * (1 + groups)))
    pieces = [
        (i, slice(begin, min(begin + width, len(p.words))))
        for i, p in enumerate(patterns)
        for begin in range(0, len(p.words), width)
    ]
    own = fast_generators(rng, len(pieces))

    def draw(part: slice) -> None:
        for (piece, words), generator in zip(pieces[part], own[part], strict=True):
            p, here = patterns[piece], explained[ends[piece] : ends[piece + 1]]
            take_effects(p.words[words], *_draw_effects(p, words, scales, inverse, here, groups, generator))

    in_blocks(draw, len(pieces), max(1, -(-len(pieces) // PARTS)))


def fast_generators(rng: np.random.Generator, count: int) -> list[np.random.Generator]:
    """Independent generators of many normals, by SFC64, which takes four fifths of the time of NumPy's default."""
    seeds = np.random.SeedSequence(rng.integers(2**63, size=4).tolist()).spawn(count)
    return [np.random.Generator(np.random.SFC64(seed)) for seed in seeds]


@dataclass(frozen=True)
class CellTotals:
    """Sums of cells (protected words, K) over the words of their patterns."""

    total: FloatArray  # sum of the distances; 0 in empty cells
    # cells of one kind have the same connection, number of distances and mean effects; -1 is an empty cell
    kind: IntArray
    # of each kind, (kinds,)
    connection: IntArray
    count: FloatArray
    spread: FloatArray  # how often each mean effect is in the sum of a cell of a kind, (kinds, effects)


def cell_totals(sums: CrossedSums, shape: tuple[int, ...]) -> CellTotals:
    """The sums of a table's cells (protected words, K), and their kinds."""
    total, facts = np.zeros(shape), np.zeros((*shape, 2 + len(sums.mean.effects)))
    facts[:, :, 0] = np.arange(shape[1])
    effects = sums.mean.effects.tolist()
    for i, p in enumerate(sums.patterns):
        word, k = p.cells.T
        facts[word, k, 1] += len(p.words)
        total[word, k] += len(p.words) * p.mean
        for column, (pattern, group) in enumerate(effects):
            if pattern == i:
                own = slice(None) if group < 0 else p.groups[p.group] == group
                facts[word[own], k[own], 2 + column] += len(p.words)
    return totals_by_kind(total, facts)


def totals_by_kind(total: FloatArray, facts: FloatArray) -> CellTotals:
    """Cells by kind: those with the same facts (J, K, 2 + effects): connection, distances, how often each effect."""
    kinds, kind = np.unique(facts.reshape(-1, facts.shape[2]), axis=0, return_inverse=True)
    kind = np.where(kinds[kind, 1] > 0, kind, -1).reshape(total.shape)
    return CellTotals(total, kind, kinds[:, 0].astype(np.intp), kinds[:, 1], kinds[:, 2:])


def kind_moments(
    totals: CellTotals, at: int, scales: Scales, inverse: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Of a kind's cells: slope (B,) of their means in the cells' totals, variance (B,), and slope (B, N) in beta."""
    k = int(totals.connection[at])
    # a normal prior around mu of variance s^2, and count distances of variance sigma^2 less their mean effects:
    # the mean is variance * (mu / s^2 + (total - spread' effects) / sigma^2)
    variance = 1 / (1 / scales.s2[:, k] + totals.count[at] * inverse[k])
    slope = np.zeros((len(variance), len(inverse) + totals.spread.shape[1]))
    slope[:, k] = variance / scales.s2[:, k]
    slope[:, len(inverse) :] = -(variance * inverse[k])[:, None] * totals.spread[at]
    return variance * inverse[k], variance, slope


def _draw_beta(sums: CrossedSums, scales: Scales, prior_sd: float, rng: np.random.Generator) -> FloatArray:
    """A draw of (mu - m0, mean effects of patterns) at each of the scales' points, (B, N).

    Its normals lie evenly, in random order: means over them vary little between seeds.
    """
    from scipy.stats import qmc  # loads slowly

    points, size = len(scales.sigma2), sums.connections + len(sums.mean.effects)
    uniform = qmc.Sobol(size, rng=rng).random_base2(int(np.ceil(np.log2(points))))
    normals: FloatArray = ndtri(np.clip(rng.permutation(uniform)[:points], 1e-12, 1 - 1e-12))
    beta = np.empty_like(normals)

    def draw(part: slice) -> None:
        _, sd, chol, x = mean_part(sums, scales.at(part), prior_sd)
        target = x + normals[part]
        for i in range(size - 1, -1, -1):  # back substitution with L', all points at once
            target[:, i] -= np.einsum("bj,bj->b", chol[:, i + 1 :, i], target[:, i + 1 :])
            target[:, i] /= chol[:, i, i]
        beta[part] = sd * target

    in_blocks(draw, points, max(FEWEST, BLOCK_OF_DRAWS // size**2))
    return beta


def _draw_effects(
    p: Pattern,
    words: slice,
    scales: Scales,
    inverse: FloatArray,
    explained: FloatArray,
    all_groups: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray | None]:
    """Draws of the effects u (words, B) of some of a pattern's words, and v (words, all groups, B) or None.

    ``inverse`` is 1 / sigma^2, (K, B); ``explained`` are sums (the pattern's groups, B) of the cells over sigma^2.
    """
    groups, count, points = len(p.groups), len(p.words[words]), len(scales.sigma2)
    observed = strata(p.cells[:, 1], p.group, (len(inverse), groups)).sum(axis=0)
    weight = observed.T @ inverse
    t_u = scales.attribute[:, p.attribute_class]
    t_v = np.zeros(points) if scales.interaction is None else scales.interaction
    d = 1 + t_v * weight
    # u with v integrated out: each group says sum / d with the precision weight / d; then v given u
    variance = t_u / (1 + t_u * (weight / d).sum(axis=0))
    u = np.zeros((count, points))
    # precision times (distance - cell), summed over a word's observations in a group
    sums = [p.totals[words, :, h] @ inverse - explained[h] for h in range(groups)]
    for h in range(groups):
        u += sums[h] * (variance / d[h])
    normal = rng.standard_normal((count, points))
    normal *= np.sqrt(variance)
    u += normal
    if scales.interaction is None:
        return u, None
    v = np.full((count, all_groups, points), np.nan)
    # v given u has the variance t_v / d = 1 / (1 / t_v + weight), and the mean of it times (sum - weight u)
    variance_v = t_v / d
    for h, group in enumerate(p.groups):
        own = np.multiply(sums[h], variance_v[h], out=sums[h])
        own -= np.multiply(u, variance_v[h] * weight[h], out=normal)
        rng.standard_normal(out=normal)
        normal *= np.sqrt(variance_v[h])
        own += normal
        v[:, group] = own
    return u, v
