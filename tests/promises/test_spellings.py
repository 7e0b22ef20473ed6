"""A word that an embedding spells otherwise would be missing in one function, or change what another draws at random."""

import dataclasses
import inspect
import re
from collections.abc import Mapping
from functools import cached_property
from unicodedata import normalize

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from gensim.models import KeyedVectors
from test_every_argument import FUNCTIONS

import bayesbias as bb
from bayesbias.vectors import find_words

NO_BREAK = "\N{NO-BREAK SPACE}"
HOW_HELD = (  # how an embedding holds a word, and how it is asked for
    lambda word: (f"{word}_of_work", f"{word} of work"),
    lambda word: (f"{word} of work", f"{word}_of_work"),
    lambda word: (f"{word}{NO_BREAK}café", f"{word} café"),
    lambda word: (normalize("NFD", f"{word}éa"), f"{word}éa"),
    lambda word: (f"{word}éa", normalize("NFD", f"{word}éa")),
    lambda word: (f"{word}_biê\u0301n", normalize("NFD", f"{word} biến")),
)
NAMES = [*"pquvrstw", *"klcmnd", *"hijx", *(f"o{number}" for number in range(14))]
SPELLED = {name: HOW_HELD[place % len(HOW_HELD)](name) for place, name in enumerate(NAMES)}
HELD, ASKED = ({name: both[side] for name, both in SPELLED.items()} for side in (0, 1))
NAME_OF = {
    normalize("NFC", form): name
    for name, both in SPELLED.items()
    for form in (*both, both[0].replace(NO_BREAK, "_"), *map(str.upper, both), *map(str.lower, both))
}


def vectors(seed):
    """Random vectors of the words, as the embedding holds them, among 600 others."""
    rng = np.random.default_rng(seed)
    words = [*HELD.values(), *(f"z{number}" for number in range(600))]
    kv = KeyedVectors(vector_size=12, dtype=np.float32)
    order = np.random.default_rng(7).permutation(len(words))
    kv.add_vectors([words[place] for place in order], rng.normal(size=(len(words), 12)).astype(np.float32))
    return kv


KVS = {name: vectors(seed) for seed, name in enumerate(("one", "two", "three"))}


class World:
    """Arguments of functions with words in one spelling."""

    def __init__(self, spelled, case):
        self.spelled = spelled
        self.case = case

    def words(self, names):
        return [self.spelled[name] for name in names]

    @cached_property
    def lists(self):
        return bb.WordLists(
            "mine",
            {"a": self.words("pquv"), "b": self.words("rstw")},
            {"a": self.words("klc"), "b": self.words("mnd")},
            {"human": self.words("hijx"), "neutral": self.words(NAMES[-14:])},
        )

    @cached_property
    def query(self):
        return bb.Query(self.lists.protected, {"x": self.words("klc"), "y": self.words("mnd")}, name="mine")

    @cached_property
    def pairs(self):
        return [tuple(self.words(pair)) for pair in ("km", "ln", "cd")]

    @cached_property
    def tables(self):
        return bb.distance_tables(dict(list(KVS.items())[:2]), self.lists, **self.case)

    @cached_property
    def table(self):
        return bb.distance_table(KVS["one"], self.lists, **self.case)

    @cached_property
    def post(self):
        return bb.fit(self.table, "crossed", draws=400, seed=1)

    @cached_property
    def axis(self):
        return bb.axis(KVS["one"], self.pairs, words=self.words("pqrs"), **self.case)

    @cached_property
    def other_axis(self):
        return bb.axis(KVS["one"], [tuple(self.words(pair)) for pair in ("hi", "jx")], words=self.words("pqrs"), **self.case)

    @cached_property
    def numbers(self):
        return {self.spelled[name]: 1.0 + place for place, name in enumerate(NAMES)}

    @cached_property
    def settings(self):
        return {bb.stability.Setting("c", "sgns", 12, seed): kv for seed, kv in enumerate(KVS.values())}

    def held(self):
        return World(HELD, {})
