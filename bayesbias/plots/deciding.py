"""How many base pairs and seeds are enough: a decision study."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

import matplotlib as mpl
import numpy as np

from bayesbias._checks import several
from bayesbias.diagnostics.intervals import PROB
from bayesbias.plots.pieces import LINES, check_kind, looks_of, note_below
from bayesbias.plots.style import FAINT, FONT, new_figure, style_axes
from bayesbias.reliability import VarianceComponents
from bayesbias.reliability.components import GOOD

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = {"base_pairs": "base pairs", "targets": "target words"}
TOLD = {"target": "target words", "base_pair": "base pairs"}


def plot_decision(
    components: VarianceComponents,
    base_pairs: int | Iterable[int] = (1, 2, 5, 10, 20, 50),
    seeds: int | Iterable[int] | None = None,
    of: Literal["target", "base_pair"] = "target",
    absolute: bool = False,
    threshold: float = GOOD,
    prob: float = PROB,
) -> Figure:
    """Reliability of mean scores against the number of base pairs, a line and a band for each number of seeds.

    Lines are posterior means, bands ``prob`` highest-density intervals; the dotted line is the threshold. The legend
    says how many base pairs reach it. Scores of a single seed make one line: what other seeds would do is not known.

    Parameters
    ----------
    components
        What :func:`variance_components` returns.
    base_pairs, seeds, of, absolute, threshold, prob
        As in its method ``decision``.
    """
    check_kind(components, VarianceComponents, "plot_decision", "variance_components")
    table = components.decision(several(base_pairs), seeds, of, absolute, threshold, prob)
    across = str(table.columns[0])
    table = table.drop_duplicates([across, "seeds"]).sort_values(["seeds", across])
    numbers = table["seeds"].unique().tolist()
    with mpl.rc_context(FONT):
        figure = new_figure(8.2, 3.8)
        axes = figure.add_subplot()
        for at, (number, look) in enumerate(zip(numbers, looks_of(map(str, numbers)).values(), strict=True)):
            rows = table[table["seeds"] == number]
            few = components.needed(number, of, absolute, threshold, prob)
            axes.fill_between(rows[across], rows["low"], rows["high"], color=look.colour, alpha=0.13, linewidth=0)
            for end in ("low", "high"):
                axes.plot(rows[across], rows[end], color=look.colour, linewidth=0.5, linestyle=LINES[at % len(LINES)])
            axes.plot(
                rows[across],
                rows["mean"],
                color=look.colour,
                marker=look.marker,
                ms=5,
                lw=1.6,
                linestyle=LINES[at % len(LINES)],
                label=f"{number} {'seed' if number == 1 else 'seeds'}: {_enough(few)}",
            )
        axes.axhline(threshold, color=FAINT, linewidth=0.9, linestyle=":")
        ticks = table[across].unique()
        axes.set_xscale("log")
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
        axes.set_ylim(-0.01, 1.02)
        axes.set_yticks(np.linspace(0, 1, 5))
        kind = "absolute" if absolute else "relative"
        style_axes(axes, f"{NAMES[across]} that a score is the mean of", f"Reliability of {TOLD[of]}")
        axes.set_ylabel(f"reliability ({kind} error)")
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(
            handles[::-1],
            labels[::-1],
            title=f"{NAMES[across]} needed\nfor {threshold:g}",
            loc="outside right center",
            alignment="left",
            frameon=False,
        )
        never = "∞: no number is enough." if any("∞" in label for label in labels) else ""
        note_below(figure, f"Bands and brackets: {100 * prob:g}% intervals.", never, *components.notes)
    return figure


def _enough(few: dict[str, float]) -> str:
    """How many are needed, with the interval."""
    said = ["∞" if np.isinf(few[name]) else f"{few[name]:,.0f}" for name in ("median", "low", "high")]
    return said[0] if len(set(said)) == 1 else f"{said[0]} ({said[1]} to {said[2]})"
