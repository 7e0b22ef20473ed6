"""Errors of products with vectors that come from the choice of attribute words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.axes.poles import FoundPoles, sample_beside
from bayesbias.distances.vocabularies import sampled_rows
from bayesbias.errors import InputError, many
from bayesbias.numerics.arrays import FloatArray, unit_rows
from bayesbias.numerics.offsets import Field, field_of, mean_offset
from bayesbias.numerics.related import PairSample, components_of, list_correlations, pair_shares, sample_pairs

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

SAMPLE = 3000  # words of the vocabulary
FEWEST = 100  # words without which errors of attribute words cannot be told
PAIRS = 1000  # pairs of each bin of similarity


@dataclass(frozen=True)
class AttributeWords(ABC):
    """Attribute words, and the errors that the choice of them makes."""

    keys: tuple[str, ...]  # of the words in the embedding, (R,)
    weights: FloatArray  # of the words' unit vectors in the contrast, (R,), or in its K parts, (K, R)
    direction: FloatArray  # the weighted sum (d,), or those of the parts, end to end

    @abstractmethod
    def covariance(self, vectors: FloatArray) -> FloatArray:
        """Covariance (J, J), over words like these, of the products of vectors (J, d) with the direction."""

    def total_variance(self, vectors: FloatArray) -> float:
        """The sum of these variances over vectors (J, d)."""
        if len(vectors) > vectors.shape[1]:
            vectors = np.linalg.qr(vectors, mode="r")  # V'V is the same
        return float(np.trace(self.covariance(vectors)))


@dataclass(frozen=True)
class AxisWords(AttributeWords):
    """Words at the poles of an axis, with the errors that :func:`axis` has for them."""

    field: Field
    variances: FloatArray  # of the mean offset, (Q,)

    @classmethod
    def of(cls, kv: KeyedVectors, poles: FoundPoles) -> AxisWords:
        """The poles of an axis, as an embedding holds them."""
        sampled = field_of(sample_beside(kv, poles.keys, 0), 0)
        offset, weights = mean_offset(sampled, poles.strata), poles.strata.weights
        return cls(poles.keys, weights, weights @ poles.strata.vectors, sampled, offset.opposition)

    def covariance(self, vectors: FloatArray) -> FloatArray:
        coordinates = self.field.coordinates(vectors)
        value: FloatArray = (coordinates * self.variances) @ coordinates.T
        return value


@dataclass(frozen=True)
class ListWords(AttributeWords):
    """Two lists of words or more, with a sample of the vocabulary that says how much other words would differ."""

    signs: FloatArray  # of the lists in the K parts of the contrast, (K, L)
    units: FloatArray  # unit vectors (N, d) of the sample
    pairs: PairSample
    # share of a word with itself among pairs of two lists, (L, L), and of other pairs by similarity, (L, L, bins)
    same: FloatArray
    shares: FloatArray

    @classmethod
    def of(cls, kv: KeyedVectors, lists: Sequence[Sequence[str]], signs: FloatArray) -> ListWords:
        """Lists of words by their keys in the embedding, no word twice in one, and their signs (K, L)."""
        keys = list(dict.fromkeys(key for each in lists for key in each))
        rows, _ = sampled_rows(kv, set(keys), SAMPLE, 0)
        if len(rows) < FEWEST:
            raise InputError(
                f"the embedding holds {many(len(rows), 'word')} outside of the lists, and errors of attribute words "
                f"need {FEWEST}: give the whole embedding"
            )
        units, own = unit_rows(kv.vectors[rows]), unit_rows(kv.vectors[[kv.key_to_index[key] for key in keys]])
        centre = units.mean(axis=0)
        pairs = sample_pairs(unit_rows(units - centre), np.random.default_rng(0), PAIRS)
        member = np.array([[key in each for key in keys] for each in map(set, lists)])
        sizes = member.sum(axis=1)
        same, shares = pair_shares(member, unit_rows(own - centre))
        weights = signs / sizes @ member
        return cls(tuple(keys), weights, (weights @ own).ravel(), signs, units, pairs, same, shares)

    def covariance(self, vectors: FloatArray) -> FloatArray:
        scatter = vectors.reshape(len(vectors) * len(self.signs), -1) @ self.units.T
        scatter = scatter - scatter.mean(axis=1, keepdims=True)
        ones = np.ones(len(self.units))
        parts = components_of(scatter, self.pairs, ones, ones)
        kernel = list_correlations(parts.correlations, self.same, self.shares)
        between = parts.variances[:, None, None] * (self.signs @ kernel @ self.signs.T)
        loadings = parts.loadings.reshape(len(vectors), len(self.signs), -1)
        value: FloatArray = np.einsum("ikq,qkl,jlq->ij", loadings, between, loadings, optimize=True)
        return value
