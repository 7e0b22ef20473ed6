"""Several measurements of the same pairs in one crossed model, with a covariance between them at every level (NUTS).

Measurements are components of the distances, such as their mean over embeddings and their differences. Connection
means, protected words, attribute words, word x group and residuals each have a covariance matrix over components, with
the scales of each component's own model and an LKJ prior of the correlations.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias._core.cells import IntArray, cell_numbers
from bayesbias._core.cosine import FloatArray
from bayesbias.models.data import ModelData
from bayesbias.models.draws import scatter_cells
from bayesbias.models.priors import Exponential, HalfNormal, Normal, Pooled, common_of
from bayesbias.models.pymc import run_nuts
from bayesbias.models.spec import ModelSpec

if TYPE_CHECKING:
    import pymc

ETA = 2.0
"""Of the LKJ prior: mildly in favour of components that do not hang together."""
SHARP = 2.0
"""A level is drawn directly where its units differ by so many times the noise of one, in variance."""


@dataclass(frozen=True)
class JointDraws:
    """Draws of a joint model, for C components.

    Attributes
    ----------
    connection_mean, word_mean
        (chain, draw, C, K) and (chain, draw, C, protected words, K), NaN where a cell is empty.
    covariances
        ``connection`` and ``residual`` (chain, draw, K, C, C), ``attribute`` (chain, draw, classes, C, C) and, with
        word x group, ``interaction`` (chain, draw, 1, C, C).
    sample_stats
        (chain, draw).
    sampler
        What drew them.
    """

    connection_mean: FloatArray
    word_mean: FloatArray
    covariances: Mapping[str, FloatArray]
    sample_stats: Mapping[str, FloatArray]
    sampler: str


def obstacle(specs: Sequence[ModelSpec]) -> str | None:
    """Why models of components cannot be joined, or None."""
    if any(spec.likelihood.family != "normal" or spec.likelihood.sigma != "connection" for spec in specs):
        return "residuals are normal, with a sigma for each connection"
    if any(spec.terms.protected_words != "normal" for spec in specs):
        return "protected words are normal around their connection"
    if any(spec.terms.intercept or spec.terms.attribute_sd not in ("pooled", "separate") for spec in specs):
        return "attribute words have an effect, with a scale for each of their classes"
    kinds = [
        {name: type(prior) for name, prior in spec.priors.items() if name not in map(common_of, spec.priors)}
        for spec in specs
    ]
    if any(kind != kinds[0] for kind in kinds):
        return f"every prior has the distribution that it has in {specs[0].name!r}"
    return None


def sample_joint(
    specs: Sequence[ModelSpec],
    data: ModelData,
    components: FloatArray,
    chains: int,
    draws: int,
    rng: np.random.Generator,
) -> JointDraws:
    """Draws by NUTS.

    Parameters
    ----------
    specs
        The model of each component, for its priors.
    data
        The pairs.
    components
        (pairs, C).
    chains, draws
        How many chains, and draws kept in each.
    rng
        Generator of the sampler's seed.
    """
    model = build_joint(specs, data, components)
    with warnings.catch_warnings():
        # the sampler's own compiler takes care of the small products, and needs no BLAS
        warnings.filterwarnings("ignore", message="PyTensor could not link to a BLAS", category=UserWarning)
        values, stats, sampler = run_nuts(model, chains, draws, rng)
    k, classes = len(data.connections), len(data.attribute_classes)
    sizes = {"connection": k, "residual": k, "attribute": classes, "interaction": 1}
    covariances = {
        level: np.stack([_covariance(values[f"{level}_{at}"], len(specs)) for at in range(size)], axis=2)
        for level, size in sizes.items()
        if f"{level}_0" in values
    }
    return JointDraws(
        connection_mean=np.moveaxis(values["connection_mean"], 2, 3),
        word_mean=scatter_cells(np.moveaxis(values["cell_mean"], 2, 3), data.filled),
        covariances=covariances,
        sample_stats=stats,
        sampler=sampler,
    )


def _covariance(packed: FloatArray, size: int) -> FloatArray:
    """Covariances (chain, draw, C, C) from packed Cholesky factors, row by row."""
    chol = np.zeros((*packed.shape[:2], size, size))
    chol[(..., *np.tril_indices(size))] = packed
    covariance: FloatArray = np.einsum("sdij,sdkj->sdik", chol, chol)
    return covariance


def build_joint(specs: Sequence[ModelSpec], data: ModelData, components: FloatArray) -> pymc.Model:
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
        for at in range(k):
            own = np.flatnonzero(cell_connection == at)
            rows = np.flatnonzero(data.connection == at)
            known = sharp(components[rows], np.searchsorted(own, cell[rows]))
            chol = _cholesky(f"connection_{at}", [spec.priors["connection_sd"] for spec in specs], common)
            vectors = _vectors(
                f"cell_{at}", len(own), chol, known, [mean[at, c] for c in range(size)], [part[own] for part in average]
            )
            cells = [pt.set_subtensor(whole[own], part) for whole, part in zip(cells, vectors, strict=True)]
        pm.Deterministic("cell_mean", pt.stack(cells, axis=1))
        value = [column[cell] + effect for column, effect in zip(cells, effects, strict=True)]
        for at in range(k):
            rows = np.flatnonzero(data.connection == at)
            chol = _cholesky(f"residual_{at}", [spec.priors["sigma"] for spec in specs])
            apart = [components[rows, c] - column[rows] for c, column in enumerate(value)]
            squares = sum((part**2).sum() for part in _standardised(apart, chol))
            pm.Potential(f"distances_{at}", -0.5 * squares - len(rows) * pt.log(pt.diag(chol)).sum())
    return model


def sharp(values: FloatArray, unit: IntArray) -> list[bool]:
    """For each component, whether the units' means of values (rows, C) differ by far more than noise."""
    n = np.bincount(unit)
    if n.max() < 2 or len(n) < 2:
        return [False] * values.shape[1]
    mean = np.stack([np.bincount(unit, weights=column) for column in values.T], axis=1) / n[:, None]
    noise = ((values - mean[unit]) ** 2).sum(axis=0) / max(len(values) - len(n), 1) * (1 / n).mean()
    return [bool(known) for known in mean.var(axis=0, ddof=1) > (1 + SHARP) * noise]


def _effects(
    specs: Sequence[ModelSpec], data: ModelData, components: FloatArray, cell: IntArray
) -> tuple[list[Any], list[Any]]:
    """Effects of attribute words, and of attribute words on groups, in each row (rows,), and their means by cell.

    Each is a list of components.
    """
    import pytensor.tensor as pt

    size = components.shape[1]
    nothing = [0.0] * size
    residual = components - _cell_means(data, components)[data.word, data.connection]
    common = _common_scale(specs, "attribute_sd")
    effects = [pt.zeros(len(data.attribute_words)) for _ in range(size)]
    for at in range(len(data.attribute_classes)):
        own = np.flatnonzero(data.class_index == at)
        rows = np.flatnonzero(data.class_index[data.attribute] == at)
        known = sharp(residual[rows], np.searchsorted(own, data.attribute[rows]))
        chol = _cholesky(f"attribute_{at}", [spec.priors["attribute_sd"] for spec in specs], common)
        vectors = _vectors(f"attribute_effect_{at}", len(own), chol, known, nothing, nothing)
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


def _cell_means(data: ModelData, components: FloatArray) -> FloatArray:
    """Mean of each cell, (protected words, K, C); 0 where there is none."""
    cell = data.word * len(data.connections) + data.connection
    total = [np.bincount(cell, weights=column, minlength=data.filled.size) for column in components.T]
    mean: FloatArray = np.stack(total, axis=1).reshape(*data.filled.shape, -1) / np.maximum(data.cells.n, 1)[:, :, None]
    return mean


def _common_scale(specs: Sequence[ModelSpec], name: str) -> Any:
    """The scales (C,) about which those of this name are pooled; None where they are not."""
    import pytensor.tensor as pt

    if not all(isinstance(spec.priors[name], Pooled) for spec in specs):
        return None
    return pt.stack([spec.priors[common_of(name)].in_pymc(f"{common_of(name)}_{at}") for at, spec in enumerate(specs)])


def _cholesky(name: str, priors: Sequence[Any], common: Any = None) -> Any:
    """A covariance's Cholesky factor (C, C): each component's scale has its prior, the correlations are LKJ."""
    import pymc as pm

    if all(isinstance(prior, Pooled) for prior in priors):
        spread = np.array([prior.spread for prior in priors])
        scales = pm.LogNormal.dist(mu=pm.math.log(common), sigma=spread)
    elif all(isinstance(prior, Exponential) for prior in priors):
        scales = pm.Exponential.dist(lam=np.array([prior.rate for prior in priors]))
    elif all(isinstance(prior, HalfNormal) for prior in priors):
        scales = pm.HalfNormal.dist(sigma=np.array([prior.sd for prior in priors]))
    else:
        raise TypeError("the components' scales have priors of different kinds")
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
    for at, known in enumerate(direct):
        middle = centre[at] + sum(chol[at, before] * each for before, each in enumerate(standard))
        if known:
            own = pm.Flat(f"{name}_{at}", shape=units) - added[at]
            standard.append((own - middle) / chol[at, at])
            pm.Potential(f"{name}_{at}_prior", -0.5 * (standard[-1] ** 2).sum() - units * pt.log(chol[at, at]))
        else:
            standard.append(pm.Normal(f"{name}_{at}_raw", shape=units))
            own = middle + chol[at, at] * standard[-1]
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
    for at, value in enumerate(values):
        middle = sum(chol[at, before] * each for before, each in enumerate(standard))
        standard.append((value - middle) / chol[at, at])
    return standard
