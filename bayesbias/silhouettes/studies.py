"""``silhouette`` and ``silhouette_study``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from bayesbias._checks import by_name_or_none, one_of, probability, whole_number
from bayesbias._core.vectors import FloatArray, IntArray
from bayesbias._progress import progress
from bayesbias.checks.summaries import PROB, contrasted, interval_ends
from bayesbias.comparison.sensitivity import word_lists_of
from bayesbias.distances import distance_table
from bayesbias.distances.distances import Distances
from bayesbias.embeddings import TWINS, Case, Embedding, Twins, about, opened
from bayesbias.embeddings.lookup import alike_in_some, in_all, words_once
from bayesbias.errors import InputError, listed, shown
from bayesbias.metrics import Query
from bayesbias.metrics.batch import AnyQuery, as_query, checked_options, named_metrics, prepared, untested
from bayesbias.metrics.catalogue import METRICS, find_metric
from bayesbias.metrics.queries import FoundSets, Lookup, every_word, look_up
from bayesbias.models import load_model
from bayesbias.models.families import family_of
from bayesbias.models.fits import Engine, choose_engine
from bayesbias.models.spec import ModelSpec
from bayesbias.silhouettes import studies
from bayesbias.silhouettes.results import (
    CURVES,
    SIZES,
    Growth,
    Sets,
    Silhouette,
    lengths_of,
    shuffled,
    silhouette_accuracy,
    silhouette_separation,
)
from bayesbias.words import CONTROLS

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


def _study_subject(name: str, kv: KeyedVectors, query: Query, how: Lookup) -> Subject:
    """A metric of the study, all sizes of a run in one pass."""
    curves = CURVES[name]
    (least, most), attributes = curves.sets
    shape = (len(query.targets), len(query.attributes))
    if not least <= shape[0] <= (most or shape[0]) or shape[1] != attributes:
        raise InputError(
            f"{name} takes {least}{'' if most else ' or more'} target and {attributes} attribute sets; the query "
            f"{query.name!r} has {shape[0]} and {shape[1]}: take one of query.subqueries({least}, {attributes})"
        )
    sets, notes = _found_sets(kv, query, how, paired=False)

    def follow(vary: Varied, lengths: Lengths, growth: Growth) -> Followed:
        curve = curves.targets if vary == "targets" else curves.attributes
        return Followed(curve(_cut(sets.targets, lengths[0]), _cut(sets.attributes, lengths[1]), growth))

    return Subject(
        metric=name,
        **words_of(query, sets),
        bounds=curves.bounds(shape[0]),
        zero=0.0,  # ECT's too, whose value of no bias is 1: the study's accuracy counts from 0
        optimum=curves.optimum,
        follow=follow,
        published=curves.published,
        notes=notes,
    )


def _registered_subject(name: str, options: Mapping[str, Any], kv: KeyedVectors, query: Query, how: Lookup) -> Subject:
    """A metric of the registry, measured anew at every size."""
    metric = find_metric(name)
    used = untested(checked_options(metric, options))
    ready = prepared(name, kv, query, used, how).with_neighbours()
    notes = _checked(ready.found)
    bounds = metric.bounds([len(vectors) for vectors in ready.found.targets], used)
    if not np.isfinite(bounds).all():
        raise InputError(
            f"{name} has no smallest and largest value, which the scores of a silhouette need: those of "
            f"{', '.join(_with_range())} are known, that of rnd with ('rnd', {{'distance': 'cos'}})"
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
            for i, row in enumerate(growth.lengths):
                parts = zip(varied, growth.places, row, strict=True)
                cut = {name: places[run, :length] for name, places, length in parts}
                values[run, i] = ready.resampled(every | cut).value
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


def _with_range() -> list[str]:
    """Metrics of the registry whose smallest and largest value are known; the sum of WEAT's grows with the lists."""
    defaults = {
        name: {option: entry.default for option, entry in metric.options.items()} for name, metric in METRICS.items()
    }
    return [
        name
        for name, metric in METRICS.items()
        if name != "weat" and np.isfinite(metric.bounds([2, 2], defaults[name])).all()
    ]


def _found_sets(kv: KeyedVectors, query: Query, how: Lookup, paired: bool) -> tuple[FoundSets, tuple[str, ...]]:
    """The sets with the words that the embedding holds, and sentences on the others."""
    looked = look_up(kv, query, how, paired)
    return looked, _checked(looked)


def _checked(sets: FoundSets) -> tuple[str, ...]:
    notes = []
    for entry in sets.entries:
        if not entry["found"]:
            raise InputError(
                f"the embedding holds none of the {entry['asked']} words of {entry['set']!r}: choose other words"
            )
        if lost := entry["missing"]:
            notes.append(f"{len(lost)} of {entry['asked']} words of {entry['set']} are missing: {listed(lost)}.")
    if sets.reason is not None:
        raise InputError(f"the embedding holds too little of the query: {sets.reason}")
    return (*notes, *(f"{note}." for note in sets.twin_notes))


def words_of(query: Query, sets: FoundSets) -> dict[str, Any]:
    """The words that were found, by kind and set."""
    return {
        kind: {name: tuple(sets.words[name]) for name in getattr(query, kind)} for kind in ("targets", "attributes")
    }


def _cut(sets: Sets, lengths: tuple[int, ...]) -> Sets:
    return tuple(vectors[:length] for vectors, length in zip(sets, lengths, strict=True))


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
        for i, order in enumerate(orders or ()):
            rank[i] = longest
            rank[i, order] = np.arange(len(order))
        inside: np.ndarray = rank[self.lists, self.places] < np.asarray(lengths)[self.lists]
        return inside


@dataclass(frozen=True)
class _Fit:
    """What every fit has in common: model, engine, places of the two connections' names, interval, draws and seed."""

    spec: ModelSpec
    engine: Engine
    contrast: tuple[str, str]
    prob: float
    draws: int
    seed: int

    def estimate(self, data: Distances) -> tuple[float, float, float]:
        """Posterior mean of the contrast and its interval; NaN where a connection has no distance."""
        names = data.connections.tolist()
        if not set(self.contrast) <= set(names):
            return np.nan, np.nan, np.nan
        drawn = self.engine.sample(self.spec, data, 1, self.draws, np.random.default_rng(self.seed))
        means = drawn.posterior["connection_mean"][0]
        first, second = (means[:, names.index(name)] for name in self.contrast)
        apart = first - second
        low, high = interval_ends(apart, self.prob)
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
    sets, notes = _found_sets(kv, query, how, paired=False)
    words = {kind: {name: sets.words[name] for name in getattr(query, kind)} for kind in VARIED}
    lists = word_lists_of(Query(words["targets"], words["attributes"], name=query.name, language=query.language))
    if isinstance(lists, str):
        raise InputError(f"{lists} Sets named {' and '.join(CONTROLS)} are controls.")
    table = distance_table(kv, lists, case=how.case, relatedness=False, twins=how.twins)
    data = Distances.read(table, check=False)
    spec = used["model"] if isinstance(used["model"], ModelSpec) else load_model(used["model"])
    engine = choose_engine(spec, "auto")
    if engine.name == "nuts":
        raise InputError(f"the model {spec.name!r} needs NUTS, which is too slow for thousands of fits: choose another")
    spec, data = family_of(spec).prepared(spec, data)
    contrast = contrasted(used["first"], used["second"], data.connections.tolist())
    fit = _Fit(
        spec,
        engine,
        contrast,
        probability(used["prob"], "prob"),
        whole_number(used["draws"], "draws", least=100),
        whole_number(used["seed"], "seed", least=0, most=None),
    )
    rows = {
        "targets": _crossed_rows(data.protected_words[data.word], data.groups[data.word], lists.protected),
        "attributes": _crossed_rows(
            data.attribute_words[data.attribute], data.attribute_class, {**lists.stereotypes, **lists.controls}
        ),
    }

    def follow(vary: Varied, lengths: Lengths, growth: Growth) -> Followed:
        fixed = "attributes" if vary == "targets" else "targets"
        return _followed(fit, data, rows[vary], rows[fixed].first(getattr(lengths, fixed)), growth)

    return Subject(
        metric=" - ".join(contrast) + ("" if spec.name == NAME else f" ({spec.name})"),
        **words_of(query, sets),
        bounds=(-LARGEST, LARGEST),
        zero=0.0,
        optimum=0.0,
        follow=follow,
        notes=(*notes, *data.notes),
    )


def _followed(fit: _Fit, data: Distances, varied: _Rows, kept: np.ndarray, growth: Growth) -> Followed:
    """The estimates (runs, sizes) of a contrast while lists grow; ``kept`` are the rows of the other lists."""
    runs, sizes = len(growth.places[0]), len(growth.lengths)
    values: FloatArray = np.empty((runs, sizes, 3))
    with warnings.catch_warnings(record=True) as caught, progress("fitting the model", runs * sizes) as done:
        warnings.simplefilter("always")
        for run in range(runs):
            orders = [places[run] for places in growth.places]
            for i, lengths in enumerate(growth.lengths):
                rows = kept & varied.first(lengths, orders)
                values[run, i] = fit.estimate(data.part(rows))
                done(run * sizes + i + 1)
    notes = (f"{len(caught):,} of {runs * sizes:,} fits needed NUTS.",) if caught else ()
    return Followed(values[:, :, 0], values[:, :, 1], values[:, :, 2], notes)


def _crossed_rows(words: np.ndarray, labels: np.ndarray, lists: Mapping[str, Sequence[str]]) -> _Rows:
    """Where the words of rows stand in their lists."""
    place = {
        (name, word): (index, i) for index, (name, listed) in enumerate(lists.items()) for i, word in enumerate(listed)
    }
    indices = np.array([place[key] for key in zip(labels.tolist(), words.tolist(), strict=True)], dtype=np.intp)
    return _Rows(indices[:, 0], indices[:, 1], len(lists))


STEPS = {"targets": 2, "attributes": 6}
"""Words over all lists by which they grow, as in the published study."""

type AnyMetric = str | tuple[str, Mapping[str, Any]]


def silhouette(
    kv: Embedding,
    query: AnyQuery,
    metric: AnyMetric,
    vary: Varied = "targets",
    runs: int = 100,
    step: int | None = None,
    sizes: Literal["trimmed", "saturate", "proportional"] = "trimmed",
    seed: int = 0,
    compat: Literal["published"] | None = None,
    case: Case = "as-is",
    twins: Twins = "once",
) -> Silhouette:
    """The values of a metric while its word lists grow in random order: how much depends on which words are there.

    Parameters
    ----------
    kv
        The embedding, or what :func:`load_embedding` takes.
    query
        Target and attribute sets, or what :func:`metric` takes.
    metric
        ``"weat_effect_size"`` (or ``"weat"``, as the study calls it), ``"ect"`` or ``"rnsb"``: all sizes of a run in
        one pass. RNSB is that of the study: the divergence from the uniform of the probabilities of the groups' mean
        vectors, in [0, ln groups]. Or another metric of :func:`list_metrics` whose smallest and largest value are
        known, as a name or a pair of a name and its options.

        Or ``"crossed"``: the posterior mean of a contrast with its intervals, fitted anew at every size. Target sets
        are groups and attribute sets their stereotypes, in order; sets named ``human`` and ``neutral`` are controls.
        Options: ``model``, ``first`` and ``second`` connection, ``prob``, ``draws`` and ``seed`` of each fit.
    vary
        Which lists grow; the others stay full. Pairs of target words grow as pairs.
    runs
        How many random orders.
    step
        Words over all lists by which they grow: 2 for targets and 6 for attributes, as in the study.
    sizes
        ``"trimmed"`` first cuts all lists of a kind to the shortest of them; ``"saturate"`` grows each by as many words
        until it is used up; ``"proportional"`` grows each by the same share.
    seed
        Seed of the orders; each list has its own permutations.
    compat
        ``"published"`` shuffles every list with the run's number as seed, and takes [0, 1] for the range of RNSB.
    case
        As in :func:`distance_table`.
    twins
        As in :func:`metric`: words of one set that have one vector count once; with ``"keep"`` and with
        ``compat="published"`` all count.

    Returns
    -------
    Silhouette
        Words that the embedding lacks are left out first; ``notes`` names them.

    References
    ----------
    Spliethöver, M. and Wachsmuth, H. (2021). Bias silhouette analysis. IJCAI. https://doi.org/10.24963/ijcai.2021/77

    Examples
    --------
    >>> found = bb.silhouettes.silhouette("google-news-slice", "weat1", "weat", runs=10)
    >>> type(found).__name__
    'Silhouette'
    """
    one_of(vary, VARIED, "vary")
    by_name_or_none(compat, ["published"], "compat")
    runs, seed = whole_number(runs, "runs"), whole_number(seed, "seed", least=0, most=None)

    def in_random_order(grown: Mapping[str, Sequence[str]], together: bool) -> tuple[IntArray, ...]:
        return shuffled([len(words) for words in grown.values()], runs, seed, compat == "published", together)

    return _silhouette_in(in_random_order, kv, query, metric, vary, step, sizes, compat, case, twins)


def _silhouette_in(
    order: Callable[[Mapping[str, Sequence[str]], bool], tuple[IntArray, ...]],
    kv: Embedding,
    query: AnyQuery,
    metric: AnyMetric,
    vary: Varied,
    step: int | None = None,
    sizes: Literal["trimmed", "saturate", "proportional"] = "trimmed",
    compat: Literal["published"] | None = None,
    case: Case = "as-is",
    twins: Twins = "once",
) -> Silhouette:
    """:func:`silhouette` in given orders.

    ``order`` takes the lists that grow, and whether all have one order, and returns places (runs, words) of each.
    """
    one_of(sizes, SIZES, "sizes")
    step = STEPS[vary] if step is None else whole_number(step, "step")
    one_of(twins, TWINS, "twins")
    how = Lookup(max_missing=1.0, case=case, twins="keep" if compat == "published" else twins)
    vectors = opened(kv)
    subject = _subject(metric, vectors, as_query(query), how)
    lengths = _lengths(subject, sizes)
    lists = getattr(subject, vary)
    grown = {name: words[:most] for (name, words), most in zip(lists.items(), getattr(lengths, vary), strict=True)}
    together = subject.paired and vary == "targets"
    growth = Growth(order(grown, together), lengths_of([len(words) for words in grown.values()], step, sizes))
    followed = subject.follow(vary, lengths, growth)
    notes = [*subject.notes, *followed.notes]
    values = followed.values  # noqa: PD011
    if missing := int(np.isnan(values).sum()):
        notes.append(f"{missing:,} of {values.size:,} values are missing: there the metric does not vary.")
    return Silhouette(
        metric=subject.metric,
        vary=vary,
        sizes=growth.totals,
        values=followed.values,
        bounds=subject.published if compat == "published" and subject.published else subject.bounds,
        zero=subject.zero,
        embedding=str(about(vectors)["name"]),
        notes=tuple(notes),
        optimum=subject.optimum,
        low=followed.low,
        high=followed.high,
    )


def _subject(metric: AnyMetric, kv: KeyedVectors, query: Query, how: Lookup) -> Subject:
    name, options = metric if isinstance(metric, tuple) and len(metric) == 2 else (metric, {})
    name = "weat_effect_size" if isinstance(name, str) and name == "weat" else name
    valid = [*CURVES, *(other for other in _with_range() if other not in CURVES), studies.NAME]
    if not isinstance(name, str) or not isinstance(options, Mapping):
        raise InputError(
            f"metric is {shown(metric)}: give a name ({', '.join(valid)}), or a pair of a name and its options"
        )
    if name == studies.NAME:
        return studies.contrast_subject(options, kv, query, how)
    if name in CURVES and not options:
        return _study_subject(name, kv, query, how)
    if name in CURVES:
        raise InputError(f"{name} takes no options here, given are {', '.join(options)}: give its name alone")
    return _registered_subject(name, options, kv, query, how)


def _lengths(subject: Subject, sizes: str) -> Lengths:
    """How many words of each list are used at most."""
    every = [tuple(len(words) for words in sets.values()) for sets in (subject.targets, subject.attributes)]
    if sizes == "trimmed":
        every = [(min(lengths),) * len(lengths) for lengths in every]
    return Lengths(*every)


STUDIED = ("ect", "rnsb", "weat_effect_size")
COLUMNS = ["query", "vary", "metric", "model", "words", "robustness", "accuracy", "separation", "coverage"]


def silhouette_study(
    kvs: Mapping[str, Embedding],
    queries: Mapping[str, AnyQuery],
    metrics: Sequence[AnyMetric] | Mapping[str, AnyMetric] = STUDIED,
    runs: int = 100,
    sizes: Literal["trimmed", "saturate", "proportional"] = "trimmed",
    seed: int = 0,
    compat: Literal["published"] | None = None,
    twins: Twins = "once",
) -> pd.DataFrame:
    """Robustness of every metric in every model, and accuracy of telling the first model from the second.

    Parameters
    ----------
    kvs
        Names to embeddings; the first is held to be biased, the second not. Words that one of them lacks are left out
        for all.
    queries
        Names to queries (or what :func:`metric` takes for one) of two target and two attribute sets; a metric of one
        attribute set gets one of words of both in turn.
    metrics, runs, sizes, seed, compat
        As in :func:`silhouette`, and in :func:`silhouette_accuracy`.
    twins
        Words of one set that have one vector in one of the models count once in all; with ``"keep"`` and with
        ``compat="published"`` all count.

    Returns
    -------
    DataFrame
        Columns ``query``, ``vary``, ``metric``, ``model``, ``words`` (over all lists that grow), ``robustness``,
        ``accuracy`` and ``separation`` (:func:`silhouette_separation`) of the pair of models, NaN unless there are two,
        and ``coverage``: for a metric with intervals, the share that hold the value with all words, over all sizes but
        the last. ``attrs["notes"]`` says what was left out.

    References
    ----------
    Spliethöver, M. and Wachsmuth, H. (2021). Bias silhouette analysis. IJCAI. https://doi.org/10.24963/ijcai.2021/77

    Examples
    --------
    >>> kvs = {"news": bb.load_embedding("google-news-slice")}
    >>> found = bb.silhouettes.silhouette_study(kvs, {"weat1": "weat1"}, ["ect"], runs=5)
    >>> type(found).__name__
    'DataFrame'
    """
    parts, notes = follow_study(kvs, queries, metrics, runs, None, sizes, seed, compat, twins=twins)
    table = scores_of(parts, compat)
    table.attrs["notes"] = notes
    return table


@dataclass(frozen=True)
class StudyPart:
    """Silhouettes (model to silhouette) of a query and metric with one kind of list growing."""

    query: str
    vary: str
    metric: str
    silhouettes: dict[str, Silhouette]


def follow_study(
    kvs: Mapping[str, Embedding],
    queries: Mapping[str, AnyQuery],
    metrics: Sequence[AnyMetric] | Mapping[str, AnyMetric],
    runs: int,
    step: int | None,
    sizes: Literal["trimmed", "saturate", "proportional"],
    seed: int,
    compat: Literal["published"] | None,
    varied: Sequence[Varied] = VARIED,
    twins: Twins = "once",
) -> tuple[list[StudyPart], list[str]]:
    """The silhouettes of a study, query by query and metric by metric, and sentences on what was left out."""
    if not isinstance(kvs, Mapping) or not kvs or not isinstance(queries, Mapping) or not queries:
        raise InputError("a study needs kvs and queries: give a mapping of names to each")
    by_name_or_none(compat, ["published"], "compat")
    once = one_of(twins, TWINS, "twins") == "once" and compat is None
    asked_for = {label: as_query(query) for label, query in queries.items()}
    models = {name: opened(kv) for name, kv in kvs.items()}
    chosen = named_metrics(metrics)
    parts: list[StudyPart] = []
    notes: list[str] = []
    with progress("following metrics", len(queries) * len(chosen) * len(varied) * len(models)) as done:
        for label, sets in asked_for.items():
            shared, left = _in_all(sets, models, once)
            notes += [f"{label}: {note}" for note in left]
            for metric, name, options in chosen:
                fitting = _joined(shared) if _takes_one(name) else shared
                for vary in varied:
                    silhouettes: dict[str, Silhouette] = {}
                    for model, kv in models.items():
                        how = {"sizes": sizes, "seed": seed, "compat": compat, "twins": twins}
                        result = silhouette(kv, fitting, (name, options), vary, runs, step, **how)  # type: ignore[arg-type]
                        silhouettes[model] = result
                        notes += [f"{label}, {metric} in {model}: {note}" for note in result.notes]
                        done(len(parts) * len(models) + len(silhouettes))
                    parts.append(StudyPart(label, vary, metric, silhouettes))
    return parts, notes


def scores_of(parts: Sequence[StudyPart], compat: Literal["published"] | None = None) -> pd.DataFrame:
    """The scores of a study's silhouettes, a row for each and model."""
    rows = [(part.query, part.vary, part.metric, *row) for part in parts for row in _rows(part.silhouettes, compat)]
    return pd.DataFrame(rows, columns=COLUMNS)


def values_of(parts: Sequence[StudyPart]) -> pd.DataFrame:
    """One row a value: query, metric, kind of list, embedding, run, words, value and its interval."""
    tables = []
    for part in parts:
        for name, result in part.silhouettes.items():
            labels = {"query": part.query, "metric": part.metric, "vary": part.vary, "embedding": name}
            rows = result.frame()
            tables.append(pd.DataFrame(labels, index=rows.index).join(rows))
    return pd.concat(tables, ignore_index=True)


def _rows(silhouettes: Mapping[str, Silhouette], compat: Literal["published"] | None) -> list[tuple[object, ...]]:
    """Model, words and scores of silhouettes of one metric."""
    pair = list(silhouettes.values())
    both = len(pair) == 2
    accuracy = silhouette_accuracy(pair[0], pair[1], compat) if both else np.nan
    separation = silhouette_separation(pair[0], pair[1]) if both else np.nan
    return [
        (model, int(result.sizes[-1]), result.robustness, accuracy, separation, _covered(result))
        for model, result in silhouettes.items()
    ]


def _covered(silhouette: Silhouette) -> float:
    """Mean coverage over all sizes but the last, which holds its own value."""
    return float(np.mean(silhouette.coverage[:-1])) if len(silhouette.sizes) > 1 else float("nan")


def _takes_one(name: str) -> bool:
    """Whether a metric takes one attribute set only."""
    if name in CURVES:
        return CURVES[name].sets[1] == 1
    return name in METRICS and METRICS[name].attributes[1] == 1


def _in_all(query: Query, models: Mapping[str, KeyedVectors], once: bool) -> tuple[Query, list[str]]:
    """The query's words that all models hold, those of one vector once, and sentences on the others."""
    notes: list[str] = []
    sets: dict[str, dict[str, list[str]]] = {}
    alike = alike_in_some(every_word([query]), models.values()) if once else {}
    for kind in VARIED:
        sets[kind] = {}
        for name, words in getattr(query, kind).items():
            shared, lacking = in_all(words, models.values(), f"words of {name}")
            notes += lacking
            if not shared:
                raise InputError(f"the models share none of the {len(words)} words of {name!r}: choose other words")
            sets[kind][name], again = words_once(shared, alike, name)
            notes += again
    return Query(sets["targets"], sets["attributes"], name=query.name, language=query.language), notes


def _joined(query: Query) -> Query:
    """The query with one attribute set, of words of each in turn, as many of each as the shortest holds."""
    lists = list(query.attributes.values())
    shortest = min(map(len, lists))
    words = [word for word in chain(*zip_longest(*(words[:shortest] for words in lists))) if word is not None]
    joined = {" and ".join(query.attributes): list(dict.fromkeys(words))}
    return Query(query.targets, joined, name=query.name, language=query.language)
