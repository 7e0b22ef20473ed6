"""Pictures: the result first, a matplotlib Figure back."""

from collections.abc import Callable

from matplotlib.figure import Figure

from bayesbias.plots.calibration import (
    plot_calibration,
    plot_null_partitions,
    plot_null_sample,
    plot_null_weat,
    plot_topic_null,
)
from bayesbias.plots.changes import plot_change, plot_side_effects, plot_similarity_shift
from bayesbias.plots.fits import (
    plot_attribute_effects,
    plot_coefficients,
    plot_contrasts,
    plot_decomposition,
    plot_predictions,
    plot_variance,
)
from bayesbias.plots.metrics import plot_plan, plot_ranking, plot_silhouette
from bayesbias.plots.reliability import plot_components, plot_decision, plot_factors, plot_reliability
from bayesbias.plots.stability import plot_bias_bootstrap, plot_bias_decay, plot_rank_agreement, plot_word_bias
from bayesbias.plots.tables import plot_distances, plot_relatedness, plot_variogram

OF_A_FIT: dict[str, Callable[..., Figure]] = {
    "contrasts": plot_contrasts,
    "decomposition": plot_decomposition,
    "coefficients": plot_coefficients,
    "predictions": plot_predictions,
    "variance": plot_variance,
    "attribute-effects": plot_attribute_effects,
    "relatedness": plot_relatedness,
    "variogram": plot_variogram,
}
OF_A_TABLE: dict[str, Callable[..., Figure]] = {
    "distances": plot_distances,
    "relatedness": plot_relatedness,
    "variogram": plot_variogram,
}
"""Pictures by what they are called on the command line."""

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
