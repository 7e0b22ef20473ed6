"""Words at the poles of an axis: bundled axes, and what stands for pairs or two lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from bayesbias._support import shipped
from bayesbias._support.arguments import is_list, mapping
from bayesbias._support.files import checked, read_toml
from bayesbias.errors import InputError, near, shown
from bayesbias.words import PairList, WordList, WordLists, Words, lists_of_any_kind, pairs_given


@cache
def bundled_axes() -> dict[str, Any]:
    """Source, DOI, and name of each axis to its domain and pairs."""
    return read_toml(shipped("data") / "axes.toml")


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
        """Names of the negative and the positive pole: that of a list, or the word of the first pair."""
        return (self.lists[0][0], self.lists[1][0]) if self.lists else self.pairs[0]

    @property
    def words(self) -> list[str]:
        """Every word of the pairs or lists."""
        return [word for pair in self.pairs for word in pair] or [word for _, words in self.lists for word in words]


def poles_of(pairs: Any, name: str = "pairs") -> Poles:
    """The poles that an argument stands for."""
    known = bundled_axes()
    if isinstance(pairs, str) and pairs in known["axes"]:
        own = tuple((negative, positive) for negative, positive in known["axes"][pairs]["pairs"])
        return Poles(pairs, own, source=known["source"], doi=known["doi"])
    if isinstance(pairs, str | Path):
        try:
            pairs = lists_of_any_kind(pairs)
        except InputError as error:
            valid = [*known["axes"], "gender_pairs"]
            why = str(error) if Path(pairs).suffix else f"there is no axis {shown(str(pairs))}{near(pairs, valid)}"
            raise InputError(
                f"{name}: {why}. Bundled axes are {', '.join(valid)}; pairs of words, or a TOML file of them, "
                "are valid too"
            ) from None
    if isinstance(pairs, Poles):
        return pairs
    if isinstance(pairs, WordLists | Mapping):
        return _two_lists(pairs, name)
    if isinstance(pairs, PairList):
        return Poles(pairs.name, pairs.pairs, source=pairs.source, doi=pairs.doi or "")
    given = pairs if isinstance(pairs, WordList) or not is_list(pairs) else list(pairs)
    if isinstance(given, WordList) or (isinstance(given, list) and all(isinstance(each, str) for each in given[:2])):
        raise InputError(
            f"{name} is {shown(given)}, a list of words: give pairs of words, such as [('poor', 'rich')], or two lists "
            "by name, such as {'poor': [...], 'rich': [...]}"
        )
    word_pairs = tuple(pairs_given(given, name))
    return Poles(f"{word_pairs[0][0]} to {word_pairs[0][1]}", word_pairs)


def _two_lists(lists: WordLists | Mapping[str, Any], name: str) -> Poles:
    given = lists.protected if isinstance(lists, WordLists) else mapping(lists, name, "lists")
    if len(given) != 2:
        raise InputError(
            f"{name} has {len(given)} lists: an axis runs between two, such as {{'poor': [...], 'rich': [...]}}"
        )
    both = tuple((group, checked(Words, words, f"{name}.{group}")) for group, words in given.items())
    if isinstance(lists, WordLists):
        return Poles(lists.name, lists=both, source=lists.source, doi=lists.doi or "")
    return Poles(f"{both[0][0]} to {both[1][0]}", lists=both)


def pairs_of(pairs: Any, name: str) -> list[tuple[str, str]]:
    """The pairs of an axis, given or by name, or of a list of pairs by its name or file."""
    asked = getattr(getattr(pairs, "poles", None), "poles", None)
    poles = asked if isinstance(asked, Poles) else poles_of(pairs, name)
    if not poles.pairs:
        raise InputError(f"{name} is the axis {poles.name}, which runs between two lists and has no pairs: give some")
    return list(poles.pairs)
