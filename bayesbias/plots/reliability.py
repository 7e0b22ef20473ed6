"""Figures of reliability, and of stability over trained embeddings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from numbers import Real
from typing import Any, Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from bayesbias._checks import flag, probability, several
from bayesbias._core.vectors import FloatArray
from bayesbias._phrases import percent, signed
from bayesbias.checks.summaries import PROB, flat_draws
from bayesbias.errors import InputError, shown
from bayesbias.plots.style import (
    FAINT,
    INK,
    INNER_PROB,
    LINES,
    Look,
    draw_intervals,
    draw_row,
    handles_of,
    label_rows,
    looks_of,
    mark_line,
    new_figure,
    note,
    note_below,
    notes_beside,
    one_panel,
    part_rows,
    picture,
    place_legend,
    spread_rows,
    style_axes,
    word_labels,
)
from bayesbias.reliability import ReliabilityRegression, VarianceComponents
from bayesbias.reliability.components import GOOD
from bayesbias.reliability.regression import FIXED, INTERCEPT, RESIDUAL, TOTAL
from bayesbias.stability import DirectBiasStudy, SettingComponents

# where each begins, and its shade (Koo and Li 2016, https://doi.org/10.1016/j.jcm.2016.02.012)
BANDS = {
    "poor": (-1e9, "#E6E6E6"),
    "moderate": (0.5, "#F0F0F0"),
    "good": (0.75, "#F7F7F7"),
    "excellent": (0.9, "white"),
}
LEAST = -0.5  # values below stand at the left edge

MAKERS = "retest_reliability, inter_rater_consistency or internal_consistency"

type Tables = pd.DataFrame | Mapping[str, pd.DataFrame]


@picture()
def plot_reliability(table: Tables, labels: bool | None = None) -> Figure:
    """How reliable words, base pairs or queries are: the distribution by measure, or each by its name.

    Boxes hold half of the values, whiskers those within 1.5 lengths of the box; up to 300 values are all drawn. With
    names, points are coefficients and bars their intervals, sorted by the mean over measures. Shades mark what is
    called poor (below 0.5), moderate, good (from 0.75) and excellent (from 0.9). Values below -0.5 stand at the left
    edge; a note counts these and what is missing.

    Parameters
    ----------
    table
        What :func:`retest_reliability`, :func:`inter_rater_consistency` or :func:`internal_consistency` returns, or a
        mapping of names to such tables: a panel each, or a row each where no table tells measures apart.
    labels
        Whether each label has a row; None does so for at most 40 in all that stand once.

    References
    ----------
    Koo, T. K. and Li, M. Y. (2016). A guideline of selecting and reporting intraclass correlation coefficients for
    reliability research. Journal of Chiropractic Medicine 15(2). https://doi.org/10.1016/j.jcm.2016.02.012

    Examples
    --------
    >>> toy = bb.stability.toy_corpus(bias=0.5, sentences=400)
    >>> kvs = bb.stability.train_embeddings(toy, seeds=2, dims=10, epochs=1)
    >>> scores = bb.reliability.bias_scores(kvs, toy.targets, toy.base_pairs, ["db_wa", "ripa"])
    >>> bb.plots.plot_reliability(bb.reliability.retest_reliability(scores)).savefig("retest.png")
    """
    panels = _panels(table)
    counts = [panel["label"].nunique() for panel in panels.values()]
    twice = any(panel.duplicated(["measure", "label"]).any() for panel in panels.values())
    named = sum(counts) <= 40 and not twice if labels is None else flag(labels, "labels")
    if named and twice:
        raise InputError(
            "a label occurs twice under one measure: give names to tables that hold it once, or labels=False"
        )
    looks = looks_of(name for panel in panels.values() for name in panel["measure"])
    inside = [panel["measure"].nunique() for panel in panels.values()]
    rows = [max(series, 2) * count if named else series for series, count in zip(inside, counts, strict=True)]
    heights = [(0.12 if named else 0.46) * size + 0.95 for size in rows]
    everything = pd.concat(panels.values())
    figure = new_figure(7.4, sum(heights) + 0.4)
    column = figure.subplots(len(panels), 1, squeeze=False, sharex=True, height_ratios=heights)[:, 0]
    for axes, (title, panel) in zip(column, panels.items(), strict=True):
        (_rows if named else _boxes)(axes, panel, {name: looks[name] for name in panel["measure"].unique()})
        style_axes(axes, "", title)
        _bands(axes)
    column[-1].set_xlabel("coefficient of reliability (1: no error)")
    least = float(everything[["value", "low"] if named else ["value"]].min().min())
    column[0].set_xlim(max(LEAST, min(0.0, least)) - 0.03, 1.02)
    if named and len(looks) > 1:
        figure.legend(handles=handles_of(looks.values()), loc="outside upper center", ncols=4, frameon=False)
    cut = ", cut at the left edge" if (everything["low"] < LEAST).any() else ""
    note_below(figure, f"Bars: confidence intervals{cut}." if named else "", *_counted(everything))
    return figure


def _panels(table: object) -> dict[str, pd.DataFrame]:
    """Title to table, each with a column of measures."""
    tables = {"": table} if isinstance(table, pd.DataFrame) else dict(table) if isinstance(table, Mapping) else {}
    for name, part in tables.items():
        if not isinstance(part, pd.DataFrame):
            wrong = type(part).__name__
        elif lacks := [column for column in ("label", "value", "low", "high", "reason") if column not in part]:
            wrong = f"a table without {', '.join(lacks)}"
        elif part.empty:
            wrong = "no row"
        else:
            continue
        raise InputError(f"{f'{name!r} holds' if name else 'given is'} {wrong}: give what {MAKERS} returns")
    if not tables:
        raise InputError(
            f"given is {type(table).__name__} without tables: give what {MAKERS} returns, or a mapping of names to "
            "such tables"
        )
    if len(tables) > 1 and not any("measure" in part for part in tables.values()):
        return {"": pd.concat([part.assign(measure=str(name)) for name, part in tables.items()], ignore_index=True)}
    return {str(name): part.assign(measure=part.get("measure", "all measures")) for name, part in tables.items()}


def _bands(axes: Axes) -> None:
    """Shades with their names, the first of which stands at the left edge."""
    edges, top = [*(begin for begin, _ in BANDS.values()), 1.0], axes.get_ylim()[1]
    for (name, (_, shade)), (low, high) in zip(BANDS.items(), pairwise(edges), strict=True):
        axes.axvspan(low, high, color=shade, linewidth=0, zorder=0)
        first = low == edges[0]
        coordinates: Any = ("axes fraction", "data") if first else "data"
        note(axes, name, (0.0 if first else low, top), (3, -3), xycoords=coordinates, va="top")
    axes.grid(visible=False)


def _boxes(axes: Axes, panel: pd.DataFrame, looks: Mapping[str, Look]) -> None:
    """A box a measure."""
    for i, (name, look) in enumerate(looks.items()):
        rows = panel.loc[panel["measure"] == name, "value"].dropna().to_numpy(dtype=float)
        values = np.maximum(rows, LEAST)
        if not len(values):
            notes_beside(axes, [-i], ["no value"])
            continue
        thin = {"color": INK, "linewidth": 0.9}
        flier = {"marker": look.marker, "markersize": 2, "markerfacecolor": look.colour, "markeredgewidth": 0}
        parts: dict[str, Any] = {f"{part}props": thin for part in ("box", "whisker", "cap")}
        parts |= {"medianprops": thin | {"linewidth": 1.6}, "flierprops": flier | {"alpha": 0.4, "rasterized": True}}
        few = len(values) <= 300  # each is a point
        place: dict[str, Any] = {"positions": [-i], "orientation": "horizontal", "widths": 0.5, "manage_ticks": False}
        axes.boxplot([values], showfliers=not few, zorder=3, **place, **parts)
        if few:
            how: dict[str, Any] = {"marker": look.marker, "color": look.colour, "linewidths": 0, "zorder": 2}
            jitter = np.random.default_rng(i).uniform(-0.2, 0.2, len(values))
            axes.scatter(values, jitter - i, s=13, alpha=0.6, **how)
        notes_beside(axes, [-i], [f"median {signed(np.median(rows), digits=2)}, n = {len(rows):,}"])
    axes.set_yticks(-np.arange(len(looks)), word_labels(looks))
    axes.set_ylim(-len(looks) + 0.45, 0.85)


def _rows(axes: Axes, panel: pd.DataFrame, looks: Mapping[str, Look]) -> None:
    """A row a label, with the coefficient of each measure."""
    order = panel.groupby("label", sort=False)["value"].mean().sort_values(ascending=False, kind="stable").index
    for i, (name, look) in enumerate(looks.items()):
        rows = panel[panel["measure"] == name].set_index("label").reindex(order)
        heights, value = spread_rows(len(order), len(looks), i), rows["value"].to_numpy(dtype=float)
        draw_row(axes, heights, np.maximum(value, LEAST), (rows["low"], rows["high"]), look, size=18)
    part_rows(axes, len(order) if len(looks) > 1 else 0, "#CCCCCC", 0.5, 1)
    without = np.flatnonzero(panel.groupby("label", sort=False)["value"].count().reindex(order) == 0)
    notes_beside(axes, -without, ["no value"] * len(without))
    axes.set_yticks(-np.arange(len(order)), word_labels(order))
    axes.set_ylim(-len(order) + 0.4, 0.6 + 0.24 / (0.12 * max(len(looks), 2)))


def _counted(table: pd.DataFrame) -> list[str]:
    """Sentences on the values that are not in the figure as they are."""
    value = table["value"].to_numpy(dtype=float)
    notes = []
    if missing := int(np.isnan(value).sum()):
        why = "; ".join(dict.fromkeys(table.loc[np.isnan(value), "reason"].dropna()))
        notes.append(f"{missing:,} of {len(value):,} values are missing{': ' if why else ''}{why}.")
    if low := int((value < LEAST).sum()):
        least = f"{low:,}, the smallest is {signed(np.nanmin(value), digits=2)}"
        notes.append(f"Values below {signed(LEAST, digits=1)} stand at the left edge: {least}.")
    return notes


TERM, SPREAD = Look("#0072B2", "o", ""), Look("#009E73", "^", "")
EXPLAINED = Look("#D55E00", "s", "")


@picture((VarianceComponents, SettingComponents), "variance_components or setting_components")
def plot_components(result: VarianceComponents | SettingComponents, prob: float = PROB) -> Figure:
    """Shares of the variance by component, the largest on top.

    Points are posterior means, thick bars 50% and thin bars ``prob`` equal-tailed intervals. The component of all
    facets is what is left over. Shares of settings are those of the observed levels.

    Parameters
    ----------
    result
        What :func:`variance_components` or :func:`setting_components` returns.
    prob
        Posterior mass of the thin bars.

    Examples
    --------
    >>> toy = bb.stability.toy_corpus(bias=0.5, sentences=400)
    >>> kvs = bb.stability.train_embeddings(toy, seeds=2, dims=10, epochs=1)
    >>> scores = bb.reliability.bias_scores(kvs, toy.targets, toy.base_pairs, ["db_wa", "ripa"])
    >>> found = bb.reliability.variance_components(scores, draws=400, seed=0)
    >>> bb.plots.plot_components(found).savefig("components.png")
    """
    prob = probability(prob, "prob")
    table = result.table(prob).sort_values("share", ascending=False, kind="stable")
    figure, axes = one_panel(None, 7.4, 0.25 * len(table) + 1.3)
    heights, inner = -np.arange(len(table), dtype=float), result.table(INNER_PROB).loc[table.index]
    draw_row(axes, heights, table["share"], (table["share_low"], table["share_high"]), TERM)
    axes.hlines(heights, inner["share_low"], inner["share_high"], color=TERM.colour, linewidth=3.0, zorder=2)
    notes_beside(axes, heights, ["< 1%" if value < 0.01 else f"{value:.0%}" for value in table["share"]])
    axes.set_xlim(-0.01, min(1.01, 1.05 * float(table["share_high"].max())))
    axes.xaxis.set_major_formatter(lambda value, _: f"{percent(value)}")
    what = "between the observed levels" if isinstance(result, SettingComponents) else "of single scores"
    axes_label = f"share of the variance {what} (50% and {percent(prob)})"
    names = [name.replace("_", " ") for name in table["component"]]
    label_rows(axes, names, axes_label, "Components of the variance", 0.0)
    note_below(figure, *result.notes)
    return figure


@picture(VarianceComponents, "variance_components")
def plot_decision(
    components: VarianceComponents,
    base_pairs: int | Iterable[int] = (1, 2, 5, 10, 20, 50),
    seeds: int | Iterable[int] | None = None,
    of: Literal["target", "base_pair"] = "target",
    absolute: bool = False,
    threshold: float = GOOD,
    prob: float = PROB,
    ax: Axes | None = None,
) -> Figure:
    """Reliability of mean scores against the number of base pairs, a line and a band for each number of seeds.

    Lines are posterior means, bands ``prob`` equal-tailed intervals; the dotted line is the threshold. The legend
    says how many base pairs reach it. Scores of a single seed make one line: what other seeds would do is not known.

    Parameters
    ----------
    components
        What :func:`variance_components` returns.
    base_pairs, seeds, of, absolute, threshold, prob
        As in its method ``decision``.
    ax
        Axes to draw on; by default those of a new figure.

    Examples
    --------
    >>> toy = bb.stability.toy_corpus(bias=0.5, sentences=400)
    >>> kvs = bb.stability.train_embeddings(toy, seeds=2, dims=10, epochs=1)
    >>> scores = bb.reliability.bias_scores(kvs, toy.targets, toy.base_pairs, ["db_wa", "ripa"])
    >>> found = bb.reliability.variance_components(scores, draws=400, seed=0)
    >>> bb.plots.plot_decision(found, seeds=(1, 2)).savefig("decision.png")
    """
    table = components.decision(base_pairs, seeds, of, absolute, threshold, prob)
    across = str(table.columns[0])
    table = table.drop_duplicates([across, "seeds"]).sort_values(["seeds", across])
    mean_over = {"base_pairs": "base pairs", "targets": "target words"}[across]
    measured = {"target": "target words", "base_pair": "base pairs"}[of]
    numbers = table["seeds"].unique().tolist()
    figure, axes = one_panel(ax, 8.2, 3.8)
    for i, (number, look) in enumerate(zip(numbers, looks_of(map(str, numbers)).values(), strict=True)):
        rows = table[table["seeds"] == number]
        few = components.needed(number, of, absolute, threshold, prob)
        axes.fill_between(rows[across], rows["low"], rows["high"], color=look.colour, alpha=0.13, linewidth=0)
        for end in ("low", "high"):
            axes.plot(rows[across], rows[end], color=look.colour, linewidth=0.5, linestyle=LINES[i % len(LINES)])
        enough = ["∞" if np.isinf(few[name]) else f"{few[name]:,.0f}" for name in ("median", "low", "high")]
        needed = enough[0] if len(set(enough)) == 1 else f"{enough[0]} ({enough[1]} to {enough[2]})"
        label = f"{number} {'seed' if number == 1 else 'seeds'}: {needed}"
        style: Any = {"color": look.colour, "marker": look.marker, "linestyle": LINES[i % len(LINES)]}
        axes.plot(rows[across], rows["mean"], ms=5, lw=1.6, label=label, **style)
    axes.axhline(threshold, color=FAINT, linewidth=0.9, linestyle=":")
    ticks = table[across].unique()
    axes.set_xscale("log")
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_ylim(-0.01, 1.02)
    axes.set_yticks(np.linspace(0, 1, 5))
    style_axes(axes, f"{mean_over} that a score is the mean of", f"Reliability of {measured}")
    axes.set_ylabel(f"reliability ({'absolute' if absolute else 'relative'} error)")
    handles, labels = axes.get_legend_handles_labels()
    legend = {"handles": handles[::-1], "labels": labels[::-1], "alignment": "left"}
    place_legend(figure, axes, ax, "right center", title=f"{mean_over} needed\nfor {threshold:g}", **legend)
    never = "∞: no number is enough." if any("∞" in label for label in labels) else ""
    note_below(figure, f"Bands and brackets: {percent(prob)} intervals.", never, *components.notes, ax=ax)
    return figure


@picture(ReliabilityRegression, "reliability_regression")
def plot_factors(regression: ReliabilityRegression) -> Figure:
    """Coefficients and the share of the variance of each part.

    Above, features: left their coefficients, of numbers for a standard deviation more and of text against the reference
    level; right the share that is each feature's own. Below, left the standard deviations of groupings and residuals;
    right their shares, with those of all features and of all but the residuals. Points are posterior means, thick bars
    50% and thin bars the regression's equal-tailed intervals.

    Parameters
    ----------
    regression
        What :func:`reliability_regression` returns.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame({"frequency": rng.normal(size=60), "algorithm": ["sgns", "cbow"] * 30})
    >>> table["corpus"] = ["a", "b", "c"] * 20
    >>> table["value"] = 0.5 * table["frequency"] + rng.normal(size=60)
    >>> found = bb.reliability.reliability_regression(table, features=["frequency"], draws=400)
    >>> bb.plots.plot_factors(found).savefig("factors.png")
    """
    posterior = regression.posterior["posterior"].to_dataset()
    coefficients, spreads, shares = (
        dict(zip(posterior[dim].to_numpy().tolist(), flat_draws(posterior[name].to_numpy()).T, strict=True))
        if name in posterior
        else {}
        for name, dim in (("coefficient", "term"), ("group_sd", "group"), ("r2", "part"))
    )
    spreads[RESIDUAL] = flat_draws(posterior["residual_sd"].to_numpy())
    wholes = [FIXED, *regression.levels, RESIDUAL, TOTAL]
    features = [str(term) for term in regression.table()["term"] if term not in (INTERCEPT, *wholes)]
    prob, sizes = regression.prob, [0.22 * len(rows) + 0.8 for rows in (features, wholes)]
    change = f"change of {regression.outcome} (numbers: for a standard deviation more)"
    spread = f"standard deviation of {regression.outcome}"
    intervals = f"with 50% and {percent(prob)} intervals"
    figure = new_figure(9.2, sum(sizes) + 0.5)
    figure.set_layout_engine("constrained", h_pad=0.1)
    (above, own), (below, whole) = figure.subplots(2, 2, height_ratios=sizes, width_ratios=(1.25, 1))
    own.sharex(whole)
    _column(above, features, coefficients, prob, TERM)
    label_rows(above, [_feature(regression, term) for term in features], change, "Coefficients", 0.0)
    _column(own, features, shares, prob, EXPLAINED, with_means=True)
    label_rows(own, [""] * len(features), "", "Own share of the variance", 0.0)
    _column(below, wholes, spreads, prob, SPREAD)
    names = {name: f"{name.replace('_', ' ')} ({count} levels)" for name, count in regression.levels.items()}
    names |= {FIXED: "all features", RESIDUAL: RESIDUAL, TOTAL: "all but the residual"}
    label_rows(below, [names[name] for name in wholes], spread, "Standard deviations", 0.0)
    _column(whole, wholes, shares, prob, EXPLAINED, with_means=True)
    label_rows(whole, [""] * len(wholes), f"share of the variance, {intervals}", "Share of the variance", 0.0)
    whole.set_xlim(-0.01, 1.01)
    whole.xaxis.set_major_formatter(lambda value, _: f"{percent(value)}")
    note_below(figure, *regression.notes)
    return figure


def _column(
    axes: Axes, names: Sequence[str], draws: Mapping[str, FloatArray], prob: float, look: Look, with_means: bool = False
) -> None:
    """The intervals of the rows that have draws, with their means in percent beside them if ``with_means``."""
    rows = [i for i, name in enumerate(names) if name in draws]
    drawn = np.stack([draws[names[row]] for row in rows], axis=1)
    draw_intervals(axes, -np.array(rows, dtype=float), drawn, prob, look)
    if with_means:
        notes_beside(axes, -np.array(rows), [f"{mean:.1%}" for mean in drawn.mean(axis=0)])


def _feature(regression: ReliabilityRegression, term: str) -> str:
    """A term's label: the feature, its reference level, or the level."""
    if term in regression.references:
        return f"{term.replace('_', ' ')} (against {regression.references[term]})"
    for name in regression.references:
        if term.startswith(f"{name}[") and term.endswith("]"):
            return f"    {term[len(name) + 1 : -1]}"
    return term.replace("_", " ")


INNER, OUTER = 0.058, 0.076  # width of a letter of the small and of the bold labels, in inches


@picture(DirectBiasStudy, "direct_bias_study")
def plot_rank_agreement(study: DirectBiasStudy) -> Figure:
    """Kendall's tau-b of the words' bias between every two settings, grouped by corpus and algorithm.

    The lighter a cell, the more similarly two embeddings rank the words: 1 is the same order, 0 what chance gives.

    Parameters
    ----------
    study
        What :func:`direct_bias_study` returns. Up to 28 settings the numbers stand in the cells.

    Examples
    --------
    >>> toy = bb.stability.toy_corpus(bias=0.5, sentences=400)
    >>> kvs = bb.stability.train_embeddings(toy, algorithm=["sgns", "cbow"], seeds=2, dims=10, epochs=1)
    >>> study = bb.stability.direct_bias_study(kvs, toy.targets, toy.base_pairs, draws=50, random_pairs=50)
    >>> bb.plots.plot_rank_agreement(study).savefig("agreement.png")
    """
    tau, settings = study.rank_agreement().to_numpy(), study.settings
    side = min(0.55, max(0.17, 7.6 / len(settings)))  # of a cell, in inches
    several_seeds = len({setting.seed for setting in settings}) > 1
    inner = [f"{setting.dims}, seed {setting.seed}" if several_seeds else str(setting.dims) for setting in settings]
    names = [f"{setting.corpus} {setting.algorithm}" for setting in settings]
    groups = {str(name): len(list(members)) for name, members in groupby(names)}
    labels = dict(zip(groups, word_labels(groups), strict=True))
    inward, outward = INNER * max(map(len, inner)), OUTER * max(map(len, labels.values()))
    level = all(OUTER * len(labels[name]) < side * size for name, size in groups.items())
    edge = side * len(settings) + inward + 0.5  # with a margin; then a colour bar at the right and a title above
    figure = new_figure(max(5.2, edge + outward + 0.9), edge + (0.3 if level else outward) + 0.4)
    axes = figure.add_subplot()
    cells = axes.imshow(tau, cmap="cividis", vmin=min(0.0, float(np.nanmin(tau))), vmax=1.0)
    if side >= 0.27:  # a number fits
        low, high = cells.get_clim()
        for (row, column), value in np.ndenumerate(tau):
            text = "–" if np.isnan(value) else signed(value, digits=2).replace("0.", ".", 1)
            colour = INK if value > (low + high) / 2 else "white"
            axes.text(column, row, text, ha="center", va="center", fontsize=8.0 if side > 0.35 else 6.0, color=colour)
    _setting_labels(axes, inner, groups, labels, 72 * inward + 8, level)
    figure.colorbar(cells, ax=axes, shrink=0.6, label="Kendall's tau-b", pad=0.02).outline.set_visible(False)
    figure.suptitle(f"Agreement of the ranks of {study.bias.shape[1]} words", x=0.02, ha="left", fontweight="bold")
    sides = "dimensions and seed" if several_seeds else "dimensions"
    note_below(figure, f"Along the sides: {sides}.", *study.notes)
    return figure


def _setting_labels(
    axes: Axes, inner: Sequence[str], groups: dict[str, int], labels: dict[str, str], apart: float, level: bool
) -> None:
    """Dimensions along both sides, outside them corpus and algorithm, and a line between groups."""
    places = np.arange(len(inner))
    axes.set_yticks(places, inner)
    axes.set_xticks(places, inner, rotation=90)
    axes.tick_params(length=0, labelsize=7.5)
    axes.spines[:].set_visible(False)
    begin = 0
    for name, size in groups.items():
        middle = begin + (size - 1) / 2
        look: dict[str, Any] = {"fontsize": 8.5, "fontweight": "bold", "annotation_clip": False, "color": None}
        left, below = ("axes fraction", "data"), ("data", "axes fraction")
        turn = 0 if level else 90
        note(axes, labels[name], (0, middle), (-apart, 0), xycoords=left, ha="right", va="center", **look)
        note(axes, labels[name], (middle, 0), (0, -apart), xycoords=below, ha="center", va="top", rotation=turn, **look)
        begin += size
        if begin < len(inner):
            axes.axhline(begin - 0.5, color="white", linewidth=2.2)
            axes.axvline(begin - 0.5, color="white", linewidth=2.2)


PANELS = {  # column to the axis and title of its panel
    "direct_bias": ("direct bias (mean |cosine|)", "Direct bias"),
    "baseline": ("mean |cosine| of random pairs", "Baseline"),
    "standardised": ("direct bias / baseline", "Direct bias over the baseline"),
}


@picture(DirectBiasStudy, "direct_bias_study")
def plot_bias_decay(study: DirectBiasStudy) -> Figure:
    """Direct bias over dimensions, what random pairs of words have, and the one over the other.

    Each list of words is a row of panels, each corpus and algorithm a line through the means over seeds; seeds are
    dashes. The dotted line is the baseline of vectors without any structure, sqrt(2 / (pi dims)); the dashed one
    a direct bias like that of random pairs.

    Parameters
    ----------
    study
        What :func:`direct_bias_study` returns.

    Examples
    --------
    >>> toy = bb.stability.toy_corpus(bias=0.5, sentences=400)
    >>> kvs = bb.stability.train_embeddings(toy, algorithm=["sgns", "cbow"], seeds=2, dims=10, epochs=1)
    >>> study = bb.stability.direct_bias_study(kvs, toy.targets, toy.base_pairs, draws=50, random_pairs=50)
    >>> bb.plots.plot_bias_decay(study).savefig("decay.png")
    """
    table = study.table()
    lists = table["word_list"].unique().tolist()
    looks = looks_of(table["corpus"])
    lines: dict[str, Any] = {str(name): LINES[i % len(LINES)] for i, name in enumerate(table["algorithm"].unique())}
    figure = new_figure(10.5, 3.1 * len(lists) + 0.5)
    grid = figure.subplots(len(lists), len(PANELS), squeeze=False, sharex=True, sharey="col")
    for row, name in zip(grid, lists, strict=True):
        rows = table[table["word_list"] == name]
        for axes, (column, (label, title)) in zip(row, PANELS.items(), strict=True):
            _lines(axes, rows, column, looks, lines)
            heading = f"{name}\n{title}" if len(lists) > 1 and axes is row[0] else title
            style_axes(axes, "", heading)
            axes.set_ylabel(label)
        fine = np.geomspace(rows["dims"].min(), rows["dims"].max(), 50)
        row[1].plot(fine, np.sqrt(2 / (np.pi * fine)), color=FAINT, linewidth=1.2, linestyle=":")
        end = (fine[-1], np.sqrt(2 / (np.pi * fine[-1])))
        note(row[1], "√(2 / (π dims))", end, (0, -4), ha="right", va="top")
        mark_line(row[2], 1.0, level=True)
    for axes, column in zip(grid[0], PANELS, strict=True):
        axes.set_ylim(0, 1.08 * float(table[column].max()))
    dims = table["dims"].unique()
    for axes in grid.ravel():  # by doublings
        axes.set_xscale("log", base=2)
        axes.set_xticks(dims, [f"{size:g}" for size in dims])
        axes.set_xlim(float(dims.min()) * 0.87, float(dims.max()) * 1.15)
        axes.minorticks_off()
    for axes in grid[-1]:
        axes.set_xlabel("dimensions")
    of_lines = [Line2D([], [], color=INK, linestyle=style, label=name) for name, style in lines.items()]
    figure.legend(handles=handles_of(looks.values()) + of_lines, loc="outside upper center", ncols=6, frameon=False)
    seeds = "Dashes: seeds." if len(table["seed"].unique()) > 1 else ""
    note_below(figure, seeds, *study.notes)
    return figure


def _lines(axes: Axes, rows: pd.DataFrame, column: str, looks: Mapping[str, Look], lines: Mapping[str, Any]) -> None:
    """A line through the means over seeds of each corpus and algorithm, and dashes at the seeds."""
    for (corpus, algorithm), own in rows.groupby(["corpus", "algorithm"], sort=False):
        look, means = looks[str(corpus)], own.groupby("dims")[column].mean()
        style: Any = {"color": look.colour, "marker": look.marker, "linestyle": lines[str(algorithm)]}
        axes.plot(means.index, means, ms=5, lw=1.4, **style)
        if len(own["seed"].unique()) > 1:
            axes.scatter(own["dims"], own[column], s=14, marker="_", color=look.colour, linewidths=1.1, zorder=3)


type Panel = tuple[str, str, int]


@picture(DirectBiasStudy, "direct_bias_study")
def plot_bias_bootstrap(
    study: DirectBiasStudy,
    algorithm: str | Iterable[str] | None = None,
    dims: int | Iterable[int] | None = None,
    word_list: str | Iterable[str] | None = None,
    standardised: bool = False,
) -> Figure:
    """How far direct bias depends on which words and pairs are taken, by corpus.

    A panel for each list of words, algorithm and number of dimensions; in it for each corpus and seed the density of
    the draws, their interval, and the value of all words and pairs.

    Parameters
    ----------
    study
        What :func:`direct_bias_study` returns.
    algorithm, dims, word_list
        What is shown; None shows all.
    standardised
        Whether direct bias is taken over the baseline of its embedding.

    Examples
    --------
    >>> toy = bb.stability.toy_corpus(bias=0.5, sentences=400)
    >>> kvs = bb.stability.train_embeddings(toy, algorithm=["sgns", "cbow"], seeds=2, dims=10, epochs=1)
    >>> study = bb.stability.direct_bias_study(kvs, toy.targets, toy.base_pairs, draws=50, random_pairs=50)
    >>> bb.plots.plot_bias_bootstrap(study).savefig("bootstrap.png")
    """
    column = "standardised" if flag(standardised, "standardised") else "direct_bias"
    table = _chosen(study.table(), {"word_list": word_list, "algorithm": algorithm, "dims": dims})
    draws = study.draws / (study.table()["baseline"].to_numpy()[:, None] if standardised else 1.0)
    means = table.groupby("corpus")[column].mean().sort_values(ascending=False, kind="stable")
    known = looks_of(study.table()["corpus"])
    looks = {str(name): known[str(name)] for name in means.index}
    panels, columns = _panels_of(table)
    rows, labels = len(panels) // columns, word_labels(looks)
    beside = 0.9 + 0.07 * max(map(len, labels))  # the axis and the corpora's names
    figure = new_figure(min(12.8, max(5.4, 2.5 * columns + beside)), rows * (0.5 * len(looks) + 0.8) + 0.6)
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    for axes, panel, below in zip(grid.ravel(), panels, [*panels[columns:], *[None] * columns], strict=True):
        own = _of(table, panel)
        axes.set_visible(panel is not None)
        _densities(axes, own, draws, looks, study.prob, column)
        word_list_name, algorithm_name, number = panel or ("", "", 0)
        title = f"{algorithm_name} {number}" + f", {word_list_name}" * (len(table["word_list"].unique()) > 1)
        style_axes(axes, "" if below else f"direct bias{' / baseline' * standardised}", title if panel else "")
        axes.tick_params(labelbottom=not below)
    grid[0, 0].set_yticks(-np.arange(len(looks)), labels)
    grid[0, 0].set_ylim(-len(looks) + 0.6, 0.75)
    seeds = ", a line for each seed" * (len(study.table()["seed"].unique()) > 1)
    drawn = f"Densities: pairs and words drawn with replacement{seeds}; bars: {percent(study.prob)} intervals; points:"
    note_below(figure, f"{drawn} all words and pairs.", *study.notes)
    return figure


def _chosen(table: pd.DataFrame, selection: Mapping[str, Any]) -> pd.DataFrame:
    """The rows of what is shown."""
    for name, value in selection.items():
        present = table[name].unique().tolist()
        wanted = present if value is None else several(value)
        if unknown := [name for name in wanted if not isinstance(name, str | Real) or name not in present]:
            raise InputError(f"{name} is {shown(unknown[0])}: valid are {', '.join(map(str, present))}")
        table = table[table[name].isin(wanted)]
    if table.empty:
        raise InputError("the study holds nothing of that algorithm with those dimensions: choose others")
    return table


def _panels_of(table: pd.DataFrame) -> tuple[list[Panel | None], int]:
    """What each panel shows, None where one stays empty, and how many stand in a row."""
    numbers = sorted(table["dims"].unique().tolist())
    columns = min(4, len(numbers))
    padded = [*numbers, *[None] * (-len(numbers) % columns)]
    present = dict.fromkeys(table[["word_list", "algorithm", "dims"]].itertuples(index=False, name=None))
    blocks = sorted({(word_list, algorithm) for word_list, algorithm, _ in present})
    places = [(*block, number) for block in blocks for number in padded]
    return [place if place in present else None for place in places], columns


def _of(table: pd.DataFrame, panel: Panel | None) -> pd.DataFrame:
    """The rows of a panel."""
    word_list, algorithm, dims = panel or ("", "", 0)
    return table[(table["word_list"] == word_list) & (table["algorithm"] == algorithm) & (table["dims"] == dims)]


def _densities(
    axes: Axes, own: pd.DataFrame, draws: FloatArray, looks: Mapping[str, Look], prob: float, column: str
) -> None:
    """On the row of each corpus a density of each seed's draws, below it the intervals."""
    from scipy.stats import gaussian_kde

    for height, (corpus, look) in enumerate(looks.items()):
        rows = own[own["corpus"] == corpus]
        step = min(0.07, 0.3 / max(len(rows), 1))  # from one interval to the next, where a corpus has the height 1
        for i, (place, value) in enumerate(zip(rows.index.to_numpy(), rows[column], strict=True)):
            sample = draws[place]
            low, high = np.quantile(sample, [(1 - prob) / 2, (1 + prob) / 2])
            if np.ptp(sample) > 0:
                x = np.linspace(sample.min(), sample.max(), 200)
                density = gaussian_kde(sample)(x)
                top = 0.62 * density / density.max() - height
                axes.fill_between(x, -height, top, color=look.colour, alpha=0.25, linewidth=0)
                axes.plot(x, top, color=look.colour, linewidth=1.0, linestyle=LINES[i % len(LINES)])
            level = -height - step * (i + 1)
            axes.hlines(level, low, high, color=look.colour, linewidth=1.3, zorder=3)
            axes.scatter(value, level, s=20, marker=look.marker, color=look.colour, edgecolor="white", lw=0.5, zorder=4)
        axes.axhline(-height, color="#CCCCCC", linewidth=0.6, zorder=0)
