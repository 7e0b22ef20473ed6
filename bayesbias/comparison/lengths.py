"""The posterior sd of a contrast from the lengths of lists of related words: longer by alike or by unrelated words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from bayesbias._core.cells import IntArray
from bayesbias._core.cosine import FloatArray
from bayesbias._core.related import factor_points
from bayesbias._core.variogram import positive
from bayesbias.comparison.designs import PlannedSize
from bayesbias.diagnostics.clustering import lists_of
from bayesbias.errors import InputError
from bayesbias.models.data import ATTRIBUTE_CLASSES, ModelData
from bayesbias.models.related import RelatedPosterior, components_for, relatedness_for


@dataclass(frozen=True)
class RelatedDesign:
    """Attribute lists behind a contrast of given protected words; Q components, L lists.

    Attributes
    ----------
    words
        Words of each list, (L,).
    stereotype, contrasted
        Whether a list is a stereotype's, and whether it stands in the contrast, (L,).
    kind
        Attribute class of each list among those of the connections, (L,).
    protected
        Number of protected words.
    weights
        Weight of each list in each component, in cosine distance, (Q, L).
    alike
        Mean correlation of different words of one list, (Q, L).
    across
        Mean correlation of the words of two lists, (Q, L, L).
    unrelated
        Mean correlation of two words of the vocabulary, (Q,).
    """

    words: IntArray
    stereotype: NDArray[np.bool_]
    contrasted: NDArray[np.bool_]
    kind: IntArray
    protected: int
    weights: FloatArray
    alike: FloatArray
    across: FloatArray
    unrelated: FloatArray

    def sizes(self, lengths: FloatArray) -> tuple[int, int, int]:
        """Stereotype words, control words of the contrast, and protected words, with lists of these lengths."""
        own, control = self.stereotype, ~self.stereotype & self.contrasted
        return int(lengths[own].sum()), int(lengths[control].sum()), self.protected

    def variance(self, lengths: FloatArray, alike: bool) -> FloatArray:
        """Variance of the contrast for factors of 1, by the attribute classes of two lists, (A, A).

        Lists are longer by alike words, or by further unrelated topics.
        """
        times = lengths / self.words
        if alike:
            own, across = self.alike * (1 - 1 / lengths) + 1 / lengths, self.across
        else:
            topics = np.maximum(times, 1.0)
            share = 1 / np.maximum(topics[:, None], topics)
            short = np.minimum(lengths, self.words)
            first = self.alike * (1 - 1 / short) + 1 / short
            own = first / topics + (1 - 1 / topics) * self.unrelated[:, None]
            across = self.across * share + (1 - share) * self.unrelated[:, None, None]
        correlations = across.copy()
        places = np.arange(len(lengths))
        correlations[:, places, places] = own
        weights = self.weights[:, :, None] * (self.kind[:, None] == np.arange(self.kind.max() + 1))
        value: FloatArray = np.einsum("qla,qlm,qmb->ab", weights, positive(correlations), weights, optimize=True)
        return value


@dataclass(frozen=True)
class RelatedQuestion:
    """What is asked of each design: effect and interval, with equally probable points of the factors, (M, A)."""

    effect: float
    prob: float
    factors: FloatArray

    def answer(self, design: RelatedDesign, lengths: FloatArray, alike: bool) -> PlannedSize:
        """Width and power of lists of these lengths."""
        variance = np.einsum("ma,ab,mb->m", self.factors, design.variance(lengths, alike), self.factors)
        sd, z = np.sqrt(np.maximum(variance, 0.0)), ndtri((1 + self.prob) / 2)
        with np.errstate(divide="ignore"):
            seen = ndtr(abs(self.effect) / sd - z) + ndtr(-abs(self.effect) / sd - z)
        return PlannedSize(*design.sizes(lengths), width=float(2 * z * sd.mean()), power=float(seen.mean()))


def related_design(data: ModelData, first: str, second: str) -> RelatedDesign:
    """The lists behind a contrast of a table that knows how its words are related."""
    found = relatedness_for(data)
    parts = components_for(found, data.protected_words)
    of_word, names = lists_of(data)
    member = of_word == np.arange(len(names))[:, None]
    share = _shares(data, member, first) - _shares(data, member, second)
    both = ~np.isnan(share).any(axis=1)
    if not both.any():
        raise InputError(f"no protected word has distances under both {first} and {second}")
    coefficients = np.where(both[:, None], np.nan_to_num(share), 0.0) / both.sum()
    same, shares = found.overlaps(member, data.attribute_words.tolist())
    across = np.moveaxis(shares @ parts.correlations.T + same[:, :, None], 2, 0)
    different = np.diagonal(shares, axis1=0, axis2=1).T
    counted = different.sum(axis=1)
    within = np.divide(different, counted[:, None], out=np.zeros_like(different), where=counted[:, None] > 0)
    typical = parts.correlations @ found.pairs.counts / found.pairs.counts.sum()
    class_of = np.array([data.class_of_attribute[row].min() for row in member])
    return RelatedDesign(
        words=member.sum(axis=1),
        stereotype=class_of == 0,
        contrasted=(np.abs(coefficients) > 0).any(axis=0),
        kind=np.array([data.connection_classes.index(ATTRIBUTE_CLASSES[at]) for at in class_of]),
        protected=len(data.protected_words),
        weights=(parts.loadings * np.sqrt(parts.variances)).T @ coefficients,
        alike=np.where(counted > 0, parts.correlations @ within.T, typical[:, None]),
        across=across,
        unrelated=typical,
    )


def _shares(data: ModelData, member: NDArray[np.bool_], connection: str) -> FloatArray:
    """Share of each list in each protected word's distances of a connection, (J, L); NaN without any."""
    rows = data.connection == data.connections.tolist().index(connection)
    counts = np.zeros((len(data.protected_words), len(member)))
    np.add.at(counts, (data.word[rows], np.argmax(member[:, data.attribute[rows]], axis=0)), 1.0)
    total = counts.sum(axis=1, keepdims=True)
    return np.where(total > 0, counts / np.maximum(total, 1), np.nan)


def related_question(found: RelatedPosterior, effect: float, prob: float) -> RelatedQuestion:
    """The question with the posteriors of a table's own factors."""
    return RelatedQuestion(effect, prob, factor_points(found.grid, range(len(found.grid.mass))))
