"""What a pool or a trend is made of: the means of distance tables, or the places of words on an axis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from bayesbias._core.vectors import FloatArray
from bayesbias._executors import one_thread
from bayesbias.axes import Axis
from bayesbias.errors import InputError, listed
from bayesbias.second_stage.estimates import PAIRS, Cells, Tables, cells_of, default_contrast, measured_tables

FEWEST = 4
"""Pairs that all embeddings must have: Student's distribution of fewer has no variance."""


@dataclass(frozen=True)
class PairErrors:
    """Errors of places that pairs cause which all embeddings have, and of the places in one embedding.

    Attributes
    ----------
    by_pair
        Values (pairs, n) of the n means by each common pair, centred and scaled such that the product of the transpose
        with it is the covariance of the mean over pairs.
    scale
        Factor (n,) from the common pairs to the errors that each axis has by itself.
    """

    by_pair: FloatArray
    scale: FloatArray

    def covariance(self, weights: sparse.csr_array) -> FloatArray:
        """Covariance (m, m) of weighted sums (m, n) of the means."""
        values: FloatArray = weights @ (self.by_pair * self.scale).T
        result: FloatArray = values @ values.T
        return result


def stage_cells(
    tables: Tables, contrast: tuple[str, str] | None, seed: int, adjust: Any, frequencies: Any
) -> tuple[Cells, tuple[str, str], tuple[str, ...]]:
    """The means of several embeddings with their joint errors, the contrast, and what is to be said of it."""
    axes = {name: each for name, each in tables.items() if isinstance(each, Axis)}
    if axes:
        if adjust is not None or frequencies is not None:
            raise InputError("adjust and frequencies are for distance tables: make the axes with axis(..., adjust=)")
        return _axis_cells(axes, contrast)
    frames = {name: each for name, each in tables.items() if isinstance(each, pd.DataFrame)}
    with one_thread():  # thousands of small matrices, of which several threads make more work
        measured = measured_tables(frames, seed, adjust, frequencies)
        pair, notes = default_contrast(measured.values()) if contrast is None else (contrast, ())
        return cells_of(measured, pair), pair, notes


def scales_of(tables: Tables) -> list[float]:
    """The spread of each embedding: of its distances, or of places over its vocabulary."""
    return [each.spread if isinstance(each, Axis) else float(each["distance"].std()) for each in tables.values()]


def _axis_cells(
    axes: Mapping[str, Axis], contrast: tuple[str, str] | None
) -> tuple[Cells, tuple[str, str], tuple[str, ...]]:
    """Places as the distance to the negative pole less that to the positive one, half on either side."""
    first = next(iter(axes.values()))
    if any(not each.paired for each in axes.values()):
        raise InputError("an axis of two lists has no pairs that tell how errors are correlated: give axes of pairs")
    if odd := [name for name, each in axes.items() if each.ends != first.ends or each.centre != first.centre]:
        raise InputError(f"{odd[0]} has another axis than {next(iter(axes))}: give one axis in several embeddings")
    if contrast not in (None, first.ends):
        raise InputError(f"contrast is {contrast}: that of axes is {first.ends}, or leave it out")
    common = [pair for pair in first.poles.pairs if all(pair in each.poles.pairs for each in axes.values())]
    if len(common) < FEWEST:
        named = listed([" and ".join(pair) for pair in common])
        raise InputError(f"the embeddings have {len(common)} pairs in common ({named}): {FEWEST} are needed")
    labels, values, by_pair, own = [], [], [], []
    for number, axis in enumerate(axes.values()):
        rows = [axis.poles.pairs.index(pair) for pair in common]
        places = axis.offset.offsets[0][rows] @ axis.coordinates.T
        apart = (places - places.mean(axis=0)) / np.sqrt(len(rows) * (len(rows) - 1))
        for side, name in ((0.5, first.ends[0]), (-0.5, first.ends[1])):
            labels += [(number, word, name) for word in axis.words]
            values.append(side * axis.places)
            by_pair.append(side * apart)
        # Student's distribution has a larger variance than a normal one with the same scale
        freedom = max(axis.offset.freedom, 1.0)
        wider = np.sqrt(freedom / (freedom - 2)) if freedom > 2 else 1.0
        variances = axis.offset.variances("pairs")
        sd, plain = np.sqrt(axis.coordinates**2 @ variances), np.sqrt((apart**2).sum(axis=0))
        own.append(np.tile(wider * np.divide(sd, plain, out=np.ones_like(sd), where=plain > 0), 2))
    numbers, words, names = zip(*labels, strict=True)
    lost = sum(len(each.poles.pairs) - len(common) for each in axes.values())
    notes = (f"Pairs that some embedding lacks, {lost} in all, tell nothing of correlated errors.",) if lost else ()
    cells = Cells(
        embeddings=tuple(axes),
        embedding=np.array(numbers),
        word=np.array(words),
        connection=np.array(names),
        y=np.concatenate(values),
        errors=PairErrors(np.concatenate(by_pair, axis=1), np.concatenate(own)),
        joint=PAIRS,
        notes=notes,
    )
    return cells, first.ends, ()
