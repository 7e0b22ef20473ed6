"""Soft debiasing: a linear map that keeps inner products and lowers the part along a subspace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, cg

from bayesbias._checks import finite_number
from bayesbias._core.cosine import FloatArray
from bayesbias.debiasing.hard import Changed, defined
from bayesbias.debiasing.records import Debiasing
from bayesbias.debiasing.vocabulary import BLOCK, Vocabulary, rows_to_change

GRADIENT = 1e-6
"""Norm of the gradient by T, the objective scaled by its value at first, at which it has converged."""
ITERATIONS = 1_000
RANK = 1e-10
"""Share of the largest eigenvalue below which a direction holds no vector."""


class Softened(NamedTuple):
    """The map T (d, d), the objective after each step as a share of the first, and the norm of its gradient by T."""

    matrix: FloatArray
    trace: FloatArray
    gradient: float


def soft(
    vocabulary: Vocabulary,
    definitional: Sequence[Sequence[str]],
    strength: float = 0.2,
    components: int = 1,
    neutralize: Iterable[str] | None = None,
    ignore: Iterable[str] = (),
) -> Changed:
    """Map all vectors by T, which minimises ||W' (T'T - I) W||^2 + strength ||N' T'T B||^2.

    W are all unit vectors, N those to neutralise, B the directions. The objective is convex and quadratic in T'T.
    """
    strength = finite_number(strength, "strength", positive=True)
    sets, directions, shares, notes = defined(vocabulary, definitional, components)
    rows, lost = rows_to_change(vocabulary, neutralize, ignore)
    gram = _gram(vocabulary.unit)
    found = softened(gram, gram if rows is None else _gram(vocabulary.unit[rows]), directions, strength)
    if found.gradient > GRADIENT:
        notes.append(f"not converged: the gradient is {found.gradient:.1g}")
    record = Debiasing("soft", directions, shares, sets, len(vocabulary.unit), trace=found.trace, notes=(*notes, *lost))
    return vocabulary.mapped(found.matrix.T, None), record


def softened(gram: FloatArray, neutral: FloatArray, directions: FloatArray, strength: float) -> Softened:
    """The symmetric T that minimises the objective of :func:`soft`.

    With M the sum of x x' over all vectors and A = T'T, the objective is quadratic in A~ = M^1/2 A M^1/2, and its
    minimum solves A~ + strength/2 (R A~ Q + Q A~ R) = M, with R and Q what M^-1/2 makes of the neutral words and of the
    subspace. If all words are neutral R is I and the equation falls apart in the eigenvectors of Q, where A~ is M times
    a positive kernel, so that A has a root. Else conjugate gradients solve it, with that solution as preconditioner.

    Parameters
    ----------
    gram, neutral
        (d, d): sum of x x' over all unit vectors, and over those to neutralise.
    directions
        Orthonormal (k, d).
    """
    values, axes = eigh(gram)
    held = values > RANK * values[-1]
    root, basis = np.sqrt(values[held]), axes[:, held]
    inside = basis / root  # from A~ to A: M^-1/2 on both sides
    q = inside.T @ directions.T @ directions @ inside
    r = inside.T @ neutral @ inside
    weights, turn = eigh(q)
    kernel = 1 / (1 + strength / 2 * (weights[:, None] + weights))
    target = np.diag(root**2)

    def plain(flat: FloatArray) -> FloatArray:
        """The solution if all words were neutral."""
        matrix: FloatArray = turn @ ((turn.T @ flat.reshape(target.shape) @ turn) * kernel) @ turn.T
        return matrix.ravel()

    def apply(flat: FloatArray) -> FloatArray:
        matrix = flat.reshape(target.shape)
        seen = r @ matrix @ q
        result: FloatArray = matrix + strength / 2 * (seen + seen.T)
        return result.ravel()

    def objective(flat: FloatArray) -> float:
        matrix = flat.reshape(target.shape)
        return float(np.sum((matrix - target) ** 2) + strength * np.sum((r @ matrix @ q) * matrix))

    trace = [objective(target.ravel())]
    solution = plain(target.ravel())
    trace.append(objective(solution))
    if not np.allclose(r, np.eye(len(r)), atol=1e-12):
        operator, helper = (LinearOperator((target.size, target.size), matvec=one) for one in (apply, plain))
        solution, _ = cg(
            operator,
            target.ravel(),
            x0=solution,
            rtol=1e-13,
            maxiter=ITERATIONS,
            M=helper,
            callback=lambda flat: trace.append(objective(flat)),
        )
    inner = inside @ solution.reshape(target.shape) @ inside.T
    inner += axes[:, ~held] @ axes[:, ~held].T  # directions without vectors stay as they are
    sizes, turned = eigh((inner + inner.T) / 2)
    matrix = (turned * np.sqrt(np.maximum(sizes, 0))) @ turned.T
    return Softened(
        matrix, np.array(trace) / trace[0], _gradient(matrix, gram, neutral, directions, strength) / trace[0]
    )


def _gradient(t: FloatArray, gram: FloatArray, neutral: FloatArray, directions: FloatArray, strength: float) -> float:
    """Norm of the derivative of the objective by T."""
    inner, along = t.T @ t, directions.T @ directions
    seen = neutral @ inner @ along
    slope = 2 * gram @ (inner - np.eye(len(t))) @ gram + strength * (seen + seen.T)
    return float(np.linalg.norm(2 * t @ slope))


def _gram(unit: np.ndarray) -> FloatArray:
    """Sum of x x' (dimensions, dimensions), in double precision, block by block."""
    total = np.zeros((unit.shape[1], unit.shape[1]))
    for begin in range(0, len(unit), BLOCK):
        block = unit[begin : begin + BLOCK].astype(np.float64)
        total += block.T @ block
    return total
