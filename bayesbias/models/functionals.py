"""Cells of protected words and lists, and posteriors of weighted sums of their mean distances.

Every linear question (a contrast, an association, a part of a decomposition, a mean over a group) is a set of weights
over cells. For the model of related words the answer is exact: given the factors everything is normal around what was
observed, and the factors have their posteriors on a grid. Models with normal residuals and words answer with the normal
posteriors that they have given their scales, averaged over the draws of these. Other models answer with draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayesbias._core.conditionals import CellTotals, beta_moments, cell_totals, kind_moments, totals_by_kind
from bayesbias._core.incomplete import IncompleteSums
from bayesbias._core.marginal import Scales
from bayesbias._core.mixtures import AT_ONCE, Marginals, NormalMixture, gauss_rule
from bayesbias._core.related import CellWeights, FactorGrid, draw_factors, list_correlations, weighted_roots
from bayesbias._core.vectors import FloatArray, IntArray
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError
from bayesbias.models.marginal import drawn_scales, prior_of_means, reduced, variances_of
from bayesbias.models.related import (
    attribute_sets,
    components_for,
    factor_posterior,
    relatedness_for,
)
from bayesbias.models.results import Fit
from bayesbias.models.spec import ModelSpec
from bayesbias.words import OWN, STEREOTYPES

FRAMES = "frames"
"""Name of the group of a fit with sentence frames."""
NODES = 16
"""Nodes that stand for the posterior of a factor; smooth functions of it are then exact to rounding."""


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

    Attributes
    ----------
    mean
        Observed values, (m,).
    roots
        For each class of attribute words that has a weight, an array (m, r): the errors are the sum over classes of
        the factor times the root times r standard normals.
    classes
        Place of each class on the grid.
    grid
        Posteriors of the factors.
    """

    mean: FloatArray
    roots: tuple[FloatArray, ...]
    classes: tuple[int, ...]
    grid: FactorGrid

    @cached_property
    def nodes(self) -> tuple[FloatArray, FloatArray]:
        """Values (N, classes) of the factors, and their posterior weights (N,)."""
        rules = [gauss_rule(np.log(self.grid.factor), self.grid.mass[kind], NODES) for kind in self.classes]
        places = np.indices([len(nodes) for nodes, _ in rules]).reshape(len(rules), -1)
        factors = np.exp([nodes[place] for (nodes, _), place in zip(rules, places, strict=True)]).T
        weights = np.prod([mass[place] for (_, mass), place in zip(rules, places, strict=True)], axis=0)
        return factors, weights

    def covariance(self, other: NormalFunctionals) -> FloatArray:
        """Covariance (N, m) of each quantity with its counterpart in ``other``, given the factors at each node."""
        factors = self.nodes[0]
        value = np.zeros((len(factors), len(self.mean)))
        for first, one in enumerate(self.roots):
            for second, two in enumerate(other.roots):
                value += np.outer(factors[:, first] * factors[:, second], np.einsum("mr,mr->m", one, two))
        return value

    @cached_property
    def mixture(self) -> NormalMixture:
        """The marginal posteriors."""
        variance = self.covariance(self)
        return NormalMixture(self.nodes[1], self.mean[None], np.sqrt(np.maximum(variance, 0.0)))

    def combined(self, matrix: sparse.csr_array | FloatArray) -> NormalFunctionals:
        """Weighted sums (k, m) of the m quantities."""
        return replace(self, mean=matrix @ self.mean, roots=tuple(matrix @ root for root in self.roots))

    def draws(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Joint draws (size, m)."""
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
        """Posterior means (m,)."""
        value: FloatArray = self.values.mean(axis=0)
        return value

    @cached_property
    def sd(self) -> FloatArray:
        """Posterior standard deviations (m,)."""
        value: FloatArray = self.values.std(axis=0, ddof=1)
        return value

    def quantile(self, p: float) -> FloatArray:
        """Posterior quantiles (m,) at one probability."""
        value: FloatArray = np.quantile(self.values, p, axis=0)
        return value

    def below(self, x: FloatArray | float) -> FloatArray:
        """Posterior probability (m,) of a value below x."""
        value: FloatArray = (self.values < x).mean(axis=0)
        return value

    def combined(self, matrix: sparse.csr_array | FloatArray) -> DrawnFunctionals:
        """Weighted sums (k, m) of the m quantities."""
        return DrawnFunctionals((matrix @ self.values.T).T)

    def draws(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Joint draws (size, m), taken at random from those there are."""
        return self.values[rng.integers(len(self.values), size=size)]


@dataclass(frozen=True)
class ConditionalFunctionals(Marginals):
    """Weighted sums of cells that are independent and normal given the scales and the means that they share.

    Attributes
    ----------
    combine, parts
        Sparse matrices (m, p) and (p, J * K); the weights of the sums are their product.
    totals
        What the cells need of the table.
    scales
        Variances at N points of equal weight.
    centre, root
        (N, n) and (N, n, n): connection means less ``prior_mean``, and effects of patterns, are the centre plus the
        root times standard normals.
    prior_mean
        Mean that every distance is taken from.
    """

    combine: sparse.csr_array
    parts: sparse.csr_array
    totals: CellTotals
    scales: Scales
    centre: FloatArray
    root: FloatArray
    prior_mean: float

    @cached_property
    def kinds(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """At each point and for each kind of cells: share of the distances' sum (N, k), variance (N, k), and slope in
        the shared means (N, k, n).
        """
        inverse = np.ascontiguousarray(1 / self.scales.sigma2.T)
        of_kinds = [kind_moments(self.totals, at, self.scales, inverse) for at in range(len(self.totals.count))]
        share, variance, slope = (np.stack(each, axis=1) for each in zip(*of_kinds, strict=True))
        return share, variance, slope

    @cached_property
    def mixture(self) -> NormalMixture:
        """The marginal posteriors."""
        share, variance, slope = self.kinds
        kind = self.totals.kind.ravel()
        member = sparse.csr_array(
            (np.ones(np.count_nonzero(kind >= 0)), (np.flatnonzero(kind >= 0), kind[kind >= 0])),
            shape=(len(kind), len(self.totals.count)),
        )
        summed = sparse.diags_array(self.totals.total.ravel()) @ member
        means, sds = np.empty((2, len(share), self.combine.shape[0]))
        centre = np.einsum("bkn,bn->bk", slope, self.centre)
        spread = np.einsum("bkn,bnr->bkr", slope, self.root)
        step = max(1, AT_ONCE // max(1, self.parts.shape[1]))
        for begin in range(0, self.combine.shape[0], step):
            own = slice(begin, begin + step)
            weights = sparse.csr_array(self.combine[own] @ self.parts)
            weight = (weights @ member).toarray()
            means[:, own] = share @ (weights @ summed).toarray().T + centre @ weight.T
            means[:, own] += self.prior_mean * weight.sum(axis=1)
            # words of one list have the same weights in the means that all share
            distinct, same = np.unique(weight.round(12), axis=0, return_inverse=True)
            shared = np.stack([((one @ spread) ** 2).sum(axis=1) for one in distinct], axis=1)
            sds[:, own] = np.sqrt(variance @ (weights.power(2) @ member).toarray().T + shared[:, same.ravel()])
        return NormalMixture(np.full(len(share), 1 / len(share)), means, sds)

    @property
    def mean(self) -> FloatArray:
        """Posterior means (m,)."""
        return self.mixture.mean

    def combined(self, matrix: sparse.csr_array | FloatArray) -> ConditionalFunctionals:
        """Weighted sums (k, m) of the m quantities."""
        return replace(self, combine=sparse.csr_array(matrix @ self.combine))

    def draws(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Joint draws (size, m)."""
        share, variance, slope = self.kinds
        kind, filled = self.totals.kind.ravel(), self.totals.kind.ravel() >= 0
        own, total = kind[filled], self.totals.total.ravel()[filled]
        parts = self.parts[:, np.flatnonzero(filled)]
        value = np.empty((size, self.combine.shape[0]))
        for at, point in enumerate(rng.integers(len(share), size=size).tolist()):
            shared = self.centre[point] + self.root[point] @ rng.standard_normal(self.root.shape[2])
            cells = share[point, own] * total + (slope[point] @ shared)[own]
            cells += np.sqrt(variance[point, own]) * rng.standard_normal(len(own)) + self.prior_mean
            value[at] = self.combine @ (parts @ cells)
        return value


@dataclass(frozen=True)
class Cells:
    """Mean distances of protected words to connections and to the lists of the groups.

    Attributes
    ----------
    columns
        Labels (C,): the connections, then the groups that have a stereotype list.
    connections
        How many of the columns are connections.
    n, mean
        Arrays (J, C): distances in each cell and their mean (NaN without any).
    own
        Column (J,) of the list of each word's own group; -1 where that has none.
    stands_for
        Connection (J, C) that each cell's list has to the word.
    word, column, attribute
        The cell and the attribute word of each distance, which counts under its connection and under its lists.
    in_several
        Stereotype words that stand in the lists of several groups.
    """

    columns: tuple[str, ...]
    connections: int
    n: IntArray
    mean: FloatArray
    own: IntArray
    stands_for: IntArray
    word: IntArray
    column: IntArray
    attribute: IntArray
    in_several: tuple[str, ...]

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
        for held in words.values():
            alike = [other for other, theirs in words.items() if theirs == held]
            if len(alike) > 1:
                return tuple(self.columns[place] for place in alike)
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
    position = {name: len(names) + at for at, name in enumerate(groups[place] for place in listed)}
    own_list = np.array([position.get(name, -1) for name in data.groups.tolist()], dtype=np.intp)
    stands_for = np.tile(np.r_[np.arange(len(names)), np.full(len(listed), -1)], (shape[0], 1))
    if listed:
        different = names.index("different") if "different" in names else -1
        here = np.arange(len(names), shape[1])
        stands_for[:, here] = np.where(own_list[:, None] == here, names.index(OWN), different)
    return Cells(
        columns=(*names, *(groups[place] for place in listed)),
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


def whole_weights(data: Distances, cells: Cells, chosen: NDArray[np.bool_]) -> FloatArray:
    """:func:`word_weights` of a table's protected words."""
    return word_weights(data.groups.tolist(), chosen, cells.columns[cells.connections :])


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


def nearness_weights(cells: Cells, weights: FloatArray) -> sparse.csr_array:
    """Weights (G, J * C): by how much each list is nearer to all words than the mean list, times G / (G - 1).

    It is what the difference of own and other lists holds beside the association: sum over words of
    ``weights`` (J,) times (m[j, l] - mean over lists of m[j, .]).
    """
    lists, words = cells.lists, np.flatnonzero(weights)
    size = len(lists)
    value = (np.eye(size) - 1 / size) * size / (size - 1)
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


def related_functionals(spec: ModelSpec, data: Distances, cells: Cells, weights: sparse.csr_array) -> NormalFunctionals:
    """Posterior of weighted sums (m, J * C) of cells for the model of related words.

    The errors of lists have the covariance that the variogram gives in each component of the protected words; see
    :func:`weighted_roots`.
    """
    relatedness = relatedness_for(data)
    parts = components_for(relatedness, data.protected_words)
    sets = attribute_sets(cells.word, cells.column, cells.attribute, cells.filled, len(data.attribute_words))
    used = np.zeros(cells.filled.shape, dtype=bool)
    used.ravel()[np.unique(weights.indices[weights.data != 0])] = True
    if (used & ~cells.filled).any():
        raise InputError("weights fall on cells without a distance: give 0 to these")
    same, shares = relatedness.overlaps(sets.member, data.attribute_words.tolist())
    coordinates = weights.tocoo()
    some = coordinates.data != 0
    row, value = coordinates.row[some], coordinates.data[some]
    word, column = np.divmod(coordinates.col[some], len(cells.columns))
    kind = np.concatenate([data.connection_class, np.zeros(len(cells.lists), dtype=np.intp)])[column]
    classes, roots = weighted_roots(
        CellWeights(row, value, word, sets.number[word, column], kind, weights.shape[0]),
        parts.loadings * np.sqrt(parts.variances),
        list_correlations(parts.correlations, same, shares),
    )
    mean = weights @ np.where(cells.filled, cells.mean, 0.0).ravel()
    return NormalFunctionals(mean, roots, classes, factor_posterior(spec, data))


POINTS = 1000
"""Draws of the scales that stand for their posterior."""


def conditional_functionals(result: Fit, cells: Cells, weights: sparse.csr_array) -> ConditionalFunctionals | None:
    """Posterior of weighted sums (m, J * C) of cells that are normal given the scales; None where they are tied.

    In tables with holes in many places cells depend on each other given the means of connections and patterns.
    """
    spec, data = result.spec, result.data
    drawn = drawn_scales(result.posterior)
    some = np.linspace(0, len(drawn["sigma"]) - 1, min(POINTS, len(drawn["sigma"]))).round().astype(np.intp)
    scales = variances_of(
        {name: value[some] for name, value in drawn.items()}, len(data.connections), len(data.attribute_classes)
    )
    prior = prior_of_means(spec)
    if spec.crossed:
        sums = reduced(data, prior.mean, scales.interaction is not None)  # a fit of one group has left it out
        if isinstance(sums, IncompleteSums):
            return None
        totals = cell_totals(sums, data.filled.shape)
        centre, root = beta_moments(sums, scales, prior.sd)
    else:
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
        centre /= precision
        root = np.eye(n.shape[1]) / np.sqrt(precision)[:, :, None]
    parts = by_connection(cells, weights)
    whole = sparse.csr_array(sparse.eye_array(parts.shape[0]))
    return ConditionalFunctionals(whole, parts, totals, scales, centre, root, prior.mean)


def drawn_functionals(values: FloatArray, cells: Cells, weights: sparse.csr_array) -> DrawnFunctionals:
    """Weighted sums of cells from draws (D, J, K) of the means of words under connections, NaN where there are none."""
    flat = np.nan_to_num(values.reshape(len(values), -1), nan=0.0)
    return DrawnFunctionals(np.ascontiguousarray((by_connection(cells, weights) @ flat.T).T))


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


def has_further_errors(result: Fit) -> bool:
    """Whether a fit's means hold errors beyond the model's: of sentence frames, or of an estimated slope."""
    return FRAMES in result.tree.children or "slope" in result.posterior
