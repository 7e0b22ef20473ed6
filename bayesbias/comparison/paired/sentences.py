"""What a comparison of embeddings says, with its uncertainty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias.comparison.contrasting import POPULATIONS, signed
from bayesbias.comparison.decomposed import ONE_GROUP, decomposable, decomposition_sentence
from bayesbias.diagnostics.intervals import share
from bayesbias.errors import listed

if TYPE_CHECKING:
    from bayesbias.comparison.paired.results import Comparison

CONTROLS = {"human": "words for people in general", "neutral": "neutral words"}
SLIGHT = 0.005
"""Size of a difference at hand below which its sign says nothing."""
FINE = 0.01
"""Figures below this get two significant digits in place of three decimals."""


def verdict_of(result: Comparison, prob: float) -> dict[str, list[str]]:
    """Sentences by part: what changed, for whom, how surely, what broke (or controls), and notes."""
    broke = "What broke" if len(result.embeddings) == 2 else "Controls"
    parts: dict[str, list[str]] = {"What changed": [], "For whom": [], "How surely": [], broke: [], "Notes": []}
    if result.faults:
        parts["What changed"].append(f"These draws should not be read: {'; '.join(result.faults)}.")
    for number in range(len(result.pairs)):
        if result.headline is not None:
            first, second = result.headline
            table = result.outcomes(first, second, prob, change=number)
            parts["What changed"] += [*_headline(result, number, prob, table), *_decomposed(result, number, prob)]
            parts["For whom"].append(_words(result, number, table))
            if second == "different":
                parts["For whom"].append(_orders(result, number, table))
            parts["How surely"] += _widths(result, number, prob, table)
        parts[broke] += _controls(result, number, prob)
    if result.headline is None and not parts[broke]:
        parts["What changed"].append("The pairs hold one kind of word only, so that there is no contrast to compare.")
    parts["Notes"] += result.notes
    return {name: sentences for name, sentences in parts.items() if sentences}


def figure(value: float) -> str:
    """A number with a proper minus sign: three decimals, or two significant digits where it is small."""
    if value == 0 or abs(value) >= FINE:
        return signed(value)
    text = np.format_float_positional(value, precision=2, fractional=False, unique=False, trim="-")
    return text.replace("-", "\N{MINUS SIGN}")


def _whole(table: pd.DataFrame) -> dict[str, Any]:
    """The whole list's row of a change."""
    return {str(name): value for name, value in table.iloc[0].items()}


def _route(result: Comparison, number: int) -> str:
    return "From {} to {}".format(*result.pair(number))


def _prefix(result: Comparison, number: int) -> str:
    """Which change a sentence speaks of, where there are several."""
    return "{} to {}: ".format(*result.pair(number)) if len(result.pairs) > 1 else ""


def _interval(row: Mapping[str, Any], prob: float) -> str:
    low, high = row["hdi_low"], row["hdi_high"]
    settled = "excludes" if low > 0 or high < 0 else "includes"
    return f"{100 * prob:g}% interval {figure(low)} to {figure(high)}, which {settled} 0"


def _headline(result: Comparison, number: int, prob: float, table: pd.DataFrame) -> list[str]:
    """The whole list's contrast, in either unit."""
    first, second = table.attrs["first"], table.attrs["second"]
    row = _whole(table)
    what = (
        f"{_route(result, number)} the contrast {first} \N{MINUS SIGN} {second} of the whole list, for "
        f"{POPULATIONS[result.population]} (negative: {first} words are closer),"
    )
    if row["outcome"] == "unchanged":
        return [f"{what} did not change: it is {figure(row['after'])}."]
    part = f", {100 * abs(row['change'] / row['before']):.0f}% of its size" if abs(row["before"]) > FINE else ""
    sentences = [
        f"{what} went from {figure(row['before'])} to {figure(row['after'])}, a change of {figure(row['change'])}"
        f"{part} ({_interval(row, prob)}). Probability that it came nearer to 0: {share(row['p_shrank'])}; that its "
        f"sign reversed: {share(row['p_reversed'])}."
    ]
    return sentences + _scale(result, number, prob, table)


def _decomposed(result: Comparison, number: int, prob: float) -> list[str]:
    """How much of the change is special to a word's own stereotypes; nothing without control words."""
    if "different" not in result.connections:
        return [ONE_GROUP]
    controls = decomposable(result.filled, list(result.connections))
    if not controls:
        return []
    table = result.decomposition(controls[0], prob, change=number)
    return [_prefix(result, number) + decomposition_sentence(table, "the change of ", figure)]


def _scale(result: Comparison, number: int, prob: float, table: pd.DataFrame) -> list[str]:
    """The same in spreads of control distances, and whether that says something else."""
    spreads = result.spreads()
    names = list(result.pair(number))
    if spreads[names].isna().any():
        return ["There are too few control words to take out differences of scale."]
    row = _whole(result.outcomes(table.attrs["first"], table.attrs["second"], prob, standardise=True, change=number))
    listed = ", ".join(f"{name} {spreads[name]:.3f}" for name in names)
    sentence = (
        f"In spreads of control distances ({listed}), which takes out differences of scale, it changed by "
        f"{figure(row['change'])} ({_interval(row, prob)}); probability that it came nearer to 0: "
        f"{share(row['p_shrank'])}."
    )
    if row["outcome"] != _whole(table)["outcome"]:
        sentence += " The two disagree, so that the change is, at least in part, one of scale."
    return [sentence]


def _words(result: Comparison, number: int, table: pd.DataFrame) -> str:
    part = table.iloc[1:]
    counted = {name: part.loc[part["outcome"] == name, "protected_word"].tolist() for name in ("shrank", "grew")}
    same = int((part["outcome"] == "unchanged").sum())
    left = len(part) - same - sum(map(len, counted.values()))
    nearer = int((part["observed_after"].abs() < part["observed_before"].abs()).sum())
    sentence = (
        f"{_prefix(result, number)}Of {_many(len(part), 'protected word')} the contrast surely came nearer to 0 for "
        f"{_counted(counted['shrank'])}, surely moved away from 0 for {_counted(counted['grew'])}, and is undecided "
        f"for {left}"
    )
    sentence += f"; {same} did not change" if same else ""
    return f"{sentence}. At hand, for these very pairs, it came nearer to 0 for {nearer}."


def _orders(result: Comparison, number: int, table: pd.DataFrame) -> str:
    part = table.iloc[1:]
    clear = (part["observed_before"].abs() >= SLIGHT) & (part["observed_after"].abs() >= SLIGHT)
    turned = part[clear & (part["observed_before"] * part["observed_after"] < 0)]
    turned = turned.sort_values("p_reversed", ascending=False)
    sentence = f"{_prefix(result, number)}Which of associated and different words are closer turned round at hand for "
    if turned.empty:
        return f"{sentence}no protected word."
    named = [f"{word} ({share(p)})" for word, p in zip(turned["protected_word"], turned["p_reversed"], strict=True)]
    return (
        f"{sentence}{len(turned)} of {len(part)}; in brackets the probability that it did for words of their kind: "
        f"{listed(named)}."
    )


def _controls(result: Comparison, number: int, prob: float) -> list[str]:
    sentences = []
    for name, phrase in CONTROLS.items():
        if name not in result.connections:
            continue
        row = _whole(result.changes(name, prob=prob, change=number))
        what = f"{_route(result, number)} mean distances to {phrase} changed by {figure(row['mean'])}"
        sentences.append(f"{what}, exactly." if row["sd"] == 0 else f"{what} ({_interval(row, prob)}).")
    return sentences


def _widths(result: Comparison, number: int, prob: float, table: pd.DataFrame) -> list[str]:
    separate = result.changes(prob=prob, paired=False, change=number)
    widths = [row["hdi_high"] - row["hdi_low"] for row in map(_whole, (table, separate))]
    if widths[0] == 0:
        return [f"{_prefix(result, number)}The change is known exactly, in cosine distance."]
    return [
        f"{_prefix(result, number)}Since the same pairs were measured, the interval of the change is "
        f"{figure(widths[0])} wide (cosine distance); two separate fits would leave {figure(widths[1])}."
    ]


def _many(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def _counted(words: list[str]) -> str:
    return f"{len(words)} ({listed(words)})" if words else "0"
