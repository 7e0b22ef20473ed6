"""``multiverse``: one question under every combination of decisions, from word lists to metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias._checks import flag
from bayesbias._executors import executors, workers_asked
from bayesbias._files import home_folder
from bayesbias._progress import progress
from bayesbias._runs import Task, finished, plain_json, prepare, read_plan, run
from bayesbias.distances.vocabularies import joint_relatedness
from bayesbias.errors import InputError, listed
from bayesbias.multiverses.measures import Measured, file_of, measure, read_measured, write_sample
from bayesbias.multiverses.plans import OF_VECTORS, VARIANTS, MultiversePlan, checked_decisions, tasks_of
from bayesbias.multiverses.weights import Entries, FailedError, Sources
from bayesbias.second_stage.specifications import Multiverse, multiverse_of

if TYPE_CHECKING:
    from distributed import Client


def multiverse(
    plan: Mapping[str, Any] | str | Path,
    out: str | Path | None = None,
    executor: str | Executor | Client = "serial",
    workers: int | None = None,
    retry: bool = False,
) -> Multiverse:
    """Which choice made the answer: one contrast under every combination of decisions.

    A specification is a weighted sum of distances in one embedding. All are measured, and the covariance of all of
    them is estimated from the vectors, since they share words and vectors. What lies behind the estimates is a mean,
    effects of the decisions' options, and a residual for what combinations add; a specification that is the same as
    another counts once.

    Parameters
    ----------
    plan
        A TOML file, or a mapping, with the fields of :class:`MultiversePlan`: ``{"decisions": {"embedding": {"options":
        [...], "status": "unsure"}, ...}}``. Paths are relative to the TOML file.
    out
        A folder, in which what is measured in each embedding stays: a run that was stopped goes on there. None keeps
        nothing.
    executor
        As in :func:`sweep`: embeddings are measured in this process, in others, or on a Dask cluster.
    workers
        Processes; by default one for each processor.
    retry
        Measure embeddings again that failed. By default their reason stays on record.

    Returns
    -------
    Multiverse
        ``table()`` (the specification curve), ``shares()``, ``effects()``, ``means()``, ``signs()``,
        ``against_topics()``. Combinations that are impossible or failed stay in the table with their reason.

    Raises
    ------
    InputError
        A plan with unknown fields, names or files, more than 5,000 combinations, or no combination that can be
        computed.

    References
    ----------
    Simonsohn, U., Simmons, J. P. and Nelson, L. D. (2020). Specification curve analysis. Nature Human Behaviour 4.
    https://doi.org/10.1038/s41562-020-0912-z

    Del Giudice, M. and Gangestad, S. W. (2021). A traveler's guide to the multiverse. Advances in Methods and Practices
    in Psychological Science 4(1). https://doi.org/10.1177/2515245920954925

    Examples
    --------
    >>> decisions = {
    ...     "embedding": {"options": ["google-news-slice", "glove-50d-slice"], "status": "unsure"},
    ...     "words": ["weat7"],
    ...     "contrast": {"options": ["associated - different", "associated - human"], "status": "principled"},
    ... }
    >>> found = bb.multiverse({"decisions": decisions, "replicates": 100})
    >>> found.specifications[["embedding", "contrast", "status"]].shape
    (4, 3)
    """
    flag(retry, "retry")
    checked, base, where = read_plan(MultiversePlan, plan)
    decisions, statuses = checked_decisions(checked, base, where)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory())) if out is None else home_folder(out)
        tasks = tasks_of(decisions, where)
        prepare(folder, checked.model_dump(), tasks, VARIANTS, "multiverse")
        pending = [task for task in tasks if not finished(folder, task, file_of(folder, task), retry)]
        if pending:
            loaded = write_sample(folder, decisions)
            pools = executors(executor, workers_asked(workers), stack)
            at_once = 1 if executor == "serial" else len(pending)
            if executor != "serial":
                loaded.clear()  # workers load what they measure
            run(pending, partial(measure, loaded=loaded), folder, pools, at_once, "measuring")
            loaded.clear()
        measured = [read_measured(folder, task) for task in tasks]
    return _result(checked, decisions, statuses, tasks, measured)


def _result(
    plan: MultiversePlan,
    decisions: Mapping[str, tuple[Any, ...]],
    statuses: Mapping[str, str],
    tasks: Sequence[Task],
    measured: Sequence[Measured],
) -> Multiverse:
    """All specifications with their joint covariance and their null."""
    several = any(len(decisions[name]) > 1 for name in OF_VECTORS)
    standardise = several if plan.standardise is None else plan.standardise
    sources = Sources({plain_json(task.settings): each for task, each in zip(tasks, measured, strict=True)})
    rows, weights = [], []
    combinations = list(product(*decisions.values()))
    with progress("computing specifications", len(combinations)) as done:
        for number, values in enumerate(combinations):
            settings = dict(zip(decisions, values, strict=True))
            row = {name: _shown(settings[name]) for name in statuses}
            try:
                own = sources.weights(settings)
            except (InputError, FailedError) as error:
                status = "failed" if isinstance(error, FailedError) else "impossible"
                rows.append({**row, "status": status, "reason": str(error), "found": np.nan})
            else:
                scale = sources.blocks[own.block].scale if standardise else 1.0
                weights.append(replace(own, value=own.value / scale, weight=own.weight / scale))
                rows.append({**row, "status": "done", "reason": "", "found": own.found})
            done(number + 1)
    specifications = pd.DataFrame(rows)
    if not weights:
        reasons = listed(list(dict.fromkeys(specifications["reason"])), 3)
        raise InputError(f"none of {len(rows):,} specifications could be computed: {reasons}")
    blocks = sources.blocks
    joint = joint_relatedness([each.related for each in blocks], [each.related.protected_words for each in blocks])
    if isinstance(joint, str):
        raise InputError(f"the covariance of the specifications is not known, since {joint}")
    entries = Entries.of(weights, joint, blocks)
    null, notes = entries.topics(weights, joint, blocks, plan.replicates, plan.seed)
    return multiverse_of(
        specifications,
        statuses,
        np.array([each.value for each in weights]),
        entries.covariance(joint),
        null,
        standardise,
        plan.seed,
        (
            f"The covariance of the specifications was estimated from {joint.sampled:,} words of all vocabularies.",
            *notes,
        ),
    )


def _shown(option: Any) -> Any:
    if isinstance(option, Mapping) and "axis" in option:
        return f"{Path(option['axis']).name}: {' - '.join(option['groups'])}"
    if isinstance(option, Mapping):
        return plain_json(option)
    return Path(option).name if isinstance(option, str) and Path(option).is_absolute() else option
