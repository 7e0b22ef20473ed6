"""Where the variance of distances comes from, as stacked bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
import xarray as xr

from bayesbias.diagnostics.variances import COMPONENTS, variance_shares
from bayesbias.plots.style import FONT, INK, new_figure, style_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOK = {
    "protected word": ("#0072B2", "//"),
    "attribute word": ("#E69F00", ""),
    "word x group": ("#CC79A7", "\\\\"),
    "residual": ("#D9D9D9", ""),
}
"""Colour (Okabe and Ito) and hatching: either tells the parts apart."""
LEAST = 0.06


def plot_variance(post: xr.DataTree) -> Figure:
    """Posterior mean shares of the variance of distances: protected word, attribute word, word x group, residual.

    A large share of the attribute word is what makes intervals that take distances for independent too narrow.

    Parameters
    ----------
    post
        A result of :func:`fit`.
    """
    table = variance_shares(post)
    connections = list(dict.fromkeys(table["connection"]))
    with mpl.rc_context({**FONT, "hatch.linewidth": 0.5}):
        figure = new_figure(7.0, 0.38 * len(connections) + 1.5)
        axes = figure.add_subplot()
        left = np.zeros(len(connections))
        heights = -np.arange(len(connections), dtype=float)
        for name in (part for part in COMPONENTS if part in set(table["component"])):
            share = table.loc[table["component"] == name, "mean"].to_numpy()
            colour, hatch = LOOK[name]
            axes.barh(heights, share, 0.7, left, color=colour, hatch=hatch, edgecolor="white", label=name)
            for height, begin, width in zip(heights, left, share, strict=True):
                if width > LEAST:
                    box = {"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 0.8} if hatch else None
                    axes.text(
                        begin + width / 2, height, f"{100 * width:.0f}%", ha="center", va="center", color=INK, bbox=box
                    )
            left += share
        style_axes(axes, "share of the variance within a connection", "Where the spread of distances comes from")
        axes.set_xlim(0, 1)
        axes.set_yticks(heights, connections)
        figure.legend(loc="outside lower center", ncols=4, frameon=False)
    return figure
