"""The words at the two ends of an axis: bundled axes, pairs, or two lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias._core.offsets import Strata
from bayesbias._core.vectors import unit_rows
from bayesbias._files import Document, check, read_toml
from bayesbias._paths import shipped
from bayesbias.embeddings import Case, about, find_words
from bayesbias.errors import InputError, listed, shown
from bayesbias.words import PairList, WordList, WordLists, lists_of_any_kind, load_list, pairs_given

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

LISTS = "The poles are two lists, not pairs: what the words of a list share beside the opposition does not cancel."
NO_LENGTH = 1e-6
"""Length of an offset below which its two words have one vector."""


class _Entry(Document):
    domain: str
    pairs: list[tuple[str, str]]


class _AxesFile(Document):
    source: str
    licence: str
    doi: str = ""
    axes: dict[str, _Entry]


@cache
def _bundled() -> _AxesFile:
    path = shipped("data") / "axes.toml"
    return check(_AxesFile, read_toml(path), str(path))


def list_axes() -> pd.DataFrame:
    """The axes that :func:`axis` knows by name.

    Returns
    -------
    DataFrame
        ``name``, ``domain``, ``negative`` and ``positive`` (the words of the first pair), ``pairs`` (their number),
        ``source``, ``licence``.

    Examples
    --------
    >>> bb.list_axes().loc[lambda table: table["name"] == "affluence", ["negative", "positive", "pairs"]]
      negative positive  pairs
    1     poor     rich     42
    """
    known = _bundled()
    rows = [
        (name, entry.domain, *entry.pairs[0], len(entry.pairs), known.source, known.licence)
        for name, entry in known.axes.items()
    ]
    pairs = load_list("gender_pairs")
    if isinstance(pairs, PairList):
        rows.append((pairs.name, "Demographic", *pairs.pairs[0], len(pairs.pairs), pairs.source, ""))
    columns = ["name", "domain", "negative", "positive", "pairs", "source", "licence"]
    return pd.DataFrame(rows, columns=columns).sort_values("name", ignore_index=True)


@dataclass(frozen=True)
class Poles:
    """The words of an axis as they were asked for: pairs (negative, positive), or two lists by name."""

    name: str
    pairs: tuple[tuple[str, str], ...] = ()  # each once; empty for lists
    lists: tuple[tuple[str, tuple[str, ...]], ...] = ()  # the negative pole first; empty for pairs
    source: str = ""
    doi: str = ""

    @property
    def ends(self) -> tuple[str, str]:
        """What the negative and the positive pole are called: the name of a list, or the word of the first pair."""
        if self.lists:
            return self.lists[0][0], self.lists[1][0]
        return self.pairs[0]


def poles_of(pairs: Any, name: str = "pairs") -> Poles:
    """The poles that an argument stands for."""
    if isinstance(pairs, Poles):
        return pairs
    if isinstance(pairs, str) and pairs in _bundled().axes:
        known = _bundled()
        return Poles(pairs, tuple(known.axes[pairs].pairs), source=known.source, doi=known.doi)
    if isinstance(pairs, WordLists | Mapping):
        return _two_lists(pairs, name)
    if isinstance(pairs, str | Path):
        return _named(pairs, name)
    if isinstance(pairs, PairList):
        return Poles(pairs.name, tuple(dict.fromkeys(pairs.pairs)), source=pairs.source, doi=pairs.doi or "")
    given = tuple(pairs_given(pairs, name))
    return Poles(f"{given[0][0]} to {given[0][1]}", given)


def _named(pairs: str | Path, name: str) -> Poles:
    """The pairs or the two groups of a bundled list or a file."""
    try:
        loaded = lists_of_any_kind(pairs)
    except InputError as error:
        known = ", ".join([*_bundled().axes, "gender_pairs"])
        raise InputError(f"{name} is {str(pairs)!r}: {error}. Bundled axes are {known}.") from None
    if isinstance(loaded, WordList):
        raise InputError(f"{name} is {str(pairs)!r}, a list of words: give pairs of words, or two lists")
    return poles_of(loaded, name)


def _two_lists(lists: WordLists | Mapping[str, Sequence[str]], name: str) -> Poles:
    groups: Mapping[Any, Any] = lists.protected if isinstance(lists, WordLists) else lists
    if len(groups) != 2:
        raise InputError(
            f"{name} has {len(groups)} lists: an axis runs between two, such as {{'poor': [...], 'rich': [...]}}"
        )
    both = []
    for group, words in groups.items():
        entries = list(words) if isinstance(words, Iterable) and not isinstance(words, str) else []
        if not entries or not all(isinstance(word, str) for word in entries):
            raise InputError(f"{name} gives {shown(words)} for {group!r}: give a list of words")
        both.append((str(group), tuple(dict.fromkeys(entries))))
    about = (lists.source, lists.doi or "") if isinstance(lists, WordLists) else ("", "")
    named = lists.name if isinstance(lists, WordLists) else f"{both[0][0]} to {both[1][0]}"
    return Poles(named, lists=tuple(both), source=about[0], doi=about[1])


@dataclass(frozen=True)
class FoundPoles:
    """The poles as an embedding holds them."""

    poles: Poles  # what was asked for, of which these are left
    pairs: tuple[tuple[str, str], ...]
    lists: tuple[tuple[str, tuple[str, ...]], ...]
    strata: Strata  # unit vectors of the words at the poles, and their weights
    keys: tuple[str, ...]  # under which the embedding holds them
    notes: tuple[str, ...]


def find_poles(kv: KeyedVectors, poles: Poles, case: Case = "as-is") -> FoundPoles:
    """Look the words of an axis up; pairs with a word that is missing are left out and named."""
    every = [word for pair in poles.pairs for word in pair] or [word for _, words in poles.lists for word in words]
    below, above = zip(*poles.pairs, strict=True) if poles.pairs else (words for _, words in poles.lists)
    if both := sorted(set(below) & set(above)):
        stand = "stands" if len(both) == 1 else "stand"
        raise InputError(f"{listed(both)} {stand} at both poles of the axis {poles.name}: a word belongs to one")
    keys = find_words(kv, dict.fromkeys(every), case).keys
    places = {key: i for i, key in enumerate(dict.fromkeys(keys.values()))}
    missing = list(dict.fromkeys(word for word in every if word not in keys))
    embedding = about(kv)["name"]
    notes = [f"Not in {embedding}: {listed(missing)}."] if missing else []
    if not places:
        raise InputError(f"no word of the axis {poles.name} is in {embedding}: it asks for {listed(every)}")
    vectors = unit_rows(np.asarray(kv.vectors[[kv.key_to_index[key] for key in places]], dtype=float))
    row_of = {word: places[key] for word, key in keys.items()}
    if poles.pairs:
        return _found_pairs(poles, row_of, vectors, tuple(places), notes)
    return _found_lists(poles, row_of, vectors, tuple(places), notes)


def _found_pairs(
    poles: Poles, row_of: Mapping[str, int], vectors: np.ndarray, keys: tuple[str, ...], notes: list[str]
) -> FoundPoles:
    kept, rows, doubled, flat = [], [], [], []
    first = (vectors @ vectors.T > 1 - NO_LENGTH**2 / 2).argmax(axis=1)  # of words with one vector, the first
    for low, high in poles.pairs:
        if low not in row_of or high not in row_of:
            continue
        places = (first[row_of[low]], first[row_of[high]])
        if np.linalg.norm(vectors[places[1]] - vectors[places[0]]) < NO_LENGTH:
            flat.append(f"{low} and {high}")
        elif places in rows:
            doubled.append(f"{low} and {high}")
        else:
            kept.append((low, high))
            rows.append(places)
    lost = len(poles.pairs) - len(kept) - len(doubled) - len(flat)
    notes += [f"{lost} of {len(poles.pairs)} pairs lack a word and are left out."] if lost else []
    notes += [f"Pairs whose two words have one vector are left out: {listed(flat)}."] if flat else []
    notes += [f"Pairs with the vectors of another pair are left out: {listed(doubled)}."] if doubled else []
    if not kept:
        reason = "each lacks a word" if not flat else "the two words of each have one vector"
        raise InputError(f"no pair of the axis {poles.name} is left of {len(poles.pairs)}: {reason}")
    if len(kept) == 1:
        notes.append(
            "There is one pair: nothing tells how pairs scatter, so that errors rest on the vocabulary alone, and "
            "statements on further pairs on what is usual."
        )
    member = np.zeros((len(kept), len(vectors)))
    for row, (below, above) in zip(member, rows, strict=True):
        row[below], row[above] = -1.0, 1.0
    return FoundPoles(poles, tuple(kept), (), Strata(vectors, (member,)), keys, tuple(notes))


def _found_lists(
    poles: Poles, row_of: Mapping[str, int], vectors: np.ndarray, keys: tuple[str, ...], notes: list[str]
) -> FoundPoles:
    kept, members = [], []
    for sign, (name, words) in zip((-1.0, 1.0), poles.lists, strict=True):
        rows = {row_of[word]: word for word in reversed(words) if word in row_of}
        if not rows:
            raise InputError(f"no word of the pole {name!r} is in the embedding: it asks for {listed(list(words))}")
        member = np.zeros((len(rows), len(vectors)))
        member[np.arange(len(rows)), list(rows)] = sign
        members.append(member)
        kept.append((name, tuple(reversed(rows.values()))))
    shared = set(np.flatnonzero(members[0].any(axis=0))) & set(np.flatnonzero(members[1].any(axis=0)))
    if shared:
        raise InputError(f"{keys[min(shared)]!r} stands at both poles of the axis {poles.name}")
    strata = Strata(vectors, tuple(members))
    if np.linalg.norm(strata.weights @ vectors) < NO_LENGTH:
        raise InputError(f"the poles of the axis {poles.name} have one vector: there is nothing between them")
    notes.append(LISTS)
    return FoundPoles(poles, (), tuple(kept), strata, keys, tuple(notes))
