"""``compare``: draws of what changed from one embedding to another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._checks import one_of
from bayesbias._core.vectors import FloatArray
from bayesbias._progress import progress
from bayesbias.checks.convergence import diagnose, judged, mixing_faults
from bayesbias.comparison.associations import GIVEN
from bayesbias.comparison.change_trees import SCALES, comparison_tree, transform
from bayesbias.comparison.comparison import Comparison
from bayesbias.comparison.frame_contrasts import common_frames, over_frames
from bayesbias.comparison.matching import Case, ChangeDraws, Matched, change_notes, match
from bayesbias.comparison.related_changes import by_covariance, stacked_data
from bayesbias.comparison.sides import fixed_values
from bayesbias.distances.covariances import relatedness_of
from bayesbias.distances.distances import Distances
from bayesbias.distances.storage import check_distances
from bayesbias.distances.vocabularies import few_shared
from bayesbias.errors import InputError
from bayesbias.models.fits import AUTO, RELATED, checked_draws, fit, is_auto, used_seed
from bayesbias.models.marginal import fit_for_crossed
from bayesbias.models.nuts import JointDraws, joint_obstacle, sample_joint
from bayesbias.models.results import Fit
from bayesbias.models.spec import ModelSpec, Normal, load_model

LEVELS_MODEL = "crossed"


def _by_differences(
    matched: Matched, spec: ModelSpec, engine: str, draws: int, chains: int, seed: int, done: Callable[[float], None]
) -> list[ChangeDraws]:
    """The changes between all pairs of embeddings, each from a fit of its differences; ``done`` counts them."""
    changes = []
    for number, i in enumerate(combinations(range(len(matched.embeddings)), 2)):
        own = np.random.SeedSequence([seed, number])
        changes.append(_one_change(matched, i, spec, engine, draws, chains, own))
        done(number + 1)
    return changes


def _one_change(
    matched: Matched, pair: tuple[int, int], spec: ModelSpec, engine: str, draws: int, chains: int, seed: Any
) -> ChangeDraws:
    before, after = pair
    label = f"{matched.embeddings[before]} → {matched.embeddings[after]}"
    base, change = matched.distances[:, before], matched.distances[:, after] - matched.distances[:, before]
    data = Distances.read(matched.of(base), check=False)
    centre = np.bincount(data.connection, weights=change) / np.bincount(data.connection)
    fixed = fixed_values(data, change)
    slopes = _slopes(data, base, change, fixed)
    rest = base + slopes[data.connection] * (change - centre[data.connection])
    size = (chains, draws // chains)
    seeds = [int(state >> 1) for state in seed.generate_state(2, np.uint64)]
    left = _drawn(matched.of(rest), data, LEVELS_MODEL, engine, size, seeds[0], label)
    moved = _drawn(matched.of(change), data, spec, engine, size, seeds[1], f"the change {label}")
    fits = {name: each.post for name, each in (("levels", left), ("change", moved)) if each.post is not None}
    notes = dict.fromkeys(note for post in fits.values() for note in Fit(post).notes)
    return ChangeDraws(
        before=before,
        after=after,
        connection_before=left.connection - slopes * (moved.connection - centre),
        connection_change=moved.connection,
        word_before=left.words - slopes * (moved.words - centre),
        word_change=moved.words,
        scales={} if moved.post is None else _scales(moved.post, data),
        stats=_stats(fits),
        faults=tuple(f"{label}, {name}: {fault}" for name, post in fits.items() for fault in _faults(post)),
        notes=(*change_notes(data, change, fixed, label), *notes),
        engine=str(next(reversed(fits.values())).attrs["engine"]) if fits else "exact",
    )


@dataclass(frozen=True)
class _Drawn:
    """Draws (chain, draw, K) and (chain, draw, J, K) of a fit; the fit itself, None where nothing varied."""

    connection: FloatArray
    words: FloatArray
    post: xr.DataTree | None


def _drawn(
    table: pd.DataFrame,
    data: Distances,
    model: str | ModelSpec,
    engine: str,
    size: tuple[int, int],
    seed: int,
    what: str,
) -> _Drawn:
    """Draws of a table's means; those of connections whose values do not vary are these values."""
    values = table["distance"].to_numpy()
    words = np.full((*size, *data.filled.shape), np.nan)
    connection = np.empty((*size, len(data.connections)))
    fixed = fixed_values(data, values)
    for k, value in fixed.items():
        words[..., k] = np.where(data.filled[:, k], value, np.nan)
        connection[..., k] = value
    free = ~np.isin(data.connection, list(fixed))
    if not free.any():
        return _Drawn(connection, words, None)
    try:
        post = fit(table[free], model, engine=engine, draws=size[0] * size[1], chains=size[0], seed=seed)
    except InputError as error:
        raise InputError(f"{what}: {error}") from error
    posterior = post["posterior"]
    rows = [data.protected_words.tolist().index(name) for name in posterior["protected_word"].to_numpy().tolist()]
    own = [data.connections.tolist().index(name) for name in posterior["connection"].to_numpy().tolist()]
    words[:, :, np.array(rows)[:, None], own] = posterior["word_mean"].to_numpy()
    connection[..., own] = posterior["connection_mean"].to_numpy()
    return _Drawn(connection, words, post)


def _slopes(data: Distances, base: FloatArray, change: FloatArray, fixed: Mapping[int, float]) -> FloatArray:
    """The slope (K,) of each connection, one for all connections that share attribute words; 0 without a change."""
    free = ~np.isin(data.connection, list(fixed))
    slopes = np.zeros(len(data.connections))
    for kind in range(len(data.connection_classes)):
        own = np.flatnonzero(data.connection_class == kind)
        rows = free & np.isin(data.connection, own)
        if rows.any():
            slopes[own] = slope(data, base, change, rows)
    return slopes


def slope(data: Distances, base: FloatArray, change: FloatArray, rows: np.ndarray) -> float:
    """How much of the change to add to the distances of the first embedding so that the two no longer go together.

    Covariances are those of the rows' mean, with protected words and attribute words as clusters.
    """
    connection = data.connection[rows]
    values = np.column_stack([base, change])[rows]
    n = np.maximum(np.bincount(connection), 1)
    centre = np.column_stack([np.bincount(connection, weights=column) for column in values.T]) / n[:, None]
    apart = values - centre[connection]
    covariance = np.zeros((2, 2))
    for unit in (data.word[rows], data.attribute[rows]):
        total = np.column_stack([np.bincount(unit, weights=column) for column in apart.T])
        covariance += total.T @ total
    return float(-covariance[0, 1] / covariance[1, 1]) if covariance[1, 1] > 0 else 0.0


def _scales(difference: xr.DataTree, data: Distances) -> dict[str, FloatArray]:
    """The scales of a fit of changes, placed among all connections and classes."""
    labels = {"connection": data.connections.tolist(), "attribute_class": data.attribute_classes}
    scales = {}
    for name in SCALES.values():
        if name not in difference["posterior"]:
            continue
        values = difference["posterior"][name]
        if values.ndim == 2:
            scales[name] = values.to_numpy()
            continue
        dim = str(values.dims[2])
        placed = np.zeros((*values.shape[:2], len(labels[dim])))
        placed[..., [labels[dim].index(label) for label in values[dim].to_numpy().tolist()]] = values.to_numpy()
        scales[name] = placed
    return scales


def _stats(fits: Mapping[str, xr.DataTree]) -> dict[str, float]:
    """Largest Pareto k and smallest effective number of points of the fits."""
    weighted = [stats for post in fits.values() if "pareto_k" in (stats := Fit(post).stats)]
    if not weighted:
        return {}
    return {
        "pareto_k": max(float(stats["pareto_k"]) for stats in weighted),
        "importance_ess": min(float(stats["importance_ess"]) for stats in weighted),
    }


def _faults(post: xr.DataTree) -> tuple[str, ...]:
    """Why a fit should not be read; independent draws are judged by their weights."""
    stats = Fit(post).stats
    if "pareto_k" not in stats:
        return diagnose(post).faults
    return judged(ess=float(stats["importance_ess"]), pareto_k=float(stats["pareto_k"]))


def _by_nuts(
    matched: Matched, specs: tuple[ModelSpec, ModelSpec], draws: int, chains: int, seed: int
) -> tuple[list[ChangeDraws], JointDraws]:
    """All embeddings at once: the changes between all pairs, and the draws behind them."""
    levels, changes = specs
    levels = replace(levels, priors={name: prior for name, prior in levels.priors.items() if name in changes.priors})
    if (reason := joint_obstacle([levels, changes])) is not None:
        raise InputError(f"engine='nuts' needs another model of changes than {changes.name!r}: {reason}")
    levels = replace(levels, terms=changes.terms)
    table = matched.of(matched.distances[:, 0])
    levels, data = fit_for_crossed(levels, Distances.read(table, check=False))
    changes = replace(changes, terms=changes.terms.model_copy(update={"word_x_group": levels.terms.word_x_group}))
    places = list(combinations(range(len(matched.embeddings)), 2))
    for before, after in places:
        label = f"{matched.embeddings[before]} → {matched.embeddings[after]}"
        change = matched.distances[:, after] - matched.distances[:, before]
        if fixed := fixed_values(data, change):
            raise InputError(
                f"{change_notes(data, change, fixed, label)[0]} That leaves nothing to sample: use engine='auto'"
            )
    matrix = transform(len(matched.embeddings))
    joint = sample_joint(
        [levels, *[changes] * (len(matched.embeddings) - 1)],
        data,
        matched.distances @ matrix.T,
        chains,
        draws // chains,
        np.random.default_rng(seed),
    )
    back = np.linalg.inv(matrix)
    mean = np.einsum("ec,sdck->sdek", back, joint.connection_mean)
    word = np.einsum("ec,sdcjk->sdejk", back, joint.word_mean)
    faults = _nuts_faults(joint)
    fits = [
        ChangeDraws(
            before=before,
            after=after,
            connection_before=mean[:, :, before],
            connection_change=mean[:, :, after] - mean[:, :, before],
            word_before=word[:, :, before],
            word_change=word[:, :, after] - word[:, :, before],
            scales={
                SCALES[level]: _change_scale(level, value, back[after] - back[before])
                for level, value in joint.covariances.items()
            },
            stats={},
            faults=faults,
            notes=data.notes,
            engine="nuts",
        )
        for before, after in places
    ]
    return fits, joint


def _change_scale(level: str, covariance: FloatArray, weights: FloatArray) -> FloatArray:
    """The scale (chain, draw, size) of a weighted sum of components; (chain, draw) of the single interaction."""
    scale: FloatArray = np.sqrt(np.einsum("c,sdkcg,g->sdk", weights, covariance, weights))
    return scale[:, :, 0] if level == "interaction" else scale


def _nuts_faults(joint: JointDraws) -> tuple[str, ...]:
    """Why the draws should not be read, judged by means and covariances."""
    drawn = (joint.connection_mean, joint.word_mean, *joint.covariances.values())
    values = np.concatenate([each.reshape(*each.shape[:2], -1) for each in drawn], axis=2)
    return mixing_faults(values[:, :, ~np.isnan(values[0, 0])], joint.sample_stats)


INDEPENDENT = (
    "Each pair of embeddings has fits of its own, so that levels differ slightly from pair to pair; statements about "
    "several changes at once need engine='nuts'."
)
UNRELATED = (
    "Different words are taken for unrelated: for lists of one topic the 89% intervals of changes hold 52 to 97%, "
    "those of single words 44 to 70%. Tables with relatedness (distance_table, distance_tables) give intervals that "
    "hold."
)
"""What is said of every change of a model that takes words for unrelated."""
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
    named = _tables(tables, before, after)
    named, framed, frame_notes = common_frames(named)
    matched = match(named, case)
    matched = replace(matched, notes=(*matched.notes, *frame_notes))
    one_of(engine, ENGINES, "engine")
    draws, chains = checked_draws(draws, chains)
    used = used_seed(seed)
    related = _related_draws(matched, named, framed, model, engine, case, (draws, chains, used))
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
        changes, joint = _by_nuts(matched, (load_model(LEVELS_MODEL), spec), draws, chains, used)
    else:
        total = len(matched.embeddings) * (len(matched.embeddings) - 1) // 2
        with progress("comparing embeddings", total) as done:
            changes = _by_differences(matched, spec, engine, draws, chains, used, done)
    notes = [UNRELATED if related is None or not is_auto(model) else f"{UNRELATED} The reason: {related}."]
    notes += [INDEPENDENT] if joint is None and len(changes) > 1 else []
    matched = replace(matched, notes=(*matched.notes, *notes))
    changes = over_frames(changes, framed, matched, used)
    return Comparison(comparison_tree(matched, spec, changes, joint, used, LEVELS_MODEL))


def _related_draws(
    matched: Matched,
    tables: Mapping[str, pd.DataFrame],
    framed: Mapping[str, pd.DataFrame],
    model: str | Path | ModelSpec,
    engine: str,
    case: Case,
    size: tuple[int, int, int],
) -> Comparison | str | None:
    """The comparison by the covariance that the vectors give, or why the model of changes takes its place."""
    spec = load_model(RELATED if is_auto(model) else model)
    wanted = spec.related and not is_auto(model)
    if not wanted and (not is_auto(model) or engine != "auto"):
        return None
    relatedness = [relatedness_of(table) for table in tables.values()]
    lacking = [str(name) for name, each in zip(tables, relatedness, strict=True) if each is None]
    if engine != "auto":
        reason = f"engine={engine!r} does not fit it"
    elif lacking:
        reason = f"the tables of {', '.join(lacking)} do not tell how words are related"
    elif case != "as-is":
        reason = "words were matched without regard to capital letters"
    else:
        known = [each for each in relatedness if each is not None]
        for each, table in zip(known, tables.values(), strict=True):
            if "truth" not in table.attrs:
                check_distances(each, table)
        made = stacked_data(matched, known)
        if not isinstance(made, str):
            if made[1].relatedness is not None:
                matched = replace(matched, notes=(*matched.notes, *few_shared(made[1].relatedness)))
            changes = over_frames(by_covariance(*made, matched, spec, *size), framed, matched, size[2])
            related = None if framed else made[1].relatedness  # templates have errors of which there are draws
            return Comparison(comparison_tree(matched, spec, changes, None, size[2], spec.name, GIVEN, related))
        reason = made
    if wanted:
        raise InputError(f"the model {spec.name!r} cannot compare these tables: {reason}; use model='change'")
    return reason


def _tables(
    tables: Mapping[str, pd.DataFrame] | None, before: pd.DataFrame | None, after: pd.DataFrame | None
) -> Mapping[str, pd.DataFrame]:
    pair = before is not None or after is not None
    if pair and (tables is not None or before is None or after is None):
        arguments = [
            name for name, value in (("tables", tables), ("before", before), ("after", after)) if value is not None
        ]
        raise InputError(
            f"given is {' and '.join(arguments)}: give before= and after=, or one mapping of names to tables"
        )
    if before is not None and after is not None:
        return {"before": before, "after": after}
    if not isinstance(tables, Mapping):
        raise InputError(
            f"given is {type(tables).__name__}: give before= and after=, or a mapping of names to distance tables"
        )
    return tables
