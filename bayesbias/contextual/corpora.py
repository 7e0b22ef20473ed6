"""``contexts``: sentences of a corpus that hold a word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from unicodedata import normalize
from zlib import crc32

from bayesbias._checks import whole_number
from bayesbias._files import home_folder
from bayesbias._progress import progress
from bayesbias.embeddings.text import lines_of
from bayesbias.errors import InputError, listed, shown
from bayesbias.words import WordLists, lists_and_words, written_words

LONGEST = 1000  # letters of a sentence from which on it is passed over


class Sentence(NamedTuple):
    """A sentence, and where in it the word stands."""

    text: str
    begin: int
    end: int


@dataclass(frozen=True, eq=False)
class Contexts:
    """Sentences that hold words, each word its own.

    Attributes
    ----------
    sentences
        Word to its sentences.
    vocabulary
        Words that are in no list.
    found
        Word to how many sentences hold it.
    source
        Where they come from.
    """

    sentences: Mapping[str, tuple[Sentence, ...]]
    vocabulary: tuple[str, ...]
    found: Mapping[str, int]
    source: str

    @property
    def words(self) -> tuple[str, ...]:
        """The words that have sentences."""
        return tuple(self.sentences)

    @property
    def missing(self) -> tuple[str, ...]:
        """Words that the corpus does not hold."""
        return tuple(word for word, count in self.found.items() if not count)

    def __repr__(self) -> str:
        many = sum(map(len, self.sentences.values()))
        return f"Contexts({many} sentences of {len(self.sentences)} words; {len(self.missing)} words are missing)"


def contexts(
    corpus: str | Path | Iterable[str],
    words: WordLists | str | Path | Iterable[str],
    per_word: int = 50,
    seed: int = 0,
    vocabulary: Iterable[str] = (),
) -> Contexts:
    """Sentences of a corpus that hold a word, drawn at random for each word.

    Parameters
    ----------
    corpus
        The path of a UTF-8 text file (one sentence a line; ``.gz`` too), or sentences.
    words
        Word lists, what :func:`load_words` takes, or words; capitals count.
    per_word
        Sentences of a word; words that are in fewer have all of theirs.
    seed
        Seed of the choice.
    vocabulary
        Words outside of the lists, which show how the distances of similar words are correlated.

    Returns
    -------
    Contexts
        What :func:`encode` takes in place of words.

    References
    ----------
    Guo, W. and Caliskan, A. (2021). Detecting emergent intersectional biases: contextualized word embeddings contain a
    distribution of human-like biases. AIES. https://doi.org/10.1145/3461702.3462536

    Examples
    --------
    >>> found = bb.contexts(["The nurse slept.", "A soldier and a nurse met."], ["nurse", "soldier"])
    >>> found.sentences["soldier"][0].text
    'A soldier and a nurse met.'
    """
    most, start = whole_number(per_word, "per_word"), whole_number(seed, "seed", least=0, most=None)
    _, own = lists_and_words(words)
    outside = () if isinstance(vocabulary, tuple | list) and not vocabulary else written_words(vocabulary, "vocabulary")
    listed_words = set(own)
    sample = tuple(word for word in outside if word not in listed_words)
    every = (*own, *sample)
    # longer words first, so that a phrase is found before its parts
    pattern = re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, sorted(every, key=len, reverse=True))) + r")(?!\w)")
    # for each word the sentences with the smallest hashes: a random choice in one pass, whatever the order of words
    by_word: dict[str, list[tuple[int, Sentence]]] = {word: [] for word in every}
    counts = dict.fromkeys(every, 0)
    lines, source = _lines(corpus)
    with progress("reading the corpus", 1.0):
        for number, line in enumerate(lines):
            if not isinstance(line, str):
                raise InputError(f"the corpus holds {shown(line)}: give sentences as text")
            text = " ".join(normalize("NFC", line).split())
            if len(text) > LONGEST:
                continue
            for word, place in {match.group(): match for match in reversed(list(pattern.finditer(text)))}.items():
                counts[word] += 1
                code = crc32(f"{start}\t{number}\t{word}".encode())
                entries = by_word[word]
                entries.append((code, Sentence(text, *place.span())))
                if len(entries) >= 2 * most + 100:
                    entries.sort()
                    del entries[most:]
    chosen = {
        word: tuple(sentence for _, sentence in sorted(entries)[:most]) for word, entries in by_word.items() if entries
    }
    if not any(word in chosen for word in own):
        raise InputError(f"the corpus holds none of the words {listed(list(own))}: capitals count")
    return Contexts(chosen, tuple(word for word in sample if word in chosen), counts, source)


def _lines(corpus: str | Path | Iterable[str]) -> tuple[Iterable[object], str]:
    """The sentences of a corpus, and what it is called."""
    if isinstance(corpus, str | Path):
        file = home_folder(corpus)
        if not file.is_file():
            raise InputError(f"there is no file {file}: give the path of a corpus, or sentences")
        return lines_of(file), f"sentences of {file.name}"
    if not isinstance(corpus, Iterable):
        raise InputError(f"corpus is {shown(corpus)}: give the path of a text file, or sentences")
    return corpus, "sentences of a corpus"
