"""Cell means whose errors have a known covariance, times a factor: posterior by quadrature over the factor.

Cells c = (j, k), protected word and connection, with observed means y_c:

    y | c ~ N(c, f^2 G)     c ~ N(m, A)     T | f ~ f^2 E chi^2(d) / d     log f ~ N(log median, spread^2)

G is the covariance of the cell means, read off vectors, A a wide prior, T the scatter within cells with its expectation
E and degrees of freedom d. In the coordinates that make A the unit matrix and G diagonal everything but f is a product
of normals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesbias._core.cells import IntArray
from bayesbias._core.cosine import FloatArray

LOG_2PI = float(np.log(2 * np.pi))
JITTER = 1e-9
"""Share of the mean variance that is added to every cell: rounding of half-precision vectors."""
REACH, NODES = 6.0, 801
"""Prior standard deviations of log f that the grid covers on either side, and its nodes."""


@dataclass(frozen=True)
class RelatedSums:
    """A table reduced to its cells.

    Attributes
    ----------
    y
        Mean distance of each cell, less the prior mean, (n,).
    word, connection
        Protected word and connection of each cell, (n,).
    covariance
        G, (n, n), positive semi-definite.
    families
        Correlation of the bias of protected words, (J, J).
    freedom
        Degrees of freedom of the scatter within cells; 0 where there is none.
    scatter
        Observed over expected scatter within cells.
    """

    y: FloatArray
    word: IntArray
    connection: IntArray
    covariance: FloatArray
    families: FloatArray
    freedom: float
    scatter: float


@dataclass(frozen=True)
class Diagonal:
    """Coordinates in which the prior of the cells is standard normal and their errors are independent.

    Attributes
    ----------
    axes
        (n, n): cells = axes @ coordinates.
    variances
        Variance of the error of each coordinate for a factor of 1, (n,).
    y
        The observed means in these coordinates, (n,).
    log_det
        Log of the absolute determinant of ``axes``.
    """

    axes: FloatArray
    variances: FloatArray
    y: FloatArray
    log_det: float


def diagonal(sums: RelatedSums, prior_sd: float) -> Diagonal:
    """The coordinates for the prior c_jk = u_k + v_jk, u_k and v_jk ~ N(0, prior_sd^2)."""
    size = len(sums.y)
    same = (sums.connection[:, None] == sums.connection).astype(float)
    chol = np.linalg.cholesky(prior_sd**2 * (same + np.eye(size)))
    jitter = JITTER * max(float(np.diag(sums.covariance).mean()), 1e-6)
    white = np.linalg.solve(chol, np.linalg.solve(chol, sums.covariance + jitter * np.eye(size)).T)
    variances, vectors = np.linalg.eigh((white + white.T) / 2)
    coordinates = vectors.T @ np.linalg.solve(chol, sums.y)
    return Diagonal(chol @ vectors, np.maximum(variances, 0.0), coordinates, float(np.log(np.diag(chol)).sum()))


@dataclass(frozen=True)
class FactorGrid:
    """The posterior of the factor on a grid of its standardised log.

    Attributes
    ----------
    z
        Nodes, (NODES,).
    mass
        Posterior mass of each node, (NODES,).
    log_evidence
        Log of the integral of prior times likelihood.
    """

    z: FloatArray
    mass: FloatArray
    log_evidence: float


def factor_grid(sums: RelatedSums, basis: Diagonal, median: float, spread: float) -> FactorGrid:
    """The posterior of z = (log f - log median) / spread."""
    z = np.linspace(-REACH, REACH, NODES)
    log_factor = np.log(median) + spread * z
    variances = 1 + np.exp(2 * log_factor)[:, None] * basis.variances
    value = -0.5 * (np.log(variances) + basis.y**2 / variances + LOG_2PI).sum(axis=1) - basis.log_det
    value -= sums.freedom * (log_factor + 0.5 * sums.scatter * np.exp(-2 * log_factor))
    value -= 0.5 * (z**2 + LOG_2PI)
    top = value.max()
    mass = np.exp(value - top)
    return FactorGrid(z, mass / mass.sum(), float(top + np.log(mass.sum() * (z[1] - z[0]))))


def draw_factor(grid: FactorGrid, count: int, rng: np.random.Generator) -> FloatArray:
    """Draws (count,) of z from the density that is linear between nodes."""
    left, right = grid.mass[:-1], grid.mass[1:]
    ends = np.append(0.0, np.cumsum((left + right) / 2))
    u = rng.random(count) * ends[-1]
    at = np.clip(np.searchsorted(ends, u, side="right") - 1, 0, len(left) - 1)
    rest, low, rise = u - ends[at], left[at], (right - left)[at]
    # low t + rise t^2 / 2 = rest, the root in [0, 1] in a form that does not cancel
    share = 2 * rest / (low + np.sqrt(np.maximum(low**2 + 2 * rise * rest, 0)) + 1e-300)
    z: FloatArray = grid.z[at] + (grid.z[1] - grid.z[0]) * np.clip(share, 0, 1)
    return z


def draw_cells(basis: Diagonal, factor: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draws (B, n) of the cells' means given the factor at each, less the prior mean."""
    noise = factor[:, None] ** 2 * basis.variances
    weight = 1 / (1 + noise)
    coordinates = weight * basis.y + np.sqrt(noise * weight) * rng.standard_normal(noise.shape)
    cells: FloatArray = coordinates @ basis.axes.T
    return cells


def moments_of(
    basis: Diagonal, grid: FactorGrid, factor: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Posterior mean (m,) and covariance (m, m) of weighted sums (m, n) of the cells' means, less the prior mean.

    Parameters
    ----------
    basis, grid
        The table.
    factor
        The factor at the nodes of the grid.
    weights
        (m, n).
    """
    noise = factor[:, None] ** 2 * basis.variances
    weight = 1 / (1 + noise)
    own = weights @ basis.axes
    means = (weight * basis.y) @ own.T
    mean = grid.mass @ means
    apart = means - mean
    within = (own * (grid.mass @ (noise * weight))) @ own.T
    return mean, within + (apart * grid.mass[:, None]).T @ apart


@dataclass(frozen=True)
class PopulationDraws:
    """What the cells say about further protected words: ``mean`` (B, K), ``covariance`` (B, K, K)."""

    mean: FloatArray
    covariance: FloatArray


def draw_population(
    cells: FloatArray, filled: np.ndarray, families: FloatArray, scale: float, rng: np.random.Generator
) -> PopulationDraws:
    """Means and covariance of the connections over protected words like these, one draw for each draw of the cells.

    A protected word's means of K connections are a normal vector around those of the population; words are correlated
    by ``families``. The covariance is drawn from an inverse Wishart distribution: its prior has K degrees of freedom
    and scale^2 I, the deviations from the mean word bring theirs (Satterthwaite's, since words are correlated). The
    population's mean is that of the words less a draw of their mean deviation. Nothing flows back to the cells.

    Parameters
    ----------
    cells
        (B, J, K), NaN where a cell is empty.
    filled
        Which cells hold a distance, (J, K).
    families
        (J, J).
    scale
        Scale of the prior.
    """
    size, _, connections = cells.shape
    whole = filled.all(axis=1)
    spread, freedom = np.zeros((size, connections, connections)), 0.0
    if whole.sum() > 1:
        kept = cells[:, whole]
        centring = np.eye(int(whole.sum())) - 1 / whole.sum()
        apart = kept - kept.mean(axis=1, keepdims=True)
        matrix = centring @ families[np.ix_(whole, whole)]
        trace = float(np.trace(matrix))
        if trace > 0:
            freedom = trace**2 / float((matrix * matrix.T).sum())
            spread = freedom / trace * np.einsum("bjk,bjl->bkl", apart, apart)
    covariance = _inverse_wishart(connections + freedom, spread + scale**2 * np.eye(connections), rng)
    values, vectors = np.linalg.eigh(families)
    root = vectors * np.sqrt(np.maximum(values, 0))
    standard = root @ rng.standard_normal((size, len(families), connections))
    chol = np.linalg.cholesky(covariance)
    deviations = standard @ np.swapaxes(chol, 1, 2)
    own = np.where(filled, cells - deviations, 0.0)
    return PopulationDraws(own.sum(axis=1) / filled.sum(axis=0), covariance)


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
