"""Bias scores, and their reliability between seeds, sets of base pairs and pairs."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import chain, combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import ndtri

from bayesbias._support.arguments import (
    by_name_or_none,
    flag,
    mapping,
    one_of,
    probability,
    several,
    whole_number,
)
from bayesbias._support.progress import progress
from bayesbias.checks.summaries import PROB
from bayesbias.errors import InputError, listed
from bayesbias.metrics.batch import is_embedding
from bayesbias.metrics.catalogue import check_neighbours
from bayesbias.numerics.arrays import (
    FloatArray,
    IntArray,
    in_blocks,
    nearest_rows,
    row_differences,
    unit_rows,
    unit_single,
)
from bayesbias.numerics.components import FEWEST, FORMS, bootstrap_icc, icc
from bayesbias.results import Note
from bayesbias.vectors import TWINS, Embedding, Twins, about, find_words, opened, opened_by_name, rows_of
from bayesbias.vectors.lookup import alike_in_all, in_all, left_out, pairs_once, words_once
from bayesbias.words import pairs_given, words_given

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


MEASURES = ("db_wa", "ripa", "nbm")
NEIGHBOURS = 100
FISHER = 4  # words, or pairs, from which on a correlation has an interval
BLOCK = 1_000
"""Target words whose neighbours are looked at together."""


def bias_scores(
    kvs: Seeds,
    targets: Iterable[str] | str | Path,
    pairs: Iterable[tuple[str, str]] | str | Path = "gender_pairs",
    measures: Sequence[str] = MEASURES,
    neighbours: int = NEIGHBOURS,
    compat: Literal["published"] | None = None,
    twins: Twins = "once",
) -> xr.DataArray:
    """Nearness of each target word to the first word of a base pair less that to the second, by several measures.

    Parameters
    ----------
    kvs
        Embeddings that were trained the same way but for their seed: a sequence, a mapping of seeds or other labels, or
        one.
    targets
        Words to score, or what :func:`load_list` takes.
    pairs
        Pairs of words, or what :func:`load_list` takes.
    measures
        ``"db_wa"`` (difference of cosines, in [-2, 2]), ``"ripa"`` (inner product of the raw vector with the pair's
        unit difference vector) and ``"nbm"`` (share of the nearest neighbours that are nearer to the first word less
        the share of the others, in [-1, 1]).
    neighbours
        k of NBM.
    compat
        ``"published"`` scales target words to length 1 for RIPA, as the study's program does against its formula, and
        keeps words of one vector.
    twins
        Target words that have one vector in all embeddings (see :func:`distance_table`) count once, the first of them,
        and so do base pairs; pairs whose two words have one vector in all are left out. ``"keep"`` takes all.

    Returns
    -------
    DataArray
        ``bias_score`` with dims ``measure``, ``target``, ``base_pair`` (labels such as ``he/she``), ``seed``.
        ``attrs["notes"]`` names the words and pairs that some embedding lacks, which are left out of all, and those
        that have one vector.

    References
    ----------
    Du, Y., Fang, Q. and Nguyen, D. (2021). Assessing the reliability of word embedding gender bias measures. EMNLP.
    https://doi.org/10.18653/v1/2021.emnlp-main.785

    Examples
    --------
    >>> kv = bb.load_embedding("glove-50d-slice")
    >>> kvs = [kv, bb.debias(kv, "project", definitional=[("poor", "rich")])]  # or of two seeds
    >>> scores = bb.reliability.bias_scores(kvs, "occ16", measures=["db_wa", "ripa"])
    >>> scores.dims
    ('measure', 'target', 'base_pair', 'seed')
    """
    chosen = list(dict.fromkeys(one_of(measure, MEASURES, "measures") for measure in several(measures)))
    if not chosen:
        raise InputError(f"no measure was given: valid are {', '.join(MEASURES)}")
    by_name_or_none(compat, ["published"], "compat")
    one_of(twins, TWINS, "twins")
    neighbours = whole_number(neighbours, "neighbours")
    words, base_pairs = words_given(targets, "targets"), pairs_given(pairs, "pairs")
    named = seeds_of(kvs, list(chain(words, *base_pairs)))
    for (label, first), (other, second) in combinations(named.items(), 2):
        if first is second or np.array_equal(first.vectors, second.vectors):
            raise InputError(
                f"{called(label)} and {called(other)} hold the same vectors, which would seem reliable: give each once"
            )
    shared_words, notes = in_all(words, named.values(), "target words")
    shared_pairs, lacking = in_all(base_pairs, named.values(), "base pairs")
    notes += lacking
    if not shared_words or not shared_pairs:
        lost = f"{len(base_pairs)} base pairs" if shared_words else f"{len(words)} target words"
        raise InputError(f"the embeddings share none of the {lost}: choose others")
    if twins == "once" and compat is None:
        shared_words, shared_pairs, repeats = _once(named, shared_words, shared_pairs)
        notes += repeats
    scores = np.empty((len(chosen), len(shared_words), len(shared_pairs), len(named)))
    with progress("scoring words", len(named)) as done:
        for i, kv in enumerate(named.values()):
            scores[..., i] = _scores(kv, shared_words, shared_pairs, chosen, neighbours, compat)
            done(i + 1)
    labels = ["/".join(pair) for pair in shared_pairs]
    return xr.DataArray(
        scores,
        dims=("measure", "target", "base_pair", "seed"),
        coords={"measure": chosen, "target": shared_words, "base_pair": labels, "seed": list(named)},
        name="bias_score",
        attrs={"notes": tuple(notes), "neighbours": neighbours},
    )


def _once(
    named: Mapping[Hashable, KeyedVectors], words: list[str], pairs: list[tuple[str, str]]
) -> tuple[list[str], list[tuple[str, str]], list[Note]]:
    """Words and pairs without those that have the vectors of earlier ones in all embeddings, and notes on them."""
    alike = alike_in_all(list(dict.fromkeys([*words, *chain(*pairs)])), named.values())
    once, notes = words_once(words, alike, "target words")
    kept, repeats = pairs_once(pairs, alike)
    if not kept:
        raise InputError(f"the words of the pair {'/'.join(pairs[0])} have one vector, so that nothing relates them")
    return once, kept, notes + repeats


def _scores(
    kv: KeyedVectors,
    words: list[str],
    pairs: list[tuple[str, str]],
    measures: list[str],
    neighbours: int,
    compat: str | None,
) -> FloatArray:
    """Scores (measures, words, pairs) in one embedding."""
    every = [*words, *chain(*pairs)]
    looked = find_words(kv, dict.fromkeys(every))
    if zero := [word for word in every if word not in looked.keys]:
        raise InputError(f"the vectors of {listed(zero)} are zeros, which have no direction: leave these words out")
    first, second = (looked.of([pair[side] for pair in pairs]) for side in (0, 1))
    vectors = looked.of(words)
    scores = []
    apart = row_differences(unit_rows(first), unit_rows(second))
    raw = row_differences(first, second)
    for measure in measures:
        if measure != "db_wa" and not (some := (raw if measure == "ripa" else apart).any(axis=1)).all():
            bad = "/".join(pairs[int(np.flatnonzero(~some)[0])])
            raise InputError(f"the words of the pair {bad} have one vector, so that nothing relates them")
        if measure == "ripa":
            scores.append((unit_rows(vectors) if compat == "published" else vectors) @ unit_rows(raw).T)
        elif measure == "db_wa":
            scores.append(unit_rows(vectors) @ apart.T)
        else:
            rows = rows_of(kv, words)
            scores.append(_neighbour_scores(unit_single(kv.vectors), rows, apart, neighbours))
    return np.stack(scores)


def _neighbour_scores(unit: np.ndarray, rows: IntArray, apart: FloatArray, neighbours: int) -> FloatArray:
    """NBM (rows, pairs) of words of a vocabulary of unit vectors, by the pairs' differences (pairs, dimensions)."""
    check_neighbours(neighbours, len(unit))
    first = np.ascontiguousarray((unit @ apart.T >= 0).T.astype(np.uint8))
    nearest = nearest_rows(unit, rows, neighbours)
    scores = np.empty((len(rows), len(apart)))

    def count(part: slice) -> None:
        for pair, side in enumerate(first):
            scores[part, pair] = 2 * side[nearest[part]].sum(axis=1, dtype=np.intp) / neighbours - 1

    in_blocks(count, len(rows), BLOCK)
    return scores


type Seeds = Mapping[Any, Embedding] | Sequence[Embedding] | Embedding
"""One embedding, several, or names to embeddings; a mapping of words to vectors is one embedding."""


def seeds_of(kvs: Seeds, words: Collection[str]) -> dict[Hashable, KeyedVectors]:
    """Label to embedding, with those of some words that it composes.

    The label is the seed of a setting (corpus, algorithm, dims, seed), a name, or the place in a sequence.
    """
    source: Any = kvs
    if isinstance(source, Mapping) and source and all(map(is_embedding, source.values())):
        given: dict[Hashable, Any] = dict(zip(_seed_labels(list(source)), source.values(), strict=True))
    elif isinstance(source, Sequence) and not isinstance(source, str):
        given = dict(enumerate(source))
    else:
        single = opened(source, words)
        given = {str(about(single)["name"]): single}
    if not given:
        raise InputError("no embedding was given: give one, or several that were trained with other seeds")
    vectors = opened_by_name({called(label): kv for label, kv in given.items()}, words)
    labelled = dict(zip(given, vectors.values(), strict=True))
    if len({kv.vector_size for kv in labelled.values()}) > 1:  # they differ in more than their seed
        dimensions = ", ".join(f"{kv.vector_size} in {called(label)}" for label, kv in labelled.items())
        raise InputError(f"the embeddings have different numbers of dimensions ({dimensions}): take them one by one")
    return labelled


def called(label: Hashable) -> str:
    """An embedding in a sentence: its name, or such as ``embedding 1`` after its seed or place."""
    return label if isinstance(label, str) else f"embedding {label}"


def _seed_labels(keys: list[Hashable]) -> list[Hashable]:
    """Seeds of settings that differ in nothing else; other keys as they are."""
    settings = [key for key in keys if isinstance(key, tuple) and len(key) == 4]
    if len(settings) < len(keys):
        names = mapping(dict.fromkeys(keys), "kvs", "embeddings")
        return [key if isinstance(key, int) else name for key, name in zip(keys, names, strict=True)]
    alike = {setting[:-1] for setting in settings}
    if len(alike) > 1:
        other = next(setting for setting in settings if setting[:-1] != settings[0][:-1])
        raise InputError(
            f"the embeddings were trained with {len(alike)} different settings, such as {settings[0]} and {other}: "
            "give those that differ in their seed only"
        )
    return [setting[-1] for setting in settings]


DIMS = ("measure", "target", "base_pair", "seed")
EVERY = "all"
ALPHA = "ICC(3,k)"
"""Coefficient alpha, in the notation of Shrout and Fleiss."""
Interval = Literal["f", "bootstrap"]
INTERVALS: tuple[str, ...] = get_args(Interval)
SAMPLES = 1000
CONSTANT, NO_MEANS = "the scores do not vary", "the mean scores do not vary"
NO_INTERVAL = "no interval: errors or rows do not vary"
"""Reasons of missing numbers."""


def retest_reliability(
    scores: xr.DataArray,
    of: Literal["target", "base_pair"] = "target",
    form: str = "ICC(2,1)",
    prob: float = PROB,
    interval: Interval = "f",
    seed: int = 0,
) -> pd.DataFrame:
    """Agreement of bias scores between embeddings that are trained with different seeds.

    For each measure and each target word a table of base pairs (rows) by seeds (columns); for each measure and each
    base pair one of target words by seeds.

    Parameters
    ----------
    scores
        What :func:`bias_scores` returns.
    of
        What has a coefficient.
    form
        An intraclass correlation of Shrout and Fleiss; the study takes ICC(2,1), agreement of single seeds.
    prob
        Coverage of the confidence intervals.
    interval
        ``"f"`` takes the rows' scores for normal: 89% intervals hold the truth in 64 to 88% of simulated tables where
        they have heavy tails (Student's t with 4 degrees of freedom). ``"bootstrap"`` draws rows with replacement
        (1,000 samples, percentile-t) and needs ten: 81 to 91% of tables, with normal or heavy tails.
    seed
        Seed of the bootstrap.

    Returns
    -------
    DataFrame
        ``measure``, ``label``, ``value``, ``low``, ``high`` and ``reason`` (why there is no value).

    Examples
    --------
    >>> kv = bb.load_embedding("glove-50d-slice")
    >>> kvs = [kv, bb.debias(kv, "project", definitional=[("poor", "rich")])]  # or of two seeds
    >>> scores = bb.reliability.bias_scores(kvs, "occ16", measures=["db_wa", "ripa"])
    >>> found = bb.reliability.retest_reliability(scores)
    >>> found.columns.tolist()[:2]
    ['measure', 'label']
    """
    prob = probability(prob, "prob")
    rows = _rows_of(scores, of, form, "seed", "the reliability over seeds", "reliability of")
    values = _values(scores, "measure", of, rows, "seed")
    measures, labels = scores["measure"].to_numpy(), scores[of].to_numpy()
    measure, label = np.repeat(measures, len(labels)), np.tile(labels, len(measures))
    return _table(values, form, prob, interval, seed, rows, measure=measure, label=label)


def inter_rater_consistency(
    scores: xr.DataArray,
    of: Literal["target", "base_pair"] = "target",
    standardise: bool = False,
    form: str = "ICC(3,1)",
    prob: float = PROB,
    interval: Interval = "f",
    seed: int = 0,
) -> pd.DataFrame:
    """Agreement of the measures, their scores averaged over seeds.

    For each target word a table of base pairs (rows) by measures (columns); for each base pair one of target words by
    measures.

    Parameters
    ----------
    scores
        What :func:`bias_scores` returns, with at least two measures.
    of
        What has a coefficient.
    standardise
        Whether each measure is first brought to mean 0 and standard deviation 1 over all words and pairs. On raw scores
        the measures disagree because their units differ: NBM varies some five times as much as DB/WA.
    form
        An intraclass correlation of Shrout and Fleiss; the study takes ICC(3,1), consistency of these measures.
    prob, interval, seed
        As in :func:`retest_reliability`.

    Returns
    -------
    DataFrame
        ``label``, ``value``, ``low``, ``high`` and ``reason``.

    Examples
    --------
    >>> kv = bb.load_embedding("glove-50d-slice")
    >>> kvs = [kv, bb.debias(kv, "project", definitional=[("poor", "rich")])]  # or of two seeds
    >>> scores = bb.reliability.bias_scores(kvs, "occ16", measures=["db_wa", "ripa"])
    >>> found = bb.reliability.inter_rater_consistency(scores)
    >>> found.columns.tolist()[:2]
    ['label', 'value']
    """
    prob = probability(prob, "prob")
    rows = _rows_of(scores, of, form, "measure", "the agreement of measures", "agreement on")
    values = _values(scores, "measure", "target", "base_pair", "seed").mean(axis=3)
    if flag(standardise, "standardise"):
        constant = scores["measure"].to_numpy()[np.ptp(values, axis=(1, 2)) == 0]
        if 0 < len(constant) < len(values):
            raise InputError(f"the scores of {constant[0]} do not vary and cannot be standardised: leave it out")
        values = standardised(values)
    ordered = values.transpose((1, 2, 0) if of == "target" else (2, 1, 0))
    return _table(ordered, form, prob, interval, seed, rows, label=scores[of].to_numpy())


def measure_correlations(scores: xr.DataArray, prob: float = PROB) -> pd.DataFrame:
    """Correlations of the measures over words, whose scores are averaged over base pairs and seeds.

    Correlations do not depend on the measures' units. The study has .836 for RIPA and NBM, .923 for DB/WA and RIPA and
    .897 for DB/WA and NBM.

    Parameters
    ----------
    scores
        What :func:`bias_scores` returns, with at least two measures and four words.
    prob
        Coverage of the confidence intervals: Fisher's, which take words for independent.

    Returns
    -------
    DataFrame
        ``first``, ``second`` (measures), ``words`` (their number), ``correlation`` (Pearson's), ``low``, ``high``; NaN
        where the scores of a measure do not vary.

    Examples
    --------
    >>> kv = bb.load_embedding("glove-50d-slice")
    >>> kvs = [kv, bb.debias(kv, "project", definitional=[("poor", "rich")])]  # or of two seeds
    >>> scores = bb.reliability.bias_scores(kvs, "occ16", measures=["db_wa", "ripa"])
    >>> bb.reliability.measure_correlations(scores)["second"].tolist()
    ['ripa']
    """
    check_scores(scores)
    prob = probability(prob, "prob")
    _enough(scores, "measure", "the agreement of measures")
    if (words := scores.sizes["target"]) < FISHER:
        raise InputError(f"there are {words} target words, and intervals of correlations need {FISHER}: score more")
    means, names = (
        _values(scores, "measure", "target", "base_pair", "seed").mean(axis=(2, 3)),
        scores["measure"].to_numpy(),
    )
    apart, rows = standardised(means), []
    margin = ndtri((1 + prob) / 2) / np.sqrt(words - 3)
    for i, j in combinations(range(len(means)), 2):
        varies = apart[i].any() and apart[j].any()
        r = float(np.clip((apart[i] * apart[j]).mean(), -1, 1)) if varies else np.nan
        with np.errstate(divide="ignore"):
            low, high = np.tanh(np.arctanh(r) + margin * np.array([-1, 1]))
        rows.append((str(names[i]), str(names[j]), words, r, float(low), float(high)))
    return pd.DataFrame(rows, columns=["first", "second", "words", "correlation", "low", "high"])


def internal_consistency(
    scores: xr.DataArray,
    of: Literal["query", "base_pair"] = "query",
    queries: Mapping[str, Iterable[str]] | None = None,
    standardise: bool = False,
    prob: float = PROB,
    interval: Interval = "f",
    seed: int = 0,
) -> pd.DataFrame:
    """Consistency of the words of a query, or of the base pairs of an ensemble; scores are averaged over seeds.

    Coefficient alpha for each measure and query: with ``of="query"`` the words are the items and the base pairs the
    cases, with ``of="base_pair"`` the pairs are the items and the query's words the cases.

    Parameters
    ----------
    scores
        What :func:`bias_scores` returns.
    of
        Whose words or pairs are the items.
    queries
        Name to words; None takes all target words as one query, ``all``.
    standardise
        Whether every item is first brought to standard deviation 1 (standardised alpha).
    prob, interval, seed
        As in :func:`retest_reliability`.

    Returns
    -------
    DataFrame
        ``measure``, ``label`` (the query), ``value``, ``low``, ``high`` and ``reason``. ``attrs["notes"]`` names the
        words of queries without scores.

    Examples
    --------
    >>> kv = bb.load_embedding("glove-50d-slice")
    >>> kvs = [kv, bb.debias(kv, "project", definitional=[("poor", "rich")])]  # or of two seeds
    >>> scores = bb.reliability.bias_scores(kvs, "occ16", measures=["db_wa", "ripa"])
    >>> found = bb.reliability.internal_consistency(scores, of="base_pair")
    >>> found.columns.tolist()[:2]
    ['measure', 'label']
    """
    check_scores(scores)
    one_of(of, ("query", "base_pair"), "of")
    prob, standardise = probability(prob, "prob"), flag(standardise, "standardise")
    _enough(scores, "base_pair", "internal consistency")
    known = scores["target"].to_numpy().tolist()
    values = _values(scores, "measure", "target", "base_pair", "seed").mean(axis=3)
    if queries is not None and not isinstance(queries, Mapping):
        raise InputError(f"queries is {queries!r}: give a mapping of names to words, or None for all words")
    parts, notes = [], list[Note]()
    cases = "base_pair" if of == "query" else "target"
    measure = scores["measure"].to_numpy()
    for name, words in ({EVERY: known} if queries is None else queries).items():
        unique = words_given(words, f"the query {name!r}")
        scored, lost = ([word for word in unique if (word in known) is there] for there in (True, False))
        if len(scored) < 2:
            raise InputError(
                f"{len(scored)} of the {len(unique)} words of the query {name!r} have scores, and internal consistency "
                "needs at least two: add its words to the targets of bias_scores"
            )
        notes += left_out(len(lost), len(unique), f"words of {name}", "no scores", lost)
        part = values[:, [known.index(word) for word in scored]]
        items = part.transpose(0, 2, 1) if of == "query" else part
        if standardise:
            spread = items.std(axis=-2, ddof=1, keepdims=True)
            items = np.divide(items, spread, out=np.zeros_like(items), where=spread > 0)
        label = np.repeat(name, len(items))
        parts.append(_table(items, ALPHA, prob, interval, seed, cases, measure=measure, label=label))
    if not parts:
        raise InputError("queries is empty: give names of queries and their words, or None for all words")
    table = pd.concat(parts, ignore_index=True)
    table.attrs["notes"] = tuple(notes)
    return table


def check_scores(scores: object, gaps: bool = False) -> None:
    """Refuse what :func:`bias_scores` did not return."""
    if not hasattr(scores, "dims") or set(DIMS) != set(scores.dims):
        kind = f"dims {', '.join(map(str, scores.dims))}" if hasattr(scores, "dims") else type(scores).__name__
        raise InputError(f"given is {kind}: give what bias_scores returns, a DataArray with dims {', '.join(DIMS)}")
    values = np.asarray(scores)
    if not (np.isfinite(values) | (gaps & np.isnan(values))).all():
        raise InputError("the scores hold NaN or infinite numbers: leave those words, pairs or seeds out")


def standardised(values: FloatArray) -> FloatArray:
    """Scores (measure, ...) with mean 0 and population standard deviation 1 of each measure; one value stays 0."""
    rest = tuple(range(1, values.ndim))
    apart = values - np.nanmean(values, axis=rest, keepdims=True)
    spread = np.nanstd(apart, axis=rest, keepdims=True)
    return np.divide(apart, spread, out=np.zeros_like(apart), where=spread > 0)


def _values(scores: xr.DataArray, *dims: str) -> FloatArray:
    return scores.transpose(*dims).to_numpy().astype(np.float64)


def _enough(scores: xr.DataArray, dim: str, what: str) -> None:
    if scores.sizes[dim] < 2:
        name = dim.replace("_", " ")
        raise InputError(f"there is one {name} only, and {what} needs at least two: score more")


def _rows_of(scores: xr.DataArray, of: str, form: str, columns: str, across: str, what: str) -> str:
    """The facet in the rows of each table of a target word or base pair; refuses what has too few rows or columns."""
    check_scores(scores)
    one_of(of, ("target", "base_pair"), "of")
    one_of(form, FORMS, "form")
    rows = "base_pair" if of == "target" else "target"
    _enough(scores, columns, across)
    _enough(scores, rows, f"the {what} a {of.replace('_', ' ')}")
    return rows


def _table(
    values: FloatArray, form: str, prob: float, interval: Interval, seed: int, rows: str, **labels: np.ndarray
) -> pd.DataFrame:
    """A coefficient of each table of ``rows`` with the interval that was asked for, and why one of these is missing."""
    seed = whole_number(seed, "seed", least=0, most=None)
    if one_of(interval, INTERVALS, "interval") == "f":
        estimate = icc(values, form, prob)
    elif (count := values.shape[-2]) >= FEWEST:
        estimate = bootstrap_icc(values, form, prob, SAMPLES, np.random.default_rng(seed))
    else:
        raise InputError(
            f"there are {count} {rows.replace('_', ' ')}s, and a bootstrap over them needs at least {FEWEST}: score "
            "more, or take interval='f'"
        )
    value, low, high = (end.ravel() for end in estimate)
    why = np.select([np.isnan(value), np.isinf(value), np.isnan(low)], [CONSTANT, NO_MEANS, NO_INTERVAL], "")
    table = pd.DataFrame(labels | {"value": value, "low": low, "high": high})
    table["reason"] = [reason or None for reason in why.tolist()]
    return table
