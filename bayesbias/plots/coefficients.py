"""Means of connections and of protected words: the published study's Figure 13."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
import xarray as xr

from bayesbias._checks import one_of, probability
from bayesbias._core.cosine import FloatArray
from bayesbias.comparison.contrasting import GIVEN, POPULATIONS
from bayesbias.diagnostics.clustering import beside
from bayesbias.diagnostics.intervals import PROB, flat_draws
from bayesbias.models.results import check_fit
from bayesbias.plots.style import (
    FAINT,
    FONT,
    LOOKS,
    connection_legend,
    draw_intervals,
    label_rows,
    new_figure,
    spread_rows,
    word_labels,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DISTANCE = "cosine distance (smaller is closer)"
ONE_COLUMN = 20
"""With more protected words than this the words stand in two columns."""


def plot_coefficients(post: xr.DataTree, prob: float = PROB, population: str = GIVEN) -> Figure:
    """Mean distances by connection, above for the whole list, below for each protected word.

    Points are posterior means, thick bars 50% and thin bars ``prob`` highest-density intervals; the number beside a bar
    says how many distances are behind it. The line at 1 is where unrelated words lie. Words are sorted by their
    headline contrast, associated - different where there are two groups, the closest first.

    Parameters
    ----------
    post
        A result of :func:`fit`.
    prob
        Posterior mass of the thin bars.
    population
        Of the whole list, as in :func:`contrasts`: ``"given"``, the mean over these protected words, or ``"similar"``.
    """
    check_fit(post)
    one_of(population, tuple(POPULATIONS), "population")
    prob = probability(prob, "prob")
    names = [str(name) for name in post["posterior"]["connection"].to_numpy()]
    words = post["posterior"]["protected_word"].to_numpy()
    labels = word_labels(words, post["constant_data/group"].to_numpy())
    word_draws = flat_draws(post["posterior/word_mean"].to_numpy())
    counts = post["constant_data/n"].to_numpy()
    order = _by_effect(word_draws.mean(axis=0), names)
    columns = 2 if len(words) > ONE_COLUMN else 1
    per_column = -(-len(words) // columns)
    row = 0.15 * max(len(names), 2)
    heights = (0.24 * len(names) + 0.7, row * per_column + 0.55)
    with mpl.rc_context(FONT):
        figure = new_figure(5.2 * columns + 1.6, sum(heights) + 0.5)
        grid = figure.add_gridspec(2, columns, height_ratios=heights)
        top = figure.add_subplot(grid[0, :])
        mean = flat_draws(post["posterior/connection_mean"].to_numpy())
        if population == GIVEN:
            mean = np.nanmean(word_draws, axis=1)
        for k, name in enumerate(names):
            draw_intervals(top, np.array([-float(k)]), mean[:, [k]], prob, LOOKS[name])
            _note_n(top, np.array([-float(k)]), counts[:, [k]].sum(axis=0), size=8)
        heading = f"Whole list, with 50% and {100 * prob:g}% intervals\nfor {POPULATIONS[population]}"
        label_rows(top, names, DISTANCE, heading, 1.0)
        shared: Axes | None = top if columns == 1 else None
        for column, chunk in enumerate(np.array_split(order, columns)):
            axes = figure.add_subplot(grid[1, column], sharex=shared)
            shared = shared or axes
            for k, name in enumerate(names):
                some = counts[chunk, k] > 0
                at = spread_rows(len(chunk), len(names), k)[some]
                draw_intervals(axes, at, word_draws[:, chunk[some], k], prob, LOOKS[name])
                _note_n(axes, at, counts[chunk[some], k], size=6)
            for line in range(1, len(chunk)):
                axes.axhline(0.5 - line, color="#EEEEEE", linewidth=0.6, zorder=0)
            axes.set_title("n", loc="right", fontsize=7, color=FAINT, x=1.025)
            label_rows(axes, labels[chunk].tolist(), DISTANCE, "" if column else "By protected word", 1.0)
        connection_legend(figure, names)
    return figure


def _by_effect(mean: FloatArray, names: list[str]) -> np.ndarray:
    """Order of words by associated minus the connection that it is set beside, or by the first connection there is."""
    first = mean[:, names.index("associated") if "associated" in names else 0]
    others = beside("associated", names, ~np.isnan(mean)) if "associated" in names else []
    if others:
        first = first - mean[:, names.index(others[0])]
    return np.argsort(np.where(np.isnan(first), np.inf, first), kind="stable")


def _note_n(axes: Axes, heights: FloatArray, counts: np.ndarray, size: float) -> None:
    for height, count in zip(heights, counts, strict=True):
        axes.annotate(
            f"n = {count:,}" if size > 7 else f"{count}",
            (1.0, height),
            xycoords=("axes fraction", "data"),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=size,
            color=FAINT,
        )
