"""What the benchmarks take from the inside of the package: when something moves there, it is changed here."""

import bayesbias.axes.angles
import bayesbias.axes.poles
from bayesbias import _core, comparison, distances, models, reliability  # noqa: F401  (loads _core.components)
from bayesbias.calibration import simulation
from bayesbias.checks import summaries

TYPICAL_SCALES = comparison.power.TYPICAL_SCALES
contrast_draws = comparison.contrast.contrast_draws
pseudo_lists = simulation._pseudo_lists
association_rows, word_weights = models.weights.association_rows, models.weights.word_weights
interval_of = summaries.cluster_interval_of
measured_relatedness = distances.vocabularies.measured_relatedness
vocabularies = distances.vocabularies
word_values = distances.vocabularies.word_values
Distances, Fit, read_distances = distances.distances.Distances, models.results.Fit, models.results.read_distances
TARGET_ACCEPT, TUNE, build = models.nuts.TARGET_ACCEPT, models.nuts.TUNE, models.nuts.build
model_of_text = models.spec.model_of_text
related_model, prior_scale = models.related, models.related.prior_scale
bootstrap_icc, icc = _core.components.bootstrap_icc, _core.components.icc
related_core, mixtures = _core.related, _core.mixtures
functionals, weights_of, associations = models.functionals, models.weights, comparison.associations
draw_alike, Wanted = _core.random_lists.draw_alike, _core.random_lists.Wanted
unit_rows, s_values = _core.vectors.unit_rows, _core.mixtures.s_values
near_weights = _core.nearness.near_weights
offsets, axes = _core.offsets, bayesbias.axes
find_poles, poles_of = axes.poles.find_poles, axes.poles.poles_of
vocabulary_of, sample_beside = axes.poles.vocabulary_of, axes.poles.sample_beside
