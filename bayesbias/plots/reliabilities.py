"""Reliability of words, base pairs and queries: the study's Figures 2 to 5."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from bayesbias._checks import flag
from bayesbias.errors import InputError
from bayesbias.plots.pieces import looks_of, note_below, note_beside
from bayesbias.plots.style import FAINT, FONT, INK, Look, new_figure, spread_rows, style_axes, word_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BANDS = {
    "poor": (None, "#E6E6E6"),
    "moderate": (0.5, "#F0F0F0"),
    "good": (0.75, "#F7F7F7"),
    "excellent": (0.9, "white"),
}
"""Where each begins, and its shade (Koo and Li 2016, https://doi.org/10.1016/j.jcm.2016.02.012)."""
COLUMNS = ("label", "value", "low", "high", "reason")
EVERY = "all measures"
MANY = 40
"""Labels up to which each has a row of its own."""
FEW = 300
"""Values up to which each is a point."""
LEAST = -0.5
"""Values below stand at the left edge."""
MINUS = "\N{MINUS SIGN}"

type Tables = pd.DataFrame | Mapping[str, pd.DataFrame]


def plot_reliability(table: Tables, labels: bool | None = None) -> Figure:
    """How reliable words, base pairs or queries are: the distribution by measure, or each by its name.

    Boxes hold half of the values, whiskers those within 1.5 lengths of the box; up to 300 values are all drawn. With
    names, points are coefficients and bars their intervals, sorted by the mean over measures. Shades mark what is
    called poor (below 0.5), moderate, good (from 0.75) and excellent (from 0.9). Values below -0.5 stand at the left
    edge; a note counts these and what is missing.

    Parameters
    ----------
    table
        What :func:`retest_reliability`, :func:`inter_rater_consistency` or :func:`internal_consistency` returns, or a
        mapping of names to such tables: a panel each, or a row each where no table tells measures apart.
    labels
        Whether each label has a row; None does so for at most 40 in all that stand once.

    Raises
    ------
    InputError
        No such table, or rows asked for labels that stand twice.

    References
    ----------
    Koo, T. K. and Li, M. Y. (2016). A guideline of selecting and reporting intraclass correlation coefficients for
    reliability research. Journal of Chiropractic Medicine 15(2). https://doi.org/10.1016/j.jcm.2016.02.012
    """
    panels = _panels(table)
    counts = [panel["label"].nunique() for panel in panels.values()]
    twice = any(panel.duplicated(["measure", "label"]).any() for panel in panels.values())
    named = sum(counts) <= MANY and not twice if labels is None else flag(labels, "labels")
    if named and twice:
        raise InputError(
            "a label stands twice under one measure: give names to tables that hold it once, or labels=False"
        )
    looks = looks_of(name for panel in panels.values() for name in panel["measure"])
    inside = [panel["measure"].nunique() for panel in panels.values()]
    if named:
        heights = [0.12 * max(series, 2) * count + 0.95 for series, count in zip(inside, counts, strict=True)]
    else:
        heights = [0.46 * series + 0.95 for series in inside]
    everything = pd.concat(panels.values())
    with mpl.rc_context(FONT):
        figure = new_figure(7.4, sum(heights) + 0.4)
        column = figure.subplots(len(panels), 1, squeeze=False, sharex=True, height_ratios=heights)[:, 0]
        for axes, (title, panel) in zip(column, panels.items(), strict=True):
            (_rows if named else _boxes)(axes, panel, {name: looks[name] for name in panel["measure"].unique()})
            style_axes(axes, "", title)
            _bands(axes)
        column[-1].set_xlabel("coefficient of reliability (1: no error)")
        column[0].set_xlim(_left(everything, named), 1.02)
        if named and len(looks) > 1:
            handles: list[Any] = [
                Line2D([], [], color=look.colour, marker=look.marker, label=name) for name, look in looks.items()
            ]
            figure.legend(handles=handles, loc="outside upper center", ncols=4, frameon=False)
        cut = ", cut at the left edge" if (everything["low"] < LEAST).any() else ""
        note_below(figure, f"Bars: confidence intervals{cut}." if named else "", *_counted(everything))
    return figure


def _panels(table: Tables) -> dict[str, pd.DataFrame]:
    """Title to table, each with a column of measures."""
    given = {"": table} if isinstance(table, pd.DataFrame) else dict(table) if isinstance(table, Mapping) else {}
    for name, one in given.items():
        lacks = [column for column in COLUMNS if not isinstance(one, pd.DataFrame) or column not in one]
        if lacks or one.empty:
            what = f"{name!r} holds" if name else "given is"
            shown = "no row" if not lacks else f"a table without {', '.join(lacks)}"
            shown = shown if isinstance(one, pd.DataFrame) else type(one).__name__
            raise InputError(
                f"{what} {shown}: give what retest_reliability, inter_rater_consistency or internal_consistency returns"
            )
    if not given:
        raise InputError(
            f"given is {type(table).__name__} without tables: give what retest_reliability, inter_rater_consistency or "
            "internal_consistency returns, or a mapping of names to such tables"
        )
    if len(given) > 1 and not any("measure" in one for one in given.values()):
        return {"": pd.concat([one.assign(measure=str(name)) for name, one in given.items()], ignore_index=True)}
    return {str(name): one if "measure" in one else one.assign(measure=EVERY) for name, one in given.items()}


def _left(table: pd.DataFrame, named: bool) -> float:
    """The left edge: 0, or less where values or intervals need it."""
    least = table[["value", "low"] if named else ["value"]].min().min()
    return float(max(LEAST, min(0.0, least))) - 0.03


def _bands(axes: Axes) -> None:
    edges = [-1e9, *(begin for begin, _ in BANDS.values() if begin is not None), 1.0]
    top = axes.get_ylim()[1]
    for (name, (begin, shade)), low, high in zip(BANDS.items(), edges[:-1], edges[1:], strict=True):
        axes.axvspan(low, high, color=shade, linewidth=0, zorder=0)
        axes.annotate(
            name,
            (0.0, top) if begin is None else (begin, top),
            xycoords=("axes fraction", "data") if begin is None else "data",
            xytext=(3, -3),
            textcoords="offset points",
            va="top",
            fontsize=7.5,
            color=FAINT,
        )
    axes.grid(visible=False)


def _boxes(axes: Axes, panel: pd.DataFrame, looks: Mapping[str, Look]) -> None:
    """A box a measure."""
    for at, (name, look) in enumerate(looks.items()):
        rows = panel.loc[panel["measure"] == name, "value"].dropna().to_numpy(dtype=float)
        values = np.maximum(rows, LEAST)
        if not len(values):
            note_beside(axes, -at, "no value")
            continue
        flier = {
            "marker": look.marker,
            "markersize": 2,
            "alpha": 0.4,
            "markerfacecolor": look.colour,
            "rasterized": True,
        }
        axes.boxplot(
            [values],
            positions=[-at],
            orientation="horizontal",
            widths=0.5,
            showfliers=len(values) > FEW,
            flierprops=flier | {"markeredgewidth": 0},
            medianprops={"color": INK, "linewidth": 1.6},
            boxprops={"color": INK, "linewidth": 0.9},
            whiskerprops={"color": INK, "linewidth": 0.9},
            capprops={"color": INK, "linewidth": 0.9},
            manage_ticks=False,
            zorder=3,
        )
        if len(values) <= FEW:
            jitter = np.random.default_rng(at).uniform(-0.2, 0.2, len(values))
            axes.scatter(
                values, jitter - at, s=13, marker=look.marker, color=look.colour, alpha=0.6, linewidths=0, zorder=2
            )
        note_beside(axes, -at, f"median {np.median(rows):.2f}, n = {len(rows):,}".replace("-", MINUS))
    axes.set_yticks(-np.arange(len(looks)), word_labels(looks, [""] * len(looks)))
    axes.set_ylim(-len(looks) + 0.45, 0.85)


def _rows(axes: Axes, panel: pd.DataFrame, looks: Mapping[str, Look]) -> None:
    """A row a label, with the coefficient of each measure."""
    order = panel.groupby("label", sort=False)["value"].mean().sort_values(ascending=False, kind="stable").index
    for at, (name, look) in enumerate(looks.items()):
        rows = panel[panel["measure"] == name].set_index("label").reindex(order)
        heights, value = spread_rows(len(order), len(looks), at), rows["value"].to_numpy(dtype=float)
        axes.hlines(heights, rows["low"], rows["high"], color=look.colour, linewidth=1.1, zorder=2)
        axes.scatter(
            np.maximum(value, LEAST), heights, s=18, marker=look.marker, color=look.colour, edgecolor="white", lw=0.5,
            zorder=3,
        )  # fmt: skip
    for line in range(1, len(order)) if len(looks) > 1 else ():
        axes.axhline(0.5 - line, color="#CCCCCC", linewidth=0.5, zorder=1)
    without = panel.groupby("label", sort=False)["value"].count().reindex(order) == 0
    for height in np.flatnonzero(without):
        note_beside(axes, -float(height), "no value")
    axes.set_yticks(-np.arange(len(order)), word_labels(order, [""] * len(order)))
    axes.set_ylim(-len(order) + 0.4, 0.6 + 0.24 / (0.12 * max(len(looks), 2)))


def _counted(table: pd.DataFrame) -> list[str]:
    """Sentences on the values that are not in the picture as they are."""
    value = table["value"].to_numpy(dtype=float)
    notes = []
    if missing := int(np.isnan(value).sum()):
        why = "; ".join(dict.fromkeys(table.loc[np.isnan(value), "reason"].dropna()))
        notes.append(f"{missing:,} of {len(value):,} values are missing{': ' if why else ''}{why}.")
    if low := int((value < LEAST).sum()):
        least = f"{low:,}, the smallest is {np.nanmin(value):.2f}"
        notes.append(f"Values below {LEAST:g} stand at the left edge: {least}.".replace("-", MINUS))
    return notes
