"""The words of a query in an embedding: look-up, coverage, and words that share a vector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import filterfalse
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from bayesbias._support.arguments import flag, one_of, share
from bayesbias.errors import InputError, listed
from bayesbias.metrics.queries import Query
from bayesbias.numerics.arrays import FloatArray, unit_rows
from bayesbias.results import Note
from bayesbias.vectors import TWINS, Case, FoundWords, Twins, composed_notes, composed_of, find_words
from bayesbias.vectors.lookup import first_keys, left_out, missing_words, other_capitals, pairs_once, words_once

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

Sets = tuple[FloatArray, ...]  # vectors of some sets, each (words, dimensions)
OnMissing = Literal["drop", "error"]
ONE_VECTOR = "the words of every pair have one vector, so that nothing relates them"


@dataclass(frozen=True)
class Lookup:
    """Options for the look-up of words."""

    on_missing: OnMissing = "drop"  # "drop" leaves missing words out and says so, "error" refuses them
    max_missing: float = 0.2  # largest share of a set's words (of the pairs, for metrics of pairs) that may be missing
    case: Case = "as-is"  # as in find_words
    normalise: bool = False  # whether vectors are scaled to length 1 first
    compat: str | None = None  # "wefe": repeated words count as lost, and pairs whose word is missing shift
    twins: Twins = "once"  # whether words of a set (pairs) that have one vector count "once", or all: "keep"
    without: frozenset[str] = frozenset()  # words that count as missing although the embedding holds them
    alike: Mapping[str, str] | None = None  # word to the one it counts as, in several embeddings; None: by the vectors

    @classmethod
    def checked(
        cls, on_missing: OnMissing, max_missing: float, case: Case, normalise: bool, compat: str | None, twins: Twins
    ) -> Lookup:
        """Arguments of a public function, checked."""
        one_of(on_missing, ("drop", "error"), "on_missing")
        one_of(case, ("as-is", "fallback"), "case")
        if compat is not None:
            one_of(compat, ("wefe",), "compat")
        one_of(twins, TWINS, "twins")
        return cls(on_missing, share(max_missing, "max_missing"), case, flag(normalise, "normalise"), compat, twins)

    @property
    def options(self) -> dict[str, Any]:
        """The options by the names of the public functions' arguments."""
        names = ("on_missing", "max_missing", "case", "normalise", "compat", "twins")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class FoundSets:
    """Vectors of a query's sets."""

    targets: Sets
    attributes: Sets
    words: Mapping[str, tuple[str, ...]]  # set to the words that were used
    keys: Mapping[str, str]  # word to the key under which the embedding holds it
    entries: tuple[Mapping[str, Any], ...]  # one a set: set, kind, asked, found, missing (words)
    reason: str | None  # why there can be no value
    notes: tuple[Note, ...]  # on what was left out
    twin_notes: tuple[Note, ...] = ()  # those of them on words that have one vector


def look_up(kv: KeyedVectors, query: Query, how: Lookup, paired: bool) -> FoundSets:
    """Look a query's words up."""
    sets = {
        name: find_words(kv, filterfalse(how.without.__contains__, words), how.case, query.language)
        for name, words in query.distinct.items()
    }
    keys = {word: key for words in sets.values() for word, key in words.keys.items()}
    entries = _entries(query, sets)
    if how.on_missing == "error":
        _refuse_missing(entries, query)
    counted: dict[str, tuple[str, ...]] = {name: _once(words.keys) for name, words in sets.items()}
    lines = missing_words({**entry, "list": entry["set"]} for entry in entries)
    notes, alike, twin_notes = [*lines, *_lost(lines, entries, sets, counted)], _alike(sets, how), list[Note]()
    for name in query.attributes if paired else query.sets:
        distinct, again = words_once(counted[name], alike, name)
        counted[name], twin_notes = tuple(distinct), [*twin_notes, *again]
    if paired and how.compat != "wefe":
        targets, reasons, incomplete, again = _pairs(query, sets, how, alike)
        counted, notes, twin_notes = counted | targets, [*notes, *incomplete], [*twin_notes, *again]
    else:
        reasons = _too_few(query, query.sets, sets, how)
        if paired:
            least = min(len(counted[name]) for name in query.targets)
            counted |= {name: counted[name][:least] for name in query.targets}
    twin_notes += _across(counted, sets, alike)
    return FoundSets(
        targets=_vectors(query.targets, sets, counted, how),
        attributes=_vectors(query.attributes, sets, counted, how),
        words=counted,
        keys=keys,
        entries=entries,
        reason="; ".join(reasons) + _remedy(kv, query, entries, how) if reasons else None,
        notes=(*notes, *composed_notes(composed_of(kv, keys)), *twin_notes),
        twin_notes=tuple(twin_notes),
    )


def _entries(query: Query, sets: Mapping[str, FoundWords]) -> tuple[Mapping[str, Any], ...]:
    """Words of each set that were asked for, found and missing."""
    return tuple(
        {
            "set": name,
            "kind": "target" if name in query.targets else "attribute",
            "asked": len(query.distinct[name]),
            "found": len(words.keys),
            "missing": list(filterfalse(words.keys.__contains__, query.distinct[name])),
        }
        for name, words in sets.items()
    )


def _refuse_missing(entries: Iterable[Mapping[str, Any]], query: Query) -> None:
    """Refuse a query of which the embedding lacks a word."""
    if lost := [word for entry in entries for word in entry["missing"]]:
        raise InputError(
            f"the embedding lacks {listed(lost)}, words of the query "
            f"{query.name!r}: change the query, or pass on_missing='drop'"
        )


class Pairs(NamedTuple):
    """Words of the two targets whose partners were found too, in order."""

    targets: dict[str, tuple[str, ...]]
    reasons: list[str]  # why there can be no value of pairs
    incomplete: list[Note]  # on pairs that lack a word
    again: list[Note]  # on pairs of one vector, or of those of an earlier pair


def _pairs(query: Query, sets: Mapping[str, FoundWords], how: Lookup, alike: Mapping[str, str]) -> Pairs:
    """The pairs of a query's targets, for metrics that take them in order."""
    left, right = query.targets.values()
    if len(left) != len(right):
        raise InputError(
            f"metrics of pairs take the words of {' and '.join(map(repr, query.targets))} in order, and they have "
            f"{len(left)} and {len(right)} words: give as many to each, or leave ripa, direct_bias, db_wa and nbm "
            "out"
        )
    pairs = list(zip(left, right, strict=True))
    first, second = (sets[name].keys for name in query.targets)
    whole = [pair for pair in pairs if pair[0] in first and pair[1] in second]
    reasons, notes, lacking = _too_few(query, query.attributes, sets, how), list[Note](), len(pairs) - len(whole)
    if lacking > how.max_missing * len(pairs) or not whole:
        reasons.insert(0, f"{lacking} of {len(pairs)} pairs lack a word{_limit(how)}")
    else:
        gone = ["/".join(pair) for pair in pairs if pair not in whole]
        notes = left_out(lacking, len(pairs), "pairs", "a word is missing", gone)
    apart, again = pairs_once(whole, alike)
    if whole and not apart:
        reasons.append(ONE_VECTOR)
    words = zip(*apart, strict=True) if apart else ((), ())
    return Pairs(dict(zip(query.targets, words, strict=True)), reasons, notes, again)


def _vectors(
    names: Iterable[str], sets: Mapping[str, FoundWords], counted: Mapping[str, Sequence[str]], how: Lookup
) -> Sets:
    """Vectors of the counted words of some sets."""
    arrays = [sets[name].of(counted[name]) for name in names]
    return tuple(unit_rows(array) if how.normalise and len(array) else array for array in arrays)


def _alike(sets: Mapping[str, FoundWords], how: Lookup) -> Mapping[str, str]:
    """Word to the first word of the sets that has its vector, for words that are not the first."""
    if how.twins == "keep" or how.compat == "wefe":
        return {}
    if how.alike is not None:
        return how.alike
    keys: dict[str, str] = {}
    vectors = []
    for words in sets.values():
        new = {word: key for word, key in words.keys.items() if word not in keys}
        vectors.append(words.of(list(new)))
        keys |= new
    return FoundWords(keys, np.concatenate(vectors)).duplicates


def _across(
    counted: Mapping[str, Sequence[str]], sets: Mapping[str, FoundWords], alike: Mapping[str, str]
) -> list[Note]:
    """A note on words of different sets that have one vector, although the embedding tells them apart by name."""
    places: dict[str, dict[str, str]] = {}
    for name, words in counted.items() if alike else ():
        for word in words:
            places.setdefault(alike.get(word, word), {}).setdefault(sets[name].keys[word], f"{word} ({name})")
    shared = [words for words in places.values() if len(words) > 1]
    named = [" = ".join(words.values()) for words in shared]
    return [Note("copies-between", count=sum(map(len, shared)), words=named)] if shared else []


def _lost(
    lines: Iterable[Note],
    entries: Iterable[Mapping[str, Any]],
    sets: Mapping[str, FoundWords],
    counted: Mapping[str, Sequence[str]],
) -> list[Note]:
    """Notes on missing words of sets of which no line has said so, and on words under several spellings."""
    said, notes = {line.numbers["kind"] for line in lines}, list[Note]()
    for entry in entries:
        if entry["kind"] not in said:
            name, missing = f"words of {entry['set']}", entry["missing"]
            notes += left_out(len(missing), entry["asked"], name, "missing", missing)
    for name, words in sets.items():
        keys = list(words.keys.values())
        again = dict.fromkeys(key for key in keys if keys.count(key) > 1)
        notes += left_out(len(keys) - len(counted[name]), len(keys), f"words of {name}", "other spellings", again)
    return notes


def _once(keys: Mapping[str, str]) -> tuple[str, ...]:
    """Words without those that the embedding holds under the key of an earlier one."""
    if len(set(keys.values())) == len(keys):
        return tuple(keys)
    first = {key: word for word, key in reversed(list(keys.items()))}
    return tuple(word for word, key in keys.items() if first[key] == word)


def _too_few(query: Query, names: Iterable[str], sets: Mapping[str, FoundWords], how: Lookup) -> list[str]:
    """Why there is no value: the sets that lost too many words."""
    reasons = []
    for name in names:
        count = len(query.sets[name] if how.compat == "wefe" else query.distinct[name])
        lost = count - len(sets[name].keys)
        if lost > how.max_missing * count or lost == count:
            what = "missing or repeated" if how.compat == "wefe" else "missing"
            reasons.append(f"{lost} of {count} words of the set {name!r} are {what}{_limit(how)}")
    return reasons


def _remedy(kv: KeyedVectors, query: Query, entries: Iterable[Mapping[str, Any]], how: Lookup) -> str:
    """The end of a reason: what the keys look like where a set has none of its words, or which other capitals do."""
    missing = [word for entry in entries for word in entry["missing"]]
    look = kv, missing, how.case, query.language
    said = other_capitals(*look) if all(entry["found"] for entry in entries) else first_keys(*look)
    return f"; {said}" if said else ""


def _limit(how: Lookup) -> str:
    return f" (at most {how.max_missing:.0%} may be)" if how.max_missing < 1 else ""
