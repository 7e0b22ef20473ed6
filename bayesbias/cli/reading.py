"""From the text of arguments to values: names, pairs, tables of others, embeddings and distance tables."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bayesbias as bb
from bayesbias.cli.options import TABLES, Cases
from bayesbias.cli.screen import working
from bayesbias.errors import InputError, many

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

    from bayesbias.numerics.arrays import FloatArray
    from bayesbias.words import WordLists


def lists_after(embedding: str, words: str) -> WordLists:
    """The word lists of a command in which the embedding comes first."""
    bundled = bb.list_embeddings()["name"].tolist()
    if words in bundled and embedding not in bundled:
        raise InputError(f"{words} is an embedding and comes first: give {words} {embedding}")
    if Path(embedding).suffix == ".toml":
        raise InputError(f"{embedding} is a word list and comes after the embedding: give EMBEDDING {embedding}")
    return bb.load_words(words)


SE = "se"
"""Name of a column of standard errors, or its end after the name of the values."""


def connections(text: str | None) -> tuple[str, str] | None:
    """Two connections, first and second."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 2 or not all(parts):
        raise InputError(f"--contrast {text}: give two connections with a comma between, such as associated,different")
    return parts[0], parts[1]


def named_values(option: str, given: list[str] | None) -> dict[str, Any] | None:
    """The NAME=VALUE arguments of an option as a mapping; None where there is none."""
    values: dict[str, Any] = {}
    for argument in given or []:
        name, _, value = argument.rpartition("=")
        if not name or not value:
            raise InputError(f"{option} {argument}: give NAME=VALUE, such as {option} 1990.vec=1990")
        if name in values:
            raise InputError(f"{option} {argument}: {name} is given twice")
        values[name] = value
    return values or None


def frequencies_of(given: list[str] | None) -> str | dict[str, str] | None:
    """Source of frequencies: one for all, or one for each embedding."""
    return given[0] if given and len(given) == 1 and "=" not in given[0] else named_values("--frequencies", given)


def words_or_list(text: str | None) -> list[str] | str | None:
    """Words with commas between, or the name of a list as it is."""
    return [word.strip() for word in text.split(",") if word.strip()] if text and "," in text else text


def extra_options(arguments: list[str], valid: Collection[str], owner: str) -> tuple[list[str], dict[str, Any]]:
    """Other arguments, and the options of the method or metric that a command runs: ``--name value`` among them."""
    others: list[str] = []
    options: dict[str, Any] = {}
    rest = iter(arguments)
    for other in rest:
        name, equals, value = other.partition("=")
        key = name.removeprefix("--").replace("-", "_")
        if not other.startswith("--"):
            others.append(other)
        elif key not in valid:
            known = ", ".join(f"--{each.replace('_', '-')}" for each in valid) or "none"
            raise InputError(f"there is no option {name} of {owner}: valid are {known}")
        elif key in options:
            raise InputError(f"{name} is given twice")
        # the value stands after the equals sign, or else is the next argument, whatever that is
        elif (value if equals else (value := next(rest, ""))) == "":
            raise InputError(f"{name} has no value: give one after it")
        else:
            options[key] = _literal(value)
    return others, options


def _literal(text: str) -> Any:
    """A number, True, False or None where it is one, else the text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def transform_of(path: Path) -> FloatArray:
    """The transform of à la carte vectors that the command documents wrote."""
    from bayesbias._support.files import file_at, read_arrays

    with file_at(path).open("rb") as content:
        arrays = read_arrays(content, str(path))
    if "transform" not in arrays:
        raise InputError(f"{path} holds no array 'transform': give the transform.npz that documents --out wrote")
    return arrays["transform"]


def values_by_word(path: Path) -> tuple[pd.Series, pd.Series | None]:
    """Outside values by word, and their standard errors where a file has them."""
    import numpy as np
    import pandas as pd
    from pandas.api.types import is_numeric_dtype

    from bayesbias._support.files import csv_table

    table = csv_table(path)
    if len(table.columns) not in (2, 3):
        hint = "; are they separated by semicolons? Write commas" if ";" in str(table.columns[0]) else ""
        raise InputError(
            f"{path} has {many(len(table.columns), 'column')}: give word, value and, where known, se{hint}"
        )
    if table.empty:
        raise InputError(f"{path} has no row below its header: give a word and its value in each")
    words = table.iloc[:, 0].map(str)
    if is_numeric_dtype(table.iloc[:, 0]) and pd.to_numeric(table.iloc[:, 1], errors="coerce").isna().all():
        raise InputError(
            f"{path}: the first column, {str(table.columns[0])!r}, holds numbers, and the second none: give word, "
            "value and, where known, se, in this order"
        )
    if words.duplicated().any():
        raise InputError(f"the word {words[words.duplicated()].iloc[0]!r} has two values: give each word once")
    for name in table.columns[1:]:
        wrong = np.flatnonzero(pd.to_numeric(table[name], errors="coerce").isna() & table[name].notna())
        if len(wrong):
            row = int(wrong[0])
            raise InputError(
                f"{path}, line {row + 2}, column {name!r}: {words[row]!r} has {table[name][row]!r}, which is no "
                "number; leave the cell empty where a value is not known"
            )
    value, *se = (table[name].set_axis(words) for name in table.columns[1:])
    if se and str(se[0].name).lower() not in (SE, f"{value.name}_{SE}".lower()):
        raise InputError(
            f"{path}, column {str(se[0].name)!r}: a third column has the standard errors of {str(value.name)!r}; name "
            f"it {SE!r} or {f'{value.name}_{SE}'!r} if it does, or leave it out"
        )
    return value, se[0] if se else None


def benchmarks(path: Path) -> dict[str, dict[str, float]]:
    """Benchmark to the scores of embeddings."""
    from bayesbias._support.files import csv_table

    table = csv_table(path)
    if "embedding" not in table or len(table.columns) < 2:
        raise InputError(
            f"{path} has the columns {', '.join(table.columns)}: give embedding and a column for each benchmark"
        )
    names = table.pop("embedding").astype(str)
    return {str(name): dict(zip(names, scores, strict=True)) for name, scores in table.items()}


def vectors(embedding: str, trust_pickle: bool) -> KeyedVectors:
    """The embedding, whole."""
    with working("reading the embedding"):
        return bb.load_embedding(embedding, trust_pickle=trust_pickle)


def embeddings_by_name(arguments: list[str], trust_pickle: bool, words: Any = None) -> dict[str, KeyedVectors]:
    """Short name to embedding, each given once; of some words where these are named."""
    if twice := [argument for argument in arguments if arguments.count(argument) > 1]:
        raise InputError(f"{twice[0]} is given twice: give each embedding once")
    named = zip(_short_names(arguments, lambda text: Path(text).name), arguments, strict=True)
    return {name: bb.load_embedding(argument, words=words, trust_pickle=trust_pickle) for name, argument in named}


def distance_tables(
    arguments: list[str], words: str | None, case: Cases, trust_pickle: bool, whole: bool = False
) -> tuple[dict[str, pd.DataFrame], list[KeyedVectors]]:
    """Name to distance table, read or measured, and the embeddings where all are; ``whole`` keeps every word."""
    ready = [argument.endswith(TABLES) for argument in arguments]
    if whole and len(arguments) != 2:
        raise InputError(f"--side-effects looks at two embeddings, given are {len(arguments)}")
    if whole and any(ready):
        raise InputError("--side-effects looks at two embeddings: give both as embeddings, not as tables")
    if words is None and not all(ready):
        raise InputError("embeddings are measured with word lists: give --words (see 'bayesbias lists')")
    if words is not None and all(ready):
        raise InputError("--words is for embeddings: distance tables have their words already")
    listed = None if words is None else bb.load_words(words)
    named = dict(zip(_apart(arguments), arguments, strict=True))
    files = {} if listed is None else {name: each for name, each in named.items() if not each.endswith(TABLES)}
    every: dict[str, Any] = {name: bb.read_distance_table(each) for name, each in named.items() if name not in files}
    loaded = []
    if listed is not None and files:
        # spellings other than those of the lists have ranks that the file's sample would not follow
        part = None if whole or case != "as-is" else listed
        kvs = _embeddings(files, part, trust_pickle)
        every |= bb.distance_tables(kvs, listed, case=case)
        loaded = list(kvs.values())
    return {name: every[name] for name in named}, loaded


def _embeddings(files: Mapping[str, str], part: WordLists | None, trust_pickle: bool) -> dict[str, KeyedVectors]:
    """Embeddings by name: the words of ``part`` with a sample of each vocabulary, or all words where it is None.

    All are read again as a whole where the samples share too few words to be compared.
    """
    from bayesbias.distances.covariances import ENOUGH
    from bayesbias.vectors.lookup import sample_of

    loaded = {}
    for name, argument in files.items():
        with working(f"reading {name}"):
            loaded[name] = bb.load_embedding(argument, part, trust_pickle)
    samples = [set(kv.index_to_key if (kept := sample_of(kv)) is None else kept.words) for kv in loaded.values()]
    if part is None or len(files) == 1 or len(set.intersection(*samples)) >= ENOUGH:
        return loaded
    for name, argument in files.items():
        with working(f"reading {name} as a whole"):
            loaded[name] = bb.load_embedding(argument, trust_pickle=trust_pickle)
    return loaded


def _apart(arguments: list[str]) -> list[str]:
    """Short names of embeddings and tables, numbered where two have the same."""
    names = _short_names(arguments, lambda text: Path(text).stem if text.endswith(TABLES) else Path(text).name)
    return [name if (n := names[:i].count(name)) == 0 else f"{name} ({n + 1})" for i, name in enumerate(names)]


def _short_names(arguments: list[str], short: Callable[[str], str]) -> list[str]:
    """Short names of files; the whole argument where two would have the same."""
    names = [short(argument) for argument in arguments]
    return [argument if names.count(name) > 1 else name for argument, name in zip(arguments, names, strict=True)]
