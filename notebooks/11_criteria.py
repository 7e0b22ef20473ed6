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
# # Occupations and the census
#
# Occupations with more women lie closer to women's words. How close is the relation, and which decade do the vectors
# know best? You learn to relate the contrasts of words to outside values, in half a minute. The shares in
# `occupations.csv` are those of the US census, as listed by Garg et al. (2018,
# https://doi.org/10.1073/pnas.1720347115), in percent.

# %%
import matplotlib.pyplot as plt
import pandas as pd

import bayesbias as bb

shares = pd.read_csv("occupations.csv", index_col="occupation")
shares.head(3)

# %%
women = ["she", "her", "hers", "woman", "girl", "daughter", "mother", "female", "sister", "herself"]
men = ["he", "his", "him", "man", "boy", "son", "father", "male", "brother", "himself"]
lists = bb.WordLists(
    "occupations",
    {"occupations": list(shares.index)},
    {"occupations": women},
    {"men": men},
    labels={"men": "men's words"},
)
kv = bb.load_embedding("google-news-slice")
table = bb.distance_table(kv, lists)
bb.coverage(table)

# %% [markdown]
# ## One decade
#
# The contrast of an occupation is its mean distance to women's words less that to men's words. `bb.criterion` relates
# the contrasts that lie behind the estimates to the shares; the errors are those of other words for women and men.

# %%
post = bb.fit(table, seed=0)
found = bb.criterion(post, shares["census 1990"].dropna(), contrast=("associated", "men"), seed=0)
found

# %%
bb.plots.plot_relation(found)

# %%
found.words.sort_values("residual").round(3).head(5)

# %% [markdown]
# ## All decades

# %%
rows = {}
for year in shares:
    one = bb.criterion(post, shares[year].dropna(), contrast=("associated", "men"), seed=0)
    rows[year] = {**one.table().set_index("quantity").loc["correlation"], "plain": one.plain, "words": len(one.words)}
decades = pd.DataFrame(rows).T
decades.round(2)

# %%
figure, axes = plt.subplots(figsize=(6, 3))
years = [int(year.split()[1]) for year in decades.index]
axes.errorbar(
    years, decades["mean"], yerr=[decades["mean"] - decades["low"], decades["high"] - decades["mean"]], fmt="o"
)
axes.plot(years, decades["plain"], "x", color="0.5", label="correlation of point estimates")
axes.set(xlabel="census", ylabel="correlation")
axes.legend(frameon=False)
plt.show()

# %% [markdown]
# ## The classic way
#
# WEFAT gives each word an effect size, and its users correlate them with the shares.

# %%
query = bb.Query({"occupations": list(shares.index)}, {"women": women, "men": men}, name="occupations")
wefat = bb.metric("wefat", kv, query).per_word.set_index("word")["value"]
float(wefat.corr(shares["census 1990"]))

# %% [markdown]
# ## A check: shares that have nothing to do with the words

# %%
shuffled = shares["census 1990"].dropna().sample(frac=1, random_state=1)
shuffled.index = shares["census 1990"].dropna().index
bb.criterion(post, shuffled, contrast=("associated", "men"), seed=0).table().round(2).head(1)
