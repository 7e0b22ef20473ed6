"""What a fit says and how far it can be trusted: summaries, predictive checks, convergence, calibration."""

from bayesbias.diagnostics.calibration import Ranks, coverage_study, false_alarms, real_null, sbc, simulate
from bayesbias.diagnostics.clustering import ClusterInterval, cluster_interval
from bayesbias.diagnostics.confounds import Balance, balance, known_balance
from bayesbias.diagnostics.convergence import Verdict, diagnose
from bayesbias.diagnostics.noise import noise_null
from bayesbias.diagnostics.null_models import null_distribution
from bayesbias.diagnostics.null_results import NullDistribution
from bayesbias.diagnostics.null_weat import NullWeat, simulate_null_weat
from bayesbias.diagnostics.predictions import check_predictions
from bayesbias.diagnostics.scatter import check_relatedness
from bayesbias.diagnostics.summaries import summary
from bayesbias.diagnostics.topics import TopicNull, topic_null
from bayesbias.diagnostics.variances import variance_shares

__all__ = [
    "Balance",
    "ClusterInterval",
    "NullDistribution",
    "NullWeat",
    "Ranks",
    "TopicNull",
    "Verdict",
    "balance",
    "check_predictions",
    "check_relatedness",
    "cluster_interval",
    "coverage_study",
    "diagnose",
    "false_alarms",
    "known_balance",
    "noise_null",
    "null_distribution",
    "real_null",
    "sbc",
    "simulate",
    "simulate_null_weat",
    "summary",
    "topic_null",
    "variance_shares",
]
