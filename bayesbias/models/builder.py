"""The models in PyMC: their free variables are the posterior variables of a fit, the distances are observed."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import NDArray
from pymc.logprob.transforms import Transform

from bayesbias.distances.distances import Distances
from bayesbias.models import related
from bayesbias.models.spec import ModelSpec, Pooled, common_of
from bayesbias.numerics.arrays import FloatArray
from bayesbias.numerics.marginal import cell_numbers
from bayesbias.numerics.related import RelatedSums

SHARP = 6  # variance of cell means over that of their noise from which on cells are drawn directly
SMALL = 0.01  # the least standard deviation of distances at which chains start
CELL = ("protected_word", "connection")


class Standardised(Transform):  # type: ignore[misc]
    """The sampler moves (x - location) / scale; the model's variable stays x.

    The last two inputs of the variable are its location and scale: of a normal, a Student t and, of log x, a log-normal
    one. Where it is ``direct``, estimates and their standard errors, which do not move, stand in for them: samplers
    start within 1 of 0 in what is moved.
    """

    name = "standardised"

    def __init__(
        self,
        direct: NDArray[np.bool_] | bool = False,
        estimate: FloatArray | float = 0.0,
        error: FloatArray | float = 1.0,
        log: bool = False,
    ) -> None:
        self.direct, self.estimate, self.error, self.log = np.asarray(direct), estimate, error, log

    def _place(self, inputs: tuple[Any, ...]) -> tuple[Any, Any]:
        location, scale = inputs[-2:]
        return pt.where(self.direct, self.estimate, location), pt.where(self.direct, self.error, scale)

    def forward(self, value: Any, *inputs: Any) -> Any:
        """The value that the sampler moves."""
        location, scale = self._place(inputs)
        return ((pt.log(value) if self.log else value) - location) / scale

    def backward(self, value: Any, *inputs: Any) -> Any:
        """The variable."""
        location, scale = self._place(inputs)
        moved = location + scale * value
        return pt.exp(moved) if self.log else moved

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:
        """The log of the derivative of the variable by what is moved."""
        location, scale = self._place(inputs)
        jacobian = pt.log(scale) + pt.zeros_like(value)
        return jacobian + location + scale * value if self.log else jacobian


class Correlated(Transform):  # type: ignore[misc]
    """The sampler moves independent standard errors of the cells, the model's variable is the grid of their means.

    The last input of the variable is the factor of each class of attribute words.
    """

    name = "correlated"

    def __init__(self, centre: FloatArray, root: FloatArray, kind: NDArray[np.intp], filled: NDArray[np.bool_]) -> None:
        self.centre, self.root, self.kind, self.filled = centre, root, kind, filled
        self.inverse = np.linalg.inv(root)

    def forward(self, value: Any, *inputs: Any) -> Any:
        """The value that the sampler moves."""
        return self.inverse @ ((value[np.nonzero(self.filled)] - self.centre) / inputs[-1][self.kind])

    def backward(self, value: Any, *inputs: Any) -> Any:
        """The variable; NaN where there is no distance."""
        grid = pt.full(self.filled.shape, np.nan)
        return grid[np.nonzero(self.filled)].set(self.centre + inputs[-1][self.kind] * (self.root @ value))

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:
        """The log of the determinant of the derivative."""
        return np.linalg.slogdet(self.root)[1] + pt.log(inputs[-1][self.kind]).sum()


def _coords(data: Distances) -> dict[str, Any]:
    return {
        "protected_word": data.protected_words,
        "connection": data.connections,
        "attribute_word": data.attribute_words,
        "attribute_class": data.attribute_classes,
        "word_group": data.group_names,
        "pair": np.arange(len(data.y)),
    }


def of_rows(spec: ModelSpec, data: Distances) -> tuple[pm.Model, dict[str, FloatArray]]:
    """Distances are independent given the means of cells and the effects of attribute words.

    Cells of a connection with much data are moved as they are (centred), others as standardised deviations from its
    mean: either form alone mixes badly on one of the two kinds. Means and standard deviations of the distances are
    where chains start.
    """
    priors, terms, start = spec.priors, spec.terms, _starts(spec, data)
    error = start["connection_sd"] / np.sqrt(len(data.protected_words))
    population: dict[str, Any] = {
        "dims": "connection",
        "default_transform": Standardised(True, start["connection_mean"], error),
    }
    with pm.Model(coords=_coords(data)) as model:
        # names that a fit's constant_data lacks: PyMC keeps 32 bits of whole numbers, and refuses those of the fit
        used = {"word": data.word, "connection": data.connection}
        used |= {"attribute": data.attribute} if spec.crossed else {}
        used |= {"group": data.group_index[data.word]} if terms.word_x_group else {}
        places = {name: pm.Data(f"{name}_of_pair", index, dims="pair") for name, index in used.items()}
        mean = priors["connection_mean"].in_pymc("connection_mean", **population)
        scale = _scales(spec, "connection_sd", "connection")
        moved = {"dims": CELL, "default_transform": Standardised(*centred_cells(data))}
        if terms.protected_words == "student_t":
            word_mean = pm.StudentT("word_mean", nu=priors["word_nu"].in_pymc("word_nu"), mu=mean, sigma=scale, **moved)
        else:
            word_mean = pm.Normal("word_mean", mean, scale, **moved)
        value = word_mean[places["word"], places["connection"]]
        if spec.crossed:
            if terms.attribute_sd == "shared":
                scale = priors["attribute_sd"].in_pymc("attribute_sd")
            else:
                scale = _scales(spec, "attribute_sd", "attribute_class")[data.class_index]
            value += pm.Normal("attribute_effect", 0.0, scale, dims="attribute_word")[places["attribute"]]
        if terms.word_x_group:
            interaction = pm.Normal(
                "interaction_effect",
                0.0,
                priors["interaction_sd"].in_pymc("interaction_sd"),
                dims=("attribute_word", "word_group"),
                default_transform=Standardised(*_centred_interactions(data)),
            )
            value += interaction[places["attribute"], places["group"]]
        by_connection = spec.likelihood.sigma == "connection"
        sigma = priors["sigma"].in_pymc("sigma", dims="connection" if by_connection else None)
        residual = {
            "mu": value,
            "sigma": sigma[places["connection"]] if by_connection else sigma,
            "observed": pm.Data("observed_distance", data.y, dims="pair"),
            "dims": "pair",
        }
        pm.Normal("distance", **residual)
    return model, start


def _starts(spec: ModelSpec, data: Distances) -> dict[str, FloatArray]:
    """Means and standard deviations of the distances, around which chains start.

    From where priors are centred, all distances can be many standard deviations away: a scale with a heavy-tailed prior
    then runs to values from which its chain never returns. A PyMC model with starts of its own cannot be copied.
    """
    mean, filled = data.cells.mean, data.filled
    centre = np.where(filled, mean, 0.0).sum(axis=0) / np.maximum(filled.sum(axis=0), 1)
    cells = np.where(filled, mean, centre)
    residual = data.y - mean[data.word, data.connection]
    return {
        "connection_mean": centre,
        "connection_sd": np.maximum(cells.std(axis=0), SMALL),
        "word_mean": cells,
        "sigma": np.full(len(centre) if spec.likelihood.sigma == "connection" else (), max(residual.std(), SMALL)),
    }


def _scales(spec: ModelSpec, name: str, dims: str) -> Any:
    """Scales of one name, each with its prior or around a common one."""
    prior = spec.priors[name]
    if not isinstance(prior, Pooled):
        return prior.in_pymc(name, dims=dims)
    common = spec.priors[common_of(name)].in_pymc(common_of(name))
    return pm.LogNormal(name, pt.log(common), prior.spread, dims=dims, default_transform=Standardised(log=True))


def of_cells(spec: ModelSpec, data: Distances, sums: RelatedSums) -> pm.Model:
    """Means of cells are normal with the covariance of the vectors, the scatter within them is chi-squared.

    Means of words have a flat prior, so that there is no prior predictive distribution. The rows of a table have no
    joint normal density with these margins: the similarities that are estimated for them make no covariance matrix.
    """
    root = related.root_of_cells(sums)
    inverse = np.linalg.inv(root)
    cell = cell_numbers(data.filled)[data.word, data.connection]
    n, counted = np.bincount(cell), sums.counted
    entries, number = counted.sums.tocoo(), np.bincount(counted.part)
    word, connection = np.nonzero(data.filled)
    known = sums.freedom > 0

    errors_at = cache(lambda: related.errors_of(data, sums))

    def log_density(value: Any, word_mean: Any, factor: Any, _rows: Any) -> Any:
        mean = pt.zeros(len(n))[cell].inc(value) / n
        errors = inverse @ ((mean - word_mean[word, connection]) / factor[sums.kind])
        of_sums = pt.zeros(len(counted.part))[entries.row].inc(entries.data * value[entries.col])
        centre = pt.zeros(len(number))[counted.part].inc(of_sums) / number
        squares = pt.zeros(len(known))[counted.kind[counted.part]].inc((of_sums - centre[counted.part]) ** 2)
        scatter = pt.where(known, squares / np.where(known, sums.expected, 1.0), 1.0)
        # up to constants: N(mean | word_mean, F C F), and freedom * scatter / factor^2 ~ chi-squared(freedom)
        normal = -0.5 * (errors**2).sum() - pt.log(factor[sums.kind]).sum()
        return normal - (sums.freedom * (pt.log(factor) + 0.5 * scatter / factor**2)).sum()

    def draw(
        word_mean: FloatArray, factor: FloatArray, _rows: Any, rng: np.random.Generator, size: Any = None
    ) -> FloatArray:
        value: FloatArray = word_mean[data.word, data.connection] + errors_at()(np.asarray(factor)[None], rng)[0]
        return value

    with pm.Model(coords=_coords(data) | {"attribute_class": data.connection_classes}) as model:
        factor = spec.priors["sd_factor"].in_pymc("sd_factor", dims="attribute_class")
        observed = np.full(data.filled.shape, np.nan)
        observed[data.filled] = sums.y
        word_mean = pm.CustomDist(
            "word_mean",
            observed,
            factor,
            logp=lambda value, observed, factor: pt.zeros(()),
            random=lambda observed, factor, rng, size=None: np.full(
                observed.shape, np.nan
            ),  # a flat prior has no draws
            support_point=lambda variable, size, observed, factor: observed,
            signature="(j,k),(a)->(j,k)",
            dims=CELL,
            default_transform=Correlated(sums.y, root, sums.kind, data.filled),
        )
        pm.CustomDist(
            "distance",
            word_mean,
            factor,
            pm.Data("word_of_pair", data.word, dims="pair"),
            logp=log_density,
            random=draw,
            observed=pm.Data("observed_distance", data.y, dims="pair"),
            dims="pair",
            signature="(j,k),(a),(p)->(p)",
        )
    return model


Centred = tuple[NDArray[np.bool_], FloatArray, FloatArray]
"""Where a variable is moved as it is, its estimates there, and their standard errors."""


def centred_cells(data: Distances) -> Centred:
    """Cells (J, K) of connections whose means are known more sharply than they vary between cells."""
    cells, filled = data.cells, data.filled
    freedom = (np.maximum(cells.n - 1, 0)).sum(axis=0)
    residual = cells.ssd.sum(axis=0) / np.maximum(freedom, 1)
    variance = residual / np.maximum(cells.n, 1)
    number = np.maximum(filled.sum(axis=0), 1)
    noise = np.where(filled, variance, 0).sum(axis=0) / number
    centre = np.where(filled, cells.mean, 0).sum(axis=0) / number
    between = (np.where(filled, cells.mean - centre, 0) ** 2).sum(axis=0) / number
    sharp: NDArray[np.bool_] = filled & (residual > 0) & (between > SHARP * noise)
    return sharp, np.where(sharp, cells.mean, 0.0), np.where(sharp, np.sqrt(variance), 1.0)


def _centred_interactions(data: Distances) -> Centred:
    """Effects (attribute word, group), where they differ by more than noise between the groups that a word meets."""
    residual = data.y - data.cells.mean[data.word, data.connection]
    met = data.compared
    place = data.attribute * met.shape[1] + data.group_index[data.word]
    n = np.maximum(np.bincount(place, minlength=met.size).reshape(met.shape), 1)
    mean = np.bincount(place, weights=residual, minlength=met.size).reshape(met.shape) / n
    within, words = met.sum(axis=1, keepdims=True), met.sum(axis=1) > 1
    apart = np.where(met, mean - (mean * met).sum(axis=1, keepdims=True) / np.maximum(within, 1), 0.0)
    error = np.sqrt(residual.var() / n)
    # as in an analysis of variance: the mean square of group means within words against that of noise alone
    freedom = (met[words].sum(axis=1) - 1).sum()
    noise = (met * error**2)[words].sum() / max(met[words].sum(), 1)
    sharp = met & bool(words.any() and (apart[words] ** 2).sum() / freedom > 3 * noise > 0)
    return sharp, np.where(sharp, apart, 0.0), np.where(sharp, error, 1.0)
