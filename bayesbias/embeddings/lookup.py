"""Words in an embedding: which are there, in which case, and which share a vector."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from bayesbias._checks import one_of
from bayesbias._core.vectors import FloatArray, first_alike
from bayesbias.embeddings.formats import composed, have_directions

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


Case = Literal["as-is", "fallback"]
CASES = ("as-is", "fallback")


@dataclass(frozen=True)
class FoundWords:
    """Words that an embedding holds.

    Attributes
    ----------
    keys
        Word to the key under which the embedding holds it.
    vectors
        Their vectors (words, dimensions), in that order.
    """

    keys: Mapping[str, str]
    vectors: FloatArray

    def of(self, words: Sequence[str]) -> FloatArray:
        """Vectors of some of the words."""
        if list(words) == list(self.keys):
            return self.vectors
        place = {word: at for at, word in enumerate(self.keys)}
        return self.vectors[[place[word] for word in words]]


def find_words(kv: KeyedVectors, words: Iterable[str], case: Case = "as-is") -> FoundWords:
    """Words of an embedding; those without a direction count as missing.

    Parameters
    ----------
    kv
        The embedding.
    words
        Words to look up, each once.
    case
        ``"as-is"``, or ``"fallback"`` to try lower case, capital first letters and capitals for those not found, and
        ``_`` for blanks (``New_York``). A letter with an accent is one letter, however it is encoded.
    """
    one_of(case, CASES, "case")
    held = kv.key_to_index
    keys = {word: key for word in words if (key := _key(word, held, case)) is not None}
    rows = np.array([held[key] for key in keys.values()], dtype=np.intp)
    vectors = kv.vectors.take(rows, axis=0)
    some = have_directions(list(keys.values()), vectors, "the embedding")
    if not some.all():
        zero = {word for word, directed in zip(keys, some, strict=True) if not directed}
        named = ", ".join(sorted({keys[word] for word in zero}))
        warnings.warn(f"a vector of zeros has no direction, so these words count as missing: {named}", stacklevel=3)
        keys, vectors = {word: key for word, key in keys.items() if word not in zero}, vectors[some]
    return FoundWords(keys, vectors.astype(np.float64, copy=False))


def spellings(words: Iterable[str], case: str) -> tuple[str, ...]:
    """The words, and with ``"fallback"`` what is tried for them too."""
    one_of(case, CASES, "case")
    tried = words if case == "as-is" else [form for word in words for form in _forms(word)]
    return tuple(dict.fromkeys(form for each in tried for form in composed(each)))


def _key(word: str, held: Collection[str], case: str) -> str | None:
    """The key of a word in an embedding: the first of its forms that is there."""
    if word in held:
        return word
    tried = _forms(word) if case == "fallback" else (word,)
    return next((form for each in tried for form in composed(each) if form in held), None)


def _forms(word: str) -> tuple[str, ...]:
    """What is tried for a word that is not found; the words of a phrase are joined too."""
    joined = word.replace(" ", "_")
    capitals = "_".join(part.capitalize() for part in joined.split("_"))
    return tuple(dict.fromkeys((word, word.lower(), word.capitalize(), word.upper(), joined, joined.lower(), capitals)))


def about(kv: KeyedVectors) -> dict[str, object]:
    """What is known of an embedding: its name, if ``load_embedding`` gave it one, and its size."""
    name = getattr(kv, "bayesbias_name", "unnamed")
    known: dict[str, object] = {"name": name, "vectors": len(kv.index_to_key), "dimensions": int(kv.vector_size)}
    record = getattr(kv, "bayesbias_debiasing", None)
    return known if record is None else known | {"debiasing": str(record)}


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
