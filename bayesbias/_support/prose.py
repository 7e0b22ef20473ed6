"""The words of pages: templates of sentences and headings of tables, which stand in ``data/prose``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bayesbias._support.paths import shipped
from bayesbias._support.phrases import (
    difference,
    ends_of,
    excludes_zero,
    figure,
    hardly_changed,
    p_value,
    percent,
    rough_percent,
    share,
    share_of_draws,
    signed,
)
from bayesbias._support.results import FORMATS, Table, table_of
from bayesbias.errors import in_words, listed, many

if TYPE_CHECKING:
    import pandas as pd

FOLDER = shipped("data") / "prose"
WRITERS = (
    difference,
    ends_of,
    excludes_zero,
    figure,
    hardly_changed,
    in_words,
    listed,
    many,
    p_value,
    percent,
    rough_percent,
    share,
    share_of_draws,
    signed,
)


class Prose:
    """The macros of a file of templates, as functions from numbers and names to a text on one line.

    A number that is written and was not given is an error (``jinja2.UndefinedError``).
    """

    def __init__(self, page: str) -> None:
        self.page = page

    @cached_property
    def macros(self) -> Any:
        """The template, read when its first sentence is asked for."""
        from jinja2 import Environment, FileSystemLoader, StrictUndefined

        # plain text: HTML and Markdown pages escape it where they show it
        environment = Environment(loader=FileSystemLoader(FOLDER), undefined=StrictUndefined, finalize=_bare)  # noqa: S701
        environment.filters |= {each.__name__: each for each in WRITERS} | {"count": FORMATS["count"]}
        return environment.get_template(f"{self.page}.jinja").module

    @cached_property
    def columns(self) -> dict[str, dict[str, tuple[str, str]]]:
        """Columns by table: name in a DataFrame to heading and kind, one of ``FORMATS``."""
        tables = tomllib.loads((FOLDER / f"{self.page}.toml").read_text(encoding="utf-8"))
        return {table: {name: (heading, kind) for name, (heading, kind) in tables[table].items()} for table in tables}

    def __getattr__(self, macro: str) -> Callable[..., str]:
        written = getattr(self.macros, macro)
        return lambda **given: re.sub(r"[ \n]+", " ", written(**given)).strip()

    def table(self, name: str, frame: pd.DataFrame, /, **given: Any) -> Table:
        """A DataFrame with headings, below the caption that the macro ``name`` writes."""
        return table_of(getattr(self, name)(**given), frame, self.columns[name])


def _bare(value: object) -> object:
    """The text of a macro within a sentence without the line ends around it."""
    return value.strip("\n") if isinstance(value, str) else value
