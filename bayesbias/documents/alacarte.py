"""Vectors of the instances of a word from the words around them: embeddings à la carte."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from bayesbias._support.arguments import several, whole_number
from bayesbias._support.progress import one_thread, progress
from bayesbias.documents.corpora import Documents, documents_of, lower_case
from bayesbias.documents.samples import TargetVectors, VectorSample, cluster_of, speakers_noted
from bayesbias.errors import InputError, listed, many
from bayesbias.numerics.arrays import FloatArray, IntArray
from bayesbias.vectors import Embedding, about, opened
from bayesbias.vectors.lookup import left_out
from bayesbias.words import WordLists

LEAST_WORDS = 2  # words for each dimension from which a transform is estimated
LEAST_COUNT = 10  # occurrences of a word from which it counts for that
BLOCK = 2048  # instances whose products are taken together
METHOD = "10.18653/v1/P18-1002"


def instances(
    corpus: Any,
    targets: Iterable[str] | str | WordLists,
    kv: Embedding,
    *,
    transform: FloatArray | None = None,
    window: int = 6,
    min_count: int = 5,
    text: str = "text",
    clusters: str | None = None,
    covariates: Iterable[str] | None = None,
    tokens: Callable[[str], Sequence[str]] = lower_case,
) -> VectorSample:
    """Vectors of each occurrence of words in documents, from the words around it.

    The vector of an instance is the mean of the vectors of the words at most ``window`` places away, times a transform
    that turns such means into vectors of words (Khodak et al. 2018).

    Parameters
    ----------
    corpus
        Documents: a DataFrame (pandas, Polars, Arrow), the path of JSON lines, CSV, TSV or Parquet, or an iterable of
        texts, of lists of words, or of mappings. It is read two to four times, row by row.
    targets
        Words, or phrases of several words, of which the longest takes an instance; or word lists, whose protected words
        that occur are taken.
    kv
        The embedding of the words around, and of attribute words.
    transform
        A matrix (d, d), such as the ``transform`` of another sample. By default it is estimated on the corpus: least
        squares of the vectors of words on the means of their contexts, weighted by the logarithm of how often they
        occur.
    window
        Places on either side.
    min_count
        Words that occur less often in the corpus are left out of contexts; their places are kept.
    text
        The column of the documents' texts.
    clusters
        The column that says who speaks: errors are between speakers, of whom identical texts count once. By default
        each document is one of its own.
    covariates
        Columns to keep; by default all others.
    tokens
        A function from a text to its words; by default words in lower case.

    Returns
    -------
    VectorSample
        Instances by target and unit, where a unit is a document, or with clusters what one speaker says under the same
        covariates.

    Raises
    ------
    InputError
        A target does not occur, a column is missing, a transform has other dimensions, or a file is damaged.

    References
    ----------
    Khodak, M., Saunshi, N., Liang, Y., Ma, T., Stewart, B. and Arora, S. (2018). A la carte embedding: cheap but
    effective induction of semantic feature vectors. ACL. https://doi.org/10.18653/v1/P18-1002

    Examples
    --------
    >>> speeches = [{"text": f"the {tax} tax is {tax}", "party": party} for party, tax in (("L", "low"), ("R", "high"))]
    >>> import numpy as np
    >>> bb.instances(speeches * 10, "tax", "glove-50d-slice", transform=np.eye(50))
    vectors of words by document
    vectors à la carte; embedding glove-50d-slice; documents 20; words 100; window 6;
    min count 5; transform given
         vectors  units  clusters
    tax       20     20        20
    """
    window, least = whole_number(window, "window"), whole_number(min_count, "min_count")
    if isinstance(targets, WordLists):
        targets.single_forms("vectors of instances")
    words = targets.group_of if isinstance(targets, WordLists) else several(targets)
    phrases = {target: tuple(target.split()) for target in words}
    embedding = opened(kv)
    documents = documents_of(corpus, text, None if covariates is None else several(covariates), clusters, tokens)
    if clusters is not None:
        documents = documents.once(clusters)
    counts, number = Counter[str](), 0
    with progress("counting words", 0) as done:
        for number, (read, _) in enumerate(documents, 1):
            counts.update(read)
            done(number)
    again = len(documents.repeated)
    notes = left_out(again, again + number, "documents", "repeated by the speaker")
    frequent = [word for word in embedding.index_to_key if counts[word] >= least]
    place = {word: row for row, word in enumerate(frequent)}
    rows = [embedding.key_to_index[word] for word in frequent]
    # the last row, of all other words, is 0
    vectors = np.vstack([embedding.vectors[rows], np.zeros((1, embedding.vector_size), dtype=np.float32)])
    with one_thread():
        if transform is None:
            matrix, made = _estimated(documents, number, place, vectors, window)
        else:
            matrix, made = np.asarray(transform, dtype=float), {"transform": "given"}
            if matrix.shape != (embedding.vector_size,) * 2 or not np.isfinite(matrix).all():
                raise InputError(f"transform is {matrix.shape}: give finite numbers, {(embedding.vector_size,) * 2}")
        sums, units, seen = _summed(documents, number, place, vectors, matrix, phrases, window, clusters)
    absent = [word for word in phrases if word not in sums]
    if isinstance(targets, WordLists) and sums:
        phrases = {word: own for word, own in phrases.items() if word in sums}
    elif absent:
        raise InputError(
            f"{listed(absent)}: no instance in {many(number, 'document')}"
            + (f" with a known word around, {seen[absent[0]]} without" if seen[absent[0]] else "; look at the spelling")
        )
    used = {word: sum(own.n.values()) for word, own in sums.items()}
    notes += left_out(seen.total(), seen.total() + sum(used.values()), "instances", "no known word around", seen)
    for short in phrases:
        inside = [long for long in phrases if short != long and f" {short} " in f" {long} "]
        longer = sum(used[long] for long in inside)
        notes += left_out(longer, longer + used[short], f"instances of {short}", "inside a longer target", inside)
    notes += speakers_noted(units, clusters)
    return VectorSample(
        tuple(phrases),
        units,
        cluster_of(units, clusters),
        clusters,
        {word: sums[word].closed(len(units)) for word in phrases},
        embedding,
        {
            "vectors": "à la carte",
            "corpus": getattr(corpus, "attrs", {}).get("dataset", {}),
            "embedding": about(embedding)["name"],
            "documents": number,
            "words": counts.total(),
            "window": window,
            "min_count": least,
            **made,
        },
        tuple(notes),
        transform=matrix,
    )


def _codes(tokens: Sequence[str], place: Mapping[str, int]) -> IntArray:
    """Rows of the vectors of tokens, those of unknown ones after all others."""
    return np.fromiter((place.get(token, len(place)) for token in tokens), dtype=np.intp, count=len(tokens))


def _estimated(
    documents: Documents, number: int, place: Mapping[str, int], vectors: NDArray[np.float32], window: int
) -> tuple[FloatArray, dict[str, object]]:
    """The transform by weighted least squares, and facts on it."""
    size, d = vectors.shape
    sums, met = np.zeros((size, d)), np.zeros(size)
    with progress("estimating the transform", number) as done:
        for at, (tokens, _) in enumerate(documents):
            codes = _codes(tokens, place)
            if len(codes) > 1:
                # sums of the vectors around each token, and how many words these are, from running sums
                own = np.column_stack([vectors[codes].astype(float), codes < size - 1])
                whole, spots = np.cumsum(np.vstack([0 * own[:1], own]), axis=0), np.arange(len(codes))
                ends, begins = np.minimum(spots + window + 1, len(codes)), np.maximum(spots - window, 0)
                around = whole[ends] - whole[begins] - own
                some = np.flatnonzero(around[:, -1] > 0)
                shares = 1 / around[some, -1], (codes[some], some)
                sums += sparse.csr_array(shares, shape=(size, len(codes))) @ around[:, :-1]
                met += np.bincount(codes[some], minlength=size)
            done(at)
    used = np.flatnonzero(met[:-1] >= LEAST_COUNT)
    if len(used) < LEAST_WORDS * d:
        raise InputError(
            f"{many(len(used), 'word')} of the corpus have a vector and occur {LEAST_COUNT} times, and a transform of "
            f"{d} dimensions needs {LEAST_WORDS * d}: give one that was estimated on a larger corpus, as transform"
        )
    x, y, weights = sums[used] / met[used, None], vectors[used].astype(float), np.log(met[used])
    scaled = x * weights[:, None]
    matrix: FloatArray = np.linalg.lstsq(x.T @ scaled, scaled.T @ y, rcond=None)[0].T
    left = ((y - x @ matrix.T) ** 2).sum(axis=1)
    centred = ((y - np.average(y, axis=0, weights=weights)) ** 2).sum(axis=1)
    share = 1 - (weights @ left) / (weights @ centred)
    return matrix, {"transform": "estimated", "transform words": len(used), "transform R2": float(share)}


@dataclass
class _Sums:
    """Sums of one target by unit, which grow as documents are read."""

    products: FloatArray  # of all vectors, (d, d)
    n: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))
    total: defaultdict[int, Any] = field(default_factory=lambda: defaultdict(float))
    squares: defaultdict[int, float] = field(default_factory=lambda: defaultdict(float))
    waiting: list[FloatArray] = field(default_factory=list)

    def add(self, unit: int, vector: FloatArray) -> None:
        """One instance of a unit."""
        self.n[unit] += 1
        self.total[unit] = self.total[unit] + vector
        self.squares[unit] += float(vector @ vector)
        self.waiting.append(vector)
        if len(self.waiting) == BLOCK:
            self._multiply()

    def _multiply(self) -> None:
        block = np.array(self.waiting).reshape(-1, len(self.products))
        self.products += block.T @ block
        self.waiting.clear()

    def closed(self, units: int) -> TargetVectors:
        """The sums over so many units."""
        self._multiply()
        n, total, squares = np.zeros(units, dtype=np.intp), np.zeros((units, len(self.products))), np.zeros(units)
        for unit, vector in self.total.items():
            n[unit], total[unit], squares[unit] = self.n[unit], vector, self.squares[unit]
        return TargetVectors.of(n, total, squares, self.products)


def _summed(
    documents: Documents,
    number: int,
    place: Mapping[str, int],
    vectors: NDArray[np.float32],
    transform: FloatArray,
    phrases: Mapping[str, tuple[str, ...]],
    window: int,
    clusters: str | None,
) -> tuple[dict[str, _Sums], pd.DataFrame, Counter[str]]:
    """Sums by target, the units, and how many instances of each target have no known word around them."""
    sums = {phrase: _Sums(np.zeros(transform.shape)) for phrase in phrases}
    longest = sorted(phrases.items(), key=lambda each: -len(each[1]))
    firsts = {word: [each for each in longest if each[1][0] == word] for word in {own[0] for own in phrases.values()}}
    units: dict[tuple[Any, ...], int] = {}
    lost: Counter[str] = Counter()
    with progress("reading documents", number) as done:
        for at, (tokens, values) in enumerate(documents):
            done(at)
            unit = None
            for phrase, begin, end in _occurrences(tokens, firsts):
                beside = [*tokens[max(0, begin - window) : begin], *tokens[end : end + window]]
                codes = _codes(beside, place)
                codes = codes[codes < len(place)]
                if not len(codes):
                    lost[phrase] += 1
                    continue
                if unit is None:
                    # missing numbers, which do not equal themselves, are one value
                    own = tuple(None if value is None or value != value else value for value in values)
                    unit = units.setdefault((at, *values) if clusters is None else own, len(units))
                sums[phrase].add(unit, transform @ vectors[codes].mean(axis=0, dtype=float))
    begin = 1 if clusters is None else 0
    frame = pd.DataFrame([key[begin:] for key in units], columns=list(documents.covariates))
    frame.index = pd.RangeIndex(len(frame))
    return {phrase: own for phrase, own in sums.items() if own.n}, frame, lost


def _occurrences(
    tokens: Sequence[str], firsts: Mapping[str, Sequence[tuple[str, tuple[str, ...]]]]
) -> Iterator[tuple[str, int, int]]:
    """Targets, by their first word, with the places where they begin and end; of several at one place the longest."""
    if firsts.keys().isdisjoint(tokens):
        return
    free = 0
    for place, token in enumerate(tokens):
        if token not in firsts or place < free:
            continue
        for phrase, words in firsts[token]:
            if len(words) == 1 or tuple(tokens[place : place + len(words)]) == words:
                free = place + len(words)
                yield phrase, place, free
                break
