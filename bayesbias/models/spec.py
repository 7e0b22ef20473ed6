"""Specification of a model: its likelihood, its terms, and its priors, each with density, draw and PyMC form."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, create_model
from scipy.special import log_ndtr, ndtr, ndtri

from bayesbias._support import shipped
from bayesbias._support.files import Document, check, home_folder, parse_toml, read_text, to_json
from bayesbias.errors import InputError
from bayesbias.numerics.arrays import FloatArray

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class _Prior(Document):
    """A prior: its draws, its density and its PyMC form."""

    draw: ClassVar[Callable[..., FloatArray]]  # from a generator and a size: independent draws (size,)
    log_density: ClassVar[Callable[..., FloatArray]]  # at x, up to a constant where it is no scale's
    from_normal: ClassVar[Callable[..., FloatArray]]  # a scale at standard normal z, under which it has this prior
    pymc: ClassVar[tuple[str, dict[str, str | float]]]  # its distribution in PyMC, and fields or numbers for parameters

    @property
    def pymc_form(self) -> tuple[str, dict[str, float]]:
        """The name of its distribution in PyMC, and its parameters there."""
        name, parameters = self.pymc
        return name, {key: getattr(self, x) if isinstance(x, str) else x for key, x in parameters.items()}

    def in_pymc(self, name: str, dims: str | None = None, **options: Any) -> Any:
        """A variable with this prior in the PyMC model of the context; options are those of PyMC's distributions."""
        import pymc as pm

        distribution, parameters = self.pymc_form
        # plain numbers of few digits become single precision there: the mean of an exponential is 5e-8 off
        return getattr(pm, distribution)(
            name, **{key: np.float64(x) for key, x in parameters.items()}, dims=dims, **options
        )


class Normal(_Prior):
    """N(mean, sd^2), for a location."""

    distribution: Literal["normal"]
    mean: Finite
    sd: Positive
    pymc = "Normal", {"mu": "mean", "sigma": "sd"}

    def draw(self, rng: np.random.Generator, size: int) -> FloatArray:
        return rng.normal(self.mean, self.sd, size)

    def log_density(self, x: FloatArray) -> FloatArray:
        return -0.5 * ((x - self.mean) / self.sd) ** 2


class Exponential(_Prior):
    """Exponential(rate), mean 1 / rate, for a scale."""

    distribution: Literal["exponential"]
    rate: Positive
    pymc = "Exponential", {"lam": "rate"}

    def log_density(self, x: FloatArray) -> FloatArray:
        value: FloatArray = np.log(self.rate) - self.rate * x
        return value

    def from_normal(self, z: FloatArray) -> FloatArray:
        return -log_ndtr(-z) / self.rate

    def draw(self, rng: np.random.Generator, size: int) -> FloatArray:
        return rng.exponential(1 / self.rate, size)


class HalfNormal(_Prior):
    """The absolute value of N(0, sd^2), for a scale."""

    distribution: Literal["half_normal"]
    sd: Positive
    pymc = "HalfNormal", {"sigma": "sd"}

    def log_density(self, x: FloatArray) -> FloatArray:
        value: FloatArray = 0.5 * np.log(2 / np.pi) - np.log(self.sd) - 0.5 * (x / self.sd) ** 2
        return value

    def from_normal(self, z: FloatArray) -> FloatArray:
        return -self.sd * ndtri(ndtr(-z) / 2)

    def draw(self, rng: np.random.Generator, size: int) -> FloatArray:
        return np.abs(rng.normal(0, self.sd, size))


class HalfCauchy(_Prior):
    """The absolute value of a Cauchy variable around 0, with the median ``scale``, for a scale of unknown size.

    Gelman (2006), https://doi.org/10.1214/06-BA117A.
    """

    distribution: Literal["half_cauchy"]
    scale: Positive
    pymc = "HalfCauchy", {"beta": "scale"}

    def log_density(self, x: FloatArray) -> FloatArray:
        value: FloatArray = np.log(2 / np.pi) - np.log(self.scale) - np.log1p((x / self.scale) ** 2)
        return value

    def from_normal(self, z: FloatArray) -> FloatArray:
        # tan of an angle from below, its reciprocal from above: neither loses digits in its tail
        tail = np.tan(np.pi / 2 * ndtr(-np.abs(z)))
        return self.scale * np.where(z < 0, tail, 1 / tail)

    def draw(self, rng: np.random.Generator, size: int) -> FloatArray:
        return self.scale * np.abs(rng.standard_cauchy(size))


class LogNormal(_Prior):
    """exp of N(log median, spread^2), for a scale that is known up to a factor."""

    distribution: Literal["log_normal"]
    median: Positive
    spread: Positive
    pymc = "LogNormal", {"mu": "log_median", "sigma": "spread"}

    def log_density(self, x: FloatArray) -> FloatArray:
        z = (np.log(x) - self.log_median) / self.spread
        value: FloatArray = -0.5 * z**2 - np.log(x * self.spread) - 0.5 * np.log(2 * np.pi)
        return value

    def from_normal(self, z: FloatArray) -> FloatArray:
        return self.median * np.exp(self.spread * z)

    def draw(self, rng: np.random.Generator, size: int) -> FloatArray:
        return rng.lognormal(self.log_median, self.spread, size)

    @property
    def log_median(self) -> float:
        return float(np.log(self.median))


class Gamma(_Prior):
    """Gamma(shape, rate), for the degrees of freedom of Student's t."""

    distribution: Literal["gamma"]
    shape: Positive
    rate: Positive
    pymc = "Gamma", {"alpha": "shape", "beta": "rate"}

    def draw(self, rng: np.random.Generator, size: int) -> FloatArray:
        return rng.gamma(self.shape, 1 / self.rate, size)

    def log_density(self, x: FloatArray) -> FloatArray:
        return (self.shape - 1) * np.log(x) - self.rate * x


class InverseWishart(_Prior):
    """Covariance of K connections across protected words: inverse Wishart with K degrees of freedom, scale^2 I.

    Each standard deviation alone is ``scale`` over the absolute value of a standard normal variable. The unit is the
    standard deviation of a protected word's distances to the words of the vocabulary.
    """

    distribution: Literal["inverse_wishart"]
    scale: Positive


class Pooled(_Prior):
    """A scale for each class around a common one: its log is N(log of the common scale, spread^2)."""

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
    terms = {}
    for name, prior in priors.items():
        value = values[name]
        if isinstance(prior, Pooled):  # the density of its log around that of the common scale
            log = -0.5 * ((np.log(value) - np.log(values[common_of(name)])[:, :, None]) / prior.spread) ** 2
        else:
            log = prior.log_density(value)
        terms[name] = log.reshape(*log.shape[:2], -1).sum(axis=2)
    return terms


class Likelihood(Document):
    """Residuals, with one scale (``shared``), one for each connection, or a covariance estimated from the vectors."""

    family: Literal["normal"]
    sigma: Literal["connection", "shared", "vectors"]


class Terms(Document):
    """Terms of the mean beyond one for each protected word and connection.

    ``connection_sd``: the standard deviation of protected words in each connection stands alone (``separate``), or
    around a common one (``pooled``). ``attribute_sd``: an effect of each attribute word, with one scale for all
    (``shared``), one for each attribute class (``separate``), or one for each class around a common one (``pooled``).
    ``word_x_group``: an effect of each attribute word on each group of protected words. ``protected_words``: whether
    the means of protected words are ``normal`` around those of their connection or ``student_t``, with heavier tails.
    """

    connection_sd: Literal["separate", "pooled"] = "separate"
    attribute_sd: Literal["none", "shared", "pooled", "separate"] = "none"
    word_x_group: bool = False
    protected_words: Literal["normal", "student_t"] = "normal"


class _Head(Document):
    name: str
    description: str = ""
    source: str = ""
    doi: str | None = None
    likelihood: Likelihood
    terms: Terms = Terms()
    priors: dict[str, Any]


def _priors_needed(likelihood: Likelihood, terms: Terms) -> dict[str, Any]:
    """Name to kind of prior, for each parameter that a model with these parts has."""
    if likelihood.sigma == "vectors":
        return {"sd_factor": LogNormal, "connection_covariance": InverseWishart}
    needed: dict[str, Any] = {"connection_mean": Normal}
    for name in ("connection_sd", "attribute_sd"):
        if (term := getattr(terms, name)) == "pooled":
            needed |= {common_of(name): Scale, name: Pooled}
        elif term != "none":
            needed[name] = Scale
    needed["sigma"] = Scale
    if terms.word_x_group:
        needed["interaction_sd"] = Scale
    if terms.protected_words == "student_t":
        needed["word_nu"] = Gamma
    return needed


@dataclass(frozen=True)
class ModelSpec:
    """A model read from its file.

    Attributes
    ----------
    name, description, source, doi
        What it is and where it comes from.
    likelihood, terms
        The parts of the model.
    priors
        Parameter name to its prior.
    text
        The file, as read.
    own
        True for a model that is not of the package, which is known by its draws alone.
    """

    name: str
    description: str
    source: str
    doi: str | None
    likelihood: Likelihood
    terms: Terms
    priors: Mapping[str, Any]  # a Prior each
    text: str
    own: bool = False

    @property
    def hash(self) -> str:
        """SHA-256 of the file's text."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def attribute_words(self) -> str:
        """The assumption on attribute words, by which a model is of a family."""
        if self.own or self.related:
            return "own" if self.own else "related"
        return "modelled" if self.crossed else "independent"

    @property
    def crossed(self) -> bool:
        """True where attribute words have effects of their own, so that distances which share one are correlated."""
        return self.terms.attribute_sd != "none"

    @property
    def related(self) -> bool:
        """True where the covariance of distances is estimated from the vectors."""
        return self.likelihood.sigma == "vectors"


def load_model(name_or_path: str | Path | ModelSpec) -> ModelSpec:
    """A model by its bundled name or from a TOML file.

    Parameters
    ----------
    name_or_path
        A name that ``bundled("models")`` shows, or a path. ``fit(priors=...)`` changes priors without a file. A loaded
        model is returned as it is.

    Examples
    --------
    >>> model = bb.load_model("crossed")
    >>> model.terms.attribute_sd
    'pooled'
    >>> model.priors["sigma"].rate
    2.0
    """
    if isinstance(name_or_path, ModelSpec):
        return name_or_path
    bundled = bundled_models()
    path = bundled.get(str(name_or_path), home_folder(name_or_path))
    if not path.is_file():
        raise InputError(
            f"there is no model {str(name_or_path)!r}: give the path of a TOML file or one of {', '.join(bundled)}"
        )
    return model_of_text(read_text(path), str(path))


def own_model(name: str, source: str) -> ModelSpec:
    """A model of one's own, whose likelihood and priors are not known here, with the source that its fit carries."""
    known_parts = Likelihood(family="normal", sigma="connection")
    return ModelSpec(name, "a model of one's own", "", None, known_parts, Terms(), {}, source, own=True)


def model_of_text(text: str, where: str) -> ModelSpec:
    """A model from the text of its file; ``where`` names it in errors."""
    spec = _parsed(text, where)
    return replace(spec, priors=dict(spec.priors))  # what a caller does with its priors is no other caller's


def with_priors(spec: ModelSpec, priors: Mapping[str, Mapping[str, Any]]) -> ModelSpec:
    """A model with other priors, written into its text: what the model file gives for each parameter.

    Without ``distribution`` a prior keeps its own, and fields that are not given stay.
    """
    content = tomllib.loads(spec.text)
    for name, prior in priors.items():
        known = content["priors"].get(name)
        if known is None:
            valid = ", ".join(content["priors"])
            raise InputError(f"priors: the model {spec.name!r} has no prior of {name!r}: valid are {valid}")
        content["priors"][name] = {**({} if "distribution" in prior else known), **prior}
    # first the keys of the file, then its sections, in the order of the file: the text has a hash
    lines = [f"{key} = {_value(value)}" for key, value in content.items() if not isinstance(value, Mapping)]
    for section, entries in content.items():
        if isinstance(entries, Mapping):
            lines.append(f"\n[{section}]")
            lines += [f"{key} = {_value(value)}" for key, value in entries.items()]
    return model_of_text("\n".join(lines) + "\n", "priors")


def _value(value: Any) -> str:
    """A value as TOML."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{to_json(str(key))} = {_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, str | bool | int):  # these are written the same way in JSON and in TOML
        return to_json(value)
    return repr(float(value))


@lru_cache(maxsize=64)
def _parsed(text: str, where: str) -> ModelSpec:
    """A fit asks for its own model again and again, and reading takes longer than some questions."""
    content = parse_toml(text, where)
    head = check(_Head, content, where)
    if head.terms.word_x_group and head.terms.attribute_sd == "none":
        raise InputError(f"{where}: word_x_group needs an attribute_sd: shared, pooled or separate")
    if head.likelihood.sigma == "vectors" and head.terms != Terms():
        raise InputError(f"{where}: sigma = 'vectors' has no effects of attribute words")
    fields: dict[str, Any] = {name: (kind, ...) for name, kind in _priors_needed(head.likelihood, head.terms).items()}
    priors_kind = create_model("Priors", __base__=Document, **fields)
    priors = check(create_model("Model", __base__=_Head, priors=(priors_kind, ...)), content, where).priors
    facts = {name: getattr(head, name) for name in ("name", "description", "source", "doi", "likelihood", "terms")}
    return ModelSpec(**facts, priors={name: getattr(priors, name) for name in fields}, text=text)


def bundled_models() -> dict[str, Path]:
    """Name to path of the models of the package."""
    return {path.stem: path for path in sorted(shipped("models").glob("*.toml"))}
