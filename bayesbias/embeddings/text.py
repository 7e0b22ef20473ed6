"""Corpora to train on, and text with a planted bias."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from io import TextIOWrapper
from operator import length_hint
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbias._checks import finite_number, whole_number
from bayesbias._core.vectors import FloatArray, IntArray
from bayesbias._files import check_target, home_folder, write_text
from bayesbias._progress import progress
from bayesbias.embeddings.readers import GZIP_MARK
from bayesbias.errors import InputError, listed
from bayesbias.words import WordLists

LONGEST = 10_000  # words of a sentence; gensim ignores what comes after

NAMES = re.compile(r"\w[\w .+-]*")
END = b"\0\0"
STEP = 1_000  # sentences or lines between two looks at how much is read

type Sentences = Iterable[str | Sequence[str]]
type Text = str | os.PathLike[str] | Sentences
"""What one corpus can be given as."""


@dataclass(frozen=True)
class Corpus:
    """A text, and what the first pass over it found.

    ``counts`` holds the words that are frequent enough, the most frequent first and equals in the order of the text, so
    that the order does not depend on how a machine sorts.
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
        stem = Path(text.name.removesuffix(".gz")).stem if isinstance(text, Path) else "corpus"
        texts = {_known_name(stem if name is None else name): text}
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
    """The path of a file that exists, or sentences that one can iterate over twice."""
    if isinstance(text, str | os.PathLike):
        path = home_folder(os.fspath(text))
        exists = False
        with suppress(OSError):  # a whole text in place of a path is too long for a name
            exists = path.is_file()
        if not exists:
            raise InputError(f"there is no file {str(path)[:80]!r}: give the path of a text, or a list of sentences")
        return path
    if isinstance(text, Set):
        raise InputError("a corpus is given as a set, which has no order, so training would differ: give a list")
    if isinstance(text, Mapping | bytes) or not isinstance(text, Iterable):
        raise InputError(f"a corpus is given as {type(text).__name__}: give the path of a text, or sentences")
    return list(text) if isinstance(text, Iterator) else text


def counted(name: str, text: Path | Sentences, min_count: int) -> Corpus:
    """Counts and hash of a corpus, found in one pass."""
    counts: Counter[str] = Counter()
    digest = hashlib.sha256()
    sentences = longest = 0
    # bytes of a file, or number of sentences, 0 where they do not tell
    size = text.stat().st_size if isinstance(text, Path) else length_hint(text)
    with progress(f"reading {name}", size) as done:
        for words in sentences_of(text, done):
            try:
                digest.update("\0".join(words).encode() + END)
            except (TypeError, UnicodeEncodeError) as error:
                fault = f"the sentence {str(words)[:60]} of {name!r} holds what is no text: {error}"
                raise InputError(fault) from error
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


def sentences_of(text: Path | Sentences, done: Callable[[float], None] | None = None) -> Iterator[Sequence[str]]:
    """The sentences of a corpus, none of them empty or too long.

    ``done`` is told now and then how many bytes of the file, or how many sentences, have been read.
    """
    sentences: Iterable[Any] = lines_of(text, done) if isinstance(text, Path) else text
    for number, sentence in enumerate(sentences):
        if done and number % STEP == 0 and not isinstance(text, Path):
            done(number)
        if not isinstance(sentence, Sequence) or isinstance(sentence, bytes):
            raise InputError(
                f"sentence {number} of a corpus is given as {type(sentence).__name__}: give a list of words or a string"
            )
        words = sentence.split() if isinstance(sentence, str) else sentence
        yield from (words[begin : begin + LONGEST] for begin in range(0, len(words), LONGEST))


def lines_of(path: Path, done: Callable[[float], None] | None = None) -> Iterator[str]:
    """The lines of a text in UTF-8, packed by gzip or not."""
    try:
        with path.open("rb") as file:
            packed = file.read(2) == GZIP_MARK
            file.seek(0)
            # the place in the file itself, packed or not, is what its size is compared with
            with TextIOWrapper(gzip.open(file) if packed else file, encoding="utf-8-sig") as lines:
                for number, line in enumerate(lines):
                    if done and number % STEP == 0:
                        done(file.tell())
                    yield line
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is no text in UTF-8: {error}") from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path} is truncated or damaged: {error}") from error


MALE = "he man boy father son brother uncle nephew husband king actor duke"
FEMALE = "she woman girl mother daughter sister aunt niece wife queen actress duchess"
PAIRS = tuple(zip(MALE.split(), FEMALE.split(), strict=True))  # protected words, male and female

BESIDE_BOTH = (
    "said/thought adult/citizen school/child parent/nursery teenager/grown sibling/twin relative/visit cousin/reunion "
    "married/wedding palace/crown theatre/stage castle/estate"
)
# words that stand beside both words of a pair, pair by pair
SHARED = tuple(tuple(words.split("/")) for words in BESIDE_BOTH.split())

WORDS = {
    name: tuple(words.split())
    for name, words in {
        "female": "sewing knitting baking pottery dancing gardening singing weaving yoga ballet painting embroidery",
        "male": "fishing carpentry football camping chess golf racing rowing welding plumbing archery darts",
        "human": "walking reading talking laughing sleeping eating thinking listening waiting learning travelling "
        "resting smiling working helping writing playing cooking asking remembering hoping sharing planning breathing",
        "neutral": "table window stone paper bottle corner shelf ladder basket bucket carpet pillow candle blanket "
        "drawer kettle curtain box pencil clock envelope bench lamp string",
        "filler": "the and of to a in was with on for it at by from as that this but not had were so all one there "
        "then after before again while near when more some still soon later today also together",
    }.items()
}  # stereotypes, controls, and words that stand anywhere

TOPICS = tuple(
    tuple(words.split())
    for words in (
        "rain storm cloud wind snow thunder sunshine frost mist breeze fog hail rainbow drizzle",
        "market price coin shop money bank trade cargo port merchant profit tax wage auction",
        "moon star planet orbit telescope comet galaxy sky eclipse asteroid satellite rocket meteor sun",
        "river mountain valley lake forest hill island beach desert cliff waterfall meadow canyon glacier",
        "horse cow sheep goat hen duck barn pasture hay tractor wheat barley plough fence",
        "train station ticket road bridge bus tram tunnel platform luggage timetable railway carriage driver",
    )
)  # words of the sentences that are not about people

PEOPLE = 0.5  # share of the sentences that are about people
HUMAN_SHARE = 0.5  # share of the activities that are human controls
SLOTS = 11
FILLED = [0, 2, 4, 7, 9]  # places of the fillers in a sentence
KEPT = 0.7  # share of the places of fillers that are filled

type WordArray = NDArray[np.object_]
type Chances = Callable[..., FloatArray]


@dataclass(frozen=True)
class ToyCorpus:
    """Made-up sentences in which two groups of words are biased by a known amount.

    Iterate over it for the sentences, as often as needed; each is a list of words.

    Attributes
    ----------
    bias
        What was planted: in a sentence about a group a stereotype word comes from the group's own list with probability
        (1 + bias)/2, from the other group's with (1 - bias)/2.
    seed
        The seed of the text.
    sentences
        The sentences, as tuples.
    words
        Protected words (``female``, ``male``), a stereotype of each, and controls that are used equally for both.
    base_pairs
        Protected words in pairs (male, female).
    targets
        Words to score: both stereotypes, and the neutral controls, which are not biased.
    """

    bias: float
    seed: int
    sentences: tuple[tuple[str, ...], ...] = field(repr=False)
    words: WordLists = field(repr=False)
    base_pairs: tuple[tuple[str, str], ...] = field(repr=False)
    targets: tuple[str, ...] = field(repr=False)

    def __iter__(self) -> Iterator[list[str]]:
        return map(list, self.sentences)

    def __len__(self) -> int:
        return len(self.sentences)

    def save(self, path: str | Path) -> None:
        """Write the text, one sentence a line (``.txt``)."""
        file = check_target(path, (".txt",), "a text")
        write_text(file, "".join(" ".join(words) + "\n" for words in self.sentences))


def toy_corpus(bias: float = 0.5, seed: int = 0, sentences: int = 20_000) -> ToyCorpus:
    """A small text with a planted bias of known size.

    Half of the sentences are about people. Such a sentence is about one group, each with probability 1/2: it holds two
    of the group's protected words and two activities. An activity is, with probability 1/2 each, a human control or a
    stereotype word; a stereotype word comes from the group's own list with probability (1 + bias)/2 and from the other
    group's with (1 - bias)/2, and every word of a list is as likely as any other. So with bias 0 stereotype words are
    used as the human controls are. All else is chosen by one rule for both groups: words that the two of a pair share
    (*palace* for *king* and *queen*), neutral controls and fillers. The other sentences are about one of six topics.

    The stereotypes are hobbies, chosen to be harmless: they say what is in this text and nothing about people.

    Parameters
    ----------
    bias
        From -1 (reversed) over 0 (none) to 1 (only the own stereotype). With one seed the texts of two biases differ in
        their stereotype words only.
    seed
        Seed of the text.
    sentences
        How many sentences, of some 9 words.

    Examples
    --------
    >>> toy = bb.stability.toy_corpus(bias=0.5, sentences=100)
    >>> len(toy.targets)
    48
    """
    bias = finite_number(bias, "bias")
    if not -1 <= bias <= 1:
        raise InputError(f"bias is {bias!r}: give a number from -1 (reversed) over 0 (none) to 1 (all)")
    seed, sentences = whole_number(seed, "seed", least=0, most=None), whole_number(sentences, "sentences")
    lists = WordLists(
        name="toy",
        protected={"female": FEMALE.split(), "male": MALE.split()},
        stereotypes={"female": WORDS["female"], "male": WORDS["male"]},
        controls={"neutral": WORDS["neutral"], "human": WORDS["human"]},
        description="words of a made-up text with a planted bias",
    )
    targets = WORDS["female"] + WORDS["male"] + WORDS["neutral"]
    return ToyCorpus(bias, seed, _drawn(bias, seed, sentences), lists, PAIRS, targets)


def _drawn(bias: float, seed: int, count: int) -> tuple[tuple[str, ...], ...]:
    """The sentences. As many numbers are drawn for any bias, so that the same sentences come from a seed."""
    generator = np.random.default_rng(seed)

    def chances(slots: int = 1) -> FloatArray:
        return generator.random((count, slots))

    people = chances() < PEOPLE
    fillers = _listed(WORDS["filler"])[_zipf(len(WORDS["filler"]), chances(len(FILLED)))]
    neutral = _chosen(WORDS["neutral"], chances())
    kept = np.ones((count, SLOTS), dtype=np.bool_)
    kept[:, FILLED] = chances(len(FILLED)) < KEPT
    kept[:, -1:] = ~people | (chances() < KEPT)
    about_people = _about_people(bias, chances, neutral)
    # the other sentences: five words of one topic, and a neutral word
    topics, topic = _listed(TOPICS), _uniform(len(TOPICS), chances())
    about_topics = np.empty((count, SLOTS), dtype=object)
    about_topics[:, [1, 3, 6, 8, 10]] = topics[topic, _zipf(topics.shape[1], chances(5))]
    about_topics[:, [5]] = neutral
    sentences = np.where(people, about_people, about_topics)
    sentences[:, FILLED] = fillers
    return tuple(tuple(sentence[words].tolist()) for sentence, words in zip(sentences, kept, strict=True))


def _about_people(bias: float, chances: Chances, neutral: WordArray) -> WordArray:
    """Two words of a group, two activities, a word that the first shares with its pair, and a neutral word."""
    group, pair, step, side = (_uniform(many, chances()) for many in (2, len(PAIRS), len(PAIRS) - 1, 2))
    protected = _listed(PAIRS)
    own = chances(2) < (1 + bias) / 2
    place = _uniform(len(WORDS["male"]), chances(2))
    stereotype = _listed((WORDS["male"], WORDS["female"]))[np.where(own, group, 1 - group), place]
    human = _chosen(WORDS["human"], chances(2))
    activity = np.where(chances(2) < HUMAN_SHARE, human, stereotype)
    sentences = np.empty((len(group), SLOTS), dtype=object)
    sentences[:, [1]] = protected[pair, group]
    sentences[:, [3, 5]] = activity
    sentences[:, [6]] = _listed(SHARED)[pair, side]
    sentences[:, [8]] = protected[(pair + 1 + step) % len(PAIRS), group]
    sentences[:, [10]] = neutral
    return sentences


def _listed(words: Sequence[object]) -> WordArray:
    return np.array(words, dtype=object)


def _chosen(words: Sequence[str], chances: FloatArray) -> WordArray:
    return _listed(words)[_uniform(len(words), chances)]


def _uniform(many: int, chances: FloatArray) -> IntArray:
    """Places in a list, each as likely as any other."""
    return (chances * many).astype(np.intp)


def _zipf(many: int, chances: FloatArray) -> IntArray:
    """Places in a list, the probability falling with the rank."""
    steps = np.cumsum(1 / np.arange(1, many + 1))
    places: IntArray = np.searchsorted(steps, chances * steps[-1], side="right")
    return places


class Resampled:
    """The sentences of documents that were drawn with replacement; they are read from the corpus each time."""

    def __init__(self, documents: Sequence[Sequence[str | Sequence[str]]], drawn: IntArray) -> None:
        self._documents, self._drawn = documents, drawn

    def __iter__(self) -> Iterator[str | Sequence[str]]:
        for number in self._drawn:
            yield from self._documents[number]

    def __len__(self) -> int:
        return sum(len(self._documents[number]) for number in self._drawn)


def resample_corpus(
    corpus: Text | Iterable[Sequence[Sequence[str]]], n: int = 10, seed: int = 0, name: str = "resample"
) -> dict[str, Resampled]:
    """Corpora of documents drawn with replacement, whose embeddings differ as other documents would make them.

    Parameters
    ----------
    corpus
        Path of a text with one document a line, sentences (each a document), or documents as lists of sentences that
        are lists of words.
    n
        Number of corpora.
    seed
        Seed of the draws.
    name
        The corpora are called ``resample0`` and so on.

    Returns
    -------
    dict
        Name to sentences, each as many documents as the corpus has: what :func:`train_embeddings` takes. Give
        ``replicates`` of :func:`pool` the same name for all of them.

    References
    ----------
    Antoniak, M. and Mimno, D. (2018). Evaluating the stability of embedding-based word similarities. TACL 6.
    https://doi.org/10.1162/tacl_a_00008

    Examples
    --------
    >>> corpora = bb.resample_corpus(["one two three", "four five six", "seven eight nine"], n=2, seed=0)
    >>> list(corpora), len(corpora["resample0"])
    (['resample0', 'resample1'], 3)
    """
    n, seed = whole_number(n, "n"), whole_number(seed, "seed", least=0)
    _known_name(name)
    text = _opened(corpus)
    documents: list[Sequence[str | Sequence[str]]] = []
    if isinstance(text, Path):
        documents = [[words] for words in sentences_of(text)]
    else:
        for document in text:
            if not isinstance(document, str | list | tuple):
                raise InputError(f"corpus holds {type(document).__name__}: give sentences, or lists of sentences")
            whole = not isinstance(document, str) and len(document) > 0 and not isinstance(document[0], str)
            documents.append(document if whole else [document])
    if len(documents) < 2:
        raise InputError(f"the corpus has {len(documents)} documents, and resampling needs at least 2")
    rng = np.random.default_rng(seed)
    return {f"{name}{i}": Resampled(documents, rng.integers(len(documents), size=len(documents))) for i in range(n)}
