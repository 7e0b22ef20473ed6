"""The models in PyMC, sampled with NUTS."""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesbias._support.progress import in_notebook, quiet
from bayesbias.distances.distances import Distances
from bayesbias.models import related
from bayesbias.models.spec import ModelSpec, Normal, Pooled, common_of
from bayesbias.models.tree import Draws
from bayesbias.numerics.arrays import FloatArray
from bayesbias.numerics.marginal import cell_numbers, scatter_cells
from bayesbias.numerics.related import root_of

if TYPE_CHECKING:
    import pymc


TUNE = 1000
TARGET_ACCEPT = 0.95


def obstacle(spec: ModelSpec) -> str | None:
    """Reason why this engine cannot fit a model: none, since it can fit all of them."""
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
    from pytensor import config

    sampler = "nutpie" if importlib.util.find_spec("nutpie") else "pymc"
    progressbar = sys.stderr.isatty() or in_notebook()
    # sums that the compiler may reorder round by what its cache holds, and so by what was fitted before
    with model, quiet("pymc"), config.change_flags(numba__fastmath=False):
        trace: Any = pymc.sample(
            draws=draws,
            tune=TUNE,
            chains=chains,
            cores=min(chains, os.cpu_count() or 1),
            random_seed=int(rng.integers(2**31)),
            target_accept=TARGET_ACCEPT,
            nuts_sampler=sampler,
            progressbar=progressbar,
            quiet=not progressbar,
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
    """True where a word's mean residuals by group differ by more than noise, so that its effects are known sharply."""
    residual = data.y - data.cells.mean[data.word, data.connection]
    met = data.compared
    place = data.attribute * met.shape[1] + data.group_index[data.word]
    n = np.bincount(place, minlength=met.size).reshape(met.shape)
    mean = np.bincount(place, weights=residual, minlength=met.size).reshape(met.shape) / np.maximum(n, 1)
    several = met.sum(axis=1) > 1
    if not several.any():
        return False
    apart = np.where(met, mean - (mean * met).sum(axis=1, keepdims=True) / met.sum(axis=1, keepdims=True), 0)[several]
    # as in an analysis of variance: the mean square of group means within words against that of noise alone
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
