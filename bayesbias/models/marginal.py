"""The marginal engine: crossed models with every Gaussian integrated out, by importance sampling of the scales."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesbias._core.cells import Scales, find_patterns
from bayesbias._core.conditionals import draw_gaussians
from bayesbias._core.marginal import (
    CrossedSums,
    DenseSums,
    crossed_sums,
    dense_log_likelihood,
    dense_sums,
    pattern_log_likelihood,
)
from bayesbias._core.vectors import FloatArray
from bayesbias._progress import in_notebook, progress
from bayesbias.distances.tables import once
from bayesbias.errors import InputError
from bayesbias.models.data import Draws, ModelData, model_data, scatter_cells
from bayesbias.models.importance import (
    MAX_PARETO_K,
    STAGES,
    Density,
    WeightedPoints,
    importance_sample,
    resample,
    slope,
)
from bayesbias.models.priors import Normal, Pooled, ScalePrior, common_of
from bayesbias.models.spec import ModelSpec

BOUNDS = (-5.0, 5.5)
"""Coordinates beyond these, with 3e-7 of the prior's mass, are left out: scales below 1e-7 are lost to rounding."""
START = np.linspace(-2.4, 1.6, 6)
"""Coordinates of scales from which the search for the mode begins: .004 to 1.5 under an Exponential(2) prior."""
MOST_EFFECTS = 100
"""Mean effects of patterns up to which patterns are faster than the dense factor."""


@dataclass(frozen=True)
class CrossedTarget:
    """A crossed model of a table, as a density of theta: coordinates of its scales with a standard normal prior.

    Whether the data or the prior rule a scale, its coordinate is close to normal, which log scales are not.

    Attributes
    ----------
    spec
        The model.
    sums
        The table, reduced.
    places
        Scale to its columns of theta; the common scale of pooled ones comes after them.
    mean
        Prior of each connection mean.
    """

    spec: ModelSpec
    sums: CrossedSums | DenseSums
    places: dict[str, slice]
    mean: Normal

    @property
    def size(self) -> int:
        """Number of scales."""
        return int(max(place.stop for place in self.places.values()))

    @property
    def start(self) -> FloatArray:
        """Where to begin, (d,): the most probable of a few sigmas beside a few values of all other scales."""
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
        variance = {name: value**2 for name, value in self.scale_values(theta).items()}
        k, classes = self.sums.connections, self.sums.classes
        return Scales(
            sigma2=np.broadcast_to(variance["sigma"], (len(theta), k)),
            s2=variance["connection_sd"],
            attribute=np.broadcast_to(variance["attribute_sd"], (len(theta), classes)),
            interaction=variance["interaction_sd"][:, 0] if "interaction_sd" in variance else None,
        )

    def log_prior(self, theta: FloatArray) -> FloatArray:
        """Log prior density (B,) at points (B, d)."""
        value: FloatArray = -0.5 * ((theta**2).sum(axis=1) + self.size * np.log(2 * np.pi))
        return value

    def log_density(self, theta: FloatArray) -> FloatArray:
        """Log of prior times likelihood, all constants included, at points (B, d); -inf beyond :data:`BOUNDS`."""
        value = np.full(len(theta), -np.inf)
        inside = np.flatnonzero(((theta > BOUNDS[0]) & (theta < BOUNDS[1])).all(axis=1))
        if len(inside):
            kept = theta[inside]
            likelihood = marginal_log_likelihood(self.sums, self.variances(kept), self.mean.sd)
            value[inside] = likelihood + self.log_prior(kept)
        return value


def fit_for_crossed(spec: ModelSpec, data: ModelData, table: pd.DataFrame) -> tuple[ModelSpec, ModelData]:
    """The model and the table as far as they go together: each pair once, word x group only between known groups.

    Raises
    ------
    InputError
        A pair has two distances.
    """
    notes = []
    pairs = len(np.unique(data.word * len(data.attribute_words) + data.attribute))
    if pairs < len(data.y):
        notes.append(f"{len(data.y) - pairs:,} of {len(data.y):,} rows repeat a pair and were dropped.")
        kept = once(table.assign(distance=data.y), "the table", f"the model {spec.name!r} takes each pair once")
        data = replace(model_data(kept), relatedness=data.relatedness)
    if spec.terms.word_x_group and (len(data.group_names) < 2 or "" in data.group_names):
        reason = "there is one group only" if len(data.group_names) < 2 else "the groups of some words are not known"
        reason = "the groups of protected words are not known" if data.group_names == [""] else reason
        notes.append(f"Word x group was left out, since {reason}.")
        spec = replace(spec, terms=spec.terms.model_copy(update={"word_x_group": False}))
    return spec, replace(data, notes=tuple(notes))


def crossed_target(spec: ModelSpec, data: ModelData) -> CrossedTarget:
    """The density of a crossed model with normal residuals; no pair of the table repeats."""
    mean = spec.priors["connection_mean"]
    if not isinstance(mean, Normal):
        raise TypeError("connection_mean has a normal prior")
    k, classes = len(data.connections), len(data.attribute_classes)
    sizes = {"connection_sd": k, "sigma": k if spec.likelihood.sigma == "connection" else 1}
    sizes["attribute_sd"] = 1 if spec.terms.attribute_sd == "shared" else classes
    sizes |= {common_of(name): 1 for name in sizes if isinstance(spec.priors[name], Pooled)}
    if spec.terms.word_x_group:
        sizes["interaction_sd"] = 1
    ends = np.cumsum(list(sizes.values())).tolist()
    places = {name: slice(end - size, end) for (name, size), end in zip(sizes.items(), ends, strict=True)}
    return CrossedTarget(spec, reduced(data, mean.mean, spec.terms.word_x_group), places, mean)


def reduced(data: ModelData, centre: float, by_group: bool) -> CrossedSums | DenseSums:
    """A table's sums: by patterns of attribute words where these are few, dense where holes make them many."""
    groups = data.group_index if by_group else np.zeros(len(data.protected_words), dtype=np.intp)
    rows = (data.word, data.connection, data.attribute, groups, data.class_index, data.y - centre)
    k = len(data.connections)
    patterns, blocks = find_patterns(*rows, k)
    effects = sum(1 + by_group * len(p.groups) for p in patterns)
    if effects > MOST_EFFECTS:
        return dense_sums(patterns, data.filled, *rows)
    return crossed_sums(patterns, blocks, groups, k, by_group)


def marginal_log_likelihood(sums: CrossedSums | DenseSums, scales: Scales, prior_sd: float) -> FloatArray:
    """Log marginal likelihood (B,) of the distances at scales, constants included."""
    if isinstance(sums, DenseSums):
        return dense_log_likelihood(sums, scales, prior_sd)
    return pattern_log_likelihood(sums, scales, prior_sd)


TUNE = 1000
TARGET_ACCEPT = 0.95
NOWHERE = -1e12
"""The log density of points that have none, so that a step there counts as divergent."""


def walk(
    log_density: Density, start: FloatArray, chains: int, draws: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draws (chains, draws, d) of a density by nutpie's NUTS, and which transitions diverged (chains, draws).

    Gradients are central differences, all points of one in one batch.
    """
    import nutpie
    from nutpie.compiled_pyfunc import from_pyfunc

    size = len(start)

    def value_and_slope(theta: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = slope(log_density, theta)
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            return NOWHERE, np.zeros(size)
        return value, gradient

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
