"""Side effects of debiasing in one picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.lines import Line2D

from bayesbias.comparison import SideEffects
from bayesbias.comparison.effects.results import KINDS
from bayesbias.errors import InputError
from bayesbias.plots.style import FAINT, FONT, INK, LOOKS, Look, new_figure, style_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
    """
    if not isinstance(result, SideEffects):
        raise InputError(f"given is {type(result).__name__}: plot_side_effects takes what side_effects returns")
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


def _point(axes: Axes, height: float, value: float, low: float, high: float, look: Look) -> None:
    axes.hlines(height, low, high, color=look.colour, linewidth=1.6, zorder=2)
    axes.scatter(value, height, s=26, marker=look.marker, color=look.colour, edgecolor="white", lw=0.6, zorder=3)


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
        _point(axes, height, row["kept"], row["low"], row["high"], looks[at])
    style_axes(axes, "share of nearest neighbours kept", "Neighbours")
    axes.set_xlim(min(0.5, table["low"].min() - 0.03), 1.01)
    counts = table.drop_duplicates("kind").set_index("kind")["words"]
    axes.set_yticks(-np.arange(len(kinds)), [f"{KINDS[kind]}\nn = {counts[kind]}" for kind in kinds])
    _legend(axes, looks)


def _controls(axes: Axes, result: SideEffects) -> None:
    for at, row in enumerate(result.controls.to_dict("records")):
        _point(axes, -at, row["mean"], row["hdi_low"], row["hdi_high"], LOOKS[row["connection"]])
    style_axes(axes, "change of mean cosine distance", "Control words")
    axes.axvline(0, color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    axes.set_yticks(-np.arange(len(result.controls)), [f"{name} words" for name in result.controls["connection"]])


def _recovery(axes: Axes, result: SideEffects) -> None:
    for at, row in enumerate(result.recovery.to_dict("records")):
        for shift, look, side in ((0.12, BEFORE, "before"), (-0.12, AFTER, "after")):
            _point(axes, -at + shift, row[side], row[f"{side}_low"], row[f"{side}_high"], look)
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
        _point(axes, -at, row["spearman"], row["low"], row["high"], look)
    change = rows["change"]
    style_axes(
        axes, f"Spearman's correlation, {change['found']} of {change['asked']} pairs", "Agreement with similarities"
    )
    axes.set_yticks([0, -1], ["before", "after"])
    text = f"change {change['spearman']:+.3f}"
    axes.annotate(text, (1.01, 0.5), xycoords="axes fraction", fontsize=8, color=FAINT)
