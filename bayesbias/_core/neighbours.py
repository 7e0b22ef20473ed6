"""Nearest neighbours by cosine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesbias._core.cells import IntArray

BLOCK = 2**24
"""Cosines that are held at once."""


def nearest_rows(unit: NDArray[np.floating], rows: IntArray, count: int) -> IntArray:
    """The rows of unit vectors with the largest inner products with some of them (rows, count), themselves left out."""
    nearest = np.empty((len(rows), count), dtype=np.intp)
    step = max(1, BLOCK // len(unit))
    for begin in range(0, len(rows), step):
        block = rows[begin : begin + step]
        products = unit[block] @ unit.T
        products[np.arange(len(block)), block] = -np.inf
        nearest[begin : begin + step] = np.argpartition(-products, count - 1, axis=1)[:, :count]
    return nearest
