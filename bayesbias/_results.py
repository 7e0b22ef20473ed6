"""What every result presents: figures, sentences, a figure, its sources, and sections of a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from html import escape
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from bayesbias._page import Page, Picture, Section, Table, filled, unsaid, whole_table
from bayesbias.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


MOST_ROWS = 20  # rows of a table that a notebook shows


class Cited(NamedTuple):
    """What was used, where it comes from in a few words, and its DOI, empty where there is none.

    ``what`` is a kind and a name, such as ``"embedding google-news-slice"``; for what the package knows by name
    ``source`` and ``doi`` may be left to :func:`bayesbias.cite`.
    """

    what: str
    source: str = ""
    doi: str = ""


class Result:
    """A result: ``table()`` has its figures, ``notes`` what limits them, ``text()`` both in sentences.

    ``figure()`` is its figure, ``sources()`` what stands behind it, and ``sections()`` are the parts of its report.
    Reports, LaTeX, citations, notebooks and the command line read these and nothing else. ``print`` shows the text, and
    a notebook the text and the tables of the sections.
    """

    picture: ClassVar[str | None] = None  # name of the function of ``bayesbias.plots`` that draws the result

    if TYPE_CHECKING:

        @property
        def notes(self) -> tuple[str, ...]:
            """What limits the result."""

    def table(self) -> pd.DataFrame:
        """The figures as a DataFrame."""
        raise NotImplementedError

    def findings(self) -> list[str]:
        """What the result says, a sentence each, without its notes."""
        raise NotImplementedError

    def text(self) -> str:
        """The result in sentences, notes last."""
        return " ".join([*self.findings(), *self.notes])

    def figure(self, **options: Any) -> Figure | None:
        """The figure of the result, by the options of its function in ``bayesbias.plots``; None where it has none."""
        valid = () if self.picture is None else _options_of(self.picture)
        if unknown := [name for name in options if name not in valid]:
            picture = "has no figure" if self.picture is None else f"is drawn with {', '.join(valid) or 'no options'}"
            raise InputError(f"{unknown[0]} is no option: {title_of(self).lower()} {picture}")
        return None if self.picture is None else drawing(self.picture, self, **options)

    def sources(self) -> tuple[Any, ...]:
        """What to cite: works, and the tables, fits, lists and embeddings that the result was made of."""
        return ()

    def brief(self) -> pd.DataFrame:
        """The table as a paper prints it: :meth:`table`, or its principal rows."""
        return self.table()

    def sections(self) -> tuple[Section, ...]:
        """The parts of a report below its first screen."""
        return (Section("Figures", [whole_table(f"{title_of(self)}, all figures", self.table())]),)

    def front(self) -> Page:
        """The first screen of a report."""
        title = title_of(self)
        drawn = None if self.picture is None else Picture("result", title, partial(drawing, self.picture, self))
        return front_page(title, "", self.findings(), self.notes, drawn)

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        paragraphs = (" ".join(self.findings()), " ".join(self.notes))
        tables = [block for part in filled(self.sections()) for block in part.blocks if isinstance(block, Table)]
        return "".join([*(f"<p>{escape(paragraph)}</p>" for paragraph in paragraphs if paragraph), *map(_html, tables)])


def front_page(
    title: str, lead: str, findings: Sequence[str], notes: Sequence[str], picture: Picture | None, *silent: str
) -> Page:
    """A first screen of sentences: the first is the answer, the others and the notes follow; ``silent`` ends it."""
    lines = {"In detail": " ".join(findings[1:]), "What limits it?": " ".join(notes), **unsaid(*silent)}
    return Page(title, lead, findings[0], {name: line for name, line in lines.items() if line}, picture)


def _options_of(picture: str) -> tuple[str, ...]:
    """What a function of ``bayesbias.plots`` takes beside the result."""
    return tuple(signature(getattr(import_module("bayesbias.plots"), picture)).parameters)[1:]


def drawing(picture: str, *given: Any, **options: Any) -> Figure:
    """A figure by the name of its function; figures know what they draw, and this door is the one way back."""
    figure: Figure = getattr(import_module("bayesbias.plots"), picture)(*given, **options)
    return figure


def title_of(result: Result) -> str:
    """The name of a result's class as a heading."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(result).__name__).lower()
    return words[0].upper() + words[1:]


def _html(table: Table) -> str:
    """The first rows of a table for a notebook."""
    heading = "".join(f"<th>{escape(name)}</th>" for name in table.columns)
    rows = [f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in table.cells()[:MOST_ROWS]]
    left = len(table.rows) - MOST_ROWS
    more = f"<p>and {left:,} further rows, in the table that the result returns</p>" if left > 0 else ""
    body = f"<thead><tr>{heading}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return f"<table><caption>{escape(table.caption)}</caption>{body}</table>{more}"
