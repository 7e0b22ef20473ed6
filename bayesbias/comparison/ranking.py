"""``rank``: embeddings ordered by bias, with the probability of each order."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import pandas as pd

from bayesbias._checks import finite_number, one_of, whole_number
from bayesbias._core.vectors import FloatArray
from bayesbias._progress import progress
from bayesbias._results import Cited, Result
from bayesbias.comparison.metric_uncertainty import draw_all, pools_of, units_of
from bayesbias.embeddings import Case, Embedding, Twins, find_words
from bayesbias.embeddings.lookup import alike_in_some
from bayesbias.errors import InputError
from bayesbias.metrics import Query
from bayesbias.metrics.batch import (
    AnyMetric,
    AnyQuery,
    Prepared,
    named_embeddings,
    named_metrics,
    named_queries,
    parts_for,
    prepared,
    untested,
)
from bayesbias.metrics.catalogue import find_metric
from bayesbias.metrics.queries import Lookup, every_word

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


Aggregate = Literal["mean", "median", "max"]
AGGREGATES: Mapping[str, Callable[..., FloatArray]] = {"mean": np.mean, "median": np.median, "max": np.max}
METRICS = ("weat", "weat_effect_size", "rnd", "rnsb")
SURE = 0.95
CALIBRATION = (
    "Of two equally biased embeddings, one is called less biased with a probability above .95 in 1 to 3% of word lists "
    "where both are close to no bias, and in 12 to 16% where they are far from it (nominal 10%)."
)
"""How well the probabilities hold, as simulated."""
SAME = 1e-5
"""Relative difference up to which scores are the same: vectors in single precision say no more."""


@dataclass(frozen=True, repr=False)
class Ranking(Result):
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
        Words, queries and draws that were left out.
    """

    picture: ClassVar[str] = "plot_ranking"

    scores: pd.DataFrame
    ranks: pd.DataFrame
    correlations: pd.DataFrame
    by_query: pd.DataFrame
    probabilities: pd.DataFrame
    rank_distribution: pd.DataFrame
    notes: tuple[str, ...]

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
        chances = self.probabilities.set_index(["metric", "less", "more"])["probability"]
        sentences = []
        for metric in map(str, self.scores):
            place = self.ranks[metric].dropna().sort_values(kind="stable")
            order = place.index.tolist()
            if place.nunique() < 2:
                why = f"{' = '.join(order)}" if order else "no query has a value in every embedding"
                sentences.append(f"{metric}: {why}, so there is no order.")
                continue
            shown = order[0] + "".join(f" {'<' if place[a] < place[b] else '='} {b}" for a, b in pairwise(order))
            if metric not in chances.index.get_level_values("metric"):
                sentences.append(f"{metric}: {shown}; how sure that is was not asked (no draws).")
                continue
            steps = [(a, b, chances[metric, a, b]) for a, b in pairwise(order) if place[a] < place[b]]
            if doubtful := [step for step in steps if step[2] < SURE]:
                named = "; ".join(f"{a} before {b} with probability {p:.2f}" for a, b, p in doubtful)
                sentences.append(f"{metric}: {shown}, an order that the words do not support throughout ({named}).")
            else:
                sentences.append(f"{metric}: {shown}, each step with probability {SURE:.2f} or more.")
        return tuple(sentences)

    def sources(self) -> tuple[Any, ...]:
        """The metrics, the queries and the embeddings."""
        kinds = ("metric", "query", "embedding")
        return tuple(Cited(f"{kind} {name}") for kind in kinds for name in self.by_query[kind].astype(str).unique())

    def findings(self) -> list[str]:
        """The result in sentences, without its notes."""
        return list(self.sentences)

    def text(self) -> str:
        """The result in sentences."""
        return "\n".join([self.ranks.to_string(), *self.sentences, *self.notes])


def rank(
    kvs: Mapping[str, Embedding],
    queries: Mapping[str, AnyQuery] | Sequence[AnyQuery] | AnyQuery,
    metrics: Sequence[AnyMetric] | Mapping[str, AnyMetric] | AnyMetric = METRICS,
    aggregate: Aggregate = "mean",
    draws: int = 500,
    seed: int = 0,
    outside: Mapping[str, Mapping[str, float]] | pd.DataFrame | None = None,
    max_missing: float = 0.2,
    case: Case = "as-is",
    normalise: bool = True,
    twins: Twins = "once",
) -> Ranking:
    """Rank embeddings by bias over queries and metrics, with the probability of each order.

    A score is the distance of a metric from its value of no bias, aggregated over queries and their sub-queries (with
    an optimum of 0 and the mean, the mean of absolute values of WEFE). Words that one of the embeddings lacks count as
    missing in all of them, and a query without a value in one is left out for all. Words are drawn with replacement,
    the same for all embeddings and queries, so that the probabilities speak of other words of the same kind.

    Of two equally biased embeddings, either is called less biased with probability above .95 in 1 to 3% of word lists
    where their bias is within its own uncertainty of none, and in 12 to 16% where it is far from none (8 to 25 words,
    simulated; nominal 10%). A score is a distance from no bias, whose draws near 0 are folded and lie further from 0
    than the score does: probabilities near no bias are drawn towards one half, and the result's notes say so.

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
        Name of a benchmark to the score of each embedding, larger is better (or a DataFrame, embeddings by benchmarks):
        its ranks join the table.
    max_missing
        Share of a set's words that may be missing.
    case
        As in :func:`metric`.
    normalise
        Scale vectors to length 1, the default here: RND, RNSB and RIPA change with the lengths of vectors, which differ
        between embeddings for reasons other than bias. WEFE ranks unscaled vectors (``normalise=False``).
    twins
        As in :func:`metric`; words that have one vector in one of the embeddings count once in all.

    References
    ----------
    Badilla, P., Bravo-Marquez, F. and Pérez, J. (2020). WEFE: the word embeddings fairness evaluation framework.
    IJCAI. https://doi.org/10.24963/ijcai.2020/60

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> debiased = bb.debias(kv, "project", definitional=[("he", "she"), ("man", "woman")])
    >>> found = bb.rank({"as it is": kv, "debiased": debiased}, "weat6", "weat_effect_size", draws=50)
    >>> found.ranks["weat_effect_size"].to_dict()
    {'as it is': 2.0, 'debiased': 1.0}
    """
    one_of(aggregate, tuple(AGGREGATES), "aggregate")
    embeddings = named_embeddings(kvs)
    if len(embeddings) < 2:
        raise InputError(f"a ranking needs two embeddings at least, given {len(embeddings)}: give a mapping of names")
    draws = whole_number(draws, "draws", least=0)
    rng = np.random.default_rng(whole_number(seed, "seed", least=0, most=None))
    named, notes = named_queries(queries), dict[str, None]()
    how = Lookup.checked("drop", max_missing, case, normalise, None, twins)
    how = replace(how, without=_only_in_some(named, embeddings, case, notes))
    if twins == "once":
        how = replace(how, alike=alike_in_some(every_word(named.values()), embeddings.values(), case))
    tables, scores, drawn = [], {}, {}
    labelled = named_metrics(metrics)
    with progress("ranking", len(labelled) * max(draws, 1)) as done:
        for number, (label, name, options) in enumerate(labelled):
            ready = _ready(name, untested(options), named, embeddings, how)
            notes |= dict.fromkeys(
                f"{q}: {note}." for (q, _), entry in ready.items() for note in entry.found.twin_notes
            )
            table = _by_query(label, ready)
            usable = _usable(table, notes)
            tables.append(table)
            by_embedding = table[table["query"].isin(usable)].groupby("embedding", sort=False)["distance"]
            scores[label] = by_embedding.agg(aggregate).reindex(list(embeddings))
            values = _drawn(ready, usable, aggregate, draws, rng, number * draws, done)
            drawn[label] = values[np.isfinite(values).all(axis=1)]
            if lost := len(values) - len(drawn[label]):
                notes[f"{label}: {lost:,} of {draws:,} draws of words have no value and were left out."] = None
    if any(map(len, drawn.values())):
        notes[CALIBRATION] = None
    frame, names = pd.DataFrame(scores), list(embeddings)
    ranks = ranked(frame, {} if outside is None else outside)
    return Ranking(
        scores=frame,
        ranks=ranks,
        correlations=ranks.corr(method="spearman"),
        by_query=pd.concat(tables, ignore_index=True),
        probabilities=_probabilities(drawn, names),
        rank_distribution=_rank_distribution(drawn, names),
        notes=tuple(notes),
    )


def ranked(scores: pd.DataFrame, outside: Mapping[str, Mapping[str, float]] | pd.DataFrame) -> pd.DataFrame:
    """Ranks of scores (embeddings by metrics, smaller first) and of outside scores (larger first), ties averaged."""
    ranks = scores.apply(lambda column: pd.Series(_places(column.to_numpy(dtype=float)).mean(axis=0), scores.index))
    if isinstance(outside, pd.DataFrame) and len(outside.columns):
        outside = {str(name): dict(zip(outside.index.astype(str), outside[name], strict=True)) for name in outside}
    if not isinstance(outside, Mapping) or not all(isinstance(row, Mapping) for row in outside.values()):
        raise InputError(
            f"outside is {reprlib.repr(outside)}: give a mapping of a benchmark's name to the score of each embedding"
        )
    for name, numbers in outside.items():
        if missing := [each for each in scores.index if each not in numbers]:
            raise InputError(f"the outside ranking {name!r} has no score of {', '.join(missing)}")
        if name in scores:
            raise InputError(f"the outside ranking {name!r} has the name of a metric: give it another")
        values = pd.Series({each: -finite_number(numbers[each], f"{name} of {each}") for each in scores.index})
        ranks[name] = values.rank(method="average")
    return ranks


def _only_in_some(
    queries: Mapping[str, Query], embeddings: Mapping[str, KeyedVectors], case: Case, notes: dict[str, None]
) -> frozenset[str]:
    """Words that some of the embeddings hold and others do not."""
    words = every_word(queries.values())
    known = [set(find_words(kv, words, case).keys) for kv in embeddings.values()]
    some = {word for word in words if 0 < sum(word in keys for keys in known) < len(known)}
    for name, query in queries.items():
        if gone := [word for word in dict.fromkeys(chain.from_iterable(query.sets.values())) if word in some]:
            notes[f"{name}: left out, since only some embeddings hold them: {', '.join(gone)}."] = None
    return frozenset(some)


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
    for (query, embedding), entry in ready.items():
        measured = entry.measure()
        rows.append(
            (embedding, label, query, measured.value, abs(measured.value - entry.metric.optimum), measured.reason)
        )
    return pd.DataFrame(rows, columns=["embedding", "metric", "query", "value", "distance", "reason"])


def _usable(table: pd.DataFrame, notes: dict[str, None]) -> list[str]:
    """Queries of which every embedding has a value."""
    usable = []
    for query, rows in table.groupby("query", sort=False):
        odd = rows[rows["value"].isna()]
        if odd.empty:
            usable.append(str(query))
        else:
            first = odd.iloc[0]
            notes[f"{first['metric']} of {query} was left out for all: no value in {first['embedding']}, because "
                  f"{first['reason']}."] = None  # fmt: skip
    return usable


def _drawn(
    ready: Ready,
    queries: list[str],
    aggregate: str,
    draws: int,
    rng: np.random.Generator,
    before: int,
    done: Callable[[float], None],
) -> FloatArray:
    """Scores (draws, embeddings) on words drawn with replacement, the same for all embeddings and queries."""
    names = list(dict.fromkeys(name for _, name in ready))
    if not queries:
        return np.empty((0, len(names)))
    units = {query: units_of(ready[query, names[0]]) for query in queries}
    pools = pools_of(listed for sets in units.values() for listed in sets.values())
    values = np.empty((draws, len(names), len(queries)))
    ready = {key: each.with_neighbours() for key, each in ready.items() if key[0] in queries} if draws else ready
    for i in range(draws):
        places = draw_all(pools, rng)
        for column, query in enumerate(queries):
            chosen = {name: places[listed] for name, listed in units[query].items()}
            for row, name in enumerate(names):
                entry = ready[query, name]
                values[i, row, column] = abs(entry.resampled(chosen).value - entry.metric.optimum)
        done(before + i + 1)
    scores: FloatArray = AGGREGATES[aggregate](values, axis=2)
    return scores


def _places(scores: FloatArray) -> FloatArray:
    """First and last place (2, ..., embeddings) of scores (..., embeddings); those that are the same share places."""
    apart = scores[..., :, None] - scores[..., None, :]
    level = np.maximum(np.abs(scores[..., :, None]), np.abs(scores[..., None, :]))
    with np.errstate(invalid="ignore"):
        first = 1 + (apart > SAME * level).sum(axis=-1)
        last = (apart >= -SAME * level).sum(axis=-1)
    places: FloatArray = np.where(np.isnan(scores), np.nan, np.stack([first, last]).astype(float))
    return places


def _probabilities(drawn: Mapping[str, FloatArray], names: list[str]) -> pd.DataFrame:
    rows = []
    for label, values in drawn.items():
        if not len(values):
            continue
        middle = _places(values).mean(axis=0)
        for i, a in enumerate(names):
            for j, b in enumerate(names):
                if i != j:
                    less, same = middle[:, i] < middle[:, j], middle[:, i] == middle[:, j]
                    rows.append((label, a, b, float(less.mean() + same.mean() / 2)))
    return pd.DataFrame(rows, columns=["metric", "less", "more", "probability"])


def _rank_distribution(drawn: Mapping[str, FloatArray], names: list[str]) -> pd.DataFrame:
    rows = []
    for label, values in drawn.items():
        if not len(values):
            continue
        first, last = _places(values)[..., None]
        ranks = np.arange(1, len(names) + 1)
        # embeddings that tie share their ranks evenly
        shares = (((first <= ranks) & (ranks <= last)) / (last - first + 1)).mean(axis=0)
        rows += [(label, name, i + 1, p) for name, row in zip(names, shares, strict=True) for i, p in enumerate(row)]
    return pd.DataFrame(rows, columns=["metric", "embedding", "rank", "probability"])
