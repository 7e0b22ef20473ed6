"""What a multiverse combines: decisions with their options, and what is to be measured for them."""

from __future__ import annotations

from collections import Counter
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
from bayesbias.axes import list_axes
from bayesbias.axes.poles import poles_of
from bayesbias.debiasing.registry import checked_method
from bayesbias.embeddings import list_embeddings
from bayesbias.errors import InputError, listed
from bayesbias.metrics.catalogue import METRICS, find_metric
from bayesbias.words import WordLists, bundled_names, load_words

NONE, EACH, EACH_SOURCE, SOURCE = "none", "each", "each source", "source: "
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
OF_TABLES = ("words", "case", "duplicates", "axis")
"""What a table depends on; the axis is that of the contrast."""
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


class AxisContrast(Document):
    """The contrast of two groups on an axis of pairs.

    Attributes
    ----------
    axis
        Name of the axis, or a file of pairs.
    groups
        The groups whose side is that of the first and of the second words of the pairs.
    """

    axis: str
    groups: tuple[str, str]


class MultiversePlan(Document):
    """What a multiverse combines.

    Attributes
    ----------
    decisions
        Name of a decision to its options, with or without a status. ``embedding`` and ``words``: bundled names or
        paths. ``without``: ``"none"``, a word to leave out of the attribute lists, or ``"each"`` for every stereotype
        word in turn; ``"source: NAME"``, all words that this source alone gives, or ``"each source"``. ``case``:
        ``"as-is"``, ``"fallback"``. ``duplicates``: ``"once"``, ``"keep"``. ``debiasing``: as in a sweep. ``centre``:
        ``"none"``, ``"vocabulary"`` (the mean vector is taken off). ``all_but_top``: how many principal components are
        taken off. ``adjust``: ``"none"``, ``"frequency"``, ``"length"``. ``contrast``: such as ``"associated -
        human"``, which chooses the control list, or ``{"axis": "gender_pairs", "groups": ["math", "arts"]}``, pairs of
        opposites in place of stereotypes: the groups stand on the side of the first and of the second words of the
        pairs. ``metric``: ``"contrast"``, or a metric that is a weighted sum of cosines, such as ``"weat"``.
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
    options["contrast"] = tuple(_contrast_option(option, base, where) for option in options["contrast"])
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
    elif name == "debiasing" and option != NONE:
        method = {"method": option} if isinstance(option, str) else dict(option)
        checked_method(method.pop("method", None), method)


def _contrast_option(option: Any, base: Path, where: str) -> Any:
    """A contrast of connections as it is, one on an axis with the absolute path of its file."""
    if isinstance(option, Mapping):
        parsed = check(AxisContrast, dict(option), f"{where}: contrast")
        (axis,) = resolved([parsed.axis], base, set(list_axes()["name"]), "contrast", where)
        if not poles_of(axis).pairs:
            raise InputError(
                f"{where}: the axis {parsed.axis!r} is made of two lists: give pairs, or give the lists as the "
                f"stereotypes of a word list with the contrast {DIFFERENCE!r}"
            )
        return {"axis": axis, "groups": list(parsed.groups)}
    if not isinstance(option, str) or len(option.split(" - ")) != 2:
        raise InputError(
            f"the contrast is {option!r}: give two connections, such as {DIFFERENCE!r}, or an axis with two groups, "
            "such as {'axis': 'gender_pairs', 'groups': ['math', 'arts']}"
        )
    return option


def axis_of(contrast: Any) -> Any:
    """The axis that a contrast takes in place of stereotypes, with its groups."""
    return contrast if isinstance(contrast, Mapping) else NONE


def axes_of(contrasts: Sequence[Any]) -> list[Any]:
    """The axes of some contrasts, each once."""
    axes = [axis_of(contrast) for contrast in contrasts]
    return [axis for place, axis in enumerate(axes) if axis not in axes[:place]]


def only_of(lists: WordLists) -> dict[str, frozenset[str]]:
    """Source to the attribute words that no other source gives."""
    named = {word for words in lists.sources.values() for word in words}
    rest = [word for words in lists.stereotypes.values() for word in words if word not in named]
    sources = {source: set(words) for source, words in lists.sources.items()}
    if rest and lists.source:
        sources.setdefault(lists.source, set()).update(rest)
    counts = Counter(word for words in sources.values() for word in words)
    return {source: frozenset(word for word in words if counts[word] == 1) for source, words in sources.items()}


def _words_out(options: Sequence[Any], lists: Sequence[WordLists]) -> tuple[str, ...]:
    """Words and sources to leave out, one a specification; ``each`` stands for every stereotype word."""
    words: list[str] = []
    sources = [f"{SOURCE}{source}" for each in lists for source in only_of(each)]
    for option in map(str, options):
        if option == EACH:
            words += [NONE, *(word for each in lists for part in each.stereotypes.values() for word in part)]
        elif option == EACH_SOURCE:
            words += [NONE, *sources]
        elif option.startswith(SOURCE) and option not in sources:
            known = listed([source.removeprefix(SOURCE) for source in dict.fromkeys(sources)]) or "none"
            raise InputError(f"no list has the source {option.removeprefix(SOURCE)!r}: the sources are {known}")
        else:
            words.append(option)
    return tuple(dict.fromkeys(words))


def tasks_of(decisions: Mapping[str, tuple[Any, ...]], where: str) -> list[Task]:
    """One task for each embedding, debiased, centred or not."""
    tasks = []
    options = {name: list(decisions[name]) for name in OF_TABLES[:-1]} | {"axis": axes_of(decisions["contrast"])}
    poles = [axis["axis"] for axis in options["axis"] if axis != NONE]
    files = [name for name in (*decisions["embedding"], *decisions["words"], *poles) if Path(name).is_absolute()]
    known = {file: state_of(Path(file)) for file in files}
    hashes = {file: state[2] for file, state in known.items()}
    for values in product(*(decisions[name] for name in OF_VECTORS)):
        settings = dict(zip(OF_VECTORS, values, strict=True))
        content = by_content({**settings, **options, "embeddings": list(decisions["embedding"])}, hashes)
        content["words"] = [hashes.get(name, name) for name in options["words"]]
        content["axis"] = [by_content(axis, hashes) for axis in options["axis"]]
        content["embeddings"] = [hashes.get(name, name) for name in decisions["embedding"]]
        name = sha256(plain_json(content).encode()).hexdigest()[:20]
        read = (settings["embedding"], *options["words"], *poles)
        own = {file: known[file] for file in files if file in read}
        tasks.append(Task(name, settings, options, own))
    if len({task.name for task in tasks}) < len(tasks):
        raise InputError(f"{where}: two embeddings are one file")
    return tasks
