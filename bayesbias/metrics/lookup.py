"""The sets of a query as vectors, with what was asked, found and left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import filterfalse
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayesbias._checks import flag, one_of, share
from bayesbias._core.vectors import unit_rows
from bayesbias.embeddings import TWINS, Case, FoundWords, Twins, find_words, twin_sentence, twins_of, twins_within
from bayesbias.errors import InputError, shortened
from bayesbias.metrics.base import Sets
from bayesbias.metrics.queries import Query

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

OnMissing = Literal["drop", "error"]


OPTIONS = ("on_missing", "max_missing", "case", "normalise", "compat", "twins")


@dataclass(frozen=True)
class Lookup:
    """How words are looked up.

    Attributes
    ----------
    on_missing
        ``"drop"`` leaves missing words out and says so, ``"error"`` refuses them.
    max_missing
        Largest share of a set's words (of the pairs, for metrics of pairs) that may be missing.
    case
        As in :func:`find_words`.
    normalise
        Whether vectors are scaled to length 1 first.
    compat
        ``"wefe"`` follows WEFE: repeated words count as lost, and pairs whose word is missing shift.
    twins
        ``"once"`` counts the words of a set that have one vector as one word, ``"keep"`` as several; in pairs, pairs.
    without
        Words that count as missing although the embedding holds them.
    alike
        Word to the word that it counts as, for several embeddings at once; None reads it off the vectors.
    """

    on_missing: OnMissing = "drop"
    max_missing: float = 0.2
    case: Case = "as-is"
    normalise: bool = False
    compat: str | None = None
    twins: Twins = "once"
    without: frozenset[str] = frozenset()
    alike: Mapping[str, str] | None = None

    @classmethod
    def checked(
        cls,
        on_missing: OnMissing,
        max_missing: float,
        case: Case,
        normalise: bool,
        compat: str | None,
        twins: Twins = "once",
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
        """What was asked for, by the names of the public functions' arguments."""
        return {name: getattr(self, name) for name in OPTIONS}


@dataclass(frozen=True)
class FoundSets:
    """Vectors of a query's sets.

    Attributes
    ----------
    targets, attributes
        Vectors of each set, (words, dimensions).
    words
        Set to the words that were used.
    keys
        Word to the key under which the embedding holds it.
    entries
        One entry a set: ``set``, ``kind``, ``asked``, ``found``, ``missing`` words.
    reason
        Why there can be no value, or None.
    notes
        Sentences on what was left out.
    twin_notes
        Those of them on words that have one vector.
    """

    targets: Sets
    attributes: Sets
    words: Mapping[str, tuple[str, ...]]
    keys: Mapping[str, str]
    entries: tuple[Mapping[str, Any], ...]
    reason: str | None
    notes: tuple[str, ...]
    twin_notes: tuple[str, ...] = ()


def look_up(kv: KeyedVectors, query: Query, how: Lookup, paired: bool) -> FoundSets:
    """Look a query's words up.

    Raises
    ------
    InputError
        Words are missing and ``on_missing`` is ``"error"``; two sets of pairs differ in length.
    """
    sets = {
        name: find_words(kv, filterfalse(how.without.__contains__, words) if how.without else words, how.case)
        for name, words in query.distinct.items()
    }
    entries: tuple[Mapping[str, Any], ...] = tuple(_entry(query, name, sets[name]) for name in sets)
    if how.on_missing == "error" and (lost := [word for entry in entries for word in entry["missing"]]):
        raise InputError(
            f"the embedding lacks {shortened(lost)}, words of the query "
            f"{query.name!r}: change the query, or pass on_missing='drop'"
        )
    kept: dict[str, tuple[str, ...]] = {name: _once(found.keys) for name, found in sets.items()}
    notes = _lost(entries, sets, kept)
    alike = _alike(sets, how)
    twin_notes = []
    for name in query.attributes if paired else query.sets:
        again = twins_within(kept[name], alike)
        kept[name] = tuple(word for word in kept[name] if word not in again)
        twin_notes += [f"{name}: {twin_sentence(again.items())}: counted once"] if again else []
    if paired and how.compat != "wefe":
        reasons = _too_few(query, query.attributes, sets, how)
        pairs = _pairs(query)
        first, second = (sets[name].keys for name in query.targets)
        whole = [pair for pair in pairs if pair[0] in first and pair[1] in second]
        if len(pairs) - len(whole) > how.max_missing * len(pairs) or not whole:
            reasons.insert(0, f"{len(pairs) - len(whole)} of {len(pairs)} pairs lack a word{_limit(how)}")
        elif len(whole) < len(pairs):
            notes.append(f"{len(pairs) - len(whole)} of {len(pairs)} pairs lack a word and were left out")
        apart, said = pairs_once(whole, alike)
        twin_notes += said
        if whole and not apart:
            reasons.append("the words of every pair have one vector, so that nothing relates them")
        kept |= dict(zip(query.targets, zip(*apart, strict=True) if apart else ((), ()), strict=True))
    else:
        reasons = _too_few(query, query.sets, sets, how)
        if paired:
            least = min(len(kept[name]) for name in query.targets)
            kept |= {name: kept[name][:least] for name in query.targets}
    twin_notes += _across(kept, sets, alike)

    def vectors(names: Mapping[str, object]) -> Sets:
        arrays = [sets[name].of(kept[name]) for name in names]
        return tuple(unit_rows(array) if how.normalise and len(array) else array for array in arrays)

    return FoundSets(
        targets=vectors(query.targets),
        attributes=vectors(query.attributes),
        words=kept,
        keys={word: key for found in sets.values() for word, key in found.keys.items()},
        entries=entries,
        reason="; ".join(reasons) or None,
        notes=(*notes, *twin_notes),
        twin_notes=tuple(twin_notes),
    )


def _alike(sets: Mapping[str, FoundWords], how: Lookup) -> Mapping[str, str]:
    """Word to the first word of the sets that has its vector, for words that are not the first."""
    if how.twins == "keep" or how.compat == "wefe":
        return {}
    if how.alike is not None:
        return how.alike
    keys: dict[str, str] = {}
    vectors = []
    for found in sets.values():
        new = {word: key for word, key in found.keys.items() if word not in keys}
        vectors.append(found.of(list(new)))
        keys |= new
    return twins_of(FoundWords(keys, np.concatenate(vectors)))


def alike_in_some(queries: Iterable[Query], embeddings: Iterable[KeyedVectors], case: Case) -> dict[str, str]:
    """Word to the first word whose vector it has in one of several embeddings, or through several of them."""
    words = list(dict.fromkeys(word for query in queries for listed in query.sets.values() for word in listed))
    place = {word: at for at, word in enumerate(words)}
    first: dict[str, str] = {}
    for kv in embeddings:
        for word, other in twins_of(find_words(kv, words, case)).items():
            keep, gone = sorted((first.get(word, word), first.get(other, other)), key=place.__getitem__)
            first |= dict.fromkeys([gone, *(each for each, of in first.items() if of == gone)], keep)
    return {word: of for word, of in first.items() if word != of}


def pairs_once(pairs: Sequence[tuple[str, str]], alike: Mapping[str, str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Pairs without those of one vector and those that have the vectors of an earlier pair, and sentences on them.

    Parameters
    ----------
    pairs
        Pairs of words; one that is listed twice stays twice.
    alike
        As :func:`twins_of` returns it.
    """
    first: dict[tuple[str, str], tuple[str, str]] = {}
    kept, single, again = [], [], []
    for pair in pairs:
        one, other = (alike.get(word, word) for word in pair)
        earlier = first.setdefault((one, other), pair)
        if one == other:
            single.append(pair)
        elif earlier != pair:
            again.append(("/".join(pair), "/".join(earlier)))
        else:
            kept.append(pair)
    notes = [f"pairs left out, since their words have one vector: {', '.join(map('/'.join, single))}"] if single else []
    if again:
        notes.append(f"pairs counted once: {', '.join(f'{pair} has the vectors of {of}' for pair, of in again)}")
    return kept, notes


def _across(kept: Mapping[str, Sequence[str]], sets: Mapping[str, FoundWords], alike: Mapping[str, str]) -> list[str]:
    """A sentence on words of different sets that have one vector, although the embedding tells them apart by name."""
    places: dict[str, dict[str, str]] = {}
    for name, words in kept.items() if alike else ():
        for word in words:
            places.setdefault(alike.get(word, word), {}).setdefault(sets[name].keys[word], f"{word} ({name})")
    shared = [", ".join(words.values()) for words in places.values() if len(words) > 1]
    return [f"one vector in different sets, where all stay: {'; '.join(shared)}"] if shared else []


def _lost(
    entries: Iterable[Mapping[str, Any]], sets: Mapping[str, FoundWords], kept: Mapping[str, Sequence[str]]
) -> list[str]:
    """Sentences on missing words, and on those that are one under several spellings."""
    notes = [
        f"{entry['set']} lacks {', '.join(entry['missing'])} ({len(entry['missing'])} of {entry['asked']} words)"
        for entry in entries
        if entry["missing"]
    ]
    for name, found in sets.items():
        if len(kept[name]) < len(found.keys):
            keys = list(found.keys.values())
            again = dict.fromkeys(key for key in keys if keys.count(key) > 1)
            notes.append(f"{name} holds {', '.join(again)} in several spellings, which count once")
    return notes


def _entry(query: Query, name: str, found: FoundWords) -> dict[str, Any]:
    asked = query.distinct[name]
    return {
        "set": name,
        "kind": "target" if name in query.targets else "attribute",
        "asked": len(asked),
        "found": len(found.keys),
        "missing": list(filterfalse(found.keys.__contains__, asked)),
    }


def _once(keys: Mapping[str, str]) -> tuple[str, ...]:
    """Words without those that the embedding holds under the key of an earlier one."""
    if len(set(keys.values())) == len(keys):
        return tuple(keys)
    first = {key: word for word, key in reversed(list(keys.items()))}
    return tuple(word for word, key in keys.items() if first[key] == word)


def _too_few(query: Query, names: Iterable[str], sets: Mapping[str, FoundWords], how: Lookup) -> list[str]:
    """A sentence for each of some sets that lost too many words."""
    reasons = []
    for name in names:
        asked = len(query.sets[name] if how.compat == "wefe" else query.distinct[name])
        lost = asked - len(sets[name].keys)
        if lost > how.max_missing * asked or lost == asked:
            what = "missing or repeated" if how.compat == "wefe" else "missing"
            reasons.append(f"{lost} of {asked} words of the set {name!r} are {what}{_limit(how)}")
    return reasons


def _limit(how: Lookup) -> str:
    return f" (at most {how.max_missing:.0%} may be)" if how.max_missing < 1 else ""


def _pairs(query: Query) -> list[tuple[str, str]]:
    first, second = query.targets.values()
    if len(first) != len(second):
        names = " and ".join(map(repr, query.targets))
        raise InputError(
            f"metrics of pairs take the words of {names} in order, and they have {len(first)} and {len(second)} words: "
            "give as many to each, or leave ripa, direct_bias, db_wa and nbm out"
        )
    return list(zip(first, second, strict=True))


def vocabulary(kv: KeyedVectors) -> NDArray[np.float32]:
    """Unit vectors of every word, in single precision; words without a direction get none."""
    vectors = np.asarray(kv.vectors, dtype=np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: NDArray[np.float32] = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return unit
