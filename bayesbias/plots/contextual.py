"""Pictures of words in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
import xarray as xr

from bayesbias._checks import by_name_or_none, one_of, probability
from bayesbias._phrases import MINUS, percent
from bayesbias.checks.summaries import PROB, interval_ends
from bayesbias.comparison.frame_contrasts import FrameEffects, frame_effects
from bayesbias.errors import InputError
from bayesbias.plots.style import FAINT, FONT, Look, label_rows, note_below, one_panel, word_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SINGLE = Look("#0072B2", "o", "in this frame")


def plot_templates(
    post: xr.DataTree | FrameEffects,
    first: str = "associated",
    second: str | None = None,
    prob: float = PROB,
    ax: Axes | None = None,
) -> Figure:
    """The contrast in each sentence frame, and as a band the contrast for frames like these.

    Parameters
    ----------
    post
        A fit of a table of words in sentences, or a result of :func:`frame_effects`.
    first, second
        Connections, as in :func:`contrasts`; of effects that are given, theirs.
    prob
        Mass of the band.
    ax
        Axes to draw on; by default those of a new figure.

    Examples
    --------
    >>> def encoder(texts):  # in place of a sentence encoder
    ...     letters = "abcdefghijklmnopqrstuvwxyz"
    ...     return [[text.count(letter) + 0.1 for letter in letters] for text in texts]
    >>> vectors = bb.encode(encoder, "weat7", ["{}.", "This is {}."])
    >>> post = bb.fit(bb.distance_table(vectors, "weat7"), seed=0)
    >>> bb.plots.plot_templates(post).savefig("templates.png")
    """
    prob = probability(prob, "prob")
    if isinstance(post, FrameEffects):
        one_of(first, dict.fromkeys(("associated", post.contrast[0])), "first")
        by_name_or_none(second, post.contrast[1:], "second")
    effects = post if isinstance(post, FrameEffects) else frame_effects(post, first, second)
    table = effects.by_frame
    if table.empty:
        raise InputError("the sentences come from a corpus and are no frames: there is nothing to draw")
    low, high = interval_ends(effects.whole[:, None], prob)
    table = table.iloc[np.lexsort((table["contrast"], table["side"]))]
    heights = -np.arange(len(table), dtype=float)
    with mpl.rc_context(FONT):
        figure, axes = one_panel(ax, 6.4, 0.28 * len(table) + 1.3)
        axes.axvspan(low[0], high[0], color="#DCE9F3", lw=0, zorder=0)
        axes.axvline(effects.whole.mean(), color="#0072B2", lw=0.8, zorder=1)
        axes.axvline(0, color=FAINT, lw=0.8, zorder=1)
        values, se = table["contrast"].to_numpy(), table["se"].to_numpy()
        axes.hlines(heights, values - se, values + se, color=SINGLE.colour, linewidth=1.2)
        axes.scatter(values, heights, s=20, marker=SINGLE.marker, color=SINGLE.colour)
        sides = ["" if side == "both" else str(side) for side in table["side"]]
        contrast = MINUS.join(effects.contrast)
        label_rows(axes, word_labels(table["frame"], sides).tolist(), f"{contrast}, cosine distance", "Frames", 0.0)
        note_below(
            figure,
            "Bars: one standard error of what single attribute words add to differences between frames. Band: "
            f"{percent(prob)} interval for frames like these.",
            ax=ax,
        )
    return figure
