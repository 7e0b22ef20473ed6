"""The words that two embeddings share, with unit vectors of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayesbias._core.cells import IntArray
from bayesbias._core.cosine import unit_rows
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
        In the order of the first embedding.
    before, after
        Unit vectors (words, dimensions), single precision.
    left_out
        How many words of the first embedding's part that is looked at the second lacks.
    """

    words: tuple[str, ...]
    before: Unit
    after: Unit
    left_out: int

    def rows(self, words: Iterable[str]) -> IntArray:
        """Rows of those words that are shared."""
        place = {word: at for at, word in enumerate(self.words)}
        return np.array([place[word] for word in dict.fromkeys(words) if word in place], dtype=np.intp)


def shared_vocabulary(first: KeyedVectors, second: KeyedVectors, wanted: Iterable[str], most: int | None) -> Shared:
    """The first ``most`` words of an embedding (None: all) and the wanted ones, as far as another holds them too.

    Raises
    ------
    InputError
        Fewer than two words are in both.
    """
    looked_at = dict.fromkeys([*first.index_to_key[:most], *(word for word in wanted if word in first.key_to_index)])
    held = [word for word in looked_at if word in second.key_to_index]
    rows = [np.array([kv.key_to_index[word] for word in held], dtype=np.intp) for kv in (first, second)]
    vectors = [np.asarray(kv.vectors)[at] for kv, at in zip((first, second), rows, strict=True)]
    some = np.logical_and(*(np.abs(part).max(axis=1) > 0 if len(part) else np.empty(0, bool) for part in vectors))
    if some.sum() < 2:
        raise InputError(
            f"the embeddings share {int(some.sum())} words that have a direction: give the same embedding before "
            "and after"
        )
    words = tuple(word for word, kept in zip(held, some, strict=True) if kept)
    before, after = (unit_rows(part[some]).astype(np.float32) for part in vectors)
    return Shared(words, before, after, len(looked_at) - len(words))
