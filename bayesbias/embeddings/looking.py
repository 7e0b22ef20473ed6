"""Words looked up in an embedding."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from bayesbias._checks import one_of
from bayesbias._core.cosine import FloatArray
from bayesbias.embeddings.loading import zero_words

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

Case = Literal["as-is", "fallback"]


def find_words(kv: KeyedVectors, words: Sequence[str], case: Case = "as-is") -> dict[str, str]:
    """Word to the key under which the embedding holds it; words without a direction count as missing.

    Parameters
    ----------
    kv
        The embedding.
    words
        Words to look up.
    case
        ``"as-is"``, or ``"fallback"`` to try lower case, a capital first letter and capitals for those not found.
    """
    one_of(case, ("as-is", "fallback"), "case")
    found = {}
    for word in words:
        forms = [word] if case == "as-is" else [word, word.lower(), word.capitalize(), word.upper()]
        key = next((form for form in forms if form in kv.key_to_index), None)
        if key is not None:
            found[word] = key
    zero = set(zero_words(kv, found.values()))
    if zero:
        named = ", ".join(sorted(zero))
        warnings.warn(f"a vector of zeros has no direction, so these words count as missing: {named}", stacklevel=3)
    return {word: key for word, key in found.items() if key not in zero}


def vectors_of(kv: KeyedVectors, words: Iterable[str], found: Mapping[str, str]) -> FloatArray:
    """Vectors (words, dimensions) of words that were found."""
    return np.asarray(kv.vectors[[kv.key_to_index[found[word]] for word in words]], dtype=np.float64)


def about(kv: KeyedVectors) -> dict[str, object]:
    """What is known of an embedding: its name, if ``load_embedding`` gave it one, and its size."""
    name = getattr(kv, "bayesbias_name", "unnamed")
    return {"name": name, "vectors": len(kv.index_to_key), "dimensions": int(kv.vector_size)}
