"""Distances of the same pairs in several embeddings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesbias._checks import one_of, printable
from bayesbias._core.vectors import FloatArray
from bayesbias.distances.distances import Distances
from bayesbias.distances.storage import PAIR, once, stored_coverage
from bayesbias.errors import InputError, listed

Case = Literal["as-is", "fallback"]
CASES = ("as-is", "fallback")
LABELS = ["group", "attribute_class", "connection"]
KEY = [*PAIR, "connection"]
SAME = 1e-6
"""Differences of distances below this are rounding of vectors in single precision."""
PARTLY = 0.05
"""Share of unchanged distances from which on a note says that there are such."""


@dataclass(frozen=True)
class Matched:
    """The pairs that all tables hold.

    Attributes
    ----------
    table
        One row a pair: ``protected_word``, ``group``, ``attribute_word``, ``attribute_class``, ``connection``.
    embeddings
        Names, in the order given.
    distances
        (pairs, embeddings).
    notes
        Sentences on what did not match.
    coverage
        Name to the coverage that its table carried.
    """

    table: pd.DataFrame
    embeddings: tuple[str, ...]
    distances: FloatArray
    notes: tuple[str, ...]
    coverage: dict[str, dict[str, Any]]

    def of(self, values: FloatArray) -> pd.DataFrame:
        """A table of the pairs with such values (pairs,) as distances."""
        return self.table.assign(distance=values)


@dataclass(frozen=True)
class ChangeDraws:
    """Draws of one change; K connections, J protected words.

    Attributes
    ----------
    before, after
        Places of the two embeddings.
    connection_before, connection_change
        (chain, draw, K).
    word_before, word_change
        (chain, draw, J, K), NaN where a cell is empty.
    scales
        Scale of the model of changes to its draws (chain, draw, ...) over all connections, all attribute classes, or
        none; 0 where changes are known exactly.
    stats
        Pareto k and effective points of the importance weights, where there are any.
    faults, notes
        Why the draws should not be read, and what was done to the table.
    engine
        What made them.
    """

    before: int
    after: int
    connection_before: FloatArray
    connection_change: FloatArray
    word_before: FloatArray
    word_change: FloatArray
    scales: Mapping[str, FloatArray]
    stats: Mapping[str, float]
    faults: tuple[str, ...]
    notes: tuple[str, ...]
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
    coverage = {
        str(name): record.as_dict() for name, table in tables.items() if (record := stored_coverage(table)) is not None
    }
    notes = [note for name, table in read.items() for note in _left_over(name, table, joined)]
    notes += [*_conflicts(first, others), *_impossible(read, distances), *_case_notes(read, case), *_sizes(coverage)]
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


def _groups(joined: pd.DataFrame, others: Sequence[pd.DataFrame]) -> NDArray[Any]:
    """The group of each row's protected word: the first that any table knows."""
    groups = joined["group"].to_numpy()
    for other in others:
        known = other.drop_duplicates("protected_word").set_index("protected_word")["group"]
        groups = np.where(groups == "", joined["protected_word"].map(known).to_numpy(), groups)
    return groups


def _left_over(name: str, table: pd.DataFrame, joined: pd.DataFrame) -> list[str]:
    """What of a table is not compared."""
    left = len(table) - len(joined)
    if not left:
        return []
    gone = [sorted(set(table[column]) - set(joined[column])) for column in PAIR]
    named = " and ".join(
        f"the {kind} {listed(words)}"
        for kind, words in zip(("protected words", "attribute words"), gone, strict=True)
        if words
    )
    return [
        f"{left:,} of {len(table):,} pairs of {name} have no counterpart in every other table and are left out"
        + (f", among them all of {named}." if named else ".")
    ]


def _conflicts(first: pd.DataFrame, others: Sequence[pd.DataFrame]) -> list[str]:
    """A note on protected words that stand in another group of another table."""
    own = first.drop_duplicates("protected_word").set_index("protected_word")["group"]
    moved: set[str] = set()
    for other in others:
        theirs = other.drop_duplicates("protected_word").set_index("protected_word")["group"].reindex(own.index)
        moved |= set(own.index[theirs.notna() & (theirs != "") & (own != "") & (theirs != own)])
    return [f"The tables have other groups for {listed(sorted(moved))}; those of the first count."] if moved else []


def _impossible(read: Mapping[str, pd.DataFrame], distances: FloatArray) -> list[str]:
    """A note on values that no cosine distance has."""
    outside = ((distances < 0) | (distances > 2)).sum(axis=0)
    return [
        f"{count:,} of {len(distances):,} values of {name} lie outside [0, 2], where no cosine distance lies."
        for name, count in zip(read, outside, strict=True)
        if count
    ]


def _sizes(coverage: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A note where embeddings have different dimensions."""
    dimensions = {name: record.get("embedding", {}).get("dimensions") for name, record in coverage.items()}
    known = {name: size for name, size in dimensions.items() if size}
    if len(set(known.values())) < 2:
        return []
    listed = ", ".join(f"{name} {size}" for name, size in known.items())
    return [
        f"The embeddings have different dimensions ({listed}), and cosines shrink as dimensions grow: read changes in "
        "spreads of control distances too (standardise=True)."
    ]


def _case_notes(read: Mapping[str, pd.DataFrame], case: Case) -> list[str]:
    if case == "fallback":
        return ["Words were matched without regard to capital letters."]
    wholly = _lower_cased(read)
    if not wholly:
        return []
    return [
        f"{' and '.join(wholly)} holds words in lower case only, and other tables hold capitals: pass case='fallback' "
        "here, or to distance_table if its embedding is lower-cased, to compare these words too."
    ]


def _lower_cased(read: Mapping[str, pd.DataFrame]) -> list[str]:
    """Tables in lower case throughout, where another holds words with capitals that they lack."""
    words = {name: set(table["protected_word"]) | set(table["attribute_word"]) for name, table in read.items()}
    capitals = {name: {word for word in own if word != word.lower()} for name, own in words.items()}
    some = set().union(*capitals.values())
    return [name for name, own in capitals.items() if not own and some - words[name]]


def _nothing_shared(read: Mapping[str, pd.DataFrame], case: Case) -> str:
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
    columns: Iterable[pd.Series] = (table[column].str.casefold() if fold else table[column] for column in PAIR)
    return set(zip(*columns, strict=True))


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
