"""``plan``: how long word lists must be."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from bayesbias._support.arguments import WIDEST, finite_number, probability, whole_number
from bayesbias._support.phrases import MINUS, percent, share
from bayesbias._support.results import Result
from bayesbias.checks.calibration.simulation import complete_truth
from bayesbias.checks.summaries import PROB, attribute_lists, contrasted
from bayesbias.contrast.templates import template_effects
from bayesbias.distances.dataframe import relatedness_of, template_columns
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError, many
from bayesbias.models.families import family_of
from bayesbias.models.fits import RELATED, fit
from bayesbias.models.layout import TEMPLATES
from bayesbias.models.marginal import fit_for_crossed, prior_of_means, variances_of
from bayesbias.models.related import components_for, related_posterior, relatedness_for
from bayesbias.models.spec import ModelSpec, load_model
from bayesbias.models.tree import Fit, read_distances
from bayesbias.models.weights import whole_weights
from bayesbias.numerics.arrays import FloatArray, IntArray
from bayesbias.numerics.marginal import Scales
from bayesbias.numerics.related import factor_points, positive
from bayesbias.words import WordLists, in_order, load_words

MOST_UNKNOWNS = 200  # mean effects of lists beyond which the matrices of a design are too large


@dataclass(frozen=True)
class PlannedSize:
    """Lengths of word lists, and what an interval on them is like."""

    stereotype_words: int  # numbers of distinct words
    control_words: int  # of the lists in the contrast
    protected_words: int
    width: float  # mean, of the contrast's equal-tailed interval, in cosine distance
    power: float  # probability that the interval excludes 0 if the contrast is as large as was asked


@dataclass(frozen=True)
class CrossedDesign:
    """Word lists as the model sees them: P lists of attribute words by S sets of protected words.

    The words of a list stand in the same relation to every set, and so do the words of a set to every list.
    """

    connections: tuple[str, ...]
    words: IntArray  # attribute words of each list, (P,)
    classes: IntArray  # their class as in `Distances.class_of_attribute`, (P,)
    class_index: IntArray  # place of that class among those of the table, (P,)
    protected: IntArray  # protected words of each set, (S,)
    group: IntArray  # and their group
    connection: IntArray  # how a set stands to a list, (S, P); -1 where they never meet
    contrasted: NDArray[np.bool_]  # whether a list stands in the contrast, (P,)

    @property
    def stereotype(self) -> NDArray[np.bool_]:
        """(P,): whether a list is a stereotype's."""
        return np.asarray(self.classes == 0)

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Stereotype words, control words of the contrast, and protected words."""
        own = self.stereotype
        return int(self.words[own].sum()), int(self.words[~own & self.contrasted].sum()), int(self.protected.sum())


class Goal(NamedTuple):
    """A contrast to be seen: its size, the mass of the interval that is to exclude 0, and with which probability."""

    effect: float
    prob: float
    power: float

    def met(self, sizes: tuple[int, int, int], sd: FloatArray) -> PlannedSize:
        """Width and power of an interval, averaged over the posterior sds (B,) of a contrast."""
        z = ndtri((1 + self.prob) / 2)
        with np.errstate(divide="ignore"):
            # estimates are normal around the effect; the interval excludes 0 where one lies z sds or more from 0
            seen = ndtr(abs(self.effect) / sd - z) + ndtr(-abs(self.effect) / sd - z)
        return PlannedSize(*sizes, width=float(2 * z * sd.mean()), power=float(seen.mean()))


@dataclass(frozen=True)
class Question:
    """A contrast of two connections, by their places, and the scales to answer by."""

    first: int
    second: int
    scales: Scales
    mean_sd: float


def contrast_sd(design: CrossedDesign, question: Question) -> FloatArray:
    """Posterior sd (B,) of a contrast of connection means given scales at B points, from the design alone.

    The Gaussian of :func:`bayesbias.numerics.marginal.mean_part`, whose precision is linear in (i, e) of each
    connection and set: i = 1 / sigma^2 and e = i / (1 + s^2 i n) for n attribute words.
    """
    scales, k = question.scales, len(design.connections)
    effects, prior = _effects(design, scales)
    size = k + len(effects)
    features, total, connection = [], [], []
    for i, met in enumerate(design.connection):
        for own in np.unique(met[met >= 0]):
            words = np.where(met == own, design.words, 0.0)
            touched = (words > 0)[effects[:, 0]] & np.isin(effects[:, 1], (-1, design.group[i]))
            x = np.zeros((len(words), size))
            x[effects[touched, 0], k + np.flatnonzero(touched)] = 1
            mean, n = words @ x / words.sum(), words.sum()
            # deviations of words from the mean of a cell have the precision i each, that mean itself has n e
            apart = x.T @ (words[:, None] * x) - n * np.outer(mean, mean)
            mean[own] = 1
            features.append(design.protected[i] * np.stack([apart, n * np.outer(mean, mean)]))
            total.append(n)
            connection.append(own)
    inverse = 1 / scales.sigma2[:, connection]
    grown = 1 + scales.s2[:, connection] * inverse * np.array(total)
    weights = np.hstack([inverse, inverse / grown])
    normal = weights @ np.stack(features, axis=1).reshape(-1, size * size)
    sd = np.hstack([np.full((len(prior), k), question.mean_sd), np.sqrt(prior)])
    # in units of prior sds the prior adds the identity, and effects without variance do no harm
    precision = normal.reshape(-1, size, size) * sd[:, :, None] * sd[:, None, :]
    precision[:, np.arange(size), np.arange(size)] += 1
    contrast = np.zeros((len(sd), size, 1))
    contrast[:, question.first, 0], contrast[:, question.second, 0] = question.mean_sd, -question.mean_sd
    variance: FloatArray = (contrast * np.linalg.solve(precision, contrast)).sum(axis=(1, 2))
    return np.sqrt(variance)


def _effects(design: CrossedDesign, scales: Scales) -> tuple[IntArray, FloatArray]:
    """Mean effects of lists, (E, 2): list, and group or -1; and their prior variances (B, E)."""
    pairs = [(i, -1) for i in range(len(design.words))]
    if scales.interaction is not None:
        met = [set(design.group[column >= 0].tolist()) for column in design.connection.T]
        pairs += [(i, group) for i, groups in enumerate(met) for group in sorted(groups)]
    effects = np.array(pairs)
    variance = scales.attribute[:, design.class_index[effects[:, 0]]]
    if scales.interaction is not None:
        variance = np.where(effects[:, 1] < 0, variance, scales.interaction[:, None])
    return effects, variance / design.words[effects[:, 0]]


def design_of(data: Distances, first: str, second: str) -> CrossedDesign:
    """The lists and sets of a table, for a contrast; a pair that is missing stands as the others of its group do."""
    groups = data.group_index
    stands = np.full((len(data.protected_words), len(data.attribute_words)), -1)
    stands[data.word, data.attribute] = data.connection
    for group in np.unique(groups):
        own = stands[groups == group]
        highest, lowest = own.max(axis=0), np.where(own < 0, len(data.connections), own).min(axis=0)
        stands[groups == group] = np.where((own < 0) & (highest == lowest), highest, own)
    sets, protected = np.unique(np.column_stack([groups, stands]), axis=0, return_counts=True)
    kinds = np.vstack([data.class_of_attribute, data.class_index, sets[:, 1:]])
    lists, words = np.unique(kinds, axis=1, return_counts=True)
    names = tuple(data.connections.tolist())
    contrasted = np.isin(lists[2:], [names.index(first), names.index(second)]).any(axis=0)
    design = CrossedDesign(names, words, lists[0], lists[1], protected, sets[:, 0], lists[2:], contrasted)
    if len(words) * (1 + len(np.unique(design.group))) > MOST_UNKNOWNS:
        raise InputError(
            f"the missing pairs leave {len(words)} kinds of attribute words: give the table a column 'group', so that "
            "a missing pair can be told from its group, or plan from the word lists"
        )
    return design


@dataclass(frozen=True)
class RelatedDesign:
    """Attribute lists behind a contrast of given protected words; Q components, L lists."""

    words: IntArray  # of each list, (L,)
    stereotype: NDArray[np.bool_]  # whether a list is a stereotype's, (L,)
    contrasted: NDArray[np.bool_]  # whether it stands in the contrast, (L,)
    kind: IntArray  # attribute class of each list among those of the connections, (L,)
    protected: int  # number of protected words
    weights: FloatArray  # of each list in each component, in cosine distance, (Q, L)
    alike: FloatArray  # mean correlation of different words of one list, (Q, L)
    across: FloatArray  # mean correlation of the words of two lists, (Q, L, L)
    unrelated: FloatArray  # mean correlation of two words of the vocabulary, (Q,)

    def sizes(self, lengths: FloatArray) -> tuple[int, int, int]:
        """Stereotype words, control words of the contrast, and protected words, with lists of these lengths."""
        own, control = self.stereotype, ~self.stereotype & self.contrasted
        return int(lengths[own].sum()), int(lengths[control].sum()), self.protected

    def variance(self, lengths: FloatArray, alike: bool) -> FloatArray:
        """Variance of the contrast for factors of 1, by the attribute classes of two lists, (A, A).

        Lists are longer by similar words, or by further unrelated topics.
        """
        times = lengths / self.words
        if alike:
            own, across = self.alike * (1 - 1 / lengths) + 1 / lengths, self.across
        else:
            topics = np.maximum(times, 1.0)
            share = 1 / np.maximum(topics[:, None], topics)
            short = np.minimum(lengths, self.words)
            first = self.alike * (1 - 1 / short) + 1 / short
            # two words of T topics are of one topic with probability 1 / T, and else as similar as random words
            own = first / topics + (1 - 1 / topics) * self.unrelated[:, None]
            across = self.across * share + (1 - share) * self.unrelated[:, None, None]
        correlations = across.copy()
        places = np.arange(len(lengths))
        correlations[:, places, places] = own
        weights = self.weights[:, :, None] * (self.kind[:, None] == np.arange(self.kind.max() + 1))
        value: FloatArray = np.einsum("qla,qlm,qmb->ab", weights, positive(correlations), weights, optimize=True)
        return value


def related_design(data: Distances, first: str, second: str) -> RelatedDesign:
    """The lists behind a contrast of a table that knows how its words are related."""
    relatedness = relatedness_for(data)
    parts = components_for(relatedness, data.protected_words)
    of_word, names = attribute_lists(data)
    member = of_word == np.arange(len(names))[:, None]
    share = _shares(data, member, first) - _shares(data, member, second)
    both = ~np.isnan(share).any(axis=1)
    if not both.any():
        raise InputError(f"no protected word has distances under both {first} and {second}")
    coefficients = np.nan_to_num(share) * whole_weights(data, both)[:, None]
    same, shares = relatedness.overlaps(member, data.attribute_words.tolist())
    across = np.moveaxis(shares @ parts.correlations.T + same[:, :, None], 2, 0)
    different = np.diagonal(shares, axis1=0, axis2=1).T
    counted = different.sum(axis=1)
    within = np.divide(different, counted[:, None], out=np.zeros_like(different), where=counted[:, None] > 0)
    # mean correlation of random pairs of the vocabulary; it stands for the inside of a list of one word too
    typical = parts.correlations @ relatedness.pairs.counts / relatedness.pairs.counts.sum()
    class_of = np.array([data.class_of_attribute[row].min() for row in member])
    return RelatedDesign(
        words=member.sum(axis=1),
        stereotype=class_of == 0,
        contrasted=(np.abs(coefficients) > 0).any(axis=0),
        kind=np.array([data.connection_classes.index(data.classes[i]) for i in class_of]),
        protected=len(data.protected_words),
        weights=(parts.loadings * np.sqrt(parts.variances)).T @ coefficients,
        alike=np.where(counted > 0, parts.correlations @ within.T, typical[:, None]),
        across=across,
        unrelated=typical,
    )


def _shares(data: Distances, member: NDArray[np.bool_], connection: str) -> FloatArray:
    """Share of each list in each protected word's distances of a connection, (J, L); NaN without any."""
    rows = data.connection == data.connections.tolist().index(connection)
    counts = np.zeros((len(data.protected_words), len(member)))
    np.add.at(counts, (data.word[rows], np.argmax(member[:, data.attribute[rows]], axis=0)), 1.0)
    total = counts.sum(axis=1, keepdims=True)
    return np.where(total > 0, counts / np.maximum(total, 1), np.nan)


TYPICAL_TABLES = 18
TYPICAL_SCALES: Mapping[str, Mapping[str, float] | float] = MappingProxyType(
    {
        "connection_sd": {"associated": 0.054, "different": 0.050, "human": 0.045, "neutral": 0.017},
        "sigma": {"associated": 0.069, "different": 0.065, "human": 0.063, "neutral": 0.073},
        "attribute_sd": {"stereotype": 0.077, "human": 0.060, "neutral": 0.083},
        "interaction_sd": 0.012,
    }
)
"""Scales in cosine distance for lists without distances: medians over the published tables of the posterior means of
the crossed model (benchmarks/builders/typical_scales.py). Single tables lie between a quarter and twice of most of
them."""
DRAWS = 300  # posterior draws of a table's own scales
FACTORS = (0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0)
LIMIT = 1000  # how many times the present length stands for a list without end
SIZES = ("stereotype_words", "control_words", "protected_words")


def _longer(varied: str, lists: str, words: str) -> str:
    """A way to vary lists in words: what lists, or words, are said to be."""
    what = varied.replace("lists, ", "lists of ").replace("all", "words of every kind")
    return f"{lists if 'lists' in what else words} {what}"


GIVEN_TABLE, GIVEN_SCALES = "this table", "given"
RELATED_TABLE = "this table, words as related as in the vectors"
TYPICAL_SPREAD = f"How much distances vary is typical of {TYPICAL_TABLES} published tables."
SPREADS = {
    GIVEN_TABLE: "How much distances vary was estimated from this table.",
    RELATED_TABLE: "How much distances vary, and how similar words are, was estimated from this table.",
    GIVEN_SCALES: "How much distances vary was given.",
}
"""Where scales are from, in sentences."""


@dataclass(frozen=True, repr=False)
class Plan(Result):
    """Numbers of words needed to see a whole-list contrast.

    Attributes
    ----------
    first, second, effect, prob, power
        The two connections, and the goal: as given to :func:`plan`.
    scales_from
        ``"this table"``, ``"typical scales of 18 published tables"`` or ``"given"``.
    present
        The lists as they are.
    needed
        One row for each way to lengthen lists: ``varied``, ``factor`` (times the present length), ``stereotype_words``,
        ``control_words``, ``protected_words``, ``width``, ``power``, ``reachable``. Where a way alone does not lead to
        the power asked for, ``factor`` and the words varied are missing, and ``width`` and ``power`` are those of lists
        1,000 times as long. Control words are those of a list that stands in the contrast; others hardly matter.
    curve
        The same columns but the last, for factors from 0.5 to 32.
    notes
        Of words in sentences: how much the choice of templates adds, and how many templates would do.
    """

    picture: ClassVar[str] = "plot_plan"

    first: str
    second: str
    effect: float
    prob: float
    power: float
    scales_from: str
    present: PlannedSize
    needed: pd.DataFrame
    curve: pd.DataFrame
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The plan in words."""
        now = self.present
        controls = f", {now.control_words:,} control" if now.control_words else ""
        return (
            f"With {now.stereotype_words:,} stereotype{controls} and {many(now.protected_words, 'protected word')} the "
            f"{percent(self.prob)} interval of {self.first}{MINUS}{self.second} is about {now.width:.3f} wide. If the "
            f"difference is {self.effect:g}, this interval excludes 0 with a probability of {share(now.power)}. "
            f"{self.ways} {SPREADS.get(self.scales_from, TYPICAL_SPREAD)}"
        )

    @property
    def ways(self) -> str:
        """The lists that would show the difference with the power that was asked for, and those that would not."""
        ways = self._ways()
        if self.present.power >= self.power:
            more = f"is reached already{', and would be with ' if ways else ''}{'; '.join(ways)}"
        elif ways:
            more = f"needs {'one of these: ' if len(ways) > 1 else ''}{'; '.join(ways)}"
        else:
            more = "is not reached by longer lists"
        return " ".join([f"A probability of {percent(self.power)} {more}.", *self._not_enough()])

    def _ways(self) -> list[str]:
        """The lists that would show the difference with the power that was asked for."""
        ways = []
        for row in self.needed[self.needed["reachable"]].to_dict("records"):
            changed = [f"{row[key]:,} {key.split('_')[0]}" for key in SIZES if row[key] != getattr(self.present, key)]
            if changed:
                factor = row["factor"]  # with two digits, never in powers of ten
                times = f"{factor:,.0f}" if factor >= 10 else f"{factor:.2g}"
                named = " and ".join(filter(None, [", ".join(changed[:-1]), changed[-1]]))
                length = ("longer", "more") if factor > 1 else ("shorter", "fewer")
                ways.append(
                    f"{_longer(row['varied'], *length)}, {times} times as many words ({named} words), with an interval "
                    f"about {row['width']:.3f} wide"
                )
        return ways

    def _not_enough(self) -> list[str]:
        """Sentences on the ways that do not lead to the power that was asked for."""
        return [
            f"{_longer(row['varied'], 'Longer', 'More')} are not enough: even with {LIMIT:,} times as many words the "
            f"probability is {share(row['power'])}, and the interval {row['width']:.3f} wide."
            for row in self.needed[~self.needed["reachable"]].to_dict("records")
        ]

    def findings(self) -> list[str]:
        return [self.sentence]

    def table(self) -> pd.DataFrame:
        """The words needed: ``needed``."""
        return self.needed


def plan(
    words_or_table: pd.DataFrame | xr.DataTree | WordLists | str | Path,
    effect: float = 0.05,
    prob: float = PROB,
    power: float = 0.8,
    first: str = "associated",
    second: str | None = None,
    scales: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> Plan:
    """Plan the numbers of words with which a whole-list contrast is seen: its equal-tailed interval excludes 0.

    Given the scales of the crossed model the posterior sd of a contrast depends on the lengths of the lists alone.
    Width and power are averaged over draws of the scales: a table's own, or, where they are typical or given,
    ``connection_sd`` spread as the present number of protected words would leave it. Longer lists are taken to be of
    the same kind as the present ones. For a table that carries relatedness the contrast is that of these protected
    words, and lists grow by words as similar as those there, which tell little new, or by unrelated words.

    Parameters
    ----------
    words_or_table
        A distance table, whose own scales are estimated; a result of :func:`fit` with a crossed model; or word lists
        (or what :func:`load_words` takes), for which typical scales are used: medians over published tables, from which
        single tables differ by a factor of two and more (control lists of your own have those of neutral words).
        Missing pairs count as measured.
    effect
        The contrast to be seen, in cosine distance, at most 2; its sign does not matter.
    prob
        Mass of the equal-tailed interval.
    power
        Probability with which the interval is to exclude 0.
    first, second
        Connections; the contrast is the mean of ``first`` minus that of ``second``, by default as in :func:`contrasts`.
    scales
        Scales to use instead: ``connection_sd``, ``sigma``, ``attribute_sd`` and ``interaction_sd`` as in the truth of
        :func:`simulate`.
    seed
        Seed of the fit, or of the spread of the scales.

    Examples
    --------
    >>> found = bb.plan("weat7", effect=0.05)
    >>> found.needed.columns.tolist()[:2]
    ['varied', 'factor']
    """
    goal = Goal(_effect(effect), probability(prob, "prob"), probability(power, "power"))
    source = words_or_table
    if isinstance(source, pd.DataFrame) and template_columns(source):
        source = fit(source, seed=seed)
    if not (isinstance(source, xr.DataTree) and TEMPLATES in source.children):
        return _plan(source, goal, first, second, scales, seed)
    # given these templates words are planned; what templates add stands beside it
    apart = source.copy()
    del apart[TEMPLATES]
    planned = _plan(apart, goal, first, second, scales, seed)
    effects = template_effects(source, planned.first, planned.second)
    return replace(planned, notes=(f"List lengths are those for these templates. {effects.text(goal.prob)}",))


type Source = pd.DataFrame | xr.DataTree | WordLists | str | Path
"""Source of lists and scales."""


def _plan(
    given: Source, goal: Goal, first: str, second: str | None, scales: Mapping[str, Any] | None, seed: int
) -> Plan:
    """The plan of words, by the model of related words where it is known how they are related."""
    if scales is None and (related := _related(given)) is not None:
        return _related_plan(*related, goal, first, second)
    data, draws, mean_sd, source = _scales_of(given, scales, whole_number(seed, "seed", least=0, most=None))
    valid = data.connections.tolist()
    first, second = contrasted(first, second, valid, data.filled)
    design = design_of(data, first, second)
    question = Question(valid.index(first), valid.index(second), draws, mean_sd)

    def answer(lists: CrossedDesign) -> PlannedSize:
        return goal.met(lists.sizes, contrast_sd(lists, question))

    return _planned(answer(design), _ways(design, answer), first, second, goal, source)


def _ways(design: CrossedDesign, answer: Callable[[CrossedDesign], PlannedSize]) -> list[Way]:
    """Ways to lengthen the lists of a design; those that are empty are not varied alone."""
    stereotype, control, _ = design.sizes
    varied: dict[str, Varied] = {"protected words": (False, False, True), "all": (True, True, True)}
    if control:
        varied = {"stereotype and control lists" if stereotype else "control lists": (True, True, False)} | varied
    if stereotype:
        varied = {"stereotype lists": (True, False, False)} | varied
    ways = []
    for name, which in varied.items():
        changed = {key for key, longer in zip(SIZES, which, strict=True) if longer}

        def sized(length: int, which: Varied = which) -> PlannedSize:
            return answer(_grown(design, which, length)[0])

        ways.append(Way(name, sized, _grown(design, which)[1], changed))
    return ways


def _related(source: object) -> tuple[ModelSpec, Distances] | None:
    """The model of related words and the data of a table or fit that knows how its words are; None of another."""
    if isinstance(source, xr.DataTree):
        result = Fit.read(source)
        spec, data = result.spec, result.data
    elif relatedness_of(source) is not None:
        spec, data = load_model(RELATED), Distances.read(source)
    else:
        return None
    family = family_of(spec)
    return family.prepared(spec, data) if family.needs_relatedness else None


WAYS = {
    "stereotype lists, similar words": (True, False, True),
    "stereotype lists, unrelated words": (True, False, False),
    "stereotype and control lists, similar words": (True, True, True),
    "stereotype and control lists, unrelated words": (True, True, False),
}
"""Ways to lengthen lists of related words: stereotype lists, control lists, by words as similar as those there."""


def _related_plan(spec: ModelSpec, data: Distances, goal: Goal, first: str, second: str | None) -> Plan:
    """The plan for given protected words: lists grow by similar or by unrelated words."""
    first, second = contrasted(first, second, data.connections.tolist(), data.filled)
    design = related_design(data, first, second)
    grid = related_posterior(spec, data).grid
    factors, now = factor_points(grid, range(len(grid.mass))), design.words.astype(float)

    def answer(lengths: FloatArray, alike: bool) -> PlannedSize:
        # similar words tell no more than unrelated ones, though the similarity of a few words may look so by chance
        by_class = [design.variance(lengths, each) for each in ((True, False) if alike else (False,))]
        variance = np.max([np.einsum("ma,ab,mb->m", factors, each, factors) for each in by_class], axis=0)
        return goal.met(design.sizes(lengths), np.sqrt(np.maximum(variance, 0.0)))

    controls, ways = ~design.stereotype & design.contrasted, []
    for name, (stereotype, control, alike) in WAYS.items():
        varied = (design.stereotype & stereotype) | (controls & control)

        def sized(percent: int, varied: NDArray[np.bool_] = varied, alike: bool = alike) -> PlannedSize:
            return answer(np.where(varied, np.maximum(1, np.round(now * (percent / 100))), now), alike)

        both = design.sizes(now), design.sizes(np.where(varied, LIMIT * now, now))
        changed = {key for key, short, long in zip(SIZES, *both, strict=True) if short != long}
        if not control or controls.any():
            ways.append(Way(name, sized, 100, changed))
    return _planned(answer(now, True), ways, first, second, goal, RELATED_TABLE)


class Way(NamedTuple):
    """A way to lengthen lists: lists by their length in steps, how many these are now, and which numbers change."""

    name: str
    sized: Callable[[int], PlannedSize]
    now: int
    varied: set[str]


def _planned(present: PlannedSize, ways: Sequence[Way], first: str, second: str, goal: Goal, source: str) -> Plan:
    """The fewest words that show the difference in each way, by bisection, since power grows with every list."""
    needed, curve = [], []
    for name, sized, now, varied in ways:

        def shows(length: int, sized: Callable[[int], PlannedSize] = sized) -> bool:
            return sized(length).power >= goal.power

        endless = asdict(sized(LIMIT * now))
        row = {"varied": name, "factor": float("nan"), "reachable": False, **endless, **dict.fromkeys(varied, pd.NA)}
        if endless["power"] >= goal.power:
            fewest = 1 + bisect_left(range(1, LIMIT * now), True, key=shows)
            row = {"varied": name, "factor": fewest / now, "reachable": True, **asdict(sized(fewest))}
        needed.append(row)
        lengths = {factor: max(1, int(factor * now + 0.5)) for factor in FACTORS}
        curve += [{"varied": name, "factor": factor, **asdict(sized(size))} for factor, size in lengths.items()]
    columns = ["varied", "factor", *SIZES, "width", "power", "reachable"]
    table = pd.DataFrame(needed, columns=columns).astype(dict.fromkeys(SIZES, "Int64"))
    return Plan(first, second, *goal, source, present, table, pd.DataFrame(curve))


def _effect(value: object) -> float:
    if not (contrast := finite_number(value, "effect", most=WIDEST)):
        raise InputError(f"effect is {value!r}: give the contrast to be seen in cosine distance, such as 0.05")
    return contrast


Varied = tuple[bool, bool, bool]  # whether stereotype lists, control lists and protected words are varied


def _grown(design: CrossedDesign, way: Varied, longest: int | None = None) -> tuple[CrossedDesign, int]:
    """The design with the longest of the varied lists as long as asked, and how long it is now.

    The others grow in proportion; none is empty.
    """
    stereotype, control, protected = way
    lists = np.where(design.stereotype, stereotype, control & design.contrasted)
    sets = np.full(len(design.protected), protected)
    now = int(np.concatenate([design.words[lists], design.protected[sets]]).max())
    words, protected_words = (
        np.where(varied, np.maximum(1, (2 * sizes * (longest or now) + now) // (2 * now)), sizes)
        for sizes, varied in ((design.words, lists), (design.protected, sets))
    )
    return replace(design, words=words, protected=protected_words), now


def _scales_of(table: Source, scales: Mapping[str, Any] | None, seed: int) -> tuple[Distances, Scales, float, str]:
    """The lists as data, scales at B points, the prior sd of connection means, and where the scales are from."""
    if isinstance(table, pd.DataFrame) and scales is None:
        table = fit(table, draws=DRAWS, chains=1, seed=seed)
    if isinstance(table, xr.DataTree):
        result = Fit.read(table)
        if scales is None:
            return result.data, _fitted(result), prior_of_means(result.spec).sd, GIVEN_TABLE
    elif not isinstance(table, pd.DataFrame):
        table = _every_pair(table if isinstance(table, WordLists) else load_words(table))
    spec, data = fit_for_crossed(load_model("crossed"), read_distances(table, check=False))
    source = GIVEN_SCALES
    if scales is None:  # for control lists of other names those of neutral words
        source = f"typical scales of {TYPICAL_TABLES} published tables"
        scales = {
            name: {**dict.fromkeys(data.classes, value["neutral"]), **value} if isinstance(value, Mapping) else value
            for name, value in TYPICAL_SCALES.items()
        }
    point = _single_point(scales, spec, data)
    return data, _as_estimated(point, data, np.random.default_rng(seed)), prior_of_means(spec).sd, source


def _fitted(result: Fit) -> Scales:
    """Variances at some draws of a fit."""
    every = family_of(result.spec).scales(result)
    if every is None:
        raise InputError(
            f"the model {result.model!r} has no effects of attribute words, or tails that are not normal: "
            "give a fit of the crossed model, or the distance table itself"
        )
    data, total = result.data, len(every["sigma"])
    values = np.unique(np.linspace(0, total - 1, min(DRAWS, total)).astype(int))
    drawn = {name: sd[values] for name, sd in every.items()}
    return variances_of(drawn, len(data.connections), len(data.attribute_classes))


def _single_point(scales: Mapping[str, Any], spec: ModelSpec, data: Distances) -> Scales:
    """Variances at one point from scales given by name; interaction_sd only where the model has word x group."""
    if not isinstance(scales, Mapping):
        raise InputError(f"scales is {scales!r}: give a mapping of connection_sd, sigma, attribute_sd, interaction_sd")
    known = {name: value for name, value in scales.items() if name != "interaction_sd" or spec.terms.word_x_group}
    truth = complete_truth(spec, data, {**known, "connection_mean": 1.0}, np.random.default_rng(0))
    low = [name for name in known if not (np.isfinite(truth[name] ** 2) & (truth[name] ** 2 > 0)).all()]
    if low:
        raise InputError(f"the scale {low[0]} is {scales[low[0]]!r}: give positive numbers in cosine distance")
    return variances_of({name: truth[name][None] for name in known}, len(data.connections), len(data.attribute_classes))


def _as_estimated(point: Scales, data: Distances, rng: np.random.Generator) -> Scales:
    """Scales at many points, connection_sd spread as a fit of the lists would have it.

    With J protected words its posterior under a flat prior is that of s^2 (J - 1) / chi^2(J - 2). The other scales rest
    on many more distances or, those of attribute classes, on each other.
    """
    words = data.filled.sum(axis=0)
    spread = np.maximum(words - 1, 1) / rng.chisquare(np.maximum(words - 2, 2), (DRAWS, len(words)))
    return Scales(
        sigma2=np.tile(point.sigma2, (DRAWS, 1)),
        s2=point.s2 * spread,
        attribute=np.tile(point.attribute, (DRAWS, 1)),
        interaction=None if point.interaction is None else np.tile(point.interaction, DRAWS),
    )


def _every_pair(lists: WordLists) -> pd.DataFrame:
    """Word lists as a table in which every protected word meets every attribute word, at distance 1."""
    rows = []
    for group, protected in lists.protected.items():
        parts: list[tuple[str, Sequence[str]]] = [("associated", lists.stereotypes.get(group, ()))]
        parts += [("different", words) for name, words in lists.stereotypes.items() if name != group]
        parts += [(name, lists.controls[name]) for name in in_order(lists.controls)]
        stands: dict[str, str] = {}
        for connection, words in parts:
            for word in words:
                stands.setdefault(word, connection)
        rows += [(own, group, word, connection, 1.0) for own in protected for word, connection in stands.items()]
    table = pd.DataFrame(rows, columns=["protected_word", "group", "attribute_word", "connection", "distance"])
    return table.assign(attribute_class=table["connection"])
