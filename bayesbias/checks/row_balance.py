"""What an attribute of words, such as their frequency, does to the rows of single protected words, list by list."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from bayesbias._core.related import list_correlations
from bayesbias._core.vectors import FloatArray, IntArray
from bayesbias.models.adjust import vocabulary_curve
from bayesbias.models.cells import association_rows, word_weights
from bayesbias.words import STEREOTYPES, counterparts

if TYPE_CHECKING:
    from bayesbias.distances.covariances import Relatedness
    from bayesbias.distances.distances import Distances
    from bayesbias.distances.vocabularies import WordValues

ASSOCIATION = "association"
MOST_JUDGED = 300
"""Protected words beyond which associations, each of which rests on all of them, are not judged."""
QUESTIONABLE = 0.5
"""Standard errors of a row beyond which what the attribute predicts calls it into question."""
ROWS = ["protected_word", "group", "contrast", "expected", "distance", "se", "warning"]
PAIRS = ["first", "second", "difference", "overlap", "expected", "expected_low", "expected_high"]


@dataclass(frozen=True)
class ListMeans:
    """Distances and expected distances of protected words to attribute lists.

    Attributes
    ----------
    words, groups
        Protected words (J,) and their groups.
    names
        The attribute lists, L.
    own
        Place of the list of each word's group, (J,), -1 where it has none.
    stereotypes
        Places of the lists of the groups.
    member
        Which attribute word is in which list, (L, W).
    attributes
        The attribute words, (W,).
    distances, expected
        (J, W): as measured, NaN where there is none, and what the attribute predicts, NaN where it is not known.
    """

    words: list[str]
    groups: list[str]
    names: list[str]
    own: IntArray
    stereotypes: IntArray
    member: np.ndarray
    attributes: list[str]
    distances: FloatArray
    expected: FloatArray

    def means(self, values: FloatArray) -> FloatArray:
        """Means (J, L) of values (J, W) over the words of each list; NaN where there is none."""
        known = np.isfinite(values)
        total = np.where(known, values, 0.0) @ self.member.T
        count = known.astype(float) @ self.member.T
        result: FloatArray = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
        return result

    def compared(self, other: str) -> FloatArray:
        """Weights (J, L) of the lists in each word's contrast of associated with another connection."""
        weights = np.zeros((len(self.words), len(self.names)))
        sizes = self.member.sum(axis=1)
        for i, own in enumerate(self.own.tolist()):
            places = [self.names.index(other)] if other in self.names else []
            if other == STEREOTYPES[1]:
                places = [place for place in self.stereotypes.tolist() if place != own]
            if own < 0 or not places:
                weights[i] = np.nan
                continue
            weights[i, own] = 1.0
            weights[i, places] -= sizes[places] / sizes[places].sum()
        return weights


def list_means(data: Distances, values: WordValues, related: Relatedness | None, slope: float) -> ListMeans:
    """Distances and what an attribute predicts of them: by the vocabulary's curves, else by a common slope."""
    table = data.table
    wide = table.drop_duplicates(["protected_word", "attribute_word"]).pivot_table(
        index="protected_word", columns="attribute_word", values="distance", observed=True
    )
    words, attributes = data.protected_words.tolist(), [str(word) for word in wide.columns]
    listed = table[["attribute_class", "attribute_word"]].drop_duplicates()
    names = [str(name) for name in dict.fromkeys(listed["attribute_class"]) if name]
    member = np.zeros((len(names), len(attributes)))
    places = pd.Index(attributes)
    for i, name in enumerate(names):
        member[i, places.get_indexer(pd.Index(listed.loc[listed["attribute_class"] == name, "attribute_word"]))] = 1
    mine = table[table["connection"] == STEREOTYPES[0]].drop_duplicates("protected_word").set_index("protected_word")
    own = [names.index(mine.loc[word, "attribute_class"]) if word in mine.index else -1 for word in words]
    groups = data.groups.tolist()
    x = values.of(attributes)
    expected = np.tile(slope * x, (len(words), 1))
    if related is not None and (drawn := vocabulary_curve(related, values)) is not None:
        rows = [related.protected_words.index(word) for word in words]
        expected = np.full((len(words), len(x)), np.nan)
        expected[:, np.isfinite(x)] = related.of_words(drawn[0].at(x[np.isfinite(x)]), np.array(rows))
    stereotypes = np.array(sorted({place for place in own if place >= 0}), dtype=np.intp)
    distances = wide.reindex(index=words).to_numpy(dtype=float)
    return ListMeans(words, groups, names, np.array(own), stereotypes, member, attributes, distances, expected)


def judged_rows(given: ListMeans, connections: list[str], related: Relatedness | None, known: bool) -> pd.DataFrame:
    """Each row of a protected word, what the attribute predicts of it, and whether that calls it into question.

    Parameters
    ----------
    known
        Whether the predictions are known to be other than 0.
    """
    means, expected = given.means(given.distances), given.means(given.expected)
    errors = _Errors(given, related)
    pieces = []
    for other in counterparts(STEREOTYPES[0], connections):
        weights = given.compared(other)
        variances = errors.of_words(weights)
        pieces.append(_rows(given, f"{STEREOTYPES[0]} - {other}", weights * means, weights * expected, variances))
    joint = association_weights(given)
    if joint is not None:
        distance, predicted = (np.einsum("mjl,jl->m", joint, np.nan_to_num(each)) for each in (means, expected))
        pieces.append(_rows(given, ASSOCIATION, distance[:, None], predicted[:, None], errors.of_sums(joint)))
    if not pieces:
        return pd.DataFrame(columns=ROWS)
    rows = pd.concat(pieces, ignore_index=True)
    return rows.assign(warning=known & (rows["expected"].abs() > QUESTIONABLE * rows["se"]))


def _rows(
    given: ListMeans, contrast: str, distance: FloatArray, expected: FloatArray, variances: FloatArray
) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "protected_word": given.words,
            "group": given.groups,
            "contrast": contrast,
            "expected": expected.sum(axis=1),
            "distance": distance.sum(axis=1),
            "se": np.sqrt(np.maximum(variances, 0)),
        }
    ).dropna(subset=["expected", "se"])


def association_weights(given: ListMeans) -> FloatArray | None:
    """Weights (J, J, L) of the mean distances in each word's association; None where there is none."""
    size, lists = len(given.words), len(given.stereotypes)
    if lists < 2 or (given.own < 0).any() or size > MOST_JUDGED:
        return None
    own = np.searchsorted(given.stereotypes, given.own)
    of_words = word_weights(own.astype(str).tolist(), np.ones(size, dtype=bool), np.unique(own).astype(str).tolist())
    weights = np.zeros((size, size, len(given.names)))
    weights[:, :, given.stereotypes] = association_rows(own, of_words, lists)
    return weights


class _Errors:
    """Variances of sums of mean distances: from the vectors, or with attribute words as independent clusters."""

    def __init__(self, given: ListMeans, related: Relatedness | None) -> None:
        self.given, self.related = given, related
        if related is not None:
            self.parts = related.components
            same, shares = related.overlaps(given.member > 0, given.attributes)
            self.kernels = list_correlations(self.parts.correlations, same, shares)
            rows = [related.protected_words.index(word) for word in given.words]
            self.loadings = self.parts.loadings[rows] * np.sqrt(self.parts.variances)

    def of_words(self, weights: FloatArray) -> FloatArray:
        """Variance (J,) of each word's own sum with weights (J, L)."""
        if self.related is not None:
            by_component = np.einsum("jl,qlk,jk->jq", weights, self.kernels, weights)
            result: FloatArray = (self.loadings**2 * by_component).sum(axis=1)
            return result
        scatter, counted = (
            self._scatter(self.given.distances),
            weights != 0,
        )  # lists that do not count may have no scatter
        squares = np.multiply(weights**2, scatter, out=np.zeros_like(weights), where=counted)
        return squares.sum(axis=1)

    def of_sums(self, weights: FloatArray) -> FloatArray:
        """Variance (m,) of sums over words with weights (m, J, L)."""
        if self.related is not None:
            turned = np.einsum("mjl,jq->mql", weights, self.loadings)
            result: FloatArray = np.einsum("mql,qlk,mqk->m", turned, self.kernels, turned)
            return result
        filled = np.nan_to_num(self.given.distances)
        total = np.zeros(len(weights))
        for i, own in enumerate(self.given.member):
            if not weights[:, :, i].any():
                continue
            sums = np.where(own > 0, weights[:, :, i] @ filled, np.nan)
            total += self._scatter(sums)[:, i]
        return total

    def _scatter(self, values: FloatArray) -> FloatArray:
        """Variance (rows, L) of the mean of values (rows, W) over the words of each list."""
        mean, square = self.given.means(values), self.given.means(values**2)
        count = np.isfinite(values).astype(float) @ self.given.member.T
        spread = np.maximum(square - mean**2, 0)
        result: FloatArray = np.divide(spread, count - 1, out=np.full(spread.shape, np.inf), where=count > 1)
        return result


def judged_pairs(given: ListMeans, values: WordValues, overlap: FloatArray) -> pd.DataFrame:
    """Each two attribute lists: how far their values differ, and what that predicts of distances."""
    x, expected = values.of(given.attributes), given.means(given.expected)
    centres = given.means(x[None])[0]
    return pd.DataFrame(list(_pairs(given, centres, expected, overlap)), columns=PAIRS)


def _pairs(
    given: ListMeans, centres: FloatArray, expected: FloatArray, overlap: FloatArray
) -> Iterator[tuple[str, str, float, float, float, float, float]]:
    for i, first in enumerate(given.names):
        for other in range(i + 1, len(given.names)):
            apart = expected[:, i] - expected[:, other]
            ends = (apart.mean(), apart.min(), apart.max())
            yield first, given.names[other], centres[i] - centres[other], overlap[i, other], *map(float, ends)
