"""Figures of words, and of metrics and their reliability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from bayesbias._support.numbers import difference, percent
from bayesbias.axes import Axis
from bayesbias.baselines.silhouettes import Silhouette
from bayesbias.checks.summaries import PROB
from bayesbias.distances import Relatedness, relatedness
from bayesbias.documents.regression import CovariateContrast
from bayesbias.errors import InputError
from bayesbias.numerics.arrays import FloatArray
from bayesbias.plots.general import HATCHES, LABELLED, draw_curve, draw_forest, draw_matrix, draw_strip
from bayesbias.plots.style import (
    COLOURS,
    FAINT,
    INK,
    SMALL,
    Look,
    label_rows,
    looks_of,
    mark_line,
    new_figure,
    notes_beside,
    one_panel,
    picture,
    place_legend,
    refuse_axes,
    style_axes,
    with_poles,
    word_labels,
)


@picture()
def plot_relatedness(holder: Relatedness | pd.DataFrame | xr.DataTree, title: str | None = None) -> Figure:
    """The similarity of attribute words and of protected words, list by list.

    Above is the similarity of attribute words, the cosine of their vectors less the mean of the vocabulary; a word of
    two lists appears in both. Below is the correlation of the bias of protected words beyond what the words of their
    groups share (:meth:`Relatedness.families`). Within a list similar words are next to one another (average linkage).
    Beyond 150 words lists have labels in place of words.

    Parameters
    ----------
    holder
        A result of :func:`relatedness`, or a distance table or a fit that carries one.
    title
        Title above the panels, which keep theirs; by default none.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> bb.plots.plot_relatedness(table).savefig("relatedness.png")
    """
    held = holder if isinstance(holder, Relatedness) else relatedness(holder)
    units = held.units.astype(float)
    similarity = units @ units.T
    above = np.abs(similarity[np.triu_indices(len(similarity), 1)])
    most = max(0.3, float(np.quantile(above, 0.99))) if len(above) else 1.0
    panels = (
        (_by_list(held, False, similarity), "Attribute words", "similarity (centred cosine)", most),
        (_by_list(held, True, held.families()), "Protected words", "correlation of bias within groups", 1.0),
    )
    cells = [min(max(7.0 / len(frame), 0.07 if len(frame) <= LABELLED else 0.0), 0.26) for frame, *_ in panels]
    sides = [cell * len(frame) for cell, (frame, *_) in zip(cells, panels, strict=True)]
    figure = new_figure(max(5.5, max(sides) + 2.6), sum(sides) + 0.8)
    axes = figure.subplots(2, 1, height_ratios=[side + 0.3 for side in sides])
    for panel, (frame, heading, label, end), cell in zip(axes, panels, cells, strict=True):
        draw_matrix(panel, frame, label, 0.0, end)
        for line in panel.get_lines():
            panel.axvline(line.get_ydata()[0], color=INK, linewidth=0.8)
        panel.set_box_aspect(1)
        panel.set_title(heading)
        panel.tick_params(labelsize=min(SMALL, 68 * cell) if len(frame) <= LABELLED else SMALL)
    return figure


def _by_list(held: Relatedness, protected: bool, similarity: FloatArray) -> pd.DataFrame:
    """Similarities of words, list by list, in an order that puts similar ones next to one another."""
    known = held.protected_words if protected else held.attribute_words
    place = {word: i for i, word in enumerate(known)}
    lists = [(name, words) for name, kind, words in held.lists if (kind == "protected") == protected]
    parts = []
    for _, words in lists:
        part = np.array([place[word] for word in words])
        if len(part) > 2:  # average linkage
            distances = np.clip(1 - similarity[np.ix_(part, part)], 0, None)
            np.fill_diagonal(distances, 0)
            # of long lists the best order of the leaves takes too long
            few = len(part) <= 250
            part = part[leaves_list(linkage(squareform(distances, checks=False), "average", optimal_ordering=few))]
        parts.append(part)
    rows, names = np.concatenate(parts), np.repeat([name for name, _ in lists], list(map(len, parts)))
    index = pd.MultiIndex.from_arrays([names, [known[row] for row in rows]])
    return pd.DataFrame(similarity[np.ix_(rows, rows)], index)


AWAY, NEAR = Look("#0072B2", "o", "interval without 0"), Look(FAINT, "o", "interval with 0")


@picture(Axis)
def plot_axis(
    axis: Axis,
    prob: float = PROB,
    labels: int = 40,
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure | Axes:
    """Words on a line between two poles, a row each, with the intervals of their places.

    Words are sorted by place. Those whose interval excludes 0 are blue.

    Parameters
    ----------
    axis
        A result of :func:`axis`.
    prob
        Mass of the intervals.
    labels
        How many words are shown at most; of more words those at the two ends.
    title, ax
        A title, and axes to draw on, which are returned; by default a new figure without a title is.

    Examples
    --------
    >>> found = bb.axis("glove-50d-slice", "affluence", words=["tennis", "golf", "boxing", "polo", "wrestling"])
    >>> bb.plots.plot_axis(found).savefig("affluence.png")
    """
    table, first = axis.table(prob).reset_index(drop=True), (labels + 1) // 2
    middle = table.index[first : len(table) - labels // 2]
    panel = table.drop(middle).reset_index(drop=True)
    away = ((panel["low"] > 0) | (panel["high"] < 0)) & (not axis.doubt)
    figure, axes = one_panel(ax, 6.6, 0.22 * len(panel) + 1.5)
    draw_forest(axes, panel.assign(row=panel.index, look=away), range(len(panel)), {True: AWAY, False: NEAR})
    label = with_poles(f"place (cosine distance, {percent(prob)} intervals)", *axis.ends)
    label_rows(axes, word_labels(panel["word"]).tolist(), label, "", 0.0)
    if len(middle):
        axes.axhline(0.5 - first, color=FAINT, lw=0.6, ls=":")
    if ax is None:
        place_legend(figure, ax, (AWAY, NEAR))
    return figure


QUANTITIES = {"value": Look("#0072B2", "o", ""), "difference": Look("#D55E00", "s", "")}
RING: dict[str, Any] = {"marker": "o", "markersize": 7, "markerfacecolor": "none", "linewidth": 0}
THESE, SIMILAR = "these attribute words", "attribute words like these"


@picture(CovariateContrast)
def plot_covariates(
    result: CovariateContrast,
    prob: float = PROB,
    along: str | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure | Axes:
    """The contrast of a word for each value of its covariates, and the differences of these, a row each.

    Thick bars are intervals for the attribute words as they are, thin ones for words like these. A ring is the estimate
    where every speaker counts equally. With ``along`` a line runs along a covariate that is a number, in two bands: the
    dark one for the attribute words as they are.

    Parameters
    ----------
    result
        What ``contrast``, ``association`` and ``axis`` of :func:`covariates` return.
    prob
        Posterior mass of the intervals.
    along
        A number of the formula, such as ``"year"``; by default rows are drawn.
    title, ax
        A title, and axes to draw on, which are returned; by default a new figure without a title is.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> rows = [{"word": "tax", "party": party, "vector": 1 + rng.normal(size=50)} for party in "LR" * 20]
    >>> by = bb.covariates(bb.vector_sample(pd.DataFrame(rows), "glove-50d-slice"), "party")
    >>> bb.plots.plot_covariates(by.contrast(["poor", "cheap"], ["rich", "luxury"])).savefig("tax.png")
    """
    label = with_poles(f"contrast (cosine distance, {percent(prob)} intervals)", *result.ends)
    if along is not None:
        figure, axes = one_panel(ax, 6.6, 3.6)
        bands: list[Line2D] = []
        for words, name, colour in (("similar", SIMILAR, "#DCE9F3"), ("given", THESE, "#9FC4E0")):
            table = result.along(along, prob, words)
            axes.fill_between(table["at"], table["low"], table["high"], color=colour, lw=0)
            bands.append(Line2D([], [], color=colour, linewidth=8, label=name))
        axes.plot(table["at"], table["mean"], color=COLOURS[0], linewidth=1.4)
        ticks = result.design.frame[along].unique()
        axes.plot(ticks, 0 * ticks, "|", color=INK, markersize=5, transform=axes.get_xaxis_transform(), clip_on=False)
        mark_line(axes, 0.0, level=True)
        style_axes(axes, along)
        axes.set_ylabel(label)
        place_legend(figure, ax, (), *bands)
        return figure
    table = result.table(prob).rename(columns={"these_low": "inner_low", "these_high": "inner_high"})
    table = table[table["quantity"] != "coefficient"].reset_index(drop=True)
    figure, axes = one_panel(ax, 6.6, 0.26 * len(table) + 1.8)
    draw_forest(axes, table.assign(row=table.index, look=table["quantity"]), range(len(table)), QUANTITIES)
    axes.plot(table["equal"], -table.index, color=INK, zorder=4, **RING)
    label_rows(axes, word_labels(map(difference, table["name"])).tolist(), label, "", 0.0)
    values = int((table["quantity"] == "value").sum())
    if values < len(table):
        axes.axhline(0.5 - values, color="#BBBBBB", linewidth=0.7)
    if ax is None:
        bars = [Line2D([], [], color=INK, linewidth=w, label=name) for w, name in ((3.0, THESE), (1.1, SIMILAR))]
        ring = Line2D([], [], color=INK, label=f"every {result.design.noun} counts equally", **RING)
        place_legend(figure, ax, (), *bars, ring)
    return figure


type Curves = Silhouette | Mapping[str, Silhouette]


@picture()
def plot_silhouette(
    panels: Curves | Sequence[Curves], title: str | None = None, ax: Axes | None = None
) -> Figure | Axes:
    """Values of a metric over the number of words used: the area between the extremes, and the mean.

    The axis has the metric's range, save where values fill less than a tenth of it. Where values have intervals, thin
    dashed lines are the means of their ends.

    Parameters
    ----------
    panels
        A silhouette, or a mapping of names (such as biased and unbiased) to silhouettes of one metric; or several of
        these, one panel each.
    title, ax
        A title, and axes to draw one panel on, which are returned; by default a new figure without a title is.

    Examples
    --------
    >>> found = bb.silhouettes.silhouette("google-news-slice", "weat1", "weat", runs=10)
    >>> bb.plots.plot_silhouette(found).savefig("silhouette.png")
    """
    several: list[Any] = list(panels) if isinstance(panels, list | tuple) else [panels]
    named = [{each.embedding: each} if isinstance(each, Silhouette) else dict(each) for each in several]
    kinds = [{(one.metric, one.vary) if isinstance(one, Silhouette) else () for one in each.values()} for each in named]
    if not kinds or not all(len(kind) == 1 and all(kind) for kind in kinds):
        raise InputError(
            "plot_silhouette takes what silhouette returns, names to several of a metric, or a list of these"
        )
    refuse_axes(ax, len(named))
    if ax is not None:
        _silhouettes(ax, named[0])
        return ax
    figure = new_figure(min(5.0 * len(named) + 0.4, 12.6), 3.3)
    for axes, held in zip(figure.subplots(1, len(named), squeeze=False)[0], named, strict=True):
        _silhouettes(axes, held)
    return figure


def _silhouettes(axes: Axes, held: Mapping[str, Silhouette]) -> None:
    """Silhouettes of one metric in a panel."""
    for one, look, hatch in zip(held.values(), looks_of(held).values(), HATCHES * len(held), strict=False):
        values = one.values  # noqa: PD011
        draw_curve(axes, one.sizes, values.mean(axis=0), values.min(axis=0), values.max(axis=0), look, hatch)
        for end in (end.mean(axis=0) for end in (one.low, one.high) if end is not None):
            axes.plot(one.sizes, end, color=look.colour, linewidth=0.8, linestyle=(0, (5, 2)))
    low, high = one.bounds
    ends = [float(end(one.values)) for one in held.values() for end in (np.nanmin, np.nanmax)]
    if max(ends) - min(ends) >= 0.1 * (high - low):
        axes.set_ylim(low - 0.03 * (high - low), high + 0.03 * (high - low))
    style_axes(axes, f"{one.vary.removesuffix('s')} words used")
    axes.spines["left"].set_visible(True)
    mark_line(axes, one.optimum, level=True)
    axes.set_ylabel(fill(one.metric, 32))
    axes.legend(fontsize=8)


# where each begins, and its shade (Koo and Li 2016, https://doi.org/10.1016/j.jcm.2016.02.012)
BANDS = {
    "poor": (-1e9, "#E6E6E6"),
    "moderate": (0.5, "#F0F0F0"),
    "good": (0.75, "#F7F7F7"),
    "excellent": (0.9, "white"),
}
LEAST = -0.5  # values below stand at the left edge
MOST_ROWS = 40


@picture(pd.DataFrame, Mapping)
def plot_reliability(
    table: pd.DataFrame | Mapping[str, pd.DataFrame],
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure | Axes:
    """Reliability of words, base pairs or queries: each by its name where they are 40 at most, or the distribution.

    Rows of points have their median (long mark) and quartiles (bar). With names, points are coefficients and bars their
    confidence intervals, sorted by the mean over measures. Shades mark what is called poor (below 0.5), moderate, good
    (from 0.75) and excellent (from 0.9). Values below -0.5 stand at the left edge.

    Parameters
    ----------
    table
        What :func:`retest_reliability`, :func:`inter_rater_consistency` or :func:`internal_consistency` returns, or a
        mapping of names to such tables.
    title, ax
        A title, and axes to draw on, which are returned; by default a new figure without a title is.

    References
    ----------
    Koo, T. K. and Li, M. Y. (2016). A guideline of selecting and reporting intraclass correlation coefficients for
    reliability research. Journal of Chiropractic Medicine 15(2). https://doi.org/10.1016/j.jcm.2016.02.012

    Examples
    --------
    >>> kv = bb.load_embedding("glove-50d-slice")
    >>> kvs = [kv, bb.debias(kv, "project", definitional=[("poor", "rich")])]  # or of two seeds
    >>> scores = bb.reliability.bias_scores(kvs, "occ16", measures=["db_wa", "ripa"])
    >>> bb.plots.plot_reliability(bb.reliability.retest_reliability(scores)).savefig("retest.png")
    """
    parts = {"": table} if isinstance(table, pd.DataFrame) else dict(table)
    pieces = []
    for name, part in parts.items():
        measures = part["measure"] if "measure" in part else [""] * len(part)
        series = [", ".join(filter(None, (str(name), measure))) or "all measures" for measure in measures]
        pieces.append(part.assign(look=series, mean=part["value"].clip(lower=LEAST), row=part["label"]))
    every = pd.concat(pieces, ignore_index=True)
    looks, order = looks_of(every["look"]), every.groupby("row", sort=False)["mean"].mean()
    rows = order.sort_values(ascending=False, kind="stable").index.tolist()
    named = len(rows) <= MOST_ROWS and not every.duplicated(["look", "row"]).any()
    height = 0.12 * max(len(looks), 2) * len(rows) if named else 0.46 * max(len(looks), 2)
    figure, axes = one_panel(ax, 7.4, height + 1.3)
    if named:
        draw_forest(axes, every, rows, looks, True)
        without = np.flatnonzero(order[rows].isna())
        notes_beside(axes, -without, ["no value"] * len(without))
        if len(looks) > 1:
            place_legend(figure, ax, looks.values())
    else:
        rows = list(looks)
        for i, (name, look) in enumerate(looks.items()):
            values = every.loc[every["look"] == name, "mean"].dropna().to_numpy(dtype=float)
            if len(values):
                draw_strip(axes, -i, values, look, 0.25)
            notes_beside(axes, [-i], [f"n = {len(values):,}"])
    label_rows(axes, word_labels(rows).tolist(), "coefficient of reliability (1: no error)")
    top = 0.6 + 0.25 / height * len(rows)
    edges = [*(begin for begin, _ in BANDS.values()), 1.0]
    least = max(LEAST, min(0.0, float(every[["mean", "low"] if named else ["mean"]].min().min())))
    for (name, (_, shade)), (low, high) in zip(BANDS.items(), pairwise(edges), strict=True):
        axes.axvspan(low, high, color=shade, linewidth=0, zorder=0)
        axes.text(max(low, least), top, f" {name}", va="top", fontsize=SMALL, color=FAINT)
    axes.grid(visible=False)
    axes.set(xlim=(least - 0.03, 1.02), ylim=(-len(rows) + 0.4, top))
    return figure
