"""The works behind a result: what to cite for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from unicodedata import combining, normalize

from bayesbias._files import Document, check, from_json, parse_toml, read_toml
from bayesbias._paths import shipped
from bayesbias._results import Cited, Result
from bayesbias.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

APPROACH = "10.1162/coli_a_00507"
KINDS = ("embedding", "metric", "query", "word list")  # kinds of things that are known by name
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

    def findings(self) -> list[str]:
        """One line each."""
        return [*map(_line, self.used)]

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
        """BibTeX entries: the package, and each work whose DOI is known to it, once."""
        package = [
            ("title", "{bayesbias: bias in word embeddings with posterior distributions}"),
            ("author", "{{The bayesbias authors}}"),
            ("version", f"{{{version('bayesbias')}}}"),
        ]
        known = dict.fromkeys(work.doi for work in self.used if work.doi)
        entries = [_entry(doi, references()[doi]) for doi in known if doi in references()]
        return "\n\n".join([_bibtex("software", "bayesbias", package), *entries])


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
    if any(work.what.startswith(("word list", "model", "second stage")) for work in used):
        start.append(Cited("approach", _short(references()[APPROACH]), APPROACH))
    recorded = any(work.what.startswith(("word list", "query", "embedding", "debiasing")) for work in used)
    return Citations(tuple(dict.fromkeys([*start, *used])), () if recorded else (UNRECORDED,))


@cache
def references() -> Mapping[str, Reference]:
    """DOI to the work."""
    where = shipped("data") / "references.toml"
    return {doi: check(Reference, content, str(where)) for doi, content in read_toml(where).items()}


def _used(item: Any) -> Iterator[Cited]:
    """What an object says of its sources: a result by its own account, tables, fits, lists and embeddings by theirs."""
    import pandas as pd
    import xarray as xr

    from bayesbias.metrics import Query
    from bayesbias.words import WordLists

    if isinstance(item, Cited):
        yield from _completed(item)
    elif isinstance(item, Result):
        for source in item.sources():
            yield from _used(source)
    elif isinstance(item, pd.DataFrame):
        yield from _of_table(item)
    elif isinstance(item, xr.DataTree):
        yield from _of_fit(item)
    elif isinstance(item, Query):
        yield Cited(f"query {item.name}", item.source or "", item.doi or "")
    elif isinstance(item, WordLists):
        yield Cited(f"word list {item.name}", item.source or "", item.doi or "")
    elif isinstance(name := getattr(item, "bayesbias_name", None), str):
        yield from _of_embedding(name, str(getattr(item, "bayesbias_debiasing", "")))


def _completed(cited: Cited) -> Iterator[Cited]:
    """A work with its source, where it is known by its DOI or by its name."""
    kind = next((kind for kind in KINDS if cited.what.startswith(f"{kind} ")), "")
    name = cited.what.removeprefix(f"{kind} ")
    if cited.source:
        yield cited
    elif cited.doi in references():
        yield cited._replace(source=_short(references()[cited.doi]))
    elif kind == "embedding":
        yield from _of_embedding(name, "")
    else:
        known = _known(kind, name)
        yield cited if known is None else Cited(cited.what, known.source or "", known.doi or "")


def _known(kind: str, name: str) -> Any:
    """A metric, a query or word lists by name; None of the user's own, whose sources are not known here."""
    from bayesbias.metrics import load_query
    from bayesbias.metrics.catalogue import METRICS
    from bayesbias.words import load_words

    load: dict[str, Callable[[str], Any]] = {"metric": METRICS.get, "query": load_query, "word list": load_words}
    try:
        return load[kind](name) if kind in load else None
    except InputError:
        return None


def _of_table(table: pd.DataFrame) -> Iterator[Cited]:
    """A distance table, or one of metrics."""
    from bayesbias.distances.storage import stored_coverage

    if (known := stored_coverage(table)) is not None:
        yield from _of_coverage(known.as_dict())
    elif {"metric", "query", "embedding"} <= set(table.columns):
        for kind in ("metric", "query", "embedding"):
            for name in table[kind].astype(str).unique():
                yield from _completed(Cited(f"{kind} {name}"))


def _of_fit(post: Any) -> Iterator[Cited]:
    text, known = post.attrs.get("model_text"), post.attrs.get("coverage")
    if text is None or known is None:
        return
    model = parse_toml(text, "the model of the fit")
    yield Cited(f"model {model.get('name', '')}", model.get("source", ""), model.get("doi", ""))
    records = from_json(known) or {}
    for record in [records] if "word_list" in records else records.values():
        yield from _of_coverage(record)


def _of_coverage(record: Mapping[str, Any]) -> Iterator[Cited]:
    if record:
        yield Cited(f"word list {record['word_list']}", record.get("source") or "", record.get("doi") or "")
        embedding = record.get("embedding") or {}
        yield from _of_embedding(str(embedding.get("name", "")), str(embedding.get("debiasing", "")))


def _of_embedding(name: str, debiasing: str) -> Iterator[Cited]:
    """An embedding by its name, and how it was debiased."""
    from bayesbias.debiasing.registry import METHODS
    from bayesbias.embeddings import list_embeddings

    if not name:
        return
    bundled = list_embeddings().set_index("name")
    base, _, debiased = name.partition(" (")
    if base in bundled.index:
        yield Cited(f"embedding {base}", *bundled.loc[base, ["source", "doi"]].astype(str))
    else:
        yield Cited(f"embedding {name}")
    for method in (*debiased.rstrip(")").split(") ("), debiasing.partition(":")[0]):
        if method in METHODS:
            yield Cited(f"debiasing method {method}", METHODS[method].source, METHODS[method].doi)


def _short(work: Reference) -> str:
    """Authors and year, as in a text."""
    families = [name.partition(",")[0] for name in work.authors.split(" and ")]
    last = f" and {families[-1]}" if len(families) > 1 else ""
    return f"{', '.join(families[:-1]) or families[0]}{last} ({work.year})"


def _line(cited: Cited) -> str:
    work = references().get(cited.doi)
    reference = cited.source or "its source is not recorded"
    if work is not None:
        reference = f"{_short(work)}. {work.title}. {work.journal or work.booktitle}"
    link = f". https://doi.org/{cited.doi}" if cited.doi else ""
    return f"{cited.what}: {reference}{link}"


def _entry(doi: str, work: Reference) -> str:
    """The BibTeX entry of a work; its title in a second pair of braces, so that capitals stay."""
    family = work.authors.partition(",")[0]
    word = next(iter(re.findall(r"\w{4,}", work.title)), "")
    key = "".join(letter for letter in normalize("NFD", f"{family}{work.year}{word}") if not combining(letter)).lower()
    fields = [("author", f"{{{work.authors}}}"), ("title", f"{{{{{work.title}}}}}"), ("year", f"{{{work.year}}}")]
    others = {"journal": work.journal, "booktitle": work.booktitle, "volume": work.volume, "number": work.number}
    fields += [(name, f"{{{value}}}") for name, value in others.items() if value]
    kind = "inproceedings" if work.booktitle else "article"
    return _bibtex(kind, key, [*fields, ("doi", f"{{{doi}}}")])


def _bibtex(kind: str, key: str, fields: Sequence[tuple[str, str]]) -> str:
    return "\n".join([f"@{kind}{{{key},", *(f"  {name} = {value}," for name, value in fields), "}"])
