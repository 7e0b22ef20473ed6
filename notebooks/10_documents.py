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
# # Who says it: women, immigrants and labor in the State of the Union
#
# Do Democratic and Republican presidents speak of *women*, *immigrants* and *labor* in other ways, and did that change?
# You learn to make a vector of each occurrence of a word from the words around it (à la carte: Khodak et al. 2018,
# https://doi.org/10.18653/v1/P18-1002), to relate these vectors to party and era (as conText does: Rodriguez, Spirling
# and Stewart 2023, https://doi.org/10.1017/S0003055422001228), and to say what 33 presidents can tell and what not. The
# addresses (stdlib-js/datasets-sotu, PDDL) and the vectors (GloVe in 50 dimensions) are bundled.

# %%
import os

import pandas as pd

import bayesbias as bb
from bayesbias.distances import datasets

QUICK = bool(os.environ.get("BAYESBIAS_QUICK"))  # one address of four: enough to see that everything works
addresses = datasets.load_dataset("sotu-addresses")
addresses.groupby("party", sort=False).agg(
    first=("year", "min"), last=("year", "max"), presidents=("president", "nunique"), addresses=("year", "size")
)

# %% [markdown]
# Six of the eight parties had one to four presidents. Only Democrats and Republicans can be compared, and Republicans
# only from 1861: before that year party and time cannot be separated.

# %%
addresses = addresses[addresses["party"].isin(["Democratic", "Republican"])]
eras = ["1829 to 1899", "1900 to 1959", "1960 to 2021"]
era = pd.cut(addresses["year"], [1828, 1899, 1959, 2021], labels=eras).astype(str)
addresses = addresses.assign(era=era)
if QUICK:
    addresses = addresses.iloc[::4]
words = ["labor"] if QUICK else ["women", "immigrants", "labor"]
sample = bb.instances(addresses, words, "glove-50d-slice", clusters="president")
sample.table()

# %% [markdown]
# ## Labor, between family and career
#
# The contrast is the distance to the words for family less that to the words for career: below 0 *labor* is nearer to
# family. Presidents are the units: one who says *labor* fifty times says it in his own way each time.

# %%
labor = bb.covariates(sample, "party + era").contrast("family", "career", target="labor")
labor

# %%
bb.plots.plot_covariates(labor)

# %% [markdown]
# Thick bars are for these attribute words, thin ones for words like these. The shares say what the error of each row is
# made of: where it is attribute words, further addresses would tell little.

# %%
labor.table().loc[:, :"share_words"].round(3)

# %% [markdown]
# ## The other words
#
# `these_low` and `these_high` keep to the attribute words as they are. What excludes 0 only there rests on the choice
# of words.

# %%
by = bb.covariates(sample, "party + era")
rows = pd.concat([by.contrast("family", "career", target=word).table().assign(target=word) for word in words])
shown = ["target", "name", "mean", "low", "high", "these_low", "these_high", "p_closer"]
rows.loc[rows["quantity"] != "coefficient", shown].round(3)

# %% [markdown]
# ## On an axis
#
# The same question on an axis of pairs: is *labor* nearer to poor or to rich, and does that differ by party or time?

# %%
by.axis("affluence", target="labor")

# %% [markdown]
# ## Norms
#
# conText reports squared norms of the coefficients. Noise adds to a norm; less the scatter between presidents
# (`between_clusters`) little may remain of what instances alone suggest.

# %%
by.norms("labor", permutations=99 if QUICK else 499).round(3)

# %% [markdown]
# ## What cannot be said
#
# There are 33 presidents, and there will not be many more soon. A difference of parties that spans 190 years compares
# parties that changed their meaning, and a president who speaks of strikes uses *labor* in other contexts than one who
# speaks of farms: a difference does not say why.
