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
# # Words between two poles
#
# Which sports are for the rich, and which occupations for men? Kozlowski, Taddy and Evans (2019,
# https://doi.org/10.1177/0003122419877135) read the meanings of class and gender off axes in word vectors: pairs of
# opposites, such as *poor* and *rich*, and the places of words between them. You learn to place words with intervals,
# to find the pairs that do not belong, and to relate places to a census, in half a minute. The vectors are GloVe's in
# 50 dimensions (20,518 words of Wikipedia and news), which are bundled.

# %%
import matplotlib.pyplot as plt
import pandas as pd

import bayesbias as bb

kv = bb.load_embedding("glove-50d-slice")
bb.list_axes()[["name", "domain", "negative", "positive", "pairs"]].head(8)

# %% [markdown]
# ## Sports and affluence
#
# The place of a sport is its mean distance to the words for poverty less that to the words for wealth; 0 is the mean
# over the vocabulary. The bars say how far places lie from 0 on axes without a meaning, whose pairs are as similar and
# as parallel as these.

# %%
sports = ["golf", "polo", "tennis", "skiing", "sailing", "basketball", "boxing", "baseball", "soccer", "hockey"]
sports += ["wrestling", "swimming", "football", "volleyball", "softball", "rugby", "bowling", "fencing"]
affluence = bb.axis(kv, "affluence", words=sports)
affluence

# %%
bb.plots.plot_axis(affluence)

# %% [markdown]
# Are the sports in this order? `p_above_next` is the probability that a sport lies further towards *rich* than the
# next. The errors of two similar words are correlated, so their order is known better than the two intervals suggest.

# %%
affluence.table()[["word", "mean", "sd", "p_positive", "p_above_next"]].round(3).head(6)

# %% [markdown]
# ## Pairs that do not belong
#
# Not all opposites of a list are one opposition. `agreement` is the correlation, over a sample of the vocabulary, of
# the places by one pair with those by the others.

# %%
affluence.pairs().round(2).head(6)

# %% [markdown]
# *Economical* and *costly* are opposites, but not of poor and rich people. Without the pairs that disagree with the
# others, the sports hardly move, since most pairs remain: below is the correlation of the places before and after.

# %%
pairs = affluence.pairs()
belong = list(pairs.loc[pairs["belongs"], ["negative", "positive"]].itertuples(index=False, name=None))
rest = bb.axis(kv, belong, words=sports)
places = pd.DataFrame({"all pairs": affluence.places, "without": rest.places}, index=affluence.words)
float(places.corr().iloc[0, 1])

# %% [markdown]
# ## Occupations and gender
#
# The census says how many women an occupation has (Garg et al. 2018, https://doi.org/10.1073/pnas.1720347115).

# %%
shares = pd.read_csv("occupations.csv", index_col="occupation")["census 1990"].dropna()
gender = bb.axis(kv, "gender", words=list(shares.index))
gender

# %%
bb.plots.plot_axis(gender, labels=24)

# %%
gender.pairs().round(2)

# %% [markdown]
# *Female* and *male* disagree with all other pairs: what sets these two apart in the texts is not what sets
# *she* and *he* apart.
#
# ## Does the axis of gender know the census?
#
# A place below 0 is on the side of women, so that the correlation with the share of women should be negative. What
# similar occupations share beside gender is estimated with it.

# %%
census = bb.criterion(gender, shares)
census

# %% [markdown]
# ## A check: an axis that should not agree
#
# Places on the axis of age have no reason to go with the share of women.

# %%
age = bb.axis(kv, "age", words=list(shares.index))
checks = {"gender": census, "age": bb.criterion(age, shares)}
table = pd.DataFrame({name: found.table().iloc[0].drop("quantity") for name, found in checks.items()}).T.astype(float)
table["plain"] = [found.plain for found in checks.values()]
table.round(2)

# %%
figure, axes = plt.subplots(figsize=(5, 1.8))
low, high = table["mean"] - table["low"], table["high"] - table["mean"]
axes.errorbar(table["mean"], table.index, xerr=[low, high], fmt="o")
axes.plot(table["plain"], table.index, "x", color="0.5", label="correlation of the places as they stand")
axes.axvline(0, color="0.3", lw=0.8, ls="--")
axes.set(xlabel="correlation with the share of women", ylim=(-0.6, 1.6))
axes.legend(frameon=False, fontsize=8)
plt.show()
