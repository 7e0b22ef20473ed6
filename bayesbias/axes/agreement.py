"""Pairs of an axis that share a direction, or do not."""

from __future__ import annotations

import numpy as np
import pandas as pd

from bayesbias._support.phrases import signed
from bayesbias.axes.poles import FoundPoles
from bayesbias.errors import agreed, listed, many
from bayesbias.numerics.offsets import Field, MeanOffset

RANDOM = 1.645
"""Standard deviations above the mean that a normal variable exceeds with a probability of 5%."""


def agreement_of(poles: FoundPoles, offset: MeanOffset, field: Field) -> pd.DataFrame:
    """Agreement of each pair with the others, the least first; the columns are those of :meth:`Axis.pairs`."""
    offsets, squares = offset.offsets[0], field.variances**2
    count = len(offsets)
    rest = (offset.mean * count - offsets) / max(count - 1, 1)
    inner = (offsets * rest) @ squares
    lengths = np.sqrt((offsets**2 @ squares) * (rest**2 @ squares))
    agreement = np.divide(inner, lengths, out=np.full(count, np.nan), where=(lengths > 0) & (count > 1))
    change = np.sqrt((offset.mean - rest) ** 2 @ squares) / field.spread(offset.mean**2) if count > 1 else np.nan
    vectors, member = poles.strata.vectors, poles.strata.members[0]
    table = pd.DataFrame(
        {
            "negative": pd.array([pair[0] for pair in poles.pairs], dtype="string"),
            "positive": pd.array([pair[1] for pair in poles.pairs], dtype="string"),
            "similarity": (vectors[member.argmin(axis=1)] * vectors[member.argmax(axis=1)]).sum(axis=1),
            "agreement": agreement,
            "influence": change,
            "belongs": ~(agreement <= 0),
        }
    )
    return table.sort_values("agreement", ignore_index=True)


def random_agreement(field: Field) -> float:
    """Agreement that random pairs of words exceed with a probability of 5%.

    Coordinates of their offsets have equal variances, so that the correlation of places by two of them is nearly normal
    around 0.
    """
    squares = field.variances**2
    return float(RANDOM * np.sqrt((squares**2).sum()) / squares.sum())


def agreement_said(pairs: pd.DataFrame, usual: float) -> list[str]:
    """Sentences on whether two pairs or more have one direction; ``usual`` is the agreement of random pairs."""
    values = pairs["agreement"].to_numpy(float)
    ends = " to ".join(signed(value, digits=2) for value in values[[0, -1]])
    random = f"95% of random pairs have a correlation below {signed(usual, digits=2)}"
    if len(pairs) == 2:
        verb = "agree in direction" if values[0] > usual else "hardly agree"
        verb = "disagree in direction" if values[0] < -usual else verb
        as_random = ", as of random pairs of words" if verb == "hardly agree" else ""
        return [
            f"The 2 pairs {verb}: the correlation, over the vocabulary, of the places by one pair with those by the "
            f"other is {signed(values[0], digits=2)}{as_random} ({random})."
        ]
    others = "correlation, over the vocabulary, of the places by one pair with those by the others"
    # the correlations of n random pairs with the others have the variance v; that of their mean is 2 v / n
    usual_mean = usual * np.sqrt(2 / len(pairs))
    if values.mean() <= usual_mean:
        return [
            f"A common direction of the {len(pairs)} pairs is not credible: the {others} is "
            f"{signed(values.mean(), digits=2)} on average ({ends}), as of random pairs of words (of "
            f"{len(pairs)} of these the average is below {signed(usual_mean, digits=2)} with a probability of 95%)."
        ]
    rows = zip(pairs["negative"], pairs["positive"], values.tolist(), strict=True)
    shown = [f"{negative} and {positive} ({signed(value, digits=2)})" for negative, positive, value in rows]
    apart, weak = int((values <= 0).sum()), int((values <= usual).sum())
    along, hardly = len(pairs) - apart, weak - apart
    said = [
        f"The direction of {many(apart, 'pair')} disagrees with that of the other pairs: {listed(shown[:apart])} (in "
        f"brackets the {others})."
    ]
    counted = (
        f"{along} of {len(pairs)} pairs {agreed(along, 'agrees', 'agree')}" if apart else f"All {along} pairs agree"
    )
    each = "One" if hardly == 1 else "Each" if hardly == along else f"Each of {hardly}"
    by_itself = [
        f"{counted} in direction. {each} of these by itself agrees with the others no more than random pairs of words "
        f"may: {listed(shown[apart:weak])} ({'' if apart else f'in brackets the {others}; '}{random}). The mean of all "
        "pairs is known better than any of them."
    ]
    every = [f"All pairs agree in direction ({others}: {ends}; {random})."]
    return said * (apart > 0) + by_itself * (hardly > 0) + every * (weak == 0)
