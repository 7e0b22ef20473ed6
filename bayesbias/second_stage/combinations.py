"""``multiverse``: every combination of decisions as a weighted sum of distances, their covariance and their null."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from bayesbias._support.arguments import flag, one_of
from bayesbias._support.files import home_folder
from bayesbias._support.progress import progress
from bayesbias._support.results import Cited
from bayesbias._support.runs import Task, finished, plain_json, prepare, read_plan, run, workers_asked
from bayesbias.distances.adjustment import adjust
from bayesbias.distances.covariances import Relatedness
from bayesbias.distances.dataframe import DistanceTable
from bayesbias.distances.distances import Distances
from bayesbias.distances.list_coverage import HeldWords, held_words
from bayesbias.distances.vocabularies import joint_relatedness
from bayesbias.errors import InputError, listed
from bayesbias.metrics.catalogue import find_metric
from bayesbias.models import load_model
from bayesbias.models.fits import RELATED
from bayesbias.models.related import factors_of, list_fields
from bayesbias.models.spec import ModelSpec
from bayesbias.models.weights import Cells, cells_of, column_classes, row_sums, whole_weights
from bayesbias.numerics.arrays import FloatArray, IntArray, unit_rows
from bayesbias.numerics.random_lists import Wanted, draw_alike, joint_vectors
from bayesbias.numerics.related import positive, root_of, similarity_bins
from bayesbias.second_stage.decisions import (
    CONTRAST,
    DIFFERENCE,
    OF_TABLES,
    OF_VECTORS,
    SOURCE,
    VARIANTS,
    EmbeddingTables,
    MultiversePlan,
    axes_of,
    axis_of,
    checked_decisions,
    file_of,
    measure,
    only_of,
    read_measured,
    tasks_of,
    write_sample,
)
from bayesbias.second_stage.specifications import Multiverse, multiverse_of
from bayesbias.vectors.debiasing.registry import NONE, method_and_options, methods_from_outside
from bayesbias.vectors.poles import poles_of
from bayesbias.words import CONTROLS, load_words

if TYPE_CHECKING:
    from distributed import Client

BALANCED = 1e-6
"""Sum of a metric's weights, as a share of their size, above which its value is not 0 without a bias."""

ROUNDED = 2e-3  # what half precision and a scaled copy leave of the same distances


def multiverse(
    plan: Mapping[str, Any] | str | Path,
    out: str | Path | None = None,
    executor: str | Executor | Client = "serial",
    workers: int | None = None,
    retry: bool = False,
) -> Multiverse:
    """Measure one contrast under every combination of decisions, and what each decision adds.

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
    executor, workers
        As in :func:`sweep`: embeddings are measured in this process, in others, or on a Dask cluster.
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
            if str(executor) != "serial":
                loaded.clear()  # workers load what they measure
            work = partial(measure, loaded=loaded, methods=methods_from_outside(decisions["debiasing"]))
            run(pending, work, folder, executor, workers_asked(workers), "measuring")
            loaded.clear()
        measured = [read_measured(folder, task) for task in tasks]
    return _result(checked, decisions, statuses, tasks, measured)


def _result(
    plan: MultiversePlan,
    decisions: Mapping[str, tuple[Any, ...]],
    statuses: Mapping[str, str],
    tasks: Sequence[Task],
    measured: Sequence[EmbeddingTables],
) -> Multiverse:
    """All specifications with their joint covariance and their null."""
    several = any(len(decisions[name]) > 1 for name in OF_VECTORS)
    standardise = several if plan.standardise is None else plan.standardise
    sources = _Sources({plain_json(task.settings): each for task, each in zip(tasks, measured, strict=True)})
    rows, weights, held = [], [], []
    combinations = list(product(*decisions.values()))
    with progress("computing specifications", len(combinations)) as done:
        for number, values in enumerate(combinations):
            settings = dict(zip(decisions, values, strict=True))
            row = {name: _shown(settings[name]) for name in statuses}
            try:
                own = sources.weights(settings)
            except (InputError, _FailedError) as error:
                status = "failed" if isinstance(error, _FailedError) else "impossible"
                rows.append({**row, "status": status, "reason": str(error), "found": np.nan})
            else:
                scale = sources.blocks[own.block].scale if standardise else 1.0
                if isinstance(scale, str):
                    raise InputError(f"the specifications cannot be standardised, since {scale}: or standardise=False")
                weights.append(replace(own, value=own.value / scale, weight=own.weight / scale))
                rows.append({**row, "status": "done", "reason": "", "found": own.found.share})
                held.append((str(_shown(settings["embedding"])), _lists_said(settings), own.found))
            done(number + 1)
    specifications = pd.DataFrame(rows)
    if not weights:
        reasons = listed(list(dict.fromkeys(specifications["reason"])), 3)
        raise InputError(f"none of {len(rows):,} specifications could be computed: {reasons}")
    first = _first_copies([each.relatedness for each in sources.blocks])
    blocks = [sources.blocks[place] for place in dict.fromkeys(first)]
    numbers = {place: number for number, place in enumerate(dict.fromkeys(first))}
    weights = [replace(each, block=numbers[first[each.block]]) for each in weights]
    known = [block.relatedness for block in blocks]
    joint = joint_relatedness(known, [list(each.protected_words) for each in known])
    if isinstance(joint, str):
        raise InputError(f"the covariance of the specifications is not known, since {joint}")
    entries = _Entries.of(weights, joint, blocks)
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
            f"The covariance of the specifications was estimated from {joint.sampled:,} words of all vocabularies, so "
            "that intervals can be wider or narrower than those of single fits.",
            *_holding_notes(held),
            *notes,
        ),
        _cited(decisions),
    )


def _cited(decisions: Mapping[str, tuple[Any, ...]]) -> tuple[Any, ...]:
    """The word lists, the pairs of axes, the methods of debiasing and the embeddings of a plan."""
    axes = [poles_of(axis["axis"]) for axis in axes_of(decisions["contrast"]) if axis != NONE]
    methods = [method_and_options(option)[0] for option in decisions["debiasing"] if option != NONE]
    lists = [load_words(name) for name in decisions["words"]]
    return (
        *(Cited(f"word list {each.name}", each.source, each.doi or "") for each in lists),
        *(Cited(f"axis {each.name}", each.source, each.doi) for each in axes if each.source),
        *(Cited(f"debiasing method {name}") for name in dict.fromkeys(methods)),
        *(Cited(f"embedding {_shown(name)}") for name in decisions["embedding"]),
    )


def _first_copies(related: Sequence[Relatedness]) -> list[int]:
    """Place of the first embedding with the same distances to the same words, for each: copies move no covariance."""
    first: list[int] = []
    for each in related:
        same = (
            place
            for place in dict.fromkeys(first)
            if (one := related[place]).protected_words == each.protected_words
            and one.attribute_words == each.attribute_words
            and one.scatter.shape == each.scatter.shape
            and np.allclose(one.scatter.astype(float), each.scatter.astype(float), atol=ROUNDED)
        )
        first.append(next(same, len(first)))
    return first


def _shown(option: Any) -> Any:
    if isinstance(option, Mapping) and "axis" in option:
        return f"{Path(option['axis']).name}: {' - '.join(option['groups'])}"
    if isinstance(option, Mapping):
        return plain_json(option)
    return Path(option).name if isinstance(option, str) and Path(option).is_absolute() else option


def _lists_said(settings: Mapping[str, Any]) -> str:
    """The name of word lists, with that of the axis whose words stand in place of their stereotypes."""
    axis = axis_of(settings["contrast"])
    return f"{_shown(settings['words'])}{'' if axis == NONE else f' with the axis {Path(axis["axis"]).name}'}"


def _holding_notes(found: Sequence[tuple[str, str, HeldWords]]) -> list[str]:
    """A note on embeddings, by name and name of the lists, that lack words of lists that contrasts use."""
    least: dict[tuple[str, str], HeldWords] = {}
    for embedding, words, counts in sorted(
        found, key=lambda row: (row[2].share, row[2].controls_held - row[2].controls)
    ):
        least.setdefault((embedding, words), counts)
    lists: dict[tuple[str, str, str], list[str]] = {}
    for (embedding, words), counts in least.items():
        if counts.share < 1 or counts.controls_held < counts.controls:
            part = "all" if counts.share == 1 else f"{min(round(100 * counts.share), 99)}% of the"
            lists.setdefault((embedding, part, counts.and_controls), []).append(words)
    said = [
        f"{embedding} holds {part} words of {' and '.join(words)}{controls}"
        for (embedding, part, controls), words in lists.items()
    ]
    return [f"{listed(said)}."] if said else []


class _FailedError(Exception):
    """An embedding could not be measured."""


@dataclass(frozen=True)
class _Weights:
    """A specification: a weighted sum of the distances in one block, which is an embedding, adjusted or not."""

    value: float  # the estimate
    block: int
    protected: tuple[str, ...]  # the words of each distance, (entries,)
    attribute: tuple[str, ...]
    weight: FloatArray  # its weight, and the factor by which its errors are larger than the vectors say, (entries,)
    factor: FloatArray
    labels: Mapping[str, str]  # list of each attribute word, with the file of its lists unless it is a control list
    found: HeldWords


class Block(NamedTuple):
    """The relatedness of all words in an embedding, and the unit of its distances, or why it has none."""

    relatedness: Relatedness
    scale: float | str


class _TableCells(NamedTuple):
    """Distances as a specification takes them, their cells, and the factor of each class of attribute words."""

    data: Distances
    cells: Cells
    factors: FloatArray


@dataclass(frozen=True)
class _Sources:
    """Results of the embeddings, by the settings of their vectors; what several specifications share is made once."""

    measured: Mapping[str, EmbeddingTables]
    spec: ModelSpec = field(default_factory=partial(load_model, RELATED))
    blocks: list[Block] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)
    _tables: dict[str, Distances] = field(default_factory=dict)
    _prepared: dict[str, _TableCells] = field(default_factory=dict)

    def weights(self, settings: Mapping[str, Any]) -> _Weights:
        """The weights of one combination of decisions."""
        axis = axis_of(settings["contrast"])
        settings = {**settings, "axis": axis}
        prepared = self._prepared_of(settings)
        data, labels = prepared.data, prepared.data.attribute_class
        if settings["metric"] != CONTRAST:
            word, attribute, weight, factor = _metric_weights(prepared, settings)
        elif axis == NONE:
            word, attribute, weight, factor = _contrast_weights(prepared, settings)
        else:
            pairs = self._of(settings).pairs[_key(settings, OF_TABLES)]
            word, attribute, weight, factor = _axis_weights(prepared, axis["groups"], pairs)
        distance = np.full((len(data.protected_words), len(data.attribute_words)), np.nan)
        distance[data.word, data.attribute] = data.y
        if np.isnan(distance[word, attribute]).any():
            needing = "an axis" if settings["metric"] == CONTRAST else settings["metric"]
            raise InputError(f"{needing} needs each distance of a protected word to a word, and some are missing")
        block = _key(settings, (*OF_VECTORS, "adjust"))
        if block not in self._numbers and data.relatedness is not None:
            self._numbers[block] = len(self.blocks)
            self.blocks.append(Block(data.relatedness, data.distance_sd(str(settings["embedding"]))))
        origin = settings["words"] if axis == NONE else axis["axis"]
        controls = settings["contrast"].split(" - ") if axis == NONE else ()
        return _Weights(
            value=float(weight @ distance[word, attribute]),
            block=self._numbers[block],
            protected=tuple(data.protected_words[word].tolist()),
            attribute=tuple(data.attribute_words[attribute].tolist()),
            weight=weight,
            factor=factor,
            labels={
                # lists of several files may have one name, and different words; controls are the same in all
                word: label if label in CONTROLS else f"{label} in {origin}"
                for word, label in zip(data.attribute_words[data.attribute].tolist(), labels.tolist(), strict=True)
            },
            found=held_words(self._of(settings).lists[_key(settings, OF_TABLES)], controls),
        )

    def _of(self, settings: Mapping[str, Any]) -> EmbeddingTables:
        own = self.measured[_key(settings, OF_VECTORS)]
        if own.relatedness is None:
            raise _FailedError(own.failed)
        return own

    def _table(self, settings: Mapping[str, Any]) -> Distances:
        """The distances of a word list in an embedding, adjusted or not."""
        key = _key(settings, (*OF_VECTORS, *OF_TABLES, "adjust"))
        if key not in self._tables:
            own = self._of(settings)
            rows = own.tables[_key(settings, OF_TABLES)]
            if isinstance(rows, str):
                raise InputError(rows)
            table = DistanceTable(rows, relatedness=own.relatedness)
            if settings["adjust"] == NONE:
                self._tables[key] = Distances.read(table, check=False)
            else:
                self._tables[key] = Distances.read(adjust(table, settings["adjust"]), check=False)
                self._tables[key].refuse_slope("a multiverse")
        return self._tables[key]

    def _prepared_of(self, settings: Mapping[str, Any]) -> _TableCells:
        """The same with a word left out."""
        key = _key(settings, (*OF_VECTORS, *OF_TABLES, "adjust", "without"))
        if key not in self._prepared:
            data, left_out = self._table(settings), settings["without"]
            if left_out != NONE:
                data = _without(data, left_out, settings["words"])
            grid = factors_of(self.spec, list_fields(data))
            # root mean squares, as in pools: one factor for all
            self._prepared[key] = _TableCells(data, cells_of(data), np.sqrt(np.diag(grid.products)))
        return self._prepared[key]


def _without(data: Distances, left_out: str, name: str) -> Distances:
    """The distances without a word, or without the words that one source alone gives."""
    words = {left_out}
    if left_out.startswith(SOURCE):
        words = set(only_of(load_words(name)).get(left_out.removeprefix(SOURCE), ()))
    kept = ~np.isin(data.attribute_words[data.attribute], list(words))
    if kept.all():
        if left_out.startswith(SOURCE):
            raise InputError(f"no word of the lists is of this source alone: {left_out!r} changes nothing")
        raise InputError(f"the lists hold no attribute word {left_out!r} that could be left out")
    if lost := set(data.groups) & set(data.attribute_class) - set(data.attribute_class[kept]):
        raise InputError(f"without {left_out!r} no stereotype of {min(map(str, lost))!r} is left")
    return data.part(kept)


def _key(settings: Mapping[str, Any], names: Sequence[str]) -> str:
    return plain_json({name: settings[name] for name in names})


type _Entry = tuple[IntArray, IntArray, FloatArray, FloatArray]
"""Protected word, attribute word, weight and factor of each distance."""


def _contrast_weights(prepared: _TableCells, settings: Mapping[str, Any]) -> _Entry:
    """The contrast of the whole list."""
    data, cells, factors = prepared
    first, second = settings["contrast"].split(" - ")
    for name in (first, second):
        one_of(name, data.connections.tolist(), "a connection")
    sums = row_sums(data, cells, first, second)
    by_cell = (sums.combine[[0]] @ sums.parts).toarray().reshape(cells.n.shape)
    weight = (by_cell / np.maximum(cells.n, 1))[cells.word, cells.column]
    some = weight != 0
    factor = factors[column_classes(data, cells)[cells.column]]
    return cells.word[some], cells.attribute[some], weight[some], factor[some]


def _axis_weights(prepared: _TableCells, groups: Sequence[str], pairs: Sequence[tuple[str, str]]) -> _Entry:
    """The mean distance of protected words to the words on their side of the pairs, less that to the others."""
    data, _, factors = prepared
    present = set(data.attribute_words.tolist())
    complete = [pair for pair in pairs if present.issuperset(pair)]
    if not complete:
        raise InputError("no pair of the axis is left, of which both words are there")
    rows = {word: i for i, word in enumerate(data.attribute_words.tolist())}
    offset = np.zeros(len(rows))
    for place, sign in ((0, 1), (1, -1)):
        for pole, count in Counter(pair[place] for pair in complete).items():
            offset[rows[pole]] = sign * count / len(complete)
    side = np.where(data.groups == groups[0], 1.0, -1.0)
    weights = np.outer(side * whole_weights(data, np.ones(len(side), dtype=bool)), offset)
    word, attribute = np.nonzero(weights)
    return word, attribute, weights[word, attribute], np.full(len(word), factors[0])


def _metric_weights(prepared: _TableCells, settings: Mapping[str, Any]) -> _Entry:
    """A metric, whose weights are scaled so that the positive ones add up to 1: a difference of two weighted means."""
    data, cells, factors = prepared
    name, related = settings["metric"], data.relatedness
    metric = find_metric(name)
    if settings["axis"] != NONE:
        raise InputError(f"{name} takes no axis: its contrast is {DIFFERENCE}")
    if settings["contrast"] != DIFFERENCE:
        raise InputError(f"{name} has no control list: its contrast is {DIFFERENCE}")
    targets = [np.flatnonzero(data.groups == group) for group in data.group_names if group]
    sets = [np.unique(cells.attribute[cells.column == column]) for column in cells.lists.tolist()]
    for kind, count, own in (("groups", metric.targets, targets), ("stereotype lists", metric.attributes, sets)):
        if not count[0] <= len(own) <= (count[1] or len(own)):
            raise InputError(f"{name} does not take {len(own)} {kind}")
    if related is None or metric.linear is None:
        raise InputError(f"{name} is no weighted sum of cosines")
    rows = {word: i for i, word in enumerate(related.protected_words)}
    columns = {word: i for i, word in enumerate(related.attribute_words)}
    vectors = [related.protected[[rows[word] for word in data.protected_words[own].tolist()]] for own in targets]
    others = [related.attributes[[columns[word] for word in data.attribute_words[own].tolist()]] for own in sets]
    sides = metric.linear.sides(*(tuple(unit_rows(each.astype(float)) for each in part) for part in (vectors, others)))
    # of distances, which are 1 - cosines: negative where associated words are closer, as contrasts are
    weight = np.outer(sides.targets, sides.attributes)
    # a protected word that is as near to everything is unbiased: its weights must add up to 0
    if np.abs(weight.sum(axis=1)).max() > BALANCED * np.abs(weight).max() * weight.shape[1]:
        raise InputError(f"{name} is not 0 without a bias, and cannot stand beside a contrast")
    word, attribute = np.meshgrid(np.concatenate(targets), np.concatenate(sets), indexing="ij")
    return word.ravel(), attribute.ravel(), weight.ravel() / weight[weight > 0].sum(), np.full(weight.size, factors[0])


@dataclass(frozen=True)
class _Entries:
    """The weights of all specifications, over the joint protected words and the attribute words."""

    specification: IntArray  # of each weight, as all but the size, (entries,)
    row: IntArray  # joint protected word
    attribute: IntArray
    weight: FloatArray
    factor: FloatArray
    size: int  # number of specifications

    @classmethod
    def of(cls, weights: Sequence[_Weights], joint: Relatedness, blocks: Sequence[Block]) -> _Entries:
        """All weights, whose protected words stand block after block in the joint relatedness."""
        begins = np.cumsum([0, *(len(block.relatedness.protected_words) for block in blocks)])
        rows = [
            {word: begin + i for i, word in enumerate(block.relatedness.protected_words)}
            for begin, block in zip(begins.tolist(), blocks, strict=False)
        ]
        columns = {word: i for i, word in enumerate(joint.attribute_words)}
        return cls(
            specification=np.repeat(np.arange(len(weights)), [len(each.weight) for each in weights]),
            row=np.array([rows[each.block][word] for each in weights for word in each.protected]),
            attribute=np.array([columns[word] for each in weights for word in each.attribute]),
            weight=np.concatenate([each.weight for each in weights]),
            factor=np.concatenate([each.factor for each in weights]),
            size=len(weights),
        )

    @cached_property
    def used(self) -> IntArray:
        """Attribute words with a weight, ascending."""
        return np.unique(self.attribute)

    def covariance(self, joint: Relatedness) -> FloatArray:
        """Covariance (n, n) of the specifications.

        In each component of the protected words the errors of two attribute words have the correlation that their
        similarity says; a specification is a weighted sum of these.
        """
        parts = joint.components
        units, shares = joint.expanded([joint.attribute_words[i] for i in self.used.tolist()])
        bins = similarity_bins(units @ units.T)
        diagonal, count = np.arange(len(bins)), len(self.used)
        cell = self.specification * count + np.searchsorted(self.used, self.attribute)
        values, total = self.weight * self.factor, np.zeros((self.size, self.size))
        for variance, loading, correlations in zip(parts.variances, parts.loadings.T, parts.correlations, strict=True):
            kernel = correlations[bins]
            kernel[diagonal, diagonal] = 1.0
            if shares is not None:
                kernel = shares @ kernel @ shares.T
            # a matrix of smoothed correlations need not be positive semi-definite, a covariance must be
            root = root_of(positive(kernel[None])[0])
            own = np.bincount(cell, values * loading[self.row], minlength=self.size * count)
            by_word = own.reshape(self.size, count) @ root
            total += variance * (by_word @ by_word.T)
        return total

    def topics(
        self, weights: Sequence[_Weights], joint: Relatedness, blocks: Sequence[Block], replicates: int, seed: int
    ) -> tuple[FloatArray, tuple[str, ...]]:
        """Estimates (replicates, n) with random topics in place of the lists, and what is to be said of them.

        A word is replaced by the same word in all specifications, and the words of a list by a topic that is as
        coherent, and as similar to the topics of the other lists, as they are.
        """
        none = np.empty((0, self.size))
        label_of: dict[str, str] = {}
        for word, label in chain.from_iterable(each.labels.items() for each in weights):
            label_of.setdefault(word, label)
        words_used = [joint.attribute_words[i] for i in self.used.tolist()]
        names = sorted({label_of[word] for word in words_used}, key=lambda name: (name in CONTROLS, name))
        lists = [[word for word in words_used if label_of[word] == name] for name in names]
        size, sampled = len(words_used), joint.sample_words
        if not replicates:
            return none, ()
        if 2 * size > len(sampled):
            words = f"{size} words cannot be replaced by topics of the {len(sampled):,} words of all vocabularies."
            return none, (words,)
        unit, means = _joint_vectors(blocks, sampled, lists)
        controls = [i for i, name in enumerate(names) if name in CONTROLS]
        others = tuple(i for i in range(len(names)) if i not in controls)
        together = (*([others] if others else []), *((i,) for i in controls))
        sizes = tuple(map(len, lists))
        wanted = Wanted(tuple(np.full(n, 1 / n) for n in sizes), sizes, means @ means.T, together)
        with progress("drawing topics", replicates) as done:
            drawn = draw_alike(unit, wanted, replicates, np.random.default_rng([seed, 4]), done)
        place = {word: i for i, word in enumerate(chain.from_iterable(lists))}
        column = np.array([place.get(word, -1) for word in joint.attribute_words])[self.attribute]
        scatter = joint.distances()
        matrix = sparse.csr_array(
            (self.weight, (self.specification, self.row * size + column)), shape=(self.size, len(scatter) * size)
        )
        return np.stack([matrix @ scatter[:, words].ravel() for words in drawn]), ()


def _joint_vectors(
    blocks: Sequence[Block], sampled: Sequence[str], lists: Sequence[Sequence[str]]
) -> tuple[np.ndarray, FloatArray]:
    """Vectors of the sampled words and mean vectors of lists, whose products are mean cosines over the embeddings."""
    samples, means = [], []
    for related in {id(block.relatedness.sample): block.relatedness for block in blocks}.values():
        if related.sample is None:
            continue
        rows = {word: i for i, word in enumerate(related.sample_words)}
        columns = {word: i for i, word in enumerate(related.attribute_words)}
        samples.append(related.sample[[rows[word] for word in sampled]].astype(float))
        known = [[columns[word] for word in words if word in columns] for words in lists]
        attributes = related.attributes.astype(float)
        means.append([attributes[own].mean(axis=0) if own else np.zeros(attributes.shape[1]) for own in known])
    return joint_vectors(samples, [np.stack(each) for each in means])
