"""Simulated distance tables, and the false-positive rates of intervals and tests in them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import ttest_ind

import bayesbias as bb
from benchmarks.inside import (
    DIMS,
    MEANS,
    Distances,
    DistanceTable,
    family_of,
    interval_of,
    read_distances,
    scale_sizes,
    with_effects,
)
from benchmarks.study import PROB

METRICS = ("cluster", "weat", "t_test")
PERMUTATIONS = 999


def simulate(shape: pd.DataFrame | Mapping[str, Any], model: str, truth: Mapping[str, Any], seed: Any) -> DistanceTable:
    """A distance table of a shape with distances drawn from a model; ``truth`` holds its parameters as arrays.

    Normal distances are not confined to [0, 2]. ``seed`` is what NumPy makes a generator of, or one.
    """
    spec, table, rng = bb.load_model(model), table_of_shape(shape), np.random.default_rng(seed)
    data, family = read_distances(table, check=False), family_of(spec)
    drawn = completed(spec, data, truth, rng)
    rows = pd.DataFrame(table).assign(distance=family.drawn_distances(spec, drawn, data, rng))
    return DistanceTable(rows, relatedness=data.relatedness if family.needs_relatedness else None, truth=drawn)


def completed(spec: Any, data: Distances, truth: Mapping[str, Any], rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Given parameters as arrays, effects drawn; means of related words follow those of connections where given."""
    related, connections = spec.related, data.connections.tolist()
    classes = data.connection_classes if related else data.attribute_classes
    means = {"connection_mean": len(connections)} if "connection_mean" in truth else {}
    sizes = {"sd_factor": len(classes), **means} if related else scale_sizes(spec, data)
    if unknown := (set(sizes) - set(truth)) | (set(truth) - {*sizes, *MEANS}):
        raise bb.InputError(f"the truth of the model {spec.name!r} has {', '.join(sizes)}: {', '.join(unknown)}")
    values = {}
    for name, size in sizes.items():
        given, labels = truth[name], connections if DIMS.get(name) == ("connection",) else classes
        numbers = [given[label] for label in labels] if isinstance(given, Mapping) else given
        values[name] = np.broadcast_to(np.asarray(numbers, dtype=float), (size,) if size else ()).copy()
    if related:
        middle = values.pop("connection_mean", data.cells.mean)
        drawn = values | {"word_mean": np.where(data.filled, middle, np.nan)}
    else:
        drawn = with_effects(spec, data, values, rng)
    return drawn | {name: np.asarray(truth[name], dtype=float) for name in set(truth) & {*MEANS}}


def table_of_shape(shape: pd.DataFrame | Mapping[str, Any]) -> pd.DataFrame:
    """A distance table as it is, or one in which every protected word meets every attribute word at a distance of 1.

    A shape has ``groups`` (name to number of protected words), ``stereotypes`` (name of a group to number of attribute
    words), numbers of ``human`` and ``neutral`` words, and ``controls`` (name of another list to number of words).
    """
    if isinstance(shape, pd.DataFrame):
        return shape
    controls = {name: shape[name] for name in ("human", "neutral") if shape.get(name)} | shape.get("controls", {})
    rows = [
        (f"{group} {word}", group, f"{name} word {i}", name, connection)
        for group, words in shape["groups"].items()
        for word in range(words)
        for name, size in [*shape.get("stereotypes", {}).items(), *controls.items()]
        for connection in [name if name in controls else "associated" if name == group else "different"]
        for i in range(size)
    ]
    columns = ["protected_word", "group", "attribute_word", "attribute_class", "connection"]
    return pd.DataFrame(rows, columns=columns).assign(distance=1.0)


def rates(tables: Iterable[tuple[pd.DataFrame, np.random.Generator]], models: Sequence[str], metrics=(), prob=PROB):
    """False-positive rates in tables without bias, each with a generator: a row a method and contrast.

    Models call a contrast whose interval excludes 0, and so does the ``cluster`` interval; ``t_test`` (Welch's) and
    ``weat`` (permutation test) call below 1 - prob.
    """
    rows = []
    for table, rng in tables:
        data = Distances.read(table, check=False)
        others = [name for name in ("different", "human", "neutral") if name in data.connections]
        for model in models:
            post = bb.fit(table, model, draws=500, chains=1, seed=int(rng.integers(2**31)))
            mean = post["posterior/connection_mean"].isel(chain=0)
            for name in others:
                draws = mean.sel(connection="associated") - mean.sel(connection=name)
                low, high = np.quantile(draws, [(1 - prob) / 2, (1 + prob) / 2])
                rows.append((model, name, high - low, low > 0 or high < 0))
        for metric in metrics:
            names = others if metric != "weat" else ["different"]
            rows += [(metric, name, *called(metric, data, name, rng, prob)) for name in names]
    calls = pd.DataFrame(rows, columns=["method", "contrast", "width", "alarm"])
    calls["contrast"] = "associated - " + calls["contrast"]
    by = calls.groupby(["method", "contrast"], sort=False)
    table = by.agg(rate=("alarm", "mean"), width=("width", "mean"), replicates=("alarm", "size")).reset_index()
    smoothed = (table["rate"] * table["replicates"] + 0.5) / (table["replicates"] + 1)
    table.insert(3, "se", np.sqrt(smoothed * (1 - smoothed) / table["replicates"]))  # not 0 where none or all call
    return table


def called(metric: str, data: Distances, other: str, rng: np.random.Generator, prob: float) -> tuple[float, bool]:
    """Width of the interval, NaN for tests, and whether a bias is called."""
    if metric == "cluster":
        interval = interval_of(data, "associated", other, prob)
        return interval.high - interval.low, interval.low > 0 or interval.high < 0
    labels = data.connections[data.connection]
    if metric == "t_test":
        p_value = ttest_ind(data.y[labels == "associated"], data.y[labels == other], equal_var=False).pvalue
    else:
        p_value = permutation_p(data, rng)
    return np.nan, p_value < 1 - prob


def permutation_p(data: Distances, rng: np.random.Generator) -> float:
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
