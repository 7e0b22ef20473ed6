"""What a fit says about bias: contrasts, and how much hangs on single words, priors and models."""

from bayesbias.comparison.contrasting import beside_associated, contrast_draws, contrasts

__all__ = ["beside_associated", "contrast_draws", "contrasts"]
