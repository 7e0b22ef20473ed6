"""Pictures of calibration and of null distributions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
import pandas as pd

from bayesbias._core.vectors import FloatArray
from bayesbias._phrases import difference, percent, signed
from bayesbias.calibration.false_positives import Ranks
from bayesbias.calibration.null_models import as_far
from bayesbias.calibration.simulation import NullWeat
from bayesbias.calibration.topics import LISTS, TopicNull
from bayesbias.errors import InputError
from bayesbias.plots.style import (
    COLOURS,
    FAINT,
    FONT,
    INK,
    MARKERS,
    check_kind,
    mark_line,
    new_figure,
    note_below,
    one_panel,
    style_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


BAND = 0.99
RATES = ["method", "contrast", "rate", "se", "nominal"]


def plot_calibration(result: pd.DataFrame | Ranks) -> Figure:
    """False-positive rates against the nominal rate, or ranks of the truth against uniform ones.

    Parameters
    ----------
    result
        A table of :func:`false_positive_rate`, :func:`null_false_positive_rate` or :func:`coverage_study` (a further
        first column, such as
        the name of a table, makes panels), or a result of :func:`sbc`.

    Examples
    --------
    >>> shape = {"groups": {"g": 3, "h": 3}, "stereotypes": {"g": 3, "h": 3}, "human": 6}
    >>> ranks = bb.calibration.sbc("published", shape, replicates=5, draws=19)
    >>> bb.plots.plot_calibration(ranks).savefig("ranks.png")
    """
    if isinstance(result, Ranks):
        return _ranks(result)
    if isinstance(result, pd.DataFrame):
        table = result.rename(columns={"coverage": "rate"})
        if set(RATES) <= set(table.columns) and len(table):
            return _rates(table, "coverage" if "coverage" in result else "false-positive rate")
    raise InputError(
        "plot_calibration takes a table of false_positive_rate, null_false_positive_rate or coverage_study, "
        "or a result of sbc"
    )


def _rates(table: pd.DataFrame, label: str) -> Figure:
    methods = list(dict.fromkeys(table["method"]))
    contrasts = list(dict.fromkeys(table["contrast"]))
    with mpl.rc_context(FONT):
        figure = new_figure(3.0 * len(contrasts) + 1.0, 0.32 * len(methods) + 1.4)
        axes_row = figure.subplots(1, len(contrasts), squeeze=False, sharex=True, sharey=True)[0]
        for axes, contrast in zip(axes_row, contrasts, strict=True):
            for i, method in enumerate(methods):
                rows = table[(table["contrast"] == contrast) & (table["method"] == method)]
                heights = -i + np.linspace(-0.22, 0.22, len(rows)) * (len(rows) > 1)
                look = {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)]}
                low = (2 * rows["se"]).clip(upper=rows["rate"])
                high = (2 * rows["se"]).clip(upper=1 - rows["rate"])
                axes.errorbar(rows["rate"], heights, xerr=[low, high], fmt="none", ecolor=look["color"], elinewidth=0.8)
                axes.scatter(rows["rate"], heights, s=24, zorder=3, edgecolor="white", linewidth=0.5, **look)
            mark_line(axes, float(table["nominal"].iloc[0]))
            style_axes(axes, label, contrast)
            axes.set_yticks(-np.arange(len(methods)), methods)
            axes.set_ylim(-len(methods) + 0.4, 0.6)
        axes_row[0].set_xlim(left=-0.01)
        note_below(figure, f"dashed: nominal, {float(table['nominal'].iloc[0]):.2f}; bars: two standard errors")
    return figure


def _ranks(result: Ranks) -> Figure:
    """Empirical distribution of the ranks minus the uniform one, with the band of chance."""
    names = list(result.ranks)
    columns = min(3, len(names))
    rows = -(-len(names) // columns)
    grid = np.linspace(0, 1, 200)
    replicates = len(next(iter(result.ranks.values())))
    from scipy.stats import kstwo  # loads slowly

    band = kstwo.ppf(BAND, replicates)
    with mpl.rc_context(FONT):
        figure = new_figure(2.7 * columns + 0.6, 1.6 * rows + 0.7)
        panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
        for axes, name in zip(panels, names, strict=False):
            axes.fill_between([0, 1], -band, band, color="#E3E3E3", linewidth=0)
            for column in result.ranks[name].T:
                share = np.searchsorted(np.sort((column + 0.5) / (result.draws + 1)), grid, side="right") / replicates
                axes.plot(grid, share - grid, color="#0072B2", linewidth=0.7, alpha=0.7)
            style_axes(axes, "", f"{name} ({result.ranks[name].shape[1]})")
            axes.axhline(0, color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
        for axes in panels[len(names) :]:
            axes.set_visible(False)
        figure.supxlabel(
            f"rank of the truth (model {result.model}, engine {result.engine}, {replicates} tables); grey: where "
            f"{percent(BAND)} of right engines' lines stay",
            fontsize=7.5,
            color=FAINT,
        )
        figure.supylabel("share below − uniform", fontsize=8)
    return figure


BARS, MARK = "#56B4E9", "#D55E00"
BINS = 60
TITLES = ("Sum statistic s", "Effect size")


def plot_null_weat(result: NullWeat) -> Figure:
    """WEAT of samples of noise, and of one sample whose words are dealt out anew, with the sample marked.

    Figures 10 and 8 of Dobrzeniecka and Urbaniak (2024).

    Parameters
    ----------
    result
        A result of :func:`simulate_null_weat`.

    Returns
    -------
    Figure
        Histograms of s and of the effect size, above over samples, below over partitions; the grey band holds ``prob``
        of them.

    Examples
    --------
    >>> found = bb.calibration.simulate_null_weat(words=4, draws=200)
    >>> bb.plots.plot_null_weat(found).savefig("null.png")
    """
    check_kind(result, NullWeat, "plot_null_weat", "simulate_null_weat")
    observed = (result.observed_s, result.observed_effect_size)
    far = [f"{share:.1%} of samples\nas far from 0" for share in result.summary()["as_extreme"]]
    rows = (
        ("samples of noise", (result.s, result.effect_size), far),
        ("partitions", (result.partition_s, result.partition_effect_size), [f"p = {result.test.p_value:.3g}"] * 2),
    )
    with mpl.rc_context(FONT):
        figure = new_figure(8.2, 5.8)
        for (kind, values, captions), axes_row in zip(rows, figure.subplots(2, 2), strict=True):
            for axes, drawn, mark, words, title in zip(axes_row, values, observed, captions, TITLES, strict=True):
                _histogram(axes, drawn, mark, result.prob, words)
                style_axes(axes, "", f"{title} of {kind}: {mark:.2f}")
        note_below(
            figure,
            f"{len(result.s):,} samples of noise with sd {result.sd:g}, {result.words} + {result.words} words, "
            f"{result.attributes} + {result.attributes} attributes; {'all' if result.test.exact else 'random'} "
            f"{len(result.partition_s):,} partitions of one sample",
        )
    return figure


def _observed(axes: Axes, mark: float, words: str, right: bool) -> None:
    """A line at an observed value, with words right or left of it."""
    axes.axvline(mark, color=MARK, linewidth=1.8, zorder=4)
    axes.annotate(
        words,
        (mark, 0.97),
        xycoords=("data", "axes fraction"),
        xytext=(6 if right else -6, 0),
        textcoords="offset points",
        ha="left" if right else "right",
        va="top",
        fontsize=8,
        color=MARK,
    )


def _histogram(axes: Axes, drawn: FloatArray, mark: float, prob: float, words: str) -> None:
    low, high = np.quantile(drawn, [(1 - prob) / 2, (1 + prob) / 2])
    axes.axvspan(low, high, color="#EDEDED", zorder=0)
    axes.hist(drawn, bins=BINS, color=BARS, zorder=2)
    _observed(axes, mark, words, bool(mark > np.median(drawn)))
    axes.set_yticks([])
    most = max(np.abs(drawn).max(), abs(mark)) * 1.35
    axes.set_xlim(-most, most)


TOPIC_BINS, FEW_BINS, FEW = 40, 20, 200
"""Bins of a histogram, those of one of few replicates, and what is few."""
AS_FAR = "#E69F00"
HEADROOM = 1.12
"""Height of the panel over that of the highest bar, for the label of the observed value."""


def plot_topic_null(null: TopicNull, statistic: str | None = None, ax: Axes | None = None) -> Figure:
    """Histogram of a statistic for random lists, with the observed value as a line.

    Replicates at least as far from no bias (dashed) as the observed value are orange.

    Parameters
    ----------
    null
        A result of :func:`topic_null`.
    statistic
        One of its statistics; by default the first.
    ax
        Axes to draw on; by default those of a new figure.

    Examples
    --------
    >>> null = bb.topic_null("google-news-slice", "weat7", replicates=50)
    >>> bb.plots.plot_topic_null(null).savefig("topics.png")
    """
    check_kind(null, TopicNull, "plot_topic_null", "topic_null")
    name = next(iter(null.observed)) if statistic is None else statistic
    values, observed, centre = null.of(name), null.observed[name], null.centre[name]
    far = as_far(values, observed, centre)
    edges = np.histogram_bin_edges(values, TOPIC_BINS if len(values) > FEW else FEW_BINS).tolist()
    with mpl.rc_context(FONT):
        figure, axes = one_panel(ax, 6.4, 3.2)
        axes.hist([values[~far], values[far]], edges, stacked=True, color=[BARS, AS_FAR], zorder=2)
        axes.axvline(centre, color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=3)
        caption = f"observed {signed(observed)}"
        _observed(axes, observed, caption, bool(observed <= np.median(values)))
        share = f"{far.sum():,} of {len(values):,} ({far.mean():.1%}) are at least as far from {centre:g}"
        what = "difference of mean cosine distances" if " - " in name else f"{name} of {null.words}"
        style_axes(axes, what, f"{difference(name)}: {share}")
        axes.set_yticks([])
        axes.set_ylim(top=HEADROOM * axes.get_ylim()[1])
        note_below(figure, f"{len(values):,} {LISTS[null.kind]}, in place of those of {null.words}; {null.embedding}.")
    return figure
