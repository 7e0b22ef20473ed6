"""False-positive rates, coverage and ranks by simulation, truths from priors; null distributions of metrics."""

from bayesbias.calibration.null_models import NullDistribution, NullWeat, null_distribution, simulate_null_weat
from bayesbias.calibration.priors import Interval, PriorCheck, prior_analyses, prior_analysis, prior_check
from bayesbias.calibration.simulation import (
    Ranks,
    coverage_study,
    false_positive_rate,
    null_false_positive_rate,
    sbc,
    simulate,
)
from bayesbias.calibration.topics import TopicNull

__all__ = [
    "Interval",
    "NullDistribution",
    "NullWeat",
    "PriorCheck",
    "Ranks",
    "TopicNull",
    "coverage_study",
    "false_positive_rate",
    "null_distribution",
    "null_false_positive_rate",
    "prior_analyses",
    "prior_analysis",
    "prior_check",
    "sbc",
    "simulate",
    "simulate_null_weat",
]
