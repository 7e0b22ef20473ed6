"""Columns of tables in text: what stands between them, and whether a first line numbers them."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path

from bayesbias.errors import CoverageWarning, many, warn

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
