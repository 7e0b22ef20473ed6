"""The models in PyMC, sampled with NUTS: of one table, and of several embeddings at once."""

from __future__ import annotations

import importlib.util
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbias._core.marginal import cell_numbers, scatter_cells
from bayesbias._core.related import root_of
from bayesbias._core.vectors import FloatArray, IntArray
from bayesbias._progress import in_notebook, quiet
from bayesbias.distances.distances import Distances
from bayesbias.models import related
from bayesbias.models.results import Draws
from bayesbias.models.spec import ModelSpec, Normal, Pooled, common_of

if TYPE_CHECKING:
    import pymc


TUNE = 1000
TARGET_ACCEPT = 0.95


def obstacle(spec: ModelSpec) -> str | None:
    """Why this engine cannot fit a model: it can fit all of them."""
    return None


def sample(spec: ModelSpec, data: Distances, chains: int, draws: int, rng: np.random.Generator) -> Draws:
    """Draws by NUTS, after ``TUNE`` steps of adaptation in each chain."""
    if spec.related:
        return _sample_related(spec, data, chains, draws, rng)
    sampled = run_nuts(build(spec, data), chains, draws, rng)
    posterior = {name: values for name, values in sampled.values.items() if name not in _HELPERS}
    posterior["word_mean"] = scatter_cells(posterior.pop("cell_mean"), data.filled)
    if "interaction_effect" in posterior:
        posterior["interaction_effect"] = scatter_cells(posterior["interaction_effect"], data.compared)
    return Draws(posterior, sampled.stats, {"sampler": sampled.sampler})


def _sample_related(spec: ModelSpec, data: Distances, chains: int, draws: int, rng: np.random.Generator) -> Draws:
    """Draws of the cells and the factors by NUTS; the population's, which nothing flows back from, given these.

    What is sampled is the standardised errors of the cells, not their means.
    """
    import pymc as pm
    import pytensor.tensor as pt

    priors, sums = related.priors_of(spec), related.related_sums(data)
    coords = {"cell": np.arange(len(sums.y)), "attribute_class": np.arange(len(sums.freedom))}
    with pm.Model(coords=coords) as model:
        factor = priors.factor.in_pymc("sd_factor", dims="attribute_class")
        errors = root_of(related.covariance_of_cells(sums)) @ pm.Normal("error", dims="cell")
        pm.Deterministic("cell_mean", sums.y - factor[sums.kind] * errors, dims="cell")
        pm.Potential("scatter", -(sums.freedom * (pt.log(factor) + 0.5 * sums.scatter / factor**2)).sum())
    sampled = run_nuts(model, chains, draws, rng)
    cells, factors = scatter_cells(sampled.values["cell_mean"], data.filled), sampled.values["sd_factor"]
    flat = (cells.reshape(-1, *data.filled.shape), factors.reshape(-1, factors.shape[-1]))
    posterior = related.completed(*flat, sums, data, priors, rng)
    return Draws(
        posterior={name: values.reshape(chains, draws, *values.shape[1:]) for name, values in posterior.items()},
        sample_stats=sampled.stats,
        attrs={"sampler": sampled.sampler} | related.independent_words(sums, data),
    )


class Sampled(NamedTuple):
    """Variables and statistics of the sampler, (chain, draw, ...) each, and what drew them."""

    values: dict[str, FloatArray]
    stats: dict[str, FloatArray]
    sampler: str


def run_nuts(model: pymc.Model, chains: int, draws: int, rng: np.random.Generator) -> Sampled:
    """Draws of every variable of a model, by nutpie where it is installed."""
    import pymc

    sampler = "nutpie" if importlib.util.find_spec("nutpie") else "pymc"
    shown = sys.stderr.isatty() or in_notebook()
    with model, quiet("pymc"):
        trace: Any = pymc.sample(
            draws=draws,
            tune=TUNE,
            chains=chains,
            cores=min(chains, os.cpu_count() or 1),
            random_seed=int(rng.integers(2**31)),
            target_accept=TARGET_ACCEPT,
            nuts_sampler=sampler,
            progressbar=shown,
            quiet=not shown,
        )
    posterior, stats = trace["posterior"].dataset, trace["sample_stats"].dataset
    names = [name for name in ("diverging", "energy", "tree_depth", "n_steps") if name in stats]
    return Sampled(
        {str(name): posterior[name].to_numpy() for name in posterior.data_vars},
        {name: stats[name].to_numpy() for name in names},
        sampler,
    )


SHARP = 6  # variance of cell means over that of their noise from which on cells are drawn directly
_HELPERS = ("cell_raw", "m_raw", "connection_sd_raw", "attribute_sd_raw", "interaction_raw")
"""Variables that only help the sampler."""


def build(spec: ModelSpec, data: Distances) -> pymc.Model:
    """The model in PyMC, one likelihood term a row of the table.

    Cells with much data are drawn around their connection's mean directly (centred), the others as standardised
    deviations from it: either form alone mixes badly on one of the two kinds.
    """
    import pymc as pm
    import pytensor.tensor as pt

    word, connection = np.nonzero(data.filled)
    centred = _centred_connections(data)
    coords = {"connection": data.connections, "cell": np.arange(len(word))}
    with pm.Model(coords=coords) as model:
        if spec.terms.intercept:
            mean = _means_with_intercept(spec, len(data.connections))
            scale = spec.priors["offset_sd"].in_pymc("connection_sd", dims="connection")
        else:
            mean = spec.priors["connection_mean"].in_pymc("connection_mean", dims="connection")
            scale = _scales(spec, "connection_sd", "connection")
        by_connection = spec.likelihood.sigma == "connection"
        sigma = spec.priors["sigma"].in_pymc("sigma", dims="connection" if by_connection else None)
        direct = centred[connection]
        place = {"mu": pt.where(direct, mean[connection], 0.0), "sigma": pt.where(direct, scale[connection], 1.0)}
        if spec.terms.protected_words == "student_t":
            nu = spec.priors["word_nu"].in_pymc("word_nu")
            raw = pm.StudentT("cell_raw", nu=nu, **place, dims="cell")
        else:
            raw = pm.Normal("cell_raw", **place, dims="cell")
        value = pt.where(direct, raw, mean[connection] + scale[connection] * raw)
        cell_mean = pm.Deterministic("cell_mean", value, dims="cell")
        value = cell_mean[cell_numbers(data.filled)[data.word, data.connection]]
        if spec.crossed:
            value = value + _attribute_effects(spec, data)
        spread = sigma[data.connection] if by_connection else sigma
        if spec.likelihood.family == "student_t":
            pm.StudentT("distance", nu=spec.priors["nu"].in_pymc("nu"), mu=value, sigma=spread, observed=data.y)
        else:
            pm.Normal("distance", mu=value, sigma=spread, observed=data.y)
    return model


def _attribute_effects(spec: ModelSpec, data: Distances) -> Any:
    """The effects of attribute words in each row: of the word itself, and of the word on the row's group."""
    import pymc as pm

    model = pm.modelcontext(None)
    model.add_coord("attribute_word", data.attribute_words)
    model.add_coord("attribute_class", data.attribute_classes)
    if spec.terms.attribute_sd == "shared":
        scale = spec.priors["attribute_sd"].in_pymc("attribute_sd")
    else:
        scale = _scales(spec, "attribute_sd", "attribute_class")[data.class_index]
    effect = pm.Normal("attribute_effect", sigma=scale, dims="attribute_word")[data.attribute]
    if not spec.terms.word_x_group:
        return effect
    met = data.compared
    number = cell_numbers(met)
    model.add_coord("met", np.arange(met.sum()))
    interaction_sd = spec.priors["interaction_sd"].in_pymc("interaction_sd")
    if _centred_interactions(data):
        interaction = pm.Normal("interaction_effect", sigma=interaction_sd, dims="met")
    else:
        raw = pm.Normal("interaction_raw", dims="met")
        interaction = pm.Deterministic("interaction_effect", interaction_sd * raw, dims="met")
    return effect + interaction[number[data.attribute, data.group_index[data.word]]]


def _scales(spec: ModelSpec, name: str, dims: str) -> Any:
    """Scales of one name, each with its prior or around a common one."""
    import pymc as pm

    prior = spec.priors[name]
    if not isinstance(prior, Pooled):
        return prior.in_pymc(name, dims=dims)
    common = spec.priors[common_of(name)].in_pymc(common_of(name))
    raw = pm.Normal(f"{name}_raw", dims=dims)
    return pm.Deterministic(name, common * pm.math.exp(prior.spread * raw), dims=dims)


def _centred_connections(data: Distances) -> NDArray[np.bool_]:
    """Connections (K,) whose cells have means known more sharply than the means vary between cells."""
    cells = data.cells
    freedom = (np.maximum(cells.n - 1, 0)).sum(axis=0)
    residual = cells.ssd.sum(axis=0) / np.maximum(freedom, 1)
    filled = np.maximum(data.filled.sum(axis=0), 1)
    noise = residual * (1 / np.where(data.filled, cells.n, np.inf)).sum(axis=0) / filled
    centre = np.where(data.filled, cells.mean, 0).sum(axis=0) / filled
    between = (np.where(data.filled, cells.mean - centre, 0) ** 2).sum(axis=0) / filled
    sharp: NDArray[np.bool_] = (freedom > 0) & (between > SHARP * noise)
    return sharp


def _centred_interactions(data: Distances) -> bool:
    """Whether a word's mean residuals by group differ by more than noise, so that its effects are known sharply."""
    residual = data.y - data.cells.mean[data.word, data.connection]
    met = data.compared
    place = data.attribute * met.shape[1] + data.group_index[data.word]
    n = np.bincount(place, minlength=met.size).reshape(met.shape)
    mean = np.bincount(place, weights=residual, minlength=met.size).reshape(met.shape) / np.maximum(n, 1)
    several = met.sum(axis=1) > 1
    if not several.any():
        return False
    apart = np.where(met, mean - (mean * met).sum(axis=1, keepdims=True) / met.sum(axis=1, keepdims=True), 0)[several]
    freedom = (met[several].sum(axis=1) - 1).sum()
    noise = residual.var() * (met / np.maximum(n, 1))[several].sum() / met[several].sum()
    return bool((apart**2).sum() / freedom > 3 * noise)


def _means_with_intercept(spec: ModelSpec, connections: int) -> Any:
    """connection_mean = m + offset_mean, with m integrated out and then drawn given the means.

    m and the offsets' mean trade off against each other, so that chains which move both mix badly; the joint
    distribution is the same.
    """
    import pymc as pm

    m, offset = spec.priors["m"], spec.priors["offset_mean"]
    if not isinstance(m, Normal) or not isinstance(offset, Normal):
        raise TypeError("m and offset_mean have normal priors")
    shared = np.full((connections, connections), m.sd**2) + offset.sd**2 * np.eye(connections)
    mean = pm.MvNormal("connection_mean", mu=np.full(connections, m.mean + offset.mean), cov=shared, dims="connection")
    precision = m.sd**-2 + connections * offset.sd**-2
    centre = (m.mean * m.sd**-2 + (mean - offset.mean).sum() * offset.sd**-2) / precision
    pm.Deterministic("m", centre + pm.Normal("m_raw") / np.sqrt(precision))
    return mean


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


def joint_obstacle(specs: Sequence[ModelSpec]) -> str | None:
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
    data: Distances,
    components: FloatArray,
    chains: int,
    draws: int,
    rng: np.random.Generator,
) -> JointDraws:
    """Draws by NUTS of components (pairs, C) of the distances, each with a model for its priors."""
    model = _build_joint(specs, data, components)
    with warnings.catch_warnings():
        # the sampler's own compiler takes care of the small products, and needs no BLAS
        warnings.filterwarnings("ignore", message="PyTensor could not link to a BLAS", category=UserWarning)
        values, stats, sampler = run_nuts(model, chains, draws, rng)
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


def _build_joint(specs: Sequence[ModelSpec], data: Distances, components: FloatArray) -> pymc.Model:
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
