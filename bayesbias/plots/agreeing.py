"""Whether settings rank words alike: Figure 2 of the study of direct bias."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from bayesbias._core.cosine import FloatArray
from bayesbias.embeddings import Setting
from bayesbias.plots.pieces import check_kind, note_below
from bayesbias.plots.style import FONT, INK, new_figure, word_labels
from bayesbias.stability import DirectBiasStudy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CELL, SMALLEST, WIDEST = 0.55, 0.17, 7.6
"""Largest and smallest side of a cell, and the side of all that they may fill, in inches."""
ROOM = 0.27
"""Side of a cell from which its number fits."""
INNER, OUTER = 0.058, 0.076
"""Width of a letter of the small and of the bold labels."""
POINTS = 72


def plot_rank_agreement(study: DirectBiasStudy) -> Figure:
    """Kendall's tau-b of the words' bias between every two settings, grouped by corpus and algorithm.

    The lighter a cell, the more alike two embeddings rank the words: 1 is the same order, 0 what chance gives.

    Parameters
    ----------
    study
        What :func:`direct_bias_study` returns. Up to 28 settings the numbers stand in the cells.
    """
    check_kind(study, DirectBiasStudy, "plot_rank_agreement", "direct_bias_study")
    tau, settings = study.rank_agreement().to_numpy(), study.settings
    side = min(CELL, max(SMALLEST, WIDEST / len(settings)))
    inner = _inner(settings)
    names = [f"{setting.corpus} {setting.algorithm}" for setting in settings]
    groups = {str(name): len(list(members)) for name, members in groupby(names)}
    labels = dict(zip(groups, word_labels(groups, [""] * len(groups)), strict=True))
    inward, outward = INNER * max(map(len, inner)), OUTER * max(map(len, labels.values()))
    level = all(OUTER * len(labels[name]) < side * size for name, size in groups.items())
    with mpl.rc_context(FONT):
        edge = side * len(settings) + inward + 0.5
        figure = new_figure(max(5.2, edge + outward + 0.9), edge + (0.3 if level else outward) + 0.4)
        axes = figure.add_subplot()
        cells = axes.imshow(tau, cmap="cividis", vmin=min(0.0, float(np.nanmin(tau))), vmax=1.0)
        if side >= ROOM:
            _numbers(axes, tau, cells, 8.0 if side > 0.35 else 6.0)
        _labels(axes, inner, groups, labels, POINTS * inward + 8, level)
        figure.colorbar(cells, ax=axes, shrink=0.6, label="Kendall's tau-b", pad=0.02).outline.set_visible(False)
        figure.suptitle(f"Agreement of the ranks of {study.bias.shape[1]} words", x=0.02, ha="left", fontweight="bold")
        sides = "dimensions and seed" if any("seed" in label for label in inner) else "dimensions"
        note_below(figure, f"Along the sides: {sides}.", *study.notes)
    return figure


def _inner(settings: Sequence[Setting]) -> list[str]:
    """Dimensions, with the seed where there are several."""
    several = len({setting.seed for setting in settings}) > 1
    return [f"{one.dims}, seed {one.seed}" if several else str(one.dims) for one in settings]


def _numbers(axes: Axes, tau: FloatArray, cells: mpl.image.AxesImage, size: float) -> None:
    low, high = cells.get_clim()
    for (row, column), value in np.ndenumerate(tau):
        text = "–" if np.isnan(value) else f"{value:.2f}".replace("0.", ".", 1).replace("-", "\N{MINUS SIGN}")
        light = (value - low) / (high - low) > 0.5
        axes.text(column, row, text, ha="center", va="center", fontsize=size, color=INK if light else "white")


def _labels(
    axes: Axes, inner: Sequence[str], groups: dict[str, int], labels: dict[str, str], apart: float, level: bool
) -> None:
    """Dimensions along both sides, outside them corpus and algorithm, and a line between groups."""
    places = np.arange(len(inner))
    axes.set_yticks(places, inner)
    axes.set_xticks(places, inner, rotation=90)
    axes.tick_params(length=0, labelsize=7.5)
    axes.spines[:].set_visible(False)
    begin = 0
    for name, size in groups.items():
        middle = begin + (size - 1) / 2
        look: dict[str, Any] = {
            "textcoords": "offset points",
            "fontsize": 8.5,
            "fontweight": "bold",
            "annotation_clip": False,
        }
        axes.annotate(
            labels[name], (0, middle), (-apart, 0), xycoords=("axes fraction", "data"), ha="right", va="center", **look
        )
        axes.annotate(
            labels[name],
            (middle, 0),
            (0, -apart),
            xycoords=("data", "axes fraction"),
            ha="center",
            va="top",
            rotation=0 if level else 90,
            **look,
        )
        begin += size
        if begin < len(inner):
            axes.axhline(begin - 0.5, color="white", linewidth=2.2)
            axes.axvline(begin - 0.5, color="white", linewidth=2.2)
