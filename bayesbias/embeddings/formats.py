"""Readers of embedding files: one pass, and only the wanted words are kept.

Every reader yields ``(token, vector)`` with the token as bytes, so that invalid UTF-8 neither fails nor slows the
search for the wanted words.
"""

from __future__ import annotations

import gzip
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from bayesbias.errors import InputError

CHUNK = 1 << 23
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
    first = reader.line()
    if not first.strip():
        raise InputError(f"{path} is empty: an embedding file begins with a header or a word and its numbers")
    header = _header(first)
    if header is None:
        yield from _text(reader, path, None, wanted, first)
        return
    if header.words < 1 or header.dimensions < 1:
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
        self.buffer = self.buffer[self.position :] + piece
        self.position = 0
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
    if len(parts) == 2 and all(part.isdigit() for part in parts):
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
    count = 0
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
        line = reader.line()
        number += 1
    if header is not None and count != header.words:
        fault = "truncated" if count < header.words else "damaged"
        raise InputError(f"{path} is {fault}: its first line promises {header.words} vectors, it holds {count}")


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
    if len(parts) != dimensions + 1 or dimensions < 1:
        return None
    try:
        return parts[0], np.array(parts[1:], dtype=np.float32)
    except ValueError:
        return None


def _npz(path: Path, wanted: Wanted) -> Entries:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            missing = {"words", "vectors"} - set(archive.files)
            if missing:
                raise InputError(f"{path} holds {', '.join(archive.files)}: an .npz embedding has words and vectors")
            words, vectors = archive["words"], archive["vectors"]
    except (ValueError, EOFError, OSError, zipfile.BadZipFile, zlib.error) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} cannot be read as .npz (words as text, vectors as numbers): {error}") from error
    if (
        words.ndim != 1
        or vectors.ndim != 2
        or len(words) != len(vectors)
        or words.dtype.kind not in "US"
        or (vectors.dtype.kind not in "fiu")
    ):
        raise InputError(
            f"{path}: words must be a 1-D array of text and vectors a 2-D array of real numbers with as many rows, "
            f"given {words.dtype} {words.shape} and {vectors.dtype} {vectors.shape}"
        )
    for word, vector in zip(words.tolist(), vectors, strict=True):
        token = word if isinstance(word, bytes) else word.encode("utf-8")
        if wanted is None or token in wanted:
            yield token, np.asarray(vector, dtype=np.float32)
