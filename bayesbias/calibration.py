"""False-positive rates, coverage and ranks by simulation; null distributions of metrics."""

from bayesbias.diagnostics import (
    NullDistribution,
    NullWeat,
    Ranks,
    coverage_study,
    false_alarms,
    noise_null,
    null_distribution,
    real_null,
    sbc,
    simulate,
    simulate_null_weat,
)

__all__ = [
    "NullDistribution",
    "NullWeat",
    "Ranks",
    "coverage_study",
    "false_alarms",
    "noise_null",
    "null_distribution",
    "real_null",
    "sbc",
    "simulate",
    "simulate_null_weat",
]
