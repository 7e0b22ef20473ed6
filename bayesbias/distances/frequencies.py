"""Numbers about words: their frequency, their length, or any other attribute."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bayesbias._core.vectors import FloatArray
from bayesbias._files import home_folder
from bayesbias.distances.vocabularies import ordered_by_frequency
from bayesbias.errors import InputError, listed, shown

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from bayesbias.distances.covariances import Relatedness

FREQUENCY, LENGTH = "frequency", "length"
WORDFREQ = "wordfreq"
PER_BILLION = 9.0
OFFSET = 2.7
"""Frequency falls with 1 / (rank + this), from rank 1 (Mandelbrot)."""


@dataclass(frozen=True)
class WordValues:
    """A number for each of some words.

    Attributes
    ----------
    name
        ``frequency``, ``length`` or a name of the user's own.
    unit
        What a difference of 1 is.
    source
        Where the numbers come from.
    numbers
        Word to number; words without one are absent.
    """

    name: str
    unit: str
    source: str
    numbers: Mapping[str, float]

    def of(self, words: Iterable[str]) -> FloatArray:
        """The numbers of some words, NaN where there is none."""
        return np.array([self.numbers.get(word, np.nan) for word in words], dtype=float)


def word_values(
    words: Sequence[str],
    attribute: str | Mapping[str, Mapping[str, float]] = FREQUENCY,
    frequencies: Mapping[str, float] | str | Path | KeyedVectors | None = None,
    related: Relatedness | None = None,
) -> WordValues:
    """The numbers of words under an attribute.

    Parameters
    ----------
    words
        Words that are asked for.
    attribute
        ``"frequency"``, ``"length"`` (letters), or a mapping with one entry: the name of an attribute of your own and
        the number of each word.
    frequencies
        Counts or relative frequencies: a mapping, the path of a file with two columns (word, count), an embedding
        whose file is ordered by frequency, or ``"wordfreq"``. Frequencies are looked up as words are written, else in
        lower case, and counted in zipf, the decimal logarithm of the occurrences in a billion words (van Heuven et al.
        2014, https://doi.org/10.1080/17470218.2013.850521). None takes the order of the embedding behind the table
        where it is ordered by frequency, else wordfreq where that is installed.
    related
        The relatedness of the table, which knows that order.

    Raises
    ------
    InputError
        Another attribute, frequencies that cannot be read or are not above 0, none for any word, or no source.
    """
    if isinstance(attribute, Mapping):
        found = _own_attribute(attribute)
    elif not isinstance(attribute, str):
        raise InputError(f"attribute is {shown(attribute)}: give {FREQUENCY!r}, {LENGTH!r} or a mapping")
    elif attribute == LENGTH:
        found = WordValues(LENGTH, "letter", "the words", {word: float(len(word)) for word in words})
    elif attribute == FREQUENCY:
        found = _zipf(words, frequencies, related)
    else:
        raise InputError(
            f"the attribute is {attribute!r}: give 'frequency', 'length', or a mapping such as "
            "{'concreteness': {'table': 4.9, ...}}"
        )
    known = found.of(words)
    if np.isnan(known).all():
        raise InputError(f"{found.source} has {found.name} for none of the words, such as {listed(list(words)[:3])}")
    return found


def _own_attribute(attribute: Mapping[str, Mapping[str, float]]) -> WordValues:
    if len(attribute) != 1 or not isinstance(values := next(iter(attribute.values())), Mapping):
        raise InputError("an attribute of your own is a mapping with one entry: its name, and the number of each word")
    name = str(next(iter(attribute)))
    return WordValues(name, "unit", "what was given", _checked(values, name, positive=False))


def _checked(values: Mapping[str, float], name: str, positive: bool) -> dict[str, float]:
    wrong = [str(word) for word, value in values.items() if not _usable(value, positive)]
    if wrong:
        kind = "numbers above 0" if positive else "finite numbers"
        example = wrong[0]
        raise InputError(f"{name} of {listed(wrong)} is not usable ({values[example]!r}): give {kind}")
    return {str(word): float(value) for word, value in values.items()}


def _usable(value: object, positive: bool) -> bool:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        return False
    return bool(np.isfinite(value)) and (not positive or float(value) > 0)


def _zipf(
    words: Sequence[str],
    frequencies: Mapping[str, float] | str | Path | KeyedVectors | None,
    related: Relatedness | None,
) -> WordValues:
    unit = "zipf"
    if frequencies is None and related is not None and (ranks := related.ranks_by_word):
        size = int(related.embedding["vectors"])
        source = f"the order of the file of {related.embedding.get('name', 'the embedding')}"
        return WordValues(FREQUENCY, unit, source, _zipf_of_ranks(ranks, size))
    if frequencies is None or (isinstance(frequencies, str) and frequencies == WORDFREQ):
        return WordValues(FREQUENCY, unit, "wordfreq (English)", _from_wordfreq(words, asked=frequencies is not None))
    if isinstance(frequencies, Mapping):
        counts, source = _checked(frequencies, FREQUENCY, positive=True), "the frequencies that were given"
    elif isinstance(frequencies, str | Path):
        counts, source = _read_counts(home_folder(frequencies)), f"the file {Path(frequencies).name}"
    elif hasattr(frequencies, "index_to_key"):
        keys = frequencies.index_to_key
        if not ordered_by_frequency(keys):
            raise InputError(
                "the embedding does not seem to be ordered by frequency (its first words would be short, and not in "
                "alphabetical order): give counts"
            )
        ranks = {word: at for at, word in enumerate(keys)}
        values = _zipf_of_ranks({word: ranks[word] for word in words if word in ranks}, len(keys))
        return WordValues(FREQUENCY, unit, "the order of the embedding's file", values)
    else:
        raise InputError(
            f"frequencies are a {type(frequencies).__name__}: give a mapping of words to counts, the path of a file "
            f"with two columns, an embedding ordered by frequency, or {WORDFREQ!r}"
        )
    if not counts:
        raise InputError(f"{source} holds no word")
    offset = PER_BILLION - np.log10(sum(counts.values()))
    found = {word: next((counts[w] for w in (word, word.lower()) if w in counts), None) for word in words}
    zipf = {word: float(np.log10(count) + offset) for word, count in found.items() if count is not None}
    return WordValues(FREQUENCY, unit, source, zipf)


def _zipf_of_ranks(ranks: Mapping[str, int], size: int) -> dict[str, float]:
    """Zipf values of places in a file that is ordered by frequency, counted from 0."""
    total = (1 / (np.arange(1, size + 1) + OFFSET)).sum()
    return {word: float(PER_BILLION - np.log10((rank + 1 + OFFSET) * total)) for word, rank in ranks.items()}


def _from_wordfreq(words: Sequence[str], asked: bool) -> dict[str, float]:
    try:
        from wordfreq import zipf_frequency
    except ImportError:
        start = "frequencies='wordfreq' needs the package wordfreq" if asked else "frequencies are not known"
        raise InputError(
            f"{start}: give frequencies= (a mapping of words to counts, or the path of a file with two columns), or "
            "install it with pip install 'bayesbias[frequencies]'"
        ) from None
    found = {word: float(zipf_frequency(word.replace("_", " "), "en")) for word in words}
    return {word: value for word, value in found.items() if value > 0}


def _read_counts(path: Path) -> dict[str, float]:
    """Counts from a file with two columns, separated by tabs, commas or spaces; a header is passed over."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        raise InputError(
            f"there is no file {path} with frequencies, and no source of that name: give a path or 'wordfreq'"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as text: {error}") from error
    counts: dict[str, float] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        parts = [
            part.strip()
            for part in (line.split("\t") if "\t" in line else line.rsplit("," if "," in line else None, 1))
        ]
        try:
            word, count = parts
            value = float(count)
        except ValueError:
            if number == 1:
                continue
            raise InputError(f"{path}, line {number}: {line[:60]!r} is not a word and its count") from None
        if not np.isfinite(value) or value <= 0:
            raise InputError(f"{path}, line {number}: the count of {word!r} is {count}, not a number above 0")
        counts[word] = counts.get(word, 0.0) + value
    return counts
