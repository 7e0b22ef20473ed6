"""What a report on a comparison of embeddings holds."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
from markupsafe import Markup

from bayesbias.comparison import Comparison, SideEffects, similarity_shift
from bayesbias.plots.changing import plot_change
from bayesbias.plots.shifting import plot_similarity_shift
from bayesbias.plots.sides import plot_side_effects
from bayesbias.reporting.svg import inline_svg
from bayesbias.words import CONTROLS


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
    stereotypes = set(result.connections) - set(CONTROLS)
    if stereotypes:
        title = f"Cosine similarities by connection, {before} and {after}"
        drawn.append((f"shift-{number}", title, plot_similarity_shift(result, None, before, after)))
    others = [name for name in result.connections if name != "associated"]
    contrasts = [("associated", name) for name in others] if "associated" in result.connections else []
    shared = [("different", name) for name in CONTROLS[::-1] if {"different", name} <= set(result.connections)]
    means: list[tuple[str, str | None]] = [(name, None) for name in result.connections]
    return {
        "before": before,
        "after": after,
        "pictures": [{"title": title, "svg": Markup(inline_svg(figure, name, title))} for name, title, figure in drawn],
        "whole": [_whole(result, first, second, number, prob) for first, second in [*means, *contrasts, *shared]],
        "words": {
            f"{first} \N{MINUS SIGN} {second}": _records(result.outcomes(first, second, prob, change=number))
            for first, second in contrasts
        },
        "shift": similarity_shift(result, None, before, after).to_dict("records") if stereotypes else [],
    }


def _whole(result: Comparison, first: str, second: str | None, number: int, prob: float) -> dict[str, Any]:
    sides = result.sides(first, second, number)
    asked: dict[str, Any] = {"prob": prob, "change": number}
    row = (result.changes(first, **asked) if second is None else result.contrasts(first, second, **asked)).iloc[0]
    return {
        "quantity": first if second is None else f"{first} \N{MINUS SIGN} {second}",
        "was": sides.before[:, 0].mean(),
        "became": sides.after[:, 0].mean(),
        **{name: row[name] for name in ("mean", "hdi_low", "hdi_high", "p_below_zero")},
    }


def _records(table: pd.DataFrame) -> list[dict[Any, Any]]:
    return table.fillna({"protected_word": "whole list", "group": ""}).to_dict("records")


def _of_effects(effects: SideEffects) -> dict[str, Any]:
    title = "Side effects"
    return {
        "picture": {"title": title, "svg": Markup(inline_svg(plot_side_effects(effects), "effects", title))},
        "rows": effects.table.to_dict("records"),
    }
