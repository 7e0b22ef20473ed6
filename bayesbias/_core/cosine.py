"""Cosine distances."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
BLOCK = 20_000
"""Rows that are scaled together."""


def unit_rows(vectors: ArrayLike) -> FloatArray:
    """The rows divided by their lengths, in double precision.

    Parameters
    ----------
    vectors
        Array (rows, dimensions) without zero rows.
    """
    rows = np.asarray(vectors, dtype=np.float64)
    return rows / _lengths(rows)[:, None]


def mean_unit(rows: FloatArray) -> FloatArray:
    """Mean of the rows' unit vectors (dimensions,), without a copy of the rows."""
    mean: FloatArray = (1 / _lengths(rows)) @ rows / len(rows)
    return mean


def unit_products(rows: FloatArray, with_these: FloatArray) -> FloatArray:
    """Unit vectors of the rows times a vector, or times each row of an array, without a copy of the rows.

    With ``with_these`` of shape (dimensions,) the result is (rows,), with (k, dimensions) it is (k, rows).
    """
    return with_these @ rows.T / _lengths(rows)


def _lengths(rows: FloatArray) -> FloatArray:
    lengths: FloatArray = np.sqrt(np.vecdot(rows, rows))
    return lengths


def cosine_distances(left: ArrayLike, right: ArrayLike) -> FloatArray:
    """1 - cosine similarity of every row of ``left`` with every row of ``right``, in [0, 2].

    Parameters
    ----------
    left, right
        Arrays (a, dimensions) and (b, dimensions) without zero rows; the result is (a, b).
    """
    return np.clip(1.0 - unit_rows(left) @ unit_rows(right).T, 0.0, 2.0)


def unit_single(vectors: NDArray[np.floating]) -> NDArray[np.float32]:
    """The rows divided by their lengths, in single precision without a copy of all in double; zeros stay zeros."""
    unit = np.empty(vectors.shape, dtype=np.float32)
    for begin in range(0, len(vectors), BLOCK):
        block = vectors[begin : begin + BLOCK].astype(np.float64)
        lengths = _lengths(block)[:, None]
        unit[begin : begin + BLOCK] = np.divide(block, lengths, out=np.zeros_like(block), where=lengths > 0)
    return unit
