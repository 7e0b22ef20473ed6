"""``word_features``: what the reliability of a word's bias scores may hang on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbias._core.cosine import FloatArray, unit_single
from bayesbias._core.neighbours import nearest_rows
from bayesbias._core.procrustes import word_stability
from bayesbias._progress import progress
from bayesbias.embeddings import Embedding, FoundWords, about, find_words, opened, zero_words
from bayesbias.errors import InputError, listed
from bayesbias.reliability.wordnet import read_wordnet

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

MADE_UP = -1
"""The step of the counts that gensim makes up for a file without counts."""


def word_features(
    kvs: Mapping[Any, Embedding] | Sequence[Embedding] | Embedding,
    words: Iterable[str],
    counts: Mapping[str, float] | pd.Series | None = None,
    wordnet: str | Path | None = None,
    fit_on: Iterable[str] | None = None,
) -> pd.DataFrame:
    """Frequency, senses, part of speech, nearest neighbour, length and stability of words.

    Parameters
    ----------
    kvs
        Embeddings of one corpus and algorithm with other seeds, as a sequence or a mapping from names; or one.
    words
        The words to describe; those that some embedding lacks are left out.
    counts
        Word to its number of occurrences. None takes the counts that embeddings carry (gensim's ``"count"``), but for
        those that fall by 1 from word to word, which gensim makes up for files without counts.
    wordnet
        The folder ``dict`` of WordNet 3, for ``log_senses`` and ``part_of_speech``.
    fit_on
        Words that the maps between embeddings are fitted to; None takes all that the embeddings share.

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
        No embedding, no word that all hold, embeddings of different dimensions, wrong counts, or no WordNet there.

    References
    ----------
    Du, Y., Fang, Q. and Nguyen, D. (2021). Assessing the reliability of word embedding gender bias measures. EMNLP.
    https://doi.org/10.18653/v1/2021.emnlp-main.785
    """
    import pandas as pd

    asked, named = _listed(words, "words"), _named(kvs)
    senses = None if wordnet is None else read_wordnet(wordnet)
    found = {name: find_words(kv, asked) for name, kv in named.items()}
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


def _listed(words: Iterable[str], name: str) -> list[str]:
    """The words, each once."""
    listed_words = [] if isinstance(words, str) or not isinstance(words, Iterable) else list(dict.fromkeys(words))
    if not listed_words or not all(isinstance(word, str) for word in listed_words):
        raise InputError(f"{name} is {words!r}: give a list of words")
    return listed_words


def _named(kvs: Mapping[Any, Embedding] | Sequence[Embedding] | Embedding) -> dict[str, KeyedVectors]:
    """Names to embeddings that all have vectors of one length; a mapping of words to vectors is one embedding."""
    given: Any = kvs
    if isinstance(given, Mapping) and given and all(map(_is_embedding, given.values())):
        named = {str(getattr(name, "label", name)): opened(kv) for name, kv in given.items()}
    elif isinstance(given, Sequence) and not isinstance(given, str):
        named = {f"embedding {at}": opened(kv) for at, kv in enumerate(given, 1)}
    else:
        single = opened(given)
        named = {str(about(single)["name"]): single}
    if not named:
        raise InputError("no embedding was given: give one, or several that were trained with other seeds")
    sizes = {name: int(kv.vector_size) for name, kv in named.items()}
    if len(set(sizes.values())) > 1:
        said = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise InputError(f"the embeddings have different numbers of dimensions ({said}): describe them one by one")
    for name, kv in named.items():
        if len(kv.index_to_key) < 2:
            raise InputError(f"{name} holds a single word, which has no neighbour: give embeddings of more words")
        zero_words(kv, kv.index_to_key)  # refuses numbers that are not finite
    return named


def _is_embedding(value: object) -> bool:
    return isinstance(value, str | Path | Mapping) or hasattr(value, "key_to_index") or hasattr(value, "wv")


def _lost(asked: Sequence[str], found: Mapping[str, FoundWords]) -> list[str]:
    """Sentences on the words that embeddings lack, one for those that lack the same."""
    lacking: dict[tuple[str, ...], list[str]] = {}
    for name, one in found.items():
        lacking.setdefault(tuple(word for word in asked if word not in one.keys), []).append(name)
    return [
        f"{listed(names)} lack{'s' * (len(names) == 1)} {len(lost)} of {len(asked)} words, which are left out: "
        f"{listed(lost)}."
        for lost, names in lacking.items()
        if lost
    ]


def _log_frequencies(
    named: Mapping[str, KeyedVectors], words: Sequence[str], counts: Mapping[str, float] | pd.Series | None
) -> tuple[FloatArray, list[str]]:
    """Natural log of the words' counts, NaN where there is none, and sentences on these."""
    if counts is not None:
        known = _checked_counts(counts, words)
        return known, _left("Without a count", words, np.isnan(known))
    own = []
    made_up: list[str] = []
    bare: list[str] = []
    for name, kv in named.items():
        held = np.asarray(getattr(kv, "expandos", {}).get("count", ()), dtype=np.float64)
        if len(held) != len(kv.index_to_key) or not (held > 0).all():
            bare.append(name)
        elif (np.diff(held) == MADE_UP).all():
            made_up.append(name)
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
    named: Mapping[str, KeyedVectors], vectors: Sequence[FloatArray], fit_on: Iterable[str] | None
) -> tuple[FloatArray, list[str]]:
    """Stability of words with these vectors (seeds, words, dimensions), and sentences on what it rests on."""
    if len(named) == 1:
        return np.full(len(vectors[0]), np.nan), ["There is no stability of a single embedding: give other seeds."]
    first, *others = named.values()
    asked = first.index_to_key if fit_on is None else _listed(fit_on, "fit_on")
    common = [word for word in asked if word in first.key_to_index and all(word in kv.key_to_index for kv in others)]
    if not common:
        raise InputError("the embeddings share none of the words of fit_on: give words that all hold")
    held = set(common)
    notes = _left("Left out of fit_on", asked, np.array([word not in held for word in asked])) * (fit_on is not None)
    if len(common) <= first.vector_size:
        notes.append(
            f"The maps between embeddings rest on {len(common)} words in {first.vector_size} dimensions, so that any "
            "embeddings fit each other: stability is too high."
        )
    fitted = [kv.vectors[[kv.key_to_index[word] for word in common]] for kv in named.values()]
    return word_stability(vectors, fitted), notes
