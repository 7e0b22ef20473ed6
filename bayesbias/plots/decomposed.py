"""A contrast as the sum of two parts, panel by panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
import xarray as xr

from bayesbias._checks import probability
from bayesbias.comparison import GIVEN, POPULATIONS, decomposition_draws
from bayesbias.diagnostics.intervals import PROB
from bayesbias.plots.pieces import note_below
from bayesbias.plots.style import FONT, INK, LOOKS, Look, draw_intervals, new_figure, style_axes, word_labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOKS_OF_PARTS = (LOOKS["associated"], LOOKS["different"], Look(INK, "D", "sum"))
MEANINGS = ("special to own stereotypes", "shared by all stereotypes", "the sum of both")
SIGNS = ("", "+ ", "= ")
LEAST_HEIGHT = 2.4
MINUS = "\N{MINUS SIGN}"


def plot_decomposition(post: xr.DataTree, second: str = "human", prob: float = PROB, population: str = GIVEN) -> Figure:
    """A contrast of associated words as the sum of two parts, on top for the whole list, below for protected words.

    Panels: what is special to a word's own stereotypes (associated - different), what stereotype words of any kind
    share (different - human), and their sum (associated - human), on one scale. Points are posterior means, thick bars
    50% and thin bars ``prob`` highest-density intervals. Words are sorted by the first panel.

    Parameters
    ----------
    post, second, prob, population
        As in :func:`decomposition`.
    """
    prob = probability(prob, "prob")
    parts = decomposition_draws(post, second, population)
    names, groups = post["posterior"]["protected_word"].to_numpy(), post["constant_data/group"].to_numpy()
    labels = word_labels(names, groups)
    left_out = ", ".join(labels[~parts.kept])
    order = np.argsort(parts.words[..., 0].mean(axis=0))
    labels = labels[parts.kept][order]
    heights = np.array([0.0, *(-np.arange(len(labels), dtype=float) - 1.5)])
    with mpl.rc_context(FONT):
        figure = new_figure(9.6, max(0.23 * (len(labels) + 2) + 1.3, LEAST_HEIGHT))
        panels = figure.subplots(1, 3, sharex=True, sharey=True)
        for at, (axes, look) in enumerate(zip(panels, LOOKS_OF_PARTS, strict=True)):
            draws = np.column_stack([parts.whole[:, at], parts.words[:, order, at]])
            draw_intervals(axes, heights, draws, prob, look)
            title = f"{SIGNS[at]}{parts.labels[at].replace(' - ', f' {MINUS} ')}"
            style_axes(axes, MEANINGS[at], title)
            axes.axvline(0.0, color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
            axes.locator_params(axis="x", nbins=5)
            axes.axhline(-0.75, color="#BBBBBB", linewidth=0.7)
        panels[0].set_yticks(heights, ["whole list", *labels])
        panels[0].get_yticklabels()[0].set_fontweight("bold")
        panels[0].set_ylim(heights[-1] - 0.6, 0.6)
        note_below(
            figure,
            f"Differences in cosine distance (left of 0: closer), with 50% and {100 * prob:g}% intervals; the whole "
            f"list for {POPULATIONS[population]}.",
            f"Without distances under all three connections: {left_out}." if left_out else "",
        )
    return figure
