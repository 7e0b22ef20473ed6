"""Variance components of a crossed array without gaps: one number for each combination of levels.

    y = mean + sum over the sets b of facets of an effect ~ N(0, sd_b^2) of the levels of b,

where the set of all facets is the residual. The sums of squares of the analysis of variance are independent given the
components, so that they hold all that the array says of them, whatever its size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from bayesbias._core.cosine import FloatArray

TINY = 1e-300
Component = tuple[int, ...]
"""Places of the facets whose combinations of levels share an effect."""


@dataclass(frozen=True)
class FacetSums:
    """An array, reduced.

    Attributes
    ----------
    components
        Sets of facets with an effect, the residual last.
    squares, freedom
        (C,): sum of squares and degrees of freedom of each stratum, in the order of the components.
    weights
        (C, C): the mean square expected of stratum a is the sum over b of variance[b] * weights[b, a].
    noise
        (C, C): whether b is noise to a: the residual to all, and the nested facet to those without it.
    """

    components: tuple[Component, ...]
    squares: FloatArray
    freedom: FloatArray
    weights: FloatArray
    noise: NDArray[np.bool_]

    def log_likelihood(self, variances: FloatArray) -> FloatArray:
        """Log density (B,) of the sums of squares at variances (B, C), up to a constant: the restricted likelihood."""
        expected = variances @ self.weights
        value: FloatArray = -0.5 * (np.log(expected) @ self.freedom + (1 / expected) @ self.squares)
        return value

    def at_hand(self, variances: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draws (B, C) of the variances of effects at hand, given the components (B, C).

        An effect at hand is what the levels at hand add in the mean over those of the other facets, without the noise.
        It is normal given the array's means, so that the sum of squares of a stratum is noncentral chi-squared.
        """
        expected = variances @ self.weights
        meant = variances @ (self.weights * ~self.noise)
        own = np.diag(self.weights)
        share = meant / expected
        spread = np.maximum(meant / own * (1 - share), TINY)
        found: FloatArray = rng.noncentral_chisquare(self.freedom, share**2 * self.squares / own / spread)
        found *= spread / self.freedom
        found[:, -1] = variances[:, -1]
        return found

    def estimates(self) -> FloatArray:
        """Variances (C,) whose expected mean squares are those observed; they may be negative."""
        found: FloatArray = np.linalg.solve(self.weights.T, self.squares / self.freedom)
        return found


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


def noise_to(one: Component, other: Component, nested: Component, residual: Component) -> bool:
    """Whether a component is noise to another: the residual is, and the nested facet to components without it."""
    if one == other:
        return False
    return one == residual or (bool(nested) and nested[0] in one and nested[0] not in other)


def _square(y: FloatArray, chosen: Component) -> float:
    """Sum of squares of an interaction: means over the other facets, centred along each of its own."""
    effect = y.mean(axis=tuple(axis for axis in range(y.ndim) if axis not in chosen), keepdims=True)
    for axis in chosen:
        effect = effect - effect.mean(axis=axis, keepdims=True)
    return float(y.size / effect.size * (effect**2).sum())
