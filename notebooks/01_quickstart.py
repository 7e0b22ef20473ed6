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
# # Quickstart: from word vectors to an interval
#
# In half a minute you measure one word list in one embedding: distances, a fit, the contrast with its interval, a
# report. Everything is bundled, and every cell can be copied.
#
# The word lists name harmful stereotypes in order to measure them.

# %%
import tempfile
from pathlib import Path

import arviz as az

import bayesbias as bb

# %% [markdown]
# ## Vectors and words
#
# `load_embedding` takes a bundled name, a file (word2vec, GloVe, `.npz`) or a gensim `KeyedVectors`. `load_words` takes
# a bundled name (`bb.list_words()` shows them) or the path of a TOML file of your own
# (`docs/how-to/word-lists.md`).

# %%
kv = bb.load_embedding("google-news-slice")
words = bb.load_words("gender")
words

# %% [markdown]
# ## Distances
#
# Each row is a pair of a protected word and an attribute word. Words that the embedding lacks are left out and
# reported: of 226 neutral words this small slice has 61. All stereotype words are found.

# %%
table = bb.distance_table(kv, words)
table.head()

# %%
bb.coverage(table).drop(columns="missing")

# %% [markdown]
# One protected word shows how much single distances vary.

# %%
bb.plots.plot_distances(table, "she")

# %% [markdown]
# ## Fit
#
# The default model reads the covariance of distances off the vectors, because words of one topic have similar
# distances. `diagnose` says whether the fit passes its checks, and which notes limit it.

# %%
post = bb.fit(table, seed=0)
bb.diagnose(post)

# %% [markdown]
# ## The answer
#
# Are protected words closer to their own stereotypes than to those of the other group? The first row is the whole list.
# Negative means closer; the interval is the 89% equal-tailed interval. Further protected words like these (*new words*)
# are a larger population, about which fourteen words say less. `docs/notes.md` says what each note means.

# %%
answer = bb.summary(post)
answer

# %% [markdown]
# Words have associations: how much closer each is to its own stereotypes, less how near the two lists are to all
# protected words. They are shrunken: drawn towards the whole list, the more the less the vectors tell about
# their differences. `unshrunk` is what the distances of the word alone say.

# %%
answer.words.head(3).round(3)

# %% [markdown]
# Words of a list are similar, so that a list counts for fewer words than it has: `n_eff`.

# %%
answer.lists.drop(columns="missing").round(2)

# %% [markdown]
# Is the contrast with words for people special to a word's own stereotypes? For the whole list it is the sum of two
# parts. For a word the nearness of its own list is a third one. Here rows of words are unshrunken, so that parts
# add up.

# %%
bb.plots.plot_decomposition(post)

# %%
bb.decomposition(post).head(3).round(3)

# %% [markdown]
# The chance check asks something else: how often do random lists of words that have nothing to do with the groups, as
# coherent as these, as near and as similar to each other, have a contrast that is as far from 0?

# %%
bb.topic_null(kv, words)

# %% [markdown]
# ## A contrast of one's own
#
# `estimates` is the joint posterior of all mean distances; sums and differences of these are estimates again. Are
# fathers and sons, beside mothers and daughters, nearer to the stereotypes of men than to those of women?

# %%
cells = bb.estimates(post)
beside = cells.select(list="man") - cells.select(list="woman")
men, women = (beside.select(protected_word=words) for words in (["father", "son"], ["mother", "daughter"]))
(men.average() - women.average()).summary().round(3)

# %% [markdown]
# ## ArviZ
#
# The result is an `xarray.DataTree` with ArviZ's groups, so that ArviZ works on it as it is. `connection_mean` is the
# mean distance of protected words like these.

# %%
az.summary(post, var_names=["connection_mean"], ci_kind="eti", ci_prob=0.89)

# %% [markdown]
# ## Saving
#
# NetCDF for the fit, Parquet for the table with all that it carries, a page of all tables and figures for readers.

# %%
folder = Path(tempfile.mkdtemp())
bb.save_fit(post, folder / "fit.nc")
bb.write_distance_table(table, folder / "distances.parquet")
bb.report(answer, folder / "report.html")
sorted(path.name for path in folder.iterdir())

# %% [markdown]
# ## Where to go on
#
# | notebook | question |
# | --- | --- |
# | `02_article` | What did the article find that this package follows, and what holds? |
# | `03_debiasing` | What did debiasing change, and what did it break? |
# | `04_metrics` | What do WEAT, MAC and RNSB miss? |
# | `05_silhouettes`, `06_reliability`, `07_stability` | How far can a measure be trusted? |
# | `08_sentences`, `09_axes`, `10_documents` | Words in sentences, between two poles, in documents |
