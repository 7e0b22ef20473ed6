"""Figures of reliability, and of what scores vary with."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bayesbias._support.arguments import flag, probability
from bayesbias._support.numbers import percent, signed
from bayesbias.baselines.reliability import VarianceComponents
from bayesbias.baselines.stability import SettingComponents
from bayesbias.checks.summaries import PROB
from bayesbias.distances.distances import numbers_of, refuse_rows, refuse_twice
from bayesbias.errors import InputError, within
from bayesbias.plots.general import PLAIN, draw_forest, draw_strip
from bayesbias.plots.style import (
    INNER_PROB,
    Look,
    handles_of,
    label_rows,
    looks_of,
    new_figure,
    note,
    note_below,
    notes_beside,
    one_panel,
    picture,
    place_legend,
    refuse_axes,
    style_axes,
    word_labels,
)

# where each begins, and its shade (Koo and Li 2016, https://doi.org/10.1016/j.jcm.2016.02.012)
BANDS = {
    "poor": (-1e9, "#E6E6E6"),
    "moderate": (0.5, "#F0F0F0"),
    "good": (0.75, "#F7F7F7"),
    "excellent": (0.9, "white"),
}
LEAST = -0.5  # values below stand at the left edge

MAKERS = "retest_reliability, inter_rater_consistency or internal_consistency"

type Tables = pd.DataFrame | Mapping[str, pd.DataFrame]


@picture()
def plot_reliability(
    table: Tables, labels: bool | None = None, title: str | None = None, ax: Axes | None = None
) -> Figure | Axes:
    """Reliability of words, base pairs or queries: the distribution by measure, or each by its name.

    Rows of points have their median (long mark) and quartiles (bar). With names, points are coefficients and bars their
    intervals, sorted by the mean over measures. Shades mark what is called poor (below 0.5), moderate, good (from 0.75)
    and excellent (from 0.9). Values below -0.5 stand at the left edge; a note counts these and what is missing.

    Parameters
    ----------
    table
        What :func:`retest_reliability`, :func:`inter_rater_consistency` or :func:`internal_consistency` returns, or a
        mapping of names to such tables: a panel each, or a row each where no table tells measures apart.
    labels
        Whether each label has a row; None does so for at most 40 in all that stand once.
    title
        Title of one panel, or above several, which keep theirs.
    ax
        Axes to draw one panel on, which are returned; by default those of a new figure.

    References
    ----------
    Koo, T. K. and Li, M. Y. (2016). A guideline of selecting and reporting intraclass correlation coefficients for
    reliability research. Journal of Chiropractic Medicine 15(2). https://doi.org/10.1016/j.jcm.2016.02.012

    Examples
    --------
    >>> kv = bb.load_embedding("glove-50d-slice")
    >>> kvs = [kv, bb.debias(kv, "project", definitional=[("poor", "rich")])]  # or of two seeds
    >>> scores = bb.reliability.bias_scores(kvs, "occ16", measures=["db_wa", "ripa"])
    >>> bb.plots.plot_reliability(bb.reliability.retest_reliability(scores)).savefig("retest.png")
    """
    panels = _panels(table)
    counts = [panel["label"].nunique() for panel in panels.values()]
    twice = any(panel.duplicated(["measure", "label"]).any() for panel in panels.values())
    named = sum(counts) <= 40 and not twice if labels is None else flag(labels, "labels")
    if named and twice:
        raise InputError(
            "a label occurs twice under one measure: give names to tables that hold it once, or labels=False"
        )
    looks = looks_of(name for panel in panels.values() for name in panel["measure"])
    inside = [panel["measure"].nunique() for panel in panels.values()]
    rows = [max(series, 2) * count if named else series for series, count in zip(inside, counts, strict=True)]
    heights = [(0.12 if named else 0.46) * size + 0.95 for size in rows]
    everything = pd.concat(panels.values())
    refuse_axes(ax, len(panels))
    if len(panels) == 1:
        figure, axes = one_panel(ax, 7.4, sum(heights) + 0.4)
        column = [axes]
    else:
        figure = new_figure(7.4, sum(heights) + 0.4)
        column = list(figure.subplots(len(panels), 1, squeeze=False, sharex=True, height_ratios=heights)[:, 0])
    for axes, (name, panel) in zip(column, panels.items(), strict=True):
        (_rows if named else _strips)(axes, panel, {name: looks[name] for name in panel["measure"].unique()})
        style_axes(axes, "", name)
        _bands(axes)
    column[-1].set_xlabel("coefficient of reliability (1: no error)")
    least = float(everything[["value", "low"] if named else ["value"]].min().min())
    column[0].set_xlim(max(LEAST, min(0.0, least)) - 0.03, 1.02)
    if named and len(looks) > 1:
        place_legend(figure, ax, "upper center", handles=handles_of(looks.values()), ncols=4)
    cut = ", cut at the left edge" if (everything["low"] < LEAST).any() else ""
    note_below(figure, f"Bars: confidence intervals{cut}." if named else "", *_counted(everything), ax=ax)
    return figure


def _panels(table: object) -> dict[str, pd.DataFrame]:
    """Title to table, each with a column of measures."""
    tables = {"": table} if isinstance(table, pd.DataFrame) else dict(table) if isinstance(table, Mapping) else {}
    for name, part in tables.items():
        if not isinstance(part, pd.DataFrame):
            wrong = type(part).__name__
        elif lacks := [column for column in ("label", "value", "low", "high", "reason") if column not in part]:
            wrong = f"a table without {', '.join(lacks)}"
        elif part.empty:
            wrong = "no row"
        else:
            with within(str(name)) if name else nullcontext():
                _refuse_odd(part)
            continue
        raise InputError(f"{f'{name!r} holds' if name else 'given is'} {wrong}: give what {MAKERS} returns")
    if not tables:
        raise InputError(
            f"given is {type(table).__name__} without tables: give what {MAKERS} returns, or a mapping of names to "
            "such tables"
        )
    if len(tables) > 1 and not any("measure" in part for part in tables.values()):
        return {"": pd.concat([part.assign(measure=str(name)) for name, part in tables.items()], ignore_index=True)}
    return {str(name): part.assign(measure=part.get("measure", "all measures")) for name, part in tables.items()}


def _refuse_odd(table: pd.DataFrame) -> None:
    """Refuse a column that is there twice, and cells of numbers that hold none; empty cells have no coefficient."""
    refuse_twice(table.columns)
    for column in ("value", "low", "high"):
        odd = np.isnan(numbers_of(table[column])) & table[column].notna().to_numpy()
        refuse_rows(table[column], odd, "give a number, or NaN")


def _bands(axes: Axes) -> None:
    """Shades with their names, the first of which stands at the left edge."""
    edges, top = [*(begin for begin, _ in BANDS.values()), 1.0], axes.get_ylim()[1]
    for (name, (_, shade)), (low, high) in zip(BANDS.items(), pairwise(edges), strict=True):
        axes.axvspan(low, high, color=shade, linewidth=0, zorder=0)
        first = low == edges[0]
        coordinates: Any = ("axes fraction", "data") if first else "data"
        note(axes, name, (0.0 if first else low, top), (3, -3), xycoords=coordinates, va="top")
    axes.grid(visible=False)


def _strips(axes: Axes, panel: pd.DataFrame, looks: Mapping[str, Look]) -> None:
    """A strip of points a measure."""
    for i, (name, look) in enumerate(looks.items()):
        values = panel.loc[panel["measure"] == name, "value"].dropna().to_numpy(dtype=float)
        label = "no value"
        if len(values):
            draw_strip(axes, -i, np.maximum(values, LEAST), look, 0.25)
            label = f"median {signed(np.median(values), digits=2)}, n = {len(values):,}"
        notes_beside(axes, [-i], [label])
    axes.set_yticks(-np.arange(len(looks)), word_labels(looks))
    axes.set_ylim(-len(looks) + 0.45, 0.85)


def _rows(axes: Axes, panel: pd.DataFrame, looks: Mapping[str, Look]) -> None:
    """A row a label, with the coefficient of each measure."""
    by_label = panel.groupby("label", sort=False)["value"]
    order = by_label.mean().sort_values(ascending=False, kind="stable").index
    table = panel.assign(mean=panel["value"].clip(lower=LEAST), row=panel["label"], look=panel["measure"])
    draw_forest(axes, table, order.tolist(), looks, spread=True, size=18)
    without = np.flatnonzero(by_label.count().reindex(order) == 0)
    notes_beside(axes, -without, ["no value"] * len(without))
    axes.set_yticks(-np.arange(len(order)), word_labels(order))
    axes.set_ylim(-len(order) + 0.4, 0.6 + 0.24 / (0.12 * max(len(looks), 2)))


def _counted(table: pd.DataFrame) -> list[str]:
    """Sentences on the values that are not in the figure as they are."""
    value = table["value"].to_numpy(dtype=float)
    notes = []
    if missing := int(np.isnan(value).sum()):
        why = "; ".join(dict.fromkeys(table.loc[np.isnan(value), "reason"].dropna()))
        notes.append(f"{missing:,} of {len(value):,} values are missing{': ' if why else ''}{why}.")
    if low := int((value < LEAST).sum()):
        least = f"{low:,}, the smallest is {signed(np.nanmin(value), digits=2)}"
        notes.append(f"Values below {signed(LEAST, digits=1)} stand at the left edge: {least}.")
    return notes


@picture((VarianceComponents, SettingComponents), "variance_components or setting_components")
def plot_components(
    result: VarianceComponents | SettingComponents, prob: float = PROB, title: str | None = None, ax: Axes | None = None
) -> Figure | Axes:
    """Shares of the variance by component, the largest on top.

    Points are posterior means, thick bars 50% and thin bars ``prob`` equal-tailed intervals. The component of all
    facets is what is left over. Shares of settings are those of the observed levels.

    Parameters
    ----------
    result
        What :func:`variance_components` or :func:`setting_components` returns.
    prob
        Posterior mass of the thin bars.
    title
        Title; None for the usual one, or for none on axes that are given; ``""`` for none.
    ax
        Axes to draw on, which are returned and have no notes; by default those of a new figure.

    Examples
    --------
    >>> kv = bb.load_embedding("glove-50d-slice")
    >>> kvs = [kv, bb.debias(kv, "project", definitional=[("poor", "rich")])]  # or of two seeds
    >>> scores = bb.reliability.bias_scores(kvs, "occ16", measures=["db_wa", "ripa"])
    >>> found = bb.reliability.variance_components(scores, draws=400, seed=0)
    >>> bb.plots.plot_components(found).savefig("components.png")
    """
    prob = probability(prob, "prob")
    inner = result.table(INNER_PROB)
    table = result.table(prob).assign(inner_low=inner["share_low"], inner_high=inner["share_high"])
    table = table.sort_values("share", ascending=False, kind="stable")
    names = table["component"].str.replace("_", " ").tolist()
    drawn = table.assign(mean=table["share"], low=table["share_low"], high=table["share_high"], row=names, look="")
    drawn["beside"] = ["< 1%" if value < 0.01 else f"{value:.0%}" for value in table["share"]]
    figure, axes = one_panel(ax, 7.4, 0.25 * len(table) + 1.3)
    draw_forest(axes, drawn, names, {"": PLAIN})
    axes.set_xlim(-0.01, min(1.01, 1.05 * float(table["share_high"].max())))
    axes.xaxis.set_major_formatter(lambda value, _: f"{percent(value)}")
    what = "between the observed levels" if isinstance(result, SettingComponents) else "of single scores"
    axes_label = f"share of the variance {what} (50% and {percent(prob)})"
    label_rows(axes, names, axes_label, "Components of the variance", 0.0)
    note_below(figure, *result.notes, ax=ax)
    return figure
