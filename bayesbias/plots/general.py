"""The general figures, of any table: a forest of intervals, a matrix of numbers, a strip of points."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from bayesbias._support.arguments import finite_number, flag, one_of, probability, several, text
from bayesbias._support.numbers import percent, share, signed
from bayesbias.checks.summaries import PROB
from bayesbias.errors import InputError, shown
from bayesbias.plots.style import (
    INK,
    Look,
    connection_looks,
    draw_row,
    handles_of,
    head_beside,
    label_rows,
    looks_of,
    new_figure,
    note_below,
    notes_beside,
    one_panel,
    part_rows,
    picture,
    place_legend,
    posterior_table,
    refuse_axes,
    show_sign,
    spread_rows,
    word_labels,
)
from bayesbias.posteriors import Estimates
from bayesbias.words import WHOLE

PLAIN = Look("#0072B2", "o", "")
ONE = "all"  # the series of rows that hold one
MANY = 500  # a row with more points than this is drawn as an image in vector files
MOST_COLUMNS, DENSE = 30, 12  # of a matrix whose cells hold their numbers; beyond 12 in small letters


@picture((Estimates, pd.DataFrame), "estimates or a table of a result")
def forest(
    table: Estimates | pd.DataFrame,
    rows: str | Sequence[str] | None = None,
    by: str | None = None,
    panels: str | None = None,
    value: str = "mean",
    low: str = "low",
    high: str = "high",
    beside: str | bool = True,
    mark: float | Sequence[float] | None = 0.0,
    label: str = "",
    closer: str = "",
    prob: float = PROB,
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure | Axes:
    """Values with their intervals, a row each, in the order of the table.

    Rows of estimates have a thick 50% and a thin ``prob`` equal-tailed interval. Tables have the interval of two of
    their columns. The whole list stands apart where it is the first row.

    Parameters
    ----------
    table
        Estimates, or a DataFrame with a row for each value, such as ``table()`` of a result or what :func:`contrasts`
        returns.
    rows
        Column, or columns, whose values name a row; by default all that hold text, but for ``by`` and ``panels``.
        Lines of the table with the same names share a row.
    by
        Column that tells apart what shares a row, by colour and marker.
    panels
        Column with a panel, side by side, for each of its values.
    value, low, high
        Columns of the values and of the ends of their intervals; a missing end draws no bar.
    beside
        Column that is written right of the rows; True takes ``p_closer`` where there is one, and no ``by`` or
        ``panels``; False writes none.
    mark
        Where dashed lines are drawn: a number or several; None for none.
    label
        Of the axis.
    closer
        What is closer where values are below 0; an arrow below the label says it. By default there is no arrow.
    prob
        Posterior mass of the thin bars of estimates; tables have their own.
    title
        Title; by default none.
    ax
        Axes to draw on, which are returned and have no notes; by default those of a new figure.

    Examples
    --------
    >>> post = bb.fit(bb.distance_table("google-news-slice", "religion"), seed=0)
    >>> figure = bb.plots.forest(bb.contrasts(post, by="group"), label="cosine distance", closer="own stereotypes")
    >>> figure.savefig("groups.png")
    >>> cells = bb.estimates(post).select(group="jew")
    >>> bb.plots.forest(cells, "protected_word", by="list", mark=1.0).savefig("lists.png")
    """
    _check_texts(label=label, closer=closer)
    prob, mark = probability(prob, "prob"), _marks(mark)
    table = _with_index(table, prob) if isinstance(table, Estimates) else table
    column = beside if isinstance(beside, str) else None
    if column is None and flag(beside, "beside") and by is None and panels is None and "p_closer" in table:
        column = "p_closer"
    optional = {"by": by, "panels": panels, "beside": column}
    chosen = {name: one for name, one in optional.items() if one is not None}
    _check_columns(table, {"value": value, "low": low, "high": high, **chosen})
    for one in (value, low, high):
        _check_numbers(table, one)
    names, kind = _names(table, rows, {by, panels})
    labels = list(dict.fromkeys(names))
    looks = _looks(table, by)
    series = table[by].astype(str) if by else ONE
    drawn = table.assign(mean=table[value], low=table[low], high=table[high], row=names, look=series)
    if column is not None:
        drawn["beside"] = _written(column, table[column])
    parts = {"": drawn} if panels is None else dict(iter(drawn.groupby(panels, sort=False)))
    figure, panel = _panels(len(parts), 0.15 * max(len(looks), 1.5) * len(labels) + 1.3, ax)
    for axes, (name, part) in zip(panel, parts.items(), strict=True):
        draw_forest(axes, part, labels, looks, spread=by is not None)
        label_rows(axes, word_labels(labels).tolist(), label, str(name), mark)
        if closer:
            show_sign(axes, label, closer)
        if column == "p_closer":
            head_beside(axes, *(["P(change < 0)"] if "change" in table.attrs else []))
        set_apart(axes, labels)
        axes.tick_params(labelleft=axes is panel[0])
    panel[0].set_ylabel(kind)
    if by is not None:
        _series_legend(figure, ax, looks)
    bars = f"Bars: 50% (thick) and {percent(prob)} intervals." if "inner_low" in table else ""
    note_below(figure, bars, ax=ax)
    return figure


def draw_forest(
    axes: Axes,
    table: pd.DataFrame,
    rows: Sequence[Hashable],
    looks: Mapping[Any, Look],
    spread: bool = False,
    size: float = 22.0,
    note_size: float = 7.5,
) -> None:
    """Points and bars of a table with ``row`` (one of the rows), ``mean``, ``low``, ``high`` and ``look``.

    Bars of the columns ``inner_low`` and ``inner_high`` are thick, and the column ``beside`` is written right of the
    panel. With ``spread`` the looks stand below one another within a row.
    """
    place = {row: i for i, row in enumerate(rows)}
    for i, (name, look) in enumerate(looks.items()):
        part = table[(table["look"] == name) & table["mean"].notna()]
        whole = spread_rows(len(rows), len(looks), i) if spread else -np.arange(len(rows), dtype=float)
        heights = whole[part["row"].map(place).to_numpy(dtype=np.intp)]
        inner = (part["inner_low"], part["inner_high"]) if "inner_low" in part else None
        draw_row(axes, heights, part["mean"], (part["low"], part["high"]), look, size=size, inner=inner)
        if "beside" in part:
            notes_beside(axes, heights, part["beside"].astype(str), note_size)
    if spread and len(looks) > 1:
        part_rows(axes, len(rows))


def set_apart(axes: Axes, labels: Sequence[str]) -> None:
    """A line below the first row, and bold letters, where it is the whole list."""
    if len(labels) > 1 and labels[0] == WHOLE:
        axes.axhline(-0.5, color="#BBBBBB", linewidth=0.7)
        for tick in axes.get_yticklabels()[:1]:
            tick.set_fontweight("bold")


def _with_index(estimates: Estimates, prob: float) -> pd.DataFrame:
    """The labels of estimates, and their posterior."""
    names = [name for name in estimates.index if name not in ("mean", "low", "high")]
    return pd.concat([estimates.index[names], posterior_table(estimates, prob)], axis=1)


def _check_columns(table: pd.DataFrame, columns: Mapping[str, str]) -> None:
    """Refuse a table without rows, or without a column that is asked for."""
    if table.empty:
        raise InputError("the table has no row: there is nothing to draw")
    for option, column in columns.items():
        if not isinstance(column, str) or column not in table:
            valid = ", ".join(map(str, table))
            raise InputError(f"the table has no column {shown(column)}: name one as {option}=; it has {valid}")


def _check_numbers(table: pd.DataFrame, column: str) -> None:
    """Refuse a column of something else."""
    if not pd.api.types.is_numeric_dtype(table[column]):
        raise InputError(f"the column {shown(column)} holds no numbers: give one that does")


def _check_texts(**given: object) -> None:
    """Refuse what is no text."""
    for name, value in given.items():
        text(value, name)


def _marks(mark: object) -> list[float]:
    """Positions of dashed lines."""
    marks = [] if mark is None else [finite_number(value, "mark") for value in several(mark)]
    if mark is not None and not marks:
        raise InputError("mark is empty: give a number, several, or None for no line")
    return marks


def _names(
    table: pd.DataFrame, rows: str | Sequence[str] | None, others: Iterable[str | None]
) -> tuple[list[str], str]:
    """Names of the rows of a table, from one column or several, and what they are where they hold numbers."""
    columns = list(map(str, table))
    words = [name for name in columns if not pd.api.types.is_numeric_dtype(table[name])]
    chosen = [name for name in words if name not in others] if rows is None else several(rows)
    if rows is not None and not chosen:
        raise InputError(f"rows is empty: give one of the columns {', '.join(columns)}, or several")
    if not chosen:
        return table.index.astype(str).tolist(), ""
    for name in chosen:
        one_of(name, columns, "rows")
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


def _series_legend(figure: Figure, ax: Axes | None, looks: Mapping[str, Look], **how: Any) -> None:
    """Legend of series, in as many columns as there is room for."""
    longest = 0.6 + 0.08 * max(len(look.label) for look in looks.values())  # inches of a column
    columns = max(1, min(len(looks), int(figure.get_figwidth() / longest)))
    place_legend(figure, ax, "upper center", handles=handles_of(looks.values(), **how), ncols=columns)


def _written(name: str, column: pd.Series[Any]) -> list[str]:
    """Values as a figure writes them."""
    if not pd.api.types.is_numeric_dtype(column):
        return column.astype(str).tolist()
    write = (
        share
        if name.startswith("p_") and name != "p_value"
        else "{:,}".format
        if pd.api.types.is_integer_dtype(column)
        else signed
    )
    return ["" if pd.isna(value) else write(value) for value in column]


def _panels(count: int, height: float, ax: Axes | None) -> tuple[Figure, list[Axes]]:
    """Panels side by side with shared rows and one scale."""
    if count == 1:
        figure, axes = one_panel(ax, 7.0, height)
        return figure, [axes]
    refuse_axes(ax, count)
    figure = new_figure(min(2.2 + 2.6 * count, 12.6), height)
    return figure, list(figure.subplots(1, count, squeeze=False, sharex=True, sharey=True)[0])


@picture(pd.DataFrame, "association, unstacked, or rank_agreement")
def matrix(
    table: pd.DataFrame,
    label: str = "",
    title: str | None = None,
    centre: float | None = 0.0,
    framed: pd.DataFrame | None = None,
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
    framed
        Which cells are outlined: booleans of the same rows and columns.
    title
        Title; by default none.
    ax
        Axes to draw on, which are returned and have no notes; by default those of a new figure.

    Examples
    --------
    >>> post = bb.fit(bb.distance_table("google-news-slice", "religion"), seed=0)
    >>> table = bb.association(post, by="group").pivot(index="group", columns="list", values="mean")
    >>> bb.plots.matrix(table, "cosine distance (below 0: closer)").savefig("lists.png")
    """
    _check_texts(label=label)
    centre = None if centre is None else finite_number(centre, "centre")
    if table.empty or not all(map(pd.api.types.is_numeric_dtype, table.dtypes)):
        raise InputError(f"table has {table.shape[0]} rows and {table.shape[1]} columns: give a table of numbers")
    if framed is not None and not (isinstance(framed, pd.DataFrame) and framed.shape == table.shape):
        given = f"has the shape {framed.shape}" if isinstance(framed, pd.DataFrame) else f"is {shown(framed)}"
        raise InputError(f"framed {given}: give a DataFrame of booleans of the shape {table.shape}")
    values = table.to_numpy(dtype=float)
    groups = table.index.get_level_values(0).astype(str).tolist() if table.index.nlevels > 1 else []
    rows = word_labels(table.index.get_level_values(-1).astype(str), groups)
    columns = [" ".join(map(str, np.atleast_1d(name))) for name in table.columns]
    level = sum(map(len, columns)) <= 11 * len(columns)
    longest = 0.07 * max(map(len, columns)) * (not level)
    width = max(5.2, 2.6 + (0.85 if level else 0.45) * len(columns))
    figure, axes = one_panel(ax, min(width, 12.6), max(0.26 * len(values) + 1.3 + longest, 2.6))
    if centre is None:
        image = axes.imshow(values, cmap="cividis", aspect="auto")
    else:
        reach = max(float(np.nanmax(np.abs(values - centre), initial=0.0)), 1e-12)
        image = axes.imshow(values, cmap="PuOr_r", vmin=centre - reach, vmax=centre + reach, aspect="auto")
    digits = 3 if np.nanmax(np.abs(values), initial=0.0) < 0.995 and centre is not None else 2
    if len(columns) <= MOST_COLUMNS:
        dense = len(columns) > DENSE
        write_cells(axes, image, [[_cell(value, digits, dense) for value in row] for row in values], 6 if dense else 7)
    for row, column in np.argwhere(np.zeros(values.shape) if framed is None else framed.to_numpy(dtype=bool)):
        _template_cell(axes, int(row), int(column))
    for place, (before, after) in enumerate(pairwise(groups)):
        if before != after:
            axes.axhline(place + 0.5, color=INK, linewidth=0.8)
    axes.set_xticks(np.arange(len(columns)), columns, rotation=0 if level else 90)
    axes.set_yticks(np.arange(len(values)), rows)
    axes.tick_params(length=0, left=False, bottom=False)
    axes.spines[:].set_visible(False)
    colours = figure.colorbar(image, ax=axes, shrink=0.8)
    colours.outline.set_visible(False)
    colours.set_label(label)
    return figure


def write_cells(axes: Axes, image: AxesImage, texts: Sequence[Sequence[str]], size: float = 7.0) -> None:
    """Letters in the cells of a matrix, white on dark colours."""
    colours = image.to_rgba(np.asarray(image.get_array()))
    light = colours[..., :3] @ [0.299, 0.587, 0.114]  # luma
    for row, line in enumerate(texts):
        for column, letters in enumerate(line):
            colour = INK if light[row, column] > 0.5 else "white"
            axes.text(column, row, letters, ha="center", va="center", fontsize=size, color=colour)


def _template_cell(axes: Axes, row: int, column: int) -> None:
    """An outline of a cell of a matrix."""
    place, size = (column - 0.46, row - 0.42), (0.92, 0.84)
    axes.add_patch(Rectangle(place, *size, fill=False, edgecolor="white", linewidth=2.6))
    axes.add_patch(Rectangle(place, *size, fill=False, edgecolor=INK, linewidth=1.2))


def _cell(value: float, digits: int, dense: bool) -> str:
    """A number, without the zero before its point where there is little room."""
    text = "–" if np.isnan(value) else signed(value, digits=digits)
    return text.replace("0.", ".", 1) if dense else text


@picture(pd.DataFrame, "distance_table")
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
    title
        Title; by default none.
    ax
        Axes to draw on, which are returned and have no notes; by default those of a new figure.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> bb.plots.strip(table, "distance", "group", by="connection", mark=1.0).savefig("groups.png")
    """
    _check_texts(label=label)
    mark = _marks(mark)
    _check_columns(table, {"value": value, **({} if by is None else {"by": by})})
    _check_numbers(table, value)
    names, kind = _names(table, rows, {by})
    labels = list(dict.fromkeys(names))
    looks = _looks(table, by)
    series = table[by].astype(str).tolist() if by else [ONE] * len(table)
    values = pd.Series(table[value].to_numpy(dtype=float, na_value=np.nan), index=[series, names]).dropna()
    known: dict[Any, NDArray[np.float64]] = {key: part.to_numpy() for key, part in values.groupby(level=[0, 1])}
    figure, axes = one_panel(ax, 7.5, 0.45 * max(len(looks), 1.4) * len(labels) + 1.2)
    for i, (name, look) in enumerate(looks.items()):
        for height, row in zip(spread_rows(len(labels), len(looks), i), labels, strict=True):
            numbers = known.get((name, row))
            if numbers is not None:
                draw_strip(axes, height, numbers, look, 0.32 / len(looks))
                notes_beside(axes, [height], [f"n = {len(numbers):,}"])
    label_rows(axes, word_labels(labels).tolist(), label or value, mark=mark)
    axes.set_ylabel(kind)
    if by is not None:
        part_rows(axes, len(labels))
        _series_legend(figure, ax, looks, linewidth=0)
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
