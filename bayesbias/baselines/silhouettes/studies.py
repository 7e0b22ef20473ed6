"""``silhouette`` and ``silhouette_study``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product, zip_longest
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit, xlogy

from bayesbias._support.arguments import by_name_or_none, mapping, one_of, probability, whole_number
from bayesbias._support.progress import progress
from bayesbias.baselines.silhouettes.results import (
    SIZES,
    Silhouette,
    Sizes,
    lengths_of,
    shuffled,
    silhouette_accuracy,
    silhouette_separation,
)
from bayesbias.checks.summaries import PROB, contrasted, interval_ends
from bayesbias.distances import distance_table
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError
from bayesbias.metrics import Query
from bayesbias.metrics.batch import (
    AnyMetric,
    AnyQuery,
    OneMetric,
    as_query,
    checked_options,
    metric_and_options,
    named_metrics,
    prepared,
    untested,
)
from bayesbias.metrics.catalogue import METRICS, find_metric
from bayesbias.metrics.definition import count_of
from bayesbias.metrics.queries import every_word, word_lists_of
from bayesbias.metrics.query_words import FoundSets, Lookup, look_up
from bayesbias.models import load_model
from bayesbias.models.families import family_of
from bayesbias.models.fits import choose_engine
from bayesbias.models.spec import ModelSpec
from bayesbias.numerics.arrays import IntArray, fit_in_rows
from bayesbias.results import Note
from bayesbias.vectors import TWINS, Case, Embedding, Twins, about, opened, opened_by_name
from bayesbias.vectors.lookup import alike_in_some, in_all, left_out, words_once
from bayesbias.words import CONTROLS

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


type Varied = Literal["targets", "attributes"]
VARIED: tuple[Literal["targets"], Literal["attributes"]] = ("targets", "attributes")


IN_THE_STUDY = {"weat_effect_size": ((-2.0, 2.0), 0.0), "ect": ((-1.0, 1.0), 0.0)}
"""Smallest and largest value whatever the sizes of the sets, and the value from which accuracy counts, also for ECT."""


class Value(NamedTuple):
    """A metric's value on some words, the ends of its interval where it has one, and whether that took NUTS."""

    value: float
    low: float = np.nan
    high: float = np.nan
    by_nuts: bool = False


type Chosen = Mapping[str, IntArray]
"""Set to the places of the words that are used."""


@dataclass(frozen=True)
class Subject:
    """A metric on the words of a query."""

    metric: str
    targets: Mapping[str, tuple[str, ...]]  # set to the words that the embedding holds
    attributes: Mapping[str, tuple[str, ...]]
    bounds: tuple[float, float]  # smallest and largest value
    measure: Callable[[Chosen], Value]
    zero: float = 0.0  # the value at which the study's accuracy begins
    optimum: float = 0.0  # the value of no bias
    published: tuple[float, float] | None = None  # the authors' bounds, where these differ
    paired: bool = False  # whether the words of the target sets are pairs in order
    intervals: float | None = None  # mass of the intervals of values, where they have some
    notes: tuple[Note, ...] = ()  # on words that were left out


def _study_rnsb(kv: KeyedVectors, query: Query, how: Lookup) -> Subject:
    """The study's RNSB: the divergence from the uniform of the probabilities of the groups' mean vectors."""
    _check_shape("rnsb", query, ((2, None), (2, 2)))
    sets = look_up(kv, query, how, paired=False)
    x, first = np.vstack(sets.attributes), len(sets.attributes[0])
    gram, products = x @ x.T, dict(zip(query.targets, (vectors @ x.T for vectors in sets.targets), strict=True))
    fitted, alpha, b = np.empty(0, dtype=np.intp), np.zeros(len(x)), 0.0

    def measure(chosen: Chosen) -> Value:
        nonlocal fitted, alpha, b
        left, right = (chosen[name] for name in query.attributes)
        rows = np.concatenate([left, first + right])
        if not np.array_equal(rows, fitted):
            if len(rows) <= len(fitted):  # a classifier of more words starts from that of fewer
                alpha, b = np.zeros(len(x)), 0.0
            alpha[rows], b = fit_in_rows(gram[np.ix_(rows, rows)], rows < first, (alpha[rows], b))
            fitted = rows
        margins = np.array([products[name][np.ix_(chosen[name], rows)].mean(axis=0) for name in query.targets])
        negative = expit(-(margins @ alpha[rows] + b))
        shares = negative / negative.sum()
        return Value(float(xlogy(shares, shares * len(shares)).sum()))

    return Subject(
        metric="rnsb",
        **_words_of(query, sets),
        bounds=(0.0, float(np.log(len(query.targets)))),
        measure=measure,
        published=(0.0, 1.0),
        notes=_checked(sets),
    )


def _check_shape(name: str, query: Query, sets: Sequence[tuple[int, int | None]]) -> None:
    """Refuse a query of other numbers of sets than a metric takes."""
    if not all(least <= count <= (most or count) for (least, most), count in zip(sets, query.template, strict=True)):
        targets, attributes = map(count_of, sets)
        raise InputError(
            f"{name} takes {targets} target and {attributes} attribute sets; the query {query.name!r} has "
            f"{query.template[0]} and {query.template[1]}: take one of query.subqueries({sets[0][0]}, {sets[1][0]})"
        )


def _registered_subject(
    chosen: OneMetric, options: Mapping[str, Any], kv: KeyedVectors, query: Query, how: Lookup
) -> Subject:
    """A metric of the registry, measured anew at every size."""
    metric = find_metric(chosen)
    name = metric.name
    _check_shape(name, query, (metric.targets, metric.attributes))
    subject_options = untested(checked_options(metric, options))
    ready = prepared(metric, kv, query, subject_options, how).with_neighbours()
    notes = _checked(ready.found)
    usual = metric.range([len(vectors) for vectors in ready.found.targets], subject_options), metric.optimum
    bounds, zero = IN_THE_STUDY.get(chosen, usual) if isinstance(chosen, str) else usual
    if not np.isfinite(bounds).all():
        raise InputError(
            f"{name} has no smallest and largest value, which the scores of a silhouette need: those of "
            f"{', '.join(_with_range())} are known, that of rnd with ('rnd', {{'distance': 'cos'}})"
        )

    return Subject(
        metric=name,
        **_words_of(query, ready.found),
        bounds=bounds,
        measure=lambda chosen: Value(ready.resampled(chosen).value),
        zero=zero,
        optimum=metric.optimum,
        paired=metric.paired,
        notes=notes,
    )


def _with_range() -> list[str]:
    """Metrics of the registry whose smallest and largest value are known; the sum of WEAT's grows with the lists."""
    bounds = {
        name: metric.range([2, 2], {option: entry.default for option, entry in metric.options.items()})
        for name, metric in METRICS.items()
        if name != "weat"
    }
    return [name for name, ends in bounds.items() if np.isfinite(ends).all()]


def _checked(sets: FoundSets) -> tuple[Note, ...]:
    """Notes on the words that the embedding lacks; refuses sets without a word."""
    notes = []
    for entry in sets.entries:
        asked, found, kind, missing = (entry[name] for name in ("asked", "found", "set", "missing"))
        if not found:
            raise InputError(f"the embedding holds none of the {asked} words of {kind!r}: choose other words")
        if missing:
            notes.append(Note("coverage", found=found, asked=asked, kind=kind, words=missing))
    if sets.reason is not None:
        raise InputError(f"the embedding holds too little of the query: {sets.reason}")
    return (*notes, *sets.twin_notes)


def _words_of(query: Query, sets: FoundSets) -> dict[str, Any]:
    """The words that were found, by kind and set."""
    return {kind: {name: tuple(sets.words[name]) for name in getattr(query, kind)} for kind in VARIED}


NAME = "crossed"
OPTIONS = {"model": NAME, "first": "associated", "second": None, "prob": PROB, "draws": 1000, "seed": 0}
LARGEST = 2.0
"""Of a difference of two mean cosine distances."""


def _contrast_subject(options: Mapping[str, Any], kv: KeyedVectors, query: Query, how: Lookup) -> Subject:
    """The posterior mean of a contrast of two connections, with its interval.

    The target sets are the groups, and the attribute sets their stereotypes in the same order; sets named ``human`` and
    ``neutral`` are controls. Options: ``model``, ``first`` and ``second`` (connections), ``prob``, ``draws`` and
    ``seed`` of each fit, the same seed for all.
    """
    if unknown := [name for name in options if name not in OPTIONS]:
        raise InputError(f"{NAME} has no option {unknown[0]!r}: it takes {', '.join(OPTIONS)}")
    subject_options: dict[str, Any] = OPTIONS | dict(options)
    sets = look_up(kv, query, how, paired=False)
    notes, words = _checked(sets), _words_of(query, sets)
    lists = word_lists_of(Query(**words, name=query.name, language=query.language))
    if isinstance(lists, str):
        raise InputError(f"{lists} Sets named {' and '.join(CONTROLS)} are controls.")
    table = distance_table(kv, lists, case=how.case, relatedness=False, twins=how.twins)
    data = Distances.read(table, check=False)
    spec = (
        subject_options["model"]
        if isinstance(subject_options["model"], ModelSpec)
        else load_model(subject_options["model"])
    )
    engine = choose_engine(spec, "auto")
    if not engine.independent:
        raise InputError(f"the model {spec.name!r} needs NUTS, too slow for thousands of fits: choose another")
    spec, data = family_of(spec).prepared(spec, data)
    contrast = contrasted(subject_options["first"], subject_options["second"], data.connections.tolist())
    prob, draws = (
        probability(subject_options["prob"], "prob"),
        whole_number(subject_options["draws"], "draws", least=100),
    )
    seed = whole_number(subject_options["seed"], "seed", least=0, most=None)
    own = (name for name in query.attributes if name not in CONTROLS)
    stereotypes = dict(zip(own, lists.stereotypes.items(), strict=True))
    attributes = data.attribute_words[data.attribute]
    attribute_rows = {
        name: _places(attributes, data.attribute_class, *stereotypes.get(name, (name, listed)))
        for name, listed in words["attributes"].items()
    }
    protected, groups = data.protected_words[data.word], data.groups[data.word]
    target_rows = {name: _places(protected, groups, name, listed) for name, listed in lists.protected.items()}

    def measure(chosen: Chosen) -> Value:
        """NaN where a connection has no distance."""
        of_targets, of_attributes = (
            np.any([np.isin(places, chosen[name]) for name, places in rows.items()], axis=0)
            for rows in (target_rows, attribute_rows)
        )
        part = data.part(of_targets & of_attributes)
        names = part.connections.tolist()
        if not set(contrast) <= set(names):
            return Value(np.nan)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            drawn = engine.sample(spec, part, 1, draws, np.random.default_rng(seed))
        means = drawn.posterior["connection_mean"][0]
        first, second = (means[:, names.index(name)] for name in contrast)
        low, high = interval_ends(first - second, prob)
        return Value(float((first - second).mean()), float(low), float(high), bool(caught))

    return Subject(
        metric=" - ".join(contrast) + ("" if spec.name == NAME else f" ({spec.name})"),
        **words,
        bounds=(-LARGEST, LARGEST),
        measure=measure,
        intervals=prob,
        notes=(*notes, *data.notes),
    )


def _places(words: np.ndarray, labels: np.ndarray, name: str, listed: Sequence[str]) -> IntArray:
    """Place in a list of the word of each row of a table; -1 for rows of other lists."""
    place = {(name, word): i for i, word in enumerate(listed)}
    return np.array([place.get(key, -1) for key in zip(labels.tolist(), words.tolist(), strict=True)], dtype=np.intp)


STEPS = {"targets": 2, "attributes": 6}
"""Words over all lists by which they grow, as in the published study."""


def silhouette(
    kv: Embedding,
    query: AnyQuery,
    metric: AnyMetric,
    vary: Varied = "targets",
    runs: int = 100,
    step: int | None = None,
    sizes: Sizes = "trimmed",
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
        ``"weat_effect_size"`` (or ``"weat"``, as the study calls it), ``"ect"`` or ``"rnsb"``; RNSB is that of the
        study: the divergence from the uniform of the probabilities of the groups' mean vectors, in [0, ln groups]. Or
        another metric, as :func:`metric` takes it, whose smallest and largest value are known, or a pair of it and its
        options.

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
        until it is used up.
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
    sizes: Sizes = "trimmed",
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
    parsed = as_query(query)
    vectors = opened(kv, every_word([parsed]), case, parsed.language)
    subject = _subject(metric, vectors, parsed, how)
    kinds = {kind: {name: len(words) for name, words in getattr(subject, kind).items()} for kind in VARIED}
    if sizes == "trimmed":
        kinds = {kind: dict.fromkeys(most, min(most.values())) for kind, most in kinds.items()}
    every = {name: np.arange(length) for most in kinds.values() for name, length in most.items()}
    grown = {name: getattr(subject, vary)[name][:length] for name, length in kinds[vary].items()}
    orders = order(grown, subject.paired and vary == "targets")
    lengths = lengths_of(list(kinds[vary].values()), step)
    runs = len(orders[0])
    values = np.empty((runs, len(lengths), len(Value._fields)))
    with progress("measuring", runs * len(lengths)) as done:
        for run, i in np.ndindex(runs, len(lengths)):
            parts = zip(grown, orders, lengths[i], strict=True)
            values[run, i] = subject.measure(every | {name: places[run, :length] for name, places, length in parts})
            done(run * len(lengths) + i + 1)
    value, low, high, by_nuts = np.moveaxis(values, 2, 0)
    notes = list(subject.notes)
    if by_nuts.any():
        notes.append(Note("model", model=subject.metric, reason=f"NUTS in {int(by_nuts.sum())} of {by_nuts.size} fits"))
    name = str(about(vectors)["name"])
    kind = f"values of {subject.metric} in {name}"
    notes += left_out(int(np.isnan(value).sum()), value.size, kind, "no variation")
    return Silhouette(
        metric=subject.metric,
        vary=vary,
        sizes=lengths.sum(axis=1),
        values=value,
        bounds=subject.published if compat == "published" and subject.published else subject.bounds,
        zero=subject.zero,
        embedding=name,
        notes=tuple(notes),
        optimum=subject.optimum,
        low=None if subject.intervals is None else low,
        high=None if subject.intervals is None else high,
        prob=subject.intervals or PROB,
    )


def _subject(metric: AnyMetric, kv: KeyedVectors, query: Query, how: Lookup) -> Subject:
    chosen, options = metric_and_options(metric)
    if chosen == NAME:
        return _contrast_subject(options, kv, query, how)
    chosen = "weat_effect_size" if chosen == "weat" else chosen
    if chosen in STUDIED and options:
        raise InputError(f"{chosen} takes no options here, given are {', '.join(options)}: give its name alone")
    if chosen == "rnsb":
        return _study_rnsb(kv, query, how)
    return _registered_subject(chosen, options, kv, query, how)


STUDIED = ("ect", "rnsb", "weat_effect_size")
SCORES = ["robustness", "accuracy", "oriented_accuracy", "separation", "coverage"]
COLUMNS = ["query", "vary", "metric", "model", "words", *SCORES]


def silhouette_study(
    kvs: Mapping[str, Embedding],
    queries: Mapping[str, AnyQuery],
    metrics: Sequence[AnyMetric] | Mapping[str, AnyMetric] = STUDIED,
    runs: int = 100,
    sizes: Sizes = "trimmed",
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
        ``accuracy`` and ``separation`` (:func:`silhouette_separation`) of the pair of models, NaN unless there are two;
        ``oriented_accuracy``, that of ``optimum - value`` (:meth:`Silhouette.oriented`) for a metric whose value of no
        bias is not 0: ECT is 1 then, so that models that it ranks rightly have an accuracy below .5;
        and ``coverage``: for a metric with intervals, the share that hold the value with all words, over all sizes but
        the last. ``attrs["notes"]`` says what was left out.

    Examples
    --------
    >>> kvs = {"news": bb.load_embedding("google-news-slice")}
    >>> found = bb.silhouettes.silhouette_study(kvs, {"weat1": "weat1"}, ["ect"], runs=5)
    >>> type(found).__name__
    'DataFrame'
    """
    by_name_or_none(compat, ["published"], "compat")
    once = one_of(twins, TWINS, "twins") == "once" and compat is None
    asked_for = {label: as_query(query) for label, query in mapping(queries, "queries", "queries").items()}
    models = opened_by_name(mapping(kvs, "kvs", "embeddings"), every_word(asked_for.values()))
    chosen = named_metrics(metrics)
    rows: list[tuple[Any, ...]] = []
    notes: dict[Note, None] = {}
    with progress("following metrics", len(queries) * len(chosen) * len(VARIED)) as done:
        for number, (label, sets) in enumerate(asked_for.items()):
            shared, left = _in_all(sets, models, once, label)
            notes |= dict.fromkeys(left)
            for place, ((metric, one, options), vary) in enumerate(product(chosen, VARIED)):
                takes_one = one != NAME and find_metric(one).attributes[1] == 1
                fitting = _joined(shared) if takes_one else shared
                found = {
                    model: silhouette(kv, fitting, (one, options), vary, runs, None, sizes, seed, compat, twins=twins)
                    for model, kv in models.items()
                }
                notes |= dict.fromkeys(note for each in found.values() for note in each.notes)
                rows += [(label, vary, metric, *scores) for scores in _scores(found, compat)]
                done(number * len(chosen) * len(VARIED) + place + 1)
    table = pd.DataFrame(rows, columns=COLUMNS)
    table.attrs["notes"] = tuple(notes)
    return table


def _scores(found: Mapping[str, Silhouette], compat: Literal["published"] | None) -> Iterator[tuple[Any, ...]]:
    """The scores of the silhouettes of each model."""
    pair = list(found.values())
    both = len(pair) == 2
    accuracy = silhouette_accuracy(pair[0], pair[1], compat) if both else np.nan
    turned = both and pair[0].optimum != 0
    oriented = silhouette_accuracy(pair[0].oriented(), pair[1].oriented()) if turned else np.nan
    separation = silhouette_separation(pair[0], pair[1]) if both else np.nan
    for model, curves in found.items():
        # the last size holds its own value
        covered = float(np.mean(curves.coverage[:-1])) if len(curves.sizes) > 1 else np.nan
        yield model, int(curves.sizes[-1]), curves.robustness, accuracy, oriented, separation, covered


def _in_all(query: Query, models: Mapping[str, KeyedVectors], once: bool, label: str) -> tuple[Query, list[Note]]:
    """The query's words that all models hold, those of one vector once, and notes on the others."""
    notes: list[Note] = []
    sets: dict[str, dict[str, list[str]]] = {}
    alike = alike_in_some(every_word([query]), models.values()) if once else {}
    for kind in VARIED:
        sets[kind] = {}
        for name, words in getattr(query, kind).items():
            shared, lacking = in_all(words, models.values(), f"words of {name} in {label}")
            notes += lacking
            if not shared:
                raise InputError(f"the models share none of the {len(words)} words of {name!r}: choose other words")
            sets[kind][name], again = words_once(shared, alike, f"{name} in {label}")
            notes += again
    return Query(sets["targets"], sets["attributes"], name=query.name, language=query.language), notes


def _joined(query: Query) -> Query:
    """The query with one attribute set, of words of each in turn, as many of each as the shortest holds."""
    lists = list(query.attributes.values())
    shortest = min(map(len, lists))
    words = [word for word in chain(*zip_longest(*(words[:shortest] for words in lists))) if word is not None]
    joined = {" and ".join(query.attributes): list(dict.fromkeys(words))}
    return Query(query.targets, joined, name=query.name, language=query.language)
