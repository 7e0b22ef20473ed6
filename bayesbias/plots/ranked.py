"""Ranks of embeddings and how sure they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np

from bayesbias.comparison.ranking import Ranking
from bayesbias.errors import InputError
from bayesbias.plots.style import FAINT, FONT, INK, new_figure, style_axes, word_labels

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#4D4D4D")
HATCHES = ("", "//", "..", "xx", "++")
ACROSS = 3
"""Panels of rank probabilities in a row."""


def plot_ranking(ranking: Ranking) -> Figure:
    """Ranks added up over metrics, and for each metric how probable each rank of each embedding is.

    Parameters
    ----------
    ranking
        A result of :func:`rank`.

    Returns
    -------
    Figure
        Above, the ranks by all metrics added up (shorter is less biased), then the outside rankings in white. Below, a
        panel a metric: the probability of each rank, in figures and in grey, with the rank of the words as they are in
        a frame.
    """
    if not isinstance(ranking, Ranking):
        raise InputError(f"plot_ranking takes a result of rank, given is {type(ranking).__name__}")
    ranks, metrics = ranking.ranks, list(map(str, ranking.scores))
    added = ranks[metrics].sum(axis=1, min_count=len(metrics))
    order = list(added.sort_values(kind="stable", na_position="last").index)
    shown = list(ranking.rank_distribution["metric"].drop_duplicates())
    columns = max(1, min(ACROSS, len(shown)))
    rows = -(-len(shown) // columns)
    each = 0.34 * len(order) + 0.75
    widest = max(map(len, word_labels(order, [""] * len(order))))
    with mpl.rc_context(FONT):
        figure = new_figure(max(6.4, columns * (1.3 + 0.42 * len(order)) + 0.09 * widest), each * (rows + 1) + 0.6)
        grid = figure.add_gridspec(rows + 1, columns)
        _added(figure.add_subplot(grid[0, :]), ranks.loc[order], metrics)
        for at, metric in enumerate(shown):
            axes = figure.add_subplot(grid[1 + at // columns, at % columns])
            table = ranking.rank_distribution.query("metric == @metric").pivot_table(
                index="embedding", columns="rank", values="probability"
            )
            _probable(axes, table.reindex(order).to_numpy(), ranks.loc[order, metric].to_numpy(dtype=float), metric)
            axes.set_yticks(np.arange(len(order)), word_labels(order, [""] * len(order)) if at % columns == 0 else [])
        figure.legend(loc="outside upper center", ncols=4, frameon=False)
        if shown:
            figure.supxlabel(
                "below: probability of each rank (1 = least biased) over words drawn with replacement; frame: the rank "
                "with the words as they are",
                x=0.02,
                ha="left",
                fontsize=7.5,
                color=FAINT,
            )
    return figure


def _added(axes: Axes, ranks: pd.DataFrame, metrics: list[str]) -> None:
    start = np.zeros(len(ranks))
    for at, name in enumerate(ranks):
        outside = name not in metrics
        length = np.nan_to_num(ranks[name].to_numpy(dtype=float))
        axes.barh(
            np.arange(len(ranks)),
            length,
            left=start,
            height=0.62,
            color="white" if outside else COLOURS[at % len(COLOURS)],
            hatch=HATCHES[at % len(HATCHES)],
            edgecolor=FAINT if outside else "white",
            linewidth=0.6,
            label=f"{name} (outside)" if outside else str(name),
        )
        start += length
    lacks = np.where(ranks[metrics].isna().any(axis=1), "\n(lacks a rank)", "")
    axes.set_yticks(np.arange(len(ranks)), word_labels(ranks.index, [""] * len(ranks)) + lacks.astype(object))
    axes.invert_yaxis()
    style_axes(axes, "ranks, added up", "Ranks (shorter: less biased)")


def _probable(axes: Axes, shares: np.ndarray, ranks: np.ndarray, metric: str) -> None:
    """Probabilities (embeddings, ranks) of one metric."""
    axes.imshow(shares, cmap="Greys", vmin=0, vmax=1.15, aspect="auto")
    for (row, column), share in np.ndenumerate(shares):
        text = "1" if share > 0.995 else f"{share:.2f}".lstrip("0") if share >= 0.005 else ""
        axes.text(column, row, text, ha="center", va="center", fontsize=7.5, color="white" if share > 0.6 else INK)
    for row, rank in enumerate(ranks):
        tied = int((ranks == rank).sum())  # those that tie share as many ranks
        if tied:
            corner = (rank - (tied - 1) / 2 - 1.5, row - 0.5)
            axes.add_patch(
                mpl.patches.Rectangle(corner, tied, 1, fill=False, edgecolor="#D55E00", linewidth=1.6, clip_on=False)
            )
    axes.set_xticks(np.arange(shares.shape[1]), [str(at + 1) for at in range(shares.shape[1])])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("rank")
    axes.set_title(metric, loc="left", fontweight="bold")
