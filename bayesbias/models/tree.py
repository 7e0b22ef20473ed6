"""Draws of an engine, the tree of a fit, and its file."""

from __future__ import annotations

import io
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from bayesbias._support.files import check_target, file_at, from_json, read_as, to_json, whole_file
from bayesbias.distances.adjustment import Adjustment, slope_adjustment
from bayesbias.distances.covariances import KEY, relatedness_group, relatedness_in_fit
from bayesbias.distances.dataframe import coverage_from
from bayesbias.distances.distances import Distances, class_of_connection
from bayesbias.errors import InputError
from bayesbias.models.spec import ModelSpec, Prior, model_of_text, own_model
from bayesbias.numerics.arrays import FloatArray, IntArray
from bayesbias.results import Note, restored, stored

SCHEMA = 1  # version of the tree, its attribute schema_version
STEPS, CELL, PAIR = ("chain", "draw"), ("protected_word", "connection"), ("pair",)
DIMS: dict[str, tuple[str, ...]] = {
    "connection_mean": ("connection",),
    "connection_sd": ("connection",),
    "word_mean": CELL,
    "sigma": ("connection",),
    "connection_covariance": ("connection", "other_connection"),
    "attribute_effect": ("attribute_word",),
    "attribute_sd": ("attribute_class",),
    "sd_factor": ("attribute_class",),
    "interaction_effect": ("attribute_word", "word_group"),
}
"""Dimensions of the posterior variables beyond chain and draw; a scale that is shared has none."""
OWN = "own"  # the attribute attribute_words of a fit of a model of one's own
ADJUSTMENT = "adjustment"  # group of a fit of adjusted distances
UNADJUSTED = "unadjusted"  # the fit of the same distances as they were measured, beside it
PAIRED = "paired"  # group of a comparison, whose coverage is that of each embedding
TEMPLATES = "templates"  # group of a fit with templates
ATTRIBUTES = ("model", "model_text", "model_hash", "engine", "seed", "notes", "versions", "coverage")
INDICES = dict.fromkeys((f"constant_data/{name}_index" for name in ("word", "connection", "attribute")), PAIR)
COMPARED = INDICES | {"observed_data/distance": (*PAIR, "embedding"), "constant_data/n": CELL}
COMPARED |= {"paired/before_index": ("change",), "paired/after_index": ("change",)}
FITTED = INDICES | {"observed_data/distance": PAIR, "posterior/word_mean": (*STEPS, *CELL)}
FITTED |= dict.fromkeys((f"constant_data/{name}" for name in ("n", "mean", "ssd")), CELL)
"""Variables of every comparison, and of every fit, to their dimensions."""


def check_tree(tree: xr.DataTree, where: str) -> None:
    """Refuse a stored tree that lacks attributes or variables of a fit or comparison, or has other dimensions."""
    if (version_of_tree := tree.attrs.get("schema_version")) != SCHEMA:
        raise InputError(f"{where} is no fit of this version ({SCHEMA}): its schema_version is {version_of_tree}")
    faults = [name for name in ATTRIBUTES if name not in tree.attrs]
    needed, sizes = COMPARED if PAIRED in tree.children else FITTED, dict[Any, int]()
    for path, dims in needed.items():
        group, name = path.split("/")
        values = tree[group].data_vars.get(name) if group in tree.children else None
        if values is None or values.dims != dims or any(sizes.setdefault(d, n) != n for d, n in values.sizes.items()):
            faults.append(path)
    if faults:
        raise InputError(f"{where} is a damaged fit: {', '.join(faults)} not as fit writes them; make it anew")


@dataclass(frozen=True)
class Draws:
    """Draws of a posterior.

    Variables are arrays (chain, draw, ...) with the dimensions of :data:`DIMS`; what a table does not hold (a cell
    without a distance, an attribute word never compared with a group) is NaN.
    """

    posterior: Mapping[str, FloatArray]
    sample_stats: Mapping[str, FloatArray | float] = field(default_factory=dict)  # (chain, draw), or single numbers
    attrs: Mapping[str, Any] = field(default_factory=dict)  # facts about the fit as a whole
    notes: tuple[Note, ...] = ()  # on how the draws were made, where it was not the usual way


EFFECTS = ("attribute_effect", "interaction_effect")
"""Variables of single attribute words. The engines of the package draw these exactly, given the scales and means."""
MEANS = ("word_mean", *EFFECTS)  # variables whose sum is the mean of a row


def at_rows(name: str, values: FloatArray, places: Mapping[str, IntArray], leading: int = 2) -> FloatArray:
    """A variable at rows (..., rows), after its ``leading`` dimensions of draws; (..., 1) where all rows share it."""
    dims = DIMS[name][: np.ndim(values) - leading]
    index: tuple[Any, ...] = (..., *(places[dim] for dim in dims)) if dims else (..., None)
    result: FloatArray = np.asarray(values)[index]
    return result


def row_means(values: Mapping[str, FloatArray], places: Mapping[str, IntArray], leading: int = 2) -> FloatArray:
    """The mean of each row (..., rows): that of its cell, and the effects of its attribute word."""
    mean, *effects = (at_rows(name, values[name], places, leading) for name in MEANS if name in values)
    for effect in effects:
        mean += effect
    return mean


class DrawsOfWords:
    """The draws of single words, taken a block of words at a time; ``shift`` is added to those of cells."""

    def __init__(self, data: Distances, points: int, effects: tuple[str, ...] = (), shift: float = 0.0) -> None:
        words, groups = len(data.attribute_words), len(data.group_names)
        shapes = {"attribute_effect": (words,), "interaction_effect": (words, groups)}
        self.shift = shift
        self.values = {"word_mean": np.empty((points, len(data.protected_words), len(data.connections)))}
        self.values |= {name: np.empty((points, *shapes[name])) for name in effects}

    def cells(self, words: slice, drawn: FloatArray) -> None:
        """Take draws (words, K, B) of the cells of some protected words."""
        np.add(drawn.transpose(2, 0, 1), self.shift, out=self.values["word_mean"][:, words])

    def effects(self, words: IntArray, attribute: FloatArray, interaction: FloatArray | None) -> None:
        """Take draws (words, B) and (words, groups, B) of the effects of some attribute words."""
        self.values["attribute_effect"][:, words] = attribute.T
        if interaction is not None:
            self.values["interaction_effect"][:, words] = interaction.transpose(2, 0, 1)

    def into(self, drawn: Draws, chains: int) -> Draws:
        """The draws of a fit with those of the words."""
        own = {
            name: values.reshape(chains, len(values) // chains, *values.shape[1:])
            for name, values in self.values.items()
        }
        return replace(drawn, posterior={**drawn.posterior, **own})


LIBRARIES = ("bayesbias", "numpy", "scipy", "pandas", "xarray", "arviz")
EXACT = "exact"  # the engine that needs no sampler
INDEPENDENT = (EXACT, "marginal")  # engines whose draws are, but where NUTS took over
SAMPLERS = {"nuts": ("pymc", "nutpie")}
FURTHER = "connection_mean"  # variable of the means over further protected words


def made_by(spec: ModelSpec, engine: str, seed: int) -> dict[str, Any]:
    """Attributes of a posterior: its model, engine and seed."""
    model = {"model": spec.name, "model_text": spec.text, "model_hash": spec.hash}
    return {"schema_version": SCHEMA, **model, "engine": engine, "seed": seed}


def labels_of(data: Distances) -> dict[str, Any]:
    """Labels of the dimensions of words and connections."""
    return {name: getattr(data, f"{name}s") for name in ("protected_word", "connection", "attribute_word")}


def assemble(spec: ModelSpec, data: Distances, drawn: Draws, made: Mapping[str, Any]) -> xr.DataTree:
    """The posterior, the data and the facts of the fit as one tree; ``made`` says of what it is, and how it was drawn.

    Groups: ``posterior``; ``observed_data`` (``distance`` by ``pair``); ``constant_data`` (sufficient statistics of
    the cells, group of each protected word, class of each attribute word, cell and attribute word of each pair);
    ``sample_stats`` where the sampler gives any; ``relatedness`` where the table carries it.
    """
    labels = labels_of(data)
    every = labels | {"attribute_class": data.connection_classes if spec.related else data.attribute_classes}
    every |= {"word_group": data.group_names, "other_connection": data.connections}
    chains, draws = drawn.posterior["word_mean"].shape[:2]
    steps = {"chain": np.arange(chains), "draw": np.arange(draws)}
    dims = {name: DIMS.get(name, ())[: np.ndim(values) - 2] for name, values in drawn.posterior.items()}
    used = {dim for names in dims.values() for dim in names}
    posterior = xr.Dataset(
        {name: ((*STEPS, *dims[name]), values) for name, values in drawn.posterior.items()},
        coords=steps | {dim: names for dim, names in every.items() if dim in used},
    )
    constant: dict[str, Any] = {name: (CELL, getattr(data.cells, name)) for name in ("n", "mean", "ssd")}
    constant |= {f"{name}_index": (PAIR, getattr(data, name)) for name in ("word", "connection", "attribute")}
    constant |= {
        "group": (CELL[:1], data.groups),
        "class": (("attribute_word",), np.array(data.attribute_classes)[data.class_index]),
        "attribute_class": (PAIR, data.attribute_class),
    }
    pairs = {"pair": np.arange(len(data.y))}
    groups = {
        "/posterior": posterior,
        "/observed_data": xr.Dataset({"distance": (PAIR, data.y)}, coords=pairs),
        "/constant_data": xr.Dataset(constant, coords=labels | pairs),
    }
    if drawn.sample_stats:
        stats = {name: (STEPS[: np.ndim(value)], value) for name, value in drawn.sample_stats.items()}
        groups["/sample_stats"] = xr.Dataset(stats, coords=steps)
    if data.relatedness is not None:
        groups[f"/{KEY}"] = relatedness_group(data.relatedness)
    tree = xr.DataTree.from_dict(groups)
    tree.attrs = {
        **made,
        "notes": to_json(stored([*data.notes, *drawn.notes])),
        "versions": to_json(versions_of(made["engine"])),
        "coverage": to_json(None if data.coverage is None else data.coverage.as_dict()),
        **({"moved": data.moved} if data.moved else {}),
        **drawn.attrs,
    }
    return tree


@dataclass(frozen=True)
class Fit:
    """A result of ``fit``, read once."""

    tree: xr.DataTree

    @classmethod
    def read(cls, given: object) -> Fit:
        """A fit; what ``fit`` and ``load_fit`` checked is not checked again."""
        if isinstance(given, Fit):
            return given
        if not isinstance(given, xr.DataTree) or not {"posterior", "constant_data"} <= given.children.keys():
            raise InputError(f"what was given is a {type(given).__name__}, no fit: give the DataTree that fit returns")
        if PAIRED in given.children:
            raise InputError("what was given is a comparison, not a fit: use bayesbias.comparison.Comparison(tree)")
        return cls(given)

    @cached_property
    def data(self) -> Distances:
        """The distances that the fit was made with, and what their table carried."""
        constant = self.tree["constant_data"].to_dataset()
        names = ("protected_word", "connection", "group", "attribute_word", "attribute_class")
        protected, connections, groups, attributes, listed = (constant[name].to_numpy().astype(str) for name in names)
        word, connection, attribute = (
            constant[f"{name}_index"].to_numpy().astype(np.intp) for name in ("word", "connection", "attribute")
        )
        related, record, adjustment = relatedness_in_fit(self.tree), self.fact("coverage"), None
        if (group := self.adjustment) is not None:  # the error of an estimated slope: further fits need it too
            known, numbers = (group[name].to_numpy() for name in ("attribute_word", "value"))
            values = dict(zip(known.astype(str).tolist(), numbers.tolist(), strict=True))
            adjustment = slope_adjustment(values, str(group.attrs["facts"]), protected.tolist(), related)
        return Distances(
            protected_words=protected,
            connections=connections,
            groups=groups,
            word=word,
            connection=connection,
            attribute=attribute,
            attribute_words=attributes,
            attribute_class=listed,
            y=self.tree["observed_data/distance"].to_numpy(),
            relatedness=related,
            coverage=None if record is None or PAIRED in self.tree.children else coverage_from(record),
            moved=str(self.tree.attrs.get("moved", "")),
            adjustment=adjustment,
        )

    @cached_property
    def spec(self) -> ModelSpec:
        """The model, read from the text that the fit carries."""
        text = self.tree.attrs["model_text"]
        if self.tree.attrs.get("attribute_words") == OWN:  # which a comparison does not have
            return own_model(self.model, text)
        return model_of_text(text, "the attribute model_text")

    def fact(self, name: str) -> Any:
        """A record of the tree by name, such as ``notes``: attributes of trees are texts, JSON in them."""
        return from_json(self.tree.attrs[name])

    @property
    def model(self) -> str:
        """Name of the model."""
        return str(self.tree.attrs["model"])

    @property
    def engine(self) -> str:
        """Name of the engine."""
        return str(self.tree.attrs["engine"])

    @property
    def seed(self) -> int:
        """The seed of the draws."""
        return int(self.tree.attrs["seed"])

    @property
    def notes(self) -> list[Note]:
        """Notes on the lists, and on what was done for the model's sake."""
        return [*self.data.limits, *restored(self.fact("notes"))]

    @property
    def versions(self) -> dict[str, str]:
        """Versions of Python and of the libraries that the engine rests on."""
        return dict(self.fact("versions"))

    @property
    def adjusted_for(self) -> str:
        """The attribute of words that the distances were adjusted for, by the fit or before it; empty if none."""
        return str(self.tree.attrs.get("adjust") or self.data.adjusted)

    @property
    def measured(self) -> dict[str, str]:
        """Names for the captions of tables: ``word_list``, ``embedding``, ``adjusted``; empty where it is not known."""
        return self.data.measured | {"adjusted": self.adjusted_for}

    def origin(self, prob: float) -> dict[Any, Any]:
        """Facts that tables of the fit hold in their ``attrs``, as far as they are known."""
        names = {"words": self.measured.get("word_list"), "embedding": self.measured.get("embedding")}
        facts = names | {"model": self.model, "prob": prob, "version": self.versions.get("bayesbias")}
        return {name: fact for name, fact in facts.items() if fact}

    @property
    def labels(self) -> dict[str, str]:
        """Labels of control lists."""
        return self.data.labels

    @property
    def stats(self) -> dict[Any, Any]:
        """Statistics of what made the draws, by name; empty without any."""
        return dict(self.tree["sample_stats"].data_vars) if "sample_stats" in self.tree.children else {}

    @property
    def posterior(self) -> xr.Dataset:
        """The group ``posterior``."""
        return self.tree["posterior"].dataset

    @property
    def steps(self) -> tuple[int, int]:
        """Numbers of chains and of draws in each."""
        return self.posterior.sizes["chain"], self.posterior.sizes["draw"]

    @cached_property
    def model_alone(self) -> Fit:
        """The fit as its engine drew it: means without the errors of templates and of an estimated slope.

        Densities are of these means. The errors are independent of them, and were added afterwards.
        """
        posterior, adjustment = self.posterior, self.data.adjustment
        if TEMPLATES in self.tree.children:
            templates = self.tree[TEMPLATES].dataset
            shift = templates["word_shift"]
            # the deviations of words sum to 0, but for sentences of their own, which move no further words
            common = shift.mean("protected_word") * (1 - templates.attrs["nested"])
            means = {"word_mean": posterior["word_mean"] - shift, FURTHER: posterior[FURTHER] - common}
            posterior = posterior.assign(means)
        if adjustment is not None and adjustment.slope is not None:
            moved = adjustment.slope.value - posterior["slope"]
            posterior = with_slope_moved(posterior, self.data, adjustment, moved).drop_vars("slope")
        if posterior is self.posterior:
            return self
        beside = (TEMPLATES, ADJUSTMENT, UNADJUSTED)
        groups = {name: node for name, node in self.tree.children.items() if name not in beside}
        alone = xr.DataTree.from_dict(groups | {"posterior": xr.DataTree(posterior)})
        alone.attrs = self.tree.attrs
        return Fit(alone)

    @property
    def places(self) -> dict[str, IntArray]:
        """Dimension of the posterior to the place (pairs,) of each distance on it."""
        if "sd_factor" not in self.tree["posterior"]:
            return self.data.places
        return self.data.places | {"attribute_class": self.data.connection_class[self.data.connection]}

    @property
    def adjustment(self) -> xr.DataTree | None:
        """The group of a fit of adjusted distances."""
        return self.tree.children.get(ADJUSTMENT)

    @property
    def unadjusted(self) -> Fit | None:
        """The fit of the distances as they were measured, of a fit of adjusted ones."""
        return Fit(self.tree.children[UNADJUSTED]) if self.adjustment is not None else None

    def draws(self, name: str) -> FloatArray:
        """Draws (D, ...) of a posterior variable, chain after chain."""
        if name not in self.tree["posterior"]:
            raise InputError(
                f"the fit of the model {self.model!r} has no {name!r}"
                + (", without which nothing is known of further words: ask of the given ones" * (name == FURTHER))
            )
        values = self.tree["posterior"][name].to_numpy()
        return values.reshape(-1, *values.shape[2:])

    def by_connection(self, name: str) -> np.ndarray:
        """A posterior variable of attribute classes as (chain, draw, connection)."""
        present = [str(label) for label in self.posterior["attribute_class"].to_numpy()]
        names = [str(label) for label in self.posterior["connection"].to_numpy()]
        places = [present.index(class_of_connection(label)) for label in names]
        return self.posterior[name].to_numpy()[:, :, places]

    def priors(self) -> dict[str, Prior]:
        """The priors that the fit made use of: word x group is left out of a table with one group."""
        absent = {"interaction_sd"} - set(self.posterior.data_vars)
        return {name: prior for name, prior in self.spec.priors.items() if name not in absent}


def with_slope_moved(posterior: xr.Dataset, data: Distances, adjustment: Adjustment, moved: xr.DataArray) -> xr.Dataset:
    """The posterior of adjusted distances where the slope is larger by ``moved`` (chain, draw)."""
    value = adjustment.attribute.of(data.attribute_words)[data.attribute] - adjustment.reference
    by_cell = xr.DataArray(np.where(data.filled, replace(data, y=value).cells.mean, np.nan), dims=DIMS["word_mean"])
    return posterior.assign(
        word_mean=posterior["word_mean"] - moved * by_cell,
        connection_mean=posterior[FURTHER] - moved * by_cell.mean("protected_word"),
    )


def read_distances(given: object, check: bool = True) -> Distances:
    """The distances of a table or of a fit.

    The vectors of a table are held against its distances, unless ``check`` is False.
    """
    if isinstance(given, xr.DataTree | Fit):
        return Fit.read(given).data
    return Distances.read(given, check)


def save_fit(post: xr.DataTree, path: str | Path) -> None:
    """Write a fit as NetCDF, compressed, whole or not at all.

    Draws of the effects of single attribute words, which are most of a fit, are written in single precision (a
    relative error of 6e-8); all else as it is.

    Parameters
    ----------
    post
        A result of :func:`fit`, or the ``posterior`` of a :class:`Comparison`.
    path
        A file that ends in ``.nc``.

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
    file = check_target(path, (".nc",), "a fit is saved as NetCDF and")
    if not isinstance(post, xr.DataTree) or "posterior" not in post.children:
        raise InputError(f"given is {type(post).__name__}: give the DataTree that fit returns, or result.posterior")
    from xarray.backends import H5NetCDFStore

    # HDF5 cannot recover from a full disk: the file is made in memory and written in one go, as by post.to_netcdf,
    # which looks for a Dask cluster first: to load Dask takes longer
    content, how = io.BytesIO(), {"zlib": True, "complevel": 1, "shuffle": True}
    root = H5NetCDFStore.open(content, mode="w", lock=False)
    try:
        for node in post.subtree:
            stored = {
                str(name): how | ({"dtype": "float32"} if name in EFFECTS else {})
                for name, values in node.data_vars.items()
                if values.ndim and values.dtype.kind in "fi"
            }
            store = root if node is post else root.get_child_store(node.path)
            node.to_dataset(inherit=node is post).dump_to_store(store, encoding=stored)
    finally:
        root.close()
    with whole_file(file) as temporary:
        temporary.write_bytes(content.getvalue())


def load_fit(path: str | Path) -> xr.DataTree:
    """Read a fit that :func:`save_fit` or ``post.to_netcdf`` wrote.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, seed=0)
    >>> bb.save_fit(post, "fit.nc")
    >>> bb.load_fit("fit.nc").attrs["model"]
    'related'
    """
    file = file_at(path)
    if file.suffix in (".csv", ".parquet"):
        raise InputError(f"{file} is a table, not a fit: fit it first, with fit and save_fit")
    with read_as("NetCDF", str(file)):
        with xr.open_datatree(file, engine="h5netcdf") as opened:
            tree = opened.load()
        check_tree(tree, str(file))
        for node in tree.subtree:
            for name in EFFECTS:
                if name in node.data_vars:
                    node[name] = node[name].astype(float)
    return tree


@cache
def versions_of(engine: str) -> dict[str, str]:
    """Versions of Python and of the libraries that an engine rests on."""
    versions = {name: version(name) for name in (*LIBRARIES, *SAMPLERS.get(engine, ()))}
    return {"python": platform.python_version(), **versions}
