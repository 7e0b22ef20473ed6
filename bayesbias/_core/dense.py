"""The marginal likelihood of the crossed model where words share no pattern: one dense factor over the cells.

Given the scales, the effects of attribute words are integrated out word by word; what is left is a Gaussian of the
cells, as many as a table has. Slower than patterns by far, and right for any holes in a table.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesbias._core.blocks import in_blocks
from bayesbias._core.cells import IntArray, cell_numbers
from bayesbias._core.cosine import FloatArray
from bayesbias._core.marginal import LOG_2PI
from bayesbias._core.patterns import Pattern, Scales

BLOCK = 8


@dataclass(frozen=True)
class DenseSums:
    """A table as matrices of attribute words (A) by filled cells (C).

    Attributes
    ----------
    patterns
        The table's patterns.
    met, y
        (A, C): whether a word was compared in a cell, and its distance (minus the prior mean of mu) or 0.
    connection, group
        (C,): connection and group of each cell.
    attribute_class
        (A,): class of each attribute word.
    connections, groups, classes, rows
        Numbers of each.
    """

    patterns: tuple[Pattern, ...]
    met: FloatArray
    y: FloatArray
    connection: IntArray
    group: IntArray
    attribute_class: IntArray
    connections: int
    groups: int
    classes: int
    rows: int


@dataclass(frozen=True)
class Equations:
    """The Gaussian of (a, z) at one point, where a cell is prior_sd a_k + s_k z; and the log likelihood."""

    log_likelihood: float
    chol: FloatArray
    x: FloatArray


def dense_sums(
    patterns: tuple[Pattern, ...],
    filled: np.ndarray,
    word: IntArray,
    connection: IntArray,
    attribute: IntArray,
    group_of_word: IntArray,
    class_of_attribute: IntArray,
    y: FloatArray,
) -> DenseSums:
    """The matrices of a table; arguments as of :func:`find_patterns`, ``filled`` (protected words, K)."""
    number = cell_numbers(filled)
    met = np.zeros((len(class_of_attribute), int(filled.sum())))
    values = np.zeros_like(met)
    met[attribute, number[word, connection]] = 1
    values[attribute, number[word, connection]] = y
    words, k = np.nonzero(filled)
    return DenseSums(
        patterns=patterns,
        met=met,
        y=values,
        connection=k,
        group=group_of_word[words],
        attribute_class=class_of_attribute,
        connections=filled.shape[1],
        groups=int(group_of_word.max()) + 1,
        classes=int(class_of_attribute.max()) + 1,
        rows=len(y),
    )


def dense_log_likelihood(sums: DenseSums, scales: Scales, prior_sd: float) -> FloatArray:
    """Log marginal likelihood (B,) of the distances, constants included."""
    value = np.empty(len(scales.sigma2))

    def evaluate(part: slice) -> None:
        for at in range(part.start, part.stop):
            value[at] = equations_at(sums, scales, prior_sd, at).log_likelihood

    in_blocks(evaluate, len(value), BLOCK)
    return value


def draw_dense_cells(
    sums: DenseSums, scales: Scales, prior_sd: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """A draw of mu (B, K) and of the cells (B, C) at each point."""
    k = sums.connections
    mu = np.empty((len(scales.sigma2), k))
    cells = np.empty((len(mu), len(sums.connection)))
    for at in range(len(mu)):
        found = equations_at(sums, scales, prior_sd, at)
        standard = np.linalg.solve(found.chol.T, found.x + rng.standard_normal(len(found.x)))
        mu[at] = prior_sd * standard[:k]
        cells[at] = mu[at, sums.connection] + np.sqrt(scales.s2[at, sums.connection]) * standard[k:]
    return mu, cells


def equations_at(sums: DenseSums, scales: Scales, prior_sd: float, at: int) -> Equations:
    """The Gaussian of the cells at one of the scales' points."""
    inverse = (1 / scales.sigma2[at])[sums.connection]
    t_u = scales.attribute[at, sums.attribute_class]
    t_v = 0.0 if scales.interaction is None else float(scales.interaction[at])
    weighted = sums.met * inverse
    by_group = np.zeros((len(inverse), sums.groups))
    by_group[np.arange(len(inverse)), sums.group] = 1
    weight = weighted @ by_group
    d = 1 + t_v * weight
    shared = 1 + t_u * (weight / d).sum(axis=1)
    r = (sums.y * inverse) @ by_group
    scaled = (r / d).sum(axis=1)
    count = sums.met.sum(axis=0)
    log_det = -count @ np.log(inverse) + np.log(d).sum() + np.log(shared).sum()
    quadratic = (sums.y**2).sum(axis=0) @ inverse - t_v * (r**2 / d).sum() - (t_u / shared) @ scaled**2
    # what a word's effects take from its observations in each cell
    taken = t_v * r / d + (t_u / shared * scaled)[:, None] / d
    right = inverse * sums.y.sum(axis=0) - (weighted * taken[:, sums.group]).sum(axis=0)
    common = weighted / d[:, sums.group] * np.sqrt(t_u / shared)[:, None]
    information = -common.T @ common
    for h in range(sums.groups) if t_v else ():
        own = np.flatnonzero(sums.group == h)
        part = weighted[:, own] * np.sqrt(t_v / d[:, [h]])
        information[np.ix_(own, own)] -= part.T @ part
    information[np.arange(len(inverse)), np.arange(len(inverse))] += count * inverse
    s = np.sqrt(scales.s2[at, sums.connection])
    member = prior_sd * (sums.connection[:, None] == np.arange(sums.connections))
    half = np.hstack([information @ member, information * s])
    precision = np.vstack([member.T @ half, s[:, None] * half])
    precision[np.arange(len(precision)), np.arange(len(precision))] += 1
    chol = np.linalg.cholesky(precision)
    x = np.linalg.solve(chol, np.r_[member.T @ right, s * right])
    value = -0.5 * (sums.rows * LOG_2PI + log_det + quadratic - x @ x) - np.log(np.diag(chol)).sum()
    return Equations(float(value), chol, x)
