"""``fit``: a distance table and a model to a posterior."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._checks import whole_number
from bayesbias.errors import InputError
from bayesbias.models.crossed import fit_for_crossed
from bayesbias.models.data import model_data
from bayesbias.models.engines import choose_engine
from bayesbias.models.results import assemble
from bayesbias.models.spec import ModelSpec, load_model


def fit(
    table: pd.DataFrame,
    model: str | Path | ModelSpec = "crossed",
    engine: str = "auto",
    draws: int = 4000,
    chains: int = 4,
    seed: int | None = None,
) -> xr.DataTree:
    """The posterior of a hierarchical model of distances.

    Parameters
    ----------
    table
        A distance table (:func:`distance_table`, :func:`read_distance_table`). The values need only be finite.
    model
        A name that :func:`list_models` shows, the path of a TOML file, or a loaded model.
    engine
        ``"auto"`` takes the fastest engine that is exact for the model; ``"exact"`` (independent draws by
        quadrature), ``"marginal"`` (crossed models: importance sampling of the scales, everything else exact) or
        ``"nuts"`` (PyMC).
    draws
        Draws kept in all, split evenly over ``chains``.
    seed
        Seed of the draws; None takes a fresh one. Either way it is recorded in the result.

    Returns
    -------
    DataTree
        ArviZ groups ``posterior``, ``observed_data``, ``constant_data`` (and ``sample_stats`` from NUTS and the
        marginal engine: ``pareto_k`` and ``importance_ess``). Posterior variables: ``connection_mean``,
        ``connection_sd`` (connection), ``word_mean`` (protected_word, connection), ``sigma`` (connection, or none
        where it is shared); crossed models add ``attribute_effect`` (attribute_word), ``attribute_sd``
        (attribute_class, or none), ``attribute_sd0``, ``interaction_effect`` (attribute_word, group) and
        ``interaction_sd``. All are in cosine distance. A connection without data is absent; a cell without data is
        NaN. The attributes record model, engine, seed, versions and coverage.

        Crossed models take each pair once, so that repeated rows are dropped, and leave out word x group where there
        are not two known groups; :func:`diagnose` says either.

    Raises
    ------
    InputError
        A table that lacks a column, has no row or holds values that are not finite; an unknown model or engine; an
        engine that cannot fit the model; draws that do not split evenly.
    """
    spec = model if isinstance(model, ModelSpec) else load_model(model)
    chosen = choose_engine(spec, engine)
    draws, chains = checked_draws(draws, chains)
    data = model_data(table)
    if spec.crossed:
        spec, data = fit_for_crossed(spec, data, table)
    used = used_seed(seed)
    drawn = chosen.sample(spec, data, chains, draws // chains, np.random.default_rng(used))
    return assemble(spec, data, drawn, chosen.name, used, table.attrs.get("coverage"))


def checked_draws(draws: int, chains: int) -> tuple[int, int]:
    """Draws in all and chains.

    Raises
    ------
    InputError
        Either is no whole number of at least 1, or draws do not split evenly.
    """
    draws, chains = whole_number(draws, "draws"), whole_number(chains, "chains")
    if draws % chains:
        raise InputError(f"draws={draws} do not split evenly over {chains} chains: give a multiple of {chains}")
    return draws, chains


def used_seed(seed: int | None) -> int:
    """The seed that was given, or one from the system's entropy that fits into 63 bits, so that a file can hold it."""
    if seed is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> 1)
    return whole_number(seed, "seed", least=0)
