"""``rank``: embeddings from least to most biased, and how sure that order is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from bayesbias._checks import one_of, whole_number
from bayesbias._core.cosine import FloatArray
from bayesbias._progress import progress
from bayesbias.comparison.uncertainty import drawn_places
from bayesbias.embeddings import Embedding
from bayesbias.errors import InputError
from bayesbias.metrics import Query
from bayesbias.metrics.lookup import Lookup
from bayesbias.metrics.preparing import AnyQuery, Prepared, parts_for, prepared
from bayesbias.metrics.registry import find_metric
from bayesbias.metrics.running import AnyMetric, named_embeddings, named_metrics, named_queries

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

Aggregate = Literal["mean", "median", "max"]
AGGREGATES: Mapping[str, Callable[..., FloatArray]] = {"mean": np.nanmean, "median": np.nanmedian, "max": np.nanmax}
METRICS = ("weat", "weat_effect_size", "rnd", "rnsb")
SURE = 0.95


@dataclass(frozen=True)
class Ranking:
    """Embeddings by bias.

    Attributes
    ----------
    scores
        Embeddings by metrics: how far from no bias, aggregated over queries. Smaller is less biased.
    ranks
        The same shape: 1 is least biased; ties share their average rank. An outside ranking is a column too.
    correlations
        Spearman correlations of the columns of ``ranks``.
    by_query
        One row each: ``embedding``, ``metric``, ``query``, ``value``, ``distance`` (from the optimum), ``reason``.
    probabilities
        One row a metric and ordered pair: ``metric``, ``less``, ``more``, ``probability`` that ``less`` is less biased,
        over bootstrap draws of the words, the same for all embeddings.
    rank_distribution
        One row each: ``metric``, ``embedding``, ``rank``, ``probability``.
    notes
        Words and queries that were left out.
    """

    scores: pd.DataFrame
    ranks: pd.DataFrame
    correlations: pd.DataFrame
    by_query: pd.DataFrame
    probabilities: pd.DataFrame
    rank_distribution: pd.DataFrame
    notes: tuple[str, ...]

    @property
    def table(self) -> pd.DataFrame:
        """One row an embedding and metric: ``score``, ``rank``, and the probability of each rank, ``rank 1``, ..."""
        both = {"score": self.scores, "rank": self.ranks[self.scores.columns]}
        long = [
            frame.rename_axis("embedding").reset_index().melt("embedding", var_name="metric", value_name=name)
            for name, frame in both.items()
        ]
        table = long[0].assign(rank=long[1]["rank"])
        if len(self.rank_distribution):
            shares = self.rank_distribution.pivot_table("probability", ["embedding", "metric"], "rank")
            table = table.join(shares.add_prefix("rank "), on=["embedding", "metric"])
        return table.sort_values(["metric", "rank"], ignore_index=True)

    @property
    def sentences(self) -> tuple[str, ...]:
        """For each metric, how sure its order is."""
        sentences = []
        for metric, table in self.probabilities.groupby("metric", sort=False):
            order = self.scores[metric].dropna().sort_values().index.tolist()
            chance = table.set_index(["less", "more"])["probability"]
            score = self.scores[metric]
            if len(order) < 2:
                sentences.append(f"{metric}: fewer than two embeddings have a score, so there is no order.")
                continue
            doubtful = [(a, b, chance[a, b]) for a, b in pairwise(order) if chance[a, b] < SURE and score[a] < score[b]]
            shown = order[0] + "".join(f" {'<' if score[a] < score[b] else '='} {b}" for a, b in pairwise(order))
            if score[order].nunique() < 2:
                sentences.append(f"{metric}: {shown}, so there is no order.")
            elif doubtful:
                named = "; ".join(f"{a} before {b} with probability {p:.2f}" for a, b, p in doubtful)
                sentences.append(f"{metric}: {shown}, an order that the words do not support throughout ({named}).")
            else:
                sentences.append(f"{metric}: {shown}, each step with probability {SURE:.2f} or more.")
        return tuple(sentences)

    def __str__(self) -> str:
        return "\n".join([self.ranks.to_string(), *self.sentences, *self.notes])

    __repr__ = __str__


def rank(
    kvs: Mapping[str, Embedding],
    queries: Mapping[str, AnyQuery] | Sequence[AnyQuery] | AnyQuery,
    metrics: Sequence[AnyMetric] | Mapping[str, AnyMetric] | AnyMetric = METRICS,
    aggregate: Aggregate = "mean",
    draws: int = 500,
    seed: int = 0,
    outside: Mapping[str, Mapping[str, float]] | None = None,
    max_missing: float = 0.2,
) -> Ranking:
    """Rank embeddings by bias over queries and metrics, with the probability of each order.

    A score is the distance of a metric from its value of no bias, aggregated over queries and their sub-queries (with
    an optimum of 0 and the mean, the mean of absolute values of WEFE). Each query is restricted to words that every
    embedding holds. Words are drawn with replacement, the same for all embeddings, so that the probabilities speak of
    other words of the same kind.

    Parameters
    ----------
    kvs
        Name to embedding, two at least.
    queries, metrics
        As in :func:`run_metrics`.
    aggregate
        ``"mean"``, ``"median"`` or ``"max"`` of the distances over queries.
    draws, seed
        Number and seed of the bootstrap draws; 0 draws leave the probabilities out.
    outside
        Name of a benchmark to the scores of embeddings, larger is better: its ranks join the table.
    max_missing
        Share of a set's words that may be missing.

    Raises
    ------
    InputError
        Fewer than two embeddings, an unknown metric, a benchmark that lacks an embedding.

    References
    ----------
    Badilla, P., Bravo-Marquez, F. and Pérez, J. (2020). WEFE: the word embeddings fairness evaluation framework.
    IJCAI. https://doi.org/10.24963/ijcai.2020/60
    """
    one_of(aggregate, tuple(AGGREGATES), "aggregate")
    embeddings = named_embeddings(kvs)
    if len(embeddings) < 2:
        raise InputError(f"a ranking needs two embeddings at least, given {len(embeddings)}: give a mapping of names")
    draws = whole_number(draws, "draws", least=0)
    rng = np.random.default_rng(whole_number(seed, "seed", least=0))
    asked, notes = named_queries(queries), dict[str, None]()
    how = Lookup.checked("drop", max_missing, "as-is", normalize=False, compat=None)
    tables, scores, drawn = [], {}, {}
    labelled = named_metrics(metrics)
    with progress("ranking", len(labelled) * max(draws, 1)) as done:
        for number, (label, name, options) in enumerate(labelled):
            common = _common(asked, embeddings, find_metric(name).paired, notes)
            ready = _ready(name, options, common, embeddings, how)
            table = _by_query(label, ready)
            tables.append(table)
            scores[label] = _aggregated(table, aggregate).reindex(list(embeddings))
            drawn[label] = _drawn(ready, aggregate, draws, rng, number * draws, done)
    frame, names = pd.DataFrame(scores), list(embeddings)
    ranks = ranked(frame, outside or {})
    return Ranking(
        scores=frame,
        ranks=ranks,
        correlations=ranks.corr(method="spearman"),
        by_query=pd.concat(tables, ignore_index=True),
        probabilities=_probabilities(drawn, names),
        rank_distribution=_rank_distribution(drawn, names),
        notes=tuple(notes),
    )


def ranked(scores: pd.DataFrame, outside: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """Ranks of scores (embeddings by metrics, smaller first) and of outside scores (larger first), ties averaged."""
    ranks = scores.rank(method="average")
    for name, given in outside.items():
        if missing := [each for each in scores.index if each not in given]:
            raise InputError(f"the outside ranking {name!r} has no score of {', '.join(missing)}")
        if name in scores:
            raise InputError(f"the outside ranking {name!r} has the name of a metric: give it another")
        ranks[name] = pd.Series({each: -float(given[each]) for each in scores.index}).rank(method="average")
    return ranks


def _common(
    queries: Mapping[str, Query], embeddings: Mapping[str, KeyedVectors], paired: bool, notes: dict[str, None]
) -> dict[str, Query]:
    """Queries without the words (or pairs) that only some embeddings hold; what none holds stays to be counted."""
    restricted = {}
    for name, query in queries.items():
        words = dict.fromkeys(word for listed in query.sets.values() for word in listed)
        held = {word: sum(word in kv.key_to_index for kv in embeddings.values()) for word in words}
        gone = [word for word, count in held.items() if 0 < count < len(embeddings)]
        if gone:
            notes[f"{name}: left out, since only some embeddings hold them: {', '.join(gone)}."] = None
        targets = _without_pairs(query.targets, gone) if paired else _without(query.targets, gone)
        restricted[name] = replace(query, targets=targets, attributes=_without(query.attributes, gone))
    return restricted


def _without(sets: Mapping[str, Sequence[str]], gone: Sequence[str]) -> dict[str, list[str]]:
    """Sets without some words; one that would be empty stays as it is, and is then refused for what it lacks."""
    return {name: [word for word in words if word not in gone] or list(words) for name, words in sets.items()}


def _without_pairs(sets: Mapping[str, Sequence[str]], gone: Sequence[str]) -> dict[str, list[str]]:
    kept = [pair for pair in zip(*sets.values(), strict=False) if not set(pair) & set(gone)]
    whole = len({len(words) for words in sets.values()}) == 1 and kept
    return {
        name: [pair[at] for pair in kept] if whole else list(words) for at, (name, words) in enumerate(sets.items())
    }


Ready = dict[tuple[str, str], Prepared]


def _ready(
    name: str,
    options: Mapping[str, Any],
    queries: Mapping[str, Query],
    embeddings: Mapping[str, KeyedVectors],
    how: Lookup,
) -> Ready:
    """Sub-query and embedding to what is measured."""
    ready: Ready = {}
    for label, query in queries.items():
        parts = parts_for(find_metric(name), query)
        for part in parts:
            shown = label if len(parts) == 1 else f"{label}: {part.name}"
            for embedding, kv in embeddings.items():
                ready[shown, embedding] = prepared(name, kv, part, options, how)
    return ready


def _by_query(label: str, ready: Ready) -> pd.DataFrame:
    rows = []
    for (query, embedding), one in ready.items():
        found = one.measure()
        rows.append((embedding, label, query, found.value, abs(found.value - one.metric.optimum), found.reason))
    return pd.DataFrame(rows, columns=["embedding", "metric", "query", "value", "distance", "reason"])


def _aggregated(table: pd.DataFrame, aggregate: str) -> pd.Series:
    return table.groupby("embedding", sort=False)["distance"].agg(aggregate)


def _drawn(
    ready: Ready, aggregate: str, draws: int, rng: np.random.Generator, before: int, done: Callable[[float], None]
) -> FloatArray:
    """Scores (draws, embeddings) on words drawn with replacement, the same for all embeddings."""
    queries = list(dict.fromkeys(query for query, _ in ready))
    names = list(dict.fromkeys(name for _, name in ready))
    usable = [query for query in queries if all(ready[query, name].found.reason is None for name in names)]
    values = np.full((draws, len(names), len(usable)), np.nan)
    for at in range(draws):
        for column, query in enumerate(usable):
            chosen = drawn_places(ready[query, names[0]], "both", rng)
            for row, name in enumerate(names):
                one = ready[query, name]
                values[at, row, column] = abs(one.resampled(chosen).value - one.metric.optimum)
        done(before + at + 1)
    if not usable or not draws:
        return np.empty((0, len(names)))
    known = ~np.isnan(values).all(axis=(1, 2))
    return AGGREGATES[aggregate](values[known], axis=2)


def _probabilities(drawn: Mapping[str, FloatArray], names: list[str]) -> pd.DataFrame:
    rows = [
        (label, a, b, float((values[:, i] < values[:, j]).mean() + (values[:, i] == values[:, j]).mean() / 2))
        for label, values in drawn.items()
        if len(values)
        for i, a in enumerate(names)
        for j, b in enumerate(names)
        if i != j
    ]
    return pd.DataFrame(rows, columns=["metric", "less", "more", "probability"])


def _rank_distribution(drawn: Mapping[str, FloatArray], names: list[str]) -> pd.DataFrame:
    rows = []
    for label, values in drawn.items():
        if not len(values):
            continue
        first, last = (rankdata(values, method=side, axis=1)[:, :, None] for side in ("min", "max"))
        places = np.arange(1, len(names) + 1)
        # embeddings that tie share their ranks evenly
        shares = (((first <= places) & (places <= last)) / (last - first + 1)).mean(axis=0)
        rows += [(label, name, at + 1, p) for name, row in zip(names, shares, strict=True) for at, p in enumerate(row)]
    return pd.DataFrame(rows, columns=["metric", "embedding", "rank", "probability"])
