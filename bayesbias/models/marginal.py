"""The marginal engine: crossed models with every Gaussian integrated out, by importance sampling of the scales."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from scipy.special import gammaln, logsumexp, ndtri

from bayesbias._support.progress import in_notebook, progress
from bayesbias.distances.distances import Distances, once
from bayesbias.errors import DrawsWarning, InputError, warn
from bayesbias.models.spec import ModelSpec, Normal, Pooled, ScalePrior, common_of
from bayesbias.models.tree import EFFECTS, Draws, DrawsOfWords
from bayesbias.numerics.arrays import FloatArray
from bayesbias.numerics.conditionals import draw_gaussians
from bayesbias.numerics.marginal import (
    CrossedSums,
    IncompleteSums,
    Scales,
    crossed_sums,
    find_patterns,
    incomplete_log_likelihood,
    incomplete_sums,
    pattern_log_likelihood,
)
from bayesbias.results import Note

Density = Callable[[FloatArray], FloatArray]
STAGES = (512, 1024, 2048)  # points of the stages that fit the proposal, before the one that counts
DEGREES = 4.0
"""Degrees of freedom of the proposal: its tails are heavier than any posterior's here, so that weights are bounded."""
WIDE_SHARE, WIDER = 0.2, 2.5
"""Share and width of the wide part, which guards against a proposal that is too narrow (Hesterberg 1995, Weighted
average importance sampling and defensive mixture distributions, https://doi.org/10.1080/00401706.1995.10484303)."""
WIDEST = 3.0  # scale of directions with less curvature, in prior sds
SLOPE_STEP, CURVATURE_STEP = 1e-4, 1e-3
LENGTHS = 2.0 ** np.arange(1, -7, -1)  # lengths of a Newton step that are tried at once
LONGEST, FARTHEST, MOST_STEPS = 1.0, 4.5, 40
"""Largest change of a coordinate in a step of length 1, largest coordinate that is looked at, and steps."""
CLOSE = 0.1  # how near to the mode the search ends, in posterior sds
MAX_PARETO_K = 0.7  # tail index above which importance weights cannot be trusted (Vehtari et al. 2024)
LEAST_SHARE, MAX_EXTRA = 0.1, 3
"""Effective points, as a share of those asked for, below which stages are added, and how many at most."""


class _Proposal(NamedTuple):
    """A mixture of two multivariate t distributions with one centre: root (d, d) of its scale matrix and a wide one."""

    centre: FloatArray
    root: FloatArray


@dataclass(frozen=True)
class WeightedPoints:
    """Points that stand for a density."""

    points: FloatArray  # (N, d)
    weights: FloatArray  # (N,): Pareto-smoothed, with sum 1
    pareto_k: float  # tail index of the raw weights: above 0.7 they cannot be trusted
    ess: float  # effective number of points, 1 / sum of squared weights
    log_integral: float  # of the density
    stages: int  # how many were drawn


def _importance_sample(log_density: Density, start: FloatArray, size: int, rng: np.random.Generator) -> WeightedPoints:
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
    proposal, done = _laplace(log_density, start), len(STAGES)
    for count in STAGES:
        proposal = _refit(_stage(log_density, proposal, count, rng))
    drawn = _stage(log_density, proposal, size, rng)
    while (drawn.pareto_k > MAX_PARETO_K or drawn.ess < LEAST_SHARE * size) and done < len(STAGES) + MAX_EXTRA:
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


def _laplace(log_density: Density, start: FloatArray) -> _Proposal:
    """The proposal of a normal about the mode, by Newton's method; directions without curvature get a wide scale.

    Each step looks at several lengths along the Newton direction at once, and the search ends where another would
    gain next to nothing, whatever the scales of the coordinates.
    """
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
    return _Proposal(centre, root @ axes.T)


def _curvature(log_density: Density, theta: FloatArray) -> tuple[float, FloatArray, FloatArray]:
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


def _stage(log_density: Density, proposal: _Proposal, count: int, rng: np.random.Generator) -> WeightedPoints:
    """Points of a proposal, weighted to stand for a density."""
    from scipy.stats import qmc  # loads slowly

    size = len(proposal.centre)
    uniform = np.clip(qmc.Sobol(size + 3, rng=rng).random(count), 1e-12, 1 - 1e-12)
    # chi-squared with 4 degrees of freedom: minus twice the log of a product of two uniforms
    stretch = np.sqrt(DEGREES / (-2 * np.log(uniform[:, 1] * uniform[:, 2])))
    stretch[uniform[:, 0] < WIDE_SHARE] *= WIDER
    points: FloatArray = proposal.centre + (stretch[:, None] * ndtri(uniform[:, 3:])) @ proposal.root.T
    # log density of the mixture of two multivariate t distributions
    standard = np.linalg.solve(proposal.root, (points - proposal.centre).T)
    squares = (standard**2).sum(axis=0)
    constant = gammaln((DEGREES + size) / 2) - gammaln(DEGREES / 2) - size / 2 * np.log(DEGREES * np.pi)
    constant -= np.linalg.slogdet(proposal.root)[1]
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
    weights, k = smoothed_weights(log_ratio)
    return WeightedPoints(points, weights, k, float(1 / np.sum(weights**2)), log_integral, 1)


def smoothed_weights(log_ratio: FloatArray) -> tuple[FloatArray, float]:
    """Pareto-smoothed importance weights (N,), which add up to 1, and Pareto k."""
    from arviz_stats.base import array_stats

    # it takes minus the log weights, as leave-one-out has them (the ratio is then 1 / likelihood)
    smoothed, k = array_stats.psislw(-log_ratio)
    return np.exp(smoothed - logsumexp(smoothed)), float(k)


def _refit(drawn: WeightedPoints) -> _Proposal:
    """The proposal with the weighted mean and covariance of a stage's points."""
    centre = drawn.weights @ drawn.points
    apart = drawn.points - centre
    covariance = (apart * drawn.weights[:, None]).T @ apart
    variances, axes = np.linalg.eigh(covariance)
    return _Proposal(centre, (axes * np.sqrt(np.maximum(variances, 1e-8))) @ axes.T)


BOUNDS = (-5.0, 5.5)
"""Coordinates beyond these, with 3e-7 of the prior's mass, are left out: scales below 1e-7 are lost to rounding."""
START = np.linspace(-2.4, 1.6, 6)
"""Coordinates of scales from which the search for the mode begins: .004 to 1.5 under an Exponential(2) prior."""
MOST_EFFECTS = 100  # mean effects of patterns up to which patterns are faster than the parts of a table with holes
MOST_NUMBERS = 2**26  # numbers that the sums of a table with holes may have


@dataclass(frozen=True)
class CrossedTarget:
    """A crossed model of a table, as a density of theta: coordinates of its scales with a standard normal prior.

    Whether the data or the prior rule a scale, its coordinate is close to normal, which log scales are not.
    """

    spec: ModelSpec
    sums: CrossedSums | IncompleteSums  # the table, reduced
    places: dict[str, slice]  # scale to its columns of theta; the common scale of pooled ones comes after them
    mean: Normal  # prior of each connection mean

    @property
    def size(self) -> int:
        """Number of scales."""
        return int(max(place.stop for place in self.places.values()))

    @property
    def start(self) -> FloatArray:
        """Start (d,) of the search: the most probable of a few sigmas beside a few values of all other scales."""
        sigma, others = (grid.ravel()[:, None] for grid in np.meshgrid(START, START))
        theta = np.broadcast_to(others, (len(others), self.size)).copy()
        theta[:, self.places["sigma"]] = sigma
        for name, place in self.places.items():
            if isinstance(self.spec.priors[name], Pooled):
                theta[:, place] = 0
        best: FloatArray = theta[np.argmax(self.log_density(theta))]
        return best

    def scale_values(self, theta: FloatArray) -> dict[str, FloatArray]:
        """Scale to its values (B, ...) in cosine distance at points (B, d)."""
        values: dict[str, FloatArray] = {}
        for name, place in reversed(self.places.items()):  # common scales before those around them
            prior, z = self.spec.priors[name], theta[:, place]
            if isinstance(prior, Pooled):
                values[name] = values[common_of(name)] * np.exp(prior.spread * z)
            elif isinstance(prior, ScalePrior):
                values[name] = prior.from_normal(z)
            else:
                raise TypeError(f"{name} is a scale and needs the prior of one")
        return values

    def variances(self, theta: FloatArray) -> Scales:
        """The variances at points (B, d)."""
        return variances_of(self.scale_values(theta), self.sums.connections, self.sums.classes)

    def log_prior(self, theta: FloatArray) -> FloatArray:
        """Log prior density (B,) at points (B, d)."""
        value: FloatArray = -0.5 * ((theta**2).sum(axis=1) + self.size * np.log(2 * np.pi))
        return value

    def log_density(self, theta: FloatArray) -> FloatArray:
        """Log of prior times likelihood, all constants included, at points (B, d); -inf beyond :data:`BOUNDS`."""
        value = np.full(len(theta), -np.inf)
        inside = np.flatnonzero(((theta > BOUNDS[0]) & (theta < BOUNDS[1])).all(axis=1))
        if len(inside):
            scales, log_prior = self.variances(theta[inside]), self.log_prior(theta[inside])
            if isinstance(self.sums, IncompleteSums):
                value[inside] = incomplete_log_likelihood(self.sums, scales, self.mean.sd) + log_prior
            else:
                value[inside] = pattern_log_likelihood(self.sums, scales, self.mean.sd) + log_prior
        return value


def variances_of(sds: Mapping[str, FloatArray], connections: int, classes: int) -> Scales:
    """The variances of a model from its standard deviations (B,) or (B, ...); 0 of effects that it does not have."""
    size = len(sds["sigma"])
    variance = {name: np.reshape(values, (size, -1)) ** 2 for name, values in sds.items()}
    return Scales(
        sigma2=np.broadcast_to(variance["sigma"], (size, connections)),
        s2=variance["connection_sd"],
        attribute=np.broadcast_to(variance.get("attribute_sd", np.zeros((size, 1))), (size, classes)),
        interaction=variance["interaction_sd"][:, 0] if "interaction_sd" in variance else None,
    )


def drawn_scales(posterior: xr.Dataset) -> dict[str, FloatArray]:
    """The standard deviations (draws, ...) of a model's terms from draws (chain, draw, ...)."""
    names = ("sigma", "connection_sd", "attribute_sd", "interaction_sd")
    scales = {name: posterior[name].to_numpy() for name in names if name in posterior}
    return {name: values.reshape(-1, *values.shape[2:]) for name, values in scales.items()}


def fit_for_crossed(spec: ModelSpec, data: Distances) -> tuple[ModelSpec, Distances]:
    """The model and the table as far as they go together: each pair once, word x group only between known groups."""
    notes = []
    rows_of_pair = np.bincount(data.word * len(data.attribute_words) + data.attribute)
    if rows_of_pair.max() > 1:
        pairs = np.count_nonzero(rows_of_pair)
        notes.append(Note("repeated", rows=len(data.y) - pairs, total=len(data.y), rule="dropped"))
        table = once(data.table, "the table", f"the model {spec.name!r} takes each pair once")
        kept = ("relatedness", "coverage", "moved", "adjustment")
        data = replace(Distances.of_rows(table), **{name: getattr(data, name) for name in kept})
    if spec.terms.word_x_group and (len(data.group_names) < 2 or "" in data.group_names):
        notes.append(Note("model", model=spec.name, reason="without word x group: groups unknown or one only"))
        spec = replace(spec, terms=spec.terms.model_copy(update={"word_x_group": False}))
    return spec, replace(data, notes=tuple(notes))


def prior_of_means(spec: ModelSpec) -> Normal:
    """The prior of the connection means."""
    mean = spec.priors["connection_mean"]
    if not isinstance(mean, Normal):
        raise TypeError("connection_mean has a normal prior")
    return mean


def crossed_target(spec: ModelSpec, data: Distances) -> CrossedTarget:
    """The density of a crossed model with normal residuals; no pair of the table repeats."""
    mean = prior_of_means(spec)
    k, classes = len(data.connections), len(data.attribute_classes)
    sizes = {"connection_sd": k, "sigma": k if spec.likelihood.sigma == "connection" else 1}
    sizes["attribute_sd"] = 1 if spec.terms.attribute_sd == "shared" else classes
    sizes |= {common_of(name): 1 for name in sizes if isinstance(spec.priors[name], Pooled)}
    if spec.terms.word_x_group:
        sizes["interaction_sd"] = 1
    ends = np.cumsum(list(sizes.values())).tolist()
    places = {name: slice(end - size, end) for (name, size), end in zip(sizes.items(), ends, strict=True)}
    return CrossedTarget(spec, reduced(data, mean.mean, spec.terms.word_x_group), places, mean)


def reduced(data: Distances, centre: float, by_group: bool) -> CrossedSums | IncompleteSums:
    """A table's sums: by patterns of attribute words, by its parts where holes make patterns many."""
    groups = data.group_index if by_group else np.zeros(len(data.protected_words), dtype=np.intp)
    rows = (data.word, data.connection, data.attribute, groups, data.class_index, data.y - centre)
    k = len(data.connections)
    patterns, blocks = find_patterns(*rows, k)
    effects = sum(1 + by_group * len(p.groups) for p in patterns)
    if effects > MOST_EFFECTS:
        try:
            return incomplete_sums(patterns, data.filled, *rows, most=MOST_NUMBERS)
        except ValueError as error:
            raise InputError(
                f"the table has holes in too many places: {effects:,} sets of protected words share attribute words, "
                f"and {len(data.protected_words):,} protected words are too many for these; leave out attribute words "
                "that lack pairs, or take engine='nuts'"
            ) from error
    return crossed_sums(patterns, blocks, groups, k, by_group)


TUNE = 1000
TARGET_ACCEPT = 0.95
NOWHERE = -1e12  # the log density of points that have none, so that a step there counts as divergent


def walk(
    log_density: Density, start: FloatArray, chains: int, draws: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draws (chains, draws, d) of a density by nutpie's NUTS, and which transitions diverged (chains, draws).

    Gradients are central differences, all points of one in one batch.
    """
    import nutpie
    from nutpie.compiled_pyfunc import from_pyfunc

    size = len(start)
    steps = SLOPE_STEP * np.vstack([np.zeros(size), np.eye(size), -np.eye(size)])

    def value_and_slope(theta: FloatArray) -> tuple[float, FloatArray]:
        value, *around = log_density(theta + steps)
        with np.errstate(invalid="ignore"):  # beyond the bounds there is no slope
            gradient = np.subtract(around[:size], around[size:]) / (2 * SLOPE_STEP)
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            return NOWHERE, np.zeros(size)
        return float(value), gradient

    def make_expand(*_: Any) -> Any:
        return lambda theta, **__: {"theta": np.asarray(theta)}

    model = from_pyfunc(
        size,
        lambda: value_and_slope,
        make_expand,
        [np.dtype("float64")],
        [(size,)],
        ["theta"],
        make_initial_point_fn=lambda _: start,
    )
    trace: Any = nutpie.sample(
        model,
        draws=draws,
        tune=TUNE,
        chains=chains,
        cores=1,
        seed=int(rng.integers(2**31)),
        target_accept=TARGET_ACCEPT,
        progress_bar=sys.stderr.isatty() or in_notebook(),
    )
    return trace["posterior/theta"].to_numpy(), trace["sample_stats/diverging"].to_numpy()


VANISHING = (-4.6, -4.8)
"""Coordinates of sigmas, 1.1e-6 and 4e-7 under an Exponential(2) prior, far below what measured distances have."""
POINTS_PER_DRAW = 2
FEWEST_POINTS = 1024
LEAST_ESS_SHARE = 0.05  # effective points, as a share of those asked for, below which NUTS takes over


def obstacle(spec: ModelSpec) -> str | None:
    """Reason why this engine cannot fit a model, or None."""
    if spec.terms.protected_words != "normal":
        return "its protected words are not normal around their connection"
    return None if spec.crossed else "it has no effects of attribute words"


def sample(spec: ModelSpec, data: Distances, chains: int, draws: int, rng: np.random.Generator) -> Draws:
    """Draws by importance sampling of the scales, then exact Gaussian draws of everything else."""
    target = crossed_target(spec, data)
    _refuse_constant(target, data)
    size = chains * draws
    points = points_for(size) // (2 if isinstance(target.sums, IncompleteSums) else 1)
    with progress(f"fitting {spec.name}", sum(STAGES) + points) as done:
        sampled = explored(_counted(target.log_density, done), target.start, points, chains, draws, rng)
    notes: tuple[Note, ...] = ()
    weighted = sampled.points
    attrs: dict[str, float] = {"importance_points": len(weighted.points), "importance_stages": weighted.stages}
    if sampled.fault is None:
        attrs["log_evidence"] = weighted.log_integral
    else:
        notes = (Note("model", model=spec.name, reason=f"scales by NUTS ({sampled.fault})"),)
        warn(notes[0], DrawsWarning)
    theta = sampled.drawn(size, rng)
    # given the scales all else is normal
    taker = DrawsOfWords(data, size, EFFECTS if spec.terms.word_x_group else EFFECTS[:1], target.mean.mean)
    mu = draw_gaussians(target.sums, target.variances(theta), target.mean.sd, data.filled, rng, taker)
    single = {"connection_sd0", "attribute_sd0", "interaction_sd"}
    single |= {"sigma"} if spec.likelihood.sigma == "shared" else set()
    single |= {"attribute_sd"} if spec.terms.attribute_sd == "shared" else set()
    scales = {name: value[:, 0] if name in single else value for name, value in target.scale_values(theta).items()}
    posterior = {"connection_mean": target.mean.mean + mu, **scales}
    by_chain = {name: values.reshape(chains, draws, *values.shape[1:]) for name, values in posterior.items()}
    return taker.into(Draws(by_chain, sampled.stats, attrs, notes), chains)


class _Explored(NamedTuple):
    """A density by importance sampling, or by NUTS where the weights cannot be trusted."""

    points: WeightedPoints
    fault: str | None  # why NUTS took over; None where it did not
    walked: FloatArray | None  # draws of NUTS (chains, draws, d)
    stats: dict[str, FloatArray | float]  # of what made the draws

    def drawn(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Draws (size, d) of equal weight; NUTS has made so many."""
        return resample(self.points, size, rng) if self.walked is None else self.walked.reshape(size, -1)


def explored(
    log_density: Density, start: FloatArray, points: int, chains: int, draws: int, rng: np.random.Generator
) -> _Explored:
    """Importance sampling of a density with so many points, and NUTS where :func:`_weights_fault` asks for it."""
    sampled = _importance_sample(log_density, start, points, rng)
    if (fault := _weights_fault(sampled, points)) is None:
        return _Explored(sampled, None, None, {"pareto_k": sampled.pareto_k, "importance_ess": sampled.ess})
    walked, diverging = walk(log_density, sampled.weights @ sampled.points, chains, draws, rng)
    return _Explored(sampled, f"{fault} after {sampled.stages} stages", walked, {"diverging": diverging})


def points_for(draws: int, fewest: int = FEWEST_POINTS) -> int:
    """Importance points for so many draws: a power of 2."""
    return 1 << int(np.ceil(np.log2(max(POINTS_PER_DRAW * draws, fewest))))


def _weights_fault(weighted: WeightedPoints, points: int) -> str | None:
    """Reason why the weights cannot be trusted, or None."""
    if weighted.pareto_k > MAX_PARETO_K:
        return f"Pareto k of the importance weights was {weighted.pareto_k:.2f}, above {MAX_PARETO_K},"
    if weighted.ess < LEAST_ESS_SHARE * points:
        return f"The effective sample size of the importance weights was {weighted.ess:.0f} of {len(weighted.points):,}"
    return None


def _counted(log_density: Density, done: Callable[[float], None]) -> Density:
    """A density that tells how many points it has been asked for."""
    evaluated = 0

    def density(points: FloatArray) -> FloatArray:
        nonlocal evaluated
        evaluated += len(points)
        done(evaluated)
        return log_density(points)

    return density


def _refuse_constant(target: CrossedTarget, data: Distances) -> None:
    """Refuse distances that the means explain wholly: the likelihood then grows without end as sigma goes to 0."""
    place = target.places["sigma"]
    for column in range(place.start, place.stop):
        theta = np.tile(target.start, (2, 1))
        theta[:, column] = VANISHING
        # the prior is taken out again: does the likelihood alone still grow from one vanishing sigma to a smaller one?
        far, near = target.log_density(theta) + 0.5 * theta[:, column] ** 2
        if near > far + 0.5:
            own = target.spec.likelihood.sigma == "connection"
            named = data.connections[column - place.start] if own else ", ".join(data.connections)
            raise InputError(
                f"the distances of {named} do not vary beyond their means, so their spread cannot be estimated: "
                "check that the table holds measured distances"
            )
