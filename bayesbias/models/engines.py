"""The engines by name, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bayesbias.errors import InputError
from bayesbias.models import exact, marginal, pymc
from bayesbias.models.data import ModelData
from bayesbias.models.draws import Draws
from bayesbias.models.spec import ModelSpec


@dataclass(frozen=True)
class Engine:
    """A way to draw from a posterior.

    Attributes
    ----------
    name
        What ``fit(engine=...)`` takes.
    obstacle
        Specification to the reason why this engine cannot fit it, or None.
    sample
        Specification, data, chains, draws in each chain and a generator to draws.
    """

    name: str
    obstacle: Callable[[ModelSpec], str | None]
    sample: Callable[[ModelSpec, ModelData, int, int, np.random.Generator], Draws]


ENGINES = (
    Engine("exact", exact.obstacle, exact.sample),
    Engine("marginal", marginal.obstacle, marginal.sample),
    Engine("nuts", pymc.obstacle, pymc.sample),
)
"""The fastest first: ``auto`` takes the first that can fit the model."""


def engines_for(spec: ModelSpec) -> list[str]:
    """Names of the engines that can fit a model, the fastest first."""
    return [engine.name for engine in ENGINES if engine.obstacle(spec) is None]


def choose_engine(spec: ModelSpec, name: str) -> Engine:
    """The engine of that name, or for ``"auto"`` the fastest that can fit the model.

    Raises
    ------
    InputError
        No such engine, or one that cannot fit the model.
    """
    able = engines_for(spec)
    wanted = able[0] if name == "auto" else name
    engine = next((engine for engine in ENGINES if engine.name == wanted), None)
    if engine is None:
        valid = ", ".join(["auto", *(engine.name for engine in ENGINES)])
        raise InputError(f"there is no engine {name!r}: valid are {valid}")
    if (reason := engine.obstacle(spec)) is not None:
        raise InputError(
            f"the engine {name!r} cannot fit the model {spec.name!r}: {reason}; use {' or '.join(['auto', *able])}"
        )
    return engine
