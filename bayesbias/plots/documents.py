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
    COLOURS,
    INK,
    Look,
    label_rows,
    note_below,
    one_panel,
    picture,
    show_poles,
    word_labels,
)

LOOKS = {"value": Look(COLOURS[1], "o", ""), "difference": Look(COLOURS[0], "s", "")}


@picture(CovariateContrast, "the contrast or axis of covariates")
def plot_covariates(
    result: CovariateContrast, prob: float = PROB, title: str | None = None, ax: Axes | None = None
) -> Figure | Axes:
    """The contrast of a word for each value of its covariates, and the differences of these, a row each.

    Thick bars are intervals for the attribute words as they are, thin ones for words like these. A ring is the estimate
    where every speaker counts equally.

    Parameters
    ----------
    result
        What ``contrast``, ``association`` and ``axis`` of :func:`covariates` return.
    prob
        Posterior mass of the intervals.
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
    given = result.table(prob, words="given")
    table = result.table(prob).assign(inner_low=given["low"], inner_high=given["high"])
    rows = table[table["quantity"] != "coefficient"].reset_index(drop=True)
    figure, axes = one_panel(ax, 6.6, 0.26 * len(rows) + 1.8)
    draw_forest(axes, rows.assign(row=rows.index, look=rows["quantity"]), range(len(rows)), LOOKS, size=26)
    axes.scatter(rows["equal"], -rows.index, s=52, facecolor="none", edgecolor=INK, lw=0.8, zorder=4)
    label_rows(axes, word_labels(map(negatives, rows["name"])).tolist(), "contrast (cosine distance)", "", 0.0)
    values = int((rows["quantity"] == "value").sum())
    axes.axhline(0.5 - values, color="#BBBBBB", linewidth=0.7)
    axes.set_title(f"{result.target}, by {' and '.join(result.design.names)}", loc="left", fontweight="bold")
    show_poles(axes, *result.ends)
    note_below(
        figure,
        f"Bars: {percent(prob)} intervals for these attribute words (thick) and for words like these (thin). "
        f"Rings: every {result.by.sample.unit} counts equally. Below the line: differences.",
        ax=ax,
    )
    return figure
