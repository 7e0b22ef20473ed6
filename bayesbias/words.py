"""Word lists: protected words, stereotypes and controls, read from TOML files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from unicodedata import normalize

from pydantic import BeforeValidator, Field

from bayesbias._checks import by_name_or_none, is_printable, printable, several, text
from bayesbias._files import Document, check, home_folder, read_toml
from bayesbias._paths import shipped
from bayesbias.errors import InputError, listed, near, shown

if TYPE_CHECKING:
    import pandas as pd

PHRASES = {
    "associated": "their own stereotypes",
    "different": "the stereotypes of other groups",
    "human": "words for people in general",
    "neutral": "neutral words",
}
"""How an attribute word stands to a protected word, as sentences name it, in the order that decides a doubtful pair."""
CONNECTIONS = tuple(PHRASES)
STEREOTYPES = CONNECTIONS[:2]
OWN, OTHER = STEREOTYPES
WHOLE = "whole list"  # what the first row of a table of contrasts is called
CONTROLS = ("neutral", "human")  # the control lists that are bundled; word lists may name others
LISTS = ("protected", "stereotypes", "controls")
RESERVED = ("kind", "name", "description", "source", "doi", "language", "provenance", "controls")
# who made a list of another language: speakers checked it, people translated it, or a program did
PROVENANCES = ("validated", "translated", "machine")
TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*")
MASCULINE_AND_FEMININE = (
    "am ar be bg bs ca cs cy de el es fr ga gd gl gu he hi hr is it kmr kn ks ku lt lv mk mr mt pa pl ps pt ro ru "
    "sk sl sq sr ta te uk ur"
)
GENDERED = frozenset(MASCULINE_AND_FEMININE.split())
"""Languages with masculine and feminine nouns (Corbett 2013, https://wals.info/chapter/31; for those outside of its
sample, Corbett 1991, https://doi.org/10.1017/CBO9781139166119). Not English and Tagalog, where gender is that of
pronouns or loans, and not languages with a common gender, such as Danish."""


@dataclass(frozen=True)
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
        Name to words: any number of lists, such as the bundled ``"neutral"`` and ``"human"``.
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
    factors
        Two factors, each a mapping of its levels to groups: every group has one level of either. See
        :func:`intersections`.
    sources
        Source to the attribute words that it gives, where the lists are put together from several. A word may have
        several sources; those of stereotypes that have none here are of ``source``.
    """

    name: str
    protected: Mapping[str, Sequence[str]]
    stereotypes: Mapping[str, Sequence[str]]
    controls: Mapping[str, Sequence[str]] = field(default_factory=dict)
    description: str = ""
    source: str = ""
    doi: str | None = None
    repeats: Mapping[str, int] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    language: str | None = None
    provenance: str | None = None
    forms: Mapping[str, Sequence[str]] = field(default_factory=dict)
    grammar: Mapping[str, Sequence[str]] = field(default_factory=dict)
    factors: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    sources: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_parts(self)
        known: dict[str, tuple[str, ...]] = {}
        repeats = dict(self.repeats)
        for part in LISTS:
            lists = {
                name: _concepts(f"{part}.{name}", words, self.forms, known)
                for name, words in getattr(self, part).items()
            }
            if part == "protected":
                repeats |= {word: count for word, count in Counter(chain(*lists.values())).items() if count > 1}
            object.__setattr__(self, part, {name: tuple(dict.fromkeys(words)) for name, words in lists.items()})
        object.__setattr__(self, "forms", {name: forms for name, forms in known.items() if len(forms) > 1})
        _check_controls(self)
        _check_groups(self)
        language_tag(self.language)
        by_name_or_none(self.provenance, PROVENANCES, "provenance")
        factors, grammar = checked_factors(self.factors, self.protected), checked_grammar(self.grammar)
        attributes = {word for _, part in self.by_kind[1:] for words in part.values() for word in words}
        sources = checked_sources(self.sources, attributes)
        whole = {"repeats": repeats, "labels": dict(self.labels), "factors": factors, "grammar": grammar}
        for name, value in {**whole, "sources": sources}.items():
            object.__setattr__(self, name, value)

    @property
    def by_kind(self) -> tuple[tuple[str, Mapping[str, Sequence[str]]], ...]:
        """Protected, stereotype and control lists, each with the name of its kind."""
        return (("protected", self.protected), ("stereotype", self.stereotypes), ("control", self.controls))

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


def html_of(by_kind: Iterable[tuple[str, Mapping[str, Sequence[str]]]], called: str) -> str:
    """Lists of each kind, with their first words, as a table for a notebook."""
    rows = "".join(
        f"<tr><td>{kind}</td><td>{escape(name)}</td><td>{len(words)}</td>"
        f"<td style='text-align:left'>{escape(', '.join(words[:12]))}{' …' if len(words) > 12 else ''}</td></tr>"
        for kind, part in by_kind
        for name, words in part.items()
    )
    return f"<table><tr><th>kind</th><th>{called}</th><th>words</th><th></th></tr>{rows}</table>"


@dataclass(frozen=True)
class WordList(Sequence[str]):
    """A plain list of words."""

    name: str
    words: tuple[str, ...]
    description: str = ""
    source: str = ""
    doi: str | None = None

    def __post_init__(self) -> None:
        check_about(self, "the name of a list")
        _check_words("words", self.words)

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, index: Any) -> Any:
        return self.words[index]


@dataclass(frozen=True)
class PairList(Sequence[tuple[str, str]]):
    """A list of word pairs."""

    name: str
    pairs: tuple[tuple[str, str], ...]
    description: str = ""
    source: str = ""
    doi: str | None = None

    def __post_init__(self) -> None:
        check_about(self, "the name of a list")
        pairs_given(self.pairs, "pairs")

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, index: Any) -> Any:
        return self.pairs[index]


def check_about(listed: Any, name: str) -> None:
    """Refuse a name, description, source or DOI of word lists or templates that is no text."""
    printable(listed.name, name)
    for part in ("description", "source", "doi"):
        if part != "doi" or listed.doi is not None:
            text(getattr(listed, part), part)


def in_order(names: Iterable[str]) -> list[str]:
    """Connections, each once: associated, different, human, neutral, and other control lists in the order given."""
    unique = list(dict.fromkeys(names))
    return [name for name in CONNECTIONS if name in unique] + [name for name in unique if name not in CONNECTIONS]


def controls_of(names: Iterable[str]) -> list[str]:
    """Those of some connections that are control lists, in the order of :func:`in_order`."""
    return [name for name in in_order(names) if name not in STEREOTYPES]


def counterparts(first: str, names: Iterable[str]) -> list[str]:
    """What a connection is set beside where nothing is asked for, the headline first: different, then controls."""
    return [name for name in sorted(in_order(names), key=lambda name: name == STEREOTYPES[0]) if name != first]


def can_be_control(name: object) -> bool:
    """Whether a control list may have a name: contrasts are written a - b, and stereotypes are one class of words."""
    return is_printable(name) and " - " not in name and name not in (*STEREOTYPES, "stereotype")


# the connections that a table may hold, in words
VALID = f"{', '.join(CONNECTIONS)}, and each control list, which is the attribute_class of its rows too"


def unknown_connections(table: pd.DataFrame) -> list[str]:
    """The connections of a table that are none: neither a known one nor a control list that its rows name as class."""
    others = [name for name in map(str, table["connection"].unique()) if name not in CONNECTIONS]
    if not others or "attribute_class" not in table:
        return others
    pairs = table[["connection", "attribute_class"]].drop_duplicates().astype(str)
    free = pairs[~pairs["connection"].isin(CONNECTIONS)]
    alike = free["connection"] == free["attribute_class"]
    names = free["connection"]
    return [name for name in names.unique() if not (can_be_control(name) and alike[names == name].all())]


def labelled(quantity: str, labels: Mapping[str, str], phrases: Mapping[str, str] | None = None) -> str:
    """A connection, or a contrast ``a - b``, with labels in place of the names of control lists.

    Without a label it is as in ``phrases`` (such as :data:`PHRASES`), or the name.
    """
    texts = {**(phrases or {}), **labels}
    return " - ".join(texts.get(name, name) for name in quantity.split(" - "))


def _no_text(value: object) -> object:
    if isinstance(value, str):
        raise ValueError(f"{value!r} is one string: give a list of control lists, such as [{value!r}]")
    return value


def language_tag(value: object) -> str | None:
    """None, or a BCP 47 tag (RFC 5646)."""
    if value is None or (isinstance(value, str) and TAG.fullmatch(value)):
        return value
    raise InputError(f"the language is {shown(value)}: give a BCP 47 tag, such as 'de', 'pt-BR' or 'zh-Hant'")


def subtag(language: str | None) -> str:
    """The language of a tag without script and region, in lower case."""
    return (language or "").partition("-")[0].lower()


# countable nouns, mass nouns, plurals, adjectives, names of people and places, cases of pronouns, verbs' base forms
PARTS_OF_SPEECH = ("noun", "mass", "plural", "adjective", "person", "subject", "object", "possessive", "verb")


def checked_grammar(grammar: Any) -> dict[str, tuple[str, ...]]:
    """Part of speech to words."""
    if not isinstance(grammar, Mapping):
        raise InputError(f"grammar is {shown(grammar)}: give a mapping of parts of speech to words")
    for kind, words in grammar.items():
        if kind not in PARTS_OF_SPEECH:
            raise InputError(f"grammar has the part of speech {kind!r}: valid are {', '.join(PARTS_OF_SPEECH)}")
        if isinstance(words, str) or not all(isinstance(word, str) for word in words):
            raise InputError(f"grammar gives {shown(words)} as {kind}: give a list of words")
    return {kind: tuple(words) for kind, words in grammar.items()}


def checked_factors(factors: Any, groups: Iterable[str]) -> dict[str, dict[str, tuple[str, ...]]]:
    """Two factors whose levels divide the groups, or none."""
    names = list(groups)
    if not isinstance(factors, Mapping) or not all(isinstance(levels, Mapping) for levels in factors.values()):
        raise InputError(f"factors is {shown(factors)}: give two factors, each a mapping of its levels to groups")
    if len(factors) not in (0, 2):
        raise InputError(f"there are {len(factors)} factors, {listed(list(map(str, factors)))}: give two")
    known = {}
    for factor, levels in factors.items():
        known[str(factor)] = {str(level): tuple(several(members)) for level, members in levels.items()}
        members = chain(*known[str(factor)].values())
        if len(levels) < 2 or sorted(map(str, members)) != sorted(names):
            raise InputError(
                f"the factor {factor!r} has the levels {shown(dict(levels))}: give two levels or more that divide the "
                f"groups {', '.join(names)} among them"
            )
    return known


def checked_sources(sources: Any, attributes: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Source to the attribute words that it gives, in normal form C."""
    if not isinstance(sources, Mapping):
        raise InputError(f"sources is {shown(sources)}: give a mapping of sources to attribute words")
    known = {}
    for source, words in sources.items():
        known[printable(source, "the name of a source")] = tuple(dict.fromkeys(written_words(words, "sources")))
        if lost := [word for word in known[source] if word not in attributes]:
            raise InputError(f"the source {source!r} gives {listed(lost)}, in no list of stereotypes or controls")
    return known


class _File(Document):
    name: str
    description: str = ""
    source: str = ""
    doi: str | None = None
    language: Annotated[str | None, BeforeValidator(language_tag)] = None


class _WordsFile(_File):
    kind: Literal["words"] = "words"
    provenance: Literal["validated", "translated", "machine"] | None = None
    protected: dict[str, list[Any]]
    stereotypes: dict[str, list[Any]]
    controls: Annotated[list[str] | dict[str, str | list[Any]], BeforeValidator(_no_text)] = Field(default_factory=list)
    labels: dict[str, str] = Field(default_factory=dict)
    grammar: dict[str, list[str]] = Field(default_factory=dict)
    factors: dict[str, dict[str, list[str]]] = Field(default_factory=dict)
    sources: dict[str, list[str]] = Field(default_factory=dict)


class _ListFile(_File):
    kind: Literal["list"]
    words: list[str]


class _PairsFile(_File):
    kind: Literal["pairs"]
    pairs: list[tuple[str, str]]


def load_words(name_or_path: str | Path) -> WordLists:
    """Protected words with stereotypes and controls, by bundled name or from a TOML file.

    Parameters
    ----------
    name_or_path
        A name that :func:`list_words` shows, or the path of a TOML file. Its keys are ``name``, ``controls`` (a list
        of ``"neutral"`` and ``"human"``; or a table of any names to words, to a bundled list or to a file),
        ``description``, ``source``, ``doi``, ``language``, ``provenance``, and after them the tables ``[protected]``
        and ``[stereotypes]`` (group to words), ``[labels]`` (control list to what it is called in sentences) and
        ``[grammar]`` (part of speech to words), ``[sources]`` (source to the attribute words that it gives), and
        ``[factors.<name>]`` (level of a factor to groups), twice or not.
        ``name``, ``[protected]`` and ``[stereotypes]`` are required.

    Examples
    --------
    >>> words = bb.load_words("weat7")
    >>> list(words.protected)
    ['math', 'arts']
    >>> words.stereotypes["math"][:3]
    ('male', 'man', 'boy')
    """
    path = _locate(name_or_path, kind="words")
    content = read_toml(path)
    if (kind := content.get("kind", "words")) != "words":
        raise InputError(f"{name_or_path!s} is a plain list (kind {kind!r}): read it with load_list")
    parsed = check(_WordsFile, content, str(path))
    try:
        return WordLists(
            **parsed.model_dump(exclude={"kind", "controls"}), controls=_controls(parsed.controls, path.parent)
        )
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def load_list(name_or_path: str | Path) -> WordList | PairList:
    """A plain list of words or of pairs, by bundled name or from a TOML file.

    Parameters
    ----------
    name_or_path
        A name such as ``"occ16"``, ``"neutral"`` or ``"gender_pairs"``, or the path of a TOML file with
        ``kind = "list"`` and ``words``, or ``kind = "pairs"`` and ``pairs``.

    Examples
    --------
    >>> bb.load_list("gender_pairs").pairs[:2]
    (('boy', 'girl'), ('boys', 'girls'))
    """
    path = _locate(name_or_path, kind="list")
    content = read_toml(path)
    if (kind := content.get("kind")) not in ("list", "pairs"):
        hint = f': add kind = "{_kind_of(content)}"' if kind is None and _kind_of(content) != "words" else ""
        raise InputError(
            f"{path}: kind is {kind!r}; load_list reads 'list' and 'pairs', load_words reads 'words'{hint}"
        )
    if kind == "pairs":
        pairs = check(_PairsFile, content, str(path))
        _check_words(f"{path}: pairs", list(chain(*pairs.pairs)))
        return PairList(pairs.name, tuple(pairs.pairs), pairs.description, pairs.source, pairs.doi)
    words = check(_ListFile, content, str(path))
    _check_words(f"{path}: words", words.words)
    return WordList(words.name, tuple(dict.fromkeys(words.words)), words.description, words.source, words.doi)


def _kind_of(content: Mapping[str, Any]) -> str:
    """The kind that a file states, or that its keys tell of: pairs, a plain list, or word lists."""
    keys = [kind for key, kind in (("pairs", "pairs"), ("words", "list")) if key in content]
    return str(content.get("kind", keys[0] if keys else "words"))


def lists_of_any_kind(name_or_path: str | Path, kind: str = "list") -> WordList | PairList | WordLists:
    """Words, pairs or word lists, as the file says; ``kind`` is what an error names, ``"list"`` or ``"words"``."""
    stated = _kind_of(read_toml(_locate(name_or_path, kind)))
    return load_words(name_or_path) if stated == "words" else load_list(name_or_path)


def words_given(words: Iterable[str] | str | Path, name: str) -> list[str]:
    """Words as they were given, or those of a list that :func:`load_list` takes, each once."""
    loaded: object = load_list(words) if isinstance(words, str | Path) else words
    entries = list(loaded) if isinstance(loaded, Iterable) and not isinstance(loaded, PairList) else []
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
    known = words_given(words, name)
    _check_words(name, known)
    return list(dict.fromkeys(normalize("NFC", word) for word in known))


def pairs_given(pairs: Iterable[tuple[str, str]] | str | Path, name: str) -> list[tuple[str, str]]:
    """Pairs of words as they were given, or those of a list that :func:`load_list` takes, each once."""
    loaded: object = load_list(pairs) if isinstance(pairs, str | Path) else pairs
    entries = list(loaded) if isinstance(loaded, Iterable) and not isinstance(loaded, WordList) else []
    pairs_of_words = [tuple(pair) for pair in entries if isinstance(pair, Sequence) and not isinstance(pair, str)]
    bad = [pair for pair in pairs_of_words if len(pair) != 2 or not all(isinstance(word, str) for word in pair)]
    if not entries or len(pairs_of_words) < len(entries) or bad:
        problem = f"holds {shown(bad[0])}" if bad else f"is {shown(pairs)}"
        raise InputError(
            f"{name} {problem}: give pairs of two words, such as ('he', 'she'), or the name of a list of pairs"
        )
    return list(dict.fromkeys((first, second) for first, second in pairs_of_words))


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

    wanted = f"{language_tag(language) or ''}-".lower()
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
    """What :func:`list_words` says of a bundled list, from its name to its DOI; these files do not change."""
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


def _locate(name_or_path: str | Path, kind: str) -> Path:
    if not isinstance(name_or_path, str | Path):
        raise InputError(
            f"a word list is given by its name or path, not as {type(name_or_path).__name__}: an embedding comes first"
        )
    bundled = _bundled()
    if str(name_or_path) in bundled:
        return bundled[str(name_or_path)]
    path = home_folder(name_or_path)
    if path.is_file():
        return path
    flat = {name: place for name, place in bundled.items() if "/" not in name}
    named = [name for name, place in flat.items() if (read_toml(place)["kind"] == "words") == (kind == "words")]
    named += ["weathub/<language>/<test> (such as weathub/de/weat7)"] if kind == "words" else []
    raise InputError(
        f"there is no word list {str(name_or_path)!r}{near(name_or_path, bundled)}: give the path of a TOML file or "
        f"one of {', '.join(named)}"
    )


def _controls(controls: list[str] | dict[str, str | list[Any]], folder: Path) -> dict[str, Sequence[str]]:
    if isinstance(controls, list) and (unknown := [name for name in controls if name not in CONTROLS]):
        raise InputError(
            f"unknown control list {unknown[0]!r}: controls are {' and '.join(CONTROLS)}, or lists of your own in a "
            'table, such as [controls] with animals = ["cat", "dog"]'
        )
    return lists_named(controls if isinstance(controls, dict) else {name: name for name in controls}, folder, "control")


def lists_named(table: Mapping[str, str | list[Any]], folder: Path, kind: str) -> dict[str, Sequence[str]]:
    """Name to words, which stand there or are those of a bundled list or of a file in a folder."""
    words: dict[str, Sequence[str]] = {}
    for name, where in table.items():
        listed = load_list(where if where in _bundled() else folder / where) if isinstance(where, str) else where
        if isinstance(listed, PairList):
            raise InputError(f"the {kind} list {where!r} holds pairs; a {kind} is a list of words")
        words[name] = listed
    return words


def _concepts(
    where: str, words: Sequence[str], forms: Mapping[str, Sequence[str]], known: dict[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """The concepts of a list, each named by its first form; ``known`` takes up their forms."""
    _check_words(where, words, forms=True)
    owner: dict[str, str] = {}
    names = []
    for word in words:
        spellings = forms.get(word, (word,)) if isinstance(word, str) else word
        concept = tuple(normalize("NFC", form) for form in spellings)
        if again := [form for form, count in Counter(concept).items() if count > 1]:
            raise InputError(f"{where} lists the form {again[0]!r} of {concept[0]!r} twice: give each form once")
        if (other := known.setdefault(concept[0], concept)) != concept:
            raise InputError(
                f"{where}: {concept[0]!r} has the forms {', '.join(concept)} here and {', '.join(other)} elsewhere: "
                "give it the same forms everywhere"
            )
        for form in concept:
            if owner.setdefault(form, concept[0]) != concept[0]:
                raise InputError(
                    f"{where}: the form {form!r} is in two concepts, {owner[form]!r} and {concept[0]!r}: keep one"
                )
        names.append(concept[0])
    return tuple(names)


def _check_parts(lists: WordLists) -> None:
    check_about(lists, "the name of the word lists")
    for part in (*LISTS, "repeats", "forms"):
        if not isinstance(getattr(lists, part), Mapping):
            raise InputError(f"{part} must map names to words, given {type(getattr(lists, part)).__name__}")
    for name, forms in lists.forms.items():
        if not isinstance(forms, list | tuple):
            raise InputError(f"forms gives {shown(forms)} as the forms of {name!r}: give a list of words")
    if not lists.protected:
        raise InputError("there are no protected words: give at least one group under [protected]")
    if not lists.stereotypes and not lists.controls:
        raise InputError("there are no attribute words: give stereotypes or controls")
    for part in LISTS:
        for name in getattr(lists, part):
            printable(name, f"the name of a list in {part}")


def _check_groups(lists: WordLists) -> None:
    for key in RESERVED:
        if key in lists.protected or key in lists.stereotypes:
            raise InputError(f"{key!r} cannot be a group: in a TOML file that key is placed above the first [table]")
    for group in lists.stereotypes:
        if group not in lists.protected:
            valid = ", ".join(lists.protected)
            raise InputError(f"the stereotype {group!r} has no group: the groups under [protected] are {valid}")
        if group in CONTROLS or group in lists.controls:
            raise InputError(f"a group cannot be named {group!r}: that is the name of a control list")
    seen: dict[str, str] = {}
    for group, words in lists.protected.items():
        for form in chain(*(lists.forms.get(word, (word,)) for word in words)):
            if seen.setdefault(form, group) != group:
                raise InputError(f"the protected word {form!r} is in two groups, {seen[form]!r} and {group!r}")


def _check_controls(lists: WordLists) -> None:
    for name in lists.controls:
        if not can_be_control(name):
            raise InputError(
                f"a control list cannot be named {name!r}: give a printable text without blanks at its ends and "
                "without ' - ', other than associated, different and stereotype"
            )
    if not isinstance(lists.labels, Mapping):
        raise InputError(f"labels must map control lists to what they are called, given {type(lists.labels).__name__}")
    for name, label in lists.labels.items():
        if name not in lists.controls:
            known = f"the control lists are {', '.join(lists.controls)}" if lists.controls else "there are none"
            raise InputError(f"the label {label!r} is of no control list: there is no {name!r}, {known}")
        if not is_printable(label):
            raise InputError(f"the label of {name!r} is {label!r}: give a printable text without blanks at its ends")


def _check_words(where: str, words: Sequence[object], forms: bool = False) -> None:
    if isinstance(words, str) or not isinstance(words, Iterable):
        kind = "one string, " if isinstance(words, str) else ""
        raise InputError(f"{where} is {kind}{words!r}: give a list of words")
    if not len(list(words)):
        raise InputError(f"{where} is empty: give at least one word or leave the list out")
    for word in words:
        if forms and isinstance(word, list | tuple):
            _check_forms(where, word)
        elif not is_printable(word):
            raise InputError(f"{where} holds {word!r}: a word is a printable text without blanks at its ends")


def _check_forms(where: str, forms: Sequence[object]) -> None:
    if not forms:
        raise InputError(f"{where} holds an empty list of forms: give at least one form or leave the concept out")
    for form in forms:
        if isinstance(form, list | tuple):
            raise InputError(f"{where} holds {shown(forms)}: forms are words, not lists of words")
        if not is_printable(form):
            raise InputError(f"{where} holds the form {form!r}: a form is a printable text without blanks at its ends")
