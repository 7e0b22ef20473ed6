"""Iterated null-space projection: directions by which a linear classifier finds the group, until it finds none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bayesbias._checks import whole_number
from bayesbias._core.cosine import FloatArray
from bayesbias._core.subspaces import without
from bayesbias.debiasing.hard import Changed
from bayesbias.debiasing.records import Debiasing
from bayesbias.debiasing.vocabulary import Vocabulary, as_words, rows_to_change
from bayesbias.embeddings import find_words
from bayesbias.errors import InputError, shortened

FOLDS = 5


def null_space(
    vocabulary: Vocabulary,
    groups: Mapping[str, Sequence[str]],
    iterations: int = 35,
    neutralize: Iterable[str] | None = None,
    ignore: Iterable[str] = (),
    seed: int = 0,
) -> Changed:
    """Take off all words what a logistic regression tells the groups' words apart by, again and again.

    It stops when five-fold cross-validation finds the group no better than always naming the largest one, give or take
    a standard error, or after so many iterations.
    """
    most, seed = whole_number(iterations, "iterations"), whole_number(seed, "seed", least=0)
    words, labels, notes = _labelled(vocabulary, groups)
    vectors = vocabulary.vectors(words)
    chance = np.bincount(labels).max() / len(labels)
    enough = chance + np.sqrt(chance * (1 - chance) / len(labels))
    directions: FloatArray = np.empty((0, vectors.shape[1]))
    trace = [accuracy(vectors, labels, seed)]
    while trace[-1] > enough and len(trace) <= most:
        found = _classifier().fit(vectors, labels).coef_
        left = without(found, directions)
        _, sizes, axes = np.linalg.svd(left, full_matrices=False)
        directions = np.vstack([directions, axes[sizes > 1e-10 * np.abs(found).max()]])
        vectors = without(vectors, directions)
        trace.append(accuracy(vectors, labels, seed))
    if trace[-1] > enough:
        notes.append(f"after {most} iterations the group is still found in {trace[-1]:.0%} ({chance:.0%} by chance)")
    if not len(directions):
        notes.append(
            f"the groups' words could not be told apart to begin with ({trace[0]:.0%}, {chance:.0%} by chance): "
            "nothing was removed"
        )
    rows, lost = rows_to_change(vocabulary, neutralize, ignore)
    record = Debiasing(
        "null_space",
        directions,
        sets=tuple(tuple(word for word, at in zip(words, labels, strict=True) if at == n) for n in range(len(groups))),
        neutralized=0 if not len(directions) else len(vocabulary.unit) if rows is None else len(rows),
        trace=np.array(trace),
        notes=(*notes, *lost),
    )
    return vocabulary.without(directions, rows), record


def accuracy(vectors: FloatArray, labels: np.ndarray, seed: int) -> float:
    """Share of words (rows) whose group (label) a logistic regression finds in cross-validation."""
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    folds = StratifiedKFold(min(FOLDS, int(np.bincount(labels).min())), shuffle=True, random_state=seed)
    return float(cross_val_score(_classifier(), vectors, labels, cv=folds).mean())


def _classifier() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=10.0, max_iter=1_000)


def _labelled(vocabulary: Vocabulary, groups: object) -> tuple[list[str], np.ndarray, list[str]]:
    """Words of all groups that the embedding holds, their groups by number, and notes."""
    if not isinstance(groups, Mapping) or len(groups) < 2:
        raise InputError(f"groups is {groups!r}: give a mapping of two or more groups to their words")
    words: list[str] = []
    labels: list[int] = []
    notes = []
    for number, (name, listed) in enumerate(groups.items()):
        asked = list(dict.fromkeys(as_words(listed, f"the group {name!r}")))
        found = list(find_words(vocabulary.kv, asked).keys)
        if lost := [word for word in asked if word not in found]:
            notes.append(f"groups: {name} lacks {shortened(lost)}")
        if len(found) < 2:
            raise InputError(f"the embedding holds {len(found)} words of the group {name!r}: two are needed at least")
        if both := [word for word in found if word in words]:
            raise InputError(f"{both[0]!r} stands in two groups: a word belongs to one")
        words += found
        labels += [number] * len(found)
    return words, np.array(labels), notes
