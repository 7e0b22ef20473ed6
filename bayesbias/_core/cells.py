"""Cells: the distances of one protected word under one connection, reduced to three numbers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesbias._core.cosine import FloatArray

IntArray = NDArray[np.intp]


@dataclass(frozen=True)
class Cells:
    """Sufficient statistics of a grid of cells.

    Attributes
    ----------
    n, mean, ssd
        Arrays (protected words, connections): how many distances, their mean, and the sum of squared deviations from
        it. An empty cell has n = 0 and a mean of NaN.
    """

    n: IntArray
    mean: FloatArray
    ssd: FloatArray


def cell_numbers(filled: NDArray[np.bool_]) -> IntArray:
    """Number of each filled cell, in the order of ``np.nonzero``; -1 for the others."""
    number = np.full(filled.shape, -1)
    number[filled] = np.arange(filled.sum())
    return number


def reduce_to_cells(word: IntArray, connection: IntArray, y: FloatArray, shape: tuple[int, int]) -> Cells:
    """Count, mean and sum of squares of the distances in each cell.

    Parameters
    ----------
    word, connection
        Arrays (rows): the cell of each distance.
    y
        Array (rows): distances.
    shape
        Numbers of protected words and of connections.
    """
    cell = word * shape[1] + connection
    size = shape[0] * shape[1]
    n = np.bincount(cell, minlength=size)
    with np.errstate(invalid="ignore"):
        mean = np.bincount(cell, weights=y, minlength=size) / n
    ssd = np.bincount(cell, weights=(y - mean[cell]) ** 2, minlength=size)
    return Cells(n.reshape(shape), mean.reshape(shape), ssd.reshape(shape))
