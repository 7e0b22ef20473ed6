"""Arguments that several commands take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias._files import home_folder

if TYPE_CHECKING:
    import pandas as pd

AUTO = "auto"
"""The model that a table allows; repeated here, since the engines load slowly."""


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
