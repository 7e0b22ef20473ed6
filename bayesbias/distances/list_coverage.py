"""``Coverage``: the record of how word lists met an embedding."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any, TypedDict

import pandas as pd
from pydantic import ConfigDict, TypeAdapter, ValidationError

from bayesbias.errors import InputError
from bayesbias.results import Note, restored
from bayesbias.vectors.lookup import HELD, About, left_out, missing_words
from bayesbias.words import WordLists, in_order

COSINE = "cosine distance"
FEWEST_PROTECTED, FEWEST_STEREOTYPE = 3, 2  # words below which lists have no answer
SHORT = 3  # words of a list up to which intervals are known to be too narrow

ListEntry = TypedDict(  # noqa: UP013  # in a class the field list would hide the type
    "ListEntry", {"list": str, "kind": str, "asked": int | None, "found": int, "missing": list[str]}
)


@dataclass(frozen=True, repr=False)
class Coverage:
    """The record of how word lists met an embedding, or a file of distances; ``print`` shows lists and notes."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    word_list: str  # name of the word list, or of the file
    lists: list[ListEntry]  # `asked` is None where it is not known
    substituted: dict[str, str] = field(default_factory=dict)  # words read under another spelling, with that one
    composed: list[str] = field(default_factory=list)  # words whose vectors a fastText model made of parts of words
    own_pairs: list[str] = field(default_factory=list)  # both protected and attribute: without the pair with itself
    in_several_lists: dict[str, list[str]] = field(default_factory=dict)  # attribute words; a pair has the first list
    repeated_rows: int = 0  # rows that repeat a pair: dropped, unless duplicates are kept
    kept_duplicates: bool = False
    missing_pairs: int = 0  # rows of a file that hold no distance
    source: str = ""  # of the word list, as its doi
    doi: str | None = None
    embedding: About = field(default_factory=About)
    pairs: int = 0  # rows of the table when it was made; fewer are left if it was restricted later
    relatedness: str = ""  # what the covariance of distances was estimated from, or why there is none
    twins: list[dict[str, str]] = field(default_factory=list)  # words with the vector of an earlier one of their list
    kept_twins: bool = False  # else the first word stands for all
    one_vector: list[dict[str, list[str]]] = field(default_factory=list)  # sets of words of different lists, all kept
    labels: dict[str, str] = field(default_factory=dict)  # control list to what it is called in sentences
    unknown: str = ""  # why it is not known which words were asked for; empty where it is
    forms: dict[str, list[str]] = field(default_factory=dict)  # concept with several forms to those that are found
    gender: str = ""  # what grammatical gender may do to the distances, or nothing
    contexts: dict[str, Any] = field(default_factory=dict)  # of words in sentences: encoder, templates, pairing
    language: str | None = None  # BCP 47 tag of the lists; None where they do not tell
    case: str = "as-is"  # how words were looked up: as-is, or with other capitals as a fallback
    bundled: tuple[str, ...] = ()  # control lists that are the bundled ones, with these' sources
    path: str = field(default="", compare=False)  # of the file of the word lists, as it was given

    def used(self, entry: ListEntry) -> int:
        """Words of a list that count there: of the found ones, those that no earlier list of the table counts."""
        same = (
            0
            if self.kept_twins
            else sum((each["kind"], each["list"]) == (entry["kind"], entry["list"]) for each in self.twins)
        )
        if self.kept_duplicates or entry["kind"] != "control":
            return entry["found"] - same
        controls = [each["list"] for each in self.lists if each["kind"] == "control"]
        # stereotypes come before controls
        first = {w: sorted(in_order(of), key=controls.__contains__)[0] for w, of in self.in_several_lists.items()}
        lost = [w for w, of in self.in_several_lists.items() if entry["list"] in of and first[w] != entry["list"]]
        return entry["found"] - same - sum(len(self.forms.get(word, (word,))) for word in lost)

    def weak_lists(self, lists: Container[str] | None = None) -> list[Note]:
        """Notes on the short lists among some (None: all), and on control lists that hold many stereotypes."""
        used = [each for each in self.lists if lists is None or each["list"] in lists]
        few = [f"{each['list']} {each['found']}" for each in used if 0 < each["found"] <= SHORT]
        notes = [Note("short-lists", most=SHORT, words=few)] if few else []
        controls = {each["list"] for each in self.lists if each["kind"] == "control"}
        for name, found in [(each["list"], each["found"]) for each in used if each["list"] in controls]:
            both = [word for word, of in self.in_several_lists.items() if name in of and not controls >= {*of}]
            if len(both) > (1 - HELD) * found:
                notes.append(Note("stereotype-controls", count=len(both), total=found, list=name, words=both))
        return notes

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as they stand on disk."""
        return asdict(self)

    def table(self) -> pd.DataFrame:
        """One row a list: ``list``, ``kind``, ``asked``, ``found``, ``used`` (numbers of words), ``missing``.

        Kinds are protected, stereotype and control; used are the words that count in this list and in no other one.
        """
        rows = [entry | {"used": self.used(entry)} for entry in self.lists]
        table = pd.DataFrame(rows, columns=["list", "kind", "asked", "found", "used", "missing"])
        return table.astype({"asked": "Int64"})

    def __repr__(self) -> str:
        rows = self.table().drop(columns="missing").to_string(index=False)
        return "\n".join([f"Coverage of {self.word_list}", rows, *self.notes()])

    def notes(self, table: pd.DataFrame | None = None) -> list[Note]:
        """One note for each thing that was left out, replaced or counted more than once.

        ``table`` is the table as it is now, to say whether it was restricted since it was made.
        """
        rule = "count in each" if self.kept_duplicates else "count once"
        forms = [f"{name} ({'/'.join(each)})" for name, each in self.forms.items() if len(each) > 1]
        between = [
            " = ".join(f"{word} ({'/'.join(lists)})" for word, lists in words.items()) for words in self.one_vector
        ]
        same = [f"{each['word']} = {each['first']}" for each in self.twins]
        several = [f"{word} ({'/'.join(lists)})" for word, lists in self.in_several_lists.items()]
        kept = "kept" if self.kept_duplicates else "dropped"
        measured = self.pairs + self.repeated_rows * (not self.kept_duplicates)
        twins = "all kept" if self.kept_twins else "counted once"
        every = (
            (self.substituted, "spelling", {"words": [f"{a} as {b}" for a, b in self.substituted.items()]}),
            (self.composed, "composed", {"count": len(self.composed), "words": self.composed}),
            (forms, "forms", {"words": forms}),
            (self.gender, "gender", {"language": self.language, "forms": self.gender}),
            (self.own_pairs, "both-sides", {"words": self.own_pairs}),
            (several, "several-lists", {"rule": rule, "words": several}),
            (self.repeated_rows, "repeated", {"rows": self.repeated_rows, "total": measured, "rule": kept}),
            (self.relatedness.startswith("none"), "unrelated", {"reason": self.why_unrelated}),
            (same, "copies", {"count": len(same), "rule": twins, "words": same}),
            (between, "copies-between", {"count": sum(map(len, self.one_vector)), "words": between}),
        )
        return [
            *self._doubts(table),
            *missing_words(self.lists, lost=False),
            *left_out(self.missing_pairs, self.pairs + self.missing_pairs, "pairs", "no distance"),
            *(Note(code, **numbers) for holds, code, numbers in every if holds),
            *restored(self.contexts.get("notes", ())),
        ]

    @property
    def why_unrelated(self) -> str:
        """Why the covariance of distances is not known; empty where it is."""
        return (
            self.relatedness.removeprefix("none").removeprefix(", because ") if self.relatedness[:4] == "none" else ""
        )

    def _doubts(self, table: pd.DataFrame | None) -> list[Note]:
        """Notes where words that were asked for are not known, or where a table is not the one that was measured."""
        notes = [Note("coverage-unknown", reason=self.unknown)] if self.unknown else []
        if table is None or not self.pairs:
            return notes
        means = self.contexts and "template" not in table
        pairs = self.contexts.get("means", len(table)) if means else self.pairs
        if len(table) != pairs:
            words = table["protected_word"].nunique()
            notes.append(Note("table-changed", rows=len(table), measured=pairs, words=words))
        return notes


def limits_of(records: Iterable[Coverage], lists: Container[str] | None = None) -> tuple[Note, ...]:
    """Notes on words that some embedding lacks, and on weak lists: notes of all results of these records' tables.

    ``lists`` are those that a result is of; None for all.
    """
    known, merged = list(records), dict[tuple[object, ...], ListEntry]()
    for record in known:
        for entry in record.lists:
            key = (record.word_list, entry["kind"], entry["list"], entry["asked"])
            if lists is None or entry["list"] in lists:
                earlier = merged.setdefault(key, {**entry, "missing": []})
                earlier["missing"] = list(dict.fromkeys([*earlier["missing"], *entry["missing"]]))
    return tuple(
        dict.fromkeys([*missing_words(merged.values()), *(note for each in known for note in each.weak_lists(lists))])
    )


def list_entry(name: str, kind: str, asked: list[str], missing: list[str]) -> ListEntry:
    """The coverage of one list."""
    return {"list": name, "kind": kind, "asked": len(asked), "found": len(asked) - len(missing), "missing": missing}


def entries_of(lists: WordLists, held: Container[str]) -> list[ListEntry]:
    """The coverage of each list, of the words that are held."""
    return [
        list_entry(name, kind, list(words), [word for word in words if word not in held])
        for kind, part in lists.by_kind
        for name, words in part.items()
    ]


def known_coverage(stored: object) -> Coverage | None:
    """The record from its plain values, or None where these are not ours."""
    try:
        return coverage_from(stored)
    except InputError:
        return None


@cache
def _of_coverage() -> TypeAdapter[Coverage]:
    """The check of a record, which takes longer to make than to use."""
    return TypeAdapter(Coverage)


def coverage_from(stored: object) -> Coverage:
    """The record from its plain values."""
    try:
        return _of_coverage().validate_python(stored)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"{'.'.join(map(str, ('coverage', *first['loc'])))}: {first['msg']}") from error
