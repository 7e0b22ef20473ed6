"""Interval width and power against list length."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl

from bayesbias.comparison.planning import Plan
from bayesbias.errors import InputError
from bayesbias.plots.style import FAINT, FONT, INK, new_figure, style_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
    """
    if not isinstance(plan, Plan):
        raise InputError(f"plot_plan takes a result of plan, given is {type(plan).__name__}")
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
            axes.axvline(1.0, color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
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
        title = f"{plan.first} \N{MINUS SIGN} {plan.second}"
        style_axes(
            left, "length of the lists (1 = as they are)", f"Width of the {100 * plan.prob:g}% interval, {title}"
        )
        style_axes(right, "length of the lists (1 = as they are)", f"Probability of seeing {plan.effect:g}")
        left.set_ylim(bottom=0)
        right.set_ylim(0, 1.02)
        figure.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False)
        figure.supxlabel(
            f"now: {now.stereotype_words} stereotype, {now.control_words} control, {now.protected_words} protected "
            f"words; scales: {plan.scales_from}",
            x=0.02,
            ha="left",
            fontsize=7.5,
            color=FAINT,
        )
    return figure
