"""Material for a paper: the works to cite for a result, and its table in LaTeX."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.metadata import version
from inspect import signature
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._support.arguments import text, whole_number
from bayesbias._support.files import check_target, read_text, write_text
from bayesbias._support.paths import shipped
from bayesbias._support.phrases import (
    FINE,
    QUANTITIES,
    decimals,
    difference,
    is_share_of_draws,
    p_value,
    percent,
)
from bayesbias._support.results import NAMED, NAMES, Cited, Result, title_of
from bayesbias.checks.summaries import ETI, HDI
from bayesbias.contrast import POPULATIONS, contrasts
from bayesbias.distances.dataframe import DistanceTable
from bayesbias.distances.datasets import list_datasets
from bayesbias.distances.list_coverage import Coverage, known_coverage
from bayesbias.documents.findings import sides_of
from bayesbias.documents.regression import CovariateContrast
from bayesbias.errors import InputError, listed
from bayesbias.estimates import PROB
from bayesbias.metrics import Query, load_query
from bayesbias.metrics.catalogue import METRICS
from bayesbias.models.layout import PAIRED
from bayesbias.models.tree import Fit
from bayesbias.models.weights import GROUPS
from bayesbias.vectors import about, list_embeddings
from bayesbias.vectors.debiasing.registry import METHODS
from bayesbias.vectors.lookup import origin_of
from bayesbias.words import OWN, WHOLE, WordLists, bundled_controls, labelled, load_list, load_words

APPROACH = "10.1162/coli_a_00507"
RELEASED = "2026"  # year of date-released in CITATION.cff
METRIC_ROWS = ("metric", "query", "embedding")  # columns of a table of metrics, by which each row is known


class Reference(NamedTuple):
    """A published work: its BibTeX entry as the bibliography has it, and its fields by name."""

    entry: str
    fields: Mapping[str, str]

    @property
    def key(self) -> str:
        """Its key in BibTeX."""
        return self.entry.partition("{")[2].partition(",")[0]

    @property
    def short(self) -> str:
        """Authors and year, as in a text."""
        *others, last = (name.partition(",")[0] for name in self.fields["author"].split(" and "))
        return f"{', '.join(others)}{' and ' if others else ''}{last} ({self.fields['year']})"


@dataclass(frozen=True, repr=False)
class Citations(Result):
    """Works to cite for a result.

    Attributes
    ----------
    used
        What was used, its source and its DOI, each once.
    notes
        What the result does not tell.
    """

    used: tuple[Cited, ...]
    notes: tuple[str, ...] = ()

    def table(self) -> pd.DataFrame:
        """One row each: ``what``, ``source``, ``doi``."""
        return pd.DataFrame(self.used, columns=list(Cited._fields))

    def findings(self) -> list[str]:
        """One line each."""
        return list(map(_line, self.used))

    def text(self) -> str:
        """One line each, notes last."""
        return "\n".join([*self.findings(), *self.notes])

    def _repr_html_(self) -> str:
        rows = ""
        for work in self.used:
            line, address = escape(_line(work)), escape(f"https://doi.org/{work.doi}", quote=True)
            linked = line.replace(address, f'<a href="{address}">{address}</a>') if work.doi else line
            rows += f"<li>{linked}</li>"
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return f"<ul>{rows}</ul>{notes}{self.table().to_html(index=False)}"

    def bibtex(self) -> str:
        """BibTeX entries: the package, each work whose DOI is known to it, once, and bundled documents."""
        package = [
            "@misc{bayesbias,",
            "  title = {{bayesbias: bias in word embeddings with posterior distributions}},",
            "  author = {{The bayesbias authors}},",
            f"  version = {{{version('bayesbias')}}},",
            f"  year = {{{RELEASED}}},",
            # plainnat prints no version; the package has no public address that an entry could give
            f"  note = {{Python package, version {version('bayesbias')}}},",
            "}",
        ]
        cited = [work.doi for work in self.used if work.doi]
        works = {work.doi: work for work in reversed(self.used)}
        bundled = [entry for work in self.used if not work.doi for entry in _of_dataset(work)]
        entries = ["\n".join(package), *(_entry(works[doi]) for doi in dict.fromkeys(cited)), *bundled]
        return "\n\n".join(_once(entries))


def cite(result: Any, *further: Any) -> Citations:
    """Works to cite for results: the package, the approach of their models, and the sources of what was used.

    Parameters
    ----------
    result
        A distance table, a fit, word lists, or a result, such as of :func:`compare`, :func:`metric`,
        :func:`run_metrics`, :func:`axis`, :func:`criterion`, :func:`rank` or :func:`pool`.
    further
        More of these, for one bibliography of a paper: ``bb.cite(post, criterion)`` has each work once.

    Returns
    -------
    Citations
        ``text()`` in lines, ``table()`` with DOIs, ``bibtex()`` for a bibliography.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> bb.cite(table).table()[["what", "doi"]]
                                      what                       doi
    0                package bayesbias
    1                         approach      10.1162/coli_a_00507
    2                  word list weat7   10.1126/science.aal4230
    3  control lists neutral and human      10.1162/coli_a_00507
    4      embedding google-news-slice  10.48550/arXiv.1310.4546
    """
    each = [[*_sources(one)] for one in (result, *further)]
    if not all(each):
        unknown = (result, *further)[each.index([])]
        raise InputError(
            f"nothing is known of the sources of {type(unknown).__name__}: give a distance table, a fit, word lists, "
            "or a result, such as of compare, metric, run_metrics, axis, criterion, rank or pool"
            f"{'; several one by one, as bb.cite(*results)' if isinstance(unknown, list | tuple) else ''}"
        )
    sources = [*chain.from_iterable(each)]
    start = [Cited("package bayesbias", f"bayesbias {version('bayesbias')} (CITATION.cff)", "")]
    if any(work.what.startswith(("word list", "model", "second stage")) for work in sources):
        start.append(Cited("approach", references()[APPROACH].short, APPROACH))
    kinds = ("word list", "query", "embedding", "debiasing")
    recorded = all(any(work.what.startswith(kinds) for work in works) for works in each)
    unrecorded = (
        f"{'One of the results' if further else 'The result'} does not record its word lists and embeddings: cite "
        "those of its tables, with bb.cite(table) for each."
    )
    return Citations(tuple(dict.fromkeys([*start, *sources])), () if recorded else (unrecorded,))


@cache
def references() -> Mapping[str, Reference]:
    """DOI to the work, as the bibliography has it: entries with blank lines between, fields on lines of their own."""
    works = {}
    for entry in read_text(shipped("data") / "references.bib").strip().split("\n\n"):
        fields = dict(re.findall(r"^  (\w+) = \{+(.*?)\}+,$", entry, re.MULTILINE))
        if entry.startswith("@"):  # what stands before the first entry is no work
            works[fields["doi"]] = Reference(entry, fields)
    return works


def _sources(item: Any) -> Iterator[Cited]:
    """Sources of an object: of a result by its own account, of tables, fits, lists and embeddings by theirs."""
    if isinstance(item, Cited):
        yield from _completed(item)
    elif isinstance(item, Result):
        yield from chain.from_iterable(map(_sources, item.sources()))
    elif isinstance(item, Query | WordLists):
        kind = "query" if isinstance(item, Query) else "word list"
        yield Cited(f"{kind} {item.name}", item.source, item.doi or "")
        yield from _of_controls(bundled_controls(item) if isinstance(item, WordLists) else [])
    elif isinstance(item, DistanceTable):
        yield from _of_record(item.coverage)
    elif isinstance(item, Coverage):
        yield from _of_record(item)
    elif isinstance(item, pd.DataFrame) and set(METRIC_ROWS) <= set(item.columns):
        named = (Cited(f"{kind} {name}") for kind in METRIC_ROWS for name in item[kind].astype(str).unique())
        yield from chain.from_iterable(map(_completed, named))
    elif isinstance(item, xr.DataTree) and {"model_text", "coverage"} <= set(item.attrs):
        yield from _of_fit(Fit(item) if PAIRED in item.children else Fit.read(item))
    elif hasattr(item, "bayesbias_name"):
        yield from _completed(_embedding(item.bayesbias_name, origin_of(item)))


def _of_fit(fit: Fit) -> Iterator[Cited]:
    """The model, and what its table, or each of those of a comparison, records."""
    yield Cited(f"model {fit.spec.name}", fit.spec.source, fit.spec.doi or "")
    records = fit.fact("coverage") or {}
    for record in [records] if "word_list" in records else records.values():
        yield from _of_record(known_coverage(record))


def _of_record(record: Coverage | None) -> Iterator[Cited]:
    """The word lists and the embedding of a distance table, as far as they are recorded."""
    if record is not None:
        yield Cited(f"word list {record.word_list}", record.source, record.doi or "")
        yield from _of_controls(record.bundled)
        if name := record.embedding.get("name"):
            yield from _completed(_embedding(name, record.embedding))


def _of_controls(names: Iterable[str]) -> Iterator[Cited]:
    """The sources of bundled control lists, which word lists of one's own have too: lists of one source together."""
    by_source: dict[tuple[str, str], list[str]] = {}
    for name in names:
        known = load_list(name)
        by_source.setdefault((known.source, known.doi or ""), []).append(name)
    for (source, doi), together in by_source.items():
        yield Cited(f"control {'list' if len(together) == 1 else 'lists'} {' and '.join(together)}", source, doi)


def _embedding(name: str, origin: Mapping[str, Any]) -> Cited:
    """An embedding with the source and the DOI that were given for it, if they were."""
    return Cited(f"embedding {name}", origin.get("source", ""), origin.get("doi", ""))


def _completed(cited: Cited) -> Iterator[Cited]:
    """A work with its source, where it is known by its DOI or by its name; a debiased embedding with its methods."""
    kind = next((kind for kind in KNOWN if cited.what.startswith(f"{kind} ")), "")
    name = cited.what.removeprefix(f"{kind} ")
    base, *methods = name.removesuffix(")").split(" (") if kind == "embedding" else [name]
    if cited.source:
        yield cited
    elif cited.doi:
        yield cited._replace(source=references()[cited.doi].short) if cited.doi in references() else cited
    else:
        yield _named(kind, base) or cited
    yield from (known for method in methods if (known := _named("debiasing method", method)))


def _bundled_embedding(name: str) -> Any:
    """The row of a bundled embedding."""
    return next((row for row in list_embeddings().itertuples() if row.name == name), None)


KNOWN: Mapping[str, Callable[[str], Any]] = {
    "embedding": _bundled_embedding,
    "debiasing method": METHODS.get,
    "metric": METRICS.get,
    "query": load_query,
    "word list": load_words,
}
"""Kinds of objects that have a source by their name, and the function that finds one."""


def _named(kind: str, name: str) -> Cited | None:
    """Source of an object that the package knows by its name; None for others."""
    try:
        known = KNOWN[kind](name) if kind else None
    except InputError:  # one of the user's own, whose sources are not known here
        known = None
    return None if known is None else Cited(f"{kind} {name}", known.source or "", known.doi or "")


def _entry(cited: Cited) -> str:
    """The BibTeX entry of a work with a DOI: what the bibliography has, or else what is known of a user's own."""
    if work := references().get(cited.doi):
        return work.entry
    key = re.sub(r"[^a-z0-9]+", "-", cited.what.lower()).strip("-")
    title = _escaped(cited.source or cited.what)
    fields = {"title": f"{{{title}}}", "doi": cited.doi, "url": f"https://doi.org/{cited.doi}"}
    return _misc(key, fields)


def _of_dataset(cited: Cited) -> Iterator[str]:
    """The BibTeX entry of documents that are bundled: their address and licence."""
    named, known = cited.what.removeprefix("documents "), list_datasets()
    for row in known[(known["kind"] == "documents") & (known["name"] == named)].to_dict("records"):
        address = row["source"].partition(";")[0]
        note = f"Data set {named}, https://{address}, licence {row['licence']}"
        fields = {"title": f"{{{_escaped(row['description'])}}}", "url": f"https://{address}", "note": _escaped(note)}
        yield _misc(named, fields)


def _misc(key: str, fields: Mapping[str, str]) -> str:
    """A BibTeX entry of no kind of its own."""
    return "\n".join([f"@misc{{{key},", *(f"  {name} = {{{value}}}," for name, value in fields.items()), "}"])


def _once(entries: Sequence[str]) -> Iterator[str]:
    """Entries, each once; a key that an earlier one has, as of two files of one name, gets a number."""
    taken: dict[str, int] = {}
    for entry in dict.fromkeys(entries):
        start, key, rest = re.split(r"(?<=\{)([^,]*)", entry, maxsplit=1)
        taken[key] = taken.get(key, 0) + 1
        yield f"{start}{key}{f'-{taken[key]}' if taken[key] > 1 else ''}{rest}"


def _line(cited: Cited) -> str:
    reference = cited.source or ("its authors are not recorded" if cited.doi else "its source is not recorded")
    if work := references().get(cited.doi):
        place = work.fields.get("journal") or work.fields["booktitle"]
        reference = f"{work.short}. {work.fields['title']}. {place}"
    link = f". https://doi.org/{cited.doi}" if cited.doi else ""
    return f"{cited.what}: {reference}{link}"


LONGEST, WIDE = 40, 0.4  # characters of a column beyond which it has a width, and that, in widths of a line
LETTER, GAP, LINE = 5.0, 6, 360  # width of a letter, half a gap between columns, and a line of 11 pt article, in points
MOST_WORDS = 12  # of a list in a caption
MEANINGS: Mapping[frozenset[str], str] = {
    frozenset({"estimate", "value", "fitted", "residual"}): "places of words and outside values with their standard "
    "errors, places on the line, and what is left of them",
    frozenset({"estimate", "se", "rank_low"}): "estimate and se are of each alone, the other columns "
    "partially pooled, rank 1 the smallest",
    frozenset({"score", "rank"}): "rank 1: least biased",
    frozenset({"score", "rank", "rank 1"}): "with the probability of each rank",
    frozenset(
        {"p_shrank", "p_reversed"}
    ): "p shrank and p reversed: probabilities that the value decreased in size and that its sign reversed, which says "
    "little where the value after may be 0",
    frozenset({"effect", "of", "value"}): "for random topics the smallest and the largest of ten",
}
"""Columns to what a caption says of them."""
SPARED = ("group", "observed_before", "observed_after")  # columns of outcomes for which a line has no room
SHOWN_SHARE = 0.001  # the least share of draws that a table tells from 0
SPECIAL = {
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "\N{MINUS SIGN}": "$-$",
}


def to_latex(
    result: pd.DataFrame | xr.DataTree | Result | str,
    path: str | Path | None = None,
    caption: str | None = None,
    label: str | None = None,
    digits: int = 3,
) -> str:
    r"""A result as a LaTeX table, with the rules of the package booktabs.

    The text is a whole ``table`` environment, which a paper reads with ``\input`` and which needs the package booktabs.
    The two ends of an interval stand in one column, probabilities have two significant digits and are never 0, and the
    caption says what a negative number is. Special characters are escaped, numbers below 0 have a proper minus sign,
    the row of the whole list is named, and what is missing is left empty; columns without any value are left out.

    Parameters
    ----------
    result
        A DataFrame that a function of this package returns, such as those of :func:`contrasts`, :func:`summary`,
        :func:`decomposition`, :func:`coverage` and :func:`run_metrics`; a fit, for its contrasts; a result of
        :func:`compare`, for the changes of its headline contrast; or any other result with ``table()``. A text, such
        as that of :func:`methods_text`, is escaped, so that it can be pasted, and has ``\cite`` with the keys of
        :meth:`Citations.bibtex` after the works that the package knows.
    path
        File to write too, ``.tex``, whole or not at all.
    caption, label
        Caption, as plain text, and label for ``\ref``; by default the caption names the contrast, the word list, the
        embedding, the adjustment, the mass of the intervals and what the whole list speaks about, as far as the table
        knows them.
    digits
        Decimals of numbers; a small one has two significant digits, and whole ones have none.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> print(bb.to_latex(bb.coverage(table).head(2)[["list", "asked", "found"]]))
    \begin{table}
    \centering
    \caption{Words asked for and found of the word list weat7 in google-news-slice.}
    \begin{tabular}{lrr}
    \toprule
    list & asked & found \\
    \midrule
    math & 8 & 8 \\
    arts & 8 & 8 \\
    \bottomrule
    \end{tabular}
    \end{table}
    """
    digits = whole_number(digits, "digits", least=0, most=12)
    for value, name in ((caption, "caption"), (label, "label")):
        if value is not None:
            text(value, name)
    target = None if path is None else check_target(path, (".tex",), "a LaTeX table")
    if isinstance(result, str) and not (caption is None is label):
        raise InputError("a text has no caption and no label: give these with a table")
    lines = _with_keys(_escaped(result)) if isinstance(result, str) else _table(result, caption, label, digits)
    if target is not None:
        write_text(target, f"{lines}\n")
    return lines


def _table(result: object, caption: str | None, label: str | None, digits: int) -> str:
    table = contrasts(result) if isinstance(result, xr.DataTree) else result
    table = _brief(table) if isinstance(table, Result) else table
    if not isinstance(table, pd.DataFrame):
        raise InputError(
            f"to_latex takes a DataFrame, a fit, a result with table() or a text; given is {type(result).__name__}"
        )
    if table.empty:
        raise InputError("the table has no row or no column: there is nothing to write")
    if set(SPARED) <= set(table.columns):
        table = table.drop(columns=[*SPARED]).replace({"outcome": {"inconclusive": "not clear"}})
    title = _caption(table, result) if caption is None else caption
    if label is not None and not title:  # without a caption the label would be that of the section
        title = title_of(result) if isinstance(result, Result) else listed([str(name) for name in table])
    if label is not None and not re.fullmatch(r"[\w:.-]+", label):
        raise InputError(f"label is {label!r}: give letters, digits and : . - _, such as 'tab:contrasts'")
    return _latex(table, title, label, digits)


def _brief(result: Result) -> pd.DataFrame:
    """The table of a result, which knows the mass of its intervals where the result has none of its own."""
    table, mass = result.brief().copy(), signature(result.table).parameters.get("prob")
    if mass is not None and {"low", "high"} <= set(map(str, table.columns)):
        table.attrs = {"prob": mass.default, **table.attrs}
    return table


def _caption(table: pd.DataFrame, result: object) -> str:
    """Subject of a table, and the direction of its signs; empty for tables without either."""
    sentence = "; ".join(_measured(result) or _of_contrasts(table, result))
    return f"{sentence[:1].upper()}{sentence[1:]}." if sentence else ""


def _of_groups(table: pd.DataFrame) -> bool:
    """True for a table of groups, without rows of words."""
    return "group" in table and "protected_word" not in table


def _of_contrasts(table: pd.DataFrame, result: object) -> list[str]:
    """Subject of a table of contrasts, and the direction of its signs."""
    attrs, parts = table.attrs, []
    levels = {"before", "after", "change"} <= set(map(str, table.columns))  # beside the change
    if subject := _subject(attrs, result):
        changed = (
            f"{subject}, {attrs['change']}, and the change" if levels else f"change of {subject}, {attrs.get('change')}"
        )
        parts.append(changed if "change" in attrs else subject)
    if "prob" in attrs:
        kinds = {ETI: "equal-tailed", HDI: "highest-density"}
        of = " of the change" if levels else attrs.get("intervals", "")
        parts.append(f"{percent(attrs['prob'])} {kinds[attrs.get('ci_kind', ETI)]} intervals{of}")
    words = "protected_word" in table and table["protected_word"].dropna().ne(WHOLE).any()
    if "change" in attrs and not levels and attrs.get("rows") == "association" and words:
        parts.append("rows of words are changes of associations")
    whole, rows = ("they speak", "groups are means of") if _of_groups(table) else ("the whole list speaks", "words are")
    if attrs.get("population") in POPULATIONS:
        parts.append(f"{whole} about {POPULATIONS[attrs['population']]}")
    nouns = {"pooled": "partially pooled associations", "association": "associations"}
    if attrs.get("rows") in nouns and ("change" not in attrs or levels):
        parts.append(f"rows of {rows} {nouns[attrs['rows']]}")
    if attrs.get("rows") == GROUPS:
        of_groups = "distances of the words of a group to its list less those of other groups"
        parts.append(f"{of_groups}, beyond the mean of the control lists")
    if "sign" in attrs:
        parts.append(attrs["sign"])
    elif "change" in attrs and attrs.get("first") == OWN:
        beside = ", compared with the others" if attrs.get("second") else ""
        parts.append(f"negative{' change' * levels}: closer to own stereotypes{beside}")
    elif "change" in attrs or "p_closer" in table:
        parts.append("negative: closer")
    return [*parts, *(meaning for columns, meaning in MEANINGS.items() if columns <= set(map(str, table.columns)))]


def _subject(attrs: Mapping[Any, Any], result: object) -> str:
    """The contrast or other subject of a table, with its words and vectors; empty where it does not know."""
    subject: str = attrs.get("subject", "")
    if "first" in attrs and "second" in attrs:
        subject = labelled(f"{attrs['first']} - {attrs['second']}", attrs.get("labels", {}))
    measured = attrs.get("measured", {}) if subject else {}
    for word, name in (("of the word list", "word_list"), ("in", "embedding"), ("adjusted for", "adjusted")):
        subject += f" {word} {measured[name]}" if measured.get(name) else ""
    return subject


def _measured(result: object) -> list[str]:
    """Meaning of the numbers of covariates; empty for other results."""
    if not isinstance(result, CovariateContrast):
        return []
    sides, embedding = sides_of(result, MOST_WORDS), about(result.by.sample.kv)["name"]
    measured = f"distance of {result.target} to {' less that to '.join(sides)}"
    if len(result.design.groups) > 1:
        measured = f"distance of the words of {result.target} to their own stereotypes less that to others"
    zero = "; 0: the mean of the vocabulary" if result.centre is not None else ""
    by = f", by {' and '.join(result.design.names)}" if result.design.names else ""
    words, nearer = "attribute words like these", f"negative: nearer to {result.ends[0]}"
    parts = [f"{measured} in {embedding}{by}", f"{percent(PROB)} intervals for {words}", f"{nearer}{zero}"]
    return [*parts, "p closer: probability of a number below 0"]


def _latex(table: pd.DataFrame, caption: str, label: str | None, digits: int) -> str:
    names, sides, cells = [], "", []
    every = list(map(str, table.columns))
    by_row = table.attrs.get("rows") == QUANTITIES
    most = [decimals(row, digits) for row in table.to_dict("records")] if by_row else [digits] * len(table)
    for i, name in enumerate(every):
        values, of_words = list(table.iloc[:, i]), i == 0 and name == "protected_word"
        present = [value for value in values if not _missing(value) and not (isinstance(value, str) and not value)]
        whole = all(_is_number(value) and math.isfinite(value) and float(value).is_integer() for value in present)
        other = name.replace("low", "high") if name.endswith("low") else name.replace("high", "low")
        if other in every and other != name and name.endswith("high"):
            continue  # the cell of the low end has it
        if present or of_words:
            written = [
                _cell(value, 0 if whole and other == name else places, name)
                for value, places in zip(values, most, strict=True)
            ]
            if other in every and other != name:
                ends = zip(table.iloc[:, every.index(other)], most, strict=True)
                highs = [_cell(value, places, other) for value, places in ends]
                written = [low and f"[{low}, {high}]" for low, high in zip(written, highs, strict=True)]
                once = name == "low" or "low" not in every  # all intervals of a table have the same mass
                mass = f"{percent(table.attrs['prob'])} " if once and "prob" in table.attrs else ""
                name = f"{mass}{name.removesuffix('low').replace('_', ' ')}interval"
            if name == "p_closer" and "change" in table.attrs:
                name = "p (change below 0)"
            names.append(_escaped(name.replace("_", " ")))
            if present and all(map(_is_number, present)):
                sides += "r"
            else:
                sides += "l" if max(map(_letters, written), default=0) <= LONGEST else rf"p{{{WIDE}\linewidth}}"
            # the row without a word is that of the whole list
            cells.append([text or _escaped(WHOLE) for text in written] if of_words else written)
    letters = sum(max(map(_printed, [name, *column])) for name, column in zip(names, cells, strict=True))
    styler = pd.DataFrame(zip(*cells, strict=True), columns=names).style.hide(axis="index")
    written_table: str = styler.to_latex(
        column_format=sides, hrules=True, position_float="centering", caption=_escaped(caption) or None, label=label
    )
    return written_table.rstrip("\n").replace(r"\begin{tabular}", f"{_size(letters, len(names))}\\begin{{tabular}}")


def _size(letters: int, columns: int) -> str:
    """A command, with a line end, for letters so small that a table fits a line; empty where the usual ones do."""
    sizes = (
        (1.0, GAP, ""),
        (10 / 11, GAP, "\\small\n"),
        (9 / 11, 4, "\\footnotesize\\setlength{\\tabcolsep}{4pt}\n"),
        (8 / 11, 2, "\\scriptsize\\setlength{\\tabcolsep}{2pt}\n"),
    )
    fitting = [said for scale, gap, said in sizes if scale * LETTER * letters + 2 * gap * columns <= LINE]
    return fitting[0] if fitting else sizes[-1][-1]


def _printed(written: str) -> int:
    """Letters that a cell is wide; those of a paragraph as many as it is wide."""
    return min(_letters(written.replace("$", "")), LONGEST)


def _letters(written: str) -> int:
    """Length of a text in print."""
    return len(re.sub(r"\\[a-z]*(\{\})?", "", written))


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _missing(value: Any) -> bool:

    return bool(pd.api.types.is_scalar(value) and pd.isna(value))


def _cell(value: Any, digits: int, column: str) -> str:
    """A value in LaTeX; nothing where it is missing. A share of draws is never said to be 0 or 1."""
    if _missing(value):
        return ""
    if isinstance(value, list | tuple | set | frozenset):
        return _escaped(listed([str(item) for item in value]))
    if column in NAMED and isinstance(value, str):
        return _escaped(NAMES.get(value, value))
    if column.startswith("p_") and _is_number(value):
        share = is_share_of_draws(column)
        if share and value > 1 - SHOWN_SHARE:
            return f"$> {1 - SHOWN_SHARE:g}$"
        text = p_value(float(value), SHOWN_SHARE) if share else p_value(float(value))
        return f"${text}$" if text.startswith("<") else text
    if not _is_number(value):
        return _escaped(str(value))
    if isinstance(value, int | np.integer):
        text = str(int(value))
    elif math.isinf(value):
        text = r"\infty" if value > 0 else r"-\infty"
    elif digits and 10.0 ** -(digits + 3) <= abs(value) < min(FINE, 10.0 ** (1 - digits)):
        text = np.format_float_positional(value, precision=2, fractional=False, unique=False)
    else:
        text = f"{round(float(value), digits) + 0.0:.{digits}f}"
    return f"${text}$" if text.startswith(("-", "\\")) else text


def _with_keys(text: str) -> str:
    """An escaped text with the key of each known work in place of its authors, year and DOI; ours after the version."""
    text = re.sub(r"\bbayesbias \d[\w.+]*\b", r"\g<0> \\cite{bayesbias}", text)
    for doi, work in references().items():
        text = text.replace(f"{_escaped(work.short)}, doi {_escaped(doi)}", rf"\cite{{{work.key}}}")
    return text


def _escaped(text: str) -> str:
    """Text in which LaTeX reads no command; what cannot be printed is shown as a question mark."""
    return "".join(SPECIAL.get(letter, letter if letter.isprintable() else "?") for letter in difference(text))
