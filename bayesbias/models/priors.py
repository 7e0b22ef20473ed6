"""Priors of a model file: each knows its draws, its density, its widening and its PyMC form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field
from scipy.special import log_ndtr, ndtr, ndtri

from bayesbias._core.vectors import FloatArray
from bayesbias._files import Document

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class _Prior(Document):
    """A prior: its draws, its density, its widening and its PyMC form.

    A new prior is one class: the fields of the model file, ``draw``, ``log_density``, ``pymc_form`` and, of a scale,
    ``from_normal``; ``width`` names the field that :meth:`widened` multiplies.
    """

    width: ClassVar[str | None] = None

    def draw(self, rng: np.random.Generator, size: int) -> FloatArray:
        """Independent draws (size,)."""
        raise TypeError(f"the prior {type(self).__name__} depends on another parameter")

    def log_density(self, x: FloatArray) -> FloatArray:
        """Log density at x, up to a constant where it is no scale's."""
        raise TypeError(f"the prior {type(self).__name__} depends on another parameter")

    def widened(self, factor: float) -> Self:
        """The prior ``factor`` times as wide; as it is where it has no width of its own."""
        return self if self.width is None else self.model_copy(update={self.width: getattr(self, self.width) * factor})

    @property
    def pymc_form(self) -> tuple[str, dict[str, float]]:
        """The name of its distribution in PyMC, and its parameters there."""
        raise TypeError(f"the prior {type(self).__name__} depends on another parameter")

    def in_pymc(self, name: str, dims: str | None = None) -> Any:
        """A variable with this prior in the PyMC model of the context."""
        import pymc as pm

        distribution, parameters = self.pymc_form
        return getattr(pm, distribution)(name, **parameters, dims=dims)


class _Scale(_Prior):
    """A prior of a positive scale, which is a map of a standard normal variable too."""

    def from_normal(self, z: FloatArray) -> FloatArray:
        """The scale at standard normal z: the map under which it has this prior."""
        raise NotImplementedError


class Normal(_Prior):
    """N(mean, sd^2), for a location."""

    width: ClassVar[str] = "sd"
    distribution: Literal["normal"]
    mean: Finite
    sd: Positive

    def draw(self, rng: np.random.Generator, size: int) -> FloatArray:
        return rng.normal(self.mean, self.sd, size)

    def log_density(self, x: FloatArray) -> FloatArray:
        value: FloatArray = -0.5 * ((x - self.mean) / self.sd) ** 2
        return value

    @property
    def pymc_form(self) -> tuple[str, dict[str, float]]:
        return "Normal", {"mu": self.mean, "sigma": self.sd}


class Exponential(_Scale):
    """Exponential(rate), mean 1 / rate, for a scale."""

    distribution: Literal["exponential"]
    rate: Positive

    def log_density(self, x: FloatArray) -> FloatArray:
        value: FloatArray = np.log(self.rate) - self.rate * x
        return value

    def from_normal(self, z: FloatArray) -> FloatArray:
        value: FloatArray = -log_ndtr(-z) / self.rate
        return value

    def draw(self, rng: np.random.Generator, size: int) -> FloatArray:
        return rng.exponential(1 / self.rate, size)

    def widened(self, factor: float) -> Self:
        return self.model_copy(update={"rate": self.rate / factor})

    @property
    def pymc_form(self) -> tuple[str, dict[str, float]]:
        return "Exponential", {"lam": self.rate}


class HalfNormal(_Scale):
    """The absolute value of N(0, sd^2), for a scale."""

    width: ClassVar[str] = "sd"
    distribution: Literal["half_normal"]
    sd: Positive

    def log_density(self, x: FloatArray) -> FloatArray:
        value: FloatArray = 0.5 * np.log(2 / np.pi) - np.log(self.sd) - 0.5 * (x / self.sd) ** 2
        return value

    def from_normal(self, z: FloatArray) -> FloatArray:
        value: FloatArray = -self.sd * ndtri(ndtr(-z) / 2)
        return value

    def draw(self, rng: np.random.Generator, size: int) -> FloatArray:
        return np.abs(rng.normal(0, self.sd, size))

    @property
    def pymc_form(self) -> tuple[str, dict[str, float]]:
        return "HalfNormal", {"sigma": self.sd}


class HalfCauchy(_Scale):
    """The absolute value of a Cauchy variable around 0, with the median ``scale``, for a scale of unknown size.

    References
    ----------
    Gelman, A. (2006). Prior distributions for variance parameters in hierarchical models. Bayesian Analysis 1(3).
    https://doi.org/10.1214/06-BA117A
    """

    width: ClassVar[str] = "scale"
    distribution: Literal["half_cauchy"]
    scale: Positive

    def log_density(self, x: FloatArray) -> FloatArray:
        value: FloatArray = np.log(2 / np.pi) - np.log(self.scale) - np.log1p((x / self.scale) ** 2)
        return value

    def from_normal(self, z: FloatArray) -> FloatArray:
        # tan of an angle from below, its reciprocal from above: neither loses digits in its tail
        tail = np.tan(np.pi / 2 * ndtr(-np.abs(z)))
        value: FloatArray = self.scale * np.where(z < 0, tail, 1 / tail)
        return value

    def draw(self, rng: np.random.Generator, size: int) -> FloatArray:
        return self.scale * np.abs(rng.standard_cauchy(size))

    @property
    def pymc_form(self) -> tuple[str, dict[str, float]]:
        return "HalfCauchy", {"beta": self.scale}


class LogNormal(_Scale):
    """exp of N(log median, spread^2), for a scale that is known up to a factor."""

    width: ClassVar[str] = "spread"
    distribution: Literal["log_normal"]
    median: Positive
    spread: Positive

    def log_density(self, x: FloatArray) -> FloatArray:
        z = (np.log(x) - np.log(self.median)) / self.spread
        value: FloatArray = -0.5 * z**2 - np.log(x * self.spread) - 0.5 * np.log(2 * np.pi)
        return value

    def from_normal(self, z: FloatArray) -> FloatArray:
        value: FloatArray = self.median * np.exp(self.spread * z)
        return value

    def draw(self, rng: np.random.Generator, size: int) -> FloatArray:
        return rng.lognormal(np.log(self.median), self.spread, size)

    @property
    def pymc_form(self) -> tuple[str, dict[str, float]]:
        return "LogNormal", {"mu": float(np.log(self.median)), "sigma": self.spread}


class Gamma(_Prior):
    """Gamma(shape, rate), for the degrees of freedom of Student's t."""

    distribution: Literal["gamma"]
    shape: Positive
    rate: Positive

    def draw(self, rng: np.random.Generator, size: int) -> FloatArray:
        return rng.gamma(self.shape, 1 / self.rate, size)

    def log_density(self, x: FloatArray) -> FloatArray:
        value: FloatArray = (self.shape - 1) * np.log(x) - self.rate * x
        return value

    @property
    def pymc_form(self) -> tuple[str, dict[str, float]]:
        return "Gamma", {"alpha": self.shape, "beta": self.rate}


class InverseWishart(_Prior):
    """Covariance of K connections across protected words: inverse Wishart with K degrees of freedom, scale^2 I.

    Each standard deviation alone is ``scale`` over the absolute value of a standard normal variable. The unit is the
    standard deviation of a protected word's distances to the words of the vocabulary.
    """

    width: ClassVar[str] = "scale"
    distribution: Literal["inverse_wishart"]
    scale: Positive


class Pooled(_Prior):
    """A scale for each class around a common one: its log is N(log of the common scale, spread^2)."""

    width: ClassVar[str] = "spread"
    distribution: Literal["pooled"]
    spread: Positive


ScalePrior = Exponential | HalfNormal | HalfCauchy | LogNormal
Scale = Annotated[ScalePrior, Field(discriminator="distribution")]
Prior = Normal | ScalePrior | Gamma | Pooled | InverseWishart


def common_of(name: str) -> str:
    """The name of the common scale around which pooled scales of this name lie."""
    return f"{name}0"


def log_priors(values: Mapping[str, FloatArray], priors: Mapping[str, Prior]) -> dict[str, FloatArray]:
    """Prior to its log density (chain, draw) at draws of the parameters, summed over those that have it.

    ``values`` are arrays (chain, draw, ...) by parameter. Constants are left out.
    """
    values = dict(values)
    if "m" in values:
        values["offset_mean"] = values["connection_mean"] - values["m"][:, :, None]
        values["offset_sd"] = values["connection_sd"]
    found = {}
    for name, prior in priors.items():
        value = _log_density(prior, values[name], values.get(common_of(name)))
        found[name] = value.reshape(*value.shape[:2], -1).sum(axis=2)
    return found


def _log_density(prior: Prior, x: FloatArray, common: FloatArray | None) -> FloatArray:
    """Log density of a prior up to a constant; a pooled scale's is that of its log around the ``common`` one's."""
    if not isinstance(prior, Pooled):
        return prior.log_density(x)
    if common is None:
        raise TypeError("a pooled prior needs a common scale")
    return -0.5 * ((np.log(x) - np.log(common)[:, :, None]) / prior.spread) ** 2
