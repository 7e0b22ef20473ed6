"""Pictures: the result first, a matplotlib Figure back."""

from bayesbias.plots.agreeing import plot_rank_agreement
from bayesbias.plots.attribute_words import plot_attribute_effects
from bayesbias.plots.biased_words import plot_word_bias
from bayesbias.plots.calibrating import plot_calibration
from bayesbias.plots.changing import plot_change
from bayesbias.plots.coefficients import plot_coefficients
from bayesbias.plots.components import plot_components
from bayesbias.plots.contrasting import plot_contrasts
from bayesbias.plots.decaying import plot_bias_decay
from bayesbias.plots.deciding import plot_decision
from bayesbias.plots.decomposed import plot_decomposition
from bayesbias.plots.factors import plot_factors
from bayesbias.plots.growing import plot_silhouette
from bayesbias.plots.null_weat import plot_null_partitions, plot_null_sample, plot_null_weat
from bayesbias.plots.planned import plot_plan
from bayesbias.plots.predictive import plot_predictions
from bayesbias.plots.ranked import plot_ranking
from bayesbias.plots.raw import plot_distances
from bayesbias.plots.reliabilities import plot_reliability
from bayesbias.plots.resampled import plot_bias_bootstrap
from bayesbias.plots.shifting import plot_similarity_shift
from bayesbias.plots.sides import plot_side_effects
from bayesbias.plots.similarities import plot_relatedness
from bayesbias.plots.topics import plot_topic_null
from bayesbias.plots.variance import plot_variance
from bayesbias.plots.variogram import plot_variogram

__all__ = [
    "plot_attribute_effects",
    "plot_bias_bootstrap",
    "plot_bias_decay",
    "plot_calibration",
    "plot_change",
    "plot_coefficients",
    "plot_components",
    "plot_contrasts",
    "plot_decision",
    "plot_decomposition",
    "plot_distances",
    "plot_factors",
    "plot_null_partitions",
    "plot_null_sample",
    "plot_null_weat",
    "plot_plan",
    "plot_predictions",
    "plot_rank_agreement",
    "plot_ranking",
    "plot_relatedness",
    "plot_reliability",
    "plot_side_effects",
    "plot_silhouette",
    "plot_similarity_shift",
    "plot_topic_null",
    "plot_variance",
    "plot_variogram",
    "plot_word_bias",
]
