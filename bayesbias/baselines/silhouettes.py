"""Bias silhouettes: the behaviour of a metric when words are missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, ndtri, xlogy

from bayesbias._support.arguments import by_name_or_none, mapping, one_of, probability, whole_number
from bayesbias._support.progress import progress
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
from bayesbias.metrics.catalogue import METRICS
from bayesbias.metrics.queries import FoundSets, Lookup, every_word, look_up
from bayesbias.models import load_model
from bayesbias.models.families import family_of
from bayesbias.models.fits import ENGINES, engines_for
from bayesbias.models.spec import ModelSpec
from bayesbias.models.tree import INDEPENDENT
from bayesbias.numerics.arrays import FloatArray, IntArray, fit_in_rows
from bayesbias.results import Cited, Note, Result
from bayesbias.vectors import TWINS, Case, Embedding, Twins, about, opened, opened_by_name
from bayesbias.vectors.lookup import alike_in_some, in_all, left_out, words_once
from bayesbias.words import CONTROLS

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

__all__ = [
    "Silhouette",
    "silhouette",
    "silhouette_accuracy",
    "silhouette_separation",
    "silhouette_study",
    "silhouette_uncertainty",
]

type Varied = Literal["targets", "attributes"]
type Sizes = Literal["trimmed", "saturate"]
type Chosen = Mapping[str, IntArray]
"""Set to the places of the words that are used."""
type Words = dict[str, dict[str, tuple[str, ...]]]
"""Kind of sets to the words of each."""
VARIED: tuple[Literal["targets"], Literal["attributes"]] = ("targets", "attributes")
STEPS = {"targets": 2, "attributes": 6}
"""Words over all lists by which they grow, as in the published study."""
IN_THE_STUDY = {"weat_effect_size": ((-2.0, 2.0), 0.0), "ect": ((-1.0, 1.0), 0.0)}
"""Smallest and largest value whatever the sizes of the sets, and the value from which accuracy counts, also for ECT."""
NAME = "crossed"
MOST_SIZES, FEWEST_RUNS = 10, 10
"""Sizes that are printed, and runs from which scores have an uncertainty."""
COVERED = {"robustness": 0.77, "accuracy": 0.875, "separation": 0.958}
"""Smallest share of 89% intervals (by halves of 100 runs) that held the score's mean over other runs, as found."""
SCORES = ["robustness", "accuracy", "oriented_accuracy", "separation", "coverage"]


@dataclass(frozen=True, repr=False, eq=False)
class Silhouette(Result):
    """Values of a metric on random parts of its word lists: what :func:`silhouette` returns.

    Attributes
    ----------
    metric, vary, embedding
        The metric, which lists grow (``"targets"`` or ``"attributes"``), and what it was measured in.
    sizes
        (sizes,): words used, over all lists that grow.
    values, low, high
        (runs, sizes): NaN where the metric has no value, and the ends of their intervals of mass ``prob``; None for a
        metric without.
    bounds, zero, optimum
        The metric's smallest and largest value, the value from which accuracy counts, and that of no bias.
    """

    picture: ClassVar[str] = "plot_silhouette"

    metric: str
    vary: str
    sizes: IntArray
    values: FloatArray
    bounds: tuple[float, float]
    zero: float = 0.0
    embedding: str = "unnamed"
    notes: tuple[Note, ...] = ()
    optimum: float = 0.0
    low: FloatArray | None = None
    high: FloatArray | None = None
    prob: float = PROB

    @property
    def robustness(self) -> float:
        """1 less the silhouette's area over that of all values, in [0, 1]; NaN with one size or a missing value."""
        low, high = self.bounds
        return 1 - self._area(np.ptp(self.values, axis=0)) / ((high - low) * int(self.sizes[-1]))

    @property
    def coverage(self) -> FloatArray:
        """Share of the runs whose interval holds the value with all words, (sizes,); NaN for a metric without."""
        if self.low is None or self.high is None:
            return np.full(len(self.sizes), np.nan)
        full = self.values[:, -1].mean()
        return ((self.low <= full) & (full <= self.high)).mean(axis=0)

    def oriented(self) -> Silhouette:
        """The same of optimum - value, for a metric whose value of no bias is not 0 (1 - ECT): there 0 is no bias."""
        low, high = self.bounds
        return replace(
            self,
            metric=f"{self.optimum:g} - {self.metric}",
            values=self.optimum - self.values,
            bounds=(self.optimum - high, self.optimum - low),
            zero=0.0,
            optimum=0.0,
            low=None if self.high is None else self.optimum - self.high,
            high=None if self.low is None else self.optimum - self.low,
        )

    def _area(self, curve: NDArray[np.floating]) -> float:
        return float(np.trapezoid(curve, self.sizes)) if len(self.sizes) > 1 else float("nan")

    def caption(self) -> str:
        """Subject and unit of the numbers."""
        return f"Silhouette of {self.metric}, growing {self.vary}: values by number of words"

    def header(self) -> dict[str, object]:
        """Facts of what was measured."""
        runs, sizes = self.values.shape
        low, high = (f"{bound:.3g}" for bound in self.bounds)
        facts = {"embedding": self.embedding, "runs": runs, "sizes": sizes, "range": f"{low} to {high}"}
        return {**facts, "no bias": self.optimum, "robustness": self.robustness}

    def sources(self) -> tuple[Any, ...]:
        """The metric and the embedding."""
        return Cited(f"metric {self.metric}"), Cited(f"embedding {self.embedding}")

    def table(self) -> pd.DataFrame:
        """One row a value: ``run``, ``words``, ``value``, and for a metric with intervals ``low`` and ``high``."""
        runs, sizes = self.values.shape
        table = pd.DataFrame({"run": np.repeat(np.arange(runs), sizes), "words": np.tile(self.sizes, runs)})
        ends = {"value": self.values, "low": self.low, "high": self.high}
        return table.assign(**{name: end.ravel() for name, end in ends.items() if end is not None})

    def by_size(self) -> pd.DataFrame:
        """One row a size: ``words``, ``mean_value``, ``smallest``, ``largest``, and ``coverage`` of intervals."""
        values = self.values
        ends = {"smallest": values.min(axis=0), "largest": values.max(axis=0)}
        columns = {"words": self.sizes, "mean_value": values.mean(axis=0), **ends}
        return pd.DataFrame(columns if self.low is None else {**columns, "coverage": self.coverage})

    def summary(self) -> pd.DataFrame:
        """The same of at most ten sizes, the last with all words."""
        places = np.unique(np.linspace(0, len(self.sizes) - 1, MOST_SIZES).round().astype(int))
        return self.by_size().iloc[places].reset_index(drop=True)

    def tables(self) -> dict[str, pd.DataFrame]:
        """:meth:`by_size`, and all values."""
        return {"By number of words": self.by_size(), "All values": self.table()}


def silhouette_accuracy(biased: Silhouette, unbiased: Silhouette, compat: Literal["published"] | None = None) -> float:
    """Accuracy with which a metric tells a biased embedding from an unbiased one: 0.5 is not at all, 1 is perfect.

    The silhouettes are of one metric with the same lists. ``compat="published"`` divides by the whole range where no
    bias is 0, as the authors' program does against their own formula: that halves what the score says beyond 0.5 for
    ECT and WEAT (Spliethöver and Wachsmuth 2021, https://doi.org/10.24963/ijcai.2021/77).

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> debiased = bb.debias(kv, "project", definitional=[("he", "she"), ("man", "woman")])
    >>> biased, unbiased = (bb.silhouettes.silhouette(one, "weat7", "weat", runs=10) for one in (kv, debiased))
    >>> 0 <= bb.silhouettes.silhouette_accuracy(biased, unbiased) <= 1
    True
    """
    by_name_or_none(compat, ["published"], "compat")
    _check_comparable(biased, unbiased)
    low, high = biased.bounds
    range_ = high - low if compat == "published" and biased.zero == 0 else high - biased.zero
    far, near = (np.abs(curves.values.mean(axis=0) - curves.zero) for curves in (biased, unbiased))  # noqa: PD011
    return 0.5 + 0.5 * biased._area(far - near) / (range_ * int(biased.sizes[-1]))


def silhouette_separation(biased: Silhouette, unbiased: Silhouette) -> float:
    """Probability that the biased embedding gets the value further from no bias, whatever the metric's range.

    At each size all runs in the biased embedding are compared with all in the unbiased one; the score is the mean over
    sizes, by the trapezoid rule. 1 tells the two apart from a few words on, 0.5 is guessing.

    Examples
    --------
    >>> weat = bb.silhouettes.silhouette("google-news-slice", "weat7", "weat", runs=10)
    >>> bb.silhouettes.silhouette_separation(weat, weat)
    0.5
    """
    _check_comparable(biased, unbiased)
    far, near = (np.abs(curves.values - curves.optimum).T for curves in (biased, unbiased))  # noqa: PD011
    apart = far[:, :, None] - near[:, None, :]
    share = np.where(np.isnan(apart), np.nan, (np.sign(apart) + 1) / 2).mean(axis=(1, 2))
    if len(share) == 1:
        return float(share[0])
    return biased._area(share) / int(biased.sizes[-1] - biased.sizes[0])


def _check_comparable(biased: Silhouette, unbiased: Silhouette) -> None:
    """Refuse silhouettes of different metrics, lists or sizes."""
    kinds = [(*map(str, (one.metric, one.vary, one.bounds, one.zero)), *one.sizes) for one in (biased, unbiased)]
    if kinds[0] != kinds[1]:
        raise InputError(
            f"these are silhouettes of {biased.metric} growing {biased.vary} to {biased.sizes[-1]} words and of "
            f"{unbiased.metric} growing {unbiased.vary} to {unbiased.sizes[-1]}: give the same metric and lists"
        )


def silhouette_uncertainty(
    biased: Silhouette,
    unbiased: Silhouette | None = None,
    resamples: int = 1000,
    prob: float = PROB,
    seed: int = 0,
) -> pd.DataFrame:
    """Standard errors of robustness, accuracy and separation over the choice of ten runs or more.

    Halves of the runs (those of one seed together, for two silhouettes) are drawn without replacement: for means, and
    so for accuracy, their spread is exactly the standard error. For robustness, which rests on extremes, it is a lower
    bound, 0.6 to 1 of the standard error where we tried.

    Returns
    -------
    DataFrame
        A row a score, of one silhouette alone its robustness: ``score``, ``value``, ``sd`` (standard error), ``low``
        and ``high``; ``half_the_runs``, the score's mean over halves of the runs (where it is clearly above ``value``,
        more runs would lower robustness further); and ``covered``, the smallest share of 89% intervals that we found to
        hold the score's mean over other runs: .77 for robustness (.82 to .87 for weat1 and weat7 in the bundled
        vectors). It is NaN for another ``prob``.

    References
    ----------
    Shao, J. and Wu, C. F. J. (1989). A general theory for jackknife variance estimation. Annals of Statistics 17(3).
    https://doi.org/10.1214/aos/1176347263

    Examples
    --------
    >>> weat = bb.silhouettes.silhouette("google-news-slice", "weat7", "weat", runs=10)
    >>> bb.silhouettes.silhouette_uncertainty(weat, resamples=50).columns.tolist()[:2]
    ['score', 'value']
    """
    resamples, prob = whole_number(resamples, "resamples", least=2), probability(prob, "prob")
    rng = np.random.default_rng(whole_number(seed, "seed", least=0, most=None))
    other = biased if unbiased is None else unbiased
    _check_comparable(biased, other)
    runs = len(biased.values)
    if not FEWEST_RUNS <= runs == len(other.values):
        raise InputError(
            f"there are {runs} and {len(other.values)} runs: scores have an uncertainty with {FEWEST_RUNS} runs or "
            "more, the same of both"
        )
    names = ["robustness"]
    if unbiased is not None:
        names = ["robustness of the biased", "robustness of the unbiased", "accuracy", "separation"]
    scores = []
    for chosen in (np.arange(runs), *(rng.permutation(runs)[: runs // 2] for _ in range(resamples))):
        first, second = (replace(each, values=each.values[chosen]) for each in (biased, other))  # noqa: PD011
        scores.append([first.robustness])
        if unbiased is not None:
            scores[-1].append(second.robustness)
            scores[-1] += [silhouette_accuracy(first, second), silhouette_separation(first, second)]
    value, drawn = np.array(scores[0]), np.array(scores[1:])
    spread, reach = drawn.std(axis=0, ddof=1), float(ndtri((1 + prob) / 2))
    table = pd.DataFrame({"score": names, "value": value, "sd": spread})
    table = table.assign(low=value - reach * spread, high=value + reach * spread, half_the_runs=drawn.mean(axis=0))
    return table.assign(covered=[COVERED[name.split()[0]] if prob == PROB else np.nan for name in names])


def lengths_of(sizes: Sequence[int], step: int) -> IntArray:
    """Numbers of words of each list, (sizes, lists), growing by ``step`` over all; a list grows until it is used up."""
    each = max(1, step // len(sizes))
    grown = np.arange(each, max(sizes) + each, each)
    lengths: IntArray = np.minimum(grown[:, None], np.array(sizes)).astype(np.intp)
    return lengths


def shuffled(
    lists: Mapping[str, Sequence[str]], runs: int, seed: int, shared: bool, together: bool
) -> tuple[IntArray, ...]:
    """Places (runs, words) of each list in random order.

    ``shared`` takes the run's number as seed of every list; ``together`` gives all lists one order.
    """
    sizes = [len(words) for words in lists.values()]
    if shared:  # sklearn.utils.shuffle(list, random_state=run)
        return tuple(np.stack([np.random.RandomState(run).permutation(size) for run in range(runs)]) for size in sizes)
    generators = np.random.default_rng(seed).spawn(1 if together else len(sizes))
    orders = [
        np.stack([rng.permutation(size) for _ in range(runs)]) for rng, size in zip(generators, sizes, strict=False)
    ]
    return tuple(orders * len(sizes) if together else orders)


type Value = tuple[float, float, float]
"""A metric's value on some words, and the ends of its interval, NaN where it has none."""
type Subject = tuple[Callable[[Chosen], Value], Words, dict[str, Any]]
"""A metric on the words of a query: its values, the words that the embedding holds, and fields of its silhouette."""


def _study_rnsb(kv: KeyedVectors, query: Query, how: Lookup) -> Subject:
    """The study's RNSB: the divergence from the uniform of the probabilities of the groups' mean vectors."""
    if query.template[1] != 2:
        raise InputError(f"rnsb takes 2 attribute sets: the query {query.name!r} has {query.template[1]}")
    sets = look_up(kv, query, how, paired=False)
    words, notes = _found(query, sets)
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
        return float(xlogy(shares, shares * len(shares)).sum()), np.nan, np.nan

    return measure, words, {"metric": "rnsb", "bounds": (0.0, float(np.log(len(query.targets)))), "notes": notes}


def _registered_subject(
    chosen: OneMetric, options: Mapping[str, Any], kv: KeyedVectors, query: Query, how: Lookup
) -> Subject:
    """A metric of the registry, measured anew at every size."""
    metric = METRICS.find(chosen)
    name = metric.name
    subject_options = untested(checked_options(metric, options))
    ready = prepared(metric, kv, query, subject_options, how)
    words, notes = _found(query, ready.found)
    usual = metric.range([len(vectors) for vectors in ready.found.targets], subject_options), metric.optimum
    bounds, zero = IN_THE_STUDY.get(chosen, usual) if isinstance(chosen, str) else usual
    if not np.isfinite(bounds).all():
        raise InputError(f"{name} has no smallest and largest value, which the scores of a silhouette need")
    facts = {"metric": name, "bounds": bounds, "zero": zero, "optimum": metric.optimum, "notes": notes}
    return (lambda chosen: (ready.resampled(chosen).value, np.nan, np.nan)), words, facts


def _found(query: Query, sets: FoundSets) -> tuple[Words, tuple[Note, ...]]:
    """The words that were found, and notes on those that the embedding lacks; refuses sets without a word."""
    empty = [f"none of the {entry['asked']} words of {entry['set']!r}" for entry in sets.entries if not entry["found"]]
    if why := (*empty, *([] if sets.reason is None else [sets.reason])):
        raise InputError(f"the embedding holds too little of the query: {why[0]}")
    lacking = [{**entry, "kind": entry["set"], "words": entry["missing"]} for entry in sets.entries if entry["missing"]]
    names = ("found", "asked", "kind", "words")
    notes = (Note("coverage", **{name: entry[name] for name in names}) for entry in lacking)
    words: Words = {kind: {name: sets.words[name] for name in getattr(query, kind)} for kind in VARIED}
    return words, (*notes, *sets.twin_notes)


def _contrast_subject(
    kv: KeyedVectors,
    query: Query,
    how: Lookup,
    model: str | ModelSpec = NAME,
    first: str = "associated",
    second: str | None = None,
    prob: float = PROB,
    draws: int = 1000,
    seed: int = 0,
) -> Subject:
    """The posterior mean of a contrast of two connections, with its interval.

    The target sets are the groups, and the attribute sets their stereotypes in the same order; sets named ``human`` and
    ``neutral`` are controls. Each fit has the same seed.
    """
    prob, draws = probability(prob, "prob"), whole_number(draws, "draws", least=100)
    sets = look_up(kv, query, how, paired=False)
    words, notes = _found(query, sets)
    lists = Query(words["targets"], words["attributes"], name=query.name, language=query.language).words()
    data = Distances.read(distance_table(kv, lists, case=how.case, relatedness=False, twins=how.twins), check=False)
    spec = model if isinstance(model, ModelSpec) else load_model(model)
    name = engines_for(spec)[0]
    if name not in INDEPENDENT:
        raise InputError(f"the model {spec.name!r} needs NUTS, too slow for thousands of fits: choose another")
    spec, data = family_of(spec).prepared(spec, data)
    contrast = contrasted(first, second, data.connections.tolist())
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
        of_targets, of_attributes = (
            np.any([np.isin(places, chosen[name]) for name, places in rows.items()], axis=0)
            for rows in (target_rows, attribute_rows)
        )
        part = data.part(of_targets & of_attributes)
        names = part.connections.tolist()
        if not set(contrast) <= set(names):  # a connection has no distance
            return np.nan, np.nan, np.nan
        means = ENGINES[name][1](spec, part, 1, draws, np.random.default_rng(seed)).posterior["connection_mean"][0]
        apart = means[:, names.index(contrast[0])] - means[:, names.index(contrast[1])]
        low, high = interval_ends(apart, prob)
        return float(apart.mean()), float(low), float(high)

    title = " - ".join(contrast) + ("" if spec.name == NAME else f" ({spec.name})")
    bounds = (-2.0, 2.0)  # of a difference of two mean cosine distances
    return measure, words, {"metric": title, "bounds": bounds, "prob": prob, "notes": (*notes, *data.notes)}


def _places(words: np.ndarray, labels: np.ndarray, name: str, listed: Sequence[str]) -> IntArray:
    """Place in a list of the word of each row of a table; -1 for rows of other lists."""
    place = {(name, word): i for i, word in enumerate(listed)}
    return np.array([place.get(key, -1) for key in zip(labels.tolist(), words.tolist(), strict=True)], dtype=np.intp)


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
    kv, query
        The embedding, and target and attribute sets, as :func:`metric` takes them.
    metric
        ``"weat_effect_size"`` (or ``"weat"``, as the study calls it), ``"ect"`` or ``"rnsb"``; RNSB is that of the
        study: the divergence from the uniform of the probabilities of the groups' mean vectors, in [0, ln groups]. Or
        another metric, as :func:`metric` takes it, whose smallest and largest value are known, or a pair of it and its
        options.

        Or ``"crossed"``: the posterior mean of a contrast with its intervals, fitted anew at every size. Target sets
        are groups and attribute sets their stereotypes, in order; sets named ``human`` and ``neutral`` are controls.
        Options: ``model``, ``first``, ``second``, ``prob``, ``draws`` and ``seed`` of each fit.
    vary
        Which lists grow; the others stay full. Pairs of target words grow as pairs.
    runs, seed
        How many random orders, each list with its own permutations.
    step
        Words over all lists by which they grow: 2 for targets and 6 for attributes, as in the study.
    sizes
        ``"trimmed"`` first cuts all lists of a kind to the shortest of them; ``"saturate"`` grows each by as many words
        until it is used up.
    compat
        ``"published"`` shuffles every list with the run's number as seed, takes [0, 1] for the range of RNSB, and
        counts words of one vector one by one.
    case, twins
        As in :func:`metric`.

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
    one_of(sizes, ("trimmed", "saturate"), "sizes")
    one_of(twins, TWINS, "twins")
    runs, seed = whole_number(runs, "runs"), whole_number(seed, "seed", least=0, most=None)
    step = STEPS[vary] if step is None else whole_number(step, "step")
    how = Lookup(max_missing=1.0, case=case, twins="keep" if compat == "published" else twins)
    parsed = as_query(query)
    chosen, options = metric_and_options(metric)
    vectors = opened(kv, every_word([parsed]), case, parsed.language)
    if chosen == NAME:
        measure, words, facts = _contrast_subject(vectors, parsed, how, **options)
    elif chosen == "rnsb":
        measure, words, facts = _study_rnsb(vectors, parsed, how, **options)
    else:
        one = "weat_effect_size" if chosen == "weat" else chosen
        measure, words, facts = _registered_subject(one, options, vectors, parsed, how)
    kinds = {kind: {name: len(held) for name, held in sets.items()} for kind, sets in words.items()}
    if sizes == "trimmed":
        kinds = {kind: dict.fromkeys(most, min(most.values())) for kind, most in kinds.items()}
    every = {name: np.arange(length) for most in kinds.values() for name, length in most.items()}
    grown = {name: words[vary][name][:length] for name, length in kinds[vary].items()}
    pairs = vary == "targets" and chosen != NAME and METRICS.find(chosen).paired
    orders = shuffled(grown, runs, seed, compat == "published", pairs)
    lengths = lengths_of(list(kinds[vary].values()), step)
    values = np.empty((runs, len(lengths), 3))
    with progress("measuring", runs * len(lengths)) as done:
        for run, i in np.ndindex(runs, len(lengths)):
            parts = zip(grown, orders, lengths[i], strict=True)
            values[run, i] = measure(every | {name: places[run, :length] for name, places, length in parts})
            done(run * len(lengths) + i + 1)
    value, low, high = np.moveaxis(values, 2, 0)
    name = str(about(vectors)["name"])
    kind = f"values of {facts['metric']} in {name}"
    facts["notes"] += tuple(left_out(int(np.isnan(value).sum()), value.size, kind, "no variation"))
    if compat == "published" and chosen == "rnsb":
        facts["bounds"] = (0.0, 1.0)
    if "prob" in facts:
        facts |= {"low": low, "high": high}
    return Silhouette(vary=vary, sizes=lengths.sum(axis=1), values=value, embedding=name, **facts)


def silhouette_study(
    kvs: Mapping[str, Embedding],
    queries: Mapping[str, AnyQuery],
    metrics: Sequence[AnyMetric] | Mapping[str, AnyMetric] = ("ect", "rnsb", "weat_effect_size"),
    runs: int = 100,
    seed: int = 0,
) -> pd.DataFrame:
    """Robustness of every metric in every model, and accuracy of telling the first model from the second.

    Parameters
    ----------
    kvs
        Names to embeddings; the first is held to be biased, the second not. Words that one of them lacks are left out
        for all.
    queries
        Names to queries of two target and two attribute sets; a metric of one attribute set gets one of words of both
        in turn.
    metrics, runs, seed
        As in :func:`silhouette`.

    Returns
    -------
    DataFrame
        Columns ``query``, ``vary``, ``metric``, ``model``, ``words`` (over all lists that grow), ``robustness``,
        ``accuracy`` and ``separation`` of the pair of models, NaN unless there are two; ``oriented_accuracy``, that of
        ``optimum - value`` (:meth:`Silhouette.oriented`) for a metric whose value of no bias is not 0: ECT is 1 then,
        so that models that it ranks rightly have an accuracy below .5; and ``coverage``: for a metric with intervals,
        the share that hold the value with all words, over all sizes but the last; ``notes`` on what was left out.

    Examples
    --------
    >>> found = bb.silhouettes.silhouette_study({"news": "google-news-slice"}, {"weat1": "weat1"}, ["ect"], runs=5)
    >>> type(found).__name__
    'DataFrame'
    """
    asked_for = {label: as_query(query) for label, query in mapping(queries, "queries", "queries").items()}
    models = opened_by_name(mapping(kvs, "kvs", "embeddings"), every_word(asked_for.values()))
    chosen = named_metrics(metrics)
    rows: list[tuple[Any, ...]] = []
    for label, sets in asked_for.items():
        shared, left = _in_all(sets, models, label)
        # of words of each attribute set in turn, as many of each as the shortest holds
        words = dict.fromkeys(chain(*zip(*shared.attributes.values(), strict=False)))
        one_set = {" and ".join(shared.attributes): list(words)}
        joined = Query(shared.targets, one_set, name=shared.name, language=shared.language)
        for (metric, one, options), vary in product(chosen, VARIED):
            takes_one = one != NAME and METRICS.find(one).attributes[1] == 1
            fitting = joined if takes_one else shared
            found = {
                model: silhouette(kv, fitting, (one, options), vary, runs, seed=seed) for model, kv in models.items()
            }
            notes = (tuple(dict.fromkeys([*left, *each.notes])) for each in found.values())
            rows += [(label, vary, metric, *scores, own) for scores, own in zip(_scores(found), notes, strict=True)]
    return pd.DataFrame(rows, columns=["query", "vary", "metric", "model", "words", *SCORES, "notes"])


def _scores(found: Mapping[str, Silhouette]) -> Iterator[tuple[Any, ...]]:
    """The scores of the silhouettes of each model."""
    pair = list(found.values())
    both = len(pair) == 2
    accuracy = silhouette_accuracy(pair[0], pair[1]) if both else np.nan
    turned = both and pair[0].optimum != 0
    oriented = silhouette_accuracy(pair[0].oriented(), pair[1].oriented()) if turned else np.nan
    separation = silhouette_separation(pair[0], pair[1]) if both else np.nan
    for model, curves in found.items():
        # the last size holds its own value
        covered = float(np.mean(curves.coverage[:-1])) if len(curves.sizes) > 1 else np.nan
        yield model, int(curves.sizes[-1]), curves.robustness, accuracy, oriented, separation, covered


def _in_all(query: Query, models: Mapping[str, KeyedVectors], label: str) -> tuple[Query, list[Note]]:
    """The query's words that all models hold, those of one vector once, and notes on the others."""
    notes: list[Note] = []
    sets: dict[str, dict[str, list[str]]] = {}
    alike = alike_in_some(every_word([query]), models.values())
    for kind in VARIED:
        sets[kind] = {}
        for name, words in getattr(query, kind).items():
            shared, lacking = in_all(words, models.values(), f"words of {name} in {label}")
            notes += lacking
            sets[kind][name], again = words_once(shared, alike, f"{name} in {label}")
            notes += again
    return Query(sets["targets"], sets["attributes"], name=query.name, language=query.language), notes
