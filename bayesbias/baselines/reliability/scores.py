"""Bias scores of words in embeddings of several seeds, and features of words that may explain their reliability."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import chain, combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesbias._support.arguments import by_name_or_none, one_of, several, whole_number
from bayesbias._support.progress import progress
from bayesbias.errors import InputError
from bayesbias.metrics.batch import is_embedding
from bayesbias.metrics.catalogue import check_neighbours
from bayesbias.numerics.arrays import (
    FloatArray,
    nearest_rows,
    orthogonal_map,
    row_differences,
    unit_rows,
    unit_single,
)
from bayesbias.results import Note
from bayesbias.vectors import (
    TWINS,
    Embedding,
    FoundWords,
    Twins,
    about,
    find_keys,
    find_words,
    opened,
    opened_by_name,
    rows_of,
)
from bayesbias.vectors.lookup import alike_in_all, in_all, left_out, pairs_once, words_once
from bayesbias.words import pairs_given, words_given

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

MEASURES = ("db_wa", "ripa", "nbm")
NEIGHBOURS = 100
MADE_UP = -1
"""The step of the counts that gensim makes up for a file without counts."""

type Seeds = Mapping[Any, Embedding] | Sequence[Embedding] | Embedding
"""One embedding, several, or names to embeddings; a mapping of words to vectors is one embedding."""


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
    targets, pairs
        Words to score and pairs of words, or what :func:`load_list` takes.
    measures, neighbours
        ``"db_wa"`` (difference of cosines, in [-2, 2]), ``"ripa"`` (inner product of the raw vector with the pair's
        unit difference vector) and ``"nbm"`` (share of so many nearest neighbours that are nearer to the first word
        less the share of the others, in [-1, 1]).
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
    >>> scores = bb.reliability.bias_scores("glove-50d-slice", "occ16", measures=["db_wa", "ripa"])
    >>> scores.dims
    ('measure', 'target', 'base_pair', 'seed')
    """
    chosen = list(dict.fromkeys(one_of(measure, MEASURES, "measures") for measure in several(measures)))
    by_name_or_none(compat, ["published"], "compat")
    one_of(twins, TWINS, "twins")
    neighbours = whole_number(neighbours, "neighbours")
    words, base_pairs = words_given(targets, "targets"), pairs_given(pairs, "pairs")
    every = list(dict.fromkeys(chain(words, *base_pairs)))
    named = _seeds_of(kvs, every)
    for (label, first), (other, second) in combinations(named.items(), 2):
        if first is second or np.array_equal(first.vectors, second.vectors):
            both = f"{_called(label)} and {_called(other)}"
            raise InputError(f"{both} hold the same vectors, which would seem reliable: give each once")
    found = [find_words(kv, every) for kv in named.values()]
    shared_words, notes = _shared(words, found, "target words")
    shared_pairs, lacking = _shared(base_pairs, found, "base pairs")
    notes += lacking
    if twins == "once" and compat is None:
        alike = alike_in_all(list(dict.fromkeys([*shared_words, *chain(*shared_pairs)])), named.values())
        shared_words, again = words_once(shared_words, alike, "target words")
        shared_pairs, repeats = pairs_once(shared_pairs, alike)
        notes += again + repeats
    if not shared_words or not shared_pairs:
        lost = f"{len(base_pairs)} base pairs" if shared_words else f"{len(words)} target words"
        raise InputError(f"the embeddings share none of the {lost}, or a pair is one vector: choose others")
    scores = np.empty((len(chosen), len(shared_words), len(shared_pairs), len(named)))
    with progress("scoring words", len(named)) as done:
        for i, (kv, each) in enumerate(zip(named.values(), found, strict=True)):
            scores[..., i] = _scores(kv, each, shared_words, shared_pairs, chosen, neighbours, compat)
            done(i + 1)
    labels = ["/".join(pair) for pair in shared_pairs]
    return xr.DataArray(
        scores,
        dims=("measure", "target", "base_pair", "seed"),
        coords={"measure": chosen, "target": shared_words, "base_pair": labels, "seed": list(named)},
        name="bias_score",
        attrs={"notes": tuple(notes), "neighbours": neighbours},
    )


def _shared[Unit: (str, tuple[str, str])](
    asked: Sequence[Unit], found: Sequence[FoundWords], what: str
) -> tuple[list[Unit], list[Note]]:
    """The words, or pairs of words, that have a direction in all embeddings, and a note on the others."""
    words = {unit: (unit,) if isinstance(unit, str) else unit for unit in asked}
    shared = [unit for unit in asked if all(word in each.keys for each in found for word in words[unit])]
    lost = ["/".join(words[unit]) for unit in asked if unit not in set(shared)]
    return shared, left_out(len(lost), len(asked), what, "missing in some embedding", lost)


def _scores(
    kv: KeyedVectors,
    found: FoundWords,
    words: list[str],
    pairs: list[tuple[str, str]],
    measures: list[str],
    neighbours: int,
    compat: str | None,
) -> FloatArray:
    """Scores (measures, words, pairs) in one embedding."""
    first, second = (found.of([pair[side] for pair in pairs]) for side in (0, 1))
    vectors, scores = found.of(words), []
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
            unit = unit_single(kv.vectors)
            check_neighbours(neighbours, len(unit))
            first_side = unit @ apart.T >= 0
            nearest = nearest_rows(unit, rows_of(kv, words), neighbours)
            shares = [first_side[own].sum(axis=0, dtype=np.intp) / neighbours for own in nearest]
            scores.append(2 * np.array(shares) - 1)
    return np.stack(scores)


def _seeds_of(kvs: Seeds, words: Collection[str]) -> dict[Hashable, KeyedVectors]:
    """Label to embedding, with those of some words that it composes.

    The label is the seed of a setting (corpus, algorithm, dims, seed), a name, or the place in a sequence.
    """
    source: Any = kvs
    if isinstance(source, Mapping) and source and all(map(is_embedding, source.values())):
        keys = list(source)
        if all(isinstance(key, tuple) and len(key) == 4 for key in keys):
            if other := [key for key in keys if key[:-1] != keys[0][:-1]]:
                apart = f"{keys[0]} and {other[0]} differ in more than their seed"
                raise InputError(f"{apart}: give those that differ in it only")
            keys = [key[-1] for key in keys]
        given: dict[Hashable, Any] = dict(zip(keys, source.values(), strict=True))
    elif isinstance(source, Sequence) and not isinstance(source, str):
        given = dict(enumerate(source))
    else:
        single = opened(source, words)
        given = {str(about(single)["name"]): single}
    vectors = opened_by_name({_called(label): kv for label, kv in given.items()}, words)
    return dict(zip(given, vectors.values(), strict=True))


def _called(label: Hashable) -> str:
    """An embedding in a sentence: its name, or such as ``embedding 1`` after its seed or place."""
    return label if isinstance(label, str) else f"embedding {label}"


def word_features(
    kvs: Seeds, words: Iterable[str] | str | Path, counts: Mapping[str, float] | pd.Series | None = None
) -> pd.DataFrame:
    """Frequency, nearest neighbour, length and stability of words that all embeddings hold.

    ``counts`` are numbers of occurrences by word. None takes the counts that embeddings carry (gensim's ``"count"``),
    but for those that fall by 1 from word to word, which gensim makes up for files without counts.

    Returns
    -------
    DataFrame
        One row a word: ``word``; ``log_frequency`` (natural log, NaN if not known); ``log_frequency_squared`` (of the
        log frequency z-scored over these words); ``nn_similarity`` (cosine to the nearest other word) and ``l2_norm``
        (of the raw vector), means over the embeddings; ``stability`` (mean over pairs of embeddings of the cosine of a
        word's vectors after an orthogonal map of one embedding to the other; NaN for one); ``notes`` on what was left
        out. The study's other features are columns of your own: ``log_senses`` (natural log of the number of
        WordNet's synsets) and ``part_of_speech``.

    Examples
    --------
    >>> features = bb.reliability.word_features("glove-50d-slice", "occ16")
    """
    wanted = words_given(words, "words")
    named = _seeds_of(kvs, wanted)
    found = [find_words(kv, wanted) for kv in named.values()]
    shared, notes = _shared(wanted, found, "words")
    if not shared:
        raise InputError(f"the embeddings share none of the {len(wanted)} words: choose other words")
    frequency, remarks = _log_frequencies(named, shared, counts)
    notes += remarks
    known_frequency = frequency[~np.isnan(frequency)]
    spread = known_frequency.std(ddof=1) if len(known_frequency) > 1 else 0.0
    z = (frequency - known_frequency.mean()) / spread if spread > 0 else np.full(len(frequency), np.nan)
    columns: dict[str, Any] = {"word": shared, "log_frequency": frequency, "log_frequency_squared": z**2}
    vectors, near = [each.of(shared) for each in found], []
    with progress("measuring words", len(named)) as done:
        for i, kv in enumerate(named.values()):
            rows, unit = rows_of(kv, shared), unit_single(kv.vectors)
            near.append(np.vecdot(unit[rows].astype(np.float64), unit[nearest_rows(unit, rows, 1)[:, 0]]))
            done(i + 1)
    columns["nn_similarity"] = np.mean(near, axis=0)
    columns["l2_norm"] = np.mean([np.sqrt(np.vecdot(rows, rows)) for rows in vectors], axis=0)
    every, size = list(named.values()), len(vectors[0][0])
    if len(every) == 1:
        columns["stability"] = np.full(len(shared), np.nan)
        notes.append(Note("no-value", what="stability", reason="one embedding"))
    else:
        common, _ = in_all(every[0].index_to_key, every, "words")
        columns["stability"] = word_stability(vectors, [kv.vectors[rows_of(kv, common)] for kv in every])
        if len(common) <= size:
            known = {"count": len(common), "what": "words", "total": size, "of": "dimensions"}
            notes.append(Note("weak-basis", measure="stability", basis="map", **known))
    return pd.DataFrame({**columns, "notes": [tuple(notes)] * len(shared)})


def _log_frequencies(
    named: Mapping[Hashable, KeyedVectors], words: Sequence[str], counts: Mapping[str, float] | pd.Series | None
) -> tuple[FloatArray, list[Note]]:
    """Natural log of the words' counts, NaN where there is none, and notes on these."""
    if counts is not None:
        keys = find_keys(words, counts.keys())
        values = np.array([counts.get(keys.get(word, word), 0) for word in words], dtype=float)
        if not ((values >= 0) & (values < np.inf)).all():
            raise InputError(f"counts holds {values.min()}: give finite numbers of at least 0")
        lost = [word for word, value in zip(words, values, strict=True) if value == 0]
        known = np.log(values, out=np.full(len(words), np.nan), where=values > 0)
        return known, left_out(len(lost), len(words), "values of log_frequency", "no count", lost)
    own: list[FloatArray] = []
    made_up, bare = list[str](), list[str]()
    for label, kv in named.items():
        recorded = np.asarray(getattr(kv, "expandos", {}).get("count", ()), dtype=np.float64)
        if len(recorded) != len(kv.index_to_key) or not (recorded > 0).all():
            bare.append(_called(label))
        elif (np.diff(recorded) == MADE_UP).all():
            made_up.append(_called(label))
        else:
            own.append(np.log(recorded[rows_of(kv, words)]))
    notes = left_out(len(bare), len(named), "embeddings", "no counts", bare)
    notes += left_out(len(made_up), len(named), "embeddings", "made up, falling by 1", made_up)
    if own:
        return np.mean(own, axis=0), notes
    missing = Note("no-value", what="log_frequency", reason="no counts: give counts=")
    return np.full(len(words), np.nan), [*notes, missing]


def word_stability(
    embeddings: Sequence[NDArray[np.floating]], fitted: Sequence[NDArray[np.floating]] | None = None
) -> FloatArray:
    """Mean over pairs of embeddings of cos(W1[w] R, W2[w]) with R the orthogonal map between the two, (words,).

    The embeddings have vectors (words, dimensions) of the same words; maps may be fitted to other words.
    """
    rotations = [orthogonal_map(*pair) for pair in combinations(embeddings if fitted is None else fitted, 2)]
    units = [unit_rows(vectors) for vectors in embeddings]
    cosines = [
        np.vecdot(first @ rotation, second)
        for rotation, (first, second) in zip(rotations, combinations(units, 2), strict=True)
    ]
    return np.clip(np.mean(cosines, axis=0), -1.0, 1.0)
