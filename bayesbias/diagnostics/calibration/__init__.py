"""Proof of calibration: simulated tables, ranks of the truth, and how often intervals call what is not there."""

from bayesbias.diagnostics.calibration.ranks import Ranks, sbc
from bayesbias.diagnostics.calibration.simulation import simulate
from bayesbias.diagnostics.calibration.studies import coverage_study, false_alarms, real_null

__all__ = ["Ranks", "coverage_study", "false_alarms", "real_null", "sbc", "simulate"]
