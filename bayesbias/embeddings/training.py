"""``train_embeddings``: word2vec vectors for several seeds, dimensions and texts, the same on every run."""

from __future__ import annotations

import gzip
import hashlib
import logging
import os
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import FIRST_EXCEPTION, CancelledError, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from bayesbias._checks import finite_number, one_of, several, whole_number
from bayesbias._files import home_folder
from bayesbias._progress import progress
from bayesbias.embeddings.formats import GZIP_MARK
from bayesbias.embeddings.settings import Record, Setting, keyed_vectors, load_trained, save_trained
from bayesbias.errors import InputError, listed

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

ALGORITHMS = {"sgns": 1, "cbow": 0}
"""Names of the algorithms, and what gensim calls ``sg``."""

LONGEST = 10_000
"""Words of a sentence; gensim ignores what comes after."""

SEEDS = 2**32
NAMES = re.compile(r"\w[\w .+-]*")
END = b"\0\0"

type Sentences = Iterable[str | Sequence[str]]
type Text = str | os.PathLike[str] | Sentences
"""What one corpus can be given as."""


@dataclass(frozen=True)
class _Options:
    """How to train, beside what a Setting says."""

    window: int
    min_count: int
    epochs: int
    sample: float
    negative: int = 5


@dataclass(frozen=True)
class _Corpus:
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


@dataclass(frozen=True)
class _Task:
    """One model to train."""

    setting: Setting
    corpus: _Corpus
    options: _Options
    file: Path | None

    def record(self) -> Record:
        """What the vectors depend on."""
        corpus = self.corpus
        text: Record = {"sentences": corpus.sentences, "words": corpus.words, "sha256": corpus.sha256}
        return self.setting._asdict() | asdict(self.options) | text


def train_embeddings(
    corpus: Text | Mapping[str, Text],
    algorithm: str | Iterable[str] = "sgns",
    seeds: int | Iterable[int] = 3,
    dims: int | Iterable[int] = 100,
    folder: str | Path | None = None,
    window: int = 5,
    min_count: int = 5,
    epochs: int = 5,
    sample: float = 1e-3,
    jobs: int | None = None,
    name: str | None = None,
) -> dict[Setting, KeyedVectors]:
    """Train word2vec vectors, one embedding for each corpus, algorithm, number of dimensions and seed.

    Each is trained by gensim in one thread with 5 negative samples: the same seed gives the same bits.

    Parameters
    ----------
    corpus
        The path of a UTF-8 text file (one sentence a line, words apart by blanks; ``.gz`` too); sentences (lists of
        words, or strings that are split at blanks) that are the same on each pass, an iterator being kept in memory;
        or a mapping of names to these. Sentences of more than 10,000 words are cut into pieces.
    algorithm
        ``"sgns"`` (skip-gram with negative sampling), ``"cbow"``, or several.
    seeds
        How many seeds, from 0, or a list of seeds.
    dims
        Dimensions of the vectors, or several.
    folder
        Where each embedding is written as soon as it is done (``.npz``, which :func:`load_embedding` reads). What
        stands there from the same corpus and options is read and not trained again. None keeps nothing.
    window, min_count, epochs, sample
        Most words between two that count as neighbours; least occurrences of a word; passes; threshold (a share of all
        words) above which frequent words are sampled down, 0 for never.
    jobs
        Embeddings trained side by side; None is one for each processor. The result does not depend on it.
    name
        Name of a single corpus; None takes that of the file, or ``"corpus"``.

    Returns
    -------
    dict
        :class:`Setting` to KeyedVectors, with ``kv.get_vecattr(word, "count")`` the occurrences of a word.

    Raises
    ------
    InputError
        No such file; no sentence, or no word that is frequent enough; an unknown algorithm; a file in the folder that
        is damaged, or holds an embedding of another corpus or other options: it is never overwritten.
    OSError
        The folder cannot be written, or the disk is full.

    References
    ----------
    Mikolov, T. et al. (2013). Distributed representations of words and phrases and their compositionality. NeurIPS.
    https://doi.org/10.48550/arXiv.1310.4546
    """
    algorithms = _each(algorithm, "algorithm", _known_algorithm)
    asked = _each(dims, "dims", lambda value: whole_number(value, "dims"))
    chosen = _each(seeds if isinstance(seeds, Iterable) else range(whole_number(seeds, "seeds")), "seeds", _known_seed)
    options = _Options(
        window=whole_number(window, "window"),
        min_count=whole_number(min_count, "min_count"),
        epochs=whole_number(epochs, "epochs"),
        sample=_known_sample(sample),
    )
    workers = whole_number(os.cpu_count() or 1 if jobs is None else jobs, "jobs")
    texts = _named(corpus, name)
    place = _known_folder(folder)
    corpora = [_scanned(label, text, options.min_count) for label, text in texts.items()]
    tasks = [
        _Task(setting, text, options, place / f"{setting.label}.npz" if place else None)
        for text, kind, size, seed in product(corpora, algorithms, asked, chosen)
        for setting in [Setting(text.name, kind, size, seed)]
    ]
    read = {
        task.setting: load_trained(task.setting, task.record(), task.file)
        for task in tasks
        if task.file and task.file.exists()
    }
    if place:
        place.mkdir(parents=True, exist_ok=True)
    found = read | _side_by_side([task for task in tasks if task.setting not in read], workers)
    return {task.setting: found[task.setting] for task in tasks}


def _each[Given, Known](value: object, name: str, check: Callable[[Given], Known]) -> list[Known]:
    """One value or several, each checked and given once."""
    found = [check(one) for one in several(value)]
    if not found:
        raise InputError(f"{name} is empty: give at least one")
    if repeated := [str(one) for one, count in Counter(found).items() if count > 1]:
        raise InputError(f"{name} holds {listed(repeated)} more than once: give each once")
    return found


def _known_algorithm(value: str) -> str:
    if str(value).lower() == "glove":
        raise InputError(
            "GloVe vectors are not trained here: read them with load_embedding; under a Setting of their own, such as "
            "('wiki', 'glove', 100, 0), they may stand in one mapping with the others"
        )
    return one_of(value, tuple(ALGORITHMS), "algorithm")


def _known_seed(value: object) -> int:
    seed = whole_number(value, "seeds", least=0)
    if seed >= SEEDS:
        raise InputError(f"seeds holds {seed}: give whole numbers below 2**32")
    return seed


def _known_sample(value: object) -> float:
    sample = finite_number(value, "sample")
    if not 0 <= sample < 1:
        raise InputError(f"sample is {value!r}: give a share of all words from 0 (never) to 1, such as 0.001")
    return sample


def _named(corpus: Text | Mapping[str, Text], name: str | None) -> dict[str, Path | Sentences]:
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


def _known_folder(folder: str | Path | None) -> Path | None:
    place = None if folder is None else home_folder(folder)
    if place is not None and place.exists() and not place.is_dir():
        raise InputError(f"folder is {str(place)!r}, which is a file: give a folder")
    return place


def _scanned(name: str, text: Path | Sentences, min_count: int) -> _Corpus:
    """Counts and hash of a corpus, found in one pass.

    Raises
    ------
    InputError
        It has no sentence of two words, no word that is frequent enough, or holds what is no word.
    """
    counts: Counter[str] = Counter()
    digest = hashlib.sha256()
    sentences = longest = 0
    for words in _sentences(text):
        try:
            digest.update("\0".join(words).encode() + END)
        except (TypeError, UnicodeEncodeError) as error:
            raise InputError(f"the sentence {str(words)[:60]} of {name!r} holds what is no text: {error}") from error
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
    return _Corpus(name, text, frequent, sentences, counts.total(), digest.hexdigest())


def _sentences(text: Path | Sentences) -> Iterator[Sequence[str]]:
    """The sentences of a corpus, none of them empty or too long."""
    for number, given in enumerate(_lines(text) if isinstance(text, Path) else text):
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


def _lines(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        packed = file.read(2) == GZIP_MARK
    try:
        with gzip.open(path, "rt", encoding="utf-8") if packed else path.open(encoding="utf-8") as lines:
            yield from lines
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is no text in UTF-8: {error}") from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path} is truncated or damaged: {error}") from error


class _Passes:
    """A corpus as gensim reads it, once for each epoch.

    gensim reads in a thread of its own, where an error would be lost and leave the others waiting: it is kept, and the
    passes end.
    """

    def __init__(self, corpus: _Corpus, stop: Event) -> None:
        self.corpus, self.stop = corpus, stop
        self.read = 0
        self.error: Exception | None = None

    def __iter__(self) -> Iterator[Sequence[str]]:
        sentences = words = 0
        if self.error is not None:
            return
        try:
            for sentence in _sentences(self.corpus.text):
                if self.stop.is_set():
                    return
                sentences, words = sentences + 1, words + len(sentence)
                self.read += 1
                yield sentence
            self._check(sentences, words)
        except Exception as error:
            self.error = error

    def _check(self, sentences: int, words: int) -> None:
        corpus = self.corpus
        if (sentences, words) != (corpus.sentences, corpus.words):
            raise InputError(
                f"the corpus {corpus.name!r} gave {corpus.sentences:,} sentences of {corpus.words:,} words on the "
                f"first pass and {sentences:,} of {words:,} on a later one: give a list or a file that does not change"
            )


def _side_by_side(tasks: Sequence[_Task], workers: int) -> dict[Setting, KeyedVectors]:
    """Train some models at a time; after an error or an interrupt the others stop."""
    if not tasks:
        return {}
    stop = Event()
    passes = [_Passes(task.corpus, stop) for task in tasks]
    total = sum(task.corpus.sentences * task.options.epochs for task in tasks)
    with (
        _quiet("gensim"),
        progress("training embeddings", total) as done,
        ThreadPoolExecutor(min(workers, len(tasks))) as pool,
    ):
        try:
            futures = [pool.submit(_finished, task, reading) for task, reading in zip(tasks, passes, strict=True)]
            waiting = set(futures)
            while waiting:
                ended, waiting = wait(waiting, timeout=0.1, return_when=FIRST_EXCEPTION)
                done(sum(reading.read for reading in passes))
                for future in ended:
                    future.result()
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return {task.setting: future.result() for task, future in zip(tasks, futures, strict=True)}


def _finished(task: _Task, passes: _Passes) -> KeyedVectors:
    """Train one model, and write it where it has a file."""
    kv = _trained(task, passes)
    if task.file is not None:
        save_trained(kv, task.record(), task.file)
    return kv


def _trained(task: _Task, passes: _Passes) -> KeyedVectors:
    from gensim.models import Word2Vec

    setting, corpus, options = task.setting, task.corpus, task.options
    model = Word2Vec(
        sg=ALGORITHMS[setting.algorithm],
        vector_size=setting.dims,
        seed=setting.seed,
        workers=1,
        sorted_vocab=0,
        **asdict(options),
    )
    model.build_vocab_from_freq(corpus.counts, corpus_count=corpus.sentences)
    model.train(passes, total_examples=corpus.sentences, total_words=corpus.words, epochs=options.epochs)
    if passes.error is not None:
        raise passes.error
    if passes.read < corpus.sentences * options.epochs:
        raise CancelledError(f"training of {setting.label} was stopped")
    return keyed_vectors(setting, model.wv.index_to_key, model.wv.vectors, model.wv.expandos["count"])


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Keep a logger still."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)
