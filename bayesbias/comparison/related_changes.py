"""Changes between embeddings whose vectors tell how distances are correlated, from one posterior of all."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from bayesbias._core.marginal import scatter_cells
from bayesbias._core.related import draw_cells, draw_factors, draw_population, scatter_of_errors
from bayesbias._core.vectors import FloatArray
from bayesbias.comparison.matching import ChangeDraws, Matched, change_notes
from bayesbias.comparison.sides import fixed_values, stack
from bayesbias.distances.covariances import Relatedness
from bayesbias.distances.distances import Distances
from bayesbias.distances.vocabularies import joint_relatedness
from bayesbias.models.cells import whole_weights
from bayesbias.models.related import (
    LEAST_SCATTER,
    factor_products,
    protected_covariance,
    related_posterior,
    relatedness_for,
)
from bayesbias.models.spec import ModelSpec

MOST_CELLS = 2000
"""Cells of all embeddings beyond which a covariance matrix of them is too large for a comparison."""


def stacked_data(matched: Matched, found: Sequence[Relatedness]) -> tuple[Distances, Distances] | str:
    """The data of the pairs in one embedding and in all, or why there are none."""
    distances = Distances.read(matched.of(matched.distances[:, 0]), check=False)
    size = len(matched.embeddings)
    if (cells := int(distances.filled.sum()) * size) > MOST_CELLS:
        return f"there are {cells:,} cells in all embeddings, more than {MOST_CELLS:,}"
    words = {*distances.protected_words.tolist(), *distances.attribute_words.tolist()}
    if any(not words.issubset((*each.protected_words, *each.attribute_words)) for each in found):
        return "words of the tables are not known to their relatedness"
    related = joint_relatedness(found, [distances.protected_words.tolist()] * size)
    if isinstance(related, str):
        return related
    return distances, stack(distances, matched.distances, related)


def by_covariance(
    distances: Distances, every: Distances, matched: Matched, spec: ModelSpec, draws: int, chains: int, seed: int
) -> list[ChangeDraws]:
    """Draws of the changes between all pairs of embeddings from one posterior of all.

    ``distances`` and ``every`` are the pairs in the first embedding and in all, of :func:`stacked_data`.
    """
    rng = np.random.default_rng(seed)
    posterior = related_posterior(spec, every)
    factors, n = draw_factors(posterior.grid, draws, rng), int(distances.filled.sum())
    cells = draw_cells(posterior.sums, factors, rng)
    products = factor_products(factors, distances)
    observed = scatter_cells(posterior.sums.y, every.filled).reshape(len(matched.embeddings), *distances.filled.shape)
    blocks = posterior.sums.covariance.reshape(len(matched.embeddings), n, len(matched.embeddings), n)
    size = (chains, draws // chains)
    by_word = scatter_cells(cells, every.filled).reshape(draws, len(matched.embeddings), *distances.filled.shape)
    words = len(distances.protected_words)
    families = relatedness_for(every).families(every.protected_words[:words].tolist())
    wide = protected_covariance(every).reshape(len(matched.embeddings), words, len(matched.embeddings), words)
    results = []
    for before, after in combinations(range(len(matched.embeddings)), 2):
        label = f"{matched.embeddings[before]} → {matched.embeddings[after]}"
        moved = by_word[:, after] - by_word[:, before]
        change = matched.distances[:, after] - matched.distances[:, before]
        fixed = fixed_values(distances, change)
        for k, value in fixed.items():
            moved[:, :, k] = np.where(distances.filled[:, k], value, np.nan)
        apart = (
            blocks[after, :, after] - blocks[after, :, before] - blocks[before, :, after] + blocks[before, :, before]
        )
        moves = wide[after, :, after] + wide[before, :, before] - 2 * wide[after, :, before]
        scale = posterior.priors.population.scale * float(np.sqrt(max(np.diag(moves).mean(), LEAST_SCATTER)))
        errors = scatter_of_errors(apart, distances.filled) * products
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
                word_before=start.reshape(*size, *distances.filled.shape),
                word_change=moved.reshape(*size, *distances.filled.shape),
                scales={"connection_sd": spread.reshape(*size, -1)},
                stats={},
                faults=(),
                notes=tuple(change_notes(distances, change, fixed, label)),
                engine="exact",
            )
        )
    return results


def _whole(words: FloatArray, data: Distances) -> FloatArray:
    """Means (draws, K) over the protected words that have a connection; groups weigh the same."""
    weights = np.column_stack([whole_weights(data, own) for own in data.filled.T])
    value: FloatArray = np.einsum("djk,jk->dk", np.where(data.filled, words, 0.0), weights)
    return value
