"""Templates of sentences as a second error of places on an axis."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import f as variance_ratio

from bayesbias._core.offsets import CONCENTRATIONS, SAME
from bayesbias._core.related import sample_pairs, similarity_bins, variograms
from bayesbias._core.vectors import FloatArray, IntArray, unit_rows
from bayesbias.contextual import ContextVectors
from bayesbias.errors import InputError

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

ROUNDING = 1e-14
"""Variance of places over templates, in squared cosine distance, that is rounding of single precision."""


@dataclass(frozen=True, eq=False)
class Scatter:
    """How the places of words vary over templates."""

    places: FloatArray  # what each template changes in them, (T, words); sums over templates are 0
    apart: FloatArray  # unit vectors (words, d) of the words less the mean
    size: float  # mean variance over templates of the places of the vocabulary, in squared cosine distance
    curve: FloatArray  # correlation over templates of the places of two words by their similarity, (BINS,)
    share: float  # how far covariances are moderated: the share of those that size and curve give, from 0 to 1

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the moderated variances."""
        return (len(self.places) - 1) / (1 - self.share)

    @property
    def _shares(self) -> tuple[float, float]:
        """Weights of squared changes, and of the variance over the vocabulary, in the variance of a mean."""
        count = len(self.places)
        return (1 - self.share) / max(count - 1, 1) / count, self.share * self.size / count

    def rows(self, rows: IntArray) -> Scatter:
        """That of some of the words."""
        return replace(self, places=self.places[:, rows], apart=self.apart[rows])

    def beside(self, other: Scatter) -> Scatter:
        """That of the words of both."""
        return replace(self, places=np.hstack([self.places, other.places]), apart=np.vstack([self.apart, other.apart]))

    def variances(self) -> FloatArray:
        """Variances (words,) of means over templates."""
        own, usual = self._shares
        result: FloatArray = own * (self.places**2).sum(axis=0) + usual
        return result

    def of_steps(self) -> FloatArray:
        """Variances (words - 1,) of the difference of each word's mean from that of the word before it."""
        own, usual = self._shares
        kernel = self._kernel((self.apart[1:] * self.apart[:-1]).sum(axis=1))
        result: FloatArray = own * (np.diff(self.places, axis=1) ** 2).sum(axis=0) + usual * 2 * (1 - kernel)
        return result

    def covariance(self) -> FloatArray:
        """Covariance (words, words) of means over templates."""
        own, usual = self._shares
        kernel = self._kernel(self.apart @ self.apart.T)
        np.fill_diagonal(kernel, 1.0)
        result: FloatArray = own * self.places.T @ self.places + usual * kernel
        return result

    def _kernel(self, similarity: FloatArray) -> FloatArray:
        return np.where(similarity > SAME, 1.0, self.curve[similarity_bins(similarity)])


@dataclass(frozen=True, eq=False)
class TemplateErrors:
    """What the templates of sentences change in words, in the poles and in the base of an axis.

    A word has the vector m / |m| with m the mean over templates of its vectors of length 1. To first order, a template
    changes it by what its own vector differs from m, less the part along m, over |m|.
    """

    turns: FloatArray  # changes of the vectors of all words of the embedding, (T, N, d)
    offset: FloatArray  # the mean offset (d,), and its changes (T, d)
    offsets: FloatArray
    base: FloatArray  # coefficients (m, d) of what vectors are taken less, and their changes (T, m, d)
    bases: FloatArray
    whole: Scatter  # of the vocabulary
    placed: Scatter  # of the words placed

    def with_rows(self, rows: IntArray, units: FloatArray, design: FloatArray) -> TemplateErrors:
        """That of other words: their rows of the embedding, unit vectors (n, d) and design (n, m)."""
        return replace(self, placed=replace(self.whole, **self._places(rows, units, design)))

    def of(self, rows: IntArray) -> TemplateErrors:
        """That of some of the words placed."""
        return replace(self, placed=self.placed.rows(rows))

    def _places(self, rows: IntArray, units: FloatArray, design: FloatArray) -> dict[str, Any]:
        turned = np.stack([turn[rows] @ self.offset for turn in self.turns]) - self.bases @ self.offset @ design.T
        apart = units - design @ self.base
        return {"places": turned + self.offsets @ apart.T, "apart": unit_rows(apart)}


def noted(count: int) -> str:
    """What is said of so many templates."""
    if count == 1:
        return (
            "There is one template: what others would change in places is not known, and not in the intervals. Give "
            "more templates to encode."
        )
    return f"Places are means over {count} templates, whose scatter is in the intervals."


def turns_of(vectors: ContextVectors, kv: KeyedVectors) -> FloatArray:
    """What templates change in the mean unit vectors of an embedding that these vectors average to, (T, N, d)."""
    place = {word: row for row, word in enumerate(vectors.words)}
    units = vectors.units()[[place[word] for word in kv.index_to_key]].astype(float)
    mean = units.mean(axis=1, keepdims=True)
    length = np.linalg.norm(mean, axis=2, keepdims=True)
    mean = mean / length
    apart = units / length - mean
    apart -= (apart * mean).sum(axis=2, keepdims=True) * mean
    # what is along the mean is gone, but for rounding, and so is the sum over templates
    result: FloatArray = np.moveaxis(apart - apart.mean(axis=1, keepdims=True), 1, 0)
    return result


def template_errors(
    turns: FloatArray,
    offset: FloatArray,
    offsets: FloatArray,
    base: FloatArray,
    bases: FloatArray,
    vocabulary: tuple[IntArray, FloatArray, FloatArray],
    seed: int,
) -> TemplateErrors:
    """The errors that templates are to an axis; the parameters are those of :class:`TemplateErrors`.

    Few templates tell little of the variance of one place. It is moderated towards the mean over the vocabulary, as far
    as variances are equal (Smyth 2004, https://doi.org/10.2202/1544-6115.1027), and covariances towards those that the
    similarity of words gives. ``vocabulary`` are rows, unit vectors and the design of its words.
    """
    count = len(turns)
    bare = Scatter(np.empty((count, 0)), np.empty((0, len(offset))), 0.0, np.zeros(1), 0.0)
    errors = TemplateErrors(turns, offset, offsets, base, bases, bare, bare)
    whole = replace(bare, **errors._places(*vocabulary))
    squares = (whole.places**2).sum(axis=0) / max(count - 1, 1)
    size, pairs = float(squares.mean()), sample_pairs(whole.apart, np.random.default_rng([seed, 1]))
    if count == 1 or size < ROUNDING:
        return replace(
            errors,
            turns=np.zeros_like(turns),
            offsets=np.zeros_like(offsets),
            bases=np.zeros_like(bases),
            whole=replace(bare, curve=np.zeros(len(pairs.counts))),
        )
    log = np.sum(variance_ratio.logpdf(squares[:, None] / size, count - 1, CONCENTRATIONS), axis=0)
    mass = np.exp(log - log.max())
    share = float((mass / mass.sum()) @ (CONCENTRATIONS / (CONCENTRATIONS + count - 1)))
    fields = whole.places - whole.places.mean(axis=1, keepdims=True)
    fields = fields[fields.var(axis=1) > 0]
    variances = fields.var(axis=1)
    curve = variances @ variograms(fields / np.sqrt(variances)[:, None], pairs) / variances.sum()
    return replace(errors, whole=replace(whole, size=size, curve=curve, share=share))


def whole_templates(vectors: ContextVectors) -> ContextVectors:
    """The words that suit all templates; sentences of a corpus are refused."""
    if vectors.nested:
        raise InputError(
            "the vectors are those of sentences of a corpus, whose choice an axis does not know as an error: give "
            "bb.axis(vectors.mean_vectors(), ...), which takes the sentences as they are, or vectors of templates"
        )
    return vectors.whole()


def refuse_templates(errors: TemplateErrors | None, what: str) -> None:
    """Refuse an axis of words in sentences where the choice of templates would be lost."""
    if errors is not None:
        raise InputError(
            f"{what} does not know the choice of templates as an error: give bb.axis(vectors.mean_vectors(), ...) of "
            "what encode returned, which takes the templates as they are"
        )
