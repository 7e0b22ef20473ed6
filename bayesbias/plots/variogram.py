"""How the correlation of two words' distances grows with the similarity of the words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.ticker import NullLocator, PercentFormatter

from bayesbias._core.cosine import FloatArray
from bayesbias._core.variogram import MIDDLES, STEP, IntArray, similarity_bins
from bayesbias.distances import Relatedness, relatedness
from bayesbias.errors import InputError
from bayesbias.plots.calibrating import COLOURS
from bayesbias.plots.pieces import note_below
from bayesbias.plots.style import FAINT, FONT, new_figure, style_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 5
"""Components that are drawn."""
FEWEST_SHARE = 0.005
"""Share of the variance below which a component is not drawn."""
FEW, TICKS = 20, 150
"""Pairs below which a list's kind has no histogram, and up to which each pair has a tick."""
BROAD = 5
"""Bins of similarity that make one bar of a histogram."""
DASHES = ("-", (0, (6, 2)), (0, (6, 1.5, 1.5, 1.5)), (0, (3, 1.2)), (0, (9, 2, 2, 2, 2, 2)))
BARS = "#BDBDBD"
KINDS = {"stereotype": "#D55E00", "control": "#009E73"}
"""Kinds of attribute lists, and the colours of their pairs."""

BEYOND = "Grey: no two sampled words are that alike, and the curves are extended."


def plot_variogram(holder: Relatedness | pd.DataFrame | xr.DataTree) -> Figure:
    """The correlation of two words' distances by the similarity of the words, as read off the vectors.

    One line for each of the largest components of the protected words (at most five), thin where no pair of sampled
    words is that alike and the curve is extended to 1. Below are the number of sampled pairs in each bin of similarity,
    and the similarities of two words of one attribute list beside those of random pairs of the vocabulary.

    Parameters
    ----------
    holder
        A result of :func:`relatedness`, or a distance table or a fit that carries one.

    Raises
    ------
    InputError
        Something else was given, or a table or a fit without relatedness.
    """
    found = held_relatedness(holder, "plot_variogram")
    within = {kind: similarities_within(found, kind) for kind in KINDS}
    within = {kind: values for kind, values in within.items() if len(values)}
    met: FloatArray = MIDDLES[found.pairs.counts > 0].astype(float)
    least = min([met[0], *(values.min() for values in within.values())])
    with mpl.rc_context(FONT):
        figure = new_figure(7.0, 6.4)
        curves, sampled, lists = figure.subplots(3, 1, sharex=True, height_ratios=(3.4, 1, 1.1))
        _curves(curves, found, met)
        _counts(sampled, found.pairs.counts)
        _spread(lists, found.pairs.counts, within)
        lists.set_xlim(max(-1.0, least - 0.03), 1.01)
        lists.set_xlabel("similarity of two words (cosine of their vectors less the vocabulary's mean)")
        note_below(figure, found.sentence, BEYOND, *_sentences(found, within))
    return figure


def held_relatedness(holder: object, plot: str) -> Relatedness:
    """Relatedness as given, or of a table or a fit.

    Raises
    ------
    InputError
        Something else was given, or a table or a fit without relatedness.
    """
    if isinstance(holder, Relatedness):
        return holder
    if isinstance(holder, pd.DataFrame | xr.DataTree):
        return relatedness(holder)
    raise InputError(
        f"given is {type(holder).__name__}: {plot} takes what relatedness returns, or a distance table or a fit that "
        "carries it"
    )


def similarities_within(found: Relatedness, kind: str) -> FloatArray:
    """Similarities of all pairs of different words of one list, one list of a kind after the other."""
    parts = [np.empty(0)]
    for _, one, words in found.lists:
        if one == kind:
            units = found.units_of(words)
            parts.append((units @ units.T)[np.triu_indices(len(units), 1)].astype(float))
    return np.concatenate(parts)


def _curves(axes: Axes, found: Relatedness, met: FloatArray) -> None:
    table = found.variogram()
    table = table[(table["component"] < MOST) & ((table["share"] >= FEWEST_SHARE) | (table["component"] == 0))]
    for at, (_, rows) in enumerate(table.groupby("component")):
        x, y = rows["similarity"].to_numpy(), rows["correlation"].to_numpy()
        colour, width = COLOURS[at], 1.9 if at == 0 else 1.3
        label = f"component {at + 1}: {rows['share'].iloc[0]:.0%} of the variance"
        known = (x >= met[0]) & (x <= met[-1])
        axes.plot(x[known], y[known], color=colour, linewidth=width, linestyle=DASHES[at], label=label, zorder=4)
        for beyond in (x <= met[0], np.append(x >= met[-1], True)):
            ends = np.append(x, 1.0)[: len(beyond)][beyond], np.append(y, 1.0)[: len(beyond)][beyond]
            axes.plot(*ends, color=colour, linewidth=0.7, zorder=3)
    axes.plot([-1, 1], [-1, 1], color=FAINT, linewidth=0.9, linestyle=":", label="correlation = similarity", zorder=2)
    for begin, end in ((-1.0, met[0] - STEP / 2), (met[-1] + STEP / 2, 1.0)):
        axes.axvspan(begin, end, color="#F0F0F0", linewidth=0, zorder=0)
    axes.axhline(0, color="#BBBBBB", linewidth=0.8, zorder=1)
    style_axes(axes, "", "Correlation of two words' distances, by the similarity of the words")
    axes.grid(axis="y", color="#E3E3E3", linewidth=0.6)
    axes.set_ylabel("correlation of distances\nto the protected words")
    axes.set_ylim(max(-1.04, min(float(table["correlation"].min()), -0.4) - 0.1), 1.04)
    axes.legend(loc="lower right", framealpha=0.9, edgecolor="none", fontsize=8)


def _counts(axes: Axes, counts: IntArray) -> None:
    axes.bar(MIDDLES, counts, STEP, color=BARS, linewidth=0)
    axes.set_yscale("log")
    axes.set_ylim(0.7, 3 * max(int(counts.max()), 10))
    axes.yaxis.set_minor_locator(NullLocator())
    style_axes(axes, "")
    axes.set_ylabel("sampled\npairs")


def _spread(axes: Axes, counts: IntArray, within: Mapping[str, FloatArray]) -> None:
    """Shares of pairs by similarity, in broad bins; few pairs as ticks."""
    edges = np.linspace(-1, 1, len(counts) // BROAD + 1)
    random = counts.reshape(-1, BROAD).sum(axis=1) / counts.sum()
    highest = float(random.max())
    axes.stairs(random, edges, fill=True, color=BARS, label="random pairs")
    for at, (kind, values) in enumerate(within.items()):
        label = f"within {kind} lists ({len(values):,} pair{'s' if len(values) > 1 else ''})"
        look: dict[str, Any] = {"color": KINDS[kind], "linewidth": 1.4, "label": label}
        if len(values) >= FEW:
            shares = np.histogram(values, edges)[0] / len(values)
            highest = max(highest, float(shares.max()))
            axes.stairs(shares, edges, linestyle=DASHES[at], **look)
        else:
            axes.plot([], [], **look)
        if len(values) <= TICKS:
            heights = np.full(len(values), 0.9 - 0.13 * at)
            ends = axes.get_xaxis_transform()
            axes.vlines(values, heights, heights + 0.1, color=KINDS[kind], linewidth=0.9, transform=ends)
    style_axes(axes, "")
    axes.set_ylabel("share of\nthe pairs")
    axes.set_ylim(0, 1.3 * highest)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(-0.01, 1.0),
        ncols=3,
        frameon=False,
        fontsize=8,
        borderpad=0,
        columnspacing=1.5,
    )


def _sentences(found: Relatedness, within: Mapping[str, FloatArray]) -> Iterator[str]:
    parts = found.components
    typical = parts.variances @ parts.correlations / parts.variances.sum()
    for kind, values in within.items():
        text = (
            f"Within a {kind} list two words have a similarity of {values.mean():.2f} on average, and the correlation "
            f"of their distances is {typical[similarity_bins(values)].mean():.2f} on average (all components)."
        )
        yield text.replace(" -", " \N{MINUS SIGN}")
