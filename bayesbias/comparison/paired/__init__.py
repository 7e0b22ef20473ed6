"""The same pairs in several embeddings: what changed, for whom, and how surely."""

from bayesbias.comparison.paired.results import Comparison
from bayesbias.comparison.paired.running import compare

__all__ = ["Comparison", "compare"]
