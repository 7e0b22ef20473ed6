"""Checks of an answer: of its model, its priors, its words; and the classes of results."""

from bayesbias.comparison import (
    Audit,
    Comparison,
    FrameEffects,
    MetricUncertainty,
    OriginSensitivity,
    Plan,
    PriorSensitivity,
    Ranking,
    SideEffects,
    adjustment,
    bootstrap_metric,
    compare_models,
    influence,
    origin_sensitivity,
    prior_sensitivity,
    similarity_shift,
)
from bayesbias.diagnostics import (
    Balance,
    Balances,
    ClusterInterval,
    TopicNull,
    Verdict,
    check_relatedness,
    cluster_interval,
    variance_shares,
)
from bayesbias.distances import Relatedness
from bayesbias.models import ModelSpec, add_log_likelihood, add_predictive, word_draws
from bayesbias.reporting.sentences import verdict_sentences
from bayesbias.sweeps import Sweep
from bayesbias.words import PairList, WordList

__all__ = [
    "Audit",
    "Balance",
    "Balances",
    "ClusterInterval",
    "Comparison",
    "FrameEffects",
    "MetricUncertainty",
    "ModelSpec",
    "OriginSensitivity",
    "PairList",
    "Plan",
    "PriorSensitivity",
    "Ranking",
    "Relatedness",
    "SideEffects",
    "Sweep",
    "TopicNull",
    "Verdict",
    "WordList",
    "add_log_likelihood",
    "add_predictive",
    "adjustment",
    "bootstrap_metric",
    "check_relatedness",
    "cluster_interval",
    "compare_models",
    "influence",
    "origin_sensitivity",
    "prior_sensitivity",
    "similarity_shift",
    "variance_shares",
    "verdict_sentences",
    "word_draws",
]
