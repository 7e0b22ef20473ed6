"""What a paper takes from a result: the works to cite for it, and its table in LaTeX."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard
from unicodedata import combining, normalize

import numpy as np

from bayesbias._checks import text, whole_number
from bayesbias._files import Document, check, check_target, from_json, parse_toml, read_toml, write_text
from bayesbias._paths import shipped
from bayesbias._phrases import difference, is_share_of_draws, percent
from bayesbias._results import Cited, Result
from bayesbias.checks.summaries import ETI, HDI
from bayesbias.errors import InputError, listed
from bayesbias.words import WHOLE, labelled

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

APPROACH = "10.1162/coli_a_00507"


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
        """BibTeX entries: the package, and each work whose DOI is known to it, once."""
        package = {
            "title": "{bayesbias: bias in word embeddings with posterior distributions}",
            "author": "{{The bayesbias authors}}",
            "version": f"{{{version('bayesbias')}}}",
        }
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
    unrecorded = (
        "The result does not record its word lists and embeddings: cite those of its tables, with bb.cite(table) for "
        "each."
    )
    return Citations(tuple(dict.fromkeys([*start, *used])), () if recorded else (unrecorded,))


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
    from bayesbias.metrics import load_query
    from bayesbias.metrics.catalogue import METRICS
    from bayesbias.words import load_words

    kinds = ("embedding", "metric", "query", "word list")  # what is known by name
    kind = next((kind for kind in kinds if cited.what.startswith(f"{kind} ")), "")
    name = cited.what.removeprefix(f"{kind} ")
    if cited.source:
        yield cited
    elif cited.doi in references():
        yield cited._replace(source=_short(references()[cited.doi]))
    elif kind == "embedding":
        yield from _of_embedding(name, "")
    else:
        load: dict[str, Callable[[str], Any]] = {"metric": METRICS.get, "query": load_query, "word list": load_words}
        try:
            known = load[kind](name) if kind in load else None
        except InputError:  # one of the user's own, whose sources are not known here
            known = None
        yield cited if known is None else Cited(cited.what, known.source or "", known.doi or "")


def _of_table(table: pd.DataFrame) -> Iterator[Cited]:
    """A distance table, or one of metrics."""
    from bayesbias.distances.dataframe import coverage_of

    if (known := coverage_of(table)) is not None:
        yield from _of_coverage(known.as_dict())
    elif {"metric", "query", "embedding"} <= set(table.columns):
        for kind in ("metric", "query", "embedding"):
            for name in table[kind].astype(str).unique():
                yield from _completed(Cited(f"{kind} {name}"))


def _of_fit(post: xr.DataTree) -> Iterator[Cited]:
    text, known = post.attrs.get("model_text"), post.attrs.get("coverage")
    if text is not None and known is not None:
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
    fields = {"author": work.authors, "title": f"{{{work.title}}}", "year": str(work.year), "journal": work.journal}
    fields |= {"booktitle": work.booktitle, "volume": work.volume, "number": work.number, "doi": doi}
    kind = "inproceedings" if work.booktitle else "article"
    return _bibtex(kind, key, {name: f"{{{value}}}" for name, value in fields.items() if value})


def _bibtex(kind: str, key: str, fields: Mapping[str, str]) -> str:
    return "\n".join([f"@{kind}{{{key},", *(f"  {name} = {value}," for name, value in fields.items()), "}"])


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
    result: pd.DataFrame | xr.DataTree | Result,
    path: str | Path | None = None,
    caption: str | None = None,
    label: str | None = None,
    digits: int = 3,
) -> str:
    r"""A result as a LaTeX table, with the rules of the package booktabs.

    Special characters are escaped, numbers below 0 have a proper minus sign, the row of the whole list is named, and
    what is missing is left empty; columns without any value are left out.

    Parameters
    ----------
    result
        A DataFrame that a function of this package returns, such as those of :func:`contrasts`, :func:`summary`,
        :func:`decomposition`, :func:`coverage` and :func:`run_metrics`; a fit, for its contrasts; a result of
        :func:`compare`, for the changes of its headline contrast; or any other result with ``table()``.
    path
        File to write too, ``.tex``, whole or not at all.
    caption, label
        Caption, as plain text, and label for ``\ref``; by default the caption names the contrast, the mass of the
        intervals and what the whole list speaks about, as far as the table knows them.
    digits
        Decimals of numbers.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> print(bb.to_latex(bb.coverage(table).head(2)[["list", "asked", "found"]]))
    \begin{table}
    \centering
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
    import pandas as pd
    import xarray as xr

    from bayesbias.comparison import contrasts

    digits = whole_number(digits, "digits", least=0, most=12)
    for value, name in ((caption, "caption"), (label, "label")):
        if value is not None:
            text(value, name)
    target = None if path is None else check_target(path, (".tex",), "a LaTeX table")
    table = contrasts(result) if isinstance(result, xr.DataTree) else result
    table = table.brief() if isinstance(table, Result) else table
    if not isinstance(table, pd.DataFrame):
        raise InputError(
            f"to_latex takes a DataFrame, a fit, or a result with table(); given is {type(result).__name__}"
        )
    if table.empty:
        raise InputError("the table has no row or no column: there is nothing to write")
    title = _caption(table.attrs) if caption is None else caption
    if label is not None and not re.fullmatch(r"[\w:.-]+", label):
        raise InputError(f"label is {label!r}: give letters, digits and : . - _, such as 'tab:contrasts'")
    lines = _latex(table, title, label, digits)
    if target is not None:
        write_text(target, f"{lines}\n")
    return lines


def _caption(attrs: dict[Any, Any]) -> str:
    """What a table of contrasts is about; empty for others."""
    from bayesbias.comparison import POPULATIONS

    parts = []
    if "first" in attrs and "second" in attrs:
        contrast = labelled(f"{attrs['first']} - {attrs['second']}", attrs.get("labels", {}))
        parts.append(f"change of {contrast}, {attrs['change']}" if "change" in attrs else contrast)
    if "prob" in attrs:
        kinds = {ETI: "equal-tailed", HDI: "highest-density"}
        parts.append(f"{percent(attrs['prob'])} {kinds[attrs.get('ci_kind', ETI)]} intervals")
    if "change" in attrs and attrs.get("rows") == "association":
        parts.append("rows of words are changes of associations")
    if attrs.get("population") in POPULATIONS:
        parts.append(f"the whole list speaks about {POPULATIONS[attrs['population']]}")
    nouns = {"pooled": "partially pooled associations", "association": "associations"}
    if attrs.get("rows") in nouns and "change" not in attrs:
        parts.append(f"rows of words are {nouns[attrs['rows']]}")
    sentence = "; ".join(parts)
    return f"{sentence[:1].upper()}{sentence[1:]}." if sentence else ""


def _latex(table: pd.DataFrame, caption: str, label: str | None, digits: int) -> str:
    names, sides, cells = [], "", []
    for i, name in enumerate(map(str, table.columns)):
        values, of_words = list(table.iloc[:, i]), i == 0 and name == "protected_word"
        present = [value for value in values if not _missing(value)]
        if present or of_words:
            names.append(_escaped(name.replace("_", " ")))
            sides += "r" if present and all(map(_is_number, present)) else "l"
            written = [_cell(value, digits, is_share_of_draws(name)) for value in values]
            # the row without a word is that of the whole list
            cells.append([text or _escaped(WHOLE) for text in written] if of_words else written)
    lines = [r"\begin{table}", r"\centering"]
    lines += [rf"\caption{{{_escaped(caption)}}}"] if caption else []
    lines += [rf"\label{{{label}}}"] if label else []
    lines += [rf"\begin{{tabular}}{{{sides}}}", r"\toprule"]
    heading, *rows = (" & ".join(row) + r" \\" for row in [names, *zip(*cells, strict=True)])
    return "\n".join([*lines, heading, r"\midrule", *rows, r"\bottomrule", r"\end{tabular}", r"\end{table}"])


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _missing(value: Any) -> bool:
    import pandas as pd

    return bool(pd.api.types.is_scalar(value) and pd.isna(value))


def _cell(value: Any, digits: int, share: bool) -> str:
    """A value in LaTeX; nothing where it is missing. A share of draws is never said to be 0 or 1."""
    if _missing(value):
        return ""
    if isinstance(value, list | tuple | set | frozenset):
        return _escaped(listed([str(item) for item in value]))
    digits = max(digits, 1) if share else digits
    least = 10.0**-digits
    if share and _is_number(value) and not least <= value <= 1 - least:
        return f"$< {least:.{digits}f}$" if value < least else f"$> {1 - least:.{digits}f}$"
    if not _is_number(value):
        return _escaped(str(value))
    if isinstance(value, int | np.integer):
        text = str(int(value))
    elif math.isinf(value):
        text = r"\infty" if value > 0 else r"-\infty"
    else:
        text = f"{round(float(value), digits) + 0.0:.{digits}f}"
    return f"${text}$" if text.startswith(("-", "\\")) else text


def _escaped(text: str) -> str:
    """Text in which LaTeX reads no command; what cannot be printed is shown as a question mark."""
    return "".join(SPECIAL.get(letter, letter if letter.isprintable() else "?") for letter in difference(text))
