"""Results: facts of what was measured, one table, and notes by code; one printer and one page for all of them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from html import escape
from inspect import signature
from io import BytesIO
from pathlib import Path
from string import Formatter
from textwrap import wrap
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from urllib.parse import quote

from bayesbias._support import offered, shipped
from bayesbias._support.arguments import plain
from bayesbias._support.files import check_target, write_text
from bayesbias._support.numbers import WIDTH, cells, cut, latex_table, lines_of, short, written
from bayesbias.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

LINES, WORDS, COLUMNS = 25, 120, 8  # most of what is printed
ROOM = ((15, 6), (12, 5), (10, 4), (8, 4), (6, 3), (4, 3), (3, 2), (1, 1))
"""Most rows and most notes that are printed: the first pair with which a result has so few words and lines."""
PAGE = "../notes.html"  # from a page of the documentation to that on notes


LISTED = ContextVar("listed", default=True)
"""True where pyplot is to know of new figures."""


@contextmanager
def unlisted() -> Iterator[None]:
    """Draw figures that pyplot does not know of: those that are written to a file."""
    before = LISTED.set(False)
    try:
        yield
    finally:
        LISTED.reset(before)


@cache
def register() -> dict[str, dict[str, Any]]:
    """Code of a note to its ``frame``, ``about``, what it means and what to do, and whether it stands ``above``."""
    return tomllib.loads((shipped("data") / "notes.toml").read_text(encoding="utf-8"))


class Note(str):
    """A line about what limits a result: a code of the register, and the numbers in its frame.

    It is its text, cut to a line: lists of words end in an ellipsis there, ``numbers`` has them whole.
    """

    code: str
    numbers: Mapping[str, Any]
    about: str
    """Meaning of the code, and advice."""
    above: bool
    """True where it stands above the table: who does not know it misreads the numbers."""

    def __new__(cls, code: str, **numbers: Any) -> Note:
        """The note of a code; other numbers than those of its frame are an error."""
        entry = register()[code]
        frame = entry["frame"]
        named = {name for _, name, _, _ in Formatter().parse(frame) if name}
        if named != set(numbers):
            raise TypeError(f"the note {code} has the numbers {sorted(named)}, given {sorted(numbers)}")
        facts = {name: plain(value) for name, value in numbers.items()}
        lists = {name: value for name, value in facts.items() if isinstance(value, list)}
        texts = {name: written(value) for name, value in facts.items()} | dict.fromkeys(lists, "")
        room = WIDTH - len(f"{code}: {frame.format(**texts)}")
        text = frame.format(**texts | {name: cut(words, room // len(lists)) for name, words in lists.items()})
        self = super().__new__(cls, short(f"{code}: {text.removesuffix(': ')}", WIDTH))
        self.code, self.numbers = code, facts
        self.about, self.above = " ".join(entry["about"].split()), bool(entry.get("above"))
        return self

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        return (self.code,), dict(self.numbers)


def stored(notes: Iterable[Note]) -> list[Any]:
    """Notes as plain values, as they stand in a file."""
    return [[note.code, dict(note.numbers)] for note in notes]


def restored(values: Iterable[Any]) -> tuple[Note, ...]:
    """Notes from plain values; what another version wrote, as text or with other numbers, stays as it is written."""
    notes = []
    for value in values:
        try:
            notes.append(Note(value[0], **value[1]))
        except (LookupError, TypeError):
            text = value if isinstance(value, str) else ", ".join(map(str, value))
            notes.append(Note("note-of-file", text=text))
    return tuple(notes)


class Cited(NamedTuple):
    """A work or an input that a result rests on, by its kind and name, its origin, and its DOI, empty where none."""

    what: str
    source: str = ""
    doi: str = ""


class Result:
    """A result: facts in :meth:`header`, all numbers in :meth:`table`, and in ``notes`` what limits them.

    ``print`` and notebooks show :meth:`summary`, the principal rows; :func:`report` all :meth:`tables` and figures.
    """

    picture: ClassVar[str | None] = None  # name of the function of ``bayesbias.plots`` that draws the result
    if TYPE_CHECKING:  # no attributes of the class: a dataclass would take them for defaults of its fields

        @property
        def prob(self) -> float:
            """Mass of the intervals."""

        @property
        def notes(self) -> tuple[Note, ...]:
            """Lines about what limits the result."""

    def caption(self) -> str:
        """Subject and unit of the numbers, and which side is which."""
        raise NotImplementedError

    def header(self) -> dict[str, object]:
        """Facts of what was measured, by name; empty ones are left out where they are printed."""
        raise NotImplementedError

    def table(self) -> pd.DataFrame:
        """All numbers."""
        raise NotImplementedError

    def summary(self) -> pd.DataFrame:
        """The rows and columns that are printed."""
        return self.table()

    def tables(self) -> dict[str, pd.DataFrame]:
        """All tables of the page of the result, by caption."""
        return {"All numbers": self.table()}

    def pictures(self) -> dict[str, Callable[[], Any]]:
        """All figures of the page of the result, by caption."""
        return {self.caption(): self.figure} if self.picture else {}

    def sources(self) -> tuple[Any, ...]:
        """Sources to cite: works, and the tables, fits, lists and embeddings that the result was made of."""
        return ()

    def drawn_from(self) -> tuple[Any, dict[str, Any]]:
        """Arguments of the figure: the result, or a table and the options for it."""
        return self, {}

    def figure(self, **options: Any) -> Figure | None:
        """The figure of the result, by the options of its function in ``bayesbias.plots``; None where it has none."""
        drawn = getattr(offered("plots"), self.picture) if self.picture else None
        valid = [] if drawn is None else list(signature(drawn).parameters)[1:]
        if unknown := [name for name in options if name not in valid]:
            raise InputError(f"{unknown[0]} is no option: give {', '.join(valid) or 'none'}")
        given, own = self.drawn_from()
        return None if drawn is None else drawn(given, **own | options)

    def to_latex(self, **options: Any) -> str:
        """The summary as a LaTeX table, by the options of ``pandas.io.formats.style.Styler.to_latex``."""
        above = [note for note in self.notes if note.above]
        caption = f"{self.caption()}. {'; '.join([*self._facts(), *above])}."
        return latex_table(self.summary(), self.prob, **{"caption": caption} | options)

    def __repr__(self) -> str:
        head, above, table, below = self._shown()
        return "\n".join(short(line, WIDTH) for line in (*head, *above, *lines_of(table, self.prob), *below))

    __str__ = __repr__

    def _repr_html_(self) -> str:
        (caption, *facts), above, table, below = self._shown()
        return html_table(table, "\n".join([caption, " ".join(facts)]), below, self.prob, above)

    def _facts(self) -> list[str]:
        facts = {name: written(plain(fact)) for name, fact in self.header().items()}
        return [f"{name} {fact}" for name, fact in facts.items() if fact]

    def _shown(self) -> tuple[list[str], list[Note], pd.DataFrame, list[str]]:
        """Caption and facts, notes above, the first of the summary, and notes below: as many as have room."""
        facts = "; ".join(short(fact, WIDTH - 2).replace(" ", "\xa0") for fact in self._facts())
        wrapped = wrap(facts, WIDTH, break_on_hyphens=False, max_lines=4, placeholder=" ...")
        head = [short(self.caption(), WIDTH), *(line.replace("\xa0", " ") for line in wrapped)]
        whole, above = self.summary(), [note for note in self.notes if note.above]
        below: list[str] = [note for note in self.notes if not note.above]
        for rows, most in ROOM:
            table, left, hidden = whole.iloc[:rows, :COLUMNS], len(whole) - rows, whole.shape[1] - COLUMNS
            more = [f"{left:,} more rows"] * (left > 0) + [f"{hidden} more columns"] * (hidden > 0)
            notes = [f"... {' and '.join(more)} in table()"] * bool(more) + below[:most]
            notes += [f"... {len(below) - most} more in notes"] * (len(below) > most)
            lines = [*head, *above, *lines_of(table, self.prob), *notes]
            if len(lines) <= LINES and len(re.findall(r"[^\W\d_]+", " ".join(lines))) <= WORDS:
                break
        return head, above, table, notes


def html_table(
    table: pd.DataFrame, caption: str, notes: Sequence[str] = (), prob: float = 0.89, above: Sequence[str] = ()
) -> str:
    """A table as HTML: in its caption facts and, bold, notes that stand above it; other notes below."""
    head = [*map(escape, caption.splitlines()), *(f"<strong>{_linked(note)}</strong>" for note in above)]
    texts = cells(table, prob)
    cell = f'<td colspan="{max(len(texts.columns), 1)}" style="text-align:left">{"<br>".join(map(_linked, notes))}</td>'
    text: str = texts.to_html(border=0, index=False)
    text = text.replace("<thead>", f'<caption style="text-align:left">{"<br>".join(head)}</caption><thead>', 1)
    return text.replace("</tbody>", f"</tbody><tfoot><tr>{cell}</tr></tfoot>") if notes else text


def _linked(note: str) -> str:
    """A note with what it means on hover, and a link to it."""
    if not isinstance(note, Note):
        return escape(note)
    link = f'href="{PAGE}#{note.code.replace(" ", "-")}" title="{escape(note.about)}"'
    return f"<a {link}>{escape(note.code)}</a>{escape(note.removeprefix(note.code))}"


def report(results: Result | Sequence[Result], path: str | Path) -> Path:
    """Write an HTML page: of each result the summary, figures, all tables, and what its notes mean.

    Parameters
    ----------
    results
        A result, or several for one page, such as a comparison and its side effects.
    path
        The file to write, ``.html``; it needs no other one and no script.

    Examples
    --------
    >>> post = bb.fit(bb.distance_table("google-news-slice", "weat7"), seed=0)
    >>> bb.report(bb.summary(post), "report.html").name
    'report.html'
    """
    file = check_target(path, (".html",), "a report")
    every: list[Any] = list(results) if isinstance(results, list | tuple) else [results]
    if wrong := [type(each).__name__ for each in every if not isinstance(each, Result)] or ["nothing"] * (not every):
        raise InputError(f"a report is of results, and given is {wrong[0]}: give summary(post) for a fit, or a list")
    alone = len(every) == 1
    title = escape(every[0].caption() if alone else "Bias in word embeddings")
    met = {note.code: escape(note.about) for each in every for note in each.notes}
    listed = [(code.replace(" ", "-"), escape(code), about) for code, about in met.items()]
    meanings = "".join(f'<dt id="{anchor}">{code}</dt><dd>{about}</dd>' for anchor, code, about in listed)
    parts = [f"<h1>{title}</h1>"] * (not alone) + [_part(each, 1 if alone else 2) for each in every]
    body = "".join([*parts, f"<h2>Notes</h2><dl>{meanings}</dl>" if met else ""])
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>'
    head += f"<style>{(shipped('data') / 'report.css').read_text(encoding='utf-8')}</style>"
    page = f'<!doctype html><html lang="en"><head>{head}</head><body><main>{body}</main></body></html>'
    write_text(file, page.replace(f'href="{PAGE}#', 'href="#'))
    return file


def _part(result: Result, level: int) -> str:
    """A result on a page, below a heading of a level."""
    summary, caption, sub = result.summary(), escape(result.caption()), f"h{level + 1}"
    above, below = ([note for note in result.notes if note.above is of] for of in (True, False))
    facts = html_table(summary, "\n".join(result._facts()), below, result.prob, above)
    parts = [f"<h{level}>{caption}</h{level}>", _scrolled(caption, facts)]
    if {"mean", "low", "high"} <= set(summary) and len(summary):
        row = cells(summary, result.prob).iloc[0]
        mean, low, high = (row.iloc[list(summary).index(name)] for name in ("mean", "low", "high"))
        headline = escape(f"{row.iloc[0]}: {mean} ({result.prob:.0%} interval {low} to {high})")
        parts.insert(1, f'<p class="b">{headline}</p>')
    parts += [f"<{sub}>{escape(name)}</{sub}>{_drawn(name, caption, draw)}" for name, draw in result.pictures().items()]
    for name, table in result.tables().items():
        parts.append(f"<{sub}>{escape(name)}</{sub}>{_scrolled(escape(name), html_table(table, '', (), result.prob))}")
    return "".join(parts)


def _scrolled(name: str, table: str) -> str:
    """A table that scrolls where it has no room."""
    return f'<div tabindex="0" role="group" aria-label="{name}">{table}</div>'


def _drawn(name: str, caption: str, draw: Callable[[], Any]) -> str:
    """A figure as an image in the page, with the caption of its result and its name in words, or why there is none."""
    try:
        with unlisted():
            figure = draw()
    except InputError as error:
        return f"<p>{escape(str(error))}</p>"
    image, text = BytesIO(), caption if escape(name) == caption else f"{caption}: {escape(name)}"
    figure.savefig(image, format="svg", metadata={"Date": None, "Creator": None})
    drawn = quote(" ".join(image.getvalue().decode().split()), safe=" :;=/(),+<>")
    return f'<img alt="{text}" src="data:image/svg+xml,{drawn}">'
