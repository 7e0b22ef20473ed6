"""The words that two embeddings share, with unit vectors of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayesbias._core.cells import IntArray
from bayesbias._core.cosine import unit_single
from bayesbias.embeddings import Case, find_words
from bayesbias.errors import InputError

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

Unit = NDArray[np.float32]


@dataclass(frozen=True)
class Shared:
    """Words in both embeddings.

    Attributes
    ----------
    words
        In the order of the first embedding; those that were wanted as they are written there.
    before, after
        Unit vectors (words, dimensions), single precision.
    """

    words: tuple[str, ...]
    before: Unit
    after: Unit

    def rows(self, words: Iterable[str]) -> IntArray:
        """Rows of those words that are shared."""
        place = {word: at for at, word in enumerate(self.words)}
        return np.array([place[word] for word in dict.fromkeys(words) if word in place], dtype=np.intp)


def shared_vocabulary(
    first: KeyedVectors, second: KeyedVectors, wanted: Iterable[str], most: int | None, case: Case = "as-is"
) -> Shared:
    """The first ``most`` words of an embedding (None: all) and the wanted ones, as far as another holds them too.

    Raises
    ------
    InputError
        Fewer than two are in both.
    """
    asked = list(dict.fromkeys(wanted))
    keys = [find_words(kv, asked, case).keys for kv in (first, second)]
    known = {word: (keys[0][word], keys[1][word]) for word in asked if word in keys[0] and word in keys[1]}
    taken = {one for one, _ in known.values()}
    others = [word for word in first.index_to_key[:most] if word not in taken and word not in known]
    looked_at = {**known, **{word: (word, word) for word in others}}
    ordered = sorted(looked_at.items(), key=lambda item: first.key_to_index[item[1][0]])
    held = {word: both for word, both in ordered if both[1] in second.key_to_index}
    pairs = [[both[at] for both in held.values()] for at in (0, 1)]
    rows = [
        np.array([kv.key_to_index[word] for word in listed], dtype=np.intp)
        for kv, listed in zip((first, second), pairs, strict=True)
    ]
    vectors = [np.asarray(kv.vectors)[at] for kv, at in zip((first, second), rows, strict=True)]
    some = np.logical_and(*(np.abs(part).max(axis=1) > 0 if len(part) else np.empty(0, bool) for part in vectors))
    if some.sum() < 2:
        raise InputError(
            f"the embeddings share {int(some.sum())} words that have a direction: give the same embedding before and "
            "after"
        )
    words = tuple(word for word, kept in zip(held, some, strict=True) if kept)
    before, after = (unit_single(part[some]) for part in vectors)
    return Shared(words, before, after)
