"""Embeddings trained with gensim over corpora, algorithms, dimensions and seeds."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbias._checks import finite_number, one_of, several, whole_number
from bayesbias._files import from_json, home_folder, read_arrays, to_json, whole_file
from bayesbias._progress import progress, quiet
from bayesbias.embeddings.text import LONGEST, Corpus, Text, counted, sentences_of, texts_by_name
from bayesbias.errors import InputError, listed

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


ARRAYS = ("words", "vectors", "counts", "record")
ALGORITHMS = {"sgns": 1, "cbow": 0}  # names of the algorithms, and what gensim calls ``sg``

type Record = dict[str, object]
"""All that trained vectors depend on: setting, options, size and hash of the text."""


class Setting(NamedTuple):
    """Corpus, algorithm, dimensions and seed of an embedding.

    A plain tuple of the four equals it, so vectors that were trained elsewhere can stand under
    ``("wiki", "glove", 100, 0)`` in the same mapping.

    Attributes
    ----------
    corpus
        Name of the text.
    algorithm
        Such as ``"sgns"`` (skip-gram with negative sampling) or ``"cbow"``.
    dims
        How many dimensions the vectors have.
    seed
        Seed of the first vectors and of all random choices.
    """

    corpus: str
    algorithm: str
    dims: int
    seed: int

    @property
    def label(self) -> str:
        """One line for tables and messages, such as ``wiki sgns 100 seed 0``."""
        return f"{self.corpus} {self.algorithm} {self.dims} seed {self.seed}"


def keyed_vectors(
    setting: Setting, words: list[str], vectors: NDArray[np.float32], counts: NDArray[np.int64]
) -> KeyedVectors:
    """Vectors (words, dims) with the counts of their words, named after their setting."""
    from gensim.models import KeyedVectors

    kv = KeyedVectors(setting.dims, dtype=np.float32)
    kv.add_vectors(words, vectors)
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
            or (vectors.shape, vectors.dtype.kind) != ((len(words), setting.dims), "f")
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
    return keyed_vectors(setting, words.tolist(), vectors, counts)


@dataclass(frozen=True)
class _Task:
    """One model to train."""

    setting: Setting
    corpus: Corpus
    options: Mapping[str, Any]  # those of gensim, beside what the setting says
    file: Path | None

    def record(self) -> Record:
        """What the vectors depend on."""
        corpus = self.corpus
        text: Record = {"sentences": corpus.sentences, "words": corpus.words, "sha256": corpus.sha256}
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

    Raises
    ------
    OSError
        The folder cannot be written, or the disk is full.

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
    listed_seeds = seeds if isinstance(seeds, Iterable) else range(whole_number(seeds, "seeds", most=10_000))
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
    texts = texts_by_name(corpus, name)
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

    def __init__(self, corpus: Corpus, stop: Event) -> None:
        self.corpus, self.stop = corpus, stop
        self.read = 0
        self.error: Exception | None = None

    def __iter__(self) -> Iterator[Sequence[str]]:
        corpus, sentences, words = self.corpus, 0, 0
        if self.error is not None:
            return
        try:
            for sentence in sentences_of(corpus.text):
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
    return keyed_vectors(setting, words, vectors, counts)
