"""Side effects of debiasing: neighbours, similarity judgements, controls, and whether the bias is recovered."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesbias._support.arguments import one_of, probability, whole_number, whole_numbers
from bayesbias._support.files import cells_of, lines_of, numbers_columns, read_text, separator_of, tell_passed_over
from bayesbias._support.progress import one_thread, progress
from bayesbias.checks.summaries import PROB
from bayesbias.comparison.changes import compare
from bayesbias.comparison.comparison import Comparison
from bayesbias.distances.dataframe import coverage_from
from bayesbias.distances.distances import Distances
from bayesbias.distances.tables import distances_of, warned
from bayesbias.errors import InputError, shown
from bayesbias.models.tree import Fit
from bayesbias.numerics.arrays import (
    FloatArray,
    IntArray,
    mean_unit,
    nearest_rows,
    spanned,
    unit_rows,
    unit_single,
)
from bayesbias.numerics.random_lists import Wanted, by_list, draw_alike
from bayesbias.numerics.statistics import ends, mean_interval, share_interval
from bayesbias.results import Cited, Note, Result
from bayesbias.vectors import Case, Embedding, about, find_lists, find_words, opened, rows_of, with_composed
from bayesbias.vectors.lookup import CASES, About, left_out
from bayesbias.words import STEREOTYPES, WordLists, controls_of, load_words

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


Unit = NDArray[np.float32]


class Shared(NamedTuple):
    words: tuple[str, ...]  # in the order of the first; those that were wanted as they are written there
    place: Mapping[str, int]  # of these words, and of other spellings of wanted ones
    before: Unit  # unit vectors (words, dimensions), single precision
    after: Unit

    def rows(self, words: Iterable[str]) -> IntArray:
        """Rows of those words that are shared, each once."""
        places = dict.fromkeys(self.place[word] for word in words if word in self.place)
        return np.array(list(places), dtype=np.intp)


def _shared_vocabulary(
    first: KeyedVectors, second: KeyedVectors, wanted: Iterable[str], most: int | None, case: Case = "as-is"
) -> Shared:
    """The first ``most`` words of an embedding (None: all) and the wanted ones, as far as another holds them too."""
    unique = list(dict.fromkeys(wanted))
    keys = [find_words(kv, unique, case).keys for kv in (first, second)]
    known = {word: (keys[0][word], keys[1][word]) for word in unique if word in keys[0] and word in keys[1]}
    word_of = dict[str, str]()  # key in the first embedding to the first word that stands for it
    for word, (key, _) in known.items():
        word_of.setdefault(key, word)
    others = [word for word in first.index_to_key[:most] if word not in word_of and word in second.key_to_index]
    looked_at = {word: known[word] for word in word_of.values()} | {word: (word, word) for word in others}
    shared = dict(sorted(looked_at.items(), key=lambda item: first.key_to_index[item[1][0]]))
    vectors = [
        np.asarray(kv.vectors)[rows_of(kv, (both[side] for both in shared.values()))]
        for side, kv in enumerate((first, second))
    ]
    some = np.logical_and(*(np.abs(part).max(axis=1) > 0 if len(part) else np.empty(0, bool) for part in vectors))
    words = tuple(word for word, kept in zip(shared, some, strict=True) if kept)
    place = {word: i for i, word in enumerate(words)}
    place |= {word: place[word_of[key]] for word, (key, _) in known.items() if word_of[key] in place}
    before, after = (unit_single(part[some]) for part in vectors)
    return Shared(words, place, before, after)


def _neighbours_kept(shared: Shared, kinds: Mapping[str, Sequence[str]], ks: Sequence[int]) -> pd.DataFrame:
    """A row a word and k: ``kind``, ``word``, ``k``, ``kept``, the share of its k nearest neighbours that it keeps."""
    if max(ks) >= len(shared.words):
        raise InputError(f"k is {max(ks)}: give at most {len(shared.words) - 1}, the other words of both embeddings")
    pieces = []
    for kind, words in kinds.items():
        rows = shared.rows(words)
        names = [shared.words[row] for row in rows]
        for k in ks:
            both = np.hstack([np.sort(nearest_rows(unit, rows, k), axis=1) for unit in (shared.before, shared.after)])
            both.sort(axis=1)
            # sorted together, a neighbour in both embeddings is next to itself
            kept = (both[:, 1:] == both[:, :-1]).sum(axis=1) / k
            pieces.append(pd.DataFrame({"kind": kind, "word": names, "k": k, "kept": kept}))
    return pd.concat(pieces, ignore_index=True)


FEWEST_JUDGEMENTS = 5
SIMILARITY_COLUMNS = ["side", "spearman", "low", "high", "asked", "found"]


def similarities(pairs: Any) -> list[tuple[str, str, float]]:
    """Pairs of words with a score: triples, a table of three columns, or a file of these."""
    try:
        rows = _in_file(pairs) if isinstance(pairs, str | Path) else pd.DataFrame(pairs).to_numpy(object).tolist()
        checked = [(str(first), str(other), float(score)) for first, other, score in rows]
    except (TypeError, ValueError):
        checked = []
    if not checked or not np.isfinite([score for *_, score in checked]).all():
        raise InputError(f"similarity is {shown(pairs)}: give two words and their score, a finite number")
    return checked


def _in_file(path: str | Path) -> list[tuple[str, str, float]]:
    lines = lines_of(read_text(Path(path)))
    separator = separator_of(lines.values(), ",", lambda line, each: len(cells_of(line, each)) == 3)
    rows, odd, first = [], dict[int, str](), next(iter(lines), 0)
    for number, line in lines.items():
        cells, score = cells_of(line, separator), np.nan
        with suppress(ValueError, IndexError):
            score = float(cells[2].replace(",", "."))
        header = number == first and (np.isnan(score) or numbers_columns(cells))
        if len(cells) == 3 and all(cells) and np.isfinite(score) and not header:
            rows.append((cells[0], cells[1], score))
        elif not header:
            odd[number] = line
    tell_passed_over(path, odd, "two words and a number")
    return rows


def agreement(
    shared: Shared, pairs: list[tuple[str, str, float]], prob: float, draws: int, rng: np.random.Generator
) -> tuple[pd.DataFrame, str]:
    """Spearman's correlation of cosines and scores (bootstrap over pairs, the same for both); or why there is none."""
    place = shared.place
    known = [(place[first], place[other], score) for first, other, score in pairs if first in place and other in place]
    nothing = pd.DataFrame(columns=SIMILARITY_COLUMNS)
    if len(known) < FEWEST_JUDGEMENTS:
        return nothing, f"{len(known)} of {len(pairs)} pairs, {FEWEST_JUDGEMENTS} needed"
    left, right, scores = (np.array(column) for column in zip(*known, strict=True))
    if np.ptp(scores) == 0:
        return nothing, f"one score of {len(known)} pairs"
    cosines = [np.vecdot(unit[left], unit[right]).astype(np.float64) for unit in (shared.before, shared.after)]
    chosen = rng.integers(0, len(known), (draws, len(known)))
    both = [(_spearman(each, scores), _spearman(each[chosen], scores[chosen])) for each in cosines]
    both.append((both[1][0] - both[0][0], both[1][1] - both[0][1]))
    rows = [
        (side, float(value), *ends(values, prob), len(pairs), len(known))
        for side, (value, values) in zip(("before", "after", "change"), both, strict=True)
    ]
    return pd.DataFrame(rows, columns=SIMILARITY_COLUMNS), ""


def _spearman(left: FloatArray, right: FloatArray) -> FloatArray:
    """Spearman's correlation along the last axis; NaN where a side does not vary."""
    from scipy.stats import ConstantInputWarning, pearsonr, rankdata  # loads slowly

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantInputWarning)
        return np.asarray(pearsonr(rankdata(left, axis=-1), rankdata(right, axis=-1), axis=-1).statistic)


FOLDS = 5
QUARTER = 4  # all words that count as biased are one of so many parts of the vocabulary at most
FEWEST_BIASED = 10  # words of a group below which the test says nothing
PERMUTATIONS = 200
STARTS = 10
REFERENCES = 10  # random topics: more is left than of each of them by chance in 1 of 11
RECOVERY_COLUMNS = [
    *("test", "words", "chance", "before", "before_low", "before_high", "after", "after_low", "after_high"),
    *("reference", "reference_low", "reference_high", "as_much", "size_left"),
]


def _most_biased(shared: Shared, groups: Mapping[str, Sequence[str]], count: int) -> tuple[IntArray, IntArray]:
    """Rows of the words most biased towards each group before, as many for each, and their groups by number.

    The bias of a word towards a group is its mean cosine with the group's protected words, less that of the average
    word, minus the largest such value of another group: with two groups, the order of projections on their difference.
    """
    own = shared.rows(word for words in groups.values() for word in words)
    towards = _towards(shared.before, [shared.rows(words) for words in groups.values()])
    nearest = towards.argmax(axis=1)
    ordered = np.sort(towards, axis=1)
    margin = ordered[:, -1] - ordered[:, -2]
    margin[own] = -np.inf
    nearest[own] = -1
    sizes = np.bincount(nearest[nearest >= 0], minlength=len(groups))
    most = min(count, int(sizes.min()), len(nearest) // (QUARTER * len(groups)))
    chosen = [np.flatnonzero(nearest == i) for i in range(len(groups))]
    rows = np.concatenate([part[np.argsort(-margin[part], kind="stable")[:most]] for part in chosen])
    return rows, np.repeat(np.arange(len(groups)), most)


def _towards(unit: Unit, groups: Sequence[IntArray]) -> Unit:
    """Mean cosines with the words of each group (words, groups), less those of the average word."""
    means = np.array([mean_unit(unit[rows].astype(np.float64)) for rows in groups])
    towards = unit @ means.T.astype(np.float32)
    return np.asarray(towards - towards.mean(axis=0))


def recovery(
    shared: Shared, groups: Mapping[str, Sequence[str]], count: int, prob: float, seed: int
) -> tuple[pd.DataFrame, list[Note]]:
    """Shares of words whose group clusters and a classifier find, before and after: ``SideEffects.recovery``; notes.

    The reference, since a classifier finds the old side of words along any direction that is removed: ten random
    topics, as large, coherent and similar as the groups, whose differences are removed. Intervals are Jeffreys'.
    """
    groups = {name: listed for name, listed in groups.items() if name and len(shared.rows(listed))}
    rows, labels = _most_biased(shared, groups, count) if len(groups) > 1 else (np.empty(0, np.intp),) * 2
    each = len(rows) // max(len(groups), 1)
    if each < FEWEST_BIASED:
        few = f"{each} words each, {FEWEST_BIASED} needed" if len(groups) > 1 else "needs two groups"
        return pd.DataFrame(columns=RECOVERY_COLUMNS), [Note("no-value", what="old side", reason=few)]
    rng, own, sizes = np.random.default_rng(seed), labels[:, None] == np.arange(len(groups)), []
    for unit in (shared.before, shared.after):
        towards = _towards(unit, [shared.rows(words) for words in groups.values()])[rows]
        others = np.where(own, -np.inf, towards).max(axis=1)
        sizes.append(float(np.abs(towards[own] - others).mean()))
    size_left = sizes[1] / sizes[0] if sizes[0] else 1.0
    drawn = []
    for parts in _random_topics(shared, groups, rng):
        topics = {str(i): [shared.words[row] for row in part] for i, part in enumerate(parts)}
        biased, sides = _most_biased(shared, topics, count)
        means = np.array([mean_unit(shared.before[part].astype(np.float64)) for part in parts])
        # orthonormal directions of the differences of means, which are taken out of the words below
        directions, _ = spanned(means[1:] - means[0])
        left = shared.before[biased].astype(np.float64)
        drawn.append((unit_rows(left - left @ directions.T @ directions).astype(np.float32), sides))
    pieces = []
    for test in TESTS:
        figures: list[float] = []
        chances = []
        for unit in (shared.before, shared.after):
            right, chance = _right(test, unit[rows], labels, seed, rng)
            chances.append(chance)
            figures += [right / len(rows), *share_interval(right, len(rows), prob)]
        shares = [_right(test, unit, sides, seed, rng)[0] / len(sides) for unit, sides in drawn] or [np.nan]
        as_much = sum(each >= right / len(rows) for each in shares)
        figures += [float(np.mean(shares)), min(shares), max(shares), as_much, size_left]
        pieces.append((test, len(rows), float(np.mean(chances)), *figures))
    rule = f"most biased of {len(shared.words):,} words"
    notes = [Note("sampled", rule=rule, used=each, total=count)] if each < count else []
    notes += [] if drawn else [Note("no-value", what="random topics", reason="vocabulary too small")]
    return pd.DataFrame(pieces, columns=RECOVERY_COLUMNS), notes


def _random_topics(
    shared: Shared, groups: Mapping[str, Sequence[str]], rng: np.random.Generator
) -> list[list[IntArray]]:
    """Rows of the words of random topics in place of each group, for each reference; none where words are too few."""
    own = [shared.rows(words) for words in groups.values()]
    others = np.setdiff1d(np.arange(len(shared.words)), np.concatenate(own))
    means = np.array([shared.before[rows].astype(np.float64).mean(axis=0) for rows in own])
    sizes = tuple(map(len, own))
    if 2 * sum(sizes) > len(others):
        return []
    wanted = Wanted(tuple(np.full(n, 1 / n) for n in sizes), sizes, means @ means.T, (tuple(range(len(own))),))
    drawn = others[draw_alike(shared.before[others], wanted, REFERENCES, rng, lambda _: None)]
    return [by_list(words, sizes) for words in drawn]


def _right(test: str, unit: Unit, labels: IntArray, seed: int, rng: np.random.Generator) -> tuple[int, float]:
    """Number of words that a test puts in their group, and the share there by chance: clusters take the best names."""
    if test == "classify":
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import StratifiedKFold, cross_val_predict

        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
        predicted = cross_val_predict(LogisticRegression(max_iter=1_000), unit.astype(np.float64), labels, cv=folds)
        return int((predicted == labels).sum()), float(np.bincount(labels).max() / len(labels))
    from sklearn.cluster import KMeans

    with one_thread():  # for so few words, several threads wait for each other longer than they work
        clusters = KMeans(int(labels.max()) + 1, n_init=STARTS, random_state=seed).fit_predict(unit).astype(np.intp)
    shuffled = [_matched(clusters, rng.permutation(labels)) for _ in range(PERMUTATIONS)]
    return _matched(clusters, labels), float(np.mean(shuffled) / len(labels))


def _matched(predicted: IntArray, labels: IntArray) -> int:
    """Number of words in the cluster that takes the name of their group."""
    size = int(labels.max()) + 1
    table = np.bincount(predicted * size + labels, minlength=size * size).reshape(size, size)
    from scipy.optimize import linear_sum_assignment  # loads slowly

    # of all one-to-one names for clusters, that with the most words in place
    return int(table[linear_sum_assignment(-table)].sum())


TESTED = "10.18653/v1/N19-1061"  # the work that began with these tests
TESTS = {"cluster": "k-means", "classify": "logistic"}
KINDS = {"protected": "protected words", "attribute": "stereotype words", "control": "control words"}
RANDOM = ("reference", "as_much", "reference_low", "reference_high")
COLUMNS = ["effect", "of", "value", "low", "high", "chance", *RANDOM, "n", "asked", "sd", "p_closer"]


@dataclass(frozen=True, repr=False)
class SideEffects(Result):
    """Result of :func:`side_effects`.

    Attributes
    ----------
    neighbours, neighbours_by_word
        Share ``kept`` of the ``k`` nearest neighbours by ``kind`` of words (protected, attribute, control), with
        ``low`` and ``high`` (t interval over ``words``); and of each ``word``.
    controls
        Change of the mean distance of control words: ``connection``, ``mean``, ``sd``, ``low``, ``high``, ``p_closer``
        (posterior, cosine distance).
    similarity
        Spearman's correlation with given scores: ``side`` (before, after, change), ``spearman``, ``low``, ``high``
        (bootstrap over pairs), ``asked``, ``found``.
    recovery
        How well the words most biased before are told apart: ``test`` (cluster, classify), ``words``, ``chance``,
        ``before`` and ``after`` with ``_low`` and ``_high``; ``reference`` with ``_low`` and ``_high`` (the same after
        the difference of random topics was removed), ``as_much`` (of how many of the ten as much is found) and
        ``size_left`` (mean absolute bias of the words after, divided by that before); empty without two groups.
    prob, notes
        Mass of all intervals; what limits it, and the notes of the comparison.
    """

    picture: ClassVar[str] = "plot_side_effects"

    neighbours: pd.DataFrame
    neighbours_by_word: pd.DataFrame
    controls: pd.DataFrame
    similarity: pd.DataFrame
    recovery: pd.DataFrame
    prob: float
    notes: tuple[Note, ...]
    embeddings: tuple[About, ...] = ()  # what is recorded of those before and after
    made: Mapping[str, Any] = field(default_factory=dict)  # shared vocabulary, model, draws, seed
    cited: tuple[Cited, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)

    def sources(self) -> tuple[Any, ...]:
        tests = () if self.recovery.empty else (Cited("tests of recovery", doi=TESTED),)
        origins = ((one["name"], one.get("source", ""), one.get("doi", "")) for one in self.embeddings)
        return *tests, *self.cited, *(Cited(f"embedding {name}", *origin) for name, *origin in origins)

    def table(self) -> pd.DataFrame:
        """All numbers, one effect ``of`` something a row: ``value``, ``low``, ``high``, ``n`` words or pairs, and more.

        ``asked`` are pairs that were given, ``sd`` and ``p_closer`` of changes of distances; ``chance``, ``reference``
        with ``_low`` and ``_high`` and ``as_much`` as in :attr:`recovery`.
        """
        pieces, names = [], ["value", "low", "high"]
        if len(self.recovery):
            found = self.recovery.rename(columns={"words": "n", "size_left": "value"})
            pieces.append(found[["value", "n"]][:1].assign(effect="former bias left", of="all"))
            found["effect"] = [f"old side, {TESTS[test]}" for test in found["test"]]
            for side, columns in (("before", ["chance", "n"]), ("after", ["chance", "n", *RANDOM])):
                own = dict(zip([side, f"{side}_low", f"{side}_high"], names, strict=True))
                pieces.append(found[["effect", *own, *columns]].rename(columns=own).assign(of=side))
        others = (
            (self.controls, "connection", "mean", ["change of distance"] * len(self.controls)),
            (self.similarity, "side", "spearman", ["rank correlation"] * len(self.similarity)),
            (self.neighbours, "kind", "kept", [f"nearest {k} kept" for k in self.neighbours.get("k", ())]),
        )
        for table, of, value, effects in others:
            if len(table):
                known = table.rename(columns={of: "of", value: "value", "words": "n", "found": "n"})
                pieces.append(known.replace({"of": {"attribute": "stereotype"}}).assign(effect=effects))
        return (
            pd.concat(pieces, ignore_index=True)
            .reindex(columns=COLUMNS)
            .astype(dict.fromkeys(("as_much", "n", "asked"), "Int64"))
        )

    def summary(self) -> pd.DataFrame:
        """The columns up to ``as_much`` that have a value."""
        return self.table()[COLUMNS[:8]].dropna(axis=1, how="all")

    def caption(self) -> str:
        return " → ".join(["Side effects", *(str(one["name"]) for one in self.embeddings)]).replace(" → ", ": ", 1)

    def header(self) -> dict[str, object]:
        topics = REFERENCES if len(self.recovery) and self.recovery["reference"].notna().all() else None
        return {**self.made, "random topics": topics, "intervals": f"{self.prob:.0%}"}

    def tables(self) -> dict[str, pd.DataFrame]:
        return {
            "Effects": self.table(),
            "Neighbours of words": self.neighbours_by_word,
            "Old side found": self.recovery,
        }


MOST = 50_000
CHECKED, APART = 20, 1e-3  # pairs whose distances are measured again, and how far they may lie from the table's
CONTROL_COLUMNS = ["mean", "sd", "low", "high", "p_closer"]


def side_effects(
    before: Embedding,
    after: Embedding,
    words: WordLists | str | Path | Comparison,
    similarity: pd.DataFrame | Iterable[tuple[str, str, float]] | str | Path | None = None,
    k: int | Sequence[int] = (10, 100),
    biased: int = 500,
    vocabulary: int | None = MOST,
    prob: float = PROB,
    draws: int = 2000,
    seed: int = 0,
    case: Case = "as-is",
) -> SideEffects:
    """Measure what changed beside the bias: neighbours, control distances, similarities, and traces of the old bias.

    Parameters
    ----------
    before, after
        The embeddings, or what :func:`load_embedding` takes.
    words
        Word lists, or what :func:`load_words` takes; or what :func:`compare` returned for tables of the two embeddings,
        which is not made again then.
    similarity
        Pairs of words with a score of similarity by people: triples, a DataFrame of three columns, or a file of these.
    k, vocabulary
        Numbers of nearest neighbours, among so many words of ``before``, from its first on; None takes all.
    biased
        How many of the words most biased towards each group before are to be told apart afterwards, at most (all
        together a quarter of the vocabulary).
    prob, draws, seed, case
        Mass of the intervals; bootstrap draws, and the seed of these, of clusters and of folds; ``case`` is as in
        :func:`distance_table`.

    References
    ----------
    Gonen, H. and Goldberg, Y. (2019). Lipstick on a pig: debiasing methods cover up systematic gender biases in word
    embeddings but do not remove them. NAACL-HLT. https://doi.org/10.18653/v1/N19-1061

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> debiased = bb.debias(kv, "project", definitional=[("he", "she"), ("man", "woman")])
    >>> effects = bb.side_effects(kv, debiased, "weat7", k=10, biased=50, draws=100)
    >>> sorted(effects.neighbours.columns)[:2]
    ['high', 'k']
    """
    prob = probability(prob, "prob")
    one_of(case, CASES, "case")
    ks = sorted(set(whole_numbers(k, "k")))
    biased, draws = whole_number(biased, "biased"), whole_number(draws, "draws")
    seed = whole_number(seed, "seed", least=0, most=2**32 - 1)
    most = None if vocabulary is None else whole_number(vocabulary, "vocabulary", least=2)
    pairs = None if similarity is None else similarities(similarity)
    if isinstance(words, Comparison) and len(words.embeddings) != 2:
        raise InputError(f"words is a comparison of {len(words.embeddings)} embeddings: give that of the two, or lists")
    kvs = [opened(kv) for kv in (before, after)]
    known = tuple(map(about, kvs))
    with progress("looking for side effects", 4) as done:
        if isinstance(words, Comparison):
            compared = words
            _check_belonging(compared, kvs, case)
        else:
            asked = load_words(words)
            first, second = (distances_of(find_lists(opened(kv, asked, case), asked, case)) for kv in kvs)
            warned(first, second)
            compared = compare(before=first, after=second, seed=seed)
        done(1)
        kinds, groups = _words_of(compared.data)
        wanted = [word for listed in kinds.values() for word in listed]
        wanted += [word for first, other, _ in pairs or [] for word in (first, other)]
        kvs = [with_composed(kv, wanted, case) for kv in kvs]
        shared = _shared_vocabulary(kvs[0], kvs[1], wanted, most, case)
        notes = [*compared.notes, *_missing(shared, kinds)]
        done(2)
        by_word = _neighbours_kept(shared, kinds, ks)
        rng = np.random.default_rng(seed)
        done(3)
        similar = pd.DataFrame(columns=SIMILARITY_COLUMNS)
        if pairs is not None:
            similar, reason = agreement(shared, pairs, prob, draws, rng)
            notes += [Note("no-value", what="correlation with similarities", reason=reason)] if reason else []
        recovered, why = recovery(shared, groups, biased, prob, seed)
        done(4)
    kept = [
        (kind, k, len(part), part["kept"].mean(), *np.clip(mean_interval(part["kept"].to_numpy(), prob), 0, 1))
        for (kind, k), part in by_word.groupby(["kind", "k"], sort=False)
    ]
    names = list(reversed(controls_of(compared.connections)))
    changes = [compared.changes(name, prob=prob).loc[0, CONTROL_COLUMNS] for name in names]
    controls = pd.DataFrame(changes, columns=CONTROL_COLUMNS, dtype=float).reset_index(drop=True)
    controls.insert(0, "connection", names)
    spec, records = Fit(compared.tree).spec, map(coverage_from, compared.coverage.values())
    lists = dict.fromkeys(Cited(f"word list {one.word_list}", one.source, one.doi or "") for one in records)
    return SideEffects(
        neighbours=pd.DataFrame(kept, columns=["kind", "k", "words", "kept", "low", "high"]),
        neighbours_by_word=by_word,
        controls=controls,
        similarity=similar,
        recovery=recovered,
        prob=prob,
        notes=(*notes, *why),
        embeddings=known,
        made={"vocabulary": len(shared.words), "model": spec.name, "draws": draws, "seed": seed},
        cited=(*lists, Cited(f"model {spec.name}", spec.source, spec.doi or "")),
        labels=compared.labels,
    )


def _check_belonging(compared: Comparison, kvs: Sequence[KeyedVectors], case: Case) -> None:
    data = compared.data
    chosen = np.linspace(0, len(data.y) - 1, CHECKED).astype(int)
    left = data.protected_words[data.word[chosen]].tolist()
    right = data.attribute_words[data.attribute[chosen]].tolist()
    for name, kv, distances in zip(("before", "after"), kvs, compared.distances[chosen].T, strict=True):
        held = find_words(kv, dict.fromkeys([*left, *right]), case)
        for word, other, distance in zip(left, right, distances, strict=True):
            if not {word, other} <= held.keys.keys():
                continue
            own = 1 - float(unit_rows(held.of([word]))[0] @ unit_rows(held.of([other]))[0])
            if abs(own - distance) > APART:
                raise InputError(
                    f"{name} does not belong to the comparison: {word} and {other} are {own:.3f} apart, not "
                    f"{distance:.3f}; give the embeddings in the order of the comparison"
                )


def _words_of(data: Distances) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Kind to words, and group to protected words, of the pairs that are compared."""
    attribute = data.attribute_words[data.attribute]
    control = ~np.isin(data.connections[data.connection], STEREOTYPES)
    own = dict.fromkeys(attribute[~control].tolist())
    kinds = {
        "protected": data.protected_words.tolist(),
        "attribute": list(own),
        "control": [word for word in dict.fromkeys(attribute[control].tolist()) if word not in own],
    }
    groups = {name: data.protected_words[data.groups == name].tolist() for name in dict.fromkeys(data.groups.tolist())}
    return {kind: words for kind, words in kinds.items() if words}, groups


def _missing(shared: Shared, kinds: Mapping[str, Sequence[str]]) -> list[Note]:
    notes = list[Note]()
    for kind, words in kinds.items():
        lost = [word for word in words if word not in shared.place]
        if len(lost) == len(words):
            raise InputError(f"the embeddings hold none of the {len(words)} {kind} words: give those of the comparison")
        notes += left_out(len(lost), len(words), KINDS[kind], "not in both embeddings", lost)
    return notes
