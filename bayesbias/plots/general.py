"""The general figures, of any table: a forest of intervals, a matrix of numbers, a strip of points, a curve."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from numpy.typing import NDArray

from bayesbias._support.arguments import probability, several
from bayesbias._support.numbers import cells, percent, written
from bayesbias.checks.summaries import PROB
from bayesbias.errors import InputError
from bayesbias.plots.style import (
    INK,
    Look,
    connection_looks,
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
    with_inner,
    with_poles,
    word_labels,
)
from bayesbias.posteriors import Estimates

PLAIN = Look("#0072B2", "o", "")
ONE = "all"  # the series of rows that hold one
MANY = 500  # a row with more points than this is drawn as an image in vector files
MOST_COLUMNS, DENSE = 30, 12  # of a matrix whose cells hold their numbers; beyond 12 in small letters
HATCHES = ("", "////", "....", "xxxx")  # of bands
LABELLED = 150  # rows of a matrix up to which each has its label
MOST_GROUPS = 60  # of a size, whose labels have room beside a matrix


@picture(Estimates, pd.DataFrame)
def forest(
    table: Estimates | pd.DataFrame,
    rows: str | Sequence[str] | None = None,
    by: str | None = None,
    panels: str | None = None,
    value: str = "mean",
    low: str = "low",
    high: str = "high",
    mark: float | Sequence[float] | None = 0.0,
    label: str = "",
    closer: str = "",
    prob: float = PROB,
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure | Axes:
    """Values with their intervals, a row each, in the order of the table.

    Rows of estimates have a thick 50% and a thin ``prob`` equal-tailed interval, tables those of two of their columns.
    Numbers of a column ``unshrunk`` are hollow, and ``p_closer`` stands right of the rows where there is no ``by`` or
    ``panels``. The whole list stands apart where it is the first row.

    Parameters
    ----------
    table
        Estimates, or a DataFrame with a row for each value, such as ``table()`` of a result or what :func:`contrasts`
        returns.
    rows
        Column, or columns, whose values name a row; by default all that hold text, but for ``by``, ``panels`` and
        ``sign``. Lines of the table with the same names share a row.
    by
        Column that tells apart what shares a row, by colour and marker.
    panels
        Column with a panel, side by side, for each of its values.
    value, low, high
        Columns of the values and of the ends of their intervals; a missing end draws no bar.
    mark
        Where dashed lines are drawn: a number or several; None for none.
    label
        Of the axis.
    closer
        What is closer where values are below 0; an arrow below the label says it.
    prob
        Posterior mass of the thin bars of estimates; tables have their own.
    title, ax
        A title, and axes to draw on, which are returned; by default a new figure without a title is.

    Examples
    --------
    >>> post = bb.fit(bb.distance_table("google-news-slice", "religion"), seed=0)
    >>> figure = bb.plots.forest(bb.contrasts(post, by="group"), label="cosine distance", closer="own stereotypes")
    >>> figure.savefig("groups.png")
    >>> cells = bb.estimates(post).select(group="jew")
    >>> bb.plots.forest(cells, "protected_word", by="list", mark=1.0).savefig("lists.png")
    """
    if isinstance(table, Estimates):
        estimates, prob = table, probability(prob, "prob")
        table = with_inner(estimates.summary, prob)
        label = f"{label} (50% and {percent(prob)} intervals)".strip()
    names, kind = _names(table, rows, {by, panels, "sign"})
    labels, looks = list(dict.fromkeys(names)), _looks(table, by)
    series = table[by].astype(str) if by else ONE
    drawn = table.assign(mean=table[value], low=table[low], high=table[high], row=names, look=series)
    head = ""
    if by is None and panels is None and "p_closer" in table:
        texts = cells(table[["p_closer"]], prob)
        head, drawn["beside"] = texts.columns[0], texts.iloc[:, 0].to_numpy()
    parts = {"": drawn} if panels is None else dict(iter(drawn.groupby(panels, sort=False)))
    figure, axes = panels_beside(len(parts), 0.15 * max(len(looks), 1.5) * len(labels) + 1.0, ax)
    for panel, (name, part) in zip(axes, parts.items(), strict=True):
        draw_forest(panel, part, labels, looks, by is not None, head)
        label_rows(panel, word_labels(labels).tolist(), with_poles(label, closer) if closer else label, str(name), mark)
    axes[0].set_ylabel(kind)
    if by is not None:
        place_legend(figure, ax, looks.values())
    return figure


def draw_forest(
    axes: Axes,
    table: pd.DataFrame,
    rows: Sequence[Hashable],
    looks: Mapping[Any, Look],
    spread: bool = False,
    head: str = "",
) -> None:
    """Points and bars of a table with ``row`` (one of the rows), ``mean``, ``low``, ``high`` and ``look``.

    Bars of the columns ``inner_low`` and ``inner_high`` are thick, the column ``unshrunk`` is hollow, and ``beside`` is
    written right of the panel, below ``head``. With ``spread`` the looks stand below one another within a row.
    """
    place = {row: i for i, row in enumerate(rows)}
    for i, (name, look) in enumerate(looks.items()):
        part = table[(table["look"] == name) & table["mean"].notna()]
        places = -np.arange(len(rows)) + (0.4 - 0.8 / len(looks) * (i + 0.5) if spread else 0.0)
        heights = places[part["row"].map(place).to_numpy(dtype=np.intp)]
        if "inner_low" in part:
            axes.hlines(heights, part["inner_low"], part["inner_high"], color=look.colour, linewidth=3.0, zorder=2)
        axes.hlines(heights, part["low"], part["high"], color=look.colour, linewidth=1.1, zorder=2)
        point: dict[str, Any] = {"marker": look.marker, "s": 24}
        axes.scatter(part["mean"], heights, color=look.colour, edgecolor="white", linewidth=0.6, zorder=4, **point)
        if "unshrunk" in part:
            own = part["unshrunk"].where(~np.isclose(part["unshrunk"], part["mean"], rtol=0, atol=1e-9))
            axes.scatter(own, heights, facecolor="white", edgecolor=look.colour, linewidth=0.9, zorder=3, **point)
        if "beside" in part:
            notes_beside(axes, heights, part["beside"].astype(str))
    notes_beside(axes, [], [], head)
    for line in range(1, len(rows) if spread and len(looks) > 1 else 1):
        axes.axhline(0.5 - line, color="#EEEEEE", linewidth=0.6, zorder=0)


def _names(table: pd.DataFrame, rows: str | Sequence[str] | None, others: set[str | None]) -> tuple[list[str], str]:
    """Names of the rows of a table, from one column or several, and what they are where they hold numbers."""
    if table.empty:
        raise InputError("the table has no row: there is nothing to draw")
    words = [str(name) for name in table if not pd.api.types.is_numeric_dtype(table[name])]
    chosen = [name for name in words if name not in others] if rows is None else list(several(rows))
    if not chosen:
        return table.index.astype(str).tolist(), ""
    parts = table[chosen].astype(object).where(table[chosen].notna(), None).to_numpy()
    names = [", ".join(str(part) for part in row if part is not None) for row in parts]
    return names, "" if set(chosen) <= set(words) else ", ".join(chosen).replace("_", " ")


def _looks(table: pd.DataFrame, by: str | None) -> dict[str, Look]:
    """Look of each series; connections have theirs in every figure."""
    if by is None:
        return {ONE: PLAIN}
    looks = connection_looks(table[by].unique(), {}) if by == "connection" else looks_of(table[by].unique())
    named = pd.api.types.is_numeric_dtype(table[by])
    return {name: look._replace(label=f"{by} = {name}") if named else look for name, look in looks.items()}


def panels_beside(count: int, height: float, ax: Axes | None = None) -> tuple[Figure, list[Axes]]:
    """Panels side by side with shared rows and one scale."""
    if count == 1:
        figure, axes = one_panel(ax, 7.0, max(height, 1.6))
        return figure, [axes]
    refuse_axes(ax, count)
    figure = new_figure(min(2.2 + 2.6 * count, 12.6), max(height, 2.0))
    panels = list(figure.subplots(1, count, squeeze=False, sharex=True, sharey=True)[0])
    panels[0].locator_params(axis="x", nbins=5)
    return figure, panels


@picture(pd.DataFrame)
def matrix(
    table: pd.DataFrame,
    label: str = "",
    title: str | None = None,
    centre: float | None = 0.0,
    ax: Axes | None = None,
) -> Figure | Axes:
    """The numbers of a table as colours, with a cell for each row and column.

    Of up to 30 columns the cells hold their numbers, with two or three decimals; a missing number is a dash.

    Parameters
    ----------
    table
        A DataFrame of numbers. Lines part the rows by the first level where the index has several.
    label
        Of the colours.
    centre
        The number that is white; smaller ones are purple, larger ones orange. None runs from dark (small) to light.
    title, ax
        A title, and axes to draw on, which are returned; by default a new figure without a title is.

    Examples
    --------
    >>> post = bb.fit(bb.distance_table("google-news-slice", "religion"), seed=0)
    >>> table = bb.association(post, by="group").pivot(index="group", columns="list", values="mean")
    >>> bb.plots.matrix(table, "cosine distance (below 0: closer)").savefig("lists.png")
    """
    columns = [" ".join(map(str, np.atleast_1d(name))) for name in table.columns]
    level = sum(map(len, columns)) <= 11 * len(columns)
    longest = 0.07 * max(map(len, columns)) * (not level)
    width = max(5.2, 2.6 + (0.85 if level else 0.45) * len(columns))
    figure, axes = one_panel(ax, min(width, 12.6), max(0.26 * len(table) + 1.3 + longest, 2.6))
    image = draw_matrix(axes, table, label, centre)
    values = table.to_numpy(dtype=float)
    digits = 3 if np.nanmax(np.abs(values), initial=0.0) < 0.995 and centre is not None else 2
    if len(columns) <= MOST_COLUMNS:
        dense = len(columns) > DENSE
        texts = [[written(value, digits).replace("-", "\N{MINUS SIGN}") or "–" for value in row] for row in values]
        write_cells(axes, image, [[text.replace("0.", ".", 1) if dense else text for text in row] for row in texts])
    axes.set_xticks(np.arange(len(columns)), columns, rotation=0 if level else 90)
    return figure


def draw_matrix(
    axes: Axes, table: pd.DataFrame, label: str, centre: float | None, most: float | None = None
) -> AxesImage:
    """Cells and rows of a matrix and its colours, up to ``most`` from the centre; of many rows groups have names."""
    values = table.to_numpy(dtype=float)
    if centre is None:
        image = axes.imshow(values, cmap="cividis", aspect="auto")
    else:
        half = most or max(float(np.nanmax(np.abs(values - centre), initial=0.0)), 1e-12)
        image = axes.imshow(values, cmap="PuOr_r", vmin=centre - half, vmax=centre + half, aspect="auto")
    groups = table.index.get_level_values(0).astype(str).tolist() if table.index.nlevels > 1 else []
    ends = [place for place, (before, after) in enumerate(pairwise(groups), 1) if before != after]
    for end in ends:
        axes.axhline(end - 0.5, color=INK, linewidth=0.8)
    places, names = np.arange(len(values), dtype=float), word_labels(table.index.get_level_values(-1), groups)
    if groups and len(values) > LABELLED:
        begins, sizes = np.array([0, *ends]), np.diff([0, *ends, len(values)])
        places, names = begins + (sizes - 1) / 2, word_labels(groups[begin] for begin in begins)
        names[sizes < len(values) / MOST_GROUPS] = ""
    axes.set_yticks(places, names)
    axes.set_xticks([])
    axes.tick_params(length=0, left=False, bottom=False)
    axes.spines[:].set_visible(False)
    colours = axes.figure.colorbar(image, ax=axes, shrink=0.8, aspect=30, pad=0.01)
    colours.outline.set_visible(False)
    colours.set_label(label)
    return image


def write_cells(axes: Axes, image: AxesImage, texts: Sequence[Sequence[str]]) -> None:
    """Letters in the cells of a matrix, white on dark colours."""
    colours = image.to_rgba(np.asarray(image.get_array()))
    light = colours[..., :3] @ [0.299, 0.587, 0.114]  # luma
    size = 6 if len(texts[0]) > DENSE else 7
    for row, line in enumerate(texts):
        for column, letters in enumerate(line):
            colour = INK if light[row, column] > 0.5 else "white"
            axes.text(column, row, letters, ha="center", va="center", fontsize=size, color=colour)


@picture(pd.DataFrame)
def strip(
    table: pd.DataFrame,
    value: str,
    rows: str | Sequence[str] | None = None,
    by: str | None = None,
    mark: float | Sequence[float] | None = None,
    label: str = "",
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure | Axes:
    """Every number of a table as a point, a row for each group of numbers.

    Each row of points has its median (long mark) and quartiles (bar), and the number of its points at the right.

    Parameters
    ----------
    table
        A DataFrame with a row for each number, such as a distance table.
    value
        Column of the numbers; missing ones are left out.
    rows
        Column, or columns, whose values name a row; by default all that hold text, but for ``by``.
    by
        Column that tells apart what shares a row, by colour and marker; each has points of its own.
    mark
        Where dashed lines are drawn: a number or several; None for none.
    label
        Of the axis.
    title, ax
        A title, and axes to draw on, which are returned; by default a new figure without a title is.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> bb.plots.strip(table, "distance", "group", by="connection", mark=1.0).savefig("groups.png")
    """
    names, kind = _names(table, rows, {by})
    labels, looks = list(dict.fromkeys(names)), _looks(table, by)
    series = table[by].astype(str).tolist() if by else [ONE] * len(table)
    values = pd.Series(table[value].to_numpy(dtype=float, na_value=np.nan), index=[series, names]).dropna()
    known: dict[Any, NDArray[np.float64]] = {key: part.to_numpy() for key, part in values.groupby(level=[0, 1])}
    figure, axes = one_panel(ax, 7.5, 0.45 * max(len(looks), 1.4) * len(labels) + 1.2)
    for i, (name, look) in enumerate(looks.items()):
        places = -np.arange(len(labels)) + 0.4 - 0.8 / len(looks) * (i + 0.5)
        for height, row in zip(places, labels, strict=True):
            if (numbers := known.get((name, row))) is not None:
                draw_strip(axes, height, numbers, look, 0.32 / len(looks))
                notes_beside(axes, [height], [f"n = {len(numbers):,}"])
    label_rows(axes, word_labels(labels).tolist(), label or value, mark=mark)
    axes.set_ylabel(kind)
    if by is not None:
        place_legend(figure, ax, looks.values(), linewidth=0)
    return figure


def draw_strip(axes: Axes, height: float, numbers: NDArray[np.float64], look: Look, spread: float = 0.3) -> None:
    """Numbers as points at a height, with their median and quartiles."""
    jitter = np.random.default_rng(0).uniform(-spread, spread, len(numbers))
    how: dict[str, Any] = {"s": 10, "marker": look.marker, "color": look.colour, "linewidths": 0}
    faint = 0.45 if len(numbers) < MANY else 0.25
    axes.scatter(numbers, height + jitter, alpha=faint, rasterized=len(numbers) > MANY, **how)
    low, middle, high = np.quantile(numbers, [0.25, 0.5, 0.75])
    axes.hlines(height, low, high, color=INK, linewidth=4, zorder=3)
    axes.vlines(middle, height - 1.2 * spread, height + 1.2 * spread, color=INK, linewidth=1.6, zorder=4)


@picture(pd.DataFrame)
def curve(
    table: pd.DataFrame,
    at: str,
    value: str = "mean",
    low: str = "low",
    high: str = "high",
    by: str | None = None,
    mark: float | None = None,
    label: str = "",
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure | Axes:
    """Values along a number as a line, with a band.

    Parameters
    ----------
    table
        A DataFrame with a row for each point of the line, such as what ``along`` of a contrast by covariates returns.
    at
        Column of the numbers that the line runs along.
    value, low, high
        Columns of the line and of the ends of the band.
    by
        Column that tells lines apart, by colour and pattern.
    mark
        Where a dashed level line is drawn; None for none.
    label
        Of the axis of values.
    title, ax
        A title, and axes to draw on, which are returned; by default a new figure without a title is.

    Examples
    --------
    >>> found = bb.silhouettes.silhouette("google-news-slice", "weat1", "weat", runs=10)
    >>> figure = bb.plots.curve(found.by_size(), "words", "mean_value", "smallest", "largest", label="WEAT's d")
    >>> figure.savefig("curve.png")
    """
    figure, axes = one_panel(ax, 6.4, 3.4)
    looks = _looks(table, by)
    series = table[by].astype(str) if by else pd.Series(ONE, table.index)
    for i, (name, look) in enumerate(looks.items()):
        part = table[series == name].sort_values(at)
        draw_curve(axes, part[at], part[value], part[low], part[high], look, HATCHES[i % 4])
    style_axes(axes, at.replace("_", " "))
    axes.set_ylabel(label or value)
    if mark is not None:
        mark_line(axes, mark, level=True)
    if by is not None:
        axes.legend(fontsize=8)
    return figure


def draw_curve(axes: Axes, at: Any, values: Any, low: Any, high: Any, look: Look, hatch: str = "") -> None:
    """A line with its band."""
    axes.fill_between(at, low, high, color=look.colour, alpha=0.22, linewidth=0.8, hatch=hatch)
    axes.plot(at, values, color=look.colour, linewidth=1.8, label=look.label)
