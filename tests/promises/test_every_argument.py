"""Every public function, picture and method with wrong values of every argument: refused, or used in the answer."""

import dataclasses
import inspect
import io
import warnings
from collections.abc import Mapping
from functools import cache, cached_property

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from gensim.models import KeyedVectors
from matplotlib.figure import Figure

import bayesbias as bb
from bayesbias._support.results import Result
from bayesbias.plots import style

MODULES = (
    "checks",
    "calibration",
    "metrics",
    "debiasing",
    "silhouettes",
    "reliability",
    "contextual",
    "stability",
    "plots",
    "datasets",
)
LISTS = bb.WordLists(
    "mine",
    {"a": ["p", "q", "r", "u"], "b": ["s", "t", "v", "w"]},
    {"a": ["k", "l", "c"], "b": ["m", "n", "d"]},
    {"human": ["h", "i", "j", "x"], "neutral": [f"n{number}" for number in range(14)]},
)
QUERY = bb.Query({"x": ["p", "q", "r"], "y": ["s", "t", "v"]}, {"a": ["k", "l", "c"], "b": ["m", "n", "d"]})
PAIRS = [("k", "m"), ("l", "n")]
SHAPE = {"groups": {"g": 3, "h": 3}, "stereotypes": {"g": 3, "h": 3}, "human": 6}
TRUTH = {"connection_mean": 0.9, "connection_sd": 0.05, "sigma": 0.1, "attribute_sd": 0.05, "interaction_sd": 0.0}
PLANTED = TRUTH | {"connection_mean": {"associated": 0.8, "different": 0.9, "human": 0.9}}
UNFIT = {
    "bytes": b"x",
    "an object": object(),
    "a complex number": 1j,
    "a tree": xr.DataTree(),
    "an empty table": pd.DataFrame(),
    "a list of lists": [[["x"]]],
}
"""Values that no argument takes."""
WRONG = UNFIT | {
    "None": None,
    "True": True,
    "a negative number": -1,
    "an enormous number": 10**30,
    "an enormous fraction": 1e30,
    "NaN": float("nan"),
    "infinity": float("inf"),
    "an empty text": "",
    "a name": "nonsense",
    "a long name": "x" * 300,
    "a lone surrogate": "\ud800",
    "an empty list": [],
    "an empty mapping": {},
    "a mapping of None": {"a": None},
    "an array": np.arange(3.0),
}
"""Values that few arguments take: what is taken changes the answer."""
USUAL = (*UNFIT, "an enormous number", "NaN", "an empty text", "a name", "an empty list")
"""What is tried without ``--full``."""
SIDES = ("biased", "unbiased")
FEW = bb.checks.TwoStage(draws=200)
TINY = [["the", "cat", "sat"], ["the", "dog", "sat"], ["the", "cat", "ran"], ["a", "cat", "ran"]]
SWEEP = {"embeddings": ["google-news-slice"], "words": ["weat7"], "models": ["related"], "draws": 400}
UNTRIED = {
    "hf_token_encoder": "needs an extra; test_sentences has its wrong values",
    "datasets": "what is understood would be fetched; test_datasets has its wrong values",
}


class Made:
    """What arguments are made of, small, each made when it is first asked for."""

    def __init__(self, folder, random_embedding, text_encoder):
        self.folder, self.random_embedding, self.encoder = folder, random_embedding, text_encoder
        self.kv, self.other, self.third = (random_embedding(LISTS, seed) for seed in (1, 2, 3))
        self.pair = {"one": self.kv, "two": self.other}
        self.lengths = {word: 1.0 + at for at, word in enumerate(LISTS.every_word())}
        self.settings = {
            bb.stability.Setting(name, "sgns", 12, seed): random_embedding(LISTS, 10 * at + seed)
            for at, name in enumerate("abc")
            for seed in range(2)
        }

    @cached_property
    def table(self):
        return bb.distance_table(self.kv, LISTS, relatedness=False)

    @cached_property
    def after(self):
        return bb.distance_table(self.other, LISTS, relatedness=False)

    @cached_property
    def related(self):
        return bb.distance_table(self.kv, LISTS)

    @cached_property
    def relatedness(self):
        return bb.relatedness(self.related)

    @cached_property
    def post(self):
        return bb.fit(self.table, "crossed", draws=200, seed=1)

    @cached_property
    def associated(self):
        return bb.fit(self.related, "related", draws=200, seed=1)

    @cached_property
    def adjusted(self):
        return bb.fit(self.table, "crossed", draws=200, seed=1, adjust={"length": self.lengths})

    @cached_property
    def vectors(self):
        return bb.encode(self.encoder, LISTS, ["{}", "a {}", "the {}"], vocabulary=450)

    @cached_property
    def framed(self):
        return bb.fit(bb.distance_table(self.vectors, LISTS, relatedness=False), "crossed", draws=200, seed=1)

    @cached_property
    def comparison(self):
        return bb.compare(before=self.table, after=self.after, draws=200, seed=1)

    @cached_property
    def pooled(self):
        tables = {name: bb.distance_table(self.random_embedding(LISTS, at), LISTS, relatedness=False)
                  for at, name in enumerate("abcdef")}  # fmt: skip
        outside = pd.DataFrame({"size": np.arange(6.0)}, index=list(tables))
        return bb.pool(tables, on=outside, stages=FEW)

    @cached_property
    def related_table(self):
        return bb.distance_table(self.kv, LISTS)

    @cached_property
    def multiverse(self):
        return bb.multiverse(MULTIVERSE)

    @cached_property
    def pair_of_tables(self):
        return {"one": self.table, "two": self.after}

    @cached_property
    def nearly(self):
        return self.table.assign(distance=0.9995 * self.table["distance"])

    @cached_property
    def trended(self):
        return bb.trend({"1": self.table, "2": self.after, "3": self.nearly}, stages=FEW)

    @cached_property
    def criterion(self):
        return bb.criterion(self.post, self.outside, contrast=("human", "neutral"), stages=FEW)

    @cached_property
    def outside(self):
        return {word: float(at) for at, word in enumerate("pqrustvw")}

    @cached_property
    def slice(self):
        return bb.load_embedding("google-news-slice")

    @cached_property
    def audit(self):
        return bb.audit(self.slice, {"a": ["he", "man"], "b": ["she", "woman"]})

    @cached_property
    def gender(self):
        return bb.axis("glove-50d-slice", PAIRS_OF_GENDER, words=["nurse", "captain", "dancer"])

    @cached_property
    def affluence(self):
        return bb.axis("glove-50d-slice", "affluence", words=["nurse", "captain", "dancer"])

    @cached_property
    def quadrants(self):
        return bb.quadrants(self.gender, self.affluence, ["nurse", "captain", "dancer"], draws=200)

    @cached_property
    def topics(self):
        return bb.topic_null(self.kv, LISTS, replicates=5)

    @cached_property
    def null_weat(self):
        return bb.calibration.simulate_null_weat(draws=20)

    @cached_property
    def ranks(self):
        return bb.calibration.sbc("published", SHAPE, replicates=3, draws=19)

    @cached_property
    def side_effects(self):
        return bb.side_effects(
            self.table, self.after, self.kv, self.other, k=5, words=20, draws=50, comparison=self.comparison
        )

    @cached_property
    def plan(self):
        return bb.plan(self.table, seed=1)

    @cached_property
    def ranking(self):
        return bb.rank(self.pair, QUERY, "weat", draws=5)

    @cached_property
    def silhouettes(self):
        return [bb.silhouettes.silhouette(one, QUERY, "weat_effect_size", runs=12) for one in (self.kv, self.other)]

    @cached_property
    def scores(self):
        return bb.reliability.bias_scores([self.kv, self.other], list("pqrs"), [*PAIRS, ("c", "d")], ["db_wa", "ripa"])

    @cached_property
    def retest(self):
        return bb.reliability.retest_reliability(self.scores)

    @cached_property
    def components(self):
        return bb.reliability.variance_components(self.scores, draws=200, seed=1)

    @cached_property
    def rows(self):
        rng = np.random.default_rng(0)
        table = pd.DataFrame(
            {"frequency": rng.normal(size=60), "measure": ["ripa", "nbm"] * 30, "corpus": [*"abc"] * 20}
        )
        return table.assign(value=0.5 * table["frequency"] + rng.normal(size=60))

    @cached_property
    def regression(self):
        return bb.reliability.reliability_regression(self.rows, **REGRESSION)

    @cached_property
    def study(self):
        return bb.stability.direct_bias_study(self.settings, list("pqrstu"), PAIRS, draws=10, random_pairs=10)

    @cached_property
    def setting_components(self):
        return bb.stability.setting_components(self.study.table(), draws=200, seed=1)

    @cached_property
    def fit_file(self):
        bb.save_fit(self.post, self.folder / "fit.nc")
        return self.folder / "fit.nc"

    @cached_property
    def table_file(self):
        bb.write_distance_table(self.table, self.folder / "t.parquet")
        return self.folder / "t.parquet"

    @cached_property
    def embedding_file(self):
        bb.save_embedding(self.kv, self.folder / "e.npz")
        return str(self.folder / "e.npz")

    @cached_property
    def vectors_file(self):
        self.vectors.save(self.folder / "vectors.npz")
        return self.folder / "vectors.npz"


MULTIVERSE = {
    "decisions": {"embedding": ["google-news-slice"], "words": ["weat7"], "metric": ["contrast", "weat"]},
    "replicates": 5,
}
PAIRS_OF_GENDER = [("he", "she"), ("man", "woman"), ("father", "mother")]
FAMILY = bb.WordLists(
    "family",
    {"fw": ["queen", "princess"], "fm": ["king", "prince"], "gw": ["girl", "woman"], "gm": ["boy", "man"]},
    {},
    {"human": ["people"]},
    factors={"gender": {"w": ["fw", "gw"], "m": ["fm", "gm"]}, "rank": {"f": ["fw", "fm"], "g": ["gw", "gm"]}},
)
REGRESSION = {"features": ["measure", "frequency"], "groups": ["corpus"], "draws": 200, "seed": 1}
STUDY = {"words": ["p", "q", "r"], "pairs": PAIRS, "draws": 10, "random_pairs": 10}
CALLS = {
    "angle": lambda made: {"axis": made.gender, "other": made.affluence},
    "axis": lambda made: {"kv": made.slice, "pairs": PAIRS_OF_GENDER, "words": ["nurse", "captain"]},
    "intersections": lambda made: {"axis": made.gender, "words": FAMILY},
    "quadrants": lambda made: {
        "axis_": made.gender, "other": made.affluence, "traits": ["nurse", "captain"], "draws": 200
    },
    "Query": lambda made: {"targets": QUERY.targets, "attributes": QUERY.attributes},
    "Query.from_words": lambda made: {"words": "weat6"},
    "WordLists": lambda made: {"name": "n", "protected": {"a": ["p"]}, "stereotypes": {"a": ["k"]}},
    "association": lambda made: {"post": made.associated},
    "audit": lambda made: {"kv": made.slice, "groups": {"a": ["he", "man"], "b": ["she", "woman"]}},
    "adjust": lambda made: {"table": made.table, "frequencies": made.lengths},
    "balance": lambda made: {"data": made.table, "frequencies": made.lengths},
    "check_predictions": lambda made: {"post": made.post, "seed": 1},
    "cite": lambda made: {"result": made.table},
    "compare": lambda made: {"before": made.table, "after": made.after, "draws": 200, "seed": 1},
    "contexts": lambda made: {"corpus": ["a p b", "b q a"], "words": ["p", "q"]},
    "contrasts": lambda made: {"post": made.post},
    "common_words": lambda made: {"language": "en", "n": 30, "lists": ["the"]},
    "coverage": lambda made: {"table": made.table},
    "criterion": lambda made: {
        "post": made.post, "values": made.outside, "contrast": ("human", "neutral"), "stages": FEW
    },
    "debias": lambda made: {"kv": made.kv, "method": "project", "definitional": PAIRS},
    "decomposition": lambda made: {"post": made.post},
    "diagnose": lambda made: {"post": made.post},
    "distance_table": lambda made: {"kv": made.kv, "words": LISTS, "relatedness": False},
    "distance_tables": lambda made: {"embeddings": {"one": made.kv}, "words": LISTS},
    "checks.score_table": lambda made: {"scores": made.table.rename(columns={"distance": "score"}), "words": LISTS},
    "checks.share_sample": lambda made: {"tables": {"one": made.related_table}, "embeddings": {"one": made.kv}},
    "encode": lambda made: {"encoder": made.encoder, "words": ["p", "q"], "templates": ["the {}"], "vocabulary": 0},
    "fit": lambda made: {"table": made.table, "model": "crossed", "draws": 200, "seed": 1},
    "frame_effects": lambda made: {"post": made.framed},
    "list_words": lambda made: {"language": "de"},
    "load_embedding": lambda made: {"source": made.embedding_file},
    "load_fit": lambda made: {"path": made.fit_file},
    "load_list": lambda made: {"name_or_path": "occ16"},
    "load_model": lambda made: {"name_or_path": "crossed"},
    "load_query": lambda made: {"name_or_path": "weat6"},
    "load_words": lambda made: {"name_or_path": "gender"},
    "multiverse": lambda made: {"plan": MULTIVERSE},
    "debiasing.register": lambda made: {"method": bb.debiasing.registry.METHODS["hard"]},
    "metrics.register": lambda made: {"metric": bb.metrics.catalogue.METRICS["weat"]},
    "metric": lambda made: {"name": "weat", "kv": made.kv, "query": QUERY},
    "plan": lambda made: {"words_or_table": made.table, "seed": 1},
    "plot_change": lambda made: {"result": made.comparison},
    "plot_coefficients": lambda made: {"post": made.post},
    "plot_contrasts": lambda made: {"post": made.post},
    "plot_decomposition": lambda made: {"post": made.post},
    "plot_distances": lambda made: {"table": made.table},
    "pool": lambda made: {"tables": made.pair_of_tables, "stages": FEW},
    "rank": lambda made: {"kvs": made.pair, "queries": QUERY, "metrics": "weat", "draws": 5},
    "read_distance_table": lambda made: {"path": made.table_file},
    "relatedness": lambda made: {"kv": made.kv, "words": LISTS, "sample": 420},
    "report": lambda made: {"post": made.post, "path": made.folder / "r.html", "sensitivity": False},
    "resample_corpus": lambda made: {"corpus": ["one two", "three four", "five six"], "n": 2},
    "run_metrics": lambda made: {"kvs": made.kv, "queries": QUERY, "metrics": ["weat"]},
    "save_embedding": lambda made: {"kv": made.kv, "path": made.folder / "o.npz"},
    "save_fit": lambda made: {"post": made.post, "path": made.folder / "o.nc"},
    "side_effects": lambda made: {
        "before": made.table,
        "after": made.after,
        "kv_a": made.kv,
        "kv_b": made.other,
        "k": 5,
        "words": 20,
        "draws": 50,
    },
    "side_effects of a comparison": lambda made: {
        "before": made.table, "after": made.after, "kv_a": made.kv, "kv_b": made.other, "k": 5, "words": 20,
        "draws": 50, "comparison": made.comparison,
    },
    "summary": lambda made: {"post": made.post},
    "sweep": lambda made: {"plan": SWEEP, "out": made.folder / "sweep", "executor": "serial", "workers": 1},
    "to_latex": lambda made: {"result": made.table, "path": made.folder / "o.tex"},
    "topic_null": lambda made: {"kv": made.kv, "words_or_query": LISTS, "replicates": 5},
    "trend": lambda made: {"tables": {"1": made.table, "2": made.after, "3": made.nearly}, "stages": FEW},
    "write_distance_table": lambda made: {"table": made.table, "path": made.folder / "o.csv"},
    "checks.add_log_likelihood": lambda made: {"post": made.post},
    "checks.add_predictive": lambda made: {"post": made.post, "seed": 1, "draws": 8},
    "checks.adjustment": lambda made: {"post": made.adjusted},
    "checks.bootstrap_metric": lambda made: {
        "name": "weat", "kv": made.kv, "query": QUERY, "draws": 10, "posterior": False
    },
    "checks.check_relatedness": lambda made: {"data": made.related},
    "cell_estimates": lambda made: {"post": made.post},
    "checks.check_words": lambda made: {"words": LISTS, "kv": made.kv, "frequencies": made.lengths},
    "checks.cluster_interval": lambda made: {"data": made.table},
    "checks.compare_models": lambda made: {"table": made.table, "models": ["crossed"], "draws": 200},
    "checks.influence": lambda made: {"post": made.post, "words": "protected"},
    "checks.mean_distances": lambda made: {"post": made.post},
    "checks.prior_sensitivity": lambda made: {"post": made.post},
    "checks.variance_shares": lambda made: {"post": made.post},
    "checks.verdict_sentences": lambda made: {"post": made.post},
    "calibration.coverage_study": lambda made: {
        "shape": SHAPE, "truth": PLANTED, "models": ["published"], "replicates": 2
    },
    "calibration.false_positive_rate": lambda made: {
        "shape": SHAPE, "truth": TRUTH, "models": ["published"], "replicates": 2
    },
    "calibration.null_distribution": lambda made: {
        "kv": None, "words": made.table, "statistic": "associated - neutral", "draws": 5
    },
    "calibration.null_false_positive_rate": lambda made: {
        "table": made.table, "models": ["published"], "replicates": 2
    },
    "calibration.prior_analysis": lambda made: {"name": "one of my own"},
    "calibration.prior_check": lambda made: {"analyses": "places", "replicates": 2},
    "calibration.sbc": lambda made: {"model": "published", "shape": SHAPE, "replicates": 3, "draws": 19},
    "calibration.simulate": lambda made: {"table_or_shape": SHAPE, "truth": TRUTH, "seed": 1},
    "calibration.simulate_null_weat": lambda made: {"draws": 20},
    "silhouettes.silhouette": lambda made: {"kv": made.kv, "query": QUERY, "metric": "weat_effect_size", "runs": 2},
    "silhouettes.silhouette_accuracy": lambda made: dict(zip(SIDES, made.silhouettes, strict=True)),
    "silhouettes.silhouette_separation": lambda made: dict(zip(SIDES, made.silhouettes, strict=True)),
    "silhouettes.silhouette_study": lambda made: {
        "kvs": made.pair, "queries": {"q": QUERY}, "metrics": ["ect"], "runs": 2
    },
    "silhouettes.silhouette_uncertainty": lambda made: {
        **dict(zip(SIDES, made.silhouettes, strict=True)), "resamples": 10
    },
    "reliability.bias_scores": lambda made: {
        "kvs": [made.kv, made.other], "targets": ["p", "q"], "pairs": PAIRS, "measures": ["ripa"]
    },
    "reliability.inter_rater_consistency": lambda made: {"scores": made.scores},
    "reliability.internal_consistency": lambda made: {"scores": made.scores, "of": "base_pair"},
    "reliability.measure_correlations": lambda made: {"scores": made.scores},
    "reliability.reliability_regression": lambda made: {"table": made.rows, **REGRESSION},
    "reliability.retest_reliability": lambda made: {"scores": made.scores},
    "reliability.variance_components": lambda made: {"scores": made.scores, "draws": 200, "seed": 1},
    "reliability.word_features": lambda made: {"kvs": [made.kv, made.other], "words": ["p", "q"]},
    "contextual.Frame": lambda made: {"name": "n", "texts": {"any": "a {}"}},
    "contextual.Templates": lambda made: {"name": "n", "frames": (bb.contextual.Frame("n", {"any": "a {}"}),)},
    "contextual.load_context_vectors": lambda made: {"path": made.vectors_file},
    "contextual.load_templates": lambda made: {"given": "seat"},
    "stability.direct_bias_study": lambda made: {"kvs": made.settings, **STUDY},
    "stability.metric_stability": lambda made: {
        "kvs": made.settings, "query": QUERY, "metrics": ["weat"], "contrast": False, "draws": 200, "random_pairs": 20
    },
    "stability.setting_components": lambda made: {"table": made.study.table(), "draws": 200, "seed": 1},
    "stability.toy_corpus": lambda made: {"sentences": 50},
    "stability.train_embeddings": lambda made: {
        "corpus": TINY, "seeds": 1, "dims": 2, "epochs": 1, "min_count": 1, "jobs": 1
    },
    "plots.forest": lambda made: {"estimates": bb.contrasts(made.post)},
    "plots.forest of estimates": lambda made: {"estimates": bb.cell_estimates(made.post)[:5]},
    "plots.matrix": lambda made: {"frame": pd.DataFrame([[1.0, 2.0]])},
    "plots.strip": lambda made: {"frame": made.table, "value": "distance"},
    "plots.plot_association": lambda made: {"post": made.associated},
    "plots.plot_audit": lambda made: {"found": made.audit},
    "plots.plot_axis": lambda made: {"axis": made.gender},
    "plots.plot_quadrants": lambda made: {"quadrants": made.quadrants},
    "plots.plot_components": lambda made: {"result": made.components},
    "plots.plot_components of settings": lambda made: {"result": made.setting_components},
    "plots.plot_null_weat": lambda made: {"result": made.null_weat},
    "plots.plot_overview": lambda made: {"post": made.post},
    "plots.plot_plan": lambda made: {"plan": made.plan},
    "plots.plot_multiverse": lambda made: {"multiverse": made.multiverse},
    "plots.plot_pool": lambda made: {"pool": made.pooled},
    "plots.plot_predictions": lambda made: {"post": made.post, "seed": 1},
    "plots.plot_ranking": lambda made: {"ranking": made.ranking},
    "plots.plot_relatedness": lambda made: {"holder": made.relatedness},
    "plots.plot_relation": lambda made: {"result": made.pooled},
    "plots.plot_relation of a criterion": lambda made: {"result": made.criterion},
    "plots.plot_reliability": lambda made: {"table": made.retest},
    "plots.plot_side_effects": lambda made: {"result": made.side_effects},
    "plots.plot_silhouette": lambda made: {"panels": made.silhouettes[0]},
    "plots.plot_templates": lambda made: {"post": made.framed},
    "plots.plot_templates of effects": lambda made: {"post": bb.frame_effects(made.framed)},
    "plots.plot_topic_null": lambda made: {"null": made.topics},
    "plots.plot_trend": lambda made: {"trend": made.trended},
    "plots.plot_variogram": lambda made: {"holder": made.relatedness},
}  # fmt: skip
"""Public functions to arguments with which they run, fast."""
FULL = {
    "reliability.reliability_regression",
    "sweep",
    "plots.plot_side_effects",
    "SideEffects.added_to",
    "MetricStability.summary",
    "Sweep.load",
}
"""What is tried under --full only, since making its arguments takes long."""
HOLDERS = {
    "Axis": lambda made: made.gender,
    "Audit": lambda made: made.audit,
    "Comparison": lambda made: made.comparison,
    "ContextVectors": lambda made: made.vectors,
    "Criterion": lambda made: made.criterion,
    "FrameEffects": lambda made: bb.frame_effects(made.framed),
    "MetricStability": lambda made: bb.stability.metric_stability(
        made.settings, QUERY, ["weat"], contrast=False, draws=200, random_pairs=20
    ),
    "MetricUncertainty": lambda made: bb.checks.bootstrap_metric("weat", made.kv, QUERY, draws=10, posterior=False),
    "Multiverse": lambda made: made.multiverse,
    "Pool": lambda made: made.pooled,
    "Query": lambda made: QUERY,
    "Relatedness": lambda made: made.relatedness,
    "SettingComponents": lambda made: made.setting_components,
    "SideEffects": lambda made: made.side_effects,
    "Sweep": lambda made: bb.sweep(SWEEP, made.folder / "of", "serial"),
    "TopicNull": lambda made: made.topics,
    "ToyCorpus": lambda made: bb.stability.toy_corpus(sentences=5),
    "Trend": lambda made: made.trended,
    "VarianceComponents": lambda made: made.components,
}
"""Classes to an instance."""
METHODS = {
    "Axis.variances": lambda made: {"population": "oppositions"},
    "Axis.with_words": lambda made: {"words": ["nurse"]},
    "Audit.write": lambda made: {"path": made.folder / "a.parquet"},
    "Comparison.debiasing": lambda made: {"name": "before"},
    "Comparison.pair": lambda made: {"number": 0},
    "Comparison.without_units": lambda made: {"change": 0},
    "Comparison.sides": lambda made: {"first": "associated"},
    "ContextVectors.frames_like": lambda made: {"names": ["{}"]},
    "ContextVectors.save": lambda made: {"path": made.folder / "v.npz"},
    "Criterion.draws": lambda made: {"name": "slope"},
    "Axis.contrast": lambda made: {"words_a": ["nurse"], "words_b": ["guard"]},
    "Multiverse.draws": lambda made: {"name": "theta"},
    "Pool.draws": lambda made: {"name": "theta"},
    "Pool.probability": lambda made: {"first": "a", "second": "b"},
    "Query.subqueries": lambda made: {"targets": 2, "attributes": 2},
    "Relatedness.covariance": lambda made: {"weights": np.eye(8, 24)},
    "Relatedness.families": lambda made: {"words": ["p", "q"]},
    "SideEffects.added_to": lambda made: {"parts": {"a": ["b"]}},
    "Sweep.load": lambda made: {"name": bb.sweep(SWEEP, made.folder / "of", "serial").fits["fit"][0]},
    "TopicNull.lists": lambda made: {"replicate": 0},
    "TopicNull.of": lambda made: {"statistic": "associated - human"},
    "ToyCorpus.save": lambda made: {"path": made.folder / "toy.txt"},
    "Trend.change": lambda made: {"before": "1", "after": "2"},
    "Trend.draws": lambda made: {"name": "level"},
}
"""Methods to the arguments that they need."""
STEPS = {
    "Relatedness.distances",
    "Relatedness.expanded",
    "Relatedness.factors_of",
    "Relatedness.of_words",
    "Relatedness.overlaps",
    "Relatedness.own_correlations",
    "Relatedness.pairs_of_lists",
    "Relatedness.sampled_families",
    "Relatedness.similarity_of_distances",
    "Relatedness.stereotype_nearness",
    "Relatedness.units_of",
    "Relatedness.with_sample",
}
"""Methods that are steps of a computation, and take what the steps before made."""


def public_functions():
    """Every public function and class of what is given by its name below ``bb``, and every method, once."""
    found = {}
    for module in ("", *MODULES):
        holder = getattr(bb, module) if module else bb
        for name in holder.__all__:
            value = getattr(holder, name)
            if (inspect.isfunction(value) or f"{module}.{name}".strip(".") in CALLS) and value not in found.values():
                found[f"{module}.{name}".strip(".")] = value
    return found


def public_methods():
    """Every method with arguments of a result, or of what is given, by class and name.

    Options of ``figure`` are those of pictures, which are tried by themselves; test_results has wrong ones.
    """
    given = (bb.Query, bb.contextual.ContextVectors, bb.stability.ToyCorpus)
    return {
        f"{one.__name__}.{name}"
        for one in {*given, *results_below(Result)}
        if ".reporting." not in one.__module__  # what report makes of fits and tables of metrics
        for name, method in inspect.getmembers(one, inspect.isfunction)
        if not name.startswith("_")
        and name != "figure"
        and len(inspect.signature(method).parameters) > 1
        and f"{one.__name__}.{name}" not in STEPS
    }


def results_below(one):
    """The classes below one that have none below them."""
    return {each for below in one.__subclasses__() for each in results_below(below)} or {one}


FUNCTIONS = public_functions()


def tried():
    without = {name for name in FUNCTIONS if name in UNTRIED or name.split(".")[0] in UNTRIED}
    return sorted(name for name in FUNCTIONS.keys() - without if inspect.signature(FUNCTIONS[name]).parameters)


@pytest.fixture(scope="module")
def made(tmp_path_factory, random_embedding, text_encoder):
    return Made(tmp_path_factory.mktemp("arguments"), random_embedding, text_encoder)


@pytest.fixture(scope="module")
def call(made):
    """A function from a name to what is called and the arguments with which it runs."""
    holders = {}

    def find(name):
        if name in CALLS:
            function = bb.Query.from_words if name == "Query.from_words" else FUNCTIONS[name.split(" of ")[0]]
            return function, CALLS[name](made)
        of, method = name.split(".")
        if of not in holders:
            holders[of] = HOLDERS[of](made)
        return getattr(holders[of], method), METHODS.get(name, lambda made: {})(made)

    return find


NOTHING = (("None", None), ("bool", True), ("Mapping", {}), ("Iterable", []), ("Sequence", []), ("str | None", ""))
"""Types and what of them says the same as leaving the argument out."""
PATHS = ("path", "out", "folder", "cache", "pictures", "source")


def is_valid(value, parameter, usual):
    """Whether a value is what the argument has anyway, names a file, or says that nothing is given, as is usual."""
    said = str(parameter.annotation)
    if parameter.name == "what" and isinstance(value, str):  # names what scores are; stands in attrs only
        return True
    if value is usual or (value == "nonsense" if isinstance(value, str) and parameter.name in PATHS else False):
        return True
    if isinstance(value, Mapping) and not isinstance(value, dict):
        value = dict(value)  # a tree without groups is an empty mapping
    fits = any(kind in said and type(one) is type(value) and one == value for kind, one in NOTHING)
    nothing_is_usual = usual is None or usual in ("", ()) if isinstance(usual, str | tuple | None) else False
    return fits and (value in (None, True) or nothing_is_usual or "factory" in repr(parameter.default))


def fault(called, base, name, label, expected):
    """What is wrong with how a call with a wrong value of one argument ends, or nothing."""
    parameter = inspect.signature(called).parameters[name]
    value = WRONG[label]
    if is_valid(value, parameter, base.get(name, parameter.default)):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = called(**base | {name: value})
            same = label not in UNFIT and answer(found) == expected()
    except bb.InputError:
        return None
    except OSError as error:
        return None if name in PATHS else f"raw {type(error).__name__}: {error}"
    except Exception as error:  # the point of the test: no other error reaches a user
        return f"raw {type(error).__name__}: {error}"
    if label in UNFIT:
        return "taken"
    return "ignored" if same else None


def answer(found):
    """What is equal for equal answers."""
    if isinstance(found, Figure):
        buffer = io.StringIO()
        with mpl.rc_context({"svg.hashsalt": "fixed"}):
            style.write_svg(found, buffer)
        return buffer.getvalue()
    if isinstance(found, xr.DataTree):
        return {path: node.to_dataset().drop_attrs().to_dict() for path, node in found.subtree_with_keys}.__repr__()
    if isinstance(found, pd.DataFrame | pd.Series):
        return found.to_csv()
    if isinstance(found, KeyedVectors):
        return found.index_to_key, found.vectors.tobytes()
    if isinstance(found, np.ndarray):
        return found.tobytes()
    if dataclasses.is_dataclass(found):
        return [answer(getattr(found, field.name)) for field in dataclasses.fields(found)]
    if isinstance(found, Mapping):
        return [(name, answer(value)) for name, value in found.items()]
    if isinstance(found, tuple | list):
        return [answer(value) for value in found]
    return repr(found)


def test_every_function_is_tried():
    assert {*tried(), "Query.from_words"} == {name.split(" of ")[0] for name in CALLS}
    assert {name.split(".")[0] for name in public_methods()} == set(HOLDERS)
    assert set(METHODS) <= public_methods()


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.full] * (name in FULL)) for name in (*CALLS, *sorted(public_methods()))],
)
def test_wrong_values_are_refused_or_used(call, name, tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    called, base = call(name)

    @cache
    def expected():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return answer(called(**base))

    full = request.config.getoption("--full")
    if full:  # by default only where a value is taken, to hold the answers together
        expected()
    faults = {
        f"{argument} as {label}": said
        for argument, parameter in inspect.signature(called).parameters.items()
        if parameter.kind not in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
        for label in (WRONG if full else USUAL)
        if (said := fault(called, base, argument, label, expected)) is not None
    }
    assert not faults, "\n".join(f"{where}: {said}" for where, said in faults.items())


@pytest.mark.parametrize("name", sorted({*CALLS, *public_methods()} - FULL))
def test_flags_are_true_or_false(call, name):
    called, base = call(name)
    for argument, parameter in inspect.signature(called).parameters.items():
        if parameter.annotation == "bool":
            for value in ("False", *WRONG.values()):
                if not isinstance(value, bool):
                    with pytest.raises(bb.InputError, match=argument):
                        called(**(base | {argument: value}))
