"""Shares of the variance of bias scores and of measures over settings, as rows with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np

from bayesbias._checks import probability
from bayesbias.diagnostics.intervals import PROB, share
from bayesbias.plots.pieces import check_kind, note_below, note_beside
from bayesbias.plots.style import FONT, INNER_PROB, Look, label_rows, new_figure
from bayesbias.reliability import VarianceComponents
from bayesbias.stability import SettingComponents
from bayesbias.stability.components import SETTINGS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PART, CLAIM = Look("#0072B2", "o", "share"), Look("#D55E00", "D", "ratio")
WIDEST = 46
"""Letters on a line of a statement."""
RATIOS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
LEAST = 0.02
"""The smallest ratio on the axis."""


def plot_components(result: VarianceComponents | SettingComponents, prob: float = PROB) -> Figure:
    """Shares of the variance by component, the largest on top.

    Points are posterior means, thick bars 50% and thin bars ``prob`` highest-density intervals. The component of all
    facets is what is left over. Shares of settings are those of the levels at hand. Below them stand the statements on
    settings and corpora, where both vary: the median ratio of the standard deviations, and how probable it is that the
    statement is true.

    Parameters
    ----------
    result
        What :func:`variance_components` or :func:`setting_components` returns.
    prob
        Posterior mass of the thin bars.
    """
    kinds = (VarianceComponents, SettingComponents)
    check_kind(result, kinds, "plot_components", "variance_components or setting_components")
    prob = probability(prob, "prob")
    table = result.table(prob).sort_values("share", ascending=False, kind="stable")
    claims = result.claims(prob) if isinstance(result, SettingComponents) and _compares(result.sizes) else None
    sizes = [0.25 * len(table) + 0.8] + ([] if claims is None else [0.36 * len(claims) + 0.8])
    with mpl.rc_context(FONT):
        figure = new_figure(7.4, sum(sizes) + 0.5)
        figure.set_layout_engine("constrained", h_pad=0.1)
        panels = figure.subplots(len(sizes), 1, squeeze=False, height_ratios=sizes)[:, 0]
        _shares(panels[0], table, result.table(INNER_PROB).loc[table.index])
        what = "between the levels at hand" if isinstance(result, SettingComponents) else "of single scores"
        axes_label = f"share of the variance {what} (50% and {100 * prob:g}%)"
        names = [name.replace("_", " ") for name in table["component"]]
        label_rows(panels[0], names, axes_label, "Components of the variance", 0.0)
        if claims is not None:
            _statements(panels[1], claims, prob)
        note_below(figure, *result.notes)
    return figure


def _compares(sizes: Mapping[str, int]) -> bool:
    """Whether corpora and settings vary."""
    return "corpus" in sizes and bool(set(SETTINGS) & sizes.keys())


def _shares(axes: Axes, table: pd.DataFrame, inner: pd.DataFrame) -> None:
    heights = -np.arange(len(table), dtype=float)
    for ends, width in ((table, 1.1), (inner, 3.0)):
        axes.hlines(heights, ends["share_low"], ends["share_high"], color=PART.colour, linewidth=width, zorder=2)
    axes.scatter(
        table["share"], heights, s=26, marker=PART.marker, color=PART.colour, edgecolor="white", lw=0.6, zorder=3
    )
    for height, value in zip(heights, table["share"], strict=True):
        note_beside(axes, height, "< 1%" if value < 0.01 else f"{value:.0%}")
    axes.set_xlim(-0.01, min(1.01, 1.05 * float(table["share_high"].max())))
    axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g}%")


def _statements(axes: Axes, claims: pd.DataFrame, prob: float) -> None:
    heights = -np.arange(len(claims), dtype=float)
    axes.hlines(heights, claims["low"], claims["high"], color=CLAIM.colour, linewidth=1.1, zorder=2)
    axes.scatter(
        claims["ratio"], heights, s=26, marker=CLAIM.marker, color=CLAIM.colour, edgecolor="white", lw=0.6, zorder=3
    )
    for height, value in zip(heights, claims["probability"], strict=True):
        note_beside(axes, height, share(value))
    axes.set_xscale("log")
    least, most = max(LEAST, 0.8 * float(claims["low"].min())), 1.25 * max(1.0, float(claims["high"].max()))
    ticks = [tick for tick in RATIOS if least <= tick <= most]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlim(least, most)
    statements = [fill(statement, WIDEST) for statement in claims["statement"]]
    label = f"standard deviation over that of the corpora ({100 * prob:g}%)"
    label_rows(axes, statements, label, "How probable it is (right) that", 1.0)
