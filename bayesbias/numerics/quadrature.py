"""Integration over scales: by quadrature in two dimensions, by importance sampling in more.

For one connection, with J cells of n_j distances, mean ybar_j and sums of squares ssd_j,

    ybar_j ~ N(mu, sigma^2 / n_j + s^2),   mu ~ N(m0, v0),   sigma and s with any prior density.

Given (sigma, s) everything else is Gaussian, so what is left is a density in (log sigma, log s). Connections that share
one sigma share the outer dimension. Bounds follow the posterior: an outer grid over log sigma and, for each of its
nodes, an inner grid over log s, each widened and narrowed until it holds all but a negligible part of the mass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln, logsumexp, ndtri

from bayesbias.numerics.arrays import NOTHING, FloatArray
from bayesbias.numerics.marginal import LOG_2PI

LogDensity = Callable[[FloatArray], FloatArray]

DROP = 18.0  # a grid ends where the log density lies this far below its peak, where it is 1.5e-8 of it
FILLED = 2 / 3  # the share of a grid's nodes that must lie above that, so that its steps are fine
# nodes of the inner and the outer grid, and of either while its ends are looked for
INNER, OUTER, SEARCH = 192, 256, 32
# nodes of either at most, where the density is a narrow ridge or has two modes far apart
MOST_OUTER, MOST_INNER = 20_000, 3_000
ROUNDS = 80  # how often the ends of a grid are moved at most: a width doubles or shrinks to what is filled each time


@dataclass(frozen=True)
class Connection:
    """The cells of one connection, grouped by n: cells enter the density only through these sums."""

    # numbers of distances and of cells
    rows: int
    cells: int
    within: float  # sum of squares within cells
    # for each distinct n: n itself, how many cells have it, the mean of their deviations ybar_j - m0, and the sum of
    # squares about that mean
    n: FloatArray
    count: FloatArray
    deviation: FloatArray
    scatter: FloatArray
    log_n: float  # sum over cells of log n_j


@dataclass(frozen=True)
class Priors:
    """mu ~ N(mean, sd^2); log densities of sigma and of s on their own scale."""

    mean: float
    sd: float
    sigma: LogDensity
    s: LogDensity


@dataclass(frozen=True)
class InnerGrid:
    """For each outer node: lower end (O,) and step (O,) of the grid over log s, and the log density there (O, I)."""

    low: FloatArray
    step: FloatArray
    log_density: FloatArray


@dataclass(frozen=True)
class ScaleGrid:
    """A posterior of scales on a grid."""

    # outer nodes (O,), their distance, and the posterior mass at each
    log_sigma: FloatArray
    step: float
    mass: FloatArray
    inner: tuple[InnerGrid, ...]  # one grid over log s for each connection
    log_evidence: float  # log marginal likelihood of the distances
    outside: float  # an estimate of the posterior mass outside the grid


def connection_sums(n: FloatArray, mean: FloatArray, ssd: FloatArray, prior_mean: float) -> Connection:
    """Group the cells (cells,) of a connection by their n, deviations about the prior mean."""
    sizes, which = np.unique(n, return_inverse=True)
    count = np.bincount(which).astype(float)
    deviation = np.bincount(which, weights=mean - prior_mean) / count
    return Connection(
        rows=int(n.sum()),
        cells=len(n),
        within=float(ssd.sum()),
        n=sizes.astype(float),
        count=count,
        deviation=deviation,
        scatter=np.bincount(which, weights=(mean - prior_mean - deviation[which]) ** 2),
        log_n=float(np.log(n).sum()),
    )


def scale_grid(connections: Sequence[Connection], priors: Priors) -> ScaleGrid:
    """The posterior of sigma, which the connections share, and of each connection's s.

    A ValueError where distances do not vary within cells (or, one in each cell, between them): the density grows
    without bound as the scales go to 0.
    """
    rows = sum(c.rows for c in connections)
    free = rows - sum(c.cells for c in connections)
    within = sum(c.within for c in connections)
    if within <= NOTHING**2 * rows and (free or any(c.cells > 2 and _between(c) <= NOTHING**2 for c in connections)):
        raise ValueError("the distances do not vary")

    def search(log_sigma: FloatArray) -> FloatArray:
        return _sigma_density(log_sigma[0], connections, priors, SEARCH)[0][None, :]

    guess = 0.5 * np.log(within / free) if free else _first_guess(connections[0])
    # log sigma of so many degrees of freedom has a posterior sd of about 1 / sqrt(2 free)
    reach = 6 / np.sqrt(2 * max(free, 1))
    low, high = _bounds(search, np.array([guess - reach]), np.array([guess + reach]), SEARCH)
    width = float(high[0] - low[0])
    # with few degrees of freedom within cells the density is a ridge of width 1 / sqrt(2 rows)
    count = min(max(OUTER, int(width * np.sqrt(2 * rows) / 0.3)), MOST_OUTER)
    # equal steps and weights: for a smooth density that is near 0 at both ends this trapezoidal rule converges
    # faster than any power of the step (Trefethen and Weideman 2014, https://doi.org/10.1137/130932132)
    log_sigma, step = np.linspace(low[0], high[0], count, retstep=True)
    value, inner = _sigma_density(log_sigma, connections, priors, INNER)
    mass = np.exp(value - value.max())
    total = float(mass.sum())
    outside = float(_outside(value[None, :], np.array([step]))[0])
    outside += sum(float((_outside(grid.log_density, grid.step) * mass).sum()) / total for grid in inner)
    return ScaleGrid(
        log_sigma=log_sigma,
        step=float(step),
        mass=mass / total,
        inner=inner,
        log_evidence=float(value.max() + np.log(total * step)),
        outside=outside,
    )


def draw_scales(
    grid: ScaleGrid, connections: Sequence[Connection], priors: Priors, size: int, rng: np.random.Generator
) -> tuple[FloatArray, list[FloatArray], list[FloatArray]]:
    """Independent draws (D,) of sigma, and of s and mu for each connection.

    A draw takes a node by its mass, then a place within its step, at most a tenth of a posterior sd.
    """
    node = np.searchsorted(np.cumsum(grid.mass), rng.random(size) * grid.mass.sum()).clip(max=len(grid.mass) - 1)
    sigma = np.exp(grid.log_sigma[node] + grid.step * (rng.random(size) - 0.5))
    scales, means = [], []
    for connection, inner in zip(connections, grid.inner, strict=True):
        density = np.exp(inner.log_density - inner.log_density.max(axis=1, keepdims=True))
        cumulative = np.cumsum(density, axis=1)
        # one sorted array for all rows: row r runs from r to r + 1
        cumulative /= cumulative[:, -1:]
        cumulative += np.arange(len(cumulative))[:, None]
        points = density.shape[1]
        place = (np.searchsorted(cumulative.ravel(), node + rng.random(size)) - node * points).clip(0, points - 1)
        s = np.exp(inner.low[node] + inner.step[node] * (place + rng.random(size) - 0.5))
        # mu given the scales: the prior and the cells, each cell with the variance sigma^2 / n + s^2 about mu
        precision, weighted = 1 / priors.sd**2, 0.0
        for n, count, deviation in zip(connection.n, connection.count, connection.deviation, strict=True):
            weight = count / (sigma**2 / n + s**2)
            precision, weighted = precision + weight, weighted + weight * deviation
        scales.append(s)
        means.append(priors.mean + weighted / precision + rng.standard_normal(size) / np.sqrt(precision))
    return sigma, scales, means


def draw_cells(
    n: FloatArray, mean: FloatArray, sigma: FloatArray, s: FloatArray, mu: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Draws (cells, D) of cell means from their Gaussian given the scales and mu (D,)."""
    noise = sigma**2 / n[:, None]
    share = s**2 / (s**2 + noise)
    centre = mu + share * (mean[:, None] - mu)
    return centre + np.sqrt(share * noise) * rng.standard_normal(centre.shape)


def _sigma_density(
    log_sigma: FloatArray, connections: Sequence[Connection], priors: Priors, points: int
) -> tuple[FloatArray, tuple[InnerGrid, ...]]:
    """Log density of log sigma (O,) with every s integrated out, and the inner grids."""
    # the last term is the Jacobian of the log: the prior is a density of sigma, the grid one of log sigma
    value = priors.sigma(np.exp(log_sigma)) + log_sigma
    grids = []
    for c in connections:
        value = value - (c.rows - c.cells) * log_sigma - 0.5 * c.within * np.exp(-2 * log_sigma)
        # n distances turn into sqrt(n) times their mean and n - 1 contrasts whose squares add up to ssd: hence log n
        value -= 0.5 * (c.rows * LOG_2PI + c.log_n)
        grid = _inner_grid(log_sigma, c, priors, points)
        peak = grid.log_density.max(axis=1)
        value += peak + np.log(np.exp(grid.log_density - peak[:, None]).sum(axis=1) * grid.step)
        grids.append(grid)
    return value, tuple(grids)


def _inner_grid(log_sigma: FloatArray, connection: Connection, priors: Priors, points: int) -> InnerGrid:
    variance = np.exp(2 * log_sigma)[:, None]

    def density(log_s: FloatArray) -> FloatArray:
        return _s_density(log_s, variance, connection, priors)

    near = _first_guess(connection)
    # the mean square of the cell means about the prior mean of mu
    squares = connection.scatter.sum() + (connection.count * connection.deviation**2).sum()
    far = max(near, 0.5 * float(np.log(max(float(squares / connection.cells), NOTHING**2))))
    start = np.full(len(log_sigma), near - 3.0), np.full(len(log_sigma), far + 3.0)
    search = SEARCH
    if far > near + 1:
        # the cells lie together, far from the prior mean: a small s (mu with the cells) and a large one (mu with its
        # prior) may both explain that, and each is a narrow mode that no step may jump over
        narrow = (far - near + 6) * np.sqrt(2 * connection.cells)
        search = int(np.clip(2 * narrow, SEARCH, MOST_INNER))
        points = int(np.clip(8 * narrow, points, MOST_INNER)) if points == INNER else search
    low, high = _bounds(density, *start, search)
    nodes = np.linspace(low, high, points, axis=1)
    return InnerGrid(low, (high - low) / (points - 1), density(nodes))


def _s_density(log_s: FloatArray, variance: FloatArray, connection: Connection, priors: Priors) -> FloatArray:
    """Log density of the cell means and log s (O, I) given sigma^2 (O, 1), mu and the cells integrated out."""
    s = np.exp(log_s)
    square = s**2
    log_det, total, weighted, fit = 0.0, 0.0, 0.0, 0.0
    weights = []
    for n, count, deviation, scatter in zip(
        connection.n, connection.count, connection.deviation, connection.scatter, strict=True
    ):
        v = variance / n + square
        weight = count / v
        log_det = log_det + count * np.log(v)
        total = total + weight
        weighted = weighted + weight * deviation
        fit = fit + scatter / v
        weights.append(weight)
    centre = weighted / total
    # sums of squares about the weighted mean: the shorter form cancels where a variance is near 0
    for weight, deviation in zip(weights, connection.deviation, strict=True):
        fit = fit + weight * (deviation - centre) ** 2
    prior_variance = priors.sd**2
    # mu integrated out: the weighted mean has the variance V + 1 / total about the prior mean, V the prior's;
    # the determinant grows by 1 + V total
    fit = fit + centre**2 / (prior_variance + 1 / total)
    value: FloatArray = priors.s(s) + log_s - 0.5 * (log_det + np.log1p(total * prior_variance) + fit)
    return value


def _bounds(density: LogDensity, low: FloatArray, high: FloatArray, points: int) -> tuple[FloatArray, FloatArray]:
    """Bounds (R,) outside which each of R one-peaked densities lies ``DROP`` below its peak.

    A bound that cuts mass moves out; where the mass fills too few nodes, both bounds move in.
    """
    share = np.linspace(0, 1, points)
    row = np.arange(len(low))
    for _ in range(ROUNDS):
        nodes = low[:, None] + (high - low)[:, None] * share
        value = density(nodes)
        inside = value > value.max(axis=1, keepdims=True) - DROP
        first, last = inside.argmax(axis=1), points - 1 - inside[:, ::-1].argmax(axis=1)
        cut_low, cut_high = first == 0, last == points - 1
        settled = ~cut_low & ~cut_high & (last - first >= FILLED * points)
        if settled.all():
            break
        width = high - low
        # one node beyond the first that counts, so that the end of the next grid lies below the drop
        lower = np.where(cut_low, low - width / 2, nodes[row, np.maximum(first - 1, 0)])
        upper = np.where(cut_high, high + width / 2, nodes[row, np.minimum(last + 1, points - 1)])
        low, high = np.where(settled, low, lower), np.where(settled, high, upper)
    return low, high


def _between(connection: Connection) -> float:
    """The variance of the cell means."""
    centre = (connection.count * connection.deviation).sum() / connection.cells
    squares = connection.scatter.sum() + (connection.count * (connection.deviation - centre) ** 2).sum()
    return float(squares / connection.cells)


def _first_guess(connection: Connection) -> float:
    """Start of the search for log s, whose result does not depend on it."""
    variance = _between(connection)
    return 0.5 * float(np.log(variance if variance > NOTHING**2 else 0.01))


def _outside(log_density: FloatArray, step: FloatArray) -> FloatArray:
    """The share of mass (R,) beyond both ends of grids (R, N), continued by the exponential slope at the ends."""
    density = np.exp(log_density - log_density.max(axis=1, keepdims=True))
    # an exponential tail holds its density at the end over its slope; a slope of 0.5 at least, for flat ends
    left = (log_density[:, 1] - log_density[:, 0]) / step
    right = (log_density[:, -2] - log_density[:, -1]) / step
    beyond = density[:, 0] / np.maximum(left, 0.5) + density[:, -1] / np.maximum(right, 0.5)
    return beyond / (density.sum(axis=1) * step)


STAGES = (512, 1024, 2048)  # points of the stages that fit the proposal, before the one that counts
DEGREES = 4.0
"""Degrees of freedom of the proposal: its tails are heavier than any posterior's here, so that weights are bounded."""
WIDE_SHARE, WIDER = 0.2, 2.5
"""Share and width of the wide part, which guards against a proposal that is too narrow (Hesterberg 1995, Weighted
average importance sampling and defensive mixture distributions, https://doi.org/10.1080/00401706.1995.10484303)."""
WIDEST = 3.0  # scale of directions with less curvature, in prior sds
CURVATURE_STEP = 1e-3
LENGTHS = 2.0 ** np.arange(1, -7, -1)  # lengths of a Newton step that are tried at once
LONGEST, FARTHEST, MOST_STEPS = 1.0, 4.5, 40
"""Largest change of a coordinate in a step of length 1, largest coordinate that is looked at, and steps."""
CLOSE = 0.1  # how near to the mode the search ends, in posterior sds
MAX_PARETO_K = 0.7  # tail index above which importance weights cannot be trusted (Vehtari et al. 2024)
LEAST_SHARE, MAX_EXTRA = 0.1, 3
"""Effective points, as a share of those asked for, below which stages are added, and how many at most."""


Proposal = tuple[FloatArray, FloatArray]
"""A mixture of two multivariate t distributions with one centre: that, and the root (d, d) of a scale matrix."""


@dataclass(frozen=True)
class WeightedPoints:
    """Points that stand for a density."""

    points: FloatArray  # (N, d)
    weights: FloatArray  # (N,): Pareto-smoothed, with sum 1
    pareto_k: float  # tail index of the raw weights: above 0.7 they cannot be trusted
    ess: float  # effective number of points, 1 / sum of squared weights
    log_integral: float  # of the density
    stages: int  # how many were drawn


def importance_sample(
    log_density: LogDensity,
    start: FloatArray,
    size: int,
    rng: np.random.Generator,
    stages: tuple[int, ...] = STAGES,
) -> WeightedPoints:
    """Points with weights for a density, given up to a constant.

    From the mode and the curvature there, each stage draws scrambled Sobol points from a mixture of a multivariate t
    and a wider one, and refits centre and scale to their weights; stages of twice as many points are added while
    Pareto k is above 0.7 or the effective points are fewer than a tenth of those asked for (Vehtari, A. et al. (2024).
    Pareto smoothed importance sampling. Journal of Machine Learning Research 25(72).
    https://doi.org/10.48550/arXiv.1507.02646).
    """
    # each stage's weighted moments make the next proposal (adaptive importance sampling, Cappé et al. 2008,
    # https://doi.org/10.1007/s11222-008-9059-x); only the last stage's points are kept, so that no proposal that was
    # fitted to them weighs them
    proposal, done = _laplace(log_density, start), len(stages)
    for count in stages:
        proposal = _refit(_stage(log_density, proposal, count, rng))
    drawn = _stage(log_density, proposal, size, rng)
    while (drawn.pareto_k > MAX_PARETO_K or drawn.ess < LEAST_SHARE * size) and done < len(stages) + MAX_EXTRA:
        proposal, done = _refit(drawn), done + 1
        drawn = _stage(log_density, proposal, 2 * len(drawn.points), rng)
    return replace(drawn, stages=done + 1)


def resample(drawn: WeightedPoints, size: int, rng: np.random.Generator) -> FloatArray:
    """Points (size, d) of equal weight, by systematic resampling, in random order."""
    # one uniform number for all: a point of weight w stands size * w times, rounded down or up (Kitagawa 1996,
    # https://doi.org/10.2307/1390750), which adds less noise than independent choices
    steps = (np.arange(size) + rng.random()) / size
    chosen = np.searchsorted(np.cumsum(drawn.weights), steps)
    points: FloatArray = drawn.points[rng.permutation(np.minimum(chosen, len(drawn.weights) - 1))]
    return points


def _laplace(log_density: LogDensity, start: FloatArray) -> Proposal:
    """The proposal of a normal about the mode, by Newton's method; directions without curvature get a wide scale."""
    centre = start
    for _ in range(MOST_STEPS):
        height, gradient, hessian = _curvature(log_density, centre)
        curvature, axes = np.linalg.eigh(-hessian)
        # with absolute curvatures the step goes uphill where the density is not concave, too
        root = axes / np.sqrt(np.maximum(np.abs(curvature), WIDEST**-2))
        ahead = root.T @ gradient
        # the slope in units of the curvature is the distance to the mode in posterior sds
        if ahead @ ahead < CLOSE**2 and curvature[0] > 0:
            break
        direction = root @ ahead
        direction *= min(1.0, LONGEST / np.abs(direction).max())
        tried = np.clip(centre + LENGTHS[:, None] * direction, -FARTHEST, FARTHEST)
        heights = log_density(tried)
        best = int(np.argmax(heights))
        if not heights[best] > height:
            break
        centre = tried[best]
    # the symmetric root varies smoothly: signs and rotations of axes, which rounding decides, cancel out in it
    return centre, root @ axes.T


def _curvature(log_density: LogDensity, theta: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """A log density, its gradient (d,) and its Hessian (d, d) by central differences, all points in one batch."""
    size = len(theta)
    first, second = np.triu_indices(size, 1)
    unit = CURVATURE_STEP * np.eye(size)
    moved = np.vstack([unit, unit[first] + unit[second]])
    height, *values = log_density(theta + np.vstack([np.zeros(size), moved, -moved]))
    ahead, back = np.reshape(values, (2, -1))
    bent = ahead + back - 2 * height
    # along a + b the second difference is that along a, that along b and twice the mixed one
    own, mixed = bent[:size], bent[size:]
    hessian = np.diag(own)
    hessian[first, second] = hessian[second, first] = (mixed - own[first] - own[second]) / 2
    return float(height), (ahead - back)[:size] / (2 * CURVATURE_STEP), hessian / CURVATURE_STEP**2


def _stage(log_density: LogDensity, proposal: Proposal, count: int, rng: np.random.Generator) -> WeightedPoints:
    """Points of a proposal, weighted to stand for a density."""
    from arviz_stats.base import array_stats  # both load slowly
    from scipy.stats import qmc

    (centre, root), size = proposal, len(proposal[0])
    uniform = np.clip(qmc.Sobol(size + 3, rng=rng).random(count), 1e-12, 1 - 1e-12)
    # chi-squared with 4 degrees of freedom: minus twice the log of a product of two uniforms
    stretch = np.sqrt(DEGREES / (-2 * np.log(uniform[:, 1] * uniform[:, 2])))
    stretch[uniform[:, 0] < WIDE_SHARE] *= WIDER
    points: FloatArray = centre + (stretch[:, None] * ndtri(uniform[:, 3:])) @ root.T
    # log density of the mixture of two multivariate t distributions
    standard = np.linalg.solve(root, (points - centre).T)
    squares = (standard**2).sum(axis=0)
    constant = gammaln((DEGREES + size) / 2) - gammaln(DEGREES / 2) - size / 2 * np.log(DEGREES * np.pi)
    constant -= np.linalg.slogdet(root)[1]
    narrow, wide = (
        -(DEGREES + size) / 2 * np.log1p(squares / (DEGREES * scale**2)) - size * np.log(scale)
        for scale in (1.0, WIDER)
    )
    mixture = constant + np.logaddexp(np.log1p(-WIDE_SHARE) + narrow, np.log(WIDE_SHARE) + wide)
    log_ratio = log_density(points) - mixture
    # weights are over the density of the whole mixture, whichever part a point came from: none can be more than
    # 1 / WIDE_SHARE times the weight by the wide part alone
    log_ratio = np.where(np.isfinite(log_ratio), log_ratio, -np.inf)
    # the evidence is the mean of the raw weights, which is unbiased; smoothed ones are steadier but biased
    log_integral = float(logsumexp(log_ratio) - np.log(count))
    # Pareto smoothing takes minus the log weights, as leave-one-out has them (the ratio is then 1 / likelihood)
    smoothed, k = array_stats.psislw(-log_ratio)
    weights = np.exp(smoothed - logsumexp(smoothed))
    return WeightedPoints(points, weights, float(k), float(1 / np.sum(weights**2)), log_integral, 1)


def _refit(drawn: WeightedPoints) -> Proposal:
    """The proposal with the weighted mean and covariance of a stage's points."""
    centre = drawn.weights @ drawn.points
    apart = drawn.points - centre
    covariance = (apart * drawn.weights[:, None]).T @ apart
    variances, axes = np.linalg.eigh(covariance)
    return centre, (axes * np.sqrt(np.maximum(variances, 1e-8))) @ axes.T


POINTS_PER_DRAW = 2
FEWEST_POINTS = 1024
LEAST_ESS_SHARE = 0.05  # effective points, as a share of those asked for, below which NUTS takes over


def points_for(draws: int, fewest: int = FEWEST_POINTS) -> int:
    """Importance points for so many draws: a power of 2."""
    return 1 << int(np.ceil(np.log2(max(POINTS_PER_DRAW * draws, fewest))))


def weights_fault(weighted: WeightedPoints, points: int) -> str | None:
    """Reason why the weights cannot be trusted, or None."""
    if weighted.pareto_k > MAX_PARETO_K:
        return f"Pareto k {weighted.pareto_k:.2f}"
    return f"{weighted.ess:.0f} effective points" if weighted.ess < LEAST_ESS_SHARE * points else None
