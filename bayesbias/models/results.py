"""A fit as an ``xarray.DataTree`` with ArviZ's groups, and on disk."""

from __future__ import annotations

import io
import json
import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._files import check_suffix, home_folder, whole_file
from bayesbias.distances.storage import KEY, packed, relatedness_group, relatedness_in_fit
from bayesbias.errors import InputError
from bayesbias.models.data import ATTRIBUTE_CLASSES, CLASS_OF_CONNECTION, Draws, ModelData, dims_of
from bayesbias.models.priors import Prior
from bayesbias.models.spec import ModelSpec, model_of_text

LIBRARIES = ("bayesbias", "numpy", "scipy", "pandas", "xarray", "arviz")
EFFECTS = ("attribute_effect", "interaction_effect")
"""What single attribute words have. Our own engines draw these exactly, given the scales and means."""
SAMPLERS = {"nuts": ("pymc", "nutpie")}


def assemble(
    spec: ModelSpec, data: ModelData, drawn: Draws, engine: str, seed: int, coverage: dict[str, Any] | None
) -> xr.DataTree:
    """The posterior, the data and the facts of the fit as one tree.

    Groups: ``posterior``; ``observed_data`` (``distance`` by ``pair``); ``constant_data`` (sufficient statistics of
    the cells, group of each protected word, class of each attribute word, cell and attribute word of each pair);
    ``sample_stats`` where the sampler gives any; ``relatedness`` where the table carries it.
    """
    labels = {
        "protected_word": data.protected_words,
        "connection": data.connections,
        "attribute_word": data.attribute_words,
    }
    every = labels | {"attribute_class": data.attribute_classes, "group": data.group_names}
    every |= {"other_connection": data.connections}
    if spec.related:
        every["attribute_class"] = data.connection_classes
    chains, draws = drawn.posterior["connection_mean"].shape[:2]
    steps = {"chain": np.arange(chains), "draw": np.arange(draws)}
    dims = {name: dims_of(name, values) for name, values in drawn.posterior.items()}
    used = {dim for names in dims.values() for dim in names}
    posterior = xr.Dataset(
        {name: (("chain", "draw", *dims[name]), values) for name, values in drawn.posterior.items()},
        coords=steps | {dim: names for dim, names in every.items() if dim in used},
    )
    cell = ("protected_word", "connection")
    classes = np.array(data.attribute_classes)
    constant = xr.Dataset(
        {
            "n": (cell, data.cells.n),
            "mean": (cell, data.cells.mean),
            "ssd": (cell, data.cells.ssd),
            "group": ("protected_word", data.groups),
            "class": ("attribute_word", classes[data.class_index]),
            "word_index": ("pair", data.word),
            "connection_index": ("pair", data.connection),
            "attribute_index": ("pair", data.attribute),
            "attribute_class": ("pair", data.attribute_class),
        },
        coords=labels | {"pair": np.arange(len(data.y))},
    )
    groups = {
        "/posterior": posterior,
        "/observed_data": xr.Dataset({"distance": ("pair", data.y)}, coords={"pair": np.arange(len(data.y))}),
        "/constant_data": constant,
    }
    if drawn.sample_stats:
        stats = {name: (("chain", "draw")[: np.ndim(value)], value) for name, value in drawn.sample_stats.items()}
        groups["/sample_stats"] = xr.Dataset(stats, coords=steps)
    if data.relatedness is not None:
        groups[f"/{KEY}"] = relatedness_group(data.relatedness)
    tree = xr.DataTree.from_dict(groups)
    tree.attrs = {
        "model": spec.name,
        "model_text": spec.text,
        "model_hash": spec.hash,
        "engine": engine,
        "seed": seed,
        "attribute_words": "related" if spec.related else "modelled" if spec.crossed else "independent",
        "notes": json.dumps([*data.notes, *drawn.notes], ensure_ascii=False),
        "versions": json.dumps(versions_of(engine)),
        "coverage": json.dumps(coverage, ensure_ascii=False),
        **drawn.attrs,
    }
    return tree


def pair_places(post: xr.DataTree) -> dict[str, np.ndarray]:
    """Dimension of the posterior to the place (pair) of each distance on it."""
    constant = post["constant_data"]
    word, attribute = constant["word_index"].to_numpy(), constant["attribute_index"].to_numpy()
    places = {
        "protected_word": word,
        "connection": constant["connection_index"].to_numpy(),
        "other_connection": constant["connection_index"].to_numpy(),
        "attribute_word": attribute,
    }
    labels = {"group": constant["group"].to_numpy()[word], "attribute_class": constant["class"].to_numpy()[attribute]}
    for dim in labels.keys() & set(map(str, post["posterior"].dims)):
        places[dim] = pd.Index(post["posterior"][dim].to_numpy()).get_indexer(labels[dim])
    return places


def by_connection(post: xr.DataTree, name: str) -> np.ndarray:
    """A posterior variable of attribute classes as (chain, draw, connection)."""
    posterior = post["posterior"]
    present = [str(label) for label in posterior["attribute_class"].to_numpy()]
    names = [str(label) for label in posterior["connection"].to_numpy()]
    at = [present.index(ATTRIBUTE_CLASSES[CLASS_OF_CONNECTION[label]]) for label in names]
    values: np.ndarray = posterior[name].to_numpy()[:, :, at]
    return values


def table_of(data: pd.DataFrame | xr.DataTree) -> pd.DataFrame:
    """The distance table that was given, or that behind the fit that was given."""
    if isinstance(data, xr.DataTree):
        check_fit(data)
        return distances_of(data)
    return data


def distances_of(post: xr.DataTree) -> pd.DataFrame:
    """The distance table behind a fit, with its coverage in ``attrs``."""
    constant = post["constant_data"]
    word, connection = constant["word_index"].to_numpy(), constant["connection_index"].to_numpy()
    table = pd.DataFrame(
        {
            "protected_word": constant["protected_word"].to_numpy()[word],
            "group": constant["group"].to_numpy()[word],
            "attribute_word": constant["attribute_word"].to_numpy()[constant["attribute_index"].to_numpy()],
            "attribute_class": constant["attribute_class"].to_numpy(),
            "connection": constant["connection"].to_numpy()[connection],
            "distance": post["observed_data/distance"].to_numpy(),
        }
    )
    coverage = json.loads(post.attrs["coverage"])
    if coverage is not None:
        table.attrs["coverage"] = coverage
    if "adjust" in post.attrs:
        table.attrs["adjusted"] = post.attrs["adjust"]
    if (related := relatedness_in_fit(post)) is not None:
        table.attrs[KEY] = packed(related)
    return table


def save_fit(post: xr.DataTree, path: str | Path) -> None:
    """Write a fit as NetCDF, compressed, whole or not at all.

    Draws of the effects of single attribute words, which are most of a fit, are written in single precision (a
    relative error of 6e-8); all else as it is.

    Parameters
    ----------
    post
        A result of :func:`fit`, or the ``posterior`` of a :class:`Comparison`.
    path
        A file that ends in ``.nc``. (``post.to_zarr`` writes Zarr.)

    Raises
    ------
    InputError
        Another suffix.
    OSError
        The folder cannot be written or the disk is full; nothing half-written is left.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, seed=0)
    >>> bb.save_fit(post, "fit.nc")
    """
    file = check_suffix(path, (".nc",), "a fit is saved as NetCDF and")
    if not isinstance(post, xr.DataTree):
        raise InputError(f"given is {type(post).__name__}: give the DataTree that fit returns, or result.posterior")
    # HDF5 cannot recover from a full disk: the file is made in memory and written in one go
    content = io.BytesIO()
    post.to_netcdf(content, engine="h5netcdf", encoding=_storage(post))
    with whole_file(file) as temporary:
        temporary.write_bytes(content.getvalue())


def _storage(post: xr.DataTree) -> dict[str, dict[str, dict[str, Any]]]:
    """Group to variable to how it is stored: compressed, the many effects of single words in single precision."""
    how = {"zlib": True, "complevel": 1, "shuffle": True}
    return {
        node.path: {
            str(name): how | ({"dtype": "float32"} if name in EFFECTS else {})
            for name, values in node.data_vars.items()
            if values.ndim and values.dtype.kind in "fi"
        }
        for node in post.subtree
    }


def load_fit(path: str | Path) -> xr.DataTree:
    """Read a fit that :func:`save_fit` or ``post.to_netcdf`` wrote.

    Raises
    ------
    InputError
        No such file, or one that holds no fit.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, seed=0)
    >>> bb.save_fit(post, "fit.nc")
    >>> bb.load_fit("fit.nc").attrs["model"]
    'related'
    """
    file = home_folder(path)
    if not file.is_file():
        raise InputError(f"there is no file {file}")
    try:
        with xr.open_datatree(file, engine="h5netcdf") as opened:
            tree = opened.load()
        posterior = tree.children.get("posterior", xr.DataTree())
        for name in EFFECTS:
            if name in posterior.data_vars:
                posterior[name] = posterior[name].astype(float)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{file} cannot be read as NetCDF: {error}") from error
    if "paired" not in tree.children:  # what compare returns is kept on disk too
        check_fit(tree, str(file))
    return tree


def check_fit(post: xr.DataTree, where: str = "what was given") -> None:
    """Refuse what is not a result of ``fit``.

    Raises
    ------
    InputError
        A group or variable of a fit is missing.
    """
    if not isinstance(post, xr.DataTree):
        raise InputError(f"{where} is a {type(post).__name__}: give the DataTree that fit returns")
    if "paired" in post.children:
        raise InputError(
            f"{where} is the posterior of a comparison, not a fit: use the methods of bb.checks.Comparison(tree)"
        )
    for group, variable in (("posterior", "word_mean"), ("observed_data", "distance"), ("constant_data", "n")):
        if group not in post.children or variable not in post[group].data_vars:
            raise InputError(f"{where} holds no {group}/{variable}: give the DataTree that fit returns")
    missing = {"seed", "coverage", "model", "versions"} - set(post.attrs)
    if missing or int(post["constant_data/n"].sum()) != post["observed_data"].sizes["pair"]:
        raise InputError(f"{where} is only a part of a fit: give the whole tree that fit returns")


@cache
def versions_of(engine: str) -> dict[str, str]:
    """Versions of Python and of the libraries that an engine rests on."""
    found = {name: version(name) for name in (*LIBRARIES, *SAMPLERS.get(engine, ()))}
    return {"python": platform.python_version(), **found}


def model_of(post: xr.DataTree) -> ModelSpec:
    """The model of a fit, read from the text that the fit carries.

    Raises
    ------
    InputError
        The text is missing or is no model.
    """
    text = post.attrs.get("model_text")
    if not isinstance(text, str):
        raise InputError("the fit does not carry the text of its model: fit the distances again")
    return model_of_text(text, "the model text of the fit")


def priors_used(post: xr.DataTree, spec: ModelSpec) -> dict[str, Prior]:
    """The priors that the fit made use of: word x group is left out of a table with one group."""
    absent = {"interaction_sd"} - set(post["posterior"].data_vars)
    return {name: prior for name, prior in spec.priors.items() if name not in absent}
