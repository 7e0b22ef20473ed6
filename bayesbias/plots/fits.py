"""Figures of a distance table and of a fit: means, contrasts, their decomposition and templates, predictions."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bayesbias._support.arguments import WIDEST, flag, interval, one_of, probability
from bayesbias._support.numbers import MINUS, difference, percent, share
from bayesbias.checks.calibration.topics import TopicNull, refuse_other
from bayesbias.checks.convergence import predictive_cells
from bayesbias.checks.summaries import PROB, contrast_partners, contrasted, interval_ends
from bayesbias.contrast import SAMPLE, TARGETS, beside_associated
from bayesbias.contrast.associations import decomposition_parts
from bayesbias.contrast.contrast import rows_of
from bayesbias.distances.dataframe import COSINE, labels_of
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError, many, shown
from bayesbias.models.tree import Fit
from bayesbias.models.weights import RAW
from bayesbias.numerics.arrays import FloatArray
from bayesbias.numerics.mixtures import Empirical
from bayesbias.plots.general import MANY, draw_forest, draw_strip, set_apart
from bayesbias.plots.style import (
    FAINT,
    INK,
    INNER_PROB,
    LOOKS,
    Look,
    check_kind,
    connection_legend,
    connection_looks,
    head_beside,
    label_rows,
    mark_line,
    new_figure,
    note_below,
    one_panel,
    picture,
    posterior_table,
    show_sign,
    style_axes,
    word_labels,
)
from bayesbias.words import STEREOTYPES, WHOLE, controls_of, in_order, labelled


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
    title
        Title; None for the usual one, or for none on axes that are given; ``""`` for none.
    ax
        Axes to draw on, which are returned and have no notes; by default those of a new figure.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> bb.plot_distances(table, "algebra").savefig("algebra.png")
    """
    Distances.read(table, check=False)
    if protected_word is None:
        figure, axes = _all_words(table, ax)
        heading = f"Raw distances of {many(table['protected_word'].nunique(), 'protected word')}"
    elif not isinstance(protected_word, str):
        raise InputError(f"protected_word is {shown(protected_word)}: give one of the table's protected words")
    else:
        rows = table[[str(word) == protected_word for word in table["protected_word"]]]
        if rows.empty:
            known = ", ".join(map(str, table["protected_word"].drop_duplicates().head(20)))
            raise InputError(f"the table holds no protected word {protected_word!r}; it holds {known}")
        figure, axes = _one_word(rows, ax)
        heading = f"Raw distances of {word_labels([protected_word])[0]}"
    style_axes(axes, f"{COSINE} (smaller is closer)", heading)
    mark_line(axes, 1.0)
    return figure


def _all_words(table: pd.DataFrame, ax: Axes | None) -> tuple[Figure, Axes]:
    """A row of points for each connection."""
    labels = labels_of(table)
    looks = connection_looks(in_order(table["connection"]), labels)
    figure, axes = one_panel(ax, 7.5, 0.85 * len(looks) + 1.1)
    counts = []
    for i, (name, look) in enumerate(looks.items()):
        distances = table.loc[table["connection"] == name, "distance"].to_numpy(dtype=float)
        draw_strip(axes, -float(i), distances, look)
        counts.append(f"{labels.get(name, name)}\nn = {len(distances):,}")
    axes.set_yticks(-np.arange(len(looks)), counts)
    axes.set_ylim(-len(looks) + 0.5, 0.5)
    return figure, axes


def _one_word(rows: pd.DataFrame, ax: Axes | None) -> tuple[Figure, Axes]:
    """A row for each stereotype word, then one of points for each control list."""
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
        draw_strip(axes, height, distances, looks[name], spread=1.1)
        labels.append(f"{label_of.get(name, name)}, n = {len(distances)}")
        ticks.append(height)
        height -= 3.2
    axes.set_yticks(ticks, labels)
    axes.set_ylim(height + 1.2, 1.0)
    connection_legend(figure, looks.values(), ax)
    return figure, axes


ONE_COLUMN = 20  # with more protected words than this the words stand in two columns


@picture()
def plot_coefficients(post: xr.DataTree, prob: float = PROB, target: str = SAMPLE, title: str | None = None) -> Figure:
    """Mean distances by connection, above for the whole list, below for each protected word.

    Points are posterior means, thick bars 50% and thin bars ``prob`` equal-tailed intervals; the number beside a bar
    says how many distances are behind it. The line at 1 is where unrelated words lie. Words are sorted by their
    headline contrast, associated - different where there are two groups, the closest first.

    Parameters
    ----------
    post
        A result of :func:`fit`.
    prob
        Posterior mass of the thin bars.
    target
        Of the whole list, as in :func:`contrasts`: ``"sample"``, the mean over these protected words, or
        ``"population"``.
    title
        Title above the panels, which keep theirs; by default none.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> bb.plot_coefficients(bb.fit(table, seed=0)).savefig("coefficients.png")
    """
    result = Fit.read(post)
    one_of(target, tuple(TARGETS), "target")
    prob = probability(prob, "prob")
    names = [str(name) for name in result.posterior["connection"].to_numpy()]
    words = result.posterior["protected_word"].to_numpy()
    labels = word_labels(words, result.tree["constant_data/group"].to_numpy())
    closest = f"{COSINE} (smaller is closer)"
    word_draws = result.draws("word_mean")
    counts = result.tree["constant_data/n"].to_numpy()
    order = _by_effect(word_draws.mean(axis=0), names)
    looks = connection_looks(names, result.labels)
    columns = 2 if len(words) > ONE_COLUMN else 1
    per_column = -(-len(words) // columns)
    row = 0.15 * max(len(names), 2)
    heights = (0.24 * len(names) + 0.7, row * per_column + 0.55)
    figure = new_figure(5.2 * columns + 1.6, sum(heights) + 0.5)
    grid = figure.add_gridspec(2, columns, height_ratios=heights)
    top = figure.add_subplot(grid[0, :])
    mean = result.draws("connection_mean") if target != SAMPLE else np.nanmean(word_draws, axis=1)
    sizes = [f"n = {count:,}" for count in counts.sum(axis=0)]
    whole = posterior_table(Empirical(mean), prob).assign(row=names, look=names, beside=sizes)
    draw_forest(top, whole, names, looks, note_size=8)
    heading = f"Whole list, with 50% and {percent(prob)} intervals\nfor {TARGETS[target]}"
    label_rows(top, [result.labels.get(name, name) for name in names], closest, heading, 1.0)
    cells = posterior_table(Empirical(word_draws.reshape(len(word_draws), -1)), prob)
    place, look = np.repeat(np.arange(len(words)), len(names)), np.tile(names, len(words))
    cells = cells.assign(row=place, look=look, beside=counts.ravel())
    shared: Axes | None = top if columns == 1 else None
    for column, chunk in enumerate(np.array_split(order, columns)):
        axes = figure.add_subplot(grid[1, column], sharex=shared)
        shared = shared or axes
        draw_forest(axes, cells[cells["row"].isin(chunk)], chunk.tolist(), looks, spread=True, note_size=6)
        axes.set_title("n", loc="right", fontsize=7, color=FAINT, x=1.025)
        label_rows(axes, labels[chunk].tolist(), closest, "" if column else "By protected word", 1.0)
    connection_legend(figure, looks.values())
    return figure


def _by_effect(mean: FloatArray, names: list[str]) -> np.ndarray:
    """Order of words by associated minus the connection that it is set beside, or by the first connection there is."""
    first = mean[:, names.index("associated") if "associated" in names else 0]
    others = contrast_partners("associated", names, ~np.isnan(mean)) if "associated" in names else []
    if others:
        first = first - mean[:, names.index(others[0])]
    return np.argsort(np.where(np.isnan(first), np.inf, first), kind="stable")


SIGN_LOOKS = {
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
    rope: float | tuple[float, float] | None = None,
    target: str = SAMPLE,
    beside: bool = True,
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure | Axes:
    """The contrast of two connections, on top for the whole list, below for each protected word.

    Points are posterior means, thick bars 50% and thin bars ``prob`` equal-tailed intervals; at the right is the
    posterior probability that ``first`` is closer. A shaded band marks the rope. Words whose sign is clear (``sign`` of
    :func:`contrasts`) are blue, others grey.

    Parameters
    ----------
    post, first, second, prob, rope, target
        As in :func:`contrasts`.
    beside
        Whether the posterior probabilities of being closer stand right of the panel.
    title
        Title; None for the usual one, or for none on axes that are given; ``""`` for none.
    ax
        Axes to draw on, which are returned and have no notes; by default those of a new figure.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> bb.plot_contrasts(bb.fit(table, seed=0)).savefig("contrasts.png")
    """
    result = Fit.read(post)
    prob = probability(prob, "prob")
    region = interval(rope, "rope", WIDEST)
    one_of(target, tuple(TARGETS), "target")
    first, second = contrasted(first, second, result.data.connections.tolist(), result.data.filled)
    posteriors = rows_of(result, first, second, target)
    data = result.data
    names = word_labels(data.protected_words, data.groups)
    kept = np.isin(data.protected_words, posteriors.words.index["protected_word"].tolist())
    left_out = names[~kept].tolist()
    order = np.argsort(posteriors.words.mean, kind="stable")
    labels, words = names[kept][order], posteriors.words[order]
    figure, axes = one_panel(ax, 7.0, 0.23 * (len(labels) + 2) + 1.0)
    clear = posteriors.clear_signs(prob)[order] != 0
    table = pd.concat([posterior_table(part, prob) for part in (posteriors.whole, words)], ignore_index=True)
    shares = [*posteriors.whole.below(0.0), *words.below(0.0)]
    table = table.assign(row=range(len(table)), look=[WHOLE, *clear])
    if flag(beside, "beside"):
        table["beside"] = list(map(share, shares))
    draw_forest(axes, table, range(len(table)), SIGN_LOOKS)
    if region is not None:
        axes.axvspan(*region, color="#DDDDDD", alpha=0.5, linewidth=0, zorder=0)
    one, other = (labelled(name, result.labels) for name in (first, second))
    heading = f"{one}{MINUS}{other}, with 50% and {percent(prob)} intervals\nfor {TARGETS[target]}"
    kind = " (words: association)" if ax is None and posteriors.kind == RAW else ""
    label_rows(axes, [WHOLE, *labels], title=heading, mark=0.0)
    set_apart(axes, [WHOLE, *labels])
    show_sign(axes, f"difference in {COSINE}{kind}", f"closer to {one}")
    if beside:
        head_beside(axes)
    without = f"Without the distances that a row needs: {', '.join(left_out)}." if left_out else ""
    note_below(
        figure, "Blue: the sign of the word is clear, and its interval excludes 0; grey: others.", without, ax=ax
    )
    return figure


@picture()
def plot_overview(
    post: xr.DataTree,
    topics: TopicNull | None = None,
    prob: float = PROB,
    beside: bool = True,
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure | Axes:
    """Associated words against each other connection, the headline on top, with what random topics give behind.

    Each row is a contrast for these protected words: posterior mean, thick 50% and thin ``prob`` equal-tailed
    intervals. The grey shape behind it is the distribution of the same contrast over random lists of the vocabulary
    that are as coherent as the given ones, as near and as similar to each other: where there is no bias to find.

    Parameters
    ----------
    post
        A result of :func:`fit` with associated distances.
    topics
        What :func:`topic_null` returns for the same word lists; None draws no null distribution.
    prob
        Posterior mass of the intervals.
    beside
        Whether the posterior probabilities of being closer stand right of the panel.
    title
        Title; None for the usual one, or for none on axes that are given; ``""`` for none.
    ax
        Axes to draw on, which are returned and have no notes; by default those of a new figure.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> bb.plots.plot_overview(bb.fit(table, seed=0)).savefig("overview.png")
    """
    result = Fit.read(post)
    prob = probability(prob, "prob")
    if topics is not None:
        check_kind(topics, TopicNull, "plot_overview", "topic_null")
        refuse_other(topics, result.data)
    others = beside_associated(result)
    if not others:
        raise InputError("the fit has no contrast of associated words: there is nothing to draw")
    names, labels = ["associated", *others], result.labels
    looks = connection_looks(names, labels)
    figure, axes = one_panel(ax, 5.4, 0.62 * len(others) + 1.4)
    wholes = [rows_of(result, "associated", other).whole for other in others]
    table = pd.concat([posterior_table(whole, prob) for whole in wholes])
    shares = [share(float(whole.below(0.0)[0])) for whole in wholes]
    for i, other in enumerate(others):
        if topics is not None and f"associated - {other}" in topics.observed:
            values = topics.of(f"associated - {other}")
            counts, edges = np.histogram(values, min(24, max(5, len(values) // 8)))
            axes.stairs(0.42 * counts / counts.max() - i, edges, baseline=-i, fill=True, color="#C9C9C9", zorder=1)
    if flag(beside, "beside"):
        table["beside"] = shares
    draw_forest(axes, table.assign(row=others, look=others), others, looks)
    rows = [fill(labels.get(other, other), 20) for other in others]
    data = result.data
    coverage = data.coverage
    listed = "" if coverage is None else coverage.word_list
    # a long name would reach the head of the probabilities
    between = ":\n" if len(listed) > len("religion") else ": " if listed else ""
    heading = f"Own stereotypes beside other words{between}{listed}"
    label_rows(axes, rows, "", heading, 0.0)
    axes.set_ylim(-len(others) + 0.55, 0.6)
    what = f"difference in mean {COSINE}"
    show_sign(axes, what, "own stereotypes closer")
    if beside:
        head_beside(axes)
    by = result.adjusted_for
    same = f"the difference before adjustment for {by}" if by else "the same difference"
    grey = ""
    if topics is not None:
        grey = f" Grey: {same} over {topics.replicates:,} sets of random lists."
    note_below(figure, f"Thick bars: 50% intervals; thin: {percent(prob)}.{grey}", ax=ax)
    return figure


LOOKS_OF_PARTS = (LOOKS["associated"], Look("#009E73", "^", "lists"), LOOKS["different"], Look(INK, "D", "sum"))
PANELS = (
    ("association", "special to own stereotypes"),
    ("+ nearness of the lists", "own list to all words"),
    ("+ nearness of the word", "to any stereotypes"),
)


@picture()
def plot_decomposition(
    post: xr.DataTree, second: str | None = None, prob: float = PROB, target: str = SAMPLE, title: str | None = None
) -> Figure:
    """A contrast of associated words with a control list as a sum of parts, on top for the whole list.

    Panels, on one scale: the association, how near a word's own list is to all protected words, how near the word is to
    the stereotypes of other groups, beside control words, and their sum (associated - human). For the whole list the
    first is associated - different, the second is 0 and not drawn, the third is different - human. Points are
    posterior means, thick bars 50% and thin bars ``prob`` equal-tailed intervals. Rows of words are not pooled, so that
    the parts add up. Words are sorted by association.

    Parameters
    ----------
    post, second, prob, target
        As in :func:`decomposition`.
    title
        Title above the panels, which keep theirs; by default none.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> bb.plot_decomposition(bb.fit(table, seed=0)).savefig("decomposition.png")
    """
    result = Fit.read(post)
    prob = probability(prob, "prob")
    whole, words = decomposition_parts(result, second, target)
    data = result.data
    labels = word_labels(data.protected_words, data.groups)
    kept = np.isin(data.protected_words, words.index["protected_word"].tolist())
    left_out = ", ".join(labels[~kept])
    count, contrasts = int(kept.sum()), words.index["contrast"].drop_duplicates().tolist()
    order = np.argsort(words.select(contrast=contrasts[0]).mean, kind="stable")
    labels = labels[kept][order]
    total = difference(labelled(contrasts[-1], result.labels))
    looks: tuple[Look, ...] = LOOKS_OF_PARTS
    titles: tuple[tuple[str, str], ...] = (*PANELS, (f"= {total}", "the sum"))
    of_whole: tuple[int | None, ...] = (0, None, 1, 2)
    if len(contrasts) == 3:  # a table without associations
        texts = [difference(labelled(label, result.labels)) for label in contrasts]
        looks, of_whole = (looks[0], *looks[2:]), (0, 1, 2)
        titles = ((texts[0], PANELS[0][1]), (f"+ {texts[1]}", PANELS[2][1]), (f"= {texts[2]}", "the sum"))
    figure = new_figure(0.6 + 2.7 * len(looks), max(0.23 * (count + 2) + 1.3, 2.4))
    panels = figure.subplots(1, len(looks), sharex=True, sharey=True)
    for axes, name, look, (heading, meaning), row in zip(panels, contrasts, looks, titles, of_whole, strict=True):
        parts = [posterior_table(words.select(contrast=name)[order], prob).assign(row=range(1, count + 1))]
        parts += [] if row is None else [posterior_table(whole[row], prob).assign(row=0)]
        draw_forest(axes, pd.concat(parts).assign(look=name), range(count + 1), {name: look})
        label_rows(axes, [WHOLE, *labels], title=heading, mark=0.0)
        show_sign(axes, meaning, "closer")
        axes.locator_params(axis="x", nbins=5)
        set_apart(axes, [WHOLE, *labels])
    note_below(
        figure,
        f"Differences in {COSINE} (left of 0: closer), with 50% and {percent(prob)} intervals; the whole "
        f"list for {TARGETS[target]}. Rows of words are not pooled, so that the parts add up.",
        f"Without distances to all lists: {left_out}." if left_out else "",
    )
    return figure


@picture()
def plot_predictions(
    post: xr.DataTree, prob: float = PROB, seed: int | None = None, title: str | None = None
) -> Figure:
    """Observed distances against their predictions, and the densities of both.

    Above: each line is a protected word under one connection, at the height of its mean prediction; the thin line is
    the ``prob`` predictive equal-tailed interval, the thick one the 50% interval, and the points are observed
    distances. Below: densities of observed (solid) and predicted (dashed) distances by connection.

    Parameters
    ----------
    post
        A result of :func:`fit`.
    prob
        Mass of the wide predictive intervals.
    seed
        Seed of the predictive draws; None takes one that follows from the seed of the fit.
    title
        Title above the panels, which keep theirs; by default none.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> bb.plots.plot_predictions(bb.fit(table, seed=0), seed=0).savefig("predictions.png")
    """
    result = Fit.read(post)
    prob = probability(prob, "prob")
    names = [str(name) for name in result.posterior["connection"].to_numpy()]
    labels = result.labels
    looks = connection_looks(names, labels)
    draws = predictive_cells(result, seed)
    figure = new_figure(8.0, 7.2)
    grid = figure.add_gridspec(2, len(names), height_ratios=(2.6, 1))
    top = figure.add_subplot(grid[0, :])
    _cells(top, result, draws, looks.values(), prob)
    top.set_title("Observed and predicted", loc="left", fontsize=9.5)
    first: Axes | None = None
    for k, (name, look) in enumerate(looks.items()):
        axes = figure.add_subplot(grid[1, k], sharex=first)
        first = first or axes
        _densities(axes, result, draws, k, labels.get(name, name), look)
    connection_legend(figure, looks.values())
    return figure


def _cells(axes: Axes, result: Fit, draws: FloatArray, looks: Iterable[Look], prob: float) -> None:
    constant = result.tree["constant_data"]
    word, connection = constant["word_index"].to_numpy(), constant["connection_index"].to_numpy()
    y = result.tree["observed_data/distance"].to_numpy()
    with np.errstate(invalid="ignore"):
        centre = draws.mean(axis=0)
    for k, look in enumerate(looks):
        some = ~np.isnan(centre[:, k])
        for mass, width in ((prob, 0.7), (INNER_PROB, 2.2)):
            low, high = interval_ends(draws[:, some, k], mass)
            axes.hlines(centre[some, k], low, high, color=look.colour, linewidth=width, alpha=0.55, zorder=1)
        mine = connection == k
        how: dict[str, Any] = {"s": 9, "marker": look.marker, "color": look.colour, "linewidths": 0, "zorder": 2}
        axes.scatter(y[mine], centre[word[mine], k], alpha=0.5, rasterized=len(y) > MANY, **how)
    ends = [np.nanmin(centre), np.nanmax(centre)]
    axes.plot(ends, ends, color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=3)
    style_axes(axes, f"observed {COSINE}")
    axes.set_ylabel("mean prediction")


def _densities(axes: Axes, result: Fit, draws: FloatArray, k: int, name: str, look: Look) -> None:
    counts = result.tree["constant_data/n"].to_numpy()[:, k]
    y = result.tree["observed_data/distance"].to_numpy()[result.tree["constant_data/connection_index"].to_numpy() == k]
    rng = np.random.default_rng(0)
    cells = rng.choice(len(counts), size=4000, p=counts / counts.sum())
    predicted = draws[rng.integers(len(draws), size=4000), cells, k]
    x = np.linspace(min(y.min(), predicted.min()), max(y.max(), predicted.max()), 200)
    if len(y) > 1 and np.ptp(y) > 0:
        axes.plot(x, _density(y, x), color=look.colour, linewidth=1.8)
    axes.plot(x, _density(predicted, x), color=INK, linewidth=1.1, linestyle=(0, (4, 2)))
    style_axes(axes, "solid: observed\ndashed: predicted" if k == 0 else COSINE, f"{name}, n = {len(y):,}")
    axes.title.set_fontsize(8.5)
    axes.set_yticks([])
    axes.set_ylim(bottom=0)


def _density(values: FloatArray, x: FloatArray) -> FloatArray:
    """Kernel estimate (n,) of the density of values at points (n,); many values are counted in narrow bins first."""
    from scipy.stats import gaussian_kde

    if len(values) <= MANY:
        return np.asarray(gaussian_kde(values)(x))
    counts, ends = np.histogram(values, bins=20 * len(x))
    return np.asarray(gaussian_kde((ends[1:] + ends[:-1]) / 2, len(values) ** -0.2, counts)(x))
