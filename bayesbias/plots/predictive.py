"""Observed against predicted distances: the published study's Figure 12."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
import xarray as xr

from bayesbias._checks import probability
from bayesbias._core.cosine import FloatArray
from bayesbias.diagnostics.intervals import PROB, hdi
from bayesbias.diagnostics.predictions import check_predictions, predictive_cells
from bayesbias.models.results import check_fit
from bayesbias.plots.raw import MANY
from bayesbias.plots.style import FONT, INK, INNER_PROB, LOOKS, connection_legend, new_figure, style_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DENSITY_DRAWS = 4000


def plot_predictions(post: xr.DataTree, prob: float = PROB, seed: int | None = None) -> Figure:
    """Observed distances against their predictions, and the densities of both.

    Above: each line is a protected word under one connection, at the height of its mean prediction; the thin line is
    the ``prob`` predictive highest-density interval, the thick one the 50% interval, and the points are observed
    distances. Below: densities of observed (solid) and predicted (dashed) distances by connection.

    Parameters
    ----------
    post
        A result of :func:`fit`.
    prob
        Mass of the wide predictive intervals.
    seed
        Seed of the predictive draws; None takes one that follows from the seed of the fit.
    """
    check_fit(post)
    prob = probability(prob, "prob")
    names = [str(name) for name in post["posterior"]["connection"].to_numpy()]
    draws = predictive_cells(post, seed)
    shares = check_predictions(post, (INNER_PROB, prob), seed).iloc[0]
    with mpl.rc_context(FONT):
        figure = new_figure(8.0, 7.2)
        grid = figure.add_gridspec(2, len(names), height_ratios=(2.6, 1))
        top = figure.add_subplot(grid[0, :])
        _cells(top, post, draws, names, prob)
        top.set_title(
            f"Observed and predicted: {100 * shares[f'inside_{100 * INNER_PROB:g}']:.0f}% of {shares['n']:,} "
            f"distances lie in their 50% interval, {100 * shares[f'inside_{100 * prob:g}']:.0f}% in their "
            f"{100 * prob:g}% interval",
            loc="left",
            fontsize=9.5,
        )
        first: Axes | None = None
        for k, name in enumerate(names):
            axes = figure.add_subplot(grid[1, k], sharex=first)
            first = first or axes
            _densities(axes, post, draws, k, name)
        connection_legend(figure, names)
    return figure


def _cells(axes: Axes, post: xr.DataTree, draws: FloatArray, names: list[str], prob: float) -> None:
    constant = post["constant_data"]
    word, connection = constant["word_index"].to_numpy(), constant["connection_index"].to_numpy()
    y = post["observed_data/distance"].to_numpy()
    with np.errstate(invalid="ignore"):
        centre = draws.mean(axis=0)
    for k, name in enumerate(names):
        look = LOOKS[name]
        some = ~np.isnan(centre[:, k])
        for mass, width in ((prob, 0.7), (INNER_PROB, 2.2)):
            low, high = hdi(draws[:, some, k], mass)
            axes.hlines(centre[some, k], low, high, color=look.colour, linewidth=width, alpha=0.55, zorder=1)
        mine = connection == k
        axes.scatter(
            y[mine],
            centre[word[mine], k],
            s=9,
            marker=look.marker,
            color=look.colour,
            alpha=0.5,
            linewidths=0,
            zorder=2,
            rasterized=len(y) > MANY,
        )
    ends = [np.nanmin(centre), np.nanmax(centre)]
    axes.plot(ends, ends, color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=3)
    style_axes(axes, "observed cosine distance")
    axes.set_ylabel("mean prediction")


def _densities(axes: Axes, post: xr.DataTree, draws: FloatArray, k: int, name: str) -> None:
    from scipy.stats import gaussian_kde

    counts = post["constant_data/n"].to_numpy()[:, k]
    y = post["observed_data/distance"].to_numpy()[post["constant_data/connection_index"].to_numpy() == k]
    rng = np.random.default_rng(0)
    cells = rng.choice(len(counts), size=DENSITY_DRAWS, p=counts / counts.sum())
    predicted = draws[rng.integers(len(draws), size=DENSITY_DRAWS), cells, k]
    x = np.linspace(min(y.min(), predicted.min()), max(y.max(), predicted.max()), 200)
    look = LOOKS[name]
    if len(y) > 1 and np.ptp(y) > 0:
        axes.plot(x, gaussian_kde(y)(x), color=look.colour, linewidth=1.8)
    axes.plot(x, gaussian_kde(predicted)(x), color=INK, linewidth=1.1, linestyle=(0, (4, 2)))
    style_axes(axes, "solid: observed\ndashed: predicted" if k == 0 else "cosine distance", f"{name}, n = {len(y):,}")
    axes.title.set_fontsize(8.5)
    axes.set_yticks([])
    axes.set_ylim(bottom=0)
