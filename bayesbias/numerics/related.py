"""Distances to similar words: components and variograms, and the posterior of cell means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import gammaincc, gammainccinv

from bayesbias.numerics import constants
from bayesbias.numerics.arrays import FloatArray, IntArray, beyond_rounding

BINS = 200
MIDDLES = -1 + constants.STEP * (np.arange(BINS) + 0.5)  # similarities in the middle of the bins, from -1 to 1
NEGLIGIBLE = 1e-10  # components with less than this share of the largest variance are rounding
BLOCK = 512
COARSE = 2  # bins of similarity that are taken together to count the partners of a word
FEW_CELLS = 2000  # cells up to which their errors may be drawn from a root of their covariance matrix
FIELDS = 2**22  # numbers of draws of fields that are held at once
ROWS = 2**16  # numbers of draws of cells that are scaled at once
SPANNED = 1e-14  # combinations of lists with less than this share of the largest weight are rounding
ALIKE = 1e-9  # words whose scatter is a smaller share of that of unrelated words are one word
PRODUCTS = 2**20  # products of two words' values that are held at once
# words of a list beyond which its mean similarity to another is estimated from as many, drawn at random
MOST_WORDS = 1500
VARIANCES, UNLIKELY = 200, 1e-8  # values that stand for 1 / g, and the probability of those beyond
REACH, NODES = 6.0, 801  # prior standard deviations of log f that the grid covers on either side, and its nodes


@dataclass(frozen=True)
class PairSample:
    """Pairs of sampled words, at most some for each bin of similarity."""

    # places of the two words in the sample, (pairs,)
    first: NDArray[np.integer]
    second: NDArray[np.integer]
    bins: NDArray[np.integer]  # bin of similarity of each pair, (pairs,)
    counts: IntArray  # how many pairs of all fell into each bin, (BINS,)
    weights: NDArray[np.float32]  # what each pair counts for, (pairs,)

    def packed(self, sampled: int) -> Self:
        """The same in the fewest bytes, since every table carries a sample; of so many words."""
        place = np.dtype(np.uint16 if sampled <= np.iinfo(np.uint16).max else np.uint32)
        first, second, bins = self.first.astype(place), self.second.astype(place), self.bins.astype(np.uint8)
        return replace(self, first=first, second=second, bins=bins)


@dataclass(frozen=True)
class Components:
    """Components of the protected side."""

    variances: FloatArray  # (Q,): that of the mean distance to the protected words, then the largest first
    loadings: FloatArray  # (J, Q), columns of length 1; all but the first are orthogonal to each other
    # the variogram: (Q, BINS), correlation of two words' values by the similarity of the words
    correlations: FloatArray


def similarity_bins(similarity: NDArray[np.floating]) -> IntArray:
    """Bins of similarities in [-1, 1]."""
    bins: IntArray = np.clip((similarity + 1) / constants.STEP, 0, BINS - 1).astype(np.intp)
    return bins


def sample_pairs(units: NDArray[np.floating], rng: np.random.Generator, most: int = constants.PAIRS) -> PairSample:
    """Pairs of words, every bin of similarity with at most about ``most`` of its pairs, drawn at random.

    A pair has the weight that makes every word of a bin count the same, whatever the number of its partners there.
    Otherwise dense regions of a vocabulary, such as names and numbers, would dominate the large similarities. The words
    have centred unit vectors (N, d).
    """
    single = units.astype(np.float32, copy=False)
    size = len(single)
    blocks = [np.arange(begin, min(begin + BLOCK, size)) for begin in range(0, size, BLOCK)]
    bins_of: list[NDArray[np.uint8]] = []
    partners = np.empty((size, BINS // COARSE), dtype=np.float32)
    block = np.empty((BLOCK, size), dtype=np.float32)
    for rows in blocks:
        place = np.matmul(single[rows], single.T, out=block[: len(rows)])  # in place: memory is most of the work
        place += 1
        place /= constants.STEP
        every = np.clip(place, 0, BINS - 1, out=place).astype(np.uint8)
        for row, coarse in zip(rows, every // COARSE, strict=True):
            partners[row] = np.bincount(coarse, minlength=BINS // COARSE)
        bins_of.append(every[np.arange(size) > rows[:, None]])  # each pair once, by its first word
    counts = np.sum([np.bincount(own, minlength=BINS) for own in bins_of], axis=0)
    # the counts of all pairs come first, so that each bin is thinned to about as many; what is left of a bin then
    # stands for all of it (thinned)
    share = most / np.maximum(counts, most)
    kept = [np.flatnonzero(rng.random(len(own), dtype=np.float32) < share[own]) for own in bins_of]
    bins = np.concatenate([own[chosen] for own, chosen in zip(bins_of, kept, strict=True)]).astype(np.intp)
    begins = np.concatenate([[0], np.cumsum([len(own) for own in bins_of])[:-1]])
    places = np.concatenate([begin + chosen for begin, chosen in zip(begins, kept, strict=True)])
    # word i is the first of the size - 1 - i pairs from ends[i - 1] on, whose second words follow it in order
    ends = np.cumsum(size - 1 - np.arange(size))
    first = np.searchsorted(ends, places, side="right")
    second = places - ends[first] + size
    drawn = np.bincount(bins, minlength=BINS)
    thinned = np.divide(counts, drawn, out=np.zeros(BINS), where=drawn > 0)[bins]
    partners[:, (BINS - 1) // COARSE] -= 1  # a word with itself
    # a pair weighs 1 / partners of either word, averaged: each word of a bin then adds about as much in all
    near = np.maximum(partners @ _window(COARSE * constants.STEP, constants.WIDTH).astype(np.float32) / COARSE, 0.5)
    weights = thinned * (1 / near[first, bins // COARSE] + 1 / near[second, bins // COARSE]) / 2
    return PairSample(first, second, bins, counts, weights.astype(np.float32)).packed(size)


def components_of(
    scatter: FloatArray,
    pairs: PairSample,
    near: FloatArray,
    everywhere: FloatArray,
    vectors: FloatArray | None = None,
) -> Components:
    """Components and variograms of the distances of J protected words to N sampled words.

    The scatter (J, N) holds the distances. With vectors (J, d) distances are ``vectors @ scatter`` of a scatter (d, N),
    and have no more than d components. ``near`` and ``everywhere`` are weights (N,) of the sampled words with mean 1,
    under which these lie where the words of stereotype lists do, and where those of the vocabulary do.

    The first component is the mean distance to the protected words. Its variance and variogram are those of the whole
    vocabulary, since random lists may lie anywhere in it. What it leaves of the distances is described where the
    stereotypes lie: near to the protected words distances differ more.
    """
    size = scatter.shape[1]
    mean = scatter.mean(axis=0) if vectors is None else vectors.mean(axis=0) @ scatter
    mean = beyond_rounding(mean - mean @ everywhere / size, np.sqrt(size))
    own = mean - mean @ near / size
    local = scatter - (scatter @ near / size)[:, None]
    # regression on the mean distance under the weights of near words: what is left is uncorrelated with it there
    slope = (local * near) @ own / max(float((own * near) @ own), np.finfo(float).tiny)
    local -= np.outer(slope, own)
    variance = max(float((mean * everywhere) @ mean) / size, np.finfo(float).tiny)
    first = (mean / np.sqrt(variance))[None]
    if vectors is None:
        variances, loadings = _leading_of(local * np.sqrt(near / size), variance)
        fields = loadings.T @ local / np.sqrt(variances)[:, None]
    else:
        # V S V' with S = R R' has the eigenvalues of R' V'V R, (d, d), and the eigenvectors V R u
        root, inner = root_of((local * near) @ local.T / size), vectors.T @ vectors
        variances, turn = _leading(root.T @ inner @ root, variance)
        loadings = vectors @ (root @ (turn / np.sqrt(variances)))
        fields = (turn / variances).T @ (root.T @ inner) @ local
        slope = vectors @ slope
    length = float(np.linalg.norm(slope))
    along = slope / length if length > 0 else np.full(len(slope), len(slope) ** -0.5)  # of no variance
    return Components(
        np.r_[variance * length**2, variances],
        np.column_stack([along, loadings]),
        np.vstack([variograms(first, pairs, everywhere), variograms(fields, pairs, near)]),
    )


def principal_components(scatter: FloatArray, pairs: PairSample) -> Components:
    """Components and variograms of J sums of distances to N sampled words, (J, N), of which none is their mean.

    Sums of these sums, such as coefficients under another coding of covariates, have the same components.
    """
    scatter = scatter - scatter.mean(axis=1, keepdims=True)
    variances, loadings = _leading_of(scatter / np.sqrt(scatter.shape[1]), np.finfo(float).tiny)
    fields = loadings.T @ scatter / np.sqrt(variances)[:, None]
    return Components(variances, loadings, variograms(fields, pairs))


def _leading_of(root: FloatArray, scale: float) -> tuple[FloatArray, FloatArray]:
    """``_leading`` of R R' for a root R (J, N), from the smaller one of this and R'R, which has its eigenvalues."""
    if len(root) <= root.shape[1]:
        return _leading(root @ root.T, scale)
    values, vectors = _leading(root.T @ root, scale)
    return values, root @ (vectors / np.sqrt(values))


def _leading(covariance: FloatArray, scale: float) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues that are more than rounding beside a variance, the largest first, and their eigenvectors."""
    values, vectors = np.linalg.eigh(covariance)
    leading = np.flatnonzero(values > NEGLIGIBLE * max(values[-1], scale))[::-1]
    return values[leading], vectors[:, leading]


def variograms(fields: FloatArray, pairs: PairSample, weights: FloatArray | None = None) -> FloatArray:
    """Correlations (Q, BINS) of standardised fields (Q, N) by similarity, smoothed.

    Bins beyond the largest similarity that was met lead in a straight line to 1, a word with itself; bins below the
    smallest one have its value. The curve is then moved towards or away from 1 so that its mean over all pairs is
    -1 / (N - 1), as it must be for values whose mean is 0: the mean of many random words is known exactly. Weights
    (N,) of the words, with mean 1, are those under which fields are standardised; N is then their effective number.
    """
    size = fields.shape[1]
    every, counts, freedom = pairs.weights.astype(float), pairs.counts.astype(float), float(size)
    if weights is not None:
        product = weights[pairs.first] * weights[pairs.second]
        every, freedom = every * product, effective_size(weights)
        drawn = np.bincount(pairs.bins, minlength=BINS)
        counts *= np.divide(np.bincount(pairs.bins, product, BINS), drawn, out=np.zeros(BINS), where=drawn > 0)
    total, by_word = np.zeros((len(fields), BINS)), np.ascontiguousarray(fields.T)
    step = max(1, PRODUCTS // max(len(fields), 1))
    for begin in range(0, len(every), step):
        part = slice(begin, begin + step)
        products = by_word[pairs.first[part]] * by_word[pairs.second[part]]
        rows = np.arange(len(products))
        in_bins = sparse.csr_array((every[part], (pairs.bins[part], rows)), shape=(BINS, len(products)))
        total += (in_bins @ products).T
    smooth = _window(constants.STEP, constants.WIDTH)
    pooled, mass = smooth @ counts, smooth @ np.bincount(pairs.bins, every, BINS)
    met = np.flatnonzero((pooled >= min(constants.FEWEST, pooled.max())) & (mass > 0))
    # a kernel estimate of the mean product at a similarity (Nadaraya-Watson): smoothed sums over smoothed weights
    values = np.clip((total @ smooth.T)[:, met] / mass[met], -1, 1)
    ends = np.append(MIDDLES[met], 1.0)
    curves = np.array([np.interp(MIDDLES, ends, np.append(row, 1.0)) for row in values]).reshape(len(fields), BINS)
    # values with the sum 0 and the mean square 1 have products with the mean -1 / (N - 1) over all pairs; scaling what
    # the curve is below 1 keeps its value of 1 for a word with itself
    apart = np.maximum(1 - curves @ counts / counts.sum(), constants.LEAST_APART)
    moved: FloatArray = 1 - (1 - curves) * ((1 + 1 / (freedom - 1)) / apart)[:, None]
    return np.clip(moved, -1, 1)


def _window(step: float, width: float) -> FloatArray:
    """Weights of a Gaussian window of similarity between bins of that width, for [-1, 1]."""
    middles = -1 + step * (np.arange(round(2 / step)) + 0.5)
    window: FloatArray = np.exp(-0.5 * ((middles[:, None] - middles) / max(width, step / 10)) ** 2)
    return np.where(window > 1e-4, window, 0.0)


def pair_shares(
    member: NDArray[np.bool_] | FloatArray, units: NDArray[np.floating], seed: int = 0, places: IntArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Share of a word with itself among the pairs of each two lists, (lists, lists), and those of others by bin.

    Shares by bin are (lists, lists, BINS); the two add up to 1. Of lists longer than ``MOST_WORDS`` the latter are
    estimated from words drawn at random, so that the work grows with the words, not with their pairs. Which word is in
    which list, (lists, W), or weights of words in lists; no list is empty. Centred unit vectors are in the words'
    order, or ``places`` (W,) are their rows.
    """
    weighted = member.dtype != np.bool_
    sampled = np.arange(member.shape[1])
    if len(sampled) > MOST_WORDS:  # of each kind of word (in the same lists) as many as needed
        rng, kinds = np.random.default_rng(seed), np.unique(member, axis=1, return_inverse=True)[1].ravel()
        some = [rng.permutation(np.flatnonzero(kinds == kind))[:MOST_WORDS] for kind in np.unique(kinds)]
        sampled = np.sort(np.concatenate(some))
    own, vectors = member[:, sampled], units[sampled if places is None else places[sampled]].astype(np.float32)
    bins = similarity_bins(vectors @ vectors.T)
    bins[np.diag_indices(len(bins))] = BINS  # a word with itself counts apart
    rows = (BINS + 1) * np.arange(len(bins))[:, None]
    counts = np.empty((len(member), len(member), BINS))
    for i, listed in enumerate(own):
        places = (rows + bins[:, listed > 0]).ravel()
        weights = np.tile(listed[listed > 0], len(bins)) if weighted else None
        by_word = np.bincount(places, weights, minlength=(BINS + 1) * len(bins))
        counts[:, i] = own.astype(float) @ by_word.reshape(len(bins), BINS + 1)[:, :BINS]
    n = member.sum(axis=1)
    same = (member.astype(float) @ member.T.astype(float)) / np.outer(n, n)
    total = counts.sum(axis=2, keepdims=True)
    shares = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    return same, shares * (1 - same[:, :, None])


def list_correlations(correlations: FloatArray, same: FloatArray, shares: FloatArray) -> FloatArray:
    """Mean correlation (Q, lists, lists) of the words of two lists in each component, positive semi-definite."""
    return positive(smoothed_correlations(correlations, same, shares))


def smoothed_correlations(correlations: FloatArray, same: FloatArray, shares: FloatArray) -> FloatArray:
    """The same as the smoothed variograms have it, which need not be positive semi-definite.

    That of some lists does not depend on which others there are.
    """
    return np.moveaxis(shares @ correlations.T + same[:, :, None], -1, 0)


def positive(matrices: FloatArray) -> FloatArray:
    """Symmetric matrices (n, k, k) with negative eigenvalues set to 0."""
    stacked = (matrices + np.swapaxes(matrices, 1, 2)) / 2
    values, vectors = np.linalg.eigh(stacked)
    if (values >= 0).all():
        return stacked
    return (vectors * np.maximum(values, 0)[:, None, :]) @ np.swapaxes(vectors, 1, 2)


@dataclass(frozen=True)
class ListScatter:
    """Sums of distances whose scatter within lists tells the factors.

    They are the distances of single protected words, and of stereotypes also the difference between the mean distances
    of the words of its group and of the others.
    """

    sums: sparse.csr_array  # (n, rows)
    part: IntArray  # sums of one part scatter around their mean, (n,)
    kind: IntArray  # attribute class of each part, (parts,)
    classes: int

    def squares(self, values: FloatArray) -> FloatArray:
        """Sums of squares (B, A) of values (B, rows) around the means of the parts, for each attribute class."""
        of_sums = (self.sums @ values.T).T
        member = sparse.csr_array((np.ones(len(self.part)), (np.arange(len(self.part)), self.part)))  # (n, parts)
        of_sums = of_sums - ((of_sums @ member) / member.sum(axis=0))[:, self.part]
        by_class = self.kind[self.part][:, None] == np.arange(self.classes)
        value: FloatArray = of_sums**2 @ by_class
        return value


@dataclass(frozen=True)
class RelatedSums:
    """A table reduced to its cells."""

    y: FloatArray  # mean distance of each cell, (n,)
    # protected word, connection, attribute class and list of each cell, (n,)
    word: IntArray
    connection: IntArray
    kind: IntArray
    listed: IntArray
    parts: Components  # components of the J protected words
    correlations: FloatArray  # of the lists in each component, (Q, lists, lists), positive semi-definite
    sampled: IntArray  # protected words behind ``families``, (S,)
    families: FloatArray  # correlation of their bias, (S, S)
    freedom: FloatArray  # degrees of freedom of the scatter within the cells of each class, (A,); 0 where there is none
    scatter: FloatArray  # observed over expected scatter within the cells of each class, (A,)
    expected: FloatArray  # sum of squares within lists of each class that a factor of 1 gives on average, (A,)
    counted: ListScatter  # whose squares these are

    @cached_property
    def covariance(self) -> FloatArray:
        """G, (n, n), positive semi-definite: for some thousand cells at most."""
        total = np.zeros((len(self.word), len(self.word)))
        for correlations, column in zip(self.correlations, self.scaled[self.word].T, strict=True):
            total += np.outer(column, column) * correlations[np.ix_(self.listed, self.listed)]
        return total

    @property
    def scaled(self) -> FloatArray:
        """Loadings (J, Q) times the standard deviations of the components."""
        return self.parts.loadings * np.sqrt(self.parts.variances)


@dataclass(frozen=True)
class FactorGrid:
    """The posteriors of the factors on one grid of their logs."""

    factor: FloatArray  # nodes, (NODES,)
    mass: FloatArray  # posterior mass of each node for each attribute class, (A, NODES)

    @property
    def products(self) -> FloatArray:
        """Posterior mean of the product of each two factors, (A, A)."""
        mean = self.mass @ self.factor
        value = np.outer(mean, mean)
        np.fill_diagonal(value, self.mass @ self.factor**2)
        return value


def factor_grid(freedom: FloatArray, scatter: FloatArray, median: float, spread: float) -> FactorGrid:
    """The posterior of each class's factor, from the scatter within cells and its degrees of freedom, each (A,)."""
    # a log-normal prior, and freedom * scatter / factor^2 is chi-squared: in the log both have light tails
    z = np.linspace(-REACH, REACH, NODES)
    log_factor = np.log(median) + spread * z
    value = -freedom[:, None] * (log_factor + 0.5 * scatter[:, None] * np.exp(-2 * log_factor)) - 0.5 * z**2
    mass = np.exp(value - value.max(axis=1, keepdims=True))
    return FactorGrid(np.exp(log_factor), mass / mass.sum(axis=1, keepdims=True))


def factor_quantiles(grid: FactorGrid, u: FloatArray) -> FloatArray:
    """Quantiles of the factors at probabilities u (..., A), from densities of the log that are linear between nodes."""
    logs, quantiles = np.log(grid.factor), np.empty_like(u)
    for i, mass in enumerate(grid.mass):
        left, right = mass[:-1], mass[1:]
        ends = np.append(0.0, np.cumsum((left + right) / 2))
        wanted = u[..., i] * ends[-1]
        place = np.clip(np.searchsorted(ends, wanted, side="right") - 1, 0, len(left) - 1)
        rest, low, rise = wanted - ends[place], left[place], (right - left)[place]
        # low t + rise t^2 / 2 = rest, the root in [0, 1] in a form that does not cancel
        share = 2 * rest / (low + np.sqrt(np.maximum(low**2 + 2 * rise * rest, 0)) + 1e-300)
        quantiles[..., i] = np.exp(logs[place] + (logs[1] - logs[0]) * np.clip(share, 0, 1))
    return quantiles


def root_of(covariance: FloatArray) -> FloatArray:
    """A matrix whose product with its transpose is the covariance; rounding below 0 is taken for 0.

    Of several covariances (..., n, n) as many roots.
    """
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.maximum(values, 0))[..., None, :]


def weighted_roots(
    weights: sparse.csr_array | FloatArray,
    word: IntArray,
    listed: IntArray,
    kind: IntArray,
    scaled: FloatArray,
    correlations: FloatArray,
) -> tuple[tuple[int, ...], tuple[FloatArray, ...]]:
    """Roots (m, r) of the errors of m weighted sums of cells, one for each attribute class that has a weight.

    Weights are (m, cells); each cell has a protected word, a list and a class.
    The error of the mean distance of word j to list l is the sum over components q of ``scaled[j, q]`` times a field
    u_q[l]; the fields of different components are independent. Sums see only those combinations of the lists that their
    weights span, such as the difference of two lists: r is the number of these times that of the components. All roots
    multiply the same r standard normals. Returned with the classes.
    """
    entries = sparse.coo_array(weights)
    some = entries.data != 0
    row, cell, value = entries.row[some], entries.col[some], entries.data[some]
    classes = np.unique(kind[cell]) if len(cell) else np.zeros(1, dtype=np.intp)
    chosen = [kind[cell] == one for one in classes]
    pair = row * len(scaled) + word[cell]
    spans = [_spanned(pair[own], listed[cell[own]], value[own], correlations.shape[1]) for own in chosen]
    joint = np.column_stack(spans)
    # the joint root makes fields of different classes correlated, as lists that share or resemble words are
    errors = root_of(joint.T @ correlations @ joint)
    ends = np.cumsum([0, *(span.shape[1] for span in spans)])
    roots = []
    for own, span, begin in zip(chosen, spans, ends, strict=False):
        places = row[own], word[cell[own]]
        total = np.zeros((entries.shape[0], scaled.shape[1], joint.shape[1]))
        for i, combination in enumerate(span.T):
            of_words = value[own] * combination[listed[cell[own]]]
            by_word = sparse.csr_array((of_words, places), shape=(len(total), len(scaled)))
            total += (by_word @ scaled)[:, :, None] * errors[:, begin + i]
        roots.append(total.reshape(len(total), -1))
    return tuple(classes.tolist()), tuple(roots)


def _spanned(pair: IntArray, listed: IntArray, value: FloatArray, lists: int) -> FloatArray:
    """Orthonormal combinations (lists, s) of the lists that span the weights of each pair of a sum and a word."""
    place = np.unique(pair, return_inverse=True)[1]
    by_pair = sparse.csr_array((value, (place, listed)), shape=(place.max(initial=-1) + 1, lists))
    lengths = np.sqrt(by_pair.multiply(by_pair).sum(axis=1))
    scaled = sparse.diags_array(np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)) @ by_pair
    values, vectors = np.linalg.eigh((scaled.T @ scaled).toarray())
    return vectors[:, values > SPANNED * max(values[-1], 1.0)]


def draw_cell_errors(sums: RelatedSums, factors: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draws (B, n) of the errors of the cells' means given the factors (B, A) at each.

    They are drawn from the smaller of two roots of their covariance: that of the cells, or that of the fields of
    components and lists, which grows with the dimensions of the vectors and not with the words.
    """
    n, (components, lists, _) = len(sums.y), sums.correlations.shape
    if n <= min(FEW_CELLS, components * lists):
        errors = rng.standard_normal((len(factors), n)) @ root_of(sums.covariance).T
    else:
        errors = np.empty((len(factors), n))
        roots, scaled = root_of(sums.correlations), sums.scaled
        cells = [np.flatnonzero(sums.listed == place) for place in range(lists)]
        step = max(1, FIELDS // (components * lists))
        for begin in range(0, len(errors), step):
            block = errors[begin : begin + step]
            fields = rng.standard_normal((components, len(block), lists)) @ np.swapaxes(roots, 1, 2)
            for place, own in enumerate(cells):
                block[:, own] = fields[:, :, place].T @ scaled[sums.word[own]].T
    step = max(1, ROWS // n)
    for begin in range(0, len(errors), step):
        errors[begin : begin + step] *= factors[begin : begin + step, sums.kind]
    return errors


def scatter_of_errors(covariance: FloatArray, filled: np.ndarray) -> FloatArray:
    """Expected scatter (K, K) of errors of cells around their mean word, over words without an empty cell.

    ``covariance`` (n, n) is that of the errors of the filled cells, word by word.
    """
    whole = filled.all(axis=1)
    count, connections = int(whole.sum()), filled.shape[1]
    kept = whole[np.nonzero(filled)[0]]
    errors = covariance[np.ix_(kept, kept)].reshape(count, connections, count, connections)
    # E sum_j (e_j - mean)(e_j - mean)' is the trace over words of the centred covariance
    centring = np.eye(count) - 1 / max(count, 1)
    scatter: FloatArray = np.einsum("ij,ikjl->kl", centring, errors)
    return scatter


def scatter_from_fields(sums: RelatedSums, filled: np.ndarray) -> FloatArray:
    """The same as :func:`scatter_of_errors` for the covariance of a table's cells, without making that covariance."""
    whole = filled.all(axis=1)
    number = np.full(filled.shape, -1)
    number[sums.word, sums.connection] = sums.listed
    patterns, pattern = np.unique(number[whole], axis=0, return_inverse=True)
    loadings = sums.scaled[whole]
    places = (pattern.ravel(), np.arange(len(pattern)))
    member = sparse.csr_array((np.ones(len(pattern)), places), shape=(len(patterns), len(pattern)))
    squares, totals = member @ loadings**2, member @ loadings  # (patterns, Q)
    # the trace of the centred covariance: the sum of its diagonal less that of all entries over the number of words
    scatter = np.zeros((filled.shape[1], filled.shape[1]))
    for k, lists in enumerate(patterns.T):
        for other_k, other in enumerate(patterns.T):
            own = np.einsum("pq,qp->", squares, sums.correlations[:, lists, other])
            between = np.einsum(
                "pq,qpr,rq->", totals, sums.correlations[:, lists[:, None], other], totals, optimize=True
            )
            scatter[k, other_k] = own - between / max(len(pattern), 1)
    return scatter


def freedom_of(families: FloatArray, words: int | None = None) -> tuple[float, float]:
    """Satterthwaite's degrees of freedom of the scatter of correlated words around their mean, and its expectation.

    Both are 0 for a single word. The correlations (S, S) may be those of S words drawn at random from so many words:
    the sums over all words are then estimated from the means over different words among these.
    """
    size, count = len(families), len(families) if words is None else words
    if size < 2:
        return 0.0, 0.0
    apart = families - np.diag(np.diag(families))
    squared = float((apart**2).sum())
    single, square = apart.sum() / (size * (size - 1)), squared / (size * (size - 1))
    rows = ((apart.sum(axis=1) ** 2).sum() - squared) / (size * (size - 1) * max(size - 2, 1))
    rest = count - 1
    trace = float(rest * (1 - single))
    # tr (CF)^2 = tr F^2 - 2 / J 1'F^2 1 + (1'F 1 / J)^2 with the centring C
    squares = count * (1 + rest * square) + (1 + rest * single) ** 2
    squares -= 2 * (1 + 2 * rest * single + rest * square + rest * (count - 2) * rows)
    return (min(trace**2 / float(squares), float(rest)), trace) if trace > ALIKE * count else (0.0, 0.0)


@dataclass(frozen=True)
class Population:
    """Variation of the means of K connections between protected words like these, their errors included.

    Means and errors together have the covariance ``scale / g`` with g chi-squared, no smaller than ``LEAST_CHI2``: the
    variance of every weighted sum has the posterior that an inverse Wishart prior gives it, whichever other connections
    there are. The share of the errors is taken off the variance of the first connection, and off that of the difference
    of each other one from it, no further than to 0; correlations stay.
    """

    scale: FloatArray  # (K, K)
    freedom: float
    errors: FloatArray  # expected share of the errors for factors of 1, (K, K)
    families: FloatArray  # mean correlation of the words of each two connections, (K, K)

    def nodes(self) -> tuple[FloatArray, FloatArray]:
        """Values of 1 / g that stand for its distribution, and their mass, each (``VARIANCES``,)."""
        low, high = 2 * gammainccinv(self.freedom / 2, [1 - UNLIKELY, UNLIKELY])
        logs = np.linspace(np.log(max(low, constants.LEAST_CHI2)), np.log(high), VARIANCES)
        value = self.freedom / 2 * logs - np.exp(logs) / 2
        mass = np.exp(value - value.max())
        mass[[0, -1]] /= 2  # the ends of a trapezoidal rule
        return np.exp(-logs), mass / mass.sum()

    def draw(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Draws (size,) of 1 / g."""
        most = gammaincc(self.freedom / 2, constants.LEAST_CHI2 / 2)
        value: FloatArray = 0.5 / gammainccinv(self.freedom / 2, rng.random(size) * most)
        return value

    def covariance(self, inverse: FloatArray, factors: FloatArray) -> FloatArray:
        """Covariance (N, K, K) of a further word's means, given each 1 / g and factors (N, K)."""
        basis = np.eye(len(self.scale))
        basis[1:, 0] = -1
        back = np.linalg.inv(basis)
        total = basis @ self.scale @ basis.T
        errors = np.einsum("ik,nk,kl,nl,il->ni", basis, factors, self.errors, factors, basis, optimize=True)
        left = np.sqrt(np.maximum(1 - errors / (inverse[:, None] * np.diag(total)), 0))
        own = back @ (inverse[:, None, None] * left[:, :, None] * total * left[:, None, :]) @ back.T
        value: FloatArray = (own + np.swapaxes(own, 1, 2)) / 2
        return value

    def of_sums(self, weights: FloatArray, inverse: FloatArray, factors: FloatArray) -> FloatArray:
        """Covariance (N, m, m) of the deviations of weighted sums (m, K) of these means.

        The errors' share is taken off the variance of each sum by itself, as :meth:`covariance` has it for differences
        from the first connection.
        """
        total = np.outer(inverse, np.einsum("mk,kl,ml->m", weights, self.scale, weights))
        own = weights[None] * factors[:, None]
        errors = np.einsum("nmk,kl,nml->nm", own, self.errors, own, optimize=True)
        left = np.sqrt(np.maximum(1 - np.divide(errors, total, out=np.ones_like(total), where=total > 0), 0))
        value: FloatArray = left[:, :, None] * left[:, None, :] * (weights @ (self.scale * self.families) @ weights.T)
        return value * inverse[:, None, None]


def population_of(
    observed: FloatArray,
    errors: FloatArray,
    families: FloatArray,
    prior: float,
    sampled: IntArray | None = None,
) -> Population:
    """The law of further protected words like these from observed means (J, K) of the words of a table.

    ``errors`` is the expected scatter (K, K) of their errors, by :func:`scatter_of_errors`. Families are (J, J), or
    (S, S) of words drawn at random, whose places are ``sampled``. Means of words with an empty cell do not count. The
    prior has the scale ``prior``, and few degrees of freedom. Observed scatter brings Satterthwaite's, since words are
    correlated.
    """
    filled = ~np.isnan(observed)
    whole, connections = filled.all(axis=1), observed.shape[1]
    sampled = np.arange(len(observed)) if sampled is None else sampled
    kept = whole[sampled]
    freedom, trace = freedom_of(families[np.ix_(kept, kept)], int(whole.sum()))
    scale, share = prior**2 * np.eye(connections), np.zeros((connections, connections))
    if freedom > 0:
        apart = observed[whole] - observed[whole].mean(axis=0)
        scale, share = scale + freedom / trace * apart.T @ apart, errors / trace
    # mean correlation of the words of each two connections
    some, every = filled[sampled].astype(float), filled.astype(float)
    pairs = np.outer(some.sum(axis=0), some.sum(axis=0)) - some.T @ some
    total = some.T @ (families - np.diag(np.diag(families))) @ some
    between = np.divide(total, pairs, out=np.zeros_like(total), where=pairs > 0)
    same = every.T @ every / np.outer(every.sum(axis=0), every.sum(axis=0))
    return Population(scale, constants.PRIOR_FREEDOM + freedom, share, between + (1 - between) * same)


POINTS = 200  # at which densities are computed
EMPTY = 1e-12


def density_ratio(at: FloatArray, vocabulary: FloatArray, lists: Sequence[FloatArray]) -> FloatArray:
    """Density of the words of lists over that of the vocabulary at each nearness (n,), at most 20.

    Both densities are Gaussian kernel estimates; each list weighs the same.
    """
    width = constants.BANDWIDTH * float(vocabulary.std())
    if not width > 0:
        return np.ones_like(at)
    every = np.concatenate(lists)
    weights = np.concatenate([np.full(len(words), 1 / (len(words) * len(lists))) for words in lists])
    points = np.linspace(min(at.min(), every.min()), max(at.max(), every.max()), POINTS)
    own, anywhere = (np.exp(-0.5 * ((points[:, None] - each) / width) ** 2) for each in (every, vocabulary))
    ratio = (own @ weights) / np.maximum(anywhere.mean(axis=1), EMPTY)
    result: FloatArray = np.minimum(np.interp(at, points, ratio), constants.MOST_WEIGHT)
    return result


def near_weights(sample: FloatArray, lists: Sequence[FloatArray]) -> FloatArray:
    """Weights (N,) of sampled words, with mean 1, under which they are as near as the words of lists."""
    weights = np.maximum(density_ratio(sample, sample, lists), constants.LEAST_WEIGHT)
    return weights / weights.mean()


def flattened(weights: FloatArray) -> FloatArray:
    """The weights (N,), with mean 1, made more equal until their effective sample size is 100, or all there are."""
    while effective_size(weights) < min(constants.LEAST_WORDS, len(weights)):
        weights = weights**constants.FLATTER
        if np.ptp(weights) < EMPTY:
            break
    return weights / weights.mean()


def effective_size(weights: FloatArray) -> float:
    """Effective sample size: of equal weights, the number of words (Kish 1965, Survey Sampling)."""
    return float(weights.sum() ** 2 / (weights**2).sum())
