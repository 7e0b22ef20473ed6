"""``pool``: one contrast in many embeddings, partially pooled, and its relation to something outside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtri

from bayesbias._support.arguments import one_of, probability
from bayesbias._support.figures import drawing
from bayesbias._support.phrases import IN_SDS, MINUS, ends_of, excludes_zero, negatives, order_said, percent, signed
from bayesbias._support.results import Block, Cited, Page, Picture, Section, filled, front_page, whole_table
from bayesbias.checks.summaries import PROB, describe
from bayesbias.distances.list_coverage import COSINE
from bayesbias.errors import InputError, listed, many, shown
from bayesbias.estimates import Estimates
from bayesbias.models.fits import checked_draws, used_seed
from bayesbias.models.weights import DIFFERENCE
from bayesbias.numerics.arrays import FloatArray, IntArray
from bayesbias.numerics.mixtures import Gaussian
from bayesbias.numerics.second_stage import StageDraws, latent_relation, second_stage
from bayesbias.second_stage.estimates import (
    CHAINS,
    GIVEN_UNITS,
    JOINT,
    Adjust,
    Staged,
    Tables,
    checked_contrast,
    checked_tables,
    copy_notes,
    holding_notes,
    holdings,
    measured_stage,
    near_copies,
    near_copy_notes,
    outside_note,
    posterior_tree,
    rows_of_all,
    sources_of,
    standardised,
    subject_of,
    units_of,
    whole_lists,
)

WEIGHTS = ("equal", "precision")
"""Weights of the estimates in a mean over embeddings."""
WIDTH = 0.05
"""Width of the half-Cauchy priors of the spreads between embeddings, in cosine distance."""
STANDARD_WIDTH = 0.5
"""The same in standard deviations of distances."""
FEWEST = 3
"""Embeddings from which a relation to an outside variable is estimated."""
FEW_GROUPS = 6
"""Groups up to which a variable that varies between them is related to their means."""
GROUP_SHARES = np.append(np.linspace(0.0, 0.9, 10), 0.95)
"""Shares of what is left around the line of a relation that embeddings of one group have in common."""


FEW = 4
"""Embeddings below which their standard deviation is little more than its prior."""
RELATED = ("correlation", "slope", "intercept", "residual_sd")
"""Variables of the posterior that tell of a relation."""


@dataclass(frozen=True, repr=False, eq=False)
class Pool(Staged):
    """One contrast in several embeddings, partially pooled.

    Attributes
    ----------
    contrast, subject, weights
        The two connections, what they tell of, and how the mean weighs the estimates.
    rows
        ``"association"`` where contrasts are means of associations, as in :func:`contrasts`, ``"difference"`` of other
        distances, ``"pairs"`` of places on an axis.
    unit
        What contrasts are measured in: cosine distance, standard deviations of the embedding's distances, or the given
        units.
    estimates
        The contrast in each embedding, not pooled, as :class:`Estimates` in :attr:`unit`, with their joint covariance.
        Their ``index``: ``embedding``, ``setting``, ``group``, ``protected_words`` (how many), ``weight`` (in the mean
        over these embeddings), ``unit`` (in cosine distance), ``found`` (the share of the words of this contrast that
        it holds; NaN where it is not known), ``language`` (of the lists).
    population
        What was pooled, as :class:`Estimates` by ``variable`` and ``name``: the draws of :attr:`tree`.
    tree
        A DataTree that ArviZ reads: group ``posterior`` with ``theta`` (setting), ``mean`` (over these embeddings: that
        of ``theta``), ``population_mean`` (of embeddings like these), ``between_sd`` (of embeddings like these, all in
        all), and where they are asked for ``group_mean`` (embedding_group; of embeddings like those of a group),
        ``group_sd`` (between groups), ``within_sd`` (between the embeddings of a group), ``training_sd``. The square of
        ``between_sd`` is that of ``group_sd`` plus that of ``within_sd``. With ``on``: ``correlation``, ``slope``,
        ``intercept`` and ``residual_sd`` of each relation (variable).
    outside
        The outside variables by setting, with their standard errors.
    correlates
        One row for each outside variable: ``variable``; ``n`` and ``of``, how many ``embeddings``, ``settings`` or
        ``groups`` its relation is over; ``errors``, whether its values have standard errors; ``plain``, the correlation
        of the estimates. With groups ``group_share``: how much of what is left around the line embeddings of one group
        have in common. Empty without ``on``.
    training_share
        By setting, the share of the variance of its interval that is noise of training; None without replicates.
    """

    picture: ClassVar[str] = "plot_pool"

    contrast: tuple[str, str]
    subject: str
    unit: str
    weights: str
    estimates: Estimates
    tree: xr.DataTree
    outside: pd.DataFrame
    correlates: pd.DataFrame
    training_share: pd.Series | None
    notes: tuple[str, ...]
    cited: tuple[Any, ...]
    rows: str = DIFFERENCE

    def table(self, prob: float = PROB) -> pd.DataFrame:
        """Each setting, raw and shrunken, in :attr:`unit`.

        Returns
        -------
        DataFrame
            One row a setting (an embedding where there are no replicates): ``name``, ``estimate``, ``se``,
            ``estimate_low``, ``estimate_high`` (its own interval with the mass ``prob``), ``mean``, ``sd``, ``low``,
            ``high`` (partially pooled), ``rank`` (1: the smallest contrast), ``rank_low``, ``rank_high``,
            ``p_closer``. Its ``attrs`` hold what a caption says.
        """
        prob = probability(prob, "prob")
        names, draws = self.settings, self.draws("theta")
        weights = _setting_weights(np.array([names.index(name) for name in self.estimates.index["setting"]]))
        own = self.estimates.combine(weights)
        raw, se = own.mean, own.sd
        ranks = draws.argsort(axis=1).argsort(axis=1) + 1
        reach = float(ndtri((1 + prob) / 2))
        ends = np.quantile(ranks, [(1 - prob) / 2, (1 + prob) / 2], axis=0, method="inverted_cdf")
        table = pd.DataFrame(
            {
                "name": pd.array(names, dtype="string"),
                "estimate": raw,
                "se": se,
                "estimate_low": raw - reach * se,
                "estimate_high": raw + reach * se,
                **describe(draws, prob),
                "rank": ranks.mean(axis=0),
                "rank_low": ends[0].astype(int),
                "rank_high": ends[1].astype(int),
                "p_closer": (draws < 0).mean(axis=0),
            }
        )
        contrast, (first, second) = MINUS.join(self.contrast), self.contrast
        of = self.subject.removeprefix("the stereotypes").removeprefix(contrast)
        subject = f"{contrast}{of} in {many(len(self.estimates), 'embedding')}, in {self.unit}"
        table.attrs = {"subject": subject, "prob": prob, "sign": f"negative: closer to {first} than to {second} words"}
        return table

    def brief(self) -> pd.DataFrame:
        """The table without what would not fit a page: the intervals of the estimates, which have standard errors."""
        return self.table().drop(columns=["estimate_low", "estimate_high", "sd"])

    def relation(self, prob: float = PROB) -> pd.DataFrame:
        """The relation of the latent contrasts to each outside variable, errors of both sides taken out.

        Returns
        -------
        DataFrame
            The columns of :attr:`correlates`, with ``correlation`` and ``slope``, each with ``_low`` and ``_high`` (the
            interval with the mass ``prob``), ``p_positive`` and ``residual_sd``.
        """
        prob, rows = probability(prob, "prob"), []
        for place, row in enumerate(self.correlates.to_dict("records")):
            correlation, slope, rest = (self.draws(name)[:, place] for name in ("correlation", "slope", "residual_sd"))
            both = describe(np.column_stack([correlation, slope]), prob)
            last = {name: row.pop(name) for name in ("plain", "group_share") if name in row}
            for at, name in enumerate(("correlation", "slope")):
                row |= {name: both["mean"][at], f"{name}_low": both["low"][at], f"{name}_high": both["high"][at]}
                row |= {"p_positive": float((correlation > 0).mean())}
            rows.append(row | {"residual_sd": float(rest.mean())} | last)
        return pd.DataFrame(rows)

    @property
    def settings(self) -> list[str]:
        """Names of what is pooled: embeddings, or settings where there are replicates."""
        return [str(name) for name in self.tree["posterior/setting"].to_numpy()]

    def probability(self, first: str, second: str) -> float:
        """Probability that the contrast of one setting is larger than that of another."""
        for name in (first, second):
            if not isinstance(name, str) or name not in self.settings:
                raise InputError(f"there is no {shown(name)}: valid are {', '.join(self.settings)}")
        draws = self.draws("theta")
        return float((draws[:, self.settings.index(first)] > draws[:, self.settings.index(second)]).mean())

    def findings(self, prob: float = PROB) -> list[str]:
        """The result in sentences, without its notes."""
        first, second = self.contrast
        mass = percent(probability(prob, "prob"))
        scales = [name for name in ("between_sd", "group_sd", "within_sd") if name in self.tree["posterior"]]
        whole, further, *spreads = (
            {name: value[0] for name, value in describe(self.draws(name)[:, None], prob).items()}
            for name in ("mean", "population_mean", *scales)
        )
        spread, *parts = [  # the mean of a scale is mostly that of its few largest draws
            f"{signed(float(np.median(self.draws(name))))} (posterior median; {mass} interval {ends_of(each)})"
            for name, each in zip(scales, spreads, strict=True)
        ]
        kinds = "settings" if len(self.settings) < len(self.estimates) else "embeddings"
        grouped = self.weights == "equal" and "group_mean" in self.tree["posterior"]
        weighed = ", where groups weigh the same" if grouped else ""
        settled = "excludes" if excludes_zero(whole) else "includes"
        unit = "" if self.unit == COSINE else f"{self.unit} "
        by_group = f"; between groups it is {parts[0]}, within groups {parts[1]}" if parts else ""
        sentences = [
            f"Over {len(self.settings)} {kinds} the contrast {first}{MINUS}{second} is "
            f"{signed(whole['mean'])} {unit}on average{weighed} ({mass} interval {ends_of(whole)}, "
            f"which {settled} 0; negative: closer to {first} than to {second} words).",
            f"That is the mean over these {kinds}. The {mass} interval of the mean over further {kinds} like these is "
            f"{ends_of(further)}.",
            f"The standard deviation between {kinds} is {spread}{by_group}.",
        ]
        if len(self.settings) < FEW:
            sentences.append(
                f"With {len(self.settings)} {kinds} this and the interval of the mean over further {kinds} rest "
                "largely on the prior of the standard deviation."
            )
        sentences.append(order_said(self.settings, self.draws("theta"), kinds, (1 + prob) / 2))
        if self.training_share is not None:
            sentences.append(
                f"Noise of training is {100 * self.training_share.mean():.0f}% of the variance of a setting's "
                "interval, on average."
            )
        for row in self.relation(prob).to_dict("records"):
            known = "" if row["errors"] else ", whose values are taken as exact,"
            of_groups = row["of"] == "groups"
            numbers = (row[name] for name in ("correlation", "correlation_low", "correlation_high", "plain"))
            correlation, low, high, plain = (signed(number, digits=2) for number in numbers)
            sentences.append(
                f"The correlation with {row['variable']}{known} is {correlation} ({mass} interval {low} to {high}) "
                f"{'over the means of' if of_groups else 'for'} {row['n']} {row['of']}; the "
                f"correlation of the estimates, which takes no error into account, is {plain}."
            )
            if of_groups:
                sentences.append(
                    f"The variable {row['variable']} varies between groups more than within them, so that only "
                    f"{row['n']} values tell of this relation, however many embeddings there are."
                )
            elif np.isfinite(row.get("group_share", np.nan)):
                sentences.append(
                    f"Of what is left around the line, {100 * row['group_share']:.0f}% is shared within groups."
                )
        return [negatives(sentence) for sentence in sentences]

    def front(self, prob: float = PROB) -> Page:
        """The first screen of a report."""
        what = MINUS.join(self.contrast)
        picture = Picture(
            "pool", "Each embedding's estimate, and the partially pooled one", partial(drawing, "plot_pool", self, prob)
        )
        lead = f"The contrast {what} in {len(self.estimates):,} embeddings, partially pooled."
        verb = "is" if self.subject.startswith(what) else "are"
        question = f"How strong {verb} {self.subject} in these embeddings?"
        silent = "Embeddings that are not like these may differ more."
        return front_page(question, lead, self.findings(prob), self.notes, picture, silent)

    def sections(self, prob: float = PROB) -> tuple[Section, ...]:
        """The parts of a report: each embedding, and relations to outside variables."""
        single = whole_table(f"Each embedding, raw and partially pooled, in {self.unit}", self.table(prob))
        outside: list[Block] = []
        if not self.correlates.empty:
            drawn = partial(drawing, "plot_relation", self, prob=prob)
            title = "Correlation and slope with outside variables, errors of both sides taken out"
            outside.append(Picture("relation", "Contrasts against the outside variable", drawn))
            outside.append(whole_table(title, self.relation(prob)))
        return filled((Section("Embeddings", [single]), Section("Outside variables", outside)))

    def sources(self) -> tuple[Any, ...]:
        """The second stage, and the word lists and embeddings of its tables."""
        return (Cited("second stage: pool", "bayesbias"), *self.cited)


def pool(
    tables: Tables,
    contrast: tuple[str, str] | None = None,
    on: pd.DataFrame | None = None,
    groups: Mapping[str, str] | None = None,
    replicates: Mapping[str, str] | None = None,
    standardise: bool | Mapping[str, float] = False,
    weights: str = "equal",
    adjust: Adjust = None,
    frequencies: Any = None,
    draws: int = 4000,
    seed: int | None = 0,
) -> Pool:
    """One contrast in many embeddings: each raw and partially pooled, their mean, spread and order.

    The estimates of the embeddings are taken with their joint covariance, which is known from the vectors (embeddings
    that share words), or estimated from the words that they share. The contrasts themselves are normal around a mean,
    or around the means of groups. Everything Gaussian is integrated exactly and the scales by quadrature.

    There are two means: that over the given embeddings, and that of embeddings like these, which chance in the choice
    of embeddings makes less certain.

    Parameters
    ----------
    tables
        Name of each embedding to its distance table, or to an axis (:func:`axis`) of the same pairs. The contrast of
        axes is the mean place of their words; its errors are those of further pairs, which embeddings share. Tables
        with the same distances are one embedding, which counts once. Embeddings of one group whose errors are
        correlated by more than .99 are one setting with their mean contrast, unless ``on`` or ``replicates`` is given.
    contrast
        Two connections; the contrast is the mean of the first less that of the second. By default associated -
        different or, where no protected word has both in every table, associated - the first control list, with a note.
    on
        Variables of the embeddings from outside, one column each, with the embeddings' names as index (or in a column
        ``name``). A column ``<variable>_se`` holds standard errors.
    groups
        Name of each embedding to a group of embeddings that are more similar, such as the language of a corpus. What a
        relation to ``on`` leaves may then be shared within groups. With six groups or fewer, a variable that varies
        between groups more than within them is related to the means of groups.
    replicates
        Name of each embedding to its setting, where several are trainings, seeds, versions or resampled corpora of one
        setting: a setting counts once, the noise of training is a variance of its own, and ``training_share`` says how
        much it widens intervals.
    standardise
        Whether contrasts are in standard deviations of the embedding's distances instead of cosine distance: for
        embeddings whose distances have other scales, such as those of several languages. They are the distances between
        words drawn from the vocabulary, whatever the lists are, and only tables that ``distance_table`` made know them.
        A mapping of the names of all tables to numbers gives units of your own.
    weights
        ``"equal"``: the mean is the plain one of the estimates, in which groups weigh the same, settings within a group
        and replicates within a setting, and only deviations from it are pooled. ``"precision"``: generalised least
        squares, which is better if the covariance of the errors is exact, and may put a mean outside all estimates.
    adjust, frequencies
        An attribute of words that the distances of each embedding are adjusted for, and where frequencies come from, as
        in :func:`fit`; ``frequencies`` may be a mapping of names of tables to what :func:`fit` takes.
    draws
        Draws in all, a multiple of 4, which are independent.
    seed
        As in :func:`fit`.

    Returns
    -------
    Pool
        ``table()``, ``text()``, ``probability(a, b)``, ``relation()`` and ``tree``.

    References
    ----------
    Gelman, A. et al. (2013). Bayesian Data Analysis, 3rd edition, chapter 5. https://doi.org/10.1201/b16018
    Burke, D. L., Ensor, J. and Riley, R. D. (2017). Meta-analysis using individual participant data: one-stage and
    two-stage approaches, and why they may differ. Statistics in Medicine 36. https://doi.org/10.1002/sim.7141

    Examples
    --------
    >>> embeddings = {"google": "google-news-slice", "glove": "glove-50d-slice"}
    >>> pool = bb.pool(bb.distance_tables(embeddings, "weat7"))
    >>> pool.table()[["name", "estimate"]].round(3)
         name  estimate
    0  google    -0.014
    1   glove    -0.029
    """
    embeddings, connections = checked_tables(tables), checked_contrast(contrast)
    group_of, setting_of = (
        _labels(groups, list(embeddings), "groups"),
        _labels(replicates, list(embeddings), "replicates"),
    )
    _check_settings(setting_of)
    one_of(weights, WEIGHTS, "weights")
    checked_draws(draws, CHAINS)
    seed_used, units = used_seed(seed), units_of(standardise, embeddings)
    stage = measured_stage(embeddings, connections, seed_used, adjust, frequencies)
    named = {name: table for name, table in embeddings.items() if name not in stage.copies}
    for labels, argument in ((group_of, "groups"), (setting_of, "replicates")):
        _refuse_torn(stage.copies, labels, argument)
    settings, bands, layout = _arranged(list(named), setting_of, group_of, weights)
    if len(settings) < 2:
        raise InputError(
            f"{listed(list(embeddings))} hold the same distances: they are one embedding, and a pool needs two"
        )
    outside = _outside(on, settings)
    if on is not None and not setting_of:
        _refuse_two_values(stage.copies, _outside(on, list(embeddings)))

    rows, lacking = rows_of_all(stage)
    contrasts = whole_lists(stage, rows=rows)
    if units is not None:
        units = units[[name in named for name in embeddings]]
        contrasts = standardised(contrasts, units)
    near = near_copies(contrasts.covariance.to_numpy(), layout.own)
    alike = {} if setting_of or on is not None else _joined(list(named), near, layout.band)
    if alike:
        settings, bands, layout = _arranged(list(named), alike, group_of, weights)
        firsts = whole_lists(stage.part(settings), rows=rows)
        firsts = firsts if units is None else standardised(firsts, units[_firsts(layout.own)])
        contrasts = _with_errors_of(firsts, contrasts, layout.own)
    pooled, own, equal = contrasts, layout.own, _equal_weights(layout.own, layout.band)
    if alike:
        pooled, layout = contrasts.combine(_setting_weights(own)), _arranged(settings, {}, group_of, weights)[2]
    y, covariance = pooled.mean, pooled.covariance.to_numpy()
    width, rng = WIDTH if units is None else STANDARD_WIDTH, np.random.default_rng([seed_used, 1])
    drawn = layout.drawn(y, covariance, width, draws, rng)
    relations, correlates = _relations(outside, y, covariance, layout, drawn, width, rng)
    coords = {"setting": settings, "embedding_group": bands, "variable": _variables(outside)}
    tree = posterior_tree(
        layout.variables(drawn, np.bincount(own, equal)) | relations,
        seed_used,
        **{name: each for name, each in coords.items() if each},
    )

    coverage = holdings(named, stage.contrast)
    index = pd.DataFrame(
        {
            "embedding": pd.array(list(named), dtype="string"),
            "setting": pd.array([settings[place] for place in own], dtype="string"),
            "group": pd.array([group_of.get(name, "") for name in named], dtype="string"),
            "protected_words": contrasts.index["count"].to_numpy(),
            "weight": equal,
            "unit": np.ones(len(named)) if units is None else units,
            **{name: coverage[name].to_numpy() for name in coverage},
        }
    )
    notes = [
        JOINT[stage.joint],
        *copy_notes(stage.copies),
        *near_copy_notes(list(named), near & (own[:, None] < own), alike),
        *stage.notes,
        *lacking,
        *_unknown(outside),
        *holding_notes(coverage),
        *stage.asked,
    ]
    if weights == "precision":
        notes += outside_note(tree["posterior/mean"].to_numpy().mean(), y)
    return Pool(
        subject=subject_of(stage.contrast, coverage),
        contrast=stage.contrast,
        unit=COSINE if units is None else GIVEN_UNITS if isinstance(standardise, Mapping) else IN_SDS,
        weights=weights,
        estimates=replace(contrasts, index=index),
        tree=tree,
        outside=outside,
        correlates=correlates,
        training_share=layout.training_share(covariance, drawn, settings) if layout.replicated else None,
        notes=tuple(notes),
        cited=sources_of(named),
        rows=rows,
    )


def _labels(mapping: Mapping[str, str] | None, names: list[str], argument: str) -> dict[str, str]:
    """Label of each embedding; empty where none are given."""
    if mapping is None:
        return {}
    if not isinstance(mapping, Mapping) or set(map(str, mapping)) != set(names):
        raise InputError(
            f"{argument} is {shown(mapping)}: give a mapping with the names of all tables, {listed(names)}"
        )
    labels = {str(name): str(mapping[name]) for name in mapping}
    if not all(label.strip() for label in labels.values()):
        raise InputError(f"{argument} holds an empty label")
    return labels


def _joined(names: list[str], near: NDArray[np.bool_], band: IntArray | None) -> dict[str, str]:
    """Name of each near copy (E, E) to the first of its group that it is one of; empty where all would be one."""
    number, code = connected_components(near if band is None else near & (band[:, None] == band), directed=False)
    firsts = [names[first] for first in _firsts(code.astype(np.intp))[code]]
    return {name: first for name, first in zip(names, firsts, strict=True) if name != first and number > 1}


def _with_errors_of(firsts: Estimates, contrasts: Estimates, own: IntArray) -> Estimates:
    """Contrasts of which the means over settings have the errors that the first embeddings have without copies.

    Copies count in what is estimated of all errors, and would make those of one another larger.
    """
    member = np.eye(len(firsts))[own]
    apart = np.eye(len(own)) - member @ _setting_weights(own)
    shared, rest = (each.covariance.to_numpy() for each in (firsts, contrasts))
    law = Gaussian.known(contrasts.mean, member @ shared @ member.T + apart @ rest @ apart.T)
    return Estimates.of(law, len(own), contrasts.index)


def _check_settings(setting_of: Mapping[str, str]) -> None:
    """Refuse replicates of one setting alone, and settings without replicates."""
    if setting_of and len(set(setting_of.values())) < 2:
        raise InputError("replicates gives all embeddings one setting, and pool needs at least two settings")
    if setting_of and len(set(setting_of.values())) == len(setting_of):
        raise InputError("replicates gives each embedding a setting of its own: give several embeddings of one setting")


def _refuse_torn(copies: Mapping[str, str], labels: Mapping[str, str], argument: str) -> None:
    """Refuse one embedding with two labels."""
    for name, first in copies.items():
        if labels and labels[name] != labels[first]:
            raise InputError(
                f"{first} and {name} hold the same distances, and {argument} gives them {labels[first]} and "
                f"{labels[name]}: one embedding has one label"
            )


def _refuse_two_values(copies: Mapping[str, str], outside: pd.DataFrame) -> None:
    """Refuse one embedding with two rows of outside variables."""
    for name, first in copies.items():
        if not np.array_equal(outside.loc[first], outside.loc[name], equal_nan=True):
            raise InputError(f"{first} and {name} hold the same distances, and on has other values for each: give one")


def _outside(on: pd.DataFrame | None, settings: list[str]) -> pd.DataFrame:
    """Outside variables by setting; standard errors of 0 where they are not given."""
    if on is None:
        return pd.DataFrame(index=settings)
    if not isinstance(on, pd.DataFrame) or on.columns.duplicated().any():
        raise InputError("on: give a DataFrame with one row an embedding and one column a variable")
    frame = on.set_index("name") if "name" in on.columns else on
    frame = frame.set_axis(frame.index.map(str), axis=0)
    if frame.index.duplicated().any():
        raise InputError(f"on has two rows for {frame.index[frame.index.duplicated()][0]!r}")
    missing = [name for name in settings if name not in frame.index]
    if len(settings) - len(missing) < FEWEST:
        raise InputError(
            f"on knows {len(settings) - len(missing)} of {len(settings)} embeddings, and {FEWEST} are needed: its "
            f"index holds {listed(frame.index.tolist())}, the embeddings are {listed(settings)}"
        )
    frame = frame.reindex(settings).apply(pd.to_numeric, errors="coerce").astype(float)
    names = _variables(frame)
    if not names:
        raise InputError(f"on has no variable: its columns are {listed([str(name) for name in frame.columns])}")
    table = pd.DataFrame(index=settings)
    for name in names:
        values = frame[name].to_numpy()
        se = frame.get(f"{name}_se", pd.Series(0.0, index=settings)).to_numpy()
        known = np.isfinite(values) & np.isfinite(se)
        if known.sum() < FEWEST:
            raise InputError(
                f"the variable {name!r} is known for {known.sum()} embeddings, and a relation needs {FEWEST}"
            )
        if np.ptp(values[known]) == 0:
            raise InputError(f"the variable {name!r} is the same for all embeddings: it cannot be related to anything")
        if (se[known] < 0).any():
            raise InputError(f"{name}_se holds a negative number: give standard errors")
        table[name], table[f"{name}_se"] = np.where(known, values, np.nan), np.where(known, se, np.nan)
    return table


def _unknown(outside: pd.DataFrame) -> list[str]:
    """Notes on settings for which an outside variable is not known."""
    missing = {name: outside.index[outside[name].isna()].tolist() for name in _variables(outside)}
    return [f"{name} is not known for {listed(settings)}." for name, settings in missing.items() if settings]


def _setting_weights(own: IntArray) -> FloatArray:
    """Weights (settings, embeddings) of the mean over the embeddings of each setting, numbers from 0."""
    member = (np.arange(own.max() + 1)[:, None] == own).astype(float)
    weights: FloatArray = member / member.sum(axis=1, keepdims=True)
    return weights


def _firsts(codes: IntArray) -> IntArray:
    """The place where each code, from 0, first stands."""
    return np.unique(codes, return_index=True)[1]


def _variables(outside: pd.DataFrame) -> list[str]:
    """Names of outside variables, without the columns of their standard errors."""
    return [str(name) for name in outside.columns if not str(name).endswith("_se")]


def _equal_weights(own: IntArray, band: IntArray | None) -> FloatArray:
    """Weights (E,) of embeddings, in which groups weigh the same, settings within groups, and replicates in these."""
    weights = 1.0 / np.bincount(own)[own]
    if band is None:
        return weights / weights.sum()
    each: FloatArray = weights / np.bincount(band, weights)[band]
    return each / each.sum()


def _same(codes: IntArray) -> FloatArray:
    """1 where two have the same code, else 0, (E, E)."""
    return np.equal(codes[:, None], codes).astype(float)


@dataclass(frozen=True)
class _Grouping:
    """Levels of grouping: which embeddings belong together."""

    own: IntArray  # setting of each embedding, as a number from 0, (E,)
    band: IntArray | None  # and its group, where there are groups
    replicated: bool  # settings have several embeddings: deviations of single embeddings are then noise of training
    weights: FloatArray | None  # of the embeddings in the mean, (E,); None for the precision

    @property
    def levels(self) -> dict[str, IntArray]:
        """The effects but the last, with the code of each embedding."""
        levels = {} if self.band is None else {"group": self.band}
        return levels | ({"setting": self.own} if self.replicated else {})

    def effects(self) -> list[FloatArray]:
        """Matrices (E, E), one for each effect: 1 where two embeddings share it, else 0."""
        return [_same(codes) for codes in self.levels.values()]

    def drawn(
        self, y: FloatArray, covariance: FloatArray, width: float, draws: int, rng: np.random.Generator
    ) -> StageDraws:
        """Draws of the second stage."""
        weights = None if self.weights is None else self.weights[None]
        widths = [width] * (len(self.levels) + 1)
        stage = second_stage(y, covariance, np.ones((len(y), 1)), self.effects(), widths, weights)
        return stage.draw(draws, rng)

    def settings(self, drawn: StageDraws) -> FloatArray:
        """Draws (D, settings) of the contrast of each setting; the noise of training is no part of it."""
        effects = drawn.effects[:-1] if self.replicated else drawn.effects
        every = drawn.coefficients + effects.sum(axis=0)
        theta: FloatArray = every[:, _firsts(self.own)]
        return theta

    def variables(self, drawn: StageDraws, equal: FloatArray) -> dict[str, tuple[str | None, FloatArray]]:
        """Draws of what a pool is about, with the dimension of each; ``equal`` are weights of settings."""
        theta, outer = self.settings(drawn), list(self.levels)
        own = drawn.scales[:, outer.index("setting") if self.replicated else -1]
        variables: dict[str, tuple[str | None, FloatArray]] = {
            "mean": (None, theta @ equal),
            "population_mean": (None, drawn.coefficients[:, 0]),
            "between_sd": (None, own if self.band is None else np.hypot(own, drawn.scales[:, 0])),
            "theta": ("setting", theta),
        }
        if self.replicated:
            variables["training_sd"] = (None, drawn.scales[:, -1])
        if self.band is not None:
            # groups are the first of the effects
            variables["group_sd"] = (None, drawn.scales[:, 0])
            variables["within_sd"] = (None, own)
            variables["group_mean"] = ("embedding_group", drawn.coefficients + drawn.effects[0][:, _firsts(self.band)])
        return variables

    def setting_weights(self, weights: FloatArray) -> FloatArray:
        """Weights (settings,) from those of embeddings."""
        result: FloatArray = np.bincount(self.own, weights)
        return result

    def training_share(self, covariance: FloatArray, drawn: StageDraws, settings: list[str]) -> pd.Series:
        """Share of the variance of each setting's error that is noise of training, at the medians of the scales."""
        median, size = np.median(drawn.scales, axis=0) ** 2, len(self.own)
        signal = sum((s * effect for s, effect in zip(median, self.effects(), strict=False)), np.zeros((size, size)))
        noise = covariance + median[-1] * np.eye(size)
        precision = np.linalg.inv(signal + noise)
        ones = np.ones((size, 1))
        least = np.linalg.solve(ones.T @ precision @ ones, ones.T @ precision)
        # posterior means as weights on the estimates
        moved = signal @ precision @ (np.eye(size) - ones @ least)
        mean = least if self.weights is None else self.weights[None]
        rows = (ones @ mean + moved - (0 if self.weights is None else ones @ (mean @ moved)))[_firsts(self.own)]
        total = np.einsum("sn,nm,sm->s", rows, noise, rows)
        return pd.Series(median[-1] * (rows**2).sum(axis=1) / total, index=settings)


def _arranged(
    names: list[str], setting_of: Mapping[str, str], group_of: Mapping[str, str], weights: str
) -> tuple[list[str], list[str], _Grouping]:
    """Settings and groups in their order, and which embeddings belong to each."""
    settings = list(dict.fromkeys(setting_of.get(name, name) for name in names))
    bands = list(dict.fromkeys(group_of[name] for name in names)) if group_of else []
    own = np.array([settings.index(setting_of.get(name, name)) for name in names])
    band = np.array([bands.index(group_of[name]) for name in names]) if group_of else None
    torn = [name for at, name in enumerate(settings) if band is not None and len(set(band[own == at].tolist())) > 1]
    if torn:
        raise InputError(f"{listed(torn)} has replicates in several groups: give those of one setting one group")
    equal = _equal_weights(own, band) if weights == "equal" else None
    return settings, bands, _Grouping(own, band, len(settings) < len(names), equal)


def _of_groups(values: FloatArray, band: IntArray) -> bool:
    """True if a variable belongs to a few groups: its means vary more between these than values within them."""
    groups = np.unique(band)
    if len(groups) > FEW_GROUPS:
        return False
    means = np.array([values[band == group].mean() for group in groups])
    within = ((values - means[np.searchsorted(groups, band)]) ** 2).sum() / max(len(band) - len(groups), 1)
    return len(groups) < 2 or bool(means.var(ddof=1) > within)


def _relations(
    outside: pd.DataFrame,
    y: FloatArray,
    covariance: FloatArray,
    layout: _Grouping,
    drawn: StageDraws,
    width: float,
    rng: np.random.Generator,
) -> tuple[dict[str, tuple[str | None, FloatArray]], pd.DataFrame]:
    """Draws of the relation of the settings' contrasts to each variable, and what each relation is over."""
    weights, draws = _setting_weights(layout.own), len(drawn.scales)
    if layout.replicated:
        # noise of training is an error of each estimate, not of a setting: the mean over replicates averages it
        covariance = covariance + float(np.median(drawn.scales[:, -1]) ** 2) * np.eye(len(covariance))
    y, covariance = weights @ y, weights @ covariance @ weights.T
    band = None if layout.band is None else layout.band[_firsts(layout.own)]
    relations, rows = [], []
    for name in _variables(outside):
        finite = np.flatnonzero(np.isfinite(outside[name]))
        values, se = (outside[column].to_numpy()[finite] for column in (name, f"{name}_se"))
        observed, errors = y[finite], covariance[np.ix_(finite, finite)]
        over, shares, same = "settings" if layout.replicated else "embeddings", np.zeros(1), np.eye(len(finite))
        through = None if layout.weights is None else layout.setting_weights(layout.weights)[finite]
        if band is not None and _of_groups(values, band[finite]):
            # the variable varies little within a group: means of groups are the independent evidence, not embeddings
            means = _setting_weights(np.unique(band[finite], return_inverse=True)[1])
            if len(means) < FEWEST:
                raise InputError(
                    f"the variable {name!r} varies between groups more than within them, and {len(means)} groups are "
                    f"fewer than the {FEWEST} that a relation needs"
                )
            observed, errors, values = means @ observed, means @ errors @ means.T, means @ values
            se, through, over = np.sqrt(means**2 @ se**2), None if through is None else (means > 0) @ through, "groups"
            same = np.eye(len(means))
        elif band is not None:
            # how much of what is left embeddings of one group share is not known: the relation is mixed over it
            shares, same = GROUP_SHARES, _same(band[finite])
        relation = latent_relation(
            observed,
            errors,
            values,
            se**2,
            [(1 - part) * np.eye(len(same)) + part * same for part in shares],
            width,
            draws,
            rng,
            weights=None if through is None else through / through.sum(),
        )
        relations.append(relation)
        rows.append(
            {
                "variable": name,
                "n": len(values),
                "of": over,
                "errors": bool(se.any()),
                "plain": float(np.corrcoef(observed, values)[0, 1]),
                **({"group_share": float(shares[relation.residual].mean())} if len(shares) > 1 else {}),
            }
        )
    related: dict[str, tuple[str | None, FloatArray]] = {
        name: ("variable", np.column_stack([getattr(relation, name) for relation in relations]))
        for name in (RELATED if relations else ())
    }
    return related, pd.DataFrame(rows)
