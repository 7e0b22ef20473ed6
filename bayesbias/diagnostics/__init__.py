"""What a fit says and how far it can be trusted: summaries, predictive checks, convergence, calibration."""

from bayesbias.diagnostics.confounds import Balance, Balances, balance, known_balance
from bayesbias.diagnostics.convergence import Verdict, check_predictions, check_relatedness, diagnose
from bayesbias.diagnostics.false_positives import (
    Ranks,
    coverage_study,
    false_positive_rate,
    null_false_positive_rate,
    sbc,
)
from bayesbias.diagnostics.null_models import NullDistribution, null_distribution
from bayesbias.diagnostics.simulation import NullWeat, simulate, simulate_null_weat
from bayesbias.diagnostics.summaries import ClusterInterval, cluster_interval, summary, variance_shares
from bayesbias.diagnostics.topics import TopicNull, topic_null
from bayesbias.diagnostics.word_lists import WordCheck, check_words

__all__ = [
    "Balance",
    "Balances",
    "ClusterInterval",
    "NullDistribution",
    "NullWeat",
    "Ranks",
    "TopicNull",
    "Verdict",
    "WordCheck",
    "balance",
    "check_predictions",
    "check_relatedness",
    "check_words",
    "cluster_interval",
    "coverage_study",
    "diagnose",
    "false_positive_rate",
    "known_balance",
    "null_distribution",
    "null_false_positive_rate",
    "sbc",
    "simulate",
    "simulate_null_weat",
    "summary",
    "topic_null",
    "variance_shares",
]
