"""Words of several groups in documents: one vector of each unit, whose product with lists is their association."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.linalg import helmert

from bayesbias.documents.samples import LEAST, TargetVectors, left_out
from bayesbias.errors import InputError, listed, many
from bayesbias.numerics.arrays import FloatArray, IntArray


@dataclass(frozen=True, kw_only=True)
class GroupVectors(TargetVectors):
    """Contrasts of G groups of words in each unit, whose mean is G - 1 vectors (d,), one after another."""

    words: tuple[TargetVectors, ...]
    weights: FloatArray  # of the words' means in that of their group, (J, U); 0 where a unit does not say the word
    contrasts: FloatArray  # weights of the words' groups, (G - 1, J)

    @classmethod
    def of_words(
        cls, words: Sequence[TargetVectors], weights: FloatArray, contrasts: FloatArray, mean: FloatArray
    ) -> GroupVectors:
        """From the words, and the mean (U, (G - 1) d) of each unit."""
        n = np.sum([np.where(own > 0, word.n, 0) for word, own in zip(words, weights, strict=True)], axis=0)
        known = [
            np.kron(np.outer(rows, rows), (own**2)[:, None, None] * word.errors)
            for word, own, rows in zip(words, weights, contrasts.T, strict=True)
            if word.errors is not None
        ]
        return cls(
            n=n,
            total=mean * n[:, None],
            squares=n * np.vecdot(mean, mean),
            within=np.zeros((mean.shape[1], mean.shape[1])),  # each word has its own
            errors=np.sum(known, axis=0) if known else None,
            words=tuple(words),
            weights=weights,
            contrasts=contrasts,
        )

    def variances(self, b: FloatArray) -> FloatArray:
        of_words = self.contrasts.T @ b.reshape(len(self.contrasts), -1)
        parts = zip(self.weights, self.words, of_words, strict=True)
        value: FloatArray = np.sum([weights**2 * word.variances(own) for weights, word, own in parts], axis=0)
        return value

    def length(self, cluster: IntArray) -> float:
        """1: each word is divided by its own length."""
        return 1.0


def joined(
    groups: Mapping[str, Sequence[str]], sums: Sequence[TargetVectors], cluster: IntArray, unit: str
) -> tuple[GroupVectors, IntArray, list[str]]:
    """Words of groups as one vector of each unit, the units that say a word of each group, and notes.

    With ``t[h]``, the mean over the words of a group, and ``u[l]``, that over a list, the association is
    ``-sum over h, l of C[h, l] t[h] u[l] / G``, where the contrasts of lists are ``C = G / (G - 1) H'H`` with the rows
    H of Helmert. That is the product of ``H t / (G - 1)`` with ``-H u``, each laid end to end.
    """
    group = np.repeat(np.arange(len(groups)), list(map(len, groups.values())))
    lengths, notes = _lengths(groups, sums, cluster, unit)
    said = np.array([each.n > 0 for each in sums]) & np.isfinite(lengths)[:, None]
    spoken = np.array([said[group == place].any(axis=0) for place in range(len(groups))])
    if lacking := [name for name, own in zip(groups, spoken, strict=True) if not own.any()]:
        raise InputError(" ".join([f"no word of {listed(lacking)} is left, and an association needs each.", *notes]))
    whole = spoken.all(axis=0)
    if not whole.any():
        raise InputError(
            f"no {unit} says words of each group, {listed(list(groups))}: name who speaks with clusters, or leave out "
            "covariates that vary within them"
        )
    if not whole.all():
        vectors = sum(int(each.n[own & ~whole].sum()) for each, own in zip(sums, said, strict=True))
        notes.append(left_out(vectors, "vector", f"their {unit} does not say words of each group"))
    kept = np.flatnonzero(whole)
    said = said[:, kept]
    if not said[np.isfinite(lengths)].all():
        notes.append(f"Where a {unit} lacks a word, its value is that of an additive model of words and {unit}s.")
    words = [replace(each, n=np.maximum(each.n, 1)) for each in (own.at(kept) for own in sums)]  # the mean of none is 0
    lengths = np.where(np.isfinite(lengths), lengths, 1.0)
    vectors_of = [word.mean / length for word, length in zip(words, lengths, strict=True)]
    means = []
    for place, name in enumerate(groups):
        own = np.flatnonzero(group == place)
        means.append(_additive([vectors_of[word] for word in own], said[own], unit, name))
    counts = np.array([said[group == place].sum(axis=0) for place in range(len(groups))])
    rows = helmert(len(groups)) / (len(groups) - 1)
    mean = np.einsum("kg,gud->ukd", rows, np.array(means)).reshape(len(kept), -1)
    weights = said / counts[group] / lengths[:, None]
    return GroupVectors.of_words(words, weights, rows[:, group], mean), kept, notes


def _lengths(
    groups: Mapping[str, Sequence[str]], sums: Sequence[TargetVectors], cluster: IntArray, unit: str
) -> tuple[FloatArray, list[str]]:
    """Length (J,) of the mean vector of each word, NaN for words that are left out, and notes on these."""
    lengths, rare, noise = np.full(len(sums), np.nan), [], []
    for place, (word, each) in enumerate(zip((word for own in groups.values() for word in own), sums, strict=True)):
        rows = np.flatnonzero(each.n > 0)
        numbers, names = pd.factorize(cluster[rows])
        if each.errors is None and len(names) < LEAST:
            rare.append(word)
            continue
        lengths[place] = each.at(rows).length(numbers)
        if not np.isfinite(lengths[place]):
            noise.append(word)
    reasons = (
        (rare, f"with vectors of fewer than {many(LEAST, unit)}"),
        (noise, "whose vectors have no common direction"),
    )
    return lengths, [f"Words {why} are left out: {listed(words)}." for words, why in reasons if words]


def _additive(vectors: Sequence[FloatArray], said: NDArray[np.bool_], unit: str, name: str) -> FloatArray:
    """Means (U, d) over words (J, each (U, d)) of what units say: additive in words and units, by least squares."""
    share = said / said.sum(axis=0)
    plain = np.sum([own[:, None] * each for own, each in zip(share, vectors, strict=True)], axis=0)
    # the normal equations of the words' effects, without those of the units; effects have the mean 0
    normal = np.diag(said.sum(axis=1)) - said @ share.T
    if np.linalg.matrix_rank(normal, hermitian=True) < said.any(axis=1).sum() - 1:
        raise InputError(f"the words of {name} are in two parts, and no {unit} says words of both: leave some out")
    right = np.array([each[own].sum(axis=0) - own @ plain for own, each in zip(said, vectors, strict=True)])
    value: FloatArray = plain - share.T @ (np.linalg.pinv(normal, hermitian=True) @ right)
    return value
