"""The exact engine: independent draws by quadrature over the scales, where connections or their errors come apart."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError
from bayesbias.models import related
from bayesbias.models.spec import ModelSpec, Normal, ScalePrior
from bayesbias.models.tree import Draws, DrawsOfWords
from bayesbias.numerics.arrays import FloatArray, in_blocks
from bayesbias.numerics.conditionals import BLOCK, PARTS, Taker, fast_generators
from bayesbias.numerics.quadrature import (
    Connection,
    Priors,
    ScaleGrid,
    connection_sums,
    draw_cells,
    draw_scales,
    scale_grid,
)


def obstacle(spec: ModelSpec) -> str | None:
    """Reason why this engine cannot fit a model, or None."""
    if spec.terms.protected_words != "normal":
        return "its protected words are not normal around their connection"
    if spec.crossed:
        return "it has effects of attribute words, which tie the connections together"
    if spec.terms.connection_sd == "pooled":
        return "its connection_sd are pooled, which ties the connections together"
    return None


def sample(spec: ModelSpec, data: Distances, chains: int, draws: int, rng: np.random.Generator) -> Draws:
    """Independent draws from the posterior.

    Connections with a sigma of their own are independent of each other; with one sigma for all they share the outer
    grid.
    """
    if spec.related:
        return related.sample(spec, data, chains, draws, rng)
    priors = priors_of(spec)
    size, connections = chains * draws, len(data.connections)
    mu, s, sigma = np.empty((3, size, connections))
    evidence, outside = 0.0, 0.0
    for block, members, grid in grids_of(spec, data, priors):
        grid_draws = draw_scales(grid, members, priors, size, rng)
        evidence, outside = evidence + grid.log_evidence, max(outside, grid.outside)
        for k, block_s, block_mu in zip(block, grid_draws.s, grid_draws.mu, strict=True):
            mu[:, k], s[:, k], sigma[:, k] = block_mu, block_s, grid_draws.sigma
    taker = DrawsOfWords(data, size)
    _draw_words(data, mu, s, sigma, rng, taker)
    of_sigma = sigma if spec.likelihood.sigma == "connection" else sigma[:, 0]
    posterior = {"connection_mean": mu, "connection_sd": s, "sigma": of_sigma}
    by_chain = {name: values.reshape(chains, draws, *values.shape[1:]) for name, values in posterior.items()}
    return taker.into(Draws(by_chain, attrs={"log_evidence": evidence, "grid_mass_outside": outside}), chains)


def _draw_words(
    data: Distances, mu: FloatArray, s: FloatArray, sigma: FloatArray, rng: np.random.Generator, taker: Taker
) -> None:
    """Draws of the cells given mu, s and sigma (B, K), a block of protected words at a time."""
    points, connections = mu.shape
    step = max(1, BLOCK // (points * connections))
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
            taker.cells(words, drawn, part.start)

    in_blocks(draw, len(begins), max(1, -(-len(begins) // PARTS)))


def grids_of(
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


def priors_of(spec: ModelSpec) -> Priors:
    """The priors that the quadrature needs."""
    mean, s, sigma = (spec.priors[name] for name in ("connection_mean", "connection_sd", "sigma"))
    if not isinstance(mean, Normal) or not isinstance(s, ScalePrior) or not isinstance(sigma, ScalePrior):
        raise TypeError("connection_mean has a normal prior, scales have priors of scales")
    return Priors(mean.mean, mean.sd, sigma.log_density, s.log_density)
