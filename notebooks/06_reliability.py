# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Can a bias score be measured twice?
#
# A score that changes when the embedding is trained with another seed, when another base pair stands for gender, or
# when another formula is used, is not a measurement yet. Du, Fang and Nguyen (2021,
# https://doi.org/10.18653/v1/2021.emnlp-main.785) borrow the three reliabilities of psychometrics: over seeds
# (test-retest), over measures (inter-rater), over words and pairs (internal consistency). You learn to compute them
# with their intervals, and what scores vary with, so that you know how many pairs or seeds are enough. The notebook
# trains small embeddings, and takes a minute.

# %%
import os
import re

import pandas as pd
from gensim.models import Word2Vec

import bayesbias as bb

QUICK = bool(os.environ.get("BAYESBIAS_QUICK"))  # fewer passes: enough to see that everything works

# %% [markdown]
# ## Embeddings that differ in their seed only
#
# The texts are the State of the Union addresses since 1946, by party. gensim trains; with one worker a seed means one
# embedding. Your own vectors can stand in the same mapping.

# %%
addresses = bb.datasets.load_dataset("sotu-addresses").query("year >= 1946")
corpora = {
    party: [re.findall("[a-z]+", one) for text in own["text"] for one in re.split("[.?!;:]", text.lower())]
    for party, own in addresses.groupby("party")
}
kvs = {
    (party, algorithm, 50, seed): Word2Vec(
        corpus, sg=int(algorithm == "sgns"), vector_size=50, seed=seed, epochs=2 if QUICK else 5, workers=1
    ).wv
    for party, corpus in corpora.items()
    for algorithm in ("sgns", "cbow")
    for seed in range(3)
}


def alike(party, algorithm):
    """The embeddings of one party and algorithm."""
    return {setting: kv for setting, kv in kvs.items() if setting[:2] == (party, algorithm)}


{party: sum(map(len, corpus)) for party, corpus in corpora.items()}

# %% [markdown]
# ## Scores
#
# DB/WA, RIPA and NBM of every word, base pair and seed.

# %%
queries = {
    "work": ["worker", "teacher", "student", "president", "secretary", "citizen", "doctor", "farmer", "police", "jobs"],
    "home": ["family", "children", "home", "parents", "school", "health", "care", "marriage", "community", "neighbors"],
}
words = [word for listed in queries.values() for word in listed]
pairs = [("he", "she"), ("him", "her"), ("his", "her"), ("man", "woman"), ("men", "women"), ("father", "mother")]
scores = bb.reliability.bias_scores(alike("Democratic", "sgns"), words, pairs, neighbours=20)
scores.mean(["base_pair", "seed"]).to_pandas().T.round(3).head(8)

# %% [markdown]
# ## Three reliabilities

# %%
retest = {
    "words": bb.reliability.retest_reliability(scores),
    "pairs": bb.reliability.retest_reliability(scores, of="base_pair"),
}
bb.plots.plot_reliability(retest)

# %% [markdown]
# On raw scores the measures disagree, partly because their units differ. Brought to one unit they agree better, from a
# median of .17 to .54; below .5 agreement is called poor.

# %%
raw, scaled = (bb.reliability.inter_rater_consistency(scores, standardise=standardise) for standardise in (False, True))
for name, agreement in (("raw", raw), ("standardised", scaled)):
    print(f"median agreement of measures on a word, {name}: {agreement['value'].median():.2f}")

# %%
bb.reliability.internal_consistency(scores, queries=queries).round(2)

# %% [markdown]
# Alpha of a list says that base pairs differ in the same way for all its words, not that the words share a bias. The
# pairs as an ensemble, over all words, agree less:

# %%
bb.reliability.internal_consistency(scores, of="base_pair").round(3)

# %% [markdown]
# ## One model for all of them
#
# Every score is a mean plus effects of word, pair, measure and seed and of all their combinations (generalizability
# theory). A complete array says everything in its sums of squares, so that the posterior is exact and takes a moment.

# %%
components = bb.reliability.variance_components(scores, seed=0)
components.figure()

# %%
components.reliability().round(3)

# %% [markdown]
# These coefficients answer different questions. Test-retest of a target word asks whether seeds agree on the order of
# the base pairs for that word; they do (.90). Alpha over base pairs asks whether pairs agree on the order of words;
# they do so moderately (.64). `needed` says how many base pairs order words reliably with one seed (.75): about 11,
# and 5 to 30 with a probability of 89%. Further seeds help little.

# %%
components.needed(seeds=1)

# %%
table = components.decision((1, 2, 5, 10, 20, 50))
bb.plots.forest(table, "base_pairs", by="seeds", mark=0.75, label="reliability of words (relative error)")

# %% [markdown]
# ## What makes a word reliable?
#
# Frequency, neighbours, length, and how stable its vector is over seeds, for two algorithms and two texts; then a
# multilevel regression of the reliability of words. Beside the measure no feature tells much here: all intervals of
# their coefficients include 0.

# %%
rows = []
for party in corpora:
    for algorithm in ("sgns", "cbow"):
        own = alike(party, algorithm)
        features = bb.reliability.word_features(own, words)
        reliability = bb.reliability.retest_reliability(bb.reliability.bias_scores(own, words, pairs, neighbours=20))
        rows.append(
            reliability.merge(features, left_on="label", right_on="word").assign(corpus=party, algorithm=algorithm)
        )
table = pd.concat(rows, ignore_index=True)
regression = bb.reliability.reliability_regression(table, draws=1000 if QUICK else 4000, seed=0)
coefficients = regression.table().dropna(subset="mean").iloc[1:]
bb.plots.forest(coefficients, "term", label="coefficients, and standard deviations of groupings and residuals")

# %%
regression
