"""Means before and after with arrows, and the change with its interval: Figures 13 and 14 of the study in one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np

from bayesbias._checks import probability
from bayesbias._core.cosine import FloatArray
from bayesbias.comparison import Comparison
from bayesbias.diagnostics.intervals import PROB
from bayesbias.errors import InputError
from bayesbias.plots.style import (
    FONT,
    LOOKS,
    connection_legend,
    draw_intervals,
    label_rows,
    new_figure,
    spread_rows,
    word_labels,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STILL, HEAD = 1e-12, 0.025
"""Moves that are none, and the share of the axis below which a move gets a line without a head."""
LONGEST = 22


def plot_change(result: Comparison, prob: float = PROB, before: str | None = None, after: str | None = None) -> Figure:
    """What changed between two embeddings, above for the whole list, below for each protected word.

    Left, an arrow leads from the posterior mean distance before to that after; the line at 1 is where unrelated words
    lie. Right stand the changes: posterior means, 50% (thick) and ``prob`` (thin) highest-density intervals of the
    paired model; a faint cross is the change of the mean distance of the pairs at hand. Words are sorted by the change
    of the headline contrast, the largest first.

    Parameters
    ----------
    result
        What :func:`compare` returns.
    prob
        Posterior mass of the thin bars.
    before, after
        Two of the embeddings, where there are more than two.
    """
    if not isinstance(result, Comparison):
        raise InputError(f"given is {type(result).__name__}: plot_change takes what compare returns")
    prob = probability(prob, "prob")
    number = result.place(before, after)
    names = list(result.connections)
    sides = {name: result.sides(name, None, number) for name in names}
    moved = {name: result.observed(name, None, number) for name in names}
    ends = np.concatenate([side.mean(axis=0) for both in sides.values() for side in both[:2]])
    shortest = HEAD * np.ptp(ends[~np.isnan(ends)])
    order = _by_change(result, number)
    constant = result.posterior["constant_data"]
    labels = word_labels(constant["protected_word"].to_numpy(), constant["group"].to_numpy())[order]
    heights = (0.24 * len(names) + 0.55, 0.15 * max(len(names), 2) * len(labels) + 0.55)
    one, other = (f"{name[: LONGEST - 1]}…" if len(name) > LONGEST else name for name in result.pair(number))
    with mpl.rc_context(FONT):
        figure = new_figure(9.6, sum(heights) + 0.7)
        grid = figure.add_gridspec(2, 2, height_ratios=heights, width_ratios=(1.15, 1))
        columns: list[Axes] = []
        for row, rows in enumerate((np.array([0]), 1 + order)):
            left = figure.add_subplot(grid[row, 0], sharex=columns[0] if columns else None)
            right = figure.add_subplot(grid[row, 1], sharex=columns[1] if columns else None)
            columns = columns or [left, right]
            for k, name in enumerate(names):
                at = spread_rows(len(rows), len(names), k) if row else np.array([-float(k)])
                _arrows(left, at, sides[name].before[:, rows], sides[name].after[:, rows], name, shortest)
                change = sides[name].change[:, rows]
                held = ~np.isnan(change).any(axis=0)
                observed = moved[name].change[rows]
                right.scatter(observed, at, s=18, marker="x", color=LOOKS[name].colour, alpha=0.6, linewidths=0.8)
                draw_intervals(right, at[held], change[:, held], prob, LOOKS[name])
            ticks = labels.tolist() if row else names
            heading = "By protected word" if row else f"Whole list, from {one} to {other}"
            label_rows(left, ticks, "cosine distance (smaller is closer)", heading, 1.0)
            title = f"Change, with 50% and {100 * prob:g}% intervals"
            label_rows(right, [""] * len(ticks), "change of distance", "" if row else title, 0.0)
            for line in range(1, len(ticks)) if row else ():
                for axes in (left, right):
                    axes.axhline(0.5 - line, color="#EEEEEE", linewidth=0.6, zorder=0)
        connection_legend(figure, names)
    return figure


def _by_change(result: Comparison, number: int) -> np.ndarray:
    """Order of words by the size of the change of the headline contrast, or of the first connection there is."""
    first, second = result.headline or (result.connections[0], None)
    change = np.abs(result.sides(first, second, number).change.mean(axis=0))[1:]
    return np.argsort(-np.where(np.isnan(change), -np.inf, change), kind="stable")


def _arrows(axes: Axes, heights: FloatArray, before: FloatArray, after: FloatArray, name: str, shortest: float) -> None:
    """An arrow from mean to mean, a line where that is short, a marker where nothing moved."""
    look = LOOKS[name]
    start, end = before.mean(axis=0), after.mean(axis=0)
    held = ~np.isnan(start)
    axes.scatter(
        start[held], heights[held], s=16, marker=look.marker, facecolor="white", edgecolor=look.colour, lw=0.9, zorder=3
    )
    for height, one, other in zip(heights[held], start[held], end[held], strict=True):
        if abs(other - one) > STILL:
            style = "-|>,head_length=0.45,head_width=0.22" if abs(other - one) > shortest else "-"
            arrow = {
                "arrowstyle": style,
                "color": look.colour,
                "lw": 1.2,
                "shrinkA": 1 if style != "-" else 0,
                "shrinkB": 0,
            }
            axes.annotate("", (other, height), (one, height), arrowprops=arrow, annotation_clip=False)
    axes.scatter(end[held], heights[held], s=1, color=look.colour, alpha=0)
