"""Designs: word lists of given lengths, and what a fit of such lists would say of a contrast."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from bayesbias._core.marginal import Scales
from bayesbias._core.related import positive
from bayesbias._core.vectors import FloatArray, IntArray
from bayesbias.checks.summaries import attribute_lists
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError
from bayesbias.models.cells import whole_weights
from bayesbias.models.related import components_for, relatedness_for

MOST_UNKNOWNS = 200
"""Mean effects of lists beyond which the matrices of a design are too large."""


@dataclass(frozen=True)
class PlannedSize:
    """Lengths of word lists, and what an interval on them is like.

    Attributes
    ----------
    stereotype_words, control_words, protected_words
        Numbers of distinct words; control words are those of the lists in the contrast.
    width
        Mean width of the contrast's equal-tailed interval, in cosine distance.
    power
        Probability that the interval excludes 0 if the contrast is as large as was asked.
    """

    stereotype_words: int
    control_words: int
    protected_words: int
    width: float
    power: float


@dataclass(frozen=True)
class Design:
    """Word lists as the model sees them: P lists of attribute words by S sets of protected words.

    The words of a list stand in the same relation to every set, and so do the words of a set to every list.

    Attributes
    ----------
    connections
        Names of the connections.
    words, classes
        (P,): attribute words of each list, and their class as in ``Distances.class_of_attribute``.
    class_index
        (P,): place of that class among those of the table.
    protected, group
        (S,): protected words of each set, and their group.
    connection
        (S, P): how a set stands to a list; -1 where they never meet.
    contrasted
        (P,): whether a list stands in the contrast.
    """

    connections: tuple[str, ...]
    words: IntArray
    classes: IntArray
    class_index: IntArray
    protected: IntArray
    group: IntArray
    connection: IntArray
    contrasted: NDArray[np.bool_]

    @property
    def stereotype(self) -> NDArray[np.bool_]:
        """(P,): whether a list is a stereotype's."""
        own: NDArray[np.bool_] = self.classes == 0
        return own

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Stereotype words, control words of the contrast, and protected words."""
        own = self.stereotype
        return int(self.words[own].sum()), int(self.words[~own & self.contrasted].sum()), int(self.protected.sum())


@dataclass(frozen=True)
class Question:
    """What is asked of each design: places of the two connections, effect, interval; and the scales to answer by."""

    first: int
    second: int
    effect: float
    prob: float
    scales: Scales
    mean_sd: float

    def answer(self, design: Design) -> PlannedSize:
        """Width and power of a design."""
        sd, z = contrast_sd(design, self), ndtri((1 + self.prob) / 2)
        seen = ndtr(abs(self.effect) / sd - z) + ndtr(-abs(self.effect) / sd - z)
        return PlannedSize(*design.sizes, width=float(2 * z * sd.mean()), power=float(seen.mean()))


def contrast_sd(design: Design, question: Question) -> FloatArray:
    """Posterior sd (B,) of a contrast of connection means given scales at B points, from the design alone.

    The Gaussian of :func:`bayesbias._core.marginal.mean_part`, whose precision is linear in (i, e) of each connection
    and set: i = 1 / sigma^2 and e = i / (1 + s^2 i n) for n attribute words.
    """
    scales, k = question.scales, len(design.connections)
    effects, prior = _effects(design, scales)
    size = k + len(effects)
    features, total, connection = [], [], []
    for i, met in enumerate(design.connection):
        for own in np.unique(met[met >= 0]):
            words = np.where(met == own, design.words, 0.0)
            touched = (words > 0)[effects[:, 0]] & np.isin(effects[:, 1], (-1, design.group[i]))
            x = np.zeros((len(words), size))
            x[effects[touched, 0], k + np.flatnonzero(touched)] = 1
            mean, n = words @ x / words.sum(), words.sum()
            apart = x.T @ (words[:, None] * x) - n * np.outer(mean, mean)
            mean[own] = 1
            features.append(design.protected[i] * np.stack([apart, n * np.outer(mean, mean)]))
            total.append(n)
            connection.append(own)
    inverse = 1 / scales.sigma2[:, connection]
    grown = 1 + scales.s2[:, connection] * inverse * np.array(total)
    weights = np.hstack([inverse, inverse / grown])
    normal = weights @ np.stack(features, axis=1).reshape(-1, size * size)
    sd = np.hstack([np.full((len(prior), k), question.mean_sd), np.sqrt(prior)])
    precision = normal.reshape(-1, size, size) * sd[:, :, None] * sd[:, None, :]
    precision[:, np.arange(size), np.arange(size)] += 1
    contrast = np.zeros((len(sd), size, 1))
    contrast[:, question.first, 0], contrast[:, question.second, 0] = question.mean_sd, -question.mean_sd
    variance: FloatArray = (contrast * np.linalg.solve(precision, contrast)).sum(axis=(1, 2))
    return np.sqrt(variance)


def _effects(design: Design, scales: Scales) -> tuple[IntArray, FloatArray]:
    """Mean effects of lists, (E, 2): list, and group or -1; and their prior variances (B, E)."""
    pairs = [(i, -1) for i in range(len(design.words))]
    if scales.interaction is not None:
        met = [set(design.group[column >= 0].tolist()) for column in design.connection.T]
        pairs += [(i, group) for i, groups in enumerate(met) for group in sorted(groups)]
    effects = np.array(pairs)
    variance = scales.attribute[:, design.class_index[effects[:, 0]]]
    if scales.interaction is not None:
        variance = np.where(effects[:, 1] < 0, variance, scales.interaction[:, None])
    return effects, variance / design.words[effects[:, 0]]


def design_of(data: Distances, first: str, second: str) -> Design:
    """The lists and sets of a table, for a contrast; a pair that is missing stands as the others of its group do."""
    groups = data.group_index
    stands = np.full((len(data.protected_words), len(data.attribute_words)), -1)
    stands[data.word, data.attribute] = data.connection
    for group in np.unique(groups):
        own = stands[groups == group]
        highest, lowest = own.max(axis=0), np.where(own < 0, len(data.connections), own).min(axis=0)
        stands[groups == group] = np.where((own < 0) & (highest == lowest), highest, own)
    sets, protected = np.unique(np.column_stack([groups, stands]), axis=0, return_counts=True)
    kinds = np.vstack([data.class_of_attribute, data.class_index, sets[:, 1:]])
    lists, words = np.unique(kinds, axis=1, return_counts=True)
    names = tuple(data.connections.tolist())
    contrasted = np.isin(lists[2:], [names.index(first), names.index(second)]).any(axis=0)
    design = Design(names, words, lists[0], lists[1], protected, sets[:, 0], lists[2:], contrasted)
    if len(words) * (1 + len(np.unique(design.group))) > MOST_UNKNOWNS:
        raise InputError(
            f"the missing pairs leave {len(words)} kinds of attribute words: give the table a column 'group', so that "
            "a missing pair can be told from its group, or plan from the word lists"
        )
    return design


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

        Lists are longer by similar words, or by further unrelated topics.
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


def related_design(data: Distances, first: str, second: str) -> RelatedDesign:
    """The lists behind a contrast of a table that knows how its words are related."""
    relatedness = relatedness_for(data)
    parts = components_for(relatedness, data.protected_words)
    of_word, names = attribute_lists(data)
    member = of_word == np.arange(len(names))[:, None]
    share = _shares(data, member, first) - _shares(data, member, second)
    both = ~np.isnan(share).any(axis=1)
    if not both.any():
        raise InputError(f"no protected word has distances under both {first} and {second}")
    coefficients = np.nan_to_num(share) * whole_weights(data, both)[:, None]
    same, shares = relatedness.overlaps(member, data.attribute_words.tolist())
    across = np.moveaxis(shares @ parts.correlations.T + same[:, :, None], 2, 0)
    different = np.diagonal(shares, axis1=0, axis2=1).T
    counted = different.sum(axis=1)
    within = np.divide(different, counted[:, None], out=np.zeros_like(different), where=counted[:, None] > 0)
    typical = parts.correlations @ relatedness.pairs.counts / relatedness.pairs.counts.sum()
    class_of = np.array([data.class_of_attribute[row].min() for row in member])
    return RelatedDesign(
        words=member.sum(axis=1),
        stereotype=class_of == 0,
        contrasted=(np.abs(coefficients) > 0).any(axis=0),
        kind=np.array([data.connection_classes.index(data.classes[i]) for i in class_of]),
        protected=len(data.protected_words),
        weights=(parts.loadings * np.sqrt(parts.variances)).T @ coefficients,
        alike=np.where(counted > 0, parts.correlations @ within.T, typical[:, None]),
        across=across,
        unrelated=typical,
    )


def _shares(data: Distances, member: NDArray[np.bool_], connection: str) -> FloatArray:
    """Share of each list in each protected word's distances of a connection, (J, L); NaN without any."""
    rows = data.connection == data.connections.tolist().index(connection)
    counts = np.zeros((len(data.protected_words), len(member)))
    np.add.at(counts, (data.word[rows], np.argmax(member[:, data.attribute[rows]], axis=0)), 1.0)
    total = counts.sum(axis=1, keepdims=True)
    return np.where(total > 0, counts / np.maximum(total, 1), np.nan)
