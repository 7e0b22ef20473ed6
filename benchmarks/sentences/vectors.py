"""Vectors of the words of three lists in 16 sentence frames from all-MiniLM-L6-v2, kept in a folder."""

from pathlib import Path

import numpy as np

import bayesbias as bb
from bayesbias.contextual import english_words
from benchmarks.minilm import MiniLM

LISTS = ("gender", "race", "religion")
KINDS = ("word", "sentence")
FRAMES = ["seat", "mention"]


def encoded(name, kind, folder, encoder=None):
    """Vectors of a list's words and of the whole English vocabulary; they are made where the folder lacks them."""
    return bb.encode(
        encoder or MiniLM(),
        bb.load_words(name),
        FRAMES,
        representation=kind,
        vocabulary=english_words(),
        cache=Path(folder),
    )


def drawn_from(vectors):
    """Half of the vocabulary, from which pseudo-lists are drawn, and the cosines of its words around their mean."""
    pool = list(vectors.vocabulary[::2])
    at = [vectors.words.index(word) for word in pool]
    return pool, vectors.centred("vocabulary").cosines()[np.ix_(at, at)]
