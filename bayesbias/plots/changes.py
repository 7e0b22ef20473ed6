"""Pictures of what changed between embeddings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.lines import Line2D

from bayesbias._checks import flag, probability
from bayesbias._core.vectors import FloatArray
from bayesbias.comparison import Comparison, SideEffects, paired_distances, similarity_shift
from bayesbias.comparison.effects import KINDS
from bayesbias.diagnostics.summaries import PROB
from bayesbias.plots.style import (
    FAINT,
    FONT,
    INK,
    Look,
    check_kind,
    connection_legend,
    connection_looks,
    draw_intervals,
    draw_row,
    label_rows,
    mark_line,
    new_figure,
    spread_rows,
    style_axes,
    word_labels,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


STILL, HEAD = 1e-12, 0.025
"""Moves that are none, and the share of the axis below which a move gets a line without a head."""
LONGEST = 22


def plot_change(
    result: Comparison, prob: float = PROB, before: str | None = None, after: str | None = None, words: bool = True
) -> Figure:
    """What changed between two embeddings, above for the whole list, below for each protected word.

    Left, an arrow leads from the posterior mean distance before to that after; the line at 1 is where unrelated words
    lie. Right stand the changes: posterior means, 50% (thick) and ``prob`` (thin) equal-tailed intervals of the
    paired model; a faint cross is the change of the mean distance of the observed pairs. Words are sorted by the change
    of the headline contrast, the largest first.

    Parameters
    ----------
    result
        What :func:`compare` returns.
    prob
        Posterior mass of the thin bars.
    before, after
        Two of the embeddings, where there are more than two.
    words
        Whether each protected word has its rows, or the whole list alone is drawn.

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
    sides = {name: result.sides(name, None, number) for name in names}
    moved = {name: result.observed(name, None, number) for name in names}
    ends = np.concatenate([side.mean(axis=0) for both in sides.values() for side in both[:2]])
    shortest = HEAD * np.ptp(ends[~np.isnan(ends)])
    order = _by_change(result, number)
    constant = result.posterior["constant_data"]
    labels = word_labels(constant["protected_word"].to_numpy(), constant["group"].to_numpy())[order]
    heights = [0.24 * len(names) + 0.55, 0.15 * max(len(names), 2) * len(labels) + 0.55][: 1 + flag(words, "words")]
    one, other = (f"{name[: LONGEST - 1]}…" if len(name) > LONGEST else name for name in result.pair(number))
    with mpl.rc_context(FONT):
        figure = new_figure(9.6, sum(heights) + 0.7)
        grid = figure.add_gridspec(len(heights), 2, height_ratios=heights, width_ratios=(1.15, 1))
        columns: list[Axes] = []
        for row, rows in enumerate((np.array([0]), 1 + order)[: len(heights)]):
            left = figure.add_subplot(grid[row, 0], sharex=columns[0] if columns else None)
            right = figure.add_subplot(grid[row, 1], sharex=columns[1] if columns else None)
            columns = columns or [left, right]
            for k, name in enumerate(names):
                at = spread_rows(len(rows), len(names), k) if row else np.array([-float(k)])
                _arrows(left, at, sides[name].before[:, rows], sides[name].after[:, rows], looks[name], shortest)
                change = sides[name].change[:, rows]
                held = ~np.isnan(change).any(axis=0)
                observed = moved[name].change[rows]
                right.scatter(observed, at, s=18, marker="x", color=looks[name].colour, alpha=0.6, linewidths=0.8)
                draw_intervals(right, at[held], change[:, held], prob, looks[name])
            ticks = labels.tolist() if row else [result.labels.get(name, name) for name in names]
            heading = "By protected word" if row else f"Whole list, from {one} to {other}"
            label_rows(left, ticks, "cosine distance (smaller is closer)", heading, 1.0)
            title = f"Change, with 50% and {100 * prob:g}% intervals"
            label_rows(right, [""] * len(ticks), "change of distance", "" if row else title, 0.0)
            for line in range(1, len(ticks)) if row else ():
                for axes in (left, right):
                    axes.axhline(0.5 - line, color="#EEEEEE", linewidth=0.6, zorder=0)
        connection_legend(figure, looks.values())
    return figure


def _by_change(result: Comparison, number: int) -> np.ndarray:
    """Order of words by the size of the change of the headline contrast, or of the first connection there is."""
    first, second = result.headline or (result.connections[0], None)
    change = np.abs(result.sides(first, second, number).change.mean(axis=0))[1:]
    return np.argsort(-np.where(np.isnan(change), -np.inf, change), kind="stable")


def _arrows(
    axes: Axes, heights: FloatArray, before: FloatArray, after: FloatArray, look: Look, shortest: float
) -> None:
    """An arrow from mean to mean, a line where that is short, a marker where nothing moved."""
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
    pairs = paired_distances(result, before, after)
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
        for at, (draw, rows) in enumerate(panels):
            axes = figure.add_subplot(grid[at])
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
    looks = [SIZES[at % len(SIZES)]._replace(label=f"k = {k}") for at, k in enumerate(ks)]
    for row in table.to_dict("records"):
        at = ks.index(row["k"])
        height = -kinds.index(row["kind"]) + 0.2 - 0.4 * (at + 0.5) / len(ks)
        draw_row(axes, height, row["kept"], (row["low"], row["high"]), looks[at], 1.6)
    style_axes(axes, "share of nearest neighbours kept", "Neighbours")
    axes.set_xlim(min(0.5, table["low"].min() - 0.03), 1.01)
    counts = table.drop_duplicates("kind").set_index("kind")["words"]
    axes.set_yticks(-np.arange(len(kinds)), [f"{KINDS[kind]}\nn = {counts[kind]}" for kind in kinds])
    _legend(axes, looks)


def _controls(axes: Axes, result: SideEffects) -> None:
    labels = result.controls.attrs.get("labels", {})
    looks = connection_looks(result.controls["connection"], labels)
    for at, row in enumerate(result.controls.to_dict("records")):
        draw_row(axes, -at, row["mean"], (row["low"], row["high"]), looks[row["connection"]], 1.6)
    style_axes(axes, "change of mean cosine distance", "Control words")
    mark_line(axes, 0)
    axes.set_yticks(-np.arange(len(result.controls)), [labels.get(name, f"{name} words") for name in looks])


def _recovery(axes: Axes, result: SideEffects) -> None:
    for at, row in enumerate(result.recovery.to_dict("records")):
        for shift, look, side in ((0.12, BEFORE, "before"), (-0.12, AFTER, "after")):
            draw_row(axes, -at + shift, row[side], (row[f"{side}_low"], row[f"{side}_high"]), look, 1.6)
        axes.scatter(row["chance"], -at, s=40, marker="x", color=INK, zorder=3)
        axes.hlines(-at - 0.34, row["reference_low"], row["reference_high"], color="#BBBBBB", linewidth=5, zorder=1)
    words = result.recovery["words"].iloc[0]
    what = f"share of {words:,} words whose old side is found (cross: by chance; grey: of random groups)"
    style_axes(axes, what, "Is the old bias still there?")
    axes.set_xlim(min(0.4, result.recovery["chance"].min() - 0.05), 1.01)
    axes.set_yticks(-np.arange(len(result.recovery)), [TESTS[test] for test in result.recovery["test"]])
    _legend(axes, [BEFORE, AFTER])


def _similarity(axes: Axes, result: SideEffects) -> None:
    rows = {row["side"]: row for row in result.similarity.to_dict("records")}
    for at, (side, look) in enumerate((("before", BEFORE), ("after", AFTER))):
        row = rows[side]
        draw_row(axes, -at, row["spearman"], (row["low"], row["high"]), look, 1.6)
    change = rows["change"]
    style_axes(
        axes, f"Spearman's correlation, {change['found']} of {change['asked']} pairs", "Agreement with similarities"
    )
    axes.set_yticks([0, -1], ["before", "after"])
    text = f"change {change['spearman']:+.3f}"
    axes.annotate(text, (1.01, 0.5), xycoords="axes fraction", fontsize=8, color=FAINT)
