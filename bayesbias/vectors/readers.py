"""The formats of embedding files: words and vectors in blocks, one pass, only those that are wanted."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import zlib
from codecs import BOM_UTF8
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader, RawIOBase, TextIOWrapper
from itertools import compress, pairwise
from lzma import LZMAError
from math import prod
from pathlib import Path
from struct import Struct
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, cast
from unicodedata import normalize
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import numpy as np
from numpy.lib.format import read_array, read_array_header_1_0, read_array_header_2_0, read_magic
from numpy.typing import NDArray

from bayesbias._support.files import archive_of, check_unpacked, from_json, read_as
from bayesbias._support.progress import progress
from bayesbias.errors import InputError, listed, many, shown
from bayesbias.vectors.libraries import static_vectors
from bayesbias.vectors.tables import SUFFIXES as TEXT_TABLES
from bayesbias.vectors.tables import is_header, is_written_number, rows_of_parquet, rows_of_text

CHUNK = 1 << 23  # bytes of vectors that are read together
PIECE = 1 << 20  # bytes of a stream that are read together: as much as a processor's cache holds
LONGEST = 1 << 24  # bytes of a line of text, or of the vector of a word
PICKLE_MARK = b"\x80"
ZIP_MARK = b"PK\x03\x04"
GZIP_MARK = b"\x1f\x8b"
PACKED = (".gz", ".bz2", ".xz", ".zip")
PACKINGS: dict[bytes, Callable[[BinaryIO], Any]] = {GZIP_MARK: gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
LINE_BREAK, BLANK = b"\n "
PLAIN = b"0123456789.-+eE \r"  # bytes of plain numbers and what is between them
PRINTED = bytes([*b"\t\n\r", *range(0x20, 0x7F)])  # of ASCII
CONTROL = bytes({*range(0x20), 0x7F} - set(b"\n"))  # of no text
FEW = 3  # dimensions below which the bytes of a vector may all be printed ones by chance
LOOKED_AT = 100  # lines by which the number of dimensions is told where no header tells it
SMALLEST, GREATEST = 1e-25, 1e15  # between which lie the sizes of numbers in vectors, except 0
DIGITS = 4  # digits of a number from which on a shorter one beside it looks cut
FASTTEXT_MARK = b"\xba\x16\x4f\x2f"
# arguments that a model of fastText begins with, whose number comes first where there is no mark, as before 2017
FASTTEXT = Struct("<12id")
KINDS = range(1, 5)  # numbers of losses and models
PARQUET_MARK = b"PAR1"
SAFE = ".safetensors"
SAFE_TYPES = {"F16": "<f2", "F32": "<f4", "F64": "<f8"}
SAFE_BYTES, SAFE_INDICES = {"U8": "u1"}, {"I32": "<i4", "I64": "<i8"}
TOKENIZER = "tokenizer.json"  # beside a static model, with its words
MOST_HEADER = 1 << 28  # bytes of the header of a safetensors file
MOST_LINE = 1 << 27  # letters of a line of a corpus, which is one sentence
# arrays of an .npz embedding that hold a sample of the vocabulary
SAMPLED = ("sample_words", "sample_vectors", "placed_words", "places", "sample_facts")
WEIGHTS = "sample_weights"  # of a sample that follows the nearness of lists
OVERALL = "overall_vectors"  # absent in files of earlier versions
RECORD = "embedding_record"  # array of an .npz embedding with what is recorded of it, as JSON

Vectors = NDArray[np.float32]
IntArray = NDArray[np.intp]


@dataclass(frozen=True)
class _Lines:
    """Lines of a text that hold something."""

    text: bytes
    # where each line begins and ends, without its break
    starts: IntArray
    ends: IntArray
    numbers: IntArray  # number of each line, from 0, among all lines
    every: int  # how many lines there are

    def at(self, row: int) -> bytes:
        """One of the lines."""
        return self.text[self.starts[row] : self.ends[row]]

    def firsts(self) -> list[bytes]:
        """Each line up to its first blank."""
        text, find, starts, ends = self.text, self.text.find, self.starts.tolist(), self.ends.tolist()
        blanks = [find(b" ", start, end) for start, end in zip(starts, ends, strict=True)]
        if -1 in blanks:
            blanks = [end if blank < 0 else blank for blank, end in zip(blanks, ends, strict=True)]
        return [text[start:blank] for start, blank in zip(starts, blanks, strict=True)]


def _lines_of(text: bytes) -> _Lines:
    """The lines of a text; empty ones, and those of nothing but blanks that begin with one, are left out."""
    letters = np.frombuffer(text, dtype=np.uint8)
    breaks = np.flatnonzero(letters == LINE_BREAK)
    starts, ends = np.append(0, breaks + 1), np.append(breaks, len(text))
    long = ends - starts > 1
    odd = np.flatnonzero(~long | (letters[np.where(long, starts, 0)] == BLANK))
    full = np.ones(len(starts), dtype=np.bool_)
    full[odd] = [bool(text[starts[row] : ends[row]].strip()) for row in odd.tolist()]
    return _Lines(text, starts[full], ends[full], np.flatnonzero(full), len(starts))


class Named:
    """Entries of a file that are wanted for their words, and all words that were met.

    Words are given in Unicode's normal form C, in which those of the file are compared with them.
    """

    def __init__(self, words: Collection[str]) -> None:
        self._words = frozenset(word.encode("utf-8", "surrogatepass") for word in words)
        # all words in the order of the file; of one with blanks in a text file, if not wanted, the part before them
        self.met = list[bytes]()
        # bytes of the file at which the vectors of all words begin, where they stand there in binary
        self.vectors_at = list[IntArray]()
        self._unsure = deque[int]()
        self._firsts = frozenset(word.partition(b" ")[0] for word in self._words)
        self._plain = all(map(str.isascii, words))

    def _among(self, wanted: frozenset[bytes], words: list[bytes]) -> list[int]:
        """Places of the words that are wanted."""
        forms = words if self._plain else map(_composed, words)
        return list(compress(range(len(words)), map(wanted.__contains__, forms)))

    def places(self, words: list[bytes]) -> list[int]:
        """Places of the next entries, which have these words, that are wanted."""
        self.met += words
        return self._among(self._words, words)

    def may_take(self, lines: _Lines) -> list[int]:
        """Places of the next entries, lines of a text file, whose words up to the first blank may be wanted."""
        begin, firsts = len(self.met), lines.firsts()
        self.met += firsts
        chosen = self._among(self._firsts, firsts)
        self._unsure += [begin + i for i in chosen]
        return chosen

    def confirms(self, word: bytes) -> bool:
        """True where the next entry of the unsure ones is wanted, by its whole word."""
        self.met[self._unsure.popleft()] = word
        return bool(self._among(self._words, [word]))


def _composed(word: bytes) -> bytes:
    """A word in Unicode's normal form C; bytes that are no text stay."""
    if word.isascii():
        return word
    return normalize("NFC", word.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


class Placed:
    """Entries of a file that are wanted for their places, from 0; what follows the last of them is not read again."""

    def __init__(self, places: Iterable[int]) -> None:
        self._ascending, self._next = np.array(sorted(set(places)), dtype=np.intp), 0

    def places(self, words: list[bytes]) -> list[int]:
        """Places of the next entries, which have these words, that are wanted."""
        return self._of_next(len(words))

    def may_take(self, lines: _Lines) -> list[int]:
        """Places of the next entries, as lines of a text file, that are wanted."""
        return self._of_next(len(lines.starts))

    def _of_next(self, entries: int) -> list[int]:
        begin, self._next = self._next, self._next + entries
        first, last = np.searchsorted(self._ascending, (begin, self._next))
        chosen: list[int] = (self._ascending[first:last] - begin).tolist()
        return chosen

    def confirms(self, word: bytes) -> bool:
        """True for every entry that may be wanted, since places are exact."""
        return True

    @property
    def ended(self) -> bool:
        """True where no later entry is wanted."""
        return not len(self._ascending) or self._next > self._ascending[-1]


Wanted = Named | Placed | None
Blocks = Iterator[tuple[list[bytes], Vectors]]


def blocks(path: Path, wanted: Wanted, done: Callable[[float], None], trusted: bool = False) -> Blocks:
    """Words and vectors (n, d) of an embedding file, whose format its content tells, of tables in text its name.

    Lines of a text file that are not wanted are not parsed. ``done`` is told how many bytes of the file have been read.
    Words of a ``trusted`` archive may be objects.
    """
    with path.open("rb") as file:
        mark = file.read(9)
        file.seek(0)
        if mark[:4] == ZIP_MARK and _packed_member(path) is None:
            yield from _npz(path, wanted, trusted)
        elif mark[:4] == PARQUET_MARK:
            yield from _wanted_rows(rows_of_parquet(path), wanted)
        elif mark[8:9] == b"{" and path.suffix == SAFE:
            yield from _safetensors(path, wanted)
        else:
            yield from _of_stream(path, file, wanted, lambda: done(file.tell()))


def _of_stream(path: Path, file: BinaryIO, wanted: Wanted, tick: Callable[[], None]) -> Blocks:
    """The entries of a file that is packed or not: a table in text, word2vec or GloVe."""
    with unpacked(path, file) as stream, _damage_named(path):
        suffix = path.with_suffix("").suffix if path.suffix in PACKED else path.suffix
        if suffix in TEXT_TABLES:
            rows = rows_of_text(BufferedReader(_Bounded(stream, path, tick)), suffix, str(path))
            yield from _wanted_rows(rows, wanted)
        else:
            yield from _word2vec_or_glove(_Chunks(stream, path, tick, stream is file), path, wanted)


@contextmanager
def unpacked(path: Path, file: BinaryIO) -> Iterator[BinaryIO]:
    """The content of a file that is packed by gzip, bzip2 or xz, the only member of a zip archive, or as it is."""
    mark = file.read(6)
    file.seek(0)
    opened = next((unpack for start, unpack in PACKINGS.items() if mark.startswith(start)), None)
    if opened is not None:
        with opened(file) as stream:
            yield stream
    elif mark.startswith(ZIP_MARK) and (member := _packed_member(path)) is not None:
        with ZipFile(file) as archive:
            try:
                stream = archive.open(member)
            except UnicodeDecodeError as error:  # of its name, which is there twice
                raise BadZipFile("the name of the member is no UTF-8") from error
            with stream:
                yield cast(BinaryIO, stream)
    else:
        yield file


def holds_fasttext(path: Path) -> bool:
    """True for a fastText model, packed or not."""
    with path.open("rb") as file, _damage_named(path), unpacked(path, file) as stream:
        begin = stream.read(FASTTEXT.size)
    if begin.startswith(FASTTEXT_MARK) or len(begin) < FASTTEXT.size:
        return begin.startswith(FASTTEXT_MARK)
    dimensions, window, *_, loss, model, _, shortest, longest, _, _ = FASTTEXT.unpack(begin)
    sizes = 0 < dimensions <= LONGEST // 4 and 0 <= window <= LONGEST and 0 <= shortest <= longest <= LONGEST
    return sizes and loss in KINDS and model in KINDS


@contextmanager
def plain_file(path: Path) -> Iterator[Path]:
    """The file itself, or a temporary one that holds what is packed in it."""
    with path.open("rb") as file, _damage_named(path), unpacked(path, file) as stream:
        if stream is file:
            yield path
            return
        size = path.stat().st_size
        with TemporaryDirectory() as folder, progress(f"unpacking {path.name}", size) as done:
            plain = Path(folder) / "unpacked"
            with plain.open("wb") as out:
                while piece := stream.read(PIECE):
                    out.write(piece)
                    check_unpacked(out.tell(), size, str(path))
                    done(file.tell())
            yield plain


def _packed_member(path: Path) -> str | None:
    """The only member of a zip archive, unless it is an array."""
    with path.open("rb") as file, archive_of(file, str(path)) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
    return names[0] if len(names) == 1 and not names[0].endswith(".npy") else None


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    """Damage of what is packed is told with the name of the file."""
    try:
        yield
    except (EOFError, OSError, RuntimeError, zlib.error, LZMAError, BadZipFile) as error:
        raise InputError(f"{path} is truncated or damaged: {error}") from error


class _Bounded(RawIOBase):
    """A stream whose reader is told how far it is, and which ends where it would fill the memory."""

    def __init__(self, stream: BinaryIO, path: Path, tick: Callable[[], None]) -> None:
        self._stream, self._path, self._tick, self._packed = stream, path, tick, path.stat().st_size

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, place: int, whence: int = 0) -> int:
        return self._stream.seek(place, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def readinto(self, buffer: Any) -> int:
        with _damage_named(self._path):
            content = self._stream.read(len(buffer))
        check_unpacked(self._stream.tell(), self._packed, str(self._path))
        self._tick()
        buffer[: len(content)] = content
        return len(content)


def _wanted_rows(rows: Iterable[tuple[Sequence[str | bytes], NDArray[Any]]], wanted: Wanted) -> Blocks:
    for words, vectors in rows:
        tokens, chosen = _selected(words, wanted)
        if tokens:
            yield tokens, np.asarray(vectors[chosen], dtype=np.float32)


def begins_with(path: Path, mark: bytes) -> bool:
    """True where a file begins with the mark of a format."""
    with path.open("rb") as file:
        return file.read(len(mark)) == mark


def _word2vec_or_glove(reader: _Chunks, path: Path, wanted: Wanted) -> Blocks:
    first = reader.line().removeprefix(BOM_UTF8)
    if not first.strip():
        raise InputError(f"{path} is empty: an embedding file begins with a header or a word and its numbers")
    cells, following = (line.decode(errors="replace").rstrip().split(" ") for line in (first, reader.peek_line()))
    if len(following) > 1 and all(map(is_written_number, cells[1:])) and is_header(cells, following):
        first, reader.passed = reader.line(), 1
    header = first.split()
    if len(header) != 2 or not all(part.isdigit() and len(part) < 19 for part in header):
        yield from _text(reader, path, reader.dimensions(first), None, wanted, first)
        return
    words, dimensions = map(int, header)
    if words < 1 or not 0 < dimensions <= LONGEST // 4:
        raise InputError(f"{path} says in its first line that it holds {words} x {dimensions} numbers")
    if reader.is_written(dimensions):
        yield from _text(reader, path, dimensions, words, wanted, b"")
    else:
        yield from _binary(reader, path, dimensions, words, wanted)


class _Chunks:
    """A stream read in large pieces, with a position inside the current piece."""

    def __init__(self, stream: BinaryIO, path: Path, tick: Callable[[], None], in_place: bool) -> None:
        self.stream, self.path, self.tick = stream, path, tick
        self.in_place = in_place  # the stream is the file itself, and nothing is unpacked
        self.buffer = b""
        self.position = 0
        self.ended = False
        self.unpacked, self.packed = 0, path.stat().st_size
        self.passed = 0  # empty lines after the header, or a header that is none of word2vec's
        self.ends_in_cr = False

    def more(self) -> bool:
        """Read one piece further; False at the end of the stream."""
        if self.ended:
            return False
        try:
            piece = self.stream.read(PIECE)
        except (EOFError, OSError, RuntimeError, zlib.error, LZMAError) as error:
            raise InputError(f"{self.path} is truncated or damaged after byte {self.unpacked:,}: {error}") from error
        self.tick()
        self.ends_in_cr |= not self.unpacked and b"\r" in piece and b"\n" not in piece
        piece = piece.replace(b"\r", b"\n") if self.ends_in_cr else piece
        self.ended = not piece
        self.unpacked += len(piece)
        check_unpacked(self.unpacked, self.packed, str(self.path))
        self.buffer = self.buffer[self.position :] + piece
        self.position = 0
        if len(self.buffer) > LONGEST + PIECE:
            raise InputError(f"{self.path} is no embedding: it has a line or vector of more than {LONGEST:,} bytes")
        return bool(piece)

    def peek_line(self) -> bytes:
        """The next line, with its break, without going on."""
        while (end := self.buffer.find(b"\n", self.position)) < 0 and self.more():
            pass
        return self.buffer[self.position : len(self.buffer) if end < 0 else end + 1].replace(b"\t", b" ")

    def line(self) -> bytes:
        """The next line, with its break."""
        line = self.peek_line()
        self.position += len(line)
        return line

    def is_written(self, dimensions: int) -> bool:
        """True where the numbers of the next word stand in letters, be they right or wrong, and are not binary."""
        while self.peek_line() in (b"\n", b"\r\n"):
            self.line()
            self.passed += 1
        if _text_vector(self.peek_line(), dimensions) is not None:
            return True
        size = 4 * dimensions
        while len(self.buffer) - self.position < PIECE + size and self.more():
            pass
        entry = self.buffer[self.position : self.position + PIECE + size]
        numbers = entry[entry.find(b" ") + 1 :][:size] if b" " in entry else b""
        # of single numbers in binary one in forty looks like four letters
        return not numbers.translate(None, PLAIN + b"\n\t,:" if dimensions < FEW else PRINTED)

    def dimensions(self, first: bytes) -> int:
        """Number of the numbers that end most of the next lines, of which one is read: a word may hold blanks."""
        while len(self.buffer) - self.position < PIECE and self.more():
            pass
        *whole, last = self.buffer[self.position : self.position + PIECE].replace(b"\t", b" ").split(b"\n")
        lines = [first, *whole[:LOOKED_AT], *([last] if self.ended and last else [])]
        counts = Counter(_numbers_at_end(line) for line in lines if line.strip())
        return max(counts, key=lambda count: (counts[count], count == len(first.split()) - 1))

    def entries(self, size: int, most: int) -> tuple[list[bytes], IntArray]:
        """Words of the whole entries of the current piece, before a blank and ``size`` bytes, and where these end.

        Not one is looked at in Python, whose loops cost more than the file. Line breaks before a word are kept.
        """
        # what is not whole yet counts as a last word, and is told by the blank that it lacks
        found = re.findall(rb"([^ ]*+) .{%d}|.+" % size, self.buffer[self.position :], re.DOTALL)
        words = found[:most]
        letters = np.frombuffer(b" ".join([*words, b""]), dtype=np.uint8)
        ends = self.position + 1 + np.flatnonzero(letters == BLANK) + size * np.arange(1, len(words) + 1)
        if words and not (ends[-1] <= len(self.buffer) and self.buffer[ends[-1] - size - 1] == BLANK):
            words, ends = words[:-1], ends[:-1]
        if words:
            self.position = int(ends[-1])
        return words, ends

    def lines(self) -> tuple[_Lines | None, bool]:
        """The whole lines of the current piece, the last one of the file with what is left of it; None at the end.

        The flag says that the last of them ends the file without a break.
        """
        while (end := self.buffer.rfind(b"\n", self.position)) < 0 and self.more():
            pass
        whole = self.buffer[self.position : len(self.buffer) if end < 0 else end]
        self.position = len(self.buffer) if end < 0 else end + 1
        if not whole and end < 0:
            return None, False
        return _lines_of(whole.replace(b"\t", b" ")), end < 0


def _binary(reader: _Chunks, path: Path, dimensions: int, words: int, wanted: Wanted) -> Blocks:
    size, count, last = 4 * dimensions, 0, (b"", b"")
    while count < words:
        buffer, written, ends = reader.buffer, *reader.entries(size, words - count)
        count += len(written)
        if written:
            joined = b"\n".join(written)
            # word2vec's own program ends each vector with a line break
            tokens = [word.lstrip(b"\n") for word in written] if joined.count(b"\n") >= len(written) else written
            if not _is_text(joined) or _beyond_sense(_first_numbers(buffer, ends - size)).any():
                vectors = [buffer[end - size : end] for end in ends.tolist()]
                _refuse_blanks(path, [last, *zip(tokens, vectors, strict=True)])
            last = tokens[-1], buffer[reader.position - size : reader.position]
            if isinstance(wanted, Named) and reader.in_place:
                wanted.vectors_at.append(reader.unpacked - len(buffer) + ends - size)
            chosen = range(len(tokens)) if wanted is None else wanted.places(tokens)
            if chosen:
                numbers = b"".join([buffer[end - size : end] for end in ends[list(chosen)].tolist()])
                yield [tokens[row] for row in chosen], np.frombuffer(numbers, dtype="<f4").reshape(-1, dimensions)
        if count < words and not reader.more():
            raise InputError(
                f"{path} is truncated at byte {reader.unpacked:,}: its first line promises {words} vectors, it holds "
                f"{count} whole ones"
            )
    if reader.more() or reader.buffer[reader.position :].strip(b"\n"):
        # the last word may be one of two parts: anything may follow it
        _refuse_blanks(path, [last, (reader.buffer[reader.position :][:size] + b".", b"")])
        raise InputError(
            f"{path} is damaged: after the {words} vectors of {dimensions} numbers that its first line promises there "
            "is more; check the numbers in the first line"
        )


def vectors_at(path: Path, places: IntArray, dimensions: int) -> Vectors:
    """Vectors in single precision that begin at these bytes of a file."""
    vectors = np.empty((len(places), dimensions), dtype="<f4")
    with path.open("rb", buffering=0) as file:
        for place, row in zip(places.tolist(), vectors, strict=True):
            file.seek(place)
            if file.readinto(memoryview(row).cast("B")) != row.nbytes:
                raise InputError(f"{path} became shorter while it was read: read it again when it is whole")
    return vectors


def _refuse_blanks(path: Path, entries: Sequence[tuple[bytes, bytes]]) -> None:
    """Refuse a word with a blank, whose rest was read as numbers, so that numbers were read as the following word."""
    for (word, vector), (after, numbers) in pairwise(entries):
        if not _is_text(word) or (_is_text(after) and not _beyond_sense(np.frombuffer(vector, dtype="<f4")).any()):
            continue
        ahead = after + b" " + numbers
        for end in (place for place, letter in enumerate(vector) if letter == BLANK):
            # the numbers of the whole word end so many bytes later, and the next word begins there
            following = ahead[end + 1 :].partition(b" ")[0].lstrip(b"\n")
            if following and _is_text(following) and _is_text(vector[:end]):
                whole = word + b" " + vector[:end]
                raise InputError(
                    f"{path} holds the word {whole.decode()!r}, and word2vec's binary format cannot hold blanks: the "
                    f"vectors of {word.decode()!r} and of the word after it would be wrong; write '_' for the blank, "
                    "or another format (.npz)"
                )


def _first_numbers(buffer: bytes, begins: IntArray) -> Vectors:
    """The first number of each vector that begins at some bytes."""
    four = np.frombuffer(buffer, dtype=np.uint8)[begins[:, None] + np.arange(4)]
    numbers: Vectors = four.view("<f4")[:, 0]
    return numbers


def _beyond_sense(numbers: Vectors) -> NDArray[np.bool_]:
    """True for numbers that no vector holds, as letters and bytes out of step give them."""
    with np.errstate(invalid="ignore"):
        size = np.abs(numbers)
        usual: NDArray[np.bool_] = (size == 0) | ((size > SMALLEST) & (size < GREATEST))
    return ~usual


def _is_text(token: bytes) -> bool:
    """True for UTF-8 without control characters."""
    if token.translate(None, CONTROL) != token:
        return False
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return True


def _text(reader: _Chunks, path: Path, dimensions: int, words: int | None, wanted: Wanted, first: bytes) -> Blocks:
    if words is None and _text_vector(first.removesuffix(b"\n"), dimensions) is None:
        raise InputError(
            f"{path} is no embedding of a known format: expected are word2vec (binary or text), GloVe text (a word and "
            f"its numbers, apart by blanks), safetensors, Parquet or .npz; it begins with {first[:60]!r}"
        )
    number, count, last, ending = (1 if words is None else 2) + reader.passed, 0, b"", 0
    lines, unbroken = (_lines_of(first.rstrip(b"\r\n")), not first.endswith(b"\n")) if first else reader.lines()
    while lines is not None:
        chosen = range(len(lines.starts)) if wanted is None else wanted.may_take(lines)
        entries = [_entry(path, number + lines.numbers[row], lines.at(row), dimensions) for row in chosen]
        confirmed = [(token, vector) for token, vector in entries if wanted is None or wanted.confirms(token)]
        if confirmed:
            yield [token for token, _ in confirmed], np.stack([vector for _, vector in confirmed])
        if len(lines.starts):
            last, ending = lines.at(-1), number + lines.numbers[-1]
        number, count = number + lines.every, count + len(lines.starts)
        if isinstance(wanted, Placed) and wanted.ended:
            return
        if unbroken:
            break
        lines, unbroken = reader.lines()
    if words is not None and count != words:
        fault = f"truncated at byte {reader.unpacked:,}" if count < words else "damaged"
        raise InputError(f"{path} is {fault}: its first line promises {words} vectors, it holds {count}")
    if wanted is not None and count:
        _entry(path, ending, last, dimensions)  # a file that was cut shows it here
    if unbroken and _cut(last):
        raise InputError(
            f"{path} ends without a line break, and in a number that is shorter than the others of its line: it may be "
            "truncated; add a line break if it is whole"
        )


def _entry(path: Path, number: int, line: bytes, dimensions: int) -> tuple[bytes, Vectors]:
    """The word and the vector of a line."""
    parsed = _line_vector(line, dimensions)
    if parsed is None or _one_number_too_many(parsed[0]):
        raise InputError(
            f"{path}, line {number}: a word and {dimensions} numbers were expected, found {line[:60]!r} "
            f"({_fault(line)}); the file is truncated or damaged"
        )
    return parsed


def _fault(line: bytes) -> str:
    """The first part of a line that should be a number and is none, or how many numbers there are."""
    _, *parts = line.split() or [b""]
    odd = next((part for part in parts if not is_written_number(part)), None)
    if odd is None:
        return many(len(parts), "number")
    hint = {b",": ": write decimal points", b":": ": write every number, also those that are 0"}
    return f"{odd[:20].decode(errors='replace')!r} is no number" + next((hint[c] for c in hint if c in odd), "")


def _numbers_at_end(line: bytes) -> int:
    """Number of the numbers that end a line, without its first part."""
    _, *parts = line.split()
    return next((i for i, part in enumerate(reversed(parts)) if not is_written_number(part)), len(parts))


def _cut(line: bytes) -> bool:
    """True where the last number of a line has fewer digits than all others, as in a file that was cut there."""
    digits = [len(number.lstrip(b"-").lstrip(b"0.")) for number in line.split()[1:]]
    return len(digits) > 1 and digits[-1] < min(digits[:-1]) >= DIGITS


def _one_number_too_many(token: bytes) -> bool:
    """True where a supposed token with a space is a word and a number: the line is too long."""
    _, blank, last = token.rpartition(b" ")
    return bool(blank) and is_written_number(last)


def _line_vector(line: bytes, dimensions: int) -> tuple[bytes, Vectors] | None:
    """Token and numbers of a line, read in one go where the token holds no space and all numbers are plain."""
    token, _, rest = line.partition(b" ")
    if token and not rest.translate(None, PLAIN):
        try:
            numbers = np.fromstring(rest, dtype=np.float32, sep=" ")
        except ValueError:
            return _text_vector(line, dimensions)
        if len(numbers) == dimensions:
            return token, numbers
    return _text_vector(line, dimensions)


def _text_vector(line: bytes, dimensions: int) -> tuple[bytes, Vectors] | None:
    """Token and numbers of a line, split from the right since GloVe tokens may hold spaces; None if it is not one."""
    parts = line.rstrip().rsplit(b" ", dimensions)
    if b"" in parts[1:]:  # several blanks between numbers
        parts = line.rsplit(None, dimensions)
    if len(parts) != dimensions + 1 or dimensions < 1 or b"_" in line[len(parts[0]) :]:  # Python reads 1_0 as 10
        return None
    try:
        return parts[0], np.array(parts[1:], dtype=np.float32)
    except ValueError:
        return None


def _selected(words: Sequence[str | bytes], wanted: Wanted) -> tuple[list[bytes], list[int]]:
    """Words in UTF-8 and their places, of those that are wanted."""
    tokens = [word if isinstance(word, bytes) else word.encode("utf-8", "surrogateescape") for word in words]
    if wanted is None:
        return tokens, list(range(len(tokens)))
    rows = wanted.places(tokens)
    return [tokens[row] for row in rows], rows


def _npz(path: Path, wanted: Wanted, trusted: bool) -> Blocks:
    """The entries of an archive; the vectors are read some rows at a time."""
    with path.open("rb") as file, archive_of(file, str(path)) as archive:
        words, shape, by_columns, dtype = _npz_parts(path, archive, trusted)
        with archive.open("vectors.npy") as member:
            _array_header(member)
            row = dtype.itemsize * shape[1]
            rows = len(words) if by_columns else max(1, CHUNK // row)
            for begin in range(0, len(words), rows):
                block = words[begin : begin + rows].tolist()
                numbers = np.frombuffer(member.read(row * len(block)), dtype=dtype)
                vectors = numbers.reshape((len(block), shape[1]), order="F" if by_columns else "C")
                tokens, chosen = _selected(block, wanted)
                if tokens:
                    yield tokens, np.asarray(vectors[chosen] if len(chosen) < len(block) else vectors, dtype=np.float32)


def _array_header(member: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and type of an array that begins here."""
    read_header = {(1, 0): read_array_header_1_0, (2, 0): read_array_header_2_0}[read_magic(member)]
    return read_header(member)


def stored_sample(path: Path) -> dict[str, NDArray[Any]] | None:
    """The arrays of a vocabulary's sample in an ``.npz`` embedding of a part of the words, or None."""
    if not begins_with(path, ZIP_MARK):
        return None
    with path.open("rb") as file, archive_of(file, str(path)) as archive:
        members = {name.removesuffix(".npy") for name in archive.namelist()}
        if not members.issuperset(SAMPLED):
            return None
        arrays = {}
        for name in (*SAMPLED, *({WEIGHTS, OVERALL} & members)):
            with archive.open(f"{name}.npy") as member:
                arrays[name] = read_array(member, allow_pickle=False)
        return arrays


def stored_record(path: Path) -> str | None:
    """The record of an ``.npz`` embedding, as JSON, or None."""
    if not begins_with(path, ZIP_MARK):
        return None
    with path.open("rb") as file, archive_of(file, str(path)) as archive:
        if f"{RECORD}.npy" not in archive.namelist():
            return None
        with archive.open(f"{RECORD}.npy") as member:
            return str(read_array(member, allow_pickle=False))


def _npz_parts(
    path: Path, archive: ZipFile, trusted: bool
) -> tuple[NDArray[Any], tuple[int, ...], bool, np.dtype[Any]]:
    """Words of an archive, and shape, order and type of its vectors."""
    names = [name.removesuffix(".npy") for name in archive.namelist()]
    if not {"words", "vectors"} <= set(names):
        raise InputError(f"{path} holds {', '.join(map(shown, names[:5]))}: an .npz embedding has words and vectors")
    with archive.open("words.npy") as member:
        if _array_header(member)[2].hasobject and not trusted:
            raise InputError(
                f"{path} holds words as objects, which NumPy pickles, and opening a pickle runs the code in it: pass "
                "trust_pickle=True (--trust-pickle) if you trust where it comes from, or save words as text, "
                "np.array(words, dtype=str)"
            )
    with archive.open("words.npy") as member:
        words = read_array(member, allow_pickle=trusted)
    if words.dtype.hasobject and all(isinstance(word, str) for word in words.flat):
        words = words.astype(str)
    with archive.open("vectors.npy") as member:
        shape, by_columns, dtype = _array_header(member)
    texts = words.ndim == 1 and words.dtype.kind in "US"
    if not texts or len(shape) != 2 or shape[0] != len(words) or shape[1] < 1 or dtype.kind not in "fiu":
        raise InputError(
            f"{path}: words must be a 1-D array of text and vectors a 2-D array of real numbers with as many "
            f"rows, given {words.dtype} {words.shape} and {dtype} {shape}"
        )
    return words, shape, by_columns, dtype


def _safetensors(path: Path, wanted: Wanted) -> Blocks:
    """Words (one a line, as bytes) and vectors of a safetensors file."""
    words, matrix = _safe_parts(path)
    rows = max(1, CHUNK // (4 * matrix.shape[1]))
    begins = range(0, len(words), rows)
    yield from _wanted_rows(((words[begin : begin + rows], matrix[begin : begin + rows]) for begin in begins), wanted)


def _safe_parts(path: Path) -> tuple[list[bytes], NDArray[Any]]:
    """Words and memory-mapped vectors of a safetensors file (https://github.com/huggingface/safetensors)."""
    size = path.stat().st_size
    with read_as("safetensors with the tensors words (one a line, U8) and vectors", str(path)):
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if not 0 < length <= min(MOST_HEADER, size - 8):
                raise ValueError("its header is longer than the file")
            header = from_json(file.read(length))

        def tensor(name: str, types: Mapping[str, str]) -> NDArray[Any]:
            about = header[name]
            begin, end = (int(offset) for offset in about["data_offsets"])
            if not 0 <= begin <= end <= size - 8 - length:
                raise ValueError(f"it is truncated at byte {size:,}: {name} ends at byte {end + 8 + length:,}")
            if about["dtype"] not in types:
                raise ValueError(f"{name} must be {' or '.join(types)}")
            dtype, shape = np.dtype(types[about["dtype"]]), tuple(int(n) for n in about["shape"])
            if not shape or min(shape) < 1 or prod(shape) * dtype.itemsize != end - begin:
                raise ValueError(f"{name} of shape {shape} does not fill {end - begin:,} bytes")
            return np.memmap(path, dtype=dtype, mode="r", offset=8 + length + begin, shape=shape)

        if "words" in header:
            words, matrix = tensor("words", SAFE_BYTES).tobytes().split(b"\n"), tensor("vectors", SAFE_TYPES)
        else:
            matrix = tensor(_static_tensor(path, header), SAFE_TYPES)
            mapping, weights = (
                tensor(name, types) if name in header else None
                for name, types in (("mapping", SAFE_INDICES), ("weights", SAFE_TYPES))
            )
            words = _tokens(path, len(matrix) if mapping is None else len(mapping))
            matrix = static_vectors(len(words), matrix, mapping, weights)
        if matrix.ndim != 2 or len(words) != len(matrix):
            raise ValueError(f"it has {len(words):,} words and vectors of shape {matrix.shape}")
        return words, matrix


def _static_tensor(path: Path, header: Mapping[str, Any]) -> str:
    """The name of the vectors of a static model, whose tokenizer stands beside it."""
    names = [name for name in header if name != "__metadata__"]
    matrices = [name for name in names if len(header[name]["shape"]) == 2]
    if len(matrices) == 1 and path.with_name(TOKENIZER).is_file():
        return matrices[0]
    raise InputError(
        f"{path} holds the tensors {listed(names, 5)}: an embedding has words and vectors, or one tensor of two "
        f"dimensions and {TOKENIZER} beside it; else load the model with its own library, and give "
        "load_embedding((words, matrix))"
    )


def _tokens(path: Path, number: int) -> list[bytes]:
    """The words of a tokenizer beside a file, in the order of their numbers; empty where a number has no word."""
    content = from_json(path.with_name(TOKENIZER).read_bytes())
    vocabulary = content["model"]["vocab"]
    places = vocabulary if isinstance(vocabulary, dict) else {part[0]: row for row, part in enumerate(vocabulary)}
    places |= {token["content"]: token["id"] for token in content.get("added_tokens", [])}
    if not 0 <= min(places.values()) <= max(places.values()) < number:
        raise ValueError(f"{TOKENIZER} has words up to number {max(places.values()):,}, and it {number:,} vectors")
    words = [b""] * number
    for word, place in places.items():
        words[place] = word.encode()
    return words


def mapped(path: Path, trusted: bool = False) -> tuple[list[bytes], NDArray[Any]]:
    """Words and memory-mapped vectors of a file whose format allows it."""
    if begins_with(path, ZIP_MARK):
        with path.open("rb") as file, archive_of(file, str(path)) as archive:
            words, shape, by_columns, dtype = _npz_parts(path, archive, trusted)
            info = archive.getinfo("vectors.npy")
            if info.compress_type == ZIP_STORED and not by_columns and dtype == np.dtype("<f4"):
                with archive.open("vectors.npy") as member:
                    _array_header(member)
                    inside = member.tell()
                file.seek(info.header_offset + 26)
                extra = int.from_bytes(file.read(2), "little") + int.from_bytes(file.read(2), "little")
                offset = info.header_offset + 30 + extra + inside
                tokens, _ = _selected(words.tolist(), None)
                return tokens, np.memmap(path, dtype=dtype, mode="r", offset=offset, shape=shape)
    elif path.suffix == SAFE:
        keys, matrix = _safe_parts(path)
        if matrix.dtype == np.dtype("<f4"):
            return keys, matrix
    raise InputError(
        f"{path} cannot be memory-mapped: write it as .npz or .safetensors with save_embedding, or read it without mmap"
    )


def text_lines(path: Path) -> Iterator[str]:
    """The lines of a text in UTF-8, packed by gzip, bzip2, xz or zip, or not."""
    try:
        with path.open("rb") as file, _damage_named(path), unpacked(path, file) as stream:
            bounded = BufferedReader(_Bounded(stream, path, lambda: None), PIECE)
            with TextIOWrapper(bounded, encoding="utf-8-sig") as lines:
                while line := lines.readline(MOST_LINE):
                    if len(line) == MOST_LINE:
                        raise InputError(f"{path} has a line of {MOST_LINE:,} letters or more: break it into sentences")
                    yield line
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is no text in UTF-8: {error}") from error
