"""``audit``: which words of a vocabulary lean to one end of an axis, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesbias._support.arguments import WIDEST, finite_number, flag, mapping, probability, whole_number
from bayesbias._support.files import check_target, checked, whole_file
from bayesbias._support.progress import progress
from bayesbias._support.threads import one_thread
from bayesbias.axes.places import (
    Axis,
    above_zero,
    agreement_notes,
    agreement_of,
    random_agreement,
    summary_of,
)
from bayesbias.axes.poles import (
    FoundPoles,
    find_poles,
    refuse_one_pair,
    refuse_templates,
    sample_beside,
)
from bayesbias.checks.summaries import PROB
from bayesbias.errors import InputError
from bayesbias.numerics.arrays import FloatArray, mean_unit, unit_rows
from bayesbias.numerics.mixtures import false_sign_rates, s_values
from bayesbias.numerics.offsets import Field, MeanOffset, Strata, field_of, mean_offset, signal
from bayesbias.results import Cited, Note, Result
from bayesbias.vectors import Embedding, about, composed_notes, composed_of, opened, rows_of, with_composed
from bayesbias.vectors.contextual import ContextVectors
from bayesbias.vectors.lookup import left_out, lost_of, ordered_by_frequency, warn_lost
from bayesbias.vectors.poles import list_axes, poles_of
from bayesbias.words import WordLists, Words, lists_of_any_kind

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

BLOCK = 512
"""Words whose numbers are made at once: so few that they stay in a processor's cache."""
HALF = 0.5
"""The region of no interest, in standard deviations of places over the vocabulary."""
BANDS = {"1 to 1,000": 1_000, "to 10,000": 10_000, "to 100,000": 100_000, "rarer": None}
"""Frequency bands by place in a file that is ordered by frequency."""
UNKNOWN = "unknown"
OTHERS = "the others"
SHRINKAGE = "10.1093/biostatistics/kxw041"
MOST_ROWS, PRINTED = 400, 14
"""Words of an audit that a page shows, and that are printed."""
FEW = 6
"""Pairs below which an audit says that they are few."""
LARGEST = 10
"""Words that are shown where none is called."""
FEWEST = 100
"""Words beside the protected ones from which a distribution is described."""


@dataclass(frozen=True, repr=False, eq=False)
class Audit(Result):
    """The places of all words of a vocabulary on an axis, and which of them lean to one end.

    Attributes
    ----------
    groups
        Group (or pole) to its words that were found.
    words
        One row a word (and, with more than two groups, a group): ``word``, ``group`` (whose distance is contrasted with
        that to the other groups), ``contrast`` (mean distance to the group less that to the others; negative: closer),
        ``place`` (the contrast less its mean over the vocabulary), ``se`` (of further pairs or words like these),
        ``mean``, ``sd``, ``low``, ``high`` (of the place, shrunken towards 0), ``p_beyond_rope`` (that the place lies
        beyond the region of no interest on the side it leans to), ``lfsr`` (local false sign rate), ``s_value``
        (expected share of wrong or empty calls among the words that are surer), ``leans_to``, ``called``, ``rank``
        (1: closest to the group), ``rank_low``, ``rank_high``, ``frequency_rank`` and ``band`` in a file ordered by
        frequency (-1 elsewhere), ``db_wa``, ``ripa`` (of pairs, or two groups of equally many words).
    distribution
        Group to mean and standard deviation of its contrasts over the vocabulary. Of two groups the first has one.
    sizes, ropes
        Group to the posterior mean of the standard deviation of places over the vocabulary, errors taken out, and to
        half the width of the region of no interest, in cosine distance.
    pairs
        How many pairs the contrast is made of; 0 for groups of words.
    lists
        ``word_list``, ``source`` and ``doi`` of the word lists that groups came from; empty where words were given.
    most_frequent
        How many of the first words of the file were looked at; None where all were.
    by_pair
        Agreement of the pairs, as :meth:`Axis.pairs` has it; None for groups of words.
    usual
        Mean agreement that 5% of sets of random pairs exceed; None for groups of words.
    """

    picture: ClassVar[str] = "plot_audit"

    groups: Mapping[str, tuple[str, ...]]
    words: pd.DataFrame
    distribution: Mapping[str, tuple[float, float]]
    sizes: Mapping[str, float]
    ropes: Mapping[str, float]
    level: float
    prob: float
    embedding: str
    pairs: int
    notes: tuple[Note, ...]
    lists: Mapping[str, str | None]
    most_frequent: int | None = None
    by_pair: pd.DataFrame | None = None
    usual: float | None = None

    def table(self, called: bool = True) -> pd.DataFrame:
        """The words called, or all words: by group, the largest means of places first."""
        rows = self.words[self.words["called"]] if flag(called, "called") else self.words
        order = np.lexsort((-rows["mean"].abs().to_numpy(), rows["group"].cat.codes.to_numpy()))
        return rows.iloc[order].reset_index(drop=True)

    def caption(self) -> str:
        """Which side is which."""
        low, high = self.groups if len(self.groups) == 2 else ("a group", "the others")
        return f"shrunken places: {low} < 0 < {high}; cosine distance"

    def header(self) -> dict[str, object]:
        """Facts of the vocabulary, of the words called, and of the pairs."""
        further, agreement = "pairs" if self.pairs else "words", None
        if self.by_pair is not None:
            agreement = f"{self.by_pair['agreement'].mean():.2f} (random < {self.usual:.2f})"
        return {
            "embedding": self.embedding,
            "words": self.words["word"].nunique(),
            "most frequent": self.most_frequent,
            "called": int(self.words.loc[self.words["called"], "word"].nunique()),
            "to": [f"{side} {count:,}" for side, count in self._called().items() if count],
            "errors at most": f"{self.level:.0%}",
            "rope": [f"{value:.3g}" for value in self.ropes.values()],
            "median se": float(self.words["se"].median()),
            "pairs": self.pairs or None,
            "agreement": agreement,
            "intervals": f"{self.prob:.0%}, further {further}",
        }

    def _called(self) -> dict[str, int]:
        """Numbers of words that are called, by the side that they lean to, the groups first."""
        counts = self.words.loc[self.words["called"], "leans_to"].astype("str").value_counts(sort=False)
        return {**dict.fromkeys(self.groups, 0), **counts.to_dict()}

    def summary(self) -> pd.DataFrame:
        """The words called with the largest places on each side, or the largest places where no word is called."""
        rows = self.largest()
        if self.words["called"].any():
            table = self.table()
            each = PRINTED // table["leans_to"].nunique()
            rows = (
                table.groupby("leans_to", observed=True, sort=False).head(each).sort_values("leans_to", kind="stable")
            )
        ranks = ["frequency_rank"] if (rows["frequency_rank"] > 0).all() else []
        return rows[["word", "leans_to", "mean", "sd", "low", "high", "p_beyond_rope", *ranks]]

    def tables(self) -> dict[str, pd.DataFrame]:
        """The words with the largest places, of those that are called if any is; contrasts, sides and pairs."""
        rows = self.table() if self.words["called"].any() else self.largest()
        rows = rows.loc[rows["mean"].abs().nlargest(MOST_ROWS).index]
        columns = ["word", "leans_to", "mean", "sd", "low", "high", "p_beyond_rope", "rank", "rank_low", "rank_high"]
        means, sds = zip(*self.distribution.values(), strict=True)
        over = {"group": list(self.distribution), "mean": means, "sd": sds, "size": list(self.sizes.values())}
        sides = [(side, ", ".join(self.groups.get(side, ())), count) for side, count in self._called().items()]
        return {
            "Words": rows[[*columns, "band"]],
            "Contrasts over the vocabulary": pd.DataFrame({**over, "rope": list(self.ropes.values())}),
            "Sides": pd.DataFrame(sides, columns=["side", "words", "called"]),
            **({} if self.by_pair is None else {"Agreement of pairs": self.by_pair}),
        }

    def largest(self) -> pd.DataFrame:
        """The words with the largest places, called or not."""
        return self.words.loc[self.words["mean"].abs().sort_values(ascending=False, kind="stable").index[:LARGEST]]

    def sources(self) -> tuple[Any, ...]:
        """The method of shrinkage, the word lists and the embedding."""
        known = self.lists.get("word_list"), self.lists.get("source") or "", self.lists.get("doi") or ""
        kind = "axis" if self.pairs else "word list"
        lists = [Cited(f"{kind} {known[0]}", *known[1:])] if known[0] else []
        return Cited("shrinkage of the audit", doi=SHRINKAGE), *lists, Cited(f"embedding {self.embedding}")

    def write(self, path: str | Path) -> None:
        """Write all words as Parquet, whole or not at all.

        Raises
        ------
        OSError
            The folder cannot be written or the disk is full.
        """
        file = check_target(path, (".parquet",), "an audit")
        with whole_file(file) as temporary:
            self.words.to_parquet(temporary, index=False)


def audit(
    kv: Embedding,
    groups: Any,
    level: float = 0.05,
    rope: float | None = None,
    prob: float = PROB,
    most_frequent: int | None = None,
    seed: int = 0,
) -> Audit:
    """Find the words of a vocabulary that lean to one end of an axis, and how sure that is.

    Each word has a place on the axis, the difference of its mean distances to the two poles less the mean of that
    difference over the vocabulary. Places of all words are products with one offset, and what lies behind the offset
    is normal around 0 with the covariance of the vocabulary times an unknown variance: the error of the mean, and of
    what all words together tell of the size of places, is in the posterior of each word. A word is called where its
    place lies beyond a region of no interest.

    Parameters
    ----------
    kv
        The embedding, or what :func:`load_embedding` takes. It is read in blocks.
    groups
        Pairs as :func:`axis` takes them, or an axis itself. Groups of protected words are possible without pairs, two
        or more: a mapping of names to words, word lists, or what :func:`load_words` takes. They say less, since what
        the words of a group have in common beside the opposition does not cancel.
    level
        Share of wrong or empty calls that is expected among the words called.
    rope
        Places, in cosine distance, at most 2, within which a word is of no interest; by default half of their standard
        deviation over the sample that the covariance comes from.
    most_frequent
        Only that many of the first words of a file that is ordered by frequency; by default all words.
    prob, seed
        Mass of the intervals; seed of the pairs of sampled words that the covariance comes from.

    Returns
    -------
    Audit
        ``table()`` (the words called), ``words`` (all), ``tables()``, ``write("audit.parquet")``.

    References
    ----------
    Stephens, M. (2017). False discovery rates: a new deal. Biostatistics 18(2).
    https://doi.org/10.1093/biostatistics/kxw041

    Examples
    --------
    >>> found = bb.audit("glove-50d-slice", "gender")
    >>> found.words.set_index("word").loc[["actress", "colonel"], "leans_to"].tolist()
    ['woman', 'man']
    """
    level, prob = probability(level, "level"), probability(prob, "prob")
    if rope is not None and finite_number(rope, "rope", most=WIDEST) < 0:
        raise InputError(f"rope is {rope}: give a distance from 0 to {WIDEST:g}, or None")
    start = whole_number(seed, "seed", least=0, most=None)
    if isinstance(kv, ContextVectors):
        raise InputError(
            "an audit does not know the choice of templates as an error: give vectors.mean_vectors() of what encode "
            "returned, which takes the templates as they are"
        )
    contrasts = _contrasts(opened(kv), groups)
    warn_lost(contrasts.notes, "the notes of the result")
    vectors = contrasts.kv
    at_poles = contrasts.keys if contrasts.poles is None else contrasts.poles.keys_at_poles
    vocabulary, names = _vocabulary(vectors, at_poles, most_frequent), list(contrasts.groups)
    frames, distribution, sizes, ropes = [], {}, {}, {}
    with one_thread():
        field = field_of(sample_beside(vectors, at_poles), start)
        offsets = [mean_offset(field, strata) for strata in contrasts.strata]
        for offset in offsets:
            refuse_one_pair(offset, "an audit", contrasts.poles)
        with progress("auditing the vocabulary", len(vocabulary.rows)) as done:
            mean = vocabulary.mean()
            for i, (strata, offset) in enumerate(zip(contrasts.strata, offsets, strict=True)):
                contrast = _contrast_places(vocabulary, mean, field, strata, offset, contrasts.relation, rope, done)
                distribution[names[i]] = (contrast.zero, float(contrast.place.std()))
                sizes[names[i]], ropes[names[i]] = contrast.size, contrast.rope
                frames.append(_table(vocabulary, contrast, names, i, prob))
    words = frames[0]
    if len(frames) > 1:
        words = pd.concat([frame.astype({"leans_to": "str"}) for frame in frames], ignore_index=True)
        words["leans_to"] = words["leans_to"].astype("category")
    words["called"] = words["s_value"] <= level
    found = contrasts.poles if contrasts.paired else None
    count = len(offsets[0].offsets[0]) if contrasts.paired else 0
    notes = [] if vocabulary.ordered else [Note("no-value", what="frequency bands", reason="file of another order")]
    by_pair, usual = None, None
    if found is None:
        notes.append(Note("no-value", what="measured share of errors", reason="lists, not pairs"))
    else:
        by_pair, usual = agreement_of(found, offsets[0], field), random_agreement(field, count)
        notes += [Note("pairs", pairs=count, asked=len(found.poles.pairs))] if count < FEW else []
        notes += agreement_notes(by_pair, usual, found.ends)
    if not words["called"].any():
        notes.append(Note("no-value", what="word called", reason="the largest are shown"))
    return Audit(
        groups=contrasts.groups,
        words=words,
        distribution=distribution,
        sizes=sizes,
        ropes=ropes,
        level=level,
        prob=prob,
        embedding=str(about(vectors)["name"]),
        pairs=count,
        notes=(*contrasts.notes, *notes),
        lists=contrasts.lists,
        most_frequent=most_frequent,
        by_pair=by_pair,
        usual=usual,
    )


@dataclass(frozen=True)
class _Vocabulary:
    """The words that an audit places."""

    vectors: KeyedVectors
    rows: NDArray[np.intp]  # of these words
    ordered: bool  # whether rows are ranks of frequency

    def blocks(self) -> Iterator[tuple[int, FloatArray]]:
        """Vectors (n, d) of some words at a time, and the number of the first."""
        for begin in range(0, len(self.rows), BLOCK):
            yield begin, np.asarray(self.vectors.vectors[self.rows[begin : begin + BLOCK]], dtype=float)

    def mean(self) -> FloatArray:
        """Mean (d,) of the unit vectors."""
        total: FloatArray = np.sum([len(block) * mean_unit(block) for _, block in self.blocks()], axis=0)
        return total / len(self.rows)


def _vocabulary(vectors: KeyedVectors, own: Collection[str], most_frequent: int | None) -> _Vocabulary:
    """All words but those of the groups, or the first of a file that is ordered by frequency."""
    ordered = ordered_by_frequency(vectors.index_to_key)
    if most_frequent is not None:
        whole_number(most_frequent, "most_frequent", least=FEWEST)
        if not ordered:
            raise InputError(
                "most_frequent is given, but the file does not seem to be ordered by frequency: leave it out"
            )
    keys, at_poles = vectors.index_to_key[:most_frequent], set(own)
    rows = np.array([i for i, key in enumerate(keys) if key not in at_poles], dtype=np.intp)
    if len(rows) < FEWEST:
        raise InputError(f"the embedding has {len(rows)} words beside the protected ones: an audit needs {FEWEST}")
    return _Vocabulary(vectors, rows, ordered)


@dataclass(frozen=True)
class _ContrastPlaces:
    """Places (n,) of all words on one contrast."""

    place: FloatArray
    se: FloatArray  # of further pairs or words
    mean: FloatArray  # of the posterior, a t distribution
    scale: FloatArray
    ripa: FloatArray
    freedom: float
    zero: float  # mean of the contrast over the vocabulary
    size: float  # standard deviation of places over the vocabulary, errors taken out
    rope: float  # half the width of the region of no interest


def _contrast_places(
    vocabulary: _Vocabulary,
    mean: FloatArray,
    field: Field,
    strata: Strata,
    offset: MeanOffset,
    relation: FloatArray | None,
    rope: float | None,
    done: Callable[[int], None],
) -> _ContrastPlaces:
    """All words on one contrast, from the mean (d,) of their unit vectors on."""
    behind, size = signal(offset), len(vocabulary.rows)
    # means are products with a vector; variances need all coordinates, whose squares are summed in single precision
    means = field.coordinates(np.eye(len(mean))) @ np.array([offset.mean, behind.mean]).T
    pairs = offset.pairs.astype(np.float32)
    numbers = np.empty((5, size))
    for begin, block in vocabulary.blocks():
        apart = unit_rows(block) - mean
        words = field.coordinates(apart.astype(np.float32))
        ripa = np.full(len(block), np.nan) if relation is None else block @ relation
        place, posterior = (apart @ means).T
        own = [place, np.sqrt(words**2 @ pairs), posterior, behind.place_sds(words), ripa]
        numbers[:, begin : begin + BLOCK] = own
        done(min(begin + BLOCK, size))
    place, se, posterior, scale, ripa = numbers
    return _ContrastPlaces(
        place,
        se,
        posterior,
        scale,
        ripa,
        freedom=behind.freedom,
        zero=float(mean @ (strata.weights @ strata.vectors)),
        size=field.spread(behind.mean**2 + behind.variances),
        rope=HALF * field.spread(offset.mean**2) if rope is None else float(rope),
    )


@dataclass(frozen=True)
class _Contrasts:
    """Contrasts of groups or poles, the negative pole first, and one mean offset a contrast."""

    groups: Mapping[str, tuple[str, ...]]
    strata: tuple[Strata, ...]
    keys: tuple[str, ...]
    relation: FloatArray | None  # mean unit relation vector (d,) of pairs, for RIPA
    poles: FoundPoles | None  # of two poles
    notes: tuple[Note, ...]
    lists: Mapping[str, str | None]
    kv: KeyedVectors  # with the words of the poles that it composes

    @property
    def paired(self) -> bool:
        """True if the poles are pairs, not lists."""
        return self.poles is not None and bool(self.poles.pairs)


def _contrasts(kv: KeyedVectors, groups: Any) -> _Contrasts:
    """The axis of two poles, or of each of several groups against the others."""
    if isinstance(groups, Axis):
        refuse_templates(groups.templates, "an audit")
        groups = groups.poles.poles
    lists: Any = groups
    if (isinstance(groups, str) and groups not in set(list_axes()["name"])) or isinstance(groups, Path):
        lists = lists_of_any_kind(groups, "words")
    protected: Any = lists.protected if isinstance(lists, WordLists) else lists
    about_lists = (
        {"word_list": lists.name, "source": lists.source, "doi": lists.doi} if isinstance(lists, WordLists) else {}
    )
    if isinstance(protected, Mapping) and len(protected) != 2:
        return _several(kv, protected, about_lists)
    asked = poles_of(lists, "groups")
    kv = with_composed(kv, asked.words)
    ends = find_poles(kv, asked)
    pairs: Sequence[tuple[str, ...]] = ends.pairs
    if ends.pairs:
        named = {end: tuple(dict.fromkeys(pair[i] for pair in ends.pairs)) for i, end in enumerate(ends.ends)}
        poles = ends.poles
        about_lists = (
            {"word_list": poles.name, "source": poles.source, "doi": poles.doi or None} if poles.source else {}
        )
    else:
        named = dict(ends.lists)
        first, second = named.values()
        pairs = list(zip(first, second, strict=True)) if len(first) == len(second) else []
    relation = None
    if pairs:
        low, high = (np.asarray(kv.vectors[rows_of(kv, side)], dtype=float) for side in zip(*pairs, strict=True))
        relation = unit_rows(low - high).mean(axis=0)
    return _Contrasts(named, (ends.strata,), ends.keys, relation, ends, ends.notes, about_lists, kv)


def _several(kv: KeyedVectors, groups: Mapping[Any, Any], lists: Mapping[str, str | None]) -> _Contrasts:
    """Each of three groups or more against the mean of the others."""
    if len(groups) < 2:
        raise InputError(f"{len(groups)} group{'' if len(groups) == 1 else 's'} given: an audit needs two")
    listed_words = mapping(groups, "groups", "lists").items()
    groups = {name: checked(Words, words, f"groups.{name}") for name, words in listed_words}
    kv = with_composed(kv, chain(*groups.values()))
    others = {name: [word for other, words in groups.items() if other != name for word in words] for name in groups}
    pairs = {
        name: find_poles(kv, poles_of({name: words, OTHERS: others[name]}, "groups")) for name, words in groups.items()
    }
    named = {name: dict(direction.lists)[name] for name, direction in pairs.items()}
    strata = []
    for name, direction in pairs.items():
        own, rest = direction.strata.members
        word_of = dict(direction.lists)[OTHERS]
        beside = [
            rest[[i for i, word in enumerate(word_of) if word in words]] / (len(named) - 1)
            for other, words in named.items()
            if other != name
        ]
        strata.append(Strata(direction.strata.vectors, (own, *beside)))
    missing = [word for name, words in groups.items() for word in words if word not in named[name]]
    keys = dict.fromkeys(key for direction in pairs.values() for key in direction.keys)
    held = set(chain(*named.values()))
    asked = sum(map(len, groups.values()))
    lost = lost_of("group", groups, held) or left_out(len(missing), asked, "words", "missing", missing)
    notes = (*lost, *composed_notes(composed_of(kv, {key: key for key in keys})))
    return _Contrasts(named, tuple(strata), tuple(keys), None, None, notes, lists, kv)


def _table(vocabulary: _Vocabulary, places: _ContrastPlaces, names: list[str], i: int, prob: float) -> pd.DataFrame:
    """One row for each word, from its place on the contrast of group ``i``."""
    rows, size, contrast = vocabulary.rows, len(vocabulary.rows), places.place + places.zero
    posterior = summary_of(places.mean, places.scale, places.freedom, prob, 1.0)
    beyond = above_zero(np.abs(places.mean) - places.rope, places.scale, places.freedom)
    other = names[1] if len(names) == 2 else f"not {names[i]}"
    bands = np.searchsorted([end for end in BANDS.values() if end is not None], rows + 1)
    ranked = np.sort(places.mean)
    return pd.DataFrame(
        {
            "word": pd.array([vocabulary.vectors.index_to_key[row] for row in rows.tolist()], dtype="str"),
            "group": _category(np.full(size, i), names),
            "contrast": contrast,
            "place": places.place,
            "se": places.se,
            **{name: posterior[name] for name in ("mean", "sd", "low", "high")},
            "p_beyond_rope": beyond,
            "lfsr": false_sign_rates(posterior["p_positive"]),
            "s_value": s_values(1 - beyond),
            "leans_to": _category(places.mean > 0, [names[i], other]),
            "rank": np.searchsorted(ranked, places.mean) + 1,
            "rank_low": np.searchsorted(ranked, posterior["low"]) + 1,
            "rank_high": np.minimum(np.searchsorted(ranked, posterior["high"]) + 1, size),
            "frequency_rank": rows + 1 if vocabulary.ordered else np.full(size, -1),
            "band": _category(bands, list(BANDS)) if vocabulary.ordered else _category(np.zeros(size), [UNKNOWN]),
            "db_wa": -contrast if not np.isnan(places.ripa).all() else np.nan,
            "ripa": places.ripa,
        }
    )


def _category(codes: NDArray[Any], names: list[str]) -> Any:
    """Names by their numbers, which take a byte each."""
    return pd.Categorical.from_codes(codes.astype(np.int8).tolist(), pd.Index(names))
