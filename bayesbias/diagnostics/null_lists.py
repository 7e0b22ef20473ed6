"""Words drawn at random in place of stereotype words: from the control lists or from the vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from bayesbias._core.cells import IntArray
from bayesbias._core.cosine import FloatArray, cosine_distances
from bayesbias.errors import InputError
from bayesbias.models.data import ATTRIBUTE_CLASSES, ModelData
from bayesbias.words import WordLists

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

STEREOTYPES = ("associated", "different")
CONTROLS = ("human", "neutral")
NEIGHBOURS = 200
"""Words nearest in frequency rank among which the stand-in of a stereotype word is drawn."""
PART = 20_000
"""Vectors whose distances are taken together."""


@dataclass(frozen=True)
class Places:
    """Where the S stereotype words stand to the J protected words.

    Attributes
    ----------
    connection, attribute_class
        (J, S): place in ``STEREOTYPES`` and list of each pair; -1 where a pair is missing.
    group
        (J,): group of each protected word.
    """

    connection: IntArray
    attribute_class: IntArray
    group: IntArray


@dataclass(frozen=True)
class Pool:
    """Words that may stand in for the stereotype words.

    Attributes
    ----------
    chosen
        (draws, S): the stand-in of each stereotype word.
    words
        (C,): the words to which ``chosen`` points.
    distances
        (J, C); NaN where a pair is missing.
    control
        (C,): the control list that a word leaves when it is drawn, empty for none.
    candidates
        How many words could be drawn.
    """

    chosen: IntArray
    words: list[str]
    distances: FloatArray
    control: np.ndarray
    candidates: int


def places_of(data: ModelData, slots: IntArray) -> Places:
    """Where the words at ``slots`` stand in a table."""
    at = np.full(len(data.attribute_words), -1)
    at[slots] = np.arange(len(slots))
    rows = stereotype_rows(data)
    connection, attribute_class = np.full((2, len(data.protected_words), len(slots)), -1)
    where = data.word[rows], at[data.attribute[rows]]
    connection[where] = (data.connections[data.connection[rows]] == "different").astype(np.intp)
    attribute_class[where] = np.unique(data.attribute_class[rows], return_inverse=True)[1]
    return Places(connection, attribute_class, data.group_index)


def stereotype_rows(data: ModelData) -> np.ndarray:
    return np.isin(data.connections, STEREOTYPES)[data.connection]


def drawn_tables(data: ModelData, places: Places, pool: Pool) -> Iterator[pd.DataFrame]:
    """For each draw the table with the stereotype words replaced, and without the control words that have left."""
    classes, listed = np.unique(data.attribute_class, return_inverse=True)
    rows = stereotype_rows(data)
    labels: dict[str, Iterable[str]] = {
        "protected_word": data.protected_words,
        "group": data.group_names,
        "attribute_word": [*data.attribute_words, *pool.words],
        "attribute_class": classes,
        "connection": data.connections,
    }
    texts = {name: pd.array(list(values), dtype="str") for name, values in labels.items()}
    word, slot = np.nonzero(places.connection >= 0)
    stands = pd.Index(data.connections).get_indexer(pd.Index(STEREOTYPES))[places.connection[word, slot]]
    new_list = np.unique(listed[rows])[places.attribute_class[word, slot]]
    place = pd.Index(pool.words).get_indexer(pd.Index(data.attribute_words))[data.attribute]
    for chosen in pool.chosen:
        drawn = chosen[slot]
        near = pool.distances[word, drawn]
        new, old = ~np.isnan(near), ~rows & ~np.isin(place, chosen)
        codes = {
            "protected_word": np.r_[data.word[old], word[new]],
            "group": data.group_index[np.r_[data.word[old], word[new]]],
            "attribute_word": np.r_[data.attribute[old], len(data.attribute_words) + drawn[new]],
            "attribute_class": np.r_[listed[old], new_list[new]],
            "connection": np.r_[data.connection[old], stands[new]],
        }
        columns = {name: texts[name].take(at) for name, at in codes.items()}
        yield pd.DataFrame({**columns, "distance": np.r_[data.y[old], near[new]]})


def control_pool(data: ModelData, needed: int, named: list[str], draws: int, rng: np.random.Generator) -> Pool:
    """Control words: those of the lists that the statistic names, else all."""
    listed = np.array(ATTRIBUTE_CLASSES)[data.class_of_attribute]
    members = np.flatnonzero(np.isin(listed, named or CONTROLS))
    if len(members) <= needed:
        raise InputError(
            f"there are {needed} stereotype words and {len(members)} control words ({' and '.join(named or CONTROLS)}) "
            "to draw from, which must be more: lengthen the control list, choose another contrast, or draw from the "
            "vocabulary"
        )
    at = np.full(len(listed), -1)
    at[members] = np.arange(len(members))
    own = at[data.attribute] >= 0
    distances = np.full((len(data.protected_words), len(members)), np.nan)
    distances[data.word[own], at[data.attribute[own]]] = data.y[own]
    low = np.zeros(needed, dtype=np.intp)
    chosen = _distinct(low, low + len(members), draws, rng)
    return Pool(chosen, data.attribute_words[members].tolist(), distances, listed[members], len(members))


def vocabulary_pool(
    kv: KeyedVectors,
    lists: WordLists,
    data: ModelData,
    slots: IntArray,
    match: bool,
    draws: int,
    rng: np.random.Generator,
) -> Pool:
    """Words of the embedding that stand in none of the lists; only those that are drawn are looked at."""
    taken = {*lists.every_word(), *data.protected_words.tolist(), *data.attribute_words.tolist()}
    drawn, candidates = stand_ins(kv, taken, data.attribute_words[slots].tolist(), match, draws, rng)
    used, chosen = np.unique(drawn, return_inverse=True)
    protected = kv.vectors[[kv.key_to_index[word] for word in data.protected_words.tolist()]]
    parts = np.array_split(used, -(-used.size // PART))
    distances = np.hstack([cosine_distances(protected, kv.vectors[part]) for part in parts])
    words = [kv.index_to_key[at] for at in used]
    return Pool(chosen.reshape(drawn.shape), words, distances, np.full(len(words), ""), candidates)


def stand_ins(
    kv: KeyedVectors, taken: set[str], words: list[str], match: bool, draws: int, rng: np.random.Generator
) -> tuple[IntArray, int]:
    """Rows of the embedding that stand in for words, (draws, words), and how many could; none is among ``taken``."""
    eligible = np.array([at for at, word in enumerate(kv.index_to_key) if word not in taken], dtype=np.intp)
    if len(eligible) <= len(words):
        raise InputError(
            f"the embedding holds {len(eligible)} words outside of the lists, fewer than are needed to stand in for "
            f"{len(words)} words: load more of it, or draw from the controls"
        )
    low = np.zeros(len(words), dtype=np.intp)
    width = len(eligible)
    if match:
        if kv.index_to_key == sorted(kv.index_to_key):
            raise InputError(
                "the words of the embedding are in alphabetical order, which says nothing of their frequency: "
                "pass match_frequency=False, or vectors in the order of frequency"
            )
        width = min(width, max(NEIGHBOURS, 2 * len(words)))
        rank = np.array([kv.key_to_index[word] for word in words])
        low = np.clip(np.searchsorted(eligible, rank) - width // 2, 0, len(eligible) - width)
    drawn = eligible[_distinct(low, low + width, draws, rng)]
    return drawn, len(np.unique(low[:, None] + np.arange(width))) if match else width


def _distinct(low: IntArray, high: IntArray, draws: int, rng: np.random.Generator) -> IntArray:
    """For each draw one whole number from each range [low, high), no number twice, (draws, ranges)."""
    drawn = np.empty((draws, len(low)), dtype=np.intp)
    for at in range(len(low)):
        again = np.arange(draws)
        while len(again):
            drawn[again, at] = rng.integers(low[at], high[at], len(again))
            again = again[(drawn[again, :at] == drawn[again, at, None]).any(axis=1)]
    return drawn
