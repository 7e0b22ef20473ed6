"""What the published study says about debiasing (section 5.2), one finding after another, from its tables.

Each finding stands with the distances at hand, with two separate fits of the published model (draws paired at random),
and with the paired model: does it hold at hand, and how probable is it for words of that kind?
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from common import keep, published_tables

import bayesbias as bb

SEED, DRAWS = 52, 4000
SURE = 0.945
NEUTRAL_BEFORE = 0.954
"""Mean distance of neutral words in religion before debiasing, which the paper takes as the mark."""


@dataclass(frozen=True)
class Sides:
    """A quantity before and after: observed values (words,) and draws (D, words); the whole list stands first."""

    words: list
    observed: tuple
    draws: tuple

    def column(self, word):
        return 0 if word is None else self.words.index(word)


class Topic:
    """The two tables of a topic, the paired model, and two fits of the published one."""

    def __init__(self, name, tables):
        self.tables = (tables[f"{name}_group_reddit_dataset"], tables[f"debiased_{name}_reddit"])
        self.paired = bb.compare(before=self.tables[0], after=self.tables[1], seed=SEED)
        self.published = [bb.fit(table, "published", seed=SEED + at) for at, table in enumerate(self.tables)]
        self.words = [None, *self.paired.posterior["posterior"]["protected_word"].to_numpy().tolist()]

    def observed(self, first, second):
        cells = [table.pivot_table("distance", "protected_word", "connection") for table in self.tables]
        values = [cell[first] - (cell[second] if second else 0) for cell in cells]
        return tuple(np.r_[value.mean(), value.reindex(self.words[1:]).to_numpy()] for value in values)

    def by_paired(self, first, second=None):
        sides = self.paired.sides(first, second, rows="difference")
        kept = np.r_[True, np.isin(self.words[1:], sides.before.index["protected_word"].to_numpy(str))]
        draws = []
        for values in np.split(sides.before.join(sides.after).draws(DRAWS, SEED), 2, axis=1):
            draws.append(np.full((DRAWS, len(kept)), np.nan))
            draws[-1][:, kept] = values
        return Sides(self.words, self.observed(first, second), tuple(draws))

    def by_published(self, first, second=None):
        found = []
        for post in self.published:
            drawn = post["posterior"].to_dataset()
            both = [drawn["connection_mean"], drawn["word_mean"].sel(protected_word=self.words[1:])]
            part = [v.sel(connection=first) - (v.sel(connection=second) if second else 0) for v in both]
            whole, words = (v.to_numpy().reshape(-1, *v.shape[2:]) for v in part)
            found.append(np.column_stack([whole, words]))
        return Sides(self.words, self.observed(first, second), tuple(found))


@dataclass(frozen=True)
class Finding:
    """A sentence of the paper as a condition on what a quantity was and became."""

    topic: str
    sentence: str
    first: str
    second: str | None
    word: str | None
    holds: Callable
    """Arrays (..., words) before and after, and the word's column, to booleans (...)."""


def farther(before, after, at):
    return after[..., at] > before[..., at]


def nearer_to_neutral(before, after, at):
    return np.abs(after[..., at] - NEUTRAL_BEFORE) < np.abs(before[..., at] - NEUTRAL_BEFORE)


def reversed_order(before, after, at):
    return np.sign(after[..., at]) != np.sign(before[..., at])


def same_order(before, after, at):
    return ~reversed_order(before, after, at)


def smaller(before, after, at):
    return np.abs(after[..., at]) < np.abs(before[..., at])


def among_most_changed(count):
    def holds(before, after, at):
        change = np.abs(after - before)[..., 1:]
        return (np.argsort(-change, axis=-1)[..., :count] == at - 1).any(axis=-1)

    return holds


FINDINGS = [
    *(
        Finding("religion", f"{name} words get closer to where neutral words were", name, None, None, nearer_to_neutral)
        for name in ("associated", "different", "human")
    ),
    *(
        Finding("religion", f"{name} words move away from protected words", name, None, None, farther)
        for name in ("associated", "different", "human")
    ),
    Finding(
        "religion",
        "muslim: the order of associated and different stays",
        "associated",
        "different",
        "muslim",
        same_order,
    ),
    Finding("religion", "christian: that order is reversed", "associated", "different", "christian", reversed_order),
    Finding("religion", "jew: that order is reversed", "associated", "different", "jew", reversed_order),
    Finding(
        "gender", "the difference of associated and different gets smaller", "associated", "different", None, smaller
    ),
    Finding("gender", "hers: associated words change most", "associated", None, "hers", among_most_changed(1)),
    Finding("race", "associated and different become aligned", "associated", "different", None, smaller),
    *(
        Finding(
            "race",
            f"{word}: one of two words whose order changes most",
            "associated",
            "different",
            word,
            among_most_changed(2),
        )
        for word in ("asian", "asia")
    ),
]


def findings(tables):
    """One row a finding: figures at hand, by the published model and by the paired one, and whether it holds."""
    topics = {name: Topic(name, tables) for name in dict.fromkeys(each.topic for each in FINDINGS)}
    rows = []
    for each in FINDINGS:
        topic = topics[each.topic]
        paired, published = topic.by_paired(each.first, each.second), topic.by_published(each.first, each.second)
        at = paired.column(each.word)
        probability = float(each.holds(*paired.draws, at).mean())
        rows.append(
            {
                "topic": each.topic,
                "finding": each.sentence,
                "observed": " to ".join(f"{value[at]:+.3f}" for value in paired.observed),
                "at_hand": "yes" if each.holds(*paired.observed, at) else "no",
                "published": " to ".join(f"{draws[:, at].mean():+.3f}" for draws in published.draws),
                "p_published": round(float(each.holds(*published.draws, at).mean()), 3),
                "paired": " to ".join(f"{draws[:, at].mean():+.3f}" for draws in paired.draws),
                "p_paired": round(probability, 3),
                "settled": "yes" if probability >= SURE else "no" if probability <= 1 - SURE else "open",
            }
        )
    return pd.DataFrame(rows)


def decomposed(tables):
    """The contrast of associated and human words before and after, and its change, as the sum of two parts."""
    rows = []
    for name in dict.fromkeys(each.topic for each in FINDINGS):
        topic = Topic(name, tables)
        for row in topic.paired.decomposition("human").head(3).to_dict("records"):
            first, second = row["contrast"].split(" - ")
            observed = topic.observed(first, second)
            row |= {"at_hand_before": observed[0][0], "at_hand_after": observed[1][0]}
            for at, when in enumerate(("before", "after")):
                draws = topic.by_paired(first, second).draws[at][:, 0]
                row |= {when: draws.mean(), f"p_below_zero_{when}": (draws < 0).mean()}
            del row["protected_word"]
            rows.append({"topic": name, **row})
    return pd.DataFrame(rows).round(4)


if __name__ == "__main__":
    with pd.option_context("display.width", 250, "display.max_colwidth", 90):
        keep(findings(published_tables()), "published_debiasing")
        keep(decomposed(published_tables()), "published_debiasing_parts")
