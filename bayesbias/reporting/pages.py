"""``report``: one self-contained file on any result."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

from bayesbias._checks import flag, one_of, probability
from bayesbias._executors import one_thread
from bayesbias._files import check_target, home_folder, write_text
from bayesbias._page import Block, Items, Page, Section, filled
from bayesbias._results import Result, title_of
from bayesbias.calibration.topics import TopicNull
from bayesbias.comparison import Comparison, SideEffects
from bayesbias.errors import InputError
from bayesbias.models.results import Fit, kept_open
from bayesbias.references import cite
from bayesbias.reporting.document import to_html, to_markdown, write_png
from bayesbias.reporting.fit_report import FitReport
from bayesbias.reporting.metric_report import COLUMNS, MetricTable

SUFFIXES = {"html": (".html", ".htm"), "md": (".md",)}
WRITERS: dict[str, Callable[[Page], str]] = {"html": to_html, "md": to_markdown}


def report(
    post: xr.DataTree | Result | pd.DataFrame,
    path: str | Path,
    prob: float | None = None,
    effects: SideEffects | None = None,
    topics: TopicNull | None = None,
    format: str | None = None,  # noqa: A002  # what other libraries call it
    sensitivity: bool = True,
    pictures: str | Path | None = None,
) -> Path:
    """Write a report: one HTML file without requests to anywhere, or Markdown.

    The first screen has the answer in a sentence, one figure, and three lines: how sure, about which words, and what
    would decide it. The details follow in parts that can be folded; tables sort, filter and download as CSV by a small
    script of the file's own, and are complete without it.

    Parameters
    ----------
    post
        A result of :func:`fit`, the table that :func:`run_metrics` returns, or any other result: of :func:`compare`,
        :func:`pool`, :func:`trend`, :func:`audit`, :func:`rank`, :func:`plan`, :func:`topic_null` and so on.
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
        Whether the page of a fit tells how much the answer depends on the model, the prior and single words, which
        takes a dozen refits.
    pictures
        A folder into which each figure of the page is written as PNG too, such as ``contrasts.png``; None for none.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        Nothing that has a report, side effects beside something that is no comparison, a topic null beside something
        that is no fit, or a path that ends otherwise.
    OSError
        The folder cannot be written or the disk is full.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, seed=0)
    >>> bb.report(post, "report.html").name
    'report.html'
    """
    chosen = _format(path, format)
    if effects is not None and not isinstance(effects, SideEffects):
        raise InputError(f"effects is a {type(effects).__name__}: give what side_effects returns")
    if topics is not None and not isinstance(topics, TopicNull):
        raise InputError(f"topics is a {type(topics).__name__}: give what topic_null returns")
    if effects is not None and not isinstance(post, Comparison):
        raise InputError("effects belong to a comparison: give what compare returns")
    if topics is not None and not isinstance(post, xr.DataTree):
        raise InputError("topics belong to a fit: give what fit returns")
    file = check_target(path, SUFFIXES[chosen], "a report")
    folder = None if pictures is None else home_folder(pictures)
    if folder is not None and not folder.is_dir():
        raise InputError(f"pictures={folder}: there is no such folder")
    result = _presented(post, topics, flag(sensitivity, "sensitivity"))
    options: dict[str, Any] = {} if effects is None else {"effects": effects}
    if prob is not None:
        if "prob" not in inspect.signature(result.front).parameters:
            name = title_of(result).lower()
            article = "an" if name[0] in "aeiou" else "a"
            raise InputError(f"prob is given, and {article} {name} has the intervals that it was made with")
        options["prob"] = probability(prob, "prob")
    # matrices of a report are small: a second thread would only wait
    with one_thread(), kept_open(result.result) if isinstance(result, FitReport) else nullcontext():
        sections = (*result.sections(**options), Section("How to cite", _works(result), shut=True))
        page = replace(result.front(**options), sections=filled(sections))
        if folder is not None:
            for picture in page.pictures():
                write_png(picture, folder)
        text = WRITERS[chosen](page)
    write_text(file, text)
    return file


def _format(path: object, format_: str | None) -> str:
    """The format that is asked for, or the one that the path's ending says."""
    if format_ is not None:
        return one_of(format_, tuple(SUFFIXES), "format")
    return "md" if str(path).lower().endswith(SUFFIXES["md"]) else "html"


def _works(result: Result) -> list[Block]:
    """What to cite; nothing where a result does not know its sources."""
    try:
        return [Items(cite(result).text().splitlines())]
    except InputError:
        return []


def _presented(given: object, topics: TopicNull | None = None, sensitivity: bool = True) -> Result:
    """Anything that has a report as a result: fits and tables of metrics are none by themselves."""
    if isinstance(given, Result):
        return given
    if isinstance(given, pd.DataFrame) and set(COLUMNS) <= set(given.columns):
        return MetricTable(given)
    if isinstance(given, xr.DataTree):
        return FitReport(Fit.read(given), topics, sensitivity)
    raise InputError(
        f"a report is of a fit, a table of metrics, or a result such as a comparison, a pool or an audit; given is "
        f"{type(given).__name__}"
    )
