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
# # Eight words of one topic are not eight words
#
# Word lists have topics: *nurse*, *secretary*, *receptionist* are one kind of occupation, *he*, *him*, *his* are one
# word. Similar words have similar distances to everything. An interval that takes them for independent is too
# narrow. You see the fault on random topics that have nothing to do with bias, and the remedy: the vectors themselves
# tell how the distances are correlated. It takes about a minute. The word lists name stereotypes in order to measure
# them.

# %%
import os
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import bayesbias as bb

QUICK = bool(os.environ.get("BAYESBIAS_QUICK"))  # fewer topics: enough to see that everything works
TOPICS, REPLICATES = (5, 200) if QUICK else (100, 1000)

kv = bb.load_embedding("google-news-slice")
words = bb.load_words("gender")
kv.vectors.shape

# %% [markdown]
# ## Two lists of eight words
#
# One list is random. The other is *goalkeeper* with the seven words nearest to it. Each line is an attribute word: its
# distance to fourteen protected words, less the mean distance of all words of the vocabulary.

# %%
rng = np.random.default_rng(0)
free = [word for word in kv.index_to_key if word not in words.every_word()]  # words that are in no list
lists = {
    "unrelated": [str(word) for word in rng.choice(free, 8, replace=False)],
    "one topic": ["goalkeeper", *(word for word, _ in kv.most_similar("goalkeeper", topn=7))],
}
protected = [word for group in words.protected.values() for word in group]
unit = np.stack([kv.get_vector(word, norm=True) for word in free])
to_free = 1 - np.stack([kv.get_vector(word, norm=True) for word in protected]) @ unit.T
apart = pd.DataFrame(to_free - to_free.mean(axis=1, keepdims=True), index=protected, columns=free)

figure, panels = plt.subplots(1, 2, figsize=(10, 3.2), sharey=True, layout="constrained")
for panel, (name, listed) in zip(panels, lists.items(), strict=True):
    panel.plot(apart[listed], marker="o", markersize=2.5, linewidth=1)
    panel.plot(apart[listed].mean(axis=1), color="black", linewidth=2.5)
    panel.axhline(0, color="black", linewidth=0.6, linestyle="--")
    panel.set_title(f"{name}: {', '.join(listed)}", fontsize=7.5)
    panel.tick_params(axis="x", labelrotation=60, labelsize=8)
    panel.spines[["top", "right"]].set_visible(False)
_ = panels[0].set_ylabel("distance less the mean distance")

# %% [markdown]
# The deviations of unrelated words cancel in the mean (black). Those of one topic do not. How much does the mean
# distance of eight words vary, over all topics of the vocabulary?

# %%
near = np.argsort(-(unit @ unit.T), axis=1)[:, :8]  # each word of the vocabulary with its seven nearest
drawn = rng.integers(len(free), size=near.shape)
sd = pd.DataFrame(
    {
        "one word": apart.to_numpy().std(axis=1),
        "mean of 8 unrelated words": apart.to_numpy()[:, drawn].mean(axis=2).std(axis=1),
        "mean of 8 words of one topic": apart.to_numpy()[:, near].mean(axis=2).std(axis=1),
    },
    index=protected,
)
sd.mean().round(4).to_frame("sd of the distance")

# %%
worth = (sd["one word"] / sd["mean of 8 words of one topic"]) ** 2
print(f"Eight words of one topic tell as much as {worth.mean():.1f} unrelated words.")

# %% [markdown]
# ## Random topics in place of the stereotypes
#
# `topic_null` draws random lists as long, as coherent and as near as the given ones, and as similar to each other. We
# measure the protected words of the gender list against them. All lists of a replicate are drawn in the same way, so
# there is no bias to find, and an 89% interval should exclude 0 in 11% of the replicates. `crossed` takes different
# words for unrelated; `related` reads their covariance off the vectors.

# %%
null = bb.topic_null(kv, words, replicates=TOPICS, seed=0)
for number in range(3):
    print({name: listed[:4] for name, listed in null.lists(number).items() if name in words.stereotypes})


# %%
def excludes_zero(post, population):
    """Whether the central 89% interval of associated - different leaves 0 out."""
    mean = post["posterior"]["connection_mean"]
    if population == "given":
        mean = post["posterior"]["word_mean"].mean("protected_word")
    below = float((mean.sel(connection="associated") < mean.sel(connection="different")).mean())
    return not 0.055 <= below <= 0.945


rows = []
for number in range(TOPICS):
    listed = null.lists(number)
    topics = replace(
        words,
        stereotypes={name: listed[name] for name in words.stereotypes},
        controls={name: listed[name] for name in words.controls},
    )
    table = bb.distance_table(kv, topics)
    for model in ("crossed", "related"):
        post = bb.fit(table, model, draws=400, seed=number)
        rows += [(model, population, excludes_zero(post, population)) for population in ("given", "similar")]
found = pd.DataFrame(rows, columns=["model", "population", "excludes 0"])
100 * found.pivot_table(index="model", columns="population", values="excludes 0")

# %% [markdown]
# Percent of the topics, nominal 11. `given` speaks about these protected words, `similar` about further protected
# words like these. The crossed model finds a bias of the given words in about half of the topics; the rate of `related`
# is near the nominal one (its standard error is 3). `related` is cautious for further words: random lists treat all
# protected words the same, while the model allows for words that differ. (`docs/validation.md` has studies of several
# lists in two embeddings.) Associated - human would be no test here: topics as near to the protected words as the
# stereotypes are nearer to them than words for people, without any bias.
#
# ## What the vectors know
#
# `distance_table` reads the covariance off a sample of the vocabulary and keeps it with the table. How many unrelated
# words would be as uncertain as each list? For protected words the figure counts words whose bias is their own.

# %%
table = bb.distance_table(kv, words)
relatedness = bb.relatedness(table)
print(relatedness.sentence)
relatedness.effective_words().round(1)

# %% [markdown]
# The variogram says how strongly the distances of two words are correlated, given the similarity of the words: not at
# all for unrelated words, and nearly 1 for near synonyms. Each component of the protected words has its own curve.

# %%
bb.plots.plot_variogram(relatedness)

# %%
bb.plots.plot_relatedness(relatedness)

# %% [markdown]
# ## The gender list under both models
#
# The mean contrast is the same. What differs is how far another list of stereotypes could have led.

# %%
fits = {name: bb.fit(table, name, seed=0) for name in ("crossed", "related")}
whole = [
    bb.contrasts(post, "associated", second, population=population)
    .head(1)
    .assign(contrast=f"associated - {second}", model=name, population=population)
    for second in ("different", "human")
    for name, post in fits.items()
    for population in ("given", "similar")
]
whole = pd.concat(whole).set_index(["contrast", "model", "population"])
whole[["mean", "sd", "low", "high"]].astype(float).round(3)

# %% [markdown]
# Associated against different, the headline, keeps an interval that excludes 0: what both lists share cancels.
# Associated against human is the sum of that and of different against human, which stereotype words of any kind share:
# its interval for the given protected words is four times as wide as under `crossed`, and just excludes 0. For further
# protected words like these both include 0: fourteen words in a few families say little about a population. The model
# says what it rests on:

# %%
bb.diagnose(fits["related"])

# %%
for sentence in bb.checks.verdict_sentences(fits["related"]):
    print(sentence, end="\n\n")

# %% [markdown]
# Are similar words as near in their distances as the vectors predict? `check_relatedness` compares observed
# and predicted scatter of control words, by their similarity; `diagnose` names a fault. Here control words scatter less
# than half as much as predicted (`ratio`). That is a matter of scale: the model follows it with a factor for each kind
# of list.

# %%
bb.checks.check_relatedness(table).round(2)

# %% [markdown]
# ## The chance check
#
# The posterior interval says what other lists of stereotypes, as long, as coherent and as near as these, could have
# given. The chance check asks something else: how often do random lists of words that have nothing to do with the
# groups give a contrast as large? The random lists are as coherent as the given ones, as near and as similar to each
# other. Both lists of `gender` name occupations and traits of people; lists that have nothing to do with each other
# differ more, and the observed contrast would look smaller among them than it is. In
# contrasts with control lists the random lists may lie anywhere in the vocabulary.

# %%
null = bb.topic_null(kv, words, replicates=REPLICATES, seed=0)
print(null.sentence)
bb.plots.plot_topic_null(null)

# %% [markdown]
# Lists of unrelated words would have given the wrong answer:

# %%
print(bb.topic_null(kv, words, replicates=REPLICATES, seed=0, kind="random").sentence)

# %% [markdown]
# ## Longer lists
#
# To tell stereotypes from words for people, more words of the same topic hardly help. What helps are words of other
# topics.

# %%
plan = bb.plan(table, effect=0.05, second="human")
plan

# %%
bb.plots.plot_plan(plan)
