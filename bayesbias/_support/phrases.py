"""Numbers and intervals as sentences say them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

MINUS = " \N{MINUS SIGN} "  # between the two parts of a difference
IN_SDS = "standard deviations of the embedding's distances"  # the unit of what is standardised
EDGE = 0.05  # part of an interval that it ends beyond 0, below which it ends next to 0
LEAST = 0.005  # a share that is written as 1%
FINE = 0.01  # below it a number is written with more decimals
QUANTITIES = "quantities"  # ``attrs["rows"]`` of a table whose rows have units of their own
HARDLY = 0.0005  # farthest from 0 that an end of the interval of a distance that hardly changed lies
ROUNDING = 1e-5  # ends of intervals below which they are 0 up to rounding
ENDS = ("low", "high")
NO_WIDTH = 1e-9  # width of an interval below which it is a number


def signed(value: float, plus: str = "", digits: int = 3) -> str:
    """A number with three decimals and a proper minus sign; ``plus="+"`` writes a plus sign too."""
    return f"{round(value, digits) + 0.0:{plus}.{digits}f}".replace("-", "\N{MINUS SIGN}")


def figure(value: float) -> str:
    """A number with three decimals, or with two significant digits where it is small."""
    if value == 0 or abs(value) >= FINE:
        return signed(value)
    return np.format_float_positional(value, precision=2, fractional=False, unique=False, trim="-").replace(
        "-", "\N{MINUS SIGN}"
    )


def decimals(row: Any, least: int = 3) -> int:
    """Decimals of a row with ``low`` and ``high``, with which the width of its interval has two significant digits."""
    width = row["high"] - row["low"]
    return max(least, 1 - math.floor(math.log10(width))) if width > NO_WIDTH else least


def difference(name: str) -> str:
    """A contrast such as ``associated - human`` with a proper minus sign."""
    return name.replace(" - ", MINUS)


def negatives(text: str) -> str:
    """A text whose hyphens after a space, those of negative numbers and differences, are proper minus signs."""
    return text.replace(" -", " \N{MINUS SIGN}")


def percent(mass: float) -> str:
    """The posterior mass of an interval, or a level, in percent."""
    return f"{100 * mass:g}%"


def rough_percent(value: float) -> str:
    """A share or a probability in whole percent; never 0%."""
    return f"{value:.0%}" if value >= LEAST else "less than 1%"


def share(value: float) -> str:
    """A probability in percent; never 0% or 100%, which draws cannot show."""
    return "> 99.9%" if value > 0.999 else "< 0.1%" if value < 0.001 else f"{100 * value:.1f}%"


def share_of_draws(value: float) -> str:
    """A probability that was counted among draws, in whole percent: a further digit would change with the seed."""
    return "> 99%" if value > 0.99 else "< 1%" if value < 0.01 else f"{100 * value:.0f}%"


def p_value(value: float, least: float = 1e-4) -> str:
    """A probability with two significant digits, of its distance from 1 where that is smaller; never 0."""
    if value < least:
        return f"< {np.format_float_positional(least)}"
    digits = 1 - math.floor(math.log10(min(value, 1 - value))) if value < 1 else 2
    return f"{value:.{max(digits, 2)}f}"


def is_share_of_draws(column: str) -> bool:
    """True where a column of a table holds probabilities that were counted among draws, which p-values are not."""
    return column.startswith("p_") and column != "p_value"


def ends_of(row: Any) -> str:
    """The interval of a row with ``low`` and ``high``; of an end next to 0 its sign is shown."""
    return " to ".join(figure(row[end]) if ROUNDING < abs(row[end]) < HARDLY else signed(row[end]) for end in ENDS)


def untold(count: int, total: int) -> list[str]:
    """A sentence on the words whose intervals include 0, if there are such."""
    if count == total > 1:
        return [f"The intervals of all {total:,} words include 0."]
    if count == total == 1:
        return ["The interval of the word includes 0."]
    said = "has an interval that includes" if count == 1 else "have intervals that include"
    return [f"{count:,} of {total:,} words {said} 0."] if count else []


def barely(row: Any) -> bool:
    """True where the interval of a row excludes 0, and ends next to it."""
    end = min(abs(row["low"]), abs(row["high"]))
    return excludes_zero(row) and bool(end < EDGE * (row["high"] - row["low"]))


def excludes_zero(row: Any) -> bool:
    """True where the interval of a row excludes 0."""
    return bool(row["low"] > 0 or row["high"] < 0)


def hardly_changed(row: Any) -> bool:
    """True where both ends of the interval of a change of a distance are next to 0, and it is not exactly 0."""
    return bool(max(abs(row["low"]), abs(row["high"])) <= HARDLY and row["mean"] != 0)


def order_said(names: Sequence[str], draws: NDArray[np.float64], kind: str, least: float) -> str:
    """A sentence on which of several contrasts is the lowest and which the highest, from their draws (D, names).

    Each end is named only where its posterior probability to be the first, or the last, of all is ``least`` or more.
    """
    mean = draws.mean(axis=0)
    ends = []
    for word, places in (("lowest", draws.argmin(axis=1)), ("highest", draws.argmax(axis=1))):
        chances = np.bincount(places, minlength=len(names)) / len(draws)
        ends.append((word, int(chances.argmax()), float(chances.max())))
    known = [
        f"{word} in {names[place]} ({signed(float(mean[place]))}; probability {share(chance)})"
        for word, place, chance in ends
        if chance >= least
    ]
    if known:
        missing = [f" Where it is {word} is not known." for word, _, chance in ends if chance < least]
        return f"The contrast is {' and '.join(known)}.{''.join(missing)}"
    # row: probability of each other one to be lower; the surest pair of all, each of which counts
    lower = np.array([(draws < draws[:, [place]]).mean(axis=0) for place in range(len(names))])
    high, low = divmod(int(lower.argmax()), len(names))
    pairs = len(names) * (len(names) - 1) / 2
    if (1 - lower[high, low]) * pairs >= 1 - least:
        first, last = int(mean.argmin()), int(mean.argmax())
        return (
            f"The order of the {kind} is not known: partially pooled estimates of the contrast range from "
            f"{signed(float(mean[first]))} ({names[first]}) to {signed(float(mean[last]))} ({names[last]})."
        )
    return (
        f"The {kind} differ: the contrast is lower in {names[low]} ({signed(float(mean[low]))}) than in {names[high]} "
        f"({signed(float(mean[high]))}; probability {share(float(lower[high, low]))}). Which is the lowest and which "
        "the highest of all is not known."
    )
