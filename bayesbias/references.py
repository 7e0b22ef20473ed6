"""The works behind a result: what to cite for it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import combining, normalize

from bayesbias._files import Document, check, parse_toml, read_toml
from bayesbias._paths import shipped
from bayesbias._results import Result
from bayesbias.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

APPROACH = "10.1162/coli_a_00507"
SHRINKAGE = "10.1093/biostatistics/kxw041"
UNRECORDED = (
    "The result does not record its word lists and embeddings: cite those of its tables, with bb.cite(table) for each."
)


class Reference(Document):
    """A published work."""

    authors: str
    year: int
    title: str
    journal: str = ""
    booktitle: str = ""
    volume: str = ""
    number: str = ""


class Cited(NamedTuple):
    """What was used, where it comes from in a few words, and its DOI, empty where there is none."""

    what: str
    source: str
    doi: str


@dataclass(frozen=True, repr=False)
class Citations(Result):
    """What to cite for a result.

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
        import pandas as pd

        return pd.DataFrame(self.used, columns=list(Cited._fields))

    def text(self) -> str:
        """One line each, notes last."""
        return "\n".join([*map(_line, self.used), *self.notes])

    def _repr_html_(self) -> str:
        rows = "".join(f"<li>{_linked(one)}</li>" for one in self.used)
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return f"<ul>{rows}</ul>{notes}{self.table().to_html(index=False)}"

    def bibtex(self) -> str:
        """BibTeX entries: the package, and each work whose DOI is known to it, once."""
        known = dict.fromkeys(one.doi for one in self.used if one.doi)
        entries = [_entry(doi, references()[doi]) for doi in known if doi in references()]
        return "\n\n".join([_package_entry(), *entries])


def cite(result: Any) -> Citations:
    """What to cite for a result: the package, the approach of its models, and the sources of what was used.

    Parameters
    ----------
    result
        A distance table, a fit, a result of :func:`compare`, :func:`metric`, :func:`run_metrics`, :func:`audit`,
        :func:`debias`, :func:`pool` or :func:`trend`; or word lists.

    Returns
    -------
    Citations
        ``text()`` in lines, ``table()`` with DOIs, ``bibtex()`` for a bibliography.

    Raises
    ------
    InputError
        Something else, or a table that was not made by this package.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> bb.cite(table).table()[["what", "doi"]]
                                what                       doi
    0             package bayesbias
    1                      approach      10.1162/coli_a_00507
    2              word list weat7   10.1126/science.aal4230
    3  embedding google-news-slice  10.48550/arXiv.1310.4546
    """
    used = [*_used(result)]
    if not used:
        raise InputError(
            f"nothing is known of the sources of {type(result).__name__}: give a distance table, a fit, a comparison, "
            "a result of metric, run_metrics, audit, debias, pool or trend, or word lists"
        )
    start = [Cited("package bayesbias", f"bayesbias {version('bayesbias')} (CITATION.cff)", "")]
    if any(one.what.startswith(("word list", "model", "second stage")) for one in used):
        start.append(Cited("approach", _short(references()[APPROACH]), APPROACH))
    recorded = any(one.what.startswith(("word list", "query", "embedding", "debiasing")) for one in used)
    return Citations(tuple(dict.fromkeys([*start, *used])), () if recorded else (UNRECORDED,))


@cache
def references() -> Mapping[str, Reference]:
    """DOI to the work."""
    where = shipped("data") / "references.toml"
    return {doi: check(Reference, content, str(where)) for doi, content in read_toml(where).items()}


def _used(result: Any) -> Iterator[Cited]:
    """What a result says of its sources."""
    import pandas as pd
    import xarray as xr

    from bayesbias.comparison import Audit, Comparison
    from bayesbias.metrics import MetricResult, Query
    from bayesbias.second_stage import Pool, Trend
    from bayesbias.words import WordLists

    if isinstance(result, pd.DataFrame):
        yield from _of_table(result)
    elif isinstance(result, xr.DataTree):
        yield from _of_fit(result)
    elif isinstance(result, Comparison):
        yield from _of_fit(result.posterior)
    elif isinstance(result, MetricResult):
        yield Cited(f"metric {result.metric}", result.source, result.doi or "")
        yield from _of_query(result.query)
        yield from _of_embedding({"name": result.embedding})
    elif isinstance(result, Audit):
        yield Cited("shrinkage of the audit", _short(references()[SHRINKAGE]), SHRINKAGE)
        yield from _of_lists(result.lists)
        yield from _of_embedding({"name": result.embedding})
    elif isinstance(result, Query):
        yield from _of_query(result)
    elif isinstance(result, WordLists):
        yield from _of_lists({"word_list": result.name, "source": result.source, "doi": result.doi})
    elif isinstance(result, Pool | Trend):
        yield Cited(f"second stage: {type(result).__name__.lower()}", "bayesbias", "")
    elif isinstance(name := getattr(result, "bayesbias_name", None), str):
        yield from _of_embedding({"name": name, "debiasing": getattr(result, "bayesbias_debiasing", "")})
    else:
        yield from _of_debiasing(result)


def _of_table(table: pd.DataFrame) -> Iterator[Cited]:
    """A distance table, or one of metrics."""
    from bayesbias.distances.storage import stored_coverage

    if (known := stored_coverage(table)) is not None:
        yield from _of_coverage(known.as_dict())
    elif {"metric", "query", "embedding"} <= set(table.columns):
        yield from _of_metrics(table)


def _of_metrics(table: pd.DataFrame) -> Iterator[Cited]:
    from bayesbias.metrics import list_metrics, load_query

    known = list_metrics().set_index("name")
    for name in table["metric"].astype(str).unique():
        if name in known.index:
            yield Cited(f"metric {name}", *known.loc[name, ["source", "doi"]].fillna("").astype(str))
    for name in table["query"].astype(str).unique():
        try:
            yield from _of_query(load_query(name))
        except InputError:  # a query of the user's own
            yield Cited(f"query {name}", "", "")
    for name in table["embedding"].astype(str).unique():
        yield from _of_embedding({"name": name})


def _of_fit(post: Any) -> Iterator[Cited]:
    text, known = post.attrs.get("model_text"), post.attrs.get("coverage")
    if text is None or known is None:
        return
    model = parse_toml(text, "the model of the fit")
    yield Cited(f"model {model.get('name', '')}", model.get("source", ""), model.get("doi", ""))
    records = json.loads(known) or {}
    for record in [records] if "word_list" in records else records.values():
        yield from _of_coverage(record)


def _of_coverage(record: Mapping[str, Any]) -> Iterator[Cited]:
    yield from _of_lists(record)
    yield from _of_embedding(record.get("embedding") or {})


def _of_lists(record: Mapping[str, Any]) -> Iterator[Cited]:
    if record:
        yield Cited(f"word list {record['word_list']}", record.get("source") or "", record.get("doi") or "")


def _of_query(query: Any) -> Iterator[Cited]:
    yield Cited(f"query {query.name}", query.source or "", query.doi or "")


def _of_embedding(embedding: Mapping[str, Any]) -> Iterator[Cited]:
    """An embedding by its name, and how it was debiased."""
    from bayesbias.embeddings import list_embeddings

    name = str(embedding.get("name", ""))
    if not name:
        return
    bundled = list_embeddings().set_index("name")
    base, _, debiased = name.partition(" (")
    if base in bundled.index:
        yield Cited(f"embedding {base}", *bundled.loc[base, ["source", "doi"]].astype(str))
    else:
        yield Cited(f"embedding {name}", "", "")
    for method in (*debiased.rstrip(")").split(") ("), str(embedding.get("debiasing", "")).partition(":")[0]):
        yield from _of_method(method)


def _of_method(name: str) -> Iterator[Cited]:
    from bayesbias.debiasing.registry import METHODS

    if name in METHODS:
        yield Cited(f"debiasing method {name}", METHODS[name].source, METHODS[name].doi)


def _of_debiasing(record: Any) -> Iterator[Cited]:
    from bayesbias.debiasing.methods import Debiasing

    if isinstance(record, Debiasing):
        yield from _of_method(record.method)


def _short(work: Reference) -> str:
    """Authors and year, as in a text."""
    families = [name.partition(",")[0] for name in work.authors.split(" and ")]
    last = f" and {families[-1]}" if len(families) > 1 else ""
    return f"{', '.join(families[:-1]) or families[0]}{last} ({work.year})"


def _line(one: Cited) -> str:
    work = references().get(one.doi)
    said = one.source or "its source is not recorded"
    if work is not None:
        said = f"{_short(work)}. {work.title}. {work.journal or work.booktitle}"
    link = f". https://doi.org/{one.doi}" if one.doi else ""
    return f"{one.what}: {said}{link}"


def _linked(one: Cited) -> str:
    line = escape(_line(one))
    address = escape(f"https://doi.org/{one.doi}", quote=True)
    return line.replace(address, f'<a href="{address}">{address}</a>') if one.doi else line


def _package_entry() -> str:
    fields = [
        ("title", "{bayesbias: bias in word embeddings with posterior distributions}"),
        ("author", "{{The bayesbias authors}}"),
        ("version", f"{{{version('bayesbias')}}}"),
    ]
    return _bibtex("software", "bayesbias", fields)


def _entry(doi: str, work: Reference) -> str:
    """The BibTeX entry of a work; its title in a second pair of braces, so that capitals stay."""
    family = work.authors.partition(",")[0]
    word = next(iter(re.findall(r"\w{4,}", work.title)), "")
    key = "".join(one for one in normalize("NFD", f"{family}{work.year}{word}") if not combining(one)).lower()
    fields = [("author", f"{{{work.authors}}}"), ("title", f"{{{{{work.title}}}}}"), ("year", f"{{{work.year}}}")]
    others = {"journal": work.journal, "booktitle": work.booktitle, "volume": work.volume, "number": work.number}
    fields += [(name, f"{{{value}}}") for name, value in others.items() if value]
    kind = "inproceedings" if work.booktitle else "article"
    return _bibtex(kind, key, [*fields, ("doi", f"{{{doi}}}")])


def _bibtex(kind: str, key: str, fields: Sequence[tuple[str, str]]) -> str:
    return "\n".join([f"@{kind}{{{key},", *(f"  {name} = {value}," for name, value in fields), "}"])
