"""Words that an embedding holds under one vector, which are one word to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import numpy as np

from bayesbias._core.twins import first_alike
from bayesbias.embeddings.looking import FoundWords

Twins = Literal["once", "keep"]
TWINS = ("once", "keep")
SHOWN = 8


def twins_of(found: FoundWords) -> dict[str, str]:
    """Word to the first word with its vector, for the words that are not the first themselves.

    A pruned embedding gives many words the vector of another; vectors of one direction are one, whatever their length.

    Parameters
    ----------
    found
        Words that were looked up, in the order that decides which is first.
    """
    words = list(found.keys)
    first = first_alike(found.of(words))
    return {words[at]: words[first[at]] for at in np.flatnonzero(first != np.arange(len(words))).tolist()}


def twins_within(words: Sequence[str], twins: Mapping[str, str]) -> dict[str, str]:
    """Those of some words that have the vector of an earlier one of these words, with that word."""
    first: dict[str, str] = {}
    found = {}
    for word in words:
        leader = first.setdefault(twins.get(word, word), word)
        if leader != word:
            found[word] = leader
    return found


def twin_sentence(pairs: Iterable[tuple[str, str]]) -> str:
    """Which words have the vector of which, at most eight of them."""
    said = [f"{word} has the vector of {first}" for word, first in pairs]
    return ", ".join(said[:SHOWN]) + (f" and {len(said) - SHOWN} more" if len(said) > SHOWN else "")
