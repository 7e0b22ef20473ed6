"""The verdict of a fit in sentences, with its uncertainty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import xarray as xr

from bayesbias._support.phrases import barely, ends_of, excludes_zero, percent, share_of_draws, signed
from bayesbias._support.prose import Prose
from bayesbias.checks.convergence import Verdict, diagnose
from bayesbias.checks.summaries import PROB
from bayesbias.checks.word_lists import outlying
from bayesbias.contrast import (
    GIVEN,
    ONE_GROUP,
    POPULATIONS,
    SIMILAR,
    adjustment,
    beside_associated,
    contrasts,
    decomposable_controls,
    decomposition,
    decomposition_sentence,
)
from bayesbias.contrast.associations import SIGN_RATE, equal_groups, rows_of
from bayesbias.distances.list_coverage import too_short
from bayesbias.errors import InputError
from bayesbias.models.families import family_of, functionals_of
from bayesbias.models.tree import Fit
from bayesbias.models.weights import (
    DIFFERENCE,
    GROUPS,
    RAW,
    cells_of,
    nearness_weights,
    whole_weights,
    why_no_association,
)
from bayesbias.words import OTHER, OWN, PHRASES, controls_of, labelled

WORDS = Prose("fit")
SLIGHT = 0.1
"""Standard deviations of control words' mean distances below which a difference is hardly any."""


def verdict_sentences(post: xr.DataTree, prob: float = PROB, verdict: Verdict | None = None) -> list[str]:
    """The verdict of a fit on the whole word list, and the reservations that belong to it.

    First whether protected words are closer to their own stereotypes than to those of other groups, by how much, and
    for which of them. Then how much of the contrast with words for people is special to own stereotypes, and how much
    stereotype words of any kind share. Then neutral words.

    Parameters
    ----------
    post
        A result of :func:`fit`.
    prob
        Posterior mass of the intervals.
    verdict
        The result of :func:`diagnose`, if there is one.

    Examples
    --------
    >>> post = bb.fit(bb.distance_table("google-news-slice", "weat7"), seed=0)
    >>> bb.checks.verdict_sentences(post)[0].split(":")[0]
    'Inconclusive'
    """
    result = Fit.read(post)
    verdict = diagnose(post) if verdict is None else verdict
    if not isinstance(verdict, Verdict):
        raise InputError(f"verdict is {type(verdict).__name__}: give what diagnose returns")
    sentences = [
        *([] if verdict.ok else [verdict.headline()]),
        *contrast_sentences(result, prob),
        *effective_sentences(result),
        *frequency_sentences(result, prob),
        *verdict.notes,
        *reservations(result),
    ]
    return list(dict.fromkeys(sentences))


def reservations(result: Fit) -> tuple[str, ...]:
    """Assumptions of a fit's model."""
    reservation = family_of(result.spec).reservation
    return (reservation,) if reservation else ()


def contrast_sentences(result: Fit, prob: float) -> list[str]:
    """Sentences on the contrasts of a fit, the headline first."""
    if result.posterior.sizes["protected_word"] == 1:
        return [WORDS.one_word()]
    others = beside_associated(result)
    if not others:
        return [WORDS.nothing_associated(present=result.posterior["connection"].to_numpy().tolist())]
    sentences, named = [_headline(result, others[0], prob)], others[:1]
    if OTHER not in others:
        sentences.append(ONE_GROUP)
    for control in decomposable_controls(result)[:1]:
        sentences.append(decomposition_sentence(decomposition(result.tree, control, prob)))
        named.append(control)
    for other in (name for name in others if name not in named):
        row = contrasts(result.tree, "associated", other, prob).iloc[0].to_dict()
        phrase, label = labelled(other, result.labels, PHRASES), labelled(other, result.labels)
        sentences.append(WORDS.beside_control(phrase=phrase, label=label, row=row, mass=percent(prob)))
    return sentences


def effective_sentences(result: Fit) -> list[str]:
    """Effective numbers of words of the attribute lists of a fit; nothing where it does not know."""
    relatedness = result.data.relatedness
    if relatedness is None:
        return []
    table = relatedness.effective_words()
    table["label"] = [result.labels.get(name, name) for name in table["list"]]
    lists = table[table["kind"] != "protected"]
    return [WORDS.effective_words(lists=lists.to_dict("records")), *outlying(table.assign(list=table["label"]))]


def frequency_sentences(result: Fit, prob: float = PROB) -> list[str]:
    """Contrasts before they were adjusted for an attribute of words, if they were."""
    if "adjust" not in result.tree.attrs:
        return []
    rows = adjustment(result.tree, prob)
    rows["label"] = [labelled(contrast, result.labels) for contrast in rows["contrast"]]
    return [WORDS.before_adjustment(by=result.tree.attrs["adjust"], rows=rows.to_dict("records"))] if len(rows) else []


def whole(table: pd.DataFrame) -> dict[Any, Any]:
    """The whole list of a table of contrasts, with how probable the direction of its mean is."""
    row = table.iloc[0].to_dict()
    return {**row, "probability": _probability(row, row)}


def _probability(row: Any, of: Any) -> float:
    """The probability, in a row, of the direction of the mean of ``of``."""
    return float(row["p_closer"] if of["mean"] < 0 else 1 - row["p_closer"])


def _headline(result: Fit, other: str, prob: float) -> str:
    """Yes, no or inconclusive; how much; for whom."""
    table, short = contrasts(result.tree, "associated", other, prob=prob), shortness(result)
    by_group = {} if short else rows_of_groups(result, table)
    return WORDS.verdict(
        row=whole(table),
        short=short,
        size=round(abs(table["mean"].iloc[0]), 3),
        further=beside_given(table.iloc[0], of_further_words(result, other, prob)),
        other=labelled(other, table.attrs.get("labels", {}), PHRASES),
        caution=" ".join(filter(None, [without_stereotypes(result, table), family_of(result.spec).caution])),
        population=POPULATIONS[GIVEN],
        mass=percent(prob),
        told="" if short else words_sentence(table),
        edge=barely(table.iloc[0]),
        slight=slight(table),
        opposed=opposed_groups(table, by_group),
        by_group=by_group_sentence(result, by_group),
        equal=equal_sentence(result, other),
    )


def without_stereotypes(result: Fit, table: pd.DataFrame) -> str:
    """Sentence on groups whose words have no row in a table of contrasts; empty where each has."""
    known = set(table["group"].iloc[1:].dropna())
    lost = [name for name in dict.fromkeys(result.data.groups.tolist()) if name and name not in known]
    return WORDS.without_stereotypes(groups=lost) if known and lost else ""


def equal_sentence(result: Fit, other: str) -> str:
    """Sentence on groups whose words are equally far from everything; empty for others."""
    return WORDS.equal_groups() if other == OTHER and equal_groups(result.data) else ""


def rows_of_groups(result: Fit, table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Groups of a table of contrasts by themselves, in the two ways to compare them; none of fewer than two groups."""
    groups = table["group"].iloc[1:]
    if groups.isna().any() or len(groups.unique()) < 2 or table.attrs["second"] != OTHER:
        return {}
    every = {
        rows: contrasts(result.tree, OWN, OTHER, table.attrs["prob"], by="group", rows=rows)
        for rows in (DIFFERENCE, GROUPS)
    }
    return {rows: found[found["group"].isin(groups)] for rows, found in every.items()}


def opposed_groups(table: pd.DataFrame, by_group: Mapping[str, pd.DataFrame]) -> list[str]:
    """Groups that lie on the other side of 0 than the whole list in both ways."""
    if not by_group or slight(table) or not excludes_zero(table.iloc[0]):
        return []
    every = [rows.set_index("group") for rows in by_group.values()]
    sides = [rows["low"] > 0 if table["mean"].iloc[0] < 0 else rows["high"] < 0 for rows in every]
    return sides[0].index[sides[0] & sides[1]].tolist()


def by_group_sentence(result: Fit, by_group: Mapping[str, pd.DataFrame]) -> str:
    """Groups by themselves in numbers; empty of fewer than two."""
    every = {rows: found.to_dict("records") for rows, found in by_group.items()}
    controls = bool(controls_of(result.data.connections.tolist()))
    return WORDS.by_group(differences=every.get(DIFFERENCE, []), beside=every.get(GROUPS, []), controls=controls)


def slight(table: pd.DataFrame) -> bool:
    """True where the interval of the whole list excludes 0, and lies next to it in standard deviations of controls."""
    row, size = table.iloc[0], table.attrs["standardised"]
    if size is None or not excludes_zero(row):
        return False
    return bool(max(abs(row["low"]), abs(row["high"])) * abs(size / row["mean"]) < SLIGHT)


def shortness(result: Fit) -> str:
    """Why the lists of a fit are too short for an answer on the whole list; empty where they are not."""
    table = result.data.to_frame()
    own = table[table["connection"] == OWN]
    sizes = own.groupby("group", sort=False, observed=True)["attribute_word"].nunique()
    return too_short(table["protected_word"].nunique(), {str(group): int(size) for group, size in sizes.items()})


def of_further_words(result: Fit, other: str, prob: float) -> dict[Any, Any] | None:
    """The contrast for further protected words, where the fit knows of them."""
    if not result.knows_further:
        return None
    return whole(contrasts(result.tree, "associated", other, prob=prob, population=SIMILAR))


def nearness_of_lists(result: Fit, other: str) -> float | None:
    """The largest nearness of the lists to all words, where it varies over words more than associations do."""
    cells = cells_of(result.data)
    if other != OTHER or why_no_association(result.data, cells):
        return None
    weights = nearness_weights(cells, whole_weights(result.data, cells.associated))
    lists = cells.own[cells.associated] - cells.connections
    near = functionals_of(result, cells, weights).mean[lists]
    own = rows_of(result, OWN, OTHER, rows=RAW).words.mean
    return float(abs(near).max()) if near.std() > own.std() else None


def beside_given(row: Any, further: Any) -> str:
    """The end of a sentence on a contrast of given words, for further ones: their mean only where it is another.

    The probability is that of the direction of the given words.
    """
    if further is None:
        return ""
    whom, probability = "for further protected words like these", share_of_draws(_probability(further, row))
    numbers = f"{ends_of(further)}, {probability}"
    if signed(further["mean"]) == signed(row["mean"]):
        return f"; {numbers}, {whom}"
    return f"; {whom}, where words and not groups and lists weigh the same, {signed(further['mean'])}, {numbers}"


def words_sentence(table: pd.DataFrame) -> str:
    """For which protected words the sign of the association, or of the difference, is clear."""
    signs, second, differ = table.attrs["signs"], table.attrs["second"], table.attrs["rows"] == DIFFERENCE
    words, clear = len(table) - 1, sum(map(len, signs.values()))
    return WORDS.words_told(
        whole=table.iloc[0],
        words=words,
        other=labelled(second, table.attrs.get("labels", {}), PHRASES) if differ else "",
        signs=signs,
        clear=clear,
        unclear=words - clear,
        wrong=SIGN_RATE,
        alone=table.attrs["alone"],
        turned=table.attrs["turned"],
        further=int(((table["low"] > 0) | (table["high"] < 0)).iloc[1:].sum()) - clear,
        hold_nearness=differ and second == OTHER,
        edge=barely(table.iloc[0]),
    )
