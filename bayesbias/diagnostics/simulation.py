"""Distance tables simulated from a model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesbias._checks import whole_number
from bayesbias._core.vectors import FloatArray
from bayesbias.distances.storage import KEY
from bayesbias.errors import InputError, shown
from bayesbias.models.data import DIMS, ModelData, model_data
from bayesbias.models.fits import related_data
from bayesbias.models.priors import Pooled, common_of
from bayesbias.models.related import draw_errors, priors_of
from bayesbias.models.spec import ModelSpec, load_model

Shape = pd.DataFrame | Mapping[str, Any]
Truth = dict[str, FloatArray]


def simulate(
    table_or_shape: Shape,
    model: str | Path | ModelSpec = "crossed",
    truth: Mapping[str, Any] | None = None,
    seed: int | None = None,
) -> pd.DataFrame:
    """A distance table of a given shape, simulated from a model.

    Parameters
    ----------
    table_or_shape
        A distance table whose rows are kept and whose distances are replaced, or a mapping with ``groups`` (name to
        number of protected words), ``stereotypes`` (name of a group to number of attribute words) and numbers of
        ``human`` and ``neutral`` words; each protected word then meets each attribute word.
    model
        A name that :func:`list_models` shows, a path or a loaded model, without a common intercept.
    truth
        Parameter to a number, a mapping by label or an array: ``connection_mean``, ``connection_sd``, ``sigma`` and,
        for crossed models, ``attribute_sd`` and ``interaction_sd`` (and ``nu`` for robust); ``sd_factor`` for related
        words, whose table carries relatedness and whose ``word_mean`` is that of the table unless it is given.
        Elsewhere ``word_mean``, ``attribute_effect`` and ``interaction_effect`` are drawn unless they are given. None
        draws every parameter that has a prior.
    seed
        Seed of the draws; None takes a fresh one.

    Returns
    -------
    DataFrame
        A distance table; ``attrs["truth"]`` holds the parameters as arrays. Distances are not confined to [0, 2].

    Raises
    ------
    InputError
        A parameter is missing, unknown or of the wrong size, or the shape is none.
    """
    spec = known_model(model)
    shape = table_of_shape(table_or_shape)
    data = related_data(shape, check=False) if spec.related else model_data(shape)
    rng = np.random.default_rng(None if seed is None else whole_number(seed, "seed", least=0))
    drawn = draw_truth(spec, data, rng) if truth is None else complete_truth(spec, data, truth, rng)
    table = shape.assign(distance=draw_distances(spec, drawn, data, rng))
    table.attrs = {"truth": drawn, **({KEY: shape.attrs[KEY]} if spec.related else {})}
    return table


def known_model(model: str | Path | ModelSpec) -> ModelSpec:
    """A model that can be simulated from."""
    spec = load_model(model)
    if spec.terms.intercept:
        raise InputError(f"the model {spec.name!r} has an intercept: simulation covers models without one")
    return spec


def table_of_shape(shape: Shape) -> pd.DataFrame:
    """A distance table as it is, or one made of a mapping's numbers, every distance 1."""
    if isinstance(shape, pd.DataFrame):
        return shape
    known = ("groups", "stereotypes", "human", "neutral")
    if not isinstance(shape, Mapping) or not shape.get("groups") or set(shape) - set(known):
        raise InputError(f"a shape is a distance table or a mapping with {', '.join(known)}; given is {shape!r}")
    for part in ("groups", "stereotypes"):
        if not isinstance(shape.get(part, {}), Mapping):
            raise InputError(f"{part} of the shape is {shape[part]!r}: give a mapping of groups to numbers of words")
    lists = [(name, size) for name, size in shape.get("stereotypes", {}).items()]
    lists += [(name, shape[name]) for name in ("human", "neutral") if shape.get(name)]
    if not lists:
        raise InputError("the shape has no attribute words: give numbers of stereotypes, human or neutral words")
    rows = [
        (f"{group} {word}", group, f"{name} word {at}", name, _connection(group, name), 1.0)
        for group, words in shape["groups"].items()
        for word in range(whole_number(words, f"groups, {group}"))
        for name, size in lists
        for at in range(whole_number(size, str(name)))
    ]
    columns = ["protected_word", "group", "attribute_word", "attribute_class", "connection", "distance"]
    return pd.DataFrame(rows, columns=columns)


def _connection(group: str, name: str) -> str:
    if name in ("human", "neutral"):
        return name
    return "associated" if name == group else "different"


def shaped_table(sizes: Mapping[str, int], words: int = 6) -> pd.DataFrame:
    """A ragged table, every distance 1: ``sizes`` of each connection, one fewer for every other protected word."""
    rows = [
        (f"p{word}", "gh"[word // 2 % 2], f"{connection}{at}", "c", connection, 1.0)
        for word in range(words)
        for connection, size in sizes.items()
        for at in range(size if word % 2 else max(1, size - 1))
    ]
    names = ["protected_word", "group", "attribute_word", "attribute_class", "connection", "distance"]
    return pd.DataFrame(rows, columns=names)


def draw_truth(spec: ModelSpec, data: ModelData, rng: np.random.Generator) -> Truth:
    """Parameters from the prior, scales without truncation: arrays of the posterior's shapes, without draws."""
    if spec.related:
        factors = priors_of(spec).factor.draw(rng, len(data.connection_classes))
        return {"sd_factor": factors, "word_mean": observed_means(data)}
    scales = {}
    for name, size in _sizes(spec, data).items():
        prior = spec.priors[name]
        if isinstance(prior, Pooled):
            common = spec.priors[common_of(name)].draw(rng, 1)
            scales[common_of(name)] = common[0]
            scales[name] = common * np.exp(prior.spread * rng.standard_normal(size))
        else:
            drawn = prior.draw(rng, max(size, 1))
            scales[name] = drawn if size else drawn[0]
    return _with_effects(spec, data, scales, rng)


def complete_truth(spec: ModelSpec, data: ModelData, truth: Mapping[str, Any], rng: np.random.Generator) -> Truth:
    """Given parameters as arrays, with what is not given of the effects drawn."""
    if not isinstance(truth, Mapping):
        raise InputError(f"truth is {shown(truth)}: give a mapping of parameters to numbers")
    if spec.related:
        return _given_related(truth, data)
    sizes = _sizes(spec, data)
    effects = ("word_mean", "attribute_effect", "interaction_effect")
    unknown = sorted(set(truth) - set(sizes) - set(effects))
    missing = sorted(set(sizes) - set(truth))
    if unknown or missing:
        fault = f"does not know {', '.join(unknown)}" if unknown else f"lacks {', '.join(missing)}"
        raise InputError(f"the truth {fault}: the model {spec.name!r} has {', '.join(sizes)}")
    values = {name: _array(name, truth[name], size, data) for name, size in sizes.items()}
    drawn = _with_effects(spec, data, values, rng)
    for name in set(truth) & set(effects):
        given = np.asarray(truth[name], dtype=float)
        needed = drawn[name].shape if name in drawn else ()
        if given.shape != needed:
            raise InputError(f"the truth's {name} has the shape {given.shape}, needed is {needed}")
        drawn[name] = given
    return drawn


def observed_means(data: ModelData) -> FloatArray:
    """Mean distance of each cell, NaN where there is none."""
    return np.where(data.filled, data.cells.mean, np.nan)


def _given_related(truth: Mapping[str, Any], data: ModelData) -> Truth:
    """Given parameters of the model of related words; ``word_mean`` follows ``connection_mean`` where that is given."""
    if not {"sd_factor"} <= set(truth) <= {"sd_factor", "word_mean", "connection_mean"}:
        raise InputError(
            f"the truth has {', '.join(truth) or 'nothing'}: the model 'related' takes sd_factor, and word_mean or "
            "connection_mean"
        )
    values: Truth = {"sd_factor": _array("sd_factor", truth["sd_factor"], len(data.connection_classes), data)}
    if "word_mean" in truth:
        values["word_mean"] = np.asarray(truth["word_mean"], dtype=float)
        if values["word_mean"].shape != data.filled.shape:
            raise InputError(
                f"the truth's word_mean has the shape {values['word_mean'].shape}, needed is {data.filled.shape}"
            )
    elif "connection_mean" in truth:
        mean = _array("connection_mean", truth["connection_mean"], len(data.connections), data)
        values["word_mean"] = np.where(data.filled, mean, np.nan)
    else:
        values["word_mean"] = observed_means(data)
    return values


def draw_distances(spec: ModelSpec, truth: Truth, data: ModelData, rng: np.random.Generator) -> FloatArray:
    """A distance for each row of ``data`` given the parameters; not confined to [0, 2]."""
    mean = truth["word_mean"][data.word, data.connection]
    if "sd_factor" in truth:
        related: FloatArray = mean + draw_errors(data, truth["sd_factor"][None], rng)[0]
        return related
    if "attribute_effect" in truth:
        mean = mean + truth["attribute_effect"][data.attribute]
    if "interaction_effect" in truth:
        mean = mean + truth["interaction_effect"][data.attribute, data.group_index[data.word]]
    sigma = truth["sigma"][data.connection] if np.ndim(truth["sigma"]) else truth["sigma"]
    student = spec.likelihood.family == "student_t"
    noise = rng.standard_t(float(truth["nu"]), len(data.y)) if student else rng.standard_normal(len(data.y))
    value: FloatArray = mean + sigma * noise
    return value


def _sizes(spec: ModelSpec, data: ModelData) -> dict[str, int]:
    """Parameter above the effects to its number of values, 0 for a single number."""
    k = len(data.connections)
    sizes = {"connection_mean": k, "connection_sd": k, "sigma": k if spec.likelihood.sigma == "connection" else 0}
    if spec.crossed:
        sizes["attribute_sd"] = 0 if spec.terms.attribute_sd == "shared" else len(data.attribute_classes)
    if spec.terms.word_x_group:
        sizes["interaction_sd"] = 0
    if spec.likelihood.family == "student_t":
        sizes["nu"] = 0
    if spec.terms.protected_words == "student_t":
        sizes["word_nu"] = 0
    return sizes


def _array(name: str, given: Any, size: int, data: ModelData) -> FloatArray:
    if isinstance(given, Mapping):
        classes = data.connection_classes if name == "sd_factor" else data.attribute_classes
        labels = {"connection": data.connections.tolist(), "attribute_class": classes}
        valid = labels.get(DIMS.get(name, ("",))[0], [])
        if set(valid) - set(given):
            raise InputError(f"the truth's {name} names {', '.join(map(str, given))}; needed are {', '.join(valid)}")
        given = [given[label] for label in valid]
    try:
        values = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        values = np.full((0, 0), np.nan)
    if values.ndim and values.shape != (size,):
        raise InputError(f"the truth's {name} is {given!r}: give a number, {size or 1} of them, or a mapping by label")
    if not np.isfinite(values).all() or (name != "connection_mean" and (values < 0).any()):
        needed = "finite numbers" if name == "connection_mean" else "numbers of at least 0"
        raise InputError(f"the truth's {name} is {given!r}: give {needed}, in cosine distance")
    return np.broadcast_to(values, (size,) if size else ()).copy()


def _with_effects(spec: ModelSpec, data: ModelData, values: Truth, rng: np.random.Generator) -> Truth:
    shape = (len(data.protected_words), len(data.connections))
    heavy = spec.terms.protected_words == "student_t"
    cells = rng.standard_t(float(values["word_nu"]), shape) if heavy else rng.standard_normal(shape)
    word_mean = values["connection_mean"] + values["connection_sd"] * cells
    truth = {**values, "word_mean": np.where(data.filled, word_mean, np.nan)}
    words = len(data.attribute_words)
    if spec.crossed:
        scale = values["attribute_sd"]
        by_word = scale[data.class_index] if np.ndim(scale) else scale
        truth["attribute_effect"] = by_word * rng.standard_normal(words)
    if spec.terms.word_x_group:
        drawn = values["interaction_sd"] * rng.standard_normal((words, len(data.group_names)))
        truth["interaction_effect"] = np.where(data.compared, drawn, np.nan)
    return truth
