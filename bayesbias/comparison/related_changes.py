"""Changes between embeddings whose vectors tell how distances are correlated, from one posterior of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from bayesbias._core.marginal import scatter_cells
from bayesbias._core.related import draw_cells, draw_factors, draw_population, scatter_of_errors
from bayesbias._core.vectors import FloatArray
from bayesbias.comparison.matching import ChangeDraws, Matched, change_notes
from bayesbias.comparison.sides import fixed_values, stack
from bayesbias.distances.covariances import LEAST, Relatedness
from bayesbias.distances.distances import Distances
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


def stacked_scatter(found: Sequence[Relatedness], words: Sequence[Sequence[str]]) -> Relatedness | str:
    """The first relatedness with the distances of each embedding's words to what all samples share, or why not.

    Its other fields are those of the first.
    """
    first = found[0]
    shared = set(first.sample_words).intersection(*(each.sample_words for each in found[1:]))
    if len(shared) < LEAST:
        return f"the samples of the vocabularies share {len(shared)} words, and {LEAST} are needed"
    if any(each.kind != first.kind for each in found[1:]):
        return "the vocabularies were sampled in different ways"
    kept = [i for i, word in enumerate(first.sample_words) if word in shared]
    rows = []
    for each, chosen in zip(found, words, strict=True):
        place = {word: i for i, word in enumerate(each.sample_words)}
        own = [each.protected_words.index(word) for word in chosen]
        columns = [place[first.sample_words[i]] for i in kept]
        scatter = each.distances(np.array(own))[:, columns]
        rows.append(scatter - scatter.mean(axis=1, keepdims=True))
    return first.with_sample(np.array(kept), np.concatenate(rows))


def _stacked_relatedness(found: Sequence[Relatedness], words: Sequence[str]) -> Relatedness | str:
    """The relatedness of protected words in several embeddings, or why there is none.

    Similarities of words are those in the first embedding; the sample is what all samples share.

    Parameters
    ----------
    found
        Of each embedding.
    words
        Protected words, which all hold; the result has them once for each embedding, in its order.
    """
    first = found[0]
    scatter = stacked_scatter(found, [words] * len(found))
    if isinstance(scatter, str):
        return scatter
    own = [first.protected_words.index(word) for word in words]
    return replace(
        scatter,
        protected_words=tuple(f"{word} {number}" for number in range(len(found)) for word in words),
        protected=np.concatenate([first.protected[own]] * len(found)),
    )


def stacked_data(matched: Matched, found: Sequence[Relatedness]) -> tuple[Distances, Distances] | str:
    """The data of the pairs in one embedding and in all, or why there are none."""
    distances = Distances.read(matched.of(matched.distances[:, 0]), check=False)
    size = len(matched.embeddings)
    if (cells := int(distances.filled.sum()) * size) > MOST_CELLS:
        return f"there are {cells:,} cells in all embeddings, more than {MOST_CELLS:,}"
    known = set(found[0].attribute_words).issuperset(distances.attribute_words.tolist())
    if not known or any(not set(each.protected_words).issuperset(distances.protected_words.tolist()) for each in found):
        return "words of the tables are not known to their relatedness"
    related = _stacked_relatedness(found, distances.protected_words.tolist())
    if isinstance(related, str):
        return related
    return replace(distances, relatedness=found[0]), stack(distances, matched.distances, related)


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
    families = relatedness_for(distances).families(distances.protected_words.tolist())
    words = len(distances.protected_words)
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
