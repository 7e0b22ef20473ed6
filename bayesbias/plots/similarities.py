"""Who is like whom: the similarity of attribute words and of protected words, list by list."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.optimize import isotonic_regression
from scipy.spatial.distance import squareform

from bayesbias._core.cosine import FloatArray
from bayesbias._core.variogram import IntArray
from bayesbias.distances import Relatedness
from bayesbias.plots.pieces import LETTERS, note_below
from bayesbias.plots.style import FAINT, FONT, INK, Picture, new_figure, word_labels
from bayesbias.plots.variogram import held_relatedness

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABELLED = 150
"""Words up to which each has its label."""
SMALLEST, LARGEST = 0.064, 0.26
"""Sides of a cell with a label, in inches."""
SIDE, SMALL_SIDE = 7.5, 4.0
"""Sides of the panels, which cells fill within their limits."""
TALL, LOW = 0.32, 0.16
"""Heights of the label of a list, in two lines and in one."""
IN_TWO_LINES, MOST_LISTS = 20, 56
"""Numbers of lists up to which their labels have two lines, and up to which they have labels."""
GAP, LEADER = 0.06, 0.2
"""Space beside labels, and length of the lines that lead to them."""
HEAD, SCALE, APART, MARGIN = 0.3, 0.45, 0.15, 0.12
"""Height of a panel's title and of its scale, space between panels, and around them."""
OPTIMAL = 250
"""Words of a list up to which the order of the leaves is the best one."""
LEAST = 0.3
"""Smallest end of the scale of similarities."""
COLOURS = "RdBu_r"
POINTS = 72


class Panel(NamedTuple):
    """Similarities of words in the order of their lists, with the labels of words and lists (empty: none)."""

    title: str
    scale: str
    values: FloatArray
    most: float
    words: Sequence[str]
    lists: Sequence[str]
    sizes: Sequence[int]
    cell: float

    @property
    def side(self) -> float:
        """Length of a side, in inches."""
        return self.cell * len(self.values)

    @property
    def font(self) -> float:
        """Size of the words' labels."""
        return min(7.5, 0.95 * POINTS * self.cell)


def plot_relatedness(holder: Relatedness | pd.DataFrame | xr.DataTree) -> Figure:
    """The similarity of attribute words and of protected words, list by list.

    Above is the similarity of attribute words, the cosine of their vectors less the mean of the vocabulary; a word of
    two lists appears in both. Below is the correlation of the bias of protected words beyond what the words of their
    groups share (:meth:`Relatedness.families`). Within a list alike words are next to one another (average linkage).
    Each list is labelled with the number of its words, and how many unrelated words these are worth. Words have labels
    where there are at most 150.

    Parameters
    ----------
    holder
        A result of :func:`relatedness`, or a distance table or a fit that carries one.

    Raises
    ------
    InputError
        Something else was given, or a table or a fit without relatedness.
    """
    found = held_relatedness(holder, "plot_relatedness")
    with mpl.rc_context(FONT):
        return _drawn(
            [_attributes(found), _protected(found)], f"{found.sentence} Similarity 0 is that of two random words."
        )


def _attributes(found: Relatedness) -> Panel:
    units = found.units.astype(float)
    similarity = units @ units.T
    lists = [(f"{name} ({kind})", words) for name, kind, words in found.lists if kind != "protected"]
    apart = np.abs(similarity[np.triu_indices(len(similarity), 1)])
    most = max(LEAST, ceil(10 * float(np.quantile(apart, 0.99))) / 10) if len(apart) else 1.0
    title, scale = "Similarity of attribute words", "similarity (centred cosine)"
    return _panel(found, (title, scale, most, SIDE), similarity, found.attribute_words, lists)


def _protected(found: Relatedness) -> Panel:
    lists = [(name, words) for name, kind, words in found.lists if kind == "protected"]
    title = "Protected words: correlation of their bias beyond what their group shares"
    return _panel(found, (title, "correlation", 1.0, SMALL_SIDE), found.families(), found.protected_words, lists)


def _panel(
    found: Relatedness,
    about: tuple[str, str, float, float],
    similarity: FloatArray,
    known: Sequence[str],
    lists: Sequence[tuple[str, tuple[str, ...]]],
) -> Panel:
    """Words put in order, and everything labelled; ``about`` is title, scale, its end, and the usual side."""
    title, scale, most, usual = about
    place = {word: at for at, word in enumerate(known)}
    rows = np.concatenate([clustered(similarity, np.array([place[word] for word in words])) for _, words in lists])
    words = word_labels([known[row] for row in rows], [""] * len(rows)).tolist() if len(rows) <= LABELLED else []
    cell = min(max(usual / len(rows), SMALLEST if words else 0.0), LARGEST)
    names = _list_labels(found, lists, protected=known is found.protected_words) if len(lists) <= MOST_LISTS else []
    cell = max(cell, _height(names) * len(names) / len(rows))
    return Panel(title, scale, similarity[np.ix_(rows, rows)], most, words, names, [len(w) for _, w in lists], cell)


def clustered(similarity: FloatArray, rows: IntArray) -> IntArray:
    """Rows of a matrix in an order that puts similar ones next to one another (average linkage)."""
    if len(rows) < 3:
        return rows
    apart = np.clip(1 - similarity[np.ix_(rows, rows)], 0, None)
    np.fill_diagonal(apart, 0)
    tree = linkage(squareform(apart, checks=False), "average", optimal_ordering=len(rows) <= OPTIMAL)
    ordered: IntArray = rows[leaves_list(tree)]
    return ordered


def _list_labels(found: Relatedness, lists: Sequence[tuple[str, tuple[str, ...]]], protected: bool) -> list[str]:
    """Name of each list, number of its words, and of unrelated words that they are worth."""
    table = found.effective_words()
    effective = table.loc[(table["kind"] == "protected") == protected, "effective"]
    names = word_labels([name for name, _ in lists], [""] * len(lists))
    between = "\n" if len(lists) <= IN_TWO_LINES else ", "
    return [
        f"{name}{between}{len(words)} words, worth {worth:.1f}" if len(words) > 1 else f"{name}{between}1 word"
        for name, (_, words), worth in zip(names, lists, effective, strict=True)
    ]


def _height(labels: Sequence[str]) -> float:
    return TALL if len(labels) <= IN_TWO_LINES else LOW


def _drawn(panels: Sequence[Panel], note: str) -> Picture:
    """Panels one below the other, laid out in inches."""
    left = GAP + max(_widest(panel.words, panel.font) for panel in panels)
    right = max(panel.side + LEADER + 2 * GAP + _widest(panel.lists, 8.0) for panel in panels)
    titles = max(_widest([panel.title], 10.0, "bold") for panel in panels)
    width = max(5.5, 2 * MARGIN + left + max(right, titles))
    foot = 0.14 * ceil(1 + len(note) / (LETTERS * width))
    height = sum(HEAD + panel.side + SCALE for panel in panels) + APART * len(panels) + foot + 2 * MARGIN
    figure = new_figure(width, height)
    figure.set_layout_engine("none")
    top = height - MARGIN
    for panel in panels:
        bottom = top - HEAD - panel.side
        axes = figure.add_axes(
            ((MARGIN + left) / width, bottom / height, panel.side / width, panel.side / height), gid=panel.scale
        )
        _heat_map(axes, panel)
        _lists(axes, panel)
        bar = figure.add_axes(((MARGIN + left) / width, (bottom - 0.2) / height, 1.5 / width, 0.1 / height))
        _scale(figure, bar, axes, panel)
        top = bottom - SCALE - APART
    note_below(figure, note)
    return figure


def _widest(labels: Sequence[str], size: float, weight: str = "normal") -> float:
    """Width of the widest of some labels, in inches."""
    figure = new_figure(1, 1)
    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    texts = [Text(0, 0, label, fontsize=size, fontweight=weight, figure=figure) for label in labels]
    return max((text.get_window_extent(renderer).width / figure.dpi for text in texts), default=0.0)


def _heat_map(axes: Axes, panel: Panel) -> None:
    """The similarities: data are inches from the upper left corner."""
    side = panel.side
    axes.imshow(
        panel.values,
        cmap=COLOURS,
        vmin=-panel.most,
        vmax=panel.most,
        extent=(0, side, side, 0),
        interpolation="nearest",
    )
    axes.spines[:].set_color(FAINT)
    axes.set_title(panel.title, loc="left", fontweight="bold")
    axes.set_xticks([])
    axes.set_yticks(panel.cell * (np.arange(len(panel.words)) + 0.5), panel.words)
    axes.tick_params(length=0, pad=POINTS * GAP / 2, labelsize=panel.font)
    for end in panel.cell * np.cumsum(panel.sizes)[:-1]:
        axes.plot(
            [0, side],
            [end, end],
            [end, end],
            [0, side],
            color=INK,
            linewidth=0.7 if len(panel.sizes) <= IN_TWO_LINES else 0.3,
        )
    axes.set(xlim=(0, side), ylim=(side, 0))


def _lists(axes: Axes, panel: Panel) -> None:
    """Right of the map each list with a bracket and its label."""
    ends = panel.cell * np.cumsum(panel.sizes)
    begins = ends - panel.cell * np.array(panel.sizes)
    look: dict[str, Any] = {"color": FAINT, "linewidth": 0.9, "clip_on": False}
    for begin, end in zip(begins, ends, strict=True):
        inset = min(0.02, 0.2 * (end - begin))
        axes.plot([panel.side + GAP] * 2, [begin + inset, end - inset], **look)
    if panel.lists:
        middles = (begins + ends) / 2
        heights = spread(middles, _height(panel.lists), panel.side)
        for label, middle, height in zip(panel.lists, middles, heights, strict=True):
            axes.plot([panel.side + GAP, panel.side + LEADER], [middle, height], **look)
            axes.text(panel.side + LEADER + GAP, height, label, fontsize=8, va="center", linespacing=1.1)


def spread(middles: FloatArray, height: float, side: float) -> FloatArray:
    """Places of labels of a height, as near to the given ones as they can be without overlap, within a side."""
    steps = height * np.arange(len(middles))
    fitted: FloatArray = isotonic_regression(middles - steps).x
    return np.clip(fitted, height / 2, max(height / 2, side - height / 2 - steps[-1])) + steps


def _scale(figure: Picture, bar: Axes, axes: Axes, panel: Panel) -> None:
    """The colours and their numbers below a map."""
    within = "both" if (np.abs(panel.values) > panel.most + 1e-6).any() else "neither"
    scale = figure.colorbar(axes.images[0], cax=bar, orientation="horizontal", extend=within)
    scale.outline.set_visible(False)
    bar.set_xticks([-panel.most, 0, panel.most], [f"\N{MINUS SIGN}{panel.most:g}", "0", f"{panel.most:g}"])
    bar.tick_params(labelsize=7.5, length=2)
    look: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
    bar.annotate(panel.scale, (1, 0.5), (14, 0), va="center", fontsize=8, **look)
