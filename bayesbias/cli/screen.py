"""Output of commands: tables and sentences on the terminal; files, whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bayesbias as bb
from bayesbias.errors import many

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure
    from rich.console import Console

    from bayesbias.checks.convergence import Verdict


@cache
def console() -> Console:
    """The terminal; what draws on it loads only now, since help needs none of it."""
    from rich.console import Console

    return Console()


def say(sentence: str) -> None:
    """A line of plain text; words are never read as markup."""
    from rich.text import Text

    console().print(Text(sentence), soft_wrap=True)


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


TEXT_WIDTH = 16
"""Letters of a word to which a column of text may be folded; words up to it, and numbers, are never broken."""


def show(frame: pd.DataFrame, title: str, whole: str | None = None) -> None:
    """A DataFrame as a table: numbers right, text left and folded, but for the column that is shown whole.

    Where the terminal is too narrow for all columns, further ones follow below, beside the first column again.
    """
    from pandas.api.types import is_numeric_dtype
    from rich.cells import cell_len
    from rich.markup import escape
    from rich.table import Table
    from rich.text import Text

    cells = [[_cell(value) for value in row] for row in frame.itertuples(index=False)]
    heads = [str(column).replace("_", " ") for column in frame.columns]
    width, numeric = console().width, [is_numeric_dtype(frame[column]) for column in frame.columns]
    least, most = [], []
    for place, (head, name) in enumerate(zip(heads, frame.columns, strict=True)):
        texts = [row[place] for row in cells]
        longest, full = (max(map(cell_len, part), default=1) for part in (" ".join(texts).split(), [head, *texts]))
        limit = longest if numeric[place] else TEXT_WIDTH
        words = max(map(cell_len, [*head.split(), *texts]), default=1) if name == whole else min(longest, limit)
        least.append(min(max([words, *map(cell_len, head.split())]), width // 2))
        most.append(full)
    for block in _blocks(least, width):
        table = Table(title=escape(title), title_justify="left", title_style="bold", show_edge=False, pad_edge=False)
        for place, wide in zip(block, _widths([least[i] for i in block], [most[i] for i in block], width), strict=True):
            table.add_column(heads[place], justify="right" if numeric[place] else "left", overflow="fold", width=wide)
        for row in cells:
            table.add_row(*(Text(row[place]) for place in block))
        console().print(table)
        title = ""


def _blocks(least: Sequence[int], width: int) -> list[list[int]]:
    """Columns of tables below each other, so many that each fits the terminal; the first column stands in all."""
    blocks = [[0]]
    for place in range(1, len(least)):
        if len(blocks[-1]) > 1 and sum(least[i] for i in [*blocks[-1], place]) > _room(len(blocks[-1]) + 1, width):
            blocks.append([0])
        blocks[-1].append(place)
    return blocks if least else []


def _room(columns: int, width: int) -> int:
    """Letters for the cells of a row, whose columns have a blank on either side and lines between them."""
    return width - (3 * columns - 1)


def _widths(least: Sequence[int], most: Sequence[int], width: int) -> list[int]:
    """Widths of columns that share what room is left, those that need little first."""
    widths, spare = [*least], max(_room(len(least), width) - sum(least), 0)
    for number, place in enumerate(sorted(range(len(least)), key=lambda i: most[i] - least[i])):
        more = min(max(most[place] - least[place], 0), spare // (len(least) - number))
        widths[place] += more
        spare -= more
    return widths


def show_coverage(table: pd.DataFrame) -> None:
    """Show how many words of each list were found, and what was left out."""
    from bayesbias.distances.dataframe import labels_of
    from bayesbias.distances.storage import coverage

    counts = coverage(table)
    sizes = counts["asked"].astype("string").fillna("unknown")
    rows = counts[["list", "kind", "asked", "found"]].assign(asked=sizes)
    show(rows.replace({"list": labels_of(table)}), "Coverage")
    say_notes(counts.attrs["notes"])


def show_coverages(tables: dict[str, pd.DataFrame]) -> None:
    """Show which words of the lists each table holds, once where it is the same for all."""
    from bayesbias.distances.dataframe import coverage_of

    contents: list[object] = []
    for name, table in tables.items():
        record = coverage_of(table)
        if record is not None and (content := (record.lists, record.notes(table))) not in contents:
            contents.append(content)
            say(f"{name}: {many(len(table), 'distance')}")
            show_coverage(table)


def show_checks(post: xr.DataTree) -> Verdict:
    """Show a verdict on a fit, which is returned, its figures, what limits its answers, and its predictions."""
    from bayesbias.models.tree import Fit

    result, verdict = Fit.read(post), bb.diagnose(post)
    say(str(verdict))
    if result.predicts:
        shares = bb.check_predictions(post).fillna({"connection": "all"}).replace({"connection": result.labels})
        headings = {name: f"in {name[7:]}%" for name in map(str, shares) if name.startswith("inside_")}
        show(shares.rename(columns=headings), "Distances within predictive intervals")
    return verdict


def _cell(value: Any) -> str:
    import pandas as pd

    if pd.isna(value):
        return ""
    return f"{round(value, 3) + 0.0:.3f}" if isinstance(value, float) else str(value)


def write_table(table: pd.DataFrame, path: Path | None) -> None:
    """A table as .csv where a path is given, and a line that says so."""
    if path is not None:
        save_table(table, path)
        say(f"{many(len(table), 'row')} written to {path}")


def write_picture(draw: Callable[[], Figure | None], path: Path | None) -> None:
    """A figure as .png where a path is given, and a line that says so."""
    if path is not None and save_picture(draw, path):
        say(f"figure written to {path}")


def write_report(result: Any, path: Path | None) -> None:
    """A report on a result where a path is given, and a line that says so."""
    if path is not None:
        with working("drawing figures"):
            bb.report(result, path)
        say(f"report written to {path}")


def save_table(table: pd.DataFrame, path: Path) -> None:
    """A table as .csv, whole or not at all."""
    from bayesbias._support.files import write_text

    write_text(path, table.to_csv(index=False))


def save_picture(draw: Callable[[], Figure | None], path: Path) -> bool:
    """Write a figure as .png, whole or not at all, and tell if there is one."""
    from bayesbias._support.figures import unlisted
    from bayesbias._support.files import whole_file
    from bayesbias.plots.style import write_png

    with unlisted():
        figure = draw()
    if figure is None:
        return False
    with whole_file(path) as temporary:
        write_png(figure, temporary, dpi=150)
    return True
