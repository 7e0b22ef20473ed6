"""``variance_shares``: how much of the spread of distances belongs to words and how much to single pairs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._checks import probability
from bayesbias._core.cosine import FloatArray
from bayesbias.diagnostics.intervals import PROB, describe, flat_draws
from bayesbias.models.fitting import related_data
from bayesbias.models.related import protected_covariance
from bayesbias.models.results import by_connection, check_fit, distances_of

COMPONENTS = ("protected word", "attribute word", "word x group", "residual")


def variance_shares(post: xr.DataTree, prob: float = PROB) -> pd.DataFrame:
    """Shares of the variance of distances within each connection.

    Parameters
    ----------
    post
        A result of :func:`fit`.
    prob
        Posterior mass of the intervals.

    Returns
    -------
    DataFrame
        Columns ``connection``, ``component`` (protected word, attribute word, word x group, residual; those that the
        model has), ``mean``, ``sd``, ``hdi_low``, ``hdi_high``: shares, which add to 1 in each connection and draw.
        Distances that share an attribute word are correlated by the second and third.
    """
    check_fit(post)
    prob = probability(prob, "prob")
    parts = variance_draws(post)
    total = sum(parts.values())
    labels = [str(name) for name in post["posterior"]["connection"].to_numpy()]
    pieces = [
        pd.DataFrame({"connection": labels, "component": name, **describe(flat_draws(values / total), prob)})
        for name, values in parts.items()
    ]
    table = pd.concat(pieces, ignore_index=True)
    order = {name: at for at, name in enumerate(labels)}
    return table.sort_values("connection", key=lambda s: s.map(order), kind="stable", ignore_index=True)


def variance_draws(post: xr.DataTree) -> dict[str, FloatArray]:
    """Component to its variance, (chain, draw, connection), in the order of :data:`COMPONENTS`."""
    posterior = post["posterior"].dataset
    spread = _with_tails(posterior["connection_sd"].to_numpy() ** 2, posterior, "word_nu")
    if "sd_factor" in posterior:
        return {"protected word": spread, **_related_variances(post, spread.shape)}
    parts = {"protected word": spread}
    if "attribute_sd" in posterior:
        parts["attribute word"] = _attribute_variance(post, spread.shape)
    if "interaction_sd" in posterior:
        parts["word x group"] = np.broadcast_to(posterior["interaction_sd"].to_numpy()[:, :, None] ** 2, spread.shape)
    sigma = posterior["sigma"].to_numpy()
    residual = np.broadcast_to((sigma if sigma.ndim == 3 else sigma[:, :, None]) ** 2, spread.shape)
    return parts | {"residual": _with_tails(residual, posterior, "nu")}


def _with_tails(scale2: FloatArray, posterior: xr.Dataset, name: str) -> FloatArray:
    """The variance of Student's t where there are degrees of freedom of this name, infinite for 2 and fewer."""
    if name not in posterior:
        return scale2
    nu = posterior[name].to_numpy()[:, :, None]
    value: FloatArray = scale2 * np.divide(nu, nu - 2, out=np.full_like(nu, np.inf), where=nu > 2)
    return value


def _related_variances(post: xr.DataTree, shape: tuple[int, ...]) -> dict[str, FloatArray]:
    """Variances that the vectors give: what a word's distances to protected words have in common, and the rest.

    Common to all protected words (attribute word), to those of one group beyond that (word x group), to none.
    """
    data = related_data(distances_of(post), check=False)
    covariance = protected_covariance(data)
    other = ~np.eye(len(covariance), dtype=bool)
    group = data.group_index[:, None] == data.group_index
    total = float(np.diag(covariance).mean())
    within = float(covariance[other & group].mean()) if (other & group).any() else total
    shared = float(covariance[~group].mean()) if (~group).any() else within
    parts = {"attribute word": shared, "word x group": max(within - shared, 0.0)}
    parts["residual"] = total - parts["attribute word"] - parts["word x group"]
    factor = by_connection(post, "sd_factor") ** 2
    return {name: np.broadcast_to(factor * max(value, 0.0), shape) for name, value in parts.items()}


def _attribute_variance(post: xr.DataTree, shape: tuple[int, ...]) -> FloatArray:
    scale = post["posterior/attribute_sd"].to_numpy()
    if scale.ndim == 2:
        return np.broadcast_to(scale[:, :, None] ** 2, shape)
    value: FloatArray = by_connection(post, "attribute_sd") ** 2
    return value
