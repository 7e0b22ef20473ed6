"""The contrast of a Bayesian fit as a metric: the model fitted anew to the words of every run and size."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias._checks import probability, whole_number
from bayesbias._core.cells import IntArray
from bayesbias._core.cosine import FloatArray
from bayesbias._progress import progress
from bayesbias.comparison.uncertainty import word_lists_of
from bayesbias.diagnostics.clustering import contrasted
from bayesbias.diagnostics.intervals import PROB, hdi
from bayesbias.distances import distance_table
from bayesbias.errors import InputError
from bayesbias.metrics import Query
from bayesbias.metrics.lookup import Lookup
from bayesbias.models import load_model
from bayesbias.models.crossed import fit_for_crossed
from bayesbias.models.data import ModelData, data_of_rows, model_data
from bayesbias.models.engines import Engine, choose_engine
from bayesbias.models.spec import ModelSpec
from bayesbias.silhouettes.orders import Growth
from bayesbias.silhouettes.subjects import VARIED, Followed, Lengths, Subject, Varied, found_sets, words_of
from bayesbias.words import CONTROLS

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

NAME = "crossed"
OPTIONS = {"model": NAME, "first": "associated", "second": None, "prob": PROB, "draws": 1000, "seed": 0}
LARGEST = 2.0
"""Of a difference of two mean cosine distances."""


@dataclass(frozen=True)
class _Rows:
    """Where the words of a table's rows stand: list and place in it, each (rows,), and the number of lists."""

    lists: IntArray
    places: IntArray
    count: int

    def first(self, lengths: Sequence[int] | IntArray, orders: Sequence[IntArray] | None = None) -> np.ndarray:
        """Which rows hold one of the first words of each list, in its own order or in another."""
        longest = int(self.places.max()) + 1
        rank = np.tile(np.arange(longest), (self.count, 1))
        for at, order in enumerate(orders or ()):
            rank[at] = longest
            rank[at, order] = np.arange(len(order))
        held: np.ndarray = rank[self.lists, self.places] < np.asarray(lengths)[self.lists]
        return held


@dataclass(frozen=True)
class _Fit:
    """What every fit has in common: model, engine, places of the two connections' names, interval, draws and seed."""

    spec: ModelSpec
    engine: Engine
    contrast: tuple[str, str]
    prob: float
    draws: int
    seed: int

    def estimate(self, data: ModelData) -> tuple[float, float, float]:
        """Posterior mean of the contrast and its interval; NaN where a connection has no distance."""
        held = data.connections.tolist()
        if not set(self.contrast) <= set(held):
            return np.nan, np.nan, np.nan
        drawn = self.engine.sample(self.spec, data, 1, self.draws, np.random.default_rng(self.seed))
        means = drawn.posterior["connection_mean"][0]
        first, second = (means[:, held.index(name)] for name in self.contrast)
        apart = first - second
        low, high = hdi(apart, self.prob)
        return float(apart.mean()), float(low), float(high)


def contrast_subject(options: Mapping[str, Any], kv: KeyedVectors, query: Query, how: Lookup) -> Subject:
    """The posterior mean of a contrast of two connections, with its interval.

    The target sets are the groups, and the attribute sets their stereotypes in the same order; sets named ``human`` and
    ``neutral`` are controls. Options: ``model``, ``first`` and ``second`` (connections), ``prob``, ``draws`` and
    ``seed`` of each fit, the same seed for all.
    """
    if unknown := [name for name in options if name not in OPTIONS]:
        raise InputError(f"{NAME} has no option {unknown[0]!r}: it takes {', '.join(OPTIONS)}")
    used: dict[str, Any] = OPTIONS | dict(options)
    found, notes = found_sets(kv, query, how, paired=False)
    kept = {kind: {name: found.words[name] for name in getattr(query, kind)} for kind in VARIED}
    lists = word_lists_of(Query(kept["targets"], kept["attributes"], name=query.name))
    if isinstance(lists, str):
        raise InputError(f"{lists} Sets named {' and '.join(CONTROLS)} are controls.")
    table = distance_table(kv, lists, case=how.case, relatedness=False, twins=how.twins)
    data = model_data(table)
    spec = used["model"] if isinstance(used["model"], ModelSpec) else load_model(used["model"])
    engine = choose_engine(spec, "auto")
    if engine.name == "nuts":
        raise InputError(f"the model {spec.name!r} needs NUTS, which is too slow for thousands of fits: choose another")
    if spec.crossed:
        spec, data = fit_for_crossed(spec, data, table)
    contrast = contrasted(used["first"], used["second"], data.connections.tolist())
    fit = _Fit(
        spec,
        engine,
        contrast,
        probability(used["prob"], "prob"),
        whole_number(used["draws"], "draws", least=100),
        whole_number(used["seed"], "seed", least=0),
    )
    rows = {
        "targets": _rows(data.protected_words[data.word], data.groups[data.word], lists.protected),
        "attributes": _rows(
            data.attribute_words[data.attribute], data.attribute_class, {**lists.stereotypes, **lists.controls}
        ),
    }

    def follow(vary: Varied, lengths: Lengths, growth: Growth) -> Followed:
        fixed = "attributes" if vary == "targets" else "targets"
        return _followed(fit, data, rows[vary], rows[fixed].first(getattr(lengths, fixed)), growth)

    return Subject(
        metric=" - ".join(contrast) + ("" if spec.name == NAME else f" ({spec.name})"),
        **words_of(query, found),
        bounds=(-LARGEST, LARGEST),
        zero=0.0,
        optimum=0.0,
        follow=follow,
        notes=(*notes, *data.notes),
    )


def _followed(fit: _Fit, data: ModelData, varied: _Rows, kept: np.ndarray, growth: Growth) -> Followed:
    """The estimates (runs, sizes) of a contrast while lists grow; ``kept`` are the rows of the other lists."""
    runs, sizes = len(growth.places[0]), len(growth.lengths)
    found: FloatArray = np.empty((runs, sizes, 3))
    with warnings.catch_warnings(record=True) as caught, progress("fitting the model", runs * sizes) as done:
        warnings.simplefilter("always")
        for run in range(runs):
            orders = [places[run] for places in growth.places]
            for at, lengths in enumerate(growth.lengths):
                rows = kept & varied.first(lengths, orders)
                found[run, at] = fit.estimate(data_of_rows(data, rows))
                done(run * sizes + at + 1)
    notes = (f"{len(caught):,} of {runs * sizes:,} fits needed NUTS.",) if caught else ()
    return Followed(found[:, :, 0], found[:, :, 1], found[:, :, 2], notes)


def _rows(words: np.ndarray, labels: np.ndarray, lists: Mapping[str, Sequence[str]]) -> _Rows:
    """Where the words of rows stand in their lists."""
    place = {(name, word): (at, i) for at, (name, listed) in enumerate(lists.items()) for i, word in enumerate(listed)}
    found = np.array([place[key] for key in zip(labels.tolist(), words.tolist(), strict=True)], dtype=np.intp)
    return _Rows(found[:, 0], found[:, 1], len(lists))
