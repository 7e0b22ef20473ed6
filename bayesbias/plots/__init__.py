"""Pictures: the result first, a matplotlib Figure back."""

from bayesbias.plots.coefficients import plot_coefficients
from bayesbias.plots.contrasting import plot_contrasts
from bayesbias.plots.predictive import plot_predictions
from bayesbias.plots.raw import plot_distances

__all__ = ["plot_coefficients", "plot_contrasts", "plot_distances", "plot_predictions"]
