"""Removing a subspace: projection, hard debiasing of pairs, and hard debiasing of sets of any size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesbias._checks import one_of, whole_number
from bayesbias._core.cosine import FloatArray
from bayesbias._core.subspaces import equalised, principal_directions
from bayesbias.debiasing.records import Debiasing
from bayesbias.debiasing.vocabulary import Vocabulary, Words, as_sets, complete_sets, rows_to_change
from bayesbias.errors import InputError

Changed = tuple[NDArray[np.float32], Debiasing]
ORDERS = ("simultaneous", "sequential")


def project(
    vocabulary: Vocabulary,
    definitional: Sequence[Sequence[str]] | None = None,
    subspace: ArrayLike | None = None,
    components: int = 1,
    neutralize: Iterable[str] | None = None,
    ignore: Iterable[str] = (),
) -> Changed:
    """Take the directions of defining sets, or given ones, off all words."""
    if (definitional is None) == (subspace is None):
        raise InputError("project takes definitional sets of words or a subspace: give one of the two")
    if definitional is not None:
        sets, directions, shares, notes = defined(vocabulary, definitional, components)
    else:
        sets, directions, shares, notes = (), _orthonormal(subspace, vocabulary.kv.vector_size), np.empty(0), []
    rows, lost = rows_to_change(vocabulary, neutralize, ignore)
    record = Debiasing("project", directions, shares, sets, _count(vocabulary, rows), notes=(*notes, *lost))
    return vocabulary.without(directions, rows), record


def hard(
    vocabulary: Vocabulary,
    definitional: Sequence[Sequence[str]],
    equalize: Sequence[Sequence[str]] | None = None,
    neutralize: Iterable[str] | None = None,
    ignore: Iterable[str] = (),
) -> Changed:
    """Neutralise words along the first principal direction of defining pairs, then equalise pairs.

    Pairs are equalised as given, in lower case, with capital first letters and in capitals, where the embedding holds
    both words.
    """
    if larger := [one for one in as_sets(definitional, "definitional", 2) if len(one) > 2]:
        raise InputError(
            f"hard takes defining pairs, given is {larger[0]!r}: use method='hard_multiclass' with sets= for larger"
        )
    sets, directions, shares, notes = defined(vocabulary, definitional, 1)
    pairs: tuple[Words, ...] = ()
    if equalize is not None:
        held = vocabulary.kv.key_to_index
        asked = as_sets(equalize, "equalize", 2)
        whole = {pair: [form for form in _forms(pair) if all(word in held for word in form)] for pair in asked}
        pairs = tuple(dict.fromkeys(form for forms in whole.values() for form in forms))
        gone = [pair for pair, forms in whole.items() if not forms]
        notes += [f"equalize: {' / '.join(pair)} was left out, since the embedding lacks it" for pair in gone]
        every = [word for pair in pairs for word in pair]
        if twice := [word for word in dict.fromkeys(every) if every.count(word) > 1]:
            notes.append(
                f"equalize: {', '.join(twice)} stand in several pairs; the last one counts, the others are not equal"
            )
    rows, lost = rows_to_change(vocabulary, neutralize, ignore)
    changed = vocabulary.without(directions, rows)
    _equalise(vocabulary, changed, pairs, directions, "simultaneous")
    record = Debiasing("hard", directions, shares, sets, _count(vocabulary, rows), pairs, notes=(*notes, *lost))
    return changed, record


def hard_multiclass(
    vocabulary: Vocabulary,
    sets: Sequence[Sequence[str]],
    equalize: Sequence[Sequence[str]] | None = None,
    components: int = 2,
    order: Literal["simultaneous", "sequential"] = "simultaneous",
    neutralize: Iterable[str] | None = None,
    ignore: Iterable[str] = (),
) -> Changed:
    """Neutralise words along principal directions of defining sets, then equalise sets.

    ``order="simultaneous"`` equalises every set from the vectors as they were, the last set of a word deciding (WEFE);
    ``"sequential"`` from vectors that earlier sets have changed already (Manzini's program).
    """
    one_of(order, ORDERS, "order")
    used, directions, shares, notes = defined(vocabulary, sets, components)
    also, more = (used, []) if equalize is None else complete_sets(vocabulary, equalize, "equalize")
    rows, lost = rows_to_change(vocabulary, neutralize, ignore)
    changed = vocabulary.without(directions, rows)
    _equalise(vocabulary, changed, also, directions, order)
    record = Debiasing(
        "hard_multiclass", directions, shares, used, _count(vocabulary, rows), also, notes=(*notes, *more, *lost)
    )
    return changed, record


def defined(
    vocabulary: Vocabulary, sets: object, components: int
) -> tuple[tuple[Words, ...], FloatArray, FloatArray, list[str]]:
    """Whole defining sets, their principal directions, shares of variance, and notes."""
    whole, notes = complete_sets(vocabulary, sets, "definitional")
    most = min(sum(len(words) - 1 for words in whole), vocabulary.kv.vector_size)
    if whole_number(components, "components") > most:
        raise InputError(f"components is {components}: these sets differ in at most {most} directions")
    directions, shares = principal_directions([vocabulary.vectors(words) for words in whole], components)
    return whole, directions, shares[:most], notes


def _equalise(
    vocabulary: Vocabulary,
    changed: NDArray[np.float32],
    sets: tuple[Words, ...],
    directions: FloatArray,
    order: str,
) -> None:
    """Write equalised vectors of sets into ``changed``."""
    moved = {word: vector for words in sets for word, vector in zip(words, vocabulary.vectors(words), strict=True)}
    for words in sets:
        before = np.stack([moved[word] for word in words]) if order == "sequential" else vocabulary.vectors(words)
        after = equalised(before, directions)
        moved |= dict(zip(words, after, strict=True))
        changed[vocabulary.rows(words)] = after


def _forms(pair: Words) -> list[Words]:
    return [pair, *(tuple(map(form, pair)) for form in (str.lower, str.title, str.upper))]


def _orthonormal(subspace: Any, dimensions: int) -> FloatArray:
    try:
        given = np.atleast_2d(np.asarray(subspace, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise InputError(f"subspace does not hold numbers: {error}") from error
    if given.ndim != 2 or given.shape[1] != dimensions or not np.isfinite(given).all() or not given.any():
        raise InputError(
            f"subspace has shape {given.shape}: give directions (k, {dimensions}) of finite numbers that are not all 0"
        )
    _, sizes, axes = np.linalg.svd(given, full_matrices=False)
    kept: FloatArray = axes[sizes > 1e-10 * sizes[0]]
    return kept


def _count(vocabulary: Vocabulary, rows: Any) -> int:
    return len(vocabulary.unit) if rows is None else len(rows)
