"""Bias silhouettes: the study's Figure 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np

from bayesbias._checks import flag
from bayesbias._core.cosine import FloatArray
from bayesbias.errors import InputError
from bayesbias.plots.style import FONT, INK, Look, new_figure
from bayesbias.silhouettes import Silhouette, silhouette_accuracy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOKS = (Look("#D55E00", "o", ""), Look("#0072B2", "s", ""), Look("#009E73", "^", ""), Look("#CC79A7", "D", ""))
COLUMNS = 2
NARROW, WIDE = 32, 50
"""Letters in a line beside and above a panel."""
HATCHES = ("", "////", "....", "xxxx")
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
    """
    if zoom is not None:
        flag(zoom, "zoom")
    if not isinstance(panels, Silhouette | Mapping | list | tuple):
        raise InputError(f"given is {type(panels).__name__}: plot_silhouette takes what silhouette returns")
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
            _draw(axes, panel, runs, zoom)
        for axes in grid.ravel()[len(named) :]:
            axes.set_visible(False)
    return figure


def _named(panel: Panel) -> dict[str, Silhouette]:
    named = {panel.embedding: panel} if isinstance(panel, Silhouette) else {}
    named = dict(panel) if isinstance(panel, Mapping) else named
    if not named or not all(isinstance(one, Silhouette) for one in named.values()):
        raise InputError(f"given is {panel!r}: plot_silhouette takes what silhouette returns, or names to several")
    if len({(one.metric, one.vary) for one in named.values()}) > 1:
        told = ", ".join(f"{name} ({one.metric}, {one.vary})" for name, one in named.items())
        raise InputError(f"a panel shows one metric and one kind of list, given are {told}: give several panels")
    return named


def _draw(axes: Axes, panel: Mapping[str, Silhouette], runs: bool, zoom: bool | None) -> None:
    for at, (name, one) in enumerate(panel.items()):
        colour = LOOKS[at % len(LOOKS)].colour
        axes.fill_between(
            one.sizes, one.min, one.max, color=colour, alpha=0.22, linewidth=0.8, hatch=HATCHES[at % len(HATCHES)]
        )
        if runs:
            axes.plot(one.sizes, one.values.T, color=colour, linewidth=0.4, alpha=0.35)
        for end in _ends(one):
            axes.plot(one.sizes, end, color=colour, linewidth=0.8, linestyle=(0, (5, 2)))
        axes.plot(one.sizes, one.mean, color=colour, linewidth=1.8, label=f"{name} ({_scores(one)})")
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


def _ranged(one: Silhouette) -> str:
    """The metric and its range."""
    low, high = (f"{bound:.3g}".replace("-", "\N{MINUS SIGN}") for bound in one.bounds)
    return f"{one.metric} (range {low} to {high})"


def _ends(one: Silhouette) -> list[FloatArray]:
    """Means over the runs of the lower and of the upper ends of the intervals, (sizes,) each."""
    return [end.mean(axis=0) for end in (one.low, one.high) if end is not None]


def _scores(one: Silhouette) -> str:
    covered = one.coverage[:-1]
    held = f", coverage {covered.mean():.2f}" if len(covered) and not np.isnan(covered).any() else ""
    return f"robustness {one.robustness:.2f}{held}"


def _limits(panel: Sequence[Silhouette], zoom: bool | None) -> tuple[tuple[float, float], bool]:
    """Ends of the axis, and whether they are those of what is drawn."""
    low, high = panel[0].bounds
    values = np.concatenate([one.values.ravel() for one in panel])
    drawn = np.concatenate([values, *(end for one in panel for end in _ends(one))])
    values, drawn = values[~np.isnan(values)], drawn[~np.isnan(drawn)]
    if not len(values) or np.ptp(drawn) == 0:
        return (low, high), False
    if zoom or (zoom is None and np.ptp(values) < ZOOMED * (high - low)):
        return (float(drawn.min()), float(drawn.max())), True
    return (low, high), False
