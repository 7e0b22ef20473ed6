"""Several embeddings at once by NUTS, with a covariance between them at every level: an oracle of changes.

``compare`` fits the differences of two embeddings at a time. Here the distances of all embeddings follow one model,
with LKJ priors of the correlations between embeddings, which takes minutes.
"""

import warnings
from dataclasses import replace

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr

import bayesbias as bb
from bayesbias.checks.convergence import mixing_faults
from bayesbias.comparison.changes import match
from bayesbias.comparison.comparison import Comparison
from bayesbias.comparison.sides import LEVELS_MODEL, SCALE_DIMS, STEP, ChangeDraws, tree_of, with_draws
from bayesbias.models import nuts
from bayesbias.models.marginal import fit_for_crossed
from bayesbias.models.spec import Normal, Pooled, common_of
from bayesbias.numerics.marginal import cell_numbers, scatter_cells

LEVELS = {
    "connection": "connection_sd",
    "residual": "sigma",
    "attribute": "attribute_sd",
    "interaction": "interaction_sd",
}
"""Level of the model to the name of its scale."""
ETA = 2.0  # of the LKJ prior: mildly in favour of uncorrelated components
SHARP_COMPONENT = 2.0  # a level is drawn directly where its units differ by so many times the noise of one, in variance


def covariances_of(values, size):
    """Level to draws (chain, draw, units, size, size) of its covariances, from their packed Cholesky factors."""
    found = {}
    for level in LEVELS:
        packed = [values[name] for name in (f"{level}_{unit}" for unit in range(len(values))) if name in values]
        if packed:
            chol = np.zeros((*packed[0].shape[:2], len(packed), size, size))
            chol[(..., *np.tril_indices(size))] = np.stack(packed, axis=2)
            found[level] = np.einsum("sduij,sdukj->sduik", chol, chol)
    return found


def build_joint(specs, data, components):
    """The model of components (pairs, C) of the distances, each with a model for its priors.

    Every level is a set of vectors over components, drawn directly where the data know them well.
    """
    k, size = len(data.connections), components.shape[1]
    cell_word, cell_connection = np.nonzero(data.filled)
    cell = cell_numbers(data.filled)[data.word, data.connection]
    priors = [spec.priors["connection_mean"] for spec in specs]
    centre = np.array([[prior.mean, prior.sd] for prior in priors if isinstance(prior, Normal)]).T
    with pm.Model() as model:
        mean = pm.Normal("connection_mean", mu=centre[0], sigma=centre[1], shape=(k, size))
        # cells are drawn with the average effect of their attribute words in them: the data know the sum best
        effects, average = _effects(specs, data, components, cell)
        cells = [pt.zeros(len(cell_word)) for _ in range(size)]
        common = _common_scale(specs, "connection_sd")
        for i in range(k):
            own = np.flatnonzero(cell_connection == i)
            rows = np.flatnonzero(data.connection == i)
            known = sharp(components[rows], np.searchsorted(own, cell[rows]))
            chol = _cholesky(f"connection_{i}", [spec.priors["connection_sd"] for spec in specs], common)
            centre_of, added = [mean[i, c] for c in range(size)], [part[own] for part in average]
            vectors = _vectors(f"cell_{i}", len(own), chol, known, centre_of, added)
            cells = [pt.set_subtensor(whole[own], part) for whole, part in zip(cells, vectors, strict=True)]
        pm.Deterministic("cell_mean", pt.stack(cells, axis=1))
        value = [column[cell] + effect for column, effect in zip(cells, effects, strict=True)]
        for i in range(k):
            rows = np.flatnonzero(data.connection == i)
            chol = _cholesky(f"residual_{i}", [spec.priors["sigma"] for spec in specs])
            apart = [components[rows, c] - column[rows] for c, column in enumerate(value)]
            squares = sum((part**2).sum() for part in _standardised(apart, chol))
            pm.Potential(f"distances_{i}", -0.5 * squares - len(rows) * pt.log(pt.diag(chol)).sum())
    return model


def sharp(values, unit):
    """For each component, whether the units' means of values (rows, C) differ by far more than noise."""
    n = np.bincount(unit)
    if n.max() < 2 or len(n) < 2:
        return [False] * values.shape[1]
    mean = np.stack([np.bincount(unit, weights=column) for column in values.T], axis=1) / n[:, None]
    noise = ((values - mean[unit]) ** 2).sum(axis=0) / max(len(values) - len(n), 1) * (1 / n).mean()
    return [bool(known) for known in mean.var(axis=0, ddof=1) > (1 + SHARP_COMPONENT) * noise]


def _effects(specs, data, components, cell):
    """Effects of attribute words, and of attribute words on groups, in each row (rows,), and their means by cell.

    Each is a list of components.
    """
    size = components.shape[1]
    nothing = [0.0] * size
    of_cells = [np.bincount(cell, weights=column)[cell] for column in components.T]
    residual = components - np.stack(of_cells, axis=1) / np.bincount(cell)[cell, None]
    common = _common_scale(specs, "attribute_sd")
    effects = [pt.zeros(len(data.attribute_words)) for _ in range(size)]
    for i in range(len(data.attribute_classes)):
        own = np.flatnonzero(data.class_index == i)
        rows = np.flatnonzero(data.class_index[data.attribute] == i)
        known = sharp(residual[rows], np.searchsorted(own, data.attribute[rows]))
        chol = _cholesky(f"attribute_{i}", [spec.priors["attribute_sd"] for spec in specs], common)
        vectors = _vectors(f"attribute_effect_{i}", len(own), chol, known, nothing, nothing)
        effects = [pt.set_subtensor(whole[own], part) for whole, part in zip(effects, vectors, strict=True)]
    by_row = [effect[data.attribute] for effect in effects]
    averages = _averages(cell, data.attribute)
    by_cell = [averages @ effect for effect in effects]
    if not specs[0].terms.word_x_group:
        return by_row, by_cell
    number = cell_numbers(data.compared)[data.attribute, data.group_index[data.word]]
    by_word = np.stack([np.bincount(data.attribute, weights=column) for column in residual.T], axis=1)
    left = residual - (by_word / np.bincount(data.attribute)[:, None])[data.attribute]
    chol = _cholesky("interaction_0", [spec.priors["interaction_sd"] for spec in specs])
    vectors = _vectors("interaction_effect", int(data.compared.sum()), chol, sharp(left, number), nothing, nothing)
    averages = _averages(cell, number)
    by_cell = [mean + averages @ vector for mean, vector in zip(by_cell, vectors, strict=True)]
    return [effect + vector[number] for effect, vector in zip(by_row, vectors, strict=True)], by_cell


def _common_scale(specs, name):
    """The scales (C,) about which those of this name are pooled; None where they are not."""
    if not all(isinstance(spec.priors[name], Pooled) for spec in specs):
        return None
    return pt.stack([spec.priors[common_of(name)].in_pymc(f"{common_of(name)}_{i}") for i, spec in enumerate(specs)])


def _cholesky(name, priors, common=None):
    """A covariance's Cholesky factor (C, C): each component's scale has its prior, the correlations are LKJ."""
    if all(isinstance(prior, Pooled) for prior in priors):
        spread = np.array([prior.spread for prior in priors])
        scales = pm.LogNormal.dist(mu=pm.math.log(common), sigma=spread)
    else:
        forms = [prior.pymc_form for prior in priors]
        if len({distribution for distribution, _ in forms}) > 1:
            raise TypeError("the components' scales have priors of different kinds")
        distribution, names = forms[0]
        scales = getattr(pm, distribution).dist(**{key: np.array([form[key] for _, form in forms]) for key in names})
    packed = pm.LKJCholeskyCov(name, n=len(priors), eta=ETA, sd_dist=scales, compute_corr=False)
    return pm.math.expand_packed_triangular(len(priors), packed, lower=True)


def _vectors(name, units, chol, direct, centre, added):
    """Vectors around a centre with that covariance: a variable (units,) a component.

    A component is drawn directly, together with what is added to it, or as standard normals that are scaled: either
    form alone mixes badly where the data know the units well, or hardly.
    """
    standard, drawn = [], []
    for i, known in enumerate(direct):
        middle = centre[i] + sum(chol[i, before] * each for before, each in enumerate(standard))
        if known:
            own = pm.Flat(f"{name}_{i}", shape=units) - added[i]
            standard.append((own - middle) / chol[i, i])
            pm.Potential(f"{name}_{i}_prior", -0.5 * (standard[-1] ** 2).sum() - units * pt.log(chol[i, i]))
        else:
            standard.append(pm.Normal(f"{name}_{i}_raw", shape=units))
            own = middle + chol[i, i] * standard[-1]
        drawn.append(own)
    return drawn


def _averages(cell, unit):
    """The matrix (cells, units) that takes values of units to their means over the rows of each cell."""
    matrix = np.zeros((cell.max() + 1, unit.max() + 1))
    np.add.at(matrix, (cell, unit), 1.0)
    return matrix / matrix.sum(axis=1, keepdims=True)


def _standardised(values, chol):
    """Components that are normal around 0 with that covariance, as independent standard normals."""
    standard = []
    for i, value in enumerate(values):
        middle = sum(chol[i, before] * each for before, each in enumerate(standard))
        standard.append((value - middle) / chol[i, i])
    return standard


def transform(size):
    """Embeddings to components (size, size): their mean, then each one's difference from the mean of those before."""
    matrix = np.full((size, size), 1 / size)
    for i in range(1, size):
        matrix[i] = np.where(np.arange(size) < i, -1 / i, np.arange(size) == i)
    return matrix


def compare(tables, draws=4000, chains=4, seed=0):
    """The comparison of tables by one joint model; its tree holds the covariances between embeddings too."""
    matched, changes = match(tables), bb.load_model("change")
    levels = bb.load_model(LEVELS_MODEL)
    levels = replace(levels, priors={name: prior for name, prior in levels.priors.items() if name in changes.priors})
    levels, data = fit_for_crossed(replace(levels, terms=changes.terms), matched.data)
    changes = replace(changes, terms=changes.terms.model_copy(update={"word_x_group": levels.terms.word_x_group}))
    matrix = transform(len(matched.embeddings))
    back, size = np.linalg.inv(matrix), (chains, draws // chains)
    model = build_joint([levels, *[changes] * (len(matrix) - 1)], data, matched.distances @ matrix.T)
    with warnings.catch_warnings():
        # the sampler's own compiler takes care of the small products, and needs no BLAS
        warnings.filterwarnings("ignore", message="PyTensor could not link to a BLAS", category=UserWarning)
        values, stats, _ = nuts.run_nuts(model, *size, np.random.default_rng(seed))
    means = np.moveaxis(values["connection_mean"], 2, 3)  # (chain, draw, C, K)
    words = scatter_cells(np.moveaxis(values["cell_mean"], 2, 3), data.filled)  # (chain, draw, C, words, K)
    covariances = covariances_of(values, len(matrix))
    # judged by means and covariances, as they were sampled
    sampled = [each.reshape(*each.shape[:2], -1) for each in (means, words, *covariances.values())]
    every = np.concatenate(sampled, axis=2)
    faults = mixing_faults(every[:, :, ~np.isnan(every[0, 0])], stats)
    mean, word = np.einsum("ec,sdck->sdek", back, means), np.einsum("ec,sdcjk->sdejk", back, words)
    found = []
    for before, after in matched.changes.values():
        weights = back[after] - back[before]
        scales = {
            LEVELS[level]: np.sqrt(np.einsum("c,sdkcg,g->sdk", weights, covariance, weights))
            for level, covariance in covariances.items()
        }
        if "interaction_sd" in scales:
            scales["interaction_sd"] = scales["interaction_sd"][:, :, 0]
        of_means, of_words = ((each[:, :, before], each[:, :, after] - each[:, :, before]) for each in (mean, word))
        found.append(ChangeDraws(before, after, *of_means, *of_words, scales=scales))
    tree = tree_of(matched, changes, "nuts", size, seed, [*matched.notes, *data.notes], faults)
    tree = with_draws(tree, matched.data, found)
    kept = {}
    for level, components in covariances.items():
        covariance, dims = np.einsum("ec,sdkcg,fg->sdkef", back, components, back), SCALE_DIMS[LEVELS[level]]
        own = covariance if dims else covariance[:, :, 0]
        kept[f"{level}_covariance"] = ((*STEP, *dims, "embedding", "embedding_other"), own)
    tree["posterior"] = xr.DataTree(tree["posterior"].to_dataset().assign(kept))
    return Comparison(tree)
