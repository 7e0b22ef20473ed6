"""Bias silhouettes: the study's Figure 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np

from bayesbias.errors import InputError
from bayesbias.plots.style import FONT, INK, Look, new_figure
from bayesbias.silhouettes import Silhouette, silhouette_accuracy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOKS = (Look("#D55E00", "o", ""), Look("#0072B2", "s", ""), Look("#009E73", "^", ""), Look("#CC79A7", "D", ""))
COLUMNS = 2
HATCHES = ("", "////", "....", "xxxx")

Panel = Mapping[str, Silhouette] | Silhouette


def plot_silhouette(panels: Panel | Sequence[Panel], runs: bool = False) -> Figure:
    """Values of a metric over the number of words used: the area between the extremes, and the mean.

    Parameters
    ----------
    panels
        A silhouette, or a mapping of names (such as biased and unbiased) to silhouettes of one metric; or several of
        these, one panel each. The title of a panel holds the robustness of each, and with two silhouettes the accuracy,
        the first being the biased one.
    runs
        Whether to draw the curve of each run.
    """
    given = [panels] if isinstance(panels, Silhouette | Mapping) else list(panels)
    if not given:
        raise InputError("there is no silhouette to draw: give what silhouette returns")
    named = [_named(panel) for panel in given]
    columns = min(COLUMNS, len(named))
    rows = -(-len(named) // columns)
    with mpl.rc_context(FONT):
        figure = new_figure(5.0 * columns + 0.4, 3.0 * rows + 0.3)
        grid = figure.subplots(rows, columns, squeeze=False)
        for axes, panel in zip(grid.ravel(), named, strict=False):
            _draw(axes, panel, runs)
        for axes in grid.ravel()[len(named) :]:
            axes.set_visible(False)
    return figure


def _named(panel: Panel) -> dict[str, Silhouette]:
    named = {panel.embedding: panel} if isinstance(panel, Silhouette) else dict(panel) if panel else {}
    if not named or not all(isinstance(one, Silhouette) for one in named.values()):
        raise InputError(f"given is {panel!r}: plot_silhouette takes what silhouette returns, or names to several")
    if len({(one.metric, one.vary) for one in named.values()}) > 1:
        told = ", ".join(f"{name} ({one.metric}, {one.vary})" for name, one in named.items())
        raise InputError(f"a panel shows one metric and one kind of list, given are {told}: give several panels")
    return named


def _draw(axes: Axes, panel: Mapping[str, Silhouette], runs: bool) -> None:
    for at, (name, one) in enumerate(panel.items()):
        colour = LOOKS[at % len(LOOKS)].colour
        axes.fill_between(
            one.sizes, one.min, one.max, color=colour, alpha=0.22, linewidth=0.8, hatch=HATCHES[at % len(HATCHES)]
        )
        if runs:
            axes.plot(one.sizes, one.values.T, color=colour, linewidth=0.4, alpha=0.35)
        axes.plot(one.sizes, one.mean, color=colour, linewidth=1.8, label=f"{name} (robustness {one.robustness:.2f})")
    first = next(iter(panel.values()))
    low, high = first.bounds
    room = 0.03 * (high - low)
    axes.set_ylim(low - room, high + room)
    axes.axhline(first.zero, color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel(f"{first.vary.removesuffix('s')} words used")
    axes.set_ylabel(first.metric)
    title = f"{first.metric}, growing {first.vary}"
    both = list(panel.values())
    if len(both) == 2 and np.array_equal(both[0].sizes, both[1].sizes):
        title += f": accuracy {silhouette_accuracy(both[0], both[1]):.2f}"
    axes.set_title(title, loc="left", fontweight="bold")
    axes.legend(frameon=False, fontsize=8)
