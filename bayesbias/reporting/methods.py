"""``methods_text``: the methods paragraph of a fit or a comparison, from one template of fixed frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import xarray as xr

from bayesbias._support.arguments import probability
from bayesbias.checks.summaries import PROB
from bayesbias.comparison import Comparison
from bayesbias.distances.dataframe import known_coverage
from bayesbias.errors import InputError, listed
from bayesbias.models.families import family_of
from bayesbias.models.tree import Fit
from bayesbias.reporting.fit_summary import FitSummary
from bayesbias.reporting.papers import cite

MEASURED = (
    "Cosine distances of {protected:,} protected words to {attribute:,} attribute words ({distances:,} distances; word "
    "lists: {words}; relations: {relations}; embeddings: {embeddings}) were modelled together by the model {model} of "
    "bayesbias. {covariance}"
)
COVARIANCE: Mapping[str, str] = {
    "related": "The covariance of the distances was estimated from the vectors, up to a factor for each kind of list.",
    "modelled": "Attribute words had effects of their own, crossed with those of protected words.",
    "independent": "Distances were taken as independent given the mean of their protected word and list.",
}
OWN_MODEL = "The model is the authors' own."
FOUND = "Of the words asked for, {found:,} of {asked:,} were found in {embedding}{missing}."
DEBIASED = "The vectors of {embedding} were debiased by the method {method}."
ADJUSTED = "Distances were adjusted for {attribute}."
COMPARED = "Changes are differences of contrasts between embeddings ({changes}), of the pairs that all tables hold."
COMPUTED = (
    "Posteriors were computed by the engine {engine} (seed {seed}); intervals are equal-tailed {prob:.0%} posterior "
    "intervals. Software: {software}. Sources: {sources}."
)
"""Frames of the paragraph; the estimates are in the table of the result, and not here."""


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
    prob = probability(prob, "prob")
    if isinstance(result, FitSummary):
        result = result.fit.tree
    if isinstance(result, Comparison):
        fit, names = Fit(result.tree), list(result.embeddings)
        records = [known_coverage(result.coverage.get(name)) for name in names]
        data = result.data
    elif isinstance(result, xr.DataTree):
        fit = Fit.read(result)
        data, records = fit.data, [fit.data.coverage]
        names = [fit.measured.get("embedding", "")]
    else:
        raise InputError(f"methods_text is for a fit or a result of compare; given is {type(result).__name__}")
    known = {name: record for name, record in zip(names, records, strict=True) if record is not None}
    words = list(dict.fromkeys(record.word_list for record in known.values()))
    facts: dict[str, Any] = {
        "protected": len(data.protected_words),
        "attribute": len(data.attribute_words),
        "distances": len(data.y),
        "words": listed(words) or "not recorded",
        "relations": listed(data.connections.tolist()),
        "embeddings": listed([name for name in names if name]) or "not recorded",
        "model": fit.model,
        "covariance": COVARIANCE.get(family_of(fit.spec).attribute_words, OWN_MODEL),
    }
    parts = [MEASURED.format(**facts)]
    for name, record in known.items():
        found, asked = (sum(entry[key] or 0 for entry in record.lists) for key in ("found", "asked"))
        missing = listed([word for entry in record.lists for word in entry["missing"]])
        parts.append(
            FOUND.format(found=found, asked=asked, embedding=name, missing=f" (missing: {missing})" if missing else "")
        )
        if method := str(record.embedding.get("debiasing") or "").partition(":")[0]:
            parts.append(DEBIASED.format(embedding=name, method=method))
    if fit.adjusted_for or data.adjusted:
        parts.append(ADJUSTED.format(attribute=fit.adjusted_for or data.adjusted))
    if isinstance(result, Comparison):
        parts.append(COMPARED.format(changes=listed([" to ".join(pair) for pair in result.pairs])))
    software = ", ".join(f"{name} {version}" for name, version in fit.versions.items())
    sources = "; ".join(
        f"{work.what}: {work.source}{f', doi {work.doi}' if work.doi else ''}" for work in cite(result).used
    )
    parts.append(COMPUTED.format(engine=fit.engine, seed=fit.seed, prob=prob, software=software, sources=sources))
    return " ".join(parts)
