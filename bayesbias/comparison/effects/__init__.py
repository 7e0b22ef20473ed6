"""What changed from one embedding to another beside the bias."""

from bayesbias.comparison.effects.results import SideEffects
from bayesbias.comparison.effects.running import side_effects

__all__ = ["SideEffects", "side_effects"]
