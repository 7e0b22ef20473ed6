"""The picture of an audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np

from bayesbias._checks import text, whole_number
from bayesbias._phrases import MINUS, percent
from bayesbias.axes import Audit
from bayesbias.errors import InputError
from bayesbias.plots.style import FAINT, FONT, check_kind, note_below, one_panel, style_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CALLED = "#0072B2"
LABELLED = 24
"""Words that are named, the largest contrasts of either side."""
ROOM = (45.0, 8.0)
"""Points across and up within which a second word is not named."""
SHOWN = 20_000
"""Words beyond which those that are not called are drawn from at random."""


def plot_audit(found: Audit, group: str | None = None, labels: int = LABELLED, ax: Axes | None = None) -> Figure:
    """The contrast of each word against its place in the vocabulary, the words that are called in blue.

    Parameters
    ----------
    found
        A result of :func:`audit`.
    group
        Which group's contrast, where there are more than two; by default the first.
    labels
        How many words are named, those called with the largest contrasts.
    ax
        Axes to draw on; by default those of a new figure.

    Examples
    --------
    >>> found = bb.audit("google-news-slice", "gender")
    >>> bb.plots.plot_audit(found, labels=10).savefig("audit.png")
    """
    check_kind(found, Audit, "plot_audit", "audit")
    names = found.words["group"].cat.categories
    label = names[0] if group is None else text(group, "group")
    if label not in set(found.words["group"]):
        raise InputError(
            f"there is no contrast of {group!r}: valid are {', '.join(dict.fromkeys(found.words['group']))}"
        )
    table = found.words[found.words["group"] == label]
    most = whole_number(labels, "labels", least=0)
    ordered = bool((table["frequency_rank"] > 0).all())
    across = table["frequency_rank"].to_numpy() if ordered else np.arange(1, len(table) + 1)
    mean, called = table["mean"].to_numpy(), table["called"].to_numpy()
    rest = np.flatnonzero(~called)
    if len(rest) > SHOWN:
        rest = np.random.default_rng(0).choice(rest, SHOWN, replace=False)
    with mpl.rc_context(FONT):
        figure, axes = one_panel(ax, 7.0, 4.6)
        axes.axhline(0, color=FAINT, lw=0.8)
        axes.scatter(across[rest], mean[rest], s=3, color=FAINT, alpha=0.5, lw=0, rasterized=True)
        axes.scatter(across[called], mean[called], s=9, color=CALLED, lw=0, rasterized=True)
        if ordered:
            axes.set_xscale("log")
        words = table["word"].to_numpy()
        order = np.flatnonzero(called)
        free: list[np.ndarray] = []
        figure.canvas.draw()  # places on the picture are known from here on
        for row in order[np.argsort(-np.abs(mean[order]), kind="stable")]:
            place = axes.transData.transform((across[row], mean[row])) * 72 / figure.dpi
            if len(free) == most or any((np.abs(place - other) < ROOM).all() for other in free):
                continue
            free.append(place)
            where = (across[row], mean[row])
            axes.annotate(str(words[row]), where, (3, 2), textcoords="offset points", fontsize=7, parse_math=False)
        style_axes(axes)
        axes.set_xlabel("place by frequency" if ordered else "place in the file")
        others = [name for name in names if name != label]
        axes.set_ylabel(f"{label}{MINUS}{others[0] if len(others) == 1 else 'other groups'}, cosine distance")
        note_below(
            figure,
            f"Shrunken places (negative: closer to {label}). Blue: called, with {percent(found.level)} wrong or empty "
            "calls expected among them.",
            ax=ax,
        )
    return figure
