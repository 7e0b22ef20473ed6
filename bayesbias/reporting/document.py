"""``report``: one self-contained file on any result, its page written as HTML or as Markdown."""

from __future__ import annotations

import base64
import hashlib
import inspect
import io
import re
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import matplotlib as mpl
import pandas as pd
import xarray as xr
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from bayesbias._support.arguments import flag, one_of, probability
from bayesbias._support.files import check_target, home_folder, whole_file, write_text
from bayesbias._support.results import (
    Block,
    Code,
    Items,
    Page,
    Picture,
    Result,
    Section,
    Table,
    filled,
    title_of,
)
from bayesbias._support.threads import one_thread
from bayesbias.checks.calibration.topics import TopicNull
from bayesbias.comparison import Comparison, SideEffects
from bayesbias.errors import InputError
from bayesbias.models.tree import Fit, kept_open
from bayesbias.plots import style
from bayesbias.reporting.fit_report import FitReport
from bayesbias.reporting.methods import methods_section
from bayesbias.reporting.metric_table import MetricTable, is_metric_table
from bayesbias.reporting.papers import cite

HERE = Path(__file__).parent
CARE = (
    "The word lists name stereotypes and social groups in order to measure how texts use words. A distance says how "
    "words are used in the texts an embedding was trained on; it says nothing about people."
)


def image(picture: Picture) -> Markup:
    """A figure as an element of the page."""
    drawn = Markup('<img src="{}" alt="{}">').format(address(picture), picture.spoken or picture.caption)
    if picture.figure.get_figwidth() <= 6.0:
        return drawn
    # a wider one scrolls on a small screen, where its letters would else be too small
    where = Markup('<div class="scroll wide" tabindex="0" role="region" aria-label="{}">{}</div>')
    return where.format(picture.caption, drawn)


def address(picture: Picture) -> str:
    """A figure as the address that an image of a page takes; the same figure has the same address."""
    if picture.photo:
        content = io.BytesIO()
        picture.figure.savefig(content, format="png", dpi=130, bbox_inches="tight")
        return "data:image/png;base64," + base64.b64encode(content.getvalue()).decode()
    drawn = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": picture.name}):
        style.write_svg(picture.figure, drawn)
    # as text, which is shorter than base64
    return "data:image/svg+xml," + quote(" ".join(drawn.getvalue().split()), safe=" :;=/(),")


def write_png(picture: Picture, folder: Path) -> None:
    """A figure as a file, whole or not at all; its layout is not sought again afterwards."""
    with whole_file(folder / f"{picture.name}.png") as temporary:
        style.write_png(picture.figure, temporary, 150)
    if not picture.photo:
        picture.figure.set_layout_engine("none")


def anchors(page: Page) -> list[str]:
    """An address for each section, from its title; numbered where two would have the same."""
    names: list[str] = []
    for section in page.sections:
        name = re.sub(r"[^a-z0-9]+", "-", section.title.lower()).strip("-") or "part"
        names.append(name if name not in names else f"{name}-{len(names) + 1}")
    return names


def to_html(page: Page) -> str:
    """One file without requests: style and script inside, allowed by their digests and nothing else."""
    css, script = ((HERE / name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    environment = Environment(loader=FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    for kind in (Table, Picture, Code, Items):
        environment.tests[kind.__name__.lower()] = lambda block, kind=kind: isinstance(block, kind)
    environment.filters["image"] = image
    policy = (
        f"default-src 'none'; style-src '{_digest(css)}'; script-src '{_digest(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return environment.get_template("report.html.jinja").render(
        page=page, anchors=anchors(page), css=Markup(css), script=Markup(script), policy=policy, care=CARE
    )


def _digest(text: str) -> str:
    """The name of an allowed style or script in a content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


MARKED = re.compile(r"([\\`*_\[\]<>|#])")


def _to_markdown(page: Page) -> str:
    """The page as Markdown; a figure is its description, since one file holds no figures."""
    lines = [f"# {_plain(page.title)}", _plain(page.lead)]
    lines += [f"**{_plain(page.fault)}**"] if page.fault else []
    lines += [f"**{_plain(page.answer)}**"]
    lines += [f"- **{_plain(name)}** {_plain(text)}" for name, text in page.lines.items()]
    for section in page.sections:
        lines += [f"## {_plain(section.title)}", *map(_block, section.blocks)]
    return "\n\n".join([*lines, _plain(CARE)]) + "\n"


def _block(block: Block) -> str:
    if isinstance(block, Table):
        heading = [_plain(name) for name in block.columns]
        sides = [":--" if kind == "text" else "--:" for kind in block.columns.values()]
        rows = [heading, sides, *([_plain(cell) for cell in row] for row in block.cells())]
        return "\n".join([f"{_plain(block.caption)}:", "", *(f"| {' | '.join(row)} |" for row in rows)])
    if isinstance(block, Picture):
        return f"*Figure: {_plain(block.caption)}.*"
    if isinstance(block, Code):
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", block.text)), default=0))
        return f"{fence}\n{block.text.rstrip()}\n{fence}"
    if isinstance(block, Items):
        return "\n".join(f"- {_plain(item)}" for item in block.items)
    return _plain(block)


def _plain(text: str) -> str:
    """Text whose marks mean themselves, on one line."""
    return MARKED.sub(r"\\\1", " ".join(str(text).split()))


WRITERS: dict[str, Callable[[Page], str]] = {"html": to_html, "md": _to_markdown}
SUFFIXES = {"html": (".html", ".htm"), "md": (".md",)}


def report(
    post: xr.DataTree | Result | pd.DataFrame,
    path: str | Path = "report.html",
    prob: float | None = None,
    effects: SideEffects | None = None,
    topics: TopicNull | None = None,
    format: str | None = None,  # noqa: A002  # what other libraries call it
    sensitivity: bool = True,
    pictures: str | Path | None = None,
) -> Path:
    """Write a report: one HTML file without requests to anywhere, or Markdown.

    The first screen has the answer in a sentence, one figure, and a few lines: of a fit an example, how sure, about
    which words, what would decide it for further ones, and what it does not say. The details follow in parts that can
    be folded; tables sort, filter and download as CSV by a small script of the file's own, and are complete without it.

    Parameters
    ----------
    post
        A result of :func:`fit`, the table that :func:`run_metrics` returns, or any other result: of :func:`compare`,
        :func:`pool`, :func:`audit`, :func:`rank`, :func:`topic_null` and so on.
    path
        The file to write; it ends in ``.html`` or ``.md``. It is written whole or not at all.
    prob
        Posterior mass of the intervals, .89 by default; not for results with intervals of their own, such as audits.
    effects
        What :func:`side_effects` returns, beside a comparison.
    topics
        What :func:`topic_null` returns for the same word lists, beside a fit: how often arbitrary topics are as close.
    format
        ``"html"`` or ``"md"`` (Markdown, with tables and without figures); by default as the path ends.
    sensitivity
        Whether the page of a fit tells how much the answer depends on the model, by refits.
    pictures
        A folder into which each figure of the page is written as PNG too, such as ``contrasts.png``; None for none.

    Raises
    ------
    OSError
        The folder cannot be written or the disk is full.

    Examples
    --------
    >>> post = bb.fit(bb.distance_table("google-news-slice", "weat7"), seed=0)
    >>> bb.report(post, "report.html").name
    'report.html'
    """
    file_type = "md" if str(path).lower().endswith(".md") else "html"
    chosen = file_type if format is None else one_of(format, tuple(WRITERS), "format")
    if effects is not None and not isinstance(effects, SideEffects):
        raise InputError(f"effects is a {type(effects).__name__}: give what side_effects returns")
    if effects is not None and not isinstance(post, Comparison):
        raise InputError("effects belong to a comparison: give what compare returns")
    if topics is not None and not isinstance(post, xr.DataTree):
        raise InputError("topics belong to a fit: give what fit returns")
    ends = (*SUFFIXES["html"], *SUFFIXES["md"]) if format is None else SUFFIXES[chosen]
    file = check_target(path, ends, "a report")
    folder = None if pictures is None else home_folder(pictures)
    if folder is not None and not folder.is_dir():
        raise InputError(f"pictures={folder}: there is no such folder")
    result = _presented(post, topics, flag(sensitivity, "sensitivity"))
    options: dict[str, Any] = {} if effects is None else {"effects": effects}
    told = (result, *options.values())
    if prob is not None:
        if "prob" not in inspect.signature(result.front).parameters:
            name = title_of(result).lower()
            article = "an" if name[0] in "aeiou" else "a"
            raise InputError(f"prob is given, and {article} {name} has the intervals that it was made with")
        options["prob"] = probability(prob, "prob")
    # matrices of a report are small: a second thread would only wait
    with one_thread(), kept_open(result.result) if isinstance(result, FitReport) else nullcontext():
        works: list[Block] = []
        with suppress(InputError):  # a result that does not know its sources
            works = [Items(cite(*told).text().splitlines())]
        mass = {} if prob is None else {"prob": options["prob"]}
        last = (methods_section(*told, **mass), Section("How to cite", works, shut=True))
        sections = (*result.sections(**options), *last)
        page = replace(result.front(**options), sections=filled(sections))
        if folder is not None:
            for picture in page.pictures():
                write_png(picture, folder)
        text = WRITERS[chosen](page)
    write_text(file, text)
    return file


def _presented(given: object, topics: TopicNull | None, sensitivity: bool) -> Result:
    """Anything that has a report as a result: fits and tables of metrics are none by themselves."""
    if isinstance(given, Result):
        return given
    if is_metric_table(given):
        return MetricTable(given)
    if isinstance(given, xr.DataTree):
        return FitReport(Fit.read(given), topics, sensitivity)
    raise InputError(
        f"a report is of a fit, a table of metrics, or a result such as a comparison, a pool or an audit; given is "
        f"{type(given).__name__}"
    )
