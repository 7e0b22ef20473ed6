"""Orthogonal maps between embeddings, and how stable words are under them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from bayesbias._core.cosine import BLOCK, FloatArray, unit_rows


def orthogonal_map(first: NDArray[np.floating], second: NDArray[np.floating]) -> FloatArray:
    """The orthogonal R (dimensions, dimensions) that minimises ||first R - second|| in the Frobenius norm.

    With the singular values of first' second = U S V', it is U V'.

    Parameters
    ----------
    first, second
        Arrays (words, dimensions) of the same words.

    References
    ----------
    Schönemann, P. H. (1966). A generalized solution of the orthogonal Procrustes problem. Psychometrika 31(1).
    https://doi.org/10.1007/BF02289451
    """
    crossed = np.zeros((first.shape[1], second.shape[1]))
    for begin in range(0, len(first), BLOCK):
        part = slice(begin, begin + BLOCK)
        crossed += first[part].astype(np.float64).T @ second[part].astype(np.float64)
    left, _, right = np.linalg.svd(crossed)
    rotation: FloatArray = left @ right
    return rotation


def word_stability(
    embeddings: Sequence[NDArray[np.floating]], fitted: Sequence[NDArray[np.floating]] | None = None
) -> FloatArray:
    """Mean over pairs of embeddings of cos(W1[w] R, W2[w]) with R the orthogonal map between the two, in [-1, 1].

    Parameters
    ----------
    embeddings
        Arrays (words, dimensions) without zero rows, of the same words: (seeds, words, dimensions). The result is
        (words,).
    fitted
        Arrays (others, dimensions) of the words that the maps are fitted to; None takes the same.
    """
    rotations = [orthogonal_map(*pair) for pair in combinations(embeddings if fitted is None else fitted, 2)]
    units = [unit_rows(vectors) for vectors in embeddings]
    cosines = [
        np.vecdot(first @ rotation, second)
        for rotation, (first, second) in zip(rotations, combinations(units, 2), strict=True)
    ]
    return np.clip(np.mean(cosines, axis=0), -1.0, 1.0)
