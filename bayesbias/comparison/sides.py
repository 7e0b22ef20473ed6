"""The joint posterior before and after a change: exact for related words, otherwise by draws, which a tree keeps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, combinations
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy import sparse

from bayesbias._support.files import to_json
from bayesbias._support.progress import progress
from bayesbias.checks.convergence import engine_faults
from bayesbias.contrast.contrast import POPULATION, SAMPLE, named_together
from bayesbias.distances.covariances import KEY as RELATED_GROUP
from bayesbias.distances.covariances import Relatedness, relatedness_group
from bayesbias.distances.distances import Distances
from bayesbias.errors import within
from bayesbias.models.families import family_of
from bayesbias.models.fits import AUTO, Run, fewer_draws, run
from bayesbias.models.functionals import Fields, cell_draws
from bayesbias.models.related import LEAST_SCATTER, factors_of, protected_root, related_sums, relatedness_for
from bayesbias.models.spec import ModelSpec, load_model
from bayesbias.models.tree import EXACT, made_by, versions_of
from bayesbias.models.weights import Cells, Sums, stacked, whole_weights
from bayesbias.numerics.arrays import NOTHING, FloatArray
from bayesbias.numerics.marginal import scatter_cells
from bayesbias.numerics.mixtures import Empirical, Law, Normals
from bayesbias.numerics.related import draw_cell_errors, factor_quantiles, population_of, scatter_of_errors
from bayesbias.posteriors import Estimates
from bayesbias.results import Note, stored

EQUAL = 1e-3  # of the sum and the difference of two values, the share of the smaller below which their sizes are equal
SURE = 0.945  # probability from which on the whole list's outcome is named: that of one side of an 89% interval
LITTLE = 10  # most percent of the size before that a change is said not to exceed
LEVELS_MODEL = "crossed"  # of the distances in each embedding where changes have a model of their own
PARTLY = 0.05  # share of unchanged distances from which on a note says that there are such
STEP = ("chain", "draw")
WHOLE, WORDS = ("connection",), ("protected_word", "connection")
SCALE_DIMS = {"connection_sd": WHOLE, "sigma": WHOLE, "attribute_sd": ("attribute_class",), "interaction_sd": ()}
"""Dimensions of draws, of means over the whole list, of means of words, and of scales."""


@dataclass(frozen=True)
class Matched:
    """The pairs that all tables hold."""

    data: Distances  # in the first embedding
    embeddings: tuple[str, ...]  # in the order given
    distances: FloatArray  # (pairs, embeddings)
    changes: Mapping[str, tuple[int, int]]  # label of each change to the places of its two embeddings
    notes: tuple[Note, ...]  # on what did not match
    tables: Mapping[str, Distances]  # name to its table, as it was given


@dataclass(frozen=True)
class BeforeAfter:
    """Quantities before and after a change, of one joint posterior."""

    before: Estimates
    after: Estimates
    observed_before: FloatArray  # what the pairs show, (m,), in cosine distance
    observed_after: FloatArray
    kind: str  # RAW or DIFFERENCE

    def __getitem__(self, places: slice) -> BeforeAfter:
        observed = (self.observed_before[places], self.observed_after[places])
        return BeforeAfter(self.before[places], self.after[places], *observed, self.kind)

    @cached_property
    def change(self) -> Estimates:
        """Values after less values before."""
        return self.after - self.before

    @cached_property
    def unchanged(self) -> NDArray[np.bool_]:
        """True for quantities that changed by exactly 0."""
        return np.asarray((self.change.mean == 0) & (self.change.sd == 0))

    @cached_property
    def p_shrank(self) -> FloatArray:
        """Probability (m,) of a value nearer to 0 after than before; one half where the two sizes are equal."""
        # |after| < |before| where the change and the sum of the two have opposite signs; without a sum or a change
        # their signs are those of rounding errors
        total, change = self.before + self.after, self.change
        sizes = [np.hypot(each.mean, each.sd) for each in (total, change)]
        equal = np.minimum(*sizes) <= EQUAL * np.maximum(*sizes)
        return np.where(equal & ~self.unchanged, 0.5, change.p_opposite(total))

    @cached_property
    def p_reversed(self) -> FloatArray:
        """Probability (m,) of opposite signs before and after."""
        return np.where(self.unchanged, 0.0, self.before.p_opposite(self.after))

    def clear(self, prob: float) -> NDArray[np.bool_]:
        """True (m,), the whole list first, where it is clear whether the value is nearer to 0 or farther from it.

        None is clear where the interval of the whole list's change includes 0: a value that is 0 afterwards by
        construction is nearer to 0 than any other, and words share most of their errors. Where it does not, the most
        probable words are clear together, if their means say the same.
        """
        shrank = self.p_shrank
        named = np.zeros(len(shrank), dtype=bool)
        same = (np.abs(self.after.mean) < np.abs(self.before.mean)) == (shrank > 0.5)
        words = np.flatnonzero(~self.unchanged[1:] & (shrank[1:] != 0.5)) + 1
        if self.change.excludes(0.0, prob)[0]:
            named[0] = max(shrank[0], 1 - shrank[0]) >= SURE
            named[words] = named_together(shrank[words])
        return np.asarray(named & same & ~self.unchanged)

    def at_most(self, prob: float) -> FloatArray:
        """Share (m,) of the size before, to .1, that the change does not exceed with this probability; else NaN."""
        found, known = np.full(len(self.change), np.nan), self.change.excludes(0.0, prob)
        for percent in range(LITTLE, 0, -1):
            # |change| < |share of before| where the difference and the sum of the two have opposite signs
            share = self.before * (percent / 100)
            within = (self.change - share).p_opposite(self.change + share) >= prob
            found[within & ~self.unchanged & (~known | (percent == 1))] = percent / 100
        return found

    def unpaired(self, seed: Any) -> Estimates:
        """The change as if the errors of the two embeddings were independent."""
        before, after, law = self.before, self.after, self.after.law
        apart: Law = law
        if isinstance(law, Empirical):
            first, second = (law.marginals(each.weights, each.offset).numbers for each in (before, after))
            # draws in another order keep their distribution and lose their correlation with the first
            apart = Empirical(second - np.random.default_rng(seed).permutation(first, axis=0))
        elif isinstance(law, Normals):
            # columns of a root are independent causes: side by side the two embeddings share none
            roots = tuple(np.hstack([after.weights @ root, before.weights @ root]) for root in law.roots)
            apart = replace(law, mean=self.change.mean, roots=roots)
        return Estimates.of(apart, len(after), after.index)


def side_weights(
    numbers: int, parts: sparse.csr_array, places: tuple[int, int], known: FloatArray
) -> tuple[list[sparse.csr_array], FloatArray]:
    """Weights of some sums (p, J * C) before a change and of what changed, of the cells of all embeddings.

    ``numbers`` are all these cells, ``places`` those of the two embeddings. Of changes (J, C) that are known exactly,
    which are NaN elsewhere, the sums hold (p,), beside the weights.
    """
    size = parts.shape[1]
    moving = parts @ sparse.diags_array(np.isnan(known).ravel().astype(float))
    first, second = (sparse.eye_array(size, numbers, k=at * size) for at in places)
    weights = [sparse.csr_array(parts @ first), sparse.csr_array(moving @ second - moving @ first)]
    return weights, parts @ np.nan_to_num(known).ravel()


def related_sides(law: Fields, sums: Sums, places: tuple[int, int], known: FloatArray) -> tuple[Estimates, Estimates]:
    """Sums before a change, and what changed, of related words; see :func:`side_weights`."""
    weights, beside = side_weights(len(law.mean), sums.parts, places, known)
    size = len(beside)
    joint = Estimates.of(law.settled(stacked(*weights)), 2 * size)
    return sums.of(joint[:size]), sums.of(joint[size:] + beside)


def drawn_sides(
    cells: Cells, sums: Sums, words: Sequence[FloatArray], whole: Sequence[FloatArray] = ()
) -> tuple[Estimates, Estimates]:
    """Sums before, and changes, from draws (D, J, K) of means; ``whole`` are draws (D, n) of the first n sums."""
    both = [(sums.combine @ cell_draws(values, cells, sums.parts).T).T for values in words]
    for values, own in zip(both, whole, strict=False):
        values[:, : own.shape[1]] = own
    size = len(sums.index)
    every = Estimates.of(Empirical(np.hstack(both)), 2 * size, pd.concat([sums.index, sums.index]))
    return every[:size], every[size:]


def fixed_values(data: Distances, values: FloatArray) -> dict[int, float]:
    """Connections whose values (pairs,) are all the same up to rounding, with that value.

    One attribute word alone shows nothing about others, unless no value of the table is other than 0.
    """
    nothing = bool((np.abs(values) <= NOTHING).all())
    fixed = {}
    for k in range(len(data.connections)):
        rows = data.connection == k
        here, several = values[rows], len(np.unique(data.attribute[rows])) > 1
        if np.ptp(here) <= NOTHING and (nothing or several):
            fixed[k] = 0.0 if abs(here.mean()) <= NOTHING else float(here.mean())
    return fixed


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


def known_changes(data: Distances, cells: Cells, change: FloatArray) -> FloatArray:
    """Changes (J, C) of cells all of whose distances belong to connections that moved as one; NaN elsewhere."""
    fixed = fixed_values(data, change)
    by_connection = np.full(len(data.connections), np.nan)
    by_connection[list(fixed)] = list(fixed.values())
    connection = np.full((len(data.protected_words), len(data.attribute_words)), -1)
    connection[data.word, data.attribute] = data.connection
    value = by_connection[connection[cells.word, cells.attribute]]
    place = cells.word * len(cells.columns) + cells.column
    # one distance whose change is not known makes the sum of its cell NaN
    total = np.bincount(place, value, minlength=cells.n.size).reshape(cells.n.shape)
    known: FloatArray = np.divide(total, cells.n, out=np.full(cells.n.shape, np.nan), where=cells.filled)
    return known


@dataclass(frozen=True)
class ChangeDraws:
    """Draws of one change; K connections, J protected words."""

    before: int  # places of the two embeddings
    after: int
    connection_before: FloatArray  # (chain, draw, K)
    connection_change: FloatArray
    word_before: FloatArray  # (chain, draw, J, K), NaN where a cell is empty
    word_change: FloatArray
    scales: Mapping[str, FloatArray]  # scale to draws (chain, draw, ...); 0 where changes are known exactly
    stats: Mapping[str, float] = field(default_factory=dict)  # Pareto k, effective points of the importance weights


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


def with_draws(tree: xr.DataTree, data: Distances, changes: Sequence[ChangeDraws]) -> xr.DataTree:
    """The tree of a comparison of these pairs with draws of its changes."""
    chains, draws = changes[0].connection_change.shape[:2]
    coords: dict[str, Any] = {
        "chain": np.arange(chains),
        "draw": np.arange(draws),
        "embedding": tree["observed_data"]["embedding"].to_numpy(),
        "change": tree["paired"]["change"].to_numpy(),
        "connection": data.connections,
        "protected_word": data.protected_words,
        "attribute_class": data.attribute_classes,
    }
    posterior: dict[str, Any] = {}
    paired: dict[str, Any] = {}
    for kind, dims in (("connection", WHOLE), ("word", WORDS)):
        start, moved = (
            np.stack([getattr(each, f"{kind}_{part}") for each in changes], axis=2) for part in ("before", "change")
        )
        # levels are those of the first embedding, and what changed from it to each other one
        first, from_first = start[:, :, :1], [each.before == 0 for each in changes]
        levels = np.concatenate([first, first + moved[:, :, from_first]], axis=2)
        posterior[f"{kind}_mean"] = (*STEP, "embedding", *dims), levels
        posterior[f"{kind}_change"] = (*STEP, "change", *dims), moved
        paired[f"{kind}_before"] = (*STEP, "change", *dims), start
    for name, like in {name: scale for each in changes for name, scale in each.scales.items()}.items():
        drawn = np.stack([each.scales.get(name, np.zeros_like(like)) for each in changes], axis=2)
        # no dimension where all connections share the scale
        posterior[f"change_{name}"] = (*STEP, "change", *SCALE_DIMS[name][: like.ndim - len(STEP)]), drawn
    stats = {
        name: (("change",), np.array([each.stats.get(name, np.nan) for each in changes]))
        for name in sorted({name for each in changes for name in each.stats})
    }
    groups = {
        name: xr.Dataset(values, coords={dim: coords[dim] for dims, _ in values.values() for dim in dims})
        for name, values in (("/posterior", posterior), ("/paired", paired), ("/sample_stats", stats))
        if values
    }
    groups["/paired"] = groups["/paired"].merge(tree["paired"].to_dataset())
    known = {f"/{name}": group.to_dataset() for name, group in tree.children.items()}
    result = xr.DataTree.from_dict({"/posterior": groups["/posterior"], **known, **groups})
    result.attrs = dict(tree.attrs)
    return result


def related_changes(
    spec: ModelSpec, data: Distances, every: Distances, size: tuple[int, int], seed: int
) -> list[ChangeDraws]:
    """Draws of the changes between each two embeddings; ``data`` are the pairs in the first one, ``every`` in all."""
    rng = np.random.default_rng(seed)
    sums = related_sums(every)
    draws, cells = size[0] * size[1], data.filled
    grid = factors_of(spec, sums)
    factors = factor_quantiles(grid, rng.random((draws, len(grid.mass))))
    by_word = scatter_cells(sums.y - draw_cell_errors(sums, factors, rng), every.filled)
    # what all embeddings hold, apart by embedding
    embeddings, words, n = len(every.y) // len(data.y), len(cells), int(cells.sum())
    distances = every.y.reshape(embeddings, -1)
    by_word = by_word.reshape(draws, embeddings, *cells.shape)
    observed = scatter_cells(sums.y, every.filled).reshape(embeddings, *cells.shape)
    blocks = sums.covariance.reshape(embeddings, n, embeddings, n)
    root = protected_root(every)
    wide = (root @ root.T).reshape(embeddings, words, embeddings, words)
    families = relatedness_for(every).families(every.protected_words[:words].tolist())
    by_connection = factors[:, data.connection_class]
    # of the protected words that have a connection; groups weigh the same
    weights = np.column_stack([whole_weights(data, own) for own in cells.T])
    results = []
    for before, after in combinations(range(embeddings), 2):
        moved = by_word[:, after] - by_word[:, before]
        fixed = fixed_values(data, distances[after] - distances[before])
        for k, value in fixed.items():
            moved[:, :, k] = np.where(cells[:, k], value, np.nan)
        # covariance of the errors of a difference: what the two embeddings share cancels
        apart = (
            blocks[after, :, after] - blocks[after, :, before] - blocks[before, :, after] + blocks[before, :, before]
        )
        moves = wide[after, :, after] + wide[before, :, before] - 2 * wide[after, :, before]
        scale = spec.priors["connection_covariance"].scale * float(np.sqrt(max(np.diag(moves).mean(), LEAST_SCATTER)))
        errors = scatter_of_errors(apart, cells)
        population = population_of(observed[after] - observed[before], errors, families, scale)
        covariance = population.covariance(population.draw(draws, rng), by_connection)
        spread = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2)).copy()
        spread[:, list(fixed)] = 0.0
        start = by_word[:, before]
        whole = [np.einsum("djk,jk->dk", np.where(cells, each, 0.0), weights) for each in (start, moved)]
        results.append(
            ChangeDraws(
                before=before,
                after=after,
                connection_before=whole[0].reshape(*size, -1),
                connection_change=whole[1].reshape(*size, -1),
                word_before=start.reshape(*size, *cells.shape),
                word_change=moved.reshape(*size, *cells.shape),
                scales={"connection_sd": spread.reshape(*size, -1)},
            )
        )
    return results


def drawn_changes(
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
