"""The same pairs in several embeddings: what changed, for whom, and how surely."""

from bayesbias.comparison.paired.results import Comparison
from bayesbias.comparison.paired.running import compare
from bayesbias.comparison.paired.shift import paired_distances, similarity_shift

__all__ = ["Comparison", "compare", "paired_distances", "similarity_shift"]
