"""``compare``: what changed from one embedding to another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._support.arguments import mapping
from bayesbias._support.progress import progress
from bayesbias.checks.convergence import engine_faults
from bayesbias.comparison.change_draws import (
    LEVELS_MODEL,
    SCALE_DIMS,
    ChangeDraws,
    related_changes,
    tree_of,
    with_draws,
)
from bayesbias.comparison.comparison import Comparison
from bayesbias.comparison.sides import Case, Matched, change_notes, fixed_values, match
from bayesbias.distances.dataframe import TEMPLATES, DistanceTable, template_columns
from bayesbias.distances.distances import Distances, averaged, stacked_tables
from bayesbias.distances.vocabularies import few_shared, joint_relatedness
from bayesbias.errors import InputError, within
from bayesbias.models.families import family_of
from bayesbias.models.fits import (
    AUTO,
    RELATED,
    Run,
    checked_draws,
    fewer_draws,
    is_auto,
    run,
    used_seed,
)
from bayesbias.models.related import too_many_lists
from bayesbias.models.spec import ModelSpec, Normal, load_model
from bayesbias.models.template_variation import change_of_templates, template_errors
from bayesbias.models.tree import EXACT
from bayesbias.numerics.arrays import FloatArray
from bayesbias.results import Note
from bayesbias.vectors.lookup import left_out

MOST_CELLS = 2000  # cells of all embeddings beyond which a covariance matrix of them is too large for a comparison


class _Means(NamedTuple):
    """Draws of the means of connections and of words, and the run that gave them."""

    connection: FloatArray  # (chain, draw, K)
    words: FloatArray  # (chain, draw, J, K), NaN where a cell is empty
    run: Run | None  # None where no connection's values vary


class _Difference(NamedTuple):
    """Posterior of the change between two embeddings from the differences of their distances."""

    draws: ChangeDraws
    faults: tuple[Note, ...]  # why the draws should not be read
    notes: tuple[Note, ...]
    engine: str


def _difference(
    matched: Matched, pair: tuple[int, int], spec: ModelSpec, engine: str, size: tuple[int, int], seed: Any
) -> _Difference:
    """The change between two embeddings, from a fit of the differences and one of what they leave of the levels."""
    label, change, data = matched.label(*pair), matched.change(*pair), matched.data
    base = matched.distances[:, pair[0]]
    centre = np.bincount(data.connection, weights=change) / np.bincount(data.connection)
    fixed = fixed_values(data, change)
    slopes = _slopes(data, base, change, fixed)
    # base + slope * change is uncorrelated with the change: the two are fitted apart, and the levels restored below
    rest = base + slopes[data.connection] * (change - centre[data.connection])
    seeds = [int(state >> 1) for state in seed.generate_state(2, np.uint64)]
    levels = _means(replace(data, y=rest), load_model(LEVELS_MODEL), AUTO, size, seeds[0], label)
    moved = _means(replace(data, y=change), spec, engine, size, seeds[1], f"the change {label}")
    runs = {name: each.run for name, each in (("levels", levels), ("change", moved)) if each.run is not None}
    stats = [each.drawn.sample_stats for each in runs.values() if "pareto_k" in each.drawn.sample_stats]
    draws = ChangeDraws(
        *pair,
        connection_before=levels.connection - slopes * (moved.connection - centre),
        connection_change=moved.connection,
        word_before=levels.words - slopes * (moved.words - centre),
        word_change=moved.words,
        scales={} if moved.run is None else _scales(moved.run, data),
        stats={
            name: float(worst(each[name] for each in stats))
            for name, worst in (("pareto_k", max), ("importance_ess", min))
            if stats
        },
    )
    of_fits = dict.fromkeys(note for each in runs.values() for note in (*each.data.notes, *each.drawn.notes))
    return _Difference(
        draws,
        faults=tuple(
            Note(fault.code, **{**fault.numbers, "figure": f"{fault.numbers['figure']} ({label}, {name})"})
            for name, each in runs.items()
            for fault in engine_faults(each.drawn)
        ),
        notes=(*change_notes(data, change, fixed, label), *of_fits),
        engine=next((each.engine for each in reversed(runs.values())), EXACT),
    )


def _means(data: Distances, spec: ModelSpec, engine: str, size: tuple[int, int], seed: int, what: str) -> _Means:
    """The means by a model of these values; those of connections whose values do not vary are these values."""
    fixed, fitted = fixed_values(data, data.y), None
    words = np.full((*size, *data.filled.shape), np.nan)
    connection = np.empty((*size, len(data.connections)))
    for k, value in fixed.items():
        words[..., k] = np.where(data.filled[:, k], value, np.nan)
        connection[..., k] = value
    free = ~np.isin(data.connection, list(fixed))
    if free.any():
        try:
            fitted = run(spec, data.part(free), engine, size[0] * size[1], size[0], seed)
        except InputError as error:
            raise InputError(f"{what}: {error}") from error
        rows = [data.protected_words.tolist().index(name) for name in fitted.data.protected_words.tolist()]
        own = [data.connections.tolist().index(name) for name in fitted.data.connections.tolist()]
        words[:, :, np.array(rows)[:, None], own] = fitted.drawn.posterior["word_mean"]
        connection[..., own] = fitted.drawn.posterior["connection_mean"]
    return _Means(connection, words, fitted)


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
    """Share of the change that, added to the first embedding's distances, leaves them uncorrelated with the change.

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


def _scales(made: Run, data: Distances) -> dict[str, FloatArray]:
    """The scales of a fit of changes, placed among all connections and classes."""
    labels = {"connection": data.connections.tolist(), "attribute_class": data.attribute_classes}
    own = {"connection": made.data.connections.tolist(), "attribute_class": made.data.attribute_classes}
    scales = {}
    for name, dims in SCALE_DIMS.items():
        values = made.drawn.posterior.get(name)
        if values is None:
            continue
        if values.ndim > 2:
            placed = np.zeros((*values.shape[:2], len(labels[dims[0]])))
            placed[..., [labels[dims[0]].index(label) for label in own[dims[0]]]] = values
            values = placed
        scales[name] = values
    return scales


CHANGE = "change"


def compare(
    tables: Mapping[str, pd.DataFrame] | None = None,
    *,
    before: pd.DataFrame | None = None,
    after: pd.DataFrame | None = None,
    model: str | Path | ModelSpec = AUTO,
    draws: int = 4000,
    chains: int = 4,
    seed: int | None = 0,
    case: Case = "as-is",
) -> Comparison:
    """Compare embeddings by the distances of the same pairs.

    The same words are measured in each embedding, so that most of what makes a single contrast uncertain cancels in
    its change. Where the tables know how words are related, the covariance of all distances in all embeddings is
    estimated from the vectors, and one posterior holds levels and changes, of these protected words. Otherwise
    differences of paired distances follow a crossed model, which takes different words for unrelated; what the first
    embedding's distances do not share with the change is fitted beside it, and treated as independent.

    Parameters
    ----------
    tables
        Names to distance tables of two embeddings or more; or
    before, after
        the distance tables of two, such as before and after :func:`debias`.
    model
        ``"auto"``: ``"related"`` where all tables carry relatedness of one vocabulary, else ``"change"``, and the notes
        say why. Or the name of a model of changes, the path of a TOML file or a loaded model: ``"change"`` is
        ``"crossed"`` around 0, with scales of the size of changes. The model decides the engine, whose draws are
        independent; models that need NUTS are refused.
    draws, chains, seed
        As in :func:`fit`. Draws of related words are made when :attr:`Comparison.posterior` is first asked for.
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
    named, by_template, template_notes = common_templates(_tables(tables, before, after))
    matched = match(named, case)
    matched = replace(matched, notes=(*matched.notes, *template_notes))
    draws, chains = checked_draws(draws, chains)
    size, seed_used = (chains, draws // chains), used_seed(seed)
    spec, every = _choose(matched, model, case)
    engine = "auto"
    if isinstance(every, str):
        tree, changes = _by_differences(matched, spec, every, engine, size, seed_used)
    else:
        # templates have errors of which there are draws
        tree = _by_covariance(matched, spec, every, size, seed_used, exact=not by_template)
        changes = related_changes(spec, matched.data, every, size, seed_used) if by_template else []
    if changes:
        tree = with_draws(tree, matched.data, over_templates(changes, by_template, matched, seed_used))
    return Comparison(tree)


def _choose(matched: Matched, model: str | Path | ModelSpec, case: Case) -> tuple[ModelSpec, Distances | str]:
    """The model, and the pairs of all embeddings with how their words are related: or why changes take a model of their
    own, empty where that was asked for.
    """
    spec, reason = load_model(RELATED if is_auto(model) else model), ""
    if family_of(spec).needs_relatedness:
        every = _stacked(matched, case)
        if isinstance(every, Distances):
            return spec, every
        if not is_auto(model):
            raise InputError(f"the model {spec.name!r} cannot compare these tables: {every}; use model={CHANGE!r}")
        spec, reason = load_model(CHANGE), every
    centre = spec.priors.get("connection_mean")
    if not isinstance(centre, Normal) or centre.mean != 0:
        raise InputError(
            f"the model {spec.name!r} is one of distances: a model of changes has a connection_mean around 0, as "
            f"{CHANGE!r} has (copy its file to change a prior)"
        )
    return spec, reason


def _stacked(matched: Matched, case: Case) -> Distances | str:
    """The pairs of all embeddings, with how their words are related; or why that is not known."""
    relatedness = {name: table.relatedness for name, table in matched.tables.items()}
    known = {name: each for name, each in relatedness.items() if each is not None}
    if len(known) < len(relatedness):
        without = ", ".join(name for name in relatedness if name not in known)
        return f"no relatedness in {without}"
    if case != "as-is":
        return "capital letters ignored"
    for name in known:
        matched.tables[name].check_vectors()
    data, size = matched.data, len(matched.embeddings)
    if (cells := int(data.filled.sum()) * size) > MOST_CELLS:
        return f"{cells:,} cells, more than {MOST_CELLS:,}"
    words = {*data.protected_words.tolist(), *data.attribute_words.tolist()}
    if any(not words.issubset((*each.protected_words, *each.attribute_words)) for each in known.values()):
        return "words without relatedness"
    related = joint_relatedness(list(known.values()), [data.protected_words.tolist()] * size)
    if isinstance(related, str):
        return related
    every = stacked_tables([replace(data, y=column) for column in matched.distances.T], related)
    return too_many_lists(every) or every


def _by_covariance(
    matched: Matched, spec: ModelSpec, every: Distances, size: tuple[int, int], seed: int, exact: bool
) -> xr.DataTree:
    """The tree of a comparison by the covariance of all distances, without draws; figures need none if ``exact``."""
    data, related, notes = matched.data, every.relatedness, [*matched.notes]
    if related is not None:
        notes += few_shared(related)
    for pair in matched.pairs:
        change = matched.change(*pair)
        notes += change_notes(data, change, fixed_values(data, change), matched.label(*pair))
    return tree_of(matched, spec, EXACT, size, seed, notes, related=related if exact else None)


def _by_differences(
    matched: Matched, spec: ModelSpec, reason: str, engine: str, size: tuple[int, int], seed: int
) -> tuple[xr.DataTree, list[ChangeDraws]]:
    """The tree of a comparison by a model of differences, which is taken for a reason unless empty, and its draws."""
    chains, runs = size[0], []
    # one number of draws for all fits; the levels have the most parameters
    draws, why = fewer_draws(load_model(LEVELS_MODEL), matched.data, chains * size[1], chains)
    size = chains, draws // chains
    with progress("comparing embeddings", len(matched.pairs)) as done:
        for number, pair in enumerate(matched.pairs):
            own = np.random.SeedSequence([seed, number])
            runs.append(_difference(matched, pair, spec, engine, size, own))
            done(number + 1)
    notes = [*matched.notes, *why]
    notes += [Note("independent", what="changes", reason="one fit each")] if len(runs) > 1 else []
    notes += [Note("unrelated", reason=reason or f"model {spec.name}")] if family_of(spec).unrelated else []
    notes += dict.fromkeys(note for each in runs for note in each.notes)
    faults = [fault for each in runs for fault in each.faults]
    engine_used = next((each.engine for each in runs if each.engine != EXACT), EXACT)
    return tree_of(matched, spec, engine_used, size, seed, notes, faults), [each.draws for each in runs]


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
    return mapping(tables, "tables", "distance tables, or before= and after=")


def common_templates(
    tables: Mapping[str, pd.DataFrame],
) -> tuple[dict[str, pd.DataFrame], dict[str, pd.DataFrame], tuple[Note, ...]]:
    """Mean distances over the templates that all tables with templates have, the tables by template, and notes."""
    if not any(map(template_columns, tables.values())):
        return dict(tables), {}, ()
    by_template = {name: table for name, table in tables.items() if template_columns(table)}
    for name, table in by_template.items():
        with within(name):
            Distances.read(table, check=False)
    notes, restricted = list[Note](), False
    for column in TEMPLATES:
        holders = [name for name, table in by_template.items() if column in table]
        names = [set(by_template[name][column].astype(str)) for name in holders]
        shared = set.intersection(*names) if names else set()
        if names and not shared:
            raise InputError(f"the tables of {', '.join(holders)} have no template in common")
        for name, own in zip(holders, names, strict=True):
            if own > shared:
                gone = sorted(own - shared)
                notes += left_out(len(gone), len(own), f"templates of {name}", "not in every table", gone)
                restricted = True
                by_template[name] = by_template[name][by_template[name][column].isin(shared)]
    alone = [name for name in tables if name not in by_template]
    notes += [Note("no-value", what="templates", reason=f"none in {', '.join(alone)}")] if alone else []
    means = {name: averaged(by_template.get(name, table)) for name, table in tables.items()}
    if restricted:
        # vectors of all templates are not those of some
        means |= {name: DistanceTable(means[name]).without_relatedness() for name in by_template}
    return means, by_template, tuple(notes)


def over_templates(
    changes: list[ChangeDraws], by_template: Mapping[str, pd.DataFrame], matched: Matched, seed: int
) -> list[ChangeDraws]:
    """Changes with what other templates like these would change, integrated over."""
    if not by_template:
        return changes
    data, rng = matched.data, np.random.default_rng([seed, 6])
    widened = []
    for change in changes:
        chains, draws = change.connection_change.shape[:2]
        before, after = (by_template.get(matched.embeddings[i]) for i in (change.before, change.after))
        errors: dict[str, FloatArray] = {}
        size, kinds = chains * draws, len(data.connections)
        for kind, pair in (("before", (before, None)), ("change", (before, after))):
            shift, words = np.zeros((size, kinds)), np.zeros((size, len(data.protected_words), kinds))
            for change_of_template in change_of_templates(*pair, data):
                whole, own = template_errors(change_of_template, size, rng)
                shift, words = shift + whole, words + own
            errors[f"connection_{kind}"] = shift.reshape(chains, draws, kinds)
            errors[f"word_{kind}"] = (shift[:, None, :] + words).reshape(chains, draws, -1, kinds)
        widened.append(replace(change, **{name: getattr(change, name) + each for name, each in errors.items()}))
    return widened
