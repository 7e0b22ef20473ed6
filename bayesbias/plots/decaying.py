"""Direct bias against the number of dimensions: Figures 3 and 4 of its study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.lines import Line2D

from bayesbias.plots.pieces import LINES, check_kind, looks_of, note_below
from bayesbias.plots.style import FAINT, FONT, INK, Look, new_figure, style_axes
from bayesbias.stability import DirectBiasStudy

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANELS = {
    "direct_bias": ("direct bias (mean |cosine|)", "Direct bias"),
    "yardstick": ("mean |cosine| of random pairs", "Yardstick"),
    "standardised": ("direct bias / yardstick", "Direct bias over the yardstick"),
}
"""Column to the axis and title of its panel."""


def plot_bias_decay(study: DirectBiasStudy) -> Figure:
    """Direct bias over dimensions, what random pairs of words have, and the one over the other.

    Each list of words is a row of panels, each corpus and algorithm a line through the means over seeds; seeds are
    dashes. The dotted line is the yardstick of vectors without any structure, sqrt(2 / (pi dims)); the dashed one
    a direct bias like that of random pairs.

    Parameters
    ----------
    study
        What :func:`direct_bias_study` returns.
    """
    check_kind(study, DirectBiasStudy, "plot_bias_decay", "direct_bias_study")
    table = study.table
    lists = table["word_list"].unique().tolist()
    looks = looks_of(table["corpus"])
    lines: dict[str, Any] = {str(name): LINES[at % len(LINES)] for at, name in enumerate(table["algorithm"].unique())}
    with mpl.rc_context(FONT):
        figure = new_figure(10.5, 3.1 * len(lists) + 0.5)
        grid = figure.subplots(len(lists), len(PANELS), squeeze=False, sharex=True, sharey="col")
        for row, name in zip(grid, lists, strict=True):
            rows = table[table["word_list"] == name]
            for axes, (column, (label, title)) in zip(row, PANELS.items(), strict=True):
                _lines(axes, rows, column, looks, lines)
                heading = f"{name}\n{title}" if len(lists) > 1 and axes is row[0] else title
                style_axes(axes, "", heading)
                axes.set_ylabel(label)
            _isotropic(row[1], rows["dims"].to_numpy())
            row[2].axhline(1.0, color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
        for axes, column in zip(grid[0], PANELS, strict=True):
            axes.set_ylim(0, 1.08 * float(table[column].max()))
        _dimensions(grid, table["dims"].unique())
        handles: list[Any] = [
            Line2D([], [], color=look.colour, marker=look.marker, label=name) for name, look in looks.items()
        ] + [Line2D([], [], color=INK, linestyle=style, label=name) for name, style in lines.items()]
        figure.legend(handles=handles, loc="outside upper center", ncols=6, frameon=False)
        seeds = "Dashes: seeds." if len(table["seed"].unique()) > 1 else ""
        note_below(figure, seeds, *study.notes)
    return figure


def _lines(axes: Axes, rows: pd.DataFrame, column: str, looks: Mapping[str, Look], lines: Mapping[str, Any]) -> None:
    for (corpus, algorithm), own in rows.groupby(["corpus", "algorithm"], sort=False):
        look = looks[str(corpus)]
        means = own.groupby("dims")[column].mean()
        axes.plot(
            means.index, means, color=look.colour, marker=look.marker, ms=5, lw=1.4, linestyle=lines[str(algorithm)]
        )
        if len(own["seed"].unique()) > 1:
            axes.scatter(own["dims"], own[column], s=14, marker="_", color=look.colour, linewidths=1.1, zorder=3)


def _isotropic(axes: Axes, dims: np.ndarray) -> None:
    fine = np.geomspace(dims.min(), dims.max(), 50)
    axes.plot(fine, np.sqrt(2 / (np.pi * fine)), color=FAINT, linewidth=1.2, linestyle=":")
    axes.annotate(
        "√(2 / (π dims))",
        (fine[-1], np.sqrt(2 / (np.pi * fine[-1]))),
        xytext=(0, -4),
        textcoords="offset points",
        ha="right",
        va="top",
        fontsize=7.5,
        color=FAINT,
    )


def _dimensions(grid: np.ndarray, dims: np.ndarray) -> None:
    """The axis of dimensions, by doublings."""
    low, high = float(dims.min()), float(dims.max())
    for axes in grid.ravel():
        axes.set_xscale("log", base=2)
        axes.set_xticks(dims, [f"{one:g}" for one in dims])
        axes.set_xlim(low * 0.87, high * 1.15)
        axes.minorticks_off()
    for axes in grid[-1]:
        axes.set_xlabel("dimensions")
