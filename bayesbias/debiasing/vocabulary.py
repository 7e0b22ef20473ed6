"""Words and unit vectors that a debiasing method works on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayesbias._core.cells import IntArray
from bayesbias._core.cosine import FloatArray, unit_rows, unit_single
from bayesbias.embeddings import find_words
from bayesbias.errors import InputError, shortened

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

BLOCK = 20_000
"""Vectors that are changed together."""

Words = tuple[str, ...]


@dataclass(frozen=True)
class Vocabulary:
    """An embedding's words, and its vectors scaled to length 1.

    Attributes
    ----------
    kv
        The embedding, which stays as it is.
    unit
        (words, dimensions), single precision.
    """

    kv: KeyedVectors
    unit: NDArray[np.float32]

    @classmethod
    def of(cls, kv: KeyedVectors) -> Vocabulary:
        """The unit vectors of an embedding; vectors of zeros stay zeros."""
        return cls(kv, unit_single(np.asarray(kv.vectors)))

    def rows(self, words: Iterable[str]) -> IntArray:
        """Rows of words that the embedding holds."""
        return np.array([self.kv.key_to_index[word] for word in words], dtype=np.intp)

    def vectors(self, words: Iterable[str]) -> FloatArray:
        """Unit vectors of words in double precision."""
        return unit_rows(self.kv.vectors[self.rows(words)])

    def without(self, directions: FloatArray, rows: IntArray | None) -> NDArray[np.float32]:
        """All unit vectors, with orthonormal directions taken off those of some rows (None: of all)."""
        return self.mapped(np.eye(directions.shape[1]) - directions.T @ directions, rows)

    def mapped(self, matrix: FloatArray, rows: IntArray | None) -> NDArray[np.float32]:
        """All unit vectors, those of some rows (None: of all) times a (dimensions, dimensions) matrix, at length 1."""
        changed = self.unit.copy()
        every = np.arange(len(changed)) if rows is None else rows
        narrow = matrix.astype(np.float32)
        for begin in range(0, len(every), BLOCK):
            at = every[begin : begin + BLOCK]
            block = changed[at] @ narrow
            lengths = np.sqrt(np.vecdot(block, block, dtype=np.float64))[:, None].astype(np.float32)
            changed[at] = np.divide(block, lengths, out=np.zeros_like(block), where=lengths > NOTHING)
        return changed


NOTHING = 1e-6
"""Length of what is left of a unit vector that lay within what was removed."""


def complete_sets(
    vocabulary: Vocabulary, sets: object, name: str, least: int = 2
) -> tuple[tuple[Words, ...], list[str]]:
    """Sets of which the embedding holds every word, and sentences on the others.

    Raises
    ------
    InputError
        These are no sets of words, or none is whole.
    """
    given = as_sets(sets, name, least)
    found = find_words(vocabulary.kv, list(dict.fromkeys(word for words in given for word in words))).keys
    whole = tuple(words for words in given if all(word in found for word in words))
    notes = [
        f"{name}: {' / '.join(words)} was dropped, since the embedding lacks "
        f"{', '.join(word for word in words if word not in found)}"
        for words in given
        if words not in whole
    ]
    if not whole:
        raise InputError(f"{name}: the embedding holds no set with all its words: {'; '.join(notes[:5])}")
    return whole, notes


def as_sets(sets: object, name: str, least: int) -> list[Words]:
    """Sets of words as tuples."""
    values = list(sets.values()) if isinstance(sets, Mapping) else sets
    if isinstance(values, str) or not isinstance(values, Sequence) or not values:
        raise InputError(f"{name} is {values!r}: give a list of sets of words, such as [('he', 'she'), ...]")
    made = []
    for words in values:
        if isinstance(words, str) or not isinstance(words, Iterable) or not all(isinstance(w, str) for w in words):
            raise InputError(f"{name} holds {words!r}: give each set as a list of words")
        if len(set(words)) < least:
            raise InputError(f"{name} holds {tuple(words)!r}: a set needs {least} words at least")
        made.append(tuple(dict.fromkeys(words)))
    return made


def as_words(words: object, name: str) -> list[str]:
    """Words as a list.

    Raises
    ------
    InputError
        Something else than words, or one string.
    """
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise InputError(f"{name} is {words!r}: give a list of words")
    listed = list(words)
    if odd := [word for word in listed if not isinstance(word, str)]:
        raise InputError(f"{name} holds {odd[0]!r}: give a list of words")
    return listed


def rows_to_change(
    vocabulary: Vocabulary, neutralize: Iterable[str] | None, ignore: Iterable[str]
) -> tuple[IntArray | None, list[str]]:
    """Rows of the words to neutralise (None: all), without those to ignore, and sentences on words not found."""
    notes: list[str] = []
    held = vocabulary.kv.key_to_index
    neutralize, ignore = None if neutralize is None else as_words(neutralize, "neutralize"), as_words(ignore, "ignore")
    for name, words in (("neutralize", neutralize), ("ignore", ignore)):
        if lost := [word for word in words or () if word not in held]:
            notes.append(f"{name}: the embedding lacks {len(lost)} words ({shortened(lost)})")
    spared = {held[word] for word in ignore if word in held}
    if neutralize is None and not spared:
        return None, notes
    rows = range(len(vocabulary.unit)) if neutralize is None else [held[word] for word in neutralize if word in held]
    return np.array([row for row in dict.fromkeys(rows) if row not in spared], dtype=np.intp), notes
