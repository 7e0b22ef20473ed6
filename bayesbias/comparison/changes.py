"""``compare``: what changed from one embedding to another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._support.arguments import mapping, one_of
from bayesbias._support.files import to_json
from bayesbias._support.progress import progress
from bayesbias.checks.convergence import engine_faults
from bayesbias.comparison.comparison import Comparison
from bayesbias.comparison.sides import SCALE_DIMS, STEP, WORDS, ChangeDraws, fixed_values, related_changes, with_draws
from bayesbias.contrast import POPULATION, SAMPLE
from bayesbias.distances.covariances import KEY as RELATED_GROUP
from bayesbias.distances.covariances import Relatedness, relatedness_group
from bayesbias.distances.dataframe import PAIR, TEMPLATES, DistanceTable, averaged, limits_of, once, template_columns
from bayesbias.distances.distances import Distances, refuse_mixed, stacked_tables
from bayesbias.distances.vocabularies import few_shared, joint_relatedness
from bayesbias.errors import InputError, within
from bayesbias.models.families import family_of
from bayesbias.models.fits import AUTO, RELATED, Run, checked_draws, fewer_draws, is_auto, run, used_seed
from bayesbias.models.related import too_many_lists
from bayesbias.models.spec import ModelSpec, Normal, load_model
from bayesbias.models.template_variation import change_of_templates, template_errors
from bayesbias.models.tree import EXACT, made_by, versions_of
from bayesbias.numerics.arrays import NOTHING, FloatArray
from bayesbias.results import Note, stored
from bayesbias.vectors.lookup import CASES, Case, left_out

LABELS = ["group", "attribute_class", "connection"]
KEY = [*PAIR, "connection"]
LEVELS_MODEL = "crossed"  # of the distances in each embedding where changes have a model of their own
PARTLY = 0.05  # share of unchanged distances from which on a note says that there are such
MOST_CELLS = 2000  # cells of all embeddings beyond which a covariance matrix of them is too large for a comparison


@dataclass(frozen=True)
class Matched:
    """The pairs that all tables hold."""

    data: Distances  # in the first embedding
    embeddings: tuple[str, ...]  # in the order given
    distances: FloatArray  # (pairs, embeddings)
    changes: Mapping[str, tuple[int, int]]  # label of each change to the places of its two embeddings
    notes: tuple[Note, ...]  # on what did not match
    tables: Mapping[str, Distances]  # name to its table, as it was given


def match(tables: Mapping[str, pd.DataFrame], case: Case = "as-is") -> Matched:
    """The pairs that all tables hold, under the same connection."""
    one_of(case, CASES, "case")
    if len(tables) < 2:
        raise InputError(f"a comparison needs the tables of two embeddings or more, given {len(tables)}")
    given, read = dict[str, Distances](), dict[str, pd.DataFrame]()
    for name, table in tables.items():
        with within(name):
            given[name] = Distances.read(table, check=False)
            if given[name].slope_error:
                raise InputError(
                    f"the table is {given[name].moved} by a slope that was estimated from control words, whose error a "
                    "comparison does not carry: adjust tables with relatedness, or fit one table, which carries it"
                )
            clean = given[name].table
            if case == "fallback":
                clean = clean.assign(**{column: clean[column].str.casefold() for column in PAIR})
            read[name] = once(clean, "the table", "a comparison takes each pair once")
    refuse_mixed(given)
    joined = next(iter(read.values())).rename(columns={"distance": "0"})
    for i, other in enumerate(list(read.values())[1:], start=1):
        joined = joined.merge(other[[*KEY, "distance"]].rename(columns={"distance": str(i)}), on=KEY, sort=False)
    if joined.empty:
        raise InputError("the tables share no pair under one connection: do they need case='fallback'?")
    by_word = (table.drop_duplicates("protected_word").set_index("protected_word")["group"] for table in read.values())
    groups = pd.concat(by_word, axis=1, keys=range(len(read))).astype(object)
    groups = groups.mask(groups == "").loc[joined["protected_word"].unique()]
    # that of the first table that knows it
    pairs = joined[[*PAIR, *LABELS]].assign(group=joined["protected_word"].map(groups.bfill(axis=1)[0]).fillna(""))
    distances = joined[[str(i) for i in range(len(read))]].to_numpy(dtype=float)
    attribute = next(iter(given.values())).adjusted
    notes = [Note("adjusted", attribute=attribute, source="the tables")] if attribute else []
    for name, table in read.items():
        gone = [word for column in PAIR for word in sorted(set(table[column]) - set(joined[column]))]
        notes += left_out(len(table) - len(joined), len(table), f"pairs of {name}", "not in every table", gone)
    if moved := sorted(groups.index[groups.nunique(axis="columns").gt(1)]):
        notes.append(Note("groups", words=moved))
    outside = ((distances < 0) | (distances > 2)).sum(axis=0).tolist()
    notes += [
        Note("outside", rows=rows, total=len(distances), name=name)
        for name, rows in zip(read, outside, strict=True)
        if rows
    ]
    notes += limits_of(each.coverage for each in given.values() if each.coverage is not None)
    notes += _case_notes(given, case)
    sizes = {name: each.coverage.embedding.get("dimensions") for name, each in given.items() if each.coverage}
    if len(set(filter(None, sizes.values()))) > 1:
        notes.append(Note("dimensions", sizes=[f"{name} {size}" for name, size in sizes.items() if size]))
    data = Distances.of_rows(pairs.assign(distance=distances[:, 0]))
    places = list(combinations(range(len(read)), 2))
    labels = [" → ".join(pair) for pair in combinations(read, 2)]
    return Matched(data, tuple(read), distances, dict(zip(labels, places, strict=True)), tuple(notes), given)


def _case_notes(given: Mapping[str, Distances], case: Case) -> list[Note]:
    """Note on words read in lower case, or on tables of lower case where another holds words that they lack."""
    words = {name: {word for column in PAIR for word in each.table[column]} for name, each in given.items()}
    every = set().union(*words.values())
    if case == "fallback":
        folded = [f"{word} as {word.casefold()}" for word in sorted(every) if word != word.casefold()]
        return [Note("spelling", words=folded)] if folded else []
    some = {word for word in every if word != word.lower()}
    wholly = [name for name, own in words.items() if not own & some and some - own]
    return [Note("capitals", names=wholly)] if wholly else []


def change_notes(data: Distances, change: FloatArray, label: str) -> list[Note]:
    """Notes on connections whose distances did not change, or changed as one, and on parts of them that did not."""
    fixed, names = fixed_values(data, change), data.connections.tolist()
    if len(fixed) == len(names) and not any(fixed.values()):
        return [Note("fixed", connection="all", value=0.0, change=label)]
    notes = [Note("fixed", connection=names[k], value=value, change=label) for k, value in fixed.items()]
    same = np.abs(change) <= NOTHING
    for k, name in enumerate(names):
        share = float(same[data.connection == k].mean())
        if k not in fixed and share >= PARTLY:
            notes.append(Note("partly-fixed", share=f"{share:.0%}", connection=name, change=label))
    return notes


def tree_of(
    matched: Matched,
    spec: ModelSpec,
    engine: str,
    size: tuple[int, int],
    seed: int,
    notes: Iterable[Note],
    faults: Iterable[Note] = (),
    related: Relatedness | None = None,
) -> xr.DataTree:
    """Data and facts as a tree, to which :func:`with_draws` adds draws; ``related`` where figures are exact."""
    data, names, pairs = matched.data, list(matched.embeddings), np.array(list(matched.changes.values()))
    rows, values = np.arange(len(data.y)), family_of(spec).needs_relatedness
    groups = {
        "/paired": xr.Dataset(
            {"before_index": ("change", pairs[:, 0]), "after_index": ("change", pairs[:, 1])},
            coords={"change": list(matched.changes)},
        ),
        "/observed_data": xr.Dataset(
            {"distance": (("pair", "embedding"), matched.distances)}, coords={"pair": rows, "embedding": names}
        ),
        "/constant_data": xr.Dataset(
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
                "embedding": names,
                "pair": rows,
            },
        ),
    }
    if related is not None:
        groups[f"/{RELATED_GROUP}"] = relatedness_group(related)
    tree = xr.DataTree.from_dict(groups)
    tree.attrs = {
        **made_by(spec, engine, seed),
        "chains": size[0],
        "draws": size[1],
        "notes": to_json(stored(dict.fromkeys(notes))),
        "faults": to_json(stored(dict.fromkeys(faults))),
        "versions": to_json(versions_of(engine)),
        "coverage": to_json({name: each.coverage.as_dict() for name, each in matched.tables.items() if each.coverage}),
        "levels_model": spec.name if values else LEVELS_MODEL,
        "target": SAMPLE if values else POPULATION,
    }
    return tree


def _difference(
    matched: Matched, label: str, spec: ModelSpec, size: tuple[int, int], seed: Any
) -> tuple[ChangeDraws, list[Note], list[Note], str]:
    """Draws of a change by fits of the differences and of what they leave of the levels; notes, faults and engine."""
    data, (before, after) = matched.data, matched.changes[label]
    base, change = matched.distances[:, before], matched.distances[:, after] - matched.distances[:, before]
    centre = np.bincount(data.connection, weights=change) / np.bincount(data.connection)
    slopes = slopes_of(data, base, change, fixed_values(data, change))
    # base + slope * change is uncorrelated with the change: the two are fitted apart, and the levels restored below
    rest = base + slopes[data.connection] * (change - centre[data.connection])
    seeds = [int(state >> 1) for state in seed.generate_state(2, np.uint64)]
    levels, level_words, _, of_levels = _means(replace(data, y=rest), load_model(LEVELS_MODEL), size, seeds[0], label)
    moved, moved_words, scales, of_change = _means(replace(data, y=change), spec, size, seeds[1], f"the change {label}")
    runs = {name: each for name, each in (("levels", of_levels), ("change", of_change)) if each is not None}
    stats = [each.drawn.sample_stats for each in runs.values() if "pareto_k" in each.drawn.sample_stats]
    draws = ChangeDraws(
        before,
        after,
        connection_before=levels - slopes * (moved - centre),
        connection_change=moved,
        word_before=level_words - slopes * (moved_words - centre),
        word_change=moved_words,
        scales=scales,
        stats={
            name: float(worst(each[name] for each in stats))
            for name, worst in (("pareto_k", max), ("importance_ess", min))
            if stats
        },
    )
    notes = [note for each in runs.values() for note in (*each.data.notes, *each.drawn.notes)]
    faults = [
        Note(fault.code, **{**fault.numbers, "figure": f"{fault.numbers['figure']} ({label}, {name})"})
        for name, each in runs.items()
        for fault in engine_faults(each.drawn)
    ]
    return draws, notes, faults, next((each.engine for each in reversed(runs.values())), EXACT)


def _means(
    data: Distances, spec: ModelSpec, size: tuple[int, int], seed: int, what: str
) -> tuple[FloatArray, FloatArray, dict[str, FloatArray], Run | None]:
    """Means (chain, draw, K) and (chain, draw, J, K) by a model of these values, its scales, and its run.

    Cells without a distance are NaN. The means of connections whose values do not vary are these values, their scales
    are 0, and there is no run where no connection's do.
    """
    fixed, fitted, scales = fixed_values(data, data.y), None, dict[str, FloatArray]()
    words = np.full((*size, *data.filled.shape), np.nan)
    connection = np.empty((*size, len(data.connections)))
    for k, value in fixed.items():
        words[..., k] = np.where(data.filled[:, k], value, np.nan)
        connection[..., k] = value
    free = ~np.isin(data.connection, list(fixed))
    if free.any():
        with within(what):
            fitted = run(spec, data.part(free), AUTO, size[0] * size[1], size[0], seed)
        names = ("protected_words", "connections", "attribute_classes")
        rows, own, classes = (
            pd.Index(getattr(data, name)).get_indexer(pd.Index(getattr(fitted.data, name))) for name in names
        )
        posterior = fitted.drawn.posterior
        words[:, :, rows[:, None], own] = posterior["word_mean"]
        connection[..., own] = posterior["connection_mean"]
        for name in [name for name in SCALE_DIMS if name in posterior]:
            scales[name] = posterior[name]
            if scales[name].ndim > len(STEP):
                by_class = SCALE_DIMS[name] == ("attribute_class",)
                scales[name] = np.zeros((*size, len(data.attribute_classes if by_class else data.connections)))
                scales[name][..., classes if by_class else own] = posterior[name]
    return connection, words, scales, fitted


def slopes_of(data: Distances, base: FloatArray, change: FloatArray, fixed: Mapping[int, float]) -> FloatArray:
    """Shares (K,) of the change that leave, added to distances before, their mean uncorrelated with it.

    Words are clusters. There is one share for all connections to one class of attribute words; 0 without a change.
    """
    free, slopes = ~np.isin(data.connection, list(fixed)), np.zeros(len(data.connections))
    for kind in range(len(data.connection_classes)):
        rows = free & (data.connection_class[data.connection] == kind)
        connection, values = data.connection[rows], np.column_stack([base, change])[rows]
        n = np.maximum(np.bincount(connection), 1)
        centre = np.column_stack([np.bincount(connection, weights=column) for column in values.T]) / n[:, None]
        apart = values - centre[connection]
        covariance = np.zeros((2, 2))
        for unit in (data.word[rows], data.attribute[rows]):
            total = np.column_stack([np.bincount(unit, weights=column) for column in apart.T])
            covariance += total.T @ total
        if covariance[1, 1] > 0:
            slopes[data.connection_class == kind] = -covariance[0, 1] / covariance[1, 1]
    return slopes


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

    Most of what makes a single contrast uncertain cancels in its change. Where the tables know how words are related,
    the covariance of all distances gives one posterior of levels and changes, of these protected words. Otherwise
    differences of paired distances follow a crossed model, which takes words for unrelated, and levels are approximate.

    Parameters
    ----------
    tables, before, after
        Names to distance tables of two embeddings or more; or those of two, such as before and after :func:`debias`.
    model
        ``"auto"``: ``"related"`` where all tables carry relatedness of one vocabulary, else ``"change"``, and a note
        says why. Or a model of changes that does without NUTS: its name, the path of a TOML file, or as it was loaded.
    draws, chains, seed, case
        As in :func:`fit` (of related words made when :attr:`Comparison.posterior` is asked for); ``"fallback"`` matches
        words that differ in capital letters only.

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
    if tables is None and before is not None and after is not None:
        tables = {"before": before, "after": after}
    elif before is not None or after is not None:
        raise InputError("give before= and after=, or one mapping of names to tables")
    named, by_template, notes = common_templates(mapping(tables, "tables", "distance tables, or before= and after="))
    matched = match(named, case)
    draws, chains = checked_draws(draws, chains)
    size, seed_used = (chains, draws // chains), used_seed(seed)
    spec, every = _choose(matched, model, case)
    if isinstance(every, str):
        changes, engine, noted, faults = _by_differences(matched, spec, every, size, seed_used)
        size, related = changes[0].connection_change.shape[:2], None
    else:  # templates have errors of which there are draws
        changes = related_changes(spec, matched.data, every, size, seed_used) if by_template else []
        engine, faults, noted = EXACT, [], [*few_shared(every.relatedness)] if every.relatedness else []
        related = None if by_template else every.relatedness
    noted = [*matched.notes, *notes, *noted]
    for label, (first, second) in matched.changes.items():
        noted += change_notes(matched.data, matched.distances[:, second] - matched.distances[:, first], label)
    tree = tree_of(matched, spec, engine, size, seed_used, noted, faults, related)
    if changes:
        tree = with_draws(tree, matched.data, over_templates(changes, by_template, matched, seed_used))
    return Comparison(tree)


def _choose(matched: Matched, model: str | Path | ModelSpec, case: Case) -> tuple[ModelSpec, Distances | str]:
    """The model, and the related pairs of all embeddings, or why changes take a model of their own (or "")."""
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
        raise InputError(f"{spec.name!r} is a model of distances: copy {CHANGE!r}, whose connection_mean is around 0")
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


def _by_differences(
    matched: Matched, spec: ModelSpec, reason: str, size: tuple[int, int], seed: int
) -> tuple[list[ChangeDraws], str, list[Note], list[Note]]:
    """Draws of changes by a model of differences, which is taken for a reason unless empty; engine, notes, faults."""
    # one number of draws for all fits; the levels have the most parameters
    draws, fewer = fewer_draws(load_model(LEVELS_MODEL), matched.data, size[0] * size[1], size[0])
    size, runs, notes = (size[0], draws // size[0]), [], [*fewer]
    with progress("comparing embeddings", len(matched.changes)) as done:
        for number, label in enumerate(matched.changes):
            runs.append(_difference(matched, label, spec, size, np.random.SeedSequence([seed, number])))
            done(number + 1)
    notes += [Note("independent", what="changes", reason="one fit each")] if len(runs) > 1 else []
    notes += [Note(code, reason=reason or f"model {spec.name}") for code in family_of(spec).notes]
    changes, noted, faults, engines = zip(*runs, strict=True)
    engine = next((each for each in engines if each != EXACT), EXACT)
    return list(changes), engine, [*notes, *chain.from_iterable(noted)], list(chain.from_iterable(faults))


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
    notes = list[Note]()
    for column in TEMPLATES:
        names = {name: set(table[column].astype(str)) for name, table in by_template.items() if column in table}
        shared = set.intersection(*names.values()) if names else set()
        if names and not shared:
            raise InputError(f"the tables of {', '.join(names)} have no template in common")
        for name, own in names.items():
            if own > shared:
                gone = sorted(own - shared)
                notes += left_out(len(gone), len(own), f"templates of {name}", "not in every table", gone)
                by_template[name] = by_template[name][by_template[name][column].isin(shared)]
    means = {name: averaged(by_template.get(name, table)) for name, table in tables.items()}
    if notes:
        # vectors of all templates are not those of some
        means |= {name: DistanceTable(means[name]).without_relatedness() for name in by_template}
    alone = [name for name in tables if name not in by_template]
    notes += [Note("no-value", what="templates", reason=f"none in {', '.join(alone)}")] if alone else []
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
