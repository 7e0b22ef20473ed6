"""Reports: one self-contained HTML file."""

from bayesbias.reporting.page import report
from bayesbias.reporting.sentences import verdict_sentences

__all__ = ["report", "verdict_sentences"]
