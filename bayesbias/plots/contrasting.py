"""Contrasts as a forest plot."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
import xarray as xr

from bayesbias._checks import interval, probability
from bayesbias.comparison import GIVEN, POPULATIONS, connections_of, contrast_draws
from bayesbias.diagnostics.clustering import contrasted
from bayesbias.diagnostics.intervals import PROB, share
from bayesbias.models.results import check_fit
from bayesbias.plots.pieces import note_beside
from bayesbias.plots.style import (
    FAINT,
    FONT,
    INK,
    Look,
    draw_intervals,
    new_figure,
    style_axes,
    word_labels,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHOLE = Look("#000000", "D", "whole list")
WORD = Look("#0072B2", "o", "protected word")


def plot_contrasts(
    post: xr.DataTree,
    first: str = "associated",
    second: str | None = None,
    prob: float = PROB,
    rope: float | tuple[float, float] | None = None,
    population: str = GIVEN,
) -> Figure:
    """The contrast of two connections, on top for the whole list, below for each protected word.

    Points are posterior means, thick bars 50% and thin bars ``prob`` highest-density intervals; at the right stands the
    posterior probability that ``first`` is closer. A shaded band marks the rope.

    Parameters
    ----------
    post, first, second, prob, rope, population
        As in :func:`contrasts`.
    """
    check_fit(post)
    prob = probability(prob, "prob")
    region = interval(rope, "rope")
    first, second = contrasted(first, second, *connections_of(post))
    whole, words = contrast_draws(post, first, second, population)
    names = post["posterior"]["protected_word"].to_numpy()
    labels = word_labels(names, post["constant_data/group"].to_numpy())
    kept = ~np.isnan(words).any(axis=0)
    left_out = labels[~kept].tolist()
    words, labels = words[:, kept], labels[kept]
    order = np.argsort(words.mean(axis=0))
    words, labels = words[:, order], labels[order]
    with mpl.rc_context(FONT):
        figure = new_figure(7.0, 0.23 * (len(labels) + 2) + 1.0)
        axes = figure.add_subplot()
        heights = -np.arange(len(labels), dtype=float) - 1.5
        draw_intervals(axes, np.array([0.0]), whole[:, None], prob, WHOLE)
        draw_intervals(axes, heights, words, prob, WORD)
        if region is not None:
            axes.axvspan(*region, color="#DDDDDD", alpha=0.5, linewidth=0, zorder=0)
        shares = [(whole < 0).mean(), *(words < 0).mean(axis=0)]
        for height, value in zip([0.0, *heights], shares, strict=True):
            note_beside(axes, height, share(float(value)))
        title = f"{first} − {second}, with 50% and {100 * prob:g}% intervals\nfor {POPULATIONS[population]}"
        style_axes(axes, f"difference in cosine distance (left of 0: {first} is closer)", title)
        axes.annotate(
            "P(closer)",
            (1.0, 1.0),
            xycoords="axes fraction",
            xytext=(5, 3),
            textcoords="offset points",
            fontsize=7.5,
            color=FAINT,
        )
        axes.axvline(0.0, color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
        axes.axhline(-0.75, color="#BBBBBB", linewidth=0.7)
        axes.set_yticks([0.0, *heights], ["whole list", *labels])
        axes.get_yticklabels()[0].set_fontweight("bold")
        axes.set_ylim(-len(labels) - 1.1, 0.6)
        if left_out:
            note = f"without distances under both connections: {', '.join(left_out)}"
            figure.supxlabel(fill(note, 90), x=0.02, ha="left", fontsize=7.5, color=FAINT)
    return figure
