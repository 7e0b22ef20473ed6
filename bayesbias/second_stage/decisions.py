"""Plan of a multiverse: decisions with their options, and what workers measure for them in each embedding."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import chain, product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from pydantic import BeforeValidator, Field

from bayesbias._support.arguments import one_of, whole_number
from bayesbias._support.files import Document, check, from_json, read_arrays, read_text, to_json, whole_file, write_text
from bayesbias._support.runs import (
    Task,
    by_content,
    plain_json,
    record_of,
    recorded,
    resolved,
    state_of,
    task_name,
    write_record,
)
from bayesbias.axes import list_axes
from bayesbias.axes.poles import find_poles
from bayesbias.distances import Coverage, distance_table
from bayesbias.distances.covariances import KEY, Relatedness, relatedness_content, relatedness_from
from bayesbias.distances.list_coverage import ListEntry
from bayesbias.distances.vocabularies import SAMPLE, SampledWords, draws_for, measured_relatedness
from bayesbias.errors import InputError, listed
from bayesbias.metrics.catalogue import METRICS, find_metric
from bayesbias.numerics.arrays import principal_directions, unit_rows, without
from bayesbias.vectors import Case, keyed_vectors, list_embeddings, load_embedding
from bayesbias.vectors.debiasing.registry import (
    METHODS,
    NONE,
    Method,
    checked_method,
    debiased,
    method_and_options,
    method_by_name,
)
from bayesbias.vectors.lookup import ordered_by_frequency
from bayesbias.vectors.poles import poles_of
from bayesbias.words import WordLists, bundled_names, load_words

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

EACH, EACH_SOURCE, SOURCE = "each", "each source", "source: "
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
"""Decisions that a table depends on; the axis is that of the contrast."""
VALID = {
    "case": ("as-is", "fallback"),
    "duplicates": ("once", "keep"),
    "centre": (NONE, "vocabulary"),
    "adjust": (NONE, "frequency", "length"),
}
"""Options of decisions with few."""
MOST = 5000
"""Combinations of a plan at most."""


class Decision(Document):
    """The options of a decision, and what is thought of them.

    An ``"arbitrary"`` decision has options that are equally good; of a ``"principled"`` one an option answers the
    question better.
    """

    options: tuple[Any, ...] = Field(min_length=1)
    status: Literal["arbitrary", "principled", "unsure"] = "unsure"


class _AxisContrast(Document):
    """The contrast of two groups on an axis of pairs.

    ``axis`` is a name or a file of pairs; the groups stand on the side of the first and of the second words of these.
    """

    axis: str
    groups: tuple[str, str]


NAMED: Mapping[str, Callable[[Any], Any]] = {"debiasing": method_by_name, "metric": METRICS.name_of}
"""Decisions whose options are recorded by their names, and how an option becomes one."""


def _by_name(decisions: Any) -> Any:
    """Decisions with metrics and methods, which may be given as objects or functions, by their names."""
    if not isinstance(decisions, Mapping):
        return decisions
    return {name: _options_by_name(each, NAMED[name]) if name in NAMED else each for name, each in decisions.items()}


def _options_by_name(given: Any, name_of: Callable[[Any], Any]) -> Any:
    if isinstance(given, Mapping):
        return {key: _options_by_name(each, name_of) if key == "options" else each for key, each in given.items()}
    return [name_of(option) for option in given] if isinstance(given, list | tuple) else given


class MultiversePlan(Document):
    """Decisions that a multiverse combines, its random topics, unit and seed.

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
        pairs. ``metric``: ``"contrast"``, or a metric that is a weighted sum of cosines, such as ``"weat"``. Metrics
        and methods that are given as objects or functions are registered, and recorded by their names.
    replicates
        Random topics that are run through all specifications.
    standardise
        Whether estimates are in standard deviations of an embedding's distances; None does that where the plan has
        several vectors.
    seed
        Of the topics and draws.
    """

    decisions: Annotated[dict[str, Decision | tuple[Any, ...]], BeforeValidator(_by_name)]
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
    decisions = {
        name: each if isinstance(each, Decision) else check(Decision, {"options": each}, f"{where}: {name}")
        for name, each in plan.decisions.items()
    }
    options = {name: decisions[name].options if name in decisions else default for name, default in DEFAULTS.items()}
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
    return options, {name: str(each.status) for name, each in decisions.items()}


def _check_option(name: str, option: Any) -> None:
    """Refuse what is no option of a decision."""
    if name in VALID:
        one_of(option, VALID[name], f"an option of {name}")
    elif name == "all_but_top":
        whole_number(option, "an option of all_but_top", least=0)
    elif name == "metric" and str(option) != CONTRAST and find_metric(option).linear is None:
        able = [each for each, metric in METRICS.items() if metric.linear is not None]
        raise InputError(f"the metric {option!r} is no weighted sum of cosines: give {CONTRAST!r} or {listed(able)}")
    elif name == "debiasing" and str(option) != NONE:
        checked_method(*method_and_options(option))


def _contrast_option(option: Any, base: Path, where: str) -> Any:
    """A contrast of connections as it is, one on an axis with the absolute path of its file."""
    if isinstance(option, Mapping):
        parsed = check(_AxisContrast, dict(option), f"{where}: contrast")
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
        name = task_name(by_content({**settings, **options, "embeddings": decisions["embedding"]}, hashes))
        read = (settings["embedding"], *options["words"], *poles)
        own = {file: known[file] for file in files if file in read}
        tasks.append(Task(name, settings, options, own))
    if len({task.name for task in tasks}) < len(tasks):
        raise InputError(f"{where}: two embeddings are one file")
    return tasks


def file_of(folder: Path, task: Task) -> Path:
    """The file that holds what an embedding gave."""
    return folder / VARIANTS / f"{task.name}.npz"


def write_sample(folder: Path, decisions: Mapping[str, tuple[Any, ...]]) -> dict[str, KeyedVectors]:
    """Write the words at which all embeddings are sampled into the folder; the embeddings, which were loaded for it."""
    embeddings = {name: load_embedding(name) for name in decisions["embedding"]}
    lists = []
    for name, axis in product(decisions["words"], axes_of(decisions["contrast"])):
        with suppress(InputError):  # a group that a list lacks makes combinations impossible
            lists.append(_lists_of(name, axis))
    drawn = draws_for(list(embeddings.values()), [lists] * len(embeddings), "fallback")
    content: dict[str, Any] = {"reason": drawn}
    if not isinstance(drawn, str):
        weights = drawn[0].everywhere
        content = {"words": list(drawn[0].words), "kind": drawn[0].kind}
        content |= {} if weights is None else {"weights": weights.tolist()}
    write_text(folder / SAMPLE_FILE, to_json(content))
    return embeddings


def measure(task: Task, folder: str, loaded: Mapping[str, KeyedVectors], methods: Sequence[Method] = ()) -> None:
    """Measure the distances of an embedding, which may be loaded, and write them, the record last.

    ``methods`` are those of debiasing that this process may have to be given.
    """
    content: bytes | None = None
    with recorded(task) as record:
        for method in methods:
            METHODS.add(method)
        sample = from_json(read_text(Path(folder) / SAMPLE_FILE))
        content = _content_of(_vectors(task.settings, loaded), task.options, sample)
    if content is not None:
        file = file_of(Path(folder), task)
        with whole_file(file) as temporary:
            temporary.write_bytes(content)
        record["sha256"] = state_of(file)[2]
    write_record(Path(folder), record)


def _vectors(settings: Mapping[str, Any], loaded: Mapping[str, KeyedVectors]) -> KeyedVectors:
    """An embedding as a combination of decisions takes it."""
    name = settings["embedding"]
    kv = debiased(loaded[name] if name in loaded else load_embedding(name), settings["debiasing"])
    if settings["centre"] == NONE and not settings["all_but_top"]:
        return kv
    vectors = unit_rows(kv.vectors.astype(float))
    vectors -= vectors.mean(axis=0)
    if settings["all_but_top"]:
        # Mu, Bhat and Viswanath (2018), https://doi.org/10.48550/arXiv.1702.01417
        vectors = without(vectors, principal_directions([vectors], settings["all_but_top"])[0])
    moved = keyed_vectors(list(kv.index_to_key), vectors.astype(np.float32))
    moved.bayesbias_name = getattr(kv, "bayesbias_name", "the embedding")
    return moved


def _lists_of(name: str, axis: Any) -> WordLists:
    """Word lists, or their groups with the words at the poles of an axis in place of stereotypes."""
    lists = load_words(name)
    if axis == NONE:
        return lists
    if lost := [group for group in axis["groups"] if group not in lists.protected]:
        raise InputError(f"{lists.name} has no group {lost[0]!r}: its groups are {listed(list(lists.protected))}")
    protected = {group: lists.protected[group] for group in axis["groups"]}
    words = {word for part in protected.values() for word in part}
    return WordLists(
        lists.name,
        protected,
        dict(zip(protected, zip(*poles_of(axis["axis"]).pairs, strict=True), strict=True)),
        forms={word: forms for word, forms in lists.forms.items() if word in words},
        language=lists.language,
    )


def _content_of(kv: KeyedVectors, options: Mapping[str, Any], sample: Mapping[str, Any]) -> bytes:
    """The distance tables of an embedding and the relatedness of all their words, as an .npz file."""
    arrays: dict[str, Any] = {}
    every: list[WordLists] = []
    for place, (name, case, twins, axis) in enumerate(product(*(options[key] for key in OF_TABLES))):
        try:
            lists = _lists_of(name, axis)
            pairs = () if axis == NONE else find_poles(kv, poles_of(axis["axis"]), case).pairs
            # words of one vector may stand in different pairs
            table = distance_table(kv, lists, case=case, twins=twins if axis == NONE else "keep", relatedness=False)
        except InputError as error:
            arrays[f"reason {place}"] = np.array(str(error))
            continue
        record, buffer = table.coverage or Coverage(lists.name, []), io.BytesIO()
        table.to_parquet(buffer, index=False)
        arrays[f"lists {place}"], arrays[f"pairs {place}"] = np.array(to_json(record.lists)), np.array(pairs, dtype=str)
        arrays[f"table {place}"] = np.frombuffer(buffer.getvalue(), dtype=np.uint8)
        every.append(lists)
    if not every:
        raise InputError(str(next(iter(arrays.values()))))
    if "reason" in sample:
        raise InputError(f"the covariance of the specifications is not known, since {sample['reason']}")
    places = dict(kv.key_to_index) if ordered_by_frequency(kv.index_to_key) else {}
    weights = np.array(sample["weights"]) if "weights" in sample else None
    drawn = SampledWords(tuple(sample["words"]), kv[sample["words"]], sample["kind"], places, weights)
    widest: Case = "fallback" if "fallback" in options["case"] else "as-is"
    related = measured_relatedness(kv, _union(every), SAMPLE, 0, widest, drawn)
    if isinstance(related, str):
        raise InputError(related)
    arrays[KEY] = np.frombuffer(relatedness_content(related), dtype=np.uint8)
    content = io.BytesIO()
    np.savez(content, **arrays)
    return content.getvalue()


def _union(lists: Sequence[WordLists]) -> WordLists:
    """Lists of all protected words and of all attribute words: only which words there are, of which kind, matters."""
    protected = dict.fromkeys(chain.from_iterable(words for each in lists for words in each.protected.values()))
    stereotypes, controls = (
        dict.fromkeys(chain.from_iterable(words for part in parts for words in part.values()))
        for parts in ([each.stereotypes for each in lists], [each.controls for each in lists])
    )
    others = [word for word in controls if word not in stereotypes]
    forms = {name: own for each in lists for name, own in each.forms.items()}
    own, further = ({name: words} if words else {} for name, words in (("all", [*stereotypes]), ("others", others)))
    return WordLists("all", {"all": list(protected)}, own, further, forms=forms, language=lists[0].language)


class EmbeddingTables(NamedTuple):
    """Results of one embedding, by the settings of its tables."""

    tables: Mapping[str, pd.DataFrame | str]  # a distance table, or why there is none
    lists: Mapping[str, list[ListEntry]]  # how many of their words it holds
    pairs: Mapping[str, tuple[tuple[str, str], ...]]  # pairs of an axis whose two words it holds
    relatedness: Relatedness | None  # of all words; None where the embedding could not be measured
    failed: str  # why it could not


def read_measured(folder: Path, task: Task) -> EmbeddingTables:
    """Results that a task has written."""
    record = record_of(folder, task.name)
    if record is None:
        raise InputError(f"the record of {task.name} is gone from {folder}: run the multiverse again")
    if record["status"] == "failed":
        return EmbeddingTables({}, {}, {}, None, str(record["reason"]))
    with file_of(folder, task).open("rb") as content:
        arrays = read_arrays(content, str(folder / VARIANTS))
    tables: dict[str, pd.DataFrame | str] = {}
    lists: dict[str, list[ListEntry]] = {}
    pairs: dict[str, tuple[tuple[str, str], ...]] = {}
    for place, values in enumerate(product(*(task.options[name] for name in OF_TABLES))):
        key = plain_json(dict(zip(OF_TABLES, values, strict=True)))
        if f"table {place}" in arrays:
            tables[key] = pd.read_parquet(io.BytesIO(arrays[f"table {place}"].tobytes()))
            lists[key] = from_json(str(arrays[f"lists {place}"]))
            pairs[key] = tuple((first, second) for first, second in arrays[f"pairs {place}"].tolist())
        else:
            tables[key] = str(arrays[f"reason {place}"])
    return EmbeddingTables(tables, lists, pairs, relatedness_from(arrays[KEY].tobytes(), str(folder / VARIANTS)), "")
