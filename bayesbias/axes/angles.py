"""Two axes, their angle and words in the quadrants between them; and two factors of words on one axis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from bayesbias._support.arguments import one_of, probability, whole_number
from bayesbias._support.figures import drawing
from bayesbias._support.phrases import ends_of, excludes_zero, negatives, percent, share, signed
from bayesbias._support.results import Cited, Page, Picture, Result, Section, table_of, unsaid
from bayesbias._support.threads import one_thread
from bayesbias.axes.places import MAY_BE, POPULATIONS, Axis
from bayesbias.axes.poles import refuse_one_pair, refuse_templates, sample_beside
from bayesbias.checks.summaries import PROB, describe
from bayesbias.errors import InputError, agreed, listed, many, shown
from bayesbias.numerics.arrays import FloatArray
from bayesbias.numerics.offsets import TYPICAL, Field, MeanOffset, covariances, field_of, mean_offset, signal
from bayesbias.numerics.related import root_of
from bayesbias.numerics.second_stage import log_half_cauchy
from bayesbias.words import WordLists, load_words, words_given

RHO = np.sin(np.pi / 2 * np.linspace(-0.98, 0.98, 49))
"""Correlations of what lies behind them, denser near the ends."""
DRAWS = 4000
QUADRANTS = "10.1093/pnasnexus/pgae089"
LEAST = 2
"""Words of a group, of which two factors make one each, that show a scatter."""


@dataclass(frozen=True, repr=False, eq=False)
class Angle(Result):
    """The cosine between two axes.

    Attributes
    ----------
    names, ends
        Of the two axes, and of the negative and the positive pole of each.
    draws
        Posterior draws (4000,) of the cosine of the axes that further pairs of the two oppositions would show.
    plain
        Cosine of the two mean offsets, errors not taken out.
    chance
        Share of pairs of axes without a relation whose cosine is as far from 0 as the plain one.
    doubts
        Sentences on axes whose pairs show no credible common direction.
    """

    names: tuple[str, str]
    ends: tuple[tuple[str, str], tuple[str, str]]
    draws: FloatArray
    plain: float
    chance: float
    doubts: str
    prob: float
    cited: tuple[Any, ...]
    notes: tuple[str, ...]

    def table(self) -> pd.DataFrame:
        """One row: ``quantity``, ``mean``, ``sd``, ``low``, ``high``, ``p_positive``, ``plain``, ``chance``."""
        row = {"quantity": "cosine", **describe(self.draws, self.prob), "p_positive": (self.draws > 0).mean()}
        table = pd.DataFrame([row | {"plain": self.plain, "chance": self.chance}])
        return table.astype({name: "string" if name == "quantity" else float for name in table})

    def findings(self) -> list[str]:
        """The result in sentences."""
        row, axes = self.table().iloc[0], " and ".join(self.names)
        low, high = row["low"], row["high"]
        ends = f"{signed(low, digits=2)} to {signed(high, digits=2)}"
        mass = percent(self.prob)
        unrelated = (
            f"two axes without a relation, made of as many pairs, {share(self.chance)} have an uncorrected cosine "
            f"at least as far from 0 as {signed(self.plain, digits=2)}."
        )
        further = [f"Of {unrelated}"]
        if low <= 0 <= high:
            answer = (
                f"Whether the axes {axes} go together is not known: the cosine, corrected for errors, may lie "
                f"anywhere from {ends} ({mass} interval; uncorrected {signed(self.plain, digits=2)})."
            )
        else:
            answer = f"The axes {axes} have a cosine of {signed(row['mean'], digits=2)} ({mass} interval {ends})"
            if self.chance > MAY_BE:
                answer, further = f"{answer}, which may be chance: of {unrelated}", []
            else:
                answer += f": {self.ends[0][1]} goes with {self.ends[1][1] if low > 0 else self.ends[1][0]}."
        return [
            f"{self.doubts}{answer}",
            "A cosine of 1 is that of two axes with one direction, 0 that of axes without a relation, and "
            "\N{MINUS SIGN}1 that of axes with opposite directions.",
            f"The two axes as they stand have a cosine of {signed(self.plain, digits=2)}. Errors of both are in it; "
            "they are taken out of the corrected one, which is that for further pairs of both oppositions (mean "
            f"{signed(row['mean'], digits=2)}).",
            *further,
        ]

    def front(self) -> Page:
        """The first screen of a report."""
        answer, meaning, *sure = self.findings()
        lines = {"What is a cosine?": meaning, "How sure?": " ".join(sure), "What limits it?": " ".join(self.notes)}
        lines |= unsaid()
        ends = [_called(*one) for one in zip(self.names, self.ends, strict=True)]
        return Page(
            title=f"Do the axes {self.names[0]} and {self.names[1]} go together?",
            lead=f"Two axes of one embedding: {ends[0]} and {ends[1]}.",
            answer=answer,
            lines={question: line for question, line in lines.items() if line},
            picture=None,
        )

    def sections(self) -> tuple[Section, ...]:
        """The parts of a report: the cosine in numbers."""
        ends = {"mean": ("cosine", "plain"), "low": ("low", "plain"), "high": ("high", "plain")}
        more = {"p_positive": ("P(> 0)", "share"), "plain": ("as they stand", "plain")}
        chance = {"chance": ("share of unrelated axes as far from 0", "percent")}
        caption = f"Cosine between {' and '.join(self.names)}, {percent(self.prob)} interval"
        return (Section("Cosine", [table_of(caption, self.table(), ends | more | chance)]),)

    def sources(self) -> tuple[Any, ...]:
        """The pairs and the embedding."""
        return self.cited


def _doubts(*axes: Axis) -> str:
    """Sentences on axes whose pairs show no credible common direction, each with a blank after it."""
    return "".join(dict.fromkeys(f"{one.doubt} " for one in axes if one.doubt))


def _called(name: str, ends: tuple[str, str]) -> str:
    """An axis with its ends, where its name does not say them."""
    poles = " to ".join(ends)
    return name if name == poles else f"{name} (from {poles})"


@dataclass(frozen=True)
class TwoOffsets:
    """Two mean offsets in one field, and their covariances (Q,) over either population."""

    field: Field
    offsets: tuple[MeanOffset, MeanOffset]
    covariances: Mapping[str, FloatArray]


def _check_pair(axis_: Axis, other: Axis) -> None:
    """Two axes of words, in one embedding."""
    for what in (axis_, other):
        if not isinstance(what, Axis):
            raise InputError(f"given is {shown(what)}: give two results of bb.axis")
        refuse_templates(what.templates, "a result of two axes")
    if axis_.kv is not other.kv and axis_.embedding != other.embedding:
        raise InputError(
            f"the axes are of different embeddings, {axis_.embedding['name']} and {other.embedding['name']}: make both "
            "with one"
        )


def _refuse_one_pair(axis_: Axis, other: Axis) -> None:
    """Two axes that show how their pairs scatter."""
    for one in (axis_, other):
        refuse_one_pair(one.offset, "a statement on further pairs of two axes", one.poles)


def _together(axis_: Axis, other: Axis) -> TwoOffsets:
    """Two axes in the coordinates of one sample of the vocabulary, beside the poles of both."""
    strata, keys = (axis_.poles.strata, other.poles.strata), {*axis_.poles.keys, *other.poles.keys}
    with one_thread():
        field = field_of(sample_beside(axis_.kv, sorted(keys), 0))
        first, second = (mean_offset(field, part) for part in strata)
        shared = covariances(field, *strata, first.factor * second.factor, first.factors * second.factors)
    return TwoOffsets(field, (first, second), dict(zip(POPULATIONS, shared, strict=True)))


def angle(axis: Axis, other: Axis, prob: float = PROB, seed: int = 0) -> Angle:
    """The cosine between two axes of one embedding, as further pairs of both oppositions would show it.

    What lies behind the two mean offsets is normal with a correlation whose prior is uniform; the errors are those of
    the pairs. Errors attenuate the cosine of the mean offsets, which the posterior takes out.

    Parameters
    ----------
    axis, other
        Results of :func:`axis` in one embedding.
    prob, seed
        Mass of the interval; seed of the draws.

    Examples
    --------
    >>> gender, affluence = (bb.axis("glove-50d-slice", name) for name in ("gender", "affluence"))
    >>> bb.angle(gender, affluence).table()["quantity"].tolist()
    ['cosine']
    """
    mass, start = probability(prob, "prob"), whole_number(seed, "seed", least=0, most=None)
    _check_pair(axis, other)
    _refuse_one_pair(axis, other)
    both = _together(axis, other)
    draws, plain, chance = cosines(both, np.random.default_rng([start, 21]))
    return Angle(
        names=(axis.name, other.name),
        ends=(axis.ends, other.ends),
        draws=draws,
        plain=plain,
        chance=chance,
        doubts=_doubts(axis, other),
        prob=mass,
        cited=tuple(dict.fromkeys((*axis.sources(), *other.sources()))),
        notes=tuple(dict.fromkeys((*axis.poles.notes, *other.poles.notes))),
    )


def cosines(both: TwoOffsets, rng: np.random.Generator) -> tuple[FloatArray, float, float]:
    """Draws (DRAWS,) of the cosine of what lies behind two offsets, that of the offsets, and how often by chance."""
    sds, drawn = _behind(both, DRAWS, rng)
    field, z = both.field, [offset.mean for offset in both.offsets]

    def cosine(first: FloatArray, second: FloatArray) -> FloatArray:
        result: FloatArray = (first * second) @ field.variances / (field.lengths(first) * field.lengths(second))
        return result

    plain = float(cosine(*z))
    # axes without a relation: the same sizes, no correlation, offsets seen with their errors
    unrelated = [
        np.sqrt(own[:, None] ** 2 + offset.pairs) * rng.standard_normal((DRAWS, len(offset.pairs)))
        for own, offset in zip(sds, both.offsets, strict=True)
    ]
    return cosine(*drawn), plain, float((np.abs(cosine(*unrelated)) >= abs(plain)).mean())


def _behind(both: TwoOffsets, draws: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Posterior draws of what lies behind two mean offsets: its standard deviations (2, D), and it itself (2, D, Q)."""
    first, second = both.offsets
    shared = both.covariances["pairs"]
    noise = np.stack([first.pairs, second.pairs])  # (2, Q)
    sds = [signal(offset).sds for offset in both.offsets]  # those that each axis leaves possible by itself
    grid = np.array(np.meshgrid(*sds, RHO, indexing="ij")).reshape(3, -1)
    a = grid[0][:, None] ** 2 + noise[0]
    b = grid[1][:, None] ** 2 + noise[1]
    c = (grid[0] * grid[1] * grid[2])[:, None] + shared
    determinant = np.maximum(a * b - c**2, 1e-300)
    z = np.stack([first.mean, second.mean])
    squares = (b * z[0] ** 2 - 2 * c * z[0] * z[1] + a * z[1] ** 2) / determinant
    log = -0.5 * (np.log(determinant) + squares).sum(axis=1)
    log += log_half_cauchy(grid[0], TYPICAL) + log_half_cauchy(grid[1], TYPICAL)
    log += np.log(np.cos(np.arcsin(grid[2])))  # widths of the cells of the correlation
    mass = np.exp(log - log.max())
    node = rng.choice(len(mass), draws, p=mass / mass.sum())
    # what lies behind the two offsets, given these, at the nodes drawn of two sds and a correlation
    first_sd, second_sd, rho = grid[:, node, None]
    prior = np.concatenate([first_sd**2, rho * first_sd * second_sd, rho * first_sd * second_sd, second_sd**2], axis=1)
    prior = prior.reshape(draws, 1, 2, 2)
    gain = prior @ np.linalg.inv(prior + _joint(noise, shared))
    root = root_of(prior - gain @ prior)
    drawn = np.einsum("dqij,jq->idq", gain, z)
    return grid[:2, node], drawn + np.einsum("dqij,dqj->idq", root, rng.standard_normal((*root.shape[:2], 2)))


def _joint(variances: FloatArray, shared: FloatArray) -> FloatArray:
    """Covariances (Q, 2, 2) of two offsets from their variances (2, Q) and what they share (Q,)."""
    rows = np.stack([variances[0], shared, shared, variances[1]], axis=1)
    return rows.reshape(-1, 2, 2)


ERRORS = {
    "oppositions": "axes without a meaning, whose pairs are as similar and as parallel as these",
    "pairs": "further pairs of both oppositions, and places are shrunken towards 0 by what these leave open",
}
"""Populations that the errors of quadrants are over."""


@dataclass(frozen=True, repr=False, eq=False)
class Quadrants(Result):
    """Words between two axes.

    Attributes
    ----------
    axes
        The two axes with the words placed.
    names
        Of the four quadrants, by the signs (+ +), (+ -), (- +), (- -) of the two places.
    draws
        Joint posterior draws (D, words, 2) of the places.
    """

    picture: ClassVar[str] = "plot_quadrants"

    axes: tuple[Axis, Axis]
    names: tuple[str, str, str, str]
    draws: FloatArray
    population: str
    prob: float

    @property
    def notes(self) -> tuple[str, ...]:
        """Missing words and limits of the result."""
        return tuple(dict.fromkeys((*self.axes[0].notes, *self.axes[1].notes)))

    def _signs(self) -> FloatArray:
        """True where a draw of a word lies in a quadrant, (D, words, 4)."""
        first, second = (self.draws[:, :, i] > 0 for i in range(2))
        return np.stack([first & second, first & ~second, ~first & second, ~first & ~second], axis=2)

    def table(self) -> pd.DataFrame:
        """One row a word: ``word``, its two places, the probability of each quadrant, and the most probable one."""
        probabilities = self._signs().mean(axis=0)
        places = {f"{one.name} place": one.places for one in self.axes}
        table = pd.DataFrame(
            {
                "word": pd.array(list(self.axes[0].words), dtype="string"),
                **places,
                **{f"p_{name}": probabilities[:, i] for i, name in enumerate(self.names)},
                "quadrant": pd.array([self.names[i] for i in probabilities.argmax(axis=1)], dtype="string"),
            }
        )
        between = f"words between {self._between(0)} and {self._between(1)} in {self.axes[0].embedding['name']}"
        table.attrs = {"subject": f"{between}{self._centred}", "sign": "p: probability that a word lies in a quadrant"}
        return table

    def brief(self) -> pd.DataFrame:
        """The words without the most probable quadrant, for which a line has no room."""
        return self.table().drop(columns="quadrant")

    def shares(self) -> pd.DataFrame:
        """One row a quadrant: ``quadrant``, ``counted`` (share of words with these signs of their places), and the
        posterior ``mean``, ``sd``, ``low``, ``high`` of the share of words.
        """
        drawn = self._signs().mean(axis=1)
        first, second = (one.places > 0 for one in self.axes)
        counted = [np.mean(a & b) for a in (first, ~first) for b in (second, ~second)]
        return pd.DataFrame(
            {"quadrant": pd.array(self.names, dtype="string"), "counted": counted, **describe(drawn, self.prob)}
        )

    def findings(self) -> list[str]:
        """The result in sentences, without its notes."""
        shares = self.shares()
        said = [
            f"{row['quadrant']} {row['mean']:.0%} ({row['low']:.0%} to {row['high']:.0%})"
            for row in shares.to_dict("records")
        ]
        plain = [f"{row['quadrant']} {row['counted']:.0%}" for row in shares.to_dict("records")]
        sure = int((self._signs().mean(axis=0).max(axis=1) >= self.prob).sum())
        count = len(self.axes[0].words)
        doubts = _doubts(*self.axes)
        known = f"The quadrant of {sure} of {many(count, 'word')} is known with a probability of {percent(self.prob)}"
        return [
            f"{doubts}{many(count, 'word')} {agreed(count, 'lies', 'lie')} in the quadrants of "
            f"{self._between(0)} and {self._between(1)}{self._centred}. Expected share of words in each quadrant, with "
            f"its {percent(self.prob)} interval: {'; '.join(said)}.",
            "The quadrant of no word is known." if doubts else f"{known} or more.",
            f"By the signs of the places alone, without errors, the shares are: {'; '.join(plain)}.",
            f"The errors are those of {ERRORS[self.population]}, on both axes at once.",
        ]

    @property
    def _centred(self) -> str:
        """The end of a sentence on what places are relative to, which decides quadrants."""
        first, second = (one.centred_on or "equal distance to both poles" for one in self.axes)
        each = f"{first} on both axes" if first == second else f"{first} on the first axis, to {second} on the other"
        return f", relative to {each}"

    def _between(self, i: int) -> str:
        return _called(self.axes[i].name, self.axes[i].ends)

    def front(self) -> Page:
        """The first screen of a report."""
        answer, sure, plain, errors = self.findings()
        first, second = self.axes
        lines = {"How sure?": f"{sure} {errors}", "Without errors?": plain, "What limits it?": " ".join(self.notes)}
        lines |= unsaid()
        return Page(
            title=f"Where do words lie between {first.name} and {second.name}?",
            lead=f"Two axes of {first.embedding['name']}, {many(len(first.words), 'word')}.",
            answer=answer,
            lines={question: line for question, line in lines.items() if line},
            picture=Picture(
                "quadrants",
                f"Words in the plane of {first.name} and {second.name}, with {percent(self.prob)} intervals",
                partial(drawing, "plot_quadrants", self),
            ),
        )

    def sections(self) -> tuple[Section, ...]:
        """The parts of a report: shares of the quadrants, and the words."""
        ends = {"mean": ("share", "percent"), "low": ("low", "percent"), "high": ("high", "percent")}
        shares = {"quadrant": ("quadrant", "text"), "counted": ("by signs alone", "percent"), **ends}
        words = {"word": ("word", "text"), **{f"p_{name}": (name, "share") for name in self.names}}
        return (
            Section("Quadrants", [table_of("Share of words in each quadrant", self.shares(), shares)]),
            Section("Words", [table_of("Probability that each word lies in each quadrant", self.table(), words)]),
        )

    def sources(self) -> tuple[Any, ...]:
        """The works that began with such quadrants and places, the pairs and the embedding."""
        every: tuple[Cited, ...] = (Cited("quadrants", doi=QUADRANTS), *self.axes[0].sources(), *self.axes[1].sources())
        return tuple(dict.fromkeys(every))


def quadrants(
    axis_: Axis,
    other: Axis,
    traits: Iterable[str] | str | Path,
    population: str = "oppositions",
    prob: float = PROB,
    draws: int = DRAWS,
    seed: int = 0,
) -> Quadrants:
    """Words in the quadrants of two axes, with the probability of each quadrant and the errors of both axes at once.

    Parameters
    ----------
    axis_, other
        Results of :func:`axis` in one embedding; places are centred and adjusted as theirs are.
    traits
        Words, or a list that :func:`load_list` takes.
    population, prob
        ``"oppositions"``: errors are those of axes without a meaning, as in :meth:`Axis.table`. ``"pairs"``: places are
        those that lie behind both axes, as further pairs would show them, shrunken towards 0 as in :func:`angle`.
        Mass of the intervals.
    draws, seed
        Of the places.

    References
    ----------
    Charlesworth, T. E. S., Ghate, K., Caliskan, A. and Banaji, M. R. (2024). Extracting intersectional stereotypes from
    embeddings: developing and validating the Flexible Intersectional Stereotype Extraction procedure. PNAS Nexus 3(3).
    https://doi.org/10.1093/pnasnexus/pgae089

    Examples
    --------
    >>> gender, affluence = (bb.axis("glove-50d-slice", name) for name in ("gender", "affluence"))
    >>> bb.quadrants(gender, affluence, ["nurse", "banker", "maid"]).table()["word"].tolist()
    ['nurse', 'banker', 'maid']
    """
    one_of(population, tuple(POPULATIONS), "population")
    mass, size = probability(prob, "prob"), whole_number(draws, "draws", 100)
    start = whole_number(seed, "seed", least=0, most=None)
    _check_pair(axis_, other)
    words = words_given(traits, "traits")
    placed = [on.with_words(words) for on in (axis_, other)]
    both = _together(axis_, other)
    rng = np.random.default_rng([start, 22])
    if population == "pairs":
        _refuse_one_pair(axis_, other)
        roots = both.field.basis * np.sqrt(both.field.variances)
        behind = [on.field.offsets(own @ roots.T) for on, own in zip(placed, _behind(both, size, rng)[1], strict=True)]
        places = np.stack([own @ on.coordinates.T for on, own in zip(placed, behind, strict=True)], axis=2)
    else:
        places = _shown_by_chance(both, placed, size, rng)
    ends = [one.ends for one in placed]
    names = tuple(f"{a}, {b}" for a in ends[0][::-1] for b in ends[1][::-1])
    return Quadrants((placed[0], placed[1]), names, places, population, mass)  # type: ignore[arg-type]  # four names


def _shown_by_chance(both: TwoOffsets, placed: Sequence[Axis], draws: int, rng: np.random.Generator) -> FloatArray:
    """Draws (D, words, 2) of places with the errors of axes without a meaning."""
    sds = np.sqrt([offset.opposition for offset in both.offsets])
    correlations = np.clip(both.covariances["oppositions"] / sds.prod(axis=0), -1, 1)
    standard = rng.standard_normal((draws, len(correlations), 2))
    drawn = np.einsum("qij,dqj->idq", root_of(_joint(np.ones_like(sds), correlations)), standard)
    # bases of one space: standard errors turned into that of each axis stay standard, and its variances are its own
    errors = [
        (own @ (both.field.basis.T @ on.field.basis) * np.sqrt(on.offset.opposition)) @ on.coordinates.T
        for own, on in zip(drawn, placed, strict=True)
    ]
    return np.stack([on.places + error for on, error in zip(placed, errors, strict=True)], axis=2)


@dataclass(frozen=True, repr=False, eq=False)
class Intersections(Result):
    """Main effects and interactions of two factors of protected words on one axis.

    Attributes
    ----------
    axis
        The axis with the protected words placed.
    factors
        The two factors, levels to groups.
    groups
        Group to its words that were found.
    effects
        One row an effect: ``kind`` (``main`` or ``interaction``), ``effect``, ``mean``, ``sd``, ``low``, ``high``,
        ``p_positive``.
    freedom
        Degrees of freedom of the scatter of words within groups.
    """

    notes: ClassVar[tuple[str, ...]] = ()

    axis: Axis
    factors: Mapping[str, Mapping[str, tuple[str, ...]]]
    groups: Mapping[str, tuple[str, ...]]
    effects: pd.DataFrame
    population: str
    prob: float
    freedom: int

    def table(self) -> pd.DataFrame:
        """The effects: see ``effects``."""
        return self.effects

    def cells(self) -> pd.DataFrame:
        """One row a group: ``group``, its level of either factor, mean ``place``, and number of ``words``."""
        place = dict(zip(self.axis.words, self.axis.places, strict=True))
        rows = [
            (group, *_levels(self.factors, group), float(np.mean([place[word] for word in words])), len(words))
            for group, words in self.groups.items()
        ]
        return pd.DataFrame(rows, columns=["group", *self.factors, "place", "words"])

    def findings(self) -> list[str]:
        """The result in sentences, without its notes."""
        rows = self.effects[self.effects["kind"] == "interaction"]
        apart = rows[rows.apply(excludes_zero, axis=1)]
        named = [f"{row['effect']} ({signed(row['mean'], '+')}, {ends_of(row)})" for row in apart.to_dict("records")]
        low, high = self.axis.ends
        answer = (
            f"On the axis from {low} to {high} these groups are not the sum of their parts (+: nearer to {high} than "
            f"it): {listed(named)}."
            if named
            else f"On the axis from {low} to {high} no group is found to differ from the sum of its parts: the "
            f"{percent(self.prob)} intervals of all interactions include 0."
        )
        main = [
            f"{row['effect']} {signed(row['mean'], '+')} ({ends_of(row)})"
            for row in self.effects[self.effects["kind"] == "main"].to_dict("records")
        ]
        return [
            f"{_doubts(self.axis)}{negatives(answer)}",
            f"Main effects: {', '.join(main)}; differences from the mean over groups, in cosine distance.",
            f"Errors are over further words of each group and, of the axis, over {self.population}: "
            f"{POPULATIONS[self.population]}.",
        ]

    def sections(self) -> tuple[Section, ...]:
        """The parts of a report: effects and groups."""
        ends = {"mean": ("mean", "number"), "low": ("low", "number"), "high": ("high", "number")}
        effects = {"kind": ("kind", "text"), "effect": ("effect", "text"), **ends, "p_positive": ("P(> 0)", "share")}
        groups = {name: (name, "text") for name in ("group", *self.factors)}
        groups |= {"place": ("place", "number"), "words": ("words", "count")}
        return (
            Section("Effects", [table_of("Differences from the sum of their parts", self.effects, effects)]),
            Section("Groups", [table_of("Mean places of groups", self.cells(), groups)]),
        )

    def sources(self) -> tuple[Any, ...]:
        """The pairs and the embedding."""
        every: tuple[Cited, ...] = self.axis.sources()
        return every


def intersections(
    axis: Axis, words: WordLists | str | Path, population: str = "oppositions", prob: float = PROB
) -> Intersections:
    """Main effects and interactions of two factors of protected words, such as gender and race, on one axis.

    With equal weights of groups, the place of a group is the mean over groups, plus the effects of its two levels, plus
    an interaction: what makes it more, or less, than the sum of its parts. Errors are those of the axis, which all
    groups share, and of the scatter of words within groups, with Student's tails.

    Parameters
    ----------
    axis
        A result of :func:`axis`, of pairs or of two lists of attribute words.
    words
        Word lists with two ``factors`` whose levels divide the groups, each pair of levels being one group, or what
        :func:`load_words` takes: ``[factors.gender]`` with ``female = ["black women", "white women"]`` and so on.
    population, prob
        What the errors of the axis are over, as in :meth:`Axis.table`; mass of the intervals.

    Returns
    -------
    Intersections
        ``table()`` (effects), ``cells()`` (mean places), ``text()``.

    References
    ----------
    Crenshaw, K. (1989). Demarginalizing the intersection of race and sex. University of Chicago Legal Forum 1989(1).

    Examples
    --------
    >>> groups = {"aunts": ["aunt", "niece"], "uncles": ["uncle", "nephew"]}
    >>> groups |= {"girls": ["girl", "daughter"], "boys": ["boy", "son"]}
    >>> lists = bb.WordLists("family", groups, {}, {"human": ["people"]}, factors={
    ...     "gender": {"female": ["aunts", "girls"], "male": ["uncles", "boys"]},
    ...     "age": {"old": ["aunts", "uncles"], "young": ["girls", "boys"]},
    ... })
    >>> found = bb.intersections(bb.axis("glove-50d-slice", "affluence"), lists)
    >>> found.table()["effect"].tolist()[:2]
    ['female', 'male']
    """
    if not isinstance(axis, Axis):
        raise InputError(f"axis is {shown(axis)}: give a result of bb.axis")
    refuse_templates(axis.templates, "intersections")
    lists = load_words(words) if isinstance(words, str | Path) else words
    if not isinstance(lists, WordLists) or not lists.factors:
        raise InputError(
            "words have no factors: give word lists whose [factors] name two, each with its levels and their groups"
        )
    one_of(population, tuple(POPULATIONS), "population")
    mass = probability(prob, "prob")
    placed = axis.with_words([word for members in lists.protected.values() for word in members])
    inside = set(placed.words)
    groups = {name: tuple(w for w in members if w in inside) for name, members in lists.protected.items()}
    if small := [name for name, members in groups.items() if len(members) < LEAST]:
        raise InputError(f"of the groups {listed(small)} fewer than {LEAST} words are placed: add words to them")
    factors = {
        name: {level: tuple(members) for level, members in levels.items()} for name, levels in lists.factors.items()
    }
    weights, labels = _effects(factors, list(groups))
    owner = np.array([[word in members for word in placed.words] for members in groups.values()], dtype=float)
    counts = owner.sum(axis=1)
    by_word = weights @ (owner / counts[:, None])  # (effects, words)
    estimates = by_word @ placed.places
    variances = placed.variances(population)
    apart = placed.coordinates - (owner.T / counts) @ (owner @ placed.coordinates)
    freedom = int(counts.sum() - len(counts))
    of_means = (weights**2 / counts).sum(axis=1)
    of_words = float(((apart @ placed.offset.mean) ** 2).sum()) / freedom * of_means
    # what words scatter is in the mean coordinates too, and would count twice
    scattered = float((apart**2 @ variances).sum()) / freedom * of_means
    of_axis = np.maximum((by_word @ placed.coordinates) ** 2 @ variances - scattered, 0.0)
    sd = np.sqrt(of_axis + of_words)
    reach = float(stdtrit(freedom, (1 + mass) / 2))
    effects = pd.DataFrame(
        {
            "kind": pd.array([kind for kind, _ in labels], dtype="string"),
            "effect": pd.array([label for _, label in labels], dtype="string"),
            "mean": estimates,
            "sd": sd,
            "low": estimates - reach * sd,
            "high": estimates + reach * sd,
            "p_positive": np.asarray(stdtr(freedom, estimates / sd)),
        }
    )
    return Intersections(placed, factors, groups, effects, population, mass, freedom)


def _levels(factors: Mapping[str, Mapping[str, tuple[str, ...]]], group: str) -> list[str]:
    return [next(level for level, members in levels.items() if group in members) for levels in factors.values()]


def _effects(
    factors: Mapping[str, Mapping[str, tuple[str, ...]]], groups: list[str]
) -> tuple[FloatArray, list[tuple[str, str]]]:
    """Weights (effects, groups) of main effects and interactions as differences from the sum of their parts."""
    first, second = ({level: i for i, level in enumerate(levels)} for levels in factors.values())
    cell = np.array([[first[a], second[b]] for a, b in (_levels(factors, group) for group in groups)])
    if len({tuple(row) for row in cell.tolist()}) < len(first) * len(second) or len(groups) > len(first) * len(second):
        raise InputError(
            f"the factors {' and '.join(factors)} have {len(first)} and {len(second)} levels, and each pair of levels "
            f"needs one group: the groups are {', '.join(groups)}"
        )
    size = len(groups)
    mean = np.full(size, 1 / size)
    means = [
        np.stack([(cell[:, i] == level) / (cell[:, i] == level).sum() for level in range(len(levels))])
        for i, levels in enumerate((first, second))
    ]
    rows = [part - mean for part in means]
    between = np.eye(size) - means[0][cell[:, 0]] - means[1][cell[:, 1]] + mean
    labels = [("main", level) for levels in factors.values() for level in levels]
    return np.vstack([*rows, between]), [*labels, *(("interaction", group) for group in groups)]
