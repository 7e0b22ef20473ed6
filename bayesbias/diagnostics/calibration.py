"""Simulation-based calibration: parameters from the prior, distances from them, ranks in the posterior."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesbias._core.cosine import FloatArray
from bayesbias.diagnostics.intervals import flat_draws
from bayesbias.errors import InputError
from bayesbias.models.data import ModelData, model_data
from bayesbias.models.fitting import fit
from bayesbias.models.spec import Exponential, HalfNormal, ModelSpec, Normal, Prior

Truth = dict[str, FloatArray]


def shaped_table(sizes: Mapping[str, int], words: int = 6) -> pd.DataFrame:
    """A distance table of a shape, every distance 1: ``sizes`` of each connection, one fewer for every other word."""
    rows = [
        (f"p{word}", "g", f"{connection}{at}", "c", connection, 1.0)
        for word in range(words)
        for connection, size in sizes.items()
        for at in range(size if word % 2 else max(1, size - 1))
    ]
    names = ["protected_word", "group", "attribute_word", "attribute_class", "connection", "distance"]
    return pd.DataFrame(rows, columns=names)


def draw_truth(spec: ModelSpec, data: ModelData, rng: np.random.Generator) -> Truth:
    """Parameters from the prior, scales without truncation: arrays of the posterior's shapes, without draws."""
    if spec.terms.intercept:
        raise InputError(f"the model {spec.name!r} has an intercept: draw_truth covers models without one")
    k = len(data.connections)
    mean, sd = _prior_draws(spec.priors["connection_mean"], k, rng), _prior_draws(spec.priors["connection_sd"], k, rng)
    sigma = _prior_draws(spec.priors["sigma"], k if spec.likelihood.sigma == "connection" else 1, rng)
    word = mean + sd * rng.standard_normal((len(data.protected_words), k))
    return {
        "connection_mean": mean,
        "connection_sd": sd,
        "word_mean": np.where(data.filled, word, np.nan),
        "sigma": sigma if spec.likelihood.sigma == "connection" else sigma[0],
    }


def draw_distances(truth: Truth, data: ModelData, rng: np.random.Generator) -> FloatArray:
    """A distance for each row of ``data`` given the parameters; not confined to [0, 2]."""
    sigma = truth["sigma"][data.connection] if np.ndim(truth["sigma"]) else truth["sigma"]
    return truth["word_mean"][data.word, data.connection] + sigma * rng.standard_normal(len(data.y))


def sbc_ranks(
    spec: ModelSpec, shape: pd.DataFrame, replicates: int, seed: int, engine: str = "auto", draws: int = 199
) -> dict[str, NDArray[np.intp]]:
    """Ranks of true parameters among posterior draws; uniform on 0..draws where the engine is right.

    Parameters
    ----------
    spec
        The model, both for simulation and for the fit.
    shape
        A distance table whose cells and counts the simulated tables have.
    replicates
        How many tables to simulate and fit.
    seed
        Seed of parameters, distances and fits.
    engine
        The engine under test.
    draws
        Posterior draws of each fit.

    Returns
    -------
    dict
        Variable to ranks (replicates, parameters).

    References
    ----------
    Talts, S. et al. (2018). Validating Bayesian inference algorithms with simulation-based calibration.
    https://doi.org/10.48550/arXiv.1804.06788
    """
    data = model_data(shape)
    rng = np.random.default_rng(seed)
    ranks: dict[str, list[NDArray[np.intp]]] = {}
    for _ in range(replicates):
        truth = draw_truth(spec, data, rng)
        table = shape.assign(distance=draw_distances(truth, data, rng))
        post = fit(table, spec, engine=engine, draws=draws, chains=1, seed=int(rng.integers(2**31)))
        for name, true in truth.items():
            drawn = flat_draws(post["posterior"][name].to_numpy()).reshape(draws, -1)
            ranks.setdefault(name, []).append((drawn < np.ravel(true)).sum(axis=0))
    return {name: np.array(values) for name, values in ranks.items()}


def _prior_draws(prior: Prior, size: int, rng: np.random.Generator) -> FloatArray:
    if isinstance(prior, Exponential):
        return rng.exponential(1 / prior.rate, size)
    if isinstance(prior, HalfNormal):
        return np.abs(rng.normal(0, prior.sd, size))
    if isinstance(prior, Normal):
        return rng.normal(prior.mean, prior.sd, size)
    raise TypeError(f"the prior {prior.distribution!r} depends on another parameter")
