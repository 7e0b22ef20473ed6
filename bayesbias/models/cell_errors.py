"""Errors of the means of cells, with their covariance between cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from bayesbias._core.vectors import FloatArray, IntArray
from bayesbias.distances.distances import Distances
from bayesbias.models.related import (
    alike_within,
    cell_lists,
    components_for,
    refuse_many_cells,
    related_posterior,
    relatedness_for,
)
from bayesbias.models.results import Fit
from bayesbias.models.spec import ModelSpec


@dataclass(frozen=True)
class CellErrors:
    """Means of cells (n,) of one embedding, and the covariance (n, n) of their errors.

    ``factors`` are those of the vectors' covariance, None for models without it; ``sources`` are roots (n, units) of
    independent parts of the covariance, with the names of the units.
    """

    data: Distances
    word: np.ndarray
    connection: np.ndarray
    y: FloatArray
    covariance: FloatArray
    factors: FloatArray | None
    sources: tuple[tuple[sparse.csr_array, np.ndarray], ...]


def related_cell_errors(spec: ModelSpec, data: Distances, connections: tuple[str, ...], topic: bool) -> CellErrors:
    """Cells under some connections, of a model of related words, which needs no draws.

    Errors are those of attribute lists like these, or with ``topic`` of further words on the same topics.
    """
    posterior = related_posterior(spec, data)
    sums = posterior.sums
    chosen = np.isin(data.connections[sums.connection], connections)
    # root mean squares: one factor for all embeddings, which therefore does not add to differences between them
    factors = np.sqrt(np.diag(posterior.grid.products))[sums.kind][chosen]
    refuse_many_cells(len(sums.y))
    covariance = _within_topics(data) if topic else sums.covariance
    return CellErrors(
        data=data,
        word=data.protected_words[sums.word[chosen]],
        connection=data.connections[sums.connection[chosen]],
        y=sums.y[chosen],
        covariance=covariance[np.ix_(chosen, chosen)] * np.outer(factors, factors),
        factors=factors,
        sources=(),
    )


def _within_topics(data: Distances) -> FloatArray:
    """Covariance (n, n) of cells' means for further words on the topics of their lists, for a factor of 1.

    In each component the words of a list share the part that their similarity says, which belongs to the topic; what is
    left is independent from word to word.
    """
    relatedness = relatedness_for(data)
    parts, lists = components_for(relatedness, data.protected_words), cell_lists(data)
    same, shares = relatedness.overlaps(lists.member, data.attribute_words.tolist())
    left = np.maximum(1 - alike_within(parts, same, shares), 0)
    loadings = parts.loadings[lists.word] * np.sqrt(parts.variances * left[lists.listed])
    covariance: FloatArray = (loadings @ loadings.T) * same[np.ix_(lists.listed, lists.listed)]
    return covariance


def drawn_cell_errors(result: Fit, connections: tuple[str, ...]) -> CellErrors:
    """Cells of a model whose scales are in its posterior: attribute words, word x group, residuals."""
    posterior, data = result.posterior, result.data
    word, connection = np.nonzero(data.filled & np.isin(data.connections, connections))
    number = np.full(data.filled.shape, -1)
    number[word, connection] = np.arange(len(word))
    cell = number[data.word, data.connection]
    rows = cell >= 0
    share = 1 / data.cells.n[word, connection]

    def root(units: IntArray, scales: FloatArray) -> sparse.csr_array:
        """(cells, units): the share of each unit in a cell's mean, times the scale of the cell's connection."""
        values = (share * scales[connection])[cell[rows]]
        return sparse.csr_array((values, (cell[rows], units[rows])), shape=(len(word), int(units.max()) + 1))

    def scales(name: str) -> FloatArray:
        return np.sqrt((posterior[name].to_numpy() ** 2).mean(axis=(0, 1)))

    groups = data.group_index[data.word]
    pair = data.word * len(data.attribute_words) + data.attribute
    labels = data.attribute_words
    sources = []
    if "attribute_sd" in posterior:
        sd = (
            np.sqrt((result.by_connection("attribute_sd") ** 2).mean(axis=(0, 1)))
            if "attribute_class" in posterior["attribute_sd"].dims
            else np.full(len(data.connections), float(scales("attribute_sd")))
        )
        sources.append((root(data.attribute, sd), labels))
    if "interaction_sd" in posterior:
        units = data.attribute * len(data.group_names) + groups
        names = np.array([f"{w}\t{g}" for w in labels for g in data.group_names])
        sources.append((root(units, np.full(len(data.connections), float(scales("interaction_sd")))), names))
    sigma = np.broadcast_to(scales("sigma"), (len(data.connections),))
    names = np.array([f"{p}\t{w}" for p in data.protected_words for w in labels])
    sources.append((root(pair, sigma), names))
    covariance = sum(((r @ r.T).toarray() for r, _ in sources), np.zeros((len(word), len(word))))
    return CellErrors(
        data=data,
        word=data.protected_words[word],
        connection=data.connections[connection],
        y=data.cells.mean[word, connection],
        covariance=covariance,
        factors=None,
        sources=tuple(sources),
    )
