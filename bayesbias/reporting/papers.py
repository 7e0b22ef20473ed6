"""Material for a paper: the works to cite for a result, and a paragraph on methods."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from itertools import chain
from typing import Any

import pandas as pd
import xarray as xr

from bayesbias._support import shipped
from bayesbias._support.arguments import probability
from bayesbias._support.files import read_text, read_toml
from bayesbias._support.numbers import latex
from bayesbias.comparison import Comparison
from bayesbias.distances.dataframe import Coverage, DistanceTable, coverage_from
from bayesbias.errors import InputError, listed
from bayesbias.metrics import Query
from bayesbias.models.tree import PAIRED, Fit
from bayesbias.posteriors import PROB
from bayesbias.reporting.fit_summary import FitSummary
from bayesbias.reporting.shelf import bundled
from bayesbias.results import Cited, Note, Result
from bayesbias.vectors.lookup import origin_of
from bayesbias.words import WordLists, bundled_controls, load_list

APPROACH = "10.1162/coli_a_00507"
RELEASED = "2026"  # year of date-released in CITATION.cff
METRIC_ROWS = ("metric", "query", "embedding")  # columns of a table of metrics, by which each row is known
KNOWN = {
    "embedding": "embeddings",
    "debiasing method": "methods",
    "metric": "metrics",
    "query": "queries",
    "word list": "words",
    "documents": "datasets",
}
"""What has a source by its name, and the kind under which ``bundled`` lists it."""


@cache
def references() -> Mapping[str, Mapping[str, str]]:
    """DOI to the fields of a work in the bibliography, with ``entry``, as it stands there, and ``short``.

    Entries have blank lines between and fields on lines of their own; ``short`` has the authors and the year.
    """
    works = {}
    for entry in read_text(shipped("data") / "references.bib").strip().split("\n\n")[1:]:
        fields = dict(re.findall(r"^  (\w+) = \{+(.*?)\}+,$", entry, re.MULTILINE))
        *others, last = (name.partition(",")[0] for name in fields["author"].split(" and "))
        short = f"{', '.join(others)}{' and ' if others else ''}{last} ({fields['year']})"
        works[fields["doi"]] = fields | {"entry": entry, "short": short}
    return works


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
        lines = []
        for what, source, doi in self.used:
            reference = source or ("its authors are not recorded" if doi else "its source is not recorded")
            if work := references().get(doi):
                reference = f"{work['short']}. {work['title']}. {work.get('journal') or work['booktitle']}"
            lines.append(f"{what}: {reference}{f'. https://doi.org/{doi}' if doi else ''}")
        return "\n".join([*lines, *self.notes])

    __repr__ = text

    def bibtex(self) -> str:
        """BibTeX entries: the package, each work with a DOI, once, and bundled documents."""
        package = {
            "title": "{bayesbias: bias in word embeddings with posterior distributions}",
            "author": "{The bayesbias authors}",
            "version": version("bayesbias"),
            "year": RELEASED,
            # plainnat prints no version; the package has no public address that an entry could give
            "note": f"Python package, version {version('bayesbias')}",
        }
        works: dict[str, Cited] = {}
        for work in self.used:
            if work.doi or work.what.startswith("documents "):
                works.setdefault(work.doi or work.what, work)
        entries, taken = [_misc("bayesbias", package)], {"bayesbias": 1}
        for work in works.values():
            if work.doi in references():
                entries.append(references()[work.doi]["entry"])
                continue
            key = re.sub(r"[^a-z0-9]+", "-", work.what.lower()).strip("-")
            taken[key] = taken.get(key, 0) + 1
            fields = {"title": f"{{{latex(work.source or work.what)}}}"}
            fields |= {"doi": work.doi, "url": f"https://doi.org/{work.doi}"} if work.doi else {}
            entries.append(_misc(key if taken[key] == 1 else f"{key}-{taken[key]}", fields))
        return "\n\n".join(entries)


def _misc(key: str, fields: Mapping[str, str]) -> str:
    """A BibTeX entry of no kind of its own."""
    return "\n".join([f"@misc{{{key},", *(f"  {name} = {{{value}}}," for name, value in fields.items()), "}"])


def cite(result: Any, *further: Any) -> Citations:
    """Works to cite for results: the package, the approach of their models, and the sources of what was used.

    Parameters
    ----------
    result, further
        Distance tables, fits, word lists, embeddings, or results, such as of :func:`compare` and :func:`metric`: one
        bibliography for all of them.

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
            "or a result, several one by one, as bb.cite(*results)"
        )
    sources = [*chain.from_iterable(each)]
    start = [Cited("package bayesbias", f"bayesbias {version('bayesbias')} (CITATION.cff)")]
    if any(work.what.startswith(("word list", "model", "second stage")) for work in sources):
        start.append(Cited("approach", references()[APPROACH]["short"], APPROACH))
    kinds = ("word list", "query", "embedding", "debiasing")
    recorded = all(any(work.what.startswith(kinds) for work in works) for works in each)
    reason = "not recorded: cite(table) has them"
    notes = () if recorded else (Note("no-value", what="sources of word lists and embeddings", reason=reason),)
    return Citations(tuple(dict.fromkeys([*start, *sources])), notes)


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
    elif isinstance(item, DistanceTable | Coverage):
        yield from _of_record(item.coverage if isinstance(item, DistanceTable) else item)
    elif isinstance(item, pd.DataFrame) and set(METRIC_ROWS) <= set(item.columns):
        named = (Cited(f"{kind} {name}") for kind in METRIC_ROWS for name in item[kind].astype(str).unique())
        yield from chain.from_iterable(map(_completed, named))
    elif isinstance(item, xr.DataTree) and {"model_text", "coverage"} <= set(item.attrs):
        fit = Fit(item) if PAIRED in item.children else Fit.read(item)
        yield Cited(f"model {fit.spec.name}", fit.spec.source, fit.spec.doi or "")
        records = fit.fact("coverage") or {}
        for record in [records] if "word_list" in records else records.values():
            yield from _of_record(coverage_from(record))
    elif hasattr(item, "bayesbias_name"):
        origin = origin_of(item)
        name = f"embedding {item.bayesbias_name}"
        yield from _completed(Cited(name, origin.get("source", ""), origin.get("doi", "")))


def _of_record(record: Coverage | None) -> Iterator[Cited]:
    """The word lists and the embedding of a distance table, as far as they are recorded."""
    if record is not None:
        yield Cited(f"word list {record.word_list}", record.source, record.doi or "")
        yield from _of_controls(record.bundled)
        known = record.embedding
        if name := known.get("name"):
            yield from _completed(Cited(f"embedding {name}", known.get("source", ""), known.get("doi", "")))


def _of_controls(names: Iterable[str]) -> Iterator[Cited]:
    """The sources of bundled control lists, which word lists of one's own have too: lists of one source together."""
    by_source: dict[tuple[str, str], list[str]] = {}
    for name in names:
        known = load_list(name)
        by_source.setdefault((known.source, known.doi or ""), []).append(name)
    for (source, doi), together in by_source.items():
        yield Cited(f"control {'list' if len(together) == 1 else 'lists'} {' and '.join(together)}", source, doi)


def _completed(cited: Cited) -> Iterator[Cited]:
    """A work with its source, where it is known by its DOI or by its name; a debiased embedding with its methods."""
    kind = next((kind for kind in KNOWN if cited.what.startswith(f"{kind} ")), "")
    name = cited.what.removeprefix(f"{kind} ")
    base, *methods = name.removesuffix(")").split(" (") if kind == "embedding" else [name]
    if not cited.source and cited.doi in references():
        yield cited._replace(source=references()[cited.doi]["short"])
    elif cited.source or cited.doi:
        yield cited
    else:
        yield _named(kind, base) or cited
    yield from (known for method in methods if (known := _named("debiasing method", method)))


def _named(kind: str, name: str) -> Cited | None:
    """Source of an object that the package knows by its name; None for the user's own."""
    rows = bundled(KNOWN[kind]).fillna("").to_dict("records") if kind else []
    return next((Cited(f"{kind} {name}", row["source"], row["doi"]) for row in rows if row["name"] == name), None)


def methods_text(result: xr.DataTree | FitSummary | Comparison, prob: float = PROB) -> str:
    """The methods paragraph of a paper on a fit or a comparison, to start from.

    Parameters
    ----------
    result
        A fit, its :func:`summary`, or a result of :func:`compare`.
    prob
        Posterior mass of the intervals.

    Examples
    --------
    >>> post = bb.fit(bb.distance_table("google-news-slice", "weat7"), seed=0)
    >>> bb.methods_text(post).split(" (")[0]
    'Cosine distances of 16 protected words to 141 attribute words'
    """
    prob, frames = probability(prob, "prob"), read_toml(shipped("data") / "methods.toml")
    if isinstance(result, Comparison):
        fit, names, data = Fit(result.tree), list(result.embeddings), result.data
        records = [coverage_from(known) if (known := result.coverage.get(name)) else None for name in names]
    elif isinstance(result, xr.DataTree | FitSummary):
        fit = result.fit if isinstance(result, FitSummary) else Fit.read(result)
        names, data, records = [fit.measured.get("embedding", "")], fit.data, [fit.data.coverage]
    else:
        raise InputError(f"methods_text is for a fit or a result of compare; given is {type(result).__name__}")
    known = {name: record for name, record in zip(names, records, strict=True) if record is not None}
    parts = [
        frames["measured"].format(
            protected=len(data.protected_words),
            attribute=len(data.attribute_words),
            distances=len(data.y),
            words=listed(list(dict.fromkeys(record.word_list for record in known.values()))) or "not recorded",
            relations=listed(data.connections.tolist()),
            embeddings=listed([name for name in names if name]) or "not recorded",
            model=fit.model,
            covariance=frames["covariance"].get(fit.spec.attribute_words, frames["own_model"]),
        )
    ]
    for name, record in known.items():
        found, asked = (sum(entry[key] or 0 for entry in record.lists) for key in ("found", "asked"))
        lost = listed([word for entry in record.lists for word in entry["missing"]])
        missing = f" (missing: {lost})" if lost else ""
        parts.append(frames["found"].format(found=found, asked=asked, embedding=name, missing=missing))
        if method := str(record.embedding.get("debiasing") or "").partition(":")[0]:
            parts.append(frames["debiased"].format(embedding=name, method=method))
    if attribute := fit.adjusted_for or data.adjusted:
        parts.append(frames["adjusted"].format(attribute=attribute))
    if isinstance(result, Comparison):
        parts.append(frames["compared"].format(changes=listed([" to ".join(pair) for pair in result.pairs])))
    software = ", ".join(f"{name} {version}" for name, version in fit.versions.items())
    sources = "; ".join(
        f"{work.what}: {work.source}{f', doi {work.doi}' if work.doi else ''}" for work in cite(result).used
    )
    parts.append(
        frames["computed"].format(engine=fit.engine, seed=fit.seed, prob=prob, software=software, sources=sources)
    )
    return " ".join(parts)
