"""Features of words that may explain how reliable their scores are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesbias._support.files import home_folder
from bayesbias._support.progress import progress
from bayesbias.baselines.reliability.consistency import Seeds, called, seeds_of
from bayesbias.errors import InputError, listed, shown
from bayesbias.numerics.arrays import FloatArray, nearest_rows, unit_single, word_stability
from bayesbias.results import Note
from bayesbias.vectors import FoundWords, find_keys, find_words, rows_of, zero_words
from bayesbias.vectors.lookup import in_all, left_out
from bayesbias.words import words_given

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


PARTS = {"noun": "NOUN", "verb": "VERB", "adj": "ADJ", "adv": "ADV"}
"""Endings of WordNet's files, and the names of the parts of speech; ties go to the first."""
NUMBERS = {"1": "noun", "2": "verb", "3": "adj", "4": "adv", "5": "adj"}
"""Part of speech that the first number of a sense key stands for; 5 is a satellite of an adjective."""
COUNTS = ("cntlist.rev", "index.sense")
"""Files that hold how often a sense was tagged, the first that there is."""
ENDINGS = {
    "noun": (
        ("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"),
        ("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y"),
    ),
    "verb": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}  # fmt: skip
"""WordNet's rules of detachment: endings of inflected words, and those of their base forms."""

Entry = tuple[str, str]
"""Part of speech and lemma."""


@dataclass(frozen=True, eq=False)
class WordNet:
    """Words of WordNet.

    A word is looked up in lower case with underscores for blanks, as it stands and by its base forms: those of the
    lists of exceptions where they hold the word, else those that one of the rules of detachment gives.
    """

    synsets: Mapping[Entry, frozenset[str]]  # part of speech and lemma to the places of its synsets
    tagged: Mapping[Entry, int]  # and to how often its senses were tagged in text
    exceptions: Mapping[Entry, tuple[str, ...]]  # part of speech and irregular form to its base forms

    def senses(self, word: str) -> int:
        """Number of synsets over all parts of speech; 0 of a word that WordNet lacks.

        A synset counts once, also where two base forms share it (``axes``: ``ax``, ``axe``), which
        ``len(wn.synsets(word))`` of NLTK 3.10 counts twice.
        """
        return sum(len(self._of(word, part)) for part in PARTS)

    def part_of_speech(self, word: str) -> str | None:
        """The part of speech (NOUN, VERB, ADJ, ADV) that the word was tagged with most often.

        Among those tagged as often, the one with the most senses; then the first of noun, verb, adjective, adverb.
        None of a word that WordNet lacks.
        """
        known = [part for part in PARTS if self._of(word, part)]
        if not known:
            return None
        tags = {part: sum(self.tagged.get((part, form), 0) for form in self._forms(word, part)) for part in known}
        return PARTS[max(known, key=lambda part: (tags[part], len(self._of(word, part))))]

    def _of(self, word: str, part: str) -> frozenset[str]:
        return frozenset().union(*(self.synsets[part, form] for form in self._forms(word, part)))

    def _forms(self, word: str, part: str) -> list[str]:
        """The word and its base forms, as far as WordNet holds them."""
        plain = word.lower().replace(" ", "_")
        base = self.exceptions.get((part, plain)) or [
            plain.removesuffix(ending) + other for ending, other in ENDINGS[part] if plain.endswith(ending)
        ]
        return [form for form in dict.fromkeys([plain, *base]) if (part, form) in self.synsets]


def _read_wordnet(folder: str | Path) -> WordNet:
    """The files of the folder ``dict`` of WordNet 3: the indices, lists of exceptions and ``cntlist.rev``.

    NLTK's reader names one base form of a word only, and tags are counted over all of them.

    Miller, G. A. (1995). WordNet: a lexical database for English. https://doi.org/10.1145/219717.219748
    """
    place = home_folder(folder)
    counts = next((name for name in COUNTS if (place / name).is_file()), COUNTS[0])
    needed = [*(f"index.{part}" for part in PARTS), *(f"{part}.exc" for part in PARTS), counts]
    missing = [name for name in needed if not (place / name).is_file()]
    if missing:
        raise InputError(
            f"wordnet is {str(folder)!r}, where {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing: "
            "give the folder dict of WordNet 3 (of Debian's package wordnet-base it is /usr/share/wordnet)"
        )
    tagged: Counter[Entry] = Counter()
    synsets: dict[Entry, frozenset[str]] = {}
    exceptions: dict[Entry, tuple[str, ...]] = {}
    for part in PARTS:
        synsets |= {(part, lemma): offsets for lemma, offsets in _index(place / f"index.{part}")}
        exceptions |= {(part, form): tuple(base) for form, *base in _fields(place / f"{part}.exc", 2)}
    for key, *_, number in _fields(place / counts, 3):
        lemma, _, kind = key.rpartition("%")
        if kind[:1] not in NUMBERS or not number.isdecimal():
            raise _damaged(place / counts, key)
        tagged[NUMBERS[kind[0]], lemma] += int(number)
    return WordNet(synsets, tagged, exceptions)


def _index(path: Path) -> Iterator[tuple[str, frozenset[str]]]:
    """Lemma and the places of its synsets: their number is the third field, and they are the last ones."""
    for lemma, _, number, *rest in _fields(path, 4):
        if not number.isdecimal() or not 0 < int(number) <= len(rest):
            raise _damaged(path, lemma)
        yield lemma, frozenset(rest[-int(number) :])


def _fields(path: Path, least: int) -> Iterator[list[str]]:
    """Fields of the lines of a file; those that begin with a blank are its licence."""
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line[:1].isspace():
                continue
            fields = line.split()
            if len(fields) < least:
                raise _damaged(path, line.strip())
            yield fields


def _damaged(path: Path, where: str) -> InputError:
    return InputError(f"{path} is not of WordNet's format at {where!r}: give the folder dict of WordNet 3")


MADE_UP = -1
"""The step of the counts that gensim makes up for a file without counts."""


def word_features(
    kvs: Seeds,
    words: Iterable[str] | str | Path,
    counts: Mapping[str, float] | pd.Series | None = None,
    wordnet: str | Path | None = None,
    fit_on: Iterable[str] | str | Path | None = None,
    parts_of_speech: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Frequency, senses, part of speech, nearest neighbour, length and stability of words.

    Parameters
    ----------
    kvs
        As in :func:`bias_scores`.
    words
        Words to describe, or what :func:`load_list` takes; those that some embedding lacks are left out.
    counts
        Word to its number of occurrences. None takes the counts that embeddings carry (gensim's ``"count"``), but for
        those that fall by 1 from word to word, which gensim makes up for files without counts.
    wordnet
        The folder ``dict`` of WordNet 3, for ``log_senses`` and ``part_of_speech``.
    fit_on
        Words that the maps between embeddings are fitted to, or what :func:`load_list` takes; None takes all that the
        embeddings share.
    parts_of_speech
        Word to its part of speech, in place of WordNet's four: the study has 11, each word's most common tag in the
        Brown corpus.

    Returns
    -------
    DataFrame
        One row a word: ``word``; ``log_frequency`` (natural log, NaN if not known); ``log_frequency_squared`` (of the
        log frequency z-scored over these words); with WordNet ``log_senses`` (natural log of the number of synsets)
        and ``part_of_speech`` (NOUN, VERB, ADJ or ADV, the most frequent in its tagged texts, unless
        ``parts_of_speech`` are given), missing for words that it lacks; ``nn_similarity`` (cosine to the nearest other
        word) and ``l2_norm`` (of the raw vector), means over the embeddings; ``stability`` (mean over pairs of
        embeddings of the cosine of a word's vectors after an orthogonal map of one embedding to the other; NaN for
        one). ``attrs["notes"]`` says what was left out.

    Examples
    --------
    >>> kv = bb.load_embedding("glove-50d-slice")
    >>> kvs = [kv, bb.debias(kv, "project", definitional=[("poor", "rich")])]  # or of two seeds
    >>> features = bb.reliability.word_features(kvs, "occ16")
    """
    wanted = words_given(words, "words")
    named = seeds_of(kvs, wanted)
    for label, kv in named.items():
        if len(kv.index_to_key) < 2:
            raise InputError(f"{called(label)} holds a single word, which has no neighbour: give more words")
        zero_words(kv, kv.index_to_key)  # refuses numbers that are not finite
    senses = None if wordnet is None else _read_wordnet(wordnet)
    known = {label: find_words(kv, wanted) for label, kv in named.items()}
    shared = [word for word in wanted if all(word in entry.keys for entry in known.values())]
    if not shared:
        raise InputError(f"the embeddings share none of the {len(wanted)} words: choose other words")
    notes = _lost(wanted, known)
    frequency, remarks = _log_frequencies(named, shared, counts)
    known_frequency = frequency[~np.isnan(frequency)]
    spread = known_frequency.std(ddof=1) if len(known_frequency) > 1 else 0.0
    z = (frequency - known_frequency.mean()) / spread if spread > 0 else np.full(len(frequency), np.nan)
    columns: dict[str, Any] = {"word": shared, "log_frequency": frequency, "log_frequency_squared": z**2}
    notes += remarks
    if senses is not None:
        number = np.array([senses.senses(word) for word in shared], dtype=np.float64)
        columns["log_senses"] = np.log(number, out=np.full(len(shared), np.nan), where=number > 0)
        columns["part_of_speech"] = pd.array([senses.part_of_speech(word) for word in shared], dtype="str")
        notes += _left("log_senses", "not in WordNet", shared, number == 0)
    if parts_of_speech is not None:
        tags = _checked_tags(parts_of_speech, shared)
        columns["part_of_speech"] = pd.array(tags, dtype="str")
        notes += _left("part_of_speech", "no tag", shared, np.array([tag is None for tag in tags]))
    vectors = [entry.of(shared) for entry in known.values()]
    with progress("measuring words", len(named)) as done:
        near = []
        for i, kv in enumerate(named.values()):
            rows, unit = rows_of(kv, shared), unit_single(kv.vectors)
            near.append(np.vecdot(unit[rows].astype(np.float64), unit[nearest_rows(unit, rows, 1)[:, 0]]))
            done(i + 1)
        columns["nn_similarity"] = np.mean(near, axis=0)
        columns["l2_norm"] = np.mean([np.sqrt(np.vecdot(rows, rows)) for rows in vectors], axis=0)
        columns["stability"], remarks = _stability(named, vectors, fit_on)
    table = pd.DataFrame(columns)
    table.attrs["notes"] = tuple(notes + remarks)
    return table


def _lost(wanted: Sequence[str], known: Mapping[Hashable, FoundWords]) -> list[Note]:
    """Notes on the words that embeddings lack, one for those that lack the same."""
    lacking: dict[tuple[str, ...], list[str]] = {}
    for label, entry in known.items():
        lacking.setdefault(tuple(word for word in wanted if word not in entry.keys), []).append(called(label))
    named = [(lost, f"missing in {listed(names)}") for lost, names in lacking.items()]
    return [note for lost, why in named for note in left_out(len(lost), len(wanted), "words", why, lost)]


def _log_frequencies(
    named: Mapping[Hashable, KeyedVectors], words: Sequence[str], counts: Mapping[str, float] | pd.Series | None
) -> tuple[FloatArray, list[Note]]:
    """Natural log of the words' counts, NaN where there is none, and notes on these."""
    if counts is not None:
        known = _checked_counts(counts, words)
        return known, _left("log_frequency", "no count", words, np.isnan(known))
    own: list[FloatArray] = []
    made_up, bare = list[str](), list[str]()
    for label, kv in named.items():
        recorded = np.asarray(getattr(kv, "expandos", {}).get("count", ()), dtype=np.float64)
        if len(recorded) != len(kv.index_to_key) or not (recorded > 0).all():
            bare.append(called(label))
        elif (np.diff(recorded) == MADE_UP).all():
            made_up.append(called(label))
        else:
            own.append(np.log(recorded[rows_of(kv, words)]))
    notes = left_out(len(bare), len(named), "embeddings", "no counts", bare)
    notes += left_out(len(made_up), len(named), "embeddings", "made up, falling by 1", made_up)
    if own:
        return np.mean(own, axis=0), notes
    return np.full(len(words), np.nan), [
        *notes,
        Note("no-value", what="log_frequency", reason="no counts: give counts="),
    ]


def _checked_counts(counts: Mapping[str, float] | pd.Series, words: Sequence[str]) -> FloatArray:
    """Natural log of the counts, NaN of a word that has none."""
    if not isinstance(counts, Mapping) and (not hasattr(counts, "to_dict") or hasattr(counts, "columns")):
        raise InputError(f"counts is {type(counts).__name__}: give a mapping or a Series of words to counts")
    if not isinstance(counts, Mapping) and not counts.index.is_unique:
        raise InputError("counts holds a word more than once: add up its counts")
    keys = find_keys(words, counts.keys())
    if not keys:
        raise InputError(f"counts has none of the words {listed(list(words))}: give how often each occurs, or None")
    values = np.full(len(words), np.nan)
    for i, word in enumerate(words):
        value: object = counts.get(keys.get(word, word), 0)
        count = np.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
        if not 0 <= count < np.inf:
            raise InputError(f"the count of {word!r} is {value!r}: give a finite number of at least 0")
        if count > 0:
            values[i] = np.log(count)
    return values


def _checked_tags(given: Mapping[str, str], words: Sequence[str]) -> list[str | None]:
    """The part of speech of each word; None of a word that has none."""
    if not isinstance(given, Mapping) or not all(isinstance(tag, str) and tag.strip() for tag in given.values()):
        raise InputError(
            f"parts_of_speech is {shown(given)}: give a mapping of words to tags, such as {{'she': 'PRON'}}"
        )
    keys = find_keys(words, given)
    if not keys:
        raise InputError(f"parts_of_speech has none of the words {listed(list(words))}: give the tag of each, or None")
    return [given.get(keys.get(word, word)) for word in words]


def _left(column: str, reason: str, words: Sequence[str], which: NDArray[np.bool_]) -> list[Note]:
    """A note on some of the words, which have no value of a column."""
    some = [word for word, mark in zip(words, which, strict=True) if mark]
    return left_out(len(some), len(words), f"values of {column}", reason, some)


def _stability(
    named: Mapping[Hashable, KeyedVectors], vectors: Sequence[FloatArray], fit_on: Iterable[str] | str | Path | None
) -> tuple[FloatArray, list[Note]]:
    """Stability of words with these vectors (seeds, words, dimensions), and notes on what it rests on."""
    if len(named) == 1:
        return np.full(len(vectors[0]), np.nan), [Note("no-value", what="stability", reason="one embedding")]
    first = next(iter(named.values()))
    candidates = first.index_to_key if fit_on is None else words_given(fit_on, "fit_on")
    common, notes = in_all(candidates, named.values(), "words of fit_on")
    if not common:
        raise InputError("the embeddings share none of the words of fit_on: give words that all hold")
    notes = notes if fit_on is not None else []
    if len(common) <= first.vector_size:
        known = {"count": len(common), "what": "words", "total": first.vector_size, "of": "dimensions"}
        notes.append(Note("weak-basis", measure="stability", basis="map", **known))
    fitted = [kv.vectors[rows_of(kv, common)] for kv in named.values()]
    return word_stability(vectors, fitted), notes
