"""Embeddings from files and to files: bundled, word2vec, GloVe and NumPy formats, mappings."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from itertools import chain, compress, islice
from mmap import ACCESS_READ
from mmap import mmap as memory_map
from pathlib import Path
from struct import unpack_from
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import normalize

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesbias._support import shipped
from bayesbias._support.arguments import flag, one_of, printable
from bayesbias._support.files import check_target, from_json, home_folder, read_as, to_json, whole_file
from bayesbias._support.progress import progress
from bayesbias.errors import CoverageWarning, InputError, RelatednessWarning, many, near, shown, warn, within
from bayesbias.numerics.constants import SAMPLE
from bayesbias.vectors.lookup import (
    CASES,
    DEBIASING,
    NO_BREAK,
    ORIGIN,
    SPREAD,
    SUBWORDS,
    Case,
    VocabularySample,
    directed,
    few,
    find_keys,
    find_lists,
    first_keys,
    have_directions,
    local_sample,
    nearness_of,
    ordered_by_frequency,
    origin_of,
    sample_of,
    spellings,
    subwords_of,
    waiting_words,
)
from bayesbias.vectors.readers import (
    DECADE,
    FASTTEXT_MARK,
    PICKLED,
    SAFE,
    Named,
    Placed,
    Wanted,
    begins_with,
    blocks,
    decade,
    mapped,
    plain_file,
    stored_arrays,
    vectors_at,
)
from bayesbias.vectors.tables import arrays_of, real_vectors, refuse_numbers
from bayesbias.words import WordLists

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from bayesbias.numerics.arrays import IntArray


WORD2VEC = (".bin", ".txt", ".vec")
PACKED = ".gz"
SUFFIXES = (*WORD2VEC, ".npz", SAFE, ".parquet", *(suffix + PACKED for suffix in WORD2VEC))
PICKLE_MARK = b"\x80"
# arrays of an .npz embedding that hold a sample of the vocabulary
SAMPLED = ("sample_words", "sample_vectors", "placed_words", "places", "sample_facts", "overall_vectors")
WEIGHTS = "sample_weights"  # of a sample that follows the nearness of lists
RECORD = "embedding_record"  # array of an .npz embedding with what is recorded of it, as JSON
# vectors that are looked at together, so that a large embedding is never copied whole and a block stays in cache
BLOCK = 1_000
VOCABULARY = "bayesbias_vocabulary"  # name of the whole vocabulary on an embedding of which a part is being loaded
# bytes of a fastText model with the number of words and others, before the words
FASTTEXT_COUNTS = slice(64, 92)
NONE_HELD = "holds none of the words that were asked for"

type Embedding = str | os.PathLike[str] | KeyedVectors | Mapping[str, ArrayLike] | Any
"""Forms in which an embedding can be given: those of :func:`load_embedding`."""


def save_embedding(kv: Embedding, path: str | Path) -> None:
    """Write an embedding in the format that the name of the file asks for, whole or not at all.

    word2vec's binary (``.bin``) and text format (``.txt``, ``.vec``), each also packed (``.txt.gz``); NumPy's archive
    (``.npz``) and ``.safetensors``, which :func:`load_embedding` can map into memory; or ``.parquet``. Word2vec's
    formats hold no word with a blank, safetensors none with a line break. An ``.npz`` file holds the sample of the
    vocabulary, source, DOI and the record of a debiasing too.

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice", words=["he", "she", "nurse"])
    >>> bb.save_embedding(kv, "three.npz")
    >>> len(bb.load_embedding("three.npz"))
    3
    """
    kv, file = opened(kv), check_target(path, SUFFIXES, "an embedding")
    suffix, words = file.suffixes[-2] if file.suffix == PACKED else file.suffix, kv.index_to_key
    split = {SAFE: "\n"} | dict.fromkeys(WORD2VEC)
    if blank := [word for word in words if word.split(split[suffix]) != [word]] if suffix in split else []:
        raise InputError(
            f"cannot write {file.name}: {len(blank)} words hold blanks ({', '.join(map(repr, blank[:5]))}), which "
            f"{suffix} cannot hold: write .npz"
        )
    if suffix != ".npz" and sample_of(kv) is not None:
        warn(
            f"{file.name} holds the {len(words):,} words, and not the sample of the vocabulary beside them, without "
            "which the default model cannot be fitted: write .npz to keep it",
            RelatednessWarning,
        )
    with whole_file(file) as temporary:
        if suffix == ".npz":
            np.savez(temporary, words=np.array(words), vectors=kv.vectors, **_beside(kv))
        elif suffix == SAFE:
            _write_safetensors(temporary, words, kv.vectors)
        elif suffix == ".parquet":
            import pandas as pd

            pd.DataFrame({"word": words, "vector": list(kv.vectors)}).to_parquet(temporary, index=False)
        else:  # gensim packs what ends in .gz
            kv.save_word2vec_format(str(temporary), binary=suffix == ".bin")


def _beside(kv: KeyedVectors) -> dict[str, Any]:
    """Arrays that an ``.npz`` file holds beside words and vectors: the sample of the vocabulary, and a record."""
    arrays: dict[str, Any] = {}
    if (sample := sample_of(kv)) is not None:
        facts = {"kind": sample.kind, "size": sample.size, "overall_kind": sample.overall_kind}
        words, placed = (np.array(list(each), dtype=str) for each in (sample.words, sample.places))
        places = np.array(list(sample.places.values()), dtype=np.int64)
        own = words, sample.vectors, placed, places, np.array(to_json(facts)), sample.overall
        arrays = dict(zip(SAMPLED, own, strict=True))
        arrays |= {} if sample.everywhere is None else {WEIGHTS: sample.everywhere}
    name, debiasing = getattr(kv, "bayesbias_name", ""), getattr(kv, DEBIASING, None)
    origin: Mapping[str, Any] = manifest().get(name, origin_of(kv))
    record: dict[str, Any] = {key: origin[key] for key in ("source", "doi") if origin.get(key)}
    if debiasing is not None:
        from bayesbias.vectors.debiasing.methods import recorded

        record |= {"name": name, "debiasing": recorded(debiasing)}
    return arrays | ({RECORD: np.array(to_json(record))} if record else {})


def _with_stored(kv: KeyedVectors, path: Path) -> KeyedVectors:
    """The embedding with the sample of the vocabulary and the record that its file holds, if it holds them."""
    arrays = stored_arrays(path, (*SAMPLED, WEIGHTS, RECORD))
    with read_as("what goes with an embedding", str(path)):
        if RECORD in arrays:
            from bayesbias.vectors.debiasing.methods import debiasing_from

            known = from_json(str(arrays[RECORD]))
            setattr(kv, ORIGIN, {key: known[key] for key in ("source", "doi") if known.get(key)})
            kv.bayesbias_name = known.get("name") or kv.bayesbias_name
            if known.get("debiasing"):
                setattr(kv, DEBIASING, debiasing_from(known["debiasing"], kv.vector_size))
        if arrays.keys() >= set(SAMPLED):
            words, vectors, placed, places, facts, overall = (arrays[name] for name in SAMPLED)
            kv.bayesbias_sample = VocabularySample(
                words=tuple(words.tolist()),
                vectors=vectors,
                places=dict(zip(placed.tolist(), places.tolist(), strict=True)),
                everywhere=arrays.get(WEIGHTS),
                overall=overall,
                **from_json(str(facts)),
            )
    return kv


def _write_safetensors(path: Path, words: list[str], vectors: NDArray[Any]) -> None:
    listed_words = "\n".join(words).encode("utf-8", "surrogateescape")
    matrix, size = np.ascontiguousarray(vectors, dtype="<f4"), len(listed_words)
    ends = [matrix.nbytes, matrix.nbytes + size]
    header = json.dumps(
        {
            "words": {"dtype": "U8", "shape": [size], "data_offsets": ends},
            "vectors": {"dtype": "F32", "shape": list(matrix.shape), "data_offsets": [0, matrix.nbytes]},
        }
    ).encode()
    header += b" " * (-len(header) % 8)
    with path.open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        matrix.tofile(file)
        file.write(listed_words)


def load_embedding(
    embedding: Embedding,
    words: Iterable[str] | WordLists | None = None,
    trust_pickle: bool = False,
    mmap: bool = False,
    source: str = "",
    doi: str = "",
) -> KeyedVectors:
    """Word vectors as a gensim KeyedVectors, in single precision and in the order of the source.

    With ``words`` only their vectors are kept, and beside them a sample of the vocabulary, from which
    :func:`distance_table` reads how words are related; a file is read twice for that.

    Parameters
    ----------
    embedding
        A bundled name (``"google-news-slice"``); the path of a file; a KeyedVectors, or a gensim model; a mapping of
        word to vector; a DataFrame of pandas, Polars, Arrow or another library; a pair of words and a matrix; what
        spaCy or model2vec hold. The content of a file tells its format: word2vec, GloVe and fastText; ``.npz`` with
        arrays ``words`` and ``vectors``; ``.safetensors``; Parquet; a decade of HistWords, ``1990-w.npy``. Tables in
        text are told by their names: ``.csv``, ``.tsv``, ``.json``, ``.jsonl``. Text, tables in text and fastText
        models may be packed: ``.gz``, ``.bz2``, ``.xz``, or a ``.zip`` of one file.
    words
        Keep these words only (an iterable, or word lists); words that are not there are no error, and a fastText model
        composes their vectors from parts of words. The 3,000 words of the sample are no keys of the result: they stand
        in its attribute ``bayesbias_sample``. They are those that :func:`relatedness` would draw from the whole
        embedding for these lists (for an iterable: as one list).
    trust_pickle
        Whether to open a Python pickle (gensim's ``.kv`` and ``.model``, words as objects in ``.npz``). Opening a
        pickle runs the code in it.
    mmap
        Whether the vectors of an unpacked ``.npz``, of ``.safetensors`` or of a trusted pickle stay on disk and are
        read when they are used; for whole files only.
    source, doi
        Where the vectors come from, and the DOI of the work to cite for them; :func:`cite` names them.

    Warns
    -----
    CoverageWarning
        Words whose vector is all zeros, empty ones and repeated ones (the first vector counts) are left out; bytes that
        are not valid UTF-8 are shown by their number.

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice", words=["he", "she", "nurse"])
    >>> len(kv), kv.vector_size
    (3, 300)
    """
    request = None if words is None else _request_of(words)
    trust_pickle, mmap = flag(trust_pickle, "trust_pickle"), flag(mmap, "mmap")
    given = {name: printable(value, name) for name, value in (("source", source), ("doi", doi)) if value != ""}
    kv = _loaded(getattr(embedding, "wv", embedding), request, trust_pickle, mmap)
    if given:
        kv = copy(kv)  # one that was given stays as it is
        setattr(kv, ORIGIN, origin_of(kv) | given)
    return kv


def _loaded(source: Any, request: _WordRequest | None, trust_pickle: bool, mmap: bool) -> KeyedVectors:
    """An embedding from whatever holds it."""
    if hasattr(source, "key_to_index") and hasattr(source, "vectors"):
        return _part(in_step(source), request)
    with np.errstate(over="ignore"):  # numbers too large for single precision are infinite, and refused as such
        if isinstance(source, str | os.PathLike):
            return _from_file(source, request, trust_pickle, mmap)
        if isinstance(source, Mapping):
            words, where = list(source), "the mapping"
            matrix = real_vectors(words, list(source.values()), where).astype(np.float32)
            return _made(words, matrix, where) if request is None else _part(keyed_vectors(words, matrix), request)
        if (arrays := arrays_of(source)) is not None:
            return _part(_made(*arrays), request)
    averaged = hasattr(source, "mean_vectors")  # vectors with errors, which an embedding does not hold
    hint = "the embedding of its mean_vectors()" if averaged else "what load_embedding takes"
    raise InputError(f"cannot read an embedding from {type(source).__name__}: give {hint}")


# all words of an embedding, each once, and a function to the vectors of some rows of these, ascending
type WholeVocabulary = tuple[Sequence[str], Callable[[IntArray], NDArray[Any]]]


def load_part(
    path: str, lists: WordLists, also: Iterable[str] = (), trust_pickle: bool = False
) -> tuple[KeyedVectors, WholeVocabulary | None]:
    """The vectors of word lists and of other words, with the sample of the vocabulary that the lists would have.

    And the whole vocabulary, where there is more than that.
    """
    wanted = _request_of(lists)
    wanted = wanted._replace(others=(*wanted.others, *also), keeps_vocabulary=True)
    kv = _loaded(path, wanted, trust_pickle, mmap=False)
    return kv, vars(kv).pop(VOCABULARY, None)


class _WordRequest(NamedTuple):
    """Words to keep."""

    listed: tuple[str, ...]
    lists: tuple[tuple[str, ...], ...]  # of these words, whose ranks a sample follows
    composed: tuple[str, ...]  # words that are made of parts of words where a model can do so
    others: tuple[str, ...] = ()  # words to keep that a sample may hold too
    keeps_vocabulary: bool = False
    word_lists: WordLists | None = None


def _request_of(words: Iterable[str] | WordLists) -> _WordRequest:
    if isinstance(words, WordLists):
        concepts, every = words.concepts, words.every_word()
        followed = tuple(tuple(form for word in each for form in concepts[word]) for each in words.followed.values())
        protected = (form for word in words.group_of for form in concepts[word])
        listed = dict.fromkeys(chain(protected, *followed))
        others = tuple(word for word in every if word not in listed)
        return _WordRequest(tuple(listed), followed, every, others, word_lists=words)
    wanted: list[Any] = list(words) if np.iterable(words) and not isinstance(words, str) else [None]
    if not all(isinstance(word, str) for word in wanted):
        kind = "one string, " if isinstance(words, str) else ""
        raise InputError(f"words is {kind}{shown(words)}: give a list of words, or word lists")
    once = tuple(dict.fromkeys(wanted))
    return _WordRequest(once, (once,), once)


def _with_sample(kv: KeyedVectors, vocabulary: WholeVocabulary, request: _WordRequest) -> KeyedVectors:
    """A part of an embedding with the sample of its vocabulary, and with the vocabulary where that is asked for.

    It has no sample where there is no other word.
    """
    keys, vectors_of = vocabulary
    if request.keeps_vocabulary:
        setattr(kv, VOCABULARY, vocabulary)
    found = find_keys(request.composed, kv.key_to_index)
    asked, listed = set(found.values()), {found[word] for word in request.listed if word in found}
    places = {key: i for i, key in enumerate(keys) if key in asked}
    followed = [
        np.array([places[key] for word in words if (key := found.get(word)) in places], dtype=np.intp)
        for words in request.lists
    ]
    waiting = waiting_words(keys, listed, SAMPLE, 0, followed)
    if not len(waiting.rows):
        return kv
    near = None if request.word_lists is None else nearness_of(find_lists(kv, request.word_lists))
    rows, [drawn], everywhere = local_sample(waiting, [vectors_of], [near], SAMPLE)
    words = tuple(keys[row] for row in rows.tolist())
    if ordered_by_frequency(keys):
        places |= dict(zip(words, rows.tolist(), strict=True))
        places |= dict.fromkeys(subwords_of(kv), len(keys))  # words that were never seen are the rarest
    else:
        places = {}
    vectors = np.ascontiguousarray(drawn, dtype=np.float32)
    overall = waiting_words(keys, (), SPREAD, 0)
    spread = np.ascontiguousarray(directed(overall.rows, SPREAD, vectors_of)[1])
    kv.bayesbias_sample = VocabularySample(
        words, vectors, waiting.kind, len(keys), places, everywhere, spread, overall.kind
    )
    return kv


def manifest() -> dict[str, dict[str, Any]]:
    return tomllib.loads((shipped("data") / "manifest.toml").read_text(encoding="utf-8"))


def _from_file(
    source: str | os.PathLike[str], request: _WordRequest | None, trust_pickle: bool, mmap: bool
) -> KeyedVectors:
    """An embedding by its bundled name, or from a file, whose path it records."""
    name, bundled = os.fspath(source), manifest()
    path = shipped("data") / bundled[name]["file"] if name in bundled else home_folder(name)
    if not path.is_file():
        raise InputError(
            f"there is no embedding {name!r}{near(name, bundled)}: give the path of a file or a bundled "
            f"name ({', '.join(bundled)})"
        )
    where = name if name in bundled else str(path)
    if path.name.endswith(DECADE):
        kv = _part(_made(*decade(path), str(path)), request)
    elif begins_with(path, PICKLE_MARK) and path.suffix != SAFE:  # which may begin with the same number
        if not trust_pickle:
            raise InputError(f"{path} is a Python pickle, and {PICKLED}")
        kv = _part(_from_pickle(path, mmap), request)
    elif begins_with(path, FASTTEXT_MARK, unpacks=True):
        kv = _part(_from_fasttext(path), request)
    elif request is not None:
        kv = _part_of_file(path, where, request, trust_pickle)
    else:
        words, vectors = mapped(path, trust_pickle) if mmap else _read(path, None, trust_pickle)
        keys = _decoded(words, path)
        refuse_numbers(keys, where)
        kv = _with_stored(_made(keys, vectors, where), path)
    if name not in bundled:
        setattr(kv, ORIGIN, origin_of(kv) | {"path": name})
    return kv


def _part_of_file(path: Path, where: str, request: _WordRequest, trusted: bool) -> KeyedVectors:
    """The words of a file that are asked for, and beside them a sample of the others."""
    asked = [*request.listed, *request.others]
    wanted = Named(spellings(asked))
    tokens, matrix = _read(path, wanted, trusted)
    words = _decoded(tokens, path)
    held = set(find_keys(asked, words).values())  # of several spellings of a word one is read
    rows = [row for row, word in enumerate(words) if word in held]
    if not rows:
        refuse_numbers([word.decode(errors="replace") for word in wanted.met], where)
        raise InputError(f"{where} {NONE_HELD}; {first_keys(_decoded(wanted.met[:5], path), request.listed)}")
    matrix = matrix if len(rows) == len(words) else matrix[rows]
    kv = _with_stored(_made([words[row] for row in rows], matrix, where), path)
    if sample_of(kv) is not None:
        return kv
    places = np.flatnonzero(_firsts(wanted.met))
    keys = _decoded([wanted.met[place] for place in places.tolist()], path)
    if wanted.vectors_at:
        begins, size = np.concatenate(wanted.vectors_at)[places], kv.vector_size
        return _with_sample(kv, (keys, lambda rows: vectors_at(path, begins[rows], size)), request)
    return _with_sample(kv, (keys, lambda rows: _read(path, Placed(places[rows].tolist()), trusted)[1]), request)


def _firsts(words: list[bytes] | list[str]) -> NDArray[np.bool_]:
    """True (words,) where a word stands for the first time."""
    from pandas import Index

    return ~Index(words, dtype=object).duplicated()


def _read(path: Path, wanted: Wanted, trusted: bool = False) -> tuple[list[bytes], NDArray[np.float32]]:
    """Words and vectors of the entries of a file that are wanted."""
    words, matrix = list[bytes](), np.empty((0, 0), dtype=np.float32)
    with progress(f"reading {path.name}", total=path.stat().st_size) as done:
        for tokens, vectors in blocks(path, wanted, done, trusted):
            begin, size = len(words), vectors.shape[1]
            words += tokens
            if begin == 0:
                matrix = np.empty((len(tokens), size), dtype=np.float32)
            if size != matrix.shape[1]:
                raise InputError(f"{path}: vectors have {matrix.shape[1]} and {size} dimensions")
            if len(words) > len(matrix):
                # realloc moves pages and copies nothing where blocks are large
                matrix.resize((max(len(words), int(1.15 * len(matrix))), size), refcheck=False)
            matrix[begin : len(words)] = vectors
    matrix.resize((len(words), matrix.shape[1]), refcheck=False)
    return words, matrix


def _decoded(tokens: list[bytes], path: Path) -> list[str]:
    """Words as text; bytes that are no text are shown as such."""
    try:
        joined = b"\n".join(tokens).decode("utf-8").split("\n")  # much faster than one by one
        if len(joined) == len(tokens):
            return joined
    except UnicodeDecodeError:
        pass
    words = [token.decode("utf-8", errors="backslashreplace") for token in tokens]
    damaged = [word for token, word in zip(tokens, words, strict=True) if token != word.encode()]
    if damaged:
        warn(
            f"{path} holds {many(len(damaged), 'word')} that cannot be read as UTF-8, the first {damaged[0]}: bad "
            "bytes are shown as \\x..; convert the file to UTF-8 if it is in another encoding",
            CoverageWarning,
        )
    return words


def _from_pickle(path: Path, mmap: bool) -> KeyedVectors:
    from gensim.utils import SaveLoad, unpickle

    with read_as("a gensim pickle", str(path)):
        loaded = unpickle(str(path))
        loaded = SaveLoad.load(str(path), mmap="r" if mmap else None) if isinstance(loaded, SaveLoad) else loaded
        kv = getattr(loaded, "wv", loaded)
        vectors = _made(list(kv.index_to_key), kv.vectors, str(path))
        vectors.bayesbias_sample = sample_of(kv)
        return vectors


def _from_fasttext(path: Path) -> KeyedVectors:
    """A fastText model, packed or not, which makes vectors of parts of words too.

    One that ends within its words is refused: gensim would seek their end for ever.
    """
    from gensim.models.fasttext import load_facebook_vectors

    # gensim reads numbers from files that are not packed
    with read_as("a fastText model", str(path)), plain_file(path) as plain:
        with plain.open("rb") as file, memory_map(file.fileno(), 0, access=ACCESS_READ) as content:
            (words,) = unpack_from("<i", content, FASTTEXT_COUNTS.start)
            entries = re.compile(rb"[^\0]*+\0.{9}", re.DOTALL).finditer(content, FASTTEXT_COUNTS.stop)
            whole = sum(1 for _ in islice(entries, max(0, words)))
            del entries
        if whole < words or not words:
            raise ValueError(f"it is truncated or damaged: it says that it has {words:,} words, and has {whole:,}")
        kv = load_facebook_vectors(str(plain))
    kv.bayesbias_name = path.name
    return kv


def _part(source: KeyedVectors, request: _WordRequest | None) -> KeyedVectors:
    """An embedding, or the part of it that is asked for with a sample of the rest."""
    words, subwords = source.index_to_key, dict[str, NDArray[np.float32]]()
    if request is not None:
        wanted = set(find_keys([*request.listed, *request.others], source.key_to_index).values())
        words, subwords = [word for word in words if word in wanted], _of_subwords(source, request.composed)
    where = getattr(source, "bayesbias_name", "the embedding")
    if request is not None and not words and not subwords:
        raise InputError(f"{where} {NONE_HELD}; {first_keys(source.index_to_key, request.listed)}")
    whole = words and not subwords and len(words) == len(source.index_to_key)
    if whole and _directed(words, source.vectors, where).all():
        return source
    rows = source.vectors[[source.key_to_index[word] for word in words]]
    rows = np.concatenate([rows, *(vector[None] for vector in subwords.values())])
    kv = _made([*words, *subwords], rows, where)
    kv.bayesbias_sample = sample_of(source)
    if hasattr(source, DEBIASING):
        setattr(kv, DEBIASING, getattr(source, DEBIASING))
    setattr(kv, ORIGIN, origin_of(source))
    setattr(kv, SUBWORDS, frozenset(subwords) | subwords_of(source))
    if request is not None and sample_of(source) is None:
        return _with_sample(kv, (source.index_to_key, lambda chosen: source.vectors[chosen]), request)
    return kv


def _of_subwords(
    source: KeyedVectors, words: Sequence[str], case: Case = "as-is", language: str | None = None
) -> dict[str, NDArray[np.float32]]:
    """Words that a fastText model lacks, with the vectors that it makes of their parts."""
    if not hasattr(source, "vectors_ngrams"):
        return {}
    known = find_keys(words, source.key_to_index, case, language)
    vectors = {}
    for word in words:
        # one vector for all spellings of a word; the words of a phrase are joined in texts that models are trained on
        key = normalize("NFC", word).replace(" ", "_").replace(NO_BREAK, "_")
        if word in known or key in vectors:
            continue
        try:
            vectors[key] = source.get_vector(key)
        except KeyError:  # no part of it is known
            continue
    return vectors


def _made(tokens: list[str], matrix: NDArray[Any], where: str) -> KeyedVectors:
    """An embedding of words and their vectors (words, d), the first of each word, without those that are all zeros.

    It holds the matrix as it is where nothing is left out; a warning says what is.
    """
    if matrix.dtype != np.float32:
        matrix = matrix.astype(np.float32)
    kept = _firsts(tokens)
    empty = [row for row, word in enumerate(tokens) if not word]
    repeated = int((~kept).sum()) - max(0, len(empty) - 1)
    kept[empty] = False
    directed = _directed(tokens, matrix, where)
    zero = [tokens[row] for row in np.flatnonzero(kept & ~directed)]
    kept &= directed
    for found, lost in (
        (repeated, f"{many(repeated, 'vector')} of words seen before left out: the first vector of a word is kept"),
        (empty, f"{many(len(empty), 'empty word')} left out, the first of vector {(empty or [0])[0] + 1}"),
        (zero, f"{few(zero)} left out, because a vector of zeros has no direction"),
    ):
        if found:
            warn(f"{where}: {lost}", CoverageWarning)
    if not kept.any():
        raise InputError(f"{where} holds no vector of a word, or only vectors of zeros")
    if not kept.all():
        matrix, tokens = matrix[kept], list(compress(tokens, kept.tolist()))
    kv = keyed_vectors(tokens, matrix)
    kv.bayesbias_name = Path(where).name
    return kv


def keyed_vectors(words: list[str], matrix: NDArray[Any]) -> KeyedVectors:
    """An embedding that holds a matrix (words, d) of single precision as it is; gensim's own way would copy it."""
    from gensim.models import KeyedVectors

    kv = KeyedVectors(vector_size=matrix.shape[1], count=0, dtype=np.float32)
    kv.vectors, kv.index_to_key = matrix, words
    kv.key_to_index = {word: i for i, word in enumerate(words)}
    kv.next_index = len(words)
    return kv


def _directed(words: list[str], vectors: NDArray[Any], where: str) -> NDArray[np.bool_]:
    """True (words,) for vectors that are not all zeros; some are looked at together, so that they stay in cache."""
    parts = (slice(begin, begin + BLOCK) for begin in range(0, len(words), BLOCK))
    found = [have_directions(words[part], vectors[part], where) for part in parts]
    return np.concatenate([np.empty(0, dtype=bool), *found])


def in_step(kv: KeyedVectors) -> KeyedVectors:
    """An embedding whose words and vectors are in step; single vectors are looked at when used."""
    matrix, keys, places = np.asarray(kv.vectors), kv.index_to_key, kv.key_to_index
    if matrix.shape != (len(keys), kv.vector_size) or len(places) != len(keys) or matrix.dtype.kind not in "fiu":
        raise InputError(
            f"the embedding holds {matrix.dtype} of shape {matrix.shape}, {len(np.atleast_1d(matrix)):,} vectors, "
            f"{len(keys):,} words in index_to_key, {len(places):,} in key_to_index and a vector_size of "
            f"{kv.vector_size}: make it anew, with load_embedding((words, vectors))"
        )
    return kv


def opened(
    kv: Embedding, words: WordLists | Iterable[str] = (), case: Case = "as-is", language: str | None = None
) -> KeyedVectors:
    """An embedding as it is, or loaded; of a fastText model with the words that it lacks and composes.

    Of word lists that are looked up as they are it is the part that these need, with a sample of the vocabulary.
    """
    one_of(case, CASES, "case")
    vectors = in_step(kv) if hasattr(kv, "key_to_index") else load_embedding(kv)
    if not isinstance(words, WordLists):
        return with_composed(vectors, words, case, language)
    if case == "as-is" and hasattr(vectors, "vectors_ngrams"):
        return load_embedding(vectors, words)
    return with_composed(vectors, words.every_word(), case, words.language)


def with_composed(
    kv: KeyedVectors, words: Iterable[str], case: Case = "as-is", language: str | None = None
) -> KeyedVectors:
    """An embedding with those of some words that it lacks and a fastText model composes, after all that it holds."""
    vectors = _of_subwords(kv, list(words), case, language)
    if not vectors:
        return kv
    made = copy(kv)
    made.vectors = np.concatenate([kv.vectors, np.stack(list(vectors.values()))])
    made.index_to_key = [*kv.index_to_key, *vectors]
    made.key_to_index = {word: row for row, word in enumerate(made.index_to_key)}
    made.next_index = len(made.index_to_key)
    setattr(made, SUBWORDS, subwords_of(kv) | vectors.keys())
    return made


def opened_by_name(
    kvs: Mapping[str, Any], words: Mapping[str, WordLists] | Collection[str] = (), case: Case = "as-is"
) -> dict[str, KeyedVectors]:
    """Each embedding of several as :func:`opened` gives it; errors begin with its name."""
    vectors = {}
    for name, kv in kvs.items():
        with within(name):
            vectors[name] = opened(kv, words[name] if isinstance(words, Mapping) else words, case)
    return vectors
