"""The parts of a fit and their dimensions, and the check that a tree has them, made where a fit is read."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesbias._support.arguments import MOST, finite_number, is_printable, printable, text, whole_number
from bayesbias._support.files import from_json
from bayesbias.distances.dataframe import ATTRIBUTE_TEMPLATE, TEMPLATE
from bayesbias.errors import InputError, many, shown

if TYPE_CHECKING:
    import xarray as xr

    from bayesbias.distances.distances import Distances
    from bayesbias.models.spec import ModelSpec

type Dims = tuple[str, ...]
STEPS, CELL, PAIR = ("chain", "draw"), ("protected_word", "connection"), ("pair",)
DIMS: dict[str, Dims] = {
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
SIGNED = {
    "connection_mean",
    "word_mean",
    "connection_covariance",
    "attribute_effect",
    "interaction_effect",
    "slope",
}
"""Posterior variables that may be below 0."""
OWN = "own"  # the attribute attribute_words of a fit of a model of one's own
ADJUSTMENT = "adjustment"  # group of a fit of adjusted distances
UNADJUSTED = "unadjusted"  # the fit of the same distances as they were measured, beside it
PAIRED = "paired"  # group of a comparison, whose coverage is that of each embedding
TEMPLATES = "templates"  # group of a fit with templates
INDICES = {"word_index": "protected_word", "connection_index": "connection", "attribute_index": "attribute_word"}
TEXTS: dict[str, Dims] = {"group": ("protected_word",), "class": ("attribute_word",), "attribute_class": PAIR}
DATA: dict[str, dict[str, Dims]] = {
    "observed_data": {"distance": PAIR},
    "constant_data": dict.fromkeys(("n", "mean", "ssd"), CELL) | dict.fromkeys(INDICES, PAIR) | TEXTS,
}
"""Groups of every fit beside the posterior to their variables with dimensions."""
EXTRAS: dict[str, dict[str, Dims]] = {
    ADJUSTMENT: {"value": ("attribute_word",)},
    TEMPLATES: {"word_shift": (*STEPS, *CELL)},
}
"""The same of groups that some fits have."""
SIDES: Dims = ("embedding",)
CHANGES: Dims = ("change",)
COMPARED: dict[str, dict[str, Dims]] = {
    "observed_data": {"distance": (*PAIR, *SIDES)},
    "constant_data": {"n": CELL} | dict.fromkeys(INDICES, PAIR) | {"group": TEXTS["group"], "attribute_class": PAIR},
    PAIRED: {"before_index": CHANGES, "after_index": CHANGES},
}
"""Groups of every comparison to their variables with dimensions."""
COMPARED_DRAWS: dict[str, dict[str, Dims]] = {
    "posterior": {
        f"{part}_{value}": (*STEPS, *dims, *(CELL if part == "word" else CELL[1:]))
        for part in ("connection", "word")
        for value, dims in (("mean", SIDES), ("change", CHANGES))
    },
    PAIRED: {
        "connection_before": (*STEPS, *CHANGES, *CELL[1:]),
        "word_before": (*STEPS, *CHANGES, *CELL),
    },
}
"""The same of those with draws."""
WRITTEN = ("model", "model_text", "model_hash", "engine", "attribute_words")
RECORDS: dict[str, type | tuple[type, ...]] = {"notes": list, "versions": dict, "coverage": (dict, type(None))}
"""Attributes of a fit that are JSON, and what it holds."""
NUMBERS = (
    "log_evidence",
    "grid_mass_outside",
    "independent_protected_words",
    "importance_points",
)  # attributes of some fits


def check_attributes(attrs: Mapping[Any, Any]) -> None:
    """Refuse attributes other than those of a fit."""
    _check_written(attrs, (*WRITTEN, "seed"), RECORDS)
    printable(attrs["attribute_words"], "the attribute attribute_words")
    for name in {"moved", "adjust"} & set(attrs):
        text(attrs[name], f"the attribute {name}")
    for name in set(NUMBERS) & set(attrs):
        finite_number(attrs[name], f"the attribute {name}")
    whole_number(attrs["seed"], "the attribute seed", least=0, most=None)


def _check_written(attrs: Mapping[Any, Any], names: Collection[str], records: Mapping[str, Any]) -> None:
    """Refuse attributes that lack a name, or whose records are no JSON of their kind."""
    if missing := [name for name in (*names, *records) if name not in attrs]:
        raise InputError(f"the attribute {missing[0]} is missing")
    text(attrs["model_text"], "the attribute model_text")
    printable(attrs["engine"], "the attribute engine")
    for name, kind in records.items():
        try:
            known = isinstance(from_json(attrs[name]), kind)
        except (TypeError, ValueError):
            known = False
        if not known:
            raise InputError(f"the attribute {name} is {shown(attrs[name])}, not the JSON that fit writes")


def posterior_variables(spec: ModelSpec, held: Collection[Hashable], adjusted: bool) -> dict[str, Dims]:
    """The posterior variables of a model with their dimensions, some of which a fit of one group does not hold."""
    if spec.own:
        return {
            name: (*STEPS, *DIMS[name]) for name in ("word_mean", "connection_mean") if name in {"word_mean", *held}
        }
    names = {"connection_mean", "connection_sd", "word_mean", *spec.priors}
    names |= {"attribute_effect"} if spec.crossed else set()
    on_groups = {"interaction_sd", "interaction_effect"}
    names = names | on_groups if on_groups & set(held) and on_groups & names else names - on_groups
    names |= {"slope"} & set(held) if adjusted else set()
    shared = {"sigma": spec.likelihood.sigma, "attribute_sd": spec.terms.attribute_sd}
    return {name: (*STEPS, *(() if shared.get(name) == "shared" else DIMS.get(name, ()))) for name in sorted(names)}


def template_variables(part: xr.Dataset) -> dict[str, Dims]:
    """Variables of the group of templates with their dimensions: contrasts with the first connection, if others are."""
    other = ("other_connection",)
    labels = [label for label in (TEMPLATE, ATTRIBUTE_TEMPLATE) if label in part.coords and part.sizes.get(*other)]
    return EXTRAS[TEMPLATES] | {f"contrast_{label}": (label, *other) for label in labels}


def variables_of(parts: Mapping[str, xr.Dataset], spec: ModelSpec) -> dict[str, dict[str, Dims]]:
    """Groups of a fit of a model to their variables with dimensions."""
    posterior = posterior_variables(spec, parts["posterior"].data_vars, ADJUSTMENT in parts)
    groups = DATA | {name: part for name, part in EXTRAS.items() if name in parts} | {"posterior": posterior}
    return groups | ({TEMPLATES: template_variables(parts[TEMPLATES])} if TEMPLATES in parts else {})


def check_layout(tree: xr.DataTree, spec: ModelSpec) -> None:
    """Refuse groups, variables, dimensions and labels other than those of a fit of this model."""
    if (tree.attrs["model"], tree.attrs["model_hash"]) != (spec.name, spec.hash):
        raise InputError(f"the attributes model and model_hash are not those of its model_text, {spec.name!r}")
    parts = {name: node.dataset for name, node in tree.children.items()}
    groups = variables_of(parts, spec)
    unknown = sorted(str(name) for name in parts["posterior"].data_vars if name not in groups["posterior"])
    if unknown and not spec.own:
        raise InputError(f"posterior/{unknown[0]} is no variable of the model {spec.name!r}")
    for group, every in groups.items():
        for name, dims in every.items():
            if name not in parts[group].variables:
                raise InputError(f"there is no {group}/{name}")
            _check_variable(f"{group}/{name}", parts[group].variables[name], dims, is_text=name in TEXTS)
    for name, dim in INDICES.items():
        _check_index(f"constant_data/{name}", parts["constant_data"].variables[name], dim, parts["constant_data"])
    _check_labels({name: parts[name] for name in groups})
    _check_facts(parts)


def check_comparison(tree: xr.DataTree, spec: ModelSpec) -> None:
    """Refuse groups, variables, labels and numbers other than those of a comparison by this model."""
    attrs, parts = tree.attrs, {name: node.dataset for name, node in tree.children.items()}
    for name in ("seed", "chains", "draws"):
        if not str(attrs.get(name)).isdecimal():
            raise InputError(f"the attribute {name} is {shown(attrs.get(name))}, not a whole number")
    if (attrs["model"], attrs["model_hash"]) != (spec.name, spec.hash):
        raise InputError(f"the attributes model and model_hash are not those of its model_text, {spec.name!r}")
    if not {"posterior", "relatedness"} & parts.keys():
        raise InputError("it has no posterior")
    drawn = COMPARED_DRAWS if "posterior" in parts else {}
    for group, variables in (*COMPARED.items(), *drawn.items()):
        for name, dims in variables.items():
            if group not in parts or name not in parts[group].variables:
                raise InputError(f"there is no {group}/{name}")
            _check_variable(f"{group}/{name}", parts[group].variables[name], dims, is_text=name in TEXTS)
    constant = parts["constant_data"]
    for name, dim in INDICES.items():
        _check_index(f"constant_data/{name}", constant.variables[name], dim, constant)
    for name in COMPARED[PAIRED]:
        _check_index(f"{PAIRED}/{name}", parts[PAIRED].variables[name], "embedding", constant)
    _check_labels({name: parts[name] for name in (*COMPARED, *drawn)}, SIDES)
    _check_changes(parts, drawn)
    _check_compared(parts, drawn)


def check_records(attrs: Mapping[Any, Any]) -> None:
    """Refuse attributes other than those of a comparison."""
    _check_written(attrs, WRITTEN[:-1], RECORDS | {"faults": list})


def _check_changes(parts: Mapping[str, xr.Dataset], drawn: Collection[str]) -> None:
    """Refuse changes that are not called after the embeddings between which they are."""
    sides = parts["constant_data"].variables["embedding"].to_numpy().tolist()
    places = zip(*(parts[PAIRED].variables[name].to_numpy().tolist() for name in COMPARED[PAIRED]), strict=True)
    changes = [f"{sides[before]} → {sides[after]}" for before, after in places]
    for group in (PAIRED, *drawn):
        if "change" not in parts[group].coords or parts[group].variables["change"].to_numpy().tolist() != changes:
            raise InputError(f"the labels of change in {group} are not {', '.join(changes)}")


def _check_compared(parts: Mapping[str, xr.Dataset], drawn: Collection[str]) -> None:
    """Refuse counts that are not those of the pairs, and numbers that are NaN or beyond all sense."""
    constant = parts["constant_data"].variables
    count, shape = constant["n"].to_numpy(), constant["n"].shape
    cell = np.ravel_multi_index((constant["word_index"].to_numpy(), constant["connection_index"].to_numpy()), shape)
    if not np.array_equal(count.ravel(), np.bincount(cell, minlength=count.size)):
        raise InputError("constant_data/n does not go with the pairs")
    for group in ("observed_data", *drawn):
        for name, values in parts[group].data_vars.items():
            held = count > 0 if str(name).startswith("word_") else None
            if values.dtype.kind not in "iuf" or _odd_numbers(values.to_numpy(), held):
                raise InputError(f"{group}/{name} holds numbers that are NaN or beyond all sense")


def _check_index(where: str, values: xr.Variable, dim: str, labels: xr.Dataset) -> None:
    if dim not in labels.coords:
        raise InputError(f"constant_data has no labels of {dim}")
    index = values.to_numpy()
    if index.dtype.kind not in "iu" or index.min() < 0 or index.max() >= labels.sizes[dim]:
        raise InputError(f"{where} holds places beyond the labels of {dim}: a part was cut out")


def _check_facts(parts: Mapping[str, xr.Dataset]) -> None:
    """Refuse statistics of the sampler, and attributes of templates, that are no numbers."""
    for stat, values in parts["sample_stats"].data_vars.items() if "sample_stats" in parts else ():
        if not is_statistic(values):
            raise InputError(f"sample_stats/{stat} is not a number, or one for each draw")
    for fact in ("templates", "nested") if TEMPLATES in parts else ():
        whole_number(parts[TEMPLATES].attrs.get(fact), f"the attribute {fact} of the group {TEMPLATES}", least=0)


def is_statistic(values: xr.DataArray) -> bool:
    """True for a statistic of the sampler: a number, or one for each draw."""
    return values.dims == STEPS[: values.ndim] and values.dtype.kind in "biuf" and not values.isnull().any()


def _check_variable(where: str, values: xr.Variable, dims: Dims, is_text: bool) -> None:
    if values.dims != dims:
        raise InputError(f"{where} has the dimensions {', '.join(map(str, values.dims))}, not {', '.join(dims)}")
    if not values.size:
        raise InputError(f"{where} is empty")
    if is_text and not all(each == "" or is_printable(each) for each in set(values.to_numpy().tolist())):
        raise InputError(f"{where} holds names that are no printable text")
    if not is_text and values.dtype.kind not in "iuf":
        raise InputError(f"{where} holds {values.dtype}, not numbers")


def _check_labels(parts: Mapping[str, xr.Dataset], also: Dims = ()) -> None:
    """Refuse groups that do not have the labels and sizes of the others, of ``also`` too."""
    constant = parts["constant_data"]
    first = {dim: parts["posterior"].sizes[dim] for dim in STEPS} if "posterior" in parts else {}
    sizes = dict(constant.sizes) | first
    for group, part in parts.items():
        if odd := [dim for dim, size in part.sizes.items() if size != sizes.get(dim, size)]:
            raise InputError(f"{group} has {part.sizes[odd[0]]} of {odd[0]}, and there are {sizes[odd[0]]}")
        for dim in {*CELL, "attribute_word", *also} & set(part.sizes) & set(constant.sizes):
            labels, known = (
                each.variables[dim].to_numpy().tolist() if dim in each.coords else [] for each in (part, constant)
            )
            if labels != known or len({*labels}) < sizes[dim] or not all(map(is_printable, labels)):
                raise InputError(
                    f"the labels of {dim} in {group} are {shown(labels)}: each is a printable text that is there once, "
                    "and all groups have the same"
                )


def check_numbers(tree: xr.DataTree, data: Distances) -> None:
    """Refuse numbers of a fit that are not finite, or do not go with its distances."""
    data.check_vectors(distances=False)
    parts = {name: node.dataset for name, node in tree.children.items()}
    posterior, cells = parts["posterior"], parts["constant_data"].variables
    classes = data.connection_classes if "sd_factor" in posterior else data.attribute_classes
    known = {"word_group": data.group_names, "attribute_class": classes, "other_connection": data.connections.tolist()}
    own = tree.attrs["attribute_words"] == OWN
    for dim in () if own else known.keys() & set(posterior.sizes):
        if dim not in posterior.coords or posterior.variables[dim].to_numpy().tolist() != known[dim]:
            raise InputError(f"the labels of {dim} in posterior are not {', '.join(known[dim])}")
    held = dict.fromkeys(("word_mean", "word_shift"), data.filled)
    held["interaction_effect"] = data.compared
    for group in ("posterior", "observed_data", *(EXTRAS.keys() & set(parts))):
        for name in DATA.get(group, EXTRAS.get(group, posterior.data_vars)):
            values = parts[group].variables[name].to_numpy()
            if odd := _odd_numbers(values, held.get(str(name))):
                raise InputError(
                    f"{group}/{name} holds {many(odd, 'number')} of {values.size:,} that are NaN or beyond all sense"
                )
            if group == "posterior" and not own and name not in SIGNED and values.min() < 0:
                raise InputError(f"posterior/{name} holds {values.min():g}: no scale is below 0")
    for name in ("n", "mean", "ssd"):
        if not np.allclose(cells[name].to_numpy(), getattr(data.cells, name), rtol=1e-6, atol=1e-9, equal_nan=True):
            raise InputError(f"constant_data/{name} does not go with observed_data/distance")


def _odd_numbers(values: NDArray[Any], held: NDArray[np.bool_] | None) -> int:
    """Count of numbers that are NaN or beyond all sense, at the places of the last dimensions that must hold some."""
    if values.min() > -MOST and values.max() < MOST:  # NaN is neither; no array is made of a fit without fault
        return 0
    usual = np.abs(values) < MOST
    return int((~usual if held is None else ~usual[..., held]).sum())
