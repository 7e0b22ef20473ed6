"""``Coverage``: the record of how word lists met an embedding."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any, NamedTuple, TypedDict

import pandas as pd
from pydantic import ConfigDict, TypeAdapter, ValidationError

from bayesbias.errors import InputError, agreed, listed, many
from bayesbias.vectors.lookup import HELD, SHOWN, About, composed_sentences, lost_words, twin_sentence
from bayesbias.words import WordLists, in_order

COSINE = "cosine distance"
FEWEST_PROTECTED, FEWEST_STEREOTYPE = 3, 2  # words below which lists have no answer
SHORT = 3  # words of a list up to which intervals are known to be too narrow

ListEntry = TypedDict(  # noqa: UP013  # in a class the field list would hide the type
    "ListEntry", {"list": str, "kind": str, "asked": int | None, "found": int, "missing": list[str]}
)


class HeldWords(NamedTuple):
    """Numbers of words of the lists that an embedding holds, and of the control words apart."""

    held: int
    asked: int
    controls_held: int
    controls: int

    @property
    def share(self) -> float:
        """Share of the words of groups and stereotypes that the embedding holds."""
        return self.held / self.asked

    @property
    def and_controls(self) -> str:
        """The end of a sentence on words, with the control words; empty where there are none."""
        return f" and {self.controls_held:,} of {many(self.controls, 'control word')}" if self.controls else ""


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

    @property
    def held(self) -> HeldWords:
        """Numbers of words that are held; words that are not known to be asked for count as none."""
        parts = [[entry for entry in self.lists if (entry["kind"] == "control") is of] for of in (False, True)]
        return HeldWords(*(sum(entry[key] or 0 for entry in part) for part in parts for key in ("found", "asked")))

    @property
    def of_fewer_words(self) -> list[str]:
        """Sentences on the control lists some of whose words count in another list only."""
        if self.kept_duplicates:
            return []
        controls = {entry["list"]: entry["found"] for entry in self.lists if entry["kind"] == "control"}
        # stereotypes come before controls
        first = {
            word: sorted(in_order(lists), key=controls.__contains__)[0] for word, lists in self.in_several_lists.items()
        }
        same = [] if self.kept_twins else [each["list"] for each in self.twins]
        sentences = []
        for name, found in controls.items():
            lost = [word for word, lists in self.in_several_lists.items() if name in lists and first[word] != name]
            used = found - same.count(name) - sum(len(self.forms.get(word, (word,))) for word in lost)
            elsewhere = listed([f"{word} ({first[word]})" for word in lost])
            if lost:
                sentences.append(
                    f"The control list {name} was used with {used:,} of its {many(found, 'word')} found, without "
                    f"those that count in another list: {elsewhere}."
                )
        return sentences

    def weak_lists(self, lists: Container[str] | None = None) -> list[str]:
        """Lines on the short lists among some (None: all), and on control lists that hold many stereotypes."""
        used = [each for each in self.lists if lists is None or each["list"] in lists]
        few = [f"{each['list']} {each['found']}" for each in used if 0 < each["found"] <= SHORT]
        lines = [f"short: lists of {SHORT} words or fewer ({listed(few)}); intervals may be too narrow"] if few else []
        controls = {each["list"] for each in self.lists if each["kind"] == "control"}
        for name, found in [(each["list"], each["found"]) for each in used if each["list"] in controls]:
            both = [word for word, of in self.in_several_lists.items() if name in of and not controls >= {*of}]
            if len(both) > (1 - HELD) * found:
                lines.append(
                    f"controls: {len(both):,} of {found:,} words of {name} are stereotypes ({listed(both, 6)})"
                )
        return lines

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as they stand on disk."""
        return asdict(self)

    def table(self) -> pd.DataFrame:
        """One row a list: ``list``, ``kind`` (protected, stereotype, control), ``asked``, ``found``, ``missing``."""
        rows = pd.DataFrame(self.lists, columns=["list", "kind", "asked", "found", "missing"])
        return rows.astype({"asked": "Int64"})

    def __repr__(self) -> str:
        rows = self.table().drop(columns="missing").to_string(index=False)
        return "\n".join([f"Coverage of {self.word_list}", rows, *self.notes()])

    def notes(self, table: pd.DataFrame | None = None, missing: bool = True) -> list[str]:
        """One sentence for each thing that was left out, replaced or counted more than once.

        ``table`` is the table as it is now, to say whether it was restricted since it was made; ``missing=False``
        leaves out missing words, which a table of the lists shows too.
        """
        notes = self._doubts(table)
        for entry in self.lists:
            if missing and entry["missing"]:
                counts = f"{len(entry['missing']):,} of {many(entry['asked'] or 0, 'word')}"
                notes.append(f"The {entry['kind']} list {entry['list']} lacks {listed(entry['missing'])} ({counts}).")
        pairs = ", ".join(f"{asked} as {used}" for asked, used in self.substituted.items())
        several = [f"{name} ({', '.join(form)})" for name, form in self.forms.items() if len(form) > 1]
        named = ", ".join(f"{word} ({', '.join(lists)})" for word, lists in self.in_several_lists.items())
        rule = "count in each" if self.kept_duplicates else "count once for a protected word"
        unrelated = self.relatedness.removeprefix("none").replace(", because", ":")
        own, kept = ", ".join(self.own_pairs), "kept" if self.kept_duplicates else "dropped"
        sentences = (
            (pairs, f"Some words were read under another spelling: {pairs}."),
            (self.composed, " ".join(composed_sentences(self.composed))),
            (several, f"Distances are means over several forms: {listed(several, SHOWN)}."),
            (self.gender, self.gender),
            (own, f"These words are both protected and attribute, without the pair with itself: {own}."),
            (named, f"Words of several attribute lists {rule}: {named}."),
            (
                self.repeated_rows,
                f"{many(self.repeated_rows, 'row')} {agreed(self.repeated_rows, 'repeats', 'repeat')} a pair and "
                f"{agreed(self.repeated_rows, 'was', 'were')} {kept}.",
            ),
            (
                self.missing_pairs,
                f"{many(self.missing_pairs, 'pair')} {agreed(self.missing_pairs, 'has', 'have')} no distance.",
            ),
            (self.relatedness.startswith("none"), f"The relatedness of words is not known{unrelated}."),
        )
        notes += [sentence for holds, sentence in sentences if holds]
        return [*notes, *self.of_fewer_words, *self._twin_notes(), *self.contexts.get("notes", ())]

    def _doubts(self, table: pd.DataFrame | None) -> list[str]:
        """Notes where words that were asked for are not known, or where a table is not the one that was measured."""
        notes = []
        if self.unknown:
            notes.append(
                f"The coverage is not known, because {self.unknown}: the lists hold the words of the distances, and "
                "words that were not found are not known."
            )
        if table is None or not self.pairs or len(table) == self.pairs:
            return notes
        pairs = self.pairs
        if self.contexts and "template" not in table:
            pairs, names = self.contexts.get("means", len(table)), self.contexts.get("templates")
            where = many(len(names), "template") if names else "sentences of a corpus"
            means = f"the model takes the mean of each of {many(pairs, 'pair')}"
            notes.append(f"{many(self.pairs, 'distance')} were measured in {where}; {means}.")
            if len(table) == pairs:
                return notes
        measured = sum(entry["found"] for entry in self.lists if entry["kind"] == "protected")
        measured -= 0 if self.kept_twins else sum(entry["kind"] == "protected" for entry in self.twins)
        left = sum(len(self.forms.get(word, (word,))) for word in table["protected_word"].unique())
        return [
            *notes,
            f"The table was changed after it was measured: it holds {len(table):,} of "
            f"{many(pairs, 'distance')} and {left} of {many(measured, 'protected word')}. The lists are those of "
            "the whole table.",
        ]

    def _twin_notes(self) -> list[str]:
        """Words that have the vector of another: of the same list, and of another one."""
        by_list: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for entry in self.twins:
            by_list.setdefault((entry["kind"], entry["list"]), []).append((entry["word"], entry["first"]))
        rule = "all are kept" if self.kept_twins else "words of one vector count once"
        notes = [
            f"In the {kind} list {name}, {twin_sentence(pairs)}; {rule}." for (kind, name), pairs in by_list.items()
        ]
        if self.one_vector:
            sets = [
                ", ".join(f"{word} ({' and '.join(lists)})" for word, lists in words.items())
                for words in self.one_vector
            ]
            more = f"; and {len(sets) - SHOWN} more" if len(sets) > SHOWN else ""
            notes.append(
                f"Words of different lists have one vector, and all are kept: {'; '.join(sets[:SHOWN])}{more}."
            )
        return notes


def limits_of(records: Iterable[Coverage], lists: Container[str] | None = None) -> tuple[str, ...]:
    """Sentences on words that some embedding lacks, and on weak lists: notes of all results of these records' tables.

    ``lists`` are those that a result is of; None for all.
    """
    known, merged = list(records), dict[tuple[object, ...], ListEntry]()
    for record in known:
        for entry in record.lists:
            key = (record.word_list, entry["kind"], entry["list"], entry["asked"])
            if lists is None or entry["list"] in lists:
                earlier = merged.setdefault(key, {**entry, "missing": []})
                earlier["missing"] = list(dict.fromkeys([*earlier["missing"], *entry["missing"]]))
    lost = lost_words(merged.values(), " in all embeddings" if len(known) > 1 else "")
    lines = dict.fromkeys([*lost, *(line for record in known for line in record.weak_lists(lists))])
    return tuple(f"{line}." for line in lines)


def too_short(protected: int, stereotypes: Mapping[str, int]) -> str:
    """Why lists with so many words have no answer on the whole list; empty where they have one."""
    if protected < FEWEST_PROTECTED:
        found = "none was found" if not protected else f"{protected} {agreed(protected, 'was', 'were')} found"
        return f"An answer on the whole list needs at least {FEWEST_PROTECTED} protected words, and {found}."
    if few := [f"{name} has {count}" for name, count in stereotypes.items() if count < FEWEST_STEREOTYPE]:
        return f"An answer needs at least {FEWEST_STEREOTYPE} words in each stereotype list, and {listed(few)}."
    return ""


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


def lists_named(lists: Sequence[ListEntry], labels: Mapping[str, str]) -> pd.DataFrame:
    """The table of a coverage as pages write it: lists by their labels, and ``asked`` as a text."""
    table = pd.DataFrame(lists, columns=["list", "kind", "asked", "found", "missing"])
    asked = table["asked"].astype("Int64").map("{:,}".format, na_action="ignore").astype("string").fillna("unknown")
    return table.assign(list=[labels.get(name, name) for name in table["list"]], asked=asked)


def known_coverage(stored: object) -> Coverage | None:
    """The record from its plain values, or None where these are not ours."""
    try:
        return coverage_from(stored)
    except InputError:
        return None


def carried_labels(labels: dict[str, str]) -> dict[Any, Any]:
    """The labels as they stand in the ``attrs`` of results; nothing without labels."""
    return {"labels": labels} if labels else {}


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
