"""The one exception of the package, its warnings, and lists of words in their messages."""

import reprlib
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

__all__ = [
    "BayesbiasWarning",
    "CoverageWarning",
    "InputError",
    "PluginWarning",
    "RelatednessWarning",
]


class InputError(ValueError):
    """An input that cannot be used; the message says what was given, what is valid and what to do.

    Every function of this package raises it for arguments, tables and files that it cannot take. Docstrings list under
    Raises only what else a function may raise.
    """


class BayesbiasWarning(UserWarning):
    """A limit of a result, which was made as asked; the message names the limit.

    Every warning of the package is one, and those on similar words, words left out and plugins have kinds of their own:
    filter by kind, ``warnings.simplefilter("ignore", bb.errors.RelatednessWarning)``, or by message.
    """


class RelatednessWarning(BayesbiasWarning):
    """The covariance of distances is not known, known badly, or about to be lost.

    Few words of the embedding, or none, lie outside of the lists: different words are then treated as unrelated, or
    intervals are made wider. Common words of the language, encoded too, are the remedy.
    """


class CoverageWarning(BayesbiasWarning):
    """Words of an embedding or lines of a file are left out, or words cannot be found.

    Their vectors are zeros, they are empty, they stand in the file more than once, or their letters cannot be read. Or
    a file of distances is written without the record of words that were not found.
    """


class PluginWarning(BayesbiasWarning):
    """A metric or debiasing method of another package is left out, since it cannot be loaded."""


NEARLY = 0.7  # similarity of two spellings, from 0 to 1, from which one may be meant for the other
PACKAGE = str(Path(__file__).parent)


def warn(message: str, kind: type[BayesbiasWarning]) -> None:
    """Warn at the line that called the package."""
    warnings.warn(message, kind, skip_file_prefixes=(PACKAGE,))


@contextmanager
def within(where: str) -> Iterator[None]:
    """Errors that begin with the name of what holds the fault: a file, or one of several tables."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{where}: {error}") from error


def listed(words: Sequence[str], most: int = 8, mark: str = ", ") -> str:
    """The first words of a list, and how many more there are, for a message."""
    more = f" and {len(words) - most:,} more" if len(words) > most else ""
    return mark.join(words[:most]) + more


def many(count: int, noun: str) -> str:
    """A number and what it counts, such as ``1 word`` and ``2,000 words``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def agreed(count: int, one: str, more: str) -> str:
    """The form of a word that goes with a number, such as ``is`` or ``are``."""
    return one if count == 1 else more


def near(value: object, valid: Iterable[str]) -> str:
    """The valid name that is spelled nearly as a given one, in brackets after it; empty if there is none."""
    if not isinstance(value, str | Path):
        return ""
    from difflib import get_close_matches

    names = get_close_matches(str(value).lower().replace(" ", "_"), [str(name) for name in valid], 1, NEARLY)
    return f" (did you mean {names[0]!r}?)" if names else ""


def shown(value: object) -> str:
    """A value as an error shows it, cut where it is long; of results, tables and matrices their kind alone."""
    kind, is_result = type(value).__name__, hasattr(value, "caption")
    sides = len(getattr(value, "shape", ()))
    if not is_result and (not sides or (sides == 1 and kind == "ndarray")):
        return " ".join(reprlib.repr(value).split())
    return f"{'an' if kind[0] in 'aeiouAEIOU' or kind == 'ndarray' else 'a'} {kind}"
