"""Cells, errors of their means, and posteriors of weighted sums of mean distances.

Every linear question (a contrast, an association, a part of a decomposition, a mean over a group) is a set of weights
over cells. For the model of related words the answer is exact: given the factors everything is normal around what was
observed, and the factors have their posteriors on a grid. Models with normal residuals and words answer with the normal
posteriors that they have given their scales, averaged over the draws of these. Other models answer with draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayesbias.distances.covariances import Relatedness
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError
from bayesbias.models.marginal import reduced, variances_of
from bayesbias.models.related import (
    attribute_sets,
    components_for,
    factors_of,
    further_words,
    related_sums,
    relatedness_for,
)
from bayesbias.models.spec import ModelSpec, Normal
from bayesbias.models.tree import TEMPLATES, Fit
from bayesbias.models.weights import Cells, by_connection, cells_of, column_classes, stacked
from bayesbias.numerics.arrays import FloatArray, IntArray
from bayesbias.numerics.holes import HoledSums
from bayesbias.numerics.marginal import CellTotals, Scales, cell_totals, kind_moments, totals_by_kind
from bayesbias.numerics.mixtures import (
    AT_ONCE,
    Empirical,
    Law,
    Matrix,
    Nodes,
    NormalMixture,
    NormalNodes,
    Normals,
    Weighted,
    gauss_rule,
)
from bayesbias.numerics.related import (
    VARIANCES,
    FactorGrid,
    list_correlations,
    positive,
    root_of,
    smoothed_correlations,
    weighted_roots,
)
from bayesbias.posteriors import Estimates, identity

NODES = 16  # nodes that stand for the posterior of a factor; smooth functions of it are then exact to rounding


@dataclass(frozen=True)
class _Conditional(Nodes):
    """The law of p weighted sums of cells that are independent and normal given the scales and the means they share."""

    parts: sparse.csr_array  # (p, J * K)
    totals: CellTotals  # what the cells need of the table
    scales: Scales  # variances at N points of equal weight
    centre: FloatArray  # (N, n)
    root: FloatArray  # (N, n, n)
    prior_mean: float  # that every distance is taken from
    mass: FloatArray  # (N,), all the same

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
    def spread(self) -> FloatArray:
        """Root of the covariance that the shared means give the cells of each kind, (N, k, n)."""
        value: FloatArray = np.einsum("bkn,bnr->bkr", self.kinds[2], self.root)
        return value

    @cached_property
    def member(self) -> sparse.csr_array:
        """The kind (J * K, k) of each cell that holds a distance."""
        kind = self.totals.kind.ravel()
        filled = np.flatnonzero(kind >= 0)
        shape = (len(kind), len(self.totals.count))
        return sparse.csr_array((np.ones(len(filled)), (filled, kind[filled])), shape=shape)

    def _by_kind(self, weights: Matrix) -> FloatArray:
        """Sums of weights of the cells of each kind, (m, k)."""
        value: FloatArray = weights @ (self.parts @ self.member).toarray()
        return value

    def means_at(self, weights: Matrix) -> FloatArray:
        share, _, slope = self.kinds
        weight = self._by_kind(weights)
        total = weights @ (self.parts @ (sparse.diags_array(self.totals.total.ravel()) @ self.member)).toarray()
        centre = np.einsum("bkn,bn->bk", slope, self.centre)
        value: FloatArray = share @ total.T + centre @ weight.T + self.prior_mean * weight.sum(axis=1)
        return value

    def between(self, first: Matrix, second: Matrix) -> FloatArray:
        if first is second:
            products = self._squares(sparse.csr_array(first))
        else:
            one, other = (sparse.csr_array(sparse.csr_array(each) @ self.parts) for each in (first, second))
            products = (one.multiply(other) @ self.member).toarray()
        # words of one list have the same weights in the means that all share
        both = np.hstack([self._by_kind(first), self._by_kind(second)])
        distinct, same = np.unique(both.round(12), axis=0, return_inverse=True)
        shared = np.empty((len(self.mass), len(distinct)))
        for place, combination in enumerate(distinct):
            one, other = (half @ self.spread for half in np.split(combination, 2))
            shared[:, place] = (one * other).sum(axis=1)
        # covariance given the scales: that of the shared means, and that of the cells around them
        value: FloatArray = self.kinds[1] @ products.T + shared[:, same.ravel()]
        return value

    def _squares(self, combine: sparse.csr_array) -> FloatArray:
        """Sums (m, kinds) of squared weights over the cells of a kind, by which its variance enters that of a sum."""
        value = np.empty((combine.shape[0], self.member.shape[1]))
        for rows in np.array_split(np.arange(len(value)), max(1, len(value) * self.parts.shape[1] // AT_ONCE)):
            weights = sparse.csr_array(combine[rows] @ self.parts)
            value[rows] = (weights.power(2) @ self.member).toarray()
        return value

    def covariance(self, weights: Matrix) -> FloatArray:
        cells, weight = sparse.csr_array(sparse.csr_array(weights) @ self.parts), self._by_kind(weights)
        own = sparse.diags_array(self.member @ (self.mass @ self.kinds[1]))
        shared = np.einsum("b,bkr,blr->kl", self.mass, self.spread, self.spread)
        means = self.means_at(weights)
        moved = (means - self.mass @ means) * np.sqrt(self.mass)[:, None]
        value: FloatArray = (cells @ own @ cells.T).toarray() + weight @ shared @ weight.T + moved.T @ moved
        return value

    def draws(self, weights: Matrix, size: int, rng: np.random.Generator) -> FloatArray:
        share, variance, slope = self.kinds
        kind, filled = self.totals.kind.ravel(), self.totals.kind.ravel() >= 0
        own, total = kind[filled], self.totals.total.ravel()[filled]
        sums = sparse.csr_array(weights) @ self.parts[:, np.flatnonzero(filled)]
        value = np.empty((size, sums.shape[0]))
        for i, point in enumerate(rng.integers(len(share), size=size).tolist()):
            shared = self.centre[point] + self.root[point] @ rng.standard_normal(self.root.shape[2])
            cells = share[point, own] * total + (slope[point] @ shared)[own]
            cells += np.sqrt(variance[point, own]) * rng.standard_normal(len(own)) + self.prior_mean
            value[i] = sums @ cells
        return value


@dataclass(frozen=True)
class Fields(Law):
    """The law of p mean distances whose errors are fields of lists in components of protected words, times factors.

    The error of the mean distance of word j to list l is the sum over components q of ``scaled[j, q]`` times a field
    u_q[l], times the factor of its class. The variograms behind the correlations of lists are too rough for these to be
    positive semi-definite as a whole: the variance of a sum is that of the lists that it holds, whichever others there
    are, and sums are correlated as the lists that they hold together allow.
    """

    mean: FloatArray  # (p,)
    word: IntArray  # protected word, list and attribute class of each, (p,)
    listed: IntArray
    kind: IntArray
    scaled: FloatArray  # (J, Q)
    correlations: FloatArray  # of the lists in each component, (Q, lists, lists)
    grid: FactorGrid  # posteriors of the factors

    def settled(self, weights: sparse.csr_array) -> Normals:
        """The law of weighted sums, with roots of their errors."""
        classes, roots = weighted_roots(weights, self.word, self.listed, self.kind, self.scaled, self.correlations)
        mass, factors = _factor_nodes(self.grid, classes)
        return Normals(weights @ self.mean, tuple(roots), mass, factors)

    def _variances(self, weights: Matrix, kinds: Sequence[int]) -> FloatArray:
        """Covariance (classes, classes, m) of what each sum holds of some classes, for factors of 1."""
        cells = sparse.csc_array(weights)
        fields = np.zeros((len(kinds), cells.shape[0], self.scaled.shape[1], self.correlations.shape[1]))
        for place, kind in enumerate(kinds):
            own = self.kind == kind
            for listed in np.unique(self.listed[own]):
                some = np.flatnonzero(own & (self.listed == listed))
                shape = (len(some), len(self.scaled))
                words = sparse.csr_array((np.ones(len(some)), (np.arange(len(some)), self.word[some])), shape)
                fields[place, :, :, listed] = (cells[:, some] @ words) @ self.scaled
        by_component = np.einsum("amql,qlk,bmqk->mqab", fields, self.correlations, fields, optimize=True)
        shape = by_component.shape
        kept = positive(by_component.reshape(-1, *shape[2:])).reshape(shape)
        value: FloatArray = np.moveaxis(kept.sum(axis=1), 0, -1)
        return value

    def marginals(self, weights: Matrix, offset: FloatArray) -> NormalMixture:
        mean, cells = weights @ self.mean + offset, np.arange(len(self.kind))
        # sums that hold the same classes, some at a time; of fewer classes than others they have fewer nodes
        shape = (len(self.kind), len(self.grid.mass))
        member = sparse.csr_array((np.ones(len(cells)), (cells, self.kind)), shape)
        held = (abs(sparse.csr_array(weights)) @ member).toarray() > 0
        patterns, number = np.unique(held, axis=0, return_inverse=True)
        of_pattern = [np.flatnonzero(pattern).tolist() or [0] for pattern in patterns]
        nodes = [_factor_nodes(self.grid, kinds) for kinds in of_pattern]
        every, sds = np.zeros((2, max((len(mass) for mass, _ in nodes), default=1), len(mean)))
        for place, (kinds, (mass, factors)) in enumerate(zip(of_pattern, nodes, strict=True)):
            rows = np.flatnonzero(number.ravel() == place)
            every[: len(mass), rows] = mass[:, None]
            numbers = len(rows) * len(kinds) * self.scaled.shape[1] * self.correlations.shape[1]
            for some in np.array_split(rows, numbers // NUMBERS + 1):
                variances = self._variances(weights[some], kinds)
                variance = np.einsum("na,nb,abm->nm", factors, factors, variances, optimize=True)
                sds[: len(mass), some] = np.sqrt(np.maximum(variance, 0.0))
        return NormalMixture(every, mean[None], sds)

    def _joint(self, weights: Matrix) -> Normals:
        """The law of weighted sums with roots, whose rows are as long as the variances of single sums have them."""
        law, size = self.settled(sparse.csr_array(weights)), weights.shape[0]
        own, joint = self.marginals(weights, np.zeros(size)).sd, law.marginals(identity(size), np.zeros(size)).sd
        scale = np.divide(own, joint, out=np.zeros(size), where=joint > 0)
        return replace(law, roots=tuple(root * scale[:, None] for root in law.roots))

    def opposite(self, first: Weighted, second: Weighted) -> FloatArray:
        size = len(first[1])
        both = self._joint(stacked(sparse.csr_array(first[0]), sparse.csr_array(second[0])))
        own = identity(2 * size)
        return both.opposite((own[:size], first[1]), (own[size:], second[1]))

    def covariance(self, weights: Matrix) -> FloatArray:
        return self._joint(weights).covariance(identity(weights.shape[0]))

    def draws(self, weights: Matrix, size: int, rng: np.random.Generator) -> FloatArray:
        return self._joint(weights).draws(identity(weights.shape[0]), size, rng)


def cell_fields(spec: ModelSpec, data: Distances, cells: Cells) -> Fields:
    """The law of the means of all cells (J * C) for the model of related words."""
    relatedness = relatedness_for(data)
    parts = components_for(relatedness, data.protected_words)
    number, member = attribute_sets(cells.word, cells.column, cells.attribute, cells.filled, len(data.attribute_words))
    same, shares = relatedness.overlaps(member, data.attribute_words.tolist())
    word, column = np.indices(cells.filled.shape).reshape(2, -1)
    return Fields(
        mean=cells.means,
        word=word,
        listed=np.maximum(number, 0).ravel(),
        kind=column_classes(data, cells)[column],
        scaled=parts.loadings * np.sqrt(parts.variances),
        correlations=smoothed_correlations(parts.correlations, same, shares),
        grid=factors_of(spec, related_sums(data)),
    )


def related_functionals(spec: ModelSpec, data: Distances, cells: Cells, weights: sparse.csr_array) -> Estimates:
    """Posterior of weighted sums (m, J * C) of cells for the model of related words, with a law of their own."""
    return Estimates.of(cell_fields(spec, data, cells).settled(weights), weights.shape[0])


def further_functionals(result: Fit, given: Estimates, places: Sequence[int], weights: FloatArray) -> Estimates:
    """Posterior of weighted sums (m, k) of the means of some connections over protected words like those of a fit.

    ``given`` are the same sums over the words of the fit; ``places`` are those of the k connections.
    """
    data, law = result.data, given.law
    population = further_words(result.spec, related_sums(data), data)
    classes = data.connection_class
    if isinstance(law, Normals):
        inverse, mass = population.nodes()
        held = np.unique(classes[list(places)])
        factors = np.ones((len(law.mass), len(data.connection_classes)))
        factors[:, held] = law.factors
        stacked_roots = np.stack(law.roots)
        errors = np.einsum("na,nb,amr,bpr->nmp", law.factors, law.factors, stacked_roots, stacked_roots, optimize=True)
        # every factor with every variance
        mass, inverse = np.outer(law.mass, mass).ravel(), np.tile(inverse, len(law.mass))
        factors, errors = (np.repeat(each, VARIANCES, axis=0) for each in (factors[:, classes], errors))
        means: FloatArray = np.broadcast_to(law.mean, (len(mass), len(law.mean)))
    elif isinstance(law, Empirical):  # templates, an estimated slope
        factors, means, errors = result.draws("sd_factor")[:, classes], law.numbers, np.zeros(1)
        inverse = population.draw(len(means), np.random.default_rng(result.seed))
        mass = np.full(len(means), 1 / len(means))
    else:
        raise TypeError("means over the words of a fit are known exactly or by draws")
    every = np.zeros((len(weights), len(classes)))
    every[:, list(places)] = weights
    errors = errors + population.of_sums(every, inverse, factors)
    return Estimates.of(NormalNodes(mass, means, errors), len(weights), given.index)


def _factor_nodes(grid: FactorGrid, classes: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """Nodes that stand for the posterior of some classes' factors: their posterior mass (N,), and values (N, A)."""
    # factors of different classes are independent: the nodes of several are all combinations of the nodes of each
    rules = [gauss_rule(np.log(grid.factor), grid.mass[kind], NODES) for kind in classes]
    places = np.indices([len(nodes) for nodes, _ in rules]).reshape(len(rules), -1)
    factors = np.exp([nodes[place] for (nodes, _), place in zip(rules, places, strict=True)]).T
    return np.prod([mass[place] for (_, mass), place in zip(rules, places, strict=True)], axis=0), factors


FEWEST_POINTS, POINTS = 250, 1000  # draws of the scales that stand for their posterior: fewest and most
NUMBERS = 2**22  # sums times points that are kept, as far as there are points enough


type CellMeans = tuple[CellTotals, FloatArray, FloatArray]
"""What cells that are independent given the means that they share need of the table; the mean of these at each point of
the scales, (N, n); and the root of their covariance, (N, n, n).
"""


def _crossed_cells(data: Distances, scales: Scales, prior: Normal) -> CellMeans | None:
    """Cells of a crossed model: connection means and effects of patterns are shared.

    In tables with holes in many places cells depend on each other given these.
    """
    sums = reduced(data, prior.mean, scales.interaction is not None)  # a fit of one group has left it out
    if isinstance(sums, HoledSums):
        return None
    return cell_totals(sums, data.filled.shape), *sums.beta_moments(scales, prior.sd)


def _independent_cells(data: Distances, scales: Scales, prior: Normal) -> CellMeans:
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
    return totals, centre / precision, np.eye(n.shape[1]) / np.sqrt(precision)[:, :, None]


def conditional_functionals(result: Fit, cells: Cells, weights: sparse.csr_array) -> Estimates | None:
    """Posterior of weighted sums (m, J * C) of cells that are normal given the scales; None where they are tied."""
    data, names = result.data, ("sigma", "connection_sd", "attribute_sd", "interaction_sd")
    drawn = {name: result.draws(name) for name in names if name in result.posterior}
    points = min(len(drawn["sigma"]), POINTS, max(FEWEST_POINTS, NUMBERS // max(1, weights.shape[0])))
    some = np.linspace(0, len(drawn["sigma"]) - 1, points).round().astype(np.intp)
    scales = variances_of(
        {name: value[some] for name, value in drawn.items()}, len(data.connections), len(data.attribute_classes)
    )
    prior = result.spec.priors["connection_mean"]
    means = (_crossed_cells if result.spec.crossed else _independent_cells)(data, scales, prior)
    if means is None:
        return None
    parts, (totals, centre, root) = by_connection(cells, weights), means
    law = _Conditional(parts, totals, scales, centre, root, prior.mean, np.full(points, 1 / points))
    return Estimates.of(law, parts.shape[0])


def cell_draws(values: FloatArray, cells: Cells, weights: sparse.csr_array) -> FloatArray:
    """Draws (D, m) of weighted sums of cells, from those (D, J, K) of the means of words under connections.

    Where a word has no distance its draws are NaN.
    """
    flat = np.nan_to_num(values.reshape(len(values), -1), nan=0.0)
    return np.ascontiguousarray((by_connection(cells, weights) @ flat.T).T)


def has_further_errors(result: Fit) -> bool:
    """True where a fit's means hold errors beyond the model's: of templates, or of an estimated slope."""
    return TEMPLATES in result.tree.children or "slope" in result.posterior


@dataclass(frozen=True)
class ErrorFields:
    """Errors of n mean distances, from components of protected words and fields of lists."""

    scaled: FloatArray  # loadings (words, Q) times the standard deviations of the components
    correlations: FloatArray  # of the lists in each component, (Q, lists, lists), positive semi-definite
    word: IntArray  # protected word and list of each mean, (n,)
    listed: IntArray
    factors: FloatArray  # (n,)

    @cached_property
    def _roots(self) -> FloatArray:
        return root_of(self.correlations)

    def covariance(self, weights: Matrix) -> FloatArray:
        """Covariance (m, m) of the errors of weighted sums (m, n); that of all means is never made."""
        roots, columns = self._roots, sparse.csc_array(weights, copy=True)
        columns.eliminate_zeros()
        total = np.zeros((weights.shape[0], *roots.shape[::2]))
        held = np.diff(columns.indptr) > 0
        for place in np.unique(self.listed[held]):
            rows = np.flatnonzero(held & (self.listed == place))
            entries = self.factors[rows], (np.arange(len(rows)), self.word[rows])
            by_word = sparse.csr_array(entries, shape=(len(rows), len(self.scaled)))
            total += ((columns[:, rows] @ by_word) @ self.scaled)[:, :, None] * roots[:, place]
        flat = total.reshape(len(total), -1)
        value: FloatArray = flat @ flat.T
        return value


@dataclass(frozen=True)
class CellErrors:
    """The cells (J * C) of a table, and what the errors of their means are made of.

    ``factors`` (C,) are those of the vectors' covariance, None for models without it; ``sources`` are roots (J * C,
    units) of independent parts of the covariance, with the names of the units.
    """

    data: Distances
    cells: Cells
    factors: FloatArray | None
    sources: tuple[tuple[sparse.csr_array, np.ndarray], ...] = ()
    templates: sparse.csr_array | None = None  # root (J * C, draws) of the errors that templates leave


def error_fields(
    errors: Sequence[CellErrors], columns: Sequence[IntArray], related: Relatedness, words: NDArray[np.str_]
) -> ErrorFields:
    """Errors of some columns of one or more tables, whose protected words are ``words`` of ``related``, in this order.

    Equal lists of several tables are one list.
    """
    places = {word: place for place, word in enumerate(related.attribute_words)}
    begins = np.cumsum([0, *(len(each.cells.n) for each in errors)])
    filled = np.zeros((begins[-1], max(len(each.cells.columns) for each in errors)), dtype=bool)
    rows = []
    for begin, each, some in zip(begins.tolist(), errors, columns, strict=False):
        cells, taken = each.cells, np.isin(each.cells.column, some)
        filled[begin : begin + len(cells.n), some] = cells.filled[:, some]
        place = np.array([places[word] for word in each.data.attribute_words.tolist()], dtype=np.intp)
        rows.append((begin + cells.word[taken], cells.column[taken], place[cells.attribute[taken]]))
    word, column, attribute = map(np.concatenate, zip(*rows, strict=True))
    number, member = attribute_sets(word, column, attribute, filled, len(places))
    same, shares = related.overlaps(member, related.attribute_words)
    parts = components_for(related, words)
    # every cell of each table, in the order of its means
    widths = np.repeat([len(each.cells.columns) for each in errors], np.diff(begins))
    own = np.repeat(np.arange(len(widths)), widths)
    factors = [np.tile(each.factors, len(each.cells.n)) for each in errors if each.factors is not None]
    return ErrorFields(
        scaled=parts.loadings * np.sqrt(parts.variances),
        correlations=list_correlations(parts.correlations, same, shares),
        word=own,
        listed=number[np.arange(number.shape[1]) < widths[:, None]],
        factors=np.concatenate(factors),
    )


def related_cell_errors(spec: ModelSpec, data: Distances) -> CellErrors:
    """Cells of a model of related words, which needs no draws."""
    cells = cells_of(data)
    # root mean squares: one factor for all embeddings, which therefore does not add to differences between them
    factors = np.sqrt(np.diag(factors_of(spec, related_sums(data)).products))
    return CellErrors(data, cells, factors[column_classes(data, cells)])


def cell_errors(result: Fit) -> CellErrors:
    """The cells of a fit's table, and the errors that attribute words like these, word x group, and residuals leave."""
    if result.spec.own:
        raise InputError("a second stage needs the covariance of errors, which draws of one's own model do not tell")
    if result.spec.related:
        return related_cell_errors(result.spec, result.data)
    posterior, data = result.posterior, result.data
    cells = cells_of(data)
    cell, shape = cells.word * len(cells.columns) + cells.column, cells.n.shape
    share, connection = 1 / cells.n[cells.word, cells.column], cells.stands_for[cells.word, cells.column]

    def root(units: IntArray, scales: FloatArray) -> sparse.csr_array:
        """(J * C, units): the share of each unit in a cell's mean, times the scale of the cell's connection."""
        values = share * scales[connection]
        return sparse.csr_array((values, (cell, units)), shape=(shape[0] * shape[1], int(units.max()) + 1))

    def scales(name: str) -> FloatArray:
        """Root mean square of a scale over the draws, for each connection."""
        by_class = "attribute_class" in posterior[name].dims
        drawn = result.by_connection(name) if by_class else posterior[name].to_numpy()
        return np.broadcast_to(np.sqrt((drawn**2).mean(axis=(0, 1))), (len(data.connections),))

    labels, sources = data.attribute_words, []
    if "attribute_sd" in posterior:
        sources.append((root(cells.attribute, scales("attribute_sd")), labels))
    if "interaction_sd" in posterior:
        units = cells.attribute * len(data.group_names) + data.group_index[cells.word]
        names = np.array([f"{w}\t{g}" for w in labels for g in data.group_names])
        sources.append((root(units, scales("interaction_sd")), names))
    names = np.array([f"{p}\t{w}" for p in data.protected_words for w in labels])
    sources.append((root(cells.word * len(labels) + cells.attribute, scales("sigma")), names))
    return CellErrors(data, cells, None, tuple(sources))
