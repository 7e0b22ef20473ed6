"""``compare``: what changed from one embedding to another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from bayesbias._support.arguments import mapping, one_of
from bayesbias.comparison.comparison import Comparison
from bayesbias.comparison.sides import (
    ChangeDraws,
    Matched,
    change_notes,
    drawn_changes,
    related_changes,
    tree_of,
    with_draws,
)
from bayesbias.distances.dataframe import PAIR, TEMPLATES, DistanceTable, averaged, limits_of, once, template_columns
from bayesbias.distances.distances import Distances, refuse_mixed, stacked_tables
from bayesbias.distances.vocabularies import few_shared, joint_relatedness
from bayesbias.errors import InputError, within
from bayesbias.models.families import family_of
from bayesbias.models.fits import AUTO, RELATED, checked_draws, is_auto, used_seed
from bayesbias.models.related import too_many_lists
from bayesbias.models.spec import ModelSpec, Normal, load_model
from bayesbias.models.template_variation import change_of_templates, template_errors
from bayesbias.models.tree import EXACT
from bayesbias.numerics.arrays import FloatArray
from bayesbias.results import Note
from bayesbias.vectors.lookup import CASES, Case, left_out

LABELS = ["group", "attribute_class", "connection"]
KEY = [*PAIR, "connection"]
MOST_CELLS = 2000  # cells of all embeddings beyond which a covariance matrix of them is too large for a comparison


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
        changes, engine, noted, faults = drawn_changes(matched, spec, every, size, seed_used)
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
