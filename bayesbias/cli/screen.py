"""Output of commands: tables and sentences on the terminal; files, whole or not at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
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
    from bayesbias.comparison import Comparison, SideEffects


@cache
def console() -> Console:
    """The terminal; what draws on it loads only now, since help needs none of it."""
    from rich.console import Console

    return Console()


def say(sentence: str) -> None:
    """A line of plain text; words are never read as markup."""
    from rich.text import Text

    console().print(Text(sentence))


def as_commands(text: str) -> str:
    """A text whose advice in Python names the command instead."""
    return re.sub(r"fit\(table, adjust='(\w+)'\)", r"the fit by 'bayesbias fit TABLE -o FIT --adjust \1'", text)


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

    from bayesbias._support.phrases import QUANTITIES, decimals

    table = Table(title=escape(title), title_justify="left", title_style="bold", show_edge=False, pad_edge=False)
    by_row = frame.attrs.get("rows") == QUANTITIES
    digits = [decimals(row) for row in frame.to_dict("records")] if by_row else [3] * len(frame)
    rows = zip(frame.itertuples(index=False), digits, strict=True)
    cells = [[_cell(value, most) for value in row] for row, most in rows]
    heads = [str(column).replace("_", " ") for column in frame.columns]
    # a column as wide as its longest word breaks none
    texts = [" ".join(column).split() for column in zip(heads, *cells, strict=True)] if cells else [[] for _ in heads]
    longest = [max(map(len, words), default=1) for words in texts]
    fits = bool(cells) and sum(longest) + 3 * (len(heads) - 1) <= console().width
    for head, column, width in zip(heads, frame.columns, longest, strict=True):
        side: Any = "right" if is_numeric_dtype(frame[column]) else "left"
        least = width if fits else None
        table.add_column(head, justify=side, overflow="fold", no_wrap=column == whole, min_width=least)
    for row in cells:
        table.add_row(*map(Text, row))
    console().print(table)


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
    from bayesbias.reporting.fit_report import WORDS

    result, verdict = Fit.read(post), bb.diagnose(post)
    say(verdict.headline())
    show(verdict.table(), "Convergence")
    if result.predicts:
        shares = bb.check_predictions(post).fillna({"connection": "all"}).replace({"connection": result.labels})
        headings = {name: f"in {name[7:]}%" for name in map(str, shares) if name.startswith("inside_")}
        show(shares.rename(columns=headings), WORDS.predicted_shares())
    else:
        say(WORDS.no_predictions())
    say_notes(map(as_commands, verdict.notes))
    return verdict


def show_contrasts(found: pd.DataFrame) -> None:
    """A table of contrasts."""
    from bayesbias._support.phrases import share
    from bayesbias.contrast import POPULATIONS, cluster_sentence
    from bayesbias.words import labelled

    first, second = (labelled(found.attrs[name], found.attrs.get("labels", {})) for name in ("first", "second"))
    by = str(found.columns[0])
    rows = found.assign(p_closer=found["p_closer"].map(share))
    mass = f"{100 * found.attrs['prob']:g}%"
    show(rows, f"{first} \N{MINUS SIGN} {second}, {mass} equal-tailed intervals (negative: {first} is closer)")
    what = "Contrasts of groups speak" if by == "group" else "The whole list speaks"
    say_notes([f"{what} about {POPULATIONS[found.attrs['population']]}.", found.attrs["meaning"]])
    say_notes(found.attrs["notes"])
    if found.attrs["left_out"]:
        say(f"  without the distances that a row needs: {', '.join(found.attrs['left_out'])}")
    say(f"  {cluster_sentence(found)}")


def show_changes(comparison: Comparison, beside: SideEffects | None, prob: float) -> None:
    """A table of the headline, then sentences by part."""
    from bayesbias._support.phrases import share

    if comparison.headline is not None:
        table = comparison.changes(prob=prob)
        rows = table.assign(group=table["group"].fillna(""), p_closer=table["p_closer"].map(share))
        show(rows, f"Change of {table.attrs['of']}, {100 * prob:g}% equal-tailed intervals, in {table.attrs['unit']}")
        say(table.attrs["meaning"])
    parts = comparison.parts(prob)
    if beside is not None:
        parts = beside.added_to(parts)
    for name, sentences in parts.items():
        say(f"{name}. {' '.join(sentences)}")


def _cell(value: Any, digits: int) -> str:
    import pandas as pd

    if pd.isna(value):
        return ""
    return f"{round(value, digits) + 0.0:.{digits}f}" if isinstance(value, float) else str(value)


def write_table(table: pd.DataFrame, path: Path | None) -> None:
    """A table as .csv where a path is given, and a line that says so."""
    if path is not None:
        save_table(table, path)
        say(f"{many(len(table), 'row')} written to {path}")


def write_picture(draw: Callable[[], Figure | None], path: Path | None) -> None:
    """A figure as .png where a path is given, and a line that says so."""
    if path is not None and save_picture(draw, path):
        say(f"figure written to {path}")


def write_report(result: Any, path: Path | None, **options: Any) -> None:
    """A report on a result where a path is given, and a line that says so."""
    if path is not None:
        with working("drawing figures"):
            bb.report(result, path, **options)
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
