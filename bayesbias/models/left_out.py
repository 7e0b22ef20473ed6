"""Moments of the connection means of related words without any single word: what these share is computed once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayesbias._core.related import Components, PairCounts
from bayesbias._core.vectors import FloatArray, IntArray
from bayesbias.distances.distances import Distances
from bayesbias.models.cells import word_weights
from bayesbias.models.moments import Moments
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
from bayesbias.words import OWN


@dataclass(frozen=True)
class RelatedTable:
    """A table of related words, of which a word can be left out.

    Attributes
    ----------
    spec, data
        The model and the table, each pair once.
    lists
        The attribute words of its cells.
    parts
        Components of its protected words.
    pairs
        Pairs of attribute words of each two lists.
    shares
        Share (W, R) of each form in an attribute word, where words have several.
    """

    spec: ModelSpec
    data: Distances
    lists: CellLists
    parts: Components
    pairs: PairCounts
    shares: FloatArray | None

    @classmethod
    def of(cls, spec: ModelSpec, data: Distances) -> RelatedTable:
        """What the moments without any word share."""
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
        data, parts = self.data, self.parts
        counted = counted_connections(data)[lists.connection]
        kind, size = data.connection_class, len(data.connection_classes)
        squares = ssd[lists.word, lists.connection][counted]
        observed = np.bincount(kind[lists.connection[counted]], squares, size)
        fields = fields_of(data, parts, lists, pairs.shares(), observed)
        weights = self._weights(lists)
        value = weights[lists.word, lists.connection]
        cells = value * mean[lists.word, lists.connection]
        connections = len(data.connections)
        # the weighted fields of the lists under each connection
        own = lists.connection * len(lists.member) + lists.listed
        by_list = sparse.csr_array((value, (own, lists.word)), (connections * len(lists.member), len(parts.loadings)))
        loaded = (by_list @ (parts.loadings * np.sqrt(parts.variances))).reshape(connections, len(lists.member), -1)
        loaded = loaded.transpose(2, 0, 1)
        covariance = (loaded @ fields.correlations @ loaded.transpose(0, 2, 1)).sum(axis=0)
        products = factors_of(self.spec, fields).products
        return np.bincount(lists.connection, cells, connections), covariance * products[np.ix_(kind, kind)]

    def _weights(self, lists: CellLists) -> FloatArray:
        """Weight (J, K) of each protected word in the mean of each connection; groups weigh the same."""
        data = self.data
        filled = np.zeros((len(data.protected_words), len(data.connections)), dtype=bool)
        filled[lists.word, lists.connection] = True
        groups = data.groups.tolist()
        own = filled[:, data.connections == OWN].any(axis=1)
        listed = [name for name in np.unique(data.groups[own]).tolist() if name]
        return np.column_stack([word_weights(groups, column, listed) for column in filled.T])
