"""``compare``: the same pairs in several embeddings, in one model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from bayesbias._checks import one_of
from bayesbias._progress import progress
from bayesbias.comparison.paired.draws import LEVELS_MODEL, by_differences, by_nuts
from bayesbias.comparison.paired.matching import Case, match
from bayesbias.comparison.paired.results import Comparison
from bayesbias.comparison.paired.trees import comparison_tree
from bayesbias.errors import InputError
from bayesbias.models.fitting import checked_draws, used_seed
from bayesbias.models.spec import ModelSpec, Normal, load_model

ENGINES = ("auto", "marginal", "nuts")


def compare(
    tables: Mapping[str, pd.DataFrame] | None = None,
    *,
    before: pd.DataFrame | None = None,
    after: pd.DataFrame | None = None,
    model: str | Path | ModelSpec = "change",
    engine: str = "auto",
    draws: int = 4000,
    chains: int = 4,
    seed: int | None = None,
    case: Case = "as-is",
) -> Comparison:
    """What changed between embeddings, from distances of the same pairs.

    The same words are measured in each embedding, so that most of what makes a single contrast uncertain cancels in
    its change. Differences of paired distances follow a crossed model again, which is fitted by the marginal engine;
    what the first embedding's distances do not share with the change is fitted beside it, and taken for independent.

    Parameters
    ----------
    tables
        Names to distance tables of two embeddings or more; or
    before, after
        the distance tables of two, such as before and after :func:`debias`.
    model
        The model of changes: a name, the path of a TOML file or a loaded model. ``"change"`` is ``"crossed"`` around 0,
        with scales of the size of changes.
    engine
        ``"auto"`` and ``"marginal"`` fit differences, for each pair of embeddings; ``"nuts"`` fits all embeddings at
        once, with a covariance between them at every level (LKJ priors), in minutes.
    draws, chains, seed
        As in :func:`fit`.
    case
        ``"fallback"`` matches words that differ in capital letters only.

    Returns
    -------
    Comparison
        Pairs that some table lacks are left out; :attr:`Comparison.notes` says how many. Repeated pairs count once.

    Raises
    ------
    InputError
        Tables that share no pair, a single table, one that is no distance table, an unknown model or engine.
    """
    matched = match(_tables(tables, before, after), case)
    one_of(engine, ENGINES, "engine")
    spec = model if isinstance(model, ModelSpec) else load_model(model)
    centre = spec.priors.get("connection_mean")
    if not isinstance(centre, Normal) or centre.mean != 0:
        raise InputError(
            f"the model {spec.name!r} is one of distances: a model of changes has a connection_mean around 0, as "
            "'change' has (copy its file to change a prior)"
        )
    draws, chains = checked_draws(draws, chains)
    used = used_seed(seed)
    joint = None
    if engine == "nuts":
        changes, joint = by_nuts(matched, (load_model(LEVELS_MODEL), spec), draws, chains, used)
    else:
        total = len(matched.embeddings) * (len(matched.embeddings) - 1) // 2
        with progress("comparing embeddings", total) as done:
            changes = by_differences(matched, spec, engine, draws, chains, used, done)
    return Comparison(comparison_tree(matched, spec, changes, joint, used))


def _tables(
    tables: Mapping[str, pd.DataFrame] | None, before: pd.DataFrame | None, after: pd.DataFrame | None
) -> Mapping[str, pd.DataFrame]:
    pair = before is not None or after is not None
    if pair and (tables is not None or before is None or after is None):
        given = [
            name for name, value in (("tables", tables), ("before", before), ("after", after)) if value is not None
        ]
        raise InputError(f"given is {' and '.join(given)}: give before= and after=, or one mapping of names to tables")
    if before is not None and after is not None:
        return {"before": before, "after": after}
    if not isinstance(tables, Mapping):
        raise InputError(
            f"given is {type(tables).__name__}: give before= and after=, or a mapping of names to distance tables"
        )
    return tables
