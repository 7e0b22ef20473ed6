"""From a result to its figure: the front door names the room that draws, and no room below it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_rooms: list[Callable[[], Any]] = []


def draw_with(load: Callable[[], Any]) -> None:
    """Name the room that draws figures, by what loads it."""
    _rooms.append(load)


def drawing_of(picture: str) -> Callable[..., Any]:
    """The function that draws a figure, by its name."""
    drawn: Callable[..., Any] = getattr(_rooms[-1](), picture)
    return drawn


def drawing(picture: str, *given: Any, **options: Any) -> Figure:
    """A figure, by the name of the function that draws it."""
    figure: Figure = drawing_of(picture)(*given, **options)
    return figure
