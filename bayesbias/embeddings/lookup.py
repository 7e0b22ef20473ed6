"""Words in embeddings: which are there, in which case, which share a vector, and which all of several hold."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypedDict
from unicodedata import is_normalized, normalize

import numpy as np

from bayesbias._checks import one_of
from bayesbias._core.vectors import FloatArray, first_alike, unit_rows
from bayesbias.embeddings.formats import NO_BREAK, composed, have_directions
from bayesbias.embeddings.samples import sample_of
from bayesbias.errors import InputError, listed
from bayesbias.words import subtag

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


Case = Literal["as-is", "fallback"]
CASES = ("as-is", "fallback")
Twins = Literal["once", "keep"]
TWINS = ("once", "keep")
SHOWN = 8  # words that a sentence names
DOTTED = ("tr", "az")  # languages with a dotted and a dotless i, each with its capital (Unicode's SpecialCasing.txt)
NOTHING = 1e-6  # length of the mean of unit vectors below which they have no common direction


@dataclass(frozen=True)
class FoundWords:
    """Words that an embedding holds."""

    keys: Mapping[str, str]  # word to the key under which the embedding holds it
    vectors: FloatArray  # (words, dimensions), in that order

    def of(self, words: Sequence[str]) -> FloatArray:
        """Vectors of some of the words."""
        if list(words) == list(self.keys):
            return self.vectors
        place = {word: i for i, word in enumerate(self.keys)}
        return self.vectors[[place[word] for word in words]]


@dataclass(frozen=True)
class FoundConcepts:
    """Concepts of which an embedding holds a form; a word without other forms is one."""

    forms: FoundWords  # all that are found
    concepts: Mapping[str, tuple[str, ...]]  # concept to its forms that are found

    @property
    def of_forms(self) -> FoundConcepts:
        """The same with each form a concept of its own."""
        return FoundConcepts(self.forms, {form: (form,) for form in self.forms.keys})

    def keys(self, concept: str) -> frozenset[str]:
        """The keys under which the embedding holds the forms of a concept."""
        return frozenset(self.forms.keys[form] for form in self.concepts[concept])

    def units(self, concepts: Sequence[str]) -> FloatArray:
        """Unit vectors (concepts, d) of words, and of a concept with several forms the mean of their unit vectors.

        That mean is shorter than 1, so that its product with another vector is the mean of the forms' products: one
        minus it is the mean of their cosine distances.
        """
        units = unit_rows(self.forms.of([self.concepts[name][0] for name in concepts]))
        for i, name in enumerate(concepts):
            if len(self.concepts[name]) > 1:
                units[i] = unit_rows(self.forms.of(self.concepts[name])).mean(axis=0)
        return units

    def twins(self) -> dict[str, str]:
        """Concept to the first one with its vector, as :func:`twins_of` says it of words."""
        if all(len(forms) == 1 for forms in self.concepts.values()):
            return twins_of(self.forms)
        keys = {name: self.forms.keys[forms[0]] for name, forms in self.concepts.items()}
        return twins_of(FoundWords(keys, self.units(list(keys))))


def find_concepts(
    kv: KeyedVectors, concepts: Mapping[str, Sequence[str]], case: Case = "as-is", language: str | None = None
) -> FoundConcepts:
    """Concepts of an embedding: all forms are looked up, as :func:`find_words` does."""
    words_found = find_words(kv, dict.fromkeys(form for forms in concepts.values() for form in forms), case, language)
    present = {name: tuple(form for form in forms if form in words_found.keys) for name, forms in concepts.items()}
    result = FoundConcepts(words_found, {name: forms for name, forms in present.items() if forms})
    for name, forms in result.concepts.items():
        if len(forms) > 1 and np.linalg.norm(result.units([name])) < NOTHING:
            raise InputError(f"the vectors of the forms {', '.join(forms)} cancel out: take one of them")
    return result


def find_words(kv: KeyedVectors, words: Iterable[str], case: Case = "as-is", language: str | None = None) -> FoundWords:
    """Words of an embedding; those without a direction count as missing.

    A phrase is looked up as it is written, then with ``_`` for its blanks (``New_York``). Words and keys are compared
    in Unicode's normal form C. ``case="fallback"`` tries lower case, capital first letters and capitals for those not
    found, by the rules of a language: Turkish and Azerbaijani have i/İ and ı/I, German has ß, ẞ and SS.
    """
    one_of(case, CASES, "case")
    row_of = kv.key_to_index
    words = list(words)
    keys = {word: key for word in words if (key := _key(word, row_of, case, language)) is not None}
    if any(word not in keys and not word.isascii() for word in words):
        others = {normalize("NFC", key): key for key in row_of if not is_normalized("NFC", key)}
        for word in words:
            if word not in keys and (key := _key(word, others, case, language)) is not None:
                keys[word] = others[key]
        keys = {word: keys[word] for word in words if word in keys}
    rows = np.array([row_of[key] for key in keys.values()], dtype=np.intp)
    vectors = kv.vectors.take(rows, axis=0)
    some = have_directions(list(keys.values()), vectors, "the embedding")
    if not some.all():
        zero = {word for word, directed in zip(keys, some, strict=True) if not directed}
        named = ", ".join(sorted({keys[word] for word in zero}))
        warnings.warn(f"a vector of zeros has no direction, so these words count as missing: {named}", stacklevel=3)
        keys, vectors = {word: key for word, key in keys.items() if word not in zero}, vectors[some]
    return FoundWords(keys, vectors.astype(np.float64, copy=False))


def spellings(words: Iterable[str], case: str, language: str | None = None) -> tuple[str, ...]:
    """The words, and what is tried for them too."""
    one_of(case, CASES, "case")
    tried = [form for word in words for form in _spelled(word, case, language)]
    return tuple(dict.fromkeys(form for each in tried for form in composed(each)))


def _key(word: str, keys: Collection[str], case: str, language: str | None) -> str | None:
    """The key of a word in an embedding: the first of its spellings that is there."""
    if word in keys:
        return word
    tried = dict.fromkeys(normalize("NFC", form) for form in (word, *_spelled(word, case, language)))
    return next((form for form in tried if form in keys), None)


def _spelled(word: str, case: str, language: str | None) -> tuple[str, ...]:
    """How a word is looked up; the words of a phrase are joined too, by _ and by blanks without a break."""
    joined, unbroken = word.replace(" ", "_"), word.replace(" ", NO_BREAK)
    if case == "as-is":
        return tuple(dict.fromkeys((word, joined, unbroken)))
    low, first, high = _capitals(word, language)
    titled = "_".join(_capitals(part, language)[1] for part in joined.split("_"))
    every = [word, low, first, high, joined, _capitals(joined, language)[0], titled]
    if subtag(language) == "de":
        every += [form.replace("ß", "ẞ").upper() for form in (word, joined)] + [low.replace("ß", "ss")]
    return tuple(dict.fromkeys([*every, unbroken]))


def _capitals(word: str, language: str | None) -> tuple[str, str, str]:
    """A word in lower case, with a capital first letter, and in capitals, by the rules of its language."""
    if subtag(language) not in DOTTED:
        return word.lower(), word.capitalize(), word.upper()
    low = word.replace("İ", "i").replace("I", "ı").lower()
    high = low.replace("i", "İ").upper()
    return low, high[:1] + low[1:], high


class About(TypedDict, total=False):
    """Name and size of an embedding."""

    name: str
    vectors: int
    dimensions: int
    debiasing: str


def about(kv: KeyedVectors) -> About:
    """What is known of an embedding: its name, if ``load_embedding`` gave it one, and its size, also of one in part."""
    name, sample = getattr(kv, "bayesbias_name", "unnamed"), sample_of(kv)
    size = len(kv.index_to_key) if sample is None else sample.size
    known: About = {"name": name, "vectors": size, "dimensions": int(kv.vector_size)}
    record = getattr(kv, "bayesbias_debiasing", None)
    return known if record is None else {**known, "debiasing": str(record)}


def twins_of(words_found: FoundWords) -> dict[str, str]:
    """Word to the first word with its vector, for the words that are not the first themselves.

    A pruned embedding gives many words the vector of another; vectors of one direction are one, whatever their length.
    """
    words = list(words_found.keys)
    first = first_alike(words_found.of(words))
    return {words[row]: words[first[row]] for row in np.flatnonzero(first != np.arange(len(words))).tolist()}


def twins_within(words: Sequence[str], twins: Mapping[str, str]) -> dict[str, str]:
    """Those of some words that have the vector of an earlier one of these words, with that word."""
    first: dict[str, str] = {}
    leaders = {word: first.setdefault(twins.get(word, word), word) for word in words}
    return {word: leader for word, leader in leaders.items() if leader != word}


def twin_sentence(pairs: Iterable[tuple[str, str]]) -> str:
    """Which words have the vector of which, at most eight of them."""
    return listed([f"{word} has the vector of {first}" for word, first in pairs], SHOWN)


def alike_in_some(words: Sequence[str], kvs: Iterable[KeyedVectors], case: Case = "as-is") -> dict[str, str]:
    """Word to the first word whose vector it has in one of several embeddings, or through several of them."""
    place = {word: i for i, word in enumerate(words)}
    first: dict[str, str] = {}
    for kv in kvs:
        for word, other in twins_of(find_words(kv, words, case)).items():
            keep, gone = sorted((first.get(word, word), first.get(other, other)), key=place.__getitem__)
            first |= dict.fromkeys([gone, *(each for each, of in first.items() if of == gone)], keep)
    return {word: of for word, of in first.items() if word != of}


def alike_in_all(words: Sequence[str], kvs: Iterable[KeyedVectors]) -> dict[str, str]:
    """Word to the first word whose vector it has in every one of several embeddings."""
    first, *others = [twins_of(find_words(kv, words)) for kv in kvs]
    return {word: of for word, of in first.items() if all(other.get(word) == of for other in others)}


def in_all[Unit: (str, tuple[str, str])](
    asked: Iterable[Unit], kvs: Iterable[KeyedVectors], what: str
) -> tuple[list[Unit], list[str]]:
    """The words, or pairs of words, that all embeddings hold, and a sentence on the others."""
    every, indices = list(asked), [kv.key_to_index for kv in kvs]
    words = {word: (word,) if isinstance(word, str) else word for word in every}
    shared = [unit for unit in every if all(word in keys for word in words[unit] for keys in indices)]
    some = set(shared)
    lost = ["/".join(words[word]) for word in every if word not in some]
    sentence = f"{len(lost)} of {len(every)} {what} are left out, since some embedding lacks them: {listed(lost)}."
    return shared, [sentence] if lost else []


def pairs_once(pairs: Sequence[tuple[str, str]], alike: Mapping[str, str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Pairs without those of one vector and those that have the vectors of an earlier pair, and sentences on them.

    A pair that is listed twice stays twice; ``alike`` is as :func:`twins_of` returns it.
    """
    first: dict[tuple[str, str], tuple[str, str]] = {}
    distinct, single, again = [], [], []
    for pair in pairs:
        one, other = (alike.get(word, word) for word in pair)
        earlier = first.setdefault((one, other), pair)
        if one == other:
            single.append(pair)
        elif earlier != pair:
            again.append(("/".join(pair), "/".join(earlier)))
        else:
            distinct.append(pair)
    notes = [f"pairs left out, since their words have one vector: {', '.join(map('/'.join, single))}"] if single else []
    if again:
        notes.append(f"pairs counted once: {', '.join(f'{pair} has the vectors of {of}' for pair, of in again)}")
    return distinct, notes


def words_once(words: Sequence[str], alike: Mapping[str, str], what: str) -> tuple[list[str], list[str]]:
    """Words without those that have the vector of an earlier one, and a sentence on these."""
    again = twins_within(words, alike)
    distinct = [word for word in words if word not in again]
    return distinct, [f"{what}: {twin_sentence(again.items())}: counted once."] if again else []
