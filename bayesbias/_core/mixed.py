"""Regression with effects of crossed groupings: all but the standard deviations integrated out.

    y = W b + u + N(0, v),   b_i ~ N(0, r_i^2),   u ~ N(0, t) for each of K levels.

The K levels are those of the grouping that has the most, which stands apart; W (N rows, q) holds the columns of the
fixed effects and the indicators of the other groupings' levels. With the sums that :class:`MixedSums` holds and n the
rows of a level,

    S = within / v + sum of between / (v + n t)

holds the cross-products of W and y weighted by the inverse covariance of y given b. With R = diag(r),
P = I + R S_WW R = L L' and x = L^-1 R S_Wy, the log density of y is, up to a constant,

    - 1/2 [(N - K) log v + sum over levels of log(v + n t) + S_yy - x'x] - sum of log L_ii,

and a draw of b is R L'^-1 (x + z) with z standard normal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayesbias._core.cells import IntArray
from bayesbias._core.cosine import FloatArray

BLOCK = 2**22
"""Numbers in the matrices of a block of draws."""


@dataclass(frozen=True)
class MixedSums:
    """All that the posterior needs of the rows.

    Attributes
    ----------
    within
        Cross-products (q + 1, q + 1) of (W, y) about their means in the levels of the grouping apart.
    between
        Those of the means, added up over levels of one size, (sizes, q + 1, q + 1).
    sizes, levels
        Rows of a level, and the number of levels that have as many, (sizes,).
    totals, rows
        Sums of (W, y) in each level, (levels, q + 1), and its number of rows.
    scale_of
        (q,): the scale of each column, 0 for fixed effects, 1 + number of its grouping for the others.
    apart
        Number of the grouping apart; None without groupings.
    size
        Rows in all.
    """

    within: FloatArray
    between: FloatArray
    sizes: IntArray
    levels: IntArray
    totals: FloatArray
    rows: IntArray
    scale_of: IntArray
    apart: int | None
    size: int


def mixed_sums(columns: FloatArray, y: FloatArray, groupings: Sequence[IntArray]) -> MixedSums:
    """Reduce columns of fixed effects (rows, terms), the outcome (rows,) and the numbers of the rows' levels."""
    sizes = [int(codes.max()) + 1 for codes in groupings]
    apart = int(np.argmax(sizes)) if sizes else None
    others = [at for at in range(len(sizes)) if at != apart]
    joint = np.column_stack([columns, *(np.eye(sizes[at])[groupings[at]] for at in others), y])
    scale_of = np.repeat([0, *(1 + at for at in others)], [columns.shape[1], *(sizes[at] for at in others)])
    level = groupings[apart] if apart is not None else np.empty(0, dtype=np.intp)
    rows, totals = np.bincount(level), np.zeros((sizes[apart] if apart is not None else 0, joint.shape[1]))
    if apart is not None:
        np.add.at(totals, level, joint)
        joint = joint - (totals / rows[:, None])[level]
    found, place, levels = np.unique(rows, return_inverse=True, return_counts=True)
    parts = [totals[place == at].T @ totals[place == at] / size for at, size in enumerate(found)]
    between = np.array(parts).reshape(-1, joint.shape[1], joint.shape[1])
    return MixedSums(joint.T @ joint, between, found, levels, totals, rows, scale_of, apart, len(y))


def draw_effects(
    sums: MixedSums, sds: FloatArray, fixed_sd: float, rng: np.random.Generator
) -> tuple[FloatArray, list[FloatArray]]:
    """Draws of the fixed effects (draws, terms), and of each grouping's effects (draws, levels), given sds.

    Parameters
    ----------
    sums
        The rows, reduced.
    sds
        (draws, 1 + groupings): of the residuals, and of each grouping's effects.
    fixed_sd
        Prior sd of the fixed effects.
    rng
        Generator of the draws.
    """
    step = max(1, BLOCK // len(sums.scale_of) ** 2)
    drawn = [_block(sums, sds[begin : begin + step], fixed_sd, rng) for begin in range(0, len(sds), step)]
    joint, alone = (np.concatenate(part) for part in zip(*drawn, strict=True))
    groups = range(sds.shape[1] - 1)
    effects = [alone if at == sums.apart else joint[:, sums.scale_of == 1 + at] for at in groups]
    return joint[:, sums.scale_of == 0], effects


def _block(
    sums: MixedSums, sds: FloatArray, fixed_sd: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """A draw of b (draws, q), and of u (draws, levels) of the grouping apart.

    b is normal with u integrated out, and u is normal given b.
    """
    variance = sds[:, :1] ** 2
    apart = sds[:, [1 + sums.apart]] ** 2 if sums.apart is not None else np.zeros_like(variance)
    weights = 1 / (variance + sums.sizes * apart)
    weighted = sums.within / variance[:, :, None] + np.einsum("bk,kij->bij", weights, sums.between)
    prior = np.column_stack([np.full(len(sds), fixed_sd), sds[:, 1:]])[:, sums.scale_of]
    size = prior.shape[1]
    root = np.linalg.cholesky(np.eye(size) + prior[:, :, None] * weighted[:, :size, :size] * prior[:, None, :])
    x = np.linalg.solve(root, (prior * weighted[:, :size, size])[:, :, None])
    z = np.linalg.solve(np.swapaxes(root, 1, 2), x + rng.standard_normal(x.shape))
    joint: FloatArray = prior * z[:, :, 0]
    shrunk = apart / (variance + sums.rows * apart)
    mean = shrunk * (sums.totals[:, size] - joint @ sums.totals[:, :size].T)
    alone: FloatArray = mean + np.sqrt(variance * shrunk) * rng.standard_normal(mean.shape)
    return joint, alone
