"""What the benchmarks take from the inside of the package: when something moves there, it is changed here."""

from dataclasses import dataclass

import numpy as np

import bayesbias.axes.poles
import bayesbias.documents.regression
import bayesbias.numerics.clusters
from bayesbias import comparison, contrast, distances, models, numerics, reliability  # noqa: F401  (loads numerics.statistics)
from bayesbias.checks import summaries
from bayesbias.second_stage import pools

interval_of, describe = summaries.cluster_interval_of, summaries.describe
Distances, Fit, read_distances = distances.distances.Distances, models.tree.Fit, models.tree.read_distances
family_of, functionals_of = models.families.family_of, models.families.functionals_of
scale_sizes, with_effects = models.families.scale_sizes, models.families.with_effects
DIMS, MEANS = models.tree.DIMS, models.tree.MEANS
DistanceTable = distances.dataframe.DistanceTable
related_model, prior_scale = models.related, models.related.prior_scale
bootstrap_icc, icc = numerics.statistics.bootstrap_icc, numerics.statistics.icc
related_core, mixtures = numerics.related, numerics.mixtures
factor_quantiles = numerics.related.factor_quantiles
functionals, weights_of, rows_in = models.functionals, models.weights, contrast.contrast
draw_alike, Wanted = numerics.random_lists.draw_alike, numerics.random_lists.Wanted
by_list = numerics.random_lists.by_list
unit_rows, s_values = numerics.arrays.unit_rows, numerics.mixtures.s_values
near_weights = numerics.related.near_weights
template_variation = models.template_variation
offsets, constants, axes = numerics.offsets, numerics.constants, bayesbias.axes
find_poles, poles_of = axes.poles.find_poles, bayesbias.vectors.poles.poles_of
joint_relatedness, stacked_tables = distances.vocabularies.joint_relatedness, distances.distances.stacked_tables
cell_fields, sides = models.functionals.cell_fields, comparison.sides
latent_relation, second_stage = numerics.second_stage.latent_relation, numerics.second_stage.second_stage
WEIGHTS = pools.WEIGHTS
GROUP_SHARES, POOL_WIDTH, Layout = pools.GROUP_SHARES, pools.WIDTH, pools._Grouping
documents, ListWords = bayesbias.documents.regression, bayesbias.documents.design.ListWords
lower_case = bayesbias.documents.corpora.lower_case
groups_core, LEAST = bayesbias.documents.design, bayesbias.documents.samples.LEAST
UnitMeans, regression = numerics.clusters.UnitMeans, numerics.clusters.regression
bias_reduced = numerics.clusters.bias_reduced


@dataclass(frozen=True)
class RelatedPosterior:
    """The posteriors of the factors on a grid; given these the cells' means are normal around the observed ones."""

    sums: related_core.RelatedSums
    grid: related_core.FactorGrid

    def moments(self, weights):
        """Posterior mean (m,) and covariance (m, m) of weighted sums (m, cells) of the cells' means."""
        sums = self.sums
        at = sums.word, sums.listed, sums.kind
        classes, roots = related_core.weighted_roots(weights, *at, sums.scaled, sums.correlations)
        # the errors are sum_a f_a R_a z, factors f and roots R of the classes, z standard normal
        products, stacked = self.grid.products[np.ix_(classes, classes)], np.stack(roots)
        return weights @ sums.y, np.einsum("ab,amr,bnr->mn", products, stacked, stacked, optimize=True)


def related_posterior(spec, data):
    """The posterior of a model of related words; no pair of the table repeats."""
    sums = related_model.related_sums(data)
    return RelatedPosterior(sums, related_model.factors_of(spec, sums))


def law_of_rows(post, kind, first="associated", second="different"):
    """Posterior of the whole list and of its words as rows of one kind, which are not shrunken."""
    result = Fit.read(post)
    cells = weights_of.cells_of(result.data)
    sums = weights_of.row_sums(result.data, cells, first, second, kind)
    return sums.of(functionals_of(result, cells, sums.parts))


def measured_relatedness(kv, lists, *how):
    """The relatedness of word lists in an embedding."""
    return distances.vocabularies.measured_relatedness(bayesbias.vectors.find_lists(kv, lists), *how)
