"""Parts of an axis: the words at its ends, those that places are centred on, and templates of sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbias.distances.adjustment import FREQUENCY, word_values
from bayesbias.errors import InputError, listed, many
from bayesbias.numerics.arrays import NOTHING, SAME, FloatArray, IntArray, beyond_rounding, equal_rows, unit_rows
from bayesbias.numerics.offsets import MeanOffset, Strata, moderation
from bayesbias.numerics.related import sample_pairs, similarity_bins, variograms
from bayesbias.results import Note
from bayesbias.vectors import Case, about, composed_notes, composed_of, find_words, rows_of
from bayesbias.vectors.contextual import ContextVectors
from bayesbias.vectors.lookup import (
    FREQUENT,
    SAMPLE,
    first_keys,
    in_order,
    left_out,
    lost_of,
    ordered_by_frequency,
    places_of,
    sample_of,
    sampled_rows,
)
from bayesbias.vectors.poles import Poles

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

LEAST_SAMPLE = 100
"""Words of the vocabulary without which an axis has no errors."""
POWERS = 3
"""Powers of frequency that places are adjusted for."""
NAMED = 5
"""Pairs left out that a refusal names."""
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

    def counted(self) -> str:
        """Number of pairs that are left, of how many, and which are left out; or that there is one word a list."""
        out = [f"{low} and {high}" for low, high in self.poles.pairs if (low, high) not in set(self.pairs)]
        if not self.pairs:
            return "one word a list"
        if not out:
            return many(len(self.pairs), "pair")
        asked = many(len(self.poles.pairs), "pair")
        return f"{len(self.pairs):,} of {asked} (left out: {listed(out, NAMED)})"


def find_poles(kv: KeyedVectors, poles: Poles, case: Case | None = None) -> FoundPoles:
    """Look the words of an axis up; pairs with a word that is missing are left out and named."""
    every = poles.words
    below, above = zip(*poles.pairs, strict=True) if poles.pairs else (words for _, words in poles.lists)
    if both := sorted(set(below) & set(above)):
        stand = "stands" if len(both) == 1 else "stand"
        raise InputError(f"{listed(both)} {stand} at both poles of the axis {poles.name}: a word belongs to one")
    keys = find_words(kv, dict.fromkeys(every), case or "as-is").keys
    places = {key: i for i, key in enumerate(dict.fromkeys(keys.values()))}
    missing = list(dict.fromkeys(word for word in every if word not in keys))
    embedding = about(kv)["name"]
    if not places:
        raise InputError(
            f"no word of the axis {poles.name} is in {embedding}: it asks for {listed(every)}; "
            f"{first_keys(kv, every, case)}"
        )
    vectors = unit_rows(np.asarray(kv.vectors[rows_of(kv, places)], dtype=float))
    row_of = {word: places[key] for word, key in keys.items()}
    found = (_found_pairs if poles.pairs else _found_lists)(poles, row_of, vectors, tuple(places))
    lost = lost_of("pole", dict(poles.lists) or {poles.name: every}, keys)
    if not lost and not poles.pairs:
        lost = left_out(len(missing), len(every), "pole words", "missing", missing)
    made = composed_notes(composed_of(kv, keys))
    return replace(found, notes=(*lost, *made, *found.notes))


def _found_pairs(poles: Poles, row_of: Mapping[str, int], vectors: np.ndarray, keys: tuple[str, ...]) -> FoundPoles:
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
    if not kept:
        gone = [word for word in poles.words if word not in row_of]
        why = f"each lacks a word ({listed(gone)})" if not out[FLAT] else "the two words of each have one vector"
        raise InputError(f"no pair of the axis {poles.name} is left of {len(poles.pairs)}: {why}")
    asked = len(poles.pairs)
    notes = [note for reason, pairs in out.items() for note in left_out(len(pairs), asked, "pairs", reason, pairs)]
    notes += [Note("pairs", pairs=1, asked=asked)] if len(kept) == 1 else []
    member = np.zeros((len(kept), len(vectors)))
    for row, (below, above) in zip(member, rows, strict=True):
        row[below], row[above] = -1.0, 1.0
    return FoundPoles(poles, tuple(kept), (), Strata(vectors, (member,)), keys, tuple(notes))


def _found_lists(poles: Poles, row_of: Mapping[str, int], vectors: np.ndarray, keys: tuple[str, ...]) -> FoundPoles:
    kept, members, again = [], [], []
    for sign, (name, words) in zip((-1.0, 1.0), poles.lists, strict=True):
        rows = {row_of[word]: word for word in reversed(words) if word in row_of}
        if not rows:
            raise InputError(f"no word of the pole {name!r} is in the embedding: it asks for {listed(list(words))}")
        own = vectors[list(rows)]
        later = np.triu(equal_rows(own, own), 1).any(axis=1)  # words stand in reverse: the first of equal ones stays
        again += [word for word, is_later in zip(rows.values(), later, strict=True) if is_later]
        rows = {row: word for row, word in rows.items() if word not in again}
        member = np.zeros((len(rows), len(vectors)))
        member[np.arange(len(rows)), list(rows)] = sign
        members.append(member)
        kept.append((name, tuple(reversed(rows.values()))))
    shared = set(np.flatnonzero(members[0].any(axis=0))) & set(np.flatnonzero(members[1].any(axis=0)))
    if shared:
        raise InputError(f"{keys[min(shared)]!r} stands at both poles of the axis {poles.name}")
    strata = Strata(vectors, tuple(members))
    if not beyond_rounding(strata.weights @ vectors).any():
        raise InputError(f"the poles of the axis {poles.name} have one vector: there is nothing between them")
    notes = [Note("copies", count=len(again), rule="counted once", words=again)] if again else []
    unpaired = Note("no-value", what="agreement of pairs", reason="two lists")
    return FoundPoles(poles, (), tuple(kept), strata, keys, (unpaired, *notes))


@dataclass(frozen=True)
class ReferenceWords:
    """The words that places are centred on, and their unit vectors (N, d)."""

    words: tuple[str, ...]
    units: FloatArray

    def turned(self, turn: FloatArray, kv: KeyedVectors) -> ReferenceWords:
        """The same words with what a template changes in the vectors (N, d) of an embedding."""
        return replace(self, units=turn[rows_of(kv, self.words)])


def vocabulary_of(kv: KeyedVectors) -> ReferenceWords:
    """The most frequent 20,000 words of a file ordered by frequency, 20,000 of another, or the sample of a part."""
    part = sample_of(kv)
    if part is not None:
        return ReferenceWords(part.words, unit_rows(part.vectors))
    rows, _ = sampled_rows(kv, set(), FREQUENT, 0)
    return ReferenceWords(tuple(kv.index_to_key[row] for row in rows.tolist()), unit_rows(kv.vectors[rows]))


def vocabulary_said(kv: KeyedVectors) -> str:
    """These words, in a few words."""
    if sample_of(kv) is not None:
        return "sampled words"
    if len(kv) <= FREQUENT:
        return "the vocabulary"
    frequent = ordered_by_frequency(kv.index_to_key)
    return f"the {FREQUENT:,} most frequent words" if frequent else f"{FREQUENT:,} words of the vocabulary"


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


@dataclass(frozen=True)
class Base:
    """Base that is taken from vectors: coefficients (m, d) of a constant and of the powers of frequency.

    ``mean`` and ``sd`` are those of the frequencies over the vocabulary, ``frequencies`` and ``source`` where they come
    from; of a constant alone ``sd`` is 0. ``words`` are those whose mean it is; empty for
    the vocabulary.
    """

    coefficients: FloatArray
    mean: float = 0.0
    sd: float = 0.0
    frequencies: Any = None
    source: str = ""
    words: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        centre: str | None,
        vocabulary: ReferenceWords,
        units: FloatArray | None,
        adjust: str | None,
        frequencies: Any,
        kv: KeyedVectors,
    ) -> Base:
        """The base over the vocabulary or over the words."""
        if centre != "vocabulary":
            return cls((np.zeros(kv.vector_size) if units is None else units.mean(axis=0))[None])
        if adjust is None:
            return cls(vocabulary.units.mean(axis=0)[None])
        zipf, source = _zipf(vocabulary.words, frequencies, kv)
        known = np.isfinite(zipf)
        level, sd = float(zipf[known].mean()), float(zipf[known].std()) or 1.0
        base = cls(np.empty((0, 0)), level, sd, frequencies, source)
        fitted = np.linalg.lstsq(base._powers(zipf[known]), vocabulary.units[known], rcond=None)[0]
        return replace(base, coefficients=fitted)

    def _powers(self, zipf: FloatArray) -> FloatArray:
        standard = (zipf - self.mean) / self.sd
        return standard[:, None] ** np.arange(POWERS + 1)

    def of_words(self, words: Sequence[str], kv: KeyedVectors) -> tuple[FloatArray, NDArray[np.bool_]]:
        """The design (words, m) of words, and which of these have a known frequency."""
        if self.sd == 0:
            return np.ones((len(words), 1)), np.ones(len(words), dtype=bool)
        zipf, _ = _zipf(words, self.frequencies, kv)
        known = np.isfinite(zipf)
        return self._powers(np.where(known, zipf, 0.0)), known


def _zipf(words: Sequence[str], frequencies: Any, kv: KeyedVectors) -> tuple[FloatArray, str]:
    """Frequencies (words,) in zipf, NaN where they are not known, and where they come from."""
    source = kv if frequencies is None and places_of(kv) else frequencies
    values = word_values(list(words), FREQUENCY, source)
    return values.of(list(words)), values.source


def ranks_of(kv: KeyedVectors, keys: Sequence[str]) -> NDArray[np.intp]:
    """Places of keys in a file ordered by frequency, from 1; 0 where it is not."""
    places = places_of(kv)
    return np.array([places.get(key, -1) + 1 for key in keys], dtype=np.intp)


@dataclass(frozen=True, eq=False)
class Scatter:
    """Scatter of the places of words over templates."""

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
    if count == 1 or size <= NOTHING**2:
        return replace(
            errors,
            turns=np.zeros_like(turns),
            offsets=np.zeros_like(offsets),
            bases=np.zeros_like(bases),
            whole=replace(bare, curve=np.zeros(len(pairs.counts))),
        )
    share = moderation(squares / size, count - 1)
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


def refuse_one_pair(offset: MeanOffset, what: str, poles: FoundPoles | None = None) -> None:
    """Refuse a statement on further pairs where one pair, or one word a list, does not show how pairs scatter."""
    if offset.freedom == 0:
        has = "" if poles is None else f"the axis {poles.name} has {poles.counted()}, and "
        raise InputError(
            f"{has}{what} needs two pairs or more, or two words a list: one alone does not show how far further ones "
            "would differ from it"
        )
