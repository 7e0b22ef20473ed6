"""Embeddings by what they were trained with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias._checks import whole_number
from bayesbias._core.cosine import FloatArray, unit_rows
from bayesbias.embeddings import Embedding, Setting, opened
from bayesbias.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

FACETS = Setting._fields
RANDOM_PAIRS = 1000


def by_setting(embeddings: Mapping[Any, Embedding]) -> dict[Setting, KeyedVectors]:
    """Setting to embedding, by corpus, algorithm, dimensions and seed.

    Raises
    ------
    InputError
        No mapping, a key that is no setting, or dimensions that are not those of the vectors.
    """
    if not isinstance(embeddings, Mapping) or not embeddings:
        shown = "empty" if isinstance(embeddings, Mapping) else type(embeddings).__name__
        raise InputError(
            f"embeddings is {shown}: give a mapping of settings (corpus, algorithm, dims, seed) to "
            "embeddings, such as train_embeddings returns"
        )
    found = {}
    for key, given in embeddings.items():
        setting, kv = _setting(key), opened(given)
        if kv.vector_size != setting.dims:
            raise InputError(f"{setting.label} says {setting.dims} dimensions, and its vectors have {kv.vector_size}")
        if setting in found:
            raise InputError(f"{setting.label} is given twice: give each setting once")
        found[setting] = kv
    return dict(sorted(found.items(), key=lambda item: (item[0].corpus, item[0].algorithm, item[0][2:])))


def _setting(key: object) -> Setting:
    if not isinstance(key, tuple) or len(key) != len(FACETS):
        raise InputError(
            f"{key!r} is no setting: give (corpus, algorithm, dims, seed), such as ('wiki', 'sgns', 100, 0)"
        )
    corpus, algorithm, dims, seed = key
    return Setting(str(corpus), str(algorithm), whole_number(dims, "dims"), whole_number(seed, "seed", least=0))


def frame_of(settings: list[Setting]) -> pd.DataFrame:
    """One row a setting: ``corpus``, ``algorithm``, ``dims``, ``seed``."""
    import pandas as pd

    return pd.DataFrame(settings, columns=list(FACETS))


def yardsticks(named: Mapping[Setting, KeyedVectors], pairs: int, rng: np.random.Generator) -> tuple[FloatArray, int]:
    """Mean |cosine| (settings,) of random pairs of words that all embeddings hold, the same pairs for all, and words.

    Raises
    ------
    InputError
        The embeddings share fewer than two words.
    """
    held = [set(kv.key_to_index) for kv in named.values()]
    first = next(iter(named.values()))
    common = [word for word in first.index_to_key if all(word in words for words in held)]
    if len(common) < 2:
        raise InputError(f"the embeddings share {len(common)} words: give embeddings with words in common")
    one = rng.integers(len(common), size=pairs)
    other = (one + rng.integers(1, len(common), size=pairs)) % len(common)
    found = []
    for kv in named.values():
        rows = np.array([kv.key_to_index[word] for word in common])
        left, right = (unit_rows(kv.vectors[rows[places]]) for places in (one, other))
        found.append(np.abs(np.vecdot(left, right)).mean())
    return np.array(found), len(common)
