"""The models in PyMC, sampled with NUTS."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias._support.files import to_json
from bayesbias._support.progress import in_notebook, quiet
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError
from bayesbias.models import related
from bayesbias.models.spec import ModelSpec
from bayesbias.models.tree import Draws
from bayesbias.numerics.arrays import FloatArray

if TYPE_CHECKING:
    import pymc
    import xarray as xr


TUNE = 1000
TARGET_ACCEPT = 0.95
SLOPE_STEP = 1e-4
NOWHERE = -1e12  # the log density of points that have none, so that a step there counts as divergent
BACKTRACE = re.compile(r"\n\W*(?:stack )?(?:backtrace|traceback)\b", re.IGNORECASE)


def walk(
    log_density: Callable[[FloatArray], FloatArray],
    start: FloatArray,
    chains: int,
    draws: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Draws (chains, draws, d) of a log density by nutpie's NUTS, and which transitions diverged (chains, draws).

    Gradients are central differences, all points of one in one batch.
    """
    import nutpie
    from nutpie.compiled_pyfunc import from_pyfunc

    size = len(start)
    steps = SLOPE_STEP * np.vstack([np.zeros(size), np.eye(size), -np.eye(size)])

    def value_and_slope(theta: FloatArray) -> tuple[float, FloatArray]:
        value, *around = log_density(theta + steps)
        with np.errstate(invalid="ignore"):  # beyond the bounds there is no slope
            gradient = np.subtract(around[:size], around[size:]) / (2 * SLOPE_STEP)
        finite = np.isfinite(value) and np.isfinite(gradient).all()
        return (float(value), gradient) if finite else (NOWHERE, np.zeros(size))

    model = from_pyfunc(
        size,
        lambda: value_and_slope,
        lambda *_: lambda theta, **__: {"theta": np.asarray(theta)},
        [np.dtype("float64")],
        [(size,)],
        ["theta"],
        make_initial_point_fn=lambda _: start,
    )
    seed, shown = int(rng.integers(2**31)), sys.stderr.isatty() or in_notebook()
    how: dict[str, Any] = {"tune": TUNE, "target_accept": TARGET_ACCEPT, "progress_bar": shown}
    trace: Any = nutpie.sample(model, draws=draws, chains=chains, cores=1, seed=seed, **how)
    return trace["posterior/theta"].to_numpy(), trace["sample_stats/diverging"].to_numpy()


def sample(
    spec: ModelSpec,
    data: Distances,
    chains: int,
    draws: int,
    rng: np.random.Generator,
    options: Mapping[str, Any] | None = None,
) -> Draws:
    """Draws by NUTS, after ``TUNE`` steps of adaptation in each chain; ``options`` are those of ``pymc.sample``.

    In the model of related words nothing flows back from the parameters of the population, which are drawn given the
    means of words.
    """
    from bayesbias.models.builder import of_cells, of_rows

    if spec.related:
        sums = related.related_sums(data)
        drawn, stats, facts = run_nuts(of_cells(spec, data, sums), chains, draws, rng, options)
        means, factors = (drawn[name].reshape(-1, *drawn[name].shape[2:]) for name in ("word_mean", "sd_factor"))
        population = related.further_words(spec, sums, data)
        facts |= related.independent_words(sums, data)
        posterior = related.completed(population, means, factors, data, chains, rng)
    else:
        model, start = of_rows(spec, data)
        posterior, stats, facts = run_nuts(model, chains, draws, rng, options, start)
    for name, present in (("word_mean", data.filled), ("interaction_effect", data.compared)):
        if name in posterior:
            posterior[name] = np.where(present, posterior[name], np.nan)
    return Draws(posterior, stats, facts)


def trace_of(
    model: pymc.Model,
    chains: int,
    draws: int,
    rng: np.random.Generator,
    options: Mapping[str, Any] | None = None,
    start: Mapping[str, FloatArray] | None = None,
) -> tuple[xr.DataTree, dict[str, str]]:
    """The tree that PyMC returns for a model, by nutpie where it is installed, and the attributes of a fit on it."""
    import pymc
    from pytensor import config

    progressbar = sys.stderr.isatty() or in_notebook()
    how: dict[str, Any] = {
        "tune": TUNE,
        "cores": min(chains, os.cpu_count() or 1),
        "target_accept": TARGET_ACCEPT,
        "nuts_sampler": "nutpie" if importlib.util.find_spec("nutpie") else "pymc",
        "progressbar": progressbar,
        "quiet": not progressbar,
        **({} if start is None else {"initvals": start}),
        **(options or {}),
    }
    if "max_treedepth" in how:
        how["nuts"] = {"max_treedepth": how.pop("max_treedepth")}
    # sums that the compiler may reorder round by what its cache holds, and so by what was fitted before
    with model, quiet("pymc"), config.change_flags(numba__fastmath=False):
        try:
            trace: Any = pymc.sample(draws=draws, chains=chains, random_seed=int(rng.integers(2**31)), **how)
        except Exception as error:  # of options and models that may come from anywhere
            reason = BACKTRACE.split(str(error), 1)[0].strip()
            raise InputError(f"pymc.sample failed: {type(error).__name__}: {reason}") from error
    facts = {"sampler": how["nuts_sampler"]}
    if options:
        facts["sampler_options"] = to_json({name: str(value) for name, value in options.items()})
    return trace, facts


def run_nuts(
    model: pymc.Model,
    chains: int,
    draws: int,
    rng: np.random.Generator,
    options: Mapping[str, Any] | None = None,
    start: Mapping[str, FloatArray] | None = None,
) -> tuple[dict[str, FloatArray], dict[str, FloatArray], dict[str, Any]]:
    """Variables and statistics of the sampler, (chain, draw, ...) each, and facts on what drew them."""
    trace, facts = trace_of(model, chains, draws, rng, options, start)
    posterior, stats = trace["posterior"].dataset, trace["sample_stats"].dataset
    names = [name for name in ("diverging", "energy", "tree_depth", "n_steps") if name in stats]
    return (
        {str(name): posterior[name].to_numpy() for name in posterior.data_vars},
        {name: stats[name].to_numpy() for name in names},
        facts,
    )
