"""Several embeddings at once by NUTS, with a covariance between them at every level: an oracle of changes.

``compare`` fits the differences of two embeddings at a time. Here the distances of all embeddings follow one model,
with LKJ priors of the correlations between embeddings, which takes minutes.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pymc
import xarray as xr

import bayesbias as bb
from bayesbias.checks.convergence import mixing_faults
from bayesbias.comparison.change_draws import LEVELS_MODEL, SCALE_DIMS, STEP, ChangeDraws, tree_of, with_draws
from bayesbias.comparison.comparison import Comparison
from bayesbias.comparison.sides import match
from bayesbias.distances.distances import Distances
from bayesbias.models import nuts
from bayesbias.models.marginal import fit_for_crossed
from bayesbias.models.spec import ModelSpec, Normal, Pooled, common_of
from bayesbias.numerics.arrays import FloatArray, IntArray
from bayesbias.numerics.marginal import cell_numbers, scatter_cells

SCALES = {
    "connection": "connection_sd",
    "residual": "sigma",
    "attribute": "attribute_sd",
    "interaction": "interaction_sd",
}
"""Level of the model to the name of its scale."""

ETA = 2.0  # of the LKJ prior: mildly in favour of uncorrelated components
SHARP_COMPONENT = 2.0  # a level is drawn directly where its units differ by so many times the noise of one, in variance


class JointDraws(NamedTuple):
    """Draws of a joint model, for C components."""

    connection_mean: FloatArray  # (chain, draw, C, K)
    word_mean: FloatArray  # (chain, draw, C, protected words, K), NaN where a cell is empty
    # "connection" and "residual" (chain, draw, K, C, C), "attribute" (chain, draw, classes, C, C) and, with
    # word x group, "interaction" (chain, draw, 1, C, C)
    covariances: Mapping[str, FloatArray]
    sample_stats: Mapping[str, FloatArray]  # (chain, draw)
    sampler: str


def sample_joint(
    specs: Sequence[ModelSpec],
    data: Distances,
    components: FloatArray,
    chains: int,
    draws: int,
    rng: np.random.Generator,
) -> JointDraws:
    """Draws by NUTS of components (pairs, C) of the distances, each with a model for its priors."""
    model = build_joint(specs, data, components)
    with warnings.catch_warnings():
        # the sampler's own compiler takes care of the small products, and needs no BLAS
        warnings.filterwarnings("ignore", message="PyTensor could not link to a BLAS", category=UserWarning)
        values, stats, sampler = nuts.run_nuts(model, chains, draws, rng)
    k, classes = len(data.connections), len(data.attribute_classes)
    sizes = {"connection": k, "residual": k, "attribute": classes, "interaction": 1}
    covariances = {}
    for level, size in sizes.items():
        if f"{level}_0" in values:
            packed = np.stack([values[f"{level}_{i}"] for i in range(size)], axis=2)
            chol = np.zeros((*packed.shape[:3], len(specs), len(specs)))
            chol[(..., *np.tril_indices(len(specs)))] = packed
            covariances[level] = np.einsum("sduij,sdukj->sduik", chol, chol)
    return JointDraws(
        connection_mean=np.moveaxis(values["connection_mean"], 2, 3),
        word_mean=scatter_cells(np.moveaxis(values["cell_mean"], 2, 3), data.filled),
        covariances=covariances,
        sample_stats=stats,
        sampler=sampler,
    )


def build_joint(specs: Sequence[ModelSpec], data: Distances, components: FloatArray) -> pymc.Model:
    """The model in PyMC: every level a set of vectors over components, drawn directly where the data know them well."""
    import pymc as pm
    import pytensor.tensor as pt

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
            vectors = _vectors(
                f"cell_{i}", len(own), chol, known, [mean[i, c] for c in range(size)], [part[own] for part in average]
            )
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


def sharp(values: FloatArray, unit: IntArray) -> list[bool]:
    """For each component, whether the units' means of values (rows, C) differ by far more than noise."""
    n = np.bincount(unit)
    if n.max() < 2 or len(n) < 2:
        return [False] * values.shape[1]
    mean = np.stack([np.bincount(unit, weights=column) for column in values.T], axis=1) / n[:, None]
    noise = ((values - mean[unit]) ** 2).sum(axis=0) / max(len(values) - len(n), 1) * (1 / n).mean()
    return [bool(known) for known in mean.var(axis=0, ddof=1) > (1 + SHARP_COMPONENT) * noise]


def _effects(
    specs: Sequence[ModelSpec], data: Distances, components: FloatArray, cell: IntArray
) -> tuple[list[Any], list[Any]]:
    """Effects of attribute words, and of attribute words on groups, in each row (rows,), and their means by cell.

    Each is a list of components.
    """
    import pytensor.tensor as pt

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


def _common_scale(specs: Sequence[ModelSpec], name: str) -> Any:
    """The scales (C,) about which those of this name are pooled; None where they are not."""
    import pytensor.tensor as pt

    if not all(isinstance(spec.priors[name], Pooled) for spec in specs):
        return None
    return pt.stack([spec.priors[common_of(name)].in_pymc(f"{common_of(name)}_{i}") for i, spec in enumerate(specs)])


def _cholesky(name: str, priors: Sequence[Any], common: Any = None) -> Any:
    """A covariance's Cholesky factor (C, C): each component's scale has its prior, the correlations are LKJ."""
    import pymc as pm

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


def _vectors(
    name: str, units: int, chol: Any, direct: Sequence[bool], centre: Sequence[Any], added: Sequence[Any]
) -> list[Any]:
    """Vectors around a centre with that covariance: a variable (units,) a component.

    A component is drawn directly, together with what is added to it, or as standard normals that are scaled: either
    form alone mixes badly where the data know the units well, or hardly.
    """
    import pymc as pm
    import pytensor.tensor as pt

    standard: list[Any] = []
    drawn = []
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


def _averages(cell: IntArray, unit: IntArray) -> FloatArray:
    """The matrix (cells, units) that takes values of units to their means over the rows of each cell."""
    matrix = np.zeros((cell.max() + 1, unit.max() + 1))
    np.add.at(matrix, (cell, unit), 1.0)
    mean: FloatArray = matrix / matrix.sum(axis=1, keepdims=True)
    return mean


def _standardised(values: Sequence[Any], chol: Any) -> list[Any]:
    """Components that are normal around 0 with that covariance, as independent standard normals."""
    standard: list[Any] = []
    for i, value in enumerate(values):
        middle = sum(chol[i, before] * each for before, each in enumerate(standard))
        standard.append((value - middle) / chol[i, i])
    return standard


def transform(size: int) -> FloatArray:
    """Embeddings to components (size, size): their mean, then each one's difference from the mean of those before."""
    matrix = np.full((size, size), 1 / size)
    for i in range(1, size):
        matrix[i] = np.where(np.arange(size) < i, -1 / i, np.arange(size) == i)
    return matrix


def compare(tables: Mapping[str, pd.DataFrame], draws: int = 4000, chains: int = 4, seed: int = 0) -> Comparison:
    """The comparison of tables by one joint model; its tree holds the covariances between embeddings too."""
    matched, changes = match(tables), bb.load_model("change")
    levels = bb.load_model(LEVELS_MODEL)
    levels = replace(levels, priors={name: prior for name, prior in levels.priors.items() if name in changes.priors})
    levels, data = fit_for_crossed(replace(levels, terms=changes.terms), matched.data)
    changes = replace(changes, terms=changes.terms.model_copy(update={"word_x_group": levels.terms.word_x_group}))
    matrix = transform(len(matched.embeddings))
    specs = [levels, *[changes] * (len(matched.embeddings) - 1)]
    rng, size = np.random.default_rng(seed), (chains, draws // chains)
    joint = sample_joint(specs, data, matched.distances @ matrix.T, *size, rng)
    back = np.linalg.inv(matrix)
    mean = np.einsum("ec,sdck->sdek", back, joint.connection_mean)
    word = np.einsum("ec,sdcjk->sdejk", back, joint.word_mean)
    # judged by means and covariances, as they were sampled
    sampled = (joint.connection_mean, joint.word_mean, *joint.covariances.values())
    values = np.concatenate([each.reshape(*each.shape[:2], -1) for each in sampled], axis=2)
    faults = mixing_faults(values[:, :, ~np.isnan(values[0, 0])], joint.sample_stats)
    found = []
    for before, after in matched.pairs:
        weights = back[after] - back[before]
        scales = {
            SCALES[level]: np.sqrt(np.einsum("c,sdkcg,g->sdk", weights, covariance, weights))
            for level, covariance in joint.covariances.items()
        }
        if "interaction_sd" in scales:
            scales["interaction_sd"] = scales["interaction_sd"][:, :, 0]
        found.append(
            ChangeDraws(
                before=before,
                after=after,
                connection_before=mean[:, :, before],
                connection_change=mean[:, :, after] - mean[:, :, before],
                word_before=word[:, :, before],
                word_change=word[:, :, after] - word[:, :, before],
                scales=scales,
            )
        )
    tree = tree_of(matched, changes, "nuts", size, seed, [*matched.notes, *data.notes], faults)
    tree = with_draws(tree, matched.data, found)
    covariances = {}
    for level, components in joint.covariances.items():
        covariance, dims = np.einsum("ec,sdkcg,fg->sdkef", back, components, back), SCALE_DIMS[SCALES[level]]
        own = covariance if dims else covariance[:, :, 0]
        covariances[f"{level}_covariance"] = ((*STEP, *dims, "embedding", "embedding_other"), own)
    tree["posterior"] = xr.DataTree(tree["posterior"].to_dataset().assign(covariances))
    return Comparison(tree)
