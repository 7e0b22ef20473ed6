"""What a fit says in sentences, with its uncertainty."""

from __future__ import annotations

import pandas as pd
import xarray as xr

from bayesbias._phrases import MINUS, difference, ends_of, excludes_zero, percent, share, signed
from bayesbias.checks.convergence import Verdict, diagnose
from bayesbias.checks.summaries import PROB
from bayesbias.comparison import (
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
from bayesbias.comparison.associations import SIGN_RATE
from bayesbias.errors import InputError, listed, many
from bayesbias.models.families import family_of
from bayesbias.models.results import Fit
from bayesbias.models.weights import DIFFERENCE
from bayesbias.words import OTHER, PHRASES, labelled

CANNOT_TELL = "Which protected words are closer or farther cannot be told"


def verdict_sentences(post: xr.DataTree, prob: float = PROB, verdict: Verdict | None = None) -> list[str]:
    """What a fit says about the whole word list, and the reservations that belong to it.

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
    """What a fit's model takes for granted, and whether its numbers are scores."""
    record = result.data.coverage
    scores = () if record is None else record.on_scores
    taken = family_of(result.spec).reservation
    return (*scores, taken) if taken else scores


def contrast_sentences(result: Fit, prob: float) -> list[str]:
    """What a fit says about its contrasts, the headline first."""
    if result.posterior.sizes["protected_word"] == 1:
        return ["There is one protected word only: read its own contrasts, there is no list to speak about."]
    others = beside_associated(result)
    if not others:
        present = ", ".join(str(name) for name in result.posterior["connection"].to_numpy())
        return [f"The table holds {present} distances only: there is no contrast of associated words to report."]
    sentences, named = [_contrast_sentence(result, others[0], prob)], others[:1]
    if OTHER not in others:
        sentences.append(ONE_GROUP)
    for control in decomposable_controls(result)[:1]:
        sentences.append(decomposition_sentence(decomposition(result.tree, control, prob)))
        named.append(control)
    for other in (name for name in others if name not in named):
        table = contrasts(result.tree, "associated", other, prob=prob)
        row, labels = table.iloc[0], result.labels
        sentences.append(
            f"Beside {labelled(other, labels, PHRASES)}, associated{MINUS}{labelled(other, labels)} is "
            f"{signed(row['mean'])} ({percent(prob)} interval {ends_of(row)}, which "
            f"{'excludes' if excludes_zero(row) else 'includes'} 0)."
        )
    return sentences


def effective_sentences(result: Fit) -> list[str]:
    """Effective numbers of words of the attribute lists of a fit; nothing where it does not know."""
    relatedness = result.data.relatedness
    if relatedness is None:
        return []
    table = relatedness.effective_words()
    lists = table[table["kind"] != "protected"].to_dict("records")
    labels = result.labels
    named = [f"{labels.get(row['list'], row['list'])} {row['effective']:.1f} of {row['words']}" for row in lists]
    return [f"Effective number of words, for the mean distance of each list: {'; '.join(named)}."]


def frequency_sentences(result: Fit, prob: float = PROB) -> list[str]:
    """Contrasts before they were adjusted for an attribute of words, if they were."""
    if "adjust" not in result.tree.attrs:
        return []
    labels = result.labels
    parts = [
        f"{difference(labelled(row['contrast'], labels))} was {signed(row['raw'])} "
        f"({signed(row['raw_low'])} to {signed(row['raw_high'])})"
        for row in adjustment(result.tree, prob).to_dict("records")
    ]
    return [f"Before distances were adjusted for {result.tree.attrs['adjust']}, {'; '.join(parts)}."] if parts else []


def _contrast_sentence(result: Fit, other: str, prob: float) -> str:
    """Yes, no or inconclusive; how much; for whom."""
    table = contrasts(result.tree, "associated", other, prob=prob)
    kind = labelled(other, table.attrs.get("labels", {}), PHRASES)
    row, similar = table.iloc[0], contrasts(result.tree, "associated", other, prob=prob, population=SIMILAR).iloc[0]
    closer = row["mean"] < 0
    certainty = float(row["p_closer"]) if closer else 1 - float(row["p_closer"])
    direction, far = ("closer", "to") if closer else ("farther", "from")
    size = f"{abs(row['mean']):.3f}"
    what = f"they are {size} {direction} {far} their own" if float(size) else "there is no difference"
    return (
        f"{answered(_answer(row, kind), result)} On average {what} "
        f"({percent(prob)} interval of the difference {ends_of(row)} for {POPULATIONS[GIVEN]}, {ends_of(similar)} for "
        f"further protected words like these; probability of {direction}: {share(certainty)}). "
        f"{words_sentence(table)}"
    )


def words_sentence(table: pd.DataFrame) -> str:
    """For which protected words the sign of the association, or of the difference, is clear."""
    count, signs = len(table) - 1, table.attrs["signs"]
    against = labelled(table.attrs["second"], table.attrs.get("labels", {}), PHRASES)
    what = f"difference from {against}" if table.attrs["rows"] == DIFFERENCE else "association"
    if not excludes_zero(table.iloc[0]):
        return f"{CANNOT_TELL}: the interval of the whole list includes 0."
    named = [f"{len(names)} {name}" + (f" ({listed(names)})" if names else "") for name, names in signs.items()]
    clear = sum(map(len, signs.values()))
    if not clear:
        return f"{CANNOT_TELL}: the sign of no {what} is clear."
    sentence = (
        f"The sign of the {what} is clear for {clear} of {many(count, 'protected word')}: {', '.join(named)}; "
        f"{count - clear} inconclusive."
    )
    if clear:
        sentence += (
            f" By the model, fewer than {percent(SIGN_RATE)} of these signs are expected to be wrong; in simulations "
            "more are where the interval of the whole list only just excludes 0."
        )
    if table.attrs["rows"] == DIFFERENCE and table.attrs["second"] == OTHER:
        sentence += " These differences also hold how near the lists are to all protected words."
    return sentence


def answered(answer: str, result: Fit) -> str:
    """An answer with what belongs to every answer of the fit's model."""
    return f"{answer} {family_of(result.spec).caution}".rstrip()


def _answer(row: pd.Series, kind: str) -> str:
    """Whether protected words are closer to their own stereotypes than to other words."""
    if row["high"] < 0:
        return f"Yes: on average these protected words are closer to their own stereotypes than to {kind}."
    if row["low"] > 0:
        return f"No: on average these protected words are farther from their own stereotypes than from {kind}."
    return (
        f"Inconclusive: whether these protected words are closer to their own stereotypes than to {kind}. The "
        "interval includes 0."
    )
