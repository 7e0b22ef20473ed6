"""``toy_corpus``: a small text with a planted bias of known size, made from a seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bayesbias._checks import finite_number, whole_number
from bayesbias._core.cells import IntArray
from bayesbias._core.cosine import FloatArray
from bayesbias._files import check_target, write_text
from bayesbias.errors import InputError
from bayesbias.words import WordLists

PAIRS = (
    ("he", "she"),
    ("man", "woman"),
    ("boy", "girl"),
    ("father", "mother"),
    ("son", "daughter"),
    ("brother", "sister"),
    ("uncle", "aunt"),
    ("nephew", "niece"),
    ("husband", "wife"),
    ("king", "queen"),
    ("actor", "actress"),
    ("duke", "duchess"),
)
"""Protected words, male and female."""

SHARED = (
    ("said", "thought"),
    ("adult", "citizen"),
    ("school", "child"),
    ("parent", "nursery"),
    ("teenager", "grown"),
    ("sibling", "twin"),
    ("relative", "visit"),
    ("cousin", "reunion"),
    ("married", "wedding"),
    ("palace", "crown"),
    ("theatre", "stage"),
    ("castle", "estate"),
)
"""Words that stand beside both words of a pair, pair by pair."""

WORDS = {
    name: tuple(words.split())
    for name, words in {
        "female": "sewing knitting baking pottery dancing gardening singing weaving yoga ballet painting embroidery",
        "male": "fishing carpentry football camping chess golf racing rowing welding plumbing archery darts",
        "human": "walking reading talking laughing sleeping eating thinking listening waiting learning travelling "
        "resting smiling working helping writing playing cooking asking remembering hoping sharing planning breathing",
        "neutral": "table window stone paper bottle corner shelf ladder basket bucket carpet pillow candle blanket "
        "drawer kettle curtain box pencil clock envelope bench lamp string",
        "filler": "the and of to a in was with on for it at by from as that this but not had were so all one there "
        "then after before again while near when more some still soon later today also together",
    }.items()
}
"""Stereotypes, controls, and words that stand anywhere."""

TOPICS = tuple(
    tuple(words.split())
    for words in (
        "rain storm cloud wind snow thunder sunshine frost mist breeze fog hail rainbow drizzle",
        "market price coin shop money bank trade cargo port merchant profit tax wage auction",
        "moon star planet orbit telescope comet galaxy sky eclipse asteroid satellite rocket meteor sun",
        "river mountain valley lake forest hill island beach desert cliff waterfall meadow canyon glacier",
        "horse cow sheep goat hen duck barn pasture hay tractor wheat barley plough fence",
        "train station ticket road bridge bus tram tunnel platform luggage timetable railway carriage driver",
    )
)
"""Words of the sentences that are not about people."""

PEOPLE = 0.5
"""Share of the sentences that are about people."""

HUMAN_SHARE = 0.5
"""Share of the activities that are human controls."""

SLOTS = 11
FILLED = [0, 2, 4, 7, 9]
"""Places of the fillers in a sentence."""

KEPT = 0.7
"""Share of the places of fillers that are filled."""

type WordArray = NDArray[np.object_]
type Chances = Callable[..., FloatArray]


@dataclass(frozen=True)
class ToyCorpus:
    """Made-up sentences in which two groups of words are biased by a known amount.

    Iterate over it for the sentences, as often as needed; each is a list of words.

    Attributes
    ----------
    bias
        What was planted: in a sentence about a group a stereotype word comes from the group's own list with probability
        (1 + bias)/2, from the other group's with (1 - bias)/2.
    seed
        The seed of the text.
    sentences
        The sentences, as tuples.
    words
        Protected words (``female``, ``male``), a stereotype of each, and controls that are used alike for both.
    base_pairs
        Protected words in pairs (male, female).
    targets
        Words to score: both stereotypes, and the neutral controls, which are not biased.
    """

    bias: float
    seed: int
    sentences: tuple[tuple[str, ...], ...] = field(repr=False)
    words: WordLists = field(repr=False)
    base_pairs: tuple[tuple[str, str], ...] = field(repr=False)
    targets: tuple[str, ...] = field(repr=False)

    def __iter__(self) -> Iterator[list[str]]:
        return map(list, self.sentences)

    def __len__(self) -> int:
        return len(self.sentences)

    def save(self, path: str | Path) -> None:
        """Write the text, one sentence a line (``.txt``)."""
        file = check_target(path, (".txt",), "a text")
        write_text(file, "".join(" ".join(words) + "\n" for words in self.sentences))


def toy_corpus(bias: float = 0.5, seed: int = 0, sentences: int = 20_000) -> ToyCorpus:
    """A small text with a planted bias of known size.

    Half of the sentences are about people. Such a sentence is about one group, each with probability 1/2: it holds two
    of the group's protected words and two activities. An activity is, with probability 1/2 each, a human control or a
    stereotype word; a stereotype word comes from the group's own list with probability (1 + bias)/2 and from the other
    group's with (1 - bias)/2, and every word of a list is as likely as any other. So with bias 0 stereotype words are
    used as the human controls are. All else is chosen alike for both groups: words that the two of a pair share
    (*palace* for *king* and *queen*), neutral controls and fillers. The other sentences are about one of six topics.

    The stereotypes are hobbies, chosen to be harmless: they say what is in this text and nothing about people.

    Parameters
    ----------
    bias
        From -1 (reversed) over 0 (none) to 1 (only the own stereotype). With one seed the texts of two biases differ in
        their stereotype words only.
    seed
        Seed of the text.
    sentences
        How many sentences, of some 9 words.

    Raises
    ------
    InputError
        A bias outside [-1, 1].
    """
    bias = finite_number(bias, "bias")
    if not -1 <= bias <= 1:
        raise InputError(f"bias is {bias!r}: give a number from -1 (reversed) over 0 (none) to 1 (all)")
    seed, sentences = whole_number(seed, "seed", least=0), whole_number(sentences, "sentences")
    male, female = (list(words) for words in zip(*PAIRS, strict=True))
    lists = WordLists(
        name="toy",
        protected={"female": female, "male": male},
        stereotypes={"female": WORDS["female"], "male": WORDS["male"]},
        controls={"neutral": WORDS["neutral"], "human": WORDS["human"]},
        description="words of a made-up text with a planted bias",
    )
    targets = WORDS["female"] + WORDS["male"] + WORDS["neutral"]
    return ToyCorpus(bias, seed, _drawn(bias, seed, sentences), lists, PAIRS, targets)


def _drawn(bias: float, seed: int, count: int) -> tuple[tuple[str, ...], ...]:
    """The sentences. As many numbers are drawn for any bias, so that the same sentences come from a seed."""
    generator = np.random.default_rng(seed)

    def chances(slots: int = 1) -> FloatArray:
        return generator.random((count, slots))

    people = chances() < PEOPLE
    fillers = _listed(WORDS["filler"])[_zipf(len(WORDS["filler"]), chances(len(FILLED)))]
    neutral = _chosen(WORDS["neutral"], chances())
    kept = np.ones((count, SLOTS), dtype=np.bool_)
    kept[:, FILLED] = chances(len(FILLED)) < KEPT
    kept[:, -1:] = ~people | (chances() < KEPT)
    sentences = np.where(people, _about_people(bias, chances, neutral), _about_topics(chances, neutral))
    sentences[:, FILLED] = fillers
    words = sentences[kept].tolist()
    ends = kept.sum(axis=1).cumsum().tolist()
    return tuple(tuple(words[begin:end]) for begin, end in pairwise([0, *ends]))


def _about_people(bias: float, chances: Chances, neutral: WordArray) -> WordArray:
    """Two words of a group, two activities, a word that the first shares with its pair, and a neutral word."""
    group, pair, step, side = (_uniform(many, chances()) for many in (2, len(PAIRS), len(PAIRS) - 1, 2))
    protected = _listed(PAIRS)
    own = chances(2) < (1 + bias) / 2
    place = _uniform(len(WORDS["male"]), chances(2))
    stereotype = _listed((WORDS["male"], WORDS["female"]))[np.where(own, group, 1 - group), place]
    human = _chosen(WORDS["human"], chances(2))
    activity = np.where(chances(2) < HUMAN_SHARE, human, stereotype)
    sentences = np.empty((len(group), SLOTS), dtype=object)
    sentences[:, [1]] = protected[pair, group]
    sentences[:, [3, 5]] = activity
    sentences[:, [6]] = _listed(SHARED)[pair, side]
    sentences[:, [8]] = protected[(pair + 1 + step) % len(PAIRS), group]
    sentences[:, [10]] = neutral
    return sentences


def _about_topics(chances: Chances, neutral: WordArray) -> WordArray:
    """Five words of one topic, and a neutral word."""
    topics = _listed(TOPICS)
    topic = _uniform(len(topics), chances())
    sentences = np.empty((len(topic), SLOTS), dtype=object)
    sentences[:, [1, 3, 6, 8, 10]] = topics[topic, _zipf(topics.shape[1], chances(5))]
    sentences[:, [5]] = neutral
    return sentences


def _listed(words: Sequence[object]) -> WordArray:
    return np.array(words, dtype=object)


def _chosen(words: Sequence[str], chances: FloatArray) -> WordArray:
    return _listed(words)[_uniform(len(words), chances)]


def _uniform(many: int, chances: FloatArray) -> IntArray:
    """Places in a list, each as likely as any other."""
    return (chances * many).astype(np.intp)


def _zipf(many: int, chances: FloatArray) -> IntArray:
    """Places in a list, the probability falling with the rank."""
    steps = np.cumsum(1 / np.arange(1, many + 1))
    places: IntArray = np.searchsorted(steps, chances * steps[-1], side="right")
    return places
