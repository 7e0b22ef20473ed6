"""The link from results to their figures: the package names the room that draws, and no room below imports it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_listed = ContextVar("listed", default=True)


@contextmanager
def unlisted() -> Iterator[None]:
    """Draw figures that pyplot does not know of: those that are written to a file."""
    before = _listed.set(False)
    try:
        yield
    finally:
        _listed.reset(before)


def is_listed() -> bool:
    """Tell if pyplot is to know of new figures."""
    return _listed.get()


_rooms: list[Callable[[], Any]] = []


def draw_with(load: Callable[[], Any]) -> None:
    """Name the room that draws figures, by what loads it."""
    _rooms.append(load)


def drawing_of(name: str) -> Callable[..., Any]:
    """The function that draws a figure, by its name."""
    drawn: Callable[..., Any] = getattr(_rooms[-1](), name)
    return drawn


def drawing(name: str, /, *given: Any, **options: Any) -> Figure:
    """A figure, by the name of the function that draws it."""
    figure: Figure = drawing_of(name)(*given, **options)
    return figure
