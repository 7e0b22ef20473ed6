"""Distances adjusted for an attribute of words, such as their frequency."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._core.related import MIDDLES, root_of, similarity_bins
from bayesbias._core.vectors import FloatArray, IntArray
from bayesbias._files import to_json
from bayesbias.distances.covariances import KEY, Relatedness, packed
from bayesbias.distances.distances import ADJUSTED, Distances
from bayesbias.distances.vocabularies import WordValues, word_values
from bayesbias.errors import InputError, listed
from bayesbias.models.results import ADJUSTMENT, Fit
from bayesbias.words import STEREOTYPES

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

FEWEST = 200  # words of the sample with a known value from which on the curves of the vocabulary are used
KNOTS = (0.25, 0.5, 0.75)
ENDS = (0.01, 0.99)  # quantiles of the vocabulary's values: inner knots, and where the curves become straight lines
FEWEST_CONTROLS = 8


@dataclass(frozen=True)
class Curve:
    """Expected distances of J protected words by a word's value: a cubic spline, a straight line beyond its ends."""

    knots: FloatArray  # with the boundary knots repeated
    coefficients: FloatArray  # (basis functions, J)
    low: float  # the ends
    high: float
    least: float  # smallest and largest value of the data, beyond which the curve is flat
    most: float

    def basis(self, x: FloatArray) -> FloatArray:
        """Values (len(x), basis functions) of the splines."""
        return _basis(np.clip(x, self.least, self.most), self.knots, self.low, self.high)

    def at(self, x: FloatArray) -> FloatArray:
        """Expected distances (J, len(x))."""
        return (self.basis(x) @ self.coefficients).T


def _basis(x: FloatArray, knots: FloatArray, low: float, high: float) -> FloatArray:
    """Values (len(x), basis functions) of the splines, continued beyond both ends along their tangents."""
    from scipy.interpolate import BSpline  # loads slowly

    inside = np.clip(x, low, high)
    design: FloatArray = BSpline.design_matrix(inside, knots, 3).toarray()
    slopes = BSpline(knots, np.eye(design.shape[1]), 3).derivative()
    return design + (x - inside)[:, None] * slopes(inside)


def _fitted_curve(x: FloatArray, distances: FloatArray, weights: FloatArray) -> Curve:
    """The weighted least-squares spline of distances (J, N) on the words' values (N,), those beyond its ends included.

    Weights (N,) make the words those of the vocabulary: words that are sampled for their distances would bend it.
    """
    low, high = np.quantile(x, ENDS)
    if not high > low:
        low, high = float(x.min()), float(x.max())
    inner = np.unique(np.quantile(x, KNOTS))
    knots = np.concatenate([[low] * 4, inner[(inner > low) & (inner < high)], [high] * 4])
    basis = _basis(x, knots, low, high)
    root = np.sqrt(weights)[:, None]
    coefficients = np.linalg.lstsq(root * basis, root * distances.T, rcond=None)[0]
    return Curve(knots, coefficients, float(low), float(high), float(x.min()), float(x.max()))


class Slope(NamedTuple):
    """A common slope of distance on a value: estimate, standard error and degrees of freedom."""

    value: float
    se: float
    df: float
    r2: float
    words: int


def control_slope(table: pd.DataFrame, values: WordValues) -> Slope:
    """The slope of the control words' distances on their values, within lists, a word counting once."""
    rows = table[~table["connection"].isin(STEREOTYPES)]
    rows = rows.assign(value=values.of(rows["attribute_word"].astype(str)))
    rows = rows[rows["value"].notna()]
    apart = rows["distance"] - rows.groupby(["protected_word", "connection"])["distance"].transform("mean")
    words = rows.assign(apart=apart).groupby(["connection", "attribute_word"])[["apart", "value"]].mean()
    words = words - words.groupby("connection").transform("mean")
    x, y = words["value"].to_numpy(), words["apart"].to_numpy()
    df = len(words) - words.index.get_level_values("connection").nunique() - 1
    if len(words) < FEWEST_CONTROLS or df < 1:
        raise InputError(
            f"{len(words)} control words have a known {values.name}, and a slope needs {FEWEST_CONTROLS}: give "
            f"the {values.name} of more words, or make the table with distance_table(kv, words) from all vectors"
        )
    squares = float(x @ x)
    if squares <= 1e-12 * len(x):
        raise InputError(f"all control words have the same {values.name}: it cannot be adjusted for")
    slope = float(x @ y) / squares
    rest = y - slope * x
    total = float(y @ y)
    r2 = 1 - float(rest @ rest) / total if total > 0 else 0.0
    return Slope(slope, float(np.sqrt(rest @ rest / df / squares)), float(df), r2, len(words))


@dataclass(frozen=True)
class Adjustment:
    """What was taken from each distance."""

    attribute: WordValues
    how: str  # "vocabulary" or "controls"
    reference: float  # value of a word whose distances stay as they are
    expected: pd.DataFrame  # protected words by attribute words: what was taken from their distance
    slope: Slope | None  # that of the controls; None where the curves are those of the vocabulary
    words: int  # behind the curves or the slope
    left_out: tuple[str, ...]  # attribute words without a value

    def facts(self) -> dict[str, Any]:
        """Everything but the expected distances, for the record."""
        return {
            "name": self.attribute.name,
            "unit": self.attribute.unit,
            "source": self.attribute.source,
            "how": self.how,
            "reference": self.reference,
            "words": self.words,
            "slope": None if self.slope is None else list(self.slope[:3]),
            "left_out": list(self.left_out),
        }


def adjusted_table(
    table: pd.DataFrame,
    adjust: str | Mapping[str, Mapping[str, float]],
    frequencies: Mapping[str, float] | str | Path | KeyedVectors | None = None,
) -> tuple[pd.DataFrame, Adjustment]:
    """A distance table less what the words' values let expect, and what was taken."""
    distances = Distances.read(table)
    related = distances.relatedness
    attributes = table["attribute_word"].astype(str)
    distinct = [*dict.fromkeys(attributes)]
    sampled = () if related is None else related.sample_words
    values = word_values([*distinct, *sampled], adjust, frequencies, related, distances.language)
    every = pd.Series(values.of(distinct), index=distinct)
    known, left_out = every.dropna(), tuple(every.index[every.isna()])
    rows = table[attributes.map(every.notna()).to_numpy()]
    lost = set(zip(table["connection"], table["attribute_class"].astype(str), strict=True)) - set(
        zip(rows["connection"], rows["attribute_class"].astype(str), strict=True)
    )
    if lost:
        names = sorted({name for _, name in lost})
        raise InputError(f"{values.source} has {values.name} for no word of {listed(names)}: give more words")
    if np.ptp(known.to_numpy()) <= 0:
        raise InputError(f"all attribute words have the same {values.name}: there is nothing to adjust for")
    reference = float(known.mean())
    slope: Slope | None = None
    changed = related
    drawn = None if related is None else vocabulary_curve(related, values)
    if related is not None and drawn is not None:
        curve, enough = drawn
        # least squares: the curve of a protected word follows from those of the rows of the scatter
        own: FloatArray = np.asarray(known, dtype=float)
        by_word = related.of_words(curve.at(own) - curve.at(np.array([reference])))
        expected = pd.DataFrame(by_word, index=list(related.protected_words), columns=known.index)
        x: FloatArray = values.of(related.sample_words)[enough]
        rest = related.scatter.astype(float)[:, enough] - curve.at(x)
        changed = related.with_sample(enough, rest - rest.mean(axis=1, keepdims=True))
        changed = _without_levels(changed, curve, x, values.of(related.attribute_words))
        how, words = "vocabulary", len(enough)
    else:
        slope = control_slope(rows, values)
        protected = [*dict.fromkeys(rows["protected_word"].astype(str))]
        line = slope.value * (known - reference)
        expected = pd.DataFrame([line.to_numpy()] * len(protected), index=protected, columns=line.index)
        how, words = "controls", slope.words
    place = (
        expected.index.get_indexer(pd.Index(rows["protected_word"].astype(str))),
        expected.columns.get_indexer(pd.Index(rows["attribute_word"].astype(str))),
    )
    result = rows.assign(distance=rows["distance"] - expected.to_numpy()[place])
    result.attrs = {**table.attrs, ADJUSTED: values.name}
    if changed is not None:
        result.attrs[KEY] = packed(changed)
    return result, Adjustment(values, how, reference, expected, slope, words, left_out)


def vocabulary_curve(related: Relatedness, values: WordValues) -> tuple[Curve, IntArray] | None:
    """The curve over the vocabulary's sample and the places of its words with values; None where these are too few."""
    x = values.of(related.sample_words)
    known = np.flatnonzero(np.isfinite(x))
    if len(known) < FEWEST or np.ptp(x[known]) <= 0:
        return None
    scatter, weights = related.scatter.astype(float), related.everywhere_weights
    return _fitted_curve(x[known], scatter[:, known], weights[known]), known


LEAST_REST = 0.1
"""Least share of a vector's squared length that is left when the part that goes with its value is taken out."""


def _without_levels(related: Relatedness, curve: Curve, x: FloatArray, own: FloatArray) -> Relatedness:
    """Relatedness whose similarities are those beyond what the words' values make of them.

    Frequent words are similar as such. Once frequency is out of the distances, that part of their similarity predicts
    nothing, and would make random words of one frequency count as words of one topic. Unit vectors are u = m(x) + r,
    and the product of two is on average m(x)'m(x'), which is B(x)' M B(x') with the splines B of the curves and an M
    that the pairs of sampled words give. The similarity that is left is that of r.

    ``x`` and ``own`` are values of the sampled words and of the attribute words, NaN where one is not known, whose
    vector stays.
    """
    pairs = related.pairs
    if related.forms is not None or not len(pairs.first):
        return related
    design = curve.basis(x)
    drawn = np.bincount(pairs.bins, minlength=len(pairs.counts))
    share = np.divide(pairs.counts, drawn, out=np.zeros(len(drawn)), where=drawn > 0)[pairs.bins]
    similarity, size = MIDDLES[pairs.bins], design.shape[1]
    rows, columns = np.triu_indices(size)
    first, second = design[pairs.first], design[pairs.second]
    # B(x)' M B(x') of a symmetric M, by its upper triangle: the coefficient of two different splines comes out twice
    # as large, and is shared out between the two places of M below
    products = (first[:, rows] * second[:, columns] + first[:, columns] * second[:, rows]) / 2
    weighted = products * share[:, None]
    solution = np.zeros((size, size))
    solution[rows, columns] = np.linalg.lstsq(weighted.T @ products, weighted.T @ similarity, rcond=None)[0]
    root = root_of((solution + solution.T) / 2)  # positive semi-definite, as products of vectors are
    levels = design @ root
    rest = np.maximum(1 - (levels**2).sum(axis=1), LEAST_REST)
    apart = similarity - (levels[pairs.first] * levels[pairs.second]).sum(axis=1)
    bins = similarity_bins(apart / np.sqrt(rest[pairs.first] * rest[pairs.second]))
    counts = np.round(np.bincount(bins, share, minlength=len(pairs.counts))).astype(np.intp)
    known = np.isfinite(own)
    mine = np.zeros((len(own), root.shape[1]))
    mine[known] = curve.basis(own[known]) @ root
    left = np.maximum(1 - (mine**2).sum(axis=1), LEAST_REST)
    units = related.units.astype(float)
    matrix = (units @ units.T - mine @ mine.T) / np.sqrt(left[:, None] * left)
    np.fill_diagonal(matrix, 1.0)
    values, axes = np.linalg.eigh(matrix)
    dimensions = related.attributes.shape[1]
    # vectors with these products, in as many dimensions as there were: the nearest ones by the largest eigenvalues
    # (Eckart and Young 1936, https://doi.org/10.1007/BF02288367)
    most = min(dimensions, len(values))
    vectors = np.zeros((len(values), dimensions))
    vectors[:, :most] = axes[:, ::-1][:, :most] * np.sqrt(np.maximum(values[::-1][:most], 0))
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    changed = np.divide(vectors, lengths, out=vectors, where=lengths > 0).astype(np.float16)
    return replace(
        related, pairs=replace(pairs, bins=bins, counts=counts), attributes=changed, centre=np.zeros(dimensions)
    )


def with_slope(post: xr.DataTree, adjustment: Adjustment, seed: int) -> xr.DataTree:
    """The fit with the uncertainty of the common slope in its means: the posterior variable ``slope`` has its draws."""
    if adjustment.slope is None:
        return post
    slope, posterior = adjustment.slope, post["posterior"].dataset
    steps = (posterior.sizes["chain"], posterior.sizes["draw"])
    moved = slope.se * np.random.default_rng([seed, 2]).standard_t(slope.df, steps)
    data = Fit(post).data
    value = adjustment.attribute.of(data.attribute_words)[data.attribute] - adjustment.reference
    by_cell = np.where(data.filled, replace(data, y=value).cells.mean, np.nan)
    changed = posterior.assign(
        word_mean=posterior["word_mean"] - moved[:, :, None, None] * by_cell,
        connection_mean=posterior["connection_mean"] - moved[:, :, None] * np.nanmean(by_cell, axis=0),
        slope=(("chain", "draw"), slope.value + moved),
    )
    tree = post.copy()
    tree["posterior"] = xr.DataTree(changed)
    return tree


def recorded(post: xr.DataTree, adjustment: Adjustment, raw: xr.DataTree) -> xr.DataTree:
    """The fit with a group ``adjustment``: raw distances, words' values, and the means of the fit before."""
    result = Fit(post)
    data = result.data
    ordered = adjustment.expected.reindex(index=data.protected_words, columns=data.attribute_words)
    taken = ordered.to_numpy()[data.word, data.attribute]
    group = xr.Dataset(
        {
            "raw_distance": ("pair", data.y + taken),
            "value": ("attribute_word", adjustment.attribute.of(data.attribute_words)),
            "raw_word_mean": raw["posterior/word_mean"],
        },
        coords={"pair": post["observed_data"]["pair"].to_numpy(), "attribute_word": data.attribute_words},
        attrs={"facts": to_json(adjustment.facts())},
    )
    tree = post.copy()
    tree[ADJUSTMENT] = xr.DataTree(group)
    notes = [*result.notes, *_sentences(adjustment)]
    tree.attrs = {**post.attrs, "adjust": adjustment.attribute.name, "notes": to_json(notes)}
    return tree


def _sentences(adjustment: Adjustment) -> list[str]:
    """What was subtracted, and which words were left out."""
    values, slope = adjustment.attribute, adjustment.slope
    if slope is None:
        how = (
            f"each protected word's expected distance at that {values.name}, a smooth curve over {adjustment.words:,} "
            "words of the vocabulary, was subtracted"
        )
    else:
        how = (
            f"a common slope of {slope.value:.4f} per {values.unit} (standard error {slope.se:.4f}), estimated from "
            f"{slope.words:,} control words, was subtracted"
        )
    sentences = [f"Distances are adjusted for {values.name} ({values.source}): {how}."]
    if adjustment.left_out:
        sentences.append(
            f"{len(adjustment.left_out)} attribute words without a known {values.name} were left out: "
            f"{listed(list(adjustment.left_out))}."
        )
    return sentences
