"""Draws of the crossed model's Gaussians given its scales: connection means, cells and effects of attribute words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesbias._core.blocks import in_blocks
from bayesbias._core.cells import cell_numbers
from bayesbias._core.cosine import FloatArray
from bayesbias._core.dense import DenseSums, draw_dense_cells
from bayesbias._core.marginal import CrossedSums, MeanPart, mean_part
from bayesbias._core.patterns import Pattern, Scales, strata

BLOCK = 2**18
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
    interaction = np.full((points, sums.groups, attributes), np.nan) if by_group else None
    step = max(16, BLOCK // (attributes * sums.groups))
    generators = iter(rng.spawn(-(-points // step)))
    own = {begin: next(generators) for begin in range(0, points, step)}

    def draw(part: slice) -> None:
        here, rng = scales.at(part), own[part.start]
        if isinstance(sums, DenseSums):
            mu[part], cells[part] = draw_dense_cells(sums, here, prior_sd, rng)
        else:
            mu[part], cells[part] = _draw_cells(sums, here, prior_sd, filled, rng)
        for p in sums.patterns:
            u, v = _draw_effects(p, here, filled, cells[part], rng)
            attribute[part, p.words] = u
            if interaction is not None:
                interaction[part, p.groups[:, None], p.words] = v

    in_blocks(draw, points, step)
    return GaussianDraws(mu, cells, attribute, None if interaction is None else interaction.transpose(0, 2, 1))


def draw_beta(part: MeanPart, rng: np.random.Generator) -> FloatArray:
    """A draw of (mu - m0, mean effects of patterns) at each point, (B, N)."""
    target = part.x + rng.standard_normal(part.x.shape)
    for i in range(target.shape[1] - 1, -1, -1):  # back substitution with L', all points at once
        target[:, i] -= np.einsum("bj,bj->b", part.chol[:, i + 1 :, i], target[:, i + 1 :])
        target[:, i] /= part.chol[:, i, i]
    target *= part.sd
    return target


def _draw_cells(
    sums: CrossedSums, scales: Scales, prior_sd: float, filled: np.ndarray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    beta = draw_beta(mean_part(sums, scales, prior_sd), rng)
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
    p: Pattern, scales: Scales, filled: np.ndarray, cells: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray | None]:
    """Draws u (B, words) and v (B, groups, words) of a pattern's words."""
    inverse, shape = 1 / scales.sigma2, (len(cells), len(p.groups), len(p.words))
    # residual sums: precision times (distance - cell), over a word's observations in a group
    r = (inverse @ p.totals.transpose(1, 2, 0).reshape(inverse.shape[1], -1)).reshape(shape)
    at = cell_numbers(filled)[p.cells[:, 0], p.cells[:, 1]]
    explained = cells[:, at] * inverse[:, p.cells[:, 1]]
    for h in range(shape[1]):
        r[:, h] -= explained[:, p.group == h].sum(axis=1)[:, None]
    weight = inverse @ strata(p.cells[:, 1], p.group, (inverse.shape[1], shape[1])).sum(axis=0)
    t_u = scales.attribute[:, p.attribute_class]
    t_v = np.zeros(len(cells)) if scales.interaction is None else scales.interaction
    d = 1 + t_v[:, None] * weight
    variance = t_u / (1 + t_u * (weight / d).sum(axis=1))
    u = rng.standard_normal((shape[0], shape[2]))
    u *= np.sqrt(variance)[:, None]
    for h in range(shape[1]):
        u += r[:, h] * (variance / d[:, h])[:, None]
    if scales.interaction is None:
        return u, None
    share = t_v[:, None] / d
    r -= u[:, None, :] * weight[:, :, None]
    r *= share[:, :, None]
    v = rng.standard_normal(shape)
    v *= np.sqrt(share)[:, :, None]
    v += r
    return u, v
