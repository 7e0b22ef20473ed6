"""The study's three kinds of reliability: over seeds, over measures, over words and pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayesbias._checks import flag, one_of, probability, whole_number
from bayesbias._core.cosine import FloatArray
from bayesbias._core.icc import FORMS, Estimate, icc
from bayesbias._core.icc_bootstrap import FEWEST, bootstrap_icc
from bayesbias.diagnostics.intervals import PROB
from bayesbias.errors import InputError, listed
from bayesbias.words import words_given

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

DIMS = ("measure", "target", "base_pair", "seed")
EVERY = "all"
ALPHA = "ICC(3,k)"
"""Coefficient alpha, in the notation of Shrout and Fleiss."""
Interval = Literal["f", "bootstrap"]
SAMPLES = 1000
NOTES = {
    "f": (
        "The intervals take scores for normal: where they have heavy tails (Student's t with 4 degrees of freedom), "
        "89% intervals hold the truth in 64 to 88% of tables. interval='bootstrap' does not.",
    ),
    "bootstrap": (
        "The intervals are a percentile-t bootstrap: 89% intervals hold the truth in 81 to 91% of tables, whether "
        "scores are normal or have heavy tails.",
    ),
}
"""What the two kinds of interval are worth, as simulated."""
CONSTANT = "the scores do not vary, so that nothing tells reliable from unreliable"


def retest_reliability(
    scores: xr.DataArray,
    of: Literal["target", "base_pair"] = "target",
    form: str = "ICC(2,1)",
    prob: float = PROB,
    interval: Interval = "f",
    seed: int = 0,
) -> pd.DataFrame:
    """Whether bias scores are the same when the embedding is trained with another seed.

    For each measure and each target word a table of base pairs (rows) by seeds (columns); for each measure and each
    base pair one of target words by seeds.

    Parameters
    ----------
    scores
        What :func:`bias_scores` returns.
    of
        ``"target"`` or ``"base_pair"``.
    form
        An intraclass correlation of Shrout and Fleiss; the study takes ICC(2,1), agreement of single seeds.
    prob
        Coverage of the confidence intervals.
    interval
        ``"f"`` takes the rows' scores for normal: with heavy tails (Student's t, 4 degrees of freedom) its intervals
        of 89% hold the truth in 64 to 88% of simulated tables, the fewer the more rows (10 to 150), and in 86 to 92%
        with normal ones. ``"bootstrap"`` draws rows with replacement (1,000 samples, percentile-t), needs ten rows, and
        holds it in 81 to 88% and 85 to 91%. ``attrs["notes"]`` says so.
    seed
        Seed of the bootstrap.

    Returns
    -------
    DataFrame
        ``measure``, ``label``, ``value``, ``low``, ``high`` and ``reason`` (why there is no value).

    Raises
    ------
    InputError
        No scores of :func:`bias_scores`, one seed only, or a single row.

    References
    ----------
    Du, Y., Fang, Q. and Nguyen, D. (2021). Assessing the reliability of word embedding gender bias measures. EMNLP.
    https://doi.org/10.18653/v1/2021.emnlp-main.785
    """
    import pandas as pd

    check_scores(scores)
    one_of(of, ("target", "base_pair"), "of")
    one_of(form, FORMS, "form")
    prob = probability(prob, "prob")
    rows = "base_pair" if of == "target" else "target"
    _enough(scores, "seed", "the reliability over seeds")
    _enough(scores, rows, f"the reliability of a {of.replace('_', ' ')}")
    values = _values(scores, "measure", of, rows, "seed")
    found = _estimate(values, form, prob, interval, seed, rows.replace("_", " "))
    parts = [
        _table(scores[of].to_numpy(), *(end[at] for end in found)).assign(measure=measure)
        for at, measure in enumerate(scores["measure"].to_numpy())
    ]
    table = pd.concat(parts, ignore_index=True)[["measure", "label", "value", "low", "high", "reason"]]
    table.attrs["notes"] = NOTES[interval]
    return table


def inter_rater_consistency(
    scores: xr.DataArray,
    of: Literal["target", "base_pair"] = "target",
    standardise: bool = False,
    form: str = "ICC(3,1)",
    prob: float = PROB,
    interval: Interval = "f",
    seed: int = 0,
) -> pd.DataFrame:
    """Whether the measures agree, their scores averaged over seeds.

    For each target word a table of base pairs (rows) by measures (columns); for each base pair one of target words by
    measures.

    Parameters
    ----------
    scores
        What :func:`bias_scores` returns, with at least two measures.
    of
        ``"target"`` or ``"base_pair"``.
    standardise
        Whether each measure is first brought to mean 0 and standard deviation 1 over all words and pairs. On raw scores
        the measures disagree because their units differ: NBM varies some five times as much as DB/WA.
    form
        An intraclass correlation of Shrout and Fleiss; the study takes ICC(3,1), consistency of these measures.
    prob
        Coverage of the confidence intervals.
    interval
        ``"f"`` takes the rows' scores for normal: with heavy tails (Student's t, 4 degrees of freedom) its intervals
        of 89% hold the truth in 64 to 88% of simulated tables, the fewer the more rows (10 to 150), and in 86 to 92%
        with normal ones. ``"bootstrap"`` draws rows with replacement (1,000 samples, percentile-t), needs ten rows, and
        holds it in 81 to 88% and 85 to 91%. ``attrs["notes"]`` says so.
    seed
        Seed of the bootstrap.

    Returns
    -------
    DataFrame
        ``label``, ``value``, ``low``, ``high`` and ``reason``.

    Raises
    ------
    InputError
        No scores of :func:`bias_scores`, one measure only, or a single row.
    """
    check_scores(scores)
    one_of(of, ("target", "base_pair"), "of")
    one_of(form, FORMS, "form")
    prob = probability(prob, "prob")
    rows = "base_pair" if of == "target" else "target"
    _enough(scores, "measure", "the agreement of measures")
    _enough(scores, rows, f"the agreement on a {of.replace('_', ' ')}")
    values = _values(scores, "measure", "target", "base_pair", "seed").mean(axis=3)
    if flag(standardise, "standardise"):
        constant = [name for name, one in zip(scores["measure"].to_numpy(), values, strict=True) if np.ptp(one) == 0]
        if constant and len(constant) < len(values):
            raise InputError(f"the scores of {constant[0]} do not vary and cannot be standardised: leave it out")
        values = standardised(values)
    ordered = values.transpose((1, 2, 0) if of == "target" else (2, 1, 0))
    table = _table(scores[of].to_numpy(), *_estimate(ordered, form, prob, interval, seed, rows.replace("_", " ")))
    table.attrs["notes"] = NOTES[interval]
    return table


def internal_consistency(
    scores: xr.DataArray,
    of: Literal["query", "base_pair"] = "query",
    queries: Mapping[str, Iterable[str]] | None = None,
    standardise: bool = False,
    prob: float = PROB,
    interval: Interval = "f",
    seed: int = 0,
) -> pd.DataFrame:
    """Whether the words of a query, or the base pairs of an ensemble, measure one thing; scores averaged over seeds.

    Coefficient alpha for each measure and query: with ``of="query"`` the words are the items and the base pairs the
    cases, with ``of="base_pair"`` the pairs are the items and the query's words the cases.

    Parameters
    ----------
    scores
        What :func:`bias_scores` returns.
    of
        ``"query"`` or ``"base_pair"``.
    queries
        Name to words; None takes all target words as one query, ``all``.
    standardise
        Whether every item is first brought to standard deviation 1 (standardised alpha).
    prob
        Coverage of the confidence intervals.
    interval
        ``"f"`` takes the rows' scores for normal: with heavy tails (Student's t, 4 degrees of freedom) its intervals
        of 89% hold the truth in 64 to 88% of simulated tables, the fewer the more rows (10 to 150), and in 86 to 92%
        with normal ones. ``"bootstrap"`` draws rows with replacement (1,000 samples, percentile-t), needs ten rows, and
        holds it in 81 to 88% and 85 to 91%. ``attrs["notes"]`` says so.
    seed
        Seed of the bootstrap.

    Returns
    -------
    DataFrame
        ``measure``, ``label`` (the query), ``value``, ``low``, ``high`` and ``reason``. ``attrs["notes"]`` names the
        words of queries without scores.

    Raises
    ------
    InputError
        No scores of :func:`bias_scores`, a query of which fewer than two words have scores, or a single base pair.
    """
    import pandas as pd

    check_scores(scores)
    one_of(of, ("query", "base_pair"), "of")
    prob, standardise = probability(prob, "prob"), flag(standardise, "standardise")
    _enough(scores, "base_pair", "internal consistency")
    known = scores["target"].to_numpy().tolist()
    values = _values(scores, "measure", "target", "base_pair", "seed").mean(axis=3)
    if queries is not None and not isinstance(queries, Mapping):
        raise InputError(f"queries is {queries!r}: give a mapping of names to words, or None for all words")
    parts, notes = [], []
    cases = "base pair" if of == "query" else "target"
    for name, words in ({EVERY: known} if queries is None else queries).items():
        kept, lost = _split(name, words, known)
        notes += [f"{len(lost)} words of {name} have no scores: {listed(lost)}."] if lost else []
        part = values[:, [known.index(word) for word in kept]]
        items = part.transpose(0, 2, 1) if of == "query" else part
        found = _estimate(_scaled(items) if standardise else items, ALPHA, prob, interval, seed, cases)
        table = _table(np.repeat(name, len(items)), *found)
        parts.append(table.assign(measure=scores["measure"].to_numpy()))
    if not parts:
        raise InputError("queries is empty: give names of queries and their words, or None for all words")
    table = pd.concat(parts, ignore_index=True)[["measure", "label", "value", "low", "high", "reason"]]
    table.attrs["notes"] = (*notes, *NOTES[interval])
    return table


def check_scores(scores: object, gaps: bool = False) -> None:
    """Refuse what :func:`bias_scores` did not return.

    Raises
    ------
    InputError
        Another type, other dimensions, or scores that are not finite (NaN may stand for gaps if ``gaps``).
    """
    if not hasattr(scores, "dims") or set(DIMS) != set(scores.dims):
        shown = f"dims {', '.join(map(str, scores.dims))}" if hasattr(scores, "dims") else type(scores).__name__
        raise InputError(f"given is {shown}: give what bias_scores returns, a DataArray with dims {', '.join(DIMS)}")
    values: Any = scores.values if hasattr(scores, "values") else scores  # noqa: PD011
    if not (np.isfinite(values) | (gaps & np.isnan(values))).all():
        raise InputError("the scores hold NaN or infinite numbers: leave those words, pairs or seeds out")


def standardised(values: FloatArray) -> FloatArray:
    """Scores (measure, ...) with mean 0 and population standard deviation 1 of each measure; one value stays 0."""
    rest = tuple(range(1, values.ndim))
    apart = values - np.nanmean(values, axis=rest, keepdims=True)
    spread = np.nanstd(apart, axis=rest, keepdims=True)
    scaled: FloatArray = np.divide(apart, spread, out=np.zeros_like(apart), where=spread > 0)
    return scaled


def _estimate(values: FloatArray, form: str, prob: float, interval: Interval, seed: int, rows: str) -> Estimate:
    """A coefficient of tables of ``rows`` with the interval that was asked for."""
    if one_of(interval, tuple(NOTES), "interval") == "f":
        return icc(values, form, prob)
    if (held := values.shape[-2]) < FEWEST:
        raise InputError(
            f"there are {held} {rows}s, and a bootstrap over them needs at least {FEWEST}: score more, or take "
            "interval='f'"
        )
    rng = np.random.default_rng(whole_number(seed, "seed", least=0))
    return bootstrap_icc(values, form, prob, SAMPLES, rng)


def _scaled(items: FloatArray) -> FloatArray:
    spread = items.std(axis=-2, ddof=1, keepdims=True)
    return np.divide(items, spread, out=np.zeros_like(items), where=spread > 0)


def _values(scores: xr.DataArray, *dims: str) -> FloatArray:
    return scores.transpose(*dims).to_numpy().astype(np.float64)


def _enough(scores: xr.DataArray, dim: str, what: str) -> None:
    if scores.sizes[dim] < 2:
        name = dim.replace("_", " ")
        raise InputError(f"there is one {name} only, and {what} needs at least two: score more")


def _split(name: str, words: Iterable[str], known: list[str]) -> tuple[list[str], list[str]]:
    """A query's words with and without scores."""
    asked = words_given(words, f"the query {name!r}")
    kept = [word for word in asked if word in known]
    if len(kept) < 2:
        raise InputError(
            f"{len(kept)} of the {len(asked)} words of the query {name!r} have scores, and internal consistency needs "
            "at least two: add its words to the targets of bias_scores"
        )
    return kept, [word for word in asked if word not in known]


def _reason(value: float, low: float) -> str | None:
    """Why a coefficient or its interval says nothing, or None."""
    if np.isnan(value):
        return CONSTANT
    if np.isinf(value):
        return "the mean scores do not vary, so that errors are all there is"
    return "its interval is not known: the approximation needs errors, and rows that differ" if np.isnan(low) else None


def _table(labels: np.ndarray, value: FloatArray, low: FloatArray, high: FloatArray) -> pd.DataFrame:
    import pandas as pd

    reason = [_reason(*row) for row in zip(value.tolist(), low.tolist(), strict=True)]
    return pd.DataFrame({"label": labels, "value": value, "low": low, "high": high, "reason": reason})
