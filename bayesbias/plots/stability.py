"""Figures of stability over trained embeddings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from bayesbias._checks import flag, several
from bayesbias._core.vectors import FloatArray
from bayesbias._phrases import percent, share, signed
from bayesbias.errors import InputError, shown
from bayesbias.plots.style import (
    FAINT,
    INK,
    LINES,
    Look,
    handles_of,
    looks_of,
    new_figure,
    note,
    note_below,
    notes_beside,
    picture,
    style_axes,
    word_labels,
)
from bayesbias.stability import DirectBiasStudy

CELL, SMALLEST, WIDEST = 0.55, 0.17, 7.6
"""Largest and smallest side of a cell, and the side of all that they may fill, in inches."""
ROOM, AMPLE = 0.27, 0.35  # sides of a cell, in inches, from which its number fits, and fits in the larger print
INNER, OUTER = 0.058, 0.076  # width of a letter of the small and of the bold labels, in inches
MARGIN, BAR, HEAD = 0.5, 0.9, 0.4  # inches for the margin, for the colour bar at the right, and for the title above
NARROWEST, ONE_LINE = 5.2, 0.3  # least width of the figure, and height of bold labels that lie level, in inches
GAP = 8  # points between the small and the bold labels
POINTS = 72  # points in an inch


@picture(DirectBiasStudy, "direct_bias_study")
def plot_rank_agreement(study: DirectBiasStudy) -> Figure:
    """Kendall's tau-b of the words' bias between every two settings, grouped by corpus and algorithm.

    The lighter a cell, the more similarly two embeddings rank the words: 1 is the same order, 0 what chance gives.

    Parameters
    ----------
    study
        What :func:`direct_bias_study` returns. Up to 28 settings the numbers stand in the cells.

    Examples
    --------
    >>> toy = bb.stability.toy_corpus(bias=0.5, sentences=400)
    >>> kvs = bb.stability.train_embeddings(toy, algorithm=["sgns", "cbow"], seeds=2, dims=10, epochs=1)
    >>> study = bb.stability.direct_bias_study(kvs, toy.targets, toy.base_pairs, draws=50, random_pairs=50)
    >>> bb.plots.plot_rank_agreement(study).savefig("agreement.png")
    """
    tau, settings = study.rank_agreement().to_numpy(), study.settings
    side = min(CELL, max(SMALLEST, WIDEST / len(settings)))
    several_seeds = len({setting.seed for setting in settings}) > 1
    inner = [f"{setting.dims}, seed {setting.seed}" if several_seeds else str(setting.dims) for setting in settings]
    names = [f"{setting.corpus} {setting.algorithm}" for setting in settings]
    groups = {str(name): len(list(members)) for name, members in groupby(names)}
    labels = dict(zip(groups, word_labels(groups), strict=True))
    inward, outward = INNER * max(map(len, inner)), OUTER * max(map(len, labels.values()))
    level = all(OUTER * len(labels[name]) < side * size for name, size in groups.items())
    edge = side * len(settings) + inward + MARGIN
    figure = new_figure(max(NARROWEST, edge + outward + BAR), edge + (ONE_LINE if level else outward) + HEAD)
    axes = figure.add_subplot()
    cells = axes.imshow(tau, cmap="cividis", vmin=min(0.0, float(np.nanmin(tau))), vmax=1.0)
    if side >= ROOM:
        low, high = cells.get_clim()
        for (row, column), value in np.ndenumerate(tau):
            text = "–" if np.isnan(value) else signed(value, digits=2).replace("0.", ".", 1)
            colour = INK if value > (low + high) / 2 else "white"
            axes.text(column, row, text, ha="center", va="center", fontsize=8.0 if side > AMPLE else 6.0, color=colour)
    _labels(axes, inner, groups, labels, POINTS * inward + GAP, level)
    figure.colorbar(cells, ax=axes, shrink=0.6, label="Kendall's tau-b", pad=0.02).outline.set_visible(False)
    figure.suptitle(f"Agreement of the ranks of {study.bias.shape[1]} words", x=0.02, ha="left", fontweight="bold")
    sides = "dimensions and seed" if several_seeds else "dimensions"
    note_below(figure, f"Along the sides: {sides}.", *study.notes)
    return figure


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
        look: dict[str, Any] = {"fontsize": 8.5, "fontweight": "bold", "annotation_clip": False, "color": None}
        left, below = ("axes fraction", "data"), ("data", "axes fraction")
        turn = 0 if level else 90
        note(axes, labels[name], (0, middle), (-apart, 0), xycoords=left, ha="right", va="center", **look)
        note(axes, labels[name], (middle, 0), (0, -apart), xycoords=below, ha="center", va="top", rotation=turn, **look)
        begin += size
        if begin < len(inner):
            axes.axhline(begin - 0.5, color="white", linewidth=2.2)
            axes.axvline(begin - 0.5, color="white", linewidth=2.2)


PANELS = {  # column to the axis and title of its panel
    "direct_bias": ("direct bias (mean |cosine|)", "Direct bias"),
    "baseline": ("mean |cosine| of random pairs", "Baseline"),
    "standardised": ("direct bias / baseline", "Direct bias over the baseline"),
}


@picture(DirectBiasStudy, "direct_bias_study")
def plot_bias_decay(study: DirectBiasStudy) -> Figure:
    """Direct bias over dimensions, what random pairs of words have, and the one over the other.

    Each list of words is a row of panels, each corpus and algorithm a line through the means over seeds; seeds are
    dashes. The dotted line is the baseline of vectors without any structure, sqrt(2 / (pi dims)); the dashed one
    a direct bias like that of random pairs.

    Parameters
    ----------
    study
        What :func:`direct_bias_study` returns.

    Examples
    --------
    >>> toy = bb.stability.toy_corpus(bias=0.5, sentences=400)
    >>> kvs = bb.stability.train_embeddings(toy, algorithm=["sgns", "cbow"], seeds=2, dims=10, epochs=1)
    >>> study = bb.stability.direct_bias_study(kvs, toy.targets, toy.base_pairs, draws=50, random_pairs=50)
    >>> bb.plots.plot_bias_decay(study).savefig("decay.png")
    """
    table = study.table()
    lists = table["word_list"].unique().tolist()
    looks = looks_of(table["corpus"])
    lines: dict[str, Any] = {str(name): LINES[i % len(LINES)] for i, name in enumerate(table["algorithm"].unique())}
    figure = new_figure(10.5, 3.1 * len(lists) + 0.5)
    grid = figure.subplots(len(lists), len(PANELS), squeeze=False, sharex=True, sharey="col")
    for row, name in zip(grid, lists, strict=True):
        rows = table[table["word_list"] == name]
        for axes, (column, (label, title)) in zip(row, PANELS.items(), strict=True):
            _lines(axes, rows, column, looks, lines)
            heading = f"{name}\n{title}" if len(lists) > 1 and axes is row[0] else title
            style_axes(axes, "", heading)
            axes.set_ylabel(label)
        fine = np.geomspace(rows["dims"].min(), rows["dims"].max(), 50)
        row[1].plot(fine, np.sqrt(2 / (np.pi * fine)), color=FAINT, linewidth=1.2, linestyle=":")
        end = (fine[-1], np.sqrt(2 / (np.pi * fine[-1])))
        note(row[1], "√(2 / (π dims))", end, (0, -4), ha="right", va="top")
        row[2].axhline(1.0, color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    for axes, column in zip(grid[0], PANELS, strict=True):
        axes.set_ylim(0, 1.08 * float(table[column].max()))
    dims = table["dims"].unique()
    for axes in grid.ravel():  # by doublings
        axes.set_xscale("log", base=2)
        axes.set_xticks(dims, [f"{size:g}" for size in dims])
        axes.set_xlim(float(dims.min()) * 0.87, float(dims.max()) * 1.15)
        axes.minorticks_off()
    for axes in grid[-1]:
        axes.set_xlabel("dimensions")
    of_lines = [Line2D([], [], color=INK, linestyle=style, label=name) for name, style in lines.items()]
    figure.legend(handles=handles_of(looks.values()) + of_lines, loc="outside upper center", ncols=6, frameon=False)
    seeds = "Dashes: seeds." if len(table["seed"].unique()) > 1 else ""
    note_below(figure, seeds, *study.notes)
    return figure


def _lines(axes: Axes, rows: pd.DataFrame, column: str, looks: Mapping[str, Look], lines: Mapping[str, Any]) -> None:
    """A line through the means over seeds of each corpus and algorithm, and dashes at the seeds."""
    for (corpus, algorithm), own in rows.groupby(["corpus", "algorithm"], sort=False):
        look = looks[str(corpus)]
        means = own.groupby("dims")[column].mean()
        axes.plot(
            means.index, means, color=look.colour, marker=look.marker, ms=5, lw=1.4, linestyle=lines[str(algorithm)]
        )
        if len(own["seed"].unique()) > 1:
            axes.scatter(own["dims"], own[column], s=14, marker="_", color=look.colour, linewidths=1.1, zorder=3)


LABELS = {"direct_bias": "direct bias", "standardised": "direct bias / baseline"}
ACROSS = 4  # panels in a row
PANEL, LETTER, AXIS = 2.5, 0.07, 0.9
"""Width of a panel, of a letter of the corpora's names, and of the axis beside these, in inches."""
LEAST_WIDTH, MOST_WIDTH = 5.4, 12.8  # of the figure, in inches
CORPUS, HEADING, FOOT = 0.5, 0.8, 0.6
"""Height of a corpus in a panel, of the panel's title and axis, and of the notes below all panels, in inches."""
HEIGHT, BELOW, BOOTSTRAP_ROOM = 0.62, 0.07, 0.3
"""Height of a density, from one interval to the next, and of all intervals of a corpus; a corpus has the height 1."""
BOOTSTRAP_POINTS = 200  # places at which a density is drawn

type Panel = tuple[str, str, int]


@picture(DirectBiasStudy, "direct_bias_study")
def plot_bias_bootstrap(
    study: DirectBiasStudy,
    algorithm: str | Iterable[str] | None = None,
    dims: int | Iterable[int] | None = None,
    word_list: str | Iterable[str] | None = None,
    standardised: bool = False,
) -> Figure:
    """How far direct bias depends on which words and pairs are taken, by corpus.

    A panel for each list of words, algorithm and number of dimensions; in it for each corpus and seed the density of
    the draws, their interval, and the value of all words and pairs. At the right is the probability that a
    corpus is more biased than the one below it: the share of draws in which it is, or the least and largest of the
    seeds' shares.

    Parameters
    ----------
    study
        What :func:`direct_bias_study` returns.
    algorithm, dims, word_list
        What is shown; None shows all.
    standardised
        Whether direct bias is taken over the baseline of its embedding.

    Examples
    --------
    >>> toy = bb.stability.toy_corpus(bias=0.5, sentences=400)
    >>> kvs = bb.stability.train_embeddings(toy, algorithm=["sgns", "cbow"], seeds=2, dims=10, epochs=1)
    >>> study = bb.stability.direct_bias_study(kvs, toy.targets, toy.base_pairs, draws=50, random_pairs=50)
    >>> bb.plots.plot_bias_bootstrap(study).savefig("bootstrap.png")
    """
    column = "standardised" if flag(standardised, "standardised") else "direct_bias"
    table = _chosen(study.table(), {"word_list": word_list, "algorithm": algorithm, "dims": dims})
    draws = study.draws / (study.table()["baseline"].to_numpy()[:, None] if standardised else 1.0)
    means = table.groupby("corpus")[column].mean().sort_values(ascending=False, kind="stable")
    known = looks_of(study.table()["corpus"])
    looks = {str(name): known[str(name)] for name in means.index}
    more = study.corpus_differences(standardised) if len(study.table()["corpus"].unique()) > 1 else None
    panels, columns = _panels(table)
    rows, labels = len(panels) // columns, word_labels(looks)
    figure = new_figure(
        min(MOST_WIDTH, max(LEAST_WIDTH, PANEL * columns + AXIS + LETTER * max(map(len, labels)))),
        rows * (CORPUS * len(looks) + HEADING) + FOOT,
    )
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    for axes, panel, below in zip(grid.ravel(), panels, [*panels[columns:], *[None] * columns], strict=True):
        own = _of(table, panel)
        axes.set_visible(panel is not None)
        _densities(axes, own, draws, looks, study.prob, column)
        if more is not None:
            _note_differences(axes, _of(more, panel), list(looks))
        word_list_name, algorithm_name, number = panel or ("", "", 0)
        title = f"{algorithm_name} {number}" + f", {word_list_name}" * (len(table["word_list"].unique()) > 1)
        style_axes(axes, "" if below else LABELS[column], title if panel else "")
        axes.tick_params(labelbottom=not below)
    grid[0, 0].set_yticks(-np.arange(len(looks)), labels)
    grid[0, 0].set_ylim(-len(looks) + 0.6, 0.75)
    seeds = ", a line for each seed" * (len(study.table()["seed"].unique()) > 1)
    drawn = f"Densities: pairs and words drawn with replacement{seeds}; bars: {percent(study.prob)} intervals; points:"
    right = "At the right, how probable it is that a corpus is more biased than the one below it." * (more is not None)
    note_below(figure, f"{drawn} all words and pairs.", right, *study.notes)
    return figure


def _chosen(table: pd.DataFrame, selection: Mapping[str, Any]) -> pd.DataFrame:
    """The rows of what is shown."""
    for name, value in selection.items():
        present = table[name].unique().tolist()
        wanted = present if value is None else several(value)
        if unknown := [name for name in wanted if not isinstance(name, str | Real) or name not in present]:
            raise InputError(f"{name} is {shown(unknown[0])}: valid are {', '.join(map(str, present))}")
        table = table[table[name].isin(wanted)]
    if table.empty:
        raise InputError("the study holds nothing of that algorithm with those dimensions: choose others")
    return table


def _panels(table: pd.DataFrame) -> tuple[list[Panel | None], int]:
    """What each panel shows, None where one stays empty, and how many stand in a row."""
    numbers = sorted(table["dims"].unique().tolist())
    columns = min(ACROSS, len(numbers))
    padded = [*numbers, *[None] * (-len(numbers) % columns)]
    present = dict.fromkeys(table[["word_list", "algorithm", "dims"]].itertuples(index=False, name=None))
    blocks = sorted({(word_list, algorithm) for word_list, algorithm, _ in present})
    places = [(*block, number) for block in blocks for number in padded]
    return [place if place in present else None for place in places], columns


def _of(table: pd.DataFrame, panel: Panel | None) -> pd.DataFrame:
    """The rows of a panel."""
    word_list, algorithm, dims = panel or ("", "", 0)
    return table[(table["word_list"] == word_list) & (table["algorithm"] == algorithm) & (table["dims"] == dims)]


def _densities(
    axes: Axes, own: pd.DataFrame, draws: FloatArray, looks: Mapping[str, Look], prob: float, column: str
) -> None:
    """On the row of each corpus a density of each seed's draws, below it the intervals."""
    from scipy.stats import gaussian_kde

    for height, (corpus, look) in enumerate(looks.items()):
        rows = own[own["corpus"] == corpus]
        step = min(BELOW, BOOTSTRAP_ROOM / max(len(rows), 1))
        for i, (place, value) in enumerate(zip(rows.index.to_numpy(), rows[column], strict=True)):
            sample = draws[place]
            low, high = np.quantile(sample, [(1 - prob) / 2, (1 + prob) / 2])
            if np.ptp(sample) > 0:
                x = np.linspace(sample.min(), sample.max(), BOOTSTRAP_POINTS)
                density = gaussian_kde(sample)(x)
                top = HEIGHT * density / density.max() - height
                axes.fill_between(x, -height, top, color=look.colour, alpha=0.25, linewidth=0)
                axes.plot(x, top, color=look.colour, linewidth=1.0, linestyle=LINES[i % len(LINES)])
            level = -height - step * (i + 1)
            axes.hlines(level, low, high, color=look.colour, linewidth=1.3, zorder=3)
            axes.scatter(value, level, s=20, marker=look.marker, color=look.colour, edgecolor="white", lw=0.5, zorder=4)
        axes.axhline(-height, color="#CCCCCC", linewidth=0.6, zorder=0)


def _note_differences(axes: Axes, more: pd.DataFrame, corpora: list[str]) -> None:
    """Between two corpora how probable it is that the upper one is more biased."""
    for i, (upper, lower) in enumerate(pairwise(corpora)):
        rows = more[more[["first", "second"]].isin([upper, lower]).all(axis=1)]
        shares = np.where(rows["first"] == upper, rows["p_more"], 1 - rows["p_more"])
        if len(shares):
            texts = dict.fromkeys(share(float(end)) for end in (shares.min(), shares.max()))
            notes_beside(axes, [-i - 0.5], [" to\n".join(texts)])
