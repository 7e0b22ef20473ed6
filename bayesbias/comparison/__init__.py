"""What fits say about bias: contrasts, models side by side, and what hangs on priors, single words and list length."""

from bayesbias.comparison.choosing import compare_models
from bayesbias.comparison.contrasting import (
    GIVEN,
    POPULATIONS,
    SIMILAR,
    adjustment,
    beside_associated,
    cluster_sentence,
    connections_of,
    contrast_draws,
    contrasts,
    signed,
)
from bayesbias.comparison.decomposed import (
    ONE_GROUP,
    decomposable_controls,
    decomposition,
    decomposition_draws,
    decomposition_sentence,
)
from bayesbias.comparison.effects import SideEffects, side_effects
from bayesbias.comparison.influences import influence
from bayesbias.comparison.paired import Comparison, compare, paired_distances, similarity_shift
from bayesbias.comparison.planning import Plan, plan
from bayesbias.comparison.ranking import Ranking, rank
from bayesbias.comparison.sensitivity import PriorSensitivity, prior_sensitivity
from bayesbias.comparison.uncertainty import MetricUncertainty, bootstrap_metric

__all__ = [
    "GIVEN",
    "ONE_GROUP",
    "POPULATIONS",
    "SIMILAR",
    "Comparison",
    "MetricUncertainty",
    "Plan",
    "PriorSensitivity",
    "Ranking",
    "SideEffects",
    "adjustment",
    "beside_associated",
    "bootstrap_metric",
    "cluster_sentence",
    "compare",
    "compare_models",
    "connections_of",
    "contrast_draws",
    "contrasts",
    "decomposable_controls",
    "decomposition",
    "decomposition_draws",
    "decomposition_sentence",
    "influence",
    "paired_distances",
    "plan",
    "prior_sensitivity",
    "rank",
    "side_effects",
    "signed",
    "similarity_shift",
]
