"""Material for a paper: the works to cite for a result, and its table in LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import xarray as xr

from bayesbias._support.arguments import probability
from bayesbias._support.files import check_target, read_text, write_text
from bayesbias._support.numbers import latex, latex_table
from bayesbias._support.paths import shipped
from bayesbias.distances.dataframe import Coverage, DistanceTable, known_coverage
from bayesbias.distances.datasets import list_datasets
from bayesbias.errors import InputError, shown
from bayesbias.metrics import Query, load_query
from bayesbias.metrics.catalogue import METRICS
from bayesbias.models.tree import PAIRED, Fit
from bayesbias.posteriors import PROB
from bayesbias.reporting.fit_summary import summary
from bayesbias.results import Cited, Note, Result
from bayesbias.vectors import list_embeddings
from bayesbias.vectors.debiasing import METHODS
from bayesbias.vectors.lookup import origin_of
from bayesbias.words import WordLists, bundled_controls, load_list, load_words

APPROACH = "10.1162/coli_a_00507"
RELEASED = "2026"  # year of date-released in CITATION.cff
UNRECORDED = Note("no-value", what="sources of word lists and embeddings", reason="not recorded: cite(table) has them")
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
class Citations:
    """Works to cite for a result.

    Attributes
    ----------
    used
        What was used, its source and its DOI, each once.
    notes
        What the result does not tell.
    """

    used: tuple[Cited, ...]
    notes: tuple[Note, ...] = ()

    def table(self) -> pd.DataFrame:
        """One row each: ``what``, ``source``, ``doi``."""
        return pd.DataFrame(self.used, columns=list(Cited._fields))

    def text(self) -> str:
        """One line each, notes last."""
        return "\n".join([*map(_line, self.used), *self.notes])

    __repr__ = text

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
    return Citations(tuple(dict.fromkeys([*start, *sources])), () if recorded else (UNRECORDED,))


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
    title = latex(cited.source or cited.what)
    fields = {"title": f"{{{title}}}", "doi": cited.doi, "url": f"https://doi.org/{cited.doi}"}
    return _misc(key, fields)


def _of_dataset(cited: Cited) -> Iterator[str]:
    """The BibTeX entry of documents that are bundled: their address and licence."""
    named, known = cited.what.removeprefix("documents "), list_datasets()
    for row in known[(known["kind"] == "documents") & (known["name"] == named)].to_dict("records"):
        address = row["source"].partition(";")[0]
        note = f"Data set {named}, https://{address}, licence {row['licence']}"
        fields = {"title": f"{{{latex(row['description'])}}}", "url": f"https://{address}", "note": latex(note)}
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


def to_latex(
    result: pd.DataFrame | xr.DataTree | Result,
    path: str | Path | None = None,
    prob: float | None = None,
    **options: Any,
) -> str:
    r"""A result as a LaTeX table, with the rules of the package booktabs.

    Parameters
    ----------
    result
        A fit, for its :func:`summary`; any result with ``table()``, for what it prints; or a DataFrame that a function
        of this package returns.
    path
        File to write too, ``.tex``, whole or not at all.
    prob
        Posterior mass of the intervals of a DataFrame, for the headings of their ends; by default what the table
        records, or .89.
    options
        Options of ``pandas.io.formats.style.Styler.to_latex``, such as ``caption``, ``label`` and ``position``.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> print(bb.to_latex(bb.coverage(table).head(2)[["list", "asked", "found"]]))
    \begin{tabular}{lrr}
    \toprule
    list & asked & found \\
    \midrule
    math & 8 & 8 \\
    arts & 8 & 8 \\
    \bottomrule
    \end{tabular}
    <BLANKLINE>
    """
    target = None if path is None else check_target(path, (".tex",), "a LaTeX table")
    given = summary(result) if isinstance(result, xr.DataTree) else result
    if isinstance(given, Result):
        lines = given.to_latex(**options)
    elif isinstance(given, pd.DataFrame) and not given.empty:
        mass = given.attrs.get("prob", PROB) if prob is None else probability(prob, "prob")
        lines = latex_table(given, mass, **options)
    else:
        raise InputError(f"to_latex takes a DataFrame with rows, a fit or a result; given is {shown(result)}")
    if target is not None:
        write_text(target, lines)
    return lines
