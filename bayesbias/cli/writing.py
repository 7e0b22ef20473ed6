"""Files that commands write: tables, pictures and reports, whole or not at all."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from bayesbias.cli.options import Target

PICTURES = {
    "Audit": "plot_audit",
    "Comparison": "plot_change",
    "Criterion": "plot_relation",
    "DirectBiasStudy": "plot_bias_decay",
    "Plan": "plot_plan",
    "Pool": "plot_pool",
    "Ranking": "plot_ranking",
    "Relatedness": "plot_relatedness",
    "TopicNull": "plot_topic_null",
    "Trend": "plot_trend",
}
"""Kind of result to the function that draws it."""


class Made:
    """What a command gives to be written where it is not a result alone: its own table or picture, and what else a
    report takes.
    """

    def __init__(self, result: Any, table: Any = None, figure: Any = None, **beside: Any) -> None:
        self.result, self.table, self.figure, self.beside = result, table, figure, beside


def check_target(path: str | Path, suffixes: Collection[str], what: str) -> None:
    """Refuse to begin where a file could not be written; what does this loads only now, since help needs none of it."""
    from bayesbias import _files

    _files.check_target(path, tuple(suffixes), what)


def write(result: Any, targets: Mapping[Path, Target], prob: float | None = None) -> None:
    """Write what a command gives to each of its targets, and say so."""
    from bayesbias.cli.screen import say, working

    made = result if isinstance(result, Made) else Made(result)
    for path, target in targets.items():
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
            from bayesbias.reporting.page import report

            with working("drawing pictures"):
                report(made.result, path, **made.beside, prob=prob)
        say(f"{target.said.format(rows=rows)} written to {path}")


def table_of(result: Any, prob: float | None) -> pd.DataFrame:
    """The table of a result, at the mass of the intervals where it has several."""
    table: pd.DataFrame = _at(prob, result.table) if hasattr(result, "table") else result
    return table


def picture_of(result: Any, prob: float | None) -> Figure:
    """The picture of a result."""
    from bayesbias import plots

    figure: Figure = _at(prob, getattr(plots, PICTURES[type(result).__name__]), result)
    return figure


def _at(prob: float | None, function: Any, *given: Any) -> Any:
    at = {"prob": prob} if prob is not None and "prob" in inspect.signature(function).parameters else {}
    return function(*given, **at)


def save_table(table: pd.DataFrame, path: Path) -> None:
    """A table as .csv, whole or not at all."""
    from bayesbias._files import write_text

    write_text(path, table.to_csv(index=False))


def save_picture(figure: Figure, path: Path) -> None:
    """A picture as .png, whole or not at all."""
    from bayesbias._files import whole_file

    with whole_file(path) as temporary:
        figure.savefig(temporary, dpi=150, format="png")
