"""How a contrast depends on the priors and on single words, and a metric on the words that were listed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._checks import finite_number, flag, one_of, probability, whole_number
from bayesbias._core.resampling import ends
from bayesbias._core.vectors import FloatArray, IntArray
from bayesbias._phrases import MINUS, percent, signed
from bayesbias._progress import progress
from bayesbias._results import Result
from bayesbias.checks.convergence import diagnose
from bayesbias.checks.summaries import PROB, contrasted, describe
from bayesbias.comparison.associations import GIVEN, POPULATIONS, SIMILAR
from bayesbias.comparison.contrast import (
    beside_associated,
    connections_of,
    contrast_draws,
    contrasts,
)
from bayesbias.distances import distance_table
from bayesbias.distances.distances import Distances
from bayesbias.embeddings import Embedding
from bayesbias.errors import InputError, shown
from bayesbias.metrics import Query
from bayesbias.metrics.batch import AnyQuery, Prepared, prepared, untested
from bayesbias.models.families import LeaveOut, family_of
from bayesbias.models.fits import fit
from bayesbias.models.moments import Moments
from bayesbias.models.results import Fit
from bayesbias.models.spec import Gamma, ModelSpec
from bayesbias.words import CONTROLS, WordLists

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


DRAWS = 4000
ALL = "all"
WIDEST = 1000
"""Times that a prior is made wider and narrower, at most."""
MOST_SHIFT = 0.5
MOST_SD_CHANGE = 0.2
LEAST_STEP = 0.25
"""In posterior sds: an end of an interval that moves by less than this may have crossed 0 by the noise of draws."""
WORDS = ("word_mean", "attribute_effect", "interaction_effect", "connection_covariance")
"""What single words have; power-scaling asks for what stands above them."""
MOST_POWER = 0.05
"""Above this, scaling prior or likelihood moves a posterior noticeably."""


@dataclass(frozen=True, repr=False, eq=False)
class PriorSensitivity(Result):
    """How a contrast changes with the priors.

    Attributes
    ----------
    first, second
        The contrast: the mean of ``first`` minus that of ``second``.
    refits
        One row a refit, the fit as given first: ``prior`` (pd.NA for the fit as given, ``"all"`` for all together),
        ``change`` (``as given``, ``wider``, ``narrower``), ``mean``, ``sd``, ``low``, ``high`` (cosine
        distance), ``shift`` of the mean in posterior sds of the fit as given, ``sd_ratio``, and whether the prior
        ``matters`` by it.
    power
        Power-scaling sensitivity, one row a quantity: ``parameter``, ``label`` (pd.NA where there is one of it),
        ``prior``, ``likelihood`` (above 0.05: scaling it moves the posterior), ``diagnosis``.
    verdict
        Whether the prior matters, in a sentence.

    References
    ----------
    Kallioinen, N. et al. (2024). Detecting and diagnosing prior and likelihood sensitivity with power-scaling.
    Statistics and Computing 34. https://doi.org/10.1007/s11222-023-10366-5
    """

    notes: ClassVar[tuple[str, ...]] = ()

    first: str
    second: str
    refits: pd.DataFrame
    power: pd.DataFrame
    verdict: str

    @property
    def matters(self) -> bool:
        """Whether a refit says that the prior matters."""
        return bool(self.refits["matters"].any())

    def findings(self) -> list[str]:
        """The result in sentences, without its notes."""
        return [self.verdict]

    def table(self) -> pd.DataFrame:
        """The contrast under each prior: ``refits``."""
        return self.refits


def prior_sensitivity(
    post: xr.DataTree,
    first: str = "associated",
    second: str | None = None,
    factor: float = 2.0,
    seed: int = 0,
    population: str = GIVEN,
) -> PriorSensitivity:
    """How much a whole-list contrast depends on the priors.

    The model is fitted again to the same distances with each prior in turn, and with all of them, ``factor`` times
    wider and narrower: the sd of a normal or half-normal prior, the mean of an exponential one, the spread of a pooled
    one. The prior of a Student t's degrees of freedom stays. The prior matters where a refit moves the contrast by
    more than half a posterior sd, changes its sd by more than 20%, or decides whether its 89% interval excludes 0 (by
    an end that moves at least a quarter of a posterior sd: less may be the noise of draws).

    Parameters
    ----------
    post
        A result of :func:`fit`.
    first, second
        Connections; the contrast is the mean of ``first`` minus that of ``second``, by default as in :func:`contrasts`.
    factor
        How much wider and narrower, above 1.
    seed
        Seed of the refits, which take 4,000 draws and the engine of the fit (the fastest there is in place of NUTS).
    population
        What the contrast speaks about, as in :func:`contrasts`.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, seed=0)
    >>> found = bb.checks.prior_sensitivity(post)
    >>> type(found).__name__
    'PriorSensitivity'
    """
    result = Fit.read(post)
    seed = whole_number(seed, "seed", least=0, most=None)
    factor = _above_one(factor)
    one_of(population, tuple(POPULATIONS), "population")
    first, second = contrasted(first, second, *connections_of(result))
    drawn = contrast_draws(result, first, second, population)
    spec = result.spec
    refits = _refits(result, spec, (first, second, population), factor, seed, drawn)
    power = _power(result, spec, f"{first} - {second}", drawn)
    return PriorSensitivity(first, second, refits, power, _verdict(refits, f"{first}{MINUS}{second}"))


def _above_one(factor: object) -> float:
    number = finite_number(factor, "factor")
    if not 1 < number <= WIDEST:
        raise InputError(f"factor is {shown(factor)}: give a number above 1, such as 2, and at most {WIDEST:,}")
    return number


def _refits(
    result: Fit, spec: ModelSpec, contrast: tuple[str, str, str], factor: float, seed: int, drawn: FloatArray
) -> pd.DataFrame:
    """The contrast (two connections and a population) by the fit as given and by each refit."""
    priors = result.priors()
    movable = [name for name, prior in priors.items() if not isinstance(prior, Gamma)]
    changes = [(name, change) for name in [*movable, ALL] for change in ("wider", "narrower")]
    table, engine = result.data.to_frame(), "auto" if result.engine == "nuts" else result.engine
    rows = [(pd.NA, "as given", *describe(drawn, PROB).values())]
    with progress("fitting with other priors", len(changes)) as done:
        for i, (name, change) in enumerate(changes):
            by = factor if change == "wider" else 1 / factor
            others = {prior: priors[prior].widened(by) for prior in (movable if name == ALL else [name])}
            again = fit(table, replace(spec, priors={**spec.priors, **others}), engine=engine, draws=DRAWS, seed=seed)
            rows.append((name, change, *describe(contrast_draws(Fit(again), *contrast), PROB).values()))
            done(i + 1)
    refits = pd.DataFrame(rows, columns=["prior", "change", "mean", "sd", "low", "high"])
    refits = refits.astype({"prior": "string", "change": "string", "low": float, "high": float})
    refits["shift"] = (refits["mean"] - refits["mean"][0]) / refits["sd"][0]
    refits["sd_ratio"] = refits["sd"] / refits["sd"][0]
    return refits.assign(matters=(_strength(refits) > 1) | _decides(refits))


def _strength(refits: pd.DataFrame) -> pd.Series:
    """How far mean and sd moved; above 1 is too far."""
    by_mean, by_sd = refits["shift"].abs() / MOST_SHIFT, (refits["sd_ratio"] - 1).abs() / MOST_SD_CHANGE
    return by_mean.where(by_mean > by_sd, by_sd)


def _decides(refits: pd.DataFrame) -> pd.Series:
    """Whether the interval of a refit excludes 0 where that of the fit as given does not, or the other way round."""
    low, high, step = refits["low"], refits["high"], LEAST_STEP * refits["sd"][0]
    by_low = (low > 0).ne(low[0] > 0) & ((low - low[0]).abs() > step)
    by_high = (high < 0).ne(high[0] < 0) & ((high - high[0]).abs() > step)
    decided: pd.Series = by_low | by_high
    return decided


def _verdict(refits: pd.DataFrame, contrast: str) -> str:
    others = refits[1:]
    moved = others[others["matters"]]
    if moved.empty:
        return (
            f"The prior does not matter for {contrast}: over {len(others)} refits it moves by at most "
            f"{others['shift'].abs().max():.2f} posterior sds, its sd changes by at most "
            f"{(others['sd_ratio'] - 1).abs().max():.0%}, and none decides whether its interval excludes 0."
        )
    single = moved[moved["prior"] != ALL]
    shown = moved if single.empty else single
    strongest = shown.index[int(_strength(shown).argmax())]
    worst = refits.loc[strongest]
    named = "all priors" if worst["prior"] == ALL else f"the prior of {worst['prior']}"
    verdict = (
        f"The prior matters for {contrast}: with {named} {worst['change']} it moves by {worst['shift']:+.2f} posterior "
        f"sds and its sd changes by {worst['sd_ratio'] - 1:+.0%}"
    )
    if _decides(refits)[strongest]:
        excludes = worst["low"] > 0 or worst["high"] < 0
        verdict += f", and its interval {'comes to exclude' if excludes else 'no longer excludes'} 0"
    more = list(dict.fromkeys(single.loc[single["prior"] != worst["prior"], "prior"]))
    return f"{verdict}; {' and '.join(more)} matter{'s' * (len(more) == 1)} too." if more else f"{verdict}."


def _power(result: Fit, spec: ModelSpec, contrast: str, drawn: FloatArray) -> pd.DataFrame:
    """Power-scaling sensitivity of the contrast, the means and the scales."""
    from arviz_stats import psense

    posterior, steps = result.posterior, ("chain", "draw")
    shape, coords = [posterior.sizes[name] for name in steps], {name: posterior[name] for name in steps}
    names = [str(name) for name in posterior.data_vars if name not in WORDS]
    dataset = posterior[names].assign({contrast: (steps, drawn.reshape(shape))})
    log_priors, log_likelihood = family_of(spec).log_terms(result)
    priors = {name: each.reshape(shape) for name, each in log_priors.items()}
    tree = xr.DataTree.from_dict(
        {
            "/posterior": dataset,
            "/log_prior": xr.Dataset({name: (steps, each) for name, each in priors.items()}, coords),
            "/log_likelihood": xr.Dataset({"distance": (steps, log_likelihood.reshape(shape))}, coords),
        }
    )
    by_prior, by_likelihood = psense(tree, group="prior"), psense(tree, group="likelihood")
    rows = [
        (name, label, float(prior), float(likelihood), _diagnosis(float(prior), float(likelihood)))
        for name in [contrast, *names]
        for label, prior, likelihood in zip(
            _labels(dataset[name]), np.ravel(by_prior[name]), np.ravel(by_likelihood[name]), strict=True
        )
    ]
    table = pd.DataFrame(rows, columns=["parameter", "label", "prior", "likelihood", "diagnosis"])
    return table.astype(dict.fromkeys(("parameter", "label", "diagnosis"), "string"))


def _labels(values: xr.DataArray) -> list[object]:
    """The label of each value of a parameter (chain, draw, ...); pd.NA where there is one."""
    return [pd.NA] if values.ndim == 2 else values[values.dims[2]].to_numpy().tolist()


def _diagnosis(prior: float, likelihood: float) -> str:
    if not prior > MOST_POWER:
        return "the prior hardly counts"
    return "prior and data may disagree" if likelihood > MOST_POWER else "strong prior, weak likelihood"


KINDS_OF_WORDS = ("all", "attribute", "protected", "stereotype")
COLUMNS = ["kind", "word", "list", "n", "mean", "sd", "shift", "shift_sd"]


@dataclass(frozen=True)
class _Word:
    """A word with its list, and its place among the words of its kind."""

    kind: str
    name: str
    list: str
    place: int


def influence(
    post: xr.DataTree, first: str = "associated", second: str | None = None, words: str = "all", seed: int = 0
) -> pd.DataFrame:
    """What leaving out each attribute word and each protected word does to a whole-list contrast.

    The model is fitted again to the distances without the word. Nothing is drawn: given the scales the contrast is
    normal, and its conditional moments are averaged over the scales, for all words at the same points. What noise is
    left does not hide the influence of a single control word.

    Parameters
    ----------
    post
        A result of :func:`fit` with a model that the exact or the marginal engine fits.
    first, second
        Connections; the contrast is the mean of ``first`` minus that of ``second``. By default ``second`` is the
        headline: different where the fit holds it, or else the first control list.
    words
        ``"all"``, ``"attribute"``, ``"protected"``, or ``"stereotype"``: protected words and those of stereotypes.
    seed
        Seed of the points of the scales.

    Returns
    -------
    DataFrame
        One row a word, the most influential first: ``kind`` (attribute or protected), ``word``, ``list`` (attribute
        class or group), ``n`` (its distances), ``mean`` and ``sd`` of the contrast without it, ``shift`` (without it
        minus with it, cosine distance) and ``shift_sd`` (in posterior sds of the contrast with all words). ``attrs``
        holds ``first``, ``second``, ``mean``, ``sd`` (with all words), ``population`` (``"given"`` where words are
        related, else ``"similar"``, as in :func:`contrasts`) and ``left_out``: kind, word and reason for each word
        without which there is no contrast.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, seed=0)
    >>> bb.checks.influence(post, words="protected")["word"].head(2).tolist()
    ['dance', 'algebra']
    """
    result = Fit.read(post)
    one_of(words, KINDS_OF_WORDS, "words")
    first, second = _connections(result, first, second)
    rng = np.random.default_rng(whole_number(seed, "seed", least=0, most=None))
    spec, data = _model_and_data(result)
    moments, moments_without = family_of(spec).moments(spec, data, rng)
    labels = data.connections.tolist()
    mean, sd = _contrast(moments, labels, first, second)
    rows, left_out = [], []
    chosen, counts = _asked(data, words), _counts(data)
    with progress("leaving out words", len(chosen)) as done:
        for i, word in enumerate(chosen):
            counted = counts[word.kind][word.place]
            gone = [name for name in (first, second) if counted[labels.index(name)] == counts[ALL][labels.index(name)]]
            figures = _without(word, gone, first, second, moments_without)
            if isinstance(figures, str):
                left_out.append((word.kind, word.name, figures))
            else:
                shift = figures[0] - mean
                rows.append((word.kind, word.name, word.list, int(counted.sum()), *figures, shift, shift / sd))
            done(i + 1)
    table = pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(COLUMNS[:3], "string"))
    table = table.sort_values("shift", key=np.abs, ascending=False, kind="stable", ignore_index=True)
    table.attrs = {"first": first, "second": second, "mean": mean, "sd": sd, "left_out": left_out}
    table.attrs["population"] = GIVEN if family_of(spec).given else SIMILAR
    return table


def _connections(result: Fit, first: str, second: str | None) -> tuple[str, str]:
    valid = connections_of(result)[0]
    one_of(first, valid, "the connection")
    if second is None:
        beside = [name for name in beside_associated(result) if name != first]
        if not beside:
            raise InputError(f"give second: the fit holds {', '.join(valid)}, and no headline with {first!r}")
        second = beside[0]
    one_of(second, valid, "the connection")
    if first == second:
        raise InputError(f"a contrast needs two connections, given {first!r} twice; the fit holds {', '.join(valid)}")
    return first, second


def _model_and_data(result: Fit) -> tuple[ModelSpec, Distances]:
    """The model of a fit and its distances, if an engine without chains can fit it."""
    spec = result.spec
    family = family_of(spec)
    if (reason := family.obstacle(spec)) is not None:
        raise InputError(
            f"the model {spec.name!r} needs NUTS for every word left out: {reason}; fit these distances with "
            "'crossed' or 'published' and ask for the influence there"
        )
    return family.prepared(spec, result.data)


def _asked(data: Distances, words: str) -> list[_Word]:
    """The words to leave out in turn."""
    of_lists = [word for word in _words(data, "attribute") if data.class_of_attribute[word.place] == 0]
    attribute = {"all": _words(data, "attribute"), "attribute": _words(data, "attribute"), "stereotype": of_lists}
    protected = [] if words == "attribute" else _words(data, "protected")
    return [*attribute.get(words, []), *protected]


def _words(data: Distances, kind: str) -> list[_Word]:
    """The words of a kind with their lists: the group, or the attribute class of the first row."""
    if kind == "protected":
        names, lists = data.protected_words, data.groups
    else:
        names = data.attribute_words
        lists = data.attribute_class[np.unique(data.attribute, return_index=True)[1]]
    return [_Word(kind, *labels, i) for i, labels in enumerate(zip(names.tolist(), lists.tolist(), strict=True))]


def _counts(data: Distances) -> dict[str, IntArray]:
    """Distances under each connection: of each word of a kind, (words, K), and of all, (K,)."""
    size = len(data.connections)
    of_kind = {"attribute": (data.attribute, data.attribute_words), "protected": (data.word, data.protected_words)}
    counts = {
        kind: np.bincount(place * size + data.connection, minlength=len(names) * size).reshape(-1, size)
        for kind, (place, names) in of_kind.items()
    }
    return counts | {ALL: np.bincount(data.connection, minlength=size)}


def _without(word: _Word, gone: list[str], first: str, second: str, moments: LeaveOut) -> tuple[float, float] | str:
    """Mean and sd of the contrast without a word that has all distances of some connections, or why there is none."""
    if gone:
        return f"it has all distances of {' and '.join(gone)}"
    try:
        labels, numbers = moments(word.kind, word.place)
    except InputError as error:
        return str(error)
    return _contrast(numbers, labels, first, second)


def _contrast(moments: Moments, labels: list[str], first: str, second: str) -> tuple[float, float]:
    """Mean and sd of the contrast of two connections."""
    mean, covariance = moments
    names = np.array(labels)
    sign = (names == first).astype(float) - (names == second)
    return float(sign @ mean), float(np.sqrt(sign @ covariance @ sign))


Units = tuple[Hashable, ...]
"""The words of a set, or its pairs of words."""


@dataclass(frozen=True)
class Pool:
    """Sets that share words, directly or through others.

    Attributes
    ----------
    size
        Number of distinct units.
    places
        Set to the place in it of each unit of the pool (size,); -1 where it does not hold it.
    """

    size: int
    places: dict[Units, IntArray]

    def draw(self, rng: np.random.Generator) -> dict[Units, IntArray]:
        """Places in each set of as many units as the pool has, drawn with replacement; no set is left empty."""
        while True:
            drawn = rng.integers(0, self.size, self.size)
            chosen = {units: places[drawn] for units, places in self.places.items()}
            kept = {units: places[places >= 0] for units, places in chosen.items()}
            if all(map(len, kept.values())):
                return kept


def pools_of(sets: Iterable[Units]) -> tuple[Pool, ...]:
    """Sets by the words that they share; a set that shares none is a pool of its own."""
    groups: list[tuple[dict[Hashable, None], list[Units]]] = []
    for units in dict.fromkeys(sets):
        touching = [group for group in groups if any(unit in group[0] for unit in units)]
        groups = [group for group in groups if group not in touching]
        together = dict.fromkeys(unit for own, _ in touching for unit in own) | dict.fromkeys(units)
        groups.append((together, [*(member for _, members in touching for member in members), units]))
    return tuple(_pool(list(group), members) for group, members in groups)


def _pool(pooled: list[Hashable], members: list[Units]) -> Pool:
    places = {}
    for units in members:
        place_of = {unit: place for place, unit in enumerate(units)}
        places[units] = np.array([place_of.get(unit, -1) for unit in pooled], dtype=np.intp)
    return Pool(len(pooled), places)


def draw_all(pools: Iterable[Pool], rng: np.random.Generator) -> dict[Units, IntArray]:
    """One draw of every set."""
    return {units: places for pool in pools for units, places in pool.draw(rng).items()}


Over = Literal["both", "targets", "attributes"]
FIRST, SECOND = "associated", "different"


@dataclass(frozen=True, repr=False)
class MetricUncertainty(Result):
    """A metric with what other words of the same kind would have made of it.

    Attributes
    ----------
    metric, value, optimum
        The metric on the words as they are, and the value of no bias.
    draws
        (draws,): the metric on words drawn with replacement from each set. Pairs of words stay together, and sets that
        share words are drawn together, so that a word is drawn for all sets that hold it.
    prob
        Mass of the interval.
    leave_one_out
        One row a word (a pair, for metrics of pairs): ``word``, ``set`` (all that hold it), ``value`` without it and
        ``change``.
    posterior
        One row, the counterpart by the default model: ``contrast``, ``model``, ``mean``, ``sd``, ``low``, ``high``
        (cosine distance) and ``p_closer``; empty where the query has none.
    notes
        Sentences on the query, on draws without a value, on why there is no posterior, or that its fit cannot be read.
    """

    metric: str
    value: float
    optimum: float
    draws: FloatArray
    prob: float
    leave_one_out: pd.DataFrame
    posterior: pd.DataFrame
    notes: tuple[str, ...]

    @property
    def sd(self) -> float:
        """Standard deviation of the draws."""
        return float(np.nanstd(self.draws, ddof=1))

    @property
    def interval(self) -> tuple[float, float]:
        """Equal-tailed interval of the draws."""
        return ends(self.draws, self.prob)

    def findings(self) -> list[str]:
        """The result in sentences, without its notes."""
        low, high = self.interval
        parts = [
            f"{self.metric}: {signed(self.value)}, {percent(self.prob)} bootstrap interval {signed(low)} to "
            f"{signed(high)} (sd {self.sd:.3f}; {self.optimum:g} is no bias)."
        ]
        if len(self.leave_one_out) and self.leave_one_out["change"].iloc[0] != 0:
            most = self.leave_one_out.iloc[0]
            parts.append(f"Without {most['word']} ({most['set']}) it is {signed(most['value'])}.")
        if len(self.posterior):
            row = self.posterior.iloc[0]
            parts.append(
                f"{row['contrast']} by the model {row['model']}: {signed(row['mean'])} "
                f"({percent(self.prob)} from {signed(row['low'])} to {signed(row['high'])})."
            )
        return parts

    def table(self, prob: float | None = None) -> pd.DataFrame:
        """One row: ``metric``, ``value``, ``sd``, ``low`` and ``high`` of the draws, at its own prob or another."""
        low, high = ends(self.draws, self.prob if prob is None else probability(prob, "prob"))
        return pd.DataFrame([{"metric": self.metric, "value": self.value, "sd": self.sd, "low": low, "high": high}])


def bootstrap_metric(
    name: str,
    kv: Embedding,
    query: AnyQuery,
    draws: int = 1000,
    over: Over = "both",
    prob: float = PROB,
    seed: int = 0,
    posterior: bool = True,
    **options: Any,
) -> MetricUncertainty:
    """A classic metric with a bootstrap interval, each word left out, and its counterpart by the default model.

    Words of a set are drawn with replacement, as many as it has; where sets share words, as many as they have together.
    The interval is the percentile one. The metrics of one number treat words as given; this asks what other words of
    the same kind would have said, and takes the words of a set for unrelated. The contrast beside it is that of
    :func:`fit` with ``model="auto"``, for these target words: its interval knows which attribute words are alike.

    Parameters
    ----------
    name, kv, query, options
        As in :func:`metric`: options of the look-up and of the metric.
    draws, seed
        Number and seed of the bootstrap draws.
    over
        Which words are drawn anew: ``"both"``, ``"targets"`` or ``"attributes"``.
    prob
        Mass of the intervals.
    posterior
        Whether to fit the default model to the query's distances. Target sets are its groups, and the attribute sets,
        in order, their stereotypes (one attribute set is the first group's), so that the contrast associated -
        different is negative where the first target set is nearer to the first attribute set.

    References
    ----------
    Efron, B. (1979). Bootstrap methods: another look at the jackknife. Annals of Statistics 7(1).
    https://doi.org/10.1214/aos/1176344552

    Examples
    --------
    >>> found = bb.checks.bootstrap_metric("weat", "google-news-slice", "weat7", draws=100, posterior=False)
    >>> found.interval[0] < found.interval[1]
    True
    """
    one_of(over, ("both", "targets", "attributes"), "over")
    draws, prob = whole_number(draws, "draws", least=2), probability(prob, "prob")
    posterior = flag(posterior, "posterior")
    rng = np.random.default_rng(whole_number(seed, "seed", least=0, most=None))
    ready = prepared(name, kv, query, untested(options))
    observed = ready.measure()
    if not np.isfinite(observed.value):
        raise InputError(f"there is no {name} of {ready.query.name!r}: {observed.reason}")
    ready, values = ready.with_neighbours(), np.empty(draws)
    units = units_of(ready)
    kinds = {"targets": ready.query.targets, "attributes": ready.query.attributes}
    drawn = {name: units[name] for kind in kinds if over in ("both", kind) for name in kinds[kind]}
    pools = pools_of(drawn.values())
    still = {name: np.arange(len(listed)) for name, listed in units.items()}
    with progress(f"bootstrap of {name}", draws) as done:
        for i in range(draws):
            places = draw_all(pools, rng)
            chosen = still | {name: places[listed] for name, listed in drawn.items()}
            values[i] = ready.resampled(chosen).value
            done(i + 1)
    notes = [f"{note}." for note in (*ready.query.notes, *ready.found.notes, *observed.every_note)]
    if lost := int((~np.isfinite(values)).sum()):
        notes.append(f"{lost:,} of {draws:,} draws have no value and were left out.")
    table, reason = _posterior(ready.kv, ready.query, prob, seed) if posterior else (pd.DataFrame(), None)
    return MetricUncertainty(
        metric=ready.metric.title,
        value=observed.value,
        optimum=ready.metric.optimum,
        draws=values,
        prob=prob,
        leave_one_out=leave_one_out(ready, observed.value),
        posterior=table,
        notes=(*notes, *([reason] if reason else [])),
    )


def units_of(ready: Prepared) -> dict[str, Units]:
    """Set to what is drawn from it: words, by the keys of the embedding, or pairs for the target sets of pairs."""
    keys = {name: tuple(ready.found.keys[word] for word in ready.found.words[name]) for name in ready.query.sets}
    if ready.metric.paired:
        pairs = list(zip(*(keys[name] for name in ready.query.targets), strict=True))
        # a pair that is listed twice counts twice, as two pairs
        numbered = tuple((pair, pairs[:i].count(pair)) for i, pair in enumerate(pairs))
        return keys | dict.fromkeys(ready.query.targets, numbered)
    return dict(keys)


def leave_one_out(ready: Prepared, value: float) -> pd.DataFrame:
    """The metric without each word (or pair) in turn, the largest change first.

    A word leaves all sets that hold it; one whose set would be empty stays.
    """
    units = units_of(ready)
    rows = []
    for unit in dict.fromkeys(unit for listed in units.values() for unit in listed):
        kept = {
            name: np.array([i for i, other in enumerate(listed) if other != unit], dtype=np.intp)
            for name, listed in units.items()
        }
        if all(map(len, kept.values())):
            without = ready.resampled(kept).value
            names = [name for name, listed in units.items() if unit in listed]
            rows.append((_shown(unit), " and ".join(names), without, without - value))
    table = pd.DataFrame(rows, columns=["word", "set", "value", "change"])
    return table.sort_values("change", key=np.abs, ascending=False, ignore_index=True)


def _shown(unit: Any) -> str:
    return unit if isinstance(unit, str) else " and ".join(unit[0])


def _posterior(kv: KeyedVectors, query: Query, prob: float, seed: int) -> tuple[pd.DataFrame, str | None]:
    """The default model's contrast for a query, or why there is none."""
    lists = word_lists_of(query)
    if isinstance(lists, str):
        return pd.DataFrame(), lists
    post = fit(distance_table(kv, lists), seed=seed)
    table = contrasts(post, FIRST, SECOND, prob).iloc[:1]
    part = table[["mean", "sd", "low", "high", "p_closer"]].reset_index(drop=True)
    part.insert(0, "contrast", f"{FIRST} - {SECOND}")
    part.insert(1, "model", post.attrs["model"])
    verdict = diagnose(post)
    return part, str(verdict) if verdict.faults else None


def word_lists_of(query: Query) -> WordLists | str:
    """Target sets as groups and attribute sets as their stereotypes, in order; or why that cannot be.

    Attribute sets named ``human`` and ``neutral`` are controls.
    """
    controls = {name: words for name, words in query.attributes.items() if name in CONTROLS}
    own = [words for name, words in query.attributes.items() if name not in CONTROLS]
    targets, attributes = len(query.targets), len(own)
    if targets < 2 or attributes > targets:
        return (
            f"There is no counterpart of {targets} target and {attributes} attribute sets: a contrast compares "
            "at least two groups, with at most one list for each."
        )
    stereotypes: Mapping[str, Any] = dict(zip(query.targets, own, strict=False))
    try:
        about = {"source": query.source, "doi": query.doi, "language": query.language}
        return WordLists(query.name, query.targets, stereotypes, controls, **about)  # type: ignore[arg-type]  # texts
    except InputError as error:
        return f"There is no contrast of these sets: {error}."
