"""``metric`` and ``run_metrics``: embeddings and queries in, values with their coverage out."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias._progress import progress
from bayesbias.embeddings import Case, Embedding, Twins, about, opened
from bayesbias.errors import InputError
from bayesbias.metrics.base import Measured, Metric
from bayesbias.metrics.lookup import FoundSets, Lookup, OnMissing, look_up, vocabulary
from bayesbias.metrics.preparing import AnyQuery, Prepared, as_query, checked_options, parts_for, prepared
from bayesbias.metrics.queries import Query
from bayesbias.metrics.registry import METRICS, find_metric
from bayesbias.metrics.results import MetricResult
from bayesbias.words import WordLists

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

type AnyMetric = str | tuple[str, Mapping[str, Any]]

COLUMNS = ["embedding", "query", "subquery", "metric", "value", "p_value", "optimum", "found", "missing", "reason"]


def metric(
    name: str,
    kv: Embedding,
    query: AnyQuery,
    on_missing: OnMissing = "drop",
    max_missing: float = 0.2,
    case: Case = "as-is",
    normalize: bool = False,
    compat: str | None = None,
    twins: Twins = "once",
    **options: Any,
) -> MetricResult:
    """A classic bias metric of an embedding.

    Parameters
    ----------
    name
        One that :func:`list_metrics` shows: ``"weat"``, ``"weat_effect_size"``, ``"rnd"``, ``"rnsb"``, ``"mac"``,
        ``"ect"``, ``"ripa"``, ``"direct_bias"``, ``"db_wa"``, ``"nbm"``, ``"same"``, ``"semaxis"``.
    kv
        The embedding, or what :func:`load_embedding` takes.
    query
        A :class:`Query`, word lists, or what :func:`load_query` takes. ``ripa``, ``direct_bias``, ``db_wa`` and ``nbm``
        take the words of its two target sets as pairs, in order.
    on_missing
        ``"drop"`` leaves out words that the embedding lacks; ``"error"`` refuses them.
    max_missing
        Share of a set's words that may be missing; above it the value is NaN, with the reason in the result.
    case
        ``"fallback"`` also tries lower case, a capital first letter and capitals.
    normalize
        Whether vectors are scaled to length 1 first (most metrics do not change).
    compat
        ``"wefe"`` gives the number of WEFE 1.0.1 where ours differs: repeated words count as lost, pairs shift past a
        missing word, ``rnsb`` holds out a fifth of the words and stops at its solver's tolerance.
    twins
        Words of one set that have one vector (see :func:`distance_table`) count once, the first of them; pairs whose
        two words have one vector are left out. ``"keep"`` takes all, and so does ``compat="wefe"``. Notes name them.
    **options
        The metric's own: ``rnd`` takes ``distance`` (``"norm"``, ``"cos"``); ``rnsb`` ``holdout``, ``train`` and
        ``seed``; ``direct_bias`` ``exponent``; ``nbm`` ``neighbours``. Tests take ``p_value``, ``alternative``
        (``"two-sided"``, ``"greater"``, ``"less"``) and ``seed``:

        - ``p_value=True``, of ``weat`` and ``weat_effect_size``: permutation test (``permutations`` random ones where a
          million do not hold all) of the target words over their two sets, with the attribute words as given.
        - ``p_value="related"``, of weighted sums of cosines (``weat``, ``mac``, ``db_wa``, ``rnd`` with
          ``distance="cos"``, ``ripa`` with ``normalize=True``): normal test against random attribute lists of the
          vocabulary, as many words and as alike as these, with the target words as given. The mean over such lists is
          the metric of the vocabulary's mean word (0 for ``weat``), the variance follows from
          :meth:`Relatedness.covariance`; the result has both, as ``null_mean`` and ``null_sd``.

    Raises
    ------
    InputError
        An unknown metric or option, a query with other numbers of sets than the metric takes, pairs of unequal
        length, missing words with ``on_missing="error"``; ``p_value="related"`` with fewer than 50 words of the
        vocabulary outside of the sets.

    Warns
    -----
    UserWarning
        Sets so small that the value is the same whatever the words; the result says so too.
    """
    how = Lookup.checked(on_missing, max_missing, case, normalize, compat, twins)
    ready = prepared(name, kv, query, options, how)
    measured = ready.measure()
    if measured.warning:
        warnings.warn(f"{ready.metric.title} of {ready.query.name}: {measured.warning}", UserWarning, stacklevel=2)
    return _result(ready, measured)


def run_metrics(
    kvs: Mapping[str, Embedding] | Embedding,
    queries: Mapping[str, AnyQuery] | Sequence[AnyQuery] | AnyQuery,
    metrics: Sequence[AnyMetric] | Mapping[str, AnyMetric] | AnyMetric | None = None,
    on_missing: OnMissing = "drop",
    max_missing: float = 0.2,
    case: Case = "as-is",
    normalize: bool = False,
    compat: str | None = None,
    twins: Twins = "once",
) -> pd.DataFrame:
    """Metrics of embeddings and queries, one row each.

    Parameters
    ----------
    kvs
        Name to embedding, or one embedding.
    queries
        One or several queries; a mapping gives them names. Queries of one name stay apart, numbered.
    metrics
        Names of metrics, pairs of a name and its options, or a mapping of labels to either. By default those that need
        no pairs and for which every query has enough sets.
    on_missing, max_missing, case, normalize, compat, twins
        As in :func:`metric`.

    Returns
    -------
    DataFrame
        Columns ``embedding``, ``query``, ``subquery``, ``metric``, ``value``, ``p_value``, ``optimum``, ``found`` and
        ``missing`` (words) and ``reason`` (of a NaN). A query with more sets than a metric takes appears as its
        sub-queries, named in ``subquery``. ``attrs["notes"]`` says which words are missing, stand in several sets or
        repeat.

    Raises
    ------
    InputError
        As :func:`metric`; a query with fewer sets than a metric takes.
    """
    import pandas as pd

    how = Lookup.checked(on_missing, max_missing, case, normalize, compat, twins)
    embeddings = named_embeddings(kvs)
    asked = named_queries(queries)
    usual, too_few = usual_metrics(asked.values()) if metrics is None else ([], [])
    chosen = _chosen(usual if metrics is None else metrics, normalize)
    parts = {
        (number, label): parts_for(chosen_metric, query)
        for number, query in enumerate(asked.values())
        for label, chosen_metric, _ in chosen
    }
    rows: list[tuple[object, ...]] = []
    notes = {f"left out, since a query has too few sets: {', '.join(too_few)}.": None} if too_few else {}
    with progress("measuring", len(embeddings) * len(asked)) as done:
        for at, (embedding, kv) in enumerate(embeddings.items()):
            space = vocabulary(kv) if any(m.space for _, m, _ in chosen) else None
            for number, name in enumerate(asked):
                seen: dict[tuple[int, bool], FoundSets] = {}
                for label, one, used in chosen:
                    for part in parts[number, label]:
                        key = (id(part), one.paired)
                        found = seen[key] = seen.get(key) or look_up(kv, part, how, one.paired)
                        got = Prepared(one, part, used, how, kv, found, space if one.space else None).measure()
                        notes |= dict.fromkeys(_notes(embedding, name, part, found, got))
                        sub = part.name if len(parts[number, label]) > 1 else None
                        rows.append((embedding, name, sub, label, *_row(one, got, found)))
                done(at * len(asked) + number + 1)
    numbers = {"value": float, "p_value": float, "optimum": float, "found": int, "missing": int}
    table = pd.DataFrame(rows, columns=COLUMNS, dtype=object).astype(numbers)
    table.attrs["notes"] = tuple(notes)
    return table


def _row(one: Metric, got: Measured, found: FoundSets) -> tuple[object, ...]:
    lost = sum(len(entry["missing"]) for entry in found.entries)
    return got.value, got.p_value, one.optimum, sum(entry["found"] for entry in found.entries), lost, got.reason


def usual_metrics(queries: Iterable[Query]) -> tuple[list[str], list[str]]:
    """Metrics that need no pairs: those for which every query has enough sets, and those for which one has not."""
    targets, attributes = (min(sizes) for sizes in zip(*(query.template for query in queries), strict=True))
    unpaired = {name: one for name, one in METRICS.items() if not one.paired}
    fitting = [name for name, one in unpaired.items() if one.targets[0] <= targets and one.attributes[0] <= attributes]
    return fitting, [name for name in unpaired if name not in fitting]


def _notes(embedding: str, query: str, part: Query, found: FoundSets, got: Measured) -> list[str]:
    """Sentences on what a row rests on; those on the query alone do not name the embedding."""
    own = [f"{query}: {note}." for note in part.notes]
    return own + [f"{query} in {embedding}: {note}." for note in (*found.notes, *got.every_note)]


def named_queries(queries: Mapping[str, AnyQuery] | Sequence[AnyQuery] | AnyQuery) -> dict[str, Query]:
    """Name to query; names that repeat are numbered."""
    if isinstance(queries, Mapping):
        named = {str(name): as_query(query) for name, query in queries.items()}
    else:
        single = isinstance(queries, str | Path | Query | WordLists)
        named = {}
        for query in map(as_query, [queries] if single else queries):  # type: ignore[arg-type]
            name, number = query.name, 1
            while name in named:
                number += 1
                name = f"{query.name} ({number})"
            named[name] = query
    if not named:
        raise InputError("no query was given: give at least one")
    return named


def named_embeddings(kvs: Mapping[str, Embedding] | Embedding) -> dict[str, KeyedVectors]:
    """Name to loaded embedding; a mapping of words to vectors is one embedding."""
    if isinstance(kvs, Mapping) and kvs and all(map(is_embedding, kvs.values())):
        return {str(name): opened(kv) for name, kv in kvs.items()}
    single = opened(kvs)
    return {str(about(single)["name"]): single}


def is_embedding(value: object) -> bool:
    """Whether a value is of a kind that :func:`load_embedding` takes, rather than a vector."""
    return isinstance(value, str | Path | Mapping) or hasattr(value, "key_to_index") or hasattr(value, "wv")


def _chosen(
    metrics: Sequence[AnyMetric] | Mapping[str, AnyMetric] | AnyMetric, normalize: bool
) -> list[tuple[str, Metric, dict[str, Any]]]:
    """Label, metric and checked options of each."""
    named = [(label, find_metric(name), given) for label, name, given in named_metrics(metrics)]
    return [(label, one, checked_options(one, given, normalize)) for label, one, given in named]


def named_metrics(
    metrics: Sequence[AnyMetric] | Mapping[str, AnyMetric] | AnyMetric,
) -> list[tuple[str, str, Mapping[str, Any]]]:
    """Label, name and options of each metric."""
    single = isinstance(metrics, str) or (
        isinstance(metrics, tuple) and len(metrics) == 2 and isinstance(metrics[1], Mapping)
    )
    every: Any = [metrics] if single else metrics
    if not isinstance(every, Mapping | Iterable):
        raise InputError(f"metrics is {every!r}: give names of metrics, or pairs of a name and its options")
    chosen = list(every.values() if isinstance(every, Mapping) else every)
    for one in chosen:
        if not isinstance(one, str) and not (isinstance(one, tuple) and len(one) == 2 and isinstance(one[1], Mapping)):
            raise InputError(f"{one!r} is no metric: give its name, or a pair of its name and its options")
    labelled = list(zip(every if isinstance(every, Mapping) else map(_label, chosen), chosen, strict=True))
    if not labelled:
        raise InputError("no metric was given: give at least one")
    if len({label for label, _ in labelled}) < len(labelled):
        raise InputError("two metrics have one label: give a mapping of labels to metrics")
    return [(str(label), *((one, {}) if isinstance(one, str) else (one[0], one[1]))) for label, one in labelled]


def _label(one: AnyMetric) -> str:
    if isinstance(one, str):
        return one
    name, options = one
    return f"{name} ({', '.join(f'{key}={value}' for key, value in options.items())})" if options else name


def _result(ready: Prepared, measured: Measured) -> MetricResult:
    chosen, query, found = ready.metric, ready.query, ready.found
    sets = query.targets if chosen.words == "targets" else query.attributes
    words = {name: found.words[name] for name in sets} if len(measured.by_word) else {}
    return MetricResult(
        metric=chosen.name,
        title=chosen.title,
        value=measured.value,
        p_value=measured.p_value,
        partitions=measured.partitions,
        exact=measured.exact,
        optimum=chosen.optimum,
        range=(np.nan, np.nan) if measured.reason else chosen.bounds(list(map(len, found.targets)), ready.options),
        query=query,
        embedding=str(about(ready.kv)["name"]),
        entries=found.entries,
        words=words,
        by_word=measured.by_word,
        options={**ready.options, **ready.how.options},
        reason=measured.reason,
        notes=(*query.notes, *found.notes, *measured.every_note),
        source=chosen.source,
        doi=chosen.doi,
        null_mean=measured.null_mean,
        null_sd=measured.null_sd,
    )
