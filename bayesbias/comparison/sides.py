"""The same pairs in several embeddings, and the joint posterior of a contrast before and after a change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from bayesbias._support.arguments import one_of
from bayesbias.contrast.contrast import named_together
from bayesbias.distances.dataframe import PAIR, limits_of
from bayesbias.distances.distances import Distances, once, refuse_mixed
from bayesbias.errors import InputError, listed, within
from bayesbias.models.functionals import Fields, cell_draws
from bayesbias.models.weights import DIFFERENCE, RAW, Cells, Sums, stacked
from bayesbias.numerics.arrays import NOTHING, FloatArray
from bayesbias.numerics.mixtures import Empirical, Law, Normals
from bayesbias.posteriors import Estimates
from bayesbias.results import Note
from bayesbias.vectors.lookup import left_out

Case = Literal["as-is", "fallback"]
CASES = ("as-is", "fallback")
LABELS = ["group", "attribute_class", "connection"]
KEY = [*PAIR, "connection"]
EQUAL = 1e-3  # of the sum and the difference of two values, the share of the smaller below which their sizes are equal
SURE = 0.945  # probability from which on the whole list's outcome is named: that of one side of an 89% interval
LITTLE = 10  # most percent of the size before that a change is said not to exceed
PARTLY = 0.05  # share of unchanged distances from which on a note says that there are such


@dataclass(frozen=True)
class Matched:
    """The pairs that all tables hold."""

    table: pd.DataFrame  # a row a pair: protected_word, group, attribute_word, attribute_class, connection
    embeddings: tuple[str, ...]  # in the order given
    distances: FloatArray  # (pairs, embeddings)
    notes: tuple[Note, ...]  # on what did not match
    tables: Mapping[str, Distances]  # name to its table, as it was given

    @property
    def coverage(self) -> dict[str, dict[str, Any]]:
        """Name to the coverage that its table carried."""
        return {name: each.coverage.as_dict() for name, each in self.tables.items() if each.coverage is not None}

    def of(self, values: FloatArray) -> pd.DataFrame:
        """Table of the pairs, with ``values`` (pairs,) in place of distances."""
        return self.table.assign(distance=values)

    @cached_property
    def data(self) -> Distances:
        """The pairs in the first embedding."""
        return Distances.of_rows(self.of(self.distances[:, 0]))

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Places of each two embeddings."""
        return list(combinations(range(len(self.embeddings)), 2))

    def label(self, before: int, after: int) -> str:
        """The name of a change."""
        return f"{self.embeddings[before]} → {self.embeddings[after]}"

    def change(self, before: int, after: int) -> FloatArray:
        """Differences (pairs,) of the distances in two embeddings."""
        return self.distances[:, after] - self.distances[:, before]


def match(tables: Mapping[str, pd.DataFrame], case: Case = "as-is") -> Matched:
    """The pairs that all tables hold, under the same connection."""
    one_of(case, CASES, "case")
    if len(tables) < 2:
        raise InputError(f"a comparison needs the tables of two embeddings or more, given {len(tables)}")
    if arrows := [name for name in tables if "→" in name]:
        raise InputError(f"the name {arrows[0]!r} holds an arrow, which names changes: give it another name")
    given = {name: _distances(name, table) for name, table in tables.items()}
    refuse_mixed(given)
    read = {name: _once(name, each, case) for name, each in given.items()}
    first, *others = read.values()
    joined = first.rename(columns={"distance": "0"})
    for i, other in enumerate(others, start=1):
        joined = joined.merge(other[[*KEY, "distance"]].rename(columns={"distance": str(i)}), on=KEY, sort=False)
    if joined.empty:
        raise InputError(_nothing_shared(read, case))
    pairs = joined[[*PAIR, *LABELS]].assign(group=_groups(joined, others))
    distances = joined[[str(i) for i in range(len(read))]].to_numpy(dtype=float)
    attribute = next(iter(given.values())).adjusted
    notes = [Note("adjusted", attribute=attribute, source="the tables")] if attribute else []
    notes += [note for name, table in read.items() for note in _left_over(name, table, joined)]
    if moved := _moved(first, others):
        notes.append(Note("groups", words=sorted(moved)))
    outside = ((distances < 0) | (distances > 2)).sum(axis=0).tolist()
    notes += [
        Note("outside", rows=rows, total=len(distances), name=name)
        for name, rows in zip(read, outside, strict=True)
        if rows
    ]
    notes += limits_of(each.coverage for each in given.values() if each.coverage is not None)
    notes += [*_case_notes(given, case), *_sizes(given)]
    return Matched(pairs, tuple(read), distances, tuple(notes), given)


def unchanged(differences: FloatArray, places: NDArray[np.bool_]) -> float | None:
    """The change that all differences (pairs,) at these places have in common, or None where they vary."""
    here = differences[places]
    if np.ptp(here) > NOTHING:
        return None
    return 0.0 if abs(here.mean()) <= NOTHING else float(here.mean())


def _distances(name: str, table: pd.DataFrame) -> Distances:
    """The distances of a table that a comparison can take."""
    with within(name):
        distances = Distances.read(table, check=False)
        distances.refuse_slope()
    return distances


def _once(name: str, distances: Distances, case: Case) -> pd.DataFrame:
    """A table's pairs, each once, in lower case if capital letters do not count."""
    clean = distances.table
    if case == "fallback":
        clean = clean.assign(**{column: clean[column].str.casefold() for column in PAIR})
    with within(name):
        return once(clean, "the table", "a comparison takes each pair once")


def _group_of_word(table: pd.DataFrame) -> pd.Series:
    return table.drop_duplicates("protected_word").set_index("protected_word")["group"]


def _groups(joined: pd.DataFrame, others: Sequence[pd.DataFrame]) -> NDArray[Any]:
    """The group of each row's protected word: the first that any table knows."""
    groups = joined["group"].to_numpy()
    for other in others:
        groups = np.where(groups == "", joined["protected_word"].map(_group_of_word(other)).to_numpy(), groups)
    return groups


def _left_over(name: str, table: pd.DataFrame, joined: pd.DataFrame) -> list[Note]:
    """Note on the pairs of a table that are not compared, and the words none of whose pairs are."""
    gone = [word for column in PAIR for word in sorted(set(table[column]) - set(joined[column]))]
    return left_out(len(table) - len(joined), len(table), f"pairs of {name}", "not in every table", gone)


def _moved(first: pd.DataFrame, others: Sequence[pd.DataFrame]) -> set[str]:
    """Protected words that stand in another group of another table."""
    own, moved = _group_of_word(first), set[str]()
    for other in others:
        theirs = _group_of_word(other).reindex(own.index)
        moved |= set(own.index[theirs.notna() & (theirs != "") & (own != "") & (theirs != own)])
    return moved


def _sizes(tables: Mapping[str, Distances]) -> list[Note]:
    """A note where embeddings have different dimensions."""
    records = {name: each.coverage for name, each in tables.items()}
    dimensions = {name: record.embedding.get("dimensions") for name, record in records.items() if record is not None}
    known = {name: size for name, size in dimensions.items() if size}
    sizes = [f"{name} {size}" for name, size in known.items()]
    return [Note("dimensions", sizes=sizes)] if len(set(known.values())) > 1 else []


def _case_notes(given: Mapping[str, Distances], case: Case) -> list[Note]:
    """Note on words read in lower case, or on tables of lower case where another holds words that they lack."""
    words = {name: {word for column in PAIR for word in each.table[column]} for name, each in given.items()}
    if case == "fallback":
        folded = sorted(word for word in set().union(*words.values()) if word != word.casefold())
        return [Note("spelling", words=[f"{word} as {word.casefold()}" for word in folded])] if folded else []
    capitals = {name: {word for word in own if word != word.lower()} for name, own in words.items()}
    some = set().union(*capitals.values())
    wholly = [name for name, own in capitals.items() if not own and some - words[name]]
    return [Note("capitals", names=wholly)] if wholly else []


def _nothing_shared(read: Mapping[str, pd.DataFrame], case: Case) -> str:
    """Reason why the tables share no pair under the same connection."""
    if set.intersection(*(_pairs(table, fold=False) for table in read.values())):
        return f"the tables of {', '.join(read)} share pairs, but under different connections: make both from one list"
    if case == "as-is" and set.intersection(*(_pairs(table, fold=True) for table in read.values())):
        return (
            f"the tables of {', '.join(read)} share no pair as words are written, and do without capital letters: "
            "pass case='fallback'"
        )
    contents = "; ".join(
        f"{name} holds {listed(list(table['protected_word'].unique()))}" for name, table in read.items()
    )
    return f"the tables share no pair of protected and attribute word: make them from one word list ({contents})"


def _pairs(table: pd.DataFrame, fold: bool) -> set[tuple[str, ...]]:
    return set(zip(*(table[column].str.casefold() if fold else table[column] for column in PAIR), strict=True))


def change_notes(data: Distances, change: FloatArray, fixed: Mapping[int, float], label: str) -> list[Note]:
    """Notes on connections that changed as one, and on distances that did not change."""
    if len(fixed) == len(data.connections) and not any(fixed.values()):
        return [Note("fixed", connection="all", value=0.0, change=label)]
    names = data.connections.tolist()
    notes = [Note("fixed", connection=names[k], value=value, change=label) for k, value in fixed.items()]
    same = np.abs(change) <= NOTHING
    for k, name in enumerate(names):
        share = float(same[data.connection == k].mean())
        if k not in fixed and share >= PARTLY:
            notes.append(Note("partly-fixed", share=f"{share:.0%}", connection=name, change=label))
    return notes


ROWS = (RAW, DIFFERENCE)
"""Rows of single words of a change: associations, or differences of two mean distances."""


@dataclass(frozen=True)
class BeforeAfter:
    """Quantities before and after a change, of one joint posterior."""

    before: Estimates
    after: Estimates
    observed_before: FloatArray  # what the pairs show, (m,), in cosine distance
    observed_after: FloatArray
    kind: str  # one of ROWS

    def __getitem__(self, places: slice) -> BeforeAfter:
        """Some of the quantities."""
        sides = {side: getattr(self, side)[places] for side in ("before", "after")}
        observed = {f"observed_{side}": getattr(self, f"observed_{side}")[places] for side in sides}
        return replace(self, **sides, **observed)

    @cached_property
    def change(self) -> Estimates:
        """Values after less values before."""
        return self.after - self.before

    @cached_property
    def unchanged(self) -> NDArray[np.bool_]:
        """True for quantities that changed by exactly 0."""
        return np.asarray((self.change.mean == 0) & (self.change.sd == 0))

    @cached_property
    def p_shrank(self) -> FloatArray:
        """Probability (m,) of a value nearer to 0 after than before; one half where the two sizes are equal."""
        # |after| < |before| where the change and the sum of the two have opposite signs; without a sum or a change
        # their signs are those of rounding errors
        total, change = self.before + self.after, self.change
        sizes = [np.hypot(each.mean, each.sd) for each in (total, change)]
        equal = np.minimum(*sizes) <= EQUAL * np.maximum(*sizes)
        return np.where(equal & ~self.unchanged, 0.5, change.p_opposite(total))

    @cached_property
    def p_reversed(self) -> FloatArray:
        """Probability (m,) of opposite signs before and after."""
        return np.where(self.unchanged, 0.0, self.before.p_opposite(self.after))

    def clear(self, prob: float) -> NDArray[np.bool_]:
        """True (m,), the whole list first, where it is clear whether the value is nearer to 0 or farther from it.

        None is clear where the interval of the whole list's change includes 0: a value that is 0 afterwards by
        construction is nearer to 0 than any other, and words share most of their errors. Where it does not, the most
        probable words are clear together, if their means say the same.
        """
        shrank = self.p_shrank
        named = np.zeros(len(shrank), dtype=bool)
        same = (np.abs(self.after.mean) < np.abs(self.before.mean)) == (shrank > 0.5)
        words = np.flatnonzero(~self.unchanged[1:] & (shrank[1:] != 0.5)) + 1
        if self.change.excludes(0.0, prob)[0]:
            named[0] = max(shrank[0], 1 - shrank[0]) >= SURE
            named[words] = named_together(shrank[words])
        return np.asarray(named & same & ~self.unchanged)

    def at_most(self, prob: float) -> FloatArray:
        """Share (m,) of the size before, up to .1, that the change does not exceed with a probability; NaN if more.

        Of a change whose interval excludes 0 only .01 is looked at.
        """
        found, known = np.full(len(self.change), np.nan), self.change.excludes(0.0, prob)
        for percent in range(LITTLE, 0, -1):
            # |change| < |share of before| where the difference and the sum of the two have opposite signs
            share = self.before * (percent / 100)
            within = (self.change - share).p_opposite(self.change + share) >= prob
            found[within & ~self.unchanged & (~known | (percent == 1))] = percent / 100
        return found

    def combined(self, weights: FloatArray, labels: pd.DataFrame) -> BeforeAfter:
        """Weighted sums (k, m) of the quantities."""
        before, after = (each.combine(weights, labels) for each in (self.before, self.after))
        return BeforeAfter(before, after, weights @ self.observed_before, weights @ self.observed_after, self.kind)

    def unpaired(self, seed: Any) -> Estimates:
        """The change as if the errors of the two embeddings were independent."""
        before, after, law = self.before, self.after, self.after.law
        apart: Law
        if isinstance(law, Empirical):
            first, second = (law.marginals(each.weights, each.offset).numbers for each in (before, after))
            # draws in another order keep their distribution and lose their correlation with the first
            apart = Empirical(second - np.random.default_rng(seed).permutation(first, axis=0))
        elif isinstance(law, Normals):
            # columns of a root are independent causes: side by side the two embeddings share none
            roots = tuple(np.hstack([after.weights @ root, before.weights @ root]) for root in law.roots)
            apart = replace(law, mean=self.change.mean, roots=roots)
        else:
            raise TypeError(f"{type(law).__name__} is no law of a comparison")
        return Estimates.of(apart, len(after), after.index)

    def standardised(self, units: tuple[float, float], centre: float) -> BeforeAfter:
        """Values less ``centre`` in the unit of each embedding; what is observed stays as it is."""
        before, after = ((each - centre) / by for each, by in zip((self.before, self.after), units, strict=True))
        return replace(self, before=before, after=after)


def side_weights(
    law: Fields, parts: sparse.csr_array, places: tuple[int, int], known: FloatArray
) -> tuple[list[sparse.csr_array], FloatArray]:
    """Weights of some sums (p, J * C) before a change and of what changed, of the cells of all embeddings.

    ``places`` are those of the two embeddings. Changes (J, C) that are known exactly, which are NaN elsewhere, are
    beside the weights what the sums hold of them, (p,).
    """
    size = parts.shape[1]
    # a cell whose change is known has no weight in the change, and adds its value beside it
    moving = parts @ sparse.diags_array(np.isnan(known).ravel().astype(float))
    first, second = (sparse.eye_array(size, len(law.mean), k=at * size) for at in places)
    weights = [sparse.csr_array(parts @ first), sparse.csr_array(moving @ second - moving @ first)]
    return weights, parts @ np.nan_to_num(known).ravel()


def related_sides(law: Fields, sums: Sums, places: tuple[int, int], known: FloatArray) -> tuple[Estimates, Estimates]:
    """Sums before a change, and what changed, of related words; see :func:`side_weights`."""
    weights, beside = side_weights(law, sums.parts, places, known)
    size = len(beside)
    joint = Estimates.of(law.settled(stacked(*weights)), 2 * size)
    return sums.of(joint[:size]), sums.of(joint[size:] + beside)


def drawn_sides(
    cells: Cells, sums: Sums, words: Sequence[FloatArray], whole: Sequence[FloatArray] = ()
) -> tuple[Estimates, Estimates]:
    """Sums before a change, and what changed, from draws (D, J, K) of the means of words before and of their changes.

    ``whole`` are draws (D, n) of the first n sums, where these speak about further words too.
    """
    both = [(sums.combine @ cell_draws(values, cells, sums.parts).T).T for values in words]
    for values, own in zip(both, whole, strict=False):
        values[:, : own.shape[1]] = own
    size = len(sums.index)
    every = Estimates.of(Empirical(np.hstack(both)), 2 * size, pd.concat([sums.index, sums.index]))
    return every[:size], every[size:]


def fixed_values(data: Distances, values: FloatArray) -> dict[int, float]:
    """Connections whose values (pairs,) are all the same up to rounding, with that value.

    One attribute word alone shows nothing about others, unless no value of the table is other than 0.
    """
    nothing = bool((np.abs(values) <= NOTHING).all())
    fixed = {}
    for k in range(len(data.connections)):
        rows = data.connection == k
        if nothing or len(np.unique(data.attribute[rows])) > 1:
            fixed[k] = unchanged(values, rows)
    return {k: value for k, value in fixed.items() if value is not None}


def known_changes(data: Distances, cells: Cells, fixed: Mapping[int, float]) -> FloatArray:
    """Changes (J, C) of cells all of whose distances belong to connections that moved as one; NaN elsewhere."""
    by_connection = np.full(len(data.connections), np.nan)
    by_connection[list(fixed)] = list(fixed.values())
    connection = np.full((len(data.protected_words), len(data.attribute_words)), -1)
    connection[data.word, data.attribute] = data.connection
    value = by_connection[connection[cells.word, cells.attribute]]
    place = cells.word * len(cells.columns) + cells.column
    # one distance whose change is not known makes the sum of its cell NaN
    total = np.bincount(place, value, minlength=cells.n.size).reshape(cells.n.shape)
    change: FloatArray = np.divide(total, cells.n, out=np.full(cells.n.shape, np.nan), where=cells.filled)
    return change
