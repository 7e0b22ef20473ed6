"""Draws of changes, their data and facts as one tree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import xarray as xr

from bayesbias._core.vectors import FloatArray
from bayesbias._files import to_json
from bayesbias.comparison.associations import SIMILAR
from bayesbias.comparison.matching import SAME, ChangeDraws, Matched
from bayesbias.distances.covariances import KEY, Relatedness, relatedness_group
from bayesbias.distances.distances import Distances
from bayesbias.models.nuts import JointDraws
from bayesbias.models.results import versions_of
from bayesbias.models.spec import ModelSpec
from bayesbias.words import STEREOTYPES

SCALES = {
    "connection": "connection_sd",
    "residual": "sigma",
    "attribute": "attribute_sd",
    "interaction": "interaction_sd",
}
"""Level of the model to the name of its scale."""
STEP = ("chain", "draw")
WHOLE, WORDS = ("connection",), ("protected_word", "connection")
SCALE_DIMS = {"connection_sd": WHOLE, "sigma": WHOLE, "attribute_sd": ("attribute_class",), "interaction_sd": ()}
"""Dimensions of draws, of means over the whole list, of means of words, and of scales."""
FEWEST_CONTROLS = 10
"""Control distances below which their spread is not known."""


def comparison_tree(
    matched: Matched,
    spec: ModelSpec,
    changes: list[ChangeDraws],
    joint: JointDraws | None,
    seed: int,
    levels: str,
    population: str = SIMILAR,
    related: Relatedness | None = None,
) -> xr.DataTree:
    """Draws, data and facts as one tree, as :class:`Comparison` describes it; ``joint`` where NUTS made the draws.

    ``levels`` names the model of the distances in each embedding; ``population`` is what the means of connections
    speak about; ``related`` the relatedness of the protected words of all embeddings, where figures are exact.
    """
    data = Distances.read(matched.of(matched.distances[:, 0]), check=False)
    names = list(matched.embeddings)
    chains, draws = changes[0].connection_change.shape[:2]
    coords: dict[str, Any] = {
        "chain": np.arange(chains),
        "draw": np.arange(draws),
        "embedding": names,
        "embedding_other": names,
        "change": [f"{names[change.before]} → {names[change.after]}" for change in changes],
        "connection": data.connections,
        "protected_word": data.protected_words,
        "attribute_class": data.attribute_classes,
    }
    groups = {
        "/posterior": _posterior(changes, joint, len(names)),
        "/paired": {
            "connection_before": ((*STEP, "change", *WHOLE), _stacked(each.connection_before for each in changes)),
            "word_before": ((*STEP, "change", *WORDS), _stacked(each.word_before for each in changes)),
            "before_index": (("change",), np.array([each.before for each in changes])),
            "after_index": (("change",), np.array([each.after for each in changes])),
        },
        "/sample_stats": _stats_of_all(changes, joint),
    }
    made = {
        name: xr.Dataset(values, coords={dim: coords[dim] for _, (dims, _) in values.items() for dim in dims})
        for name, values in groups.items()
        if values
    }
    made["/observed_data"] = xr.Dataset(
        {"distance": (("pair", "embedding"), matched.distances)},
        coords={"pair": np.arange(len(data.y)), "embedding": names},
    )
    made["/constant_data"] = _constants(matched, data)
    if related is not None:
        made[f"/{KEY}"] = relatedness_group(related)
    tree = xr.DataTree.from_dict(made)
    tree.attrs = _facts(matched, spec, changes, joint, seed) | {"levels_model": levels, "population": population}
    return tree


def _posterior(changes: list[ChangeDraws], joint: JointDraws | None, embeddings: int) -> dict[str, Any]:
    values: dict[str, Any] = {
        "connection_mean": ((*STEP, "embedding", *WHOLE), _levels(changes, embeddings, "connection")),
        "word_mean": ((*STEP, "embedding", *WORDS), _levels(changes, embeddings, "word")),
        "connection_change": ((*STEP, "change", *WHOLE), _stacked(each.connection_change for each in changes)),
        "word_change": ((*STEP, "change", *WORDS), _stacked(each.word_change for each in changes)),
    }
    known = {name: scale for each in changes for name, scale in each.scales.items()}
    for name, like in known.items():
        drawn = (each.scales.get(name, np.zeros_like(like)) for each in changes)
        values[f"change_{name}"] = ((*STEP, "change", *SCALE_DIMS[name]), _stacked(drawn))
    for level, covariance in ({} if joint is None else _covariances_of(joint)).items():
        dims = SCALE_DIMS[SCALES[level]]
        own = covariance if dims else covariance[:, :, 0]
        values[f"{level}_covariance"] = ((*STEP, *dims, "embedding", "embedding_other"), own)
    return values


def _stacked(values: Iterable[FloatArray]) -> FloatArray:
    """Arrays (chain, draw, ...) as one (chain, draw, change or embedding, ...)."""
    return np.stack(list(values), axis=2)


def _levels(changes: list[ChangeDraws], embeddings: int, kind: str) -> FloatArray:
    """Means (chain, draw, embedding, ...): of the first embedding, and what changed from it to each other one."""
    first = [each for each in changes if each.before == 0]
    start = getattr(first[0], f"{kind}_before")
    levels = {0: start, **{each.after: start + getattr(each, f"{kind}_change") for each in first}}
    return _stacked(levels[place] for place in range(embeddings))


def _stats_of_all(changes: list[ChangeDraws], joint: JointDraws | None) -> dict[str, Any]:
    if joint is not None:
        return {name: (STEP, values) for name, values in joint.sample_stats.items()}
    names = sorted({name for each in changes for name in each.stats})
    return {name: (("change",), np.array([each.stats.get(name, np.nan) for each in changes])) for name in names}


def _constants(matched: Matched, data: Distances) -> xr.Dataset:
    control = matched.distances[~matched.table["connection"].isin(STEREOTYPES).to_numpy()]
    known = len(control) >= FEWEST_CONTROLS and (np.ptp(control, axis=0) > SAME).all()
    spread = control.std(axis=0, ddof=1) if known else np.full(len(matched.embeddings), np.nan)
    return xr.Dataset(
        {
            "n": (WORDS, data.cells.n),
            "control_spread": ("embedding", spread),
            "group": ("protected_word", data.groups),
            "word_index": ("pair", data.word),
            "connection_index": ("pair", data.connection),
            "attribute_index": ("pair", data.attribute),
            "attribute_class": ("pair", data.attribute_class),
        },
        coords={
            "protected_word": data.protected_words,
            "connection": data.connections,
            "attribute_word": data.attribute_words,
            "embedding": list(matched.embeddings),
            "pair": np.arange(len(data.y)),
        },
    )


def _facts(
    matched: Matched, spec: ModelSpec, changes: list[ChangeDraws], joint: JointDraws | None, seed: int
) -> dict[str, Any]:
    engine = "nuts" if joint else next((each.engine for each in changes if each.engine != "exact"), "exact")
    notes = [*matched.notes, *dict.fromkeys(note for each in changes for note in each.notes)]
    faults = dict.fromkeys(fault for each in changes for fault in each.faults)
    return {
        "model": spec.name,
        "model_text": spec.text,
        "model_hash": spec.hash,
        "engine": engine,
        "seed": seed,
        "notes": to_json(notes),
        "faults": to_json(list(faults)),
        "versions": to_json(versions_of(engine)),
        **({} if joint is None else {"sampler": joint.sampler}),
        "coverage": to_json(matched.coverage),
    }


def transform(size: int) -> FloatArray:
    """Embeddings to components (size, size): their mean, then each one's difference from the mean of those before."""
    matrix = np.full((size, size), 1 / size)
    for i in range(1, size):
        matrix[i] = np.where(np.arange(size) < i, -1 / i, np.arange(size) == i)
    return matrix


def _covariances_of(joint: JointDraws) -> dict[str, FloatArray]:
    """Level to the covariances (chain, draw, size, E, E) of the embeddings."""
    back = np.linalg.inv(transform(joint.connection_mean.shape[2]))
    return {name: np.einsum("ec,sdkcg,fg->sdkef", back, value, back) for name, value in joint.covariances.items()}
