"""Draws of what changed, from the covariance of related words, and the tree of a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import xarray as xr

from bayesbias._support.files import to_json
from bayesbias.comparison.sides import Matched, fixed_values
from bayesbias.contrast import POPULATION, SAMPLE
from bayesbias.distances.covariances import KEY, Relatedness, relatedness_group
from bayesbias.distances.distances import Distances
from bayesbias.models.families import family_of
from bayesbias.models.related import LEAST_SCATTER, protected_root, related_posterior, relatedness_for
from bayesbias.models.spec import ModelSpec
from bayesbias.models.tree import made_by, versions_of
from bayesbias.models.weights import whole_weights
from bayesbias.numerics.arrays import FloatArray
from bayesbias.numerics.marginal import scatter_cells
from bayesbias.numerics.related import draw_cells, draw_factors, population_of, scatter_of_errors
from bayesbias.results import Note, stored

STEP = ("chain", "draw")
WHOLE, WORDS = ("connection",), ("protected_word", "connection")
SCALE_DIMS = {"connection_sd": WHOLE, "sigma": WHOLE, "attribute_sd": ("attribute_class",), "interaction_sd": ()}
"""Dimensions of draws, of means over the whole list, of means of words, and of scales."""
LEVELS_MODEL = "crossed"
"""Model of the distances in each embedding where changes have a model of their own."""


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
    """Data and facts as a tree, as :class:`Comparison` describes it; :func:`with_draws` adds draws.

    ``size`` are chains and draws in each; ``related`` is the relatedness of the protected words of all embeddings,
    where figures are exact.
    """
    data, names, pairs = matched.data, list(matched.embeddings), np.array(matched.pairs)
    rows, values = np.arange(len(data.y)), family_of(spec).needs_relatedness
    groups = {
        "/paired": xr.Dataset(
            {"before_index": ("change", pairs[:, 0]), "after_index": ("change", pairs[:, 1])},
            coords={"change": [matched.label(*pair) for pair in matched.pairs]},
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
        groups[f"/{KEY}"] = relatedness_group(related)
    tree = xr.DataTree.from_dict(groups)
    tree.attrs = {
        **made_by(spec, engine, seed),
        "chains": size[0],
        "draws": size[1],
        "notes": to_json(stored(notes)),
        "faults": to_json(stored(dict.fromkeys(faults))),
        "versions": to_json(versions_of(engine)),
        "coverage": to_json(matched.coverage),
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
    names = sorted({name for each in changes for name in each.stats})
    variables = {
        "/posterior": _posterior(changes, len(coords["embedding"])),
        "/paired": {
            "connection_before": ((*STEP, "change", *WHOLE), _stacked(each.connection_before for each in changes)),
            "word_before": ((*STEP, "change", *WORDS), _stacked(each.word_before for each in changes)),
        },
        "/sample_stats": {
            name: (("change",), np.array([each.stats.get(name, np.nan) for each in changes])) for name in names
        },
    }
    groups = {
        name: xr.Dataset(values, coords={dim: coords[dim] for _, (dims, _) in values.items() for dim in dims})
        for name, values in variables.items()
        if values
    }
    groups["/paired"] = groups["/paired"].merge(tree["paired"].to_dataset())
    known = {f"/{name}": group.to_dataset() for name, group in tree.children.items()}
    result = xr.DataTree.from_dict({"/posterior": groups["/posterior"], **known, **groups})
    result.attrs = dict(tree.attrs)
    return result


def _posterior(changes: Sequence[ChangeDraws], embeddings: int) -> dict[str, Any]:
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
        dims = SCALE_DIMS[name][: like.ndim - len(STEP)]  # none where all connections share the scale
        values[f"change_{name}"] = ((*STEP, "change", *dims), _stacked(drawn))
    return values


def _stacked(values: Iterable[FloatArray]) -> FloatArray:
    """Arrays (chain, draw, ...) as one (chain, draw, change or embedding, ...)."""
    return np.stack(list(values), axis=2)


def _levels(changes: Sequence[ChangeDraws], embeddings: int, kind: str) -> FloatArray:
    """Means (chain, draw, embedding, ...): of the first embedding, and what changed from it to each other one."""
    first = [each for each in changes if each.before == 0]
    start = getattr(first[0], f"{kind}_before")
    levels = {0: start, **{each.after: start + getattr(each, f"{kind}_change") for each in first}}
    return _stacked(levels[place] for place in range(embeddings))


def related_changes(
    spec: ModelSpec, data: Distances, every: Distances, size: tuple[int, int], seed: int
) -> list[ChangeDraws]:
    """Draws (chains, draws in each) of the changes between each two embeddings, from one posterior of all.

    ``data`` and ``every`` are the pairs in the first embedding and in all, as :func:`stacked_tables` puts them.
    """
    rng = np.random.default_rng(seed)
    posterior = related_posterior(spec, every)
    draws, cells = size[0] * size[1], data.filled
    factors = draw_factors(posterior.grid, draws, rng)
    by_word = scatter_cells(draw_cells(posterior.sums, factors, rng), every.filled)
    # what all embeddings hold, apart by embedding
    embeddings, words, n = len(every.y) // len(data.y), len(cells), int(cells.sum())
    distances = every.y.reshape(embeddings, -1)
    by_word = by_word.reshape(draws, embeddings, *cells.shape)
    observed = scatter_cells(posterior.sums.y, every.filled).reshape(embeddings, *cells.shape)
    blocks = posterior.sums.covariance.reshape(embeddings, n, embeddings, n)
    root = protected_root(every)
    wide = (root @ root.T).reshape(embeddings, words, embeddings, words)
    families = relatedness_for(every).families(every.protected_words[:words].tolist())
    by_connection = factors[:, data.connection_class]
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
        scale = posterior.priors.population.scale * float(np.sqrt(max(np.diag(moves).mean(), LEAST_SCATTER)))
        errors = scatter_of_errors(apart, cells)
        population = population_of(observed[after] - observed[before], errors, families, scale)
        covariance = population.covariance(population.draw(draws, rng), by_connection)
        spread = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2)).copy()
        spread[:, list(fixed)] = 0.0
        start = by_word[:, before]
        results.append(
            ChangeDraws(
                before=before,
                after=after,
                connection_before=_whole(start, data).reshape(*size, -1),
                connection_change=_whole(moved, data).reshape(*size, -1),
                word_before=start.reshape(*size, *cells.shape),
                word_change=moved.reshape(*size, *cells.shape),
                scales={"connection_sd": spread.reshape(*size, -1)},
            )
        )
    return results


def _whole(words: FloatArray, data: Distances) -> FloatArray:
    """Means (draws, K) over the protected words that have a connection; groups weigh the same."""
    weights = np.column_stack([whole_weights(data, own) for own in data.filled.T])
    value: FloatArray = np.einsum("djk,jk->dk", np.where(data.filled, words, 0.0), weights)
    return value
