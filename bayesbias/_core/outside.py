"""Outside values of words regressed on their places, where the places have errors and words are related."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesbias._core.offsets import Signal
from bayesbias._core.vectors import FloatArray

# nodes of the variance of single words, and of that which related words share: to find the posterior, and in it
COARSE, FINE = 12, 20
LEAST, MOST = 1e-3, 4.0  # their ends, in units of the variance of the values
# slopes, in standard deviations of the values for one of the places, to find the posterior; denser near 0
SLOPES = np.sinh(np.linspace(-3.0, 3.0, 81)) / np.sinh(3.0) * 2.0
NARROW = 61  # slopes in it
NEGLIGIBLE = 1e-5  # posterior mass of a node below which it does not count for the posterior's ends
# the share of what related words have in common has the prior Beta(.4, 1): small for many values, large for some
RARE = 0.4

# shares of the identity in the covariance of what related words share and of the errors of places
MIXTURES = np.array([0.0, 0.02, 0.1, 0.3, 0.6, 0.9, 1.0])


@dataclass(frozen=True)
class OutsideRelation:
    """Draws (D,) of the relation of latent outside values to latent places."""

    correlation: FloatArray  # of latent values with latent places over words like these
    # standard deviations of latent places over the words, and of latent values
    place_sd: FloatArray
    value_sd: FloatArray
    shared: FloatArray  # share of the variance around the line that related words have in common
    fitted: FloatArray  # posterior mean of the places, (n,)


def outside_relation(
    words: FloatArray,
    behind: Signal,
    values: FloatArray,
    variances: FloatArray,
    design: FloatArray,
    draws: int,
    rng: np.random.Generator,
) -> OutsideRelation:
    """How outside values depend on places.

    Places are linear in the vectors of words, so that the places of more words than dimensions leave directions
    without any place: a residual cannot be in the places, and it is in the values. With coordinates Y (n, Q), the mean
    offset z and what lies behind it z* ~ N(m, C),

        values = design a + b Y z* + Y u + e,    u ~ N(0, h I),    e ~ N(0, g I + diag(variances)),

    so that ``values ~ N(design a + b Y m, Y (h I + b^2 C) Y' + g I + diag(variances))``. The term Y u is what values
    owe to the meanings of words at large: any other axis may explain them as well as this one. It is the relationship
    matrix of mixed models in genetics. The matrix h I + b^2 C is a multiple of a mixture of I and C; a decomposition
    for each of a few mixtures serves all nodes, and the log-likelihood is linear between these. The correlation has a
    uniform prior, the share of h in the residual variance a beta one, the standard deviation of latent values a
    half-Cauchy one, and a a flat one. Nodes are first set wide apart, then again where the posterior is.

    Parameters
    ----------
    words
        Coordinates (n, Q) of the words, see :mod:`bayesbias._core.offsets`.
    behind
        What lies behind the mean offset.
    values, variances
        Outside values and the variances of their errors, (n,).
    design
        What values depend on beside places, (n, p): a constant first.

    References
    ----------
    Lippert, C. et al. (2011). FaST linear mixed models for genome-wide association studies. Nature Methods 8.
    https://doi.org/10.1038/nmeth.1681
    """
    hat = design @ np.linalg.pinv(design)
    coordinates = words - hat @ words
    scale = float(np.sqrt((((values - hat @ values) ** 2).sum()) / (len(values) - design.shape[1])))
    share = float((coordinates**2).sum(axis=1).mean())  # mean variance of Y u for h = 1
    places = coordinates @ behind.mean
    errors = float((coordinates**2 @ behind.variances).mean()) / share  # mean of C over words
    place_variance = float((places**2).mean()) + errors * share
    y, x = values / scale, words @ behind.mean / np.sqrt(place_variance)
    noise = variances / scale**2
    relative = errors * share / place_variance  # of the variance of places, what is error
    # h I + b^2 C is a multiple of a mixture of I and C / errors
    roots = [words * np.sqrt((mix + (1 - mix) * behind.variances / errors) / share) for mix in MIXTURES]

    def posterior(nodes: _Nodes) -> FloatArray:
        logs = np.array([_log_likelihoods(root, y, x, design, nodes, noise) for root in roots])
        mix = np.clip(1 - relative * nodes.slopes**2 / np.maximum(nodes.total[:, None], LEAST * LEAST), 0, 1)
        log = _between(logs, np.broadcast_to(mix, logs.shape[1:])) + nodes.log_prior(relative)
        mass: FloatArray = np.exp(log - log.max())
        return mass / mass.sum()

    wide = _Nodes.between((LEAST, MOST), (0.0, MOST), SLOPES, COARSE)
    nodes = wide.narrowed(posterior(wide))
    mass = posterior(nodes)
    node = rng.choice(mass.size, draws, p=mass.ravel())
    first, second, third = np.unravel_index(node, mass.shape)
    # slopes are for the expected spread of places; that of the latent ones over these words is not known exactly
    latent = behind.mean + np.sqrt(behind.variances) * rng.standard_normal((draws, len(behind.mean)))
    place_sd = np.sqrt(((latent @ (coordinates.T @ coordinates)) * latent).sum(axis=1) / len(values))
    slope = nodes.slopes[third] + np.gradient(nodes.slopes)[third] * (rng.random(draws) - 0.5)
    slope = slope * place_sd / np.sqrt(place_variance)
    common, residual = nodes.shared(relative)[0, second, third], nodes.residual(relative)[first, second, third]
    return OutsideRelation(
        correlation=slope / np.sqrt(slope**2 + residual),
        place_sd=place_sd,
        value_sd=scale * np.sqrt(slope**2 + residual),
        shared=np.maximum(common, 0) / residual,
        fitted=words @ behind.mean,
    )


@dataclass(frozen=True)
class _Nodes:
    """Nodes of the posterior, in units of the variance of the values."""

    iid: FloatArray  # variances of single words, (G,)
    total: FloatArray  # variances of what related words share, with what the errors of places add, (K,)
    slopes: FloatArray  # for one standard deviation of the places, (S,)

    @classmethod
    def between(cls, iid: tuple[float, float], total: tuple[float, float], slopes: FloatArray, size: int) -> _Nodes:
        """Nodes even in the logarithm between the ends of the variances; a total may be 0."""
        nodes = np.geomspace(total[0] or LEAST, total[1], size)
        return cls(np.geomspace(*iid, size), nodes if total[0] else np.append(0.0, nodes), slopes)

    def narrowed(self, mass: FloatArray) -> _Nodes:
        """Nodes closer together where the posterior has its mass (G, K, S)."""
        ends = []
        for i, nodes in enumerate((self.iid, self.total, self.slopes)):
            rows = np.flatnonzero(mass.sum(axis=tuple({0, 1, 2} - {i})) > NEGLIGIBLE)
            ends.append((nodes[max(rows[0] - 1, 0)], nodes[min(rows[-1] + 1, len(nodes) - 1)]))
        return _Nodes.between(ends[0], ends[1], np.linspace(*ends[2], NARROW), FINE)

    def shared(self, relative: float) -> FloatArray:
        """Variances (1, K, S) of what related words share, by how much of the variance of places is error."""
        return self.total[None, :, None] - relative * self.slopes**2

    def residual(self, relative: float) -> FloatArray:
        """Variances around the line, (G, K, S)."""
        return np.maximum(self.shared(relative), 0) + self.iid[:, None, None]

    def log_prior(self, relative: float) -> FloatArray:
        """Logarithm of the prior mass of nodes (G, K, S); -inf where what is shared would be below 0."""
        residual = self.residual(relative)
        variance = self.slopes**2 + residual
        edges = np.concatenate([self.total[:1], (self.total[1:] + self.total[:-1]) / 2, self.total[-1:]])
        ends = np.maximum(edges[:, None] - relative * self.slopes**2, 0)
        shares = [np.minimum(part / residual, 1.0) ** RARE for part in (ends[:-1], ends[1:])]
        widths = np.multiply.outer(np.gradient(self.iid), np.gradient(self.slopes))[:, None]
        with np.errstate(divide="ignore"):
            cells = np.log(shares[1] - shares[0])
        return cells + np.log(widths) - np.log(variance) - np.log1p(variance)


def _log_likelihoods(
    root: FloatArray,
    y: FloatArray,
    x: FloatArray,
    design: FloatArray,
    nodes: _Nodes,
    noise: FloatArray,
) -> FloatArray:
    """Restricted log-likelihoods (G, K, S) of values with the covariance K root root' + G I + diag(noise)."""
    total, slopes = nodes.total, nodes.slopes
    log = np.empty((len(nodes.iid), len(total), len(slopes)))
    sides = np.column_stack([y, x, design])
    even = bool(np.ptp(noise) == 0)
    if even:
        eigenvalues, rotated, rest = _rotated(root, sides)
    for i, g in enumerate(nodes.iid):
        diagonal = g + noise
        if even:
            scale = diagonal[0]
            values, turned, outside = eigenvalues / scale, rotated / np.sqrt(scale), rest / scale
        else:
            by = np.sqrt(diagonal)[:, None]
            values, turned, outside = _rotated(root / by, sides / by)
        weights = 1 / (1 + total[:, None] * values)  # (K, r)
        products = outside + np.einsum("ra,rb,kr->kab", turned, turned, weights, optimize=True)
        determinants = np.log(diagonal).sum() - np.log(weights).sum(axis=1)
        free = products[:, 2:, 2:]
        left = products[:, :2, :2] - products[:, :2, 2:] @ np.linalg.solve(free, products[:, 2:, :2])
        squares = left[:, 0, 0, None] - 2 * slopes * left[:, 0, 1, None] + slopes**2 * left[:, 1, 1, None]
        log[i] = -0.5 * ((determinants + np.linalg.slogdet(free)[1])[:, None] + squares)
    return log


def _between(logs: FloatArray, mix: FloatArray) -> FloatArray:
    """Values (...) at mixtures (...) of functions (M, ...) that are known at :data:`MIXTURES`, linear between these."""
    above = np.clip(np.searchsorted(MIXTURES, mix), 1, len(MIXTURES) - 1)
    share = (mix - MIXTURES[above - 1]) / (MIXTURES[above] - MIXTURES[above - 1])
    low, high = (np.take_along_axis(logs, rows[None], axis=0)[0] for rows in (above - 1, above))
    result: FloatArray = low + share * (high - low)
    return result


def _rotated(root: FloatArray, sides: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Eigenvalues (r,) of root root', the sides (r, m) in that basis, and the products (m, m) of what is outside it."""
    wide = root.shape[1] > root.shape[0]
    values, vectors = np.linalg.eigh(root @ root.T if wide else root.T @ root)
    kept = values > 1e-10 * values[-1]
    values, vectors = values[kept], vectors[:, kept]
    basis = vectors if wide else root @ vectors / np.sqrt(values)
    rotated = basis.T @ sides
    return values, rotated, sides.T @ sides - rotated.T @ rotated
