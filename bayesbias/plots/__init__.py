"""Figures: the result first, a matplotlib Figure back, or the Axes that one panel was drawn on (``ax``)."""

from bayesbias.plots.embeddings import plot_change as plot_change
from bayesbias.plots.embeddings import plot_pool as plot_pool
from bayesbias.plots.embeddings import plot_ranking as plot_ranking
from bayesbias.plots.embeddings import plot_side_effects as plot_side_effects
from bayesbias.plots.fits import plot_coefficients as plot_coefficients
from bayesbias.plots.fits import plot_contrasts as plot_contrasts
from bayesbias.plots.fits import plot_decomposition as plot_decomposition
from bayesbias.plots.fits import plot_distances as plot_distances
from bayesbias.plots.fits import plot_topic_null as plot_topic_null
from bayesbias.plots.general import curve as curve
from bayesbias.plots.general import forest as forest
from bayesbias.plots.general import matrix as matrix
from bayesbias.plots.general import strip as strip
from bayesbias.plots.words import plot_axis as plot_axis
from bayesbias.plots.words import plot_covariates as plot_covariates
from bayesbias.plots.words import plot_relatedness as plot_relatedness
from bayesbias.plots.words import plot_reliability as plot_reliability
from bayesbias.plots.words import plot_silhouette as plot_silhouette

__all__ = ["curve", "forest", "matrix", "strip", *(name for name in globals() if name.startswith("plot_"))]
