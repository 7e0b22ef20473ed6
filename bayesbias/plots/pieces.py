"""Pieces of several pictures: looks of series, notes below the panels, results of the right kind."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import fill
from typing import TYPE_CHECKING

from bayesbias.errors import InputError
from bayesbias.plots.calibrating import COLOURS, MARKERS
from bayesbias.plots.style import FAINT, Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINES = ("-", (0, (5, 2)), (0, (1, 1.4)), (0, (5, 1.5, 1, 1.5)))
"""Styles of lines, in the order in which they are taken."""
LETTERS = 17
"""Letters of a note on an inch."""


def looks_of(names: Iterable[str]) -> dict[str, Look]:
    """Name to colour and marker; beyond eight names colours come again with other markers."""
    size = len(COLOURS)
    return {
        name: Look(COLOURS[at % size], MARKERS[(at + at // size) % size], name)
        for at, name in enumerate(dict.fromkeys(map(str, names)))
    }


def note_below(figure: Figure, *sentences: str) -> None:
    """Sentences in small letters below the panels, as wide as the figure."""
    text = " ".join(sentence for sentence in sentences if sentence)
    if text:
        text = fill(text, int(LETTERS * figure.get_figwidth()))
        figure.supxlabel(text, x=0.02, ha="left", fontsize=7.5, color=FAINT)


def note_beside(axes: Axes, height: float, text: str) -> None:
    """Small letters right of a panel, at the height of a row."""
    axes.annotate(
        text,
        (1.0, height),
        xycoords=("axes fraction", "data"),
        xytext=(5, 0),
        textcoords="offset points",
        va="center",
        fontsize=7.5,
        color=FAINT,
    )


def check_kind(result: object, kinds: type | tuple[type, ...], plot: str, makers: str) -> None:
    """Refuse what is not a result of ``makers``."""
    if not isinstance(result, kinds):
        raise InputError(f"given is {type(result).__name__}: {plot} takes what {makers} returns")
