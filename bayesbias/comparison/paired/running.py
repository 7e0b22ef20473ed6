"""``compare``: the same pairs in several embeddings, in one model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pandas as pd

from bayesbias._checks import one_of
from bayesbias._progress import progress
from bayesbias.comparison.contrasting import GIVEN
from bayesbias.comparison.paired.covariance import by_covariance
from bayesbias.comparison.paired.draws import LEVELS_MODEL, ChangeDraws, by_differences, by_nuts
from bayesbias.comparison.paired.matching import Case, Matched, match
from bayesbias.comparison.paired.results import Comparison
from bayesbias.comparison.paired.trees import comparison_tree
from bayesbias.distances.storage import check_distances, relatedness_of
from bayesbias.errors import InputError
from bayesbias.models.fitting import AUTO, RELATED, checked_draws, used_seed
from bayesbias.models.priors import Normal
from bayesbias.models.spec import ModelSpec, load_model

ENGINES = ("auto", "marginal", "nuts")
CHANGE = "change"


def compare(
    tables: Mapping[str, pd.DataFrame] | None = None,
    *,
    before: pd.DataFrame | None = None,
    after: pd.DataFrame | None = None,
    model: str | Path | ModelSpec = AUTO,
    engine: str = "auto",
    draws: int = 4000,
    chains: int = 4,
    seed: int | None = None,
    case: Case = "as-is",
) -> Comparison:
    """What changed between embeddings, from distances of the same pairs.

    The same words are measured in each embedding, so that most of what makes a single contrast uncertain cancels in
    its change. Where the tables know how words are related, the covariance of all distances in all embeddings is read
    off the vectors, and one posterior holds levels and changes; whole-list results are then those of these protected
    words. Otherwise differences of paired distances follow a crossed model, which takes different words for unrelated
    and is fitted by the marginal engine; what the first embedding's distances do not share with the change is fitted
    beside it, and taken for independent.

    Parameters
    ----------
    tables
        Names to distance tables of two embeddings or more; or
    before, after
        the distance tables of two, such as before and after :func:`debias`.
    model
        ``"auto"``: ``"related"`` where all tables carry relatedness of one vocabulary, else ``"change"``, and the notes
        say why. Or the name of a model of changes, the path of a TOML file or a loaded model: ``"change"`` is
        ``"crossed"`` around 0, with scales of the size of changes.
    engine
        ``"auto"`` takes the model's own; ``"marginal"`` fits differences, for each pair of embeddings; ``"nuts"`` fits
        all embeddings at once by the model of changes, with a covariance between them at every level (LKJ priors), in
        minutes.
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
    draws, chains = checked_draws(draws, chains)
    used = used_seed(seed)
    related = _related_draws(matched, _tables(tables, before, after), model, engine, case, (draws, chains, used))
    if isinstance(related, Comparison):
        return related
    spec = load_model(CHANGE) if model == AUTO else model if isinstance(model, ModelSpec) else load_model(model)
    centre = spec.priors.get("connection_mean")
    if not isinstance(centre, Normal) or centre.mean != 0:
        raise InputError(
            f"the model {spec.name!r} is one of distances: a model of changes has a connection_mean around 0, as "
            "'change' has (copy its file to change a prior)"
        )
    joint = None
    if engine == "nuts":
        changes, joint = by_nuts(matched, (load_model(LEVELS_MODEL), spec), draws, chains, used)
    else:
        total = len(matched.embeddings) * (len(matched.embeddings) - 1) // 2
        with progress("comparing embeddings", total) as done:
            changes = by_differences(matched, spec, engine, draws, chains, used, done)
    if model == AUTO and related is not None:
        matched = replace(matched, notes=(*matched.notes, related))
    return Comparison(comparison_tree(matched, spec, changes, joint, used))


def _related_draws(
    matched: Matched,
    tables: Mapping[str, pd.DataFrame],
    model: str | Path | ModelSpec,
    engine: str,
    case: Case,
    size: tuple[int, int, int],
) -> Comparison | str | None:
    """The comparison by the covariance that the vectors give, or why the model of changes takes its place."""
    asked = model.related if isinstance(model, ModelSpec) else model == RELATED
    if not asked and (model != AUTO or engine != "auto"):
        return None
    reason: str | list[ChangeDraws]
    found = [relatedness_of(table) for table in tables.values()]
    lacking = [str(name) for name, each in zip(tables, found, strict=True) if each is None]
    if engine != "auto":
        reason = f"engine={engine!r} does not fit it"
    elif lacking:
        reason = f"the tables of {', '.join(lacking)} do not tell how words are related"
    elif case != "as-is":
        reason = "words were matched without regard to capital letters"
    else:
        known = [each for each in found if each is not None]
        for each, table in zip(known, tables.values(), strict=True):
            if "truth" not in table.attrs:
                check_distances(each, table)
        spec = model if isinstance(model, ModelSpec) else load_model(RELATED)
        reason = by_covariance(matched, known, spec, *size)
        if not isinstance(reason, str):
            return Comparison(comparison_tree(matched, spec, reason, None, size[2], population=GIVEN))
    if asked:
        raise InputError(f"the model {RELATED!r} cannot compare these tables: {reason}; use model='change'")
    return f"Different words are taken for unrelated, since {reason}."


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
