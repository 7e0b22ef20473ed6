"""Arguments checked at the door."""

from __future__ import annotations

from bayesbias.errors import InputError


def probability(value: float, name: str) -> float:
    """A probability strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        raise InputError(f"{name} is {value!r}: give a probability between 0 and 1, such as 0.89")
    return float(value)


def interval(value: float | tuple[float, float] | None, name: str) -> tuple[float, float] | None:
    """A region as (low, high); one positive number means plus or minus it, None means no region."""
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        return -float(value), float(value)
    if isinstance(value, tuple | list) and len(value) == 2 and value[0] < value[1]:
        return float(value[0]), float(value[1])
    raise InputError(f"{name} is {value!r}: give a positive number (plus or minus it) or a pair (low, high)")


def one_of(value: str, valid: tuple[str, ...] | list[str], name: str) -> str:
    """One of the valid names."""
    if value not in valid:
        raise InputError(f"{name} is {value!r}: valid are {', '.join(valid)}")
    return value
