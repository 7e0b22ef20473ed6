"""Parts of an axis: the words at its ends, those that places are centred on, and templates of sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.errors import InputError, listed
from bayesbias.numerics.arrays import NOTHING, SAME, FloatArray, IntArray, beyond_rounding, equal_rows, unit_rows
from bayesbias.numerics.constants import FREQUENT, SAMPLE
from bayesbias.numerics.offsets import MeanOffset, Strata, moderation
from bayesbias.numerics.related import sample_pairs, similarity_bins, variograms
from bayesbias.results import Cited, Note
from bayesbias.vectors import Case, about, composed_notes, find_words, rows_of
from bayesbias.vectors.contextual import ContextVectors
from bayesbias.vectors.lookup import (
    first_keys,
    in_order,
    left_out,
    lost_of,
    sample_of,
    sampled_rows,
)
from bayesbias.vectors.poles import Poles

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

LEAST_SAMPLE = 100
"""Words of the vocabulary without which an axis has no errors."""
OUT = LACKS, FLAT, DOUBLED = "a word is missing", "both words have one vector", "the vectors of an earlier pair"
"""Reasons for which pairs are left out."""


@dataclass(frozen=True)
class FoundPoles:
    """The poles as an embedding holds them."""

    poles: Poles  # what was asked for, of which these are left
    pairs: tuple[tuple[str, str], ...]
    lists: tuple[tuple[str, tuple[str, ...]], ...]
    strata: Strata  # unit vectors of the words at the poles, and their weights
    keys: tuple[str, ...]  # under which the embedding holds them
    notes: tuple[Note, ...]

    @property
    def keys_at_poles(self) -> tuple[str, ...]:
        """Those of the keys whose vectors make the axis: not words of pairs of which the embedding lacks the other."""
        vectors = self.strata.vectors
        used = np.any([member.any(axis=0) for member in self.strata.members], axis=0)
        near = equal_rows(vectors, vectors[used]).any(axis=1)  # of words with one vector, one is used
        return tuple(key for key, is_near in zip(self.keys, near, strict=True) if is_near)

    @property
    def ends(self) -> tuple[str, str]:
        """Names of the negative and the positive pole: that of a list, or the word of the first pair that is left."""
        return self.pairs[0] if self.pairs else self.poles.ends

    @property
    def name(self) -> str:
        """That of the axis; one that was made of its ends is made of those that are left."""
        return " to ".join(self.ends) if self.poles.name == " to ".join(self.poles.ends) else self.poles.name

    def sources(self) -> list[Cited]:
        """The bundled pairs or lists."""
        kind, known = "axis" if self.pairs else "word list", self.poles
        return [Cited(f"{kind} {known.name}", known.source, known.doi)] if known.source else []


def find_poles(kv: KeyedVectors, poles: Poles, case: Case | None = None) -> FoundPoles:
    """Look the words of an axis up; pairs with a word that is missing are left out and named."""
    every = list(dict.fromkeys(poles.words))
    keys = find_words(kv, every, case or "as-is").keys
    empty = [f"pole {name!r}" for name, words in poles.lists if not keys.keys() & set(words)]
    if empty or not keys:
        where = f"no word of the {empty[0] if empty else f'axis {poles.name}'} is in {about(kv)['name']}"
        raise InputError(f"{where}: it asks for {listed(every)}; {first_keys(kv, every, case)}")
    sides = zip(*poles.pairs, strict=True) if poles.pairs else (words for _, words in poles.lists)
    below, above = ({keys.get(word, word) for word in side} for side in sides)
    if both := sorted(below & above):
        raise InputError(f"{listed(both)} at both poles of the axis {poles.name}: a word belongs to one")
    places = {key: i for i, key in enumerate(dict.fromkeys(keys.values()))}
    vectors = unit_rows(np.asarray(kv.vectors[rows_of(kv, places)], dtype=float))
    row_of = {word: places[key] for word, key in keys.items()}
    lost = lost_of("pole", dict(poles.lists) or {poles.name: poles.words}, keys)
    if not lost and not poles.pairs:
        missing = [word for word in every if word not in keys]
        lost = left_out(len(missing), len(poles.words), "pole words", "missing", missing)
    found = (_found_pairs if poles.pairs else _found_lists)(poles, row_of, vectors)
    notes = (*lost, *composed_notes(kv, keys), *found.notes)
    return replace(found, keys=tuple(places), notes=notes)


def _found_pairs(poles: Poles, row_of: Mapping[str, int], vectors: np.ndarray) -> FoundPoles:
    kept, rows = [], []
    out: dict[str, list[str]] = {name: [] for name in OUT}
    first = equal_rows(vectors, vectors).argmax(axis=1)  # of words with one vector, the first
    for low, high in poles.pairs:
        places = [first[row_of[word]] for word in (low, high) if word in row_of]
        reason = LACKS if len(places) < 2 else FLAT if places[0] == places[1] else DOUBLED if places in rows else ""
        if reason:
            out[reason].append(f"{low}/{high}")
        else:
            kept.append((low, high))
            rows.append(places)
    asked = len(poles.pairs)
    if not kept:
        why = "the two words of each have one vector" if out[FLAT] else f"each lacks a word ({listed(out[LACKS])})"
        raise InputError(f"no pair of the axis {poles.name} is left of {asked}: {why}")
    notes = [note for reason, pairs in out.items() for note in left_out(len(pairs), asked, "pairs", reason, pairs)]
    notes += [Note("pairs", pairs=1, asked=asked)] if len(kept) == 1 else []
    member = np.zeros((len(kept), len(vectors)))
    for row, (below, above) in zip(member, rows, strict=True):
        row[below], row[above] = -1.0, 1.0
    return FoundPoles(poles, tuple(kept), (), Strata(vectors, (member,)), (), tuple(notes))


def _found_lists(poles: Poles, row_of: Mapping[str, int], vectors: np.ndarray) -> FoundPoles:
    kept, members, again = [], [], []
    for sign, (name, words) in zip((-1.0, 1.0), poles.lists, strict=True):
        rows = {row_of[word]: word for word in reversed(words) if word in row_of}
        own = vectors[list(rows)]
        later = np.triu(equal_rows(own, own), 1).any(axis=1)  # words stand in reverse: the first of equal ones stays
        again += [word for word, is_later in zip(rows.values(), later, strict=True) if is_later]
        rows = {row: word for row, word in rows.items() if word not in again}
        member = np.zeros((len(rows), len(vectors)))
        member[np.arange(len(rows)), list(rows)] = sign
        members.append(member)
        kept.append((name, tuple(reversed(rows.values()))))
    strata = Strata(vectors, tuple(members))
    if not beyond_rounding(strata.weights @ vectors).any():
        raise InputError(f"the poles of the axis {poles.name} have one vector: there is nothing between them")
    notes = [Note("copies", count=len(again), rule="counted once", words=again)] if again else []
    unpaired = Note("no-value", what="agreement of pairs", reason="two lists")
    return FoundPoles(poles, (), tuple(kept), strata, (), (unpaired, *notes))


def vocabulary_of(kv: KeyedVectors) -> tuple[tuple[str, ...], FloatArray]:
    """Words that places are centred on, and their unit vectors (N, d).

    The most frequent 20,000 words of a file ordered by frequency, 20,000 of another, or the sample of a part.
    """
    part = sample_of(kv)
    if part is not None:
        return part.words, unit_rows(part.vectors)
    rows, _ = sampled_rows(kv, set(), FREQUENT, 0)
    return tuple(kv.index_to_key[row] for row in rows.tolist()), unit_rows(kv.vectors[rows])


def sample_beside(kv: KeyedVectors, keys: Sequence[str]) -> FloatArray:
    """Unit vectors of sampled words, as frequent as those at the poles where frequency is known."""
    part, own = sample_of(kv), set(keys)
    if part is not None:
        units = unit_rows(part.vectors[[word not in own for word in part.words]])
    else:
        rows, kind = sampled_rows(kv, own, SAMPLE, 0, [rows_of(kv, keys)])
        units = unit_rows(kv.vectors[rows[in_order(rows, kv.index_to_key, kind)]])
    if len(units) < LEAST_SAMPLE:
        raise InputError(
            f"the embedding holds {len(units)} words beside the poles, and the errors of places need {LEAST_SAMPLE}: "
            "give the whole embedding, load a part of it with load_embedding(path, words=lists), or encode sentences "
            "with a larger vocabulary"
        )
    return units


@dataclass(frozen=True, eq=False)
class Scatter:
    """Scatter of the places of words over templates."""

    places: FloatArray  # what each template changes in them, (T, words); sums over templates are 0
    apart: FloatArray  # unit vectors (words, d) of the words less the mean
    size: float  # mean variance over templates of the places of the vocabulary, in squared cosine distance
    curve: FloatArray  # correlation over templates of the places of two words by their similarity, (BINS,)
    share: float  # how far covariances are moderated: the share of those that size and curve give, from 0 to 1

    @property
    def _shares(self) -> tuple[float, float]:
        """Weights of squared changes, and of the variance over the vocabulary, in the variance of a mean."""
        count = len(self.places)
        return (1 - self.share) / max(count - 1, 1) / count, self.share * self.size / count

    def rows(self, rows: IntArray) -> Scatter:
        """That of some of the words."""
        return replace(self, places=self.places[:, rows], apart=self.apart[rows])

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
        return np.where(similarity > 1 - SAME, 1.0, self.curve[similarity_bins(similarity)])


@dataclass(frozen=True, eq=False)
class TemplateErrors:
    """Changes that single templates of sentences make to words, to the poles and to the base of an axis.

    A word has the vector m / |m| with m the mean over templates of its vectors of length 1. To first order, a template
    changes it by what its own vector differs from m, less the part along m, over |m|.
    """

    turns: FloatArray  # changes of the vectors of all words of the embedding, (T, N, d)
    offset: FloatArray  # the mean offset (d,), and its changes (T, d)
    offsets: FloatArray
    base: FloatArray  # what vectors are taken less (d,), and its changes (T, d)
    bases: FloatArray
    whole: Scatter  # of the vocabulary
    placed: Scatter  # of the words placed

    def with_rows(self, rows: IntArray, units: FloatArray) -> TemplateErrors:
        """That of other words: their rows of the embedding, and unit vectors (n, d)."""
        turned = np.stack([turn[rows] @ self.offset for turn in self.turns]) - (self.bases @ self.offset)[:, None]
        apart = units - self.base
        return replace(self, placed=replace(self.whole, places=turned + self.offsets @ apart.T, apart=unit_rows(apart)))


def turns_of(vectors: ContextVectors, kv: KeyedVectors) -> FloatArray:
    """Change by each template of an embedding's unit vectors, which are means of these vectors, (T, N, d)."""
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
    rows: IntArray,
    units: FloatArray,
) -> TemplateErrors:
    """The errors that templates are to an axis; the first parameters are those of :class:`TemplateErrors`.

    Few templates tell little of the variance of one place. It is moderated towards the mean over the vocabulary, as far
    as variances are equal (Smyth 2004, https://doi.org/10.2202/1544-6115.1027), and covariances towards those that the
    similarity of words gives. ``rows`` and ``units`` are those of the words of the vocabulary.
    """
    count = len(turns)
    bare = Scatter(np.empty((count, 0)), np.empty((0, len(offset))), 0.0, np.zeros(1), 0.0)
    errors = TemplateErrors(turns, offset, offsets, base, bases, bare, bare)
    whole = errors.with_rows(rows, units).placed
    squares = (whole.places**2).sum(axis=0) / max(count - 1, 1)
    size, pairs = float(squares.mean()), sample_pairs(whole.apart, np.random.default_rng([0, 1]))
    if count == 1 or size <= NOTHING**2:
        none = {name: np.zeros_like(getattr(errors, name)) for name in ("turns", "offsets", "bases")}
        return replace(errors, **none, whole=replace(bare, curve=np.zeros(len(pairs.counts))))
    share = moderation(squares / size, count - 1)
    fields = whole.places - whole.places.mean(axis=1, keepdims=True)
    fields = fields[fields.var(axis=1) > 0]
    variances = fields.var(axis=1)
    curve = variances @ variograms(fields / np.sqrt(variances)[:, None], pairs) / variances.sum()
    return replace(errors, whole=replace(whole, size=size, curve=curve, share=share))


def refuse_templates(found: object, what: str, these: str = "templates") -> None:
    """Refuse words in sentences where the choice of templates would be lost."""
    if found:
        raise InputError(
            f"{what} does not know the choice of {these} as an error: give bb.axis(vectors.mean_vectors(), ...) of "
            f"what encode returned, which takes the {these} as they are"
        )


def refuse_one_pair(offset: MeanOffset, what: str) -> None:
    """Refuse a statement on further pairs where one pair, or one word a list, does not show how pairs scatter."""
    if offset.freedom == 0:
        raise InputError(
            f"{what} needs two pairs or more, or two words a list: one alone does not show how far further ones would "
            "differ from it"
        )
