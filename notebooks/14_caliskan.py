# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Caliskan's ten tests, with intervals
#
# Caliskan, Bryson and Narayanan (2017, https://doi.org/10.1126/science.aal4230) found ten associations known from
# psychology in word vectors. Would they have come out with other words? You learn to set a permutation test beside an
# interval and a chance check, in a minute. The vectors are GloVe's in 50 dimensions, which are bundled. The word lists
# name stereotypes in order to measure them.

# %%
import os

import matplotlib.pyplot as plt
import pandas as pd

import bayesbias as bb

QUICK = bool(os.environ.get("BAYESBIAS_QUICK"))  # fewer topics: enough to see that everything works
TOPICS = 20 if QUICK else 1000
kv = bb.load_embedding("glove-50d-slice")
queries = {number: bb.load_query(f"weat{number}") for number in range(1, 11)}
queries[6]

# %% [markdown]
# ## One test
#
# WEAT 6: are men's names nearer to words for a career, and women's to words for the family? The permutation test deals
# the names to the two sets at random. The attribute words are fixed.

# %%
bb.metric("weat_effect_size", kv, queries[6], p_value=True, alternative="greater", case="fallback")


# %% [markdown]
# The interval says how much nearer the names would be to their own attribute words, if those were another list, as
# long, as coherent and as near. A query is written as word lists: the first targets belong to the first attributes.


# %%
def lists_of(query):
    """The first targets with the first attributes, the second with the second."""
    return bb.WordLists(query.name, query.targets, dict(zip(query.targets, query.attributes.values(), strict=True)))


table = bb.distance_table(kv, lists_of(queries[6]), case="fallback")
post = bb.fit(table, seed=0)
bb.contrasts(post, "different", "associated").head(1).round(3)

# %% [markdown]
# The chance check puts random topics in place of the attribute words. They are as coherent as the given lists, as near
# and as similar to each other.

# %%
bb.topic_null(kv, lists_of(queries[6]), replicates=TOPICS, case="fallback")

# %% [markdown]
# ## Ten tests
#
# The published effect sizes are of GloVe vectors in 300 dimensions, of 840 billion tokens. The bundled slice lacks rare
# names: `words` counts what it has.

# %%
published = dict(zip(queries, (1.50, 1.53, 1.41, 1.50, 1.28, 1.81, 1.06, 1.24, 1.38, 1.21), strict=True))
rows = {}
for number, query in queries.items():
    options = {"p_value": True, "alternative": "greater", "case": "fallback", "max_missing": 1.0}
    weat = bb.metric("weat_effect_size", kv, query, **options)
    lists = lists_of(query)
    post = bb.fit(bb.distance_table(kv, lists, case="fallback"), seed=0)
    whole = bb.contrasts(post, "different", "associated").iloc[0]
    null = bb.topic_null(kv, lists, replicates=TOPICS, case="fallback").table()
    words = "{found} of {asked}".format(**weat.coverage[["found", "asked"]].sum())
    values = [weat.value, weat.p_value, *whole[["mean", "low", "high"]], null["share_as_far"].iloc[0]]
    label = f"{number} {' / '.join(query.targets)}".replace("_", " ").replace(" names /", " /")
    rows[number] = [label, words, published[number], *values]
columns = ["test", "words", "published d", "d", "p", "nearer", "low", "high", "topics as far"]
tests = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
tests.round(4)

# %%
excludes = (tests["low"] > 0) | (tests["high"] < 0)
pd.DataFrame(
    {
        "tests": [(tests["p"] < 0.05).sum(), excludes.sum(), (tests["topics as far"] <= 0.05).sum()],
        "answers": ["about these words", "about other lists of attribute words", "about attributes of any topic"],
    },
    index=["permutation test, p < .05", "89% interval excludes 0", "at most 5% of random topics as far from 0"],
)

# %% [markdown]
# A threshold of 5.5% on each side is no stricter than p < .05. The answers differ since the questions do.

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
colours = {True: "#222222", False: "#8a8a8a"}
left.scatter(tests["published d"], tests["test"], facecolors="none", edgecolors="#222222")
left.scatter(tests["d"], tests["test"], marker="D", color=(tests["p"] < 0.05).map(colours))
left.set(xlabel="WEAT's d", title="\u25cb published  \u25c6 here\n(black: p < .05)")
right.hlines(tests["test"], tests["low"], tests["high"], color=excludes.map(colours), linewidth=2)
right.scatter(tests["nearer"], tests["test"], color=excludes.map(colours))
right.set(xlabel="nearer to own words (cosine distance)", title="89% interval\n(black: excludes 0)")
for panel in (left, right):
    panel.axvline(0, color="black", linewidth=0.8, linestyle=":")
left.invert_yaxis()
plt.show()

# %% [markdown]
# ## Why
#
# Attribute words of one topic have correlated distances: 25 words have a small effective sample size.

# %%
pleasantness = bb.distance_table(kv, lists_of(queries[1]), case="fallback")
bb.relatedness(pleasantness).effective_words().round(1)

# %% [markdown]
# Here *flowers* and *insects* with kind `stereotype` are the pleasant and the unpleasant words. The effect size does
# not show this: it divides by the spread among the target words. In Google News, in 300 dimensions and with all names,
# the answers differ as well: see the page *Caliskan's ten tests* (`docs/caliskan.md`).
