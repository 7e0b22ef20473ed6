"""Senses and parts of speech of words, from a folder of WordNet's database files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bayesbias._files import home_folder
from bayesbias.errors import InputError

PARTS = {"noun": "NOUN", "verb": "VERB", "adj": "ADJ", "adv": "ADV"}
"""Endings of WordNet's files, and the names of the parts of speech; ties go to the first."""
NUMBERS = {"1": "noun", "2": "verb", "3": "adj", "4": "adv", "5": "adj"}
"""What the first number of a sense key stands for; 5 is a satellite of an adjective."""
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

    Attributes
    ----------
    synsets
        Part of speech and lemma to the places of its synsets.
    tagged
        Part of speech and lemma to how often its senses were tagged in text.
    exceptions
        Part of speech and irregular form to its base forms.
    """

    synsets: Mapping[Entry, frozenset[str]]
    tagged: Mapping[Entry, int]
    exceptions: Mapping[Entry, tuple[str, ...]]

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


def read_wordnet(folder: str | Path) -> WordNet:
    """Read the index files of WordNet.

    Parameters
    ----------
    folder
        Where ``index.noun``, ``index.verb``, ``index.adj``, ``index.adv``, the lists of exceptions (``noun.exc`` and
        so on) and ``cntlist.rev`` or ``index.sense`` are: the folder ``dict`` of WordNet 3.

    Raises
    ------
    InputError
        No such folder, a file that is missing or not of WordNet's format.

    References
    ----------
    Miller, G. A. (1995). WordNet: a lexical database for English. Communications of the ACM 38(11).
    https://doi.org/10.1145/219717.219748
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
        synsets |= {(part, lemma): found for lemma, found in _index(place / f"index.{part}")}
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
