"""What a fit says about bias: contrasts, and how much hangs on single words, priors and models."""

from bayesbias.comparison.contrasting import beside_associated, cluster_sentence, contrast_draws, contrasts, signed

__all__ = ["beside_associated", "cluster_sentence", "contrast_draws", "contrasts", "signed"]
