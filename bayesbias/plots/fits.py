"""Figures of a distance table and of a fit: distances, means, contrasts and their parts, and random lists."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from bayesbias._support.arguments import one_of, probability
from bayesbias._support.numbers import cells, difference, percent
from bayesbias.checks.summaries import PROB, contrast_partners, contrasted, describe
from bayesbias.checks.topics import TopicNull
from bayesbias.contrast import SAMPLE, TARGETS, contrasts, decomposition
from bayesbias.distances.dataframe import COSINE, Coverage, coverage_of
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError, listed
from bayesbias.models.tree import Fit
from bayesbias.plots.general import draw_forest, draw_strip, panels_beside
from bayesbias.plots.style import (
    FAINT,
    INK,
    LOOKS,
    SMALL,
    Look,
    connection_looks,
    label_rows,
    mark_line,
    notes_beside,
    one_panel,
    picture,
    place_legend,
    style_axes,
    with_inner,
    with_poles,
    word_labels,
)
from bayesbias.words import STEREOTYPES, WHOLE, controls_of, in_order, labelled

CLOSEST = f"{COSINE} (smaller is closer)"


@picture()
def plot_distances(
    table: pd.DataFrame, protected_word: str | None = None, title: str | None = None, ax: Axes | None = None
) -> Figure | Axes:
    """Raw distances by connection, every pair a point.

    Each row of points has its median (long mark) and quartiles (bar); the line at 1 is where unrelated words lie.

    Parameters
    ----------
    table
        A distance table.
    protected_word
        Show this word only: each stereotype word on a line of its own, the controls as rows of points. None shows all
        protected words together.
    title, ax
        A title, and axes to draw on, which are returned; by default a new figure without a title is.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> bb.plots.plot_distances(table, "algebra").savefig("algebra.png")
    """
    Distances.read(table, check=False)
    labels, rows = (coverage_of(table) or Coverage("", [])).labels, table
    if protected_word is not None:
        rows = table[table["protected_word"] == protected_word]
        if rows.empty:
            known = listed(table["protected_word"].unique().tolist())
            raise InputError(f"the table holds no protected word {protected_word!r}; it holds {known}")
    looks = connection_looks(in_order(rows["connection"]), labels)
    single = rows[:0] if protected_word is None else rows[rows["connection"].isin(STEREOTYPES)].sort_values("distance")
    strips = list(looks) if protected_word is None else controls_of(looks)
    step, beside = (1.0, 0.3) if protected_word is None else (3.2, 1.1)
    figure, axes = one_panel(ax, 7.5, 0.2 * len(single) + (0.85 if single.empty else 0.7) * len(strips) + 1.1)
    for i, (distance, connection) in enumerate(zip(single["distance"], single["connection"], strict=True)):
        axes.plot([1.0, distance], [-i, -i], color=looks[connection].colour, linewidth=1.0)
        axes.plot(distance, -i, looks[connection].marker, color=looks[connection].colour, markersize=5)
    heights = [-float(len(single)) - (step - 1) / 2 - step * i for i in range(len(strips))]
    names = word_labels(single["attribute_word"]).tolist()
    for height, name in zip(heights, strips, strict=True):
        distances = rows.loc[rows["connection"] == name, "distance"].to_numpy(dtype=float)
        draw_strip(axes, height, distances, looks[name], beside)
        names.append(f"{labels.get(name, name)}\nn = {len(distances):,}")
    style_axes(axes, CLOSEST)
    axes.set_yticks([*-np.arange(len(single), dtype=float), *heights], names)
    axes.set_ylim(min([-float(len(single)), *heights]) - step / 2, 0.5)
    mark_line(axes, 1.0)
    if len(single):
        place_legend(figure, ax, looks.values(), linewidth=0)
    return figure


@picture()
def plot_coefficients(
    post: xr.DataTree, prob: float = PROB, target: str = SAMPLE, title: str | None = None, ax: Axes | None = None
) -> Figure | Axes:
    """Mean distances by connection, on top for the whole list, below for each protected word.

    Points are posterior means, thick bars 50% and thin bars ``prob`` equal-tailed intervals; numbers beside a row say
    how many distances are behind its bars. The line at 1 is where unrelated words lie. Words are sorted by their
    headline contrast, associated - different where there are two groups, the closest first.

    Parameters
    ----------
    post
        A result of :func:`fit`.
    prob
        Posterior mass of the thin bars.
    target
        Of the whole list, as in :func:`contrasts`.
    title, ax
        A title, and axes to draw on, which are returned; by default a new figure without a title is.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> bb.plots.plot_coefficients(bb.fit(table, seed=0)).savefig("coefficients.png")
    """
    result, prob = Fit.read(post), probability(prob, "prob")
    one_of(target, tuple(TARGETS), "target")
    names = result.data.connections.tolist()
    words, counts = result.draws("word_mean"), result.tree["constant_data/n"].to_numpy()
    first = contrast_partners("associated", names, counts > 0)[:1] if "associated" in names else []
    means = words.mean(axis=0)
    effect = means[:, names.index("associated") if first else 0] - sum(means[:, names.index(name)] for name in first)
    order = np.argsort(np.where(np.isnan(effect), np.inf, effect), kind="stable")
    whole = result.draws("connection_mean") if target != SAMPLE else np.nanmean(words, axis=1)
    draws = np.concatenate([whole[:, None], words[:, order]], axis=1)
    every = np.concatenate([counts.sum(axis=0)[None], counts[order]])
    rows, looks = range(len(every)), connection_looks(names, result.labels)
    table = with_inner(lambda mass: pd.DataFrame(describe(draws.reshape(len(draws), -1), mass)), prob)
    table = table.assign(row=np.repeat(rows, len(names)), look=np.tile(names, len(every)))
    figure, axes = one_panel(ax, 7.0, 0.11 * max(len(names), 2) * len(every) + 1.2)
    draw_forest(axes, table, rows, looks, True)
    notes_beside(axes, -np.array(rows), [" / ".join(f"{n:,}" for n in row) for row in every], "n")
    labels = [WHOLE, *word_labels(result.data.protected_words, result.data.groups)[order]]
    label_rows(axes, labels, f"{CLOSEST}, 50% and {percent(prob)} intervals", "", 1.0)
    place_legend(figure, ax, looks.values())
    return figure


SIGNS = {
    WHOLE: Look("#000000", "D", WHOLE),
    True: Look("#0072B2", "o", "clear sign"),
    False: Look(FAINT, "o", "no clear sign"),
}


@picture()
def plot_contrasts(
    post: xr.DataTree,
    first: str = "associated",
    second: str | None = None,
    prob: float = PROB,
    target: str = SAMPLE,
    beside: bool = True,
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure | Axes:
    """The contrast of two connections, on top for the whole list, below for each protected word.

    Points are posterior means, which are shrunken, and hollow ones unshrunken means; thick bars are 50% and thin bars
    ``prob`` equal-tailed intervals. At the right is the posterior probability that ``first`` is closer. Words whose
    sign is clear (column ``sign`` of :func:`contrasts`) are blue, others grey.

    Parameters
    ----------
    post, first, second, prob, target
        As in :func:`contrasts`.
    beside
        Whether the posterior probabilities of being closer stand right of the panel.
    title, ax
        A title, and axes to draw on, which are returned; by default a new figure without a title is.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> bb.plots.plot_contrasts(bb.fit(table, seed=0)).savefig("contrasts.png")
    """
    result = Fit.read(post)
    first, second = contrasted(first, second, result.data.connections.tolist(), result.data.filled)
    table = with_inner(lambda mass: contrasts(post, first, second, mass, target=target), prob)
    table = pd.concat([table[:1], table[1:].sort_values("mean", kind="stable")], ignore_index=True)
    table = table.assign(row=table.index, look=[WHOLE, *table["sign"][1:].notna()])
    texts = cells(table[["p_closer"]], prob)
    if beside:
        table["beside"] = texts.iloc[:, 0]
    figure, axes = one_panel(ax, 7.0, 0.23 * len(table) + 1.4)
    draw_forest(axes, table, range(len(table)), SIGNS, head=texts.columns[0] if beside else "")
    one, other = (labelled(name, result.labels) for name in (first, second))
    labels = word_labels(table["protected_word"], table["group"]).tolist()
    intervals = f", 50% and {percent(prob)} intervals" if ax is None else ""
    what = f"{difference(f'{one} - {other}')} ({COSINE}{intervals})"
    label_rows(axes, labels, with_poles(what, f"closer to {one}"), "", 0.0)
    if ax is None:
        hollow = Line2D([], [], color=INK, marker="o", label="unshrunken mean", markerfacecolor="white", linewidth=0)
        place_legend(figure, ax, [SIGNS[sign] for sign in (True, False)], hollow)
    return figure


LOOKS_OF_PARTS = (LOOKS["associated"], Look("#009E73", "^", ""), LOOKS["different"], Look(INK, "D", ""))
MEANINGS = ("special to own stereotypes", "own list to all words", "to any stereotypes", "the sum")


@picture()
def plot_decomposition(
    post: xr.DataTree, second: str | None = None, prob: float = PROB, target: str = SAMPLE, title: str | None = None
) -> Figure:
    """A contrast of associated words with a control list as a sum of parts, on top for the whole list.

    Panels, on one scale: the association, how near a word's own list is to all protected words, how near the word is to
    the stereotypes of other groups, beside control words, and their sum (associated - human). For the whole list the
    first is associated - different, the second is 0 and not drawn, the third is different - human. Points are
    posterior means, thick bars 50% and thin bars ``prob`` equal-tailed intervals. Rows of words are not shrunken, so
    that the parts add up. Words are sorted by association.

    Parameters
    ----------
    post, second, prob, target
        As in :func:`decomposition`.
    title
        Title above the panels, which keep theirs; by default none.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> bb.plots.plot_decomposition(bb.fit(table, seed=0)).savefig("decomposition.png")
    """
    result = Fit.read(post)
    table = with_inner(lambda mass: decomposition(post, second, mass, target), prob)
    is_whole = table["protected_word"] == WHOLE
    whole, parts = (table.loc[rows, "contrast"].unique().tolist() for rows in (is_whole, ~is_whole))
    places = range(4) if len(parts) == 4 else (0, 2, 3)  # without associations the lists have no part
    of_whole = dict(zip(whole, [parts[0], *parts[-2:]], strict=True))
    table["look"] = table["contrast"].where(~is_whole, table["contrast"].map(of_whole))
    order = table[table["contrast"] == parts[0]].sort_values("mean", kind="stable")["protected_word"]
    rows = [WHOLE, *(word for word in order if word != WHOLE)]
    group = dict(zip(result.data.protected_words, result.data.groups, strict=True))
    labels = word_labels(rows, [group.get(word, "") for word in rows]).tolist()
    figure, axes = panels_beside(len(parts), 0.23 * len(rows) + 1.3)
    for panel, part, place, sign in zip(axes, parts, places, ("", *["+ "] * (len(parts) - 2), "= "), strict=True):
        draw_forest(panel, table.assign(row=table["protected_word"]), rows, {part: LOOKS_OF_PARTS[place]})
        heading = f"{sign}{difference(labelled(part, result.labels))}"
        label_rows(panel, labels, with_poles(MEANINGS[place], "closer"), heading, 0.0)
    figure.supxlabel(f"difference in {COSINE}, 50% and {percent(prob)} intervals", x=0.02, ha="left", fontsize=SMALL)
    return figure


@picture(TopicNull)
def plot_topic_null(
    null: TopicNull, statistic: str | None = None, title: str | None = None, ax: Axes | None = None
) -> Figure | Axes:
    """Values of a statistic for random lists as points, and the observed value as a diamond.

    Rows of points have their median (long mark) and quartiles (bar); beside them stands how many are at least as far
    from no bias (dashed) as the observed value, of how many.

    Parameters
    ----------
    null
        A result of :func:`topic_null`.
    statistic
        One of its statistics; by default all contrasts, or the first of other statistics.
    title, ax
        A title, and axes to draw on, which are returned; by default a new figure without a title is.

    Examples
    --------
    >>> null = bb.topic_null("google-news-slice", "weat7", replicates=50)
    >>> bb.plots.plot_topic_null(null).savefig("topics.png")
    """
    contrasted = [name for name in null.observed if " - " in name]
    names = [statistic] if statistic is not None else contrasted or list(null.observed)[:1]
    table = null.table().set_index("statistic")
    figure, axes = one_panel(ax, 7.0, 0.75 * len(names) + 0.9)
    for i, name in enumerate(names):
        draw_strip(axes, -i, null.of(name), Look("#56B4E9", "o", ""))
    axes.plot(table.loc[names, "observed"], -np.arange(len(names)), "D", color="#D55E00", markersize=7, zorder=5)
    texts = [f"{count:,} of {null.replicates:,}" for count in table.loc[names, "count"]]
    notes_beside(axes, -np.arange(len(names)), texts, "as far")
    what = f"mean {COSINE}" if contrasted else "value of the metric"
    label = with_poles(f"difference in {what}", "closer to associated") if contrasted else what
    label_rows(axes, [difference(name) for name in names], label, "", null.centre[names[0]])
    return figure
