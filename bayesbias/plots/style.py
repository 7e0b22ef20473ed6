"""The style of all figures, and pieces that several share."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from inspect import signature
from itertools import zip_longest
from textwrap import fill
from typing import Any, NamedTuple, cast

import matplotlib as mpl
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import get_font_names
from matplotlib.lines import Line2D
from matplotlib.ticker import AutoLocator
from numpy.typing import NDArray

from bayesbias._support.arguments import several
from bayesbias.distances.dataframe import DistanceTable, limits_of
from bayesbias.errors import InputError
from bayesbias.models.tree import Fit
from bayesbias.results import LISTED, Note, Result
from bayesbias.vectors.lookup import lost_lines
from bayesbias.words import WHOLE, controls_of

INK, FAINT, BAND = "#222222", "#767676", "#DCE9F3"
LONGEST = 34  # letters of the name of a row
NARROW, SMALL = 2.5, 7.5  # inches of a panel below which its labels have so many points
BETWEEN = 6 * " "  # the poles of an axis
COLUMN = 1.7  # inches of a column of a legend above axes that were given
FAMILIES = ("DejaVu Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "PingFang SC", "Hiragino Sans", "Microsoft YaHei")
"""Fonts in the order in which a letter is looked for; those that are not installed are passed over."""
FONT: dict[Any, Any] = {
    "font.family": [name for name in FAMILIES if name in set(get_font_names())],
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9.0,
    "legend.frameon": False,
    "text.parse_math": False,  # a word may hold a dollar sign: it is text, never a formula
}


class Look(NamedTuple):
    """Colour (Okabe and Ito) and marker of a series: either tells the series apart."""

    colour: str
    marker: str
    label: str


LOOKS = {
    "associated": Look("#D55E00", "o", "associated (own stereotype)"),
    "different": Look("#0072B2", "s", "different (another group's)"),
    "human": Look("#009E73", "^", "human (control)"),
    "neutral": Look("#4D4D4D", "D", "neutral (control)"),
}
# of control lists of other names, once those of the bundled ones are taken
SPARE = (Look("#CC79A7", "v", ""), Look("#E69F00", "P", ""), Look("#56B4E9", "X", ""), Look("#000000", "*", ""))
MARKERS = "osD^vP*X"
COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#4D4D4D", "#000000")


def connection_looks(names: Iterable[str], labels: Mapping[str, str]) -> dict[str, Look]:
    """Connection to its look, which is named by the label of a control list that has one."""
    every = list(names)
    left = [LOOKS[name] for name in controls_of(LOOKS) if name not in every] + list(SPARE)
    free = {name: left[i % len(left)] for i, name in enumerate(name for name in every if name not in LOOKS)}
    return {
        name: LOOKS[name]
        if name in LOOKS and name not in labels
        else {**LOOKS, **free}[name]._replace(label=f"{labels.get(name, name)} (control)")
        for name in every
    }


def looks_of(names: Iterable[str]) -> dict[str, Look]:
    """Name to colour and marker; beyond eight names colours come again with other markers."""
    size = len(COLOURS)
    return {
        name: Look(COLOURS[i % size], MARKERS[(i + i // size) % size], name)
        for i, name in enumerate(dict.fromkeys(map(str, names)))
    }


class NotebookFigure(Figure):
    """A figure that a notebook shows once; letters that the font lacks are boxes."""

    def draw(self, renderer: RendererBase) -> None:
        """Draw without a warning for each letter that the font lacks."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font")
            super().draw(renderer)

    def _ipython_display_(self) -> None:
        """Show the figure, and close it in pyplot, which would show it again at the end of a cell."""
        from IPython.display import Image, display

        buffer = io.BytesIO()
        write_png(self, buffer, 110)
        display(Image(buffer.getvalue()))  # type: ignore[no-untyped-call]
        if (plt := sys.modules.get("matplotlib.pyplot")) is not None:
            plt.close(self)


def write_png(figure: Figure, target: Any, dpi: float) -> None:
    """Write a figure as PNG to a path or file: what ``savefig`` writes, which draws twice where a layout is sought."""
    before = figure.dpi
    figure.dpi = dpi
    FigureCanvasAgg(figure).print_png(target)  # type: ignore[no-untyped-call]
    figure.dpi = before


def picture[**P](*kinds: type) -> Callable[[Callable[P, Figure | Axes]], Callable[P, Any]]:
    """Draw in the font of all figures, and refuse a first argument of other kinds.

    The options ``title`` and ``ax`` are seen to here: a function draws without a title, and returns its figure.
    """

    def styled(plot: Callable[P, Figure | Axes]) -> Callable[P, Any]:
        @wraps(plot)
        def draw(*args: P.args, **kwargs: P.kwargs) -> Any:
            given = signature(plot).bind(*args, **kwargs).arguments
            drawn, ax, title = next(iter(given.values())), given.get("ax"), given.get("title")
            if kinds and not isinstance(drawn, kinds):
                valid = " or ".join(kind.__name__ for kind in kinds)
                raise InputError(f"given is {type(drawn).__name__}: {plot.__name__} draws {valid}")
            with mpl.rc_context(FONT):
                before = "" if ax is None else ax.get_title(loc="left")
                figure = cast(Figure, plot(*args, **kwargs))
                if ax is not None:
                    _fit(ax, before if title is None else title)
                    return ax
                if title:
                    figure.suptitle(fill(title, int(11 * figure.get_figwidth())), x=0.02, ha="left", weight="bold")
                if lost := [fill(note, int(16 * figure.get_figwidth())) for note in _lost(drawn)]:
                    lines = "\n".join(filter(None, [figure.get_supxlabel(), *lost]))
                    figure.supxlabel(lines, x=0.02, ha="left", fontsize=SMALL, color=FAINT)
                return figure

        return draw

    return styled


def _lost(drawn: object) -> list[Note]:
    """The notes on lost words of what is drawn: a distance table, a fit, or a result."""
    if isinstance(drawn, DistanceTable):
        return lost_lines(() if drawn.coverage is None else limits_of([drawn.coverage]))
    holder = Fit(drawn) if isinstance(drawn, xr.DataTree) else drawn
    return lost_lines(holder.notes if isinstance(holder, Fit | Result) else ())


def _fit(axes: Axes, title: str) -> None:
    """Break the title and the label of axes that were given to their width; narrow ones have small and few labels."""
    inches = axes.bbox.width / axes.figure.dpi
    lines = [
        line.replace(BETWEEN, "\n") if "←" in line and inches < NARROW else fill(line, max(20, int(9 * inches)))
        for line in axes.get_xlabel().split("\n")
    ]
    axes.set_xlabel("\n".join(lines))
    legend = axes.get_legend()
    rows = 0 if legend is None else -(-len(legend.get_texts()) // max(1, int(inches / COLUMN)))
    pad = mpl.rcParams["axes.titlepad"] + 1.4 * SMALL * rows
    heading = axes.set_title(fill(title, max(12, int(11 * inches))), pad=pad)
    if inches < NARROW:
        heading.set_fontsize(SMALL + 1)
        axes.tick_params(labelsize=SMALL - 0.5)
        if isinstance(locator := axes.xaxis.get_major_locator(), AutoLocator):
            locator.set_params(nbins=max(1, int(1.6 * inches)))


def new_figure(width: float, height: float) -> NotebookFigure:
    """An empty figure of so many inches, laid out by matplotlib's constrained layout; pyplot knows those of readers."""
    if LISTED.get():
        from matplotlib import pyplot as plt

        listed = plt.figure(figsize=(width, height), layout="constrained", FigureClass=NotebookFigure)
        return cast(NotebookFigure, listed)
    figure = NotebookFigure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def one_panel(ax: Axes | None, width: float, height: float) -> tuple[Figure, Axes]:
    """The axes to draw on and their figure: those that were given, or those of a new figure of so many inches."""
    if ax is None:
        figure = new_figure(width, height)
        return figure, figure.add_subplot()
    return ax.figure.figure, ax  # the figure of a subfigure is the whole one


def refuse_axes(ax: Axes | None, panels: int) -> None:
    """Refuse axes where several panels are to be drawn."""
    if ax is not None and panels > 1:
        raise InputError(f"ax is one panel, and {panels} are to be drawn: leave ax out")


def handles_of(looks: Iterable[Look], **how: Any) -> list[Line2D]:
    """Lines of a legend, one for each look."""
    return [Line2D([], [], color=look.colour, marker=look.marker, label=look.label, **how) for look in looks]


def place_legend(figure: Figure, ax: Axes | None, looks: Iterable[Look], *further: Line2D, **how: Any) -> None:
    """A legend of series above the panels of a new figure, or above axes that were given."""
    handles = [*handles_of(looks, **how), *further]
    if ax is None:
        longest = 0.6 + 0.08 * max(len(str(handle.get_label())) for handle in handles)  # inches of a column
        columns = max(1, min(len(handles), int(figure.get_figwidth() / longest)))
        figure.legend(loc="outside upper center", handles=handles, ncols=columns)
        return
    columns = max(1, int(ax.bbox.width / ax.figure.dpi / COLUMN))
    above: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0, "ncols": columns}
    ax.legend(handles=handles, fontsize=SMALL, labelspacing=0.1, columnspacing=1.0, **above)


def style_axes(axes: Axes, xlabel: str = "", title: str = "") -> None:
    """Quiet axes: no box, a faint vertical grid."""
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.grid(axis="x", color="#E3E3E3", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0, left=False)
    axes.set_xlabel(xlabel)
    axes.set_title(title)


def with_poles(label: str, negative: str, positive: str = "") -> str:
    """The label of an axis, and below it what lies towards either side: a contrast below 0 is closer."""
    low, high = word_labels([negative, positive])
    return f"{label}\n← {low}{BETWEEN}{high} →" if positive else f"{label}\n← {low}"


def mark_line(axes: Axes, value: float, level: bool = False) -> None:
    """A dashed line, upright or level, at a value that others are read against."""
    line = axes.axhline if level else axes.axvline
    line(value, color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)


def label_rows(
    axes: Axes,
    labels: Sequence[str],
    xlabel: str = "",
    title: str = "",
    mark: float | Sequence[float] | None = None,
) -> None:
    """Finish a panel of labelled rows, the first on top, with dashed lines at ``mark``; the whole list stands apart."""
    style_axes(axes, xlabel, title)
    for value in () if mark is None else several(mark):
        mark_line(axes, value)
    axes.set_yticks(-np.arange(len(labels)), labels)
    axes.set_ylim(-len(labels) + 0.4, 0.6)
    if len(labels) > 1 and labels[0] == WHOLE:
        axes.axhline(-0.5, color="#BBBBBB", linewidth=0.7)
        for tick in axes.get_yticklabels()[:1]:
            tick.set_fontweight("bold")


def word_labels(words: Iterable[str], groups: Iterable[str] = ()) -> NDArray[np.object_]:
    """Words with their groups where there are several, long ones cut in the middle."""
    words, groups = list(words), ["" if pd.isna(group) else group for group in groups]
    several_groups = len({*groups} - {""}) > 1
    pairs = zip_longest(words, groups, fillvalue="")
    names = [f"{word} ({group})" if several_groups and group else str(word) for word, group in pairs]
    cut = [name if len(name) <= LONGEST else f"{name[: LONGEST // 2]}…{name[-LONGEST // 2 + 1 :]}" for name in names]
    return np.array(cut, dtype=object)


def with_inner(table_at: Callable[[float], pd.DataFrame], prob: float) -> pd.DataFrame:
    """A table with the intervals of a mass, and in ``inner_low`` and ``inner_high`` the ends of 50% intervals."""
    inner = table_at(0.5)
    return table_at(prob).assign(inner_low=inner["low"], inner_high=inner["high"])


def notes_beside(axes: Axes, heights: Iterable[float], texts: Iterable[str], head: str = "") -> None:
    """Small letters right of a panel, at the heights of its rows, below what they are."""
    look: dict[str, Any] = {"textcoords": "offset points", "fontsize": SMALL, "color": FAINT}
    for height, letters in zip(heights, texts, strict=True):
        axes.annotate(letters, (1, height), (5, 0), xycoords=("axes fraction", "data"), va="center", **look)
    if head:
        axes.annotate(head, (1, 1), (5, 4), xycoords="axes fraction", **look)
