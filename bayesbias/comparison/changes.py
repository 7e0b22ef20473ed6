"""``compare``: draws of what changed from one embedding to another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._checks import one_of
from bayesbias._core.marginal import scatter_cells
from bayesbias._core.related import draw_cells, draw_factors, draw_population, scatter_of_errors
from bayesbias._core.vectors import FloatArray
from bayesbias._files import to_json
from bayesbias._progress import progress
from bayesbias.checks.convergence import diagnose, judged, mixing_faults
from bayesbias.comparison.associations import GIVEN, SIMILAR
from bayesbias.comparison.comparison import Comparison
from bayesbias.comparison.frame_contrasts import common_frames, over_frames
from bayesbias.comparison.sides import Case, ChangeDraws, Matched, change_notes, fixed_values, match
from bayesbias.distances.covariances import KEY, Relatedness, relatedness_group, relatedness_of
from bayesbias.distances.distances import Distances, stacked_tables
from bayesbias.distances.storage import check_distances
from bayesbias.distances.vocabularies import few_shared, joint_relatedness
from bayesbias.errors import InputError
from bayesbias.models.fits import AUTO, RELATED, checked_draws, fit, is_auto, used_seed
from bayesbias.models.marginal import fit_for_crossed
from bayesbias.models.nuts import JointDraws, joint_obstacle, sample_joint
from bayesbias.models.related import LEAST_SCATTER, factor_products, protected_root, related_posterior, relatedness_for
from bayesbias.models.results import Fit, made_by, versions_of
from bayesbias.models.spec import ModelSpec, Normal, load_model
from bayesbias.models.weights import whole_weights

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
    data, names = matched.data, list(matched.embeddings)
    chains, draws = changes[0].connection_change.shape[:2]
    coords: dict[str, Any] = {
        "chain": np.arange(chains),
        "draw": np.arange(draws),
        "embedding": names,
        "embedding_other": names,
        "change": [matched.label(change.before, change.after) for change in changes],
        "connection": data.connections,
        "protected_word": data.protected_words,
        "attribute_class": data.attribute_classes,
    }
    stats: dict[str, Any] = {} if joint is None else {name: (STEP, each) for name, each in joint.sample_stats.items()}
    for name in sorted({name for each in changes for name in each.stats}):
        stats[name] = (("change",), np.array([each.stats.get(name, np.nan) for each in changes]))
    groups = {
        "/posterior": _posterior(changes, joint, len(names)),
        "/paired": {
            "connection_before": ((*STEP, "change", *WHOLE), _stacked(each.connection_before for each in changes)),
            "word_before": ((*STEP, "change", *WORDS), _stacked(each.word_before for each in changes)),
            "before_index": (("change",), np.array([each.before for each in changes])),
            "after_index": (("change",), np.array([each.after for each in changes])),
        },
        "/sample_stats": stats,
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
    engine = "nuts" if joint else next((each.engine for each in changes if each.engine != "exact"), "exact")
    tree.attrs = {
        **made_by(spec, engine, seed),
        "notes": to_json([*matched.notes, *dict.fromkeys(note for each in changes for note in each.notes)]),
        "faults": to_json(list(dict.fromkeys(fault for each in changes for fault in each.faults))),
        "versions": to_json(versions_of(engine)),
        **({} if joint is None else {"sampler": joint.sampler}),
        "coverage": to_json(matched.coverage),
        "levels_model": levels,
        "population": population,
    }
    return tree


def _posterior(changes: list[ChangeDraws], joint: JointDraws | None, embeddings: int) -> dict[str, Any]:
    """Variables of the posterior with their dimensions."""
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
    if joint is not None:
        back = np.linalg.inv(transform(embeddings))
        for level, components in joint.covariances.items():
            covariance, dims = np.einsum("ec,sdkcg,fg->sdkef", back, components, back), SCALE_DIMS[SCALES[level]]
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


def _constants(matched: Matched, data: Distances) -> xr.Dataset:
    """The pairs, and the size of each cell."""
    return xr.Dataset(
        {
            "n": (WORDS, data.cells.n),
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


def transform(size: int) -> FloatArray:
    """Embeddings to components (size, size): their mean, then each one's difference from the mean of those before."""
    matrix = np.full((size, size), 1 / size)
    for i in range(1, size):
        matrix[i] = np.where(np.arange(size) < i, -1 / i, np.arange(size) == i)
    return matrix


MOST_CELLS = 2000  # cells of all embeddings beyond which a covariance matrix of them is too large for a comparison


def stacked_data(matched: Matched, found: Sequence[Relatedness]) -> tuple[Distances, Distances] | str:
    """The data of the pairs in one embedding and in all, or why there are none."""
    distances, size = matched.data, len(matched.embeddings)
    if (cells := int(distances.filled.sum()) * size) > MOST_CELLS:
        return f"there are {cells:,} cells in all embeddings, more than {MOST_CELLS:,}"
    words = {*distances.protected_words.tolist(), *distances.attribute_words.tolist()}
    if any(not words.issubset((*each.protected_words, *each.attribute_words)) for each in found):
        return "words of the tables are not known to their relatedness"
    related = joint_relatedness(found, [distances.protected_words.tolist()] * size)
    if isinstance(related, str):
        return related
    return distances, stacked_tables([replace(distances, y=column) for column in matched.distances.T], related)


def by_covariance(
    distances: Distances, every: Distances, matched: Matched, spec: ModelSpec, draws: int, chains: int, seed: int
) -> list[ChangeDraws]:
    """Draws of the changes between all pairs of embeddings from one posterior of all.

    ``distances`` and ``every`` are the pairs in the first embedding and in all, of :func:`stacked_data`.
    """
    rng = np.random.default_rng(seed)
    posterior = related_posterior(spec, every)
    factors, cells = draw_factors(posterior.grid, draws, rng), distances.filled
    by_word = scatter_cells(draw_cells(posterior.sums, factors, rng), every.filled)
    # what all embeddings hold, apart by embedding
    size, embeddings, words, n = (chains, draws // chains), len(matched.embeddings), len(cells), int(cells.sum())
    by_word = by_word.reshape(draws, embeddings, *cells.shape)
    observed = scatter_cells(posterior.sums.y, every.filled).reshape(embeddings, *cells.shape)
    blocks = posterior.sums.covariance.reshape(embeddings, n, embeddings, n)
    root = protected_root(every)
    wide = (root @ root.T).reshape(embeddings, words, embeddings, words)
    families = relatedness_for(every).families(every.protected_words[:words].tolist())
    products = factor_products(factors, distances)
    results = []
    for before, after in matched.pairs:
        moved, change = by_word[:, after] - by_word[:, before], matched.change(before, after)
        fixed = fixed_values(distances, change)
        for k, value in fixed.items():
            moved[:, :, k] = np.where(cells[:, k], value, np.nan)
        apart = (
            blocks[after, :, after] - blocks[after, :, before] - blocks[before, :, after] + blocks[before, :, before]
        )
        moves = wide[after, :, after] + wide[before, :, before] - 2 * wide[after, :, before]
        scale = posterior.priors.population.scale * float(np.sqrt(max(np.diag(moves).mean(), LEAST_SCATTER)))
        errors = scatter_of_errors(apart, cells) * products
        population = draw_population(moved, observed[after] - observed[before], errors, families, scale, rng)
        spread = np.sqrt(np.diagonal(population.covariance, axis1=1, axis2=2)).copy()
        spread[:, list(fixed)] = 0.0
        start = by_word[:, before]
        results.append(
            ChangeDraws(
                before=before,
                after=after,
                connection_before=_whole(start, distances).reshape(*size, -1),
                connection_change=_whole(moved, distances).reshape(*size, -1),
                word_before=start.reshape(*size, *cells.shape),
                word_change=moved.reshape(*size, *cells.shape),
                scales={"connection_sd": spread.reshape(*size, -1)},
                stats={},
                faults=(),
                notes=tuple(change_notes(distances, change, fixed, matched.label(before, after))),
                engine="exact",
            )
        )
    return results


def _whole(words: FloatArray, data: Distances) -> FloatArray:
    """Means (draws, K) over the protected words that have a connection; groups weigh the same."""
    weights = np.column_stack([whole_weights(data, own) for own in data.filled.T])
    value: FloatArray = np.einsum("djk,jk->dk", np.where(data.filled, words, 0.0), weights)
    return value


LEVELS_MODEL = "crossed"


def _by_differences(
    matched: Matched, pair: tuple[int, int], spec: ModelSpec, engine: str, size: tuple[int, int], seed: Any
) -> ChangeDraws:
    """The change between two embeddings, from a fit of the differences and one of what they leave of the levels."""
    label, change = matched.label(*pair), matched.change(*pair)
    base = matched.distances[:, pair[0]]
    data = Distances.read(matched.of(base), check=False)
    centre = np.bincount(data.connection, weights=change) / np.bincount(data.connection)
    fixed = fixed_values(data, change)
    slopes = _slopes(data, base, change, fixed)
    rest = base + slopes[data.connection] * (change - centre[data.connection])
    seeds = [int(state >> 1) for state in seed.generate_state(2, np.uint64)]
    of_levels = _drawn(matched.of(rest), data, LEVELS_MODEL, engine, size, seeds[0], label)
    of_change = _drawn(matched.of(change), data, spec, engine, size, seeds[1], f"the change {label}")
    connection, words, moved = of_change
    fits = {name: post for name, (_, _, post) in (("levels", of_levels), ("change", of_change)) if post is not None}
    weighted, faults = [], []
    for name, post in fits.items():
        stats = Fit(post).stats
        if "pareto_k" in stats:  # independent draws are judged by their weights
            weighted.append(stats)
            found = judged(ess=float(stats["importance_ess"]), pareto_k=float(stats["pareto_k"]))
        else:
            found = diagnose(post).faults
        faults += [f"{label}, {name}: {fault}" for fault in found]
    notes = dict.fromkeys(note for post in fits.values() for note in Fit(post).notes)
    return ChangeDraws(
        *pair,
        connection_before=of_levels[0] - slopes * (connection - centre),
        connection_change=connection,
        word_before=of_levels[1] - slopes * (words - centre),
        word_change=words,
        scales={} if moved is None else _scales(moved, data),
        stats={
            name: float(worst([float(stats[name]) for stats in weighted]))
            for name, worst in (("pareto_k", max), ("importance_ess", min))
            if weighted
        },
        faults=tuple(faults),
        notes=(*change_notes(data, change, fixed, label), *notes),
        engine=str(next(reversed(fits.values())).attrs["engine"]) if fits else "exact",
    )


def _drawn(
    table: pd.DataFrame,
    data: Distances,
    model: str | ModelSpec,
    engine: str,
    size: tuple[int, int],
    seed: int,
    what: str,
) -> tuple[FloatArray, FloatArray, xr.DataTree | None]:
    """Draws of a table's means of connections (chain, draw, K) and of words (chain, draw, J, K), and their fit.

    Those of connections whose values do not vary are these values; without others there is no fit.
    """
    values = table["distance"].to_numpy()
    words = np.full((*size, *data.filled.shape), np.nan)
    connection = np.empty((*size, len(data.connections)))
    fixed = fixed_values(data, values)
    for k, value in fixed.items():
        words[..., k] = np.where(data.filled[:, k], value, np.nan)
        connection[..., k] = value
    free = ~np.isin(data.connection, list(fixed))
    if not free.any():
        return connection, words, None
    try:
        post = fit(table[free], model, engine=engine, draws=size[0] * size[1], chains=size[0], seed=seed)
    except InputError as error:
        raise InputError(f"{what}: {error}") from error
    posterior = post["posterior"]
    rows = [data.protected_words.tolist().index(name) for name in posterior["protected_word"].to_numpy().tolist()]
    own = [data.connections.tolist().index(name) for name in posterior["connection"].to_numpy().tolist()]
    words[:, :, np.array(rows)[:, None], own] = posterior["word_mean"].to_numpy()
    connection[..., own] = posterior["connection_mean"].to_numpy()
    return connection, words, post


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


def _by_nuts(
    matched: Matched, specs: tuple[ModelSpec, ModelSpec], draws: int, chains: int, seed: int
) -> tuple[list[ChangeDraws], JointDraws]:
    """All embeddings at once: the changes between all pairs, and the draws behind them."""
    levels, changes = specs
    levels = replace(levels, priors={name: prior for name, prior in levels.priors.items() if name in changes.priors})
    if (reason := joint_obstacle([levels, changes])) is not None:
        raise InputError(f"engine='nuts' needs another model of changes than {changes.name!r}: {reason}")
    levels = replace(levels, terms=changes.terms)
    levels, data = fit_for_crossed(levels, matched.data)
    changes = replace(changes, terms=changes.terms.model_copy(update={"word_x_group": levels.terms.word_x_group}))
    for pair in matched.pairs:
        change = matched.change(*pair)
        if fixed := fixed_values(data, change):
            note = change_notes(data, change, fixed, matched.label(*pair))[0]
            raise InputError(f"{note} That leaves nothing to sample: use engine='auto'")
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
    # judged by means and covariances, as they were sampled
    sampled = (joint.connection_mean, joint.word_mean, *joint.covariances.values())
    values = np.concatenate([each.reshape(*each.shape[:2], -1) for each in sampled], axis=2)
    faults = mixing_faults(values[:, :, ~np.isnan(values[0, 0])], joint.sample_stats)
    fits = []
    for before, after in matched.pairs:
        weights = back[after] - back[before]
        scales = {
            SCALES[level]: np.sqrt(np.einsum("c,sdkcg,g->sdk", weights, covariance, weights))
            for level, covariance in joint.covariances.items()
        }
        if "interaction_sd" in scales:
            scales["interaction_sd"] = scales["interaction_sd"][:, :, 0]
        fits.append(
            ChangeDraws(
                before=before,
                after=after,
                connection_before=mean[:, :, before],
                connection_change=mean[:, :, after] - mean[:, :, before],
                word_before=word[:, :, before],
                word_change=word[:, :, after] - word[:, :, before],
                scales=scales,
                stats={},
                faults=faults,
                notes=data.notes,
                engine="nuts",
            )
        )
    return fits, joint


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
    its change. Where the tables know how words are related, the covariance of all distances in all embeddings is
    estimated from the vectors, and one posterior holds levels and changes, of these protected words. Otherwise
    differences of paired distances follow a crossed model, which takes different words for unrelated; what the first
    embedding's distances do not share with the change is fitted beside it, and taken for independent.

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
    named, framed, frame_notes = common_frames(_tables(tables, before, after))
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
        changes = []
        with progress("comparing embeddings", len(matched.pairs)) as done:
            for number, pair in enumerate(matched.pairs):
                own = np.random.SeedSequence([used, number])
                changes.append(_by_differences(matched, pair, spec, engine, (chains, draws // chains), own))
                done(number + 1)
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
    """The tables by name: a mapping as given, or the two of a pair."""
    if tables is None and before is not None and after is not None:
        return {"before": before, "after": after}
    if before is not None or after is not None:
        every = {"tables": tables, "before": before, "after": after}
        arguments = " and ".join(name for name, value in every.items() if value is not None)
        raise InputError(f"given is {arguments}: give before= and after=, or one mapping of names to tables")
    if not isinstance(tables, Mapping):
        raise InputError(
            f"given is {type(tables).__name__}: give before= and after=, or a mapping of names to distance tables"
        )
    return tables
