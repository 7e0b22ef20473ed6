"""The engines that integrate over what is Gaussian: quadrature or importance sampling of the scales, all else exact."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from bayesbias._support.progress import counted, progress
from bayesbias.distances.dataframe import once
from bayesbias.distances.distances import Distances
from bayesbias.errors import BayesbiasWarning, InputError, warn
from bayesbias.models import nuts, related
from bayesbias.models.spec import ModelSpec, Normal, Pooled, common_of
from bayesbias.models.tree import EFFECTS, Draws, DrawsOfWords
from bayesbias.numerics.arrays import FloatArray, in_blocks
from bayesbias.numerics.holes import HoledSums, holed_sums
from bayesbias.numerics.marginal import (
    BLOCK_OF_DRAWS,
    PARTS,
    CrossedSums,
    Scales,
    crossed_sums,
    draw_words,
    fast_generators,
    find_patterns,
)
from bayesbias.numerics.quadrature import (
    STAGES,
    Connection,
    Priors,
    ScaleGrid,
    connection_sums,
    draw_cells,
    draw_scales,
    importance_sample,
    points_for,
    resample,
    scale_grid,
    weights_fault,
)
from bayesbias.results import Note

BOUNDS = (-5.0, 5.5)
"""Coordinates beyond these, with 3e-7 of the prior's mass, are left out: scales below 1e-7 are lost to rounding."""
START = np.linspace(-2.4, 1.6, 6)
"""Coordinates of scales from which the search for the mode begins: .004 to 1.5 under an Exponential(2) prior."""
MOST_EFFECTS = 100  # mean effects of patterns up to which patterns are faster than the parts of a table with holes


@dataclass(frozen=True)
class CrossedTarget:
    """A crossed model of a table, as a density of theta: coordinates of its scales with a standard normal prior.

    Whether the data or the prior rule a scale, its coordinate is close to normal, which log scales are not.
    """

    spec: ModelSpec
    sums: CrossedSums | HoledSums  # the table, reduced
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
            else:
                values[name] = prior.from_normal(z)
        return values

    def variances(self, theta: FloatArray) -> Scales:
        """The variances at points (B, d)."""
        return variances_of(self.scale_values(theta), self.sums.connections, self.sums.classes)

    def log_density(self, theta: FloatArray) -> FloatArray:
        """Log of prior times likelihood, all constants included, at points (B, d); -inf beyond :data:`BOUNDS`."""
        value = np.full(len(theta), -np.inf)
        inside = np.flatnonzero(((theta > BOUNDS[0]) & (theta < BOUNDS[1])).all(axis=1))
        if len(inside):
            likelihood = self.sums.log_likelihood(self.variances(theta[inside]), self.mean.sd)
            value[inside] = likelihood - 0.5 * ((theta[inside] ** 2).sum(axis=1) + self.size * np.log(2 * np.pi))
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


def crossed_target(spec: ModelSpec, data: Distances) -> CrossedTarget:
    """The density of a crossed model; no pair of the table repeats."""
    mean = spec.priors["connection_mean"]
    k, classes = len(data.connections), len(data.attribute_classes)
    sizes = {"connection_sd": k, "sigma": k if spec.likelihood.sigma == "connection" else 1}
    sizes["attribute_sd"] = 1 if spec.terms.attribute_sd == "shared" else classes
    sizes |= {common_of(name): 1 for name in sizes if isinstance(spec.priors[name], Pooled)}
    if spec.terms.word_x_group:
        sizes["interaction_sd"] = 1
    ends = np.cumsum(list(sizes.values())).tolist()
    places = {name: slice(end - size, end) for (name, size), end in zip(sizes.items(), ends, strict=True)}
    return CrossedTarget(spec, reduced(data, mean.mean, spec.terms.word_x_group), places, mean)


def reduced(data: Distances, centre: float, by_group: bool) -> CrossedSums | HoledSums:
    """A table's sums: by patterns of attribute words, by its parts where holes make patterns many."""
    groups = data.group_index if by_group else np.zeros(len(data.protected_words), dtype=np.intp)
    k = len(data.connections)
    rows = (data.word, data.connection, data.attribute, groups, data.class_index, data.y - centre)
    patterns, blocks = find_patterns(*rows, k)
    if sum(1 + by_group * len(p.groups) for p in patterns) > MOST_EFFECTS:
        try:
            return holed_sums(patterns, data.filled, *rows)
        except MemoryError as error:
            raise InputError(
                f"pairs are missing in too many places for {len(data.protected_words):,} protected words: leave out "
                "attribute words that lack pairs, or take engine='nuts'"
            ) from error
    return crossed_sums(patterns, blocks, groups, k, by_group)


VANISHING = (-4.6, -4.8)
"""Coordinates of sigmas, 1.1e-6 and 4e-7 under an Exponential(2) prior, far below what measured distances have."""


def supports(spec: ModelSpec) -> bool:
    """True where this engine can fit a model."""
    return spec.crossed and spec.terms.protected_words == "normal"


def sample(spec: ModelSpec, data: Distances, chains: int, draws: int, rng: np.random.Generator) -> Draws:
    """Draws by importance sampling of the scales, then exact Gaussian draws of everything else."""
    size = chains * draws
    target = crossed_target(spec, data)
    start = target.start
    _refuse_constant(target, start, data)
    points = points_for(size)
    stages: tuple[int, ...] = STAGES
    if isinstance(target.sums, HoledSums):
        points, stages = points // 2, (1024,)  # of a density that takes long, with as many effective points but a tenth
    with progress(f"fitting {spec.name}", sum(stages) + points) as done:
        weighted = importance_sample(counted(target.log_density, done), start, points, rng, stages)
    stats: dict[str, FloatArray | float] = {"pareto_k": weighted.pareto_k, "importance_ess": weighted.ess}
    facts: dict[str, float] = {"importance_points": len(weighted.points), "importance_stages": weighted.stages}
    notes: tuple[Note, ...] = ()
    if (fault := weights_fault(weighted, points)) is None:
        theta, facts["log_evidence"] = resample(weighted, size, rng), weighted.log_integral
    else:
        notes = (Note("model", model=spec.name, reason=f"scales by NUTS: {fault}"),)
        warn(notes[0], BayesbiasWarning)
        walked, diverging = nuts.walk(target.log_density, weighted.weights @ weighted.points, chains, draws, rng)
        theta, stats = walked.reshape(size, -1), {"diverging": diverging}
    # given the scales all else is normal
    taker = DrawsOfWords(data, size, EFFECTS if spec.terms.word_x_group else EFFECTS[:1], target.mean.mean)
    sums, variances = target.sums, target.variances(theta)
    mu, cells_of = sums.draw_cells(variances, target.mean.sd, data.filled, rng)
    draw_words(cells_of, sums.patterns, sums.groups, variances, data.filled, rng, taker.cells, taker.effects)
    single = {"connection_sd0", "attribute_sd0", "interaction_sd"}
    single |= {"sigma"} if spec.likelihood.sigma == "shared" else set()
    single |= {"attribute_sd"} if spec.terms.attribute_sd == "shared" else set()
    scales = {name: value[:, 0] if name in single else value for name, value in target.scale_values(theta).items()}
    posterior = {"connection_mean": target.mean.mean + mu, **scales}
    by_chain = {name: values.reshape(chains, draws, *values.shape[1:]) for name, values in posterior.items()}
    return taker.into(Draws(by_chain, stats, facts, notes), chains)


def _refuse_constant(target: CrossedTarget, start: FloatArray, data: Distances) -> None:
    """Refuse distances that the means explain wholly: the likelihood then grows without end as sigma goes to 0."""
    place = target.places["sigma"]
    for column in range(place.start, place.stop):
        theta = np.tile(start, (2, 1))
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


def exact_supports(spec: ModelSpec) -> bool:
    """True where this engine can fit a model: nothing ties its connections together."""
    return not spec.crossed and spec.terms.protected_words == "normal" and spec.terms.connection_sd == "separate"


def exact_sample(spec: ModelSpec, data: Distances, chains: int, draws: int, rng: np.random.Generator) -> Draws:
    """Independent draws from the posterior.

    Connections with a sigma of their own are independent of each other; with one sigma for all they share the outer
    grid.
    """
    if spec.related:
        return related.sample(spec, data, chains, draws, rng)
    mean = spec.priors["connection_mean"]
    priors = Priors(mean.mean, mean.sd, spec.priors["sigma"].log_density, spec.priors["connection_sd"].log_density)
    size, connections = chains * draws, len(data.connections)
    mu, s, sigma = np.empty((3, size, connections))
    evidence, outside = 0.0, 0.0
    for block, members, grid in _grids_of(spec, data, priors):
        block_sigma, scales, means = draw_scales(grid, members, priors, size, rng)
        evidence, outside = evidence + grid.log_evidence, max(outside, grid.outside)
        for k, block_s, block_mu in zip(block, scales, means, strict=True):
            mu[:, k], s[:, k], sigma[:, k] = block_mu, block_s, block_sigma
    taker = DrawsOfWords(data, size)
    _draw_words(data, mu, s, sigma, rng, taker)
    of_sigma = sigma if spec.likelihood.sigma == "connection" else sigma[:, 0]
    posterior = {"connection_mean": mu, "connection_sd": s, "sigma": of_sigma}
    by_chain = {name: values.reshape(chains, draws, *values.shape[1:]) for name, values in posterior.items()}
    return taker.into(Draws(by_chain, attrs={"log_evidence": evidence, "grid_mass_outside": outside}), chains)


def _draw_words(
    data: Distances, mu: FloatArray, s: FloatArray, sigma: FloatArray, rng: np.random.Generator, taker: DrawsOfWords
) -> None:
    """Draws of the cells given mu, s and sigma (B, K), a block of protected words at a time."""
    points, connections = mu.shape
    step = max(1, BLOCK_OF_DRAWS // (points * connections))
    begins = range(0, len(data.protected_words), step)
    generators = fast_generators(rng, len(begins))

    def draw(part: slice) -> None:
        for begin, own in zip(begins[part], generators[part], strict=True):
            words = slice(begin, min(begin + step, len(data.protected_words)))
            drawn = np.full((words.stop - words.start, connections, points), np.nan)
            for k in range(connections):
                filled = data.filled[words, k]
                n, mean = data.cells.n[words, k][filled].astype(float), data.cells.mean[words, k][filled]
                drawn[filled, k] = draw_cells(n, mean, sigma[:, k], s[:, k], mu[:, k], own)
            taker.cells(words, drawn)

    in_blocks(draw, len(begins), max(1, -(-len(begins) // PARTS)))


def _grids_of(
    spec: ModelSpec, data: Distances, priors: Priors
) -> Iterator[tuple[list[int], list[Connection], ScaleGrid]]:
    """Connections that share a sigma (each its own, or all one), what the quadrature needs of them, and their grid."""
    every = list(range(len(data.connections)))
    for block in [[k] for k in every] if spec.likelihood.sigma == "connection" else [every]:
        members = []
        for k in block:
            cells, own = data.cells, data.filled[:, k]
            members.append(connection_sums(cells.n[own, k], cells.mean[own, k], cells.ssd[own, k], priors.mean))
        try:
            yield block, members, scale_grid(members, priors)
        except ValueError as error:
            named = ", ".join(data.connections[k] for k in block)
            raise InputError(
                f"the distances of {named} do not vary within protected words, so their spread cannot be estimated: "
                "check that the table holds measured distances"
            ) from error
