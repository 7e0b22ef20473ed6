"""Pictures of metrics: rankings, silhouettes, plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np

from bayesbias._checks import flag
from bayesbias._core.vectors import FloatArray
from bayesbias._phrases import MINUS, percent
from bayesbias.comparison.power import Plan
from bayesbias.comparison.ranking import Ranking
from bayesbias.errors import InputError
from bayesbias.plots.style import (
    FAINT,
    FONT,
    INK,
    Look,
    check_kind,
    mark_line,
    new_figure,
    note_below,
    style_axes,
    word_labels,
)
from bayesbias.silhouettes import Silhouette, silhouette_accuracy

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#4D4D4D")
HATCHES = ("", "//", "..", "xx", "++")
ACROSS = 3
"""Panels of rank probabilities in a row."""


def plot_ranking(ranking: Ranking) -> Figure:
    """Ranks added up over metrics, and for each metric how probable each rank of each embedding is.

    Parameters
    ----------
    ranking
        A result of :func:`rank`.

    Returns
    -------
    Figure
        Above, the ranks by all metrics added up (shorter is less biased), then the outside rankings in white. Below, a
        panel a metric: the probability of each rank, in figures and in grey, with the rank of the words as they are in
        a frame.

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> debiased = bb.debias(kv, "project", definitional=[("he", "she"), ("man", "woman")])
    >>> ranking = bb.rank({"before": kv, "after": debiased}, ["weat6", "weat7"], "weat", draws=20)
    >>> bb.plots.plot_ranking(ranking).savefig("ranking.png")
    """
    check_kind(ranking, Ranking, "plot_ranking", "rank")
    ranks, metrics = ranking.ranks, list(map(str, ranking.scores))
    added = ranks[metrics].sum(axis=1, min_count=len(metrics))
    order = list(added.sort_values(kind="stable", na_position="last").index)
    shown = list(ranking.rank_distribution["metric"].drop_duplicates())
    columns = max(1, min(ACROSS, len(shown)))
    rows = -(-len(shown) // columns)
    each = 0.34 * len(order) + 0.75
    widest = max(map(len, word_labels(order, [""] * len(order))))
    with mpl.rc_context(FONT):
        figure = new_figure(max(6.4, columns * (1.3 + 0.42 * len(order)) + 0.09 * widest), each * (rows + 1) + 0.6)
        grid = figure.add_gridspec(rows + 1, columns)
        _added(figure.add_subplot(grid[0, :]), ranks.loc[order], metrics)
        for i, metric in enumerate(shown):
            axes = figure.add_subplot(grid[1 + i // columns, i % columns])
            table = ranking.rank_distribution.query("metric == @metric").pivot_table(
                index="embedding", columns="rank", values="probability"
            )
            _probable(axes, table.reindex(order).to_numpy(), ranks.loc[order, metric].to_numpy(dtype=float), metric)
            axes.set_yticks(np.arange(len(order)), word_labels(order, [""] * len(order)) if i % columns == 0 else [])
        figure.legend(loc="outside upper center", ncols=4, frameon=False)
        if shown:
            note_below(
                figure,
                "below: probability of each rank (1 = least biased) over words drawn with replacement; frame: the rank "
                "with the words as they are",
            )
    return figure


def _added(axes: Axes, ranks: pd.DataFrame, metrics: list[str]) -> None:
    start = np.zeros(len(ranks))
    for i, name in enumerate(ranks):
        outside = name not in metrics
        length = np.nan_to_num(ranks[name].to_numpy(dtype=float))
        axes.barh(
            np.arange(len(ranks)),
            length,
            left=start,
            height=0.62,
            color="white" if outside else COLOURS[i % len(COLOURS)],
            hatch=HATCHES[i % len(HATCHES)],
            edgecolor=FAINT if outside else "white",
            linewidth=0.6,
            label=f"{name} (outside)" if outside else str(name),
        )
        start += length
    lacks = np.where(ranks[metrics].isna().any(axis=1), "\n(lacks a rank)", "")
    axes.set_yticks(np.arange(len(ranks)), word_labels(ranks.index, [""] * len(ranks)) + lacks.astype(object))
    axes.invert_yaxis()
    style_axes(axes, "ranks, added up", "Ranks (shorter: less biased)")


def _probable(axes: Axes, shares: np.ndarray, ranks: np.ndarray, metric: str) -> None:
    """Probabilities (embeddings, ranks) of one metric."""
    axes.imshow(shares, cmap="Greys", vmin=0, vmax=1.15, aspect="auto")
    for (row, column), share in np.ndenumerate(shares):
        text = "1" if share > 0.995 else f"{share:.2f}".lstrip("0") if share >= 0.005 else ""
        axes.text(column, row, text, ha="center", va="center", fontsize=7.5, color="white" if share > 0.6 else INK)
    for row, rank in enumerate(ranks):
        tied = int((ranks == rank).sum())  # those that tie share as many ranks
        if tied:
            corner = (rank - (tied - 1) / 2 - 1.5, row - 0.5)
            axes.add_patch(
                mpl.patches.Rectangle(corner, tied, 1, fill=False, edgecolor="#D55E00", linewidth=1.6, clip_on=False)
            )
    axes.set_xticks(np.arange(shares.shape[1]), [str(i + 1) for i in range(shares.shape[1])])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("rank")
    axes.set_title(metric, loc="left", fontweight="bold")


LOOKS = (Look("#D55E00", "o", ""), Look("#0072B2", "s", ""), Look("#009E73", "^", ""), Look("#CC79A7", "D", ""))
COLUMNS = 2
NARROW, WIDE = 32, 50
"""Letters in a line beside and above a panel."""
SILHOUETTE_HATCHES = ("", "////", "....", "xxxx")
ZOOMED = 0.1
"""Share of a metric's range below which values have the axis for themselves."""

Panel = Mapping[str, Silhouette] | Silhouette


def plot_silhouette(panels: Panel | Sequence[Panel], runs: bool = False, zoom: bool | None = None) -> Figure:
    """Values of a metric over the number of words used: the area between the extremes, and the mean.

    Where values have intervals, thin dashed lines are the means of their ends, and the legend holds their coverage: the
    share of intervals that hold the value with all words, in the mean over the smaller sizes.

    Parameters
    ----------
    panels
        A silhouette, or a mapping of names (such as biased and unbiased) to silhouettes of one metric; or several of
        these, one panel each. The title of a panel holds the robustness of each, and with two silhouettes the accuracy,
        the first being the biased one.
    runs
        Whether to draw the curve of each run.
    zoom
        Whether the axis ends with the values instead of the metric's range; None does so for values that fill less than
        a tenth of it. The label then says the range, since the area is no share of the panel any more.

    Examples
    --------
    >>> found = bb.silhouettes.silhouette("google-news-slice", "weat1", "weat", runs=10)
    >>> bb.plots.plot_silhouette(found).savefig("silhouette.png")
    """
    if zoom is not None:
        flag(zoom, "zoom")
    if not isinstance(panels, Silhouette | Mapping | list | tuple):
        raise InputError(f"given is {type(panels).__name__}: plot_silhouette takes what silhouette returns")
    every = [panels] if isinstance(panels, Silhouette | Mapping) else list(panels)
    if not every:
        raise InputError("there is no silhouette to draw: give what silhouette returns")
    named = [_named(panel) for panel in every]
    columns = min(COLUMNS, len(named))
    rows = -(-len(named) // columns)
    with mpl.rc_context(FONT):
        figure = new_figure(5.0 * columns + 0.4, 3.0 * rows + 0.3)
        grid = figure.subplots(rows, columns, squeeze=False)
        for axes, panel in zip(grid.ravel(), named, strict=False):
            _draw(axes, panel, flag(runs, "runs"), zoom)
        for axes in grid.ravel()[len(named) :]:
            axes.set_visible(False)
    return figure


def _named(panel: Panel) -> dict[str, Silhouette]:
    named = {panel.embedding: panel} if isinstance(panel, Silhouette) else {}
    named = dict(panel) if isinstance(panel, Mapping) else named
    if not named or not all(isinstance(curve, Silhouette) for curve in named.values()):
        raise InputError(f"given is {panel!r}: plot_silhouette takes what silhouette returns, or names to several")
    if len({(curve.metric, curve.vary) for curve in named.values()}) > 1:
        kinds = ", ".join(f"{name} ({curve.metric}, {curve.vary})" for name, curve in named.items())
        raise InputError(f"a panel shows one metric and one kind of list, given are {kinds}: give several panels")
    return named


def _draw(axes: Axes, panel: Mapping[str, Silhouette], runs: bool, zoom: bool | None) -> None:
    for i, (name, curve) in enumerate(panel.items()):
        colour = LOOKS[i % len(LOOKS)].colour
        axes.fill_between(
            curve.sizes,
            curve.min,
            curve.max,
            color=colour,
            alpha=0.22,
            linewidth=0.8,
            hatch=SILHOUETTE_HATCHES[i % len(SILHOUETTE_HATCHES)],
        )
        if runs:
            axes.plot(curve.sizes, curve.values.T, color=colour, linewidth=0.4, alpha=0.35)  # noqa: PD011
        for end in _ends(curve):
            axes.plot(curve.sizes, end, color=colour, linewidth=0.8, linestyle=(0, (5, 2)))
        axes.plot(curve.sizes, curve.mean, color=colour, linewidth=1.8, label=f"{name} ({_scores(curve)})")
    first = next(iter(panel.values()))
    (low, high), zoomed = _limits(list(panel.values()), zoom)
    room = 0.03 * (high - low)
    axes.set_ylim(low - room, high + room)
    axes.axhline(first.optimum, color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel(f"{first.vary.removesuffix('s')} words used")
    axes.set_ylabel(fill(_ranged(first) if zoomed else first.metric, NARROW))
    title = f"{first.metric}, growing {first.vary}"
    both = list(panel.values())
    if len(both) == 2 and np.array_equal(both[0].sizes, both[1].sizes):
        title += f": accuracy {silhouette_accuracy(both[0], both[1]):.2f}"
    axes.set_title(fill(title, WIDE), loc="left", fontweight="bold")
    axes.legend(frameon=False, fontsize=8)


def _ranged(silhouette: Silhouette) -> str:
    """The metric and its range."""
    low, high = (f"{bound:.3g}".replace("-", "\N{MINUS SIGN}") for bound in silhouette.bounds)
    return f"{silhouette.metric} (range {low} to {high})"


def _ends(silhouette: Silhouette) -> list[FloatArray]:
    """Means over the runs of the lower and of the upper ends of the intervals, (sizes,) each."""
    return [end.mean(axis=0) for end in (silhouette.low, silhouette.high) if end is not None]


def _scores(silhouette: Silhouette) -> str:
    covered = silhouette.coverage[:-1]
    coverage = f", coverage {covered.mean():.2f}" if len(covered) and not np.isnan(covered).any() else ""
    return f"robustness {silhouette.robustness:.2f}{coverage}"


def _limits(panel: Sequence[Silhouette], zoom: bool | None) -> tuple[tuple[float, float], bool]:
    """Ends of the axis, and whether they are those of what is drawn."""
    low, high = panel[0].bounds
    values = np.concatenate([curve.values.ravel() for curve in panel])  # noqa: PD011
    drawn = np.concatenate([values, *(end for curve in panel for end in _ends(curve))])
    values, drawn = values[~np.isnan(values)], drawn[~np.isnan(drawn)]
    if not len(values) or np.ptp(drawn) == 0:
        return (low, high), False
    if zoom or (zoom is None and np.ptp(values) < ZOOMED * (high - low)):
        return (float(drawn.min()), float(drawn.max())), True
    return (low, high), False


LOOKS_OF_WAYS = (("#D55E00", "o"), ("#E69F00", "^"), ("#0072B2", "s"), ("#4D4D4D", "D"))
TICKS = (0.5, 1, 2, 4, 8, 16, 32)


def plot_plan(plan: Plan) -> Figure:
    """Width of the contrast's interval and probability of seeing it against the length of the lists.

    The vertical line at 1 marks the present lists; the horizontal ones the width of an interval that just excludes 0 at
    the effect asked for, and the power asked for.

    Parameters
    ----------
    plan
        A result of :func:`plan`.

    Examples
    --------
    >>> bb.plots.plot_plan(bb.plan("gender", effect=0.05)).savefig("plan.png")
    """
    check_kind(plan, Plan, "plot_plan", "plan")
    now = plan.present
    with mpl.rc_context(FONT):
        figure = new_figure(8.2, 3.5)
        left, right = figure.subplots(1, 2, sharex=True)
        for (name, rows), (colour, marker) in zip(
            plan.curve.groupby("varied", sort=False), LOOKS_OF_WAYS, strict=False
        ):
            for axes, column in ((left, "width"), (right, "power")):
                axes.plot(rows["factor"], rows[column], color=colour, marker=marker, ms=4, lw=1.2, label=str(name))
        for axes, value in ((left, now.width), (right, now.power)):
            mark_line(axes, 1.0)
            axes.scatter([1.0], [value], s=70, facecolor="none", edgecolor=INK, zorder=4)
            axes.set_xscale("log", base=2)
            axes.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
            axes.minorticks_off()
        left.axhline(2 * abs(plan.effect), color=FAINT, linewidth=0.8, linestyle=":")
        left.annotate(
            "twice the effect",
            (1.0, 2 * abs(plan.effect)),
            xycoords=("axes fraction", "data"),
            xytext=(-2, 3),
            textcoords="offset points",
            ha="right",
            fontsize=7.5,
            color=FAINT,
        )
        right.axhline(plan.power, color=FAINT, linewidth=0.8, linestyle=":")
        title = f"{plan.first}{MINUS}{plan.second}"
        style_axes(
            left, "length of the lists (1 = as they are)", f"Width of the {percent(plan.prob)} interval, {title}"
        )
        style_axes(right, "length of the lists (1 = as they are)", f"Probability of seeing {plan.effect:g}")
        left.set_ylim(bottom=0)
        right.set_ylim(0, 1.02)
        figure.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False)
        note_below(
            figure,
            f"now: {now.stereotype_words} stereotype, {now.control_words} control, {now.protected_words} protected "
            f"words; scales: {plan.scales_from}",
        )
    return figure
