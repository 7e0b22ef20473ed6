"""What a fit says and how far it can be trusted: summaries, predictive checks, convergence."""

from bayesbias.diagnostics.convergence import Verdict, diagnose
from bayesbias.diagnostics.predictions import check_predictions
from bayesbias.diagnostics.summaries import summary

__all__ = ["Verdict", "check_predictions", "diagnose", "summary"]
