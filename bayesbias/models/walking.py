"""NUTS on a marginal posterior of a few scales, for tables on which importance sampling fails."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from bayesbias._core.cosine import FloatArray
from bayesbias._progress import in_notebook
from bayesbias.models.importance import Density, slope

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
