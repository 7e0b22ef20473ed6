"""How far bias scores can be trusted when seeds, scoring rules and words change."""

from bayesbias.reliability.components import VarianceComponents, variance_components
from bayesbias.reliability.consistency import (
    bias_scores,
    inter_rater_consistency,
    internal_consistency,
    measure_correlations,
    retest_reliability,
)
from bayesbias.reliability.features import word_features
from bayesbias.reliability.regression import ReliabilityRegression, reliability_regression

__all__ = [
    "ReliabilityRegression",
    "VarianceComponents",
    "bias_scores",
    "inter_rater_consistency",
    "internal_consistency",
    "measure_correlations",
    "reliability_regression",
    "retest_reliability",
    "variance_components",
    "word_features",
]
