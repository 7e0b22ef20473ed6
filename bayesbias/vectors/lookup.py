"""Words in embeddings: which are there, which share a vector, which several hold; samples of a vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast
from unicodedata import is_normalized, normalize
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from bayesbias._support.arguments import one_of
from bayesbias.errors import CoverageWarning, InputError, listed, shown, warn
from bayesbias.numerics.arrays import FloatArray, IntArray, beyond_rounding, first_alike, unit_rows
from bayesbias.numerics.constants import ANYWHERE, CANDIDATES, FREQUENT, NARROWEST, NEAR_SHARE
from bayesbias.numerics.related import density_ratio
from bayesbias.results import Note
from bayesbias.words import WordLists, subtag

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


Case = Literal["as-is", "fallback"]
CASES = ("as-is", "fallback")
Twins = Literal["once", "keep"]
TWINS = ("once", "keep")
DOTTED = ("tr", "az")  # languages with a dotted and a dotless i, each with its capital (Unicode's SpecialCasing.txt)
NO_BREAK = "\N{NO-BREAK SPACE}"
BLANKS = (" ", "_", NO_BREAK, "-", "")  # what may stand for a blank of a word, in the order in which it is tried
HELD = 0.8  # share of the words of a list below which they are lost

SPARE = 200  # words that are read beyond those of a sample, for those whose vectors have no direction
LOOKED_AT = 200  # words of letters only by which the order of a file is told
SHORTER = 1.5  # how many letters the first words of a file ordered by frequency are shorter than others, on average
STEPS = 512  # points of the logarithm of places at which that density is computed
ATTRIBUTE = "bayesbias_sample"  # name of the sample on an embedding of which a part is loaded
SUBWORDS = "bayesbias_subwords"  # name of the set of words whose vectors a fastText model made of parts of words
DEBIASING = "bayesbias_debiasing"  # name of the record of a debiasing on the embedding that it made
ORIGIN = "bayesbias_origin"  # name of the source, DOI and path on an embedding of which they are known
SPREAD = 1000  # words between which distances are measured for the unit of an embedding
LEAST_SPREAD = 30  # words without which it has none


@dataclass(frozen=True)
class FoundWords:
    """Words that an embedding holds."""

    keys: Mapping[str, str]  # word to the key under which the embedding holds it
    vectors: FloatArray  # (words, dimensions), in that order

    @cached_property
    def _first(self) -> IntArray:
        return first_alike(self.vectors)

    @cached_property
    def duplicates(self) -> dict[str, str]:
        """Word to the first word with its vector, for the words that are not the first themselves.

        A pruned embedding gives many words the vector of another; vectors of one direction are one, whatever their
        length.
        """
        words = list(self.keys)
        return {words[row]: words[first] for row, first in enumerate(self._first.tolist()) if first != row}

    @cached_property
    def units(self) -> FloatArray:
        """Unit vectors (words, dimensions): one for words whose directions are equal but for rounding."""
        units = unit_rows(self.vectors)
        copies = np.flatnonzero(self._first != np.arange(len(units)))
        same = ~beyond_rounding(units[copies] - units[self._first[copies]]).any(axis=1)
        units[copies[same]] = units[self._first[copies[same]]]
        return units

    def rows(self, words: Iterable[str]) -> IntArray:
        """Rows of some of the words."""
        place = {word: i for i, word in enumerate(self.keys)}
        return np.array([place[word] for word in words], dtype=np.intp)

    def of(self, words: Iterable[str]) -> FloatArray:
        """Vectors of some of the words."""
        return self.vectors[self.rows(words)]


@dataclass(frozen=True)
class FoundConcepts:
    """Concepts of which an embedding holds a form; a word without other forms is one."""

    kv: KeyedVectors
    lists: WordLists  # that hold the concepts
    case: Case
    forms: FoundWords  # all that are found
    concepts: Mapping[str, tuple[str, ...]]  # concept to its forms that are found

    @cached_property
    def about(self) -> About:
        """Facts on the embedding, with the unit in which its contrasts are standardised."""
        return {**about(self.kv), "spread": spread_of(self.kv)}

    def keys(self, concepts: Iterable[str]) -> list[str]:
        """The keys under which the embedding holds the forms of those concepts that are found."""
        return [self.forms.keys[form] for name in concepts for form in self.concepts.get(name, ())]

    def units(self, concepts: Sequence[str]) -> FloatArray:
        """Unit vectors (concepts, d) of words, and of a concept with several forms the mean of their unit vectors.

        That mean is shorter than 1, so that one minus its product with another vector is the mean cosine distance.
        """
        units = self.forms.units[self.forms.rows(self.concepts[name][0] for name in concepts)]
        for i, name in enumerate(concepts):
            if len(self.concepts[name]) > 1:
                units[i] = self.forms.units[self.forms.rows(self.concepts[name])].mean(axis=0)
        return units

    @cached_property
    def duplicates(self) -> dict[str, str]:
        """Concept to the first one with its vector."""
        if all(len(forms) == 1 for forms in self.concepts.values()):
            return self.forms.duplicates
        names = list(self.concepts)
        return FoundWords(dict.fromkeys(names, ""), self.units(names)).duplicates


def find_lists(kv: KeyedVectors, lists: WordLists, case: Case = "as-is") -> FoundConcepts:
    """The words of word lists in an embedding: all forms are looked up, as :func:`find_words` does."""
    found = find_words(kv, dict.fromkeys(chain(*lists.concepts.values())), case, lists.language)
    present = {name: tuple(form for form in forms if form in found.keys) for name, forms in lists.concepts.items()}
    return FoundConcepts(kv, lists, case, found, {name: forms for name, forms in present.items() if forms})


def find_keys(
    words: Iterable[str], keys: Collection[str], case: Case = "as-is", language: str | None = None
) -> dict[str, str]:
    """Word to the key that stands for it, for those of some words that are there: the one look-up of words.

    A word that is a key stands for itself. Else its blanks (and ``_``) are tried as blanks, ``_``, ``-`` and nothing
    (``New_York``, ``hard-working``), and letters are compared in Unicode's normal form C. ``case="fallback"`` tries
    lower case, capital first letters and capitals for those not found, by the rules of a language: Turkish and
    Azerbaijani have i/İ and ı/I, German has ß, ẞ and SS.
    """
    one_of(case, CASES, "case")
    words = list(words)
    known = {word: word for word in words if word in keys}
    lacking = [word for word in words if word not in known]
    if not lacking:
        return known
    forms = {word: spellings([word], case, language) for word in lacking}
    known |= {word: key for word, own in forms.items() for key in own[::-1] if key in keys}
    if any(word not in known and not word.isascii() for word in lacking):
        # keys that are held in another normal form, by their form C; looked for last, as it takes all keys
        others = {normalize("NFC", key): key for key in keys if not is_normalized("NFC", key)}
        known |= {w: others[key] for w in lacking if w not in known for key in forms[w][::-1] if key in others}
    return {word: known[word] for word in words if word in known}


def rows_of(kv: KeyedVectors, words: Iterable[str]) -> IntArray:
    """Rows of words, all of which an embedding holds; words and vectors of a changed one may be out of step."""
    words = list(words)
    keys = find_keys(words, kv.key_to_index)
    rows = [kv.key_to_index[keys[word]] for word in words]
    if odd := [word for word, row in zip(words, rows, strict=True) if kv.index_to_key[row] != keys[word]]:
        raise InputError(f"index_to_key and key_to_index differ for {odd[0]!r}: load (words, vectors) anew")
    return np.array(rows, dtype=np.intp)


def find_words(kv: KeyedVectors, words: Iterable[str], case: Case = "as-is", language: str | None = None) -> FoundWords:
    """Words of an embedding, looked up by :func:`find_keys`; those without a direction count as missing."""
    keys = find_keys(words, kv.key_to_index, case, language)
    vectors = kv.vectors.take(rows_of(kv, keys.values()), axis=0)
    some = have_directions(list(keys.values()), vectors, "the embedding")
    if not some.all():
        zero = {word: key for (word, key), directed in zip(keys.items(), some, strict=True) if not directed}
        named = ", ".join(sorted(set(zero.values())))
        warn(f"a vector of zeros has no direction, so these words count as missing: {named}", CoverageWarning)
        keys, vectors = {word: key for word, key in keys.items() if word not in zero}, vectors[some]
    return FoundWords(keys, vectors.astype(np.float64, copy=False))


def spellings(words: Iterable[str], case: str = "as-is", language: str | None = None) -> tuple[str, ...]:
    """The words, and what is tried for them too, each of their capitals with each kind of blank; in normal form C."""
    one_of(case, CASES, "case")
    every: list[str] = []
    for word in words:
        phrase = word.replace("_", " ").replace(NO_BREAK, " ")
        forms = [phrase]
        if case != "as-is":
            low, first, high = _capitals(phrase, language)
            forms += [low, first, high, " ".join(_capitals(part, language)[1] for part in phrase.split(" "))]
            if subtag(language) == "de":
                forms += [phrase.replace("ß", "ẞ").upper(), low.replace("ß", "ss")]
        every += [word, *(form.replace(" ", blank) for form in forms for blank in BLANKS)]
    return tuple(dict.fromkeys(normalize("NFC", form) for form in every))


def _capitals(word: str, language: str | None) -> tuple[str, str, str]:
    """A word in lower case, with a capital first letter, and in capitals, by the rules of its language."""
    if subtag(language) not in DOTTED:
        return word.lower(), word.capitalize(), word.upper()
    low = word.replace("İ", "i").replace("I", "ı").lower()
    high = low.replace("i", "İ").upper()
    return low, high[:1] + low[1:], high


class About(TypedDict, total=False):
    """Name, size, unit and origin of an embedding."""

    name: str
    vectors: int
    dimensions: int
    debiasing: str
    groups: dict[str, list[str]]  # of a debiasing method that takes groups
    spread: dict[str, Any]  # as :func:`spread_of` has it
    source: str
    doi: str
    path: str


def about(kv: KeyedVectors) -> About:
    """Facts on an embedding: its name, if ``load_embedding`` gave it one, and its whole size, also of one in part."""
    name, sample = getattr(kv, "bayesbias_name", "unnamed"), sample_of(kv)
    size = len(kv.index_to_key) if sample is None else sample.size
    known: About = {"name": name, "vectors": size, "dimensions": int(kv.vector_size), **origin_of(kv)}
    if (record := getattr(kv, DEBIASING, None)) is not None:
        known["debiasing"] = record.caption()
        if record.groups:
            known["groups"] = {name: [*words] for name, words in record.groups.items()}
    return known


def origin_of(kv: KeyedVectors) -> About:
    """Source, DOI and path of an embedding, as far as ``load_embedding`` was told."""
    return cast("About", getattr(kv, ORIGIN, {}))


def spread_of(kv: KeyedVectors) -> dict[str, Any]:
    """The standard deviation of the cosine distances between words of an embedding: the unit of its contrasts.

    The distances are those of each two of up to 1,000 words, drawn by a hash of their letters from the 20,000 most
    frequent ones where the file is ordered by frequency, else from all. Words with one vector count once. ``sd`` is
    that deviation, absent where there are too few ``words``, and ``kind`` how these were drawn, as of the sample.
    """
    part = sample_of(kv)
    rows, kind = sampled_rows(kv, (), SPREAD, 0) if part is None else ((), part.overall_kind)
    units = unit_rows(kv.vectors[rows] if part is None else part.overall)
    units = units[first_alike(units) == np.arange(len(units))]
    products = (units @ units.T)[np.triu_indices(len(units), 1)]
    sd = {"sd": float(products.std(ddof=1))} if len(units) >= LEAST_SPREAD else {}
    return {**sd, "words": len(units), "kind": kind}


def twins_within(words: Sequence[str], *twins: Mapping[str, str]) -> dict[str, str]:
    """Those of some words that have the vector of an earlier one of these in each of some embeddings, with that word.

    Of each embedding words are given with the first word that has their vector, whichever word that is.
    """
    first: dict[tuple[str, ...], str] = {}
    leaders = {word: first.setdefault(tuple(of.get(word, word) for of in twins), word) for word in words}
    return {word: leader for word, leader in leaders.items() if leader != word}


def alike_in_some(words: Sequence[str], kvs: Iterable[KeyedVectors], case: Case = "as-is") -> dict[str, str]:
    """Word to the first word whose vector it has in one of several embeddings, or through several of them."""
    place = {word: i for i, word in enumerate(words)}
    first: dict[str, str] = {}
    for kv in kvs:
        for word, other in find_words(kv, words, case).duplicates.items():
            # the sets of both words become one, under the earlier of their first words
            keep, gone = sorted((first.get(word, word), first.get(other, other)), key=place.__getitem__)
            first |= dict.fromkeys([gone, *(each for each, of in first.items() if of == gone)], keep)
    return {word: of for word, of in first.items() if word != of}


def alike_in_all(words: Sequence[str], kvs: Iterable[KeyedVectors]) -> dict[str, str]:
    """Word to the first word whose vector it has in every one of several embeddings."""
    return twins_within(words, *(find_words(kv, words).duplicates for kv in kvs))


def in_all[Unit: (str, tuple[str, str])](
    asked: Iterable[Unit], kvs: Iterable[KeyedVectors], what: str
) -> tuple[list[Unit], list[Note]]:
    """The words, or pairs of words, that all embeddings hold, and a note on the others."""
    every = list(asked)
    words = {unit: (unit,) if isinstance(unit, str) else unit for unit in every}
    known = [find_keys(dict.fromkeys(chain(*words.values())), kv.key_to_index) for kv in kvs]
    held = {unit: all(word in keys for word in own for keys in known) for unit, own in words.items()}
    shared, lost = [unit for unit in every if held[unit]], ["/".join(words[unit]) for unit in every if not held[unit]]
    return shared, left_out(len(lost), len(every), what, "missing in some embedding", lost)


def left_out(count: int, total: int, kind: str, reason: str, words: Iterable[str] = ()) -> list[Note]:
    """A note on what could not be used; none where all could."""
    return [Note("left-out", count=count, total=total, kind=kind, reason=reason, words=list(words))] if count else []


def pairs_once(pairs: Sequence[tuple[str, str]], alike: Mapping[str, str]) -> tuple[list[tuple[str, str]], list[Note]]:
    """Pairs without those of one vector and those that have the vectors of an earlier pair, and notes on them.

    A pair that is listed twice stays twice.
    """
    first: dict[tuple[str, str], tuple[str, str]] = {}
    distinct, single, again = [], [], []
    for pair in pairs:
        one, other = (alike.get(word, word) for word in pair)
        earlier = first.setdefault((one, other), pair)
        if one == other:
            single.append("/".join(pair))
        elif earlier != pair:
            again.append(f"{'/'.join(pair)} = {'/'.join(earlier)}")
        else:
            distinct.append(pair)
    notes = left_out(len(single), len(pairs), "pairs", "both words have one vector", single)
    return distinct, notes + left_out(len(again), len(pairs), "pairs", "the vectors of an earlier pair", again)


def words_once(words: Sequence[str], alike: Mapping[str, str], what: str) -> tuple[list[str], list[Note]]:
    """Words without those that have the vector of an earlier one, and a note on these."""
    again = twins_within(words, alike)
    same = [f"{word} = {first}" for word, first in again.items()]
    distinct = [word for word in words if word not in again]
    return distinct, [Note("copies", count=len(again), rule=f"counted once, {what}", words=same)] if again else []


def have_directions(words: Sequence[str], vectors: NDArray[Any], where: str) -> NDArray[np.bool_]:
    """True (words,) for vectors (words, dimensions) that are not all zeros."""
    if bad := [words[row] for row in np.flatnonzero(~np.isfinite(vectors).all(axis=1)).tolist()]:
        raise InputError(f"{where}: the vectors of {few(bad)} hold NaN or infinite numbers; repair or remove them")
    return np.asarray(vectors.any(axis=1))


def few(words: list[str]) -> str:
    """The first words, as they are written in a program."""
    return listed([repr(word) for word in words], 5)


@dataclass(frozen=True, eq=False)
class VocabularySample:
    """Sampled words of an embedding; one of which only some words are loaded carries them."""

    words: tuple[str, ...]  # in the order of :func:`in_order`; none of them is among those that were asked for
    vectors: NDArray[np.float32]  # their vectors (words, dimensions)
    kind: str  # how they were drawn: ``"ranks"`` or ``"random"``, as in :class:`Relatedness`
    size: int  # number of words of the whole embedding
    places: Mapping[str, int]  # as :func:`places_of` has it, of the sampled words and of those that were asked for
    # weights (words,) under which the sample is one of the vocabulary; None where they are all the same
    everywhere: NDArray[np.float32] | None = None
    # vectors (m, dimensions) of words drawn from the whole vocabulary, whatever was asked for, and how they were drawn
    overall: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 0), dtype=np.float32))
    overall_kind: str = ""


def sample_of(kv: KeyedVectors) -> VocabularySample | None:
    """The sample of the vocabulary that an embedding carries; None where it is whole or carries none."""
    return getattr(kv, ATTRIBUTE, None)


def subwords_of(kv: KeyedVectors) -> frozenset[str]:
    """Words of an embedding whose vectors were made of parts of words, since the model had not seen them."""
    return getattr(kv, SUBWORDS, frozenset())


def composed_notes(kv: KeyedVectors, keys: Mapping[str, str]) -> list[Note]:
    """A note on those of some words, given with their keys, whose vectors were made of parts of words."""
    words = [word for word, key in keys.items() if key in subwords_of(kv)]
    return [Note("composed", count=len(words), words=words)] if words else []


@dataclass(frozen=True)
class _Waiting:
    """Words of a vocabulary in the order in which they are drawn.

    Each word has an exponential waiting time with its own rate; those who wait least are a sample without replacement,
    each word in proportion to the rates of the words that are left (Efraimidis and Spirakis 2006,
    https://doi.org/10.1016/j.ipl.2005.11.003). Times come from a hash of the letters and a seed, so that two
    vocabularies are sampled at the same words.
    """

    rows: IntArray  # of the words (n,) in the vocabulary, the first drawn first
    times: FloatArray  # (n,), ascending
    rates: FloatArray  # (n,)
    kind: str  # "ranks", "frequent" or "random", as in :func:`waiting_words`
    keys: Sequence[str]  # the words of the vocabulary

    def of(self, kept: slice | NDArray[np.bool_]) -> _Waiting:
        """Some of the words."""
        return replace(self, rows=self.rows[kept], times=self.times[kept], rates=self.rates[kept])

    def redrawn(self, factors: FloatArray, size: int) -> tuple[IntArray, FloatArray]:
        """Places (size,) of the words of a sample whose rates are multiplied by ``factors`` (n,), and weights.

        The weights make the sample one of the first draw: how likely a word is in it, over how likely in this one.
        """
        if len(self.rows) <= size:
            return np.arange(len(self.rows)), np.ones(len(self.rows))
        times = self.times / factors
        order = np.argsort(times, kind="stable")[:size]
        ends = self.times[size - 1], np.minimum(times[order[-1]] * factors[order], self.times[-1])
        # a word whose time has the rate r is among those who wait less than t with the probability 1 - exp(-r t)
        first, second = (-np.expm1(-self.rates[order] * end) for end in ends)
        return order, first / second


# mean unit vector (d,) of the protected words, with which a word's product is how near it is; list to its words to that
type Nearness = tuple[FloatArray, dict[str, dict[str, float]]]


def nearness_of(looked: FoundConcepts) -> Nearness | None:
    """Nearness of the stereotype words that are found; None without protected words or stereotypes."""
    protected = [word for word in looked.lists.group_of if word in looked.concepts]
    known = {
        name: forms
        for name, words in looked.lists.stereotypes.items()
        if (forms := [form for word in words for form in looked.concepts.get(word, ())])
    }
    if not protected or not known:
        return None
    mean, units = looked.units(protected).mean(axis=0), looked.forms.units
    at = {name: units[looked.forms.rows(forms)] @ mean for name, forms in known.items()}
    return mean, {name: dict(zip(forms, at[name].tolist(), strict=True)) for name, forms in known.items()}


def _near_factors(units: Sequence[FloatArray], nearness: Sequence[Nearness | None], sample: int) -> FloatArray | None:
    """Factors on the rates (n,) of words that make a sample as near as stereotypes; None without these.

    Unit vectors (n, d) of the words in each embedding, of which the first are a sample of the vocabulary, and where the
    stereotypes lie in each. Nearness is averaged over embeddings.
    """
    values, by_word = [], dict[str, dict[str, list[float]]]()
    for own, near in zip(units, nearness, strict=True):
        if near is None:
            continue
        value = own @ near[0]
        level = float(value[:sample].mean())
        values.append(value - level)
        for name, words in near[1].items():
            for word, place in words.items():
                by_word.setdefault(name, {}).setdefault(word, []).append(place - level)
    if not values:
        return None
    at = np.mean(values, axis=0)
    lists = [np.array([np.mean(places) for places in own.values()]) for own in by_word.values()]
    return 1 - NEAR_SHARE + NEAR_SHARE * density_ratio(at, at[:sample], lists)


def waiting_words(
    keys: Sequence[str],
    listed_keys: Collection[str],
    sample: int,
    seed: int,
    followed: Sequence[IntArray] | None = None,
) -> _Waiting:
    """Words outside of lists in the order in which they are drawn.

    Their kind is ``"ranks"`` where the file is ordered by frequency and they follow the places of the words of some
    lists (rows), ``"frequent"`` where they are of its most frequent words, ``"random"`` where they are of all words.
    """
    ordered = len(keys) > sample + len(listed_keys) and ordered_by_frequency(keys)
    kind = "random" if not ordered else "frequent" if followed is None else "ranks"
    places = range(min(len(keys), FREQUENT + len(listed_keys)) if kind == "frequent" else len(keys))
    outside = np.array([place for place in places if keys[place] not in listed_keys], dtype=np.intp)
    if len(outside) <= sample:
        kind = "random" if len(outside) < FREQUENT else kind
        return _Waiting(outside, np.zeros(len(outside)), np.ones(len(outside)), kind, keys)
    uniform = (scrambled([keys[row] for row in outside.tolist()], seed).astype(float) + 1) / 2.0**64
    if kind == "ranks":
        rates = _rates_of_places(len(keys), followed or ())[outside]
        times = -np.log(uniform) / rates
    else:
        rates, times = np.ones(len(outside)), -np.log1p(-np.minimum(uniform, 1 - 2.0**-53))
    order = np.argsort(times, kind="stable")
    return _Waiting(outside[order], times[order], rates[order], kind, keys)


def in_order(rows: IntArray, keys: Sequence[str], kind: str) -> IntArray:
    """Places of rows in the order of the file; where that says nothing of words ("random"), in that of the alphabet."""
    return np.argsort(np.array([keys[row] for row in rows.tolist()], dtype=object) if kind == "random" else rows)


def local_sample(
    waiting: _Waiting,
    readers: Sequence[Callable[[IntArray], NDArray[Any]]],
    nearness: Sequence[Nearness | None],
    sample: int,
) -> tuple[IntArray, list[NDArray[Any]], NDArray[np.float32]]:
    """Rows (N,) of the words that wait least once their rates follow the nearness of lists, in their order.

    Beside them come their vectors (N, d) in each embedding, by ``readers`` of rows, and weights (N,) under which the
    sample is one of the vocabulary. Words are found among the first that are drawn and have a direction in each
    embedding. Without stereotypes these are the sample.
    """
    first = waiting.of(slice(sample + SPARE if all(near is None for near in nearness) else CANDIDATES))
    # files are read in their order
    order = np.argsort(first.rows)
    back = np.argsort(order)
    vectors = [np.asarray(read(first.rows[order]))[back] for read in readers]
    usable = np.all([np.isfinite(own).all(axis=1) & own.any(axis=1) for own in vectors], axis=0)
    first, vectors = first.of(usable), [own[usable] for own in vectors]
    factors = _near_factors([unit_rows(own) for own in vectors], nearness, sample) if len(first.rows) > sample else None
    chosen, weights = first.redrawn(np.ones(len(first.rows)) if factors is None else factors, sample)
    order = in_order(first.rows[chosen], waiting.keys, waiting.kind)
    places = chosen[order]
    everywhere = weights[order].astype(np.float32)  # as files keep them
    return first.rows[places], [own[places] for own in vectors], everywhere


def _rates_of_places(size: int, followed: Sequence[IntArray]) -> FloatArray:
    """Rates (size,) to draw the word of each place of a file with, so that the sample follows the places of lists.

    The density of the logarithm of places is the mean over lists of Gaussian kernels around their words', and in a
    small part the same everywhere. The kernels' width is 0.9 sd n^(-1/5) for all words together (after Silverman). A
    word's rate is that density over its place r, since d log r = dr / r.

    Silverman, B. W. (1986). Density estimation for statistics and data analysis. Chapman and Hall.
    https://doi.org/10.1201/9781315140919
    """
    ends = np.log(size + 0.5)
    points, places = np.linspace(0, ends, STEPS), np.arange(1, size + 1)
    lists = [np.log(rows + 1.0) for rows in followed if len(rows)]
    near = np.zeros(STEPS)
    if lists:
        every = np.concatenate(lists)
        width = max(NARROWEST, 0.9 * float(every.std()) * len(every) ** -0.2)
        kernels = [np.exp(-0.5 * ((points[:, None] - centres) / width) ** 2).mean(axis=1) for centres in lists]
        near = np.mean(kernels, axis=0) / (width * np.sqrt(2 * np.pi))
    density = (1 - ANYWHERE) * near + ANYWHERE / ends
    return np.asarray(np.interp(np.log(places), points, density) / places)


def directed(
    drawn: IntArray, most: int, vectors_of: Callable[[IntArray], NDArray[Any]]
) -> tuple[IntArray, NDArray[np.float32]]:
    """The first rows that were drawn of those whose vectors have a direction, ascending, and these vectors."""
    rows = np.sort(drawn[: most + SPARE])
    vectors = np.asarray(vectors_of(rows), dtype=np.float32)
    usable = rows[np.isfinite(vectors).all(axis=1) & vectors.any(axis=1)]
    first = np.isin(rows, drawn[np.isin(drawn, usable)][:most])
    return rows[first], vectors[first]


def sampled_rows(
    kv: KeyedVectors, listed_keys: Collection[str], sample: int, seed: int, followed: Sequence[IntArray] | None = None
) -> tuple[IntArray, str]:
    """Rows of words outside of lists whose vectors have a direction, ascending, and how they were drawn."""
    waiting = waiting_words(kv.index_to_key, subwords_of(kv).union(listed_keys), sample, seed, followed)
    return directed(waiting.rows, sample, kv.vectors.__getitem__)[0], waiting.kind


def places_of(kv: KeyedVectors) -> Mapping[str, int]:
    """Place of each word in the file of an embedding, from 0; empty where that is not ordered by frequency."""
    if (part := sample_of(kv)) is not None:
        return part.places
    return kv.key_to_index if ordered_by_frequency(kv.index_to_key) else {}


def scrambled(words: Sequence[str], seed: int) -> NDArray[np.uint64]:
    """A hash of each word, mixed with a seed as in the generator splitmix64."""
    encoded = [word.encode("utf-8", "surrogatepass") for word in words]
    codes = np.fromiter(map(crc32, encoded), dtype=np.uint64, count=len(words))
    start = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]
    mixed = codes * np.uint64(0x9E3779B97F4A7C15) + start
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def missing_words(entries: Iterable[Mapping[str, Any]], lost: bool = True) -> list[Note]:
    """A note for each kind of lists some of whose words are missing, those first that name their list.

    With ``lost`` only where one of the lists lacks over a fifth of its words, or the word that names it.
    """
    by_kind: dict[str, list[Mapping[str, Any]]] = {}
    for entry in entries:
        by_kind.setdefault(entry["kind"], []).append(entry)
    notes = []
    for kind, lists in by_kind.items():
        lacking = [each for each in lists if each["missing"]]
        named = [word for each in lacking for word in each["missing"] if word.casefold() == each["list"].casefold()]
        few = [each for each in lacking if each["asked"] - len(each["missing"]) < HELD * each["asked"]]
        if few or named or (lacking and not lost):
            asked, missing = sum(each["asked"] or 0 for each in lists), [*chain(*(each["missing"] for each in lacking))]
            words = list(dict.fromkeys([*named, *missing]))
            notes.append(Note("coverage", found=asked - len(missing), asked=asked, kind=kind, words=words))
    return notes


def lost_of(kind: str, lists: Mapping[str, Sequence[str]], held: Collection[str]) -> list[Note]:
    """The same of lists by name, of which some words are held."""
    missing = {name: [word for word in words if word not in held] for name, words in lists.items()}
    return missing_words({"list": n, "kind": kind, "asked": len(w), "missing": missing[n]} for n, w in lists.items())


def lost_lines(notes: Iterable[Note]) -> list[Note]:
    """Those of some notes that say which words are missing."""
    return [note for note in notes if note.code == "coverage"]


def warn_lost(notes: Iterable[Note], see: str) -> None:
    """Warn once of all lost words that the notes of a result name."""
    if lines := lost_lines(notes):
        warn(f"{'; '.join(lines)}; see {see}", CoverageWarning)


def first_keys(
    keys: Collection[str] | KeyedVectors,
    words: Iterable[str] = (),
    case: Case | None = None,
    language: str | None = None,
) -> str:
    """A remark on an embedding that holds none of some words: its first keys. ``case`` is that of a look-up."""
    written = ", ".join(map(shown, islice(getattr(keys, "index_to_key", keys), 5)))
    remedy = other_capitals(keys, words, case, language) or "rename them, or give words as they are written there"
    return f"its first keys are {written}: {remedy}"


def other_capitals(
    keys: Collection[str] | KeyedVectors, words: Iterable[str], case: Case | None, language: str | None = None
) -> str:
    """A remark on missing words that other capitals find; empty where they find none."""
    held = getattr(keys, "key_to_index", keys)
    found = {} if case == "fallback" else find_keys(words, held, "fallback", language)
    # words that are held as they are written are missing for another reason
    others = dict.fromkeys(key for word, key in found.items() if word != key)
    what = "case='fallback' (--case fallback) finds" if case else "give words in its capitals, such as"
    return f"{what} {listed(list(others), 3)}" if others else ""


def ordered_by_frequency(keys: Sequence[str]) -> bool:
    """True where words seem ordered by frequency: frequent ones are short (Zipf 1935), not in alphabetical order."""
    first = [key for key in keys[: 10 * LOOKED_AT] if key.isalpha()][:LOOKED_AT]
    later = [key for key in keys[len(keys) // 2 :: max(1, len(keys) // 4000)] if key.isalpha()]
    if len(first) < LOOKED_AT or len(later) < LOOKED_AT:
        return False
    shorter = np.mean([len(key) for key in later]) - np.mean([len(key) for key in first])
    return bool(shorter > SHORTER and np.mean([a <= b for a, b in pairwise(first)]) < 0.8)
