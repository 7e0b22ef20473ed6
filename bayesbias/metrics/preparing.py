"""A metric and a query, checked and looked up, ready to be measured as they are or on other words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbias._core.cells import IntArray
from bayesbias._core.cosine import unit_rows
from bayesbias._core.neighbours import nearest_rows
from bayesbias.embeddings import Embedding, opened
from bayesbias.errors import InputError
from bayesbias.metrics.base import Measured, Metric, Sets, Space
from bayesbias.metrics.lookup import FoundSets, Lookup, look_up, vocabulary
from bayesbias.metrics.queries import Query, load_query
from bayesbias.metrics.registry import METRICS, find_metric
from bayesbias.metrics.testing import RELATED, against_random_lists, permuted
from bayesbias.words import WordLists

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

type AnyQuery = Query | WordLists | str | Path


@dataclass(frozen=True)
class Prepared:
    """A metric, and a query whose words were looked up for it.

    Attributes
    ----------
    metric, query, options, how, kv, found
        What was asked, and the sets' vectors.
    space
        Unit vectors of the whole vocabulary, for metrics that look at it.
    nearest
        Rows of the attribute words' nearest neighbours, once they were looked for.
    """

    metric: Metric
    query: Query
    options: Mapping[str, Any]
    how: Lookup
    kv: KeyedVectors
    found: FoundSets
    space: NDArray[np.float32] | None = None
    nearest: IntArray | None = None

    def measure(self) -> Measured:
        """The metric's value, with the test that was asked for; NaN with the reason where there are too few words.

        Raises
        ------
        InputError
            The test needs more words of the vocabulary.
        """
        if self.found.reason is not None:
            return Measured(float("nan"), reason=self.found.reason)
        value = self._measured(self.found.targets, self.found.attributes)
        asked = self.options.get("p_value", False)
        if not asked or value.reason is not None:
            return value
        if asked == RELATED and self.metric.linear is not None:
            return against_random_lists(value, self.metric.linear, self.kv, self.found, self.options)
        return permuted(value, len(self.found.targets[0]), self.options)

    @property
    def attribute_rows(self) -> IntArray:
        """Rows of the embedding that hold the attribute words, one set after the other."""
        listed = [self.found.words[name] for name in self.query.attributes]
        return np.array([self.kv.key_to_index[self.found.keys[word]] for words in listed for word in words])

    def with_attributes(self, rows: IntArray) -> Measured:
        """The metric when other words of the embedding, by row, stand in for the attribute words."""
        ends = np.cumsum([len(vectors) for vectors in self.found.attributes])[:-1]
        vectors = self.kv.vectors[rows].astype(np.float64)
        sets = tuple(np.split(unit_rows(vectors) if self.how.normalize else vectors, ends))
        return self._measured(self.found.targets, sets, rows)

    def resampled(self, chosen: Mapping[str, IntArray]) -> Measured:
        """The metric on some words of each set, by their places, which may repeat."""
        targets = tuple(v[chosen[name]] for name, v in zip(self.query.targets, self.found.targets, strict=True))
        attributes = tuple(
            v[chosen[name]] for name, v in zip(self.query.attributes, self.found.attributes, strict=True)
        )
        starts = np.cumsum([0, *(len(vectors) for vectors in self.found.attributes)])
        places = [start + chosen[name] for start, name in zip(starts, self.query.attributes, strict=False)]
        at = np.concatenate(places)
        nearest = None if self.nearest is None else self.nearest[at]
        return self._measured(targets, attributes, self.attribute_rows[at], nearest)

    def with_neighbours(self) -> Prepared:
        """The same with the attribute words' neighbours looked up, which many draws of the words then share."""
        if self.space is None or self.found.reason is not None:
            return self
        nearest = nearest_rows(self.space, self.attribute_rows, self.options["neighbours"])
        return replace(self, nearest=nearest)

    def _measured(
        self, targets: Sets, attributes: Sets, rows: IntArray | None = None, nearest: IntArray | None = None
    ) -> Measured:
        extra: dict[str, Any] = {"compat": self.how.compat} if self.metric.compat else {}
        if self.space is not None:
            extra["space"] = Space(self.space, self.attribute_rows if rows is None else rows, nearest)
        own = {name: value for name, value in self.options.items() if name not in self.metric.of_test}
        found = self.metric.measure(targets, attributes, **own, **extra)
        if np.isfinite(found.value) or found.reason is not None:
            return found
        return replace(found, reason="its formula divides by 0 for these vectors")


def prepared(
    name: str, kv: Embedding, query: AnyQuery, options: Mapping[str, Any], how: Lookup | None = None
) -> Prepared:
    """A metric's name, options and query, checked and looked up.

    Without ``how`` the arguments of the look-up may stand among the options.
    """
    if how is None:
        how, options = split_options(options)
    chosen, asked = find_metric(name), as_query(query)
    used = checked_options(chosen, options, how.normalize)
    _check_template(chosen, asked)
    vectors = opened(kv)
    found = look_up(vectors, asked, how, chosen.paired)
    return Prepared(chosen, asked, used, how, vectors, found, vocabulary(vectors) if chosen.space else None)


def split_options(options: Mapping[str, Any]) -> tuple[Lookup, dict[str, Any]]:
    """The look-up that options ask for, and the options of the metric."""
    asked = {name: options.get(name, value) for name, value in Lookup().options.items()}
    return Lookup.checked(**asked), {name: value for name, value in options.items() if name not in asked}


def untested(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options without a test, for values of which there are many."""
    return {**options, "p_value": False} if "p_value" in options else dict(options)


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


def parts_for(chosen: Metric, query: Query) -> tuple[Query, ...]:
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
    parts = parts_for(chosen, query)
    if parts != (query,):
        raise InputError(
            f"the query {query.name!r} has {query.template[0]} target and {query.template[1]} attribute sets, and "
            f"{chosen.name} takes fewer: measure its sub-queries, query.subqueries{parts[0].template}, or all of them "
            "with run_metrics"
        )


def checked_options(chosen: Metric, given: Mapping[str, Any], normalize: bool = False) -> dict[str, Any]:
    """All options of a metric, those that were given after their checks; whether the look-up scales vectors."""
    if isinstance(tested := given.get("p_value"), str) and tested == RELATED and chosen.linear is None:
        raise InputError(
            f"{chosen.name} is not a weighted sum of cosines, and p_value={RELATED!r} is the test of one: valid are "
            f"{_linear_metrics()}"
        )
    unknown = [name for name in given if name not in chosen.options]
    if unknown:
        valid = f"it takes {', '.join(chosen.options)}" if chosen.options else "it takes none"
        raise InputError(f"{chosen.name} has no option {unknown[0]!r}: {valid}")
    defaults = {name: option.default for name, option in chosen.options.items()}
    used = {**defaults, **{name: chosen.options[name].check(value, name) for name, value in given.items()}}
    if used.get("p_value") == RELATED and chosen.linear is not None:
        there = {**used, "normalize": normalize}
        if lacking := [name for name, value in chosen.linear.needs.items() if there[name] != value]:
            raise InputError(
                f"{chosen.name} with {lacking[0]}={there[lacking[0]]!r} is not a weighted sum of cosines, and "
                f"p_value={RELATED!r} is the test of one: valid are {_linear_metrics()}"
            )
    return used


def _linear_metrics() -> str:
    """The metrics that are weighted sums of cosines, with the options that make them so."""
    names = []
    for name, one in METRICS.items():
        if one.linear is not None:
            needs = " and ".join(f"{option}={value!r}" for option, value in one.linear.needs.items())
            names.append(f"{name} with {needs}" if needs else name)
    return ", ".join(names)
