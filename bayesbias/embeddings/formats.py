"""Embeddings from files and to files: bundled, word2vec, GloVe and NumPy formats, mappings."""

from __future__ import annotations

import gzip
import logging
import os
import pickle
import tomllib
import warnings
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from unicodedata import is_normalized, normalize

import numpy as np
from numpy.lib.format import read_array, read_array_header_1_0, read_array_header_2_0, read_magic
from numpy.typing import ArrayLike, NDArray

from bayesbias._checks import flag
from bayesbias._files import archive_of, check_target, check_unpacked, home_folder, shipped, whole_file
from bayesbias._progress import progress
from bayesbias.errors import InputError, listed, shown
from bayesbias.words import WordLists

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors


CHUNK = 1 << 23
LONGEST = 1 << 24
"""Bytes of a line of text, or of the vector of a word."""
PICKLE_MARK = b"\x80"
ZIP_MARK = b"PK\x03\x04"
GZIP_MARK = b"\x1f\x8b"

Vector = NDArray[np.float32]
Wanted = frozenset[bytes] | None
Entries = Iterator[tuple[bytes, Vector]]


@dataclass(frozen=True)
class Header:
    """The first line of a word2vec file: how many words, how many dimensions."""

    words: int
    dimensions: int


def entries(path: Path, wanted: Wanted, done: Callable[[float], None]) -> Entries:
    """The entries of an embedding file, its format found from its content.

    Parameters
    ----------
    path
        A word2vec file (binary or text), a GloVe text file, either of them gzipped, or an ``.npz``.
    wanted
        The tokens to keep; None keeps all. Lines of a text file that are not wanted are not parsed.
    done
        Called now and then with the bytes of the file read so far.

    Raises
    ------
    InputError
        The file is empty, truncated, a pickle, or of no known format.
    """
    with path.open("rb") as file:
        mark = file.read(4)
        file.seek(0)
        if mark == ZIP_MARK:
            yield from _npz(path, wanted)
        elif mark[:2] == GZIP_MARK:
            with gzip.open(file) as unpacked:
                yield from _word2vec_or_glove(unpacked, path, wanted, lambda: done(file.tell()))
        else:
            yield from _word2vec_or_glove(file, path, wanted, lambda: done(file.tell()))


def is_pickle(path: Path) -> bool:
    """Whether a file is a Python pickle, as gensim's ``.kv`` and ``.model`` files are."""
    with path.open("rb") as file:
        return file.read(1) == PICKLE_MARK


def _word2vec_or_glove(
    stream: BinaryIO | gzip.GzipFile, path: Path, wanted: Wanted, tick: Callable[[], None]
) -> Entries:
    reader = _Chunks(stream, path, tick)
    first = reader.line().removeprefix(BOM_UTF8)
    if not first.strip():
        raise InputError(f"{path} is empty: an embedding file begins with a header or a word and its numbers")
    header = _header(first)
    if header is None:
        yield from _text(reader, path, None, wanted, first)
        return
    if header.words < 1 or not 0 < header.dimensions <= LONGEST // 4:
        raise InputError(f"{path} says in its first line that it holds {header.words} x {header.dimensions} numbers")
    text = _text_vector(reader.peek_line(), header.dimensions) is not None
    yield from _text(reader, path, header, wanted, b"") if text else _binary(reader, path, header, wanted)


class _Chunks:
    """A stream read in large pieces, with a position inside the current piece."""

    def __init__(self, stream: BinaryIO | gzip.GzipFile, path: Path, tick: Callable[[], None]) -> None:
        self.stream, self.path, self.tick = stream, path, tick
        self.buffer = b""
        self.position = 0
        self.ended = False
        self.unpacked, self.packed = 0, path.stat().st_size

    def more(self) -> bool:
        """Read one piece further; False at the end of the stream."""
        if self.ended:
            return False
        try:
            piece = self.stream.read(CHUNK)
        except (EOFError, OSError, zlib.error) as error:
            raise InputError(f"{self.path} is truncated or damaged: {error}") from error
        self.tick()
        self.ended = not piece
        self.unpacked += len(piece)
        check_unpacked(self.unpacked, self.packed, str(self.path))
        self.buffer = self.buffer[self.position :] + piece
        self.position = 0
        if len(self.buffer) > LONGEST + CHUNK:
            raise InputError(f"{self.path} is no embedding: it has a line or vector of more than {LONGEST:,} bytes")
        return bool(piece)

    def find(self, mark: bytes) -> int:
        """Where ``mark`` comes next in the buffer, or -1 when the stream ends before."""
        while (at := self.buffer.find(mark, self.position)) < 0:
            if not self.more():
                return -1
        return at

    def line(self) -> bytes:
        at = self.find(b"\n")
        stop = len(self.buffer) if at < 0 else at + 1
        line = self.buffer[self.position : stop]
        self.position = stop
        return line.replace(b"\t", b" ")

    def peek_line(self) -> bytes:
        at = self.find(b"\n")
        return self.buffer[self.position : len(self.buffer) if at < 0 else at].replace(b"\t", b" ")


def _header(line: bytes) -> Header | None:
    parts = line.split()
    if len(parts) == 2 and all(part.isdigit() and len(part) < 19 for part in parts):
        return Header(int(parts[0]), int(parts[1]))
    return None


def _binary(reader: _Chunks, path: Path, header: Header, wanted: Wanted) -> Entries:
    size = 4 * header.dimensions
    for count in range(header.words):
        at = reader.find(b" ")
        while at >= 0 and len(reader.buffer) < at + 1 + size and reader.more():
            at = reader.find(b" ")
        if at < 0 or len(reader.buffer) < at + 1 + size:
            raise InputError(
                f"{path} is truncated: its first line promises {header.words} vectors, it holds {count} whole ones"
            )
        token = reader.buffer[reader.position : at].lstrip(b"\n")
        reader.position = at + 1 + size
        if wanted is None or token in wanted:
            yield token, np.frombuffer(reader.buffer, dtype="<f4", count=header.dimensions, offset=at + 1)
    if reader.more() or reader.buffer[reader.position :].strip(b"\n"):
        raise InputError(
            f"{path} is damaged: after the {header.words} vectors of {header.dimensions} numbers that its first line "
            "promises there is more; check the numbers in the first line"
        )


def _text(reader: _Chunks, path: Path, header: Header | None, wanted: Wanted, first: bytes) -> Entries:
    line = first or reader.line()
    dimensions = header.dimensions if header else len(line.split()) - 1
    if _text_vector(line, dimensions) is None:
        raise InputError(
            f"{path} is no embedding that can be read: expected are word2vec (binary or text), GloVe text (a word and "
            f"its numbers, apart by blanks) or .npz; it begins with {line[:60]!r}"
        )
    spaced = wanted is None or any(b" " in word for word in wanted)
    number = 1 if header is None else 2
    count, last = 0, line
    while line:
        if line.strip():
            count += 1
            if spaced or line.split(b" ", 1)[0] in (wanted or ()):
                entry = _text_vector(line, dimensions)
                if entry is None or _one_number_too_many(entry[0]):
                    raise InputError(
                        f"{path}, line {number}: a word and {dimensions} numbers were expected, "
                        f"found {line[:60]!r} ({max(len(line.split()) - 1, 0)} numbers); "
                        "the file is truncated or damaged"
                    )
                if wanted is None or entry[0] in wanted:
                    yield entry
        last, line = line, reader.line()
        number += 1
    if header is not None and count != header.words:
        fault = "truncated" if count < header.words else "damaged"
        raise InputError(f"{path} is {fault}: its first line promises {header.words} vectors, it holds {count}")
    if not last.endswith(b"\n") and _cut(last):
        raise InputError(
            f"{path} ends without a line break, and in a number that is shorter than the others of its line: it may be "
            "truncated; add a line break if it is whole"
        )


DIGITS = 4
"""Digits of a number from which on a shorter one beside it looks cut."""


def _cut(line: bytes) -> bool:
    """Whether the last number of a line has fewer digits than all others, as in a file that was cut there."""
    digits = [len(number.lstrip(b"-").lstrip(b"0.")) for number in line.split()[1:]]
    return len(digits) > 1 and digits[-1] < min(digits[:-1]) >= DIGITS


def _one_number_too_many(token: bytes) -> bool:
    """Whether what was taken for a token with a space is a word and a number: the line is too long."""
    last = token.rpartition(b" ")
    try:
        float(last[2])
    except ValueError:
        return False
    return last[1] == b" "


def _text_vector(line: bytes, dimensions: int) -> tuple[bytes, Vector] | None:
    """Token and numbers of a line, split from the right since GloVe tokens may hold spaces; None if it is not one."""
    parts = line.rstrip().rsplit(b" ", dimensions)
    if len(parts) != dimensions + 1 or dimensions < 1 or b"_" in line[len(parts[0]) :]:  # Python reads 1_0 as 10
        return None
    try:
        return parts[0], np.array(parts[1:], dtype=np.float32)
    except ValueError:
        return None


def _npz(path: Path, wanted: Wanted) -> Entries:
    """The entries of an archive; the vectors are read some rows at a time."""
    with path.open("rb") as file, archive_of(file, str(path)) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist()]
        if not {"words", "vectors"} <= set(names):
            raise InputError(f"{path} holds {', '.join(names)}: an .npz embedding has words and vectors")
        with archive.open("words.npy") as member:
            words = read_array(member, allow_pickle=False)
        with archive.open("vectors.npy") as member:
            read_header = {(1, 0): read_array_header_1_0, (2, 0): read_array_header_2_0}[read_magic(member)]
            shape, by_columns, dtype = read_header(member)
            texts = words.ndim == 1 and words.dtype.kind in "US"
            if not texts or len(shape) != 2 or shape[0] != len(words) or shape[1] < 1 or dtype.kind not in "fiu":
                raise InputError(
                    f"{path}: words must be a 1-D array of text and vectors a 2-D array of real numbers with as many "
                    f"rows, given {words.dtype} {words.shape} and {dtype} {shape}"
                )
            row = dtype.itemsize * shape[1]
            rows = len(words) if by_columns else max(1, CHUNK // row)
            for begin in range(0, len(words), rows):
                block = words[begin : begin + rows].tolist()
                numbers = np.frombuffer(member.read(row * len(block)), dtype=dtype)
                vectors = numbers.reshape((len(block), shape[1]), order="F" if by_columns else "C")
                for word, vector in zip(block, vectors, strict=True):
                    token = word if isinstance(word, bytes) else word.encode("utf-8")
                    if wanted is None or token in wanted:
                        yield token, np.asarray(vector, dtype=np.float32)


SUFFIXES = (".bin", ".txt", ".npz")


def save_embedding(kv: KeyedVectors, path: str | Path) -> None:
    """Write an embedding: word2vec's binary (``.bin``) or text format (``.txt``), or NumPy's archive (``.npz``).

    :func:`load_embedding` reads all of them. The file is written whole or not at all.

    Raises
    ------
    InputError
        Another suffix, a folder that does not exist, or a word with a blank, which word2vec's formats cannot hold.
    OSError
        The folder cannot be written, or the disk is full.

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice", words=["he", "she", "nurse"])
    >>> bb.save_embedding(kv, "three.npz")
    >>> len(bb.load_embedding("three.npz"))
    3
    """
    if not hasattr(kv, "key_to_index"):
        raise InputError(f"save_embedding takes a gensim KeyedVectors, given is {type(kv).__name__}")
    file = check_target(path, SUFFIXES, "an embedding")
    blank = [] if file.suffix == ".npz" else [word for word in kv.index_to_key if not word or len(word.split()) != 1]
    if blank:
        raise InputError(
            f"cannot write {file.name}: {len(blank)} words hold blanks ({', '.join(map(repr, blank[:5]))}), which "
            "word2vec's formats cannot hold: write .npz"
        )
    with whole_file(file) as temporary:
        if file.suffix == ".npz":
            np.savez(temporary, words=np.array(kv.index_to_key), vectors=kv.vectors)
        else:
            kv.save_word2vec_format(str(temporary), binary=file.suffix == ".bin")


log = logging.getLogger("bayesbias")

BLOCK = 1_000
"""Vectors that are looked at together, so that a large embedding is never copied whole and a block stays in cache."""


type Embedding = str | os.PathLike[str] | KeyedVectors | Mapping[str, ArrayLike]
"""What an embedding can be given as."""


def load_embedding(
    source: Embedding,
    words: Iterable[str] | WordLists | None = None,
    trust_pickle: bool = False,
) -> KeyedVectors:
    """Word vectors as a gensim KeyedVectors.

    Parameters
    ----------
    source
        A bundled name (``"google-news-slice"``), the path of a file (word2vec binary or text, GloVe text, each
        also gzipped, ``.npz`` with arrays ``words`` and ``vectors``, or a decade of HistWords, ``1990-w.npy`` beside
        ``1990-vocab.pkl``), a KeyedVectors, or a mapping of word to vector. The format is found from the content. A
        gensim model is taken for its vectors, ``model.wv``.
    words
        Keep these words only (an iterable, or word lists); None keeps all. Words that are not there are no error:
        :func:`distance_table` reports them.
    trust_pickle
        Whether to open a Python pickle (gensim's ``.kv`` and ``.model``). Opening a pickle runs the code in it.

    Returns
    -------
    KeyedVectors
        float32 vectors in the order of the source. A KeyedVectors that needs no change is returned as it is. What is
        read from a file has its name in the attribute ``bayesbias_name``, which distance tables record.

    Raises
    ------
    InputError
        No such name or file; a pickle that is not trusted; a truncated, empty or damaged file; vectors of different
        lengths; NaN or infinite numbers; none of the words found.

    Warns
    -----
    UserWarning
        Of a word that occurs more than once the first vector is kept; words whose vector is all zeros are left out,
        because a zero vector has no direction.

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice", words=["he", "she", "nurse"])
    >>> len(kv), kv.vector_size
    (3, 300)
    """
    wanted, trust_pickle = _wanted(words), flag(trust_pickle, "trust_pickle")
    source = getattr(source, "wv", source)
    if hasattr(source, "key_to_index") and hasattr(source, "vectors"):
        return _from_keyed_vectors(source, wanted)
    with np.errstate(over="ignore"):  # numbers too large for single precision are infinite, and refused as such
        if isinstance(source, str | os.PathLike):
            tokens, vectors, name = _from_file(source, wanted, trust_pickle)
        elif isinstance(source, Mapping):
            tokens, vectors, name = _from_mapping(source, wanted)
        else:
            raise InputError(
                f"cannot read an embedding from {type(source).__name__}: "
                "give a bundled name, a path, a gensim KeyedVectors or a mapping of word to vector"
            )
        return _keyed_vectors(tokens, vectors, name)


EXCLUDED = {normalize("NFC", x): x for x in map(chr, range(0x900, 0xE00)) if not is_normalized("NFC", x)}
"""Two characters of Indic scripts to the one that texts often hold for them, and that normal form C takes apart."""


def composed(word: str) -> tuple[str, ...]:
    """A word as files may hold it: letters with accents in one character and in two, blanks as they are and as _."""
    if word.isascii():
        return (word, word.replace(" ", "_")) if " " in word else (word,)
    whole = joined = normalize("NFC", word)
    for parts, letter in EXCLUDED.items():
        joined = joined.replace(parts, letter)
    every = (word, whole, normalize("NFD", word), joined)
    return tuple(dict.fromkeys((*every, *(form.replace(" ", "_") for form in every))))


def _wanted(words: Iterable[str] | WordLists | None) -> frozenset[str] | None:
    if words is None:
        return None
    if isinstance(words, WordLists):
        words = words.every_word()
    wanted = list(words) if isinstance(words, Iterable) and not isinstance(words, str) else None
    if wanted is None or not all(isinstance(word, str) for word in wanted):
        kind = "one string, " if isinstance(words, str) else ""
        raise InputError(f"words is {kind}{shown(words)}: give a list of words, or word lists")
    return frozenset(form for word in wanted for form in composed(word))


def list_embeddings() -> pd.DataFrame:
    """The bundled vectors: ``name``, ``vectors``, ``dimensions``, ``description``, ``source``, ``licence``, ``doi``.

    Examples
    --------
    >>> bb.list_embeddings()[["name", "vectors", "dimensions"]]
                    name  vectors  dimensions
    0  google-news-slice     2949         300
    """
    import pandas as pd

    columns = ["name", "vectors", "dimensions", "description", "source", "licence", "doi"]
    return pd.DataFrame([{"name": name, **about} for name, about in _manifest().items()])[columns]


def zero_words(kv: KeyedVectors, words: Iterable[str]) -> list[str]:
    """Those of ``words``, all in ``kv``, whose vector is all zeros.

    Raises
    ------
    InputError
        A vector holds NaN or infinite numbers.
    """
    words = list(words)
    zero = []
    for begin in range(0, len(words), BLOCK):
        block = words[begin : begin + BLOCK]
        vectors = kv.vectors[[kv.key_to_index[word] for word in block]]
        zero += [block[at] for at in np.flatnonzero(~have_directions(block, vectors, "the embedding")).tolist()]
    return zero


def have_directions(words: Sequence[str], vectors: NDArray[Any], where: str) -> NDArray[np.bool_]:
    """Which vectors (words, dimensions) are not all zeros.

    Raises
    ------
    InputError
        A vector holds NaN or infinite numbers.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        squares = np.vecdot(vectors, vectors)
    some: NDArray[np.bool_] = np.isfinite(squares) & (squares > 0)
    # a square may overflow or vanish where the number does not: look closer there
    odd = np.flatnonzero(~some).tolist()
    bad = [words[at] for at in odd if not np.isfinite(vectors[at]).all()]
    if bad:
        raise InputError(f"{where}: the vectors of {_few(bad)} hold NaN or infinite numbers; repair or remove them")
    some[odd] = vectors[odd].any(axis=1)
    return some


def _manifest() -> dict[str, dict[str, Any]]:
    return tomllib.loads((shipped("data") / "manifest.toml").read_text(encoding="utf-8"))


def _from_file(
    source: str | os.PathLike[str], wanted: frozenset[str] | None, trust_pickle: bool
) -> tuple[list[str], list[NDArray[Any]], str]:
    manifest = _manifest()
    name = os.fspath(source)
    path = shipped("data") / manifest[name]["file"] if name in manifest else home_folder(name)
    if not path.is_file():
        raise InputError(
            f"there is no embedding {name!r}: give the path of a file or a bundled name ({', '.join(manifest)})"
        )
    if path.name.endswith(DECADE):
        return _from_decade(path, wanted)
    if is_pickle(path):
        if not trust_pickle:
            raise InputError(
                f"{path} is a Python pickle, and opening a pickle runs the code in it: "
                "pass trust_pickle=True if you trust where it comes from, or save it as word2vec or .npz"
            )
        return _from_pickle(path, wanted)
    tokens: Wanted = None if wanted is None else frozenset(word.encode("utf-8", "surrogatepass") for word in wanted)
    found: list[bytes] = []
    vectors: list[NDArray[Any]] = []
    with progress(f"reading {path.name}", total=path.stat().st_size) as done:
        for token, vector in entries(path, tokens, done):
            found.append(token)
            vectors.append(vector if wanted is None else vector.copy())
    decoded = [token.decode("utf-8", errors="replace") for token in found]
    if damaged := sum("�" in word for word in decoded):
        log.info("%s: %d words are not valid UTF-8; their bad bytes are shown as �", path, damaged)
    return decoded, vectors, name if name in manifest else str(path)


DECADE = "-w.npy"
"""How files of HistWords end: a matrix, beside its words in a file that ends in -vocab.pkl."""


class _PlainUnpickler(pickle.Unpickler):
    """Reads lists and texts; anything that would run code is refused."""

    def find_class(self, module: str, name: str) -> Any:
        """Refuse every class and function."""
        raise pickle.UnpicklingError(f"it holds {module}.{name}, and a vocabulary is a list of words")


def _from_decade(path: Path, wanted: frozenset[str] | None) -> tuple[list[str], list[NDArray[Any]], str]:
    """Vectors of a decade as HistWords keeps them; words that the decade lacks are rows of zeros, and left out."""
    beside = path.with_name(path.name.removesuffix(DECADE) + "-vocab.pkl")
    if not beside.is_file():
        raise InputError(f"{path} has no words beside it: there is no file {beside.name}")
    try:
        matrix = np.load(path, allow_pickle=False, mmap_mode="r")
        with beside.open("rb") as file:
            words = _PlainUnpickler(file, encoding="utf-8", errors="replace").load()
    except (pickle.UnpicklingError, ValueError, EOFError, IndexError, AttributeError, OSError) as error:
        raise InputError(f"{path} cannot be read with {beside.name}: {error}") from error
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words) or matrix.ndim != 2:
        raise InputError(f"{path} and {beside.name} are no matrix and list of words")
    if len(words) != len(matrix):
        raise InputError(f"{path} has {len(matrix):,} rows, and {beside.name} {len(words):,} words")
    rows = [at for at, word in enumerate(words) if (wanted is None or word in wanted) and matrix[at].any()]
    return [words[at] for at in rows], list(np.asarray(matrix[rows])), str(path)


def _from_pickle(path: Path, wanted: frozenset[str] | None) -> tuple[list[str], list[NDArray[Any]], str]:
    from gensim.utils import SaveLoad, unpickle

    try:
        loaded = unpickle(str(path))
        loaded = SaveLoad.load(str(path)) if isinstance(loaded, SaveLoad) else loaded
    except (pickle.UnpicklingError, EOFError, AttributeError, ImportError, IndexError, OSError) as error:
        raise InputError(f"{path} cannot be opened as a gensim pickle: {error}") from error
    kv = getattr(loaded, "wv", loaded)
    if not hasattr(kv, "key_to_index"):
        raise InputError(f"{path} holds a {type(loaded).__name__}, not gensim vectors")
    kept = [word for word in kv.index_to_key if wanted is None or word in wanted]
    return kept, [kv[word] for word in kept], str(path)


def _from_mapping(
    source: Mapping[str, ArrayLike], wanted: frozenset[str] | None
) -> tuple[list[str], list[NDArray[Any]], str]:
    kept = {word: vector for word, vector in source.items() if wanted is None or word in wanted}
    try:
        vectors = [np.asarray(vector, dtype=np.float32) for vector in kept.values()]
    except (TypeError, ValueError) as error:
        raise InputError(f"the mapping does not hold vectors of numbers: {error}") from error
    return list(kept), vectors, "the mapping"


def _from_keyed_vectors(source: KeyedVectors, wanted: frozenset[str] | None) -> KeyedVectors:
    kept = [word for word in source.index_to_key if wanted is None or word in wanted]
    if not kept:
        raise InputError("the embedding holds none of the words that were asked for")
    if not zero_words(source, kept) and len(kept) == len(source.index_to_key):
        return source
    rows = source.vectors[[source.key_to_index[word] for word in kept]]
    return _keyed_vectors(kept, list(rows), "the embedding")


def _keyed_vectors(tokens: list[str], vectors: list[NDArray[Any]], where: str) -> KeyedVectors:
    from gensim.models import KeyedVectors

    if not tokens:
        raise InputError(f"{where} holds no vector, or none of the words that were asked for")
    if "" in tokens:
        raise InputError(f"{where}: the word of vector {tokens.index('') + 1} is empty; repair or remove it")
    shapes = {np.shape(vector) for vector in vectors}
    if len(shapes) > 1 or len(next(iter(shapes))) != 1 or next(iter(shapes)) == (0,):
        odd = next((w for w, v in zip(tokens, vectors, strict=True) if np.shape(v) != np.shape(vectors[0])), tokens[0])
        raise InputError(
            f"{where}: all vectors must be 1-D and of one length, "
            f"found shapes {sorted(shapes)[:3]} (for instance the word {odd!r})"
        )
    first = {word: at for at, word in reversed(list(enumerate(tokens)))}
    if repeated := len(tokens) - len(first):
        _warn(f"{where}: {repeated} vectors belong to words seen before; the first vector of a word is kept")
    rows = sorted(first.values())
    matrix = np.stack([vectors[at] for at in rows]).astype(np.float32, copy=False)
    words = [tokens[at] for at in rows]
    some = have_directions(words, matrix, where)
    if not some.all():
        zero = [word for word, keep in zip(words, some, strict=True) if not keep]
        _warn(f"{where}: {_few(zero)} left out, because a vector of zeros has no direction")
        words, matrix = [word for word, keep in zip(words, some, strict=True) if keep], matrix[some]
    if not words:
        raise InputError(f"{where} holds only vectors of zeros")
    kv = KeyedVectors(vector_size=matrix.shape[1], dtype=np.float32)
    kv.add_vectors(words, matrix)
    kv.bayesbias_name = Path(where).name
    return kv


def _few(words: list[str], shown: int = 5) -> str:
    return listed([repr(word) for word in words], shown)


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=4)


def opened(kv: Embedding) -> KeyedVectors:
    """An embedding as it is, or loaded."""
    return kv if hasattr(kv, "key_to_index") else load_embedding(kv)
