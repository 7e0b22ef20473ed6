"""What a multiverse combines: decisions with their options, and what is to be measured for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field

from bayesbias._checks import one_of, whole_number
from bayesbias._files import Document, check
from bayesbias._runs import Task, by_content, plain_json, resolved, state_of
from bayesbias.debiasing.registry import checked_method
from bayesbias.embeddings import list_embeddings
from bayesbias.errors import InputError, listed
from bayesbias.metrics.catalogue import METRICS, find_metric
from bayesbias.words import WordLists, bundled_names, load_words

NONE, EACH = "none", "each"
VARIANTS, SAMPLE_FILE = "variants", "sample.json"
"""Folder of what was measured in each embedding, and file of the words at which all are sampled."""
CONTRAST, DIFFERENCE = "contrast", "associated - different"
"""The metric that is the contrast of a fit's whole list."""
DEFAULTS: dict[str, tuple[Any, ...]] = {
    "embedding": (),
    "words": (),
    "without": (NONE,),
    "case": ("as-is",),
    "duplicates": ("once",),
    "debiasing": (NONE,),
    "centre": (NONE,),
    "all_but_top": (0,),
    "adjust": (NONE,),
    "contrast": (DIFFERENCE,),
    "metric": (CONTRAST,),
}
"""Decisions, and the option of each that is taken where the plan does not name it."""
OF_VECTORS = ("embedding", "debiasing", "centre", "all_but_top")
OF_TABLES = ("words", "case", "duplicates")
MOST = 5000
"""Combinations of a plan at most."""


class Decision(Document):
    """The options of a decision, and what is thought of them.

    Attributes
    ----------
    options
        The options.
    status
        ``"arbitrary"``: equally good; ``"principled"``: one of them answers the question better; ``"unsure"``.
    """

    options: tuple[Any, ...] = Field(min_length=1)
    status: Literal["arbitrary", "principled", "unsure"] = "unsure"


class MultiversePlan(Document):
    """What a multiverse combines.

    Attributes
    ----------
    decisions
        Name of a decision to its options, with or without a status. ``embedding`` and ``words``: bundled names or
        paths. ``without``: ``"none"``, a word to leave out of the attribute lists, or ``"each"`` for every stereotype
        word in turn. ``case``: ``"as-is"``, ``"fallback"``. ``duplicates``: ``"once"``, ``"keep"``. ``debiasing``: as
        in a sweep. ``centre``: ``"none"``, ``"vocabulary"`` (the mean vector is taken off). ``all_but_top``: how many
        principal components are taken off. ``adjust``: ``"none"``, ``"frequency"``, ``"length"``. ``contrast``: such as
        ``"associated - human"``, which chooses the control list. ``metric``: ``"contrast"``, or a metric that is a
        weighted sum of cosines, such as ``"weat"``.
    replicates
        Random topics that are run through all specifications.
    standardise
        Whether estimates are in standard deviations of an embedding's distances; None does that where the plan has
        several vectors.
    seed
        Of the topics and draws.
    """

    decisions: dict[str, Decision | tuple[Any, ...]]
    replicates: int = 1000
    standardise: bool | None = None
    seed: int = 0


def checked_decisions(
    plan: MultiversePlan, base: Path, where: str
) -> tuple[dict[str, tuple[Any, ...]], dict[str, str]]:
    """The options of every decision, checked, and the status of those that the plan names."""
    whole_number(plan.replicates, "replicates", least=0)
    whole_number(plan.seed, "seed", least=0, most=None)
    for name in plan.decisions:
        one_of(name, tuple(DEFAULTS), "a decision")
    given = {
        name: each if isinstance(each, Decision) else check(Decision, {"options": each}, f"{where}: {name}")
        for name, each in plan.decisions.items()
    }
    options = {name: given[name].options if name in given else default for name, default in DEFAULTS.items()}
    for name in ("embedding", "words"):
        if not options[name]:
            raise InputError(f"{where}: give the options of the decision {name!r}")
        bundled = set(list_embeddings()["name"]) if name == "embedding" else bundled_names()
        options[name] = tuple(resolved([str(each) for each in options[name]], base, bundled, name, where))
    lists = [load_words(name) for name in options["words"]]
    for name, own in options.items():
        for option in own:
            _check_option(name, option)
    options["without"] = _words_out(options["without"], lists)
    for name, own in options.items():
        if len({plain_json(option) for option in own}) < len(own):
            raise InputError(f"{where}: {name} has an option twice: {listed([str(option) for option in own])}")
    if (size := int(np.prod([len(own) for own in options.values()]))) > MOST:
        raise InputError(f"{where}: there are {size:,} combinations, more than {MOST:,}: take fewer options")
    return options, {name: str(each.status) for name, each in given.items()}


VALID = {
    "case": ("as-is", "fallback"),
    "duplicates": ("once", "keep"),
    "centre": (NONE, "vocabulary"),
    "adjust": (NONE, "frequency", "length"),
}
"""Options of decisions with few."""


def _check_option(name: str, option: Any) -> None:
    """Refuse what is no option of a decision."""
    if name in VALID:
        one_of(option, VALID[name], f"an option of {name}")
    elif name == "all_but_top":
        whole_number(option, "an option of all_but_top", least=0)
    elif name == "metric" and option != CONTRAST and find_metric(option).linear is None:
        able = [each for each, metric in METRICS.items() if metric.linear is not None]
        raise InputError(f"the metric {option!r} is no weighted sum of cosines: give {CONTRAST!r} or {listed(able)}")
    elif name == "contrast" and (not isinstance(option, str) or len(option.split(" - ")) != 2):
        raise InputError(f"the contrast is {option!r}: give two connections, such as {DIFFERENCE!r}")
    elif name == "debiasing" and option != NONE:
        method = {"method": option} if isinstance(option, str) else dict(option)
        checked_method(method.pop("method", None), method)


def _words_out(options: Sequence[Any], lists: Sequence[WordLists]) -> tuple[str, ...]:
    """Words to leave out, one a specification; ``each`` stands for every stereotype word."""
    words: list[str] = []
    for option in options:
        every = [word for each in lists for part in each.stereotypes.values() for word in part]
        words += [NONE, *every] if option == EACH else [str(option)]
    return tuple(dict.fromkeys(words))


def tasks_of(decisions: Mapping[str, tuple[Any, ...]], where: str) -> list[Task]:
    """One task for each embedding, debiased, centred or not."""
    tasks = []
    options = {name: list(decisions[name]) for name in OF_TABLES}
    files = [value for name in ("embedding", "words") for value in decisions[name] if Path(value).is_absolute()]
    known = {file: state_of(Path(file)) for file in files}
    hashes = {file: state[2] for file, state in known.items()}
    for values in product(*(decisions[name] for name in OF_VECTORS)):
        settings = dict(zip(OF_VECTORS, values, strict=True))
        content = by_content({**settings, **options, "embeddings": list(decisions["embedding"])}, hashes)
        content["words"] = [hashes.get(name, name) for name in options["words"]]
        content["embeddings"] = [hashes.get(name, name) for name in decisions["embedding"]]
        name = sha256(plain_json(content).encode()).hexdigest()[:20]
        own = {file: known[file] for file in files if file == settings["embedding"] or file in options["words"]}
        tasks.append(Task(name, settings, options, own))
    if len({task.name for task in tasks}) < len(tasks):
        raise InputError(f"{where}: two embeddings are one file")
    return tasks
