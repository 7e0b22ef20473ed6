"""Distances less what an attribute of words, such as their frequency, predicts.

With vectors each protected word has a smooth curve: its mean distance to the words of the vocabulary's sample by their
frequency. Without vectors there is one slope for all protected words, estimated from the control words.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.interpolate import BSpline

from bayesbias._core.vectors import FloatArray
from bayesbias.distances.covariances import Relatedness
from bayesbias.distances.frequencies import WordValues, word_values
from bayesbias.distances.storage import KEY, check_distances, packed, relatedness_of
from bayesbias.errors import InputError, listed
from bayesbias.models.data import model_data
from bayesbias.words import CONTROLS

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

ADJUSTED = "adjusted"
"""Name in ``table.attrs``: the distances are no longer those of the vectors."""
GROUP = "adjustment"
FEWEST = 200
"""Words of the sample with a known value from which on the curves of the vocabulary are used."""
KNOTS = (0.25, 0.5, 0.75)
ENDS = (0.01, 0.99)
"""Quantiles of the vocabulary's values: inner knots, and where the curves become flat."""
FEWEST_CONTROLS = 8


@dataclass(frozen=True)
class Curve:
    """Expected distances of J protected words by a word's value: a cubic spline, flat beyond its ends.

    Attributes
    ----------
    knots, coefficients
        With the boundary knots repeated; (basis functions, J).
    low, high
        The ends.
    """

    knots: FloatArray
    coefficients: FloatArray
    low: float
    high: float

    def at(self, x: FloatArray) -> FloatArray:
        """Expected distances (J, len(x))."""
        value: FloatArray = (_basis(x, self.knots, self.low, self.high) @ self.coefficients).T
        return value


def _basis(x: FloatArray, knots: FloatArray, low: float, high: float) -> FloatArray:
    design: FloatArray = BSpline.design_matrix(np.clip(x, low, high), knots, 3).toarray()
    return design


def fitted_curve(x: FloatArray, distances: FloatArray) -> Curve:
    """The least-squares spline of distances (J, N) on the words' values (N,)."""
    low, high = np.quantile(x, ENDS)
    if not high > low:
        low, high = float(x.min()), float(x.max())
    inner = np.unique(np.quantile(x, KNOTS))
    knots = np.concatenate([[low] * 4, inner[(inner > low) & (inner < high)], [high] * 4])
    basis = _basis(x, knots, low, high)
    return Curve(knots, np.linalg.lstsq(basis, distances.T, rcond=None)[0], float(low), float(high))


@dataclass(frozen=True)
class Slope:
    """A common slope of distance on a value: estimate, standard error and degrees of freedom."""

    value: float
    se: float
    df: float
    r2: float
    words: int


def control_slope(table: pd.DataFrame, values: WordValues) -> Slope:
    """The slope of the control words' distances on their values, within lists, a word counting once.

    Raises
    ------
    InputError
        Fewer than 8 control words with values, or values that do not differ.
    """
    rows = table[table["connection"].isin(CONTROLS)]
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
    """What was taken from each distance.

    Attributes
    ----------
    attribute
        The attribute of the words.
    how
        ``"vocabulary"`` or ``"controls"``.
    reference
        Value of a word whose distances stay as they are.
    expected
        Protected words by attribute words: what was taken from their distance.
    slope
        The slope of the controls; None where the curves are those of the vocabulary.
    words
        Words behind the curves or the slope.
    left_out
        Attribute words without a value.
    """

    attribute: WordValues
    how: str
    reference: float
    expected: pd.DataFrame
    slope: Slope | None
    words: int
    left_out: tuple[str, ...]

    def facts(self) -> dict[str, Any]:
        """Everything but the expected distances, for the record."""
        return {
            "name": self.attribute.name,
            "unit": self.attribute.unit,
            "source": self.attribute.source,
            "how": self.how,
            "reference": self.reference,
            "words": self.words,
            "slope": None if self.slope is None else [self.slope.value, self.slope.se, self.slope.df],
            "left_out": list(self.left_out),
        }


def adjusted_table(
    table: pd.DataFrame,
    adjust: str | Mapping[str, Mapping[str, float]],
    frequencies: Mapping[str, float] | str | Path | KeyedVectors | None = None,
) -> tuple[pd.DataFrame, Adjustment]:
    """A distance table less what the words' values let expect, and what was taken.

    Raises
    ------
    InputError
        As :func:`word_values` and :func:`control_slope`; a list of whose words none has a value; a constant attribute.
    """
    model_data(table)
    related = relatedness_of(table)
    if related is not None and "truth" not in table.attrs:
        check_distances(related, table)
    attributes = table["attribute_word"].astype(str)
    asked = [*dict.fromkeys(attributes)]
    sampled = () if related is None else related.sample_words
    values = word_values([*asked, *sampled], adjust, frequencies, related)
    known = pd.Series(values.of(asked), index=asked)
    left_out = tuple(known.index[known.isna()])
    kept = table[attributes.map(known.notna()).to_numpy()]
    lost = set(zip(table["connection"], table["attribute_class"].astype(str), strict=True)) - set(
        zip(kept["connection"], kept["attribute_class"].astype(str), strict=True)
    )
    if lost:
        names = sorted({name for _, name in lost})
        raise InputError(f"{values.source} has {values.name} for no word of {listed(names)}: give more words")
    if np.ptp(known.dropna().to_numpy()) <= 0:
        raise InputError(f"all attribute words have the same {values.name}: there is nothing to adjust for")
    reference = float(known.dropna().mean())
    x_sample = values.of(sampled)
    enough = np.flatnonzero(np.isfinite(x_sample))
    slope: Slope | None = None
    changed = related
    if related is not None and len(enough) >= FEWEST and np.ptp(x_sample[enough]) > 0:
        expected, changed = _vocabulary_curves(related, known.dropna(), x_sample, enough, reference)
        how, words = "vocabulary", len(enough)
    else:
        slope = control_slope(kept, values)
        protected = [*dict.fromkeys(kept["protected_word"].astype(str))]
        line = slope.value * (known.dropna() - reference)
        expected = pd.DataFrame([line.to_numpy()] * len(protected), index=protected, columns=line.index)
        how, words = "controls", slope.words
    place = (
        expected.index.get_indexer(pd.Index(kept["protected_word"].astype(str))),
        expected.columns.get_indexer(pd.Index(kept["attribute_word"].astype(str))),
    )
    result = kept.assign(distance=kept["distance"] - expected.to_numpy()[place])
    result.attrs = {**table.attrs, ADJUSTED: values.name}
    if changed is not None:
        result.attrs[KEY] = packed(changed)
    return result, Adjustment(values, how, reference, expected, slope, words, left_out)


def _vocabulary_curves(
    related: Relatedness, known: pd.Series, x_sample: FloatArray, enough: np.ndarray, reference: float
) -> tuple[pd.DataFrame, Relatedness]:
    """Expected distances (protected words by attribute words), and the relatedness of what is left."""
    x, distances = x_sample[enough], related.scatter.astype(float)[:, enough]
    curve = fitted_curve(x, distances)
    level = curve.at(np.array([reference]))
    expected = pd.DataFrame(
        curve.at(known.to_numpy(dtype=float)) - level, index=list(related.protected_words), columns=known.index
    )
    rest = distances - curve.at(x)
    return expected, related.with_sample(enough, rest - rest.mean(axis=1, keepdims=True))


def with_slope(post: xr.DataTree, adjustment: Adjustment, seed: int) -> xr.DataTree:
    """The fit with the uncertainty of the common slope in its means: the posterior variable ``slope`` has its draws."""
    if adjustment.slope is None:
        return post
    slope, posterior = adjustment.slope, post["posterior"].dataset
    steps = (posterior.sizes["chain"], posterior.sizes["draw"])
    moved = slope.se * np.random.default_rng([seed, 2]).standard_t(slope.df, steps)
    constant = post["constant_data"]
    value = adjustment.attribute.of(constant["attribute_word"].to_numpy())[constant["attribute_index"].to_numpy()]
    cells = (constant["word_index"].to_numpy(), constant["connection_index"].to_numpy())
    shape = (posterior.sizes["protected_word"], posterior.sizes["connection"])
    total, count = np.zeros(shape), np.zeros(shape)
    np.add.at(total, cells, value - adjustment.reference)
    np.add.at(count, cells, 1.0)
    by_cell = np.divide(total, count, out=np.full(shape, np.nan), where=count > 0)
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
    constant = post["constant_data"]
    protected = constant["protected_word"].to_numpy()[constant["word_index"].to_numpy()]
    attribute = constant["attribute_word"].to_numpy()[constant["attribute_index"].to_numpy()]
    rows, columns = adjustment.expected.index.get_indexer(protected), adjustment.expected.columns.get_indexer(attribute)
    taken = adjustment.expected.to_numpy()[rows, columns]
    group = xr.Dataset(
        {
            "raw_distance": ("pair", post["observed_data/distance"].to_numpy() + taken),
            "value": ("attribute_word", adjustment.attribute.of(constant["attribute_word"].to_numpy())),
            "raw_word_mean": raw["posterior/word_mean"],
        },
        coords={
            "pair": post["observed_data"]["pair"].to_numpy(),
            "attribute_word": constant["attribute_word"].to_numpy(),
        },
        attrs={"facts": json.dumps(adjustment.facts(), ensure_ascii=False)},
    )
    tree = post.copy()
    tree[GROUP] = xr.DataTree(group)
    notes = [*json.loads(post.attrs.get("notes", "[]")), *_sentences(adjustment)]
    tree.attrs = {**post.attrs, "adjust": adjustment.attribute.name, "notes": json.dumps(notes, ensure_ascii=False)}
    return tree


def _sentences(adjustment: Adjustment) -> list[str]:
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
    found = [f"Distances are adjusted for {values.name} ({values.source}): {how}."]
    if adjustment.left_out:
        found.append(
            f"{len(adjustment.left_out)} attribute words without a known {values.name} were left out: "
            f"{listed(list(adjustment.left_out))}."
        )
    return found
