"""Arguments checked at the door."""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Mapping
from math import inf, isfinite, nan
from numbers import Real
from pathlib import Path
from typing import Any, TypeGuard
from unicodedata import category

import numpy as np

from bayesbias.errors import InputError, near, shown

MOST = 10**9  # largest number of draws, replicates or words that is taken for meant
WIDEST = 2.0  # no two cosine distances differ by more
LARGEST = 2**63 - 1  # largest number that files hold, such as a seed
JOINERS = str.maketrans("", "", "\u200c\u200d")  # characters without width that Persian and Indic words hold


def whole_number(value: object, name: str, least: int = 1, most: int | None = MOST) -> int:
    """A whole number of at least ``least`` and at most ``most``; None sets the limit of files, as for seeds."""
    limit = LARGEST if most is None else most
    number = operator.index(value) if hasattr(value, "__index__") and not isinstance(value, bool) else least - 1
    if not least <= number <= limit:
        raise InputError(f"{name} is {shown(value)}: give a whole number of at least {least} and at most {limit:,}")
    return int(number)


def whole_numbers(value: Any, name: str) -> list[int]:
    """One whole number, or several, each as :func:`whole_number` takes it."""
    return [whole_number(item, name) for item in several(value) or [value]]


def as_float(value: object) -> float:
    """A real number, infinite where it is too large, NaN for anything else."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return nan
    try:
        return float(value)
    except OverflowError:
        return inf


def probability(value: object, name: str) -> float:
    """A probability strictly between 0 and 1."""
    if not 0 < (number := as_float(value)) < 1:
        raise InputError(f"{name} is {shown(value)}: give a probability between 0 and 1, such as 0.89")
    return number


def share(value: object, name: str) -> float:
    """A share, 0 and 1 included."""
    if not 0 <= (number := as_float(value)) <= 1:
        raise InputError(f"{name} is {shown(value)}: give a share from 0 to 1, such as 0.2")
    return number


def flag(value: object, name: str) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} is {shown(value)}: give True or False")
    return bool(value)


def is_printable(value: object) -> TypeGuard[str]:
    """True for a text that can be shown: not empty, without blanks at its ends, control or surrogate characters."""
    text = value.translate(JOINERS) if isinstance(value, str) else ""
    return text != "" and text == text.strip() and text.isprintable()


def printable(value: object, name: str) -> str:
    """A text that can be shown, as a name or a word."""
    if not is_printable(value):
        raise InputError(f"{name} is {value!r}: give a printable text without blanks at its ends")
    return value


def text(value: object, name: str) -> str:
    """A text, empty or not, that files and figures can hold."""
    odd = [letter for letter in str(value) if category(letter) in ("Cc", "Cs") and letter not in "\n\t"]
    if not isinstance(value, str) or odd:
        raise InputError(f"{name} is {shown(value)}: give a text without control characters")
    return value


def finite_number(value: object, name: str, positive: bool = False, most: float = inf) -> float:
    """A finite number from ``-most`` to ``most``, above 0 if ``positive``."""
    number = as_float(value)
    if not isfinite(number) or (positive and number <= 0) or abs(number) > most:
        limit = f" of at most {most:g}" if isfinite(most) else ""
        raise InputError(f"{name} is {shown(value)}: give a {'positive' if positive else 'finite'} number{limit}")
    return number


def is_list(value: object) -> TypeGuard[Iterable[Any]]:
    """True for a list of any kind: no text, no mapping, no table, whose items are others than a reader expects."""
    alone = isinstance(value, str | bytes | Path | Mapping) or hasattr(value, "columns")
    return isinstance(value, Iterable) and not alone and getattr(value, "ndim", 1) > 0


def plain(value: Any) -> Any:
    """A value as JSON can hold it: lists of any kind as lists, and what has no such form as its text."""
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if is_list(value):
        return [plain(each) for each in value]
    alone = value.item() if isinstance(value, np.generic) else value
    return alone if alone is None or isinstance(alone, str | int | float) else str(alone)


def several(value: Any) -> list[Any]:
    """The items of a list, or one value alone as a list; mappings and tables are single values."""
    return list(value) if is_list(value) else [value]


def mapping(value: object, name: str, what: str, kind: Any = object) -> dict[str, Any]:
    """A mapping of names to ``what``, of which each is of a ``kind``; a number, such as a year, is a name too."""
    named: dict[str, Any] = {}
    for key, each in value.items() if isinstance(value, Mapping) else ():
        text = str(key) if isfinite(as_float(key)) else key
        if not is_printable(text) or text in named or not isinstance(each, kind):
            raise InputError(f"{name} has {shown(each)} for {shown(key)}: give a mapping of distinct names to {what}")
        named[text] = each
    if not named:
        raise InputError(f"{name} is {shown(value)}: give a mapping of names to {what}")
    return named


def interval(value: object, name: str, most: float = MOST) -> tuple[float, float] | None:
    """A region as (low, high) within ``most``; one positive number means plus or minus it, None no region."""
    if value is None:
        return None
    pair = value if isinstance(value, tuple | list) and len(value) == 2 else (-as_float(value), value)
    low, high = map(as_float, pair)
    if not -most <= low < high <= most:
        raise InputError(
            f"{name} is {shown(value)}: give a positive number of at most {most:,.0f} (plus or minus it), or a pair "
            "(low, high) of such numbers"
        )
    return low, high


def by_name_or_none[T: str](value: T | None, valid: Collection[str], name: str) -> T | None:
    """None, or one of the valid names."""
    return None if value is None else one_of(value, valid, name)


def one_of[T: str](value: T, valid: Collection[str], name: str) -> T:
    """One of the valid names."""
    if not isinstance(value, str) or value not in valid:
        raise InputError(f"{name} is {shown(value)}{near(value, valid)}: valid are {', '.join(valid)}")
    return value
