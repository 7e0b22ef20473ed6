"""A metric on words drawn with replacement, and without each word: what other words would have said."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from bayesbias._support.arguments import flag, one_of, probability, whole_number
from bayesbias._support.phrases import ends_of, percent, signed
from bayesbias._support.progress import progress
from bayesbias._support.results import Result
from bayesbias.checks.convergence import diagnose
from bayesbias.checks.summaries import PROB
from bayesbias.contrast.contrast import contrasts
from bayesbias.distances import distance_table
from bayesbias.errors import InputError, agreed, many
from bayesbias.metrics.batch import AnyQuery, OneMetric, Prepared, prepared, untested
from bayesbias.metrics.definition import NO_BIAS, of_optimum
from bayesbias.metrics.queries import word_lists_of
from bayesbias.models.fits import fit
from bayesbias.numerics.arrays import FloatArray, IntArray
from bayesbias.numerics.resampling import ends
from bayesbias.vectors import Embedding
from bayesbias.words import OTHER, OWN

Units = tuple[Hashable, ...]  # the words of a set, or its pairs of words


class LinkedSets(NamedTuple):
    """Sets that share words, directly or through others."""

    size: int  # number of distinct units
    places: dict[Units, IntArray]  # set to the place in it of each distinct unit; -1 where it does not hold it

    def draw(self, rng: np.random.Generator) -> dict[Units, IntArray]:
        """Places in each set of as many units as the sets hold, drawn with replacement; no set is left empty."""
        while True:
            drawn = rng.integers(0, self.size, self.size)
            chosen = {units: places[drawn] for units, places in self.places.items()}
            kept = {units: places[places >= 0] for units, places in chosen.items()}
            if all(map(len, kept.values())):
                return kept


def linked_sets(sets: Iterable[Units]) -> tuple[LinkedSets, ...]:
    """Sets by the words that they share; a set that shares none stands alone."""
    groups: list[tuple[dict[Hashable, None], list[Units]]] = []
    for units in dict.fromkeys(sets):
        touching = [group for group in groups if any(unit in group[0] for unit in units)]
        groups = [group for group in groups if group not in touching]
        together = dict.fromkeys(unit for own, _ in touching for unit in own) | dict.fromkeys(units)
        groups.append((together, [*(member for _, members in touching for member in members), units]))
    linked = []
    for pooled, members in groups:
        place_of = {units: {unit: place for place, unit in enumerate(units)} for units in members}
        places = {
            units: np.array([own.get(unit, -1) for unit in pooled], dtype=np.intp) for units, own in place_of.items()
        }
        linked.append(LinkedSets(len(pooled), places))
    return tuple(linked)


def draw_all(linked: Iterable[LinkedSets], rng: np.random.Generator) -> dict[Units, IntArray]:
    """One draw of every set."""
    return {units: places for sets in linked for units, places in sets.draw(rng).items()}


Over = Literal["both", "targets", "attributes"]


@dataclass(frozen=True, repr=False)
class MetricUncertainty(Result):
    """A metric with what other words of the same kind would have made of it.

    Attributes
    ----------
    metric, value, optimum
        The metric on the words as they are, and the value of no bias.
    draws
        (draws,): the metric on words drawn with replacement from each set. Pairs of words stay together, and a word is
        drawn for all sets that hold it.
    prob
        Mass of the interval.
    leave_one_out
        One row a word (a pair, for metrics of pairs): ``word``, ``set`` (all that hold it), ``value`` without it and
        ``change``.
    posterior
        One row, the counterpart by the default model: ``contrast``, ``model``, ``mean``, ``sd``, ``low``, ``high``
        (cosine distance) and ``p_closer``; empty where the query has none.
    notes
        Sentences on the query, on draws without a value, on why there is no posterior, or that its fit cannot be read.
    unbiased, null_mean
        What sentences call the optimum; the mean over random attribute lists where that is not the optimum.
    """

    metric: str
    value: float
    optimum: float
    draws: FloatArray
    prob: float
    leave_one_out: pd.DataFrame
    posterior: pd.DataFrame
    notes: tuple[str, ...]
    unbiased: str = NO_BIAS
    null_mean: float | None = None

    @property
    def sd(self) -> float:
        """Standard deviation of the draws."""
        return float(np.nanstd(self.draws, ddof=1))

    @property
    def interval(self) -> tuple[float, float]:
        """Equal-tailed interval of the draws."""
        return ends(self.draws, self.prob)

    def findings(self) -> list[str]:
        low, high = self.interval
        parts = [
            f"{self.metric}: {signed(self.value)}, {percent(self.prob)} bootstrap interval {signed(low)} to "
            f"{signed(high)} (sd {self.sd:.3f}; {of_optimum(self.optimum, self.unbiased, self.null_mean)})."
        ]
        if len(self.leave_one_out) and self.leave_one_out["change"].iloc[0] != 0:
            most = self.leave_one_out.iloc[0]
            parts.append(f"Without the word {most['word']} ({most['set']}) the metric is {signed(most['value'])}.")
        if len(self.posterior):
            row = self.posterior.iloc[0]
            parts.append(
                f"{row['contrast']} by the model {row['model']}: {signed(row['mean'])} "
                f"({percent(self.prob)} from {ends_of(row)})."
            )
        return parts

    def table(self, prob: float | None = None) -> pd.DataFrame:
        """One row: ``metric``, ``value``, ``sd``, ``low`` and ``high`` of the draws, at its own prob or another."""
        low, high = ends(self.draws, self.prob if prob is None else probability(prob, "prob"))
        return pd.DataFrame([{"metric": self.metric, "value": self.value, "sd": self.sd, "low": low, "high": high}])


def bootstrap_metric(
    name: OneMetric,
    kv: Embedding,
    query: AnyQuery,
    draws: int = 1000,
    over: Over = "both",
    prob: float = PROB,
    seed: int = 0,
    posterior: bool = True,
    **options: Any,
) -> MetricUncertainty:
    """A classic metric with a bootstrap interval, each word left out, and its counterpart by the default model.

    What other words of the same kind would have said: words of a set are drawn with replacement, as many as it has (as
    sets that share words have together), and treated as unrelated. The interval is the percentile one. The contrast
    beside it is that of :func:`fit`, for these target words: its interval knows which attribute words are similar.

    Parameters
    ----------
    name, kv, query, options
        As in :func:`metric`: options of the look-up and of the metric.
    draws, seed
        Number and seed of the bootstrap draws.
    over
        Which words are drawn anew: ``"both"``, ``"targets"`` or ``"attributes"``.
    prob
        Mass of the intervals.
    posterior
        Whether to fit the default model. Target sets are its groups, and the attribute sets, in order, their
        stereotypes, so that associated - different is negative where a target set is nearer to its attribute set.

    References
    ----------
    Efron, B. (1979). Bootstrap methods: another look at the jackknife. Annals of Statistics 7(1).
    https://doi.org/10.1214/aos/1176344552

    Examples
    --------
    >>> found = bb.checks.bootstrap_metric("weat", "google-news-slice", "weat7", draws=100, posterior=False)
    >>> found.interval[0] < found.interval[1]
    True
    """
    one_of(over, ("both", "targets", "attributes"), "over")
    draws, prob = whole_number(draws, "draws", least=2), probability(prob, "prob")
    posterior = flag(posterior, "posterior")
    rng = np.random.default_rng(whole_number(seed, "seed", least=0, most=None))
    ready = prepared(name, kv, query, untested(options))
    observed = ready.measure()
    if not np.isfinite(observed.value):
        raise InputError(f"there is no {ready.metric.name} of {ready.query.name!r}: {observed.reason}")
    ready, values = ready.with_neighbours(), np.empty(draws)
    units = units_of(ready)
    kinds = {"targets": ready.query.targets, "attributes": ready.query.attributes}
    drawn = {name: units[name] for kind in kinds if over in ("both", kind) for name in kinds[kind]}
    linked = linked_sets(drawn.values())
    still = {name: np.arange(len(own)) for name, own in units.items()}
    with progress(f"bootstrap of {ready.metric.name}", draws) as done:
        for i in range(draws):
            places = draw_all(linked, rng)
            chosen = still | {name: places[own] for name, own in drawn.items()}
            values[i] = ready.resampled(chosen).value
            done(i + 1)
    notes = [f"{note}." for note in (*ready.query.notes, *ready.found.notes, *observed.every_note)]
    if lost := int((~np.isfinite(values)).sum()):
        notes.append(f"{lost:,} of {many(draws, 'draw')} {without_value(lost)}.")
    table, reason = _posterior(ready, prob, seed) if posterior else (pd.DataFrame(), None)
    return MetricUncertainty(
        metric=ready.metric.title,
        value=observed.value,
        optimum=ready.metric.optimum,
        draws=values,
        prob=prob,
        leave_one_out=leave_one_out(ready, observed.value),
        posterior=table,
        notes=(*notes, *([reason] if reason else [])),
        unbiased=ready.metric.unbiased,
        null_mean=None if ready.metric.unbiased == NO_BIAS else ready.mean_of_random_lists(),
    )


def without_value(count: int) -> str:
    """Notes on draws in which a metric has no value."""
    return agreed(count, "has no value and was left out", "have no value and were left out")


def units_of(ready: Prepared) -> dict[str, Units]:
    """Set to what is drawn from it: words, by the keys of the embedding, or pairs for the target sets of pairs."""
    keys = {name: tuple(ready.found.keys[word] for word in ready.found.words[name]) for name in ready.query.sets}
    if ready.metric.paired:
        pairs = list(zip(*(keys[name] for name in ready.query.targets), strict=True))
        # a pair that is listed twice counts twice, as two pairs
        numbered = tuple((pair, pairs[:i].count(pair)) for i, pair in enumerate(pairs))
        return keys | dict.fromkeys(ready.query.targets, numbered)
    return dict(keys)


def leave_one_out(ready: Prepared, value: float) -> pd.DataFrame:
    """The metric without each word (or pair) in turn, the largest change first.

    A word leaves all sets that hold it; one whose set would be empty stays.
    """
    units: Mapping[str, tuple[Any, ...]] = units_of(ready)
    rows = []
    for unit in dict.fromkeys(unit for own in units.values() for unit in own):
        kept = {
            name: np.array([i for i, other in enumerate(own) if other != unit], dtype=np.intp)
            for name, own in units.items()
        }
        if all(map(len, kept.values())):
            without = ready.resampled(kept).value
            names = [name for name, own in units.items() if unit in own]
            label = unit if isinstance(unit, str) else " and ".join(unit[0])
            rows.append((label, " and ".join(names), without, without - value))
    table = pd.DataFrame(rows, columns=["word", "set", "value", "change"])
    return table.sort_values("change", key=np.abs, ascending=False, ignore_index=True)


def _posterior(ready: Prepared, prob: float, seed: int) -> tuple[pd.DataFrame, str | None]:
    """The default model's contrast for a query, or why there is none."""
    lists = word_lists_of(ready.query)
    if isinstance(lists, str):
        return pd.DataFrame(), lists
    post = fit(distance_table(ready.kv, lists, case=ready.how.case), seed=seed)
    part = contrasts(post, OWN, OTHER, prob).loc[:0, ["mean", "sd", "low", "high", "p_closer"]]
    part.insert(0, "contrast", f"{OWN} - {OTHER}")
    part.insert(1, "model", post.attrs["model"])
    verdict = diagnose(post)
    return part, str(verdict) if verdict.faults else verdict.caution or None
