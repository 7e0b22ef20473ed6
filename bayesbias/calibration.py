"""False-positive rates, coverage and ranks by simulation; null distributions of metrics."""

from bayesbias.diagnostics import (
    NullDistribution,
    NullWeat,
    Ranks,
    coverage_study,
    false_positive_rate,
    null_distribution,
    null_false_positive_rate,
    sbc,
    simulate,
    simulate_null_weat,
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
