"""The crossed model given its scales: draws of everything Gaussian, and densities of words that are left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Protocol

import numpy as np
from scipy import sparse
from scipy.special import ndtri

from bayesbias.numerics.arrays import FloatArray, IntArray, in_blocks
from bayesbias.numerics.marginal import (
    FEWEST,
    CrossedSums,
    IncompleteSums,
    Pattern,
    Scales,
    draw_incomplete_cells,
    mean_part,
    scatter_cells,
    strata,
)

BLOCK = 2**20  # numbers in a block of draws, few enough to stay in the processor's cache
MOST_KINDS = 256  # kinds of cells whose moments are held
PARTS = 8  # parts of the protected words whose sums are held at once


class Taker(Protocol):
    """A receiver of the draws of words, a block of words at a time and from several threads."""

    def cells(self, words: slice, drawn: FloatArray, part: int) -> None:
        """Take draws (words, K, B) of the cells of some protected words, NaN in empty cells; they may be changed.

        Blocks with the same number of a part come one after the other.
        """

    def effects(self, words: IntArray, attribute: FloatArray, interaction: FloatArray | None) -> None:
        """Take draws (words, B) and (words, groups, B) of the effects of some attribute words.

        NaN where a word is compared with no word of a group; None without the term.
        """


def draw_gaussians(
    sums: CrossedSums | IncompleteSums,
    scales: Scales,
    prior_sd: float,
    filled: np.ndarray,
    rng: np.random.Generator,
    taker: Taker,
) -> FloatArray:
    """Draws (B, K) of mu as deviations from its prior mean, one at each of the scales' points.

    ``taker`` takes the draws of cells, u and v beside; ``filled`` (protected words, K) are the cells with a distance.
    """
    # p(mu, cells, u, v | y) = p(mu | y) p(cells | mu, y) p(u, v | cells, y), drawn in this order
    points = len(scales.sigma2)
    inverse = np.ascontiguousarray(1 / scales.sigma2.T)
    cells_of: Callable[[slice, np.random.Generator], FloatArray]
    if isinstance(sums, IncompleteSums):
        mu, filled_cells = draw_incomplete_cells(sums, scales, prior_sd, rng)
        cells = np.ascontiguousarray(np.moveaxis(scatter_cells(filled_cells, filled), 0, 2))

        def cells_of(words: slice, _: np.random.Generator) -> FloatArray:
            return cells[words]
    else:
        unknowns = sums.connections + len(sums.mean.effects)
        # mean effects are drawn for the cells' sake only: given the cells the effects of words are independent, and are
        # drawn below from the distances themselves
        beta = _draw_beta(sums, scales, prior_sd, _even_normals(points, unknowns, rng))
        mu, totals = beta[:, : sums.connections], cell_totals(sums, filled.shape)

        @lru_cache(MOST_KINDS)
        def kind_at(number: int) -> Kind:
            in_total, variance, in_beta = kind_moments(totals, number, scales, inverse)
            return int(totals.connection[number]), np.einsum("bn,bn->b", in_beta, beta), in_total, np.sqrt(variance)

        def cells_of(words: slice, own: np.random.Generator) -> FloatArray:
            return _draw_cells(totals, words, kind_at, points, own)

    ends = np.cumsum([0, *(len(p.groups) for p in sums.patterns)])
    touched = _touched(sums.patterns, filled.shape, ends)
    step = max(1, BLOCK // (points * filled.shape[1]))
    generators = fast_generators(rng, -(-len(filled) // step))

    def take(words: slice) -> FloatArray:
        """Draw the cells of some words, and return the sums (patterns' groups, B) that the effects need of them."""
        explained = np.zeros((ends[-1], points))
        for begin in range(words.start, words.stop, step):
            part = slice(begin, min(begin + step, words.stop))
            drawn = cells_of(part, generators[begin // step])
            precise = drawn * inverse
            precise[~filled[part]] = 0
            here = touched[:, part.start * filled.shape[1] : part.stop * filled.shape[1]].toarray()
            explained += here @ precise.reshape(here.shape[1], points)
            taker.cells(part, drawn, words.start)
        return explained

    explained = reduce(np.add, in_blocks(take, len(filled), step * max(1, -(-len(generators) // PARTS))))
    width = max(1, BLOCK // (points * (1 + sums.groups)))
    pieces = [
        (i, slice(begin, min(begin + width, len(p.words))))
        for i, p in enumerate(sums.patterns)
        for begin in range(0, len(p.words), width)
    ]
    own = fast_generators(rng, len(pieces))

    def draw(part: slice) -> None:
        for (piece, words), generator in zip(pieces[part], own[part], strict=True):
            p, here = sums.patterns[piece], explained[ends[piece] : ends[piece + 1]]
            taker.effects(p.words[words], *_draw_effects(p, words, scales, inverse, here, sums.groups, generator))

    in_blocks(draw, len(pieces), max(1, -(-len(pieces) // PARTS)))
    return mu


def fast_generators(rng: np.random.Generator, count: int) -> list[np.random.Generator]:
    """Independent generators of many normals, by SFC64, which takes four fifths of the time of NumPy's default."""
    seeds = np.random.SeedSequence(rng.integers(2**63, size=4).tolist()).spawn(count)
    return [np.random.Generator(np.random.SFC64(seed)) for seed in seeds]


def _touched(patterns: Sequence[Pattern], shape: tuple[int, ...], ends: np.ndarray) -> sparse.csc_array:
    """Cells of each group of each pattern, as an indicator matrix (patterns' groups, protected words * K)."""
    rows = np.concatenate([ends[i] + p.group for i, p in enumerate(patterns)])
    columns = np.concatenate([p.cells[:, 0] * shape[1] + p.cells[:, 1] for p in patterns])
    return sparse.csc_array((np.ones(len(rows)), (rows, columns)), shape=(int(ends[-1]), shape[0] * shape[1]))


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


# connection of the cells of a kind, and (B,): centre and slope of their means in the cells' totals, and their sd
Kind = tuple[int, FloatArray, FloatArray, FloatArray]


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


def _draw_cells(
    totals: CellTotals, words: slice, kind_at: Callable[[int], Kind], points: int, rng: np.random.Generator
) -> FloatArray:
    """Draws (words, K, B) of cells given their kinds; NaN where a cell is empty."""
    kind, total = totals.kind[words], totals.total[words]
    drawn = rng.standard_normal((*kind.shape, points))
    for number in np.unique(kind).tolist():
        if number < 0:
            drawn[kind < 0] = np.nan
            continue
        k, centre, slope, sd = kind_at(number)
        for word in np.flatnonzero(kind[:, k] == number):  # a row at a time stays in the processor's cache
            row = drawn[word, k]
            row *= sd
            row += centre
            row += total[word, k] * slope
    return drawn


def _draw_beta(sums: CrossedSums, scales: Scales, prior_sd: float, normals: FloatArray) -> FloatArray:
    """A draw of (mu - m0, mean effects of patterns) at each of the scales' points, (B, N), from as many normals."""
    beta = np.empty_like(normals)

    def draw(part: slice) -> None:
        # with R, L and x of MeanPart and standard normals z,
        # beta = R L'^-1 (x + z) has the mean R (L L')^-1 R h and the covariance R (L L')^-1 R
        mean = mean_part(sums, scales.at(part), prior_sd)
        target = mean.x + normals[part]
        for i in range(target.shape[1] - 1, -1, -1):  # back substitution with L', all points at once
            target[:, i] -= np.einsum("bj,bj->b", mean.chol[:, i + 1 :, i], target[:, i + 1 :])
            target[:, i] /= mean.chol[:, i, i]
        beta[part] = mean.sd * target

    in_blocks(draw, len(beta), max(FEWEST, BLOCK // beta.shape[1] ** 2))
    return beta


def beta_moments(sums: CrossedSums, scales: Scales, prior_sd: float) -> tuple[FloatArray, FloatArray]:
    """Mean (B, N) of (mu - m0, mean effects of patterns) at the points, and root (B, N, N) of its covariance."""
    part = mean_part(sums, scales, prior_sd)
    columns = np.linalg.solve(part.chol, np.eye(part.chol.shape[1]))  # L^-1
    root = np.swapaxes(columns, 1, 2) * part.sd[:, :, None]  # R L'^-1, whose product with x is the mean
    return np.einsum("bnm,bm->bn", root, part.x), root


def _even_normals(points: int, size: int, rng: np.random.Generator) -> FloatArray:
    """Standard normals (points, size) that lie evenly, in random order: means over them vary little between seeds."""
    from scipy.stats import qmc  # loads slowly

    uniform = qmc.Sobol(size, rng=rng).random_base2(int(np.ceil(np.log2(points))))
    normals: FloatArray = ndtri(np.clip(rng.permutation(uniform)[:points], 1e-12, 1 - 1e-12))
    return normals


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
