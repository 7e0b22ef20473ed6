"""Two embeddings or more: the same pairs matched, what changed, and side effects."""

from bayesbias.comparison.changes import compare as compare
from bayesbias.comparison.comparison import Comparison as Comparison
from bayesbias.comparison.effects import SideEffects as SideEffects
from bayesbias.comparison.effects import side_effects as side_effects
