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
# # Your own vectors and words, from files to a report
#
# You learn which files the package reads, how to write a word list with a control list of your own, and how to read the
# result by word. It takes less than a minute.
#
# The example asks whether words for occupations lie closer to the traits that are attributed to those who work with
# people or with things. The lists name stereotypes in order to measure them.

# %%
import tempfile
from pathlib import Path

import bayesbias as bb

folder = Path(tempfile.mkdtemp())

# %% [markdown]
# ## An embedding file
#
# Instead of your file, this cell writes the bundled vectors in two formats: word2vec text, which most tools write, and
# NumPy's `.npz`, which opens fastest. `load_embedding` finds the format from the content of the file, not from its
# name: word2vec text and binary, GloVe text, `.npz`, `.safetensors`, `.parquet`, gensim's own files. `words=` reads
# only the words that you need.

# %%
kv = bb.load_embedding("google-news-slice")
bb.save_embedding(kv, folder / "mine.txt")
bb.save_embedding(kv, folder / "mine.npz")
{file.name: f"{file.stat().st_size / 1e6:.1f} MB" for file in sorted(folder.iterdir())}

# %%
vectors = bb.load_embedding(folder / "mine.txt")
same = bb.load_embedding(folder / "mine.npz")
len(vectors), vectors.vector_size, vectors.index_to_key == same.index_to_key

# %% [markdown]
# ## A word list
#
# A list is a TOML file. Groups have the same names under `protected` and `stereotypes`. A control list answers "closer
# than what?". The traits here are adjectives, so the control list has adjectives too, and they describe things. A name
# alone, such as `human = "human"`, takes a bundled list.

# %%
toml = """
name = "occupations"
description = "Occupations with people or with things, and the traits attributed to them."
language = "en"

[protected]
people = ["nurse", "teacher", "counselor", "librarian", "therapist", "receptionist", "psychologist", "nanny"]
things = ["engineer", "mechanic", "carpenter", "electrician", "programmer", "plumber", "welder", "technician"]

[stereotypes]
people = ["gentle", "kind", "warm", "caring", "compassionate", "sensitive", "friendly", "thoughtful", "considerate"]
things = ["technical", "practical", "precise", "tough", "strong", "reliable", "efficient", "rough", "methodical"]

[controls]
adjectives = ["modern", "massive", "narrow", "wide", "original", "annual", "cheap", "ugly", "complete", "silver",
    "wooden", "natural", "normal", "chemical", "rural", "steep"]
human = "human"
"""
(folder / "occupations.toml").write_text(toml, encoding="utf-8")
words = bb.load_words(folder / "occupations.toml")
words

# %% [markdown]
# ## Distances and coverage
#
# Words that the embedding lacks are left out and named. Look here first: a list that loses half of its words measures
# something else.

# %%
table = bb.distance_table(vectors, words)
bb.coverage(table).assign(missing=lambda t: t["missing"].map(lambda lost: ", ".join(lost[:6])))

# %% [markdown]
# What is each list's effective sample size? Words of one topic have similar distances, so nine of them tell less
# than nine.

# %%
bb.relatedness(table).effective_words().round(1)

# %%
bb.plot_distances(table, "nurse")

# %% [markdown]
# ## Fit

# %%
post = bb.fit(table, seed=0)
bb.diagnose(post)

# %% [markdown]
# ## Contrasts
#
# The whole list comes first, then the association of each protected word. Negative: closer to the traits attributed to
# its own group. How near each list of traits is to all occupations is taken out of the words' rows, which are partially
# pooled: drawn towards the whole list. With two groups the mean association of each is the whole list, so that
# the data do not say which group the contrast comes from.

# %%
bb.contrasts(post).round(3)

# %% [markdown]
# The same against your own control list. For the whole list the contrast is the sum of two parts: what is special to
# the own traits, and what traits of either kind share. For a word there are three: its association, how near its own
# list is to all words, and how near the word is to traits of the other kind. These rows are not pooled, so that they
# add up: the association of *nurse* is as observed, and its interval is wider.

# %%
parts = bb.decomposition(post, "adjectives")
parts[parts["protected_word"].isin(["whole list", "nurse"])].round(3)

# %%
bb.plot_contrasts(post)

# %% [markdown]
# Does the answer hang on one attribute word? Each row leaves one out.

# %%
bb.checks.influence(post).head(4).round(3)

# %% [markdown]
# ## Report
#
# One HTML file with figures, tables and what limits the answer; and the fit, to be opened again with `bb.load_fit`.

# %%
bb.save_fit(post, folder / "fit.nc")
bb.report(post, folder / "report.html")
{name: f"{(folder / name).stat().st_size / 1e3:.0f} kB" for name in ("fit.nc", "report.html")}

# %%
for sentence in bb.checks.verdict_sentences(post)[:1]:
    print(sentence)

# %% [markdown]
# ## The same on the command line
#
# All at once, into the folder `out`:
#
# ```console
# bayesbias run mine.txt occupations.toml --out out --seed 0
# ```
#
# or step by step:
#
# ```console
# bayesbias distances mine.txt occupations.toml --out distances.parquet
# bayesbias fit distances.parquet --out fit.nc --seed 0
# bayesbias contrasts fit.nc
# bayesbias report fit.nc --out report.html --pictures figures
# ```
