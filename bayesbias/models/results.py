"""The tree of a fit, its file, and the means that it gives to rows."""

from __future__ import annotations

import io
import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._core.related import MIDDLES, root_of, similarity_bins
from bayesbias._core.vectors import FloatArray, IntArray
from bayesbias._files import check_suffix, home_folder, whole_file
from bayesbias.distances.covariances import Relatedness
from bayesbias.distances.frames import averaged
from bayesbias.distances.storage import (
    KEY,
    check_distances,
    language_of,
    packed,
    relatedness_group,
    relatedness_in_fit,
    relatedness_of,
)
from bayesbias.distances.vocabularies import WordValues, word_values
from bayesbias.errors import InputError, listed
from bayesbias.models.data import EFFECTS, Draws, ModelData, class_of_connection, dims_of, model_data
from bayesbias.models.spec import ModelSpec, Prior, model_of_text
from bayesbias.models.word_draws import GROUP as WORDS
from bayesbias.models.word_draws import keeps_summaries
from bayesbias.words import STEREOTYPES

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


LIBRARIES = ("bayesbias", "numpy", "scipy", "pandas", "xarray", "arviz")
SAMPLERS = {"nuts": ("pymc", "nutpie")}
ADJUSTED = "adjusted"
"""Name in ``table.attrs``: the distances are no longer those of the vectors."""


def assemble(
    spec: ModelSpec,
    data: ModelData,
    drawn: Draws,
    engine: str,
    seed: int,
    coverage: dict[str, Any] | None,
) -> xr.DataTree:
    """The posterior, the data and the facts of the fit as one tree.

    Groups: ``posterior``; ``observed_data`` (``distance`` by ``pair``); ``constant_data`` (sufficient statistics of
    the cells, group of each protected word, class of each attribute word, cell and attribute word of each pair);
    ``sample_stats`` where the sampler gives any; ``words`` where summaries of these are kept; ``relatedness`` where the
    table carries it.
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
    if drawn.words is not None:
        groups[f"/{WORDS}"] = drawn.words
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


def fit_data(post: xr.DataTree) -> ModelData:
    """The rows that a fit was made with, and the relatedness that it carries."""
    constant = post["constant_data"].to_dataset()
    names = ("protected_word", "connection", "group", "attribute_word", "attribute_class")
    protected, connections, groups, attributes, listed = (constant[name].to_numpy().astype(str) for name in names)
    word, connection, attribute = (
        constant[f"{name}_index"].to_numpy().astype(np.intp) for name in ("word", "connection", "attribute")
    )
    return ModelData(
        protected_words=protected,
        connections=connections,
        groups=groups,
        word=word,
        connection=connection,
        attribute=attribute,
        attribute_words=attributes,
        attribute_class=listed,
        y=post["observed_data/distance"].to_numpy(),
        relatedness=relatedness_in_fit(post),
    )


def pair_places(post: xr.DataTree) -> dict[str, IntArray]:
    """Dimension of the posterior to the place (pair) of each distance on it."""
    data = fit_data(post)
    return data.places | ({"attribute_class": data.connection_class[data.connection]} if is_related(post) else {})


def is_related(post: xr.DataTree) -> bool:
    """Whether the covariance of a fit's distances is read off the vectors."""
    return "sd_factor" in post["posterior"]


def by_connection(post: xr.DataTree, name: str) -> np.ndarray:
    """A posterior variable of attribute classes as (chain, draw, connection)."""
    posterior = post["posterior"]
    present = [str(label) for label in posterior["attribute_class"].to_numpy()]
    names = [str(label) for label in posterior["connection"].to_numpy()]
    at = [present.index(class_of_connection(label)) for label in names]
    values: np.ndarray = posterior[name].to_numpy()[:, :, at]
    return values


def related_data(given: pd.DataFrame | xr.DataTree, check: bool = True) -> ModelData:
    """Codes and cells of a table or of the distances of a fit, with the relatedness that it carries.

    The vectors of a table are held against its distances, unless ``check`` is False.

    Raises
    ------
    InputError
        As in :func:`model_data`; what is no fit; relatedness of other vectors than those the distances were measured
        with.
    """
    if isinstance(given, xr.DataTree):
        check_fit(given, summaries=True)
        return fit_data(given)
    given = averaged(given)
    data, related = model_data(given), relatedness_of(given)
    moved = {"truth", ADJUSTED} & set(given.attrs)  # simulated or adjusted distances are not those of the vectors
    if related is not None and check and not moved:
        check_distances(related, given)
    return replace(data, relatedness=related)


def distances_of(post: xr.DataTree) -> pd.DataFrame:
    """The distance table behind a fit, with its coverage in ``attrs``."""
    data = fit_data(post)
    table = data.table
    coverage = json.loads(post.attrs["coverage"])
    if coverage is not None:
        table.attrs["coverage"] = coverage
    if "adjust" in post.attrs:
        table.attrs[ADJUSTED] = post.attrs["adjust"]
    if data.relatedness is not None:
        table.attrs[KEY] = packed(data.relatedness)
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
        if "paired" not in tree.children:  # what compare returns is kept on disk too
            check_fit(tree, str(file), summaries=True)
    except InputError:
        raise
    except Exception as error:  # damaged files raise a dozen kinds
        raise InputError(f"{file} cannot be read as NetCDF: {error}") from error
    return tree


def check_fit(post: xr.DataTree, where: str = "what was given", summaries: bool = False) -> None:
    """Refuse what is not a result of ``fit``, and, unless ``summaries`` will do, one without the draws of its words.

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
    kept = keeps_summaries(post)
    needed = (WORDS if kept else "posterior", "word_mean"), ("observed_data", "distance"), ("constant_data", "n")
    for group, variable in needed:
        if group not in post.children or variable not in post[group].data_vars:
            raise InputError(f"{where} holds no {group}/{variable}: give the DataTree that fit returns")
    missing = {"seed", "coverage", "model", "versions"} - set(post.attrs)
    if missing or int(post["constant_data/n"].sum()) != post["observed_data"].sizes["pair"]:
        raise InputError(f"{where} is only a part of a fit: give the whole tree that fit returns")
    if kept and not summaries:
        raise InputError(
            f"{where} keeps summaries of its words, and this needs their draws: fit with keep='draws', which takes 8 "
            "bytes for each draw and word, or fit a part of the table; bb.checks.word_draws(post, words) gives the "
            "draws of some words"
        )


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


GROUP = "adjustment"
FEWEST = 200
"""Words of the sample with a known value from which on the curves of the vocabulary are used."""
KNOTS = (0.25, 0.5, 0.75)
ENDS = (0.01, 0.99)
"""Quantiles of the vocabulary's values: inner knots, and where the curves become straight lines."""
FEWEST_CONTROLS = 8


@dataclass(frozen=True)
class Curve:
    """Expected distances of J protected words by a word's value: a cubic spline, a straight line beyond its ends.

    Attributes
    ----------
    knots, coefficients
        With the boundary knots repeated; (basis functions, J).
    low, high
        The ends.
    least, most
        Smallest and largest value of the data, beyond which the curve is flat.
    """

    knots: FloatArray
    coefficients: FloatArray
    low: float
    high: float
    least: float
    most: float

    def basis(self, x: FloatArray) -> FloatArray:
        """Values (len(x), basis functions) of the splines."""
        return _basis(np.clip(x, self.least, self.most), self.knots, self.low, self.high)

    def at(self, x: FloatArray) -> FloatArray:
        """Expected distances (J, len(x))."""
        value: FloatArray = (self.basis(x) @ self.coefficients).T
        return value


def _basis(x: FloatArray, knots: FloatArray, low: float, high: float) -> FloatArray:
    """Values (len(x), basis functions) of the splines, continued beyond both ends along their tangents."""
    from scipy.interpolate import BSpline  # loads slowly

    inside = np.clip(x, low, high)
    design: FloatArray = BSpline.design_matrix(inside, knots, 3).toarray()
    slopes = BSpline(knots, np.eye(design.shape[1]), 3).derivative()
    found: FloatArray = design + (x - inside)[:, None] * slopes(inside)
    return found


def fitted_curve(x: FloatArray, distances: FloatArray) -> Curve:
    """The least-squares spline of distances (J, N) on the words' values (N,), those beyond its ends among them."""
    low, high = np.quantile(x, ENDS)
    if not high > low:
        low, high = float(x.min()), float(x.max())
    inner = np.unique(np.quantile(x, KNOTS))
    knots = np.concatenate([[low] * 4, inner[(inner > low) & (inner < high)], [high] * 4])
    basis = _basis(x, knots, low, high)
    coefficients = np.linalg.lstsq(basis, distances.T, rcond=None)[0]
    return Curve(knots, coefficients, float(low), float(high), float(x.min()), float(x.max()))


@dataclass(frozen=True)
class Slope:
    """A common slope of distance on a value: estimate, standard error and degrees of freedom."""

    value: float
    se: float
    df: float
    r2: float
    words: int


def control_slope(table: pd.DataFrame, values: WordValues) -> Slope:
    """The slope of the control words' distances on their values, within lists, a word counting once.

    Raises
    ------
    InputError
        Fewer than 8 control words with values, or values that do not differ.
    """
    rows = table[~table["connection"].isin(STEREOTYPES)]
    rows = rows.assign(value=values.of(rows["attribute_word"].astype(str)))
    rows = rows[rows["value"].notna()]
    apart = rows["distance"] - rows.groupby(["protected_word", "connection"])["distance"].transform("mean")
    words = rows.assign(apart=apart).groupby(["connection", "attribute_word"])[["apart", "value"]].mean()
    words = words - words.groupby("connection").transform("mean")
    x, y = words["value"].to_numpy(), words["apart"].to_numpy()
    df = len(words) - words.index.get_level_values("connection").nunique() - 1
    if len(words) < FEWEST_CONTROLS or df < 1:
        raise InputError(
            f"{len(words)} control words have a known {values.name}, and a slope needs {FEWEST_CONTROLS}: give "
            f"the {values.name} of more words, or make the table with distance_table(kv, words) from all vectors"
        )
    squares = float(x @ x)
    if squares <= 1e-12 * len(x):
        raise InputError(f"all control words have the same {values.name}: it cannot be adjusted for")
    slope = float(x @ y) / squares
    rest = y - slope * x
    total = float(y @ y)
    r2 = 1 - float(rest @ rest) / total if total > 0 else 0.0
    return Slope(slope, float(np.sqrt(rest @ rest / df / squares)), float(df), r2, len(words))


@dataclass(frozen=True)
class Adjustment:
    """What was taken from each distance.

    Attributes
    ----------
    attribute
        The attribute of the words.
    how
        ``"vocabulary"`` or ``"controls"``.
    reference
        Value of a word whose distances stay as they are.
    expected
        Protected words by attribute words: what was taken from their distance.
    slope
        The slope of the controls; None where the curves are those of the vocabulary.
    words
        Words behind the curves or the slope.
    left_out
        Attribute words without a value.
    """

    attribute: WordValues
    how: str
    reference: float
    expected: pd.DataFrame
    slope: Slope | None
    words: int
    left_out: tuple[str, ...]

    def facts(self) -> dict[str, Any]:
        """Everything but the expected distances, for the record."""
        return {
            "name": self.attribute.name,
            "unit": self.attribute.unit,
            "source": self.attribute.source,
            "how": self.how,
            "reference": self.reference,
            "words": self.words,
            "slope": None if self.slope is None else [self.slope.value, self.slope.se, self.slope.df],
            "left_out": list(self.left_out),
        }


def adjusted_table(
    table: pd.DataFrame,
    adjust: str | Mapping[str, Mapping[str, float]],
    frequencies: Mapping[str, float] | str | Path | KeyedVectors | None = None,
) -> tuple[pd.DataFrame, Adjustment]:
    """A distance table less what the words' values let expect, and what was taken.

    Raises
    ------
    InputError
        As :func:`word_values` and :func:`control_slope`; a list of whose words none has a value; a constant attribute.
    """
    related = related_data(table).relatedness
    attributes = table["attribute_word"].astype(str)
    asked = [*dict.fromkeys(attributes)]
    sampled = () if related is None else related.sample_words
    values = word_values([*asked, *sampled], adjust, frequencies, related, language_of(table))
    known = pd.Series(values.of(asked), index=asked)
    left_out = tuple(known.index[known.isna()])
    kept = table[attributes.map(known.notna()).to_numpy()]
    lost = set(zip(table["connection"], table["attribute_class"].astype(str), strict=True)) - set(
        zip(kept["connection"], kept["attribute_class"].astype(str), strict=True)
    )
    if lost:
        names = sorted({name for _, name in lost})
        raise InputError(f"{values.source} has {values.name} for no word of {listed(names)}: give more words")
    if np.ptp(known.dropna().to_numpy()) <= 0:
        raise InputError(f"all attribute words have the same {values.name}: there is nothing to adjust for")
    reference = float(known.dropna().mean())
    slope: Slope | None = None
    changed = related
    drawn = None if related is None else vocabulary_curve(related, values)
    if related is not None and drawn is not None:
        curve, enough = drawn
        own: FloatArray = np.asarray(known.dropna(), dtype=float)
        # least squares: the curve of a protected word follows from those of the rows of the scatter
        by_word = related.of_words(curve.at(own) - curve.at(np.array([reference])))
        expected = pd.DataFrame(by_word, index=list(related.protected_words), columns=known.dropna().index)
        x: FloatArray = values.of(related.sample_words)[enough]
        rest = related.scatter.astype(float)[:, enough] - curve.at(x)
        changed = related.with_sample(enough, rest - rest.mean(axis=1, keepdims=True))
        changed = without_levels(changed, curve, x, values.of(related.attribute_words))
        how, words = "vocabulary", len(enough)
    else:
        slope = control_slope(kept, values)
        protected = [*dict.fromkeys(kept["protected_word"].astype(str))]
        line = slope.value * (known.dropna() - reference)
        expected = pd.DataFrame([line.to_numpy()] * len(protected), index=protected, columns=line.index)
        how, words = "controls", slope.words
    place = (
        expected.index.get_indexer(pd.Index(kept["protected_word"].astype(str))),
        expected.columns.get_indexer(pd.Index(kept["attribute_word"].astype(str))),
    )
    result = kept.assign(distance=kept["distance"] - expected.to_numpy()[place])
    result.attrs = {**table.attrs, ADJUSTED: values.name}
    if changed is not None:
        result.attrs[KEY] = packed(changed)
    return result, Adjustment(values, how, reference, expected, slope, words, left_out)


def vocabulary_curve(related: Relatedness, values: WordValues) -> tuple[Curve, IntArray] | None:
    """The curve over the vocabulary's sample and the places of its words with values; None where these are too few."""
    x = values.of(related.sample_words)
    known = np.flatnonzero(np.isfinite(x))
    if len(known) < FEWEST or np.ptp(x[known]) <= 0:
        return None
    return fitted_curve(x[known], related.scatter.astype(float)[:, known]), known


LEAST_REST = 0.1
"""Least share of a vector's squared length that is left when the part that goes with its value is taken out."""


def without_levels(related: Relatedness, curve: Curve, x: FloatArray, own: FloatArray) -> Relatedness:
    """Relatedness whose similarities are those beyond what the words' values make of them.

    Frequent words are alike as such. Once frequency is out of the distances, that part of their similarity predicts
    nothing, and would make random words of one frequency count as words of one topic. Unit vectors are u = m(x) + r,
    and the product of two is on average m(x)'m(x'), which is B(x)' M B(x') with the splines B of the curves and an M
    that the pairs of sampled words give. The similarity that is left is that of r.

    Parameters
    ----------
    related
        With the sample whose values are known.
    curve
        The curves over the sample, for their splines.
    x, own
        Values of the sampled words and of the attribute words; NaN where one is not known, whose vector stays.
    """
    pairs = related.pairs
    if related.forms is not None or not len(pairs.first):
        return related
    design = curve.basis(x)
    drawn = np.bincount(pairs.bins, minlength=len(pairs.counts))
    share = np.divide(pairs.counts, drawn, out=np.zeros(len(drawn)), where=drawn > 0)[pairs.bins]
    similarity, size = MIDDLES[pairs.bins], design.shape[1]
    rows, columns = np.triu_indices(size)
    first, second = design[pairs.first], design[pairs.second]
    products = (first[:, rows] * second[:, columns] + first[:, columns] * second[:, rows]) / 2
    weighted = products * share[:, None]
    found = np.zeros((size, size))
    found[rows, columns] = np.linalg.lstsq(weighted.T @ products, weighted.T @ similarity, rcond=None)[0]
    root = root_of((found + found.T) / 2)  # positive semi-definite, as products of vectors are
    levels = design @ root
    rest = np.maximum(1 - (levels**2).sum(axis=1), LEAST_REST)
    apart = similarity - (levels[pairs.first] * levels[pairs.second]).sum(axis=1)
    bins = similarity_bins(apart / np.sqrt(rest[pairs.first] * rest[pairs.second]))
    counts = np.round(np.bincount(bins, share, minlength=len(pairs.counts))).astype(np.intp)
    known = np.isfinite(own)
    mine = np.zeros((len(own), root.shape[1]))
    mine[known] = curve.basis(own[known]) @ root
    left = np.maximum(1 - (mine**2).sum(axis=1), LEAST_REST)
    units = related.units.astype(float)
    matrix = (units @ units.T - mine @ mine.T) / np.sqrt(left[:, None] * left)
    np.fill_diagonal(matrix, 1.0)
    values, axes = np.linalg.eigh(matrix)
    dimensions = related.attributes.shape[1]
    most = min(dimensions, len(values))
    vectors = np.zeros((len(values), dimensions))
    vectors[:, :most] = axes[:, ::-1][:, :most] * np.sqrt(np.maximum(values[::-1][:most], 0))
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    changed = np.divide(vectors, lengths, out=vectors, where=lengths > 0).astype(np.float16)
    return replace(
        related,
        pairs=replace(pairs, bins=bins, counts=counts),
        attributes=changed,
        centre=np.zeros(dimensions),
    )


def with_slope(post: xr.DataTree, adjustment: Adjustment, seed: int) -> xr.DataTree:
    """The fit with the uncertainty of the common slope in its means: the posterior variable ``slope`` has its draws."""
    if adjustment.slope is None:
        return post
    slope, posterior = adjustment.slope, post["posterior"].dataset
    steps = (posterior.sizes["chain"], posterior.sizes["draw"])
    moved = slope.se * np.random.default_rng([seed, 2]).standard_t(slope.df, steps)
    data = fit_data(post)
    value = adjustment.attribute.of(data.attribute_words)[data.attribute] - adjustment.reference
    by_cell = np.where(data.filled, replace(data, y=value).cells.mean, np.nan)
    changed = posterior.assign(
        word_mean=posterior["word_mean"] - moved[:, :, None, None] * by_cell,
        connection_mean=posterior["connection_mean"] - moved[:, :, None] * np.nanmean(by_cell, axis=0),
        slope=(("chain", "draw"), slope.value + moved),
    )
    tree = post.copy()
    tree["posterior"] = xr.DataTree(changed)
    return tree


def recorded(post: xr.DataTree, adjustment: Adjustment, raw: xr.DataTree) -> xr.DataTree:
    """The fit with a group ``adjustment``: raw distances, words' values, and the means of the fit before."""
    data = fit_data(post)
    ordered = adjustment.expected.reindex(index=data.protected_words, columns=data.attribute_words)
    taken = ordered.to_numpy()[data.word, data.attribute]
    group = xr.Dataset(
        {
            "raw_distance": ("pair", data.y + taken),
            "value": ("attribute_word", adjustment.attribute.of(data.attribute_words)),
            "raw_word_mean": raw["posterior/word_mean"],
        },
        coords={"pair": post["observed_data"]["pair"].to_numpy(), "attribute_word": data.attribute_words},
        attrs={"facts": json.dumps(adjustment.facts(), ensure_ascii=False)},
    )
    tree = post.copy()
    tree[GROUP] = xr.DataTree(group)
    notes = [*json.loads(post.attrs.get("notes", "[]")), *_sentences(adjustment)]
    tree.attrs = {**post.attrs, "adjust": adjustment.attribute.name, "notes": json.dumps(notes, ensure_ascii=False)}
    return tree


def _sentences(adjustment: Adjustment) -> list[str]:
    values, slope = adjustment.attribute, adjustment.slope
    if slope is None:
        how = (
            f"each protected word's expected distance at that {values.name}, a smooth curve over {adjustment.words:,} "
            "words of the vocabulary, was subtracted"
        )
    else:
        how = (
            f"a common slope of {slope.value:.4f} per {values.unit} (standard error {slope.se:.4f}), estimated from "
            f"{slope.words:,} control words, was subtracted"
        )
    found = [f"Distances are adjusted for {values.name} ({values.source}): {how}."]
    if adjustment.left_out:
        found.append(
            f"{len(adjustment.left_out)} attribute words without a known {values.name} were left out: "
            f"{listed(list(adjustment.left_out))}."
        )
    return found
