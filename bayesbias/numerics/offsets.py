"""Offsets between poles: their covariance over the vocabulary, what lies behind their mean, and outside values.

Words and offsets are held in coordinates in which the covariance of the vocabulary's vectors is the identity times its
variances: a word x has the coordinates ``y = E'(x - m) sqrt(v)``, an offset o has ``z = E'o / sqrt(v)``, and the place
``(x - m)'o`` of the word on the axis is ``y'z``. Errors of z are independent over the components.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import f as variance_ratio

from bayesbias.numerics.arrays import SAME, FloatArray, unit_rows
from bayesbias.numerics.constants import FACTOR_MEDIAN, FACTOR_SPREAD
from bayesbias.numerics.related import factor_grid, sample_pairs, similarity_bins, variograms
from bayesbias.numerics.second_stage import log_half_cauchy

LEAST = 0.02  # least variance of the offsets of one stratum, in units of a vocabulary word's
# of the prior that components share of the squares of their factors, degrees of freedom less 2: the squares are
# inverse chi-squared with the mean 1, and the more of these, the more similar
CONCENTRATIONS = np.geomspace(0.5, 200.0, 24)
# standard deviations of what lies behind an offset, in units of a vocabulary word's
SIGNALS = np.geomspace(0.02, 3.0, 40)
TYPICAL = 0.5  # scale of the half-Cauchy prior of these
NEGLIGIBLE = 1e-3  # posterior mass of a node below which it is left out
ROUNDING = 1e-8  # components with less than this share of the largest variance are rounding

# for outside values: nodes of the variance of single words, and of that which related words share, to find the
# posterior, and in it; their ends, in units of the variance of the values
COARSE, FINE = 12, 20
SMALLEST, LARGEST = 1e-3, 4.0
# slopes, in standard deviations of the values for one of the places, to find the posterior; denser near 0
SLOPES = np.sinh(np.linspace(-3.0, 3.0, 81)) / np.sinh(3.0) * 2.0
NARROW = 61  # slopes in it
EMPTY = 1e-5  # posterior mass of a node below which it does not count for the posterior's ends
# the share of what related words have in common has the prior Beta(.4, 1): small for many values, large for some
RARE = 0.4
# shares of the identity in the covariance of what related words share and of the errors of places
MIXTURES = np.array([0.0, 0.02, 0.1, 0.3, 0.6, 0.9, 1.0])


@dataclass(frozen=True)
class Field:
    """Mean, covariance and correlation by similarity of the vectors of a vocabulary, from a sample of it."""

    centre: FloatArray  # mean unit vector, (d,)
    basis: FloatArray  # components of the covariance, (d, Q), columns
    variances: FloatArray  # theirs, (Q,), the largest first
    correlations: FloatArray  # correlation of two words' coordinates by the similarity of the words, (Q, BINS)

    def coordinates(self, vectors: FloatArray) -> FloatArray:
        """Coordinates (n, Q) of centred vectors (n, d), in the precision of these."""
        return vectors @ (self.basis * np.sqrt(self.variances)).astype(vectors.dtype)

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
    """Words at the poles, and their weights in the offsets whose means, one a stratum, add up to the mean offset."""

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
    # variance (Q,) of the mean offset over further pairs of this opposition: what they scatter around each other; NaN
    # where no stratum has two offsets, so that nothing is known of it
    pairs: FloatArray
    factor: float  # posterior mean of the factor on standard deviations, which the scatter of the pairs informs
    # Satterthwaite's degrees of freedom of the variance that the scatter gives to a place, which is a sum over
    # components; 0 where nothing is known of the scatter
    freedom: float

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
    expected = expected_variances(field, strata)
    return observed_offset(field, expected, tuple(field.offsets(member @ strata.vectors) for member in strata.members))


def expected_variances(field: Field, strata: Strata) -> tuple[FloatArray, FloatArray, tuple[FloatArray, ...]]:
    """Variances of the offsets that follow from the similarity of the words at the poles, before any scatter is seen.

    That (Q,) of the mean offset, with what the offsets have in common; that of one offset of each stratum together; and
    for each stratum that of its offsets around each other.
    """
    units = unit_rows(strata.vectors - field.centre)
    similarity = units @ units.T
    bins, same = similarity_bins(similarity), similarity > 1 - SAME
    opposition = np.empty(len(field.variances))
    own, apart = np.empty((2, len(strata.members), len(field.variances)))
    for q, curve in enumerate(field.correlations):
        # covariance of the words in this component, by their similarity; offsets are weighted sums of words
        kernel = np.where(same, 1.0, curve[bins])
        opposition[q] = strata.weights @ kernel @ strata.weights
        for i, member in enumerate(strata.members):
            # the mean variance of offsets, and what is left of it without their mean covariance
            between, count = member @ kernel @ member.T, len(member)
            alone = float(np.trace(between)) / count
            rest = (float(between.sum()) - count * alone) / max(count * (count - 1), 1)
            own[i, q], apart[i, q] = max(alone, LEAST), max(alone - rest, LEAST)
    # what two differences of words have in common is itself a difference of large correlations, and by component noise:
    # they vary around each other as much as is apart in all, and by component as one of them does
    scatters = [
        alone * (rest.sum() / alone.sum()) if np.allclose(member.sum(axis=1), 0) else rest
        for member, alone, rest in zip(strata.members, own, apart, strict=True)
    ]
    return opposition, own.sum(axis=0), tuple(scatters)


def observed_offset(
    field: Field,
    expected: tuple[FloatArray, FloatArray, tuple[FloatArray, ...]],
    offsets: tuple[FloatArray, ...],
) -> MeanOffset:
    """The mean offset of observed ones, coordinates (K, Q) for each stratum, whose variances are expected."""
    counts = [len(own) for own in offsets]
    opposition, single, scatters = expected
    looked, seen = (np.zeros(len(field.variances)) for _ in range(2))
    for scatter, own, count in zip(scatters, offsets, counts, strict=True):
        if count > 1:
            looked += (count - 1) * scatter
            seen += ((own - own.mean(axis=0)) ** 2).sum(axis=0)
    freedom = sum(counts) - len(counts)
    # the posterior of the factor, and the variance of its square relative to the square of that; Satterthwaite:
    # components of unequal variance have fewer degrees of freedom in all
    places = looked * field.variances
    total = float(places.sum())
    effective = total**2 / float((places**2).sum()) * freedom if freedom else 0.0
    ratio = float((seen * field.variances).sum()) / total if freedom else 1.0
    grid = factor_grid(np.array([effective]), np.array([ratio]), FACTOR_MEDIAN, FACTOR_SPREAD)
    square, fourth = (float(grid.mass[0] @ grid.factor**power) for power in (2, 4))
    uncertain = fourth / square**2 - 1
    squares, share = _squared_factors(looked, seen, square, freedom)
    pairs = np.sum([scatter / count for scatter, count in zip(scatters, counts, strict=True)], axis=0)
    mean = np.sum([own.mean(axis=0) for own in offsets], axis=0)
    # rounding and curves that no covariance has can take the variance below that of the scatter it holds
    common, scatter = square * np.maximum(opposition - pairs, 0), np.sum(scatters, axis=0)
    single = square * np.maximum(single - scatter, 0) + squares * scatter
    pairs = squares * pairs
    places = field.variances**2 * pairs  # what each component adds to the variance of places over the vocabulary
    uncertain += 2 * (1 - share) / max(freedom, 1) * (places**2).sum() / places.sum() ** 2
    return MeanOffset(
        offsets=offsets,
        mean=mean,
        single=single,
        opposition=common + pairs,
        pairs=pairs if freedom else np.full(len(pairs), np.nan),
        factor=float(np.sqrt(square)),
        freedom=2 / uncertain if freedom else 0.0,
    )


def _squared_factors(
    expected: FloatArray, observed: FloatArray, square: float, freedom: int
) -> tuple[FloatArray, float]:
    """Squares (Q,) of the factors by component, from sums of squares, and the share of the common one in them."""
    if freedom < 1:
        return np.full(len(expected), square), 1.0
    ratios = observed / expected
    share = moderation(ratios / square, freedom)
    result: FloatArray = share * square + (1 - share) * ratios
    return result, share


def moderation(ratios: FloatArray, freedom: int) -> float:
    """Weight of the common variance in each of several, from their estimates (n,) relative to it.

    Variances are inverse chi-squared around the common one, which is their mean, with degrees of freedom that all
    estimates inform together; the posterior mean of one is between the common one and its estimate (Smyth 2004,
    https://doi.org/10.2202/1544-6115.1027). The estimates have the degrees of freedom ``freedom``, and the posterior
    has ``freedom / (1 - weight)``.
    """
    scale = CONCENTRATIONS / (CONCENTRATIONS + 2)  # of an inverse chi-squared variable with the mean 1
    log = variance_ratio.logpdf(ratios[:, None] / scale, freedom, CONCENTRATIONS + 2) - np.log(scale)
    total = log.sum(axis=0)
    mass = np.exp(total - total.max())
    return float((mass / mass.sum()) @ (CONCENTRATIONS / (CONCENTRATIONS + freedom)))


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
    freedom: float  # degrees of freedom of the error

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

    def place_sds(self, words: FloatArray) -> FloatArray:
        """Posterior standard deviations (n,) of the places of words (n, Q), in the precision of these.

        The distributions of places are nearly Student's with these and the degrees of freedom of the error.
        """
        means = words @ ((self.gains - self.mass @ self.gains) * self.offset).T.astype(words.dtype)  # (n, T)
        # the nodes' variances need no column each: their mean is that of the gains
        within = words**2 @ (self.mass @ self.gains * self.noise).astype(words.dtype)
        return np.sqrt(means**2 @ self.mass.astype(words.dtype) + within) + np.finfo(float).tiny


def signal(axis: MeanOffset) -> Signal:
    """The posterior of what lies behind the mean offset of an axis, as further pairs would show it."""
    noise = axis.pairs
    total = SIGNALS[:, None] ** 2 + noise
    log = -0.5 * (np.log(total) + axis.mean**2 / total).sum(axis=1) + log_half_cauchy(SIGNALS, TYPICAL)
    mass = np.exp(log - log.max())
    mass /= mass.sum()
    kept = mass > NEGLIGIBLE
    mass = mass[kept] / mass[kept].sum()
    return Signal(SIGNALS[kept], mass, SIGNALS[kept, None] ** 2 / total[kept], axis.mean, noise, axis.freedom)


def outside_relation(
    words: FloatArray,
    behind: Signal,
    values: FloatArray,
    variances: FloatArray,
    design: FloatArray,
    draws: int,
    rng: np.random.Generator,
) -> dict[str, FloatArray]:
    """Relation of outside values (n,), whose errors have known variances (n,), to places; the design is (n, p).

    Draws of ``correlation`` (of latent values with latent places over words like these), of ``place_sd`` and
    ``value_sd`` (standard deviations of both) and of ``shared`` (share of the variance around the line that related
    words have in common).

    Places are linear in the vectors of words, so that the places of more words than dimensions leave directions
    without any place: a residual cannot be in the places, and it is in the values. With coordinates Y (n, Q), the mean
    offset z and what lies behind it z* ~ N(m, C),

        values = design a + b Y z* + Y u + e,    u ~ N(0, h I),    e ~ N(0, g I + diag(variances)),

    so that ``values ~ N(design a + b Y m, Y (h I + b^2 C) Y' + g I + diag(variances))``. The term Y u is what values
    owe to the meanings of words at large: any other axis may explain them as well as this one. It is the relationship
    matrix of mixed models in genetics. The matrix h I + b^2 C is a multiple of a mixture of I and C; a decomposition
    for each of a few mixtures serves all nodes, and the log-likelihood is linear between these. The correlation has a
    uniform prior, the share of h in the residual variance a beta one, the standard deviation of latent values a
    half-Cauchy one, and a a flat one. Nodes are first set wide apart, then again where the posterior is.

    References
    ----------
    Lippert, C. et al. (2011). FaST linear mixed models for genome-wide association studies. Nature Methods 8.
    https://doi.org/10.1038/nmeth.1681
    """
    hat = design @ np.linalg.pinv(design)
    coordinates = words - hat @ words
    scale = float(np.sqrt((((values - hat @ values) ** 2).sum()) / (len(values) - design.shape[1])))
    share = float((coordinates**2).sum(axis=1).mean())  # mean variance of Y u for h = 1
    places = coordinates @ behind.mean
    errors = float((coordinates**2 @ behind.variances).mean()) / share  # mean of C over words
    place_variance = float((places**2).mean()) + errors * share
    sides = np.column_stack([values / scale, words @ behind.mean / np.sqrt(place_variance), design])
    noise = variances / scale**2
    relative = errors * share / place_variance  # of the variance of places, what is error
    # h I + b^2 C is a multiple of a mixture of I and C / errors
    roots = [words * np.sqrt((mix + (1 - mix) * behind.variances / errors) / share) for mix in MIXTURES]

    def posterior(iid: FloatArray, total: FloatArray, slopes: FloatArray) -> FloatArray:
        """Mass of nodes: variances (G,) of single words, and (K,) of what is shared with errors of places, slopes."""
        logs = np.array([_log_likelihoods(root, sides, (iid, total, slopes), noise) for root in roots])
        mix = np.clip(1 - relative * slopes**2 / np.maximum(total[:, None], SMALLEST * SMALLEST), 0, 1)
        # linear between the mixtures
        mix = np.broadcast_to(mix, logs.shape[1:])
        above = np.clip(np.searchsorted(MIXTURES, mix), 1, len(MIXTURES) - 1)
        way = (mix - MIXTURES[above - 1]) / (MIXTURES[above] - MIXTURES[above - 1])
        low, high = (np.take_along_axis(logs, rows[None], axis=0)[0] for rows in (above - 1, above))
        log = low + way * (high - low) + _log_prior(iid, total, slopes, relative)
        mass: FloatArray = np.exp(log - log.max())
        return mass / mass.sum()

    even = np.geomspace(SMALLEST, LARGEST, COARSE)
    nodes, ends = (even, np.append(0.0, even), SLOPES), []
    mass = posterior(*nodes)
    for i, axis in enumerate(nodes):
        rows = np.flatnonzero(mass.sum(axis=tuple({0, 1, 2} - {i})) > EMPTY)
        ends.append((axis[max(rows[0] - 1, 0)], axis[min(rows[-1] + 1, len(axis) - 1)]))
    total = np.geomspace(ends[1][0] or SMALLEST, ends[1][1], FINE)
    iid, total = np.geomspace(*ends[0], FINE), total if ends[1][0] else np.append(0.0, total)
    slopes = np.linspace(*ends[2], NARROW)
    mass = posterior(iid, total, slopes)
    node = rng.choice(mass.size, draws, p=mass.ravel())
    first, second, third = np.unravel_index(node, mass.shape)
    # slopes are for the expected spread of places; that of the latent ones over these words is not known exactly
    latent = behind.mean + np.sqrt(behind.variances) * rng.standard_normal((draws, len(behind.mean)))
    place_sd = np.sqrt(((latent @ (coordinates.T @ coordinates)) * latent).sum(axis=1) / len(values))
    # by how much of the variance of places is error, what is shared lies below the total
    shared = np.maximum(total[second] - relative * slopes[third] ** 2, 0)
    residual = shared + iid[first]
    slope = slopes[third] + np.gradient(slopes)[third] * (rng.random(draws) - 0.5)
    slope = slope * place_sd / np.sqrt(place_variance)
    return {
        "correlation": slope / np.sqrt(slope**2 + residual),
        "place_sd": place_sd,
        "value_sd": scale * np.sqrt(slope**2 + residual),
        "shared": shared / residual,
    }


def _log_prior(iid: FloatArray, total: FloatArray, slopes: FloatArray, relative: float) -> FloatArray:
    """Logarithm of the prior mass of nodes (G, K, S); -inf where what is shared would be below 0."""
    residual = np.maximum(total[:, None] - relative * slopes**2, 0) + iid[:, None, None]
    variance = slopes**2 + residual
    edges = np.concatenate([total[:1], (total[1:] + total[:-1]) / 2, total[-1:]])
    ends = np.maximum(edges[:, None] - relative * slopes**2, 0)
    # x^.4 is the distribution function of Beta(.4, 1)
    shares = [np.minimum(part / residual, 1.0) ** RARE for part in (ends[:-1], ends[1:])]
    widths = np.multiply.outer(np.gradient(iid), np.gradient(slopes))[:, None]
    with np.errstate(divide="ignore"):
        cells = np.log(shares[1] - shares[0])
    # a uniform correlation and a half-Cauchy sd give slope and residual variance the density 1 / (v (1 + v)), with
    # v the variance of latent values: 1 / sqrt(v) from the correlation, 1 / (sqrt(v) (1 + v)) from the sd
    prior: FloatArray = cells + np.log(widths) - np.log(variance) - np.log1p(variance)
    return prior


def _log_likelihoods(
    root: FloatArray, sides: FloatArray, nodes: tuple[FloatArray, FloatArray, FloatArray], noise: FloatArray
) -> FloatArray:
    """Restricted log-likelihoods (G, K, S) of values with the covariance K root root' + G I + diag(noise).

    The sides are the columns of the values, of the places and of the design, (n, 2 + p).
    """
    iid, total, slopes = nodes
    log = np.empty((len(iid), len(total), len(slopes)))
    once = _rotated(root, sides) if np.ptp(noise) == 0 else None
    for i, g in enumerate(iid):
        diagonal = g + noise
        by = np.sqrt(diagonal)[:, None]
        if once is not None:
            values, turned, outside = once[0] / diagonal[0], once[1] / by[0], once[2] / diagonal[0]
        else:
            values, turned, outside = _rotated(root / by, sides / by)
        weights = 1 / (1 + total[:, None] * values)  # (K, r)
        products = outside + np.einsum("ra,rb,kr->kab", turned, turned, weights, optimize=True)
        determinants = np.log(diagonal).sum() - np.log(weights).sum(axis=1)
        free = products[:, 2:, 2:]
        left = products[:, :2, :2] - products[:, :2, 2:] @ np.linalg.solve(free, products[:, 2:, :2])
        squares = left[:, 0, 0, None] - 2 * slopes * left[:, 0, 1, None] + slopes**2 * left[:, 1, 1, None]
        log[i] = -0.5 * ((determinants + np.linalg.slogdet(free)[1])[:, None] + squares)
    return log


def _rotated(root: FloatArray, sides: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Eigenvalues (r,) of root root', the sides (r, m) in that basis, and the products (m, m) of what is outside it."""
    wide = root.shape[1] > root.shape[0]
    values, vectors = np.linalg.eigh(root @ root.T if wide else root.T @ root)
    kept = values > 1e-10 * values[-1]
    values, vectors = values[kept], vectors[:, kept]
    basis = vectors if wide else root @ vectors / np.sqrt(values)
    rotated = basis.T @ sides
    return values, rotated, sides.T @ sides - rotated.T @ rotated
