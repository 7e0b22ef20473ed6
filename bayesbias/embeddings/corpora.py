"""Texts to train embeddings on: how they are given, read, counted and told apart by a hash."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from io import TextIOWrapper
from operator import length_hint
from pathlib import Path

from bayesbias._files import home_folder
from bayesbias._progress import progress
from bayesbias.embeddings.formats import GZIP_MARK
from bayesbias.errors import InputError, listed

LONGEST = 10_000
"""Words of a sentence; gensim ignores what comes after."""

NAMES = re.compile(r"\w[\w .+-]*")
END = b"\0\0"
STEP = 1_000
"""Sentences or lines between two looks at how much is read."""

type Sentences = Iterable[str | Sequence[str]]
type Text = str | os.PathLike[str] | Sentences
"""What one corpus can be given as."""


@dataclass(frozen=True)
class Corpus:
    """A text, and what the first pass over it found.

    ``counts`` holds the words that are frequent enough, the most frequent first and equals in the order of the text, so
    that the order does not hang on how a machine sorts.
    """

    name: str
    text: Path | Sentences
    counts: dict[str, int]
    sentences: int
    words: int
    sha256: str


def texts_by_name(corpus: Text | Mapping[str, Text], name: str | None) -> dict[str, Path | Sentences]:
    """The corpora by their names."""
    if isinstance(corpus, Mapping):
        if name is not None:
            raise InputError(f"name is {name!r}, but corpus is a mapping, whose keys are the names: leave name out")
        if not corpus:
            raise InputError("corpus is an empty mapping: give names and their texts")
        texts = {_known_name(key): _opened(text) for key, text in corpus.items()}
    else:
        text = _opened(corpus)
        given = Path(text.name.removesuffix(".gz")).stem if isinstance(text, Path) else "corpus"
        texts = {_known_name(given if name is None else name): text}
    if len({key.casefold() for key in texts}) < len(texts):
        raise InputError(f"names of corpora differ in capitals only: {listed(list(texts))}; give other names")
    return texts


def _known_name(name: object) -> str:
    if not isinstance(name, str) or not NAMES.fullmatch(name):
        raise InputError(
            f"the name of a corpus is {name!r}: give one (the argument name, or the key in a mapping) of letters, "
            "digits, blanks and '_', '-', '+', '.', beginning with a letter or digit"
        )
    return name


def _opened(text: object) -> Path | Sentences:
    """The path of a file that exists, or sentences that can be read more than once."""
    if isinstance(text, str | os.PathLike):
        path = home_folder(os.fspath(text))
        if not _is_file(path):
            raise InputError(f"there is no file {str(path)[:80]!r}: give the path of a text, or a list of sentences")
        return path
    if isinstance(text, Set):
        raise InputError("a corpus is given as a set, which has no order, so training would differ: give a list")
    if isinstance(text, Mapping | bytes) or not isinstance(text, Iterable):
        raise InputError(f"a corpus is given as {type(text).__name__}: give the path of a text, or sentences")
    return list(text) if isinstance(text, Iterator) else text


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a whole text in place of a path is too long for a name
        return False


def counted(name: str, text: Path | Sentences, min_count: int) -> Corpus:
    """Counts and hash of a corpus, found in one pass.

    Raises
    ------
    InputError
        It has no sentence of two words, no word that is frequent enough, or holds what is no word.
    """
    counts: Counter[str] = Counter()
    digest = hashlib.sha256()
    sentences = longest = 0
    with progress(f"reading {name}", _size(text)) as done:
        for words in sentences_of(text, done):
            try:
                digest.update("\0".join(words).encode() + END)
            except (TypeError, UnicodeEncodeError) as error:
                said = f"the sentence {str(words)[:60]} of {name!r} holds what is no text: {error}"
                raise InputError(said) from error
            counts.update(words)
            sentences += 1
            longest = max(longest, len(words))
    if not sentences:
        raise InputError(f"the corpus {name!r} holds no sentence: give a text with one sentence a line")
    if longest < 2:
        raise InputError(
            f"no sentence of the corpus {name!r} has two words: a corpus is a list of sentences, "
            "each a list of words or a string of several words"
        )
    if odd := [word for word in counts if not word or "\0" in word]:
        raise InputError(
            f"the corpus {name!r} holds the word {odd[0]!r}: a word is not empty and has no null character"
        )
    frequent = {word: count for word, count in counts.most_common() if count >= min_count}
    if not frequent:
        raise InputError(
            f"no word of the corpus {name!r} occurs {min_count} times: it has {len(counts):,} distinct words, the most "
            f"frequent of which occurs {max(counts.values())} times; give a larger corpus or a smaller min_count"
        )
    return Corpus(name, text, frequent, sentences, counts.total(), digest.hexdigest())


def _size(text: Path | Sentences) -> int:
    """Bytes of a file, or number of sentences, 0 where they do not tell."""
    return text.stat().st_size if isinstance(text, Path) else length_hint(text)


def sentences_of(text: Path | Sentences, done: Callable[[float], None] | None = None) -> Iterator[Sequence[str]]:
    """The sentences of a corpus, none of them empty or too long.

    Parameters
    ----------
    text
        The path of a text, or sentences.
    done
        Is told now and then how many bytes of the file, or how many sentences, have been read.
    """
    for number, given in enumerate(_lines(text, done) if isinstance(text, Path) else _told(text, done)):
        words = given.split() if isinstance(given, str) else _known_sentence(given, number)
        if 0 < len(words) <= LONGEST:
            yield words
        else:
            yield from (words[begin : begin + LONGEST] for begin in range(0, len(words), LONGEST))


def _known_sentence(given: object, number: int) -> Sequence[str]:
    if isinstance(given, Sequence) and not isinstance(given, bytes):
        return given
    raise InputError(
        f"sentence {number} of a corpus is given as {type(given).__name__}: give a list of words or a string"
    )


def _told(text: Sentences, done: Callable[[float], None] | None) -> Iterator[str | Sequence[str]]:
    for number, sentence in enumerate(text):
        if done and number % STEP == 0:
            done(number)
        yield sentence


def _lines(path: Path, done: Callable[[float], None] | None) -> Iterator[str]:
    try:
        with path.open("rb") as file:
            packed = file.read(2) == GZIP_MARK
            file.seek(0)
            # the place in the file itself, packed or not, is what its size is compared with
            with gzip.open(file, "rt", encoding="utf-8") if packed else TextIOWrapper(file, encoding="utf-8") as lines:
                for number, line in enumerate(lines):
                    if done and number % STEP == 0:
                        done(file.tell())
                    yield line
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is no text in UTF-8: {error}") from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path} is truncated or damaged: {error}") from error
