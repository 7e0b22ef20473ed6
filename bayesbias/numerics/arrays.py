"""Vectors: cosines, neighbours, words with one vector, subspaces and rotations."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import coo_array
from scipy.special import expit

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

BLOCK = 20_000  # rows that are scaled together
ROWS_AT_ONCE = 2**22  # cosines that are held at once, on each core
# length, beside those of the vectors that were subtracted, up to which a difference is rounding. Single precision moves
# a vector by 1e-7 of its length, and what lengths measure is measured by it too: cosines, distances, spreads.
NOTHING = 1e-6
# 1 - cosine up to which two vectors are one. Rounding moves a vector less (to half precision 4e-8, to four decimals of
# a unit vector 1e-7), and the nearest two different words of a word list are further apart by a factor of 10,000.
SAME = 1e-6
AXES = 6  # on which vectors are projected to find those alike
STEP = 1e-7  # grid on which projected vectors that fall together are taken together first


def in_blocks[T](work: Callable[[slice], T], size: int, step: int) -> list[T]:
    """The results of ``work`` on consecutive slices of at most ``step``, in order."""
    parts = [slice(begin, min(begin + step, size)) for begin in range(0, size, step)]
    cores = getattr(os, "process_cpu_count", os.cpu_count)() or 1
    if len(parts) == 1 or cores == 1:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(min(cores, len(parts))) as pool:
        return list(pool.map(work, parts))


def sums_by(rows: FloatArray, group: IntArray, groups: int) -> FloatArray:
    """Sums (groups, k) of rows (n, k) by the number of their group (n,)."""
    sums = np.zeros((groups, rows.shape[1]))
    np.add.at(sums, group, rows)
    return sums


def unit_rows(vectors: ArrayLike) -> FloatArray:
    """The rows (rows, dimensions), none of them zero, divided by their lengths, in double precision."""
    rows = np.asarray(vectors, dtype=np.float64)
    return rows / _lengths(rows)[:, None]


def mean_unit(rows: FloatArray) -> FloatArray:
    """Mean of the rows' unit vectors (dimensions,), without a copy of the rows."""
    return (1 / _lengths(rows)) @ rows / len(rows)


def unit_products(rows: FloatArray, with_these: FloatArray) -> FloatArray:
    """Unit vectors of the rows times a vector (rows,), or times each row of an array (k, rows), without a copy."""
    return with_these @ rows.T / _lengths(rows)


def beyond_rounding(rows: FloatArray, lengths: ArrayLike = 1.0) -> FloatArray:
    """Differences (..., d) of vectors of some lengths (...): 0 where they are no more than rounding."""
    some = np.linalg.norm(rows, axis=-1) > NOTHING * np.asarray(lengths)
    result: FloatArray = np.where(some[..., None], rows, 0.0)
    return result


def row_differences(first: FloatArray, second: FloatArray) -> FloatArray:
    """``first`` - ``second`` (rows, d): 0 where a row and the other are equal but for rounding."""
    return beyond_rounding(first - second, np.maximum(_lengths(first), _lengths(second)))


def equal_rows(left: FloatArray, right: FloatArray) -> NDArray[np.bool_]:
    """True (a, b) where rows of two arrays of unit vectors, or what is left of them, are equal but for rounding."""
    squares = np.vecdot(left, left)[:, None] + np.vecdot(right, right) - 2 * left @ right.T
    equal: NDArray[np.bool_] = squares <= NOTHING**2
    return equal


def spanned(rows: FloatArray, length: float = 1.0) -> tuple[FloatArray, FloatArray]:
    """Orthonormal directions (k, d) that rows (n, d) span beyond rounding, and all n singular values, largest first.

    The rows are differences of vectors of a length.
    """
    _, sizes, axes = np.linalg.svd(rows, full_matrices=False)
    return axes[: int((sizes > NOTHING * length * np.sqrt(len(rows))).sum())], sizes


def _lengths(rows: FloatArray) -> FloatArray:
    lengths: FloatArray = np.sqrt(np.vecdot(rows, rows))
    return lengths


def unit_single(vectors: NDArray[np.floating]) -> NDArray[np.float32]:
    """The rows divided by their lengths, in single precision without a copy of all in double; zeros stay zeros."""
    unit = np.empty(vectors.shape, dtype=np.float32)
    for begin in range(0, len(vectors), BLOCK):
        block = vectors[begin : begin + BLOCK].astype(np.float64)
        lengths = _lengths(block)[:, None]
        unit[begin : begin + BLOCK] = np.divide(block, lengths, out=np.zeros_like(block), where=lengths > 0)
    return unit


def nearest_rows(unit: NDArray[np.floating], rows: IntArray, count: int) -> IntArray:
    """The rows of unit vectors with the largest inner products with some of them (rows, count), themselves left out."""
    nearest = np.empty((len(rows), count), dtype=np.intp)
    others = len(unit) - count

    def find(part: slice) -> None:
        block = rows[part]
        products = unit[block] @ unit.T
        products[np.arange(len(block)), block] = -np.inf
        nearest[part] = np.argpartition(products, others, axis=1)[:, others:]

    in_blocks(find, len(rows), max(1, ROWS_AT_ONCE // len(unit)))
    return nearest


def first_alike(vectors: FloatArray) -> IntArray:
    """For each row the first row with its direction, itself where there is none before it, (rows,).

    Rows are projected on a few orthogonal axes, which brings them no further apart: only rows that are near there are
    compared. A chain of rows, each similar to the next, is one.
    """
    size = len(vectors)
    if size < 2:
        return np.arange(size, dtype=np.intp)
    from scipy.sparse.csgraph import connected_components  # both load slowly
    from scipy.spatial import cKDTree

    dimensions = vectors.shape[1]
    axes = np.linalg.qr(np.random.default_rng(0).standard_normal((dimensions, min(AXES, dimensions))))[0]
    projected = unit_products(vectors, axes.T).T
    # a number for the cell of a fine grid that each row falls in; two cells may share one
    steps = np.rint(projected / STEP).astype(np.int64).view(np.uint64)
    factors = np.random.default_rng(1).integers(1, 2**63, steps.shape[1], dtype=np.uint64) | np.uint64(1)
    cells = (steps * factors).sum(axis=1, dtype=np.uint64)
    _, begin, inverse = np.unique(cells, return_index=True, return_inverse=True)
    own = begin[inverse]
    together = _apart(vectors, own, np.arange(size)) <= SAME
    alone = np.flatnonzero((own == np.arange(size)) | ~together)
    near = alone[cKDTree(projected[alone]).query_pairs(np.sqrt(2 * SAME) * (1 + 1e-9), output_type="ndarray")]
    near = near[_apart(vectors, near[:, 0], near[:, 1]) <= SAME]
    edges = np.vstack([near, np.column_stack([np.flatnonzero(together), own[together]])])
    graph = coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(size, size))
    _, label = connected_components(graph, directed=False)
    first = np.full(int(label.max()) + 1, size, dtype=np.intp)
    np.minimum.at(first, label, np.arange(size))
    return first[label]


def _apart(vectors: FloatArray, left: IntArray, right: IntArray) -> FloatArray:
    """1 - cosine of pairs of rows, from the length of their units' difference, which keeps its digits near 0."""
    values = np.empty(len(left))
    for begin in range(0, len(left), BLOCK):
        part = slice(begin, begin + BLOCK)
        difference = unit_rows(vectors[left[part]]) - unit_rows(vectors[right[part]])
        values[part] = np.vecdot(difference, difference) / 2
    return values


def principal_directions(sets: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Directions (k, dimensions) in which the members of sets differ beyond rounding, the strongest first.

    A set's mean is taken off the unit vectors (members, dimensions) of its members. Beside the directions come the
    shares of the variance along every direction there is.
    """
    apart = np.vstack([vectors - vectors.mean(axis=0) for vectors in sets])
    axes, sizes = spanned(apart)
    variances = sizes**2
    return axes, variances / variances.sum()


def without(vectors: FloatArray, directions: FloatArray) -> FloatArray:
    """Vectors (words, dimensions) less their projections on orthonormal directions (k, dimensions)."""
    return vectors - (vectors @ directions.T) @ directions


def orthogonal_map(first: NDArray[np.floating], second: NDArray[np.floating]) -> FloatArray:
    """The orthogonal R that minimises the Frobenius norm of first R - second: U V' where first' second = U S V'.

    Schönemann, P. H. (1966). A generalized solution of the orthogonal Procrustes problem. Psychometrika 31(1).
    https://doi.org/10.1007/BF02289451
    """
    crossed = np.zeros((first.shape[1], second.shape[1]))
    for begin in range(0, len(first), BLOCK):
        part = slice(begin, begin + BLOCK)
        crossed += first[part].astype(np.float64).T @ second[part].astype(np.float64)
    left, _, right = np.linalg.svd(crossed)
    return left @ right


MOST_STEPS = 100
# twice the share of the loss that the last step gains: about its rounding. That step leaves far less.
DECREMENT = 1e-14
ROUNDING, SHORTEST = 1e-13, 1e-8  # share of the loss that is rounding, and the shortest step that is tried


def fit_in_rows(
    gram: FloatArray, first: np.ndarray, start: tuple[FloatArray, float] | None = None, intercept: bool = True
) -> tuple[FloatArray, float]:
    """Weights alpha (rows,) and intercept b of a logistic regression that separates rows that are ``first``.

    Minimises |w|^2 / 2 + sum log(1 + exp(-y (x w + b))) with w = x' alpha, the intercept without penalty (that of
    scikit-learn's LogisticRegression with C = 1), or b = 0 without an ``intercept``, by Newton's method with steps that
    are halved until the loss falls. ``gram`` holds the inner products (rows, rows); it may start from the solution for
    some of the rows with 0 for the others. An ArithmeticError says that it has not converged after a hundred steps.
    scikit-learn's solvers take three to ten times as long for each of thousands of fits, or do not converge as far.
    """
    label = first.astype(float)
    alpha, b = (np.zeros(len(gram)), 0.0) if start is None else start

    def loss(alpha: FloatArray, b: float) -> float:
        margin = gram @ alpha
        return float(0.5 * alpha @ margin + np.logaddexp(0, (1 - 2 * label) * (margin + b)).sum())

    before = loss(alpha, b)
    for _ in range(MOST_STEPS):
        # at the solution alpha = first - p, and with an intercept alpha sums to 0
        p = expit(gram @ alpha + b)
        residual = label - p - alpha
        # Newton's step, the equation linearised: (K + W^-1) step + rise 1 = W^-1 residual with W = p (1 - p), and the
        # rise such that alpha adds up to 0
        weight = np.maximum(p * (1 - p), 1e-12)
        factor = cho_factor(gram + np.diag(1 / weight), lower=True, overwrite_a=True, check_finite=False)
        both = np.column_stack([residual / weight, np.ones(len(gram))])
        step, across = cho_solve(factor, both, check_finite=False).T
        rise = float((step.sum() + alpha.sum()) / across.sum()) if intercept else 0.0
        step = step - rise * across
        # half the Newton decrement is what a step gains near the solution (Boyd and Vandenberghe 2004, Convex
        # Optimization, section 9.5, https://doi.org/10.1017/CBO9780511804441)
        decrement = residual @ (gram @ step) + (label - p).sum() * rise
        if decrement < DECREMENT * max(1.0, before):
            return alpha + step, b + rise
        # the loss is convex, so that a short enough step lowers it
        length = 1.0
        while (after := loss(alpha + length * step, b + length * rise)) > before * (1 + ROUNDING) and length > SHORTEST:
            length /= 2
        alpha, b, before = alpha + length * step, b + length * rise, after
    raise ArithmeticError(f"no convergence in {MOST_STEPS} steps: one more would gain {decrement / 2:.1g}")
