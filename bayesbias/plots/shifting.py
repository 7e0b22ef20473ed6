"""Cosine similarities before and after by connection: the published study's Figures 15 to 17."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.lines import Line2D

from bayesbias.comparison import Comparison, paired_distances, similarity_shift
from bayesbias.errors import InputError
from bayesbias.plots.style import FAINT, FONT, INK, LOOKS, new_figure, style_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BINS, FEW_BINS, FEW = 40, 20, 200
"""Bins of a histogram, those of one of few pairs, and what is few."""


def plot_similarity_shift(
    result: Comparison, mac: float | None = None, before: str | None = None, after: str | None = None
) -> Figure:
    """Histograms of cosine similarities before (outline) and after (filled), one panel a connection.

    The dashed lines lie at plus and minus 1 - MAC before; the shares of pairs between them stand in each panel.

    Parameters
    ----------
    result, mac, before, after
        As in :func:`similarity_shift`.
    """
    if not isinstance(result, Comparison):
        raise InputError(f"given is {type(result).__name__}: plot_similarity_shift takes what compare returns")
    shares = similarity_shift(result, mac, before, after)
    pairs = paired_distances(result, before, after)
    names = result.pair(result.place(before, after))
    limit = shares.attrs["limit"]
    low, high = 1 - pairs[["before", "after"]].to_numpy().max(), 1 - pairs[["before", "after"]].to_numpy().min()
    ends = min(low, -1.1 * limit), max(high, 1.1 * limit)
    with mpl.rc_context(FONT):
        figure = new_figure(7.5, 1.45 * len(shares) + 0.9)
        panels = figure.subplots(len(shares), 1, sharex=True, squeeze=False)[:, 0]
        for axes, row in zip(panels, shares.to_dict("records"), strict=True):
            own, look = pairs[pairs["connection"] == row["connection"]], LOOKS[row["connection"]]
            edges = np.linspace(*ends, (BINS if len(own) > FEW else FEW_BINS) + 1)
            axes.hist(1 - own["after"], edges, density=True, color=look.colour, alpha=0.45)
            axes.hist(1 - own["before"], edges, density=True, histtype="step", color=INK, linewidth=1.2)
            for line in (-limit, limit):
                axes.axvline(line, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
            style_axes(axes, "", f"{look.label}, n = {row['n']:,}")
            axes.set_yticks([])
            axes.annotate(
                f"between the lines\n{names[0]} {100 * row['before']:.0f}%\n{names[1]} {100 * row['after']:.0f}%",
                (0.995, 0.95),
                xycoords="axes fraction",
                ha="right",
                va="top",
                fontsize=8,
                color=FAINT,
            )
        panels[-1].set_xlabel(
            f"cosine similarity (0 is where unrelated words lie; lines at \N{PLUS-MINUS SIGN}(1 \N{MINUS SIGN} MAC) = "
            f"\N{PLUS-MINUS SIGN}{limit:.3f})"
        )
        handles = [
            Line2D([], [], color=INK, linewidth=1.2, label=names[0]),
            Line2D([], [], color=FAINT, alpha=0.6, linewidth=7, label=names[1]),
        ]
        figure.legend(handles=handles, loc="outside upper center", ncols=2, frameon=False)
    return figure
