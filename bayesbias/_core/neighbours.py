"""Nearest neighbours by cosine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesbias._core.blocks import in_blocks
from bayesbias._core.cells import IntArray

BLOCK = 2**22
"""Cosines that are held at once, on each core."""


def nearest_rows(unit: NDArray[np.floating], rows: IntArray, count: int) -> IntArray:
    """The rows of unit vectors with the largest inner products with some of them (rows, count), themselves left out."""
    nearest = np.empty((len(rows), count), dtype=np.intp)
    others = len(unit) - count

    def find(part: slice) -> None:
        block = rows[part]
        products = unit[block] @ unit.T
        products[np.arange(len(block)), block] = -np.inf
        nearest[part] = np.argpartition(products, others, axis=1)[:, others:]

    in_blocks(find, len(rows), max(1, BLOCK // len(unit)))
    return nearest
