"""Sentences on a contrast by covariates: values, differences that are known, and those that are not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from bayesbias._support.phrases import barely, ends_of, excludes_zero, percent, signed
from bayesbias.documents.design import FEW
from bayesbias.errors import agreed, listed, many

if TYPE_CHECKING:
    from bayesbias.documents.regression import CovariateContrast

SPEAKERS = ("weighted", "equal")  # weights of speakers, the estimate's own first
SHARES = ("share_instances", "share_speakers", "share_words")
"""Columns of the shares of an error: what vectors, clusters and attribute words give."""


def findings_of(result: CovariateContrast, prob: float, words: str) -> list[str]:
    """Sentences on values and differences that are known, on those that are not, and on what all this rests on."""
    rows, interval = result.table(prob, words)[asked_of(result)], f"{percent(prob)} interval"
    of: list[Any] = [result.design.questions[2].get(name) for name in rows["name"]]
    rows = rows.assign(of=of)
    rows["less"] = ["" if each is None else f" {each.less}" for each in rows["of"]]
    few = np.array([each is not None and each.clusters <= FEW for each in rows["of"]])
    clear, given = rows.apply(excludes_zero, axis=1), result.table(prob, "given")[asked_of(result)]
    opened, alone = rows[~clear & ~few], given.apply(excludes_zero, axis=1) & ~clear & ~few
    if differ(result):
        level, side = _level(result, prob, words)
        headline = [level] if level else []
        moved = sorted(_by_covariate(rows[clear & ~few]), key=lambda same: -same["mean"].abs().max())
        headline += [_moved(result, same, side, interval) for same in moved]
        headline += [_unknown(result, same, interval) for same in _by_covariate(opened)]
    else:
        headline = [_alone(result, row, interval) for _, row in rows.iterrows()]
    details = _largest_parts(result, opened)
    if few.any():
        count = int(few.sum())
        counted = f"{many(count, 'difference')} of {subject_of(result)[0]} (below 0: nearer to {result.ends[0]})"
        on = f"{agreed(count, 'rests', 'rest')} on few {result.design.noun}s, and no direction is named"
        details.append(f"{counted} {on}: {_few(result, rows[few], interval)}.")
    if alone.any():
        listing = "; ".join(f"{ends_of(given.loc[at])}{rows.loc[at, 'less']}" for at in rows.index[alone])
        details.append(f"For these attribute words alone the interval excludes 0: {listing}.")
    vectors = many(int(result.design.vectors.n.sum()), "vector")
    details.append(f"This rests on {vectors} of {many(result.design.clusters, result.design.noun)}.")
    details += _equally(result, rows[~few], prob, words)
    return [" ".join(headline), *details] if headline else details


def subject_of(result: CovariateContrast) -> tuple[str, str]:
    """The target in sentences, and its verb."""
    return (f"the words of {result.target!r}", "are") if len(result.design.groups) > 1 else (repr(result.target), "is")


def _level(result: CovariateContrast, prob: float, words: str) -> tuple[str, float]:
    """A sentence on the values, and the sign of all of them, or 0; no sentence where fewer than two are known."""
    names, weights = result.design.places
    if len(names) < 2:
        return "", 0.0
    terms = result.estimates(words)[(result.index["quantity"] == "coefficient").to_numpy()]
    values = terms.combine(weights, pd.DataFrame({"name": names})).summary(prob)
    signs, clear = set(np.sign(values["mean"])), values.loc[values.apply(excludes_zero, axis=1), "name"].tolist()
    side = signs.pop() if len(signs) == 1 else 0.0
    subject, verb = subject_of(result)
    # only where every interval excludes 0 the side is a fact
    who = f"{subject} {verb}" if side and len(clear) == len(values) else f"the estimates of {subject} are"
    sides = f"the side of {result.ends[int(side > 0)]}" if side else "both sides"
    where = f"{sides} {_values(result, 'for every' if side else 'by')}"
    figures = [f"{signed(row['mean'])} ({row['name']})" for _, row in values.iterrows()]
    low, high = figures[values["mean"].argmin()], figures[values["mean"].argmax()]
    said = ", ".join(figures) if len(figures) <= FEW else f"from {low} to {high}"
    known = f" ({'; '.join(clear)})" if 0 < len(clear) <= FEW else ""
    count = "each" if len(clear) == len(values) else f"{len(clear) or 'none'} of {len(values)}{known}"
    return _sentence(f"{who} on {where}: {said}; the {percent(prob)} interval excludes 0 for {count}"), side


def _values(result: CovariateContrast, by: str) -> str:
    """Which values a sentence is on; ``by`` goes before the covariates."""
    design, values = result.design, int((result.index["quantity"] == "value").sum())
    few = len(design.places[0]) < bool(design.levels) * values + 2 * len(design.numbers)
    of = f" of more than {FEW} {design.noun}s" if few else ""
    parts = [f"{by} {' and '.join(design.levels)}{of}"] if design.levels else []
    parts += [f"along {' and '.join(design.numbers)}"] if design.numbers else []
    return " and ".join(parts)


def _moved(result: CovariateContrast, rows: pd.DataFrame, side: float, interval: str) -> str:
    """Where the target is nearer to a list, and by how much; ``side`` is the sign of all values, or 0."""
    of, above = rows["of"].iloc[0], rows["mean"].iloc[0] > 0
    (subject, verb), (end, other) = subject_of(result), result.ends[::-1] if above else result.ends
    said = f"{subject} {verb} nearer to {end}, relative to {other},"
    if of.between:
        moves = "moves" if verb == "is" else "move"
        said = f"from {of.between[0]} to {of.between[1]} {subject} {moves} further to {end}, relative to {other},"
    elif side:
        said = f"this is {'more' if (side > 0) == above else 'less'} so"
    others = " and ".join(f"for {each.other}" for each in rows["of"])
    sizes = " and ".join(f"by {_size(row, interval)}" for _, row in rows.iterrows())
    return _sentence(f"{said} {others} than for {of.first}{of.at}: {sizes}")


def _unknown(result: CovariateContrast, rows: pd.DataFrame, interval: str) -> str:
    """A sentence on differences from one value whose intervals include 0."""
    of, others = rows["of"].iloc[0], [each.other for each in rows["of"]]
    on = f"on {subject_of(result)[0]}"
    whom = f"{others[0]} and {of.first} differ {on}"
    if of.between:
        whom = f"the difference of {of.other} and {of.first} {on} changes from {of.between[0]} to {of.between[1]}"
    elif len(others) > 1:
        whom = f"{' or '.join(others)} differ from {of.first} {on}"
    figures = " and ".join(f"{signed(row['mean'])} ({interval} {ends_of(row)})" for _, row in rows.iterrows())
    return f"Whether {whom}{of.at} is not known: {figures}."


def _alone(result: CovariateContrast, row: pd.Series[Any], interval: str) -> str:
    """Which list the target is nearer to, where nothing is compared, or that this is not known."""
    (subject, verb), (end, other) = subject_of(result), result.ends if row["mean"] < 0 else result.ends[::-1]
    if not excludes_zero(row):
        figure = f"{signed(row['mean'])} ({interval} {ends_of(row)})"
        return _sentence(f"{subject} {verb} not clearly nearer to {result.ends[0]} or to {result.ends[1]}: {figure}")
    than = f" than to {other}"
    if result.centre is not None:
        than = f", relative to {other}, than the vocabulary is on average"
    size, _, brackets = _size(row, interval).partition(" ")
    return _sentence(f"{subject} {verb} {size} nearer to {end}{than} {brackets}")


def _size(row: pd.Series[Any], interval: str) -> str:
    """The size of a difference whose interval excludes 0."""
    edge = "; it ends next to 0" if barely(row) else ""
    return f"{signed(abs(row['mean']))} ({interval} of the difference {ends_of(row)}{edge})"


def _largest_parts(result: CovariateContrast, rows: pd.DataFrame) -> list[str]:
    """The largest share of the errors of intervals that include 0, and what would lessen it."""
    largest, sentences = rows[list(SHARES)].idxmax(axis=1), list[str]()
    for column, (of, remedy) in parts_of(result).items():
        if (largest == column).any():
            own = rows[largest == column]
            low, high = (f"{100 * value:.0f}" for value in (own[column].min(), own[column].max()))
            part = f"{low}%" if low == high else f"{low} to {high}%"
            whose = " and".join(own["less"])
            sentences.append(
                f"The largest part of the error{whose} ({part}) comes from {of}; {remedy} would lessen it."
            )
    return sentences


def _equally(result: CovariateContrast, rows: pd.DataFrame, prob: float, words: str) -> list[str]:
    """A sentence on estimates that equal weights move by more than chance: who talks more may talk in another way.

    As the weights are those of least variance, the variance of the move is the difference of both (Hausman 1978).
    """
    given, equal = (result.estimates("given", speakers).sd[rows.index] for speakers in SPEAKERS)
    chance = ndtri((1 + prob) / 2) * np.sqrt(np.maximum(equal**2 - given**2, 0.0))
    moved = (rows["equal"] - rows["mean"]).abs() > np.maximum(chance, given)
    ends = result.estimates(words, "equal").summary(prob).loc[rows.index]
    figures = [
        f"{signed(row['equal'])} ({percent(prob)} interval {ends_of(own)}){row['less']}, not {signed(row['mean'])}"
        for (_, row), (_, own) in zip(rows[moved].iterrows(), ends[moved].iterrows(), strict=True)
        if excludes_zero(row) or excludes_zero(own) or not own["low"] < row["mean"] < own["high"]
    ]
    noun = result.design.noun
    said = f"Equal weights for all {noun}s give another figure: {'; '.join(figures)}."
    return [f"{said} The effect may depend on how much each {noun} says."] if figures else []


def _few(result: CovariateContrast, rows: pd.DataFrame, interval: str) -> str:
    """Differences of which a side has few clusters."""
    return "; ".join(
        f"{signed(row['mean'])}{row['less']} ({interval} {ends_of(row)}; "
        f"{many(row['of'].clusters, result.design.noun)} with {row['of'].side})"
        for _, row in rows.iterrows()
    )


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _by_covariate(rows: pd.DataFrame) -> list[pd.DataFrame]:
    """Differences from one value of a covariate, apart by their signs where their intervals exclude 0."""
    keys = [
        (of.covariate, of.between, of.between and of.other, excludes_zero(row) and row["mean"] > 0)
        for of, (_, row) in zip(rows["of"], rows.iterrows(), strict=True)
    ]
    return [rows[[key == each for each in keys]] for key in dict.fromkeys(keys)]


def differ(result: CovariateContrast) -> bool:
    """True where values are compared."""
    return bool((result.index["quantity"] == "difference").any())


def asked_of(result: CovariateContrast) -> NDArray[np.bool_]:
    """Differences among what is asked, or the values where there are none, (m,)."""
    kind = "difference" if differ(result) else "value"
    asked: NDArray[np.bool_] = result.index["quantity"].eq(kind).to_numpy(dtype=bool)
    return asked


def parts_of(result: CovariateContrast) -> dict[str, tuple[str, str]]:
    """Columns of the shares of an error, what each is of, and what would lessen it."""
    noun, known = result.design.noun, result.design.vectors.errors is not None
    of_instances = (
        ("vectors", "vectors of a larger corpus") if known else ("instances", f"more instances of each {noun}")
    )
    names = (of_instances, (f"{noun}s", f"more {noun}s"), ("attribute words", "further attribute words"))
    return dict(zip(SHARES, names, strict=True))


def sides_of(result: CovariateContrast, most: int) -> list[str]:
    """The lists by their names and words, no more than ``most`` of each."""
    return [
        listed(words, most) if name == cut(words) else f"{name} ({listed(words, most)})"
        for name, words in result.lists.items()
    ]


def cut(words: Sequence[str]) -> str:
    """The first two words as the name of a list."""
    return ", ".join([*words[:2], *(["…"] if len(words) > 2 else [])])
