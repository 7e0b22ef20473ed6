"""``word_features``: what the reliability of a word's bias scores may hang on."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbias._core.cosine import FloatArray, unit_single
from bayesbias._core.neighbours import nearest_rows
from bayesbias._core.procrustes import word_stability
from bayesbias._progress import progress
from bayesbias.embeddings import FoundWords, find_words, zero_words
from bayesbias.errors import InputError, listed
from bayesbias.reliability.seeds import Seeds, called, seeds_of
from bayesbias.reliability.wordnet import read_wordnet
from bayesbias.words import words_given

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

MADE_UP = -1
"""The step of the counts that gensim makes up for a file without counts."""


def word_features(
    kvs: Seeds,
    words: Iterable[str] | str | Path,
    counts: Mapping[str, float] | pd.Series | None = None,
    wordnet: str | Path | None = None,
    fit_on: Iterable[str] | str | Path | None = None,
) -> pd.DataFrame:
    """Frequency, senses, part of speech, nearest neighbour, length and stability of words.

    Parameters
    ----------
    kvs
        Embeddings that were trained alike but for their seed: a sequence, a mapping of labels (such as the result of
        :func:`train_embeddings`), or one.
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

    Returns
    -------
    DataFrame
        One row a word: ``word``; ``log_frequency`` (natural log, NaN if not known); ``log_frequency_squared`` (of the
        log frequency z-scored over these words); with WordNet ``log_senses`` (natural log of the number of synsets)
        and ``part_of_speech`` (NOUN, VERB, ADJ or ADV, the most frequent in its tagged texts), missing for words that
        it lacks; ``nn_similarity`` (cosine to the nearest other word) and ``l2_norm`` (of the raw vector), means over
        the embeddings; ``stability`` (mean over pairs of embeddings of the cosine of a word's vectors after an
        orthogonal map of one embedding to the other; NaN for one). ``attrs["notes"]`` says what was left out.

    Raises
    ------
    InputError
        No embedding, no word that all hold, settings that differ in more than the seed, embeddings of different
        dimensions or of a single word, wrong counts, or no WordNet there.

    References
    ----------
    Du, Y., Fang, Q. and Nguyen, D. (2021). Assessing the reliability of word embedding gender bias measures. EMNLP.
    https://doi.org/10.18653/v1/2021.emnlp-main.785
    """
    import pandas as pd

    asked, named = words_given(words, "words"), seeds_of(kvs)
    _check_embeddings(named)
    senses = None if wordnet is None else read_wordnet(wordnet)
    found = {label: find_words(kv, asked) for label, kv in named.items()}
    kept = [word for word in asked if all(word in one.keys for one in found.values())]
    notes = _lost(asked, found)
    if not kept:
        raise InputError(f"the embeddings share none of the {len(asked)} words: choose other words")
    frequency, said = _log_frequencies(named, kept, counts)
    columns: dict[str, Any] = {"word": kept, "log_frequency": frequency, "log_frequency_squared": _z(frequency) ** 2}
    notes += said
    if senses is not None:
        number = np.array([senses.senses(word) for word in kept], dtype=np.float64)
        columns["log_senses"] = np.log(number, out=np.full(len(kept), np.nan), where=number > 0)
        columns["part_of_speech"] = pd.array([senses.part_of_speech(word) for word in kept], dtype="str")
        notes += _left("Not in WordNet", kept, number == 0)
    vectors = [one.of(kept) for one in found.values()]
    with progress("measuring words", len(named)) as done:
        near = []
        for at, kv in enumerate(named.values()):
            near.append(_nearest(kv, kept))
            done(at + 1)
        columns["nn_similarity"] = np.mean(near, axis=0)
        columns["l2_norm"] = np.mean([np.sqrt(np.vecdot(rows, rows)) for rows in vectors], axis=0)
        columns["stability"], said = _stability(named, vectors, fit_on)
    table = pd.DataFrame(columns)
    table.attrs["notes"] = tuple(notes + said)
    return table


def _check_embeddings(named: Mapping[Hashable, KeyedVectors]) -> None:
    """Refuse vectors that are not finite, and a vocabulary of a single word."""
    for label, kv in named.items():
        if len(kv.index_to_key) < 2:
            raise InputError(f"{called(label)} holds a single word, which has no neighbour: give more words")
        zero_words(kv, kv.index_to_key)  # refuses numbers that are not finite


def _lost(asked: Sequence[str], found: Mapping[Hashable, FoundWords]) -> list[str]:
    """Sentences on the words that embeddings lack, one for those that lack the same."""
    lacking: dict[tuple[str, ...], list[str]] = {}
    for label, one in found.items():
        lacking.setdefault(tuple(word for word in asked if word not in one.keys), []).append(called(label))
    return [
        f"{listed(names)} lack{'s' * (len(names) == 1)} {len(lost)} of {len(asked)} words, which are left out: "
        f"{listed(lost)}."
        for lost, names in lacking.items()
        if lost
    ]


def _log_frequencies(
    named: Mapping[Hashable, KeyedVectors], words: Sequence[str], counts: Mapping[str, float] | pd.Series | None
) -> tuple[FloatArray, list[str]]:
    """Natural log of the words' counts, NaN where there is none, and sentences on these."""
    if counts is not None:
        known = _checked_counts(counts, words)
        return known, _left("Without a count", words, np.isnan(known))
    own = []
    made_up: list[str] = []
    bare: list[str] = []
    for label, kv in named.items():
        held = np.asarray(getattr(kv, "expandos", {}).get("count", ()), dtype=np.float64)
        if len(held) != len(kv.index_to_key) or not (held > 0).all():
            bare.append(called(label))
        elif (np.diff(held) == MADE_UP).all():
            made_up.append(called(label))
        else:
            own.append(np.log(held[[kv.key_to_index[word] for word in words]]))
    notes = [f"No counts of words come with {listed(bare)}."] * bool(bare)
    if made_up:
        notes.append(f"The counts of {listed(made_up)} fall by 1 from word to word: they are made up, and not used.")
    if own:
        return np.mean(own, axis=0), notes
    return np.full(len(words), np.nan), [*notes, "There is no log_frequency: give the corpus's counts as counts=."]


def _checked_counts(counts: Mapping[str, float] | pd.Series, words: Sequence[str]) -> FloatArray:
    """Natural log of the counts, NaN of a word that has none."""
    if not isinstance(counts, Mapping) and not hasattr(counts, "to_dict"):
        raise InputError(f"counts is {type(counts).__name__}: give a mapping or a Series of words to counts")
    if not isinstance(counts, Mapping) and not counts.index.is_unique:
        raise InputError("counts holds a word more than once: add up its counts")
    values = np.full(len(words), np.nan)
    for at, word in enumerate(words):
        value: object = counts.get(word, 0)
        count = np.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
        if not 0 <= count < np.inf:
            raise InputError(f"the count of {word!r} is {value!r}: give a finite number of at least 0")
        if count > 0:
            values[at] = np.log(count)
    return values


def _left(what: str, words: Sequence[str], which: NDArray[np.bool_]) -> list[str]:
    """A sentence on some of the words."""
    some = [word for word, said in zip(words, which, strict=True) if said]
    return [f"{what} ({len(some)} of {len(words)} words): {listed(some)}."] if some else []


def _z(values: FloatArray) -> FloatArray:
    """Standardised over the values there are (ddof 1); NaN where they do not vary."""
    some = values[~np.isnan(values)]
    spread = some.std(ddof=1) if len(some) > 1 else 0.0
    standard: FloatArray = (values - some.mean()) / spread if spread > 0 else np.full(len(values), np.nan)
    return standard


def _nearest(kv: KeyedVectors, words: Sequence[str]) -> FloatArray:
    """Cosine of each word to the nearest other word of the vocabulary."""
    rows = np.array([kv.key_to_index[word] for word in words], dtype=np.intp)
    unit = unit_single(kv.vectors)
    nearest = nearest_rows(unit, rows, 1)[:, 0]
    cosines: FloatArray = np.vecdot(unit[rows].astype(np.float64), unit[nearest])
    return cosines


def _stability(
    named: Mapping[Hashable, KeyedVectors], vectors: Sequence[FloatArray], fit_on: Iterable[str] | str | Path | None
) -> tuple[FloatArray, list[str]]:
    """Stability of words with these vectors (seeds, words, dimensions), and sentences on what it rests on."""
    if len(named) == 1:
        return np.full(len(vectors[0]), np.nan), ["There is no stability of a single embedding: give other seeds."]
    first, *others = named.values()
    asked = first.index_to_key if fit_on is None else words_given(fit_on, "fit_on")
    common = [word for word in asked if word in first.key_to_index and all(word in kv.key_to_index for kv in others)]
    if not common:
        raise InputError("the embeddings share none of the words of fit_on: give words that all hold")
    held = set(common)
    notes = _left("Left out of fit_on", asked, np.array([word not in held for word in asked])) * (fit_on is not None)
    if len(common) <= first.vector_size:
        notes.append(
            f"The maps between embeddings rest on {len(common)} words in {first.vector_size} dimensions, so that they "
            "fit any embeddings: stability is too high for these words and too low for others."
        )
    fitted = [kv.vectors[[kv.key_to_index[word] for word in common]] for kv in named.values()]
    return word_stability(vectors, fitted), notes
