"""Figures of metrics: rankings and silhouettes; and of what chance gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from bayesbias._support.arguments import flag
from bayesbias._support.numbers import difference, signed
from bayesbias.baselines.ranking import Ranking
from bayesbias.baselines.silhouettes import Silhouette, silhouette_accuracy
from bayesbias.checks.topics import TopicNull, as_far
from bayesbias.errors import InputError
from bayesbias.numerics.arrays import FloatArray
from bayesbias.plots.general import write_cells
from bayesbias.plots.style import (
    COLOURS,
    FAINT,
    INK,
    new_figure,
    note,
    note_below,
    one_panel,
    picture,
    refuse_axes,
    show_sign,
    style_axes,
    word_labels,
)

STACKED = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#4D4D4D")
HATCHES = ("", "//", "..", "xx", "++")


@picture(Ranking, "rank")
def plot_ranking(ranking: Ranking, title: str | None = None) -> Figure:
    """Ranks added up over metrics, and for each metric how probable each rank of each embedding is.

    Above, the ranks by all metrics are added up (shorter is less biased), then the outside rankings in white. Below, a
    panel a metric shows the probability of each rank, in figures and in grey, with the rank of the words as they are in
    an outline.

    Parameters
    ----------
    ranking
        A result of :func:`rank`.
    title
        Title above the panels, which keep theirs; by default none.

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> debiased = bb.debias(kv, "project", definitional=[("he", "she"), ("man", "woman")])
    >>> ranking = bb.rank({"before": kv, "after": debiased}, ["weat6", "weat7"], "weat", draws=20)
    >>> bb.plots.plot_ranking(ranking).savefig("ranking.png")
    """
    ranks, metrics = ranking.ranks, list(map(str, ranking.scores))
    added = ranks[metrics].sum(axis=1, min_count=len(metrics))
    order = list(added.sort_values(kind="stable", na_position="last").index)
    named = list(ranking.rank_distribution["metric"].drop_duplicates())
    columns = max(1, min(3, len(named)))
    rows = -(-len(named) // columns)
    each = 0.34 * len(order) + 0.75
    labels = word_labels(order)
    widest = max(map(len, labels))
    figure = new_figure(max(6.4, columns * (1.3 + 0.42 * len(order)) + 0.09 * widest), each * (rows + 1) + 0.6)
    grid = figure.add_gridspec(rows + 1, columns)
    _added(figure.add_subplot(grid[0, :]), ranks.loc[order], metrics)
    for i, metric in enumerate(named):
        axes = figure.add_subplot(grid[1 + i // columns, i % columns])
        table = ranking.rank_distribution.query("metric == @metric").pivot_table(
            index="embedding", columns="rank", values="probability"
        )
        _probable(axes, table.reindex(order).to_numpy(), ranks.loc[order, metric].to_numpy(dtype=float), metric)
        axes.set_yticks(np.arange(len(order)), labels if i % columns == 0 else [])
    figure.legend(loc="outside upper center", ncols=4, frameon=False)
    drawn = "below: probability of each rank (1 = least biased) over words drawn with replacement;"
    note_below(figure, f"{drawn} outlined: the rank with the words as they are" if named else "")
    return figure


def _added(axes: Axes, ranks: pd.DataFrame, metrics: list[str]) -> None:
    start = np.zeros(len(ranks))
    for i, name in enumerate(ranks):
        length = np.nan_to_num(ranks[name].to_numpy(dtype=float))
        look: dict[str, Any] = {"color": STACKED[i % len(STACKED)], "edgecolor": "white", "label": str(name)}
        if name not in metrics:
            look = {"color": "white", "edgecolor": FAINT, "label": f"{name} (outside)"}
        hatch = HATCHES[i % len(HATCHES)]
        axes.barh(np.arange(len(ranks)), length, left=start, height=0.62, hatch=hatch, linewidth=0.6, **look)
        start += length
    lacks = np.where(ranks[metrics].isna().any(axis=1), "\n(lacks a rank)", "")
    axes.set_yticks(np.arange(len(ranks)), word_labels(ranks.index) + lacks.astype(object))
    axes.invert_yaxis()
    style_axes(axes, "ranks, added up", "Ranks (shorter: less biased)")


def _probable(axes: Axes, shares: np.ndarray, ranks: np.ndarray, metric: str) -> None:
    """Probabilities (embeddings, ranks) of one metric."""
    image = axes.imshow(shares, cmap="Greys", vmin=0, vmax=1.15, aspect="auto")
    texts = [["1" if p > 0.995 else f"{p:.2f}".lstrip("0") if p >= 0.005 else "" for p in row] for row in shares]
    write_cells(axes, image, texts, 7.5)
    for row, rank in enumerate(ranks):
        tied = int((ranks == rank).sum())  # those that tie share as many ranks
        if tied:
            corner = (rank - (tied - 1) / 2 - 1.5, row - 0.5)
            axes.add_patch(Rectangle(corner, tied, 1, fill=False, edgecolor="#D55E00", linewidth=1.6, clip_on=False))
    axes.set_xticks(np.arange(shares.shape[1]), [str(i + 1) for i in range(shares.shape[1])])
    axes.tick_params(length=0, left=False, bottom=False)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("rank")
    axes.set_title(metric, loc="left", fontweight="bold")


SILHOUETTE_HATCHES = ("", "////", "....", "xxxx")

Panel = Mapping[str, Silhouette] | Silhouette


@picture()
def plot_silhouette(
    panels: Panel | Sequence[Panel],
    runs: bool = False,
    zoom: bool | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure | Axes:
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
    title
        Title of one panel, or above several, which keep theirs.
    ax
        Axes to draw one panel on, which are returned; by default those of a new figure.

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
    columns = min(2, len(named))
    rows = -(-len(named) // columns)
    refuse_axes(ax, len(named))
    if ax is not None:
        _draw(ax, named[0], flag(runs, "runs"), zoom)
        return ax
    figure = new_figure(5.0 * columns + 0.4, 3.0 * rows + 0.3)
    for axes, held in zip_longest(figure.subplots(rows, columns, squeeze=False).ravel(), named):
        axes.set_visible(held is not None)
        if held is not None:
            _draw(axes, held, flag(runs, "runs"), zoom)
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
        colour, hatch = COLOURS[i % 4], SILHOUETTE_HATCHES[i % 4]
        axes.fill_between(curve.sizes, curve.min, curve.max, color=colour, alpha=0.22, linewidth=0.8, hatch=hatch)
        if runs:
            axes.plot(curve.sizes, curve.values.T, color=colour, linewidth=0.4, alpha=0.35)  # noqa: PD011
        for end in _ends(curve):
            axes.plot(curve.sizes, end, color=colour, linewidth=0.8, linestyle=(0, (5, 2)))
        covered = curve.coverage[:-1]
        coverage = f", coverage {covered.mean():.2f}" if len(covered) and not np.isnan(covered).any() else ""
        label = f"{name} (robustness {curve.robustness:.2f}{coverage})"
        axes.plot(curve.sizes, curve.mean, color=colour, linewidth=1.8, label=label)
    both = list(panel.values())
    first, (low, high), zoomed = both[0], *_limits(both, zoom)
    room = 0.03 * (high - low)
    axes.set_ylim(low - room, high + room)
    axes.axhline(first.optimum, color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel(f"{first.vary.removesuffix('s')} words used")
    least, most = (f"{bound:.3g}".replace("-", "\N{MINUS SIGN}") for bound in first.bounds)
    axes.set_ylabel(fill(f"{first.metric} (range {least} to {most})" if zoomed else first.metric, 32))
    title = f"{first.metric}, growing {first.vary}"
    if len(both) == 2 and np.array_equal(both[0].sizes, both[1].sizes):
        title += f": accuracy {silhouette_accuracy(both[0], both[1]):.2f}"
    axes.set_title(fill(title, 50), loc="left", fontweight="bold")
    axes.legend(frameon=False, fontsize=8)


def _ends(silhouette: Silhouette) -> list[FloatArray]:
    """Means over the runs of the lower and of the upper ends of the intervals, (sizes,) each."""
    return [end.mean(axis=0) for end in (silhouette.low, silhouette.high) if end is not None]


def _limits(panel: Sequence[Silhouette], zoom: bool | None) -> tuple[tuple[float, float], bool]:
    """Ends of the axis, and whether they are those of what is drawn."""
    low, high = panel[0].bounds
    values = np.concatenate([curve.values.ravel() for curve in panel])  # noqa: PD011
    drawn = np.concatenate([values, *(end for curve in panel for end in _ends(curve))])
    values, drawn = values[~np.isnan(values)], drawn[~np.isnan(drawn)]
    zoomed = len(values) > 0 and np.ptp(drawn) > 0
    if zoomed and (zoom or (zoom is None and np.ptp(values) < 0.1 * (high - low))):
        return (float(drawn.min()), float(drawn.max())), True
    return (low, high), False


BARS, MARK = "#56B4E9", "#D55E00"


def _observed(axes: Axes, mark: float, words: str, right: bool) -> None:
    """A line at an observed value, with words right or left of it."""
    axes.axvline(mark, color=MARK, linewidth=1.8, zorder=4)
    side: dict[str, Any] = {"ha": "left" if right else "right", "va": "top", "fontsize": 8, "color": MARK}
    note(axes, words, (mark, 0.97), (6 if right else -6, 0), xycoords=("data", "axes fraction"), **side)


@picture(TopicNull, "topic_null")
def plot_topic_null(
    null: TopicNull, statistic: str | None = None, title: str | None = None, ax: Axes | None = None
) -> Figure | Axes:
    """Histogram of a statistic for random lists, with the observed value as a line.

    Replicates at least as far from no bias (dashed) as the observed value are orange.

    Parameters
    ----------
    null
        A result of :func:`topic_null`.
    statistic
        One of its statistics; by default the first.
    title
        Title; None for the usual one, or for none on axes that are given; ``""`` for none.
    ax
        Axes to draw on, which are returned and have no notes; by default those of a new figure.

    Examples
    --------
    >>> null = bb.topic_null("google-news-slice", "weat7", replicates=50)
    >>> bb.plots.plot_topic_null(null).savefig("topics.png")
    """
    name = next(iter(null.observed)) if statistic is None else statistic
    values, observed, centre = null.of(name), null.observed[name], null.centre[name]
    far = as_far(values, observed, centre)
    edges = np.histogram_bin_edges(values, 40 if len(values) > 200 else 20).tolist()
    figure, axes = one_panel(ax, 6.4, 3.2)
    axes.hist([values[~far], values[far]], edges, stacked=True, color=[BARS, "#E69F00"], zorder=2)
    axes.axvline(centre, color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=3)
    _observed(axes, observed, f"observed {signed(observed)}", bool(observed <= np.median(values)))
    share = f"{far.sum():,} of {len(values):,} as far"
    style_axes(axes, f"{name} of {null.words}", f"{null.words}, {difference(name)}: {share}")
    if " - " in name:
        nearer = f"{name.split(' - ')[0]} closer"
        show_sign(axes, "difference of mean cosine distances", nearer)
    axes.set_yticks([])
    axes.set_ylim(top=1.12 * axes.get_ylim()[1])  # the label of the observed value has room
    note_below(figure, f"{len(values):,} sets of random lists; {null.embedding}; orange: as far from {centre:g}", ax=ax)
    return figure
