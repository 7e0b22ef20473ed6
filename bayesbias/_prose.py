"""The words of pages: templates of sentences and headings of tables, which stand in ``data/prose``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bayesbias._paths import shipped
from bayesbias._phrases import difference, ends_of, excludes_zero, figure, percent, share, signed
from bayesbias._results import FORMATS, Table, table_of
from bayesbias.errors import listed, many

if TYPE_CHECKING:
    import pandas as pd

FOLDER = shipped("data") / "prose"
WRITERS = (difference, ends_of, excludes_zero, figure, listed, many, percent, share, signed)


class Prose:
    """The macros of one file of templates, as functions from numbers and names to a text on one line.

    A number that a macro writes and that was not given is an error (``jinja2.UndefinedError``).
    """

    def __init__(self, page: str) -> None:
        self.page = page

    @cached_property
    def macros(self) -> Any:
        """The template, read when its first sentence is asked for."""
        from jinja2 import Environment, FileSystemLoader, StrictUndefined

        environment = Environment(  # noqa: S701  # plain text
            loader=FileSystemLoader(FOLDER),
            undefined=StrictUndefined,
            # a macro within a sentence brings no blanks
            finalize=lambda value: value.strip("\n") if isinstance(value, str) else value,
        )
        environment.filters |= {"count": FORMATS["count"], **{each.__name__: each for each in WRITERS}}
        return environment.get_template(f"{self.page}.jinja").module

    @cached_property
    def columns(self) -> dict[str, dict[str, list[str]]]:
        """Columns by table: name in a DataFrame to heading and kind, one of ``FORMATS``."""
        return tomllib.loads((FOLDER / f"{self.page}.toml").read_text(encoding="utf-8"))

    def __getattr__(self, macro: str) -> Callable[..., str]:
        written = getattr(self.macros, macro)
        return lambda **given: re.sub(r"[ \n]+", " ", written(**given)).strip()

    def table(self, name: str, frame: pd.DataFrame, /, **given: Any) -> Table:
        """A DataFrame below the caption that the macro ``name`` writes, with the headings of that name."""
        columns = {column: (heading, kind) for column, (heading, kind) in self.columns[name].items()}
        return table_of(getattr(self, name)(**given), frame, columns)
