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
# # The classic metrics, and what they miss
#
# You learn to compute WEAT, MAC, RNSB and others with exact tests, and why a single number with a small p-value may say
# little: it averages, it depends on the words that were chosen, and random topics reach it too. It takes about a
# minute. The word lists name stereotypes in order to measure them.

# %%
import os

import pandas as pd

import bayesbias as bb

QUICK = bool(os.environ.get("BAYESBIAS_QUICK"))  # fewer topics: enough to see that everything works
TOPICS, REPLICATES = (5, 200) if QUICK else (100, 1000)

kv = bb.load_embedding("google-news-slice")
query = bb.load_query("weat7")
query

# %% [markdown]
# ## The numbers
#
# The query is WEAT 7: the targets are words for mathematics and for the arts, the attributes terms for men and women.
# `run_metrics` takes every metric for which the query has enough sets; a metric that takes one attribute set is
# measured for each.

# %%
numbers = bb.run_metrics(kv, ["weat7"])
numbers[["subquery", "metric", "value", "optimum"]].round(3)

# %% [markdown]
# `optimum` is the value of no bias. Each metric has its own scale, and none says how large its value would be for
# other words.
#
# WEAT's effect size comes with a permutation test over all partitions of the target words:

# %%
bb.metric("weat_effect_size", kv, query, p_value=True)

# %% [markdown]
# ## What the average hides
#
# WEAT takes the mean cosine of each target word with each attribute set, and then looks at these means only. Here are
# two tables with the same means. The first holds the distances as they are. In the second each distance lies three
# times as far from the mean of its target word and its list.

# %%
own = dict(zip(query.targets, query.attributes.values(), strict=True))  # mathematics: men; the arts: women
table = bb.distance_table(kv, bb.WordLists("weat7", dict(query.targets), own, {}), relatedness=False)
cells = table.groupby(["protected_word", "attribute_class"])["distance"]
wide = table.assign(distance=table["distance"] + 2 * (table["distance"] - cells.transform("mean")))


def weat_effect(rows):
    """The effect size, from the mean distance of each target word to each attribute set."""
    means = rows.pivot_table("distance", ["group", "protected_word"], "attribute_class")
    s = means[means.columns[1]] - means[means.columns[0]]
    by_group = s.groupby("group").mean()
    return abs(by_group.diff().iloc[-1]) / s.std(ddof=0)


tables = {"as they are": table, "three times the scatter": wide}
rows = {}
for name, one in tables.items():
    spread = one.groupby(["protected_word", "attribute_class"])["distance"].std().mean()
    contrast = bb.contrasts(bb.fit(one, "crossed", seed=0)).iloc[0]
    rows[name] = [weat_effect(one), spread, *contrast[["mean", "low", "high"]]]
columns = ["WEAT effect size", "sd within lists", "contrast", "low", "high"]
pd.DataFrame(rows, index=columns).T.astype(float).round(3)

# %% [markdown]
# The effect size is the same, and so is its permutation test, which uses the same means. The interval of the contrast
# is not: with three times the scatter it includes 0. One word of the two tables:

# %%
bb.plots.plot_distances(table, "algebra")

# %%
bb.plots.plot_distances(wide, "algebra")

# %% [markdown]
# ## Random topics are "significant"
#
# `topic_null` puts random lists in place of the attribute sets, as long, as coherent and as near as these and as
# similar to each other, drawn without a look at the target words, which are the first names of WEAT 6. Some of these
# lists will be about men and women by chance; the question is how often a difference as large as the observed one
# arises.

# %%
names = bb.load_query("weat6")
null = bb.topic_null(kv, names, "weat_effect_size", replicates=REPLICATES, seed=0)
for number in range(2):
    print(" | ".join(", ".join(listed[:5]) for listed in null.lists(number).values()))

# %%
null

# %% [markdown]
# What do tests say about random topics? The permutation test of WEAT takes the attribute words as given. It is right
# that these very words differ, but two random lists differ as well. The interval of the default model asks what other
# lists, as coherent and as near, would have given.

# %%
rows = []
lists = bb.load_words("weat6")
for number in range(TOPICS):
    drawn = null.lists(number)
    topics = bb.Query(names.targets, {name: drawn[name] for name in names.attributes}, name="random topics")
    permuted = bb.metric("weat_effect_size", kv, topics, p_value=True).p_value
    both = bb.WordLists(
        "random topics",
        dict(lists.protected),
        dict(zip(lists.stereotypes, topics.attributes.values(), strict=True)),
        {"human": lists.controls["human"]},
    )
    draws = bb.contrasts(bb.fit(bb.distance_table(kv, both), draws=400, seed=number)).iloc[0]
    rows.append((permuted < 0.05, permuted < 0.11, not 0.055 <= draws["p_closer"] <= 0.945))
called = ["permutation test, p < .05", "permutation test, p < .11", "89% interval excludes 0"]
rates = pd.DataFrame(rows, columns=called).mean().to_frame("share of random topics")
rates["nominal"] = [0.05, 0.11, 0.11]
rates.round(2)

# %% [markdown]
# So most pairs of random topics have a small p-value. (With 100 topics a share near .11 has a standard error of .03.)
# WEAT 6 itself remains far from no bias when it is compared with random lists, and the interval of its contrast
# excludes 0:

# %%
bb.metric("weat", kv, names, p_value="related")

# %%
post = bb.fit(bb.distance_table(kv, lists), seed=0)
bb.contrasts(post).head(1).round(3)

# %% [markdown]
# `docs/metrics.md` says which metric answers which question; `05_silhouettes` follows them while word
# lists grow, and `docs/explanation/intervals.md` says why topics matter.
