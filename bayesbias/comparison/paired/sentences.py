"""What a comparison of embeddings says, with its uncertainty."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from bayesbias.comparison.contrasting import signed
from bayesbias.diagnostics.intervals import share

if TYPE_CHECKING:
    from bayesbias.comparison.paired.results import Comparison

MOST_NAMED = 8
CONTROLS = {"human": "words for people in general", "neutral": "neutral words"}


PARTS = ("What changed", "For whom", "How surely", "What broke", "Notes")


def verdict_of(result: Comparison, prob: float) -> dict[str, list[str]]:
    """Sentences by part, in the order of :data:`PARTS`: whole list, words, certainty, controls, and reservations."""
    parts: dict[str, list[str]] = {name: [] for name in PARTS}
    if result.faults:
        parts["What changed"].append(f"These draws should not be read: {'; '.join(result.faults)}.")
    if result.headline is not None:
        parts["What changed"] += _headline(result, prob)
        parts["For whom"] += _words(result)
        if {"associated", "different"} <= set(result.connections):
            parts["For whom"] += _orders(result)
        parts["How surely"] += [*_widths(result, prob), *_scale(result, prob)]
    parts["What broke"] += _controls(result, prob)
    parts["Notes"] += result.notes
    return {name: sentences for name, sentences in parts.items() if sentences}


def _rows(table: pd.DataFrame, whole: bool) -> pd.DataFrame:
    return table[table["protected_word"].isna() == whole]


def _change(row: pd.Series, prob: float) -> str:
    return f"by {signed(row['mean'])} ({100 * prob:g}% interval {signed(row['hdi_low'])} to {signed(row['hdi_high'])})"


def _route(row: pd.Series, result: Comparison) -> str:
    """Which embeddings a row speaks about."""
    names = (row["before"], row["after"]) if "before" in row.index else result.embeddings
    return f"From {names[0]} to {names[1]}"


def _headline(result: Comparison, prob: float) -> list[str]:
    first, second = result.headline or ("", "")
    changes = _rows(result.changes(prob=prob), whole=True)
    outcomes = _rows(result.outcomes(first, second), whole=True)
    sentences = []
    for (_, row), (_, became) in zip(changes.iterrows(), outcomes.iterrows(), strict=True):
        what = f"{_route(row, result)} the contrast {first} \N{MINUS SIGN} {second} of the whole list"
        if became["outcome"] == "unchanged":
            sentences.append(
                f"{what} changed by exactly {signed(became['change'])}, from {signed(became['before'])} to "
                f"{signed(became['after'])}."
            )
            continue
        settled = row["hdi_low"] > 0 or row["hdi_high"] < 0
        sentences.append(
            f"{what} changed {_change(row, prob)}, from {signed(became['before'])} to {signed(became['after'])}; "
            f"{'the interval excludes 0' if settled else 'the interval includes 0'}. "
            f"Probability that bias shrank: {share(became['p_shrank'])}; that its sign reversed: "
            f"{share(became['p_reversed'])}."
        )
    return sentences


def _words(result: Comparison) -> list[str]:
    first, second = result.headline or ("", "")
    words = _rows(result.outcomes(first, second), whole=False)
    sentences = []
    for route, part in _by_route(words, result):
        counted = {name: part.loc[part["outcome"] == name, "protected_word"].tolist() for name in ("shrank", "grew")}
        same = int((part["outcome"] == "unchanged").sum())
        open_ = len(part) - same - sum(map(len, counted.values()))
        sentence = (
            f"{route}Of {len(part)} protected words bias shrank for {_counted(counted['shrank'])}, grew for "
            f"{_counted(counted['grew'])}, and is undecided for {open_}"
        )
        sentences.append(sentence + (f"; {same} did not change." if same else "."))
    return sentences


def _orders(result: Comparison) -> list[str]:
    words = _rows(result.outcomes("associated", "different"), whole=False)
    sentences = []
    for route, part in _by_route(words, result):
        turned = part[part["observed_before"] * part["observed_after"] < 0].sort_values("p_reversed", ascending=False)
        sentence = f"{route}Among the pairs at hand the order of associated and different words turned round for "
        if turned.empty:
            sentences.append(f"{sentence}no protected word.")
            continue
        named = [f"{word} ({share(p)})" for word, p in zip(turned["protected_word"], turned["p_reversed"], strict=True)]
        sentences.append(
            f"{sentence}{len(turned)} of {len(part)} protected words; in brackets the probability that it did for "
            f"words of their kind: {_listed(named)}."
        )
    return sentences


def _by_route(table: pd.DataFrame, result: Comparison) -> list[tuple[str, pd.DataFrame]]:
    if len(result.embeddings) == 2:
        return [("", table)]
    columns = ["before_embedding", "after_embedding"]
    return [(f"{one} to {other}: ", part) for (one, other), part in table.groupby(columns, sort=False)]


def _controls(result: Comparison, prob: float) -> list[str]:
    sentences = []
    for name, phrase in CONTROLS.items():
        if name not in result.connections:
            continue
        for _, row in _rows(result.changes(name, prob=prob), whole=True).iterrows():
            if row["sd"] == 0:
                sentences.append(f"{_route(row, result)} mean distances to {phrase} changed by {signed(row['mean'])}.")
                continue
            settled = row["hdi_low"] > 0 or row["hdi_high"] < 0
            side = "a change that no bias asked for" if settled else "which may be none"
            sentences.append(f"{_route(row, result)} mean distances to {phrase} changed {_change(row, prob)}, {side}.")
    return sentences


def _widths(result: Comparison, prob: float) -> list[str]:
    paired, unpaired = (_widths_of(result.changes(prob=prob, paired=pairs)) for pairs in (True, False))
    sentences = []
    for own, separate in zip(paired, unpaired, strict=True):
        if own > 0:
            sentences.append(
                f"Since the same pairs were measured, the interval of the change is {own:.3f} wide; two separate fits "
                f"would leave {separate:.3f}."
            )
    return sentences


def _widths_of(table: pd.DataFrame) -> list[float]:
    """Widths of the intervals of the whole list."""
    whole = _rows(table, whole=True)
    return (whole["hdi_high"] - whole["hdi_low"]).tolist()


def _scale(result: Comparison, prob: float) -> list[str]:
    spreads = result.spreads()
    if spreads.isna().any():
        return ["All figures are in cosine distance; there are no control words to standardise by."]
    listed = ", ".join(f"{name} {value:.3f}" for name, value in spreads.items())
    rows = _rows(result.changes(prob=prob, standardise=True), whole=True)
    changed = [
        f"{signed(row['mean'])} ({signed(row['hdi_low'])} to {signed(row['hdi_high'])})" for _, row in rows.iterrows()
    ]
    return [
        f"All figures are in cosine distance; in spreads of control distances ({listed}) the contrast changed by "
        f"{', '.join(changed)}."
    ]


def _counted(words: list[str]) -> str:
    return f"{len(words)} ({_listed(words)})" if words else "0"


def _listed(words: list[str]) -> str:
    more = f" and {len(words) - MOST_NAMED} more" if len(words) > MOST_NAMED else ""
    return ", ".join(words[:MOST_NAMED]) + more
