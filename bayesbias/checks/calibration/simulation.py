"""Simulated distance tables, and the false-positive rates of intervals and tests in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesbias._support.arguments import finite_number, one_of, probability, several, whole_number
from bayesbias._support.progress import progress
from bayesbias.checks.summaries import PROB, cluster_interval_of, flat_draws
from bayesbias.distances.dataframe import DistanceTable
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError, shown
from bayesbias.models.families import family_of
from bayesbias.models.fits import fit
from bayesbias.models.spec import ModelSpec, load_model
from bayesbias.models.tree import read_distances
from bayesbias.words import CONTROLS, STEREOTYPES, can_be_control, counterparts

Shape = pd.DataFrame | Mapping[str, Any]
Model = str | Path | ModelSpec
Calls = list[tuple[str, str, float, bool]]
METRICS = ("cluster", "weat", "t_test")
DRAWS = 500
PERMUTATIONS = 999


def simulate(shape: Shape, model: Model, truth: Mapping[str, Any], seed: Any) -> DistanceTable:
    """A distance table of a shape with distances drawn from a model; ``truth`` holds its parameters as arrays.

    Normal distances are not confined to [0, 2]. ``seed`` is what NumPy makes a generator of, or one.
    """
    spec, table, rng = load_model(model), table_of_shape(shape), np.random.default_rng(seed)
    data, family = read_distances(table, check=False), family_of(spec)
    if not isinstance(truth, Mapping):
        raise InputError(f"truth is {shown(truth)}: give a mapping of parameters to numbers")
    drawn = family.completed_truth(spec, data, truth, rng)
    rows = pd.DataFrame(table).assign(distance=family.drawn_distances(spec, drawn, data, rng))
    return DistanceTable(rows, relatedness=data.relatedness if family.needs_relatedness else None, truth=drawn)


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
    shape
        A distance table whose distances are replaced, or a mapping with ``groups`` (name to number of protected words),
        ``stereotypes`` (name of a group to number of attribute words), numbers of ``human`` and ``neutral`` words, and
        ``controls`` (name of another control list to number of words); each protected word then meets each attribute
        word.
    truth, simulated_by
        Parameter to a number, a mapping by label or an array, and the model that they are of: one ``connection_mean``
        for all, ``connection_sd``, ``sigma`` and, for crossed models, ``attribute_sd`` and ``interaction_sd``;
        ``sd_factor`` for related words. Effects of words are drawn unless they are given.
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
    replicates = whole_number(replicates, "replicates")
    rngs = (np.random.default_rng([whole_number(seed, "seed", least=0, most=None), i]) for i in range(replicates))
    tables = ((simulate(shape, simulated_by, truth, rng), rng) for rng in rngs)
    return judged(tables, models, metrics, replicates, prob)


def judged(
    tables: Iterable[tuple[pd.DataFrame, np.random.Generator]],
    models: Sequence[Model],
    metrics: Sequence[str],
    replicates: int,
    prob: float,
) -> pd.DataFrame:
    """The rates at which intervals and tests call a bias in tables without one: see :func:`false_positive_rate`."""
    prob = probability(prob, "prob")
    metrics = [one_of(name, METRICS, "the metric") for name in several(metrics)]
    specs = [load_model(model) for model in several(models)]
    if not specs and not metrics:
        raise InputError("models and metrics are empty: give at least one of either")
    rows: Calls = []
    with progress("counting false positives", replicates) as done:
        for i, (table, rng) in enumerate(tables):
            data = Distances.read(table, check=False)
            present = counterparts("associated", data.connections.tolist())
            for spec in specs:
                rows += _model_calls(spec, table, present, rng, prob)
            for name in metrics:
                rows += _metric_calls(name, data, present, rng, prob)
            done(i + 1)
    calls = pd.DataFrame(rows, columns=["method", "contrast", "width", "alarm"])
    by = calls.groupby(["method", "contrast"], sort=False)
    table = by.agg(rate=("alarm", "mean"), width=("width", "mean"), replicates=("alarm", "size")).reset_index()
    smoothed = (table["rate"] * table["replicates"] + 0.5) / (table["replicates"] + 1)
    table["se"] = np.sqrt(smoothed * (1 - smoothed) / table["replicates"])  # not 0 where none or all call
    table["nominal"] = 1 - prob
    return table[["method", "contrast", "rate", "se", "nominal", "width", "replicates"]]


def _model_calls(
    spec: ModelSpec,
    table: pd.DataFrame,
    others: list[str],
    rng: np.random.Generator,
    prob: float,
) -> Calls:
    post = fit(table, spec, draws=DRAWS, chains=1, seed=int(rng.integers(2**31)))
    mean = flat_draws(post["posterior/connection_mean"].to_numpy())
    labels = post["posterior"]["connection"].to_numpy().tolist()
    calls: Calls = []
    for name in others:
        draws = mean[:, labels.index("associated")] - mean[:, labels.index(name)]
        low, high = np.quantile(draws, [(1 - prob) / 2, (1 + prob) / 2])
        calls.append((spec.name, f"associated - {name}", float(high - low), bool(low > 0 or high < 0)))
    return calls


def _metric_calls(metric: str, data: Distances, others: list[str], rng: np.random.Generator, prob: float) -> Calls:
    from scipy.stats import ttest_ind  # loads slowly

    calls: Calls = []
    for name in others if metric != "weat" else [name for name in others if name == "different"]:
        width = np.nan
        if metric == "cluster":
            interval = cluster_interval_of(data, "associated", name, prob)
            width = interval.high - interval.low
            alarm = interval.low > 0 or interval.high < 0
        elif metric == "t_test":
            labels = data.connections[data.connection]
            alarm = ttest_ind(data.y[labels == "associated"], data.y[labels == name], equal_var=False).pvalue < 1 - prob
        else:
            alarm = _permutation_p(data, rng) < 1 - prob
        calls.append((metric, f"associated - {name}", width, bool(alarm)))
    return calls


def _permutation_p(data: Distances, rng: np.random.Generator) -> float:
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
    dealt = rng.permuted(np.tile(label, (PERMUTATIONS, 1)), axis=1)
    under = np.nansum(gap[words, dealt], axis=1)
    return float((1 + (np.abs(under) >= np.abs(observed) - 1e-12).sum()) / (PERMUTATIONS + 1))
