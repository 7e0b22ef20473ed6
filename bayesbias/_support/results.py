"""The presentation of every result, as data: a table, sentences, a figure, sources, and sections of a page.

Reports write them as HTML or Markdown, notebooks show their tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from html import escape
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from bayesbias._support.figures import drawing, drawing_of, unlisted
from bayesbias._support.phrases import figure, is_share_of_draws, p_value, share, signed
from bayesbias.errors import InputError, listed

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

FORMATS: dict[str, Callable[[Any], str]] = {
    "text": str,
    "number": signed,
    "figure": figure,
    "count": "{:,}".format,
    "plain": partial(signed, digits=2),
    "rate": "{:.1g}".format,
    "p": p_value,
    "share": share,
    "percent": "{:.0%}".format,
}
"""Kind of a column to how its values are written; a missing value is written as nothing."""
NAMED = ("quantity", "statistic")
"""Columns of tables whose values are names of the program."""
NAMES = {
    "residual_sd": "residual standard deviation",
    "r2": "R squared",
}
"""What tables for readers call these; others stand as they are."""


@dataclass(frozen=True)
class Table:
    """Rows below a caption."""

    caption: str
    columns: dict[str, str]  # heading to the kind of its values, one of FORMATS
    rows: Sequence[Sequence[Any]]

    def cells(self) -> list[list[str]]:
        """The rows as they are written."""
        import pandas as pd

        def written(kind: str, value: Any) -> str:
            # infinite numbers are not missing
            missing = value is None or value is pd.NA or (isinstance(value, float) and value != value)
            return "" if missing else FORMATS[kind](value)

        return [list(map(written, self.columns.values(), row)) for row in self.rows]


def table_of(caption: str, frame: pd.DataFrame, columns: dict[str, tuple[str, str]]) -> Table:
    """Columns of a DataFrame: name to heading and kind."""
    return Table(caption, dict(columns.values()), frame[list(columns)].astype(object).to_numpy().tolist())


def whole_table(caption: str, frame: pd.DataFrame) -> Table:
    """All columns of a DataFrame, written as their types and names ask for."""
    from pandas.api.types import is_bool_dtype, is_integer_dtype, is_numeric_dtype

    named = frame.rename(columns=str)
    columns = {}
    for name, column in named.items():
        named_p = "p" if name == "p_value" else "share" if is_share_of_draws(str(name)) else "figure"
        kind = "count" if is_integer_dtype(column) else named_p
        is_text = is_bool_dtype(column) or not is_numeric_dtype(column)
        columns[str(name)] = (str(name).replace("_", " "), "text" if is_text else kind)
    named = named.assign(**{name: named[name].replace(NAMES) for name in NAMED if name in named})
    for name in (name for name, (_, kind) in columns.items() if kind == "text"):
        named[name] = named[name].map(lambda value: listed(value) if isinstance(value, list | tuple) else value)
    texts = named.astype({name: "str" for name, (_, kind) in columns.items() if kind == "text"})
    return table_of(caption, texts.where(named.notna(), None), columns)


@dataclass(frozen=True)
class Picture:
    """A figure with a name that is unique on its page, a caption, and what a screen reader says.

    ``draw`` draws it, once, where it is looked at: a notebook shows tables only. ``photo`` says that it has very many
    points, and is shown as PNG.
    """

    name: str
    caption: str
    draw: Callable[[], Figure]
    spoken: str = ""
    photo: bool = False

    @cached_property
    def figure(self) -> Figure:
        """The figure."""
        with unlisted():
            return self.draw()


@dataclass(frozen=True)
class Code:
    """Text that is to be copied as it stands."""

    text: str


@dataclass(frozen=True)
class Items:
    """Paragraphs of a list."""

    items: Sequence[str]


Block = str | Table | Picture | Code | Items


@dataclass(frozen=True)
class Section:
    """A part of the page that can be folded."""

    title: str
    blocks: Sequence[Block]
    shut: bool = False  # whether it is folded at first


UNSAID = "What does it not say?"  # the last question of a first screen
TEXTS = "It is about the texts that the vectors were made from, not about people."


def unsaid(*sentences: str) -> dict[str, str]:
    """The last line of a first screen."""
    return {UNSAID: " ".join((TEXTS, *sentences))}


@dataclass(frozen=True)
class Page:
    """A report."""

    title: str  # the question
    lead: str  # what was measured to answer it
    answer: str  # the result in a sentence that needs no statistics
    lines: dict[str, str]  # question to its answer, below the figure
    picture: Picture | None  # the one figure of the first screen
    fault: str = ""  # why the result should not be read; empty if it can be
    sections: Sequence[Section] = field(default_factory=tuple)  # the details

    def pictures(self) -> list[Picture]:
        """All figures of the page."""
        blocks = [self.picture, *(block for section in self.sections for block in section.blocks)]
        return [block for block in blocks if isinstance(block, Picture)]


def filled(sections: Iterable[Section]) -> tuple[Section, ...]:
    """Sections that hold something."""
    kept = (Section(each.title, [block for block in each.blocks if block], each.shut) for each in sections)
    return tuple(each for each in kept if each.blocks)


class Cited(NamedTuple):
    """A work or an input that a result rests on, its origin in a few words, and its DOI, empty where there is none.

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
            """Limits of the result, a sentence each."""

    def table(self) -> pd.DataFrame:
        """The figures as a DataFrame."""
        raise NotImplementedError

    def findings(self) -> list[str]:
        """Findings of the result, a sentence each, without its notes."""
        raise NotImplementedError

    def text(self) -> str:
        """The result in sentences, notes last."""
        return " ".join([*self.findings(), *self.notes])

    def drawn_from(self) -> tuple[Any, dict[str, Any]]:
        """Arguments of the figure: the result, or a table and the options for it."""
        return self, {}

    def figure(self, **options: Any) -> Figure | None:
        """The figure of the result, by the options of its function in ``bayesbias.plots``; None where it has none."""
        drawn = None if self.picture is None else drawing_of(self.picture)
        valid = [] if drawn is None else list(signature(drawn).parameters)[1:]
        if unknown := [name for name in options if name not in valid]:
            picture = "has no figure" if self.picture is None else f"is drawn with {', '.join(valid) or 'no options'}"
            raise InputError(f"{unknown[0]} is no option: {title_of(self).lower()} {picture}")
        given, own = self.drawn_from()
        return None if self.picture is None else drawing(self.picture, given, **own | options)

    def sources(self) -> tuple[Any, ...]:
        """Sources to cite: works, and the tables, fits, lists and embeddings that the result was made of."""
        return ()

    def brief(self) -> pd.DataFrame:
        """The table as a paper prints it: :meth:`table`, or its principal rows."""
        return self.table()

    def sections(self) -> tuple[Section, ...]:
        """The parts of a report below its first screen."""
        return (Section("Figures", [whole_table(f"{title_of(self)}, all figures", self.table())]),)

    def front(self) -> Page:
        """The first screen of a report."""
        title = self._question()
        given, own = self.drawn_from()
        draw = partial(drawing, self.picture, given, **own) if self.picture else None
        drawn = None if draw is None else Picture("result", title, draw)
        return front_page(title, "", self.findings(), self.notes, drawn)

    def _question(self) -> str:
        """The title of a report."""
        return title_of(self)

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


def title_of(result: Result) -> str:
    """The name of a result's class as a heading."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(result).__name__).lower()
    return words[0].upper() + words[1:]


def _html(table: Table) -> str:
    """The first rows of a table for a notebook."""
    heading = "".join(f"<th>{escape(name)}</th>" for name in table.columns)
    most = 20
    rows = [f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in table.cells()[:most]]
    left = len(table.rows) - most
    more = f"<p>and {left:,} further rows, in the table that the result returns</p>" if left > 0 else ""
    body = f"<thead><tr>{heading}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return f"<table><caption>{escape(table.caption)}</caption>{body}</table>{more}"
