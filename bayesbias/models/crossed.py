"""The posterior of a crossed model's scales: the marginal likelihood, and coordinates in which the prior is normal."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from bayesbias._core.cosine import FloatArray
from bayesbias._core.dense import DenseSums, dense_log_likelihood, dense_sums
from bayesbias._core.marginal import CrossedSums, crossed_sums, pattern_log_likelihood
from bayesbias._core.patterns import Scales, find_patterns
from bayesbias.distances.tables import once
from bayesbias.models.data import ModelData, model_data
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
