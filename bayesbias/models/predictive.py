"""Groups that are added on request: posterior predictive draws and pointwise log likelihood."""

from __future__ import annotations

import numpy as np
import xarray as xr

from bayesbias._core.cosine import FloatArray
from bayesbias.models.results import check_fit

LOG_SQRT_2PI = 0.5 * float(np.log(2 * np.pi))


def add_predictive(post: xr.DataTree, seed: int | None = None) -> xr.DataTree:
    """The fit with a group ``posterior_predictive``: ``distance`` (chain, draw, pair).

    Parameters
    ----------
    post
        A result of :func:`fit`.
    seed
        Seed of the predictive draws; None takes one that follows from the seed of the fit.

    Returns
    -------
    DataTree
        A new tree; ``post`` is untouched. The group takes 8 bytes for each draw and pair.
    """
    check_fit(post)
    rng = predictive_generator(post, seed)
    mean, sigma = _by_pair(post)
    mean += sigma * rng.standard_normal(mean.shape)
    return _with_group(post, "posterior_predictive", mean)


def add_log_likelihood(post: xr.DataTree) -> xr.DataTree:
    """The fit with a group ``log_likelihood``: ``distance`` (chain, draw, pair), for ``az.loo`` and ``az.compare``.

    Parameters
    ----------
    post
        A result of :func:`fit`.

    Returns
    -------
    DataTree
        A new tree; ``post`` is untouched. The group takes 8 bytes for each draw and pair.
    """
    check_fit(post)
    value, sigma = _by_pair(post)
    np.subtract(post["observed_data/distance"].to_numpy(), value, out=value)
    value /= sigma
    np.square(value, out=value)
    value *= -0.5
    value -= np.log(sigma, out=sigma)
    value -= LOG_SQRT_2PI
    return _with_group(post, "log_likelihood", value)


def predictive_generator(post: xr.DataTree, seed: int | None = None) -> np.random.Generator:
    """A generator for predictive draws, apart from the one that made the fit."""
    return np.random.default_rng([int(post.attrs["seed"]), 1] if seed is None else seed)


def _by_pair(post: xr.DataTree) -> tuple[FloatArray, FloatArray]:
    """Mean and residual scale of each pair, (chain, draw, pair)."""
    constant = post["constant_data"]
    word, connection = constant["word_index"].to_numpy(), constant["connection_index"].to_numpy()
    mean = post["posterior/word_mean"].to_numpy()[:, :, word, connection]
    sigma = post["posterior/sigma"].to_numpy()
    spread = sigma[:, :, connection] if sigma.ndim == 3 else np.repeat(sigma[:, :, None], len(word), axis=2)
    return mean, spread


def _with_group(post: xr.DataTree, group: str, values: FloatArray) -> xr.DataTree:
    coords = {name: post["posterior"][name].to_numpy() for name in ("chain", "draw")}
    coords["pair"] = post["observed_data"]["pair"].to_numpy()
    tree = post.copy()
    tree[group] = xr.DataTree(xr.Dataset({"distance": (("chain", "draw", "pair"), values)}, coords=coords))
    return tree
