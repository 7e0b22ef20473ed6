"""Simulated distance tables: false-positive rates and coverage of intervals, and simulation-based calibration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import gammainc, gammaincc, ndtri

from bayesbias._support.arguments import finite_number, one_of, probability, several, whole_number
from bayesbias._support.progress import progress
from bayesbias._support.results import Result
from bayesbias.checks.summaries import PROB, cluster_interval_of, flat_draws
from bayesbias.distances.dataframe import DistanceTable
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError, shown
from bayesbias.models.families import Truth, family_of
from bayesbias.models.fits import fit
from bayesbias.models.spec import ModelSpec, load_model
from bayesbias.models.tree import Fit, read_distances
from bayesbias.numerics.random_lists import draw_any
from bayesbias.words import CONTROLS, STEREOTYPES, can_be_control, controls_of, counterparts

Shape = pd.DataFrame | Mapping[str, Any]
Model = str | Path | ModelSpec
Calls = list[tuple[str, str, float, float, bool]]
METRICS = ("cluster", "weat", "t_test")
DRAWS = 500
PERMUTATIONS = 999


def simulate(
    table_or_shape: Shape,
    model: str | Path | ModelSpec = "crossed",
    truth: Mapping[str, Any] | None = None,
    seed: int | None = 0,
) -> DistanceTable:
    """A distance table of a given shape, simulated from a model.

    Parameters
    ----------
    table_or_shape
        A distance table whose distances are replaced, or a mapping with ``groups`` (name to number of protected words),
        ``stereotypes`` (name of a group to number of attribute words), numbers of ``human`` and ``neutral`` words, and
        ``controls`` (name of another control list to number of words); each protected word then meets each attribute
        word.
    model
        A name that :func:`list_models` shows, a path or a loaded model, without a common intercept.
    truth
        Parameter to a number, a mapping by label or an array: ``connection_mean``, ``connection_sd``, ``sigma`` and,
        for crossed models, ``attribute_sd`` and ``interaction_sd`` (and ``nu`` for robust); ``sd_factor`` for related
        words, whose table carries relatedness and whose ``word_mean`` is that of the table unless it is given.
        Elsewhere ``word_mean``, ``attribute_effect`` and ``interaction_effect`` are drawn unless they are given. None
        draws every parameter that has a prior.
    seed
        Seed of the draws; None takes a fresh one.

    Returns
    -------
    DistanceTable
        A distance table; ``truth`` holds the parameters as arrays. Distances are not confined to [0, 2].

    Examples
    --------
    >>> shape = {"groups": {"g": 3, "h": 3}, "stereotypes": {"g": 3, "h": 3}, "human": 6}
    >>> truth = {"connection_mean": 0.9, "connection_sd": 0.05, "sigma": 0.1, "attribute_sd": 0.05, "interaction_sd": 0}
    >>> table = bb.calibration.simulate(shape, "crossed", truth, seed=0)
    >>> len(table)
    72
    """
    spec = _known_model(model)
    shape = table_of_shape(table_or_shape)
    data = read_distances(shape, check=False)
    rng = np.random.default_rng(None if seed is None else whole_number(seed, "seed", least=0, most=None))
    drawn = family_of(spec).drawn_truth(spec, data, rng) if truth is None else complete_truth(spec, data, truth, rng)
    return _drawn_table(spec, shape, data, drawn, rng)


def _drawn_table(
    spec: ModelSpec, shape: pd.DataFrame, data: Distances, truth: Truth, rng: np.random.Generator
) -> DistanceTable:
    """The rows of a table with distances drawn given parameters; normal ones may be negative."""
    family = family_of(spec)
    rows = pd.DataFrame(shape).assign(distance=family.drawn_distances(spec, truth, data, rng))
    return DistanceTable(rows, relatedness=data.relatedness if family.needs_relatedness else None, truth=truth)


def _known_model(model: str | Path | ModelSpec) -> ModelSpec:
    """A model that can be simulated from."""
    spec = load_model(model)
    if spec.terms.intercept:
        raise InputError(f"the model {spec.name!r} has an intercept: simulation covers models without one")
    return spec


def table_of_shape(shape: Shape) -> pd.DataFrame:
    """A distance table as it is, or one made of a mapping's numbers, every distance 1."""
    if isinstance(shape, pd.DataFrame):
        return shape
    known = ("groups", "stereotypes", "controls", *CONTROLS[::-1])
    if not isinstance(shape, Mapping) or not shape.get("groups") or set(shape) - set(known):
        raise InputError(f"a shape is a distance table or a mapping with {', '.join(known)}; given is {shape!r}")
    for part in known[:3]:
        if not isinstance(shape.get(part, {}), Mapping):
            raise InputError(f"{part} of the shape is {shape[part]!r}: give a mapping of names to numbers of words")
    controls = {**{name: shape[name] for name in known[3:] if shape.get(name)}, **shape.get("controls", {})}
    if bad := [name for name in controls if not can_be_control(name) or name in shape.get("stereotypes", {})]:
        raise InputError(f"a control list of the shape cannot be named {bad[0]!r}: give another name")
    lists = [*shape.get("stereotypes", {}).items(), *controls.items()]
    if not lists:
        raise InputError("the shape has no attribute words: give numbers of stereotypes, human, neutral or controls")
    rows = [
        (f"{group} {word}", group, f"{name} word {i}", name, name if name in controls else STEREOTYPES[name != group])
        for group, words in shape["groups"].items()
        for word in range(whole_number(words, f"groups, {group}"))
        for name, size in lists
        for i in range(whole_number(size, str(name)))
    ]
    columns = ["protected_word", "group", "attribute_word", "attribute_class", "connection"]
    return pd.DataFrame(rows, columns=columns).assign(distance=1.0)


def complete_truth(spec: ModelSpec, data: Distances, truth: Mapping[str, Any], rng: np.random.Generator) -> Truth:
    """Given parameters as arrays, with what is not given of the effects drawn."""
    if not isinstance(truth, Mapping):
        raise InputError(f"truth is {shown(truth)}: give a mapping of parameters to numbers")
    return family_of(spec).completed_truth(spec, data, truth, rng)


@dataclass(frozen=True, repr=False)
class Ranks(Result):
    """Ranks of the truth, uniform on 0..draws where the engine is right.

    Attributes
    ----------
    model, engine, draws
        The model and the engine that were tested, and the draws of each fit.
    ranks, pareto_k
        Variable to ranks (replicates, parameters); the largest Pareto k of all fits, None where the engine has none.
    """

    picture: ClassVar[str] = "strip"
    notes: ClassVar[tuple[str, ...]] = ()

    model: str
    engine: str
    draws: int
    ranks: dict[str, NDArray[np.intp]]
    pareto_k: float | None

    def findings(self) -> list[str]:
        """The result in sentences, without its notes."""
        table = self.uniformity
        k = "" if self.pareto_k is None else f"; largest Pareto k {self.pareto_k:.2f}"
        farthest = table.sort_values("p_value").iloc[0]
        return [
            f"Ranks of the truth by {self.engine} under {self.model}: {len(next(iter(self.ranks.values()))):,} tables, "
            f"{len(table)} parameters. Smallest p-value of their spread {farthest['p_value']:.2g} "
            f"({farthest['parameter']}: {farthest['spread']:.2f} times the spread of uniform ranks; above 1, intervals "
            f"are too narrow), of Kolmogorov-Smirnov tests {table['ks_p_value'].min():.2g} (the smallest of so many is "
            f"below {0.05 / len(table):.1g} in at most 5% of right engines){k}."
        ]

    @property
    def uniformity(self) -> pd.DataFrame:
        """Tests of uniformity, one row a parameter.

        Columns ``parameter`` and ``place``; ``spread``, the root mean square of the ranks' normal scores over that of
        uniform ranks (1.25 where intervals are 20% too narrow), and ``p_value`` of a chi-square test of it;
        ``ks_p_value`` of a Kolmogorov-Smirnov test, which sees biased intervals sooner than narrow ones; and
        ``last_5_percent``, the share of ranks in the last 5%.
        """
        last, rows = 0.95 * (self.draws + 1), []
        for name, values in self.ranks.items():
            for place, ranks in enumerate(values.T):
                tests = *_spread_test(ranks, self.draws), _kolmogorov_smirnov(ranks, self.draws)
                rows.append((name, place, *tests, (ranks >= last).mean()))
        columns = ["parameter", "place", "spread", "p_value", "ks_p_value", "last_5_percent"]
        return pd.DataFrame(rows, columns=columns)

    def table(self) -> pd.DataFrame:
        """One row a parameter: :attr:`uniformity`."""
        return self.uniformity

    def drawn_from(self) -> tuple[Any, dict[str, Any]]:
        """The spread of each parameter's ranks beside that of uniform ones."""
        label = "spread of the ranks (1: right; above 1 intervals are too narrow)"
        return self.uniformity, {"value": "spread", "rows": "parameter", "mark": 1.0, "label": label}


def _spread_test(ranks: NDArray[np.intp], draws: int) -> tuple[float, float]:
    """Spread of ranks (replicates,) on 0..draws relative to that of uniform ranks, and its two-sided p-value.

    The normal score of a rank is the normal quantile at (rank + 1/2) / (draws + 1). Of uniform ranks the sum of squared
    scores is nearly chi-square. A rank takes draws + 1 values only, so that its squared score has a mean below 1 and a
    variance below 2: a scaled chi-square distribution with both moments is the reference.
    """
    squares = ndtri((np.arange(draws + 1) + 0.5) / (draws + 1)) ** 2
    mean, variance = squares.mean(), squares.var()
    total, expected = squares[ranks].sum(), len(ranks) * mean
    # scale * chi-square(freedom) has the mean scale * freedom and the variance 2 scale^2 * freedom
    freedom, scale = 2 * expected * mean / variance, variance / (2 * mean)
    tails = gammainc(freedom / 2, total / (2 * scale)), gammaincc(freedom / 2, total / (2 * scale))
    return float(np.sqrt(total / expected)), float(min(1.0, 2 * min(tails)))


def _kolmogorov_smirnov(ranks: NDArray[np.intp], draws: int) -> float:
    """The p-value of the largest difference between the shares of ranks (replicates,) on 0..draws and uniform shares.

    Differences are taken between values only, where discrete uniform ranks have the distribution of continuous ones.
    """
    from scipy.stats import kstwo  # loads slowly

    shares = np.bincount(ranks, minlength=draws + 1).cumsum() / len(ranks)
    distance = np.abs(shares - np.arange(1, draws + 2) / (draws + 1)).max()
    return float(kstwo.sf(distance, len(ranks)))


def sbc(
    model: str | Path | ModelSpec,
    shape: Shape,
    replicates: int = 1000,
    engine: str = "auto",
    seed: int = 0,
    draws: int = 199,
) -> Ranks:
    """Simulation-based calibration: parameters from the prior, a table from them, ranks in the posterior.

    Parameters
    ----------
    model, engine
        The model, both for simulation and for the fit, and the engine under test.
    shape
        As in :func:`simulate`.
    replicates, seed
        How many tables to simulate and fit, and the seed of parameters, distances and fits.
    draws
        Posterior draws of each fit, at least 2.

    References
    ----------
    Cook, S. R., Gelman, A. and Rubin, D. B. (2006). Validation of software for Bayesian models using posterior
    quantiles. Journal of Computational and Graphical Statistics 15(3). https://doi.org/10.1198/106186006X136976

    Talts, S. et al. (2018). Validating Bayesian inference algorithms with simulation-based calibration.
    https://doi.org/10.48550/arXiv.1804.06788

    Examples
    --------
    >>> shape = {"groups": {"g": 3, "h": 3}, "stereotypes": {"g": 3, "h": 3}, "human": 6}
    >>> ranks = bb.calibration.sbc("published", shape, replicates=5, draws=19)
    >>> type(ranks).__name__
    'Ranks'
    """
    spec, draws = _known_model(model), whole_number(draws, "draws", least=2)
    table = table_of_shape(shape)
    data = read_distances(table, check=False)
    rng = np.random.default_rng(whole_number(seed, "seed", least=0, most=None))
    ranks: dict[str, list[NDArray[np.intp]]] = {}
    engine_used, worst = engine, None
    with progress("simulation-based calibration", whole_number(replicates, "replicates")) as done:
        for i in range(replicates):
            truth = family_of(spec).drawn_truth(spec, data, rng)
            simulated = _drawn_table(spec, table, data, truth, rng)
            post = fit(simulated, spec, engine=engine, draws=draws, chains=1, seed=int(rng.integers(2**31)))
            engine_used = str(post.attrs["engine"])
            if (k := Fit(post).stats.get("pareto_k")) is not None:
                worst = max(worst or 0.0, float(k))
            for name, true in truth.items():
                drawn = flat_draws(post["posterior"][name].to_numpy()).reshape(draws, -1)
                present = ~np.isnan(np.ravel(true))
                below = (drawn[:, present] < np.ravel(true)[present]).sum(axis=0)
                ranks.setdefault(name, []).append(below)
            done(i + 1)
    return Ranks(spec.name, engine_used, draws, {name: np.array(values) for name, values in ranks.items()}, worst)


def false_positive_rate(
    shape: Shape,
    truth: Mapping[str, Any],
    models: Sequence[Model] = ("published", "crossed"),
    metrics: Sequence[str] = METRICS,
    replicates: int = 200,
    seed: int = 0,
    simulated_by: Model = "crossed",
    prob: float = PROB,
) -> pd.DataFrame:
    """False-positive rates of intervals and p-values in tables that are simulated without bias.

    Parameters
    ----------
    shape, truth, simulated_by
        As in :func:`simulate`: the shape, and parameters of a model with one ``connection_mean`` for all.
    models, prob
        Models to fit, and the mass of equal-tailed intervals: a call is a contrast whose interval excludes 0.
    metrics
        ``"cluster"``: the attribute-word cluster interval; ``"t_test"``: Welch's test of rows; ``"weat"``: WEAT's
        permutation test of protected words (two-sided, the sum over protected words of mean distance to own minus
        other stereotypes). A p-value calls below 1 - prob.
    replicates, seed
        How many tables, and the seed of all of them.

    Returns
    -------
    DataFrame
        Columns ``method``, ``contrast``, ``rate``, ``se``, ``nominal``, ``width`` (mean width of the interval, NaN for
        tests) and ``replicates``.

    Examples
    --------
    >>> shape = {"groups": {"g": 3, "h": 3}, "stereotypes": {"g": 3, "h": 3}, "human": 6}
    >>> truth = {"connection_mean": 0.9, "connection_sd": 0.05, "sigma": 0.1, "attribute_sd": 0.05, "interaction_sd": 0}
    >>> found = bb.calibration.false_positive_rate(shape, truth, ["published"], replicates=4)
    >>> found.columns.tolist()[:2]
    ['method', 'contrast']
    """
    if not isinstance(truth, Mapping):
        raise InputError(f"truth is {shown(truth)}: give a mapping of parameters with one connection_mean")
    means = truth.get("connection_mean")
    entries = means.values() if isinstance(means, Mapping) else several(means)
    values = [finite_number(value, "connection_mean") for value in entries]
    if len(set(values)) != 1:
        raise InputError(f"connection_mean is {means!r}: without bias it is one number for all connections")
    calls = _judged(_simulated(shape, truth, simulated_by, replicates, seed), models, metrics, replicates, prob)
    return _rates(calls, "alarm", 1 - prob)


def null_false_positive_rate(
    table: pd.DataFrame,
    models: Sequence[Model] = ("published", "crossed"),
    replicates: int = 300,
    seed: int = 0,
    metrics: Sequence[str] = METRICS,
    source: str = "neutral",
    prob: float = PROB,
    pool: Sequence[str] | None = None,
    adjust: str | Mapping[str, Mapping[str, float]] | None = None,
    frequencies: Mapping[str, float] | str | Path | None = None,
) -> pd.DataFrame:
    """False-positive rates on real distances: stereotype lists replaced by words drawn at random from a control list.

    Protected words, groups and the other control words stay; as many words as the stereotype lists have are drawn
    from the control list ``source``, and the rows are labelled by these pseudo lists. There is no bias by
    construction between the pseudo lists and what is left of ``source``, and the dependence among distances is real.
    (Other control lists differ from ``source`` in truth, so that their contrasts are left out.)

    Parameters
    ----------
    table
        A distance table with groups, stereotype lists and the control list.
    source
        A control list of the table.
    models, replicates, seed, metrics, prob
        As in :func:`false_positive_rate`, and so is the result.
    pool
        Words of that list from which the pseudo lists are drawn, such as its most frequent third: what differs then
        between the lists is no bias either. None: all.
    adjust, frequencies
        What the models adjust distances for, as in :func:`fit`.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7", relatedness=False)
    >>> found = bb.calibration.null_false_positive_rate(table, ["published"], replicates=4)
    >>> found.columns.tolist()[:2]
    ['method', 'contrast']
    """
    replicates = whole_number(replicates, "replicates")
    if pool is not None and (isinstance(pool, str | bytes | Mapping) or not np.iterable(pool)):
        raise InputError(f"pool is {shown(pool)}: give a list of words, or None for all")
    one_of(source, controls_of(Distances.read(table, check=False).connections.tolist()) or CONTROLS, "source")
    relabel = _pseudo_lists(table, source, pool)
    rngs = (np.random.default_rng([whole_number(seed, "seed", least=0, most=None), i]) for i in range(replicates))
    tables = ((relabel(rng), rng) for rng in rngs)
    if adjust is None and frequencies is not None:
        raise InputError("frequencies are given, but nothing is adjusted for: give adjust='frequency' too")
    how = {} if adjust is None else {"adjust": adjust, "frequencies": frequencies}
    calls = _judged(tables, models, metrics, replicates, prob, ("different", source), how)
    return _rates(calls, "alarm", 1 - prob)


def coverage_study(
    shape: Shape,
    truth: Mapping[str, Any],
    models: Sequence[Model] = ("published", "crossed"),
    replicates: int = 200,
    seed: int = 0,
    simulated_by: Model = "crossed",
    prob: float = PROB,
) -> pd.DataFrame:
    """Share of intervals that cover a planted contrast, and share that exclude 0.

    Parameters
    ----------
    shape, truth, models, replicates, seed, simulated_by, prob
        As in :func:`false_positive_rate`, with a ``connection_mean`` that differs between connections.

    Returns
    -------
    DataFrame
        Columns ``method``, ``contrast``, ``planted``, ``coverage``, ``power`` (share of intervals without 0), ``se``
        (of the coverage), ``width``, ``nominal`` and ``replicates``. The cluster interval is included.

    Examples
    --------
    >>> shape = {"groups": {"g": 3, "h": 3}, "stereotypes": {"g": 3, "h": 3}, "human": 6}
    >>> truth = {"connection_mean": 0.9, "connection_sd": 0.05, "sigma": 0.1, "attribute_sd": 0.05, "interaction_sd": 0}
    >>> found = bb.calibration.coverage_study(shape, truth, ["published"], replicates=4)
    >>> found.columns.tolist()[:2]
    ['method', 'contrast']
    """
    table = table_of_shape(shape)
    data = Distances.read(table, check=False)
    planted = complete_truth(_known_model(simulated_by), data, truth, np.random.default_rng(0))["connection_mean"]
    mean = dict(zip(data.connections.tolist(), planted.tolist(), strict=True))
    calls = _judged(_simulated(shape, truth, simulated_by, replicates, seed), models, ("cluster",), replicates, prob)
    target = calls["contrast"].map({f"associated - {name}": mean.get("associated", 0.0) - mean[name] for name in mean})
    calls = calls.assign(planted=target, covered=(calls["low"] <= target) & (target <= calls["high"]))
    rates = _rates(calls, "covered", prob).rename(columns={"rate": "coverage"})
    by = calls.groupby(["method", "contrast"], sort=False)
    power = by.agg(power=("alarm", "mean"), planted=("planted", "first")).reset_index()
    merged = rates.merge(power, on=["method", "contrast"])
    return merged[["method", "contrast", "planted", "coverage", "power", "se", "width", "nominal", "replicates"]]


def _simulated(
    shape: Shape, truth: Mapping[str, Any], model: Model, replicates: int, seed: int
) -> Iterable[tuple[pd.DataFrame, np.random.Generator]]:
    spec, table = _known_model(model), table_of_shape(shape)
    data = Distances.read(table, check=False)
    for i in range(whole_number(replicates, "replicates")):
        rng = np.random.default_rng([whole_number(seed, "seed", least=0, most=None), i])
        yield _drawn_table(spec, table, data, complete_truth(spec, data, truth, rng), rng), rng


def _judged(
    tables: Iterable[tuple[pd.DataFrame, np.random.Generator]],
    models: Sequence[Model],
    metrics: Sequence[str],
    replicates: int,
    prob: float,
    others: Sequence[str] = (),
    how: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """One row for each table, method and contrast: ``low``, ``high`` (NaN for tests) and ``alarm``."""
    prob = probability(prob, "prob")
    metrics = [one_of(name, METRICS, "the metric") for name in several(metrics)]
    specs = [load_model(model) for model in several(models)]
    if not specs and not metrics:
        raise InputError("models and metrics are empty: give at least one of either")
    rows: Calls = []
    with progress("counting false positives", whole_number(replicates, "replicates")) as done:
        for i, (table, rng) in enumerate(tables):
            data = Distances.read(table, check=False)
            known = counterparts("associated", data.connections.tolist())
            present = [name for name in known if not others or name in others]
            for spec in specs:
                rows += _model_calls(spec, table, present, rng, prob, how or {})
            for name in metrics:
                rows += _metric_calls(name, data, present, rng, prob)
            done(i + 1)
    return pd.DataFrame(rows, columns=["method", "contrast", "low", "high", "alarm"])


def _rates(calls: pd.DataFrame, column: str, nominal: float) -> pd.DataFrame:
    calls = calls.assign(width=calls["high"] - calls["low"])
    by = calls.groupby(["method", "contrast"], sort=False)
    table = by.agg(rate=(column, "mean"), width=("width", "mean"), replicates=(column, "size")).reset_index()
    smoothed = (table["rate"] * table["replicates"] + 0.5) / (table["replicates"] + 1)
    table["se"] = np.sqrt(smoothed * (1 - smoothed) / table["replicates"])  # not 0 where none or all call
    table["nominal"] = nominal
    return table[["method", "contrast", "rate", "se", "nominal", "width", "replicates"]]


def _model_calls(
    spec: ModelSpec,
    table: pd.DataFrame,
    others: list[str],
    rng: np.random.Generator,
    prob: float,
    how: Mapping[str, Any],
) -> Calls:
    post = fit(table, spec, draws=DRAWS, chains=1, seed=int(rng.integers(2**31)), **how)
    mean = flat_draws(post["posterior/connection_mean"].to_numpy())
    labels = post["posterior"]["connection"].to_numpy().tolist()
    calls: Calls = []
    for name in others:
        draws = mean[:, labels.index("associated")] - mean[:, labels.index(name)]
        low, high = np.quantile(draws, [(1 - prob) / 2, (1 + prob) / 2])
        calls.append((spec.name, f"associated - {name}", float(low), float(high), bool(low > 0 or high < 0)))
    return calls


def _metric_calls(metric: str, data: Distances, others: list[str], rng: np.random.Generator, prob: float) -> Calls:
    from scipy.stats import ttest_ind  # loads slowly

    calls: Calls = []
    for name in others if metric != "weat" else [name for name in others if name == "different"]:
        low, high = np.nan, np.nan
        if metric == "cluster":
            interval = cluster_interval_of(data, "associated", name, prob)
            low, high = interval.low, interval.high
            alarm = low > 0 or high < 0
        elif metric == "t_test":
            labels = data.connections[data.connection]
            alarm = ttest_ind(data.y[labels == "associated"], data.y[labels == name], equal_var=False).pvalue < 1 - prob
        else:
            alarm = _permutation_p(data, rng) < 1 - prob
        calls.append((metric, f"associated - {name}", low, high, bool(alarm)))
    return calls


def _permutation_p(data: Distances, rng: np.random.Generator, permutations: int = PERMUTATIONS) -> float:
    """Two-sided p-value of WEAT's permutation test: the groups of protected words are dealt out anew.

    The statistic is the sum over protected words of the mean distance to the stereotypes of their own group minus
    that to the stereotypes of the other groups; with two groups it is WEAT's.
    """
    stereotype = np.isin(data.connections[data.connection], ("associated", "different"))
    own = data.connections[data.connection] == "associated"
    groups = len(data.group_names)
    list_of = np.full(len(data.attribute_words), -1)
    list_of[data.attribute[own]] = data.group_index[data.word[own]]
    totals, counts = np.zeros((2, len(data.protected_words), groups))
    rows = stereotype & (list_of[data.attribute] >= 0)
    np.add.at(totals, (data.word[rows], list_of[data.attribute[rows]]), data.y[rows])
    np.add.at(counts, (data.word[rows], list_of[data.attribute[rows]]), 1)
    with np.errstate(invalid="ignore"):
        to_own = totals / counts
        to_other = (totals.sum(axis=1, keepdims=True) - totals) / (counts.sum(axis=1, keepdims=True) - counts)
    gap = to_own - to_other
    label, words = data.group_index, np.arange(len(data.protected_words))
    observed = np.nansum(gap[words, label])
    dealt = rng.permuted(np.tile(label, (permutations, 1)), axis=1)
    under = np.nansum(gap[words, dealt], axis=1)
    return float((1 + (np.abs(under) >= np.abs(observed) - 1e-12).sum()) / (permutations + 1))


def _pseudo_lists(
    table: pd.DataFrame, source: str, words: Sequence[str] | None = None
) -> Callable[[np.random.Generator], pd.DataFrame]:
    """A function to the table with words of a control list, drawn at random, in place of the stereotype lists."""
    table = table.reset_index(drop=True)  # a column may be a level of the index too
    own = table["connection"] == "associated"
    if "" in Distances.read(table, check=False).group_names or not own.any():
        raise InputError("the real null needs the group of each protected word and associated distances")
    sizes = table[own].groupby("group", sort=False)["attribute_word"].nunique()
    pool = table.loc[table["connection"] == source, "attribute_word"].unique()
    whole, needed = len(pool), int(sizes.sum())
    if words is not None:
        pool = pool[np.isin(pool.astype(str), list(map(str, words)))]
    if len(pool) < needed or whole <= needed:
        raise InputError(
            f"the pseudo lists take {needed} words from {len(pool)} of the {whole} words of the {source} list, and "
            "leave none to compare with: take another list, or a larger pool"
        )
    controls = table[~table["connection"].isin(STEREOTYPES)].reset_index(drop=True)
    group, word = controls["group"].to_numpy(), controls["attribute_word"].to_numpy()
    from_source = (controls["connection"] == source).to_numpy()

    def relabel(rng: np.random.Generator) -> pd.DataFrame:
        parts = draw_any(len(pool), sizes.tolist(), rng)
        owner = {drawn: name for name, part in zip(sizes.index, parts, strict=True) for drawn in pool[part]}
        listed = np.array([owner.get(each, "") for each in word], dtype=object)
        pseudo = from_source & (listed != "")
        connection = np.where(pseudo, np.where(listed == group, "associated", "different"), controls["connection"])
        classes = np.where(pseudo, listed, controls["connection"])
        return controls.assign(connection=connection.astype(str), attribute_class=classes.astype(str))

    return relabel
