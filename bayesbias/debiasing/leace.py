"""Least-squares concept erasure: the smallest change after which no linear classifier tells groups apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from bayesbias._core.vectors import FloatArray
from bayesbias.debiasing.methods import RANK, Changed, Debiasing, Vocabulary, labelled


class Erasure(NamedTuple):
    """The map x -> x - (x - centre) right' left', whose two factors are (k, d) with right left' = I."""

    centre: FloatArray
    left: FloatArray
    right: FloatArray


def leace(vocabulary: Vocabulary, groups: Mapping[str, Sequence[str]]) -> Changed:
    """Take what tells the groups' words apart off all words, at the smallest mean squared change of the vocabulary.

    Vectors are scaled to length 1 afterwards, which leaves the groups' means no more than nearly equal.
    """
    words, labels, notes = labelled(vocabulary, groups)
    count = len(vocabulary)
    mean = np.sum([unit.sum(axis=0, dtype=np.float64) for _, unit in vocabulary.blocks()], axis=0) / count
    covariance = vocabulary.gram(None) / count - np.outer(mean, mean)
    vectors = vocabulary.vectors(words)
    means = np.stack([vectors[labels == number].mean(axis=0) for number in range(len(groups))])
    erasure = erased(covariance, mean, means)
    if not len(erasure.right):
        notes.append("the groups' words have one mean: nothing was removed")
    _, _, directions = np.linalg.svd(erasure.right, full_matrices=False)
    sets = tuple(tuple(np.array(words)[labels == number].tolist()) for number in range(len(groups)))
    changed = vocabulary.mapped(np.eye(len(mean)) - erasure.right.T @ erasure.left, erasure.centre)
    neutralized = vocabulary.count if len(erasure.right) else 0
    return changed, Debiasing("leace", directions, sets=sets, neutralized=neutralized, notes=tuple(notes))


def erased(covariance: FloatArray, centre: FloatArray, means: FloatArray) -> Erasure:
    """The map that gives all groups one mean at the smallest mean squared change of vectors.

    With W the inverse root of the covariance, the differences of the means become W D, an orthonormal basis U of which
    is taken off whitened vectors: x -> x - W^+ U U' W (x - centre). ``covariance`` (d, d) and ``centre`` (d,) are those
    of the vectors whose change is to be small; ``means`` (groups, d) lie in the span of these.
    """
    values, axes = eigh(covariance)
    spanned = values > RANK * values[-1]
    root, basis = np.sqrt(values[spanned]), axes[:, spanned]
    whitened = (means - means.mean(axis=0)) @ basis / root
    _, sizes, directions = np.linalg.svd(whitened, full_matrices=False)
    # the differences of G means span G - 1 directions at most; rounding leaves more
    directions = directions[: len(means) - 1][sizes[: len(means) - 1] > RANK * max(sizes[0], 1)]
    return Erasure(centre, directions * root @ basis.T, directions / root @ basis.T)
