"""What a fit says in sentences, with its uncertainty."""

from __future__ import annotations

import xarray as xr

from bayesbias.comparison import contrasts
from bayesbias.diagnostics.convergence import Verdict, diagnose
from bayesbias.diagnostics.intervals import PROB
from bayesbias.models.results import check_fit

KINDS = {
    "human": "words for people in general",
    "neutral": "neutral words",
    "different": "the stereotypes of other groups",
}
NARROW = {"published", "pooled", "baseline"}
"""Models that treat distances which share an attribute word as independent."""


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
    present = [str(name) for name in post["posterior"]["connection"].to_numpy()]
    sentences = []
    for other, phrase in KINDS.items():
        if "associated" in present and other in present:
            sentences.append(_contrast_sentence(post, other, phrase, prob))
    if not sentences:
        sentences.append(
            f"The table holds {', '.join(present)} distances only: there is no contrast of associated words to report."
        )
    if post.attrs.get("model") in NARROW:
        sentences.append(
            "This model treats distances that share an attribute word as independent. They are not, so its intervals "
            "are narrower than they should be; read a contrast near the edge of its interval as undecided."
        )
    verdict = diagnose(post) if verdict is None else verdict
    if not verdict.ok:
        sentences.insert(0, verdict.headline())
    return sentences


def _contrast_sentence(post: xr.DataTree, other: str, phrase: str, prob: float) -> str:
    table = contrasts(post, "associated", other, prob=prob)
    row = table.iloc[0]
    closer = row["mean"] < 0
    certainty = float(row["p_below_zero"]) if closer else 1 - float(row["p_below_zero"])
    direction = "closer" if closer else "farther"
    settled = row["hdi_high"] < 0 or row["hdi_low"] > 0
    words = table.iloc[1:]
    clear = int(((words["hdi_high"] < 0) | (words["hdi_low"] > 0)).sum())
    return (
        f"Protected words are on average {abs(row['mean']):.3f} {direction} to their own stereotypes than to {phrase} "
        f"({100 * prob:g}% interval of the difference {signed(row['hdi_low'])} to {signed(row['hdi_high'])}; "
        f"probability of {direction}: {share(certainty)}). "
        f"{'The interval excludes 0' if settled else 'The interval includes 0, so the direction is not settled'}; "
        f"it excludes 0 for {clear} of {len(words)} protected words."
    )


def share(value: float) -> str:
    """A probability in percent; never 0% or 100%, which draws cannot show."""
    return "> 99.9%" if value > 0.999 else "< 0.1%" if value < 0.001 else f"{100 * value:.1f}%"


def signed(value: float) -> str:
    """A number with three decimals and a proper minus sign."""
    return f"{value:.3f}".replace("-", "−")
