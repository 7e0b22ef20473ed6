"""The log posterior of a crossed model in its log scales: the marginal likelihood and the priors."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from bayesbias._core.blocks import in_blocks
from bayesbias._core.cosine import FloatArray
from bayesbias._core.marginal import CrossedSums, crossed_sums, log_likelihood
from bayesbias._core.patterns import Scales
from bayesbias.distances.tables import once
from bayesbias.models.data import ModelData, model_data
from bayesbias.models.spec import ModelSpec, Normal, Pooled, ScalePrior

STARTS = {"connection_sd": -3.0, "sigma": -2.0, "attribute_sd": -2.5, "attribute_sd0": -2.5, "interaction_sd": -3.5}
"""Where the search for the mode begins, in log cosine distance."""
BOUNDS = (-14.0, 4.0)
"""Log scales beyond these are left out: Exponential(2) puts 2e-6 of its mass there, and floating point gives up."""

BLOCK = 512
"""Points that are evaluated at once."""


@dataclass(frozen=True)
class CrossedTarget:
    """A crossed model of a table, as a density of theta: the logs of its scales.

    Attributes
    ----------
    spec
        The model.
    sums
        The table, reduced.
    places
        Scale to its columns of theta, in the order connection_sd, sigma, attribute_sd, attribute_sd0, interaction_sd.
    mean_sd
        Prior sd of each connection mean.
    """

    spec: ModelSpec
    sums: CrossedSums
    places: dict[str, slice]
    mean_sd: float

    @property
    def size(self) -> int:
        """Number of scales."""
        return int(max(place.stop for place in self.places.values()))

    @property
    def start(self) -> FloatArray:
        """Where to begin, (d,)."""
        theta = np.empty(self.size)
        for name, place in self.places.items():
            theta[place] = STARTS[name]
        return theta

    def scales(self, theta: FloatArray) -> Scales:
        """The variances at points (B, d)."""
        variance = {name: np.exp(2 * theta[:, place]) for name, place in self.places.items()}
        k, classes = self.sums.connections, self.sums.classes
        return Scales(
            sigma2=np.broadcast_to(variance["sigma"], (len(theta), k)),
            s2=variance["connection_sd"],
            attribute=np.broadcast_to(variance["attribute_sd"], (len(theta), classes)),
            interaction=variance["interaction_sd"][:, 0] if "interaction_sd" in variance else None,
        )

    def log_prior(self, theta: FloatArray) -> FloatArray:
        """Log prior density (B,) of log scales (B, d)."""
        total = np.zeros(len(theta))
        for name, place in self.places.items():
            prior, value = self.spec.priors[name], theta[:, place]
            if isinstance(prior, Pooled):
                z = (value - theta[:, self.places["attribute_sd0"]]) / prior.spread
                total += (-0.5 * z**2 - np.log(prior.spread) - 0.5 * np.log(2 * np.pi)).sum(axis=1)
            elif isinstance(prior, ScalePrior):
                total += (prior.log_density(np.exp(value)) + value).sum(axis=1)
            else:
                raise TypeError(f"{name} is a scale and needs the prior of one")
        return total

    def log_density(self, theta: FloatArray) -> FloatArray:
        """Log of prior times likelihood, all constants included, at points (B, d); -inf beyond :data:`BOUNDS`."""
        value = np.full(len(theta), -np.inf)

        def evaluate(part: slice) -> None:
            inside = part.start + np.flatnonzero(((theta[part] > BOUNDS[0]) & (theta[part] < BOUNDS[1])).all(axis=1))
            if len(inside):
                kept = theta[inside]
                value[inside] = log_likelihood(self.sums, self.scales(kept), self.mean_sd) + self.log_prior(kept)

        in_blocks(evaluate, len(theta), BLOCK)
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
        kept = once(table, "the table", f"the model {spec.name!r} takes each pair once")
        data = model_data(kept)
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
    if spec.terms.attribute_sd == "pooled":
        sizes["attribute_sd0"] = 1
    if spec.terms.word_x_group:
        sizes["interaction_sd"] = 1
    ends = np.cumsum(list(sizes.values())).tolist()
    places = {name: slice(end - size, end) for (name, size), end in zip(sizes.items(), ends, strict=True)}
    groups = data.group_index if spec.terms.word_x_group else None
    sums = crossed_sums(data.word, data.connection, data.attribute, groups, data.class_index, data.y - mean.mean, k)
    return CrossedTarget(spec, sums, places, mean.sd)
