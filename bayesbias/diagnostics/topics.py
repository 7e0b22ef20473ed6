"""Random lists as coherent as given ones, and contrasts for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesbias._checks import one_of, probability, whole_number
from bayesbias._core.vectors import FloatArray, IntArray, unit_rows, unit_single
from bayesbias._progress import progress
from bayesbias._results import Result
from bayesbias.diagnostics.summaries import PROB, cluster_interval
from bayesbias.distances import distance_table
from bayesbias.distances.storage import coverage_from
from bayesbias.distances.vocabularies import sampled_rows
from bayesbias.embeddings import Case, Embedding, about, opened
from bayesbias.errors import InputError
from bayesbias.metrics import Query, load_query
from bayesbias.metrics.batch import AnyMetric, Prepared, prepared, untested
from bayesbias.metrics.catalogue import METRICS
from bayesbias.words import STEREOTYPES, WordLists, counterparts, load_words

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


Units = NDArray[np.float32]

TRIES = 10
"""Seed words that are tried for a list before one that is less coherent is taken."""
CLOSE = 0.02
"""Mean similarity by which the nearest words of a seed may be less coherent than the given list."""
GROWTH = 1.2
"""Ratio of the sizes of two successive pools."""
LOOKED_AT = 16
"""Words between two successive pools from which the sum of all words between them is estimated."""
FIRST = 512
"""Nearest words that are looked at before all others are."""
BLOCK = 2**22
"""Cosines that are held at once."""


def coherence_of(units: NDArray[np.floating]) -> float:
    """Mean pairwise cosine similarity of unit vectors (words, dimensions); NaN for one word."""
    size = len(units)
    total = units.sum(axis=0, dtype=np.float64)
    return float((total @ total - size) / (size * (size - 1))) if size > 1 else float("nan")


def draw_lists(
    unit: Units, sizes: list[int], targets: list[float] | None, replicates: int, rng: np.random.Generator
) -> IntArray:
    """Words of each replicate's lists (replicates, words), one list after the other, no word twice."""
    if targets is None:
        return np.stack([rng.choice(len(unit), sum(sizes), replace=False) for _ in range(replicates)])
    drawn = np.empty((replicates, sum(sizes)), dtype=np.intp)
    step = max(1, BLOCK // len(unit))
    with progress("drawing topics", replicates * len(sizes)) as done:
        for at, (size, target) in enumerate(zip(sizes, targets, strict=True)):
            begin = sum(sizes[:at])
            for start in range(0, replicates, step):
                block = slice(start, start + step)
                drawn[block, begin : begin + size] = _topics(unit, drawn[block, :begin], size, target, rng)
                done(at * replicates + min(start + step, replicates))
    return drawn


def _topics(unit: Units, used: IntArray, size: int, target: float, rng: np.random.Generator) -> IntArray:
    """A list for each row of words that are used already; where no seed is coherent enough, that of the best one."""
    if size == 1:
        return _unused(len(unit), used, rng)[:, None]
    topics = np.empty((len(used), size), dtype=np.intp)
    best, left = np.full(len(used), -np.inf), np.arange(len(used))
    room = len(unit) - used.shape[1]
    stages = [_pools(size, most) for most in (min(FIRST, room), room) if most >= size]
    for _ in range(TRIES):
        seeds = _unused(len(unit), used[left], rng)
        cosines = unit[seeds] @ unit.T
        np.put_along_axis(cosines, used[left], -np.inf, axis=1)
        cosines[np.arange(len(left)), seeds] = np.inf
        for at, row in zip(left, cosines, strict=True):
            pool, tightest = _pool(unit, row, stages, size, target)
            if tightest > best[at]:
                others = rng.choice(len(pool) - 1, size - 1, replace=False) + 1
                best[at], topics[at] = tightest, pool[np.append(0, others)]
        left = left[best[left] < target - CLOSE]
        if not len(left):
            break
    return topics


def _unused(words: int, used: IntArray, rng: np.random.Generator) -> IntArray:
    """A random word for each row of used words, none of these."""
    drawn = rng.integers(words, size=len(used))
    while len(again := np.flatnonzero((used == drawn[:, None]).any(axis=1))):
        drawn[again] = rng.integers(words, size=len(again))
    return drawn


class _Pools(NamedTuple):
    """Pools of the words nearest to a seed, of growing sizes.

    ``places`` are those of the words to look at, in the order of nearness without the seed; from ``starts`` on they
    belong to the next larger pool, and each counts for ``weights`` words. ``excess`` is what the squared length of a
    sum so estimated is too long.
    """

    sizes: IntArray
    places: IntArray
    starts: IntArray
    weights: FloatArray
    excess: FloatArray


def _pools(smallest: int, largest: int) -> _Pools:
    steps = int(np.log(largest / smallest) / np.log(GROWTH)) + 2
    sizes = np.unique(np.geomspace(smallest, largest, steps).round().astype(np.intp))
    ends = sizes - 1
    parts = [
        np.arange(begin, end) if end - begin <= LOOKED_AT or begin == 0 else _spread(begin, end)
        for begin, end in zip([0, *ends[:-1]], ends, strict=True)
    ]
    counts = np.array([len(part) for part in parts])
    words = np.diff(ends, prepend=0)
    excess = (words**2 / counts - words).cumsum()
    return _Pools(sizes, np.concatenate(parts), np.cumsum(counts) - counts, words / counts, excess)


def _spread(begin: int, end: int) -> IntArray:
    """Evenly spaced whole numbers of a range."""
    return begin + ((np.arange(LOOKED_AT) + 0.5) * (end - begin) / LOOKED_AT).astype(np.intp)


def _pool(
    unit: Units, cosines: NDArray[np.float32], stages: list[_Pools], size: int, target: float
) -> tuple[IntArray, float]:
    """The words nearest to a seed (which has the largest cosine) whose lists are as coherent as the target.

    The second result is the coherence of the very nearest words.
    """
    for pools in stages:
        order = _nearest(cosines, int(pools.sizes[-1]))
        expected = _expected(unit, order, pools, size)
        beyond = np.flatnonzero(expected <= target)
        if len(beyond):
            break
    at = int(beyond[0]) if len(beyond) else len(expected) - 1
    if at > 0 and expected[at - 1] - target < target - expected[at]:
        at -= 1
    return order[: pools.sizes[at]], float(expected[0])


def _nearest(cosines: NDArray[np.float32], count: int) -> IntArray:
    """Places of the largest cosines, the largest first."""
    if 4 * count > len(cosines):
        return np.argsort(-cosines)[:count]
    some = np.argpartition(cosines, len(cosines) - count)[len(cosines) - count :]
    return some[np.argsort(-cosines[some])]


def _expected(unit: Units, order: IntArray, pools: _Pools, size: int) -> FloatArray:
    """Mean pairwise cosine similarity of the seed with random others of each pool, (pools,).

    Of the pairs of such a list 2 / size hold the seed. The mean similarity of all pairs of a pool's other words
    follows from the length of their sum.
    """
    sums = np.add.reduceat(unit[order[1:][pools.places]], pools.starts, axis=0) * pools.weights[:, None]
    total, others = sums.cumsum(axis=0), pools.sizes - 1.0
    with_seed: FloatArray = total @ unit[order[0]] / others
    if size == 2:
        return with_seed
    among = (np.vecdot(total, total) - others - pools.excess) / (others * (others - 1))
    expected: FloatArray = 2 / size * with_seed + (1 - 2 / size) * among
    return expected


Kind = Literal["topical", "random"]

LISTS = {"topical": "random lists as coherent as these", "random": "lists of unrelated random words"}
"""Kinds of replicates, and what a sentence calls their lists."""
MOST = 20_000
"""Words of the vocabulary among which topics are looked for."""
SHORT = 0.05
"""Difference in mean similarity above which a note says that random lists are not as coherent as the given ones."""
PLENTY = 5
"""Words of the vocabulary for each word of a replicate below which a note says that replicates are alike."""


@dataclass(frozen=True, repr=False, eq=False)
class TopicNull(Result):
    """A statistic for random topics of the vocabulary, and the observed value among them.

    Attributes
    ----------
    words
        Name of the word lists or of the query.
    values
        One row a replicate and statistic: ``replicate``, ``statistic``, ``value``.
    observed
        Statistic to its value for the lists as given.
    centre
        Statistic to its value without bias, from which two-sided distances are measured: 0 for a contrast, a metric's
        optimum.
    coherence
        One row a list: ``list``, ``words`` (found), ``target`` (their mean pairwise cosine similarity; NaN for one
        word) and ``reached`` (its mean over replicates).
    drawn
        Words (replicates, words) of the random lists, one list after the other; :meth:`lists` has them by list.
    kind, replicates, seed
        What was asked.
    embedding
        Name of the embedding.
    notes
        Sentences on missing words, and on random lists that are less or more coherent than the given ones.
    """

    words: str
    values: pd.DataFrame
    observed: Mapping[str, float]
    centre: Mapping[str, float]
    coherence: pd.DataFrame
    drawn: NDArray[np.object_]
    kind: str
    replicates: int
    seed: int
    embedding: str
    notes: tuple[str, ...]

    def table(self, prob: float = PROB) -> pd.DataFrame:
        """One row a statistic.

        Columns ``statistic``, ``observed``, ``centre``, ``mean`` and ``sd`` of the null distribution, ``low`` and
        ``high`` (its central ``prob``, by default 89%), ``count`` and ``share_as_far`` (replicates at least as far from
        the centre as the observed value) and ``p_value``, (count + 1) / (replicates + 1).
        """
        prob = probability(prob, "prob")
        rows = []
        for statistic, observed in self.observed.items():
            values, centre = self.of(statistic), self.centre[statistic]
            count = int(as_far(values, observed, centre).sum())
            low, high = np.quantile(values, [(1 - prob) / 2, (1 + prob) / 2])
            spread = values.std(ddof=1) if len(values) > 1 else np.nan
            shares = count, count / self.replicates, (count + 1) / (self.replicates + 1)
            rows.append((statistic, observed, centre, values.mean(), spread, low, high, *shares))
        columns = ["statistic", "observed", "centre", "mean", "sd", "low", "high", "count", "share_as_far", "p_value"]
        return pd.DataFrame(rows, columns=columns)

    def of(self, statistic: str) -> FloatArray:
        """The null distribution (replicates,) of one statistic."""
        one_of(statistic, list(self.observed), "statistic")
        return self.values.loc[self.values["statistic"] == statistic, "value"].to_numpy()

    def lists(self, replicate: int) -> dict[str, tuple[str, ...]]:
        """The random lists of one replicate, counted from 0: the name of the replaced list to its words."""
        if whole_number(replicate, "replicate", least=0) >= self.replicates:
            raise InputError(f"replicate is {replicate}: there are {self.replicates}, counted from 0")
        parts = np.split(self.drawn[replicate], np.cumsum(self.coherence["words"])[:-1])
        return {name: tuple(part) for name, part in zip(self.coherence["list"], parts, strict=True)}

    @property
    def sentence(self) -> str:
        """The result in words."""
        first, *others = self.table().to_dict("records")
        text = (
            f"Of {self.replicates:,} {LISTS[self.kind]}, {_are(first['count'])} at least as far from "
            f"{first['centre']:g} ({first['statistic']}: {first['observed']:.3f})."
        )
        rest = [f"{row['count']:,} for {row['statistic']} ({row['observed']:.3f})" for row in others]
        full = f"{text} The count is {' and '.join(rest)}." if rest else text
        return re.sub(r"(?<= )-(?= )|(?<=[ (])-(?=\d)", "\N{MINUS SIGN}", full)

    def text(self) -> str:
        """The result in sentences."""
        return " ".join([self.sentence, *(f"{note}." for note in self.notes)])

    def _repr_html_(self) -> str:
        tables = (self.table(), self.coherence)
        return f"<p>{escape(str(self))}</p>" + "".join(table.round(4).to_html(index=False) for table in tables)


def as_far(values: FloatArray, observed: float, centre: float) -> NDArray[np.bool_]:
    """Which values are at least as far from the centre as the observed one."""
    far: NDArray[np.bool_] = np.abs(values - centre) >= abs(observed - centre) - 1e-12
    return far


def _are(count: int) -> str:
    return f"{count:,} {'is' if count == 1 else 'are'}"


def topic_null(
    kv: Embedding,
    words_or_query: WordLists | Query | str | Path,
    metric: AnyMetric | None = None,
    replicates: int = 1000,
    seed: int = 0,
    kind: Kind = "topical",
    case: Case = "as-is",
) -> TopicNull:
    """How large a contrast or a metric is for arbitrary topics: its null distribution, without a model.

    Each replicate replaces every attribute list (stereotypes and controls, or the attribute sets of a query) by a
    random list of the vocabulary of the same length and coherence. Protected words and vectors stay as they are.

    A coherent list grows from a random seed word: of the pools of the words nearest to the seed, the one is taken in
    which the seed with random others has the mean pairwise cosine similarity of the given list. Lists of a replicate
    share no word, and hold no word of the given lists.

    Parameters
    ----------
    kv
        The embedding, or what :func:`load_embedding` takes. Words are drawn from its 20,000 most frequent words where
        it is ordered by frequency, otherwise from as many random words.
    words_or_query
        Word lists, a :class:`Query`, or what :func:`load_words` or :func:`load_query` takes. A name of both is a query
        if a metric is given.
    metric
        A name that :func:`list_metrics` shows, or a pair of it and its options; the groups of word lists are then the
        target sets, their stereotypes the attribute sets. By default the contrasts of
        associated with different and with each control list, as far as the lists have them: means over protected
        words of the difference of two mean distances, as in :func:`cluster_interval`.
    replicates, seed
        Number of replicates, and the seed.
    kind
        ``"topical"``: lists as coherent as the given ones. ``"random"``: unrelated random words.
    case
        As in :func:`distance_table`.

    Returns
    -------
    TopicNull
        Its ``table``, ``coherence``, ``values`` and ``sentence``; :func:`plot_topic_null` draws it.

    Raises
    ------
    InputError
        An unknown kind or metric, a query without a metric or with other sets than the metric takes, lists without
        stereotypes, too few words to draw from, or a metric that is not a finite number.

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> found = bb.topic_null(kv, "weat7", replicates=20)
    >>> len(found.of("associated - different"))
    20
    """
    one_of(kind, list(LISTS), "kind")
    replicates, seed = whole_number(replicates, "replicates"), whole_number(seed, "seed", least=0, most=None)
    given = _given(words_or_query, metric)
    vectors = opened(kv)
    if isinstance(given, WordLists) and metric is None:
        asked = _contrasts(vectors, given, case)
    else:
        asked = _metric(vectors, given, metric, case)
    candidates, sampled = sampled_rows(vectors, asked.taken, MOST, seed)
    sizes = [len(rows) for rows in asked.lists.values()]
    if len(candidates) < sum(sizes):
        raise InputError(
            f"the embedding has {len(candidates)} words outside of the lists, and {sum(sizes)} are needed to replace "
            "the words of all attribute lists: load more of the embedding, or shorten the lists"
        )
    unit = unit_single(vectors.vectors[candidates])
    targets = [coherence_of(unit_rows(vectors.vectors[rows])) for rows in asked.lists.values()]
    drawn = draw_lists(unit, sizes, targets if kind == "topical" else None, replicates, np.random.default_rng(seed))
    reached = [
        float(np.mean([coherence_of(unit[words]) for words in part]))
        for part in np.split(drawn, np.cumsum(sizes)[:-1], axis=1)
    ]
    coherence = pd.DataFrame({"list": list(asked.lists), "words": sizes, "target": targets, "reached": reached})
    measured = asked.values(candidates[drawn])
    return TopicNull(
        words=given.name,
        values=pd.DataFrame(
            {
                "replicate": np.repeat(np.arange(replicates), len(asked.observed)),
                "statistic": np.tile(np.array(list(asked.observed), dtype=object), replicates),
                "value": measured.ravel(),
            }
        ).astype({"statistic": "str"}),
        observed=asked.observed,
        centre=asked.centre,
        coherence=coherence,
        drawn=np.array([vectors.index_to_key[row] for row in candidates], dtype=object)[drawn],
        kind=kind,
        replicates=replicates,
        seed=seed,
        embedding=str(about(vectors)["name"]),
        notes=(*asked.notes, *_notes(coherence, kind, len(candidates), sampled)),
    )


def _notes(coherence: pd.DataFrame, kind: str, candidates: int, sampled: str) -> list[str]:
    """Sentences on what the replicates rest on."""
    notes = []
    for row in coherence.to_dict("records") if kind == "topical" else []:
        if abs(row["reached"] - row["target"]) > SHORT:
            less = row["reached"] < row["target"]
            notes.append(
                f"random lists in place of {row['list']} reach a mean similarity of {row['reached']:.2f} and not "
                f"{row['target']:.2f}: the null distribution may be too {'narrow' if less else 'wide'}"
            )
    needed = int(coherence["words"].sum())
    if candidates < PLENTY * needed:
        notes.append(
            f"replicates of {needed} words are drawn from {candidates:,} words, so that they share many of them: load "
            "more of the embedding"
        )
    elif sampled == "frequent":
        notes.append(f"the replicates' words are drawn from the {candidates:,} most frequent words")
    return notes


class _Asked(NamedTuple):
    """What is to be measured: rows of each attribute list, words that replicates leave out, values, reservations."""

    lists: dict[str, IntArray]
    taken: set[str]
    observed: dict[str, float]
    centre: dict[str, float]
    values: Callable[[IntArray], FloatArray]
    notes: tuple[str, ...]


def _given(words: object, metric: AnyMetric | None) -> WordLists | Query:
    """Word lists or a query, as given or read."""
    if isinstance(words, str | Path):
        words = _read(words, metric is None)
    if not isinstance(words, WordLists | Query):
        raise InputError(f"given is {type(words).__name__}: give word lists, a Query, or the name or path of either")
    if isinstance(words, Query) and metric is None:
        raise InputError(
            f"{words.name!r} is a query, which has no contrasts: name a metric, one of {', '.join(METRICS)}"
        )
    return words


def _read(name_or_path: str | Path, lists_first: bool) -> WordLists | Query:
    def read(lists: bool) -> WordLists | Query:
        return load_words(name_or_path) if lists else load_query(name_or_path)

    try:
        return read(lists_first)
    except InputError as error:
        try:
            return read(not lists_first)
        except InputError:
            raise error from None


def _contrasts(kv: KeyedVectors, lists: WordLists, case: Case) -> _Asked:
    """Contrasts of associated words with all others that the lists have."""
    lists.single_forms("topic_null")
    table = distance_table(kv, lists, case=case, relatedness=False)
    record = coverage_from(table.attrs["coverage"])
    present = set(table["connection"])
    observed = {
        f"associated - {second}": cluster_interval(table, "associated", second).estimate
        for second in counterparts("associated", [*STEREOTYPES, *lists.controls])
        if {"associated", second} <= present
    }
    observed = {name: value for name, value in observed.items() if np.isfinite(value)}
    if not observed:
        shown = ", ".join(sorted(present))
        raise InputError(
            f"{lists.name!r} has no contrast of associated words with others, only {shown} distances: give stereotypes "
            "of two groups, or stereotypes and controls"
        )
    parts = {"protected": lists.protected, "stereotype": lists.stereotypes, "control": lists.controls}
    missing = {word for entry in record.lists for word in entry["missing"]}
    rows = {
        (kind, name): _rows(kv, words, missing, record.substituted)
        for kind, part in parts.items()
        for name, words in part.items()
    }
    attributes = {key: found for key, found in rows.items() if key[0] != "protected"}
    protected = [(name, at) for (kind, name), found in rows.items() if kind == "protected" for at in found]
    near = _cell_weights([name for name, _ in protected], attributes)
    vectors = unit_rows(kv.vectors[[at for _, at in protected]])
    weights = np.stack([_contrast_weights(near, *name.split(" - ")) for name in observed])
    sizes = [len(found) for found in attributes.values()]
    taken = {*lists.every_word(), *record.substituted.values()}
    return _Asked(
        lists={name: found for (_, name), found in attributes.items()},
        taken=taken,
        observed=observed,
        centre=dict.fromkeys(observed, 0.0),
        values=partial(_contrast_values, kv, weights @ vectors, sizes),
        notes=tuple(replace(record, relatedness="").notes()),
    )


def _rows(kv: KeyedVectors, words: Sequence[str], missing: set[str], used_for: Mapping[str, str]) -> IntArray:
    """Rows of the embedding that hold the words of a list, each once."""
    keys = dict.fromkeys(used_for.get(word, word) for word in words if word not in missing)
    return np.array([kv.key_to_index[key] for key in keys], dtype=np.intp)


def _cell_weights(groups: list[str], attributes: Mapping[tuple[str, str], IntArray]) -> dict[str, FloatArray]:
    """Connection to the share (lists, J) that each list has in the mean of a protected word's cell."""
    kinds, names = zip(*attributes, strict=True)
    own = np.array(names)[:, None] == np.array(groups)
    stereotype = np.array(kinds)[:, None] == "stereotype"
    sizes = np.array([len(rows) for rows in attributes.values()], dtype=float)[:, None]
    others = np.where(stereotype & ~own, sizes, 0.0)
    return {
        "associated": (stereotype & own).astype(float),
        "different": others / np.maximum(others.sum(axis=0), 1.0),
        **{
            name: np.outer(np.array(names) == name, np.ones(len(groups)))
            for kind, name in attributes
            if kind == "control"
        },
    }


def _contrast_weights(near: Mapping[str, FloatArray], first: str, second: str) -> FloatArray:
    """Weights (lists, J) of mean distances in a contrast; a protected word without one of its cells has none."""
    both = near[first].any(axis=0) & near[second].any(axis=0)
    return np.where(both, near[first] - near[second], 0.0) / both.sum()


def _contrast_values(kv: KeyedVectors, weighted: FloatArray, sizes: list[int], rows: IntArray) -> FloatArray:
    """Contrasts (replicates, C) from protected vectors that are summed by weight already, (C, lists, dimensions).

    The weights of a contrast add up to 0, so that distances are cosines with the opposite sign.
    """
    used, at = np.unique(rows, return_inverse=True)
    cosines = weighted @ unit_rows(kv.vectors[used]).T
    parts = np.split(at.reshape(rows.shape), np.cumsum(sizes)[:-1], axis=1)
    means = [cosines[:, place, part].mean(axis=-1) for place, part in enumerate(parts)]
    values: FloatArray = -np.sum(means, axis=0).T
    return values


def _metric(kv: KeyedVectors, given: WordLists | Query, metric: AnyMetric | None, case: Case) -> _Asked:
    """A metric of a query, or of the groups and stereotypes of word lists."""
    name, options = metric if isinstance(metric, tuple) and len(metric) == 2 else (metric, {})
    if not isinstance(options, Mapping):
        raise InputError(f"the options of {name} are {options!r}: give a mapping of their names to values")
    query = given if isinstance(given, Query) else Query.from_words(given)
    ready = prepared(str(name), kv, query, untested({"case": case, **options}))
    if ready.found.reason is not None:
        raise InputError(f"there is no {name} of {query.name!r}: {ready.found.reason}")
    sizes = [len(ready.found.words[listed]) for listed in query.attributes]
    parts = np.split(ready.attribute_rows, np.cumsum(sizes)[:-1])
    listed = given.every_word() if isinstance(given, WordLists) else ()
    measured = ready.measure()
    return _Asked(
        lists=dict(zip(query.attributes, parts, strict=True)),
        taken={*listed, *(word for words in query.sets.values() for word in words), *ready.found.keys.values()},
        observed={str(name): _finite(measured.value, str(name), "the given lists")},
        centre={str(name): ready.metric.optimum},
        values=partial(_metric_values, ready),
        notes=(*query.notes, *ready.found.notes, *measured.every_note),
    )


def _metric_values(ready: Prepared, rows: IntArray) -> FloatArray:
    """The metric (replicates, 1) with the words at some rows as attribute words."""
    values = np.empty((len(rows), 1))
    with progress(f"measuring {ready.metric.name}", len(rows)) as done:
        for at, chosen in enumerate(rows):
            values[at] = _finite(ready.with_attributes(chosen).value, ready.metric.name, f"replicate {at}")
            done(at + 1)
    return values


def _finite(value: float, name: str, where: str) -> float:
    if not np.isfinite(value):
        raise InputError(f"{name} is not a finite number for {where}: choose another metric or other words")
    return value
