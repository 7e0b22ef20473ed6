"""A statistic for random topics of the vocabulary, with the observed value among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np

from bayesbias.diagnostics import TopicNull
from bayesbias.diagnostics.topics import LISTS, as_far
from bayesbias.plots.null_weat import BARS, MARK
from bayesbias.plots.pieces import check_kind, note_below
from bayesbias.plots.style import FONT, INK, new_figure, style_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BINS, FEW_BINS, FEW = 40, 20, 200
"""Bins of a histogram, those of one of few replicates, and what is few."""
AS_FAR = "#E69F00"
HEADROOM = 1.12
"""Height of the panel over that of the highest bar, for the label of the observed value."""


def plot_topic_null(null: TopicNull, statistic: str | None = None) -> Figure:
    """Histogram of a statistic for random lists, with the observed value as a line.

    Replicates at least as far from no bias (dashed) as the observed value are orange.

    Parameters
    ----------
    null
        A result of :func:`topic_null`.
    statistic
        One of its statistics; by default the first.

    Raises
    ------
    InputError
        Something else was given, or a statistic that it does not have.
    """
    check_kind(null, TopicNull, "plot_topic_null", "topic_null")
    name = next(iter(null.observed)) if statistic is None else statistic
    values, observed, centre = null.of(name), null.observed[name], null.centre[name]
    far = as_far(values, observed, centre)
    edges = np.histogram_bin_edges(values, BINS if len(values) > FEW else FEW_BINS).tolist()
    with mpl.rc_context(FONT):
        figure = new_figure(6.4, 3.2)
        axes = figure.subplots()
        axes.hist([values[~far], values[far]], edges, stacked=True, color=[BARS, AS_FAR], zorder=2)
        axes.axvline(centre, color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=3)
        axes.axvline(observed, color=MARK, linewidth=1.8, zorder=4)
        left = observed > np.median(values)
        axes.annotate(
            f"observed {observed:.3f}".replace("-", "\N{MINUS SIGN}"),
            (observed, 0.97),
            xycoords=("data", "axes fraction"),
            xytext=(-6 if left else 6, 0),
            textcoords="offset points",
            ha="right" if left else "left",
            va="top",
            fontsize=8,
            color=MARK,
        )
        share = f"{far.sum():,} of {len(values):,} ({far.mean():.1%}) are at least as far from {centre:g}"
        what = "difference of mean cosine distances" if " - " in name else f"{name} of {null.words}"
        style_axes(axes, what, f"{name.replace(' - ', ' \N{MINUS SIGN} ')}: {share}")
        axes.set_yticks([])
        axes.set_ylim(top=HEADROOM * axes.get_ylim()[1])
        note_below(figure, f"{len(values):,} {LISTS[null.kind]}, in place of those of {null.words}; {null.embedding}.")
    return figure
