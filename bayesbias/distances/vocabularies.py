"""Relatedness of the words of lists, in one or several embeddings, and their frequency, from vocabularies."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesbias._support.arguments import as_float, mapping, whole_number
from bayesbias._support.columns import are_quoted, lines_of, separator_of, tell_passed_over, unquoted
from bayesbias._support.files import file_at
from bayesbias.distances.covariances import Relatedness, relatedness_in_fit
from bayesbias.distances.dataframe import DistanceTable, coverage_of, provenance_of, relatedness_of
from bayesbias.distances.distances import Distances
from bayesbias.distances.list_coverage import entries_of
from bayesbias.errors import InputError, RelatednessWarning, install, listed, shown, warn, within
from bayesbias.numerics.arrays import NOTHING, FloatArray, unit_rows
from bayesbias.numerics.constants import ENOUGH, LEAST_SAMPLE, SAMPLE
from bayesbias.numerics.related import PairSample, near_weights, root_of, sample_pairs, variograms
from bayesbias.results import Note
from bayesbias.vectors import Case, Embedding, find_concepts, find_keys, opened, opened_by_name, rows_of
from bayesbias.vectors.lookup import (
    FoundConcepts,
    Nearness,
    VectorsOf,
    VocabularySample,
    about_distances,
    directed,
    drawn_rows,
    local_sample,
    missing_words,
    nearness_of,
    sample_of,
    subwords_of,
    thinned,
    waiting_words,
    warn_lost,
)
from bayesbias.vectors.lookup import ordered_by_frequency as ordered_by_frequency
from bayesbias.words import AnyWords, WordLists, load_words, subtag

if TYPE_CHECKING:
    import xarray as xr
    from gensim.models import KeyedVectors


PROTECTED, STEREOTYPE, CONTROL = "protected", "stereotype", "control"  # kinds of lists
ROWS = 10_000  # vectors that are scaled together
# multiplications for the similarities of each two sampled words, beyond which fewer words are taken for them
PRODUCTS = 3e10
COMMON_WORDS = "of an encoder, encode 1,000 common words of the language too"
BESIDE = "are no protected or stereotype words"  # of the words that a sample may hold
SHARED = "shared"  # kind of a sample that embeddings share which were sampled in different ways

FREQUENCY, LENGTH = "frequency", "length"
WORDFREQ = "wordfreq"
ENGLISH = "en"
WORDFREQ_TAGS = {"tl": "fil"}  # languages that wordfreq has under another tag
PER_BILLION = 9.0
OFFSET = 2.7  # frequency falls with 1 / (rank + this), from rank 1 (Mandelbrot)


class SampledWords(NamedTuple):
    """Sampled words and their vectors, how they were drawn, and the places of these and all keys in an ordered file."""

    words: tuple[str, ...]
    vectors: NDArray[np.floating]
    kind: str
    places: Mapping[str, int]
    # weights under which the sample is one of the vocabulary; None where all are 1
    everywhere: NDArray[np.floating] | None


def relatedness(
    kv: Embedding | pd.DataFrame | xr.DataTree,
    words: AnyWords | None = None,
    sample: int = SAMPLE,
    seed: int = 0,
    case: Case = "as-is",
) -> Relatedness:
    """Estimate the correlation of the distances of similar words from the vectors.

    Parameters
    ----------
    kv
        The embedding, or what :func:`load_embedding` takes; a distance table or a fit carries its own relatedness.
    words
        Word lists, or what :func:`load_words` takes; not with a table or a fit.
    sample
        Words of the vocabulary to sample, none of them a protected or stereotype word. Where the file is ordered by
        frequency (its first words are much shorter than the others, and not in alphabetical order) they follow the
        smoothed distribution of the stereotypes' ranks, each list weighing the same (without stereotypes, that of the
        control words'); elsewhere each word is as likely as any other. Words are
        drawn by a hash of their letters, so that two embeddings are sampled at the same words.
    seed
        Seed of the sample. A part of an embedding (``load_embedding(path, words=...)``) carries one drawn with seed 0.
    case
        As in :func:`distance_table`.

    Warns
    -----
    RelatednessWarning
        Fewer than 400 words beside the protected and stereotype words: variances are then made larger.

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> related = bb.relatedness(kv, "weat7")
    >>> related.effective_words()[["list", "words"]].head(2)
       list  words
    0  math      8
    1  arts      8
    """
    import xarray as xr

    if isinstance(kv, pd.DataFrame | xr.DataTree):
        carried = relatedness_of(kv) if isinstance(kv, pd.DataFrame) else relatedness_in_fit(kv)
        if carried is None:
            raise InputError(
                "this carries no relatedness: make the table with distance_table(kv, words), or give the embedding"
            )
        if words is not None:
            raise InputError("a table or a fit carries its own relatedness: leave words out, or give an embedding")
        return carried
    if words is None:
        raise InputError("words are missing: give word lists, their name or the path of their file")
    lists = load_words(words)
    measured = measured_relatedness(
        opened(kv, lists, case), lists, whole_number(sample, "sample", LEAST_SAMPLE), seed, case
    )
    if isinstance(measured, str):
        raise InputError(measured)
    if measured.sampled < ENOUGH:
        warn(few_words(measured), RelatednessWarning)
    held = {*measured.protected_words, *measured.attribute_words}
    warn_lost(missing_words(entries_of(lists, held)), "bb.checks.check_words(words, kv)")
    return measured


def few_words(relatedness: Relatedness) -> str:
    """A warning about a small sample."""
    return (
        f"only {relatedness.sampled} words of the vocabulary {BESIDE}, fewer than {ENOUGH}: their covariance is known "
        f"badly, and intervals are made up to {np.sqrt(relatedness.inflation):.2f} times as wide; {COMMON_WORDS}"
    )


def measured_relatedness(
    kv: KeyedVectors, lists: WordLists, sample: int, seed: int, case: Case, drawn: SampledWords | None = None
) -> Relatedness | str:
    """The relatedness of word lists in an embedding, or the reason why there is none.

    ``drawn`` is a sample that several embeddings share; None draws one from the vocabulary.
    """
    looked = find_concepts(kv, lists.concepts, case, lists.language)
    concepts = looked.concepts
    protected = [word for word in lists.group_of if word in concepts]
    entries = tuple(
        (name, kind, tuple(word for word in words if word in concepts))
        for kind, lists_of_kind in lists.by_kind
        for name, words in lists_of_kind.items()
        if any(word in concepts for word in words)
    )
    attributes = list(dict.fromkeys(word for _, role, words in entries if role != PROTECTED for word in words))
    seed = whole_number(seed, "seed", least=0, most=None)
    if drawn is None:
        drawn = _drawn(kv, looked, lists, sample, seed)
    if len(drawn.words) < LEAST_SAMPLE:
        return (
            f"{len(drawn.words)} words of the embedding {BESIDE}, and relatedness needs {LEAST_SAMPLE}: give the whole "
            "embedding, or load the words of the lists from it with load_embedding(path, words=lists), which keeps a "
            f"sample of the others; {COMMON_WORDS}"
        )
    units = unit_rows(drawn.vectors)
    apart = units - units[0]
    for role, words in (("protected", protected), ("attribute", attributes)):
        blocks = (looked.units(words[begin : begin + ROWS]) for begin in range(0, len(words), ROWS))
        if words and not any(np.abs(apart @ block.T).max() > NOTHING for block in blocks):
            return f"each {role} word is as far from all words outside of the lists: look at where vectors come from"
    half = [_half_units(looked, words) for words in (protected, attributes)]
    ranked = [looked.forms.keys[concepts[word][0]] for word in (*protected, *attributes)]
    several = [(i, form) for i, word in enumerate(attributes) if len(concepts[word]) > 1 for form in concepts[word]]
    return _read_off(
        drawn,
        np.array([drawn.places[key] for key in ranked], dtype=np.int32) if drawn.places else None,
        embedding=about_distances(kv),
        seed=seed,
        lists=entries,
        protected_words=tuple(protected),
        attribute_words=tuple(attributes),
        protected=half[0],
        attributes=half[1],
        forms=_half_units(looked.of_forms, [form for _, form in several]) if several else None,
        form_of=np.array([place for place, _ in several], dtype=np.int32) if several else None,
    )


def resampled(relatedness: Relatedness, drawn: SampledWords) -> Relatedness:
    """The relatedness of the same lists, estimated at other sampled words of their embedding."""
    names = ("embedding", "seed", "lists", "protected_words", "attribute_words", "protected", "attributes")
    own = {name: getattr(relatedness, name) for name in (*names, "forms", "form_of")}
    ranks = relatedness.ranks
    return _read_off(drawn, None if ranks is None or not drawn.places else ranks[relatedness.sampled :], **own)


def _read_off(drawn: SampledWords, ranks: NDArray[np.int32] | None, **own: Any) -> Relatedness:
    """Relatedness of lists from sampled words; ``own`` are fields of the lists, ``ranks`` the places of their words."""
    protected, attributes = own["protected"], own["attributes"]
    vectors = unit_rows(drawn.vectors)
    everywhere = np.ones(len(vectors)) if drawn.everywhere is None else drawn.everywhere.astype(float)
    everywhere /= everywhere.mean()
    mean = everywhere @ vectors / len(vectors)
    centre = mean.astype(np.float32).astype(float)
    pairs = sample_pairs(unit_rows(vectors - centre), np.random.default_rng([own["seed"], 1]))
    apart = -(vectors - mean).T
    scatter = apart if len(protected) > len(apart) else (protected.astype(float) @ apart).astype(np.float16)
    place = {word: i for i, word in enumerate(own["attribute_words"])}
    compared = _of_kind(own["lists"], STEREOTYPE)
    if len(compared) < 2:  # one list alone does not tell how distances to one differ from those to another
        compared += _of_kind(own["lists"], CONTROL)
    by_list = [attributes[[place[word] for word in words]] for words in compared]
    means = np.stack([listed.mean(axis=0, dtype=float) for listed in by_list])
    # what several lists share says nothing of how distances to one list differ from those to another
    for rows in (means - means.mean(axis=0) if len(means) > 1 else means, attributes[:ROWS].astype(float)):
        fields = rows @ vectors.T
        fields -= (fields @ everywhere / len(vectors))[:, None]
        spread = np.sqrt(fields**2 @ everywhere / len(vectors))
        if (known := spread > NOTHING).any():  # else lists have one mean, or words that cancel out, and words tell it
            break
    curve: FloatArray = variograms(fields[known] / spread[known, None], pairs, everywhere).mean(axis=0)
    if ranks is not None:
        ranks = np.concatenate([[drawn.places[word] for word in drawn.words], ranks]).astype(np.int32)
    result = Relatedness(
        kind=drawn.kind,
        sample_words=drawn.words,
        centre=centre,
        scatter=scatter.astype(np.float32) if len(scatter) < len(protected) else scatter,
        pairs=pairs,
        protected_curve=curve,
        ranks=ranks,
        sample=vectors.astype(np.float16),
        everywhere=None if drawn.everywhere is None else everywhere.astype(np.float32),
        **own,
    )
    lists = result.stereotype_nearness() if len(protected) else {}
    if not lists:
        return result
    at = (vectors - mean) @ protected.mean(axis=0, dtype=float)
    near = near_weights(at, [np.array(list(words.values())) for words in lists.values()])
    return replace(result, near=near.astype(np.float32))


def _of_kind(lists: Iterable[tuple[str, str, tuple[str, ...]]], kind: str) -> list[tuple[str, ...]]:
    """Words of the lists of a kind, of those of relatedness."""
    return [words for _, role, words in lists if role == kind]


def _drawn(kv: KeyedVectors, looked: FoundConcepts, lists: WordLists, sample: int, seed: int) -> SampledWords:
    """The sample of an embedding, or of the one that an embedding is a part of."""
    own, part = _keys_beside(looked, lists), sample_of(kv)
    if part is not None:
        codes = np.array([i for i, word in enumerate(part.words) if word not in own], dtype=np.intp)
        rows = codes[thinned([part.words[code] for code in codes.tolist()], sample, seed)]
        sampled = tuple(part.words[row] for row in rows.tolist())
        weights = None if part.everywhere is None else part.everywhere[rows]
        return SampledWords(sampled, part.vectors[rows], part.kind, part.places, weights)
    followed = [
        rows_of(kv, (looked.forms.keys[form] for word in words for form in looked.concepts[word]))
        for listed_words in lists.followed.values()
        if (words := [word for word in listed_words if word in looked.concepts])
    ]
    waiting = waiting_words(kv.index_to_key, own, sample, seed, followed)
    local = local_sample(waiting, [kv.vectors.__getitem__], [[nearness_of(looked, lists)]], sample)
    places = kv.key_to_index if ordered_by_frequency(kv.index_to_key) else {}
    sampled = tuple(kv.index_to_key[row] for row in local.rows.tolist())
    return SampledWords(sampled, local.vectors[0], waiting.kind, places, local.everywhere)


def _keys_beside(looked: FoundConcepts, lists: WordLists) -> set[str]:
    """Keys of the protected words and of the lists that a sample follows: no sample holds them."""
    every = chain(lists.group_of, *lists.followed.values())
    return {looked.forms.keys[form] for word in every for form in looked.concepts.get(word, ())}


def _half_units(looked: FoundConcepts, words: Sequence[str]) -> NDArray[np.float16]:
    """Unit vectors in half precision, by blocks of rows; of concepts the means of their forms'."""
    half = np.empty((len(words), looked.forms.vectors.shape[1]), dtype=np.float16)
    for begin in range(0, len(words), ROWS):
        half[begin : begin + ROWS] = looked.units(words[begin : begin + ROWS])
    return half


def sampled_rows(
    kv: KeyedVectors, listed_keys: set[str], sample: int, seed: int, followed: Sequence[NDArray[np.intp]] | None = None
) -> tuple[NDArray[np.intp], str]:
    """Rows of sampled words outside of the lists, in the order of the file, and how they were sampled."""
    drawn, kind = drawn_rows(kv.index_to_key, listed_keys | subwords_of(kv), sample, seed, followed)
    return np.sort(directed(kv, drawn)[:sample]), kind


@dataclass(frozen=True)
class WordValues:
    """A number for each of some words."""

    name: str  # frequency, length or a name of the user's own
    unit: str  # what a difference of 1 is
    source: str  # where the numbers come from
    numbers: Mapping[str, float]  # words without one are absent

    def of(self, words: Iterable[str]) -> FloatArray:
        """The numbers of some words, NaN where there is none."""
        return np.array([self.numbers.get(word, np.nan) for word in words], dtype=float)


def word_values(
    words: Sequence[str],
    attribute: str | Mapping[str, Mapping[str, float]] = FREQUENCY,
    frequencies: Mapping[str, float] | str | Path | KeyedVectors | None = None,
    related: Relatedness | None = None,
    language: str | None = None,
) -> WordValues:
    """The numbers of words under an attribute: frequency, length (letters), or one of the user's own.

    Frequencies are counts or relative frequencies in a mapping or a file with two columns (word, count), an embedding
    whose file is ordered by frequency, or ``"wordfreq"``. They are looked up as words are written, else in lower case,
    and counted in zipf, the decimal logarithm of the occurrences in a billion words (van Heuven et al. 2014,
    https://doi.org/10.1080/17470218.2013.850521). None takes the order of the embedding behind the table, which its
    relatedness knows, else wordfreq where that is installed.
    """
    if isinstance(attribute, Mapping):
        if len(attribute) != 1 or not isinstance(numbers := next(iter(attribute.values())), Mapping):
            raise InputError(
                "an attribute of your own is a mapping with one entry: its name, and the number of each word"
            )
        name = str(next(iter(attribute)))
        numbers = numbers_by_word(numbers, name)
        held = find_keys(words, numbers, language=language)
        values = WordValues(name, "unit", "what was given", {word: numbers[key] for word, key in held.items()})
    elif not isinstance(attribute, str):
        raise InputError(f"{shown(attribute)} is no attribute of words: give {FREQUENCY!r}, {LENGTH!r} or a mapping")
    elif attribute == LENGTH:
        values = WordValues(LENGTH, "letter", "the words", {word: float(len(word)) for word in words})
    elif attribute == FREQUENCY:
        values = _zipf(words, frequencies, related, language)
    else:
        raise InputError(
            f"the attribute is {attribute!r}: give 'frequency', 'length', or a mapping such as "
            "{'concreteness': {'table': 4.9, ...}}"
        )
    known = values.of(words)
    if np.isnan(known).all():
        raise InputError(f"{values.source} has {values.name} for none of the words, such as {listed(list(words)[:3])}")
    return values


def check_used(adjust: object, frequencies: object) -> None:
    """Refuse frequencies that nothing would use."""
    if adjust is None and frequencies is not None:
        raise InputError("frequencies are given, but nothing is adjusted for: give adjust='frequency' too")


def numbers_by_word(values: Mapping[str, float] | pd.Series, name: str, positive: bool = False) -> dict[str, float]:
    """The finite numbers of words, above 0 if ``positive``."""
    numbers: dict[str, float] = {}
    for word, value in values.items():
        if not isinstance(word, str):
            raise InputError(f"{name} is given for {shown(word)}: words are text (pandas reads 'nan' as missing)")
        number = as_float(value)
        if not isfinite(number) or (positive and number <= 0):
            kind = "numbers above 0" if positive else "finite numbers"
            raise InputError(f"{name} of {word!r} is {shown(value)}: give {kind}, and leave unknown words out")
        if word in numbers:
            raise InputError(f"{name} has two numbers for {word!r}: keep one")
        numbers[word] = number
    return numbers


def _zipf(
    words: Sequence[str],
    frequencies: Mapping[str, float] | str | Path | KeyedVectors | None,
    related: Relatedness | None,
    language: str | None,
) -> WordValues:
    if frequencies is None and related is not None and (ranks := related.ranks_by_word):
        size = int(related.embedding["vectors"])
        source = f"the order of the file of {related.embedding.get('name', 'the embedding')}"
        return WordValues(FREQUENCY, "zipf", source, _zipf_of_ranks(ranks, size))
    if frequencies is None or (isinstance(frequencies, str) and frequencies == WORDFREQ):
        numbers, tag = _from_wordfreq(words, frequencies is not None, language)
        return WordValues(FREQUENCY, "zipf", f"wordfreq ({'English' if tag == ENGLISH else tag})", numbers)
    if isinstance(frequencies, Mapping):
        counts, source = numbers_by_word(frequencies, FREQUENCY, positive=True), "the frequencies that were given"
    elif isinstance(frequencies, str | Path):
        counts, source = _read_counts(frequencies), f"the file {Path(frequencies).name}"
    elif hasattr(frequencies, "index_to_key"):
        keys, part = opened(frequencies).index_to_key, sample_of(frequencies)
        ordered = ordered_by_frequency(keys) if part is None else bool(part.places)
        if not ordered:
            raise InputError(
                "the embedding does not seem to be ordered by frequency (its first words would be short, and not in "
                "alphabetical order): give counts"
            )
        places = frequencies.key_to_index if part is None else part.places
        size = len(keys) if part is None else part.size
        held = find_keys(words, places, language=language)
        values = _zipf_of_ranks({word: places[key] for word, key in held.items()}, size)
        return WordValues(FREQUENCY, "zipf", "the order of the embedding's file", values)
    else:
        raise InputError(
            f"frequencies are a {type(frequencies).__name__}: give a mapping of words to counts, the path of a file "
            f"with two columns, an embedding ordered by frequency, or {WORDFREQ!r}"
        )
    if not counts:
        raise InputError(f"{source} holds no word")
    # the Zipf scale: log10 of the occurrences in a billion words
    offset = PER_BILLION - np.log10(sum(counts.values()))
    lower = find_keys((word.lower() for word in words), counts, language=language)
    held = {word: lower[word.lower()] for word in words if word.lower() in lower}
    held |= find_keys(words, counts, language=language)
    zipf = {word: float(np.log10(counts[key]) + offset) for word, key in held.items()}
    return WordValues(FREQUENCY, "zipf", source, zipf)


def _zipf_of_ranks(ranks: Mapping[str, int], size: int) -> dict[str, float]:
    """Zipf values of places in a file that is ordered by frequency, counted from 0."""
    total = (1 / (np.arange(1, size + 1) + OFFSET)).sum()
    return {word: float(PER_BILLION - np.log10((rank + 1 + OFFSET) * total)) for word, rank in ranks.items()}


def _from_wordfreq(words: Sequence[str], wanted: bool, language: str | None) -> tuple[dict[str, float], str]:
    """Zipf values, and the tag under which wordfreq has the language."""
    what = "give frequencies= (a mapping of words to counts, or the path of a file with two columns)"
    try:
        from wordfreq import available_languages, zipf_frequency
    except ImportError:
        start = "frequencies='wordfreq' needs the package wordfreq" if wanted else "frequencies are not known"
        raise InputError(f"{start}: {what}, or install it with {install('frequencies')}") from None
    tag = subtag(language) or ENGLISH
    tag = WORDFREQ_TAGS.get(tag, tag)
    if tag not in available_languages():
        raise InputError(f"wordfreq has no frequencies of the language {language!r} of the word lists: {what}")
    try:
        zipf = {word: float(zipf_frequency(word.replace("_", " "), tag)) for word in words}
    except ImportError as error:  # words of some languages are cut by other packages
        raise InputError(f"wordfreq cannot read words of the language {language!r} ({error}): {what}") from None
    return {word: value for word, value in zipf.items() if value > 0}, tag


def _read_counts(path: str | Path) -> dict[str, float]:
    """Counts from a file with two columns, apart by tabs, semicolons, commas or blanks; a header is passed over.

    Counts of 0 and lines that cannot be read are passed over and told.
    """
    content = file_at(path, "give the path of a file with frequencies, or 'wordfreq'").read_bytes()
    entries = lines_of(content.decode("utf-8-sig", errors="surrogateescape"))
    separator = separator_of(entries.values(), "\t", lambda line, each: _word_and_count(line, each)[1] >= 0)
    counts: dict[str, float] = {}
    odd, parts = {}, [_word_and_count(line, separator) for line in entries.values()]
    words = [word for word, _ in parts]
    words = unquoted(words) if are_quoted(words) else words
    for (number, line), word, (_, count) in zip(entries.items(), words, parts, strict=True):
        if count > 0 and not ESCAPED.search(word):
            counts[word] = counts.get(word, 0.0) + count
        elif number > min(entries) or count >= 0:  # else a header
            odd[number] = line
    if len(odd) > len(counts):
        number, line = next(iter(odd.items()))
        raise InputError(f"{path}, line {number}: {line[:60]!r} is not a word and its count")
    tell_passed_over(path, odd, "a word and a count above 0")
    return counts


ESCAPED = re.compile("[\udc80-\udcff]")  # bytes that are no UTF-8


def _word_and_count(line: str, separator: str) -> tuple[str, float]:
    """The two parts of a line, whose word may hold a comma; the count is NaN where it is no number from 0."""
    word, *count = (part.strip() for part in line.rsplit(separator.strip(" ") or None, 1))
    try:
        value = float(count[0]) if count and word else np.nan
    except ValueError:
        value = np.nan
    return word, value if 0 <= value < np.inf else np.nan


def share_sample(tables: Mapping[str, pd.DataFrame], embeddings: Mapping[str, Embedding]) -> dict[str, DistanceTable]:
    """Distance tables whose relatedness is estimated at the same words of all embeddings.

    Tables that were made one by one are sampled each for itself, and samples of different vocabularies share few
    words. :func:`distance_tables` makes tables with a shared sample.

    Parameters
    ----------
    tables, embeddings
        Distance tables of different embeddings by name, each with relatedness, and their embeddings.

    Returns
    -------
    dict of DistanceTable
        The same distances, whose ``relatedness`` is of up to 3,000 words that all vocabularies hold outside of the
        lists.

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> debiased = bb.debias(kv, "hard", definitional="gender_pairs")
    >>> embeddings = {"before": kv, "after": debiased}
    >>> tables = {name: bb.distance_table(each, "weat7") for name, each in embeddings.items()}
    >>> shared = bb.checks.share_sample(tables, embeddings)
    >>> len(set(bb.relatedness(shared["before"]).sample_words) ^ set(bb.relatedness(shared["after"]).sample_words))
    0
    """
    tables = mapping(tables, "tables", "distance tables", pd.DataFrame)
    kvs = opened_by_name(mapping(embeddings, "embeddings", "embeddings"))
    if set(tables) != set(kvs):
        raise InputError(f"embeddings has the names {listed(list(kvs))}: give those of tables, {listed(list(tables))}")
    for name, table in tables.items():
        with within(name):
            Distances.read(table, check=False)
    related = {name: relatedness_of(table) for name, table in tables.items()}
    if lacking := [name for name, each in related.items() if each is None]:
        raise InputError(f"the tables of {listed(lacking)} carry no relatedness: make them with distance_table")
    known = {name: each for name, each in related.items() if each is not None}
    # the words of the tables' lists as they are written in the embeddings
    keys, lists = set[str](), list[list[str]]()
    for name, each in known.items():
        record = coverage_of(tables[name])
        key_of, forms_of = ({}, {}) if record is None else (record.substituted, record.forms)
        followed = _of_kind(each.lists, STEREOTYPE) or _of_kind(each.lists, CONTROL)
        for words in (*_of_kind(each.lists, PROTECTED), *followed):
            forms = [form for word in words for form in forms_of.get(word, (word,))]
            own = [key_of.get(form, form) for form in forms]
            keys.update(own)
            if words in followed:
                lists.append(own)
    nearness = [[_nearness_in(each)] for each in known.values()]
    drawn = _shared_draws([kvs[name] for name in tables], keys, lists, nearness)
    if isinstance(drawn, str):
        raise InputError(drawn)
    return {
        name: DistanceTable.carrying(
            tables[name], replace(provenance_of(tables[name]), relatedness=resampled(known[name], own))
        )
        for name, own in zip(tables, drawn, strict=True)
    }


def _nearness_in(relatedness: Relatedness) -> Nearness | None:
    """Nearness of the stereotype words of a table."""
    lists = relatedness.stereotype_nearness() if relatedness.protected_words else {}
    if not lists:
        return None
    mean = relatedness.protected.mean(axis=0, dtype=float)
    level = float(relatedness.centre @ mean)
    return Nearness(mean, {name: {word: at + level for word, at in words.items()} for name, words in lists.items()})


def draws_for(
    embeddings: Sequence[KeyedVectors], lists: Sequence[Sequence[WordLists]], case: Case
) -> list[SampledWords] | str:
    """Samples of several embeddings at the same words, for the word lists of each; or why there are none."""
    keys, followed = set[str](), list[tuple[str, ...]]()
    nearness: list[list[Nearness | None]] = [[] for _ in embeddings]
    for kv, own, near in zip(embeddings, lists, nearness, strict=True):
        for each in own:
            looked = find_concepts(kv, each.concepts, case, each.language)
            near.append(nearness_of(looked, each))
            keys |= _keys_beside(looked, each)
            for words in each.followed.values():
                forms = [form for word in words for form in looked.concepts.get(word, ())]
                followed.append(tuple(looked.forms.keys[form] for form in forms))
    return _shared_draws(embeddings, keys, followed, nearness)


def _shared_draws(
    embeddings: Sequence[KeyedVectors],
    keys: Collection[str],
    lists: Sequence[Sequence[str]],
    nearness: Sequence[Sequence[Nearness | None]],
) -> list[SampledWords] | str:
    """Samples of several embeddings at the same words, or why there are none.

    Keys, the words of all lists, are not sampled; where files are ordered by frequency, the sample follows the ranks of
    the words of attribute lists, and in all files how near those of stereotypes are to the protected words.
    """
    vocabularies, places = list[Sequence[str]](), list[dict[str, int]]()
    parts = [sample_of(kv) for kv in embeddings]
    for kv, part in zip(embeddings, parts, strict=True):
        vocabularies.append(kv.index_to_key if part is None else part.words)
        known = kv.key_to_index if part is None and ordered_by_frequency(kv.index_to_key) else {}
        places.append(dict(known if part is None else part.places))
    common = set(vocabularies[0]).intersection(*vocabularies[1:])
    common |= {word for words in lists for word in words if all(word in kv.key_to_index for kv in embeddings)}
    if len(common - set(keys)) < LEAST_SAMPLE:
        return f"the vocabularies share {len(common - set(keys))} words that {BESIDE}, and {LEAST_SAMPLE} are needed"
    ordered = [place for place in places if place]
    # a word's place among the common ones is by its mean place in the files that are ordered, in logarithms
    order = sorted(common)
    if ordered:
        order.sort(key=lambda word: sum(np.log1p(place.get(word, len(place))) for place in ordered))
    place_of = {word: place for place, word in enumerate(order)}
    followed = [np.array([place_of[word] for word in words if word in place_of], dtype=np.intp) for words in lists]
    waiting = waiting_words(order, set(keys), SAMPLE, 0, followed)

    def reader(kv: KeyedVectors, part: VocabularySample | None) -> VectorsOf:
        if part is None:
            return lambda rows: kv.vectors[rows_of(kv, [order[row] for row in rows.tolist()])]
        row_of = {word: row for row, word in enumerate(part.words)}
        return lambda rows: part.vectors[[row_of[order[row]] for row in rows.tolist()]]

    readers = [reader(kv, part) for kv, part in zip(embeddings, parts, strict=True)]
    local = local_sample(waiting, readers, nearness, SAMPLE)
    words = tuple(order[row] for row in local.rows.tolist())
    if len(words) < LEAST_SAMPLE:
        return f"{len(words)} words of the vocabularies have a direction in each of them, and {LEAST_SAMPLE} are needed"
    weights = local.everywhere
    for part in parts:
        if part is not None and part.everywhere is not None:
            # words wait equally long in all samples: one that is in several is the rarest of these
            known = dict(zip(part.words, part.everywhere.tolist(), strict=True))
            weights = np.maximum(weights, [known.get(word, 1.0) for word in words])
    return [
        SampledWords(words, own, waiting.kind, place, weights) for own, place in zip(local.vectors, places, strict=True)
    ]


def joint_relatedness(related: Sequence[Relatedness], words: Sequence[Sequence[str]]) -> Relatedness | str:
    """One relatedness of the distances in several embeddings, or why there is none.

    The similarity of two words is the mean over the embeddings of their similarities, so that the order of the
    embeddings does not matter: the product of their concatenated centred unit vectors. Debiased copies of one of the
    embeddings do not count: what was taken off the vectors is part of how similar two words are, and it is what
    changes. The result has the protected words of one embedding after those of another, each with the number of its
    embedding.
    """
    first = related[0]
    copied = [_is_debiased(each, related) for each in related]
    samples = [each.sample_units for each in related]
    if any(units is None for units in samples):
        return "a table was made without the vectors of its sampled words"
    if any((each.form_of is None) != (first.form_of is None) for each in related) or (
        first.form_of is not None and len({(each.attribute_words, each.form_of.tobytes()) for each in related}) > 1  # type: ignore[union-attr]
    ):
        return "attribute words have several forms, which differ between embeddings"
    shared = set(first.sample_words).intersection(*(each.sample_words for each in related[1:]))
    if len(shared) < LEAST_SAMPLE:
        return (
            f"the samples of the vocabularies share {len(shared)} words, and {LEAST_SAMPLE} are needed: make the "
            "tables together with distance_tables, or give them a common sample with checks.share_sample"
        )
    sampled = [word for word in first.sample_words if word in shared]
    rows, units, everywhere = [], [], np.ones(len(sampled))
    for each, own_units, chosen, copy in zip(related, samples, words, copied, strict=True):
        place = {word: i for i, word in enumerate(each.sample_words)}
        columns = [place[word] for word in sampled]
        own = [each.protected_words.index(word) for word in chosen]
        rows.append(each.distances(np.array(own))[:, columns])
        # words wait equally long in all samples: one that is in several is the rarest of these
        everywhere = np.maximum(everywhere, each.everywhere_weights[columns])
        if own_units is not None and not copy:
            units.append(own_units[columns])
    weighted = [scatter - (scatter @ everywhere / everywhere.sum())[:, None] for scatter in rows]
    scatter = np.concatenate(weighted)
    attributes = list(dict.fromkeys(word for each in related for word in each.attribute_words))
    protected = list(dict.fromkeys(word for chosen in words for word in chosen))
    vectors = _joined([each for each, copy in zip(related, copied, strict=True) if not copy], attributes, protected)
    place = {word: len(attributes) + i for i, word in enumerate(protected)}
    forms = None if first.form_of is None else vectors[len(attributes) + len(protected) :]
    return replace(
        first,
        lists=tuple(
            (name, kind, tuple(f"{word} {number}" for word in listed_words if word in chosen))
            if kind == PROTECTED
            else (name, kind, listed_words)
            for number, (each, chosen) in enumerate(zip(related, words, strict=True))
            for name, kind, listed_words in each.lists
            if kind == PROTECTED or number == 0
        ),
        kind=first.kind if len({each.kind for each in related}) == 1 else SHARED,
        sample_words=tuple(sampled),
        protected_words=tuple(f"{word} {number}" for number, chosen in enumerate(words) for word in chosen),
        attribute_words=tuple(attributes),
        protected=vectors[[place[word] for chosen in words for word in chosen]],
        attributes=vectors[: len(attributes)],
        centre=np.zeros(vectors.shape[1]),
        scatter=scatter,
        pairs=_pairs(units, first.seed),
        protected_curve=np.mean([each.protected_curve for each in related], axis=0),
        ranks=None,
        forms=forms,
        sample=None,
        near=_joint_near(related, words, -scatter.mean(axis=0)),
        everywhere=everywhere.astype(np.float32),
    )


def _joint_near(
    related: Sequence[Relatedness], words: Sequence[Sequence[str]], at: FloatArray
) -> NDArray[np.float32] | None:
    """Weights (N,) under which sampled words are as near as stereotypes; nearness is averaged over the rows of all."""
    by_word: dict[str, dict[str, list[tuple[float, int]]]] = {}
    for each, chosen in zip(related, words, strict=True):
        rows = np.array([each.protected_words.index(word) for word in chosen], dtype=np.intp)
        for name, values in each.stereotype_nearness(rows).items():
            for word, value in values.items():
                by_word.setdefault(name, {}).setdefault(word, []).append((value, len(chosen)))
    if not by_word:
        return None
    lists = []
    for each_list in by_word.values():
        pairs = [np.array(own).T for own in each_list.values()]
        lists.append(np.array([np.average(value, weights=rows) for value, rows in pairs]))
    return near_weights(at, lists).astype(np.float32)


def _is_debiased(one: Relatedness, related: Sequence[Relatedness]) -> bool:
    """True where the embedding of one is a debiased copy of another's: it has the other's name, and the method's."""
    names = [each.embedding.get("name") for each in related if not each.embedding.get("debiasing")]
    name = str(one.embedding.get("name"))
    return bool(one.embedding.get("debiasing")) and any(name.startswith(f"{given} (") for given in names)


def few_shared(joint: Relatedness) -> tuple[Note, ...]:
    """A note where the embeddings' samples share few words."""
    return (Note("shared-words", words=joint.sampled, enough=ENOUGH),) if joint.sampled < ENOUGH else ()


def _pairs(units: Sequence[NDArray[np.float32]], seed: int) -> PairSample:
    """Pairs of sampled words with their similarity over all embeddings."""
    size, dimensions = len(units[0]), sum(each.shape[1] for each in units)
    most = int(np.sqrt(PRODUCTS / dimensions))
    chosen = np.arange(size)
    if size > most:
        chosen = np.sort(np.random.default_rng([seed, 2]).choice(size, most, replace=False))
    joined = np.concatenate([each[chosen] for each in units], axis=1)
    joined /= np.sqrt(len(units), dtype=np.float32)
    pairs = sample_pairs(joined, np.random.default_rng([seed, 1]))
    return replace(pairs, first=chosen[pairs.first], second=chosen[pairs.second])


def _joined(related: Sequence[Relatedness], attributes: Sequence[str], protected: Sequence[str]) -> NDArray[np.float16]:
    """Unit vectors of words, and of the forms of concepts, whose products are mean similarities over embeddings.

    A word that some embeddings lack has the mean over those that have it. Only products matter: a root of their matrix
    stands for the concatenated vectors, of which there may be thousands of dimensions.
    """
    first = related[0]
    size = len(attributes) + len(protected) + (0 if first.forms is None else len(first.forms))
    products, length = np.zeros((size, size)), np.zeros(size)
    for each in related:
        own = np.zeros((size, each.centre.shape[0]), dtype=np.float32)
        begin = 0
        for names, known, vectors in (
            (attributes, each.attribute_words, each.units),
            (protected, each.protected_words, each.protected_units),
        ):
            place = {word: i for i, word in enumerate(known)}
            rows = [i for i, word in enumerate(names) if word in place]
            own[[begin + i for i in rows]] = vectors[[place[names[i]] for i in rows]]
            begin += len(names)
        if each.form_units is not None:
            own[begin:] = each.form_units
        products += own @ own.T
        length += (own**2).sum(axis=1)
    products /= np.sqrt(np.outer(length, length))
    units: FloatArray = root_of(products)
    return units.astype(np.float16)
