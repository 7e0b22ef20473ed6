"""What a fit says and how far it can be trusted: summaries, predictive checks, convergence, calibration."""

from bayesbias.diagnostics.calibration import Ranks, coverage_study, false_alarms, real_null, sbc, simulate
from bayesbias.diagnostics.clustering import ClusterInterval, cluster_interval
from bayesbias.diagnostics.convergence import Verdict, diagnose
from bayesbias.diagnostics.null_models import NullDistribution, noise_null, null_distribution
from bayesbias.diagnostics.predictions import check_predictions
from bayesbias.diagnostics.summaries import summary
from bayesbias.diagnostics.variances import variance_shares

__all__ = [
    "ClusterInterval",
    "NullDistribution",
    "Ranks",
    "Verdict",
    "check_predictions",
    "cluster_interval",
    "coverage_study",
    "diagnose",
    "false_alarms",
    "noise_null",
    "null_distribution",
    "real_null",
    "sbc",
    "simulate",
    "summary",
    "variance_shares",
]
