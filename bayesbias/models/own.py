"""Models of one's own: a model in PyMC, or draws that were made elsewhere, as a fit."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._support.progress import quiet
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError, listed, shown
from bayesbias.models.families import FAMILIES, Independent, check_draws_of_pairs
from bayesbias.models.nuts import trace_of
from bayesbias.models.spec import ModelSpec, bundled_models, own_model
from bayesbias.models.template_variation import template_data
from bayesbias.models.tree import (
    CELL,
    DIMS,
    FURTHER,
    OWN,
    STEPS,
    Draws,
    Fit,
    assemble,
    labels_of,
    made_by,
    read_distances,
)
from bayesbias.numerics.arrays import FloatArray
from bayesbias.results import Note

if TYPE_CHECKING:
    import pymc

type OwnModel = pymc.Model | Callable[[Distances], pymc.Model]

WORD_MEAN, OBSERVED = "word_mean", "distance"
ELSEWHERE = "elsewhere"  # the engine of draws that the package did not make
RESERVED = ("slope", "sd_factor")
"""Names of variables by which analyses know fits of the package's own models."""
UNOBSERVED = Note(
    "no-value", what="predictions and log likelihood", reason="no observed variable has a row of the table each"
)
OPTIONAL = ("posterior_predictive", "log_likelihood", "log_prior", "prior", "prior_predictive")


class Own(Independent):
    """A model of one's own is known by its draws."""

    notes, has_prior = (), False

    def prepared(self, spec: ModelSpec, data: Distances) -> tuple[ModelSpec, Distances]:
        """A fit of draws is not made again."""
        raise InputError("draws of a model of one's own cannot be fitted again: give fit its builder or its PyMC model")

    def log_priors(self, result: Fit) -> dict[str, FloatArray]:
        """Log priors (chain, draw) of parameters that depend on no other, as PyMC computed them."""
        priors = _group_of(result, "log_prior").transpose(*STEPS, ...)
        return {str(name): each.sum(each.dims[2:]).to_numpy() for name, each in priors.data_vars.items()}

    def density(self, result: Fit, part: slice) -> FloatArray:
        """Log densities (draws, pairs), as PyMC computed them."""
        values = _group_of(result, "log_likelihood")[OBSERVED].sel({name: result.posterior[name] for name in STEPS})
        return values.transpose(*STEPS, "pair").to_numpy().reshape(-1, values.sizes["pair"])[:, part]

    def predicted(self, result: Fit, posterior: xr.Dataset, rng: np.random.Generator) -> FloatArray:
        """Predictive draws (chain, draw, pair), as PyMC made them."""
        values = _group_of(result, "posterior_predictive")[OBSERVED].sel({name: posterior[name] for name in STEPS})
        return values.transpose(*STEPS, "pair").to_numpy()

    def predicted_cells(self, result: Fit, rng: np.random.Generator) -> FloatArray:
        """Of each cell the predicted distance to one of its words, drawn at random for each draw."""
        values = _group_of(result, "posterior_predictive")[OBSERVED].transpose(*STEPS, "pair").to_numpy()
        data = result.data
        drawn = np.full((*values.shape[:2], *data.filled.shape), np.nan)
        cell = data.word * len(data.connections) + data.connection
        order, n = np.argsort(cell, kind="stable"), np.bincount(cell, minlength=data.filled.size)
        begins = np.cumsum(n) - n
        flat = drawn.reshape(*values.shape[:2], -1)
        for place in np.flatnonzero(n):
            rows = order[begins[place] + rng.integers(n[place], size=values.shape[:2])]
            flat[..., place] = np.take_along_axis(values, rows[..., None], axis=2)[..., 0]
        return drawn


FAMILIES[OWN] = Own()


def _group_of(result: Fit, name: str) -> xr.Dataset:
    """A group of the fit that PyMC made for the distances."""
    if name not in result.tree.children or (name != "log_prior" and OBSERVED not in result.tree[name]):
        raise InputError(
            f"the fit of one's own model {result.model!r} has no {name}: fit adds it where the model has "
            "one observed variable that holds the distances of the table, and from_draws takes it as a group"
        )
    return result.tree.children[name].dataset


def sampled(
    table: pd.DataFrame,
    model: OwnModel,
    size: tuple[int, int],
    seed: int,
    options: Mapping[str, Any] | None,
    word_mean: str,
) -> xr.DataTree:
    """A fit by NUTS of a model of one's own, draws in all and chains given."""
    data = read_distances(table)
    if data.adjusted or template_data(table, data) is not None:
        raise InputError(
            "the distances are adjusted, or those of sentence templates: a model of one's own does not know the error "
            "of an adjustment or of templates; give a table of distances as measured, of one vector a word"
        )
    import pymc as pm

    name = getattr(model, "__name__", "") or getattr(model, "name", "") or "own"
    built = model(data) if callable(model) and not isinstance(model, pm.Model) else model
    if not isinstance(built, pm.Model):
        raise InputError(f"the model {name!r} made {shown(built)}: it takes the distances and returns a pymc.Model")
    names = [variable.name for variable in (*built.free_RVs, *built.deterministics)]
    dims = {each: tuple(map(str, built.named_vars_to_dims.get(each) or ())) for each in names}
    _check_variables(dims, word_mean, f"the model {name!r}")
    for dim in CELL:
        _check_labels(dim, built.coords[dim] or (), data)
    chains, draws = size[1], size[0] // size[1]
    check_draws_of_pairs(size[0], len(data.y), chains)
    trace, facts = trace_of(built, chains, draws, np.random.default_rng(seed), options)
    tree = xr.DataTree.from_dict({f"/{name}": trace[name].to_dataset() for name in ("posterior", "sample_stats")})
    # the variable whose observed values are the distances of the table, row by row, if there is one
    values = {each.name: built.rvs_to_values[each].eval() for each in built.observed_RVs}
    known = [each for each, y in values.items() if y.shape == data.y.shape and np.allclose(y, data.y)]
    notes: tuple[Note, ...] = (UNOBSERVED,)
    if len(known) == len(values) == 1:
        notes = ()
        with quiet("pymc"):
            _add_groups(tree, built, known[0], seed)
    post = _fit_of(tree, data, name, seed, word_mean, _source(model), "nuts", notes)
    post.attrs |= facts
    return post


def _check_variables(dims: Mapping[str, tuple[str, ...]], word_mean: str, of: str) -> None:
    """Refuse variables, by name with their dimensions beyond chain and draw, of which no fit can be made."""
    if word_mean not in dims:
        raise InputError(
            f"there is no variable {word_mean!r} with the dims {CELL} in {of}, the mean distance of each protected "
            f"word and connection: there are {listed(sorted(dims)) or 'none'}; name it by word_mean="
        )
    for each, needed in ((word_mean, CELL), (FURTHER, DIMS[FURTHER])):
        if {*dims.get(each, needed)} != {*needed}:
            raise InputError(f"{each!r} of {of} needs the dims {needed}, with the labels of the table")
    if reserved := [each for each in (*RESERVED, *{WORD_MEAN} - {word_mean}) if each in dims]:
        raise InputError(f"the variable {reserved[0]!r} has a meaning of its own in fits: call it otherwise")


def _source(model: OwnModel) -> str:
    """The source of a function, where there is one."""
    try:
        return dedent(inspect.getsource(model)) if inspect.isfunction(model) else ""
    except OSError:  # it was typed into a console
        return ""


def _add_groups(tree: xr.DataTree, model: pymc.Model, observed: str, seed: int) -> None:
    """The predictive draws, log likelihood and log prior of a model, by the names that a fit has."""
    import pymc as pm

    drawn = pm.sample_posterior_predictive(
        tree, var_names=[observed], random_seed=np.random.default_rng([seed, 1]), progressbar=False, model=model
    )["posterior_predictive"].to_dataset()
    pm.stats.compute_log_likelihood(tree, var_names=[observed], model=model, progressbar=False)
    for name, group in (("posterior_predictive", drawn), ("log_likelihood", tree["log_likelihood"].to_dataset())):
        tree[name] = xr.DataTree(group[[observed]].rename({observed: OBSERVED}))
    from pytensor.graph.traversal import ancestors

    # power-scaling moves priors of parameters that depend on no other
    top = [each.name for each in model.free_RVs if not set(ancestors([each])) & (set(model.free_RVs) - {each})]
    pm.stats.compute_log_prior(tree, var_names=top, model=model, progressbar=False)


def from_draws(
    draws: xr.DataTree | xr.Dataset | Mapping[str, Any],
    table: pd.DataFrame,
    name: str = "own",
    word_mean: str = WORD_MEAN,
    description: str = "",
) -> xr.DataTree:
    """A fit of draws that were made elsewhere: by Stan, in R, or by another sampler.

    Parameters
    ----------
    draws
        A DataTree with the group ``posterior``, a Dataset, or arrays by name. ``word_mean`` has the dims (``chain``,
        ``draw``, ``protected_word``, ``connection``), with the labels of the table; of an array without labels in that
        order, with the labels as the table has them. ``connection_mean`` (``connection``), if it is there, is the mean
        over further protected words. Of a DataTree the groups ``sample_stats`` (numbers by draw), ``log_likelihood``,
        ``log_prior``, ``posterior_predictive``, ``prior`` and ``prior_predictive`` are kept; distances are
        ``distance``, with one more dim for the rows of the table.
    table
        The distance table that was fitted.
    name
        Name of the model, for notes and reports.
    word_mean
        Name of the variable of the mean distances, if it has another.
    description
        How the draws were made, such as the model's code; kept in the fit.

    Returns
    -------
    DataTree
        A fit, which every function takes that draws alone can answer.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> drawn = bb.fit(table, "published", seed=0)["posterior"].to_dataset()
    >>> post = bb.from_draws(drawn[["word_mean", "connection_mean"]], table, name="by another sampler")
    >>> post.attrs["model"]
    'by another sampler'
    """
    data = read_distances(table)
    if isinstance(draws, xr.DataTree):
        tree = draws.copy()
        observed = tree["observed_data"].dataset.get(OBSERVED) if "observed_data" in tree.children else None
        if observed is not None and not (observed.shape == data.y.shape and np.allclose(observed, data.y)):
            raise InputError("observed_data/distance of the draws holds other distances than the table")
    else:
        labelled = draws if isinstance(draws, xr.Dataset) else _labelled(draws, data, word_mean)
        tree = xr.DataTree.from_dict({"/posterior": labelled})
    posterior = tree["posterior"].dataset
    if lacking := [key for key, each in posterior.data_vars.items() if not {*STEPS} <= {*each.dims}]:
        raise InputError(
            f"the draws of {lacking[0]!r} have the dims {posterior[lacking[0]].dims}: needed are {STEPS} too"
        )
    dims = {str(key): tuple(str(dim) for dim in each.dims if dim not in STEPS) for key, each in posterior.items()}
    _check_variables(dims, word_mean, "the draws")
    return _fit_of(tree, data, name, 0, word_mean, description, ELSEWHERE)


def _labelled(arrays: Mapping[str, Any], data: Distances, word_mean: str) -> xr.Dataset:
    """Arrays (chain, draw, ...) by name, with the labels of a table where the package knows their dimensions."""
    known = {word_mean: CELL, FURTHER: CELL[1:]}
    labels = {dim: labels_of(data)[dim] for dim in CELL}
    variables: dict[str, Any] = {}
    for name, values in arrays.items():
        if isinstance(values, xr.DataArray):
            for dim in labels.keys() & {*values.dims}:
                _check_labels(dim, values[dim].to_numpy() if dim in values.coords else (), data)
            variables[name] = values
        else:
            array = np.asarray(values)
            own = [f"{name}_dim_{i}" for i in range(array.ndim - 2)]
            variables[name] = ((*STEPS, *known.get(name, own)), array)
    return xr.Dataset(variables, coords=labels)


def _check_labels(dim: str, given: Iterable[object], data: Distances) -> None:
    """Refuse labels other than those of the table, in whatever order."""
    labels, own = [str(label) for label in given], labels_of(data)[dim].tolist()
    if sorted(labels) != sorted(own):
        raise InputError(
            f"the labels of {dim} are {listed(labels) or 'missing'}, and those of the table {listed(own)}: give the "
            "labels of this table"
        )


def _fit_of(
    tree: xr.DataTree,
    data: Distances,
    name: str,
    seed: int,
    word_mean: str,
    source: str,
    engine: str,
    notes: tuple[Note, ...] = (),
) -> xr.DataTree:
    """The fit of draws, checked: labels of the table, finite numbers."""
    posterior = tree["posterior"].to_dataset().rename({word_mean: WORD_MEAN})
    labels = {dim: own for dim, own in labels_of(data).items() if dim in posterior.dims}
    for dim in labels:
        _check_labels(dim, posterior[dim].to_numpy() if dim in posterior.coords else (), data)
    posterior = posterior.assign_coords({dim: posterior[dim].astype(str) for dim in labels}).sel(labels)
    posterior = posterior.transpose(*STEPS, *CELL, ..., missing_dims="ignore")
    means = posterior[WORD_MEAN]
    posterior[WORD_MEAN] = means.where(xr.DataArray(data.filled, dims=CELL))
    if not means.size or not np.isfinite(means.to_numpy()[:, :, data.filled]).all():
        raise InputError(f"the draws of {word_mean!r} are none, or not all finite numbers")
    spec = own_model(name + " (own)" * (name in bundled_models()), source)
    how = made_by(spec, engine, seed) | {"attribute_words": OWN}
    fitted = assemble(spec, data, Draws({WORD_MEAN: means.to_numpy()}, notes=notes), how)
    fitted["posterior"] = xr.DataTree(posterior)
    if "sample_stats" in tree.children:  # those that are numbers, unlike nutpie's messages of divergences
        stats = tree["sample_stats"].to_dataset()
        numbers = [
            name
            for name, each in stats.data_vars.items()
            if each.dims == STEPS[: each.ndim] and each.dtype.kind in "biuf" and not np.isnan(each.to_numpy()).any()
        ]
        fitted["sample_stats"] = xr.DataTree(stats[numbers])
    for group in OPTIONAL:
        if group in tree.children:
            steps = {} if group.startswith("prior") else {each: posterior.sizes[each] for each in STEPS}
            fitted[group] = xr.DataTree(_of_pairs(tree[group].to_dataset(), group, steps, len(data.y)))
    return fitted


def _of_pairs(group: xr.Dataset, name: str, steps: Mapping[str, int], pairs: int) -> xr.Dataset:
    """A group whose distances, if it has any, are those of the draws and of the rows of the table."""
    if OBSERVED not in group:
        return group
    sizes = {str(dim): size for dim, size in group[OBSERVED].sizes.items()}
    rows = [dim for dim in sizes if dim not in STEPS]
    if len(rows) != 1 or sizes[rows[0]] != pairs or {**sizes, **steps} != sizes:
        needed = {**steps, "pair": pairs}
        raise InputError(f"{name}/{OBSERVED} of the draws has the sizes {sizes}: needed are {needed}")
    return group.rename({rows[0]: "pair"} if rows != ["pair"] else {}).assign_coords(pair=np.arange(pairs))
