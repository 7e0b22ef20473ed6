"""``intersections``: whether the place of a group with two attributes is the sum of its parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import stdtr, stdtrit

from bayesbias._checks import one_of, probability
from bayesbias._core.vectors import FloatArray
from bayesbias._page import Section, table_of
from bayesbias._phrases import excludes_zero, negatives, percent, signed
from bayesbias._results import Cited, Result
from bayesbias.axes.places import POPULATIONS, Axis
from bayesbias.axes.templates import refuse_templates
from bayesbias.checks.summaries import PROB
from bayesbias.errors import InputError, listed, shown
from bayesbias.words import WordLists, load_words

if TYPE_CHECKING:
    import pandas as pd

LEAST = 2
"""Words of a group, of which two factors make one each, that show a scatter."""


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
    population
        What the errors of the axis are over.
    prob
        Mass of the intervals.
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
        import pandas as pd

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
        named = [
            f"{row['effect']} ({signed(row['mean'], '+')}, {signed(row['low'])} to {signed(row['high'])})"
            for row in apart.to_dict("records")
        ]
        low, high = self.axis.ends
        answer = (
            f"Not the sum of their parts, on the axis from {low} to {high}: {listed(named)}."
            if named
            else f"On the axis from {low} to {high} no group is told from the sum of its parts: {percent(self.prob)} "
            "intervals of all interactions hold 0."
        )
        main = [
            f"{row['effect']} {signed(row['mean'], '+')} ({signed(row['low'])} to {signed(row['high'])})"
            for row in self.effects[self.effects["kind"] == "main"].to_dict("records")
        ]
        return [
            negatives(answer),
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
    population
        What the errors of the axis are over, as in :meth:`Axis.table`.
    prob
        Mass of the intervals.

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
    import pandas as pd

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
    variances = placed.offset.variances(population)
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
