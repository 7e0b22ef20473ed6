"""Pictures of many embeddings: pools, trends, and relations to outside values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from scipy.special import ndtri

from bayesbias._checks import one_of, probability, whole_number
from bayesbias._core.vectors import FloatArray
from bayesbias._phrases import MINUS, percent, signed
from bayesbias.checks.summaries import PROB, interval_ends
from bayesbias.errors import InputError, shown
from bayesbias.plots.style import (
    COLOURS,
    FAINT,
    FONT,
    INK,
    Look,
    check_kind,
    draw_intervals,
    label_rows,
    note_below,
    one_panel,
    place_legend,
    style_axes,
    word_labels,
)
from bayesbias.second_stage import Criterion, Pool, Trend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RAW, POOLED = Look(FAINT, "D", "estimate"), Look("#0072B2", "o", "partially pooled")
LABELLED = 5
"""Points furthest from the line that are named."""
POINTS = 100


def plot_pool(pool: Pool, prob: float = PROB, ax: Axes | None = None) -> Figure:
    """Each embedding's own estimate in grey and the partially pooled one in blue, with the mean of all as a band.

    Parameters
    ----------
    pool
        A result of :func:`pool`.
    prob
        Mass of the thin bars.
    ax
        Axes to draw on; by default those of a new figure.

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> debiased = bb.debias(kv, "project", definitional=[("he", "she"), ("man", "woman")])
    >>> tables = {"1990": bb.distance_table(kv, "weat7"), "2000": bb.distance_table(debiased, "weat7")}
    >>> bb.plots.plot_pool(bb.pool(tables)).savefig("pool.png")
    """
    check_kind(pool, Pool, "plot_pool", "pool")
    table = pool.table(prob).reset_index(drop=True)
    order = table.sort_values("mean", kind="stable").index.to_numpy()
    draws = pool.draws("theta")[:, order]
    heights = -np.arange(len(order), dtype=float)
    low, high = interval_ends(pool.draws("mean")[:, None], prob)
    with mpl.rc_context(FONT):
        figure, axes = one_panel(ax, 6.4, 0.3 * len(order) + 1.3)
        axes.axvspan(low[0], high[0], color="#DCE9F3", lw=0, zorder=0)
        raw = table.loc[order]
        axes.hlines(heights + 0.16, raw["estimate_low"], raw["estimate_high"], color=RAW.colour, linewidth=0.9)
        axes.scatter(raw["estimate"], heights + 0.16, s=14, marker=RAW.marker, color=RAW.colour, label=RAW.label)
        draw_intervals(axes, heights - 0.12, draws, prob, POOLED)
        axes.scatter([], [], s=22, marker=POOLED.marker, color=POOLED.colour, label=POOLED.label)
        label_rows(axes, word_labels(raw["name"], [""] * len(raw)).tolist(), _measured(pool), "Embeddings", 0.0)
        place_legend(figure, axes, ax, "upper right", ncols=2)
        note_below(figure, f"Bars: {percent(prob)} intervals; band: the mean over embeddings like these.", ax=ax)
    return figure


def _measured(result: Pool | Trend | Criterion) -> str:
    """What an axis of contrasts shows."""
    unit = "sds of distances" if isinstance(result, Pool) and result.standardised else "cosine distance"
    return f"{result.contrast[0]}{MINUS}{result.contrast[1]} ({unit})"


def plot_relation(
    result: Pool | Criterion,
    variable: str | None = None,
    prob: float = PROB,
    label: int = LABELLED,
    ax: Axes | None = None,
) -> Figure:
    """Contrasts against outside values, with error bars on either side and the line of what lies behind both.

    Parameters
    ----------
    result
        A result of :func:`pool` with outside variables, or of :func:`criterion`.
    variable
        The outside variable of a pool; None where there is one.
    prob
        Mass of the bars and of the band around the line.
    label
        How many points furthest from the line are named.
    ax
        Axes to draw on; by default those of a new figure.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, seed=0)
    >>> values = {word: float(len(word)) for word in table["protected_word"].unique()}
    >>> bb.plots.plot_relation(bb.criterion(post, values)).savefig("relation.png")
    """
    check_kind(result, (Pool, Criterion), "plot_relation", "pool or criterion")
    reach = float(ndtri((1 + probability(prob, "prob")) / 2))
    label = whole_number(label, "label", least=0)
    if isinstance(result, Criterion):
        if variable is not None:
            raise InputError(f"variable is {shown(variable)}, and a criterion has one: leave variable out")
        words = result.words
        names, x, x_se, y, y_se = (words[name].to_numpy() for name in ("word", "value", "value_se", "estimate", "se"))
        lines = np.column_stack([result.draws("intercept"), result.draws("slope")])
        what, rho = "outside value", result.table(prob).iloc[0]
        correlation = (rho["mean"], rho["low"], rho["high"])
    else:
        variable = _variable(result, variable)
        table = result.table(prob)
        x, x_se = result.outside[variable].to_numpy(), result.outside[f"{variable}_se"].to_numpy()
        known = np.isfinite(x)
        names, y, y_se = (table[name].to_numpy()[known] for name in ("name", "estimate", "se"))
        x, x_se, lines, what = x[known], x_se[known], result.lines[variable], variable
        row = result.relation.set_index("variable").loc[variable]
        correlation = (row["correlation"], row["correlation_low"], row["correlation_high"])
    grid = np.linspace(x.min(), x.max(), POINTS)
    band = lines[:, :1] + lines[:, 1:] * grid
    low, high = interval_ends(band, prob)
    residual = np.abs(y - np.interp(x, grid, band.mean(axis=0)))
    with mpl.rc_context(FONT):
        figure, axes = one_panel(ax, 6.0, 4.2)
        axes.fill_between(grid, low, high, color="#DCE9F3", lw=0, zorder=0)
        axes.plot(grid, band.mean(axis=0), color=POOLED.colour, linewidth=1.4, zorder=1)
        axes.errorbar(
            x, y, yerr=reach * y_se, xerr=reach * x_se if x_se.any() else None, fmt="none", ecolor=FAINT, elinewidth=0.7
        )
        axes.scatter(x, y, s=18, color=INK, zorder=3)
        _name_points(axes, names, x, y, np.argsort(residual)[::-1][:label])
        style_axes(axes, str(what), _heading(correlation, prob))
        axes.set_ylabel(_measured(result))
        note_below(figure, "The correlation is that of what lies behind both, errors taken out.", ax=ax)
    return figure


def _heading(correlation: tuple[float, float, float], prob: float) -> str:
    mean, low, high = (signed(value, digits=2) for value in correlation)
    return f"Correlation {mean} ({percent(prob)} interval {low} to {high})"


def _variable(pool: Pool, variable: str | None) -> str:
    valid = pool.relation["variable"].tolist() if len(pool.relation) else []
    if not valid:
        raise InputError("this pool has no outside variable: give pool(..., on=DataFrame)")
    return one_of(valid[0] if variable is None and len(valid) == 1 else str(variable), valid, "variable")


def _name_points(axes: Axes, names: FloatArray, x: FloatArray, y: FloatArray, rows: FloatArray) -> None:
    for row in rows:
        axes.annotate(
            str(names[row]), (x[row], y[row]), xytext=(4, 3), textcoords="offset points", fontsize=7.5, color=INK
        )


def plot_trend(trend: Trend, prob: float = PROB, ax: Axes | None = None) -> Figure:
    """Estimates with their intervals over time, and the trend as two bands: its level, and its shape.

    Parameters
    ----------
    trend
        A result of :func:`trend`.
    prob
        Mass of the bars and of the band.
    ax
        Axes to draw on; by default those of a new figure.

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> debiased = bb.debias(kv, "project", definitional=[("he", "she"), ("man", "woman")])
    >>> tables = {"1990": bb.distance_table(kv, "weat7"), "2000": bb.distance_table(debiased, "weat7")}
    >>> tables["2010"] = tables["1990"]
    >>> bb.plots.plot_trend(bb.trend(tables, {name: float(name) for name in tables})).savefig("trend.png")
    """
    check_kind(trend, Trend, "plot_trend", "trend")
    table = trend.table(prob)
    time, level = table["time"].to_numpy(dtype=float), trend.draws("level")
    shape = level - level.mean(axis=1, keepdims=True) + level.mean()
    with mpl.rc_context(FONT):
        figure, axes = one_panel(ax, 6.4, 3.4)
        axes.fill_between(time, table["low"], table["high"], color="#DCE9F3", lw=0, zorder=0)
        axes.fill_between(time, *interval_ends(shape, prob), color="#9FC4E0", lw=0, zorder=0.5)
        axes.plot(time, table["mean"], color=POOLED.colour, linewidth=1.4, zorder=2)
        axes.vlines(time, table["estimate_low"], table["estimate_high"], color=FAINT, linewidth=0.9, zorder=1)
        axes.scatter(time, table["estimate"], s=20, color=COLOURS[0], edgecolor="white", lw=0.6, zorder=3)
        axes.axhline(0.0, color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
        style_axes(axes, "time", f"Trend, {trend.kind}")
        axes.grid(axis="y", color="#E3E3E3", linewidth=0.6)
        axes.set_ylabel(_measured(trend))
        note_below(
            figure,
            f"Bars: {percent(prob)} intervals of single levels, whose errors are shared. Light: the trend; dark: its "
            "shape, with the mean level taken as known, since changes are known better than levels.",
            ax=ax,
        )
    return figure
