"""What a result has to show, as data: sentences, tables and figures in sections; a page is a first screen and these.

Reports write them as HTML or Markdown, notebooks show their tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bayesbias._phrases import figure, is_share_of_draws, share, signed

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

FORMATS: dict[str, Callable[[Any], str]] = {
    "text": str,
    "number": signed,
    "figure": figure,
    "count": "{:,}".format,
    "plain": "{:.2f}".format,
    "rate": "{:.1g}".format,
    "share": share,
    "percent": "{:.0%}".format,
}
"""Kind of a column to how its values are written; a missing value is written as nothing."""


@dataclass(frozen=True)
class Table:
    """Rows below a caption.

    Attributes
    ----------
    caption
        What the rows are.
    columns
        Heading to the kind of its values, one of :data:`FORMATS`.
    rows
        Values in the order of the columns.
    """

    caption: str
    columns: dict[str, str]
    rows: Sequence[Sequence[Any]]

    def cells(self) -> list[list[str]]:
        """The rows as they are written."""
        writers = [FORMATS[kind] for kind in self.columns.values()]
        return [
            ["" if _is_missing(value) else write(value) for write, value in zip(writers, row, strict=True)]
            for row in self.rows
        ]


def _is_missing(value: Any) -> bool:
    """Whether a cell has no value; infinite numbers have one."""
    import pandas as pd

    return value is None or value is pd.NA or (isinstance(value, float) and value != value)


def table_of(caption: str, frame: pd.DataFrame, columns: dict[str, tuple[str, str]]) -> Table:
    """Columns of a DataFrame: name to heading and kind."""
    return Table(caption, dict(columns.values()), frame[list(columns)].astype(object).to_numpy().tolist())


def whole_table(caption: str, frame: pd.DataFrame) -> Table:
    """All columns of a DataFrame, written as their types and names ask for."""
    named = frame.rename(columns=str)
    columns = {name: (name.replace("_", " "), _kind(name, named[name])) for name in named.columns}
    shown = named.astype({name: "str" for name, (_, kind) in columns.items() if kind == "text"})
    return table_of(caption, shown.where(named.notna(), None), columns)


def _kind(name: str, column: pd.Series) -> str:
    from pandas.api.types import is_bool_dtype, is_integer_dtype, is_numeric_dtype

    if is_bool_dtype(column) or not is_numeric_dtype(column):
        return "text"
    if is_integer_dtype(column):
        return "count"
    return "share" if is_share_of_draws(name) else "figure"


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
    """A part of the page that can be folded.

    Attributes
    ----------
    title
        Its heading.
    blocks
        What it holds.
    shut
        Whether it is folded at first.
    """

    title: str
    blocks: Sequence[Block]
    shut: bool = False


UNSAID = "What does it not say?"  # the last question of a first screen
TEXTS = "It is about the texts that the vectors were made from, not about people."
SCORES = "It is about what gave the scores, not about people."


def unsaid(*sentences: str, about: str = TEXTS) -> dict[str, str]:
    """The last line of a first screen."""
    return {UNSAID: " ".join((about, *sentences))}


@dataclass(frozen=True)
class Page:
    """A report.

    Attributes
    ----------
    title, lead
        The question, and what was measured to answer it.
    answer
        The result in a sentence that needs no statistics.
    lines
        Question to its answer, below the figure.
    picture
        The one figure of the first screen.
    fault
        Why the result should not be read; empty if it can be.
    sections
        The details.
    """

    title: str
    lead: str
    answer: str
    lines: dict[str, str]
    picture: Picture | None
    fault: str = ""
    sections: Sequence[Section] = field(default_factory=tuple)

    def pictures(self) -> list[Picture]:
        """All figures of the page."""
        blocks = [self.picture, *(block for section in self.sections for block in section.blocks)]
        return [block for block in blocks if isinstance(block, Picture)]


def filled(sections: Iterable[Section]) -> tuple[Section, ...]:
    """Sections that hold something."""
    kept = (Section(each.title, [block for block in each.blocks if block], each.shut) for each in sections)
    return tuple(each for each in kept if each.blocks)
