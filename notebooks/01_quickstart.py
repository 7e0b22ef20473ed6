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
# # From word vectors to posterior distributions
#
# This notebook measures one word list in one embedding: distances, a fit, contrasts, pictures, ArviZ on the result,
# saving. Everything it needs is bundled. The word lists name stereotypes in order to measure them.

# %%
import tempfile
from pathlib import Path

import arviz as az
import pandas as pd

import bayesbias as bb

# %% [markdown]
# ## Vectors and words
#
# `load_embedding` takes a bundled name, a file (word2vec, GloVe, `.npz`), a gensim `KeyedVectors` or a mapping. A word
# list is a TOML file: `load_words` takes a bundled name or the path of your own.

# %%
kv = bb.load_embedding("google-news-slice")
kv.vectors.shape

# %%
bb.list_words()[["name", "kind", "groups", "protected", "attributes", "description"]]

# %%
words = bb.load_words("gender")
words

# %% [markdown]
# ## Distances
#
# One row for each pair of a protected word and an attribute word. What the embedding lacks is left out and reported:
# here only 61 of 226 neutral words are in the slice, while all the stereotypes are. The table also keeps how the words
# are related: words of one topic have alike distances, so that a list of them is worth fewer words than it has.

# %%
table = bb.distance_table(kv, words)
table.head()

# %%
bb.coverage(table).assign(missing=lambda t: t["missing"].str.len())

# %%
bb.relatedness(table).effective_words().round(1)

# %%
bb.plot_distances(table)

# %%
bb.plot_distances(table, "she")

# %% [markdown]
# ## Fit
#
# Distances that share a word, or whose words are alike, are correlated. The default model, `related`, reads their
# covariance off the vectors. Its draws are independent and take a fraction of a second. `diagnose` says whether the fit
# can be read.

# %%
post = bb.fit(table, seed=0)
print(bb.diagnose(post))

# %%
bb.summary(post).head(8)

# %% [markdown]
# ## Contrasts
#
# How much closer are protected words to their own stereotypes than to those of the other group? The first row is
# the whole list, the others are its protected words. A region of practical equivalence (here plus or minus 0.02)
# shows how much of the posterior is too close to 0 to matter.

# %%
bb.contrasts(post, "associated", "different", rope=0.02)

# %% [markdown]
# And than to words for people in general? That is the sum of two things: this contrast, and how much closer they are to
# stereotype words of any kind than to other words. Here each is half of it.

# %%
bb.decomposition(post).head(3)

# %%
bb.plot_decomposition(post)

# %% [markdown]
# These intervals speak about these protected words, and attribute lists like these. Further protected words like these
# are a second population, about which fourteen words say less:

# %%
bb.contrasts(post, "associated", "different", population="similar").head(1)

# %% [markdown]
# The same question without a model: of random lists as coherent as these, how many are as far from 0?

# %%
null = bb.topic_null(kv, words)
print(null.sentence)
bb.plots.plot_topic_null(null)

# %%
for sentence in bb.checks.verdict_sentences(post):
    print(sentence, end="\n\n")

# %%
bb.plot_coefficients(post)

# %%
bb.plot_contrasts(post, "associated", "different")

# %% [markdown]
# ## What the covariance changes
#
# The published model takes all distances for independent. The model `crossed` knows that two distances which share an
# attribute word are correlated, and takes different words for unrelated. (`05_related_words` shows what that costs.)

# %%
crossed = bb.fit(table, "crossed", seed=0)
fits = [bb.fit(table, "published", seed=0), crossed, post]
pd.concat(bb.decomposition(each).head(3).assign(model=each.attrs["model"]) for each in fits)

# %%
bb.plots.plot_variance(crossed)

# %%
bb.plots.plot_attribute_effects(crossed, most=8)

# %%
models = bb.checks.compare_models(table, ["published", "crossed_plain", "crossed", "related"], pairs=False)
models[["model", "elpd_word", "diff_word", "diff_se_word"]].round(0)

# %% [markdown]
# Leave-one-word-out predictive comparison: each attribute word's distances are predicted from those of the other words.

# %% [markdown]
# ## Single words, priors, and the length of the list

# %%
bb.checks.influence(post, words="protected").head()

# %%
print(bb.checks.prior_sensitivity(post))

# %%
plan = bb.plan(table, effect=0.05)
print(plan)

# %%
bb.plots.plot_plan(plan)

# %% [markdown]
# ## A null that is real
#
# Stereotype lists replaced by random neutral words: there is no bias, and an 89% interval should exclude 0 in 11% of
# the draws. (Forty draws are a glimpse; the full study is in `docs/model.md`. Random words are unrelated, so that this
# null cannot see what words of one topic do: `05_related_words` can.)

# %%
bb.plots.plot_calibration(bb.calibration.null_false_positive_rate(table, replicates=40, seed=1))

# %% [markdown]
# ## The classic metrics
#
# WEAT and its relatives as baselines: the value with its permutation test, what other words of the same kind would have
# given (bootstrap), and the posterior contrast beside it. `docs/metrics.md` defines them.

# %%
query = bb.load_query("weat7")
print(bb.metric("weat_effect_size", kv, query, p_value=True))
print(bb.checks.bootstrap_metric("weat_effect_size", kv, query, seed=0))

# %%
bb.run_metrics(kv, ["weat6", "weat7"], ["weat_effect_size", "rnd", "rnsb", "mac", "ect"])

# %% [markdown]
# What is an effect size of 1.27 worth? In plain noise, with no bias at all, 95% lie between -1 and 1, and less than one
# in a hundred is as far from 0.

# %%
noise = bb.calibration.simulate_null_weat()
bb.plots.plot_null_weat(noise)

# %%
bb.plots.plot_null_sample(noise)

# %% [markdown]
# ## Before and after debiasing
#
# The same pairs are measured in both embeddings, so what makes a level uncertain cancels in its change.

# %%
pairs = list(bb.load_list("gender_pairs").pairs)
debiased = bb.debias(kv, "hard", definitional=pairs)
print(debiased.bayesbias_debiasing)
after = bb.distance_table(debiased, words)
result = bb.compare(before=table, after=after, seed=0)
for part, sentences in result.parts().items():
    print(f"{part}: {' '.join(sentences)}\n")

# %%
bb.plot_change(result)

# %%
result.outcomes("associated", "different").round(3)

# %% [markdown]
# The change of associated - human is again a sum: debiasing took off what is special to own stereotypes, and brought
# stereotype words of any kind a little closer.

# %%
result.decomposition().head(3)

# %% [markdown]
# And what changed that nobody asked to change? Neighbours, control words, and whether the old bias can still be found.

# %%
effects = bb.side_effects(table, after, kv, debiased)
bb.plots.plot_side_effects(effects)

# %% [markdown]
# ## Does the model describe the distances?
#
# A model that does has about 50% of the distances inside their 50% predictive intervals, and 89% inside their 89% ones.
# The associated distances are those of 25 stereotype words, which are worth four unrelated ones, so that their shares
# vary a lot by chance. Here these words lie further apart than others of the vocabulary that are as alike, and control
# words lie closer together.

# %%
bb.check_predictions(post)

# %%
bb.plots.plot_predictions(post)

# %% [markdown]
# ## ArviZ
#
# The result is an `xarray.DataTree` with ArviZ's groups. Pointwise log likelihoods and predictive draws are added on
# request. (Leaving out single pairs, as `az.loo` does, suits the published model; `compare_models` above leaves out
# whole attribute words.)

# %%
az.summary(post, var_names=["connection_mean", "sd_factor"], ci_kind="hdi", ci_prob=0.89)

# %%
print(az.loo(bb.checks.add_log_likelihood(bb.fit(table, "published", seed=0))))

# %%
_ = az.plot_forest(post, var_names=["connection_mean"], combined=True)
# %% [markdown]
# ## Saving
#
# NetCDF for the fit, CSV or Parquet for the table, HTML for people.

# %%
folder = Path(tempfile.mkdtemp())
bb.save_fit(post, folder / "fit.nc")
bb.write_distance_table(table, folder / "distances.parquet")
bb.report(post, folder / "report.html")
assert bb.load_fit(folder / "fit.nc").identical(post)
sorted(path.name for path in folder.iterdir())
