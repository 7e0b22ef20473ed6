"""What a fit says in sentences, with its uncertainty."""

from __future__ import annotations

import xarray as xr

from bayesbias.comparison import GIVEN, POPULATIONS, SIMILAR, beside_associated, contrasts, signed
from bayesbias.diagnostics.convergence import Verdict, diagnose
from bayesbias.diagnostics.intervals import PROB, share
from bayesbias.distances.storage import relatedness_in_fit
from bayesbias.models.fitting import UNRELATED
from bayesbias.models.results import check_fit

KINDS = {
    "human": "words for people in general",
    "neutral": "neutral words",
    "different": "the stereotypes of other groups",
}


RESERVATIONS = {
    "independent": (
        "This model treats distances that share an attribute word as independent. They are not, so its intervals "
        "are narrower than they should be; take an interval that only just excludes 0 as undecided.",
    ),
    "modelled": (UNRELATED,),
}


def verdict_sentences(post: xr.DataTree, prob: float = PROB, verdict: Verdict | None = None) -> list[str]:
    """What a fit says about the whole word list, one sentence a contrast, and the reservations that belong to it.

    Parameters
    ----------
    post
        A result of :func:`fit`.
    prob
        Posterior mass of the intervals.
    verdict
        The result of :func:`diagnose`, if it is at hand.
    """
    check_fit(post)
    others = beside_associated(post)
    one = post["posterior"].sizes["protected_word"] == 1
    verdict = diagnose(post) if verdict is None else verdict
    sentences = [] if verdict.ok else [verdict.headline()]
    if not one:
        sentences += [_contrast_sentence(post, other, KINDS[other], prob) for other in others]
    if one:
        sentences.append("There is one protected word only: read its own contrasts, there is no list to speak about.")
    elif not others:
        present = ", ".join(str(name) for name in post["posterior"]["connection"].to_numpy())
        sentences.append(
            f"The table holds {present} distances only: there is no contrast of associated words to report."
        )
    sentences += effective_sentences(post)
    sentences += verdict.notes
    sentences += RESERVATIONS.get(post.attrs.get("attribute_words", ""), ())
    return list(dict.fromkeys(sentences))


def effective_sentences(post: xr.DataTree) -> list[str]:
    """How many unrelated words the attribute lists of a fit are worth; nothing where it does not know."""
    found = relatedness_in_fit(post)
    if found is None:
        return []
    table = found.effective_words()
    lists = table[table["kind"] != "protected"].to_dict("records")
    named = [f"{row['list']} {row['words']} words, worth {row['effective']:.1f}" for row in lists]
    return [
        "Words of one topic tell less than their number. As many unrelated words would tell as much about a list's "
        f"mean distance: {'; '.join(named)}."
    ]


def _contrast_sentence(post: xr.DataTree, other: str, phrase: str, prob: float) -> str:
    table = contrasts(post, "associated", other, prob=prob)
    row, similar = table.iloc[0], contrasts(post, "associated", other, prob=prob, population=SIMILAR).iloc[0]
    closer = row["mean"] < 0
    certainty = float(row["p_below_zero"]) if closer else 1 - float(row["p_below_zero"])
    direction, far = ("closer", "to") if closer else ("farther", "from")
    settled = row["hdi_high"] < 0 or row["hdi_low"] > 0
    words = table.iloc[1:]
    nearer, further = int((words["hdi_high"] < 0).sum()), int((words["hdi_low"] > 0).sum())
    return (
        f"These protected words are on average {abs(row['mean']):.3f} {direction} {far} their own stereotypes "
        f"than {far} {phrase} ({100 * prob:g}% interval of the difference {signed(row['hdi_low'])} to "
        f"{signed(row['hdi_high'])} for {POPULATIONS[GIVEN]}, {signed(similar['hdi_low'])} to "
        f"{signed(similar['hdi_high'])} for further protected words like these; probability of {direction}: "
        f"{share(certainty)}). "
        f"{'The interval excludes 0' if settled else 'The interval includes 0, so the direction is not settled'}; "
        f"of {len(words)} protected words {nearer} are closer, {further} farther and {len(words) - nearer - further} "
        "undecided."
    )
