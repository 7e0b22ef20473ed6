"""Vectors that are one vector: rows of the same direction, found without comparing all with all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from bayesbias._core.cells import IntArray
from bayesbias._core.cosine import BLOCK, FloatArray, unit_products, unit_rows

SAME = 1e-6
"""1 - cosine up to which two vectors are one. Rounding moves a vector less (to half precision 4e-8, to four decimals
of a unit vector 1e-7), and the nearest two different words of a word list are further apart by a factor of 10,000."""
AXES = 6
STEP = 1e-7
"""Grid on which projected vectors that fall together are taken together first."""


def first_alike(vectors: FloatArray, same: float = SAME) -> IntArray:
    """For each row the first row with its direction, itself where there is none before it, (rows,).

    Rows are projected on a few orthogonal axes, which brings them no further apart: only rows that are near there are
    compared. A chain of rows, each alike the next, is one.

    Parameters
    ----------
    vectors
        Array (rows, dimensions) without zero rows; their lengths do not matter.
    same
        1 - cosine up to which two rows are one.
    """
    size = len(vectors)
    if size < 2:
        return np.arange(size, dtype=np.intp)
    dimensions = vectors.shape[1]
    axes = np.linalg.qr(np.random.default_rng(0).standard_normal((dimensions, min(AXES, dimensions))))[0]
    projected = unit_products(vectors, axes.T).T
    _, begin, inverse = np.unique(_cells(projected), return_index=True, return_inverse=True)
    own = begin[inverse]
    together = _apart(vectors, own, np.arange(size)) <= same
    alone = np.flatnonzero((own == np.arange(size)) | ~together)
    near = alone[cKDTree(projected[alone]).query_pairs(np.sqrt(2 * same) * (1 + 1e-9), output_type="ndarray")]
    near = near[_apart(vectors, near[:, 0], near[:, 1]) <= same]
    edges = np.vstack([near, np.column_stack([np.flatnonzero(together), own[together]])])
    graph = coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(size, size))
    _, label = connected_components(graph, directed=False)
    first = np.full(int(label.max()) + 1, size, dtype=np.intp)
    np.minimum.at(first, label, np.arange(size))
    found: IntArray = first[label]
    return found


def _cells(projected: FloatArray) -> NDArray[np.uint64]:
    """A number (rows,) for the cell of a fine grid that each row falls in; two cells may share one."""
    steps = np.rint(projected / STEP).astype(np.int64).view(np.uint64)
    factors = np.random.default_rng(1).integers(1, 2**63, steps.shape[1], dtype=np.uint64) | np.uint64(1)
    cells: NDArray[np.uint64] = (steps * factors).sum(axis=1, dtype=np.uint64)
    return cells


def _apart(vectors: FloatArray, left: IntArray, right: IntArray) -> FloatArray:
    """1 - cosine of pairs of rows, from the length of their units' difference, which keeps its digits near 0."""
    found = np.empty(len(left))
    for begin in range(0, len(left), BLOCK):
        part = slice(begin, begin + BLOCK)
        difference = unit_rows(vectors[left[part]]) - unit_rows(vectors[right[part]])
        found[part] = np.vecdot(difference, difference) / 2
    return found
