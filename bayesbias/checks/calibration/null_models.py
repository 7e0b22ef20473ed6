"""Null distributions of metrics over random lists, words and vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesbias._support.arguments import flag, one_of, whole_number
from bayesbias._support.progress import progress
from bayesbias.checks.summaries import PROB
from bayesbias.distances import distance_table
from bayesbias.distances.distances import Distances, once
from bayesbias.errors import InputError
from bayesbias.metrics import Query
from bayesbias.metrics.batch import Prepared, metric_and_options, prepared, untested
from bayesbias.metrics.queries import every_word
from bayesbias.numerics.arrays import FloatArray, IntArray, cosine_distances
from bayesbias.numerics.marginal import reduce_to_cells
from bayesbias.numerics.random_lists import draw_in_ranges
from bayesbias.numerics.statistics import (
    PermutationTest,
    effect_size,
    ends,
    known_mean,
    partition_sums,
    permutation_test,
    sum_statistic,
)
from bayesbias.results import Note, Result
from bayesbias.vectors import Embedding, find_keys, opened, rows_of
from bayesbias.words import STEREOTYPES, WordLists, controls_of, load_words

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


BLOCK = 2**21  # distances that are looked at together
NEIGHBOURS = 200  # words nearest in frequency rank among which the stand-in of a stereotype word is drawn
PART = 20_000  # vectors whose distances are taken together
WORDS, PUBLISHED = 8, 1.27  # of each set of the simulated WEAT, and the effect size that its sample is near
SPLITS = 5_000  # random partitions among which that of the sample is chosen
Metric = Callable[[pd.DataFrame], float]
# mean distances (J, B) of B draws by connection, and by stereotype list under the key ``list`` (lists, J, B)
Cells = dict[str, FloatArray]


def _named_value(statistic: str, cells: Cells, group: IntArray) -> FloatArray:
    """A named statistic (B,) from mean distances; a protected word without one of its cells is left out."""
    if statistic == "mac":
        return known_mean(cells["list"].reshape(-1, cells["list"].shape[-1]), axis=0)
    if statistic == "weat":
        closer = cells["different"] - cells["associated"]  # to the own stereotypes
        return effect_size(closer[group == 0], -closer[group == 1], axis=0)
    first, second = parts_of(statistic)
    return known_mean(cells[first] - cells[second], axis=0)


def parts_of(statistic: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in statistic.split(" - " if " - " in statistic else "-"))


def _stereotype_cells(near: FloatArray, places: _Places) -> Cells:
    """Mean distances of the stereotype lists; ``near`` (J, B, S) holds the distances of each draw."""
    known = ~np.isnan(near)
    near = np.where(known, near, 0)
    whole = bool(known.all())

    def mean(members: np.ndarray) -> FloatArray:
        weight = members.astype(float)[:, :, None]
        count = members.sum(axis=1)[:, None] if whole else (known @ weight)[:, :, 0]
        with np.errstate(invalid="ignore"):
            value: FloatArray = (near @ weight)[:, :, 0] / count
        return value

    cells = {name: mean(places.connection == i) for i, name in enumerate(STEREOTYPES)}
    lists = range(places.attribute_class.max() + 1)
    return cells | {"list": np.stack([mean(places.attribute_class == listed) for listed in lists])}


@dataclass(frozen=True)
class _Places:
    """Relation of each of the S stereotype words to each of the J protected words."""

    # (J, S): place in ``STEREOTYPES`` and list of each pair; -1 where a pair is missing
    connection: IntArray
    attribute_class: IntArray
    group: IntArray  # (J,): group of each protected word

    @classmethod
    def of(cls, data: Distances, slots: IntArray) -> _Places:
        """Relation of the words at ``slots`` to the protected words of a table."""
        column = np.full(len(data.attribute_words), -1)
        column[slots] = np.arange(len(slots))
        rows = _stereotype_rows(data)
        connection, attribute_class = np.full((2, len(data.protected_words), len(slots)), -1)
        where = data.word[rows], column[data.attribute[rows]]
        connection[where] = (data.connections[data.connection[rows]] == "different").astype(np.intp)
        attribute_class[where] = np.unique(data.attribute_class[rows], return_inverse=True)[1]
        return cls(connection, attribute_class, data.group_index)


@dataclass(frozen=True)
class StandIns:
    """Words that may stand in for the stereotype words."""

    chosen: IntArray  # (draws, S): the stand-in of each stereotype word
    words: list[str]  # (C,): the words to which ``chosen`` points
    distances: FloatArray  # (J, C); NaN where a pair is missing
    control: np.ndarray  # (C,): the control list that a word leaves when it is drawn, empty for none
    candidates: int  # how many words could be drawn


def _stereotype_rows(data: Distances) -> np.ndarray:
    return np.isin(data.connections, STEREOTYPES)[data.connection]


def _called_values(statistic: Metric, data: Distances, places: _Places, stand_ins: StandIns) -> FloatArray:
    """The statistic (draws,) of each table with the stereotype words replaced, without control words that have left."""
    classes, listed = np.unique(data.attribute_class, return_inverse=True)
    rows = _stereotype_rows(data)
    labels: dict[str, Iterable[str]] = {
        "protected_word": data.protected_words,
        "group": data.group_names,
        "attribute_word": [*data.attribute_words, *stand_ins.words],
        "attribute_class": classes,
        "connection": data.connections,
    }
    texts = {name: pd.array(list(values), dtype="str") for name, values in labels.items()}
    word, slot = np.nonzero(places.connection >= 0)
    stands = pd.Index(data.connections).get_indexer(pd.Index(STEREOTYPES))[places.connection[word, slot]]
    new_list = np.unique(listed[rows])[places.attribute_class[word, slot]]
    place = pd.Index(stand_ins.words).get_indexer(pd.Index(data.attribute_words))[data.attribute]
    values = np.empty(len(stand_ins.chosen))
    with progress("drawing words", len(values)) as done:
        for i, chosen in enumerate(stand_ins.chosen):
            drawn = chosen[slot]
            near = stand_ins.distances[word, drawn]
            new, old = ~np.isnan(near), ~rows & ~np.isin(place, chosen)
            protected = np.r_[data.word[old], word[new]]
            codes = {
                "protected_word": protected,
                "group": data.group_index[protected],
                "attribute_word": np.r_[data.attribute[old], len(data.attribute_words) + drawn[new]],
                "attribute_class": np.r_[listed[old], new_list[new]],
                "connection": np.r_[data.connection[old], stands[new]],
            }
            columns = {name: texts[name].take(code) for name, code in codes.items()}
            values[i] = _called(statistic, pd.DataFrame({**columns, "distance": np.r_[data.y[old], near[new]]}))
            done(i + 1)
    return values


def _control_stand_ins(
    data: Distances, needed: int, named: list[str], draws: int, rng: np.random.Generator
) -> StandIns:
    """Control words: those of the lists that the statistic names, else all."""
    listed = np.array(data.attribute_classes)[data.class_index]
    named = named or controls_of(data.connections.tolist())
    members = np.flatnonzero(np.isin(listed, named))
    if len(members) <= needed:
        raise InputError(
            f"there are {needed} stereotype words and {len(members)} control words ({' and '.join(named)}) "
            "to draw from, which must be more: lengthen the control list, choose another contrast, or draw from the "
            "vocabulary"
        )
    column = np.full(len(listed), -1)
    column[members] = np.arange(len(members))
    own = column[data.attribute] >= 0
    distances = np.full((len(data.protected_words), len(members)), np.nan)
    distances[data.word[own], column[data.attribute[own]]] = data.y[own]
    low = np.zeros(needed, dtype=np.intp)
    chosen = draw_in_ranges(low, low + len(members), draws, rng)
    return StandIns(chosen, data.attribute_words[members].tolist(), distances, listed[members], len(members))


def _vocabulary_stand_ins(kv: KeyedVectors, data: Distances, drawn: IntArray, candidates: int) -> StandIns:
    """Words of the embedding by their rows (draws, S); only those that are drawn are looked at."""
    rows, chosen = np.unique(drawn, return_inverse=True)
    protected = kv.vectors[rows_of(kv, data.protected_words.tolist())]
    parts = np.array_split(rows, -(-rows.size // PART))
    distances = np.hstack([cosine_distances(protected, kv.vectors[part]) for part in parts])
    words = [kv.index_to_key[row] for row in rows]
    return StandIns(chosen.reshape(drawn.shape), words, distances, np.full(len(words), ""), candidates)


def _stand_ins(
    kv: KeyedVectors, taken: set[str], words: list[str], match: bool, draws: int, rng: np.random.Generator
) -> tuple[IntArray, int]:
    """Rows of the embedding that stand in for words, (draws, words), and how many could; none is among ``taken``."""
    eligible = np.array([i for i, word in enumerate(kv.index_to_key) if word not in taken], dtype=np.intp)
    if len(eligible) <= len(words):
        raise InputError(
            f"the embedding holds {len(eligible)} words outside of the lists, fewer than are needed to stand in for "
            f"{len(words)} words: load more of it, or draw from the controls"
        )
    low = np.zeros(len(words), dtype=np.intp)
    width = len(eligible)
    if match:
        if kv.index_to_key == sorted(kv.index_to_key):
            raise InputError(
                "the words of the embedding are in alphabetical order, which says nothing of their frequency: "
                "pass match_frequency=False, or vectors in the order of frequency"
            )
        width = min(width, max(NEIGHBOURS, 2 * len(words)))
        low = np.clip(np.searchsorted(eligible, rows_of(kv, words)) - width // 2, 0, len(eligible) - width)
    drawn = eligible[draw_in_ranges(low, low + width, draws, rng)]
    return drawn, len(np.unique(low[:, None] + np.arange(width))) if match else width


@dataclass(frozen=True, repr=False)
class NullDistribution(Result):
    """Place of a statistic among its values without bias.

    Attributes
    ----------
    statistic, source
        Name of the statistic, and where its random words come from.
    observed, values
        The statistic of the lists as they are, and of each draw, (draws,).
    centre
        From where two-sided distances are measured: the median of the values.
    n_candidates
        Number of words that could be drawn.
    """

    notes: ClassVar[tuple[Note, ...]] = ()
    prob: ClassVar[float] = PROB

    statistic: str
    source: str
    observed: float
    values: FloatArray
    centre: float
    n_candidates: int

    @property
    def p_value(self) -> float:
        """Two-sided: (draws at least as far from the centre as the observed + 1) / (draws + 1)."""
        far = as_far(self.values, self.observed, self.centre)
        return float((far.sum() + 1) / (len(self.values) + 1))

    @property
    def p_value_se(self) -> float:
        """Monte Carlo standard error of the p-value."""
        return float(np.sqrt(self.p_value * (1 - self.p_value) / len(self.values)))

    @property
    def quantile(self) -> float:
        """Share of the draws below the observed value."""
        return float((self.values < self.observed).mean())

    def caption(self) -> str:
        """Subject and unit of the numbers."""
        return f"{self.statistic}: observed, without bias"

    def header(self) -> dict[str, object]:
        """Facts of what was measured."""
        return {"random words": self.source, "candidates": self.n_candidates, "draws": len(self.values)}

    def summary(self) -> pd.DataFrame:
        """The table without what the header says."""
        return self.table().drop(columns=["statistic", "source", "draws", "n_candidates"])

    def table(self) -> pd.DataFrame:
        """One row: the fields, with ``mean``, ``sd`` and the central 89% (``low``, ``high``) of the draws."""
        low, high = np.quantile(self.values, [(1 - PROB) / 2, (1 + PROB) / 2])
        drawn = {"mean": self.values.mean(), "sd": self.values.std(ddof=1), "low": low, "high": high}
        among = {"quantile": self.quantile, "p_value": self.p_value, "p_value_se": self.p_value_se}
        row = {"statistic": self.statistic, "source": self.source, "observed": self.observed} | drawn | among
        return pd.DataFrame([row | {"draws": len(self.values), "n_candidates": self.n_candidates}])


def as_far(values: FloatArray, observed: float, centre: float) -> NDArray[np.bool_]:
    """True for values at least as far from the centre as the observed one."""
    return np.abs(values - centre) >= abs(observed - centre) - 1e-12


def null_distribution(
    kv: Embedding | None,
    words: WordLists | Query | str | Path | pd.DataFrame,
    statistic: str | Metric | tuple[str, Mapping[str, Any]] = "associated - human",
    draws: int = 1000,
    seed: int = 0,
    source: str | None = None,
    match_frequency: bool = True,
) -> NullDistribution:
    """A statistic on real vectors when the stereotype lists hold random words, and the observed value among them.

    Each stereotype word is replaced by a word drawn at random; no word is drawn twice. Protected words and vectors stay
    as they are.

    Parameters
    ----------
    kv
        The embedding, or what :func:`load_embedding` takes; None where ``words`` is a distance table.
    words
        Word lists, or what :func:`load_words` takes; or a distance table; or a :class:`Query`, for classic metrics:
        then words of the embedding stand in for its attribute words.
    statistic
        ``"a - b"``: mean over protected words of the difference of their mean distances under two connections, one of
        them at least associated or different. ``"weat"``: the effect size for two groups (population sd; positive if
        own stereotypes are closer). ``"mac"``: mean over protected words and stereotype lists of their mean distance.
        Or a function of a distance table that returns a number. For a :class:`Query` any metric, as
        :func:`metric` takes it, or a pair of it and its options (those of the look-up too).
    draws, seed
        How many times the lists are drawn, and the seed.
    source
        ``"controls"``: control words, which then leave their list; for a contrast with ``human`` or ``neutral`` the
        words of that list, else of both. The p-value is on the safe side where these words are fewer than some three
        times all stereotype words. ``"vocabulary"`` (the only one for a query): any words that stand in no list.
    match_frequency
        From the vocabulary, draw the stand-in of a word among the 200 nearest to it in the order of the embedding,
        which is taken for that of frequency.

    References
    ----------
    Caliskan, A., Bryson, J. J. and Narayanan, A. (2017). Semantics derived automatically from language corpora contain
    human-like biases. Science 356(6334). https://doi.org/10.1126/science.aal4230
    Manzini, T. et al. (2019). Black is to Criminal as Caucasian is to Police. NAACL. https://doi.org/10.18653/v1/N19-1062

    Examples
    --------
    >>> found = bb.calibration.null_distribution("google-news-slice", "weat7", "associated - human", draws=50)
    >>> type(found).__name__
    'NullDistribution'
    """
    one_of("controls" if source is None else source, ("controls", "vocabulary"), "source")
    match_frequency = flag(match_frequency, "match_frequency")
    if isinstance(words, Query):
        if source == "controls":
            raise InputError("a query has no control words: pass source='vocabulary' or leave it out")
        return _metric_null(kv, words, statistic, whole_number(draws, "draws"), seed, match_frequency)
    if not callable(statistic) and not isinstance(statistic, str):
        raise InputError(f"statistic is {statistic!r}: give its name or a function of a distance table")
    draws, source = whole_number(draws, "draws"), source or "controls"
    rng = np.random.default_rng(whole_number(seed, "seed", least=0, most=None))
    vectors, lists, table = _given(kv, words, source)
    data = Distances.read(table, check=False)
    named = _checked(statistic, data) if isinstance(statistic, str) else ()
    slots = np.flatnonzero(data.class_of_attribute == 0)
    if not len(slots):
        raise InputError("there are no stereotype words that random words could replace: give lists with stereotypes")
    if vectors is None or lists is None:
        stand_ins = _control_stand_ins(data, len(slots), controls_of(named), draws, rng)
    else:
        listed_words = set(find_keys(lists.every_word(), vectors.key_to_index, language=lists.language).values())
        slot_words = data.attribute_words[slots].tolist()
        drawn, candidates = _stand_ins(vectors, listed_words, slot_words, match_frequency, draws, rng)
        stand_ins = _vocabulary_stand_ins(vectors, data, drawn, candidates)
    places = _Places.of(data, slots)
    if isinstance(statistic, str):
        label, observed = statistic, _of_table(statistic, data)
        values = np.concatenate(list(_named_values(statistic, data, places, stand_ins)))
    else:
        label, observed = getattr(statistic, "__name__", type(statistic).__name__), _called(statistic, table)
        values = _called_values(statistic, data, places, stand_ins)
    odd = ~np.isfinite(values)
    if odd.any() or not np.isfinite(observed):
        raise InputError(
            f"{label} is {observed:g} for the lists as they are and not a finite number for {odd.sum():,} of {draws:,} "
            "draws: check that no list is empty and that distances vary, or choose another statistic"
        )
    return NullDistribution(label, source, observed, values, float(np.median(values)), stand_ins.candidates)


def _metric_null(
    kv: Embedding | None, query: Query, statistic: object, draws: int, seed: int, match: bool
) -> NullDistribution:
    """A classic metric when random words of the embedding stand in for the attribute words of a query."""
    chosen, options = metric_and_options(statistic)
    if kv is None:
        raise InputError("kv is None: give the embedding in which the query is measured")
    vectors = opened(kv, every_word([query]), language=query.language)
    observed = prepared(chosen, vectors, query, untested(options))
    name = observed.metric.name
    if observed.found.reason is not None:
        raise InputError(f"there is no {name} of {query.name!r}: {observed.found.reason}")
    words = [observed.found.keys[word] for listed in query.attributes for word in observed.found.words[listed]]
    rng = np.random.default_rng(whole_number(seed, "seed", least=0, most=None))
    drawn, candidates = _stand_ins(vectors, set(observed.found.keys.values()), words, match, draws, rng)
    values = with_attributes(observed, drawn)
    odd = int((~np.isfinite(values)).sum())
    if odd:
        raise InputError(f"{name} is not a finite number for {odd:,} of {draws:,} draws: choose another metric")
    label, own = f"{name} of {query.name}", observed.measure().value
    return NullDistribution(label, "vocabulary", own, values, float(np.median(values)), candidates)


def with_attributes(ready: Prepared, rows: IntArray) -> FloatArray:
    """A metric (draws,) with the words at some rows (draws, words) of the embedding as attribute words."""
    values = np.empty(len(rows))
    with progress(f"measuring {ready.metric.name}", len(rows)) as done:
        for i, chosen in enumerate(rows):
            values[i] = ready.with_attributes(chosen).value
            done(i + 1)
    return values


def _checked(statistic: str, data: Distances) -> tuple[str, ...]:
    """The connections that a named statistic rests on, once it is known that the table has them."""
    named = STEREOTYPES if statistic == "weat" else () if statistic == "mac" else parts_of(statistic)
    valid = data.connections.tolist()
    if statistic not in ("weat", "mac") and (len(named) != 2 or len(set(named)) < 2):
        raise InputError(f"statistic is {statistic!r}: valid are 'weat', 'mac', 'a - b' of two connections, a function")
    for name in named:
        one_of(name, valid, "the connection")
    if statistic == "mac" and (data.attribute_class[_stereotype_rows(data)] == "").any():
        raise InputError("mac is a mean over stereotype lists: give the table the column attribute_class")
    if named and not set(named) & set(STEREOTYPES):
        raise InputError(f"{statistic!r} does not rest on the stereotype lists: name associated or different")
    if statistic == "weat" and (len(data.group_names) != 2 or "" in data.group_names):
        groups = ", ".join(name or "not known" for name in data.group_names)
        raise InputError(f"weat compares two groups, not {len(data.group_names)} ({groups}): take 'mac' or 'a - b'")
    return named


def _given(
    kv: Embedding | None, words: WordLists | str | Path | pd.DataFrame, source: str
) -> tuple[KeyedVectors | None, WordLists | None, pd.DataFrame]:
    """Vectors and lists where they are to be drawn from, and the distance table."""
    if isinstance(words, pd.DataFrame):
        if kv is not None or source != "controls":
            raise InputError(
                "a distance table holds the control words only: give kv=None and source='controls', "
                "or the embedding with word lists"
            )
        Distances.read(words, check=False)
        return None, None, once(words, "the table", "each pair is taken once")
    if kv is None:
        raise InputError("kv is None: give an embedding, or a distance table in place of the word lists")
    lists = load_words(words)
    if source != "controls":
        lists.single_forms("drawing from the vocabulary")
    vectors = opened(kv, lists.every_word(), language=lists.language)
    table = distance_table(vectors, lists, relatedness=False)
    return (None, None, table) if source == "controls" else (vectors, lists, table)


def _of_table(statistic: str, data: Distances) -> float:
    """A named statistic of a table as it is."""
    cells: Cells = {name: data.cells.mean[:, [i]] for i, name in enumerate(data.connections.tolist())}
    rows = _stereotype_rows(data)
    names, listed = np.unique(data.attribute_class[rows], return_inverse=True)
    reduced = reduce_to_cells(data.word[rows], listed, data.y[rows], (len(data.protected_words), len(names)))
    cells["list"] = reduced.mean.T[:, :, None]
    return float(_named_value(statistic, cells, data.group_index)[0])


def _named_values(statistic: str, data: Distances, places: _Places, stand_ins: StandIns) -> Iterator[FloatArray]:
    size = max(1, BLOCK // places.connection.size)
    with progress(f"drawing words for {statistic}", len(stand_ins.chosen)) as done:
        for begin in range(0, len(stand_ins.chosen), size):
            chosen = stand_ins.chosen[begin : begin + size]
            near = stand_ins.distances[:, chosen]
            cells = _stereotype_cells(near, places)
            for name in set(parts_of(statistic)).intersection(controls_of(data.connections.tolist())):
                # mean distances (J, B) of a control list without the words that have left it
                column = data.connections.tolist().index(name)
                count, mean = data.cells.n[:, [column]], data.cells.mean[:, [column]]
                gone = (stand_ins.control[chosen] == name) & ~np.isnan(near)
                with np.errstate(invalid="ignore", divide="ignore"):
                    left = count * mean - np.where(gone, near, 0).sum(axis=2)
                    cells[name] = left / (count - gone.sum(axis=2))
            yield _named_value(statistic, cells, places.group)
            done(begin + len(chosen))


def _called(statistic: Metric, table: pd.DataFrame) -> float:
    try:
        return float(statistic(table))
    except TypeError as error:
        raise InputError(
            f"the statistic must be a function of a distance table that returns a number: {error}"
        ) from error


@dataclass(frozen=True, repr=False)
class NullWeat(Result):
    """WEAT where every cosine is noise.

    Attributes
    ----------
    s, effect_size
        (draws,): WEAT's sum statistic and effect size of samples of noise.
    observed_s, observed_effect_size, partition_s, partition_effect_size
        Both of one sample, and (partitions,) when its words are dealt out anew to the target sets.
    test
        The two-sided permutation test of the sample: ``p_value``, ``partitions`` and whether these are all (``exact``).
    """

    notes: ClassVar[tuple[Note, ...]] = ()
    prob: ClassVar[float] = 0.95

    s: FloatArray
    effect_size: FloatArray
    observed_s: float
    observed_effect_size: float
    partition_s: FloatArray
    partition_effect_size: FloatArray
    test: PermutationTest

    def caption(self) -> str:
        """Subject and unit of the numbers."""
        return "WEAT of noise (0: unbiased)"

    def header(self) -> dict[str, object]:
        """Facts of what was simulated."""
        drawn = "all" if self.test.exact else "random"
        return {"samples of noise": len(self.s), f"{drawn} partitions": self.test.partitions, "intervals": "95%"}

    def table(self) -> pd.DataFrame:
        """One row each for ``s`` and ``effect_size``.

        Columns ``statistic``, ``observed``, ``null_low`` and ``null_high`` (equal-tailed 95% interval of samples of
        noise), ``as_extreme`` (share of them at least as far from 0 as the observed value), ``partition_low``,
        ``partition_high`` and ``p_value`` (the same of the sample's partitions).
        """
        rows = []
        for name, observed, noise, dealt in (
            ("s", self.observed_s, self.s, self.partition_s),
            ("effect_size", self.observed_effect_size, self.effect_size, self.partition_effect_size),
        ):
            as_extreme = float((np.abs(noise) >= abs(observed)).mean())
            rows.append((name, observed, *ends(noise, 0.95), as_extreme, *ends(dealt, 0.95), self.test.p_value))
        columns = ["statistic", "observed", "null_low", "null_high", "as_extreme"]
        return pd.DataFrame(rows, columns=[*columns, "partition_low", "partition_high", "p_value"])

    def summary(self) -> pd.DataFrame:
        """The same with short names."""
        ends = {"null_low": "low", "null_high": "high", "partition_low": "partitions from", "partition_high": "to"}
        return self.table().rename(columns=ends)


def simulate_null_weat(draws: int = 10_000, seed: int = 0) -> NullWeat:
    """WEAT when every cosine is drawn from N(0, .08^2), and one sample of such noise looked at closely.

    The simulation of section 3.2 of Dobrzeniecka and Urbaniak (2024, Figures 8 to 10), of eight words a set. By WEAT's
    definition some 0.9% of such samples have an effect size as far from 0 as 1.27, where the text says 38%: that many
    are above 1.27 if the groups' sums stand in the numerator in place of means. The words of the sample are dealt out
    so that its effect size comes near 1.27: a pattern that chance made and that somebody picked.

    Parameters
    ----------
    draws, seed
        Number and seed of the samples of noise.

    References
    ----------
    Dobrzeniecka, A. and Urbaniak, R. (2024). A Bayesian approach to uncertainty in word embedding bias estimation.
    Computational Linguistics 50(2). https://doi.org/10.1162/coli_a_00507

    Examples
    --------
    >>> found = bb.calibration.simulate_null_weat(draws=200)
    >>> type(found).__name__
    'NullWeat'
    """
    draws = whole_number(draws, "draws")
    seeds = np.random.SeedSequence(whole_number(seed, "seed", least=0, most=None)).spawn(3)
    of_noise, of_sample, of_partitions, of_test = (np.random.default_rng(seeds[i]) for i in (0, 1, 2, 2))
    blocks = np.array_split(np.arange(draws), -(-draws * 4 * WORDS**2 // BLOCK))
    s = np.concatenate([_noise(of_noise, len(block)) for block in blocks])
    total, effect = _weat(s)
    sample = _noise(of_sample, 1)[0]
    orders = of_sample.permuted(np.tile(np.arange(2 * WORDS), (SPLITS, 1)), axis=1)
    own = sample[orders[np.abs(_weat(sample[orders])[1] - PUBLISHED).argmin()]]
    (observed_s,), (observed_effect,) = _weat(own[None])
    dealt = 2 * np.concatenate(list(partition_sums(own, WORDS, draws, of_partitions))) - own.sum()
    test = permutation_test(own[:WORDS], own[WORDS:], "two-sided", draws, of_test)
    of_dealt = dealt / WORDS / own.std()
    return NullWeat(total, effect, float(observed_s), float(observed_effect), dealt, of_dealt, test)


def _noise(rng: np.random.Generator, size: int) -> FloatArray:
    """S (size, words of both sets) of samples: mean cosine with the first attribute set less that with the second."""
    cosines = rng.normal(0, 0.08, (size, 2 * WORDS, 2 * WORDS))
    return cosines[..., :WORDS].mean(axis=-1) - cosines[..., WORDS:].mean(axis=-1)


def _weat(s: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sum statistic and effect size (draws,) from s (draws, words of both sets)."""
    first, second = s[:, :WORDS], s[:, WORDS:]
    return sum_statistic(first, second), effect_size(first, second)
