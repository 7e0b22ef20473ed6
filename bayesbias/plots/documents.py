"""Figures of documents: contrasts of words by covariates."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bayesbias._support.arguments import probability
from bayesbias._support.phrases import negatives, percent
from bayesbias.documents.regression import CovariateContrast
from bayesbias.estimates import PROB
from bayesbias.plots.general import draw_forest
from bayesbias.plots.style import (
    BAND,
    BETWEEN,
    COLOURS,
    INK,
    Look,
    label_rows,
    mark_line,
    note_below,
    one_panel,
    picture,
    show_poles,
    style_axes,
    word_labels,
)

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
    label_rows(axes, word_labels(map(negatives, rows["name"])).tolist(), "contrast (cosine distance)", "", 0.0)
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
