"""Pictures: the result first, a matplotlib Figure back."""

from bayesbias.plots.attribute_words import plot_attribute_effects
from bayesbias.plots.calibrating import plot_calibration
from bayesbias.plots.changing import plot_change
from bayesbias.plots.coefficients import plot_coefficients
from bayesbias.plots.contrasting import plot_contrasts
from bayesbias.plots.growing import plot_silhouette
from bayesbias.plots.null_weat import plot_null_partitions, plot_null_sample, plot_null_weat
from bayesbias.plots.planned import plot_plan
from bayesbias.plots.predictive import plot_predictions
from bayesbias.plots.ranked import plot_ranking
from bayesbias.plots.raw import plot_distances
from bayesbias.plots.shifting import plot_similarity_shift
from bayesbias.plots.sides import plot_side_effects
from bayesbias.plots.variance import plot_variance

__all__ = [
    "plot_attribute_effects",
    "plot_calibration",
    "plot_change",
    "plot_coefficients",
    "plot_contrasts",
    "plot_distances",
    "plot_null_partitions",
    "plot_null_sample",
    "plot_null_weat",
    "plot_plan",
    "plot_predictions",
    "plot_ranking",
    "plot_side_effects",
    "plot_silhouette",
    "plot_similarity_shift",
    "plot_variance",
]
