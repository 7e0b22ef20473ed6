"""Words and vectors in tables: DataFrames of any library, Parquet, CSV, TSV, JSON and lines of JSON."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from bayesbias._support.files import are_quoted, check_unpacked, numbers_columns, read_as, unquoted
from bayesbias.errors import CoverageWarning, InputError, listed, many, shown, warn

if TYPE_CHECKING:
    import pandas as pd

WORD, VECTORS = "word", ("vector", "embedding")  # names of columns by which one of several is told
BATCH = 4096  # rows that are read together
VALUE = 4  # bytes of a value of Parquet in memory, at least
LARGEST = 1 << 24  # bytes of JSON in which a line must end
DELIMITERS = {".csv": ",", ".tsv": "\t"}
JSON, JSON_LINES = ".json", (".jsonl", ".ndjson")
SUFFIXES = (*DELIMITERS, JSON, *JSON_LINES)
LIST = re.compile(r"\s*\[\s*[-+.\d][^\[\]]*\]\s*")  # numbers in brackets, as NumPy and Python write them
QUOTED_LIST = re.compile(rb'"\s*\[\s*[-+.\d]')
WORDLESS = "give a file with a column of words, or load_embedding((words, matrix)) with words from elsewhere"
DECIMAL = re.compile(r"[-+]?(\d*\.\d+(e[-+]?\d+)?|\d+\.?e[-+]?\d+)", re.IGNORECASE)

type Rows = Iterator[tuple[list[str], NDArray[Any]]]


def rows_of_frame(frame: Any, where: str) -> Rows:
    """Words and vectors of a DataFrame, of any library that exchanges data as Arrow does (PyCapsule interface).

    Of pandas the index holds the words where no column does.
    """
    return rows_of(arrow_of(frame, where), where)


def arrow_of(frame: Any, where: str) -> Any:
    """A DataFrame of any library as an Arrow table."""
    import pyarrow as pa  # type: ignore[import-untyped]

    try:
        if hasattr(frame, "iloc"):
            table = pa.Table.from_pandas(_with_words(frame), preserve_index=False)
        else:
            table = pa.table(frame)
    except (pa.ArrowException, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{where}{_odd_cell(_cells(frame), error)}") from error
    if hasattr(frame, "iloc"):
        _refuse_true(_cells(frame.loc[:, [str(kind) == "object" for kind in frame.dtypes]]), where)
    if not table.num_rows:
        raise InputError(f"{where} has no rows: give one for each word")
    return table


def _refuse_true(rows: Iterable[Mapping[str, Any]], where: str) -> None:
    """Refuse True and False among numbers, which Arrow reads as 1 and 0."""
    for number, row in enumerate(rows, 1):
        for name, cell in row.items():
            if isinstance(cell, bool | np.bool_) or holds_true(cell):
                raise InputError(
                    f"{where}: row {number} of the column {name!r} is {shown(cell)}, no number: correct it, or "
                    "leave the column out"
                )


def holds_true(cell: Any) -> bool:
    """True for a list in which True or False stands, which NumPy and Arrow read as 1 and 0 among numbers."""
    return isinstance(cell, list | tuple) and bool in map(type, cell)


def _cells(frame: Any) -> Iterator[dict[str, Any]]:
    """The rows of a DataFrame of pandas, as names and cells; columns of other libraries have one kind, and no rows."""
    if hasattr(frame, "iloc"):
        yield from (dict(zip(map(str, frame), row, strict=True)) for row in frame.itertuples(index=False, name=None))


def _odd_cell(rows: Iterable[Mapping[str, Any]], error: Exception) -> str:
    """Where rows first hold what is of another kind than the first cell of its column, or of none of Arrow's.

    What Arrow says of them where there is no such cell.
    """
    import pyarrow as pa

    first: dict[str, str] = {}
    for number, row in enumerate(rows, 1):
        for name, value in row.items():
            place = f": row {number} of the column {name!r} is {shown(value)}"
            try:
                kind = _kind(pa.array([value], from_pandas=True).type)
            except (pa.ArrowException, TypeError, ValueError):
                return f"{place}: give text and real numbers"
            if not kind.endswith("null") and first.setdefault(name, kind) != kind:
                return f"{place}, and others are {first[name]}: give text and real numbers"
    return f" cannot be read: {error}; give text and real numbers"


def _kind(of: Any) -> str:
    """Name of what a type of Arrow holds, in plain words; numbers of all types are one kind."""
    import pyarrow as pa

    if hasattr(of, "value_type"):
        return f"lists of {_kind(of.value_type)}"
    if pa.types.is_integer(of) or pa.types.is_floating(of):
        return "numbers"
    return "text" if pa.types.is_string(of) else str(of)


def _with_words(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with its index as a column of words, where only the index holds text."""
    from pandas.api.types import is_numeric_dtype

    if not frame.columns.is_unique:
        raise InputError(f"the DataFrame has two columns {frame.columns[frame.columns.duplicated()][0]!r}: keep one")
    named = frame.set_axis(frame.columns.map(str), axis=1)
    texts = [
        name
        for name, column in named.items()
        if not is_numeric_dtype(column) and isinstance(next(iter(column), ""), str)
    ]
    if texts or frame.index.nlevels > 1 or is_numeric_dtype(frame.index):
        return named
    return named.reset_index(names=WORD)


def rows_of_parquet(path: Path) -> Rows:
    """Words and vectors of a Parquet file, some rows at a time."""
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    with read_as("Parquet", str(path)):
        columns = _columns_of(
            pq.read_schema(path),
            str(path),
            lambda name: (cell for batch in parquet_batches(path, [name]) for cell in batch.column(0).to_pylist()),
        )
        yield from _rows(parquet_batches(path, columns, BATCH), columns, str(path))


def parquet_batches(path: Path, columns: Sequence[str], rows: int = 1 << 16) -> Iterator[Any]:
    """The batches of some columns of a Parquet file; what would fill the memory is refused before it is made."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema, packed = pq.read_schema(path), path.stat().st_size
    texts = [name for name in columns if pa.types.is_string(schema.field(name).type)]
    file = pq.ParquetFile(path, read_dictionary=texts)  # which holds a text once, however often it occurs
    check_unpacked(VALUE * file.metadata.num_rows * len(columns), packed, str(path))
    size = letters = 0
    for group in range(file.num_row_groups):
        # what it says of columns ends Python where it is damaged
        size += file.metadata.row_group(group).total_byte_size
        check_unpacked(size, packed, str(path))
        held = file.read_row_group(group, texts)
        letters += sum(_letters(chunk) for name in texts for chunk in held[name].chunks)
        check_unpacked(letters, packed, str(path))
    size = 0
    for batch in pq.ParquetFile(path).iter_batches(rows, columns=list(columns)):
        size += batch.nbytes
        check_unpacked(size, packed, str(path))
        batch.validate(full=True)
        yield batch


def _letters(column: Any) -> int:
    """Bytes of all texts of a column that is a dictionary."""
    ends = np.frombuffer(column.dictionary.buffers()[1], dtype=np.int32)[column.dictionary.offset :]
    codes = column.indices.drop_null().to_numpy()
    return int((ends[codes + 1] - ends[codes]).sum(dtype=np.int64))


def rows_of_text(stream: BinaryIO, suffix: str, where: str) -> Rows:
    """Words and vectors of a text in a format that the end of a file's name tells."""
    with read_as(suffix[1:].upper(), where):
        if suffix in DELIMITERS:
            yield from _rows_of_csv(stream, DELIMITERS[suffix], where)
        elif suffix == JSON:
            content = json.loads(stream.read(), object_pairs_hook=partial(_first_of_each, where))
            yield from _rows_of_json(content, where)
        else:
            import pyarrow as pa
            import pyarrow.json as lines  # type: ignore[import-untyped]

            try:
                table = lines.read_json(stream, read_options=lines.ReadOptions(block_size=LARGEST))
            except pa.ArrowInvalid as error:
                stream.seek(0)
                raise InputError(f"{where}{_odd_cell(_objects(stream, where), error)}") from error
            yield from rows_of(table, where)


def _objects(lines: Iterable[bytes], where: str) -> Iterator[dict[str, Any]]:
    """The objects of JSON that lines hold, one each."""
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line) if line.strip() else {}
        except ValueError as error:
            raise InputError(f"{where}: line {number} is no JSON: {error}") from error
        if not isinstance(row, dict):
            raise InputError(f"{where}: line {number} is {shown(row)}: give an object with a word and its vector")
        yield row


def _rows_of_csv(stream: BinaryIO, delimiter: str, where: str) -> Rows:
    import pyarrow as pa
    import pyarrow.csv as csv_files  # type: ignore[import-untyped]

    # where lines end in CR alone, one is all
    lines = re.split(rb"\r\n?|\n", stream.readline(LARGEST) + stream.readline(LARGEST))[:2]
    listed = any(map(QUOTED_LIST.search, lines))  # lists in quotes, which NumPy breaks into lines
    # a word may be a quotation mark, which files with tabs hold as it is
    quotes = '"' if delimiter == "," or listed else False
    how = {"delimiter": delimiter, "quoting": csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE}
    texts = [line.decode("utf-8-sig", "replace") for line in (*lines, b"")[:2]]
    head, second = (next(csv.reader([line], **how), []) for line in texts)  # type: ignore[arg-type]
    if not head:
        raise InputError(f"{where} is empty: its first line names the columns, or holds a word and its numbers")
    if len(head) == 1 and ";" in head[0]:
        raise InputError(f"{where} has ';' between columns: write commas there, and points in decimal numbers")
    named = is_header(head, second)
    names = (unquoted(head) if are_quoted(head) else head) if named else [str(place) for place in range(len(head))]
    # words may look like numbers; a column that only holds these must say that they are words
    kinds = {WORD if WORD in names else names[0]: pa.string()} if WORD in names or not named else {}
    stream.seek(0)
    table = csv_files.open_csv(
        stream,
        read_options=csv_files.ReadOptions(column_names=names, skip_rows=int(named), block_size=LARGEST),
        parse_options=csv_files.ParseOptions(delimiter=delimiter, quote_char=quotes, newlines_in_values=listed),
        convert_options=csv_files.ConvertOptions(column_types=kinds),
    )
    batches = iter(table)
    beginning = next(batches, None)
    columns = _columns_of(
        table.schema, where, lambda name: [] if beginning is None else beginning.column(name).to_pylist()
    )
    rows = _rows((batch.select(columns) for batch in chain([beginning] if beginning else [], batches)), columns, where)
    yield from rows if quotes else _without_quotes(rows)


def _without_quotes(rows: Rows) -> Rows:
    """Rows whose words lose the quotes that a writer put around them, if those that hold the first quotes have such."""
    written: bool | None = None
    for words, vectors in rows:
        written = are_quoted(words) if written is None and any('"' in word for word in words) else written
        yield unquoted(words) if written else words, vectors


def is_header(first: Sequence[str], second: Sequence[str]) -> bool:
    """True for a first line of a table that names or numbers its columns, in place of a word and its vector."""
    word, *cells = first or [""]
    if not cells or not all(is_written_number(cell) or LIST.fullmatch(cell) for cell in cells):
        return True
    if word in ("", WORD):
        return numbers_columns(cells)
    return len(cells) > 1 and bool(second) and numbers_columns(cells, second[1:])


def refuse_numbers(words: Sequence[str], where: str) -> None:
    """Refuse vectors without words, whose first numbers were read as words."""
    if words and all(map(DECIMAL.fullmatch, words)):
        raise InputError(
            f"{where} has no words: its first column holds decimal numbers, such as {words[0]}; {WORDLESS}"
        )


def is_written_number(text: str | bytes) -> bool:
    """True for a number as files write it."""
    try:
        float(text)
    except ValueError:
        return False
    return ("_" if isinstance(text, str) else b"_") not in text  # type: ignore[operator]  # Python reads 1_0 as 10


def _first_of_each(where: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON with the first value of each key."""
    held = dict(reversed(pairs))
    if len(held) < len(pairs):
        again = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        warn(f"{where} has {shown(again)} more than once in an object; the first is kept", CoverageWarning)
        return dict(reversed(held.items()))
    return dict(pairs)


def _rows_of_json(content: object, where: str) -> Rows:
    """A mapping of words to vectors, one of ``words`` and ``vectors``, or a list of rows with names."""
    import pyarrow as pa

    if isinstance(content, dict):
        parts = content.keys() == {"words", "vectors"}
        words, vectors = (content["words"], content["vectors"]) if parts else (list(content), list(content.values()))
        if not (isinstance(words, list) and isinstance(vectors, list) and len(words) == len(vectors) > 0):
            raise InputError(f"{where} holds {shown(words)} and {shown(vectors)}: give as many vectors as words")
        yield words, real_vectors(words, vectors, where)
        return
    if not isinstance(content, list) or not all(isinstance(row, dict) for row in content):
        raise InputError(
            f"{where} holds {shown(content)}: an embedding in JSON is an object of words and their lists of numbers, "
            "or a list of objects with a word and its vector"
        )
    try:
        table = pa.Table.from_pylist(content)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InputError(f"{where}{_odd_cell(content, error)}") from error
    _refuse_true(content, where)
    yield from rows_of(table, where)


def rows_of(table: Any, where: str) -> Rows:
    """Words and vectors of an Arrow table."""
    columns = _columns_of(table.schema, where, lambda name: table.column(name).to_pylist())
    return _rows(table.select(columns).to_batches(BATCH), columns, where)


def _columns_of(schema: Any, where: str, cells: Callable[[str], Iterable[Any]]) -> list[str]:
    """The column of words, and that of vectors or one column a dimension; cells of a column show what is no number."""
    import pyarrow as pa

    is_of = pa.types

    def is_text(kind: Any) -> bool:
        kind = kind.value_type if is_of.is_dictionary(kind) else kind
        return bool(is_of.is_string(kind) or is_of.is_large_string(kind) or is_of.is_string_view(kind))

    def is_number(kind: Any) -> bool:
        return bool(is_of.is_floating(kind) or is_of.is_integer(kind))

    def is_vector(kind: Any) -> bool:
        is_list = is_of.is_list(kind) or is_of.is_large_list(kind) or is_of.is_fixed_size_list(kind)
        return is_list and is_number(kind.value_type)

    texts = [field.name for field in schema if is_text(field.type)]
    lists = [name for name in texts if _holds_lists(cells(name))] if len(texts) > 1 else []
    word = _only([name for name in texts if name not in lists], (WORD,), "words (text)", schema, where)
    vectors = [field.name for field in schema if is_vector(field.type)] or lists
    if vectors:
        return [word, _only(vectors, VECTORS, "vectors (lists of numbers)", schema, where)]
    others = [field for field in schema if field.name != word]
    if odd := [field for field in others if not is_number(field.type)]:
        name = odd[0].name
        for row, value in enumerate(cells(name), 1):
            if value is not None and not (isinstance(value, str) and is_written_number(value)):
                what = "not real numbers" if isinstance(value, list) else "no number"
                raise InputError(
                    f"{where}: row {row} of the column {name!r} is {shown(value)}, {what}: correct it, or leave the "
                    "column out"
                )
        raise InputError(f"{where}: the column {name!r} holds {odd[0].type}, not numbers: leave it out or convert it")
    if not others:
        raise InputError(f"{where} has the column {word!r} alone: a column of lists, or one a dimension, is needed")
    whole = [field.name for field in others if is_of.is_integer(field.type)]
    if len(whole) < len(others) and whole:
        warn(
            f"{where}: {listed(whole)} hold whole numbers and the other columns do not: they are taken as dimensions; "
            "leave out what is none",
            CoverageWarning,
        )
    return [word, *(field.name for field in others)]


def real_vectors(words: Sequence[object], vectors: Iterable[Any], where: str) -> NDArray[Any]:
    """The matrix of vectors that were given one by one, each of a word and as long as the first."""
    rows: list[NDArray[Any]] = []
    for word, vector in zip(words, vectors, strict=True):
        if not isinstance(word, str):
            raise InputError(f"{where}: word {len(rows) + 1} is {shown(word)}, which is no text")
        place = f"{where}: the vector of {word!r}"
        try:
            row = np.asarray(vector)
        except (TypeError, ValueError):  # lists of several lengths
            row = np.empty((0, 0))
        if row.ndim != 1 or row.dtype.kind not in "fiu" or not len(row) or holds_true(vector):
            raise InputError(f"{place} is {shown(vector)}: give real numbers in a list, one at least")
        if rows and len(row) != len(rows[0]):
            raise InputError(f"{place} has {many(len(row), 'number')}, and the first has {len(rows[0])}: give as many")
        rows.append(row)
    return np.array(rows) if rows else np.empty((0, 0))


def _only(columns: Sequence[str], names: Sequence[str], what: str, schema: Any, where: str) -> str:
    """The one column of a kind, or that of some name."""
    named = [name for name in names if name in columns]
    if len(columns) == 1 or named:
        return named[0] if named else columns[0]
    if columns:
        raise InputError(f"{where}: the columns {listed(list(columns))} hold {what}: call one of them {names[0]!r}")
    raise InputError(f"{where} has the columns {listed(schema.names)}, and none holds {what}: {WORDLESS}")


def _rows(batches: Iterable[Any], columns: Sequence[str], where: str) -> Rows:
    """Words and vectors of record batches of some columns, the first of which holds the words."""
    begin, dimensions = 0, None
    for batch in batches:
        for name, column in zip(columns[1:], batch.columns[1:], strict=True):
            _refuse_missing(column, name, begin, where)
        words = batch.column(0).cast("string").fill_null("").to_pylist()
        if "string" in str(batch.column(1).type):
            vectors = real_vectors(words, map(_written_list, batch.column(1).to_pylist()), where)
        elif len(columns) > 2 or not hasattr(batch.column(1), "flatten"):
            vectors = np.column_stack([column.to_numpy(zero_copy_only=False) for column in batch.columns[1:]])
        else:
            vectors, dimensions = _listed(batch.column(1), words, dimensions, begin, where)
        if len(words):
            yield words, vectors
        begin += len(words)


def _holds_lists(cells: Iterable[str | None]) -> bool:
    """True where the first cell of a column of text is a list of numbers."""
    return LIST.fullmatch(next(filter(None, cells), "")) is not None


def _written_list(text: str) -> object:
    """The numbers of a list that is written as text; the text itself where it holds others."""
    parts = text.strip().strip("[]").replace(",", " ").split()
    return list(map(float, parts)) if all(map(is_written_number, parts)) else text


def _refuse_missing(column: Any, name: str, begin: int, where: str) -> None:
    if column.null_count:
        row = begin + column.is_null().to_pylist().index(True)
        raise InputError(f"{where}: row {row + 1} of the column {name!r} is missing; drop or fill it")


def _listed(
    column: Any, words: Sequence[str], dimensions: int | None, begin: int, where: str
) -> tuple[NDArray[Any], int | None]:
    """The vectors of a column of lists, all of one length."""
    lengths = (
        np.diff(column.offsets.to_numpy())
        if hasattr(column, "offsets")
        else np.full(len(column), column.type.list_size)
    )
    numbers = column.flatten()
    if numbers.null_count:
        row = int(np.searchsorted(np.cumsum(lengths), numbers.is_null().to_pylist().index(True), side="right"))
        raise InputError(f"{where}: the vector of {words[row]!r} (row {begin + row + 1}) lacks a number")
    if not len(lengths):
        return np.empty((0, dimensions or 0)), dimensions
    dimensions = int(lengths[0]) if dimensions is None else dimensions
    if (lengths != dimensions).any() or not dimensions:
        row = int(np.argmax(lengths != dimensions))
        raise InputError(
            f"{where}: the vector of {words[row]!r} (row {begin + row + 1}) has {lengths[row]} numbers, and the first "
            f"has {dimensions}: all need as many, and one at least"
        )
    return numbers.to_numpy(zero_copy_only=False).reshape(len(words), dimensions), dimensions
