"""Contrasts and associations before and after a change: their joint posterior."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayesbias._checks import one_of
from bayesbias._core.mixtures import opposite_signs
from bayesbias._core.vectors import FloatArray
from bayesbias.comparison.associations import DIFFERENCE, RAW, why_no_association
from bayesbias.comparison.matching import SAME, unchanged
from bayesbias.comparison.parts import decomposition_weights
from bayesbias.distances.covariances import Relatedness
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError
from bayesbias.models.cells import Cells, association_weights, cell_weights, difference_weights, whole_weights
from bayesbias.models.functionals import (
    DrawnFunctionals,
    Functionals,
    NormalFunctionals,
    drawn_functionals,
    related_functionals,
)
from bayesbias.models.spec import ModelSpec

ROWS = (RAW, DIFFERENCE)
MEANINGS = {
    RAW: "Rows of words are changes of associations: a word's own stereotypes against those of other groups, less how "
    "near each list is to all protected words.",
    DIFFERENCE: "Rows of words are changes of differences of two mean distances. They also hold how near the lists are "
    "to all protected words, before and after.",
}
"""What the rows of single words of a change are."""


@dataclass(frozen=True)
class Sums:
    """Weighted sums of the mean distances in one embedding: ``combine @ parts`` are their weights.

    Attributes
    ----------
    combine, parts
        Arrays (m, p) and (p, J * C) over the cells of one embedding.
    kept
        Which protected words (J,) have a row.
    kind
        One of :data:`ROWS`.
    """

    combine: sparse.csr_array
    parts: sparse.csr_array
    kept: NDArray[np.bool_]
    kind: str

    def of(self, cells: Cells) -> FloatArray:
        """Observed values (m,)."""
        value: FloatArray = self.combine @ (self.parts @ np.where(cells.filled, cells.mean, 0.0).ravel())
        return value


def row_sums(data: Distances, cells: Cells, first: str, second: str | None, rows: str | None = None) -> Sums:
    """A contrast, or the mean distance to one connection, of the whole list and then of each protected word."""
    if rows is not None:
        one_of(rows, ROWS, "rows")
    lacking = why_no_association(data, cells, first, second or "none")
    if rows == RAW and lacking:
        raise InputError(f"rows={rows!r}: {lacking}; rows='difference' gives differences of mean distances")
    if lacking or rows == DIFFERENCE:
        return _difference_sums(data, cells, [first] if second is None else [first, second])
    words = np.flatnonzero(cells.associated)
    weights = whole_weights(data, cells.associated)
    combine, parts = association_weights(cells, words, weights)
    return Sums(_with_whole(combine, weights[words]), parts, cells.associated, RAW)


def _difference_sums(data: Distances, cells: Cells, connections: list[str]) -> Sums:
    names = data.connections.tolist()
    places = [names.index(name) for name in connections]
    kept = cells.filled[:, places].all(axis=1)
    if not kept.any():  # of different words: their means, less each other
        means = [_mean_weights(data, cells, place) for place in places]
        both = sparse.csr_array(np.array([[1.0, -1.0]]))
        return Sums(both, sparse.csr_array(sparse.vstack(means)), kept, DIFFERENCE)
    words = np.flatnonzero(kept)
    columns = [np.full(len(words), place) for place in places]
    parts = (
        difference_weights(cells, words, *columns)
        if len(columns) == 2
        else cell_weights(np.arange(len(words)), words, columns[0], np.ones(len(words)), cells, len(words))
    )
    own = sparse.csr_array(sparse.eye_array(len(words)))
    return Sums(_with_whole(own, whole_weights(data, kept)[words]), parts, kept, DIFFERENCE)


def _mean_weights(data: Distances, cells: Cells, place: int) -> sparse.csr_array:
    """Weights (1, J * C) of the mean distance of the words that have a connection."""
    weights = whole_weights(data, cells.filled[:, place])
    words = np.flatnonzero(weights)
    return cell_weights(np.zeros_like(words), words, np.full(len(words), place), weights[words], cells, 1)


def _with_whole(combine: sparse.csr_array, weights: FloatArray) -> sparse.csr_array:
    """The weighted mean of rows, and below it the rows."""
    return sparse.csr_array(sparse.vstack([sparse.csr_array(weights[None]) @ combine, combine]))


def part_sums(data: Distances, cells: Cells, second: str) -> tuple[Sums, FloatArray]:
    """The four parts of every word, part by part, and the weights of the kept words in the whole list."""
    kept, weights, combine, parts = decomposition_weights(data, cells, second)
    return Sums(combine, parts, kept, RAW), weights[kept]


@dataclass(frozen=True)
class Sides:
    """Joint posterior of m quantities before a change, after it, and of their change.

    Attributes
    ----------
    joint
        2 m quantities: values before, and then their changes.
    observed_before, observed_after
        What the pairs show, (m,), in cosine distance.
    kept
        Which protected words (J,) have a row below that of the whole list.
    kind
        One of :data:`ROWS`.
    """

    joint: Functionals
    observed_before: FloatArray
    observed_after: FloatArray
    kept: NDArray[np.bool_]
    kind: str

    @property
    def size(self) -> int:
        """Number of quantities."""
        return len(self.observed_before)

    def _combined(self, before: float, change: float) -> Functionals:
        identity = sparse.eye_array(self.size)
        return self.joint.combined(sparse.csr_array(sparse.hstack([before * identity, change * identity])))

    @cached_property
    def before(self) -> Functionals:
        """Values before."""
        return self._combined(1.0, 0.0)

    @cached_property
    def after(self) -> Functionals:
        """Values after."""
        return self._combined(1.0, 1.0)

    @cached_property
    def change(self) -> Functionals:
        """Values after less values before."""
        return self._combined(0.0, 1.0)

    @cached_property
    def unchanged(self) -> NDArray[np.bool_]:
        """Which quantities changed by exactly 0."""
        same: NDArray[np.bool_] = (self.change.mean == 0) & (self.change.sd == 0)
        return same

    @cached_property
    def p_shrank(self) -> FloatArray:
        """Probability (m,) of a value nearer to 0 after than before."""
        # |after| < |before| where the change and the sum of the two have opposite signs
        return _p_opposite(self.change, self._combined(2.0, 1.0))

    @cached_property
    def p_reversed(self) -> FloatArray:
        """Probability (m,) of opposite signs before and after."""
        return np.where(self.unchanged, 0.0, _p_opposite(self.before, self.after))

    def draws(self, size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Joint draws (size, m) of the values before and of those after."""
        before, change = np.split(self.joint.draws(size, rng), 2, axis=1)
        return before, before + change

    def away_after(self, prob: float) -> NDArray[np.bool_]:
        """Which values after have an equal-tailed interval that excludes 0, (m,)."""
        tail = (1 - prob) / 2
        away: NDArray[np.bool_] = (self.after.quantile(tail) > 0) | (self.after.quantile(1 - tail) < 0)
        return away

    def unpaired(self, seed: Any) -> Functionals:
        """The change as if the errors of the two embeddings were independent."""
        before, after = self.before, self.after
        if isinstance(before, NormalFunctionals) and isinstance(after, NormalFunctionals):
            roots = tuple(np.hstack(each) for each in zip(after.roots, before.roots, strict=True))
            return replace(after, mean=self.change.mean, roots=roots)
        first, second = drawn(before), drawn(after)
        return DrawnFunctionals(second - np.random.default_rng(seed).permutation(first, axis=0))

    def standardised(self, spreads: tuple[float, float], centre: float) -> Sides:
        """Values less ``centre`` in units of a spread of each embedding; what is observed stays as it is."""
        before, after = spreads
        # of values before, and of their changes
        scale = np.array([[1 / before, 0.0], [1 / after - 1 / before, 1 / after]])
        joint = self.joint.combined(sparse.csr_array(sparse.kron(scale, sparse.eye_array(self.size))))
        return replace(self, joint=shifted(joint, np.repeat(-centre * scale @ [1.0, 0.0], self.size)))


def _p_opposite(first: Functionals, second: Functionals) -> FloatArray:
    """Probability (m,) that two quantities of one posterior have opposite signs."""
    if not isinstance(first, NormalFunctionals) or not isinstance(second, NormalFunctionals):
        shares: FloatArray = (drawn(first) * drawn(second) < 0).mean(axis=0)
        return shares
    weights = first.nodes[1]
    sds = first.mixture.sds, second.mixture.sds
    value: FloatArray = weights @ opposite_signs((first.mean, second.mean), sds, first.covariance(second))
    return value


def drawn(functionals: Functionals) -> FloatArray:
    """The draws (D, m) of functionals that are known by draws."""
    if not isinstance(functionals, DrawnFunctionals):
        raise TypeError("an exact posterior has no draws of its own")
    return functionals.values


def shifted(functionals: Functionals, by: FloatArray) -> Functionals:
    """The quantities plus known numbers (m,)."""
    if isinstance(functionals, NormalFunctionals):
        return replace(functionals, mean=functionals.mean + by)
    return DrawnFunctionals(drawn(functionals) + by)


def _linked(functionals: Functionals, sums: Sums) -> Functionals:
    """From the parts of values before and of changes, (2 p,), the quantities themselves, (2 m,)."""
    return functionals.combined(sparse.csr_array(sparse.block_diag([sums.combine, sums.combine])))


def stack(one: Distances, distances: FloatArray, related: Relatedness) -> Distances:
    """The pairs of all embeddings, as if each had protected words of its own.

    Parameters
    ----------
    one
        The pairs in one embedding.
    distances
        (pairs, embeddings).
    related
        Of the protected words of all embeddings, one embedding after another.
    """
    size, words = distances.shape[1], len(one.protected_words)
    return replace(
        one,
        protected_words=np.array(related.protected_words),
        groups=np.tile(one.groups, size),
        word=np.concatenate([one.word + words * place for place in range(size)]),
        connection=np.tile(one.connection, size),
        attribute=np.tile(one.attribute, size),
        attribute_class=np.tile(one.attribute_class, size),
        y=distances.T.ravel(),
        relatedness=related,
    )


@dataclass(frozen=True)
class Stacked:
    """What the exact posterior of all embeddings rests on: the model, the pairs of all embeddings, and their cells."""

    spec: ModelSpec
    every: Distances
    cells: Cells

    def joint(self, sums: Sums, pair: tuple[int, int], known: FloatArray) -> Functionals:
        """Posterior of some sums before and of their change.

        Parameters
        ----------
        sums
            Over the cells of one embedding.
        pair
            Places of the two embeddings.
        known
            Changes (J, C) of cells that are known exactly, NaN elsewhere.
        """
        free = np.isnan(known).ravel()
        moving = sums.parts @ sparse.diags_array(free.astype(float))
        before, after = pair
        weights = [self._of(sums.parts, before), self._of(moving, after) - self._of(moving, before)]
        functionals = related_functionals(self.spec, self.every, self.cells, sparse.csr_array(sparse.vstack(weights)))
        offset = sums.parts @ np.nan_to_num(known).ravel()
        return _linked(shifted(functionals, np.concatenate([np.zeros(len(offset)), offset])), sums)

    def _of(self, parts: sparse.csr_array, embedding: int) -> sparse.csr_array:
        """Weights of one embedding's cells among those of all."""
        total = sparse.coo_array(parts)
        shape = (parts.shape[0], self.cells.n.size)
        return sparse.csr_array((total.data, (total.row, total.col + embedding * parts.shape[1])), shape=shape)


def drawn_joint(
    cells: Cells, sums: Sums, words: tuple[FloatArray, FloatArray], whole: tuple[FloatArray, FloatArray] | None
) -> Functionals:
    """The same from draws.

    Parameters
    ----------
    cells, sums
        Of one embedding.
    words
        Draws (D, J, K) of the means of words before, and of their changes.
    whole
        Draws (D,) of the whole list, where it speaks about further words too; None takes the mean of the rows.
    """
    both = [drawn_functionals(values, cells, sums.parts).combined(sums.combine).values for values in words]
    if whole is not None:
        for values, own in zip(both, whole, strict=True):
            values[:, 0] = own
    return DrawnFunctionals(np.hstack(both))


def fixed_values(data: Distances, values: FloatArray) -> dict[int, float]:
    """Connections whose values (pairs,) are all the same up to rounding, with that value.

    One attribute word alone shows nothing about others, unless no value of the table is other than 0.
    """
    nothing = bool((np.abs(values) <= SAME).all())
    fixed = {}
    for k in range(len(data.connections)):
        rows = data.connection == k
        if nothing or len(np.unique(data.attribute[rows])) > 1:
            fixed[k] = unchanged(values, rows)
    return {k: value for k, value in fixed.items() if value is not None}


def known_changes(data: Distances, cells: Cells, fixed: Mapping[int, float]) -> FloatArray:
    """Changes (J, C) of cells all of whose distances belong to connections that moved as one; NaN elsewhere."""
    by_connection = np.full(len(data.connections), np.nan)
    by_connection[list(fixed)] = list(fixed.values())
    connection = np.full((len(data.protected_words), len(data.attribute_words)), -1)
    connection[data.word, data.attribute] = data.connection
    value = by_connection[connection[cells.word, cells.attribute]]
    place = cells.word * len(cells.columns) + cells.column
    total = np.bincount(place, value, minlength=cells.n.size).reshape(cells.n.shape)
    change: FloatArray = np.divide(total, cells.n, out=np.full(cells.n.shape, np.nan), where=cells.filled)
    return change
