"""Trends of frequency: toy corpora in which the words of one list become 60 times as frequent, in the same contexts.

Each replicate draws a world of words and topics, writes ten corpora of 12,000 sentences and trains skip-gram vectors on
each. The stereotypes are used in the contexts of the human controls throughout; only their frequency grows.
"""

import sys

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.stability import train_embeddings
from benchmarks.common import keep

PERIODS, TOPICS, SENTENCES, LENGTH = 10, 20, 12_000, 8
PROTECTED = [f"protected{at}" for at in range(8)]
STEREOTYPES, CONTROLS = ([f"{name}{at}" for at in range(30)] for name in ("stereotype", "control"))
FILLERS = [f"filler{at}" for at in range(700)]
WORDS = [*STEREOTYPES, *CONTROLS, *PROTECTED, *FILLERS]
LISTS = bb.WordLists(
    "toy",
    {"g": PROTECTED[:4], "h": PROTECTED[4:]},
    {"g": STEREOTYPES[:15], "h": STEREOTYPES[15:]},
    {"human": CONTROLS},
)
GROWTH = np.linspace(-2.05, 2.05, PERIODS)
"""Logarithm of how much more frequent the stereotypes are than at the middle."""
CONTRAST = ("associated", "human")


def world(rng):
    """Log frequencies of words, and their shares of topics; protected words share most of their contexts."""
    lists = len(STEREOTYPES) + len(CONTROLS)
    frequency = np.concatenate([rng.normal(0, 0.5, lists), np.ones(8), rng.normal(0, 1.2, len(FILLERS))])
    topics = rng.dirichlet(np.full(TOPICS, 0.15), len(WORDS))
    held = slice(lists, lists + len(PROTECTED))
    topics[held] = (topics[held] + topics[held].mean(axis=0)) / 2
    return frequency, topics


def corpus(frequency, topics, growth, rng):
    """Sentences, each of one topic, whose words are drawn by frequency and topic."""
    shift = np.where(np.arange(len(WORDS)) < len(STEREOTYPES), growth, 0.0)
    weights = np.exp(frequency + shift)[:, None] * topics
    ends = np.cumsum(weights / weights.sum(axis=0), axis=0)
    drawn = [
        np.searchsorted(ends[:-1, topic], rng.random((count, LENGTH)))
        for topic, count in enumerate(rng.multinomial(SENTENCES, np.full(TOPICS, 1 / TOPICS)))
    ]
    sentences = np.array(WORDS)[rng.permutation(np.concatenate(drawn))]
    return sentences.tolist()


def main(replicates=40):
    """Write how often a trend is called with raw and with adjusted distances, and how often ``balance`` warns."""
    rng, rows = np.random.default_rng(0), []
    time = {f"p{at}": at for at in range(PERIODS)}
    for replicate in range(replicates):
        frequency, topics = world(rng)
        tables, counts = {}, {}
        for name, at in time.items():
            options = {"dims": 50, "seeds": [at], "epochs": 4, "sample": 0, "jobs": 1}
            (kv,) = train_embeddings(corpus(frequency, topics, GROWTH[at], rng), **options).values()
            counts[name] = {word: kv.get_vecattr(word, "count") for word in kv.index_to_key}
            tables[name] = bb.distance_table(kv, LISTS)
        found = bb.trend(tables, time, CONTRAST, stages=bb.checks.TwoStage(adjust="frequency", frequencies=counts))
        spreads = bb.balance(tables, counts).spreads.set_index("contrast")
        for what, one in (("raw", found.unadjusted), ("adjusted", found)):
            change = one.change("p0", f"p{PERIODS - 1}")
            called = change["low"] > 0 or change["high"] < 0
            rows.append({"replicate": replicate, "distances": what, "called": called, **change})
            rows[-1]["warned"] = bool(spreads.loc["associated - human", "warning"])
            rows[-1]["warned_of_different"] = bool(spreads.loc["associated - different", "warning"])
        shown = pd.DataFrame(rows).groupby("distances")[["called", "mean", "sd", "warned", "warned_of_different"]]
        print(replicate, shown.mean().round(3).to_string(), flush=True)
    every = pd.DataFrame(rows)
    summary = every.groupby("distances").agg(
        replicates=("replicate", "size"),
        called=("called", "mean"),
        mean=("mean", "mean"),
        sd_of_means=("mean", "std"),
        mean_sd=("sd", "mean"),
        warned=("warned", "mean"),
        warned_of_different=("warned_of_different", "mean"),
    )
    keep(summary.reset_index().round(4), "second_stage/frequency")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
