"""Cells, errors of their means, and posteriors of weighted sums of mean distances.

Every linear question (a contrast, an association, a part of a decomposition, a mean over a group) is a set of weights
over cells. For the model of related words the answer is exact: given the factors everything is normal around what was
observed, and the factors have their posteriors on a grid. Models with normal residuals and words answer with the normal
posteriors that they have given their scales, averaged over the draws of these. Other models answer with draws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayesbias._core.conditionals import CellTotals, beta_moments, cell_totals, kind_moments, totals_by_kind
from bayesbias._core.marginal import IncompleteSums, Scales
from bayesbias._core.mixtures import AT_ONCE, Marginals, NormalMixture, gauss_rule
from bayesbias._core.related import CellWeights, FactorGrid, draw_factors, smoothed_correlations, weighted_roots
from bayesbias._core.vectors import FloatArray, IntArray
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError
from bayesbias.models.marginal import drawn_scales, prior_of_means, reduced, variances_of
from bayesbias.models.related import (
    alike_within,
    attribute_sets,
    cell_lists,
    components_for,
    factors_of,
    list_fields,
    refuse_many_cells,
    related_posterior,
    relatedness_for,
)
from bayesbias.models.results import Fit
from bayesbias.models.spec import ModelSpec, Normal
from bayesbias.words import OWN, STEREOTYPES


@dataclass(frozen=True)
class Cells:
    """Mean distances of protected words to connections and to the lists of the groups."""

    columns: tuple[str, ...]  # labels (C,): the connections, then the groups that have a stereotype list
    connections: int  # how many of the columns are connections
    n: IntArray  # distances in each cell, (J, C)
    mean: FloatArray  # and their mean, NaN without any
    own: IntArray  # column (J,) of the list of each word's own group; -1 where that has none
    stands_for: IntArray  # connection (J, C) that each cell's list has to the word
    word: IntArray  # the cell of each distance, which counts under its connection and under its lists
    column: IntArray
    attribute: IntArray  # and its attribute word
    in_several: tuple[str, ...]  # stereotype words that stand in the lists of several groups

    @property
    def lists(self) -> NDArray[np.intp]:
        """Columns (G,) of the groups' stereotype lists."""
        return np.arange(self.connections, len(self.columns))

    @property
    def filled(self) -> NDArray[np.bool_]:
        """Which cells hold a distance, (J, C)."""
        return self.n > 0

    @property
    def same_lists(self) -> tuple[str, ...]:
        """Groups whose stereotype lists hold the same words as that of an earlier group, and that group."""
        words = {column: frozenset(self.attribute[self.column == column].tolist()) for column in self.lists.tolist()}
        for word in words.values():
            same = [other for other, theirs in words.items() if theirs == word]
            if len(same) > 1:
                return tuple(self.columns[place] for place in same)
        return ()

    @property
    def associated(self) -> NDArray[np.bool_]:
        """Which protected words (J,) have an association: a list of their own, and distances to every list."""
        return (self.own >= 0) & self.filled[:, self.lists].all(axis=1)


def cells_of(data: Distances) -> Cells:
    """The cells of a table's rows.

    A stereotype word belongs to the list of each group that it is associated with. It then counts in that list for
    every protected word, whatever its connection to that word.
    """
    names = data.connections.tolist()
    groups = data.group_names
    member = np.zeros((len(data.attribute_words), len(groups)), dtype=bool)
    if OWN in names:
        own = data.connection == names.index(OWN)
        member[data.attribute[own], data.group_index[data.word[own]]] = True
    listed = [place for place, name in enumerate(groups) if name and member[:, place].any()]
    member = member[:, listed]
    stereotype = np.isin(np.array(names), STEREOTYPES)[data.connection]
    rows, place = np.nonzero(member[data.attribute] & stereotype[:, None])
    word = np.concatenate([data.word, data.word[rows]])
    column = np.concatenate([data.connection, len(names) + place])
    attribute = np.concatenate([data.attribute, data.attribute[rows]])
    y = np.concatenate([data.y, data.y[rows]])
    shape = (len(data.protected_words), len(names) + len(listed))
    cell = word * shape[1] + column
    n = np.bincount(cell, minlength=shape[0] * shape[1])
    total = np.bincount(cell, weights=y, minlength=len(n))
    mean = np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0)
    columns = (*names, *(groups[place] for place in listed))
    position = {name: place for place, name in enumerate(columns) if place >= len(names)}
    own_list = np.array([position.get(name, -1) for name in data.groups.tolist()], dtype=np.intp)
    stands_for = np.tile(np.r_[np.arange(len(names)), np.full(len(listed), -1)], (shape[0], 1))
    if listed:
        different = names.index("different") if "different" in names else -1
        here = np.arange(len(names), shape[1])
        stands_for[:, here] = np.where(own_list[:, None] == here, names.index(OWN), different)
    return Cells(
        columns=columns,
        connections=len(names),
        n=n.reshape(shape),
        mean=mean.reshape(shape),
        own=own_list,
        stands_for=stands_for,
        word=word,
        column=column,
        attribute=attribute,
        in_several=tuple(data.attribute_words[member.sum(axis=1) > 1].tolist()),
    )


def word_weights(groups: Sequence[str], chosen: NDArray[np.bool_], listed: Sequence[str]) -> FloatArray:
    """Weights (J,) of protected words in the whole list, with sum 1; 0 for words that are not chosen.

    Groups weigh the same where at least two have lists, and so do the words within a group: with groups of unequal
    size the mean over words would hold a part of how near each list is to all words. Without two such groups every
    word weighs the same.
    """
    labels = np.array(groups, dtype=str)
    present = [name for name in dict.fromkeys(labels[chosen].tolist()) if name in set(listed)]
    weights = np.zeros(len(labels))
    if len(present) < 2 or not np.isin(labels[chosen], present).all():
        weights[chosen] = 1 / max(int(chosen.sum()), 1)
        return weights
    for name in present:
        own = chosen & (labels == name)
        weights[own] = 1 / (len(present) * own.sum())
    return weights


def whole_weights(data: Distances, chosen: NDArray[np.bool_]) -> FloatArray:
    """:func:`word_weights` of a table's protected words; groups with a word that has stereotypes have a list."""
    own = np.isin(data.connection, np.flatnonzero(data.connections == OWN))
    listed = np.unique(data.groups[np.unique(data.word[own])])
    return word_weights(data.groups.tolist(), chosen, [name for name in listed.tolist() if name])


def cell_weights(
    rows: IntArray, words: IntArray, columns: IntArray, values: FloatArray, cells: Cells, size: int
) -> sparse.csr_array:
    """Weights (size, J * C) from triplets: the functional, the cell, and the weight of each."""
    place = words * len(cells.columns) + columns
    return sparse.csr_array((values, (rows, place)), shape=(size, cells.n.size))


def difference_weights(cells: Cells, words: IntArray, first: IntArray, second: IntArray) -> sparse.csr_array:
    """Weights (words, J * C): for some words the mean distance in one column less that in another, each (words,)."""
    rows = np.tile(np.arange(len(words)), 2)
    values = np.repeat([1.0, -1.0], len(words))
    return cell_weights(rows, np.tile(words, 2), np.concatenate([first, second]), values, cells, len(words))


def list_difference_weights(cells: Cells, words: IntArray, columns: IntArray) -> sparse.csr_array:
    """Weights (words, J * C): the mean distance to one list (``columns``, (words,)) less the mean over the others."""
    count, lists = len(words), cells.lists
    rows = np.repeat(np.arange(count), len(lists))
    every = np.tile(lists, count)
    values = np.where(np.repeat(columns, len(lists)) == every, 1.0, -1 / (len(lists) - 1))
    return cell_weights(rows, np.repeat(words, len(lists)), every, values, cells, count)


def list_contrasts(lists: int) -> FloatArray:
    """Weights (lists, lists): each list less the mean of the others."""
    return (np.eye(lists) - 1 / lists) * lists / (lists - 1)


def association_rows(own: IntArray, weights: FloatArray, lists: int) -> FloatArray:
    """Weights (J, J, lists) of mean distances in the association of each word, as a dense array for few words.

    Each word's own list (its place, (J,)) less the mean of the others, less what that is for the weighted mean of all
    words: neither how near a word is to every list nor how near a list is to every word counts.
    """
    return (np.eye(len(own)) - weights)[:, :, None] * list_contrasts(lists)[own][:, None, :]


def nearness_weights(cells: Cells, weights: FloatArray) -> sparse.csr_array:
    """Weights (G, J * C): by how much each list is nearer to all words than the mean list, times G / (G - 1).

    It is what the difference of own and other lists holds beside the association: sum over words of
    ``weights`` (J,) times (m[j, l] - mean over lists of m[j, .]).
    """
    lists, words = cells.lists, np.flatnonzero(weights)
    size = len(lists)
    value = list_contrasts(size)
    rows = np.repeat(np.arange(size), len(words) * size)
    columns = np.tile(np.tile(lists, len(words)), size)
    values = (value[:, None, :] * weights[words][None, :, None]).ravel()
    return cell_weights(rows, np.tile(np.repeat(words, size), size), columns, values, cells, size)


def association_weights(
    cells: Cells, words: IntArray, weights: FloatArray
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Two matrices whose product (words, J * C) are the weights of the associations of some words.

    The association is the difference of own and other lists less how near the own list is to all words; in matrices of
    their own both are sparse.
    """
    first = sparse.vstack(
        [list_difference_weights(cells, words, cells.own[words]), nearness_weights(cells, weights)], format="csr"
    )
    count = len(words)
    own = cells.own[words] - cells.connections
    rows = np.tile(np.arange(count), 2)
    columns = np.concatenate([np.arange(count), count + own])
    values = np.repeat([1.0, -1.0], count)
    return sparse.csr_array((values, (rows, columns)), shape=(count, count + len(cells.lists))), first


def by_connection(cells: Cells, weights: sparse.csr_array) -> sparse.csr_array:
    """Weights (m, J * K) of words under connections from those of cells (m, J * C).

    The connection that a list has to a word stands for the list.
    """
    total = sparse.coo_array(weights)
    word, column = np.divmod(total.col, len(cells.columns))
    connection = cells.stands_for[word, column]
    if (connection < 0).any():
        raise InputError("weights fall on lists that the words have no connection to")
    shape = (weights.shape[0], len(cells.n) * cells.connections)
    return sparse.csr_array((total.data, (total.row, word * cells.connections + connection)), shape=shape)


FRAMES = "frames"  # name of the group of a fit with templates
NODES = 16  # nodes that stand for the posterior of a factor; smooth functions of it are then exact to rounding


class Functionals(Protocol):
    """Joint posterior of m weighted sums of mean distances."""

    @property
    def mean(self) -> FloatArray:
        """Posterior means (m,)."""

    @property
    def sd(self) -> FloatArray:
        """Posterior standard deviations (m,)."""

    def quantile(self, p: float) -> FloatArray:
        """Posterior quantiles (m,) at one probability."""

    def below(self, x: FloatArray | float) -> FloatArray:
        """Posterior probability (m,) of a value below x."""

    def combined(self, matrix: sparse.csr_array | FloatArray) -> Functionals:
        """Weighted sums (k, m) of the m quantities."""

    def draws(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Joint draws (size, m)."""


@dataclass(frozen=True)
class NormalFunctionals(Marginals):
    """Scale mixtures of normals: errors have a covariance that the vectors know, up to a factor for each class.

    They are the sum over classes of the factor times the root times r standard normals.
    """

    mean: FloatArray  # observed values, (m,)
    roots: tuple[FloatArray, ...]  # (m, r) for each class of attribute words that has a weight
    classes: tuple[int, ...]  # place of each class on the grid
    grid: FactorGrid  # posteriors of the factors

    @cached_property
    def nodes(self) -> tuple[FloatArray, FloatArray]:
        """Values (N, classes) of the factors, and their posterior weights (N,)."""
        # factors of different classes are independent: the nodes of several are all combinations of the nodes of each
        rules = [gauss_rule(np.log(self.grid.factor), self.grid.mass[kind], NODES) for kind in self.classes]
        places = np.indices([len(nodes) for nodes, _ in rules]).reshape(len(rules), -1)
        factors = np.exp([nodes[place] for (nodes, _), place in zip(rules, places, strict=True)]).T
        weights = np.prod([mass[place] for (_, mass), place in zip(rules, places, strict=True)], axis=0)
        return factors, weights

    def covariance(self, other: NormalFunctionals) -> FloatArray:
        """Covariance (N, m) of each quantity with its counterpart in ``other``, given the factors at each node."""
        factors = self.nodes[0]
        value = np.zeros((len(factors), len(self.mean)))
        for first, root in enumerate(self.roots):
            for second, two in enumerate(other.roots):
                value += np.outer(factors[:, first] * factors[:, second], np.einsum("mr,mr->m", root, two))
        return value

    @cached_property
    def mixture(self) -> NormalMixture:
        """The marginal posteriors."""
        variance = self.covariance(self)
        return NormalMixture(self.nodes[1], self.mean[None], np.sqrt(np.maximum(variance, 0.0)))

    def combined(self, matrix: sparse.csr_array | FloatArray) -> NormalFunctionals:
        return replace(self, mean=matrix @ self.mean, roots=tuple(matrix @ root for root in self.roots))

    def draws(self, size: int, rng: np.random.Generator) -> FloatArray:
        factors = draw_factors(self.grid, size, rng)
        standard = rng.standard_normal((size, self.roots[0].shape[1]))
        value = np.tile(self.mean, (size, 1))
        for kind, root in zip(self.classes, self.roots, strict=True):
            value += factors[:, kind, None] * (standard @ root.T)
        return value


@dataclass(frozen=True)
class DrawnFunctionals:
    """Draws (D, m) of m weighted sums."""

    values: FloatArray

    @cached_property
    def mean(self) -> FloatArray:
        return self.values.mean(axis=0)

    @cached_property
    def sd(self) -> FloatArray:
        return self.values.std(axis=0, ddof=1)

    def quantile(self, p: float) -> FloatArray:
        return np.quantile(self.values, p, axis=0)

    def below(self, x: FloatArray | float) -> FloatArray:
        return (self.values < x).mean(axis=0)

    def combined(self, matrix: sparse.csr_array | FloatArray) -> DrawnFunctionals:
        return DrawnFunctionals((matrix @ self.values.T).T)

    def draws(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Joint draws (size, m), taken at random from those there are."""
        return self.values[rng.integers(len(self.values), size=size)]


@dataclass(frozen=True)
class ConditionalFunctionals(Marginals):
    """Weighted sums of cells that are independent and normal given the scales and the means that they share.

    These, connection means less ``prior_mean`` and effects of patterns, are the centre plus the root times standard
    normals.
    """

    combine: sparse.csr_array  # (m, p)
    parts: sparse.csr_array  # (p, J * K); the weights of the sums are the product of both
    totals: CellTotals  # what the cells need of the table
    scales: Scales  # variances at N points of equal weight
    centre: FloatArray  # (N, n)
    root: FloatArray  # (N, n, n)
    prior_mean: float  # that every distance is taken from

    @cached_property
    def kinds(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """At each point and for each kind of cells: share of the distances' sum (N, k), variance (N, k), and slope in
        the shared means (N, k, n).
        """
        inverse = np.ascontiguousarray(1 / self.scales.sigma2.T)
        of_kinds = [kind_moments(self.totals, i, self.scales, inverse) for i in range(len(self.totals.count))]
        share, variance, slope = (np.stack(each, axis=1) for each in zip(*of_kinds, strict=True))
        return share, variance, slope

    @cached_property
    def mixture(self) -> NormalMixture:
        """The marginal posteriors."""
        share, variance, slope = self.kinds
        kind, filled = self.totals.kind.ravel(), np.flatnonzero(self.totals.kind.ravel() >= 0)
        shape = (len(kind), len(self.totals.count))
        member = sparse.csr_array((np.ones(len(filled)), (filled, kind[filled])), shape=shape)
        weight = self.combine @ (self.parts @ member).toarray()
        total = self.combine @ (self.parts @ (sparse.diags_array(self.totals.total.ravel()) @ member)).toarray()
        centre = np.einsum("bkn,bn->bk", slope, self.centre)
        means = share @ total.T + centre @ weight.T + self.prior_mean * weight.sum(axis=1)
        # words of one list have the same weights in the means that all share
        distinct, same = np.unique(weight.round(12), axis=0, return_inverse=True)
        spread = np.einsum("bkn,bnr->bkr", slope, self.root)
        # variance of a sum given the scales: that of the shared means, and that of the cells around them
        shared = np.stack([((combination @ spread) ** 2).sum(axis=1) for combination in distinct], axis=1)
        sds = np.sqrt(variance @ self._squares(member).T + shared[:, same.ravel()])
        return NormalMixture(np.full(len(share), 1 / len(share)), means, sds)

    def _squares(self, member: sparse.csr_array) -> FloatArray:
        """Sums of squared weights of the cells of each kind, (m, kinds)."""
        value = np.empty((self.combine.shape[0], member.shape[1]))
        terms = np.diff(self.combine.indptr)
        many = np.flatnonzero(terms > FEW_TERMS)
        for rows in np.array_split(many, max(1, len(many) * self.parts.shape[1] // AT_ONCE)):
            weights = sparse.csr_array(self.combine[rows] @ self.parts)
            value[rows] = (weights.power(2) @ member).toarray()
        few = np.flatnonzero(terms <= FEW_TERMS)
        if not len(few):
            return value
        # sums of few parts: products of each two parts are enough, although a part may hold every cell
        slots = np.arange(int(terms[few].max()))
        places = self.combine.indptr[few][:, None] + slots
        real = slots < terms[few][:, None]
        places = np.where(real, places, 0)
        columns, values = self.combine.indices[places], np.where(real, self.combine.data[places], 0.0)
        for kind in range(member.shape[1]):
            own = self.parts @ sparse.diags_array(member[:, [kind]].toarray().ravel())
            products = sparse.csr_array(own @ own.T)
            parts = [
                values[:, slot] * values[:, two] * products[columns[:, slot], columns[:, two]]
                for slot in slots.tolist()
                for two in slots.tolist()
            ]
            value[few, kind] = np.sum(parts, axis=0)
        return np.maximum(value, 0.0)

    @property
    def mean(self) -> FloatArray:
        return self.mixture.mean

    def combined(self, matrix: sparse.csr_array | FloatArray) -> ConditionalFunctionals:
        return replace(self, combine=sparse.csr_array(matrix @ self.combine))

    def draws(self, size: int, rng: np.random.Generator) -> FloatArray:
        share, variance, slope = self.kinds
        kind, filled = self.totals.kind.ravel(), self.totals.kind.ravel() >= 0
        own, total = kind[filled], self.totals.total.ravel()[filled]
        parts = self.parts[:, np.flatnonzero(filled)]
        value = np.empty((size, self.combine.shape[0]))
        for i, point in enumerate(rng.integers(len(share), size=size).tolist()):
            shared = self.centre[point] + self.root[point] @ rng.standard_normal(self.root.shape[2])
            cells = share[point, own] * total + (slope[point] @ shared)[own]
            cells += np.sqrt(variance[point, own]) * rng.standard_normal(len(own)) + self.prior_mean
            value[i] = self.combine @ (parts @ cells)
        return value


def related_functionals(spec: ModelSpec, data: Distances, cells: Cells, weights: sparse.csr_array) -> NormalFunctionals:
    """Posterior of weighted sums (m, J * C) of cells for the model of related words.

    The errors of lists have the covariance that the variogram gives in each component of the protected words; see
    :func:`weighted_roots`.
    """
    relatedness = relatedness_for(data)
    parts = components_for(relatedness, data.protected_words)
    number, member = attribute_sets(cells.word, cells.column, cells.attribute, cells.filled, len(data.attribute_words))
    used = np.zeros(cells.filled.shape, dtype=bool)
    used.ravel()[np.unique(weights.indices[weights.data != 0])] = True
    if (used & ~cells.filled).any():
        raise InputError("weights fall on cells without a distance: give 0 to these")
    same, shares = relatedness.overlaps(member, data.attribute_words.tolist())
    coordinates = weights.tocoo()
    some = coordinates.data != 0
    row, value = coordinates.row[some], coordinates.data[some]
    word, column = np.divmod(coordinates.col[some], len(cells.columns))
    kind = np.concatenate([data.connection_class, np.zeros(len(cells.lists), dtype=np.intp)])[column]
    classes, roots = weighted_roots(
        CellWeights(row, value, word, number[word, column], kind, weights.shape[0]),
        parts.loadings * np.sqrt(parts.variances),
        smoothed_correlations(parts.correlations, same, shares),
    )
    mean = weights @ np.where(cells.filled, cells.mean, 0.0).ravel()
    return NormalFunctionals(mean, roots, classes, factors_of(spec, list_fields(data)))


FEWEST_POINTS, POINTS = 250, 1000  # draws of the scales that stand for their posterior: fewest and most
NUMBERS = 2**22  # sums times points that are kept, as far as there are points enough
FEW_TERMS = 6  # parts of a sum whose products are looked up pair by pair


class CellMeans(NamedTuple):
    """Cells that are independent given the means that they share: what they need of the table, and these means."""

    totals: CellTotals
    centre: FloatArray  # mean of the shared means at each point of the scales, (N, n)
    root: FloatArray  # root of their covariance, (N, n, n)


GivenScales = Callable[[Distances, Scales, Normal], CellMeans | None]
"""From distances, variances at points, and the prior of connection means; None where cells are tied."""


def crossed_cells(data: Distances, scales: Scales, prior: Normal) -> CellMeans | None:
    """Cells of a crossed model: connection means and effects of patterns are shared.

    In tables with holes in many places cells depend on each other given these.
    """
    sums = reduced(data, prior.mean, scales.interaction is not None)  # a fit of one group has left it out
    if isinstance(sums, IncompleteSums):
        return None
    return CellMeans(cell_totals(sums, data.filled.shape), *beta_moments(sums, scales, prior.sd))


def independent_cells(data: Distances, scales: Scales, prior: Normal) -> CellMeans:
    """Cells of a model of independent distances: those of a connection share its mean."""
    n = data.cells.n
    total = np.where(data.filled, n * (data.cells.mean - prior.mean), 0.0)
    totals = totals_by_kind(total, np.stack([np.broadcast_to(np.arange(n.shape[1]), n.shape), n], axis=2))
    # a cell's mean has the variance sigma^2 / n + s^2 about its connection's
    precision = np.full(scales.s2.shape, prior.sd**-2)
    centre = np.zeros(scales.s2.shape)
    for k in range(n.shape[1]):
        counts, place = np.unique(n[data.filled[:, k], k], return_inverse=True)
        each = 1 / (scales.sigma2[:, k, None] / counts + scales.s2[:, k, None])
        precision[:, k] += each @ np.bincount(place)
        centre[:, k] = each @ np.bincount(place, total[data.filled[:, k], k] / n[data.filled[:, k], k])
    return CellMeans(totals, centre / precision, np.eye(n.shape[1]) / np.sqrt(precision)[:, :, None])


def conditional_functionals(
    result: Fit, cells: Cells, weights: sparse.csr_array, given_scales: GivenScales
) -> ConditionalFunctionals | None:
    """Posterior of weighted sums (m, J * C) of cells that are normal given the scales; None where they are tied."""
    data, drawn = result.data, drawn_scales(result.posterior)
    points = min(len(drawn["sigma"]), POINTS, max(FEWEST_POINTS, NUMBERS // max(1, weights.shape[0])))
    some = np.linspace(0, len(drawn["sigma"]) - 1, points).round().astype(np.intp)
    scales = variances_of(
        {name: value[some] for name, value in drawn.items()}, len(data.connections), len(data.attribute_classes)
    )
    prior = prior_of_means(result.spec)
    means = given_scales(data, scales, prior)
    if means is None:
        return None
    parts = by_connection(cells, weights)
    whole = sparse.csr_array(sparse.eye_array(parts.shape[0]))
    return ConditionalFunctionals(whole, parts, means.totals, scales, means.centre, means.root, prior.mean)


def drawn_functionals(values: FloatArray, cells: Cells, weights: sparse.csr_array) -> DrawnFunctionals:
    """Weighted sums of cells from draws (D, J, K) of the means of words under connections, NaN where there are none."""
    flat = np.nan_to_num(values.reshape(len(values), -1), nan=0.0)
    return DrawnFunctionals(np.ascontiguousarray((by_connection(cells, weights) @ flat.T).T))


def has_further_errors(result: Fit) -> bool:
    """Whether a fit's means hold errors beyond the model's: of templates, or of an estimated slope."""
    return FRAMES in result.tree.children or "slope" in result.posterior


def figures(sums: Functionals, prob: float, region: tuple[float, float] | None = None) -> dict[str, FloatArray]:
    """``mean``, ``sd``, ``low``, ``high``, ``p_closer`` and, with a region, ``p_rope`` (m,) of weighted sums."""
    tail = (1 - prob) / 2
    columns = {
        "mean": sums.mean,
        "sd": sums.sd,
        "low": sums.quantile(tail),
        "high": sums.quantile(1 - tail),
        "p_closer": sums.below(0.0),
    }
    return columns if region is None else columns | {"p_rope": sums.below(region[1]) - sums.below(region[0])}


@dataclass(frozen=True)
class CellErrors:
    """Means of cells (n,) of one embedding, and the covariance (n, n) of their errors.

    ``factors`` are those of the vectors' covariance, None for models without it; ``sources`` are roots (n, units) of
    independent parts of the covariance, with the names of the units.
    """

    data: Distances
    word: np.ndarray
    connection: np.ndarray
    y: FloatArray
    covariance: FloatArray
    factors: FloatArray | None
    sources: tuple[tuple[sparse.csr_array, np.ndarray], ...]


def related_cell_errors(spec: ModelSpec, data: Distances, connections: tuple[str, ...], topic: bool) -> CellErrors:
    """Cells under some connections, of a model of related words, which needs no draws.

    Errors are those of attribute lists like these, or with ``topic`` of further words on the same topics.
    """
    posterior = related_posterior(spec, data)
    sums = posterior.sums
    chosen = np.isin(data.connections[sums.connection], connections)
    # root mean squares: one factor for all embeddings, which therefore does not add to differences between them
    factors = np.sqrt(np.diag(posterior.grid.products))[sums.kind][chosen]
    refuse_many_cells(len(sums.y))
    if topic:
        # in each component the words of a list share the part that their similarity says, which belongs to the topic;
        # what is left is independent from word to word
        relatedness, lists = relatedness_for(data), cell_lists(data)
        parts = components_for(relatedness, data.protected_words)
        same, shares = relatedness.overlaps(lists.member, data.attribute_words.tolist())
        left = np.maximum(1 - alike_within(parts, same, shares), 0)
        loadings = parts.loadings[lists.word] * np.sqrt(parts.variances * left[lists.listed])
        covariance = (loadings @ loadings.T) * same[np.ix_(lists.listed, lists.listed)]
    else:
        covariance = sums.covariance
    return CellErrors(
        data=data,
        word=data.protected_words[sums.word[chosen]],
        connection=data.connections[sums.connection[chosen]],
        y=sums.y[chosen],
        covariance=covariance[np.ix_(chosen, chosen)] * np.outer(factors, factors),
        factors=factors,
        sources=(),
    )


def drawn_cell_errors(result: Fit, connections: tuple[str, ...]) -> CellErrors:
    """Cells of a model whose scales are in its posterior: attribute words, word x group, residuals."""
    posterior, data = result.posterior, result.data
    word, connection = np.nonzero(data.filled & np.isin(data.connections, connections))
    number = np.full(data.filled.shape, -1)
    number[word, connection] = np.arange(len(word))
    cell = number[data.word, data.connection]
    rows = cell >= 0
    share = 1 / data.cells.n[word, connection]

    def root(units: IntArray, scales: FloatArray) -> sparse.csr_array:
        """(cells, units): the share of each unit in a cell's mean, times the scale of the cell's connection."""
        values = (share * scales[connection])[cell[rows]]
        return sparse.csr_array((values, (cell[rows], units[rows])), shape=(len(word), int(units.max()) + 1))

    def scales(name: str) -> FloatArray:
        """Root mean square of a scale over the draws, for each connection."""
        by_class = "attribute_class" in posterior[name].dims
        drawn = result.by_connection(name) if by_class else posterior[name].to_numpy()
        return np.broadcast_to(np.sqrt((drawn**2).mean(axis=(0, 1))), (len(data.connections),))

    labels, sources = data.attribute_words, []
    if "attribute_sd" in posterior:
        sources.append((root(data.attribute, scales("attribute_sd")), labels))
    if "interaction_sd" in posterior:
        units = data.attribute * len(data.group_names) + data.group_index[data.word]
        names = np.array([f"{w}\t{g}" for w in labels for g in data.group_names])
        sources.append((root(units, scales("interaction_sd")), names))
    names = np.array([f"{p}\t{w}" for p in data.protected_words for w in labels])
    sources.append((root(data.word * len(labels) + data.attribute, scales("sigma")), names))
    covariance = sum(((r @ r.T).toarray() for r, _ in sources), np.zeros((len(word), len(word))))
    return CellErrors(
        data=data,
        word=data.protected_words[word],
        connection=data.connections[connection],
        y=data.cells.mean[word, connection],
        covariance=covariance,
        factors=None,
        sources=tuple(sources),
    )
