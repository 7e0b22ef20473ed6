"""``report``: one self-contained file on a fit, a comparison, a pool, a trend, an audit or a set of metrics."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

from bayesbias._checks import flag, one_of, probability
from bayesbias._files import check_suffix, home_folder, write_text
from bayesbias.comparison import Audit, Comparison, SideEffects
from bayesbias.diagnostics.summaries import PROB
from bayesbias.diagnostics.topics import TopicNull
from bayesbias.errors import InputError
from bayesbias.reporting.document import Page, to_html, to_markdown
from bayesbias.reporting.fits import fit_page
from bayesbias.reporting.others import METRIC_COLUMNS, audit_page, change_page, metrics_page, pool_page, trend_page
from bayesbias.second_stage import Pool, Trend

SUFFIXES = {"html": (".html", ".htm"), "md": (".md",)}
WRITERS: dict[str, Callable[[Page], str]] = {"html": to_html, "md": to_markdown}


def report(
    post: xr.DataTree | Comparison | Pool | Trend | Audit | pd.DataFrame,
    path: str | Path,
    prob: float | None = None,
    effects: SideEffects | None = None,
    topics: TopicNull | None = None,
    format: str | None = None,  # noqa: A002  # what other libraries call it
    sensitivity: bool = True,
    pictures: str | Path | None = None,
) -> Path:
    """Write a report: one HTML file without requests to anywhere, or Markdown.

    The first screen has the answer in a sentence, one picture, and three lines: how sure, about which words, and what
    would settle it. The details follow in parts that can be folded; tables sort, filter and download as CSV by a small
    script of the file's own, and are complete without it.

    Parameters
    ----------
    post
        A result of :func:`fit`, :func:`compare`, :func:`pool`, :func:`trend` or :func:`audit`, or the table that
        :func:`run_metrics` returns.
    path
        The file to write; it ends in ``.html`` or ``.md``. It is written whole or not at all.
    prob
        Posterior mass of the intervals, .89 by default. Not for an audit, which has its own, nor for metrics.
    effects
        What :func:`side_effects` returns, beside a comparison.
    topics
        What :func:`topic_null` returns for the same word lists, beside a fit: how often arbitrary topics are as close.
    format
        ``"html"`` or ``"md"`` (Markdown, with tables and without pictures); by default as the path ends.
    sensitivity
        Whether the page of a fit tells how much the answer depends on the model, the prior and single words, which
        takes a dozen refits.
    pictures
        A folder into which each picture of the page is written as PNG too, such as ``contrasts.png``; None for none.

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
    if prob is not None and (isinstance(post, Audit) or _is_metrics(post)):
        raise InputError("prob is given, and an audit has the intervals that it was made with, and metrics have none")
    prob = probability(PROB if prob is None else prob, "prob")
    chosen = _format(path, format)
    if effects is not None and not isinstance(effects, SideEffects):
        raise InputError(f"effects is a {type(effects).__name__}: give what side_effects returns")
    if topics is not None and not isinstance(topics, TopicNull):
        raise InputError(f"topics is a {type(topics).__name__}: give what topic_null returns")
    if effects is not None and not isinstance(post, Comparison):
        raise InputError("effects belong to a comparison: give what compare returns")
    if topics is not None and not isinstance(post, xr.DataTree):
        raise InputError("topics belong to a fit: give what fit returns")
    file = check_suffix(path, SUFFIXES[chosen], "a report")
    folder = None if pictures is None else home_folder(pictures)
    if folder is not None and not folder.is_dir():
        raise InputError(f"pictures is {folder}: there is no such folder")
    page = _page(post, prob, effects, topics, flag(sensitivity, "sensitivity"))
    if folder is not None:
        for picture in page.pictures():
            picture.write(folder)
    write_text(file, WRITERS[chosen](page))
    return file


def _format(path: object, given: str | None) -> str:
    """The format that is asked for, or the one that the path's ending says."""
    if given is not None:
        return one_of(given, tuple(SUFFIXES), "format")
    return "md" if str(path).lower().endswith(SUFFIXES["md"]) else "html"


def _is_metrics(post: Any) -> bool:
    return isinstance(post, pd.DataFrame) and set(METRIC_COLUMNS) <= set(post.columns)


def _page(post: Any, prob: float, effects: SideEffects | None, topics: TopicNull | None, sensitivity: bool) -> Page:
    if isinstance(post, Comparison):
        return change_page(post, effects, prob)
    if isinstance(post, Pool):
        return pool_page(post, prob)
    if isinstance(post, Trend):
        return trend_page(post, prob)
    if isinstance(post, Audit):
        return audit_page(post)
    if _is_metrics(post):
        return metrics_page(post)
    if not isinstance(post, xr.DataTree):
        raise InputError(
            f"a report is of a fit, a comparison, a pool, a trend, an audit or a table of metrics; given is "
            f"{type(post).__name__}"
        )
    return fit_page(post, prob, topics, sensitivity)
