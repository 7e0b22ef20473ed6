"""The same pairs in several embeddings: what changed, for whom, and how surely."""

from bayesbias.comparison.paired.pairs import paired_distances, similarity_shift
from bayesbias.comparison.paired.results import Comparison
from bayesbias.comparison.paired.tables import compare

__all__ = ["Comparison", "compare", "paired_distances", "similarity_shift"]
