"""From the text of arguments to values: names, embeddings and distance tables."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bayesbias as bb
from bayesbias.cli.options import TABLES, Cases
from bayesbias.cli.screen import working
from bayesbias.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

    from bayesbias.words import WordLists


def lists_after(embedding: str, words: str) -> WordLists:
    """The word lists of a command in which the embedding comes first."""
    bundled = bb.list_embeddings()["name"].tolist()
    if words in bundled and embedding not in bundled:
        raise InputError(f"{words} is an embedding and comes first: give {words} {embedding}")
    if Path(embedding).suffix == ".toml":
        raise InputError(f"{embedding} is a word list and comes after the embedding: give EMBEDDING {embedding}")
    return bb.load_words(words)


def extra_options(arguments: list[str], valid: Collection[str], owner: str) -> tuple[list[str], dict[str, Any]]:
    """Other arguments, and the options of the metric that a command runs: ``--name value`` among them."""
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
    from bayesbias.numerics.constants import ENOUGH
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
