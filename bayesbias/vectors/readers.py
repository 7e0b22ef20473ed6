"""The formats of embedding files: words and vectors in blocks, one pass, only those that are wanted."""

from __future__ import annotations

import bz2
import gzip
import lzma
import pickle
import re
import zlib
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from io import BufferedReader, RawIOBase, TextIOWrapper
from itertools import compress, pairwise, takewhile
from math import prod
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO
from unicodedata import normalize
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import numpy as np
from numpy.lib.format import read_array, read_array_header_1_0, read_array_header_2_0, read_magic
from numpy.typing import NDArray

from bayesbias._support.files import archive_of, check_unpacked, from_json, read_as
from bayesbias._support.progress import progress
from bayesbias.errors import InputError, many
from bayesbias.vectors.tables import SUFFIXES as TEXT_TABLES
from bayesbias.vectors.tables import is_header, is_written_number, real_vectors, rows_of_parquet, rows_of_text

CHUNK = 1 << 23  # bytes of vectors that are read together
PIECE = 1 << 20  # bytes of a stream that are read together: as much as a processor's cache holds
LONGEST = 1 << 24  # bytes of a line of text, or of the vector of a word
ZIP_MARK = b"PK\x03\x04"
PACKED = (".gz", ".bz2", ".xz", ".zip")
PACKINGS: dict[bytes, Callable[[BinaryIO], Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
DAMAGE = (EOFError, OSError, RuntimeError, zlib.error, lzma.LZMAError, BadZipFile, UnicodeDecodeError)
PLAIN = b"0123456789.-+eE \r"  # bytes of plain numbers and what is between them
PRINTED = bytes([*b"\t\n\r", *range(0x20, 0x7F)])  # of ASCII
CONTROL = bytes({*range(0x20), 0x7F} - set(b"\n"))  # of no text
FEW = 3  # dimensions below which the bytes of a vector may all be printed ones by chance
LOOKED_AT = 100  # lines by which the number of dimensions is told where no header tells it
SMALLEST, GREATEST = 1e-25, 1e15  # between which lie the sizes of numbers in vectors, except 0
DIGITS = 4  # digits of a number from which on a shorter one beside it looks cut
FASTTEXT_MARK = b"\xba\x16\x4f\x2f"
SAFE = ".safetensors"
DECADE = "-w.npy"  # how files of HistWords end: a matrix, beside its words in a file that ends in -vocab.pkl
SAFE_TYPES = {"U8": "u1", "F16": "<f2", "F32": "<f4", "F64": "<f8"}
PICKLED = (
    "opening a pickle runs the code in it: pass trust_pickle=True (--trust-pickle) if you trust where it comes from, "
    "or save it as word2vec or .npz with words as text"
)

Vectors = NDArray[np.float32]
IntArray = NDArray[np.intp]


class Named:
    """Entries of a file that are wanted for their words, in Unicode's normal form C, and all words that were met."""

    def __init__(self, words: Collection[str]) -> None:
        self._words = frozenset(word.encode("utf-8", "surrogatepass") for word in words)
        self._firsts = frozenset(word.partition(b" ")[0] for word in self._words)
        self._plain = all(map(str.isascii, words))
        # all words in the order of the file; of one with blanks in a text file, if not wanted, the part before them
        self.met = list[bytes]()
        # bytes of the file at which the vectors of all words begin, where they stand there in binary
        self.vectors_at = list[IntArray]()

    def places(self, words: Sequence[bytes], are_firsts: bool = False) -> list[int]:
        """Places of the next entries that are wanted, or that may be by their words up to the first blank."""
        self.met += words
        forms = words if self._plain else map(_composed, words)
        wanted = self._firsts if are_firsts else self._words
        return list(compress(range(len(words)), map(wanted.__contains__, forms)))

    def confirms(self, place: int, word: bytes) -> bool:
        """True where the entry at a place among all that were met is wanted, now that its whole word is known."""
        self.met[place] = word
        return (word if self._plain else _composed(word)) in self._words


def _composed(word: bytes) -> bytes:
    """A word in Unicode's normal form C; bytes that are no text stay."""
    if word.isascii():
        return word
    return normalize("NFC", word.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


class Placed:
    """Entries of a file that are wanted for their places, from 0; what follows the last of them is not read again."""

    def __init__(self, places: Iterable[int]) -> None:
        self._ascending, self._next, self.ended = np.array(sorted(set(places)), dtype=np.intp), 0, False

    def places(self, entries: Sequence[object]) -> list[int]:
        """Places of the next entries that are wanted."""
        begin, self._next = self._next, self._next + len(entries)
        first, last = np.searchsorted(self._ascending, (begin, self._next))
        self.ended = last == len(self._ascending)
        chosen: list[int] = (self._ascending[first:last] - begin).tolist()
        return chosen


Wanted = Named | Placed | None
Blocks = Iterator[tuple[list[bytes], Vectors]]


def blocks(path: Path, wanted: Wanted, done: Callable[[float], None], trusted: bool = False) -> Blocks:
    """Words and vectors (n, d) of an embedding file, whose format its content tells, of tables in text its name.

    Lines of a text file that are not wanted are not parsed. ``done`` is told how many bytes of the file have been read.
    Words of a ``trusted`` archive may be objects.
    """
    suffix = path.with_suffix("").suffix if path.suffix in PACKED else path.suffix
    with path.open("rb") as file:
        mark = file.read(9)
    if mark[:4] == ZIP_MARK and _packed_member(path) is None:
        yield from _npz(path, wanted, trusted)
    elif mark[:4] == b"PAR1":
        yield from _wanted_rows(rows_of_parquet(path), wanted)
    elif mark[8:9] == b"{" and path.suffix == SAFE:
        words, matrix = _safe_parts(path)
        rows = max(1, CHUNK // (4 * matrix.shape[1]))
        parts = (slice(begin, begin + rows) for begin in range(0, len(words), rows))
        yield from _wanted_rows(((words[part], matrix[part]) for part in parts), wanted)
    else:
        with unpacked(path, done) as stream:
            if suffix in TEXT_TABLES:
                yield from _wanted_rows(rows_of_text(BufferedReader(stream, LONGEST), suffix, str(path)), wanted)
            else:
                yield from _word2vec_or_glove(_Chunks(stream, path), path, wanted)


def _wanted_rows(entries: Iterable[tuple[Sequence[str | bytes], NDArray[Any]]], wanted: Wanted) -> Blocks:
    for words, vectors in entries:
        tokens = _as_bytes(words)
        chosen = list(range(len(tokens))) if wanted is None else wanted.places(tokens)
        if chosen:
            rows = vectors if len(chosen) == len(tokens) else vectors[chosen]
            yield [tokens[row] for row in chosen], np.asarray(rows, dtype=np.float32)


def _as_bytes(words: Iterable[str | bytes]) -> list[bytes]:
    return [word if isinstance(word, bytes) else word.encode("utf-8", "surrogateescape") for word in words]


class Unpacked(RawIOBase):
    """The content of a file: damage names the file and the byte, and what would fill the memory is refused."""

    def __init__(self, path: Path, file: BinaryIO, content: BinaryIO, done: Callable[[float], None]) -> None:
        self._path, self._file, self._content, self._done = path, file, content, done
        self._size, self._given, self.is_packed = path.stat().st_size, 0, content is not file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            content = self._content.read(len(buffer))
        except DAMAGE as error:
            raise InputError(f"{self._path} is truncated or damaged after byte {self._given:,}: {error}") from error
        self._given += len(content)
        check_unpacked(self._given, self._size, str(self._path))
        self._done(self._file.tell())
        buffer[: len(content)] = content
        return len(content)


@contextmanager
def unpacked(path: Path, done: Callable[[float], None] = lambda _: None) -> Iterator[Unpacked]:
    """The content of a file that is packed by gzip, bzip2 or xz, the only member of a zip archive, or as it is."""
    with ExitStack() as stack:
        content: Any = stack.enter_context(path.open("rb"))
        file, mark = content, content.read(6)
        file.seek(0)
        if opens := [unpack for start, unpack in PACKINGS.items() if mark.startswith(start)]:
            content = stack.enter_context(opens[0](file))
        elif mark.startswith(ZIP_MARK) and (member := _packed_member(path)) is not None:
            with read_as("a zip archive", str(path)):
                content = stack.enter_context(stack.enter_context(ZipFile(file)).open(member))
        yield Unpacked(path, file, content, done)


def _packed_member(path: Path) -> str | None:
    """The only member of a zip archive, unless it is an array."""
    with path.open("rb") as file, archive_of(file, str(path)) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
    return names[0] if len(names) == 1 and not names[0].endswith(".npy") else None


@contextmanager
def plain_file(path: Path) -> Iterator[Path]:
    """The file itself, or a temporary one that holds what is packed in it."""
    with progress(f"unpacking {path.name}", path.stat().st_size) as done, unpacked(path, done) as stream:
        if not stream.is_packed:
            yield path
            return
        with TemporaryDirectory() as folder:
            plain = Path(folder) / "unpacked"
            with plain.open("wb") as out:
                copyfileobj(stream, out, PIECE)
            yield plain


def text_lines(path: Path) -> Iterator[str]:
    """The lines of a text in UTF-8, packed by gzip, bzip2, xz or zip, or not."""
    with unpacked(path) as stream, read_as("text in UTF-8", str(path)):
        yield from TextIOWrapper(BufferedReader(stream, PIECE), encoding="utf-8-sig")


def _word2vec_or_glove(reader: _Chunks, path: Path, wanted: Wanted) -> Blocks:
    """The entries of a text or of word2vec's binary format, which the beginning tells."""
    while (len(reader.buffer) < PIECE or b"\n" not in reader.buffer) and reader.more():
        pass
    reader.position = len(BOM_UTF8) if reader.buffer.startswith(BOM_UTF8) else 0
    ahead = reader.buffer[reader.position :]
    first, following, *_ = [*ahead.replace(b"\t", b" ").split(b"\n", 2), b""]
    header = first.split()
    if len(header) == 2 and all(part.isdigit() and len(part) < 19 for part in header):
        words, dimensions = map(int, header)
        if words < 1 or not 0 < dimensions <= LONGEST // 4:
            raise InputError(f"{path} says in its first line that it holds {words} x {dimensions} numbers")
        reader.position += len(first) + 1
        written = _is_written(ahead[len(first) + 1 :].lstrip(b"\r\n"), dimensions)
        if written:
            yield from _text(reader, path, dimensions, words, 2, wanted)
        else:
            yield from _binary(reader, path, dimensions, words, wanted)
        return
    cells, after = (line.decode(errors="replace").rstrip().split(" ") for line in (first, following))
    is_named = len(after) > 1 and all(map(is_written_number, cells[1:])) and is_header(cells, after)
    *whole, last = ahead.replace(b"\t", b" ").split(b"\n")
    lines = [*whole, *([last] if reader.ended else [])][is_named:LOOKED_AT]
    # a word may hold blanks: most lines end in as many numbers as there are dimensions
    ends = (takewhile(is_written_number, reversed(line.split()[1:])) for line in lines if line.strip())
    counts, least = Counter(len([*numbers]) for numbers in ends), len(lines[0].split()) - 1 if lines else 0
    dimensions = max(counts, key=lambda count: (counts[count], count == least), default=0)
    if not lines or _line_vector(lines[0], dimensions) is None:
        raise InputError(
            f"{path} is no embedding of a known format: expected are word2vec (binary or text), GloVe text (a word and "
            f"its numbers, apart by blanks), safetensors, Parquet or .npz; it begins with {first[:60]!r}"
        )
    reader.position += len(first) + 1 if is_named else 0
    yield from _text(reader, path, dimensions, None, 1 + is_named, wanted)


def _is_written(ahead: bytes, dimensions: int) -> bool:
    """True where the numbers of the next word stand in letters, be they right or wrong, and are not binary."""
    if _line_vector(ahead.partition(b"\n")[0].replace(b"\t", b" "), dimensions) is not None:
        return True
    _, blank, numbers = ahead.partition(b" ")
    # of single numbers in binary one in forty looks like four letters
    letters = PLAIN + b"\n\t,:" if dimensions < FEW else PRINTED
    return not blank or not numbers[: 4 * dimensions].translate(None, letters)


class _Chunks:
    """A stream read in large pieces, with a position inside the current piece."""

    def __init__(self, stream: Unpacked, path: Path) -> None:
        self.stream, self.path = stream, path
        self.buffer, self.position, self.ended = b"", 0, False
        self.read = 0  # bytes

    def more(self) -> bool:
        """Read one piece further; False at the end of the stream."""
        piece = self.stream.read(PIECE) or b""
        self.ended, self.read = not piece, self.read + len(piece)
        self.buffer, self.position = self.buffer[self.position :] + piece, 0
        if len(self.buffer) > LONGEST + PIECE:
            raise InputError(f"{self.path} is no embedding: it has a line or vector of more than {LONGEST:,} bytes")
        return bool(piece)

    def entries(self, size: int, most: int) -> tuple[list[bytes], IntArray]:
        """Words of the whole entries of the current piece, before a blank and ``size`` bytes, and where these end.

        Not one is looked at in Python, whose loops cost more than the file. Line breaks before a word are kept.
        """
        # what is not whole yet counts as a last word, and is told by the blank that it lacks
        words = re.compile(rb"([^ ]*+) .{%d}|.+" % size, re.DOTALL).findall(self.buffer, self.position)[:most]
        letters = np.frombuffer(b" ".join([*words, b""]), dtype=np.uint8)
        ends = self.position + 1 + np.flatnonzero(letters == ord(" ")) + size * np.arange(1, len(words) + 1)
        if words and not (ends[-1] <= len(self.buffer) and self.buffer[ends[-1] - size - 1] == ord(" ")):
            words, ends = words[:-1], ends[:-1]
        if words:
            self.position = int(ends[-1])
        return words, ends

    def lines(self) -> Iterator[list[bytes]]:
        """The whole lines of each piece, and an empty one after their last break."""
        while self.position < len(self.buffer) or self.more():
            while (end := self.buffer.rfind(b"\n", self.position)) < 0 and self.more():
                pass
            begin, self.position = self.position, len(self.buffer) if end < 0 else end + 1
            yield self.buffer[begin : self.position].replace(b"\t", b" ").split(b"\n")


def _binary(reader: _Chunks, path: Path, dimensions: int, words: int, wanted: Wanted) -> Blocks:
    size, count, last = 4 * dimensions, 0, (b"", b"")
    while count < words:
        buffer, written, ends = reader.buffer, *reader.entries(size, words - count)
        count += len(written)
        if written:
            joined = b"\n".join(written)
            # word2vec's own program ends each vector with a line break
            tokens = [word.lstrip(b"\n") for word in written] if joined.count(b"\n") >= len(written) else written
            firsts = np.frombuffer(buffer, dtype=np.uint8)[(ends - size)[:, None] + np.arange(4)].view("<f4")
            if not _is_text(joined) or _beyond_sense(firsts):
                vectors = [buffer[end - size : end] for end in ends.tolist()]
                _refuse_blanks(path, [last, *zip(tokens, vectors, strict=True)])
            last = tokens[-1], buffer[reader.position - size : reader.position]
            if isinstance(wanted, Named) and not reader.stream.is_packed:
                wanted.vectors_at.append(reader.read - len(buffer) + ends - size)
            chosen = range(len(tokens)) if wanted is None else wanted.places(tokens)
            if chosen:
                numbers = b"".join([buffer[end - size : end] for end in ends[list(chosen)].tolist()])
                yield [tokens[row] for row in chosen], np.frombuffer(numbers, dtype="<f4").reshape(-1, dimensions)
        if count < words and not reader.more():
            break
    more = count == words and (reader.more() or reader.buffer[reader.position :].strip(b"\n"))
    if more:  # the last word may be one of two parts: anything may follow it
        _refuse_blanks(path, [last, (reader.buffer[reader.position :][:size] + b".", b"")])
    _check_count(path, reader, words, count + bool(more))


def _check_count(path: Path, reader: _Chunks, words: int, count: int) -> None:
    """Refuse a file that holds more or fewer vectors than its first line promises."""
    if count != words:
        fault = f"truncated at byte {reader.read:,}" if count < words else "damaged"
        held = f"{count} whole ones" if count < words else "more"
        raise InputError(f"{path} is {fault}: its first line promises {words} vectors, it holds {held}")


def vectors_at(path: Path, places: IntArray, dimensions: int) -> Vectors:
    """Vectors in single precision that begin at these bytes of a file."""
    content, size = np.asarray(np.memmap(path, np.uint8, "r")), 4 * dimensions
    rows = np.array([content[place : place + size] for place in places.tolist()], dtype=np.uint8)
    return rows.reshape(-1, size).view("<f4")


def _refuse_blanks(path: Path, entries: Sequence[tuple[bytes, bytes]]) -> None:
    """Refuse a word with a blank, whose rest was read as numbers, so that numbers were read as the following word."""
    for (word, vector), (after, numbers) in pairwise(entries):
        if not _is_text(word) or (_is_text(after) and not _beyond_sense(np.frombuffer(vector, dtype="<f4"))):
            continue
        ahead = after + b" " + numbers
        for end in (place for place, letter in enumerate(vector) if letter == ord(" ")):
            # the numbers of the whole word end so many bytes later, and the next word begins there
            following = ahead[end + 1 :].partition(b" ")[0].lstrip(b"\n")
            if following and _is_text(following) and _is_text(vector[:end]):
                whole = word + b" " + vector[:end]
                raise InputError(
                    f"{path} holds the word {whole.decode()!r}, and word2vec's binary format cannot hold blanks: the "
                    f"vectors of {word.decode()!r} and of the word after it would be wrong; write '_' for the blank, "
                    "or another format (.npz)"
                )


def _beyond_sense(numbers: Vectors) -> bool:
    """True for numbers some of which no vector holds, as letters and bytes out of step give them."""
    with np.errstate(invalid="ignore"):
        size = np.abs(numbers)
        return not ((size == 0) | ((size > SMALLEST) & (size < GREATEST))).all()


def _is_text(token: bytes) -> bool:
    """True for UTF-8 without control characters."""
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return token.translate(None, CONTROL) == token


def _text(reader: _Chunks, path: Path, dimensions: int, words: int | None, number: int, wanted: Wanted) -> Blocks:
    """Entries of a text from the line of this number on; ``words`` is None where no header tells how many there are."""
    count, last, final = 0, (0, b""), b""
    for lines in reader.lines():
        full = [row for row, line in enumerate(lines) if line and not line.isspace()]
        if isinstance(wanted, Named):
            chosen = wanted.places([lines[row].partition(b" ")[0] for row in full], are_firsts=True)
        else:
            chosen = list(range(len(full))) if wanted is None else wanted.places(full)
        entries = [(at, *_entry(path, number + full[at], lines[full[at]], dimensions)) for at in chosen]
        if isinstance(wanted, Named):
            entries = [entry for entry in entries if wanted.confirms(count + entry[0], entry[1])]
        if entries:
            yield [token for _, token, _ in entries], np.stack([vector for _, _, vector in entries])
        if isinstance(wanted, Placed) and wanted.ended:
            return
        if full:
            last = number + full[-1], lines[full[-1]]
        count, number, final = count + len(full), number + len(lines) - 1, lines[-1]
    if words is not None:
        _check_count(path, reader, words, count)
    if wanted is not None and count:
        _entry(path, *last, dimensions)  # a file that was cut shows it here
    digits = [len(part.lstrip(b"-").lstrip(b"0.")) for part in final.split()[1:]]
    if len(digits) > 1 and digits[-1] < min(digits[:-1]) >= DIGITS:
        raise InputError(
            f"{path} ends without a line break, and in a number that is shorter than the others of its line: it may be "
            "truncated; add a line break if it is whole"
        )


def _entry(path: Path, number: int, line: bytes, dimensions: int) -> tuple[bytes, Vectors]:
    """The word and the vector of a line."""
    parsed = _line_vector(line, dimensions)
    # a word that ends in a number: the line has one too many
    if parsed is None or (b" " in parsed[0] and is_written_number(parsed[0].rpartition(b" ")[2])):
        _, *parts = line.split() or [b""]
        odd = next((part for part in parts if not is_written_number(part)), None)
        hints = {b",": ": write decimal points", b":": ": write every number, also those that are 0"}
        fault = many(len(parts), "number")
        if odd is not None:
            hint = next((hints[letter] for letter in hints if letter in odd), "")
            fault = f"{odd[:20].decode(errors='replace')!r} is no number{hint}"
        raise InputError(
            f"{path}, line {number}: a word and {dimensions} numbers were expected, found {line[:60]!r} ({fault}); the "
            "file is truncated or damaged"
        )
    return parsed


def _line_vector(line: bytes, dimensions: int) -> tuple[bytes, Vectors] | None:
    """Word and numbers of a line, or None; read in one go where the word holds no blank and all numbers are plain.

    Else it is split from the right, since words may hold blanks.
    """
    if dimensions < 1:
        return None
    token, _, rest = line.partition(b" ")
    try:
        if token and not rest.translate(None, PLAIN):
            numbers = np.fromstring(rest, dtype=np.float32, sep=" ")
            if len(numbers) == dimensions:
                return token, numbers
    except ValueError:
        pass
    parts = line.rstrip().rsplit(b" ", dimensions)
    if b"" in parts[1:]:  # several blanks between numbers
        parts = line.rsplit(None, dimensions)
    if len(parts) != dimensions + 1 or b"_" in line[len(parts[0]) :]:  # Python reads 1_0 as 10
        return None
    try:
        return parts[0], np.array(parts[1:], dtype=np.float32)
    except ValueError:
        return None


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
                yield from _wanted_rows([(block, vectors)], wanted)


def _array_header(member: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and type of an array that begins here."""
    read_header = {(1, 0): read_array_header_1_0, (2, 0): read_array_header_2_0}[read_magic(member)]
    return read_header(member)


def _array(archive: ZipFile, name: str, trusted: bool = False) -> NDArray[Any]:
    with archive.open(f"{name}.npy") as member:
        array: NDArray[Any] = read_array(member, allow_pickle=trusted)
        return array


def stored_arrays(path: Path, names: Collection[str]) -> dict[str, NDArray[Any]]:
    """Those of some arrays that an ``.npz`` embedding holds beside its words and vectors."""
    if not begins_with(path, ZIP_MARK):
        return {}
    with path.open("rb") as file, archive_of(file, str(path)) as archive:
        held = {name.removesuffix(".npy") for name in archive.namelist()}
        return {name: _array(archive, name) for name in names if name in held}


def begins_with(path: Path, mark: bytes, unpacks: bool = False) -> bool:
    """True where a file begins with the mark of a format, or what is packed in it does."""
    with unpacked(path) if unpacks else path.open("rb") as file:
        return file.read(len(mark)) == mark


def _npz_parts(
    path: Path, archive: ZipFile, trusted: bool
) -> tuple[NDArray[Any], tuple[int, ...], bool, np.dtype[Any]]:
    """Words of an archive, and shape, order and type of its vectors."""
    with archive.open("words.npy") as member:
        if _array_header(member)[2].hasobject and not trusted:
            raise InputError(f"{path} holds words as objects, which NumPy pickles, and {PICKLED}")
    words = _array(archive, "words", trusted)
    if words.dtype.hasobject and all(isinstance(word, str) for word in words.flat):
        words = words.astype(str)
    with archive.open("vectors.npy") as member:
        shape, by_columns, dtype = _array_header(member)
    _check_fit(path, words.shape, shape, dtype, words.dtype.kind in "US")
    return words, shape, by_columns, dtype


def _check_fit(
    path: Path, words: tuple[int, ...], shape: tuple[int, ...], dtype: np.dtype[Any], texts: bool = True
) -> None:
    """Refuse words that are no list of texts, and vectors that are no rows of real numbers, one a word."""
    if not texts or len(shape) != 2 or words != shape[:1] or shape[1] < 1 or dtype.kind not in "fiu":
        raise InputError(
            f"{path}: words must be a 1-D array of text and vectors a 2-D array of real numbers with as many rows, "
            f"given are words of shape {words} and {dtype} {shape}"
        )


def _safe_parts(path: Path) -> tuple[list[bytes], NDArray[Any]]:
    """Words and memory-mapped vectors of a safetensors file (https://github.com/huggingface/safetensors)."""
    with read_as("safetensors with the tensors words (one a line, U8) and vectors", str(path)):
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header = from_json(file.read(min(length, path.stat().st_size)))

        tensors = list[NDArray[Any]]()
        for name in ("words", "vectors"):
            about = header[name]
            (begin, end), shape, dtype = (
                about["data_offsets"],
                tuple(about["shape"]),
                np.dtype(SAFE_TYPES[about["dtype"]]),
            )
            if begin < 0 or prod(shape) * dtype.itemsize != end - begin:
                raise ValueError(f"{name} of shape {shape} does not fill the bytes from {begin} to {end}")
            tensors.append(np.memmap(path, dtype=dtype, mode="r", offset=8 + length + begin, shape=shape))
        words, matrix = tensors[0].tobytes().split(b"\n"), tensors[1]
        _check_fit(path, (len(words),), matrix.shape, matrix.dtype)
        return words, matrix


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
                return _as_bytes(words.tolist()), np.memmap(path, dtype, "r", offset, shape)
    elif path.suffix == SAFE:
        keys, matrix = _safe_parts(path)
        if matrix.dtype == np.dtype("<f4"):
            return keys, matrix
    raise InputError(
        f"{path} cannot be memory-mapped: write it as .npz or .safetensors with save_embedding, or read it without mmap"
    )


class _PlainUnpickler(pickle._Unpickler):
    """Reads lists and texts; anything that would run code is refused.

    It is the one in Python, whose memory grows with the file: that in C makes room for what nine bytes promise.
    """

    def find_class(self, module: str, name: str) -> Any:
        """Refuse every class and function."""
        raise pickle.UnpicklingError(f"it holds {module}.{name}, and a vocabulary is a list of words")


def decade(path: Path) -> tuple[list[str], NDArray[Any]]:
    """A decade as HistWords keeps it, whose words stand in a pickle; those that it lacks are rows of zeros."""
    beside = path.with_name(path.name.removesuffix(DECADE) + "-vocab.pkl")
    with read_as(f"vectors of the words in {beside.name}", str(path)):
        matrix = np.lib.format.open_memmap(path, mode="r")
        with beside.open("rb") as file:
            words = _PlainUnpickler(file, encoding="utf-8", errors="replace").load()
        real_vectors(list(words), matrix, f"{path} with {beside.name}")
        rows = np.flatnonzero(matrix.any(axis=1)).tolist()
        return [words[row] for row in rows], np.asarray(matrix[rows])
