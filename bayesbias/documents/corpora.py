"""Documents with covariates, read one by one from tables, files and objects."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from bayesbias._support.arguments import several
from bayesbias._support.files import cells_of, home_folder, read_as, separator_of
from bayesbias.errors import InputError, listed, shown
from bayesbias.vectors.tables import arrow_of

WORDS = re.compile(r"[^\W_]+(?:['’‑-][^\W_]+)*")  # letters and figures, with hyphens and apostrophes within a word
LINES = (".jsonl", ".ndjson")
TABLES = (".csv", ".tsv", ".parquet")
ROWS = 1024  # rows of a file that are read together

type Row = Mapping[str, Any]


@dataclass(frozen=True)
class Documents:
    """Documents, read anew each time: tokens with the values of the covariates."""

    rows: Callable[[], Iterator[Row]]
    text: str
    covariates: tuple[str, ...]
    tokens_of: Callable[[str], Sequence[str]]
    repeated: frozenset[int] = frozenset()  # numbers of those that are left out, from 1

    def __iter__(self) -> Iterator[tuple[Sequence[str], tuple[Any, ...]]]:
        for number, row in enumerate(self.rows(), 1):
            if number not in self.repeated:
                text, tokens = row.get(self.text), list[Any]()
                if text is not None and text == text:
                    tokens = list(self.tokens_of(text)) if isinstance(text, str) else several(text)
                if odd := [token for token in tokens if not isinstance(token, str)]:
                    raise InputError(f"document {number} holds {shown(odd[0])}: a text is a string or a list of words")
                yield tokens, tuple(row.get(name) for name in self.covariates)

    def once(self, clusters: str) -> Documents:
        """Without texts that one speaker gave before, word for word."""
        seen, repeated = set[int](), set[int]()
        for number, row in enumerate(self.rows(), 1):
            text = row.get(self.text)
            if isinstance(text, str | Sequence) and text:
                own = hash((repr(row.get(clusters)), repr(text)))
                (repeated if own in seen else seen).add(number if own in seen else own)
        return replace(self, repeated=frozenset(repeated))


def lower_case(text: str) -> list[str]:
    """The words of a text in lower case."""
    return WORDS.findall(text.lower())


def documents_of(
    corpus: Any, text: str, covariates: Iterable[str] | None, clusters: str | None, tokens_of: Callable[[str], Any]
) -> Documents:
    """The documents of a DataFrame, a file, or an object that gives texts or rows."""
    rows, names = _rows_of(corpus, text)
    asked = [name for name in names if name != text] if covariates is None else list(covariates)
    asked = list(dict.fromkeys([*asked, *([clusters] if clusters else [])]))
    if missing := [name for name in [text, *asked] if name not in names]:
        raise InputError(f"the corpus has no column {missing[0]!r}: its columns are {listed(names)}")
    return Documents(rows, text, tuple(asked), tokens_of)


def _rows_of(corpus: Any, text: str) -> tuple[Callable[[], Iterator[Row]], list[str]]:
    """A function to an iterator over rows, and the names of their columns."""
    if isinstance(corpus, str | Path):
        path = home_folder(corpus)
        suffix = path.suffix.lower()
        if suffix not in (*LINES, *TABLES):
            raise InputError(f"{path}: a corpus is a file of JSON lines ({', '.join(LINES)}), {', '.join(TABLES)}")
        rows = _lines if suffix in LINES else partial(_table, text=text)
        return lambda: rows(path), list(map(str, next(rows(path), {})))
    if hasattr(corpus, "__arrow_c_stream__") or hasattr(corpus, "iloc"):
        table = arrow_of(corpus, "the corpus")
        return lambda: _by_batch(table.to_batches(ROWS)), table.column_names
    if isinstance(corpus, Iterator | Mapping | bytes):
        raise InputError(
            f"corpus is {shown(corpus)}, and it is read several times: give a list, a DataFrame, a path, or an object "
            "that begins anew each time"
        )
    first = next(iter(corpus), None)
    if isinstance(first, Mapping):
        return lambda: iter(corpus), list(map(str, first))
    return lambda: ({text: each} for each in corpus), [text]


def _by_batch(batches: Iterable[Any]) -> Iterator[Row]:
    for batch in batches:
        yield from batch.to_pylist()


def _lines(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8-sig") as stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                with read_as("an object of JSON", f"{path}, line {number}"):
                    yield {**json.loads(line)}


def _table(path: Path, text: str) -> Iterator[Row]:
    """Rows of a table; where semicolons stand between columns, numbers may have a decimal comma."""
    import pyarrow.csv as pc  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    with read_as("a table", str(path)):
        if path.suffix.lower() == ".parquet":
            yield from _by_batch(pq.ParquetFile(path).iter_batches(ROWS))
            return
        with path.open(encoding="utf-8-sig") as stream:
            usual = "\t" if path.suffix.lower() == ".tsv" else ","
            mark = separator_of([stream.readline()], usual, lambda line, each: text in cells_of(line, each) != [text])
        parse = pc.ParseOptions(delimiter=mark, newlines_in_values=True)
        missing = {"null_values": [""], "strings_can_be_null": True, "decimal_point": "," if mark == ";" else "."}
        convert = pc.ConvertOptions(column_types={text: "string"}, **missing)
        yield from _by_batch(pc.open_csv(path, parse_options=parse, convert_options=convert))
