"""``trend``: one contrast over ordered embeddings, for the whole list and for each protected word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import chdtrc, ndtri

from bayesbias._support.arguments import one_of, probability
from bayesbias._support.figures import drawing
from bayesbias._support.phrases import IN_SDS, MINUS, ends_of, excludes_zero, figure, percent, signed
from bayesbias._support.results import Cited, Page, Picture, Section, front_page, whole_table
from bayesbias._support.runs import one_thread
from bayesbias.checks.summaries import PROB, describe
from bayesbias.distances.list_coverage import COSINE
from bayesbias.errors import InputError, agreed, listed, many, shown
from bayesbias.estimates import Estimates
from bayesbias.models.fits import used_seed
from bayesbias.models.weights import DIFFERENCE, RAW
from bayesbias.numerics.arrays import FloatArray
from bayesbias.numerics.second_stage import mixed_draws, second_stage
from bayesbias.second_stage.estimates import (
    GIVEN_UNITS,
    JOINT,
    PAIRS,
    Stage,
    Staged,
    Tables,
    checked_contrast,
    checked_tables,
    holding_notes,
    holdings,
    measured_stage,
    outside_note,
    posterior_tree,
    rows_of_all,
    sources_of,
    standardised,
    subject_of,
    units_of,
    whole_lists,
    word_rows,
)
from bayesbias.second_stage.two_stage import DEFAULT, TwoStage, checked_stages

KINDS = ("linear", "walk")
WIDTH = 0.02
"""Width of the half-Cauchy priors of embeddings' deviations from a trend, in cosine distance."""
FEWEST = 3
"""Embeddings that a trend needs."""
FEW, FEW_WIDTH = 3, 0.01
"""So many embeddings tell little of deviations, and the prior is narrower."""
CORRELATIONS = (0.5, 0.8, 0.95)
"""Correlations of what neighbouring embeddings share in their deviations from a line, equally probable beforehand."""
STANDARD = 10.0
"""Factor on the widths of priors for contrasts in standard deviations of distances."""
DOUBTED = 0.05
"""Probability of deviations as large as the observed ones below which a line is doubted."""
OF_WORDS = {
    RAW: ", less how near each list is to all protected words",
    DIFFERENCE: ", in which is also how near the lists are to all protected words",
    PAIRS: "",
}
"""What the trends of words are, by what their rows are."""
ROUNDING = 1e-7
UNIT_OF_TIME = "unit of time"
"""Unit of time of a mapping, which does not name it."""


@dataclass(frozen=True, repr=False, eq=False)
class Trend(Staged):
    """One contrast over time.

    Attributes
    ----------
    contrast, kind, weights
        As they were asked for.
    subject
        What the contrast tells of.
    per
        The unit of time in a sentence, such as ``"year"``.
    unit
        As that of a :class:`Pool`.
    estimates
        The contrast in each embedding, in the order of time, as :class:`Estimates` in :attr:`unit`, with their joint
        covariance. Their ``index``: ``embedding``, ``time``, ``protected_words``, ``unit`` (in cosine distance),
        ``found`` (the share of the words of this contrast that it holds; NaN where it is not known), ``language`` (of
        the lists).
    population
        The trend, as :class:`Estimates` by ``variable`` and ``name``: the draws of :attr:`tree`.
    tree
        A DataTree that ArviZ reads: ``posterior`` with ``level`` (embedding; the trend itself), ``deviation_sd`` (of
        single embeddings, all in all), ``slope`` (of a linear trend, per unit of time) with ``shared_sd`` and
        ``correlation`` (of the deviations that neighbours share, and between neighbours at the mean distance in time)
        or ``step_sd`` (of a walk, per unit of time), and ``word_slope`` (protected_word).
    rows
        What the rows of words are: associations where the tables have them (``"association"``, as in
        :func:`contrasts`), differences of mean distances (``"difference"``), or places on an axis (``"pairs"``).
    unadjusted
        The trend of distances that are not adjusted, where adjustment was asked for; else None.
    """

    picture: ClassVar[str] = "plot_trend"

    contrast: tuple[str, str]
    kind: str
    weights: str
    unit: str
    estimates: Estimates
    tree: xr.DataTree
    unadjusted: Trend | None
    notes: tuple[str, ...]
    rows: str = DIFFERENCE
    subject: str = ""
    per: str = UNIT_OF_TIME
    cited: tuple[Any, ...] = ()

    def table(self, prob: float = PROB) -> pd.DataFrame:
        """Each embedding: its estimate, and the level of the trend there, in :attr:`unit`.

        Returns
        -------
        DataFrame
            One row an embedding: ``embedding``, ``time``, ``estimate``, ``se``, ``estimate_low``, ``estimate_high``
            (its own interval with the mass ``prob``), ``mean``, ``sd``, ``low``, ``high`` (the trend).
        """
        reach = float(ndtri((1 + probability(prob, "prob")) / 2))
        estimate, se = self.estimates.mean, self.estimates.sd
        return self.estimates.index[["embedding", "time"]].assign(
            **{
                "estimate": estimate,
                "se": se,
                "estimate_low": estimate - reach * se,
                "estimate_high": estimate + reach * se,
                **describe(self.draws("level"), prob),
            }
        )

    def slopes(self, prob: float = PROB) -> pd.DataFrame:
        """The change from the first to the last embedding, and per unit of time: whole list first, then words.

        Returns
        -------
        DataFrame
            ``protected_word`` (pd.NA: the whole list), ``mean``, ``sd``, ``low``, ``high``, ``p_closer``
            of the change per unit of time, and ``over_all``, the mean change over the whole time. Words have linear
            trends under either kind.
        """
        prob = probability(prob, "prob")
        level, time = self.draws("level"), self.estimates.index["time"].to_numpy(dtype=float)
        whole = (level[:, -1] - level[:, 0]) / (time[-1] - time[0])
        draws = np.column_stack([whole, self.draws("word_slope")])
        words = [pd.NA, *self.tree["posterior/protected_word"].to_numpy().tolist()]
        table = pd.DataFrame({"protected_word": pd.array(words, dtype="string"), **describe(draws, prob)})
        table["p_closer"] = (draws < 0).mean(axis=0)
        table["over_all"] = table["mean"] * (time[-1] - time[0])
        return table

    def change(self, before: str, after: str, prob: float = PROB) -> dict[str, float]:
        """The change of the trend between two embeddings, and the plain difference of the two.

        Returns
        -------
        dict
            ``mean``, ``sd``, ``low``, ``high`` of the change, and ``p_rose``, its probability to be positive;
            ``estimate``, ``estimate_low``, ``estimate_high``: the estimate of the second less that of the first, which
            is right for any shape of the change. Its interval is about these two embeddings, deviations from the trend
            included. In :attr:`unit`.
        """
        names = self.estimates.index["embedding"].tolist()
        for name in (before, after):
            if not isinstance(name, str) or name not in names:
                raise InputError(f"there is no {shown(name)}: valid are {', '.join(names)}")
        level = self.draws("level")
        draws = level[:, names.index(after)] - level[:, names.index(before)]
        summary = describe(draws[:, None], probability(prob, "prob"))
        plain = self.estimates[names.index(after)] - self.estimates[names.index(before)]
        estimate, reach = float(plain.mean[0]), float(ndtri((1 + prob) / 2) * plain.sd[0])
        return {name: float(value[0]) for name, value in summary.items()} | {
            "p_rose": float((draws > 0).mean()),
            "estimate": estimate,
            "estimate_low": estimate - reach,
            "estimate_high": estimate + reach,
        }

    def findings(self, prob: float = PROB) -> list[str]:
        """The result in sentences, without its notes."""
        names = self.estimates.index["embedding"].tolist()
        row, whole = self.change(names[0], names[-1], prob), self.slopes(prob).iloc[0]
        sds = describe(self.draws("deviation_sd")[:, None], prob)
        deviation = {name: float(value[0]) for name, value in sds.items()}
        settled, first = excludes_zero(whole), self.contrast[0]
        unit = "" if self.unit == COSINE else f" {self.unit}"
        what, inside = MINUS.join(self.contrast), f"{percent(prob)} interval"
        line = self.kind == "linear"
        asks = "asks if the embeddings move in one direction, and " if line else ""
        shared = ", in part together with its neighbours in time," if line else ""
        # a straight line through each word has no steps, so that words can be clear where the whole list is not
        own = "a trend of its own" if line else "a trend of its own, a straight line and no walk"
        way, moved = ("rose", "less close") if whole["mean"] > 0 else ("fell", "closer")
        sentences = [
            f"The contrast {what} {way} by {figure(abs(whole['mean']))}{unit} per {self.per} ({inside} of the change "
            f"{figure(whole['low'])} to {figure(whole['high'])}): {first} words became {moved}. From {names[0]} to "
            f"{names[-1]} the trend changed by {signed(row['mean'])} ({ends_of(row)})."
            if settled
            else f"Whether the contrast {what} rose or fell is not known: from {names[0]} to {names[-1]} the trend "
            f"changed by {signed(row['mean'])}{unit} ({inside} {ends_of(row)}; negative: {first} words became "
            f"closer), which is {figure(whole['mean'])} per {self.per} ({figure(whole['low'])} to "
            f"{figure(whole['high'])}, which includes 0).",
            f"The estimates of these two embeddings differ by {signed(row['estimate'])} "
            f"({signed(row['estimate_low'])} to {signed(row['estimate_high'])}), whatever the shape of the change. The "
            f"two numbers answer two questions: the trend {asks}counts the chance of a single embedding as an error; "
            "the difference is about these two embeddings only.",
            f"A single embedding deviates from the trend{shared} with a standard deviation of "
            f"{signed(deviation['mean'])} ({ends_of(deviation)}), which widens the interval of its change.",
        ]
        words = self.slopes(prob).iloc[1:]
        up, down = (
            f"{chosen.sum()} ({listed(words.loc[chosen, 'protected_word'].tolist())})" if chosen.any() else "none"
            for chosen in (words["low"] > 0, words["high"] < 0)
        )
        sentences.append(
            f"Each of {many(len(words), 'protected word')} has {own}{OF_WORDS[self.rows]}: the contrast "
            f"rose for {up} and fell for {down}, by {percent(prob)} intervals that exclude 0."
        )
        if self.unadjusted is not None:
            raw = self.unadjusted.change(names[0], names[-1], prob)
            change = f"{signed(raw['mean'])} from {names[0]} to {names[-1]} ({ends_of(raw)})"
            sentences.append(f"Without adjustment it changed by {change}.")
            if excludes_zero(raw) and not settled:
                sentences.append("The adjustment explains the trend of the distances before adjustment.")
        return sentences

    def front(self, prob: float = PROB) -> Page:
        """The first screen of a report."""
        times, what = self.estimates.index["time"], MINUS.join(self.contrast)
        picture = Picture("trend", "Estimates over time, and the trend", partial(drawing, "plot_trend", self, prob))
        lead = f"{what} in {len(times):,} embeddings, from {times.min():g} to {times.max():g}."
        silent = "A change of an embedding can come from other texts, other spelling or other training."
        return front_page(
            f"Did {self.subject or what} change over time?", lead, self.findings(prob), self.notes, picture, silent
        )

    def sections(self, prob: float = PROB) -> tuple[Section, ...]:
        """The parts of a report: each embedding, and the kind of trend."""
        single = whole_table("Each embedding: its estimate, and the level of the trend", self.table(prob))
        return Section("Embeddings", [single]), Section("How it was made", [f"Kind of trend: {self.kind}."], shut=True)

    def sources(self) -> tuple[Any, ...]:
        """The second stage, and the word lists and embeddings of its tables."""
        return (Cited("second stage: trend", "bayesbias"), *self.cited)


def trend(
    tables: Tables,
    time: Mapping[str, float] | pd.Series | None = None,
    contrast: tuple[str, str] | None = None,
    kind: str = "linear",
    standardise: bool | Mapping[str, float] = False,
    stages: TwoStage = DEFAULT,
    seed: int | None = 0,
) -> Trend:
    """Estimate the change of a contrast over ordered embeddings.

    The estimates of all embeddings are taken with their joint covariance: the same words in every embedding, so that
    changes are known better than levels. Deviations of whole embeddings from the trend, which training and corpora
    cause, are estimated and widen it. Those from a line are in part each embedding's own and in part correlated with
    those of its neighbours in time, by a correlation that falls exponentially and is integrated over.

    Parameters
    ----------
    tables
        Name of each embedding to its distance table, or to an axis as in :func:`pool`; at least three. The whole list
        is the protected words that all tables have under both connections; a word's own trend needs three tables.
    time
        Name of each embedding to its time, a number; None where the names are numbers themselves. The name of a Series,
        such as ``"year"``, is the unit of time in sentences and on axes.
    contrast
        As in :func:`pool`.
    kind
        ``"linear"``, or ``"walk"``: a random walk, for steps and turns. A line through a step overstates it.
    standardise
        Whether contrasts are in standard deviations of the embedding's distances, as in :func:`pool`.
    stages
        Adjustment of distances, weights of the line, and draws. ``frequencies`` by name of table are for frequencies
        that change over time; with adjustment the result says whether the raw trend is one of frequency.
    seed
        As in :func:`fit`.

    Returns
    -------
    Trend
        ``table()``, ``slopes()``, ``change(before, after)``, ``text()`` and ``tree``.

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> steps = {"1": kv}
    >>> for step, pairs in (("2", [("he", "she")]), ("3", [("he", "she"), ("man", "woman")])):
    ...     steps[step] = bb.debias(kv, "project", definitional=pairs)
    >>> trend = bb.trend(bb.distance_tables(steps, "weat7"))
    >>> trend.table()[["embedding", "time"]]
      embedding  time
    0         1   1.0
    1         2   2.0
    2         3   3.0
    """
    one_of(kind, KINDS, "kind")
    if isinstance(tables, Mapping) and len(tables) == 2:
        raise InputError(
            "two embeddings tell a difference, but not how much of it is chance of training and corpora, which the "
            "deviations of three or more from a trend tell: take compare for the difference, or give more embeddings"
        )
    named, asked = checked_tables(tables, FEWEST, "trend"), checked_contrast(contrast)
    per = str(time.name) if isinstance(time, pd.Series) and time.name is not None else UNIT_OF_TIME
    time_of = _times(dict(time) if isinstance(time, pd.Series) else time, list(named))
    ordered = {name: named[name] for name in sorted(named, key=lambda name: time_of[name])}
    times = np.array([time_of[name] for name in ordered])
    options, seed_used, units = checked_stages(stages), used_seed(seed), units_of(standardise, ordered)
    stage = measured_stage(ordered, asked, seed_used, options)
    if stage.copies:
        again, first = next(iter(stage.copies.items()))
        raise InputError(f"{first} and {again} hold the same distances: give another embedding at each time")
    raw = None
    if options.adjust is not None:
        plain = replace(options, adjust=None, frequencies=None)
        raw = trend(named, time_of, stage.contrast, kind, standardise, plain, seed_used)
    with one_thread():
        result = _trend(stage, times, kind, options, seed_used, units)
    coverage = holdings(ordered, stage.contrast)
    unit = COSINE if units is None else GIVEN_UNITS if isinstance(standardise, Mapping) else IN_SDS
    index = result.estimates.index.assign(found=coverage["found"].array, language=coverage["language"].array)
    return replace(
        result,
        unit=unit,
        subject=subject_of(stage.contrast, coverage),
        estimates=replace(result.estimates, index=index),
        unadjusted=raw,
        per=per,
        notes=(*result.notes, *holding_notes(coverage), *stage.asked),
        cited=sources_of(ordered),
    )


def _times(time: Mapping[str, float] | None, names: list[str]) -> dict[str, float]:
    """Time of each embedding."""
    mapping = {name: name for name in names} if time is None else time
    if not isinstance(mapping, Mapping) or set(map(str, mapping)) != set(names):
        raise InputError(f"time is {shown(time)}: give a number for each of the names of all tables, {listed(names)}")
    times: dict[str, float] = {}
    for name, value in mapping.items():
        try:
            times[str(name)] = float(value)
        except (TypeError, ValueError):
            times[str(name)] = np.nan
        if not np.isfinite(times[str(name)]) or isinstance(value, bool):
            raise InputError(f"time of {name} is {shown(value)}: give a finite number, such as 1990")
    if len(set(times.values())) < len(times):
        raise InputError("time repeats: give each embedding its own time, or pool embeddings of one time first")
    return times


def _trend(stage: Stage, times: FloatArray, kind: str, options: TwoStage, seed: int, units: FloatArray | None) -> Trend:
    """The trend of measured cells, in units (embeddings,) of cosine distance."""
    rng, weights, draws = np.random.default_rng([seed, 2]), options.weights, options.draws
    rows, notes = rows_of_all(stage)
    every = _presence(stage, rows)
    # only words that every embedding holds: a change of words would pass for a change of the contrast
    words = every.index[every.all(axis=1)].tolist()
    if rows == RAW and (together := rows_of_all(stage, words))[0] != RAW:
        rows, notes = together
        every = _presence(stage, rows)
        words = every.index[every.all(axis=1)].tolist()
    notes += _absent(every)
    if not words:
        raise InputError(
            "no protected word has both connections in all tables: a trend needs words that stay; the tables share "
            f"none of {listed(every.index.tolist())}"
        )
    whole, by_word = whole_lists(stage, words, rows), word_rows(stage, words, rows)
    if units is not None:
        whole, by_word = standardised(whole, units), standardised(by_word, units)
    scale = 1.0 if units is None else STANDARD
    embedding = by_word.index["embedding"].to_numpy()
    index = pd.DataFrame(
        {
            "embedding": pd.array(list(stage.embeddings), dtype="string"),
            "time": times,
            "protected_words": len(words),
            "unit": np.ones(len(times)) if units is None else units,
        }
    )
    estimates = replace(whole, index=index)
    y, covariance = estimates.mean, estimates.covariance.to_numpy()
    level, extra = _levels(y, covariance, times, kind, weights, draws, rng, scale)
    own, slopes = [], []
    for word in every.index:
        held = np.flatnonzero(by_word.index["word"] == word)
        if len(held) < FEWEST:
            continue
        series = by_word[held]
        observed = series.mean, series.covariance.to_numpy(), times[embedding[held]]
        _, parameters = _levels(*observed, "linear", weights, draws, rng, scale)
        own.append(word)
        slopes.append(parameters["slope"])
    variables: dict[str, tuple[str | None, FloatArray]] = {
        "level": ("embedding", level),
        "word_slope": ("protected_word", np.column_stack(slopes)),
        **{name: (None, values) for name, values in extra.items()},
    }
    return Trend(
        contrast=stage.contrast,
        kind=kind,
        weights=weights,
        unit=COSINE,
        estimates=estimates,
        tree=posterior_tree(variables, seed, embedding=list(stage.embeddings), protected_word=own),
        unadjusted=None,
        rows=rows,
        notes=(JOINT[stage.joint], *stage.notes, *notes, *_doubts(y, covariance, times, level, kind, weights)),
    )


def _presence(stage: Stage, rows: str) -> pd.DataFrame:
    """Table of protected words by embeddings, true where a word has a row."""
    numbers = range(len(stage.embeddings))
    own = [stage.sums(number, None, rows).index["protected_word"].to_numpy()[1:] for number in numbers]
    every = list(dict.fromkeys(word for words in own for word in words))
    return pd.DataFrame(
        {number: np.isin(every, words) for number, words in zip(numbers, own, strict=True)}, index=every
    )


def _absent(present: pd.DataFrame) -> list[str]:
    """A note on words that are not in the whole list."""
    partly = present.index[~present.all(axis=1)].tolist()
    note = (
        f"{len(partly)} of {len(present)} protected words {agreed(len(partly), 'lacks', 'lack')} distances in some "
        f"embedding, and {agreed(len(partly), 'is', 'are')} not in the whole list: {listed(partly)}."
    )
    return [note] if partly else []


def _doubts(
    y: FloatArray, covariance: FloatArray, times: FloatArray, level: FloatArray, kind: str, weights: str
) -> list[str]:
    """Notes where a line does not fit, or the draws (D, E) of levels lie outside the estimates."""
    notes, mean = [], level.mean(axis=0)
    if kind == "linear" and len(times) <= FEW:
        # embeddings that are one differ by nothing: a trace of independent error keeps the inverse finite
        precision = np.linalg.inv(covariance + ROUNDING * np.trace(covariance) * np.eye(len(covariance)))
        design = _line(times)
        left = y - design @ np.linalg.solve(design.T @ precision @ design, design.T @ precision @ y)
        # the probability of deviations as large as these or larger
        if (p := float(chdtrc(len(y) - 2, left @ precision @ left))) < DOUBTED:
            notes.append(
                "A line does not fit these estimates: they lie farther from it than their errors allow (p = "
                f"{p:.2g}). Take kind='walk', or compare the embeddings two by two."
            )
    if kind == "walk" and (beyond := int(((mean < y.min()) | (mean > y.max())).sum())):
        notes.append(f"{beyond} of {len(y)} levels lie outside the range of all estimates.")
    elif kind == "linear" and weights == "precision":
        notes += outside_note(mean, y, "The line")
    return notes


def _line(times: FloatArray) -> FloatArray:
    """Level and slope (E, 2) of a line, about the mean time."""
    return np.column_stack([np.ones(len(times)), times - times.mean()])


def _levels(
    y: FloatArray,
    covariance: FloatArray,
    times: FloatArray,
    kind: str,
    weights: str,
    draws: int,
    rng: np.random.Generator,
    scale: float = 1.0,
) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Draws (D, E) of the trend's levels, and of its parameters; ``scale`` is a factor on the widths of priors."""
    size = len(y)
    width = scale * (WIDTH if size > FEW else FEW_WIDTH)
    design = _line(times) if kind == "linear" else np.ones((size, 1))
    fitted = np.linalg.pinv(design) if weights == "equal" else None
    unit = float(np.diff(np.sort(times)).mean())
    if kind == "linear":
        # deviations of neighbours in time go together: correlation ** steps between them, mixed over the correlation
        apart = np.abs(times[:, None] - times) / unit
        stages = [
            second_stage(y, covariance, design, [correlation**apart], [width, width], fitted)
            for correlation in CORRELATIONS
        ]
        posterior, model = mixed_draws(stages, draws, rng)
        shared, single = posterior.scales.T
        return posterior.coefficients @ design.T, {
            "slope": posterior.coefficients[:, 1],
            "deviation_sd": np.hypot(shared, single),
            "shared_sd": shared,
            "correlation": np.array(CORRELATIONS)[model],
        }
    begin = times - times.min()
    steps = np.minimum(begin[:, None], begin)  # Brownian motion from the first time
    walk = second_stage(y, covariance, design, [steps / unit], [scale * WIDTH, width], fitted).draw(draws, rng)
    level = walk.coefficients + walk.effects[0]
    # the variance of a walk grows with time: from that of a mean step to that of one unit of time
    return level, {"step_sd": walk.scales[:, 0] / np.sqrt(unit), "deviation_sd": walk.scales[:, 1]}
