"""The style of all figures, and pieces that several share."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from inspect import signature
from itertools import pairwise, product, zip_longest
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
from matplotlib.patheffects import withStroke
from matplotlib.ticker import AutoLocator
from numpy.typing import NDArray

from bayesbias._support.arguments import several, text
from bayesbias._support.figures import is_listed
from bayesbias.distances.dataframe import DistanceTable, limits_of
from bayesbias.errors import InputError
from bayesbias.models.tree import Fit
from bayesbias.numerics.arrays import FloatArray
from bayesbias.numerics.mixtures import Empirical
from bayesbias.posteriors import Estimates
from bayesbias.results import Note
from bayesbias.vectors.lookup import lost_lines
from bayesbias.words import controls_of

INK, FAINT = "#222222", "#767676"
INNER_PROB = 0.5
LONGEST = 34
FAMILIES = ("DejaVu Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "PingFang SC", "Hiragino Sans", "Microsoft YaHei")
"""Fonts in the order in which a letter is looked for; those that are not installed are passed over."""

FONT: dict[Any, Any] = {
    "font.family": [name for name in FAMILIES if name in set(get_font_names())],
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.labelsize": 9.0,
    "text.parse_math": False,  # a word may hold a dollar sign: it is text, never a formula
}


class Look(NamedTuple):
    """Colour (Okabe and Ito) and marker of a connection: either tells the connections apart."""

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

        display(Image(self._repr_png_()))  # type: ignore[no-untyped-call]
        if (plt := sys.modules.get("matplotlib.pyplot")) is not None:
            plt.close(self)

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=110)
        return buffer.getvalue()


def write_png(figure: Figure, target: Any, dpi: float) -> None:
    """Write a figure as PNG to a path or file: what ``savefig`` writes, which draws twice where a layout is sought."""
    before = figure.dpi
    figure.dpi = dpi
    FigureCanvasAgg(figure).print_png(target)  # type: ignore[no-untyped-call]
    figure.dpi = before


MARKERS = "osD^vP*X"
COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#4D4D4D", "#000000")
"""Of series that are told apart."""


BETWEEN = 6 * " "  # the poles of an axis
ONE_PANEL: list[str] = []
"""Names of the functions that take axes."""


def picture[**P](
    kinds: type | tuple[type, ...] = object, makers: str = ""
) -> Callable[[Callable[P, Figure | Axes]], Callable[P, Any]]:
    """Draw with the font of all figures, and refuse a first argument that ``makers`` do not return.

    The options ``title`` and ``ax`` are seen to here: a function draws its usual title, and returns its figure.
    """

    def styled(plot: Callable[P, Figure | Axes]) -> Callable[P, Any]:
        options = signature(plot).parameters
        if "ax" in options:
            ONE_PANEL.append(plot.__name__)

        @wraps(plot)
        def draw(*args: P.args, **kwargs: P.kwargs) -> Any:
            if "ax" in kwargs and "ax" not in options:
                takers = ", ".join(sorted(ONE_PANEL))
                raise InputError(f"{plot.__name__} draws several panels and takes no ax: leave it out; {takers} do")
            given = signature(plot).bind(*args, **kwargs).arguments
            check_kind(next(iter(given.values())), kinds, plot.__name__, makers)
            ax, title = (given.get(name) for name in ("ax", "title"))
            if title is not None:
                text(title, "title")
            if not isinstance(ax, Axes | None):
                raise InputError(f"ax is {type(ax).__name__}: give the Axes of a matplotlib figure, or None")
            with mpl.rc_context(FONT):
                if ax is None:
                    figure = cast(Figure, plot(*args, **kwargs))
                    if lost := _lost_by(next(iter(given.values()))):
                        note_below(figure, figure.get_supxlabel().replace("\n", " "), *lost)
                    if title is not None:
                        _entitle(figure, title)
                    return figure
                own = ax.get_title(loc="left")
                plot(*args, **kwargs)
                _title_panel(ax, own if title is None else title)
                _narrow_label(ax)
                _small_ticks(ax)
                return ax

        return draw

    return styled


def _lost_by(drawn: object) -> list[Note]:
    """Notes on lost words that the notes of what is drawn have: a fit, a table, a result, or several of these."""
    if isinstance(drawn, Mapping | list | tuple) and not isinstance(drawn, xr.DataTree):
        parts = drawn.values() if isinstance(drawn, Mapping) else drawn
        return list(dict.fromkeys(line for part in parts for line in _lost_by(part)))
    if isinstance(drawn, DistanceTable):
        return lost_lines(() if drawn.coverage is None else limits_of([drawn.coverage]))
    if isinstance(drawn, xr.DataTree):
        drawn = Fit(drawn)
    notes = drawn.attrs.get("notes", ()) if isinstance(drawn, pd.DataFrame) else getattr(drawn, "notes", ())
    return lost_lines(note for note in notes if isinstance(note, Note))


ABOVE = "above "  # name of a legend between a panel and its title, before its number of rows


def _entitle(figure: Any, title: str) -> None:
    """A title in place of that of the panel, or above several panels."""
    panels = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
    if len(panels) == 1:
        _title_panel(panels[0], title)
    elif title and figure.legends:  # both would stand in the same place
        figure.legends[0].set_title(title, prop={"weight": "bold", "size": 10})
    elif title:
        figure.suptitle(title, x=0.02, ha="left", fontweight="bold", fontsize=10)


def _title_panel(axes: Axes, title: str) -> None:
    """A title whose lines are broken to the width of the panel, in smaller letters on a narrow one."""
    width = axes.bbox.width / axes.figure.dpi
    size = NARROW_TITLE if width < NARROW else FONT["axes.titlesize"]
    letters = max(12, int(TITLE_LETTERS * width / size))
    lines = [line if len(line) <= letters else fill(line, letters) for line in title.split("\n")]
    legend, pad = axes.get_legend(), mpl.rcParams["axes.titlepad"]
    name = "" if legend is None else legend.get_gid() or ""
    if name.startswith(ABOVE):
        pad += 1.4 * NARROW_TITLE * int(name.removeprefix(ABOVE))
    axes.set_title("\n".join(lines), loc="left", fontweight="bold", fontsize=size, pad=pad)


def _small_ticks(axes: Axes) -> None:
    """Smaller labels along the sides of a narrow panel, and so few below it that they stand apart."""
    axes.figure.figure.draw_without_rendering()  # the width of the panel is known from here on
    if axes.bbox.width / axes.figure.dpi >= NARROW:
        return
    axes.tick_params(labelsize=NARROW_TITLE - 0.5)
    if not isinstance(locator := axes.xaxis.get_major_locator(), AutoLocator):
        return
    for most in (3, 2, 1):
        locator.set_params(nbins=most)
        axes.figure.figure.draw_without_rendering()
        boxes = [label.get_window_extent().padded(APART) for label in axes.get_xticklabels() if label.get_text()]
        if not any(left.overlaps(right) for left, right in pairwise(boxes)):
            return


def _narrow_label(axes: Axes) -> None:
    """Break the label of the horizontal axis to the width of the panel; a line with arrows between its poles only."""
    letters = max(12, int(9 * axes.bbox.width / axes.figure.dpi))  # of an inch, since labels of rows take their part
    lines = [
        line if len(line) <= letters else line.replace(BETWEEN, "\n") if "←" in line else fill(line, letters)
        for line in axes.get_xlabel().split("\n")
    ]
    axes.set_xlabel("\n".join(lines))


def new_figure(width: float, height: float) -> NotebookFigure:
    """An empty figure of so many inches, laid out by matplotlib's constrained layout; pyplot knows those of readers."""
    if is_listed():
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


def place_legend(figure: Figure, ax: Axes | None, loc: str, **how: Any) -> None:
    """A legend outside the panel of a new figure, or above axes that were given, where it covers nothing."""
    if ax is None:
        figure.legend(loc=f"outside {loc}", frameon=False, **how)  # type: ignore[call-overload]
        return
    columns = max(1, int(how.get("ncols", 1) * ax.bbox.width / figure.bbox.width))
    how |= {"ncols": columns, "fontsize": NARROW_TITLE, "columnspacing": 1.0, "labelspacing": 0.1}
    above = ax.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0, frameon=False, **how)
    above.set_gid(f"{ABOVE}{-(-len(above.get_texts()) // columns)}")


def style_axes(axes: Axes, xlabel: str = "", title: str = "") -> None:
    """Quiet axes: no box, a faint vertical grid."""
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.grid(axis="x", color="#E3E3E3", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0, left=False)
    axes.set_xlabel(xlabel)
    axes.set_title(title, loc="left", fontweight="bold")


def show_sign(axes: Axes, what: str, nearer: str, vertical: bool = False) -> None:
    """Label an axis of contrasts, and say which side is closer: a contrast below 0 is."""
    label = axes.set_ylabel if vertical else axes.set_xlabel
    label(f"{what}\n← {nearer}")  # an upright label is turned, and its arrow points down


def show_poles(axes: Axes, negative: str, positive: str) -> None:
    """The poles below the label of an axis, with arrows towards them."""
    low, high = word_labels([negative, positive])
    axes.set_xlabel(f"{axes.get_xlabel()}\n← {low}{BETWEEN}{high} →")


def mark_line(axes: Axes, value: float, level: bool = False) -> None:
    """A dashed line, upright or level, at a value that others are read against."""
    line = axes.axhline if level else axes.axvline
    line(value, color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)


def draw_row(
    axes: Axes,
    heights: Any,
    values: Any,
    ends: tuple[Any, Any],
    look: Look,
    size: float = 26,
    inner: tuple[Any, Any] | None = None,
) -> None:
    """Points with their intervals, one at each of ``heights``; those of ``inner`` are thick."""
    if inner is not None:
        axes.hlines(heights, *inner, color=look.colour, linewidth=3.0, zorder=2)
    axes.hlines(heights, *ends, color=look.colour, linewidth=1.1, zorder=2)
    axes.scatter(values, heights, s=size, marker=look.marker, color=look.colour, edgecolor="white", lw=0.6, zorder=3)


def label_rows(
    axes: Axes,
    labels: Sequence[str],
    xlabel: str = "",
    title: str = "",
    mark: float | Sequence[float] | None = None,
) -> None:
    """Finish a panel of labelled rows, the first on top, with dashed lines at ``mark``."""
    style_axes(axes, xlabel, title)
    for value in () if mark is None else several(mark):
        mark_line(axes, value)
    axes.set_yticks(-np.arange(len(labels)), labels)
    axes.set_ylim(-len(labels) + 0.4, 0.6)


def part_rows(axes: Axes, rows: int) -> None:
    """Faint lines between rows of several bars."""
    for line in range(1, rows):
        axes.axhline(0.5 - line, color="#EEEEEE", linewidth=0.6, zorder=0)


def word_labels(words: Iterable[str], groups: Iterable[str] = ()) -> NDArray[np.object_]:
    """Words with their groups where there are several, long ones cut in the middle."""
    words, groups = list(words), list(groups)
    several = len(set(groups)) > 1
    pairs = zip_longest(words, groups, fillvalue="")
    names = [f"{word} ({group})" if several and group else str(word) for word, group in pairs]
    cut = [name if len(name) <= LONGEST else f"{name[: LONGEST // 2]}…{name[-LONGEST // 2 + 1 :]}" for name in names]
    return np.array(cut, dtype=object)


def posterior_table(posterior: Estimates | Empirical, prob: float) -> pd.DataFrame:
    """Posterior means with the ends of 50% and ``prob`` equal-tailed intervals: what a forest draws."""
    masses = {"": prob, "inner_": INNER_PROB}
    ends = {
        f"{kind}{side}": posterior.quantile((1 + sign * mass) / 2)
        for kind, mass in masses.items()
        for side, sign in (("low", -1), ("high", 1))
    }
    return pd.DataFrame({"mean": posterior.mean, **ends})


def handles_of(looks: Iterable[Look], **how: Any) -> list[Any]:
    """Lines of a legend, one for each look."""
    return [Line2D([], [], color=look.colour, marker=look.marker, label=look.label, **how) for look in looks]


def connection_legend(figure: Figure, looks: Iterable[Look], ax: Axes | None = None) -> None:
    """One legend above the panels, or above axes that were given, with the marker and colour of each connection."""
    handles = handles_of(looks, linewidth=2)
    columns = len(handles) if ax is not None or figure.get_figwidth() > 7.9 else 2
    place_legend(figure, ax, "upper center", handles=handles, ncols=columns)


def spread_rows(rows: int, inside: int, place: int) -> FloatArray:
    """Heights of the ``place``-th of ``inside`` bars in each of ``rows`` rows, the first row on top."""
    step = 0.8 / inside
    return -np.arange(rows, dtype=float) + 0.4 - step * (place + 0.5)


BAND = "#DCE9F3"  # colour of intervals behind rows and points
LETTERS = 17  # letters of a note on an inch
TITLE_LETTERS = 95  # of a title of 1 point on an inch
APART = 3.0  # dots around a label within which no other stands
NARROW, NARROW_TITLE = 2.5, 8.0  # inches of a panel below which its title has so many points


def looks_of(names: Iterable[str]) -> dict[str, Look]:
    """Name to colour and marker; beyond eight names colours come again with other markers."""
    size = len(COLOURS)
    return {
        name: Look(COLOURS[i % size], MARKERS[(i + i // size) % size], name)
        for i, name in enumerate(dict.fromkeys(map(str, names)))
    }


def note_below(figure: Figure, *sentences: str, ax: Axes | None = None) -> None:
    """Sentences in small letters below the panels of a new figure, as wide as it is."""
    text = "; ".join(sentence.removesuffix(".") for sentence in sentences if sentence)
    if text and ax is None:
        text = fill(text, int(LETTERS * figure.get_figwidth()))
        figure.supxlabel(text, x=0.02, ha="left", fontsize=7.5, color=FAINT)


def note(axes: Axes, text: str, place: tuple[float, float], offset: tuple[float, float], **how: Any) -> None:
    """Small letters, so many points across and up from a place."""
    look: dict[str, Any] = {"fontsize": 7.5, "color": FAINT} | how
    axes.annotate(text, place, offset, textcoords="offset points", **look)


def name_points(
    axes: Axes, names: Sequence[str], x: Any, y: FloatArray, order: Any, most: int, texts: Iterable[Any], beside: bool
) -> None:
    """Name up to ``most`` points in their order, where a name covers no other text nor, ``beside`` points, a point."""
    axes.figure.figure.draw_without_rendering()  # places on the figure are known from here on
    panel = axes.get_window_extent()
    boxes: list[Any] = [text.get_window_extent() for text in texts]
    points = axes.transData.transform(np.column_stack([x, y]))
    count = 0
    for row in order:
        if count == most:
            break
        how: dict[str, Any] = {"textcoords": "offset points", "fontsize": 7.5, "parse_math": False}
        named = axes.annotate(str(names[row]), (x[row], y[row]), (0, 0), **how)
        named.set_path_effects([withStroke(linewidth=1.8, foreground="white")])
        for up, side in product((3, -9), ("left", "right")):
            named.set(position=(4 if side == "left" else -4, up), ha=side)
            box = named.get_window_extent().padded(1.5)
            inside = panel.x0 <= box.x0 and box.x1 <= panel.x1 and panel.y0 <= box.y0 and box.y1 <= panel.y1
            hidden = beside and box.count_contains(np.delete(points, row, axis=0)) > 0
            if inside and not hidden and not box.count_overlaps(boxes):
                boxes.append(box)
                count += 1
                break
        else:
            named.remove()


def notes_beside(axes: Axes, heights: Iterable[float], texts: Iterable[str], size: float = 7.5) -> None:
    """Small letters right of a panel, at the heights of its rows."""
    for height, letters in zip(heights, texts, strict=True):
        note(axes, letters, (1.0, height), (5, 0), xycoords=("axes fraction", "data"), va="center", fontsize=size)


def head_beside(axes: Axes, head: str = "P(closer)") -> None:
    """Name the probabilities that stand right of a panel."""
    note(axes, head, (1.0, 1.0), (5, 4), xycoords="axes fraction")


def check_kind(result: object, kinds: type | tuple[type, ...], plot: str, makers: str) -> None:
    """Refuse what is not a result of ``makers``."""
    if not isinstance(result, kinds):
        raise InputError(f"given is {type(result).__name__}: {plot} takes what {makers} returns")
