"""Words and vectors in tables and in what other libraries hold: DataFrames, Parquet, CSV, TSV, JSON, spaCy."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BufferedReader
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesbias._support.files import are_quoted, check_unpacked, numbers_columns, read_as, unquoted
from bayesbias.errors import CoverageWarning, InputError, listed, many, shown, warn

WORD, VECTORS = "word", ("vector", "embedding")  # names of columns by which one of several is told
BATCH = 4096  # rows that are read together
VALUE = 4  # bytes of a value of Parquet in memory, at least
LARGEST = 1 << 24  # bytes of JSON in which a line must end
DELIMITERS = {".csv": ",", ".tsv": "\t"}
JSON = ".json"
SUFFIXES = (*DELIMITERS, JSON, ".jsonl", ".ndjson")
# how Arrow writes the types of columns
NUMBER, VECTOR = (re.compile(start + r"(u?int\d|halffloat|float|double)") for start in ("", r".*list<[^:]*: "))
LIST = re.compile(r"\s*\[\s*[-+.\d][^\[\]]*\]\s*")  # numbers in brackets, as NumPy and Python write them
QUOTED_LIST = re.compile(rb'"\s*\[\s*[-+.\d]')
WORDLESS = "give a file with a column of words, or load_embedding((words, matrix)) with words from elsewhere"
DECIMAL = re.compile(r"[-+]?(\d*\.\d+(e[-+]?\d+)?|\d+\.?e[-+]?\d+)", re.IGNORECASE)

type Rows = Iterator[tuple[list[str], NDArray[Any]]]
type Arrays = tuple[list[str], NDArray[Any], str]


def arrays_of(source: Any) -> Arrays | None:
    """Words, vectors (words, d) and a name for messages of what another library holds; None of what is not known."""

    def has(*names: str) -> bool:
        return all(hasattr(source, name) for name in names)

    if has("__arrow_c_stream__"):
        where = "the DataFrame" if has("iloc") else "the table"
        blocks = list(rows_of(arrow_of(source, where), where))
        words = [word for part, _ in blocks for word in part]
        vectors = np.concatenate([rows for _, rows in blocks]) if blocks else np.empty((0, 0))
    elif has("vocab", "pipe_names") or has("key2row") or has("vectors", "strings"):
        vocabulary = getattr(source, "vocab", source)
        held = getattr(vocabulary, "vectors", vocabulary)
        strings, where = getattr(vocabulary, "strings", None) or held.strings, "the vectors of spaCy"
        # words are kept by hash, and several may have one row
        known = {strings[key]: row for key, row in held.key2row.items() if key in strings}
        words, vectors = list(known), np.asarray(held.data)[list(known.values())]
    elif has("embedding", "tokens", "token_mapping"):
        words, where = list(source.tokens), "the model2vec model"
        size, rows, weights = len(words), source.token_mapping, source.weights
        # each token has a row of its own, or one that the mapping names
        vectors = source.embedding[:size] if rows is None else source.embedding[rows[:size]]
        if weights is not None:
            vectors = np.multiply(vectors, weights[:size, None], dtype=np.float32)
    elif isinstance(source, tuple | list) and len(source) == 2:
        words, vectors, where = list(source[0]), source[1], "the pair of words and vectors"
    else:
        return None
    return words, real_vectors(words, vectors, where), where


def real_vectors(words: Sequence[object], vectors: Any, where: str) -> NDArray[Any]:
    """Vectors as a matrix (words, d) of real numbers; the first that is no such row is named by its word."""
    if odd := [row for row, word in enumerate(words) if not isinstance(word, str)]:
        raise InputError(f"{where}: word {odd[0] + 1} is {shown(words[odd[0]])}, which is no text")
    matrix = _numbers(vectors)
    if matrix.ndim == 2 and matrix.dtype.kind in "fiu" and matrix.shape[1] and len(matrix) == len(words):
        return matrix
    for word, vector in zip(words, vectors, strict=False) if isinstance(vectors, list | tuple) else ():
        row, size = _numbers(vector), np.size(_numbers(vectors[0]))
        if row.ndim != 1 or row.dtype.kind not in "fiu" or not len(row) == size > 0:
            raise InputError(f"{where}: the vector of {word!r} is {shown(vector)}: give {size or 'some'} real numbers")
    raise InputError(
        f"{where} holds {many(len(words), 'word')} and an array of {matrix.dtype} with the shape {matrix.shape}: a row "
        "of real numbers for each word is needed"
    )


def _numbers(values: Any) -> NDArray[Any]:
    """Values as an array, empty where they are none."""
    try:
        return np.asarray(values)
    except (TypeError, ValueError):  # lists of several lengths
        return np.empty(0)


def arrow_of(frame: Any, where: str) -> Any:
    """A DataFrame of any library that exchanges data as Arrow does, as an Arrow table.

    Of pandas the index holds the words where no column does.
    """
    import pyarrow as pa  # type: ignore[import-untyped]
    from pandas.api.types import is_numeric_dtype

    with read_as("a table of text and real numbers", where):
        if not hasattr(frame, "iloc"):
            return pa.table(frame)
        named = frame.set_axis(frame.columns.map(str), axis=1)
        firsts = (next(iter(column), "") for _, column in named.items() if not is_numeric_dtype(column))
        if not (any(isinstance(cell, str) for cell in firsts) or is_numeric_dtype(frame.index)):
            named = named.reset_index(names=WORD)
        return pa.Table.from_pandas(named, preserve_index=False)


def rows_of_parquet(path: Path) -> Rows:
    """Words and vectors of a Parquet file, some rows at a time."""
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    with read_as("Parquet", str(path)):
        columns = _columns_of(
            pq.read_schema(path),
            str(path),
            lambda name: chain.from_iterable(batch.column(0).to_pylist() for batch in parquet_batches(path, [name])),
        )
        yield from _rows(parquet_batches(path, columns, BATCH), columns, str(path))


def parquet_batches(path: Path, columns: Sequence[str], rows: int = 1 << 16) -> Iterator[Any]:
    """The batches of some columns of a Parquet file; what would fill the memory is refused."""
    import pyarrow.parquet as pq

    file, packed, size = pq.ParquetFile(path), path.stat().st_size, 0
    check_unpacked(VALUE * file.metadata.num_rows * len(columns), packed, str(path))
    for batch in file.iter_batches(rows, columns=list(columns)):
        size += batch.nbytes
        check_unpacked(size, packed, str(path))
        batch.validate(full=True)
        yield batch


def rows_of_text(stream: BufferedReader, suffix: str, where: str) -> Rows:
    """Words and vectors of a text in a format that the end of a file's name tells."""
    import pyarrow as pa
    import pyarrow.json as lines  # type: ignore[import-untyped]

    with read_as(suffix[1:].upper(), where):
        if suffix in DELIMITERS:
            yield from _rows_of_csv(stream, DELIMITERS[suffix], where)
            return
        if suffix != JSON:
            yield from rows_of(lines.read_json(stream, read_options=lines.ReadOptions(block_size=LARGEST)), where)
        elif isinstance(content := json.loads(stream.read(), object_pairs_hook=_first_of_each), dict):
            parts = content.keys() == {"words", "vectors"}
            words, vectors = content.values() if parts else (list(content), list(content.values()))
            yield words, real_vectors(words, vectors, where)
        else:
            yield from rows_of(pa.Table.from_pylist(content), where)


def _first_of_each(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON with the first value of each key."""
    return dict(pairs) | dict(pairs[::-1])


def _rows_of_csv(stream: BufferedReader, delimiter: str, where: str) -> Rows:
    import pyarrow as pa
    import pyarrow.csv as csv_files  # type: ignore[import-untyped]

    # where lines end in CR alone, one is all
    lines = re.split(rb"\r\n?|\n", stream.peek(LARGEST), maxsplit=2)[:2]
    has_lists = any(map(QUOTED_LIST.search, lines))  # lists in quotes, which NumPy breaks into lines
    # a word may be a quotation mark, which files with tabs hold as it is
    quotes = '"' if delimiter == "," or has_lists else False
    how = {"delimiter": delimiter, "quoting": csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE}
    texts = [line.decode("utf-8-sig", "replace") for line in (*lines, b"")[:2]]
    head, second = (next(csv.reader([line], **how), []) for line in texts)  # type: ignore[arg-type]
    if len(head) == 1 and ";" in head[0]:
        raise InputError(f"{where} has ';' between columns: write commas there, and points in decimal numbers")
    named = is_header(head, second)
    names = (unquoted(head) if are_quoted(head) else head) if named else [str(place) for place in range(len(head))]
    # words may look like numbers; a column that only holds these must say that they are words
    kinds = {WORD if WORD in names else names[0]: pa.string()} if WORD in names or not named else {}
    table = csv_files.open_csv(
        stream,
        read_options=csv_files.ReadOptions(column_names=names, skip_rows=int(named), block_size=LARGEST),
        parse_options=csv_files.ParseOptions(delimiter=delimiter, quote_char=quotes, newlines_in_values=has_lists),
        convert_options=csv_files.ConvertOptions(column_types=kinds),
    )
    batches = iter(table)
    beginning = next(batches, None)
    columns = _columns_of(table.schema, where, lambda name: beginning.column(name).to_pylist() if beginning else [])
    rows = _rows((batch.select(columns) for batch in chain([beginning] if beginning else [], batches)), columns, where)
    written: bool | None = None
    for words, vectors in rows:
        # words lose the quotes that a writer put around them, if those that hold the first quotes have such
        if not quotes and written is None and any('"' in word for word in words):
            written = are_quoted(words)
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


def rows_of(table: Any, where: str) -> Rows:
    """Words and vectors of an Arrow table."""
    columns = _columns_of(table.schema, where, lambda name: table.column(name).to_pylist())
    return _rows(table.select(columns).to_batches(BATCH), columns, where)


def _columns_of(schema: Any, where: str, cells: Callable[[str], Iterable[Any]]) -> list[str]:
    """The column of words, and that of vectors or one column a dimension; cells of a column show what is no number."""

    def only(columns: Sequence[str], names: Sequence[str], what: str) -> str:
        named = [name for name in names if name in columns]
        if len(columns) != 1 and not named:
            held = f"the columns {listed(list(columns))} hold" if columns else f"none of {listed(schema.names)} holds"
            raise InputError(f"{where}: {held} {what}: call one {names[0]!r}; {WORDLESS}")
        return named[0] if named else columns[0]

    kinds = {field.name: str(field.type) for field in schema}
    texts = [name for name, kind in kinds.items() if "string" in kind and "list" not in kind]
    lists = [name for name in texts if LIST.fullmatch(next(filter(None, cells(name)), ""))] if len(texts) > 1 else []
    word = only([name for name in texts if name not in lists], (WORD,), "words (text)")
    others = [name for name in kinds if name != word]
    vectors = [name for name in others if VECTOR.match(kinds[name])] or lists
    if vectors or not others:
        return [word, only(vectors, VECTORS, "vectors (lists of numbers)")]
    if odd := [name for name in others if not NUMBER.match(kinds[name])]:
        values = enumerate(cells(odd[0]), 1)
        faults = ((row, each) for row, each in values if not (each is None or is_written_number(str(each))))
        row, value = next(faults, (1, kinds[odd[0]]))
        raise InputError(
            f"{where}: row {row} of the column {odd[0]!r} is {shown(value)}, no number: correct it, or leave the "
            "column out"
        )
    whole = [name for name in others if "int" in kinds[name]]
    if len(whole) < len(others) and whole:
        warn(
            f"{where}: {listed(whole)} hold whole numbers and the other columns do not: they are taken as dimensions; "
            "leave out what is none",
            CoverageWarning,
        )
    return [word, *others]


def _rows(batches: Iterable[Any], columns: Sequence[str], where: str) -> Rows:
    """Words and vectors of record batches of some columns, the first of which holds the words."""
    import pyarrow.compute as pc  # type: ignore[import-untyped]

    begin = 0
    for batch in filter(len, batches):
        for name, column in zip(columns[1:], batch.columns[1:], strict=True):
            if column.null_count:
                row = begin + column.is_null().to_pylist().index(True) + 1
                raise InputError(f"{where}: row {row} of the column {name!r} is missing; drop or fill it")
        words, column = batch.column(0).cast("string").fill_null("").to_pylist(), batch.column(1)
        if "string" in str(column.type):
            cells = [cell.strip().strip("[]").replace(",", " ").split() for cell in column.to_pylist()]
            lists = [[*map(float, parts)] if all(map(is_written_number, parts)) else parts for parts in cells]
            yield words, real_vectors(words, lists, where)
        elif not hasattr(column, "flatten"):
            yield words, np.column_stack([column.to_numpy(zero_copy_only=False) for column in batch.columns[1:]])
        else:
            sizes, numbers = set(pc.list_value_length(column).to_pylist()), column.flatten()
            even = len(sizes) == 1 and not numbers.null_count
            matrix = numbers.to_numpy(zero_copy_only=False).reshape(len(words), -1) if even else column.to_pylist()
            yield words, real_vectors(words, matrix, where)
        begin += len(words)
