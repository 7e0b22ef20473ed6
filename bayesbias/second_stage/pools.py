"""``pool``: one contrast in many embeddings, partially pooled, and its relation to something outside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import xarray as xr
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtri

from bayesbias._support.arguments import mapping, one_of, probability
from bayesbias._support.numbers import IN_SDS
from bayesbias.axes import Axis
from bayesbias.checks.summaries import PROB, describe
from bayesbias.distances.dataframe import COSINE, coverage_of
from bayesbias.errors import InputError, listed, shown
from bayesbias.models.fits import checked_draws, used_seed
from bayesbias.models.weights import DIFFERENCE
from bayesbias.numerics.arrays import FloatArray, IntArray
from bayesbias.numerics.mixtures import Gaussian
from bayesbias.numerics.second_stage import StageDraws, latent_relation, second_stage
from bayesbias.posteriors import Estimates
from bayesbias.results import Cited, Note
from bayesbias.second_stage.stages import (
    CHAINS,
    LINE,
    NEARLY,
    Adjust,
    Staged,
    Tables,
    checked_contrast,
    holdings,
    measured_stage,
    posterior_tree,
    rows_of_all,
    stage_of,
    units_of,
)
from bayesbias.vectors.lookup import left_out

WEIGHTS = ("equal", "precision")  # of the estimates in a mean over embeddings
WIDTH = 0.05  # of the half-Cauchy priors of the spreads between embeddings, in cosine distance
STANDARD_WIDTH = 0.5  # the same in standard deviations of distances
FEWEST = 3  # embeddings from which a relation to an outside variable is estimated
FEW_GROUPS = 6  # groups up to which a variable that varies between them is related to their means
GROUP_SHARES = np.append(np.linspace(0.0, 0.9, 10), 0.95)
"""Shares of what is left around the line of a relation that embeddings of one group have in common."""
FEW = 4  # embeddings below which their standard deviation is little more than its prior
OVERALL = {"overall": "mean", "overall, new embeddings": "population_mean"}
SPREADS = {
    "sd between embeddings (median)": "between_sd",
    "sd between groups (median)": "group_sd",
    "sd within groups (median)": "within_sd",
}
"""Rows of the table to variables of the posterior."""


@dataclass(frozen=True, repr=False, eq=False)
class Pool(Staged):
    """One contrast in several embeddings, partially pooled.

    Attributes
    ----------
    contrast, weights, unit
        The two connections, how the mean weighs the estimates, and the unit: cosine distance, standard deviations of
        the embedding's distances, or the given ones.
    rows, joint, adjusted
        ``"association"``, ``"difference"`` of other distances, or ``"pairs"`` of places on an axis; what the covariance
        of the estimates follows from: the vectors, shared words, pairs, or nothing (``"independent"``); and the
        attribute of words that distances are adjusted for.
    estimates
        The contrast in each embedding, not pooled, as :class:`Estimates` in :attr:`unit`, with their joint covariance.
        Their ``index``: ``embedding``, ``setting``, ``group``, ``protected_words`` (how many), ``weight`` (in the mean
        over these embeddings), ``unit`` (in cosine distance), ``found`` (share of the words of this contrast that it
        holds; NaN where it is not known), ``language`` and ``word_list``.
    population, tree
        What was pooled, as :class:`Estimates` by ``variable`` and ``name``, and as a DataTree that ArviZ reads, with
        the group ``posterior``: ``theta`` (setting), ``mean`` (of these embeddings), ``population_mean`` and
        ``between_sd`` (of embeddings like these); with groups ``group_mean`` (embedding_group), ``group_sd`` (between
        them) and ``within_sd``, whose squares add up to that of ``between_sd``; with replicates ``training_sd``; with
        ``on`` ``correlation``, ``slope``, ``intercept`` and ``residual_sd`` of each relation (variable).
    outside, correlates
        The outside variables by setting, with their standard errors; and one row for each: ``variable``; ``n`` and
        ``of``, how many ``embeddings``, ``settings`` or ``groups`` its relation is over; ``errors``, whether its values
        have standard errors; ``plain``, the correlation of the estimates; with groups ``group_share``, what those of
        one group have in common around the line.
    training_share
        By setting, the share of the variance of its interval that is noise of training; None without replicates.
    """

    picture: ClassVar[str] = "plot_pool"

    contrast: tuple[str, str]
    unit: str
    weights: str
    estimates: Estimates
    tree: xr.DataTree
    outside: pd.DataFrame
    correlates: pd.DataFrame
    training_share: pd.Series | None
    notes: tuple[Note, ...]
    cited: tuple[Any, ...]
    joint: str
    adjusted: str = ""
    rows: str = DIFFERENCE

    def caption(self) -> str:
        first, second = self.contrast
        return f"{first} - {second}, {self.unit} (< 0: closer to {first})"

    def header(self) -> dict[str, object]:
        index = self.estimates.index
        held = index.set_index("embedding")["found"].dropna().sort_values()
        languages = index["language"].dropna().unique().tolist()
        shares = [f"{share:.0%} ({name})" for name, share in held.items()]
        return {
            "words": index["word_list"].dropna().unique().tolist(),
            "embeddings": len(index),
            "settings": len(self.settings) if len(self.settings) < len(index) else None,
            "groups": [group for group in index["group"].unique() if group],
            "words held": [shares[0], shares[-1]] if len(set(held)) > 1 else None,
            "languages": languages if len(languages) > 1 else None,
            "adjusted for": self.adjusted,
            "weights": self.weights,
            "covariance": self.joint,
            "intervals": f"{self.prob:.0%}",
        }

    def table(self, prob: float = PROB) -> pd.DataFrame:
        """Each setting, raw and shrunken, in :attr:`unit`, and below them what is said of all.

        Returns
        -------
        DataFrame
            Rows ``"embedding"`` of the column ``quantity``, one a setting: ``name``, ``estimate``, ``se``,
            ``estimate_low``, ``estimate_high`` (not pooled), ``mean``, ``sd``, ``low``, ``high`` (partially pooled),
            ``rank`` (1: the smallest contrast), ``rank_low``, ``rank_high``, ``p_closer``, ``p_lowest``, ``p_highest``
            and, with replicates, ``training_share``. Other rows: ``"overall"``, the mean over these embeddings;
            ``"overall, new embeddings"``; posterior medians of standard deviations between embeddings; and
            ``"correlation"`` with each outside variable, whose ``estimate`` is that of the estimates.
        """
        prob = probability(prob, "prob")
        names, draws = self.settings, self.draws("theta")
        setting = np.array([names.index(name) for name in self.estimates.index["setting"]])
        own = self.estimates.combine(_setting_weights(setting))
        ranks = draws.argsort(axis=1).argsort(axis=1) + 1
        reach = float(ndtri((1 + prob) / 2)) * own.sd
        low, high = np.quantile(ranks, [(1 - prob) / 2, (1 + prob) / 2], axis=0, method="inverted_cdf")
        raw = {"estimate": own.mean, "se": own.sd, "estimate_low": own.mean - reach, "estimate_high": own.mean + reach}
        order = {"rank": ranks.mean(axis=0), "rank_low": low, "rank_high": high, "p_closer": (draws < 0).mean(axis=0)}
        order |= {"p_lowest": (ranks == 1).mean(axis=0), "p_highest": (ranks == len(names)).mean(axis=0)}
        table = pd.DataFrame({"quantity": "embedding", "name": names, **raw, **describe(draws, prob), **order})
        scales = {row: name for row, name in SPREADS.items() if name in self.tree["posterior"]}
        every = np.column_stack([self.draws(name) for name in (*OVERALL.values(), *scales.values())])
        whole = pd.DataFrame({"quantity": [*OVERALL, *scales], "name": "", **describe(every, prob)})
        # the mean of a scale is mostly that of its few largest draws
        whole.loc[len(OVERALL) :, "mean"] = np.median(every[:, len(OVERALL) :], axis=0)
        whole.loc[: len(OVERALL) - 1, "p_closer"] = (every[:, : len(OVERALL)] < 0).mean(axis=0)
        if self.training_share is not None:
            table["training_share"] = self.training_share.to_numpy()
            whole.loc[0, "training_share"] = self.training_share.mean()
        parts = [table, whole]
        if len(self.correlates):
            rho, plain = self.draws("correlation"), self.correlates[["variable", "plain"]]
            below = describe(rho, prob) | {"p_closer": (rho < 0).mean(axis=0)}
            parts.append(plain.set_axis(["name", "estimate"], axis=1).assign(quantity="correlation", **below))
        return pd.concat(parts, ignore_index=True)[list(table)].astype({"quantity": "string", "name": "string"})

    def summary(self) -> pd.DataFrame:
        table = self.table(self.prob)
        single = table["quantity"] == "embedding"
        kind = table["quantity"].mask(single, "")
        names = table.assign(name=(kind + " " + table["name"]).str.strip(), unshrunk=table["estimate"])
        columns = ["name", "unshrunk", "mean", "sd", "low", "high", "p_closer", "rank"]
        return pd.concat([names[~single], names[single]], ignore_index=True)[columns]

    def tables(self) -> dict[str, pd.DataFrame]:
        own = self.estimates.index.assign(estimate=self.estimates.mean, se=self.estimates.sd)
        tables = {"All numbers": self.table(self.prob), "Each embedding, not pooled": own}
        return tables | ({"Outside variables": self.relation(self.prob)} if len(self.correlates) else {})

    def relation(self, prob: float = PROB) -> pd.DataFrame:
        """The relation of the latent contrasts to each outside variable, errors of both sides taken out.

        Returns
        -------
        DataFrame
            The columns of :attr:`correlates`, with ``correlation`` and ``slope``, each with ``_low`` and ``_high`` (the
            interval with the mass ``prob``), ``p_positive`` and ``residual_sd``.
        """
        if self.correlates.empty:
            return self.correlates
        rho, slope, rest = (self.draws(name) for name in ("correlation", "slope", "residual_sd"))
        columns = dict[str, FloatArray]()
        for name, draws in (("correlation", rho), ("slope", slope)):
            own = describe(draws, probability(prob, "prob"))
            columns |= {name: own["mean"], f"{name}_low": own["low"], f"{name}_high": own["high"]}
            columns |= {"p_positive": (rho > 0).mean(axis=0)}
        last = self.correlates.filter(["plain", "group_share"])
        return self.correlates.drop(columns=last).assign(**columns, residual_sd=rest.mean(axis=0)).join(last)

    @property
    def settings(self) -> list[str]:
        """Names of what is pooled: embeddings, or settings where there are replicates."""
        return [str(name) for name in self.tree["posterior/setting"].to_numpy()]

    def probability(self, first: str, second: str) -> float:
        """Probability that the contrast of one setting is larger than that of another."""
        theta = self.tree["posterior/theta"]
        one, other = (theta.sel(setting=one_of(name, self.settings, "the setting")) for name in (first, second))
        return float((one > other).mean())

    def sources(self) -> tuple[Any, ...]:
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

    The contrasts of the embeddings are normal around a mean, or around the means of groups; their estimates have the
    joint covariance that follows from the vectors or shared words. Everything Gaussian is integrated exactly, scales by
    quadrature. There are two means: that over the given embeddings, and that of embeddings like these, which chance
    in the choice of embeddings makes less certain.

    Parameters
    ----------
    tables
        Name of each embedding to its distance table, or to an axis (:func:`axis`) of the same pairs, whose contrast is
        the mean place of its words with the errors of further pairs. Tables with the same distances count once.
        Embeddings of one group whose errors are correlated by more than .99 are one setting with their mean contrast,
        unless ``on`` or ``replicates`` is given.
    contrast
        Two connections; the contrast is the mean of the first less that of the second. By default associated -
        different or, where no protected word has both in every table, associated - the first control list, with a note.
    on
        Variables of the embeddings from outside, one column each, with the embeddings' names as index (or in a column
        ``name``). A column ``<variable>_se`` holds standard errors.
    groups
        Name of each embedding to a group of more similar ones, such as the language of a corpus. What a relation to
        ``on`` leaves may then be shared within groups. With six groups or fewer, a variable that varies between groups
        more than within them is related to the means of groups.
    replicates
        Name of each embedding to its setting, where several are trainings, seeds, versions or resampled corpora of one
        setting: a setting counts once, the noise of training is a variance of its own, and ``training_share`` says how
        much it widens intervals.
    standardise
        Whether contrasts are in standard deviations of distances between words drawn from each embedding's vocabulary
        (known to tables of ``distance_table``), for embeddings that differ in scale, such as those of several
        languages. A mapping of the names of all tables to numbers gives units of your own.
    weights
        ``"equal"``: the mean is the plain one of the estimates, in which groups weigh the same, settings within a group
        and replicates within a setting, and only deviations from it are pooled. ``"precision"``: generalised least
        squares, which is better if the covariance of the errors is exact, and may put a mean outside all estimates.
    adjust, frequencies
        As in :func:`fit`, for the distances of each embedding; ``frequencies`` may be a mapping of names of tables.
    draws, seed
        Independent draws in all, a multiple of 4, and the seed, as in :func:`fit`.

    Returns
    -------
    Pool
        ``table()``, ``probability(a, b)``, ``relation()`` and ``tree``.

    References
    ----------
    Gelman, A. et al. (2013). Bayesian Data Analysis, 3rd edition, chapter 5. https://doi.org/10.1201/b16018
    Burke, D. L., Ensor, J. and Riley, R. D. (2017). Meta-analysis using individual participant data: one-stage and
    two-stage approaches, and why they may differ. Statistics in Medicine 36. https://doi.org/10.1002/sim.7141

    Examples
    --------
    >>> embeddings = {"google": "google-news-slice", "glove": "glove-50d-slice"}
    >>> pool = bb.pool(bb.distance_tables(embeddings, "weat7"))
    >>> pool.table()[["quantity", "name", "mean"]].round(3).head(3)
        quantity    name   mean
    0  embedding  google -0.018
    1  embedding   glove -0.025
    2    overall         -0.022
    """
    axes = isinstance(tables, Mapping) and any(isinstance(each, Axis) for each in tables.values())
    kind = Axis if axes else pd.DataFrame
    embeddings = mapping(tables, "tables", "distance tables, all tables or all axes", kind)
    connections = checked_contrast(contrast)
    group_of, setting_of = (
        _labels(each, list(embeddings), name) for each, name in ((groups, "groups"), (replicates, "replicates"))
    )
    one_of(weights, WEIGHTS, "weights")
    checked_draws(draws, CHAINS)
    seed_used, units = used_seed(seed), units_of(standardise, embeddings)
    stage = measured_stage(embeddings, connections, seed_used, adjust, frequencies)
    named = {name: table for name, table in embeddings.items() if name not in stage.copies}
    # equal distances are one embedding, which has one group, one setting and one row of ``on``
    rows_of_on = {} if on is None or setting_of else _outside(on, list(embeddings)).T.to_dict("series")
    for name, first in stage.copies.items():
        for argument, labels in (("groups", group_of), ("replicates", setting_of), ("on", rows_of_on)):
            if labels and not np.array_equal(labels[name], labels[first], equal_nan=argument == "on"):
                raise InputError(f"{first} and {name} hold the same distances, and {argument} tells them apart")
    settings, bands, layout = _arranged(list(named), setting_of, group_of, weights)
    if len(settings) < 2:
        raise InputError(f"{listed(list(embeddings))} are one embedding or setting, and a pool needs two")
    outside = _outside(on, settings)
    rows, lacking = rows_of_all(stage)
    contrasts = stage.contrasts(rows)
    if units is not None:
        units = units[[name in named for name in embeddings]]
        contrasts = contrasts / units
    errors = contrasts.covariance.to_numpy()
    sd = np.sqrt(np.maximum(np.diag(errors), np.finfo(float).tiny))
    near = (errors / np.outer(sd, sd) > NEARLY) & (layout.own[:, None] != layout.own)
    # each near copy to the first of its group that it is one of; none where all would be one
    band = np.zeros(len(named)) if layout.band is None else layout.band
    number, code = connected_components(near & np.equal.outer(band, band), directed=False)
    joined = number > 1 and not setting_of and on is None
    firsts = np.array(list(named))[_firsts(code.astype(np.intp))[code]].tolist()
    alike = {name: first for name, first in zip(named, firsts, strict=True) if joined and name != first}
    if alike:
        settings, bands, layout = _arranged(list(named), alike, group_of, weights)
        alone = stage_of({name: stage.measured[name] for name in settings}, stage.contrast).contrasts(rows)
        alone = alone if units is None else alone / units[_firsts(layout.own)]
        # copies count in what is estimated of all errors, and would make those of one another larger: means over
        # settings have the errors that the first embeddings have without copies
        member = np.eye(len(settings))[layout.own]
        apart = np.eye(len(named)) - member @ _setting_weights(layout.own)
        joint = member @ alone.covariance.to_numpy() @ member.T + apart @ errors @ apart.T
        contrasts = Estimates.of(Gaussian(contrasts.mean, joint), len(named), contrasts.index)
    pooled, own, equal = contrasts, layout.own, _equal_weights(layout.own, layout.band)
    if alike:
        pooled, layout = contrasts.combine(_setting_weights(own)), _arranged(settings, {}, group_of, weights)[2]
    y, covariance = pooled.mean, pooled.covariance.to_numpy()
    width, rng = WIDTH if units is None else STANDARD_WIDTH, np.random.default_rng([seed_used, 1])
    drawn = layout.drawn(y, covariance, width, draws, rng)
    relations, correlates = _relations(outside, y, covariance, layout, drawn, width, rng)
    coords = {"setting": settings, "embedding_group": bands, "variable": list(outside)[::2]}
    tree = posterior_tree(
        layout.variables(drawn, np.bincount(own, equal)) | relations,
        seed_used,
        **{name: each for name, each in coords.items() if each},
    )
    held, held_notes = holdings(named, stage.contrast)
    index = pd.DataFrame(
        {
            "embedding": pd.array(list(named), dtype="string"),
            "setting": pd.array([settings[place] for place in own], dtype="string"),
            "group": pd.array([group_of.get(name, "") for name in named], dtype="string"),
            "protected_words": contrasts.index["count"].to_numpy(),
            "weight": equal,
            "unit": np.ones(len(named)) if units is None else units,
        }
    ).join(held)
    pairs = np.array(list(named))[np.argwhere(near & (own[:, None] < own))].tolist()
    reason = f"errors correlated above {NEARLY:g}"
    once = {
        (first, why): [first, *(name for name, other in copies.items() if other == first)]
        for copies, why in ((stage.copies, "equal distances"), (alike, reason))
        for first in copies.values()
    }
    notes = [
        *(Note("duplicates", count=len(same), rule="once", reason=why, words=same) for (_, why), same in once.items()),
        *(Note("duplicates", count=2, rule="apart", reason=reason, words=pair) for pair in pairs),
        *([Note("few-levels", count=len(settings), factor="embeddings")] if len(settings) < FEW else []),
        *stage.notes,
        *lacking,
        *held_notes,
        *stage.asked,
    ]
    for variable in list(outside)[::2]:
        lost = outside.index[outside[variable].isna()].tolist()
        notes += left_out(len(lost), len(outside), "embeddings", f"no {variable}", lost)
    if weights == "precision" and not y.min() <= (mean := tree["posterior/mean"].to_numpy().mean()) <= y.max():
        notes.append(Note("edge", side="below" if mean < y.min() else "above"))
    return Pool(
        contrast=stage.contrast,
        unit=COSINE if units is None else "the given units" if isinstance(standardise, Mapping) else IN_SDS,
        weights=weights,
        estimates=replace(contrasts, index=index),
        tree=tree,
        outside=outside,
        correlates=correlates,
        training_share=layout.training_share(covariance, drawn, settings) if layout.replicated else None,
        notes=tuple(notes),
        cited=tuple(
            each
            for table in named.values()
            for each in (table.sources() if isinstance(table, Axis) else [coverage_of(table)])
        ),
        joint=stage.joint,
        adjusted=stage.adjusted,
        rows=rows,
    )


def _labels(mapping: Mapping[str, str] | None, names: list[str], argument: str) -> dict[str, str]:
    """Label of each embedding; empty where none are given."""
    labels = {str(name): str(label) for name, label in (mapping or {}).items()}
    if mapping is not None and set(labels) != set(names):
        raise InputError(
            f"{argument} is {shown(mapping)}: give a mapping with the names of all tables, {listed(names)}"
        )
    return labels


def _outside(on: pd.DataFrame | None, settings: list[str]) -> pd.DataFrame:
    """Outside variables by setting, each followed by its standard errors; 0 where these are not given."""
    if on is None:
        return pd.DataFrame(index=settings)
    frame = on.set_index("name") if "name" in on.columns else on
    frame = frame.set_axis(frame.index.map(str), axis=0).reindex(settings).astype(float)
    table = pd.DataFrame(index=settings)
    for name in (str(name) for name in frame.columns if not str(name).endswith("_se")):
        values = frame[name].to_numpy()
        se = frame.get(f"{name}_se", pd.Series(0.0, index=settings)).to_numpy()
        known = np.isfinite(values) & np.isfinite(se)
        if known.sum() < FEWEST or np.ptp(values[known]) == 0 or (se[known] < 0).any():
            raise InputError(
                f"on gives {name} as {listed([f'{each:g}' for each in values[known]]) or 'nothing'} for the embeddings "
                f"{listed(settings)}: a relation needs {FEWEST} that are not all equal, and no negative {name}_se"
            )
        table[name], table[f"{name}_se"] = np.where(known, values, np.nan), np.where(known, se, np.nan)
    return table


def _setting_weights(own: IntArray) -> FloatArray:
    """Weights (settings, embeddings) of the mean over the embeddings of each setting, numbers from 0."""
    member = np.equal.outer(np.arange(own.max() + 1), own).astype(float)
    return np.asarray(member / member.sum(axis=1, keepdims=True))


def _firsts(codes: IntArray) -> IntArray:
    """The place where each code, from 0, first stands."""
    return np.unique(codes, return_index=True)[1]


def _equal_weights(own: IntArray, band: IntArray | None) -> FloatArray:
    """Weights (E,) of embeddings, in which groups weigh the same, settings within groups, and replicates in these."""
    weights = 1.0 / np.bincount(own)[own]
    weights = weights if band is None else weights / np.bincount(band, weights)[band]
    return weights / weights.sum()


@dataclass(frozen=True)
class _Grouping:
    """Levels of grouping: which embeddings belong together."""

    own: IntArray  # setting of each embedding, as a number from 0, (E,)
    band: IntArray | None  # and its group, where there are groups
    replicated: bool  # settings have several embeddings: deviations of single embeddings are then noise of training
    weights: FloatArray | None  # of the embeddings in the mean, (E,); None for the precision

    def effects(self) -> list[FloatArray]:
        """Matrices (E, E), one for each effect but the last: 1 where two embeddings share it, else 0."""
        codes = [] if self.band is None else [self.band]
        return [np.equal.outer(each, each).astype(float) for each in [*codes, *([self.own] * self.replicated)]]

    def drawn(
        self, y: FloatArray, covariance: FloatArray, width: float, draws: int, rng: np.random.Generator
    ) -> StageDraws:
        """Draws of the second stage."""
        weights = None if self.weights is None else self.weights[None]
        effects = self.effects()
        widths = [width] * (len(effects) + 1)
        return second_stage(y, covariance, np.ones((len(y), 1)), effects, widths, draws, rng, weights)

    def variables(self, drawn: StageDraws, equal: FloatArray) -> dict[str, tuple[str | None, FloatArray]]:
        """Draws of what a pool is about, with the dimension of each; ``equal`` are weights of settings."""
        # groups are the first of the effects; the noise of training is no part of a setting's contrast
        effects, group = drawn.effects[:-1] if self.replicated else drawn.effects, drawn.scales[:, 0]
        theta = (drawn.coefficients + effects.sum(axis=0))[:, _firsts(self.own)]
        own = drawn.scales[:, -2 if self.replicated else -1]
        variables: dict[str, tuple[str | None, FloatArray]] = {
            "mean": (None, theta @ equal),
            "population_mean": (None, drawn.coefficients[:, 0]),
            "between_sd": (None, own if self.band is None else np.hypot(own, group)),
            "theta": ("setting", theta),
        }
        if self.replicated:
            variables["training_sd"] = (None, drawn.scales[:, -1])
        if self.band is not None:
            means = drawn.coefficients + drawn.effects[0][:, _firsts(self.band)]
            variables |= {"group_sd": (None, group), "within_sd": (None, own), "group_mean": ("embedding_group", means)}
        return variables

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
    for name in list(outside)[::2]:
        finite = np.flatnonzero(np.isfinite(outside[name]))
        values, se = (outside[column].to_numpy()[finite] for column in (name, f"{name}_se"))
        observed, errors = y[finite], covariance[np.ix_(finite, finite)]
        over, shares, same = "settings" if layout.replicated else "embeddings", np.zeros(1), np.eye(len(finite))
        through = None if layout.weights is None else np.bincount(layout.own, layout.weights)[finite]
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
            shares, same = GROUP_SHARES, np.equal.outer(band[finite], band[finite]).astype(float)
        residuals = [(1 - part) * np.eye(len(same)) + part * same for part in shares]
        through = None if through is None else through / through.sum()
        relation = latent_relation(observed, errors, values, se**2, residuals, width, draws, rng, weights=through)
        relations.append(relation)
        row = {"variable": name, "n": len(values), "of": over, "errors": bool(se.any())}
        row["plain"] = float(np.corrcoef(observed, values)[0, 1])
        rows.append(row | ({"group_share": float(shares[relation["residual"]].mean())} if len(shares) > 1 else {}))
    related: dict[str, tuple[str | None, FloatArray]] = {
        name: ("variable", np.column_stack([relation[name] for relation in relations]))
        for name in (LINE if relations else ())
    }
    return related, pd.DataFrame(rows)
