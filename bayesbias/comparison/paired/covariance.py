"""Draws of what changed between embeddings whose words are related as their vectors say: all embeddings at once.

The protected words of every embedding are stacked, as if each embedding had protected words of its own. Their distances
to a sample of the vocabulary then tell how the distances in all embeddings are correlated, and what both share cancels
in a change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from bayesbias._core.cells import reduce_to_cells
from bayesbias._core.cosine import FloatArray
from bayesbias._core.related import draw_cells, draw_factors, draw_population, scatter_of_errors
from bayesbias.comparison.paired.draws import ChangeDraws, change_notes, fixed_values
from bayesbias.comparison.paired.matching import Matched
from bayesbias.distances.covariances import LEAST, Relatedness
from bayesbias.models.data import ModelData, model_data
from bayesbias.models.draws import scatter_cells
from bayesbias.models.related import LEAST_SCATTER, MOST_CELLS, protected_covariance, related_posterior
from bayesbias.models.spec import ModelSpec


def stacked_relatedness(found: Sequence[Relatedness], words: Sequence[str]) -> Relatedness | str:
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
    shared = set(first.sample_words).intersection(*(each.sample_words for each in found[1:]))
    if len(shared) < LEAST:
        return f"the samples of the vocabularies share {len(shared)} words, and {LEAST} are needed"
    if any(each.kind != first.kind for each in found[1:]):
        return "the vocabularies were sampled in different ways"
    kept = [at for at, word in enumerate(first.sample_words) if word in shared]
    rows = []
    for each in found:
        place = {word: at for at, word in enumerate(each.sample_words)}
        own = [each.protected_words.index(word) for word in words]
        columns = [place[first.sample_words[at]] for at in kept]
        scatter = each.scatter.astype(float)[np.ix_(own, columns)]
        rows.append(scatter - scatter.mean(axis=1, keepdims=True))
    own = [first.protected_words.index(word) for word in words]
    return replace(
        first.with_sample(np.array(kept), np.concatenate(rows)),
        protected_words=tuple(f"{word} {number}" for number in range(len(found)) for word in words),
        protected=np.concatenate([first.protected[own]] * len(found)),
        protected_correlation=np.tile(first.protected_correlation[np.ix_(own, own)], (len(found), len(found))),
    )


def stacked_data(matched: Matched, found: Sequence[Relatedness]) -> tuple[ModelData, ModelData] | str:
    """The data of the pairs in one embedding and in all, or why there are none."""
    one = model_data(matched.of(matched.distances[:, 0]))
    size, words = len(matched.embeddings), len(one.protected_words)
    if (cells := int(one.filled.sum()) * size) > MOST_CELLS:
        return f"there are {cells:,} cells in all embeddings, more than {MOST_CELLS:,}"
    known = set(found[0].attribute_words).issuperset(one.attribute_words.tolist())
    if not known or any(not set(each.protected_words).issuperset(one.protected_words.tolist()) for each in found):
        return "words of the tables are not known to their relatedness"
    related = stacked_relatedness(found, one.protected_words.tolist())
    if isinstance(related, str):
        return related
    word = np.concatenate([one.word + words * at for at in range(size)])
    connection, y = np.tile(one.connection, size), matched.distances.T.ravel()
    every = replace(
        one,
        protected_words=np.array(related.protected_words),
        groups=np.tile(one.groups, size),
        word=word,
        connection=connection,
        attribute=np.tile(one.attribute, size),
        attribute_class=np.tile(one.attribute_class, size),
        y=y,
        cells=reduce_to_cells(word, connection, y, (words * size, len(one.connections))),
        relatedness=related,
    )
    return one, every


def by_covariance(
    matched: Matched, found: Sequence[Relatedness], spec: ModelSpec, draws: int, chains: int, seed: int
) -> list[ChangeDraws] | str:
    """The changes between all pairs of embeddings from one posterior of all, or why there is none."""
    made = stacked_data(matched, found)
    if isinstance(made, str):
        return made
    one, every = made
    rng = np.random.default_rng(seed)
    posterior = related_posterior(spec, every)
    factors, n = draw_factors(posterior.grid, draws, rng), int(one.filled.sum())
    cells = draw_cells(posterior.sums, factors, rng)
    by_connection = factors[:, one.connection_class]
    products = by_connection[:, :, None] * by_connection[:, None, :]
    observed = scatter_cells(posterior.sums.y, every.filled).reshape(len(matched.embeddings), *one.filled.shape)
    blocks = posterior.sums.covariance.reshape(len(matched.embeddings), n, len(matched.embeddings), n)
    size = (chains, draws // chains)
    by_word = scatter_cells(cells, every.filled).reshape(draws, len(matched.embeddings), *one.filled.shape)
    families = posterior.sums.families[: len(one.protected_words), : len(one.protected_words)]
    words = len(one.protected_words)
    wide = protected_covariance(every).reshape(len(matched.embeddings), words, len(matched.embeddings), words)
    results = []
    for before, after in combinations(range(len(matched.embeddings)), 2):
        label = f"{matched.embeddings[before]} → {matched.embeddings[after]}"
        moved = by_word[:, after] - by_word[:, before]
        change = matched.distances[:, after] - matched.distances[:, before]
        fixed = fixed_values(one, change)
        for k, value in fixed.items():
            moved[:, :, k] = np.where(one.filled[:, k], value, np.nan)
        apart = (
            blocks[after, :, after] - blocks[after, :, before] - blocks[before, :, after] + blocks[before, :, before]
        )
        moves = wide[after, :, after] + wide[before, :, before] - 2 * wide[after, :, before]
        scale = posterior.priors.population.scale * float(np.sqrt(max(np.diag(moves).mean(), LEAST_SCATTER)))
        errors = scatter_of_errors(apart, one.filled) * products
        population = draw_population(moved, observed[after] - observed[before], errors, families, scale, rng)
        spread = np.sqrt(np.diagonal(population.covariance, axis1=1, axis2=2)).copy()
        spread[:, list(fixed)] = 0.0
        start = by_word[:, before]
        results.append(
            ChangeDraws(
                before=before,
                after=after,
                connection_before=_whole(start, one).reshape(*size, -1),
                connection_change=_whole(moved, one).reshape(*size, -1),
                word_before=start.reshape(*size, *one.filled.shape),
                word_change=moved.reshape(*size, *one.filled.shape),
                scales={"connection_sd": spread.reshape(*size, -1)},
                stats={},
                faults=(),
                notes=tuple(change_notes(one, change, fixed, label)),
                engine="exact",
            )
        )
    return results


def _whole(words: FloatArray, data: ModelData) -> FloatArray:
    """Mean over these protected words (draws, K)."""
    value: FloatArray = np.where(data.filled, words, 0.0).sum(axis=1) / data.filled.sum(axis=0)
    return value
