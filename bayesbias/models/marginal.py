"""The marginal engine: crossed models with every Gaussian integrated out, by importance sampling of the scales."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bayesbias._core.conditionals import draw_gaussians
from bayesbias._core.cosine import FloatArray
from bayesbias._progress import progress
from bayesbias.errors import InputError
from bayesbias.models.crossed import CrossedTarget, crossed_target
from bayesbias.models.data import ModelData
from bayesbias.models.draws import Draws, scatter_cells
from bayesbias.models.importance import MAX_PARETO_K, STAGES, Density, WeightedPoints, importance_sample, resample
from bayesbias.models.spec import ModelSpec
from bayesbias.models.walking import walk

VANISHING = (-4.6, -4.8)
"""Coordinates of sigmas, 1.1e-6 and 4e-7 under an Exponential(2) prior, far below what measured distances have."""
POINTS_PER_DRAW = 2
FEWEST_POINTS = 1024
LEAST_ESS_SHARE = 0.05
"""Effective points, as a share of those asked for, below which NUTS takes over."""
PACKAGE = str(Path(__file__).parents[1])


def obstacle(spec: ModelSpec) -> str | None:
    """Why this engine cannot fit a model, or None."""
    if spec.likelihood.family != "normal":
        return "its residuals are not normal, so that nothing can be integrated out"
    if spec.terms.protected_words != "normal":
        return "its protected words are not normal around their connection"
    if not spec.crossed:
        return "it has no effects of attribute words"
    return "it has a common intercept" if spec.terms.intercept else None


def sample(spec: ModelSpec, data: ModelData, chains: int, draws: int, rng: np.random.Generator) -> Draws:
    """Draws by importance sampling of the scales, then exact Gaussian draws of everything else.

    Raises
    ------
    InputError
        The distances of a connection do not vary, so that its sigma has no posterior.
    """
    target = crossed_target(spec, data)
    _refuse_constant(target, data)
    size = chains * draws
    points = 2 ** int(np.ceil(np.log2(max(POINTS_PER_DRAW * size, FEWEST_POINTS))))
    with progress(f"fitting {spec.name}", sum(STAGES) + points) as done:
        found = importance_sample(_counted(target.log_density, done), target.start, points, rng)
    notes: tuple[str, ...] = ()
    attrs = {
        "importance_points": len(found.points),
        "importance_stages": found.stages,
        "log_evidence": found.log_integral,
    }
    stats: dict[str, FloatArray | float] = {"pareto_k": found.pareto_k, "importance_ess": found.ess}
    if (fault := weights_fault(found, points)) is not None:
        notes = (f"{fault} after {found.stages} stages: the scales were drawn by NUTS on the same marginal posterior.",)
        warnings.warn(notes[0], UserWarning, skip_file_prefixes=(PACKAGE,))
        walked, diverging = walk(target.log_density, found.weights @ found.points, chains, draws, rng)
        theta, stats = walked.reshape(size, -1), {"diverging": diverging}
        del attrs["log_evidence"]  # it rests on the weights
    else:
        theta = resample(found, size, rng)
    posterior = draw_given_scales(target, data, theta, rng)
    return Draws(
        posterior={name: values.reshape(chains, draws, *values.shape[1:]) for name, values in posterior.items()},
        sample_stats=stats,
        attrs=attrs,
        notes=notes,
    )


def weights_fault(found: WeightedPoints, points: int) -> str | None:
    """Why the weights cannot be trusted, or None."""
    if found.pareto_k > MAX_PARETO_K:
        return f"Pareto k of the importance weights was {found.pareto_k:.2f}, above {MAX_PARETO_K},"
    if found.ess < LEAST_ESS_SHARE * points:
        return f"The importance weights were worth {found.ess:.0f} points of {len(found.points):,}"
    return None


def _counted(log_density: Density, done: Callable[[float], None]) -> Density:
    """A density that tells how many points it has been asked for."""
    asked = 0

    def density(points: FloatArray) -> FloatArray:
        nonlocal asked
        asked += len(points)
        done(asked)
        return log_density(points)

    return density


def _refuse_constant(target: CrossedTarget, data: ModelData) -> None:
    """Refuse distances that the means explain wholly: the likelihood then grows without end as sigma goes to 0."""
    place = target.places["sigma"]
    for column in range(place.start, place.stop):
        theta = np.tile(target.start, (2, 1))
        theta[:, column] = VANISHING
        far, near = target.log_density(theta) + 0.5 * theta[:, column] ** 2
        if near > far + 0.5:
            own = target.spec.likelihood.sigma == "connection"
            named = data.connections[column - place.start] if own else ", ".join(data.connections)
            raise InputError(
                f"the distances of {named} do not vary beyond their means, so their spread cannot be estimated: "
                "check that the table holds measured distances"
            )


def draw_given_scales(
    target: CrossedTarget, data: ModelData, theta: FloatArray, rng: np.random.Generator
) -> dict[str, FloatArray]:
    """Every posterior variable (B, ...) at points theta (B, d)."""
    prior = target.mean
    drawn = draw_gaussians(target.sums, target.variances(theta), prior.sd, data.filled, rng)
    single = {"connection_sd0", "attribute_sd0", "interaction_sd"}
    single |= {"sigma"} if target.spec.likelihood.sigma == "shared" else set()
    single |= {"attribute_sd"} if target.spec.terms.attribute_sd == "shared" else set()
    values = {
        "connection_mean": prior.mean + drawn.mu,
        "word_mean": scatter_cells(prior.mean + drawn.cells, data.filled),
        **{name: value[:, 0] if name in single else value for name, value in target.scale_values(theta).items()},
        "attribute_effect": drawn.attribute,
    }
    return values if drawn.interaction is None else values | {"interaction_effect": drawn.interaction}
