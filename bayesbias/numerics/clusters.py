"""Regression of the means of units, which belong to clusters such as speakers, with the scales of their errors unknown.

A row is the mean of the instances of a unit: ``y = X beta + error``. The variance of a mean is known up to what units
and clusters have beside their instances, and that is integrated out on a grid.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincinv, logsumexp, ndtri, roots_genlaguerre, stdtr
from scipy.stats.qmc import Sobol

from bayesbias.numerics.arrays import FloatArray, IntArray, sums_by
from bayesbias.numerics.mixtures import NormalNodes, gauss_rule

SCALES = np.geomspace(1e-2, 1e2, 60)  # standard deviations of clusters, in units of what instances alone would give
FEWER = np.geomspace(1e-2, 1e2, 24)  # the same where units and clusters have one each
PRIOR = 1.0  # width of the half-Cauchy priors of these scales
SPREAD = 0.5  # prior sd of the log ratio of the scales at the two ends of a covariate
RATIOS = np.linspace(-2.5, 2.5, 11)  # log ratios for one covariate, in prior standard deviations
RATIO_POINTS = 128  # log ratios for several: Sobol points
TAILS = 24  # nodes of the common scale, under which the errors have Student's tails
LARGEST_SHAPE = 100.0  # of a gamma variable with Gauss-Laguerre nodes
FINE = 2001  # values of it that stand for it above
FLOOR = 1e-9  # least variance of a unit's mean, as a share of the variance of means
LEAST_MASS = 14.0  # nodes whose log mass is farther below the largest change nothing
ROUNDING = 1e-9  # columns shorter than this share of the longest are rounding
BLOCK = 2**21  # weights of rows that are held at once


@dataclass(frozen=True)
class UnitMeans:
    """Means of units (R,), the variances that their instances give them, and the cluster of each, from 0."""

    variances: FloatArray  # (R,)
    design: FloatArray  # (R, p)
    cluster: IntArray  # (R,)

    @property
    def clusters(self) -> int:
        """Number of clusters."""
        return int(self.cluster.max()) + 1


@dataclass(frozen=True)
class Weighting:
    """Weights of the rows in the coefficients, and what whitens rows, at the posterior mean scales."""

    variances: FloatArray  # what instances give to the variance of a row, (R,)
    spread: FloatArray  # variance of a row beside that of its cluster, (R,)
    between: float  # variance of a cluster
    cluster: IntArray

    def _by_cluster(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Sums over clusters of the rows' precisions, (C,), and of rows (R, k) times these, (C, k)."""
        number = int(self.cluster.max()) + 1
        precision = 1 / self.spread
        return np.bincount(self.cluster, precision, number), sums_by(rows * precision[:, None], self.cluster, number)

    def whitened(self, rows: FloatArray) -> FloatArray:
        """Rows (R, k) times an inverse root of their covariance."""
        total, sums = self._by_cluster(rows)
        # of D + t 11' an inverse root is D^-1/2 (I - q P), with P the mean of the cluster by weights 1 / D
        kept = 1 - 1 / np.sqrt(1 + self.between * total)
        means = (kept / total)[:, None] * sums
        value: FloatArray = (rows - means[self.cluster]) / np.sqrt(self.spread)[:, None]
        return value

    def share_of_instances(self, sums: FloatArray) -> FloatArray:
        """Share (m,) of the variance of weighted sums (m, R) of the rows that instances give."""
        by_cluster = sums_by(sums.T, self.cluster, int(self.cluster.max()) + 1)
        whole = sums**2 @ self.spread + self.between * (by_cluster**2).sum(axis=0)
        return np.minimum(sums**2 @ self.variances / whole, 1.0)

    def coefficients(self, design: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weights (p, R) of the rows in the coefficients, and the inverse (p, p) of the whitened cross-product."""
        own = self.whitened(design)
        inverse: FloatArray = np.linalg.inv(own.T @ own)
        # X'V^-1 is the whitening applied twice: V^-1/2 is symmetric in the metric of the weights 1 / D
        return inverse @ self.precise(design).T, inverse

    def precise(self, rows: FloatArray) -> FloatArray:
        """Rows (R, k) times the inverse of their covariance."""
        total, sums = self._by_cluster(rows)
        shared = (self.between / (1 + self.between * total))[:, None] * sums
        value: FloatArray = (rows - shared[self.cluster]) / self.spread[:, None]
        return value


@dataclass(frozen=True)
class Regression:
    """Posterior of the coefficients (p,), with Student's tails, and what it rests on."""

    law: NormalNodes
    equal: NormalNodes  # the same where every cluster counts equally
    weighting: Weighting


def regression(y: FloatArray, rows: UnitMeans, uneven: FloatArray | None = None) -> Regression:
    """Posterior of the coefficients of y (R,).

    The mean of a cluster of one unit has the variance ``phi^2 (v + tau^2 exp(2 eta g))``: p(phi) ~ 1 / phi, tau has a
    half-Cauchy prior, and eta ~ N(0, ``SPREAD``^2) says how much more clusters differ at one end of a covariate g,
    whose columns ``uneven`` (R, q) run from -1/2 to 1/2. Clusters of several units have one scale within and one
    between them.
    """
    floor = FLOOR * max(float(y.var()), np.finfo(float).tiny)
    rows = UnitMeans(np.maximum(rows.variances, floor), rows.design, rows.cluster)
    if rows.clusters < len(y):
        return _nested(y, rows)
    return _apart(y, rows, np.empty((len(y), 0)) if uneven is None else uneven)


def _turned(columns: FloatArray, weights: FloatArray) -> FloatArray:
    """Columns (R, q) turned to where their squares with weights (R,) are uncorrelated.

    Whatever their order and their signs, points on them are then the same.
    """
    if not columns.size:
        return columns
    turned = columns @ np.linalg.svd(weights[:, None] * columns, full_matrices=False)[2].T
    lengths = np.linalg.norm(turned, axis=0)
    turned = turned[:, lengths > ROUNDING * lengths.max()]
    value: FloatArray = turned * np.sign(weights @ turned)
    return value


def _apart(y: FloatArray, rows: UnitMeans, uneven: FloatArray) -> Regression:
    """Clusters of one unit each."""
    size, p = rows.design.shape
    uneven = _turned(uneven, y**2)
    # log ratios (E, q) of scales, and their log prior masses (E,)
    ratios, log_prior = SPREAD * RATIOS[:, None], -(RATIOS**2) / 2
    if uneven.shape[1] == 0:
        ratios, log_prior = np.zeros((1, 0)), np.zeros(1)
    elif uneven.shape[1] > 1:
        points = Sobol(uneven.shape[1], scramble=False).random(RATIO_POINTS)
        ratios = SPREAD * ndtri((points + 0.5 / RATIO_POINTS) / (1 + 1 / RATIO_POINTS))
        log_prior = np.zeros(RATIO_POINTS)
    unit = 1 / np.sqrt(np.mean(1 / rows.variances))
    scale = np.tile(SCALES, len(ratios))
    log_mass = np.repeat(log_prior, len(SCALES)) + np.log(scale) - np.log1p((scale / PRIOR) ** 2)
    ratio = np.repeat(ratios, len(SCALES), axis=0)
    step = max(1, BLOCK // size)
    parts = []
    for begin in range(0, len(scale), step):
        own = slice(begin, begin + step)
        tau = unit * scale[own, None] * np.exp(ratio[own] @ uneven.T)
        parts.append(_solved(y, rows.design, 1 / (rows.variances + tau**2)))
    means, inverse, rss, log_det = (np.concatenate(each) for each in zip(*parts, strict=True))
    log_mass = log_mass + 0.5 * log_det - 0.5 * (size - p) * np.log(rss)
    kept = np.flatnonzero(log_mass > log_mass.max() - LEAST_MASS)
    mass = np.exp(log_mass[kept] - logsumexp(log_mass[kept]))
    tau = unit * scale[kept, None] * np.exp(ratio[kept] @ uneven.T)
    spread = rows.variances + tau**2
    precision = (1 / spread).sum(axis=1)
    weights = mass @ (1 / spread / precision[:, None]) * float(mass @ precision)
    variance = rss[kept] / (size - p)
    # equal weights of clusters, under the same scales
    equal = np.linalg.pinv(rows.design)
    of_equal = np.einsum("pr,nr,qr->npq", equal, spread, equal, optimize=True)
    return Regression(
        _with_tails(mass, means[kept], inverse[kept], variance, size - p),
        _with_tails(mass, np.tile(equal @ y, (len(kept), 1)), of_equal, variance, size - p),
        Weighting(rows.variances, 1 / weights, 0.0, rows.cluster),
    )


def _solved(y: FloatArray, design: FloatArray, w: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Coefficients (G, p) under weights (G, R), (X'WX)^-1, residual sums of squares, log |W| - log |X'WX|."""
    info = np.einsum("gs,si,sj->gij", w, design, design, optimize=True)
    inverse = np.linalg.inv(info)
    means = np.einsum("gij,gj->gi", inverse, (w * y) @ design)
    rss = (w * (y - means @ design.T) ** 2).sum(axis=1)
    return means, inverse, rss, np.log(w).sum(axis=1) - np.linalg.slogdet(info)[1]


def _with_tails(
    mass: FloatArray, means: FloatArray, inverse: FloatArray, variance: FloatArray, freedom: int
) -> NormalNodes:
    """A mixture (N,) of t distributions as one of normals: the common scale is integrated by Gauss-Laguerre nodes."""
    shape = freedom / 2
    if shape < LARGEST_SHAPE:
        halved, weights = roots_genlaguerre(TAILS, shape - 1)
        weights = weights / weights.sum()
    else:  # where the weights cannot be computed
        equally = (np.arange(FINE) + 0.5) / FINE
        halved, weights = gauss_rule(gammaincinv(shape, equally), np.full(FINE, 1 / FINE), TAILS)
    factor = variance[:, None] * (freedom / 2) / halved  # (N, TAILS)
    errors = (inverse[:, None] * factor[:, :, None, None]).reshape(-1, *inverse.shape[1:])
    return NormalNodes(np.outer(mass, weights).ravel(), np.repeat(means, TAILS, axis=0), errors)


def _nested(y: FloatArray, rows: UnitMeans) -> Regression:
    """Clusters of several units: scales within and between them, each with a half-Cauchy prior."""
    design, cluster, p = rows.design, rows.cluster, rows.design.shape[1]
    number = rows.clusters
    within = 1 / np.sqrt(np.mean(1 / rows.variances))
    between = 1 / np.sqrt(np.mean(np.bincount(cluster, 1 / rows.variances, number)))
    nodes = [(a, b) for a in FEWER for b in FEWER]
    columns = np.column_stack([design, y])
    log_mass, means, inverse = np.empty(len(nodes)), np.empty((len(nodes), p)), np.empty((len(nodes), p, p))
    for place, (joint, log_det) in enumerate(_cross_products(columns, rows, within, between)):
        inverse[place] = np.linalg.inv(joint[:p, :p])
        means[place] = inverse[place] @ joint[:p, p]
        rss = joint[p, p] - joint[:p, p] @ means[place]
        log_mass[place] = -0.5 * (log_det + np.linalg.slogdet(joint[:p, :p])[1] + rss)
    scales = np.array(nodes)
    log_mass += (np.log(scales) - np.log1p((scales / PRIOR) ** 2)).sum(axis=1)
    kept = np.flatnonzero(log_mass > log_mass.max() - LEAST_MASS)
    mass = np.exp(log_mass[kept] - logsumexp(log_mass[kept]))
    of_units = float(mass @ (within * scales[kept, 0]) ** 2)
    of_clusters = float(mass @ (between * scales[kept, 1]) ** 2)
    weighting = Weighting(rows.variances, rows.variances + of_units, of_clusters, cluster)
    share = 1 / np.bincount(cluster, minlength=number)[cluster]
    equal = np.linalg.solve((design * share[:, None]).T @ design, (design * share[:, None]).T)
    by_cluster = sums_by(equal.T, cluster, number)
    of_equal = np.stack(
        [
            (equal * (rows.variances + (within * a) ** 2)) @ equal.T + (between * b) ** 2 * by_cluster.T @ by_cluster
            for a, b in scales[kept]
        ]
    )
    return Regression(
        NormalNodes(mass, means[kept], inverse[kept]),
        NormalNodes(mass, np.tile(equal @ y, (len(kept), 1)), of_equal),
        weighting,
    )


def _cross_products(
    columns: FloatArray, rows: UnitMeans, within: float, between: float
) -> Iterator[tuple[FloatArray, float]]:
    """Cross-products (p + 1, p + 1) by the inverse covariance at each two scales, and its log determinant."""
    number = rows.clusters
    for a in FEWER:
        spread = rows.variances + (within * a) ** 2
        scaled = columns / spread[:, None]
        alone = columns.T @ scaled
        total = np.bincount(rows.cluster, 1 / spread, number)
        sums = sums_by(scaled, rows.cluster, number)
        for b in FEWER:
            # (D + t 11')^-1 = D^-1 - t D^-1 1 1' D^-1 / (1 + t 1'D^-1 1), cluster by cluster
            variance = (between * b) ** 2
            grown = 1 + variance * total
            joint = alone - (sums * (variance / grown)[:, None]).T @ sums
            yield joint, float(np.log(spread).sum() + np.log(grown).sum())


def bias_reduced(y: FloatArray, weights: FloatArray, design: FloatArray, combine: FloatArray) -> tuple[float, float]:
    """A combination (p,) of the coefficients, and its two-sided p-value, by CR2 with Satterthwaite's freedom.

    Rows (R,) are clusters. The p-value is NaN where one cluster alone has a value.

    Pustejovsky, J. E. and Tipton, E. (2018). Journal of Business and Economic Statistics 36(4).
    https://doi.org/10.1080/07350015.2016.1247004
    """
    slope = weighted_least_squares(weights, design)
    a, hat = combine @ slope, design @ slope
    free = 1 - np.diag(hat)
    if (free < 1e-9).any():
        return float(a @ y), float("nan")
    inner = np.eye(len(y)) - hat
    scale = a**2 / free
    square = scale @ (inner @ y) ** 2
    # of the quadratic form e' diag(scale) e: its mean and variance under errors with these weights
    product = inner.T @ (scale[:, None] * inner) / weights
    freedom = np.trace(product) ** 2 / np.sum(product * product.T)
    return float(a @ y), float(2 * stdtr(freedom, -abs(a @ y) / np.sqrt(square)))


def weighted_least_squares(weights: FloatArray, design: FloatArray) -> FloatArray:
    """The matrix (p, R) from rows to coefficients."""
    value: FloatArray = np.linalg.solve(design.T @ (weights[:, None] * design), (design * weights[:, None]).T)
    return value
