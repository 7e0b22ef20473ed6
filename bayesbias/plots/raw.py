"""The distances themselves, before any model: the published study's Figures 3 to 7."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
import pandas as pd

from bayesbias.errors import InputError
from bayesbias.models.data import model_data
from bayesbias.plots.style import (
    FONT,
    INK,
    LOOKS,
    connection_legend,
    new_figure,
    style_axes,
    word_labels,
)
from bayesbias.words import CONNECTIONS, CONTROLS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MANY = 500
"""A row with more points than this is drawn as an image in vector files."""


def plot_distances(table: pd.DataFrame, protected_word: str | None = None) -> Figure:
    """Raw distances by connection, every pair a point.

    Parameters
    ----------
    table
        A distance table.
    protected_word
        Show this word only: each stereotype word on a line of its own, the controls as rows of points. None shows all
        protected words together.

    Returns
    -------
    Figure
        Each row of points has its median (long mark) and quartiles (bar); the line at 1 is where unrelated words lie.

    Raises
    ------
    InputError
        A protected word that the table does not hold.
    """
    model_data(table)
    if protected_word is None:
        with mpl.rc_context(FONT):
            return _all_words(table)
    rows = table[table["protected_word"] == protected_word]
    if rows.empty:
        known = ", ".join(map(str, table["protected_word"].drop_duplicates().head(20)))
        raise InputError(f"the table holds no protected word {protected_word!r}; it holds {known}")
    with mpl.rc_context(FONT):
        return _one_word(rows, protected_word)


def _all_words(table: pd.DataFrame) -> Figure:
    present = [name for name in CONNECTIONS if (table["connection"] == name).any()]
    figure = new_figure(7.5, 0.85 * len(present) + 1.1)
    axes = figure.add_subplot()
    for at, name in enumerate(present):
        _strip(axes, -float(at), table.loc[table["connection"] == name, "distance"].to_numpy(dtype=float), name)
    labels = [f"{name}\nn = {(table['connection'] == name).sum():,}" for name in present]
    axes.set_yticks(-np.arange(len(present)), labels)
    axes.set_ylim(-len(present) + 0.5, 0.5)
    _finish(axes, f"Raw distances of {table['protected_word'].nunique()} protected words")
    return figure


def _one_word(rows: pd.DataFrame, word: str) -> Figure:
    stereotypes = rows[~rows["connection"].isin(CONTROLS)].sort_values("distance")
    controls = [name for name in ("human", "neutral") if (rows["connection"] == name).any()]
    figure = new_figure(7.5, 0.2 * len(stereotypes) + 0.7 * len(controls) + 1.5)
    axes = figure.add_subplot()
    labels, ticks = [], []
    for at, (attribute, name, distance) in enumerate(
        stereotypes[["attribute_word", "connection", "distance"]].itertuples(index=False)
    ):
        look = LOOKS[name]
        axes.scatter(distance, -at, s=30, marker=look.marker, color=look.colour, edgecolor="white", lw=0.5, zorder=3)
        axes.hlines(-at, 1.0, distance, color=look.colour, linewidth=1.0)
        labels.append(word_labels([attribute], [""])[0])
        ticks.append(-float(at))
    height = -float(len(stereotypes)) - 1.0
    for name in controls:
        _strip(axes, height, rows.loc[rows["connection"] == name, "distance"].to_numpy(dtype=float), name, spread=1.1)
        labels.append(f"{name}, n = {(rows['connection'] == name).sum()}")
        ticks.append(height)
        height -= 3.2
    axes.set_yticks(ticks, labels)
    axes.set_ylim(height + 1.2, 1.0)
    _finish(axes, f"Raw distances of {word_labels([word], [''])[0]}")
    connection_legend(figure, [name for name in CONNECTIONS if (rows["connection"] == name).any()])
    return figure


def _strip(axes: Axes, height: float, distances: np.ndarray, name: str, spread: float = 0.3) -> None:
    look = LOOKS[name]
    jitter = np.random.default_rng(0).uniform(-spread, spread, len(distances))
    axes.scatter(
        distances,
        height + jitter,
        s=10,
        marker=look.marker,
        color=look.colour,
        alpha=0.45 if len(distances) < MANY else 0.25,
        linewidths=0,
        rasterized=len(distances) > MANY,
    )
    low, middle, high = np.quantile(distances, [0.25, 0.5, 0.75])
    axes.hlines(height, low, high, color=INK, linewidth=4, zorder=3)
    axes.vlines(middle, height - 1.2 * spread, height + 1.2 * spread, color=INK, linewidth=1.6, zorder=4)


def _finish(axes: Axes, title: str) -> None:
    style_axes(axes, "cosine distance (smaller is closer)", title)
    axes.axvline(1.0, color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
