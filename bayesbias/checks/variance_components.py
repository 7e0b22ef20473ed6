"""Variance components of scores with crossed and nested facets: exact draws given the standard deviations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import ndtri

from bayesbias._support.files import to_json
from bayesbias._support.progress import counted, progress
from bayesbias.checks.convergence import judged
from bayesbias.checks.summaries import describe, flat_draws
from bayesbias.errors import InputError
from bayesbias.models.fits import checked_draws, used_seed
from bayesbias.models.spec import Exponential
from bayesbias.models.tree import versions_of
from bayesbias.numerics.arrays import FloatArray
from bayesbias.numerics.quadrature import STAGES, importance_sample, points_for, resample
from bayesbias.numerics.statistics import Component as Axes
from bayesbias.numerics.statistics import FacetSums, facet_sums
from bayesbias.results import Note

PRIOR = Exponential(distribution="exponential", rate=2.0)  # of every standard deviation, in units of the numbers' own
UNIT = Exponential(distribution="exponential", rate=1.0)
FEWEST_POINTS = 4096
LEAST_SD = 0.01
"""Standard deviation from which the search for the mode begins where the analysis of variance gives less."""
NOTHING_LEFT = 1e-20  # share of the residual in the sum of squares that is rounding and no more
MARGINAL = "marginal"  # the engine, as a tree names it
STEPS = ("chain", "draw", "component")

type Components = tuple[frozenset[str], ...]
"""Facets of each component."""


@dataclass(frozen=True)
class Layout:
    """Facets of an array, and their effects."""

    facets: tuple[str, ...]  # names of its axes
    without: tuple[str, ...] = ()  # facets whose own effect has been taken out: the array says nothing of it
    # a facet, and after it those within whose combinations its levels stand: level 0 of it is another thing in each
    nested: tuple[str, ...] = ()

    @property
    def components(self) -> Components:
        """Sets of facets with an effect, the residual last."""
        facets, nested = self.facets, frozenset(self.nested)
        sets = (frozenset(chosen) for size in range(1, len(facets)) for chosen in combinations(facets, size))
        components = dict.fromkeys(one | nested if self.nested and self.nested[0] in one else one for one in sets)
        gone = {frozenset(facets), *(frozenset([name]) for name in self.without)}
        return (*(component for component in components if component not in gone), frozenset(facets))

    def axes(self, component: frozenset[str]) -> Axes:
        return tuple(axis for axis, name in enumerate(self.facets) if name in component)

    def degrees(self, component: frozenset[str], shape: tuple[int, ...]) -> tuple[float, float]:
        """Degrees of freedom of a component, and how many numbers share each of its effects."""
        axes = self.axes(component)
        # an effect has mean 0 along all axes but those within which a nested facet stands
        within = self.nested[1:] if component & {*self.nested[:1]} else ()
        freedom = np.prod([shape[axis] - (self.facets[axis] not in within) for axis in axes])
        return float(freedom), float(np.prod([size for axis, size in enumerate(shape) if axis not in axes]))

    def label(self, component: frozenset[str]) -> str:
        return " x ".join(self.facets[axis] for axis in self.axes(component))


def draw_components(
    y: FloatArray,
    layout: Layout,
    draws: int = 4000,
    chains: int = 4,
    seed: int | None = 0,
    unit: float = 1.0,
) -> tuple[xr.DataTree, tuple[Note, ...]]:
    """Posterior of the variance components of an array, and faults of the draws.

    The array has the standard deviation 1, one axis a facet and no gaps. The group ``posterior`` has, times a ``unit``,
    ``component_sd`` (chain, draw, component), of levels like the observed ones, and ``finite_population_sd``, of what
    these add in the mean over the levels of the other facets (Gelman 2005, https://doi.org/10.1214/009053604000001048).
    With few levels the first rests on its prior, the second does not.
    """
    draws, chains = checked_draws(draws, chains)
    seed_used = used_seed(seed)
    rng = np.random.default_rng(seed_used)
    components = layout.components
    nested = tuple(layout.facets.index(name) for name in layout.nested)
    sums = facet_sums(y, [layout.axes(component) for component in components], nested)
    drawn, finite_population, stats, faults = draw_exactly(sums, chains, draws // chains, rng)
    freedom, shared_by = zip(*(layout.degrees(component, y.shape) for component in components), strict=True)
    steps = {"chain": np.arange(chains), "draw": np.arange(draws // chains)}
    labels = {"component": [layout.label(component) for component in components]}
    sds = {"component_sd": drawn, "finite_population_sd": finite_population}
    tree = xr.DataTree.from_dict(
        {
            "/posterior": xr.Dataset({name: (STEPS, unit * each) for name, each in sds.items()}, steps | labels),
            "/sample_stats": xr.Dataset(
                {name: (STEPS[: np.ndim(value)], value) for name, value in stats.items()}, steps
            ),
            "/observed_data": xr.Dataset({"y": (layout.facets, y)}),
            "/constant_data": xr.Dataset(
                {"freedom": ("component", list(freedom)), "shared_by": ("component", list(shared_by))}, labels
            ),
        }
    )
    tree.attrs = {"engine": MARGINAL, "seed": seed_used, "versions": to_json(versions_of(MARGINAL))}
    return tree, faults


def draw_sds(
    log_likelihood: Callable[[FloatArray], FloatArray],
    prior_means: FloatArray,
    guess: FloatArray,
    chains: int,
    draws: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, dict[str, Any], tuple[Note, ...]]:
    """Standard deviations (chain, draw, k) with exponential priors, figures of their sampler, and faults.

    Importance sampling from the mode, looked for from a ``guess`` (k,) on, in coordinates with a standard normal prior.
    """

    def log_density(theta: FloatArray) -> FloatArray:
        return log_likelihood(prior_means * UNIT.from_normal(theta)) - 0.5 * (theta**2).sum(axis=1)

    start: FloatArray = -ndtri(np.exp(-guess / prior_means)).astype(np.float64)
    size = chains * draws
    points = points_for(size, FEWEST_POINTS)
    with progress("drawing standard deviations", sum(STAGES) + points) as done:
        sampled = importance_sample(counted(log_density, done), start, points, rng)
    theta = resample(sampled, size, rng).reshape(chains, draws, -1)
    stats = {"pareto_k": sampled.pareto_k, "importance_ess": sampled.ess}
    return prior_means * UNIT.from_normal(theta), stats, judged(ess=sampled.ess, pareto_k=sampled.pareto_k)


def draw_exactly(
    sums: FacetSums, chains: int, draws: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, dict[str, Any], tuple[Note, ...]]:
    """Standard deviations (chain, draw, component), the same of the observed levels, and as :func:`draw_sds`.

    The sums of squares hold all that a complete array says.
    """
    if sums.squares[-1] <= NOTHING_LEFT * sums.squares.sum():
        raise InputError("nothing is left over but effects of fewer facets: look for levels that repeat each other")
    # the search for the mode starts from the estimates of the analysis of variance
    guess = np.sqrt(np.maximum(sums.estimates(), LEAST_SD**2))
    means = np.full(len(guess), 1 / PRIOR.rate)
    sds, stats, faults = draw_sds(lambda sds: sums.log_likelihood(sds**2), means, guess, chains, draws, rng)
    finite_population = np.sqrt(sums.finite_population(sds.reshape(chains * draws, -1) ** 2, rng)).reshape(sds.shape)
    return sds, finite_population, stats, faults


def component_table(tree: xr.DataTree, prob: float, finite_population: bool = False) -> pd.DataFrame:
    """Each component's standard deviation and share of the variance, with intervals.

    ``finite_population`` describes the observed levels, with shares of the sum of squares, and adds ``population_sd``,
    ``population_low`` and ``population_high`` of levels like them.
    """
    like = flat_draws(tree["posterior/component_sd"].to_numpy())
    drawn = flat_draws(tree["posterior/finite_population_sd"].to_numpy()) if finite_population else like
    constant = tree["constant_data"]
    weight = (constant["freedom"] * constant["shared_by"]).to_numpy() if finite_population else 1.0
    parts = drawn**2 * weight
    described = {"sd": drawn, "share": parts / parts.sum(axis=1, keepdims=True), "population_sd": like}
    columns = {"component": tree["posterior/component"].to_numpy()}
    for name, draws in described.items():
        ends, prefix = describe(draws, prob), name.removesuffix("sd")
        prefix = "share_" if name == "share" else prefix
        columns |= {name: ends["mean"], f"{prefix}low": ends["low"], f"{prefix}high": ends["high"]}
    table = pd.DataFrame(columns)
    return table if finite_population else table.iloc[:, :7]
