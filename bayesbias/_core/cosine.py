"""Cosine distances."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


def unit_rows(vectors: ArrayLike) -> FloatArray:
    """The rows divided by their lengths, in double precision.

    Parameters
    ----------
    vectors
        Array (rows, dimensions) without zero rows.
    """
    rows = np.asarray(vectors, dtype=np.float64)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def cosine_distances(left: ArrayLike, right: ArrayLike) -> FloatArray:
    """1 - cosine similarity of every row of ``left`` with every row of ``right``, in [0, 2].

    Parameters
    ----------
    left, right
        Arrays (a, dimensions) and (b, dimensions) without zero rows; the result is (a, b).
    """
    return np.clip(1.0 - unit_rows(left) @ unit_rows(right).T, 0.0, 2.0)
