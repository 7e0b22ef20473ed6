"""Reliability of bias scores between seeds, measures, sets of base pairs and pairs, and their variance components."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import pearsonr

from bayesbias._support.arguments import flag, one_of, probability, whole_number, whole_numbers
from bayesbias.checks.summaries import PROB, describe, flat_draws
from bayesbias.checks.variance_components import Components, Layout, component_table, draw_components
from bayesbias.errors import InputError
from bayesbias.numerics.arrays import FloatArray
from bayesbias.numerics.statistics import FEWEST, bootstrap_icc, icc
from bayesbias.results import Note, Result
from bayesbias.words import words_given

DIMS = ("measure", "target", "base_pair", "seed")
ACROSS = {"target": "base_pair", "base_pair": "target"}
"""What has a coefficient, and the rows of its table."""
ALPHA = "ICC(3,k)"
"""Coefficient alpha, in the notation of Shrout and Fleiss."""
type Interval = Literal["f", "bootstrap"]
SAMPLES = 1000
FEW = 5
GOOD = 0.75
"""Reliability that is called good (Koo and Li 2016, https://doi.org/10.1016/j.jcm.2016.02.012)."""
CONSTANT, NO_MEANS = "the scores do not vary", "the mean scores do not vary"
NO_INTERVAL = "no interval: errors or rows do not vary"
"""Reasons of missing numbers."""


def retest_reliability(
    scores: xr.DataArray,
    of: Literal["target", "base_pair"] = "target",
    prob: float = PROB,
    interval: Interval = "f",
    seed: int = 0,
) -> pd.DataFrame:
    """Agreement of bias scores between embeddings that are trained with different seeds, by ICC(2,1).

    For each measure and target word it is that of a table of base pairs (rows) by seeds (columns); for each measure and
    base pair that of target words by seeds.

    Parameters
    ----------
    scores
        What :func:`bias_scores` returns.
    of
        What has a coefficient.
    prob
        Coverage of the confidence intervals.
    interval, seed
        ``"f"`` takes the rows' scores for normal: 89% intervals hold the truth in 64 to 88% of simulated tables where
        they have heavy tails (Student's t with 4 degrees of freedom). ``"bootstrap"`` draws ten rows or more with
        replacement (1,000 samples with a seed, percentile-t): 81 to 91% of tables, with normal or heavy tails.

    Returns
    -------
    DataFrame
        ``measure``, ``label``, ``value``, ``low``, ``high`` and ``reason`` (why there is no value).

    Examples
    --------
    >>> kv = bb.load_embedding("glove-50d-slice")
    >>> kvs = [kv, bb.debias(kv, "project", definitional=[("poor", "rich")])]  # or of two seeds
    >>> scores = bb.reliability.bias_scores(kvs, "occ16", measures=["db_wa", "ripa"])
    >>> bb.reliability.retest_reliability(scores).columns.tolist()[:2]
    ['measure', 'label']
    """
    prob = probability(prob, "prob")
    rows = ACROSS[one_of(of, tuple(ACROSS), "of")]
    _enough(scores, "seed", rows)
    values = _values(scores, "measure", of, rows, "seed")
    measures, labels = scores["measure"].to_numpy(), scores[of].to_numpy()
    measure, label = np.repeat(measures, len(labels)), np.tile(labels, len(measures))
    return _table(values, "ICC(2,1)", prob, interval, seed, measure=measure, label=label)


def inter_rater_consistency(
    scores: xr.DataArray,
    of: Literal["target", "base_pair"] = "target",
    standardise: bool = False,
    prob: float = PROB,
    interval: Interval = "f",
    seed: int = 0,
) -> pd.DataFrame:
    """Agreement of the measures, their scores averaged over seeds, by ICC(3,1).

    For each target word it is that of a table of base pairs (rows) by measures (columns); for each base pair that of
    target words by measures. The columns and other parameters are those of :func:`retest_reliability`.

    Parameters
    ----------
    standardise
        Whether each measure is first brought to mean 0 and standard deviation 1 over all words and pairs. On raw scores
        the measures disagree because their units differ: NBM varies some five times as much as DB/WA.

    Examples
    --------
    >>> scores = bb.reliability.bias_scores("glove-50d-slice", "occ16", measures=["db_wa", "ripa"])
    >>> bb.reliability.inter_rater_consistency(scores).columns.tolist()[:2]
    ['label', 'value']
    """
    prob = probability(prob, "prob")
    _enough(scores, "measure", ACROSS[one_of(of, tuple(ACROSS), "of")])
    values = _values(scores, "measure", "target", "base_pair", "seed").mean(axis=3)
    if flag(standardise, "standardise"):
        constant = scores["measure"].to_numpy()[np.ptp(values, axis=(1, 2)) == 0]
        if 0 < len(constant) < len(values):
            raise InputError(f"the scores of {constant[0]} do not vary and cannot be standardised: leave it out")
        values = standardised(values)
    ordered = values.transpose((1, 2, 0) if of == "target" else (2, 1, 0))
    return _table(ordered, "ICC(3,1)", prob, interval, seed, label=scores[of].to_numpy())


def measure_correlations(scores: xr.DataArray, prob: float = PROB) -> pd.DataFrame:
    """Correlations of two measures or more over words, whose scores are averaged over base pairs and seeds.

    They do not depend on the measures' units. The study has .836 for RIPA and NBM, .923 for DB/WA and RIPA and .897 for
    DB/WA and NBM. ``prob`` is the coverage of Fisher's confidence intervals, which take words for independent.

    Returns
    -------
    DataFrame
        ``first``, ``second`` (measures), ``words`` (their number), ``correlation`` (Pearson's), ``low``, ``high``; NaN
        where the scores of a measure do not vary.

    Examples
    --------
    >>> scores = bb.reliability.bias_scores("glove-50d-slice", "occ16", measures=["db_wa", "ripa"])
    >>> bb.reliability.measure_correlations(scores)["second"].tolist()
    ['ripa']
    """
    prob, words = probability(prob, "prob"), scores.sizes["target"]
    _enough(scores, "measure")
    means = _values(scores, "measure", "target", "base_pair", "seed").mean(axis=(2, 3))
    names = scores["measure"].to_numpy()
    rows = []
    for one, other in combinations(range(len(means)), 2):
        numbers = (np.nan, np.nan, np.nan)
        if np.ptp(means[[one, other]], axis=1).all():
            found = pearsonr(means[one], means[other])
            numbers = (found.statistic, *found.confidence_interval(prob))
        rows.append((str(names[one]), str(names[other]), words, *map(float, numbers)))
    return pd.DataFrame(rows, columns=["first", "second", "words", "correlation", "low", "high"])


def internal_consistency(
    scores: xr.DataArray,
    of: Literal["query", "base_pair"] = "query",
    queries: Mapping[str, Iterable[str]] | None = None,
    prob: float = PROB,
    interval: Interval = "f",
    seed: int = 0,
) -> pd.DataFrame:
    """Consistency of the words of a query, or of the base pairs of an ensemble; scores are averaged over seeds.

    It is coefficient alpha for each measure and query; columns and other parameters are those of
    :func:`retest_reliability`; ``missing`` names the words of the query without scores.

    Parameters
    ----------
    of
        ``"query"``: the words are the items and the base pairs the cases; ``"base_pair"``: the pairs are the items and
        the query's words the cases.
    queries
        Name to words; None takes all target words as one query, ``all``.

    Examples
    --------
    >>> scores = bb.reliability.bias_scores("glove-50d-slice", "occ16", measures=["db_wa", "ripa"])
    >>> bb.reliability.internal_consistency(scores, of="base_pair").columns.tolist()[:2]
    ['measure', 'label']
    """
    one_of(of, ("query", "base_pair"), "of")
    prob = probability(prob, "prob")
    _enough(scores, "base_pair")
    known = scores["target"].to_numpy().tolist()
    values = _values(scores, "measure", "target", "base_pair", "seed").mean(axis=3)
    parts = []
    measure = scores["measure"].to_numpy()
    for name, words in ({"all": known} if queries is None else queries).items():
        unique = words_given(words, f"the query {name!r}")
        scored, lost = ([word for word in unique if (word in known) is there] for there in (True, False))
        if len(scored) < 2:
            raise InputError(f"{len(scored)} of the {len(unique)} words of the query {name!r} have scores: give two")
        own = values[:, [known.index(word) for word in scored]]
        items = own.transpose(0, 2, 1) if of == "query" else own
        part = _table(items, ALPHA, prob, interval, seed, measure=measure, label=np.repeat(name, len(items)))
        parts.append(part.assign(missing=", ".join(lost)))
    return pd.concat(parts, ignore_index=True)


def standardised(values: FloatArray) -> FloatArray:
    """Scores (measure, ...) with mean 0 and population standard deviation 1 of each measure; one value stays 0."""
    rest = tuple(range(1, values.ndim))
    apart = values - values.mean(axis=rest, keepdims=True)
    spread = apart.std(axis=rest, keepdims=True)
    return np.divide(apart, spread, out=np.zeros_like(apart), where=spread > 0)


def _values(scores: xr.DataArray, *dims: str) -> FloatArray:
    values = scores.transpose(*dims).to_numpy().astype(np.float64)
    if not np.isfinite(values).all():
        raise InputError("the scores hold NaN or infinite numbers: leave those words, pairs or seeds out")
    return values


def _enough(scores: xr.DataArray, *dims: str) -> None:
    if few := [dim for dim in dims if scores.sizes[dim] < 2]:
        raise InputError(f"there is one {few[0].replace('_', ' ')} only, and this coefficient needs two or more")


def _table(
    values: FloatArray, form: str, prob: float, interval: Interval, seed: int, **labels: np.ndarray
) -> pd.DataFrame:
    """A coefficient of each table (..., rows, columns) with the interval that was asked for, and why one is missing."""
    seed = whole_number(seed, "seed", least=0, most=None)
    if one_of(interval, ("f", "bootstrap"), "interval") == "f":
        estimate = icc(values, form, prob)
    elif (count := values.shape[-2]) >= FEWEST:
        estimate = bootstrap_icc(values, form, prob, SAMPLES, np.random.default_rng(seed))
    else:
        raise InputError(f"a bootstrap needs {FEWEST} rows or more, and tables have {count}: take interval='f'")
    value, low, high = (end.ravel() for end in estimate)
    why = np.select([np.isnan(value), np.isinf(value), np.isnan(low)], [CONSTANT, NO_MEANS, NO_INTERVAL], "")
    table = pd.DataFrame(labels | {"value": value, "low": low, "high": high})
    table["reason"] = [reason or None for reason in why.tolist()]
    return table


@dataclass(frozen=True, repr=False, eq=False)
class ComponentResult(Result):
    """Posterior of standard deviations of components, each a set of facets.

    ``posterior`` has ``component_sd`` (chain, draw, component), of levels like those at hand, and
    ``finite_population_sd``, of those at hand, in the unit of the numbers; ``sizes`` are numbers of levels of each
    facet that varies.
    """

    prob: ClassVar[float] = PROB
    picture: ClassVar[str] = "forest"
    at_hand: ClassVar[bool] = False  # whether the table describes the levels at hand

    posterior: xr.DataTree
    components: Components
    sizes: dict[str, int]
    notes: tuple[Note, ...]

    def table(self, prob: float = PROB) -> pd.DataFrame:
        """Each component's standard deviation and its share of the variance, with intervals.

        Columns ``component``, ``sd``, ``low``, ``high``, ``share``, ``share_low``, ``share_high``; of settings those of
        the levels at hand, and ``population_sd``, ``population_low`` and ``population_high`` of levels like these.
        """
        return component_table(self.posterior, probability(prob, "prob"), finite_population=self.at_hand)

    def summary(self) -> pd.DataFrame:
        """The same, the largest share first."""
        columns = ["component", "share", "share_low", "share_high", "sd", "low", "high"]
        return self.table().sort_values("share", ascending=False, ignore_index=True)[columns]

    def drawn_from(self) -> tuple[pd.DataFrame, dict[str, Any]]:
        """The shares, the largest on top."""
        columns = {"rows": "component", "value": "share", "low": "share_low", "high": "share_high"}
        return self.summary(), {**columns, "label": "share of the variance"}


@dataclass(frozen=True, repr=False, eq=False)
class VarianceComponents(ComponentResult):
    """Posterior of the variance components of bias scores: what :func:`variance_components` returns.

    Standard deviations are those of words, pairs and seeds like those at hand, in standard deviations of a measure's
    scores, or in the unit of the scores where these were not ``standardised``.
    """

    standardised: bool

    def caption(self) -> str:
        """Subject and unit of the numbers."""
        return "Components of bias scores: share of the variance of a single score; sd"

    def header(self) -> dict[str, object]:
        """Facts of what was measured."""
        sizes = {f"{name.replace('_', ' ')}s": size for name, size in self.sizes.items()}
        return {**sizes, "standardised": "each measure" if self.standardised else None, "intervals": f"{self.prob:.0%}"}

    def tables(self) -> dict[str, pd.DataFrame]:
        """The same, :meth:`reliability`, and :meth:`needed` for words where targets and base pairs vary."""
        found = {"Components of the variance": self.table(), "Coefficients of reliability": self.reliability()}
        if {"target", "base_pair"} <= self.sizes.keys():
            found[f"Base pairs needed ({GOOD:g})"] = pd.DataFrame([self.needed()]).rename(
                columns={"low": "least", "high": "most"}
            )
        return found

    def reliability(self, prob: float = PROB) -> pd.DataFrame:
        """The study's coefficients as posteriors: of a word or pair like these, with as many conditions as there are.

        Columns ``coefficient``, ``of``, ``form``, ``mean``, ``low``, ``high`` and ``p_good``, the probability that it
        is at least 0.75. Test-retest and inter-rater coefficients are those of one target word or base pair out of the
        population; alpha is that of all words, or pairs, together.
        """
        prob, sizes = probability(prob, "prob"), self.sizes
        seeds = {"seed": sizes["seed"]} if "seed" in sizes else {}
        designs: list[tuple[str, str, str, str, dict[str, int], dict[str, int]]] = []
        designs += [("test-retest", of, "ICC(2,1)", rows, {"seed": 1}, {}) for of, rows in ACROSS.items()]
        designs += [("inter-rater", of, "ICC(3,1)", rows, {"measure": 1}, seeds) for of, rows in ACROSS.items()]
        designs += [
            ("internal", "query" if items == "target" else items, "alpha", cases, {items: sizes.get(items, 1)}, seeds)
            for items, cases in ACROSS.items()
        ]
        rows = []
        for name, of, form, objects, over, averaged in designs:
            if {objects, *over} <= sizes.keys():
                signal, error = self._parts(objects, over, averaged, absolute=name == "test-retest")
                rows.append((name, of, form, *_described(signal / (signal + error), prob, GOOD)))
        return pd.DataFrame(rows, columns=["coefficient", "of", "form", "mean", "low", "high", "p_good"])

    def decision(
        self,
        base_pairs: int | Iterable[int] = (1, 2, 5, 10, 20, 50),
        seeds: int | Iterable[int] | None = None,
        threshold: float = GOOD,
        prob: float = PROB,
    ) -> pd.DataFrame:
        """Reliability of the mean over so many base pairs and seeds, by which words are ordered (a D-study).

        ``seeds`` are by default 1, 2, 5 and 10, and 1 where the scores have one seed only: they are then about that
        embedding. Columns ``base_pairs``, ``seeds``, ``mean``, ``low``, ``high`` and ``p_reliable``, the probability
        that the threshold is reached.
        """
        seeds = ((1, 2, 5, 10) if "seed" in self.sizes else 1) if seeds is None else seeds
        threshold, prob = probability(threshold, "threshold"), probability(prob, "prob")
        rows = []
        for number in whole_numbers(base_pairs, "base_pairs"):
            for trained in whole_numbers(seeds, "seeds"):
                signal, error = self._parts("target", self._conditions(number, trained))
                rows.append((number, trained, *_described(signal / (signal + error), prob, threshold)))
        return pd.DataFrame(rows, columns=["base_pairs", "seeds", "mean", "low", "high", "p_reliable"])

    def needed(self, seeds: int = 1, threshold: float = GOOD, prob: float = PROB) -> dict[str, float]:
        """Smallest number of base pairs that orders words reliably with so many seeds, inf where none is enough.

        ``median``, ``low`` and ``high`` are its quantiles, and ``p_never`` is the probability of inf. With scores of
        one seed it is about that embedding.
        """
        threshold, prob = probability(threshold, "threshold"), probability(prob, "prob")
        over = self._conditions(1, whole_number(seeds, "seeds"))
        signal, always = self._parts("target", {**over, "base_pair": np.inf})
        errors = self._parts("target", over)[1] - always
        allowed = signal * (1 / threshold - 1) - always
        with np.errstate(divide="ignore"):
            drawn = np.where(allowed > 0, np.maximum(1, np.ceil(errors / allowed)), np.inf)
        tail = (1 - prob) / 2
        ends = np.quantile(drawn, [0.5, tail, 1 - tail], method="closest_observation").tolist()
        return dict(zip(("median", "low", "high"), ends, strict=True)) | {"p_never": float(np.isinf(drawn).mean())}

    def _conditions(self, number: int, seeds: int) -> dict[str, float]:
        """So many base pairs and seeds, over which words are ordered by means."""
        over = {"base_pair": number, "seed": seeds}
        known = [*self.sizes, *["seed"] * (seeds == 1)]
        if lacking := [name for name in ("target", *over) if name not in known]:
            raise InputError(f"the scores have one {lacking[0].replace('_', ' ')} only, so that others are not known")
        return {name: count for name, count in over.items() if name in self.sizes}

    def _parts(
        self,
        objects: str,
        over: Mapping[str, float],
        averaged: Mapping[str, float] | None = None,
        absolute: bool = False,
    ) -> tuple[FloatArray, FloatArray]:
        """Variance (D,) of the levels of a facet that are told apart, and that of the errors of their scores.

        Scores are means over so many levels of facets that should make no difference, and of further ones (averaged),
        whose effects only count as less; ``absolute`` takes levels that shift all objects equally for error too.
        Brennan, R. L. (2001). Generalizability theory. Springer. https://doi.org/10.1007/978-1-4757-3456-0
        """
        variances, levels = (
            flat_draws(self.posterior["posterior/component_sd"].to_numpy()) ** 2,
            {**(averaged or {}), **over},
        )
        signal, error = np.zeros(len(variances)), np.zeros(len(variances))
        for i, component in enumerate(self.components):
            value = variances[:, i] / np.prod([levels.get(facet, 1) for facet in component])
            if component & over.keys():
                error += value if objects in component or absolute else 0.0
            elif objects in component:
                signal += value
        return signal, error


def variance_components(
    scores: xr.DataArray,
    standardise: bool = True,
    draws: int = 4000,
    chains: int = 4,
    seed: int | None = 0,
) -> VarianceComponents:
    """Variance of bias scores by target word, base pair, measure, seed and all their combinations.

    Every score is a mean plus a normal effect of each set of facets; the set of all is the residual. The standard
    deviations have Exponential(2) priors, in units of the scores' standard deviation, and are drawn by importance
    sampling from the sums of squares.

    Parameters
    ----------
    scores
        What :func:`bias_scores` returns. Facets with one level are left out.
    standardise
        Whether each measure is first brought to mean 0 and standard deviation 1, which leaves no effect of the measure
        alone. Take one measure (``scores.sel(measure=["nbm"])``) for its own reliability: in a joint model the measures
        share the components.
    draws, chains, seed
        As in :func:`fit`.

    References
    ----------
    Cronbach, L. J., Rajaratnam, N. and Gleser, G. C. (1963). Theory of generalizability. British Journal of Statistical
    Psychology 16(2). https://doi.org/10.1111/j.2044-8317.1963.tb00206.x

    Examples
    --------
    >>> scores = bb.reliability.bias_scores("glove-50d-slice", "occ16", measures=["db_wa", "ripa"])
    >>> bb.reliability.variance_components(scores, draws=400, seed=0).table().columns.tolist()[:2]
    ['component', 'sd']
    """
    y = _values(scores, *DIMS)
    sizes = {name: size for name, size in zip(DIMS, y.shape, strict=True) if size > 1}
    by_measure = y.reshape(len(y), -1)
    spread, level = by_measure.std(axis=1), np.abs(by_measure.mean(axis=1))
    if not (spread > 1e-12 * np.maximum(level, 1e-300)).all():
        constant = scores["measure"].to_numpy()[np.argmin(spread)]
        raise InputError(f"the scores of {constant} do not vary, so that they have no components: leave it out")
    if flag(standardise, "standardise"):
        y, unit = standardised(y), 1.0
    else:
        unit = float(y.std())
        y = (y - y.mean()) / unit
    y = y.reshape(tuple(sizes.values()))
    if y.ndim < 2:
        facets = " and ".join(sizes) or "nothing"
        raise InputError(f"the scores vary by {facets} only: give scores with several levels of two facets")
    without = ("measure",) if standardise and "measure" in sizes else ()
    layout = Layout(tuple(sizes), without)
    tree, faults = draw_components(y, layout, draws, chains, seed, unit)
    wanted = {"target": 2, "base_pair": 2, "measure": FEW, "seed": FEW}
    few = {name.replace("_", " "): sizes.get(name, 1) for name in DIMS if sizes.get(name, 1) < wanted[name]}
    notes = [Note("few-levels", count=size, factor=name if size == 1 else f"{name}s") for name, size in few.items()]
    every = (*scores.attrs.get("notes", ()), *notes, *faults)
    return VarianceComponents(tree, layout.components, sizes, every, standardise)


def _described(drawn: FloatArray, prob: float, threshold: float) -> tuple[float, ...]:
    """Mean and interval of a coefficient, and the probability that it is at least a threshold."""
    summary = describe(drawn[:, None], prob)
    return (*(float(summary[name][0]) for name in ("mean", "low", "high")), float((drawn >= threshold).mean()))
