"""Effects of attribute words as forest plots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
import xarray as xr

from bayesbias._checks import probability, whole_number
from bayesbias.diagnostics.intervals import PROB, flat_draws
from bayesbias.errors import InputError
from bayesbias.models.results import check_fit
from bayesbias.plots.style import FONT, INK, LOOKS, draw_intervals, new_figure, style_axes, word_labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOK_OF_CLASS = {"stereotype": "associated", "human": "human", "neutral": "neutral"}


def plot_attribute_effects(post: xr.DataTree, prob: float = PROB, most: int = 12) -> Figure:
    """How far each attribute word lies from all protected words, beyond the mean of its class.

    One panel a class (stereotype, human, neutral), words sorted; of long lists the ``most`` closest and the ``most``
    farthest are shown. Thick bars are 50%, thin ones ``prob`` highest-density intervals.

    Parameters
    ----------
    post
        A result of :func:`fit` with a crossed model.
    prob
        Posterior mass of the thin bars.
    most
        Words shown at either end of a list.

    Raises
    ------
    InputError
        The model has no effects of attribute words.
    """
    check_fit(post)
    prob, most = probability(prob, "prob"), whole_number(most, "most")
    if "attribute_effect" not in post["posterior"]:
        raise InputError(f"the model {post.attrs['model']!r} has no effects of attribute words: fit a crossed model")
    effects = flat_draws(post["posterior/attribute_effect"].to_numpy())
    words = post["posterior"]["attribute_word"].to_numpy()
    classes = post["constant_data/class"].to_numpy()
    present = [name for name in LOOK_OF_CLASS if name in set(classes)]
    panels = []
    for name in present:
        own = np.flatnonzero(classes == name)
        order = own[np.argsort(effects[:, own].mean(axis=0))]
        panels.append((name, order if len(order) <= 2 * most + 1 else np.r_[order[:most], order[-most:]], len(order)))
    tallest = max(len(shown) for _, shown, _ in panels)
    with mpl.rc_context(FONT):
        figure = new_figure(3.5 * len(panels), 0.2 * tallest + 1.3)
        axes_row = figure.subplots(1, len(panels), squeeze=False, sharex=True)[0]
        for axes, (name, shown, size) in zip(axes_row, panels, strict=True):
            gap = len(shown) < size
            heights = -np.arange(len(shown), dtype=float) - np.where(gap & (np.arange(len(shown)) >= most), 0.8, 0)
            draw_intervals(axes, heights, effects[:, shown], prob, LOOKS[LOOK_OF_CLASS[name]])
            if gap:
                axes.text(0.02, -most + 0.1, f"… {size - len(shown)} more …", fontsize=7.5, va="center")
            style_axes(axes, "effect on cosine distance", f"{name} ({size} words)")
            axes.axvline(0.0, color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
            axes.set_yticks(heights, word_labels(words[shown], [""] * len(shown)).tolist(), fontsize=7.5)
            axes.set_ylim(-tallest - 0.8, 0.8)
    return figure
