"""A model is a TOML file: likelihood, terms, priors. Read here into a frozen specification."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any, Literal

from pydantic import create_model

from bayesbias._files import Document, check, home_folder, read_toml, shipped
from bayesbias.errors import InputError
from bayesbias.models.priors import Gamma, InverseWishart, LogNormal, Normal, Pooled, Prior, Scale, common_of


class Likelihood(Document):
    """Residuals, with one scale (``shared``), one for each connection, or a covariance read off the vectors."""

    family: Literal["normal", "student_t"]
    sigma: Literal["connection", "shared", "vectors"]


class Terms(Document):
    """Which terms the mean has beyond one for each protected word and connection.

    ``connection_sd``: the standard deviation of protected words in each connection stands alone (``separate``), or
    around a common one (``pooled``). ``attribute_sd``: an effect of each attribute word, with one scale for all
    (``shared``), one for each attribute class (``separate``), or one for each class around a common one (``pooled``).
    ``word_x_group``: an effect of each attribute word on each group of protected words. ``protected_words``: whether
    the means of protected words are ``normal`` around those of their connection or ``student_t``, with heavier tails.
    """

    intercept: bool = False
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
    if terms.intercept:
        needed: dict[str, Any] = {"m": Normal, "offset_mean": Normal, "offset_sd": Scale}
    else:
        needed = {"connection_mean": Normal}
        needed |= _scales_needed("connection_sd", terms.connection_sd)
    needed["sigma"] = Scale
    if terms.attribute_sd != "none":
        needed |= _scales_needed("attribute_sd", terms.attribute_sd)
    if terms.word_x_group:
        needed["interaction_sd"] = Scale
    if likelihood.family == "student_t":
        needed["nu"] = Gamma
    if terms.protected_words == "student_t":
        needed["word_nu"] = Gamma
    return needed


def _scales_needed(name: str, term: str) -> dict[str, Any]:
    return {common_of(name): Scale, name: Pooled} if term == "pooled" else {name: Scale}


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
    """

    name: str
    description: str
    source: str
    doi: str | None
    likelihood: Likelihood
    terms: Terms
    priors: Mapping[str, Prior]
    text: str

    @property
    def hash(self) -> str:
        """SHA-256 of the file's text."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def crossed(self) -> bool:
        """Whether attribute words have effects of their own, so that distances which share one are correlated."""
        return self.terms.attribute_sd != "none"

    @property
    def related(self) -> bool:
        """Whether the covariance of distances is read off the vectors."""
        return self.likelihood.sigma == "vectors"


def load_model(name_or_path: str | Path | ModelSpec) -> ModelSpec:
    """A model by its bundled name or from a TOML file.

    Parameters
    ----------
    name_or_path
        A name that :func:`list_models` shows, or a path. ``fit(priors=...)`` changes priors without a file. A loaded
        model is returned as it is.

    Raises
    ------
    InputError
        No such model; an unknown key, term, distribution or prior; a prior that is missing or not positive.

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
    if not isinstance(name_or_path, str | Path):
        raise InputError(f"a model is given by its name or path, not as {type(name_or_path).__name__}")
    bundled = bundled_models()
    path = bundled.get(str(name_or_path), home_folder(name_or_path))
    if not path.is_file():
        raise InputError(
            f"there is no model {str(name_or_path)!r}: give the path of a TOML file or one of {', '.join(bundled)}"
        )
    return _parsed(read_toml(path), path.read_text(encoding="utf-8"), str(path))


def model_of_text(text: str, where: str) -> ModelSpec:
    """A model from the text of its file; ``where`` names it in errors.

    Raises
    ------
    InputError
        The text is no model, as in :func:`load_model`.
    """
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{where} is not TOML: {error}") from error
    return _parsed(content, text, where)


def with_priors(spec: ModelSpec, priors: Mapping[str, Mapping[str, Any]]) -> ModelSpec:
    """A model with other priors, written into its text.

    Parameters
    ----------
    spec
        The model.
    priors
        Parameter name to what the model file gives for it, such as ``{"sigma": {"distribution": "half_normal",
        "sd": 0.2}}``. Without ``distribution`` the prior keeps its own, and fields that are not given stay.

    Raises
    ------
    InputError
        A parameter that has no prior in this model; fields that no prior has, are missing or not positive.
    """
    if not isinstance(priors, Mapping) or not priors:
        raise InputError(
            "priors is a mapping of parameters to priors, such as {'sigma': {'distribution': 'exponential', 'rate': 5}}"
        )
    content = tomllib.loads(spec.text)
    for name, given in priors.items():
        if name not in content["priors"]:
            valid = ", ".join(content["priors"])
            raise InputError(f"priors: the model {spec.name!r} has no prior of {name!r}: valid are {valid}")
        if not isinstance(given, Mapping):
            raise InputError(
                f"priors: that of {name!r} is {given!r}: give a mapping, such as {content['priors'][name]}"
            )
        known = {} if "distribution" in given else content["priors"][name]
        content["priors"][name] = {**known, **given}
    text = _written(content)
    return _parsed(tomllib.loads(text), text, "priors")


def _written(content: Mapping[str, Any]) -> str:
    """The content of a model file as TOML: first its own keys, then its sections, in the order of the file."""
    lines = [f"{key} = {_value(value, key)}" for key, value in content.items() if not isinstance(value, Mapping)]
    for section, held in content.items():
        if isinstance(held, Mapping):
            lines.append(f"\n[{section}]")
            lines += [f"{key} = {_value(value, key)}" for key, value in held.items()]
    return "\n".join(lines) + "\n"


def _value(value: Any, name: str) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(str(key))} = {_value(one, name)}" for key, one in value.items()) + " }"
    if isinstance(value, str | bool | int):  # these are written alike in JSON and in TOML
        return json.dumps(value, ensure_ascii=False)
    if not isinstance(value, Real):
        raise InputError(f"priors: {name} holds {value!r}: give numbers")
    return repr(float(value))


def _parsed(content: dict[str, Any], text: str, where: str) -> ModelSpec:
    head = check(_Head, content, where)
    if head.terms.word_x_group and head.terms.attribute_sd == "none":
        raise InputError(f"{where}: word_x_group needs an attribute_sd: shared, pooled or separate")
    if head.terms.intercept and head.terms.connection_sd == "pooled":
        raise InputError(f"{where}: connection_sd = 'pooled' goes with intercept = false")
    _check_vectors(head, where)
    fields: dict[str, Any] = {name: (kind, ...) for name, kind in _priors_needed(head.likelihood, head.terms).items()}
    priors_kind = create_model("Priors", __base__=Document, **fields)
    priors = check(create_model("Model", __base__=_Head, priors=(priors_kind, ...)), content, where).priors
    return ModelSpec(
        name=head.name,
        description=head.description,
        source=head.source,
        doi=head.doi,
        likelihood=head.likelihood,
        terms=head.terms,
        priors={name: getattr(priors, name) for name in fields},
        text=text,
    )


def _check_vectors(head: _Head, where: str) -> None:
    """A covariance from the vectors goes with normal residuals, and without other terms."""
    related = head.likelihood.sigma == "vectors"
    if related and (head.likelihood.family != "normal" or head.terms != Terms()):
        raise InputError(
            f"{where}: with sigma = 'vectors' residuals are normal, without an intercept or effects of attribute words"
        )


def bundled_models() -> dict[str, Path]:
    """Name to path of the models of the package."""
    return {path.stem: path for path in sorted(shipped("models").glob("*.toml"))}
