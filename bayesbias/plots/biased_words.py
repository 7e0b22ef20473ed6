"""The most biased words of a setting: Figure 1 of the study of direct bias."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np

from bayesbias._checks import whole_number
from bayesbias.embeddings import Setting
from bayesbias.errors import InputError, shortened
from bayesbias.plots.pieces import check_kind, note_below
from bayesbias.plots.style import FONT, INK, Look, new_figure, style_axes, word_labels
from bayesbias.stability import DirectBiasStudy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIRST, SECOND = Look("#0072B2", "s", "first"), Look("#D55E00", "o", "second")
WIDEST = 72
"""Letters on a line of the title."""
SHOWN = 3
"""Words of the pairs that the axis names."""


def plot_word_bias(study: DirectBiasStudy, setting: tuple[str, str, int, int] | None = None, words: int = 30) -> Figure:
    """The words with the largest cosine with the direction of the pairs, on the side to which they lean.

    Parameters
    ----------
    study
        What :func:`direct_bias_study` returns.
    setting
        Corpus, algorithm, dimensions and seed; None takes the first of those with the most dimensions.
    words
        How many words, the most biased ones.

    Raises
    ------
    InputError
        A setting that the study does not hold.
    """
    check_kind(study, DirectBiasStudy, "plot_word_bias", "direct_bias_study")
    words = whole_number(words, "words")
    chosen = _setting(study, setting)
    bias = study.bias.iloc[study.settings.index(chosen)]
    shown = bias.loc[bias.abs().sort_values(ascending=False, kind="stable").index[:words]].sort_values(ascending=False)
    heights = -np.arange(len(shown), dtype=float)
    values = shown.to_numpy(dtype=float)
    first, second = (shortened([pair[side] for pair in study.pairs], SHOWN) for side in (0, 1))
    with mpl.rc_context(FONT):
        figure = new_figure(6.6, 0.19 * len(shown) + 1.2)
        axes = figure.add_subplot()
        across = ("axes fraction", "data")
        for look, own in ((FIRST, values >= 0), (SECOND, values < 0)):
            axes.hlines(heights[own], 0, values[own], color=look.colour, linewidth=1.4)
            axes.scatter(values[own], heights[own], s=24, marker=look.marker, color=look.colour, zorder=3)
        for height, value, word in zip(heights, values, word_labels(shown.index, [""] * len(shown)), strict=True):
            left = value >= 0
            axes.annotate(
                word,
                (0, height),
                xytext=(-5 if left else 5, 0),
                textcoords="offset points",
                ha="right" if left else "left",
                va="center",
                fontsize=8,
            )
        for place, side, look, told in ((0.0, "left", SECOND, second), (1.0, "right", FIRST, first)):
            axes.annotate(f"to {told}", (place, 0.85), xycoords=across, ha=side, va="center", color=look.colour)
        title = fill(f"The {len(shown)} most biased of {len(bias)} words, {chosen.label}", WIDEST)
        style_axes(axes, "cosine with the direction of the pairs", title)
        axes.axvline(0, color=INK, linewidth=0.9)
        axes.set_yticks([])
        axes.set_ylim(-len(shown) + 0.4, 1.5)
        most = 1.08 * float(np.abs(values).max())
        axes.set_xlim(-most, most)
        note_below(figure, *study.notes)
    return figure


def _setting(study: DirectBiasStudy, setting: object) -> Setting:
    """A setting of the study."""
    settings = study.settings
    if setting is None:
        return max(settings, key=lambda one: one.dims)
    if setting not in settings:
        held = ", ".join(repr(tuple(one)) for one in settings[:SHOWN]) + ", …" * (len(settings) > SHOWN)
        raise InputError(f"setting is {setting!r}, which the study does not hold: it holds {held}")
    return settings[settings.index(setting)]
