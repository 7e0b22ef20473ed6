"""``Query``: named target and attribute sets, their sub-queries, and the bundled ones."""

from __future__ import annotations

import reprlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from html import escape
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from bayesbias._checks import whole_number
from bayesbias._files import Document, check, home_folder, read_toml, shipped
from bayesbias.errors import InputError
from bayesbias.words import WordLists, list_words, load_words

if TYPE_CHECKING:
    import pandas as pd

Sets = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
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
    repeats
        Set to the words that were listed in it more than once.

    Raises
    ------
    InputError
        No target set or no attribute set, an empty set, a set that is one string or holds something else than words, or
        a name that stands for two sets.

    References
    ----------
    Badilla, P., Bravo-Marquez, F. and Pérez, J. (2020). WEFE: the word embeddings fairness evaluation framework.
    IJCAI. https://doi.org/10.24963/ijcai.2020/60
    """

    targets: Sets
    attributes: Sets
    name: str = ""
    source: str = ""
    doi: str | None = None
    repeats: Mapping[str, tuple[str, ...]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        repeats: dict[str, tuple[str, ...]] = {}
        for kind in ("targets", "attributes"):
            sets = _checked_sets(getattr(self, kind), kind)
            repeats |= {name: again for name, words in sets.items() if (again := _repeated(words))}
            object.__setattr__(self, kind, sets)
        if both := [name for name in self.targets if name in self.attributes]:
            raise InputError(f"{both[0]!r} names a target set and an attribute set: give each set a name of its own")
        object.__setattr__(self, "repeats", repeats)
        if not self.name:
            object.__setattr__(self, "name", f"{_joined(self.targets)} wrt {_joined(self.attributes)}")

    @classmethod
    def from_words(cls, words: WordLists | str | Path, controls: bool = False) -> Query:
        """The query of word lists: groups as target sets, their stereotypes as attribute sets.

        Parameters
        ----------
        words
            Word lists, or what :func:`load_words` takes.
        controls
            Whether the control lists are attribute sets too.
        """
        words = words if isinstance(words, WordLists) else load_words(words)
        taken = {f"{group} stereotype": listed for group, listed in words.stereotypes.items()}
        taken |= dict(words.controls) if controls else {}
        return cls(words.protected, taken, name=words.name, source=words.source, doi=words.doi)

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
    def notes(self) -> tuple[str, ...]:
        """Sentences on words that stand more than once in a set, or in several sets."""
        notes = [f"{name} lists {', '.join(again)} more than once" for name, again in self.repeats.items()]
        shared: dict[tuple[str, ...], list[str]] = {}
        for word in _repeated([word for words in self.distinct.values() for word in words]):
            shared.setdefault(tuple(name for name, words in self.sets.items() if word in words), []).append(word)
        notes += [f"{' and '.join(names)} share {', '.join(words)}" for names, words in shared.items()]
        return tuple(notes)

    def subqueries(self, targets: int, attributes: int) -> tuple[Query, ...]:
        """All queries of so many of the target sets and so many of the attribute sets, in their order.

        Raises
        ------
        InputError
            The query has fewer sets.
        """
        wanted = (whole_number(targets, "targets"), whole_number(attributes, "attributes"))
        if wanted[0] > self.template[0] or wanted[1] > self.template[1]:
            raise InputError(
                f"the query {self.name!r} has {_count(self.template)}, and no sub-query has {_count(wanted)}"
            )
        if wanted == self.template:
            return (self,)
        return tuple(
            Query(dict(t), dict(a), source=self.source, doi=self.doi)
            for t in combinations(self.targets.items(), wanted[0])
            for a in combinations(self.attributes.items(), wanted[1])
        )

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{kind}</td><td>{escape(name)}</td><td>{len(words)}</td>"
            f"<td style='text-align:left'>{escape(', '.join(words[:12]))}{' …' if len(words) > 12 else ''}</td></tr>"
            for kind, sets in (("target", self.targets), ("attribute", self.attributes))
            for name, words in sets.items()
        )
        head = "<tr><th>kind</th><th>set</th><th>words</th><th></th></tr>"
        return f"<b>{escape(self.name)}</b><table>{head}{rows}</table>"


class _QueryFile(Document):
    name: str
    description: str = ""
    source: str = ""
    doi: str | None = None
    targets: dict[str, list[str]]
    attributes: dict[str, list[str]]


def load_query(name_or_path: str | Path) -> Query:
    """A query by bundled name or from a TOML file.

    Parameters
    ----------
    name_or_path
        A name that :func:`list_queries` shows (``"weat1"`` to ``"weat10"``, ...), or the path of a TOML file with the
        keys ``name``, ``description``, ``source``, ``doi`` and the tables ``[targets]`` and ``[attributes]`` (name of
        a set to its words).

    Raises
    ------
    InputError
        No such query, an unknown key, or sets that :class:`Query` refuses.

    Examples
    --------
    >>> query = bb.load_query("weat6")
    >>> list(query.targets), list(query.attributes)
    (['male_names', 'female_names'], ['career', 'family'])
    """
    if not isinstance(name_or_path, str | Path):
        raise InputError(f"load_query takes a name or a path, given is {type(name_or_path).__name__}")
    bundled = _bundled()
    path = bundled.get(str(name_or_path), home_folder(name_or_path))
    if not path.is_file():
        asked = str(name_or_path)
        near = get_close_matches(asked.lower(), bundled, 1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        if asked in list_words()["name"].tolist():
            hint = (
                f" ({asked!r} is a word list: Query.from_words(load_words({asked!r})) makes a query of one with groups)"
            )
        raise InputError(
            f"there is no query {asked!r}{hint}: give the path of a TOML file or one of {', '.join(bundled)}"
        )
    parsed = check(_QueryFile, read_toml(path), str(path))
    return Query(parsed.targets, parsed.attributes, name=parsed.name, source=parsed.source, doi=parsed.doi)


def list_queries() -> pd.DataFrame:
    """The bundled queries: ``name``, ``targets``, ``attributes`` (set to number of words), ``description``, ``doi``.

    Examples
    --------
    >>> "weat6" in bb.list_queries()["name"].tolist()
    True
    """
    import pandas as pd

    rows = []
    for name, path in _bundled().items():
        parsed = check(_QueryFile, read_toml(path), str(path))
        sizes = [{key: len(words) for key, words in sets.items()} for sets in (parsed.targets, parsed.attributes)]
        rows.append((name, *sizes, parsed.description, parsed.doi))
    return pd.DataFrame(rows, columns=["name", "targets", "attributes", "description", "doi"])


def _bundled() -> dict[str, Path]:
    def order(path: Path) -> tuple[str, int]:
        digits = path.stem.lstrip("abcdefghijklmnopqrstuvwxyz_")
        return path.stem.removesuffix(digits), int(digits or 0)

    return {path.stem: path for path in sorted((shipped("data") / "queries").glob("*.toml"), key=order)}


def _checked_sets(sets: object, kind: str) -> dict[str, tuple[str, ...]]:
    if not isinstance(sets, Mapping):
        raise InputError(f"{kind} is {sets!r}: give a mapping of each set's name to its words")
    if not sets:
        raise InputError(f"{kind} holds no set: give at least one, as a name and its words")
    checked = {}
    for name, words in sets.items():
        if isinstance(words, str | Mapping | set | frozenset) or not isinstance(words, Iterable):
            raise InputError(f"the set {name!r} of {kind} is {reprlib.repr(words)}: give its words in order, as a list")
        words = tuple(words)
        if odd := [word for word in words if not isinstance(word, str)]:
            raise InputError(f"the set {name!r} of {kind} holds {reprlib.repr(odd[0])}, which is no word: give text")
        if not str(name):
            raise InputError(f"a set of {kind} has no name: give it one")
        if not words:
            raise InputError(f"the set {name!r} of {kind} is empty: give at least one word")
        if str(name) in checked:
            raise InputError(f"two sets of {kind} are named {str(name)!r}: give each a name of its own")
        checked[str(name)] = words
    return checked


def _repeated(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(word for word, count in Counter(words).items() if count > 1)


def _joined(names: Mapping[str, object]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _count(template: tuple[int, int]) -> str:
    return f"{template[0]} target and {template[1]} attribute sets"
