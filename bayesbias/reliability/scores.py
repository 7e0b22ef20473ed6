"""``bias_scores``: bias of every target word by every base pair, measure and seed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain, combinations
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from bayesbias._checks import one_of, several, whole_number
from bayesbias._core.blocks import in_blocks
from bayesbias._core.cells import IntArray
from bayesbias._core.cosine import FloatArray, unit_rows, unit_single
from bayesbias._core.neighbours import nearest_rows
from bayesbias._progress import progress
from bayesbias.embeddings import TWINS, Twins, find_words, twin_sentence, twins_of, twins_within
from bayesbias.errors import InputError, listed
from bayesbias.metrics.base import NOTHING
from bayesbias.metrics.lookup import pairs_once
from bayesbias.reliability.seeds import Seeds, called, seeds_of
from bayesbias.words import pairs_given, words_given

if TYPE_CHECKING:
    import xarray as xr
    from gensim.models import KeyedVectors

MEASURES = ("db_wa", "ripa", "nbm")
NEIGHBOURS = 100
BLOCK = 1_000
"""Target words whose neighbours are looked at together."""


def bias_scores(
    kvs: Seeds,
    targets: Iterable[str] | str | Path,
    base_pairs: Iterable[tuple[str, str]] | str | Path = "gender_pairs",
    measures: Sequence[str] = MEASURES,
    neighbours: int = NEIGHBOURS,
    compat: Literal["published"] | None = None,
    twins: Twins = "once",
) -> xr.DataArray:
    """How much nearer each target word is to the first word of a base pair than to the second, by several measures.

    Parameters
    ----------
    kvs
        Embeddings that were trained alike but for their seed: a sequence, a mapping of labels (such as the result of
        :func:`train_embeddings`), or one.
    targets
        Words to score, or what :func:`load_list` takes.
    base_pairs
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

    Raises
    ------
    InputError
        An unknown measure, the same vectors twice, a pair that is no pair, no target or no pair that all embeddings
        hold, ``neighbours`` above the vocabulary.

    References
    ----------
    Du, Y., Fang, Q. and Nguyen, D. (2021). Assessing the reliability of word embedding gender bias measures. EMNLP.
    https://doi.org/10.18653/v1/2021.emnlp-main.785
    """
    import xarray as xr

    chosen = [one_of(measure, MEASURES, "measures") for measure in dict.fromkeys(several(measures))]
    if not chosen:
        raise InputError(f"no measure was given: valid are {', '.join(MEASURES)}")
    if compat not in (None, "published"):
        raise InputError(f"compat is {compat!r}: give None or 'published'")
    one_of(twins, TWINS, "twins")
    neighbours = whole_number(neighbours, "neighbours")
    words, pairs = words_given(targets, "targets"), pairs_given(base_pairs, "base_pairs")
    named = seeds_of(kvs)
    _refuse_twice(named)
    held = [word for word in words if all(word in kv.key_to_index for kv in named.values())]
    kept = [pair for pair in pairs if all(word in kv.key_to_index for word in pair for kv in named.values())]
    notes = _notes(words, held, "target words") + _notes(_labels(pairs), _labels(kept), "base pairs")
    if not held or not kept:
        lost = "target words" if not held else "base pairs"
        raise InputError(f"the embeddings share none of the {len(pairs) if held else len(words)} {lost}: choose others")
    if twins == "once" and compat is None:
        held, kept, said = _once(named, held, kept)
        notes += said
    scores = np.empty((len(chosen), len(held), len(kept), len(named)))
    with progress("scoring words", len(named)) as done:
        for at, kv in enumerate(named.values()):
            scores[..., at] = _scores(kv, held, kept, chosen, neighbours, compat)
            done(at + 1)
    return xr.DataArray(
        scores,
        dims=("measure", "target", "base_pair", "seed"),
        coords={"measure": chosen, "target": held, "base_pair": _labels(kept), "seed": list(named)},
        name="bias_score",
        attrs={"notes": tuple(notes), "neighbours": neighbours},
    )


def _once(
    named: Mapping[Hashable, KeyedVectors], words: list[str], pairs: list[tuple[str, str]]
) -> tuple[list[str], list[tuple[str, str]], list[str]]:
    """Words and pairs without those that have the vectors of earlier ones in all embeddings, and sentences on them."""
    every = list(dict.fromkeys([*words, *chain(*pairs)]))
    alike: dict[str, str] | None = None
    for kv in named.values():
        found = twins_of(find_words(kv, every))
        alike = {word: of for word, of in found.items() if alike is None or alike.get(word) == of}
    again = twins_within(words, alike or {})
    notes = [f"Target words: {twin_sentence(again.items())}: counted once."] if again else []
    kept, said = pairs_once(pairs, alike or {})
    if not kept:
        raise InputError(f"the words of the pair {'/'.join(pairs[0])} have one vector, so that nothing relates them")
    return [word for word in words if word not in again], kept, notes + [f"Base {note}." for note in said]


def _refuse_twice(named: Mapping[Hashable, KeyedVectors]) -> None:
    for (one, first), (other, second) in combinations(named.items(), 2):
        if first is second or np.array_equal(first.vectors, second.vectors):
            raise InputError(
                f"{called(one)} and {called(other)} hold the same vectors, which would seem reliable: give each once"
            )


def _scores(
    kv: KeyedVectors,
    words: list[str],
    pairs: list[tuple[str, str]],
    measures: list[str],
    neighbours: int,
    compat: str | None,
) -> FloatArray:
    """Scores (measures, words, pairs) in one embedding."""
    looked = find_words(kv, dict.fromkeys([*words, *(word for pair in pairs for word in pair)]))
    if zero := [word for word in (*words, *(word for pair in pairs for word in pair)) if word not in looked.keys]:
        raise InputError(f"the vectors of {listed(zero)} are zeros, which have no direction: leave these words out")
    first, second = (looked.of([pair[side] for pair in pairs]) for side in (0, 1))
    vectors = looked.of(words)
    found = []
    for measure in measures:
        if measure == "ripa":
            found.append(_ripa(unit_rows(vectors) if compat == "published" else vectors, first, second, pairs))
            continue
        apart = unit_rows(first) - unit_rows(second)
        if measure == "db_wa":
            found.append(unit_rows(vectors) @ apart.T)
        else:
            rows = np.array([kv.key_to_index[word] for word in words], dtype=np.intp)
            found.append(neighbour_scores(unit_single(kv.vectors), rows, apart, neighbours))
    return np.stack(found)


def _ripa(vectors: FloatArray, first: FloatArray, second: FloatArray, pairs: list[tuple[str, str]]) -> FloatArray:
    apart = first - second
    if not (some := np.abs(apart).max(axis=1) > NOTHING).all():
        bad = pairs[int(np.flatnonzero(~some)[0])]
        raise InputError(f"the words of the pair {'/'.join(bad)} have one vector, so that nothing relates them")
    scores: FloatArray = vectors @ unit_rows(apart).T
    return scores


def neighbour_scores(unit: np.ndarray, rows: IntArray, apart: FloatArray, neighbours: int) -> FloatArray:
    """NBM (rows, pairs) of words of a vocabulary of unit vectors, by the pairs' differences (pairs, dimensions)."""
    if neighbours >= len(unit):
        raise InputError(
            f"neighbours is {neighbours}: give a whole number from 1 to {len(unit) - 1}, the other words of the "
            "vocabulary"
        )
    first = np.ascontiguousarray((unit @ apart.T >= 0).T.astype(np.uint8))
    nearest = nearest_rows(unit, rows, neighbours)
    scores = np.empty((len(rows), len(apart)))

    def count(part: slice) -> None:
        for pair, side in enumerate(first):
            scores[part, pair] = 2 * side[nearest[part]].sum(axis=1, dtype=np.intp) / neighbours - 1

    in_blocks(count, len(rows), BLOCK)
    return scores


def _labels(pairs: list[tuple[str, str]]) -> list[str]:
    return ["/".join(pair) for pair in pairs]


def _notes(asked: list[str], kept: list[str], what: str) -> list[str]:
    held = set(kept)
    lost = [word for word in asked if word not in held]
    if not lost:
        return []
    return [f"{len(lost)} of {len(asked)} {what} are left out, since some embedding lacks them: {listed(lost)}."]
