"""Proof of calibration in pictures: false alarms with their errors, and ranks of the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
import pandas as pd
from scipy import stats

from bayesbias.diagnostics.calibration import Ranks
from bayesbias.errors import InputError
from bayesbias.plots.style import FAINT, FONT, INK, new_figure, style_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARKERS = "osD^vP*X"
COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#4D4D4D", "#000000")
BAND = 0.99
RATES = ["method", "contrast", "rate", "se", "nominal"]


def plot_calibration(result: pd.DataFrame | Ranks) -> Figure:
    """False alarms against the nominal rate, or ranks of the truth against uniform ones.

    Parameters
    ----------
    result
        A table of :func:`false_alarms`, :func:`real_null` or :func:`coverage_study` (a further first column, such as
        the name of a table, makes panels), or a result of :func:`sbc`.

    Raises
    ------
    InputError
        Something else was given.
    """
    if isinstance(result, Ranks):
        return _ranks(result)
    if isinstance(result, pd.DataFrame):
        table = result.rename(columns={"coverage": "rate"})
        if set(RATES) <= set(table.columns) and len(table):
            return _rates(table, "coverage" if "coverage" in result else "calls without bias")
    raise InputError("plot_calibration takes a table of false_alarms, real_null or coverage_study, or a result of sbc")


def _rates(table: pd.DataFrame, label: str) -> Figure:
    methods = list(dict.fromkeys(table["method"]))
    contrasts = list(dict.fromkeys(table["contrast"]))
    with mpl.rc_context(FONT):
        figure = new_figure(3.0 * len(contrasts) + 1.0, 0.32 * len(methods) + 1.4)
        axes_row = figure.subplots(1, len(contrasts), squeeze=False, sharex=True, sharey=True)[0]
        for axes, contrast in zip(axes_row, contrasts, strict=True):
            for at, method in enumerate(methods):
                rows = table[(table["contrast"] == contrast) & (table["method"] == method)]
                heights = -at + np.linspace(-0.22, 0.22, len(rows)) * (len(rows) > 1)
                look = {"color": COLOURS[at % len(COLOURS)], "marker": MARKERS[at % len(MARKERS)]}
                low = (2 * rows["se"]).clip(upper=rows["rate"])
                high = (2 * rows["se"]).clip(upper=1 - rows["rate"])
                axes.errorbar(rows["rate"], heights, xerr=[low, high], fmt="none", ecolor=look["color"], elinewidth=0.8)
                axes.scatter(rows["rate"], heights, s=24, zorder=3, edgecolor="white", linewidth=0.5, **look)
            axes.axvline(float(table["nominal"].iloc[0]), color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
            style_axes(axes, label, contrast)
            axes.set_yticks(-np.arange(len(methods)), methods)
            axes.set_ylim(-len(methods) + 0.4, 0.6)
        axes_row[0].set_xlim(left=-0.01)
        figure.supxlabel(
            f"dashed: nominal, {float(table['nominal'].iloc[0]):.2f}; bars: two standard errors",
            x=0.02,
            ha="left",
            fontsize=7.5,
            color=FAINT,
        )
    return figure


def _ranks(result: Ranks) -> Figure:
    """Empirical distribution of the ranks minus the uniform one, with the band of chance."""
    names = list(result.ranks)
    columns = min(3, len(names))
    rows = -(-len(names) // columns)
    grid = np.linspace(0, 1, 200)
    replicates = len(next(iter(result.ranks.values())))
    band = stats.kstwo.ppf(BAND, replicates)
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
            f"{100 * BAND:g}% of right engines' lines stay",
            fontsize=7.5,
            color=FAINT,
        )
        figure.supylabel("share below − uniform", fontsize=8)
    return figure
