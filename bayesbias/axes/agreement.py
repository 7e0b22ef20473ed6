"""Pairs of an axis that share a direction, or do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from bayesbias._support.phrases import signed
from bayesbias.axes.poles import FoundPoles
from bayesbias.errors import agreed, listed, many
from bayesbias.numerics.arrays import FloatArray
from bayesbias.numerics.offsets import Field, MeanOffset

RANDOM = 1.645
"""Standard deviations above the mean that a normal variable exceeds with a probability of 5%."""


def agreement_of(poles: FoundPoles, offset: MeanOffset, field: Field) -> pd.DataFrame:
    """Agreement of each pair with the others, the least first; the columns are those of :meth:`Axis.pairs`."""
    offsets, squares = offset.offsets[0], field.variances**2
    count = len(offsets)
    rest = (offset.mean * count - offsets) / max(count - 1, 1)
    inner = (offsets * rest) @ squares
    size = rest**2 @ squares
    lengths = np.sqrt((offsets**2 @ squares) * size)
    agreement = np.divide(inner, lengths, out=np.full(count, np.nan), where=(lengths > 0) & (count > 1))
    # coordinates of a random pair's offset have equal variances: its correlation with given places is nearly normal
    share = np.divide(rest**2 @ squares**2, size, out=np.full(count, np.nan), where=(size > 0) & (count > 1))
    change = np.sqrt((offset.mean - rest) ** 2 @ squares) / field.spread(offset.mean**2) if count > 1 else np.nan
    vectors, member = poles.strata.vectors, poles.strata.members[0]
    table = pd.DataFrame(
        {
            "negative": pd.array([pair[0] for pair in poles.pairs], dtype="string"),
            "positive": pd.array([pair[1] for pair in poles.pairs], dtype="string"),
            "similarity": (vectors[member.argmin(axis=1)] * vectors[member.argmax(axis=1)]).sum(axis=1),
            "agreement": agreement,
            "random_agreement": RANDOM * np.sqrt(share / squares.sum()),
            "influence": change,
            "belongs": ~(agreement <= 0),
        }
    )
    return table.sort_values("agreement", ignore_index=True)


def random_agreement(field: Field, count: int) -> float:
    """Mean agreement that so many pairs of random words exceed with a probability of 5%.

    The correlations of random pairs with the mean of the others have the variance v of those of two random pairs; that
    of their mean is 2 v / count, since each pair is among the others of each other.
    """
    squares = field.variances**2
    return float(RANDOM * np.sqrt((squares**2).sum() * 2 / max(count, 2)) / squares.sum())


def share_direction(pairs: pd.DataFrame, usual: float) -> bool:
    """True where pairs agree more than as many random ones, whose mean agreement is below ``usual`` with 95%."""
    return bool(pairs["agreement"].mean() > usual)


def agreement_said(pairs: pd.DataFrame, usual: float) -> list[str]:
    """Sentences on whether two pairs or more have one direction; ``usual`` is the mean agreement of random pairs."""
    values = pairs["agreement"].to_numpy(float)
    if len(pairs) == 2:
        verb = "agree in direction" if values[0] > usual else "hardly agree"
        verb = "disagree in direction" if values[0] < -usual else verb
        as_random = ", as of random pairs of words" if verb == "hardly agree" else ""
        return [
            f"The 2 pairs {verb}: the correlation, over a sample of the vocabulary, of the places by one pair with "
            f"those by the other is {_two(values[0])}{as_random} (95% of random pairs have a correlation below "
            f"{_two(usual)}).",
            *(["Is one of them the wrong way round?"] if values[0] < -usual else []),
        ]
    others = "correlation, over a sample of the vocabulary, of the places by one pair with those by the others"
    shown, bounds = _shown(pairs), pairs["random_agreement"].to_numpy(float)
    asked = reversed_pairs(pairs)
    if not share_direction(pairs, usual):
        return [
            f"A common direction of the {len(pairs)} pairs is not credible: the {others} is {_two(values.mean())} on "
            f"average ({_ends(values)}), as of random pairs of words (of {len(pairs)} of these the average is below "
            f"{_two(usual)} with a probability of 95%).",
            *asked,
        ]
    apart, weak = values < -bounds, (values >= -bounds) & (values <= bounds)
    hardly, random = int(weak.sum()), "95% of random pairs in their place: below "
    said = []
    if apart.any():
        said += [
            f"The direction of {many(int(apart.sum()), 'pair')} disagrees with that of the other pairs: "
            f"{listed(shown[apart].tolist())} (in brackets the {others}).",
            *asked,
        ]
    if hardly:
        besides = "Besides, " if apart.any() else ""
        brackets = f"{'' if apart.any() else f'in brackets the {others}; '}{random}{_ends(bounds[weak])}"
        said.append(
            f"{besides}{hardly} of {many(len(pairs), 'pair')} {agreed(hardly, 'agrees', 'agree')} with the others no "
            f"more than random pairs of words may: {listed(shown[weak].tolist())} ({brackets}). On average it is "
            f"{_two(values.mean())}; of as many random pairs the average is below {_two(usual)} with a "
            "probability of 95%."
        )
    elif not apart.any():
        said.append(f"All pairs agree in direction ({others}: {_ends(values)}; {random}{_ends(bounds)}).")
    return said


def reversed_pairs(pairs: pd.DataFrame) -> list[str]:
    """A question on pairs that disagree with the others more than random pairs do; none where these are no majority."""
    turned = (pairs["agreement"] < -pairs["random_agreement"]).to_numpy()
    if len(pairs) == 2 or 2 * turned.sum() >= len(pairs):
        return []
    shown = _shown(pairs)[turned].tolist()
    if not shown:
        return []
    disagree = agreed(len(shown), "disagrees", "disagree")
    are_these = agreed(len(shown), "is this pair", "are these pairs")
    return [
        f"{listed(shown)} {disagree} with the other pairs more than 95% of random pairs would: {are_these} the wrong "
        "way round?"
    ]


def naming_pair(pairs: pd.DataFrame, ends: tuple[str, ...]) -> str:
    """The pair that names the two poles, where it does not agree with the others; else empty."""
    row = pairs[(pairs["negative"] == ends[0]) & (pairs["positive"] == ends[1])].iloc[0]
    apart = len(pairs) > 2 and row["agreement"] <= 0
    return f"{ends[0]} and {ends[1]} ({_two(row['agreement'])})" if apart else ""


def _shown(pairs: pd.DataFrame) -> Any:
    """Pairs with their agreement."""
    rows = zip(pairs["negative"], pairs["positive"], pairs["agreement"].tolist(), strict=True)
    return np.array([f"{negative} and {positive} ({_two(value)})" for negative, positive, value in rows])


def _ends(values: FloatArray) -> str:
    """The least and the largest of some correlations, or one number where they are the same as written."""
    return " to ".join(dict.fromkeys(_two(value) for value in (values.min(), values.max())))


def _two(value: float) -> str:
    return signed(value, digits=2)
