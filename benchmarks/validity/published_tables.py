"""The published study's tables again: its contrasts, and what it says about debiasing.

- ``headline``: how much of associated - human is special to a word's own stereotypes: it is the sum of associated -
  different and different - human. By the crossed model for the given protected words, and by the published model as the
  study reports it (connection means);
- ``published_debiasing``: the findings of section 5.2, one after another, with the distances at hand, with two separate
  fits of the published model (draws paired at random), and with the paired model: does it hold at hand, and how
  probable is it for words of that kind?
- ``published_debiasing_parts``: the changes of its contrasts as sums of two parts;
- ``prior_predictive``: what each model says a table looks like before data (5%, 50% and 95% of 1,000 tables with the
  words of the list ``gender``), and what the published tables look like (smallest, median, largest).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd

import bayesbias as bb
from benchmarks.study import TABLES, Design, crossed, excludes, main, published_table

TARGETS = {"crossed": "sample", "published": "population"}
SEED, DRAWS, SURE = 52, 4000, 0.945
NEUTRAL_BEFORE = 0.954
"""Mean distance of neutral words in religion before debiasing, which the paper takes as the mark."""


class Topic:
    """The two tables of a topic, the paired model, and two fits of the published one."""

    def __init__(self, name):
        self.tables = published_table(f"{name}_group_reddit_dataset"), published_table(f"debiased_{name}_reddit")
        self.paired = bb.compare(before=self.tables[0], after=self.tables[1], seed=SEED)
        self.published = [bb.fit(table, "published", seed=SEED + at) for at, table in enumerate(self.tables)]
        self.words = [None, *self.paired.posterior["posterior"]["protected_word"].to_numpy().tolist()]

    def observed(self, first, second):
        cells = [table.pivot_table("distance", "protected_word", "connection") for table in self.tables]
        values = [cell[first] - (cell[second] if second else 0) for cell in cells]
        return tuple(np.r_[value.mean(), value.reindex(self.words[1:]).to_numpy()] for value in values)

    def by_paired(self, first, second=None):
        """Draws (D, words) before and after; the whole list stands first."""
        sides = self.paired.sides(first, second, rows="difference")
        kept = np.r_[True, np.isin(self.words[1:], sides.before.index["protected_word"].to_numpy(str))]
        draws = []
        for values in np.split(sides.before.join(sides.after).draws(DRAWS, SEED), 2, axis=1):
            draws.append(np.full((DRAWS, len(kept)), np.nan))
            draws[-1][:, kept] = values
        return draws

    def by_published(self, first, second=None):
        found = []
        for post in self.published:
            drawn = post["posterior"].to_dataset()
            both = [drawn["connection_mean"], drawn["word_mean"].sel(protected_word=self.words[1:])]
            part = [v.sel(connection=first) - (v.sel(connection=second) if second else 0) for v in both]
            whole, words = (v.to_numpy().reshape(-1, *v.shape[2:]) for v in part)
            found.append(np.column_stack([whole, words]))
        return found


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


A, D = "associated", "different"
FINDINGS = [
    *(
        Finding("religion", f"{name} words get closer to where neutral words were", name, None, None, nearer_to_neutral)
        for name in (A, D, "human")
    ),
    *(
        Finding("religion", f"{name} words move away from protected words", name, None, None, farther)
        for name in (A, D, "human")
    ),
    Finding("religion", "muslim: the order of associated and different stays", A, D, "muslim", same_order),
    Finding("religion", "christian: that order is reversed", A, D, "christian", reversed_order),
    Finding("religion", "jew: that order is reversed", A, D, "jew", reversed_order),
    Finding("gender", "the difference of associated and different gets smaller", A, D, None, smaller),
    Finding("gender", "hers: associated words change most", A, None, "hers", among_most_changed(1)),
    Finding("race", "associated and different become aligned", A, D, None, smaller),
    *(
        Finding("race", f"{word}: one of two words whose order changes most", A, D, word, among_most_changed(2))
        for word in ("asian", "asia")
    ),
]
topic_of = cache(Topic)


def headline(cell):
    post = bb.fit(published_table(cell["table"]), cell["model"], draws=20_000, seed=0)
    for row in bb.decomposition(post, "human", target=TARGETS[cell["model"]]).head(3).to_dict("records"):
        figures = {key: row[key] for key in ("contrast", "mean", "sd", "low", "high")}
        yield figures | {"called": bool(excludes(row))}


def findings(cell):
    """One row a finding: figures at hand, by the published model and by the paired one, and whether it holds."""
    for each in FINDINGS:
        topic = topic_of(each.topic)
        asked, at = (each.first, each.second), topic.words.index(each.word)
        observed, paired, published = topic.observed(*asked), topic.by_paired(*asked), topic.by_published(*asked)
        probability = float(each.holds(*paired, at).mean())
        yield {
            "topic": each.topic,
            "finding": each.sentence,
            "observed": " to ".join(f"{value[at]:+.3f}" for value in observed),
            "at_hand": "yes" if each.holds(*observed, at) else "no",
            "published": " to ".join(f"{draws[:, at].mean():+.3f}" for draws in published),
            "p_published": float(each.holds(*published, at).mean()),
            "paired": " to ".join(f"{draws[:, at].mean():+.3f}" for draws in paired),
            "p_paired": probability,
            "settled": "yes" if probability >= SURE else "no" if probability <= 1 - SURE else "open",
        }


def parts(cell):
    """The contrast of associated and human words before and after, and its change, as the sum of two parts."""
    topic = topic_of(cell["topic"])
    for row in topic.paired.decomposition("human").head(3).to_dict("records"):
        first, second = row["contrast"].split(" - ")
        observed = topic.observed(first, second)
        row |= {"at_hand_before": observed[0][0], "at_hand_after": observed[1][0]}
        for when, draws in zip(("before", "after"), topic.by_paired(first, second), strict=True):
            row |= {when: draws[:, 0].mean(), f"p_closer_{when}": (draws[:, 0] < 0).mean()}
        del row["protected_word"]
        yield row


def looks(distances, connection):
    """Of tables (draws, rows): mean, sd, share where no cosine distance lies, and sd of the means of connections."""
    means = [distances[:, connection == each].mean(axis=1) for each in np.unique(connection)]
    outside = (distances < 0) | (distances > 2)
    return pd.DataFrame(
        {
            "mean": distances.mean(axis=1),
            "sd": distances.std(axis=1),
            "outside": outside.mean(axis=1),
            "between": np.std(means, axis=0),
        }
    )


def prior_predictive(cell):
    """A row for each figure of a table: its ends and middle over tables of the prior, or over those that are there."""
    if cell["model"] == OBSERVED:
        tables = [(table["distance"].to_numpy()[None], table["connection"]) for table in map(published_table, TABLES)]
        looked, ends = pd.concat([looks(distances, connection) for distances, connection in tables]), (0, 0.5, 1)
    else:
        table = bb.distance_table("google-news-slice", "gender", relatedness=False)
        engines = bb.bundled("models").set_index("name").loc[cell["model"], "engines"]
        few = {"draws": 8, "chains": 1, "sampler": {"tune": 8}} if engines == "nuts" else {}  # the prior needs no draws
        post = bb.checks.add_prior(bb.fit(table, cell["model"], seed=0, **few), draws=1000, seed=0)
        drawn = post["prior_predictive/distance"].to_numpy()[0]
        looked, ends = looks(drawn, post["constant_data/connection_index"].to_numpy()), (0.05, 0.5, 0.95)
    for figure, values in looked.items():
        yield {"figure": figure, **dict(zip(("low", "middle", "high"), np.quantile(values, ends), strict=True))}


OBSERVED = "published tables"
WITH_PRIOR = [name for name in bb.bundled("models")["name"] if name not in ("change", "related")]  # of distances

DESIGNS = (
    Design("headline", crossed(table=TABLES, model=TARGETS), headline, 1),
    Design("published_debiasing", [{}], findings, 1, 3),
    Design("published_debiasing_parts", crossed(topic=("religion", "gender", "race")), parts, 1),
    Design("prior_predictive", crossed(model=[*WITH_PRIOR, OBSERVED]), prior_predictive, 1),
)

if __name__ == "__main__":
    main(*DESIGNS)
