"""Reliability of bias scores when seeds, scoring rules and words change."""

from bayesbias.baselines.reliability.consistency import (
    VarianceComponents,
    inter_rater_consistency,
    internal_consistency,
    measure_correlations,
    retest_reliability,
    variance_components,
)
from bayesbias.baselines.reliability.regression import ReliabilityRegression, reliability_regression
from bayesbias.baselines.reliability.scores import bias_scores, word_features

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
