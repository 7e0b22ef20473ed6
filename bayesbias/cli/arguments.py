"""Arguments that several commands take."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesbias.cli import names

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

AUTO = "auto"
"""The model that a table allows; repeated here, since the engines load slowly."""


EmbeddingName = Annotated[
    str, typer.Argument(help="A bundled name or the path of an embedding file.", autocompletion=names.embeddings)
]
WordsName = Annotated[
    str, typer.Argument(help="A bundled word list or the path of a TOML file.", autocompletion=names.word_lists)
]
TrustPickle = Annotated[bool, typer.Option(help="Open a pickle; that runs the code in it.")]
EXTRA = {"allow_extra_args": True, "ignore_unknown_options": True}
"""Settings of a command that takes the options of what it runs, as ``--name value``."""


def extra_options(arguments: list[str], valid: Collection[str], owner: str) -> tuple[list[str], dict[str, Any]]:
    """Other arguments, and the options of the method or metric that a command runs: ``--name value`` among them.

    Raises
    ------
    InputError
        A name that is not valid, or one without a value.
    """
    from bayesbias.errors import InputError

    others: list[str] = []
    found: dict[str, Any] = {}
    rest = iter(arguments)
    for one in rest:
        name, given, value = one.partition("=")
        key = name.removeprefix("--").replace("-", "_")
        if not one.startswith("--"):
            others.append(one)
        elif key not in valid:
            known = ", ".join(f"--{each.replace('_', '-')}" for each in valid) or "none"
            raise InputError(f"there is no option {name} of {owner}: valid are {known}")
        elif (value if given else (value := next(rest, ""))) == "":
            raise InputError(f"{name} has no value: give one after it")
        else:
            found[key] = _literal(value)
    return others, found


def _literal(text: str) -> Any:
    """A number, True, False or None where it is one, else the text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def home_folder(path: str | Path) -> Path:
    """A path with the home folder in place of ~; what reads files loads only now, since help needs none of it."""
    from bayesbias import _files

    return _files.home_folder(path)


def check_target(path: str | Path, suffixes: Collection[str], what: str) -> None:
    """Refuse to begin where a file could not be written; see :func:`home_folder` on when this loads."""
    from bayesbias import _files

    _files.check_target(path, tuple(suffixes), what)


def check_targets(out: Path | None, picture: Path | None) -> None:
    """Refuse to begin where a table or a picture could not be written."""
    for path, suffix, what in ((out, ".csv", "a table"), (picture, ".png", "a picture")):
        if path is not None:
            check_target(path, (suffix,), what)


def save_report(result: Any, path: Path | None, **how: Any) -> None:
    """A page on a result, where one is asked for."""
    if path is not None:
        from bayesbias.cli.screen import say
        from bayesbias.reporting.page import report

        say(f"report written to {report(result, path, **how)}")


def check_report(path: Path | None) -> None:
    """Refuse to begin where a page could not be written."""
    if path is not None:
        check_target(path, (".html", ".htm", ".md"), "a report")


def save_picture(figure: Figure, path: Path) -> None:
    """A picture as .png, whole or not at all."""
    from bayesbias._files import whole_file

    with whole_file(path) as temporary:
        figure.savefig(temporary, dpi=150, format="png")


def short_names(arguments: list[str], short: Callable[[str], str] = lambda one: Path(one).name) -> list[str]:
    """Short names of files; the whole argument where two would have the same."""
    names = [short(one) for one in arguments]
    return [one if names.count(name) > 1 else name for one, name in zip(arguments, names, strict=True)]


def names_of(arguments: list[str]) -> list[str]:
    """Short names of embeddings, each given once.

    Raises
    ------
    InputError
        One is given twice.
    """
    from bayesbias.errors import InputError

    if twice := [one for one in dict.fromkeys(arguments) if arguments.count(one) > 1]:
        raise InputError(f"{twice[0]} is given twice: give each embedding once")
    return short_names(arguments)


def csv_table(path: Path, **options: Any) -> pd.DataFrame:
    """A CSV file as a table.

    Raises
    ------
    InputError
        It is none.
    """
    import pandas as pd

    from bayesbias.errors import InputError

    try:
        table: pd.DataFrame = pd.read_csv(home_folder(path), **options)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is no CSV table: {error}") from error
    return table
