"""Posterior mean and covariance of the connection means without a draw of them, with and without single words.

Given the scales the connection means are normal. Averaging their conditional moments over the scales leaves the noise
of a few well-spread points, far below that of draws: it shows what a single word does. For related words what the
moments without any single word share is computed once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logsumexp

from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError
from bayesbias.models import exact, marginal
from bayesbias.models.marginal import (
    LEAST_SHARE,
    MAX_PARETO_K,
    CrossedTarget,
    crossed_target,
    explored,
    smoothed_weights,
)
from bayesbias.models.related import (
    CellLists,
    checked_lists,
    components_for,
    counted_connections,
    factors_of,
    fields_of,
    in_order_met,
    relatedness_for,
)
from bayesbias.models.spec import ModelSpec
from bayesbias.models.weights import word_weights
from bayesbias.numerics.arrays import FloatArray, IntArray, in_blocks
from bayesbias.numerics.marginal import IncompleteSums, incomplete_means, mean_part, within_part
from bayesbias.numerics.quadrature import Connection, InnerGrid
from bayesbias.numerics.related import Components, PairCounts
from bayesbias.words import OWN

POINTS = 1024  # points of the scales: the last stage of importance sampling, or draws of all chains
CHAINS = 4
BLOCK = 256  # points that are looked at at once

Moments = tuple[FloatArray, FloatArray]  # mean (K,) and covariance (K, K)


class _ScalePoints(NamedTuple):
    """Points that stand for the posterior of a crossed model's scales."""

    places: dict[str, slice]  # scale to its columns of the points
    theta: FloatArray  # (N, d), in the coordinates of CrossedTarget
    weights: FloatArray  # (N,), with sum 1
    log_density: FloatArray  # (N,): of the posterior that they stand for, at the points
    moments: Moments


def mean_moments(spec: ModelSpec, data: Distances, rng: np.random.Generator) -> Moments:
    """Posterior mean (K,) and covariance (K, K) of the connection means of a model that needs no chains.

    A crossed model is as :func:`fit_for_crossed` leaves it. ``rng`` makes the points of its scales; the exact engine's
    quadrature needs none.
    """
    if exact.obstacle(spec) is None:
        priors, size = exact.priors_of(spec), len(data.connections)
        mean, covariance = np.empty(size), np.zeros((size, size))
        for block, members, grid in exact.grids_of(spec, data, priors):
            both = zip(members, grid.inner, strict=True)
            moments = [_given_sigma(grid.log_sigma, inner, sums, priors.sd) for sums, inner in both]
            means, variances = (np.column_stack(columns) for columns in zip(*moments, strict=True))
            apart = variances[:, :, None] * np.eye(len(block))
            mean[block], covariance[np.ix_(block, block)] = _averaged(grid.mass, means, apart)
        return priors.mean + mean, covariance
    if (reason := marginal.obstacle(spec)) is not None:
        raise InputError(f"the model {spec.name!r} needs draws by NUTS: {reason}; fit 'crossed' or 'published' instead")
    return scale_points(spec, data, rng).moments


def scale_points(spec: ModelSpec, data: Distances, rng: np.random.Generator) -> _ScalePoints:
    """Points of a crossed model's scales by importance sampling; by NUTS where the weights cannot be trusted."""
    target = crossed_target(spec, data)
    sampled = explored(target.log_density, target.start, POINTS, CHAINS, POINTS // CHAINS, rng)
    if sampled.walked is None:
        kept = sampled.points.weights > 0
        return _weighted(target, sampled.points.points[kept], np.log(sampled.points.weights[kept]))
    return _weighted(target, sampled.walked.reshape(-1, target.size), np.zeros(POINTS))


def moved_points(points: _ScalePoints, spec: ModelSpec, data: Distances) -> _ScalePoints | None:
    """The same points weighted for other data; None where they do not reach, or the scales are others.

    Two posteriors on the same points differ by what the data say, not by the noise of the points.
    """
    target = crossed_target(spec, data)
    if target.places != points.places:
        return None
    log_density, means, covariances = _conditional_means(target, points.theta)
    # importance weights from the posterior of the old data to that of the new, times what the points weighed
    weights, k = smoothed_weights(log_density - points.log_density + np.log(points.weights))
    if k > MAX_PARETO_K or 1 / np.sum(weights**2) < LEAST_SHARE * len(weights):
        return None
    return _ScalePoints(points.places, points.theta, weights, log_density, _averaged(weights, means, covariances))


def _weighted(target: CrossedTarget, theta: FloatArray, log_weights: FloatArray) -> _ScalePoints:
    """Points with such weights, and the moments that they give."""
    log_density, means, covariances = _conditional_means(target, theta)
    weights = np.exp(log_weights - logsumexp(log_weights))
    return _ScalePoints(target.places, theta, weights, log_density, _averaged(weights, means, covariances))


def _averaged(weights: FloatArray, means: FloatArray, covariances: FloatArray) -> Moments:
    """Moments of a mixture of normals with weights (N,), means (N, K) and covariances (N, K, K)."""
    mean = weights @ means
    # law of total variance: the mean of the covariances, and the covariance of the means
    apart = means - mean
    return mean, np.tensordot(weights, covariances, 1) + (apart * weights[:, None]).T @ apart


def _conditional_means(target: CrossedTarget, theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log density (B,), and mean (B, K) and covariance (B, K, K) of the connection means, at points (B, d)."""
    prior, k = target.mean, target.sums.connections
    log_likelihood, means = np.empty(len(theta)), np.empty((len(theta), k))
    covariances = np.empty((len(theta), k, k))

    def evaluate(part: slice) -> None:
        scales = target.variances(theta[part])
        if isinstance(target.sums, IncompleteSums):
            log_likelihood[part], means[part], covariances[part] = incomplete_means(target.sums, scales, prior.sd)
            return
        # standardised means beta ~ N(R L'^-1 x, R (L L')^-1 R): with A the first K columns of L^-1 these are A'x, A'A
        given = mean_part(target.sums, scales, prior.sd)
        columns = np.linalg.solve(given.chol, np.eye(given.chol.shape[1], k))
        log_likelihood[part] = given.log_likelihood + within_part(target.sums, scales)
        means[part] = np.einsum("bnk,bn->bk", columns, given.x)
        covariances[part] = columns.transpose(0, 2, 1) @ columns

    in_blocks(evaluate, len(theta), BLOCK)
    return log_likelihood + target.log_prior(theta), prior.mean + prior.sd * means, prior.sd**2 * covariances


def _given_sigma(log_sigma: FloatArray, inner: InnerGrid, sums: Connection, sd: float) -> tuple[FloatArray, FloatArray]:
    """Mean and variance (O,) of mu, minus its prior mean, at each node of sigma: an average over the grid of s."""
    nodes = np.arange(inner.log_density.shape[1])
    s2 = np.exp(2 * (inner.low[:, None] + inner.step[:, None] * nodes))
    sigma2 = np.exp(2 * log_sigma)[:, None]
    precision, weighted = np.full(s2.shape, sd**-2), np.zeros(s2.shape)
    for n, count, deviation in zip(sums.n, sums.count, sums.deviation, strict=True):
        weight = count / (sigma2 / n + s2)
        precision += weight
        weighted += weight * deviation
    mass = np.exp(inner.log_density - inner.log_density.max(axis=1, keepdims=True))
    mass /= mass.sum(axis=1, keepdims=True)
    centre = weighted / precision
    mean = (mass * centre).sum(axis=1)
    return mean, (mass * (1 / precision + (centre - mean[:, None]) ** 2)).sum(axis=1)


@dataclass(frozen=True)
class RelatedTable:
    """A table of related words, each pair once, of which a word can be left out."""

    spec: ModelSpec
    data: Distances
    lists: CellLists  # the attribute words of its cells
    parts: Components  # of its protected words
    pairs: PairCounts  # of attribute words of each two lists
    shares: FloatArray | None  # share (W, R) of each form in an attribute word, where words have several

    @classmethod
    def of(cls, spec: ModelSpec, data: Distances) -> RelatedTable:
        """The parts of a table that the moments without each of its words share."""
        lists, relatedness = checked_lists(data), relatedness_for(data)
        pairs, shares = relatedness.pairs_of_lists(lists.member, data.attribute_words.tolist())
        return cls(spec, data, lists, components_for(relatedness, data.protected_words), pairs, shares)

    @cached_property
    def _codes(self) -> FloatArray:
        """Random whole numbers (W, 2), whose sums tell lists apart."""
        size = (len(self.data.attribute_words), 2)
        return np.random.default_rng(0).integers(2**36, size=size).astype(float)

    @cached_property
    def _rows_of(self) -> list[IntArray]:
        """Rows of each attribute word."""
        order = np.argsort(self.data.attribute, kind="stable")
        counts = np.bincount(self.data.attribute, minlength=len(self.data.attribute_words))
        return np.split(order, np.cumsum(counts)[:-1])

    @property
    def moments(self) -> Moments:
        """Mean and covariance of the mean over these protected words, for each connection."""
        cells = self.data.cells
        return self._moments(self.lists, cells.mean, cells.ssd, self.pairs)

    def without_protected(self, word: int) -> Moments:
        """The same without a protected word."""
        chosen, cells = self.lists.word != word, self.data.cells
        return self._of_lists(chosen, self.lists.n[chosen], self.lists.member, cells.mean, cells.ssd, -1)

    def without_attribute(self, word: int) -> Moments:
        """The same without an attribute word."""
        data, cells, rows = self.data, self.data.cells, self._rows_of[word]
        where, shape = data.word[rows] * len(data.connections) + data.connection[rows], cells.n.shape
        size = cells.n.size
        n = cells.n - np.bincount(where, minlength=size).reshape(shape)
        apart = data.y[rows] - cells.mean.ravel()[where]
        gone = np.bincount(where, apart, size).reshape(shape)
        squares = np.bincount(where, apart**2, size).reshape(shape)
        # downdating: without rows that deviate by d from the mean, the mean of the n that stay moves by -sum d / n, and
        # their squares about it are those that are left less n times the square of that move
        shift = np.divide(gone, n, out=np.zeros(shape), where=n > 0)
        ssd = np.maximum(cells.ssd - squares - gone * shift, 0)
        left = n[self.lists.word, self.lists.connection]
        member = self.lists.member.copy()
        member[:, word] = False
        return self._of_lists(left > 0, left[left > 0], member, cells.mean - shift, ssd, word)

    def _of_lists(
        self,
        chosen: NDArray[np.bool_],
        n: IntArray,
        member: NDArray[np.bool_],
        mean: FloatArray,
        ssd: FloatArray,
        word: int,
    ) -> Moments:
        """Moments from some cells, whose lists may have become equal without a word (-1 for none)."""
        listed = self.lists.listed[chosen]
        number, first = in_order_met((member @ self._codes)[listed])
        distinct = listed[first]
        lists = CellLists(self.lists.word[chosen], self.lists.connection[chosen], number, n, member[distinct])
        forms = np.arange(0) if word < 0 else np.array([word])
        if word >= 0 and self.shares is not None:
            forms = np.flatnonzero(self.shares[word])
        return self._moments(lists, mean, ssd, self.pairs.without(forms, distinct))

    def _moments(self, lists: CellLists, mean: FloatArray, ssd: FloatArray, pairs: PairCounts) -> Moments:
        """Moments from cells with these lists, means and sums of squares."""
        data, parts = self.data, self.parts
        counted = counted_connections(data)[lists.connection]
        kind, size = data.connection_class, len(data.connection_classes)
        squares = ssd[lists.word, lists.connection][counted]
        observed = np.bincount(kind[lists.connection[counted]], squares, size)
        fields = fields_of(data, parts, lists, pairs.shares(), observed)
        # groups weigh the same in the mean of each connection
        filled = np.zeros((len(data.protected_words), len(data.connections)), dtype=bool)
        filled[lists.word, lists.connection] = True
        own = filled[:, data.connections == OWN].any(axis=1)
        groups, listed = data.groups.tolist(), [name for name in np.unique(data.groups[own]).tolist() if name]
        weights = np.column_stack([word_weights(groups, column, listed) for column in filled.T])
        value = weights[lists.word, lists.connection]
        cells = value * mean[lists.word, lists.connection]
        connections = len(data.connections)
        # the weighted fields of the lists under each connection
        place = lists.connection * len(lists.member) + lists.listed
        by_list = sparse.csr_array((value, (place, lists.word)), (connections * len(lists.member), len(parts.loadings)))
        loaded = (by_list @ (parts.loadings * np.sqrt(parts.variances))).reshape(connections, len(lists.member), -1)
        loaded = loaded.transpose(2, 0, 1)
        covariance = (loaded @ fields.correlations @ loaded.transpose(0, 2, 1)).sum(axis=0)
        products = factors_of(self.spec, fields).products
        return np.bincount(lists.connection, cells, connections), covariance * products[np.ix_(kind, kind)]
