"""``report``: one self-contained HTML file."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import matplotlib as mpl
import pandas as pd
import xarray as xr
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from bayesbias._checks import probability
from bayesbias._files import check_suffix, write_text
from bayesbias.comparison import (
    Audit,
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
    similarity_shift,
)
from bayesbias.comparison.contrast import MINUS
from bayesbias.diagnostics.convergence import check_predictions, diagnose
from bayesbias.diagnostics.summaries import PROB, share, signed, summary, variance_shares
from bayesbias.diagnostics.topics import TopicNull
from bayesbias.distances.storage import labels_of, relatedness_of, stored_coverage
from bayesbias.errors import InputError
from bayesbias.models.fits import fit
from bayesbias.models.results import check_fit, distances_of
from bayesbias.plots.audits import plot_audit
from bayesbias.plots.calibration import plot_topic_null
from bayesbias.plots.changes import plot_change, plot_side_effects, plot_similarity_shift
from bayesbias.plots.fits import plot_coefficients, plot_contrasts, plot_decomposition, plot_predictions, plot_variance
from bayesbias.plots.tables import plot_distances
from bayesbias.reporting.sentences import contrast_sentences, verdict_sentences
from bayesbias.words import STEREOTYPES, controls_of, labelled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
FONT = re.compile(r"(?P<before>.*?)(?P<size>[\d.]+)px\s+(?P<family>.+)")
REFERENCE = re.compile(r"url\(#([^)]+)\)")


def inline_svg(figure: Figure, name: str, title: str) -> str:
    """The figure as an ``<svg>`` element for inlining.

    Style attributes become presentation attributes, ids get the prefix ``name`` so that they are unique on a page, and
    ``title`` is what a screen reader says. The text is the same for the same figure.
    """
    buffer = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    ET.register_namespace("", SVG)
    ET.register_namespace("xlink", XLINK)
    root = ET.fromstring(buffer.getvalue())
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}style", f"{{{SVG}}}metadata"):
                parent.remove(child)
    for element in root.iter():
        _plain_attributes(element)
        _prefix_ids(element, name)
    root.set("stroke-linejoin", "round")
    root.set("stroke-linecap", "butt")
    width = root.attrib.pop("width", "")
    root.attrib.pop("height", None)
    root.set("width", width)
    root.set("role", "img")
    root.set("aria-label", title)
    label = ET.Element(f"{{{SVG}}}title")
    label.text = title
    root.insert(0, label)
    return ET.tostring(root, encoding="unicode")


def _plain_attributes(element: ET.Element) -> None:
    style = element.attrib.pop("style", None)
    if style is None:
        return
    for part in filter(None, (piece.strip() for piece in style.split(";"))):
        key, _, value = (text.strip() for text in part.partition(":"))
        if key == "font" and (font := FONT.match(value)):
            element.set("font-size", font["size"])
            element.set("font-family", font["family"])
            if "bold" in font["before"] or "700" in font["before"]:
                element.set("font-weight", "bold")
        else:
            element.set(key, value)


def _prefix_ids(element: ET.Element, name: str) -> None:
    for key, value in element.attrib.items():
        if key == "id":
            element.set(key, f"{name}-{value}")
        elif key == f"{{{XLINK}}}href" and value.startswith("#"):
            element.set(key, f"#{name}-{value[1:]}")
        elif "url(#" in value:
            element.set(key, REFERENCE.sub(rf"url(#{name}-\1)", value))


HERE = Path(__file__).parent


def rendered(template: str, content: Mapping[str, Any], script: str = "") -> str:
    """The text of a page; ``script`` names the file of the one script that it may run."""
    css = (HERE / "report.css").read_text(encoding="utf-8")
    environment = Environment(loader=FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(number=signed, share=share, said=labelled)
    policy = f"default-src 'none'; style-src '{_digest(css)}'; img-src data:; base-uri 'none'; form-action 'none'"
    if script:
        code = (HERE / script).read_text(encoding="utf-8")
        policy += f"; script-src '{_digest(code)}'"
        content = {**content, "script": Markup(code)}  # our own file
    return environment.get_template(template).render(css=Markup(css), policy=policy, **content)


def _digest(text: str) -> str:
    """How a content security policy names a style or a script that is allowed."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


MOST_ROWS = 2000
"""Words of an audit that a page shows."""


def audit_page(found: Audit) -> dict[str, Any]:
    """The content of the page of an audit."""
    table = found.table()
    rows = table.head(MOST_ROWS).astype({"band": "str", "leans_to": "str"}).to_dict("records")
    more = f"the {MOST_ROWS:,} largest contrasts of {len(table):,}" if len(table) > MOST_ROWS else f"all {len(table):,}"
    percent, content = f"{100 * found.prob:g}%", io.BytesIO()
    plot_audit(found).savefig(content, format="png", dpi=130, bbox_inches="tight")
    return {
        "title": f"{', '.join(found.groups)} in {found.embedding}",
        "sentences": [found.text()],
        "picture": Markup("data:image/png;base64,") + base64.b64encode(content.getvalue()).decode(),
        "rows": rows,
        "caption": f"Words called, {more}: shrunken contrast in cosine distance with its {percent} interval, and the "
        "probability that its sign is wrong",
    }


def change_page(result: Comparison, effects: SideEffects | None, prob: float) -> dict[str, Any]:
    """The content of the page, by the names of its template."""
    attrs = result.posterior.attrs
    parts = result.parts(prob)
    if effects is not None:
        parts = effects.added_to(parts)
    coverage = json.loads(attrs["coverage"])
    stats = result.posterior["sample_stats"].data_vars if "sample_stats" in result.posterior.children else {}
    return {
        "title": ", ".join(result.embeddings),
        "labels": result.labels,
        "topic": next((record["word_list"] for record in coverage.values()), "distance tables"),
        "attrs": attrs,
        "versions": json.loads(attrs["versions"]),
        "prob": f"{100 * prob:g}%",
        "parts": parts,
        "ok": not result.faults,
        "faults": result.faults,
        "figures": {
            str(name): ", ".join(f"{value:.3g}" for value in stats[name].to_numpy().ravel())
            for name in ("pareto_k", "importance_ess")
            if name in stats
        },
        "asked": coverage,
        "counts": {
            "pairs": result.posterior["observed_data"].sizes["pair"],
            "words": result.posterior["posterior"].sizes["protected_word"],
        },
        "changes": [_of_change(result, number, prob) for number in range(len(result.pairs))],
        "effects": None if effects is None else _of_effects(effects),
    }


def _of_change(result: Comparison, number: int, prob: float) -> dict[str, Any]:
    """Pictures and tables of one change."""
    before, after = result.pair(number)
    drawn = [
        (
            f"change-{number}",
            f"Mean distances and their changes, {before} to {after}",
            plot_change(result, prob, before, after),
        )
    ]
    stereotypes = set(result.connections) & set(STEREOTYPES)
    if stereotypes:
        title = f"Cosine similarities by connection, {before} and {after}"
        drawn.append((f"shift-{number}", title, plot_similarity_shift(result, None, before, after)))
    others = [name for name in result.connections if name != "associated"]
    contrasts = [("associated", name) for name in others] if "associated" in result.connections else []
    shared = [("different", name) for name in controls_of(result.connections) if "different" in result.connections]
    means: list[tuple[str, str | None]] = [(name, None) for name in result.connections]
    return {
        "before": before,
        "after": after,
        "pictures": [{"title": title, "svg": Markup(inline_svg(figure, name, title))} for name, title, figure in drawn],
        "whole": [_whole(result, first, second, number, prob) for first, second in [*means, *contrasts, *shared]],
        "words": {
            _quantity(result, first, second): _records(result.outcomes(first, second, prob, change=number))
            for first, second in contrasts
        },
        "shift": similarity_shift(result, None, before, after).to_dict("records") if stereotypes else [],
    }


def _whole(result: Comparison, first: str, second: str | None, number: int, prob: float) -> dict[str, Any]:
    sides = result.sides(first, second, number)
    asked: dict[str, Any] = {"prob": prob, "change": number}
    row = (result.changes(first, **asked) if second is None else result.contrasts(first, second, **asked)).iloc[0]
    return {
        "quantity": _quantity(result, first, second),
        "was": sides.before[:, 0].mean(),
        "became": sides.after[:, 0].mean(),
        **{name: row[name] for name in ("mean", "hdi_low", "hdi_high", "p_below_zero")},
    }


def _quantity(result: Comparison, first: str, second: str | None) -> str:
    """A connection or a contrast as the page names it."""
    quantity = first if second is None else f"{first} - {second}"
    return labelled(quantity, result.labels).replace(" - ", MINUS)


def _of_effects(effects: SideEffects) -> dict[str, Any]:
    title = "Side effects"
    return {
        "picture": {"title": title, "svg": Markup(inline_svg(plot_side_effects(effects), "effects", title))},
        "rows": effects.table().to_dict("records"),
    }


COUNTERPARTS = {"published": ("auto",), "related": ("published", "crossed")}
"""Models that are set beside a fit's own; the published one alone where nothing else is said."""


def side_by_side(post: xr.DataTree, prob: float) -> pd.DataFrame:
    """Whole-list contrasts of these protected words under a fit's model and others, fitted to the same distances.

    Columns ``contrast``, ``model``, ``mean``, ``hdi_low``, ``hdi_high``, ``width``. Counterparts are the published
    model and, for related words, the crossed one; the default beside the published model.
    """
    names = COUNTERPARTS.get(post.attrs["model"], ("published",))
    table, seed = distances_of(post), int(post.attrs["seed"])
    others = [fit(table, name, seed=seed) for name in names]
    rows = []
    labels = labels_of(post)
    for second in beside_associated(post):
        for each in (*others, post):
            row = contrasts(each, "associated", second, prob).iloc[0]
            width = row["hdi_high"] - row["hdi_low"]
            label = f"associated{MINUS}{labelled(second, labels)}"
            rows.append((label, each.attrs["model"], row["mean"], row["hdi_low"], row["hdi_high"], width))
    return pd.DataFrame(rows, columns=["contrast", "model", "mean", "hdi_low", "hdi_high", "width"])


def what_changed(table: pd.DataFrame) -> list[str]:
    """A sentence for each contrast of :func:`side_by_side`: how the width changed, and whether the conclusion did."""
    sentences = []
    pairs = [
        (contrast, first, rows[-1])
        for contrast, group in table.groupby("contrast", sort=False)
        for rows in [group.to_dict("records")]
        for first in rows[:-1]
    ]
    for contrast, first, second in pairs:
        ratio = second["width"] / first["width"]
        sentence = (
            f"{contrast}: {signed(first['hdi_low'])} to {signed(first['hdi_high'])} under {first['model']}, "
            f"{signed(second['hdi_low'])} to {signed(second['hdi_high'])} under {second['model']}, {ratio:.2f} times "
            "as wide; "
        )
        settled = [row["hdi_low"] > 0 or row["hdi_high"] < 0 for row in (first, second)]
        if settled[0] == settled[1]:
            sentence += f"both intervals {'exclude' if settled[0] else 'include'} 0."
        else:
            names = (first["model"], second["model"]) if settled[0] else (second["model"], first["model"])
            sentence += f"the {names[0]} interval excludes 0, the {names[1]} one does not."
        sentences.append(sentence)
    return sentences


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
    post: xr.DataTree | Comparison | Audit,
    path: str | Path,
    prob: float = PROB,
    effects: SideEffects | None = None,
    topics: TopicNull | None = None,
) -> Path:
    """Write a report on a fit, a comparison or an audit: one HTML file without requests to anywhere.

    That of a fit holds what was asked and found, the verdict in sentences, pictures, tables, predictive checks, the
    model with its priors, and how to cite. That of a comparison begins with what changed, for whom, how surely, and
    what broke. That of an audit has a table of words that can be searched, by a small script; the others have none.

    Parameters
    ----------
    post
        A result of :func:`fit`, of :func:`compare` or of :func:`audit`.
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

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, seed=0)
    >>> bb.report(post, "report.html").name
    'report.html'
    """
    prob = probability(prob, "prob")
    if effects is not None and not isinstance(effects, SideEffects):
        raise InputError(f"effects is a {type(effects).__name__}: give what side_effects returns")
    if topics is not None and not isinstance(topics, TopicNull):
        raise InputError(f"topics is a {type(topics).__name__}: give what topic_null returns")
    if isinstance(post, Audit):
        if topics is not None or effects is not None:
            raise InputError("effects and topics belong to comparisons and fits, not to an audit")
        file = check_suffix(path, (".html", ".htm"), "a report")
        write_text(file, rendered("audit.html.jinja", audit_page(post), "audit.js"))
        return file
    if isinstance(post, Comparison):
        if topics is not None:
            raise InputError("topics belong to a fit: give what fit returns, not a comparison")
        file = check_suffix(path, (".html", ".htm"), "a report")
        write_text(file, rendered("change.html.jinja", change_page(post, effects, prob)))
        return file
    if effects is not None:
        raise InputError("effects belong to a comparison: give what compare returns, not a fit")
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
        "labels": labels_of(post),
        "attrs": post.attrs,
        "versions": json.loads(post.attrs["versions"]),
        "prob": f"{100 * prob:g}%",
        "sentences": sentences,
        "verdict": verdict,
        "asked": _asked(table),
        "pictures": _pictures(post, table, prob, topics),
        "tables": _tables(post, prob),
        "model_sentence": MODEL_SENTENCES.get(post.attrs["attribute_words"], ""),
        "balance": verdict.balance,
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
    already = (
        f"The interval of associated{MINUS}{labelled(others[0], labels_of(post))} excludes 0 already. "
        if settled
        else ""
    )
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
    others, labels = beside_associated(post), labels_of(post)
    drawn = [
        *(
            (
                f"contrast-{other}",
                f"Contrast of associated and {labels.get(other, f'{other} words')}",
                plot_contrasts(post, prob=prob, second=other),
            )
            for other in others[:1]
        ),
        *(
            (
                "decomposition",
                f"Associated{MINUS}{labelled(other, labels)} as the sum of two parts",
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
    names = {"protected_word": "whole list", "group": ""}
    return table.fillna({name: text for name, text in names.items() if name in table}).to_dict("records")


def _contrast(post: xr.DataTree, other: str, prob: float) -> dict[str, Any]:
    table = contrasts(post, "associated", other, prob)
    return {"rows": table.to_dict("records"), "left_out": table.attrs["left_out"], "cluster": cluster_sentence(table)}
