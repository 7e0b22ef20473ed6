"""Offsets between poles: their covariance over the vocabulary, and what lies behind their mean.

Words and offsets are held in coordinates in which the covariance of the vocabulary's vectors is the identity times its
variances: a word x has the coordinates ``y = E'(x - m) sqrt(v)``, an offset o has ``z = E'o / sqrt(v)``, and the place
``(x - m)'o`` of the word on the axis is ``y'z``. Errors of z are independent over the components.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from scipy.special import ndtr, stdtr
from scipy.stats import f as variance_ratio

from bayesbias._core.related import factor_grid, sample_pairs, similarity_bins, variograms
from bayesbias._core.vectors import FloatArray, unit_rows

MEDIAN, SPREAD = 0.9608, 0.2  # prior of the factor on standard deviations, log-normal: that of the model ``related``
LEAST = 0.02  # least variance between the offsets of one stratum, in units of a vocabulary word's
# degrees of freedom of the prior that components share of their factors; more: the factors are more similar
CONCENTRATIONS = np.geomspace(2.0, 200.0, 20)
# standard deviations of what lies behind an offset, in units of a vocabulary word's
SIGNALS = np.geomspace(0.02, 3.0, 40)
TYPICAL = 0.5  # scale of the half-Cauchy prior of these
NEGLIGIBLE = 1e-3  # posterior mass of a node below which it is left out
ROUNDING = 1e-8  # components with less than this share of the largest variance are rounding
SHARED = 1e-9  # difference of offsets below which they are one
SAME = 1 - 1e-6  # similarity from which on two words are one


@dataclass(frozen=True)
class Field:
    """What a sample of the vocabulary tells of vectors."""

    centre: FloatArray  # mean unit vector, (d,)
    basis: FloatArray  # components of the covariance, (d, Q), columns
    variances: FloatArray  # theirs, (Q,), the largest first
    correlations: FloatArray  # correlation of two words' coordinates by the similarity of the words, (Q, BINS)

    @cached_property
    def _scaled(self) -> FloatArray:
        return self.basis * np.sqrt(self.variances)

    def coordinates(self, vectors: FloatArray) -> FloatArray:
        """Coordinates (n, Q) of centred vectors (n, d), in the precision of these."""
        return vectors @ self._scaled.astype(vectors.dtype)

    def offsets(self, differences: FloatArray) -> FloatArray:
        """Coordinates (K, Q) of offsets (K, d)."""
        return differences @ (self.basis / np.sqrt(self.variances))

    def spread(self, squares: FloatArray) -> float:
        """Standard deviation over the vocabulary of the places that an offset gives, from its squares (Q,)."""
        return float(np.sqrt(self.variances**2 @ squares))

    def lengths(self, offsets: FloatArray) -> FloatArray:
        """Lengths (...) in the space of the vectors of offsets (..., Q) in coordinates."""
        return np.sqrt((offsets**2 * self.variances).sum(axis=-1))


def field_of(sample: FloatArray, seed: int = 0) -> Field:
    """The field of a vocabulary from unit vectors (N, d) of a sample of it."""
    centre = sample.mean(axis=0)
    apart = sample - centre
    variances, basis = np.linalg.eigh(apart.T @ apart / len(sample))
    leading = np.flatnonzero(variances > ROUNDING * variances[-1])[::-1]
    variances, basis = variances[leading], basis[:, leading]
    pairs = sample_pairs(unit_rows(apart), np.random.default_rng([seed, 1]))
    fields = (apart @ basis / np.sqrt(variances)).T
    return Field(centre, basis, variances, variograms(fields, pairs))


@dataclass(frozen=True)
class Strata:
    """How the mean offset is made of words at the poles."""

    vectors: FloatArray  # unit vectors (R, d) of the words, each once
    # one matrix (K, R) a stratum: the weights of words in its K offsets. The mean offset is the sum over strata of the
    # means over their offsets. Pairs are one stratum of differences; two lists are two of single words.
    members: tuple[FloatArray, ...]

    @cached_property
    def weights(self) -> FloatArray:
        """Weights (R,) of the words in the mean offset."""
        return np.sum([member.mean(axis=0) for member in self.members], axis=0)


@dataclass(frozen=True)
class MeanOffset:
    """The mean offset of an axis and its errors."""

    offsets: tuple[FloatArray, ...]  # coordinates (K, Q) of the offsets of each stratum
    mean: FloatArray  # coordinates (Q,) of their mean
    single: FloatArray  # variance (Q,) of one offset of each stratum together
    # variance (Q,) of the mean offset over oppositions of words as similar as these: with what its pairs have in
    # common. An axis without a meaning lies as far from 0.
    opposition: FloatArray
    # variance (Q,) of the mean offset over further pairs of this opposition: what they scatter around each other
    pairs: FloatArray
    factor: float  # posterior mean of the factor on standard deviations, which the scatter of the pairs informs
    factors: FloatArray  # that of each component, (Q,), on the standard deviations of the scatter
    freedom: int  # degrees of freedom of that scatter: offsets less strata

    def variances(self, population: str) -> FloatArray:
        """``opposition`` or ``pairs``, by name."""
        return self.opposition if population == "oppositions" else self.pairs


def mean_offset(field: Field, strata: Strata) -> MeanOffset:
    """The mean offset with its errors.

    The coordinates of words are fields over the vocabulary whose correlation depends on the similarity of two words, as
    the distances of the model of related words have it. The variance of the mean offset over oppositions is that of a
    weighted sum of such words (Matheron 1963, https://doi.org/10.2113/gsecongeo.58.8.1246). Offsets of one stratum
    scatter around each other by their own variance less their mean covariance. A factor on all variances has the
    posterior that the observed scatter gives it, and around it each component has a factor on the variance of the
    scatter (Smyth 2004, https://doi.org/10.2202/1544-6115.1027). What the offsets have in common, no scatter shows.
    """
    units = unit_rows(strata.vectors - field.centre)
    similarity = units @ units.T
    bins, same = similarity_bins(similarity), similarity > SAME
    offsets = tuple(field.offsets(member @ strata.vectors) for member in strata.members)
    opposition, single, expected, observed = (np.zeros(len(field.variances)) for _ in range(4))
    within = [np.zeros(len(field.variances)) for _ in offsets]
    for q, curve in enumerate(field.correlations):
        kernel = np.where(same, 1.0, curve[bins])
        opposition[q] = strata.weights @ kernel @ strata.weights
        for stratum, member in zip(within, strata.members, strict=True):
            variance, stratum[q] = _scatter(member, kernel)
            single[q] += variance
    counts = [len(own) for own in offsets]
    for stratum, own, count in zip(within, offsets, counts, strict=True):
        if count > 1:
            expected += (count - 1) * stratum
            observed += ((own - own.mean(axis=0)) ** 2).sum(axis=0)
    freedom = sum(counts) - len(counts)
    square = _squared_factor(expected * field.variances, observed * field.variances, freedom)
    squares = _squared_factors(expected, observed, square, freedom)
    pairs = sum((stratum / count for stratum, count in zip(within, counts, strict=True)), np.zeros(len(opposition)))
    mean = np.sum([own.mean(axis=0) for own in offsets], axis=0)
    # rounding and curves that no covariance has can take the variance below that of the scatter it holds
    common = square * np.maximum(opposition - pairs, 0)
    scatter = np.sum(within, axis=0)
    single, pairs = square * np.maximum(single - scatter, 0) + squares * scatter, squares * pairs
    return MeanOffset(offsets, mean, single, common + pairs, pairs, float(np.sqrt(square)), np.sqrt(squares), freedom)


def _scatter(member: FloatArray, kernel: FloatArray) -> tuple[float, float]:
    """Mean variance of the offsets of a stratum, and their variance around each other."""
    between, count = member @ kernel @ member.T, len(member)
    own = float(np.trace(between)) / count
    rest = (float(between.sum()) - count * own) / max(count * (count - 1), 1)
    return own, max(own - rest, LEAST)


def covariances(
    field: Field, first: Strata, second: Strata, factor: float, factors: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Covariances (Q,) of the mean offsets of two axes over oppositions, and over further pairs of either.

    ``factor`` and ``factors`` (Q,) are products of those of the two axes on standard deviations. Further pairs are
    drawn for each axis by itself, but a pair that both hold, in the same or the opposite direction, is in both.
    """
    units = unit_rows(np.vstack([first.vectors, second.vectors]) - field.centre)
    size = len(first.vectors)
    similarity = units @ units.T
    bins, same = similarity_bins(similarity), similarity > SAME
    opposition, pairs = (np.zeros(len(field.variances)) for _ in range(2))
    one, other = (np.vstack([member @ part.vectors for member in part.members]) for part in (first, second))
    # 1 for a pair in both axes, -1 where its direction is the opposite, times its shares in the two means
    shared = sum(sign * (np.abs(one[:, None] - sign * other) < SHARED).all(axis=2).astype(float) for sign in (1, -1))
    counts = [[len(member) for member in part.members] for part in (first, second)]
    shared = shared / np.outer(*[np.repeat(own, own) for own in counts])
    for q, curve in enumerate(field.correlations):
        kernel = np.where(same, 1.0, curve[bins])
        opposition[q] = first.weights @ kernel[:size, size:] @ second.weights
        if shared.any():
            inner = kernel[:size, :size], kernel[size:, size:]
            sds = [
                np.repeat([np.sqrt(_scatter(member, block)[1]) for member in part.members], own)
                for part, block, own in zip((first, second), inner, counts, strict=True)
            ]
            pairs[q] = sds[0] @ shared @ sds[1]
    return factor * (opposition - pairs) + factors * pairs, factors * pairs


def _squared_factor(expected: FloatArray, observed: FloatArray, freedom: int) -> float:
    """Posterior mean of the square of the factor, from sums of squares by component; that of the prior without any."""
    total = float(expected.sum())
    # Satterthwaite: components of unequal variance have fewer degrees of freedom in all
    effective = total**2 / float((expected**2).sum()) * freedom if freedom else 0.0
    ratio = float(observed.sum()) / total if freedom else 1.0
    grid = factor_grid(np.array([effective]), np.array([ratio]), MEDIAN, SPREAD)
    return float(grid.products[0, 0])


def _squared_factors(expected: FloatArray, observed: FloatArray, square: float, freedom: int) -> FloatArray:
    """Squares (Q,) of the factors by component, from sums of squares; the common one without any.

    They are scaled inverse chi-squared around the common one, with degrees of freedom that the components inform.
    """
    if freedom < 1:
        return np.full(len(expected), square)
    ratios = observed / expected
    log = np.sum(variance_ratio.logpdf(ratios[:, None] / square, freedom, CONCENTRATIONS), axis=0)
    mass = np.exp(log - log.max())
    shares = (mass / mass.sum()) @ (CONCENTRATIONS / (CONCENTRATIONS + freedom))  # of the common factor
    result: FloatArray = shares * square + (1 - shares) * ratios
    return result


@dataclass(frozen=True)
class Signal:
    """The posterior of what lies behind a mean offset, given further pairs as its errors.

    A priori the offset is normal around 0 with the covariance of the vocabulary times a variance; that variance is on a
    grid, so that what the axis as a whole tells of its size is in the error of every word.
    """

    # nodes and their posterior mass, (T,)
    sds: FloatArray
    mass: FloatArray
    gains: FloatArray  # what is left of the observed offset at each node, (T, Q)
    # the observed mean offset and the variance of its error, (Q,)
    offset: FloatArray
    noise: FloatArray
    freedom: int  # degrees of freedom of the error

    @property
    def mean(self) -> FloatArray:
        """Posterior mean (Q,)."""
        return (self.mass @ self.gains) * self.offset

    @property
    def variances(self) -> FloatArray:
        """Posterior variances (Q,); the spread of the nodes' means is counted as independent over the components."""
        gain = self.mass @ self.gains
        between = self.mass @ (self.gains - gain) ** 2
        return gain * self.noise + between * self.offset**2

    def places(self, words: FloatArray, rope: float) -> Places:
        """Posteriors of the places of words (n, Q): moments, and probabilities beyond the rope on either side."""
        means = words @ (self.gains * self.offset).T.astype(words.dtype)  # (n, T)
        sds = np.sqrt(words**2 @ (self.gains * self.noise).T.astype(words.dtype)) + np.finfo(float).tiny
        mean = means @ self.mass
        sd = np.sqrt(((means - mean[:, None]) ** 2 + sds**2) @ self.mass)
        tail = ndtr if self.freedom > MANY else partial(stdtr, self.freedom)
        above, below, positive = (
            np.asarray(tail(values / sds), dtype=float) @ self.mass for values in (means - rope, -means - rope, means)
        )
        return Places(mean, sd, above, below, positive)


MANY = 200  # degrees of freedom from which on Student's distribution is taken for normal


@dataclass(frozen=True)
class Places:
    """Posteriors of n places: moments, and the probabilities of lying beyond the rope above and below, and above 0."""

    mean: FloatArray
    sd: FloatArray
    above: FloatArray
    below: FloatArray
    positive: FloatArray


def signal(axis: MeanOffset) -> Signal:
    """The posterior of what lies behind the mean offset of an axis, as further pairs would show it."""
    noise = axis.pairs
    total = SIGNALS[:, None] ** 2 + noise
    log = -0.5 * (np.log(total) + axis.mean**2 / total).sum(axis=1) - np.log1p((SIGNALS / TYPICAL) ** 2)
    mass = np.exp(log - log.max())
    mass /= mass.sum()
    kept = mass > NEGLIGIBLE
    mass = mass[kept] / mass[kept].sum()
    return Signal(SIGNALS[kept], mass, SIGNALS[kept, None] ** 2 / total[kept], axis.mean, noise, max(axis.freedom, 1))
