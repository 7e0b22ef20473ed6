"""``compare``: from tables to the tree of a comparison."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._checks import one_of
from bayesbias._core.vectors import FloatArray
from bayesbias._progress import progress
from bayesbias.comparison.contrast import GIVEN, SIMILAR
from bayesbias.comparison.paired.draws import (
    LEVELS_MODEL,
    SCALES,
    ChangeDraws,
    by_covariance,
    by_differences,
    by_nuts,
    covariances_of,
)
from bayesbias.comparison.paired.pairs import SAME, Case, Matched, match
from bayesbias.comparison.paired.results import Comparison
from bayesbias.distances.storage import check_distances, relatedness_of
from bayesbias.errors import InputError
from bayesbias.models.data import ModelData, model_data
from bayesbias.models.fits import AUTO, RELATED, checked_draws, is_auto, used_seed
from bayesbias.models.nuts import JointDraws
from bayesbias.models.priors import Normal
from bayesbias.models.results import versions_of
from bayesbias.models.spec import ModelSpec, load_model
from bayesbias.words import CONTROLS

STEP = ("chain", "draw")
WHOLE, WORDS = ("connection",), ("protected_word", "connection")
SCALE_DIMS = {"connection_sd": WHOLE, "sigma": WHOLE, "attribute_sd": ("attribute_class",), "interaction_sd": ()}
FEWEST_CONTROLS = 10
"""Control distances below which their spread is not known."""
INDEPENDENT = (
    "Each pair of embeddings has fits of its own, so that levels differ slightly from pair to pair; statements about "
    "several changes at once need engine='nuts'."
)


def comparison_tree(
    matched: Matched,
    spec: ModelSpec,
    changes: list[ChangeDraws],
    joint: JointDraws | None,
    seed: int,
    population: str = SIMILAR,
) -> xr.DataTree:
    """Draws, data and facts as one tree, as :class:`Comparison` describes it; ``joint`` where NUTS made the draws.

    ``population`` is what the means of connections speak about.
    """
    data = model_data(matched.of(matched.distances[:, 0]))
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
        "/sample_stats": _stats(changes, joint),
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
    tree = xr.DataTree.from_dict(made)
    tree.attrs = _facts(matched, spec, changes, joint, seed) | {"population": population}
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
    for level, covariance in ({} if joint is None else covariances_of(joint)).items():
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


def _stats(changes: list[ChangeDraws], joint: JointDraws | None) -> dict[str, Any]:
    if joint is not None:
        return {name: (STEP, values) for name, values in joint.sample_stats.items()}
    names = sorted({name for each in changes for name in each.stats})
    return {name: (("change",), np.array([each.stats.get(name, np.nan) for each in changes])) for name in names}


def _constants(matched: Matched, data: ModelData) -> xr.Dataset:
    control = matched.distances[matched.table["connection"].isin(CONTROLS).to_numpy()]
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
    several = [INDEPENDENT] if joint is None and len(changes) > 1 and not spec.related else []
    notes = [*matched.notes, *several, *dict.fromkeys(note for each in changes for note in each.notes)]
    faults = dict.fromkeys(fault for each in changes for fault in each.faults)
    return {
        "model": spec.name,
        "model_text": spec.text,
        "model_hash": spec.hash,
        "levels_model": spec.name if spec.related else LEVELS_MODEL,
        "engine": engine,
        "seed": seed,
        "notes": json.dumps(notes, ensure_ascii=False),
        "faults": json.dumps(list(faults), ensure_ascii=False),
        "versions": json.dumps(versions_of(engine)),
        **({} if joint is None else {"sampler": joint.sampler}),
        "coverage": json.dumps(matched.coverage, ensure_ascii=False),
    }


ENGINES = ("auto", "marginal", "nuts")
CHANGE = "change"


def compare(
    tables: Mapping[str, pd.DataFrame] | None = None,
    *,
    before: pd.DataFrame | None = None,
    after: pd.DataFrame | None = None,
    model: str | Path | ModelSpec = AUTO,
    engine: str = "auto",
    draws: int = 4000,
    chains: int = 4,
    seed: int | None = None,
    case: Case = "as-is",
) -> Comparison:
    """What changed between embeddings, from distances of the same pairs.

    The same words are measured in each embedding, so that most of what makes a single contrast uncertain cancels in
    its change. Where the tables know how words are related, the covariance of all distances in all embeddings is read
    off the vectors, and one posterior holds levels and changes; whole-list results are then those of these protected
    words. Otherwise differences of paired distances follow a crossed model, which takes different words for unrelated
    and is fitted by the marginal engine; what the first embedding's distances do not share with the change is fitted
    beside it, and taken for independent.

    Parameters
    ----------
    tables
        Names to distance tables of two embeddings or more; or
    before, after
        the distance tables of two, such as before and after :func:`debias`.
    model
        ``"auto"``: ``"related"`` where all tables carry relatedness of one vocabulary, else ``"change"``, and the notes
        say why. Or the name of a model of changes, the path of a TOML file or a loaded model: ``"change"`` is
        ``"crossed"`` around 0, with scales of the size of changes.
    engine
        ``"auto"`` takes the model's own; ``"marginal"`` fits differences, for each pair of embeddings; ``"nuts"`` fits
        all embeddings at once by the model of changes, with a covariance between them at every level (LKJ priors), in
        minutes.
    draws, chains, seed
        As in :func:`fit`.
    case
        ``"fallback"`` matches words that differ in capital letters only.

    Returns
    -------
    Comparison
        Pairs that some table lacks are left out; :attr:`Comparison.notes` says how many. Repeated pairs count once.

    Raises
    ------
    InputError
        Tables that share no pair, a single table, one that is no distance table, an unknown model or engine.

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> pairs = bb.load_list("gender_pairs").pairs
    >>> debiased = bb.debias(kv, "hard", definitional=pairs)
    >>> before, after = (bb.distance_table(one, "weat7", relatedness=False) for one in (kv, debiased))
    >>> result = bb.compare(before=before, after=after, seed=0)
    >>> result.embeddings
    ('before', 'after')
    """
    matched = match(_tables(tables, before, after), case)
    one_of(engine, ENGINES, "engine")
    draws, chains = checked_draws(draws, chains)
    used = used_seed(seed)
    related = _related_draws(matched, _tables(tables, before, after), model, engine, case, (draws, chains, used))
    if isinstance(related, Comparison):
        return related
    spec = load_model(CHANGE if is_auto(model) else model)
    centre = spec.priors.get("connection_mean")
    if not isinstance(centre, Normal) or centre.mean != 0:
        raise InputError(
            f"the model {spec.name!r} is one of distances: a model of changes has a connection_mean around 0, as "
            "'change' has (copy its file to change a prior)"
        )
    joint = None
    if engine == "nuts":
        changes, joint = by_nuts(matched, (load_model(LEVELS_MODEL), spec), draws, chains, used)
    else:
        total = len(matched.embeddings) * (len(matched.embeddings) - 1) // 2
        with progress("comparing embeddings", total) as done:
            changes = by_differences(matched, spec, engine, draws, chains, used, done)
    if is_auto(model) and related is not None:
        matched = replace(matched, notes=(*matched.notes, related))
    return Comparison(comparison_tree(matched, spec, changes, joint, used))


def _related_draws(
    matched: Matched,
    tables: Mapping[str, pd.DataFrame],
    model: str | Path | ModelSpec,
    engine: str,
    case: Case,
    size: tuple[int, int, int],
) -> Comparison | str | None:
    """The comparison by the covariance that the vectors give, or why the model of changes takes its place."""
    asked = model.related if isinstance(model, ModelSpec) else isinstance(model, str) and model == RELATED
    if not asked and (not is_auto(model) or engine != "auto"):
        return None
    reason: str | list[ChangeDraws]
    found = [relatedness_of(table) for table in tables.values()]
    lacking = [str(name) for name, each in zip(tables, found, strict=True) if each is None]
    if engine != "auto":
        reason = f"engine={engine!r} does not fit it"
    elif lacking:
        reason = f"the tables of {', '.join(lacking)} do not tell how words are related"
    elif case != "as-is":
        reason = "words were matched without regard to capital letters"
    else:
        known = [each for each in found if each is not None]
        for each, table in zip(known, tables.values(), strict=True):
            if "truth" not in table.attrs:
                check_distances(each, table)
        spec = model if isinstance(model, ModelSpec) else load_model(RELATED)
        reason = by_covariance(matched, known, spec, *size)
        if not isinstance(reason, str):
            return Comparison(comparison_tree(matched, spec, reason, None, size[2], population=GIVEN))
    if asked:
        raise InputError(f"the model {RELATED!r} cannot compare these tables: {reason}; use model='change'")
    return f"Different words are taken for unrelated, since {reason}."


def _tables(
    tables: Mapping[str, pd.DataFrame] | None, before: pd.DataFrame | None, after: pd.DataFrame | None
) -> Mapping[str, pd.DataFrame]:
    pair = before is not None or after is not None
    if pair and (tables is not None or before is None or after is None):
        given = [
            name for name, value in (("tables", tables), ("before", before), ("after", after)) if value is not None
        ]
        raise InputError(f"given is {' and '.join(given)}: give before= and after=, or one mapping of names to tables")
    if before is not None and after is not None:
        return {"before": before, "after": after}
    if not isinstance(tables, Mapping):
        raise InputError(
            f"given is {type(tables).__name__}: give before= and after=, or a mapping of names to distance tables"
        )
    return tables
