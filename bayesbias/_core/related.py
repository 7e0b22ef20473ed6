"""Cell means whose errors have a known covariance, times factors: posterior by quadrature over the factors.

Cells c = (j, k), protected word and connection, with observed means y_c and an attribute class a(c):

    y_c = mean_c + f_a(c) e_c    e ~ N(0, G)    T_a | f ~ f_a^2 E_a chi^2(d_a) / d_a    log f_a ~ N(log median, s^2)

G is the covariance of the cell means, read off vectors; the prior of the means is flat; T_a is the scatter within the
cells of a class with its expectation E_a and degrees of freedom d_a. The means say nothing about the factors, so that
each factor has a posterior of its own, and the means are normal given the factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayesbias._core.cells import IntArray
from bayesbias._core.cosine import FloatArray

LOG_2PI = float(np.log(2 * np.pi))
REACH, NODES = 6.0, 801
"""Prior standard deviations of log f that the grid covers on either side, and its nodes."""
QUANTILES = 31
"""Points of equal probability that stand for the posterior of a factor where several factors meet."""


@dataclass(frozen=True)
class RelatedSums:
    """A table reduced to its cells.

    Attributes
    ----------
    y
        Mean distance of each cell, (n,).
    word, connection, kind
        Protected word, connection and attribute class of each cell, (n,).
    covariance
        G, (n, n), positive semi-definite.
    families
        Correlation of the bias of protected words, (J, J).
    distance_sd
        Standard deviation of a protected word's distances to the words of the vocabulary, on average.
    freedom
        Degrees of freedom of the scatter within the cells of each class, (A,); 0 where there is none.
    scatter
        Observed over expected scatter within the cells of each class, (A,).
    expected
        Sum of squares within the cells of each class that a factor of 1 gives on average, (A,).
    """

    y: FloatArray
    word: IntArray
    connection: IntArray
    kind: IntArray
    covariance: FloatArray
    families: FloatArray
    distance_sd: float
    freedom: FloatArray
    scatter: FloatArray
    expected: FloatArray


@dataclass(frozen=True)
class FactorGrid:
    """The posteriors of the factors on one grid of their logs.

    Attributes
    ----------
    factor
        Nodes, (NODES,).
    mass
        Posterior mass of each node for each attribute class, (A, NODES).
    """

    factor: FloatArray
    mass: FloatArray

    @property
    def mean(self) -> FloatArray:
        """Posterior mean of each factor, (A,)."""
        value: FloatArray = self.mass @ self.factor
        return value

    @property
    def products(self) -> FloatArray:
        """Posterior mean of the product of each two factors, (A, A)."""
        value = np.outer(self.mean, self.mean)
        np.fill_diagonal(value, self.mass @ self.factor**2)
        return value


def factor_grid(sums: RelatedSums, median: float, spread: float) -> FactorGrid:
    """The posterior of each class's factor."""
    z = np.linspace(-REACH, REACH, NODES)
    log_factor = np.log(median) + spread * z
    value = -sums.freedom[:, None] * (log_factor + 0.5 * sums.scatter[:, None] * np.exp(-2 * log_factor)) - 0.5 * z**2
    mass = np.exp(value - value.max(axis=1, keepdims=True))
    return FactorGrid(np.exp(log_factor), mass / mass.sum(axis=1, keepdims=True))


def factor_quantiles(grid: FactorGrid, u: FloatArray) -> FloatArray:
    """Quantiles of the factors at probabilities u (..., A), from densities of the log that are linear between nodes."""
    logs, found = np.log(grid.factor), np.empty_like(u)
    for at, mass in enumerate(grid.mass):
        left, right = mass[:-1], mass[1:]
        ends = np.append(0.0, np.cumsum((left + right) / 2))
        wanted = u[..., at] * ends[-1]
        place = np.clip(np.searchsorted(ends, wanted, side="right") - 1, 0, len(left) - 1)
        rest, low, rise = wanted - ends[place], left[place], (right - left)[place]
        # low t + rise t^2 / 2 = rest, the root in [0, 1] in a form that does not cancel
        share = 2 * rest / (low + np.sqrt(np.maximum(low**2 + 2 * rise * rest, 0)) + 1e-300)
        found[..., at] = np.exp(logs[place] + (logs[1] - logs[0]) * np.clip(share, 0, 1))
    return found


def factor_points(grid: FactorGrid, classes: Sequence[int]) -> FloatArray:
    """Points (M, A), equally probable, of the posterior of some classes' factors; the others are 1."""
    middle = (np.arange(QUANTILES) + 0.5) / QUANTILES
    own = factor_quantiles(grid, np.tile(middle[:, None], len(grid.mass)))
    places = np.indices((QUANTILES,) * len(classes)).reshape(len(classes), -1)
    points = np.ones((QUANTILES ** len(classes), len(grid.mass)))
    for at, kind in enumerate(classes):
        points[:, kind] = own[places[at], kind]
    return points


def draw_factors(grid: FactorGrid, count: int, rng: np.random.Generator) -> FloatArray:
    """Draws (count, A) of the factors."""
    return factor_quantiles(grid, rng.random((count, len(grid.mass))))


def root_of(covariance: FloatArray) -> FloatArray:
    """A matrix whose product with its transpose is the covariance; rounding below 0 is taken for 0."""
    values, vectors = np.linalg.eigh(covariance)
    root: FloatArray = vectors * np.sqrt(np.maximum(values, 0))
    return root


def draw_cells(sums: RelatedSums, factors: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draws (B, n) of the cells' means given the factors (B, A) at each."""
    errors = rng.standard_normal((len(factors), len(sums.y))) @ root_of(sums.covariance).T
    cells: FloatArray = sums.y - factors[:, sums.kind] * errors
    return cells


@dataclass(frozen=True)
class PopulationDraws:
    """What the cells say about further protected words: ``mean`` (B, K), ``covariance`` (B, K, K)."""

    mean: FloatArray
    covariance: FloatArray


def scatter_of_errors(covariance: FloatArray, filled: np.ndarray) -> FloatArray:
    """Expected scatter (K, K) of errors of cells around their mean word, over words without an empty cell.

    ``covariance`` (n, n) is that of the errors of the filled cells, word by word.
    """
    whole = filled.all(axis=1)
    count, connections = int(whole.sum()), filled.shape[1]
    kept = whole[np.nonzero(filled)[0]]
    errors = covariance[np.ix_(kept, kept)].reshape(count, connections, count, connections)
    centring = np.eye(count) - 1 / max(count, 1)
    scatter: FloatArray = np.einsum("ij,ikjl->kl", centring, errors)
    return scatter


def freedom_of(families: FloatArray) -> tuple[float, float]:
    """Satterthwaite's degrees of freedom of the scatter of correlated words around their mean, and its expectation.

    Both are 0 for a single word.
    """
    size = len(families)
    matrix = (np.eye(size) - 1 / max(size, 1)) @ families
    trace = float(np.trace(matrix))
    return (trace**2 / float((matrix * matrix.T).sum()), trace) if size > 1 and trace > 0 else (0.0, 0.0)


def draw_population(
    cells: FloatArray,
    observed: FloatArray,
    errors: FloatArray,
    families: FloatArray,
    scale: float,
    rng: np.random.Generator,
) -> PopulationDraws:
    """Means and covariance of the connections over protected words like these, one draw for each draw of the cells.

    A protected word's means of K connections are a normal vector around those of the population; words are correlated
    by ``families``. Observed means scatter around the mean word by this covariance and by their errors. The covariance
    of the two together is drawn from an inverse Wishart distribution: its prior has K degrees of freedom and
    scale^2 I, the observed scatter brings its own (Satterthwaite's, since words are correlated). That of the errors is
    known and is taken off, no further than to 0. The population's mean is that of the words less a draw of their mean
    deviation. Nothing flows back to the cells.

    Parameters
    ----------
    cells
        Draws (B, J, K), NaN where a cell is empty.
    observed
        What they are around, (J, K).
    errors
        Expected scatter of the errors, (B, K, K): :func:`scatter_of_errors`.
    families
        (J, J).
    scale
        Scale of the prior.
    """
    size, _, connections = cells.shape
    filled = ~np.isnan(observed)
    whole = filled.all(axis=1)
    scatter, noise = np.zeros((connections, connections)), np.zeros_like(errors)
    freedom, trace = freedom_of(families[np.ix_(whole, whole)])
    if freedom > 0:
        apart = observed[whole] - observed[whole].mean(axis=0)
        scatter, noise = freedom / trace * apart.T @ apart, errors / trace
    prior = scale**2 * np.eye(connections)
    total = _inverse_wishart(connections + freedom, np.broadcast_to(scatter + prior, noise.shape), rng)
    root = _root_of_rest(total, noise)
    standard = root_of(families) @ rng.standard_normal((size, len(families), connections))
    deviations = standard @ np.swapaxes(root, 1, 2)
    own = np.where(filled, cells - deviations, 0.0)
    return PopulationDraws(own.sum(axis=1) / filled.sum(axis=0), root @ np.swapaxes(root, 1, 2))


def _root_of_rest(total: FloatArray, part: FloatArray) -> FloatArray:
    """Roots (B, K, K) of total - part, with 0 in the directions in which the part is larger."""
    chol = np.linalg.cholesky(total)
    half = np.linalg.solve(chol, part)
    values, vectors = np.linalg.eigh(np.linalg.solve(chol, np.swapaxes(half, 1, 2)))
    root: FloatArray = chol @ vectors * np.sqrt(np.maximum(1 - values, 0))[:, None, :]
    return root


def _inverse_wishart(freedom: float, scale: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draws (B, K, K) of inverse Wishart distributions with these scale matrices (B, K, K), by Bartlett's factors."""
    size, k = scale.shape[:2]
    factor = np.zeros((size, k, k))
    rows, columns = np.tril_indices(k, -1)
    factor[:, rows, columns] = rng.standard_normal((size, len(rows)))
    for at in range(k):
        factor[:, at, at] = np.sqrt(rng.chisquare(freedom - at, size))
    root = np.linalg.solve(factor, np.swapaxes(np.linalg.cholesky(scale), 1, 2))  # X = root' root
    return np.swapaxes(root, 1, 2) @ root
