"""Tables and sentences on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console


@cache
def console() -> Console:
    """The terminal; what draws on it loads only now, since help needs none of it."""
    from rich.console import Console

    return Console()


def say(sentence: str) -> None:
    """A line of plain text; words are never read as markup."""
    from rich.text import Text

    console().print(Text(sentence))


def say_notes(notes: Iterable[str]) -> None:
    """A line for each note, below what it is on."""
    for note in notes:
        say(f"  {note}")


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show that something is going on, on a terminal."""
    from rich.console import Console
    from rich.markup import escape

    terminal = Console(stderr=True)
    with terminal.status(escape(what)) if terminal.is_terminal else nullcontext():
        yield


def show(frame: pd.DataFrame, title: str, whole: str | None = None) -> None:
    """A DataFrame as a table: numbers right, text left and folded, but for the column that is shown whole."""
    from pandas.api.types import is_numeric_dtype
    from rich.markup import escape
    from rich.table import Table
    from rich.text import Text

    table = Table(title=escape(title), title_justify="left", title_style="bold", show_edge=False, pad_edge=False)
    numeric = {column: is_numeric_dtype(frame[column]) for column in frame.columns}
    cells = [[_cell(value) for value in row] for row in frame.itertuples(index=False)]
    heads = [str(column).replace("_", " ") for column in frame.columns]
    longest = [_longest([head, *column]) for head, column in zip(heads, zip(*cells, strict=True), strict=True)]
    fits = sum(longest) + 3 * (len(heads) - 1) <= console().width
    for head, column, width in zip(heads, frame.columns, longest if cells else [None] * len(heads), strict=True):
        table.add_column(
            head,
            justify="right" if numeric[column] else "left",
            overflow="fold",
            no_wrap=column == whole,
            min_width=width if fits else None,
        )
    for row in cells:
        table.add_row(*map(Text, row))
    console().print(table)


def _longest(texts: Iterable[str]) -> int:
    """Letters of the longest word of some texts: a column as wide breaks no word."""
    return max((len(word) for text in texts for word in text.split()), default=1)


def show_coverage(table: pd.DataFrame) -> None:
    """How many words of each list were found, and what was left out."""
    from bayesbias.distances.storage import coverage, labels_of

    counts = coverage(table)
    asked = counts["asked"].astype("string").fillna("unknown")
    shown = counts[["list", "kind", "asked", "found"]].assign(asked=asked)
    show(shown.replace({"list": labels_of(table)}), "Coverage")
    say_notes(counts.attrs["notes"])


def show_contrasts(found: pd.DataFrame) -> None:
    """A table of contrasts."""
    from bayesbias._phrases import share
    from bayesbias.comparison import POPULATIONS, cluster_sentence
    from bayesbias.words import labelled

    first, second = (labelled(found.attrs[name], found.attrs.get("labels", {})) for name in ("first", "second"))
    by = str(found.columns[0])
    shown = found.assign(p_closer=found["p_closer"].map(share))
    mass = f"{100 * found.attrs['prob']:g}%"
    show(shown, f"{first} \N{MINUS SIGN} {second}, {mass} equal-tailed intervals (negative: {first} is closer)")
    what = "Contrasts of groups speak" if by == "group" else "The whole list speaks"
    say_notes([f"{what} about {POPULATIONS[found.attrs['population']]}.", found.attrs["meaning"]])
    say_notes(found.attrs["notes"])
    if found.attrs["left_out"]:
        say(f"  without the distances that a row needs: {', '.join(found.attrs['left_out'])}")
    say(f"  {cluster_sentence(found)}")


def _cell(value: Any) -> str:
    import pandas as pd

    if pd.isna(value):
        return ""
    return f"{round(value, 3) + 0.0:.3f}" if isinstance(value, float) else str(value)
