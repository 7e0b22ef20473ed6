"""Direct bias of words and pairs drawn with replacement: Figure 5 of its study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from bayesbias._checks import flag, several
from bayesbias._core.cosine import FloatArray
from bayesbias.diagnostics.intervals import share
from bayesbias.errors import InputError
from bayesbias.plots.pieces import LINES, check_kind, looks_of, note_below, note_beside
from bayesbias.plots.style import FONT, Look, new_figure, style_axes, word_labels
from bayesbias.stability import DirectBiasStudy

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABELS = {"direct_bias": "direct bias", "standardised": "direct bias / yardstick"}
ACROSS = 4
"""Panels in a row."""
HEIGHT, BELOW, ROOM = 0.62, 0.07, 0.3
"""Of a density, from one interval to the next, and of all intervals of a corpus, in rows."""
POINTS = 200

type Panel = tuple[str, str, int]


def plot_bias_bootstrap(
    study: DirectBiasStudy,
    algorithm: str | Iterable[str] | None = None,
    dims: int | Iterable[int] | None = None,
    word_list: str | Iterable[str] | None = None,
    standardised: bool = False,
) -> Figure:
    """How far direct bias hangs on which words and pairs are taken, by corpus.

    A panel for each list of words, algorithm and number of dimensions; in it for each corpus and seed the density of
    the draws, their interval, and the value of all words and pairs. At the right stands how probable it is that a
    corpus is more biased than the one below it: the share of draws in which it is, or the least and largest of the
    seeds' shares.

    Parameters
    ----------
    study
        What :func:`direct_bias_study` returns.
    algorithm, dims, word_list
        What is shown; None shows all.
    standardised
        Whether direct bias is taken over the yardstick of its embedding.

    Raises
    ------
    InputError
        An algorithm, a number of dimensions or a list that is not there.
    """
    check_kind(study, DirectBiasStudy, "plot_bias_bootstrap", "direct_bias_study")
    column = "standardised" if flag(standardised, "standardised") else "direct_bias"
    table = _chosen(study.table, {"word_list": word_list, "algorithm": algorithm, "dims": dims})
    draws = study.draws / (study.table["yardstick"].to_numpy()[:, None] if standardised else 1.0)
    means = table.groupby("corpus")[column].mean().sort_values(ascending=False, kind="stable")
    known = looks_of(study.table["corpus"])
    looks = {str(name): known[str(name)] for name in means.index}
    more = study.more_biased(standardised) if len(study.table["corpus"].unique()) > 1 else None
    panels, columns = _panels(table)
    rows, labels = len(panels) // columns, word_labels(looks, [""] * len(looks))
    with mpl.rc_context(FONT):
        figure = new_figure(
            min(12.8, max(5.4, 2.5 * columns + 0.9 + 0.07 * max(map(len, labels)))),
            rows * (0.5 * len(looks) + 0.8) + 0.6,
        )
        grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
        for axes, panel, below in zip(grid.ravel(), panels, [*panels[columns:], *[None] * columns], strict=True):
            own = _of(table, panel)
            axes.set_visible(panel is not None)
            _densities(axes, own, draws, looks, study.prob, column)
            if more is not None:
                _said(axes, _of(more, panel), list(looks))
            style_axes(axes, "" if below else LABELS[column], _title(panel, table))
            axes.tick_params(labelbottom=not below)
        grid[0, 0].set_yticks(-np.arange(len(looks)), labels)
        grid[0, 0].set_ylim(-len(looks) + 0.6, 0.75)
        note_below(figure, *_keys(study, more is not None), *study.notes)
    return figure


def _chosen(table: pd.DataFrame, asked: Mapping[str, Any]) -> pd.DataFrame:
    """The rows of what is shown."""
    for name, given in asked.items():
        held = table[name].unique().tolist()
        wanted = held if given is None else several(given)
        if unknown := [one for one in wanted if one not in held]:
            raise InputError(f"{name} is {unknown[0]!r}: valid are {', '.join(map(str, held))}")
        table = table[table[name].isin(wanted)]
    if table.empty:
        raise InputError("the study holds nothing of that algorithm with those dimensions: choose others")
    return table


def _panels(table: pd.DataFrame) -> tuple[list[Panel | None], int]:
    """What each panel shows, None where one stays empty, and how many stand in a row."""
    numbers = sorted(table["dims"].unique().tolist())
    columns = min(ACROSS, len(numbers))
    padded = [*numbers, *[None] * (-len(numbers) % columns)]
    held = dict.fromkeys(table[["word_list", "algorithm", "dims"]].itertuples(index=False, name=None))
    blocks = sorted({(word_list, algorithm) for word_list, algorithm, _ in held})
    places = [(*block, number) for block in blocks for number in padded]
    return [place if place in held else None for place in places], columns


def _of(table: pd.DataFrame, panel: Panel | None) -> pd.DataFrame:
    """The rows of a panel."""
    word_list, algorithm, dims = panel or ("", "", 0)
    return table[(table["word_list"] == word_list) & (table["algorithm"] == algorithm) & (table["dims"] == dims)]


def _keys(study: DirectBiasStudy, several_corpora: bool) -> list[str]:
    """What is drawn, in sentences."""
    seeds = ", a line for each seed" * (len(study.table["seed"].unique()) > 1)
    drawn = f"Densities: pairs and words drawn with replacement{seeds}; bars: {100 * study.prob:g}% intervals; points:"
    keys = [f"{drawn} all words and pairs."]
    right = "At the right, how probable it is that a corpus is more biased than the one below it."
    return [*keys, right] if several_corpora else keys


def _title(panel: Panel | None, table: pd.DataFrame) -> str:
    if panel is None:
        return ""
    word_list, algorithm, dims = panel
    return f"{algorithm} {dims}" + f", {word_list}" * (len(table["word_list"].unique()) > 1)


def _densities(
    axes: Axes, own: pd.DataFrame, draws: FloatArray, looks: Mapping[str, Look], prob: float, column: str
) -> None:
    """On the row of each corpus a density of each seed's draws, below it the intervals."""
    from scipy.stats import gaussian_kde

    for height, (corpus, look) in enumerate(looks.items()):
        rows = own[own["corpus"] == corpus]
        step = min(BELOW, ROOM / max(len(rows), 1))
        for at, (place, value) in enumerate(zip(rows.index.to_numpy(), rows[column], strict=True)):
            sample = draws[place]
            low, high = np.quantile(sample, [(1 - prob) / 2, (1 + prob) / 2])
            if np.ptp(sample) > 0:
                x = np.linspace(sample.min(), sample.max(), POINTS)
                density = gaussian_kde(sample)(x)
                top = HEIGHT * density / density.max() - height
                axes.fill_between(x, -height, top, color=look.colour, alpha=0.25, linewidth=0)
                axes.plot(x, top, color=look.colour, linewidth=1.0, linestyle=LINES[at % len(LINES)])
            level = -height - step * (at + 1)
            axes.hlines(level, low, high, color=look.colour, linewidth=1.3, zorder=3)
            axes.scatter(value, level, s=20, marker=look.marker, color=look.colour, edgecolor="white", lw=0.5, zorder=4)
        axes.axhline(-height, color="#CCCCCC", linewidth=0.6, zorder=0)


def _said(axes: Axes, more: pd.DataFrame, corpora: list[str]) -> None:
    """Between two corpora how probable it is that the upper one is more biased."""
    for at, (upper, lower) in enumerate(pairwise(corpora)):
        rows = more[more[["first", "second"]].isin([upper, lower]).all(axis=1)]
        shares = np.where(rows["first"] == upper, rows["p_more"], 1 - rows["p_more"])
        if len(shares):
            said = dict.fromkeys(share(float(end)) for end in (shares.min(), shares.max()))
            note_beside(axes, -at - 0.5, " to\n".join(said))
