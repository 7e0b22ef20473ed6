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
# # Many embeddings: gender and careers in 25 languages
#
# Do languages whose embeddings put men closer to careers and women closer to families have speakers with stronger
# implicit attitudes? Lewis and Lupyan (2020, https://doi.org/10.1038/s41562-020-0918-6) correlated two columns of point
# estimates and found .43. Both columns have errors, and those of the embeddings are shared, because all languages
# measure the same concepts. You learn to pool the estimates of many embeddings and to relate them to something measured
# outside, in half a minute.
#
# The notebook starts from cosine distances in their Wikipedia embeddings, in `languages.parquet`; how they were made is
# in `benchmarks/validity/languages.py`.

# %%
import pandas as pd

import bayesbias as bb

rows = pd.read_parquet("languages.parquet").query("corpus == 'wikipedia'")
attitudes = pd.read_csv("attitudes.csv", index_col="language")
tables = {}
for language, table in rows.groupby("language", observed=True):
    text = table.columns.drop(["distance", "language", "corpus"])
    tables[language] = table.drop(columns=["language", "corpus"]).astype(dict.fromkeys(text, "string"))
len(tables), attitudes.head(3)

# %% [markdown]
# ## One language
#
# Men's words are *associated* with careers and women's words with families. The whole list of *associated - different*
# is negative where words are closer to the stereotype of their own gender. It does not tell whether men or women make
# it.

# %%
german = bb.fit(tables["de"], seed=0)
bb.contrasts(german).head(1).round(3)

# %% [markdown]
# ## All languages
#
# `bb.pool` takes the estimates of all languages with their joint covariance. Distances have other scales in other
# languages (in Japanese, of this collection, they hardly vary), so that contrasts are taken in standard deviations of
# each language's distances. The collection holds the words of this test alone, so that the unit of a language, which
# `standardise=True` takes from the vocabulary, is not known: it is given, as the standard deviation of these distances.
# Related languages are similar for many reasons: each genus
# ([WALS](https://doi.org/10.5281/zenodo.7385533)) is a group, and the others are groups of their own.

# %%
genera = {
    "Germanic": ("da", "de", "en", "nl", "no", "sv"),
    "Romance": ("es", "fr", "it", "pt", "ro"),
    "Slavic": ("hr", "pl"),
    "Semitic": ("ar", "he"),
    "Malayo-Sumbawan": ("id", "ms"),
}
genus = {name: name for name in tables} | {name: genus for genus, names in genera.items() for name in names}
units = {name: table["distance"].std() for name, table in tables.items()}
pool = bb.pool(tables, ("associated", "different"), on=attitudes, groups=genus, standardise=units, seed=0)
pool

# %%
pool.table().round(2)

# %%
bb.plots.plot_pool(pool)

# %% [markdown]
# Grey are the languages' own estimates, blue the partially pooled ones: a language whose own estimate is uncertain is
# moved towards the others. Ranks come with their uncertainty, and so does any comparison of two languages.

# %%
pool.probability("id", "nl")

# %% [markdown]
# ## The relation to attitudes

# %%
bb.plots.plot_relation(pool)

# %%
pool.relation().round(2).T

# %% [markdown]
# `plain` is the correlation of the estimates. Whether there is a relation is inconclusive. Without groups, as if all
# languages were unrelated, it would look so:

# %%
alone = bb.pool(tables, ("associated", "different"), on=attitudes, standardise=units, seed=0)
alone.relation().round(2).T

# %% [markdown]
# ## The same concepts
#
# A list of eight career words is one sample of such words, and every language shares it. The covariance of estimates
# holds that.

# %%
sd = pool.estimates.sd
correlation = pool.estimates.covariance.to_numpy() / sd[:, None] / sd
float(correlation[~pd.DataFrame(correlation).eq(1).to_numpy() & (correlation < 0.9999)].mean())

# %% [markdown]
# Had the errors been independent, the mean over languages would look more certain than it is.

# %%
germanic = ("de", "nl", "sv", "da", "no", "en")
bb.plots.plot_pool(
    bb.pool(
        {name: tables[name] for name in germanic},
        ("associated", "different"),
        standardise={name: units[name] for name in germanic},
        seed=0,
    )
)
