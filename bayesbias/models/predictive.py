"""Groups that are added on request: posterior predictive draws and pointwise log likelihood."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import xarray as xr
from scipy.special import gammaln

from bayesbias._checks import whole_number
from bayesbias._core.vectors import FloatArray
from bayesbias.models.fits import related_data
from bayesbias.models.related import draw_errors, protected_covariance
from bayesbias.models.results import by_connection, check_fit, distances_of, pair_places

LOG_2PI = float(np.log(2 * np.pi))
PAIRS_AT_ONCE = 1024

PairDensity = Callable[[slice], FloatArray]


def add_predictive(post: xr.DataTree, seed: int | None = None) -> xr.DataTree:
    """The fit with a group ``posterior_predictive``: ``distance`` (chain, draw, pair) of the same words again.

    Where words are related, distances are known once the words are: the draws are those of other lists, as alike as
    these, on the same protected words.

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
    if "sd_factor" in post["posterior"]:
        return _with_group(post, "posterior_predictive", _other_lists(post, rng))
    mean, sigma = _by_pair(post)
    mean += sigma * residuals(post, mean.shape, rng)
    return _with_group(post, "posterior_predictive", mean)


def add_log_likelihood(post: xr.DataTree) -> xr.DataTree:
    """The fit with a group ``log_likelihood``: ``distance`` (chain, draw, pair), for ``az.loo`` and ``az.compare``.

    Where words are related, the density is that of one distance alone, given the mean of its cell; it does not know
    of the correlation with other distances (:func:`compare_models` leaves out words with it).

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
    steps, density = post["posterior"].sizes, pair_density(post)
    value = np.empty((steps["chain"] * steps["draw"], post["observed_data"].sizes["pair"]))
    for part in parts_of(value.shape[1]):
        value[:, part] = density(part)
    return _with_group(post, "log_likelihood", value.reshape(steps["chain"], steps["draw"], -1))


def pair_density(post: xr.DataTree, step: int = 1) -> PairDensity:
    """A function from a slice of the pairs to their log densities (draws, pairs) given everything, by every ``step``.

    The pairs of a slice at once, so that large tables need no place for all.
    """
    places, y = pair_places(post), post["observed_data/distance"].to_numpy()
    if "sd_factor" in post["posterior"]:
        return _related_density(post, places, y, step)
    drawn = {
        name: values.to_numpy().reshape(-1, *values.shape[2:])[::step]
        for name, values in post["posterior"].data_vars.items()
        if name in ("word_mean", "attribute_effect", "interaction_effect", "sigma", "nu")
    }

    def density(part: slice) -> FloatArray:
        at = {dim: place[part] for dim, place in places.items()}
        apart = y[part] - drawn["word_mean"][:, at["protected_word"], at["connection"]]
        if "attribute_effect" in drawn:
            apart -= drawn["attribute_effect"][:, at["attribute_word"]]
        if "interaction_effect" in drawn:
            apart -= drawn["interaction_effect"][:, at["attribute_word"], at["group"]]
        sigma = drawn["sigma"][:, at["connection"]] if drawn["sigma"].ndim == 2 else drawn["sigma"][:, None]
        squares = (apart / sigma) ** 2
        if "nu" not in drawn:
            normal: FloatArray = -0.5 * (squares + LOG_2PI) - np.log(sigma)
            return normal
        nu = drawn["nu"][:, None]
        constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(nu * np.pi)
        student: FloatArray = constant - 0.5 * (nu + 1) * np.log1p(squares / nu) - np.log(sigma)
        return student

    return density


def _related_density(post: xr.DataTree, places: dict[str, np.ndarray], y: FloatArray, step: int) -> PairDensity:
    """Log density of single distances to random words given the means of their cells: normal, sd from the vectors."""
    posterior = post["posterior"]
    means = posterior["word_mean"].to_numpy()
    means = means.reshape(-1, *means.shape[2:])[::step]
    sd = np.sqrt(np.diag(protected_covariance(related_data(distances_of(post), check=False))))
    factor = by_connection(post, "sd_factor").reshape(-1, means.shape[-1])[::step]

    def density(part: slice) -> FloatArray:
        word, connection = places["protected_word"][part], places["connection"][part]
        sigma = factor[:, connection] * sd[word]
        value: FloatArray = -0.5 * (((y[part] - means[:, word, connection]) / sigma) ** 2 + LOG_2PI) - np.log(sigma)
        return value

    return density


def parts_of(pairs: int) -> Iterator[slice]:
    """Slices of the pairs, few enough at a time for the memory."""
    return (slice(begin, min(begin + PAIRS_AT_ONCE, pairs)) for begin in range(0, pairs, PAIRS_AT_ONCE))


def predictive_generator(post: xr.DataTree, seed: int | None = None) -> np.random.Generator:
    """A generator for predictive draws, apart from the one that made the fit."""
    return np.random.default_rng([int(post.attrs["seed"]), 1] if seed is None else whole_number(seed, "seed", least=0))


def residuals(post: xr.DataTree, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
    """Standardised residuals (chain, draw, ...) of the fit's model: normal, or Student's t with the fit's nu."""
    if "nu" not in post["posterior"]:
        return rng.standard_normal(shape)
    nu = post["posterior/nu"].to_numpy()
    return rng.standard_t(nu.reshape(*nu.shape, *(1,) * (len(shape) - 2)), shape)


def _other_lists(post: xr.DataTree, rng: np.random.Generator) -> FloatArray:
    """Distances (chain, draw, pair) to other lists of related words."""
    posterior, place = post["posterior"], pair_places(post)
    mean = posterior["word_mean"].to_numpy()[:, :, place["protected_word"], place["connection"]]
    data = related_data(distances_of(post), check=False)
    factors = posterior["sd_factor"].to_numpy()
    drawn: FloatArray = mean + draw_errors(data, factors.reshape(-1, factors.shape[-1]), rng).reshape(mean.shape)
    return drawn


def _by_pair(post: xr.DataTree) -> tuple[FloatArray, FloatArray]:
    """Mean and residual scale of each pair, (chain, draw, pair)."""
    posterior, place = post["posterior"], pair_places(post)
    mean = posterior["word_mean"].to_numpy()[:, :, place["protected_word"], place["connection"]]
    if "attribute_effect" in posterior:
        mean += posterior["attribute_effect"].to_numpy()[:, :, place["attribute_word"]]
    if "interaction_effect" in posterior:
        mean += posterior["interaction_effect"].to_numpy()[:, :, place["attribute_word"], place["group"]]
    sigma = posterior["sigma"].to_numpy()
    by_connection = sigma if sigma.ndim == 3 else sigma[:, :, None]
    spread = by_connection[:, :, place["connection"] if sigma.ndim == 3 else np.zeros_like(place["connection"])]
    return mean, spread


def _with_group(post: xr.DataTree, group: str, values: FloatArray) -> xr.DataTree:
    coords = {name: post["posterior"][name].to_numpy() for name in ("chain", "draw")}
    coords["pair"] = post["observed_data"]["pair"].to_numpy()
    tree = post.copy()
    tree[group] = xr.DataTree(xr.Dataset({"distance": (("chain", "draw", "pair"), values)}, coords=coords))
    return tree
