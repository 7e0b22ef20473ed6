"""Groups that ArviZ knows, added to a fit: prior, predictive draws, log prior, log likelihood."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from bayesbias._support.arguments import flag, whole_number
from bayesbias.errors import DrawsWarning, warn
from bayesbias.models.families import MOST_NUMBERS, check_draws_of_pairs, family_of, parts_of
from bayesbias.models.layout import DIMS, STEPS
from bayesbias.models.tree import Fit
from bayesbias.numerics.arrays import FloatArray

POINTWISE = "pointwise_log_likelihood"  # beside the density of all distances together, where that is no sum of it


def add_prior(
    post: xr.DataTree, draws: int = 1000, seed: int | None = None, log_likelihood: bool = False
) -> xr.DataTree:
    """The fit with its priors: groups ``prior``, ``prior_predictive`` and ``log_prior``, as ArviZ takes them.

    Draws are exact and need no PyMC. With ``log_likelihood=True`` ``az.psense_summary`` and
    ``azp.plot_psense_dist`` work too (Kallioinen et al. 2024, https://doi.org/10.1007/s11222-023-10366-5).

    Parameters
    ----------
    post
        A result of :func:`fit`.
    draws
        Draws of the prior.
    seed
        Seed of these draws; None takes one that follows from the seed of the fit.
    log_likelihood
        Whether to add the group ``log_likelihood``, as :func:`add_log_likelihood` does. Where words are related, or the
        table is too large for the densities of all draws, it is that of all distances together, for power scaling, and
        the group ``pointwise_log_likelihood`` has those of single distances, for LOO.

    Returns
    -------
    DataTree
        A new tree; ``post`` is untouched. ``log_prior`` has the parameters that depend on no other, and pooled scales
        by the density of their logarithm. The model ``related`` has ``log_prior`` alone: its means of words have a flat
        prior, and the covariance of the distances comes from the vectors.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.checks.add_prior(bb.fit(table, "published", seed=0), draws=200, seed=0)
    >>> post["prior_predictive/distance"].sizes["draw"]
    200
    """
    result = Fit.read(post)
    draws, with_likelihood = whole_number(draws, "draws"), flag(log_likelihood, "log_likelihood")
    rng = np.random.default_rng([result.seed, 4] if seed is None else whole_number(seed, "seed", least=0, most=None))
    family, tree = family_of(result.spec), result.tree.copy()
    tree["log_prior"] = xr.DataTree(log_prior_of(result))
    if family.has_prior:
        tree.update({name: xr.DataTree(group) for name, group in _drawn_prior(result, draws, rng).items()})
    if with_likelihood:
        single = add_log_likelihood(post)["log_likelihood"]
        tree["log_likelihood"] = single
        if family.needs_relatedness or single.sizes["draw"] < result.posterior.sizes["draw"]:
            tree[POINTWISE], tree["log_likelihood"] = single, xr.DataTree(log_likelihood_of(result))
    return tree


def _drawn_prior(result: Fit, draws: int, rng: np.random.Generator) -> dict[str, xr.Dataset]:
    """Draws of a fit's parameters from their priors, and of the distances that follow."""
    family, posterior, data = family_of(result.spec), result.posterior, result.data
    check_draws_of_pairs(draws, len(data.y))
    truths = [family.drawn_truth(result.spec, data, rng) for _ in range(draws)]
    distances = np.stack([family.drawn_distances(result.spec, truth, data, rng) for truth in truths])[None]
    at = {"chain": [0], "draw": np.arange(draws)}
    variables = {}
    for name in map(str, posterior.data_vars):
        if name in truths[0]:  # a slope is none of the model's
            values = np.stack([truth[name] for truth in truths])[None]
            variables[name] = ((*STEPS, *DIMS.get(name, ())[: values.ndim - 2]), values)
    used = {dim for dims, _ in variables.values() for dim in dims[2:]}
    pairs = {"pair": result.tree["observed_data/pair"].to_numpy()}
    return {
        "prior": xr.Dataset(variables, coords=at | {dim: posterior[dim].to_numpy() for dim in used}),
        "prior_predictive": xr.Dataset({"distance": ((*STEPS, "pair"), distances)}, coords=at | pairs),
    }


def add_predictive(post: xr.DataTree, seed: int | None = None, draws: int | None = None) -> xr.DataTree:
    """The fit with a group ``posterior_predictive``: ``distance`` (chain, draw, pair) of the same words again.

    Where words are related, distances are known once the words are: the draws are those of other lists, as similar as
    these, on the same protected words.

    Parameters
    ----------
    post
        A result of :func:`fit`.
    seed
        Seed of the predictive draws; None takes one that follows from the seed of the fit.
    draws
        Of how many of the fit's draws the group is made, at even steps; None takes all where these are at most 2**26
        numbers (draws x pairs, half a gigabyte), else as many as that, with a warning.

    Returns
    -------
    DataTree
        A new tree; ``post`` is untouched.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, seed=0)
    >>> post = bb.checks.add_predictive(post, seed=0, draws=200)
    >>> "posterior_predictive" in post.children
    True
    """
    result = Fit.read(post)
    rng, posterior = predictive_generator(result, seed), _thinned(result, draws)
    value = family_of(result.spec).predicted(result, posterior, rng)
    return _with_group(result, "posterior_predictive", value, posterior)


def _thinned(result: Fit, draws: int | None) -> xr.Dataset:
    """The posterior at even steps: so many draws in all, or as many as the memory of a group allows."""
    posterior, pairs = result.posterior, result.tree["observed_data"].sizes["pair"]
    chains, each = result.steps
    if draws is not None:
        step = -(-each * chains // whole_number(draws, "draws", least=chains, most=each * chains))
    else:
        step = -(-chains * each * pairs // MOST_NUMBERS)
    thinned = posterior.isel(draw=slice(None, None, step))
    if draws is None and step > 1:
        every = chains * each
        warn(
            f"the group is made of {chains * thinned.sizes['draw']:,} of {every:,} draws: all would be "
            f"{every * pairs:,} numbers, more than {MOST_NUMBERS:,} (draws={every} takes all)",
            DrawsWarning,
        )
    return thinned


def add_log_likelihood(post: xr.DataTree, draws: int | None = None) -> xr.DataTree:
    """The fit with a group ``log_likelihood``: ``distance`` (chain, draw, pair), for ``az.loo`` and ``az.compare``.

    Where words are related, the density is that of one distance alone, given the mean of its cell; it does not know
    of the correlation with other distances. Densities are those of the model, without the errors of templates and of an
    estimated slope, which a fit adds to its means.

    Parameters
    ----------
    post
        A result of :func:`fit`.
    draws
        Of how many of the fit's draws the group is made, as in :func:`add_predictive`.

    Returns
    -------
    DataTree
        A new tree; ``post`` is untouched.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, seed=0)
    >>> post = bb.checks.add_log_likelihood(post, draws=200)
    >>> "log_likelihood" in post.children
    True
    """
    result = Fit.read(post)
    posterior = _thinned(result, draws)
    thinned = post.copy()
    thinned["posterior"] = xr.DataTree(posterior)
    density = family_of(result.spec).density(Fit(thinned).model_alone)
    value = np.empty((posterior.sizes["chain"] * posterior.sizes["draw"], result.tree["observed_data"].sizes["pair"]))
    for part in parts_of(value.shape[1]):
        value[:, part] = density(part)
    return _with_group(result, "log_likelihood", value.reshape(posterior.sizes["chain"], -1, value.shape[1]), posterior)


def log_prior_of(result: Fit) -> xr.Dataset:
    """Log prior (chain, draw) of the parameters that depend on no other, by name of the prior."""
    return _by_step(result, family_of(result.spec).log_priors(result.model_alone))


def log_likelihood_of(result: Fit) -> xr.Dataset:
    """Log likelihood (chain, draw) of all distances together."""
    return _by_step(result, {"distance": family_of(result.spec).log_likelihood(result.model_alone)})


def _by_step(result: Fit, values: Mapping[str, FloatArray]) -> xr.Dataset:
    coords = {name: result.posterior[name] for name in STEPS}
    return xr.Dataset({name: (STEPS, each) for name, each in values.items()}, coords)


def predictive_generator(result: Fit, seed: int | None = None) -> np.random.Generator:
    """A generator for predictive draws, apart from the one that made the fit."""
    return np.random.default_rng([result.seed, 1] if seed is None else whole_number(seed, "seed", least=0, most=None))


def _with_group(result: Fit, group: str, values: FloatArray, posterior: xr.Dataset) -> xr.DataTree:
    """The fit with a group of numbers (chain, draw, pair)."""
    coords = {name: posterior[name].to_numpy() for name in ("chain", "draw")}
    coords["pair"] = result.tree["observed_data"]["pair"].to_numpy()
    tree = result.tree.copy()
    tree[group] = xr.DataTree(xr.Dataset({"distance": ((*STEPS, "pair"), values)}, coords=coords))
    return tree
