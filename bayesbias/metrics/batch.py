"""``metric`` and ``run_metrics``: a metric of a query, many of many, and their result."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

from bayesbias._support.arguments import mapping, several
from bayesbias._support.progress import progress
from bayesbias.distances.covariances import Relatedness
from bayesbias.distances.vocabularies import measured_relatedness
from bayesbias.errors import BayesbiasWarning, InputError, shown, warn
from bayesbias.metrics.catalogue import METRICS
from bayesbias.metrics.definition import (
    RELATED,
    TEST_OPTIONS,
    Linear,
    Measured,
    Metric,
    MetricFaultError,
    Space,
    no_value,
)
from bayesbias.metrics.queries import FoundSets, Lookup, OnMissing, Query, Sets, every_word, load_query, look_up
from bayesbias.numerics.arrays import NOTHING, FloatArray, IntArray, nearest_rows, unit_rows, unit_single
from bayesbias.numerics.constants import ENOUGH
from bayesbias.numerics.statistics import permutation_test
from bayesbias.posteriors import PROB
from bayesbias.results import Cited, Note, Result
from bayesbias.vectors import Case, Embedding, Twins, about, find_lists, opened, opened_by_name
from bayesbias.vectors.contextual import ContextVectors
from bayesbias.vectors.lookup import left_out, lost_lines, warn_lost
from bayesbias.words import WordLists

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


NUMBERS = ("value", "p_value", "optimum", "partitions", "exact", "null_mean", "null_sd", "null_words")
OF_METRIC = ("title", "optimum", "source", "doi", "unbiased")
MEASURED = ("value", "p_value", "partitions", "exact", "by_word", "reason", "null_mean", "null_sd", "null_words")
"""Fields of a result that are those of its metric, and of what was measured."""


@dataclass(frozen=True, repr=False)
class MetricResult(Result):
    """A metric's value for an embedding and a query, with what it rests on.

    Attributes
    ----------
    metric, title, source, doi, optimum, unbiased
        Of the metric, as in :class:`bayesbias.metrics.Metric`.
    value, range, reason
        The number, and the smallest and largest one; NaN where there is none, for the reason.
    p_value, partitions, exact
        Of the test, if one was asked for; the partitions of a permutation test, and whether these are all.
    null_mean, null_sd, null_words
        Of ``p_value="related"``: mean and sd of the metric over random attribute lists, and the number of words of the
        vocabulary that these are described by.
    query, embedding, options
        What was measured, and all options of the metric and of the look-up, as used.
    words, by_word, entries
        Set to its words, and what each of them adds (:attr:`per_word`); words of each set (:attr:`coverage`).
    notes
        On words that repeat, stand in several sets or were left out, on small sets, and why there is no value.
    """

    prob: ClassVar[float] = PROB

    metric: str
    title: str
    value: float
    p_value: float | None
    partitions: int | None
    exact: bool | None
    optimum: float
    range: tuple[float, float]
    query: Query
    embedding: str
    entries: tuple[Mapping[str, Any], ...]
    words: Mapping[str, tuple[str, ...]]
    by_word: FloatArray
    options: Mapping[str, Any]
    reason: str | None
    notes: tuple[Note, ...]
    source: str
    doi: str | None
    null_mean: float | None
    null_sd: float | None
    null_words: int | None
    unbiased: str

    def __float__(self) -> float:
        return self.value

    @property
    def per_word(self) -> pd.DataFrame:
        """Contribution of each word: ``word``, ``set``, ``value``."""
        rows = [(word, name) for name, words in self.words.items() for word in words]
        return pd.DataFrame(rows, columns=["word", "set"]).assign(value=self.by_word)

    def caption(self) -> str:
        return f"{self.title} ({self.optimum:g}: {self.unbiased})"

    def header(self) -> dict[str, object]:
        kind = "random lists" if self.null_mean is not None else "permutations" if self.partitions else "normal"
        return {
            "query": self.query.name,
            "embedding": self.embedding,
            "found": [f"{entry['set']} {entry['found']}/{entry['asked']}" for entry in self.entries],
            "test": [] if self.p_value is None else [kind, self.options.get("alternative", "two-sided")],
        }

    @property
    def coverage(self) -> pd.DataFrame:
        """One row a set: ``set``, ``kind``, ``asked``, ``found`` (numbers of words), ``missing`` (the words)."""
        return pd.DataFrame(self.entries, columns=["set", "kind", "asked", "found", "missing"])

    def sources(self) -> tuple[Any, ...]:
        metric = Cited(f"metric {self.metric}", self.source, self.doi or "")
        return (metric, self.query, Cited(f"embedding {self.embedding}"))

    def table(self) -> pd.DataFrame:
        """One row: ``metric``, ``query``, ``embedding``, the numbers, ``least`` and ``most`` (the range)."""
        row = {"metric": self.metric, "query": self.query.name, "embedding": self.embedding}
        row |= {name: getattr(self, name) for name in NUMBERS} | dict(zip(("least", "most"), self.range, strict=True))
        return pd.DataFrame([row])

    def summary(self) -> pd.DataFrame:
        table = self.table().drop(columns=["metric", "query", "embedding", "optimum"])
        return table.drop(columns=[name for name in table.columns[1:] if table[name].isna().all()])

    def tables(self) -> dict[str, pd.DataFrame]:
        words = {"Words of each set": self.coverage, "What each word adds": self.per_word}
        return {"Value": self.table()} | {name: table for name, table in words.items() if len(table)}


type AnyQuery = Query | WordLists | str | Path
type OneMetric = str | Metric | Callable[..., Any]
type AnyMetric = OneMetric | tuple[OneMetric, Mapping[str, Any]]


@dataclass(frozen=True)
class Prepared:
    """A metric, and a query whose words were looked up for it."""

    metric: Metric
    query: Query
    options: Mapping[str, Any]
    how: Lookup
    kv: KeyedVectors
    found: FoundSets
    space: NDArray[np.float32] | None = None  # unit vectors of the whole vocabulary, for metrics that look at it
    owners: Mapping[str, tuple[IntArray, ...]] | None = None  # of metrics of sentences: the place of each one's word

    def measure(self) -> Measured:
        """The metric's value, with the test that was asked for; NaN with the reason where there are too few words."""
        if self.found.reason is not None:
            return Measured(float("nan"), reason=self.found.reason)
        value = self._measured(self.found.targets, self.found.attributes)
        options, size = self.options, len(self.found.targets[0])
        if not options.get("p_value") or value.reason is not None:
            return value
        if options["p_value"] == RELATED and self.metric.linear is not None:
            return self._against_random_lists(value, self.metric.linear)
        # a permutation test of the target words over their two sets
        rng = np.random.default_rng(options["seed"])
        first, second = value.by_word[:size], value.by_word[size:]
        tested = permutation_test(first, second, options["alternative"], options["permutations"], rng)
        return replace(value, p_value=tested.p_value, partitions=tested.partitions, exact=tested.exact)

    def _against_random_lists(self, measured: Measured, linear: Linear) -> Measured:
        """A value with its test against random attribute lists of the vocabulary, as many and as similar as these.

        Over random lists a weighted sum of distances has the mean that the weights give for the mean word, a variance
        that follows from the covariance of the distances, and is taken for normal.
        """
        related, weights = self._weighted_cosines(linear)
        totals = weights.sum(axis=1)
        totals[np.abs(totals) < NOTHING * np.abs(weights).max()] = 0
        mean = linear.constant + float(related.protected.astype(float) @ related.centre @ totals)
        sd = float(np.sqrt(related.covariance(weights)))
        z = (measured.value - mean) / sd if sd > NOTHING else 0.0  # without spread no list gives another value
        tails = {"greater": ndtr(-z), "less": ndtr(z), "two-sided": 2 * ndtr(-abs(z))}
        few = (Note("few-candidates", words=related.sampled, rule=f"sd times {np.sqrt(max(related.inflations)):.2f}"),)
        return replace(
            measured,
            p_value=float(tails[self.options["alternative"]]),
            notes=(*measured.notes, *(few if related.sampled < ENOUGH else ())),
            null_mean=mean,
            null_sd=sd,
            null_words=related.sampled,
        )

    def _weighted_cosines(self, linear: Linear) -> tuple[Relatedness, FloatArray]:
        """The relatedness of the words of the sets, and the weights (J, W) of their cosines, each word once."""
        found = self.found
        targets, attributes = (
            [found.keys[word] for name in names for word in found.words[name]]
            for names in (self.query.targets, self.query.attributes)
        )
        weights = pd.DataFrame(np.outer(*linear.sides(found.targets, found.attributes)), targets, attributes)
        weights = weights.groupby(level=0, sort=False).sum().T.groupby(level=0, sort=False).sum().T
        # words that cancel out say nothing of how near the random lists are
        heavy = weights.abs() >= NOTHING * weights.abs().to_numpy().max()
        weights = weights.loc[heavy.any(axis=1), heavy.any(axis=0)]
        lists = WordLists("query", {"targets": weights.index.tolist()}, {"targets": weights.columns.tolist()})
        related = measured_relatedness(find_lists(self.kv, lists), seed=self.options["seed"])
        if isinstance(related, str):
            raise InputError(f"p_value={RELATED!r} needs a vocabulary: {related}")
        return related, weights.loc[list(related.protected_words), list(related.attribute_words)].to_numpy()

    @property
    def attribute_rows(self) -> IntArray:
        """Rows of the embedding that hold the attribute words, one set after the other."""
        listed = [self.found.words[name] for name in self.query.attributes]
        return np.array([self.kv.key_to_index[self.found.keys[word]] for words in listed for word in words])

    def with_attributes(self, rows: IntArray) -> Measured:
        """The metric when other words of the embedding, by row, stand in for the attribute words."""
        ends = np.cumsum([len(vectors) for vectors in self.found.attributes])[:-1]
        vectors = self.kv.vectors[rows].astype(np.float64)
        sets = tuple(np.split(unit_rows(vectors) if self.how.normalise else vectors, ends))
        return self._measured(self.found.targets, sets, rows)

    def resampled(self, chosen: Mapping[str, IntArray]) -> Measured:
        """The metric on some words of each set, by their places, which may repeat."""
        found, query = self.found, self.query
        targets = tuple(v[chosen[name]] for name, v in zip(query.targets, found.targets, strict=True))
        attributes = tuple(v[chosen[name]] for name, v in zip(query.attributes, found.attributes, strict=True))
        starts = np.cumsum([0, *map(len, found.attributes)])
        places = np.concatenate([start + chosen[name] for start, name in zip(starts, query.attributes, strict=False)])
        near = None if self.nearest is None else self.nearest[places]
        return self._measured(targets, attributes, None if self.space is None else self.attribute_rows[places], near)

    @cached_property
    def nearest(self) -> IntArray | None:
        """Rows of the attribute words' nearest neighbours, which many draws of the words share."""
        if self.space is None or "neighbours" not in self.options:
            return None
        return nearest_rows(self.space, self.attribute_rows, self.options["neighbours"])

    def _measured(
        self, targets: Sets, attributes: Sets, rows: IntArray | None = None, nearest: IntArray | None = None
    ) -> Measured:
        if self.owners is not None and targets is not self.found.targets:
            raise InputError(f"{self.metric.name} is of all sentences of its words: take a metric of words")
        extra: dict[str, Any] = {"compat": self.how.compat} if self.metric.compat else {}
        if self.space is not None:
            extra["space"] = Space(self.space, self.attribute_rows if rows is None else rows, nearest)
        if self.owners is not None:
            extra["owners"] = self.owners
        of_test = TEST_OPTIONS if "p_value" in self.options else ()
        own = {name: value for name, value in self.options.items() if name not in of_test}
        return self.metric.measured(targets, attributes, **own, **extra)


def prepared(
    name: OneMetric, kv: Embedding, query: AnyQuery, options: Mapping[str, Any], how: Lookup | None = None
) -> Prepared:
    """A metric and its query; without ``how`` the arguments of the look-up may stand among the options."""
    if how is None:
        lookup = {name: options.get(name, value) for name, value in Lookup().options.items()}
        how, options = Lookup(**lookup), {key: value for key, value in options.items() if key not in lookup}
    chosen, parsed = METRICS.find(name), as_query(query)
    values = checked_options(chosen, options, how.normalise)
    if (parts := parts_for(chosen, parsed)) != (parsed,):
        raise InputError(f"{chosen.name} takes fewer sets: measure {parsed.name!r} by subqueries{parts[0].template}")
    if isinstance(kv, ContextVectors):
        vectors = kv.keyed_vectors()
    elif chosen.sentences:
        raise InputError(f"{chosen.name} is a metric of words in sentences: give what encode returns")
    else:
        vectors = opened(kv, every_word([parsed]), how.case, parsed.language)
    sets, owners = look_up(vectors, parsed, how, chosen.paired), None
    if chosen.sentences and isinstance(kv, ContextVectors):
        sets, owners = _sentence_sets(kv, sets, parsed)
    space = unit_single(vectors.vectors) if chosen.space else None
    return Prepared(chosen, parsed, values, how, vectors, sets, space, owners=owners)


def _sentence_sets(
    vectors: ContextVectors, found: FoundSets, query: Query
) -> tuple[FoundSets, dict[str, tuple[IntArray, ...]]]:
    """Sets of all sentences of their words, and for each sentence the place of its word in the set."""
    place = {word: i for i, word in enumerate(vectors.words)}
    texts: dict[str, tuple[str, ...]] = {}
    owners: dict[str, IntArray] = {}
    sets: dict[str, FloatArray] = {}
    for name, words in found.words.items():
        rows = [np.flatnonzero(vectors.word == place[found.keys[word]]) for word in words]
        every = np.concatenate([np.empty(0, dtype=np.intp), *rows])
        owners[name] = np.repeat(np.arange(len(rows)), list(map(len, rows)))
        sets[name] = vectors.vectors[every].astype(float)
        texts[name] = tuple(f"{words[i]}: {vectors.texts[row]}" for i, row in zip(owners[name], every, strict=True))
    parts = {"targets": query.targets, "attributes": query.attributes}
    targets, attributes = (tuple(sets[name] for name in names) for names in parts.values())
    by_kind = {kind: tuple(owners[name] for name in names) for kind, names in parts.items()}
    return replace(found, targets=targets, attributes=attributes, words=texts), by_kind


def untested(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options without a test, for values of which there are many."""
    return {**options, "p_value": False} if "p_value" in options else dict(options)


def as_query(query: AnyQuery) -> Query:
    if isinstance(query, Query):
        return query
    return Query.from_words(query) if isinstance(query, WordLists) else load_query(query)


def parts_for(chosen: Metric, query: Query) -> tuple[Query, ...]:
    """A query as it is, or its sub-queries where it has more sets than a metric takes."""
    least, most = chosen.template, (chosen.targets[1], chosen.attributes[1])
    if any(there < needed for there, needed in zip(query.template, least, strict=True)):
        raise InputError(f"{chosen.name} takes at least {least} sets, the query {query.name!r} has {query.template}")
    sizes = (there if top is None else min(there, top) for top, there in zip(most, query.template, strict=True))
    return query.subqueries(*sizes)


OF_WEFE = {
    "return_effect_size": "the metric 'weat_effect_size'",
    "calculate_p_value": "p_value=True",
    "lost_vocabulary_threshold": "max_missing",
    "normalize": "normalise",
}
"""Options of WEFE's metrics, and what they are here."""


def checked_options(chosen: Metric, given: Mapping[str, Any], normalise: bool = False) -> dict[str, Any]:
    """All options of a metric, those that were given after their checks; whether the look-up scales vectors."""
    if unknown := [name for name in given if name not in chosen.options]:
        valid = f"it takes {', '.join(chosen.options)}" if chosen.options else "it takes none"
        see = f"see {OF_WEFE[unknown[0]]}; " if unknown[0] in OF_WEFE else ""
        raise InputError(f"{chosen.name} has no option {unknown[0]!r}: {see}{valid}")
    values = {name: option.default for name, option in chosen.options.items()}
    values |= {name: chosen.options[name].check(value, name) for name, value in given.items()}
    if values.get("p_value") == RELATED:
        there, needs = {**values, "normalise": normalise}, chosen.linear.needs if chosen.linear else {}
        wrong = [f" with {name}={there[name]!r}" for name, value in needs.items() if there[name] != value]
        if chosen.linear is None or wrong:
            linear = {name: metric.linear.needs for name, metric in METRICS.items() if metric.linear is not None}
            needed = ([f"{key}={value!r}" for key, value in own.items()] for own in linear.values())
            valid = ", ".join(" with ".join([name, *own]) for name, own in zip(linear, needed, strict=True))
            raise InputError(f"{chosen.name}{''.join(wrong)} is not a weighted sum of cosines: valid are {valid}")
    return values


COLUMNS = ["embedding", "query", "subquery", "metric", "value", "p_value", "optimum", "found", "missing"]
COLUMNS += ["reason", "notes"]


def metric(
    name: OneMetric,
    kv: Embedding,
    query: AnyQuery,
    on_missing: OnMissing = "drop",
    max_missing: float = 0.2,
    case: Case = "as-is",
    normalise: bool = False,
    compat: str | None = None,
    twins: Twins = "once",
    **options: Any,
) -> MetricResult:
    """A classic bias metric of an embedding.

    Parameters
    ----------
    name
        One that ``bundled("metrics")`` shows, such as ``"weat_effect_size"`` (``"seat"`` and ``"ceat"`` are of words in
        sentences), a :class:`bayesbias.metrics.Metric`, or a function of the vectors of target sets and of attribute
        sets.
    kv
        The embedding, or what :func:`load_embedding` takes; or vectors of words in sentences (:func:`encode`), of which
        metrics of words take the mean cosines over templates.
    query
        A :class:`Query`, word lists, or what :func:`load_query` takes. ``ripa``, ``direct_bias``, ``db_wa`` and ``nbm``
        take the words of its two target sets as pairs, in order.
    on_missing, max_missing
        ``"drop"`` leaves out words that the embedding lacks, ``"error"`` refuses them. The share of a set's words that
        may be missing: above it the value is NaN, with the reason in the result.
    case, normalise
        ``"fallback"`` also tries lower case, capital first letters and capitals; whether vectors are scaled to length 1
        first (most metrics do not change).
    compat
        ``"wefe"`` gives the number of WEFE 1.0.1 where ours differs: repeated words count as lost, pairs shift past a
        missing word, ``rnsb`` holds out a fifth of the words and stops at its solver's tolerance.
    twins
        Words of one set that have one vector (see :func:`distance_table`) count once, the first of them; pairs whose
        two words have one vector are left out. ``"keep"`` takes all, and so does ``compat="wefe"``. Notes name them.
    **options
        The metric's own: ``rnd`` takes ``distance`` (``"norm"``, ``"cos"``); ``rnsb`` ``holdout`` and ``seed``;
        ``direct_bias`` ``exponent``; ``nbm`` ``neighbours``. Tests take ``p_value``, ``alternative``
        (``"two-sided"``, ``"greater"``, ``"less"``) and ``seed``:

        - ``p_value=True``, of ``weat`` and ``weat_effect_size``: permutation test of the target words over their two
          sets, with the attribute words as given (``permutations`` random ones where a million do not hold all).
        - ``p_value="related"``, of weighted sums of cosines (``weat``, ``mac``, ``db_wa``, ``rnd`` with
          ``distance="cos"``, ``ripa`` with ``normalise=True``): normal test against random attribute lists of the
          vocabulary, as many words and as similar as these (:meth:`Relatedness.covariance`).

    Warns
    -----
    CoverageWarning
        The embedding lacks more than a fifth of the words of a set; the result says so too.
    BayesbiasWarning
        Sets so small that the value is the same whatever the words; the result says so too.

    Examples
    --------
    >>> found = bb.metric("weat_effect_size", "google-news-slice", "weat6")
    >>> round(found.value, 2)
    1.95
    >>> found = bb.metric("weat", "google-news-slice", "weat6", p_value=True)
    >>> found.p_value < 0.01
    True
    """
    how = Lookup(on_missing, max_missing, case, normalise, compat, twins)
    ready = prepared(name, kv, query, options, how)
    measured = ready.measure()
    for note in measured.notes:
        if note.code == "set-size":
            warn(f"{ready.metric.title} of {ready.query.name}: {note}", BayesbiasWarning)
    chosen, found = ready.metric, ready.found
    none = () if measured.reason is None else (Note("no-value", what="value", reason=measured.reason),)
    warn_lost(found.notes, "the coverage of the result")
    sets = ready.query.targets if chosen.words == "targets" else ready.query.attributes
    return MetricResult(
        metric=chosen.name,
        range=(np.nan, np.nan) if measured.reason else chosen.range(list(map(len, found.targets)), ready.options),
        query=ready.query,
        embedding=str(about(ready.kv)["name"]),
        entries=found.entries,
        words={name: found.words[name] for name in sets} if len(measured.by_word) else {},
        options={**ready.options, **how.options},
        notes=(*none, *ready.query.notes, *found.notes, *measured.notes),
        **{name: getattr(chosen, name) for name in OF_METRIC},
        **{name: getattr(measured, name) for name in MEASURED},
    )


def run_metrics(
    kvs: Mapping[str, Embedding] | Embedding,
    queries: Mapping[str, AnyQuery] | Sequence[AnyQuery] | AnyQuery,
    metrics: Sequence[AnyMetric] | Mapping[str, AnyMetric] | AnyMetric | None = None,
    on_missing: OnMissing = "drop",
    max_missing: float = 0.2,
    case: Case = "as-is",
    normalise: bool = False,
    compat: str | None = None,
    twins: Twins = "once",
) -> pd.DataFrame:
    """Metrics of embeddings and queries, one row each.

    Parameters
    ----------
    kvs
        Name to embedding, or one embedding.
    queries
        One or several queries; a mapping gives them names.
    metrics
        One or several metrics, or pairs of one and its options; a mapping gives them labels. By default those that need
        no pairs and for which every query has enough sets.
    on_missing, max_missing, case, normalise, compat, twins
        As in :func:`metric`.

    Returns
    -------
    DataFrame
        Columns ``embedding``, ``query``, ``subquery`` (of queries with more sets than a metric takes), ``metric``,
        ``value``, ``p_value``, ``optimum``, ``found`` and ``missing`` (words), ``reason`` (of a NaN, such as the fault
        of a metric that fails) and ``notes``, a tuple of those on missing, repeated and shared words.

    Examples
    --------
    >>> bb.run_metrics("google-news-slice", "weat6", ["weat", "rnsb"])[["metric", "value"]].round(2)
      metric  value
    0   weat   1.25
    1   rnsb   0.04
    """
    how = Lookup(on_missing, max_missing, case, normalise, compat, twins)
    named = named_queries(queries)
    embeddings = named_embeddings(kvs, every_word(named.values()), case)
    # metrics that need no pairs: those for which every query has enough sets, and those for which one has not
    least = [min(sizes) for sizes in zip(*(query.template for query in named.values()), strict=True)]
    unpaired = [one for one in METRICS.values() if metrics is None and one.usual and not one.paired]
    usual = [one.name for one in unpaired if one.template[0] <= least[0] and one.template[1] <= least[1]]
    too_few = [one.name for one in unpaired if one.name not in usual]
    chosen = [
        (label, METRICS.find(choice), checked_options(METRICS.find(choice), options, normalise))
        for label, choice, options in named_metrics(usual if metrics is None else metrics)
    ]
    parts = {
        (number, label): parts_for(chosen_metric, query)
        for number, query in enumerate(named.values())
        for label, chosen_metric, _ in chosen
    }
    rows: list[tuple[object, ...]] = []
    lost: dict[Note, None] = {}
    of_sets = left_out(len(too_few), len(usual) + len(too_few), "metrics", "too few sets", too_few)
    with progress("measuring", len(embeddings) * len(named)) as done:
        for i, ((embedding, kv), (number, name)) in enumerate(product(embeddings.items(), enumerate(named))):
            space = unit_single(kv.vectors) if any(m.space for _, m, _ in chosen) else None
            seen: dict[tuple[int, bool], FoundSets] = {}
            for label, choice, values in chosen:
                for part in parts[number, label]:
                    key = (id(part), choice.paired)
                    sets = seen[key] = seen.get(key) or look_up(kv, part, how, choice.paired)
                    ready = Prepared(choice, part, values, how, kv, sets, space if choice.space else None)
                    try:
                        got = ready.measure()
                    except MetricFaultError as error:  # the others work
                        got = no_value(str(error))
                    lines, where = lost_lines(sets.notes), f"{name} in {embedding}" if len(embeddings) > 1 else name
                    kinds = ({**line.numbers, "kind": f"{where}: {line.numbers['kind']}"} for line in lines)
                    own = [Note(line.code, **numbers) for line, numbers in zip(lines, kinds, strict=True)]
                    lost |= dict.fromkeys(own)
                    notes = (*own, *of_sets, *part.notes, *sets.notes[len(lines) :], *got.notes)
                    sub = part.name if len(parts[number, label]) > 1 else None
                    found = sum(entry["found"] for entry in sets.entries)
                    missing = sum(len(entry["missing"]) for entry in sets.entries)
                    figures = (got.value, got.p_value, choice.optimum, found, missing, got.reason, notes)
                    rows.append((embedding, name, sub, label, *figures))
            done(i + 1)
    numbers = {"value": float, "p_value": float, "optimum": float, "found": int, "missing": int}
    warn_lost(lost, "the column notes")
    return pd.DataFrame(rows, columns=COLUMNS, dtype=object).astype(numbers)


def named_queries(queries: Mapping[str, AnyQuery] | Sequence[AnyQuery] | AnyQuery) -> dict[str, Query]:
    """Name to query; names that repeat are numbered."""
    if isinstance(queries, Mapping):
        named = {name: as_query(query) for name, query in mapping(queries, "queries", "queries").items()}
    else:
        named = {}
        for query in map(as_query, several(queries)):
            numbered = (query.name, *(f"{query.name} ({number})" for number in range(2, len(named) + 2)))
            named[next(name for name in numbered if name not in named)] = query
    return named


def named_embeddings(
    kvs: Mapping[str, Embedding] | Embedding, words: Collection[str] = (), case: Case = "as-is"
) -> dict[str, KeyedVectors]:
    """Name to loaded embedding, with those of some words that it composes; a mapping of vectors is one embedding."""
    if isinstance(kvs, Mapping) and kvs and all(map(is_embedding, kvs.values())):
        return opened_by_name(mapping(kvs, "kvs", "embeddings"), words, case)
    single = opened(kvs, words, case)
    return {str(about(single)["name"]): single}


def is_embedding(value: object) -> bool:
    """True for a value of a kind that :func:`load_embedding` takes, rather than a vector."""
    kinds = (str, Path, Mapping, pd.DataFrame)
    return isinstance(value, kinds) or hasattr(value, "key_to_index") or hasattr(value, "wv")


def named_metrics(
    metrics: Sequence[AnyMetric] | Mapping[str, AnyMetric] | AnyMetric,
) -> list[tuple[str, str | Metric, Mapping[str, Any]]]:
    """Label of each metric, the metric (by its name where it was named), and its options."""
    if isinstance(metrics, Mapping):
        pairs: list[tuple[Any, Any]] = list(metrics.items())
    else:
        single = isinstance(metrics, tuple) and len(metrics) == 2 and isinstance(metrics[1], Mapping)
        pairs = [(None, one) for one in ([metrics] if single else several(metrics))]
    named = []
    for label, choice in pairs:
        one, options = metric_and_options(choice)
        arguments = ", ".join(f"{key}={value}" for key, value in options.items())
        name = one if isinstance(one, str) else one.name
        own = f"{name} ({arguments})" if arguments else name
        named.append((own if label is None else str(label), one, options))
    if not named or len({label for label, _, _ in named}) < len(named):
        raise InputError(f"metrics is {shown(metrics)}: give at least one, and a mapping of labels where two are equal")
    return named


def metric_and_options(choice: object) -> tuple[str | Metric, Mapping[str, Any]]:
    one, options = choice if isinstance(choice, tuple) else (choice, {})
    return (one if isinstance(one, str) else METRICS.find(one)), options
