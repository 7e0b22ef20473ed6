"""False-positive rates, coverage and ranks by simulation; null distributions of metrics."""

from bayesbias.calibration.null_models import NullDistribution, NullWeat, null_distribution, simulate_null_weat
from bayesbias.calibration.simulation import (
    Ranks,
    coverage_study,
    false_positive_rate,
    null_false_positive_rate,
    sbc,
    simulate,
)

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
