"""``report``: a fit as one HTML file that needs nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr
from markupsafe import Markup

from bayesbias._checks import probability
from bayesbias._files import check_suffix, write_text
from bayesbias.comparison import (
    Comparison,
    SideEffects,
    adjustment,
    beside_associated,
    cluster_sentence,
    contrasts,
    decomposable_controls,
    decomposition,
    influence,
    plan,
)
from bayesbias.diagnostics.confounds import known_balance
from bayesbias.diagnostics.convergence import diagnose
from bayesbias.diagnostics.intervals import PROB
from bayesbias.diagnostics.predictions import check_predictions
from bayesbias.diagnostics.summaries import summary
from bayesbias.diagnostics.topics import TopicNull
from bayesbias.diagnostics.variances import variance_shares
from bayesbias.distances.coverages import stored_coverage
from bayesbias.distances.storage import relatedness_of
from bayesbias.errors import InputError
from bayesbias.models.results import check_fit, distances_of
from bayesbias.plots.coefficients import plot_coefficients
from bayesbias.plots.contrasting import plot_contrasts
from bayesbias.plots.decomposed import plot_decomposition
from bayesbias.plots.predictive import plot_predictions
from bayesbias.plots.raw import plot_distances
from bayesbias.plots.topics import plot_topic_null
from bayesbias.plots.variance import plot_variance
from bayesbias.reporting.before_after import change_page
from bayesbias.reporting.beside import side_by_side, what_changed
from bayesbias.reporting.rendering import rendered
from bayesbias.reporting.sentences import contrast_sentences, verdict_sentences
from bayesbias.reporting.svg import inline_svg

MOST_WORDS = 10
SMALL = 0.05
"""Contrast that is planned for where the headline is settled, in cosine distance."""
MODEL_SENTENCES = {
    "related": "This fit reads off the vectors how the distances of alike words are correlated. The published model "
    "takes all distances for independent, the crossed one those of different words.",
    "modelled": "This fit gives every attribute word an effect of its own, since distances that share a word are "
    "correlated. It takes different words for unrelated. The published model takes all distances for independent.",
    "independent": "This fit takes distances that share an attribute word for independent. They are correlated, as the "
    "default model, set beside it here, allows for.",
}


def report(
    post: xr.DataTree | Comparison,
    path: str | Path,
    prob: float = PROB,
    effects: SideEffects | None = None,
    topics: TopicNull | None = None,
) -> Path:
    """Write a report on a fit or a comparison: one HTML file without scripts and without requests to anywhere.

    That of a fit holds what was asked and found, the verdict in sentences, pictures, tables, predictive checks, the
    model with its priors, and how to cite. That of a comparison begins with what changed, for whom, how surely, and
    what broke.

    Parameters
    ----------
    post
        A result of :func:`fit` or of :func:`compare`.
    path
        The file to write; it ends in ``.html``. It is written whole or not at all.
    prob
        Posterior mass of the intervals.
    effects
        What :func:`side_effects` returns, beside a comparison.
    topics
        What :func:`topic_null` returns for the same word lists, beside a fit: how often arbitrary topics are as close.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        What was given is no fit and no comparison, side effects beside a fit, a topic null beside a comparison, or a
        path that does not end in ``.html``.
    OSError
        The folder cannot be written or the disk is full.
    """
    prob = probability(prob, "prob")
    if effects is not None and not isinstance(effects, SideEffects):
        raise InputError(f"effects is a {type(effects).__name__}: give what side_effects returns")
    if topics is not None and not isinstance(topics, TopicNull):
        raise InputError(f"topics is a {type(topics).__name__}: give what topic_null returns")
    if isinstance(post, Comparison):
        if topics is not None:
            raise InputError("topics stand beside a fit: give what fit returns, not a comparison")
        file = check_suffix(path, (".html", ".htm"), "a report")
        write_text(file, rendered("change.html.jinja", change_page(post, effects, prob)))
        return file
    if effects is not None:
        raise InputError("effects stand beside a comparison: give what compare returns, not a fit")
    check_fit(post)
    file = check_suffix(path, (".html", ".htm"), "a report")
    write_text(file, rendered("report.html.jinja", _page(post, prob, topics)))
    return file


def _page(post: xr.DataTree, prob: float, topics: TopicNull | None) -> dict[str, Any]:
    verdict = diagnose(post)
    table = distances_of(post)
    sentences = verdict_sentences(post, prob, verdict)
    if topics is not None:
        sentences.insert(sentences.index(contrast_sentences(post, prob)[-1]) + 1, topics.sentence)
    return {
        "title": table.attrs.get("coverage", {}).get("word_list", "distance table"),
        "attrs": post.attrs,
        "versions": json.loads(post.attrs["versions"]),
        "prob": f"{100 * prob:g}%",
        "sentences": sentences,
        "verdict": verdict,
        "asked": _asked(table),
        "pictures": _pictures(post, table, prob, topics),
        "tables": _tables(post, prob),
        "model_sentence": MODEL_SENTENCES.get(post.attrs["attribute_words"], ""),
        "balance": known_balance(post),
        "adjustment": adjustment(post, prob).to_dict("records") if "adjust" in post.attrs else [],
        "beside": _beside(post, prob),
        "influence": _influence(post),
        "plan": _plan(post, table, prob),
        "counts": {"pairs": len(table), "words": table["protected_word"].nunique()},
    }


def _beside(post: xr.DataTree, prob: float) -> dict[str, Any]:
    table = side_by_side(post, prob)
    return {"rows": table.to_dict("records"), "sentences": what_changed(table)}


def _influence(post: xr.DataTree) -> dict[str, Any] | None:
    """The words that move the headline most; None for models that need NUTS and fits without a headline."""
    if not beside_associated(post) or {"nu", "word_nu", "m"} & set(post["posterior"].data_vars):
        return None
    table = influence(post, words="stereotype")
    return {"second": table.attrs["second"], "rows": table.head(MOST_WORDS).to_dict("records")}


def _plan(post: xr.DataTree, table: pd.DataFrame, prob: float) -> str | None:
    """What list length would settle the headline contrast: as large as its posterior mean, or a small one if it is."""
    others = beside_associated(post)
    if not others:
        return None
    row = contrasts(post, "associated", others[0], prob).iloc[0]
    settled = row["hdi_low"] > 0 or row["hdi_high"] < 0
    effect = SMALL if settled else round(float(row["mean"]), 3) or 0.001
    own_scales = post.attrs["attribute_words"] == "modelled" and not {"nu", "word_nu"} & set(
        post["posterior"].data_vars
    )
    found = plan(post if own_scales else table, effect=effect, prob=prob, second=others[0])
    already = f"The interval of associated \N{MINUS SIGN} {others[0]} excludes 0 already. " if settled else ""
    return already + found.sentence


def _asked(table: pd.DataFrame) -> dict[str, Any] | None:
    record = stored_coverage(table)
    if record is None:
        return None
    related = relatedness_of(table)
    worth = {} if related is None else related.effective_words().set_index(["kind", "list"])["effective"].to_dict()
    lists = [{**entry, "worth": worth.get((entry["kind"], entry["list"]))} for entry in record.lists]
    return {"lists": lists, "notes": record.notes(table, missing=False), "record": record, "worth": bool(worth)}


def _pictures(post: xr.DataTree, table: pd.DataFrame, prob: float, topics: TopicNull | None) -> list[dict[str, Any]]:
    others = beside_associated(post)
    drawn = [
        *(
            (
                f"contrast-{other}",
                f"Contrast of associated and {other} words",
                plot_contrasts(post, prob=prob, second=other),
            )
            for other in others[:1]
        ),
        *(
            (
                "decomposition",
                f"Associated \N{MINUS SIGN} {other} as the sum of two parts",
                plot_decomposition(post, other, prob),
            )
            for other in decomposable_controls(post)[:1]
        ),
        ("coefficients", "Mean distances by connection and by protected word", plot_coefficients(post, prob)),
        *([] if topics is None else [("topics", "The contrast of random topics", plot_topic_null(topics))]),
        ("variance", "Where the spread of distances comes from", plot_variance(post)),
        ("predictions", "Observed and predicted distances", plot_predictions(post, prob)),
        ("distances", "Raw distances by connection", plot_distances(table)),
    ]
    return [{"title": title, "svg": Markup(inline_svg(figure, name, title))} for name, title, figure in drawn]


def _tables(post: xr.DataTree, prob: float) -> dict[str, Any]:
    everything = summary(post, prob)
    of_words = everything["protected_word"].notna()
    everything["connection"] = everything["connection"].fillna(everything.get("attribute_class"))
    everything = everything.fillna({"connection": "", "protected_word": ""})
    return {
        "whole": everything[~of_words].to_dict("records"),
        "words": everything[of_words].to_dict("records"),
        "decompositions": {name: _records(decomposition(post, name, prob)) for name in decomposable_controls(post)},
        "contrasts": {name: _contrast(post, name, prob) for name in beside_associated(post)},
        "predictions": check_predictions(post, (0.5, prob)).to_dict("records"),
        "variances": variance_shares(post, prob).to_dict("records"),
    }


def _records(table: pd.DataFrame) -> list[dict[Any, Any]]:
    return table.fillna({"protected_word": "whole list"}).to_dict("records")


def _contrast(post: xr.DataTree, other: str, prob: float) -> dict[str, Any]:
    table = contrasts(post, "associated", other, prob)
    return {"rows": table.to_dict("records"), "left_out": table.attrs["left_out"], "cluster": cluster_sentence(table)}
