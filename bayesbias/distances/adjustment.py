"""Distances adjusted for an attribute of words, such as their frequency."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesbias._support.files import from_json, to_json
from bayesbias.distances.covariances import Relatedness, relatedness_content, relatedness_from
from bayesbias.distances.dataframe import ADJUSTED_FOR, DistanceTable, provenance_of
from bayesbias.distances.distances import Distances
from bayesbias.distances.vocabularies import FREQUENCY, WordValues, word_values
from bayesbias.errors import InputError, listed, shown
from bayesbias.numerics.arrays import FloatArray, IntArray
from bayesbias.numerics.related import MIDDLES, root_of, similarity_bins
from bayesbias.results import Note
from bayesbias.vectors.lookup import left_out
from bayesbias.words import STEREOTYPES

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

FEWEST = 200  # words of the sample with a known value from which on the curves of the vocabulary are used
KNOTS = (0.25, 0.5, 0.75)
ENDS = (0.01, 0.99)  # quantiles of the vocabulary's values: inner knots, and where the curves become straight lines
FEWEST_CONTROLS = 8


@dataclass(frozen=True)
class _Curve:
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


def _fitted_curve(x: FloatArray, distances: FloatArray, weights: FloatArray) -> _Curve:
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
    return _Curve(knots, coefficients, float(low), float(high), float(x.min()), float(x.max()))


class Slope(NamedTuple):
    """A common slope of distance on a value: estimate, standard error and degrees of freedom."""

    value: float
    se: float
    df: float
    r2: float
    words: int


def control_slope(table: pd.DataFrame, values: WordValues) -> Slope:
    """The slope of the control words' distances on their values, within lists, a word counting once."""
    rows = pd.DataFrame(table)[~table["connection"].isin(STEREOTYPES)]
    rows = rows.assign(value=values.of(rows["attribute_word"].astype(str)))
    rows = rows[rows["value"].notna()]
    apart = rows["distance"] - rows.groupby(["protected_word", "connection"])["distance"].transform("mean")
    words = rows.assign(apart=apart).groupby(["connection", "attribute_word"])[["apart", "value"]].mean()
    words = words - words.groupby("connection").transform("mean")
    x, y = words["value"].to_numpy(), words["apart"].to_numpy()
    # each list's mean takes a degree of freedom, and so does the slope
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


@dataclass(frozen=True, repr=False, eq=False)
class Adjustment:
    """The amounts that were subtracted from the distances, and the curves or slope behind them."""

    attribute: WordValues
    how: str  # "vocabulary" or "controls"
    reference: float  # value of a word whose distances stay as they are
    expected: pd.DataFrame  # protected words by attribute words: what was taken from their distance
    slope: Slope | None  # that of the controls; None where the curves are those of the vocabulary
    words: int  # behind the curves or the slope
    left_out: tuple[str, ...]  # attribute words without a value
    before: Relatedness | None  # how the distances were correlated before

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

    def of_rows(self, table: pd.DataFrame) -> FloatArray:
        """Amount (rows,) that was subtracted from the distance of each row."""
        place = (
            self.expected.index.get_indexer(pd.Index(table["protected_word"].astype(str))),
            self.expected.columns.get_indexer(pd.Index(table["attribute_word"].astype(str))),
        )
        if any((each < 0).any() for each in place):
            raise InputError(
                "the adjusted table holds words that were not adjusted: adjust the table that holds them all"
            )
        expected: FloatArray = self.expected.to_numpy()[place]
        return expected

    @property
    def notes(self) -> list[Note]:
        """Notes on what was subtracted, and on the words that were left out."""
        values, slope = self.attribute, self.slope
        by = "curve" if slope is None else f"slope {slope.value:.4f}, se {slope.se:.4f} per {values.unit}"
        words = self.words if slope is None else slope.words
        source, reason = f"{values.source}; {by}, {words:,} words", f"no known {values.name}"
        total = len(self.left_out) + words
        return [
            Note("adjusted", attribute=values.name, source=source),
            *left_out(len(self.left_out), total, "attribute words", reason, self.left_out),
        ]


def adjust(
    table: pd.DataFrame,
    by: str | Mapping[str, Mapping[str, float]] = "frequency",
    frequencies: Mapping[str, float] | str | Path | KeyedVectors | None = None,
) -> DistanceTable:
    """A distance table less what an attribute of its words lets expect.

    With vectors the expectation is a smooth curve for each protected word over the vocabulary's sample; without them,
    or where fewer than 200 sampled words have a value, a common slope that is estimated from the control words. The
    slope has an error, which travels with the table into the posterior of :func:`fit`.

    Parameters
    ----------
    table
        A distance table as it was measured.
    by
        ``"frequency"``, ``"length"`` (letters), or an attribute of your own: a mapping of its name to a mapping of
        words to numbers, as in :func:`balance`.
    frequencies
        Where frequencies come from, as in :func:`balance`.

    Returns
    -------
    DistanceTable
        The same rows, without those of attribute words that have no value. ``table.adjustment`` says what was
        subtracted; adjusted distances can lie outside of [0, 2].

    Raises
    ------
    InputError
        The table is adjusted already, no word of a list has a value, all values are the same, or fewer than 8 control
        words have one where a slope is needed.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> from bayesbias.distances import adjust
    >>> adjusted = adjust(table, by="length")
    >>> adjusted.adjustment.how
    'vocabulary'
    >>> post = bb.fit(adjusted, seed=0)
    >>> post.attrs["adjust"]
    'length'
    """
    if frequencies is not None and not (isinstance(by, str) and by == FREQUENCY):
        raise InputError(f"frequencies are given, but by is {shown(by)}: give by='frequency', or leave them out")
    distances = Distances.read(table)
    carried = provenance_of(table)
    if carried.adjustment is not None:
        raise InputError(f"the table is {carried.moved} already: adjust the table as it was measured")
    related = distances.relatedness
    attributes = table["attribute_word"].astype(str)
    distinct = [*dict.fromkeys(attributes)]
    sampled = () if related is None else related.sample_words
    values = word_values([*distinct, *sampled], by, frequencies, related, distances.language)
    every = pd.Series(values.of(distinct), index=distinct)
    known, left_out = every.dropna(), tuple(every.index[every.isna()])
    rows = table[attributes.map(every.notna()).to_numpy()]
    lost = _lists_in(table) - _lists_in(rows)
    if lost:
        names = sorted({name for name, _ in lost})
        raise InputError(f"{values.source} has {values.name} for no word of {listed(names)}: give more words")
    if np.ptp(known.to_numpy()) <= 0:
        raise InputError(f"all attribute words have the same {values.name}: there is nothing to adjust for")
    taken, changed = _by_vocabulary(related, values, known) or (_by_controls(rows, values, known), related)
    adjustment = replace(taken, left_out=left_out, before=related)
    moved = ", ".join([*filter(None, [carried.moved]), f"{ADJUSTED_FOR}{values.name}"])
    result = rows.assign(distance=rows["distance"] - adjustment.of_rows(rows))
    return DistanceTable.carrying(result, replace(carried, relatedness=changed, adjustment=adjustment, moved=moved))


def _lists_in(table: pd.DataFrame) -> set[tuple[str, str]]:
    """Connection and class of the attribute words of a table."""
    classes = table["attribute_class"] if "attribute_class" in table else table["connection"]
    return set(zip(table["connection"].astype(str), classes.astype(str), strict=True))


def _by_vocabulary(
    related: Relatedness | None, values: WordValues, known: pd.Series
) -> tuple[Adjustment, Relatedness] | None:
    """The adjustment by curves over the vocabulary's sample, and relatedness less these; None where it is too small."""
    if related is None or (drawn := vocabulary_curve(related, values)) is None:
        return None
    curve, enough = drawn
    reference = float(known.mean())
    # least squares: the curve of a protected word follows from those of the rows of the scatter
    own: FloatArray = np.asarray(known, dtype=float)
    by_word = related.of_words(curve.at(own) - curve.at(np.array([reference])))
    expected = pd.DataFrame(by_word, index=list(related.protected_words), columns=known.index)
    x: FloatArray = values.of(related.sample_words)[enough]
    rest = related.scatter.astype(float)[:, enough] - curve.at(x)
    changed = related.with_sample(enough, rest - rest.mean(axis=1, keepdims=True))
    changed = _without_levels(changed, curve, x, values.of(related.attribute_words))
    return Adjustment(values, "vocabulary", reference, expected, None, len(enough), (), None), changed


def _by_controls(rows: pd.DataFrame, values: WordValues, known: pd.Series) -> Adjustment:
    """The adjustment by the common slope of the control words."""
    protected = [*dict.fromkeys(rows["protected_word"].astype(str))]
    return _by_slope(values, control_slope(rows, values), float(known.mean()), known, protected)


def _by_slope(
    values: WordValues, slope: Slope, reference: float, known: pd.Series, protected: Sequence[str]
) -> Adjustment:
    """The adjustment by a common slope, of all protected words by one line through the ``known`` values of words."""
    line = slope.value * (known - reference)
    expected = pd.DataFrame([line.to_numpy()] * len(protected), index=list(protected), columns=line.index)
    return Adjustment(values, "controls", reference, expected, slope, slope.words, (), None)


def as_measured(table: DistanceTable) -> DistanceTable:
    """The rows of an adjusted table with their distances before."""
    carried = provenance_of(table)
    if (adjustment := carried.adjustment) is None:
        return table
    rows = table.assign(distance=table["distance"] + adjustment.of_rows(table))
    moved = carried.moved.removesuffix(f"{ADJUSTED_FOR}{adjustment.attribute.name}").removesuffix(", ")
    return DistanceTable.carrying(rows, replace(carried, relatedness=adjustment.before, adjustment=None, moved=moved))


def slope_adjustment(
    values: Mapping[str, float], record: Any, protected: Sequence[str], before: Relatedness | None
) -> Adjustment | None:
    """The adjustment by a common slope from the text of its facts and the words' values; None of one by curves."""
    try:
        facts = from_json(record)
        attribute = WordValues(facts["name"], facts["unit"], facts["source"], values)
        reference, words, left_out = float(facts["reference"]), int(facts["words"]), tuple(facts["left_out"])
        if facts["slope"] is None:
            return None
        value, se, df = map(float, facts["slope"])
        slope = Slope(value, se, df, r2=float("nan"), words=words)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"the facts of its adjustment are {shown(record)}, not those that fit writes") from error
    adjustment = _by_slope(attribute, slope, reference, pd.Series(values), protected)
    return replace(adjustment, left_out=left_out, before=before)


def adjustment_arrays(adjustment: Adjustment) -> dict[str, NDArray[Any]]:
    """An adjustment as arrays, as a file holds it."""
    numbers = adjustment.attribute.numbers
    arrays = {
        "facts": np.array(to_json(adjustment.facts() | {"slope_facts": adjustment.slope and list(adjustment.slope)})),
        "words": np.array(list(numbers), dtype=str),
        "values": np.array(list(numbers.values()), dtype=float),
        "expected": adjustment.expected.to_numpy(dtype=float),
        "protected_words": np.array(adjustment.expected.index, dtype=str),
        "attribute_words": np.array(adjustment.expected.columns, dtype=str),
    }
    if adjustment.before is not None:
        arrays["before"] = np.frombuffer(relatedness_content(adjustment.before), dtype=np.uint8)
    return arrays


def adjustment_from(arrays: Mapping[str, NDArray[Any]]) -> Adjustment:
    """An adjustment from the arrays of :func:`adjustment_arrays`."""
    if not np.isfinite(arrays["expected"]).all():
        raise InputError("its adjustment holds numbers that are not finite")
    facts = from_json(str(arrays["facts"]))
    numbers = dict(zip(arrays["words"].tolist(), arrays["values"].tolist(), strict=True))
    slope = facts["slope_facts"]
    return Adjustment(
        attribute=WordValues(facts["name"], facts["unit"], facts["source"], numbers),
        how=facts["how"],
        reference=float(facts["reference"]),
        expected=pd.DataFrame(
            arrays["expected"], index=arrays["protected_words"].tolist(), columns=arrays["attribute_words"].tolist()
        ),
        slope=None if slope is None else Slope(*slope),
        words=int(facts["words"]),
        left_out=tuple(facts["left_out"]),
        before=relatedness_from(arrays["before"].tobytes(), "the adjustment") if "before" in arrays else None,
    )


def vocabulary_curve(related: Relatedness, values: WordValues) -> tuple[_Curve, IntArray] | None:
    """The curve over the vocabulary's sample and the places of its words with values; None where these are too few."""
    x = values.of(related.sample_words)
    known = np.flatnonzero(np.isfinite(x))
    if len(known) < FEWEST or np.ptp(x[known]) <= 0:
        return None
    scatter, weights = related.scatter.astype(float), related.everywhere_weights
    return _fitted_curve(x[known], scatter[:, known], weights[known]), known


LEAST_REST = 0.1
"""Least share of a vector's squared length that is left when the part that goes with its value is taken out."""


def _without_levels(related: Relatedness, curve: _Curve, x: FloatArray, own: FloatArray) -> Relatedness:
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
