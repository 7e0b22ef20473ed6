"""What a silhouette is drawn of: a metric on a query's words, ready to be followed while lists grow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from bayesbias._core.cosine import FloatArray
from bayesbias.errors import InputError, listed
from bayesbias.metrics import Query
from bayesbias.metrics.lookup import FoundSets, Lookup, look_up
from bayesbias.metrics.preparing import checked_options, prepared, untested
from bayesbias.metrics.registry import METRICS, find_metric
from bayesbias.silhouettes.curves import CURVES, Sets
from bayesbias.silhouettes.orders import Growth

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

type Varied = Literal["targets", "attributes"]
VARIED: tuple[Literal["targets"], Literal["attributes"]] = ("targets", "attributes")


class Followed(NamedTuple):
    """Values (runs, sizes), the ends of their intervals where there are any, and sentences on them."""

    values: FloatArray
    low: FloatArray | None = None
    high: FloatArray | None = None
    notes: tuple[str, ...] = ()


class Lengths(NamedTuple):
    """How many words of every target and every attribute set are there at most."""

    targets: tuple[int, ...]
    attributes: tuple[int, ...]


@dataclass(frozen=True)
class Subject:
    """A metric on the words of a query.

    Attributes
    ----------
    metric
        What it is called.
    targets, attributes
        Set to the words that the embedding holds.
    bounds, zero, optimum
        Smallest and largest value, the value at which the study's accuracy begins, and that of no bias.
    follow
        Which lists grow, how long the lists are at most, and how they grow, to values.
    published
        The authors' bounds, where these differ.
    paired
        Whether the words of the target sets are pairs in order.
    notes
        Sentences on words that were left out.
    """

    metric: str
    targets: Mapping[str, tuple[str, ...]]
    attributes: Mapping[str, tuple[str, ...]]
    bounds: tuple[float, float]
    zero: float
    optimum: float
    follow: Callable[[Varied, Lengths, Growth], Followed]
    published: tuple[float, float] | None = None
    paired: bool = False
    notes: tuple[str, ...] = ()


def study_subject(name: str, kv: KeyedVectors, query: Query, how: Lookup) -> Subject:
    """A metric of the study, all sizes of a run in one pass."""
    curves = CURVES[name]
    (least, most), attributes = curves.sets
    shape = (len(query.targets), len(query.attributes))
    if not least <= shape[0] <= (most or shape[0]) or shape[1] != attributes:
        raise InputError(
            f"{name} takes {least}{'' if most else ' or more'} target and {attributes} attribute sets; the query "
            f"{query.name!r} has {shape[0]} and {shape[1]}: take one of query.subqueries({least}, {attributes})"
        )
    found, notes = found_sets(kv, query, how, paired=False)

    def follow(vary: Varied, lengths: Lengths, growth: Growth) -> Followed:
        curve = curves.targets if vary == "targets" else curves.attributes
        return Followed(curve(_cut(found.targets, lengths[0]), _cut(found.attributes, lengths[1]), growth))

    return Subject(
        metric=name,
        **words_of(query, found),
        bounds=curves.bounds(shape[0]),
        zero=0.0,  # ECT's too, whose value of no bias is 1: the study's accuracy counts from 0
        optimum=curves.optimum,
        follow=follow,
        published=curves.published,
        notes=notes,
    )


def registered_subject(name: str, options: Mapping[str, Any], kv: KeyedVectors, query: Query, how: Lookup) -> Subject:
    """A metric of the registry, measured anew at every size."""
    metric = find_metric(name)
    used = untested(checked_options(metric, options))
    ready = prepared(name, kv, query, used, how).with_neighbours()
    notes = _checked(ready.found)
    bounds = metric.bounds([len(vectors) for vectors in ready.found.targets], used)
    if not np.isfinite(bounds).all():
        raise InputError(
            f"{name} has no smallest and largest value, which the scores of a silhouette need: those of "
            f"{', '.join(with_range())} are known, that of rnd with ('rnd', {{'distance': 'cos'}})"
        )

    def follow(vary: Varied, lengths: Lengths, growth: Growth) -> Followed:
        every = {
            name: np.arange(length)
            for sets, most in ((query.targets, lengths.targets), (query.attributes, lengths.attributes))
            for name, length in zip(sets, most, strict=True)
        }
        varied = list(getattr(query, vary))
        values = np.empty((len(growth.places[0]), len(growth.lengths)))
        for run in range(len(values)):
            for at, row in enumerate(growth.lengths):
                parts = zip(varied, growth.places, row, strict=True)
                cut = {name: places[run, :length] for name, places, length in parts}
                values[run, at] = ready.resampled(every | cut).value
        return Followed(values)

    return Subject(
        metric=name,
        **words_of(query, ready.found),
        bounds=bounds,
        zero=metric.optimum,
        optimum=metric.optimum,
        follow=follow,
        paired=metric.paired,
        notes=notes,
    )


def with_range() -> list[str]:
    """Metrics of the registry whose smallest and largest value are known; the sum of WEAT's grows with the lists."""
    defaults = {name: {option: entry.default for option, entry in one.options.items()} for name, one in METRICS.items()}
    return [
        name
        for name, one in METRICS.items()
        if name != "weat" and np.isfinite(one.bounds([2, 2], defaults[name])).all()
    ]


def found_sets(kv: KeyedVectors, query: Query, how: Lookup, paired: bool) -> tuple[FoundSets, tuple[str, ...]]:
    """The sets with the words that the embedding holds, and sentences on the others."""
    found = look_up(kv, query, how, paired)
    return found, _checked(found)


def _checked(found: FoundSets) -> tuple[str, ...]:
    notes = []
    for entry in found.entries:
        if not entry["found"]:
            raise InputError(
                f"the embedding holds none of the {entry['asked']} words of {entry['set']!r}: choose other words"
            )
        if lost := entry["missing"]:
            notes.append(f"{len(lost)} of {entry['asked']} words of {entry['set']} are missing: {listed(lost)}.")
    if found.reason is not None:
        raise InputError(f"the embedding holds too little of the query: {found.reason}")
    return (*notes, *(f"{note}." for note in found.twin_notes))


def words_of(query: Query, found: FoundSets) -> dict[str, Any]:
    """The words that were found, by kind and set."""
    return {
        kind: {name: tuple(found.words[name]) for name in getattr(query, kind)} for kind in ("targets", "attributes")
    }


def _cut(sets: Sets, lengths: tuple[int, ...]) -> Sets:
    return tuple(vectors[:length] for vectors, length in zip(sets, lengths, strict=True))
