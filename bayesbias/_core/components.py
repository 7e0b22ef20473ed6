"""Variance components: draws of mixed models, and sums of squares of arrays with one axis a facet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from bayesbias._core.vectors import FloatArray, IntArray

BLOCK = 2**22  # numbers in the matrices of a block of draws


@dataclass(frozen=True)
class MixedSums:
    """All that the posterior of a mixed model y = W b + u[level] + residual needs of the rows.

    The effects u of the grouping with most levels, the grouping apart, are integrated out; b holds the fixed effects
    and those of all other groupings.
    """

    within: FloatArray  # cross-products (q + 1, q + 1) of (W, y) about their means in the levels of the grouping apart
    between: FloatArray  # those of the means, added up over levels of one size, (sizes, q + 1, q + 1)
    # rows of a level, and the number of levels that have as many, (sizes,)
    sizes: IntArray
    levels: IntArray
    # sums of (W, y) in each level, (levels, q + 1), and its number of rows
    totals: FloatArray
    rows: IntArray
    scale_of: IntArray  # (q,): the scale of each column, 0 for fixed effects, 1 + number of its grouping for the others
    apart: int | None  # number of the grouping apart; None without groupings
    size: int  # rows in all


def mixed_sums(columns: FloatArray, y: FloatArray, groupings: Sequence[IntArray]) -> MixedSums:
    """Reduce columns of fixed effects (rows, terms), the outcome (rows,) and the numbers of the rows' levels."""
    sizes = [int(codes.max()) + 1 for codes in groupings]
    apart = int(np.argmax(sizes)) if sizes else None
    others = [i for i in range(len(sizes)) if i != apart]
    joint = np.column_stack([columns, *(np.eye(sizes[other])[groupings[other]] for other in others), y])
    scale_of = np.repeat([0, *(1 + other for other in others)], [columns.shape[1], *(sizes[other] for other in others)])
    level = groupings[apart] if apart is not None else np.empty(0, dtype=np.intp)
    rows, totals = np.bincount(level), np.zeros((sizes[apart] if apart is not None else 0, joint.shape[1]))
    if apart is not None:
        np.add.at(totals, level, joint)
        joint = joint - (totals / rows[:, None])[level]
    distinct, place, levels = np.unique(rows, return_inverse=True, return_counts=True)
    parts = [totals[place == i].T @ totals[place == i] / size for i, size in enumerate(distinct)]
    between = np.array(parts).reshape(-1, joint.shape[1], joint.shape[1])
    return MixedSums(joint.T @ joint, between, distinct, levels, totals, rows, scale_of, apart, len(y))


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
    effects = [alone if group == sums.apart else joint[:, sums.scale_of == 1 + group] for group in groups]
    return joint[:, sums.scale_of == 0], effects


def _block(
    sums: MixedSums, sds: FloatArray, fixed_sd: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """A draw of b (draws, q), and of u (draws, levels) of the grouping apart.

    b is normal with u integrated out, and u is normal given b.
    """
    variance = sds[:, :1] ** 2
    apart = sds[:, [1 + sums.apart]] ** 2 if sums.apart is not None else np.zeros_like(variance)
    # with u integrated out, deviations from the means of levels have the variance sigma^2, and the mean of a level of n
    # rows has sigma^2 / n + tau^2
    weights = 1 / (variance + sums.sizes * apart)
    weighted = sums.within / variance[:, :, None] + np.einsum("bk,kij->bij", weights, sums.between)
    prior = np.column_stack([np.full(len(sds), fixed_sd), sds[:, 1:]])[:, sums.scale_of]
    size = prior.shape[1]
    # in units of the prior sds the precision is I + R H R, which is regular for sds of 0 too
    root = np.linalg.cholesky(np.eye(size) + prior[:, :, None] * weighted[:, :size, :size] * prior[:, None, :])
    x = np.linalg.solve(root, (prior * weighted[:, :size, size])[:, :, None])
    z = np.linalg.solve(np.swapaxes(root, 1, 2), x + rng.standard_normal(x.shape))
    joint: FloatArray = prior * z[:, :, 0]
    shrunk = apart / (variance + sums.rows * apart)
    mean = shrunk * (sums.totals[:, size] - joint @ sums.totals[:, :size].T)
    alone: FloatArray = mean + np.sqrt(variance * shrunk) * rng.standard_normal(mean.shape)
    return joint, alone


TINY = 1e-300  # variance in place of 0, by which is divided
Component = tuple[int, ...]  # places of the facets whose combinations of levels share an effect


@dataclass(frozen=True)
class FacetSums:
    """An array with one axis a facet, reduced to the sums of squares of its balanced analysis of variance."""

    components: tuple[Component, ...]  # sets of facets with an effect, the residual last
    # (C,): sum of squares and degrees of freedom of each stratum, in the order of the components
    squares: FloatArray
    freedom: FloatArray
    # (C, C): the mean square expected of stratum a is the sum over b of variance[b] * weights[b, a]
    weights: FloatArray
    # (C, C): whether b is noise to a: the residual to all, and the nested facet to those without it
    noise: NDArray[np.bool_]

    def log_likelihood(self, variances: FloatArray) -> FloatArray:
        """Log density (B,) of the sums of squares at variances (B, C), up to a constant: the restricted likelihood."""
        expected = variances @ self.weights
        return -0.5 * (np.log(expected) @ self.freedom + (1 / expected) @ self.squares)

    def finite_population(self, variances: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draws (B, C) of the variances of effects at hand, given the components (B, C).

        An effect at hand is what the observed levels add in the mean over those of the other facets, without the noise.
        It is normal given the array's means, so that the sum of squares of a stratum is noncentral chi-squared.
        """
        expected = variances @ self.weights
        meant = variances @ (self.weights * ~self.noise)
        own = np.diag(self.weights)
        # a mean x = effect + noise leaves the effect at share * x with the variance (1 - share) meant / own, and the
        # squares of x add up to the sum of squares over own
        share = meant / expected
        spread = np.maximum(meant / own * (1 - share), TINY)
        drawn: FloatArray = rng.noncentral_chisquare(self.freedom, share**2 * self.squares / own / spread)
        drawn *= spread / self.freedom
        drawn[:, -1] = variances[:, -1]
        return drawn

    def estimates(self) -> FloatArray:
        """Variances (C,) whose expected mean squares are those observed; they may be negative."""
        return np.linalg.solve(self.weights.T, self.squares / self.freedom)


def facet_sums(y: FloatArray, components: Sequence[Component], nested: Component = ()) -> FacetSums:
    """Reduce an array with one axis a facet, each of at least two levels.

    Parameters
    ----------
    y
        Array without gaps.
    components
        Sets of facets with an effect, the last of all facets; a stratum that belongs to none is left out.
    nested
        A facet, and after it those within whose combinations of levels its own levels stand: its strata belong to the
        component that holds all of these.
    """
    sizes, facets = np.array(y.shape), range(y.ndim)
    weights = np.array(
        [
            [np.prod(np.delete(sizes, below)) if set(above) <= set(below) else 0.0 for above in components]
            for below in components
        ]
    )
    squares, freedom = np.zeros(len(components)), np.zeros(len(components))
    for stratum in (chosen for size in range(1, y.ndim + 1) for chosen in combinations(facets, size)):
        own = tuple(sorted({*stratum, *nested})) if nested and nested[0] in stratum else stratum
        if own in components:
            squares[components.index(own)] += _square(y, stratum)
            freedom[components.index(own)] += np.prod(sizes[list(stratum)] - 1.0)
    noise = np.array([[noise_to(below, above, nested, components[-1]) for above in components] for below in components])
    return FacetSums(tuple(components), squares, freedom, weights, noise)


def noise_to(component: Component, other: Component, nested: Component, residual: Component) -> bool:
    """Whether a component is noise to another: the residual is, and the nested facet to components without it."""
    if component == other:
        return False
    return component == residual or (bool(nested) and nested[0] in component and nested[0] not in other)


def _square(y: FloatArray, chosen: Component) -> float:
    """Sum of squares of an interaction: means over the other facets, centred along each of its own."""
    effect = y.mean(axis=tuple(axis for axis in range(y.ndim) if axis not in chosen), keepdims=True)
    for axis in chosen:
        effect = effect - effect.mean(axis=axis, keepdims=True)
    return float(y.size / effect.size * (effect**2).sum())
