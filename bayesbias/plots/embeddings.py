"""Figures of several embeddings: what changed between them, pools, and rankings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from bayesbias._support.numbers import difference, percent
from bayesbias.baselines.ranking import Ranking
from bayesbias.checks.summaries import PROB
from bayesbias.comparison import Comparison, SideEffects
from bayesbias.comparison.effects import KINDS, TESTS
from bayesbias.distances.dataframe import COSINE
from bayesbias.numerics.arrays import FloatArray
from bayesbias.plots.general import draw_forest, write_cells
from bayesbias.plots.style import (
    BAND,
    COLOURS,
    FAINT,
    INK,
    Look,
    connection_looks,
    handles_of,
    label_rows,
    looks_of,
    new_figure,
    one_panel,
    picture,
    place_legend,
    style_axes,
    with_poles,
    word_labels,
)
from bayesbias.second_stage import Pool
from bayesbias.words import WHOLE, labelled


@picture(Comparison)
def plot_change(
    result: Comparison,
    prob: float | None = None,
    before: str | None = None,
    after: str | None = None,
    title: str | None = None,
) -> Figure:
    """Values in all embeddings, and their changes from the first: mean distances, and below the headline contrast.

    Left are posterior means in each embedding, right their changes, with ``prob`` equal-tailed intervals. Above are
    mean distances of the whole list, and the dashed line at 1 is where unrelated words lie. Below are the headline
    contrast of the whole list and each protected word's association (or difference of mean distances, where there are
    no associations), and the dashed line at 0 is where a word has none. Words are sorted by group, and in a group by
    the size of their largest change.

    Parameters
    ----------
    result
        What :func:`compare` returns.
    prob
        Posterior mass of the intervals; None takes that of the comparison.
    before, after
        Two of the embeddings, for their change alone.
    title
        Title above the panels; by default none.

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> debiased = bb.debias(kv, "project", definitional=[("he", "she"), ("man", "woman")])
    >>> before, after = (bb.distance_table(one, "weat7", relatedness=False) for one in (kv, debiased))
    >>> result = bb.compare(before=before, after=after, seed=0)
    >>> bb.plots.plot_change(result).savefig("change.png")
    """
    table, mass = result.table(prob), percent(result.prob if prob is None else prob)
    pairs = result.pairs
    if before is not None or after is not None:
        pairs = [pairs[result.place(before, after)]]
    elif len(pairs) > 1:
        pairs = [pair for pair in pairs if pair[0] == result.embeddings[0]]
    if "from" not in table:
        table = table.assign(**dict(zip(("from", "to"), pairs[0], strict=True)))
    table = table[[pair in pairs for pair in zip(table["from"], table["to"], strict=True)]]
    headline, whole = table["of"].iloc[0], table["protected_word"] == WHOLE
    distances = table[table["of"].str.startswith("to ") & whole]
    distances = distances.assign(row=distances["of"].str.slice(len("to "), -len(" words")).replace(result.labels))
    contrast = table[table["of"] == headline]
    size = contrast["change"].abs().groupby(contrast["protected_word"]).transform("max")
    contrast = contrast.assign(row=word_labels(contrast["protected_word"], contrast["group"]), size=-size)
    contrast = contrast.sort_values(
        ["group", "size"], kind="stable", na_position="first"
    )  # the whole list has no group
    blocks = (
        (distances, "Mean distances, whole list", 1.0),
        (contrast, difference(labelled(headline, result.labels)), 0.0),
    )
    looks = looks_of(name for pair in pairs for name in pair)
    heights = [0.16 * len(looks) * part["row"].nunique() + 0.6 for part, *_ in blocks]
    figure = new_figure(9.6, sum(heights) + 0.5)
    panels = figure.subplots(2, 2, height_ratios=heights, width_ratios=(1.15, 1))
    for (values, changes), (part, heading, mark) in zip(panels, blocks, strict=True):
        rows = part["row"].unique().tolist()
        first = part.drop_duplicates("row").assign(look=part["from"])  # which all others are changes from
        sides = (("before", first), ("after", part.assign(look=part["to"])))
        levels = [one.assign(mean=one[side], low=one[f"{side}_low"], high=one[f"{side}_high"]) for side, one in sides]
        draw_forest(values, pd.concat(levels), rows, looks, True)
        draw_forest(changes, part.assign(mean=part["change"], look=part["to"]), rows, looks, True)
        label_rows(values, rows, f"{COSINE}, {mass} intervals", heading, mark)
        label_rows(changes, [""] * len(rows), with_poles(f"change, {mass} intervals", "closer"), "Change", 0.0)
    place_legend(figure, None, looks.values(), linewidth=0)
    return figure


SIDES = {"before": Look("#767676", "o", "before"), "after": Look("#0072B2", "D", "after")}


@picture(SideEffects)
def plot_side_effects(result: SideEffects, title: str | None = None) -> Figure:
    """Neighbours kept, changes of control distances, agreement with similarities, and whether the old bias is found.

    Points are estimates, bars their intervals; a cross marks what chance gives, a grey bar what random topics give.
    Panels without figures are left out.

    Parameters
    ----------
    result
        What :func:`side_effects` returns.
    title
        Title above the panels, which keep theirs; by default none.

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> debiased = bb.debias(kv, "project", definitional=[("he", "she"), ("man", "woman")])
    >>> effects = bb.side_effects(kv, debiased, "gender")
    >>> bb.plots.plot_side_effects(effects).savefig("effects.png")
    """
    near, controls, found, alike = result.neighbours, result.controls, result.recovery, result.similarity
    labels = result.labels
    near = near.assign(mean=near["kept"], row=near["kind"].map(KINDS), look="k = " + near["k"].astype(str))
    panels: list[Any] = [(near, looks_of(near["look"]), "Neighbours", "share of nearest neighbours kept", None)]
    if len(controls):
        names = controls["connection"].tolist()
        table = controls.assign(row=[labels.get(name, f"{name} words") for name in names], look=names)
        label = with_poles(f"change of mean {COSINE}", "closer")
        panels.append((table, connection_looks(names, labels), "Control words", label, 0.0))
    if len(found):
        sides = [
            found.assign(mean=found[side], low=found[f"{side}_low"], high=found[f"{side}_high"], look=side)
            for side in SIDES
        ]
        table = pd.concat(sides).assign(row=lambda every: every["test"].map(TESTS))
        label = "share of words whose old side is found (cross: chance; grey: random topics)"
        panels.append((table, SIDES, "Former bias", label, None))
    if len(alike):
        table = alike.assign(mean=alike["spearman"], row=alike["side"], look=alike["side"])
        panels.append((table[table["row"].isin(SIDES)], SIDES, "Agreement with similarities", "rank correlation", None))
    heights = [0.18 * table["row"].nunique() * max(len(looks), 2) + 0.75 for table, looks, *_ in panels]
    figure = new_figure(7.5, sum(heights) + 0.3)
    every = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
    for axes, (table, looks, heading, label, mark) in zip(every, panels, strict=True):
        rows = table["row"].unique().tolist()
        spread = len(table) > len(rows)
        draw_forest(axes, table, rows, looks, spread)
        label_rows(axes, rows, label, heading, mark)
        if spread:
            axes.legend(handles=handles_of(looks.values(), linewidth=0), loc="center left", bbox_to_anchor=(1, 0.5))
        if "chance" in table:
            places = -np.arange(len(found), dtype=float)
            axes.scatter(found["chance"], places, s=40, marker="x", color=INK, zorder=3)
            axes.hlines(places - 0.34, found["reference_low"], found["reference_high"], color="#BBBBBB", lw=5, zorder=1)
    return figure


OWN, SHRUNKEN = Look(FAINT, "D", "unshrunken"), Look("#0072B2", "o", "shrunken")


@picture(Pool)
def plot_pool(pool: Pool, prob: float = PROB, title: str | None = None, ax: Axes | None = None) -> Figure | Axes:
    """Each embedding's own estimate in grey and the shrunken one in blue, with the mean of all as a band.

    Parameters
    ----------
    pool
        A result of :func:`pool`.
    prob
        Mass of the bars, and of the band.
    title, ax
        A title, and axes to draw on, which are returned; by default a new figure without a title is.

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> debiased = bb.debias(kv, "project", definitional=[("he", "she"), ("man", "woman")])
    >>> tables = {"1990": bb.distance_table(kv, "weat7"), "2000": bb.distance_table(debiased, "weat7")}
    >>> bb.plots.plot_pool(bb.pool(tables)).savefig("pool.png")
    """
    every = pool.table(prob)
    table = every[every["quantity"] == "embedding"].sort_values("mean", kind="stable").assign(look="shrunken")
    table["row"] = table["name"]
    own = table.assign(mean=table["estimate"], low=table["estimate_low"], high=table["estimate_high"], look="own")
    looks = {"own": OWN, "shrunken": SHRUNKEN}
    figure, axes = one_panel(ax, 6.4, 0.3 * len(table) + 1.5)
    overall = every[every["quantity"] == "overall"].iloc[0]
    axes.axvspan(overall["low"], overall["high"], color=BAND, lw=0, zorder=0)
    draw_forest(axes, pd.concat([own, table]), table["row"].tolist(), looks, True)
    what = f"{difference(' - '.join(pool.contrast))} ({pool.unit}, {percent(prob)} intervals; band: mean)"
    label_rows(axes, word_labels(table["name"]).tolist(), with_poles(what, f"closer to {pool.contrast[0]}"), "", 0.0)
    place_legend(figure, ax, looks.values())
    return figure


HATCHES = ("", "//", "..", "xx", "++")


@picture(Ranking)
def plot_ranking(ranking: Ranking, title: str | None = None) -> Figure:
    """Ranks added up over metrics, and for each metric how probable each rank of each embedding is.

    Above, the ranks by all metrics are added up (shorter is less biased), then the outside rankings in white. Below, a
    panel a metric shows the probability of each rank, in figures and in grey, with the rank of the words as they are in
    an outline.

    Parameters
    ----------
    ranking
        A result of :func:`rank`.
    title
        Title above the panels, which keep theirs; by default none.

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> debiased = bb.debias(kv, "project", definitional=[("he", "she"), ("man", "woman")])
    >>> ranking = bb.rank({"before": kv, "after": debiased}, ["weat6", "weat7"], "weat", draws=20)
    >>> bb.plots.plot_ranking(ranking).savefig("ranking.png")
    """
    metrics, chances = list(map(str, ranking.scores)), ranking.rank_distribution
    added = ranking.ranks[metrics].sum(axis=1, min_count=len(metrics))
    ranks = ranking.ranks.loc[added.sort_values(kind="stable", na_position="last").index]
    named = list(chances["metric"].drop_duplicates())
    columns = max(1, min(3, len(named)))
    rows, each, labels = -(-len(named) // columns), 0.34 * len(ranks) + 0.75, word_labels(ranks.index)
    width = max(6.4, columns * (1.3 + 0.42 * len(ranks)) + 0.09 * max(map(len, labels)))
    figure = new_figure(width, each * (rows + 1) + 0.6)
    grid = figure.add_gridspec(rows + 1, columns)
    _added(figure.add_subplot(grid[0, :]), ranks, metrics)
    for i, metric in enumerate(named):
        axes = figure.add_subplot(grid[1 + i // columns, i % columns])
        table = chances[chances["metric"] == metric].pivot_table(
            index="embedding", columns="rank", values="probability"
        )
        _probable(axes, table.reindex(ranks.index).to_numpy(), ranks[metric].to_numpy(dtype=float), metric)
        axes.set_yticks(np.arange(len(ranks)), labels if i % columns == 0 else [])
    figure.legend(loc="outside upper center", ncols=4)
    return figure


def _added(axes: Axes, ranks: pd.DataFrame, metrics: list[str]) -> None:
    """Ranks as bars one after another; those of no metric are white."""
    start, places = np.zeros(len(ranks)), np.arange(len(ranks))
    for i, name in enumerate(ranks):
        look: dict[str, Any] = {"color": COLOURS[(i + 1) % len(COLOURS)], "edgecolor": "white", "label": str(name)}
        if str(name) not in metrics:
            look = {"color": "white", "edgecolor": FAINT, "label": f"{name} (outside)"}
        length = np.nan_to_num(ranks[name].to_numpy(dtype=float))
        axes.barh(places, length, left=start, height=0.62, hatch=HATCHES[i % len(HATCHES)], linewidth=0.6, **look)
        start += length
    lacks = np.where(ranks[metrics].isna().any(axis=1), "\n(lacks a rank)", "")
    style_axes(axes, "ranks, added up (shorter: less biased)")
    axes.set_yticks(places, word_labels(ranks.index) + lacks.astype(object))
    axes.invert_yaxis()


def _probable(axes: Axes, shares: FloatArray, ranks: FloatArray, metric: str) -> None:
    """Probabilities (embeddings, ranks) of one metric."""
    image = axes.imshow(shares, cmap="Greys", vmin=0, vmax=1.15, aspect="auto")
    write_cells(axes, image, [[f"{p:.2f}".removeprefix("0") if p >= 0.005 else "" for p in row] for row in shares])
    for row, rank in enumerate(ranks):
        tied = int((ranks == rank).sum())  # those that tie share as many ranks
        if tied:
            corner = (rank - (tied - 1) / 2 - 1.5, row - 0.5)
            axes.add_patch(Rectangle(corner, tied, 1, fill=False, edgecolor="#D55E00", linewidth=1.6, clip_on=False))
    axes.set_xticks(np.arange(shares.shape[1]), [str(i + 1) for i in range(shares.shape[1])])
    axes.tick_params(length=0, left=False, bottom=False)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("rank (1: least biased)")
    axes.set_title(metric)
