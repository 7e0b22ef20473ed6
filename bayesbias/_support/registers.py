"""Registers: what is known by name, of the package, of other packages by entry points, and of the running program."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from bayesbias.errors import InputError, PluginWarning, near, shown, warn


class Register[E](Mapping[str, E]):
    """Name to entry, a ``function`` with its ``name``; ``of`` makes the entry of a function alone.

    ``noun`` is what messages call one, ``group`` the entry points that name those of other packages. These load when a
    name is asked for that is not known, or all are, and not before.
    """

    def __init__(self, kind: type[E], noun: str, group: str) -> None:
        self.kind: Any = kind
        self.noun, self.group = noun, group
        self._held: dict[str, E] = {}
        self._loaded = False

    def __getitem__(self, name: str) -> E:
        if name not in self._held:
            self._load()
        return self._held[name]

    def __iter__(self) -> Iterator[str]:
        self._load()
        return iter(tuple(self._held))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def add(self, one: object) -> None:
        """Take one more, an entry or a function.

        A name that is taken is refused, unless its function is the same: a cell of a notebook may run again.
        """
        made: Any = self.made(one)
        known: Any = self._held.get(made.name)
        if known is not None and not _same(known.function, made.function):
            place = getattr(known.function, "__module__", "this program")
            raise InputError(f"there is a {self.noun} {made.name!r} already, in {place}: give yours another name")
        self._held[made.name] = made

    def find(self, one: object) -> E:
        """An entry by name; an entry or a function as it is."""
        if not isinstance(one, str):
            return self.made(one)
        if one in self:
            return self[one]
        raise InputError(f"there is no {self.noun} {one!r}{near(one, self)}: valid are {', '.join(self)}")

    def made(self, one: Any) -> E:
        """An entry as it is, or that of a function, which is the registered one if there is one."""
        if isinstance(one, self.kind):
            return one  # type: ignore[no-any-return]
        if callable(one) and not isinstance(one, type):
            entries: Any = self._held.values()
            found: E = next((held for held in entries if held.function is one), None) or self.kind.of(one)
            return found
        kind = self.kind.__name__
        raise InputError(f"{shown(one)} is no {self.noun}: give the name of one, a {kind}, or a function")

    def _load(self) -> None:
        """Take what entry points name; those that fail become warnings once the others are there."""
        if self._loaded:
            return
        self._loaded = True
        from importlib.metadata import entry_points

        faults = []
        for entry in sorted(entry_points(group=self.group)):
            try:
                made: Any = self.made(entry.load())
                if made.name != entry.name:
                    raise InputError(f"it is called {made.name!r}: give both one name")
                self.add(made)
            except (Exception, SystemExit) as error:  # whatever another package does when it is imported
                said = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
                faults.append(f"the {self.noun} {entry.name!r} ({entry.value}) is left out: {said}")
        for fault in faults:
            warn(fault, PluginWarning)


def _same(first: Callable[..., Any], second: Callable[..., Any]) -> bool:
    """True where two functions are the same, or have one place in the code, which was run twice."""
    one, other = ((each.__module__, getattr(each, "__qualname__", "<")) for each in (first, second))
    return first is second or (one == other and "<" not in one[1])


def name_of(function: Callable[..., Any]) -> str:
    """The name of a function, as its entry has it."""
    name = getattr(function, "__name__", "")
    if not name.isidentifier():
        raise InputError(f"{shown(function)} has no name of its own: give a description of it with a name")
    return str(name)


def description_of(function: Callable[..., Any]) -> str:
    """The first paragraph of a docstring, in a line; nothing of what has none."""
    text = inspect.getdoc(function) if inspect.isroutine(function) else None
    return " ".join((text or "").partition("\n\n")[0].split())


def options_of(function: Callable[..., Any], first: int, others: Iterable[str], name: str) -> dict[str, Any]:
    """The parameters of a function after the first ones and without some others, by name to their defaults."""
    parameters = list(inspect.signature(function).parameters.values())
    places = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    several = any(each.kind is each.VAR_POSITIONAL for each in parameters)
    if len(places) < first and not several:
        raise InputError(f"{name} takes {len(places)} arguments by their places, and {first} are needed")
    named = (each for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY))
    return {each.name: each.default for each in named if each not in places[:first] and each.name not in others}
