"""WEAT of noise in pictures: Figures 8 to 10 of the Bayesian article, a function each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np

from bayesbias._core.cosine import FloatArray
from bayesbias.diagnostics.null_weat import NullWeat
from bayesbias.errors import InputError
from bayesbias.plots.style import FAINT, FONT, INK, new_figure, style_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BARS, MARK = "#56B4E9", "#D55E00"
BINS = 60
TITLES = ("Sum statistic s", "Effect size")


def plot_null_weat(result: NullWeat) -> Figure:
    """WEAT of samples of noise, with the sample marked (Figure 10).

    Parameters
    ----------
    result
        A result of :func:`simulate_null_weat`.

    Returns
    -------
    Figure
        Histograms of s and of the effect size; the grey band holds ``prob`` of them.
    """
    _checked(result, "plot_null_weat")
    shares = result.summary()["as_extreme"]
    said = [f"{share:.1%} of samples\nas far from 0" for share in shares]
    note = f"{len(result.s):,} samples of noise with sd {result.sd:g}, {_sizes(result)}"
    return _two((result.s, result.effect_size), result, said, note)


def plot_null_partitions(result: NullWeat) -> Figure:
    """WEAT of the sample when its words are dealt out anew, with the sample marked (Figure 8).

    Parameters
    ----------
    result
        A result of :func:`simulate_null_weat`.

    Returns
    -------
    Figure
        Histograms of s and of the effect size over partitions; the grey band holds ``prob`` of them.
    """
    _checked(result, "plot_null_partitions")
    which = "all" if result.test.exact else "random"
    note = f"{which} {len(result.partition_s):,} partitions of one sample of noise, {_sizes(result)}"
    said = [f"permutation test\np = {result.test.p_value:.3g}"] * 2
    return _two((result.partition_s, result.partition_effect_size), result, said, note)


def plot_null_sample(result: NullWeat) -> Figure:
    """The sample's raw cosines, and the differences of the two target sets with their intervals (Figure 9).

    Parameters
    ----------
    result
        A result of :func:`simulate_null_weat`.

    Returns
    -------
    Figure
        Left all cosines by target set and attribute set, with the means of words (diamonds); right the rows of
        ``result.raw``.
    """
    _checked(result, "plot_null_sample")
    raw, n, m = result.raw, result.words, result.attributes
    with mpl.rc_context(FONT):
        figure = new_figure(8.2, 3.6)
        left, right = figure.subplots(1, 2, width_ratios=(1.2, 1))
        sides = [(words, columns) for columns in (slice(m), slice(m, None)) for words in (slice(n), slice(n, None))]
        for at, (words, columns) in enumerate(sides):
            colour, marker = (("#0072B2", "o"), ("#E69F00", "s"))[at % 2]
            cosines = result.sample[words, columns]
            jitter = np.random.default_rng(at).uniform(-0.28, 0.28, cosines.shape)
            left.scatter(cosines, jitter - at, s=11, color=colour, marker=marker, alpha=0.55, linewidths=0)
            means = cosines.mean(axis=1)
            left.scatter(means, np.full(n, -at), s=26, color=INK, marker="D", edgecolor="white", lw=0.6, zorder=3)
        left.set_yticks(-np.arange(4), ["X with A", "Y with A", "X with B", "Y with B"])
        left.axvline(0, color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
        style_axes(left, "cosine", "One sample of noise (diamonds: means of words)")
        heights = -np.arange(len(raw))
        right.hlines(heights, raw["low"], raw["high"], color=INK, linewidth=1.4)
        right.scatter(raw["difference"], heights, s=28, color=MARK, edgecolor="white", lw=0.6, zorder=3)
        for height, p_value, high in zip(heights, raw["p_value"], raw["high"], strict=True):
            right.annotate(f"p = {p_value:.2g}", (high, height), xytext=(5, -3), textcoords="offset points", fontsize=8)
        right.axvline(0, color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
        right.set_yticks(heights, ["cosines with A", "cosines with B", "s of words"])
        right.set_ylim(-len(raw) + 0.4, 0.6)
        right.margins(x=0.2)
        style_axes(right, "difference of means, X \N{MINUS SIGN} Y", f"Welch's t test ({100 * result.prob:g}%)")
    return figure


def _two(values: tuple[FloatArray, FloatArray], result: NullWeat, said: list[str], note: str) -> Figure:
    with mpl.rc_context(FONT):
        figure = new_figure(8.2, 3.2)
        observed = (result.observed_s, result.observed_effect_size)
        for axes, drawn, mark, words, title in zip(figure.subplots(1, 2), values, observed, said, TITLES, strict=True):
            _histogram(axes, drawn, mark, result.prob, words)
            style_axes(axes, "", f"{title}: {mark:.2f}")
        figure.supxlabel(note, x=0.02, ha="left", fontsize=7.5, color=FAINT)
    return figure


def _histogram(axes: Axes, drawn: FloatArray, mark: float, prob: float, words: str) -> None:
    low, high = np.quantile(drawn, [(1 - prob) / 2, (1 + prob) / 2])
    axes.axvspan(low, high, color="#EDEDED", zorder=0)
    axes.hist(drawn, bins=BINS, color=BARS, zorder=2)
    axes.axvline(mark, color=MARK, linewidth=1.8, zorder=3)
    left = mark > np.median(drawn)
    axes.annotate(
        words,
        (mark, 0.97),
        xycoords=("data", "axes fraction"),
        xytext=(6 if left else -6, 0),
        textcoords="offset points",
        ha="left" if left else "right",
        va="top",
        fontsize=8,
        color=MARK,
    )
    axes.set_yticks([])
    most = max(np.abs(drawn).max(), abs(mark)) * 1.35
    axes.set_xlim(-most, most)


def _sizes(result: NullWeat) -> str:
    return f"{result.words} + {result.words} words, {result.attributes} + {result.attributes} attributes"


def _checked(result: object, name: str) -> None:
    if not isinstance(result, NullWeat):
        raise InputError(f"{name} takes a result of simulate_null_weat, given is {type(result).__name__}")
