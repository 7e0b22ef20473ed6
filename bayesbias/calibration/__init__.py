"""False-positive rates, coverage and ranks by simulation; null distributions of metrics."""

from bayesbias.calibration.false_positives import (
    Ranks,
    coverage_study,
    false_positive_rate,
    null_false_positive_rate,
    sbc,
)
from bayesbias.calibration.null_models import NullDistribution, null_distribution
from bayesbias.calibration.simulation import NullWeat, simulate, simulate_null_weat

__all__ = [
    "NullDistribution",
    "NullWeat",
    "Ranks",
    "coverage_study",
    "false_positive_rate",
    "null_distribution",
    "null_false_positive_rate",
    "sbc",
    "simulate",
    "simulate_null_weat",
]
