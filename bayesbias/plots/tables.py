"""Figures of distances and of how words are related."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import NullLocator, PercentFormatter
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from bayesbias._core.related import MIDDLES, STEP, similarity_bins
from bayesbias._core.vectors import FloatArray, IntArray
from bayesbias._phrases import negatives
from bayesbias.distances import Relatedness, relatedness
from bayesbias.distances.distances import Distances
from bayesbias.distances.storage import COSINE, labels_of, stored_coverage
from bayesbias.errors import InputError, many, shown
from bayesbias.plots.style import (
    COLOURS,
    FAINT,
    INK,
    LETTERS,
    Look,
    Picture,
    connection_legend,
    connection_looks,
    mark_line,
    new_figure,
    note,
    note_below,
    one_panel,
    picture,
    style_axes,
    word_labels,
)
from bayesbias.words import STEREOTYPES, controls_of, in_order

MANY = 500  # a row with more points than this is drawn as an image in vector files


@picture()
def plot_distances(table: pd.DataFrame, protected_word: str | None = None, ax: Axes | None = None) -> Figure:
    """Raw distances by connection, every pair a point.

    Parameters
    ----------
    table
        A distance table.
    protected_word
        Show this word only: each stereotype word on a line of its own, the controls as rows of points. None shows all
        protected words together.
    ax
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    Figure
        Each row of points has its median (long mark) and quartiles (bar); the line at 1 is where unrelated words lie.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> bb.plot_distances(table, "algebra").savefig("algebra.png")
    """
    Distances.read(table, check=False)
    if protected_word is None:
        return _all_words(table, ax)
    if not isinstance(protected_word, str):
        raise InputError(f"protected_word is {shown(protected_word)}: give one of the table's protected words")
    rows = table[[str(word) == protected_word for word in table["protected_word"]]]
    if rows.empty:
        known = ", ".join(map(str, table["protected_word"].drop_duplicates().head(20)))
        raise InputError(f"the table holds no protected word {protected_word!r}; it holds {known}")
    return _one_word(rows, protected_word, ax)


def _all_words(table: pd.DataFrame, ax: Axes | None) -> Figure:
    present, labels = in_order(table["connection"]), labels_of(table)
    figure, axes = one_panel(ax, 7.5, 0.85 * len(present) + 1.1)
    for i, (name, look) in enumerate(connection_looks(present, labels).items()):
        _strip(axes, -float(i), table.loc[table["connection"] == name, "distance"].to_numpy(dtype=float), look)
    counts = [f"{labels.get(name, name)}\nn = {(table['connection'] == name).sum():,}" for name in present]
    axes.set_yticks(-np.arange(len(present)), counts)
    axes.set_ylim(-len(present) + 0.5, 0.5)
    _finish(axes, table, f"Raw distances of {many(table['protected_word'].nunique(), 'protected word')}")
    return figure


def _one_word(rows: pd.DataFrame, word: str, ax: Axes | None) -> Figure:
    stereotypes = rows[rows["connection"].isin(STEREOTYPES)].sort_values("distance")
    names, label_of = in_order(rows["connection"]), labels_of(rows)
    controls, looks = controls_of(names), connection_looks(names, label_of)
    figure, axes = one_panel(ax, 7.5, 0.2 * len(stereotypes) + 0.7 * len(controls) + 1.5)
    labels = word_labels(stereotypes["attribute_word"]).tolist()
    ticks = [-float(i) for i in range(len(stereotypes))]
    distances, connections = stereotypes["distance"].to_numpy(dtype=float), stereotypes["connection"].to_numpy()
    for name in dict.fromkeys(connections.tolist()):
        look, places = looks[name], np.flatnonzero(connections == name)
        near = distances[places]
        axes.scatter(near, -places, s=30, marker=look.marker, color=look.colour, edgecolor="white", lw=0.5, zorder=3)
        axes.hlines(-places, 1.0, near, color=look.colour, linewidth=1.0)
    height = -float(len(stereotypes)) - 1.0
    for name in controls:
        distances = rows.loc[rows["connection"] == name, "distance"].to_numpy(dtype=float)
        _strip(axes, height, distances, looks[name], spread=1.1)
        labels.append(f"{label_of.get(name, name)}, n = {(rows['connection'] == name).sum()}")
        ticks.append(height)
        height -= 3.2
    axes.set_yticks(ticks, labels)
    axes.set_ylim(height + 1.2, 1.0)
    _finish(axes, rows, f"Raw distances of {word_labels([word])[0]}")
    connection_legend(figure, looks.values(), ax)
    return figure


def _strip(axes: Axes, height: float, distances: np.ndarray, look: Look, spread: float = 0.3) -> None:
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


def _finish(axes: Axes, table: pd.DataFrame, title: str) -> None:
    record = stored_coverage(table)
    style_axes(axes, f"{COSINE if record is None else record.unit} (smaller is closer)", title)
    mark_line(axes, 1.0)


LABELLED = 150  # words up to which each has its label
SMALLEST, LARGEST = 0.064, 0.26  # sides of a cell with a label, in inches
SIDE, SMALL_SIDE = 7.5, 4.0  # sides of the panels, which cells fill within their limits
TALL, LOW = 0.32, 0.16  # heights of the label of a list, in two lines and in one
IN_TWO_LINES, MOST_LISTS = 20, 56
"""Numbers of lists up to which their labels have two lines, and up to which they have labels."""
GAP, LEADER = 0.06, 0.2  # space beside labels, and length of the lines that lead to them
HEAD, SCALE, APART, MARGIN = 0.3, 0.45, 0.15, 0.12
"""Height of a panel's title and of its scale, space between panels, and around them."""
OPTIMAL = 250  # words of a list up to which the order of the leaves is the best one
LEAST = 0.3  # smallest end of the scale of similarities
COLOUR_MAP = "RdBu_r"
POINTS = 72


class Scale(NamedTuple):
    """What the values of a panel are, the end of their scale, and the usual side of the panel in inches."""

    title: str
    values: str
    most: float
    side: float


class Panel(NamedTuple):
    """Similarities of words in the order of their lists."""

    scale: Scale
    values: FloatArray
    words: Sequence[str]  # their labels; none where there are too many
    lists: Sequence[str]
    sizes: Sequence[int]  # of the lists
    cell: float  # side in inches

    @property
    def side(self) -> float:
        """Length of a side, in inches."""
        return self.cell * len(self.values)

    @property
    def font(self) -> float:
        """Size of the words' labels."""
        return min(7.5, 0.95 * POINTS * self.cell)


@picture()
def plot_relatedness(holder: Relatedness | pd.DataFrame | xr.DataTree) -> Figure:
    """The similarity of attribute words and of protected words, list by list.

    Above is the similarity of attribute words, the cosine of their vectors less the mean of the vocabulary; a word of
    two lists appears in both. Below is the correlation of the bias of protected words beyond what the words of their
    groups share (:meth:`Relatedness.families`). Within a list similar words are next to one another (average linkage).
    Each list is labelled with the number of its words, and their effective number. Words have labels
    where there are at most 150.

    Parameters
    ----------
    holder
        A result of :func:`relatedness`, or a distance table or a fit that carries one.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> bb.plots.plot_relatedness(table).savefig("relatedness.png")
    """
    relatedness = _held_relatedness(holder, "plot_relatedness")
    units = relatedness.units.astype(float)
    similarity = units @ units.T
    apart = np.abs(similarity[np.triu_indices(len(similarity), 1)])
    most = max(LEAST, ceil(10 * float(np.quantile(apart, 0.99))) / 10) if len(apart) else 1.0
    attributes = Scale("Similarity of attribute words", "similarity (centred cosine)", most, SIDE)
    beyond = "Protected words: correlation of their bias beyond what their group shares"
    protected = Scale(beyond, "correlation", 1.0, SMALL_SIDE)
    panels = [
        _panel(relatedness, attributes, similarity, relatedness.attribute_words, False),
        _panel(relatedness, protected, relatedness.families(), relatedness.protected_words, True),
    ]
    return _drawn(panels, f"{relatedness.sentence} Similarity 0 is that of two random words.")


def _panel(
    relatedness: Relatedness, scale: Scale, similarity: FloatArray, known: Sequence[str], protected: bool
) -> Panel:
    """Words put in order, and every list labelled: its words, and their effective number."""
    lists = [
        (name if protected else f"{name} ({kind})", words)
        for name, kind, words in relatedness.lists
        if (kind == "protected") == protected
    ]
    place = {word: i for i, word in enumerate(known)}
    rows = np.concatenate([clustered(similarity, np.array([place[word] for word in words])) for _, words in lists])
    words = word_labels([known[row] for row in rows]).tolist() if len(rows) <= LABELLED else []
    cell = min(max(scale.side / len(rows), SMALLEST if words else 0.0), LARGEST)
    labels: list[str] = []
    if len(lists) <= MOST_LISTS:
        table = relatedness.effective_words()
        effective = table.loc[(table["kind"] == "protected") == protected, "effective"]
        names = word_labels([name for name, _ in lists])
        between = "\n" if len(lists) <= IN_TWO_LINES else ", "
        labels = [
            f"{name}{between}{len(words)} words; effective {worth:.1f}" if len(words) > 1 else f"{name}{between}1 word"
            for name, (_, words), worth in zip(names, lists, effective, strict=True)
        ]
    cell = max(cell, _height(labels) * len(labels) / len(rows))
    return Panel(scale, similarity[np.ix_(rows, rows)], words, labels, [len(words) for _, words in lists], cell)


def clustered(similarity: FloatArray, rows: IntArray) -> IntArray:
    """Rows of a matrix in an order that puts similar ones next to one another (average linkage)."""
    if len(rows) < 3:
        return rows
    apart = np.clip(1 - similarity[np.ix_(rows, rows)], 0, None)
    np.fill_diagonal(apart, 0)
    tree = linkage(squareform(apart, checks=False), "average", optimal_ordering=len(rows) <= OPTIMAL)
    return rows[leaves_list(tree)]


def _height(labels: Sequence[str]) -> float:
    return TALL if len(labels) <= IN_TWO_LINES else LOW


def _drawn(panels: Sequence[Panel], text: str) -> Picture:
    """Panels one below the other, laid out in inches."""
    left = GAP + max(_widest(panel.words, panel.font) for panel in panels)
    right = max(panel.side + LEADER + 2 * GAP + _widest(panel.lists, 8.0) for panel in panels)
    titles = max(_widest([panel.scale.title], 10.0, "bold") for panel in panels)
    width = max(5.5, 2 * MARGIN + left + max(right, titles))
    foot = 0.14 * ceil(1 + len(text) / (LETTERS * width))
    height = sum(HEAD + panel.side + SCALE for panel in panels) + APART * len(panels) + foot + 2 * MARGIN
    figure = new_figure(width, height)
    figure.set_layout_engine("none")
    top = height - MARGIN
    for panel in panels:
        bottom = top - HEAD - panel.side
        axes = figure.add_axes(
            ((MARGIN + left) / width, bottom / height, panel.side / width, panel.side / height), gid=panel.scale.values
        )
        _heat_map(axes, panel)
        _lists(axes, panel)
        bar = figure.add_axes(((MARGIN + left) / width, (bottom - 0.2) / height, 1.5 / width, 0.1 / height))
        most = panel.scale.most
        within = "both" if (np.abs(panel.values) > most + 1e-6).any() else "neither"
        colours = figure.colorbar(axes.images[0], cax=bar, orientation="horizontal", extend=within)
        colours.outline.set_visible(False)
        bar.set_xticks([-most, 0, most], [f"\N{MINUS SIGN}{most:g}", "0", f"{most:g}"])
        bar.tick_params(labelsize=7.5, length=2)
        look: Any = {"xycoords": "axes fraction", "va": "center", "fontsize": 8, "color": None}
        note(bar, panel.scale.values, (1, 0.5), (14, 0), **look)
        top = bottom - SCALE - APART
    note_below(figure, text)
    return figure


def _widest(labels: Sequence[str], size: float, weight: str = "normal") -> float:
    """Width of the widest of some labels, in inches."""
    figure = new_figure(1, 1)
    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    texts = [Text(0, 0, label, fontsize=size, fontweight=weight, figure=figure) for label in labels]
    return max((text.get_window_extent(renderer).width / figure.dpi for text in texts), default=0.0)


def _heat_map(axes: Axes, panel: Panel) -> None:
    """The similarities: data are inches from the upper left corner."""
    side, most = panel.side, panel.scale.most
    axes.imshow(panel.values, COLOUR_MAP, vmin=-most, vmax=most, extent=(0, side, side, 0), interpolation="nearest")
    axes.spines[:].set_color(FAINT)
    axes.set_title(panel.scale.title, loc="left", fontweight="bold")
    axes.set_xticks([])
    axes.set_yticks(panel.cell * (np.arange(len(panel.words)) + 0.5), panel.words)
    axes.tick_params(length=0, pad=POINTS * GAP / 2, labelsize=panel.font)
    width = 0.7 if len(panel.sizes) <= IN_TWO_LINES else 0.3
    for end in panel.cell * np.cumsum(panel.sizes)[:-1]:
        axes.plot([0, side], [end, end], [end, end], [0, side], color=INK, linewidth=width)
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
    from scipy.optimize import isotonic_regression  # loads slowly

    fitted: FloatArray = isotonic_regression(middles - steps).x
    return np.clip(fitted, height / 2, max(height / 2, side - height / 2 - steps[-1])) + steps


MOST = 5  # components that are drawn
FEWEST_SHARE = 0.005  # share of the variance below which a component is not drawn
FEW, TICKS = 20, 150  # pairs below which a list's kind has no histogram, and up to which each pair has a tick
BROAD = 5  # bins of similarity that make one bar of a histogram
DASHES = ("-", (0, (6, 2)), (0, (6, 1.5, 1.5, 1.5)), (0, (3, 1.2)), (0, (9, 2, 2, 2, 2, 2)))
BARS = "#BDBDBD"
KINDS = {"stereotype": "#D55E00", "control": "#009E73"}  # kinds of attribute lists, and the colours of their pairs

BEYOND = "Grey: no two sampled words are that similar, and the curves are extended."


@picture()
def plot_variogram(holder: Relatedness | pd.DataFrame | xr.DataTree) -> Figure:
    """The correlation of two words' distances by the similarity of the words, as estimated from the vectors.

    One line for each of the largest components of the protected words (at most five), thin where no pair of sampled
    words is that similar and the curve is extended to 1. Below are the number of sampled pairs in each bin of
    similarity, and the similarities of two words of one attribute list beside those of random pairs of the vocabulary.

    Parameters
    ----------
    holder
        A result of :func:`relatedness`, or a distance table or a fit that carries one.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> bb.plots.plot_variogram(table).savefig("variogram.png")
    """
    relatedness = _held_relatedness(holder, "plot_variogram")
    within = {kind: values for kind in KINDS if len(values := _similarities_within(relatedness, kind))}
    met: FloatArray = MIDDLES[relatedness.pairs.counts > 0].astype(float)
    least = min([met[0], *(values.min() for values in within.values())])
    figure = new_figure(7.0, 6.4)
    curves, sampled, lists = figure.subplots(3, 1, sharex=True, height_ratios=(3.4, 1, 1.1))
    _curves(curves, relatedness, met)
    counts = relatedness.pairs.counts
    sampled.bar(MIDDLES, counts, STEP, color=BARS, linewidth=0)
    sampled.set_yscale("log")
    sampled.set_ylim(0.7, 3 * max(int(counts.max()), 10))
    sampled.yaxis.set_minor_locator(NullLocator())
    style_axes(sampled)
    sampled.set_ylabel("sampled\npairs")
    _spread(lists, counts, within)
    lists.set_xlim(max(-1.0, least - 0.03), 1.01)
    lists.set_xlabel("similarity of two words (cosine of their vectors less the vocabulary's mean)")
    note_below(figure, relatedness.sentence, BEYOND, *_sentences(relatedness, within))
    return figure


def _held_relatedness(holder: object, plot: str) -> Relatedness:
    """Relatedness as given, or of a table or a fit."""
    if isinstance(holder, Relatedness):
        return holder
    if isinstance(holder, pd.DataFrame | xr.DataTree):
        return relatedness(holder)
    raise InputError(
        f"given is {type(holder).__name__}: {plot} takes what relatedness returns, or a distance table or a fit that "
        "carries it"
    )


def _similarities_within(relatedness: Relatedness, kind: str) -> FloatArray:
    """Similarities of all pairs of different words of one list, one list of a kind after the other."""
    parts = [np.empty(0)]
    for _, listed, words in relatedness.lists:
        if listed == kind:
            units = relatedness.units_of(words)
            parts.append((units @ units.T)[np.triu_indices(len(units), 1)].astype(float))
    return np.concatenate(parts)


def _curves(axes: Axes, relatedness: Relatedness, met: FloatArray) -> None:
    table = relatedness.variogram()
    table = table[(table["component"] < MOST) & ((table["share"] >= FEWEST_SHARE) | (table["component"] == 0))]
    for i, (_, rows) in enumerate(table.groupby("component")):
        x, y = rows["similarity"].to_numpy(), rows["correlation"].to_numpy()
        colour, width = COLOURS[i], 1.9 if i == 0 else 1.3
        label = f"component {i + 1}: {rows['share'].iloc[0]:.0%} of the variance"
        known = (x >= met[0]) & (x <= met[-1])
        axes.plot(x[known], y[known], color=colour, linewidth=width, linestyle=DASHES[i], label=label, zorder=4)
        for beyond in (x <= met[0], np.append(x >= met[-1], True)):
            ends = np.append(x, 1.0)[: len(beyond)][beyond], np.append(y, 1.0)[: len(beyond)][beyond]
            axes.plot(*ends, color=colour, linewidth=0.7, zorder=3)
    axes.plot([-1, 1], [-1, 1], color=FAINT, linewidth=0.9, linestyle=":", label="correlation = similarity", zorder=2)
    for begin, end in ((-1.0, met[0] - STEP / 2), (met[-1] + STEP / 2, 1.0)):
        axes.axvspan(begin, end, color="#F0F0F0", linewidth=0, zorder=0)
    axes.axhline(0, color="#BBBBBB", linewidth=0.8, zorder=1)
    style_axes(axes, "", "Correlation of two words' distances, by the similarity of the words")
    axes.grid(axis="y", color="#E3E3E3", linewidth=0.6)
    axes.set_ylabel("correlation of distances\nto the protected words")
    axes.set_ylim(max(-1.04, min(float(table["correlation"].min()), -0.4) - 0.1), 1.04)
    axes.legend(loc="lower right", framealpha=0.9, edgecolor="none", fontsize=8)


def _spread(axes: Axes, counts: IntArray, within: Mapping[str, FloatArray]) -> None:
    """Shares of pairs by similarity, in broad bins; few pairs as ticks."""
    edges = np.linspace(-1, 1, len(counts) // BROAD + 1)
    random = counts.reshape(-1, BROAD).sum(axis=1) / counts.sum()
    highest = float(random.max())
    axes.stairs(random, edges, fill=True, color=BARS, label="random pairs")
    for i, (kind, values) in enumerate(within.items()):
        label = f"within {kind} lists ({len(values):,} pair{'s' if len(values) > 1 else ''})"
        look: dict[str, Any] = {"color": KINDS[kind], "linewidth": 1.4, "label": label}
        if len(values) >= FEW:
            shares = np.histogram(values, edges)[0] / len(values)
            highest = max(highest, float(shares.max()))
            axes.stairs(shares, edges, linestyle=DASHES[i], **look)
        else:
            axes.plot([], [], **look)
        if len(values) <= TICKS:
            heights = np.full(len(values), 0.9 - 0.13 * i)
            ends = axes.get_xaxis_transform()
            axes.vlines(values, heights, heights + 0.1, color=KINDS[kind], linewidth=0.9, transform=ends)
    style_axes(axes, "")
    axes.set_ylabel("share of\nthe pairs")
    axes.set_ylim(0, 1.3 * highest)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (-0.01, 1.0), "borderpad": 0, "columnspacing": 1.5}
    axes.legend(ncols=3, frameon=False, fontsize=8, **place)


def _sentences(relatedness: Relatedness, within: Mapping[str, FloatArray]) -> Iterator[str]:
    parts = relatedness.components
    typical = parts.variances @ parts.correlations / parts.variances.sum()
    for kind, values in within.items():
        text = (
            f"Within a {kind} list two words have a similarity of {values.mean():.2f} on average, and the correlation "
            f"of their distances is {typical[similarity_bins(values)].mean():.2f} on average (all components)."
        )
        yield negatives(text)
