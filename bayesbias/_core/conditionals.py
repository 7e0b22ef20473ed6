"""The crossed model given its scales: draws of everything Gaussian, and densities of words that are left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from bayesbias._core.marginal import (
    LOG_2PI,
    CrossedSums,
    DenseSums,
    MeanPart,
    Pattern,
    Scales,
    cell_numbers,
    draw_dense_cells,
    mean_part,
    strata,
)
from bayesbias._core.vectors import FloatArray, in_blocks

BLOCK = 2**19
"""Numbers in a block of effects, few enough to stay in the processor's cache."""


@dataclass(frozen=True)
class GaussianDraws:
    """One draw at each of B points, as deviations from the prior mean of mu.

    Attributes
    ----------
    mu
        (B, K).
    cells
        (B, cells), in the order of the places asked for.
    attribute
        (B, attribute words): u.
    interaction
        (B, attribute words, groups): v, NaN where a word is compared with no word of a group; None without the term.
    """

    mu: FloatArray
    cells: FloatArray
    attribute: FloatArray
    interaction: FloatArray | None


def draw_gaussians(
    sums: CrossedSums | DenseSums, scales: Scales, prior_sd: float, filled: np.ndarray, rng: np.random.Generator
) -> GaussianDraws:
    """A draw of every Gaussian at each of the scales' points.

    Parameters
    ----------
    sums, scales, prior_sd
        As in :func:`mean_part`.
    filled
        Boolean array (protected words, K): the cells that hold a distance.
    rng
        Generator of the draws.
    """
    points = len(scales.sigma2)
    attributes = sum(len(p.words) for p in sums.patterns)
    by_group = scales.interaction is not None
    mu, cells = np.empty((points, sums.connections)), np.empty((points, int(filled.sum())))
    attribute = np.empty((points, attributes))
    # words last, so that the arithmetic runs along them
    interaction = np.empty((points, sums.groups, attributes)) if by_group else None
    step = max(16, BLOCK // (attributes * sums.groups))
    generators = iter(rng.spawn(-(-points // step)))
    unknowns = 0 if isinstance(sums, DenseSums) else sums.connections + len(sums.mean.effects)
    normals = even_normals(points, unknowns, rng) if unknowns else np.empty((points, 0))
    own = {begin: next(generators) for begin in range(0, points, step)}

    def draw(part: slice) -> None:
        here, rng = scales.at(part), own[part.start]
        if isinstance(sums, DenseSums):
            mu[part], cells[part] = draw_dense_cells(sums, here, prior_sd, rng)
        else:
            mu[part], cells[part] = _draw_cells(sums, here, prior_sd, filled, normals[part], rng)
        for p in sums.patterns:
            _draw_effects(
                p, here, filled, cells[part], attribute[part], None if interaction is None else interaction[part], rng
            )

    in_blocks(draw, points, step)
    return GaussianDraws(mu, cells, attribute, None if interaction is None else interaction.transpose(0, 2, 1))


def draw_beta(part: MeanPart, normals: FloatArray) -> FloatArray:
    """A draw of (mu - m0, mean effects of patterns) at each point, (B, N), from as many standard normals."""
    target = part.x + normals
    for i in range(target.shape[1] - 1, -1, -1):  # back substitution with L', all points at once
        target[:, i] -= np.einsum("bj,bj->b", part.chol[:, i + 1 :, i], target[:, i + 1 :])
        target[:, i] /= part.chol[:, i, i]
    target *= part.sd
    return target


def even_normals(points: int, size: int, rng: np.random.Generator) -> FloatArray:
    """Standard normals (points, size) that lie evenly, in random order: means over them vary little between seeds."""
    from scipy.stats import qmc  # loads slowly

    uniform = qmc.Sobol(size, rng=rng).random_base2(int(np.ceil(np.log2(points))))
    normals: FloatArray = ndtri(np.clip(rng.permutation(uniform)[:points], 1e-12, 1 - 1e-12))
    return normals


def _draw_cells(
    sums: CrossedSums,
    scales: Scales,
    prior_sd: float,
    filled: np.ndarray,
    normals: FloatArray,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    beta = draw_beta(mean_part(sums, scales, prior_sd), normals)
    mu, effects = beta[:, : sums.connections], beta[:, sums.connections :]
    number = cell_numbers(filled)
    words, total = np.zeros(number.max() + 1), np.zeros(number.max() + 1)
    spread = np.zeros((effects.shape[1], len(words)))
    for at, p in enumerate(sums.patterns):
        cell = number[p.cells[:, 0], p.cells[:, 1]]
        words[cell] += len(p.words)
        total[cell] += len(p.words) * p.mean
        for row, (pattern, group) in enumerate(sums.mean.effects):
            if pattern == at:
                touched = cell if group < 0 else cell[p.groups[p.group] == group]
                spread[row, touched] += len(p.words)
    k = np.nonzero(filled)[1]
    inverse = 1 / scales.sigma2[:, k]
    precision = 1 / scales.s2[:, k] + inverse * words
    mean = effects @ -spread
    mean += total
    mean *= inverse
    mean += mu[:, k] / scales.s2[:, k]
    mean /= precision
    mean += rng.standard_normal(mean.shape) / np.sqrt(precision)
    return mu, mean


def _draw_effects(
    p: Pattern,
    scales: Scales,
    filled: np.ndarray,
    cells: FloatArray,
    attribute: FloatArray,
    interaction: FloatArray | None,
    rng: np.random.Generator,
) -> None:
    """Draw the effects of a pattern's words into ``attribute`` (B, words) and ``interaction`` (B, groups, words)."""
    inverse, groups = 1 / scales.sigma2, len(p.groups)
    slots = cell_numbers(filled)[p.cells[:, 0], p.cells[:, 1]]
    places = strata(p.cells[:, 1], p.group, (inverse.shape[1], groups))
    weight = inverse @ places.sum(axis=0)
    explained = (cells[:, slots] * inverse[:, p.cells[:, 1]]) @ places.sum(axis=1)
    # precision times (distance - cell), summed over a word's observations in a group, is linear in these features
    features = np.concatenate([np.repeat(inverse[:, None, :], groups, axis=1), -explained[:, :, None]], axis=2)
    totals = np.concatenate([p.totals.transpose(2, 1, 0), np.ones((groups, 1, len(p.words)))], axis=1)
    t_u = scales.attribute[:, p.attribute_class]
    t_v = np.zeros(len(cells)) if scales.interaction is None else scales.interaction
    d = 1 + t_v[:, None] * weight
    variance = t_u / (1 + t_u * (weight / d).sum(axis=1))
    u, normal = np.zeros((len(cells), len(p.words))), np.empty((len(cells), len(p.words)))
    for h in range(groups):
        u += (features[:, h] * (variance / d[:, h])[:, None]) @ totals[h]
    rng.standard_normal(out=normal)
    normal *= np.sqrt(variance)[:, None]
    u += normal
    attribute[:, p.words] = u
    if interaction is None:
        return
    share = t_v[:, None] / d
    interaction[:, np.setdiff1d(np.arange(interaction.shape[1]), p.groups)[:, None], p.words] = np.nan
    for h, group in enumerate(p.groups):
        v = (features[:, h] * share[:, [h]]) @ totals[h]
        v -= np.multiply(u, (share[:, h] * weight[:, h])[:, None], out=normal)
        rng.standard_normal(out=normal)
        normal *= np.sqrt(share[:, [h]])
        v += normal
        interaction[:, group, p.words] = v


WORDS_AT_ONCE = 2**18
"""Numbers in a block of residual sums, few enough to stay in the processor's cache."""


def word_log_likelihood(
    patterns: Sequence[Pattern], blocks: Sequence[FloatArray], scales: Scales, cells: FloatArray
) -> FloatArray:
    """Log density of all distances of each attribute word, its effects u and v integrated out.

    Given cells and scales, words are independent, and the distances of one are normal with covariance
    diag(sigma^2) + t_u 11' + t_v Z Z', where Z holds the group of each distance. Determinant and quadratic form need
    only sums by connection and group. With t_u = t_v = 0 this is a product of normals.

    Parameters
    ----------
    patterns, blocks
        A table's patterns and their distances (words, slots), as :func:`find_patterns` gives them.
    scales
        Variances at B draws; ``s2`` is not read.
    cells
        (B, protected words, K): cell means at the draws, minus what was taken from the distances. Cells without a
        distance are not read.

    Returns
    -------
    ndarray
        (B, attribute words), in the order of the indices in ``patterns``.
    """
    value = np.empty((len(cells), sum(len(p.words) for p in patterns)))
    widest = max(len(p.words) * len(p.groups) for p in patterns)

    def evaluate(part: slice) -> None:
        here = scales.at(part)
        for p, y in zip(patterns, blocks, strict=True):
            value[part, p.words] = _log_density(p, y, here, cells[part])

    in_blocks(evaluate, len(value), max(16, WORDS_AT_ONCE // widest))
    return value


def _log_density(p: Pattern, y: FloatArray, scales: Scales, cells: FloatArray) -> FloatArray:
    """The density (B, words) of a pattern's words.

    With z = (y - slot mean) - (cell - slot mean), the sum of z^2 over sigma^2 and the residual sums r of a group are
    matrix products of what depends on the word and what depends on the draw.
    """
    k, inverse = p.cells[:, 1], 1 / scales.sigma2
    place = strata(k, p.group, (inverse.shape[1], len(p.groups)))
    apart = y - p.mean
    shift = cells[:, p.cells[:, 0], k] - p.mean
    precise = shift * inverse[:, k]
    squares = inverse @ (apart**2 @ place.sum(axis=2)).T
    squares -= 2 * precise @ apart.T
    squares += (shift * precise).sum(axis=1)[:, None]
    # residual sums of a word by group, (B, H, words)
    r = np.tensordot(inverse, np.tensordot(place, apart, (0, 1)), 1)
    r -= np.stack([precise[:, p.group == h].sum(axis=1) for h in range(len(p.groups))], axis=1)[:, :, None]
    weight = inverse @ place.sum(axis=0)
    t_u = scales.attribute[:, p.attribute_class]
    t_v = np.zeros(len(cells)) if scales.interaction is None else scales.interaction
    d = 1 + t_v[:, None] * weight
    shared = 1 + t_u * (weight / d).sum(axis=1)
    log_det = np.log(scales.sigma2) @ place.sum(axis=(0, 2)) + np.log(d).sum(axis=1) + np.log(shared)
    squares -= np.einsum("bhw,bh->bw", r**2, t_v[:, None] / d)
    squares -= np.einsum("bhw,bh->bw", r, 1 / d) ** 2 * (t_u / shared)[:, None]
    value: FloatArray = -0.5 * (squares + (log_det + len(k) * LOG_2PI)[:, None])
    return value
