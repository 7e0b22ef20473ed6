"""``audit``: which words of a vocabulary lean to one social group, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from bayesbias._checks import finite_number, flag, one_of, probability, whole_number
from bayesbias._core.related import positive, sample_pairs, similarity_bins, variograms
from bayesbias._core.shrinkage import (
    Mixture,
    SharedVariance,
    false_sign_rates,
    fitted_mixture,
    s_values,
    shared_variance,
)
from bayesbias._core.vectors import FloatArray, unit_rows
from bayesbias._executors import one_thread
from bayesbias._files import check_target, whole_file
from bayesbias._page import Page, Picture, Section, Table, table_of
from bayesbias._phrases import negatives, percent, signed
from bayesbias._progress import progress
from bayesbias._results import Cited, Result, drawing
from bayesbias.checks.summaries import PROB
from bayesbias.distances.vocabularies import ordered_by_frequency, sampled_rows
from bayesbias.embeddings import Embedding, about, find_words, opened
from bayesbias.errors import InputError, listed, shown
from bayesbias.words import WordLists, load_words

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

SAMPLE = 20_000
"""Words from which the distribution of contrasts and of variances is fitted."""
RELATED_SAMPLE, FIELDS = 2000, 300
"""Words from which it is read how alike two protected words are, and words whose cosines to them are looked at."""
BLOCK = 8192
RANGE = 8 * BLOCK
"""Words whose numbers are made at once."""
BANDS = {"1 to 1,000": 1_000, "to 10,000": 10_000, "to 100,000": 100_000, "rarer": None}
"""Frequency bands by place in a file that is ordered by frequency."""
SHAPES = {"mixture": True, "normal": False}
UNKNOWN = "unknown"
SHRINKAGE = "10.1093/biostatistics/kxw041"
MOST_ROWS = 2000
"""Words of an audit that a page shows."""
FEWEST = 100
"""Words beside the protected ones from which a distribution can be told."""


@dataclass(frozen=True, repr=False, eq=False)
class Audit(Result):
    """The contrasts of all words of a vocabulary.

    Attributes
    ----------
    groups
        Group to its protected words that were found.
    words
        One row a word (and, with more than two groups, a group): ``word``, ``group`` (whose distance is contrasted with
        that to the other groups), ``contrast`` (mean distance to the group less that to the others; negative: closer),
        ``se``, ``mean``, ``sd``, ``low``, ``high`` (shrunken), ``p_beyond_rope``, ``lfsr`` (local false sign rate),
        ``s_value`` (expected share of wrong signs among the words that are surer), ``leans_to``, ``called``, ``rank``
        (1: closest to the group), ``rank_low``, ``rank_high``, ``place`` and ``band`` in a file ordered by frequency,
        ``db_wa``, ``ripa`` (of two groups of equally many words).
    equivalent_words
        Group to the number of unrelated protected words whose contrasts would be as precise. Words that are alike
        within groups make it smaller than their number; alike groups, whose common part cancels, larger. It is neither
        the effective number of words of a list nor that for statements about further words.
    distribution
        Group to mean and standard deviation of its contrasts over the vocabulary, as fitted. Of two groups, both
        mappings have the first.
    level
        Expected share of wrong signs among the words called.
    rope, prob
        What was asked.
    embedding
        Name and size.
    notes
        What limits the result.
    lists
        ``word_list``, ``source`` and ``doi`` of the word lists that groups came from; empty where words were given.
    """

    picture: ClassVar[str] = "plot_audit"

    groups: Mapping[str, tuple[str, ...]]
    words: pd.DataFrame
    equivalent_words: Mapping[str, float]
    distribution: Mapping[str, tuple[float, float]]
    level: float
    rope: float
    prob: float
    embedding: str
    notes: tuple[str, ...]
    lists: Mapping[str, str | None]

    def table(self, called: bool = True) -> pd.DataFrame:
        """The words called, by group, the largest contrasts first; or all words.

        Parameters
        ----------
        called
            Whether only words are shown whose sign is called.
        """
        rows = self.words[self.words["called"]] if flag(called, "called") else self.words
        order = np.lexsort((-rows["mean"].abs().to_numpy(), rows["group"].to_numpy()))
        return rows.iloc[order].reset_index(drop=True)

    def findings(self) -> list[str]:
        """The result in sentences, without its notes."""
        called = self.words[self.words["called"]]
        way = "to one group" if len(self.groups) == 2 else "to a group or away from it"
        sentences = [
            f"Of {self.words['word'].nunique():,} words of {self.embedding}, {called['word'].nunique():,} lean {way}: "
            f"at most {percent(self.level)} of these signs are expected to be wrong, if the model holds."
        ]
        for group, part in called.groupby("leans_to", sort=False):
            top = part.iloc[np.argsort(-part["mean"].abs().to_numpy(), kind="stable")[:10]]
            towards = f"To {group}" if group in self.groups else f"Away from {str(group).removeprefix('not ')}"
            sentences.append(f"{towards}: {len(part):,}; most of all {listed(top['word'].tolist(), 10)}.")
        count = sum(map(len, self.groups.values()))
        for group, (mean, sd) in self.distribution.items():
            which = "" if len(self.groups) == 2 else f" of {group} and the others"
            sentences.append(
                f"Over the vocabulary contrasts{which} have a mean of {signed(mean)} and a standard deviation of "
                f"{signed(sd)}; with {count} protected words contrasts are as precise as with "
                f"{self.equivalent_words[group]:.1f} unrelated ones."
            )
        return [negatives(sentence) for sentence in sentences]

    def front(self) -> Page:
        """The first screen of a report."""
        answer, *rest = self.findings()
        leaning = [sentence for sentence in rest if sentence.startswith(("To ", "Away from "))]
        others = [sentence for sentence in rest if sentence not in leaning]
        return Page(
            title=f"Audit: {', '.join(self.groups)} in {self.embedding}",
            lead=f"{self.words['word'].nunique():,} words of the vocabulary beside "
            f"{sum(map(len, self.groups.values()))} protected words.",
            answer=answer,
            lines={"Which words?": " ".join(leaning), "How sure?": " ".join([*others, *self.notes])},
            picture=Picture(
                "audit",
                "Contrast of each word against its place in the vocabulary; words called are named",
                partial(drawing, "plot_audit", self),
                photo=True,
            ),
        )

    def sections(self) -> tuple[Section, ...]:
        """The parts of a report: the words called, and the groups."""
        table = self.table()
        rows = table.loc[table["mean"].abs().nlargest(MOST_ROWS).index].astype({"band": "str", "leans_to": "str"})
        rows["ranks"] = [f"{row.rank_low} to {row.rank_high}" for row in rows.itertuples()]
        more = f"the {MOST_ROWS:,} largest contrasts of {len(table):,}"
        ends = {"mean": ("contrast", "number"), "low": ("low", "number"), "high": ("high", "number")}
        columns = {"word": ("word", "text"), "leans_to": ("leans to", "text"), **ends, "lfsr": ("wrong sign", "rate")}
        columns |= {"rank": ("rank", "count"), "ranks": ("ranks at its ends", "text"), "band": ("frequency", "text")}
        caption = (
            f"Words called, {more if len(table) > MOST_ROWS else f'all {len(table):,}'}: shrunken contrast in cosine "
            f"distance with its {percent(self.prob)} interval, and the probability that its sign is wrong"
        )
        groups = Table(
            "Protected words of each group that were found",
            {"group": "text", "words": "text"},
            [(name, ", ".join(words)) for name, words in self.groups.items()],
        )
        return (
            Section("Words called", [table_of(caption, rows, columns)]),
            Section("Groups", [groups, *self.notes]),
        )

    def sources(self) -> tuple[Any, ...]:
        """The method of shrinkage, the word lists and the embedding."""
        known = self.lists.get("word_list"), self.lists.get("source") or "", self.lists.get("doi") or ""
        lists = [Cited(f"word list {known[0]}", *known[1:])] if known[0] else []
        return Cited("shrinkage of the audit", doi=SHRINKAGE), *lists, Cited(f"embedding {self.embedding}")

    def write(self, path: str | Path) -> None:
        """Write all words as Parquet, whole or not at all.

        Raises
        ------
        InputError
            Another suffix, or a folder that does not exist.
        OSError
            The folder cannot be written or the disk is full.
        """
        file = check_target(path, (".parquet",), "an audit")
        with whole_file(file) as temporary:
            self.words.to_parquet(temporary, index=False)


def audit(
    kv: Embedding,
    groups: WordLists | str | Path | Mapping[str, Sequence[str]],
    level: float = 0.05,
    rope: float = 0.02,
    shape: str = "mixture",
    prob: float = PROB,
    sample: int = SAMPLE,
    seed: int = 0,
) -> Audit:
    """Which words of the vocabulary lean to one social group, and how sure that is.

    Each word of the vocabulary has its cosines to the protected words of two groups or more. Its contrast is their
    difference; the error is that of other protected words like these, which are related as the vectors say. Variances
    borrow strength from each other, and contrasts are shrunken towards their distribution over the vocabulary.

    Parameters
    ----------
    kv
        The embedding, or what :func:`load_embedding` takes. It is read in blocks.
    groups
        Groups of protected words: word lists, what :func:`load_words` takes, or a mapping of names to words.
    level
        Share of wrong signs that is expected among the words called.
    rope
        Contrasts, in cosine distance, that are as good as none: ``p_beyond_rope`` is the probability of a larger one.
    shape
        Distribution of contrasts over the vocabulary: ``"mixture"`` of normals, whose tails may be heavy, or
        ``"normal"``; both are fitted.
    prob
        Mass of the intervals.
    sample, seed
        Words from which that distribution is fitted, drawn at random, and the seed of the draw.

    Returns
    -------
    Audit
        ``table()`` (the words called), ``words`` (all), ``text()``, ``write("audit.parquet")``.

    References
    ----------
    Stephens, M. (2017). False discovery rates: a new deal. Biostatistics 18(2).
    https://doi.org/10.1093/biostatistics/kxw041

    Examples
    --------
    >>> found = bb.audit("google-news-slice", "gender")
    >>> found.table()[["word", "leans_to"]].head(2)
       word leans_to
    0   Ann    woman
    1  lady    woman
    """
    level, prob = probability(level, "level"), probability(prob, "prob")
    rope, heavy = finite_number(rope, "rope"), SHAPES[one_of(shape, tuple(SHAPES), "shape")]
    if rope < 0:
        raise InputError(f"rope is {rope}: give a distance of at least 0")
    most, start = whole_number(sample, "sample", least=500), whole_number(seed, "seed", least=0, most=None)
    vectors = opened(kv)
    lists = load_words(groups) if isinstance(groups, str | Path) else groups
    members, missing = _groups(vectors, lists)
    protected = unit_rows(
        vectors.vectors[[vectors.key_to_index[key] for keys in members.values() for key in keys]].astype(float)
    )
    owner = np.repeat(np.arange(len(members)), [len(keys) for keys in members.values()])
    own = {key for keys in members.values() for key in keys}
    rows = np.array([i for i, key in enumerate(vectors.index_to_key) if key not in own], dtype=np.intp)
    if len(rows) < FEWEST:
        raise InputError(f"the embedding has {len(rows)} words beside the protected ones: an audit needs {FEWEST}")
    with one_thread():
        rng = np.random.default_rng([start, 8])
        alike = _alike(vectors, own, protected, rng)
        weights = _weights(owner, len(members))
        spread = np.einsum("gj,jk,gk->g", weights, alike, weights)
        worth = (weights**2).sum(axis=1) / spread
        within = np.eye(len(owner)) - (owner[:, None] == owner) / np.bincount(owner)[owner]
        apart = within @ alike @ within
        expected, freedom = float(np.trace(apart)), float(np.trace(apart) ** 2 / np.trace(apart @ apart))
        chosen = rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))
        drawn, scatter, _ = _measured(vectors.vectors, chosen, protected, weights, owner, None)
        errors = _Errors(spread, expected, freedom, shared_variance(scatter / expected, freedom))
        mixtures = [fitted_mixture(values, errors.of(i, scatter), heavy) for i, values in enumerate(drawn)]
        relation = _relation(vectors, list(members.values()))
        side = _Side(protected, weights, owner, relation, errors, mixtures, rope)
        numbers = _blocks(vectors, rows, side)
    words = _table(vectors, rows, list(members), numbers, prob, relation is not None)
    words["called"] = words["s_value"] <= level
    return Audit(
        groups={name: tuple(keys) for name, keys in members.items()},
        words=words,
        equivalent_words=dict(zip(members, (worth * len(owner)).tolist(), strict=False)),
        distribution={name: (mixture.mean, mixture.sd) for name, mixture in zip(members, mixtures, strict=False)},
        level=level,
        rope=rope,
        prob=prob,
        embedding=str(about(vectors)["name"]),
        notes=_notes(missing, vectors, mixtures),
        lists={"word_list": lists.name, "source": lists.source, "doi": lists.doi}
        if isinstance(lists, WordLists)
        else {},
    )


@dataclass(frozen=True)
class _Errors:
    """How the scatter of a word's distances within groups becomes the error of its contrasts.

    ``spread`` (contrasts,) is the variance of each for distances of variance 1, ``expected`` and ``freedom`` those of
    the scatter.
    """

    spread: FloatArray
    expected: float
    freedom: float
    shared: SharedVariance

    def of(self, contrast: int, scatter: FloatArray) -> FloatArray:
        """Standard errors (n,) of a contrast."""
        variances = self.shared.moderated(scatter / self.expected, self.freedom)
        result: FloatArray = np.sqrt(self.spread[contrast] * variances)
        return result


def _groups(
    kv: KeyedVectors, groups: WordLists | Mapping[str, Sequence[str]]
) -> tuple[dict[str, list[str]], list[str]]:
    """Group to the keys of its words, and the words that are missing."""
    lists: object = groups.protected if isinstance(groups, WordLists) else groups
    if not isinstance(lists, Mapping):
        raise InputError(f"groups is {shown(groups)}: give word lists, or a mapping of group names to words")
    members: dict[str, list[str]] = {}
    missing: list[str] = []
    for name, words in lists.items():
        entries = list(words) if isinstance(words, Iterable) and not isinstance(words, str) else []
        if not entries or not all(isinstance(word, str) for word in entries):
            raise InputError(f"groups gives {shown(words)} for {name!r}: give a list of words")
        keys = find_words(kv, dict.fromkeys(entries)).keys
        missing += [word for word in entries if word not in keys]
        members[str(name)] = list(dict.fromkeys(keys.values()))
        if len(members[str(name)]) < 2:
            raise InputError(f"of the group {name!r} {len(members[str(name)])} words are found, and two are needed")
    if len(members) < 2:
        raise InputError(f"{len(members)} group{'' if len(members) == 1 else 's'} given: an audit needs two")
    every = [key for keys in members.values() for key in keys]
    if twice := [key for key in every if every.count(key) > 1]:
        raise InputError(f"the word {twice[0]!r} is in two groups: keep it in one")
    return members, missing


def _alike(kv: KeyedVectors, own: set[str], protected: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Correlation (J, J) of the cosines of any word to two protected words, by the similarity of these."""
    rows, _ = sampled_rows(kv, own, RELATED_SAMPLE, 0)
    units = unit_rows(kv.vectors[rows].astype(float))
    centre = units.mean(axis=0)
    apart = unit_rows(units - centre)
    pairs = sample_pairs(apart, rng)
    fields = units[rng.choice(len(units), min(FIELDS, len(units)), replace=False)] @ units.T
    fields -= fields.mean(axis=1, keepdims=True)
    fields /= fields.std(axis=1, keepdims=True)
    curve = variograms(fields, pairs).mean(axis=0)
    near = unit_rows(protected - centre)
    correlations = curve[similarity_bins(near @ near.T)]
    np.fill_diagonal(correlations, 1.0)
    result: FloatArray = positive(correlations[None])[0]
    return result


def _weights(owner: NDArray[np.intp], groups: int) -> FloatArray:
    """Weights (contrasts, J) of the distances to protected words: a group less the mean of the others."""
    member = (owner == np.arange(groups)[:, None]) / np.bincount(owner)[:, None]
    weights: FloatArray = member - (member.sum(axis=0) - member) / (groups - 1)
    return weights[:1] if groups == 2 else weights


def _measured(
    vectors: NDArray[np.floating],
    rows: NDArray[np.intp],
    protected: FloatArray,
    weights: FloatArray,
    owner: NDArray[np.intp],
    relation: FloatArray | None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Contrasts (G, n) of some words, the scatter of their distances within groups (n,), and their RIPA (n,)."""
    values, scatter, ripa = np.empty((len(weights), len(rows))), np.empty(len(rows)), np.full(len(rows), np.nan)
    for begin in range(0, len(rows), BLOCK):
        part = slice(begin, begin + BLOCK)
        block = np.asarray(vectors[rows[part]], dtype=np.float32)
        lengths = np.sqrt(np.vecdot(block, block))
        distances = -(block @ protected.astype(np.float32).T) / np.maximum(lengths, 1e-30)[:, None]
        values[:, part] = weights.astype(np.float32) @ distances.T
        squares = (distances**2).sum(axis=1)
        for group in range(owner.max() + 1):
            own = distances[:, owner == group]
            squares -= own.sum(axis=1) ** 2 / own.shape[1]
        scatter[part] = np.maximum(squares, 1e-12)
        if relation is not None:
            ripa[part] = block @ relation.astype(np.float32)
    return values, scatter, ripa


def _relation(kv: KeyedVectors, groups: list[list[str]]) -> FloatArray | None:
    """Mean unit relation vector of pairs, where two groups have equally many words."""
    if len(groups) != 2 or len(groups[0]) != len(groups[1]):
        return None
    first, second = (kv.vectors[[kv.key_to_index[key] for key in keys]].astype(float) for keys in groups)
    result: FloatArray = unit_rows(first - second).mean(axis=0)
    return result


@dataclass(frozen=True)
class _Side:
    """What the contrasts of a block of words are made from: the protected side, the errors and the distribution."""

    protected: FloatArray
    weights: FloatArray
    owner: NDArray[np.intp]
    relation: FloatArray | None
    errors: _Errors
    mixtures: list[Mixture]
    rope: float

    def block(self, vectors: NDArray[np.floating], rows: NDArray[np.intp]) -> FloatArray:
        """Contrast, standard error, shrunken mean and sd, P(below 0) and P(inside the rope), with RIPA in a row of its
        own for each contrast: (contrasts, 7, n).
        """
        values, scatter, ripa = _measured(vectors, rows, self.protected, self.weights, self.owner, self.relation)
        pieces = []
        for i, mixture in enumerate(self.mixtures):
            se = self.errors.of(i, scatter)
            shrunken = mixture.posterior(values[i], se, self.rope, self.errors.freedom + self.errors.shared.freedom)
            pieces.append([values[i], se, shrunken.mean, shrunken.sd, shrunken.below, shrunken.inside, ripa])
        return np.array(pieces)


def _blocks(kv: KeyedVectors, rows: NDArray[np.intp], side: _Side) -> FloatArray:
    """The numbers of all words (contrasts, 7, n), each block of the vocabulary by itself."""
    values = np.empty((len(side.weights), 7, len(rows)))
    with progress("auditing the vocabulary", len(rows)) as done:
        for begin in range(0, len(kv.index_to_key), RANGE):
            place = slice(*np.searchsorted(rows, (begin, begin + RANGE)).tolist())
            values[:, :, place] = side.block(kv.vectors, rows[place])
            done(place.stop)
    return values


def _table(
    kv: KeyedVectors, rows: NDArray[np.intp], names: list[str], numbers: FloatArray, prob: float, paired: bool
) -> pd.DataFrame:
    """One row for each word and contrast, from their numbers."""
    size, reach = len(rows), float(ndtri((1 + prob) / 2))
    words = np.array([kv.index_to_key[row] for row in rows.tolist()], dtype=object)
    ordered = ordered_by_frequency(kv.index_to_key)
    frames = []
    for i, (contrast, se, mean, sd, below, inside, ripa) in enumerate(numbers):
        rates = false_sign_rates(below)
        ranked = np.sort(mean)
        other = names[1] if len(names) == 2 else f"not {names[i]}"
        frames.append(
            pd.DataFrame(
                {
                    "word": pd.array(words, dtype="str"),
                    "group": _category(np.full(size, i), names),
                    "contrast": contrast,
                    "se": se,
                    "mean": mean,
                    "sd": sd,
                    "low": mean - reach * sd,
                    "high": mean + reach * sd,
                    "p_beyond_rope": 1 - inside,
                    "lfsr": rates,
                    "s_value": s_values(rates),
                    "leans_to": _category(mean > 0, [names[i], other]),
                    "rank": np.searchsorted(ranked, mean) + 1,
                    "rank_low": np.searchsorted(ranked, mean - reach * sd) + 1,
                    "rank_high": np.minimum(np.searchsorted(ranked, mean + reach * sd) + 1, size),
                    "place": rows + 1 if ordered else np.full(size, -1),
                    "band": _bands(rows) if ordered else _category(np.zeros(size), [UNKNOWN]),
                    "db_wa": -contrast if paired else np.nan,
                    "ripa": ripa,
                }
            )
        )
    if len(frames) == 1:
        return frames[0]
    whole = pd.concat([frame.astype({"leans_to": "str"}) for frame in frames], ignore_index=True)
    return whole.astype({"leans_to": "category"})


def _bands(rows: NDArray[np.intp]) -> Any:
    ends = [end for end in BANDS.values() if end is not None]
    return _category(np.searchsorted(ends, rows + 1), list(BANDS))


def _category(codes: NDArray[Any], names: list[str]) -> Any:
    """Names by their numbers, which take a byte each."""
    return pd.Categorical.from_codes(codes.astype(np.int8).tolist(), pd.Index(names))


def _notes(missing: list[str], kv: KeyedVectors, mixtures: list[Mixture]) -> tuple[str, ...]:
    notes = [f"Protected words that are missing: {listed(missing)}."] if missing else []
    if not ordered_by_frequency(kv.index_to_key):
        notes.append("The file is not ordered by frequency, so that frequency bands are not known.")
    if any(abs(mixture.mean) > 2 * mixture.sd for mixture in mixtures):
        notes.append(
            "Nearly all words lean to one side: the groups differ in something that has nothing to do with single "
            "words, such as the frequency of their words."
        )
    notes.append(
        "Intervals are for protected words like these, given the distribution of contrasts over the vocabulary."
    )
    return tuple(notes)
