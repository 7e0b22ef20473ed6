"""Random lists as coherent as given ones, as near and as similar to each other, and contrasts for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesbias._support.arguments import one_of, probability, whole_number
from bayesbias._support.progress import one_thread, progress
from bayesbias.checks.summaries import PROB
from bayesbias.distances import Coverage, distance_table
from bayesbias.distances.dataframe import limits_of
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError, listed
from bayesbias.metrics import Query, load_query
from bayesbias.metrics.batch import AnyMetric, metric_and_options, prepared, untested
from bayesbias.metrics.catalogue import METRICS
from bayesbias.metrics.queries import every_word
from bayesbias.models.weights import list_contrasts, word_weights
from bayesbias.numerics.arrays import FloatArray, IntArray, unit_rows, unit_single
from bayesbias.numerics.random_lists import Units, Wanted, by_list, draw_alike, list_means
from bayesbias.results import Cited, Note, Result
from bayesbias.vectors import Case, Embedding, about, find_keys, find_lists, keyed_vectors, opened, rows_of
from bayesbias.vectors.formats import load_part
from bayesbias.vectors.lookup import directed, sample_of, sampled_rows, waiting_words
from bayesbias.words import STEREOTYPES, WordLists, counterparts, load_words

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


Kind = Literal["topical", "random"]
KINDS = ("topical", "random")
MOST = 20_000  # words of the vocabulary among which topics are looked for
SHORT = 0.05  # difference in mean similarity above which a note says that random lists are not like the given ones
SIMILARITIES = ("target", "reached", "cosine_target", "cosine_reached")
PLENTY = 5  # words of the vocabulary for each word of a replicate below which a note says that replicates are similar


@dataclass(frozen=True, repr=False, eq=False)
class TopicNull(Result):
    """A statistic for random topics of the vocabulary, and the observed value among them.

    Attributes
    ----------
    words, kind, replicates, seed, embedding
        What was measured, and the options of :func:`topic_null`.
    values
        One row a replicate and statistic: ``replicate``, ``statistic``, ``value``.
    observed, centre
        Statistic to its value for the lists as given, and to that without bias (0 for a contrast, a metric's optimum).
    coherence
        One row a list: ``list``, ``words`` (found; each form of a word counts), ``target`` (their mean pairwise cosine
        similarity; NaN for one word) and ``reached`` (its mean over replicates).
    similarity
        One row a pair of lists: ``first``, ``second``, ``control`` (whether one is a control list), ``target`` (mean
        cosine similarity of a word of one and a word of the other) and ``reached``, ``cosine_target`` and
        ``cosine_reached`` (the cosine of the lists' mean vectors, less the mean of the words that are drawn from).
    found, forms
        Attribute list to its words that were found (empty for a metric), and to the number of forms of each.
    drawn, anywhere
        Words (replicates, words) of the random lists, and of those for contrasts with controls, see :meth:`lists`.
    notes
        Missing words, and random lists that are not as coherent or similar as the given ones.
    """

    picture: ClassVar[str] = "plot_topic_null"
    prob: ClassVar[float] = PROB

    words: str
    values: pd.DataFrame
    observed: Mapping[str, float]
    centre: Mapping[str, float]
    coherence: pd.DataFrame
    similarity: pd.DataFrame
    found: Mapping[str, tuple[str, ...]]
    forms: Mapping[str, tuple[int, ...]]
    drawn: NDArray[np.object_]
    kind: str
    replicates: int
    seed: int
    embedding: str
    notes: tuple[Note, ...]
    anywhere: NDArray[np.object_] | None = None

    def caption(self) -> str:
        what = "cosine distance; < 0: associated closer" if self._lists else "value of the metric"
        return f"Observed and random lists ({what})"

    def header(self) -> dict[str, object]:
        return {
            "words" if self._lists else "query": self.words,
            "embedding": self.embedding,
            "random lists": f"{self.replicates:,} sets, {self.kind}",
            "seed": self.seed,
        }

    def summary(self) -> pd.DataFrame:
        """The table without what others of its columns tell: the sd, the share, and a centre of 0."""
        table = self.table().drop(columns=["sd", "share_as_far"]).rename(columns={"count": "as_far"})
        lists = ["as near" if _is_near(name) and self.kind == "topical" else "anywhere" for name in table["statistic"]]
        table.insert(1, "lists", lists)
        return table if table["centre"].any() else table.drop(columns="centre")

    def tables(self) -> dict[str, pd.DataFrame]:
        return {
            "Observed and random lists": self.table(),
            "Mean cosine within lists": self.coherence,
            "Mean cosine between lists": self.similarity,
        }

    def table(self, prob: float = PROB) -> pd.DataFrame:
        """One row a statistic.

        ``observed``, ``centre``, ``mean``, ``sd``, ``low`` and ``high`` (central ``prob``) of the null distribution,
        ``count`` and ``share_as_far`` (replicates at least as far from the centre as the observed value), ``p_value``,
        (count + 1) / (replicates + 1).
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

    @property
    def _lists(self) -> bool:
        """True for word lists, False for a query."""
        return any(" - " in statistic for statistic in self.observed)

    def of(self, statistic: str) -> FloatArray:
        """The null distribution (replicates,) of one statistic."""
        one_of(statistic, list(self.observed), "statistic")
        return self.values.loc[self.values["statistic"] == statistic, "value"].to_numpy()

    def lists(self, replicate: int, statistic: str | None = None) -> dict[str, tuple[str | tuple[str, ...], ...]]:
        """Random lists of a replicate, from 0, by the replaced list; for forms of a word stand as many words."""
        near = statistic is None or self.anywhere is None or _is_near(statistic)
        words = iter(self.drawn[replicate] if near or self.anywhere is None else self.anywhere[replicate])
        return {
            name: tuple(next(words) if count == 1 else tuple(islice(words, count)) for count in counts)
            for name, counts in self.forms.items()
        }

    def sources(self) -> tuple[Any, ...]:
        kind = "word list" if self._lists else "query"
        return Cited(f"{kind} {self.words}"), Cited(f"embedding {self.embedding}")


def as_far(values: FloatArray, observed: float, centre: float) -> NDArray[np.bool_]:
    """True for values at least as far from the centre as the observed one."""
    return np.abs(values - centre) >= abs(observed - centre) - 1e-12


def refuse_other(topics: TopicNull, fitted: Distances) -> None:
    """Refuse the chance check of other words or of another embedding than those of a fit, as far as these are known."""
    record = fitted.coverage
    if record is None or record.unknown:
        return
    differing = set[str]()
    for name, words in topics.found.items() if len(fitted.attribute_class) else ():
        held = set(fitted.attribute_words[fitted.attribute[fitted.attribute_class == name]].tolist())
        differing |= held ^ set(words) if held else set()
    embedding = record.embedding.get("name", topics.embedding)
    if differing or (record.word_list, embedding) != (topics.words, topics.embedding):
        where = f"of {topics.words} in {topics.embedding}, the fit {record.word_list} in {embedding}"
        raise InputError(f"topics are {where}, and words differ ({listed(sorted(differing))}): give those of the fit")


def topic_null(
    kv: Embedding,
    words_or_query: WordLists | Query | str | Path,
    metric: AnyMetric | None = None,
    replicates: int = 1000,
    seed: int = 0,
    kind: Kind = "topical",
    case: Case = "as-is",
) -> TopicNull:
    """Null distribution of a contrast or a metric over random topics, without a model.

    Each replicate replaces every attribute list (stereotypes and controls, or the attribute sets of a query) by a
    random list of the vocabulary, as long as the given one, as coherent, as similar to the others, and, for associated
    - different and for metrics, as near to the protected words. Lists that have nothing to do with each other differ
    more than lists of one kind, and distances to words for people differ more than those to other words.

    A list grows from a random seed word: its words are a random part of the words nearest to a direction between the
    seed word and the lists that are drawn already, chosen so that mean pairwise cosine similarities within and between
    lists are those of the given lists (the nearest of up to 10 seed words, where none is within .015). Lists of a
    replicate share no word, and hold none of the given lists; as many words as it has forms, with their mean, stand for
    a word.

    Parameters
    ----------
    kv
        The embedding, or what :func:`load_embedding` takes. Words are drawn from its 20,000 most frequent ones where it
        is ordered by frequency, otherwise from as many random ones, the same for every seed.
    words_or_query
        Word lists, a :class:`Query`, or what :func:`load_words` or :func:`load_query` takes. A name of both is a query
        if a metric is given.
    metric
        A metric, as :func:`metric` takes it, or a pair of it and its options; groups are then target sets, stereotypes
        attribute sets. By default contrasts of associated with different (mean over protected words of the distance to
        the own list less the mean of those to the other lists; groups weigh the same, and words within a group) and
        with each control list, as in :func:`bayesbias.checks.cluster_interval`.
    replicates, seed, case
        Number of replicates, and the seed; ``case`` is as in :func:`distance_table`.
    kind
        ``"topical"``: as above. ``"random"``: unrelated random words.

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> found = bb.topic_null(kv, "weat7", replicates=20)
    >>> len(found.of("associated - different"))
    20
    """
    one_of(kind, KINDS, "kind")
    replicates, seed = whole_number(replicates, "replicates"), whole_number(seed, "seed", least=0, most=None)
    source = _given(words_or_query, metric)
    asked = source.every_word() if isinstance(source, WordLists) else every_word([source])
    vectors = opened(kv, asked, case, source.language)
    plan = _contrasts(vectors, source, case) if metric is None else _metric(vectors, source, metric, case)
    candidates, sampled = _candidates(vectors, plan.taken)
    names, lists = list(plan.lists), list(plan.lists.values())
    sizes, every = [len(rows) for rows, _ in lists], [_shares(each) for _, each in lists]
    if len(candidates) < sum(sizes):
        raise InputError(f"the embedding has {len(candidates)} words outside of the lists, and {sum(sizes)} are needed")
    unit = unit_single(vectors.vectors[candidates])
    given = [unit_rows(vectors.vectors[rows]) for rows, _ in lists]
    means = np.stack([weights @ units for weights, units in zip(every, given, strict=True)])
    rng = np.random.default_rng(seed)
    near = np.array([kind == "topical" and _is_near(name) for name in plan.observed])
    if kind == "topical":
        wanted = Wanted(tuple(every), tuple(len(each) for _, each in lists), means @ means.T, plan.together)
        # the products are small: threads wait for each other, and with their number the nearest words would change
        with one_thread(), progress("drawing topics", replicates) as done:
            anywhere = None if near.all() else draw_alike(unit, wanted, replicates, rng, done)
            drawn = np.empty((0, 0), np.intp) if anywhere is None else anywhere
            if near.any():
                # the mean of the vocabulary is fixed too: lists are compared less that mean
                fixed = np.stack([plan.protected, unit.mean(axis=0, dtype=np.float64)])
                drawn = _as_near(unit, wanted, anywhere, fixed, fixed @ means.T, replicates, rng, done)
    else:
        drawn = anywhere = np.stack([rng.permutation(len(unit))[: sum(sizes)] for _ in range(replicates)])
    forms = {name: each for name, (_, each) in plan.lists.items()}
    whole = [_coherence(own, np.arange(len(own))[None], each) for own, each in zip(given, forms.values(), strict=True)]
    reached = [_coherence(unit, own, each) for own, each in zip(by_list(drawn, sizes), forms.values(), strict=True)]
    coherence = pd.DataFrame({"list": names, "words": sizes, "target": whole, "reached": reached})
    centre = unit.mean(axis=0, dtype=np.float64)

    def compared(words: IntArray) -> pd.DataFrame:
        own = [list_means(unit, *each) for each in zip(by_list(words, sizes), every, strict=True)]
        return _similarity(names, plan.together[0], means, np.stack(own, axis=1), centre)

    similarity, measured = compared(drawn), plan.values(candidates[drawn])
    if not near.any():
        anywhere = None  # one draw serves all statistics
    if anywhere is not None:
        similarity = similarity.where(~similarity["control"], compared(anywhere))
        measured = np.where(near, measured, plan.values(candidates[anywhere]))
    words = np.array([vectors.index_to_key[row] for row in candidates], dtype=object)
    labels = pd.MultiIndex.from_product([range(replicates), list(plan.observed)], names=["replicate", "statistic"])
    values = pd.Series(measured.ravel(), labels, name="value").reset_index().astype({"statistic": "str"})
    few = len(candidates) < PLENTY * sum(sizes)
    rule = f"for {sum(sizes)} of a replicate" if few else "the most frequent"
    return TopicNull(
        words=source.name,
        values=values,
        observed=plan.observed,
        centre=plan.centre,
        coherence=coherence,
        similarity=similarity,
        found=plan.found,
        forms=forms,
        drawn=words[drawn],
        anywhere=None if anywhere is None else words[anywhere],
        kind=kind,
        replicates=replicates,
        seed=seed,
        embedding=str(about(vectors)["name"]),
        notes=(
            *plan.notes,
            *(_unlike(coherence, similarity) if kind == "topical" else []),
            *([Note("few-candidates", words=len(candidates), rule=rule)] if few or sampled == "frequent" else []),
        ),
    )


def _is_near(statistic: str) -> bool:
    """True if a statistic's random stereotype lists are as near to the protected words as the given ones.

    In contrasts with control lists they may lie anywhere: how near lists are is what these are about.
    """
    return statistic == "associated - different" or not statistic.startswith("associated - ")


def _as_near(
    unit: Units,
    wanted: Wanted,
    anywhere: IntArray | None,
    fixed: FloatArray,
    towards: FloatArray,
    replicates: int,
    rng: np.random.Generator,
    done: Callable[[float], None],
) -> IntArray:
    """Random lists (replicates, words), stereotypes as near to fixed vectors as those given, others as ``anywhere``."""
    own = list(range(len(wanted.weights))) if anywhere is None else list(wanted.together[0])
    columns = np.isin(np.repeat(np.arange(len(wanted.weights)), [len(each) for each in wanted.weights]), own)
    close = Wanted(
        tuple(wanted.weights[i] for i in own),
        tuple(wanted.entries[i] for i in own),
        wanted.products[np.ix_(own, own)],
        (tuple(range(len(own))),),
        fixed,
        towards[:, own],
    )
    drawn = np.zeros((replicates, len(columns)), np.intp) if anywhere is None else anywhere.copy()
    drawn[:, columns] = draw_alike(unit, close, replicates, rng, done, drawn[:, ~columns])
    return drawn


def load_for_topics(path: str, lists: WordLists, trust_pickle: bool = False) -> KeyedVectors:
    """Vectors with which :func:`topic_null` gives what it gives for the whole embedding: words, and what it samples."""
    kv, vocabulary = load_part(path, lists, trust_pickle=trust_pickle)
    if vocabulary is None:
        return kv
    keys, vectors_of = vocabulary
    taken = set(find_lists(kv, lists).forms.keys.values())
    waiting = waiting_words(keys, taken, MOST, 0)
    rows, vectors = directed(waiting.rows, MOST, vectors_of)
    words = tuple(keys[row] for row in rows.tolist())
    new = np.array([word not in kv.key_to_index for word in words], dtype=np.bool_)
    every = [*kv.index_to_key, *(word for word in words if word not in kv.key_to_index)]
    both = keyed_vectors(every, np.concatenate([kv.vectors, vectors[new]]) if len(rows) else kv.vectors)
    both.bayesbias_name, both.bayesbias_sample = kv.bayesbias_name, sample_of(kv)
    both.bayesbias_candidates = list(words), waiting.kind
    return both


def _candidates(kv: KeyedVectors, taken: set[str]) -> tuple[IntArray, str]:
    """Rows of the words among which topics are looked for, the same for all seeds, and how they were drawn."""
    if not hasattr(kv, "bayesbias_candidates"):
        return sampled_rows(kv, taken, MOST, 0)
    words, kind = kv.bayesbias_candidates
    return rows_of(kv, (word for word in words if word not in taken)), kind


def _shares(forms: tuple[int, ...]) -> FloatArray:
    """Share of each row in the mean of a list, whose entries weigh the same, by the number of forms of each entry."""
    return np.repeat(1 / (len(forms) * np.array(forms, dtype=float)), forms)


def _coherence(unit: NDArray[np.floating], words: IntArray, forms: tuple[int, ...]) -> float:
    """Mean pairwise cosine similarity of the entries of lists (rows, words); NaN for one entry."""
    entries = len(forms)
    if entries == 1:
        return float("nan")
    means = list_means(unit, words, _shares(forms))
    starts = np.cumsum((0, *forms))
    own = np.zeros(len(words))
    for begin, count in zip(starts[:-1], forms, strict=True):
        part = list_means(unit, words[:, begin : begin + count], np.full(count, 1 / count)) if count > 1 else None
        own += 1.0 if part is None else np.vecdot(part, part)
    total = entries**2 * np.vecdot(means, means).astype(np.float64) - own
    return float(total.mean() / (entries * (entries - 1)))


def _similarity(
    names: list[str], stereotypes: tuple[int, ...], means: FloatArray, reached: Units, centre: FloatArray
) -> pd.DataFrame:
    """Similarities of each pair of lists: of the given ones, and the mean over replicates."""
    columns: dict[str, FloatArray] = {}
    for name, each in (("target", means[None]), ("reached", reached.astype(np.float64))):
        centred = each - centre
        directions = centred / np.maximum(np.linalg.norm(centred, axis=2, keepdims=True), 1e-12)
        columns[name] = (each @ each.transpose(0, 2, 1)).mean(axis=0)
        columns[f"cosine_{name}"] = (directions @ directions.transpose(0, 2, 1)).mean(axis=0)
    first, second = np.triu_indices(len(names), 1)
    labels, control = pd.array(names, dtype="str"), ~(np.isin(first, stereotypes) & np.isin(second, stereotypes))
    numbers = {name: columns[name][first, second] for name in SIMILARITIES}
    return pd.DataFrame({"first": labels[first], "second": labels[second], "control": control, **numbers})


def _unlike(coherence: pd.DataFrame, similarity: pd.DataFrame) -> list[Note]:
    rows: list[tuple[str, Any]] = [(row["list"], row) for row in coherence.to_dict("records")]
    for row in similarity.to_dict("records"):
        name = f"{row['first']} with {row['second']}"
        means = {end: row[f"cosine_{end}"] for end in ("reached", "target")}
        rows += [(name, row), *([] if row["control"] else [(f"{name}, cosine of means", means)])]
    return [
        Note("random-lists", lists=name, reached=round(row["reached"], 2), target=round(row["target"], 2))
        for name, row in rows
        if abs(row["reached"] - row["target"]) > SHORT
    ]


class _Statistics(NamedTuple):
    """Statistics to measure on random lists, and the lists that replicates draw."""

    lists: dict[str, tuple[IntArray, tuple[int, ...]]]  # rows of the embedding, and the number of forms of each entry
    found: dict[str, tuple[str, ...]]  # attribute list to its words that were found; empty for a metric
    together: tuple[tuple[int, ...], ...]  # which lists are drawn together: stereotypes first, then each control list
    taken: set[str]  # words that replicates leave out
    observed: dict[str, float]
    centre: dict[str, float]
    values: Callable[[IntArray], FloatArray]
    protected: FloatArray  # mean unit vector (d,) of the protected words or the targets
    notes: tuple[Note, ...]


def _given(words: Any, metric: AnyMetric | None) -> WordLists | Query:
    """Word lists or a query, as given or read; a name of both is a query if a metric is given."""
    found: WordLists | Query = words
    if not isinstance(words, WordLists | Query):
        first, second = (load_words, load_query) if metric is None else (load_query, load_words)
        try:
            found = first(words)
        except InputError as error:
            try:
                found = second(words)
            except InputError:
                raise error from None
    if isinstance(found, Query) and metric is None:
        raise InputError(f"{found.name!r} is a query, without contrasts: name a metric, one of {', '.join(METRICS)}")
    return found


def _contrasts(kv: KeyedVectors, lists: Any, case: Case) -> _Statistics:
    table = distance_table(kv, lists, case=case, relatedness=False)
    record = table.coverage or Coverage(lists.name, [])
    looked = find_lists(kv, lists, case)
    words = {str(name): part["attribute_word"].unique() for name, part in table.groupby("attribute_class", sort=False)}
    names = [name for part in (lists.stereotypes, lists.controls) for name in part if name in words]
    protected = table[["protected_word", "group"]].drop_duplicates().astype(str)
    # mean distance of each protected word to each list, NaN where there is none; a word of several lists counts in each
    pairs = table.pivot_table("distance", "protected_word", "attribute_word", observed=True)
    near = pd.DataFrame({name: pairs[list(words[name])].mean(axis=1) for name in names})
    near = near.reindex(index=protected["protected_word"])
    whole = near.notna().all(axis=1).to_numpy()  # a word that is a list of one has no distance to it
    near, protected = near[whole], protected[whole]
    weights = _weights(protected["group"].to_numpy(), names, list(lists.stereotypes))
    if not weights:
        connections = ", ".join(sorted(set(table["connection"])))
        raise InputError(f"{lists.name!r} has only {connections} distances: give stereotypes of two groups or controls")
    distances, attributes = near.to_numpy(), {}
    for name in names:
        forms = [list(dict.fromkeys(looked.forms.keys[form] for form in looked.concepts[word])) for word in words[name]]
        rows_of_list = np.array([kv.key_to_index[key] for keys in forms for key in keys], dtype=np.intp)
        attributes[name] = rows_of_list, tuple(map(len, forms))
    # protected vectors that are summed by weight already, (C, lists, dimensions)
    units = looked.units(protected["protected_word"].tolist())
    weighted = np.stack([w.T for w in weights.values()]) @ units
    stereotypes = [i for i, name in enumerate(names) if name in lists.stereotypes]

    def contrasts(rows: IntArray) -> FloatArray:
        """Contrasts (replicates, C) of the words at some rows as attribute words."""
        used, inverse = np.unique(rows, return_inverse=True)
        cosines = weighted @ unit_rows(kv.vectors[used]).T
        parts = by_list(inverse.reshape(rows.shape), [len(own) for own, _ in attributes.values()])
        means = [cosines[:, i, part] @ _shares(attributes[names[i]][1]) for i, part in enumerate(parts)]
        # the weights of a contrast add up to 0, so that distances are cosines with the opposite sign
        return -np.sum(means, axis=0).T

    return _Statistics(
        lists=attributes,
        found={name: tuple(words[name].astype(str).tolist()) for name in names},
        together=(tuple(stereotypes), *((i,) for i in range(len(names)) if i not in stereotypes)),
        taken=set(looked.forms.keys.values()),
        observed={name: float((weight * distances).sum()) for name, weight in weights.items()},
        centre=dict.fromkeys(weights, 0.0),
        values=contrasts,
        protected=units.mean(axis=0),
        notes=tuple(dict.fromkeys([*limits_of([record]), *replace(record, relatedness="").notes()])),
    )


def _weights(groups: NDArray[Any], names: list[str], stereotypes: list[str]) -> dict[str, FloatArray]:
    """Weights (J, lists) of the mean distances of words, whose groups are given, in each contrast.

    Words without own stereotypes have no weight, nor stereotypes of groups without protected words.
    """
    own = groups[:, None] == np.array(names, dtype=object)
    lists = np.flatnonzero(np.isin(names, stereotypes) & own.any(axis=0))
    of_words = word_weights(groups.tolist(), own[:, lists].any(axis=1), [names[place] for place in lists])[:, None]
    weights = {}
    for second in counterparts("associated", [*STEREOTYPES, *(name for name in names if name not in stereotypes)]):
        if second != "different":
            matrix = of_words * (own.astype(float) - np.array([name == second for name in names]))
        else:
            matrix = np.zeros(own.shape)
            if len(lists) > 1:
                matrix[:, lists] = of_words * list_contrasts(len(lists))[own[:, lists].argmax(axis=1)]
        if matrix.any():
            weights[f"associated - {second}"] = matrix
    return weights


def _metric(kv: KeyedVectors, source: WordLists | Query, metric: AnyMetric, case: Case) -> _Statistics:
    query = source if isinstance(source, Query) else Query.from_words(source)
    chosen, options = metric_and_options(metric)
    ready = prepared(chosen, kv, query, untested({"case": case, **options}))
    measured, name = ready.measure(), ready.metric.name
    if measured.reason is not None:
        raise InputError(f"there is no {name} of {query.name!r}: {measured.reason}")
    parts = by_list(ready.attribute_rows, [len(ready.found.words[listed]) for listed in query.attributes])
    listed = source.every_word() if isinstance(source, WordLists) else ()
    also = find_keys(listed, kv.key_to_index, ready.how.case, query.language).values()

    def replicated(rows: IntArray) -> FloatArray:
        """The metric (replicates, 1) with the words at some rows as attribute words."""
        values = np.empty((len(rows), 1))
        with progress(f"measuring {name}", len(rows)) as done:
            for i, words in enumerate(rows):
                values[i] = ready.with_attributes(words).value
                done(i + 1)
        if odd := int((~np.isfinite(values)).sum()):
            raise InputError(f"{name} is no finite number in {odd:,} of {len(rows):,} draws: choose another metric")
        return values

    return _Statistics(
        lists={name: (part, (1,) * len(part)) for name, part in zip(query.attributes, parts, strict=True)},
        found={},
        together=(tuple(range(len(parts))),),
        taken={*also, *ready.found.keys.values()},
        observed={name: measured.value},
        centre={name: ready.metric.optimum},
        values=replicated,
        protected=unit_rows(np.concatenate(ready.found.targets)).mean(axis=0),
        notes=(*query.notes, *ready.found.notes, *measured.notes),
    )
