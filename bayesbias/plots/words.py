"""Figures of words: how they are related, between two poles, and whole vocabularies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from bayesbias._support.arguments import probability, whole_number
from bayesbias._support.numbers import difference, percent
from bayesbias.axes import Audit, Axis
from bayesbias.checks.summaries import PROB
from bayesbias.distances import Relatedness, relatedness
from bayesbias.documents.regression import CovariateContrast
from bayesbias.errors import InputError, listed
from bayesbias.numerics.arrays import FloatArray, IntArray
from bayesbias.plots.general import draw_forest
from bayesbias.plots.style import (
    BAND,
    BETWEEN,
    COLOURS,
    FAINT,
    INK,
    LETTERS,
    Look,
    NotebookFigure,
    label_rows,
    mark_line,
    name_points,
    new_figure,
    note,
    note_below,
    one_panel,
    picture,
    show_poles,
    style_axes,
    word_labels,
)
from bayesbias.words import words_given

LABELLED = 150  # words up to which each has its label
IN_TWO_LINES, MOST_LISTS = 20, 56  # lists up to which their labels have two lines, and up to which they have labels
# in inches: beside labels, lines that lead to them, title and scale of a panel, between panels, around them
GAP, LEADER, HEAD, SCALE, APART, MARGIN = 0.06, 0.2, 0.3, 0.45, 0.15, 0.12
POINTS = 72


class _Panel(NamedTuple):
    """Similarities of words in the order of their lists."""

    title: str
    measure: str  # what the values are
    most: float  # the end of their scale
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
def plot_relatedness(holder: Relatedness | pd.DataFrame | xr.DataTree, title: str | None = None) -> Figure:
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
    title
        Title above the panels, which keep theirs; by default none.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> bb.plots.plot_relatedness(table).savefig("relatedness.png")
    """
    relatedness = _held_relatedness(holder)
    panels = [_panel(relatedness, protected) for protected in (False, True)]
    return _drawn(panels, f"{relatedness.drawn}; similarity 0: two random words", 1.2 * HEAD * bool(title))


def _panel(relatedness: Relatedness, protected: bool) -> _Panel:
    """Words put in order, and every list labelled: its words, and their effective number."""
    if protected:
        title, measure = "Protected words: correlation of their bias beyond what their group shares", "correlation"
        known, similarity, most, usual = relatedness.protected_words, relatedness.families(), 1.0, 4.0
    else:
        title, measure, usual = "Similarity of attribute words", "similarity (centred cosine)", 7.5
        units = relatedness.units.astype(float)
        known, similarity = relatedness.attribute_words, units @ units.T
        apart = np.abs(similarity[np.triu_indices(len(similarity), 1)])
        most = max(0.3, ceil(10 * float(np.quantile(apart, 0.99))) / 10) if len(apart) else 1.0
    lists = [
        (name if protected else f"{name} ({kind})", words)
        for name, kind, words in relatedness.lists
        if (kind == "protected") == protected
    ]
    place = {word: i for i, word in enumerate(known)}
    rows = np.concatenate([_clustered(similarity, np.array([place[word] for word in words])) for _, words in lists])
    words = word_labels([known[row] for row in rows]).tolist() if len(rows) <= LABELLED else []
    labels: list[str] = []
    if len(lists) <= MOST_LISTS:
        table = relatedness.effective_words()
        effective = table.loc[(table["kind"] == "protected") == protected, "effective"]
        between = "\n" if len(lists) <= IN_TWO_LINES else ", "
        labels = [
            f"{name}{between}{len(words)} words; effective {worth:.1f}" if len(words) > 1 else f"{name}{between}1 word"
            for name, (_, words), worth in zip(word_labels([name for name, _ in lists]), lists, effective, strict=True)
        ]
    # cells fill a panel of the usual side, large enough for labels of words and of lists
    cell = min(max(usual / len(rows), 0.064 if words else 0.0), 0.26)
    cell = max(cell, _height(labels) * len(labels) / len(rows))
    sizes = [len(words) for _, words in lists]
    return _Panel(title, measure, most, similarity[np.ix_(rows, rows)], words, labels, sizes, cell)


def _clustered(similarity: FloatArray, rows: IntArray) -> IntArray:
    """Rows of a matrix in an order that puts similar ones next to one another (average linkage)."""
    if len(rows) < 3:
        return rows
    apart = np.clip(1 - similarity[np.ix_(rows, rows)], 0, None)
    np.fill_diagonal(apart, 0)
    # of long lists the best order of the leaves takes too long
    return rows[leaves_list(linkage(squareform(apart, checks=False), "average", optimal_ordering=len(rows) <= 250))]


def _height(labels: Sequence[str]) -> float:
    """Height of the label of a list in inches, in two lines or one."""
    return 0.32 if len(labels) <= IN_TWO_LINES else 0.16


def _drawn(panels: Sequence[_Panel], sentences: str, head: float) -> NotebookFigure:
    """Panels one below the other, laid out in inches, below so much room for a title."""
    left = GAP + max(_widest(panel.words, panel.font) for panel in panels)
    right = max(panel.side + LEADER + 2 * GAP + _widest(panel.lists, 8.0) for panel in panels)
    titles = max(_widest([panel.title], 10.0, "bold") for panel in panels)
    width = max(5.5, 2 * MARGIN + left + max(right, titles))
    foot = 0.14 * ceil(1 + len(sentences) / (LETTERS * width))
    height = sum(HEAD + panel.side + SCALE for panel in panels) + APART * len(panels) + foot + 2 * MARGIN + head
    figure = new_figure(width, height)
    figure.set_layout_engine("none")
    top = height - MARGIN - head
    for panel in panels:
        bottom = top - HEAD - panel.side
        place = ((MARGIN + left) / width, bottom / height, panel.side / width, panel.side / height)
        axes = figure.add_axes(place, gid=panel.measure)
        _heat_map(axes, panel)
        bar = figure.add_axes(((MARGIN + left) / width, (bottom - 0.2) / height, 1.5 / width, 0.1 / height))
        within = "both" if (np.abs(panel.values) > panel.most + 1e-6).any() else "neither"
        colours = figure.colorbar(axes.images[0], cax=bar, orientation="horizontal", extend=within)
        colours.outline.set_visible(False)
        bar.set_xticks([-panel.most, 0, panel.most], [f"\N{MINUS SIGN}{panel.most:g}", "0", f"{panel.most:g}"])
        bar.tick_params(labelsize=7.5, length=2)
        look: Any = {"xycoords": "axes fraction", "va": "center", "fontsize": 8, "color": None}
        note(bar, panel.measure, (1, 0.5), (14, 0), **look)
        top = bottom - SCALE - APART
    note_below(figure, sentences)
    return figure


def _widest(labels: Sequence[str], size: float, weight: str = "normal") -> float:
    """Width of the widest of some labels, in inches."""
    figure = NotebookFigure(figsize=(1, 1))
    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    texts = [Text(0, 0, label, fontsize=size, fontweight=weight, figure=figure) for label in labels]
    return max((text.get_window_extent(renderer).width / figure.dpi for text in texts), default=0.0)


def _heat_map(axes: Axes, panel: _Panel) -> None:
    """The similarities, and right of them each list with a bracket: data are inches from the upper left corner."""
    side, most = panel.side, panel.most
    axes.imshow(panel.values, "RdBu_r", vmin=-most, vmax=most, extent=(0, side, side, 0), interpolation="nearest")
    axes.spines[:].set_color(FAINT)
    axes.set_title(panel.title, loc="left", fontweight="bold")
    axes.set_xticks([])
    axes.set_yticks(panel.cell * (np.arange(len(panel.words)) + 0.5), panel.words)
    axes.tick_params(length=0, pad=POINTS * GAP / 2, labelsize=panel.font)
    ends = panel.cell * np.cumsum(panel.sizes)
    for end in ends[:-1]:
        width = 0.7 if len(ends) <= IN_TWO_LINES else 0.3
        axes.plot([0, side], [end, end], [end, end], [0, side], color=INK, linewidth=width)
    axes.set(xlim=(0, side), ylim=(side, 0))
    begins = ends - panel.cell * np.array(panel.sizes)
    look: dict[str, Any] = {"color": FAINT, "linewidth": 0.9, "clip_on": False}
    for begin, end in zip(begins, ends, strict=True):
        inset = min(0.02, 0.2 * (end - begin))
        axes.plot([side + GAP] * 2, [begin + inset, end - inset], **look)
    if panel.lists:
        middles = (begins + ends) / 2
        heights = spread(middles, _height(panel.lists), side)
        for label, middle, height in zip(panel.lists, middles, heights, strict=True):
            axes.plot([side + GAP, side + LEADER], [middle, height], **look)
            axes.text(side + LEADER + GAP, height, label, fontsize=8, va="center", linespacing=1.1)


def spread(middles: FloatArray, height: float, side: float) -> FloatArray:
    """Places of labels of a height, as near to the given ones as they can be without overlap, within a side."""
    steps = height * np.arange(len(middles))
    from scipy.optimize import isotonic_regression  # loads slowly

    fitted: FloatArray = isotonic_regression(middles - steps).x
    return np.clip(fitted, height / 2, max(height / 2, side - height / 2 - steps[-1])) + steps


def _held_relatedness(holder: object) -> Relatedness:
    """Relatedness as given, or of a table or a fit."""
    if isinstance(holder, Relatedness):
        return holder
    if isinstance(holder, pd.DataFrame | xr.DataTree):
        return relatedness(holder)
    raise InputError(
        f"given is {type(holder).__name__}: plot_relatedness takes what relatedness returns, or a distance "
        "table or a fit that carries it"
    )


CALLED = "#0072B2"
AWAY, NEAR = Look(CALLED, "o", "interval without 0"), Look(FAINT, "o", "interval with 0")
MOST_ROWS = 100
NAMED = 24  # points that are named
SHOWN = 20_000  # words beyond which those that are not called are drawn from at random
ERRORS = {  # what bars of a population of errors are
    "oppositions": "on an axis without a meaning, with {unit} as similar and as parallel, {mass} of intervals hold 0",
    "pairs": "what further {unit} of this opposition would give",
}


@picture(Axis, "axis")
def plot_axis(
    axis: Axis,
    words: Iterable[str] | None = None,
    prob: float = PROB,
    population: str = "oppositions",
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
    words
        Words that are shown in any case, in bold, in place of as many of the others.
    prob
        Mass of the intervals.
    population
        What the errors are over, as in :meth:`Axis.table`.
    labels
        How many words are shown at most, ``words`` among them; of more words those at the two ends.
    title
        Title; None for the usual one, or for none on axes that are given; ``""`` for none.
    ax
        Axes to draw on, which are returned and have no notes; by default those of a new figure.

    Examples
    --------
    >>> found = bb.axis("glove-50d-slice", "affluence", words=["tennis", "golf", "boxing", "polo", "wrestling"])
    >>> bb.plots.plot_axis(found).savefig("affluence.png")
    """
    most = whole_number(labels, "labels", least=0)
    chosen = [] if words is None else words_given(words, "words")
    whole = axis if set(chosen) <= set(axis.words) else axis.with_words(list(dict.fromkeys((*axis.words, *chosen))))
    if lost := [word for word in chosen if word not in set(whole.words)]:
        raise InputError(f"words has {listed(lost)}, which {axis.embedding['name']} lacks: leave such words out")
    table = whole.table(prob, population=population)
    rows = _rows(table["word"].tolist(), set(chosen), most)
    if not 0 < len(rows) <= MOST_ROWS:
        raise InputError(f"{len(rows)} words are to be shown: give words and labels for 1 to {MOST_ROWS}")
    panel = table.iloc[rows].reset_index(drop=True)
    heights = -np.arange(len(panel), dtype=float)
    away = ((panel["low"] > 0) | (panel["high"] < 0)).to_numpy() & (not axis.doubt)
    figure, axes = one_panel(ax, 6.6, 0.22 * len(panel) + 1.9)
    unit = "pairs" if whole.paired else "words"
    band = whole.centre == "vocabulary"
    own = [word for word in panel["word"] if word in whole.at_poles]
    if band:
        axes.axvspan(-whole.spread, whole.spread, color="#F1F1F1", lw=0, zorder=0)
    draw_forest(
        axes,
        panel.assign(row=panel.index, look=away),
        range(len(panel)),
        {True: AWAY, False: NEAR},
        size=26,
    )
    label_rows(axes, word_labels(panel["word"]).tolist(), "place (cosine distance)", "", 0.0)
    for tick, word in zip(axes.get_yticklabels(), panel["word"], strict=True):
        tick.set_fontweight("bold" if chosen and len(rows) > len(chosen) and word in set(chosen) else "normal")
    axes.set_title(f"Axis {axis.name}", loc="left", fontweight="bold")
    for height in heights[1:][np.diff(rows) > 1]:
        axes.axhline(height + 0.5, color=FAINT, lw=0.6, ls=":")
    show_poles(axes, *axis.ends)
    note_below(
        figure,
        f"Bars: {percent(prob)} intervals; {ERRORS[population].format(mass=percent(prob), unit=unit)}.",
        "Blue: 0 is outside." if away.any() else "",
        f"0 is the mean of the {whole.centre}." if whole.centre else "At 0 a word is equally far from both poles.",
        f"Words of the poles lie near these by construction: {listed(own)}." if own else "",
        "Grey band: one standard deviation of places." if band else "",
        _left_out(len(table), len(rows), len(chosen)),
        ax=ax,
    )
    return figure


def _rows(words: Sequence[str], chosen: set[str], most: int) -> list[int]:
    """Rows of the words chosen and, up to so many in all, of those at the two ends."""
    others = [row for row, word in enumerate(words) if word not in chosen]
    room = max(most - (len(words) - len(others)), 0)
    if len(others) > room:
        others = others[: (room + 1) // 2] + (others[-(room // 2) :] if room > 1 else [])
    return sorted({*others, *(row for row, word in enumerate(words) if word in chosen)})


def _left_out(count: int, drawn: int, chosen: int) -> str:
    if drawn == count:
        return ""
    ends = f"the two ends of {count:,} words" if drawn > chosen else f"{drawn} of {count:,} words"
    return f"Shown are {ends}{' and, in bold, those chosen' if 0 < chosen < drawn else ''}; dots: words left out."


@picture(Audit, "audit")
def plot_audit(found: Audit, labels: int = NAMED, title: str | None = None, ax: Axes | None = None) -> Figure | Axes:
    """The place of each word of a vocabulary against its frequency, the words that are called in blue.

    Parameters
    ----------
    found
        A result of :func:`audit`.
    labels
        How many words are named at most, those called with the largest places that have room for their names.
    title
        Title; None for the usual one, or for none on axes that are given; ``""`` for none.
    ax
        Axes to draw on, which are returned and have no notes; by default those of a new figure.

    Examples
    --------
    >>> found = bb.audit("glove-50d-slice", "gender")
    >>> bb.plots.plot_audit(found, labels=10).savefig("audit.png")
    """
    names, table = found.poles.ends, found.words
    label = names[0]
    most = whole_number(labels, "labels", least=0)
    ordered = bool((table["frequency_rank"] > 0).all())
    across = table["frequency_rank"].to_numpy() if ordered else np.arange(1, len(table) + 1)
    mean, called = table["mean"].to_numpy(), table["called"].to_numpy()
    rest = np.flatnonzero(~called)
    if len(rest) > SHOWN:
        rest = np.random.default_rng(0).choice(rest, SHOWN, replace=False)
    others = [name for name in names if name != label]
    ends = (f"to {label}", f"to {others[0]}" if len(others) == 1 else f"away from {label}")
    figure, axes = one_panel(ax, 7.0, 4.8)
    rope = found.rope
    axes.axhspan(-rope, rope, color="#F1F1F1", lw=0, zorder=0)
    axes.axhline(0, color=FAINT, lw=0.8)
    axes.scatter(across[rest], mean[rest], s=3, color=FAINT, alpha=0.5, lw=0, rasterized=True)
    axes.scatter(across[called], mean[called], s=5, color=CALLED, alpha=0.55, lw=0, rasterized=True)
    if ordered:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:,.0f}")
    style_axes(axes)
    reach = 1.2 * float(np.max(np.abs(mean)))
    axes.set_ylim(-reach, reach)
    axes.set_xlabel("rank by frequency, frequent words first" if ordered else "place in the file")
    axes.set_ylabel("place (cosine distance)")
    poles = [
        axes.text(0.01, y, f"{arrow} {name}", transform=axes.transAxes, va=side, fontweight="bold", color=INK, zorder=4)
        for y, side, arrow, name in ((0.01, "bottom", "↓", ends[0]), (0.99, "top", "↑", ends[1]))
    ]
    note_below(figure, "Blue: words called. Grey band: the region of no interest.", ax=ax)
    order = np.flatnonzero(called)
    order = order[np.argsort(-np.abs(mean[order]), kind="stable")]
    name_points(axes, table["word"].tolist(), across, mean, order, most, poles, beside=False)
    return figure


BANDS = {"similar": BAND, "given": "#9FC4E0"}
LINE = " Below the line: differences."
LOOKS = {"value": Look(COLOURS[1], "o", ""), "difference": Look(COLOURS[0], "s", "")}


@picture(CovariateContrast, "the contrast or axis of covariates")
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
    title
        Title; None for the usual one, or for none on axes that are given; ``""`` for none.
    ax
        Axes to draw on, which are returned and have no notes; by default those of a new figure.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> rows = [{"word": "tax", "party": party, "vector": 1 + rng.normal(size=50)} for party in "LR" * 20]
    >>> by = bb.covariates(bb.vector_sample(pd.DataFrame(rows), "glove-50d-slice"), "party")
    >>> bb.plots.plot_covariates(by.contrast(["poor", "cheap"], ["rich", "luxury"])).savefig("tax.png")
    """
    prob = probability(prob, "prob")
    if along is not None:
        return _line(result, prob, along, ax)
    given = result.table(prob, words="given")
    table = result.table(prob).assign(inner_low=given["low"], inner_high=given["high"])
    rows = table[table["quantity"] != "coefficient"].reset_index(drop=True)
    figure, axes = one_panel(ax, 6.6, 0.26 * len(rows) + 1.8)
    draw_forest(axes, rows.assign(row=rows.index, look=rows["quantity"]), range(len(rows)), LOOKS, size=26)
    axes.scatter(rows["equal"], -rows.index, s=52, facecolor="none", edgecolor=INK, lw=0.8, zorder=4)
    label_rows(axes, word_labels(map(difference, rows["name"])).tolist(), "contrast (cosine distance)", "", 0.0)
    values = int((rows["quantity"] == "value").sum())
    if values < len(rows):
        axes.axhline(0.5 - values, color="#BBBBBB", linewidth=0.7)
    by = " and ".join(result.design.names)
    axes.set_title(f"{result.target}, by {by}" if by else result.target, loc="left", fontweight="bold")
    show_poles(axes, *result.ends)
    note_below(
        figure,
        f"Bars: {percent(prob)} intervals for these attribute words (thick) and for words like these (thin). "
        f"Rings: every {result.design.noun} counts equally." + ("" if values == len(rows) else LINE),
        ax=ax,
    )
    return figure


def _line(result: CovariateContrast, prob: float, name: str, ax: Axes | None) -> Figure:
    """The contrast along a number, with its bands, and the numbers that occur."""
    tables = {words: result.along(name, prob, words) for words in BANDS}
    figure, axes = one_panel(ax, 6.6, 3.6)
    for words, colour in BANDS.items():
        axes.fill_between(tables[words]["at"], tables[words]["low"], tables[words]["high"], color=colour, lw=0)
    axes.plot(tables["given"]["at"], tables["given"]["mean"], color=COLOURS[0], linewidth=1.4)
    numbers = result.design.frame[name].unique()
    axes.plot(numbers, 0 * numbers, "|", color=INK, markersize=5, transform=axes.get_xaxis_transform(), clip_on=False)
    mark_line(axes, 0.0, level=True)
    low, high = word_labels(result.ends)
    style_axes(axes, name, f"{result.target}, by {name}")
    axes.set_ylabel(f"contrast (cosine distance)\n← {low}{BETWEEN}{high} →")
    others = [other for other in result.design.names if other != name]
    note_below(
        figure,
        f"Bands: {percent(prob)} intervals for these attribute words (dark) and for words like these (light). Ticks: "
        f"numbers that occur.",
        f"Average over the values of {' and '.join(others)}." if others else "",
        ax=ax,
    )
    return figure
