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
# # Before and after debiasing
#
# You learn what a debiasing method changed, for which words, how certain that is, and what else it changed. It takes
# about a minute.
#
# Two fits whose intervals overlap say little about a change. Here the same pairs of words are measured before and
# after, so that most of what is uncertain about either level cancels. The word lists name stereotypes in order to
# measure them.

# %%
import tempfile
from pathlib import Path

import pandas as pd

import bayesbias as bb

# %% [markdown]
# ## Debias
#
# Hard debiasing (Bolukbasi et al. 2016) finds a direction from pairs such as *she* and *he*, removes it from all words,
# and lets the words of the pairs differ along it only. The result is a new `KeyedVectors`, and it says what was done.

# %%
kv = bb.load_embedding("google-news-slice")
pairs = list(bb.load_list("gender_pairs").pairs)
debiased = bb.debias(kv, "hard", definitional=pairs, equalize=pairs)
debiased.bayesbias_debiasing

# %% [markdown]
# ## Compare
#
# Each contrast and mean distance of the whole list before and after, and its change with the 89% interval. Below are
# the associations of words: the probability that each is nearer to 0 than before (`p_shrank`), and whether that is
# `clear`. For no single word it is, since that takes the size of the association as well as its change.

# %%
words = bb.load_words("gender")
before, after = bb.distance_table(kv, words), bb.distance_table(debiased, words)
result = bb.compare(before=before, after=after, seed=0)
result

# %%
shown = ["protected_word", "group", "before", "after", "change", "low", "high", "p_shrank", "clear"]
result.table().query("of == 'associated - different'")[shown].round(3)

# %% [markdown]
# The contrast of the whole list is 0 afterwards, and the associations of single words lie between -.009 and .009. The
# plain differences of two mean distances would mislead: they are about .06 for all words for men and -.06 for all words
# for women, since the occupations said of women are closer to every protected word. That is a difference between the
# two lists of occupations, and not one between the groups.

# %% [markdown]
# Without the pairing the same change would be less certain. How much the pairing gains depends on the contrast:

# %%
kinds = {"paired": True, "not paired": False}
gains = {
    (f"associated - {second}", kind): result.changes("associated", second, paired=paired).iloc[0]
    for second in ("different", "human")
    for kind, paired in kinds.items()
}
pd.DataFrame(gains).T[["mean", "low", "high"]].astype(float).round(3)

# %% [markdown]
# ## Which part changed?
#
# The contrast with words for people is the sum of what is special to own stereotypes and of what stereotype words of
# any kind share. Debiasing removed the first part (a change of .060), and the second grew (by -.026). In
# *associated - human* alone the change is about half that size. Each word has three parts: its association, the
# nearness of the lists, and the nearness of the word.

# %%
result.decomposition().head(3).round(3)

# %%
bb.plots.plot_change(result)

# %% [markdown]
# ## Side effects
#
# What changed that nobody asked to change? The nearest neighbours of words, the distances of control words, and whether
# the old bias is still there: Gonen and Goldberg (2019) let a classifier find the former side of the most biased words.
# Chance is the wrong baseline for that, because the classifier finds the sides of any direction that was removed
# (`reference`: random topics as coherent and as similar as the groups).

# %%
effects = bb.side_effects(kv, debiased, result)
effects

# %%
bb.plots.plot_side_effects(effects)

# %% [markdown]
# Both results on one page, with all tables and figures:

# %%
bb.report([result, effects], Path(tempfile.mkdtemp()) / "debiasing.html").name

# %% [markdown]
# ## Other methods
#
# One call each: *associated - different* before and after, its change, and the share of the ten nearest neighbours that
# protected words kept. Methods that remove one direction or more (`project`, `hard`, `null_space`) remove the contrast
# and change the neighbours; `soft` and `half_sibling` change little of either here.

# %%
methods = {
    "project": {"definitional": pairs},
    "hard": {"definitional": pairs, "equalize": pairs},
    "soft": {"definitional": pairs, "strength": 1.0},
    "half_sibling": {"definitional": pairs},
    "null_space": {"definitional": dict(words.protected)},
}
rows = {}
for method, options in methods.items():
    one = bb.debias(kv, method, **options)
    table = bb.distance_table(one, words)
    change = bb.compare(before=before, after=table, seed=0)
    moved = change.table().iloc[0]
    kept = bb.side_effects(kv, one, change, k=10, biased=50, draws=100).neighbours
    rows[method] = [*moved[["before", "after", "change", "low", "high"]], kept["kept"].iloc[0]]
columns = ["before", "after", "change", "low", "high", "neighbours kept"]
pd.DataFrame(rows, index=columns).T.astype(float).round(3)
