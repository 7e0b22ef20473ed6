"""The order of embeddings by bias, over metrics and queries, with the probability of each order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations, product
from math import factorial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from bayesbias._support.arguments import whole_number
from bayesbias._support.progress import progress
from bayesbias.checks.summaries import PROB
from bayesbias.errors import InputError, listed
from bayesbias.metrics import Query
from bayesbias.metrics.batch import (
    AnyMetric,
    AnyQuery,
    OneMetric,
    Prepared,
    named_embeddings,
    named_metrics,
    named_queries,
    parts_for,
    prepared,
    untested,
)
from bayesbias.metrics.catalogue import METRICS as REGISTER
from bayesbias.metrics.queries import Lookup, every_word
from bayesbias.numerics.arrays import FloatArray, IntArray, unit_rows
from bayesbias.numerics.random_lists import Wanted, by_list, draw_alike, joint_vectors
from bayesbias.numerics.statistics import ends
from bayesbias.results import Cited, Note, Result
from bayesbias.vectors import Case, Embedding, Twins, find_words
from bayesbias.vectors.lookup import alike_in_some, left_out, missing_words, warn_lost

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

METRICS = ("weat", "weat_effect_size", "rnd", "rnsb")
AGREEMENT = ["first", "second", "spearman", "low", "high", "topics", "topics_low", "topics_high"]
TOPIC_WORDS = 5000  # words among which random topics are looked for
TOPIC_ROOM = 8  # words that there must be for each word of the topics
OFTEN = 0.75  # share of random topics with one order of two embeddings, beyond which it is said: by chance half have it
SAME = 1e-5  # relative difference up to which scores are the same: vectors in single precision say no more


@dataclass(frozen=True, repr=False)
class Ranking(Result):
    """Embeddings by bias.

    Attributes
    ----------
    scores
        Embeddings by metrics: how far from no bias, in the mean over queries. Smaller is less biased.
    ranks
        The same shape: 1 is least biased; ties share their average rank. An outside ranking is a column too.
    agreement
        One row for each two columns of ``ranks``: ``first``, ``second``, ``spearman`` (correlation of the ranks),
        ``low`` and ``high`` (89% interval over the bootstrap draws), and ``topics``, ``topics_low``, ``topics_high``:
        mean and middle 89% of the same correlation on random topics in place of the attribute words.
    by_query
        One row each: ``embedding``, ``metric``, ``query``, ``value``, ``distance`` (from the optimum), ``reason``.
    probabilities
        One row a metric and ordered pair: ``metric``, ``less``, ``more``, ``probability`` that ``less`` is less biased,
        over bootstrap draws of the words, the same for all embeddings and metrics.
    rank_distribution
        One row each: ``metric``, ``embedding``, ``rank``, ``probability``.
    same_order
        Metric to the share of random topics that give its order of the embeddings; by chance it is 1 / 2 for two
        embeddings and 1 / 6 for three. Empty without random topics.
    draws, dimensions
        Number of bootstrap draws, and of dimensions of each embedding.
    """

    picture: ClassVar[str] = "plot_ranking"
    prob: ClassVar[float] = PROB

    scores: pd.DataFrame
    ranks: pd.DataFrame
    agreement: pd.DataFrame
    by_query: pd.DataFrame
    probabilities: pd.DataFrame
    rank_distribution: pd.DataFrame
    same_order: Mapping[str, float]
    notes: tuple[Note, ...]
    draws: int
    dimensions: Mapping[str, int]

    def caption(self) -> str:
        """Subject and unit of the numbers."""
        return "Embeddings by bias (score: distance from no bias; same order: on random lists)"

    def header(self) -> dict[str, object]:
        """Facts of what was measured."""
        sizes, used = self.dimensions, self.used
        return {
            "queries": [name for name in used if not any(name.startswith(f"{whole}: ") for whole in used)],
            "draws": self.draws,
            "dimensions": [f"{name} {size}" for name, size in sizes.items()] if len({*sizes.values()}) > 1 else None,
            "same order by chance": f"{1 / factorial(len(self.ranks)):.0%}" if self.same_order else None,
        }

    def table(self) -> pd.DataFrame:
        """One row an embedding and metric, in the metric's order.

        ``score``, ``rank``, ``p_below_next`` (probability that it is less biased than the embedding of the next row of
        the metric; missing where they tie, and without draws), ``same_order`` (share of random topics that give the
        metric's order), and the probability of each rank: ``rank 1``, ...
        """
        table = self.scores.rename_axis("embedding").reset_index()
        table = table.melt("embedding", var_name="metric", value_name="score")
        table["rank"] = self.ranks[self.scores.columns].to_numpy().ravel("F")
        table = table.sort_values(["metric", "rank"], ignore_index=True)
        chances = self.probabilities.set_index(["metric", "less", "more"])["probability"].to_dict()
        following = table.groupby("metric")[["embedding", "rank"]].shift(-1)
        steps = zip(table["metric"], table["embedding"], following["embedding"], strict=True)
        after = pd.Series([chances.get(step, np.nan) for step in steps], table.index, dtype=float)
        table["p_below_next"] = after.where(table["rank"] != following["rank"])
        table["same_order"] = table["metric"].map(self.same_order).astype(float)
        if len(self.rank_distribution):
            shares = self.rank_distribution.pivot_table("probability", ["embedding", "metric"], "rank")
            table = table.join(shares.add_prefix("rank "), on=["embedding", "metric"])
        return table

    def summary(self) -> pd.DataFrame:
        """The same without the probabilities of ranks."""
        table = self.table()[["metric", "embedding", "score", "rank", "p_below_next", "same_order"]]
        return table.astype({"rank": int}) if (table["rank"] % 1 == 0).all() else table

    def tables(self) -> dict[str, pd.DataFrame]:
        """The same, ranks with outside rankings, probabilities of each two, correlations of ranks, values by query."""
        return {
            "Scores": self.table(),
            "Ranks": self.ranks.rename_axis("embedding").reset_index(),
            "Probabilities of pairs": self.probabilities,
            "Correlations of ranks": self.agreement,
            "Values by query": self.by_query,
        }

    @property
    def used(self) -> list[str]:
        """Queries, and sub-queries, of which a metric has a value in every embedding."""
        names = ["query", "metric"]
        table = self.by_query[names].astype(str).assign(valued=self.by_query["value"].notna())
        every = table.groupby(names, sort=False)["valued"].all().reset_index()
        return [str(query) for query in every.loc[every["valued"], "query"].unique()]

    def sources(self) -> tuple[Any, ...]:
        """The metrics, the queries that were used, and the embeddings."""
        embeddings = self.scores.index.tolist()
        named: dict[str, list[Any]] = {"metric": list(self.scores), "query": self.used, "embedding": embeddings}
        return tuple(Cited(f"{kind} {name}") for kind, names in named.items() for name in names)


def rank(
    kvs: Mapping[str, Embedding],
    queries: Mapping[str, AnyQuery] | Sequence[AnyQuery] | AnyQuery,
    metrics: Sequence[AnyMetric] | Mapping[str, AnyMetric] | AnyMetric = METRICS,
    draws: int = 500,
    seed: int = 0,
    replicates: int = 100,
    outside: Mapping[str, Mapping[str, float]] | pd.DataFrame | None = None,
    max_missing: float = 0.2,
    case: Case = "as-is",
    normalise: bool = True,
    twins: Twins = "once",
) -> Ranking:
    """Rank embeddings by bias over queries and metrics, with the probability of each order.

    A score is the mean distance of a metric from its value of no bias over queries and their sub-queries (with an
    optimum of 0, the mean of absolute values of WEFE). Words that one of the embeddings lacks count as missing in all
    of them, and a query without a value in one is left out for all. Words are drawn with replacement, the same for all
    embeddings, queries and metrics, so that the probabilities speak of other words of the same kind. Near no bias they
    are drawn towards one half, since draws of a distance from 0 are folded there: of two equally biased embeddings, one
    is called less biased with a probability above .95 in 1 to 3% of word lists where both are close to no bias, and in
    12 to 16% where they are far from it (nominal 10%).

    Random topics in place of the attribute words, the same in all embeddings, are no bias. They show what an order of
    embeddings and the agreement of metrics owe to the vectors alone: cosines are smaller in more dimensions.

    Parameters
    ----------
    kvs
        Name to embedding, two at least.
    queries, metrics
        As in :func:`run_metrics`.
    draws, seed
        Number and seed of the bootstrap draws; 0 draws leave the probabilities out.
    replicates
        Number of random topics, each as coherent as the attribute lists, from words that all embeddings hold; 0 leaves
        them out.
    outside
        Name of a benchmark to the score of each embedding, larger is better (or a DataFrame, embeddings by benchmarks):
        its ranks join the table.
    max_missing, case
        Share of a set's words that may be missing; as in :func:`metric`.
    normalise
        Scale vectors to length 1: RND, RNSB and RIPA change with the lengths of vectors, which differ between
        embeddings for reasons other than bias. WEFE ranks unscaled vectors (``normalise=False``).
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
    named, notes = named_queries(queries), dict[Note, None]()
    embeddings = named_embeddings(kvs, every_word(named.values()), case)
    if len(embeddings) < 2:
        raise InputError(f"a ranking needs two embeddings at least, given is {listed(list(embeddings))} alone")
    draws, replicates = whole_number(draws, "draws", least=0), whole_number(replicates, "replicates", least=0)
    seed = whole_number(seed, "seed", least=0, most=None)
    how = Lookup("drop", max_missing, case, normalise, None, twins)
    every = every_word(named.values())
    known = [set(find_words(kv, every, case).keys) for kv in embeddings.values()]
    some = frozenset(word for word in every if 0 < sum(word in keys for keys in known) < len(known))
    how = replace(how, without=some)
    if twins == "once":
        how = replace(how, alike=alike_in_some(every, embeddings.values(), case))
    found: dict[tuple[str, str], Mapping[str, Any]] = {}
    tables, scores, left = [], {}, defaultdict[str, list[str]](list)
    drawn: dict[str, FloatArray] = {}
    random: dict[str, FloatArray] = {}
    chosen = {label: (name, untested(options)) for label, name, options in named_metrics(metrics)}
    topics: dict[Lists, Topics | Note] = {}
    with progress("ranking", len(chosen) * max(draws, 1)) as done:
        for number, (label, (name, options)) in enumerate(chosen.items()):
            ready, rows = _ready(name, options, named, embeddings, how), []
            for (query, embedding), entry in ready.items():
                notes |= dict.fromkeys(entry.found.twin_notes)
                whole = next(name for name in named if query == name or query.startswith(f"{name}: "))
                for own in entry.found.entries:
                    found[whole, own["set"]] = {**own, "list": own["set"], "kind": f"{whole} {own['kind']}"}
                measured = entry.measure()
                apart = abs(measured.value - entry.metric.optimum)
                rows.append((embedding, label, query, measured.value, apart, measured.reason))
            table = pd.DataFrame(rows, columns=["embedding", "metric", "query", "value", "distance", "reason"])
            usable = _usable(table, left)
            tables.append(table)
            by_embedding = table[table["query"].isin(usable)].groupby("embedding", sort=False)["distance"]
            scores[label] = by_embedding.mean().reindex(list(embeddings))
            # every metric sees the same draws of words and the same topics
            drawn[label] = _drawn(ready, usable, draws, np.random.default_rng(seed), number * draws, done)
            if usable and replicates:
                random[label] = _on_topics(ready, usable, replicates, seed, topics, notes)
            if without := draws * bool(usable) - int(np.isfinite(drawn[label]).all(axis=1).sum()):
                notes |= dict.fromkeys(left_out(without, draws, f"draws of {label}", "no value"))
    lost = missing_words(found.values())
    warn_lost(lost, "its notes")
    sizes = {name: kv.vector_size for name, kv in embeddings.items()}
    total = sum(table["query"].nunique() for table in tables)
    valueless = [note for why, own in left.items() for note in left_out(len(own), total, "values", why, own)]
    first = [*lost, *_of_words(some, named, tables), *valueless]
    notes = {**dict.fromkeys(first), **notes}
    dims = np.array(list(sizes.values()))
    more = dims[:, None] > dims
    # how often embeddings of more dimensions have the smaller score where there is no bias
    shares = {
        label: float((values[:, :, None] < values[:, None, :])[:, more].mean(axis=0).min())
        for label, values in random.items()
        if len(values) and more.any()
    }
    notes |= {Note("dimension-bias", metric=label, share=n): None for label, n in shares.items() if n > OFTEN}
    frame = pd.DataFrame(scores)
    ranks = ranked(frame, {} if outside is None else outside)
    same_order = {
        label: float((_places(values).mean(axis=0) == ranks[label].to_numpy()).all(axis=1).mean())
        for label, values in random.items()
        if len(values) and ranks[label].is_unique  # by chance, ties have no share
    }
    kept = {label: values[np.isfinite(values).all(axis=1)] for label, values in drawn.items()}
    probabilities, distribution = _chances(kept, list(embeddings))
    return Ranking(
        scores=frame,
        ranks=ranks,
        agreement=_agreement(ranks, drawn, random),
        by_query=pd.concat(tables, ignore_index=True),
        probabilities=probabilities,
        rank_distribution=distribution,
        same_order=same_order,
        notes=tuple(notes),
        draws=draws,
        dimensions=sizes,
    )


type Lists = tuple[tuple[str, ...], ...]
type Topics = Mapping[tuple[str, ...], list[list[str]]]
"""Attribute list to its words in each replicate."""


def _topics(ready: Ready, lists: Lists, replicates: int, seed: int) -> Topics | Note:
    """Random topics in place of the attribute lists, from words that all embeddings hold; or why there are none.

    They are as coherent as the lists and as similar to each other, by mean cosines over the embeddings.
    """
    kvs, keys = {name: entry.kv for (_, name), entry in ready.items()}, defaultdict[str, dict[str, str]](dict)
    for (_, name), entry in ready.items():
        keys[name] |= entry.found.keys
    own = {key for known in keys.values() for key in known.values()}
    shared = set.intersection(*(set(kv.key_to_index) for kv in kvs.values())) - own
    common = np.array([word for word in next(iter(kvs.values())).index_to_key if word in shared])
    size, rng = sum(map(len, lists)), np.random.default_rng([seed, 1])
    if len(common) < TOPIC_ROOM * size:
        few = f"{len(common):,} words beside the lists, fewer than {TOPIC_ROOM * size:,}"
        return Note("no-value", what="random lists", reason=few)
    if len(common) > TOPIC_WORDS:
        common = common[np.sort(rng.choice(len(common), TOPIC_WORDS, replace=False))]
    vectors = [kv[common.tolist()].astype(float) for kv in kvs.values()]
    some = np.logical_and.reduce([each.any(axis=1) for each in vectors])
    means = [
        np.array([unit_rows(kv[[keys[name][word] for word in words]].astype(float)).mean(axis=0) for words in lists])
        for name, kv in kvs.items()
    ]
    unit, mean = joint_vectors([unit_rows(each[some]) for each in vectors], means)
    sizes = tuple(map(len, lists))
    wanted = Wanted(tuple(np.full(n, 1 / n) for n in sizes), sizes, mean @ mean.T, (tuple(range(len(lists))),))
    drawn = by_list(common[some][draw_alike(unit, wanted, replicates, rng, lambda _: None)], sizes)
    return {words: part.tolist() for words, part in zip(lists, drawn, strict=True)}


def _on_topics(
    ready: Ready,
    queries: Sequence[str],
    replicates: int,
    seed: int,
    known: dict[Lists, Topics | Note],
    notes: dict[Note, None],
) -> FloatArray:
    """Scores (replicates, embeddings) with random topics in place of the attribute lists; ``known`` keeps them."""
    names = list(dict.fromkeys(name for _, name in ready))
    entries = [ready[query, names[0]] for query in queries]
    lists = tuple(dict.fromkeys(tuple(each.found.words[name]) for each in entries for name in each.query.attributes))
    topics = known[lists] = known.get(lists) or _topics(ready, lists, replicates, seed)
    if isinstance(topics, Note):
        notes[topics] = None
        return np.empty((0, len(names)))
    values = np.empty((min(map(len, topics.values())), len(names), len(queries)))
    for (row, name), (column, query) in product(enumerate(names), enumerate(queries)):
        entry = ready[query, name]
        own = [topics[tuple(entry.found.words[part])] for part in entry.query.attributes]
        for i in range(len(values)):
            rows = np.array([entry.kv.key_to_index[word] for words in own for word in words[i]])
            values[i, row, column] = abs(entry.with_attributes(rows).value - entry.metric.optimum)
    return values.mean(axis=2)


def _agreement(ranks: pd.DataFrame, drawn: Mapping[str, FloatArray], random: Mapping[str, FloatArray]) -> pd.DataFrame:
    """Spearman correlations of each two rankings, as they are, over draws of words, and over random topics."""
    rows, observed = [], ranks.corr(method="spearman").to_numpy()
    for (i, first), (j, second) in combinations(enumerate(map(str, ranks)), 2):
        correlations = [_correlations(ranks, values, first, second) for values in (drawn, random)]
        middle = [ends(values, PROB) if len(values) else (np.nan, np.nan) for values in correlations]
        topics = float(correlations[1].mean()) if len(correlations[1]) else np.nan
        rows.append((first, second, float(observed[i, j]), *middle[0], topics, *middle[1]))
    return pd.DataFrame(rows, columns=AGREEMENT)


def _correlations(ranks: pd.DataFrame, scores: Mapping[str, FloatArray], first: str, second: str) -> FloatArray:
    """Correlations of two rankings, a row of scores each; what was ranked outside is the same in every row."""
    known = [len(scores[name]) for name in (first, second) if name in scores]
    if not known:
        return np.empty(0)
    shape = (min(known), len(ranks))
    apart = []
    for name in (first, second):
        own = _places(scores[name][: shape[0]]).mean(axis=0) if name in scores else ranks[name].to_numpy(float)
        apart.append(np.broadcast_to(own, shape) - own.mean(axis=-1, keepdims=True))
    norms = np.sqrt((apart[0] ** 2).sum(axis=1) * (apart[1] ** 2).sum(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        values: FloatArray = (apart[0] * apart[1]).sum(axis=1) / norms
    return values[np.isfinite(values)]


def ranked(scores: pd.DataFrame, outside: Mapping[str, Mapping[str, float]] | pd.DataFrame) -> pd.DataFrame:
    """Ranks of scores (embeddings by metrics, smaller first) and of outside scores (larger first), ties averaged."""
    ranks = scores.apply(lambda column: pd.Series(_places(column.to_numpy(dtype=float)).mean(axis=0), scores.index))
    return ranks.join(pd.DataFrame(outside, index=scores.index).rank(ascending=False))


Ready = dict[tuple[str, str], Prepared]


def _ready(
    name: OneMetric,
    options: Mapping[str, Any],
    queries: Mapping[str, Query],
    embeddings: Mapping[str, KeyedVectors],
    how: Lookup,
) -> Ready:
    """Sub-query and embedding to what is measured."""
    ready: Ready = {}
    for label, query in queries.items():
        parts = parts_for(REGISTER.find(name), query)
        for part in parts:
            title = label if len(parts) == 1 else f"{label}: {part.name}"
            for embedding, kv in embeddings.items():
                ready[title, embedding] = prepared(name, kv, part, options, how)
    return ready


def _usable(table: pd.DataFrame, left: dict[str, list[str]]) -> list[str]:
    """Queries of which every embedding has a value; ``left`` gets the metric and query for each reason of others."""
    usable = []
    for query, rows in table.groupby("query", sort=False):
        odd = rows[rows["value"].isna()]
        if odd.empty:
            usable.append(str(query))
        else:
            first = odd.iloc[0]
            where = "" if len(odd) == len(rows) else f"{first['embedding']}: "
            left[f"{where}{first['reason']}"].append(f"{first['metric']} of {query}")
    return usable


def _of_words(gone: frozenset[str], queries: Mapping[str, Query], tables: Sequence[pd.DataFrame]) -> list[Note]:
    """A note on the words that were left out of each query of which there are values."""
    every = pd.concat(tables)
    valued = every.loc[every["value"].notna(), "query"].unique().tolist()
    notes = []
    for name, query in queries.items():
        if any(each == name or each.startswith(f"{name}: ") for each in valued):
            asked = every_word([query])
            lost = [word for word in asked if word in gone]
            notes += left_out(len(lost), len(asked), f"words of {name}", "missing in some embedding", lost)
    return notes


def _drawn(
    ready: Ready,
    queries: list[str],
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
    linked = linked_sets(listed for sets in units.values() for listed in sets.values())
    values = np.empty((draws, len(names), len(queries)))
    for i in range(draws):
        places = draw_all(linked, rng)
        for column, query in enumerate(queries):
            chosen = {name: places[listed] for name, listed in units[query].items()}
            for row, name in enumerate(names):
                entry = ready[query, name]
                values[i, row, column] = abs(entry.resampled(chosen).value - entry.metric.optimum)
        done(before + i + 1)
    return values.mean(axis=2)


def _places(scores: FloatArray) -> FloatArray:
    """First and last place (2, ..., embeddings) of scores (..., embeddings); those that are the same share places."""
    apart = scores[..., :, None] - scores[..., None, :]
    level = np.maximum(np.abs(scores[..., :, None]), np.abs(scores[..., None, :]))
    with np.errstate(invalid="ignore"):
        first = 1 + (apart > SAME * level).sum(axis=-1)
        last = (apart >= -SAME * level).sum(axis=-1)
    return np.where(np.isnan(scores), np.nan, np.stack([first, last]).astype(float))


def _chances(drawn: Mapping[str, FloatArray], names: list[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Probabilities that one embedding is less biased than another, and those of each rank."""
    pairs, places = [], []
    for label, values in drawn.items():
        if not len(values):
            continue
        first, last = _places(values)
        middle, ranks = (first + last) / 2, np.arange(1, len(names) + 1)
        for i, j in permutations(range(len(names)), 2):
            less, same = middle[:, i] < middle[:, j], middle[:, i] == middle[:, j]
            pairs.append((label, names[i], names[j], float(less.mean() + same.mean() / 2)))
        # embeddings that tie share their ranks evenly
        taken = (first[..., None] <= ranks) & (ranks <= last[..., None])
        shares = (taken / (last - first + 1)[..., None]).mean(axis=0)
        places += [(label, name, i + 1, p) for name, row in zip(names, shares, strict=True) for i, p in enumerate(row)]
    return (
        pd.DataFrame(pairs, columns=["metric", "less", "more", "probability"]),
        pd.DataFrame(places, columns=["metric", "embedding", "rank", "probability"]),
    )


Units = tuple[Hashable, ...]  # the words of a set, or its pairs of words


type Linked = tuple[int, dict[Units, IntArray]]
"""Number of distinct units of sets that share some, and by set the place of each in it, -1 where it lacks it."""


def linked_sets(sets: Iterable[Units]) -> tuple[Linked, ...]:
    """Sets by the words that they share, directly or through others; a set that shares none stands alone."""
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
        linked.append((len(pooled), places))
    return tuple(linked)


def draw_all(linked: Iterable[Linked], rng: np.random.Generator) -> dict[Units, IntArray]:
    """Places in each set of as many units as linked sets hold, drawn with replacement; no set is left empty."""
    chosen: dict[Units, IntArray] = {}
    for size, places in linked:
        kept = dict.fromkeys(places, np.empty(0, dtype=np.intp))
        while not all(map(len, kept.values())):
            drawn = rng.integers(0, size, size)
            kept = {units: own[drawn][own[drawn] >= 0] for units, own in places.items()}
        chosen |= kept
    return chosen


def units_of(ready: Prepared) -> dict[str, Units]:
    """Set to what is drawn from it: words, by the keys of the embedding, or pairs for the target sets of pairs."""
    keys = {name: tuple(ready.found.keys[word] for word in ready.found.words[name]) for name in ready.query.sets}
    if ready.metric.paired:
        pairs = list(zip(*(keys[name] for name in ready.query.targets), strict=True))
        # a pair that is listed twice counts twice, as two pairs
        numbered = tuple((pair, pairs[:i].count(pair)) for i, pair in enumerate(pairs))
        return keys | dict.fromkeys(ready.query.targets, numbered)
    return dict(keys)
