"""From the text of arguments to values: files, bundled names, pairs, options of what a command runs."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bayesbias as bb
from bayesbias.cli.screen import working
from bayesbias.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

    from bayesbias.words import WordLists

TABLES = (".csv", ".parquet")


def prob(value: float) -> float:
    """A posterior mass."""
    from bayesbias._checks import probability

    return probability(value, "prob")


def one_of(name: str, *valid: str) -> Callable[[str], str]:
    """What reads one of several words."""

    def read(text: str) -> str:
        from bayesbias import _checks

        return _checks.one_of(text, valid, name)

    return read


def connections(text: str) -> tuple[str, str]:
    """Two connections, first and second."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 2 or not all(parts):
        raise InputError(f"--contrast {text}: give two connections with a comma between, such as associated,different")
    return parts[0], parts[1]


def named_values(option: str) -> Callable[[list[str]], dict[str, str] | None]:
    """What reads the NAME=VALUE arguments of an option as a mapping."""

    def read(arguments: list[str]) -> dict[str, str] | None:
        parts = {argument: argument.rpartition("=") for argument in arguments}
        if wrong := [argument for argument, (name, _, value) in parts.items() if not name or not value]:
            raise InputError(f"{option} {wrong[0]}: give NAME=VALUE, such as {option} 1990.vec=1990")
        values = {name: value for name, _, value in parts.values()}
        if len(values) < len(arguments):
            raise InputError(f"{option} {' '.join(arguments)}: a name is given twice")
        return values or None

    return read


def counts_of(given: list[str]) -> str | dict[str, str] | None:
    """Where frequencies come from: one source, or one for each embedding."""
    return given[0] if len(given) == 1 and "=" not in given[0] else named_values("--frequencies")(given)


def vectors(embedding: str, given: Mapping[str, Any]) -> KeyedVectors:
    """The embedding, whole."""
    with working("reading the embedding"):
        return bb.load_embedding(embedding, trust_pickle=given["trust_pickle"])


def embeddings(arguments: list[str], trust_pickle: bool, words: Any = None) -> dict[str, KeyedVectors]:
    """Short name to embedding, each given once; of some words where these are named."""
    named = zip(names_of(arguments), arguments, strict=True)
    return {name: bb.load_embedding(argument, words=words, trust_pickle=trust_pickle) for name, argument in named}


def centre_of(text: str) -> str | None:
    """What places are centred on; None is written as none."""
    return None if text == "none" else one_of("centre", "vocabulary", "words", "none")(text)


def words_or_list(text: str) -> list[str] | str:
    """Words with commas between, or the name of a list as it is."""
    return [word.strip() for word in text.split(",") if word.strip()] if "," in text else text


def table_or_name(text: str, _: Any = None) -> pd.DataFrame | str:
    """A distance table, or the name of a word list as it is."""
    return bb.read_distance_table(text) if text.endswith(TABLES) else text


def tables(arguments: list[str], given: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Name to distance table, of embeddings or files."""
    return measured(arguments, given["words"], given["case"], given["trust_pickle"])[0]


def measured(
    arguments: list[str], words: str | None = None, case: str = "as-is", trust_pickle: bool = False, whole: bool = False
) -> tuple[dict[str, pd.DataFrame], list[KeyedVectors]]:
    """Name to distance table, and the embeddings where all are."""
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
    every = {name: bb.read_distance_table(each) for name, each in named.items() if name not in files}
    loaded = []
    if listed is not None and files:
        # spellings other than those of the lists have ranks that the file's sample would not follow
        part = None if whole or case != "as-is" else listed
        kvs = _embeddings(files, part, trust_pickle)
        every |= bb.distance_tables(kvs, listed, case=case)  # type: ignore[arg-type]  # checked where used
        loaded = list(kvs.values())
    return {name: every[name] for name in named}, loaded


def _embeddings(files: Mapping[str, str], part: WordLists | None, trust_pickle: bool) -> dict[str, KeyedVectors]:
    """Embeddings by name: the words of ``part`` with a sample of each vocabulary, or all words where it is None.

    All are read again as a whole where the samples share too few words to be compared.
    """
    from bayesbias.distances.covariances import ENOUGH
    from bayesbias.embeddings.lookup import sample_of

    vectors = {}
    for name, argument in files.items():
        with working(f"reading {name}"):
            vectors[name] = bb.load_embedding(argument, part, trust_pickle)
    samples = [set(kv.index_to_key if (kept := sample_of(kv)) is None else kept.words) for kv in vectors.values()]
    if part is None or len(files) == 1 or len(set.intersection(*samples)) >= ENOUGH:
        return vectors
    for name, argument in files.items():
        with working(f"reading {name} as a whole"):
            vectors[name] = bb.load_embedding(argument, trust_pickle=trust_pickle)
    return vectors


def _apart(arguments: list[str]) -> list[str]:
    """Short names of embeddings, numbered where two have the same."""
    names = short_names(arguments, lambda text: Path(text).stem if text.endswith(TABLES) else Path(text).name)
    return [name if (n := names[:i].count(name)) == 0 else f"{name} ({n + 1})" for i, name in enumerate(names)]


def short_names(arguments: list[str], short: Callable[[str], str] = lambda argument: Path(argument).name) -> list[str]:
    """Short names of files; the whole argument where two would have the same."""
    names = [short(argument) for argument in arguments]
    return [argument if names.count(name) > 1 else name for argument, name in zip(arguments, names, strict=True)]


def names_of(arguments: list[str]) -> list[str]:
    """Short names of embeddings, each given once."""
    if twice := [argument for argument in arguments if arguments.count(argument) > 1]:
        raise InputError(f"{twice[0]} is given twice: give each embedding once")
    return short_names(arguments)


def csv_table(path: Path, **options: Any) -> pd.DataFrame:
    """A CSV file as a table."""
    import pandas as pd

    from bayesbias._files import home_folder

    try:
        table: pd.DataFrame = pd.read_csv(home_folder(path), **options)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is no CSV table: {error}") from error
    return table


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
