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

from bayesbias._checks import one_of, printable
from bayesbias._core.mixtures import opposite_signs
from bayesbias._core.vectors import FloatArray
from bayesbias._phrases import IN_SDS
from bayesbias.comparison.associations import DIFFERENCE, RAW, named_together, why_no_association
from bayesbias.distances.covariances import Relatedness
from bayesbias.distances.distances import Distances
from bayesbias.distances.storage import PAIR, once, stored_coverage
from bayesbias.errors import InputError, listed
from bayesbias.models.functionals import (
    Cells,
    DrawnFunctionals,
    Functionals,
    NormalFunctionals,
    association_weights,
    cell_weights,
    difference_weights,
    drawn_functionals,
    related_functionals,
    whole_weights,
)
from bayesbias.models.spec import ModelSpec

Case = Literal["as-is", "fallback"]
CASES = ("as-is", "fallback")
LABELS = ["group", "attribute_class", "connection"]
KEY = [*PAIR, "connection"]
SAME = 1e-6  # differences of distances below this are rounding of vectors in single precision
SURE = 0.945  # probability from which on the whole list's outcome is named: that of one side of an 89% interval
PARTLY = 0.05  # share of unchanged distances from which on a note says that there are such


@dataclass(frozen=True)
class Matched:
    """The pairs that all tables hold."""

    table: pd.DataFrame  # a row a pair: protected_word, group, attribute_word, attribute_class, connection
    embeddings: tuple[str, ...]  # in the order given
    distances: FloatArray  # (pairs, embeddings)
    notes: tuple[str, ...]  # on what did not match
    coverage: dict[str, dict[str, Any]]  # name to the coverage that its table carried

    def of(self, values: FloatArray) -> pd.DataFrame:
        """A table of the pairs with such values (pairs,) as distances."""
        return self.table.assign(distance=values)

    @cached_property
    def data(self) -> Distances:
        """The pairs in the first embedding."""
        return Distances.read(self.of(self.distances[:, 0]), check=False)

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


@dataclass(frozen=True)
class ChangeDraws:
    """Draws of one change; K connections, J protected words."""

    before: int  # places of the two embeddings
    after: int
    connection_before: FloatArray  # (chain, draw, K)
    connection_change: FloatArray
    word_before: FloatArray  # (chain, draw, J, K), NaN where a cell is empty
    word_change: FloatArray
    scales: Mapping[str, FloatArray]  # scale to draws (chain, draw, ...); 0 where changes are known exactly
    stats: Mapping[str, float]  # Pareto k and effective points of the importance weights, where there are any
    faults: tuple[str, ...]  # why the draws should not be read
    notes: tuple[str, ...]  # what was done to the table
    engine: str


def match(tables: Mapping[str, pd.DataFrame], case: Case = "as-is") -> Matched:
    """The pairs that all tables hold, under the same connection."""
    one_of(case, CASES, "case")
    if len(tables) < 2:
        raise InputError(f"a comparison needs the tables of two embeddings or more, given {len(tables)}")
    names = [str(name) for name in tables]
    for name in names:
        printable(name, "the name of a table")
    if len(set(names)) < len(names):
        raise InputError(f"the names of the tables are {', '.join(map(repr, names))}: give each a name of its own")
    if arrows := [name for name in names if "→" in name]:
        raise InputError(f"the name {arrows[0]!r} holds an arrow, which names changes: give it another name")
    read = {str(name): _read(str(name), table, case) for name, table in tables.items()}
    first, *others = read.values()
    joined = first.rename(columns={"distance": "0"})
    for i, other in enumerate(others, start=1):
        joined = joined.merge(other[[*KEY, "distance"]].rename(columns={"distance": str(i)}), on=KEY, sort=False)
    if joined.empty:
        raise InputError(_nothing_shared(read, case))
    pairs = joined[[*PAIR, *LABELS]].assign(group=_groups(joined, others))
    distances = joined[[str(i) for i in range(len(read))]].to_numpy(dtype=float)
    records = {str(name): stored_coverage(table) for name, table in tables.items()}
    coverage = {name: record.as_dict() for name, record in records.items() if record is not None}
    notes = [note for name, table in read.items() for note in _left_over(name, table, joined)]
    if moved := _moved(first, others):
        notes.append(f"The tables have other groups for {listed(sorted(moved))}; those of the first count.")
    for name, count in zip(read, ((distances < 0) | (distances > 2)).sum(axis=0), strict=True):
        if count:
            place = "lie outside [0, 2], where no cosine distance lies"
            notes.append(f"{count:,} of {len(distances):,} values of {name} {place}.")
    notes += [*_case_notes(read, case), *_sizes(coverage)]
    return Matched(pairs, tuple(read), distances, tuple(notes), coverage)


def unchanged(differences: FloatArray, places: NDArray[np.bool_]) -> float | None:
    """The change that all differences (pairs,) at these places have in common, or None where they vary."""
    here = differences[places]
    if np.ptp(here) > SAME:
        return None
    return 0.0 if abs(here.mean()) <= SAME else float(here.mean())


def _read(name: str, table: pd.DataFrame, case: Case) -> pd.DataFrame:
    """A table's pairs, each once, in lower case if capital letters do not count."""
    try:
        distances = Distances.read(table, check=False)
        distances.refuse_scores("a comparison")
        clean = distances.table
        if case == "fallback":
            clean = clean.assign(**{column: clean[column].str.casefold() for column in PAIR})
        return once(clean, "the table", "a comparison takes each pair once")
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


def _group_of_word(table: pd.DataFrame) -> pd.Series:
    return table.drop_duplicates("protected_word").set_index("protected_word")["group"]


def _groups(joined: pd.DataFrame, others: Sequence[pd.DataFrame]) -> NDArray[Any]:
    """The group of each row's protected word: the first that any table knows."""
    groups = joined["group"].to_numpy()
    for other in others:
        groups = np.where(groups == "", joined["protected_word"].map(_group_of_word(other)).to_numpy(), groups)
    return groups


def _left_over(name: str, table: pd.DataFrame, joined: pd.DataFrame) -> list[str]:
    """What of a table is not compared."""
    left = len(table) - len(joined)
    if not left:
        return []
    gone = {f"{column.replace('_', ' ')}s": sorted(set(table[column]) - set(joined[column])) for column in PAIR}
    named = " and ".join(f"the {kind} {listed(words)}" for kind, words in gone.items() if words)
    among = f", among them all of {named}" if named else ""
    return [
        f"{left:,} of {len(table):,} pairs of {name} have no counterpart in every other table and are left out{among}."
    ]


def _moved(first: pd.DataFrame, others: Sequence[pd.DataFrame]) -> set[str]:
    """Protected words that stand in another group of another table."""
    own, moved = _group_of_word(first), set[str]()
    for other in others:
        theirs = _group_of_word(other).reindex(own.index)
        moved |= set(own.index[theirs.notna() & (theirs != "") & (own != "") & (theirs != own)])
    return moved


def _sizes(coverage: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A note where embeddings have different dimensions."""
    dimensions = {name: record.get("embedding", {}).get("dimensions") for name, record in coverage.items()}
    known = {name: size for name, size in dimensions.items() if size}
    if len(set(known.values())) < 2:
        return []
    sizes = ", ".join(f"{name} {size}" for name, size in known.items())
    return [
        f"The embeddings have different dimensions ({sizes}), and cosines shrink as dimensions grow: read changes in "
        f"{IN_SDS} too (standardise=True)."
    ]


def _case_notes(read: Mapping[str, pd.DataFrame], case: Case) -> list[str]:
    """Whether capital letters counted, or which tables hold none, where another holds words that they lack."""
    if case == "fallback":
        return ["Words were matched without regard to capital letters."]
    words = {name: set(table["protected_word"]) | set(table["attribute_word"]) for name, table in read.items()}
    capitals = {name: {word for word in own if word != word.lower()} for name, own in words.items()}
    some = set().union(*capitals.values())
    wholly = [name for name, own in capitals.items() if not own and some - words[name]]
    if not wholly:
        return []
    return [
        f"{' and '.join(wholly)} holds words in lower case only, and other tables hold capitals: pass case='fallback' "
        "here, or to distance_table if its embedding is lower-cased, to compare these words too."
    ]


def _nothing_shared(read: Mapping[str, pd.DataFrame], case: Case) -> str:
    """Why the tables share no pair under the same connection."""
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


def change_notes(data: Distances, change: FloatArray, fixed: Mapping[int, float], label: str) -> list[str]:
    """Sentences on connections that changed as one, and on distances that did not change."""
    if len(fixed) == len(data.connections) and not any(fixed.values()):
        return [f"{label}: both tables hold the same distances, so that the change is exactly 0."]
    names = data.connections.tolist()
    notes = [
        f"{label}: every distance of {names[k]} words changed by exactly {value:.4g}, which is taken as known."
        for k, value in fixed.items()
    ]
    same = np.abs(change) <= SAME
    for k, name in enumerate(names):
        share = same[data.connection == k].mean()
        if k not in fixed and share >= PARTLY:
            notes.append(
                f"{label}: {100 * share:.0f}% of the distances of {name} words did not change at all; the model of "
                "changes takes them for values of a normal distribution."
            )
    return notes


ROWS = (RAW, DIFFERENCE)
MEANINGS = {
    RAW: "Rows of words are changes of associations: a word's own stereotypes against those of other groups, less how "
    "near each list is to all protected words.",
    DIFFERENCE: "Rows of words are changes of differences of two mean distances. They also hold how near the lists are "
    "to all protected words, before and after.",
}
"""What the rows of single words of a change are."""


@dataclass(frozen=True)
class Sums:
    """Weighted sums of the mean distances in one embedding: ``combine @ parts`` are their weights."""

    combine: sparse.csr_array  # (m, p)
    parts: sparse.csr_array  # (p, J * C), over the cells of one embedding
    kept: NDArray[np.bool_]  # which protected words (J,) have a row
    kind: str  # one of ROWS

    def of(self, cells: Cells) -> FloatArray:
        """Observed values (m,)."""
        value: FloatArray = self.combine @ (self.parts @ np.where(cells.filled, cells.mean, 0.0).ravel())
        return value


def row_sums(data: Distances, cells: Cells, first: str, second: str | None, rows: str | None = None) -> Sums:
    """A contrast, or the mean distance to one connection, of the whole list and then of each protected word."""
    if rows is not None:
        one_of(rows, ROWS, "rows")
    lacking = why_no_association(data, cells, first, second or "none")
    if rows == RAW and lacking:
        raise InputError(f"rows={rows!r}: {lacking}; rows='difference' gives differences of mean distances")
    if lacking or rows == DIFFERENCE:
        return _difference_sums(data, cells, [first] if second is None else [first, second])
    words = np.flatnonzero(cells.associated)
    weights = whole_weights(data, cells.associated)
    combine, parts = association_weights(cells, words, weights)
    return Sums(_with_whole(combine, weights[words]), parts, cells.associated, RAW)


def _difference_sums(data: Distances, cells: Cells, connections: list[str]) -> Sums:
    """The mean distance to one connection, or the difference of two."""
    names = data.connections.tolist()
    places = [names.index(name) for name in connections]
    kept = cells.filled[:, places].all(axis=1)
    if not kept.any():  # of different words: their means, less each other
        of_words = np.stack([whole_weights(data, cells.filled[:, place]) for place in places])
        rows, words = np.nonzero(of_words)
        means = cell_weights(rows, words, np.array(places)[rows], of_words[rows, words], cells, 2)
        return Sums(sparse.csr_array(np.array([[1.0, -1.0]])), means, kept, DIFFERENCE)
    words = np.flatnonzero(kept)
    columns, size = [np.full(len(words), place) for place in places], len(words)
    if len(columns) == 2:
        parts = difference_weights(cells, words, *columns)
    else:
        parts = cell_weights(np.arange(size), words, columns[0], np.ones(size), cells, size)
    own = sparse.csr_array(sparse.eye_array(len(words)))
    return Sums(_with_whole(own, whole_weights(data, kept)[words]), parts, kept, DIFFERENCE)


def _with_whole(combine: sparse.csr_array, weights: FloatArray) -> sparse.csr_array:
    """The weighted mean of rows, and below it the rows."""
    return sparse.csr_array(sparse.vstack([sparse.csr_array(weights[None]) @ combine, combine]))


@dataclass(frozen=True)
class Sides:
    """Joint posterior of m quantities before a change, after it, and of their change."""

    joint: Functionals  # 2 m quantities: values before, and then their changes
    observed_before: FloatArray  # what the pairs show, (m,), in cosine distance
    observed_after: FloatArray
    kept: NDArray[np.bool_]  # which protected words (J,) have a row below that of the whole list
    kind: str  # one of ROWS

    @property
    def size(self) -> int:
        """Number of quantities."""
        return len(self.observed_before)

    def _combined(self, before: float, change: float) -> Functionals:
        identity = sparse.eye_array(self.size)
        return self.joint.combined(sparse.csr_array(sparse.hstack([before * identity, change * identity])))

    @cached_property
    def before(self) -> Functionals:
        """Values before."""
        return self._combined(1.0, 0.0)

    @cached_property
    def after(self) -> Functionals:
        """Values after."""
        return self._combined(1.0, 1.0)

    @cached_property
    def change(self) -> Functionals:
        """Values after less values before."""
        return self._combined(0.0, 1.0)

    @cached_property
    def unchanged(self) -> NDArray[np.bool_]:
        """Which quantities changed by exactly 0."""
        return np.asarray((self.change.mean == 0) & (self.change.sd == 0))

    @cached_property
    def p_shrank(self) -> FloatArray:
        """Probability (m,) of a value nearer to 0 after than before."""
        # |after| < |before| where the change and the sum of the two have opposite signs
        return _p_opposite(self.change, self._combined(2.0, 1.0))

    @cached_property
    def p_reversed(self) -> FloatArray:
        """Probability (m,) of opposite signs before and after."""
        return np.where(self.unchanged, 0.0, _p_opposite(self.before, self.after))

    def outcomes(self, prob: float) -> NDArray[np.str_]:
        """What became of each quantity (m,), the whole list first: unchanged, shrank, grew, or inconclusive.

        Words share most of their errors, so that none is named where the interval of the whole list's change includes
        0; where it does not, the most probable outcomes are named together.
        """
        shrank, tail = self.p_shrank, (1 - prob) / 2
        named = (shrank >= SURE) | (shrank <= 1 - SURE)
        words = np.flatnonzero(~self.unchanged[1:]) + 1
        named[1:] = False
        if not self.change.quantile(tail)[0] <= 0 <= self.change.quantile(1 - tail)[0]:
            named[words] = named_together(shrank[words])
        return np.select(
            [self.unchanged, named & (shrank > 0.5), named], ["unchanged", "shrank", "grew"], default="inconclusive"
        )

    def draws(self, size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Joint draws (size, m) of the values before and of those after."""
        before, change = np.split(self.joint.draws(size, rng), 2, axis=1)
        return before, before + change

    def away_after(self, prob: float) -> NDArray[np.bool_]:
        """Which values after have an equal-tailed interval that excludes 0, (m,)."""
        tail = (1 - prob) / 2
        return (self.after.quantile(tail) > 0) | (self.after.quantile(1 - tail) < 0)

    def unpaired(self, seed: Any) -> Functionals:
        """The change as if the errors of the two embeddings were independent."""
        before, after = self.before, self.after
        if isinstance(before, NormalFunctionals) and isinstance(after, NormalFunctionals):
            roots = tuple(np.hstack(each) for each in zip(after.roots, before.roots, strict=True))
            return replace(after, mean=self.change.mean, roots=roots)
        first, second = drawn(before), drawn(after)
        return DrawnFunctionals(second - np.random.default_rng(seed).permutation(first, axis=0))

    def standardised(self, units: tuple[float, float], centre: float) -> Sides:
        """Values less ``centre`` in the unit of each embedding; what is observed stays as it is."""
        before, after = units
        # of values before, and of their changes
        scale = np.array([[1 / before, 0.0], [1 / after - 1 / before, 1 / after]])
        joint = self.joint.combined(sparse.csr_array(sparse.kron(scale, sparse.eye_array(self.size))))
        return replace(self, joint=shifted(joint, np.repeat(-centre * scale @ [1.0, 0.0], self.size)))


def _p_opposite(first: Functionals, second: Functionals) -> FloatArray:
    """Probability (m,) that two quantities of one posterior have opposite signs."""
    if not isinstance(first, NormalFunctionals) or not isinstance(second, NormalFunctionals):
        return (drawn(first) * drawn(second) < 0).mean(axis=0)
    weights = first.nodes[1]
    sds = first.mixture.sds, second.mixture.sds
    return weights @ opposite_signs((first.mean, second.mean), sds, first.covariance(second))


def drawn(functionals: Functionals) -> FloatArray:
    """The draws (D, m) of functionals that are known by draws."""
    if not isinstance(functionals, DrawnFunctionals):
        raise TypeError("an exact posterior has no draws of its own")
    return functionals.values  # noqa: PD011


def shifted(functionals: Functionals, by: FloatArray) -> Functionals:
    """The quantities plus known numbers (m,)."""
    if isinstance(functionals, NormalFunctionals):
        return replace(functionals, mean=functionals.mean + by)
    return DrawnFunctionals(drawn(functionals) + by)


def stack(one: Distances, distances: FloatArray, related: Relatedness) -> Distances:
    """The pairs of all embeddings (pairs, embeddings), as if each embedding had protected words of its own."""
    size, words = distances.shape[1], len(one.protected_words)
    return replace(
        one,
        protected_words=np.array(related.protected_words),
        groups=np.tile(one.groups, size),
        word=np.concatenate([one.word + words * place for place in range(size)]),
        connection=np.tile(one.connection, size),
        attribute=np.tile(one.attribute, size),
        attribute_class=np.tile(one.attribute_class, size),
        y=distances.T.ravel(),
        relatedness=related,
    )


@dataclass(frozen=True)
class Stacked:
    """What the exact posterior of all embeddings rests on: the model, the pairs of all embeddings, and their cells."""

    spec: ModelSpec
    every: Distances
    cells: Cells

    def joint(self, sums: Sums, pair: tuple[int, int], known: FloatArray) -> Functionals:
        """Posterior of some sums before and of their change between two embeddings.

        ``known`` holds the changes (J, C) of cells that are known exactly, and NaN elsewhere.
        """
        free = np.isnan(known).ravel()
        moving = sums.parts @ sparse.diags_array(free.astype(float))
        before, after = pair
        weights = [self._of(sums.parts, before), self._of(moving, after) - self._of(moving, before)]
        functionals = related_functionals(self.spec, self.every, self.cells, sparse.csr_array(sparse.vstack(weights)))
        offset = sums.parts @ np.nan_to_num(known).ravel()
        parts = shifted(functionals, np.concatenate([np.zeros(len(offset)), offset]))
        return parts.combined(sparse.csr_array(sparse.block_diag([sums.combine, sums.combine])))

    def _of(self, parts: sparse.csr_array, embedding: int) -> sparse.csr_array:
        """Weights of one embedding's cells among those of all."""
        total = sparse.coo_array(parts)
        shape = (parts.shape[0], self.cells.n.size)
        return sparse.csr_array((total.data, (total.row, total.col + embedding * parts.shape[1])), shape=shape)


def drawn_joint(
    cells: Cells, sums: Sums, words: Sequence[FloatArray], whole: Sequence[FloatArray] | None
) -> DrawnFunctionals:
    """The same from draws (D, J, K) of the means of words before, and of their changes.

    ``whole`` are draws (D,) of the whole list, where it speaks about further words too; None takes the rows' mean.
    """
    both = [drawn(drawn_functionals(values, cells, sums.parts).combined(sums.combine)) for values in words]
    if whole is not None:
        for values, own in zip(both, whole, strict=True):
            values[:, 0] = own
    return DrawnFunctionals(np.hstack(both))


def fixed_values(data: Distances, values: FloatArray) -> dict[int, float]:
    """Connections whose values (pairs,) are all the same up to rounding, with that value.

    One attribute word alone shows nothing about others, unless no value of the table is other than 0.
    """
    nothing = bool((np.abs(values) <= SAME).all())
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
    total = np.bincount(place, value, minlength=cells.n.size).reshape(cells.n.shape)
    change: FloatArray = np.divide(total, cells.n, out=np.full(cells.n.shape, np.nan), where=cells.filled)
    return change
