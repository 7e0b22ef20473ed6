"""Figures of axes: words between two poles, traits between two axes, and whole vocabularies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.patheffects import withStroke

from bayesbias._checks import text, whole_number
from bayesbias._core.vectors import FloatArray
from bayesbias._phrases import percent
from bayesbias.axes import Audit, Axis, Quadrants
from bayesbias.checks.summaries import PROB, interval_ends
from bayesbias.errors import InputError
from bayesbias.plots.style import (
    FAINT,
    INK,
    Look,
    draw_row,
    label_rows,
    note_below,
    one_panel,
    picture,
    style_axes,
    word_labels,
)
from bayesbias.words import words_given

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

CALLED = "#0072B2"
AWAY, NEAR = Look(CALLED, "o", "interval without 0"), Look(FAINT, "o", "interval with 0")
ROWS = 40  # words of an axis that are shown beside those chosen
MOST_ROWS = 100
LABELLED = 24  # points that are named
FEW = 20  # traits up to which the crosses of intervals do not cover each other
SHOWN = 20_000  # words beyond which those that are not called are drawn from at random
CENTRES = {
    "vocabulary": "0 is the mean over the vocabulary",
    "words": "0 is the mean over the words placed",
    None: "at 0 a word is equally far from both poles",
}
ERRORS = {  # what bars of a population of errors are
    "oppositions": "on an axis without a meaning, with {unit} as similar and as parallel, {mass} of intervals hold 0",
    "pairs": "what further {unit} of this opposition would give",
}


@picture(Axis, "axis")
def plot_axis(
    axis: Axis,
    words: Iterable[str] | None = None,
    prob: float = PROB,
    population: str = "oppositions",
    labels: int = ROWS,
    ax: Axes | None = None,
) -> Figure:
    """Words on a line between two poles, a row each, with the intervals of their places.

    Words are sorted by place. Those whose interval excludes 0 are blue.

    Parameters
    ----------
    axis
        A result of :func:`axis`.
    words
        Words that are shown in any case, in bold, in place of as many of the others.
    prob
        Mass of the intervals.
    population
        What the errors are over, as in :meth:`Axis.table`.
    labels
        How many words are shown at most, ``words`` among them; of more words those at the two ends.
    ax
        Axes to draw on; by default those of a new figure.

    Examples
    --------
    >>> found = bb.axis("glove-50d-slice", "affluence", words=["tennis", "golf", "boxing", "polo", "wrestling"])
    >>> bb.plots.plot_axis(found).savefig("affluence.png")
    """
    most = whole_number(labels, "labels", least=0)
    chosen = [] if words is None else words_given(words, "words")
    whole = axis if set(chosen) <= set(axis.words) else axis.with_words(dict.fromkeys((*axis.words, *chosen)))
    table = whole.table(prob, population=population)
    rows = _rows(table["word"].tolist(), set(chosen), most)
    if not 0 < len(rows) <= MOST_ROWS:
        raise InputError(f"{len(rows)} words are to be shown: give words and labels for 1 to {MOST_ROWS}")
    shown = table.iloc[rows].reset_index(drop=True)
    heights = -np.arange(len(shown), dtype=float)
    away = ((shown["low"] > 0) | (shown["high"] < 0)).to_numpy()
    figure, axes = one_panel(ax, 6.6, 0.22 * len(shown) + 1.9)
    unit = "pairs" if whole.paired else "words"
    band = whole.centre == "vocabulary" and whole.adjusted is None
    if band:
        axes.axvspan(-whole.spread, whole.spread, color="#F1F1F1", lw=0, zorder=0)
    for rows_of, look in ((away, AWAY), (~away, NEAR)):
        part = shown[rows_of]
        draw_row(axes, heights[rows_of], part["mean"], (part["low"], part["high"]), look)
    label_rows(axes, word_labels(shown["word"], [""] * len(shown)).tolist(), "place (cosine distance)", "", 0.0)
    for tick, word in zip(axes.get_yticklabels(), shown["word"], strict=True):
        tick.set_fontweight("bold" if chosen and len(rows) > len(chosen) and word in set(chosen) else "normal")
    axes.set_title(f"Axis {axis.name}", loc="left", fontweight="bold", pad=26)
    for height in heights[1:][np.diff(rows) > 1]:
        axes.axhline(height + 0.5, color=FAINT, lw=0.6, ls=":")
    _arrow(axes, *axis.ends)
    note_below(
        figure,
        f"Bars: {percent(prob)} intervals; {ERRORS[population].format(mass=percent(prob), unit=unit)}."
        + (" Blue: 0 is outside." if away.any() else ""),
        f"{CENTRES[whole.centre]}.".capitalize(),
        "Grey band: one standard deviation of places over the vocabulary." if band else "",
        _left_out(len(table), len(rows), len(chosen)),
        ax=ax,
    )
    return figure


def _rows(words: Sequence[str], chosen: set[str], most: int) -> list[int]:
    """Rows of the words chosen and, up to so many in all, of those at the two ends."""
    others = [row for row, word in enumerate(words) if word not in chosen]
    room = max(most - (len(words) - len(others)), 0)
    if len(others) > room:
        others = others[: (room + 1) // 2] + (others[-(room // 2) :] if room > 1 else [])
    return sorted({*others, *(row for row, word in enumerate(words) if word in chosen)})


def _left_out(count: int, shown: int, chosen: int) -> str:
    if shown == count:
        return ""
    ends = f"the two ends of {count:,} words" if shown > chosen else f"{shown} of {count:,} words"
    return f"Shown are {ends}{' and, in bold, those chosen' if 0 < chosen < shown else ''}; dots: words left out."


def _arrow(axes: Axes, negative: str, positive: str) -> None:
    """The poles above a panel, and an arrow towards the positive one."""
    axes.annotate(
        "",
        (1.0, 1.0),
        (0.0, 1.0),
        xycoords="axes fraction",
        arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 1.1, "shrinkA": 0, "shrinkB": 0},
        annotation_clip=False,
    )
    negative, positive = word_labels([negative, positive], ["", ""])
    for x, name, side in ((0.0, negative, "left"), (1.0, positive, "right")):
        axes.annotate(
            name,
            (x, 1.0),
            xycoords="axes fraction",
            xytext=(0, 5),
            textcoords="offset points",
            ha=side,
            fontweight="bold",
            color=INK,
        )


@picture(Quadrants, "quadrants")
def plot_quadrants(quadrants: Quadrants, labels: int = LABELLED, ax: Axes | None = None) -> Figure:
    """Traits in the plane of two axes, with the intervals of both places, and the share of traits in each quadrant.

    Parameters
    ----------
    quadrants
        A result of :func:`quadrants`.
    labels
        How many traits are named at most, those that are surest of their quadrant first.
    ax
        Axes to draw on; by default those of a new figure.

    Examples
    --------
    >>> gender, affluence = (bb.axis("glove-50d-slice", name) for name in ("gender", "affluence"))
    >>> found = bb.quadrants(gender, affluence, ["nurse", "banker", "maid", "butler"])
    >>> bb.plots.plot_quadrants(found).savefig("quadrants.png")
    """
    most = whole_number(labels, "labels", least=0)
    x, y = (axis.places for axis in quadrants.axes)
    low, high = interval_ends(quadrants.draws.reshape(len(quadrants.draws), -1), quadrants.prob)
    low, high = low.reshape(-1, 2), high.reshape(-1, 2)
    probabilities = quadrants.table()[[f"p_{name}" for name in quadrants.names]].to_numpy()
    sure = probabilities.max(axis=1)
    settled = sure >= quadrants.prob
    over = "axes without a meaning" if quadrants.population == "oppositions" else "further pairs"
    fine: dict[str, Any] = {"lw": 0.8, "alpha": 0.6} if len(x) <= FEW else {"lw": 0.5, "alpha": 0.3}
    figure, axes = one_panel(ax, 6.6, 6.2)
    axes.axvline(0, color=INK, lw=0.8, zorder=1)
    axes.axhline(0, color=INK, lw=0.8, zorder=1)
    for rows, look in ((settled, AWAY), (~settled, NEAR)):
        axes.hlines(y[rows], low[rows, 0], high[rows, 0], color=look.colour, zorder=2, **fine)
        axes.vlines(x[rows], low[rows, 1], high[rows, 1], color=look.colour, zorder=2, **fine)
        axes.scatter(x[rows], y[rows], s=20, color=look.colour, edgecolor="white", lw=0.6, zorder=3)
    reach = 1.12 * np.max(np.abs([low, high]), axis=(0, 1))
    axes.set_xlim(-reach[0], reach[0])
    axes.set_ylim(-reach[1], reach[1])
    style_axes(axes)
    axes.grid(False)
    first, second = quadrants.axes
    axes.set_xlabel(_between_poles(first))
    axes.set_ylabel(_between_poles(second))
    corners = [_corner(axes, row, place) for row, place in zip(_named(quadrants), _CORNERS, strict=True)]
    note_below(
        figure,
        f"Corners: expected share of the {len(x)} traits, with its {percent(quadrants.prob)} interval. Crosses: "
        f"{percent(quadrants.prob)} intervals, over {over}. Blue: traits that lie in one quadrant with a "
        f"probability of {percent(quadrants.prob)} or more.",
        ax=ax,
    )
    _name_points(figure, axes, quadrants.axes[0].words, x, y, np.argsort(-sure, kind="stable"), most, corners, True)
    return figure


def _between_poles(axis: Axis) -> str:
    negative, positive = word_labels(axis.ends, ["", ""])
    return f"← {negative}      {axis.name} (cosine distance)      {positive} →"


_CORNERS = ((0.99, 0.99), (0.99, 0.01), (0.01, 0.99), (0.01, 0.01))
"""Of the quadrants (+ +), (+ -), (- +) and (- -), in fractions of the panel."""


def _named(quadrants: Quadrants) -> list[str]:
    """The quadrants with their shares."""
    return [
        f"{row['quadrant']}\n{row['mean']:.0%} ({row['low']:.0%} to {row['high']:.0%})"
        for row in quadrants.shares().to_dict("records")
    ]


def _corner(axes: Axes, name: str, place: tuple[float, float]) -> Any:
    return axes.text(
        *place,
        name,
        transform=axes.transAxes,
        ha="right" if place[0] > 0.5 else "left",
        va="top" if place[1] > 0.5 else "bottom",
        fontweight="bold",
        color=INK,
        linespacing=1.4,
    )


@picture(Audit, "audit")
def plot_audit(found: Audit, group: str | None = None, labels: int = LABELLED, ax: Axes | None = None) -> Figure:
    """The place of each word of a vocabulary against its frequency, the words that are called in blue.

    Parameters
    ----------
    found
        A result of :func:`audit`.
    group
        Which group's contrast, where there are more than two; by default the first.
    labels
        How many words are named at most, those called with the largest places that have room for their names.
    ax
        Axes to draw on; by default those of a new figure.

    Examples
    --------
    >>> found = bb.audit("glove-50d-slice", "gender")
    >>> bb.plots.plot_audit(found, labels=10).savefig("audit.png")
    """
    names = found.words["group"].cat.categories
    label = names[0] if group is None else text(group, "group")
    if label not in set(found.words["group"]):
        raise InputError(
            f"there is no contrast of {group!r}: valid are {', '.join(dict.fromkeys(found.words['group']))}"
        )
    table = found.words[found.words["group"] == label]
    most = whole_number(labels, "labels", least=0)
    ordered = bool((table["frequency_rank"] > 0).all())
    across = table["frequency_rank"].to_numpy() if ordered else np.arange(1, len(table) + 1)
    mean, called = table["mean"].to_numpy(), table["called"].to_numpy()
    rest = np.flatnonzero(~called)
    if len(rest) > SHOWN:
        rest = np.random.default_rng(0).choice(rest, SHOWN, replace=False)
    others = [name for name in names if name != label]
    ends = (f"to {label}", f"to {others[0]}" if len(others) == 1 else f"away from {label}")
    figure, axes = one_panel(ax, 7.0, 4.8)
    rope = found.ropes[label]
    axes.axhspan(-rope, rope, color="#F1F1F1", lw=0, zorder=0)
    axes.axhline(0, color=FAINT, lw=0.8)
    axes.scatter(across[rest], mean[rest], s=3, color=FAINT, alpha=0.5, lw=0, rasterized=True)
    axes.scatter(across[called], mean[called], s=5, color=CALLED, alpha=0.55, lw=0, rasterized=True)
    if ordered:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:,.0f}")
    style_axes(axes)
    reach = 1.2 * float(np.max(np.abs(mean)))
    axes.set_ylim(-reach, reach)
    axes.set_xlabel("rank by frequency, frequent words first" if ordered else "place in the file")
    axes.set_ylabel("place (cosine distance)")
    poles = [
        axes.text(0.01, y, f"{arrow} {name}", transform=axes.transAxes, va=side, fontweight="bold", color=INK, zorder=4)
        for y, side, arrow, name in ((0.01, "bottom", "↓", ends[0]), (0.99, "top", "↑", ends[1]))
    ]
    note_below(
        figure,
        f"Shrunken places. Blue: words called, of which {percent(found.level)} are expected to be wrong or empty. "
        "Grey band: the region of no interest.",
        ax=ax,
    )
    order = np.flatnonzero(called)
    order = order[np.argsort(-np.abs(mean[order]), kind="stable")]
    _name_points(figure, axes, table["word"].tolist(), across, mean, order, most, poles)
    return figure


def _name_points(
    figure: Figure,
    axes: Axes,
    names: Sequence[str],
    x: Any,
    y: FloatArray,
    order: Any,
    most: int,
    texts: Iterable[Any],
    beside: bool = False,
) -> None:
    """Name up to ``most`` points in their order, where a name covers no other text nor, ``beside`` points, a point."""
    figure.draw_without_rendering()  # places on the figure are known from here on
    panel = axes.get_window_extent()
    taken: list[Bbox] = [text.get_window_extent() for text in texts]
    points = axes.transData.transform(np.column_stack([x, y]))
    count = 0
    for row in order:
        if count == most:
            break
        named = axes.annotate(
            str(names[row]), (x[row], y[row]), (0, 0), textcoords="offset points", fontsize=7.5, parse_math=False
        )
        named.set_path_effects([withStroke(linewidth=1.8, foreground="white")])
        for up, side in product((3, -9), ("left", "right")):
            named.set(position=(4 if side == "left" else -4, up), ha=side)
            box = named.get_window_extent().padded(1.5)
            inside = panel.x0 <= box.x0 and box.x1 <= panel.x1 and panel.y0 <= box.y0 and box.y1 <= panel.y1
            hidden = beside and box.count_contains(np.delete(points, row, axis=0)) > 0
            if inside and not hidden and not box.count_overlaps(taken):
                taken.append(box)
                count += 1
                break
        else:
            named.remove()
