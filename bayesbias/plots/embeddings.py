"""Figures of several embeddings: what changed between them, pools, and relations to outside values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray
from scipy.special import ndtri

from bayesbias._support.arguments import flag, one_of, probability, whole_number
from bayesbias._support.numbers import MINUS, difference, percent, signed
from bayesbias.checks.summaries import PROB, interval_ends
from bayesbias.comparison import Comparison, SideEffects
from bayesbias.comparison.effects import KINDS
from bayesbias.comparison.sides import BeforeAfter
from bayesbias.distances.dataframe import COSINE
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError, shown
from bayesbias.models.weights import RAW
from bayesbias.numerics.arrays import FloatArray, IntArray
from bayesbias.numerics.mixtures import Empirical
from bayesbias.plots.general import draw_forest
from bayesbias.plots.style import (
    BAND,
    FAINT,
    INK,
    Look,
    connection_looks,
    draw_row,
    handles_of,
    label_rows,
    name_points,
    new_figure,
    note_below,
    one_panel,
    part_rows,
    picture,
    place_legend,
    posterior_table,
    show_sign,
    spread_rows,
    style_axes,
    word_labels,
)
from bayesbias.second_stage import Criterion, Pool
from bayesbias.words import OWN, WHOLE, labelled

LONGEST = 22
UPRIGHT = 48  # letters of a line along the height of a figure
NEARNESS = "mean cosine distance (smaller is closer)"


@picture(Comparison, "compare")
def plot_change(
    result: Comparison,
    prob: float = PROB,
    before: str | None = None,
    after: str | None = None,
    words: bool = True,
    title: str | None = None,
) -> Figure:
    """Figure of a change: mean distances of the whole list, and below the association of each word.

    Left, a line leads from the value before (hollow) to that after (filled). Above these are mean distances, and the
    dashed line at 1 is where unrelated words lie. Below they are the headline contrast of the whole list and each
    protected word's association (or difference of mean distances, where there are no associations), and the dashed line
    at 0 is where a word has none. Right stand the changes: posterior means, 50% (thick) and ``prob`` (thin)
    equal-tailed intervals, grey where the thin one includes 0. Where the posterior mean is not what the pairs show, a
    faint cross is the observed change. Words are sorted by group, and in a group by the size of the change, the largest
    first.

    Parameters
    ----------
    result
        What :func:`compare` returns.
    prob
        Posterior mass of the thin bars.
    before, after
        Two of the embeddings; by default the first two.
    words
        Whether each protected word has a row, or the whole list alone is drawn.
    title
        Title above the panels, which keep theirs; by default none.

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> debiased = bb.debias(kv, "project", definitional=[("he", "she"), ("man", "woman")])
    >>> before, after = (bb.distance_table(one, "weat7", relatedness=False) for one in (kv, debiased))
    >>> result = bb.compare(before=before, after=after, seed=0)
    >>> bb.plot_change(result).savefig("change.png")
    """
    prob = probability(prob, "prob")
    number = 0 if before is None and after is None else result.place(before, after)
    names = list(result.connections)
    looks = connection_looks(names, result.labels)
    by_word = _by_word(result, number, flag(words, "words"), looks)
    one, other = (f"{name[: LONGEST - 1]}…" if len(name) > LONGEST else name for name in result.pair(number))
    between = f"{one} \N{RIGHTWARDS ARROW} {other}"
    heights = [0.24 * len(names) + 0.55, 0.22 * max(len(by_word.labels), 2) * (1 + 0.5 * len(by_word.sides)) + 0.55]
    figure = new_figure(9.6, sum(heights) + 0.7)
    grid = figure.add_gridspec(2, 2, height_ratios=heights, width_ratios=(1.15, 1))
    above, change, below, moved = (figure.add_subplot(grid[i // 2, i % 2]) for i in range(4))
    for k, name in enumerate(names):
        sides = result.sides(name, None, number)
        _row(above, change, np.array([-float(k)]), sides, np.zeros(1, dtype=np.intp), looks[name], prob)
    ticks = [result.labels.get(name, name) for name in names]
    heading = f"Change, with 50% and {percent(prob)} intervals"
    label_rows(above, ticks, NEARNESS, f"Whole list, {between}", 1.0)
    label_rows(change, [""] * len(ticks), "change of distance (negative: closer)", heading, 0.0)
    for k, (look, sides, rows) in enumerate(by_word.sides):
        height = spread_rows(len(by_word.labels), len(by_word.sides), k)
        _row(below, moved, height[rows >= 0], sides, rows[rows >= 0], look, prob)
    label_rows(below, by_word.labels.tolist(), by_word.what, by_word.title, by_word.mark)
    label_rows(moved, [""] * len(by_word.labels), f"change of the {by_word.unit} (negative: closer)", "", 0.0)
    for axes in (below, moved):
        part_rows(axes, len(by_word.labels))
    how: Any = {"color": INK, "marker": "o", "markersize": 5, "linewidth": 0}
    ends = [Line2D([], [], markerfacecolor="white", label=one, **how), Line2D([], [], label=other, **how)]
    figure.legend(handles=ends, loc="outside upper center", ncols=2, frameon=False)
    return figure


class _ByWord(NamedTuple):
    """The lower panels: quantities with their looks, and what the rows and the axes are called."""

    sides: list[
        tuple[Look, BeforeAfter, IntArray]
    ]  # of each quantity, and which of its values each row has; -1 for none
    labels: NDArray[np.object_]  # of the rows
    title: str
    what: str  # on the axis
    unit: str  # what changes
    mark: float  # where the dashed line is


def _by_word(result: Comparison, number: int, words: bool, looks: Mapping[str, Look]) -> _ByWord:
    """Associations where there are any, else the headline contrast, else mean distances."""
    data = result.data
    title = "Whole list and protected words" if words else ""
    if result.headline is None:
        sides = [(looks[name], result.sides(name, None, number)) for name in result.connections]
        what, unit, mark = NEARNESS, "distance", 1.0
    else:
        contrast = result.sides(*result.headline, number)
        name = difference(labelled(" - ".join(result.headline), result.labels))
        sides = [(looks[OWN], contrast)]
        unit = "association" if contrast.kind == RAW else name
        what, mark = f"{unit} (negative: closer to own stereotypes)", 0.0
    change = np.full(len(data.protected_words), np.inf)
    change[_places(sides[0][1], data)] = -np.abs(sides[0][1].change.mean[1:])
    order = np.lexsort((change, data.group_index)) if words else np.empty(0, dtype=np.intp)
    labels = np.concatenate([np.array([WHOLE], dtype=object), word_labels(data.protected_words, data.groups)[order]])
    with_rows = []
    for look, one in sides:
        place = np.full(len(change) + 1, -1)
        place[np.r_[-1, _places(one, data)]] = np.arange(len(one.change))  # the whole list is the first
        with_rows.append((look, one, place[np.r_[-1, order]]))
    return _ByWord(with_rows, labels, title, what, unit, mark)


def _places(sides: BeforeAfter, data: Distances) -> IntArray:
    """Places of the words that have a row."""
    return np.flatnonzero(np.isin(data.protected_words, sides.change.index["protected_word"].iloc[1:].tolist()))


def _row(
    left: Axes, right: Axes, heights: FloatArray, sides: BeforeAfter, rows: IntArray, look: Look, prob: float
) -> None:
    """Values before and after some quantities, and beside them their changes, one row at each of ``heights``."""
    start, end = sides.before.mean[rows], sides.after.mean[rows]
    left.hlines(heights, start, end, color=look.colour, linewidth=1.2, zorder=2)
    left.scatter(start, heights, s=24, marker=look.marker, facecolor="white", edgecolor=look.colour, lw=1.0, zorder=3)
    left.scatter(end, heights, s=24, marker=look.marker, color=look.colour, edgecolor="white", lw=0.4, zorder=4)
    seen = (sides.observed_after - sides.observed_before)[rows]
    apart = np.abs(seen - sides.change.mean[rows]) > 1e-9  # less is rounding
    right.scatter(seen[apart], heights[apart], s=18, marker="x", color=look.colour, alpha=0.6, linewidths=0.8)
    table = posterior_table(sides.change, prob).iloc[rows]
    known = ((table["low"] > 0) | (table["high"] < 0)).to_numpy()
    for some, own in ((known, look), (~known, look._replace(colour=FAINT))):
        part = table[some]
        ends, inner = (part["low"], part["high"]), (part["inner_low"], part["inner_high"])
        draw_row(right, heights[some], part["mean"], ends, own, size=22, inner=inner)


SIDES = {"before": Look("#767676", "o", "before"), "after": Look("#0072B2", "D", "after")}


@picture(SideEffects, "side_effects")
def plot_side_effects(result: SideEffects, title: str | None = None) -> Figure:
    """Neighbours kept, changes of control distances, agreement with similarities, and whether the old bias is found.

    Points are estimates, bars their intervals; a cross marks what chance gives, a grey bar what random topics give.
    Panels without figures are left out.

    Parameters
    ----------
    result
        What :func:`side_effects` returns.
    title
        Title above the panels, which keep theirs; by default none.

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> debiased = bb.debias(kv, "project", definitional=[("he", "she"), ("man", "woman")])
    >>> effects = bb.side_effects(kv, debiased, "gender")
    >>> bb.plots.plot_side_effects(effects).savefig("effects.png")
    """
    rows_of = {
        _neighbours: len(result.neighbours["kind"].unique()),
        _controls: len(result.controls),
        _recovery: len(result.recovery),
        _similarity: 2 if len(result.similarity) else 0,
    }
    panels = {draw: rows for draw, rows in rows_of.items() if rows or draw is _neighbours}
    heights = [0.42 * rows + 0.75 for rows in panels.values()]
    figure = new_figure(7.5, sum(heights) + 0.3)
    grid = figure.add_gridspec(len(panels), 1, height_ratios=heights)
    for i, draw in enumerate(panels):
        draw(figure.add_subplot(grid[i]), result)
    return figure


def _legend(axes: Axes, looks: Iterable[Look]) -> None:
    handles = handles_of(looks, linewidth=1.6)
    axes.legend(handles=handles, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8)


def _neighbours(axes: Axes, result: SideEffects) -> None:
    table = result.neighbours
    kinds = table["kind"].unique().tolist()
    colours = ("#D55E00", "#0072B2", "#009E73", "#4D4D4D")
    looks = {k: Look(colours[i % 4], "os^D"[i % 4], f"k = {k}") for i, k in enumerate(table["k"].unique())}
    draw_forest(axes, table.assign(mean=table["kept"], row=table["kind"], look=table["k"]), kinds, looks, spread=True)
    counts = table.drop_duplicates("kind").set_index("kind")["words"]
    labels = [f"{KINDS[kind]}\nn = {counts[kind]}" for kind in kinds]
    label_rows(axes, labels, "share of nearest neighbours kept", "Neighbours")
    axes.set_xlim(min(0.5, table["low"].min() - 0.03), 1.01)
    _legend(axes, looks.values())


def _controls(axes: Axes, result: SideEffects) -> None:
    names = result.controls["connection"]
    looks = connection_looks(names, {})
    draw_forest(axes, result.controls.assign(row=names, look=names), names.tolist(), looks)
    rows = [f"{name} words" for name in looks]
    label_rows(axes, rows, "change of mean cosine distance (negative: closer)", "Control words", 0)


def _recovery(axes: Axes, result: SideEffects) -> None:
    table = result.recovery.reset_index(drop=True)
    ends = {side: {"mean": table[side], "low": table[f"{side}_low"], "high": table[f"{side}_high"]} for side in SIDES}
    lines = pd.concat([table.assign(**own, look=side, row=table["test"]) for side, own in ends.items()])
    draw_forest(axes, lines, table["test"].tolist(), SIDES, spread=True)
    heights = -np.arange(len(table), dtype=float)
    axes.scatter(table["chance"], heights, s=40, marker="x", color=INK, zorder=3)
    random = table["reference_low"], table["reference_high"]
    axes.hlines(heights - 0.34, *random, color="#BBBBBB", linewidth=5, zorder=1)
    what = f"share of {table['words'][0]:,} words whose old side is found (cross: by chance; grey: of random topics)"
    tests = {"cluster": "k-means", "classify": "logistic regression"}
    label_rows(axes, [tests[test] for test in table["test"]], what, "Is the old bias still there?")
    axes.set_xlim(min(0.4, table["chance"].min() - 0.05), 1.01)
    _legend(axes, SIDES.values())


def _similarity(axes: Axes, result: SideEffects) -> None:
    table = result.similarity
    side = table["side"]
    draw_forest(axes, table.assign(mean=table["spearman"], row=side, look=side)[side.isin(SIDES)], list(SIDES), SIDES)
    change = table[side == "change"].iloc[0]
    what = f"Spearman's correlation, {change['found']} of {change['asked']} pairs"
    label_rows(axes, list(SIDES), what, "Agreement with similarities")
    axes.annotate(f"change {change['spearman']:+.3f}", (1.01, 0.5), xycoords="axes fraction", fontsize=8, color=FAINT)


SINGLE, POOLED = Look(FAINT, "D", "estimate"), Look("#0072B2", "o", "partially pooled")


@picture(Pool, "pool")
def plot_pool(pool: Pool, prob: float = PROB, title: str | None = None, ax: Axes | None = None) -> Figure | Axes:
    """Each embedding's own estimate in grey and the partially pooled one in blue, with the mean of all as a band.

    Parameters
    ----------
    pool
        A result of :func:`pool`.
    prob
        Mass of the thin bars, and of the band.
    title
        Title; None for the usual one, or for none on axes that are given; ``""`` for none.
    ax
        Axes to draw on, which are returned and have no notes; by default those of a new figure.

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> debiased = bb.debias(kv, "project", definitional=[("he", "she"), ("man", "woman")])
    >>> tables = {"1990": bb.distance_table(kv, "weat7"), "2000": bb.distance_table(debiased, "weat7")}
    >>> bb.plots.plot_pool(bb.pool(tables)).savefig("pool.png")
    """
    table = pool.table(prob).query("quantity == 'embedding'").sort_values("mean", kind="stable")
    draws = pool.draws("theta")[:, table.index.to_numpy()]
    low, high = interval_ends(pool.draws("mean")[:, None], prob)
    single = table.assign(mean=table["estimate"], low=table["estimate_low"], high=table["estimate_high"], look="single")
    pooled = posterior_table(Empirical(draws), prob).assign(name=table["name"].tolist(), look="pooled")
    estimates = pd.concat([single, pooled])
    names, looks = table["name"].tolist(), {"single": SINGLE, "pooled": POOLED}
    figure, axes = one_panel(ax, 5.6, 0.3 * len(table) + 1.5)
    axes.axvspan(low[0], high[0], color=BAND, lw=0, zorder=0)
    draw_forest(axes, estimates.assign(row=estimates["name"]), names, looks, spread=True)
    label_rows(axes, word_labels(names).tolist(), title=f"{_named(pool)} in each embedding", mark=0.0)
    show_sign(axes, f"contrast ({_unit(pool)})", f"{pool.contrast[0]} closer")
    place_legend(figure, ax, "upper right", handles=handles_of(looks.values(), linewidth=0), ncols=2)
    note_below(figure, f"Bars: {percent(prob)} intervals; band: the mean over these embeddings.", ax=ax)
    return figure


def _named(result: Pool | Criterion) -> str:
    """The contrast of a second stage."""
    return MINUS.join(result.contrast)


def _unit(result: Pool | Criterion) -> str:
    """The unit of its contrasts."""
    return result.unit if isinstance(result, Pool) else COSINE


@picture((Pool, Criterion), "pool or criterion")
def plot_relation(
    result: Pool | Criterion,
    variable: str | None = None,
    prob: float = PROB,
    label: int = 5,
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure | Axes:
    """Contrasts against outside values, with error bars on either side and the line of what lies behind both.

    Parameters
    ----------
    result
        A result of :func:`pool` with outside variables, or of :func:`criterion`.
    variable
        The outside variable of a pool; None where there is one.
    prob
        Mass of the bars and of the band around the line.
    title
        Title; None for the usual one, or for none on axes that are given; ``""`` for none.
    ax
        Axes to draw on, which are returned and have no notes; by default those of a new figure.
    label
        How many points furthest from the line are named.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, seed=0)
    >>> values = {word: float(len(word)) for word in table["protected_word"].unique()}
    >>> bb.plots.plot_relation(bb.criterion(post, values)).savefig("relation.png")
    """
    reach = float(ndtri((1 + probability(prob, "prob")) / 2))
    label = whole_number(label, "label", least=0)
    if isinstance(result, Criterion):
        if variable is not None:
            raise InputError(f"variable is {shown(variable)}, and a criterion has one: leave variable out")
        words = result.words
        names, x, x_se, y, y_se = (words[name].to_numpy() for name in ("word", "value", "value_se", "estimate", "se"))
        lines = np.column_stack([result.draws("intercept"), result.draws("slope")])
        what, rho = result.variable, result.table(prob).iloc[0]
        correlation = (rho["mean"], rho["low"], rho["high"])
    else:
        valid = result.correlates["variable"].tolist() if len(result.correlates) else []
        if not valid:
            raise InputError("this pool has no outside variable: give pool(..., on=DataFrame)")
        variable = one_of(valid[0] if variable is None and len(valid) == 1 else str(variable), valid, "variable")
        table = result.table(prob).query("quantity == 'embedding'")
        x, x_se = result.outside[variable].to_numpy(), result.outside[f"{variable}_se"].to_numpy()
        known = np.isfinite(x)
        names, y, y_se = (table[name].to_numpy()[known] for name in ("name", "estimate", "se"))
        x, x_se, what = x[known], x_se[known], variable
        lines = np.column_stack([result.draws(name)[:, valid.index(variable)] for name in ("intercept", "slope")])
        row = result.relation(prob).set_index("variable").loc[variable]
        correlation = (row["correlation"], row["correlation_low"], row["correlation_high"])
    grid = np.linspace(x.min(), x.max(), 100)
    band = lines[:, :1] + lines[:, 1:] * grid
    # pointwise: each place of the band holds that share of the lines
    low, high = interval_ends(band, prob)
    residual = np.abs(y - np.interp(x, grid, band.mean(axis=0)))
    figure, axes = one_panel(ax, 6.0, 4.2)
    axes.fill_between(grid, low, high, color=BAND, lw=0, zorder=0)
    axes.plot(grid, band.mean(axis=0), color=POOLED.colour, linewidth=1.4, zorder=1)
    x_reach = reach * x_se if x_se.any() else None
    axes.errorbar(x, y, yerr=reach * y_se, xerr=x_reach, fmt="none", ecolor=FAINT, elinewidth=0.7)
    axes.scatter(x, y, s=18, color=INK, zorder=3)
    mean, least, most = (signed(value, digits=2) for value in correlation)
    style_axes(axes, str(what), f"Correlation {mean} ({percent(prob)} interval {least} to {most})")
    what = fill(f"{_named(result)} ({_unit(result)})", UPRIGHT)
    show_sign(axes, what, f"{result.contrast[0]} closer", vertical=True)
    name_points(axes, names.tolist(), x, y, np.argsort(-residual, kind="stable")[:label], label, (), beside=True)
    return figure
