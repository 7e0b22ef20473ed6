"""Files that commands write: tables, figures and reports, whole or not at all."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bayesbias as bb
from bayesbias.cli.screen import say, working

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from bayesbias.cli.options import Target


@dataclass
class Made:
    """A result whose table or figure is not that of its kind, and what else its report takes."""

    result: Any
    table: pd.DataFrame | None = None
    figure: Callable[[], Figure] | None = None
    beside: Mapping[str, Any] = field(default_factory=dict)


def check_target(path: str | Path, suffixes: Collection[str], what: str) -> None:
    """Refuse to begin where a file could not be written; what does this loads only now, since help needs none of it."""
    from bayesbias import _files

    _files.check_target(path, tuple(suffixes), what)


def write(result: Any, targets: Iterable[tuple[Path, Target]], prob: float | None = None) -> None:
    """Write what a command gives to each of its targets, and say so."""
    made = result if isinstance(result, Made) else Made(result)
    for path, target in targets:
        rows = ""
        if ".csv" in target.suffixes:
            table = made.table if made.table is not None else table_of(made.result, prob)
            rows = f"{len(table)} rows"
            save_table(table, path)
        elif ".png" in target.suffixes:
            save_picture(made.figure() if made.figure is not None else picture_of(made.result, prob), path)
        elif ".parquet" in target.suffixes:
            made.result.write(path)
        else:
            with working("drawing figures"):
                bb.report(made.result, path, **made.beside, **_mass(prob, getattr(made.result, "front", bb.report)))
        say(f"{target.said.format(rows=rows)} written to {path}")


def table_of(result: Any, prob: float | None) -> pd.DataFrame:
    """The table of a result, at the mass of the intervals where it has several."""
    table: pd.DataFrame = result.table(**_mass(prob, result.table)) if hasattr(result, "table") else result
    return table


def picture_of(result: Any, prob: float | None) -> Figure:
    """The figure of a result."""
    figure: Figure = result.figure(**_mass(prob, getattr(bb.plots, result.picture)))
    return figure


def _mass(prob: float | None, function: Any) -> dict[str, Any]:
    """The mass of the intervals, for a function that takes it."""
    return {"prob": prob} if prob is not None and "prob" in inspect.signature(function).parameters else {}


def save_table(table: pd.DataFrame, path: Path) -> None:
    """A table as .csv, whole or not at all."""
    from bayesbias._files import write_text

    write_text(path, table.to_csv(index=False))


def save_picture(figure: Figure, path: Path) -> None:
    """A figure as .png, whole or not at all."""
    from bayesbias._files import whole_file
    from bayesbias.plots.style import write_png

    with whole_file(path) as temporary:
        write_png(figure, temporary, dpi=150)
