"""What fits say about bias: contrasts, comparisons of models, and how they depend on priors, words and list length."""

from bayesbias.comparison.associations import (
    GIVEN,
    ONE_GROUP,
    POPULATIONS,
    SIMILAR,
    association,
    decomposable_controls,
    decomposition,
    decomposition_sentence,
    patterns,
)
from bayesbias.comparison.changes import compare
from bayesbias.comparison.comparison import Comparison, similarity_shift
from bayesbias.comparison.contrast import (
    adjustment,
    beside_associated,
    cluster_sentence,
    connections_of,
    contrasts,
    functionals,
    mean_distances,
    size_sentence,
)
from bayesbias.comparison.effects import SideEffects, side_effects
from bayesbias.comparison.frame_contrasts import FrameEffects, OriginSensitivity, frame_effects, origin_sensitivity
from bayesbias.comparison.loo import compare_models
from bayesbias.comparison.metric_uncertainty import MetricUncertainty, Ranking, bootstrap_metric, rank
from bayesbias.comparison.power import Plan, plan
from bayesbias.comparison.sensitivity import PriorSensitivity, influence, prior_sensitivity

__all__ = [
    "GIVEN",
    "ONE_GROUP",
    "POPULATIONS",
    "SIMILAR",
    "Comparison",
    "FrameEffects",
    "MetricUncertainty",
    "OriginSensitivity",
    "Plan",
    "PriorSensitivity",
    "Ranking",
    "SideEffects",
    "adjustment",
    "association",
    "beside_associated",
    "bootstrap_metric",
    "cluster_sentence",
    "compare",
    "compare_models",
    "connections_of",
    "contrasts",
    "decomposable_controls",
    "decomposition",
    "decomposition_sentence",
    "frame_effects",
    "functionals",
    "influence",
    "mean_distances",
    "origin_sensitivity",
    "patterns",
    "plan",
    "prior_sensitivity",
    "rank",
    "side_effects",
    "similarity_shift",
    "size_sentence",
]
