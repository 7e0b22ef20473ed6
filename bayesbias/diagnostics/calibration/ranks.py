"""``sbc``: ranks of true parameters among posterior draws, which are uniform where an engine is right."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from bayesbias._checks import whole_number
from bayesbias._progress import progress
from bayesbias.diagnostics.calibration.simulation import (
    Shape,
    draw_distances,
    draw_truth,
    known_model,
    table_of_shape,
)
from bayesbias.diagnostics.intervals import flat_draws
from bayesbias.models.data import model_data
from bayesbias.models.fitting import fit, related_data
from bayesbias.models.spec import ModelSpec


@dataclass(frozen=True)
class Ranks:
    """Ranks of the truth, uniform on 0..draws where the engine is right.

    Attributes
    ----------
    model, engine, draws
        What was tested, and the draws of each fit.
    ranks
        Variable to ranks (replicates, parameters).
    pareto_k
        Largest Pareto k of all fits; None where the engine has none.
    """

    model: str
    engine: str
    draws: int
    ranks: dict[str, NDArray[np.intp]]
    pareto_k: float | None

    def __str__(self) -> str:
        table = self.uniformity
        k = "" if self.pareto_k is None else f"; largest Pareto k {self.pareto_k:.2f}"
        return (
            f"Ranks of the truth by {self.engine} under {self.model}: {len(next(iter(self.ranks.values()))):,} tables, "
            f"{len(table)} parameters, smallest p-value of uniformity {table['p_value'].min():.2g} "
            f"(the smallest of so many is below {0.05 / len(table):.1g} in 5% of right engines){k}."
        )

    __repr__ = __str__

    @property
    def uniformity(self) -> pd.DataFrame:
        """Kolmogorov-Smirnov tests of uniformity: ``parameter``, ``place``, ``p_value``, ``last_5_percent``."""
        rows = [
            (name, place, stats.kstest((column + 0.5) / (self.draws + 1), "uniform").pvalue, (column >= last).mean())
            for last in [0.95 * (self.draws + 1)]
            for name, values in self.ranks.items()
            for place, column in enumerate(values.T)
        ]
        return pd.DataFrame(rows, columns=["parameter", "place", "p_value", "last_5_percent"])


def sbc(
    model: str | Path | ModelSpec,
    shape: Shape,
    replicates: int = 1000,
    engine: str = "auto",
    seed: int = 0,
    draws: int = 199,
) -> Ranks:
    """Simulation-based calibration: parameters from the prior, a table from them, ranks in the posterior.

    Parameters
    ----------
    model
        The model, both for simulation and for the fit.
    shape
        As in :func:`simulate`.
    replicates
        How many tables to simulate and fit.
    engine
        The engine under test.
    seed
        Seed of parameters, distances and fits.
    draws
        Posterior draws of each fit.

    References
    ----------
    Talts, S. et al. (2018). Validating Bayesian inference algorithms with simulation-based calibration.
    https://doi.org/10.48550/arXiv.1804.06788
    """
    spec = known_model(model)
    table = table_of_shape(shape)
    data = related_data(table, check=False) if spec.related else model_data(table)
    rng = np.random.default_rng(seed)
    ranks: dict[str, list[NDArray[np.intp]]] = {}
    used, worst = engine, None
    with progress("simulation-based calibration", whole_number(replicates, "replicates")) as done:
        for at in range(replicates):
            truth = draw_truth(spec, data, rng)
            simulated = table.assign(distance=draw_distances(spec, truth, data, rng))
            simulated.attrs["truth"] = "simulated"
            post = fit(simulated, spec, engine=engine, draws=draws, chains=1, seed=int(rng.integers(2**31)))
            used = str(post.attrs["engine"])
            if "sample_stats" in post.children and "pareto_k" in post["sample_stats"]:
                worst = max(worst or 0.0, float(post["sample_stats/pareto_k"]))
            for name, true in truth.items():
                drawn = flat_draws(post["posterior"][name].to_numpy()).reshape(draws, -1)
                present = ~np.isnan(np.ravel(true))
                below = (drawn[:, present] < np.ravel(true)[present]).sum(axis=0)
                ranks.setdefault(name, []).append(below)
            done(at + 1)
    return Ranks(spec.name, used, draws, {name: np.array(values) for name, values in ranks.items()}, worst)
