"""``metric`` and ``run_metrics``: embeddings and queries in, values with their coverage out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias._checks import one_of, share
from bayesbias._core.permutation import ALTERNATIVES
from bayesbias._progress import progress
from bayesbias.embeddings import Case, Embedding, about, load_embedding
from bayesbias.errors import InputError
from bayesbias.metrics.base import Measured, Metric, Space
from bayesbias.metrics.lookup import FoundSets, Lookup, OnMissing, look_up, vocabulary
from bayesbias.metrics.queries import Query, load_query
from bayesbias.metrics.registry import METRICS, find_metric
from bayesbias.metrics.results import MetricResult
from bayesbias.words import WordLists

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

type AnyQuery = Query | WordLists | str | Path
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
    **options
        The metric's own: ``weat`` and ``weat_effect_size`` take ``p_value``, ``alternative`` (``"two-sided"``,
        ``"greater"``, ``"less"``), ``permutations`` and ``seed``; ``rnd`` ``distance`` (``"norm"``, ``"cos"``);
        ``rnsb`` ``holdout``, ``train`` and ``seed``; ``direct_bias`` ``exponent``; ``nbm`` ``neighbours``.

    Raises
    ------
    InputError
        An unknown metric or option, a query with other numbers of sets than the metric takes, pairs of unequal
        length, missing words with ``on_missing="error"``.
    """
    chosen = find_metric(name)
    asked = as_query(query)
    how = _lookup(on_missing, max_missing, case, normalize, compat)
    used = _options(chosen, options)
    _check_template(chosen, asked)
    vectors = kv if hasattr(kv, "key_to_index") else load_embedding(kv)
    found = look_up(vectors, asked, how, chosen.paired)
    measured = measure(chosen, found, used, how.compat, vocabulary(vectors) if chosen.space else None, vectors)
    return _result(chosen, asked, found, measured, {**used, **asdict(how)}, str(about(vectors)["name"]))


def run_metrics(
    kvs: Mapping[str, Embedding] | Embedding,
    queries: Mapping[str, AnyQuery] | Sequence[AnyQuery] | AnyQuery,
    metrics: Sequence[AnyMetric] | Mapping[str, AnyMetric] | AnyMetric = tuple(METRICS),
    on_missing: OnMissing = "drop",
    max_missing: float = 0.2,
    case: Case = "as-is",
    normalize: bool = False,
    compat: str | None = None,
) -> pd.DataFrame:
    """Metrics of embeddings and queries, one row each.

    Parameters
    ----------
    kvs
        Name to embedding, or one embedding.
    queries
        One or several queries; a mapping gives them names. Queries of one name stay apart, numbered.
    metrics
        Names of metrics, pairs of a name and its options, or a mapping of labels to either.
    on_missing, max_missing, case, normalize, compat
        As in :func:`metric`.

    Returns
    -------
    DataFrame
        Columns ``embedding``, ``query``, ``subquery``, ``metric``, ``value``, ``p_value``, ``optimum``, ``found`` and
        ``missing`` (words) and ``reason`` (of a NaN). A query with more sets than a metric takes appears as its
        sub-queries, named in ``subquery``.

    Raises
    ------
    InputError
        As :func:`metric`; a query with fewer sets than a metric takes.
    """
    import pandas as pd

    how = _lookup(on_missing, max_missing, case, normalize, compat)
    embeddings = named_embeddings(kvs)
    asked = named_queries(queries)
    chosen = [(label, find_metric(m), _options(find_metric(m), given)) for label, m, given in _named_metrics(metrics)]
    parts = {
        (number, label): _parts(chosen_metric, query)
        for number, query in enumerate(asked.values())
        for label, chosen_metric, _ in chosen
    }
    rows: list[tuple[object, ...]] = []
    with progress("measuring", len(embeddings) * len(asked)) as done:
        for at, (embedding, kv) in enumerate(embeddings.items()):
            space = vocabulary(kv) if any(m.space for _, m, _ in chosen) else None
            for number, name in enumerate(asked):
                seen: dict[tuple[int, bool], FoundSets] = {}
                for label, one, used in chosen:
                    for part in parts[number, label]:
                        key = (id(part), one.paired)
                        found = seen[key] = seen.get(key) or look_up(kv, part, how, one.paired)
                        got = measure(one, found, used, how.compat, space, kv)
                        sub = part.name if len(parts[number, label]) > 1 else None
                        rows.append((embedding, name, sub, label, *_row(one, got, found)))
                done(at * len(asked) + number + 1)
    return pd.DataFrame(rows, columns=COLUMNS).astype({"p_value": float, "reason": object, "subquery": object})


def _row(one: Metric, got: Measured, found: FoundSets) -> tuple[object, ...]:
    lost = sum(len(entry["missing"]) for entry in found.entries)
    return got.value, got.p_value, one.optimum, sum(entry["found"] for entry in found.entries), lost, got.reason


def measure(
    chosen: Metric,
    found: FoundSets,
    options: Mapping[str, Any],
    compat: str | None = None,
    space: np.ndarray | None = None,
    kv: KeyedVectors | None = None,
) -> Measured:
    """A metric on sets that were looked up; NaN with the reason where there are too few words."""
    if found.reason is not None:
        return Measured(float("nan"), reason=found.reason)
    extra: dict[str, Any] = {"compat": compat} if chosen.compat else {}
    if chosen.space:
        if space is None or kv is None:
            raise TypeError(f"{chosen.name} needs the whole vocabulary")
        names = [entry["set"] for entry in found.entries if entry["kind"] == "attribute"]
        rows = [kv.key_to_index[word] for name in names for word in found.words[str(name)]]
        extra["space"] = Space(space, np.array(rows))
    return chosen.measure(found.targets, found.attributes, **options, **extra)


def as_query(query: AnyQuery) -> Query:
    """A query from whatever stands for one."""
    if isinstance(query, Query):
        return query
    if isinstance(query, WordLists):
        return Query.from_words(query)
    if isinstance(query, str | Path):
        return load_query(query)
    raise InputError(
        f"a query is {type(query).__name__}: give a Query(targets, attributes), word lists, or a name or path for "
        "load_query"
    )


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
    if isinstance(kvs, Mapping) and kvs and all(map(_is_embedding, kvs.values())):
        return {str(name): kv if hasattr(kv, "key_to_index") else load_embedding(kv) for name, kv in kvs.items()}
    single = kvs if hasattr(kvs, "key_to_index") else load_embedding(kvs)
    return {str(about(single)["name"]): single}


def _is_embedding(value: object) -> bool:
    return isinstance(value, str | Path | Mapping) or hasattr(value, "key_to_index")


def _named_metrics(
    metrics: Sequence[AnyMetric] | Mapping[str, AnyMetric] | AnyMetric,
) -> list[tuple[str, str, Mapping[str, Any]]]:
    """Label, name and options of each metric."""
    single = isinstance(metrics, str) or (
        isinstance(metrics, tuple) and len(metrics) == 2 and isinstance(metrics[1], Mapping)
    )
    every: Any = [metrics] if single else metrics
    labelled = list(every.items()) if isinstance(every, Mapping) else [(_label(one), one) for one in every]
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


def _parts(chosen: Metric, query: Query) -> tuple[Query, ...]:
    """A query as it is, or its sub-queries where it has more sets than a metric takes."""
    sizes = []
    for (least, most), there, kind in zip(
        (chosen.targets, chosen.attributes), query.template, ("target", "attribute"), strict=True
    ):
        if there < least:
            raise InputError(
                f"{chosen.name} takes at least {least} {kind} sets, and the query {query.name!r} has {there}: give "
                "another query, or leave the metric out"
            )
        sizes.append(there if most is None else min(there, most))
    return query.subqueries(*sizes)


def _check_template(chosen: Metric, query: Query) -> None:
    parts = _parts(chosen, query)
    if parts != (query,):
        raise InputError(
            f"the query {query.name!r} has {query.template[0]} target and {query.template[1]} attribute sets, and "
            f"{chosen.name} takes fewer: measure its sub-queries, query.subqueries{parts[0].template}, or all of them "
            "with run_metrics"
        )


def _options(chosen: Metric, given: Mapping[str, Any]) -> dict[str, Any]:
    unknown = [name for name in given if name not in chosen.options]
    if unknown:
        valid = f"it takes {', '.join(chosen.options)}" if chosen.options else "it takes none"
        raise InputError(f"{chosen.name} has no option {unknown[0]!r}: {valid}")
    used = {**chosen.options, **given}
    if "alternative" in used:
        one_of(used["alternative"], ALTERNATIVES, "alternative")
    return used


def _lookup(on_missing: OnMissing, max_missing: float, case: Case, normalize: bool, compat: str | None) -> Lookup:
    one_of(on_missing, ("drop", "error"), "on_missing")
    one_of(case, ("as-is", "fallback"), "case")
    max_missing = share(max_missing, "max_missing")
    if compat is not None:
        one_of(compat, ("wefe",), "compat")
    return Lookup(on_missing, max_missing, case, bool(normalize), compat)


def _result(
    chosen: Metric, query: Query, found: FoundSets, measured: Measured, options: dict[str, Any], embedding: str
) -> MetricResult:
    sets = query.targets if chosen.words == "targets" else query.attributes
    words = tuple((name, word) for name in sets for word in found.words[name])
    return MetricResult(
        metric=chosen.name,
        title=chosen.title,
        value=measured.value,
        p_value=measured.p_value,
        partitions=measured.partitions,
        exact=measured.exact,
        optimum=chosen.optimum,
        range=chosen.bounds([len(vectors) for vectors in found.targets]),
        query=query,
        embedding=embedding,
        entries=found.entries,
        words=words if len(measured.by_word) else (),
        by_word=measured.by_word,
        options=options,
        reason=measured.reason,
        notes=(*query.notes, *found.notes, *measured.notes),
        source=chosen.source,
        doi=chosen.doi,
    )
