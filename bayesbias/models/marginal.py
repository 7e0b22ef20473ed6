"""The marginal engine: crossed models with every Gaussian integrated out, by importance sampling of the scales."""

from __future__ import annotations

import numpy as np

from bayesbias._core.conditionals import draw_gaussians
from bayesbias._core.cosine import FloatArray
from bayesbias.errors import InputError
from bayesbias.models.crossed import CrossedTarget, crossed_target
from bayesbias.models.data import ModelData
from bayesbias.models.draws import Draws, scatter_cells
from bayesbias.models.importance import importance_sample, resample
from bayesbias.models.spec import ModelSpec, Normal

VANISHING = (-12.0, -13.0)
"""Log sigmas, in cosine distance, far below what measured distances have."""
POINTS_PER_DRAW = 2
FEWEST_POINTS = 1024


def obstacle(spec: ModelSpec) -> str | None:
    """Why this engine cannot fit a model, or None."""
    if spec.likelihood.family != "normal":
        return "its residuals are not normal, so that nothing can be integrated out"
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
    found = importance_sample(target.log_density, target.start, points, rng)
    theta = resample(found, size, rng)
    posterior = draw_given_scales(target, data, theta, rng)
    return Draws(
        posterior={name: values.reshape(chains, draws, *values.shape[1:]) for name, values in posterior.items()},
        sample_stats={"pareto_k": found.pareto_k, "importance_ess": found.ess},
        attrs={"log_evidence": found.log_integral, "importance_points": points, "importance_stages": found.stages},
    )


def _refuse_constant(target: CrossedTarget, data: ModelData) -> None:
    """Refuse distances that the means explain wholly: the likelihood then grows without end as sigma goes to 0."""
    place = target.places["sigma"]
    for column in range(place.start, place.stop):
        theta = np.tile(target.start, (2, 1))
        theta[:, column] = VANISHING
        far, near = target.log_density(theta) - target.log_prior(theta)
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
    """Every posterior variable (B, ...) at log scales (B, d)."""
    prior = target.spec.priors["connection_mean"]
    if not isinstance(prior, Normal):
        raise TypeError("connection_mean has a normal prior")
    drawn = draw_gaussians(target.sums, target.scales(theta), prior.sd, data.filled, rng)
    single = {"attribute_sd0", "interaction_sd"}
    single |= {"sigma"} if target.spec.likelihood.sigma == "shared" else set()
    single |= {"attribute_sd"} if target.spec.terms.attribute_sd == "shared" else set()
    scales = {name: np.exp(theta[:, place]) for name, place in target.places.items()}
    values = {
        "connection_mean": prior.mean + drawn.mu,
        "word_mean": scatter_cells(prior.mean + drawn.cells, data.filled),
        **{name: value[:, 0] if name in single else value for name, value in scales.items()},
        "attribute_effect": drawn.attribute,
    }
    return values if drawn.interaction is None else values | {"interaction_effect": drawn.interaction}
