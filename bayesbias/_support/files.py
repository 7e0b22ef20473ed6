"""Files and documents: whole writes, TOML with its schema, archives of arrays, columns of tables in text."""

from __future__ import annotations

import csv
import json
import os
import re
import secrets
import stat
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from functools import wraps
from inspect import signature
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, dataclass_transform
from zipfile import ZipFile

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from bayesbias.errors import CoverageWarning, InputError, many, shown, warn

if TYPE_CHECKING:
    from numpy.typing import NDArray

# what is packed may hold so many times its size, and so many bytes more; vectors hold a few times their size
TIMES, ROOM = 100, 1 << 26


def check_target(path: str | Path, suffixes: tuple[str, ...], what: str) -> Path:
    """The path to write to, checked before the work begins."""
    file = home_folder(path)
    if file.suffix not in suffixes and "".join(file.suffixes[-2:]) not in suffixes:
        raise InputError(f"cannot write {file.name}: {what} ends in {' or '.join(suffixes)}")
    if not file.parent.is_dir():
        raise InputError(f"cannot write {file.name}: there is no folder {file.parent}")
    return file


def home_folder(path: str | Path) -> Path:
    """The path with ``~`` expanded."""
    if not isinstance(path, str | Path) or not str(path).strip():
        raise InputError(f"{shown(path)} is no path: give the path of a file")
    return Path(path).expanduser()


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path to write to; it becomes ``path`` when the block ends without an error.

    A file that was there before keeps its permissions, and a link goes on to lead to its file. After an error nothing
    is left behind. What is read-only, or is no file, is refused with an OSError.
    """
    target = home_folder(path)
    place = target.resolve()
    temporary = place.with_name(f".{place.stem}-{secrets.token_hex(6)}{place.suffix}")
    try:
        if place.exists() and not (place.is_file() and place.stat().st_mode & 0o222):
            raise OSError("what is there is read-only, or no file (a folder, a device, a pipe): give another path")
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        yield temporary
        if place.exists():
            temporary.chmod(stat.S_IMODE(place.stat().st_mode))
        with temporary.open("rb+") as content:  # a crash must not leave an empty file under the name
            os.fsync(content.fileno())
        temporary.replace(place)
    except OSError as error:  # of the temporary file: the sentence is of the file that was asked for
        sentence = f"cannot write {target.name} in the folder {target.parent}: {error.strerror or error}"
        raise (OSError(error.errno, sentence) if error.errno else OSError(sentence)) from error
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write text as UTF-8, whole or not at all."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")


def to_json(value: object) -> str:
    """A value as JSON, letters as they are."""
    return json.dumps(value, ensure_ascii=False)


def from_json(text: str | bytes) -> Any:
    """The value of a JSON text; a ValueError where it is none."""
    return json.loads(text)


def check_unpacked(size: int, packed: int, where: str) -> None:
    """Refuse what would fill the memory: ``size`` bytes out of a file of ``packed`` bytes."""
    if size > TIMES * packed + ROOM:
        raise InputError(
            f"{where} unpacks to more than {TIMES} times its size, as no vectors do: it is damaged or made to fill the "
            "memory; unpack it yourself if you trust it"
        )


@contextmanager
def read_as(kind: str, where: str) -> Iterator[None]:
    """Whatever goes wrong while a file is read is one error that names it: damage raises a dozen kinds."""
    try:
        yield
    except (InputError, Warning):
        raise
    except Exception as error:  # readers of formats raise errors of any kind at damaged files
        reason = " ".join("".join(letter if letter.isprintable() else " " for letter in str(error)).split())
        raise InputError(f"{where} cannot be read as {kind}: {reason or type(error).__name__}") from error


@contextmanager
def archive_of(content: BinaryIO, where: str) -> Iterator[ZipFile]:
    """An .npz file."""
    with read_as(".npz", where), ZipFile(content) as archive:
        check_unpacked(sum(member.file_size for member in archive.infolist()), content.seek(0, os.SEEK_END), where)
        yield archive


def read_arrays(content: BinaryIO, where: str) -> dict[str, NDArray[Any]]:
    """The arrays of an .npz file."""
    from numpy.lib.format import read_array

    arrays = {}
    with archive_of(content, where) as archive:
        for name in archive.namelist():
            with archive.open(name) as member:
                arrays[name.removesuffix(".npy")] = read_array(member, allow_pickle=False)
    return arrays


class Document(BaseModel):
    """A part of a TOML file: immutable, and unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def file_at(path: str | Path, instead: str = "") -> Path:
    """The path of a file that is there: no folder, and no pipe or device, from which reading may never end."""
    file = home_folder(path)
    if not file.is_file():
        raise InputError(f"there is no file {file}" + (f": {instead}" if instead else ""))
    return file


def read_text(path: Path) -> str:
    """The content of a file in UTF-8, without a byte-order mark."""
    try:
        return file_at(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as text: {error}") from error


MOST_TOML = 2**25  # bytes: many times the longest list of words, and fewer than an embedding given in its place


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file."""
    return parse_toml(short_text(path, "TOML"), str(path))


def read_json(path: Path) -> Any:
    """The content of a JSON file."""
    with read_as("JSON", str(path)):
        return from_json(short_text(path, "JSON"))


def short_text(path: Path, kind: str) -> str:
    """The content of a file of a kind, unless it is far too long for one."""
    if (size := file_at(path).stat().st_size) > MOST_TOML:
        raise InputError(f"{path} is not a {kind} file, it has {size:,} bytes: is it an embedding?")
    return read_text(path)


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """The content of a TOML text; ``where`` names it in errors."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where} is not a TOML file: {error}") from error


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen[T](kind: type[T]) -> type[T]:
    """A frozen dataclass that is made of arguments, or of a TOML file by :func:`check`, under one set of rules.

    A validator raises a ValueError whose message goes on after the place of the value, such as ``is empty``, or an
    InputError with a whole sentence. What is wrong with arguments is one InputError.
    """
    made: Any = dataclass(kind, frozen=True, config=ConfigDict(extra="forbid"))
    arguments, validate = signature(made), made.__init__

    @wraps(validate)
    def checked_init(self: T, *args: Any, **options: Any) -> None:
        with _faults_named(kind):
            validate(self, **arguments.bind(*args, **options).arguments)

    made.__init__ = checked_init
    return made  # type: ignore[no-any-return]  # the class with its checks


def check[T](kind: type[T], content: object, where: str) -> T:
    """The content of a file as a document; ``where`` names the file in errors."""
    with _faults_named(kind, f"{where}: "):
        return TypeAdapter(kind).validate_python(content)


def checked(kind: Any, value: object, name: str) -> Any:
    """A value as an annotated type; ``name`` is that of the argument in errors."""
    with _faults_named(kind, name=name):
        return TypeAdapter(kind).validate_python(value)


@contextmanager
def _faults_named(kind: Any, before: str = "", name: str = "") -> Iterator[None]:
    """One InputError in place of the faults that validation finds."""
    try:
        yield
    except ValidationError as error:
        faults = [_sentence(kind, fault, [name] if name else []) for fault in error.errors()]
        said = before + "; ".join(faults)
        raise InputError("".join(letter if letter.isprintable() else " " for letter in said)) from error


def _sentence(kind: Any, fault: Any, place: list[str]) -> str:
    place = [*place, *map(str, fault["loc"])]
    key, cause = ".".join(place), fault.get("ctx", {}).get("error")
    if fault["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        for part in place[:-1]:  # to the document that holds the key
            known = kind.__pydantic_fields__.get(part)
            options = [known.annotation, *getattr(known.annotation, "__args__", ())] if known else []
            kind = next((one for one in options if hasattr(one, "__pydantic_fields__")), kind)
        return f"unknown key {key!r}; valid keys here are {', '.join(kind.__pydantic_fields__)}"
    if fault["type"] == "missing":
        return f"the key {key!r} is missing"
    if isinstance(cause, InputError):
        return f"{key}: {cause}" if key else str(cause)
    subject = f"a name in {'.'.join(place[:-2])}" if place[-1:] == ["[key]"] else key
    if isinstance(cause, ValueError):
        return f"{subject} {cause}"
    return f"{subject} is {shown(fault['input'])}: {fault['msg']}"


LOOKED_AT = 100  # lines of a table in text by which it is told what stands between its columns
SEPARATORS = ("\t", ";", ",", " ")
csv.field_size_limit(1 << 30)  # a cell may hold a text
QUOTED = re.compile(r'"((?:[^"]|"")+)"')


def lines_of(text: str) -> dict[int, str]:
    """The lines of a text that hold something, by number; they end in LF, CR or both."""
    return {number: line.strip() for number, line in enumerate(re.split("\r\n?|\n", text), 1) if line.strip()}


def cells_of(line: str, separator: str) -> list[str]:
    """The columns of a line of a table in text."""
    text = " ".join(line.split()) if separator == " " else line
    return [cell.strip() for cell in next(csv.reader([text], delimiter=separator, skipinitialspace=True), [])]


def separator_of(lines: Iterable[str], usual: str, reads: Callable[[str, str], bool]) -> str:
    """The mark between the columns of a table in text: that which most of its first lines fit."""
    first = list(islice(lines, LOOKED_AT))
    return max((usual, *SEPARATORS), key=lambda each: sum(reads(line, each) for line in first))


def numbers_columns(cells: Sequence[str], following: Sequence[str] = ()) -> bool:
    """True for a first line that numbers columns, 0, 1, 2, ... or 1, 2, ...; not where whole numbers follow, too."""
    whole = bool(following) and all(cell.lstrip("-").isdigit() for cell in following)
    return bool(cells) and not whole and list(cells) in [list(map(str, range(i, i + len(cells)))) for i in (0, 1)]


def are_quoted(words: Sequence[str]) -> bool:
    """True for words that a writer of tables put into quotes; a word may hold quotes of its own."""
    held = [word for word in words if '"' in word]
    doubled = any('""' in word[1:-1] for word in held) or len(held) == len(words) > 0
    return doubled and all(map(QUOTED.fullmatch, held))


def unquoted(words: Iterable[str]) -> list[str]:
    """Words without the quotes that a writer of tables put around them."""
    return [known[1].replace('""', '"') if (known := QUOTED.fullmatch(word)) else word for word in words]


def tell_passed_over(path: str | Path, lines: Mapping[int, str], lacking: str) -> None:
    """Warn of lines of a file that cannot be read."""
    if lines:
        number, line = next(iter(lines.items()))
        warn(
            f"{path}: {many(len(lines), 'line')} without {lacking} passed over, the first is line {number}: "
            f"{line[:60]!r}",
            CoverageWarning,
        )
