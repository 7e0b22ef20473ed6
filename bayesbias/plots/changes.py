"""Pictures of what changed between embeddings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from bayesbias._checks import flag, probability
from bayesbias._core.vectors import FloatArray, IntArray
from bayesbias._phrases import difference, percent
from bayesbias.checks.summaries import PROB
from bayesbias.comparison import Comparison, SideEffects, similarity_shift
from bayesbias.comparison.associations import RAW
from bayesbias.comparison.change_report import route
from bayesbias.comparison.effects import KINDS
from bayesbias.comparison.sides import Sides
from bayesbias.plots.style import (
    FAINT,
    FONT,
    INK,
    INNER_PROB,
    Look,
    check_kind,
    connection_looks,
    draw_row,
    label_rows,
    mark_line,
    new_figure,
    spread_rows,
    style_axes,
    word_labels,
)
from bayesbias.words import OWN, WHOLE, labelled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


LONGEST = 22
ROW = 0.22
"""Inches of a row."""
NEARNESS = "mean cosine distance (smaller is closer)"
STILL = 1e-9
"""Differences of posterior means from observed values that are rounding."""


def plot_change(
    result: Comparison, prob: float = PROB, before: str | None = None, after: str | None = None, words: bool = True
) -> Figure:
    """What changed between two embeddings: mean distances of the whole list, and below the association of each word.

    Left, a line leads from the value before (hollow) to that after (filled). Above these are mean distances, and the
    dashed line at 1 is where unrelated words lie. Below they are the headline contrast of the whole list and each
    protected word's association (or difference of mean distances, where there are no associations), and the dashed line
    at 0 is where a word has none. Right stand the changes: posterior means, 50% (thick) and ``prob`` (thin)
    equal-tailed intervals. Where the posterior mean is not what the pairs show, a faint cross is the observed change.
    Words are sorted by group, and in a group by the size of the change, the largest first.

    Parameters
    ----------
    result
        What :func:`compare` returns.
    prob
        Posterior mass of the thin bars.
    before, after
        Two of the embeddings, where there are more than two.
    words
        Whether each protected word has a row, or the whole list alone is drawn.

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> debiased = bb.debias(kv, "project", definitional=[("he", "she"), ("man", "woman")])
    >>> before, after = (bb.distance_table(one, "weat7", relatedness=False) for one in (kv, debiased))
    >>> result = bb.compare(before=before, after=after, seed=0)
    >>> bb.plot_change(result).savefig("change.png")
    """
    check_kind(result, Comparison, "plot_change", "compare")
    prob = probability(prob, "prob")
    number = result.place(before, after)
    names = list(result.connections)
    looks = connection_looks(names, result.labels)
    by_word = _by_word(result, number, flag(words, "words"), looks)
    one, other = (f"{name[: LONGEST - 1]}…" if len(name) > LONGEST else name for name in result.pair(number))
    between = route(one, other)
    heights = [0.24 * len(names) + 0.55, ROW * max(len(by_word.labels), 2) * (1 + 0.5 * len(by_word.sides)) + 0.55]
    with mpl.rc_context(FONT):
        figure = new_figure(9.6, sum(heights) + 0.7)
        grid = figure.add_gridspec(2, 2, height_ratios=heights, width_ratios=(1.15, 1))
        above, change, below, moved = (figure.add_subplot(grid[i // 2, i % 2]) for i in range(4))
        for k, name in enumerate(names):
            sides = result.sides(name, None, number)
            _row(above, change, np.array([-float(k)]), sides, np.zeros(1, dtype=np.intp), looks[name], prob)
        ticks = [result.labels.get(name, name) for name in names]
        title = f"Change, with 50% and {percent(prob)} intervals"
        label_rows(above, ticks, NEARNESS, f"Whole list, {between}", 1.0)
        label_rows(change, [""] * len(ticks), "change of distance", title, 0.0)
        for k, (look, sides) in enumerate(by_word.sides):
            rows = by_word.rows(sides)
            height = spread_rows(len(by_word.labels), len(by_word.sides), k)
            _row(below, moved, height[rows >= 0], sides, rows[rows >= 0], look, prob)
        label_rows(below, by_word.labels.tolist(), by_word.what, by_word.title, by_word.mark)
        label_rows(moved, [""] * len(by_word.labels), f"change of the {by_word.unit}", "", 0.0)
        for axes in (below, moved):
            for line in range(1, len(by_word.labels)):
                axes.axhline(0.5 - line, color="#EEEEEE", linewidth=0.6, zorder=0)
        ends = [
            Line2D([], [], color=INK, marker="o", markersize=5, linewidth=0, markerfacecolor="white", label=one),
            Line2D([], [], color=INK, marker="o", markersize=5, linewidth=0, label=other),
        ]
        figure.legend(handles=ends, loc="outside upper center", ncols=2, frameon=False)
    return figure


@dataclass(frozen=True)
class _ByWord:
    """The lower panels: quantities with their looks, and what the rows and the axes are called.

    Attributes
    ----------
    sides
        Look and posterior of each quantity.
    places
        Place among all protected words of each row, -1 for the whole list.
    labels
        What each row is called.
    title, what, unit
        Of the panel, of its axis, and what changes.
    mark
        Where the dashed line is.
    """

    sides: list[tuple[Look, Sides]]
    places: IntArray
    labels: NDArray[np.object_]
    title: str
    what: str
    unit: str
    mark: float

    def rows(self, sides: Sides) -> IntArray:
        """Which of a quantity's values belongs to each row; -1 where it has none."""
        number = np.full(len(sides.kept) + 1, -1)
        number[:-1][sides.kept] = 1 + np.arange(int(sides.kept.sum()))
        number[-1] = 0
        return number[self.places]


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
    change[sides[0][1].kept] = -np.abs(sides[0][1].change.mean[1:])
    order = np.lexsort((change, data.group_index)) if words else np.empty(0, dtype=np.intp)
    labels = np.concatenate([np.array([WHOLE], dtype=object), word_labels(data.protected_words, data.groups)[order]])
    return _ByWord(sides, np.r_[-1, order], labels, title, what, unit, mark)


def _row(left: Axes, right: Axes, heights: FloatArray, sides: Sides, rows: IntArray, look: Look, prob: float) -> None:
    """Values before and after some quantities, and beside them their changes, one row at each of ``heights``."""
    start, end = sides.before.mean[rows], sides.after.mean[rows]
    left.hlines(heights, start, end, color=look.colour, linewidth=1.2, zorder=2)
    left.scatter(start, heights, s=24, marker=look.marker, facecolor="white", edgecolor=look.colour, lw=1.0, zorder=3)
    left.scatter(end, heights, s=24, marker=look.marker, color=look.colour, edgecolor="white", lw=0.4, zorder=4)
    change = sides.change
    seen = (sides.observed_after - sides.observed_before)[rows]
    apart = np.abs(seen - change.mean[rows]) > STILL
    right.scatter(seen[apart], heights[apart], s=18, marker="x", color=look.colour, alpha=0.6, linewidths=0.8)
    inner, outer = (
        (change.quantile((1 - mass) / 2)[rows], change.quantile((1 + mass) / 2)[rows]) for mass in (INNER_PROB, prob)
    )
    right.hlines(heights, inner[0], inner[1], color=look.colour, linewidth=3.0, zorder=2)
    draw_row(right, heights, change.mean[rows], outer, look, size=22)


BINS, FEW_BINS, FEW = 40, 20, 200
"""Bins of a histogram, those of one of few pairs, and what is few."""


def plot_similarity_shift(
    result: Comparison, mac: float | None = None, before: str | None = None, after: str | None = None
) -> Figure:
    """Histograms of cosine similarities before (outline) and after (filled), one panel a connection.

    The dashed lines lie at plus and minus 1 - MAC before; the shares of pairs between them stand in each panel.

    Parameters
    ----------
    result, mac, before, after
        As in :func:`similarity_shift`.

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> debiased = bb.debias(kv, "project", definitional=[("he", "she"), ("man", "woman")])
    >>> before, after = (bb.distance_table(one, "weat7", relatedness=False) for one in (kv, debiased))
    >>> result = bb.compare(before=before, after=after, seed=0)
    >>> bb.plots.plot_similarity_shift(result).savefig("shift.png")
    """
    check_kind(result, Comparison, "plot_similarity_shift", "compare")
    shares = similarity_shift(result, mac, before, after)
    pairs = result.paired_distances(before, after)
    names = result.pair(result.place(before, after))
    limit, looks = shares.attrs["limit"], connection_looks(shares["connection"], result.labels)
    low, high = 1 - pairs[["before", "after"]].to_numpy().max(), 1 - pairs[["before", "after"]].to_numpy().min()
    ends = min(low, -1.1 * limit), max(high, 1.1 * limit)
    with mpl.rc_context(FONT):
        figure = new_figure(7.5, 1.45 * len(shares) + 0.9)
        panels = figure.subplots(len(shares), 1, sharex=True, squeeze=False)[:, 0]
        for axes, row in zip(panels, shares.to_dict("records"), strict=True):
            own, look = pairs[pairs["connection"] == row["connection"]], looks[row["connection"]]
            edges = np.linspace(*ends, (BINS if len(own) > FEW else FEW_BINS) + 1)
            axes.hist(1 - own["after"], edges, density=True, color=look.colour, alpha=0.45)
            axes.hist(1 - own["before"], edges, density=True, histtype="step", color=INK, linewidth=1.2)
            for line in (-limit, limit):
                axes.axvline(line, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
            style_axes(axes, "", f"{look.label}, n = {row['n']:,}")
            axes.set_yticks([])
            axes.annotate(
                f"between the lines\n{names[0]} {100 * row['before']:.0f}%\n{names[1]} {100 * row['after']:.0f}%",
                (0.995, 0.95),
                xycoords="axes fraction",
                ha="right",
                va="top",
                fontsize=8,
                color=FAINT,
            )
        panels[-1].set_xlabel(
            f"cosine similarity (0 is where unrelated words lie; lines at \N{PLUS-MINUS SIGN}(1 \N{MINUS SIGN} MAC) = "
            f"\N{PLUS-MINUS SIGN}{limit:.3f})"
        )
        handles = [
            Line2D([], [], color=INK, linewidth=1.2, label=names[0]),
            Line2D([], [], color=FAINT, alpha=0.6, linewidth=7, label=names[1]),
        ]
        figure.legend(handles=handles, loc="outside upper center", ncols=2, frameon=False)
    return figure


BEFORE, AFTER = Look("#767676", "o", "before"), Look("#0072B2", "D", "after")
TESTS = {"cluster": "k-means", "classify": "logistic regression"}
SIZES = (Look("#D55E00", "o", ""), Look("#0072B2", "s", ""), Look("#009E73", "^", ""), Look("#4D4D4D", "D", ""))


def plot_side_effects(result: SideEffects) -> Figure:
    """Neighbours kept, changes of control distances, agreement with similarities, and whether the old bias is found.

    Points are estimates, bars their intervals; a cross marks what chance gives, a grey bar what random groups give.
    Panels without figures are left out.

    Parameters
    ----------
    result
        What :func:`side_effects` returns.

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> debiased = bb.debias(kv, "project", definitional=[("he", "she"), ("man", "woman")])
    >>> before, after = (bb.distance_table(one, "gender", relatedness=False) for one in (kv, debiased))
    >>> effects = bb.side_effects(before, after, kv, debiased)
    >>> bb.plots.plot_side_effects(effects).savefig("effects.png")
    """
    check_kind(result, SideEffects, "plot_side_effects", "side_effects")
    drawn = [
        (_neighbours, len(result.neighbours["kind"].unique()), True),
        (_controls, len(result.controls), len(result.controls) > 0),
        (_recovery, len(result.recovery), len(result.recovery) > 0),
        (_similarity, 2, len(result.similarity) > 0),
    ]
    panels = [(draw, rows) for draw, rows, there in drawn if there]
    heights = [0.42 * rows + 0.75 for _, rows in panels]
    with mpl.rc_context(FONT):
        figure = new_figure(7.5, sum(heights) + 0.3)
        grid = figure.add_gridspec(len(panels), 1, height_ratios=heights)
        for i, (draw, rows) in enumerate(panels):
            axes = figure.add_subplot(grid[i])
            draw(axes, result)
            axes.set_ylim(-rows + 0.4, 0.6)
    return figure


def _legend(axes: Axes, looks: list[Look]) -> None:
    handles: list[Any] = [
        Line2D([], [], color=look.colour, marker=look.marker, linewidth=1.6, label=look.label) for look in looks
    ]
    axes.legend(handles=handles, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8)


def _neighbours(axes: Axes, result: SideEffects) -> None:
    table = result.neighbours
    kinds, ks = table["kind"].unique().tolist(), table["k"].unique().tolist()
    looks = [SIZES[i % len(SIZES)]._replace(label=f"k = {k}") for i, k in enumerate(ks)]
    for row in table.to_dict("records"):
        place = ks.index(row["k"])
        height = -kinds.index(row["kind"]) + 0.2 - 0.4 * (place + 0.5) / len(ks)
        draw_row(axes, height, row["kept"], (row["low"], row["high"]), looks[place], 1.6)
    style_axes(axes, "share of nearest neighbours kept", "Neighbours")
    axes.set_xlim(min(0.5, table["low"].min() - 0.03), 1.01)
    counts = table.drop_duplicates("kind").set_index("kind")["words"]
    axes.set_yticks(-np.arange(len(kinds)), [f"{KINDS[kind]}\nn = {counts[kind]}" for kind in kinds])
    _legend(axes, looks)


def _controls(axes: Axes, result: SideEffects) -> None:
    labels = result.controls.attrs.get("labels", {})
    looks = connection_looks(result.controls["connection"], labels)
    for i, row in enumerate(result.controls.to_dict("records")):
        draw_row(axes, -i, row["mean"], (row["low"], row["high"]), looks[row["connection"]], 1.6)
    style_axes(axes, "change of mean cosine distance", "Control words")
    mark_line(axes, 0)
    axes.set_yticks(-np.arange(len(result.controls)), [labels.get(name, f"{name} words") for name in looks])


def _recovery(axes: Axes, result: SideEffects) -> None:
    for i, row in enumerate(result.recovery.to_dict("records")):
        for shift, look, side in ((0.12, BEFORE, "before"), (-0.12, AFTER, "after")):
            draw_row(axes, -i + shift, row[side], (row[f"{side}_low"], row[f"{side}_high"]), look, 1.6)
        axes.scatter(row["chance"], -i, s=40, marker="x", color=INK, zorder=3)
        axes.hlines(-i - 0.34, row["reference_low"], row["reference_high"], color="#BBBBBB", linewidth=5, zorder=1)
    words = result.recovery["words"].iloc[0]
    what = f"share of {words:,} words whose old side is found (cross: by chance; grey: of random groups)"
    style_axes(axes, what, "Is the old bias still there?")
    axes.set_xlim(min(0.4, result.recovery["chance"].min() - 0.05), 1.01)
    axes.set_yticks(-np.arange(len(result.recovery)), [TESTS[test] for test in result.recovery["test"]])
    _legend(axes, [BEFORE, AFTER])


def _similarity(axes: Axes, result: SideEffects) -> None:
    rows = {row["side"]: row for row in result.similarity.to_dict("records")}
    for i, (side, look) in enumerate((("before", BEFORE), ("after", AFTER))):
        row = rows[side]
        draw_row(axes, -i, row["spearman"], (row["low"], row["high"]), look, 1.6)
    change = rows["change"]
    style_axes(
        axes, f"Spearman's correlation, {change['found']} of {change['asked']} pairs", "Agreement with similarities"
    )
    axes.set_yticks([0, -1], ["before", "after"])
    text = f"change {change['spearman']:+.3f}"
    axes.annotate(text, (1.01, 0.5), xycoords="axes fraction", fontsize=8, color=FAINT)
