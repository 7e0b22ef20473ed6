"""Small embeddings: trained with gensim over corpora, algorithms, dimensions and seeds; text with a planted bias."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from operator import length_hint
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbias._support.arguments import finite_number, one_of, several, whole_number
from bayesbias._support.files import check_target, from_json, home_folder, read_arrays, to_json, whole_file, write_text
from bayesbias._support.progress import progress, quiet
from bayesbias.errors import InputError, listed
from bayesbias.numerics.arrays import FloatArray, IntArray
from bayesbias.vectors.formats import keyed_vectors
from bayesbias.vectors.readers import PACKED, text_lines
from bayesbias.words import WordLists

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


ARRAYS = ("words", "vectors", "counts", "record")
ALGORITHMS = {"sgns": 1, "cbow": 0}  # names of the algorithms, and what gensim calls ``sg``

LONGEST = 10_000  # words of a sentence; gensim ignores what comes after
STEP = 1_000  # sentences or lines between two looks at how much is read
NAMES = re.compile(r"\w[\w .+-]*")

type Record = dict[str, object]  # all that trained vectors depend on: setting, options, size and hash of the text
type Sentences = Iterable[str | Sequence[str]]
type Text = str | os.PathLike[str] | Sentences  # what one corpus can be given as


class Setting(NamedTuple):
    """Corpus, algorithm, dimensions and seed of an embedding.

    A plain tuple of the four equals it, so vectors that were trained elsewhere can stand under
    ``("wiki", "glove", 100, 0)`` in the same mapping.

    Attributes
    ----------
    corpus, algorithm
        Name of the text, and such as ``"sgns"`` (skip-gram with negative sampling) or ``"cbow"``.
    dims, seed
        How many dimensions the vectors have, and the seed of the first vectors and of all random choices.
    """

    corpus: str
    algorithm: str
    dims: int
    seed: int

    @property
    def label(self) -> str:
        """One line for tables and messages, such as ``wiki sgns 100 seed 0``."""
        return f"{self.corpus} {self.algorithm} {self.dims} seed {self.seed}"


def _with_counts(
    setting: Setting, words: list[str], vectors: NDArray[np.float32], counts: NDArray[np.int64]
) -> KeyedVectors:
    """Vectors (words, dims) with the counts of their words, named after their setting."""
    kv = keyed_vectors(words, vectors)
    kv.expandos["count"] = counts
    kv.bayesbias_name = setting.label
    return kv


def _load_trained(setting: Setting, record: Record, file: Path) -> KeyedVectors:
    """Vectors that :func:`_trained` wrote."""
    try:
        with file.open("rb") as opened:
            arrays = read_arrays(opened, file.name)
        stored = from_json(str(arrays.get("record", "{}")))
        if lacking := [name for name in ARRAYS if name not in arrays]:
            raise KeyError(", ".join(lacking))
        words, vectors, counts = (arrays[name] for name in ARRAYS[:3])
        if (
            not isinstance(stored, dict)
            or (words.ndim, words.dtype.kind) != (1, "U")
            or (vectors.shape, vectors.dtype) != ((len(words), setting.dims), np.dtype(np.float32))
            or (counts.shape, counts.dtype.kind) != (words.shape, "i")
        ):
            raise ValueError("its arrays have other shapes or kinds, or its record is no table")
    except KeyError as error:
        raise InputError(
            f"{file} lacks {error.args[0]}, so it does not say what it was trained with: choose another folder"
        ) from None
    except (ValueError, OSError, RecursionError) as error:
        raise InputError(f"{file} is damaged ({error}): delete it, and it is trained again") from error
    sizes = ("sentences", "words")
    plain = [key for key in record if key not in (*sizes, "sha256") and stored.get(key) != record[key]]
    differing = [f"{key} was {stored.get(key)!r} and is {record[key]!r}" for key in plain]
    if stored.get("sha256") != record["sha256"]:
        then, now = (", ".join(f"{table.get(size)} {size}" for size in sizes) for table in (stored, record))
        differing.append(f"the text was another ({then}) and is now of {now}")
    if differing:
        raise InputError(f"{file} was trained in another way: {'; '.join(differing)}. Choose another folder")
    return _with_counts(setting, words.tolist(), vectors, counts)


@dataclass(frozen=True)
class _Task:
    """One model to train."""

    setting: Setting
    corpus: _Corpus
    options: Mapping[str, Any]  # those of gensim, beside what the setting says
    file: Path | None

    def record(self) -> Record:
        """Settings and corpus that the vectors depend on."""
        text = {name: getattr(self.corpus, name) for name in ("sentences", "words", "sha256")}
        return self.setting._asdict() | dict(self.options) | text


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
        The path of a UTF-8 text file (one sentence a line, words apart by blanks; packed too); sentences (lists of
        words, or strings that are split at blanks) that are the same on each pass, an iterator being kept in memory;
        or a mapping of names to these. Sentences of more than 10,000 words are cut into pieces.
    algorithm, dims
        ``"sgns"`` (skip-gram with negative sampling), ``"cbow"``, or several; dimensions of the vectors, or several.
    seeds
        How many seeds, from 0, or a list of seeds.
    folder
        Where each embedding is written as soon as it is done (``.npz``, which :func:`load_embedding` reads). What
        stands there from the same corpus and options is read and not trained again; a file of another corpus or other
        options is refused, never overwritten. None keeps nothing.
    window, min_count, epochs, sample
        Most words between two that count as neighbours, up to 10,000; least occurrences of a word; passes; threshold (a
        share of all words) above which frequent words are sampled down, 0 for never.
    jobs
        Embeddings trained side by side; None is one for each processor. The result does not depend on it.
    name
        Name of a single corpus; None takes that of the file, or ``"corpus"``.

    Returns
    -------
    dict
        :class:`Setting` to KeyedVectors, with ``kv.get_vecattr(word, "count")`` the occurrences of a word.

    References
    ----------
    Mikolov, T. et al. (2013). Distributed representations of words and phrases and their compositionality. NeurIPS.
    https://doi.org/10.48550/arXiv.1310.4546

    Examples
    --------
    >>> toy = bb.stability.toy_corpus(bias=0.5, sentences=400)
    >>> kvs = bb.stability.train_embeddings(toy, seeds=2, dims=10, epochs=1)
    >>> len(kvs)
    2
    """
    algorithms = _each(algorithm, "algorithm", _known_algorithm)
    sizes = _each(dims, "dims", lambda value: whole_number(value, "dims"))
    listed_seeds = seeds if np.iterable(seeds) else range(whole_number(seeds, "seeds", most=10_000))
    chosen = _each(listed_seeds, "seeds", lambda value: whole_number(value, "seeds", least=0, most=2**32 - 1))
    options: dict[str, Any] = {
        "window": whole_number(window, "window", most=LONGEST),
        "min_count": whole_number(min_count, "min_count"),
        "epochs": whole_number(epochs, "epochs"),
        "sample": finite_number(sample, "sample"),
        "negative": 5,
    }
    if not 0 <= options["sample"] < 1:
        raise InputError(f"sample is {sample!r}: give a share of all words from 0 (never) to 1, such as 0.001")
    workers = whole_number(os.cpu_count() or 1 if jobs is None else jobs, "jobs")
    texts = _texts_by_name(corpus, name)
    place = None if folder is None else home_folder(folder)
    if place is not None and place.exists() and not place.is_dir():
        raise InputError(f"folder is {str(place)!r}, which is a file: give a folder")
    corpora = [counted(label, text, options["min_count"]) for label, text in texts.items()]
    tasks = [
        _Task(setting, text, options, place / f"{setting.label}.npz" if place else None)
        for text, kind, size, seed in product(corpora, algorithms, sizes, chosen)
        for setting in [Setting(text.name, kind, size, seed)]
    ]
    read = {
        task.setting: _load_trained(task.setting, task.record(), task.file)
        for task in tasks
        if task.file and task.file.exists()
    }
    if place:
        place.mkdir(parents=True, exist_ok=True)
    trained = read | _side_by_side([task for task in tasks if task.setting not in read], workers)
    return {task.setting: trained[task.setting] for task in tasks}


def _each[Given, Known](value: object, name: str, check: Callable[[Given], Known]) -> list[Known]:
    """One value or several, each checked and given once."""
    checked = [check(item) for item in several(value)]
    if not checked:
        raise InputError(f"{name} is empty: give at least one")
    if repeated := [str(item) for item, count in Counter(checked).items() if count > 1]:
        raise InputError(f"{name} holds {listed(repeated)} more than once: give each once")
    return checked


def _known_algorithm(value: str) -> str:
    if str(value).lower() == "glove":
        raise InputError(
            "GloVe vectors are not trained here: read them with load_embedding; under a Setting of their own, such as "
            "('wiki', 'glove', 100, 0), they may stand in one mapping with the others"
        )
    return one_of(value, tuple(ALGORITHMS), "algorithm")


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
        corpus, sentences, words = self.corpus, 0, 0
        if self.error is not None:
            return
        try:
            for sentence in _sentences_of(corpus.text):
                if self.stop.is_set():
                    return
                sentences, words = sentences + 1, words + len(sentence)
                self.read += 1
                yield sentence
            if (sentences, words) != (corpus.sentences, corpus.words):
                raise InputError(
                    f"the corpus {corpus.name!r} gave {corpus.sentences:,} sentences of {corpus.words:,} words on the "
                    f"first pass and {sentences:,} of {words:,} on a later one: give a list or a file that does not "
                    "change"
                )
        except Exception as error:
            self.error = error


def _side_by_side(tasks: Sequence[_Task], workers: int) -> dict[Setting, KeyedVectors]:
    """Train some models at a time; after an error or an interrupt the others stop.

    The main thread waits on a queue alone: an interrupt inside of ``concurrent.futures.wait`` can leave locks behind
    on which the workers would wait for ever.
    """
    if not tasks:
        return {}
    stop = Event()
    passes = [_Passes(task.corpus, stop) for task in tasks]
    total = sum(task.corpus.sentences * task.options["epochs"] for task in tasks)
    ended: SimpleQueue[Future[KeyedVectors]] = SimpleQueue()
    with (
        quiet("gensim"),
        progress("training embeddings", total) as done,
        ThreadPoolExecutor(min(workers, len(tasks))) as pool,
    ):
        try:
            futures = [pool.submit(_trained, task, reading) for task, reading in zip(tasks, passes, strict=True)]
            for future in futures:
                future.add_done_callback(ended.put)
            waiting = len(futures)
            while waiting:
                with suppress(Empty):
                    ended.get(timeout=0.1).result()
                    waiting -= 1
                done(sum(reading.read for reading in passes))
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return {task.setting: future.result() for task, future in zip(tasks, futures, strict=True)}


def _trained(task: _Task, passes: _Passes) -> KeyedVectors:
    """Train one model, and write it where it has a file."""
    from gensim.models import Word2Vec

    class Model(Word2Vec):  # type: ignore[misc]  # gensim has no types
        """An error in gensim's thread of workers ends the training, which would wait for it."""

        def _worker_loop(self, jobs: Any, results: Any) -> None:
            try:
                super()._worker_loop(jobs, results)
            except Exception as error:
                passes.error = error
                while jobs.get() is not None:
                    pass
                results.put(None)

    setting, corpus, options = task.setting, task.corpus, task.options
    shape = {"sg": ALGORITHMS[setting.algorithm], "vector_size": setting.dims, "seed": setting.seed}
    model = Model(workers=1, sorted_vocab=0, **shape, **options)
    model.build_vocab_from_freq(corpus.counts, corpus_count=corpus.sentences)
    model.train(passes, total_examples=corpus.sentences, total_words=corpus.words, epochs=options["epochs"])
    if passes.error is not None:
        raise passes.error
    if passes.read < corpus.sentences * options["epochs"]:
        raise CancelledError(f"training of {setting.label} was stopped")
    words, vectors, counts = model.wv.index_to_key, model.wv.vectors, model.wv.expandos["count"]
    if task.file is not None:
        with whole_file(task.file) as temporary:
            record = np.array(to_json(task.record()))
            np.savez(temporary, words=np.array(words), vectors=vectors, counts=counts, record=record)
    return _with_counts(setting, words, vectors, counts)


@dataclass(frozen=True)
class _Corpus:
    """A text, and what the first pass over it found."""

    name: str
    text: Path | Sentences
    # words that are frequent enough, the most frequent first and equals in the order of the text, so that the order
    # does not depend on how a machine sorts
    counts: dict[str, int]
    sentences: int
    words: int
    sha256: str


def _texts_by_name(corpus: Text | Mapping[str, Text], name: str | None) -> dict[str, Path | Sentences]:
    """The corpora by their names."""
    if isinstance(corpus, Mapping):
        if name is not None:
            raise InputError(f"name is {name!r}, but corpus is a mapping, whose keys are the names: leave name out")
        if not corpus:
            raise InputError("corpus is an empty mapping: give names and their texts")
        texts = {_known_name(key): _opened(text) for key, text in corpus.items()}
    else:
        text = _opened(corpus)
        stem = (Path(text.stem) if text.suffix in PACKED else text).stem if isinstance(text, Path) else "corpus"
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
    if isinstance(text, Mapping | bytes) or not np.iterable(text):
        raise InputError(f"a corpus is given as {type(text).__name__}: give the path of a text, or sentences")
    return list(text) if isinstance(text, Iterator) else text


def counted(name: str, text: Path | Sentences, min_count: int) -> _Corpus:
    """Counts and hash of a corpus, found in one pass."""
    counts: Counter[str] = Counter()
    digest = hashlib.sha256()
    sentences = longest = 0
    # bytes of a file, or number of sentences, 0 where they do not tell
    size = text.stat().st_size if isinstance(text, Path) else length_hint(text)
    with progress(f"reading {name}", size) as done:
        for words in _sentences_of(text, done):
            try:
                digest.update("\0".join(words).encode() + b"\0\0")
            except (TypeError, UnicodeEncodeError) as error:
                raise InputError(
                    f"the sentence {str(words)[:60]} of {name!r} holds what is no text: {error}"
                ) from error
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
    if not (frequent := {word: count for word, count in counts.most_common() if count >= min_count}):
        raise InputError(
            f"no word of the corpus {name!r} occurs {min_count} times: it has {len(counts):,} distinct words, the most "
            f"frequent of which occurs {max(counts.values())} times; give a larger corpus or a smaller min_count"
        )
    return _Corpus(name, text, frequent, sentences, counts.total(), digest.hexdigest())


def _sentences_of(text: Path | Sentences, done: Callable[[float], None] | None = None) -> Iterator[Sequence[str]]:
    """The sentences of a corpus, none of them empty or too long.

    ``done`` is told now and then how many bytes of the file, or how many sentences, have been read.
    """
    sentences: Iterable[Any] = text_lines(text, done or (lambda _: None)) if isinstance(text, Path) else text
    for number, sentence in enumerate(sentences):
        if done and number % STEP == 0 and not isinstance(text, Path):
            done(number)
        if not isinstance(sentence, Sequence) or isinstance(sentence, bytes):
            raise InputError(
                f"sentence {number} of a corpus is given as {type(sentence).__name__}: give a list of words or a string"
            )
        words = sentence.split() if isinstance(sentence, str) else sentence
        yield from (words[begin : begin + LONGEST] for begin in range(0, len(words), LONGEST))


MALE = "he man boy father son brother uncle nephew husband king actor duke"
FEMALE = "she woman girl mother daughter sister aunt niece wife queen actress duchess"
PAIRS = tuple(zip(MALE.split(), FEMALE.split(), strict=True))  # protected words, male and female

BESIDE_BOTH = (
    "said/thought adult/citizen school/child parent/nursery teenager/grown sibling/twin relative/visit cousin/reunion "
    "married/wedding palace/crown theatre/stage castle/estate"
)  # words that stand beside both words of a pair, pair by pair
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
    bias, seed
        What was planted, as in :func:`toy_corpus`, and the seed of the text.
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

    Half of the sentences are about people, each about one of two groups: it holds two of the group's protected words
    and two activities. An activity is, with probability 1/2 each, a human control or a stereotype word; a stereotype
    word comes from the group's own list with probability (1 + bias)/2 and from the other group's with (1 - bias)/2. So
    with bias 0 stereotype words are used as the human controls are. All else is chosen by one rule for both groups:
    words that the two of a pair share (*palace* for *king* and *queen*), neutral controls and fillers. The other
    sentences are about one of six topics. The stereotypes are hobbies, chosen to be harmless: they say what is in this
    text and nothing about people.

    Parameters
    ----------
    bias
        From -1 (reversed) over 0 (none) to 1 (only the own stereotype). With one seed the texts of two biases differ in
        their stereotype words only.
    seed, sentences
        Seed of the text, and how many sentences, of some 9 words.

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
    neutral = _listed(WORDS["neutral"])[_uniform(len(WORDS["neutral"]), chances())]
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
    human = _listed(WORDS["human"])[_uniform(len(WORDS["human"]), chances(2))]
    sentences = np.empty((len(group), SLOTS), dtype=object)
    sentences[:, [1]] = protected[pair, group]
    sentences[:, [3, 5]] = np.where(chances(2) < HUMAN_SHARE, human, stereotype)
    sentences[:, [6]] = _listed(SHARED)[pair, side]
    sentences[:, [8]] = protected[(pair + 1 + step) % len(PAIRS), group]
    sentences[:, [10]] = neutral
    return sentences


def _listed(words: Sequence[object]) -> WordArray:
    return np.array(words, dtype=object)


def _uniform(many: int, chances: FloatArray) -> IntArray:
    """Places in a list, each as likely as any other."""
    return (chances * many).astype(np.intp)


def _zipf(many: int, chances: FloatArray) -> IntArray:
    """Places in a list, the probability falling with the rank."""
    steps = np.cumsum(1 / np.arange(1, many + 1))
    places: IntArray = np.searchsorted(steps, chances * steps[-1], side="right")
    return places


class _Resampled:
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
) -> dict[str, _Resampled]:
    """Corpora of documents drawn with replacement, whose embeddings differ as other documents would make them.

    Parameters
    ----------
    corpus
        Path of a text with one document a line, sentences (each a document), or documents as lists of sentences that
        are lists of words.
    n, seed
        Number of corpora, and the seed of the draws.
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
        documents = [[words] for words in _sentences_of(text)]
    else:
        for document in text:
            if not isinstance(document, str | list | tuple):
                raise InputError(f"corpus holds {type(document).__name__}: give sentences, or lists of sentences")
            whole = not isinstance(document, str) and len(document) > 0 and not isinstance(document[0], str)
            documents.append(document if whole else [document])
    if len(documents) < 2:
        raise InputError(f"the corpus has {len(documents)} documents, and resampling needs at least 2")
    rng = np.random.default_rng(seed)
    return {f"{name}{i}": _Resampled(documents, rng.integers(len(documents), size=len(documents))) for i in range(n)}
