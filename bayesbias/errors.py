"""The one exception of the package, and lists of words in its messages."""

import reprlib
from collections.abc import Iterable, Sequence
from pathlib import Path


class InputError(ValueError):
    """What was given cannot be used; the message says what is valid and what to do.

    Every function of this package raises it for arguments, tables and files that it cannot take. Docstrings list under
    Raises only what else a function may raise.
    """


def listed(words: Sequence[str], most: int = 8) -> str:
    """The first words of a list, and how many more there are, for a message."""
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def many(count: int, noun: str) -> str:
    """A number and what it counts, such as ``1 word`` and ``2,000 words``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def near(value: object, valid: Iterable[str]) -> str:
    """The valid name that is spelled nearly as a given one, in brackets after it; empty if there is none."""
    if not isinstance(value, str | Path):
        return ""
    from difflib import get_close_matches

    names = get_close_matches(str(value).lower().replace(" ", "_"), [str(name) for name in valid], 1)
    return f" (did you mean {names[0]!r}?)" if names else ""


def shown(value: object) -> str:
    """A value as an error shows it, cut where it is long."""
    return reprlib.repr(value)
