"""Vectors of the words of three lists in 16 templates from all-MiniLM-L6-v2, kept in a folder."""

from functools import cache
from pathlib import Path

import numpy as np

import bayesbias as bb
from bayesbias.vectors.contextual import english_words
from benchmarks.builders.minilm import MiniLM

LISTS = ("gender", "race", "religion")
KINDS = ("word", "sentence")
TEMPLATES = ["seat", "mention"]

encoder = cache(MiniLM)


def encoded(name, kind, folder):
    """Vectors of a list's words and of the whole English vocabulary; they are made where the folder lacks them."""
    words = bb.load_words(name)
    return bb.encode(encoder(), words, TEMPLATES, representation=kind, vocabulary=english_words(), cache=Path(folder))


def drawn_from(vectors):
    """Half of the vocabulary, from which pseudo-lists are drawn, and the cosines of its words around their mean."""
    pool = list(vectors.vocabulary[::2])
    at = [vectors.words.index(word) for word in pool]
    return pool, vectors.centred("vocabulary").cosines()[np.ix_(at, at)]
